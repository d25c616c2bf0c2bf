//! A real board. `cargo xtask test --device probe` has flashed it and read its log; it says here where the box is.
//! There is one board, so one test at a time has it.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

static TURN: Mutex<()> = Mutex::new(());

/// The board, as long as this lives.
pub struct Probe(#[expect(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

impl Probe {
    /// Waits for the board to be free: its address, its admin code, and the right to use it.
    pub fn take() -> (SocketAddr, String, Probe) {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let told = |name: &str| {
            std::env::var(name)
                .unwrap_or_else(|_| panic!("{name} is not set: `cargo xtask test --device probe` finds the board"))
        };
        let address = told("LEAGUEBOX_ADDRESS").parse().expect("LEAGUEBOX_ADDRESS is an address and a port");
        (address, told("LEAGUEBOX_ADMIN_CODE"), Probe(turn))
    }
}
