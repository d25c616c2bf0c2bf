//! Connections that take whatever role comes, on a board, where nobody waits in a queue: who comes while no slot listens is
//! refused.

use std::cell::Cell;
use std::pin::pin;

use crate::links::{Agent, KEY, UPGRADE, all};
use crate::live::Page;
use crate::net_support::{Client, Does, Heard, Plan, Scene, Seen, play};
use appliance::clock::Clock;
use embassy_futures::join::{join, join_array};
use embassy_futures::select::select;

/// As a board has them: one for each of eight players, four for pages, four for requests and one more.
const SLOTS: usize = 8 + 4 + 4 + 1;

fn board(players: usize) -> Plan {
    Plan { slots: SLOTS, has_queue: false, ..Plan::new(players) }.small(896)
}

async fn greeted(scene: &Scene<'_, '_>, from: u8) {
    let seen = scene.dial_from([10, 0, 1, from].into()).await.ask("GET", "/health", "", "").await;
    assert_eq!(seen.expect("an answer").status, 200);
}

fn technical_losses(results: &[String]) -> usize {
    results.iter().filter(|line| line.contains("TECHNICAL_LOSS")).count()
}

#[test]
fn ten_who_come_at_once_are_greeted_without_coming_again() {
    for seed in [None, Some(1), Some(2), Some(3)] {
        play(Plan { seed, ..board(0) }, async |scene| {
            let began = scene.world.now();
            join_array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| greeted(&scene, n))).await;
            assert!(scene.world.now() - began < 500, "{}", scene.world.now() - began);
        });
    }
}

/// Everybody is there: every player by its link, four pages, and four who ask slowly.
#[test]
fn with_every_player_linked_and_four_pages_open_a_fifth_visitor_is_answered_at_once() {
    for seed in [None, Some(1), Some(2)] {
        play(Plan { seed, ..board(0) }, async |scene| {
            let mut agents = Vec::new();
            for n in 0..8 {
                agents.push(Agent::join(&scene, 31 + n, &format!("Agent {n}")).await);
            }
            let mut pages = Vec::new();
            for _ in 0..4 {
                pages.push(Page::open(&scene).await);
            }
            for page in &mut pages {
                page.catch_up(&scene).await;
            }
            let mut slow = Vec::new();
            for n in 0..4 {
                let mut client = scene.dial_from([10, 0, 2, n].into()).await;
                client.socket.send(b"GET /health HT").await.unwrap();
                slow.push(client);
            }
            for n in 0..40 {
                let began = scene.world.now();
                greeted(&scene, n).await;
                assert!(scene.world.now() - began < 100, "seed {seed:?}: {}", scene.world.now() - began);
                scene.world.sleep(10).await;
                let page = scene.get("/").await;
                assert_eq!(page.status, 200);
                scene.world.sleep(10).await;
            }
            // Nobody had to go for it.
            for client in &mut slow {
                client.socket.send(b"TP/1.1\r\nHost: box\r\n\r\n").await.unwrap();
                assert_eq!(client.receive().await.expect("an answer").status, 200);
            }
            scene.world.sleep(100).await;
            for agent in &mut agents {
                assert_eq!(agent.ask(&agent.query(7)).await["id"], 7);
            }
            for page in &mut pages {
                page.catch_up(&scene).await;
                page.knows_all(&scene).await;
            }
        });
    }
}

#[test]
fn with_every_other_slot_taken_by_calls_a_newcomer_is_answered_and_who_would_stay_is_told_when_to_come() {
    let thinks = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::After(4_000) } else { Does::Answer };
    let plan = (0..8).fold(board(8), |plan, player| plan.with(player, thinks));
    play(Plan { slots: 9, ..plan }, async |scene| {
        scene.register_all().await;
        assert_eq!(scene.admin("start").await.status, 200);
        scene.world.sleep(1_000).await;
        assert!(scene.players.iter().all(|player| player.port.open.get() == 1), "all are being called");
        let seen = scene.get("/health").await;
        assert_eq!((seen.status, seen.header("Connection")), (200, Some("close")));
        scene.world.sleep(10).await;
        let hello = format!("{UPGRADE}Sec-WebSocket-Key: {KEY}\r\n");
        for path in ["/ws", "/api/live", "/api/v1/ws"] {
            let seen = scene.dial().await.ask("GET", path, &hello, "").await.expect("an answer");
            assert_eq!(seen.status, 503, "{path}");
            assert!(seen.header("Retry-After").is_some() && seen.json()["error"].is_string());
            scene.world.sleep(10).await;
        }
        scene.leaguebox.league_over().await;
        assert_eq!(technical_losses(&scene.results().await), 0);
    });
}

#[test]
fn calls_that_find_no_slot_wait_for_the_next_and_a_league_is_played_with_few() {
    let thinks = |_: &Heard, _| Does::After(100);
    let calm = play(Plan::new(4), async |scene| {
        scene.whole_league().await;
        scene.results().await
    });
    for (slots, seed) in [(2, None), (3, None), (3, Some(1)), (4, Some(2)), (5, Some(3))] {
        let plan =
            (0..4).fold(Plan { slots, seed, has_queue: true, ..board(4) }, |plan, player| plan.with(player, thinks));
        play(plan, async |scene| {
            scene.whole_league().await;
            assert_eq!(scene.results().await, calm, "{slots} slots");
            assert!(scene.players.iter().all(|player| player.port.most.get() == 1));
        });
    }
}

#[test]
fn a_late_answer_is_waited_for_only_while_nobody_needs_its_slot() {
    let hangs = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::Hang } else { Does::Answer };
    play(board(2).with(1, hangs), async |scene| {
        scene.register_all().await;
        scene.admin("start").await;
        // Its time is over, and it is asked again.
        scene.world.sleep(5_500).await;
        assert_eq!(scene.players[1].port.open.get(), 2);
        let mut crowd: Vec<Client<'_>> = Vec::new();
        for n in 0..SLOTS as u8 - 4 {
            crowd.push(scene.dial_from([10, 0, 2, n].into()).await);
        }
        scene.world.sleep(100).await;
        assert_eq!(scene.players[1].port.open.get(), 1, "others need it");
        drop(crowd);
        scene.leaguebox.league_over().await;
    });
}

#[test]
fn a_kept_connection_is_let_go_when_others_need_its_slot_and_nothing_is_lost() {
    let thinks = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::After(2_000) } else { Does::Answer };
    play(board(4).with(0, thinks).with(2, thinks), async |scene| {
        scene.register_all().await;
        scene.admin("start").await;
        scene.world.sleep(1_000).await;
        // The others have answered, and are kept for what comes next.
        assert_eq!(scene.players.iter().map(|player| player.port.open.get()).sum::<usize>(), 4);
        let mut crowd: Vec<Client<'_>> = Vec::new();
        for n in 0..SLOTS as u8 - 6 {
            crowd.push(scene.dial_from([10, 0, 2, n].into()).await);
        }
        scene.world.sleep(100).await;
        let open: Vec<_> = scene.players.iter().map(|player| player.port.open.get()).collect();
        assert!(open[0] == 1 && open[2] == 1 && open[1] + open[3] < 2, "{open:?}");
        drop(crowd);
        scene.leaguebox.league_over().await;
        assert_eq!(technical_losses(&scene.results().await), 0);
    });
}

#[test]
fn a_link_that_is_replaced_again_and_again_leaves_its_slots_to_others() {
    for seed in [None, Some(1)] {
        play(Plan { seed, ..board(0) }, async |scene| {
            let mut bob = Agent::join(&scene, 32, "Bob").await;
            let mut links = vec![Agent::join(&scene, 31, "Ada").await];
            for _ in 0..30 {
                links.push(Agent::join(&scene, 31, "Ada").await);
                scene.world.sleep(1_500).await;
                greeted(&scene, 9).await;
            }
            let mut ada = links.pop().unwrap();
            assert_eq!(scene.admin("start").await.status, 200);
            all([pin!(ada.play()), pin!(bob.play())]).await;
            assert_eq!(technical_losses(&scene.results().await), 0);
        });
    }
}

#[test]
fn however_many_visitors_come_and_stay_players_are_called() {
    for seed in 0..4 {
        play(Plan { seed: Some(seed), has_queue: true, ..board(4) }, async |scene| {
            scene.register_all().await;
            let count = Cell::new(0);
            let hoard = async |n: u8| {
                loop {
                    let mut client = scene.dial_from([10, 0, 2, n].into()).await;
                    let _ = client.socket.send(b"GET /health HT").await;
                    while client.receive().await.is_some() {}
                    count.set(count.get() + 1);
                }
            };
            let hoards = join_array([0; SLOTS + 8].map(hoard));
            let league = async {
                scene.world.sleep(500).await;
                assert_eq!(scene.admin("start").await.status, 200);
                scene.leaguebox.league_over().await;
            };
            select(hoards, league).await;
            assert!(count.get() > 0, "they were there");
            scene.world.sleep(5_000).await;
            assert_eq!(technical_losses(&scene.results().await), 0, "seed {seed}");
        });
    }
}

#[test]
fn long_requests_take_turns_at_the_large_buffers_and_who_waits_too_long_is_told_to_come_again() {
    play(Plan { slots: 20, ..board(0) }, async |scene| {
        let long = |bytes: usize| {
            let body =
                format!(r#"{{"jsonrpc":"2.0","method":"ping","id":1,"params":{{"x":"{}"}}}}"#, "x".repeat(bytes));
            format!("POST /mcp HTTP/1.1\r\nHost: box\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        };
        // On one connection, long and short by turns.
        let mut client = scene.dial().await;
        for bytes in [10, 1_000, 20, 1_500, 1_500, 30] {
            client.socket.send(long(bytes).as_bytes()).await.unwrap();
            assert_eq!(client.receive().await.expect("an answer").status, 200, "{bytes}");
        }
        // One behind the other, without waiting.
        client.socket.send(format!("{}{}{}", long(1_000), long(600), long(10)).as_bytes()).await.unwrap();
        for _ in 0..3 {
            assert_eq!(client.receive().await.expect("an answer").status, 200);
        }
        let chunked = format!("POST /mcp HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n", 1000);
        client.socket.send(format!("{chunked}{}\r\n0\r\n\r\n", " ".repeat(1000)).as_bytes()).await.unwrap();
        assert_eq!(client.receive().await.expect("an answer").status, 200);
        client.socket.send(long(3_000).as_bytes()).await.unwrap();
        assert_eq!(client.receive().await.expect("an answer").status, 413, "longer than the longest");
        // Two begin, and stop.
        let mut stuck = Vec::new();
        for n in 0..2 {
            let mut client = scene.dial_from([10, 0, 2, n].into()).await;
            client.socket.send(&long(1_500).as_bytes()[..1_200]).await.unwrap();
            stuck.push(client);
        }
        scene.world.sleep(100).await;
        let began = scene.world.now();
        let mut third = scene.dial().await;
        third.socket.send(long(1_000).as_bytes()).await.unwrap();
        let seen = third.receive().await.expect("an answer");
        assert!((seen.status == 503 && seen.header("Retry-After").is_some()) || seen.status == 200, "{seen:?}");
        assert!(scene.world.now() - began <= 3_500, "{}", scene.world.now() - began);
        let short = join(greeted(&scene, 1), greeted(&scene, 2));
        short.await;
        scene.world.sleep(4_000).await;
        let mut again = scene.dial().await;
        again.socket.send(long(1_000).as_bytes()).await.unwrap();
        assert_eq!(again.receive().await.expect("an answer").status, 200, "nobody keeps them for ever");
    });
}

/// What a board lends for what changes while it is told, and for the longest messages.
pub fn lend_as_a_board(scene: &Scene<'_, '_>) {
    scene.leaguebox.have_told(vec![0; 1600].leak());
    scene.leaguebox.have_long(vec![0; 11_008].leak());
}

/// Somebody who asks for a long page and reads nothing of it, for as long as this is held.
async fn deaf<'w>(scene: &Scene<'_, 'w>, from: u8, path: &str) -> Client<'w> {
    let mut client = scene.dial_from([10, 0, 3, from].into()).await;
    client.socket.send(format!("GET {path} HTTP/1.1\r\nHost: box\r\n\r\n").as_bytes()).await.unwrap();
    client
}

/// An answer, read a little at a time, as by somebody far away.
async fn read_slowly(scene: &Scene<'_, '_>, from: u8, request: &str) -> Seen {
    let mut client = scene.dial_from([10, 0, 4, from].into()).await;
    client.socket.send(request.as_bytes()).await.unwrap();
    scene.world.sleep(40).await;
    client.receive().await.expect("a whole answer")
}

/// Players that think a moment, so that a league changes all the time for a while.
pub fn busy_league(seed: Option<u64>) -> Plan {
    let thinks = |_: &Heard, number: usize| Does::After(7 + number as u64 % 5);
    (0..8).fold(Plan { seed, window: 300, slots: 20, ..board(8) }, |plan, player| plan.with(player, thinks))
}

#[test]
fn an_answer_that_changes_while_it_is_read_is_whole_though_somebody_keeps_the_spare_buffer() {
    let standings = r#"{"jsonrpc":"2.0","method":"league_query","id":1,"params":{"message_type":"LEAGUE_QUERY",
        "query_type":"GET_STANDINGS","auth_token":"TOKEN"}}"#;
    for seed in [None, Some(1), Some(2), Some(3)] {
        play(busy_league(seed), async |scene| {
            lend_as_a_board(&scene);
            scene.register_all().await;
            let token = scene.players[0].token.borrow().clone();
            let body = standings.replace("TOKEN", &token);
            let query = format!("POST /mcp HTTP/1.1\r\nHost: box\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            assert_eq!(scene.admin("start").await.status, 200);
            let (mut seen, mut n) = (0, 0);
            let _spare = deaf(&scene, 1, "/skill.md").await;
            while !scene.leaguebox.venue(|venue| venue.is_over()) {
                n += 1;
                let status = read_slowly(&scene, n, "GET /api/status.json HTTP/1.1\r\nHost: box\r\n\r\n").await;
                assert_eq!((status.status, status.json()["capacity"].as_u64()), (200, Some(8)));
                let standings = read_slowly(&scene, n, &query).await;
                let rows = standings.json()["result"]["data"]["standings"].as_array().map(Vec::len);
                assert_eq!(rows, Some(8), "{}", standings.body);
                seen += 1;
            }
            assert!(seen > 4, "the league went on meanwhile: {seen}");
        });
    }
}

#[test]
fn who_never_reads_its_answer_keeps_the_shared_buffer_for_a_moment_and_the_next_is_answered() {
    play(busy_league(None), async |scene| {
        lend_as_a_board(&scene);
        scene.register_all().await;
        let mut kept = Vec::new();
        // The spare buffer, and then the one that all share.
        kept.push(deaf(&scene, 1, "/skill.md").await);
        scene.world.sleep(50).await;
        kept.push(deaf(&scene, 2, "/api/status.json").await);
        scene.world.sleep(50).await;
        let began = scene.world.now();
        assert_eq!(scene.get("/api/status.json").await.status, 200);
        assert!(scene.world.now() - began < 1_600, "{}", scene.world.now() - began);
        // More of them than it can wait for: it is told so, in a whole answer.
        for n in 3..7 {
            kept.push(deaf(&scene, n, "/api/status.json").await);
        }
        scene.world.sleep(50).await;
        let seen = scene.get("/api/status.json").await;
        assert!(seen.status == 503 && seen.header("Retry-After").is_some() && seen.json()["error"].is_string());
        scene.world.sleep(8_000).await;
        assert_eq!(scene.get("/api/status.json").await.status, 200);
    });
}

#[test]
fn who_reads_the_page_a_little_at_a_time_cannot_keep_a_large_buffer_for_ever() {
    play(Plan { window: 300, slots: 20, ..board(0) }, async |scene| {
        let drip = async |n: u8| {
            let mut client = deaf(&scene, n, "/").await;
            let mut buf = [0; 300];
            let began = scene.world.now();
            while embedded_io_async::Read::read(&mut client.socket, &mut buf).await.is_ok_and(|n| n > 0) {
                scene.world.sleep(1_000).await;
            }
            scene.world.now() - began
        };
        let [first, second] = join_array([drip(1), drip(2)]).await;
        assert!(first.max(second) < 25_000, "{first} {second}");
    });
}
