//! The ladder: games outside the league, for agents that ask for one. Whoever joins the queue of a game is seated as soon as
//! enough wait for it, in the order they came. The league has the right of way: who plays in one that runs is not
//! seated here, and one that begins calls these games off.
//!
//! Every game that is played to an end, here or in the league, changes the [ratings](Rating) of its players, is filmed, and
//! is a fact. Of those played here the last ones are kept ([`Finished`]).

use super::Venue;
use super::facts::Fact;
use super::players::{OUTSIDE, Player};
use super::rounds::{Life, Stage, Table};
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
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        if player.wish.is_none_or(|wish| wish.game != game) {
            self.queued += u16::from(player.wish.is_none());
            self.tickets = self.tickets.wrapping_add(1);
            player.wish = Some(Wish { game, ticket: self.tickets });
        }
    }

    /// An agent waits no longer.
    pub(crate) fn leave_queue(&mut self, index: u16) {
        let wish = self.players.get_mut(usize::from(index)).and_then(|player| player.wish.take());
        self.queued -= u16::from(wish.is_some());
    }

    /// The game an agent waits for, and its place among those who wait for it, from 1.
    pub(crate) fn queue_position(&self, index: u16) -> Option<(GameKind, u16)> {
        let wish = self.players.get(usize::from(index))?.wish?;
        let before = |other: &Wish| other.game == wish.game && other.ticket <= wish.ticket;
        Some((wish.game, self.players.iter().filter_map(|player| player.wish).filter(before).count() as u16))
    }

    /// Seats those who wait, as far as there are enough of them and tables are free. Not inlined: mostly nobody waits.
    #[inline(never)]
    pub(super) fn match_up(&mut self, now: Now) {
        if self.queued == 0 {
            return;
        }
        for &game in GameKind::ALL {
            let seats = usize::from(*game.rules().seats.start());
            while let Some(players) = self.first_in_queue(game, seats) {
                // A game may end as it begins, and its result needs room.
                let Some(slot) = self.free_slot().filter(|_| !self.facts.is_full()) else { return };
                let players = players.get(..seats).unwrap_or_default();
                players.iter().for_each(|&player| self.leave_queue(player));
                self.ladder_games = self.ladder_games.wrapping_add(1);
                let id = self.next_game();
                let seed = self.chance.derive(Purpose::Ladder, [self.ladder_games, 0, 0]);
                self.open_table(now, id, (game, seed), players, slot);
                self.begin(now, slot);
            }
        }
    }

    /// Those who have waited longest for a game and could begin it now, if they are enough.
    fn first_in_queue(&self, game: GameKind, seats: usize) -> Option<[u16; MAX_SEATS]> {
        let is_free = |player: &Player| {
            let plays_in_the_league = matches!(self.stage, Stage::Running(_)) && player.place != OUTSIDE;
            player.seating.is_none() && !plays_in_the_league && !player.has_left()
        };
        let waiting = || {
            (0..).zip(self.players.iter()).filter_map(|(index, player): (u16, _)| {
                Some((player.wish.filter(|wish| wish.game == game && is_free(player))?.ticket, index))
            })
        };
        let mut first = [0; MAX_SEATS];
        let mut last = None;
        for place in first.get_mut(..seats)? {
            let (ticket, index) = waiting().filter(|(ticket, _)| last.is_none_or(|last| *ticket > last)).min()?;
            (*place, last) = (index, Some(ticket));
        }
        Some(first)
    }

    /// The league begins: the games of the ladder are called off, and count for nobody.
    pub(super) fn call_off_the_ladder(&mut self, now: Now) {
        for slot in 0..self.tables.len() as u16 {
            let table = self.tables.get_mut(usize::from(slot)).and_then(Option::as_mut);
            let Some(table) = table.filter(|table| table.id.is_outside() && !table.is_over()) else { continue };
            table.play.adjudicate(Seats::NONE);
            table.life = Life::CalledOff;
            let (id, players) = (table.id, table.seated());
            self.note(now, None, Some(id), Happening::MatchOver("called off"));
            self.let_go(slot);
            players.iter().for_each(|&player| self.pump(now, player));
        }
    }

    /// The next number that no game has which runs or is kept.
    fn next_game(&mut self) -> MatchId {
        loop {
            self.last_game = self.last_game.wrapping_add(1).max(1);
            let id = MatchId::of_game(self.last_game);
            if self.finished_game(id).is_none() && !self.tables.iter().flatten().any(|table| table.id == id) {
                return id;
            }
        }
    }

    /// A game outside the league that is over, while it is kept.
    pub(super) fn finished_game(&self, id: MatchId) -> Option<&Finished> {
        self.finished.iter().find(|finished| id.is_outside() && finished.number == id.table)
    }

    /// The games outside the league that are over and kept, oldest first.
    pub fn finished_games(&self) -> impl Iterator<Item = MatchId> {
        self.finished.iter().map(|finished| MatchId::of_game(finished.number))
    }

    /// A game of the ladder has a result. The oldest makes room for it, unless that has yet to be written: then its ratings
    /// are all that is kept of this one.
    pub(super) fn finish_game(&mut self, slot: u16, record: Record) {
        let Some(table) = self.tables.get(usize::from(slot)).and_then(Option::as_ref) else { return };
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
            if let Some(player) = self.players.get(usize::from(*line)) {
                (*of_number, *of_issue) = (player.number, player.issue);
            }
        }
        if self.keep_game(finished) {
            return self.facts.push(Fact::Game(number));
        }
        finished.who().for_each(|(number, _)| self.facts.push(Fact::Rated(number)));
    }

    /// Keeps a game that is over. False where the oldest cannot make room for it yet.
    pub(super) fn keep_game(&mut self, finished: Finished) -> bool {
        let oldest = self.finished.front().filter(|_| self.finished.is_full());
        if oldest.is_some_and(|oldest| self.facts.holds(Fact::Game(oldest.number))) {
            return false;
        }
        if oldest.is_some() {
            self.finished.pop_front();
        }
        self.finished.push_back(finished).is_ok()
    }

    /// Rates the players of a game that is over. One that all gave up says nothing of anybody.
    pub(super) fn rate(&mut self, players: &[u16], standing: Option<Standing>, forfeits: Seats) {
        let Some(standing) = standing.filter(|_| (forfeits.len() as usize) < players.len()) else { return };
        let mut ratings = [Rating::NEW; MAX_SEATS];
        for (rating, &player) in ratings.iter_mut().zip(players) {
            *rating = self.players.get(usize::from(player)).map_or(Rating::NEW, |player| player.rating);
        }
        let after = after_game(ratings, players.len(), standing);
        for (rating, &player) in after.into_iter().zip(players) {
            if let Some(player) = self.players.get_mut(usize::from(player)) {
                player.rating = rating;
            }
        }
    }

    /// The game at a table is over and counted. Players that follow it and are there have still to be told; everybody
    /// else is free.
    pub(super) fn let_go(&mut self, slot: u16) {
        let Some(table) = self.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        if !table.is_over() {
            table.life = Life::Over;
        }
        for player in &table.seated() {
            let Some(player) = self.players.get_mut(usize::from(*player)) else { continue };
            // Who is told of matches by news is told of this one whether it sits there or not.
            if player.session.invites() || !player.is_linked {
                player.seating = None;
            }
        }
        self.clear(slot);
    }

    /// A player leaves a table where everything is over.
    pub(crate) fn stand_up(&mut self, now: Now, index: u16, slot: u16) {
        if let Some(player) = self.players.get_mut(usize::from(index)) {
            player.seating = None;
        }
        self.clear(slot);
        self.pump(now, index);
    }

    /// Takes away a table where everything is over, nobody sits and nobody looks on.
    pub(crate) fn clear(&mut self, slot: u16) {
        let Some(place) = self.tables.get_mut(usize::from(slot)) else { return };
        let sits = |line: &u16| {
            let seating = self.players.get(usize::from(*line)).and_then(|player| player.seating);
            seating.is_some_and(|seating| seating.slot == slot)
        };
        let is_done = |table: &mut Table| table.is_over() && table.spectators == 0 && !table.players().iter().any(sits);
        let Some(table) = place.take_if(is_done) else { return };
        // Only now: the last state of the game shows what was said in it.
        for player in table.seated().iter().filter_map(|line| self.players.get(usize::from(*line))) {
            if player.seating.is_none() {
                self.notes.forget(player.number);
            }
        }
    }

    /// Somebody before them has left, and the players behind it move up by a line. Where it sat, nobody sits.
    pub(super) fn move_up(&mut self, from: u16) {
        for line in self.tables.iter_mut().flatten().flat_map(|table| &mut table.lines) {
            *line = match *line {
                line if line == from => u16::MAX,
                line if line > from && line != u16::MAX => line - 1,
                line => line,
            };
        }
        (from..=self.players.len() as u16).for_each(|line| self.set_clock(line));
    }
}
