extern crate std;

mod beside;
mod debates;
mod trades;

use core::net::{IpAddr, Ipv4Addr};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::{Answer, Ask, Asking, Audience, Cursor, Reply, Word};
use crate::games::GameKind;
use crate::json::Slice;
use crate::time::Now;
use crate::venue::tests::{Room, config};
use crate::venue::{Command, Config, Event};

/// An agent on its connection, and what it was told there.
struct Agent {
    id: String,
    key: String,
    issue: u32,
    cursor: Cursor,
    audience: Audience,
    heard: Vec<Value>,
}

impl Agent {
    /// What it was told since it last looked.
    fn news(&mut self) -> Vec<Value> {
        core::mem::take(&mut self.heard)
    }

    /// The names of that.
    fn events(&mut self) -> Vec<String> {
        self.news().iter().map(|event| event["event"].as_str().unwrap().to_string()).collect()
    }
}

/// A box to which agents of AGON come.
struct Club(Room);

impl Club {
    fn agon(&mut self, bearer: Option<&str>, ask: Ask<'_>, body: &str) -> (u16, Value) {
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 8));
        let answer = self.0.venue.ask_agon(self.0.now, Asking { ask, from, bearer, body: body.as_bytes() });
        (answer.status(), self.answered(answer))
    }

    fn answered(&self, answer: Answer) -> Value {
        let mut buf = std::vec![0; 8_192];
        let mut sink = Slice::new(&mut buf);
        self.0.venue.write_agon(answer, 3, &mut sink).unwrap();
        serde_json::from_slice(sink.written()).unwrap()
    }

    /// Registers an agent that is not there yet.
    fn known(&mut self, name: &str) -> Agent {
        let (status, told) = self.agon(None, Ask::Register, &json!({"name": name, "framework": "rust"}).to_string());
        assert_eq!(status, 201, "{told}");
        let key = told["api_key"].as_str().unwrap().to_string();
        let token = self.agon_token(&key);
        let issue = self.0.venue.agon_agent(self.0.now, &token).unwrap();
        Agent {
            id: told["agent_id"].as_str().unwrap().into(),
            key,
            issue,
            cursor: Cursor::default(),
            audience: Audience::default(),
            heard: Vec::new(),
        }
    }

    fn agon_token(&mut self, key: &str) -> String {
        let (status, told) = self.agon(Some(key), Ask::Token, "");
        assert_eq!(status, 200, "{told}");
        told["token"].as_str().unwrap().into()
    }

    /// An agent dials in.
    fn come(&mut self, agent: &mut Agent) {
        (agent.cursor, agent.audience) = (Cursor::default(), Audience::default());
        let player = self.0.venue.line_of(agent.issue).unwrap();
        self.0.venue.handle(self.0.now, Event::Arrived { player });
        self.reply(agent, Reply::Welcome);
        if let Some(expired) = self.0.venue.agon_expired(self.0.now, agent.issue) {
            self.reply(agent, expired);
        }
        self.tell(agent);
    }

    fn go(&mut self, agent: &Agent) {
        let player = self.0.venue.line_of(agent.issue).unwrap();
        self.0.venue.handle(self.0.now, Event::Gone { player, why: "gone" });
    }

    fn agent(&mut self, name: &str) -> Agent {
        let mut agent = self.known(name);
        self.come(&mut agent);
        agent
    }

    fn reply(&mut self, agent: &mut Agent, reply: Reply) {
        let mut buf = std::vec![0; 8_192];
        let mut sink = Slice::new(&mut buf);
        if self.0.venue.write_agon_reply(reply, agent.issue, 3, &mut sink).is_ok() {
            agent.heard.push(serde_json::from_slice(sink.written()).unwrap());
        }
        match reply {
            Reply::Seated(..) => agent.cursor.has_sat_down(),
            Reply::LeftRoom(_) => agent.cursor.has_stood_up(),
            _ => {}
        }
    }

    /// Says on a connection what there is to say.
    fn tell(&mut self, agent: &mut Agent) {
        while let Some(picture) = self.0.venue.agon_picture(self.0.now, agent.issue)
            && let Some(word) = agent.cursor.next(&picture)
        {
            let mut buf = std::vec![0; 65_536];
            let mut sink = Slice::new(&mut buf);
            match word {
                Word::Reconnect => self.0.venue.write_agon_reconnect(&picture, &mut sink).unwrap(),
                word => self.0.venue.write_agon_word(word, &picture, &mut sink).unwrap(),
            }
            agent.heard.push(serde_json::from_slice(sink.written()).unwrap());
            self.0.venue.agon_is_told(self.0.now, agent.issue, word);
        }
        while let Some(aside) = self.0.venue.agon_aside(self.0.now, agent.issue, &mut agent.audience) {
            let mut buf = std::vec![0; 8_192];
            let mut sink = Slice::new(&mut buf);
            self.0.venue.write_agon_aside(aside, &mut sink).unwrap();
            agent.heard.push(serde_json::from_slice(sink.written()).unwrap());
        }
    }

    fn says(&mut self, agent: &mut Agent, message: Value) {
        let reply = self.0.venue.hear_agon(self.0.now, agent.issue, message.to_string().as_bytes());
        self.reply(agent, reply);
        self.tell(agent);
    }

    /// What an agent is refused by: the code, and the words.
    fn agon_refused(&mut self, agent: &mut Agent, message: Value) -> (String, String) {
        agent.heard.clear();
        self.says(agent, message);
        let error = said(&agent.news(), "error");
        (error["code"].as_str().unwrap().into(), error["message"].as_str().unwrap().into())
    }

    /// Lets time pass, deadline by deadline.
    fn wait(&mut self, ms: u64, agents: &mut [&mut Agent]) {
        let until = self.0.now.ms + ms;
        loop {
            let next = self.0.venue.next_deadline().filter(|&at| at <= until);
            let at = next.unwrap_or(until);
            self.0.now = Now { ms: at, utc: self.0.now.utc_at(at) };
            self.0.venue.handle(self.0.now, Event::Tick);
            agents.iter_mut().for_each(|agent| self.tell(agent));
            if next.is_none() {
                return;
            }
        }
    }

    /// Two agents whose match has just begun, the one that goes first first.
    fn playing(&mut self, room: &str) -> (Agent, Agent, Value) {
        let (mut ada, mut bob) = (self.agent("Ada"), self.agent("Bob"));
        for agent in [&mut ada, &mut bob] {
            self.says(agent, json!({"action": "sit_table", "room": room, "table_id": "open"}));
        }
        self.wait(3_000, &mut [&mut ada, &mut bob]);
        let start = |agent: &Agent| agent.heard.iter().find(|event| event["event"] == "match_start").unwrap().clone();
        let (first, id) = (start(&ada)["you_go_first"] == true, start(&ada)["match_id"].clone());
        assert_ne!(start(&ada)["you_go_first"], start(&bob)["you_go_first"]);
        if !first {
            core::mem::swap(&mut ada, &mut bob);
        }
        ada.news();
        bob.news();
        (ada, bob, id)
    }

    fn plays(&mut self, agent: &mut Agent, id: &Value, content: &str) {
        self.says(agent, json!({"action": "send_message", "match_id": id, "content": content}));
    }
}

fn box_of(game: &'static str) -> Club {
    Club(Room::new(Config { game: GameKind::named(game).unwrap(), ..config() }))
}

fn said(events: &[Value], name: &str) -> Value {
    events.iter().find(|event| event["event"] == name).unwrap_or_else(|| panic!("{name} in {events:?}")).clone()
}

#[test]
fn the_lifecycle_of_a_match_is_as_the_specification_draws_it() {
    let mut room = box_of("chess");
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    let welcome = said(&ada.news(), "welcome");
    assert_eq!(welcome["rooms"][0], json!({"room":"chess","agents_present":0,"humans_present":3,"tables_open":2}));
    for agent in [&mut ada, &mut bob] {
        room.says(agent, json!({"action":"enter_room","room":"chess"}));
    }
    let state = said(&bob.news(), "room_state");
    assert_eq!((&state["agents_present"], &state["humans_present"]), (&json!(2), &json!(3)));
    assert_eq!(state["tables"][0]["id"], "open");
    ada.news();

    room.says(&mut ada, json!({"action":"sit_table","room":"chess","table_id":"open"}));
    assert_eq!(ada.events(), ["seated"]);
    room.says(&mut bob, json!({"action":"enter_room","room":"chess"}));
    let seat = said(&bob.news(), "room_state")["tables"][0]["seat_1"].clone();
    assert_eq!(seat, json!({"id": ada.id, "name": "Ada", "type": "agent", "elo": 1200}));
    room.says(&mut bob, json!({"action":"sit_table","room":"chess","table_id":"open"}));
    room.tell(&mut ada);
    assert_eq!(bob.events(), ["seated", "match_countdown"]);
    assert_eq!(said(&ada.news(), "match_countdown")["seconds"], 3);
    room.wait(2_999, &mut [&mut ada, &mut bob]);
    assert!(ada.heard.is_empty());
    room.wait(1, &mut [&mut ada, &mut bob]);
    let start = said(&ada.heard, "match_start");
    assert_eq!(
        start["opponent"],
        json!({"id": bob.id, "type": "agent", "name": "Bob", "framework": "rust", "elo": 1200, "connected": true})
    );
    assert_eq!(
        start["config"],
        json!({"turn_time_limit_seconds": 60, "max_message_chars": 10, "consecutive_timeouts_forfeit": 2})
    );
    assert_eq!((&start["your_elo"], &start["h2h_summary"]), (&json!(1200), &Value::Null));
    let (mut white, mut black) = if start["you_go_first"] == true { (ada, bob) } else { (bob, ada) };
    assert_eq!(white.events(), ["match_start", "turn_timer"]);
    assert_eq!(black.events(), ["match_start"]);

    let id = start["match_id"].clone();
    for (number, mv) in (1..).zip(["f3", "e5", "g4", "Qh4#"]) {
        room.plays(&mut white, &id, mv);
        assert!(white.heard.iter().all(|event| event["event"] != "error"), "{:?}", white.heard);
        room.tell(&mut black);
        let message = said(&black.heard, "opponent_message");
        if number < 4 {
            black.news();
        }
        assert_eq!((&message["content"], &message["message_number"]), (&json!(mv), &json!(number)));
        assert!(message["fen"].as_str().is_some_and(|fen| fen.contains(" w ") == (number % 2 == 0)));
        core::mem::swap(&mut white, &mut black);
    }
    // Black has mated, and the colours were swapped once more.
    let mut ended = white.news();
    ended.extend(black.news());
    room.tell(&mut white);
    room.tell(&mut black);
    ended.extend(black.news());
    ended.extend(white.news());
    let end = said(&ended, "match_end");
    assert_eq!(end["result"]["end_reason"], "checkmate");
    assert_eq!((&end["result"]["participant_1_score"], &end["result"]["participant_2_score"]), (&json!(0), &json!(1)));
    assert_eq!(end["result"]["total_messages"], 4);
    assert_eq!(end["result"]["elo_changes"][&black.id], 16);
    assert_eq!(end["result"]["elo_changes"][&white.id], -16);
    let names: Vec<&str> = ended.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let count = |name| names.iter().filter(|other| **other == name).count();
    assert_eq!(["match_end", "elo_update", "points_update"].map(count), [2, 2, 2], "{names:?}");
    let points: Vec<u64> = ended.iter().filter_map(|event| event["points_earned"].as_u64()).collect();
    assert!(points.contains(&55) && points.contains(&15), "50 or 10, and 5 for two messages: {points:?}");
    let token = room.agon_token(&white.key);
    let (status, result) = room.agon(Some(&token), Ask::Result(id.as_str().unwrap()), "");
    assert_eq!((status, &result["result"]["end_reason"]), (200, &json!("checkmate")));
    // Both are free, and have met.
    for agent in [&mut white, &mut black] {
        room.says(agent, json!({"action":"sit_table","room":"chess","table_id":"open"}));
    }
    room.wait(3_000, &mut [&mut white, &mut black]);
    let start = said(&black.news(), "match_start");
    assert_eq!((&start["your_elo"], &start["h2h_summary"]), (&json!(1216), &json!({"wins":1,"losses":0,"draws":0})));
}

#[test]
fn every_error_comes_by_its_code_and_names_what_is_wrong() {
    let mut room = box_of("chess");
    let (mut white, mut black, id) = room.playing("chess");
    let code = |room: &mut Club, agent: &mut Agent, message| room.agon_refused(agent, message).0;
    let say = |content: &str| json!({"action":"send_message","match_id":id,"content":content});
    assert_eq!(code(&mut room, &mut white, json!(["enter_room"])), "INVALID_JSON");
    assert_eq!(code(&mut room, &mut white, json!({"action":"dance"})), "UNKNOWN_ACTION");
    assert_eq!(room.agon_refused(&mut white, json!({"room":"chess"})).1, "action is missing");
    assert_eq!(room.agon_refused(&mut white, json!({"action":"send_message","content":"e4"})).1, "match_id is missing");
    assert_eq!(code(&mut room, &mut white, json!({"action":"send_message","match_id":id})), "MISSING_FIELD");
    assert_eq!(code(&mut room, &mut white, say("")), "EMPTY_CONTENT");
    assert_eq!(
        code(&mut room, &mut white, json!({"action":"send_message","match_id":id,"content":4})),
        "VALIDATION_FAILED"
    );
    assert_eq!(code(&mut room, &mut white, say("e4 and more")), "MESSAGE_TOO_LONG");
    assert_eq!(code(&mut room, &mut black, say("e5")), "NOT_YOUR_TURN");
    assert_eq!(
        code(&mut room, &mut white, json!({"action":"send_message","match_id":"9d7e","content":"e4"})),
        "NOT_IN_MATCH"
    );
    assert_eq!(code(&mut room, &mut white, json!({"action":"enter_room","room":"poker"})), "ROOM_NOT_FOUND");
    assert_eq!(code(&mut room, &mut white, json!({"action":"enter_room","room":"go"})), "ALREADY_IN_ROOM");
    assert_eq!(code(&mut room, &mut white, json!({"action":"leave_room"})), "ALREADY_IN_ROOM");
    assert_eq!(
        code(&mut room, &mut white, json!({"action":"vote","match_id":id,"participant_id":"x"})),
        "VALIDATION_FAILED"
    );
    assert_eq!(
        code(&mut room, &mut white, json!({"action":"propose_trade","match_id":id,"offer":{},"request":{}})),
        "CONTENT_BLOCKED"
    );
    let mut carol = room.agent("Carol");
    assert_eq!(
        code(&mut room, &mut carol, json!({"action":"sit_table","room":"chess","table_id":"R9M9"})),
        "TABLE_NOT_FOUND"
    );
    assert_eq!(
        code(&mut room, &mut carol, json!({"action":"sit_table","room":"chess","table_id":"R0M1"})),
        "TABLE_TAKEN"
    );
    assert_eq!(code(&mut room, &mut carol, json!({"action":"sit_table","room":"chess"})), "MISSING_FIELD");
}

#[test]
fn after_three_illegal_moves_in_a_row_the_legal_ones_are_listed() {
    let mut room = box_of("chess");
    let (mut white, _, id) = room.playing("chess");
    for strike in 1..=3 {
        let (code, words) =
            room.agon_refused(&mut white, json!({"action":"send_message","match_id":id,"content":"Ke5"}));
        assert_eq!((code.as_str(), words.contains("Legal are: ")), ("ILLEGAL_MOVE", strike == 3), "{words}");
        assert_eq!(words.contains("Nf3"), strike == 3);
    }
}

#[test]
fn more_than_twenty_messages_in_a_second_are_not_heard() {
    let mut room = box_of("chess");
    let mut ada = room.agent("Ada");
    for _ in 0..20 {
        room.says(&mut ada, json!({"action":"enter_room","room":"go"}));
    }
    assert_eq!(room.agon_refused(&mut ada, json!({"action":"enter_room","room":"chess"})).0, "RATE_LIMITED");
    room.wait(1_000, &mut []);
    room.says(&mut ada, json!({"action":"enter_room","room":"chess"}));
    assert_eq!(ada.events(), ["room_state"]);
}

#[test]
fn whoever_leaves_a_match_has_lost_it_and_its_last_words_are_heard() {
    let mut room = box_of("go");
    let (mut black, mut white, id) = room.playing("go");
    room.plays(&mut black, &id, "E5");
    room.says(&mut white, json!({"action":"leave_match","match_id":id,"parting_shot":"Bah 🎲"}));
    room.tell(&mut black);
    let heard = black.news();
    assert_eq!(said(&heard, "opponent_leaving")["parting_shot"], "Bah 🎲");
    let end = said(&heard, "match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("leave"), &json!(black.id)));
    assert_eq!(said(&white.news(), "match_end")["your_role"], "participant_2");
}

#[test]
fn a_go_message_shows_the_stones_and_how_many_were_taken() {
    let mut room = box_of("go");
    let (mut black, mut white, id) = room.playing("go");
    room.plays(&mut black, &id, "a9");
    room.tell(&mut white);
    let message = said(&white.news(), "opponent_message");
    assert_eq!(message["board"][0][0], 1, "the first row is the ninth");
    assert_eq!(message["captures"], json!({"black":0,"white":0}));
    for turn in 0..2 {
        let (agent, other) = if turn == 0 { (&mut white, &mut black) } else { (&mut black, &mut white) };
        room.plays(agent, &id, "pass");
        room.tell(other);
    }
    let end = said(&white.news(), "match_end");
    assert_eq!(end["result"]["end_reason"], "go_score");
    assert_eq!((&end["your_score"], &end["opponent_score"]), (&json!(7), &json!(81)));
}

#[test]
fn every_turn_has_its_timer_be_they_in_the_same_millisecond() {
    let mut room = box_of("chess");
    let (mut mover, mut other, id) = room.playing("chess");
    for made in ["e4", "e5", "Nf3", "Nc6", "Bc4"] {
        room.plays(&mut mover, &id, made);
        room.tell(&mut other);
        assert_eq!(other.events(), ["opponent_message", "turn_timer"], "{made}");
        core::mem::swap(&mut mover, &mut other);
    }
}

#[test]
fn a_turn_that_runs_out_gives_a_new_timer_in_chess_and_two_forfeit() {
    let mut room = box_of("chess");
    let (mut white, mut black, _) = room.playing("chess");
    for _ in 0..3 {
        room.wait(40_000, &mut [&mut white, &mut black]);
        for agent in [&mut white, &mut black] {
            room.says(agent, json!({"action":"heartbeat"}));
        }
    }
    assert_eq!(said(&white.news(), "turn_timer")["seconds_remaining"], 120);
    for _ in 0..3 {
        room.wait(40_000, &mut [&mut white, &mut black]);
        for agent in [&mut white, &mut black] {
            room.says(agent, json!({"action":"heartbeat"}));
        }
    }
    assert_eq!(said(&black.news(), "match_end")["result"]["end_reason"], "forfeit");
}

#[test]
fn three_missed_heartbeats_in_a_match_forfeit_it_and_any_message_is_one() {
    let mut room = box_of("chess");
    let (mut white, mut black, id) = room.playing("chess");
    room.wait(80_000, &mut [&mut white, &mut black]);
    room.plays(&mut white, &id, "e4");
    room.says(&mut black, json!({"action":"heartbeat"}));
    room.wait(50_000, &mut [&mut white, &mut black]);
    room.plays(&mut black, &id, "e5");
    room.wait(39_999, &mut [&mut white, &mut black]);
    assert!(!black.events().contains(&"match_end".into()));
    room.wait(1, &mut [&mut white, &mut black]);
    let end = said(&black.news(), "match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("forfeit"), &json!(black.id)));
}

#[test]
fn who_drops_has_thirty_seconds_and_its_opponent_hears_of_it_after_fifteen() {
    let mut room = box_of("chess");
    let (mut white, mut black, id) = room.playing("chess");
    room.wait(20_000, &mut [&mut white, &mut black]);
    white.news();
    room.go(&white);
    room.wait(14_000, &mut [&mut black]);
    room.tell(&mut black);
    assert_eq!(black.events(), [""; 0]);
    room.wait(1_000, &mut [&mut black]);
    let gone = said(&black.news(), "opponent_disconnected");
    assert_eq!(gone["grace_seconds"], 15);
    room.wait(14_000, &mut [&mut black]);
    room.come(&mut white);
    let back = white.news();
    let state = said(&back, "reconnect_state");
    assert_eq!(
        (&state["match_id"], &state["your_turn"], &state["turn_timer_remaining"]),
        (&id, &json!(true), &json!(100))
    );
    assert_eq!(said(&back, "turn_timer")["seconds_remaining"], 100, "its clock stood still");
    room.tell(&mut black);
    assert_eq!(black.events(), ["opponent_reconnected"]);
    room.plays(&mut white, &id, "e4");
    room.tell(&mut black);
    assert_eq!(black.events(), ["opponent_message", "turn_timer"]);

    room.go(&white);
    room.wait(30_000, &mut [&mut black]);
    let end = said(&black.news(), "match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("disconnect"), &json!(black.id)));
    room.come(&mut white);
    let told = white.news();
    assert_eq!(said(&told, "error")["code"], "RECONNECT_EXPIRED");
    room.come(&mut white);
    assert_eq!(white.events(), ["welcome"], "it is told once");
}

#[test]
fn a_match_that_both_have_left_is_a_draw() {
    let mut room = box_of("chess");
    let (white, black, id) = room.playing("chess");
    room.go(&white);
    room.go(&black);
    room.wait(30_000, &mut []);
    let token = room.agon_token(&white.key);
    let (_, told) = room.agon(Some(&token), Ask::Result(id.as_str().unwrap()), "");
    assert_eq!(told["result"]["end_reason"], "both_disconnect");
    assert_eq!((&told["result"]["winner_id"], &told["result"]["participant_1_score"]), (&Value::Null, &json!(0.5)));
}

#[test]
fn the_box_seats_its_agents_in_a_league_of_their_games() {
    let mut room = box_of("chess");
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    room.0.venue.command(room.0.now, Command::Start).unwrap();
    room.tell(&mut ada);
    room.wait(3_000, &mut [&mut ada, &mut bob]);
    assert_eq!(ada.events()[..4], ["welcome", "seated", "match_countdown", "match_start"]);
    let (code, words) = room.agon_refused(&mut bob, json!({"action":"sit_table","room":"chess","table_id":"open"}));
    assert_eq!((code.as_str(), words.contains("match")), ("ALREADY_IN_ROOM", true));
    // Of other games they play none, and say so.
    let mut room = box_of("even_odd");
    let _ada = room.agent("Ada");
    let _bob = room.agent("Bob");
    assert!(room.0.venue.command(room.0.now, Command::Start).is_err());
}

#[test]
fn a_token_is_asked_for_by_the_key_and_everything_else_by_the_token() {
    let mut room = box_of("chess");
    let ada = room.known("Ada");
    let token = room.agon_token(&ada.key);
    for ask in [Ask::Me, Ask::Rooms, Ask::Spec("chess"), Ask::Result("9d7e")] {
        for bearer in [None, Some(ada.key.as_str()), Some("eyJ.eyJ.x")] {
            let (status, told) = room.agon(bearer, ask, "");
            assert_eq!((status, &told["error"]["code"]), (401, &json!("UNAUTHORIZED")), "{ask:?}");
        }
    }
    assert_eq!(room.agon(Some(&token), Ask::Token, "").0, 401);
    let (_, me) = room.agon(Some(&token), Ask::Me, "");
    assert_eq!(me["elo"], json!({"chess":1200,"go":1200,"regular_debate":1200,"spicy_debate":1200,"trade_deal":1200}));
    assert_eq!(
        (&me["agent_id"], &me["active_match_id"], &me["arena_points"]),
        (&json!(ada.id), &Value::Null, &json!(0))
    );
    let (_, spec) = room.agon(Some(&token), Ask::Spec("chess"), "");
    assert_eq!((&spec["turn_time_limit_seconds"], &spec["rules"]), (&json!(60), &json!("/games/chess.md")));
    assert_eq!(room.agon(Some(&token), Ask::Spec("poker"), "").0, 404);
    assert_eq!(room.agon(Some(&token), Ask::Result("9d7e"), "").0, 404);
    // Four hours.
    room.wait(4 * 3_600_000, &mut []);
    assert_eq!(room.agon(Some(&token), Ask::Me, "").0, 401);
}

#[test]
fn a_name_that_is_taken_or_missing_is_refused_by_its_code() {
    let mut room = box_of("chess");
    room.known("Ada");
    let mut code = |body: &str| {
        let (status, told) = room.agon(None, Ask::Register, body);
        format!("{status} {}", told["error"]["code"].as_str().unwrap())
    };
    assert_eq!(code(r#"{"name":"Ada"}"#), "409 NAME_TAKEN");
    assert_eq!(code("{}"), "400 MISSING_FIELD");
    assert_eq!(code("{"), "400 INVALID_JSON");
    assert_eq!(code(r#"{"name":"A"}"#), "400 VALIDATION_FAILED");
    assert_eq!(code(r#"{"name":"Eve","framework":7}"#), "400 VALIDATION_FAILED");
}
