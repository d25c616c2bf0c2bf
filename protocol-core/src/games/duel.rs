//! Two players, five rounds, both move at once and in secret, and who wins a round has a point: what `echo` and
//! `blotto` have in common. A move is shown to nobody before the other one is in. What a move is and which of two wins
//! is left to the [`Contest`].
//!
//! After five rounds most points win, and level is a draw. Who gives up loses whatever the points.

use core::fmt;
use core::marker::PhantomData;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Game, Illegal, MAX_SEATS, MoveSink, Rules, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::{Map, Seq, Value};

pub(super) const ROUNDS: u8 = 5;

/// A move in 20 bits. Zero is none.
pub(super) type Bits = u32;

const MOVE_WIDTH: u32 = 20;

/// Where a digest says whose last move is for a round that was never played: behind the moves, who gave up, and who won.
const EARLY: u32 = 2 * MOVE_WIDTH + 2 + 2 * ROUNDS as u32;

/// The moves of both seats in one round.
pub(super) type Round = [Bits; 2];

/// What sets one such game apart from another.
pub trait Contest {
    /// What it is.
    const RULES: Rules;

    /// Whether everybody is shown the rounds that are over.
    const SHOWS_HISTORY: bool;

    /// Reads a move.
    fn read(wanted: Value<'_>) -> Result<Bits, Illegal>;

    /// Lists every move, the safest first, knowing the seat's last one.
    fn list(last: Bits, sink: &mut dyn MoveSink);

    /// Writes a move as it is sent.
    fn write<S: Serializer>(played: Bits, serializer: S) -> Result<S::Ok, S::Error>;

    /// Writes what the history shows of a move.
    fn show<S: Serializer>(played: Bits, serializer: S) -> Result<S::Ok, S::Error>;

    /// What a seat did, in words, knowing its last move.
    fn say(last: Bits, played: Bits, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Who wins a round after the one before; nobody if it is tied.
    fn winner(before: Round, round: Round) -> Option<Seat>;
}

/// One match.
pub struct Duel<C> {
    rounds: [Round; ROUNDS as usize],
    /// Two bits for each round that is over, from the lowest: 1 and 2 for the seat that won it, 3 for a tie.
    won: u16,
    forfeited: Seats,
    contest: PhantomData<C>,
}

// By hand: deriving would ask it of the contest, which is never there.
impl<C> Clone for Duel<C> {
    fn clone(&self) -> Self {
        Self { contest: PhantomData, ..*self }
    }
}

impl<C> fmt::Debug for Duel<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, won, forfeited, .. } = self;
        f.debug_struct("Duel").field("rounds", rounds).field("won", won).field("forfeited", forfeited).finish()
    }
}

impl<C: Contest> Duel<C> {
    pub(super) const SIZE: usize = 44;

    pub(super) const RULES: Rules = C::RULES;

    pub(super) fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { rounds: [[0; 2]; ROUNDS as usize], won: 0, forfeited: Seats::NONE, contest: PhantomData }
    }

    /// Knows who won which round and the last move of each seat, and no others.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "every shift is one of the digest's own, and what is cut off belongs to others"
    )]
    pub(super) fn recall(_seed: Seed, digest: u64) -> Self {
        let rest = digest >> (2 * MOVE_WIDTH);
        let forfeited = [0, 1].into_iter().filter(|seat| rest >> seat & 1 == 1).fold(Seats::NONE, Seats::with);
        let won = (rest >> 2) as u16 & ((1 << (2 * ROUNDS)) - 1);
        let mut game = Self { rounds: [[0; 2]; ROUNDS as usize], won, forfeited, contest: PhantomData };
        let over = usize::from(game.over());
        for seat in 0..2 {
            let is_early = digest >> (EARLY + seat as u32) & 1 == 1;
            let round = if is_early { Some(over) } else { over.checked_sub(1) };
            let place = round.and_then(|round| game.rounds.get_mut(round)?.get_mut(seat));
            if let Some(place) = place {
                *place = (digest >> (MOVE_WIDTH * seat as u32)) as Bits & ((1 << MOVE_WIDTH) - 1);
            }
        }
        game
    }

    /// How many rounds are over.
    fn over(&self) -> u8 {
        (0..ROUNDS).find(|&round| self.outcome(round) == 0).unwrap_or(ROUNDS)
    }

    /// The round that is played, or, in the end, the one that was played last.
    fn current(&self) -> u8 {
        if self.to_move().is_empty() { self.over().max(1) } else { self.over().saturating_add(1) }
    }

    /// The two bits of a round: none before it is over.
    fn outcome(&self, round: u8) -> u16 {
        self.won.checked_shr(u32::from(round) << 1).map_or(0, |won| won & 3)
    }

    /// Who won a round that is over.
    fn winner(&self, round: u8) -> Option<Seat> {
        match self.outcome(round) {
            1 => Some(0),
            2 => Some(1),
            _ => None,
        }
    }

    /// The moves of a round, from 0; none where there is no such round.
    fn round(&self, round: Option<u8>) -> Round {
        round.and_then(|round| self.rounds.get(usize::from(round))).copied().unwrap_or_default()
    }

    /// `{"uuid-1":1,"uuid-2":0}`
    fn scores<'a>(&'a self, table: Table<'a>) -> impl Serialize + 'a {
        Map(move || (0..2).map(move |seat| (table.id(seat), self.score(seat))))
    }

    /// A seat's move in a round.
    fn played(&self, round: Option<u8>, seat: Seat) -> Bits {
        self.round(round).get(usize::from(seat)).copied().unwrap_or_default()
    }
}

impl<C: Contest> Game for Duel<C> {
    fn rules(&self) -> &'static Rules {
        const { &C::RULES }
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        let over = self.over();
        if over >= ROUNDS || !self.forfeited.is_empty() {
            return Seats::NONE;
        }
        (0..2).filter(|&seat| self.played(Some(over), seat) == 0).fold(Seats::NONE, Seats::with)
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        let wanted = C::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        let over = self.over();
        if let Some(place) = self.rounds.get_mut(usize::from(over)).and_then(|round| round.get_mut(usize::from(seat))) {
            *place = wanted;
        }
        if self.to_move().is_empty() {
            let winner = C::winner(self.round(over.checked_sub(1)), self.round(Some(over)));
            self.won |= winner.map_or(3, |seat| u16::from(seat) + 1) << (over << 1);
        }
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.forfeited = losers;
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            C::list(self.played(self.over().checked_sub(1), seat), sink);
        }
    }

    fn turn(&self) -> u16 {
        u16::from(self.over()) + 1
    }

    fn score(&self, seat: Seat) -> i32 {
        (0..ROUNDS).map(|round| i32::from(self.winner(round) == Some(seat))).sum()
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        #[derive(Serialize)]
        struct Past<'a, A> {
            round: u8,
            allocations: A,
            winner: Option<&'a str>,
        }
        let past = |round: u8| Past {
            round: round.saturating_add(1),
            allocations: Map(move || {
                (0..2).map(move |seat| (table.id(seat), Shown::<C>(self.played(Some(round), seat), PhantomData)))
            }),
            winner: self.winner(round).map(|seat| table.id(seat)),
        };
        out.serialize_entry("currentRound", &self.current())?;
        out.serialize_entry("maxRounds", &ROUNDS)?;
        out.serialize_entry("scores", &self.scores(table))?;
        if C::SHOWS_HISTORY {
            out.serialize_entry("history", &Seq(|| (0..self.over()).map(past)))?;
        }
        Ok(())
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(last) = self.over().checked_sub(1) else { return Ok(()) };
        C::say(self.played(last.checked_sub(1), seat), self.played(Some(last), seat), f)
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = self.over();
        let Some(last) = over.checked_sub(1) else { return Ok(()) };
        match self.winner(last) {
            Some(seat) => write!(f, "Round {over}: {} wins!", table.name(seat)),
            None => write!(f, "Round {over}: tie!"),
        }
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        match (0..ROUNDS).rev().map(|round| self.played(Some(round), seat)).find(|&played| played != 0) {
            Some(played) => C::write(played, serializer),
            None => serializer.serialize_none(),
        }
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        let winner = |round| self.winner(round).map(|seat| table.id(seat));
        out.serialize_entry("total_rounds", &self.over())?;
        out.serialize_entry("round_winners", &Seq(|| (0..self.over()).map(winner)))?;
        out.serialize_entry("final_score", &self.scores(table))
    }

    fn standing(&self) -> Option<Standing> {
        if !self.to_move().is_empty() {
            return None;
        }
        let mut scores = [0; MAX_SEATS];
        for (score, seat) in scores.iter_mut().zip(0..2) {
            *score = self.score(seat);
        }
        Some(Standing::after_forfeit(2, scores, self.forfeited))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (self.score(0), self.score(1));
        write!(f, "{} won {a} of {} rounds, {} {b}", table.name(0), self.over(), table.name(1))
    }

    /// How many rounds each has won.
    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.score(0), self.score(1))
    }

    #[expect(clippy::arithmetic_side_effects, reason = "there are two seats")]
    fn digest(&self) -> u64 {
        let (early, last) = (self.round(Some(self.over())), self.round(self.over().checked_sub(1)));
        let forfeits = u64::from(self.forfeited.has(0)) | u64::from(self.forfeited.has(1)) << 1;
        let mut digest = (forfeits | u64::from(self.won) << 2) << (2 * MOVE_WIDTH);
        for (seat, (early, last)) in (0..).zip(early.into_iter().zip(last)) {
            digest |= u64::from(if early != 0 { early } else { last }) << (MOVE_WIDTH * seat);
            digest |= u64::from(early != 0) << (EARLY + seat);
        }
        digest
    }
}

/// A move as the history shows it.
struct Shown<C>(Bits, PhantomData<C>);

impl<C: Contest> Serialize for Shown<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        C::show(self.0, serializer)
    }
}
