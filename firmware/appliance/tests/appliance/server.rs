//! A whole box seen by its clients: who waits for whom, what the owner may do, and pages that are well-formed whatever
//! happens.

use std::cell::Cell;

use crate::net_support::{ADMIN, Client, Does, Heard, Plan, Scene, Seen, play};
use appliance::clock::Clock;
use edge_nal::{Close, TcpShutdown};
use embassy_futures::join::{join, join_array};
use embassy_futures::yield_now;
use protocol_core::venue::Command;
use serde_json::{Value, json};

/// Rounds in which everybody has been invited and nobody moves.
fn dithers(heard: &Heard, _: usize) -> Does {
    if heard.name() == "CHOOSE_PARITY_CALL" { Does::After(20_000) } else { Does::Answer }
}

fn ditherers(players: usize) -> Plan {
    (0..players).fold(Plan::new(players), |plan, player| plan.with(player, dithers))
}

#[test]
fn slow_and_idle_clients_block_nobody_while_slots_are_free() {
    for seed in 0..10 {
        play(Plan { seed: Some(seed), slots: 9, ..Plan::new(0) }, async |scene| {
            let mut idle = Vec::new();
            for _ in 0..4 {
                idle.push(scene.dial().await);
            }
            let mut slow = scene.dial().await;
            let drip = async {
                for byte in b"GET /health HTTP/1.1\r\nHost: leaguebox\r\n\r\n" {
                    scene.world.sleep(200).await;
                    slow.socket.send(&[*byte]).await.unwrap();
                }
                slow.receive().await.unwrap().status
            };
            let others = async {
                for _ in 0..40 {
                    let asked = scene.world.now();
                    assert_eq!(scene.get("/health").await.status, 200);
                    assert!(scene.world.now() - asked < 100, "seed {seed}");
                    scene.world.sleep(150).await;
                }
            };
            assert_eq!(join(drip, others).await.0, 200, "slow is no crime");
        });
    }
}

#[test]
fn with_every_slot_taken_by_idlers_a_new_client_is_served_after_the_short_idle_limit() {
    for slots in [1, 2, 4, 6] {
        play(Plan { seed: Some(1), slots, ..Plan::new(0) }, async |scene| {
            let mut idle = Vec::new();
            for _ in 0..slots {
                idle.push(scene.dial().await);
            }
            let asked = scene.world.now();
            assert_eq!(scene.get("/health").await.status, 200);
            let waited = scene.world.now() - asked;
            assert!((300..700).contains(&waited), "{slots} slots: {waited}");
        });
    }
}

#[test]
fn connections_that_ask_again_and_again_keep_nobody_out() {
    for seed in 0..4 {
        play(Plan { seed: Some(seed), slots: 8, ..Plan::new(0) }, async |scene| {
            let over = Cell::new(false);
            let hoard = async |_: usize| {
                while !over.get() {
                    let mut client = scene.dial().await;
                    scene.world.sleep(400).await;
                    while !over.get() && client.ask("GET", "/health", "", "").await.is_some() {
                        scene.world.sleep(400).await;
                    }
                }
            };
            let probe = async {
                // All of them are there, and have been answered.
                scene.world.sleep(2_000).await;
                for _ in 0..20 {
                    let asked = scene.world.now();
                    let seen =
                        scene.dial_from([10, 0, 0, 77].into()).await.ask("GET", "/health", "", "").await.unwrap();
                    assert_eq!(seen.status, 200, "seed {seed}");
                    assert!(scene.world.now() - asked < 1_000, "seed {seed}");
                    scene.world.sleep(100).await;
                }
                over.set(true);
            };
            let hoarders = join_array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(hoard));
            join(hoarders, probe).await;
            scene.world.sleep(1_000).await;
            let seen = scene.get("/health").await;
            assert_eq!(seen.header("Connection"), Some("keep-alive"), "there is room again");
        });
    }
}

#[test]
fn an_idle_client_is_let_go_in_time_and_without_a_word() {
    for (slots, limit) in [(8, 15_000), (2, 500)] {
        play(Plan { slots, ..Plan::new(0) }, async |scene| {
            let mut client = scene.dial().await;
            let dialled = scene.world.now();
            assert_eq!(client.receive().await, None);
            assert_eq!(scene.world.now() - dialled, limit);
        });
    }
}

#[test]
fn a_client_that_does_not_read_its_answer_is_dropped_at_the_write_deadline() {
    for seed in [None, Some(1), Some(2)] {
        play(Plan { seed, slots: 1, ..Plan::new(0) }, async |scene| {
            let mut deaf = scene.dial().await;
            // More than the network holds on its way.
            deaf.socket.send(&b"GET /skill.md HTTP/1.1\r\nHost: box\r\n\r\n".repeat(20)).await.unwrap();
            let asked = scene.world.now();
            assert_eq!(scene.get("/health").await.status, 200);
            let waited = scene.world.now() - asked;
            assert!((2_900..4_500).contains(&waited), "{waited}");
        });
    }
}

#[test]
fn a_client_that_stops_within_its_request_is_told_and_let_go() {
    // Sooner where others may be waiting for the slot.
    for (slots, let_go) in [(1, 3_000), (6, 10_000)] {
        play(Plan { slots, ..Plan::new(0) }, async |scene| {
            let mut half = scene.dial().await;
            half.socket.send(b"POST /mcp HTTP/1.1\r\nHost: box\r\nContent-Length: 20\r\n\r\n{").await.unwrap();
            assert_eq!(half.receive().await.unwrap().status, 408);
            assert_eq!(scene.world.now(), let_go);
            assert_eq!(half.receive().await, None);
            assert_eq!(scene.get("/health").await.status, 200);
            assert_eq!(scene.get("/api/status.json").await.json()["refused_requests"], 1);
        });
    }
}

#[test]
fn a_client_that_has_said_all_it_will_say_is_still_answered() {
    for seed in 0..10 {
        play(Plan { seed: Some(seed), ..Plan::new(0) }, async |scene| {
            let mut client = scene.dial().await;
            client.socket.send(b"GET /health HTTP/1.1\r\nHost: box\r\n\r\n").await.unwrap();
            client.socket.close(Close::Write).await.unwrap();
            assert_eq!(client.receive().await.unwrap().status, 200);
            assert_eq!(client.receive().await, None);
        });
    }
}

#[test]
fn a_client_that_breaks_off_anywhere_costs_nothing() {
    for seed in 0..40 {
        play(Plan { seed: Some(seed), slots: 1, ..Plan::new(0) }, async |scene| {
            let mut client = scene.dial().await;
            client.socket.send(b"GET /skill.md HTTP/1.1\r\nHost: box\r\n\r\n").await.unwrap();
            scene.world.sleep(seed % 8).await;
            client.socket.cut();
            let cut = scene.world.now();
            assert_eq!(scene.get("/health").await.status, 200);
            assert!(scene.world.now() - cut < 100);
        });
    }
}

#[test]
fn what_only_the_owner_may_do_takes_the_admin_code() {
    play(Plan::new(0), async |scene| {
        for what in ["start", "pause", "resume", "reset", "rematch"] {
            let path = format!("/api/admin/{what}");
            for wrong in [
                "",
                "Authorization: Bearer open sesam\r\n",
                "Authorization: Bearer open sesame!\r\n",
                "Authorization: Bearer Open Sesame\r\n",
                "Authorization: Bearer\r\n",
                "Authorization: Bearer \r\n",
                "Authorization: Basic b3Blbjpz\r\n",
                "Authorization: open sesame\r\n",
            ] {
                let seen = scene.dial().await.ask("POST", &path, wrong, "").await.unwrap();
                assert_eq!(seen.status, 401, "{what} {wrong}");
                assert_eq!(seen.header("WWW-Authenticate"), Some("Bearer"));
                assert!(seen.json()["error"].as_str().unwrap().contains("admin code"));
                // Who tries many has to wait.
                scene.world.sleep(60_000).await;
            }
        }
        assert_eq!(scene.get("/api/status.json").await.json()["state"], "WAITING");
    });
}

#[test]
fn the_owner_commands_what_is_possible_and_is_told_why_the_rest_is_not() {
    play(ditherers(3), async |scene| {
        let steps: &[(&str, u16, &str)] = &[
            ("start", 409, "at least two players"),
            ("pause", 409, ""),
            ("resume", 409, ""),
            ("rematch", 409, "finished"),
            ("reset", 200, "WAITING"),
        ];
        expect(scene, steps).await;
        scene.register_all().await;
        let steps: &[(&str, u16, &str)] = &[
            ("rematch", 409, "finished"),
            ("start", 200, "RUNNING"),
            ("start", 409, "running"),
            ("resume", 409, ""),
            ("pause", 200, "PAUSED"),
            ("pause", 409, ""),
            ("start", 409, "running"),
            ("rematch", 409, "finished"),
        ];
        expect(scene, steps).await;
        scene.world.sleep(60_000).await;
        assert_eq!(scene.get("/api/status.json").await.json()["round"], 1, "the next round waits");
        expect(scene, &[("resume", 200, "RUNNING")]).await;
        scene.leaguebox.league_over().await;
        let steps: &[(&str, u16, &str)] = &[
            ("start", 409, "over"),
            ("pause", 409, ""),
            ("resume", 409, ""),
            ("rematch", 200, "RUNNING"),
            ("reset", 200, "WAITING"),
            ("start", 409, "at least two players"),
        ];
        expect(scene, steps).await;
        scene.register_all().await;
        assert_eq!(scene.admin("start").await.status, 200, "everybody may come again");
        scene.leaguebox.league_over().await;
    });
}

/// Gives commands; an answer has this status, and says this.
async fn expect(scene: Scene<'_, '_>, steps: &[(&str, u16, &str)]) {
    for (what, status, says) in steps {
        let seen = scene.admin(what).await;
        let answer = seen.json();
        let said = if *status == 200 { &answer["state"] } else { &answer["error"] };
        assert_eq!(seen.status, *status, "{what}: {answer}");
        assert!(said.as_str().unwrap().contains(says), "{what}: {answer}");
        assert!(!said.as_str().unwrap().is_empty());
    }
}

#[test]
fn a_path_tells_which_method_it_takes_and_an_unknown_one_is_404() {
    play(Plan::new(0), async |scene| {
        let mut client = scene.dial().await;
        for (method, path, status, allow) in [
            ("GET", "/mcp", 405, Some("POST")),
            ("GET", "/register", 405, Some("POST")),
            ("GET", "/api/admin/start", 405, Some("POST")),
            ("POST", "/api/status.json", 405, Some("GET, HEAD")),
            ("DELETE", "/api/players.json", 405, Some("GET, HEAD")),
            ("PUT", "/", 405, Some("GET, HEAD")),
            ("GET", "/api/players/P01.json", 404, None),
            ("GET", "/api/players/REF01.json", 404, None),
            ("GET", "/api/matches/R1M1.json", 404, None),
            ("GET", "/api/matches/R65536M1.json", 404, None),
            ("GET", "/api/matches/.json", 404, None),
            ("GET", "/api/admin", 404, None),
            ("POST", "/nowhere", 404, None),
            ("GET", "/api/../mcp", 404, None),
            ("GET", "/health?x=1", 200, None),
            ("HEAD", "/api/standings.json", 200, None),
            ("HEAD", "/", 200, None),
            ("HEAD", "/nowhere", 404, None),
        ] {
            let seen = client.ask(method, path, ADMIN, "").await.unwrap();
            assert_eq!((seen.status, seen.header("Allow")), (status, allow), "{method} {path}");
            if method != "HEAD" {
                seen.json();
            }
        }
    });
}

const PAGES: [&str; 8] = [
    "/health",
    "/.well-known/agent.json",
    "/api/status.json",
    "/api/standings.json",
    "/api/schedule.json",
    "/api/players.json",
    "/api/results.csv",
    "/api/log.jsonl",
];

/// All pages there are now, each of them well-formed.
async fn pages(scene: Scene<'_, '_>) -> Vec<(String, Seen)> {
    let mut seen = Vec::new();
    let players = (1..=8).map(|number| format!("/api/players/P{number:02}.json"));
    let matches = (1..=7).flat_map(|round| (1..=4).map(move |table| format!("/api/matches/R{round}M{table}.json")));
    for path in PAGES.into_iter().map(str::to_owned).chain(players).chain(matches) {
        let page = scene.get(&path).await;
        let is_optional = path.contains("/players/") || path.contains("/matches/");
        assert!(page.status == 200 || page.status == 404 && is_optional, "{path}: {page:?}");
        if path.ends_with(".csv") {
            let columns: Vec<_> = page.body.split_terminator("\r\n").map(|line| line.split(',').count()).collect();
            assert!(columns.iter().all(|count| *count == columns[0] && *count > 9), "{}", page.body);
        } else if path.ends_with(".jsonl") {
            for line in page.body.split_terminator('\n') {
                serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            }
        } else {
            page.json();
        }
        seen.push((path, page));
    }
    seen
}

/// All pages at every stage of a league.
fn pages_of_a_league(outgoing: usize, seed: Option<u64>) -> Vec<(&'static str, Vec<(String, Seen)>)> {
    play(Plan { seed, incoming: 640, outgoing, ..ditherers(4) }, async |scene| {
        let mut stages = vec![("WAITING", pages(scene).await)];
        scene.register(&scene.players[0]).await;
        stages.push(("WAITING", pages(scene).await));
        for player in &scene.players[1..] {
            scene.register(player).await;
        }
        stages.push(("WAITING", pages(scene).await));
        scene.admin("start").await;
        scene.world.sleep(5_000).await;
        stages.push(("RUNNING", pages(scene).await));
        scene.admin("pause").await;
        stages.push(("PAUSED", pages(scene).await));
        scene.world.sleep(60_000).await;
        stages.push(("PAUSED", pages(scene).await));
        scene.admin("resume").await;
        scene.world.sleep(5_000).await;
        stages.push(("RUNNING", pages(scene).await));
        scene.leaguebox.league_over().await;
        stages.push(("COMPLETED", pages(scene).await));
        stages
    })
}

#[test]
fn every_page_is_well_formed_at_every_stage() {
    for seed in [None, Some(1), Some(2)] {
        for (state, pages) in pages_of_a_league(2048, seed) {
            let status = pages.iter().find(|(path, _)| path == "/api/status.json").unwrap().1.json();
            assert_eq!(status["state"], state, "{status}");
        }
    }
}

#[test]
fn a_page_is_the_same_text_through_a_tiny_buffer() {
    let mut chunked = 0;
    let large = pages_of_a_league(63 * 1024, None);
    for ((_, large), (_, tiny)) in large.iter().zip(pages_of_a_league(300, None)) {
        for ((path, large), (_, tiny)) in large.iter().zip(tiny) {
            assert_eq!((large.status, &large.body), (tiny.status, &tiny.body), "{path}");
            let (large, tiny) = (large.header("Transfer-Encoding"), tiny.header("Transfer-Encoding"));
            assert_eq!(large, None, "{path}");
            chunked += usize::from(tiny == Some("chunked"));
        }
    }
    assert!(chunked > 30, "{chunked}");
}

#[test]
fn the_longest_head_fits_the_smallest_buffer() {
    play(Plan { outgoing: 512, ..Plan::new(0) }, async |scene| {
        let page = scene.get("/").await;
        assert_eq!(page.status, 200);
        assert!(page.header("Content-Security-Policy").is_some());
        assert_eq!(scene.get("/skill.md").await.status, 200);
    });
}

#[test]
fn names_that_need_all_the_escaping_there_is_stay_well_formed() {
    play(Plan { outgoing: 300, ..Plan::new(0) }, async |scene| {
        for (number, name) in ["\"".repeat(64), "\"\\".repeat(32), "\u{1F916}".repeat(16)].iter().enumerate() {
            let path = "\"".repeat(60);
            let message = json!({"jsonrpc": "2.0", "method": "register_player", "id": "\u{2}".repeat(100), "params": {
                "message_type": "LEAGUE_REGISTER_REQUEST", "timestamp": "\u{3}\u{3}\u{3}", "player_meta": {
                "display_name": name, "version": "\u{1}".repeat(16), "game_types": ["even_odd"],
                "contact_endpoint": format!("http://10.0.0.77:{}/{path}", 9000 + number)}}});
            let seen = scene.rpc(&message).await.json();
            assert_eq!(seen["result"]["status"], "ACCEPTED", "{seen}");
        }
        let pages = pages(scene).await;
        let players = &pages.iter().find(|(path, _)| path == "/api/players.json").unwrap().1;
        assert_eq!(players.json()["players"][0]["display_name"], "\"".repeat(64));
    });
}

fn query(token: &str, what: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "league_query", "id": 7, "params": {"protocol": "league.v2",
        "message_type": "LEAGUE_QUERY", "sender": "player:P01", "timestamp": "2025-01-15T10:05:00Z",
        "conversation_id": "c", "auth_token": token, "query_type": what}})
}

#[test]
fn a_long_answer_to_an_agent_is_as_long_as_it_says_whatever_the_buffer() {
    let ask = |outgoing, seed| {
        play(Plan { seed, incoming: 640, outgoing, ..Plan::new(8) }, async |scene| {
            scene.whole_league().await;
            let token = scene.players[0].token.borrow().clone();
            let mut client = scene.dial().await;
            let mut answers = Vec::new();
            for what in ["GET_SCHEDULE", "GET_STANDINGS", "GET_PLAYER_DIRECTORY", "GET_MATCH_HISTORY", "GET_NEXT_MATCH"]
            {
                // One connection: an answer of another length than it says would spoil the next.
                let seen = client.ask("POST", "/mcp", "", &query(&token, what).to_string()).await.unwrap();
                let length: usize = seen.header("Content-Length").unwrap().parse().unwrap();
                assert_eq!((seen.status, length), (200, seen.body.len()), "{what}");
                let mut answer = seen.json();
                assert_eq!(answer["result"]["status"], "SUCCESS");
                answer["result"]["timestamp"].take();
                answers.push(answer);
            }
            answers
        })
    };
    let whole = ask(16 * 1024, None);
    assert!(whole[0].to_string().len() > 4000);
    for (outgoing, seed) in [(256, None), (300, Some(1)), (1000, Some(2)), (1300, Some(3)), (4096, Some(4))] {
        assert_eq!(ask(outgoing, seed), whole, "{outgoing}");
    }
}

#[test]
fn a_long_answer_arrives_while_others_ask_and_play() {
    for seed in 0..20 {
        play(Plan { seed: Some(seed), incoming: 640, outgoing: 300, ..Plan::new(8) }, async |scene| {
            scene.register_all().await;
            scene.admin("start").await;
            let token = scene.players[0].token.borrow().clone();
            let asks = async |what| {
                let (mut asked, mut answered) = (0, 0);
                while !scene.leaguebox.venue(|venue| venue.is_over()) {
                    asked += 1;
                    let message = query(&token, what).to_string();
                    if let Some(seen) = scene.dial().await.ask("POST", "/mcp", "", &message).await {
                        assert_eq!(seen.json()["result"]["status"], "SUCCESS");
                        answered += 1;
                    }
                }
                (asked, answered)
            };
            let ((directories, told), (schedules, shown)) =
                join(asks("GET_PLAYER_DIRECTORY"), asks("GET_SCHEDULE")).await;
            assert!(directories > 3 && told == directories, "this text does not change");
            // The results are in this one, and a league of a few milliseconds changes it under way now and then.
            assert!(shown > schedules / 3, "{shown} of {schedules}");
        });
    }
}

#[test]
fn a_page_whose_league_is_reset_meanwhile_breaks_off_instead_of_being_malformed() {
    let (mut whole, mut broken_off) = (0, 0);
    for seed in 0..60 {
        play(Plan { seed: Some(seed), incoming: 640, outgoing: 300, ..ditherers(8) }, async |scene| {
            scene.register_all().await;
            scene.admin("start").await;
            scene.world.sleep(1_000).await;
            let path = ["schedule", "players", "standings"][seed as usize % 3];
            let mut client = scene.dial().await;
            // The answers fill what the network holds, and wait: the last one at a different place each time.
            let before = seed as usize / 3 % 8;
            let requests = "GET /health HTTP/1.1\r\nHost: box\r\n\r\n".repeat(before);
            let requests = format!("{requests}GET /api/{path}.json HTTP/1.1\r\nHost: box\r\n\r\n");
            client.socket.send(requests.as_bytes()).await.unwrap();
            scene.world.sleep(100).await;
            scene.leaguebox.act(|venue, now| venue.command(now, Command::Reset)).unwrap();
            for _ in 0..before {
                client.receive().await.unwrap();
            }
            match client.receive().await {
                Some(page) => {
                    page.json();
                    whole += 1;
                }
                None => broken_off += 1,
            }
        });
    }
    assert!(whole > 10 && broken_off > 10, "{whole} pages were whole and {broken_off} broken off");
}

#[test]
fn a_page_of_a_match_arrives_whole_though_the_log_forgets_what_happened_in_it() {
    for before in 0..8 {
        play(Plan { incoming: 640, outgoing: 300, ..ditherers(2) }, async |scene| {
            scene.register_all().await;
            scene.admin("start").await;
            scene.world.sleep(1_000).await;
            let (room, written) = scene.leaguebox.venue(|venue| (venue.log().room(), venue.log().written()));
            let fill = async |entries: u64| {
                for entry in 0..entries {
                    scene.admin(["pause", "resume"][entry as usize % 2]).await;
                }
                scene.leaguebox.venue(|venue| assert!(venue.log().written() >= written + entries));
            };
            fill(room - written).await;
            let mut client = scene.dial().await;
            // The answers fill what the network holds, and wait: the last one at a different place each time.
            let requests = "GET /health HTTP/1.1\r\nHost: box\r\n\r\n".repeat(before);
            let requests = format!("{requests}GET /api/matches/R1M1.json HTTP/1.1\r\nHost: box\r\n\r\n");
            client.socket.send(requests.as_bytes()).await.unwrap();
            scene.world.sleep(100).await;
            fill(written).await;
            for _ in 0..before {
                client.receive().await.unwrap();
            }
            let page = client.receive().await.expect("a whole page").json();
            assert_eq!(page["match_id"], "R1M1");
        });
    }
}

/// What has come for clients that do not read, each time everybody has had a turn, until nothing comes any more.
async fn growth(scene: Scene<'_, '_>, clients: &[Client<'_>]) -> Vec<usize> {
    let unread = || clients.iter().map(|client| client.socket.unread()).sum::<usize>();
    let (began, mut before, mut quiet, mut growth) = (scene.world.now(), unread(), 0, Vec::new());
    while quiet < 4 * clients.len() + 20 {
        yield_now().await;
        let now = unread();
        quiet = if now > before { 0 } else { quiet + 1 };
        growth.push(now - std::mem::replace(&mut before, now));
    }
    assert_eq!(scene.world.now(), began, "nobody waited for the clock");
    growth
}

#[test]
fn of_all_long_pages_under_way_one_piece_is_made_in_each_turn_though_the_network_takes_everything() {
    const OUTGOING: usize = 1024;
    let plan = Plan { window: 1 << 24, outgoing: OUTGOING, slots: 12, ..Plan::new(8) };
    play(plan, async |scene| {
        scene.whole_league().await;
        // Those that are written and those that are unpacked.
        for path in ["/api/log.jsonl", "/skill.md", "/page.js"] {
            let mut clients = Vec::new();
            for last in 0..8 {
                let mut client = scene.dial_from([127, 0, 1, last].into()).await;
                let asks = format!("GET {path} HTTP/1.1\r\nHost: leaguebox\r\n\r\n").repeat(3);
                client.socket.send(asks.as_bytes()).await.unwrap();
                clients.push(client);
            }
            let growth = growth(scene, &clients).await;
            let whole: usize = growth.iter().sum();
            // Each begins with what fits its buffer; a page begins three times on each.
            let turns = growth.iter().filter(|bytes| **bytes > 0).count();
            assert!(whole > 40 * 8 * OUTGOING, "{path}: {whole} bytes are no long pages");
            assert!(turns > whole / (4 * OUTGOING), "{path}: {whole} bytes in {turns} turns: {growth:?}");
            // A page ends with what is left over beside its last piece.
            let more = growth.iter().filter(|bytes| **bytes > 4 * OUTGOING).count();
            assert!(more <= 3 * clients.len(), "{path}: {growth:?}");
            assert!(growth.iter().all(|bytes| *bytes < 8 * OUTGOING), "{path}: {growth:?}");
        }
    });
}

#[test]
fn the_head_of_a_long_page_is_told_without_its_length_and_one_request_is_answered_in_each_turn() {
    let plan = Plan { window: 1 << 24, slots: 4, ..Plan::new(4) };
    play(plan, async |scene| {
        for path in ["/api/log.jsonl", "/api/players.json", "/api/status.json", "/api/leagues.json"] {
            let mut client = scene.dial_from([127, 0, 0, 1].into()).await;
            let seen = client.ask("HEAD", path, "", "").await.unwrap();
            assert_eq!(seen.status, 200, "{path}");
            // What is short in any case is made, and its length told.
            assert_eq!(seen.header("Content-Length").is_some(), path == "/api/status.json", "{path}");
            let length = seen.head.len();
            let asks = format!("HEAD {path} HTTP/1.1\r\nHost: leaguebox\r\n\r\n").repeat(20);
            client.socket.send(asks.as_bytes()).await.unwrap();
            let growth = growth(scene, &[client]).await;
            assert_eq!(growth.iter().sum::<usize>(), 20 * length, "{path}");
            assert_eq!(growth.iter().max(), Some(&length), "{path}");
        }
        assert_eq!(scene.dial().await.ask("HEAD", "/api/players/P09.json", "", "").await.unwrap().status, 404);
    });
}

#[test]
fn a_long_page_is_held_against_who_asked_for_it_and_nobody_else() {
    play(Plan { outgoing: 1024, slots: 12, ..Plan::new(8) }, async |scene| {
        scene.whole_league().await;
        // What the players' addresses owe for registering is paid off: whoever comes now has an account of its own.
        scene.world.sleep(10_000).await;
        let greedy = async |path| {
            let mut client = scene.dial_from([10, 0, 2, 1].into()).await;
            client.ask("GET", path, "", "").await.unwrap()
        };
        let mut pages = 0;
        while greedy("/api/log.jsonl").await.status == 200 {
            pages += 1;
            assert!(pages < 100, "nobody pays");
        }
        let refused = greedy("/health").await;
        assert_eq!((refused.status, refused.header("Retry-After")), (429, Some("1")));
        assert!(pages >= 5, "{pages} pages are no flood");
        assert_eq!(scene.get("/api/log.jsonl").await.status, 200, "somebody else");
        scene.world.sleep(2_000).await;
        assert_eq!(greedy("/api/log.jsonl").await.status, 200);
    });
}

#[test]
fn a_notification_is_answered_with_nothing() {
    play(Plan::new(0), async |scene| {
        let mut client = scene.dial().await;
        // The second is MCP's, which has a status of its own for it.
        for (method, status) in [("fly_to_the_moon", 204), ("notifications/initialized", 202)] {
            let message = json!({"jsonrpc": "2.0", "method": method}).to_string();
            let seen = client.ask("POST", "/mcp", "", &message).await.unwrap();
            assert_eq!((seen.status, seen.body.as_str()), (status, ""));
        }
        assert_eq!(client.ask("GET", "/health", "", "").await.unwrap().status, 200);
    });
}

#[test]
fn files_of_the_page_are_compressed_for_whoever_takes_that_and_known_again() {
    play(Plan { outgoing: 512, ..Plan::new(0) }, async |scene| {
        let plain = scene.get("/").await;
        assert_eq!((plain.status, plain.header("Content-Encoding")), (200, None));
        let tag = plain.header("ETag").expect("a tag").to_owned();
        assert_eq!(plain.header("Cache-Control"), Some("no-cache"), "{}", plain.head);

        let head = scene.dial().await.ask("HEAD", "/", "Accept-Encoding: gzip, br\r\n", "").await.unwrap();
        assert_eq!((head.status, head.header("Content-Encoding")), (200, Some("gzip")));
        let length: usize = head.header("Content-Length").unwrap().parse().unwrap();
        assert!(length < plain.body.len() / 2, "{length} of {}", plain.body.len());

        let known = format!("If-None-Match: {tag}\r\nAccept-Encoding: gzip\r\n");
        let same = scene.dial().await.ask("GET", "/", &known, "").await.unwrap();
        assert_eq!((same.status, same.body.as_str(), same.header("ETag")), (304, "", Some(tag.as_str())));
        let other = scene.dial().await.ask("HEAD", "/skill.md", &known, "").await.unwrap();
        assert_eq!(other.status, 200, "the tag is another file's");
    });
}

mod texts {
    include!(concat!(env!("OUT_DIR"), "/texts.rs"));

    /// Every text by its path, as a box says it that is asked under this address.
    pub fn at(address: &str) -> impl Iterator<Item = (&'static str, String)> {
        TEXTS.iter().map(move |(path, text)| (*path, text.replace(ADDRESS, address)))
    }
}

#[test]
fn every_text_arrives_whole_whatever_room_its_request_leaves() {
    for (seed, cookie) in [(None, 0), (Some(1), 0), (Some(2), 1900)] {
        play(Plan { seed, outgoing: 656, ..Plan::new(0) }, async |scene| {
            let extra = format!("Cookie: {}\r\n", "x".repeat(cookie));
            for (path, text) in texts::at("10.0.0.1:8000") {
                let mut client = scene.dial().await;
                let seen = client.ask("GET", path, &extra, "").await.unwrap();
                assert_eq!((seen.status, seen.header("Content-Encoding")), (200, None), "{path}");
                assert!(seen.body == text, "{path}");
            }
        });
    }
}

#[test]
fn a_file_that_is_unpacked_ends_its_connection_only_where_it_needs_the_room() {
    play(Plan { outgoing: 656, ..Plan::new(0) }, async |scene| {
        for (cookie, kept) in [(0, true), (1900, false)] {
            let extra = format!("Cookie: {}\r\n", "x".repeat(cookie));
            let mut client = scene.dial().await;
            let seen = client.ask("GET", "/page.js", &extra, "").await.unwrap();
            assert_eq!(seen.header("Connection"), Some(if kept { "keep-alive" } else { "close" }));
            assert_eq!(client.ask("GET", "/health", "", "").await.is_some(), kept);
        }
    });
}
