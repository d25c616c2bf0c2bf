//! Each of three names a number from 1 to 3, all at once. The sum of them, divided by three, leaves the seat that wins. The
//! game remembers no moves once it is over: whoever wants them looks at the film.

#[cfg(any(test, feature = "house"))]
pub mod house;

use core::fmt;

use serde::Serialize;
use serde::ser::SerializeMap;

use crate::fair::{Draws, Seed};
use crate::games::{
    Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Value, Viewer,
};

const SEATS: u8 = 3;

#[derive(Serialize)]
struct Say {
    say: u8,
}

#[derive(Clone, Debug)]
pub struct Trio {
    sum: u8,
    said: Seats,
    forfeited: Seats,
}

impl Trio {
    pub const SIZE: usize = 3;

    pub const RULES: Rules = Rules {
        name: "toy-trio",
        seats: SEATS..=SEATS,
        question: Question::Move,
        order: Order::Together,
        board: false,
        turns: 1,
        remembers: 0,
        columns: "sum",
    };

    pub fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { sum: 0, said: Seats::NONE, forfeited: Seats::NONE }
    }

    pub fn recall(_seed: Seed, digest: u64) -> Self {
        let seats = |bits: u64| Seats::of_bits(bits as u8 & 7).unwrap_or_default();
        Self { sum: digest as u8 % 10, said: seats(digest >> 8), forfeited: seats(digest >> 16) }
    }

    fn is_over(&self) -> bool {
        self.said == Seats::first(SEATS) || !self.forfeited.is_empty()
    }
}

impl Game for Trio {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        SEATS
    }

    fn to_move(&self) -> Seats {
        if self.is_over() { Seats::NONE } else { Seats::first(SEATS).without(self.said) }
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        let said = wanted.get("say").and_then(Value::as_whole).filter(|said| (1..=3).contains(said));
        self.sum += said.ok_or(Illegal("say is a number from 1 to 3"))? as u8;
        self.said = self.said.with(seat);
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.forfeited = losers;
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            let _ = (1..=3).try_for_each(|say| sink.legal_move(&Say { say }));
        }
    }

    fn turn(&self) -> u16 {
        1 + u16::from(self.said == Seats::first(SEATS))
    }

    fn score(&self, seat: Seat) -> i32 {
        i32::from(self.said == Seats::first(SEATS) && self.sum % SEATS == seat)
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("said", &self.said.len())?;
        out.serialize_entry("sum", &self.is_over().then_some(self.sum))
    }

    fn action(&self, _seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.turn() > 1 { "Said a number" } else { "" })
    }

    fn summary(&self, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.turn() > 1 { write!(f, "The sum is {}", self.sum) } else { Ok(()) }
    }

    fn result<M: SerializeMap>(&self, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("sum", &self.sum)
    }

    fn standing(&self) -> Option<Standing> {
        let mut scores = [0; MAX_SEATS];
        scores.iter_mut().zip(0..SEATS).for_each(|(score, seat)| *score = self.score(seat));
        self.is_over().then(|| Standing::after_forfeit(SEATS, scores, self.forfeited))
    }

    fn reason(&self, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sum is {}", self.sum)
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sum)
    }

    fn digest(&self) -> u64 {
        u64::from(self.sum) | u64::from(self.said.bits()) << 8 | u64::from(self.forfeited.bits()) << 16
    }
}
