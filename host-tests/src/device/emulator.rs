//! The board's image in the emulator. Every test has a board of its own, on the bridge that `cargo xtask test --device
//! emulator` has made, where a DHCP server gives it an address.

use crate::{PATIENCE, here};
use emulator::{Emulator, Link, Options};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where `cargo xtask firmware` puts the image.
const ELF: &str = "../firmware/rp2040/target/thumbv6m-none-eabi/release/leaguebox-rp2040";

/// The port agents are told.
const PORT: u16 = 8000;

/// Powers a new board up, with its cable in a bridge. Its flash is empty, or in a file.
pub fn start(bridge: &str, flash: Option<&Path>) -> Emulator {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // No two boards in one network have the same chip: the tests of one process count, and processes differ.
    let process = std::process::id();
    let mut options = Options::new(here(ELF));
    options.unique_id = (u64::from(process) << 32 | u64::from(number)).to_be_bytes();
    options.seed = number;
    options.flash = flash.map(Path::to_owned);
    options.link = Link::Tap { name: format!("lb{process}.{number}"), bridge: Some(bridge.to_owned()) };
    Emulator::start(options).unwrap_or_else(|why| panic!("{why}"))
}

/// What a box says of itself in its log, from the `since`-th line on: where it is, and what opens `/api/admin`.
pub fn introduction(board: &Emulator, since: usize) -> (SocketAddr, String) {
    let word = |what: &str| {
        let line = board.wait_for_log(since, what, PATIENCE).unwrap_or_else(|why| panic!("{why}"));
        line.text.split(what).nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default().to_owned()
    };
    let code = word("admin code ");
    let address: Ipv4Addr = word("address ").parse().expect("the log tells an address");
    (SocketAddr::from((address, PORT)), code)
}
