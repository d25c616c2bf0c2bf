//! Other people's referees: how they register, what their reports do, and that they hear the end.

extern crate std;

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::restart_tests::Pieces;
use super::tests::{Room, config, perfect};
use super::*;
use crate::protocols;
use crate::protocols::league_v2::Dialect;

/// A flat registration, as it is posted to `/register`.
fn flat(agent_type: &str, name: &str, port: u16) -> String {
    json!({"agent_type": agent_type, "display_name": name, "version": "1.0.0",
        "endpoint": format!("http://localhost:{port}/mcp")})
    .to_string()
}

fn register(room: &mut Room, method: &str, port: u16) -> Value {
    let params = json!({"protocol": "league.v2", "message_type": "REFEREE_REGISTER_REQUEST", "sender": "referee:alpha",
        "timestamp": "2025-01-15T10:05:00Z", "conversation_id": "conv_1", "referee_meta": {
        "display_name": format!("Referee {port}"), "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": format!("http://localhost:{port}/mcp")}});
    let mut answer = room.send(&json!({"jsonrpc": "2.0", "method": method, "id": 1, "params": params}).to_string());
    answer["result"].take()
}

/// The call on any line, a player's or not: the line, where it goes and what it says.
fn calls(room: &Room) -> Vec<(u16, u16, Value)> {
    (0..8)
        .filter_map(|line| {
            let to = room.venue.call(line)?.to.endpoint()?.port;
            Some((line, to, room.call(line)?))
        })
        .collect()
}

#[test]
fn a_referee_that_posts_to_register_takes_no_players_seat() {
    let mut room = Room::new(config());
    let (referee, caller) = room.send_via(Via::Register, 9, &flat("referee", "Zebra", 8001));
    assert_eq!((&referee["status"], &referee["referee_id"]), (&json!("ACCEPTED"), &json!("REF02")), "{referee}");
    assert_eq!((&referee["message_type"], caller), (&json!("REFEREE_REGISTER_RESPONSE"), None));
    assert!(room.venue.players().is_empty());
    // The next one is a player, by the same way.
    let (player, _) = room.send_via(Via::Register, 9, &flat("player", "Ada", 8101));
    assert_eq!((&player["player_id"], room.venue.players().len()), (&json!("P01"), 1), "{player}");
}

#[test]
fn who_is_turned_away_at_register_hears_it_by_the_status_and_is_given_an_empty_id() {
    let mut room = Room::new(config());
    let mut status = |body: &str| {
        let from = core::net::Ipv4Addr::new(10, 0, 0, 9).into();
        let answer = room.venue.request(room.now, from, Via::Register, body.as_bytes());
        answer.status()
    };
    assert_eq!(status(&flat("player", "Ada", 8101)), 200);
    assert_eq!(status(&flat("referee", "Zebra", 8001)), 200);
    assert_eq!(status(&flat("player", "Ada", 8102)), 409, "the name is taken");
    assert_eq!(status(r#"{"display_name":"Bob"}"#), 400, "no endpoint");
    assert_eq!(status("{"), 400);
    let game = r#"{"display_name":"Bob","endpoint":"http://localhost:1/","game_types":["go"]}"#;
    assert_eq!(status(game), 400);
    let (rejected, _) = room.send_via(Via::Register, 9, &flat("player", "Ada", 8102));
    assert_eq!((&rejected["status"], &rejected["player_id"]), (&json!("REJECTED"), &json!("")), "{rejected}");
    let (rejected, _) = room.send_via(Via::Register, 9, r#"{"agent_type":"referee"}"#);
    assert_eq!((&rejected["status"], &rejected["referee_id"]), (&json!("REJECTED"), &json!("")), "{rejected}");
    assert_eq!(rejected.get("player_id"), None);
    room.register("Bob", 8103);
    room.venue.command(room.now, Command::Start).unwrap();
    let late = room.venue.request(
        room.now,
        core::net::Ipv4Addr::new(10, 0, 0, 9).into(),
        Via::Register,
        flat("player", "Eve", 8104).leak().as_bytes(),
    );
    assert_eq!(late.status(), 409, "the league has begun");
}

#[test]
fn a_referees_report_is_acknowledged_and_changes_nothing() {
    let mut room = Room::with_players(2);
    let referee = register(&mut room, "register_referee", 8001);
    room.venue.command(room.now, Command::Start).unwrap();
    let player = room.venue.token(AgentId::Player(1), 1).to_string();
    let report = |token: Value| {
        json!({"jsonrpc": "2.0", "method": "report_match_result", "id": 3, "params": {
            "message_type": "MATCH_RESULT_REPORT", "match_id": "R1M1", "auth_token": token,
            "result": {"winner": "P01", "score": {"P01": 3, "P02": 0}}}})
        .to_string()
    };
    // Some send no token.
    for token in [referee["auth_token"].clone(), Value::Null] {
        let answer = room.send(&report(token))["result"].take();
        assert_eq!((&answer["message_type"], &answer["status"]), (&json!("MATCH_RESULT_ACK"), &json!("recorded")));
        assert_eq!(answer["match_id"], "R1M1");
        assert!(answer["reason"].as_str().unwrap().contains("changes no result"), "{answer}");
    }
    assert_eq!(room.send(&report(json!("tok_ref02_00")))["result"]["error_code"], "E012");
    assert_eq!(room.send(&report(json!(player)))["result"]["status"], "IGNORED", "a player is no referee");
    assert_eq!((room.venue.status().matches_completed, room.venue.status().running_matches), (0, 1));
    assert!(room.venue.record(MatchId { round: 1, table: 1 }).is_none());
    assert!(super::held_tests::log(&room).contains("A referee reported a match"));
}

#[test]
fn referees_hear_the_end_in_their_dialect_when_all_players_have() {
    let mut room = Room::with_players(2);
    for (method, port) in [("register_referee", 8001), ("REFEREE_REGISTER_REQUEST", 8002)] {
        assert_eq!(register(&mut room, method, port)["status"], "ACCEPTED");
    }
    // One dials in, or gave no address: nobody can call it.
    let held = json!({"jsonrpc": "2.0", "method": "register_referee", "id": 1, "params": {"display_name": "Held"}});
    assert_eq!(room.send_via(Via::Held, 9, &held.to_string()).0["result"]["status"], "ACCEPTED");
    room.venue.command(room.now, Command::Start).unwrap();
    let mut told = Vec::new();
    for _ in 0..1000 {
        while room.venue.poll_output().is_some() {}
        let Some((line, to, call)) = calls(&room).into_iter().next() else { break };
        if to < 8100 {
            assert!(room.venue.is_over(), "the players come first, and the league does not wait");
            assert!(room.venue.has_errands());
            told.push((to, call["method"].as_str().unwrap().to_string()));
            assert_eq!(call["params"]["message_type"], "LEAGUE_COMPLETED");
            assert_eq!(call["params"]["final_standings"].as_array().unwrap().len(), 2);
        }
        room.answer(line, perfect(line, &call).unwrap());
    }
    assert_eq!(told, [(8001, "notify_league_completed".to_string()), (8002, "LEAGUE_COMPLETED".to_string())]);
    assert!(!room.venue.has_errands());
    assert_eq!(room.venue.next_deadline(), None);
}

#[test]
fn a_referee_that_does_not_answer_costs_two_seconds_and_all_together_ten() {
    let mut room = Room::with_players(2);
    (0..8).for_each(|port| assert_eq!(register(&mut room, "register_referee", 8001 + port)["status"], "ACCEPTED"));
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(perfect);
    assert!(!room.venue.has_errands());
    assert_eq!(room.now.ms, 10_000);
    let sent = (0..u64::MAX).map_while(|number| room.venue.log().at_or_after(number).filter(|(at, _)| *at == number));
    let to_referees = sent.filter(|(_, entry)| {
        let to_referee = matches!(entry.agent, Some(AgentId::Referee(_)));
        to_referee && matches!(entry.what, Happening::Sent(_))
    });
    assert_eq!(to_referees.count(), 5, "five had their two seconds");
}

#[test]
fn a_referee_that_is_out_of_reach_or_knows_the_end_by_another_name_is_told_all_the_same() {
    let mut room = Room::with_players(2);
    (0..3).for_each(|port| assert_eq!(register(&mut room, "register_referee", 8001 + port)["status"], "ACCEPTED"));
    room.venue.command(room.now, Command::Start).unwrap();
    let mut methods = Vec::new();
    for _ in 0..1000 {
        while room.venue.poll_output().is_some() {}
        let Some((line, to, call)) = calls(&room).into_iter().next() else { break };
        let id = room.venue.call(line).unwrap().id;
        match to {
            8001 => {
                let failure = Failure::Unreachable;
                room.venue.handle(room.now, Event::Failed { player: line, call: id, failure });
            }
            8002 => {
                methods.push(call["method"].clone());
                room.answer(line, json!({"jsonrpc": "2.0", "error": {"code": -32601, "message": "?"}, "id": id}));
            }
            _ => room.answer(line, perfect(line, &call).unwrap()),
        }
    }
    assert_eq!(methods, ["notify_league_completed", "league_completed"]);
    assert!(!room.venue.has_errands());
}

#[test]
fn a_rematch_waits_for_no_referee_and_nothing_is_left_of_its_errand() {
    let mut room = Room::with_players(2);
    assert_eq!(register(&mut room, "register_referee", 8001)["status"], "ACCEPTED");
    room.venue.command(room.now, Command::Start).unwrap();
    while !room.venue.is_over() {
        while room.venue.poll_output().is_some() {}
        let (line, _, call) = calls(&room).into_iter().next().unwrap();
        room.answer(line, perfect(line, &call).unwrap());
    }
    let (line, to, _) = calls(&room).pop().unwrap();
    assert_eq!((to, usize::from(line)), (8001, 7), "a line without a player");
    while room.venue.poll_output().is_some() {}
    room.venue.command(room.now, Command::Rematch).unwrap();
    assert!(!room.venue.has_errands() && room.venue.call(line).is_none());
    let mut named = Vec::new();
    while let Some(Output::Line(changed)) = room.venue.poll_output() {
        named.push(changed);
    }
    assert!(named.contains(&line), "the line is told to hang up: {named:?}");
}

#[test]
fn in_a_full_house_the_line_of_a_player_that_is_done_carries_the_end_and_gives_way() {
    let mut room = Room::with_players(8);
    assert_eq!(register(&mut room, "register_referee", 8001)["status"], "ACCEPTED");
    room.venue.command(room.now, Command::Start).unwrap();
    while !room.venue.is_over() {
        while room.venue.poll_output().is_some() {}
        let (line, _, call) = calls(&room).into_iter().next().unwrap();
        room.answer(line, perfect(line, &call).unwrap());
    }
    let (line, to, _) = calls(&room).pop().unwrap();
    assert_eq!(to, 8001);
    // The owner looks whether that player is there: its own call comes first.
    let number = room.venue.players()[usize::from(line)].number;
    room.venue.check(room.now, number).unwrap();
    assert_eq!(room.call(line).unwrap()["method"], "ping");
    room.answer(line, json!({"jsonrpc": "2.0", "result": {}, "id": 1}));
    assert_eq!(calls(&room).pop().map(|(_, to, _)| to), Some(8001));
}

#[test]
fn a_referees_dialect_outlives_a_power_cut() {
    let mut room = super::restart_tests::room(2);
    register(&mut room, "REFEREE_REGISTER_REQUEST", 8001);
    let mut journal = Pieces::default();
    journal.keep(&mut room.venue);
    assert_eq!(protocols::referees(&journal.restore()).next().unwrap().dialect, Dialect::MessageType as u8);
}

/// A registration by message type, and a match of its players that waits for their acknowledgement.
fn invited(id: &str, version: Option<&str>) -> (Room, Value) {
    let mut room = Room::new(config());
    let mut last = Value::Null;
    for (name, port) in [("Ada", 8101), ("Bob", 8102)] {
        let mut meta = json!({"display_name": name, "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": format!("http://localhost:{port}/mcp")});
        if let Some(version) = version {
            meta["protocol_version"] = json!(version);
        }
        let call = json!({"jsonrpc": "2.0", "method": "LEAGUE_REGISTER_REQUEST", "id": id, "params": {
            "protocol": "league.v2", "player_meta": meta}});
        last = room.send(&call.to_string())["result"].take();
    }
    room.venue.command(room.now, Command::Start).unwrap();
    for player in 0..2 {
        while room.call(player).unwrap()["params"]["message_type"] != "GAME_INVITATION" {
            room.answer(player, json!({"jsonrpc": "2.0", "result": {"status": "ok"}, "id": 1}));
        }
    }
    (room, last)
}

const UUID: &str = "0b7c4a4e-1d9e-4b57-9a6e-0d5f7a1c2b3d";

#[test]
fn who_registers_by_type_with_a_uuid_and_a_protocol_version_reads_registered_and_all_others_accepted() {
    for (id, version, status) in [
        (UUID, Some("2.1.0"), "REGISTERED"),
        (UUID, None, "ACCEPTED"),
        ("7", Some("2.1.0"), "ACCEPTED"),
        ("0b7c4a4e-1d9e-4b57-9a6e-0d5f7a1c2b3dx", Some("2.1.0"), "ACCEPTED"),
        ("0b7c4a4e11d9e-4b57-9a6e-0d5f7a1c2b3d", Some("2.1.0"), "ACCEPTED"),
    ] {
        assert_eq!(invited(id, version).1["status"], status, "{id} {version:?}");
    }
}

#[test]
fn an_answer_without_a_token_is_taken_from_the_players_address_for_its_match() {
    let ack = |kind: &str, player: &str, at: &str| {
        json!({"jsonrpc": "2.0", "method": kind, "id": 1, "params": {
            "message_type": kind, "sender": player, "match_id": at, "accept": true, "parity_choice": "even"}})
        .to_string()
    };
    let (mut room, _) = invited(UUID, Some("2.1.0"));
    let code = |answer: Value| answer["result"]["error_code"].clone();
    assert_eq!(code(room.send_via(Via::Post, 8, &ack("GAME_JOIN_ACK", "P01", "R1M1")).0), "E011", "from elsewhere");
    assert_eq!(code(room.send(&ack("GAME_JOIN_ACK", "P01", "R2M1"))), "E013", "another match");
    assert_eq!(code(room.send(&ack("GAME_JOIN_ACK", "P07", "R1M1"))), "E011", "nobody");
    let wrong = ack("GAME_JOIN_ACK", "P01", "R1M1").replace("\"accept\"", "\"auth_token\":\"tok_p01_00\",\"accept\"");
    assert_eq!(code(room.send(&wrong)), "E012", "a wrong token is worse than none");
    assert_eq!(room.send(&ack("GAME_JOIN_ACK", "player:P01", "R1M1"))["result"]["status"], "RECEIVED");
    assert_eq!(room.send(&ack("GAME_JOIN_ACK", "P02", "R1M1"))["result"]["status"], "RECEIVED");
}

#[test]
fn an_mcp_client_that_calls_its_endpoint_so_is_invited_by_protocol_message() {
    let mut room = Room::with_players(1);
    let arguments = json!({"display_name": "Client", "endpoint": "http://localhost:8200/mcp"});
    let call = json!({"jsonrpc": "2.0", "method": "tools/call", "id": 1, "params": {
        "name": "register_player", "arguments": arguments}});
    assert!(room.send(&call.to_string())["result"]["content"][0]["text"].as_str().unwrap().contains("ACCEPTED"));
    room.venue.command(room.now, Command::Start).unwrap();
    let announced = room.call(1).unwrap();
    assert_eq!(announced["method"], "protocol/message");
    assert_eq!(announced["params"]["message"]["message_type"], "ROUND_ANNOUNCEMENT");
    room.answer(1, json!({"jsonrpc": "2.0", "result": {"status": "ok"}, "id": 1}));
    let invite = room.call(1).unwrap();
    let message = &invite["params"]["message"];
    assert_eq!((&invite["method"], &message["message_type"]), (&json!("protocol/message"), &json!("GAME_INVITE")));
    assert_eq!((&message["game_id"], &message["match_id"]), (&json!("R1M1"), &json!("R1M1")));
    // Everybody else is invited as before.
    room.answer(0, json!({"jsonrpc": "2.0", "result": {"status": "ok"}, "id": 1}));
    let other = room.call(0).unwrap();
    assert_eq!((&other["params"]["message_type"], other["params"].get("game_id")), (&json!("GAME_INVITATION"), None));
}
