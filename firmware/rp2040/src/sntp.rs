//! What time it is, from the network (SNTP, RFC 4330): from the time server the DHCP server names, or else from the gateway.

use core::net::Ipv4Addr;

use embassy_net::udp::{PacketMetadata, UdpSocket};
use embassy_net::{IpEndpoint, Stack};
use embassy_time::{Duration, Instant, Timer, with_timeout};
use protocol_core::time::Utc;

use crate::net::Network;

const PORT: u16 = 123;
/// How long a time server has.
const PATIENCE: Duration = Duration::from_secs(3);
/// When to ask again after an answer. Our clock strays by a tenth of a second an hour at most.
const AGAIN: Duration = Duration::from_secs(3600);
/// When to ask again after silence.
const RETRY: Duration = Duration::from_secs(60);
/// Seconds from 1900, where these timestamps begin, to 1970.
const TO_1970: u32 = 2_208_988_800;

/// Learns the time, again and again, and at once on a new network. `learn` is told.
pub async fn keep(stack: Stack<'static>, network: &Network, learn: impl Fn(Utc)) -> ! {
    let mut asked = [None; 2];
    let mut next = Instant::MAX;
    loop {
        Timer::after_millis(500).await;
        let servers = [network.time_server.get(), network.gateway.get()];
        if asked == servers && Instant::now() < next {
            continue;
        }
        asked = servers;
        let mut utc = None;
        for server in servers.into_iter().flatten() {
            if utc.is_none() {
                utc = with_timeout(PATIENCE, ask(stack, server)).await.ok().flatten();
            }
        }
        utc.map(&learn);
        next = Instant::now() + if utc.is_some() { AGAIN } else { RETRY };
    }
}

async fn ask(stack: Stack<'_>, server: Ipv4Addr) -> Option<Utc> {
    let (mut rx_meta, mut rx) = ([PacketMetadata::EMPTY; 1], [0; 96]);
    let (mut tx_meta, mut tx) = ([PacketMetadata::EMPTY; 1], [0; 48]);
    let mut socket = UdpSocket::new(stack, &mut rx_meta, &mut rx, &mut tx_meta, &mut tx);
    // From another port each time: who did not see the question finds it hard to answer.
    let nonce = Instant::now().as_ticks().wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    socket.bind(49152 | u16::from_be_bytes([nonce[0], nonce[1]])).ok()?;
    let mut request = [0; 48];
    // Version 4, client; our timestamp is a number the answer must repeat.
    request[0] = 0x23;
    request[40..].copy_from_slice(&nonce);
    let server = IpEndpoint::from((server, PORT));
    socket.send_to(&request, server).await.ok()?;
    let mut answer = [0; 96];
    loop {
        let (length, from) = socket.recv_from(&mut answer).await.ok()?;
        if from.endpoint == server {
            return read(answer.get(..length)?, nonce);
        }
    }
}

/// The time in an answer to the request that carried `nonce`.
fn read(answer: &[u8], nonce: [u8; 8]) -> Option<Utc> {
    let answer: &[u8; 48] = answer.first_chunk()?;
    // A server (mode 4) that knows the time (not unsynchronised, of a stratum that exists).
    let knows = answer[0] & 7 == 4 && answer[0] >> 6 != 3 && (1..16).contains(&answer[1]);
    let [a, b, c, d] = *answer[40..].first_chunk()?;
    // The counter starts anew in 2036, and so does the difference: right until 2106.
    let since_1970 = u32::from_be_bytes([a, b, c, d]).wrapping_sub(TO_1970);
    (knows && answer[24..32] == nonce).then_some(Utc(since_1970))
}
