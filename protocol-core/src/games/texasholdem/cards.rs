//! Cards, and which five of seven count for how much.

use core::fmt;

use serde::{Serialize, Serializer};

use crate::fair::Draws;

const CARDS: u32 = 52;

const RANKS: &[u8; 13] = b"23456789TJQKA";
const SUITS: &[u8; 4] = b"cdhs";

/// A card: four times its rank, from 0 for a two to 12 for an ace, and its suit, in the order of [`SUITS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Card(u8);

impl Card {
    /// All of them, in the order in which they lie in the deck.
    #[cfg(any(test, feature = "house"))]
    pub fn deck() -> impl Iterator<Item = Card> {
        (0..u8::MAX).zip(0..CARDS).map(|(card, _)| Card(card))
    }

    /// The card that is written so.
    #[cfg(any(test, feature = "house"))]
    pub fn named(text: &str) -> Option<Card> {
        let [rank, suit] = *text.as_bytes() else { return None };
        Self::deck()
            .find(|card| RANKS.get(usize::from(card.rank())) == Some(&rank) && SUITS.get(card.suit()) == Some(&suit))
    }

    fn rank(self) -> u8 {
        self.0 / 4
    }

    fn suit(self) -> usize {
        usize::from(self.0 % 4)
    }
}

/// As poker players write it: `Td` is the ten of diamonds.
impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        let [rank, suit] = [RANKS.get(usize::from(self.rank())), SUITS.get(self.suit())].map(|sign| sign.copied());
        f.write_char(rank.map_or('?', char::from))?;
        f.write_char(suit.map_or('?', char::from))
    }
}

impl Serialize for Card {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Deals from a whole deck. A draw below the number of cards that are left says which of these comes next; they lie in the
/// order 2c 2d 2h 2s 3c … As.
#[expect(clippy::cast_possible_truncation, reason = "a bit of 64")]
pub fn deal<'a>(draws: &mut Draws, places: impl Iterator<Item = &'a mut Card>) {
    let mut deck = (1u64 << CARDS) - 1;
    for place in places {
        let mut rest = deck;
        for _ in 0..draws.below(deck.count_ones()) {
            rest &= rest.wrapping_sub(1);
        }
        let card = rest.trailing_zeros();
        deck &= !(1u64.wrapping_shl(card));
        *place = Card(card as u8);
    }
}

/// What a hand is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    HighCard,
    Pair,
    TwoPair,
    Trips,
    Straight,
    Flush,
    FullHouse,
    Quads,
    StraightFlush,
}

impl Category {
    pub fn name(self) -> &'static str {
        match self {
            Category::HighCard => "high card",
            Category::Pair => "a pair",
            Category::TwoPair => "two pair",
            Category::Trips => "three of a kind",
            Category::Straight => "a straight",
            Category::Flush => "a flush",
            Category::FullHouse => "a full house",
            Category::Quads => "four of a kind",
            Category::StraightFlush => "a straight flush",
        }
    }
}

/// Ranks, a bit each.
type Ranks = u16;

/// How good the best five of up to seven cards are: the more the better. First what they are, then the ranks that make them
/// so, then the others. Ranks are compared as bits: of sets of the same size the one with the highest rank that the other has
/// not is the larger number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strength {
    pub category: Category,
    made_of: Ranks,
    kickers: Ranks,
}

/// The highest ranks of a set.
fn highest(mut ranks: Ranks, count: u32) -> Ranks {
    while ranks.count_ones() > count {
        ranks &= ranks.wrapping_sub(1);
    }
    ranks
}

/// The highest card of the highest five in a row; none if there are not so many. The ace is below the two as well.
fn straight(ranks: Ranks) -> Ranks {
    let from_ace = ranks << 1 | ranks >> 12;
    highest(from_ace & from_ace >> 1 & from_ace >> 2 & from_ace >> 3 & from_ace >> 4, 1) << 3
}

/// How good the best five of these cards are.
pub fn strength(cards: impl Iterator<Item = Card>) -> Strength {
    let mut suits: [Ranks; SUITS.len()] = [0; SUITS.len()];
    for card in cards {
        if let Some(ranks) = suits.get_mut(card.suit()) {
            *ranks |= 1 << card.rank();
        }
    }
    let [c, d, h, s] = suits;
    let any = c | d | h | s;
    let four = c & d & h & s;
    let three = c & d & (h | s) | h & s & (c | d);
    let two = c & d | h & s | (c | d) & (h | s);
    let flush = suits.into_iter().find(|ranks| ranks.count_ones() >= 5).unwrap_or(0);
    let is = |category, made_of: Ranks, rest: Ranks, kickers| Strength {
        category,
        made_of,
        kickers: highest(rest & !made_of, kickers),
    };
    let best = highest(three, 1);
    if straight(flush) != 0 {
        is(Category::StraightFlush, straight(flush), 0, 0)
    } else if four != 0 {
        is(Category::Quads, four, any, 1)
    } else if best != 0 && two != best {
        is(Category::FullHouse, best, two, 1)
    } else if flush != 0 {
        is(Category::Flush, highest(flush, 5), 0, 0)
    } else if straight(any) != 0 {
        is(Category::Straight, straight(any), 0, 0)
    } else if best != 0 {
        is(Category::Trips, best, any, 2)
    } else if two.count_ones() >= 2 {
        is(Category::TwoPair, highest(two, 2), any, 1)
    } else if two != 0 {
        is(Category::Pair, two, any, 3)
    } else {
        is(Category::HighCard, 0, any, 5)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::fair::Seed;
    use std::collections::{BTreeMap, BTreeSet};
    use std::string::ToString;
    use std::vec::Vec;

    fn cards(text: &str) -> Vec<Card> {
        text.split(' ').map(|word| Card::named(word).unwrap()).collect()
    }

    fn of(text: &str) -> Strength {
        strength(cards(text).into_iter())
    }

    #[test]
    fn all_five_card_hands_fall_into_7462_classes_with_the_published_numbers_of_each_category() {
        let mut hands = BTreeMap::<Category, u32>::new();
        let mut classes = BTreeSet::new();
        for a in 0..52 {
            for b in a + 1..52 {
                for c in b + 1..52 {
                    for d in c + 1..52 {
                        // Strengths come in runs: few need looking up.
                        let mut last = None;
                        for e in d + 1..52 {
                            let strength = strength([a, b, c, d, e].into_iter().map(Card));
                            *hands.entry(strength.category).or_default() += 1;
                            if last.replace(strength) != Some(strength) {
                                classes.insert(strength);
                            }
                        }
                    }
                }
            }
        }
        let numbers: Vec<u32> = hands.into_values().collect();
        assert_eq!(numbers, [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]);
        assert_eq!(classes.len(), 7_462);
        let of_category = |category| classes.iter().filter(|class| class.category == category).count();
        use Category::*;
        let classes =
            [HighCard, Pair, TwoPair, Trips, Straight, Flush, FullHouse, Quads, StraightFlush].map(of_category);
        assert_eq!(classes, [1_277, 2_860, 858, 858, 10, 1_277, 156, 156, 10]);
    }

    #[test]
    fn seven_cards_are_worth_as_much_as_the_best_five_of_them() {
        let mut draws = Draws::new(Seed([3; 32]));
        for _ in 0..3_000 {
            let mut seven = [Card(0); 7];
            deal(&mut draws, seven.iter_mut());
            let mut best = None;
            for left in 0..7 {
                for out in left + 1..7 {
                    let five = (0..7).filter(|&at| at != left && at != out).map(|at| seven[at]);
                    best = best.max(Some(strength(five)));
                }
            }
            assert_eq!(Some(strength(seven.into_iter())), best, "{seven:?}");
        }
    }

    #[test]
    fn hands_rank_as_in_the_rules_of_poker() {
        let ranked = [
            "7c 5d 4h 3s 2c",
            "Ac 5d 4h 3s 9c",
            "2c 2d Ah Ks Qc",
            "3c 3d 4h 5s 6c",
            "3c 3d 2h 2s 4c",
            "Ac Ad 2h 2s 3c",
            "2c 2d 2h 3s 4c",
            "Ac 2d 3h 4s 5c",
            "2d 3h 4s 5c 6c",
            "Ac Kd Qh Js Tc",
            "2c 3c 4c 5c 7c",
            "2c 2d 2h As Ac",
            "3c 3d 3h 2s 2c",
            "2c 2d 2h 2s 3c",
            "Ac 2c 3c 4c 5c",
            "Ac Kc Qc Jc Tc",
        ];
        for pair in ranked.windows(2) {
            assert!(of(pair[0]) < of(pair[1]), "{pair:?}");
        }
        // Two trips are a full house; of three pairs the best two count, with the best card beside them.
        assert_eq!(of("5c 5d 5h 9c 9d 9h 2s"), of("9c 9d 9h 5c 5d"));
        assert_eq!(of("5c 5d 9c 9d Kc Kd As"), of("Kc Kd 9c 9d As"));
        assert_eq!(of("5c 5d 9c 9d Kc Kd 7s"), of("Kc Kd 9c 9d 7s"));
        assert_eq!(of("Ac Ad Ah As Kc Kd Kh"), of("Ac Ad Ah As Kc"));
    }

    #[test]
    fn every_card_has_a_name_of_its_own() {
        assert!(Card::deck().all(|card| Card::named(&card.to_string()) == Some(card)));
        assert_eq!(["", "A", "1s", "Ax", "Asd"].map(Card::named), [None; 5]);
    }

    #[test]
    fn every_card_of_a_deck_is_dealt_once() {
        let mut deck = [Card(0); 52];
        deal(&mut Draws::new(Seed([1; 32])), deck.iter_mut());
        let dealt: BTreeSet<Card> = deck.into_iter().collect();
        assert!(dealt.len() == 52 && dealt.last() == Some(&Card(51)));
        assert_ne!(deck.to_vec(), dealt.into_iter().collect::<Vec<_>>());
    }
}
