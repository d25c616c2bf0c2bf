//! Who sits at a table, as a game is told of them when it writes something.

use core::fmt::Write;

use heapless::{String, Vec};

use super::Hall;
use super::admission::Player;
use super::rounds::Lines;
use crate::games::Sitter;
use crate::league::SEATS;
use crate::wire::league_v2::outgoing::MatchId;

/// The players at a table, by seat: what a protocol calls them, in at most `N` bytes, and their lines.
pub struct Party<'a, const N: usize>(Vec<(String<N>, u16, Option<&'a Player>), SEATS>);

impl<const N: usize> Party<'_, N> {
    /// Their ids and names.
    pub fn sitters(&self) -> Vec<Sitter<'_>, SEATS> {
        self.0
            .iter()
            .map(|(id, _, player)| Sitter { id, name: player.map_or("", |player| &player.name), ..Sitter::default() })
            .collect()
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
            let player = self.players.get(usize::from(line));
            (player.map(&id).unwrap_or_default(), line, player)
        };
        Party(lines.iter().take(SEATS).map(seated).collect())
    }

    /// Their ids and names, and what is kept for them and was said by them.
    pub fn sitters_with_notes<'a, const N: usize>(&'a self, party: &'a Party<'_, N>) -> Vec<Sitter<'a>, SEATS> {
        let mut sitters = party.sitters();
        for (sitter, (_, line, _)) in sitters.iter_mut().zip(&party.0) {
            (sitter.note, sitter.said) = self.notes_of(*line);
        }
        sitters
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
