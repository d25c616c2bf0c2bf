//! Who plays with whom, and when, whatever the game: the season of [`Pairs`] or of [`Tables`] of more, asked the same
//! questions.

use core::num::NonZeroUsize;
use core::ops::RangeInclusive;

use heapless::Vec;

use super::pairs::{Pair, Pairs};
use super::tables::{MOST, Tables};
use crate::games::MAX_SEATS;

/// Who sits at a table, in the order of the seats: places in the schedule, from 0.
pub type Places = Vec<u16, MAX_SEATS>;

/// The place of a match in a list of all, round by round and table by table, from 0.
#[expect(clippy::arithmetic_side_effects, reason = "65,535 rounds of as many matches are fewer than 2³²")]
pub(super) fn index_of(round: u16, table: u16, per_round: u16) -> Option<usize> {
    let (round, table) = (usize::from(round.checked_sub(1)?), usize::from(table.checked_sub(1)?));
    Some(round * usize::from(per_round) + table)
}

/// The round and table of the match at that place: [`index_of`] backwards.
pub(super) fn match_at(index: usize, per_round: u16) -> Option<(u16, u16)> {
    let per_round = NonZeroUsize::new(per_round.into())?;
    let from_1 = |count: usize| u16::try_from(count).ok()?.checked_add(1);
    Some((from_1(index / per_round)?, from_1(index % per_round)?))
}

/// A season. Rounds and tables count from 1, as in `R1M1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Of a game for two.
    Pairs(Pairs),
    /// Of a game for three to six.
    Tables(Tables),
}

impl Schedule {
    /// The season of so many players in a game that seats so many.
    #[must_use]
    pub const fn new(seats: u8, players: u16) -> Self {
        if seats > 2 { Self::Tables(Tables { seats, players }) } else { Self::Pairs(Pairs { players }) }
    }

    /// How many take part.
    #[must_use]
    pub const fn players(self) -> u16 {
        match self {
            Self::Pairs(Pairs { players }) | Self::Tables(Tables { players, .. }) => players,
        }
    }

    /// How many can take part.
    #[must_use]
    pub const fn sizes(self) -> RangeInclusive<u16> {
        match self {
            Self::Pairs(_) => 2..=u16::MAX,
            Self::Tables(Tables { seats, .. }) => seats as u16..=MOST,
        }
    }

    /// How many rounds it has.
    #[must_use]
    pub fn rounds(self) -> u16 {
        match self {
            Self::Pairs(pairs) => pairs.rounds(),
            Self::Tables(tables) => tables.rounds(),
        }
    }

    /// How many matches, and so tables, a round has.
    #[must_use]
    pub fn matches_per_round(self) -> u16 {
        match self {
            Self::Pairs(pairs) => pairs.matches_per_round(),
            Self::Tables(tables) => tables.matches_per_round(),
        }
    }

    /// How many matches it has.
    #[must_use]
    pub fn total_matches(self) -> u32 {
        match self {
            Self::Pairs(pairs) => pairs.total_matches(),
            Self::Tables(tables) => tables.total_matches(),
        }
    }

    /// Who sits at a table.
    #[must_use]
    pub fn places(self, round: u16, table: u16) -> Option<Places> {
        match self {
            Self::Pairs(pairs) => pairs.pair(round, table).map(|pair| [pair.a, pair.b].into_iter().collect()),
            Self::Tables(tables) => tables.places(round, table),
        }
    }

    /// Where a player sits in a round. `None` is a bye.
    #[must_use]
    pub fn table_of(self, round: u16, player: u16) -> Option<u16> {
        match self {
            Self::Pairs(pairs) => pairs.table_of(round, player),
            Self::Tables(tables) => tables.table_of(round, player),
        }
    }

    /// Looks at every match of the first rounds, in order: at its place in a list of all, from 0, and its players by seat.
    pub fn for_each(self, rounds: u16, mut look: impl FnMut(usize, &[u16])) {
        let mut places = 0..;
        for round in 1..=rounds.min(self.rounds()) {
            for (table, place) in (1..=self.matches_per_round()).zip(&mut places) {
                // Of two there are many, and they are not put into a list.
                match self {
                    Self::Pairs(pairs) => {
                        pairs.pair(round, table).into_iter().for_each(|Pair { a, b }| look(place, &[a, b]))
                    }
                    Self::Tables(tables) => tables.places(round, table).into_iter().for_each(|all| look(place, &all)),
                }
            }
        }
    }

    /// The place of a match in a list of all, round by round and table by table, from 0.
    #[must_use]
    pub fn index(self, round: u16, table: u16) -> Option<usize> {
        match self {
            Self::Pairs(pairs) => pairs.index(round, table),
            Self::Tables(tables) => tables.index(round, table),
        }
    }

    /// The round and table of the match at that place: [`index`](Self::index) backwards.
    #[must_use]
    pub fn at(self, index: usize) -> Option<(u16, u16)> {
        match self {
            Self::Pairs(pairs) => pairs.at(index),
            Self::Tables(tables) => tables.at(index),
        }
    }
}
