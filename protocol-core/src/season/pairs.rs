//! Who plays whom in a game for two, and when.
//!
//! A round robin by the circle method, of which nothing is stored: every question is answered by arithmetic, in
//! constant time, from the number of players. Results, names and match ids are left to others.
//!
//! Think of `k` chairs in a circle, `k` odd, numbered `1..=k`, and of chair 0 in its middle. In round `r` chair `r`
//! faces the middle, and of the others those face each other that are equally far from `r`: `r + t` and `r - t`.
//! With an even number of players, player 0 sits in the middle and `k` is one less than the players. With an odd
//! number nobody sits in the middle, and whoever faces it has a bye.

use super::schedule::{index_of, match_at};

/// Two players of a match, as indices from 0. `a` has side A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The player named first.
    pub a: u16,
    /// The player named second.
    pub b: u16,
}

/// The season of four, as the specification prints it. Our circle finds the same matches at the same tables, but
/// would share out the sides evenly; here the third player is always A and the second always B.
const FOUR: [[Pair; 2]; 3] = [
    [Pair { a: 0, b: 1 }, Pair { a: 2, b: 3 }],
    [Pair { a: 2, b: 0 }, Pair { a: 3, b: 1 }],
    [Pair { a: 3, b: 0 }, Pair { a: 2, b: 1 }],
];

/// A season in which everybody meets everybody once.
///
/// Players are indices from 0; rounds and tables count from 1, as in `R1M1`. After every round each player has had
/// the sides A and B equally often, or one of them once more (except among four, see [`pair`](Self::pair)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// How many take part. Fewer than two have nothing to play.
    pub players: u16,
}

impl Pairs {
    /// How many rounds the season has.
    #[must_use]
    pub const fn rounds(self) -> u16 {
        match self.players {
            0 | 1 => 0,
            n => n.saturating_sub(1) | 1,
        }
    }

    /// How many matches, and so tables, a round has.
    #[must_use]
    pub const fn matches_per_round(self) -> u16 {
        self.players / 2
    }

    /// How many matches the season has.
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "65,535 rounds of 32,767 matches are fewer than 2³²")]
    pub const fn total_matches(self) -> u32 {
        self.rounds() as u32 * self.matches_per_round() as u32
    }

    /// Who sits at a table. With four players the sides are those of the specification's example.
    #[must_use]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`index` saw that both count from 1; 16 bits are counted in 32, and `away` is at most half a circle"
    )]
    pub fn pair(self, round: u16, table: u16) -> Option<Pair> {
        self.index(round, table)?;
        if self.players == 4 {
            let tables = FOUR.get(usize::from(round) - 1)?;
            return tables.get(usize::from(table) - 1).copied();
        }
        let round = u32::from(round);
        let away = u32::from(table) - 1 + self.empty_middle();
        // Seen from the chair that faces the middle, side A is an odd number of chairs ahead. For each player that
        // number falls by one a round, so sides alternate, except past the middle: 1 is followed by `k - 1`, which is
        // even. The player in the middle alternates too, from B, and so gives each chair the side it is short of.
        let (one, other, one_is_a) = if away == 0 {
            (round, 0, round % 2 == 1)
        } else {
            (self.chair(round + away), self.chair(round + self.circle() - away), away % 2 == 1)
        };
        let (one, other) = (self.player_on(one)?, self.player_on(other)?);
        Some(if one_is_a { Pair { a: one, b: other } } else { Pair { a: other, b: one } })
    }

    /// Where a player sits in a round. `None` is a bye.
    #[must_use]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "16 bits are counted in 32; neither a round nor what is ahead is more than the circle"
    )]
    pub fn table_of(self, round: u16, player: u16) -> Option<u16> {
        let chair = self.chair_of(player)?;
        let round = self.round(round)?;
        let ahead = match chair {
            0 => 0,
            _ => (chair + self.circle() - round) % self.circle(),
        };
        let away = ahead.min(self.circle() - ahead);
        let table = away + 1 - self.empty_middle();
        u16::try_from(table).ok().filter(|&table| table > 0)
    }

    /// The place of a match in a list of all, round by round and table by table, from 0.
    #[must_use]
    pub fn index(self, round: u16, table: u16) -> Option<usize> {
        self.round(round)?;
        let per_round = self.matches_per_round();
        index_of(round, table, per_round).filter(|_| table <= per_round)
    }

    /// The round and table of the match at that place: [`index`](Self::index) backwards.
    #[must_use]
    pub fn at(self, index: usize) -> Option<(u16, u16)> {
        match_at(index, self.matches_per_round()).filter(|&(round, _)| round <= self.rounds())
    }

    /// The number of chairs in the circle: 0, or odd.
    fn circle(self) -> u32 {
        u32::from(self.rounds())
    }

    /// 1 if nobody sits in the middle, else 0.
    fn empty_middle(self) -> u32 {
        u32::from(self.players % 2)
    }

    /// The round, if it is one of the season. Then there are players, and the circle is not empty.
    fn round(self, round: u16) -> Option<u32> {
        (1..=self.rounds()).contains(&round).then_some(u32::from(round))
    }

    fn chair_of(self, player: u16) -> Option<u32> {
        (player < self.players).then(|| u32::from(player).saturating_add(self.empty_middle()))
    }

    /// Who sits there; `None` if that is the empty middle.
    fn player_on(self, chair: u32) -> Option<u16> {
        u16::try_from(chair.checked_sub(self.empty_middle())?).ok()
    }

    /// The chair at which one arrives after counting on from chair 1 to `count`, which is at least 1 and less than twice round.
    /// Standings ask it of every match, so it does not divide.
    fn chair(self, count: u32) -> u32 {
        count.checked_sub(self.circle()).filter(|&chair| chair > 0).unwrap_or(count)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::{vec, vec::Vec};

    fn sizes() -> impl Iterator<Item = Pairs> {
        (2..=64).chain([511, 512]).map(|players| Pairs { players })
    }

    fn season(pairs: Pairs) -> Vec<(u16, u16, Pair)> {
        let mut season = Vec::new();
        for round in 1..=pairs.rounds() {
            for table in 1..=pairs.matches_per_round() {
                let pair = pairs.pair(round, table).expect("every table of a round is taken");
                season.push((round, table, pair));
            }
        }
        season
    }

    #[test]
    fn four_players_meet_as_the_specification_prints() {
        let season: Vec<_> = season(Pairs { players: 4 })
            .into_iter()
            .map(|(round, table, pair)| (round, table, pair.a + 1, pair.b + 1))
            .collect();
        assert_eq!(season, [(1, 1, 1, 2), (1, 2, 3, 4), (2, 1, 3, 1), (2, 2, 4, 2), (3, 1, 4, 1), (3, 2, 3, 2),]);
    }

    #[test]
    fn everybody_meets_everybody_exactly_once() {
        for pairs in sizes() {
            let n = usize::from(pairs.players);
            let mut met = vec![false; n * n];
            let season = season(pairs);
            for &(round, table, Pair { a, b }) in &season {
                let (low, high) = (usize::from(a.min(b)), usize::from(a.max(b)));
                assert!(low < high && high < n, "R{round}M{table} of {n}");
                let seen = core::mem::replace(&mut met[low * n + high], true);
                assert!(!seen, "R{round}M{table} of {n} repeats a match");
            }
            assert_eq!(season.len(), n * (n - 1) / 2);
            assert_eq!(season.len(), pairs.total_matches() as usize);
        }
    }

    #[test]
    fn nobody_sits_at_two_tables_and_odd_leagues_rest_everybody_once() {
        for pairs in sizes() {
            let n = usize::from(pairs.players);
            let mut byes = vec![0; n];
            for round in 1..=pairs.rounds() {
                let mut busy = vec![false; n];
                for table in 1..=pairs.matches_per_round() {
                    let Pair { a, b } = pairs.pair(round, table).expect("a table of the round");
                    for player in [a, b] {
                        assert!(!core::mem::replace(&mut busy[usize::from(player)], true));
                    }
                }
                let resting: Vec<_> = (0..n).filter(|&player| !busy[player]).collect();
                assert_eq!(resting.len(), n % 2, "round {round} of {n}");
                for player in resting {
                    byes[player] += 1;
                    assert_eq!(pairs.table_of(round, player as u16), None);
                }
            }
            assert_eq!(byes, vec![n % 2; n]);
        }
    }

    #[test]
    fn sides_differ_by_at_most_one_after_every_round() {
        for pairs in sizes().filter(|pairs| pairs.players != 4) {
            let mut lead = vec![0i32; usize::from(pairs.players)];
            for (round, _, Pair { a, b }) in season(pairs) {
                // One match a round, so after a player's match the round is over for that player.
                for (player, side) in [(a, 1), (b, -1)] {
                    let lead = &mut lead[usize::from(player)];
                    *lead += side;
                    assert!(lead.abs() <= 1, "player {player}, round {round} of {}", pairs.players);
                }
            }
        }
    }

    #[test]
    fn all_questions_about_a_match_agree() {
        for pairs in sizes() {
            for (place, (round, table, Pair { a, b })) in season(pairs).into_iter().enumerate() {
                for player in [a, b] {
                    assert_eq!(pairs.table_of(round, player), Some(table));
                }
                assert_eq!(pairs.index(round, table), Some(place));
                assert_eq!(pairs.at(place), Some((round, table)));
            }
        }
    }

    #[test]
    fn fewer_than_two_have_no_rounds() {
        for pairs in [Pairs { players: 0 }, Pairs { players: 1 }] {
            assert_eq!((pairs.rounds(), pairs.matches_per_round()), (0, 0));
            assert_eq!(pairs.total_matches(), 0);
            assert_eq!(pairs.pair(1, 1), None);
            assert_eq!(pairs.table_of(1, 0), None);
            assert_eq!(pairs.at(0), None);
        }
    }

    #[test]
    fn what_is_not_in_the_season_is_none() {
        for pairs in sizes() {
            let n = pairs.players;
            let (rounds, tables) = (pairs.rounds(), pairs.matches_per_round());
            for (round, table) in [(0, 1), (1, 0), (rounds + 1, 1), (1, tables + 1), (u16::MAX, u16::MAX)] {
                assert_eq!(pairs.pair(round, table), None);
                assert_eq!(pairs.index(round, table), None);
            }
            for (round, player) in [(0, 0), (rounds + 1, 0), (1, n), (u16::MAX, u16::MAX)] {
                assert_eq!(pairs.table_of(round, player), None);
            }
            for index in [pairs.total_matches() as usize, usize::MAX] {
                assert_eq!(pairs.at(index), None);
            }
        }
    }

    #[test]
    fn the_largest_leagues_do_not_overflow() {
        for players in [u16::MAX - 1, u16::MAX] {
            let pairs = Pairs { players };
            let (rounds, tables) = (pairs.rounds(), pairs.matches_per_round());
            for (round, table) in [(1, 1), (1, tables), (rounds, 1), (rounds, tables), (rounds / 2, tables / 2)] {
                let Pair { a, b } = pairs.pair(round, table).expect("within the season");
                for player in [a, b] {
                    assert_eq!(pairs.table_of(round, player), Some(table));
                }
            }
            let last = pairs.total_matches() as usize - 1;
            assert_eq!(pairs.at(last), Some((rounds, tables)));
            assert_eq!(pairs.index(rounds, tables), Some(last));
        }
    }
}
