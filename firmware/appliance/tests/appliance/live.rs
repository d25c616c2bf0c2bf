//! Those who watch, over a network that cuts and delays: what the web page is told, and that no match waits for it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use crate::links::Agent;
use crate::net_support::{ADMIN, Client, Does, Plan, Scene, Socket, play};
use appliance::clock::Clock;
use embassy_futures::select::{Either, select};
use protocol_core::games::{Game, GameKind};
use serde_json::{Value, json};

const HELLO: &str = "GET /api/live HTTP/1.1\r\nHost: box\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A page that watches, and what it knows.
pub struct Page<'w> {
    socket: Socket<'w>,
    unread: Vec<u8>,
    players: BTreeMap<String, Value>,
    matches: BTreeMap<String, Value>,
    status: Value,
    standings: Value,
    snapshots: usize,
    is_ready: bool,
    /// When messages came.
    times: Vec<u64>,
    closed: Option<(u16, String)>,
}

impl<'w> Page<'w> {
    pub async fn open(scene: &Scene<'_, 'w>) -> Self {
        let Client { mut socket, .. } = scene.dial_from(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 200))).await;
        socket.send(HELLO.as_bytes()).await.unwrap();
        let mut page = Self {
            socket,
            unread: Vec::new(),
            players: BTreeMap::new(),
            matches: BTreeMap::new(),
            status: Value::Null,
            standings: Value::Null,
            snapshots: 0,
            is_ready: false,
            times: Vec::new(),
            closed: None,
        };
        while !page.unread.windows(4).any(|four| four == b"\r\n\r\n") {
            page.more().await.expect("an answer to the handshake");
        }
        let end = page.unread.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let head: Vec<u8> = page.unread.drain(..end).collect();
        assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
        page
    }

    async fn more(&mut self) -> Option<()> {
        let mut buf = [0; 1024];
        let n = embedded_io_async::Read::read(&mut self.socket, &mut buf).await.ok().filter(|&n| n > 0)?;
        self.unread.extend_from_slice(&buf[..n]);
        Some(())
    }

    /// Takes the next message in. `None` when the box has hung up.
    async fn hear(&mut self, world: &impl Clock) -> Option<Value> {
        loop {
            // Nothing is taken out before all of it is there: whoever waits for it may be interrupted.
            let (start, length) = match *self.unread {
                [_, 126, high, low, ..] => (4, usize::from(high) << 8 | usize::from(low)),
                [_, length @ 0..126, ..] => (2, usize::from(length)),
                [_, _, ..] | [_] | [] => (2, usize::MAX / 2),
            };
            if self.unread.len() < start + length {
                self.more().await?;
                continue;
            }
            let frame: Vec<u8> = self.unread.drain(..start + length).collect();
            let payload = &frame[start..];
            match frame[0] {
                0x81 => {
                    self.times.push(world.now());
                    let message: Value = serde_json::from_slice(payload).unwrap();
                    self.take_in(&message);
                    return Some(message);
                }
                0x88 => {
                    let code = u16::from_be_bytes([payload[0], payload[1]]);
                    self.closed = Some((code, String::from_utf8(payload[2..].to_vec()).unwrap()));
                    return None;
                }
                0x89 => self.socket.send(&[0x8A, 0x80, 0, 0, 0, 0]).await.ok()?,
                other => panic!("opcode {other:x}"),
            }
        }
    }

    fn take_in(&mut self, message: &Value) {
        match message["type"].as_str().unwrap() {
            "snapshot" => {
                (self.players, self.matches) = Default::default();
                (self.standings, self.is_ready) = (Value::Null, false);
                self.snapshots += 1;
                self.status = message["status"].clone();
            }
            "status" => self.status = message["status"].clone(),
            "player" => {
                let player = message["player"].clone();
                self.players.insert(player["player_id"].as_str().unwrap().into(), player);
            }
            "match" => {
                let of = message["match"].clone();
                self.matches.insert(of["match_id"].as_str().unwrap().into(), of);
            }
            "standings" => self.standings = message["standings"].clone(),
            "ready" => self.is_ready = true,
            other => panic!("what is {other}?"),
        }
    }

    /// Listens until it has heard nothing for a while.
    pub async fn catch_up(&mut self, scene: &Scene<'_, 'w>) {
        while let Either::First(heard) = select(self.hear(scene.world), scene.world.sleep(1_000)).await {
            heard.expect("the box goes on");
        }
    }

    /// What it knows is what the pages say.
    pub async fn knows_all(&self, scene: &Scene<'_, '_>) {
        assert!(self.is_ready);
        let rows = scene.get("/api/players.json").await.json()["players"].clone();
        for row in rows.as_array().unwrap() {
            let mut known = self.players[row["player_id"].as_str().unwrap()].clone();
            // When it was last seen is not news.
            known["last_seen"] = row["last_seen"].clone();
            assert_eq!(&known, row);
        }
        assert_eq!(self.players.len(), rows.as_array().unwrap().len());
        let mut status = scene.get("/api/status.json").await.json();
        for moves in ["time", "uptime_seconds", "log_entries"] {
            status[moves] = self.status[moves].clone();
        }
        assert_eq!(self.status, status);
        let standings = scene.get("/api/standings.json").await.json()["standings"].clone();
        let ids: Vec<_> = standings.as_array().unwrap().iter().map(|row| row["player_id"].clone()).collect();
        assert_eq!(self.standings, json!(ids));
        for row in standings.as_array().unwrap() {
            let tally = &self.players[row["player_id"].as_str().unwrap()]["tally"];
            for name in ["played", "wins", "draws", "losses", "technical_losses", "points"] {
                assert_eq!(tally[name], row[name], "{name}");
            }
        }
    }
}

#[test]
fn a_page_knows_at_every_rest_what_the_box_knows() {
    for seed in (0..8).map(Some).chain([None]) {
        let plan = Plan { seed, ..Plan::new(4) }.with(3, |heard, _| match heard.name() {
            "GAME_INVITATION" => Does::After(400),
            _ => Does::Answer,
        });
        play(plan, async |scene| {
            let mut page = Page::open(&scene).await;
            page.catch_up(&scene).await;
            assert_eq!((page.snapshots, page.players.len()), (1, 0));
            page.knows_all(&scene).await;
            scene.register_all().await;
            page.catch_up(&scene).await;
            assert_eq!((page.snapshots, page.players.len()), (1, 4), "they came one by one");
            page.knows_all(&scene).await;
            assert_eq!(scene.admin("start").await.status, 200);
            let mut was_thinking = false;
            while page.status["state"] != "COMPLETED" {
                page.hear(scene.world).await.expect("the box goes on");
                let players = page.matches.values().flat_map(|of| of["players"].as_array().unwrap());
                was_thinking |=
                    { players }.any(|player| player["thinking"] == true && player["deadline_ms"] != Value::Null);
            }
            assert!(was_thinking);
            page.catch_up(&scene).await;
            page.knows_all(&scene).await;
        });
    }
}

#[test]
fn every_result_is_told_and_an_update_comes_at_most_ten_times_a_second() {
    let slowly = |plan: Plan, player| plan.with(player, |_, _| Does::After(150));
    play((0..6).fold(Plan::new(6), slowly), async |scene| {
        let mut page = Page::open(&scene).await;
        scene.register_all().await;
        assert_eq!(scene.admin("start").await.status, 200);
        let mut over = BTreeMap::new();
        while page.status["state"] != "COMPLETED" {
            let message = page.hear(scene.world).await.expect("the box goes on");
            let of = &message["match"];
            if of["state"] == "over" {
                assert!(of["result"]["status"].is_string(), "{of}");
                over.insert(of["match_id"].as_str().unwrap().to_owned(), of["result"].clone());
            }
        }
        let schedule = scene.get("/api/schedule.json").await.json();
        let lines =
            schedule["rounds"].as_array().unwrap().iter().flat_map(|round| round["matches"].as_array().unwrap());
        let mut count = 0;
        for line in lines.filter(|line| line["round_id"].as_u64() < Some(5)) {
            let told = &over[line["match_id"].as_str().unwrap()];
            assert_eq!(told["status"], line["result"]);
            count += 1;
        }
        assert_eq!(count, 12, "the last round may be told by the snapshot at the end");
        page.times.dedup();
        let looks: Vec<u64> = page.times.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(looks.iter().all(|&ms| ms >= 100), "{looks:?}");
    });
}

#[test]
fn half_of_what_players_leave_may_be_watched_on_and_the_next_is_told_to_come_back() {
    play(Plan::new(2), async |scene| {
        let (mut first, mut second) = (Page::open(&scene).await, Page::open(&scene).await);
        first.catch_up(&scene).await;
        second.catch_up(&scene).await;
        let mut third = Page::open(&scene).await;
        assert!(third.hear(scene.world).await.is_none());
        let (code, reason) = third.closed.clone().expect("a close frame");
        assert_eq!(code, 1013, "{reason}");
        drop(third);
        scene.register_all().await;
        drop(first);
        scene.world.sleep(1_000).await;
        let mut again = Page::open(&scene).await;
        again.catch_up(&scene).await;
        again.knows_all(&scene).await;
        second.catch_up(&scene).await;
        second.knows_all(&scene).await;
    });
}

/// How long a league takes.
fn league(plan: Plan, watch: bool) -> (u64, Vec<String>) {
    play(plan, async |scene| {
        let deaf = if watch { Some((Page::open(&scene).await, Page::open(&scene).await)) } else { None };
        scene.register_all().await;
        let began = scene.world.now();
        scene.admin("start").await;
        scene.leaguebox.league_over().await;
        let took = scene.world.now() - began;
        let results = scene.results().await;
        if deaf.is_some() {
            // The write that was not taken is long over: both places are free.
            scene.world.sleep(10_000).await;
            let mut page = Page::open(&scene).await;
            page.catch_up(&scene).await;
            page.knows_all(&scene).await;
        }
        (took, results)
    })
}

#[test]
fn a_watcher_that_never_reads_delays_no_match_and_is_let_go() {
    let slowly = |plan: Plan, player| plan.with(player, |_, _| Does::After(700));
    let plan = || (0..4).fold(Plan::new(4), slowly);
    assert_eq!(league(plan(), true), league(plan(), false));
}

#[test]
fn a_page_from_elsewhere_may_not_watch() {
    play(Plan::new(0), async |scene| {
        let mut client = scene.dial().await;
        let hello = HELLO.replace("Host: box\r\n", "Host: box\r\nOrigin: http://evil.example\r\n");
        client.socket.send(hello.as_bytes()).await.unwrap();
        assert_eq!(client.receive().await.unwrap().status, 403);
    });
}

#[test]
fn a_match_that_is_being_played_shows_who_thinks_and_what_happened() {
    let plan = Plan::new(2).with(1, |heard, _| match heard.name() {
        "CHOOSE_PARITY_CALL" => Does::After(5_000),
        _ => Does::Answer,
    });
    play(plan, async |scene| {
        scene.register_all().await;
        scene.admin("start").await;
        scene.world.sleep(1_000).await;
        let page = scene.get("/api/matches/R1M1.json").await.json();
        assert_eq!((page["state"].as_str(), page["turn"].as_u64()), (Some("running"), Some(1)), "{page}");
        let [first, second] = page["players"].as_array().unwrap().as_slice() else { panic!("{page}") };
        let (thinks, done) = if first["player_id"] == "P02" { (first, second) } else { (second, first) };
        assert_eq!((&thinks["thinking"], &thinks["display_name"]), (&json!(true), &json!("Agent 2")));
        assert!((28_000..=30_000).contains(&thinks["deadline_ms"].as_u64().unwrap()), "{thinks}");
        assert_eq!((&done["thinking"], &done["deadline_ms"]), (&json!(false), &Value::Null));
        assert!(page["view"].is_object() && page["actions"].as_array().unwrap().len() == 2, "{page}");
        let kinds: Vec<_> = page["log"].as_array().unwrap().iter().map(|entry| &entry["message_type"]).collect();
        assert!(kinds.contains(&&json!("GAME_INVITATION")) && kinds.contains(&&json!("CHOOSE_PARITY_CALL")), "{page}");

        scene.leaguebox.league_over().await;
        let page = scene.get("/api/matches/R1M1.json").await.json();
        assert_eq!((page["state"].as_str(), &page["view"]), (Some("over"), &Value::Null));
        assert_eq!(page["log"].as_array().unwrap().last().unwrap()["data"]["match_id"], "R1M1");
        assert_eq!(scene.get("/api/matches/R9M9.json").await.status, 404);
    });
}

#[test]
fn a_map_of_25_kilobytes_is_sent_of_one_piece_while_the_game_goes_on() {
    let plan = Plan { window: 300, outgoing: 1024, seed: Some(1), game: GameKind::Rush, ..Plan::new(2) };
    play(plan, async |scene| {
        scene.register_all().await;
        scene.admin("start").await;
        let turn = || scene.leaguebox.venue(|venue| venue.tables().next().map(|table| table.play.game().turn()));
        while turn() < Some(5) {
            scene.world.sleep(10).await;
        }
        let before = turn();
        let mut client = scene.dial().await;
        client.socket.send(b"GET /api/matches/R1M1.json HTTP/1.1\r\nHost: box\r\n\r\n").await.unwrap();
        // It does not read before the drones have gone on.
        while turn() == before {
            scene.world.sleep(10).await;
        }
        let page = client.receive().await.expect("an answer");
        assert!(page.body.len() > 20_000, "{} bytes", page.body.len());
        let page = page.json();
        assert_eq!(page["turn"].as_u64(), before.map(u64::from), "as it was when the page was asked for");
        assert_eq!(
            page["turn"].as_u64(),
            page["view"]["extra"]["tick"].as_u64().map(|tick| tick + 1),
            "{}",
            page["turn"]
        );
        assert_eq!(page["view"]["extra"]["grid"].as_array().map(Vec::len), Some(100));
    });
}

#[test]
fn the_owner_tests_who_is_there_and_the_page_sees_the_answer() {
    let plan = Plan::new(3).with(0, |_, _| Does::After(30)).with(1, |_, _| Does::Close);
    play(plan, async |scene| {
        let mut page = Page::open(&scene).await;
        scene.register_all().await;
        page.catch_up(&scene).await;
        assert_eq!(page.players["P01"]["ready"], Value::Null);
        for (id, status) in [("P01", 200), ("P02", 200), ("P09", 404)] {
            let body = json!({"player_id": id}).to_string();
            let seen = scene.dial().await.ask("POST", "/api/admin/check", ADMIN, &body).await.unwrap();
            assert_eq!(seen.status, status, "{}", seen.body);
        }
        let stranger = scene.dial().await.ask("POST", "/api/admin/check", "", r#"{"player_id":"P01"}"#).await.unwrap();
        assert_eq!(stranger.status, 401);
        page.catch_up(&scene).await;
        assert_eq!(page.players["P01"]["ready"], json!({"status": "ok", "ms": 30}));
        assert_eq!(page.players["P01"]["online"], true);
        assert_eq!(page.players["P02"]["ready"], json!({"status": "failed", "ms": null}));
        assert_eq!((&page.players["P02"]["online"], &page.players["P03"]["online"]), (&json!(false), &Value::Null));
        assert_eq!(page.players["P03"]["connects"], "http");
        assert!(page.players["P03"]["last_seen"].is_string(), "it registered");
        let ping: Vec<_> = scene.players[0].heard.borrow().iter().map(|heard| heard.call.clone()).collect();
        assert_eq!((ping.len(), &ping[0]["method"]), (1, &json!("ping")));
        page.knows_all(&scene).await;
    });
}

#[test]
fn a_web_server_without_an_agent_is_not_ready_and_its_matches_say_the_same_however_long_its_page_is() {
    for length in [9, 5_000] {
        let plan = Plan::new(2).with(0, move |_, _| Does::NotFound(length));
        play(plan, async |scene| {
            let mut page = Page::open(&scene).await;
            scene.register_all().await;
            let check = r#"{"player_id":"P01"}"#;
            assert_eq!(scene.dial().await.ask("POST", "/api/admin/check", ADMIN, check).await.unwrap().status, 200);
            page.catch_up(&scene).await;
            let found = &page.players["P01"];
            assert_eq!((&found["ready"]["status"], &found["online"]), (&json!("failed"), &json!(false)));
            assert_eq!((&found["ready"]["http_status"], &found["ready"]["rule"]), (&json!(404), &json!("http_status")));
            assert!(found["ready"]["advice"].as_str().unwrap().contains("wrong path"), "{found}");
            page.knows_all(&scene).await;
            scene.admin("start").await;
            scene.leaguebox.league_over().await;
            let report = scene.get("/api/players/P01.json").await.json()["compliance"].clone();
            let rules: Vec<_> = report.as_array().unwrap().iter().map(|line| line["rule"].as_str().unwrap()).collect();
            assert!(rules.contains(&"http_status") && !rules.contains(&"reply_too_long"), "{length}: {rules:?}");
        });
    }
}

#[test]
fn a_page_sees_what_happens_again_and_again_though_it_is_no_new_entry_of_the_log() {
    for seed in [None, Some(1), Some(2)] {
        play(Plan { seed, ..Plan::new(2) }, async |scene| {
            scene.register_all().await;
            let first = Agent::join(&scene, 31, "Ada").await;
            let (token, mut page) = (first.token.clone(), Page::open(&scene).await);
            page.catch_up(&scene).await;
            drop(first);
            page.catch_up(&scene).await;
            let entries = || scene.leaguebox.venue(|venue| venue.log().written());
            let before = entries();
            for round in 0..5 {
                assert_eq!(page.players["P03"]["connected"], false, "round {round}");
                let mut ada = Agent::dial(&scene, 31).await;
                ada.token = token.clone();
                ada.ask(&ada.query(round)).await;
                page.catch_up(&scene).await;
                assert_eq!(page.players["P03"]["connected"], true, "round {round}");
                page.knows_all(&scene).await;
                drop(ada);
                page.catch_up(&scene).await;
                page.knows_all(&scene).await;
            }
            assert_eq!((entries(), page.snapshots), (before, 1));
            let told = page.times.len();
            scene.world.sleep(5_000).await;
            page.catch_up(&scene).await;
            assert_eq!(page.times.len(), told, "nothing is told because time goes by");
        });
    }
}
