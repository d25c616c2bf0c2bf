//! What the appliance asks of a board: the time since it started, what it is, and to break on purpose.

use appliance::board::{About, Board, Fault, Reset};
use appliance::clock::Clock;
use embassy_time::{Instant, Timer};

/// This board.
#[derive(Clone, Copy, Debug)]
pub struct Pico {
    /// Which one it is.
    pub name: &'static str,
    /// Why it started.
    pub last_reset: Reset,
    /// What it said when it last panicked.
    pub last_panic: Option<&'static str>,
}

impl Clock for Pico {
    fn now(&self) -> u64 {
        Instant::now().as_millis()
    }

    async fn sleep_until(&self, at: u64) {
        match Instant::try_from_millis(at) {
            Some(at) => Timer::at(at).await,
            // Past the end of time.
            None => core::future::pending().await,
        }
    }
}

impl Board for Pico {
    fn about(&self) -> About<'_> {
        About {
            board: "w5500-evb-pico",
            name: self.name,
            last_reset: self.last_reset,
            last_panic: self.last_panic,
        }
    }

    fn breaker(&self) -> Option<fn(Fault)> {
        Some(|fault| match fault {
            Fault::Panic => panic!("asked to panic"),
            // Never gives the executor its turn back: the watchdog has to bite.
            Fault::Hang => loop {
                cortex_m::asm::nop();
            },
        })
    }
}
