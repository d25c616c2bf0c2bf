//! Players that dial in, as far as the venue has to know: they hold a line instead of being called.

extern crate std;

use std::format;
use std::string::{String, ToString};

use serde_json::{Value, json};

use super::tests::{Room, config, perfect};
use super::*;

fn registration(name: &str, token: Option<&str>) -> String {
    let mut params = json!({"protocol":"league.v2","message_type":"LEAGUE_REGISTER_REQUEST",
        "sender":format!("player:{name}"),"timestamp":"2025-01-15T10:05:00Z","conversation_id":"conv_1",
        "player_meta":{"display_name":name,"version":"1.0.0","game_types":["even_odd"]}});
    if let Some(token) = token {
        params["auth_token"] = token.into();
    }
    json!({"jsonrpc":"2.0","method":"register_player","id":1,"params":params}).to_string()
}

fn dial_in(room: &mut Room, name: &str, from: u8) -> (Value, Option<u16>) {
    let (mut answer, caller) = room.send_via(Via::Held, from, &registration(name, None));
    (answer["result"].take(), caller)
}

fn token(answer: &Value) -> String {
    answer["auth_token"].as_str().unwrap().to_string()
}

pub(super) fn log(room: &Room) -> String {
    let mut text = String::new();
    let mut at = 0;
    while let Some((number, entry)) = room.venue.log().at_or_after(at) {
        text += &serde_json::to_string(&entry).unwrap();
        at = number + 1;
    }
    text
}

/// Two players that dial in and are there.
pub(super) fn two() -> Room {
    let mut room = Room::new(config());
    for (name, from) in [("Ada", 7), ("Bob", 8)] {
        let (answer, caller) = dial_in(&mut room, name, from);
        assert_eq!(answer["status"], "ACCEPTED");
        room.venue.handle(room.now, Event::Arrived { player: caller.unwrap() });
    }
    room
}

#[test]
fn who_registers_on_a_line_it_holds_needs_no_endpoint_and_plays() {
    let mut room = two();
    assert_eq!(room.register("Eve", 8101)["status"], "ACCEPTED", "beside one that is called");
    assert!(room.venue.players()[0].contact.endpoint().is_none());
    assert!(room.venue.players()[2].contact.endpoint().is_some());
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(perfect);
    assert_eq!(room.venue.status().matches_completed, 3);
    let announced = room.heard.iter().find(|(_, call)| call["params"]["message_type"] == "ROUND_ANNOUNCEMENT").unwrap();
    assert!(announced.1.to_string().contains("\"dials in\""), "{}", announced.1);
}

#[test]
fn an_endpoint_given_on_a_held_line_is_ignored() {
    let mut room = Room::new(config());
    let body = registration("Ada", None).replace("\"version\"", "\"contact_endpoint\":\"nowhere\",\"version\"");
    assert_eq!(room.send_via(Via::Held, 7, &body).1, Some(0));
    assert_eq!(room.venue.players()[0].contact.given(), "");
}

#[test]
fn the_same_name_from_the_same_machine_is_the_same_player_and_from_another_a_duplicate() {
    let mut room = Room::new(config());
    let (first, _) = dial_in(&mut room, "Ada", 7);
    let (again, caller) = dial_in(&mut room, "Ada", 7);
    assert_eq!((token(&again), caller), (token(&first), Some(0)));
    let (other, caller) = dial_in(&mut room, "Ada", 8);
    assert_eq!((other["reason"].as_str(), caller), (Some("Duplicate display name"), None));
}

#[test]
fn whoever_shows_its_token_is_known_by_it() {
    let mut room = two();
    let (answer, _) = dial_in(&mut room, "Bob", 8);
    let token = token(&answer);
    for method in ["ping", "league_query", "parity_choice"] {
        let body =
            json!({"jsonrpc":"2.0","method":method,"id":1,"params":{"auth_token":token,"query_type":"GET_STANDINGS"}});
        assert_eq!(room.send_via(Via::Held, 99, &body.to_string()).1, Some(1), "{method}");
        let body = body.to_string().replace(&token, "tok_p02_no");
        assert_eq!(room.send_via(Via::Held, 99, &body).1, None, "{method}");
    }
    let (again, caller) = room.send_via(Via::Held, 99, &registration("Robert", Some(&token)));
    assert_eq!((again["result"]["auth_token"].as_str(), caller), (Some(token.as_str()), Some(1)), "wherever it is now");
}

#[test]
fn who_was_called_may_dial_in_instead_until_the_league_runs() {
    let mut room = Room::new(config());
    let ada = token(&room.register("Ada", 8101));
    let bob = token(&room.register("Bob", 8102));
    assert_eq!(room.send_via(Via::Held, 7, &registration("Ada", Some(&ada))).1, Some(0));
    assert!(room.venue.players()[0].contact.endpoint().is_none());
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(room.send_via(Via::Held, 7, &registration("Bob", Some(&bob))).1, Some(1));
    assert!(room.venue.players()[1].contact.endpoint().is_some());
}

#[test]
fn a_call_to_who_is_away_waits_for_it_and_is_the_same_when_it_is_back() {
    let mut room = two();
    room.venue.command(room.now, Command::Start).unwrap();
    let open = room.venue.call(0).unwrap().id;
    room.venue.handle(room.now, Event::Gone { player: 0, why: "the connection broke" });
    assert_eq!(room.venue.call(0).map(|call| call.id), Some(open));
    room.venue.handle(room.now, Event::Arrived { player: 0 });
    assert_eq!(room.venue.call(0).map(|call| call.id), Some(open));
    room.run(perfect);
    assert!(!log(&room).contains("E009") && log(&room).contains("the connection broke"));
}

#[test]
fn who_stays_away_loses_as_unreachable_and_who_is_there_and_silent_as_silent() {
    for (away, rule) in [(true, "unreachable"), (false, "no_answer")] {
        let mut room = two();
        room.venue.command(room.now, Command::Start).unwrap();
        if away {
            room.venue.handle(room.now, Event::Gone { player: 0, why: "the connection broke" });
        }
        room.run(|player, call| if player == 0 { None } else { perfect(player, call) });
        let summary = room.venue.status();
        assert_eq!(summary.matches_completed, 1);
        let broken = &room.venue.players()[0].compliance;
        assert!(broken.broken().any(|(found, ..)| found.code() == rule), "{rule}");
    }
}

#[test]
fn who_comes_back_is_called_again_at_once_though_it_was_given_up() {
    let mut room = two();
    (1..=4).for_each(|i| drop(room.register(&format!("Agent {i}"), 8101 + i)));
    room.venue.handle(room.now, Event::Gone { player: 0, why: "the connection broke" });
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(|player, call| if player == 0 { None } else { perfect(player, call) });
    assert!(room.venue.players()[0].breaker.is_open());
    room.venue.handle(room.now, Event::Arrived { player: 0 });
    assert!(!room.venue.players()[0].breaker.is_open());
}

#[test]
fn a_line_is_found_by_its_registration_wherever_it_moves() {
    let mut room = two();
    let (ada, bob) = (room.venue.issue_of_line(0).unwrap(), room.venue.issue_of_line(1).unwrap());
    let (answer, _) = dial_in(&mut room, "Ada", 7);
    let leave = json!({"jsonrpc":"2.0","method":"deregister_player","id":1,"params":{"auth_token":token(&answer)}});
    assert_eq!(room.send_via(Via::Held, 7, &leave.to_string()).1, None, "it is nobody any more");
    assert_eq!((room.venue.line_of(ada), room.venue.line_of(bob)), (None, Some(0)));
}
