//! The stones: 15 × 15 points in two bits each, and what can be asked about them.

use core::fmt;
use core::num::NonZeroU8;

use crate::games::Seat;

pub(super) const SIDE: u8 = 15;

/// Half the ways to go from a point; the other half leads back.
const DIRECTIONS: [(i8, i8); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// A point of the board. Shown as players name it: H8 is the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point(NonZeroU8);

impl Point {
    pub const MIDDLE: Point = Point(NonZeroU8::MIN.saturating_add(7 * SIDE + 7));

    pub fn new(row: u8, col: u8) -> Option<Point> {
        let number = row.checked_mul(SIDE)?.checked_add(col)?;
        (row < SIDE && col < SIDE).then(|| Point(NonZeroU8::MIN.saturating_add(number)))
    }

    /// The point kept as this number, which is never 0.
    pub fn from_number(number: u8) -> Option<Point> {
        (number <= SIDE * SIDE).then(|| NonZeroU8::new(number).map(Point))?
    }

    pub fn number(self) -> u8 {
        self.0.get()
    }

    pub fn all() -> impl Iterator<Item = Point> + Clone {
        (1..=SIDE * SIDE).filter_map(Point::from_number)
    }

    pub fn row(self) -> u8 {
        (self.0.get() - 1) / SIDE
    }

    pub fn col(self) -> u8 {
        (self.0.get() - 1) % SIDE
    }

    fn step(self, (down, right): (i8, i8)) -> Option<Point> {
        Point::new(self.row().checked_add_signed(down)?, self.col().checked_add_signed(right)?)
    }

    /// The 3 × 3 points around this one, row by row; `None` where there is no board.
    fn square(self) -> impl Iterator<Item = Option<Point>> {
        (-1..=1).flat_map(move |down| (-1..=1).map(move |right| self.step((down, right))))
    }

    /// Those of the 3 × 3 points around this one that are on the board, row by row.
    pub fn around(self) -> impl Iterator<Item = Point> {
        self.square().flatten()
    }

    /// Whether the other is the next one in a row or column.
    pub fn touches(self, other: Point) -> bool {
        matches!((self.row().abs_diff(other.row()), self.col().abs_diff(other.col())), (0, 1) | (1, 0))
    }

    /// How many rings the point is away from the middle.
    pub fn ring(self) -> u8 {
        self.row().abs_diff(Self::MIDDLE.row()).max(self.col().abs_diff(Self::MIDDLE.col()))
    }
}

impl fmt::Display for Point {
    #[expect(clippy::arithmetic_side_effects, reason = "15 columns have letters, and rows end at 15")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'A' + self.col()), self.row() + 1)
    }
}

/// The 3 × 3 points around one as they were, two bits each, above the number of the one in the middle. Whatever a move
/// changes is inside such a square, so this takes any move back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Square(u32);

impl Square {
    /// The points on the board that were in it, and the stones they had.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "the lowest byte is the middle, and two bits each of nine places lie above it"
    )]
    pub fn stones(self) -> impl Iterator<Item = (Point, Option<Seat>)> {
        let places = Point::from_number(self.0 as u8).into_iter().flat_map(Point::square);
        (4..).zip(places).filter_map(move |(place, point)| Some((point?, stone((self.0 >> (2 * place)) as u8))))
    }
}

/// 0 for none, 1 for black, 2 for white: as in `extra.board`.
pub(super) fn colour(stone: Option<Seat>) -> u8 {
    stone.map_or(0, |seat| seat.saturating_add(1))
}

fn stone(colour: u8) -> Option<Seat> {
    (colour & 3).checked_sub(1)
}

/// The board: two bits a point, from the lowest.
#[derive(Clone, Debug)]
pub(super) struct Board([u8; (SIDE as usize * SIDE as usize).div_ceil(4)]);

impl Board {
    pub const EMPTY: Board = Board([0; 57]);

    /// Whose stone is at a point. Seat 0 is black.
    pub fn stone(&self, at: Point) -> Option<Seat> {
        let number = at.number();
        self.0.get(usize::from(number / 4)).and_then(|byte| stone(byte >> ((number % 4) << 1)))
    }

    pub fn set(&mut self, at: Point, stone: Option<Seat>) {
        let (byte, shift) = (usize::from(at.number() / 4), (at.number() % 4) << 1);
        if let Some(byte) = self.0.get_mut(byte) {
            *byte = *byte & !(3 << shift) | colour(stone) << shift;
        }
    }

    pub fn is_full(&self) -> bool {
        Point::all().all(|at| self.stone(at).is_some())
    }

    /// Whether the stone at a point is one of five or more in a line.
    #[expect(clippy::arithmetic_side_effects, reason = "a step is 1 at most, and a line 15")]
    pub fn five_through(&self, at: Point) -> bool {
        let Some(seat) = self.stone(at) else { return false };
        let run = |way| {
            core::iter::successors(at.step(way), move |at| at.step(way))
                .take_while(|&at| self.stone(at) == Some(seat))
                .count()
        };
        DIRECTIONS.iter().any(|&(down, right)| run((down, right)) + run((-down, -right)) >= 4)
    }

    /// Takes down what is around a point.
    pub fn square(&self, middle: Point) -> Square {
        let place = |bits, (place, at): (u32, Option<Point>)| {
            bits | u32::from(at.map_or(0, |at| colour(self.stone(at)))) << (place << 1)
        };
        Square((4..).zip(middle.square()).fold(middle.number().into(), place))
    }

    /// Puts back what a square had.
    pub fn restore(&mut self, square: Square) {
        square.stones().for_each(|(at, stone)| self.set(at, stone));
    }
}

/// Puts stones into the next order, as a dictionary would have them; false after the last.
pub(super) fn next_order(stones: &mut [Option<Seat>]) -> bool {
    let Some(at) = stones.windows(2).rposition(|pair| pair.first() < pair.last()) else { return false };
    let Some([pivot, tail @ ..]) = stones.get_mut(at..) else { return false };
    if let Some(next) = tail.iter_mut().rev().find(|next| **next > *pivot) {
        core::mem::swap(pivot, next);
    }
    tail.reverse();
    true
}
