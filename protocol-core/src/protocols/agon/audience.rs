//! What agents hear beside their matches: that an audience may vote, and what others think of a match. Like all they hear it follows from
//! how things stand and from what was said on a connection, which remembers it as an [`Audience`].

use super::desk::{REACTIONS, Reaction};
use super::outgoing::{Participant, Reacted, VotingOpen};
use super::session::{key, of, seen};
use super::{Reply, Trouble};
use crate::games::{Game, GameKind};
use crate::json::{self, Full, Seq, Sink};
use crate::protocols::moltgame::RoomId;
use crate::time::{Millis, Now};
use crate::venue::{Table, Venue, seconds};

/// What has been told on a connection beside its match.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audience {
    /// Votes up to this one: when it ends, and at which table it is.
    poll: (Millis, u16),
    /// Reactions up to the one with this number; none before the first look.
    reacted: Option<u32>,
}

/// What is said beside a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// `voting_open`, at the table in this slot, for so many seconds.
    Voting(u16, u32),
    /// `reaction`, the one of this number.
    Reaction(u32),
}

impl Venue<'_> {
    /// What an agent is to be told beside its match, if anything. It counts as said.
    pub fn agon_aside(&self, now: Now, issue: u32, told: &mut Audience) -> Option<Aside> {
        let line = self.line_of(issue)?;
        if let Some(reaction) = self.next_reaction((line, issue), told) {
            return Some(reaction);
        }
        if self.is_in_match(line) {
            return None;
        }
        let ends = self.slots().filter_map(|slot| Some((self.vote_ends(now, self.table_at(slot)?)?, slot)));
        let poll = ends.filter(|poll| *poll > told.poll).min()?;
        told.poll = poll;
        let left = poll.0.saturating_sub(now.ms).div_ceil(1_000);
        Some(Aside::Voting(poll.1, u32::try_from(left).unwrap_or(u32::MAX)))
    }

    /// The table whose match a reaction is to, while that is played.
    fn reacted_to(&self, of: u32) -> Option<&Table> {
        self.all_tables().find(|table| key(table) == of)
    }

    /// The next reaction that an agent has not heard: to its own match, or while it has none to one in the room where it is.
    fn next_reaction(&self, (line, issue): (u16, u32), told: &mut Audience) -> Option<Aside> {
        let desk = &self.desks().agon;
        let concerns = |reaction: &&Reaction| {
            let Some(table) = self.reacted_to(reaction.of).filter(|_| reaction.from != issue) else { return false };
            let room = GameKind::named(table.play.game().rules().name);
            match self.is_in_match(line) {
                true => table.seat_of(line).is_some(),
                false => seen(self, line).is_some_and(|session| session.room.is_some() && session.room == room),
            }
        };
        // Of those that came before it, it hears none, nor of too many at once.
        let from = told.reacted.unwrap_or(desk.reacted);
        let missed = desk.reacted.wrapping_sub(from).saturating_sub(REACTIONS.into());
        let mut next = from.wrapping_add(missed);
        while next != desk.reacted {
            let number = next;
            next = next.wrapping_add(1);
            told.reacted = Some(next);
            if desk.reaction(number).filter(concerns).is_some() {
                return Some(Aside::Reaction(number));
            }
        }
        told.reacted = Some(next);
        None
    }

    /// An agent shows what it thinks of a match, its own or that of others.
    pub(super) fn hear_reaction(
        &mut self,
        now: Now,
        line: u16,
        of_match: Option<RoomId>,
        emoji: &str,
    ) -> Result<Reply, Trouble> {
        let table = of_match.filter(|room| self.room_id(room.id) == *room).and_then(|room| self.table(room.id));
        let on = key(table.ok_or(Trouble::ValidationFailed("no such match is being played"))?);
        let issue = self.player(line).map_or(0, |player| player.issue);
        let session = of(self, line).ok_or(Trouble::NotInMatch)?;
        let second = seconds(now).wrapping_add(1);
        if core::mem::replace(&mut session.reacted, second) == second {
            return Err(Trouble::RateLimited);
        }
        self.desks_mut().agon.react(Reaction::new(on, issue, emoji));
        self.lines().for_each(|line| self.list(line));
        Ok(Reply::Nothing)
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
            Aside::Reaction(number) => {
                let reaction = self.desks().agon.reaction(number).ok_or(Full)?;
                let from = self.line_of(reaction.from).and_then(|line| self.player(line)).ok_or(Full)?;
                let match_id = self.room_id(self.reacted_to(reaction.of).ok_or(Full)?.id).uuid();
                let (event, emoji) = ("reaction", reaction.emoji());
                json::write(&Reacted { event, match_id, from_name: &from.name, emoji }, sink)
            }
        }
    }
}
