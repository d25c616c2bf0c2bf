//! This computer's clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use appliance::clock::Clock;
use protocol_core::time::Utc;

/// Milliseconds since it was made, and the time of day.
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that begins at zero now.
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }

    async fn sleep_until(&self, at: u64) {
        match self.0.checked_add(Duration::from_millis(at)) {
            Some(at) => _ = async_io::Timer::at(at).await,
            // Past the end of time.
            None => std::future::pending().await,
        }
    }

    fn utc(&self) -> u64 {
        seconds()
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Now, as `YYYY-MM-DDTHH:MM:SSZ`.
pub fn timestamp() -> String {
    Utc::at(seconds()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleeper_wakes_at_its_time_and_not_before() {
        let clock = SystemClock::new();
        let at = clock.after(20);
        async_io::block_on(clock.sleep_until(at));
        assert!(clock.now() >= at);
    }
}
