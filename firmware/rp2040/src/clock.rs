//! The box's clock: the chip's timer.

use appliance::clock::Clock;
use embassy_time::{Instant, Timer};

/// Milliseconds since the chip started.
#[derive(Clone, Copy, Default)]
pub struct BoardClock;

impl Clock for BoardClock {
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

    fn utc(&self) -> u64 {
        self.now() / 1000
    }
}
