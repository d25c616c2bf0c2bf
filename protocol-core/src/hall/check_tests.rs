//! Test calls: what they find, that they count for nothing, and that nothing waits for them.

extern crate std;

use std::vec::Vec;

use serde_json::json;

use super::tests::{Room, perfect};
use super::*;

fn ready(room: &Room, player: usize) -> Ready {
    room.hall.players()[player].ready()
}

#[test]
fn any_answer_to_a_ping_says_that_a_player_is_there_and_after_how_long() {
    let mut room = Room::with_players(2);
    let before = room.hall.players()[0].compliance.total();
    assert_eq!(ready(&room, 0), Ready::Unknown);
    room.hall.check(room.now, 1).unwrap();
    assert_eq!((ready(&room, 0), ready(&room, 1)), (Ready::Asked, Ready::Unknown));
    let call = room.call(0).unwrap();
    assert_eq!((&call["method"], &call["jsonrpc"]), (&json!("ping"), &json!("2.0")));
    assert!(call["id"].is_number());
    room.now.ms += 40;
    let id = room.hall.call(0).unwrap().id;
    room.hall.handle(room.now, Event::Reply { player: 0, call: id, status: 404, body: b"no such page" });
    assert_eq!(ready(&room, 0), Ready::Yes(40));
    assert_eq!(room.hall.players()[0].compliance.total(), before, "a test breaks no rule");
    assert!(room.hall.call(0).is_none());
    assert_eq!(room.hall.next_deadline(), None);
}

#[test]
fn a_player_that_cannot_be_reached_or_says_nothing_is_not_ready_and_is_not_blamed() {
    let mut room = Room::with_players(2);
    let before: Vec<_> = room.hall.players().iter().map(|player| player.compliance.total()).collect();
    room.hall.check(room.now, 1).unwrap();
    let call = room.hall.call(0).unwrap().id;
    room.hall.handle(room.now, Event::Failed { player: 0, call, failure: Failure::Unreachable });
    assert_eq!(ready(&room, 0), Ready::No);
    room.hall.check(room.now, 2).unwrap();
    room.run(|_, _| None);
    assert_eq!(ready(&room, 1), Ready::No);
    assert!(room.now.ms <= 10_000);
    for (player, before) in room.hall.players().iter().zip(before) {
        assert_eq!((player.compliance.total(), player.state), (before, AgentState::Registered));
        assert!(!player.breaker.is_open());
    }
}

#[test]
fn a_test_gives_way_to_the_league_and_no_invitation_waits_for_it() {
    let mut room = Room::with_players(2);
    room.hall.check(room.now, 1).unwrap();
    room.hall.command(room.now, Command::Start).unwrap();
    assert_eq!(room.call(0).unwrap()["params"]["message_type"], "ROUND_ANNOUNCEMENT");
    assert_eq!(ready(&room, 0), Ready::Unknown);
    assert!(matches!(room.hall.check(room.now, 1), Err(Denied::Now(_))), "the line is busy");
    room.run(perfect);
    assert!(room.hall.is_over());
    room.hall.check(room.now, 1).unwrap();
    room.run(perfect);
    assert_eq!(ready(&room, 0), Ready::No, "a perfect player answers what it understands");
}

#[test]
fn a_player_that_is_removed_while_others_are_tested_takes_nobody_with_it() {
    let mut room = Room::with_players(3);
    room.hall.check(room.now, 2).unwrap();
    room.hall.check(room.now, 3).unwrap();
    room.hall.remove(room.now, 1).unwrap();
    while room.hall.poll_output().is_some() {}
    assert!(room.hall.call(0).is_none() && room.hall.call(1).is_none());
    assert_eq!(room.hall.next_deadline(), None);
    room.hall.check(room.now, 3).unwrap();
    assert_eq!(room.hall.poll_output(), Some(Output::Line(1)));
    assert_eq!(room.call(1).unwrap()["method"], "ping");
}

#[test]
fn nobody_is_called_who_is_not_there_to_be_called() {
    let mut room = Room::with_players(2);
    assert_eq!(room.hall.check(room.now, 9), Err(Denied::Player));
    room.hall.command(room.now, Command::Start).unwrap();
    room.hall.remove(room.now, 2).unwrap();
    assert!(matches!(room.hall.check(room.now, 2), Err(Denied::Now(_))));
}
