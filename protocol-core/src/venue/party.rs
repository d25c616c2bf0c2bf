//! Who sits at a table, as a game is told of them when it writes something.

use core::fmt::Write;

use heapless::{String, Vec};

use super::Venue;
use super::players::Player;
use crate::games::{GameKind, MAX_SEATS, Sitter};
use crate::ids::{AgentId, MatchId};

/// The players at a table, by seat: what a protocol calls them, in at most `N` bytes, and their lines.
pub struct Party<'a, const N: usize>(Vec<(String<N>, u16, Option<&'a Player>), MAX_SEATS>);

impl<const N: usize> Party<'_, N> {
    /// Their ids and names.
    pub fn sitters(&self) -> Vec<Sitter<'_>, MAX_SEATS> {
        self.0
            .iter()
            .map(|(id, _, player)| Sitter { id, name: player.map_or("", |player| &player.name), ..Sitter::default() })
            .collect()
    }
}

/// `P07`
pub const PLAYER_ID: usize = 8;

impl Venue<'_> {
    /// Who plays a match, by their ids.
    pub fn party_of(&self, id: MatchId) -> Party<'_, PLAYER_ID> {
        let seated = |(of, line): (AgentId, u16)| {
            let mut id = String::new();
            let _ = write!(id, "{of}");
            (id, line, self.memory.players.get(usize::from(line)))
        };
        Party(self.seated_at(id).into_iter().map(seated).collect())
    }

    /// The players on these lines.
    pub(crate) fn party<const N: usize>(&self, lines: &[u16], id: impl Fn(&Player) -> String<N>) -> Party<'_, N> {
        let seated = |&line: &u16| {
            let player = self.memory.players.get(usize::from(line));
            (player.map(&id).unwrap_or_default(), line, player)
        };
        Party(lines.iter().take(MAX_SEATS).map(seated).collect())
    }

    /// Their ids and names, and what is kept for them and was said by them.
    pub fn sitters_with_notes<'a, const N: usize>(&'a self, party: &'a Party<'_, N>) -> Vec<Sitter<'a>, MAX_SEATS> {
        let mut sitters = party.sitters();
        for (sitter, (_, line, _)) in sitters.iter_mut().zip(&party.0) {
            (sitter.note, sitter.said) = self.notes_of(*line);
            sitter.said = Some(self.speech_of(*line)).filter(|speech| !speech.is_empty()).unwrap_or(sitter.said);
        }
        sitters
    }

    /// Who plays a match, by seat, and on which lines; on nobody's where it is over and a player has left since.
    pub(crate) fn seated_at(&self, id: MatchId) -> Vec<(AgentId, u16), MAX_SEATS> {
        let known = |line: u16| {
            let player = self.memory.players.get(usize::from(line));
            (player.map_or(AgentId::Player(0), Player::id), line)
        };
        let line_of = |issue: u32| self.line_where(|player| player.issue == issue).unwrap_or(u16::MAX);
        let kept = |(number, issue)| (AgentId::Player(number), line_of(issue));
        match (self.table(id), self.places(id), self.finished_game(id)) {
            (Some(table), ..) => table.seated().into_iter().map(known).collect(),
            (None, Some(places), _) => self.lines_of(&places).into_iter().map(known).collect(),
            (None, None, Some(finished)) => finished.who().map(kept).collect(),
            (None, None, None) => Vec::new(),
        }
    }

    /// The game that a match is of.
    pub fn game_at(&self, id: MatchId) -> GameKind {
        self.finished_game(id).map_or(self.game(), |finished| finished.game)
    }
}
