//! What the box is plugged into, as far as the box has to know it: what it is called, how its last run ended, whether it
//! has a calendar of its own, how much memory it has, and whether it can be broken on purpose.

use core::net::IpAddr;

use protocol_core::json::{Full, Sink};
use protocol_core::protocols::moltgame::Fill;
use protocol_core::time::Utc;
use serde::Serialize;

use crate::clock::Clock;

/// A computer that is the box.
pub trait Board: Clock {
    /// What the board says of itself.
    fn about(&self) -> About<'_>;

    /// What it has of memory and what is taken of it, as far as that can be told.
    fn memory(&self) -> Memory {
        Memory::default()
    }

    /// The time of day by a clock that goes on while the box is off. A board without one learns it from others.
    fn utc(&self) -> Option<Utc> {
        None
    }

    /// Breaks the board on purpose, so that its owner sees it come back. `None` where no watchdog would bring it back.
    fn breaker(&self) -> Option<fn(Fault)> {
        None
    }

    /// How many polls a second it has time for beside those it owes: of agents that ask more often than they should.
    fn spare_polls(&self) -> u32 {
        u32::MAX
    }

    /// Has so many house players register, like any others and in a while. False where there are none.
    fn hire(&self, _players: u16) -> bool {
        false
    }

    /// Whether it has house players.
    fn has_house(&self) -> bool {
        false
    }

    /// Whether it can keep a record of messages.
    const RECORDS: bool = false;

    /// Takes down a message of league.v2 that `write` writes, where a record is kept of them.
    fn record(&self, _said: Said, _write: &dyn Fn(&mut dyn Sink) -> Result<(), Full>) {}

    /// Has house players come into a room that waits, in a while. False where there are none.
    fn fill(&self, _room: Fill) -> bool {
        false
    }
}

/// A message, for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// An agent at this address asks.
    Request(IpAddr),
    /// It is answered: always the request before.
    Answer(IpAddr),
    /// The box calls an agent there; the number of the call.
    Call(IpAddr, u32),
    /// It answers, with this HTTP status.
    Reply(IpAddr, u32, u16),
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

/// Bytes of memory. What cannot be told is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// What a program takes that shares its computer with others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident: Option<u32>,
    /// RAM there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ram: Option<u32>,
    /// Of that, for variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<u32>,
    /// Of that, for the stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<u32>,
    /// What the stack has taken at most since the board started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deepest_stack: Option<u32>,
    /// Flash there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash: Option<u32>,
    /// Of that, for the program and the web page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<u32>,
    /// Of that, for the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<u32>,
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

    fn memory(&self) -> Memory {
        B::memory(self)
    }

    fn utc(&self) -> Option<Utc> {
        B::utc(self)
    }

    fn breaker(&self) -> Option<fn(Fault)> {
        B::breaker(self)
    }

    fn spare_polls(&self) -> u32 {
        B::spare_polls(self)
    }

    fn hire(&self, players: u16) -> bool {
        B::hire(self, players)
    }

    fn has_house(&self) -> bool {
        B::has_house(self)
    }

    fn fill(&self, room: Fill) -> bool {
        B::fill(self, room)
    }
}
