//! Language models that wait for their turn, on a board: to the millisecond, and in nobody's way.

use crate::net_support::{Client, Plan, Scene, play};
use appliance::clock::Clock;
use embassy_futures::join::join;
use serde_json::{Value, json};

/// As a board has them: one for each of eight players, four for pages, four for requests and one more.
const SLOTS: usize = 8 + 4 + 4 + 1;

fn board() -> Plan {
    Plan { slots: SLOTS, has_queue: false, ..Plan::new(0) }.small(896)
}

fn call(tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

async fn join_league(scene: &Scene<'_, '_>, from: u8) -> Value {
    let body = call("join_league", &json!({"name": format!("Model {from}")}));
    let seen = scene.dial_from([10, 0, 1, from].into()).await.ask("POST", "/mcp", "", &body).await.expect("an answer");
    seen.json()["result"]["structuredContent"]["token"].take()
}

/// Asks for a turn, and does not wait for the answer.
async fn begin<'w>(scene: &Scene<'_, 'w>, from: u8, token: &Value, wait: u8) -> Client<'w> {
    let body = call("next_turn", &json!({"token": token, "wait_seconds": wait}));
    let mut client = scene.dial_from([10, 0, 1, from].into()).await;
    let length = body.len();
    let text = format!("POST /mcp HTTP/1.1\r\nHost: 10.0.0.1:8000\r\nContent-Length: {length}\r\n\r\n{body}");
    client.socket.send(text.as_bytes()).await.unwrap();
    client
}

/// What it is told.
async fn told(client: &mut Client<'_>) -> Value {
    let seen = client.receive().await.expect("an answer");
    assert_eq!(seen.status, 200, "{}", seen.body);
    seen.json()["result"]["structuredContent"].take()
}

#[test]
fn who_asks_for_its_turn_waits_as_long_as_it_said_and_no_longer() {
    play(board(), async |scene| {
        let token = join_league(&scene, 1).await;
        for wait in [0, 1, 7, 25] {
            let began = scene.world.now();
            let turn = told(&mut begin(&scene, 1, &token, wait).await).await;
            assert_eq!((&turn["your_turn"], &turn["league_over"]), (&json!(false), &json!(false)), "{turn}");
            let passed = scene.world.now() - began;
            assert!(
                (u64::from(wait) * 1000..u64::from(wait) * 1000 + 50).contains(&passed),
                "{wait} s took {passed} ms"
            );
        }
    });
}

#[test]
fn it_is_told_as_soon_as_something_changes_for_it() {
    play(board(), async |scene| {
        let tokens = [join_league(&scene, 1).await, join_league(&scene, 2).await];
        let mut waiting = [begin(&scene, 1, &tokens[0], 25).await, begin(&scene, 2, &tokens[1], 25).await];
        scene.world.sleep(3_000).await;
        let began = scene.world.now();
        assert_eq!(scene.admin("start").await.status, 200);
        for client in &mut waiting {
            assert_eq!(told(client).await["your_turn"], true);
        }
        assert!(scene.world.now() - began < 50, "{}", scene.world.now() - began);
    });
}

#[test]
fn who_asks_again_waits_once() {
    play(board(), async |scene| {
        let token = join_league(&scene, 1).await;
        let mut first = begin(&scene, 1, &token, 25).await;
        scene.world.sleep(1_000).await;
        let began = scene.world.now();
        let mut second = begin(&scene, 1, &token, 20).await;
        assert_eq!(told(&mut first).await["your_turn"], false);
        assert!(scene.world.now() - began < 50, "the first is answered at once");
        told(&mut second).await;
        assert!((20_000..20_050).contains(&(scene.world.now() - began)), "{}", scene.world.now() - began);
    });
}

#[test]
fn models_that_wait_let_go_when_few_slots_are_free_and_a_visitor_is_answered_at_once() {
    for seed in [None, Some(1), Some(2)] {
        play(Plan { seed, ..board() }, async |scene| {
            let (mut waiting, mut tokens) = (Vec::new(), Vec::new());
            for n in 1..=8 {
                tokens.push(join_league(&scene, n).await);
                waiting.push(begin(&scene, n, &tokens[usize::from(n) - 1], 25).await);
            }
            scene.world.sleep(100).await;
            let began = scene.world.now();
            // Nine are left. Those come who ask slowly, and keep what they have.
            let mut slow = Vec::new();
            for n in 0..8 {
                let mut client = scene.dial_from([10, 0, 2, n].into()).await;
                client.socket.send(b"GET /health HT").await.unwrap();
                slow.push(client);
                scene.world.sleep(20).await;
                let seen = scene.get("/health").await;
                assert_eq!(seen.status, 200);
                scene.world.sleep(20).await;
            }
            assert!(scene.world.now() - began < 2_000, "nobody waited: {}", scene.world.now() - began);
            // Some of them had to let go, and were answered.
            let mut let_go = 0;
            for client in &mut waiting {
                if client.socket.unread() > 0 {
                    assert_eq!(told(client).await["your_turn"], false);
                    let_go += 1;
                }
            }
            assert!(let_go >= 2, "seed {seed:?}: {let_go} let go");
        });
    }
}

#[test]
fn lines_that_move_up_take_who_waits_on_them_along() {
    play(board(), async |scene| {
        let tokens = [join_league(&scene, 1).await, join_league(&scene, 2).await, join_league(&scene, 3).await];
        let mut last = begin(&scene, 3, &tokens[2], 25).await;
        scene.world.sleep(100).await;
        // The first is removed: the others are on other lines now.
        let body = r#"{"player_id":"P01"}"#;
        let seen = scene.dial().await.ask("POST", "/api/admin/remove", crate::net_support::ADMIN, body).await;
        assert_eq!(seen.expect("an answer").status, 200);
        scene.world.sleep(1_000).await;
        assert_eq!(scene.admin("start").await.status, 200);
        let began = scene.world.now();
        let (turn, ()) = join(told(&mut last), async {}).await;
        assert!(turn["your_turn"] == true && scene.world.now() - began < 50, "{turn}");
    });
}
