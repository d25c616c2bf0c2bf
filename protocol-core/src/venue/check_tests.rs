//! Test calls: what they find, that they count for nothing, and that nothing waits for them.

extern crate std;

use std::vec::Vec;

use serde_json::json;

use super::held_tests::log;
use super::tests::{Room, perfect};
use super::*;

fn ready(room: &Room, player: usize) -> Ready {
    room.venue.players()[player].ready()
}

#[test]
fn any_answer_of_an_agent_to_a_ping_says_that_it_is_there_and_after_how_long() {
    let unknown = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
    for (status, body) in [
        (200, &b"what?"[..]),
        (204, b""),
        (200, unknown),
        // A few say it with the status too, or leave it to their framework.
        (404, unknown),
        (400, br#"{"detail":"There was an error parsing the body"}"#),
        (422, br#"{"detail":[{"loc":["body","params","match_id"],"msg":"Field required"}]}"#),
        (500, b"Internal Server Error"),
    ] {
        let mut room = Room::with_players(2);
        let before = room.venue.players()[0].compliance.total();
        assert_eq!(ready(&room, 0), Ready::Unknown);
        room.venue.check(room.now, 1).unwrap();
        assert_eq!((ready(&room, 0), ready(&room, 1)), (Ready::Asked, Ready::Unknown));
        let call = room.call(0).unwrap();
        assert_eq!((&call["method"], &call["jsonrpc"]), (&json!("ping"), &json!("2.0")));
        assert!(call["id"].is_number());
        // A player that looks at the type of every message finds one.
        let message = &call["params"];
        for (field, value) in [("message_type", "PING"), ("protocol", "league.v2"), ("sender", "league_manager")] {
            assert_eq!(message[field], value);
        }
        for field in ["timestamp", "conversation_id", "auth_token", "league_id"] {
            assert!(message[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {message}");
        }
        room.now.ms += 40;
        let id = room.venue.call(0).unwrap().id;
        room.venue.handle(room.now, Event::Reply { player: 0, call: id, status, body });
        assert_eq!(ready(&room, 0), Ready::Yes(40), "{status}");
        assert_eq!(room.venue.players()[0].compliance.total(), before, "a test breaks no rule");
        assert!(room.venue.call(0).is_none());
        assert_eq!(room.venue.next_deadline(), None);
    }
}

#[test]
fn a_server_without_an_agent_at_this_address_is_not_ready_and_the_log_says_why() {
    for (status, body) in [
        (404, &br#"{"detail":"Not Found"}"#[..]),
        (404, b"<!doctype html><title>404 Not Found</title>"),
        (404, br#"{"error":"not found"}"#),
        (405, br#"{"detail":"Method Not Allowed"}"#),
        (307, b""),
        (403, b""),
        (501, b"Unsupported method ('POST')"),
        (502, b"Bad Gateway"),
    ] {
        let mut room = Room::with_players(2);
        let before = room.venue.players()[0].compliance.total();
        room.venue.check(room.now, 1).unwrap();
        let call = room.venue.call(0).unwrap().id;
        room.venue.handle(room.now, Event::Reply { player: 0, call, status, body });
        assert_eq!(ready(&room, 0), Ready::Astray(status));
        assert_eq!(room.venue.players()[0].compliance.total(), before, "a test breaks no rule");
        assert!(log(&room).contains("contact_endpoint has the wrong path"), "{}", log(&room));
        // Its path is put right, and it is ready.
        room.venue.check(room.now, 1).unwrap();
        let call = room.venue.call(0).unwrap().id;
        room.venue.handle(room.now, Event::Reply { player: 0, call, status: 200, body: b"{}" });
        assert_eq!(ready(&room, 0), Ready::Yes(0));
    }
}

#[test]
fn a_page_too_long_to_be_read_says_by_its_status_that_no_agent_is_there() {
    let mut room = Room::with_players(2);
    for (failure, found) in [(Failure::Status(404), Ready::Astray(404)), (Failure::Unreadable, Ready::Yes(0))] {
        room.venue.check(room.now, 1).unwrap();
        let call = room.venue.call(0).unwrap().id;
        room.venue.handle(room.now, Event::Failed { player: 0, call, failure });
        assert_eq!(ready(&room, 0), found);
    }
}

#[test]
fn a_player_that_cannot_be_reached_or_says_nothing_is_not_ready_and_is_not_blamed() {
    let mut room = Room::with_players(2);
    let before: Vec<_> = room.venue.players().iter().map(|player| player.compliance.total()).collect();
    room.venue.check(room.now, 1).unwrap();
    let call = room.venue.call(0).unwrap().id;
    room.venue.handle(room.now, Event::Failed { player: 0, call, failure: Failure::Unreachable });
    assert_eq!(ready(&room, 0), Ready::No);
    room.venue.check(room.now, 2).unwrap();
    room.run(|_, _| None);
    assert_eq!(ready(&room, 1), Ready::No);
    assert!(room.now.ms <= 10_000);
    for (player, before) in room.venue.players().iter().zip(before) {
        assert_eq!((player.compliance.total(), player.state), (before, AgentState::Registered));
        assert!(!player.breaker.is_open());
    }
}

#[test]
fn a_test_gives_way_to_the_league_and_no_invitation_waits_for_it() {
    let mut room = Room::with_players(2);
    room.venue.check(room.now, 1).unwrap();
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(room.call(0).unwrap()["params"]["message_type"], "ROUND_ANNOUNCEMENT");
    assert_eq!(ready(&room, 0), Ready::Unknown);
    assert!(matches!(room.venue.check(room.now, 1), Err(Denied::Now(_))), "the line is busy");
    room.run(perfect);
    assert!(room.venue.is_over());
    room.venue.check(room.now, 1).unwrap();
    room.run(perfect);
    assert_eq!(ready(&room, 0), Ready::Yes(0), "a perfect player finds a type in it, and answers");
}

#[test]
fn a_player_that_is_removed_while_others_are_tested_takes_nobody_with_it() {
    let mut room = Room::with_players(3);
    room.venue.check(room.now, 2).unwrap();
    room.venue.check(room.now, 3).unwrap();
    room.venue.remove(room.now, 1).unwrap();
    while room.venue.poll_output().is_some() {}
    assert!(room.venue.call(0).is_none() && room.venue.call(1).is_none());
    assert_eq!(room.venue.next_deadline(), None);
    room.venue.check(room.now, 3).unwrap();
    assert_eq!(room.venue.poll_output(), Some(Output::Line(1)));
    assert_eq!(room.call(1).unwrap()["method"], "ping");
}

#[test]
fn nobody_is_called_who_is_not_there_to_be_called() {
    let mut room = Room::with_players(2);
    assert_eq!(room.venue.check(room.now, 9), Err(Denied::Player));
    room.venue.command(room.now, Command::Start).unwrap();
    room.venue.remove(room.now, 2).unwrap();
    assert!(matches!(room.venue.check(room.now, 2), Err(Denied::Now(_))));
}
