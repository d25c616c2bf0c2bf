//! What the box is plugged into, as far as the box has to know it: what it is called, how its last run ended, whether it
//! has a calendar of its own, and whether it can be broken on purpose.

use protocol_core::time::Utc;

use crate::clock::Clock;

/// A computer that is the box.
pub trait Board: Clock {
    /// What the board says of itself.
    fn about(&self) -> About<'_>;

    /// The time of day by a clock that goes on while the box is off. A board without one learns it from others.
    fn utc(&self) -> Option<Utc> {
        None
    }

    /// Breaks the board on purpose, so that its owner sees it come back. `None` where no watchdog would bring it back.
    fn breaker(&self) -> Option<fn(Fault)> {
        None
    }
}

/// What a board says of itself. Anybody may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About<'a> {
    /// What it is: `desktop`, `w5500-evb-pico`.
    pub board: &'static str,
    /// Which one it is, where there are several.
    pub name: &'a str,
    /// Why it started.
    pub last_reset: Reset,
    /// What it said when it last panicked, as far as that was kept.
    pub last_panic: Option<&'a str>,
}

/// Why a board started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// It got power; a program was started.
    PowerOn,
    /// Nothing went on any more.
    Watchdog,
    /// It found a fault of its own.
    Panic,
    /// It was told to.
    Software,
}

impl Reset {
    /// Its name in `/api/status.json` and in the log.
    pub fn name(self) -> &'static str {
        match self {
            Reset::PowerOn => "power-on",
            Reset::Watchdog => "watchdog",
            Reset::Panic => "panic",
            Reset::Software => "software",
        }
    }
}

/// How to break a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// By a panic.
    Panic,
    /// By never letting go of the processor again.
    Hang,
}

impl<B: Board> Board for &B {
    fn about(&self) -> About<'_> {
        B::about(self)
    }

    fn utc(&self) -> Option<Utc> {
        B::utc(self)
    }

    fn breaker(&self) -> Option<fn(Fault)> {
        B::breaker(self)
    }
}
