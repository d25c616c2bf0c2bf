//! A test call: is a player there? The owner asks before a league, so that nobody finds out in the first round. One that
//! is called gets a JSON-RPC `ping`. It need not know that, so nearly whatever it answers, it is there; but where a web server
//! says that there is nothing at this address, no game can be played. Of one that dials in it is known. A test counts for
//! nothing, and gives way to everything else that is to be said.

use super::Hall;
use super::admission::Player;
use super::lines::{Open, What};
use super::powers::{Denied, not_now};
use crate::json;
use crate::league::Rule;
use crate::log::Happening;
use crate::time::{Millis, Now};
use crate::wire::league_v2::dialect::Kind;

/// How long a player has to answer a test, in milliseconds.
const CHECK_MS: Millis = 5_000;

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

impl<const P: usize, const M: usize, const R: usize, const L: usize> Hall<P, M, R, L> {
    /// Calls the player of this number to see whether it is there. [`Player::ready`] has the outcome.
    pub fn check(&mut self, now: Now, number: u16) -> Result<(), Denied> {
        let index = self.players.iter().position(|player| player.number == number).ok_or(Denied::Player)?;
        let player = self.players.get_mut(index).ok_or(Denied::Player)?;
        let index = index as u16;
        if player.line.has_left() {
            return not_now("the player has left");
        }
        if player.contact.endpoint().is_none() {
            let is_there = player.line.is_held;
            self.checked(now, index, if is_there { Ready::Yes(0) } else { Ready::No });
            return Ok(());
        }
        match player.line.open {
            Some(open) if open.what == What::Check => return Ok(()),
            None if player.line.is_idle() && player.seating.is_none() => {}
            _ => return not_now("the player is being called for its match or for news; try again in a moment"),
        }
        player.line.ready = Ready::Asked;
        self.calls = self.calls.wrapping_add(1);
        player.line.open = Some(Open::check(self.calls, now, CHECK_MS));
        let id = player.id();
        self.note(now, Some(id), None, Happening::Sent(Kind::Ping));
        self.list(index);
        self.pump(now, index);
        Ok(())
    }

    /// A test call is over.
    pub(super) fn checked(&mut self, now: Now, index: u16, ready: Ready) {
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        player.line.ready = ready;
        let what = match ready {
            Ready::Yes(_) => Happening::Answered(Kind::Ping),
            Ready::Astray(_) => Happening::Unusable(Kind::Ping, Rule::HttpStatus.advice()),
            _ => Happening::Unreachable(Kind::Ping),
        };
        if matches!(ready, Ready::Yes(_)) {
            // Whoever comes back is worth calling again.
            player.breaker.succeeded();
        }
        let id = player.id();
        self.note(now, Some(id), None, what);
    }

    /// A test call that is under way makes room. True if there was one.
    pub(super) fn give_way(&mut self, index: u16) -> bool {
        let player = self.players.get_mut(usize::from(index));
        player.is_some_and(|player| {
            let was_open = player.line.open.take_if(|open| open.what == What::Check).is_some();
            if was_open {
                player.line.ready = Ready::Unknown;
            }
            was_open
        })
    }
}

impl Player {
    /// What came of the last test call.
    pub fn ready(&self) -> Ready {
        self.line.ready
    }
}

/// What an answer to a test says. An agent that does not know `ping` may refuse it in the words of JSON-RPC, or as a web
/// framework refuses a body (400, 422) or reports a slip (500); every other status but success is not from the agent.
pub(super) fn judged(status: u16, body: &[u8], since: Millis, now: Now) -> Ready {
    let is_json_rpc = || json::parse(body).is_ok_and(|reply| reply.get("jsonrpc").is_some());
    match status {
        200..300 | 400 | 422 | 500 => took(since, now),
        _ if is_json_rpc() => took(since, now),
        _ => Ready::Astray(status),
    }
}

/// How long an answer took, as far as that is kept.
pub(super) fn took(since: Millis, now: Now) -> Ready {
    Ready::Yes(now.ms.saturating_sub(since).min(u16::MAX.into()) as u16)
}
