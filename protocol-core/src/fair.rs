//! Provable fairness. Every match has a secret seed. Its SHA-256 hash, the commitment, is published in the
//! invitation, before anybody chooses; the seed itself in GAME_OVER. Everything random in a match is drawn from the
//! seed in a way anybody can repeat with a SHA-256 tool:
//!
//! ```text
//! draw number i (i = 0, 1, 2 …) of a value below n:
//!     x = the first four bytes of SHA-256(seed ‖ i as four bytes), big-endian both
//!     if x ≥ n · ⌊2³² / n⌋, skip this i and take the next (so that every value is equally likely)
//!     the value is x mod n
//! ```
//!
//! The seeds of a league come from one master seed, so a result can be recomputed after a restart and no match needs
//! entropy of its own: seed = SHA-256("leaguebox match" ‖ master ‖ league ‖ round ‖ table), numbers as four bytes. A
//! match that a restart of the box interrupted is played anew from another seed, because turns of it may have shown what
//! the first one decides: 65,536 is added to the table for every restart of the league before its result.

use core::fmt;
use core::num::NonZeroU32;

use sha2::{Digest, Sha256};

/// 32 bytes that decide something: a master seed, a match seed, or the hash of one. Shown as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

/// What a derived seed is for, so that no two uses can ever share one.
#[derive(Clone, Copy)]
pub enum Purpose {
    /// The draws of one match.
    Match,
    /// The bearer token of one agent.
    Token,
    /// What decides the draws of a league when nobody chose it.
    Master,
    /// The draws of a game outside the league.
    Ladder,
    /// Who goes first in a game outside the league.
    First,
    /// The code of a screen that may show what is hidden from players.
    Projector,
}

impl Seed {
    /// The seed for one use, numbered by up to three numbers.
    pub fn derive(&self, purpose: Purpose, numbers: [u32; 3]) -> Seed {
        let label: &[u8] = match purpose {
            Purpose::Match => b"leaguebox match",
            Purpose::Token => b"leaguebox token",
            Purpose::Master => b"leaguebox master",
            Purpose::Ladder => b"leaguebox ladder",
            Purpose::First => b"leaguebox first",
            Purpose::Projector => b"leaguebox projector",
        };
        let mut hash = Sha256::new();
        hash.update(label);
        hash.update(self.0);
        for number in numbers {
            hash.update(number.to_be_bytes());
        }
        Seed(hash.finalize().into())
    }

    /// The hash that is published before the match.
    pub fn commitment(&self) -> Seed {
        Seed(Sha256::digest(self.0).into())
    }

    /// Reads 64 hex digits.
    pub fn from_hex(text: &str) -> Option<Seed> {
        let mut bytes = [0; 32];
        if text.len() != 64 {
            return None;
        }
        let (pairs, _) = text.as_bytes().as_chunks();
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
            *byte = u8::try_from(high? << 4 | low?).ok()?;
        }
        Some(Seed(bytes))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A formatter for every byte would cost ten times as much.
        let mut text = heapless::String::<64>::new();
        let nibbles = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        let mut digits = nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16));
        digits.try_for_each(|digit| text.push(digit)).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

/// A seed of a running match must never reach a log, so debugging shows nothing of it.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

/// The draws of one match, in order.
#[derive(Clone, Debug)]
pub struct Draws {
    seed: Seed,
    next: u32,
}

impl Draws {
    /// The draws that `seed` decides, from the first.
    pub fn new(seed: Seed) -> Self {
        Self { seed, next: 0 }
    }

    /// The seed that decides them.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The next value below `n`, every one equally likely. Zero for `n` = 0.
    pub fn below(&mut self, n: u32) -> u32 {
        let Some(n) = NonZeroU32::new(n) else { return 0 };
        // One below n · ⌊2³² / n⌋, that is 2³² - 1 - (2³² mod n), in 32 bits: 2³² mod n is -n mod n, and 2³² - 1 - r is !r.
        let last = !(n.get().wrapping_neg() % n);
        loop {
            let mut hash = Sha256::new();
            hash.update(self.seed.0);
            hash.update(self.next.to_be_bytes());
            self.next = self.next.wrapping_add(1);
            let [a, b, c, d, ..] = <[u8; 32]>::from(hash.finalize());
            let x = u32::from_be_bytes([a, b, c, d]);
            if x <= last {
                return x % n;
            }
        }
    }

    /// The next whole number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low.saturating_add(self.below(high.saturating_sub(low).saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_commitment_is_the_plain_hash_of_the_seed() {
        // printf '\0…\0' (32 bytes) | sha256sum
        assert_eq!(
            Seed([0; 32]).commitment().to_string(),
            "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
        );
    }

    #[test]
    fn hex_survives_the_round_trip_and_nothing_else_is_read() {
        let seed = Seed([0xa5; 32]);
        assert_eq!(Seed::from_hex(&seed.to_string()), Some(seed));
        assert_eq!(Seed::from_hex("a5"), None);
        assert_eq!(Seed::from_hex(&"zz".repeat(32)), None);
        assert_eq!(Seed::from_hex(&"é".repeat(32)), None);
    }

    #[test]
    fn every_value_is_drawn_about_equally_often() {
        let mut draws = Draws::new(Seed([7; 32]));
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[draws.between(1, 10) as usize - 1] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }

    #[test]
    fn no_two_uses_share_a_seed() {
        let master = Seed([1; 32]);
        let a = master.derive(Purpose::Match, [1, 1, 1]);
        assert_ne!(a, master.derive(Purpose::Match, [1, 1, 2]));
        assert_ne!(a, master.derive(Purpose::Token, [1, 1, 1]));
        assert_eq!(a, master.derive(Purpose::Match, [1, 1, 1]));
    }
}
