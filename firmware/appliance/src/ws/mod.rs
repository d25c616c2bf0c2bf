//! WebSocket (RFC 6455), the server's side, over any byte stream that HTTP has been spoken on: the handshake, frames,
//! and a [`Link`] that carries text messages both ways and keeps every time limit.
//!
//! Not here: what a message means, and who may open a link. No extensions, and no binary messages: nobody here sends any.

mod frames;
mod link;
mod long;

use sha1::{Digest, Sha1};

pub use frames::{Breach, Came, Reader, SPARE, limit};
pub use link::{End, Event, Link, Speaker};
pub use long::{Lent, Long};

use crate::http::Request;

/// The version of the protocol, the only one there is.
pub const VERSION: &str = "13";
/// What RFC 6455 has every server append to the client's key.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// A SHA-1 in base64.
pub type Proof = heapless::String<28>;

/// Why a handshake fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no handshake at all: 426.
    NoUpgrade,
    /// Another version of the protocol: 426.
    Version,
    /// The key is not 16 bytes in base64: 400.
    Key,
}

impl Refusal {
    /// The HTTP status, and the rule in words.
    pub fn answer(self) -> (u16, &'static str) {
        match self {
            Self::NoUpgrade => {
                (426, "this path takes a WebSocket: HTTP/1.1 with Connection: Upgrade, Upgrade: websocket")
            }
            Self::Version => (426, "Sec-WebSocket-Version must be 13"),
            Self::Key => (400, "Sec-WebSocket-Key must be 16 bytes in base64"),
        }
    }
}

/// What a handshake is answered with: the proof that we understood it, for `Sec-WebSocket-Accept`.
pub fn accept(request: &Request<'_>) -> Result<Proof, Refusal> {
    if !request.upgrade().is_some_and(|protocol| protocol.eq_ignore_ascii_case("websocket")) {
        return Err(Refusal::NoUpgrade);
    }
    if request.header("sec-websocket-version") != Some(VERSION) {
        return Err(Refusal::Version);
    }
    let key = request.header("sec-websocket-key").filter(|key| is_key(key)).ok_or(Refusal::Key)?;
    Ok(proof(key))
}

/// 16 bytes in base64 are 22 digits and two signs that fill up.
fn is_key(key: &str) -> bool {
    let digits = key.strip_suffix("==").unwrap_or_default();
    digits.len() == 22 && digits.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

fn proof(key: &str) -> Proof {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut hash = Sha1::new();
    hash.update(key);
    hash.update(GUID);
    let mut proof = Proof::new();
    for three in hash.finalize().chunks(3) {
        // The last three are two.
        let bits = three.iter().chain(&[0]).take(3).fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte));
        for (place, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = DIGITS.get((bits >> shift & 63) as usize).copied().map_or('=', char::from);
            // A hash of 20 bytes has exactly as many digits as there is room for.
            let _ = proof.push(if place > three.len() { '=' } else { digit });
        }
    }
    proof
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proof_is_that_of_the_specifications_example() {
        assert_eq!(proof("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn a_key_is_sixteen_bytes_in_base64() {
        assert!(is_key("dGhlIHNhbXBsZSBub25jZQ=="));
        for bad in ["", "==", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=", "dGhl IHNhbXBsZSBub25jZQ==", "AAAA"]
        {
            assert!(!is_key(bad), "{bad}");
        }
    }
}
