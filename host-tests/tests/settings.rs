//! The owner's settings, what the box says of itself, and who is kept out: seen from outside.

use host_tests::crowd::Crowd;
use host_tests::http::{self, Response};
use host_tests::leaguebox::{ADMIN_CODE, LeagueBox};
use host_tests::results;
use serde_json::{Value, json};

fn post(leaguebox: &LeagueBox, path: &str, headers: &str, body: &Value) -> Response {
    let headers = format!("Authorization: Bearer {ADMIN_CODE}\r\nContent-Type: application/json\r\n{headers}");
    http::request(leaguebox.port, "POST", path, &headers, &body.to_string()).expect("an answer")
}

fn set(leaguebox: &LeagueBox, settings: Value) -> Response {
    post(leaguebox, "/api/admin/settings", "", &settings)
}

#[test]
fn a_league_is_set_up_without_a_command_line() {
    let leaguebox = LeagueBox::start(&[]);
    let before = leaguebox.get_json("/api/settings.json");
    assert_eq!((&before["start_at"], &before["seed"]), (&Value::Null, &json!("random")));
    let settings = json!({"game": "even_odd_10", "mode": "lenient", "start_at": 2, "join_timeout_ms": 6000,
        "move_timeout_ms": 20000, "retry_base_ms": 500, "seed": "0b".repeat(32)});
    let answer = set(&leaguebox, settings.clone());
    assert_eq!(answer.status, 200, "{answer:?}");
    let mut told = settings;
    told["seed"] = "set".into();
    assert_eq!(answer.json(), told);
    assert_eq!(leaguebox.get_json("/api/settings.json"), told);
    Crowd::of(&leaguebox, 2).wait_for_the_end();
    assert_eq!(leaguebox.get_json("/api/status.json")["game_type"], "even_odd_10");
    assert_eq!(set(&leaguebox, json!({})).status, 409, "the league has been played");
}

#[test]
fn the_flags_are_the_same_settings() {
    let leaguebox =
        LeagueBox::start(&["--start-at", "9", "--mode", "strict", "--seed", "7", "--move-timeout-ms", "77"]);
    let told = leaguebox.get_json("/api/settings.json");
    let expected = json!({"game": "even_odd", "mode": "strict", "start_at": 9, "join_timeout_ms": 5000,
        "move_timeout_ms": 77, "retry_base_ms": 1000, "seed": "set"});
    assert_eq!(told, expected);
}

#[test]
fn one_seed_gives_one_league_however_it_is_set() {
    let drawn = |leaguebox: &LeagueBox| {
        let crowd = Crowd::of(leaguebox, 3);
        assert_eq!(leaguebox.admin("start").status, 200);
        crowd.wait_for_the_end();
        let rows = results::parse(&leaguebox.get("/api/results.csv").body);
        rows.iter().map(|row| row.get("drawn_number").to_owned()).collect::<Vec<_>>()
    };
    let by_flag = LeagueBox::start(&["--seed", "abcdef"]);
    let by_setting = LeagueBox::start(&[]);
    assert_eq!(set(&by_setting, json!({"seed": format!("{:0>64}", "abcdef")})).status, 200);
    assert_eq!(drawn(&by_flag), drawn(&by_setting));
}

#[test]
fn players_who_are_here_already_start_when_they_are_enough() {
    let leaguebox = LeagueBox::start(&[]);
    let crowd = Crowd::of(&leaguebox, 3);
    assert_eq!(set(&leaguebox, json!({"start_at": 4})).status, 200);
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "WAITING");
    assert_eq!(set(&leaguebox, json!({"game": "even_odd_10"})).status, 409, "they came for another game");
    assert_eq!(set(&leaguebox, json!({"start_at": 3})).status, 200);
    crowd.wait_for_the_end();
}

#[test]
fn a_wrong_setting_is_named_with_its_rule_and_nothing_changes() {
    let leaguebox = LeagueBox::start(&[]);
    let before = leaguebox.get_json("/api/settings.json");
    for (settings, told) in [
        (json!({"mode": "strict", "start_at": 513}), "start_at must be null or a whole number from 2 to 512"),
        (json!({"mode": "strict", "colour": "red"}), "colour is not a setting; /api/settings.json names them all"),
        (json!(["mode"]), "the body must be an object, such as {\"start_at\": 4}"),
    ] {
        let answer = set(&leaguebox, settings);
        assert_eq!((answer.status, answer.json()), (400, json!({"error": told})));
    }
    assert_eq!(leaguebox.get_json("/api/settings.json"), before);
}

#[test]
fn the_box_says_what_it_is_and_whose_clock_it_goes_by() {
    let leaguebox = LeagueBox::start(&[]);
    let status = leaguebox.get_json("/api/status.json");
    for (field, value) in [
        ("board", json!("desktop")),
        ("name", json!("leaguebox")),
        ("time_source", json!("system")),
        ("last_reset", json!("power-on")),
        ("last_panic", Value::Null),
        ("wrong_admin_codes", json!(0)),
    ] {
        assert_eq!(status.get(field), Some(&value), "{field} in {status}");
    }
    let answer = leaguebox.post("/api/clock", r#"{"utc":"2099-01-01T00:00:00Z"}"#);
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("ignored")), "it has a better clock");
    for fault in ["fault/panic", "fault/hang"] {
        assert_eq!(leaguebox.admin(fault).status, 404, "nobody would start the program again");
    }
}

#[test]
fn a_page_from_elsewhere_and_who_tries_codes_are_kept_out() {
    let leaguebox = LeagueBox::start(&[]);
    let own = format!("Origin: {}\r\n", leaguebox.url());
    assert_eq!(post(&leaguebox, "/api/admin/settings", &own, &json!({})).status, 200);
    assert_eq!(post(&leaguebox, "/api/admin/settings", "Origin: http://evil.example\r\n", &json!({})).status, 403);
    let preflight = http::request(leaguebox.port, "OPTIONS", "/api/admin/reset", &own, "").expect("an answer");
    assert_eq!((preflight.status, preflight.header("Access-Control-Allow-Origin")), (405, None));
    let guess = || {
        http::request(leaguebox.port, "POST", "/api/admin/reset", "Authorization: Bearer guess\r\n", "")
            .expect("an answer")
    };
    for _ in 0..5 {
        assert_eq!(guess().status, 401);
    }
    let answer = guess();
    // On a slow computer the first wait is over by now; the next one is longer.
    assert!(answer.status == 429 && answer.header("Retry-After") == Some("1") || answer.status == 401, "{answer:?}");
    assert!(leaguebox.get_json("/api/status.json")["wrong_admin_codes"].as_u64() >= Some(5));
}
