//! What the owner sets and tries out, and what the board says of itself.

use std::cell::Cell;
use std::net::IpAddr;

use crate::net_support::{ADMIN, Plan, Scene, Seen, play};
use appliance::board::Fault;
use appliance::calendar::Source;
use appliance::clock::Clock;
use protocol_core::time::Utc;
use protocol_core::venue::Command;
use serde_json::{Value, json};

async fn set(scene: Scene<'_, '_>, body: &str) -> Seen {
    scene.dial().await.ask("POST", "/api/admin/settings", ADMIN, body).await.unwrap()
}

#[test]
fn the_owner_sets_what_it_names_and_is_answered_with_all_of_it() {
    play(Plan::new(0), async |scene| {
        let before = json!({"game": "even_odd", "mode": "lenient", "start_at": null, "join_timeout_ms": 5000,
            "move_timeout_ms": 30000, "retry_base_ms": 1000, "first_turn_timeout_ms": 180000,
            "turn_timeout_ms": 90000, "pace": "fast", "pace_turn_ms": 1000, "pace_match_ms": 5000, "pace_break_ms": 5000,
            "per_address": null, "fill_after": null, "other_hosts": false, "foreign_referees": null, "vote_seconds": 60, "topic": null,
            "seed": "random"});
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
fn the_number_of_players_may_be_set_after_they_came_and_while_they_play_nothing_they_came_for() {
    play(Plan::new(3), async |scene| {
        scene.register_all().await;
        let seen = set(scene, r#"{"start_at":3}"#).await;
        assert_eq!((seen.status, &seen.json()["start_at"]), (200, &json!(3)));
        let seen = set(scene, r#"{"mode":"strict"}"#).await;
        assert_eq!(seen.status, 409);
        assert!(seen.json()["error"].as_str().unwrap().contains("while a league runs, only pace"));
        scene.leaguebox.league_over().await;
        assert_eq!(set(scene, r#"{"mode":"strict"}"#).await.status, 200);
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

#[test]
fn a_web_page_from_elsewhere_may_not_use_a_browser_as_its_hand() {
    play(Plan::new(0), async |scene| {
        let mut client = scene.dial().await;
        for origin in ["http://evil.example", "https://10.0.0.1", "http://10.0.0.1:80", "null", "10.0.0.1:8000", ""] {
            for path in ["/api/admin/start", "/api/clock", "/mcp", "/register", "/api/v1/agents", "/", "/nowhere"] {
                let seen = client.ask("POST", path, &format!("{ADMIN}Origin: {origin}\r\n"), "{}").await.unwrap();
                assert_eq!(seen.status, 403, "{path} from {origin}");
                assert!(seen.json()["error"].as_str().unwrap().contains("Origin must name the Host"));
            }
            // Reading is not driving: the browser itself keeps the answer from the page.
            let seen = client.ask("GET", "/api/status.json", &format!("Origin: {origin}\r\n"), "").await.unwrap();
            assert_eq!((seen.status, seen.header("Access-Control-Allow-Origin")), (200, None));
        }
        for own in ["Origin: http://10.0.0.1:8000\r\n", ""] {
            let seen = client.ask("POST", "/api/admin/settings", &format!("{ADMIN}{own}"), "{}").await.unwrap();
            assert_eq!(seen.status, 200, "{own}");
        }
    });
}

#[test]
fn a_page_that_made_its_own_name_lead_to_the_box_may_post_to_no_path() {
    play(Plan::new(0), async |scene| {
        for (host, status) in [("evil.example", 403), ("evil.example:8000", 403), ("leaguebox-1.local", 200)] {
            for path in ["/mcp", "/register", "/api/v1/agents", "/api/clock", "/nowhere"] {
                let ask = |origin: &str| {
                    format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Length: 2\r\n\r\n{{}}")
                };
                let mut client = scene.dial().await;
                client.socket.send(ask(&format!("Origin: http://{host}\r\n")).as_bytes()).await.unwrap();
                let seen = client.receive().await.unwrap();
                assert_eq!(seen.status == 403, status == 403, "{path} at {host}: {seen:?}");
                // Who is no browser may call the box whatever it likes.
                client.socket.send(ask("").as_bytes()).await.unwrap();
                assert_ne!(client.receive().await.unwrap().status, 403, "{path} at {host}");
            }
        }
    });
}

#[test]
fn what_is_sent_by_a_form_is_no_setting() {
    play(Plan::new(0), async |scene| {
        let mut client = scene.dial().await;
        for (kind, status) in [
            ("application/x-www-form-urlencoded", 415),
            ("text/plain;charset=UTF-8", 415),
            ("application/json-seq", 415),
            ("application/json", 200),
            ("Application/JSON ; charset=utf-8", 200),
        ] {
            let headers = format!("{ADMIN}Content-Type: {kind}\r\n");
            let seen = client.ask("POST", "/api/admin/settings", &headers, "{}").await.unwrap();
            assert_eq!(seen.status, status, "{kind}");
            let seen = client.ask("POST", "/api/admin/reset", &headers, "").await.unwrap();
            assert_eq!(seen.status, 200, "what has no body has no kind");
        }
    });
}

#[test]
fn a_right_code_opens_whoever_tried_wrong_ones_and_however_many() {
    play(Plan::new(0), async |scene| {
        // Nine addresses and more, before the owner has ever been seen, the owner's own among them.
        for last in (1..20).chain([98, 98]) {
            for code in 0..8 {
                let mut guesser = scene.dial_from(IpAddr::from([10, 0, 0, last])).await;
                let headers = format!("Authorization: Bearer {code}\r\n");
                let seen = guesser.ask("POST", "/api/admin/reset", &headers, "").await.unwrap();
                let told = if seen.status == 401 { "admin code" } else { "too many wrong admin codes" };
                assert!(seen.status == 401 || seen.status == 429 && code >= 5, "{seen:?}");
                assert!(seen.json()["error"].as_str().unwrap().contains(told), "{seen:?}");
                assert_eq!(seen.header("Retry-After").is_some(), seen.status == 429);
                assert_eq!(guesser.receive().await, None, "one code, one connection");
            }
        }
        for last in [98, 99, 7] {
            let mut owner = scene.dial_from(IpAddr::from([10, 0, 0, last])).await;
            assert_eq!(owner.ask("POST", "/api/admin/reset", ADMIN, "").await.unwrap().status, 200, "{last}");
        }
        assert_eq!(scene.world.now(), 0, "nobody waited");
        assert_eq!(scene.get("/api/status.json").await.json()["wrong_admin_codes"], 21 * 8);
    });
}

#[test]
fn a_right_code_opens_where_requests_are_too_many() {
    play(Plan::new(0), async |scene| {
        let mut hammer = scene.dial().await;
        while hammer.ask("GET", "/health", "", "").await.unwrap().status == 200 {}
        let mut owner = scene.dial().await;
        assert_eq!(owner.ask("POST", "/api/admin/reset", ADMIN, "").await.unwrap().status, 200);
        let mut other = scene.dial().await;
        let wrong = other.ask("POST", "/api/admin/reset", "Authorization: Bearer open\r\n", "").await.unwrap();
        assert_eq!(wrong.status, 429);
    });
}

#[test]
fn a_name_that_somebody_made_lead_to_the_box_does_not_command_it() {
    play(Plan::new(0), async |scene| {
        for (host, status) in [
            ("evil.example", 403),
            ("evil.example:8000", 403),
            ("10.0.0.1", 200),
            ("localhost:8000", 200),
            ("leaguebox.local", 200),
        ] {
            // As a browser sends it: the page comes from where it posts to.
            let request = format!(
                "POST /api/admin/reset HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n{ADMIN}Content-Length: 0\r\n\r\n"
            );
            let mut client = scene.dial().await;
            client.socket.send(request.as_bytes()).await.unwrap();
            let seen = client.receive().await.unwrap();
            assert_eq!(seen.status, status, "{host}");
            if status == 403 {
                assert!(seen.json()["error"].as_str().unwrap().contains("Host the box"), "{seen:?}");
            }
        }
        let wrong = scene.get("/api/status.json").await.json()["wrong_admin_codes"].clone();
        assert_eq!(wrong, 0, "no code was looked at that was not");
    });
}

#[test]
fn who_asks_more_than_a_class_does_is_told_to_wait_and_nobody_else_is() {
    play(Plan::new(0), async |scene| {
        let mut hammer = scene.dial_from(IpAddr::from([10, 0, 0, 66])).await;
        let mut passed = 0;
        let refused = loop {
            let seen = hammer.ask("GET", "/health", "", "").await.unwrap();
            if seen.status != 200 {
                break seen;
            }
            passed += 1;
        };
        assert!((500..=520).contains(&passed), "{passed}");
        assert_eq!((refused.status, refused.header("Retry-After")), (429, Some("1")));
        assert!(refused.json()["error"].as_str().unwrap().contains("too many requests came from your address"));
        let status = scene.get("/api/status.json").await.json();
        assert_eq!(status["limited_requests"], 1);
        scene.world.sleep(1_000).await;
        assert_eq!(hammer.ask("GET", "/health", "", "").await.unwrap().status, 200);
    });
}

#[test]
fn who_registers_and_leaves_again_and_again_is_told_to_wait_and_a_class_is_not() {
    play(Plan::new(4), async |scene| {
        let mut flood = scene.dial_from(IpAddr::from([10, 0, 0, 66])).await;
        let mut accepted = 0;
        let refused = loop {
            let message = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {"player_meta": {
                "display_name": format!("Flood {accepted}"), "version": "1", "contact_endpoint": "http://localhost:9/mcp"}}});
            let seen = flood.ask("POST", "/mcp", "", &message.to_string()).await.unwrap();
            if seen.status != 200 {
                break seen;
            }
            assert_eq!(seen.json()["result"]["status"], "ACCEPTED", "{accepted}");
            accepted += 1;
            let leave = json!({"jsonrpc": "2.0", "method": "league_query", "id": 2,
                "params": {"auth_token": seen.json()["result"]["auth_token"], "query_type": "GET_STANDINGS"}});
            assert_eq!(
                flood.ask("POST", "/mcp", "", &leave.to_string()).await.unwrap().status,
                200,
                "questions are free"
            );
            scene.leaguebox.act(|venue, now| venue.command(now, Command::Reset)).unwrap();
        };
        assert_eq!((accepted, refused.status, refused.header("Retry-After")), (32, 429, Some("2")));
        assert!(refused.json()["error"].as_str().unwrap().contains("too many registrations came from your address"));
        scene.whole_league().await;
        scene.world.sleep(2_000).await;
    });
}

/// A board that knows no time.
fn timeless(players: usize) -> Plan {
    Plan { utc: None, ..Plan::new(players) }
}

async fn tell_time(scene: Scene<'_, '_>, utc: &str) -> Seen {
    scene.dial().await.ask("POST", "/api/clock", "", &json!({ "utc": utc }).to_string()).await.unwrap()
}

async fn time(scene: Scene<'_, '_>) -> (String, String) {
    let status = scene.get("/api/status.json").await.json();
    let text = |name: &str| status[name].as_str().unwrap().to_owned();
    (text("time"), text("time_source"))
}

#[test]
fn a_board_without_a_calendar_learns_the_time_from_the_first_agent_and_believes_a_browser_more() {
    play(timeless(2), async |scene| {
        assert_eq!(time(scene).await, ("1970-01-01T00:00:00Z".into(), "none".into()));
        let welcome = scene.register(&scene.players[0]).await.json();
        assert_eq!(welcome["result"]["timestamp"], "2025-01-15T10:05:00Z", "told in time for the answer");
        scene.world.sleep(10_000).await;
        scene.register(&scene.players[1]).await;
        assert_eq!(time(scene).await, ("2025-01-15T10:05:10Z".into(), "agent".into()), "the first agent");
        let seen = tell_time(scene, "2026-03-01T08:00:00.250Z").await;
        let told = json!({"status": "ok", "time": "2026-03-01T08:00:00Z", "time_source": "browser"});
        assert_eq!((seen.status, seen.json()), (200, told));
        scene.world.sleep(1_000).await;
        let seen = tell_time(scene, "2030-01-01T00:00:00Z").await.json();
        assert_eq!((&seen["status"], &seen["time"]), (&json!("ignored"), &json!("2026-03-01T08:00:01Z")));
    });
}

#[test]
fn a_time_server_is_believed_more_than_a_browser_and_the_box_never_goes_back() {
    play(timeless(0), async |scene| {
        tell_time(scene, "2026-03-01T08:00:10Z").await;
        let sntp = |utc| scene.leaguebox.learn_time(Source::Sntp, Utc(utc));
        // 2026-03-01T08:00:00Z
        assert!(sntp(1_772_352_000));
        assert_eq!(time(scene).await, ("2026-03-01T08:00:10Z".into(), "sntp".into()));
        scene.world.sleep(60_000).await;
        assert_eq!(time(scene).await.0, "2026-03-01T08:01:00Z", "by now it is right");
        assert_eq!(tell_time(scene, "2026-03-01T09:00:00Z").await.json()["status"], "ignored");
    });
}

#[test]
fn a_board_that_knows_the_time_asks_nobody() {
    play(Plan::new(1), async |scene| {
        scene.register_all().await;
        assert_eq!(tell_time(scene, "2026-03-01T08:00:00Z").await.json()["status"], "ignored");
        assert_eq!(time(scene).await, ("2025-01-15T10:30:00Z".into(), "system".into()));
    });
}

#[test]
fn a_time_that_cannot_be_is_refused_by_its_rule() {
    play(timeless(0), async |scene| {
        for (body, rule) in [
            ("", "must be JSON"),
            ("[]", "utc must be the time in UTC"),
            (r#"{"utc":1772352000}"#, "utc must be the time in UTC"),
            (r#"{"utc":"2026-02-30T00:00:00Z"}"#, "utc must be the time in UTC"),
            (r#"{"utc":"2026-03-01T08:00:00+02:00"}"#, "utc must be the time in UTC"),
            (r#"{"utc":"2023-12-31T23:59:59Z"}"#, "between 2024 and 2100"),
            (r#"{"utc":"2100-01-01T00:00:00Z"}"#, "between 2024 and 2100"),
        ] {
            let seen = scene.dial().await.ask("POST", "/api/clock", "", body).await.unwrap();
            assert_eq!(seen.status, 400, "{body}");
            assert!(seen.json()["error"].as_str().unwrap().contains(rule), "{body}: {}", seen.body);
        }
        let query = json!({"jsonrpc": "2.0", "method": "league_query", "id": 1, "params": {
            "message_type": "LEAGUE_QUERY", "timestamp": "2026-03-01T08:00:00Z", "query_type": "GET_STANDINGS"}});
        scene.rpc(&query).await;
        assert_eq!(time(scene).await.1, "none", "who only asks is not believed");
    });
}
