//! Rooms: tables that are open, and wait for their players. Somebody opens one, others come in, by name or because they want to
//! play that game with whoever is there; when all its seats are taken, play begins. A room is nowhere but in the wishes of those
//! who wait in it: it takes no memory of its own, and is gone with the last of them.

use super::Venue;
use super::ladder::Wish;
use super::rounds::Lines;
use crate::games::GameKind;
use crate::ids::MatchId;
use crate::time::Now;

/// Who comes and asks, and has not for so long, waits for no game any more, in seconds: others would play with nobody.
const PATIENCE: u32 = 60;

/// A room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The number of the game that will be played in it.
    pub number: u16,
    /// How many it waits for.
    pub seats: u8,
}

/// Why somebody cannot come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotSeated {
    /// There is no such room, or it waits no longer.
    NoRoom,
    /// All its seats are taken.
    Full,
}

impl Venue<'_> {
    /// Opens a room for a game, with a player in it.
    pub(crate) fn open_room(&mut self, line: u16, game: GameKind, seats: u8) -> MatchId {
        let id = self.next_game();
        self.wish(line, game, Some(Room { number: id.table, seats }));
        id
    }

    /// A player comes into a room that waits.
    pub(crate) fn enter_room(&mut self, line: u16, id: MatchId) -> Result<(), NotSeated> {
        let (game, room) = self.open_room_of(id).ok_or(NotSeated::NoRoom)?;
        if self.waiting(game, Some(room)).count() >= room.seats.into() {
            return Err(NotSeated::Full);
        }
        self.wish(line, game, Some(room));
        Ok(())
    }

    /// A room of this game with a seat for one more, the oldest of them.
    pub(crate) fn room_for(&self, game: GameKind) -> Option<MatchId> {
        let has_seat = |room: &Room| self.waiting(game, Some(*room)).count() < room.seats.into();
        let rooms = self.open_rooms().filter(|(of, _)| *of == game).map(|(_, room)| room);
        rooms.filter(has_seat).map(|room| MatchId::of_game(room.number)).next()
    }

    /// A room that waits, and its game.
    pub(crate) fn open_room_of(&self, id: MatchId) -> Option<(GameKind, Room)> {
        self.open_rooms().find(|(_, room)| MatchId::of_game(room.number) == id)
    }

    /// Who waits in a room, by seat.
    pub(crate) fn roommates(&self, game: GameKind, room: Room) -> Lines {
        self.waiting(game, Some(room)).take(room.seats.into()).collect()
    }

    /// The room a player waits in.
    pub(crate) fn waits_in(&self, line: u16) -> Option<MatchId> {
        let room = self.player(line)?.wish?.room?;
        Some(MatchId::of_game(room.number))
    }

    /// The rooms that wait, and their games, in the order of who came first into them.
    pub(super) fn open_rooms(&self) -> impl Iterator<Item = (GameKind, Room)> {
        let wishes = || self.memory.players.iter().filter_map(|player| player.wish);
        wishes().filter_map(move |wish: Wish| {
            let room = wish.room?;
            let is_first = !wishes().any(|other| other.room == Some(room) && other.ticket < wish.ticket);
            is_first.then_some((wish.game, room))
        })
    }

    /// Who comes and asks, and has stopped, waits for no game any more.
    pub(super) fn forget_who_asks_no_more(&mut self, now: Now) {
        for line in self.lines() {
            let is_gone = self.player(line).is_some_and(|player| {
                player.wish.is_some() && player.session.polls() && now.utc.0.saturating_sub(player.seen.0) > PATIENCE
            });
            if is_gone {
                self.leave_queue(line);
            }
        }
    }
}
