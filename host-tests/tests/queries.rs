//! LEAGUE_QUERY, asked in the middle of a league that stands still.

mod schema;

use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wait_for;
use serde_json::{Value, json};

/// Four players, all asked for their choice in the first round, and none answering yet.
fn standing_league() -> (LeagueBox, Crowd) {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 4);
    wait_for("all four are asked", || {
        let asked = crowd.events().iter().filter(|event| event.is("CHOOSE_PARITY_CALL")).count();
        (asked >= 4).then_some(())
    });
    (leaguebox, crowd)
}

/// A query as the specification prints it, by the crowd's first player.
fn query(crowd: &Crowd, query_type: &str, params: Value) -> Value {
    let member = &crowd.members[0];
    json!({
        "protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": format!("player:{}", member.id),
        "timestamp": "2025-01-15T14:00:00Z", "conversation_id": "conv_query001", "auth_token": member.token,
        "league_id": "league_2025_even_odd", "query_type": query_type, "query_params": params,
    })
}

/// The `data` of a successful answer.
fn data(leaguebox: &LeagueBox, query: Value) -> Value {
    let answer = leaguebox.rpc("league_query", query.clone());
    let result = &answer["result"];
    assert_eq!(schema::answer_faults(result), Vec::<String>::new(), "{answer}");
    assert_eq!(result["message_type"], "LEAGUE_QUERY_RESPONSE", "{answer}");
    assert_eq!(result["query_type"], query["query_type"]);
    assert_eq!(result["conversation_id"], "conv_query001");
    result["data"].clone()
}

/// Fails unless the query is answered by LEAGUE_ERROR with this code and name.
fn assert_error(leaguebox: &LeagueBox, query: Value, code: &str, name: &str) {
    let answer = leaguebox.rpc("league_query", query);
    let result = &answer["result"];
    assert_eq!(result["message_type"], "LEAGUE_ERROR", "{answer}");
    assert_eq!((&result["error_code"], &result["error_description"]), (&json!(code), &json!(name)), "{answer}");
    assert_eq!(schema::answer_faults(result), Vec::<String>::new(), "{answer}");
}

#[test]
fn every_query_is_answered_in_the_middle_of_a_league() {
    let (leaguebox, crowd) = standing_league();
    let me = &crowd.members[0].id;
    let ask = |query_type: &str, params: Value| data(&leaguebox, query(&crowd, query_type, params));

    let next = ask("GET_NEXT_MATCH", json!({"player_id": me}));
    let schedule = leaguebox.get_json("/api/schedule.json");
    let matches = schedule["rounds"]
        .as_array()
        .expect("rounds")
        .iter()
        .flat_map(|round| round["matches"].as_array().expect("matches"));
    let mine = matches.into_iter().find(|one| one["match_id"] == next["match_id"]).expect("a scheduled match");
    let opponent = if mine["player_A_id"] == **me { &mine["player_B_id"] } else { &mine["player_A_id"] };
    assert_eq!((&next["opponent_id"], next["round_id"].is_u64()), (opponent, true), "{next}");
    assert!(next["referee_id"].is_string(), "{next}");

    let standings = ask("GET_STANDINGS", json!({}));
    let page = leaguebox.get_json("/api/standings.json");
    assert_eq!(standings["standings"], host_tests::results::without_places(&page));

    let status = ask("GET_LEAGUE_STATUS", json!({}));
    assert_eq!((&status["current_round"], &status["total_rounds"]), (&json!(1), &json!(3)), "{status}");
    assert_eq!((&status["matches_completed"], &status["total_matches"]), (&json!(0), &json!(6)), "{status}");

    let stats = ask("GET_PLAYER_STATS", json!({"player_id": me}));
    for field in ["player_id", "display_name", "played", "wins", "draws", "losses", "points", "rank"] {
        assert!(stats.get(field).is_some(), "{field} in {stats}");
    }

    assert_eq!(ask("GET_MATCH_HISTORY", json!({"player_id": me}))["matches"], json!([]));
    // The page is told more of the players, for people to read.
    let mut shown = schedule["rounds"].clone();
    for round in shown.as_array_mut().into_iter().flatten() {
        for one in round["matches"].as_array_mut().into_iter().flatten() {
            one.as_object_mut().expect("a match is an object").remove("players").expect("a list of players");
        }
    }
    assert_eq!(ask("GET_SCHEDULE", json!({}))["rounds"], shown);

    let directory = ask("GET_PLAYER_DIRECTORY", json!({}));
    let directory = directory["players"].as_array().unwrap_or_else(|| panic!("no players in {directory}"));
    assert_eq!(directory.len(), 4);
    for player in directory {
        for field in ["player_id", "display_name", "contact_endpoint"] {
            assert!(player[field].is_string(), "{field} in {player}");
        }
    }

    let registrations = ask("GET_REGISTRATIONS", json!({}));
    assert_eq!(registrations["players"].as_array().map(Vec::len), Some(4), "{registrations}");
    assert!(registrations["referees"].is_array(), "{registrations}");

    crowd.release();
    crowd.wait_for_the_end();
    let history = ask("GET_MATCH_HISTORY", json!({"player_id": me}));
    assert_eq!(history["matches"].as_array().map(Vec::len), Some(3), "{history}");
    let everyones = ask("GET_MATCH_HISTORY", json!({}));
    assert_eq!(everyones["matches"].as_array().map(Vec::len), Some(6), "{everyones}");
    assert!(ask("GET_NEXT_MATCH", json!({"player_id": me}))["match_id"].is_null(), "no match is left");
}

#[test]
fn a_query_without_a_token_is_e011_and_with_a_wrong_one_e012() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 1);
    for token in [Value::Null, json!("")] {
        let mut missing = query(&crowd, "GET_STANDINGS", json!({}));
        missing["auth_token"] = token;
        assert_error(&leaguebox, missing, "E011", "AUTH_TOKEN_MISSING");
    }
    let mut absent = query(&crowd, "GET_STANDINGS", json!({}));
    absent.as_object_mut().expect("an object").remove("auth_token");
    assert_error(&leaguebox, absent, "E011", "AUTH_TOKEN_MISSING");
    let mut wrong = query(&crowd, "GET_STANDINGS", json!({}));
    wrong["auth_token"] = json!("tok_invalid_xxx");
    assert_error(&leaguebox, wrong, "E012", "AUTH_TOKEN_INVALID");
}

#[test]
fn a_query_about_a_stranger_is_e005() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 1);
    for query_type in ["GET_NEXT_MATCH", "GET_PLAYER_STATS", "GET_MATCH_HISTORY"] {
        let stranger = query(&crowd, query_type, json!({"player_id": "P99"}));
        assert_error(&leaguebox, stranger, "E005", "PLAYER_NOT_REGISTERED");
    }
}

#[test]
fn a_query_that_needs_a_player_and_names_none_is_about_the_one_who_asks() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 2);
    let stats = data(&leaguebox, query(&crowd, "GET_PLAYER_STATS", json!({})));
    assert_eq!(stats["player_id"], crowd.members[0].id);
}

#[test]
fn an_unknown_query_is_an_error_that_names_the_field() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 1);
    let answer = leaguebox.rpc("league_query", query(&crowd, "GET_RICH_QUICK", json!({})));
    assert!(answer.to_string().contains("query_type"), "{answer}");
    assert_ne!(answer["result"]["status"], "SUCCESS", "{answer}");
}

#[test]
fn queries_come_in_every_dialect() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 1);
    let ask = query(&crowd, "GET_STANDINGS", json!({}));
    assert_eq!(leaguebox.rpc("LEAGUE_QUERY", ask.clone())["result"]["status"], "SUCCESS");
    assert_eq!(leaguebox.rpc("mcp_message", ask.clone())["result"]["status"], "SUCCESS");
    assert_eq!(leaguebox.rpc("handle_message", json!({"message": ask}))["result"]["status"], "SUCCESS");
    assert_eq!(leaguebox.post("/mcp", &ask.to_string()).json()["status"], "SUCCESS");
}
