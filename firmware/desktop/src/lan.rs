//! Which addresses others can reach this computer by. Nothing is sent to find out: the routing table is asked.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// Somewhere on the internet, and the routers of usual home and classroom networks: between them they find the way
/// out also where there is no internet. The first is reserved for documentation, so nobody is there.
const ELSEWHERE: [Ipv4Addr; 6] = [
    Ipv4Addr::new(192, 0, 2, 1),
    Ipv4Addr::new(192, 168, 0, 1),
    Ipv4Addr::new(192, 168, 1, 1),
    Ipv4Addr::new(10, 0, 0, 1),
    Ipv4Addr::new(172, 16, 0, 1),
    Ipv4Addr::new(169, 254, 0, 1),
];

/// The addresses under which a box that listens on `listen` can be reached, the likeliest first and loopback last.
/// Never empty.
pub fn addresses(listen: SocketAddr) -> Vec<SocketAddr> {
    let found = if listen.ip().is_unspecified() {
        let routed = ELSEWHERE.into_iter().filter_map(source_towards);
        let listed = fs::read_to_string("/proc/net/fib_trie").map(|table| local_addresses(&table)).unwrap_or_default();
        in_order(routed.chain(listed)).into_iter().map(IpAddr::V4).collect()
    } else {
        vec![listen.ip()]
    };
    found.into_iter().map(|ip| SocketAddr::new(ip, listen.port())).collect()
}

/// The address this computer would send from. Connecting a UDP socket only looks up the route.
fn source_towards(target: Ipv4Addr) -> Option<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((target, 9)).ok()?;
    match socket.local_addr().ok()?.ip() {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    }
}

/// Every address of this computer in Linux's own listing of its routes: the lines above `/32 host LOCAL`.
fn local_addresses(fib_trie: &str) -> Vec<Ipv4Addr> {
    let mut last: Option<Ipv4Addr> = None;
    let mut found = Vec::new();
    for line in fib_trie.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse().ok();
        } else if line == "/32 host LOCAL" {
            found.extend(last);
        }
    }
    found
}

/// Each address once, in the order found, with `127.0.0.1` as the only loopback address and the last of all.
fn in_order(found: impl Iterator<Item = Ipv4Addr>) -> Vec<Ipv4Addr> {
    let mut addresses = Vec::new();
    for address in found {
        if !address.is_loopback() && !address.is_unspecified() && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses.push(Ipv4Addr::LOCALHOST);
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_on_every_network_can_be_reached_at_least_from_this_computer() {
        let addresses = addresses("0.0.0.0:8000".parse().unwrap());
        assert_eq!(addresses.last(), Some(&"127.0.0.1:8000".parse().unwrap()));
        assert!(addresses.iter().all(|address| address.port() == 8000 && !address.ip().is_unspecified()));
    }

    #[test]
    fn a_box_on_one_address_is_reached_by_that_one() {
        let listen = "127.0.0.1:9".parse().unwrap();
        assert_eq!(addresses(listen), [listen]);
    }

    #[test]
    fn the_kernels_table_lists_every_network_once_and_loopback_last() {
        let table = "\
Main:
  +-- 0.0.0.0/0 3 0 5
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.1
           /32 host LOCAL
        |-- 127.255.255.255
           /32 link BROADCAST
     +-- 192.168.7.0/24 2 0 2
        |-- 192.168.7.0
           /24 link UNICAST
        |-- 192.168.7.12
           /32 host LOCAL
Local:
        |-- 192.168.7.12
           /32 host LOCAL
        |-- 10.1.2.3
           /32 host LOCAL
";
        let expected: [Ipv4Addr; 3] = [[192, 168, 7, 12], [10, 1, 2, 3], [127, 0, 0, 1]].map(Ipv4Addr::from);
        assert_eq!(in_order(local_addresses(table).into_iter()), expected);
    }

    #[test]
    fn a_table_of_nonsense_lists_nothing() {
        assert!(local_addresses("|-- x\n/32 host LOCAL\n/32 host LOCAL").is_empty());
    }
}
