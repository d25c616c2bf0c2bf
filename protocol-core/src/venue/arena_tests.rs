//! Agents of League of Agents in the venue: what they are told, in which order, and what becomes of what they say.

extern crate std;

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::held_tests::log;
use super::restart_tests::Pieces;
use super::tests::{Room, Small, config, perfect};
use super::*;
use crate::games::Game;
use crate::ids::MatchId;
use crate::json::Slice;
use crate::protocols::league_of_agents::{Cursor, Picture, Reply, Word};
use crate::season::Rule;

/// What was said on the connection of an agent.
#[derive(Default)]
pub(super) struct Ear {
    pub line: u16,
    told: Cursor,
}

impl Room {
    pub(crate) fn enrol(&mut self, name: &str) -> (u16, Value) {
        self.enrol_from(7, name)
    }

    pub(super) fn enrol_from(&mut self, from: u8, name: &str) -> (u16, Value) {
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, from));
        let enrolment = self.venue.enrol(self.now, from, json!({"name": name}).to_string().as_bytes());
        let mut buf = [0; 512];
        let mut sink = Slice::new(&mut buf);
        self.venue.write_enrolment(enrolment, &mut sink).unwrap();
        (enrolment.status(), serde_json::from_slice(sink.written()).unwrap())
    }

    /// Registers an agent and connects it.
    pub(super) fn agent(&mut self, name: &str) -> Ear {
        let (status, answer) = self.enrol(name);
        assert_eq!(status, 201, "{answer}");
        self.connect(answer["apiKey"].as_str().unwrap())
    }

    fn connect(&mut self, key: &str) -> Ear {
        let body = json!({"type": "authenticate", "token": key}).to_string();
        let Reply::Authenticated(issue) = self.venue.hear_arena(self.now, None, body.as_bytes()) else {
            panic!("{key} is no key");
        };
        let line = self.venue.line_of(issue).unwrap();
        self.venue.handle(self.now, Event::Arrived { player: line });
        Ear { line, told: Cursor::default() }
    }

    /// What is answered to a message; nothing where the game answers.
    pub(super) fn says(&mut self, line: Option<u16>, body: &str) -> Value {
        let issue = line.map(|line| self.venue.issue_of_line(line).unwrap());
        let reply = self.venue.hear_arena(self.now, issue, body.as_bytes());
        let mut buf = [0; 1024];
        let mut sink = Slice::new(&mut buf);
        match self.venue.write_reply(reply, self.now.utc, &mut sink) {
            Ok(()) => serde_json::from_slice(sink.written()).unwrap(),
            Err(_) => Value::Null,
        }
    }

    pub(super) fn plays(&mut self, ear: &Ear, game: &str, wanted: Value) -> Value {
        let body = json!({"type": "submit_move", "gameId": game, "move": wanted}).to_string();
        self.says(Some(ear.line), &body)
    }

    pub(super) fn joins(&mut self, ear: &Ear, game: &str) -> Value {
        self.says(Some(ear.line), &json!({"type": "join_queue", "gameType": game}).to_string())
    }

    fn written(&self, word: Word, picture: &Picture) -> Option<Value> {
        let mut buf = std::vec![0; 64 * 1024];
        let mut sink = Slice::new(&mut buf);
        self.venue.write_word(word, picture, &mut sink).ok()?;
        Some(serde_json::from_slice(sink.written()).unwrap())
    }

    /// All that an agent is told now.
    pub(super) fn hears(&mut self, ear: &mut Ear) -> Vec<Value> {
        let mut heard = Vec::new();
        let issue = self.venue.issue_of_line(ear.line).unwrap();
        while let Some(picture) = self.venue.picture_for(self.now, issue) {
            let Some(word) = ear.told.next(&picture) else { break };
            heard.extend(self.written(word, &picture));
            self.venue.word_is_told(self.now, issue, word);
        }
        heard
    }

    fn after(&mut self, ms: u64) {
        self.now.ms += ms;
        self.venue.handle(self.now, Event::Tick);
    }
}

pub(super) fn types(heard: &[Value]) -> Vec<&str> {
    heard.iter().map(|message| message["type"].as_str().unwrap()).collect()
}

pub(super) fn last<'a>(heard: &'a [Value], kind: &str) -> &'a Value {
    heard.iter().rfind(|message| message["type"] == kind).unwrap_or_else(|| panic!("no {kind} in {heard:#?}"))
}

/// Two agents that have just been matched, and the id of their game.
pub(super) fn duel(game: &str) -> (Room, Ear, Ear, String) {
    let mut room = Room::new(config());
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    assert_eq!(room.joins(&ada, game), json!({"type":"queue_status","status":"queued","position":1,"gameType":game}));
    assert_eq!(room.joins(&bob, game), Value::Null);
    let heard = room.hears(&mut ada);
    assert_eq!(types(&heard), ["matched", "game_state", "your_turn"]);
    room.hears(&mut bob);
    let id = heard[0]["gameId"].as_str().unwrap().to_string();
    (room, ada, bob, id)
}

#[test]
fn a_game_of_echo_is_told_in_the_order_of_the_specification() {
    let (mut room, mut ada, mut bob, id) = duel("echo");
    let ids: Vec<String> = {
        let picture = room.venue.picture_for(room.now, room.venue.issue_of_line(ada.line).unwrap()).unwrap();
        let state = room.written(Word::State, &picture).unwrap();
        assert_eq!((&state["status"], &state["round"], &state["maxRounds"]), (&json!("active"), &json!(1), &json!(5)));
        assert_eq!(state["spectatorCount"], 0);
        state["players"].as_array().unwrap().iter().map(|player| player["agentId"].as_str().unwrap().into()).collect()
    };
    for round in 1..=5 {
        let is_last = round == 5;
        assert_eq!(room.plays(&ada, &id, json!({"number": 4 + round})), json!({"type":"move_result","success":true}));
        assert_eq!(
            room.plays(&ada, &id, json!({"number": 1})),
            json!({"type":"move_result","success":false,"error":"You already submitted a move this round."})
        );
        let thinking = json!([{"type":"thinking","agentId":ids[0],"agentName":"Ada","thinking":false}]);
        assert_eq!(json!(room.hears(&mut ada)), thinking);
        assert_eq!(json!(room.hears(&mut bob)), thinking);
        room.now.ms += 1_000;
        assert_eq!(room.plays(&bob, &id, json!({"number": round})), json!({"type":"move_result","success":true}));
        for (ear, other) in [(&mut ada, "Ada"), (&mut bob, "Bob")] {
            let heard = room.hears(ear);
            let end = if is_last { "game_over" } else { "your_turn" };
            assert_eq!(types(&heard), ["thinking", "turn_update", "game_state", end], "{other} in round {round}");
            assert_eq!(heard[0]["agentName"], "Bob");
            assert_eq!(heard[1]["roundSummary"], format!("Round {round}: Ada wins!"));
            assert_eq!(heard[1]["scores"], json!({"Ada": round, "Bob": 0}));
            assert_eq!(heard[2]["status"], if is_last { "completed" } else { "active" });
            if is_last {
                assert_eq!(
                    heard[3],
                    json!({"type":"game_over","totalRounds":5,"duration":5,"rankings":[
                        {"agentId":ids[0],"agentName":"Ada","finalScore":5},
                        {"agentId":ids[1],"agentName":"Bob","finalScore":0}]})
                );
            }
        }
    }
    assert!(room.hears(&mut ada).is_empty());
    let gone = json!({"type":"move_result","success":false,"error":"Game not found or not active."});
    assert_eq!(room.plays(&ada, &id, json!({"number": 1})), gone);
    let [ada, bob] = [0, 1].map(|line| room.venue.players()[line].rating);
    assert!(ada.points() > 1600 && bob.points() < 1400 && ada.games == 1, "{ada:?} {bob:?}");
}

#[test]
fn a_game_of_the_ladder_is_a_match_of_round_zero_to_whoever_watches() {
    let (mut room, mut ada, mut bob, id) = duel("echo");
    let game = MatchId { round: 0, table: 1 };
    assert!(room.venue.tables().next().is_none() && room.venue.all_tables().count() == 1, "it is not of the league");
    assert_eq!(room.venue.sitters(game).map(|sitter| sitter.display_name).collect::<Vec<_>>(), ["Ada", "Bob"]);
    for number in 1..=5 {
        room.plays(&ada, &id, json!({"number": 11 - number}));
        room.plays(&bob, &id, json!({ "number": number }));
    }
    [&mut ada, &mut bob].into_iter().for_each(|ear| drop(room.hears(ear)));
    assert!(room.venue.all_tables().next().is_none());
    let entries = room.venue.log().entries(0..u64::MAX).filter(|entry| entry.at_match == Some(game));
    let happened: Vec<_> = entries.map(|entry| (entry.agent, entry.what)).collect();
    assert_eq!(happened.first(), Some(&(None, Happening::MatchBegun)));
    assert_eq!(happened.last(), Some(&(None, Happening::MatchOver("win"))));
}

#[test]
fn every_row_of_the_registration_table_is_answered_in_its_words() {
    let mut room = Room::new(config());
    let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));
    assert_eq!(room.venue.enrol(room.now, from, b"{nonsense").status(), 400);
    room.agent("Ada");
    for (name, status, error) in [
        ("", 400, "Name is required."),
        ("A", 400, "Name must be at least 2 characters."),
        ("A234567890123456789012345678901234", 400, "Name must be 32 characters or fewer."),
        ("<b>Ada", 400, "Name may only contain letters, numbers, spaces, hyphens, underscores, and dots."),
        ("Ada", 409, "Agent name is already taken."),
    ] {
        assert_eq!(room.enrol(name), (status, json!({"error": error})), "{name}");
    }
    for n in 2..=8 {
        let (status, answer) = room.enrol(&format!("Agent {n}"));
        assert_eq!((status, &answer["createdAt"]), (201, &json!("2025-01-15T10:30:00.000Z")));
    }
    assert_eq!(room.enrol("One more"), (503, json!({"error": "The box has no room for another agent."})));
}

#[test]
fn every_protocol_error_is_answered_in_its_words() {
    let mut room = Room::new(config());
    let ada = room.agent("Ada");
    let error = |message: &str| json!({"type": "error", "message": message});
    let unknown = "Not authenticated. Send {\"type\":\"authenticate\",\"token\":\"YOUR_API_KEY\"} first.";
    for (line, body, message) in [
        (None, "{", "Invalid JSON."),
        (None, r#"{"type":"dance"}"#, "Unknown message type."),
        (None, r#"{"type":"join_queue"}"#, unknown),
        (None, r#"{"type":"submit_move"}"#, unknown),
        (None, r#"{"type":"authenticate"}"#, "Missing or invalid token in authenticate message."),
        (None, r#"{"type":"authenticate","token":"nobody"}"#, "Invalid API key."),
        (Some(0), r#"{"type":"authenticate","token":"x"}"#, "Already authenticated."),
        (None, r#"{"type":"subscribe_game"}"#, "Missing gameId."),
        (None, r#"{"type":"subscribe_game","gameId":"x"}"#, "Game not found."),
        (Some(0), r#"{"type":"join_queue"}"#, "Missing gameType."),
        (Some(0), r#"{"type":"submit_move","move":{}}"#, "Missing gameId."),
        (Some(0), r#"{"type":"submit_move","gameId":"x"}"#, "Missing move."),
    ] {
        assert_eq!(room.says(line, body), error(message), "{body}");
    }
    assert_eq!(room.joins(&ada, "checkers")["type"], "error");
    let gone = json!({"type":"move_result","success":false,"error":"Game not found or not active."});
    assert_eq!(room.plays(&ada, "x", json!({})), gone);
    let pong = json!({"type": "pong", "timestamp": 1_736_937_000_000_u64});
    assert_eq!(room.says(None, r#"{"type":"ping"}"#), pong);
}

#[test]
fn a_move_that_breaks_a_rule_or_is_somebody_elses_is_refused_and_may_be_made_again() {
    let (mut room, ada, _bob, id) = duel("echo");
    let eve = room.agent("Eve");
    let refused = room.plays(&ada, &id, json!({"number": 11}));
    assert_eq!((&refused["success"], &refused["error"]), (&json!(false), &json!("Invalid move.")));
    assert!(refused["detail"].as_str().unwrap().contains("10"), "{refused}");
    assert!(log(&room).contains(refused["detail"].as_str().unwrap()), "the log names the rule too");
    assert_eq!(room.plays(&eve, &id, json!({"number": 1}))["error"], "You are not a player in this game.");
    assert_eq!(room.plays(&ada, &id, json!({"number": 10}))["success"], true);
}

#[test]
fn three_minutes_for_the_first_move_then_ninety_seconds_and_who_is_late_loses() {
    let (mut room, mut ada, mut bob, id) = duel("echo");
    room.after(179_999);
    assert_eq!(room.plays(&ada, &id, json!({"number": 1}))["success"], true);
    assert_eq!(room.plays(&bob, &id, json!({"number": 2}))["success"], true);
    room.hears(&mut ada);
    assert_eq!(room.plays(&bob, &id, json!({"number": 3}))["success"], true);
    room.after(89_999);
    assert!(!types(&room.hears(&mut ada)).contains(&"game_over"));
    room.after(1);
    let over = room.hears(&mut bob);
    let over = last(&over, "game_over");
    assert_eq!((&over["reason"], &over["rankings"][0]["agentName"]), (&json!("timeout"), &json!("Bob")));
    assert_eq!(types(&room.hears(&mut ada)), ["game_state", "game_over"]);
}

#[test]
fn in_a_game_of_turns_the_second_has_three_minutes_for_its_first_move_as_well() {
    let (mut room, mut black, mut white, id) = duel("skill-gomoku");
    room.after(100_000);
    assert_eq!(room.plays(&white, &id, json!({"type":"place","row":1,"col":1}))["success"], false);
    assert_eq!(room.plays(&black, &id, json!({"type":"place","row":7,"col":7}))["success"], true);
    assert_eq!(types(&room.hears(&mut white)), ["thinking", "turn_update", "game_state", "your_turn"]);
    assert_eq!(types(&room.hears(&mut black)), ["thinking", "turn_update", "game_state"]);
    room.after(150_000);
    assert_eq!(room.plays(&white, &id, json!({"type":"place","row":1,"col":1}))["success"], true);
    room.after(90_000);
    let heard = room.hears(&mut white);
    assert_eq!(last(&heard, "game_over")["rankings"][0]["agentName"], "Bob");
}

#[test]
fn a_skill_is_told_before_its_turn() {
    let (mut room, mut black, mut white, id) = duel("skill-gomoku");
    assert_eq!(room.plays(&black, &id, json!({"type":"place","row":7,"col":7}))["success"], true);
    room.hears(&mut white);
    let sandstorm = json!({"type":"skill","skill":"sandstorm","target":{"row":7,"col":7}});
    assert_eq!(room.plays(&white, &id, sandstorm)["success"], true);
    let heard = room.hears(&mut white);
    assert_eq!(types(&heard), ["thinking", "skill_effect", "turn_update", "game_state"]);
    // It has not listened since its own move: what is past is skipped, what is said is whole.
    let heard = room.hears(&mut black);
    assert_eq!(types(&heard), ["thinking", "skill_effect", "turn_update", "game_state", "your_turn"]);
}

#[test]
fn who_comes_back_within_its_turn_hears_how_things_stand_and_plays_on() {
    let mut room = Room::new(config());
    let (_, answer) = room.enrol("Ada");
    let key = answer["apiKey"].as_str().unwrap();
    let (mut ada, bob) = (room.connect(key), room.agent("Bob"));
    room.joins(&ada, "echo");
    room.joins(&bob, "echo");
    let id = room.hears(&mut ada)[0]["gameId"].as_str().unwrap().to_string();
    room.venue.handle(room.now, Event::Gone { player: ada.line, why: "test" });
    room.after(100_000);
    let mut ada = room.connect(key);
    assert_eq!(types(&room.hears(&mut ada)), ["game_state", "your_turn"]);
    assert_eq!(room.plays(&ada, &id, json!({"number": 1}))["success"], true);
    room.venue.handle(room.now, Event::Gone { player: ada.line, why: "test" });
    room.after(80_000);
    let mut bob = bob;
    assert_eq!(last(&room.hears(&mut bob), "game_over")["rankings"][0]["agentName"], "Ada", "it had moved");
    assert!(room.venue.tables().next().is_none());
    let mut ada = room.connect(key);
    assert!(room.hears(&mut ada).is_empty(), "its game is over");
}

#[test]
fn who_hangs_up_leaves_the_queue_and_who_asks_twice_keeps_its_place() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.agent("Ada"), room.agent("Bob"));
    for _ in 0..2 {
        assert_eq!(room.joins(&ada, "dance-battle")["position"], 1);
        assert_eq!(room.joins(&bob, "dance-battle")["position"], 2);
    }
    room.venue.handle(room.now, Event::Gone { player: ada.line, why: "test" });
    assert_eq!(room.joins(&bob, "dance-battle")["position"], 1);
    assert_eq!(room.joins(&bob, "echo")["position"], 1, "another game instead");
}

#[test]
fn four_dance_and_three_wait() {
    let mut room = Room::new(config());
    let mut ears: Vec<Ear> = ["Ada", "Bob", "Cleo", "Dan"].iter().map(|name| room.agent(name)).collect();
    for (position, ear) in (1..).zip(&ears).take(3) {
        assert_eq!(room.joins(ear, "dance-battle")["position"], position);
    }
    assert_eq!(room.joins(&ears[3], "dance-battle"), Value::Null);
    for ear in &mut ears {
        let heard = room.hears(ear);
        assert_eq!(types(&heard), ["matched", "game_state", "your_turn"]);
        assert_eq!(heard[1]["players"].as_array().unwrap().len(), 4);
        assert!(heard[1]["publicState"]["beatSequence"]["rounds"].is_array());
    }
}

#[test]
fn somebody_who_looks_on_is_counted_and_told_everything_but_whose_turn_it_is() {
    let (mut room, mut ada, mut bob, id) = duel("echo");
    let body = json!({"type": "subscribe_game", "gameId": id}).to_string();
    let Reply::Watches(game) = room.venue.hear_arena(room.now, None, body.as_bytes()) else { panic!("it may") };
    room.venue.count_spectator(game, true);
    let mut told = Cursor::default();
    let mut look = |room: &Room| {
        let mut heard = Vec::new();
        while let Some(picture) = room.venue.picture_of(room.now, game) {
            let Some(word) = told.next(&picture) else { break };
            heard.extend(room.written(word, &picture));
        }
        heard
    };
    let heard = look(&room);
    assert_eq!(types(&heard), ["game_state"]);
    assert_eq!(heard[0]["spectatorCount"], 1);
    room.plays(&ada, &id, json!({"number": 3}));
    assert_eq!(types(&look(&room)), ["thinking"]);
    room.plays(&bob, &id, json!({"number": 4}));
    assert_eq!(types(&look(&room)), ["thinking", "turn_update", "game_state"]);
    room.after(90_000);
    // Those who play it hear the end first, and are gone.
    room.hears(&mut ada);
    room.hears(&mut bob);
    assert_eq!(types(&look(&room)), ["game_state", "game_over"]);
    room.venue.count_spectator(game, false);
    assert!(room.venue.picture_of(room.now, game).is_none(), "everybody has been told");
}

#[test]
fn a_league_of_agents_of_both_protocols_is_played_to_its_end() {
    let mut room = Room::new(Config { game: GameKind::Echo, ..config() });
    let mut ears: Vec<Ear> = ["Ada", "Bob"].iter().map(|name| room.agent(name)).collect();
    let body = |name: &str| {
        json!({"jsonrpc":"2.0","method":"register_player","id":1,"params":{"protocol":"league.v2",
            "message_type":"LEAGUE_REGISTER_REQUEST","sender":"player:x","timestamp":"2025-01-15T10:05:00Z",
            "conversation_id":"c","player_meta":{"display_name":name,"version":"1.0.0","game_types":["echo"],
            "contact_endpoint":"http://localhost:8101/mcp"}}})
        .to_string()
    };
    assert_eq!(room.send(&body("Called"))["result"]["status"], "ACCEPTED");
    room.venue.command(room.now, Command::Start).unwrap();
    let mut games = 0;
    for _ in 0..200 {
        while room.venue.poll_output().is_some() {}
        if let Some(call) = room.call(2) {
            let answer = match call["params"]["message_type"].as_str().unwrap() {
                "MOVE_REQUEST" => {
                    let round = &call["params"]["game_state"]["turn_number"];
                    json!({"protocol":"league.v2","message_type":"MOVE_RESPONSE","sender":"player:P03",
                        "timestamp":"2025-01-15T10:05:00Z","conversation_id":call["params"]["conversation_id"],
                        "match_id":call["params"]["match_id"],"player_id":"P03","move":{"number":round}})
                }
                _ => perfect(2, &call).unwrap()["result"].take(),
            };
            room.answer(2, json!({"jsonrpc":"2.0","id":call["id"],"result":answer}));
        }
        for ear in &mut ears {
            let heard = room.hears(ear);
            games += types(&heard).iter().filter(|kind| **kind == "game_over").count();
            if let Some(turn) = heard.iter().find(|message| message["type"] == "your_turn") {
                let number = 10 - turn["round"].as_u64().unwrap();
                let moved = room.plays(ear, turn["gameId"].as_str().unwrap(), json!({"number": number}));
                assert_eq!(moved["success"], true, "{moved}");
            }
        }
    }
    assert!(room.venue.is_over());
    assert_eq!(games, 4, "two games each");
    room.venue.refresh_standings();
    let rows: Vec<_> =
        room.venue.standings().map(|row| (row.display_name.to_string(), row.points, row.played)).collect();
    assert_eq!(rows, [("Ada".into(), 4, 2), ("Bob".into(), 4, 2), ("Called".into(), 0, 2)]);
}

#[test]
fn a_match_that_somebody_has_not_heard_the_end_of_is_ruled_on_as_one_that_is_over() {
    let mut room = Room::new(Config { game: GameKind::Echo, ..config() });
    let (mut ada, bob) = (room.agent("Ada"), room.agent("Bob"));
    room.venue.command(room.now, Command::Start).unwrap();
    let id = last(&room.hears(&mut ada), "your_turn")["gameId"].as_str().unwrap().to_string();
    for round in 0..5 {
        room.plays(&ada, &id, json!({"number": 10 - round}));
        room.plays(&bob, &id, json!({"number": 1 + round}));
    }
    // Nobody has been told. The owner finds that Bob won.
    let bobs = room.venue.players()[1].number;
    room.venue.rule(room.now, MatchId { round: 1, table: 1 }, Some(bobs)).unwrap();
    room.venue.refresh_standings();
    let rows: Vec<_> =
        room.venue.standings().map(|row| (row.display_name.to_string(), row.points, row.played)).collect();
    assert_eq!(rows, [("Bob".into(), 3, 1), ("Ada".into(), 0, 1)]);
    assert!(room.venue.players().iter().all(|player| player.rating.games == 1));
}

#[test]
fn a_league_that_begins_calls_the_games_of_the_ladder_off_and_they_count_for_nobody() {
    let (mut room, mut ada, mut bob, _) = duel("echo");
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(last(&room.hears(&mut ada), "game_over")["reason"], "error");
    assert!(room.hears(&mut ada).is_empty(), "Bob has not been told yet");
    // Then even and odd, for them: the league has begun.
    let heard = room.hears(&mut bob);
    assert_eq!(types(&heard), ["game_state", "game_over", "matched", "game_state", "your_turn"]);
    assert_eq!(heard[1]["reason"], "error");
    assert_eq!(types(&room.hears(&mut ada)), ["matched", "game_state", "your_turn"]);
    assert!(room.venue.players().iter().all(|player| player.rating.games == 0));
}

#[test]
fn who_registers_while_the_league_runs_plays_beside_it_and_is_known_after_a_restart() {
    let mut room = Room::new(config());
    room.venue.keep_facts();
    let mut journal = Pieces::default();
    (0..2).for_each(|i| _ = room.register(&format!("Agent {i}"), 8101 + i));
    room.venue.command(room.now, Command::Start).unwrap();
    let keys = ["Ada", "Bob", "Cy"].map(|name| room.enrol(name).1["apiKey"].as_str().unwrap().to_string());
    let (mut ada, mut bob) = (room.connect(&keys[0]), room.connect(&keys[1]));
    room.joins(&ada, "blotto");
    room.joins(&bob, "blotto");
    let id = room.hears(&mut ada)[0]["gameId"].as_str().unwrap().to_string();
    for _ in 0..5 {
        room.plays(&ada, &id, json!({"allocation": [3, 3, 3, 1, 0]}));
        room.plays(&bob, &id, json!({"allocation": [2, 2, 2, 2, 2]}));
    }
    assert_eq!(last(&room.hears(&mut bob), "game_over")["rankings"][0]["agentName"], "Ada");
    room.hears(&mut ada);
    room.run(perfect);
    assert!(room.venue.is_over(), "the league went on meanwhile");
    room.venue.refresh_standings();
    assert_eq!(room.venue.standings().count(), 2);
    let before: Vec<_> = room.venue.players().iter().map(|player| (player.number, player.rating)).collect();
    journal.keep(&mut room.venue);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    let after: Vec<_> = room.venue.players().iter().map(|player| (player.number, player.rating)).collect();
    assert_eq!(after, before);
    keys.iter().take(2).for_each(|key| _ = room.connect(key));
    room.venue.command(room.now, Command::Rematch).unwrap();
    assert_eq!(room.venue.schedule().total_matches(), 6, "in the next league it is one of four");
    let names = |venue: &mut Small| {
        venue.refresh_standings();
        venue.standings().map(|row| row.display_name.to_string()).collect::<BTreeSet<_>>()
    };
    let four = ["Agent 0", "Agent 1", "Ada", "Bob"].map(String::from).into();
    assert_eq!(names(&mut room.venue), four, "who came and is not there plays no league");
    journal.keep(&mut room.venue);
    let mut restored = journal.restore();
    restored.resume(room.now);
    assert_eq!(names(&mut restored), four, "nor after a restart");
    assert_eq!(restored.players().len(), 5);
}

#[test]
fn an_agent_that_is_not_there_does_not_win_by_the_absence_of_another() {
    for comes in [false, true] {
        let mut room = Room::new(config());
        room.register("Agent 0", 8101);
        let (_, answer) = room.enrol("Ada");
        room.venue.command(room.now, Command::Start).unwrap();
        if comes {
            room.connect(answer["apiKey"].as_str().unwrap());
        }
        room.run(|_, _| None);
        let record = room.venue.record(MatchId { round: 1, table: 1 }).expect("it has ended");
        assert_eq!(record.winner().is_some(), comes);
        let games: Vec<_> = room.venue.players().iter().map(|player| player.rating.games).collect();
        assert_eq!(games, if comes { [1, 1] } else { [0, 0] });
    }
}

#[test]
fn a_player_that_wants_to_watch_others_is_told_to_do_it_elsewhere_and_may_ask_for_its_own_game() {
    let (mut room, mut ada, _, id) = duel("echo");
    let (cy, mut dee) = (room.agent("Cy"), room.agent("Dee"));
    room.joins(&cy, "echo");
    room.joins(&dee, "echo");
    let other = room.hears(&mut dee)[0]["gameId"].as_str().unwrap().to_string();
    let watch = |id: &str| json!({"type": "subscribe_game", "gameId": id}).to_string();
    let refused = json!({"type": "error", "message": "You are in a game. Watch others on another connection."});
    assert_eq!(room.says(Some(ada.line), &watch(&other)), refused);
    assert_eq!(room.hears(&mut ada), [Value::Null; 0]);
    assert_eq!(room.says(Some(ada.line), &watch(&id)), Value::Null);
    assert_eq!(room.says(None, &watch(&other)), Value::Null);
}

#[test]
fn what_an_agent_says_wrong_is_in_its_report_with_the_first_example() {
    let (mut room, ada, bob, id) = duel("echo");
    room.plays(&ada, &id, json!({"number": 7}));
    for body in ["{", "[1", r#"{"type":"dance"}"#, r#"{"type":"join_queue"}"#] {
        room.says(Some(ada.line), body);
    }
    let twice = json!({"type": "submit_move", "gameId": id, "move": {"number": 8}}).to_string();
    room.says(Some(ada.line), &twice);
    room.plays(&ada, "no game", json!({"number": 8}));
    let players = room.venue.players();
    let report: Vec<_> = players[usize::from(ada.line)].compliance.broken().collect();
    let [(Rule::NotJson, 2, "{"), (Rule::Duplicate, 1, example), (Rule::BadRequest, 2, r#"{"type":"dance"}"#)] =
        report[..]
    else {
        panic!("{report:?}")
    };
    assert!(twice.starts_with(example) && !example.is_empty());
    assert_eq!(players[usize::from(bob.line)].compliance.total(), 0);
}

#[test]
fn what_a_string_means_as_a_move_is_the_games_to_say() {
    let mut room = Room::new(Config { game: GameKind::EvenOdd10, ..config() });
    let (mut ada, _bob) = (room.agent("Ada"), room.agent("Bob"));
    room.venue.command(room.now, Command::Start).unwrap();
    let id = room.hears(&mut ada)[0]["gameId"].as_str().unwrap().to_string();
    assert_eq!(room.plays(&ada, &id, json!("even"))["success"], true);
    let (mut room, ada, _, id) = duel("echo");
    assert_eq!(room.plays(&ada, &id, json!("7"))["error"], "Invalid move.");
}

#[test]
fn the_words_for_a_name_of_too_many_bytes_say_how_many() {
    let name = "一".repeat(NAME_BYTES / 3 + 1);
    let (status, answer) = Room::new(config()).enrol(&name);
    assert_eq!(
        (status, &answer["error"]),
        (400, &json!(format!("Name must be {NAME_BYTES} bytes or fewer in UTF-8.")))
    );
}

#[test]
fn the_games_of_the_ladder_go_on_when_somebody_else_leaves_before_the_league() {
    let mut room = Room::new(config());
    let gone = room.agent("Gone");
    let (_, answer) = room.enrol("Ada");
    let key = answer["apiKey"].as_str().unwrap().to_string();
    let (ada, bob) = (room.connect(&key), room.agent("Bob"));
    room.joins(&ada, "echo");
    room.joins(&bob, "echo");
    let _ = gone;
    room.venue.remove(room.now, 1).unwrap();
    // Everybody has moved up by a line.
    let (mut ada, mut bob) =
        (Ear { line: ada.line - 1, ..Ear::default() }, Ear { line: bob.line - 1, ..Ear::default() });
    let id = room.hears(&mut ada)[0]["gameId"].as_str().unwrap().to_string();
    assert_eq!(types(&room.hears(&mut bob)), ["matched", "game_state", "your_turn"]);
    assert_eq!(room.plays(&ada, &id, json!({"number": 1}))["success"], true);
    room.after(180_000);
    assert_eq!(last(&room.hears(&mut ada), "game_over")["rankings"][0]["agentName"], "Ada");
    let players: Vec<_> = room.venue.players().iter().map(|player| player.name.to_string()).collect();
    assert_eq!(players, ["Ada", "Bob"]);
}

#[test]
fn a_memory_comes_back_and_a_thought_is_heard_when_the_tick_is_over() {
    let (mut room, mut ada, mut bob, id) = duel("resource-rush");
    let memory = json!({"visited": [[10, 10], [11, 10]]});
    room.plays(&ada, &id, json!({"action": "wait", "thought": "Looking…", "memory": memory}));
    let picture = room.venue.picture_for(room.now, room.venue.issue_of_line(bob.line).unwrap()).unwrap();
    let state = room.written(Word::State, &picture).unwrap();
    assert!(!state.to_string().contains("Looking"), "not yet");
    room.plays(&bob, &id, json!({"action": "wait"}));
    let heard = room.hears(&mut ada);
    let state = last(&heard, "game_state");
    assert_eq!(state["extra"]["memory"], memory);
    assert!(state["extra"]["playerThoughts"].to_string().contains("Looking…"));
    let heard = room.hears(&mut bob);
    let state = last(&heard, "game_state");
    assert!(state["extra"].get("memory").is_none_or(Value::is_null), "it is Ada's");
    assert!(state["extra"]["playerThoughts"].to_string().contains("Looking…"));
    let long = "x".repeat(60_000);
    let refused = room.plays(&ada, &id, json!({"action": "wait", "memory": long}));
    assert_eq!(refused["error"], "Invalid move.");
    assert_eq!(room.plays(&ada, &id, json!({"action": "wait"}))["success"], true);
}

#[test]
fn an_old_thought_is_not_heard_again_in_place_of_an_empty_one_or_of_one_there_is_no_room_for() {
    let (mut room, mut ada, bob, id) = duel("resource-rush");
    let mut tick = |adas: Value, bobs: Value| {
        for (agent, wanted) in [(&ada, adas), (&bob, bobs)] {
            assert_eq!(room.plays(agent, &id, wanted)["success"], true);
        }
        let heard = room.hears(&mut ada);
        let thoughts = &last(&heard, "game_state")["extra"]["playerThoughts"];
        thoughts
            .as_object()
            .unwrap()
            .values()
            .find_map(|said| said.as_str().filter(|said| !said.is_empty()))
            .map(String::from)
    };
    let wait = json!({"action": "wait"});
    let says = |thought: &str| json!({"action": "wait", "thought": thought});
    assert_eq!(tick(says("Gold!"), wait.clone()).as_deref(), Some("Gold!"));
    assert_eq!(tick(says(""), wait.clone()), None);
    assert_eq!(tick(says("Gold!"), wait.clone()).as_deref(), Some("Gold!"));
    // All that is left, but for the heads of this note and of one more.
    let full = "x".repeat(tests::NOTES - "Gold!".len() - 3 * 5 - r#"{"":""}"#.len());
    assert_eq!(tick(wait.clone(), json!({"action": "wait", "memory": {"": full}})), None);
    assert_eq!(tick(says("More gold!"), wait), None);
}

#[test]
fn whatever_an_agent_says_it_is_answered_and_nothing_breaks() {
    let (mut room, ada, _, id) = duel("echo");
    for wanted in [json!(null), json!([]), json!("x"), json!({"number": 1e300}), json!({"number": [[[]]]}), json!(true)]
    {
        let answer = room.plays(&ada, &id, wanted.clone());
        assert!(answer["message"].is_string() || answer["success"] == false, "{wanted}: {answer}");
    }
}

#[test]
fn who_is_removed_before_it_hears_the_end_keeps_no_table() {
    let (mut room, mut ada, mut bob, id) = duel("echo");
    for round in 1..=5 {
        room.plays(&ada, &id, json!({"number": round}));
        room.plays(&bob, &id, json!({"number": round + 1}));
    }
    room.hears(&mut bob);
    let number = room.venue.players()[usize::from(ada.line)].number;
    room.venue.remove(room.now, number).unwrap();
    let eve = room.agent("Eve");
    bob.line -= 1;
    ada.line = eve.line;
    // There are four tables, and all of them are free.
    for _ in 0..5 {
        room.joins(&bob, "echo");
        room.joins(&eve, "echo");
        let matched = room.hears(&mut bob);
        let id = matched[0]["gameId"].as_str().unwrap().to_string();
        for round in 1..=5 {
            room.plays(&bob, &id, json!({"number": round}));
            room.plays(&eve, &id, json!({"number": round + 1}));
        }
        assert_eq!(last(&room.hears(&mut bob), "game_over")["rankings"][0]["agentName"], "Eve");
        room.hears(&mut ada);
    }
}

#[test]
fn whoever_is_removed_loses_its_game_of_the_ladder_at_once_and_nobody_else_does() {
    let (mut room, mut ada, bob, _) = duel("echo");
    room.agent("Eve");
    let number = room.venue.players()[usize::from(bob.line)].number;
    room.venue.remove(room.now, number).unwrap();
    let heard = room.hears(&mut ada);
    assert_eq!(types(&heard), ["game_state", "game_over"]);
    let rankings = &last(&heard, "game_over")["rankings"];
    assert_eq!(rankings[0]["agentName"], "Ada");
    assert_eq!(rankings[1], json!({"agentId": "", "agentName": "", "finalScore": 0}), "it is nobody's name any more");
    let rated: Vec<_> = room.venue.players().iter().map(|player| (player.name.as_str(), player.rating.games)).collect();
    assert_eq!(rated, [("Ada", 1), ("Eve", 0)], "Eve has taken Bob's line, not its seat");
    assert!(room.venue.players()[0].rating.points() > 1500);
}

#[test]
fn a_game_that_is_over_ended_as_it_did_whoever_is_removed_later() {
    let (mut room, ada, mut bob, id) = duel("echo");
    for round in 1..=5 {
        room.plays(&ada, &id, json!({"number": round}));
        room.plays(&bob, &id, json!({"number": round + 1}));
    }
    let number = room.venue.players()[usize::from(ada.line)].number;
    room.venue.remove(room.now, number).unwrap();
    bob.line -= 1;
    let heard = room.hears(&mut bob);
    let over = last(&heard, "game_over");
    assert_eq!((&over["rankings"][0]["agentName"], over.get("reason")), (&json!("Bob"), None));
    assert_eq!(room.venue.players()[0].rating.games, 1);
}

#[test]
fn a_rematch_without_those_who_left_calls_the_ladder_off_for_those_who_stayed() {
    let mut room = Room::new(config());
    (0..3).for_each(|i| _ = room.register(&format!("Agent {i}"), 8101 + i));
    room.venue.command(room.now, Command::Start).unwrap();
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    room.venue.remove(room.now, 1).unwrap();
    room.run(perfect);
    room.joins(&ada, "echo");
    room.joins(&bob, "echo");
    room.hears(&mut ada);
    room.hears(&mut bob);
    room.venue.command(room.now, Command::Rematch).unwrap();
    (ada.line, bob.line) = (ada.line - 1, bob.line - 1);
    for ear in [&mut ada, &mut bob] {
        let heard = room.hears(ear);
        let over = last(&heard, "game_over");
        assert_eq!(over["reason"], "error");
        assert_eq!(
            (&over["rankings"][0]["agentName"], &over["rankings"][1]["agentName"]),
            (&json!("Ada"), &json!("Bob"))
        );
    }
}

#[test]
fn whoever_looks_on_and_does_not_read_keeps_nobody_from_a_table() {
    let mut room = Room::new(config());
    let agents: Vec<Ear> = (0..2).map(|n| room.agent(&format!("Agent {n}"))).collect();
    // There are four tables, and each of these games is still being looked on at when it is over.
    for _ in 0..6 {
        agents.iter().for_each(|agent| _ = room.joins(agent, "echo"));
        let mut ears = agents.iter().map(|agent| Ear { line: agent.line, ..Ear::default() }).collect::<Vec<_>>();
        let id = room.hears(&mut ears[0])[0]["gameId"].as_str().unwrap().to_string();
        let body = json!({"type": "subscribe_game", "gameId": id}).to_string();
        let Reply::Watches(game) = room.venue.hear_arena(room.now, None, body.as_bytes()) else { panic!("it may") };
        room.venue.count_spectator(game, true);
        for round in 1..=5 {
            room.plays(&agents[0], &id, json!({"number": round}));
            room.plays(&agents[1], &id, json!({"number": round + 1}));
        }
        for ear in &mut ears {
            assert_eq!(types(&room.hears(ear)).last(), Some(&"game_over"));
        }
    }
    room.venue.command(room.now, Command::Start).unwrap();
    let mut ears = agents.iter().map(|agent| Ear { line: agent.line, ..Ear::default() });
    assert_eq!(types(&room.hears(&mut ears.next().unwrap())), ["matched", "game_state", "your_turn"]);
}

#[test]
fn players_of_both_protocols_see_what_the_other_played_in_the_turn_before() {
    let mut room = Room::new(Config { game: GameKind::Echo, ..config() });
    let mut ada = room.agent("Ada");
    assert_eq!(room.register("Called", 8101)["status"], "ACCEPTED");
    room.venue.command(room.now, Command::Start).unwrap();
    let (mut told, mut heard) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        while room.venue.poll_output().is_some() {}
        if let Some(call) = room.call(1) {
            let state = &call["params"]["game_state"];
            if call["params"]["message_type"] == "MOVE_REQUEST" {
                told.push(state["last_turn"].clone());
                let answer = json!({"move": {"number": state["turn_number"]}});
                room.answer(1, json!({"jsonrpc":"2.0","id":call["id"],"result":answer}));
            } else {
                room.answer(1, perfect(1, &call).unwrap());
            }
        }
        for message in room.hears(&mut ada) {
            if message["type"] == "your_turn" {
                let number = 10 - message["round"].as_u64().unwrap();
                room.plays(&ada, message["gameId"].as_str().unwrap(), json!({ "number": number }));
            } else if message["type"] == "turn_update" {
                heard.push(message["moves"].clone());
            }
        }
    }
    assert!(room.venue.is_over());
    assert_eq!(told.len(), 5);
    assert_eq!(told[0], json!({}), "nothing has been played yet");
    for (told, heard) in told[1..].iter().zip(&heard) {
        let actions: Vec<&str> = ["P01", "P02"].iter().map(|id| told[*id].as_str().unwrap()).collect();
        let moves: Vec<&str> = heard.as_array().unwrap().iter().map(|of| of["action"].as_str().unwrap()).collect();
        let (mut actions, mut moves) = (actions, moves);
        actions.sort_unstable();
        moves.sort_unstable();
        assert_eq!(actions, moves, "both hear the same of both");
    }
}

#[test]
fn an_agent_to_be_watched_is_asked_late_has_all_its_time_and_may_be_early() {
    let pacing = Pacing { pace: Pace::Watch, turn_ms: 1_000, match_ms: 5_000, break_ms: 2_000 };
    let mut room = Room::new(Config { game: GameKind::Echo, pacing, ..config() });
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    room.venue.command(room.now, Command::Start).unwrap();
    let wait = |room: &mut Room, ms: u64| {
        assert_eq!(room.venue.next_deadline(), Some(ms));
        room.now.ms = ms;
        room.venue.handle(room.now, Event::Tick);
        while room.venue.poll_output().is_some() {}
    };
    assert!(room.hears(&mut ada).is_empty(), "the break before the first round");
    wait(&mut room, 2_000);
    // Five turns of a second fill the time of a match: the first is asked at once.
    let first = room.hears(&mut ada);
    let id = last(&first, "your_turn")["gameId"].as_str().unwrap().to_string();
    room.hears(&mut bob);
    for ear in [&mut ada, &mut bob] {
        assert_eq!(room.plays(ear, &id, json!({"number": 5}))["success"], true);
    }
    let heard = room.hears(&mut ada);
    assert!(types(&heard).contains(&"turn_update") && !types(&heard).contains(&"your_turn"), "{heard:?}");
    // Who moves by what it sees is heard; who waits to be asked is asked in time.
    assert_eq!(room.plays(&ada, &id, json!({"number": 6}))["success"], true);
    room.hears(&mut bob);
    wait(&mut room, 3_000);
    assert!(types(&room.hears(&mut bob)).contains(&"your_turn"));
    let timing = room.venue.config().timing;
    assert_eq!(room.venue.next_deadline(), Some(3_000 + timing.turn_ms), "all of its time");
    assert_eq!(room.plays(&bob, &id, json!({"number": 7}))["success"], true);
    wait(&mut room, 4_000);
    for (turn, number) in [(3, 3), (4, 4), (5, 5)] {
        for ear in [&mut ada, &mut bob] {
            room.hears(ear);
            assert_eq!(room.plays(ear, &id, json!({ "number": number }))["success"], true, "turn {turn}");
        }
        wait(&mut room, 2_000 + 1_000 * turn);
    }
    assert!(types(&room.hears(&mut ada)).contains(&"game_over"));
    room.venue.refresh_standings();
    assert!(room.venue.standings().all(|row| row.technical_losses == 0));
}

/// Two agents play a game of echo from the queue to its end, and the first wins it.
fn play_echo(room: &mut Room, [ada, bob]: [&mut Ear; 2]) {
    room.joins(ada, "echo");
    room.joins(bob, "echo");
    let heard = room.hears(ada);
    room.hears(bob);
    let id = last(&heard, "matched")["gameId"].as_str().unwrap().to_string();
    for number in 1..=5 {
        room.plays(ada, &id, json!({"number": 11 - number}));
        room.plays(bob, &id, json!({ "number": number }));
    }
    [ada, bob].into_iter().for_each(|ear| assert_eq!(last(&room.hears(ear), "game_over")["totalRounds"], 5));
}

fn kept(venue: &Small) -> Vec<String> {
    venue.finished_games().map(|id| id.to_string()).collect()
}

/// All that a page shows of a game that is over.
fn page(venue: &Small, id: MatchId) -> Value {
    let line = serde_json::to_value(venue.match_line(id)).unwrap();
    let (seed, names) = (venue.revealed_seed(id).map(|seed| seed.to_string()), venue.sitters(id).collect::<Vec<_>>());
    let mut buf = [0; 2048];
    let mut sink = Slice::new(&mut buf);
    crate::json::write(&venue.game_result(id), &mut sink).unwrap();
    let result: Value = serde_json::from_slice(sink.written()).unwrap();
    json!({"line": line, "seed": seed, "names": names, "result": result})
}

#[test]
fn a_game_of_the_queue_is_looked_at_afterwards_like_a_match_of_the_league() {
    let mut room = Room::new(config());
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    let game = MatchId::of_game(1);
    room.joins(&ada, "echo");
    room.joins(&bob, "echo");
    let secret = (room.venue.commitment(game), room.venue.revealed_seed(game));
    assert_eq!(secret.1, None, "while it is played its seed is secret");
    assert!(room.venue.replay_of(game).is_none() && room.venue.match_line(game).unwrap().status == "RUNNING");
    play_echo(&mut room, [&mut ada, &mut bob]);
    let shown = page(&room.venue, game);
    assert_eq!((&shown["line"]["match_id"], &shown["line"]["status"]), (&json!("R0M1"), &json!("FINISHED")));
    assert_eq!((&shown["line"]["winner"], &shown["line"]["end_reason"]), (&json!("P01"), &json!("win")));
    assert_eq!((&shown["names"][0]["display_name"], &shown["names"][1]["player_id"]), (&json!("Ada"), &json!("P02")));
    assert_eq!((&shown["result"]["status"], &shown["result"]["score"]["P01"]), (&json!("WIN"), &json!(3)));
    assert_eq!(room.venue.revealed_seed(game).unwrap().commitment(), secret.0, "the box kept its word");
    let mut replay = room.venue.replay_of(game).unwrap();
    let film = super::film_tests::taken(room.venue.memory.film, 256);
    let mut from = crate::journal::bytes::Reader::new(&film);
    while let Some(step) = Step::read(&mut from).unwrap() {
        replay.follow(&step).unwrap();
    }
    assert_eq!((replay.shot.step, replay.shot.ended), (11, Some(crate::games::Seats::NONE)));
    assert_eq!(replay.game.standing().unwrap().scores[..2], [5, 0]);
}

#[test]
fn of_games_that_are_over_the_oldest_makes_room_and_a_power_cut_takes_none() {
    let mut room = Room::new(config());
    room.venue.keep_facts();
    let mut journal = Pieces::default();
    let keys = ["Ada", "Bob"].map(|name| room.enrol(name).1["apiKey"].as_str().unwrap().to_string());
    let [mut ada, mut bob] = [0, 1].map(|at: usize| room.connect(&keys[at]));
    let most = room.venue.memory.tables.capacity();
    for number in 1..=most + 2 {
        play_echo(&mut room, [&mut ada, &mut bob]);
        journal.keep(&mut room.venue);
        let oldest = number.saturating_sub(most) + 1;
        assert_eq!(kept(&room.venue), (oldest..=number).map(|n| format!("R0M{n}")).collect::<Vec<_>>());
    }
    let pages = |venue: &Small| venue.finished_games().map(|id| page(venue, id)).collect::<Vec<_>>();
    let before = pages(&room.venue);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert_eq!(pages(&room.venue), before);
    let [mut ada, mut bob] = [0, 1].map(|at: usize| room.connect(&keys[at]));
    play_echo(&mut room, [&mut ada, &mut bob]);
    assert_eq!(kept(&room.venue).last(), Some(&format!("R0M{}", most + 3)), "numbers go on");
    // The league that begins is another chapter, and they are in it.
    journal.keep(&mut room.venue);
    room.venue.command(room.now, Command::Start).unwrap();
    room.venue.keep_facts();
    journal.keep(&mut room.venue);
    assert_eq!(pages(&journal.restore()), pages(&room.venue));
    room.venue.command(room.now, Command::Reset).unwrap();
    assert!(kept(&room.venue).is_empty(), "a reset forgets everything");
}

#[test]
fn whoever_gets_the_number_of_a_player_that_has_left_is_not_shown_in_its_games() {
    let mut room = Room::new(config());
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    play_echo(&mut room, [&mut ada, &mut bob]);
    room.venue.remove(room.now, 1).unwrap();
    assert_eq!(room.enrol("Eve").1["name"], "Eve");
    assert!(room.venue.players().iter().any(|player| player.number == 1 && player.name == "Eve"));
    let shown = page(&room.venue, MatchId::of_game(1));
    assert_eq!((&shown["names"][0]["player_id"], &shown["names"][0]["display_name"]), (&json!("P01"), &json!("")));
    assert_eq!((&shown["line"]["winner"], &shown["names"][1]["display_name"]), (&json!("P01"), &json!("Bob")));
}

#[test]
fn while_results_wait_to_be_written_more_games_may_end_and_no_rating_is_lost() {
    let mut room = Room::new(config());
    room.venue.keep_facts();
    let mut journal = Pieces::default();
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    journal.keep(&mut room.venue);
    let most = room.venue.memory.tables.capacity();
    for _ in 0..most + 2 {
        play_echo(&mut room, [&mut ada, &mut bob]);
    }
    let ratings = |venue: &Small| venue.players().iter().map(|player| player.rating).collect::<Vec<_>>();
    let before = (kept(&room.venue), ratings(&room.venue));
    assert_eq!(before.0.len(), most, "what was to be written stayed");
    journal.keep(&mut room.venue);
    let restored = journal.restore();
    assert_eq!((kept(&restored), ratings(&restored)), before);
}

#[test]
fn a_game_that_the_league_calls_off_leaves_nothing() {
    let (mut room, ..) = duel("echo");
    room.venue.command(room.now, Command::Start).unwrap();
    assert!(kept(&room.venue).is_empty() && room.venue.match_line(MatchId::of_game(1)).is_none());
}

/// A table of these agents that is counted down for three seconds.
fn count_down(room: &mut Room, players: &[u16]) -> MatchId {
    let (id, seed, slot) = (MatchId::of_game(1), Seed([9; 32]), room.venue.free_slot().unwrap());
    room.venue.open_table(room.now, id, (GameKind::Echo, seed), players, slot);
    let mut draws = crate::fair::Draws::new(seed);
    let game = crate::games::AnyGame::start(GameKind::Echo, 2, &mut draws);
    let table = room.venue.memory.tables[usize::from(slot)].as_mut().unwrap();
    table.play = crate::referee::Match::new(game, draws, room.now.ms + 3_000, None);
    table.life = super::rounds::Life::Countdown;
    room.venue.begin(room.now, slot);
    id
}

#[test]
fn at_a_table_that_is_counted_down_everybody_sees_it_nobody_is_asked_and_then_all_have_their_whole_time() {
    let mut room = Room::new(config());
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    let id = count_down(&mut room, &[0, 1]);
    let left = |room: &Room| room.venue.table(id).unwrap().starts_in(room.now.ms);
    assert_eq!((left(&room), room.venue.next_deadline()), (Some(3_000), Some(room.now.ms + 3_000)));
    for ear in [&mut ada, &mut bob] {
        assert_eq!(types(&room.hears(ear)), ["matched", "game_state"]);
    }
    let game = crate::protocols::league_of_agents::Uuid::new(room.venue.table(id).unwrap().tag).text();
    assert_eq!(room.plays(&ada, &game, json!({"number": 1}))["success"], false, "nobody moves before it begins");
    room.after(2_999);
    assert_eq!((left(&room), room.hears(&mut ada).len()), (Some(1), 0));
    room.after(1);
    assert_eq!(left(&room), None);
    for ear in [&mut ada, &mut bob] {
        assert_eq!(types(&room.hears(ear)), ["your_turn"]);
    }
    assert_eq!(room.venue.next_deadline(), Some(room.now.ms + 180_000), "all of the first turn is left");
    room.now.ms += 2_000;
    for number in 1..=5 {
        assert_eq!(room.plays(&ada, &game, json!({"number": 11 - number}))["success"], true);
        assert_eq!(room.plays(&bob, &game, json!({ "number": number }))["success"], true);
    }
    assert_eq!(last(&room.hears(&mut ada), "game_over")["duration"], 2, "it began when the countdown was over");
}

#[test]
fn whoever_is_removed_while_its_table_is_counted_down_loses_at_once_and_a_league_calls_it_off() {
    for removed in [true, false] {
        let mut room = Room::new(config());
        let (mut ada, _bob) = (room.agent("Ada"), room.agent("Bob"));
        room.agent("Cy");
        let id = count_down(&mut room, &[0, 1]);
        room.hears(&mut ada);
        match removed {
            true => room.venue.remove(room.now, 2).unwrap(),
            false => room.venue.command(room.now, Command::Start).unwrap(),
        }
        assert_eq!(room.venue.match_line(id).and_then(|line| line.winner).is_some(), removed);
        assert_eq!(types(&room.hears(&mut ada)).last(), Some(&"game_over"));
    }
}
