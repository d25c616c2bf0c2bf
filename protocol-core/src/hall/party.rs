//! Who sits at a table, as a game is told of them when it writes something.

use core::fmt::Write;

use heapless::{String, Vec};

use super::Hall;
use super::admission::Player;
use super::rounds::Lines;
use crate::games::Sitter;
use crate::league::SEATS;
use crate::wire::league_v2::outgoing::MatchId;

/// The players at a table, by seat. `N` is how long an id is: protocols call them by different ones.
pub struct Party<'a, const N: usize>(Vec<(String<N>, Sitter<'a>), SEATS>);

impl<const N: usize> Party<'_, N> {
    /// As a game knows them.
    pub fn sitters(&self) -> Vec<Sitter<'_>, SEATS> {
        self.0.iter().map(|&(ref id, sitter)| Sitter { id, ..sitter }).collect()
    }
}

/// `P07`
pub const PLAYER_ID: usize = 8;

impl<const P: usize, const M: usize, const R: usize, const L: usize> Hall<P, M, R, L> {
    /// Who plays a match, as league.v2 calls them.
    pub fn party_of(&self, id: MatchId) -> Party<'_, PLAYER_ID> {
        self.party(&self.lines_at(id), |player| {
            let mut id = String::new();
            let _ = write!(id, "{}", player.id());
            id
        })
    }

    /// The players on these lines.
    pub(super) fn party<const N: usize>(&self, lines: &[u16], id: impl Fn(&Player) -> String<N>) -> Party<'_, N> {
        let seated = |&line: &u16| {
            let Some(player) = self.players.get(usize::from(line)) else { return Default::default() };
            let (note, said) = self.notes_of(line);
            (id(player), Sitter { id: "", name: &player.name, note, said })
        };
        Party(lines.iter().take(SEATS).map(seated).collect())
    }

    /// The lines of those who play a match, by seat. Nobody's once a game of the ladder is over.
    pub(super) fn lines_at(&self, id: MatchId) -> Lines {
        match (self.table(id), self.places(id)) {
            (Some(table), _) => table.seated(),
            (None, Some(places)) => self.lines_of(&places),
            (None, None) => Lines::new(),
        }
    }
}
