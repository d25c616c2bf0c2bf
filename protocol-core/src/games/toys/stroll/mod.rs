//! Two walk together over a field of 16 by 16 places, one step each by turns, and never twice over the same place: the smallest
//! game that needs to know where it has been. A field has 256 places, and the game has room for one. Who stops loses, and
//! somebody has to where no step is left; back where they began they are home, and nobody has won.

#[cfg(any(test, feature = "house"))]
pub mod house;

use core::fmt;

use serde::Serialize;
use serde::ser::SerializeMap;

use crate::fair::{Draws, Seed};
use crate::games::{
    Game, Illegal, MAX_SEATS, MoveSink, Order, Position, Question, Rules, Seat, Seats, Standing, Table, Value, Viewer,
};

const SEATS: u8 = 2;
const SIDE: u8 = 16;
/// Steps and a stop, at most.
const MOVES: u16 = 250;
/// In the middle.
const HOME: u8 = SIDE * (SIDE / 2) + SIDE / 2;
/// Where a step leads: its name, the column beside, the row beside.
const STEPS: [(&str, i8, i8); 4] = [("north", 0, -1), ("east", 1, 0), ("south", 0, 1), ("west", -1, 0)];
const STOP: &str = "stop";

#[derive(Serialize)]
struct Go {
    go: &'static str,
}

#[derive(Clone, Debug)]
pub struct Stroll {
    moves: u16,
    at: u8,
    is_home: bool,
    losers: Seats,
}

impl Stroll {
    pub const SIZE: usize = 6;

    pub const RULES: Rules = Rules {
        name: "toy-stroll",
        seats: SEATS..=SEATS,
        question: Question::Move,
        order: Order::InTurn,
        board: false,
        turns: MOVES,
        remembers: 0,
        columns: "steps",
    };

    pub fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { moves: 0, at: HOME, is_home: false, losers: Seats::NONE }
    }

    pub fn recall(_seed: Seed, digest: u64) -> Self {
        let [low, high, at, is_home, losers, ..] = digest.to_le_bytes();
        let losers = Seats::of_bits(losers & 3).unwrap_or_default();
        Self { moves: u16::from_le_bytes([low, high]).min(MOVES), at, is_home: is_home == 1, losers }
    }

    fn mover(&self) -> Seat {
        (self.moves % u16::from(SEATS)) as Seat
    }

    fn is_over(&self) -> bool {
        self.is_home || !self.losers.is_empty() || self.moves >= MOVES
    }

    /// Where a step leads; `None` beyond the field.
    fn after(&self, (_, east, south): (&str, i8, i8)) -> Option<u8> {
        let (column, row) = (self.at % SIDE, self.at / SIDE);
        let (column, row) = (column.checked_add_signed(east)?, row.checked_add_signed(south)?);
        (column < SIDE && row < SIDE).then(|| row * SIDE + column)
    }
}

impl Game for Stroll {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        SEATS
    }

    fn to_move(&self) -> Seats {
        if self.is_over() { Seats::NONE } else { Seats::only(self.mover()) }
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        let go = wanted.get("go").and_then(Value::as_str).ok_or(Illegal("go is north, east, south, west or stop"))?;
        if go.is(STOP) {
            self.losers = Seats::only(seat);
        } else {
            let step = STEPS.into_iter().find(|(name, ..)| go.is(name));
            let step = step.ok_or(Illegal("go is north, east, south, west or stop"))?;
            self.at = self.after(step).ok_or(Illegal("the field ends there"))?;
        }
        self.moves += 1;
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.losers = losers;
    }

    fn position(&self) -> Option<Position> {
        Some(Position { digest: self.at.into(), is_new: false })
    }

    fn comes_again(&mut self, _times: u8) -> Result<(), Illegal> {
        match self.at {
            // Who stops stays where it is.
            _ if !self.losers.is_empty() => Ok(()),
            HOME => {
                self.is_home = true;
                Ok(())
            }
            _ => Err(Illegal("you have been there before")),
        }
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            let steps = STEPS.into_iter().filter(|step| self.after(*step).is_some()).map(|(name, ..)| name);
            let _ = steps.chain([STOP]).try_for_each(|go| sink.legal_move(&Go { go }));
        }
    }

    fn turn(&self) -> u16 {
        self.moves + 1
    }

    fn score(&self, seat: Seat) -> i32 {
        i32::from(!self.losers.is_empty() && !self.losers.has(seat))
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("column", &(self.at % SIDE))?;
        out.serialize_entry("row", &(self.at / SIDE))
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.moves > 0 && seat != self.mover() { "Took a step" } else { "" })
    }

    fn summary(&self, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.moves > 0 { write!(f, "{} steps", self.moves) } else { Ok(()) }
    }

    fn result<M: SerializeMap>(&self, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("steps", &self.moves)
    }

    fn standing(&self) -> Option<Standing> {
        let mut scores = [0; MAX_SEATS];
        scores.iter_mut().zip(0..SEATS).for_each(|(score, seat)| *score = self.score(seat));
        self.is_over().then(|| Standing::after_forfeit(SEATS, scores, self.losers))
    }

    fn reason(&self, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_home { "they are home" } else { "they have stopped" })
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.moves)
    }

    fn digest(&self) -> u64 {
        let [low, high] = self.moves.to_le_bytes();
        u64::from_le_bytes([low, high, self.at, u8::from(self.is_home), self.losers.bits(), 0, 0, 0])
    }
}
