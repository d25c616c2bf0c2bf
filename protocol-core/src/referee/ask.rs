//! One question to one player, from asking to an answer or a loss: its clock, and the announced retries where its policy has
//! them.
//!
//! ```text
//! Owed ──sent──▶ Asked ──answered──▶ Idle
//!   ▲              │ silent, invalid              │ unreachable
//!   │              ▼                              ▼
//!   └─announced─ Announce ◀──────rested─────── Resting          one too many: Lost
//! ```
//!
//! A retry lasts its step (1, 2, 4 × the base, and up to a tenth more), or until the first deadline where that is later:
//! who answers wrongly after two seconds of thirty keeps the other twenty-eight.

use core::num::NonZero;

use super::clock::{Clock, Since};

/// The most retries after the first attempt.
pub const MAX_RETRIES: u8 = 3;

/// What went wrong with an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No answer in time.
    Silent,
    /// The connection was refused or broke.
    Unreachable,
    /// The answer could not be used: the words say which rule it broke.
    Unusable(Broken, &'static str),
    /// The player gave up.
    Resigned,
}

/// Which kind of rule an answer broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The move is not one the game allows.
    Move,
    /// A required field is missing, or the answer is not one at all.
    Field,
    /// The timestamp is not UTC.
    Timestamp,
    /// The token is not the player's.
    Token,
}

/// Where a question stands. What has a time has it on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is asked.
    Idle,
    /// Waits for the link to be free.
    Owed,
    /// The same, once more: the answer is due then.
    OwedAgain,
    /// Is with the player until then.
    Asked,
    /// The player could not be reached; another try then.
    Resting,
    /// The player is being told what went wrong, until then at the latest.
    Announce,
    /// Given up.
    Lost,
}

/// One question to one player, and what is remembered of those before: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    state: State,
    retries: u8,
    /// Turns in a row that ran out.
    missed: u8,
    fault: Fault,
    clock: Clock,
    /// When the question was first put; while the clock stands, less the moment since when it does.
    asked: Since,
    /// While its player is gone and has grace: until when.
    grace: Option<NonZero<Since>>,
}

const _: () = assert!(size_of::<usize>() > 4 || size_of::<Ask>() == 32);

/// How an answer may be had after all.
#[derive(Clone, Copy)]
pub struct Retries<F> {
    /// So many times it is asked again.
    pub times: u8,
    /// How long each answer, from the first question on, may take at least.
    pub patience: Since,
    /// How long retry number so much lasts.
    pub step: F,
}

/// What the link has to do for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing now.
    Nothing,
    /// Put the question.
    Question,
    /// Tell the player what went wrong and that this retry follows.
    Announcement {
        /// Which retry, from 1.
        retry: u8,
        /// What went wrong.
        fault: Fault,
    },
}

impl Ask {
    /// Nothing is asked.
    pub const IDLE: Ask = Ask {
        state: State::Idle,
        retries: 0,
        missed: 0,
        fault: Fault::Silent,
        clock: Clock::Off,
        asked: 0,
        grace: None,
    };

    /// Wants the question put.
    pub fn open(&mut self) {
        *self = Ask { state: State::Owed, missed: self.missed, grace: self.grace, ..Ask::IDLE };
    }

    /// Whether nothing is asked.
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// Whether the player has lost by it.
    pub fn is_lost(&self) -> bool {
        self.state == State::Lost
    }

    /// Whether an answer would be heard now. An answer that crosses a retry counts: it is only early.
    pub fn hears(&self) -> bool {
        !matches!(self.state, State::Idle | State::Lost | State::Owed)
    }

    /// Whether the clock runs of what is asked again: nothing may come before it.
    pub fn is_retry(&self) -> bool {
        (self.retries > 0 || self.state == State::OwedAgain) && !self.is_idle() && !self.is_lost()
    }

    /// What the link has to do.
    pub fn need(&self) -> Need {
        match self.state {
            State::Owed | State::OwedAgain => Need::Question,
            State::Announce => Need::Announcement { retry: self.retries, fault: self.fault },
            _ => Need::Nothing,
        }
    }

    /// When it next needs the clock.
    pub fn deadline(&self) -> Option<Since> {
        let of_clock = match self.state {
            State::Asked | State::Resting | State::Announce => self.clock.deadline(),
            _ => None,
        };
        of_clock.into_iter().chain(self.grace.map(NonZero::get)).min()
    }

    /// How long the player has left for what it is asked, be its clock standing.
    pub fn left(&self, now: Since) -> Option<Since> {
        self.clock.left(now).filter(|_| self.hears())
    }

    /// Whether the player was gone for too long.
    pub fn is_gone(&self, now: Since) -> bool {
        self.grace.is_some_and(|until| until.get() <= now)
    }

    /// How long the player may still be gone.
    pub fn grace_left(&self, now: Since) -> Option<Since> {
        self.grace.map(|until| until.get().saturating_sub(now))
    }

    /// Whether the player is gone and its clock stands still for it.
    pub fn is_missing(&self) -> bool {
        self.grace.is_some()
    }

    /// The player is gone: its clock stands still, for as long as its grace lasts.
    pub fn leave(&mut self, now: Since, grace: Since) {
        if self.grace.is_none() {
            self.grace = NonZero::new(now.saturating_add(grace).max(1));
            self.clock.stop(now);
            self.asked = self.asked.wrapping_sub(now);
        }
    }

    /// The player is back: its clock goes on with what was left.
    pub fn come_back(&mut self, now: Since) {
        if self.grace.take().is_some() {
            self.clock.go_on(now);
            self.asked = self.asked.wrapping_add(now);
        }
    }

    /// The clock of a player that is there stands still, or runs.
    pub fn keep_clock(&mut self, stand: bool, now: Since) {
        match stand {
            _ if self.is_missing() => {}
            true => self.clock.stop(now),
            false => self.clock.go_on(now),
        }
    }

    /// The last fault, for the reason of a loss.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The question is on its way; the answer has `timeout` from now, or from when the player is back.
    pub fn sent(&mut self, now: Since, timeout: Since) {
        match self.state {
            State::Owed => {
                self.asked = if self.is_missing() { 0 } else { now };
                self.wait(State::Asked, now, timeout);
            }
            State::OwedAgain => self.state = State::Asked,
            _ => {}
        }
    }

    /// When the question was first put.
    pub fn asked_at(&self) -> Option<Since> {
        (self.hears() && !self.is_missing()).then_some(self.asked)
    }

    /// The announcement has arrived, or cannot. The time for the answer follows that for the announcement, whenever that was
    /// made, and is not over before that of the first question is.
    pub fn announced(&mut self, retries: Retries<impl Fn(u8) -> Since>) {
        if self.state == State::Announce {
            let step = (retries.step)(self.retries);
            let (rest, first) = (step.saturating_sub(told_within(step)), self.asked.wrapping_add(retries.patience));
            match &mut self.clock {
                Clock::Off => {}
                Clock::Runs(until) => *until = until.saturating_add(rest).max(first),
                // What is left of the first time; nothing where that was over before the clock stood.
                Clock::Stands(left) => {
                    *left = left.saturating_add(rest).max(first.cast_signed().max(0).cast_unsigned())
                }
            }
            self.state = State::OwedAgain;
        }
    }

    /// What came was no answer, and nothing is wrong with it: the question is put again, and its clock runs on.
    pub fn once_more(&mut self) {
        if self.state == State::Asked {
            self.state = State::OwedAgain;
        }
    }

    /// The answer is in.
    pub fn answered(&mut self) {
        (self.state, self.clock) = (State::Idle, Clock::Off);
    }

    /// The player made its move itself.
    pub fn moved(&mut self) {
        self.missed = 0;
        self.answered();
    }

    /// A turn ran out. How many did in a row.
    pub fn miss(&mut self) -> u8 {
        self.missed = self.missed.saturating_add(1);
        self.missed
    }

    /// Gives up at once.
    pub fn lose(&mut self, fault: Fault) {
        (self.state, self.clock, self.grace) = (State::Lost, Clock::Off, None);
        self.fault = fault;
    }

    /// An attempt failed.
    pub fn failed(&mut self, now: Since, fault: Fault, retries: Retries<impl Fn(u8) -> Since>) {
        if !self.hears() {
            return;
        }
        self.fault = fault;
        if self.retries >= retries.times {
            return self.lose(fault);
        }
        self.retries = self.retries.saturating_add(1);
        match fault {
            Fault::Unreachable => self.wait(State::Resting, now, (retries.step)(self.retries)),
            _ => self.announce(now, (retries.step)(self.retries)),
        }
    }

    /// Whether the time for the answer is over.
    pub fn is_late(&self, now: Since) -> bool {
        self.state == State::Asked && self.clock.is_over(now)
    }

    /// The clock has moved. True if an attempt has failed for it, by `fault`.
    pub fn tick(&mut self, now: Since, fault: Fault, retries: Retries<impl Fn(u8) -> Since>) -> bool {
        match self.state {
            _ if !self.clock.is_over(now) => {}
            State::Asked => {
                self.failed(now, fault, retries);
                return true;
            }
            State::Resting => self.announce(now, (retries.step)(self.retries)),
            State::Announce => self.announced(retries),
            _ => {}
        }
        false
    }

    fn announce(&mut self, now: Since, step: Since) {
        self.wait(State::Announce, now, told_within(step));
    }

    fn wait(&mut self, state: State, now: Since, left: Since) {
        let clock = if self.is_missing() { Clock::Stands(left) } else { Clock::Runs(now.saturating_add(left)) };
        (self.state, self.clock) = (state, clock);
    }
}

/// Half of a retry may go by in telling the player; the rest is for its answer.
fn told_within(step: Since) -> Since {
    step / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(retry: u8) -> Since {
        1000 << (retry - 1)
    }

    fn retries(patience: Since) -> Retries<impl Fn(u8) -> Since> {
        Retries { times: 3, patience, step }
    }

    #[test]
    fn a_late_answer_is_asked_again_three_times_then_loses() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 30_000);
        let mut now = 30_000;
        for retry in 1..=3 {
            assert_eq!(ask.deadline(), Some(now));
            ask.tick(now, Fault::Silent, retries(30_000));
            assert_eq!(ask.need(), Need::Announcement { retry, fault: Fault::Silent });
            ask.announced(retries(30_000));
            assert_eq!(ask.need(), Need::Question);
            ask.sent(now, 30_000);
            now += step(retry);
        }
        ask.tick(now, Fault::Silent, retries(30_000));
        assert!(ask.is_lost());
        assert_eq!(now, 37_000);
    }

    #[test]
    fn a_wrong_answer_keeps_the_rest_of_its_time() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 30_000);
        ask.failed(2_000, Fault::Unusable(Broken::Move, "no"), retries(30_000));
        ask.announced(retries(30_000));
        ask.sent(2_100, 30_000);
        assert_eq!(ask.deadline(), Some(30_000));
    }

    #[test]
    fn a_refused_connection_rests_before_the_next_try() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 5_000);
        ask.failed(1, Fault::Unreachable, retries(5_000));
        assert_eq!(ask.need(), Need::Nothing);
        assert_eq!(ask.deadline(), Some(1_001));
        ask.tick(1_001, Fault::Silent, retries(5_000));
        assert_eq!(ask.need(), Need::Announcement { retry: 1, fault: Fault::Unreachable });
    }

    #[test]
    fn an_announcement_that_hangs_costs_half_its_step() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 100);
        ask.tick(100, Fault::Silent, retries(100));
        assert_eq!(ask.deadline(), Some(600));
        ask.tick(600, Fault::Silent, retries(100));
        assert_eq!(ask.need(), Need::Question);
        ask.sent(600, 100);
        assert_eq!(ask.deadline(), Some(1_100));
    }

    #[test]
    fn nothing_is_heard_before_it_was_asked() {
        let mut ask = Ask::IDLE;
        assert!(!ask.hears());
        ask.open();
        assert!(!ask.hears());
        ask.sent(0, 10);
        assert!(ask.hears());
    }

    #[test]
    fn while_its_player_is_gone_the_clock_stands_still_and_goes_on_when_it_is_back() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(1_000, 60_000);
        ask.leave(11_000, 30_000);
        assert_eq!((ask.deadline(), ask.left(20_000), ask.is_late(90_000)), (Some(41_000), Some(50_000), false));
        assert_eq!(ask.asked_at(), None);
        ask.come_back(21_000);
        assert_eq!((ask.deadline(), ask.left(22_000), ask.asked_at()), (Some(71_000), Some(49_000), Some(11_000)));
    }

    #[test]
    fn who_is_asked_while_it_is_gone_has_all_its_time_when_it_is_back() {
        let mut ask = Ask::IDLE;
        ask.leave(5_000, 30_000);
        ask.open();
        ask.sent(6_000, 60_000);
        assert_eq!((ask.deadline(), [34_999, 35_000].map(|now| ask.is_gone(now))), (Some(35_000), [false, true]));
        ask.come_back(8_000);
        assert_eq!((ask.deadline(), ask.asked_at()), (Some(68_000), Some(8_000)));
    }

    #[test]
    fn a_wrong_answer_keeps_the_rest_of_its_time_though_the_clock_stands() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 30_000);
        ask.failed(2_000, Fault::Unusable(Broken::Move, "no"), retries(30_000));
        ask.leave(2_200, 60_000);
        ask.announced(retries(30_000));
        assert_eq!(ask.left(50_000), Some(27_800));
        ask.come_back(12_200);
        ask.sent(12_200, 30_000);
        assert_eq!(ask.deadline(), Some(40_000), "ten seconds later than without");
    }

    #[test]
    fn a_retry_beyond_the_first_deadline_has_its_step_though_the_clock_stands() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 100);
        ask.tick(100, Fault::Silent, retries(100));
        ask.leave(200, 60_000);
        ask.announced(retries(100));
        assert_eq!(ask.left(200), Some(900), "half a second less the tenth that is gone, and the other half");
    }
}
