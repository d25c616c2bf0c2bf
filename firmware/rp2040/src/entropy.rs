//! What nobody may guess: seeds and the admin code, from the noise of the ring oscillator.
//!
//! The oscillator gives one bit at a time, and neighbouring bits resemble each other. So many are taken for every one that is
//! handed out, and a hash makes them even.

use embassy_rp::clocks::RoscRng;
use embassy_time::Instant;
use heapless::String;
use sha2::{Digest, Sha256};

/// Small letters and digits but those that are taken for each other (l and 1, o and 0): 32 of them, five bits each.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Bytes of noise behind each 32 bytes of output: 32 bits for every bit.
const NOISE: usize = 1024;

/// A pool that noise goes into and seeds come out of.
pub struct Entropy([u8; 32]);

impl Entropy {
    /// A pool. `salt` makes two boxes differ even if their noise did not.
    pub fn new(salt: &[u8]) -> Self {
        Self(Sha256::digest(salt).into())
    }

    /// 32 bytes nobody knows.
    pub fn seed(&mut self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(self.0);
        hash.update(Instant::now().as_ticks().to_le_bytes());
        for _ in 0..NOISE {
            hash.update([RoscRng::next_u8()]);
        }
        self.0 = hash.finalize().into();
        // What is handed out does not tell what stays.
        Sha256::new_with_prefix(self.0).chain_update(b"seed").finalize().into()
    }

    /// An admin code: easy to read aloud and type. 40 bits.
    pub fn admin_code(&mut self) -> String<64> {
        let letter = |byte: u8| ALPHABET.get(usize::from(byte % 32)).map_or('a', |&letter| letter.into());
        self.seed().into_iter().take(8).map(letter).collect()
    }
}
