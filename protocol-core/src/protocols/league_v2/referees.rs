//! Referees hear how a league ended. The box keeps no line to them: once all players have heard it, a line that has nothing
//! to do carries it to one referee after the other. Nobody waits for that, neither a player's call nor the next league.

use heapless::{String, Vec};

use super::dialect::Dialect;
use crate::contact::Contact;
use crate::games::GameSet;
use crate::ids::AgentId;
use crate::journal::Agent;
use crate::json::{self, Full, Sink, Value};
use crate::log::Happening;
use crate::message::Message;
use crate::protocols::{self, Code};
use crate::time::{Millis, Now};
use crate::venue::{Call, NAME_BYTES, Stage, Venue, count};

/// So many referees are known.
const REFEREES: usize = 8;

/// The referees, and the call by which one of them hears how the league ended.
pub struct Desk {
    pub(super) referees: Vec<Referee, REFEREES>,
    errand: Option<Errand>,
}

impl protocols::Desk for Desk {
    const EMPTY: Self = Self { referees: Vec::new(), errand: None };

    fn clear(&mut self) {
        self.referees.clear();
        self.errand = None;
    }
}

impl Desk {
    /// When the errand that is under way has had its time.
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.errand.map(|errand| errand.deadline)
    }

    /// A referee is there again after a restart. `None` where there is no room.
    pub(super) fn restore(&mut self, referee: Referee) -> Option<()> {
        match self.referees.iter_mut().find(|known| known.number == referee.number) {
            Some(known) => *known = referee,
            None => self.referees.push(referee).ok()?,
        }
        Some(())
    }
}

/// A registered agent that offers to referee. The box referees every match itself; such agents may watch and ask.
#[derive(Clone, Debug)]
pub struct Referee {
    /// The number in its id.
    pub number: u16,
    pub(super) issue: u32,
    /// What it calls itself.
    pub name: String<NAME_BYTES>,
    /// How it says it is reached.
    pub contact: Contact,
    /// The dialect it registered in.
    pub(super) dialect: Dialect,
}

impl Referee {
    /// Its id.
    pub fn id(&self) -> AgentId {
        AgentId::Referee(self.number)
    }

    /// It as it is journalled.
    pub(super) fn entry(&self) -> Agent<'_> {
        Agent {
            number: self.number,
            issue: self.issue,
            name: &self.name,
            version: "",
            endpoint: self.contact.given(),
            from: self.contact.from(),
            elsewhere: self.contact.is_elsewhere(),
            games: GameSet::ALL,
            protocol: Code::LeagueV2 as u8,
            dialect: self.dialect as u8,
            about: "",
        }
    }

    /// One that was journalled. `None` where it cannot be one.
    pub(super) fn restored(agent: Agent<'_>) -> Option<Self> {
        Some(Self {
            number: Some(agent.number).filter(|number| (2..100).contains(number))?,
            issue: agent.issue,
            name: String::try_from(agent.name).ok()?,
            contact: Contact::restored(agent.endpoint, agent.from, agent.elsewhere)?,
            dialect: Dialect::of(agent.dialect)?,
        })
    }
}

/// How long one referee has to answer, in milliseconds.
const ERRAND_MS: Millis = 2_000;
/// How long all of them have together.
const ERRANDS_MS: Millis = 10_000;

/// A call to a referee: 48 bytes, and there is one.
#[derive(Clone, Copy, Debug)]
struct Errand {
    /// Which referee, by its place.
    referee: u8,
    /// Which of the names for it.
    variant: u8,
    /// The line that carries it.
    line: u16,
    id: u32,
    at: Now,
    deadline: Millis,
    /// Those after it are dropped then.
    until: Millis,
}

impl Venue<'_> {
    /// The referees.
    pub(super) fn referees(&self) -> &[Referee] {
        &self.desks().league_v2.referees
    }

    /// The league is over, and all players know.
    pub(super) fn send_to_referees(&mut self, now: Now) {
        self.next_errand(now, 0, 0, now.ms.saturating_add(ERRANDS_MS));
    }

    /// Drops the errand that is under way and all after it.
    pub(super) fn drop_errand(&mut self) {
        if let Some(errand) = self.desks_mut().league_v2.errand.take() {
            self.list_errand(errand.line);
        }
    }

    /// Lets an errand go whose time has come.
    pub(super) fn end_errand(&mut self, now: Now) {
        if let Some(late) = self.desks_mut().league_v2.errand.take_if(|errand| errand.deadline <= now.ms) {
            self.errand_is_over(now, late, Happening::Silent(Message::LeagueCompleted));
        }
    }

    /// Whether a call was an errand. If so, what came of it is dealt with: a status and a body, or nothing.
    pub(super) fn is_errand(&mut self, now: Now, call: u32, reply: Option<&[u8]>) -> bool {
        let Some(over) = self.desks_mut().league_v2.errand.take_if(|errand| errand.id == call) else { return false };
        let code = |reply: &[u8]| json::parse(reply).ok()?.get("error")?.get("code").and_then(Value::as_i64);
        let dialect = self.referees().get(usize::from(over.referee)).map(|referee| referee.dialect);
        let other =
            dialect.and_then(|dialect| Message::LeagueCompleted.method(dialect, over.variant.saturating_add(1)));
        match reply {
            Some(reply) if code(reply) == Some(-32601) && other.is_some() => {
                self.list_errand(over.line);
                self.next_errand(now, over.referee, over.variant.saturating_add(1), over.until);
            }
            Some(_) => self.errand_is_over(now, over, Happening::Answered(Message::LeagueCompleted)),
            None => self.errand_is_over(now, over, Happening::Unreachable(Message::LeagueCompleted)),
        }
        true
    }

    fn errand_is_over(&mut self, now: Now, over: Errand, what: Happening) {
        let referee = self.referees().get(usize::from(over.referee)).map(|referee| referee.id());
        self.note(now, referee, None, what);
        self.list_errand(over.line);
        self.next_errand(now, over.referee.saturating_add(1), 0, over.until);
    }

    /// Sends a line to the first referee from this place on that can be called. Those who dial in have no address.
    fn next_errand(&mut self, now: Now, first: u8, variant: u8, until: Millis) {
        if self.stage() != Stage::Completed || now.ms >= until {
            return;
        }
        let called =
            (0u8..).zip(self.referees().iter()).skip(first.into()).find(|(_, it)| it.contact.endpoint().is_some());
        let Some((referee, id)) = called.map(|(place, it)| (place, it.id())) else { return };
        let variant = if referee == first { variant } else { 0 };
        // A line without a player is best. One to a player that dials in may be held by it.
        let is_free = |&line: &u16| match self.player(line) {
            Some(player) => player.contact.endpoint().is_some() && self.is_idle(player),
            None => true,
        };
        let Some(line) = (0..count(self.capacity())).rev().find(is_free) else { return };
        let id_of_call = self.next_call_id();
        let deadline = until.min(now.ms.saturating_add(ERRAND_MS));
        self.desks_mut().league_v2.errand =
            Some(Errand { referee, variant, line, id: id_of_call, at: now, deadline, until });
        self.note(now, Some(id), None, Happening::Sent(Message::LeagueCompleted));
        self.list_errand(line);
    }

    /// Has [`Venue::poll_output`] name the line.
    fn list_errand(&mut self, line: u16) {
        if self.player(line).is_some() {
            return self.list(line);
        }
        self.list_without_player(line);
    }

    /// What a line does for a referee, while it has nothing to do for its player.
    pub(super) fn errand_on(&self, line: u16) -> Option<Call<'_>> {
        let errand = self.desks().league_v2.errand.filter(|errand| errand.line == line)?;
        Some(Call { id: errand.id, is_question: false, to: &self.referees().get(usize::from(errand.referee))?.contact })
    }

    /// Writes what that line says.
    pub(super) fn write_errand(&self, line: u16, sink: &mut dyn Sink) -> Result<(), Full> {
        let errand = self.desks().league_v2.errand.filter(|errand| errand.line == line).ok_or(Full)?;
        let referee = self.referees().get(usize::from(errand.referee)).ok_or(Full)?;
        self.say_league_completed((errand.id, errand.at), referee.dialect, errand.variant, sink)
    }
}
