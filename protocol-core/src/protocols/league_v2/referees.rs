//! Other people's referees. While the owner allows it they are given matches. The box keeps no line to them: the line of the first
//! player of a match, which has nothing else to do meanwhile, carries the call by which its referee hears of it. Which
//! words that takes differs: see [`way`].
//!
//! All of them hear how a league ended: once all players have heard it, a line that has nothing to do carries it to one referee
//! after the other. Nobody waits for that, neither a player's call nor the next league.

use heapless::{String, Vec};

use serde::Serialize;

use super::GAMES;
use super::calls::player_of;
use super::dialect::Dialect;
use crate::contact::Contact;
use crate::games::{GameKind, GameSet};
use crate::ids::AgentId;
use crate::journal::Agent;
use crate::json::{self, Full, Shown, Sink, Value};
use crate::log::Happening;
use crate::message::Message;
use crate::protocols::{self, Code};
use crate::time::{Millis, Now};
use crate::venue::{Call, NAME_BYTES, Stage, Taker, Venue, count};

/// So many referees are known.
const REFEREES: usize = 8;

/// The referees, and the call by which one of them hears how the league ended.
pub struct Desk {
    pub(super) referees: Vec<Referee, REFEREES>,
    errand: Option<Errand>,
    /// The place of the one that was given the last match.
    last: u8,
}

impl protocols::Desk for Desk {
    const EMPTY: Self = Self { referees: Vec::new(), errand: None, last: 0 };

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
            Some(known) => *known = Referee { serves: known.serves, ..referee },
            None => self.referees.push(referee).ok()?,
        }
        Some(())
    }
}

/// Whether a referee is given matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serves {
    /// It is.
    Yes,
    /// Not before the next league: it came when one had begun.
    Later,
    /// Not before it registers again: it let a match down.
    Failed,
}

/// A referee that comes and asks may have asked just before there was a match for it.
const POLL_MS: Millis = 6_000;

/// The most matches at once that a referee is given, whatever it says.
pub(super) const MOST_AT_ONCE: u8 = 32;

/// A registered agent that offers to referee.
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
    /// What it says it referees, of the [`GAMES`] that can be given away: a bit for each,
    pub(super) games: u8,
    /// and how many matches at once, at least one.
    pub(super) at_once: u8,
    pub(super) serves: Serves,
    /// Whether it comes and asks for its matches.
    pub(super) polls: bool,
    /// By which of the [ways](way) it has heard of the last.
    pub(super) way: u8,
    /// Matches it has refereed,
    pub(super) refereed: u16,
    /// and reports that were of no use.
    pub(super) useless: u8,
}

/// Those of some games that can be given away, a bit for each.
pub(super) fn given_away(games: GameSet) -> u8 {
    let has = |name: &str| GameKind::named(name).is_some_and(|game| games.has(game));
    (0..).zip(GAMES).map(|(bit, name)| u8::from(has(name)) << bit).fold(0, |all, one| all | one)
}

/// The ways to tell a referee of a match, those of its dialect first tried first: the method, and the `message_type`. `None` past
/// the last.
pub(super) fn way(dialect: Dialect, variant: u8) -> Option<(&'static str, &'static str)> {
    const ROUND: &str = "ROUND_ANNOUNCEMENT";
    const START: &str = "START_MATCH";
    const ASSIGN: &str = "MATCH_ASSIGNMENT";
    let ways: &[(&str, &str)] = match dialect {
        Dialect::Canonical => &[
            ("notify_round", ROUND),
            ("assign_match", ASSIGN),
            ("start_match", START),
            ("round_announcement", ROUND),
            ("announce_round", ROUND),
        ],
        Dialect::MessageType => &[(START, START), (ROUND, ROUND), (ASSIGN, ASSIGN)],
        Dialect::McpTools => &[("start_match", START), ("assign_match", ASSIGN), ("notify_round", ROUND)],
        Dialect::Nested | Dialect::Bare => {
            &[("handle_message", ROUND), ("handle_message", ASSIGN), ("handle_message", START)]
        }
        Dialect::ProtocolMessage => &[("protocol/message", ROUND), ("protocol/message", ASSIGN)],
    };
    ways.get(usize::from(variant)).copied()
}

impl Referee {
    /// One that has just come.
    pub(super) fn new(number: u16, issue: u32, name: String<NAME_BYTES>, contact: Contact, dialect: Dialect) -> Self {
        let (games, at_once, serves) = (0, 1, Serves::Yes);
        let (polls, way, refereed, useless) = (false, 0, 0, 0);
        Self { number, issue, name, contact, dialect, games, at_once, serves, polls, way, refereed, useless }
    }

    /// The games it referees.
    fn offers(&self) -> GameSet {
        let named = |(bit, name): (u32, &str)| GameKind::named(name).filter(|_| self.games >> bit & 1 == 1);
        (0..).zip(GAMES).filter_map(named).fold(GameSet::NONE, GameSet::with)
    }

    /// The number as matches keep it.
    pub(super) fn short(&self) -> u8 {
        u8::try_from(self.number).unwrap_or(0)
    }

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
            games: self.offers(),
            protocol: Code::LeagueV2 as u8,
            // Dialects take three bits, and the others say how many matches more than one it takes.
            dialect: self.dialect as u8 | self.at_once.saturating_sub(1) << 3,
            about: "",
        }
    }

    /// One that was journalled. `None` where it cannot be one.
    pub(super) fn restored(agent: Agent<'_>) -> Option<Self> {
        let number = Some(agent.number).filter(|number| (2..100).contains(number))?;
        let contact = Contact::restored(agent.endpoint, agent.from, agent.elsewhere)?;
        let dialect = Dialect::of(agent.dialect & 7)?;
        let referee = Self::new(number, agent.issue, String::try_from(agent.name).ok()?, contact, dialect);
        Some(Self { games: given_away(agent.games), at_once: (agent.dialect >> 3).saturating_add(1), ..referee })
    }
}

/// How long one referee has to answer, in milliseconds.
const ERRAND_MS: Millis = 2_000;
/// How long all of them have together.
const ERRANDS_MS: Millis = 10_000;

/// An agent that registered as a referee.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct RefereeLine<'a> {
    pub referee_id: Shown<AgentId>,
    pub display_name: &'a str,
    pub contact_endpoint: &'a str,
    pub address: Shown<&'a Contact>,
    pub dialect: &'static str,
    pub max_concurrent_matches: u8,
    /// Whether it is given matches: `serves`, or `off` while the owner gives none to anybody, `next_league`, `failed`.
    pub state: &'static str,
    pub running: u16,
    pub refereed: u16,
    pub useless_reports: u8,
}

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

    /// Which referee will have a match of these players: in turn, and of those who have the fewest. It must say that it referees the
    /// game, and speak to the players as they expect it. Who has registered from the same computer as one of two players is
    /// not neutral; where both have, as on the desk of whoever tries things out, nobody has more of it than the other.
    pub(super) fn taker(&mut self, players: &[u16]) -> Option<Taker> {
        let game = self.game();
        if !GAMES.contains(&game.rules().name) {
            return None;
        }
        let fits = |referee: &Referee| {
            let hears = |dialect: Dialect| dialect == Dialect::Canonical || dialect == referee.dialect;
            let speaks = |&line: &u16| player_of(self, line).is_some_and(|(_, session)| hears(session.style.dialect));
            let is_neighbour =
                |&&line: &&u16| self.player(line).is_some_and(|player| player.contact.from() == referee.contact.from());
            let neighbours = players.iter().filter(is_neighbour).count();
            let can_hear = referee.contact.endpoint().is_some() || referee.polls;
            let is_neutral = neighbours == 0 || neighbours == players.len();
            let is_willing = referee.serves == Serves::Yes && referee.offers().has(game);
            is_willing && can_hear && is_neutral && players.iter().all(speaks)
        };
        let last = usize::from(self.desks().league_v2.last);
        let turn = |place: usize| if place > last { 0 } else { REFEREES }.saturating_add(place);
        let free = self.referees().iter().enumerate().filter_map(|(place, referee)| {
            let has = self.given_to(referee.short()).count();
            (has < usize::from(referee.at_once) && fits(referee)).then_some((has, turn(place), place))
        });
        let (_, _, place) = free.min()?;
        let referee = self.referees().get(place)?;
        let taker = Taker { number: referee.short(), more_ms: if referee.polls { POLL_MS } else { 0 } };
        self.desks_mut().league_v2.last = u8::try_from(place).unwrap_or(0);
        Some(taker)
    }

    /// A referee has not refereed a match that it was given. If it registers again, it hears of the next by another way.
    pub(super) fn referee_failed(&mut self, number: u8) {
        if let Some(referee) = self.referee_mut(number) {
            referee.serves = Serves::Failed;
            referee.way = referee.way.saturating_add(1);
            if way(referee.dialect, referee.way).is_none() {
                referee.way = 0;
            }
        }
    }

    /// The referee of this number.
    pub(super) fn referee(&self, number: u8) -> Option<&Referee> {
        self.referees().iter().find(|referee| referee.short() == number)
    }

    /// The same, to be changed.
    pub(super) fn referee_mut(&mut self, number: u8) -> Option<&mut Referee> {
        self.desks_mut().league_v2.referees.iter_mut().find(|referee| referee.short() == number)
    }

    /// The agents that registered as referees, as people are shown them.
    pub fn referee_lines(&self) -> impl Iterator<Item = RefereeLine<'_>> {
        self.referees().iter().map(|referee| RefereeLine {
            referee_id: Shown(referee.id()),
            display_name: &referee.name,
            contact_endpoint: referee.contact.given(),
            address: Shown(&referee.contact),
            dialect: referee.dialect.name(),
            max_concurrent_matches: referee.at_once,
            state: match referee.serves {
                _ if self.config().foreign_referees.is_none() => "off",
                Serves::Yes => "serves",
                Serves::Later => "next_league",
                Serves::Failed => "failed",
            },
            running: count(self.given_to(referee.short()).count()),
            refereed: referee.refereed,
            useless_reports: referee.useless,
        })
    }

    /// Another league begins: who came too late for the last is in time for it.
    pub(super) fn admit_late_referees(&mut self) {
        for referee in self.desks_mut().league_v2.referees.iter_mut().filter(|one| one.serves == Serves::Later) {
            referee.serves = Serves::Yes;
        }
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
