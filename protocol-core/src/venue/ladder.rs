//! The ladder: games outside the league, for agents that ask for one. Whoever joins the queue of a game is seated as soon as
//! enough wait for it, in the order they came, in a [room](super::rooms) that waits for players before any other. The league
//! has the right of way: who plays in one that runs is not
//! seated here, and one that begins calls these games off.
//!
//! Every game that is played to an end, here or in the league, changes the [ratings](Rating) of its players, is filmed, and
//! is a fact. Of those played here the last ones are kept ([`Finished`]).

use super::facts::Fact;
use super::players::{OUTSIDE, Player};
use super::rooms::Room;
use super::rounds::{Life, Lines, Stage, Table};
use super::{Venue, count};
use crate::fair::{Purpose, Seed};
use crate::games::{Game, GameKind, MAX_SEATS, Seats, Standing};
use crate::ids::MatchId;
use crate::log::Happening;
use crate::season::{Rating, Record, after_game};
use crate::time::Now;

/// A wish to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub game: GameKind,
    /// Who came first has the lowest.
    pub ticket: u32,
    /// Where; `None` with whoever waits for the same game.
    pub room: Option<Room>,
}

/// A game outside the league that is over: all that is kept of it, for whoever looks at it afterwards. Its moves are on film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its number.
    pub number: u16,
    /// What was played.
    pub game: GameKind,
    /// How many played.
    pub seats: u8,
    /// Decided its draws.
    pub seed: Seed,
    /// How it ended.
    pub record: Record,
    /// Who played, by seat: the number in the id,
    pub players: [u16; MAX_SEATS],
    /// and the registration, for whoever has that number later is somebody else.
    pub issues: [u32; MAX_SEATS],
}

impl Finished {
    /// The players' numbers and registrations, by seat.
    pub fn who(&self) -> impl Iterator<Item = (u16, u32)> {
        self.players.into_iter().zip(self.issues).take(self.seats.into())
    }
}

impl Venue<'_> {
    /// An agent waits for a game. Who waits already keeps its place, unless it wants another game now.
    pub(crate) fn queue_up(&mut self, index: u16, game: GameKind) {
        let wish = self.memory.players.get(usize::from(index)).and_then(|player| player.wish);
        if wish.is_none_or(|wish| wish.game != game) {
            self.wish(index, game, None);
        }
    }

    /// An agent waits for a game, behind all who wait already.
    pub(super) fn wish(&mut self, index: u16, game: GameKind, room: Option<Room>) {
        let Some(player) = self.memory.players.get_mut(usize::from(index)) else { return };
        self.queued = self.queued.saturating_add(player.wish.is_none().into());
        self.tickets = self.tickets.wrapping_add(1);
        player.wish = Some(Wish { game, ticket: self.tickets, room });
    }

    /// An agent waits no longer.
    pub(crate) fn leave_queue(&mut self, index: u16) {
        let wish = self.memory.players.get_mut(usize::from(index)).and_then(|player| player.wish.take());
        self.queued = self.queued.saturating_sub(wish.is_some().into());
    }

    /// The game an agent waits for, and its place among those who wait for it, from 1.
    pub(crate) fn queue_position(&self, index: u16) -> Option<(GameKind, u16)> {
        let wish = self.memory.players.get(usize::from(index))?.wish?;
        let before = |other: &Wish| other.game == wish.game && other.ticket <= wish.ticket;
        let place = self.memory.players.iter().filter_map(|player| player.wish).filter(before).count();
        Some((wish.game, count(place)))
    }

    /// Seats those who wait, as far as there are enough of them and tables are free. Not inlined: mostly nobody waits.
    #[inline(never)]
    pub(super) fn match_up(&mut self, now: Now) {
        if self.queued == 0 {
            return;
        }
        self.forget_who_asks_no_more(now);
        for &game in GameKind::ALL {
            while let Some((room, players)) = self.next_party(game) {
                // A game may end as it begins, and its result needs room.
                let Some(slot) = self.free_slot().filter(|_| !self.memory.facts.is_full()) else { return };
                players.iter().for_each(|&player| self.leave_queue(player));
                self.ladder_games = self.ladder_games.wrapping_add(1);
                let id = room.map_or_else(|| self.next_game(), |room| MatchId::of_game(room.number));
                let seed = self.chance.derive(Purpose::Ladder, [self.ladder_games, 0, 0]);
                self.open_table(now, id, (game, seed), &players, slot);
                self.begin(now, slot);
            }
        }
    }

    /// Who begins a game next: those in a room that is full, or that others in the queue can fill; else the first of these.
    fn next_party(&self, game: GameKind) -> Option<(Option<Room>, Lines)> {
        let waits = |player: &Player| player.wish.is_some_and(|wish| wish.game == game);
        if !self.memory.players.iter().any(waits) {
            return None;
        }
        let rooms = self.open_rooms().filter(|(of, _)| *of == game).map(|(_, room)| Some(room));
        rooms.chain([None]).find_map(|room| Some((room, self.party_in(game, room)?)))
    }

    /// The players of a room, and those who have waited longest for the game in the queue, if all of them together are enough
    /// and could begin now.
    fn party_in(&self, game: GameKind, room: Option<Room>) -> Option<Lines> {
        let seats = usize::from(room.map_or(*game.rules().seats.start(), |room| room.seats));
        let is_free = |player: &Player| {
            let plays_in_the_league = matches!(self.stage, Stage::Running(_)) && player.place != OUTSIDE;
            player.seating.is_none() && !plays_in_the_league && !player.has_left()
        };
        let mut lines = Lines::new();
        if room.is_some() {
            let mut members = self.waiting(game, room);
            if members.any(|player| self.player(player).is_none_or(|player| !is_free(player))) {
                return None;
            }
            self.waiting(game, room).try_for_each(|player| lines.push(player)).ok()?;
        }
        let queue = self.waiting(game, None).filter(|&player| self.player(player).is_some_and(is_free));
        lines.extend(queue.take(seats.saturating_sub(lines.len())));
        (lines.len() == seats).then_some(lines)
    }

    /// Those who wait for a game in a room, or in the queue, the first of them first.
    pub(super) fn waiting(&self, game: GameKind, room: Option<Room>) -> impl Iterator<Item = u16> {
        let tickets = move || {
            let waits = move |wish: &Wish| wish.game == game && wish.room == room;
            (0..)
                .zip(self.memory.players.iter())
                .filter_map(move |(line, player)| player.wish.filter(waits).map(|wish| (wish.ticket, line)))
        };
        let mut last = None;
        core::iter::from_fn(move || {
            let (ticket, line) = tickets().filter(|(ticket, _)| last.is_none_or(|last| *ticket > last)).min()?;
            last = Some(ticket);
            Some(line)
        })
    }

    /// The league begins: the games of the ladder are called off, and count for nobody.
    pub(super) fn call_off_the_ladder(&mut self, now: Now) {
        for slot in self.slots() {
            let table = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut);
            let Some(table) = table.filter(|table| table.id.is_outside() && !table.is_over()) else { continue };
            table.play.adjudicate(Seats::NONE);
            table.life = Life::CalledOff;
            let (id, players) = (table.id, table.seated());
            self.note(now, None, Some(id), Happening::MatchOver("called off"));
            self.let_go(slot);
            players.iter().for_each(|&player| self.pump(now, player));
        }
    }

    /// The next number that no game has which waits, runs or is kept.
    pub(super) fn next_game(&mut self) -> MatchId {
        loop {
            self.last_game = self.last_game.wrapping_add(1).max(1);
            let id = MatchId::of_game(self.last_game);
            let is_taken = self.finished_game(id).is_some()
                || self.memory.tables.iter().flatten().any(|table| table.id == id)
                || self.open_rooms().any(|(_, room)| room.number == id.table);
            if !is_taken {
                return id;
            }
        }
    }

    /// A game outside the league that is over, while it is kept.
    pub(super) fn finished_game(&self, id: MatchId) -> Option<&Finished> {
        self.memory.finished.iter().find(|finished| id.is_outside() && finished.number == id.table)
    }

    /// The games outside the league that are over and kept, oldest first.
    pub fn finished_games(&self) -> impl Iterator<Item = MatchId> {
        self.memory.finished.iter().map(|finished| MatchId::of_game(finished.number))
    }

    /// A game of the ladder has a result. The oldest makes room for it, unless that has yet to be written: then its ratings
    /// are all that is kept of this one.
    pub(super) fn finish_game(&mut self, slot: u16, record: Record) {
        let Some(table) = self.memory.tables.get(usize::from(slot)).and_then(Option::as_ref) else { return };
        let (number, play) = (table.id.table, &table.play);
        let Some(game) = GameKind::named(play.game().rules().name) else { return };
        let mut finished = Finished {
            number,
            game,
            seats: play.game().seats(),
            seed: play.seed(),
            record,
            players: [0; MAX_SEATS],
            issues: [0; MAX_SEATS],
        };
        let seats = finished.players.iter_mut().zip(&mut finished.issues);
        for (line, (of_number, of_issue)) in table.players().iter().zip(seats) {
            if let Some(player) = self.memory.players.get(usize::from(*line)) {
                (*of_number, *of_issue) = (player.number, player.issue);
            }
        }
        if self.keep_game(finished) {
            return self.memory.facts.push(Fact::Game(number));
        }
        finished.who().for_each(|(number, _)| self.memory.facts.push(Fact::Rated(number)));
    }

    /// Keeps a game that is over. False where the oldest cannot make room for it yet.
    pub(super) fn keep_game(&mut self, finished: Finished) -> bool {
        let oldest = self.memory.finished.front().filter(|_| self.memory.finished.is_full());
        if oldest.is_some_and(|oldest| self.memory.facts.holds(Fact::Game(oldest.number))) {
            return false;
        }
        if oldest.is_some() {
            self.memory.finished.pop_front();
        }
        self.memory.finished.push_back(finished).is_ok()
    }

    /// Rates the players of a game that is over. One that all gave up says nothing of anybody.
    pub(super) fn rate(&mut self, players: &[u16], standing: Option<Standing>, forfeits: Seats) {
        let Some(standing) = standing.filter(|_| (forfeits.len() as usize) < players.len()) else { return };
        let mut ratings = [Rating::NEW; MAX_SEATS];
        for (rating, &player) in ratings.iter_mut().zip(players) {
            *rating = self.memory.players.get(usize::from(player)).map_or(Rating::NEW, |player| player.rating);
        }
        let after = after_game(ratings, players.len(), standing);
        for (rating, &player) in after.into_iter().zip(players) {
            if let Some(player) = self.memory.players.get_mut(usize::from(player)) {
                player.rating = rating;
            }
        }
    }

    /// The game at a table is over and counted. Players that follow it and are there have still to be told; everybody
    /// else is free.
    pub(super) fn let_go(&mut self, slot: u16) {
        let Some(table) = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        if !table.is_over() {
            table.life = Life::Over;
        }
        let id = table.id;
        for player in &table.seated() {
            let Some(player) = self.memory.players.get_mut(usize::from(*player)) else { continue };
            player.session.is_over(id);
            // Who is told of matches by news is told of this one whether it sits there or not.
            if player.session.cursor().is_some() || !player.is_linked {
                player.seating = None;
            }
        }
        self.clear(slot);
    }

    /// A player leaves a table where everything is over.
    pub(crate) fn stand_up(&mut self, now: Now, index: u16, slot: u16) {
        if let Some(player) = self.memory.players.get_mut(usize::from(index)) {
            player.seating = None;
        }
        self.clear(slot);
        self.pump(now, index);
    }

    /// Takes away a table where everything is over, nobody sits and nobody looks on.
    pub(crate) fn clear(&mut self, slot: u16) {
        let Some(place) = self.memory.tables.get_mut(usize::from(slot)) else { return };
        let sits = |line: &u16| {
            let seating = self.memory.players.get(usize::from(*line)).and_then(|player| player.seating);
            seating.is_some_and(|seating| seating.slot == slot)
        };
        let is_done = |table: &mut Table| table.is_over() && table.spectators == 0 && !table.players().iter().any(sits);
        let Some(table) = place.take_if(is_done) else { return };
        // Only now: the last state of the game shows what was said in it.
        for player in table.seated().iter().filter_map(|line| self.memory.players.get(usize::from(*line))) {
            if player.seating.is_none() {
                self.memory.notes.forget(player.number);
            }
        }
    }

    /// Somebody before them has left, and the players behind it move up by a line. Where it sat, nobody sits.
    pub(super) fn move_up(&mut self, from: u16) {
        for line in self.memory.tables.iter_mut().flatten().flat_map(|table| &mut table.lines) {
            *line = match *line {
                line if line == from => u16::MAX,
                line if line > from && line != u16::MAX => line.saturating_sub(1),
                line => line,
            };
        }
        (from..=count(self.memory.players.len())).for_each(|line| self.set_clock(line));
    }
}
