//! Peers that mean no good, and what they cost an honest one: a few seconds at most, on every device. What takes more than a
//! socket (frames, the cable, other machines in the network) is in `hostile_wire.rs`.

mod honest;

use honest::assert_an_honest_agent_is_served;
use host_tests::http::{self, exchange};
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::{Over, wait_for};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::ops::Not;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a connection to a box under attack is waited for. One that does not come is the attacker's loss.
const CONNECT: Duration = Duration::from_secs(1);

fn connect(address: SocketAddr) -> Option<TcpStream> {
    TcpStream::connect_timeout(&address, CONNECT).ok()
}

#[test]
fn malformed_heads_and_bodies_hurt_nobody() {
    let leaguebox = LeagueBox::start(Settings::default());
    let long_line = "x".repeat(9000);
    let deep = "[".repeat(3000);
    let heads = [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET  /  HTTP/1.1\r\n\r\n",
        "GET /health HTTP/1.1\nHost: x\n\n",
        "GET /health HTTP/1.1\r\nHost x\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: box\r\n: nameless\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: box\r\nContent-Length: abc\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: box\r\nContent-Length: 18446744073709551616\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: box\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "POST /mcp HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
        "POST /mcp HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n{}",
        "POST /mcp HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: gzip, chunked, chunked\r\n\r\n0\r\n\r\n",
        "GET /%00%ff%zz/../../etc/passwd HTTP/1.1\r\nHost: box\r\n\r\n",
        "GET /api/players/P99999999999999999999.json HTTP/1.0\r\n\r\n",
        "GET /api/matches/R\u{0}M\u{7f}.json HTTP/1.0\r\n\r\n",
        &long_line,
        &format!("GET /{long_line} HTTP/1.1\r\nHost: box\r\n\r\n"),
        &format!("GET / HTTP/1.1\r\nHost: box\r\n{}\r\n", "A: b\r\n".repeat(200)),
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    // A few at a time: after some of these the box waits for more as long as it waits for anybody.
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(head) = heads.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Whatever it answers, and if it closes without an answer. But it must have heard it.
                    wait_for("the box listens", || {
                        let heard = exchange(leaguebox.address, &[head.as_bytes(), b"\r\n\r\n"]);
                        heard.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused).not().then_some(())
                    });
                }
            });
        }
    });
    let bodies = [
        &deep,
        r#"{"jsonrpc":"2.0","method":"register_player","params":{"player_meta":{"display_name":"\ud800"}},"id":1}"#,
        r#"{"jsonrpc":"2.0","method":"register_player","params":{"player_meta":[]},"id":1}"#,
        r#"{"jsonrpc":"2.0","method":"league_query","params":{"query_type":{"a":[[[[[]]]]]}},"id":99e999999}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"register_player","arguments":"{"},"id":1}"#,
        "\u{feff}{}",
    ];
    for body in bodies {
        for path in ["/mcp", "/register"] {
            let _ = leaguebox.post(path, body);
        }
    }
    assert_an_honest_agent_is_served(&leaguebox);
}

/// A scanner finds a port open and leaves at once, by a reset: its ACK and its RST come in one burst.
#[test]
fn a_port_scan_resets_nothing_but_its_own_connections() {
    let leaguebox = LeagueBox::start(Settings::default());
    for round in 0..20 {
        for port in [leaguebox.address.port(), 80, 22, 443, 8001 + round] {
            let Some(stream) = connect(SocketAddr::new(leaguebox.address.ip(), port)) else { continue };
            let socket = socket2::Socket::from(stream);
            socket.set_linger(Some(Duration::ZERO)).expect("a socket that resets when it closes");
            drop(socket);
        }
    }
    assert_an_honest_agent_is_served(&leaguebox);
}

#[test]
fn fifty_idle_connections_keep_nobody_out() {
    let leaguebox = LeagueBox::start(Settings::default());
    let idle: Vec<TcpStream> = (0..50).filter_map(|_| connect(leaguebox.address)).collect();
    assert!(!idle.is_empty(), "some got in");
    assert_an_honest_agent_is_served(&leaguebox);
    drop(idle);
    assert_an_honest_agent_is_served(&leaguebox);
}

#[test]
fn requests_that_drip_byte_by_byte_keep_nobody_out() {
    let leaguebox = LeagueBox::start(Settings::default());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&over);
        for _ in 0..16 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    drip(leaguebox.address, &over);
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
        }
        // All of them are there before the honest one comes.
        std::thread::sleep(Duration::from_secs(2));
        assert_an_honest_agent_is_served(&leaguebox);
    });
    assert_an_honest_agent_is_served(&leaguebox);
}

/// Some more than the box serves at once.
const HOARDERS: usize = if DEVICE_IS_A_BOARD { 10 } else { 200 };
const DEVICE_IS_A_BOARD: bool = cfg!(feature = "board");

#[test]
fn connections_that_ask_again_and_again_keep_nobody_out() {
    let leaguebox = LeagueBox::start(Settings::default());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&over);
        for _ in 0..HOARDERS {
            let small = std::thread::Builder::new().stack_size(128 * 1024);
            small.spawn_scoped(scope, || hoard(leaguebox.address, &over)).expect("a thread");
        }
        // All of them are there before the honest one comes.
        std::thread::sleep(Duration::from_secs(2));
        assert_an_honest_agent_is_served(&leaguebox);
        assert_eq!(wait_for("the owner is served", || leaguebox.try_admin("reset")).status, 200);
    });
    assert_an_honest_agent_is_served(&leaguebox);
}

/// Asks every 0.4 s on one connection, and on another when the box has enough of it.
fn hoard(address: SocketAddr, over: &AtomicBool) {
    let ask = format!("GET /health HTTP/1.1\r\nHost: {address}\r\n\r\n");
    while !over.load(Ordering::Relaxed) {
        let Some(mut stream) = connect(address) else {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let _ = stream.set_read_timeout(Some(CONNECT));
        while !over.load(Ordering::Relaxed) && stream.write_all(ask.as_bytes()).is_ok() {
            if !matches!(stream.read(&mut [0; 1024]), Ok(1..)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(400));
        }
    }
}

#[test]
fn long_pages_wanted_all_the_time_keep_nobody_out() {
    let leaguebox = LeagueBox::start(Settings::default());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&over);
        for method in ["HEAD", "GET"] {
            let (address, over) = (leaguebox.address, &over);
            scope.spawn(move || {
                let asks = format!("{method} /api/log.jsonl HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(16);
                while !over.load(Ordering::Relaxed) {
                    let Some(mut stream) = connect(address) else { continue };
                    let _ = stream.set_read_timeout(Some(CONNECT));
                    let _ = stream.write_all(asks.as_bytes());
                    while !over.load(Ordering::Relaxed) && matches!(stream.read(&mut [0; 16 * 1024]), Ok(1..)) {}
                }
            });
        }
        assert_an_honest_agent_is_served(&leaguebox);
    });
}

#[test]
fn a_request_without_a_host_or_with_two_is_refused_and_one_for_another_host_too() {
    let leaguebox = LeagueBox::start(Settings::default());
    let host = leaguebox.address;
    for (head, status) in [
        ("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(), 400),
        (format!("GET /health HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\nConnection: close\r\n\r\n"), 400),
        ("GET /health HTTP/1.0\r\n\r\n".to_owned(), 200),
        (format!("GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"), 200),
        ("POST /mcp HTTP/1.0\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n".to_owned(), 403),
        ("POST /nowhere HTTP/1.0\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n".to_owned(), 403),
    ] {
        let answer = wait_for("an answer", || exchange(leaguebox.address, &[head.as_bytes()]).ok());
        assert_eq!(answer.status, status, "{head}: {answer:?}");
    }
}

#[test]
fn the_owner_gets_in_however_many_codes_others_try() {
    let leaguebox = LeagueBox::start(Settings::default());
    for _ in 0..12 {
        let wrong = http::request(leaguebox.address, "POST", "/api/admin/reset", "Authorization: Bearer guess\r\n", "");
        assert!(matches!(wrong.expect("an answer").status, 401 | 429));
        assert_eq!(leaguebox.admin("reset").status, 200, "from the same address, and at once");
    }
}

/// Sends a head that never ends, slowly, until the box has enough of it.
fn drip(address: SocketAddr, over: &AtomicBool) {
    let Some(mut stream) = connect(address) else { return };
    for byte in b"POST /mcp HTTP/1.1\r\nHost: box\r\nX-Slow: ".iter().chain(b"z".iter().cycle()) {
        if over.load(Ordering::Relaxed) || stream.write_all(&[*byte]).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn datagrams_larger_than_a_frame_are_ignored() {
    let leaguebox = LeagueBox::start(Settings::default());
    let socket = UdpSocket::bind((leaguebox.home(), 0)).expect("a socket");
    for port in [leaguebox.address.port(), 53, 67, 68, 123, 5353] {
        for length in [0, 1, 1472, 1473, 8000, 60_000] {
            // Nobody may listen there: a desktop says so, and that is fine.
            let _ = socket.send_to(&vec![0xa5; length], SocketAddr::new(leaguebox.address.ip(), port));
        }
    }
    assert_an_honest_agent_is_served(&leaguebox);
}
