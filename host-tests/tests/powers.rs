//! What the owner may do to a running league, and what the box tells of how matches ended and how long players took: seen
//! from outside.

use host_tests::crowd::Crowd;
use host_tests::http::{self, Response};
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::{results, wait_for};
use serde_json::{Value, json};

fn order(leaguebox: &LeagueBox, verb: &str, body: Value) -> Response {
    leaguebox.admin_with(verb, &body.to_string())
}

/// Four players of whom nobody answers yet; the league has started.
fn held_league(leaguebox: &LeagueBox) -> Crowd {
    let crowd = Crowd::of(leaguebox, 4);
    crowd.hold();
    assert_eq!(leaguebox.admin("start").status, 200);
    crowd
}

fn status_of(leaguebox: &LeagueBox, id: &str) -> Value {
    leaguebox.get_json(&format!("/api/matches/{id}.json"))
}

fn wait_until_over(leaguebox: &LeagueBox, id: &str) -> Value {
    wait_for(&format!("{id} is over"), || Some(status_of(leaguebox, id)).filter(|shown| shown["status"] == "FINISHED"))
}

/// All results there are, with the standings that must follow from them.
fn rows(leaguebox: &LeagueBox) -> Vec<results::Row> {
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    results::assert_points_follow(&rows);
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
    rows
}

fn player(leaguebox: &LeagueBox, id: &str) -> Value {
    let players = leaguebox.get_json("/api/players.json");
    let players = players["players"].as_array().expect("a list");
    players.iter().find(|player| player["player_id"] == id).expect("a player").clone()
}

/// What the log says the admin did, from the start on: before it, a board is told its settings.
fn commands(leaguebox: &LeagueBox) -> Vec<String> {
    let log = leaguebox.get("/api/log.jsonl").body;
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let spoken = lines.filter(|line| line["message"] == "The admin said:");
    let words = spoken.map(|line| format!("{} {}", line["data"]["detail"], line["data"]["match_id"]).replace('"', ""));
    words.skip_while(|word| !word.starts_with("start")).collect()
}

#[test]
fn a_match_is_ruled_on_while_it_is_played_and_again_after_the_league() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = held_league(&leaguebox);
    wait_for("R1M1 is being played", || (status_of(&leaguebox, "R1M1")["status"] == "RUNNING").then_some(()));
    let answer = order(&leaguebox, "rule", json!({"match_id": "R1M1", "winner": "P02"}));
    assert_eq!(answer.status, 200, "{answer:?}");
    let ruled = status_of(&leaguebox, "R1M1");
    assert_eq!((&ruled["end_reason"], &ruled["winner"]), (&json!("adjudicated"), &json!("P02")));
    assert_eq!(ruled["game_result"]["score"], json!({"P01": 0, "P02": 3}));
    crowd.release();
    crowd.wait_for_the_end();
    assert_eq!(rows(&leaguebox)[0].get("end_reason"), "adjudicated");
    assert!(crowd.events().iter().any(|event| {
        event.is("GAME_OVER") && event.player == 0 && event.message["game_result"]["end_reason"] == "adjudicated"
    }));

    assert_eq!(order(&leaguebox, "rule", json!({"match_id": "R2M1", "winner": null})).status, 200);
    let rows = rows(&leaguebox);
    let drawn = rows.iter().find(|row| row.get("match_id") == "R2M1").expect("a row");
    assert_eq!((drawn.get("status"), drawn.get("end_reason")), ("DRAW", "adjudicated"));
    assert_eq!(commands(&leaguebox)[1..], ["rule: this player wins R1M1", "rule: a draw R2M1"]);
}

#[test]
fn a_match_is_played_again_with_another_seed_and_counts_once() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = held_league(&leaguebox);
    assert_eq!(leaguebox.admin("pause").status, 200);
    crowd.release();
    wait_for("the round is over", || {
        let status = leaguebox.get_json("/api/status.json");
        status["message"].as_str().is_some_and(|why| why.starts_with("Paused after round 1")).then_some(())
    });
    let before = status_of(&leaguebox, "R1M2");
    crowd.hold();
    let answer = order(&leaguebox, "replay", json!({"match_id": "R1M2"}));
    assert_eq!(answer.status, 200, "{answer:?}");
    let between = status_of(&leaguebox, "R1M2");
    assert_eq!((&between["status"], &between["match_seed"]), (&json!("RUNNING"), &Value::Null));
    let played = |id: &str| {
        let standings = leaguebox.get_json("/api/standings.json");
        let rows = standings["standings"].as_array().expect("rows");
        rows.iter().find(|row| row["player_id"] == id).expect("a row")["played"].clone()
    };
    assert_eq!((played("P01"), played("P03")), (json!(1), json!(0)), "the old result has left the standings");
    crowd.release();
    let after = wait_until_over(&leaguebox, "R1M2");
    assert_ne!(after["seed_commitment"], before["seed_commitment"]);
    assert_eq!(after["seed_commitment"], between["seed_commitment"]);
    assert_eq!(leaguebox.admin("resume").status, 200);
    crowd.wait_for_the_end();
    assert_eq!(rows(&leaguebox).len(), 6);
    let refused = order(&leaguebox, "replay", json!({"match_id": "R1M2"}));
    assert_eq!(refused.status, 409, "the league is over: {refused:?}");
    assert!(commands(&leaguebox).contains(&"replay R1M2".into()));
}

#[test]
fn a_removed_player_forfeits_its_matches_and_does_not_come_back() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = held_league(&leaguebox);
    assert_eq!(order(&leaguebox, "remove", json!({"player_id": "P03"})).status, 200);
    assert_eq!(order(&leaguebox, "remove", json!({"player_id": "P03"})).status, 409);
    crowd.release();
    leaguebox.wait_for_the_champion();
    let rows = rows(&leaguebox);
    assert_eq!(rows.len(), 6);
    for row in rows.iter().filter(|row| [row.get("player_a"), row.get("player_b")].contains(&"P03")) {
        assert_eq!((row.get("status"), row.get("end_reason")), ("TECHNICAL_LOSS", "adjudicated"));
        assert_ne!(row.get("winner"), "P03");
    }
    let removed = player(&leaguebox, "P03");
    assert_eq!((&removed["removed"], &removed["technical_losses"]["adjudicated"]), (&json!(true), &json!(3)));
    let other = player(&leaguebox, "P01");
    assert_eq!((&other["removed"], &other["end_reasons"]["adjudicated"]), (&json!(false), &json!(1)));
    assert_eq!(other["technical_losses"]["adjudicated"], 0);
    assert!(!crowd.events().iter().any(|event| event.player == 2 && event.is("LEAGUE_COMPLETED")));
    let meta = json!({"display_name": "Player 3", "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": "http://10.0.0.9:8101/mcp"});
    let answer = leaguebox.rpc("register_player", json!({"protocol": "league.v2", "player_meta": meta}));
    assert_eq!(answer["result"]["status"], "REJECTED", "{answer}");
}

#[test]
fn every_players_endings_and_latency_are_told() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 3);
    assert_eq!(player(&leaguebox, "P01")["latency"]["min_ms"], Value::Null, "nothing has been asked");
    assert_eq!(leaguebox.admin("start").status, 200);
    crowd.wait_for_the_end();
    let rows = rows(&leaguebox);
    for id in ["P01", "P02", "P03"] {
        let shown = player(&leaguebox, id);
        for reason in ["win", "draw", "timeout", "invalid", "refused", "disconnected", "both_failed", "adjudicated"] {
            let own = rows.iter().filter(|row| [row.get("player_a"), row.get("player_b")].contains(&id));
            let expected = own.filter(|row| row.get("end_reason") == reason).count();
            assert_eq!(shown["end_reasons"][reason], expected, "{id} {reason}: {shown}");
            assert_eq!(shown["technical_losses"][reason], 0);
        }
        let latency = &shown["latency"];
        let ms = |name: &str| latency[name].as_u64().unwrap_or_else(|| panic!("no {name}: {latency}"));
        assert_eq!(ms("answers"), 2, "two choices; to join takes no thought");
        assert!(ms("min_ms") <= ms("median_ms") && ms("median_ms") <= ms("p99_ms"), "{latency}");
    }
}

#[test]
fn what_cannot_be_done_is_answered_with_the_field_and_the_rule() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = held_league(&leaguebox);
    for (verb, body, status, told) in [
        ("remove", "", 400, "the body must be JSON"),
        ("remove", r#"{"player_id":"REF01"}"#, 400, "player_id must be"),
        ("remove", r#"{"player_id":"P09"}"#, 404, "player_id names no player"),
        ("rule", r#"{"match_id":"R1M1"}"#, 400, "winner must be"),
        ("rule", r#"{"match_id":"R1M1","winner":"P03"}"#, 400, "winner must be one of the players"),
        ("rule", r#"{"match_id":"R9M9","winner":null}"#, 404, "match_id names no match"),
        ("rule", r#"{"match_id":"R3M1","winner":null}"#, 409, "the match has not begun"),
        ("replay", r#"{"match_id":7}"#, 400, "match_id must be"),
        ("replay", r#"{"match_id":"R1M3"}"#, 404, "match_id names no match"),
        ("replay", r#"{"match_id":"R3M1"}"#, 409, "the match is not over"),
    ] {
        let answer = leaguebox.admin_with(verb, body);
        assert_eq!(answer.status, status, "{verb} {body}: {answer:?}");
        assert!(
            answer.json()["error"].as_str().is_some_and(|error| error.starts_with(told)),
            "{verb} {body}: {answer:?}"
        );
    }
    for verb in ["remove", "rule", "replay"] {
        let path = format!("/api/admin/{verb}");
        let body = r#"{"player_id":"P01"}"#;
        let stranger = http::request(leaguebox.address, "POST", &path, "Content-Type: application/json\r\n", body);
        assert_eq!(stranger.expect("an answer").status, 401);
    }
    crowd.release();
    crowd.wait_for_the_end();
    assert_eq!(commands(&leaguebox).len(), 1, "only the start was obeyed");
}

#[test]
fn a_chosen_seed_can_be_left_to_chance_again() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (seed, shown) in [(json!("0b".repeat(32)), "set"), (Value::Null, "random")] {
        assert_eq!(order(&leaguebox, "settings", json!({"seed": seed})).status, 200);
        assert_eq!(leaguebox.get_json("/api/settings.json")["seed"], shown);
    }
}

#[test]
#[cfg_attr(feature = "board", ignore = "kills a process")]
fn what_the_owner_decided_is_decided_after_a_kill() {
    let file = std::env::temp_dir().join(format!("leaguebox-powers-{}.flash", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let leaguebox = LeagueBox::on_flash(Settings::default(), &file);
    let crowd = held_league(&leaguebox);
    assert_eq!(leaguebox.admin("pause").status, 200, "so that the next round does not begin");
    assert_eq!(order(&leaguebox, "remove", json!({"player_id": "P04"})).status, 200);
    wait_for("R1M1 is being played", || (status_of(&leaguebox, "R1M1")["status"] == "RUNNING").then_some(()));
    assert_eq!(order(&leaguebox, "rule", json!({"match_id": "R1M1", "winner": "P01"})).status, 200);
    assert_eq!(order(&leaguebox, "replay", json!({"match_id": "R1M1"})).status, 200);
    let again = status_of(&leaguebox, "R1M1");
    assert_eq!(again["status"], "RUNNING");
    assert_eq!(order(&leaguebox, "rule", json!({"match_id": "R1M1", "winner": "P02"})).status, 200);
    drop(leaguebox);

    let leaguebox = LeagueBox::as_it_was(&file);
    let ruled = status_of(&leaguebox, "R1M1");
    assert_eq!((&ruled["end_reason"], &ruled["winner"]), (&json!("adjudicated"), &json!("P02")));
    assert_eq!(ruled["seed_commitment"], again["seed_commitment"], "the result knows the seed it was played with");
    assert_eq!(player(&leaguebox, "P04")["removed"], true);
    crowd.release();
    assert_eq!(leaguebox.admin("resume").status, 200);
    leaguebox.wait_for_the_champion();
    assert_eq!(rows(&leaguebox).len(), 6);
    drop(leaguebox);
    let _ = std::fs::remove_file(&file);
}
