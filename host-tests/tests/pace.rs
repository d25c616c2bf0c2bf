//! A league that people can follow, and the next one with another game: seen from outside.

use host_tests::crowd::{Crowd, Event};
use host_tests::http::Response;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::{http, results, wait_for};
use serde_json::{Value, json};

fn set(leaguebox: &LeagueBox, settings: Value) -> Response {
    let answer = leaguebox.admin_with("settings", &settings.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

fn status(leaguebox: &LeagueBox) -> Value {
    leaguebox.get_json("/api/status.json")
}

fn told(events: &[Event], player: usize, kind: &str) -> Vec<Value> {
    let of_it = |event: &&Event| event.player == player && event.is(kind);
    events.iter().filter(of_it).map(|event| event.message.clone()).collect()
}

fn assert_nobody_forfeited(leaguebox: &LeagueBox, matches: usize) {
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), matches);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
}

/// Waits until everybody has been told how the league ended.
fn rematch(leaguebox: &LeagueBox) {
    wait_for("the next league begins", || (leaguebox.admin("rematch").status == 200).then_some(()));
}

/// Seconds between the time of a message and its deadline.
fn patience(message: &Value) -> i64 {
    let seconds = |field: &str| {
        let text = message[field].as_str().unwrap_or_else(|| panic!("{field} in {message}"));
        let clock = text[11..19].split(':').map(|part| part.parse::<i64>().expect("a number"));
        clock.fold(0, |sum, part| 60 * sum + part)
    };
    (seconds("deadline") - seconds("timestamp")).rem_euclid(86_400)
}

#[test]
fn a_league_to_be_watched_has_its_rounds_in_order_and_everybody_all_its_time() {
    let leaguebox = LeagueBox::start(Settings::default());
    set(&leaguebox, json!({"pace": "watch", "pace_turn_ms": 50, "pace_match_ms": 200, "pace_break_ms": 100}));
    let crowd = Crowd::of(&leaguebox, 4);
    assert_eq!(leaguebox.admin("start").status, 200);
    crowd.wait_for_the_end();
    let events = crowd.events();
    for player in 0..4 {
        let rounds: Vec<Value> =
            told(&events, player, "ROUND_ANNOUNCEMENT").iter().map(|message| message["round_id"].clone()).collect();
        assert_eq!(rounds, [1, 2, 3]);
        for question in told(&events, player, "CHOOSE_PARITY_CALL") {
            // A message that is written as a second ends may have one more.
            assert!((30..=31).contains(&patience(&question)), "{question}");
        }
    }
    for round in 1..3 {
        let place = |kind: &str, round: u64| {
            let of = |event: &Event| event.is(kind) && event.message["round_id"] == round;
            events.iter().enumerate().filter(|(_, event)| of(event)).map(|(place, _)| place).collect::<Vec<_>>()
        };
        let (over, next) = (place("ROUND_COMPLETED", round), place("ROUND_ANNOUNCEMENT", round + 1));
        assert!(over.iter().max() < next.iter().min(), "a round is over before the next one is announced");
    }
    assert_nobody_forfeited(&leaguebox, 6);
}

#[test]
fn the_break_is_counted_down_and_cut_short_and_the_pace_changes_while_the_league_runs() {
    let leaguebox = LeagueBox::start(Settings::default());
    let hour = 3_600_000;
    set(&leaguebox, json!({"pace": "watch", "pace_turn_ms": 1, "pace_match_ms": 1, "pace_break_ms": hour}));
    let crowd = Crowd::of(&leaguebox, 3);
    let before = status(&leaguebox);
    assert_eq!((&before["pace"], &before["next_round_in_ms"]), (&json!("watch"), &Value::Null));
    assert_eq!(leaguebox.admin("next").status, 409, "no league runs");
    assert_eq!(leaguebox.admin("start").status, 200);
    for round in 0..2 {
        let shown =
            wait_for("the break", || Some(status(&leaguebox)).filter(|shown| shown["next_round_in_ms"].is_u64()));
        assert_eq!((&shown["state"], &shown["round"]), (&json!("RUNNING"), &json!(round)), "{shown}");
        assert!(shown["next_round_in_ms"].as_u64() <= Some(hour), "{shown}");
        assert_eq!(shown["waits_for_owner"], false);
        assert_eq!(told(&crowd.events(), 0, "ROUND_ANNOUNCEMENT").len(), round, "nothing is asked in a break");
        assert_eq!(leaguebox.admin("next").status, 200);
    }
    let refused = leaguebox.admin_with("settings", r#"{"move_timeout_ms": 1}"#);
    assert_eq!(refused.status, 409, "what players came for stays");
    set(&leaguebox, json!({"pace": "fast"}));
    crowd.wait_for_the_end();
    assert_nobody_forfeited(&leaguebox, 3);
}

#[test]
fn in_steps_the_click_begins_each_round() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    set(&leaguebox, json!({"pace": "step", "pace_turn_ms": 1, "pace_match_ms": 1, "pace_break_ms": 1}));
    let crowd = Crowd::of(&leaguebox, 4);
    for round in 0..3 {
        let shown = wait_for("it waits", || Some(status(&leaguebox)).filter(|shown| shown["waits_for_owner"] == true));
        assert_eq!((&shown["round"], &shown["next_round_in_ms"]), (&json!(round), &Value::Null), "{shown}");
        assert!(shown["message"].as_str().is_some_and(|words| words.contains("Waiting for the teacher")), "{shown}");
        assert_eq!(told(&crowd.events(), 0, "ROUND_ANNOUNCEMENT").len(), round);
        assert_eq!(leaguebox.admin("next").status, 200);
    }
    crowd.wait_for_the_end();
    assert_nobody_forfeited(&leaguebox, 6);
}

#[test]
fn the_next_league_has_another_game_the_same_players_and_who_came_since() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut crowd = Crowd::of(&leaguebox, 2);
    let meta = json!({"display_name": "Parity only", "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": crowd.endpoint(&leaguebox.home().to_string())});
    let answer = leaguebox.rpc("register_player", json!({ "player_meta": meta }));
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    assert_eq!(leaguebox.admin("start").status, 200);
    leaguebox.wait_for_the_champion();
    set(&leaguebox, json!({"game": "echo", "mode": "lenient", "move_timeout_ms": 20000}));
    assert_eq!(leaguebox.get_json("/api/settings.json")["game"], "echo");
    assert_eq!(status(&leaguebox)["game_type"], "even_odd", "the league that is over stays as it was");
    assert_nobody_forfeited(&leaguebox, 3);
    crowd.register(&leaguebox, "Latecomer", &leaguebox.home().to_string());
    let players = leaguebox.get_json("/api/players.json");
    let sits_out: Vec<bool> =
        players["players"].as_array().expect("a list").iter().map(|player| !player["sits_out"].is_null()).collect();
    assert_eq!(sits_out, [false, false, true, false], "{players}");
    rematch(&leaguebox);
    wait_for("the next league is over", || {
        let shown = status(&leaguebox);
        (shown["state"] == "COMPLETED" && shown["game_type"] == "echo").then_some(())
    });
    assert_nobody_forfeited(&leaguebox, 3);
    let standings = leaguebox.get_json("/api/standings.json");
    let names: Vec<&str> = standings["standings"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["display_name"].as_str().expect("a name"))
        .collect();
    assert!(names.len() == 3 && names.contains(&"Latecomer") && !names.contains(&"Parity only"), "{standings}");
}

#[test]
fn house_players_come_by_a_button_where_there_are_any() {
    let leaguebox = LeagueBox::start(Settings::default());
    assert_eq!(leaguebox.admin_with("house", r#"{"players": 0}"#).status, 400);
    let answer = leaguebox.admin_with("house", r#"{"players": 2}"#);
    if cfg!(feature = "board") {
        assert_eq!(answer.status, 404, "{answer:?}");
        assert!(answer.body.contains("no house players"), "{answer:?}");
        return;
    }
    assert_eq!(answer.status, 200, "{answer:?}");
    wait_for("they are in", || (status(&leaguebox)["players"] == 2).then_some(()));
    let crowd = Crowd::of(&leaguebox, 1);
    assert_eq!(leaguebox.admin("start").status, 200);
    crowd.wait_for_the_end();
    assert_nobody_forfeited(&leaguebox, 3);
}

#[test]
fn a_room_that_waits_too_long_is_filled_by_the_house_where_there_is_one() {
    let leaguebox = LeagueBox::start(Settings::default());
    let answer = leaguebox.admin_with("settings", r#"{"fill_after": 1}"#);
    if cfg!(feature = "board") {
        assert_eq!(answer.status, 404, "{answer:?}");
        return;
    }
    assert_eq!(answer.status, 200, "{answer:?}");
    let ask = |key: &str, path: &str, body: Value| {
        let headers = format!("Content-Type: application/json\r\nAuthorization: Bearer {key}\r\n");
        let path = format!("/moltgame/api/v1{path}");
        http::request(leaguebox.address, "POST", &path, &headers, &body.to_string()).expect("an answer").json()
    };
    let registered = ask("", "/agents/register", json!({"name": "Ada"}));
    let key = registered["agent"]["api_key"].as_str().expect("a key");
    ask(key, "/games/00000000-0000-0000-0000-000000000005/match", json!({}));
    let over = wait_for("the game with the house is over", || {
        let pulse = ask(key, "/agents/heartbeat", json!({}));
        if pulse["your_turn"] == true {
            ask(key, "/agents/move", json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]}));
        }
        (pulse["game_over"] == true).then_some(pulse)
    });
    let house = over["game_state"]["agents"][1].as_str().expect("an id");
    let house = leaguebox.get_json(&format!("/moltgame/api/v1/agents/{house}"));
    assert_eq!(house["description"], "A player of the house.", "{house}");
    assert_eq!(house["games_played"], 1, "{house}");
    let players = leaguebox.get_json("/api/players.json");
    let guest = players["players"].as_array().expect("players").iter().find(|one| one["display_name"] == "House 1");
    assert!(guest.is_some_and(|guest| guest["sits_out"].is_string()), "it plays in no league: {players}");
}

#[test]
fn results_for_a_spreadsheet_have_names() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let crowd = Crowd::of(&leaguebox, 2);
    crowd.wait_for_the_end();
    let csv = leaguebox.get("/api/results.csv").body;
    assert!(csv.starts_with("\u{feff}round_id,"), "a spreadsheet knows UTF-8 by this: {csv}");
    let rows = results::parse(&csv);
    for (id, name) in [("player_a", "name_a"), ("player_b", "name_b")] {
        let member = crowd.members.iter().find(|member| member.id == rows[0].get(id)).expect("a member");
        assert_eq!(rows[0].get(name), member.name);
    }
}
