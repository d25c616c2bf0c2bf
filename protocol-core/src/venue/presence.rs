//! Who is there: connections that come and go, and which line is whose. A line is the place of a player among all of them;
//! lines move up when somebody leaves.

use super::ladder::seconds;
use super::{Player, Venue};
use crate::ids::{AgentId, MatchId};
use crate::log::Happening;
use crate::time::Now;

impl Venue<'_> {
    /// The player on a line.
    pub(crate) fn player(&self, line: u16) -> Option<&Player> {
        self.memory.players.get(usize::from(line))
    }

    /// The same, to be changed.
    pub(crate) fn player_mut(&mut self, line: u16) -> Option<&mut Player> {
        self.memory.players.get_mut(usize::from(line))
    }

    /// The registration of the player on a line, if that dials in and has not left.
    pub fn issue_of_line(&self, line: u16) -> Option<u32> {
        let player = self.player(line)?;
        (player.contact.endpoint().is_none() && !player.has_left()).then_some(player.issue)
    }

    /// The line of that player.
    pub fn line_of(&self, issue: u32) -> Option<u16> {
        self.lines().find(|&line| self.issue_of_line(line) == Some(issue))
    }

    /// Has [`Venue::poll_output`] name a line.
    pub(crate) fn list(&mut self, line: u16) {
        let Some(player) = self.player_mut(line) else { return };
        if !core::mem::replace(&mut player.is_listed, true) {
            // There is room for every line once.
            let _ = self.memory.changed.push_back(line);
        }
    }

    /// The same for a line that has no player.
    pub(crate) fn list_without_player(&mut self, line: u16) {
        if self.memory.changed.iter().all(|&listed| listed != line) {
            // Such a line is never listed otherwise, so there is room.
            let _ = self.memory.changed.push_back(line);
        }
    }

    /// A player has said something.
    pub(crate) fn saw(&mut self, now: Now, line: u16) {
        if let Some(player) = self.player_mut(line) {
            player.seen = now.utc;
            player.wish.iter_mut().for_each(|wish| wish.asked = seconds(now));
        }
    }

    /// A player that dials in is there. Whoever comes back is worth calling again.
    pub(super) fn arrived(&mut self, now: Now, line: u16) {
        let Some(player) = self.player_mut(line) else { return };
        player.breaker.succeeded();
        player.seen = now.utc;
        if !core::mem::replace(&mut player.is_linked, true) {
            let id = player.id();
            self.note(now, Some(id), None, Happening::Connected);
        }
        self.pump(now, line);
        self.set_clocks(line);
    }

    /// It is gone. What it is asked waits for it until its deadline.
    pub(super) fn departed(&mut self, now: Now, line: u16, why: &'static str) {
        let Some(player) = self.player_mut(line) else { return };
        let is_told_by_news = player.session.cursor().is_some();
        if core::mem::take(&mut player.is_linked) {
            let id = player.id();
            self.note(now, Some(id), None, Happening::Disconnected(why));
        }
        if !is_told_by_news {
            self.is_gone(now, line);
        }
    }

    /// Notes what has happened to a player, in the match it is in.
    pub(crate) fn note_of(&mut self, now: Now, line: u16, what: Happening) {
        let Some(id) = self.player(line).map(Player::id) else { return };
        let at: Option<MatchId> = self.match_of(line);
        self.note(now, Some::<AgentId>(id), at, what);
    }
}
