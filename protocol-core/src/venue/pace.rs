//! A pace that people can follow. The box holds back its next question: that of a table until the turn before it has lasted
//! long enough, that of a round until there was a break, or until the owner calls for it. Whoever is asked has all its time
//! from then on. Games of the ladder go as fast as their players.
//!
//! Nothing of this outlives a restart: a break that was cut short is counted down anew.

use super::rounds::{Life, Table};
use super::settings::{Pace, Pacing};
use super::{Refusal, Stage, Venue};
use crate::games::{Game, Order, Rules, Seat};
use crate::ids::MatchId;
use crate::referee::{Need, Phase, Policy};
use crate::time::{Millis, Now};

/// How the questions of a table are held back: 10 bytes of every match slot. Times are in milliseconds since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// Until then; 0 where nothing is.
    until: u32,
    /// When the questions of the present turn were put.
    asked: u32,
    /// Which turn that is: 0 before the first, [`LAST`] behind the last.
    turn: u16,
}

/// Stands for a game that is over, whose result is held back.
const LAST: u16 = u16::MAX;

/// The least a turn lasts. What moves by the ticks of a clock is watched as a whole: its ticks share the time of a match.
fn least(rules: &Rules, pacing: Pacing) -> Millis {
    match rules.has_ticks() {
        true => pacing.match_ms.checked_div(rules.turns.into()).unwrap_or(pacing.match_ms).min(pacing.turn_ms),
        false => pacing.turn_ms,
    }
}

impl Table {
    /// Holds back what follows, if a turn has just ended or the game has.
    pub(super) fn keep_pace(&mut self, now: Millis, pacing: Pacing) {
        let turn = match self.play.phase() {
            Phase::WaitingForPlayers => return,
            Phase::CollectingChoices | Phase::Voting => self.play.game().turn(),
            Phase::Finished => LAST,
        };
        if self.id.is_outside() || turn == self.held.turn {
            return;
        }
        let is_first = core::mem::replace(&mut self.held.turn, turn) == 0;
        // A match that ends because somebody is not there is nothing to watch.
        let is_forfeited = self.play.outcome().is_some_and(|outcome| !outcome.forfeits.is_empty());
        if pacing.pace == Pace::Fast || is_forfeited {
            self.held.until = 0;
            return;
        }
        let rules = self.play.game().rules();
        let least = least(rules, pacing);
        let mut until = match (is_first, rules.order) {
            // The turns it will have fill the time of a match from behind, so that its result is not there at once.
            (true, Order::Together) => pacing.match_ms.saturating_sub(least.saturating_mul(rules.turns.into())),
            (true, Order::InTurn) => 0,
            (false, _) => Millis::from(self.held.asked).saturating_add(least),
        };
        if turn == LAST {
            until = until.max(pacing.match_ms);
        }
        self.held.until =
            if until > self.play.elapsed(now).into() { u32::try_from(until).unwrap_or(u32::MAX) } else { 0 };
    }

    /// Whether its next question, or its result, is held back.
    pub(crate) fn is_held(&self) -> bool {
        self.held.until != 0
    }

    /// What was held back goes on, if its time has come.
    pub(super) fn let_on(&mut self, now: Millis) {
        if self.play.elapsed(now) >= self.held.until {
            self.held.until = 0;
        }
    }

    /// What the link to a seat has to do now.
    pub(crate) fn need(&self, seat: Seat) -> Need {
        match self.play.need(seat) {
            _ if self.life == Life::Countdown => Need::Nothing,
            _ if self.referee().is_some() => Need::Nothing,
            Need::Question if self.is_held() && !self.play.is_retrying(seat) => Need::Nothing,
            need => need,
        }
    }

    /// The question to a seat is on its way.
    pub(crate) fn ask(&mut self, seat: Seat, now: Millis, policy: &Policy) {
        if self.play.phase() == Phase::CollectingChoices && !self.play.is_retrying(seat) {
            self.held.asked = self.play.elapsed(now).max(self.held.until);
        }
        self.play.sent(seat, now, policy);
    }

    /// When a seat next needs the clock.
    pub(super) fn deadline(&self, seat: Seat) -> Option<Millis> {
        if self.life == Life::Countdown || self.referee().is_some() {
            return Some(self.play.began());
        }
        let waits = self.play.phase() == Phase::Finished || self.play.need(seat) == Need::Question;
        let held = (self.is_held() && waits).then(|| self.play.began().saturating_add(self.held.until.into()));
        self.play.deadline(seat).into_iter().chain(held).min()
    }
}

impl Venue<'_> {
    /// A round is over, or the league begins: a break follows.
    pub(super) fn take_a_break(&mut self, now: Now) {
        self.break_since = Some(now.ms).filter(|_| self.config.pacing.pace != Pace::Fast);
    }

    /// Whether a round is over and the next one could begin.
    fn is_between_rounds(&self) -> bool {
        matches!(self.stage, Stage::Running(_)) && self.round_is_closed && !self.paused
    }

    /// When the break ends by itself.
    pub(super) fn break_ends(&self) -> Option<Millis> {
        let Pacing { pace, break_ms, .. } = self.config.pacing;
        let since = self.break_since.filter(|_| pace == Pace::Watch && self.is_between_rounds())?;
        Some(since.saturating_add(break_ms))
    }

    /// How long it is until the next round begins, while that is known.
    pub fn next_round_in(&self, now: Millis) -> Option<Millis> {
        self.break_ends().map(|at| at.saturating_sub(now))
    }

    /// Whether the next round waits for the owner to call for it.
    pub fn waits_for_owner(&self) -> bool {
        self.config.pacing.pace == Pace::Step && self.break_since.is_some() && self.is_between_rounds()
    }

    /// Ends the break if its time has come.
    pub(super) fn end_break(&mut self, now: Now) {
        if self.break_ends().is_some_and(|at| at <= now.ms) {
            self.break_since = None;
        }
    }

    /// The owner calls for the next round.
    pub(super) fn may_go_on(&self) -> Result<(), Refusal> {
        match self.stage {
            Stage::Running(_) if self.paused => Err(Refusal("the league is paused; resume goes on")),
            Stage::Running(_) if self.break_since.is_some() && self.round_is_closed => Ok(()),
            Stage::Running(_) => {
                Err(Refusal("the round is still being played; the next one can begin when it is over"))
            }
            Stage::Waiting | Stage::Completed => Err(Refusal("there is no running league")),
        }
    }

    /// A match that is over, and whose result is held back, has one now.
    pub(super) fn let_result_out(&mut self, now: Now, id: MatchId) {
        let is_held = |table: &Table| table.id == id && table.is_held() && table.play.phase() == Phase::Finished;
        let mut tables = (0..).zip(self.memory.tables.iter_mut());
        let found = tables.find_map(|(slot, table)| Some((slot, table.as_mut().filter(|table| is_held(table))?)));
        if let Some((slot, table)) = found {
            table.held.until = 0;
            self.proceed(now, slot);
        }
    }

    /// The pace is another one. What was held back for the old one goes on; a break begins anew.
    pub(super) fn change_pace(&mut self, now: Now) {
        if self.break_since.is_some() {
            self.take_a_break(now);
        }
        for slot in self.slots() {
            let table = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut);
            if let Some(table) = table.filter(|table| table.is_held()) {
                table.held.until = 0;
                self.proceed(now, slot);
            }
        }
    }
}
