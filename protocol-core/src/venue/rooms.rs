//! Rooms: tables that are open, and wait for their players. Somebody opens one, others come in, by name or because they want to
//! play that game with whoever is there; when all its seats are taken, play begins. A room is nowhere but in the wishes of those
//! who wait in it: it takes no memory of its own, and is gone with the last of them.

use super::Venue;
use super::ladder::{Wish, seconds};
use super::players::Player;
use super::rounds::Lines;
use crate::games::GameKind;
use crate::ids::{AgentId, MatchId};
use crate::json::Shown;
use crate::time::Now;
use serde::Serialize;

/// Who comes and asks, and has not for so long, waits for no game any more, in seconds: others would play with nobody.
const PATIENCE: u16 = 60;

/// A room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The number of the game that will be played in it.
    pub number: u16,
    /// How many it waits for.
    pub seats: u8,
}

/// The queue for quick games of two: nobody keeps it, no game has its number, and those who wait in it play with one another alone.
pub(crate) const BLITZ: Room = Room { number: 0, seats: 2 };

/// A room that waits, as its keeper knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRoom {
    pub game: GameKind,
    pub room: Room,
    /// How many are in it.
    pub taken: u8,
    /// Who came first has the lowest.
    ticket: u32,
}

/// Somebody who waits for a game, as whoever watches is told.
#[derive(Serialize)]
#[allow(missing_docs, reason = "docs/http.md has them")]
pub struct Waiting {
    pub player_id: Shown<AgentId>,
    pub game_type: &'static str,
    /// The game that will be played in its room; none where it waits in the queue.
    pub match_id: Option<Shown<MatchId>>,
    /// How many play it.
    pub seats: u8,
    /// For how long it has waited.
    pub seconds: u16,
}

/// Nobody can come in: all seats of the room are taken, or it waits no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotSeated;

impl Venue<'_> {
    /// Opens a room for a game, with a player in it.
    pub(crate) fn open_room(&mut self, now: Now, line: u16, game: GameKind, seats: u8) -> MatchId {
        let id = self.next_game();
        self.wish(now, line, game, Some(Room { number: id.table, seats }));
        if let Some(wish) = self.player_mut(line).and_then(|player| player.wish.as_mut()) {
            wish.keeps = 1;
        }
        id
    }

    /// A player comes into a room that waits.
    pub(crate) fn enter_room(&mut self, now: Now, line: u16, id: MatchId) -> Result<(), NotSeated> {
        let open = self.open_room_of(id).filter(|open| open.taken < open.room.seats);
        let OpenRoom { game, room, .. } = open.ok_or(NotSeated)?;
        self.wish(now, line, game, Some(room));
        self.keeper_of(room).into_iter().for_each(|keeper| keeper.keeps = keeper.keeps.saturating_add(1));
        Ok(())
    }

    /// Somebody who had this wish has gone out of its room. If it kept it, whoever came next does.
    pub(super) fn left_room(&mut self, wish: Wish) {
        let Some(room) = wish.room else { return };
        let wishes = self.memory.players.iter_mut().filter_map(|player| player.wish.as_mut());
        let members = wishes.filter(|other| other.room == Some(room));
        match wish.keeps {
            0 => {
                members.filter(|other| other.keeps > 0).for_each(|keeper| keeper.keeps = keeper.keeps.saturating_sub(1))
            }
            keeps => {
                if let Some(next) = members.min_by_key(|other| other.ticket) {
                    next.keeps = keeps.saturating_sub(1);
                }
            }
        }
    }

    fn keeper_of(&mut self, room: Room) -> Option<&mut Wish> {
        let mut wishes = self.memory.players.iter_mut().filter_map(|player| player.wish.as_mut());
        wishes.find(|wish| wish.room == Some(room) && wish.keeps > 0)
    }

    /// A room of this game with a seat for one more, the oldest of them.
    pub(crate) fn room_for(&self, game: GameKind) -> Option<MatchId> {
        let open = self.first_room(|open| open.game == game && open.taken < open.room.seats)?;
        Some(MatchId::of_game(open.room.number))
    }

    /// A room that waits.
    pub(crate) fn open_room_of(&self, id: MatchId) -> Option<OpenRoom> {
        self.open_rooms().find(|open| MatchId::of_game(open.room.number) == id)
    }

    /// How many house players a room is to be filled with, if it has waited long enough for others. Asked again it has to wait as
    /// long again: they may not come.
    pub(crate) fn wants_house(&mut self, now: Now, id: MatchId) -> Option<(GameKind, u8)> {
        let after = self.config.fill_after?;
        let OpenRoom { game, room, taken, .. } = self.open_room_of(id)?;
        let keeper = self.keeper_of(room).filter(|keeper| seconds(now).wrapping_sub(keeper.since) >= after)?;
        keeper.since = seconds(now);
        Some((game, room.seats.saturating_sub(taken)))
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

    /// The rooms that wait: one for each who keeps one.
    pub(crate) fn open_rooms(&self) -> impl Iterator<Item = OpenRoom> {
        self.memory.players.iter().filter_map(|player| {
            let Wish { game, ticket, room, keeps, .. } = player.wish.filter(|wish| wish.keeps > 0)?;
            Some(OpenRoom { game, room: room?, taken: keeps, ticket })
        })
    }

    /// How many wait for a game outside the league.
    pub fn waits(&self) -> u16 {
        self.queued
    }

    /// Those who wait for a game outside the league, each with its room, at a time in [`seconds`].
    pub fn who_waits(&self, now: u16) -> impl Iterator<Item = Waiting> {
        self.memory.players.iter().filter_map(move |player| {
            let Wish { game, room, since, .. } = player.wish?;
            Some(Waiting {
                player_id: Shown(player.id()),
                game_type: game.rules().name,
                match_id: room.filter(|room| *room != BLITZ).map(|room| Shown(MatchId::of_game(room.number))),
                seats: room.map_or(*game.rules().seats.start(), |room| room.seats),
                seconds: now.wrapping_sub(since),
            })
        })
    }

    /// Of the rooms that are like that the one whose keeper came first.
    pub(super) fn first_room(&self, is_so: impl Fn(&OpenRoom) -> bool) -> Option<OpenRoom> {
        self.open_rooms().filter(is_so).min_by_key(|open| open.ticket)
    }

    /// Who comes and asks, and has stopped, waits for no game any more.
    pub(super) fn forget_who_asks_no_more(&mut self, now: Now) {
        let is_gone = |player: &Player| {
            let silence = player.wish.map_or(0, |wish| seconds(now).wrapping_sub(wish.asked));
            player.session.polls() && silence > PATIENCE
        };
        while let Some(line) = self.line_where(is_gone) {
            self.leave_queue(line);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::venue::tests::{Room, config};

    #[test]
    fn numbers_of_games_begin_anew_and_no_game_is_taken_for_the_one_that_had_its_number_before() {
        let mut room = Room::of(config(), 2);
        let mut marks = std::collections::BTreeSet::new();
        let mut open = |room: &mut Room| {
            let id = room.venue.open_room(room.now, 0, GameKind::Echo, 2);
            assert!(id.table > 0 && marks.insert(room.venue.mark_of_game(id)), "{id}");
            id.table
        };
        assert_eq!(open(&mut room), 1);
        room.venue.last_game = 0xfffe;
        assert_eq!([(); 3].map(|()| open(&mut room)), [0xffff, 1, 2]);
        // One that still waits keeps what it is known by, though the numbers have begun anew.
        room.venue.last_game = 0x1_fffe;
        let waits = room.venue.open_room(room.now, 1, GameKind::Echo, 2);
        let mark = room.venue.mark_of_game(waits);
        assert_eq!(open(&mut room), 1);
        assert_eq!((waits.table, room.venue.mark_of_game(waits)), (0xffff, mark));
    }
}
