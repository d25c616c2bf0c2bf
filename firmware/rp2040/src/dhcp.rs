//! What the network stack's own DHCP client does not do: find out whether there is a server while the box uses an address of its
//! own, and ask which computer tells the time.
//!
//! The client takes every packet for its port, so answers are read from a raw socket, which sees them first.

use core::future::poll_fn;
use core::net::Ipv4Addr;
use core::task::{Poll, ready};

use embassy_net::raw::{IpProtocol, IpVersion, PacketMetadata as RawMetadata, RawSocket};
use embassy_net::udp::{PacketMetadata, UdpSocket};
use embassy_net::{HardwareAddress, Stack};
use embassy_time::{Duration, Instant, with_timeout};

const SERVER: u16 = 67;
const CLIENT: u16 = 68;

/// How long a server has. Before some offer an address they try for 3 s whether anybody uses it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest answer that is read: what a client that asks for nothing larger must take.
const ANSWER: usize = 576;

/// Follows the fixed part, precedes the options.
const COOKIE: [u8; 4] = [99, 130, 83, 99];

/// What we want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether a server would give us an address. It is not taken.
    Offer,
    /// Where the time is known, now that we have this address.
    TimeServer(Ipv4Addr),
}

/// What a server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The first computer that tells the time.
    pub time_server: Option<Ipv4Addr>,
}

/// Asks the servers of this network. `None` if none of them answers.
pub async fn ask(stack: Stack<'_>, question: Question) -> Option<Answer> {
    let HardwareAddress::Ethernet(mac) = stack.hardware_address();
    let id = (Instant::now().as_ticks() as u32).wrapping_mul(0x9e37_79b1);
    // What is sent and what is heard take the same memory: nobody answers before the question is gone.
    let mut buf = [0; ANSWER];
    // Packets are made and looked at on the stack, not in the task: nothing is waited for meanwhile.
    {
        let mut meta = [PacketMetadata::EMPTY; 1];
        let mut sender = UdpSocket::new(stack, &mut [], &mut [], &mut meta, &mut buf);
        sender.bind(CLIENT).ok()?;
        let to = (Ipv4Addr::BROADCAST, SERVER);
        poll_fn(|cx| sender.poll_send_to(&request(question, id, mac.0), to, cx)).await.ok()?;
        sender.flush().await;
    }
    let mut meta = [RawMetadata::EMPTY; 1];
    let listener =
        RawSocket::new(stack, Some(IpVersion::Ipv4), Some(IpProtocol::Udp), &mut meta, &mut buf, &mut [], &mut []);
    let answered = poll_fn(|cx| {
        let mut packet = [0; ANSWER];
        loop {
            let length = ready!(listener.poll_recv(&mut packet, cx)).unwrap_or(0);
            if let Some(answer) = packet.get(..length).and_then(|packet| read(packet, id)) {
                return Poll::Ready(answer);
            }
        }
    });
    with_timeout(PATIENCE, answered).await.ok()
}

/// A request's length: what even the oldest servers accept.
const REQUEST: usize = 300;

fn request(question: Question, id: u32, mac: [u8; 6]) -> [u8; REQUEST] {
    let (kind, flags, own) = match question {
        // Answer to all: we cannot hear what is sent to the address on offer.
        Question::Offer => (1, 0x80, Ipv4Addr::UNSPECIFIED),
        Question::TimeServer(own) => (8, 0, own),
    };
    let mut packet = [0; REQUEST];
    let mut put = |at: usize, bytes: &[u8]| {
        packet.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
    };
    // A request, over Ethernet, with addresses of six bytes.
    put(0, &[1, 1, 6, 0]);
    put(4, &id.to_be_bytes());
    put(10, &[flags]);
    put(12, &own.octets());
    put(28, &mac);
    put(236, &COOKIE);
    // What kind of message; we want option 42; the end.
    put(240, &[53, 1, kind, 55, 1, 42, 255]);
    packet
}

/// Reads an IP packet, if it is the answer to our request.
fn read(packet: &[u8], id: u32) -> Option<Answer> {
    let header = usize::from(packet.first()? & 0xf) * 4;
    let udp = packet.get(header..)?;
    let [a, b, c, d] = *udp.first_chunk()?;
    if [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])] != [SERVER, CLIENT] {
        return None;
    }
    let message = udp.get(8..)?;
    let is_ours = message.first() == Some(&2) && message.get(4..8) == Some(&id.to_be_bytes());
    let options = message.get(236..)?.strip_prefix(&COOKIE)?;
    (is_ours && matches!(option(options, 53), Some([2 | 5]))).then(|| Answer {
        time_server: option(options, 42).and_then(|servers| servers.first_chunk::<4>()).map(|&ip| Ipv4Addr::from(ip)),
    })
}

/// The value of an option.
fn option(mut options: &[u8], wanted: u8) -> Option<&[u8]> {
    loop {
        options = match options {
            [255, ..] => return None,
            [0, rest @ ..] => rest,
            [kind, length, rest @ ..] => {
                let (value, rest) = rest.split_at_checked((*length).into())?;
                if *kind == wanted {
                    return Some(value);
                }
                rest
            }
            _ => return None,
        };
    }
}
