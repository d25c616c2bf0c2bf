//! A test call: is a player there? The owner asks before a league, so that nobody finds out in the first round. Of one that
//! dials in it is known; how one is called, its protocol knows. A test counts for nothing, and gives way to everything else
//! that is to be said.

use super::Venue;
use super::powers::{Denied, not_now};
use crate::log::Happening;
use crate::message::Message;
use crate::season::Rule;
use crate::time::{Millis, Now};

/// What came of the last test call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ready {
    /// There was none, or it gave way.
    #[default]
    Unknown,
    /// It is under way.
    Asked,
    /// The player is there, and answered after so many milliseconds.
    Yes(u16),
    /// It did not answer, or has not dialled in.
    No,
    /// A server answered with this HTTP status: it is not the agent, see [`Rule::HttpStatus`].
    Astray(u16),
}

impl Venue<'_> {
    /// Calls the player of this number to see whether it is there. [`Player::ready`](super::Player::ready) has the outcome.
    pub fn check(&mut self, now: Now, number: u16) -> Result<(), Denied> {
        let index = self.line_where(|player| player.number == number).ok_or(Denied::Player)?;
        let player = self.memory.players.get_mut(usize::from(index)).ok_or(Denied::Player)?;
        if player.has_left() {
            return not_now("the player has left");
        }
        if player.contact.endpoint().is_none() {
            let is_there = player.is_linked;
            self.checked(now, index, if is_there { Ready::Yes(0) } else { Ready::No });
            return Ok(());
        }
        match player.session.code().check(self, now, index) {
            true => Ok(()),
            false => not_now("the player is being called for its match or for news; try again in a moment"),
        }
    }

    /// A test call is over.
    pub(crate) fn checked(&mut self, now: Now, index: u16, ready: Ready) {
        let Some(player) = self.memory.players.get_mut(usize::from(index)) else { return };
        player.ready = ready;
        let what = match ready {
            Ready::Yes(_) => Happening::Answered(Message::Ping),
            Ready::Astray(_) => Happening::Unusable(Message::Ping, Rule::HttpStatus.advice()),
            _ => Happening::Unreachable(Message::Ping),
        };
        if matches!(ready, Ready::Yes(_)) {
            // Whoever comes back is worth calling again.
            player.breaker.succeeded();
        }
        let id = player.id();
        self.note(now, Some(id), None, what);
    }

    /// A test call that is under way makes room. True if there was one.
    pub(crate) fn give_way(&mut self, index: u16) -> bool {
        let player = self.player_mut(index).filter(|player| player.ready == Ready::Asked);
        player.is_some_and(|player| {
            player.ready = Ready::Unknown;
            player.session.end_check()
        })
    }
}

impl Ready {
    /// It answered what it was asked at `since`.
    pub(crate) fn after(since: Millis, now: Now) -> Ready {
        Ready::Yes(u16::try_from(now.ms.saturating_sub(since)).unwrap_or(u16::MAX))
    }
}
