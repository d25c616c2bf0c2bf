//! Agents, their keys and games have ids of the usual form, `550e8400-e29b-41d4-a716-446655440000`. Where the bytes come
//! from is the caller's business; here they get the marks of a random one, version 4.

use core::fmt::{self, Write as _};

use heapless::String;
use serde::{Serialize, Serializer};

/// How long one is as text.
pub const UUID_BYTES: usize = 36;

/// An id. It may be a key, so it is only shown where somebody asks for its text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// The id that these bytes make, six bits of them overwritten.
    pub const fn new(mut bytes: [u8; 16]) -> Uuid {
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Uuid(bytes)
    }

    /// The id of exactly these bytes, whatever they say of a version.
    pub const fn exactly(bytes: [u8; 16]) -> Uuid {
        Uuid(bytes)
    }

    /// Its bytes.
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// Reads one, digits in any case, of any version, and with nothing around it.
    pub fn read(mut text: impl Iterator<Item = char>) -> Option<Uuid> {
        let mut bytes = [0; 16];
        for (at, byte) in bytes.iter_mut().enumerate() {
            if has_dash_before(at) && text.next()? != '-' {
                return None;
            }
            let mut digit = || text.next()?.to_digit(16);
            *byte = u8::try_from(digit()? << 4 | digit()?).ok()?;
        }
        text.next().is_none().then_some(Uuid(bytes))
    }

    /// It as text.
    pub fn text(self) -> String<UUID_BYTES> {
        let mut text = String::new();
        // It is as long as there is room.
        let _ = write!(text, "{self}");
        text
    }
}

fn has_dash_before(at: usize) -> bool {
    matches!(at, 4 | 6 | 8 | 10)
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, byte)| {
            f.write_str(if has_dash_before(at) { "-" } else { "" })?;
            write!(f, "{byte:02x}")
        })
    }
}

/// Debugging shows nothing of it: a key must never reach a log.
impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Uuid(…)")
    }
}

impl Serialize for Uuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    const TEXT: &str = "550e8400-e29b-41d4-a716-446655440000";

    #[test]
    fn an_id_is_read_as_it_is_shown_in_any_case() {
        let id = Uuid::read(TEXT.chars()).unwrap();
        assert_eq!(id.to_string(), TEXT);
        assert_eq!(id.text(), TEXT);
        assert_eq!(Uuid::read(TEXT.to_uppercase().chars()), Some(id));
        assert_eq!(Uuid::new(id.bytes()), id);
    }

    #[test]
    fn an_id_has_the_marks_of_a_random_one_whatever_it_is_made_of() {
        assert_eq!(Uuid::new([0; 16]).to_string(), "00000000-0000-4000-8000-000000000000");
        assert_eq!(Uuid::new([255; 16]).to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn what_only_looks_like_an_id_is_none() {
        for bad in [
            "",
            "550e8400",
            "550e8400e29b41d4a716446655440000",
            "550e8400-e29b-41d4-a716-44665544000",
            "550e8400-e29b-41d4-a716-4466554400000",
            "{550e8400-e29b-41d4-a716-446655440000}",
            " 550e8400-e29b-41d4-a716-446655440000",
            "550e8400-e29b-41d4-a716-44665544000g",
            "550e8400-e29b-41d4-a716_446655440000",
            "550e840-0e29b-41d4-a716-446655440000",
            "٥٥0e8400-e29b-41d4-a716-446655440000",
        ] {
            assert_eq!(Uuid::read(bad.chars()), None, "{bad}");
        }
    }
}
