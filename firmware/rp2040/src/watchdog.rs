//! The chip's watchdog, fed only while the box does its work: the executor comes round (or this would not run), the driver looks
//! at the Ethernet chip, and the network stack is polled. Whatever stops stops the feeding, and the chip is reset.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicU32, Ordering};

use defmt::error;
use embassy_rp::Peri;
use embassy_rp::peripherals::WATCHDOG;
use embassy_rp::watchdog::Watchdog;
use embassy_time::{Duration, Instant, Timer};

/// Unfed for so long, the watchdog bites. The chip cannot wait longer than 8.3 s; the longest the box ever stops is an erase
/// of a flash sector, 0.4 s.
const BITES_AFTER: Duration = Duration::from_secs(4);
/// How often it is fed.
const FEED_EVERY: Duration = Duration::from_millis(500);
/// How long a part may show no progress. Each has something to do a hundred times a second; a chip that cannot send because
/// the cable was just pulled gets time to notice.
const PATIENCE_MS: u32 = 6_000;

/// The driver looked at the Ethernet chip.
pub static CHIP: Heartbeat = Heartbeat(AtomicU32::new(0));
/// The network stack was polled.
pub static STACK: Heartbeat = Heartbeat(AtomicU32::new(0));

/// When a part of the box last did something, in milliseconds. It wraps after 49 days, and so do differences.
pub struct Heartbeat(AtomicU32);

impl Heartbeat {
    /// It did something now.
    pub fn beat(&self) {
        self.0.store(now(), Ordering::Relaxed);
    }

    fn is_alive(&self) -> bool {
        now().wrapping_sub(self.0.load(Ordering::Relaxed)) < PATIENCE_MS
    }

    /// Runs a future whose every poll is a beat.
    pub async fn watch<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            self.beat();
            future.as_mut().poll(cx)
        })
        .await
    }
}

fn now() -> u32 {
    Instant::now().as_millis() as u32
}

/// Starts the watchdog. From now on the box must get somewhere.
pub fn start(peripheral: Peri<'static, WATCHDOG>) -> Watchdog {
    let mut watchdog = Watchdog::new(peripheral);
    watchdog.pause_on_debug(true);
    watchdog.start(BITES_AFTER);
    watchdog
}

/// Feeds the watchdog while it should be fed.
pub async fn feed(mut watchdog: Watchdog) -> ! {
    loop {
        match (CHIP.is_alive(), STACK.is_alive()) {
            (true, true) => watchdog.feed(BITES_AFTER),
            (chip, stack) => error!("no progress: chip looked at {}, stack polled {}", chip, stack),
        }
        Timer::after(FEED_EVERY).await;
    }
}
