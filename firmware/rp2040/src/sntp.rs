//! What time it is, from the network (SNTP, RFC 4330): from the time server the DHCP server names, or else from the gateway.

use core::future::poll_fn;
use core::net::{Ipv4Addr, SocketAddrV4};
use core::task::{Poll, ready};

use appliance::sntp::{BYTES, PORT, Question};
use embassy_net::udp::{PacketMetadata, UdpSocket};
use embassy_net::{IpAddress, IpEndpoint, Stack};
use embassy_time::{Duration, Instant, Timer, with_timeout};
use protocol_core::time::Utc;

use crate::entropy::Entropy;
use crate::net::Network;

/// How long a time server has.
const PATIENCE: Duration = Duration::from_secs(3);
/// When to ask again after an answer. Our clock strays by a tenth of a second an hour at most.
const AGAIN: Duration = Duration::from_secs(3600);
/// When to ask again after silence.
const RETRY: Duration = Duration::from_secs(60);

/// Learns the time, again and again, and at once on a new network. `learn` is told.
pub async fn keep(stack: Stack<'static>, network: &Network, mut entropy: Entropy, learn: impl Fn(Utc)) -> ! {
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
                utc = with_timeout(PATIENCE, ask(stack, server, &entropy.seed())).await.ok().flatten();
            }
        }
        utc.map(&learn);
        next = Instant::now() + if utc.is_some() { AGAIN } else { RETRY };
    }
}

async fn ask(stack: Stack<'_>, server: Ipv4Addr, unknown: &[u8; 32]) -> Option<Utc> {
    let (mut rx_meta, mut rx) = ([PacketMetadata::EMPTY; 1], [0; 96]);
    let (mut tx_meta, mut tx) = ([PacketMetadata::EMPTY; 1], [0; BYTES]);
    let mut socket = UdpSocket::new(stack, &mut rx_meta, &mut rx, &mut tx_meta, &mut tx);
    // From another port each time: who did not see the question finds it harder still to answer.
    let ([high, low], nonce) = (*unknown.first_chunk()?, *unknown.last_chunk()?);
    socket.bind(49152 | u16::from_be_bytes([high, low])).ok()?;
    let question = Question::new(SocketAddrV4::new(server, PORT), nonce);
    socket.send_to(&question.request(), IpEndpoint::from((server, PORT))).await.ok()?;
    // What comes is looked at on the stack, not in the task: nothing is waited for meanwhile.
    poll_fn(|cx| {
        let mut answer = [0; 96];
        loop {
            let Ok((length, from)) = ready!(socket.poll_recv_from(&mut answer, cx)) else { return Poll::Ready(None) };
            let IpAddress::Ipv4(address) = from.endpoint.addr;
            // Whatever else comes, the server may still answer.
            let from = SocketAddrV4::new(address, from.endpoint.port);
            if let Some(utc) = answer.get(..length).and_then(|answer| question.read(from, answer)) {
                return Poll::Ready(Some(utc));
            }
        }
    })
    .await
}
