//! One question to one player, from asking to an answer or a loss: the deadline, and the three announced retries.
//!
//! ```text
//! Owed ──sent──▶ Asked ──answered──▶ Idle
//!   ▲              │ silent, invalid              │ unreachable
//!   │              ▼                              ▼
//!   └─announced─ Announce ◀──────rested─────── Resting          the fourth failure: Lost
//! ```
//!
//! A retry lasts its step (1, 2, 4 × the base, and up to a tenth more), or until the first deadline where that is later:
//! who answers wrongly after two seconds of thirty keeps the other twenty-eight.

use crate::time::Millis;

/// Retries after the first attempt.
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

/// Where a question stands. What has a time has it in [`Ask::until`], once for all of them: every match slot of the board
/// has room for four questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is asked.
    Idle,
    /// Waits for the link to be free.
    Owed,
    /// The same, for a retry, whose answer is due then.
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

/// One question to one player: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    state: State,
    retries: u8,
    fault: Fault,
    until: Millis,
    first_deadline: Millis,
}

const _: () = assert!(size_of::<usize>() > 4 || size_of::<Ask>() == 32);

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
    pub const IDLE: Ask = Ask { state: State::Idle, retries: 0, fault: Fault::Silent, until: 0, first_deadline: 0 };

    /// Wants the question put.
    pub fn open(&mut self) {
        *self = Ask { state: State::Owed, ..Ask::IDLE };
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

    /// Whether the clock of a retry runs: nothing may come before it.
    pub fn is_retry(&self) -> bool {
        self.retries > 0 && !self.is_idle() && !self.is_lost()
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
    pub fn deadline(&self) -> Option<Millis> {
        match self.state {
            State::Asked | State::Resting | State::Announce => Some(self.until),
            _ => None,
        }
    }

    /// The last fault, for the reason of a loss.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The question is on its way; the answer has `timeout` from now.
    pub fn sent(&mut self, now: Millis, timeout: Millis) {
        match self.state {
            State::Owed => {
                self.first_deadline = now.saturating_add(timeout);
                self.wait(State::Asked, self.first_deadline);
            }
            State::OwedAgain => self.state = State::Asked,
            _ => {}
        }
    }

    /// When the question was first put, with this `timeout`.
    pub fn asked_at(&self, timeout: Millis) -> Option<Millis> {
        self.first_deadline.checked_sub(timeout)
    }

    /// The announcement has arrived, or cannot. `step` gives the length of a retry.
    pub fn announced(&mut self, step: impl Fn(u8) -> Millis) {
        if self.state == State::Announce {
            let step = step(self.retries);
            let end = self.until.saturating_add(step - told_within(step)).max(self.first_deadline);
            self.wait(State::OwedAgain, end);
        }
    }

    /// The answer is in.
    pub fn answered(&mut self) {
        self.state = State::Idle;
    }

    /// Gives up at once.
    pub fn lose(&mut self, fault: Fault) {
        self.state = State::Lost;
        self.fault = fault;
    }

    /// An attempt failed. `step` gives the length of a retry.
    pub fn failed(&mut self, now: Millis, fault: Fault, step: impl Fn(u8) -> Millis) {
        if !self.hears() {
            return;
        }
        self.fault = fault;
        if self.retries >= MAX_RETRIES {
            self.state = State::Lost;
            return;
        }
        self.retries += 1;
        match fault {
            Fault::Unreachable => self.wait(State::Resting, now.saturating_add(step(self.retries))),
            _ => self.announce(now, step),
        }
    }

    /// The clock has moved. True if an attempt has failed for it, by `fault`.
    pub fn tick(&mut self, now: Millis, fault: Fault, step: impl Fn(u8) -> Millis) -> bool {
        match self.state {
            _ if self.until > now => {}
            State::Asked => {
                self.failed(now, fault, step);
                return true;
            }
            State::Resting => self.announce(now, step),
            State::Announce => self.announced(step),
            _ => {}
        }
        false
    }

    fn announce(&mut self, now: Millis, step: impl Fn(u8) -> Millis) {
        self.wait(State::Announce, now.saturating_add(told_within(step(self.retries))));
    }

    fn wait(&mut self, state: State, until: Millis) {
        (self.state, self.until) = (state, until);
    }
}

/// Half of a retry may go by in telling the player; the rest is for its answer.
fn told_within(step: Millis) -> Millis {
    step / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(retry: u8) -> Millis {
        1000 << (retry - 1)
    }

    #[test]
    fn a_late_answer_is_asked_again_three_times_then_loses() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 30_000);
        let mut now = 30_000;
        for retry in 1..=3 {
            assert_eq!(ask.deadline(), Some(now));
            ask.tick(now, Fault::Silent, step);
            assert_eq!(ask.need(), Need::Announcement { retry, fault: Fault::Silent });
            ask.announced(step);
            assert_eq!(ask.need(), Need::Question);
            ask.sent(now, 30_000);
            now += step(retry);
        }
        ask.tick(now, Fault::Silent, step);
        assert!(ask.is_lost());
        assert_eq!(now, 37_000);
    }

    #[test]
    fn a_wrong_answer_keeps_the_rest_of_its_time() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 30_000);
        ask.failed(2_000, Fault::Unusable(Broken::Move, "no"), step);
        ask.announced(step);
        ask.sent(2_100, 30_000);
        assert_eq!(ask.deadline(), Some(30_000));
    }

    #[test]
    fn a_refused_connection_rests_before_the_next_try() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 5_000);
        ask.failed(1, Fault::Unreachable, step);
        assert_eq!(ask.need(), Need::Nothing);
        assert_eq!(ask.deadline(), Some(1_001));
        ask.tick(1_001, Fault::Silent, step);
        assert_eq!(ask.need(), Need::Announcement { retry: 1, fault: Fault::Unreachable });
    }

    #[test]
    fn an_announcement_that_hangs_costs_half_its_step() {
        let mut ask = Ask::IDLE;
        ask.open();
        ask.sent(0, 100);
        ask.tick(100, Fault::Silent, step);
        assert_eq!(ask.deadline(), Some(600));
        ask.tick(600, Fault::Silent, step);
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
}
