//! One question to a time server and its answer, as bytes (SNTP, RFC 4330). Sockets and patience are the board's.
//!
//! Anybody on the network can send an answer. So the question carries a number nobody can guess where its own time would
//! stand, and an answer counts only if it repeats that number, comes from whom we asked, and is of a server that knows the time
//! itself. Whoever can read our question can still lie; what the box does with a lie is the [calendar](crate::calendar)'s.

use core::net::SocketAddrV4;

use protocol_core::time::Utc;

/// Where time servers listen.
pub const PORT: u16 = 123;
/// A question, and an answer without what may follow it.
pub const BYTES: usize = 48;

/// Version 4, from a client.
const CLIENT: u8 = 4 << 3 | 3;
/// An answer's mode.
const SERVER: u8 = 4;
/// The warning of a server whose clock is not set.
const UNSET: u8 = 3;
/// Seconds from 1900, where these timestamps begin, to 1970.
const TO_1970: u32 = 2_208_988_800;

/// A question that was sent to a server.
#[derive(Clone, Copy)]
pub struct Question {
    server: SocketAddrV4,
    nonce: [u8; 8],
}

impl Question {
    /// One to this server. The number must be new, and nobody may guess it.
    pub fn new(server: SocketAddrV4, nonce: [u8; 8]) -> Self {
        Self { server, nonce }
    }

    /// What is sent.
    pub fn request(&self) -> [u8; BYTES] {
        let mut request = [0; BYTES];
        request[0] = CLIENT;
        // The time at which we send, which the answer repeats as the time at which the question was sent.
        request[40..].copy_from_slice(&self.nonce);
        request
    }

    /// The time in an answer; `None` if it is none to this question, or its server does not know the time.
    pub fn read(&self, from: SocketAddrV4, answer: &[u8]) -> Option<Utc> {
        let answer: &[u8; BYTES] = answer.first_chunk()?;
        let (warning, mode, stratum) = (answer[0] >> 6, answer[0] & 7, answer[1]);
        // Stratum 0 is a refusal, 16 and above a server that lost its own.
        let knows = mode == SERVER && warning != UNSET && (1..16).contains(&stratum);
        let is_ours = from == self.server && answer[24..32] == self.nonce;
        let [a, b, c, d] = *answer[40..].first_chunk()?;
        let since_1900 = u32::from_be_bytes([a, b, c, d]);
        // The counter starts anew in 2036, and so does the difference: right until 2106. A zero means unknown.
        (is_ours && knows && since_1900 != 0).then(|| Utc(since_1900.wrapping_sub(TO_1970)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    const SERVER: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), PORT);
    const NONCE: [u8; 8] = [0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 0x07, 0x18];
    /// 2026-01-15T10:15:00Z.
    const NOW: Utc = Utc(1_768_472_100);

    fn question() -> Question {
        Question::new(SERVER, NONCE)
    }

    /// What an honest server of stratum 2 answers.
    fn answer() -> [u8; BYTES] {
        let request = question().request();
        let mut answer = [0; BYTES];
        (answer[0], answer[1]) = (0x24, 2);
        answer[24..32].copy_from_slice(&request[40..48]);
        answer[40..44].copy_from_slice(&NOW.0.wrapping_add(TO_1970).to_be_bytes());
        answer
    }

    #[test]
    fn a_question_is_of_a_client_and_tells_nothing_but_the_nonce() {
        let request = question().request();
        assert_eq!(request[0], 0x23);
        assert_eq!(request[40..], NONCE);
        assert!(request[1..40].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn the_time_of_an_honest_answer_is_read_whatever_follows_it() {
        assert_eq!(question().read(SERVER, &answer()), Some(NOW));
        let mut long = [0xff; 68];
        long[..BYTES].copy_from_slice(&answer());
        assert_eq!(question().read(SERVER, &long), Some(NOW));
    }

    #[test]
    fn an_answer_that_does_not_repeat_every_bit_of_the_nonce_is_refused() {
        for bit in 0..64 {
            let mut answer = answer();
            answer[24 + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(question().read(SERVER, &answer), None, "bit {bit}");
        }
    }

    #[test]
    fn an_answer_from_another_address_or_port_is_refused() {
        for from in [SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), PORT), SocketAddrV4::new(*SERVER.ip(), 124)] {
            assert_eq!(question().read(from, &answer()), None, "{from}");
        }
    }

    #[test]
    fn a_server_that_refuses_is_not_set_or_has_lost_its_own_is_not_believed() {
        for (at, value) in [(1, 0), (1, 16), (1, 255), (0, 0xe4)] {
            let mut answer = answer();
            answer[at] = value;
            assert_eq!(question().read(SERVER, &answer), None, "byte {at} is {value:#x}");
        }
        let mut unknown = answer();
        unknown[40..44].fill(0);
        assert_eq!(question().read(SERVER, &unknown), None);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        assert_eq!(question().read(SERVER, &question().request()), None, "our own question");
        for mode in [0, 1, 2, 3, 5, 6, 7] {
            let mut answer = answer();
            answer[0] = 0x20 | mode;
            assert_eq!(question().read(SERVER, &answer), None, "mode {mode}");
        }
        for length in 0..BYTES {
            assert_eq!(question().read(SERVER, &answer()[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn the_counters_new_start_in_2036_is_no_new_1900() {
        let mut later = answer();
        later[40..44].copy_from_slice(&1_u32.to_be_bytes());
        assert_eq!(question().read(SERVER, &later), Some(Utc(2_085_978_497)));
    }
}
