//! Matches that others referee: who is given one, by what words, whose report counts, and what becomes of a match whose
//! referee is gone.

extern crate std;

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::restart_tests::{Pieces, results, standings};
use super::tests::{Room, config, perfect};
use super::*;

const R1M1: MatchId = MatchId { round: 1, table: 1 };

fn open() -> Config {
    Config { foreign_referees: Some(2), ..config() }
}

/// A referee's registration, by a method of its dialect.
fn registration(method: &str, name: &str, port: u16, more: Value) -> Value {
    let mut meta = json!({"display_name": name, "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": format!("http://localhost:{port}/mcp")});
    if let (Value::Object(meta), Value::Object(more)) = (&mut meta, more) {
        meta.extend(more);
    }
    let message = json!({"protocol": "league.v2", "message_type": "REFEREE_REGISTER_REQUEST", "sender": "referee:alpha",
        "timestamp": "2025-01-15T10:05:00Z", "conversation_id": "conv_1", "referee_meta": meta});
    match method {
        "bare" => message,
        "handle_message" => json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}),
        "tools/call" => json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {
            "name": "register_referee", "arguments": message}}),
        _ => json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": message}),
    }
}

/// Registers a referee; what it was answered, flat.
fn register(room: &mut Room, method: &str, port: u16, more: Value) -> Value {
    let answer = room.send(&registration(method, &format!("Referee {port}"), port, more).to_string());
    flat(answer)
}

fn flat(answer: Value) -> Value {
    match answer.get("result") {
        Some(result) if result.get("content").is_some() => {
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
        }
        Some(result) => result.clone(),
        None => answer,
    }
}

/// A room of players and canonical referees, whose league has begun.
fn begun(players: u16, referees: &[Value]) -> (Room, Vec<Value>) {
    let mut room = Room::of(open(), players);
    let tokens = (8001..).zip(referees).map(|(port, more)| {
        let answer = register(&mut room, "register_referee", port, more.clone());
        assert_eq!(answer["status"], "ACCEPTED", "{answer}");
        answer["auth_token"].clone()
    });
    let tokens = tokens.collect();
    room.venue.command(room.now, Command::Start).unwrap();
    (room, tokens)
}

/// What goes out to referees, of the calls that are open: the line, the port, what it says.
fn assigned(room: &Room) -> Vec<(u16, u16, Value)> {
    let calls = (0..8).filter_map(|line| Some((line, room.venue.call(line)?.to.endpoint()?.port, room.call(line)?)));
    calls.filter(|(_, port, _)| *port < 8100).collect()
}

/// Lets players take note of what they are told until a referee is called, or nothing is open.
fn until_assigned(room: &mut Room) {
    for _ in 0..200 {
        while room.venue.poll_output().is_some() {}
        let news = (0..room.venue.players().len() as u16).find_map(|line| {
            let to = room.venue.call(line)?.to.endpoint()?.port;
            Some((line, room.call(line)?)).filter(|(_, call)| to > 8100 && is_news(call))
        });
        let Some((line, call)) = news else { return };
        room.answer(line, perfect(line, &call).unwrap());
    }
}

fn is_news(call: &Value) -> bool {
    !["GAME_INVITATION", "CHOOSE_PARITY_CALL"].contains(&call["params"]["message_type"].as_str().unwrap_or(""))
}

fn report(id: MatchId, winner: Value, token: Value) -> String {
    json!({"jsonrpc": "2.0", "method": "report_match_result", "id": 3, "params": {
        "message_type": "MATCH_RESULT_REPORT", "match_id": id.to_string(), "auth_token": token, "result": {"winner": winner}}})
    .to_string()
}

fn worth(answer: &Value) -> &str {
    answer["result"]["reason"].as_str().or_else(|| answer["result"]["detail"].as_str()).unwrap_or("")
}

#[test]
fn matches_go_to_referees_in_turn_up_to_what_each_takes_at_once_and_the_rest_stays_here() {
    let (room, _) = begun(8, &[json!({"max_concurrent_matches": 1}), json!({"max_concurrent_matches": 2})]);
    let of = |table| room.venue.referee_of(MatchId { round: 1, table }).to_string();
    let all: Vec<String> = (1..=4).map(of).collect();
    let [first, second, ours] = ["REF02", "REF03", "REF01"].map(|id| all.iter().filter(|of| *of == id).count());
    assert_eq!((first, second, ours), (1, 2, 1), "{all:?}");
    assert_eq!(serde_json::to_value(room.venue.match_line(R1M1).unwrap()).unwrap()["referee_id"], all[0]);
    let (room, _) = begun(4, &[json!({"game_types": ["even_odd_10"]}), json!({"max_concurrent_matches": 0})]);
    assert!(
        (1..=2).all(|table| room.venue.referee_of(MatchId { round: 1, table }) == OUR_REFEREE),
        "not their game, not now"
    );
}

#[test]
fn nobody_else_referees_unless_the_owner_says_so_and_whoever_came_late_waits_for_the_next_league() {
    let mut room = Room::with_players(2);
    let answer = register(&mut room, "register_referee", 8001, json!({}));
    assert!(answer["detail"].as_str().unwrap().contains("foreign_referees"), "{answer}");
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(room.venue.referee_of(R1M1), OUR_REFEREE);

    let (mut room, _) = begun(4, &[]);
    register(&mut room, "register_referee", 8001, json!({}));
    room.run(perfect);
    let rounds = (1..=3).flat_map(|round| [1, 2].map(|table| MatchId { round, table }));
    assert!({ rounds }.all(|id| room.venue.referee_of(id) == OUR_REFEREE), "it came when the league had begun");
    room.venue.command(room.now, Command::Rematch).unwrap();
    assert_eq!(room.venue.referee_of(R1M1), AgentId::Referee(2));
}

#[test]
fn a_referee_hears_of_its_match_by_the_words_of_its_dialect_and_players_before_it() {
    let says = |method: &str| {
        let mut room = Room::of(open(), 2);
        assert_eq!(register(&mut room, method, 8001, json!({}))["status"], "ACCEPTED");
        room.venue.command(room.now, Command::Start).unwrap();
        assert!(assigned(&room).is_empty(), "the players come first");
        until_assigned(&mut room);
        let (line, port, call) = assigned(&room).pop().unwrap();
        assert_eq!((line, port), (1, 8001), "the line of the first of its players");
        call
    };
    let round = |message: &Value| {
        assert_eq!((&message["message_type"], &message["round_id"]), (&json!("ROUND_ANNOUNCEMENT"), &json!(1)));
        let [one] = &message["matches"].as_array().unwrap()[..] else { panic!("one match: {message}") };
        assert_eq!((&one["match_id"], &one["referee_id"]), (&json!("R1M1"), &json!("REF02")));
        assert_eq!(one["referee_endpoint"], "http://localhost:8001/mcp", "to the byte");
        assert_eq!(
            (&one["player_A_id"], &one["player_A_endpoint"]),
            (&json!("P02"), &json!("http://10.0.0.9:8102/mcp"))
        );
        assert_eq!(
            (&one["player_B_id"], &one["player_B_endpoint"]),
            (&json!("P01"), &json!("http://10.0.0.9:8101/mcp"))
        );
    };
    let canonical = says("register_referee");
    assert_eq!(canonical["method"], "notify_round");
    round(&canonical["params"]);
    round(&says("handle_message")["params"]["message"]);
    round(&says("bare"));
    let by_type = says("REFEREE_REGISTER_REQUEST");
    assert_eq!(
        (&by_type["method"], &by_type["params"]["sender"]),
        (&json!("START_MATCH"), &json!("league_manager:LM01"))
    );
    let tool = says("tools/call");
    assert_eq!(tool["params"]["name"], "start_match");
    for flat in [&by_type["params"], &tool["params"]["arguments"]] {
        for (name, value) in [
            ("match_id", json!("R1M1")),
            ("round_id", json!(1)),
            ("player_a_id", json!("P02")),
            ("player_b_id", json!("P01")),
            ("player1_endpoint", json!("http://10.0.0.9:8102/mcp")),
            ("player_B_endpoint", json!("http://10.0.0.9:8101/mcp")),
        ] {
            assert_eq!(flat[name], value, "{flat}");
        }
        assert!(!flat["auth_token"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_referee_that_does_not_know_a_word_hears_the_next_and_is_told_so_at_once_the_next_time() {
    let (mut room, tokens) = begun(2, &[json!({})]);
    until_assigned(&mut room);
    let (line, _, call) = assigned(&room).pop().unwrap();
    assert_eq!(call["method"], "notify_round");
    room.answer(line, json!({"jsonrpc": "2.0", "error": {"code": -32601, "message": "?"}, "id": call["id"]}));
    let (line, _, call) = assigned(&room).pop().unwrap();
    assert_eq!(call["method"], "assign_match");
    room.answer(line, json!({"jsonrpc": "2.0", "result": {"status": "ok"}, "id": call["id"]}));
    assert!(assigned(&room).is_empty(), "and is told once");
    room.send(&report(R1M1, json!("P02"), tokens[0].clone()));
    room.run(perfect);
    room.venue.command(room.now, Command::Rematch).unwrap();
    until_assigned(&mut room);
    assert_eq!(assigned(&room).pop().unwrap().2["method"], "assign_match");
}

#[test]
fn a_report_is_the_result_by_its_winner_and_its_players_hear_of_it_from_their_referee_alone() {
    let (mut room, tokens) = begun(2, &[json!({})]);
    until_assigned(&mut room);
    let (line, _, _) = assigned(&room).pop().unwrap();
    room.carry_out(line);
    // Its call is still open when it reports, and it finishes that.
    let answer = room.send(&report(R1M1, json!("P02"), tokens[0].clone()));
    assert_eq!(
        (&answer["result"]["message_type"], &answer["result"]["status"]),
        (&json!("MATCH_RESULT_ACK"), &json!("recorded"))
    );
    assert!(room.venue.call(line).is_some(), "it may answer");
    room.answer(line, json!({"jsonrpc": "2.0", "result": {"status": "done"}, "id": 1}));
    room.run(perfect);
    let record = room.venue.record(R1M1).unwrap();
    assert_eq!((record.winner(), record.referee(), record.end_reason().name()), (Some(0), Some(2), "reported"));
    let told: Vec<&Value> = room.heard.iter().map(|(_, call)| &call["params"]["message_type"]).collect();
    assert!(!told.contains(&&json!("GAME_OVER")) && !told.contains(&&json!("GAME_INVITATION")), "{told:?}");
    assert!(told.contains(&&json!("LEAGUE_COMPLETED")));
    room.venue.refresh_standings();
    let points: Vec<u16> = room.venue.standings().map(|row| row.points).collect();
    assert_eq!((points, room.venue.stage()), (std::vec![3, 0], Stage::Completed));
}

#[test]
fn the_first_report_stands_whatever_comes_later_and_nobody_elses_counts() {
    let (mut room, tokens) = begun(4, &[json!({}), json!({})]);
    let other = MatchId { round: 1, table: 2 };
    assert_eq!((room.venue.referee_of(R1M1), room.venue.referee_of(other)), (AgentId::Referee(3), AgentId::Referee(2)));
    let (mine, theirs) = (tokens[1].clone(), tokens[0].clone());
    for (body, why) in [
        (report(R1M1, json!("P01"), theirs.clone()), "changes no result"),
        (report(MatchId { round: 2, table: 1 }, json!("P01"), mine.clone()), "changes no result"),
        (report(MatchId { round: 7, table: 1 }, json!("P01"), mine.clone()), "changes no result"),
        (report(R1M1, json!("P03"), mine.clone()), "one of the two players"),
        (report(R1M1, json!(["P01"]), mine.clone()), "result.winner must be"),
        (report(R1M1, json!("P01"), json!("tok_ref03_00")), "auth_token"),
        (
            report(R1M1, json!("P01"), mine.clone())
                .replace(r#""winner":"P01""#, r#""winner":"P01","score":{"P04":3}"#),
            "result.score",
        ),
    ] {
        let answer = room.send(&body);
        assert!(worth(&answer).contains(why), "{body}: {answer}");
        assert!(room.venue.record(R1M1).is_none());
    }
    // Without a token its address speaks.
    let (elsewhere, _) = room.send_via(Via::Post, 7, &report(R1M1, json!("P01"), Value::Null));
    assert!(worth(&elsewhere).contains("changes no result") && room.venue.record(R1M1).is_none());
    room.send(&report(R1M1, json!("P01"), Value::Null));
    let first = *room.venue.record(R1M1).unwrap();
    assert_eq!(first.winner(), Some(0));
    assert!(worth(&room.send(&report(R1M1, json!("P01"), mine.clone()))).contains("already"));
    assert!(worth(&room.send(&report(R1M1, json!("P02"), mine))).contains("stands"));
    assert_eq!(*room.venue.record(R1M1).unwrap(), first);
    let lines: Vec<(u16, u8)> = room.venue.referee_lines().map(|line| (line.refereed, line.useless_reports)).collect();
    assert_eq!(lines, [(0, 1), (1, 6)]);
    assert_eq!(room.venue.status().matches_completed, 1);
}

#[test]
fn in_strict_mode_a_report_without_a_token_counts_for_nothing() {
    let mut room = Room::of(Config { mode: Mode::Strict, ..open() }, 0);
    for (name, port) in [("Ada", 8101), ("Bob", 8102)] {
        room.register(name, port);
    }
    let token = register(&mut room, "register_referee", 8001, json!({}))["auth_token"].clone();
    assert_eq!((room.venue.players().len(), token.is_string()), (2, true));
    room.venue.command(room.now, Command::Start).unwrap();
    room.send(&report(R1M1, json!("P01"), Value::Null));
    assert!(room.venue.record(R1M1).is_none());
    room.send(&report(R1M1, json!("P01"), token));
    assert!(room.venue.record(R1M1).is_some());
}

#[test]
fn a_referee_that_does_not_report_in_time_loses_the_match_to_the_box_and_all_others_until_it_registers_again() {
    let (mut room, tokens) = begun(4, &[json!({"max_concurrent_matches": 2})]);
    until_assigned(&mut room);
    for (line, _, call) in assigned(&room) {
        room.answer(line, json!({"jsonrpc": "2.0", "result": {"status": "ok"}, "id": call["id"]}));
    }
    room.send(&report(R1M1, json!("P01"), tokens[0].clone()));
    room.run(perfect);
    assert_eq!(room.venue.stage(), Stage::Completed);
    let second = MatchId { round: 1, table: 2 };
    assert_eq!(room.venue.referee_of(second), OUR_REFEREE);
    let began = 5_000 + 30_000 + 2 * (7_000 + 700) + 2_000;
    let asked = room.said.iter().find(|(_, _, call)| {
        (&call["params"]["message_type"], &call["params"]["match_id"]) == (&json!("GAME_INVITATION"), &json!("R1M2"))
    });
    assert_eq!(asked.unwrap().0, began, "all the time its players may take, and two seconds");
    assert_eq!(room.venue.referee_of(MatchId { round: 2, table: 1 }), OUR_REFEREE, "it is given no more");
    let late = room.send(&report(second, json!("P03"), tokens[0].clone()));
    assert!(worth(&late).contains("changes no result"), "{late}");
    assert_eq!(register(&mut room, "register_referee", 8001, json!({}))["status"], "ACCEPTED");
    room.venue.command(room.now, Command::Rematch).unwrap();
    assert_eq!(room.venue.referee_of(R1M1), AgentId::Referee(2));
}

#[test]
fn who_cannot_be_reached_loses_its_match_at_once_unless_it_comes_and_asks() {
    let (mut room, _) = begun(2, &[json!({})]);
    until_assigned(&mut room);
    let (line, _, call) = assigned(&room).pop().unwrap();
    let call = call["id"].as_u64().unwrap() as u32;
    room.venue.handle(room.now, Event::Failed { player: line, call, failure: Failure::Unreachable });
    assert_eq!((room.venue.referee_of(R1M1), room.now.ms), (OUR_REFEREE, 0));
    room.run(perfect);
    assert!(room.venue.is_over());

    let mut room = Room::of(open(), 2);
    let token = register(&mut room, "register_referee", 8001, json!({}))["auth_token"].clone();
    let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "get_assigned_matches", "params": {"referee_id": "REF02"}});
    let matches = |room: &mut Room| room.send(&ask.to_string())["result"]["matches"].take();
    assert_eq!(matches(&mut room), json!([]));
    let query =
        json!({"jsonrpc": "2.0", "id": 1, "method": "league_query", "params": {"query_type": "GET_REGISTRATIONS"}});
    assert_eq!(room.send(&query.to_string())["result"]["players"].as_array().unwrap().len(), 2);
    room.venue.command(room.now, Command::Start).unwrap();
    until_assigned(&mut room);
    let (line, _, call) = assigned(&room).pop().unwrap();
    let call = call["id"].as_u64().unwrap() as u32;
    room.venue.handle(room.now, Event::Failed { player: line, call, failure: Failure::Unreachable });
    let asked = matches(&mut room);
    assert_eq!((&asked[0]["match_id"], &asked[0]["status"]), (&json!("R1M1"), &json!("PENDING")), "{asked}");
    assert_eq!(asked[0]["player_A_endpoint"], "http://10.0.0.9:8102/mcp");
    let (stranger, _) = room.send_via(Via::Post, 7, &ask.to_string());
    assert_eq!(stranger["result"]["error_code"], "E005", "only from where it registered");
    room.send(&report(R1M1, json!("P02"), token));
    assert_eq!(matches(&mut room), json!([]));
    assert_eq!(room.venue.record(R1M1).unwrap().referee(), Some(2));
}

#[test]
fn only_players_that_can_be_called_and_understand_the_referee_are_given_away() {
    // One holds its connection, one speaks a dialect that a canonical referee does not.
    let mut room = Room::of(open(), 1);
    let held = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {"display_name": "Held"}});
    room.send_via(Via::Held, 9, &held.to_string());
    register(&mut room, "register_referee", 8001, json!({}));
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(room.venue.referee_of(R1M1), OUR_REFEREE);

    let mut room = Room::of(open(), 1);
    let bare = json!({"message_type": "LEAGUE_REGISTER_REQUEST", "player_meta": {"display_name": "Bare",
        "contact_endpoint": "http://localhost:8200/mcp"}});
    room.send(&bare.to_string());
    register(&mut room, "register_referee", 8001, json!({}));
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(room.venue.referee_of(R1M1), OUR_REFEREE);

    // A referee from the computer of one of the players is not neutral.
    let mut room = Room::of(open(), 1);
    let (player, _) =
        room.send_via(Via::Register, 8, r#"{"display_name":"Far","endpoint":"http://localhost:8200/mcp"}"#);
    assert_eq!(player["status"], "ACCEPTED");
    register(&mut room, "register_referee", 8001, json!({}));
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(room.venue.referee_of(R1M1), OUR_REFEREE);
}

#[test]
fn who_leaves_or_is_ruled_on_or_whose_referee_is_removed_has_one_result_all_the_same() {
    let (mut room, tokens) = begun(2, &[json!({})]);
    until_assigned(&mut room);
    room.venue.dismiss(room.now, 2, true).unwrap();
    assert_eq!(room.venue.referee_of(R1M1), OUR_REFEREE);
    assert!(assigned(&room).is_empty() && room.venue.referee_lines().next().is_none());
    assert!(worth(&room.send(&report(R1M1, json!("P01"), tokens[0].clone()))).contains("auth_token"));
    assert_eq!(room.venue.dismiss(room.now, 2, true), Err(Denied::Referee));
    room.run(perfect);
    assert!(room.venue.is_over());

    let (mut room, tokens) = begun(2, &[json!({})]);
    until_assigned(&mut room);
    room.venue.rule(room.now, R1M1, Some(2)).unwrap();
    assert!(worth(&room.send(&report(R1M1, json!("P01"), tokens[0].clone()))).contains("changes no result"));
    room.run(perfect);
    assert_eq!(room.venue.winner_of(R1M1), Some(AgentId::Player(2)));

    let (mut room, tokens) = begun(2, &[json!({})]);
    until_assigned(&mut room);
    room.venue.remove(room.now, 1).unwrap();
    room.run(perfect);
    assert!(room.venue.is_over());
    assert_eq!(room.venue.winner_of(R1M1), Some(AgentId::Player(2)), "who is left has won");
    assert!(worth(&room.send(&report(R1M1, json!("P01"), tokens[0].clone()))).contains("changes no result"));
}

/// Answers players and referees: a referee lets so many of its matches lie, and reports the others.
fn serve(room: &mut Room, journal: &mut Pieces, tokens: &[Value], steps: usize) -> bool {
    for _ in 0..steps {
        journal.keep(&mut room.venue);
        while room.venue.poll_output().is_some() {}
        let open = (0..room.venue.players().len() as u16).find_map(|line| Some((line, room.call(line)?)));
        let Some((line, call)) = open else { return false };
        let port = room.venue.call(line).unwrap().to.endpoint().unwrap().port;
        if port > 8100 {
            room.answer(line, perfect(line, &call).unwrap());
            continue;
        }
        let one = &call["params"]["matches"][0];
        let id = MatchId::read(one["match_id"].as_str().unwrap()).unwrap();
        room.carry_out(line);
        let token = tokens[usize::from(port - 8001)].clone();
        let answer = room.send(&report(id, one["player_A_id"].clone(), token));
        assert_eq!(answer["result"]["status"], "recorded", "{answer}");
        if room.venue.call(line).is_some() {
            room.answer(line, json!({"jsonrpc": "2.0", "result": {}, "id": 1}));
        }
    }
    journal.keep(&mut room.venue);
    true
}

#[test]
fn a_league_with_referees_cut_off_after_any_step_goes_on_with_every_result_and_each_once() {
    let mut cuts = 0;
    for steps in 0.. {
        let mut room = Room::new(open());
        room.venue.keep_facts();
        (0..4).for_each(|i| _ = room.register(&format!("Agent {i}"), 8101 + i));
        let tokens: Vec<Value> = [8001, 8002]
            .map(|port| register(&mut room, "register_referee", port, json!({}))["auth_token"].clone())
            .into();
        let mut journal = Pieces::default();
        room.venue.command(room.now, Command::Start).unwrap();
        let is_running = serve(&mut room, &mut journal, &tokens, steps);
        let before = (results(&room.venue), standings(&mut room.venue));
        room.venue = journal.restore();
        room.venue.resume(room.now);
        assert_eq!((results(&room.venue), standings(&mut room.venue)), before, "after {steps} steps");
        cuts += 1;
        while serve(&mut room, &mut journal, &tokens, 1) {}
        assert!(room.venue.is_over(), "after {steps} steps");
        let after = results(&room.venue);
        assert!(after.len() == 6 && before.0.iter().all(|result| after.contains(result)), "after {steps} steps");
        if !is_running {
            break;
        }
    }
    assert!(cuts > 30, "{cuts}");
}

#[test]
fn what_a_referee_offers_and_that_it_is_gone_outlives_a_power_cut() {
    let mut room = super::restart_tests::room(2);
    register(&mut room, "REFEREE_REGISTER_REQUEST", 8001, json!({"max_concurrent_matches": 7}));
    register(&mut room, "register_referee", 8002, json!({}));
    room.venue.configure(room.now, Change { foreign_referees: Some(Some(9)), ..Change::default() }).unwrap();
    let mut journal = Pieces::default();
    journal.keep(&mut room.venue);
    let restored = journal.restore();
    let lines = |venue: &Venue<'_>| -> Vec<(u8, String, &str)> {
        let line = |line: crate::protocols::league_v2::RefereeLine<'_>| {
            (line.max_concurrent_matches, line.dialect.to_string(), line.state)
        };
        venue.referee_lines().map(line).collect()
    };
    assert_eq!(lines(&restored), [(7, "message_type".into(), "serves"), (1, "canonical".into(), "serves")]);
    assert_eq!(restored.config().foreign_referees, Some(9));
    room.venue.dismiss(room.now, 2, false).unwrap();
    journal.keep(&mut room.venue);
    assert_eq!(lines(&journal.restore()), [(1, "canonical".into(), "serves")]);
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What a referee does about a match it hears of.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Sound,
    /// It answers when it has reported, and reports twice, the second time something else.
    Wavers,
    Silent,
    Unreachable,
    /// It knows no word that it is told.
    Deaf,
    /// It reports nonsense.
    Babbles,
    /// It reports when its time is over.
    Late,
    /// It comes and asks.
    Polls,
}

const MANNERS: [Manner; 8] = [
    Manner::Sound,
    Manner::Wavers,
    Manner::Silent,
    Manner::Unreachable,
    Manner::Deaf,
    Manner::Babbles,
    Manner::Late,
    Manner::Polls,
];

/// A league with referees of all manners, in virtual time, whose power is cut now and then.
fn simulate(seed: u64) -> (usize, usize) {
    let mut random = Random(seed);
    let players = 2 + random.below(5) as u16;
    let mut room = Room::new(open());
    room.venue.keep_facts();
    (0..players).for_each(|i| _ = room.register(&format!("Agent {i}"), 8101 + i));
    let manners: Vec<Manner> = (0..=random.below(3)).map(|_| MANNERS[random.below(8) as usize]).collect();
    let tokens: Vec<Value> = (8001..)
        .zip(&manners)
        .map(|(port, _)| {
            let more = json!({"max_concurrent_matches": 1 + random.below(3)});
            register(&mut room, "register_referee", port, more)["auth_token"].clone()
        })
        .collect();
    let mut journal = Pieces::default();
    room.venue.command(room.now, Command::Start).unwrap();
    let mut known: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    let mut late: Vec<(u64, String)> = Vec::new();
    let mut cuts = 0;
    for step in 0.. {
        assert!(step < 20_000, "seed {seed}: it does not come to an end");
        journal.keep(&mut room.venue);
        while room.venue.poll_output().is_some() {}
        for result in results(&room.venue) {
            let (id, record) = result.split_once(' ').unwrap();
            let first = known.entry(id.to_string()).or_insert_with(|| record.to_string());
            assert_eq!(first, record, "seed {seed}: {id} had another result");
        }
        if room.venue.is_over() && room.venue.next_deadline().is_none() {
            break;
        }
        if random.below(60) == 0 {
            room.venue = journal.restore();
            room.venue.resume(room.now);
            cuts += 1;
            continue;
        }
        for (place, manner) in manners.iter().enumerate() {
            let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "get_assigned_matches", "params": {"referee_id": format!("REF{:02}", place + 2)}});
            if matches!(manner, Manner::Polls) && random.below(8) == 0 {
                let matches = room.send(&ask.to_string())["result"]["matches"].take();
                for one in matches.as_array().into_iter().flatten() {
                    let id = MatchId::read(one["match_id"].as_str().unwrap()).unwrap();
                    room.send(&report(id, one["player_B_id"].clone(), Value::Null));
                }
            }
        }
        let due = late.iter().position(|(at, _)| *at <= room.now.ms);
        if let Some(due) = due {
            let (_, body) = late.remove(due);
            room.send(&body);
        }
        let lines: Vec<u16> =
            (0..players).filter(|&line| room.carry_out(line) || room.venue.call(line).is_some()).collect();
        let open = lines.into_iter().filter_map(|line| {
            let call = room.venue.call(line)?;
            let (port, id) = (call.to.endpoint()?.port, call.id);
            // What is settled has no words any more.
            let mut buf = [0; 8192];
            let mut sink = crate::json::Slice::new(&mut buf);
            room.venue.write_call(line, &mut sink).ok()?;
            Some((line, port, id, serde_json::from_slice::<Value>(sink.written()).unwrap()))
        });
        let mut open: Vec<_> = open.collect();
        open.retain(|(_, port, ..)| *port > 8100 || !matches!(manners[usize::from(port - 8001)], Manner::Silent));
        if open.is_empty() {
            let Some(at) = room.venue.next_deadline() else { continue };
            let at = late.iter().map(|(at, _)| *at).chain([at]).min().unwrap().max(room.now.ms + 1);
            room.now = Now { ms: at, utc: room.now.utc_at(at) };
            room.venue.handle(room.now, Event::Tick);
            continue;
        }
        let (line, port, id, call) = open.swap_remove(random.below(open.len() as u64) as usize);
        if port > 8100 {
            room.answer(line, perfect(line, &call).unwrap());
            continue;
        }
        let place = usize::from(port - 8001);
        let params = &call["params"];
        let one = params["matches"].get(0).unwrap_or(params);
        let of = one["match_id"].as_str().and_then(MatchId::read);
        let (ok, token) = (json!({"jsonrpc": "2.0", "result": {}, "id": id}), tokens[place].clone());
        let tell = |room: &mut Room, winner: &Value| {
            of.map(|of| room.send(&report(of, winner.clone(), token.clone())));
        };
        match manners[place] {
            Manner::Unreachable => {
                room.venue.handle(room.now, Event::Failed { player: line, call: id, failure: Failure::Unreachable });
                continue;
            }
            Manner::Sound => tell(&mut room, &one["player_A_id"]),
            Manner::Wavers => {
                tell(&mut room, &Value::Null);
                tell(&mut room, &one["player_B_id"]);
            }
            Manner::Babbles => tell(&mut room, &json!("nobody")),
            Manner::Late => {
                let after = room.now.ms + 60_000 + random.below(5_000);
                of.into_iter().for_each(|of| late.push((after, report(of, one["player_A_id"].clone(), token.clone()))));
            }
            Manner::Deaf => {
                room.answer(line, json!({"jsonrpc": "2.0", "error": {"code": -32601, "message": "?"}, "id": id}));
                continue;
            }
            Manner::Silent | Manner::Polls => {}
        }
        if room.venue.call(line).is_some_and(|call| call.id == id) {
            room.answer(line, ok);
        }
    }
    let matches = usize::from(players * (players - 1) / 2);
    assert_eq!((known.len(), room.venue.status().matches_completed as usize), (matches, matches), "seed {seed}");
    // The table follows from the results.
    let mut points = std::collections::BTreeMap::<AgentId, u16>::new();
    for id in (1..=room.venue.schedule().rounds()).flat_map(|round| room.venue.matches_of(round)) {
        let Some(record) = room.venue.record(id).copied() else { continue };
        let seated = (0..).zip(room.venue.seated_at(id));
        seated.for_each(|(seat, (player, _))| *points.entry(player).or_default() += record.verdict(seat).points());
    }
    room.venue.refresh_standings();
    for row in room.venue.standings() {
        assert_eq!(row.points, points[&row.player_id.0], "seed {seed}");
    }
    let elsewhere = known.keys().filter(|id| room.venue.referee_of(MatchId::read(id).unwrap()) != OUR_REFEREE).count();
    (elsewhere, cuts)
}

#[test]
fn leagues_with_referees_of_all_manners_and_power_cuts_end_with_one_result_of_each_match() {
    let (mut elsewhere, mut cuts) = (0, 0);
    for seed in 0..300 {
        let (given, cut) = simulate(seed);
        elsewhere += given;
        cuts += cut;
    }
    assert!(elsewhere > 200 && cuts > 200, "{elsewhere} {cuts}");
}
