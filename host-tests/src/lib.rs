//! Everything that looks at the box from outside.
//!
//! Starts a real box (as a process, in the emulator, or on a board: `device`), brings players to it (a crowd of threads, or
//! real Python agents), and judges what it says: against JSON Schemas, and against standings recomputed from its own
//! exports. It knows the box only by its command line and its HTTP surface, and leaves what happens inside to the tests of
//! the crates themselves.

pub mod arena;
pub mod crowd;
pub mod device;
pub mod frames;
pub mod http;
pub mod keep_alive;
pub mod leaguebox;
pub mod moltgame;
pub mod python;
pub mod results;
pub mod settings;
pub mod simulation;
pub mod websocket;
#[cfg(feature = "emulator")]
pub mod wire;

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// No test waits longer than this for something that must happen. It bounds a failure, it measures nothing.
/// An emulated board runs at a quarter of its speed.
pub const PATIENCE: Duration = Duration::from_secs(if cfg!(feature = "emulator") { 480 } else { 120 });

/// Waits until `done` answers something, or fails the test with `what` it waited for.
pub fn wait_for<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(found) = done() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("waited {} s in vain: {what}", PATIENCE.as_secs());
}

/// A port that nobody listens on and that no other test gets. It is below those the system gives to whoever connects: one of
/// these may be taken by somebody's connection before the program that is to listen has started.
pub fn free_port() -> u16 {
    const PORTS: Range<u16> = 10_000..32_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Test programs that run beside each other begin elsewhere.
    let begin = std::process::id().wrapping_mul(97);
    let numbers = (0..PORTS.len()).map(|_| begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)));
    let mut ports = numbers.map(|number| PORTS.start + (number % PORTS.len() as u32) as u16);
    ports.find(|&port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok()).expect("a free port")
}

/// Says that it is over when it is dropped, however the test ends: for threads that go on until then.
pub struct Over<'a>(pub &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file of this crate.
pub fn here(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}
