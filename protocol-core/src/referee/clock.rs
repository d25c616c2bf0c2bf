//! The clock of one seat. It runs towards a deadline, or it stands still and keeps what is left.

use crate::time::Millis;

/// A moment of a match, in milliseconds since it began. Four bytes instead of eight: every match slot has many of them, and
/// no match lasts 49 days.
pub type Since = u32;

/// Milliseconds as a length of time within a match.
pub fn lasting(ms: Millis) -> Since {
    Since::try_from(ms).unwrap_or(Since::MAX)
}

/// One clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Nothing is timed.
    Off,
    /// Until then.
    Runs(Since),
    /// So much is left, and stays left.
    Stands(Since),
}

impl Clock {
    /// The time that is over then, while it runs.
    pub fn deadline(self) -> Option<Since> {
        match self {
            Clock::Runs(until) => Some(until),
            Clock::Off | Clock::Stands(_) => None,
        }
    }

    /// Whether the time is over.
    pub fn is_over(self, now: Since) -> bool {
        self.deadline().is_some_and(|until| until <= now)
    }

    /// What is left, running or not.
    pub fn left(self, now: Since) -> Option<Since> {
        match self {
            Clock::Off => None,
            Clock::Runs(until) => Some(until.saturating_sub(now)),
            Clock::Stands(left) => Some(left),
        }
    }

    /// Stands still.
    pub fn stop(&mut self, now: Since) {
        if let Clock::Runs(until) = *self {
            *self = Clock::Stands(until.saturating_sub(now));
        }
    }

    /// Runs on, with what was left.
    pub fn go_on(&mut self, now: Since) {
        if let Clock::Stands(left) = *self {
            *self = Clock::Runs(now.saturating_add(left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stands_still_keeps_what_is_left_and_runs_on_with_it() {
        let mut clock = Clock::Runs(100);
        clock.stop(40);
        assert_eq!((clock.deadline(), clock.left(90), clock.is_over(1_000)), (None, Some(60), false));
        clock.stop(50);
        assert_eq!(clock, Clock::Stands(60), "it stands already");
        clock.go_on(500);
        assert_eq!((clock.deadline(), clock.left(510)), (Some(560), Some(50)));
        assert_eq!([559, 560].map(|now| clock.is_over(now)), [false, true]);
    }

    #[test]
    fn a_clock_that_is_off_is_never_over() {
        let mut clock = Clock::Off;
        clock.stop(1);
        clock.go_on(2);
        assert_eq!((clock, clock.is_over(Since::MAX), clock.left(0)), (Clock::Off, false, None));
    }
}
