//! What the appliance asks of a board: the time since it started, what it is, and to break on purpose.

use appliance::board::{About, Board, Fault, Reset};
use appliance::clock::Clock;
use embassy_sync::once_lock::OnceLock;
use embassy_time::{Instant, Timer};

/// This board. It holds nothing, so that the static box it is part of is all zeros and takes no flash.
#[derive(Clone, Copy, Debug)]
pub struct Pico;

static ABOUT: OnceLock<About<'static>> = OnceLock::new();

impl Pico {
    /// Takes note of what was found out at the start.
    pub fn know(name: &'static str, last_reset: Reset, last_panic: Option<&'static str>) {
        let _ = ABOUT.init(About { board: BOARD, name, last_reset, last_panic });
    }
}

const BOARD: &str = "w5500-evb-pico";

impl Clock for Pico {
    fn now(&self) -> u64 {
        Instant::now().as_millis()
    }

    // The timer itself, not a future around it: every line and worker keeps one.
    fn sleep_until(&self, at: u64) -> impl Future<Output = ()> {
        Timer::at(Instant::try_from_millis(at).unwrap_or(Instant::MAX))
    }
}

impl Board for Pico {
    fn about(&self) -> About<'_> {
        let unknown = About { board: BOARD, name: "", last_reset: Reset::PowerOn, last_panic: None };
        ABOUT.try_get().copied().unwrap_or(unknown)
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
