//! The three places where the same box runs, and the same tests.
//!
//! ```text
//! desktop.rs    this computer: a child process, told by flags. `cargo test`
//! emulator.rs   the board's very image in the emulator, one per test, in a network namespace of its own
//! probe.rs      a real board on a debug probe, one for all tests, reset between them
//! ```
//!
//! Which one it is is a feature of this crate, and not a variable, because a test that has no meaning on a device must be
//! seen as ignored, with its reason, and the test harness decides that when it is compiled. `cargo xtask test --device …`
//! sets it, and prepares what the device needs.

pub mod desktop;
#[cfg(feature = "emulator")]
pub(crate) mod emulator;
pub(crate) mod probe;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// Where the box under test runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// As a process of this computer.
    Desktop,
    /// As the board's image in the emulator.
    Emulator,
    /// On a real board.
    Probe,
}

/// The device these tests were compiled for.
pub const DEVICE: Device = if cfg!(feature = "emulator") {
    Device::Emulator
} else if cfg!(feature = "probe") {
    Device::Probe
} else {
    Device::Desktop
};

impl Device {
    /// Where players must listen for the box to reach them. A desktop box needs no door to the outside world.
    pub const fn players_listen(self) -> IpAddr {
        IpAddr::V4(match self {
            Device::Desktop => Ipv4Addr::LOCALHOST,
            Device::Emulator | Device::Probe => Ipv4Addr::UNSPECIFIED,
        })
    }
}

/// Our own address, as a box at `there` sees it.
pub(crate) fn address_towards(there: SocketAddr) -> IpAddr {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a socket");
    // Sends nothing: the system only looks up the way.
    socket.connect(there).and_then(|()| socket.local_addr()).expect("a way to the box").ip()
}
