//! What can happen to a box on the wire, below any socket: floods, forged and broken frames, a pulled cable, a machine with the
//! same address, a DHCP server that goes away. After each, an honest agent is served within seconds, and nothing was reset.

mod honest;

use honest::assert_an_honest_agent_is_served;
use host_tests::crowd::Crowd;
use host_tests::frames::{self, ACK, FIN, RST, SYN, Station, Wiretap};
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wire::{self, Network};
use host_tests::{PATIENCE, results, wait_for};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::time::Duration;

/// Nobody has these addresses.
const STRANGER: Station = Station { mac: [0x02, 0x66, 0x66, 0x66, 0x66, 0x66], ip: Ipv4Addr::new(10, 77, 0, 254) };

/// Where the box is, to the wire.
fn target(leaguebox: &LeagueBox) -> (SocketAddrV4, [u8; 6]) {
    let SocketAddr::V4(address) = leaguebox.address else { panic!("the box has an IPv4 address") };
    (address, wire::mac_of(*address.ip()))
}

fn inject(leaguebox: &LeagueBox, frame: &[u8]) {
    leaguebox.board().inject(frame).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn two_hundred_half_open_connections_keep_nobody_out() {
    let leaguebox = LeagueBox::start(Settings::default());
    let there = target(&leaguebox);
    // The box learns where the stranger is, so that its answers leave. Nobody will ever acknowledge them.
    inject(&leaguebox, &frames::arp(STRANGER, *there.0.ip()));
    for port in 10_000..10_200 {
        inject(&leaguebox, &frames::tcp(STRANGER, port, there, SYN, u32::from(port) * 7, &[]));
    }
    assert_an_honest_agent_is_served(&leaguebox);
}

#[test]
fn segments_out_of_nowhere_are_no_connection() {
    let leaguebox = LeagueBox::start(Settings::default());
    let there = target(&leaguebox);
    inject(&leaguebox, &frames::arp(STRANGER, *there.0.ip()));
    for port in 0..64 {
        for flags in [0, ACK, RST, FIN, ACK | RST, ACK | FIN, SYN | FIN, SYN | RST, 0xff] {
            inject(&leaguebox, &frames::tcp(STRANGER, 20_000 + port, there, flags, 1, b"GET / HTTP/1.1\r\n\r\n"));
        }
    }
    // A handshake whose ACK is a reset.
    for port in 0..64 {
        inject(&leaguebox, &frames::tcp(STRANGER, 21_000 + port, there, SYN, 1, &[]));
        inject(&leaguebox, &frames::tcp(STRANGER, 21_000 + port, there, ACK, 2, &[]));
        inject(&leaguebox, &frames::tcp(STRANGER, 21_000 + port, there, RST, 2, &[]));
    }
    assert_an_honest_agent_is_served(&leaguebox);
}

/// Whoever hears nothing for a second asks again, and a box that has much to do, or whose answer was lost, has heard it the first
/// time. By then another slot may listen.
#[test]
fn who_asks_twice_for_a_connection_has_one() {
    const PORT: u16 = 22_000;
    let leaguebox = LeagueBox::start(Settings::default());
    let (there, mut wire) = (target(&leaguebox), Wiretap::new());
    inject(&leaguebox, &frames::arp(STRANGER, *there.0.ip()));
    // Somebody has the slot that would be the first to listen, and is gone when the stranger asks again.
    let first = TcpStream::connect(leaguebox.address).expect("a connection");
    let begin = frames::tcp(STRANGER, PORT, there, SYN, 1_000, &[]);
    inject(&leaguebox, &begin);
    let answer = wire.segment_to(STRANGER.ip, PORT);
    assert_eq!(answer.flags, SYN | ACK);
    drop(first);
    let gone = leaguebox.clock();
    wait_for("the first slot listens again", || {
        (leaguebox.clock() - gone > Duration::from_millis(1_500)).then_some(())
    });
    inject(&leaguebox, &begin);
    let (flags, at) = (ACK, (1_001, answer.sequence.wrapping_add(1)));
    inject(&leaguebox, &frames::tcp_after(STRANGER, PORT, there, flags, at, b"GET /health HTTP/1.0\r\n\r\n"));
    let said = loop {
        let segment = wire.segment_to(STRANGER.ip, PORT);
        assert_eq!(segment.flags & RST, 0, "its connection is reset");
        if !segment.payload.is_empty() {
            break String::from_utf8(segment.payload).expect("text");
        }
    };
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert_an_honest_agent_is_served(&leaguebox);
}

#[test]
fn frames_of_every_length_and_lies_about_lengths_are_survived() {
    let leaguebox = LeagueBox::start(Settings::default());
    let there = target(&leaguebox);
    let fine = frames::tcp(STRANGER, 30_000, there, SYN, 1, &[0x55; 1400]);
    // Longer than any frame may be, and cut short anywhere.
    for length in [1515, 1518, 1519, 2000, 4096, 9000] {
        let mut long = fine.clone();
        long.resize(length, 0xaa);
        inject(&leaguebox, &long);
    }
    for length in 0..80 {
        inject(&leaguebox, &fine[..length]);
    }
    // Each byte of the headers but the addresses set to its extremes.
    for place in (12..26).chain(34..54) {
        for value in [0x00, 0x7f, 0xff] {
            let mut lie = fine.clone();
            lie[place] = value;
            inject(&leaguebox, &lie);
        }
    }
    for protocol in [0, 1, 2, 17, 41, 255] {
        for length in [0, 1, 7, 8, 300] {
            inject(&leaguebox, &frames::ipv4(STRANGER, (*there.0.ip(), there.1), protocol, &vec![0; length]));
        }
    }
    assert_an_honest_agent_is_served(&leaguebox);
}

#[test]
fn a_cable_pulled_in_the_middle_of_a_match_costs_nobody_a_point() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 4);
    wait_for("all four are asked", || {
        (crowd.events().iter().filter(|event| event.is("CHOOSE_PARITY_CALL")).count() == 4).then_some(())
    });
    let board = leaguebox.board();
    let seen = board.log_position();
    board.cable(false).expect("a cable");
    board.wait_for_log(seen, "link down", PATIENCE).expect("the box sees it");
    // The answers are sent into nothing, and again until they arrive.
    crowd.release();
    std::thread::sleep(Duration::from_secs(2));
    board.cable(true).expect("a cable");
    board.wait_for_log(seen, "link up", PATIENCE).expect("the box sees it");
    crowd.wait_for_the_end();
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    assert_eq!(leaguebox.resets(), Vec::<String>::new());
}

#[test]
fn a_lossy_cable_slows_a_league_but_does_not_decide_it() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    leaguebox.board().lose(0.03, 0.03, 7).expect("a bad cable");
    let crowd = Crowd::of(&leaguebox, 4);
    crowd.wait_for_the_end();
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
}

#[test]
fn a_machine_with_the_same_address_is_survived() {
    let leaguebox = LeagueBox::start(Settings::default());
    let SocketAddr::V4(address) = leaguebox.address else { panic!("the box has an IPv4 address") };
    let there = target(&leaguebox);
    let double = wire::Machine::start("lb0", *address.ip());
    double.speak();
    // And it claims the address to the box itself, as every machine does when it starts.
    let claim = Station { mac: double.mac, ip: *address.ip() };
    for _ in 0..10 {
        inject(&leaguebox, &frames::arp_announcement(claim));
    }
    // Long enough for a box that gives way to do it.
    std::thread::sleep(Duration::from_secs(2));
    drop(double);
    // Whoever was told the wrong place forgets it after a while; we do not wait for that.
    wire::forget(*address.ip());
    assert_an_honest_agent_is_served(&leaguebox);
    assert_eq!(wire::mac_of(*address.ip()), there.1, "it is the box that answers");
}

#[test]
fn a_box_whose_dhcp_server_is_gone_keeps_its_address() {
    let network = Network::new("lbgone", Ipv4Addr::new(10, 78, 0, 1));
    let server = network.dhcp();
    let leaguebox = LeagueBox::in_emulator(Settings::default(), network.bridge());
    let (address, begun) = (leaguebox.address, leaguebox.clock());
    drop(server);
    // The shortest lease is two minutes; the box is patient for a while more.
    let long = Duration::from_secs(150);
    wait_for("the lease is over", || (leaguebox.clock() - begun > long).then_some(()));
    leaguebox.wait_until_healthy();
    assert_eq!(leaguebox.address, address);
    assert_an_honest_agent_is_served(&leaguebox);
    // When it comes back, the box is its client again.
    let seen = leaguebox.board().log_position();
    let _server = network.dhcp();
    leaguebox.board().wait_for_log(seen, "a DHCP server answers", PATIENCE).expect("the box looks for one");
    leaguebox.wait_until_healthy();
    assert_an_honest_agent_is_served(&leaguebox);
}
