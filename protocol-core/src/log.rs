//! What happened, in order: a ring of small typed entries that are put into words only when somebody reads them. The
//! oldest are overwritten; how many were is known from the numbers of those that are left.
//!
//! Whoever does the same again and again, such as an agent in a loop, takes no entry each time: the last one counts on.
//! Otherwise one broken agent would push what happened to all others out of the ring.

use core::fmt;

use heapless::{Vec, VecView};
use serde::Serialize;

use crate::ids::{AgentId, MatchId};
use crate::json::Shown;
use crate::message::Message;
use crate::referee::Fault;
use crate::time::Utc;

/// How far back an entry is looked for that can count on: many may be broken at once, and take turns.
pub const LOOK_BACK: u64 = 128;
/// What happens again after more seconds than this is told again.
const PAUSE: u32 = 60;

/// Something worth remembering. An entry keeps the words `W` and the round `N` beside it, where they take less room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening<W = &'static str, N = u16> {
    /// An agent is in.
    Registered,
    /// An agent that was in registered once more.
    RegisteredAgain,
    /// An agent was turned away.
    Rejected(W),
    /// An agent left.
    Left,
    /// A player that dials in is there.
    Connected,
    /// It is gone.
    Disconnected(W),
    /// The league began.
    LeagueStarted,
    /// The box was restarted and goes on.
    Resumed,
    /// A round began.
    RoundStarted(N),
    /// A message went out.
    Sent(Message),
    /// An answer was taken.
    Answered(Message),
    /// An answer did not come in time.
    Silent(Message),
    /// A player could not be reached.
    Unreachable(Message),
    /// An answer could not be used: the words say which rule it broke.
    Unusable(Message, W),
    /// A second answer was ignored.
    Duplicate,
    /// A player's matches now end at once.
    BreakerOpened,
    /// A match has begun whose players are not invited, because they are there.
    MatchBegun,
    /// A match is over.
    MatchOver(W),
    /// All has been said in a match, and its audience votes.
    VoteOpened,
    /// Somebody has voted.
    Voted,
    /// A round is over.
    RoundOver(N),
    /// The league is over.
    LeagueOver,
    /// The admin spoke.
    Admin(W),
    /// A message to the box could not be understood.
    BadMessage(W),
    /// A referee reported a match: the words say what that is worth.
    Reported(W),
    /// A referee did not report a match, and the box referees it.
    TakenBack,
}

impl Happening {
    /// An attempt failed.
    pub fn failed(kind: Message, fault: Fault) -> Self {
        match fault {
            Fault::Silent => Happening::Silent(kind),
            Fault::Unreachable => Happening::Unreachable(kind),
            Fault::Unusable(_, rule) => Happening::Unusable(kind, rule),
            Fault::Resigned => Happening::Answered(kind),
        }
    }
}

impl<W: Copy, N: Copy> Happening<W, N> {
    /// Whether an agent can have this happen as often as it likes.
    fn can_be_repeated(self) -> bool {
        use Happening::*;
        match self {
            Registered | RegisteredAgain | Rejected(_) | Left | Connected | Disconnected(_) => true,
            Silent(_) | Unreachable(_) | Unusable(..) | Duplicate | BreakerOpened | BadMessage(_) | Reported(_)
            | Voted => true,
            TakenBack | LeagueStarted | Resumed | RoundStarted(_) | MatchBegun | MatchOver(_) | RoundOver(_)
            | LeagueOver | VoteOpened => false,
            // What is said and answered is told one by one.
            Sent(_) | Answered(_) | Admin(_) => false,
        }
    }

    /// The same with other words and another round.
    fn with<V, K>(self, words: impl FnOnce(W) -> V, round: impl FnOnce(N) -> K) -> Happening<V, K> {
        match self {
            Happening::Registered => Happening::Registered,
            Happening::RegisteredAgain => Happening::RegisteredAgain,
            Happening::Rejected(why) => Happening::Rejected(words(why)),
            Happening::Left => Happening::Left,
            Happening::Connected => Happening::Connected,
            Happening::Disconnected(why) => Happening::Disconnected(words(why)),
            Happening::LeagueStarted => Happening::LeagueStarted,
            Happening::Resumed => Happening::Resumed,
            Happening::RoundStarted(number) => Happening::RoundStarted(round(number)),
            Happening::Sent(kind) => Happening::Sent(kind),
            Happening::Answered(kind) => Happening::Answered(kind),
            Happening::Silent(kind) => Happening::Silent(kind),
            Happening::Unreachable(kind) => Happening::Unreachable(kind),
            Happening::Unusable(kind, rule) => Happening::Unusable(kind, words(rule)),
            Happening::Duplicate => Happening::Duplicate,
            Happening::BreakerOpened => Happening::BreakerOpened,
            Happening::MatchBegun => Happening::MatchBegun,
            Happening::MatchOver(reason) => Happening::MatchOver(words(reason)),
            Happening::VoteOpened => Happening::VoteOpened,
            Happening::Voted => Happening::Voted,
            Happening::RoundOver(number) => Happening::RoundOver(round(number)),
            Happening::LeagueOver => Happening::LeagueOver,
            Happening::Admin(what) => Happening::Admin(words(what)),
            Happening::BadMessage(rule) => Happening::BadMessage(words(rule)),
            Happening::Reported(worth) => Happening::Reported(words(worth)),
            Happening::TakenBack => Happening::TakenBack,
        }
    }
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// When, for the first time.
    pub at: Utc,
    /// When, for the last time.
    pub until: Utc,
    /// How often. `None` where it goes on: see [`Entry::as_of`].
    pub times: Option<u16>,
    /// What.
    pub what: Happening,
    /// To whom; the league itself where nobody is named.
    pub agent: Option<AgentId>,
    /// In which match.
    pub at_match: Option<MatchId>,
}

impl Entry {
    /// Something that happened once.
    pub fn new(at: Utc, what: Happening, agent: Option<AgentId>, at_match: Option<MatchId>) -> Self {
        Self { at, until: at, times: Some(1), what, agent, at_match }
    }

    /// Whether it stands for more than one time.
    pub fn is_repeated(&self) -> bool {
        self.times != Some(1)
    }

    /// As it was at a moment, for a text that must stay the same while it is sent. How often is left out where it was going
    /// on just then.
    pub fn as_of(self, moment: Utc) -> Self {
        match self.is_repeated() && self.until >= moment {
            true => Self { times: None, until: moment, ..self },
            false => self,
        }
    }
}

/// An entry as it is kept, in 24 bytes on a board: there are many.
#[derive(Debug)]
pub struct Kept {
    at: Utc,
    /// Seconds to the last time.
    span: u16,
    times: u16,
    what: Happening<(), ()>,
    words: &'static str,
    agent: Who,
    /// Tables count from 1: table 0 is no match, at most a round.
    at_match: MatchId,
}

const _: () = assert!(size_of::<Kept>() == 16 + size_of::<&str>(), "an entry of the log has grown");

/// An agent, if any. Their numbers have three digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Who(u16);

impl Who {
    const NOBODY: Who = Who(u16::MAX);
    const REFEREE: u16 = 1 << 15;

    fn new(agent: Option<AgentId>) -> Self {
        match agent {
            None => Self::NOBODY,
            Some(AgentId::Player(number)) => Self(number & !Self::REFEREE),
            Some(AgentId::Referee(number)) => Self(number | Self::REFEREE),
        }
    }

    fn agent(self) -> Option<AgentId> {
        match self {
            Self::NOBODY => None,
            Self(number) if number < Self::REFEREE => Some(AgentId::Player(number)),
            Self(number) => Some(AgentId::Referee(number & !Self::REFEREE)),
        }
    }
}

impl Kept {
    /// Something that happened once.
    fn new(Entry { at, what, agent, at_match, .. }: Entry) -> Self {
        let (mut words, mut round) = ("", 0);
        let what = what.with(|these| words = these, |number| round = number);
        let at_match = at_match.unwrap_or(MatchId { round, table: 0 });
        Self { at, span: 0, times: 1, what, words, agent: Who::new(agent), at_match }
    }

    fn until(&self) -> Utc {
        Utc(self.at.0.saturating_add(self.span.into()))
    }

    fn entry(&self) -> Entry {
        Entry {
            at: self.at,
            until: self.until(),
            times: Some(self.times),
            what: self.what.with(|()| self.words, |()| self.at_match.round),
            agent: self.agent.agent(),
            at_match: (self.at_match.table > 0).then_some(self.at_match),
        }
    }

    /// Whether the same happened to the same agent in the same match.
    fn is_same(&self, other: &Kept) -> bool {
        (self.agent, self.what, self.at_match) == (other.agent, other.what, other.at_match) && self.words == other.words
    }

    /// Counts on, unless it was too long ago or too often to be told in one.
    fn count_on(&mut self, at: Utc) -> bool {
        let span = u16::try_from(at.0.saturating_sub(self.at.0)).ok();
        let (Some(span), Some(times)) = (span, self.times.checked_add(1)) else { return false };
        let is_now = self.until().0.abs_diff(at.0) <= PAUSE;
        if is_now {
            (self.span, self.times) = (self.span.max(span), times);
        }
        is_now
    }
}

/// A ring of the last entries. How many, its owner says: `Log<Vec<_, L>>` is lent as `Log`.
#[derive(Debug)]
pub struct Log<R: ?Sized = VecView<Kept>> {
    /// The number the next entry gets; entries are numbered from 0.
    next: u64,
    /// How often one counted on.
    repeats: u64,
    ring: R,
}

impl<const L: usize> Log<Vec<Kept, L>> {
    /// An empty log.
    pub const fn new() -> Self {
        Self { next: 0, repeats: 0, ring: Vec::new() }
    }
}

impl Log {
    /// Forgets everything.
    pub fn clear(&mut self) {
        (self.next, self.repeats) = (0, 0);
        self.ring.clear();
    }

    /// How many entries there is room for.
    pub fn room(&self) -> u64 {
        self.ring.capacity() as u64
    }

    /// Where the entry with this number is kept, or was.
    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_rem(self.room())?).ok()
    }

    /// Adds an entry, in place of the oldest where there is no room, or has one of the last count on.
    pub fn push(&mut self, entry: Entry) {
        let entry = Kept::new(entry);
        if entry.what.can_be_repeated() && self.last_like(&entry).is_some_and(|last| last.count_on(entry.at)) {
            self.repeats = self.repeats.wrapping_add(1);
            return;
        }
        let Some(place) = self.place(self.next) else { return };
        match self.ring.get_mut(place) {
            Some(oldest) => *oldest = entry,
            None => drop(self.ring.push(entry)),
        }
        self.next = self.next.saturating_add(1);
    }

    /// The last entry that says the same, if it is not too far back.
    fn last_like(&mut self, entry: &Kept) -> Option<&mut Kept> {
        let last = self.next.saturating_sub(LOOK_BACK.min(self.room()))..self.next;
        let mut places = last.rev().filter_map(|number| self.place(number));
        let place = places.find(|&place| self.ring.get(place).is_some_and(|kept| kept.is_same(entry)))?;
        self.ring.get_mut(place)
    }

    /// The entry with this number, or the oldest after it that is left, with its own number.
    pub fn at_or_after(&self, number: u64) -> Option<(u64, Entry)> {
        let number = number.max(self.next.saturating_sub(self.room()));
        let kept = self.ring.get(self.place(number)?)?;
        (number < self.next).then(|| (number, kept.entry()))
    }

    /// The entries with these numbers that are left, in order.
    pub fn entries(&self, numbers: core::ops::Range<u64>) -> impl Iterator<Item = Entry> {
        let oldest = self.next.saturating_sub(self.room());
        let left = numbers.start.max(oldest)..numbers.end.min(self.next);
        left.filter_map(|number| self.at_or_after(number)).map(|(_, entry)| entry)
    }

    /// The entries that are not about to give way: the newer half of what there is room for.
    pub fn lasting(&self) -> core::ops::Range<u64> {
        self.next.saturating_sub(self.room() / 2)..self.next
    }

    /// How many entries there have ever been.
    pub fn written(&self) -> u64 {
        self.next
    }

    /// How often one of the last [`LOOK_BACK`] entries counted on. Whoever remembers this and [`Self::written`] knows whether
    /// anything has happened since.
    pub fn repeats(&self) -> u64 {
        self.repeats
    }
}

impl<const L: usize> Default for Log<Vec<Kept, L>> {
    fn default() -> Self {
        Self::new()
    }
}

/// What an entry belongs to.
struct OfRound(u16);

impl fmt::Display for OfRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conv_round{}", self.0)
    }
}

/// An entry as a line of the specification's log schema.
impl Serialize for Entry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line {
            timestamp: Shown<Utc>,
            level: &'static str,
            agent_id: Agent,
            #[serde(skip_serializing_if = "Option::is_none")]
            message_type: Option<&'static str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            conversation_id: Option<Shown<OfRound>>,
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
            /// How often, of what was repeated, and when for the last time. The timestamp is that of the first.
            #[serde(skip_serializing_if = "Option::is_none")]
            count: Option<u16>,
            #[serde(skip_serializing_if = "Option::is_none")]
            until: Option<Shown<Utc>>,
        }
        impl Data {
            fn is_empty(&self) -> bool {
                self.match_id.is_none() && self.round_id.is_none() && self.detail.is_none() && self.until.is_none()
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
            RoundStarted(_) => ("INFO", "The round has started.", Some(Message::RoundAnnouncement), None),
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
            VoteOpened => ("INFO", "All has been said; the audience votes.", None, None),
            Voted => ("INFO", "Somebody has voted.", None, None),
            MatchOver(reason) => ("INFO", "The match is over.", Some(Message::GameOver), Some(reason)),
            RoundOver(_) => ("INFO", "The round is over.", Some(Message::RoundCompleted), None),
            LeagueOver => ("INFO", "The league is over.", Some(Message::LeagueCompleted), None),
            Admin(what) => ("INFO", "The admin said:", None, Some(what)),
            BadMessage(rule) => ("WARN", "A message could not be understood.", None, Some(rule)),
            Reported(worth) => ("INFO", "A referee reported a match.", None, Some(worth)),
            TakenBack => (
                "WARN",
                "A referee did not report a match in time, or could not be reached; the box referees it.",
                None,
                None,
            ),
        };
        let round_id = match self.what {
            RoundStarted(round) | RoundOver(round) => Some(round),
            _ => self.at_match.map(|id| id.round),
        };
        Line {
            timestamp: Shown(self.at),
            level,
            agent_id: Agent(self.agent),
            message_type: message_type.map(Message::name),
            conversation_id: self.at_match.map(|id| Shown(OfRound(id.round))),
            message,
            data: Data {
                match_id: self.at_match.map(Shown),
                round_id,
                detail,
                count: self.times.filter(|_| self.is_repeated()),
                until: self.is_repeated().then_some(Shown(self.until)),
            },
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn entry(what: Happening) -> Entry {
        Entry::new(Utc(0), what, Some(AgentId::Player(7)), Some(MatchId { round: 2, table: 1 }))
    }

    #[test]
    fn the_oldest_entries_make_room_and_their_numbers_show_it() {
        let log: &mut Log = &mut Log::<Vec<_, 3>>::new();
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
        let line = serde_json::to_value(entry(Happening::failed(Message::ChooseParity, Fault::Silent))).unwrap();
        assert_eq!(line["timestamp"], "1970-01-01T00:00:00Z");
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["agent_id"], "P07");
        assert_eq!(line["message_type"], "CHOOSE_PARITY_CALL");
        assert_eq!(line["message"], "No answer in time.");
        assert_eq!(line["data"]["match_id"], "R2M1");
    }

    const BAD: Happening = Happening::BadMessage("a rule");

    fn by(player: u16, at: u32, what: Happening) -> Entry {
        Entry::new(Utc(at), what, Some(AgentId::Player(player)), None)
    }

    fn told(log: &Log) -> std::vec::Vec<(Option<AgentId>, Option<u16>, u32, u32)> {
        log.entries(0..u64::MAX).map(|entry| (entry.agent, entry.times, entry.at.0, entry.until.0)).collect()
    }

    #[test]
    fn an_agent_in_a_loop_takes_one_entry_that_says_how_often_and_from_when_to_when() {
        let log: &mut Log = &mut Log::<Vec<_, 8>>::new();
        log.push(by(1, 999, Happening::Registered));
        for n in 0..29_424 {
            log.push(by(7, 1000 + n / 5000, BAD));
        }
        assert_eq!((log.written(), log.repeats()), (2, 29_423));
        assert_eq!(told(log)[1], (Some(AgentId::Player(7)), Some(29_424), 1000, 1005));
        let line = serde_json::to_value(log.at_or_after(1).unwrap().1).unwrap();
        assert_eq!((&line["timestamp"], &line["agent_id"]), (&"1970-01-01T00:16:40Z".into(), &"P07".into()));
        assert_eq!(line["data"]["count"], 29_424);
        assert_eq!(line["data"]["until"], "1970-01-01T00:16:45Z");
        let once = serde_json::to_value(log.at_or_after(0).unwrap().1).unwrap();
        assert_eq!(once.get("data"), None, "what happened once is told as ever");
    }

    #[test]
    fn broken_agents_that_take_turns_take_an_entry_each_for_every_thing_they_do() {
        let log: &mut Log = &mut Log::<Vec<_, 256>>::new();
        log.push(by(1, 0, Happening::Registered));
        for turn in 0..1000 {
            for player in 2..12 {
                log.push(by(player, turn / 100, Happening::Connected));
                log.push(by(player, turn / 100, BAD));
                log.push(by(player, turn / 100, Happening::Disconnected("it broke")));
            }
        }
        assert_eq!(log.written(), 31);
        let what = log.at_or_after(0).unwrap().1.what;
        assert_eq!(what, Happening::Registered, "nobody's history is pushed out");
        assert!(told(log)[1..].iter().all(|&(_, times, first, last)| (times, first, last) == (Some(1000), 0, 9)));
    }

    #[test]
    fn other_words_another_match_another_agent_and_nobody_are_not_the_same() {
        let log: &mut Log = &mut Log::<Vec<_, 16>>::new();
        log.push(by(7, 0, BAD));
        log.push(by(7, 0, Happening::BadMessage("another rule")));
        log.push(by(7, 0, Happening::Rejected("a rule")));
        log.push(by(8, 0, BAD));
        log.push(entry(BAD));
        log.push(Entry::new(Utc(0), BAD, None, None));
        log.push(Entry::new(Utc(0), BAD, Some(AgentId::Referee(7)), None));
        log.push(entry(Happening::failed(Message::ChooseParity, Fault::Silent)));
        log.push(entry(Happening::failed(Message::GameInvitation, Fault::Silent)));
        assert_eq!((log.written(), log.repeats()), (9, 0));
    }

    #[test]
    fn what_happens_again_after_more_than_a_minute_or_too_often_for_one_entry_is_told_again() {
        let log: &mut Log = &mut Log::<Vec<_, 8>>::new();
        for at in [0, 60, 120, 181] {
            log.push(by(7, at, BAD));
        }
        let seven = Some(AgentId::Player(7));
        assert_eq!(told(log), [(seven, Some(3), 0, 120), (seven, Some(1), 181, 181)]);
        let log: &mut Log = &mut Log::<Vec<_, 8>>::new();
        for _ in 0..100_000 {
            log.push(by(7, 0, BAD));
        }
        assert_eq!(
            told(log),
            [(seven, Some(u16::MAX), 0, 0), (seven, Some(100_000 - u16::MAX as u32).map(|n| n as u16), 0, 0)]
        );
        let log: &mut Log = &mut Log::<Vec<_, 8>>::new();
        for minute in 0..=2000 {
            log.push(by(7, minute * 60, BAD));
        }
        assert_eq!(told(log).iter().map(|&(_, times, ..)| u32::from(times.unwrap())).sum::<u32>(), 2001);
        assert_eq!(log.written(), 2, "a day is two entries");
    }

    #[test]
    fn a_clock_that_is_set_while_something_is_repeated_loses_nothing() {
        let log: &mut Log = &mut Log::<Vec<_, 8>>::new();
        for at in [5, 6, 1_700_000_000, 1_700_000_001, 1_699_999_990, 3] {
            log.push(by(7, at, BAD));
        }
        let seven = Some(AgentId::Player(7));
        let since = 1_700_000_000;
        assert_eq!(told(log), [(seven, Some(2), 5, 6), (seven, Some(3), since, since + 1), (seven, Some(1), 3, 3)]);
    }

    #[test]
    fn what_is_said_and_answered_and_what_the_league_does_is_told_one_by_one() {
        let log: &mut Log = &mut Log::<Vec<_, 8>>::new();
        for what in
            [Happening::Sent(Message::MoveRequest), Happening::Answered(Message::MoveRequest), Happening::LeagueStarted]
        {
            log.push(entry(what));
            log.push(entry(what));
        }
        assert_eq!((log.written(), log.repeats()), (6, 0));
    }

    #[test]
    fn an_entry_that_goes_on_reads_the_same_at_one_moment_however_often_it_counts_on() {
        let log: &mut Log = &mut Log::<Vec<_, 8>>::new();
        let read = |log: &Log| serde_json::to_string(&log.at_or_after(0).unwrap().1.as_of(Utc(10))).unwrap();
        (5..=10).for_each(|at| log.push(by(7, at, BAD)));
        let before = read(log);
        assert!(before.contains("1970-01-01T00:00:05Z") && before.contains(r#""until":"1970-01-01T00:00:10Z""#));
        (10..=12).for_each(|at| log.push(by(7, at, BAD)));
        assert_eq!(read(log), before);
        assert_eq!(log.at_or_after(0).unwrap().1.as_of(Utc(13)).times, Some(9), "once it is over it is counted");
    }

    #[test]
    fn every_happening_is_read_as_it_was_written() {
        use Happening::*;
        const K: Message = Message::MoveRequest;
        let log: &mut Log = &mut Log::<Vec<_, 32>>::new();
        let all: &[Happening] = &[
            Registered,
            RegisteredAgain,
            Rejected("a"),
            Left,
            Connected,
            Disconnected("b"),
            LeagueStarted,
            Resumed,
            RoundStarted(3),
            Sent(K),
            Answered(K),
            Silent(K),
            Unreachable(K),
            Unusable(K, "c"),
            Duplicate,
            BreakerOpened,
            MatchBegun,
            MatchOver("d"),
            RoundOver(999),
            LeagueOver,
            Admin("e"),
            BadMessage("f"),
            Reported("g"),
            TakenBack,
        ];
        let agents = [None, Some(AgentId::Player(999)), Some(AgentId::Referee(999)), Some(AgentId::Player(1))];
        for (&what, agent) in all.iter().zip(agents.into_iter().cycle()) {
            log.push(Entry::new(Utc(1), what, agent, None));
        }
        for ((&what, agent), read) in all.iter().zip(agents.into_iter().cycle()).zip(log.entries(0..u64::MAX)) {
            assert_eq!((read.what, read.agent, read.at_match), (what, agent, None));
        }
        assert_eq!(log.written(), all.len() as u64);
    }
}
