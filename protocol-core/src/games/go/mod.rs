//! `go`, on 9 × 9 points. Seat 0 is Black and begins.
//!
//! # What is played, of the many rules there are
//!
//! - **Area**: a point counts for who has a stone on it, and an empty one for who alone borders its region. All stones that are left are
//!   alive. White has [`KOMI`] points more; who has more points wins, and level is a draw.
//! - **Superko**, positional: no stone may bring about a board that was there before, whoever was to move. A pass may.
//! - **Suicide** is forbidden. Two passes in a row end the game, and so do [`MOVES`] moves.
//! - **Score** is the area, with komi, as it would count now. Who gives up loses whatever the score.

mod board;
#[cfg(any(test, feature = "house"))]
pub(super) mod house;
mod told;

use core::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use self::board::{Point, Stones};
use super::{
    Game, Illegal, MAX_SEATS, MoveSink, Order, Part, Position, Question, Rules, Seat, Seats, Standing, Table, Viewer,
};
use crate::fair::{Draws, Seed};
use crate::json::{Kind, Value};

/// Moves in a game, passes included.
const MOVES: u8 = 250;

/// What White has for moving second.
const KOMI: u8 = 7;

/// Not among the refusals that a game can give by itself: what was there, others remember.
const SUPERKO: &str = "move must not bring back a board that was there before";

/// A move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Pass,
    Place(Point),
}

impl Deed {
    /// A move is `{"move":"D4"}`; its text will do, alone or in a list.
    fn read(wanted: Value<'_>) -> Result<Deed, Illegal> {
        let text = match wanted.kind() {
            Kind::Object => wanted.get("move"),
            Kind::Array => wanted.items().next(),
            _ => Some(wanted),
        };
        let text = text.and_then(Value::as_str).ok_or(Illegal("move is missing: it is a text such as \"D4\""))?;
        if text.is_ignore_ascii_case("pass") {
            return Ok(Deed::Pass);
        }
        let point = text.text::<2>().ok().and_then(|text| Point::read(&text));
        point.map(Deed::Place).ok_or(Illegal("move must be pass or a point from A1 to J9, and there is no column I"))
    }

    /// In eight bits; zero is none.
    fn bits(deed: Option<Deed>) -> u8 {
        match deed {
            None => 0,
            Some(Deed::Pass) => 1,
            Some(Deed::Place(at)) => at.number().saturating_add(2),
        }
    }

    fn of_bits(bits: u8) -> Option<Deed> {
        match bits {
            0 => None,
            1 => Some(Deed::Pass),
            place => Point::of_number(place.saturating_sub(2)).map(Deed::Place),
        }
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Passes,
    Limit,
    Forfeit(Seats),
}

impl Cause {
    /// As exported results have it.
    fn name(self) -> &'static str {
        match self {
            Cause::Passes => "two_passes",
            Cause::Limit => "move_limit",
            Cause::Forfeit(_) => "forfeit",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    cause: Cause,
    /// The points of each, with komi.
    points: [u8; 2],
}

/// One match.
#[derive(Clone, Debug)]
pub struct Go {
    stones: Stones,
    moves: u8,
    /// How many stones each has taken.
    taken: [u8; 2],
    last: Option<Deed>,
    end: Option<End>,
}

impl Go {
    pub(super) const SIZE: usize = 31;

    pub(super) const RULES: Rules = Rules {
        name: "go",
        seats: 2..=2,
        question: Question::Move,
        order: Order::InTurn,
        board: true,
        turns: MOVES as u16,
        remembers: 0,
        columns: "moves,ended_by,black,white",
    };

    pub(super) fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { stones: Stones::NONE, moves: 0, taken: [0; 2], last: None, end: None }
    }

    /// Knows how it ended, after how many moves and with which, and who had how much; the stones are gone.
    pub(super) fn recall(seed: Seed, digest: u64) -> Self {
        let [moves, last, end, black, white, ..] = digest.to_le_bytes();
        let cause = match end & 3 {
            1 => Cause::Passes,
            2 => Cause::Limit,
            _ => Cause::Forfeit(Seats::of_bits(end >> 2 & 3).unwrap_or_default()),
        };
        Self {
            moves: moves.min(MOVES),
            last: Deed::of_bits(last),
            end: Some(End { cause, points: [black, white] }),
            ..Self::start(2, &mut Draws::new(seed))
        }
    }

    /// Who is to move, or would be.
    fn mover(&self) -> Seat {
        self.moves % 2
    }

    /// Who made the last move, and which it was.
    fn last(&self) -> Option<(Seat, Deed)> {
        Some((other(self.mover()), self.last?)).filter(|_| self.moves > 0)
    }

    /// What each would have if it were over now, with komi.
    fn points(&self) -> [u8; 2] {
        let [black, white] = self.stones.area();
        self.end.map_or([black, white.saturating_add(KOMI)], |end| end.points)
    }

    fn finish(&mut self, cause: Cause) {
        self.end = Some(End { cause, points: self.points() });
    }
}

/// The seat on the other side.
fn other(seat: Seat) -> Seat {
    seat ^ 1
}

impl Game for Go {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        if self.end.is_some() { Seats::NONE } else { Seats::only(self.mover()) }
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        let deed = Deed::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        if let Deed::Place(at) = deed {
            if self.stones.at(at).is_some() {
                return Err(Illegal("move must name an empty point, and this one has a stone"));
            }
            let after = self.stones.after(seat, at);
            let (stones, taken) =
                after.ok_or(Illegal("move must leave your stones a liberty: suicide is forbidden"))?;
            self.stones = stones;
            if let Some(count) = self.taken.get_mut(usize::from(seat)) {
                *count = count.saturating_add(taken);
            }
        }
        let are_both = deed == Deed::Pass && self.last == Some(Deed::Pass);
        self.moves = self.moves.saturating_add(1);
        self.last = Some(deed);
        if are_both {
            self.finish(Cause::Passes);
        } else if self.moves >= MOVES {
            self.finish(Cause::Limit);
        }
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.finish(Cause::Forfeit(losers));
    }

    /// A pass is always possible, and is what is played for who is silent.
    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            let _ = told::legal(self, seat).try_for_each(|deed| sink.legal_move(&told::Sent::of(deed)));
        }
    }

    fn position(&self) -> Option<Position> {
        Some(Position { digest: self.stones.digest(), is_new: false })
    }

    fn comes_again(&mut self, _times: u8) -> Result<(), Illegal> {
        if self.last == Some(Deed::Pass) { Ok(()) } else { Err(Illegal(SUPERKO)) }
    }

    fn turn(&self) -> u16 {
        u16::from(self.moves).saturating_add(1)
    }

    fn score(&self, seat: Seat) -> i32 {
        self.points().get(usize::from(seat)).copied().unwrap_or_default().into()
    }

    fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        told::view(self, viewer, table, out)
    }

    fn sketch<M: SerializeMap>(&self, out: &mut M) -> Result<(), M::Error> {
        told::sketch(self, out)
    }

    fn board<S: Serializer>(&self, _viewer: Viewer, _table: Table<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        told::board(&self.stones, serializer)
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last() {
            Some((mover, Deed::Place(at))) if mover == seat => write!(f, "Played {at}"),
            Some((mover, Deed::Pass)) if mover == seat => f.write_str("Passed"),
            _ => Ok(()),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((mover, deed)) = self.last() else { return Ok(()) };
        write!(f, "Move {}: {} ", self.moves, table.name(mover))?;
        match deed {
            Deed::Place(at) => write!(f, "played {at}"),
            Deed::Pass => f.write_str("passed"),
        }
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        self.last().filter(|(mover, _)| *mover == seat).map(|(_, deed)| told::Sent::of(deed)).serialize(serializer)
    }

    fn result<M: SerializeMap>(&self, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        let [black, white] = self.points();
        out.serialize_entry("total_moves", &self.moves)?;
        out.serialize_entry("ended_by", &self.end.map(|end| end.cause.name()))?;
        out.serialize_entry("black", &black)?;
        out.serialize_entry("white", &white)
    }

    fn standing(&self) -> Option<Standing> {
        let losers = match self.end?.cause {
            Cause::Forfeit(losers) => losers,
            _ => Seats::NONE,
        };
        let mut scores = [0; MAX_SEATS];
        for (score, seat) in scores.iter_mut().zip(0..2) {
            *score = self.score(seat);
        }
        Some(Standing::after_forfeit(2, scores, losers))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [black, white] = self.points();
        match self.end.map(|end| end.cause) {
            Some(Cause::Passes) => write!(f, "{} has {black} points, {} {white}", table.name(0), table.name(1)),
            Some(Cause::Limit) => {
                write!(f, "{} has {black} points, {} {white} after {MOVES} moves", table.name(0), table.name(1))
            }
            Some(Cause::Forfeit(_)) => write!(f, "Given up after {} moves", self.moves),
            None => f.write_str("still running"),
        }
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [black, white] = self.points();
        write!(f, "{},{},{black},{white}", self.moves, self.end.map_or("", |end| end.cause.name()))
    }

    const NOTATION: Option<&'static str> = Some("sgf");

    fn write_down(&self, part: Part<'_>, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        told::sgf(self, part, table, f)
    }

    fn digest(&self) -> u64 {
        let end = match self.end.map(|end| end.cause) {
            Some(Cause::Passes) => 1,
            Some(Cause::Limit) => 2,
            Some(Cause::Forfeit(losers)) => losers.bits() << 2,
            None => 0,
        };
        let [black, white] = self.points();
        u64::from_le_bytes([self.moves, Deed::bits(self.last), end, black, white, 0, 0, 0])
    }
}

#[cfg(test)]
mod tests;
