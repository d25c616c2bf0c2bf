//! What happened, in order: a ring of small typed entries that are put into words only when somebody reads them. The
//! oldest are overwritten; how many were is known from the numbers of those that are left.

use heapless::Vec;
use serde::Serialize;

use crate::json::Shown;
use crate::referee::Fault;
use crate::time::Utc;
use crate::wire::league_v2::dialect::Kind;
use crate::wire::league_v2::outgoing::{AgentId, Conversation, MatchId};

/// Something worth remembering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// An agent is in.
    Registered,
    /// An agent that was in registered once more.
    RegisteredAgain,
    /// An agent was turned away.
    Rejected(&'static str),
    /// An agent left.
    Left,
    /// A player that dials in is there.
    Connected,
    /// It is gone.
    Disconnected(&'static str),
    /// The league began.
    LeagueStarted,
    /// The box was restarted and goes on.
    Resumed,
    /// A round began.
    RoundStarted(u16),
    /// A message went out.
    Sent(Kind),
    /// An answer was taken.
    Answered(Kind),
    /// An answer did not come in time.
    Silent(Kind),
    /// A player could not be reached.
    Unreachable(Kind),
    /// An answer could not be used: the words say which rule it broke.
    Unusable(Kind, &'static str),
    /// A second answer was ignored.
    Duplicate,
    /// A player's matches now end at once.
    BreakerOpened,
    /// A match has begun whose players are not invited, because they are there.
    MatchBegun,
    /// A match is over.
    MatchOver(&'static str),
    /// A round is over.
    RoundOver(u16),
    /// The league is over.
    LeagueOver,
    /// The admin spoke.
    Admin(&'static str),
    /// A message to the box could not be understood.
    BadMessage(&'static str),
}

impl Happening {
    /// An attempt failed.
    pub fn failed(kind: Kind, fault: Fault) -> Self {
        match fault {
            Fault::Silent => Happening::Silent(kind),
            Fault::Unreachable => Happening::Unreachable(kind),
            Fault::Unusable(_, rule) => Happening::Unusable(kind, rule),
        }
    }
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// When.
    pub at: Utc,
    /// What.
    pub what: Happening,
    /// To whom; the league itself where nobody is named.
    pub agent: Option<AgentId>,
    /// In which match.
    pub at_match: Option<MatchId>,
}

/// An entry as it is kept, in 24 bytes on a board: there are many.
#[derive(Debug)]
struct Kept {
    at: Utc,
    what: Happening,
    agent: Option<AgentId>,
    /// Tables count from 1: table 0 is no match.
    at_match: MatchId,
}

#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<Kept>() == 24, "an entry of the log has grown");

impl Kept {
    fn new(Entry { at, what, agent, at_match }: Entry) -> Self {
        Self { at, what, agent, at_match: at_match.unwrap_or(MatchId { round: 0, table: 0 }) }
    }

    fn entry(&self) -> Entry {
        let Kept { at, what, agent, at_match } = *self;
        Entry { at, what, agent, at_match: (at_match.table > 0).then_some(at_match) }
    }
}

/// A ring of the last `L` entries.
#[derive(Debug)]
pub struct Log<const L: usize> {
    ring: Vec<Kept, L>,
    /// The number the next entry gets; entries are numbered from 0.
    next: u64,
}

impl<const L: usize> Log<L> {
    /// An empty log.
    pub const fn new() -> Self {
        Self { ring: Vec::new(), next: 0 }
    }

    /// Adds an entry, in place of the oldest where there is no room.
    pub fn push(&mut self, entry: Entry) {
        let Some(at) = self.next.checked_rem(L as u64) else { return };
        match self.ring.get_mut(at as usize) {
            Some(oldest) => *oldest = Kept::new(entry),
            None => drop(self.ring.push(Kept::new(entry))),
        }
        self.next += 1;
    }

    /// The entry with this number, or the oldest after it that is left, with its own number.
    pub fn at_or_after(&self, number: u64) -> Option<(u64, Entry)> {
        let number = number.max(self.next.saturating_sub(L as u64));
        let at = number.checked_rem(L as u64)? as usize;
        (number < self.next).then(|| Some((number, self.ring.get(at)?.entry()))).flatten()
    }

    /// The entries with these numbers that are left, in order.
    pub fn entries(&self, numbers: core::ops::Range<u64>) -> impl Iterator<Item = Entry> {
        let oldest = self.next.saturating_sub(L as u64);
        let left = numbers.start.max(oldest)..numbers.end.min(self.next);
        left.filter_map(|number| self.at_or_after(number)).map(|(_, entry)| entry)
    }

    /// How many entries there have ever been.
    pub fn written(&self) -> u64 {
        self.next
    }
}

impl<const L: usize> Default for Log<L> {
    fn default() -> Self {
        Self::new()
    }
}

/// An entry as a line of the specification's log schema.
impl Serialize for Entry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            timestamp: Shown<Utc>,
            level: &'static str,
            agent_id: Agent,
            #[serde(skip_serializing_if = "Option::is_none")]
            message_type: Option<&'static str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            conversation_id: Option<Conversation<'a>>,
            message: &'static str,
            #[serde(skip_serializing_if = "Data::is_empty")]
            data: Data,
        }
        struct Agent(Option<AgentId>);
        impl Serialize for Agent {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    Some(id) => serializer.collect_str(&id),
                    None => serializer.serialize_str("LEAGUE_MANAGER"),
                }
            }
        }
        #[derive(Serialize)]
        struct Data {
            #[serde(skip_serializing_if = "Option::is_none")]
            match_id: Option<Shown<MatchId>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            round_id: Option<u16>,
            #[serde(skip_serializing_if = "Option::is_none")]
            detail: Option<&'static str>,
        }
        impl Data {
            fn is_empty(&self) -> bool {
                self.match_id.is_none() && self.round_id.is_none() && self.detail.is_none()
            }
        }
        use Happening::*;
        let (level, message, message_type, detail) = match self.what {
            Registered => ("INFO", "Registered.", None, None),
            RegisteredAgain => ("INFO", "Registered again; id and token stay the same.", None, None),
            Rejected(why) => ("WARN", "Registration rejected.", None, Some(why)),
            Left => ("INFO", "Left the league.", None, None),
            Connected => ("INFO", "Connected.", None, None),
            Disconnected(why) => ("WARN", "Disconnected.", None, Some(why)),
            LeagueStarted => ("INFO", "The league has started.", None, None),
            Resumed => ("WARN", "The box was restarted and goes on with the league.", None, None),
            RoundStarted(_) => ("INFO", "The round has started.", Some(Kind::RoundAnnouncement), None),
            Sent(kind) => ("DEBUG", "Sent.", Some(kind), None),
            Answered(kind) => ("DEBUG", "Answered.", Some(kind), None),
            Silent(kind) => ("WARN", "No answer in time.", Some(kind), None),
            Unreachable(kind) => ("WARN", "The player cannot be reached.", Some(kind), None),
            Unusable(kind, rule) => ("WARN", "The answer breaks a rule.", Some(kind), Some(rule)),
            Duplicate => ("WARN", "A second answer was ignored; the first stands.", None, None),
            BreakerOpened => {
                ("WARN", "Five failures in a row: its matches end at once, one trial in a minute.", None, None)
            }
            MatchBegun => ("INFO", "The match has begun.", None, None),
            MatchOver(reason) => ("INFO", "The match is over.", Some(Kind::GameOver), Some(reason)),
            RoundOver(_) => ("INFO", "The round is over.", Some(Kind::RoundCompleted), None),
            LeagueOver => ("INFO", "The league is over.", Some(Kind::LeagueCompleted), None),
            Admin(what) => ("INFO", "The admin said:", None, Some(what)),
            BadMessage(rule) => ("WARN", "A message could not be understood.", None, Some(rule)),
        };
        let round_id = match self.what {
            RoundStarted(round) | RoundOver(round) => Some(round),
            _ => self.at_match.map(|id| id.round),
        };
        Line {
            timestamp: Shown(self.at),
            level,
            agent_id: Agent(self.agent),
            message_type: message_type.map(Kind::message_type),
            conversation_id: self.at_match.map(|id| Conversation::Round(id.round, "")),
            message,
            data: Data { match_id: self.at_match.map(Shown), round_id, detail },
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn entry(what: Happening) -> Entry {
        Entry { at: Utc(0), what, agent: Some(AgentId::Player(7)), at_match: Some(MatchId { round: 2, table: 1 }) }
    }

    #[test]
    fn the_oldest_entries_make_room_and_their_numbers_show_it() {
        let mut log = Log::<3>::new();
        assert!(log.at_or_after(0).is_none());
        for round in 0..5 {
            log.push(entry(Happening::RoundStarted(round)));
        }
        let (number, oldest) = log.at_or_after(0).unwrap();
        assert_eq!((number, oldest.what), (2, Happening::RoundStarted(2)));
        assert_eq!(log.at_or_after(4).unwrap().0, 4);
        assert!(log.at_or_after(5).is_none());
    }

    #[test]
    fn a_line_has_the_fields_of_the_specifications_schema() {
        let line = serde_json::to_value(entry(Happening::failed(Kind::ChooseParity, Fault::Silent))).unwrap();
        assert_eq!(line["timestamp"], "1970-01-01T00:00:00Z");
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["agent_id"], "P07");
        assert_eq!(line["message_type"], "CHOOSE_PARITY_CALL");
        assert_eq!(line["message"], "No answer in time.");
        assert_eq!(line["data"]["match_id"], "R2M1");
    }
}
