//! Who plays with whom in a game for four, and when.
//!
//! Of the season only its first round is written down, for each number of players; all others are that round with everybody
//! moved on by a chair. Results, names and match ids are left to others.
//!
//! Think of `k` chairs in a circle. Over `k` rounds two players who are `d` chairs apart meet as often as there are two
//! at one table in the first round who are `d` apart. So the first round was searched, by a computer, until every
//! distance had its share. With 4, 8, 12 … players the last one does not sit in the circle but stays where it is, and `k`
//! is one less than the players; else all sit in the circle, and whoever is left over in a round has a bye.
//!
//! | players | rounds | two players meet | byes of each |
//! |---|---|---|---|
//! | 4, 8, 12 … 32 | one less than players | 3 times | 0 |
//! | 5, 9, 13 … 29 | as many as players | 3 times | 1 |
//! | 6, 10, 14 … 30 | as many as players | 2 or 3 times | 2 |
//! | 7 | 7 | 2 times | 3 |
//! | 11, 15 … 31 | as many as players | 2 or 3 times | 3 |
//!
//! Where it says 2 or 3, no season in which all play equally often can do better in so many rounds: the meetings there are
//! cannot be divided by the pairs.

/// How many players there is a season for.
pub const FEWEST: u16 = 4;
/// See [`FEWEST`].
pub const MOST: u16 = 32;

/// The first round, from four players on: the chairs at each table. The last player of 4, 8, 12 … is in no circle and
/// stands at the end of its table.
#[rustfmt::skip]
const FIRST_ROUNDS: [&[[u8; 4]]; (MOST - FEWEST + 1) as usize] = [
    &[[0, 1, 2, 3]],
    &[[0, 1, 2, 3]],
    &[[1, 2, 3, 5]],
    &[[0, 3, 5, 6]],
    &[[0, 1, 3, 7], [2, 4, 5, 6]],
    &[[1, 2, 3, 6], [4, 5, 7, 8]],
    &[[1, 6, 7, 8], [2, 3, 5, 9]],
    &[[0, 1, 4, 6], [3, 7, 8, 10]],
    &[[0, 6, 9, 10], [1, 3, 4, 8], [2, 5, 7, 11]],
    &[[0, 3, 7, 9], [1, 2, 4, 12], [5, 6, 10, 11]],
    &[[0, 1, 5, 13], [3, 6, 8, 12], [4, 7, 10, 11]],
    &[[2, 3, 9, 14], [5, 7, 12, 13], [6, 8, 10, 11]],
    &[[0, 1, 3, 10], [2, 6, 12, 14], [4, 5, 7, 11], [8, 9, 13, 15]],
    &[[0, 7, 8, 10], [1, 9, 12, 13], [2, 3, 14, 16], [4, 6, 11, 15]],
    &[[0, 2, 5, 16], [1, 9, 14, 15], [3, 6, 12, 13], [4, 8, 10, 11]],
    &[[0, 1, 4, 16], [2, 7, 10, 12], [3, 9, 11, 13], [5, 6, 17, 18]],
    &[[0, 3, 14, 17], [1, 4, 5, 11], [2, 6, 13, 15], [7, 8, 12, 19], [9, 10, 16, 18]],
    &[[0, 8, 9, 16], [2, 3, 6, 12], [4, 10, 13, 20], [5, 7, 11, 18], [14, 15, 17, 19]],
    &[[0, 6, 10, 21], [2, 11, 14, 20], [3, 5, 18, 19], [7, 12, 15, 17], [8, 9, 13, 16]],
    &[[0, 6, 11, 20], [1, 9, 16, 22], [3, 15, 18, 19], [4, 8, 13, 14], [5, 7, 10, 17]],
    &[[0, 9, 10, 16], [1, 3, 12, 14], [2, 17, 20, 21], [4, 5, 8, 22], [6, 11, 13, 19], [7, 15, 18, 23]],
    &[[0, 14, 17, 18], [1, 11, 16, 20], [2, 3, 5, 12], [6, 19, 23, 24], [7, 9, 15, 21], [8, 10, 13, 22]],
    &[[0, 3, 11, 19], [2, 8, 20, 21], [4, 5, 9, 14], [6, 12, 16, 23], [7, 10, 22, 24], [13, 15, 17, 18]],
    &[[0, 3, 4, 24], [1, 9, 11, 14], [2, 15, 17, 25], [5, 6, 10, 21], [7, 13, 20, 22], [8, 18, 19, 26]],
    &[[0, 12, 20, 22], [1, 14, 15, 25], [2, 6, 21, 27], [3, 8, 17, 24], [4, 9, 10, 13], [5, 7, 11, 23], [16, 18, 19, 26]],
    &[[0, 9, 10, 26], [1, 3, 15, 25], [2, 14, 20, 23], [4, 8, 22, 24], [5, 6, 11, 27], [7, 17, 21, 28], [12, 13, 16, 18]],
    &[[0, 14, 18, 19], [1, 3, 10, 11], [2, 5, 9, 16], [4, 13, 22, 28], [7, 23, 24, 26], [12, 15, 20, 25], [17, 21, 27, 29]],
    &[[0, 4, 13, 18], [2, 16, 19, 26], [3, 15, 23, 25], [5, 7, 10, 11], [9, 12, 21, 27], [14, 20, 22, 30], [17, 24, 28, 29]],
    &[[0, 12, 21, 31], [1, 11, 16, 29], [2, 8, 19, 25], [3, 5, 10, 20], [4, 6, 7, 26], [9, 13, 17, 24], [14, 15, 18, 27], [22, 23, 28, 30]],
];

/// A season in which everybody meets everybody equally often, or nearly: see the table above.
///
/// Players are indices from 0; rounds and tables count from 1, as in `R1M1`. Everybody has each of the four seats
/// equally often, or one of them once more or less; except the last player of 4, 8, 12 …, who always has the fourth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fours {
    /// How many take part. There is nothing to play for fewer than 4, and no season for more than 32.
    pub players: u16,
}

impl Fours {
    /// How many rounds the season has.
    #[must_use]
    pub fn rounds(self) -> u16 {
        if self.first_round().is_empty() { 0 } else { self.circle() }
    }

    /// How many matches, and so tables, a round has.
    #[must_use]
    pub fn matches_per_round(self) -> u16 {
        self.first_round().len() as u16
    }

    /// How many matches the season has.
    #[must_use]
    pub fn total_matches(self) -> u32 {
        u32::from(self.rounds()) * u32::from(self.matches_per_round())
    }

    /// Who sits at a table, in the order of the seats.
    #[must_use]
    pub fn four(self, round: u16, table: u16) -> Option<[u16; 4]> {
        let moved = round.checked_sub(1).filter(|_| round <= self.rounds())?;
        let chairs = self.first_round().get(usize::from(table.checked_sub(1)?))?;
        Some(chairs.map(|chair| self.moved(chair.into(), moved)))
    }

    /// Where a player sits in a round. `None` is a bye.
    #[must_use]
    pub fn table_of(self, round: u16, player: u16) -> Option<u16> {
        (1..=self.matches_per_round()).find(|&table| self.four(round, table).is_some_and(|four| four.contains(&player)))
    }

    /// The place of a match in a list of all, round by round and table by table, from 0.
    #[must_use]
    pub fn index(self, round: u16, table: u16) -> Option<usize> {
        self.four(round, table)?;
        Some((usize::from(round) - 1) * usize::from(self.matches_per_round()) + usize::from(table) - 1)
    }

    /// The round and table of the match at that place: [`index`](Self::index) backwards.
    #[must_use]
    pub fn at(self, index: usize) -> Option<(u16, u16)> {
        let per_round = usize::from(self.matches_per_round());
        let round = index.checked_div(per_round)?;
        (round < self.rounds().into()).then(|| (round as u16 + 1, (index % per_round) as u16 + 1))
    }

    fn first_round(self) -> &'static [[u8; 4]] {
        let place = self.players.checked_sub(FEWEST).map(usize::from);
        place.and_then(|place| FIRST_ROUNDS.get(place)).copied().unwrap_or_default()
    }

    /// The number of chairs in the circle.
    fn circle(self) -> u16 {
        if self.players.is_multiple_of(4) { self.players.saturating_sub(1) } else { self.players }
    }

    /// The chair that many chairs on.
    fn moved(self, chair: u16, by: u16) -> u16 {
        match self.circle() {
            outside if chair >= outside => chair,
            // No first round does for nine in a circle. They sit in a square, and move on in rows and columns.
            9 => (chair / 3 + by / 3) % 3 * 3 + (chair % 3 + by % 3) % 3,
            circle => (chair + by) % circle,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::{vec, vec::Vec};

    fn sizes() -> impl Iterator<Item = Fours> {
        (FEWEST..=MOST).map(|players| Fours { players })
    }

    fn season(fours: Fours) -> Vec<(u16, u16, [u16; 4])> {
        let tables = |round| (1..=fours.matches_per_round()).map(move |table| (round, table));
        let four = |(round, table)| (round, table, fours.four(round, table).expect("every table of a round is taken"));
        (1..=fours.rounds()).flat_map(tables).map(four).collect()
    }

    #[test]
    fn everybody_meets_everybody_as_often_as_the_table_says() {
        for fours in sizes() {
            let n = usize::from(fours.players);
            let mut met = vec![0; n * n];
            for (_, _, four) in season(fours) {
                for (p, q) in four.iter().flat_map(|&p| four.map(|q| (p, q))) {
                    met[usize::from(p) * n + usize::from(q)] += 1;
                }
            }
            let pairs = || (0..n).flat_map(|p| (0..p).map(move |q| (p, q))).map(|(p, q)| met[p * n + q]);
            let said = match n {
                7 => (2, 2),
                _ if n % 4 < 2 => (3, 3),
                _ => (2, 3),
            };
            assert_eq!((pairs().min().unwrap(), pairs().max().unwrap()), said, "{n} players");
            // Nothing better can be: all meetings, divided by all pairs, is that or lies between.
            let (meetings, all) = (6 * season(fours).len(), n * (n - 1) / 2);
            assert_eq!((meetings / all, meetings.div_ceil(all)), said, "{n} players");
        }
    }

    #[test]
    fn nobody_sits_at_two_tables_and_all_rest_equally_often() {
        for fours in sizes() {
            let n = usize::from(fours.players);
            assert_eq!(fours.rounds(), fours.players - u16::from(n % 4 == 0));
            assert_eq!(usize::from(fours.matches_per_round()), n / 4);
            let mut byes = vec![0; n];
            for round in 1..=fours.rounds() {
                let mut busy = vec![false; n];
                for table in 1..=fours.matches_per_round() {
                    for player in fours.four(round, table).unwrap() {
                        assert!(!core::mem::replace(&mut busy[usize::from(player)], true));
                        assert_eq!(fours.table_of(round, player), Some(table));
                    }
                }
                for player in (0..n).filter(|&player| !busy[player]) {
                    byes[player] += 1;
                    assert_eq!(fours.table_of(round, player as u16), None);
                }
            }
            assert_eq!(byes, vec![n % 4; n], "{n} players");
        }
    }

    #[test]
    fn everybody_has_every_seat_about_equally_often() {
        for fours in sizes() {
            let n = usize::from(fours.players);
            let mut had = vec![[0; 4]; n];
            for (_, _, four) in season(fours) {
                four.iter().zip(0..).for_each(|(&player, seat): (_, usize)| had[usize::from(player)][seat] += 1);
            }
            let stays = if n % 4 == 0 { had.pop() } else { None };
            assert!(stays.is_none_or(|had| had == [0, 0, 0, n - 1]));
            assert!(had.iter().all(|had| had.iter().max().unwrap() - had.iter().min().unwrap() <= 1), "{n} players");
        }
    }

    #[test]
    fn matches_are_numbered_in_order() {
        for fours in sizes() {
            let season = season(fours);
            assert_eq!(season.len(), fours.total_matches() as usize);
            for (place, (round, table, _)) in season.into_iter().enumerate() {
                assert_eq!(fours.index(round, table), Some(place));
                assert_eq!(fours.at(place), Some((round, table)));
            }
        }
    }

    #[test]
    fn what_is_not_in_the_season_is_none() {
        for players in (0..FEWEST).chain([MOST + 1, u16::MAX]) {
            let fours = Fours { players };
            assert_eq!((fours.rounds(), fours.matches_per_round(), fours.total_matches()), (0, 0, 0));
            assert_eq!(
                (fours.four(1, 1), fours.table_of(1, 0), fours.index(1, 1), fours.at(0)),
                (None, None, None, None)
            );
        }
        for fours in sizes() {
            let (rounds, tables) = (fours.rounds(), fours.matches_per_round());
            for (round, table) in [(0, 1), (1, 0), (rounds + 1, 1), (1, tables + 1), (u16::MAX, u16::MAX)] {
                assert_eq!((fours.four(round, table), fours.index(round, table)), (None, None));
            }
            for (round, player) in [(0, 0), (rounds + 1, 0), (1, fours.players), (u16::MAX, u16::MAX)] {
                assert_eq!(fours.table_of(round, player), None);
            }
            assert_eq!((fours.at(fours.total_matches() as usize), fours.at(usize::MAX)), (None, None));
        }
    }
}
