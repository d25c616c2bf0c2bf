//! What the box has to say to one player, and how far it has come with it: at most one open call, news in order, and the words
//! this player understands. Decides what is said next; [`calls`](super::calls) carries it out.

use super::dialect::{Dialect, Style};
use super::referees::{Desk, Referee, Serves};
use super::register::Agent as Sender;
use crate::games::Rules;
use crate::journal::Agent;
use crate::json::{Full, Sink};
use crate::message::Message;
use crate::protocols::{self, Session as _};
use crate::referee::{Fault, MAX_RETRIES, Policy};
use crate::season::Rule;
use crate::time::{Millis, Now};
use crate::venue::{Call, Cursor, News, Progress, Stage, Taker, Timing, Venue};

/// How long the next news waits for the answer to the last, in milliseconds.
pub const NEWS_MS: Millis = 2_000;

/// How long questions and rounds wait for it at most. An agent has dealt with the news then when it is asked: many refuse an
/// invitation before they know how their last match ended. Who lets this go by is waited for half as long the next time,
/// and soon not at all, until it answers news in this time again: all in all it costs its league twice this. (Not at all at
/// once would be simpler, but then nobody would see that it answers again, where others are quicker.) It hears the same in
/// the same order; only its answers are not waited for.
pub(super) const HEED_MS: Millis = 250;

/// How long news may take to be said: half of a message helps nobody. A server that lets this go by is given half of it the next time,
/// but never less than [`LEAST_SAY_MS`].
pub(super) const SAY_MS: Millis = 5_000;
const LEAST_SAY_MS: Millis = 1_000;

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
    /// Not to the player: the referee that has its match, elsewhere, is told of that.
    Assignment,
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
            What::Assignment => Message::MatchAssignment,
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
    /// Whether questions and rounds wait for the answer to news, or for the news to be on its way.
    pub is_heeded: bool,
    /// What was wrong with the answer to the first of the words that were tried.
    pub blame: Option<Rule>,
}

impl Open {
    /// When it next needs the clock, where the answer to news is heeded for so long.
    fn due(&self, heed_ms: Millis) -> Millis {
        let heed_ms = match self.way {
            Way::Waits if self.is_heeded => HEED_MS,
            Way::Sent if self.is_heeded => heed_ms,
            _ => return self.deadline,
        };
        self.deadline.min(self.at.ms.saturating_add(heed_ms))
    }

    /// The same news, told from now on.
    pub fn told_at(self, now: Now) -> Self {
        Self { at: now, deadline: now.ms.saturating_add(NEWS_MS), way: Way::Waits, is_heeded: true, ..self }
    }

    /// A test call.
    pub fn check(id: u32, at: Now, ms: Millis) -> Self {
        let deadline = at.ms.saturating_add(ms);
        let (dialect, variant, tried, blame) = (Dialect::Canonical, 0, 1, None);
        Self { what: What::Check, id, at, deadline, dialect, variant, tried, way: Way::Waits, is_heeded: false, blame }
    }
}

/// What is said to one player.
pub struct Session {
    /// How it is spoken to.
    pub style: Style,
    pub(super) open: Option<Open>,
    /// What the player has heard of the league.
    pub(super) cursor: Cursor,
    /// How often in a row the player left news unanswered for as long as that is waited for.
    pub(super) misses: u8,
    /// How many acts there were in its game when the question was put.
    pub(super) acts: u16,
    /// Whether the player has acted since.
    pub(super) has_acted: bool,
    /// The calls that put the present question, or the last one that there was: one for each of its tries.
    asked: [u32; 1 + MAX_RETRIES as usize],
}

impl Session {
    /// With a player to whom nothing has been said yet.
    pub fn new(dialect: Dialect) -> Self {
        let (style, cursor) = (Style::new(dialect), Cursor::default());
        Self { style, open: None, cursor, misses: 0, asked: Self::NO_CALLS, acts: 0, has_acted: false }
    }

    const NO_CALLS: [u32; 1 + MAX_RETRIES as usize] = [0; 1 + MAX_RETRIES as usize];

    /// Takes a call whose answer matters to nobody off the line, where a question is due that must not wait for it. True if
    /// the question comes before all other news too.
    pub(super) fn make_way(&mut self, is_urgent: bool) -> bool {
        let Some(open) = self.open else { return false };
        let makes_way = match (open.what, open.way) {
            (What::News(_), Way::Waits) => !open.is_heeded,
            (What::News(_), Way::Sent) | (What::Settled(_), Way::Waits | Way::Sent) => is_urgent || self.is_deaf(),
            _ => false,
        };
        if !makes_way {
            return false;
        }
        self.open = None;
        match (open.what, open.way) {
            // What was not said yet is said later.
            (What::News(_), Way::Waits) => true,
            (What::News(news), _) => {
                self.cursor.has_heard(news);
                false
            }
            _ => false,
        }
    }

    /// How long questions and rounds wait for the answer to news.
    fn heed_ms(&self) -> Millis {
        HEED_MS.checked_shr(self.misses.into()).unwrap_or(0)
    }

    /// How long the player has to take news that is being said.
    pub(super) fn say_ms(&self) -> Millis {
        SAY_MS.checked_shr(self.misses.into()).unwrap_or(0).max(LEAST_SAY_MS)
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

    /// Whether the question of its match is with the player.
    pub(super) fn is_asking(&self) -> bool {
        self.open.is_some_and(|open| matches!(open.what, What::Question(_) | What::Retry(..)))
    }

    /// Has nobody wait any longer for the answer to news, if the time for that is over.
    pub(super) fn stop_heeding(&mut self, now: Millis) {
        let heed_ms = self.heed_ms();
        if let Some(open) = &mut self.open
            && open.due(heed_ms) <= now
            && core::mem::take(&mut open.is_heeded)
        {
            self.misses = self.misses.saturating_add(1);
        }
    }

    /// Takes the call whose time is over off the line.
    pub(super) fn expire(&mut self, now: Millis) -> Option<Open> {
        self.stop_heeding(now);
        let expired = self.open.take_if(|open| open.deadline <= now)?;
        if let What::News(news) = expired.what {
            self.cursor.has_heard(news);
        }
        Some(expired)
    }
}

impl protocols::Session for Session {
    fn name(&self) -> &'static str {
        self.style.dialect.name()
    }

    fn policy(&self, timing: &Timing, _rules: &Rules) -> Policy {
        super::policy(timing)
    }

    fn dialect(&self) -> u8 {
        self.style.dialect as u8
    }

    fn cursor(&self) -> Option<&Cursor> {
        Some(&self.cursor)
    }

    fn set_cursor(&mut self, cursor: Cursor) {
        self.cursor = cursor;
    }

    fn telling(&self) -> Option<News> {
        match self.open?.what {
            What::News(news) => Some(news),
            _ => None,
        }
    }

    fn break_off(&mut self) {
        self.open.take_if(|open| matches!(open.what, What::News(_)));
    }

    fn is_deaf(&self) -> bool {
        self.heed_ms() == 0 || self.telling().is_some() && self.open.is_some_and(|open| !open.is_heeded)
    }

    fn withdraw(&mut self) -> bool {
        self.open.take_if(|open| matches!(open.what, What::Question(_) | What::Retry(..) | What::Assignment)).is_some()
    }

    fn hang_up(&mut self) {
        *self = Self { style: self.style, ..Self::new(self.style.dialect) };
    }

    fn is_idle(&self) -> bool {
        self.open.is_none()
    }

    fn deadline(&self) -> Option<Millis> {
        self.open.map(|open| open.due(self.heed_ms()))
    }

    fn end_check(&mut self) -> bool {
        self.open.take_if(|open| open.what == What::Check).is_some()
    }
}

impl protocols::Protocol for Session {
    type Desk = Desk;

    fn restored(dialect: u8, _about: &str) -> Option<Self> {
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
        venue.admit_late_referees();
    }

    fn referee<'a>(venue: &'a Venue<'_>, place: usize) -> Option<Agent<'a>> {
        venue.referees().get(place).map(Referee::entry)
    }

    fn taker(venue: &mut Venue<'_>, players: &[u16]) -> Option<Taker> {
        venue.taker(players)
    }

    fn referee_failed(venue: &mut Venue<'_>, number: u8) {
        venue.referee_failed(number);
    }

    fn forget_referee(venue: &mut Venue<'_>, number: u16) -> bool {
        // An errand knows them by their places.
        venue.drop_errand();
        let referees = &mut venue.desks_mut().league_v2.referees;
        let before = referees.len();
        referees.retain(|referee| referee.number != number);
        referees.len() < before
    }

    fn restore_referee(venue: &mut Venue<'_>, agent: Agent<'_>) -> Option<()> {
        let serves = if venue.stage() == Stage::Waiting { Serves::Yes } else { Serves::Later };
        venue.desks_mut().league_v2.restore(Referee { serves, ..Referee::restored(agent)? })
    }
}
