//! Other people's referees: they register, report, and hear the end. The box referees every match itself.

mod schema;

use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wait_for;
use serde_json::{Value, json};

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
