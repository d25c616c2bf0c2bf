//! Who this box is: its name and its Ethernet address, both from the number of its flash chip, so that they stay.

use core::fmt::Write;

use heapless::String;
use sha2::{Digest, Sha256};

/// What makes this box this box.
#[derive(Clone, Debug)]
pub struct Identity {
    /// `leaguebox-3f1a`.
    pub name: String<16>,
    /// The Ethernet address.
    pub mac: [u8; 6],
}

impl Identity {
    /// The identity that belongs to a flash chip. Hashed, because chips of one batch differ in a few bits only.
    pub fn of(unique_id: [u8; 8]) -> Self {
        let hash: [u8; 32] = Sha256::digest(unique_id).into();
        let [a, b, c, d, e, f, g, h, ..] = hash;
        let mut name = String::new();
        let _ = write!(name, "leaguebox-{g:02x}{h:02x}");
        // In the first byte: bit 0 is off (one station, not a group), bit 1 on (an address nobody sold).
        Self { name, mac: [a & 0xfc | 0x02, b, c, d, e, f] }
    }
}
