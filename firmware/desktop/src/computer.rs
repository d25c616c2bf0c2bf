//! This computer as a board: its clocks, and what it says of itself.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use appliance::board::{About, Board, Memory, Reset};
use appliance::clock::Clock;
use protocol_core::time::Utc;

/// Milliseconds since the box was started, and the time of day.
pub struct Computer(Instant);

impl Computer {
    /// Its clock begins at zero now.
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Computer {
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
}

impl Board for Computer {
    fn about(&self) -> About<'_> {
        // A program that panicked is not there to tell.
        About { board: "desktop", name: "leaguebox", last_reset: Reset::PowerOn, last_panic: None }
    }

    fn memory(&self) -> Memory {
        Memory { resident: resident(), ..Memory::default() }
    }

    fn utc(&self) -> Option<Utc> {
        Some(utc())
    }
}

fn utc() -> Utc {
    Utc::at(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// What this program has in memory, where the system tells.
fn resident() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes: u32 =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Now, as `YYYY-MM-DDTHH:MM:SSZ`.
pub fn timestamp() -> String {
    utc().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleeper_wakes_at_its_time_and_not_before() {
        let clock = Computer::new();
        let at = clock.after(20);
        async_io::block_on(clock.sleep_until(at));
        assert!(clock.now() >= at);
    }
}
