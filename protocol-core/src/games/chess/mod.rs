//! `chess`, as everybody knows it. Seat 0 is White and begins.
//!
//! # How it ends, and what AGON leaves open
//!
//! - It ends by itself: checkmate, stalemate, a position that comes for the third time, 100 half-moves without a pawn moved or a piece
//!   taken, or pieces with which nobody can mate ([`Board::is_dead`]). Nobody has to claim a draw.
//! - A position is another one if another side is to move, another castling is possible, or another pawn can be taken in
//!   passing. A pawn that went two squares and that nobody can take makes no difference, and a FEN does not mention it.
//! - **Score** is 1 for who has won and 0 for everybody else.
//! - A game has no limit of moves but what these rules make of it, [`TURNS`].

mod board;
#[cfg(any(test, feature = "house"))]
pub(super) mod house;
mod san;
mod told;

use core::fmt;

use serde::Serializer;
use serde::ser::SerializeMap;

use self::board::{Board, Kind};
use self::san::{San, Sign};
use super::{
    Game, Illegal, MAX_SEATS, MoveSink, Order, Part, Position, Question, Rules, Seat, Seats, Standing, Table, Viewer,
};
use crate::fair::{Draws, Seed};
use crate::json::{Kind as Sort, Value};

/// Half-moves without a pawn moved or a piece taken that make a draw.
const QUIET: u8 = 100;

/// A position that comes so many times makes a draw.
const REPEATS: u8 = 3;

/// Half-moves of the longest game: 16 pawns have six moves each and 30 pieces can be taken, and at least eight moves are both, so that
/// pawns get past each other. Each of these 118 comes after at most 99 others, and the last one leaves bare kings.
const TURNS: u16 = 118 * QUIET as u16;

/// The longest a move is written, with a sign or two to spare: `Qa1xb2+!?`.
const LONGEST: usize = 12;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Who moved last has won.
    Checkmate,
    Stalemate,
    Repetition,
    FiftyMoves,
    Material,
    Forfeit(Seats),
}

impl End {
    /// As exported results have it.
    fn name(self) -> &'static str {
        match self {
            End::Checkmate => "checkmate",
            End::Stalemate => "stalemate",
            End::Repetition => "threefold_repetition",
            End::FiftyMoves => "fifty_moves",
            End::Material => "insufficient_material",
            End::Forfeit(_) => "forfeit",
        }
    }
}

/// One match.
#[derive(Clone, Debug)]
pub struct Chess {
    /// Half-moves that were made.
    plies: u16,
    board: Board,
    last: Option<San>,
    /// How many pawns, knights, bishops, rooks and queens each has taken.
    taken: [[u8; 5]; 2],
    /// Half-moves since a pawn moved or a piece was taken.
    quiet: u8,
    end: Option<End>,
}

impl Chess {
    pub(super) const SIZE: usize = 60;

    pub(super) const RULES: Rules = Rules {
        name: "chess",
        seats: 2..=2,
        question: Question::Move,
        order: Order::InTurn,
        board: true,
        turns: TURNS,
        remembers: 0,
        columns: "moves,ended_by",
    };

    pub(super) fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { plies: 0, board: Board::start(), last: None, taken: [[0; 5]; 2], quiet: 0, end: None }
    }

    /// Knows how it ended, after how many moves and with which; the pieces are back where they began.
    pub(super) fn recall(seed: Seed, digest: u64) -> Self {
        let [low, high, end, ..] = digest.to_le_bytes();
        let end = match end & 7 {
            1 => End::Checkmate,
            2 => End::Stalemate,
            3 => End::Repetition,
            4 => End::FiftyMoves,
            5 => End::Material,
            _ => End::Forfeit(Seats::of_bits(end >> 3 & 3).unwrap_or_default()),
        };
        let plies = u16::from_le_bytes([low, high]).min(TURNS);
        Self { plies, last: San::of_bits(digest >> 24), end: Some(end), ..Self::start(2, &mut Draws::new(seed)) }
    }

    /// Who is to move, or would be.
    fn mover(&self) -> Seat {
        u8::from(!self.plies.is_multiple_of(2))
    }

    /// Who has won.
    fn winner(&self) -> Option<Seat> {
        match self.end? {
            End::Checkmate => Some(other(self.mover())),
            End::Forfeit(losers) => Seats::first(2).without(losers).alone(),
            _ => None,
        }
    }

    /// Who made the last move, and which it was.
    fn last(&self) -> Option<(Seat, San)> {
        Some((other(self.mover()), self.last?)).filter(|_| self.plies > 0)
    }

    /// Plays a legal move.
    fn make(&mut self, (san, after): (San, Board)) {
        let mover = usize::from(self.mover());
        let taken = san.taken.and_then(|kind| self.taken.get_mut(mover)?.get_mut((kind as usize).checked_sub(1)?));
        if let Some(count) = taken {
            *count = count.saturating_add(1);
        }
        let is_quiet = san.kind != Kind::Pawn && san.taken.is_none();
        self.quiet = if is_quiet { self.quiet.saturating_add(1) } else { 0 };
        self.plies = self.plies.saturating_add(1);
        (self.board, self.last) = (after, Some(san));
        self.end = match san.sign {
            Sign::Mate => Some(End::Checkmate),
            Sign::Quiet if !self.board.can_move() => Some(End::Stalemate),
            _ if self.board.is_dead() => Some(End::Material),
            _ if self.quiet >= QUIET => Some(End::FiftyMoves),
            _ => None,
        };
    }
}

/// The seat on the other side.
fn other(seat: Seat) -> Seat {
    seat ^ 1
}

impl Game for Chess {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        if self.end.is_some() { Seats::NONE } else { Seats::only(self.mover()) }
    }

    /// A move is `{"move":"Nf3"}`; its text will do, alone or in a list.
    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        const MISSING: Illegal = Illegal("move is missing: it is a text such as \"Nf3\"");
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        let text = match wanted.kind() {
            Sort::Object => wanted.get("move"),
            Sort::Array => wanted.items().next(),
            _ => Some(wanted),
        };
        let text = text.and_then(Value::as_str).ok_or(MISSING)?;
        let text = text.text::<LONGEST>().map_err(|_| Illegal("move is longer than any move of chess"))?;
        let made = san::read(&self.board, &text)?;
        self.make(San::of(&self.board, made));
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.end = Some(End::Forfeit(losers));
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            let _ = self.board.legal(|made| sink.legal_move(&told::Sent::of(San::of(&self.board, made).0)));
        }
    }

    fn position(&self) -> Option<Position> {
        Some(Position { digest: self.board.digest(), is_new: self.quiet == 0 })
    }

    fn comes_again(&mut self, times: u8) -> Result<(), Illegal> {
        if times >= REPEATS && self.end.is_none() {
            self.end = Some(End::Repetition);
        }
        Ok(())
    }

    fn turn(&self) -> u16 {
        self.plies.saturating_add(1)
    }

    fn score(&self, seat: Seat) -> i32 {
        i32::from(self.winner() == Some(seat))
    }

    fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        told::view(self, viewer, table, out)
    }

    fn sketch<M: SerializeMap>(&self, out: &mut M) -> Result<(), M::Error> {
        told::sketch(self, out)
    }

    fn board<S: Serializer>(&self, _viewer: Viewer, _table: Table<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        told::board(&self.board, serializer)
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last() {
            Some((mover, san)) if mover == seat => write!(f, "Played {san}"),
            _ => Ok(()),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((mover, san)) = self.last() else { return Ok(()) };
        let number = self.plies.div_ceil(2);
        write!(f, "Move {number}: {} played {san}", table.name(mover))?;
        match self.end {
            Some(End::Checkmate) => f.write_str(" and wins!"),
            Some(End::Forfeit(_)) | None => Ok(()),
            Some(_) => f.write_str(". The game is a draw."),
        }
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::Serialize;
        self.last().filter(|(mover, _)| *mover == seat).map(|(_, san)| told::Sent::of(san)).serialize(serializer)
    }

    fn result<M: SerializeMap>(&self, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("total_moves", &self.plies)?;
        out.serialize_entry("ended_by", &self.end.map(End::name))
    }

    fn standing(&self) -> Option<Standing> {
        self.end?;
        let mut scores = [0; MAX_SEATS];
        for (score, seat) in scores.iter_mut().zip(0..2) {
            *score = self.score(seat);
        }
        Some(Standing::by_score(2, scores))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.plies.div_ceil(2);
        let (mover, other) = (table.name(self.mover()), table.name(other(self.mover())));
        match self.end {
            Some(End::Checkmate) => write!(f, "{other} has mated {mover} in {number} moves"),
            Some(End::Stalemate) => write!(f, "Stalemate: {mover} cannot move and is not in check"),
            Some(End::Repetition) => f.write_str("The same position came for the third time"),
            Some(End::FiftyMoves) => f.write_str("No pawn moved and no piece was taken for fifty moves"),
            Some(End::Material) => f.write_str("Nobody has enough left to mate"),
            Some(End::Forfeit(_)) => write!(f, "Given up after {number} moves"),
            None => f.write_str("still running"),
        }
    }

    fn ended_by(&self) -> Option<&'static str> {
        self.end.map(End::name)
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.plies, self.end.map_or("", End::name))
    }

    const NOTATION: Option<&'static str> = Some("pgn");

    fn write_down(&self, part: Part<'_>, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        told::pgn(self, part, table, f)
    }

    fn digest(&self) -> u64 {
        let end = match self.end {
            Some(End::Checkmate) => 1,
            Some(End::Stalemate) => 2,
            Some(End::Repetition) => 3,
            Some(End::FiftyMoves) => 4,
            Some(End::Material) => 5,
            Some(End::Forfeit(losers)) => losers.bits() << 3,
            None => 0,
        };
        u64::from(self.plies) | u64::from(end) << 16 | San::bits(self.last) << 24
    }
}

#[cfg(test)]
mod tests;
