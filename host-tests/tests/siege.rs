//! A league of honest players while everything that was ever tried against the box happens at once, from other addresses of
//! this computer: 127.0.0.0/8 has many, and each is a machine of its own to the box. The league takes at most twice as long
//! as it does alone, nobody honest loses a match for a technical reason, and the owner gets through all the time.
//! `cargo xtask siege` runs it and shows what it prints.
//!
//! `LEAGUEBOX_SIEGE_WITHOUT=long,drip` leaves attacks out, by the names below, to see which one hurts.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{Scope, sleep};
use std::time::{Duration, Instant};

use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::websocket::masked;
use host_tests::{Over, results, wait_for};
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};

const PLAYERS: usize = 32;
/// How long an honest player thinks before every choice: a league that takes no time has none to lose.
const THINKING: Duration = Duration::from_millis(150);
/// No attacker waits longer for the box.
const CONNECT: Duration = Duration::from_secs(1);

/// What happened.
#[derive(Default)]
struct Seen {
    attacks: AtomicU64,
    /// The owner's calls, and those that were not heard as the owner's.
    owner: AtomicU64,
    locked_out: AtomicU64,
    /// Tokens of others that somebody was given.
    stolen: AtomicU64,
}

/// What every attacker knows.
#[derive(Clone, Copy)]
struct Siege<'a> {
    target: SocketAddr,
    over: &'a AtomicBool,
    seen: &'a Seen,
}

impl Siege<'_> {
    fn goes_on(self) -> bool {
        self.seen.attacks.fetch_add(1, Relaxed);
        !self.over.load(Relaxed)
    }

    /// A connection from one of the other addresses.
    fn dial(self, network: u8, host: u8) -> Option<TcpStream> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
        socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 66, network, host.max(1)), 0)).into()).ok()?;
        socket.connect_timeout(&self.target.into(), CONNECT).ok()?;
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(CONNECT)).ok()?;
        stream.set_write_timeout(Some(CONNECT)).ok()?;
        Some(stream)
    }

    /// Sends something and reads what comes, up to so many bytes.
    fn exchange(self, (network, host): (u8, u8), bytes: &[u8], upto: u64) -> Option<Vec<u8>> {
        let mut stream = self.dial(network, host)?;
        stream.write_all(bytes).ok()?;
        let mut answer = Vec::new();
        let _ = stream.take(upto).read_to_end(&mut answer);
        Some(answer)
    }

    fn post(self, from: (u8, u8), path: &str, headers: &str, body: &str) -> Option<Vec<u8>> {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.0\r\nHost: {}\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}",
            self.target
        );
        self.exchange(from, request.as_bytes(), 1 << 20)
    }

    /// Long pages, wanted without their bodies and with, many on one connection, by one who reads all and fast.
    fn long_pages(self, number: u8) {
        let method = if number.is_multiple_of(2) { "HEAD" } else { "GET" };
        let pages = ["/api/log.jsonl", "/api/schedule.json", "/api/results.csv", "/api/players.json"];
        while self.goes_on() {
            let asks: String = pages
                .iter()
                .cycle()
                .take(32)
                .map(|page| format!("{method} {page} HTTP/1.1\r\nHost: {}\r\n\r\n", self.target))
                .collect();
            let _ = self.exchange((1, number), asks.as_bytes(), 16 << 20);
        }
    }

    /// More connections than are served at once, each of which asks every 0.4 s.
    fn hoard(self) {
        let ask = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", self.target);
        let mut held: Vec<Option<TcpStream>> = (0..220).map(|_| None).collect();
        while self.goes_on() {
            for (number, place) in (0..).zip(&mut held) {
                if self.over.load(Relaxed) {
                    return;
                }
                let stream = place.take().or_else(|| {
                    let stream = self.dial(2, number)?;
                    stream.set_nonblocking(true).ok()?;
                    Some(stream)
                });
                *place = stream.filter(|mut stream| {
                    let ended = matches!(stream.read(&mut [0; 2048]), Ok(0));
                    !ended && stream.write_all(ask.as_bytes()).is_ok()
                });
            }
            sleep(Duration::from_millis(400));
        }
    }

    /// Connections that say nothing, and requests that never end.
    fn drip(self) {
        let mut held = Vec::new();
        while self.goes_on() {
            held.retain_mut(|(stream, number): &mut (TcpStream, u8)| {
                number.is_multiple_of(2) || stream.write_all(b"z").is_ok()
            });
            if held.len() < 60 {
                held.extend((0..5).filter_map(|number| {
                    let mut stream = self.dial(3, number)?;
                    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-Slow: ").ok()?;
                    Some((stream, number))
                }));
            } else {
                held.drain(..20);
            }
            sleep(Duration::from_millis(200));
        }
    }

    /// Bytes that mean nothing, and heads and bodies that are nearly right.
    fn babble(self) {
        let deep = "[".repeat(4000);
        let nearly = [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
        ];
        let mut dice = 1_u64;
        while self.goes_on() {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let text = nearly[(dice >> 33) as usize % nearly.len()];
            let _ = self.exchange((4, (dice >> 40) as u8), text.as_bytes(), 4096);
            let _ = self.exchange((4, (dice >> 48) as u8), &dice.to_le_bytes().repeat(64), 4096);
            let _ = self.post((4, 9), "/mcp", "", &deep);
            let _ = self.post((4, 9), "/mcp", "Origin: http://evil.example\r\n", "{}");
            sleep(Duration::from_millis(5));
        }
    }

    /// Registers as somebody who is there already, with its name, its endpoint, or both; and as many others.
    fn impersonate(self, members: &[(String, String, String)]) {
        for (number, (name, endpoint, token)) in members.iter().cycle().enumerate() {
            if !self.goes_on() {
                return;
            }
            let (name, endpoint) = match number % 3 {
                0 => (name.clone(), endpoint.clone()),
                1 => (name.clone(), "http://127.66.5.1:9/mcp".to_owned()),
                // To people it is the same name.
                _ => (name.to_uppercase(), endpoint.clone()),
            };
            let body = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {
                "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "player_meta": {
                "display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint}}});
            let answer = self.post((5, 1), "/mcp", "", &body.to_string()).unwrap_or_default();
            let is_told = answer.windows(token.len()).any(|part| part == token.as_bytes());
            self.seen.stolen.fetch_add(u64::from(is_told), Relaxed);
            sleep(Duration::from_millis(5));
        }
    }

    /// Tries admin codes from many addresses, the owner's among them.
    fn guess(self) {
        for number in 0.. {
            if !self.goes_on() {
                return;
            }
            let header = format!("Authorization: Bearer guess-{number}\r\n");
            let _ = self.post((6, number as u8), "/api/admin/reset", &header, "");
            let _ = self.post((9, 1), "/api/admin/reset", &header, "");
            sleep(Duration::from_millis(5));
        }
    }

    /// Links that break every rule of the frames, ping without an end, or say nothing.
    fn links(self, path: &str) {
        let hello = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            self.target
        );
        let floods = [
            masked(0x89, b"are you there").repeat(500),
            masked(0x82, &[7; 3000]),
            masked(0x81, b"\xCE\xBA\xED\xA0\x80"),
            masked(0x01, b"{").repeat(3),
            masked(0x81, br#"{"jsonrpc":"2.0","method":"ping","id":1}"#).repeat(300),
            masked(0x81, &[b'['; 12_000]),
            vec![0x81, 2, b'{', b'}'],
        ];
        for (number, flood) in floods.iter().cycle().enumerate() {
            if !self.goes_on() {
                return;
            }
            let Some(mut stream) = self.dial(7, number as u8) else { continue };
            let mut head = [0; 12];
            if stream.write_all(hello.as_bytes()).is_ok() && stream.read_exact(&mut head).is_ok() {
                // The head's end comes with its beginning.
                sleep(Duration::from_millis(5));
                let _ = stream.write_all(flood);
                let _ = stream.read(&mut [0; 4096]);
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// The owner, from the address of somebody who guesses and from its own.
    fn command(self, code: &str) {
        while self.goes_on() {
            for host in [1, 2] {
                let header = format!("Authorization: Bearer {code}\r\n");
                let body = r#"{"player_id":"P99"}"#;
                let answer = self.post((9, host), "/api/admin/check", &header, body);
                let is_heard = answer.is_some_and(|answer| answer.starts_with(b"HTTP/1.1 404"));
                self.seen.owner.fetch_add(1, Relaxed);
                self.seen.locked_out.fetch_add(u64::from(!is_heard), Relaxed);
            }
            sleep(Duration::from_millis(50));
        }
    }
}

/// Begins all attacks, but for those that are left out.
fn besiege<'s>(scope: &'s Scope<'s, '_>, siege: Siege<'s>, members: &'s [(String, String, String)]) {
    if is_in("long") {
        (0..4).for_each(|number| drop(scope.spawn(move || siege.long_pages(number))));
    }
    if is_in("hoard") {
        scope.spawn(move || siege.hoard());
    }
    if is_in("drip") {
        scope.spawn(move || siege.drip());
    }
    if is_in("babble") {
        scope.spawn(move || siege.babble());
    }
    if is_in("impersonate") {
        scope.spawn(move || siege.impersonate(members));
    }
    if is_in("guess") {
        scope.spawn(move || siege.guess());
    }
    if is_in("links") {
        for path in ["/ws", "/api/v1/ws?type=agent", "/api/live"] {
            scope.spawn(move || siege.links(path));
        }
    }
}

/// Whether an attack is not left out.
fn is_in(name: &str) -> bool {
    !std::env::var("LEAGUEBOX_SIEGE_WITHOUT").is_ok_and(|without| without.split(',').any(|other| other == name))
}

/// A player that answers what it is asked and never what it is told, from an address of its own. Says who it is.
fn register_the_deaf(leaguebox: &LeagueBox) -> String {
    let home = Ipv4Addr::new(127, 66, 8, 1);
    let listener = TcpListener::bind((home, 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer_questions(stream));
        }
    });
    let over = AtomicBool::new(false);
    let siege = Siege { target: leaguebox.address, over: &over, seen: &Seen::default() };
    let body = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "player_meta": {
        "display_name": "Deaf", "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": format!("http://{home}:{port}/mcp")}}});
    let answer = siege.post((8, 1), "/mcp", "", &body.to_string()).expect("an answer");
    let answer = String::from_utf8(answer).expect("text");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    let answer: Value = serde_json::from_str(body).expect("JSON");
    answer["result"]["player_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn answer_questions(stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line).ok()? > 2 {
            if let Some((_, value)) =
                line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            {
                length = value.trim().parse().ok()?;
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let call: Value = serde_json::from_slice(&body).ok()?;
        let message = &call["params"];
        let mut result = json!({
            "protocol": "league.v2", "sender": format!("player:{}", message["player_id"].as_str().unwrap_or("P")),
            "timestamp": "2026-01-15T10:15:01Z", "conversation_id": message["conversation_id"],
            "auth_token": message["auth_token"], "match_id": message["match_id"], "player_id": message["player_id"],
        });
        match message["message_type"].as_str() {
            Some("GAME_INVITATION") => {
                result["message_type"] = json!("GAME_JOIN_ACK");
                result["accept"] = json!(true);
            }
            Some("CHOOSE_PARITY_CALL") => {
                result["message_type"] = json!("CHOOSE_PARITY_RESPONSE");
                result["parity_choice"] = json!("even");
            }
            // News: it keeps the connection, and its silence.
            _ => continue,
        }
        let reply = json!({"jsonrpc": "2.0", "result": result, "id": call["id"]}).to_string();
        write!(
            writer,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{reply}",
            reply.len()
        )
        .ok()?;
    }
}

/// Plays the league that is about to begin, or another one. How long it took.
fn league(leaguebox: &LeagueBox, is_first: bool) -> Duration {
    if !is_first {
        // Whoever is slow has not heard the end yet.
        wait_for("the rematch begins", || (leaguebox.admin("rematch").status == 200).then_some(()));
    }
    let begun = Instant::now();
    leaguebox.wait_for_the_champion();
    begun.elapsed()
}

#[test]
#[ignore = "takes a minute of all the computer has: `cargo xtask siege` runs it"]
fn a_league_of_32_is_not_slower_than_twice_and_loses_nothing_while_everything_is_tried_at_once() {
    let seconds = std::env::var("LEAGUEBOX_SIEGE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let begun = Instant::now();
    let alone = {
        let leaguebox = LeagueBox::start(Settings::start_at(PLAYERS + 1));
        let mut crowd = Crowd::thinking(THINKING);
        crowd.enlist(&leaguebox, PLAYERS + 1);
        league(&leaguebox, true)
    };
    let deaf = usize::from(is_in("news"));
    let leaguebox = LeagueBox::start(Settings::start_at(PLAYERS + 1));
    let mut crowd = Crowd::thinking(THINKING);
    let home = leaguebox.home().to_string();
    let mut members = Vec::new();
    let deaf_id = is_in("news").then(|| register_the_deaf(&leaguebox));
    for number in 1..=PLAYERS + 1 - deaf {
        let (name, endpoint) = (format!("Player {number}"), crowd.endpoint(&home));
        // The last one to register begins the league: the siege is on by then.
        if number == PLAYERS + 1 - deaf {
            break;
        }
        crowd.register(&leaguebox, &name, &home);
        members.push((name, endpoint, crowd.members.last().expect("a member").token.clone()));
    }
    let (over, seen) = (AtomicBool::new(false), Seen::default());
    let siege = Siege { target: leaguebox.address, over: &over, seen: &seen };
    let mut took = Vec::new();
    std::thread::scope(|scope| {
        let _over = Over(&over);
        besiege(scope, siege, &members);
        let code = leaguebox.admin_code.clone();
        scope.spawn(move || siege.command(&code));
        sleep(Duration::from_secs(2));
        crowd.register(&leaguebox, "The last one", &home);
        while took.is_empty() || begun.elapsed().as_secs() < seconds {
            took.push(league(&leaguebox, took.is_empty()));
            let rows = results::parse(&leaguebox.get("/api/results.csv").body);
            assert_eq!(rows.len(), (PLAYERS + 1) * PLAYERS / 2);
            let is_deaf = |id: &str| Some(id) == deaf_id.as_deref();
            let lost = rows.iter().filter(|row| row.get("status") == "TECHNICAL_LOSS");
            let honest: Vec<_> =
                lost.filter(|row| !["player_a", "player_b"].iter().any(|seat| is_deaf(row.get(seat)))).collect();
            assert!(honest.is_empty(), "matches that nobody should have lost: {honest:?}");
        }
    });
    took.sort();
    let middle = took[took.len() / 2];
    let count = |counter: &AtomicU64| counter.load(Relaxed);
    println!("a league of {} alone: {:.1} s", PLAYERS + 1, alone.as_secs_f32());
    println!("under siege: {} leagues, {:.1} s in the middle, {took:?}", took.len(), middle.as_secs_f32());
    println!("rounds of attacks: {}; the owner's calls: {}", count(&seen.attacks), count(&seen.owner));
    assert_eq!(count(&seen.locked_out), 0, "the owner was not let in");
    assert_eq!(count(&seen.stolen), 0, "somebody was given a token of others");
    assert!(middle <= 2 * alone, "{middle:?}, and {alone:?} alone");
}
