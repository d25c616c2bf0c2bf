//! Other people's referees: they register, are given matches where the owner allows it, report, and hear the end. One script for each
//! kind seen in the wild is in `players/referees/`.

mod schema;

use host_tests::crowd::Crowd;
use host_tests::free_port;
use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::results;
use host_tests::settings::Settings;
use host_tests::simulation::random::Random;
use host_tests::wait_for;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// As it is posted to `/register`, whose clients look at the HTTP status only.
fn flat(agent_type: &str, name: &str, endpoint: &str) -> String {
    json!({"agent_type": agent_type, "display_name": name, "version": "1.0.0", "endpoint": endpoint}).to_string()
}

#[test]
fn a_referee_at_register_takes_no_players_seat_and_hears_how_the_league_ended() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let referee = Crowd::new();
    let endpoint = referee.endpoint(&leaguebox.home().to_string());
    let answer = leaguebox.post("/register", &flat("referee", "Zebra", &endpoint));
    assert_eq!((answer.status, &answer.json()["referee_id"]), (200, &json!("REF02")));
    assert_eq!(leaguebox.get_json("/api/players.json")["players"], json!([]));
    let players = Crowd::of(&leaguebox, 2);
    players.wait_for_the_end();
    let heard = wait_for("the referee hears the end", || {
        referee.events().into_iter().find(|event| event.is("LEAGUE_COMPLETED"))
    });
    assert_eq!(schema::call_faults(&heard.message), Vec::<String>::new(), "{}", heard.message);
    assert_eq!(referee.events().len(), 1, "and nothing else");
}

#[test]
fn a_referee_that_never_answers_keeps_nobody_from_a_rematch() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    // It accepts connections and says nothing.
    let silent = std::net::TcpListener::bind((host_tests::device::DEVICE.players_listen(), 0)).expect("a free port");
    let port = silent.local_addr().expect("an address").port();
    let endpoint = format!("http://{}:{port}/mcp", leaguebox.home());
    assert_eq!(leaguebox.post("/register", &flat("referee", "Zebra", &endpoint)).status, 200);
    let players = Crowd::of(&leaguebox, 2);
    players.wait_for_the_end();
    wait_for("the next league", || (leaguebox.admin("rematch").status == 200).then_some(()));
    wait_for("its end", || {
        (players.events().iter().filter(|event| event.is("LEAGUE_COMPLETED")).count() == 4).then_some(())
    });
}

#[test]
fn who_is_rejected_at_register_is_told_by_the_http_status_and_at_mcp_only_by_the_answer() {
    let leaguebox = LeagueBox::start(Settings::default());
    let endpoint = |port: u16| format!("http://{}:{port}/mcp", leaguebox.home());
    let post = |body: String| {
        let answer = leaguebox.post("/register", &body);
        (answer.status, answer.json())
    };
    assert_eq!(post(flat("player", "Ada", &endpoint(40001))).0, 200);
    let (status, taken) = post(flat("player", "Ada", &endpoint(40002)));
    assert_eq!(
        (status, &taken["status"], &taken["reason"]),
        (409, &json!("REJECTED"), &json!("Duplicate display name"))
    );
    assert_eq!(taken["player_id"], "");
    let (status, wrong) = post(flat("player", "Bob", "nowhere"));
    assert_eq!((status, &wrong["reason"]), (400, &json!("Invalid endpoint")));
    assert_eq!(post("{".into()).0, 400);
    let call = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {
        "player_meta": {"display_name": "Ada", "contact_endpoint": endpoint(40003)}}});
    let answer = leaguebox.post("/mcp", &call.to_string());
    assert_eq!((answer.status, &answer.json()["result"]["status"]), (200, &json!("REJECTED")));
    assert_eq!(schema::answer_faults(&answer.json()["result"]), Vec::<String>::new(), "{answer:?}");
}

#[test]
fn a_report_is_acknowledged_and_changes_no_result() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let players = Crowd::of(&leaguebox, 2);
    players.wait_for_the_end();
    let results = leaguebox.get("/api/results.csv").body;
    let report = json!({
        "protocol": "league.v2", "message_type": "MATCH_RESULT_REPORT", "sender": "referee:REF07", "match_id": "R1M1",
        "result": {"winner": "P02", "score": {"P01": 0, "P02": 3}},
    });
    let answer = leaguebox.rpc("report_match_result", report.clone())["result"].take();
    assert_eq!((&answer["message_type"], &answer["status"]), (&json!("MATCH_RESULT_ACK"), &json!("recorded")));
    assert_eq!(schema::answer_faults(&answer), Vec::<String>::new(), "{answer}");
    let bare: Value = leaguebox.post("/mcp", &report.to_string()).json();
    assert_eq!((&bare["message_type"], &bare["match_id"]), (&json!("MATCH_RESULT_ACK"), &json!("R1M1")));
    assert_eq!(leaguebox.get("/api/results.csv").body, results);
    assert!(leaguebox.get("/api/log.jsonl").body.contains("A referee reported a match"));
}

/// Every kind there is, by its script.
const KINDS: [&str; 8] =
    ["by_id", "by_endpoint", "by_assignment", "by_polling", "by_start_match", "nested", "by_tool", "bare"];

/// Matches may be refereed elsewhere. Everybody lives at one address.
fn shared(players: usize) -> Settings {
    Settings { foreign_referees: Some(2), per_address: Some(32), ..Settings::room_for(players) }
}

/// The same, and nobody is waited for very long.
fn brisk(players: usize) -> Settings {
    Settings {
        join_timeout_ms: 1_000,
        move_timeout_ms: 1_000,
        retry_base_ms: 50,
        foreign_referees: Some(1),
        ..shared(players)
    }
}

/// Who refereed each match, and who won it.
fn refereed(leaguebox: &LeagueBox) -> BTreeMap<String, (String, Value)> {
    let schedule = leaguebox.get_json("/api/schedule.json");
    let rounds = schedule["rounds"].as_array().expect("rounds").iter();
    let matches = rounds.flat_map(|round| round["matches"].as_array().expect("matches"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    matches.map(|one| (text(&one["match_id"]), (text(&one["referee_id"]), one["winner"].clone()))).collect()
}

/// Every match of a league has one result, and the table follows from them.
fn assert_whole(leaguebox: &LeagueBox, players: usize) {
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), players * (players - 1) / 2);
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
}

/// What a referee has reported and was told is the result.
fn results_of(referee: &Player) -> Vec<(String, Value)> {
    let taken =
        |entry: &Value| entry["answer"]["reason"].as_str().is_some_and(|why| why.starts_with("it is the result"));
    let reports = referee.entries("reported").into_iter().filter(taken);
    reports.map(|mut entry| (entry["match_id"].as_str().expect("a match").to_owned(), entry["winner"].take())).collect()
}

#[test]
fn every_kind_of_referee_referees_beside_the_box_in_one_league() {
    let leaguebox = LeagueBox::start(shared(16));
    let mut referees: Vec<Player> = KINDS.iter().map(|kind| Player::referee(&leaguebox, kind, &[])).collect();
    let mut ids = Vec::new();
    for referee in &mut referees {
        let answer = referee.wait_until_registered();
        assert_eq!(schema::answer_faults(&answer), Vec::<String>::new(), "{answer}");
        ids.push(answer["referee_id"].as_str().expect("an id").to_owned());
    }
    // Players that dial in can be called by nobody else.
    let mut players = Crowd::of(&leaguebox, 12);
    players.dial_in(&leaguebox, 4);
    let dialled: Vec<String> = players.members[12..].iter().map(|member| member.id.clone()).collect();
    assert_eq!(leaguebox.get_json("/api/status.json")["referees"], 8);
    assert_eq!(leaguebox.admin("start").status, 200);
    players.wait_for_the_end();
    assert_whole(&leaguebox, 16);
    let matches = refereed(&leaguebox);
    for (referee, id) in referees.iter().zip(&ids) {
        let reported = results_of(referee);
        assert!(!reported.is_empty(), "{} has refereed nothing: {:?}", referee.name, referee.entries("received"));
        for (match_id, winner) in reported {
            assert_eq!(matches[&match_id], (id.clone(), winner), "{match_id} of {}", referee.name);
        }
    }
    let page = leaguebox.get_json("/api/referees.json");
    let faults: Vec<_> =
        page["referees"].as_array().expect("referees").iter().filter(|one| one["state"] != "serves").collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert!(matches.values().any(|(referee, _)| referee == "REF01"));
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    for row in rows.iter().filter(|row| row.players().any(|(_, id)| dialled.iter().any(|other| other == id))) {
        assert_eq!(matches[row.get("match_id")].0, "REF01", "{row:?}");
    }
    for referee in &referees {
        // Who has no server hears nothing.
        if referee.name != "by_polling" {
            wait_for("it hears the end", || referee.received_of("LEAGUE_COMPLETED").pop());
        }
    }
}

#[test]
fn a_referee_that_dies_at_any_moment_of_a_match_costs_its_league_nothing_but_time() {
    for moment in ["told", "invited", "asked", "judged", "announced", "reported"] {
        let leaguebox = LeagueBox::start(brisk(4));
        // Who comes and asks has longer, so it takes longer to lose it.
        let kinds = ["by_id", "by_assignment", "by_polling"].into_iter().take(if moment == "judged" { 3 } else { 2 });
        let mut referees: Vec<Player> =
            kinds.map(|kind| Player::referee(&leaguebox, kind, &["--die", moment])).collect();
        referees.iter_mut().for_each(|referee| _ = referee.wait_until_registered());
        let players = Crowd::of(&leaguebox, 4);
        assert_eq!(leaguebox.admin("start").status, 200);
        players.wait_for_the_end();
        assert_whole(&leaguebox, 4);
        let matches = refereed(&leaguebox);
        let died = referees.iter().filter(|referee| !referee.entries("dies").is_empty()).count();
        assert!(died >= 2, "{moment}: {died} died");
        let theirs = matches.values().filter(|(referee, _)| referee != "REF01").count();
        // What it had reported when it died stands.
        assert_eq!(theirs, if moment == "reported" { died } else { 0 }, "{moment}: {matches:?}");
    }
}

#[test]
fn the_owner_sees_who_referees_and_removes_whom_it_does_not_trust() {
    let leaguebox = LeagueBox::start(shared(4));
    let mut referee = Player::referee(&leaguebox, "by_id", &[]);
    referee.wait_until_registered();
    let page = leaguebox.get_json("/api/referees.json");
    let one = &page["referees"][0];
    assert_eq!(
        (&one["referee_id"], &one["display_name"], &one["state"]),
        (&json!("REF02"), &json!("by_id"), &json!("serves"))
    );
    assert_eq!((&one["max_concurrent_matches"], &page["foreign_referees"]), (&json!(2), &json!(2)));
    let remove = |id: &str| leaguebox.admin_with("remove", &json!({"referee_id": id}).to_string()).status;
    assert_eq!((remove("REF02"), remove("REF02"), remove("P01")), (200, 404, 400));
    assert_eq!(leaguebox.get_json("/api/referees.json")["referees"], json!([]));
    let players = Crowd::of(&leaguebox, 4);
    assert_eq!(leaguebox.admin("start").status, 200);
    players.wait_for_the_end();
    assert!(refereed(&leaguebox).values().all(|(referee, _)| referee == "REF01"));
}

#[test]
#[cfg_attr(feature = "board", ignore = "a process of this computer is killed")]
fn a_box_killed_while_others_referee_loses_no_result_and_counts_none_twice() {
    const PLAYERS: usize = 8;
    let place = std::env::temp_dir().join(format!("leaguebox-referees-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a folder");
    let (file, address) = (place.join("leaguebox.flash"), std::net::SocketAddr::from(([127, 0, 0, 1], free_port())));
    let start = || LeagueBox::on_flash_at(address, brisk(PLAYERS), &file);
    let mut leaguebox = start();
    let mut referees =
        ["by_id", "by_assignment", "by_polling", "bare"].map(|kind| Player::referee(&leaguebox, kind, &[]));
    referees.iter_mut().for_each(|referee| _ = referee.wait_until_registered());
    let mut players = Crowd::thinking(Duration::from_millis(20));
    players.enlist(&leaguebox, PLAYERS);
    assert_eq!(leaguebox.admin("start").status, 200);
    let (mut random, mut seen, mut kills) = (Random::new(7), BTreeMap::new(), 0);
    loop {
        // A few times; then it is let be. A match begins anew after each.
        std::thread::sleep(Duration::from_millis(random.within(50, 700)));
        seen.extend(
            results::parse(&leaguebox.get("/api/results.csv").body)
                .into_iter()
                .map(|row| (row.get("match_id").to_owned(), row)),
        );
        if leaguebox.get_json("/api/status.json")["state"] == "COMPLETED" {
            break;
        }
        if kills < 8 {
            drop(leaguebox);
            kills += 1;
            leaguebox = start();
        }
    }
    assert!(kills >= 3, "killed {kills} times");
    assert_whole(&leaguebox, PLAYERS);
    let matches = refereed(&leaguebox);
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    for row in &rows {
        if let Some(before) = seen.get(row.get("match_id")) {
            assert_eq!(before, row, "what was told stands");
        }
    }
    // Whatever a referee was told is the result is the result.
    for (match_id, winner) in referees.iter().flat_map(results_of) {
        assert_eq!(matches[&match_id].1, winner, "{match_id}");
    }
    assert!(matches.values().any(|(referee, _)| referee != "REF01"));
    drop(leaguebox);
    let _ = std::fs::remove_dir_all(place);
}
