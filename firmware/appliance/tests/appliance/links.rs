//! Players that dial in, over a network that cuts, delays and breaks: the handshake, the frames on the wire, and whole
//! leagues on links.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::task::Poll;

use crate::net_support::{Client, Does, Plan, Scene, Socket, play, reply};
use crate::slots::{busy_league, lend_as_a_board};
use appliance::clock::Clock;
use serde_json::{Value, json};

pub const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
pub const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";

/// What the box sent.
#[derive(Clone, Debug, PartialEq)]
enum Frame {
    Text(String),
    Ping,
    Pong(Vec<u8>),
    Close(u16, String),
}

/// An agent that has dialled in.
pub struct Agent<'w> {
    socket: Socket<'w>,
    unread: Vec<u8>,
    pub token: String,
    /// The calls it got, in order.
    calls: Vec<Value>,
}

fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [1, 2, 3, 4];
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..126 => bytes.push(0x80 | length as u8),
        length => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
    }
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

impl<'w> Agent<'w> {
    pub async fn dial(scene: &Scene<'_, 'w>, from: u8) -> Self {
        Self::dial_at(scene, from, "/ws").await
    }

    async fn dial_at(scene: &Scene<'_, 'w>, from: u8, path: &str) -> Self {
        let ip = IpAddr::V4(Ipv4Addr::new(10, 0, 0, from));
        let Client { mut socket, .. } = scene.dial_from(ip).await;
        let hello = format!("GET {path} HTTP/1.1\r\nHost: box\r\n{UPGRADE}Sec-WebSocket-Key: {KEY}\r\n\r\n");
        socket.send(hello.as_bytes()).await.unwrap();
        let mut agent = Self { socket, unread: Vec::new(), token: String::new(), calls: Vec::new() };
        while !agent.unread.windows(4).any(|four| four == b"\r\n\r\n") {
            agent.more().await.expect("an answer to the handshake");
        }
        let head = String::from_utf8(std::mem::take(&mut agent.unread)).unwrap();
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{head}");
        agent
    }

    async fn more(&mut self) -> Option<()> {
        let mut buf = [0; 1024];
        let n = embedded_io_async::Read::read(&mut self.socket, &mut buf).await.ok().filter(|&n| n > 0)?;
        self.unread.extend_from_slice(&buf[..n]);
        Some(())
    }

    async fn bytes(&mut self, n: usize) -> Option<Vec<u8>> {
        while self.unread.len() < n {
            self.more().await?;
        }
        Some(self.unread.drain(..n).collect())
    }

    async fn send(&mut self, bytes: &[u8]) {
        let _ = self.socket.send(bytes).await;
    }

    async fn say(&mut self, message: &Value) {
        self.send(&masked(0x81, message.to_string().as_bytes())).await;
    }

    /// The next frame. `None` when the box has hung up.
    async fn frame(&mut self) -> Option<Frame> {
        let head = self.bytes(2).await?;
        assert_eq!(head[1] & 0x80, 0, "a server does not mask");
        assert_eq!(head[0] & 0xF0, 0x80, "and sends whole messages");
        let length = match head[1] {
            126 => self.bytes(2).await?.iter().fold(0, |n, &b| n << 8 | usize::from(b)),
            127 => self.bytes(8).await?.iter().fold(0, |n, &b| n << 8 | usize::from(b)),
            short => short.into(),
        };
        let payload = self.bytes(length).await?;
        Some(match head[0] & 15 {
            1 => Frame::Text(String::from_utf8(payload).unwrap()),
            8 => Frame::Close(
                u16::from_be_bytes([payload[0], payload[1]]),
                String::from_utf8(payload[2..].to_vec()).unwrap(),
            ),
            9 => Frame::Ping,
            10 => Frame::Pong(payload),
            other => panic!("opcode {other}"),
        })
    }

    /// The next message. Pings are answered.
    async fn hear(&mut self) -> Option<Value> {
        loop {
            match self.frame().await? {
                Frame::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Frame::Ping => self.send(&masked(0x8A, b"")).await,
                Frame::Pong(_) => {}
                Frame::Close(..) => return None,
            }
        }
    }

    pub async fn ask(&mut self, message: &Value) -> Value {
        self.say(message).await;
        self.hear().await.expect("an answer")
    }

    /// Registers, and returns the box's answer.
    async fn register(&mut self, name: &str) -> Value {
        let answer = self.ask(&registration(name)).await;
        self.token = answer["result"]["auth_token"].as_str().unwrap_or_default().to_owned();
        answer["result"].clone()
    }

    /// Dials in and registers.
    pub async fn join(scene: &Scene<'_, 'w>, from: u8, name: &str) -> Self {
        let mut agent = Self::dial(scene, from).await;
        let answer = agent.register(name).await;
        assert_eq!(answer["status"], "ACCEPTED", "{answer}");
        agent
    }

    /// Answers every call until the league is over or the box hangs up.
    pub async fn play(&mut self) {
        while let Some(call) = self.hear().await {
            let is_last = call["params"]["message_type"] == "LEAGUE_COMPLETED";
            self.say(&reply(&call, &self.token, 0)).await;
            self.calls.push(call);
            if is_last {
                return;
            }
        }
    }

    /// Answers calls up to one of this type, which it returns.
    async fn play_until(&mut self, message_type: &str) -> Value {
        loop {
            let call = self.hear().await.expect("another call");
            if call["params"]["message_type"] == message_type {
                return call;
            }
            self.say(&reply(&call, &self.token, 0)).await;
            self.calls.push(call);
        }
    }

    fn names(&self) -> Vec<&str> {
        self.calls.iter().filter_map(|call| call["params"]["message_type"].as_str()).collect()
    }

    pub fn query(&self, id: u32) -> Value {
        json!({"jsonrpc": "2.0", "method": "league_query", "id": id, "params": {"message_type": "LEAGUE_QUERY",
            "timestamp": "2025-01-15T10:05:00Z", "auth_token": self.token, "query_type": "GET_STANDINGS"}})
    }
}

fn registration(name: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": format!("player:{name}"),
        "timestamp": "2025-01-15T10:05:00Z", "conversation_id": "conv_1", "player_meta": {
        "display_name": name, "version": "1.0.0", "game_types": ["even_odd"]}}})
}

/// Runs all of them at once.
pub async fn all<const N: usize>(futures: [Pin<&mut dyn Future<Output = ()>>; N]) {
    let mut futures = futures.map(Some);
    poll_fn(|cx| {
        for future in &mut futures {
            if future.as_mut().is_some_and(|running| running.as_mut().poll(cx).is_ready()) {
                *future = None;
            }
        }
        if futures.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

async fn results(scene: &Scene<'_, '_>) -> String {
    scene.results().await.join("\n")
}

async fn log(scene: &Scene<'_, '_>) -> String {
    scene.get("/api/log.jsonl").await.body
}

#[test]
fn the_handshake_takes_what_browsers_send_and_refuses_the_rest() {
    play(Plan::new(0), async |scene| {
        let ask = async |method: &str, extra: &str| scene.dial().await.ask(method, "/ws", extra, "").await.unwrap();
        let key = format!("Sec-WebSocket-Key: {KEY}\r\n");
        let firefox = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n";
        let extensions = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
        for hello in [format!("{UPGRADE}{key}"), format!("{firefox}{key}{extensions}")] {
            let seen = ask("GET", &hello).await;
            assert_eq!(seen.status, 101, "{seen:?}");
            assert_eq!(seen.header("Sec-WebSocket-Accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
            assert_eq!(seen.header("Upgrade"), Some("websocket"));
            assert_eq!(seen.header("Sec-WebSocket-Extensions"), None, "none is agreed on");
        }
        let old = UPGRADE.replace("13", "8");
        let elsewhere = format!("{UPGRADE}{key}Origin: http://evil.example\r\n");
        for (method, extra, status) in [
            ("GET", "", 426),
            ("GET", "Connection: Upgrade\r\nUpgrade: h2c\r\n", 426),
            ("GET", &format!("{old}{key}"), 426),
            ("GET", UPGRADE, 400),
            ("GET", &format!("{UPGRADE}Sec-WebSocket-Key: short\r\n"), 400),
            ("POST", &format!("{UPGRADE}{key}"), 405),
            ("GET", &elsewhere, 403),
        ] {
            let seen = ask(method, extra).await;
            assert_eq!(seen.status, status, "{method} {extra}");
            assert!(seen.json()["error"].is_string());
            if status == 426 {
                assert_eq!(seen.header("Sec-WebSocket-Version"), Some("13"));
                assert_eq!(seen.header("Upgrade"), Some("websocket"));
            }
        }
    });
}

#[test]
fn a_frame_sent_before_the_handshake_is_answered_closes_with_1002() {
    play(Plan::new(0), async |scene| {
        let mut socket = scene.dial().await.socket;
        let mut bytes =
            format!("GET /ws HTTP/1.1\r\nHost: box\r\n{UPGRADE}Sec-WebSocket-Key: {KEY}\r\n\r\n").into_bytes();
        bytes.extend(masked(0x81, b"{}"));
        socket.send(&bytes).await.unwrap();
        let mut agent = Agent { socket, unread: Vec::new(), token: String::new(), calls: Vec::new() };
        while !agent.unread.windows(4).any(|four| four == b"\r\n\r\n") {
            agent.more().await.unwrap();
        }
        let end = agent.unread.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        agent.unread.drain(..end);
        assert!(matches!(agent.frame().await, Some(Frame::Close(1002, _))));
        assert_eq!(agent.frame().await, None);
    });
}

#[test]
fn a_league_of_agents_that_dialled_in_is_played_over_a_network_that_cuts_at_random() {
    let calm = play(Plan::new(2), async |scene| {
        scene.whole_league().await;
        results(&scene).await
    });
    for seed in 0..60 {
        play(Plan { seed: Some(seed), ..Plan::new(0) }, async |scene| {
            let mut ada = Agent::join(&scene, 11, "Agent 1").await;
            let mut bob = Agent::join(&scene, 12, "Agent 2").await;
            assert_eq!(scene.admin("start").await.status, 200);
            all([pin!(ada.play()), pin!(bob.play())]).await;
            scene.leaguebox.league_over().await;
            assert_eq!(results(&scene).await, calm, "seed {seed}");
            let round = ["ROUND_ANNOUNCEMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"];
            let end = ["LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"];
            assert_eq!(ada.names(), [&round[..], &end].concat(), "seed {seed}");
            assert_eq!(scene.get("/api/players/P01.json").await.json()["violations"], 0);
        });
    }
}

#[test]
fn agents_that_dial_in_and_agents_that_are_called_play_one_league() {
    for seed in 0..20 {
        play(Plan { seed: Some(seed), ..Plan::new(2) }, async |scene| {
            scene.register_all().await;
            let mut ada = Agent::join(&scene, 31, "Ada").await;
            let mut bob = Agent::join(&scene, 32, "Bob").await;
            assert_eq!(scene.admin("start").await.status, 200);
            all([pin!(ada.play()), pin!(bob.play())]).await;
            scene.leaguebox.league_over().await;
            let results = results(&scene).await;
            assert!(!results.contains("TECHNICAL_LOSS"), "seed {seed}: {results}");
            assert_eq!(scene.players[0].names().len(), 19);
            assert_eq!(ada.names().len(), 19);
        });
    }
}

#[test]
fn a_reconnect_with_the_token_in_the_middle_of_a_match_loses_nothing() {
    for seed in 0..20 {
        play(Plan { seed: Some(seed), ..Plan::new(1) }, async |scene| {
            scene.register_all().await;
            let mut ada = Agent::join(&scene, 31, "Ada").await;
            assert_eq!(scene.admin("start").await.status, 200);
            let asked = ada.play_until("CHOOSE_PARITY_CALL").await;
            let Agent { token, calls, socket, .. } = ada;
            socket.cut();
            drop(socket);
            scene.world.sleep(3_000).await;
            // From elsewhere, and with another message each time: any that shows the token will do.
            let mut back = Agent { token, calls, ..Agent::dial(&scene, 77).await };
            let hello = match seed % 3 {
                0 => json!({"jsonrpc": "2.0", "method": "ping", "id": 5, "params": {"auth_token": back.token}}),
                1 => back.query(5),
                _ => {
                    let mut again = registration("Ada");
                    again["params"]["auth_token"] = json!(back.token);
                    again["id"] = json!(5);
                    again
                }
            };
            assert_eq!(back.ask(&hello).await["id"], 5);
            let again = back.play_until("CHOOSE_PARITY_CALL").await;
            assert_eq!(again, asked, "the same question, by the same id");
            back.say(&reply(&again, &back.token, 0)).await;
            back.play().await;
            scene.leaguebox.league_over().await;
            assert!(!results(&scene).await.contains("TECHNICAL_LOSS"), "seed {seed}");
            let log = log(&scene).await;
            assert!(log.contains("Disconnected.") && log.contains("the connection broke"), "{log}");
        });
    }
}

#[test]
fn an_answer_sent_on_the_next_link_counts_if_it_shows_the_token() {
    play(Plan::new(1), async |scene| {
        scene.register_all().await;
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        assert_eq!(scene.admin("start").await.status, 200);
        let asked = ada.play_until("CHOOSE_PARITY_CALL").await;
        let token = ada.token.clone();
        drop(ada);
        let mut back = Agent { token, ..Agent::dial(&scene, 31).await };
        back.say(&reply(&asked, &back.token, 0)).await;
        back.play_until("LEAGUE_COMPLETED").await;
        assert!(!results(&scene).await.contains("TECHNICAL_LOSS"));
    });
}

#[test]
fn who_never_comes_back_loses_as_disconnected_and_the_league_ends() {
    play(Plan::new(1), async |scene| {
        scene.register_all().await;
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        assert_eq!(scene.admin("start").await.status, 200);
        ada.play_until("CHOOSE_PARITY_CALL").await;
        drop(ada);
        scene.leaguebox.league_over().await;
        assert!(results(&scene).await.contains("TECHNICAL_LOSS"));
        let report = scene.get("/api/players/P02.json").await.body;
        assert!(report.contains("unreachable") && !report.contains("no_answer"), "{report}");
    });
}

#[test]
fn who_never_answers_is_silent_and_its_link_stays() {
    play(Plan::new(1), async |scene| {
        scene.register_all().await;
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        assert_eq!(scene.admin("start").await.status, 200);
        let listens = async {
            loop {
                if let Frame::Close(code, why) = ada.frame().await.unwrap() {
                    panic!("{code} {why}");
                }
            }
        };
        embassy_futures::select::select(listens, scene.leaguebox.league_over()).await;
        assert!(results(&scene).await.contains("TECHNICAL_LOSS"));
        assert!(scene.get("/api/players/P02.json").await.body.contains("no_answer"));
    });
}

#[test]
fn questions_in_between_are_answered_and_never_mistaken_for_answers() {
    for seed in 0..20 {
        play(Plan { seed: Some(seed), ..Plan::new(1) }, async |scene| {
            scene.register_all().await;
            let mut ada = Agent::join(&scene, 31, "Ada").await;
            assert_eq!(scene.admin("start").await.status, 200);
            loop {
                let call = ada.hear().await.unwrap();
                let id = call["id"].as_u64().unwrap() as u32;
                // By the very id of the open call, and an answer to a call that was never made.
                ada.say(&json!({"jsonrpc": "2.0", "id": id + 1, "result": {"parity_choice": "nonsense"}})).await;
                let answer = ada.ask(&ada.query(id)).await;
                assert_eq!(answer["result"]["message_type"], "LEAGUE_QUERY_RESPONSE", "{answer}");
                assert_eq!(answer["id"], id);
                ada.say(&reply(&call, &ada.token, 0)).await;
                if call["params"]["message_type"] == "LEAGUE_COMPLETED" {
                    break;
                }
            }
            scene.leaguebox.league_over().await;
            assert!(!results(&scene).await.contains("TECHNICAL_LOSS"), "seed {seed}");
        });
    }
}

#[test]
fn an_answer_in_fragments_with_a_ping_within_counts() {
    play(Plan { seed: Some(3), ..Plan::new(1) }, async |scene| {
        scene.register_all().await;
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        assert_eq!(scene.admin("start").await.status, 200);
        let call = ada.play_until("CHOOSE_PARITY_CALL").await;
        let text = reply(&call, &ada.token, 0).to_string();
        let (left, right) = text.as_bytes().split_at(100);
        ada.send(&masked(0x01, left)).await;
        ada.send(&masked(0x89, b"within")).await;
        assert_eq!(ada.frame().await, Some(Frame::Pong(b"within".to_vec())));
        ada.send(&masked(0x80, right)).await;
        ada.play_until("LEAGUE_COMPLETED").await;
        assert!(!results(&scene).await.contains("TECHNICAL_LOSS"));
    });
}

#[test]
fn an_answer_longer_than_any_buffer_comes_in_one_frame() {
    let plan = Plan { seed: Some(5), ..Plan::new(7) }.small(1024);
    play(plan, async |scene| {
        scene.register_all().await;
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        for what in ["GET_STANDINGS", "GET_PLAYER_DIRECTORY", "GET_SCHEDULE"] {
            let mut query = ada.query(7);
            query["params"]["query_type"] = json!(what);
            query["params"]["padding"] = json!("x".repeat(300));
            let answer = ada.ask(&query).await;
            assert_eq!(answer["id"], 7, "{answer}");
            assert!(what != "GET_PLAYER_DIRECTORY" || answer.to_string().len() > 1024);
        }
    });
}

#[test]
fn who_breaks_a_rule_is_told_which_and_may_come_back() {
    for (bytes, code) in [
        (vec![0x81, 2, b'{', b'}'], 1002),
        (masked(0xC1, b"{}"), 1002),
        (masked(0x83, b"{}"), 1002),
        (masked(0x80, b"{}"), 1002),
        (masked(0x09, b""), 1002),
        (masked(0x89, &[0; 126]), 1002),
        (masked(0x88, &[3]), 1002),
        (masked(0x88, &[3, 237]), 1002),
        (masked(0x82, b"{}"), 1003),
        (masked(0x81, b"\xFF"), 1007),
        (masked(0x81, &[b'x'; 5000]), 1009),
    ] {
        play(Plan { seed: Some(9), ..Plan::new(0) }, async |scene| {
            for is_known in [false, true] {
                let mut ada = Agent::dial(&scene, 31).await;
                if is_known {
                    assert_eq!(ada.register("Ada").await["status"], "ACCEPTED");
                }
                ada.send(&bytes).await;
                match ada.frame().await {
                    Some(Frame::Close(found, why)) => {
                        assert!(found == code && !why.is_empty(), "{code}: {found} {why}")
                    }
                    other => panic!("{code}: {other:?}"),
                }
                assert_eq!(ada.frame().await, None, "then it hangs up");
            }
            let mut ada = Agent::dial(&scene, 31).await;
            assert_eq!(ada.register("Ada").await["status"], "ACCEPTED");
        });
    }
}

#[test]
fn a_close_is_answered_with_its_code() {
    play(Plan { seed: Some(2), ..Plan::new(0) }, async |scene| {
        for (payload, code) in [(&b""[..], 1000), (b"\x03\xE9going", 1001), (b"\x0F\xA1", 4001)] {
            let mut ada = Agent::join(&scene, 31, "Ada").await;
            ada.send(&masked(0x88, payload)).await;
            assert_eq!(ada.frame().await, Some(Frame::Close(code, String::new())));
            assert_eq!(ada.frame().await, None);
        }
        assert!(log(&scene).await.contains("the agent closed the connection"));
    });
}

#[test]
fn whoever_does_not_say_who_it_is_has_to_go() {
    play(Plan::new(0), async |scene| {
        let mut stranger = Agent::dial(&scene, 31).await;
        let answer = stranger.ask(&json!({"jsonrpc": "2.0", "method": "ping", "id": 1, "params": {}})).await;
        assert_eq!(answer["result"]["status"], "pong");
        let Some(Frame::Close(1008, why)) = stranger.frame().await else { panic!() };
        assert!(why.contains("register_player"), "{why}");
        assert!(scene.world.now() <= 11_000);
    });
}

#[test]
fn a_message_that_drips_has_its_time() {
    play(Plan::new(0), async |scene| {
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        let began = scene.world.now();
        for byte in masked(0x81, &[b' '; 100]) {
            ada.send(&[byte]).await;
            scene.world.sleep(200).await;
        }
        let Some(Frame::Close(1008, _)) = ada.frame().await else { panic!() };
        assert!(scene.world.now() - began < 22_000);
    });
}

#[test]
fn the_silent_are_pinged_and_who_does_not_answer_is_gone() {
    play(Plan::new(0), async |scene| {
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        // Who answers stays as long as it likes.
        for _ in 0..10 {
            assert_eq!(ada.frame().await, Some(Frame::Ping));
            ada.send(&masked(0x8A, b"")).await;
        }
        assert_eq!(ada.frame().await, Some(Frame::Ping));
        let began = scene.world.now();
        let Some(Frame::Close(1001, _)) = ada.frame().await else { panic!() };
        assert!((60_000..100_000).contains(&(scene.world.now() - began)));
        scene.world.sleep(10).await;
        assert!(log(&scene).await.contains("no sign of life"));
    });
}

#[test]
fn an_agent_of_the_arena_that_gives_no_sign_of_life_is_gone_unless_it_thinks() {
    play(Plan::new(0), async |scene| {
        let mut ada = drone(&scene, 31, "Ada").await;
        let mut bob = drone(&scene, 32, "Bob").await;
        // Its turn lasts longer than anybody may be silent for.
        for agent in [&mut ada, &mut bob] {
            agent.say(&json!({"type": "join_queue", "gameType": "echo"})).await;
        }
        while let Some(frame) = ada.frame().await {
            match frame {
                Frame::Close(code, _) => panic!("closed with {code} while it thinks"),
                Frame::Text(text) if text.contains("game_over") => break,
                _ => {}
            }
        }
        let began = scene.world.now();
        while let Some(frame) = ada.frame().await {
            if let Frame::Close(code, _) = frame {
                assert_eq!(code, 1001);
                break;
            }
        }
        assert!(scene.world.now() - began < 100_000);
        assert!(log(&scene).await.contains("no sign of life"));
    });
}

#[test]
fn who_does_not_read_is_let_go_with_a_reason_and_costs_nobody_else() {
    play(Plan::new(2), async |scene| {
        scene.register_all().await;
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        assert_eq!(scene.admin("start").await.status, 200);
        // Asks and asks, and takes no answer.
        for id in 0..40 {
            ada.say(&ada.query(id)).await;
        }
        scene.world.sleep(20_000).await;
        assert!(log(&scene).await.contains("did not read"), "{}", log(&scene).await);
        assert_eq!(scene.get("/health").await.status, 200);
        drop(ada);
        scene.leaguebox.league_over().await;
        let results = results(&scene).await;
        assert_eq!(results.lines().filter(|line| line.contains("TECHNICAL_LOSS")).count(), 2, "{results}");
    });
}

#[test]
fn a_flood_of_questions_is_answered_in_order_and_keeps_nobody_waiting() {
    play(Plan { seed: Some(4), ..Plan::new(2) }, async |scene| {
        scene.register_all().await;
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        assert_eq!(scene.admin("start").await.status, 200);
        let mut id = 0;
        let flood = async {
            loop {
                ada.say(&ada.query(id)).await;
                ada.say(&json!({"jsonrpc": "2.0", "method": "ping", "id": id, "params": {}})).await;
                loop {
                    let heard = ada.hear().await.unwrap();
                    if heard["method"].is_string() {
                        ada.say(&reply(&heard, &ada.token, 0)).await;
                    } else if heard["result"]["status"] == "pong" {
                        assert_eq!(heard["id"], id);
                        break;
                    }
                }
                id += 1;
            }
        };
        let flood: Result<(), ()> = match embassy_futures::select::select(flood, scene.leaguebox.league_over()).await {
            embassy_futures::select::Either::First(never) => never,
            embassy_futures::select::Either::Second(()) => Ok(()),
        };
        assert_eq!(flood, Ok(()));
        assert!(!results(&scene).await.contains("TECHNICAL_LOSS"));
    });
}

#[test]
fn the_newest_link_of_a_player_is_the_one_that_counts() {
    play(Plan { seed: Some(6), ..Plan::new(1) }, async |scene| {
        scene.register_all().await;
        let mut first = Agent::join(&scene, 31, "Ada").await;
        let mut second = Agent::join(&scene, 31, "Ada").await;
        let Some(Frame::Close(1008, why)) = first.frame().await else { panic!() };
        assert!(why.contains("another connection"), "{why}");
        assert_eq!(scene.admin("start").await.status, 200);
        second.play().await;
        assert!(!results(&scene).await.contains("TECHNICAL_LOSS"));
    });
}

#[test]
fn links_follow_their_players_when_somebody_leaves_before_the_league() {
    for seed in 0..20 {
        play(Plan { seed: Some(seed), ..Plan::new(1) }, async |scene| {
            scene.register_all().await;
            let mut ada = Agent::join(&scene, 31, "Ada").await;
            let mut bob = Agent::join(&scene, 32, "Bob").await;
            let mut eve = Agent::join(&scene, 33, "Eve").await;
            let leave =
                json!({"jsonrpc": "2.0", "method": "deregister_player", "id": 3, "params": {"auth_token": ada.token}});
            assert_eq!(ada.ask(&leave).await["result"]["status"], "DEREGISTERED");
            let Some(Frame::Close(1000, _)) = ada.frame().await else { panic!() };
            assert_eq!(scene.admin("start").await.status, 200);
            all([pin!(bob.play()), pin!(eve.play())]).await;
            scene.leaguebox.league_over().await;
            assert!(!results(&scene).await.contains("TECHNICAL_LOSS"), "seed {seed}");
        });
    }
}

#[test]
fn a_reset_ends_every_link_and_everybody_may_register_again() {
    play(Plan { seed: Some(8), ..Plan::new(0) }, async |scene| {
        let mut ada = Agent::join(&scene, 31, "Ada").await;
        let mut bob = Agent::join(&scene, 32, "Bob").await;
        assert_eq!(scene.admin("reset").await.status, 200);
        for agent in [&mut ada, &mut bob] {
            let Some(Frame::Close(1000, why)) = agent.frame().await else { panic!() };
            assert!(why.contains("register"), "{why}");
        }
        Agent::join(&scene, 32, "Bob").await;
    });
}

#[test]
fn every_player_can_have_its_link_at_once_and_slots_are_left() {
    play(Plan { seed: Some(11), slots: 10, ..Plan::new(0) }, async |scene| {
        let mut agents = Vec::new();
        for n in 0..8 {
            agents.push(Agent::join(&scene, 31 + n, &format!("Agent {n}")).await);
        }
        assert_eq!(scene.get("/health").await.status, 200);
        assert_eq!(scene.admin("start").await.status, 200);
        let [a, b, c, d, e, f, g, h] = agents.as_mut_slice() else { panic!() };
        all([
            pin!(a.play()),
            pin!(b.play()),
            pin!(c.play()),
            pin!(d.play()),
            pin!(e.play()),
            pin!(f.play()),
            pin!(g.play()),
            pin!(h.play()),
        ])
        .await;
        scene.leaguebox.league_over().await;
        let results = results(&scene).await;
        assert_eq!((results.lines().count(), results.contains("TECHNICAL_LOSS")), (29, false));
    });
}

#[test]
fn a_long_answer_on_a_link_that_changes_while_it_is_read_is_whole() {
    for seed in [None, Some(1), Some(2), Some(3)] {
        play(busy_league(seed), async |scene| {
            lend_as_a_board(&scene);
            scene.register_all().await;
            let token = scene.players[0].token.borrow().clone();
            let mut asks = Agent { token, ..Agent::dial(&scene, 31).await };
            let query = asks.query(1);
            assert_eq!(scene.admin("start").await.status, 200);
            let mut seen = 0;
            while !scene.leaguebox.venue(|venue| venue.is_over()) {
                asks.say(&query).await;
                scene.world.sleep(40).await;
                let answer = asks.hear().await.expect("a whole answer");
                let rows = answer["result"]["data"]["standings"].as_array().map(Vec::len);
                assert_eq!(rows, Some(8), "{answer}");
                seen += 1;
            }
            assert!(seen > 4, "the league went on meanwhile: {seen}");
        });
    }
}

#[test]
fn a_player_that_is_called_may_ask_on_a_link_but_is_still_called() {
    play(Plan::new(2).with(0, |_, _| Does::Answer), async |scene| {
        scene.register_all().await;
        let token = scene.players[0].token.borrow().clone();
        let mut asks = Agent { token, ..Agent::dial(&scene, 31).await };
        assert_eq!(asks.ask(&asks.query(1)).await["result"]["message_type"], "LEAGUE_QUERY_RESPONSE");
        assert_eq!(scene.admin("start").await.status, 200);
        scene.leaguebox.league_over().await;
        assert!(!results(&scene).await.contains("TECHNICAL_LOSS"));
        assert_eq!(scene.players[0].names().len(), 7);
    });
}

/// Two agents of League of Agents that play resource-rush, each asked for its first move; and the id of their game. A slot's
/// buffer is 1 KB, and there is one of 4 KB for long messages.
async fn drones<'w>(scene: &Scene<'_, 'w>) -> (Agent<'w>, Agent<'w>, String) {
    scene.leaguebox.have_long(vec![0; 4096].leak());
    let (mut ada, mut sara) = (drone(scene, 31, "Ada").await, drone(scene, 32, "Sara").await);
    for drone in [&mut ada, &mut sara] {
        drone.say(&json!({"type": "join_queue", "gameType": "resource-rush"})).await;
    }
    let matched = hear_until(&mut ada, "matched").await;
    hear_until(&mut ada, "your_turn").await;
    hear_until(&mut sara, "your_turn").await;
    (ada, sara, matched["gameId"].as_str().unwrap().to_owned())
}

async fn drone<'w>(scene: &Scene<'_, 'w>, from: u8, name: &str) -> Agent<'w> {
    let registered = scene.dial().await.ask("POST", "/api/v1/agents", "", &json!({ "name": name }).to_string()).await;
    let key = registered.expect("an answer").json()["apiKey"].as_str().unwrap().to_owned();
    let mut agent = Agent::dial_at(scene, from, "/api/v1/ws?type=agent").await;
    let answer = agent.ask(&json!({"type": "authenticate", "token": key})).await;
    assert_eq!(answer["type"], "authenticated", "{answer}");
    agent
}

async fn hear_until(agent: &mut Agent<'_>, last: &str) -> Value {
    loop {
        let message = agent.hear().await.expect("another message");
        if message["type"] == last {
            return message;
        }
    }
}

fn wait_and_remember(game: &str, memory: &Value) -> Vec<u8> {
    let wanted = json!({"type": "submit_move", "gameId": game, "move": {"action": "wait", "memory": memory}});
    masked(0x81, wanted.to_string().as_bytes())
}

#[test]
fn moves_longer_than_a_slots_buffer_are_read_one_after_the_other_and_what_they_remember_comes_back() {
    play(Plan { seed: Some(5), ..Plan::new(0) }.small(1024), async |scene| {
        let (mut ada, mut sara, game) = drones(&scene).await;
        for tick in 1..4 {
            let memories = ["A", "S"].map(|name| json!({"map": name.repeat(3500 + tick)}));
            let [first, second] = memories.each_ref().map(|memory| wait_and_remember(&game, memory));
            all([pin!(ada.send(&first)), pin!(sara.send(&second))]).await;
            for (drone, memory) in [&mut ada, &mut sara].into_iter().zip(&memories) {
                assert_eq!(hear_until(drone, "move_result").await["success"], true);
                let state = hear_until(drone, "game_state").await;
                assert_eq!((&state["extra"]["tick"], &state["extra"]["memory"]), (&json!(tick), memory));
                hear_until(drone, "your_turn").await;
            }
        }
    });
}

#[test]
fn whoever_begins_a_long_move_and_stops_holds_nobody_up_for_long() {
    play(Plan::new(0).small(1024), async |scene| {
        let (mut ada, mut sara, game) = drones(&scene).await;
        let long = wait_and_remember(&game, &json!({"map": "x".repeat(3000)}));
        ada.send(&long[..2000]).await;
        scene.world.sleep(100).await;
        let began = scene.world.now();
        sara.send(&long).await;
        assert_eq!(hear_until(&mut sara, "move_result").await["success"], true);
        assert!(scene.world.now() - began <= 10_000, "{}", scene.world.now() - began);
        while let Some(frame) = ada.frame().await {
            assert!(matches!(frame, Frame::Text(_) | Frame::Close(1008, _)), "{frame:?}");
        }
    });
}

#[test]
fn five_who_begin_long_moves_and_stop_do_not_outlast_the_sixth() {
    play(Plan { slots: 16, ..Plan::new(0) }.small(1024), async |scene| {
        let (first, second, _) = drones(&scene).await;
        let mut hogs = vec![first, second];
        for from in 33..37 {
            let mut next = drone(&scene, from, &format!("Drone {from}")).await;
            next.say(&json!({"type": "join_queue", "gameType": "resource-rush"})).await;
            hogs.push(next);
        }
        let mut sixth = hogs.pop().unwrap();
        let game = hear_until(&mut sixth, "matched").await["gameId"].as_str().unwrap().to_owned();
        for other in hogs[2..].iter_mut().chain([&mut sixth]) {
            hear_until(other, "your_turn").await;
        }
        let long = wait_and_remember(&game, &json!({"map": "x".repeat(3000)}));
        for hog in &mut hogs {
            hog.send(&long[..2000]).await;
        }
        scene.world.sleep(100).await;
        let began = scene.world.now();
        sixth.send(&long).await;
        assert_eq!(hear_until(&mut sixth, "move_result").await["success"], true);
        let took = scene.world.now() - began;
        assert!(
            (40_000..=50_000).contains(&took),
            "each of five has it for the time of a message, then the sixth: {took}"
        );
    });
}

#[test]
fn whoever_is_slowed_down_does_not_keep_the_buffer_for_long_moves_meanwhile() {
    // More than an address may say, all at once, with a long move in it.
    for (pings, later) in (514..530).flat_map(|pings| [40, 75, 110].map(|later| (pings, later))) {
        play(Plan { window: 1 << 16, ..Plan::new(0) }.small(1024), async |scene| {
            let (mut ada, mut sara, game) = drones(&scene).await;
            let [first, second] = ["a", "s"].map(|name| wait_and_remember(&game, &json!({"map": name.repeat(3000)})));
            let ping = masked(0x81, br#"{"type":"ping"}"#);
            ada.send(&[ping.repeat(pings), first, ping.repeat(50)].concat()).await;
            scene.world.sleep(later).await;
            let began = scene.world.now();
            sara.send(&second).await;
            assert_eq!(hear_until(&mut sara, "move_result").await["success"], true);
            assert_eq!(scene.world.now(), began, "after {pings} pings and {later} ms");
        });
    }
}

#[test]
fn only_a_move_may_be_long_and_only_as_long_as_there_is_room() {
    play(Plan::new(0).small(1024), async |scene| {
        let (mut ada, mut sara, game) = drones(&scene).await;
        ada.send(&wait_and_remember(&game, &json!({"map": "x".repeat(4096)}))).await;
        while let Some(frame) = ada.frame().await {
            assert!(matches!(frame, Frame::Text(_) | Frame::Close(1009, _)), "{frame:?}");
        }
        let long = wait_and_remember(&game, &json!({"map": "x".repeat(3000)}));
        sara.send(&long).await;
        assert_eq!(hear_until(&mut sara, "move_result").await["success"], true);
        // It owes no move now.
        sara.send(&long).await;
        while let Some(frame) = sara.frame().await {
            assert!(matches!(frame, Frame::Text(_) | Frame::Close(1009, _)), "{frame:?}");
        }
    });
}

/// However slowly it reads, and however fast the other one answers.
#[test]
fn an_agent_hears_of_every_turn_also_of_its_own_that_was_answered_at_once() {
    for window in [16, 64, 256, 2048] {
        play(Plan { window, ..Plan::new(0) }, async |scene| {
            let (mut black, mut white) = (drone(&scene, 31, "Black").await, drone(&scene, 32, "White").await);
            let join = json!({"type": "join_queue", "gameType": "skill-gomoku"});
            assert_eq!(black.ask(&join).await["type"], "queue_status");
            white.say(&join).await;
            let game = hear_until(&mut black, "matched").await["gameId"].clone();
            for turn in 0..9 {
                let (mover, row) = if turn % 2 == 0 { (&mut black, 7) } else { (&mut white, 9) };
                // What it hears of the turn before its own it has not read until now.
                for update in turn.max(1)..=turn {
                    if turn > 1 {
                        assert_eq!(hear_until(mover, "turn_update").await["round"], update - 1, "its own turn");
                    }
                    assert_eq!(hear_until(mover, "turn_update").await["round"], update, "the other's turn");
                }
                hear_until(mover, "your_turn").await;
                let place = json!({"type": "place", "row": row, "col": turn / 2});
                mover.say(&json!({"type": "submit_move", "gameId": game, "move": place})).await;
            }
            assert_eq!(hear_until(&mut white, "turn_update").await["round"], 8);
            assert_eq!(hear_until(&mut white, "turn_update").await["round"], 9);
            hear_until(&mut white, "game_over").await;
        });
    }
}

#[test]
fn an_agent_in_a_loop_is_told_in_one_line_and_nobody_elses_history_is_lost() {
    play(Plan::new(0).small(1024), async |scene| {
        let (mut ada, _sara, game) = drones(&scene).await;
        let fly = json!({"type": "submit_move", "gameId": game, "move": {"action": "fly"}});
        for _ in 0..500 {
            assert_eq!(ada.ask(&json!({"type": "dance"})).await["type"], "error");
            ada.say(&fly).await;
            assert_eq!(hear_until(&mut ada, "move_result").await["success"], false);
        }
        let written = scene.leaguebox.venue(|venue| venue.log().written());
        assert!(written < 20, "{written} entries");
        let log = log(&scene).await;
        let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let counted: Vec<_> = lines.iter().filter(|line| line["data"]["count"] == 500).collect();
        assert_eq!(counted.len(), 2, "{log}");
        for line in counted {
            assert_eq!(line["agent_id"], "P01");
            assert!(line["data"]["detail"].is_string() && line["data"]["until"].is_string(), "{line}");
        }
        let registered = lines.iter().filter(|line| line["message"] == "Registered.");
        assert_eq!(registered.map(|line| line["agent_id"].as_str().unwrap()).collect::<Vec<_>>(), ["P01", "P02"]);
        let entries = scene.get("/api/status.json").await.json()["log_entries"].as_u64();
        assert!(entries > Some(1000), "a page that asks sees that something has happened");
    });
}

#[test]
fn the_page_of_a_match_is_whole_while_an_agent_in_it_breaks_rules_again_and_again() {
    play(Plan { window: 300, outgoing: 1024, ..Plan::new(0) }, async |scene| {
        let (mut ada, _sara, game) = drones(&scene).await;
        let fly = json!({"type": "submit_move", "gameId": game, "move": {"action": "fly"}});
        let mut loops = async |times| {
            for _ in 0..times {
                ada.say(&fly).await;
                assert_eq!(hear_until(&mut ada, "move_result").await["success"], false);
            }
        };
        loops(8).await;
        let mut client = scene.dial().await;
        client.socket.send(b"GET /api/matches/R0M1.json HTTP/1.1\r\nHost: box\r\n\r\n").await.unwrap();
        scene.world.sleep(10).await;
        loops(200).await;
        let page = client.receive().await.expect("an answer").json();
        let line = page["log"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&line["agent_id"], &line["message"]), (&json!("P01"), &json!("The answer breaks a rule.")));
        assert!(line["data"]["until"].is_string() && line["data"]["count"].is_null(), "it goes on: {line}");
        scene.world.sleep(2_000).await;
        let page = scene.get("/api/matches/R0M1.json").await.json();
        assert_eq!(page["log"].as_array().unwrap().last().unwrap()["data"]["count"], 208, "it is over");
    });
}
