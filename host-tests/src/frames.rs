//! Ethernet frames made by hand, for what no honest network stack sends.

use crate::PATIENCE;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Somebody on the wire who is not there: an Ethernet address and an IP address no computer has.
#[derive(Debug, Clone, Copy)]
pub struct Station {
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Its IP address.
    pub ip: Ipv4Addr,
}

/// TCP's flags.
pub const FIN: u8 = 0x01;
/// Begins a connection.
pub const SYN: u8 = 0x02;
/// Breaks it.
pub const RST: u8 = 0x04;
/// Acknowledges.
pub const ACK: u8 = 0x10;

/// An ARP announcement: `from` says to everybody that its IP address is at its Ethernet address.
pub fn arp_announcement(from: Station) -> Vec<u8> {
    arp(from, from.ip)
}

/// An ARP request. Who is asked learns where the one who asks is.
pub fn arp(from: Station, asked: Ipv4Addr) -> Vec<u8> {
    let mut frame = ethernet([0xff; 6], from.mac, 0x0806);
    frame.extend([0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend(from.mac);
    frame.extend(from.ip.octets());
    frame.extend([0; 6]);
    frame.extend(asked.octets());
    frame
}

/// A TCP segment without options.
pub fn tcp(from: Station, port: u16, to: (SocketAddrV4, [u8; 6]), flags: u8, sequence: u32, payload: &[u8]) -> Vec<u8> {
    tcp_after(from, port, to, flags, (sequence, 0), payload)
}

/// The same that acknowledges what came.
pub fn tcp_after(
    from: Station,
    port: u16,
    to: (SocketAddrV4, [u8; 6]),
    flags: u8,
    (sequence, acknowledged): (u32, u32),
    payload: &[u8],
) -> Vec<u8> {
    let (there, mac) = to;
    let mut segment = [port.to_be_bytes(), there.port().to_be_bytes()].concat();
    segment.extend(sequence.to_be_bytes());
    segment.extend(acknowledged.to_be_bytes());
    // Five words of header; a window; no checksum yet; nothing urgent.
    segment.extend([0x50, flags, 0x10, 0x00, 0, 0, 0, 0]);
    segment.extend(payload);
    let mut pseudo = [from.ip.octets(), there.ip().octets()].concat();
    pseudo.extend([0, 6]);
    pseudo.extend((segment.len() as u16).to_be_bytes());
    let sum = checksum(&[pseudo, segment.clone()].concat());
    segment[16..18].copy_from_slice(&sum.to_be_bytes());
    ipv4(from, (*there.ip(), mac), 6, &segment)
}

/// An IP packet in its frame.
pub fn ipv4(from: Station, to: (Ipv4Addr, [u8; 6]), protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x45, 0];
    header.extend((20 + payload.len() as u16).to_be_bytes());
    header.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    header.extend(from.ip.octets());
    header.extend(to.0.octets());
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut frame = ethernet(to.1, from.mac, 0x0800);
    frame.extend(header);
    frame.extend(payload);
    frame
}

/// All that passes by on the networks of this computer.
pub struct Wiretap(Socket);

/// A TCP segment that passed by.
#[derive(Debug, Clone)]
pub struct Segment {
    /// TCP's flags.
    pub flags: u8,
    /// The number of its first byte.
    pub sequence: u32,
    /// What it carries.
    pub payload: Vec<u8>,
}

impl Wiretap {
    /// Listens from now on. Needs the rights of a network's owner.
    pub fn new() -> Wiretap {
        // Linux's AF_PACKET, SOCK_RAW and ETH_P_ALL.
        let (frames, raw, all) = (Domain::from(17), Type::from(3), Protocol::from(i32::from(3_u16.to_be())));
        let socket = Socket::new(frames, raw, Some(all));
        let socket = socket.expect("a socket for frames");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        Wiretap(socket)
    }

    /// The next segment to a port of somebody's.
    pub fn segment_to(&mut self, to: Ipv4Addr, port: u16) -> Segment {
        let mut frame = [0; 2048];
        loop {
            let length =
                self.0.read(&mut frame).unwrap_or_else(|error| panic!("nothing comes to {to}:{port}: {error}"));
            let frame = &frame[..length];
            let is_tcp = length >= 54 && frame[12..14] == [8, 0] && frame[23] == 6;
            if !is_tcp || frame[30..34] != to.octets() || frame[36..38] != port.to_be_bytes() {
                continue;
            }
            let (header, end) =
                (34 + 4 * usize::from(frame[46] >> 4), 14 + usize::from(frame[16]) * 256 + usize::from(frame[17]));
            return Segment {
                flags: frame[47],
                sequence: u32::from_be_bytes([frame[38], frame[39], frame[40], frame[41]]),
                payload: frame.get(header..end).unwrap_or_default().to_vec(),
            };
        }
    }
}

impl Default for Wiretap {
    fn default() -> Self {
        Self::new()
    }
}

fn ethernet(to: [u8; 6], from: [u8; 6], kind: u16) -> Vec<u8> {
    let mut frame = [to, from].concat();
    frame.extend(kind.to_be_bytes());
    frame
}

fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOMEBODY: Station = Station { mac: [2, 0, 0, 0, 0, 9], ip: Ipv4Addr::new(10, 77, 0, 9) };

    #[test]
    fn a_checksum_over_itself_is_zero() {
        let there = SocketAddrV4::new(Ipv4Addr::new(10, 77, 0, 2), 8000);
        let frame = tcp(SOMEBODY, 4000, (there, [2; 6]), SYN, 7, b"odd");
        assert_eq!(frame.len(), 14 + 20 + 20 + 3);
        assert_eq!(checksum(&frame[14..34]), 0, "the header's");
        let pseudo = [&frame[26..34], &[0, 6, 0, 23], &frame[34..]].concat();
        assert_eq!(checksum(&pseudo), 0, "the segment's");
    }

    #[test]
    fn an_announcement_asks_everybody_for_ones_own_address() {
        let frame = arp_announcement(SOMEBODY);
        assert_eq!(frame.len(), 42);
        assert_eq!((&frame[..6], &frame[28..32], &frame[38..]), (&[0xff; 6][..], &frame[38..42], &[10, 77, 0, 9][..]));
    }
}
