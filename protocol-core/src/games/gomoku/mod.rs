//! `skill-gomoku`: stones on a 15 × 15 board, five in a row wins; instead of placing one a player may use a skill, which
//! costs energy. Seat 0 is black and begins.
//!
//! # What the specification leaves open, and what is played here
//!
//! - **Points** are named by a letter for the column and a number for the row, both from the top left: row 7, col 7 is
//!   H8, and row 0, col 14 is O1. Six or more in a row win like five.
//! - **Moves** are counted across both players, skills included. `round` is the number of the move that is owed. A board
//!   without an empty point is a draw; so is a game of 300 moves, and one in which whoever is to move can do nothing.
//! - **Energy** comes after moves 8, 16, 24 and so on, to both, without a limit.
//! - **stillwater** cast with move `m` holds for the opponent's next three moves: `expiresAtMove` is `m + 6`, and in the
//!   round of that number it is over. The quiet zone is the up to four points next to the stone in its row and column;
//!   `quietZoneCells` lists those that are empty. The opponent may still move stones into it with uproot.
//! - **sandstorm** may not be used in two turns of the same player that follow each other. The opponent may answer one
//!   with one.
//! - **uproot** takes any point, also at the edge, where its square is smaller. Every arrangement of the loose stones of
//!   the square that differs from the present one and has no five is equally likely: all arrangements are put in order
//!   (point by point in rows from the top left; empty before black before white), and one draw picks from those that
//!   may be. Where there is none, nothing changes, and the energy is spent.
//! - **rewind** takes back the last four moves, whatever they were: stones come and go, and seals set in them are gone.
//!   Energy, the number of the move, and what was used up stay as they are. History begins anew: it takes four more
//!   moves before the other player can rewind. Its `target` may be left out; one that is no point is read as none.
//! - **Score** is 1 for who has won and 0 for everybody else.

mod board;
#[cfg(any(test, feature = "house"))]
pub(super) mod house;
mod told;

use core::fmt;
use core::ops::ControlFlow;

use heapless::Vec;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use self::board::{Board, Point, SIDE, Square, next_order};
use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::Value;

/// Moves in a game.
const MOVES: u16 = 300;

const FIRST_ENERGY: u8 = 3;

/// Moves after which both gain energy.
const ENERGY_MOVES: u16 = 8;

/// Moves from that which seals a stone to that in which it is loose again: three of each player.
const SEAL_MOVES: u16 = 6;
/// So many can be sealed at once.
const SEALS: usize = SEAL_MOVES as usize - 1;

/// Moves that are taken back by a rewind.
const REWIND_MOVES: usize = 4;

/// A skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skill {
    Uproot,
    Stillwater,
    Sandstorm,
    Rewind,
}

impl Skill {
    const ALL: [Skill; 4] = [Skill::Uproot, Skill::Stillwater, Skill::Sandstorm, Skill::Rewind];

    /// Its name on the wire.
    fn name(self) -> &'static str {
        match self {
            Skill::Uproot => "uproot",
            Skill::Stillwater => "stillwater",
            Skill::Sandstorm => "sandstorm",
            Skill::Rewind => "rewind",
        }
    }

    /// What it costs, and what is said to who has less.
    fn cost(self) -> (u8, Illegal) {
        match self {
            Skill::Uproot => (2, Illegal("skill uproot costs 2 energy, and you have less")),
            Skill::Stillwater => (1, Illegal("skill stillwater costs 1 energy, and you have none")),
            Skill::Sandstorm => (2, Illegal("skill sandstorm costs 2 energy, and you have less")),
            Skill::Rewind => (3, Illegal("skill rewind costs 3 energy, and you have less")),
        }
    }
}

/// A move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Place(Point),
    /// Every skill but rewind has a target.
    Skill(Skill, Option<Point>),
}

impl Deed {
    fn read(wanted: Value<'_>) -> Result<Deed, Illegal> {
        let [kind, row, col, skill, target] = wanted.members(["type", "row", "col", "skill", "target"]);
        let kind = kind.and_then(Value::as_str).ok_or(Illegal("type is missing: it is \"place\" or \"skill\""))?;
        if kind.is("place") {
            let row = coordinate(row).ok_or(Illegal("row must be an integer from 0 to 14"))?;
            let col = coordinate(col).ok_or(Illegal("col must be an integer from 0 to 14"))?;
            return Point::new(row, col).map(Deed::Place).ok_or(Illegal("row and col must be on the board"));
        }
        if !kind.is("skill") {
            return Err(Illegal("type must be \"place\" or \"skill\""));
        }
        let skill = skill.and_then(Value::as_str).and_then(|name| Skill::ALL.into_iter().find(|s| name.is(s.name())));
        let skill = skill.ok_or(Illegal("skill must be \"uproot\", \"stillwater\", \"sandstorm\" or \"rewind\""))?;
        let [row, col] = target.map(|target| target.members(["row", "col"])).unwrap_or_default();
        let (row, col) = (coordinate(row), coordinate(col));
        let target = row.zip(col).and_then(|(row, col)| Point::new(row, col));
        if target.is_none() && skill != Skill::Rewind {
            return Err(Illegal(if row.is_none() {
                "target.row must be an integer from 0 to 14"
            } else {
                "target.col must be an integer from 0 to 14"
            }));
        }
        Ok(Deed::Skill(skill, target))
    }

    /// In eleven bits; zero is none.
    fn to_bits(deed: Option<Deed>) -> u64 {
        let bits = |kind: u64, at: Option<Point>| kind | u64::from(at.map_or(0, Point::number)) << 3;
        match deed {
            None => 0,
            Some(Deed::Place(at)) => bits(1, Some(at)),
            Some(Deed::Skill(Skill::Uproot, at)) => bits(2, at),
            Some(Deed::Skill(Skill::Stillwater, at)) => bits(3, at),
            Some(Deed::Skill(Skill::Sandstorm, at)) => bits(4, at),
            Some(Deed::Skill(Skill::Rewind, at)) => bits(5, at),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a point has eight bits, and there are no more")]
    fn from_bits(bits: u64) -> Option<Deed> {
        let at = Point::from_number((bits >> 3) as u8);
        match bits & 7 {
            1 => at.map(Deed::Place),
            2 => Some(Deed::Skill(Skill::Uproot, at)),
            3 => Some(Deed::Skill(Skill::Stillwater, at)),
            4 => Some(Deed::Skill(Skill::Sandstorm, at)),
            5 => Some(Deed::Skill(Skill::Rewind, at)),
            _ => None,
        }
    }
}

fn coordinate(value: Option<Value<'_>>) -> Option<u8> {
    u8::try_from(value?.as_whole()?).ok().filter(|&n| n < SIDE)
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Five(Seat),
    Full,
    Limit,
    Stuck,
    Forfeit(Seats),
}

impl End {
    /// As exported results have it.
    fn name(self) -> &'static str {
        match self {
            End::Five(_) => "five",
            End::Full => "full_board",
            End::Limit => "move_limit",
            End::Stuck => "no_move",
            End::Forfeit(_) => "forfeit",
        }
    }
}

/// One match.
#[derive(Clone, Debug)]
pub struct Gomoku {
    /// What the last moves changed. That of move `m` is at `m % 4`.
    undo: [Square; REWIND_MOVES],
    moves: u16,
    board: Board,
    /// How many moves can be taken back.
    history: u8,
    energy: [u8; 2],
    /// The stones that the last moves sealed. That of move `m` is at `m % 5`, for as long as it holds.
    seals: [Option<Point>; SEALS],
    /// Who has rewound.
    rewound: Seats,
    /// The last move of each.
    last: [Option<Deed>; 2],
    end: Option<End>,
}

/// A stone that cannot be moved.
#[derive(Clone, Copy)]
struct Seal {
    at: Point,
    owner: Seat,
    expires: u16,
}

impl Gomoku {
    pub(super) const SIZE: usize = 92;

    pub(super) const RULES: Rules = Rules {
        name: "skill-gomoku",
        seats: 2..=2,
        question: Question::Move,
        order: Order::InTurn,
        board: true,
        turns: MOVES,
        remembers: 0,
        columns: "moves,ended_by",
    };

    pub(super) fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self {
            undo: [Square::default(); REWIND_MOVES],
            moves: 0,
            board: Board::EMPTY,
            history: 0,
            energy: [FIRST_ENERGY; 2],
            seals: [None; SEALS],
            rewound: Seats::NONE,
            last: [None; 2],
            end: None,
        }
    }

    /// Knows how it ended, after how many moves and with which; the stones are gone.
    pub(super) fn recall(seed: Seed, digest: u64) -> Self {
        let seats = || [0, 1].into_iter().filter(|seat| digest >> 3 >> seat & 1 == 1).fold(Seats::NONE, Seats::with);
        let end = match digest & 7 {
            1 => End::Five((digest >> 3 & 1) as Seat),
            2 => End::Full,
            3 => End::Limit,
            4 => End::Stuck,
            _ => End::Forfeit(seats()),
        };
        Self {
            moves: (digest >> 5 & 0x1ff) as u16,
            last: [Deed::from_bits(digest >> 14 & 0x7ff), Deed::from_bits(digest >> 25 & 0x7ff)],
            end: Some(end),
            ..Self::start(2, &mut Draws::new(seed))
        }
    }

    /// Who is to move, or would be.
    fn mover(&self) -> Seat {
        u8::from(!self.moves.is_multiple_of(2))
    }

    /// Who moved last, and what.
    fn last_deed(&self) -> Option<(Seat, Deed)> {
        let seat = other(self.mover());
        Some((seat, self.last_of(seat)?)).filter(|_| self.moves > 0)
    }

    fn last_of(&self, seat: Seat) -> Option<Deed> {
        self.last.get(usize::from(seat)).copied().flatten()
    }

    fn energy(&self, seat: Seat) -> u8 {
        self.energy.get(usize::from(seat)).copied().unwrap_or_default()
    }

    /// The stones that are sealed now, the newest first.
    fn seals(&self) -> impl Iterator<Item = Seal> + Clone {
        (1..=self.moves).rev().zip(0..self.seals.len()).filter_map(|(number, _)| {
            let at = self.seals.get(usize::from(number) % SEALS).copied().flatten()?;
            Some(Seal { at, owner: u8::from(number.is_multiple_of(2)), expires: number.saturating_add(SEAL_MOVES) })
        })
    }

    fn is_sealed(&self, at: Point) -> bool {
        self.seals().any(|seal| seal.at == at)
    }

    /// Whether a stone of `owner` keeps a point quiet.
    fn is_quiet(&self, at: Point, owner: Seat) -> bool {
        self.seals().any(|seal| seal.owner == owner && seal.at.touches(at))
    }

    /// Whether a seat may do this.
    fn judge(&self, seat: Seat, deed: Deed) -> Result<(), Illegal> {
        let (skill, target) = match deed {
            Deed::Place(at) if self.board.stone(at).is_some() => {
                return Err(Illegal("row and col must name an empty cell, and this one has a stone"));
            }
            Deed::Place(at) if self.is_quiet(at, other(seat)) => {
                return Err(Illegal("row and col must not be in the opponent's quiet zone, and this cell is"));
            }
            Deed::Place(_) => return Ok(()),
            Deed::Skill(skill, target) => (skill, target),
        };
        let stone = target.and_then(|at| self.board.stone(at));
        let sealed = target.is_some_and(|at| self.is_sealed(at));
        let (cost, too_little) = skill.cost();
        let again = self.last_of(seat).is_some_and(|last| matches!(last, Deed::Skill(Skill::Sandstorm, _)));
        match skill {
            _ if self.energy(seat) < cost => Err(too_little),
            Skill::Stillwater if stone != Some(seat) => Err(Illegal("target must be your own stone")),
            Skill::Stillwater if sealed => Err(Illegal("target must be a stone that is not sealed already")),
            Skill::Sandstorm if again => Err(Illegal("skill sandstorm cannot be used on two turns in a row")),
            Skill::Sandstorm if stone != Some(other(seat)) => Err(Illegal("target must be a stone of your opponent")),
            Skill::Sandstorm if sealed => Err(Illegal("target must not be sealed, and this stone is")),
            Skill::Rewind if self.rewound.has(seat) => Err(Illegal("skill rewind can be used once in a game")),
            Skill::Rewind if usize::from(self.history) < REWIND_MOVES => {
                Err(Illegal("skill rewind needs four moves to take back"))
            }
            _ => Ok(()),
        }
    }

    /// Does what has been judged.
    fn execute(&mut self, seat: Seat, deed: Deed, draws: &mut Draws) {
        let before = match deed {
            Deed::Place(at) | Deed::Skill(_, Some(at)) => self.board.square(at),
            Deed::Skill(_, None) => Square::default(),
        };
        if usize::from(self.history) < REWIND_MOVES {
            self.history = self.history.saturating_add(1);
        }
        let mut sealed = None;
        match deed {
            Deed::Place(at) => self.board.set(at, Some(seat)),
            Deed::Skill(Skill::Stillwater, target) => sealed = target,
            Deed::Skill(Skill::Sandstorm, Some(at)) => self.board.set(at, None),
            Deed::Skill(Skill::Uproot, Some(at)) => self.uproot(at, draws),
            Deed::Skill(Skill::Rewind, _) => self.rewind(seat),
            Deed::Skill(_, None) => {}
        }
        if let Deed::Skill(skill, _) = deed
            && let Some(energy) = self.energy.get_mut(usize::from(seat))
        {
            *energy = energy.saturating_sub(skill.cost().0);
        }
        self.moves = self.moves.saturating_add(1);
        *slot(&mut self.undo, self.moves) = before;
        *slot(&mut self.seals, self.moves) = sealed;
        if let Some(last) = self.last.get_mut(usize::from(seat)) {
            *last = Some(deed);
        }
        if self.moves.is_multiple_of(ENERGY_MOVES) {
            self.energy = self.energy.map(|energy| energy.saturating_add(1));
        }
        self.end = self.find_end(seat, deed);
    }

    /// Whether the game is over after a move of `seat`.
    fn find_end(&self, seat: Seat, deed: Deed) -> Option<End> {
        struct Any(bool);
        impl MoveSink for Any {
            fn take(&mut self, _: &str) -> ControlFlow<()> {
                self.0 = true;
                ControlFlow::Break(())
            }
        }
        if let Deed::Place(at) = deed
            && self.board.five_through(at)
        {
            return Some(End::Five(seat));
        }
        if self.board.is_full() {
            return Some(End::Full);
        }
        if self.moves >= MOVES {
            return Some(End::Limit);
        }
        let mut any = Any(false);
        self.legal_moves(other(seat), &mut any);
        (!any.0).then_some(End::Stuck)
    }

    /// Takes back four moves, the last one first.
    fn rewind(&mut self, seat: Seat) {
        for number in (1..=self.moves).rev().take(REWIND_MOVES) {
            self.board.restore(*slot(&mut self.undo, number));
            *slot(&mut self.seals, number) = None;
        }
        self.history = 0;
        self.rewound = self.rewound.with(seat);
    }

    /// Puts the loose stones around a point into another order that has no five.
    fn uproot(&mut self, middle: Point, draws: &mut Draws) {
        let loose: Vec<Point, 9> = middle.around().filter(|&at| !self.is_sealed(at)).collect();
        let now: Vec<Option<Seat>, 9> = loose.iter().map(|&at| self.board.stone(at)).collect();
        let safe = self.arrange(&loose, &now, u32::MAX);
        if safe > 0 {
            self.arrange(&loose, &now, draws.below(safe).saturating_add(1));
        }
    }

    /// Tries one order of the loose stones after the other, and leaves the one on the board that is the `wanted`-th
    /// which may be. Says how many there were; if there are fewer than `wanted`, nothing has changed.
    fn arrange(&mut self, loose: &[Point], now: &Vec<Option<Seat>, 9>, wanted: u32) -> u32 {
        let mut order = now.clone();
        order.sort_unstable();
        let mut safe = 0_u32;
        loop {
            loose.iter().zip(&order).for_each(|(&at, &stone)| self.board.set(at, stone));
            if order != *now && !loose.iter().any(|&at| self.board.five_through(at)) {
                safe = safe.saturating_add(1);
                if safe == wanted {
                    return safe;
                }
            }
            if !next_order(&mut order) {
                break;
            }
        }
        loose.iter().zip(now).for_each(|(&at, &stone)| self.board.set(at, stone));
        safe
    }
}

/// The seat on the other side.
fn other(seat: Seat) -> Seat {
    seat ^ 1
}

/// Where a ring keeps what belongs to a move.
#[expect(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a remainder is below N, and N is not 0")]
fn slot<T, const N: usize>(ring: &mut [T; N], number: u16) -> &mut T {
    const { assert!(N > 0, "a ring has room") };
    &mut ring[usize::from(number) % N]
}

impl Game for Gomoku {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        if self.end.is_some() { Seats::NONE } else { Seats::only(self.mover()) }
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal> {
        let deed = Deed::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        self.judge(seat, deed)?;
        self.execute(seat, deed, draws);
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.end = Some(End::Forfeit(losers));
    }

    /// Placing a stone is safer than a skill, and the middle than the edge.
    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.end.is_some() || seat != self.mover() {
            return;
        }
        let rings = (0..=SIDE / 2).flat_map(|ring| Point::all().filter(move |at| at.ring() == ring));
        let skill = |skill| Point::all().map(move |at| Deed::Skill(skill, Some(at)));
        let skills = skill(Skill::Stillwater).chain(skill(Skill::Sandstorm)).chain(skill(Skill::Uproot));
        let rewind = Deed::Skill(Skill::Rewind, Some(Point::MIDDLE));
        for deed in rings.map(Deed::Place).chain(skills).chain([rewind]) {
            if self.judge(seat, deed).is_ok() && sink.legal_move(&deed).is_break() {
                return;
            }
        }
    }

    fn turn(&self) -> u16 {
        self.moves.saturating_add(1)
    }

    fn score(&self, seat: Seat) -> i32 {
        match self.end {
            Some(End::Five(winner)) => i32::from(winner == seat),
            Some(End::Forfeit(losers)) => i32::from(!losers.has(seat)),
            _ => 0,
        }
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        told::view(self, table, out)
    }

    fn board<S: Serializer>(&self, _viewer: Viewer, _table: Table<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        told::board(self).serialize(serializer)
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last_deed() {
            Some((mover, Deed::Place(at))) if mover == seat => write!(f, "Placed {} at {at}", told::symbol(Some(seat))),
            Some((mover, Deed::Skill(skill, target))) if mover == seat => {
                write!(f, "Used {}", told::Cast(skill, target))
            }
            _ => Ok(()),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((mover, deed)) = self.last_deed() else { return Ok(()) };
        write!(f, "Move {}: {} ", self.moves, table.name(mover))?;
        match deed {
            Deed::Place(at) => write!(f, "placed {} at {at}", told::symbol(Some(mover)))?,
            Deed::Skill(skill, target) => write!(f, "used {}", told::Cast(skill, target))?,
        }
        match self.end {
            Some(End::Five(_)) => f.write_str(" and wins!"),
            Some(End::Full | End::Limit | End::Stuck) => f.write_str(". The game is a draw."),
            Some(End::Forfeit(_)) | None => Ok(()),
        }
    }

    fn effect<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<bool, M::Error> {
        told::effect(self, table, out)
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_of(seat).serialize(serializer)
    }

    fn result<M: SerializeMap>(&self, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("total_moves", &self.moves)?;
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
        match self.end {
            Some(End::Five(seat)) => write!(f, "{} has five in a row after {} moves", table.name(seat), self.moves),
            Some(End::Full) => write!(f, "The board is full after {} moves", self.moves),
            Some(End::Limit) => write!(f, "Nobody has five in a row after {MOVES} moves"),
            Some(End::Stuck) => write!(f, "{} cannot move", table.name(self.mover())),
            Some(End::Forfeit(_)) => write!(f, "Given up after {} moves", self.moves),
            None => f.write_str("still running"),
        }
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.moves, self.end.map_or("", End::name))
    }

    fn digest(&self) -> u64 {
        let end = match self.end {
            Some(End::Five(seat)) => 1 | u64::from(seat) << 3,
            Some(End::Full) => 2,
            Some(End::Limit) => 3,
            Some(End::Stuck) => 4,
            Some(End::Forfeit(losers)) => u64::from(losers.has(0)) << 3 | u64::from(losers.has(1)) << 4,
            None => 0,
        };
        let [black, white] = self.last.map(Deed::to_bits);
        end | u64::from(self.moves) << 5 | black << 14 | white << 25
    }
}

#[cfg(test)]
mod tests;
