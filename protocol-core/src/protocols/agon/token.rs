//! Session tokens: JSON Web Tokens (RFC 7519), signed with HMAC-SHA-256 by a key of the box's own. They say who somebody is and until
//! when that is believed; nothing of them is kept.

use core::fmt::Write;

use base64ct::{Base64UrlUnpadded, Encoding};
use heapless::String;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::json;
use crate::time::Utc;
use crate::uuid::Uuid;

/// The longest token there is.
pub(super) const TOKEN_BYTES: usize = 224;

/// `{"alg":"HS256","typ":"JWT"}`: no other algorithm is ever believed.
const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";

/// A token for an agent.
pub(super) fn write(key: &[u8], agent: Uuid, from: Utc, until: Utc) -> Option<String<TOKEN_BYTES>> {
    let mut claims = String::<112>::new();
    write!(claims, r#"{{"sub":"{agent}","iat":{},"exp":{}}}"#, from.0, until.0).ok()?;
    let (mut digits, mut token) = ([0; 160], String::new());
    write!(token, "{HEADER}.{}", Base64UrlUnpadded::encode(claims.as_bytes(), &mut digits).ok()?).ok()?;
    let signature = signed(key, &token)?.finalize().into_bytes();
    write!(token, ".{}", Base64UrlUnpadded::encode(&signature, &mut digits).ok()?).ok()?;
    Some(token)
}

/// The agent that a token is for, if it is one of ours and still good.
pub(super) fn read(key: &[u8], token: &str, now: Utc) -> Option<Uuid> {
    let (text, signature) = token.rsplit_once('.')?;
    let claims = text.strip_prefix(HEADER)?.strip_prefix('.')?;
    let mut bytes = [0; 160];
    let signature = Base64UrlUnpadded::decode(signature, &mut bytes).ok()?;
    // In the same time whatever is wrong with it.
    signed(key, text)?.verify_slice(signature).ok()?;
    let claims = json::parse(Base64UrlUnpadded::decode(claims, &mut bytes).ok()?).ok()?;
    let until = claims.get("exp")?.as_whole()?;
    let agent = Uuid::read(claims.get("sub")?.as_str()?.chars())?;
    (u64::from(now.0) < until).then_some(agent)
}

fn signed(key: &[u8], text: &str) -> Option<Hmac<Sha256>> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).ok()?;
    mac.update(text.as_bytes());
    Some(mac)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    const KEY: &[u8] = b"sixteen bytes...";

    fn agent() -> Uuid {
        Uuid::new([7; 16])
    }

    #[test]
    fn a_token_is_good_until_its_time_is_over() {
        let token = write(KEY, agent(), Utc(1_000), Utc(2_000)).unwrap();
        assert_eq!(read(KEY, &token, Utc(1_999)), Some(agent()));
        assert_eq!(read(KEY, &token, Utc(2_000)), None);
    }

    #[test]
    fn the_longest_token_fits() {
        assert!(write(KEY, agent(), Utc(u32::MAX), Utc(u32::MAX)).is_some_and(|token| token.len() < TOKEN_BYTES));
    }

    #[test]
    fn whatever_is_changed_in_a_token_it_is_refused() {
        let token = write(KEY, agent(), Utc(1_000), Utc(2_000)).unwrap();
        for at in 0..token.len() {
            for other in ["A", "b", "9", "-", ".", "="] {
                let mut changed = std::string::String::from(token.as_str());
                changed.replace_range(at..=at, other);
                // The last digit has two bits that mean nothing, and those must be zero.
                assert!(changed == token.as_str() || read(KEY, &changed, Utc(1_500)).is_none(), "{at} {other}");
            }
        }
        assert_eq!(read(b"another key.....", &token, Utc(1_500)), None);
    }

    #[test]
    fn what_is_no_token_is_refused() {
        // `{"alg":"none"}` and no signature.
        let none = "eyJhbGciOiJub25lIn0.eyJzdWIiOiIwNzA3MDcwNy0wNzA3LTQ3MDctODcwNy0wNzA3MDcwNzA3MDciLCJleHAiOjk5OTl9.";
        for text in ["", ".", "..", "...", HEADER, none, "é.é.é", &"A".repeat(4_000)] {
            assert_eq!(read(KEY, text, Utc(0)), None, "{text}");
        }
    }
}
