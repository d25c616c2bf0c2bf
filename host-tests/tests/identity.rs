//! Who is who: by address, by token and by name; how many from one address; and who is shown what a stranger's server said.

use host_tests::arena::Agent;
use host_tests::crowd::{Crowd, Does};
use host_tests::http;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wait_for;
use host_tests::websocket::WebSocket;
use serde_json::{Value, json};
use std::net::IpAddr;

/// A registration in its envelope.
fn registration(name: &str, endpoint: &str) -> String {
    let params = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:new",
        "timestamp": "2025-01-15T10:05:00Z", "conversation_id": "conv_1",
        "player_meta": {"display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint},
    });
    json!({"jsonrpc": "2.0", "method": "register_player", "params": params, "id": 1}).to_string()
}

fn register_from(leaguebox: &LeagueBox, from: IpAddr, name: &str, endpoint: &str) -> Value {
    leaguebox.post_from(from, "/mcp", &registration(name, endpoint)).json()["result"].take()
}

/// Where the box calls a player.
fn called(leaguebox: &LeagueBox, id: &str) -> String {
    leaguebox.get_json(&format!("/api/players/{id}.json"))["address"].as_str().expect("an address").to_owned()
}

/// A report as whoever shows this sees it.
fn report(leaguebox: &LeagueBox, id: &str, shows: Option<&str>) -> http::Response {
    let header = shows.map(|code| format!("Authorization: Bearer {code}\r\n")).unwrap_or_default();
    http::request(leaguebox.address, "GET", &format!("/api/players/{id}.json"), &header, "").expect("an answer")
}

#[test]
#[cfg_attr(feature = "probe", ignore = "needs several addresses")]
fn a_token_goes_only_to_the_address_it_first_went_to() {
    let leaguebox = LeagueBox::start(Settings::default());
    let [home, stranger] = [1, 2].map(|number| leaguebox.neighbour(number));
    // An address that is the same to everybody. Loopback is not.
    let host = if home.is_loopback() { "192.0.2.7".to_owned() } else { home.to_string() };
    let endpoint = format!("http://{host}:40001/mcp");
    let first = register_from(&leaguebox, home, "Ada", &endpoint);
    assert_eq!(first["status"], "ACCEPTED", "{first}");
    for _ in 0..2 {
        let theirs = register_from(&leaguebox, stranger, "Ada", &endpoint);
        assert_eq!(theirs["reason"], "Duplicate display name", "{theirs}");
        assert!(theirs.get("auth_token").is_none_or(Value::is_null), "{theirs}");
        assert_eq!(register_from(&leaguebox, home, "Ada", &endpoint)["auth_token"], first["auth_token"]);
    }
    assert_eq!(register_from(&leaguebox, stranger, "Bob", "http://localhost:40001/mcp")["status"], "ACCEPTED");
    assert_eq!(leaguebox.admin("start").status, 200);
    let theirs = register_from(&leaguebox, stranger, "Ada", &endpoint);
    assert_eq!(theirs["status"], "REJECTED", "in a running league too: {theirs}");
    assert_eq!(register_from(&leaguebox, home, "Ada", &endpoint)["auth_token"], first["auth_token"]);
}

#[test]
#[cfg_attr(feature = "probe", ignore = "needs several addresses")]
fn an_answer_without_a_token_counts_only_from_the_players_own_address() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 2);
    wait_for("both are asked", || {
        let asked = crowd.events().iter().filter(|event| event.is("CHOOSE_PARITY_CALL")).count();
        (asked == 2).then_some(())
    });
    let params = json!({"message_type": "CHOOSE_PARITY_RESPONSE", "player_id": "P01", "parity_choice": "even"});
    let body = json!({"jsonrpc": "2.0", "method": "choose_parity_response", "params": params, "id": 1}).to_string();
    let theirs = leaguebox.post_from(leaguebox.neighbour(1), "/mcp", &body).json();
    assert_eq!(theirs["result"]["error_code"], "E011", "{theirs}");
    let own = leaguebox.post_from(leaguebox.home(), "/mcp", &body).json();
    assert_eq!(own["result"]["status"], "RECEIVED", "{own}");
    crowd.release();
    crowd.wait_for_the_end();
}

#[test]
fn a_registration_over_a_link_takes_over_no_agent_of_the_arena_and_none_takes_over_a_player() {
    let leaguebox = LeagueBox::start(Settings::default());
    let agent = Agent::register(&leaguebox, "Ada");
    let mut link = WebSocket::dial(leaguebox.address);
    link.send(&registration("Ada", "")).expect("a link");
    let answer: Value = serde_json::from_str(&link.receive().expect("an answer")).expect("JSON");
    assert_eq!(answer["result"]["reason"], "Duplicate display name", "{answer}");
    assert_eq!(agent.me(&leaguebox)["name"], "Ada", "its key still opens");

    link.send(&registration("Grace", "")).expect("a link");
    let answer: Value = serde_json::from_str(&link.receive().expect("an answer")).expect("JSON");
    let token = answer["result"]["auth_token"].as_str().expect("a token");
    assert_eq!(leaguebox.post("/api/v1/agents", r#"{"name":"grace"}"#).status, 409);
    let query = json!({"auth_token": token, "query_type": "GET_STANDINGS"});
    assert_eq!(leaguebox.rpc("league_query", query)["result"]["status"], "SUCCESS");
}

#[test]
#[cfg_attr(feature = "probe", ignore = "needs several addresses")]
fn a_player_is_called_where_it_registered_from_unless_the_owner_allows_other_hosts() {
    let leaguebox = LeagueBox::start(Settings::default());
    let [home, other] = [1, 2].map(|number| leaguebox.neighbour(number));
    for (number, host) in
        [other.to_string().as_str(), "[::ffff:127.0.0.1]", "2130706433", "nas.local"].iter().enumerate()
    {
        let name = format!("N{number}");
        let answer = register_from(&leaguebox, home, &name, &format!("http://{host}:40001/mcp"));
        let id = answer["player_id"].as_str().unwrap_or_else(|| panic!("{host}: {answer}"));
        assert_eq!(called(&leaguebox, id), format!("{home}:40001"), "{host}");
        let report = report(&leaguebox, id, None).json();
        assert_eq!(report["compliance"][0]["rule"], "endpoint_host", "{host}: {report}");
        assert_eq!(report["registered_from"], home.to_string());
    }
    let own = leaguebox.address;
    let loops = register_from(&leaguebox, leaguebox.home(), "Loop", &format!("http://localhost:{}/mcp", own.port()));
    // A board is never where a registration comes from.
    let is_same_computer = leaguebox.home() == own.ip();
    assert_eq!(loops["reason"] == "Invalid endpoint", is_same_computer, "{loops}");
    assert_eq!(leaguebox.admin_with("settings", r#"{"other_hosts": true, "mode": "strict"}"#).status, 200);
    let loops = register_from(&leaguebox, home, "Mirror", &format!("http://{own}/mcp"));
    assert_eq!(loops["reason"], "Invalid endpoint", "{loops}");
    // Loopback is never another host.
    let elsewhere = if other.is_loopback() { "192.0.2.7".parse().expect("an address") } else { other };
    let answer = register_from(&leaguebox, home, "Far", &format!("http://{elsewhere}:40001/mcp"));
    assert_eq!(called(&leaguebox, answer["player_id"].as_str().expect("an id")), format!("{elsewhere}:40001"));
    assert_eq!(leaguebox.admin_with("settings", r#"{"other_hosts": false}"#).status, 200);
    let answer = register_from(&leaguebox, home, "Farther", "http://192.0.2.8:40001/mcp");
    assert_eq!(answer["reason"], "Invalid endpoint", "strict: {answer}");
}

#[test]
fn what_a_stranger_would_read_of_a_reply_that_is_no_message_only_its_player_and_the_owner_read() {
    let settings = Settings { join_timeout_ms: 500, retry_base_ms: 20, ..Settings::start_at(2) };
    let leaguebox = LeagueBox::start(settings);
    let mut crowd = Crowd::with_habits(|player, _| if player == 0 { Does::Babble } else { Does::Answer });
    crowd.enlist(&leaguebox, 2);
    leaguebox.wait_for_the_champion();
    let example = |shows: Option<&str>| {
        let report = report(&leaguebox, "P01", shows).json();
        let lines = report["compliance"].as_array().expect("a report").clone();
        let line = lines.into_iter().find(|line| line["rule"] == "not_json").unwrap_or_else(|| panic!("{report}"));
        line["example"].as_str().expect("a text").to_owned()
    };
    let (own, other) = (&crowd.members[0].token, &crowd.members[1].token);
    assert_eq!(example(None), "");
    assert_eq!(example(Some(other)), "");
    assert_eq!(example(Some(own)), "even, I think");
    assert_eq!(example(Some(&leaguebox.admin_code)), "even, I think");
    assert_eq!(report(&leaguebox, "P01", Some("a guess")).status, 401);
    for path in ["players", "status", "schedule"] {
        assert!(!leaguebox.get(&format!("/api/{path}.json")).body.contains("even, I"), "{path}");
    }
    assert!(!leaguebox.get("/api/log.jsonl").body.contains("even, I"));
}

#[test]
#[cfg_attr(feature = "probe", ignore = "needs several addresses")]
fn an_address_has_its_share_of_the_seats_and_the_owner_clears_it_at_once() {
    let leaguebox = LeagueBox::start(Settings { per_address: Some(2), ..Settings::default() });
    let [eve, ada] = [1, 2].map(|number| leaguebox.neighbour(number));
    let endpoint = "http://localhost:40001/mcp";
    for name in ["Eve 1", "Eve 2"] {
        assert_eq!(register_from(&leaguebox, eve, name, endpoint)["status"], "ACCEPTED");
    }
    let refused = register_from(&leaguebox, eve, "Eve 3", endpoint);
    assert_eq!(refused["reason"], "Too many players from this address", "{refused}");
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("per_address")), "{refused}");
    let agent = leaguebox.post_from(eve, "/api/v1/agents", r#"{"name":"Eve 3"}"#);
    assert_eq!(agent.status, 403, "{agent:?}");
    assert_eq!(register_from(&leaguebox, ada, "Ada", endpoint)["status"], "ACCEPTED");

    let players = leaguebox.get_json("/api/players.json");
    let from = |row: &Value| row["registered_from"].as_str().map(str::to_owned);
    let froms: Vec<_> = players["players"].as_array().expect("players").iter().filter_map(from).collect();
    assert_eq!(froms, [eve, eve, ada].map(|address| address.to_string()));
    let remove = |address: &str| leaguebox.admin_with("remove", &json!({ "address": address }).to_string());
    let cleared = remove(&eve.to_string());
    assert_eq!((cleared.status, &cleared.json()["removed"]), (200, &json!(2)), "{cleared:?}");
    assert_eq!(remove(&eve.to_string()).status, 404);
    assert_eq!(remove("nas.local").status, 400);
    let players = leaguebox.get_json("/api/players.json");
    assert_eq!((&players["registered"], &players["players"][0]["display_name"]), (&json!(1), &json!("Ada")));
}

#[test]
fn three_quarters_of_the_seats_go_to_one_address() {
    let leaguebox = LeagueBox::start(Settings { game: "dance-battle", ..Settings::default() });
    let seats = leaguebox.get_json("/api/status.json")["capacity"].as_u64().expect("a number");
    assert_eq!(seats, 32);
    for number in 1..=25 {
        let meta = json!({"display_name": format!("N{number}"), "contact_endpoint": "http://localhost:40001/mcp"});
        let answer = leaguebox.rpc("register_player", json!({ "player_meta": meta }));
        let reason = if number > 24 { json!("Too many players from this address") } else { Value::Null };
        assert_eq!(answer["result"]["reason"], reason, "{number}: {answer}");
    }
}

#[test]
fn names_that_look_alike_are_taken_and_those_that_turn_a_line_around_are_refused() {
    let leaguebox = LeagueBox::start(Settings::default());
    let reason = |name: &str| {
        let endpoint = "http://localhost:40002/mcp";
        let reason = |answer: &Value| answer["reason"].as_str().unwrap_or_default().to_owned();
        let mut link = WebSocket::dial(leaguebox.address);
        link.send(&registration(name, "")).expect("a link");
        let dialled: Value = serde_json::from_str(&link.receive().expect("an answer")).expect("JSON");
        let flat = json!({"display_name": name, "version": "1", "endpoint": endpoint}).to_string();
        let flat = leaguebox.post("/register", &flat).json();
        let posted = leaguebox.post("/mcp", &registration(name, endpoint)).json();
        let reasons = [reason(&dialled["result"]), reason(&flat), reason(&posted["result"])];
        assert!(reasons.iter().all(|other| *other == reasons[0]), "{name:?}: {reasons:?}");
        reasons[0].clone()
    };
    Agent::register(&leaguebox, "Grace Hopper");
    leaguebox.post("/mcp", &registration("Ada", "http://localhost:40001/mcp"));
    for name in ["ADA", "A d a", "A\u{200b}da", "grace hopper", "GraceHopper"] {
        assert_eq!(reason(name), "Duplicate display name", "{name:?}");
        assert!(matches!(leaguebox.post("/api/v1/agents", &json!({ "name": name }).to_string()).status, 400 | 409));
    }
    for name in ["\u{202e}adA", "A\u{7}da", "Ada\nEve", "\u{2066}x", "\u{2060}"] {
        assert_eq!(reason(name), "Invalid display name", "{name:?}");
        assert_eq!(leaguebox.post("/api/v1/agents", &json!({ "name": name }).to_string()).status, 400, "{name:?}");
    }
}
