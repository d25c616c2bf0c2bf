//! The board: sets of points, a bit each, and what grows and breathes on them.

use core::fmt;

use crate::games::Seat;

pub(super) const SIDE: u8 = 9;
const POINTS: u8 = SIDE * SIDE;

/// Columns as everybody names them: there is no I.
const COLUMNS: &[u8; SIDE as usize] = b"ABCDEFGHJ";

/// One of the 81: A1, at the bottom left, is 0, B1 is 1, and J9 is 80.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point(u8);

impl Point {
    pub fn new(column: u8, row: u8) -> Option<Point> {
        let at = row.checked_mul(SIDE)?.checked_add(column)?;
        (column < SIDE && row < SIDE).then_some(Point(at))
    }

    pub fn of_number(number: u8) -> Option<Point> {
        (number < POINTS).then_some(Point(number))
    }

    pub fn number(self) -> u8 {
        self.0
    }

    /// `D4`, in whatever case.
    pub fn read(text: &str) -> Option<Point> {
        let &[letter, digit] = text.as_bytes() else { return None };
        let column = COLUMNS.iter().position(|known| *known == letter.to_ascii_uppercase())?;
        Point::new(u8::try_from(column).ok()?, digit.checked_sub(b'1')?)
    }

    pub fn column(self) -> u8 {
        self.0 % SIDE
    }

    pub fn row(self) -> u8 {
        self.0 / SIDE
    }

    pub fn all() -> impl Iterator<Item = Point> + Clone {
        (0..POINTS).map(Point)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = COLUMNS.get(usize::from(self.column())).copied().unwrap_or(b'?');
        write!(f, "{}{}", char::from(letter), self.row().saturating_add(1))
    }
}

/// A set of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Points(u128);

impl Points {
    pub const NONE: Points = Points(0);
    const ALL: Points = Points((1 << POINTS) - 1);
    const LEFT: u128 = {
        let (mut left, mut row) = (0, 0);
        while row < SIDE {
            left |= 1 << (row * SIDE);
            row += 1;
        }
        left
    };

    pub fn only(at: Point) -> Points {
        Points(1 << at.0)
    }

    pub fn has(self, at: Point) -> bool {
        self.0 >> at.0 & 1 == 1
    }

    pub fn and(self, other: Points) -> Points {
        Points(self.0 | other.0)
    }

    pub fn without(self, other: Points) -> Points {
        Points(self.0 & !other.0)
    }

    pub fn touches(self, other: Points) -> bool {
        self.0 & other.0 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[expect(clippy::cast_possible_truncation, reason = "there are 81")]
    pub fn len(self) -> u8 {
        self.0.count_ones() as u8
    }

    pub fn iter(self) -> impl Iterator<Item = Point> {
        Point::all().filter(move |at| self.has(*at))
    }

    /// The points beside these.
    pub fn beside(self) -> Points {
        let right = self.0 << 1 & !Self::LEFT;
        let left = (self.0 & !Self::LEFT) >> 1;
        Points((right | left | self.0 << SIDE | self.0 >> SIDE) & Self::ALL.0).without(self)
    }

    /// These and all of `within` that hangs together with them.
    pub fn grown(self, within: Points) -> Points {
        let mut group = self;
        loop {
            let more = Points(group.beside().0 & within.0);
            if more.is_empty() {
                return group;
            }
            group = group.and(more);
        }
    }
}

/// The stones of both, Black's first; in bytes, so that they take as much on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stones([[u8; 11]; 2]);

impl Stones {
    pub const NONE: Stones = Stones([[0; 11]; 2]);

    pub fn of(&self, seat: Seat) -> Points {
        let mut bytes = [0; 16];
        let own = self.0.get(usize::from(seat)).into_iter().flatten();
        bytes.iter_mut().zip(own).for_each(|(byte, own)| *byte = *own);
        Points(u128::from_le_bytes(bytes))
    }

    pub fn set(&mut self, seat: Seat, points: Points) {
        let own = self.0.get_mut(usize::from(seat)).into_iter().flatten();
        own.zip(points.0.to_le_bytes()).for_each(|(own, byte)| *own = byte);
    }

    pub fn empty(&self) -> Points {
        Points::ALL.without(self.of(0)).without(self.of(1))
    }

    /// Who has a stone there.
    pub fn at(&self, at: Point) -> Option<Seat> {
        (0..2).find(|&seat| self.of(seat).has(at))
    }

    /// The stones after one more, and how many it took; `None` if it and its group could not breathe.
    pub fn after(&self, seat: Seat, at: Point) -> Option<(Stones, u8)> {
        let (other, own) = (seat ^ 1, self.of(seat).and(Points::only(at)));
        let (mut theirs, mut taken) = (self.of(other), Points::NONE);
        let breathes = |group: Points, others: Points| !group.beside().without(others).is_empty();
        for beside in Points::only(at).beside().iter().filter(|&beside| theirs.has(beside)) {
            let group = Points::only(beside).grown(theirs);
            if !breathes(group, own.and(theirs)) {
                taken = taken.and(group);
            }
        }
        theirs = theirs.without(taken);
        if !breathes(Points::only(at).grown(own), own.and(theirs)) {
            return None;
        }
        let mut stones = self.clone();
        stones.set(seat, own);
        stones.set(other, theirs);
        Some((stones, taken.len()))
    }

    /// The points of each: its stones, and what is empty and touches no other's.
    pub fn area(&self) -> [u8; 2] {
        let (mut area, mut left) = ([self.of(0), self.of(1)], self.empty());
        while let Some(first) = left.iter().next() {
            let region = Points::only(first).grown(self.empty());
            left = left.without(region);
            let edge = region.beside();
            match [0, 1].map(|seat| edge.touches(self.of(seat))) {
                [true, false] => area[0] = area[0].and(region),
                [false, true] => area[1] = area[1].and(region),
                _ => {}
            }
        }
        area.map(Points::len)
    }

    /// Another number for nearly every other position (FNV-1a, and once more mixed, because only some of its bits are kept).
    pub fn digest(&self) -> u64 {
        let bytes = self.0.iter().flatten().map(|&byte| u64::from(byte));
        let mixed = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ byte).wrapping_mul(0x100_0000_01b3));
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ mixed >> 29
    }
}
