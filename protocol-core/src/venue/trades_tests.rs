//! The Bazaar in the venue: acts that nobody asked for, in every protocol, on film and through a power cut.

extern crate std;

use std::format;
use std::string::ToString;
use std::vec::Vec;

use serde_json::{Value, json};

use super::arena_tests::{duel, last, types};
use super::film_tests::{steps, taken_of};
use super::restart_tests::Pieces;
use super::tests::{Room, config, perfect};
use super::*;
use crate::games::{Game, GameKind};

const ID: MatchId = MatchId { round: 1, table: 1 };

fn bazaar() -> Room {
    let mut room = Room::new(Config { game: GameKind::named("trade_deal").unwrap(), ..config() });
    room.venue.keep_facts();
    for (i, name) in ["Ada", "Bob"].into_iter().enumerate() {
        room.register(name, 8101 + i as u16);
    }
    room.venue.command(room.now, Command::Start).unwrap();
    room
}

fn moving(call: &Value, wanted: Value) -> Value {
    json!({"jsonrpc": "2.0", "result": {"move": wanted}, "id": call["id"]})
}

fn state(call: &Value) -> &Value {
    &call["params"]["game_state"]["game_specific_state"]
}

/// What a player sees of itself: its id, what it holds, what it wants.
fn own(state: &Value) -> (&str, &Value, &Value) {
    let (id, held) = state["resources"].as_object().unwrap().iter().find(|(_, held)| !held.is_null()).unwrap();
    (id, held, &state["goals"][id])
}

/// One who answers by acts and then by a message: it accepts whatever helps it, and proposes once it knows what the other wants.
fn trader(call: &Value, wish: &mut [Option<(std::string::String, i64)>; 2], player: u16) -> Value {
    let state = state(call);
    let (me, held, goal) = own(state);
    let resource = goal["resource"].as_str().unwrap();
    let missing = goal["amount"].as_i64().unwrap() - held[resource].as_i64().unwrap();
    wish[usize::from(player)] = Some((resource.into(), missing));
    if state["pending"].is_object() && state["pending"]["player"] != me {
        return json!({"accept": true});
    }
    match &wish[usize::from(player) ^ 1] {
        Some((other, many)) if missing > 0 && state["pending"].is_null() => {
            json!({"propose": {"offer": {other: many}, "request": {resource: missing}}})
        }
        _ => json!({"text": format!("I am looking for {missing} {resource}.")}),
    }
}

/// Plays by [`trader`]; what was asked, and the film.
fn trade(room: &mut Room, journal: &mut Pieces) -> (Vec<Value>, Vec<u8>) {
    let (mut wish, mut asked, mut film) = (Default::default(), Vec::new(), Vec::new());
    for _ in 0..200 {
        journal.keep(&mut room.venue);
        film.extend(taken_of(&mut room.venue, 300));
        while room.venue.poll_output().is_some() {}
        for player in 0..2 {
            room.carry_out(player);
            let Some(call) = room.call(player) else { continue };
            let reply = match call["params"]["message_type"].as_str() {
                Some("MOVE_REQUEST") => moving(&call, trader(&call, &mut wish, player)),
                _ => perfect(player, &call).unwrap(),
            };
            room.answer(player, reply);
            asked.push(call["params"].clone());
        }
    }
    film.extend(taken_of(&mut room.venue, 300));
    (asked, film)
}

#[test]
fn who_answers_by_an_act_is_asked_again_until_it_has_said_something() {
    let (mut room, mut journal) = (bazaar(), Pieces::default());
    let (asked, film) = trade(&mut room, &mut journal);
    let questions: Vec<_> = asked.iter().filter(|one| one["message_type"] == "MOVE_REQUEST").collect();
    assert_eq!(questions.len(), 12, "ten messages, a proposal and its acceptance");
    assert!(asked.iter().all(|one| one["message_type"] != "GAME_ERROR"));
    let record = room.venue.record(ID).expect("nobody looks on, so nobody votes");
    assert_eq!([0, 1].map(|seat| record.verdict(seat).points()), [1, 1], "both have what they wanted");
    let deeds: Vec<_> = steps(&film)
        .filter_map(|step| match step.deed {
            Deed::Moved { seat, made, .. } => Some((seat, serde_json::from_str::<Value>(made).unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(deeds.len(), 12, "acts are on film like moves");
    assert!(deeds[1].1["propose"].is_object() && deeds[3].1 == json!({"accept": true}), "{deeds:?}");
    let mut replay = room.venue.replay_of(ID).unwrap();
    steps(&film).for_each(|step| replay.follow(&step).unwrap());
    assert_eq!(replay.game.digest(), record.digest, "and lead to the same end");
}

#[test]
fn a_tie_is_voted_on_while_somebody_looks_on_and_a_power_cut_loses_neither_votes_nor_goods() {
    let (mut room, mut journal) = (bazaar(), Pieces::default());
    room.venue.set_watched(true);
    let (_, mut film) = trade(&mut room, &mut journal);
    assert_eq!(room.venue.poll(room.now, ID).unwrap().left_ms, Some(60_000));
    let from = core::net::IpAddr::from([10, 0, 1, 1]);
    room.venue.vote(room.now, ID, Voter::Page("a"), from, 1).unwrap();
    journal.keep(&mut room.venue);
    let before = room.venue.table(ID).unwrap().play.game().digest();
    room.venue = journal.restore();
    room.venue.set_watched(true);
    room.venue.resume(room.now);
    assert_eq!(room.venue.table(ID).unwrap().play.game().digest(), before);
    room.now.ms += 60_000;
    room.venue.handle(room.now, Event::Tick);
    let record = *room.venue.record(ID).unwrap();
    assert_eq!([0, 1].map(|seat| record.verdict(seat).points()), [0, 3]);
    film.extend(taken_of(&mut room.venue, 300));
    let mut replay = room.venue.replay_of(ID).unwrap();
    steps(&film).for_each(|step| replay.follow(&step).unwrap());
    assert_eq!(replay.game.digest(), record.digest);
}

/// Both have joined, and the first is asked.
fn asked() -> Room {
    let mut room = bazaar();
    while !(0..2).any(|player| room.call(player).is_some_and(|call| call["params"]["message_type"] == "MOVE_REQUEST")) {
        for player in 0..2 {
            if let Some(call) = room.call(player) {
                room.answer(player, perfect(player, &call).unwrap());
            }
        }
    }
    room
}

/// A message that a player of league.v2 sends by itself.
fn sends(room: &mut Room, player: u16, wanted: Value) -> Value {
    let (id, issue) = (room.venue.players()[usize::from(player)].id(), room.venue.players()[usize::from(player)].issue);
    let token = room.venue.token(id, issue).to_string();
    let body = json!({"jsonrpc": "2.0", "method": "move_response", "id": 7, "params": {"protocol": "league.v2",
        "message_type": "MOVE_RESPONSE", "sender": format!("player:{id}"), "timestamp": "2025-01-15T10:05:00Z",
        "auth_token": token, "match_id": "R1M1", "move": wanted}});
    let answer = room.send(&body.to_string());
    answer.get("result").cloned().unwrap_or(answer)
}

#[test]
fn a_player_of_league_v2_acts_by_a_message_of_its_own_whoever_is_asked() {
    let mut room = asked();
    let line = (0..2).find(|&player| room.venue.is_thinking(player)).unwrap();
    let (open, deadline) = (room.venue.call(line).unwrap().id, room.venue.next_deadline());
    let deal = json!({"propose": {"offer": {"gold": 1}, "request": {"iron": 1}}});
    assert_eq!(sends(&mut room, line ^ 1, deal.clone())["status"], "RECEIVED", "it is not its turn");
    assert_eq!(sends(&mut room, line, json!({"reject": true}))["status"], "RECEIVED", "it is asked, and is so still");
    assert_eq!(sends(&mut room, line, deal)["status"], "RECEIVED");
    let refused = sends(&mut room, line, json!({"accept": true}));
    assert!(refused.to_string().contains("Cannot accept your own trade proposal"), "{refused}");
    assert_eq!((room.venue.call(line).unwrap().id, room.venue.next_deadline()), (open, deadline), "nothing has moved");
    let call = room.call(line).unwrap();
    assert_eq!(call["params"]["message_type"], "MOVE_REQUEST");
    room.answer(line, moving(&call, json!({"text": "Well?"})));
    assert_eq!(room.venue.table(ID).unwrap().play.game().turn(), 2);
    assert!(sends(&mut room, line, json!({"text": "And another word"})).to_string().contains("not your turn"));
}

#[test]
fn an_act_that_is_refused_as_an_answer_is_a_wrong_answer() {
    let mut room = asked();
    let line = (0..2).find(|&player| room.venue.is_thinking(player)).unwrap();
    let call = room.call(line).unwrap();
    room.answer(line, moving(&call, json!({"accept": true})));
    let told = room.call(line).unwrap();
    assert_eq!(told["params"]["message_type"], "GAME_ERROR");
    assert!(told.to_string().contains("there is no pending trade"), "{told}");
}

#[test]
fn an_agent_of_league_of_agents_acts_at_any_time_and_both_hear_how_it_stands() {
    let (mut room, mut ada, mut bob, id) = duel("trade_deal");
    let deal = json!({"propose": {"offer": {"gold": 1}, "request": {"iron": 1}}});
    assert_eq!(room.plays(&bob, &id, deal), json!({"type": "move_result", "success": true}));
    for ear in [&mut ada, &mut bob] {
        let heard = room.hears(ear);
        assert_eq!(types(&heard), ["game_state"]);
        assert!(last(&heard, "game_state").to_string().contains(r#""offer":{"gold":1}"#), "{heard:?}");
    }
    assert_eq!(room.plays(&bob, &id, json!({"text": "Me first"}))["success"], false);
    assert_eq!(room.plays(&ada, &id, json!({"accept": true}))["success"], true);
    assert_eq!(types(&room.hears(&mut ada)), ["game_state", "your_turn"], "it still owes its move");
    assert_eq!(room.plays(&ada, &id, json!({"text": "A pleasure."}))["success"], true);
    assert_eq!(types(&room.hears(&mut bob)), ["thinking", "turn_update", "game_state", "your_turn"]);
}

#[test]
fn an_answer_that_crosses_an_act_of_the_other_costs_nothing_and_is_asked_for_again() {
    let mut room = asked();
    let line = (0..2).find(|&player| room.venue.is_thinking(player)).unwrap();
    let deal = json!({"propose": {"offer": {"gold": 1}, "request": {"iron": 1}}});
    for _ in 0..4 {
        // It sees a proposal, which is withdrawn while it answers.
        sends(&mut room, line ^ 1, deal.clone());
        let call = room.call(line).unwrap();
        assert_eq!(call["params"]["message_type"], "MOVE_REQUEST");
        sends(&mut room, line ^ 1, json!({"reject": true}));
        room.answer(line, moving(&call, json!({"accept": true})));
    }
    assert_eq!(sends(&mut room, line ^ 1, deal)["status"], Value::Null, "four are enough");
    let call = room.call(line).unwrap();
    assert_eq!(call["params"]["message_type"], "MOVE_REQUEST");
    room.answer(line, moving(&call, json!({"accept": true})));
    assert_eq!(room.call(line).unwrap()["params"]["message_type"], "GAME_ERROR", "now nothing has changed");
}
