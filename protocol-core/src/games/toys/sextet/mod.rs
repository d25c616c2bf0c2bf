//! Each of six names a number from 1 to 6, one after the other, and everybody sees them. Who is not on turn may cheer, once in
//! a game, which is worth a point: an act nobody asked for. The highest sum of the two wins.

#[cfg(any(test, feature = "house"))]
pub mod house;

use core::fmt;

use serde::Serialize;
use serde::ser::SerializeMap;

use crate::fair::{Draws, Seed};
use crate::games::{
    Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Value, Viewer,
};

const SEATS: u8 = MAX_SEATS as u8;

#[derive(Serialize)]
struct Say {
    say: u8,
}

#[derive(Serialize)]
struct Cheer {
    cheer: bool,
}

#[derive(Clone, Debug)]
pub struct Sextet {
    /// What each has said; 0 before.
    said: [u8; MAX_SEATS],
    cheered: Seats,
    forfeited: Seats,
}

impl Sextet {
    pub const SIZE: usize = 8;

    pub const RULES: Rules = Rules {
        name: "toy-sextet",
        seats: SEATS..=SEATS,
        question: Question::Move,
        order: Order::InTurn,
        board: true,
        turns: 6,
        remembers: 0,
        columns: "highest",
    };

    pub fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { said: [0; MAX_SEATS], cheered: Seats::NONE, forfeited: Seats::NONE }
    }

    pub fn recall(_seed: Seed, digest: u64) -> Self {
        let seats = |bits: u64| Seats::of_bits(bits as u8 & 63).unwrap_or_default();
        let mut said = [0; MAX_SEATS];
        said.iter_mut().zip(0..).for_each(|(said, seat)| *said = ((digest >> (3 * seat)) as u8 & 7).min(6));
        Self { said, cheered: seats(digest >> 24), forfeited: seats(digest >> 32) }
    }

    fn spoken(&self) -> u8 {
        self.said.iter().take_while(|&&said| said > 0).count() as u8
    }

    fn highest(&self) -> i32 {
        (0..SEATS).map(|seat| self.score(seat)).max().unwrap_or(0)
    }
}

impl Game for Sextet {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        SEATS
    }

    fn to_move(&self) -> Seats {
        let is_over = self.spoken() == SEATS || !self.forfeited.is_empty();
        if is_over { Seats::NONE } else { Seats::only(self.spoken()) }
    }

    fn may_act(&self) -> Seats {
        let silent = if self.to_move().is_empty() { Seats::first(SEATS) } else { self.to_move() };
        Seats::first(SEATS).without(silent).without(self.cheered)
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        if wanted.get("cheer").and_then(Value::as_bool) == Some(true) && self.may_act().has(seat) {
            self.cheered = self.cheered.with(seat);
            return Ok(());
        }
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        let said = wanted.get("say").and_then(Value::as_whole).filter(|said| (1..=6).contains(said));
        let said = said.ok_or(Illegal("say is a number from 1 to 6"))?;
        self.said.iter_mut().skip(seat.into()).take(1).for_each(|place| *place = said as u8);
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.forfeited = losers;
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            let _ = (1..=6).try_for_each(|say| sink.legal_move(&Say { say }));
        } else if self.may_act().has(seat) {
            let _ = sink.legal_move(&Cheer { cheer: true });
        }
    }

    fn turn(&self) -> u16 {
        u16::from(self.spoken()) + 1
    }

    fn score(&self, seat: Seat) -> i32 {
        let said = self.said.get(usize::from(seat)).copied().unwrap_or(0);
        i32::from(said) + i32::from(self.cheered.has(seat))
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("cheered", &self.cheered.len())
    }

    fn board<S: serde::Serializer>(&self, _: Viewer, _: Table<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.said.serialize(serializer)
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.spoken().checked_sub(1);
        f.write_str(if last == Some(seat) { "Said a number" } else { "" })
    }

    fn summary(&self, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.spoken() > 0 { write!(f, "{} have spoken", self.spoken()) } else { Ok(()) }
    }

    fn result<M: SerializeMap>(&self, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("highest", &self.highest())
    }

    fn standing(&self) -> Option<Standing> {
        let mut scores = [0; MAX_SEATS];
        scores.iter_mut().zip(0..SEATS).for_each(|(score, seat)| *score = self.score(seat));
        self.to_move().is_empty().then(|| Standing::after_forfeit(SEATS, scores, self.forfeited))
    }

    fn reason(&self, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was the most", self.highest())
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.highest())
    }

    fn digest(&self) -> u64 {
        let said = self.said.iter().zip(0..).fold(0, |bits, (&said, seat)| bits | u64::from(said) << (3 * seat));
        said | u64::from(self.cheered.bits()) << 24 | u64::from(self.forfeited.bits()) << 32
    }
}
