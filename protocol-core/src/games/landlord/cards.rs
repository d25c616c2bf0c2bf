//! Cards without suits: how many there are of each rank.

use serde::{Serialize, Serializer};

use crate::fair::Draws;
use crate::json::Str;

/// How many ranks there are.
pub const RANKS: usize = 15;

/// The ranks, the lowest first.
const NAMES: [&str; RANKS] = ["3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2", "BJ", "RJ"];

/// Bits for each rank: four cards and one bit to spare, so that cards are compared all at once.
const WIDTH: usize = 4;

/// The bit to spare of every rank.
const SPARE: u64 = 0x888_8888_8888_8888;

/// A rank, from 0 for `3` to 14 for the red joker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u8);

impl Rank {
    /// The ranks that can stand in a row: 3 to A.
    pub const IN_A_ROW: u8 = 12;
    /// The lower joker: of ranks from here on there is one card each.
    const BLACK_JOKER: Rank = Rank(13);

    /// Each of them, the lowest first.
    pub fn all() -> impl Iterator<Item = Rank> {
        (0..).take(RANKS).map(Rank)
    }

    /// The one with this name.
    pub fn named(name: Str<'_>) -> Option<Rank> {
        Rank::all().find(|rank| name.is_ignore_ascii_case(rank.name()))
    }

    /// The one that an agent means which sends `7` for `"7"`.
    pub fn numbered(number: u64) -> Option<Rank> {
        match number {
            2 => Some(Rank(12)),
            3..=10 => u8::try_from(number).ok()?.checked_sub(3).map(Rank),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or_default()
    }

    /// How many cards of it there are.
    pub fn copies(self) -> u8 {
        if self < Rank::BLACK_JOKER { 4 } else { 1 }
    }

    fn shift(self) -> usize {
        WIDTH * usize::from(self.0)
    }
}

/// A set of ranks, a bit each, the lowest for `3`.
pub type Ranks = u16;

/// Some cards: never more of a rank than there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cards(u64);

impl Cards {
    /// No card.
    pub const NONE: Cards = Cards(0);
    /// All 54.
    pub const ALL: Cards = Cards(0x114_4444_4444_4444);

    /// How many of a rank.
    pub fn count(self, rank: Rank) -> u8 {
        (self.0 >> rank.shift() & 7) as u8
    }

    /// How many in all.
    pub fn len(self) -> u8 {
        Rank::all().map(|rank| self.count(rank)).sum()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// These and one more; `None` if there is no such card left in a deck.
    #[expect(clippy::arithmetic_side_effects, reason = "there is room for one more: the bit to spare stays free")]
    pub fn with(self, rank: Rank) -> Option<Cards> {
        (self.count(rank) < rank.copies()).then(|| Cards(self.0 + (1 << rank.shift())))
    }

    /// `of` cards of each of some ranks. That there are so many is for the caller to know.
    pub fn groups(of: u8, ranks: Ranks) -> Cards {
        let bits = Rank::all().filter(|rank| ranks >> rank.0 & 1 == 1);
        Cards(bits.fold(0, |cards, rank| cards | u64::from(of) << rank.shift()))
    }

    /// These and others. That they are not the same ones is for the caller to know.
    #[expect(clippy::arithmetic_side_effects, reason = "no rank has more than four of both, so none reaches the next")]
    pub fn and(self, others: Cards) -> Cards {
        Cards(self.0 + others.0)
    }

    /// These without others; `None` if those are not among them.
    pub fn without(self, others: Cards) -> Option<Cards> {
        let left = (self.0 | SPARE).wrapping_sub(others.0);
        (left & SPARE == SPARE).then_some(Cards(left & !SPARE))
    }

    /// The ranks of which there are at least `n`.
    pub fn at_least(self, n: u8) -> Ranks {
        Rank::all().filter(|&rank| self.count(rank) >= n).fold(0, |ranks, rank| ranks | 1 << rank.0)
    }

    /// The ranks of which there are exactly `n`.
    pub fn exactly(self, n: u8) -> Ranks {
        self.at_least(n) & !self.at_least(n.saturating_add(1))
    }

    /// Each card, the lowest first.
    pub fn iter(self) -> impl Iterator<Item = Rank> {
        Rank::all().flat_map(move |rank| (0..self.count(rank)).map(move |_| rank))
    }

    /// Takes one of these cards by chance: all lie in a row, the lowest first, and the draw says which.
    fn draw(&mut self, draws: &mut Draws) -> Rank {
        let place = draws.below(self.len().into()) as usize;
        let rank = self.iter().nth(place).unwrap_or(Rank(0));
        *self = self.without(Cards(1 << rank.shift())).unwrap_or(*self);
        rank
    }

    /// Deals: the first hand card by card, then the second, then the third. What is left is the kitty.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "what is drawn leaves the deck, so no hand has more than four of a rank"
    )]
    pub fn deal<const HANDS: usize>(size: u8, draws: &mut Draws) -> [Cards; HANDS] {
        let mut deck = Cards::ALL;
        [(); HANDS].map(|()| (0..size).fold(Cards::NONE, |hand, _| Cards(hand.0 + (1 << deck.draw(draws).shift()))))
    }
}

/// Their ranks, the lowest first.
impl Serialize for Cards {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Rank::name))
    }
}
