//! One line per player: at most one open call, what goes out next, and what to make of what came back.

use heapless::{Deque, String};

use super::admission::{AgentState, Player, breach};
use super::check::{self, Ready};
use super::rounds::{Seating, Table};
use super::{Hall, Mode};
use crate::games::{Illegal, Question};
use crate::json::Value;
use crate::league::Rule;
use crate::log::Happening;
use crate::referee::{Broken, Fault, Heard, MAX_RETRIES, Need};
use crate::time::{Millis, Now, Utc};
use crate::wire::endpoint::Contact;
use crate::wire::league_v2::Code;
use crate::wire::league_v2::dialect::{Dialect, Kind, Style};
use crate::wire::league_v2::outgoing::{Conversation, MatchId};
use crate::wire::league_v2::reply::{self, Reply, TEXT_BYTES};

/// News a line can owe its player. A player is at most two rounds behind: its own match holds the next one up. Only one
/// whose matches end at once can be later than that, and then the oldest news goes first.
const MAX_NOTICES: usize = 10;

/// How long the next news waits for the answer to the last, in milliseconds.
pub const NEWS_MS: Millis = 2_000;

/// How long questions and rounds wait for it at most. An agent has dealt with the news then when it is asked: many refuse an
/// invitation before they know how their last match ended. Who lets this go by is waited for half as long the next time,
/// and soon not at all, until it answers news in this time again: all in all it costs its league twice this. It hears the
/// same in the same order; only its answers are not waited for.
const HEED_MS: Millis = 250;

/// How long a call may take to be said, where half of it cannot be taken back.
const SAY_MS: Millis = 5_000;

/// After so many times in a row nothing is left of it.
const DEAF: u8 = 8;

/// News for a player, most of it of a round. It is put into words when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    Round(u16),
    MoveTaken(u16),
    GameOver(u16),
    Standings(u16),
    RoundCompleted(u16),
    LeagueCompleted,
}

/// What an open call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// News. Whatever comes back is fine.
    News(Notice),
    /// The match's question: an invitation or a move.
    Question(Kind),
    /// A retry is coming, and why.
    Retry(u8, Fault),
    /// A question that was answered by a message of the player's own; the reply no longer matters.
    Settled(Kind),
    /// A test: whatever comes back is fine, and counts for nothing.
    Check,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
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
    tried: u8,
    way: Way,
    /// What was wrong with the answer to the first of the words that were tried.
    blame: Option<Rule>,
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

/// The line to one player.
pub(super) struct Line {
    pub open: Option<Open>,
    news: Deque<Notice, MAX_NOTICES>,
    /// Whether [`Hall::poll_output`] will name it.
    pub is_listed: bool,
    gone: Option<Gone>,
    /// Whether a player that dials in is there.
    pub is_held: bool,
    /// Whether its protocol has no words for news.
    is_mute: bool,
    /// How often in a row the player left news unanswered for as long as that is waited for.
    misses: u8,
    /// The calls that put the present question, or the last one that there was: one for each of its tries.
    asked: [u32; 1 + MAX_RETRIES as usize],
    pub ready: Ready,
    /// When it last said something; 0 if it has not.
    pub seen: Utc,
}

/// Why nothing is said to a player any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// It has left.
    Left,
    /// The admin has removed it.
    Removed,
}

impl Line {
    pub const fn new() -> Self {
        Self {
            open: None,
            news: Deque::new(),
            is_listed: false,
            gone: None,
            is_held: false,
            is_mute: false,
            misses: 0,
            asked: [0; 1 + MAX_RETRIES as usize],
            ready: Ready::Unknown,
            seen: Utc(0),
        }
    }

    /// That of a player whose protocol has no words for news.
    pub fn mute() -> Self {
        Self { is_mute: true, ..Self::new() }
    }

    pub fn tell(&mut self, notice: Notice) {
        if self.has_left() || self.is_mute {
            return;
        }
        // Only the last standings and the last move can still be put into words. Nobody who listens misses others by it.
        if matches!(notice, Notice::Standings(_) | Notice::MoveTaken(_)) {
            let is_like_it = |older: &Notice| core::mem::discriminant(older) == core::mem::discriminant(&notice);
            self.news.retain(|older| !is_like_it(older));
        }
        if self.news.is_full() {
            self.news.pop_front();
        }
        let _ = self.news.push_back(notice);
    }

    pub fn forget_news(&mut self) {
        self.news.clear();
    }

    /// Does not tell what it has not told yet and no longer should.
    pub fn forget(&mut self, what: impl Fn(&Notice) -> bool) {
        self.news.retain(|notice| !what(notice));
    }

    /// Whether a player that listens has yet to hear the standings.
    pub fn owes_standings(&self) -> bool {
        if self.is_deaf() {
            return false;
        }
        let is_open = self.open.is_some_and(|open| matches!(open.what, What::News(Notice::Standings(_))));
        is_open || self.news.iter().any(|notice| matches!(notice, Notice::Standings(_)))
    }

    /// The league is over. Who does not listen is told of its last match, of the last round and the end, not all it missed: every
    /// message would cost its time.
    pub fn hurry(&mut self, last: u16) {
        if self.misses > 0 {
            let summary = [Notice::Standings(last), Notice::RoundCompleted(last)];
            self.news.retain(|notice| matches!(notice, Notice::GameOver(_)) || summary.contains(notice));
        }
    }

    /// Takes a call whose answer matters to nobody off the line, where a question is due that must not wait for it. True if
    /// the question comes before all other news too.
    fn make_way(&mut self, now: Millis, is_urgent: bool) -> bool {
        let Some(open) = self.open else { return false };
        let (notice, is_sent) = match (open.what, open.way) {
            (_, Way::Begun) => return false,
            (What::News(notice), way) => (Some(notice), way == Way::Sent),
            (What::Settled(_), _) => (None, true),
            _ => return false,
        };
        let is_stuck = !is_sent && open.at.ms.saturating_add(HEED_MS) <= now;
        if !(is_stuck || is_sent && (is_urgent || self.is_deaf())) {
            return false;
        }
        self.open = None;
        // What was not said yet is said later. But about a move it would be about the next one by then.
        if let Some(notice) = notice.filter(|notice| is_stuck && !matches!(notice, Notice::MoveTaken(_))) {
            let _ = self.news.push_front(notice);
        }
        is_stuck
    }

    /// The player is gone: nothing is said to it any more.
    pub fn hang_up(&mut self, gone: Gone) {
        *self = Self { gone: Some(gone), is_listed: self.is_listed, ..Self::new() };
    }

    pub fn gone(&self) -> Option<Gone> {
        self.gone
    }

    pub fn has_left(&self) -> bool {
        self.gone.is_some()
    }

    /// The question is put by another call; one of number 0 there was not.
    fn asks(&mut self, before: u32, now: u32) {
        if let Some(place) = self.asked.iter_mut().find(|call| **call == before) {
            *place = now;
        }
    }

    /// Whether nothing waits for what the player answers to news.
    fn is_deaf(&self) -> bool {
        self.misses >= DEAF || self.open.is_some_and(|open| open.is_overdue())
    }

    /// Until when an answer that matters to nobody is waited for, by a question or only by the next news.
    fn heeds_until(&self, now: Millis) -> Millis {
        let ms = if self.misses >= DEAF { NEWS_MS } else { HEED_MS >> self.misses };
        now.saturating_add(ms)
    }

    /// The next news that the player wants to hear.
    fn next_news(&mut self, style: &Style) -> Option<Notice> {
        loop {
            let notice = self.news.pop_front()?;
            if !style.refuses(What::News(notice).kind()) {
                return Some(notice);
            }
        }
    }

    /// Takes the call whose time is over off the line. News that nobody waits for any more has longer.
    fn expire(&mut self, now: Millis) -> Option<Open> {
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

    pub fn is_idle(&self) -> bool {
        self.open.is_none() && self.news.is_empty()
    }
}

/// What a line has to do now.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The number of the call. Another number is another call.
    pub id: u32,
    /// Whether its answer is worth waiting for when the call is over: see [`Hall::awaits`].
    pub is_question: bool,
    /// Whom to call. One that dials in may not be there; the call then waits for it.
    pub to: &'a Contact,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The connection was refused or broke.
    Unreachable,
    /// The reply was not HTTP, or too long to be read.
    Unreadable,
    /// The reply was too long to be read, and had this HTTP status, which says what it was: no answer.
    Status(u16),
}

impl<const P: usize, const M: usize, const R: usize, const L: usize> Hall<P, M, R, L> {
    /// What the line to a player has to do now. `None`: hang up.
    pub fn call(&self, player: u16) -> Option<Call<'_>> {
        let own = self.players.get(usize::from(player)).and_then(|player| Some((player.line.open?, &player.contact)));
        let call =
            |(open, to): (Open, _)| Call { id: open.id, is_question: matches!(open.what, What::Question(_)), to };
        own.map(call).or_else(|| self.errand_on(player))
    }

    /// The registration of the player on a line, if that dials in and has not left.
    pub fn issue_of_line(&self, line: u16) -> Option<u32> {
        let player = self.players.get(usize::from(line))?;
        (player.contact.endpoint().is_none() && !player.line.has_left()).then_some(player.issue)
    }

    /// The line of that player.
    pub fn line_of(&self, issue: u32) -> Option<u16> {
        (0..self.players.len() as u16).find(|&line| self.issue_of_line(line) == Some(issue))
    }

    /// Has [`Hall::poll_output`] name a line.
    pub(super) fn list(&mut self, player: u16) {
        let Some(listed) = self.players.get_mut(usize::from(player)) else { return };
        if !core::mem::replace(&mut listed.line.is_listed, true) {
            // There is room for every line once.
            let _ = self.changed.push_back(player);
        }
    }

    /// Puts the next call on a line that is free, and sets its clock.
    pub(super) fn pump(&mut self, now: Now, index: u16) {
        if self.players.get(usize::from(index)).is_some_and(Player::is_of_the_arena) {
            self.pump_agent(now, index);
            return self.set_clock(index);
        }
        let is_wanted = |player: &Player| player.seating.is_some() || !player.line.news.is_empty();
        if self.players.get(usize::from(index)).is_some_and(is_wanted) && self.give_way(index) {
            self.list(index);
        }
        // Who does not want to know what went wrong is asked again without a word.
        let knows_no_errors = |player: &Player| player.style.refuses(Kind::GameError);
        if self.players.get(usize::from(index)).is_some_and(knows_no_errors)
            && let Some((table, seating)) = self.at_table(index)
            && matches!(table.play.need(seating.seat), Need::Announcement { .. })
        {
            table.play.announced(seating.seat);
        }
        let patience = self.patience_at(index);
        let is_away_for_good = |player: &Player| player.line.has_left() || player.is_held_back();
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        let table_at = |slot: u16| self.tables.get(usize::from(slot)).and_then(Option::as_ref);
        let play = |slot: u16| table_at(slot).map(|table| &table.play);
        let match_deadline =
            |seating: Option<Seating>| seating.and_then(|seating| play(seating.slot)?.deadline(seating.seat));
        let need = match player.seating {
            Some(seating) if !is_away_for_good(player) => {
                table_at(seating.slot).map_or(Need::Nothing, |table| table.need(seating.seat))
            }
            _ => Need::Nothing,
        };
        let is_retrying =
            player.seating.is_some_and(|seating| play(seating.slot).is_some_and(|play| play.is_retrying(seating.seat)));
        let was_open = player.line.open.is_some();
        let comes_first = need != Need::Nothing && player.line.make_way(now.ms, is_retrying);
        let has_made_way = was_open && player.line.open.is_none();
        if player.line.open.is_none() {
            let limit = now.ms.saturating_add(self.config.timing.notice_ms);
            let next = if is_away_for_good(player) {
                None
            } else if !(is_retrying || comes_first || player.is_told_later())
                && let Some(notice) = player.line.next_news(&player.style)
            {
                Some((What::News(notice), player.line.heeds_until(now.ms)))
            } else {
                match (need, player.seating) {
                    (Need::Announcement { retry, fault }, seating) => {
                        Some((What::Retry(retry, fault), match_deadline(seating).unwrap_or(limit)))
                    }
                    (Need::Question, Some(seating)) => {
                        let table = self.tables.get_mut(usize::from(seating.slot)).and_then(Option::as_mut);
                        table.map(|table| {
                            let kind = table.question();
                            table.ask(seating.seat, now.ms, patience);
                            (What::Question(kind), table.play.deadline(seating.seat).unwrap_or(limit))
                        })
                    }
                    _ => None,
                }
            };
            if let Some((what, deadline)) = next {
                let kind = what.kind();
                let (dialect, variant) = (player.style.dialect, player.style.variant(kind));
                self.calls = self.calls.wrapping_add(1);
                let tried = u8::from(!matches!(what, What::News(_)));
                let (id, way, blame) = (self.calls, Way::Waits, None);
                player.line.open = Some(Open { what, id, at: now, deadline, dialect, variant, tried, way, blame });
                if matches!(what, What::Question(_)) {
                    if !is_retrying {
                        player.line.asked = Line::new().asked;
                    }
                    player.line.asks(0, id);
                }
                let (id, at) = (player.id(), self.match_of(index));
                self.note(now, Some(id), at, Happening::Sent(kind));
            }
            if has_made_way || next.is_some() {
                self.list(index);
            }
        }
        self.set_clock(index);
    }

    pub(super) fn set_clock(&mut self, index: u16) {
        let Some(player) = self.players.get(usize::from(index)) else {
            return self.timers.set(index.into(), None);
        };
        let of_match = player
            .seating
            .and_then(|seating| self.tables.get(usize::from(seating.slot))?.as_ref()?.deadline(seating.seat));
        let of_line = player.line.open.map(|open| open.deadline);
        let next = [of_match, of_line].into_iter().flatten().min();
        self.timers.set(index.into(), next);
    }

    /// Everything whose time has come.
    pub(super) fn tick(&mut self, now: Now) {
        self.end_break(now);
        while let Some((index, at)) = self.timers.next() {
            if at > now.ms {
                return;
            }
            self.time_is_up(now, index as u16);
        }
    }

    fn time_is_up(&mut self, now: Now, index: u16) {
        let Some(player) = self.players.get_mut(usize::from(index)) else {
            return self.timers.set(index.into(), None);
        };
        let expired = player.line.expire(now.ms);
        let is_asked_once = player.is_of_the_arena();
        let fault = if player.is_away() { Fault::Unreachable } else { Fault::Silent };
        if let Some(open) = expired {
            self.list(index);
            match open.what {
                What::News(_) => self.is_unheard(now, index, open.what.kind(), fault),
                What::Check => self.checked(now, index, Ready::No),
                _ => {}
            }
        }
        if let Some((table, seating)) = self.at_table(index) {
            table.let_on(now.ms);
            let kind = table.question();
            let is_late = match is_asked_once {
                true => table.play.expire(seating.seat, now.ms, fault),
                false => table.play.tick(seating.seat, now.ms, fault),
            };
            if is_late {
                self.failed(now, index, kind, fault);
            }
            self.proceed(now, seating.slot);
        }
        self.pump(now, index);
    }

    /// News brought no answer. That is told, and no failure.
    fn is_unheard(&mut self, now: Now, index: u16, kind: Kind, fault: Fault) {
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        let rule = if fault == Fault::Unreachable { Rule::Unreachable } else { Rule::NewsUnanswered };
        player.compliance.note(rule, kind.message_type());
        let (id, at) = (player.id(), self.match_of(index));
        self.note(now, Some(id), at, Happening::failed(kind, fault));
    }

    /// A call is being said.
    pub(super) fn begun(&mut self, now: Now, index: u16, call: u32) {
        let open = self.players.get_mut(usize::from(index)).and_then(|player| player.line.open.as_mut());
        if let Some(open) = open.filter(|open| open.id == call) {
            open.way = Way::Begun;
            if matches!(open.what, What::News(_)) {
                open.deadline = now.ms.saturating_add(SAY_MS);
            }
            self.set_clock(index);
        }
    }

    /// A call is on its way.
    pub(super) fn sent(&mut self, now: Now, index: u16, call: u32) {
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        let heeds_until = player.line.heeds_until(now.ms);
        if let Some(open) = player.line.open.as_mut().filter(|open| open.id == call) {
            if open.way == Way::Begun && matches!(open.what, What::News(_)) {
                // Nobody could answer before.
                (open.at, open.deadline) = (now, heeds_until);
            }
            open.way = Way::Sent;
            self.pump(now, index);
        }
    }

    /// A try to get an answer failed. With the last of its tries the question counts as one failure.
    fn failed(&mut self, now: Now, index: u16, kind: Kind, fault: Fault) {
        let at = self.match_of(index);
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        let id = player.id();
        match fault {
            Fault::Silent => player.compliance.note(Rule::NoAnswer, kind.message_type()),
            Fault::Unreachable => player.compliance.note(Rule::Unreachable, kind.message_type()),
            Fault::Unusable(..) => {}
        }
        let is_there = matches!(fault, Fault::Unusable(..));
        if !is_there && player.state == AgentState::Active {
            player.state = AgentState::Suspended;
        }
        self.note(now, Some(id), at, Happening::failed(kind, fault));
        let is_last = self.at_table(index).is_some_and(|(table, seating)| table.play.has_lost(seating.seat));
        let Some(player) = self.players.get_mut(usize::from(index)).filter(|_| is_last && !is_there) else { return };
        player.breaker.failed(now.ms);
        if player.breaker.is_open() {
            self.note(now, Some(id), at, Happening::BreakerOpened);
        }
    }

    /// Where a player sits.
    pub(super) fn at_table(&mut self, index: u16) -> Option<(&mut Table, Seating)> {
        let seating = self.players.get(usize::from(index))?.seating?;
        Some((self.tables.get_mut(usize::from(seating.slot))?.as_mut()?, seating))
    }

    /// The match a player is in.
    pub(super) fn match_of(&self, index: u16) -> Option<MatchId> {
        let seating = self.players.get(usize::from(index))?.seating?;
        self.tables.get(usize::from(seating.slot))?.as_ref().map(|table| table.id)
    }

    /// Takes the open call off a line, if it is still the one that is meant.
    fn take_call(&mut self, index: u16, call: u32) -> Option<Open> {
        self.players.get_mut(usize::from(index))?.line.open.take_if(|open| open.id == call)
    }

    pub(super) fn call_failed(&mut self, now: Now, index: u16, call: u32, failure: Failure) {
        if let Failure::Status(status) = failure {
            return self.reply(now, index, call, status, b"");
        }
        let Some(open) = self.take_call(index, call) else { return };
        match (open.what, failure) {
            (What::Question(kind), Failure::Unreachable) => {
                self.fail_question(now, index, kind, Fault::Unreachable);
            }
            (What::Question(kind), Failure::Unreadable) => {
                if let Some(player) = self.players.get_mut(usize::from(index)) {
                    player.compliance.note(Rule::ReplyTooLong, kind.message_type());
                }
                self.fail_question(now, index, kind, Fault::Unusable(Broken::Field, Rule::ReplyTooLong.advice()));
            }
            (What::Retry(..), _) => self.announced(now, index),
            (What::Check, Failure::Unreachable) => self.checked(now, index, Ready::No),
            // It said something.
            (What::Check, Failure::Unreadable) => self.checked(now, index, check::took(open.at.ms, now)),
            // Nobody asks again for news that did not get through, so it is sent once more: a frame may have been lost, or
            // the player may have closed the connection just then.
            (What::News(_), Failure::Unreachable) if open.tried == 0 => {
                return self.call_anew(now, index, Open { tried: 1, ..open });
            }
            _ => {}
        }
        self.pump(now, index);
    }

    /// Takes the open call off a line if it is about this, answered or not.
    pub(super) fn take_back(&mut self, index: u16, about: impl Fn(What) -> bool) {
        let open = self
            .players
            .get_mut(usize::from(index))
            .and_then(|player| player.line.open.take_if(|open| about(open.what)));
        if open.is_some() {
            self.list(index);
        }
    }

    /// A player has said something.
    pub(super) fn saw(&mut self, now: Now, index: u16) {
        if let Some(player) = self.players.get_mut(usize::from(index)) {
            player.line.seen = now.utc;
        }
    }

    /// A player that dials in is there. Whoever comes back is worth calling again.
    pub(super) fn arrived(&mut self, now: Now, index: u16) {
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        player.breaker.succeeded();
        player.line.seen = now.utc;
        if !core::mem::replace(&mut player.line.is_held, true) {
            let id = player.id();
            self.note(now, Some(id), None, Happening::Connected);
        }
        self.pump(now, index);
    }

    /// It is gone. What it is asked waits for it until its deadline.
    pub(super) fn gone(&mut self, now: Now, index: u16, why: &'static str) {
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        let is_of_the_arena = player.is_of_the_arena();
        if core::mem::take(&mut player.line.is_held) {
            let id = player.id();
            self.note(now, Some(id), None, Happening::Disconnected(why));
        }
        if is_of_the_arena {
            self.agent_is_gone(now, index);
        }
    }

    /// Opens a call again, by another id.
    pub(super) fn call_anew(&mut self, now: Now, index: u16, open: Open) {
        self.calls = self.calls.wrapping_add(1);
        if let Some(player) = self.players.get_mut(usize::from(index)) {
            let deadline = match open.what {
                What::News(_) => player.line.heeds_until(now.ms),
                _ => open.deadline,
            };
            player.line.asks(open.id, self.calls);
            player.line.open = Some(Open { id: self.calls, at: now, deadline, way: Way::Waits, ..open });
        }
        self.list(index);
    }

    /// The question to a player failed: its match hears of it, and the line goes on.
    fn fail_question(&mut self, now: Now, index: u16, kind: Kind, fault: Fault) {
        let Some((table, seating)) = self.at_table(index) else { return };
        table.play.fail(seating.seat, now.ms, fault);
        self.failed(now, index, kind, fault);
        self.proceed(now, seating.slot);
    }

    fn announced(&mut self, now: Now, index: u16) {
        let Some((table, seating)) = self.at_table(index) else { return };
        table.play.announced(seating.seat);
        self.proceed(now, seating.slot);
    }

    /// Not inlined, so that its buffer is off the stack when the league moves on.
    #[inline(never)]
    pub(super) fn reply(&mut self, now: Now, index: u16, call: u32, status: u16, body: &[u8]) {
        let Some(open) = self.take_call(index, call) else { return self.late_reply(now, index, call, status, body) };
        self.saw(now, index);
        let mut text = [0; TEXT_BYTES];
        let reply = reply::unwrap(body, &mut text, open.dialect, open.id, &mut |_, _| {});
        match (open.what, reply) {
            (What::Question(kind), reply) => self.judge(now, index, open, kind, status, reply, body),
            (What::News(_) | What::Retry(..), Reply::UnknownMethod(_)) => {
                if let Some(player) = self.players.get_mut(usize::from(index)) {
                    player.style.refused(open.what.kind(), open.dialect, open.variant);
                }
                if !self.ask_otherwise(now, index, open, false) && matches!(open.what, What::Retry(..)) {
                    self.announced(now, index);
                }
            }
            (What::Retry(..), _) => self.announced(now, index),
            (What::Check, _) => self.checked(now, index, check::judged(status, body, open.at.ms, now)),
            (What::News(_), reply) => {
                if let Some(player) = self.players.get_mut(usize::from(index)) {
                    if matches!(reply, Reply::Message(_)) {
                        player.style.remember(open.what.kind(), open.variant);
                    }
                    if now.ms.saturating_sub(open.at.ms) < HEED_MS {
                        player.line.misses = 0;
                    }
                }
            }
            _ => {}
        }
        self.pump(now, index);
    }

    /// Whether the match of a player still waits for the answer to a call that is over: it counts, on whatever connection
    /// it comes.
    pub fn awaits(&self, player: u16, call: u32) -> bool {
        let Some(player) = self.players.get(usize::from(player)).filter(|player| !player.line.has_left()) else {
            return false;
        };
        let table = |seating: Seating| self.tables.get(usize::from(seating.slot))?.as_ref();
        let hears = |seating: Seating| table(seating).is_some_and(|table| table.play.hears(seating.seat));
        player.line.asked.contains(&call) && player.seating.is_some_and(hears)
    }

    /// A reply to a call that is over. While its match waits, what answers the question counts; nothing else does.
    #[inline(never)]
    fn late_reply(&mut self, now: Now, index: u16, call: u32, status: u16, body: &[u8]) {
        if !self.awaits(index, call) {
            return;
        }
        self.saw(now, index);
        let Some(kind) = self.at_table(index).map(|(table, _)| table.question()) else { return };
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        let mut text = [0; TEXT_BYTES];
        let dialect = player.style.dialect;
        if let Reply::Message(message) = reply::unwrap(body, &mut text, dialect, call, &mut |_, _| {})
            && is_answer(kind, message)
        {
            player.breaker.succeeded();
            note_wrapping(player, (dialect, call), status, body);
            self.hear(now, index, kind, message);
        }
    }

    /// Puts a call that was not understood in other words: the next method name, or, where `any_dialect`, the next
    /// dialect. False where there are none left.
    fn ask_otherwise(&mut self, now: Now, index: u16, open: Open, any_dialect: bool) -> bool {
        let Some(player) = self.players.get_mut(usize::from(index)) else { return false };
        let kind = open.what.kind();
        let next = if !any_dialect && kind.method(open.dialect, open.variant + 1).is_some() {
            Some(Open { variant: open.variant + 1, ..open })
        } else if matches!(open.what, What::Question(_)) && !player.style.confirmed && open.tried < 5 {
            Some(Open { dialect: open.dialect.next(), variant: 0, tried: open.tried + 1, ..open })
        } else {
            None
        };
        let Some(next) = next else { return false };
        self.call_anew(now, index, next);
        true
    }

    /// Judges the reply to a question.
    #[allow(clippy::too_many_arguments, reason = "one reply has this many sides")]
    fn judge(&mut self, now: Now, index: u16, open: Open, kind: Kind, status: u16, reply: Reply<'_>, body: &[u8]) {
        // It answered, be it nonsense: the player is there.
        if let Some(player) = self.players.get_mut(usize::from(index)) {
            player.breaker.succeeded();
        }
        let (message, otherwise) = match reply {
            Reply::Message(message) => (is_answer(kind, message).then_some(message), true),
            Reply::UnknownMethod(_) => (None, false),
            Reply::Error(_) | Reply::Garbage => (None, true),
        };
        if let Some(message) = message {
            let confirmed = self.players.get_mut(usize::from(index)).map(|player| {
                let wandered = player.style.dialect != open.dialect || open.variant != 0;
                if wandered && player.style.variant(kind) != open.variant {
                    player.compliance.note(Rule::Dialect, open.dialect.name());
                }
                player.style.confirm(kind, open.dialect, open.variant);
                if let Some(rule) = open.blame {
                    player.compliance.acquit(rule);
                }
                note_wrapping(player, (open.dialect, open.id), status, body);
            });
            if confirmed.is_some() {
                self.hear(now, index, kind, message);
            }
            return;
        }
        let has_failed = !(200..300).contains(&status);
        let rule = match reply {
            Reply::Error(_) | Reply::UnknownMethod(_) => Rule::RpcError,
            // What a web framework says of an exception, a path or a body. Its words are no try at an answer.
            Reply::Garbage | Reply::Message(_) if has_failed => Rule::HttpStatus,
            Reply::Garbage => Rule::NotJson,
            Reply::Message(_) if kind == Kind::GameInvitation => Rule::AcceptForm,
            Reply::Message(_) if kind == Kind::ChooseParity => Rule::ChoiceForm,
            Reply::Message(_) => Rule::NoMove,
        };
        // In other words it may be understood. If not, the first answer is the one to be mended: it was in its own dialect.
        let blame = open.blame.unwrap_or(rule);
        if let Some(player) = self.players.get_mut(usize::from(index)).filter(|_| open.blame.is_none()) {
            let body = core::str::from_utf8(body).unwrap_or("not UTF-8");
            match reply {
                Reply::Error(error) | Reply::UnknownMethod(error) => {
                    player.compliance.suspect(rule, reply::Shown(error));
                }
                _ if rule == Rule::HttpStatus => player.compliance.suspect(rule, format_args!("{status} {body}")),
                Reply::Message(message) => player.compliance.suspect(rule, message.raw()),
                Reply::Garbage => player.compliance.suspect(rule, body),
            }
        }
        if self.ask_otherwise(now, index, Open { blame: Some(blame), ..open }, otherwise) {
            return;
        }
        // Some acknowledge the call and send the answer as a message of their own: it has until the deadline.
        if let Reply::Message(message) = reply
            && reply::is_receipt(message)
            && !has_failed
        {
            if let Some(player) = self.players.get_mut(usize::from(index)) {
                player.compliance.acquit(blame);
            }
            return;
        }
        if let Some(player) = self.players.get_mut(usize::from(index)) {
            player.compliance.convict(blame);
        }
        self.fail_question(now, index, kind, Fault::Unusable(Broken::Field, blame.advice()));
    }

    /// Takes an answer, be it the reply to our call or a message of the player's own. What became of it, or `None` where
    /// the player sits at no table.
    pub(super) fn hear(&mut self, now: Now, index: u16, kind: Kind, message: Value<'_>) -> Option<Heard> {
        let player = self.players.get(usize::from(index)).filter(|player| !player.line.has_left())?;
        let seating = player.seating?;
        let table = self.tables.get(usize::from(seating.slot))?.as_ref()?;
        let (match_id, id) = (table.id, player.id());
        let shown = |value: &dyn core::fmt::Display| {
            let mut text = String::<96>::new();
            let _ = core::fmt::write(&mut text, format_args!("{value}"));
            text
        };
        let (player_id, conversation) = (shown(&id), shown(&Conversation::Seat(match_id, seating.seat)));
        let expected = reply::Expected {
            message_type: match kind {
                Kind::GameInvitation => "GAME_JOIN_ACK",
                Kind::ChooseParity => "CHOOSE_PARITY_RESPONSE",
                _ => "MOVE_RESPONSE",
            },
            player_id: &player_id,
            sender: &shown(&format_args!("player:{id}")),
            token: &shown(&self.token(id, player.issue)),
            match_id: &shown(&match_id),
            conversation_id: &conversation,
        };
        let player = self.players.get_mut(usize::from(index))?;
        player.state = AgentState::Active;
        let mut broken = None;
        let mut note = |rule: Rule, example: &str| {
            player.compliance.note(rule, example);
            broken = broken.or(breach(rule, example));
        };
        reply::check(message, &expected, &mut note);
        let accepts = reply::acceptance(message, &mut |rule, example| {
            if kind == Kind::GameInvitation {
                note(rule, example);
            }
        });
        let choice = match kind {
            Kind::ChooseParity => reply::choice(message, &mut note),
            _ => reply::game_move(message),
        };
        let refused = if self.config.mode == Mode::Strict { broken } else { None };
        let patience = self.patience_at(index);
        let play = &mut self.tables.get_mut(usize::from(seating.slot))?.as_mut()?.play;
        let took = play.asked_at(seating.seat, patience).map(|asked| now.ms.saturating_sub(asked));
        let heard = match (refused, kind, choice) {
            _ if !play.hears(seating.seat) => Heard::Duplicate,
            (Some((code, rule)), ..) => {
                let broken = match code {
                    Code::InvalidTimestamp => Broken::Timestamp,
                    Code::AuthTokenInvalid => Broken::Token,
                    Code::InvalidParityChoice => Broken::Move,
                    _ => Broken::Field,
                };
                self.settle(now, index, kind);
                self.fail_question(now, index, kind, Fault::Unusable(broken, rule));
                return Some(Heard::Refused(Illegal(rule)));
            }
            (_, Kind::GameInvitation, _) => match accepts {
                Some(false) => play.decline(seating.seat),
                _ => play.join(seating.seat),
            },
            (_, _, Some(choice)) => self.play_at(now, index, seating, choice),
            _ => return None,
        };
        match heard {
            Heard::Taken => {
                let taken = self.game().rules().question == Question::Move && kind == Kind::MoveRequest;
                if let Some(player) = self.players.get_mut(usize::from(index)) {
                    if taken {
                        player.line.tell(Notice::MoveTaken(match_id.round));
                    }
                    player.breaker.succeeded();
                    // How long it thinks about a move. To join takes no thought.
                    if kind != Kind::GameInvitation {
                        player.latency.note(took.unwrap_or(0));
                    }
                    self.settle(now, index, kind);
                }
                self.note(now, Some(id), Some(match_id), Happening::Answered(kind));
                self.proceed(now, seating.slot);
            }
            Heard::Refused(illegal) => {
                if let (Some(player), Some(choice)) = (self.players.get_mut(usize::from(index)), choice) {
                    player.compliance.note(Rule::IllegalMove, choice.raw());
                }
                self.settle(now, index, kind);
                self.fail_question(now, index, kind, Fault::Unusable(Broken::Move, illegal.0));
            }
            Heard::Duplicate => {
                if let Some(player) = self.players.get_mut(usize::from(index)) {
                    player.compliance.note(Rule::Duplicate, kind.message_type());
                }
                self.note(now, Some(id), Some(match_id), Happening::Duplicate);
            }
        }
        self.pump(now, index);
        Some(heard)
    }

    /// The question on a line was answered by other means: the call stays open, briefly, so that the player can finish
    /// it, but its reply no longer matters.
    fn settle(&mut self, now: Now, index: u16, kind: Kind) {
        let Some(player) = self.players.get_mut(usize::from(index)) else { return };
        let limit = player.line.heeds_until(now.ms);
        if let Some(open) = player.line.open.as_mut()
            && matches!(open.what, What::Question(_) | What::Retry(..))
        {
            open.what = What::Settled(kind);
            open.deadline = open.deadline.min(limit);
        }
    }
}

/// Has what the wrapping of an answer broke counted. That is done once it is known to be one; not inlined, so that the
/// buffer is off the stack when the answer is heard.
#[inline(never)]
fn note_wrapping(player: &mut Player, (dialect, call): (Dialect, u32), status: u16, body: &[u8]) {
    if status != 200 {
        player.compliance.note(Rule::HttpStatus, status);
    }
    let mut text = [0; TEXT_BYTES];
    let mut note = |rule: Rule, example: &str| player.compliance.note(rule, example);
    reply::unwrap(body, &mut text, dialect, call, &mut note);
}

/// Whether a message answers a question, be it wrongly.
fn is_answer(kind: Kind, message: Value<'_>) -> bool {
    match kind {
        Kind::GameInvitation => reply::acceptance(message, &mut |_, _| {}).is_some(),
        Kind::ChooseParity => reply::choice(message, &mut |_, _| {}).is_some(),
        _ => reply::game_move(message).is_some(),
    }
}

impl What {
    /// Which message it is.
    pub fn kind(&self) -> Kind {
        match self {
            What::News(Notice::Round(_)) => Kind::RoundAnnouncement,
            What::News(Notice::MoveTaken(_)) => Kind::MoveValidation,
            What::News(Notice::GameOver(_)) => Kind::GameOver,
            What::News(Notice::Standings(_)) => Kind::Standings,
            What::News(Notice::RoundCompleted(_)) => Kind::RoundCompleted,
            What::News(Notice::LeagueCompleted) => Kind::LeagueCompleted,
            What::Question(kind) | What::Settled(kind) => *kind,
            What::Retry(..) => Kind::GameError,
            What::Check => Kind::Ping,
        }
    }
}
