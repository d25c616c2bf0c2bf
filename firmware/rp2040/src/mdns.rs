//! The box's name on its own network: `leaguebox.local`, and its own `leaguebox-xxxx.local` where there are several.

use core::future::poll_fn;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::task::{Poll, ready};

use edge_mdns::domain::base::Ttl;
use edge_mdns::host::{Host, Service, ServiceAnswers};
use edge_mdns::{HostAnswersMdnsHandler, MdnsHandler, MdnsRequest, MdnsResponse, NoHostAnswers};
use embassy_net::udp::{PacketMetadata, UdpSocket};
use embassy_net::{IpEndpoint, Stack};
use embassy_time::{Duration, Timer, with_timeout};

use crate::net::Network;

const PORT: u16 = 5353;
const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
/// The longest message that is read or written.
const MESSAGE: usize = 512;
/// How long others may remember the address, in seconds. It may change with every lease.
const TTL: Ttl = Ttl::from_secs(120);
/// How often to look whether the address has changed while nobody asks.
const LOOK: Duration = Duration::from_secs(1);

/// Answers for the name.
pub async fn answer(stack: Stack<'static>, network: &Network, name: &str) -> ! {
    let (mut rx_meta, mut rx) = ([PacketMetadata::EMPTY; 2], [0; MESSAGE]);
    let (mut tx_meta, mut tx) = ([PacketMetadata::EMPTY; 2], [0; MESSAGE]);
    let mut socket = UdpSocket::new(stack, &mut rx_meta, &mut rx, &mut tx_meta, &mut tx);
    // The port is free: nobody else binds one here.
    let _ = socket.bind(PORT);
    let to_all = IpEndpoint::from((GROUP, PORT));
    let mut told = None;
    loop {
        let address = network.address.get();
        if let Some(ipv4) = address.filter(|_| told != address) {
            // Joining again makes switches learn it again that forgot us with the cable.
            let _ = stack.leave_multicast_group(GROUP);
            let _ = stack.join_multicast_group(GROUP);
            // A new address is told to all without being asked.
            let told = poll_fn(|cx| {
                let mut reply = [0; MESSAGE];
                let length = write(MdnsRequest::None, ipv4, name, &mut reply);
                socket.poll_send_to(reply.get(..length).unwrap_or_default(), to_all, cx)
            });
            let _ = told.await;
        }
        told = address;
        let Some(ipv4) = address else {
            Timer::after(LOOK).await;
            continue;
        };
        // Question and answer are on the stack, not in the task: nothing is waited for between them. An answer that finds no room
        // is as good as one that is lost on its way.
        let asked = poll_fn(|cx| {
            let (mut question, mut reply) = ([0; MESSAGE], [0; MESSAGE]);
            let Ok((length, from)) = ready!(socket.poll_recv_from(&mut question, cx)) else { return Poll::Ready(()) };
            let (data, legacy) = (question.get(..length).unwrap_or_default(), from.endpoint.port != PORT);
            let length = write(MdnsRequest::Request { legacy, multicast: true, data }, ipv4, name, &mut reply);
            if let Some(reply @ [_, ..]) = reply.get(..length) {
                let _ = socket.poll_send_to(reply, if legacy { from.endpoint } else { to_all }, cx);
            }
            Poll::Ready(())
        });
        let _ = with_timeout(LOOK, asked).await;
    }
}

/// Writes the answer to a request; how long it is. Nothing where there is none.
fn write(request: MdnsRequest<'_>, ipv4: Ipv4Addr, name: &str, reply: &mut [u8]) -> usize {
    let host = |hostname| Host { hostname, ipv4, ipv6: Ipv6Addr::UNSPECIFIED, ttl: TTL };
    let page = Service {
        name,
        priority: 0,
        weight: 0,
        service: "_http",
        protocol: "_tcp",
        port: 80,
        service_subtypes: &[],
        txt_kvs: &[],
    };
    let own = host(name);
    let answers = NoHostAnswers.chain(ServiceAnswers::new(&own, &page)).chain(host("leaguebox"));
    match HostAnswersMdnsHandler::new(answers).handle(request, reply) {
        Ok(MdnsResponse::Reply { data, .. }) => data.len(),
        _ => 0,
    }
}
