//! The ladder: games outside the league, for agents that ask for one. Whoever joins the queue of a game is seated as soon as
//! enough wait for it, in the order they came. The league has the right of way: who plays in one that runs is not
//! seated here, and one that begins calls these games off.
//!
//! Every game that is played to an end, here or in the league, changes the [ratings](Rating) of its players.

use super::Hall;
use super::admission::{OUTSIDE, Player};
use super::facts::Fact;
use super::rounds::Stage;
use crate::fair::Purpose;
use crate::games::{Game, GameKind, Seats, Standing};
use crate::league::{Rating, SEATS, after_game};
use crate::log::Happening;
use crate::time::Now;
use crate::wire::league_v2::outgoing::MatchId;

/// A wish to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub game: GameKind,
    /// Who came first has the lowest.
    pub ticket: u32,
}

/// Games of the ladder are of no round: `R0M7` is the seventh of them.
const NO_ROUND: u16 = 0;

/// Whether a match is of the ladder.
pub fn is_of_the_ladder(id: MatchId) -> bool {
    id.round == NO_ROUND
}

impl<const P: usize, const M: usize, const R: usize, const L: usize> Hall<P, M, R, L> {
    /// An agent waits for a game. Who waits already keeps its place, unless it wants another game now.
    pub(super) fn queue_up(&mut self, index: u16, game: GameKind) {
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        if player.wish.is_none_or(|wish| wish.game != game) {
            self.queued += u16::from(player.wish.is_none());
            self.tickets = self.tickets.wrapping_add(1);
            player.wish = Some(Wish { game, ticket: self.tickets });
        }
    }

    /// An agent waits no longer.
    pub(super) fn leave_queue(&mut self, index: u16) {
        let wish = self.players.get_mut(usize::from(index)).and_then(|player| player.wish.take());
        self.queued -= u16::from(wish.is_some());
    }

    /// The game an agent waits for, and its place among those who wait for it, from 1.
    pub(super) fn queue_position(&self, index: u16) -> Option<(GameKind, u16)> {
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
                let id = MatchId { round: NO_ROUND, table: (self.ladder_games as u16).max(1) };
                let seed = self.chance.derive(Purpose::Ladder, [self.ladder_games, 0, 0]);
                self.open_table(now, id, (game, seed), players, slot);
                self.begin(now, slot);
            }
        }
    }

    /// Those who have waited longest for a game and could begin it now, if they are enough.
    fn first_in_queue(&self, game: GameKind, seats: usize) -> Option<[u16; SEATS]> {
        let is_free = |player: &Player| {
            let plays_in_the_league = matches!(self.stage, Stage::Running(_)) && player.place != OUTSIDE;
            player.seating.is_none() && !plays_in_the_league && !player.line.has_left()
        };
        let waiting = || {
            (0..).zip(&self.players).filter_map(|(index, player): (u16, _)| {
                Some((player.wish.filter(|wish| wish.game == game && is_free(player))?.ticket, index))
            })
        };
        let mut first = [0; SEATS];
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
            let Some(table) = table.filter(|table| is_of_the_ladder(table.id) && !table.is_over) else { continue };
            table.play.adjudicate(Seats::NONE);
            table.is_called_off = true;
            let (id, players) = (table.id, table.seated());
            self.note(now, None, Some(id), Happening::MatchOver("called off"));
            self.let_go(slot);
            players.iter().for_each(|&player| self.pump(now, player));
        }
    }

    /// A game of the ladder is over.
    pub(super) fn conclude_ladder(&mut self, now: Now, slot: u16, forfeits: Seats) {
        let Some(table) = self.tables.get(usize::from(slot)).and_then(Option::as_ref) else { return };
        let (id, players, standing) = (table.id, table.seated(), table.play.game().standing());
        self.rate(&players, standing, forfeits);
        for &player in &players {
            if let Some(player) = self.players.get(usize::from(player)) {
                let (number, player) = (player.number, player.id());
                self.facts.push(Fact::Rated(number));
                // One for each: who sat there is known no longer when it is told.
                self.note(now, Some(player), Some(id), Happening::MatchOver("over"));
            }
        }
        self.let_go(slot);
    }

    /// Rates the players of a game that is over. One that all gave up says nothing of anybody.
    pub(super) fn rate(&mut self, players: &[u16], standing: Option<Standing>, forfeits: Seats) {
        let Some(standing) = standing.filter(|_| (forfeits.len() as usize) < players.len()) else { return };
        let mut ratings = [Rating::NEW; SEATS];
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

    /// The game at a table is over and counted. Its agents of the arena that are there have still to be told; everybody
    /// else is free.
    pub(super) fn let_go(&mut self, slot: u16) {
        let Some(table) = self.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        table.is_over = true;
        for player in &table.seated() {
            let Some(player) = self.players.get_mut(usize::from(*player)) else { continue };
            if !(player.is_of_the_arena() && player.line.is_held) {
                player.seating = None;
            }
        }
        self.clear(slot);
    }

    /// A player leaves a table where everything is over.
    pub(super) fn stand_up(&mut self, now: Now, index: u16, slot: u16) {
        if let Some(player) = self.players.get_mut(usize::from(index)) {
            player.seating = None;
        }
        self.clear(slot);
        self.pump(now, index);
    }

    /// Takes away a table where everything is over, nobody sits and nobody looks on.
    pub(super) fn clear(&mut self, slot: u16) {
        let sits = |player: &Player| player.seating.is_some_and(|seating| seating.slot == slot);
        let is_empty = !self.players.iter().any(sits);
        let place = self.tables.get_mut(usize::from(slot));
        let Some(table) =
            place.and_then(|place| place.take_if(|table| table.is_over && table.spectators == 0 && is_empty))
        else {
            return;
        };
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
