//! What the box has to say to one player, and how far it has come with it: at most one open call, news in order, and the words
//! this player understands. Decides what is said next; [`calls`](super::calls) carries it out.

use heapless::Deque;

use super::dialect::{Dialect, Style};
use super::referees::{Desk, Referee};
use super::register::Agent as Sender;
use crate::journal::Agent;
use crate::json::{Full, Sink};
use crate::message::Message;
use crate::protocols;
use crate::referee::{Fault, MAX_RETRIES, Policy};
use crate::season::Rule;
use crate::time::{Millis, Now};
use crate::venue::{Call, News, Progress, Timing, Venue};

/// News a session can owe its player. A player is at most two rounds behind: its own match holds the next one up. Only one
/// whose matches end at once can be later than that, and then the oldest news goes first.
const MAX_NEWS: usize = 10;

/// How long the next news waits for the answer to the last, in milliseconds.
pub const NEWS_MS: Millis = 2_000;

/// How long questions and rounds wait for it at most. An agent has dealt with the news then when it is asked: many refuse an
/// invitation before they know how their last match ended. Who lets this go by is waited for half as long the next time,
/// and soon not at all, until it answers news in this time again: all in all it costs its league twice this. It hears the
/// same in the same order; only its answers are not waited for.
pub(super) const HEED_MS: Millis = 250;

/// How long a call may take to be said, where half of it cannot be taken back.
pub(super) const SAY_MS: Millis = 5_000;

/// After so many times in a row nothing is left of it.
const DEAF: u8 = 8;

/// What an open call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// News. Whatever comes back is fine.
    News(News),
    /// The match's question: an invitation or a move.
    Question(Message),
    /// A retry is coming, and why.
    Retry(u8, Fault),
    /// A question that was answered by a message of the player's own; the reply no longer matters.
    Settled(Message),
    /// A test: whatever comes back is fine, and counts for nothing.
    Check,
}

impl What {
    /// Which message it is.
    pub fn kind(&self) -> Message {
        match self {
            What::News(News::Round(_)) => Message::RoundAnnouncement,
            What::News(News::MoveTaken(_)) => Message::MoveValidation,
            What::News(News::GameOver(_)) => Message::GameOver,
            What::News(News::Standings(_)) => Message::Standings,
            What::News(News::RoundCompleted(_)) => Message::RoundCompleted,
            What::News(News::LeagueCompleted) => Message::LeagueCompleted,
            What::Question(kind) | What::Settled(kind) => *kind,
            What::Retry(..) => Message::GameError,
            What::Check => Message::Ping,
        }
    }
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It may be said later.
    Waits,
    /// It is being said. Before its end nothing else can be.
    Begun,
    /// It may be heard.
    Sent,
}

/// The call that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub what: What,
    pub id: u32,
    pub at: Now,
    pub deadline: Millis,
    pub dialect: Dialect,
    pub variant: u8,
    /// How many dialects have been tried; whether news has been sent once more.
    pub tried: u8,
    pub way: Way,
    /// What was wrong with the answer to the first of the words that were tried.
    pub blame: Option<Rule>,
}

impl Open {
    /// When the next news stops waiting for the answer.
    fn overdue(&self) -> Millis {
        self.at.ms.saturating_add(NEWS_MS)
    }

    /// Whether it is news and only the next news waits for the answer.
    fn is_overdue(&self) -> bool {
        matches!(self.what, What::News(_)) && self.deadline >= self.overdue()
    }

    /// A test call.
    pub fn check(id: u32, at: Now, ms: Millis) -> Self {
        let deadline = at.ms.saturating_add(ms);
        let (dialect, variant, tried, way, blame) = (Dialect::Canonical, 0, 1, Way::Waits, None);
        Self { what: What::Check, id, at, deadline, dialect, variant, tried, way, blame }
    }
}

/// What is said to one player.
pub struct Session {
    /// How it is spoken to.
    pub style: Style,
    pub(super) open: Option<Open>,
    news: Deque<News, MAX_NEWS>,
    /// How often in a row the player left news unanswered for as long as that is waited for.
    pub(super) misses: u8,
    /// The calls that put the present question, or the last one that there was: one for each of its tries.
    asked: [u32; 1 + MAX_RETRIES as usize],
}

impl Session {
    /// With a player to whom nothing has been said yet.
    pub fn new(dialect: Dialect) -> Self {
        Self { style: Style::new(dialect), open: None, news: Deque::new(), misses: 0, asked: Self::NO_CALLS }
    }

    const NO_CALLS: [u32; 1 + MAX_RETRIES as usize] = [0; 1 + MAX_RETRIES as usize];

    /// Whether there is news to tell.
    pub(super) fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// Takes a call whose answer matters to nobody off the line, where a question is due that must not wait for it. True if
    /// the question comes before all other news too.
    pub(super) fn make_way(&mut self, now: Millis, is_urgent: bool) -> bool {
        let Some(open) = self.open else { return false };
        let (news, is_sent) = match (open.what, open.way) {
            (_, Way::Begun) => return false,
            (What::News(news), way) => (Some(news), way == Way::Sent),
            (What::Settled(_), _) => (None, true),
            _ => return false,
        };
        let is_stuck = !is_sent && open.at.ms.saturating_add(HEED_MS) <= now;
        if !(is_stuck || is_sent && (is_urgent || self.is_deaf())) {
            return false;
        }
        self.open = None;
        // What was not said yet is said later. But about a move it would be about the next one by then.
        if let Some(news) = news.filter(|news| is_stuck && !matches!(news, News::MoveTaken(_))) {
            let _ = self.news.push_front(news);
        }
        is_stuck
    }

    /// A question is put for the first time.
    pub(super) fn forget_asked(&mut self) {
        self.asked = Self::NO_CALLS;
    }

    /// The question is put by another call; one of number 0 there was not.
    pub(super) fn asks(&mut self, before: u32, now: u32) {
        if let Some(place) = self.asked.iter_mut().find(|call| **call == before) {
            *place = now;
        }
    }

    /// Whether a call put the present question.
    pub(super) fn has_asked(&self, call: u32) -> bool {
        self.asked.contains(&call)
    }

    /// Whether nothing waits for what the player answers to news.
    fn is_deaf(&self) -> bool {
        self.misses >= DEAF || self.open.is_some_and(|open| open.is_overdue())
    }

    /// Until when an answer that matters to nobody is waited for, by a question or only by the next news.
    pub(super) fn heeds_until(&self, now: Millis) -> Millis {
        let ms = if self.misses >= DEAF { NEWS_MS } else { HEED_MS >> self.misses };
        now.saturating_add(ms)
    }

    /// The next news that the player wants to hear.
    pub(super) fn next_news(&mut self) -> Option<News> {
        loop {
            let news = self.news.pop_front()?;
            if !self.style.refuses(What::News(news).kind()) {
                return Some(news);
            }
        }
    }

    /// Takes the call whose time is over off the line. News that nobody waits for any more has longer.
    pub(super) fn expire(&mut self, now: Millis) -> Option<Open> {
        if let Some(open) = &mut self.open
            && open.deadline <= now
        {
            if matches!(open.what, What::News(_) | What::Settled(_)) && !open.is_overdue() {
                self.misses = self.misses.saturating_add(1);
            }
            if matches!(open.what, What::News(_)) {
                open.deadline = open.overdue();
            }
        }
        self.open.take_if(|open| open.deadline <= now)
    }
}

impl protocols::Session for Session {
    fn name(&self) -> &'static str {
        self.style.dialect.name()
    }

    fn policy(&self, timing: &Timing) -> Policy {
        super::policy(timing)
    }

    fn dialect(&self) -> u8 {
        self.style.dialect as u8
    }

    fn invites(&self) -> bool {
        true
    }

    fn tell(&mut self, news: News) {
        // Only the last standings and the last move can still be put into words. Nobody who listens misses others by it.
        if matches!(news, News::Standings(_) | News::MoveTaken(_)) {
            let is_like_it = |older: &News| core::mem::discriminant(older) == core::mem::discriminant(&news);
            self.news.retain(|older| !is_like_it(older));
        }
        if self.news.is_full() {
            self.news.pop_front();
        }
        let _ = self.news.push_back(news);
    }

    fn retract(&mut self, is_past: &dyn Fn(News) -> bool) -> bool {
        self.news.retain(|&news| !is_past(news));
        self.open.take_if(|open| matches!(open.what, What::News(news) if is_past(news))).is_some()
    }

    fn withdraw(&mut self) -> bool {
        self.open.take_if(|open| matches!(open.what, What::Question(_) | What::Retry(..))).is_some()
    }

    fn is_telling(&self, news: News) -> bool {
        self.open.is_some_and(|open| open.what == What::News(news))
    }

    fn owes_standings(&self) -> bool {
        let is_open = self.open.is_some_and(|open| matches!(open.what, What::News(News::Standings(_))));
        !self.is_deaf() && (is_open || self.news.iter().any(|news| matches!(news, News::Standings(_))))
    }

    fn hurry(&mut self, last: u16, is_given_up: bool) {
        if is_given_up {
            self.news.clear();
        } else if self.misses > 0 {
            let summary = [News::Standings(last), News::RoundCompleted(last)];
            self.news.retain(|news| matches!(news, News::GameOver(_)) || summary.contains(news));
        }
    }

    fn hang_up(&mut self) {
        *self = Self { style: self.style, ..Self::new(self.style.dialect) };
    }

    fn is_idle(&self) -> bool {
        self.open.is_none() && self.news.is_empty()
    }

    fn deadline(&self) -> Option<Millis> {
        self.open.map(|open| open.deadline)
    }

    fn end_check(&mut self) -> bool {
        self.open.take_if(|open| open.what == What::Check).is_some()
    }
}

impl protocols::Protocol for Session {
    type Desk = Desk;

    fn restored(dialect: u8) -> Option<Self> {
        Dialect::of(dialect).map(Session::new)
    }

    fn pump(venue: &mut Venue<'_>, now: Now, index: u16) {
        super::calls::pump(venue, now, index);
    }

    fn expire(venue: &mut Venue<'_>, now: Now, index: u16) {
        super::calls::expire(venue, now, index);
    }

    fn tell_anew(venue: &mut Venue<'_>, now: Now, index: u16) {
        super::calls::tell_anew(venue, now, index);
    }

    fn who_has(venue: &Venue<'_>, credential: &str) -> Option<u16> {
        match venue.agent_of_token(credential)? {
            Sender::Player(index) => Some(index),
            Sender::Referee(_) => None,
        }
    }

    fn check(venue: &mut Venue<'_>, now: Now, index: u16) -> bool {
        super::calls::check(venue, now, index)
    }

    fn call<'a>(venue: &'a Venue<'_>, line: u16) -> Option<Call<'a>> {
        super::calls::call(venue, line)
    }

    fn write_call(venue: &Venue<'_>, line: u16, sink: &mut dyn Sink) -> Result<(), Full> {
        venue.say_call(line, sink)
    }

    fn progress(venue: &mut Venue<'_>, now: Now, line: u16, call: u32, progress: Progress<'_>) {
        super::calls::progress(venue, now, line, call, progress);
    }

    fn awaits(venue: &Venue<'_>, player: u16, call: u32) -> bool {
        super::calls::awaits(venue, player, call)
    }

    fn begin_errands(venue: &mut Venue<'_>, now: Now) {
        venue.send_to_referees(now);
    }

    fn errand_deadline(venue: &Venue<'_>) -> Option<Millis> {
        venue.desks().league_v2.deadline()
    }

    fn end_errands(venue: &mut Venue<'_>, now: Now) {
        venue.end_errand(now);
    }

    fn drop_errands(venue: &mut Venue<'_>) {
        venue.drop_errand();
    }

    fn referee<'a>(venue: &'a Venue<'_>, place: usize) -> Option<Agent<'a>> {
        venue.referees().get(place).map(Referee::entry)
    }

    fn restore_referee(venue: &mut Venue<'_>, agent: Agent<'_>) -> Option<()> {
        venue.desks_mut().league_v2.restore(Referee::restored(agent)?)
    }
}
