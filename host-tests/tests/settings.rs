//! The owner's settings, what the box says of itself, and who is kept out: seen from outside.

use host_tests::crowd::Crowd;
use host_tests::http::{self, Response};
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::{results, wait_for};
use protocol_core::time::Utc;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

fn set(leaguebox: &LeagueBox, settings: Value) -> Response {
    leaguebox.admin_with("settings", &settings.to_string())
}

#[test]
fn a_league_is_set_up_without_a_command_line() {
    let leaguebox = LeagueBox::start(Settings::default());
    let settings = json!({"game": "even_odd_10", "mode": "lenient", "start_at": 2, "join_timeout_ms": 6000,
        "move_timeout_ms": 20000, "retry_base_ms": 500, "first_turn_timeout_ms": 90000,
        "turn_timeout_ms": 45000, "pace": "watch", "pace_turn_ms": 10, "pace_match_ms": 20, "pace_break_ms": 30,
        "per_address": 3, "fill_after": null, "vote_seconds": 90, "other_hosts": true, "foreign_referees": 7, "seed": "0b".repeat(32)});
    let answer = set(&leaguebox, settings.clone());
    assert_eq!(answer.status, 200, "{answer:?}");
    let mut told = settings;
    (told["seed"], told["topic"]) = ("set".into(), Value::Null);
    assert_eq!(answer.json(), told);
    assert_eq!(leaguebox.get_json("/api/settings.json"), told);
    Crowd::of(&leaguebox, 2).wait_for_the_end();
    assert_eq!(leaguebox.get_json("/api/status.json")["game_type"], "even_odd_10");
    assert_eq!(set(&leaguebox, json!({"game": "even_odd"})).status, 200, "the next league may be of another game");
}

#[test]
fn what_a_box_was_told_is_what_it_shows() {
    let given = Settings { mode: "strict", move_timeout_ms: 77, seed: Some([7; 32]), ..Settings::start_at(9) };
    let leaguebox = LeagueBox::start(given);
    let shown = leaguebox.get_json("/api/settings.json");
    assert_eq!(shown["seed"], "set");
    for (name, value) in given.body().as_object().expect("an object").iter().filter(|(name, _)| *name != "seed") {
        assert_eq!(shown[name], *value, "{name}");
    }
}

#[test]
#[cfg_attr(feature = "board", ignore = "a board has no flags")]
fn one_seed_gives_one_league_whether_a_flag_or_a_setting_says_it() {
    let drawn = |leaguebox: &LeagueBox| {
        let crowd = Crowd::of(leaguebox, 3);
        assert_eq!(leaguebox.admin("start").status, 200);
        crowd.wait_for_the_end();
        let rows = results::parse(&leaguebox.get("/api/results.csv").body);
        rows.iter().map(|row| row.get("drawn_number").to_owned()).collect::<Vec<_>>()
    };
    let by_flag = LeagueBox::start(Settings { seed: Some([0xab; 32]), ..Settings::default() });
    let by_setting = LeagueBox::start(Settings::default());
    assert_eq!(by_setting.get_json("/api/settings.json")["seed"], "random");
    assert_eq!(set(&by_setting, json!({"seed": "ab".repeat(32)})).status, 200);
    assert_eq!(drawn(&by_flag), drawn(&by_setting));
}

#[test]
fn players_who_are_here_already_start_when_they_are_enough() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 3);
    assert_eq!(set(&leaguebox, json!({"start_at": 4})).status, 200);
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "WAITING");
    assert_eq!(set(&leaguebox, json!({"game": "even_odd_10"})).status, 200, "they play that too");
    assert_eq!(set(&leaguebox, json!({"start_at": 3})).status, 200);
    crowd.wait_for_the_end();
}

#[test]
fn a_wrong_setting_is_named_with_its_rule_and_nothing_changes() {
    let leaguebox = LeagueBox::start(Settings::default());
    let before = leaguebox.get_json("/api/settings.json");
    let room = leaguebox.get_json("/api/status.json")["capacity"].as_u64().expect("a number");
    let start_at = format!("start_at must be null or a whole number from 2 to {room}");
    for (settings, told) in [
        (json!({"mode": "strict", "start_at": room + 1}), start_at.as_str()),
        (json!({"mode": "strict", "colour": "red"}), "colour is not a setting; /api/settings.json names them all"),
        (json!(["mode"]), "the body must be an object, such as {\"start_at\": 4}"),
    ] {
        let answer = set(&leaguebox, settings);
        assert_eq!((answer.status, answer.json()), (400, json!({ "error": told })));
    }
    assert_eq!(leaguebox.get_json("/api/settings.json"), before);
}

#[test]
#[cfg_attr(feature = "board", ignore = "about this computer as a board")]
fn the_desktop_says_what_it_is_and_cannot_be_broken() {
    let leaguebox = LeagueBox::start(Settings::default());
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
    for fault in ["fault/panic", "fault/hang"] {
        assert_eq!(leaguebox.admin(fault).status, 404, "nobody would start the program again");
    }
}

#[test]
fn a_browser_is_believed_only_where_nobody_knows_the_time_better() {
    let leaguebox = LeagueBox::start(Settings::default());
    let before = leaguebox.get_json("/api/status.json");
    let is_unsure = ["none", "agent"].map(Value::from).contains(&before["time_source"]);
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
    let answer = leaguebox.post("/api/clock", &json!({"utc": Utc::at(seconds).to_string()}).to_string());
    assert_eq!((answer.status, answer.json()["status"] == "ok"), (200, is_unsure), "{before}: {answer:?}");
    let after = leaguebox.get_json("/api/status.json");
    if is_unsure {
        assert_eq!(after["time_source"], "browser", "{after}");
        let time = after["time"].as_str().expect("a time");
        assert!(time >= Utc::at(seconds).to_string().as_str() && time < Utc::at(seconds + 600).to_string().as_str());
    } else {
        assert_eq!(after["time_source"], before["time_source"], "{after}");
    }
}

#[test]
fn a_page_from_elsewhere_and_who_tries_codes_are_kept_out() {
    let leaguebox = LeagueBox::start(Settings::default());
    let post =
        |headers: &str| http::request(leaguebox.address, "POST", "/api/admin/reset", headers, "").expect("an answer");
    let code = format!("Authorization: Bearer {}\r\n", leaguebox.admin_code);
    assert_eq!(post(&format!("{code}Origin: {}\r\n", leaguebox.url())).status, 200);
    assert_eq!(post(&format!("{code}Origin: http://evil.example\r\n")).status, 403);
    let preflight = http::request(leaguebox.address, "OPTIONS", "/api/admin/reset", "", "").expect("an answer");
    assert_eq!((preflight.status, preflight.header("Access-Control-Allow-Origin")), (405, None));
    for _ in 0..5 {
        assert_eq!(post("Authorization: Bearer guess\r\n").status, 401);
    }
    // Where five answers and this take a second, the first wait is over; the fifth after it is 16 times as long.
    let waited = (0..5).map(|_| post("Authorization: Bearer guess\r\n")).find(|answer| answer.status == 429);
    let waited = waited.expect("whoever tries codes has to wait");
    assert!(waited.header("Retry-After").and_then(|seconds| seconds.parse::<u32>().ok()) >= Some(1), "{waited:?}");
    assert!(leaguebox.get_json("/api/status.json")["wrong_admin_codes"].as_u64() >= Some(5));
    wait_for("the wait is over", || (leaguebox.admin("reset").status == 200).then_some(()));
}
