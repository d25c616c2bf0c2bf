//! Who may play, under which id, and what the others are told.

mod schema;

use host_tests::crowd::{Crowd, Does};
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wait_for;
use serde_json::{Value, json};

/// A request as the specification prints it.
fn request(name: &str, endpoint: &str) -> Value {
    json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:alpha",
        "timestamp": "2025-01-15T10:05:00Z", "conversation_id": "conv_playeralphareg001",
        "player_meta": {"display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint},
    })
}

fn endpoint(number: u16) -> String {
    format!("http://127.0.0.1:{}/mcp", 40000 + number)
}

/// Registers and returns the response, which must be a valid one.
fn register(leaguebox: &LeagueBox, request: Value) -> Value {
    let answer = leaguebox.rpc("register_player", request.clone());
    let result = answer["result"].clone();
    assert_eq!(schema::answer_faults(&result), Vec::<String>::new(), "{request} is answered {answer}");
    result
}

fn accepted(leaguebox: &LeagueBox, request: Value) -> String {
    let result = register(leaguebox, request);
    assert_eq!(result["status"], "ACCEPTED", "{result}");
    result["player_id"].as_str().expect("an id").to_owned()
}

fn assert_rejected(leaguebox: &LeagueBox, request: Value, reason: &str) -> Value {
    let result = register(leaguebox, request);
    assert_eq!((&result["status"], &result["reason"]), (&json!("REJECTED"), &json!(reason)), "{result}");
    result
}

#[test]
fn ids_are_given_in_order() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ids: Vec<_> = (1..=3).map(|n| accepted(&leaguebox, request(&format!("N{n}"), &endpoint(n)))).collect();
    assert_eq!(ids, ["P01", "P02", "P03"]);
}

#[test]
fn the_answer_repeats_the_conversation() {
    let leaguebox = LeagueBox::start(Settings::default());
    let result = register(&leaguebox, request("Ada", &endpoint(1)));
    assert_eq!(result["message_type"], "LEAGUE_REGISTER_RESPONSE");
    assert_eq!(result["conversation_id"], "conv_playeralphareg001");
    assert_eq!(result["sender"], "league_manager");
}

#[test]
fn a_second_registration_is_the_first_one() {
    let leaguebox = LeagueBox::start(Settings::default());
    let first = register(&leaguebox, request("Ada", &endpoint(1)));
    let second = register(&leaguebox, request("Ada", &endpoint(1)));
    for field in ["status", "player_id", "auth_token", "league_id"] {
        assert_eq!(first[field], second[field], "{field}");
    }
    assert_eq!(accepted(&leaguebox, request("Grace", &endpoint(2))), "P02", "no id was spent on it");
}

#[test]
fn a_player_that_restarts_during_the_league_is_still_itself() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let mut crowd = Crowd::new();
    crowd.hold();
    let host = &leaguebox.home().to_string();
    let mut again = request("First", &crowd.endpoint(host));
    again["player_meta"]["game_types"] = json!(["even_odd", "even_odd_10"]);
    let first = crowd.register(&leaguebox, "First", host);
    crowd.register(&leaguebox, "Second", host);
    let second = register(&leaguebox, again);
    assert_eq!((&first["player_id"], &first["auth_token"]), (&second["player_id"], &second["auth_token"]));
    crowd.release();
    crowd.wait_for_the_end();
}

#[test]
fn a_suggested_id_is_honoured_if_it_is_free() {
    let leaguebox = LeagueBox::start(Settings::default());
    let suggest = |name: &str, number: u16, sender: &str| {
        let mut request = request(name, &endpoint(number));
        request["sender"] = json!(sender);
        accepted(&leaguebox, request)
    };
    assert_eq!(suggest("Seven", 7, "player:P07"), "P07");
    assert_eq!(suggest("Also seven", 8, "player:P07"), "P01", "taken: the next free number");
    assert_eq!(suggest("Spaced", 9, "player:Agent Alpha"), "P02", "no id at all");
    assert_eq!(suggest("Two", 10, "player:P02"), "P03", "taken by now");
}

#[test]
fn every_reason_to_reject_has_its_words() {
    let leaguebox = LeagueBox::start(Settings::default());
    accepted(&leaguebox, request("Ada", &endpoint(1)));

    let mut checkers = request("Deep Blue", &endpoint(2));
    checkers["player_meta"]["game_types"] = json!(["checkers"]);
    assert_rejected(&leaguebox, checkers, "Unsupported game type");

    for bad in ["", "nowhere", "ftp://127.0.0.1/mcp", "http://", "http://127.0.0.1:99999/mcp", "http:///mcp"] {
        assert_rejected(&leaguebox, request("Lost", bad), "Invalid endpoint");
    }

    assert_rejected(&leaguebox, request("Ada", &endpoint(3)), "Duplicate display name");

    let mut old = request("Old", &endpoint(4));
    old["player_meta"]["protocol_version"] = json!("1.9.9");
    let told = assert_rejected(&leaguebox, old, "Unsupported protocol version");
    assert_eq!(told["error_code"], "E018", "{told}");
}

#[test]
fn versions_from_two_on_are_welcome() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (number, version) in
        [json!("2.0.0"), json!("2.1.0"), json!("10.0.0"), json!("league.v2"), json!(null)].iter().enumerate()
    {
        let mut request = request(&format!("N{number}"), &endpoint(number as u16));
        request["player_meta"]["protocol_version"] = version.clone();
        accepted(&leaguebox, request);
    }
}

#[test]
fn who_comes_after_the_start_is_too_late() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 2);
    wait_for("the first round", || crowd.events().into_iter().find(|event| event.is("ROUND_ANNOUNCEMENT")));
    let told = assert_rejected(&leaguebox, request("Late", &endpoint(1)), "Registration closed");
    assert_eq!(told["error_code"], "E010", "{told}");
    crowd.release();
    crowd.wait_for_the_end();
}

#[test]
fn localhost_is_where_the_registration_came_from() {
    for host in ["localhost", "0.0.0.0", "127.0.0.1"] {
        let leaguebox = LeagueBox::start(Settings::start_at(2));
        let mut crowd = Crowd::new();
        let own = crowd.endpoint(&leaguebox.home().to_string());
        crowd.register(&leaguebox, "Homely", host);
        crowd.enlist(&leaguebox, 1);
        crowd.wait_for_the_end();
        let events = crowd.events();
        let announcement = &events.iter().find(|event| event.is("ROUND_ANNOUNCEMENT")).expect("a round").message;
        let pairing = &announcement["matches"][0];
        let endpoints = [&pairing["player_A_endpoint"], &pairing["player_B_endpoint"]];
        assert!(endpoints.contains(&&json!(own)), "{host}: {own} in {announcement}");
    }
}

#[test]
fn localhost_is_a_slip_except_for_an_agent_on_the_boxs_own_computer() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (number, host) in (1..).zip(["localhost", "127.0.0.1"]) {
        let id = accepted(&leaguebox, request(host, &format!("http://{host}:{}/mcp", 40000 + number)));
        let report = leaguebox.get_json(&format!("/api/players/{id}.json"));
        let broken: Vec<_> =
            report["compliance"].as_array().expect("a report").iter().map(|one| &one["rule"]).collect();
        let elsewhere = cfg!(feature = "board");
        assert_eq!(broken, if elsewhere { vec!["endpoint_host"] } else { vec![] }, "{host}: {report}");
    }
}

/// The specification asks for none of it, but validators that others have published do.
#[test]
fn what_validators_in_the_wild_look_for_is_there() {
    let leaguebox = LeagueBox::start(Settings { move_timeout_ms: 300, retry_base_ms: 50, ..Settings::start_at(2) });
    let told = assert_rejected(&leaguebox, request("Lost", "nowhere"), "Invalid endpoint");
    assert_eq!(told["player_id"], "", "who is rejected has the field too: {told}");
    // One of two never says anything that could be read, so there is a match in which somebody did not choose.
    let mut crowd = Crowd::with_habits(|player, _| if player == 0 { Does::Babble } else { Does::Answer });
    crowd.enlist(&leaguebox, 2);
    leaguebox.wait_for_the_champion();
    let over = wait_for("the other hears how it ended", || {
        crowd.events().into_iter().find(|event| event.player == 1 && event.is("GAME_OVER"))
    });
    let result = &over.message["game_result"];
    assert_eq!(result["status"], "TECHNICAL_LOSS", "{result}");
    let choices = result["choices"].as_object().expect("choices");
    assert!(choices.values().all(Value::is_string), "no null among them: {result}");
    let query =
        json!({"message_type": "LEAGUE_QUERY", "query_type": "GET_STANDINGS", "auth_token": crowd.members[1].token});
    let answer = leaguebox.rpc("league_query", query)["result"].take();
    assert_eq!((&answer["status"], &answer["success"]), (&json!("SUCCESS"), &json!(true)), "{answer}");
}

#[test]
fn an_endpoint_without_a_path_gets_one() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let mut crowd = Crowd::new();
    let pathless = crowd.endpoint(&leaguebox.home().to_string()).replace("/0/mcp", "");
    accepted(&leaguebox, request("Pathless", &pathless));
    crowd.enlist(&leaguebox, 1);
    crowd.wait_for_the_end();
    let events = crowd.events();
    let announcement = &events.iter().find(|event| event.is("ROUND_ANNOUNCEMENT")).expect("a round").message;
    assert!(announcement.to_string().contains(&format!("\"{pathless}/mcp\"")), "{announcement}");
}

#[test]
fn a_name_in_hebrew_with_an_emoji_comes_back_equal() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    // As Python writes it: "שחקן 🎲", a quote and a backslash.
    let name = r#""\u05e9\u05d7\u05e7\u05df \ud83c\udfb2 \"\\""#;
    let mut crowd = Crowd::new();
    let endpoint = crowd.endpoint("127.0.0.1");
    crowd.enlist(&leaguebox, 1);
    let call = format!(
        r#"{{"jsonrpc":"2.0","method":"register_player","params":{{"player_meta":{{"display_name":{name},"contact_endpoint":"{endpoint}x"}}}},"id":1}}"#
    );
    assert_eq!(leaguebox.post("/mcp", &call).json()["result"]["status"], "ACCEPTED");
    let name: Value = serde_json::from_str(name).expect("JSON");
    crowd.wait_for_the_end();
    let standings = leaguebox.get_json("/api/standings.json");
    let names: Vec<_> =
        standings["standings"].as_array().expect("a table").iter().map(|row| &row["display_name"]).collect();
    assert!(names.contains(&&name), "{names:?}");
}

#[test]
fn nulls_unknown_members_and_missing_ones_do_no_harm() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut nulls = request("Nulls", &endpoint(1));
    for field in ["league_id", "auth_token", "sender", "timestamp", "conversation_id", "protocol"] {
        nulls[field] = Value::Null;
    }
    nulls["player_meta"]["version"] = Value::Null;
    nulls["player_meta"]["strategy"] = json!({"deep": [1, {"er": null}]});
    nulls["favourite_colour"] = json!("blue");
    accepted(&leaguebox, nulls);

    let meta = json!({"display_name": "Terse", "contact_endpoint": endpoint(2)});
    accepted(&leaguebox, json!({"player_meta": meta}));

    for (number, alias) in ["endpoint", "callback_url", "agent_endpoint", "contact_endpoint"].iter().enumerate() {
        let name = format!("Top {alias}");
        accepted(&leaguebox, json!({"display_name": name, *alias: endpoint(3 + number as u16)}));
    }
}

/// Forms of a timestamp seen in the wild, and whether the specification permits them.
const TIMESTAMPS: [(&str, bool); 6] = [
    ("2025-01-15T10:05:00+02:00", false),
    ("20261115T234108Z", false),
    ("2025-01-15 10:05:00", false),
    ("2025-01-15T10:05:00Z", true),
    ("2025-01-15T10:05:00.123456Z", true),
    ("2025-01-15T10:05:00.000Z", true),
];

fn requests_with_timestamps() -> impl Iterator<Item = (Value, bool)> {
    (1..).zip(TIMESTAMPS).map(|(number, (stamp, permitted))| {
        let mut request = request(&format!("N{number}"), &endpoint(number));
        request["timestamp"] = json!(stamp);
        (request, permitted)
    })
}

#[test]
fn timestamps_of_every_form_seen_are_accepted() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (request, _) in requests_with_timestamps() {
        accepted(&leaguebox, request);
    }
}

#[test]
fn in_strict_mode_a_timestamp_is_utc_or_e021() {
    let leaguebox = LeagueBox::start(Settings { mode: "strict", ..Settings::default() });
    for (request, permitted) in requests_with_timestamps() {
        let answer = leaguebox.rpc("register_player", request.clone());
        let result = &answer["result"];
        if permitted {
            assert_eq!(result["status"], "ACCEPTED", "{request}: {answer}");
        } else {
            assert_eq!(result["message_type"], "LEAGUE_ERROR", "{request}: {answer}");
            assert_eq!(result["error_code"], "E021", "{request}: {answer}");
        }
    }
}

#[test]
fn every_dialect_is_answered_as_it_asked() {
    let leaguebox = LeagueBox::start(Settings::default());
    let accepted = |result: &Value| {
        assert_eq!(result["status"], "ACCEPTED", "{result}");
        assert!(result["player_id"].is_string() && result["auth_token"].is_string(), "{result}");
    };
    accepted(&leaguebox.rpc("LEAGUE_REGISTER_REQUEST", request("Typed", &endpoint(1)))["result"]);
    accepted(&leaguebox.rpc("handle_message", json!({"message": request("Nested", &endpoint(2))}))["result"]);
    let tool = json!({"name": "register_player", "arguments": request("Tool", &endpoint(3))});
    let content = &leaguebox.rpc("tools/call", tool)["result"]["content"][0];
    assert_eq!(content["type"], "text");
    accepted(&serde_json::from_str(content["text"].as_str().expect("text")).expect("JSON in the text"));
    let bare = leaguebox.post("/mcp", &request("Bare", &endpoint(4)).to_string()).json();
    assert!(bare.get("jsonrpc").is_none(), "{bare}");
    accepted(&bare);
    let flat = json!({"display_name": "Flat", "version": "1.0.0", "endpoint": endpoint(5)});
    accepted(&leaguebox.post("/register", &flat.to_string()).json());
}

#[test]
fn strict_agents_are_answered_by_a_sender_they_can_match() {
    let leaguebox = LeagueBox::start(Settings::default());
    let typed = leaguebox.rpc("LEAGUE_REGISTER_REQUEST", request("Typed", &endpoint(1)));
    assert_eq!(typed["result"]["sender"], "league_manager:LM01");
}

#[test]
fn a_referee_is_registered_too() {
    let leaguebox = LeagueBox::start(Settings::default());
    let request = json!({
        "protocol": "league.v2", "message_type": "REFEREE_REGISTER_REQUEST", "sender": "referee:alpha",
        "timestamp": "2025-01-15T10:00:00Z", "conversation_id": "conv_refalphareg001",
        "referee_meta": {"display_name": "Referee Alpha", "version": "1.0.0", "game_types": ["even_odd"],
                         "contact_endpoint": "http://127.0.0.1:40100/mcp", "max_concurrent_matches": 2},
    });
    let result = leaguebox.rpc("register_referee", request)["result"].clone();
    assert_eq!(schema::answer_faults(&result), Vec::<String>::new(), "{result}");
    assert_eq!(result["status"], "ACCEPTED");
}
