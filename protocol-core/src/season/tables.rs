//! Who plays with whom in a game for three to six, and when.
//!
//! Of the season only its first round is written down, for each number of seats and of players; all others are that round
//! with everybody moved on by a chair. Results, names and match ids are left to others.
//!
//! Think of `c` chairs in a circle. Over `c` rounds two players who are `d` chairs apart meet as often as there are two
//! at one table in the first round who are `d` apart. So the first round was searched, by a computer, until every
//! distance had its share. Where all players fill whole tables the last one does not sit in the circle but stays where it
//! is, and `c` is one less than the players; else all sit in the circle, and whoever is left over in a round has a bye.
//!
//! With `n` players at tables of `k`, of which a round has `n / k`:
//!
//! | players | rounds | byes of each | two players meet |
//! |---|---|---|---|
//! | `n % k = 0` | `n - 1` | 0 | `k - 1` times |
//! | `n % k = 1` | `n` | 1 | `k - 1` times |
//! | any other | `n` | `n % k` | `(n / k) k (k - 1) / (n - 1)` times, rounded up or down |
//!
//! No season in which all play equally often can do better in so many rounds. In a few no first round does as well, or none
//! was found (the list in the tests): there two meet once more or once less than that.

use super::schedule::{Places, index_of, match_at};

/// How many players there is a season for, at most. The fewest fill one table.
pub const MOST: u16 = 32;

/// The fewest seats of such a game.
const FEWEST_SEATS: u8 = 3;

/// Seats and players of the seasons in which some meet once more, and others once less, than the table above says.
#[cfg(test)]
const UNEVEN: &[(u8, u16)] = &[(3, 6), (3, 10), (3, 22), (5, 10), (5, 14), (5, 15), (6, 18)];

// The first rounds, from one full table to the most players: the chairs at each table. Whoever is in no circle stands at
// the end of its table.

#[rustfmt::skip]
const OF_THREE: &[[u8; 3]] = &[
    [0, 1, 2],
    [0, 2, 3],
    [0, 1, 3],
    [0, 2, 4], [1, 3, 5],
    [0, 4, 6], [2, 3, 5],
    [0, 1, 6], [3, 4, 7],
    [0, 2, 7], [1, 5, 8], [3, 4, 6],
    [0, 2, 9], [1, 4, 5], [3, 6, 8],
    [0, 1, 4], [3, 7, 9], [5, 8, 10],
    [0, 4, 9], [1, 2, 8], [3, 5, 6], [7, 10, 11],
    [0, 10, 12], [1, 4, 8], [2, 6, 7], [3, 9, 11],
    [0, 1, 10], [2, 6, 13], [3, 9, 11], [4, 5, 7],
    [0, 5, 13], [1, 11, 12], [2, 7, 9], [3, 6, 14], [4, 8, 10],
    [0, 4, 6], [1, 2, 11], [3, 5, 14], [7, 12, 15], [9, 10, 13],
    [0, 1, 6], [3, 9, 16], [4, 8, 13], [5, 7, 15], [11, 12, 14],
    [0, 12, 13], [1, 8, 14], [2, 9, 11], [3, 6, 15], [4, 5, 7], [10, 16, 17],
    [0, 6, 8], [1, 4, 16], [2, 9, 18], [3, 5, 14], [7, 12, 13], [10, 11, 15],
    [1, 3, 17], [2, 5, 12], [6, 7, 18], [8, 9, 15], [10, 14, 19], [11, 13, 16],
    [0, 16, 18], [1, 4, 10], [2, 3, 13], [5, 12, 17], [6, 14, 19], [7, 8, 11], [9, 15, 20],
    [0, 11, 19], [1, 4, 6], [2, 8, 21], [3, 7, 15], [5, 14, 20], [9, 10, 17], [12, 16, 18],
    [0, 5, 11], [2, 16, 21], [3, 12, 15], [4, 7, 20], [6, 14, 22], [8, 9, 10], [13, 17, 19],
    [0, 6, 10], [1, 3, 17], [2, 9, 13], [4, 5, 18], [7, 19, 22], [8, 11, 16], [12, 14, 23], [15, 20, 21],
    [0, 6, 15], [1, 4, 22], [3, 12, 20], [5, 10, 24], [7, 8, 19], [9, 11, 21], [13, 14, 17], [16, 18, 23],
    [0, 15, 21], [1, 17, 20], [2, 4, 5], [3, 7, 11], [6, 13, 22], [8, 14, 16], [9, 18, 23], [12, 24, 25],
    [0, 9, 19], [1, 2, 5], [3, 6, 24], [4, 16, 21], [7, 11, 22], [8, 10, 20], [12, 18, 25], [13, 14, 26], [15, 17, 23],
    [0, 21, 25], [1, 12, 13], [2, 3, 23], [4, 9, 22], [5, 11, 27], [6, 15, 26], [7, 17, 20], [10, 19, 24], [14, 16, 18],
    [0, 19, 21], [1, 18, 25], [2, 16, 26], [4, 17, 20], [5, 12, 14], [7, 8, 11], [9, 13, 27], [10, 22, 28], [15, 23, 24],
    [0, 11, 24], [1, 6, 16], [2, 9, 21], [3, 7, 15], [4, 26, 27], [5, 18, 19], [8, 10, 12], [13, 22, 29], [14, 20, 23], [17, 25, 28],
    [0, 9, 14], [1, 21, 24], [2, 17, 22], [3, 18, 25], [4, 6, 16], [5, 23, 29], [7, 11, 19], [10, 27, 28], [12, 13, 15], [20, 26, 30],
    [0, 6, 25], [3, 5, 31], [4, 8, 13], [7, 20, 23], [9, 16, 30], [10, 18, 19], [11, 21, 26], [12, 15, 27], [14, 22, 24], [17, 28, 29],
];

#[rustfmt::skip]
const OF_FOUR: &[[u8; 4]] = &[
    [0, 1, 2, 3],
    [0, 1, 2, 3],
    [1, 2, 3, 5],
    [0, 3, 5, 6],
    [0, 1, 3, 7], [2, 4, 5, 6],
    [1, 2, 3, 6], [4, 5, 7, 8],
    [1, 6, 7, 8], [2, 3, 5, 9],
    [0, 1, 4, 6], [3, 7, 8, 10],
    [0, 6, 9, 10], [1, 3, 4, 8], [2, 5, 7, 11],
    [0, 3, 7, 9], [1, 2, 4, 12], [5, 6, 10, 11],
    [0, 1, 5, 13], [3, 6, 8, 12], [4, 7, 10, 11],
    [2, 3, 9, 14], [5, 7, 12, 13], [6, 8, 10, 11],
    [0, 1, 3, 10], [2, 6, 12, 14], [4, 5, 7, 11], [8, 9, 13, 15],
    [0, 7, 8, 10], [1, 9, 12, 13], [2, 3, 14, 16], [4, 6, 11, 15],
    [0, 2, 5, 16], [1, 9, 14, 15], [3, 6, 12, 13], [4, 8, 10, 11],
    [0, 1, 4, 16], [2, 7, 10, 12], [3, 9, 11, 13], [5, 6, 17, 18],
    [0, 3, 14, 17], [1, 4, 5, 11], [2, 6, 13, 15], [7, 8, 12, 19], [9, 10, 16, 18],
    [0, 8, 9, 16], [2, 3, 6, 12], [4, 10, 13, 20], [5, 7, 11, 18], [14, 15, 17, 19],
    [0, 6, 10, 21], [2, 11, 14, 20], [3, 5, 18, 19], [7, 12, 15, 17], [8, 9, 13, 16],
    [0, 6, 11, 20], [1, 9, 16, 22], [3, 15, 18, 19], [4, 8, 13, 14], [5, 7, 10, 17],
    [0, 9, 10, 16], [1, 3, 12, 14], [2, 17, 20, 21], [4, 5, 8, 22], [6, 11, 13, 19], [7, 15, 18, 23],
    [0, 14, 17, 18], [1, 11, 16, 20], [2, 3, 5, 12], [6, 19, 23, 24], [7, 9, 15, 21], [8, 10, 13, 22],
    [0, 3, 11, 19], [2, 8, 20, 21], [4, 5, 9, 14], [6, 12, 16, 23], [7, 10, 22, 24], [13, 15, 17, 18],
    [0, 3, 4, 24], [1, 9, 11, 14], [2, 15, 17, 25], [5, 6, 10, 21], [7, 13, 20, 22], [8, 18, 19, 26],
    [0, 12, 20, 22], [1, 14, 15, 25], [2, 6, 21, 27], [3, 8, 17, 24], [4, 9, 10, 13], [5, 7, 11, 23], [16, 18, 19, 26],
    [0, 9, 10, 26], [1, 3, 15, 25], [2, 14, 20, 23], [4, 8, 22, 24], [5, 6, 11, 27], [7, 17, 21, 28], [12, 13, 16, 18],
    [0, 14, 18, 19], [1, 3, 10, 11], [2, 5, 9, 16], [4, 13, 22, 28], [7, 23, 24, 26], [12, 15, 20, 25], [17, 21, 27, 29],
    [0, 4, 13, 18], [2, 16, 19, 26], [3, 15, 23, 25], [5, 7, 10, 11], [9, 12, 21, 27], [14, 20, 22, 30], [17, 24, 28, 29],
    [0, 12, 21, 31], [1, 11, 16, 29], [2, 8, 19, 25], [3, 5, 10, 20], [4, 6, 7, 26], [9, 13, 17, 24], [14, 15, 18, 27], [22, 23, 28, 30],
];

#[rustfmt::skip]
const OF_FIVE: &[[u8; 5]] = &[
    [0, 1, 2, 3, 4],
    [0, 1, 2, 3, 4],
    [0, 1, 3, 5, 6],
    [1, 2, 3, 4, 7],
    [0, 3, 4, 6, 8],
    [0, 4, 5, 7, 9], [1, 2, 3, 6, 8],
    [0, 2, 3, 4, 8], [1, 5, 6, 7, 9],
    [1, 2, 7, 9, 10], [4, 5, 6, 8, 11],
    [0, 2, 7, 9, 12], [1, 3, 4, 5, 8],
    [1, 3, 6, 11, 12], [2, 5, 7, 8, 9],
    [0, 2, 4, 5, 13], [1, 7, 8, 9, 12], [3, 6, 10, 11, 14],
    [0, 4, 9, 12, 15], [1, 2, 3, 6, 8], [5, 7, 11, 13, 14],
    [1, 3, 9, 10, 13], [2, 4, 8, 15, 16], [6, 7, 11, 12, 14],
    [0, 1, 2, 5, 12], [3, 6, 7, 13, 15], [4, 8, 9, 11, 17],
    [0, 1, 10, 13, 15], [3, 5, 8, 9, 16], [4, 6, 7, 11, 14],
    [0, 1, 5, 7, 15], [2, 3, 8, 11, 18], [4, 6, 10, 12, 13], [9, 14, 16, 17, 19],
    [0, 7, 10, 12, 16], [1, 2, 4, 8, 15], [3, 5, 6, 11, 14], [9, 13, 17, 18, 19],
    [0, 6, 8, 9, 17], [1, 2, 4, 7, 19], [3, 5, 11, 15, 18], [10, 12, 16, 20, 21],
    [1, 2, 7, 10, 14], [3, 4, 5, 12, 18], [6, 16, 17, 20, 22], [8, 11, 13, 15, 19],
    [0, 2, 8, 17, 19], [1, 6, 14, 15, 18], [3, 9, 11, 12, 23], [10, 13, 16, 20, 21],
    [0, 9, 12, 19, 24], [1, 2, 4, 6, 17], [3, 11, 15, 16, 21], [5, 13, 20, 22, 23], [7, 8, 10, 14, 18],
    [0, 5, 17, 20, 21], [2, 4, 16, 23, 24], [3, 11, 13, 14, 19], [6, 8, 12, 15, 25], [7, 9, 10, 18, 22],
    [0, 3, 5, 7, 19], [2, 4, 8, 20, 21], [6, 12, 15, 16, 26], [9, 14, 17, 23, 24], [10, 11, 13, 18, 22],
    [0, 4, 6, 17, 24], [1, 16, 19, 20, 22], [2, 10, 11, 13, 25], [3, 7, 21, 23, 26], [8, 9, 14, 15, 27],
    [0, 12, 18, 25, 26], [1, 10, 11, 21, 23], [3, 4, 8, 24, 27], [5, 7, 9, 16, 19], [14, 15, 20, 22, 28],
    [0, 7, 13, 25, 28], [1, 3, 5, 16, 22], [2, 8, 11, 24, 29], [4, 12, 21, 23, 26], [6, 17, 18, 20, 27], [9, 10, 14, 15, 19],
    [0, 1, 14, 20, 21], [2, 10, 16, 18, 23], [3, 7, 19, 25, 28], [4, 5, 9, 12, 13], [6, 8, 11, 22, 26], [15, 17, 24, 27, 29],
    [0, 3, 5, 19, 25], [1, 2, 10, 23, 31], [4, 17, 22, 26, 29], [6, 7, 15, 21, 27], [8, 11, 12, 16, 18], [9, 13, 14, 28, 30],
];

#[rustfmt::skip]
const OF_SIX: &[[u8; 6]] = &[
    [0, 1, 2, 3, 4, 5],
    [0, 1, 2, 3, 5, 6],
    [1, 2, 3, 4, 5, 6],
    [0, 1, 2, 4, 6, 7],
    [0, 1, 3, 5, 8, 9],
    [1, 5, 6, 7, 9, 10],
    [0, 4, 6, 7, 9, 10], [1, 2, 3, 5, 8, 11],
    [0, 4, 7, 8, 9, 10], [1, 3, 5, 6, 11, 12],
    [0, 1, 2, 3, 6, 10], [4, 5, 7, 8, 11, 13],
    [0, 6, 7, 10, 12, 14], [2, 3, 4, 5, 8, 13],
    [1, 4, 5, 7, 8, 15], [2, 3, 9, 11, 13, 14],
    [1, 6, 7, 11, 13, 15], [2, 3, 4, 5, 8, 12],
    [0, 1, 3, 9, 14, 16], [2, 4, 7, 8, 12, 15], [5, 6, 10, 11, 13, 17],
    [1, 7, 10, 11, 13, 15], [2, 3, 4, 6, 9, 14], [5, 8, 12, 16, 17, 18],
    [0, 4, 5, 9, 17, 19], [2, 8, 11, 13, 14, 15], [3, 6, 7, 10, 16, 18],
    [0, 8, 10, 11, 12, 16], [1, 3, 9, 15, 18, 19], [2, 4, 6, 13, 14, 20],
    [0, 3, 4, 5, 10, 18], [1, 11, 12, 17, 20, 21], [2, 6, 8, 13, 15, 16],
    [0, 3, 7, 19, 20, 21], [1, 2, 5, 8, 14, 16], [4, 10, 12, 17, 18, 22],
    [0, 3, 4, 7, 11, 21], [1, 6, 15, 17, 18, 19], [2, 10, 12, 13, 20, 23], [5, 8, 9, 14, 16, 22],
    [0, 8, 11, 14, 17, 18], [1, 6, 10, 22, 23, 24], [2, 4, 7, 9, 13, 19], [3, 5, 15, 16, 20, 21],
    [0, 5, 15, 16, 17, 22], [1, 2, 3, 6, 9, 20], [4, 7, 12, 19, 21, 25], [8, 10, 11, 14, 18, 24],
    [0, 4, 6, 9, 12, 14], [1, 5, 13, 16, 17, 26], [2, 7, 8, 15, 18, 25], [3, 10, 19, 22, 23, 24],
    [0, 7, 9, 16, 17, 22], [1, 3, 5, 15, 25, 26], [2, 4, 8, 11, 12, 27], [6, 10, 18, 21, 23, 24],
    [0, 4, 9, 14, 15, 16], [1, 7, 10, 19, 22, 26], [2, 3, 18, 20, 23, 24], [6, 8, 11, 13, 17, 27],
    [0, 3, 4, 14, 18, 20], [1, 2, 8, 11, 19, 24], [5, 6, 9, 10, 12, 26], [7, 15, 17, 22, 27, 28], [13, 16, 21, 23, 25, 29],
    [0, 16, 17, 20, 23, 25], [1, 3, 13, 21, 22, 28], [2, 4, 12, 14, 19, 30], [5, 9, 10, 26, 27, 29], [6, 7, 11, 15, 18, 24],
    [0, 2, 4, 8, 9, 14], [1, 6, 11, 15, 18, 25], [3, 7, 13, 23, 24, 26], [5, 10, 16, 19, 22, 30], [12, 20, 27, 28, 29, 31],
];
/// A season in which everybody meets everybody equally often, or nearly: see the table above.
///
/// Players are indices from 0; rounds and tables count from 1, as in `R1M1`. Everybody has every seat equally often; where
/// one stays outside the circle it always has the last seat, and all others have that seat once less than the others.
/// A season has at most 320 matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// How many sit at one, from 3 to 6. There is no season for any other number.
    pub seats: u8,
    /// How many take part. There is nothing to play for fewer than fill a table, and no season for more than 32.
    pub players: u16,
}

impl Tables {
    /// How many rounds the season has.
    #[must_use]
    pub fn rounds(self) -> u16 {
        if self.first_round().is_empty() { 0 } else { self.circle() }
    }

    /// How many matches, and so tables, a round has.
    #[must_use]
    pub fn matches_per_round(self) -> u16 {
        if self.first_round().is_empty() { 0 } else { self.full_tables() }
    }

    /// How many matches the season has.
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "there are at most 320")]
    pub fn total_matches(self) -> u32 {
        u32::from(self.rounds()) * u32::from(self.matches_per_round())
    }

    /// Who sits at a table, in the order of the seats.
    #[must_use]
    pub fn places(self, round: u16, table: u16) -> Option<Places> {
        let moved = round.checked_sub(1).filter(|_| round <= self.rounds())?;
        let chairs = self.first_round().chunks_exact(self.seats.into()).nth(usize::from(table.checked_sub(1)?))?;
        Some(chairs.iter().map(|&chair| self.moved(chair.into(), moved)).collect())
    }

    /// Where a player sits in a round. `None` is a bye.
    #[must_use]
    pub fn table_of(self, round: u16, player: u16) -> Option<u16> {
        let sits = |&table: &u16| self.places(round, table).is_some_and(|places| places.contains(&player));
        (1..=self.matches_per_round()).find(sits)
    }

    /// The place of a match in a list of all, round by round and table by table, from 0.
    #[must_use]
    pub fn index(self, round: u16, table: u16) -> Option<usize> {
        self.places(round, table)?;
        index_of(round, table, self.matches_per_round())
    }

    /// The round and table of the match at that place: [`index`](Self::index) backwards.
    #[must_use]
    pub fn at(self, index: usize) -> Option<(u16, u16)> {
        match_at(index, self.matches_per_round()).filter(|&(round, _)| round <= self.rounds())
    }

    /// The chairs of the first round, table by table; none where there is no season.
    #[expect(clippy::arithmetic_side_effects, reason = "there are at most 32 players, and seats for them")]
    fn first_round(self) -> &'static [u8] {
        let chairs = match self.seats {
            FEWEST_SEATS => OF_THREE.as_flattened(),
            4 => OF_FOUR.as_flattened(),
            5 => OF_FIVE.as_flattened(),
            6 => OF_SIX.as_flattened(),
            _ => &[],
        };
        if !(u16::from(self.seats)..=MOST).contains(&self.players) {
            return &[];
        }
        let (seats, full) = (usize::from(self.seats), usize::from(self.full_tables()));
        let left_over = usize::from(self.players) % seats.max(1);
        // With fewer players `seats` first rounds had one table, as many had two and so on.
        let before = seats * (full * full.saturating_sub(1) / 2 * seats + full * left_over);
        chairs.get(before..before + full * seats).unwrap_or_default()
    }

    /// How many tables the players can fill.
    fn full_tables(self) -> u16 {
        self.players.checked_div(self.seats.into()).unwrap_or(0)
    }

    /// The number of chairs in the circle.
    fn circle(self) -> u16 {
        let stays = self.players.is_multiple_of(self.seats.into());
        self.players.saturating_sub(stays.into())
    }

    /// The chair that many chairs on.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "chairs and rounds are at most 32, and a circle with a chair in it has one"
    )]
    fn moved(self, chair: u16, by: u16) -> u16 {
        match (self.seats, self.circle()) {
            (_, outside) if chair >= outside => chair,
            // No first round does for nine in a circle. They sit in a square, and move on in rows and columns.
            (4, 9) => (chair / 3 + by / 3) % 3 * 3 + (chair % 3 + by % 3) % 3,
            (_, circle) => (chair + by) % circle,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::{vec, vec::Vec};

    fn sizes() -> impl Iterator<Item = Tables> {
        (FEWEST_SEATS..=6).flat_map(|seats| (u16::from(seats)..=MOST).map(move |players| Tables { seats, players }))
    }

    fn season(tables: Tables) -> Vec<(u16, u16, Places)> {
        let of_round = |round| (1..=tables.matches_per_round()).map(move |table| (round, table));
        let seated = |(round, table)| (round, table, tables.places(round, table).expect("every table is taken"));
        (1..=tables.rounds()).flat_map(of_round).map(seated).collect()
    }

    #[test]
    fn everybody_meets_everybody_as_often_as_the_table_says() {
        for tables in sizes() {
            let (n, k) = (usize::from(tables.players), usize::from(tables.seats));
            let mut met = vec![0; n * n];
            for (_, _, places) in season(tables) {
                for (&p, &q) in places.iter().flat_map(|p| places.iter().map(move |q| (p, q))) {
                    met[usize::from(p) * n + usize::from(q)] += 1;
                }
            }
            let pairs = || (0..n).flat_map(|p| (0..p).map(move |q| (p, q))).map(|(p, q)| met[p * n + q]);
            // Nothing better can be: all meetings, divided by all pairs, is that or lies between.
            let meetings = k * (k - 1) / 2 * season(tables).len();
            let all = n * (n - 1) / 2;
            let (fewest, most) = (meetings / all, meetings.div_ceil(all));
            let is_uneven = UNEVEN.contains(&(tables.seats, tables.players));
            let said = if is_uneven { (fewest - 1, most + 1) } else { (fewest, most) };
            let found = (pairs().min().unwrap(), pairs().max().unwrap());
            assert!(said.0 <= found.0 && found.1 <= said.1, "{tables:?}: {found:?}");
            assert_eq!(is_uneven, found != (fewest, most), "{tables:?}: {found:?}");
            if n % k < 2 && !is_uneven {
                assert_eq!(found, (k - 1, k - 1), "{tables:?}");
            }
        }
    }

    #[test]
    fn nobody_sits_at_two_tables_and_all_rest_equally_often() {
        for tables in sizes() {
            let (n, k) = (usize::from(tables.players), usize::from(tables.seats));
            assert_eq!(tables.rounds(), tables.players - u16::from(n % k == 0));
            assert_eq!(usize::from(tables.matches_per_round()), n / k);
            let mut byes = vec![0; n];
            for round in 1..=tables.rounds() {
                let mut busy = vec![false; n];
                for table in 1..=tables.matches_per_round() {
                    let places = tables.places(round, table).unwrap();
                    assert_eq!(places.len(), k);
                    for player in places {
                        assert!(!core::mem::replace(&mut busy[usize::from(player)], true));
                        assert_eq!(tables.table_of(round, player), Some(table));
                    }
                }
                for player in (0..n).filter(|&player| !busy[player]) {
                    byes[player] += 1;
                    assert_eq!(tables.table_of(round, player as u16), None);
                }
            }
            assert_eq!(byes, vec![n % k; n], "{tables:?}");
        }
    }

    #[test]
    fn everybody_has_every_seat_about_equally_often() {
        for tables in sizes() {
            let (n, k) = (usize::from(tables.players), usize::from(tables.seats));
            let mut had = vec![vec![0; k]; n];
            for (_, _, places) in season(tables) {
                places.iter().zip(0..).for_each(|(&player, seat): (_, usize)| had[usize::from(player)][seat] += 1);
            }
            if n % k == 0 {
                let stays = had.pop().unwrap();
                assert_eq!((stays[k - 1], stays.iter().sum::<usize>()), (n - 1, n - 1));
            }
            let spread = usize::from(n % k == 0);
            assert!(
                had.iter().all(|had| had.iter().max().unwrap() - had.iter().min().unwrap() == spread),
                "{tables:?}"
            );
        }
    }

    #[test]
    fn matches_are_numbered_in_order_and_fit_the_smallest_board() {
        for tables in sizes() {
            let season = season(tables);
            assert_eq!(season.len(), tables.total_matches() as usize);
            // As many as a league of pairs has with so many players, at least: there is room for those everywhere.
            let pairs = usize::from(tables.players) * usize::from(tables.players - 1) / 2;
            assert!(season.len() <= pairs.min(320), "{tables:?}");
            for (place, (round, table, _)) in season.into_iter().enumerate() {
                assert_eq!(tables.index(round, table), Some(place));
                assert_eq!(tables.at(place), Some((round, table)));
            }
        }
    }

    #[test]
    fn what_is_not_in_the_season_is_none() {
        let too_few = (FEWEST_SEATS..=6).flat_map(|seats| (0..u16::from(seats)).map(move |players| (seats, players)));
        let too_many = (FEWEST_SEATS..=6).flat_map(|seats| [MOST + 1, u16::MAX].map(|players| (seats, players)));
        let unknown = [0, 1, 2, 7, u8::MAX].into_iter().flat_map(|seats| [0, 7, 32].map(|players| (seats, players)));
        for (seats, players) in too_few.chain(too_many).chain(unknown) {
            let none = Tables { seats, players };
            assert_eq!((none.rounds(), none.matches_per_round(), none.total_matches()), (0, 0, 0));
            assert_eq!(
                (none.places(1, 1), none.table_of(1, 0), none.index(1, 1), none.at(0)),
                (None, None, None, None)
            );
        }
        for season in sizes() {
            let (rounds, tables) = (season.rounds(), season.matches_per_round());
            for (round, table) in [(0, 1), (1, 0), (rounds + 1, 1), (1, tables + 1), (u16::MAX, u16::MAX)] {
                assert_eq!((season.places(round, table), season.index(round, table)), (None, None));
            }
            for (round, player) in [(0, 0), (rounds + 1, 0), (1, season.players), (u16::MAX, u16::MAX)] {
                assert_eq!(season.table_of(round, player), None);
            }
            assert_eq!((season.at(season.total_matches() as usize), season.at(usize::MAX)), (None, None));
        }
    }
}
