//! What the owner sets and tries out, and what the board says of itself.

mod net_support;

use std::cell::Cell;

use appliance::board::Fault;
use net_support::{ADMIN, Plan, Scene, Seen, play};
use serde_json::{Value, json};

async fn set(scene: Scene<'_, '_>, body: &str) -> Seen {
    scene.dial().await.ask("POST", "/api/admin/settings", ADMIN, body).await.unwrap()
}

#[test]
fn the_owner_sets_what_it_names_and_is_answered_with_all_of_it() {
    play(Plan::new(0), async |scene| {
        let before = json!({"game": "even_odd", "mode": "lenient", "start_at": null, "join_timeout_ms": 5000,
            "move_timeout_ms": 30000, "retry_base_ms": 1000, "seed": "random"});
        assert_eq!(scene.get("/api/settings.json").await.json(), before);
        let seen = set(scene, "{}").await;
        assert_eq!((seen.status, seen.json()), (200, before.clone()));
        let seed = "5eed".repeat(16);
        let seen = set(scene, &json!({"start_at": 4, "mode": "strict", "seed": seed}).to_string()).await;
        let mut after = before;
        (after["start_at"], after["mode"], after["seed"]) = (4.into(), "strict".into(), "set".into());
        assert_eq!((seen.status, seen.json()), (200, after.clone()));
        assert_eq!(scene.get("/api/settings.json").await.json(), after);
        assert_eq!(scene.get("/api/status.json").await.json()["mode"], "strict");
    });
}

#[test]
fn settings_are_the_owners_and_a_wrong_one_changes_nothing() {
    play(Plan::new(0), async |scene| {
        let mut client = scene.dial().await;
        assert_eq!(client.ask("POST", "/api/admin/settings", "", "{}").await.unwrap().status, 401);
        assert_eq!(client.ask("GET", "/api/admin/settings", ADMIN, "").await.unwrap().status, 405);
        for (body, told) in [
            (r#"{"mode":"strict","start_at":1}"#, "start_at must be null or a whole number from 2 to 8"),
            (r#"{"mode":"strict","\"\u0001":1}"#, "\"\u{1} is not a setting; /api/settings.json names them all"),
            (r#"{"mode":"strict"} "#.trim_end_matches("} "), "the body must be JSON: text ends too early, at byte 16"),
        ] {
            let seen = set(scene, body).await;
            assert_eq!((seen.status, seen.json()), (400, json!({"error": told})), "{body}");
        }
        assert_eq!(scene.get("/api/settings.json").await.json()["mode"], "lenient");
    });
}

#[test]
fn the_number_of_players_may_be_set_after_they_came_and_then_nothing_more() {
    play(Plan::new(3), async |scene| {
        scene.register_all().await;
        let seen = set(scene, r#"{"start_at":3}"#).await;
        assert_eq!((seen.status, &seen.json()["start_at"]), (200, &json!(3)));
        let seen = set(scene, r#"{"start_at":null}"#).await;
        assert_eq!(seen.status, 409);
        assert!(seen.json()["error"].as_str().unwrap().contains("while players register"));
        scene.leaguebox.league_over().await;
        assert_eq!(set(scene, "{}").await.status, 409);
        assert_eq!(scene.get("/api/status.json").await.json()["matches_completed"], 3);
        assert_eq!(scene.admin("reset").await.status, 200);
        assert_eq!(set(scene, r#"{"start_at":null}"#).await.status, 200);
    });
}

#[test]
fn the_status_says_what_the_board_says_of_itself() {
    let status = |last_panic| {
        play(Plan { last_panic, ..Plan::new(0) }, async |scene| scene.get("/api/status.json").await.json())
    };
    let quiet = status(None);
    assert_eq!((&quiet["board"], &quiet["name"]), (&json!("test"), &json!("leaguebox-1")));
    assert_eq!((&quiet["last_reset"], &quiet["last_panic"]), (&json!("watchdog"), &Value::Null));
    assert_eq!((&quiet["time_source"], &quiet["time"]), (&json!("system"), &json!("2025-01-15T10:30:00Z")));
    assert_eq!(status(Some("at line 1:\n\"oh\""))["last_panic"], "at line 1:\n\"oh\"");
}

thread_local! {
    static BROKEN: Cell<Option<Fault>> = const { Cell::new(None) };
}

#[test]
fn a_board_with_a_watchdog_is_broken_on_purpose_once_the_answer_is_out() {
    let breaker: fn(Fault) = |fault| BROKEN.set(Some(fault));
    play(Plan { breaker: Some(breaker), ..Plan::new(0) }, async |scene| {
        for (name, fault) in [("fault/panic", Fault::Panic), ("fault/hang", Fault::Hang)] {
            BROKEN.set(None);
            assert_eq!(scene.admin(name).await.status, 200);
            assert_eq!(BROKEN.get(), None, "the answer comes first");
            scene.world.sleep(1_000).await;
            assert_eq!(BROKEN.get(), Some(fault));
        }
        BROKEN.set(None);
        let seen = scene.dial().await.ask("POST", "/api/admin/fault/hang", "", "").await.unwrap();
        scene.world.sleep(1_000).await;
        assert_eq!((seen.status, BROKEN.get()), (401, None));
    });
}

#[test]
fn a_board_without_a_watchdog_is_not_broken() {
    play(Plan::new(0), async |scene| {
        for name in ["fault/panic", "fault/hang"] {
            let seen = scene.admin(name).await;
            assert_eq!(seen.status, 404);
            assert!(seen.json()["error"].as_str().unwrap().contains("no watchdog"));
        }
    });
}
