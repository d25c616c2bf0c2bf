//! What agents hear of the matches of others: that an audience may vote. Like all they hear it follows from how things stand and from
//! what was said on a connection, which remembers it as an [`Audience`].

use super::outgoing::{Participant, VotingOpen};
use crate::json::{self, Full, Seq, Sink};
use crate::time::{Millis, Now};
use crate::venue::Venue;

/// What has been told on a connection of the matches of others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audience {
    /// Votes up to this one: when it ends, and at which table it is.
    poll: (Millis, u16),
}

/// What is said of a match of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// `voting_open`, at the table in this slot, for so many seconds.
    Voting(u16, u32),
}

impl Venue<'_> {
    /// What an agent that plays no match is to be told of those of others, if anything. It counts as said.
    pub fn agon_aside(&self, now: Now, issue: u32, told: &mut Audience) -> Option<Aside> {
        let line = self.line_of(issue)?;
        if self.is_in_match(line) {
            return None;
        }
        let ends = self.slots().filter_map(|slot| Some((self.vote_ends(now, self.table_at(slot)?)?, slot)));
        let poll = ends.filter(|poll| *poll > told.poll).min()?;
        told.poll = poll;
        let left = poll.0.saturating_sub(now.ms).div_ceil(1_000);
        Some(Aside::Voting(poll.1, u32::try_from(left).unwrap_or(u32::MAX)))
    }

    /// Writes it. Fails where it is no longer so.
    pub fn write_agon_aside(&self, aside: Aside, sink: &mut dyn Sink) -> Result<(), Full> {
        match aside {
            Aside::Voting(slot, duration_seconds) => {
                let table = self.table_at(slot).ok_or(Full)?;
                let first = super::play::first(table.play.game());
                let who = || {
                    let lines =
                        [first, first ^ 1].into_iter().filter_map(|seat| table.players().get(usize::from(seat)));
                    lines.filter_map(|&line| {
                        let player = self.player(line)?;
                        Some(Participant { id: self.agent_id(player), name: &player.name })
                    })
                };
                let open = VotingOpen {
                    event: "voting_open",
                    match_id: self.room_id(table.id).uuid(),
                    duration_seconds,
                    participants: Some(Seq(who)),
                };
                json::write(&open, sink)
            }
        }
    }
}
