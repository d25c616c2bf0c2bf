//! What can be played at once, what beats what, and every play of a hand.
//!
//! All plays but the rocket are made alike: groups of the same size whose ranks stand in a row, and kickers, which are all solos or
//! all pairs of as many different ranks. So a play is known by how many ranks there are of which count, and no cards are two
//! plays at once.

use core::ops::ControlFlow;

use super::cards::{Cards, Rank, Ranks};
use crate::games::Illegal;

/// Both jokers.
const JOKERS: Ranks = 1 << 13 | 1 << 14;

/// What is played, but for its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Cards in each group.
    group: u8,
    /// Groups, in a row.
    run: u8,
    /// Cards in each kicker; 0 where there are none.
    kicker: u8,
}

/// A play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// Groups from this rank on, and kickers.
    Groups(Shape, u8),
    /// Both jokers.
    Rocket,
}

impl Shape {
    const BOMB: Shape = Shape { group: 4, run: 1, kicker: 0 };

    /// All there are, as hands are listed: solos first.
    fn all() -> impl Iterator<Item = Shape> {
        let runs = |group, least: u8, most: u8| {
            [1].into_iter().chain(least..=most).map(move |run| Shape { group, run, kicker: 0 })
        };
        let kickers = |shape: Shape| (0..=2).map(move |kicker| Shape { kicker, ..shape });
        let trios = runs(3, 2, 6).flat_map(kickers);
        runs(1, 5, 12).chain(runs(2, 3, 10)).chain(trios).chain(kickers(Shape::BOMB))
    }

    /// How many kickers.
    fn kickers(self) -> u8 {
        match self {
            Shape { kicker: 0, .. } => 0,
            Shape { group: 4, .. } => 2,
            Shape { run, .. } => run,
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Shape { group: 1, run: 1, .. } => "solo",
            Shape { group: 1, .. } => "straight",
            Shape { group: 2, run: 1, .. } => "pair",
            Shape { group: 2, .. } => "pair straight",
            Shape { group: 3, run: 1, kicker: 0 } => "trio",
            Shape { group: 3, run: 1, kicker: 1 } => "trio with a solo",
            Shape { group: 3, run: 1, .. } => "trio with a pair",
            Shape { group: 3, kicker: 0, .. } => "plane",
            Shape { group: 3, kicker: 1, .. } => "plane with solos",
            Shape { group: 3, .. } => "plane with pairs",
            Shape { kicker: 0, .. } => "bomb",
            Shape { kicker: 1, .. } => "four with two solos",
            Shape { .. } => "four with two pairs",
        }
    }
}

impl Play {
    /// What these cards are when they are played together.
    #[expect(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, reason = "there are 15 ranks")]
    pub fn of(cards: Cards) -> Result<Play, Illegal> {
        let [ones, twos, threes, fours] = [1, 2, 3, 4].map(|n| cards.exactly(n));
        let (group, ranks, solos, pairs) = match [ones, twos, threes, fours] {
            [JOKERS, 0, 0, 0] => return Ok(Play::Rocket),
            [ones, 0, 0, 0] => (1, ones, 0, 0),
            [0, twos, 0, 0] => (2, twos, 0, 0),
            [ones, twos, threes, 0] => (3, threes, ones, twos),
            [ones, twos, 0, fours] => (4, fours, ones, twos),
            _ => return Err(Illegal("cards: this is no play: a four takes no trio")),
        };
        if ranks == 0 {
            return Err(Illegal("cards: this is no play: solos and pairs go together only with trios or a four"));
        }
        let (first, run) = (ranks.trailing_zeros() as u8, ranks.count_ones() as u8);
        let is_row = ranks >> first == (1 << run) - 1 && first + run <= Rank::IN_A_ROW;
        let rule = match group {
            1 => Illegal("cards: a straight has five cards or more, 3 to A"),
            2 => Illegal("cards: a pair straight has three pairs or more, 3 to A"),
            3 => Illegal("cards: the trios of a plane stand in a row, 3 to A"),
            _ => Illegal("cards: only one four is played at once"),
        };
        let shape = Shape { group, run, kicker: if solos != 0 { 1 } else { 2 * u8::from(pairs != 0) } };
        if (run > 1 && !is_row) || !Shape::all().any(|other| Shape { kicker: 0, ..shape } == other) {
            return Err(rule);
        }
        let kickers = (solos | pairs).count_ones() as u8;
        if kickers != shape.kickers() || (solos != 0 && pairs != 0) {
            return Err(match group {
                3 => Illegal("cards: each trio takes one solo, or each takes one pair, all of different ranks"),
                _ => Illegal("cards: a four takes two solos or two pairs, of different ranks"),
            });
        }
        if solos & JOKERS == JOKERS {
            return Err(Illegal("cards: both jokers are never kickers together"));
        }
        Ok(Play::Groups(shape, first))
    }

    /// Whether it doubles what the deal is worth.
    pub fn doubles(self) -> bool {
        self == Play::Rocket || matches!(self, Play::Groups(Shape::BOMB, _))
    }

    /// Whether it may follow another one.
    pub fn beats(self, other: Play) -> bool {
        match (self, other) {
            (_, Play::Rocket) => false,
            (Play::Rocket, _) => true,
            (Play::Groups(mine, rank), Play::Groups(theirs, least)) if mine == theirs => rank > least,
            (Play::Groups(mine, _), _) => mine == Shape::BOMB,
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Play::Groups(shape, _) => shape.name(),
            Play::Rocket => "rocket",
        }
    }
}

/// Lists every play of a hand: all of them, or those that beat one. The lowest solo comes first, bombs and the rocket last.
///
/// The work is bounded by the hand: no row is looked at twice, and of kickers only those are tried that are there.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "there are 15 ranks, and a row has a lowest bit while it has one"
)]
pub fn list(hand: Cards, over: Option<Play>, each: &mut impl FnMut(Cards) -> ControlFlow<()>) -> ControlFlow<()> {
    let has = [0, 1, 2, 3, 4].map(|n| hand.at_least(n));
    let has = |n: u8| has.get(usize::from(n)).copied().unwrap_or(0);
    let may = |shape: Shape, rank: u8| over.is_none_or(|over| Play::Groups(shape, rank).beats(over));
    for shape in Shape::all().filter(|&shape| may(shape, u8::MAX)) {
        let Shape { group, run, kicker } = shape;
        let ranks = if run > 1 { has(group) & ((1 << Rank::IN_A_ROW) - 1) } else { has(group) };
        let mut rows = (1..run).fold(ranks, |rows, step| rows & ranks >> step);
        while rows != 0 {
            let first = rows.trailing_zeros() as u8;
            rows &= rows - 1;
            if !may(shape, first) {
                continue;
            }
            let row = ((1 << run) - 1) << first;
            let groups = Cards::groups(group, row);
            if kicker == 0 {
                each(groups)?;
                continue;
            }
            let spare = has(kicker) & !row;
            for places in Choice::new(spare.count_ones() as u8, shape.kickers()) {
                let kickers = spread(places, spare);
                if kicker > 1 || kickers & JOKERS != JOKERS {
                    each(groups.and(Cards::groups(kicker, kickers)))?;
                }
            }
        }
    }
    let has_rocket = has(1) & JOKERS == JOKERS && over.is_none_or(|over| Play::Rocket.beats(over));
    if has_rocket { each(Cards::groups(1, JOKERS)) } else { ControlFlow::Continue(()) }
}

/// Every choice of some of a few things, a bit each: the lowest first.
struct Choice {
    next: u32,
    end: u32,
}

impl Choice {
    #[expect(clippy::arithmetic_side_effects, reason = "there are 15 ranks to choose from")]
    fn new(of: u8, some: u8) -> Choice {
        let (first, end) = ((1 << some) - 1, 1 << of);
        Choice { next: if some > of { end } else { first }, end }
    }
}

impl Iterator for Choice {
    type Item = u32;

    /// The next larger number with as many bits: the lowest block of ones moves its top one up and the rest down.
    #[expect(clippy::arithmetic_side_effects, reason = "a choice has 15 bits")]
    fn next(&mut self) -> Option<u32> {
        let now = Some(self.next).filter(|&now| now < self.end && now != 0)?;
        let lowest = now & now.wrapping_neg();
        let up = now + lowest;
        self.next = up | (now ^ up) >> (2 + now.trailing_zeros());
        Some(now)
    }
}

/// Puts the bits of a choice where the ranks are that were chosen from.
fn spread(places: u32, among: Ranks) -> Ranks {
    let (mut left, mut spread, mut places) = (among, 0, places);
    while places != 0 && left != 0 {
        let lowest = left & left.wrapping_neg();
        spread |= if places & 1 == 1 { lowest } else { 0 };
        (left, places) = (left & !lowest, places >> 1);
    }
    spread
}
