//! The circuit breaker of one player: after five failures in a row its matches end at once, so that one dead laptop
//! does not slow the class. A question with all its tries is one, news is none. After a minute one trial is allowed.

use crate::time::Millis;

/// Failures in a row that open the breaker.
const THRESHOLD: u8 = 5;
/// How long it stays open before one trial.
const REST_MS: Millis = 60_000;

/// Whether a player is worth calling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// Calls go out. So many have failed in a row.
    Closed(u8),
    /// No calls until then.
    Open(Millis),
    /// One call goes out; if it fails, the breaker opens again.
    Trial,
}

impl Breaker {
    /// A breaker that has seen nothing yet.
    pub const fn new() -> Self {
        Breaker::Closed(0)
    }

    /// Whether a match may be tried now. An open breaker that has rested lets one trial through.
    pub fn admits(&mut self, now: Millis) -> bool {
        if let Breaker::Open(until) = *self {
            if now < until {
                return false;
            }
            *self = Breaker::Trial;
        }
        true
    }

    /// The player answered.
    pub fn succeeded(&mut self) {
        *self = Breaker::Closed(0);
    }

    /// The player did not answer or could not be reached.
    pub fn failed(&mut self, now: Millis) {
        *self = match *self {
            Breaker::Closed(failures) if failures.saturating_add(1) < THRESHOLD => {
                Breaker::Closed(failures.saturating_add(1))
            }
            Breaker::Open(until) => Breaker::Open(until),
            _ => Breaker::Open(now.saturating_add(REST_MS)),
        };
    }

    /// Whether calls are held back.
    pub fn is_open(&self) -> bool {
        matches!(self, Breaker::Open(_))
    }
}

impl Default for Breaker {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_in_a_row_open_it_and_a_minute_later_one_trial_is_allowed() {
        let mut breaker = Breaker::new();
        for _ in 0..4 {
            breaker.failed(1000);
            assert!(breaker.admits(1000));
        }
        breaker.failed(1000);
        assert!(!breaker.admits(60_999));
        assert!(breaker.admits(61_000));
        breaker.failed(62_000);
        assert!(!breaker.admits(121_999), "a failed trial opens it again at once");
        assert!(breaker.admits(122_000));
        breaker.succeeded();
        assert_eq!(breaker, Breaker::Closed(0));
    }

    #[test]
    fn one_answer_forgives_all_failures() {
        let mut breaker = Breaker::new();
        for _ in 0..4 {
            breaker.failed(0);
        }
        breaker.succeeded();
        breaker.failed(0);
        assert_eq!(breaker, Breaker::Closed(1));
    }
}
