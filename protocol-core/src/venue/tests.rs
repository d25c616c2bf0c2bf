extern crate std;

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::*;
use crate::games::Dance;
use crate::json::{Slice, parse};
use crate::season::Rule;
use crate::time::Utc;

pub(crate) type Small = Venue<'static>;

/// What games may keep between moves in it.
pub(crate) const NOTES: usize = 8 * 1024;

/// A venue of eight players. It is never given back: tests are short.
pub(crate) fn small(config: Config, master: Seed, secret: Seed) -> Small {
    let space = std::boxed::Box::leak(std::boxed::Box::new(Space::<8, 4, 28, 64, NOTES, 16_384>::new()));
    Venue::new(space.lend(), config, master, secret)
}

/// All of the players may live at one address.
pub(crate) fn config() -> Config {
    Config { endpoint: "http://10.0.0.1:8000/mcp".try_into().unwrap(), per_address: Some(8), ..Config::default() }
}

/// A venue, a clock, and players that answer as they are told.
pub(crate) struct Room {
    pub venue: Small,
    pub now: Now,
    pub heard: Vec<(u16, Value)>,
    /// Steps of matches, as they were taken.
    pub filmed: Vec<u8>,
    /// Every call that went out in [`Room::run`]: when, to whom, what.
    pub said: Vec<(u64, u16, Value)>,
    sent: BTreeSet<u32>,
}

impl Room {
    pub fn new(config: Config) -> Self {
        let now = Now { ms: 0, utc: Utc(1_736_937_000) };
        let venue = small(config, Seed([1; 32]), Seed([2; 32]));
        Self { venue, now, heard: Vec::new(), filmed: Vec::new(), said: Vec::new(), sent: BTreeSet::new() }
    }

    pub fn send(&mut self, body: &str) -> Value {
        self.send_via(Via::Post, 9, body).0
    }

    /// Sends a message from an address; says also who is found to have sent it.
    pub fn send_via(&mut self, via: Via, from: u8, body: &str) -> (Value, Option<u16>) {
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, from));
        let answer = self.venue.request(self.now, from, via, body.as_bytes());
        let caller = answer.caller();
        let mut buf = [0; 8192];
        let mut sink = Slice::new(&mut buf);
        self.venue.write_answer(&answer, &mut sink).unwrap();
        let written = sink.written();
        (if written.is_empty() { Value::Null } else { serde_json::from_slice(written).unwrap() }, caller)
    }

    pub fn register(&mut self, name: &str, port: u16) -> Value {
        let body = json!({"jsonrpc":"2.0","method":"register_player","id":1,"params":{
            "protocol":"league.v2","message_type":"LEAGUE_REGISTER_REQUEST","sender":format!("player:{name}"),
            "timestamp":"2025-01-15T10:05:00Z","conversation_id":"conv_1","player_meta":{
            "display_name":name,"version":"1.0.0","game_types":[self.venue.config().game.rules().name],
            "contact_endpoint":format!("http://localhost:{port}/mcp")}}});
        self.send(&body.to_string())["result"].take()
    }

    pub fn with_players(n: u16) -> Self {
        Self::of(config(), n)
    }

    pub fn of(config: Config, n: u16) -> Self {
        let mut room = Self::new(config);
        for i in 0..n {
            assert_eq!(room.register(&format!("Agent {i}"), 8101 + i)["status"], "ACCEPTED");
        }
        room
    }

    pub fn call(&self, player: u16) -> Option<Value> {
        self.venue.call(player)?;
        // A map of resource-rush is the longest.
        let mut buf = std::vec![0; 65_536];
        let mut sink = Slice::new(&mut buf);
        self.venue.write_call(player, &mut sink).unwrap();
        Some(serde_json::from_slice(sink.written()).unwrap())
    }

    /// Has the open call go out, if it has not yet.
    pub fn carry_out(&mut self, player: u16) -> bool {
        let Some(call) = self.venue.call(player).map(|call| call.id).filter(|&call| self.sent.insert(call)) else {
            return false;
        };
        // A call that is settled has no words any more.
        let mut buf = [0; 8192];
        let mut sink = Slice::new(&mut buf);
        if self.venue.write_call(player, &mut sink).is_ok() {
            self.said.push((self.now.ms, player, serde_json::from_slice(sink.written()).unwrap()));
        }
        self.venue.handle(self.now, Event::Sent { player, call });
        true
    }

    pub fn answer(&mut self, player: u16, body: Value) {
        let call = self.venue.call(player).unwrap().id;
        let body = body.to_string();
        self.venue.handle(self.now, Event::Reply { player, call, status: 200, body: body.as_bytes() });
    }

    /// Serves every open call by `respond` until nothing is open; lets the clock run where nobody answers.
    pub fn run(&mut self, mut respond: impl FnMut(u16, &Value) -> Option<Value>) {
        loop {
            self.filmed.extend(super::film_tests::taken_of(&mut self.venue, 1018));
            let mut answered = false;
            while self.venue.poll_output().is_some() {}
            for player in 0..self.venue.players().len() as u16 {
                answered |= self.carry_out(player);
                if let Some(call) = self.call(player)
                    && let Some(reply) = respond(player, &call)
                {
                    self.heard.push((player, call));
                    self.answer(player, reply);
                    answered = true;
                }
            }
            if answered {
                continue;
            }
            let Some(at) = self.venue.next_deadline() else { return };
            assert!(at > self.now.ms, "a deadline that has passed must have been dealt with");
            self.now = Now { ms: at, utc: self.now.utc_at(at) };
            self.venue.handle(self.now, Event::Tick);
        }
    }
}

/// A flawless player.
pub(crate) fn perfect(player: u16, call: &Value) -> Option<Value> {
    let params = &call["params"];
    let result = match params["message_type"].as_str()? {
        "MOVE_REQUEST" if params["game_type"] == "dance-battle" => {
            let state = &params["game_state"];
            let view = state["game_specific_state"].to_string();
            // Who sits where throws what, by turns.
            let throw = u32::from(player) + state["turn_number"].as_u64()? as u32;
            json!({"move": Dance::house_move(parse(view.as_bytes()).ok()?, params["player_id"].as_str()?, throw)?})
        }
        "GAME_INVITATION" => json!({"accept": true}),
        "CHOOSE_PARITY_CALL" => json!({"parity_choice": "even"}),
        "MOVE_REQUEST" => json!({"move": {"action": "choose", "value": "odd"}}),
        _ => json!({"status": "ok"}),
    };
    Some(json!({"jsonrpc":"2.0","result":result,"id":call["id"]}))
}

pub(crate) fn names(room: &Room, player: u16) -> Vec<String> {
    let of = |(_, call): &(u16, Value)| call["params"]["message_type"].as_str().unwrap().to_string();
    room.heard.iter().filter(|(p, _)| *p == player).map(of).collect()
}

#[test]
fn a_league_of_four_is_played_to_its_champion() {
    let mut room = Room::with_players(4);
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(perfect);
    assert_eq!(room.venue.stage(), Stage::Completed);
    assert!(room.venue.is_over());
    for player in 0..4 {
        let round = [
            "ROUND_ANNOUNCEMENT",
            "GAME_INVITATION",
            "CHOOSE_PARITY_CALL",
            "GAME_OVER",
            "LEAGUE_STANDINGS_UPDATE",
            "ROUND_COMPLETED",
        ];
        let mut want: Vec<&str> = round.repeat(3);
        want.push("LEAGUE_COMPLETED");
        assert_eq!(names(&room, player), want);
    }
    let (_, first) = &room.heard[0];
    let pairs: Vec<(&str, &str, &str)> = first["params"]["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| {
            (m["match_id"].as_str().unwrap(), m["player_A_id"].as_str().unwrap(), m["player_B_id"].as_str().unwrap())
        })
        .collect();
    assert_eq!(pairs, [("R1M1", "P01", "P02"), ("R1M2", "P03", "P04")]);
    room.venue.refresh_standings();
    // Everybody always chose even: every match was a draw.
    assert!(room.venue.standings().all(|row| row.points == 3 && row.draws == 3));
}

#[test]
fn leagues_of_every_size_complete() {
    for n in 2..=8 {
        let mut room = Room::with_players(n);
        room.venue.command(room.now, Command::Start).unwrap();
        room.run(perfect);
        assert_eq!(room.venue.stage(), Stage::Completed, "{n} players");
        assert_eq!(room.venue.status().matches_completed, u32::from(n * (n - 1) / 2));
    }
}

#[test]
fn a_dead_player_loses_all_its_matches_and_the_others_play_on() {
    let mut room = Room::with_players(4);
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(|player, call| if player == 1 { None } else { perfect(player, call) });
    assert_eq!(room.venue.stage(), Stage::Completed);
    room.venue.refresh_standings();
    let last = room.venue.standings().last().unwrap();
    assert_eq!((last.player_id.0, last.technical_losses, last.points), (AgentId::Player(2), 3, 0));
    // GAME_OVER goes to everybody else in every case.
    assert_eq!(names(&room, 0).iter().filter(|name| *name == "GAME_OVER").count(), 3);
}

#[test]
fn a_silent_player_is_told_three_times_before_it_loses() {
    let mut room = Room::with_players(2);
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(|player, call| {
        let silent = player == 0 && call["params"]["message_type"] == "CHOOSE_PARITY_CALL";
        if silent { None } else { perfect(player, call) }
    });
    let errors: Vec<&Value> =
        room.heard.iter().filter(|(_, call)| call["params"]["message_type"] == "GAME_ERROR").map(|(_, c)| c).collect();
    assert_eq!(errors.len(), 3);
    for (error, retry) in errors.iter().zip(1..) {
        assert_eq!(error["params"]["retry_count"], retry);
        assert_eq!(error["params"]["error_code"], "E001");
        assert_eq!(error["params"]["retryable"], true);
    }
    let (_, over) = room.heard.iter().find(|(_, call)| call["params"]["message_type"] == "GAME_OVER").unwrap();
    assert_eq!(over["params"]["game_result"]["status"], "TECHNICAL_LOSS");
    assert_eq!(over["params"]["game_result"]["winner_player_id"], "P02");
    assert!(over["params"]["game_result"]["drawn_number"].is_u64());
}

#[test]
fn the_seed_in_game_over_matches_the_commitment_in_the_invitation() {
    let mut room = Room::with_players(2);
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(perfect);
    let find = |name: &str| &room.heard.iter().find(|(_, c)| c["params"]["message_type"] == name).unwrap().1["params"];
    let seed = Seed::from_hex(find("GAME_OVER")["match_seed"].as_str().unwrap()).unwrap();
    assert_eq!(seed.commitment().to_string(), find("GAME_INVITATION")["seed_commitment"].as_str().unwrap());
    let number = crate::fair::Draws::new(seed).between(1, 10);
    assert_eq!(find("GAME_OVER")["game_result"]["drawn_number"], number);
}

#[test]
fn a_bare_player_that_registered_canonically_is_found_out_at_the_first_invitation() {
    let mut room = Room::with_players(2);
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(|player, call| {
        if player == 0 {
            return perfect(player, call);
        }
        Some(match call["message_type"].as_str() {
            Some("GAME_INVITATION") => json!({"message_type": "GAME_JOIN_ACK", "accept": true}),
            Some("CHOOSE_PARITY_CALL") => json!({"parity_choice": "odd"}),
            _ => json!({"status": "ok"}),
        })
    });
    room.venue.refresh_standings();
    assert!(room.venue.standings().all(|row| row.technical_losses == 0 && row.played == 1));
}

#[test]
fn an_unknown_method_is_tried_by_its_other_names() {
    let mut room = Room::with_players(2);
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(|player, call| {
        if ["handle_game_invitation", "choose_parity", "notify_match_result"].iter().any(|m| call["method"] == *m) {
            return Some(json!({"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":call["id"]}));
        }
        perfect(player, call)
    });
    room.venue.refresh_standings();
    assert!(room.venue.standings().all(|row| row.technical_losses == 0));
    assert!(room.heard.iter().any(|(_, call)| call["method"] == "notify_game_over"));
}

#[test]
fn an_answer_sent_as_a_message_of_its_own_counts() {
    let mut room = Room::with_players(2);
    let token = room.register("Agent 0", 8101)["auth_token"].as_str().unwrap().to_string();
    room.venue.command(room.now, Command::Start).unwrap();
    for _ in 0..20 {
        while room.venue.poll_output().is_some() {}
        for player in 0..2 {
            let Some(call) = room.call(player) else { continue };
            if player == 0 && call["params"]["message_type"] == "CHOOSE_PARITY_CALL" {
                let own = json!({"jsonrpc":"2.0","method":"choose_parity_response","id":5,"params":{
                    "message_type":"CHOOSE_PARITY_RESPONSE","auth_token":token,"parity_choice":"odd"}});
                assert_eq!(room.send(&own.to_string())["result"]["status"], "RECEIVED");
                room.answer(0, json!({"status": "received"}));
            } else {
                let reply = perfect(player, &call).unwrap();
                room.answer(player, reply);
            }
        }
    }
    assert_eq!(room.venue.stage(), Stage::Completed);
    let result =
        serde_json::to_value(room.venue.record(MatchId { round: 1, table: 1 }).unwrap().end_reason().name()).unwrap();
    assert_eq!(result, "win");
}

#[test]
fn registering_twice_gives_the_same_id_and_token() {
    let mut room = Room::new(config());
    let first = room.register("Ada", 8101);
    assert_eq!(room.register("Ada", 8101)["auth_token"], first["auth_token"]);
    assert_eq!(room.register("Ada", 8101)["player_id"], "P01");
    assert_eq!(room.register("Ada", 8102)["reason"], "Duplicate display name");
    assert_eq!(room.register("P07", 8103)["player_id"], "P07", "a well-formed suggestion is honoured");
    assert_eq!(room.register("Bob", 8104)["player_id"], "P02");
}

#[test]
fn registration_is_closed_once_the_league_runs_and_full_before() {
    let mut room = Room::with_players(8);
    assert_eq!(room.register("Ninth", 9000)["reason"], "League full");
    room.venue.command(room.now, Command::Start).unwrap();
    let late = room.register("Tenth", 9001);
    assert_eq!((&late["reason"], &late["error_code"]), (&json!("Registration closed"), &json!("E010")));
    assert_eq!(room.register("Agent 3", 8104)["status"], "ACCEPTED", "who is in may come back");
}

#[test]
fn queries_need_a_token_and_know_their_players() {
    let mut room = Room::with_players(2);
    let token = room.register("Agent 0", 8101)["auth_token"].as_str().unwrap().to_string();
    let mut ask = |token: Value, query: &str, player: &str| {
        let body = json!({"jsonrpc":"2.0","method":"league_query","id":9,"params":{"message_type":"LEAGUE_QUERY",
            "auth_token":token,"query_type":query,"query_params":{"player_id":player}}});
        room.send(&body.to_string())["result"].take()
    };
    assert_eq!(ask(Value::Null, "GET_STANDINGS", "P01")["error_code"], "E011");
    assert_eq!(ask(json!("tok_p01_0"), "GET_STANDINGS", "P01")["error_code"], "E012");
    assert_eq!(ask(json!(token), "GET_PLAYER_STATS", "P09")["error_code"], "E005");
    assert_eq!(ask(json!(token), "GET_THE_MOON", "P01")["error_code"], "E003");
    for query in [
        "GET_NEXT_MATCH",
        "GET_STANDINGS",
        "GET_LEAGUE_STATUS",
        "GET_PLAYER_STATS",
        "GET_MATCH_HISTORY",
        "GET_SCHEDULE",
        "GET_PLAYER_DIRECTORY",
        "GET_REGISTRATIONS",
    ] {
        let answer = ask(json!(token), query, "P01");
        assert_eq!((&answer["status"], &answer["query_type"]), (&json!("SUCCESS"), &json!(query)), "{answer}");
    }
}

#[test]
fn strict_mode_refuses_what_lenient_mode_reports() {
    let mut strict = Room::new(Config { mode: Mode::Strict, ..config() });
    let message = r#"{"jsonrpc":"2.0","method":"register_player","id":1,"params":{"protocol":"league.v2",
        "message_type":"LEAGUE_REGISTER_REQUEST","sender":"player:a","timestamp":"2025-01-15T10:05:00+00:00",
        "conversation_id":"c","player_meta":{"display_name":"A","version":"1","game_types":["even_odd"],
        "contact_endpoint":"http://localhost:1/mcp"}}}"#;
    let refused = strict.send(message)["result"].take();
    assert_eq!(refused["error_code"], "E021");
    assert!(refused["detail"].as_str().unwrap().contains("not in an offset"), "{refused}");
    let mut lenient = Room::new(config());
    assert_eq!(lenient.send(message)["result"]["status"], "ACCEPTED");
    let broken: Vec<_> = lenient.venue.players()[0].compliance.broken().map(|(rule, ..)| rule.code()).collect();
    assert_eq!(broken, ["timestamp_form", "endpoint_host"]);
}

#[test]
fn a_server_that_fails_is_told_its_status_and_not_what_its_error_page_lacks() {
    for (status, page) in
        [(500, "Internal Server Error"), (404, r#"{"detail":"Not Found"}"#), (422, r#"{"detail":[]}"#)]
    {
        let mut room = Room::with_players(2);
        room.venue.command(room.now, Command::Start).unwrap();
        let mut told = Vec::new();
        while let Some(call) = room.call(0) {
            told.extend((call["params"]["message_type"] == "GAME_ERROR").then(|| call["params"]["detail"].clone()));
            let call = room.venue.call(0).unwrap().id;
            room.venue.handle(room.now, Event::Reply { player: 0, call, status, body: page.as_bytes() });
            if told.len() == 3 {
                break;
            }
        }
        assert!(told.iter().all(|detail| detail == Rule::HttpStatus.advice()), "{status}: {told:?}");
        let mut broken =
            room.venue.players()[0].compliance.broken().map(|(rule, _, example)| (rule, example.to_string()));
        let (_, example) = broken.find(|(rule, _)| *rule == Rule::HttpStatus).unwrap();
        assert!(example.starts_with(&format!("{status} {}", &page[..8])), "{example}");
        assert!(!broken.any(|(rule, _)| rule == Rule::AcceptForm || rule == Rule::NotJson), "{status}");
    }
}

#[test]
fn a_field_of_the_wrong_type_is_reported_and_refused_in_strict_mode() {
    let message = r#"{"jsonrpc":"2.0","method":"register_player","id":1,"params":{"protocol":"league.v2",
        "message_type":"LEAGUE_REGISTER_REQUEST","sender":"player:a","timestamp":"2025-01-15T10:05:00Z",
        "conversation_id":"c","player_meta":{"display_name":7,"version":"1","game_types":"even_odd",
        "contact_endpoint":"http://10.0.0.9:1/mcp"}}}"#;
    let mut strict = Room::new(Config { mode: Mode::Strict, ..config() });
    let refused = strict.send(message)["result"].take();
    assert_eq!((&refused["error_code"], &refused["detail"]), (&json!("E003"), &json!(Rule::MetaMissing.advice())));
    let mut lenient = Room::new(config());
    assert_eq!(lenient.send(message)["result"]["status"], "ACCEPTED");
    let broken: Vec<_> = lenient.venue.players()[0].compliance.broken().map(|(rule, count, _)| (rule, count)).collect();
    assert_eq!(broken, [(Rule::MetaMissing, 2)]);
}

#[test]
fn a_player_that_leaves_loses_the_rest_of_its_matches() {
    let mut room = Room::with_players(4);
    let token = room.register("Agent 3", 8104)["auth_token"].as_str().unwrap().to_string();
    room.venue.command(room.now, Command::Start).unwrap();
    let bye = json!({"jsonrpc":"2.0","method":"deregister_player","id":1,"params":{"auth_token":token}});
    assert_eq!(room.send(&bye.to_string())["result"]["status"], "DEREGISTERED");
    room.run(perfect);
    room.venue.refresh_standings();
    let last = room.venue.standings().last().unwrap();
    assert_eq!((last.player_id.0, last.technical_losses), (AgentId::Player(4), 3));
}

#[test]
fn a_paused_league_finishes_its_round_and_waits() {
    let mut room = Room::with_players(4);
    room.venue.command(room.now, Command::Start).unwrap();
    room.venue.command(room.now, Command::Pause).unwrap();
    room.run(perfect);
    assert_eq!(room.venue.status().matches_completed, 2);
    room.venue.command(room.now, Command::Resume).unwrap();
    room.run(perfect);
    assert_eq!(room.venue.stage(), Stage::Completed);
    room.venue.command(room.now, Command::Rematch).unwrap();
    room.run(perfect);
    assert_eq!(room.venue.league_id().number, 2);
    assert_eq!(room.venue.stage(), Stage::Completed);
    room.venue.command(room.now, Command::Reset).unwrap();
    assert_eq!(room.venue.players().len(), 0);
}

#[test]
fn a_league_of_dead_players_ends_without_climbing_the_stack() {
    let mut room = Room::with_players(8);
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(|_, _| None);
    assert_eq!(room.venue.stage(), Stage::Completed);
}

#[test]
fn the_ten_turn_game_uses_the_generic_messages() {
    let mut room = Room::new(Config { game: GameKind::EvenOdd10, ..config() });
    for (name, port) in [("A", 1), ("B", 2)] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","method":"register_player","id":1,"params":{{"player_meta":{{"display_name":"{name}",
            "contact_endpoint":"http://localhost:{port}"}}}}}}"#
        );
        assert_eq!(room.send(&body)["result"]["status"], "ACCEPTED");
    }
    room.venue.command(room.now, Command::Start).unwrap();
    room.run(perfect);
    assert_eq!(names(&room, 0).iter().filter(|name| *name == "MOVE_REQUEST").count(), 10);
    assert_eq!(names(&room, 0).iter().filter(|name| *name == "MOVE_VALIDATION").count(), 10);
    assert_eq!(room.venue.stage(), Stage::Completed);
}

#[test]
fn an_answer_for_a_match_that_is_over_is_not_taken_for_the_next() {
    let mut room = Room::with_players(2);
    let token = room.register("Agent 0", 8101)["auth_token"].as_str().unwrap().to_string();
    room.venue.command(room.now, Command::Start).unwrap();
    let mut late = |id: &str| {
        let own = json!({"jsonrpc":"2.0","method":"game_join_ack","id":5,"params":{
            "message_type":"GAME_JOIN_ACK","auth_token":token,"match_id":id,"accept":true}});
        room.send(&own.to_string())["result"].take()
    };
    assert_eq!(late("R7M7")["error_code"], "E013");
    assert_ne!(late("R1M1")["error_code"], "E013");
}

#[test]
fn a_player_that_hangs_on_everything_costs_the_end_of_the_league_one_time_out() {
    let mut room = Room::with_players(4);
    room.venue.command(room.now, Command::Start).unwrap();
    let mut completed_at = None;
    room.run(|player, call| if player == 1 { None } else { perfect(player, call) });
    for number in 0.. {
        let Some((_, entry)) = room.venue.log().at_or_after(number) else { break };
        if entry.what == Happening::LeagueOver {
            completed_at = Some(entry.at);
        }
    }
    assert!(room.now.utc.0 - completed_at.unwrap().0 <= 20, "{:?}", room.now);
}

#[test]
fn a_rematch_without_those_who_left_keeps_every_line_straight() {
    let mut room = Room::with_players(4);
    let token = room.register("Agent 0", 8101)["auth_token"].as_str().unwrap().to_string();
    room.venue.command(room.now, Command::Start).unwrap();
    let bye = json!({"jsonrpc":"2.0","method":"deregister_player","id":1,"params":{"auth_token":token}});
    room.send(&bye.to_string());
    room.run(perfect);
    room.venue.command(room.now, Command::Rematch).unwrap();
    assert_eq!(room.venue.players().len(), 3);
    room.run(perfect);
    room.venue.refresh_standings();
    assert!(room.venue.standings().all(|row| row.played == 2 && row.technical_losses == 0));
}

#[test]
fn an_open_call_says_the_same_while_the_others_play_on() {
    let mut room = Room::with_players(3);
    room.venue.command(room.now, Command::Start).unwrap();
    let has_bye = |&place: &u16| room.venue.schedule().table_of(2, place).is_none();
    let slow = (0..3).find(has_bye).unwrap();
    let mut standings: Vec<Value> = Vec::new();
    room.run(|player, call| {
        if player == slow && call["params"]["message_type"] == "LEAGUE_STANDINGS_UPDATE" {
            match standings.last() {
                Some(last) if last["id"] == call["id"] => assert_eq!(last, call),
                _ => standings.push(call.clone()),
            }
            return None;
        }
        perfect(player, call)
    });
    let played = |update: &Value| -> u64 {
        let rows = update["params"]["standings"].as_array().unwrap();
        rows.iter().map(|row| row["played"].as_u64().unwrap()).sum()
    };
    assert_eq!(standings.iter().map(played).collect::<Vec<_>>(), [2, 4, 6], "each round has its own table");
}

#[test]
fn who_is_left_alone_still_hears_every_result() {
    let mut room = Room::with_players(8);
    let tokens: Vec<Value> =
        (0..8).map(|i| room.register(&format!("Agent {i}"), 8101 + i)["auth_token"].take()).collect();
    room.venue.command(room.now, Command::Start).unwrap();
    for token in &tokens[2..] {
        let bye = json!({"jsonrpc":"2.0","method":"deregister_player","id":1,"params":{"auth_token":token}});
        assert_eq!(room.send(&bye.to_string())["result"]["status"], "DEREGISTERED");
    }
    room.run(perfect);
    for player in 0..2 {
        assert_eq!(names(&room, player).iter().filter(|name| *name == "GAME_OVER").count(), 7);
    }
}

#[test]
fn a_rematch_waits_until_everybody_knows_how_it_ended_and_needs_two() {
    let mut room = Room::with_players(2);
    let token = room.register("Agent 0", 8101)["auth_token"].take();
    room.venue.command(room.now, Command::Start).unwrap();
    while room.venue.stage() != Stage::Completed {
        for player in 0..2 {
            let Some(call) = room.call(player) else { continue };
            room.answer(player, perfect(player, &call).unwrap());
        }
    }
    assert!(room.venue.command(room.now, Command::Rematch).is_err());
    room.run(perfect);
    let bye = json!({"jsonrpc":"2.0","method":"deregister_player","id":1,"params":{"auth_token":token}});
    room.send(&bye.to_string());
    assert!(room.venue.command(room.now, Command::Rematch).is_err(), "nobody plays alone");
}

#[test]
fn a_question_lost_by_messages_of_its_own_never_turns_into_the_next() {
    let mut room = Room::new(Config { mode: Mode::Strict, ..config() });
    let token = room.register("Agent 0", 8101)["auth_token"].take();
    (1..4).for_each(|i| drop(room.register(&format!("Agent {i}"), 8101 + i)));
    room.venue.command(room.now, Command::Start).unwrap();
    room.answer(0, json!({}));
    let first = room.call(0).unwrap();
    assert_eq!(first["params"]["message_type"], "GAME_INVITATION");
    for _ in 0..4 {
        let own = json!({"jsonrpc":"2.0","method":"game_join_ack","id":5,"params":{"auth_token":token,"accept":true}});
        room.send(&own.to_string());
    }
    // Round 1 is over as soon as the others have failed too; they do not keep the rules of strict mode either.
    for _ in 0..50 {
        for player in 1..4 {
            let Some(call) = room.call(player) else { continue };
            room.answer(player, perfect(player, &call).unwrap());
        }
        let mut text = heapless::Vec::<u8, 2048>::new();
        if room.venue.call(0).is_some_and(|call| first["id"] == call.id) && room.venue.write_call(0, &mut text).is_ok()
        {
            assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), first);
        }
    }
    assert_eq!(room.venue.stage(), Stage::Running(2));
}

#[test]
fn who_has_left_is_not_brought_back_by_a_message_of_its_own() {
    let mut room = Room::with_players(2);
    let token = room.register("Agent 0", 8101)["auth_token"].take();
    room.venue.command(room.now, Command::Start).unwrap();
    let mut say = |method: &str| {
        let own = json!({"jsonrpc":"2.0","method":method,"id":1,"params":{"auth_token":token,"accept":true}});
        room.send(&own.to_string())["result"].take()
    };
    assert_eq!(say("deregister_player")["status"], "DEREGISTERED");
    assert_eq!(say("game_join_ack")["error_code"], "E013");
    assert_eq!(room.register("Agent 0", 8101)["reason"], "Registration closed");
}

#[test]
fn a_decline_after_joining_is_a_duplicate_and_the_question_stays_open() {
    let mut room = Room::with_players(2);
    let token = room.register("Agent 0", 8101)["auth_token"].take();
    room.venue.command(room.now, Command::Start).unwrap();
    for player in [0, 1, 0, 1] {
        let call = room.call(player).unwrap();
        room.answer(player, perfect(player, &call).unwrap());
    }
    assert_eq!(room.call(0).unwrap()["params"]["message_type"], "CHOOSE_PARITY_CALL");
    let own = json!({"jsonrpc":"2.0","method":"game_join_ack","id":1,"params":{"auth_token":token,"accept":false}});
    assert_eq!(room.send(&own.to_string())["result"]["status"], "IGNORED");
    room.run(perfect);
    room.venue.refresh_standings();
    assert!(room.venue.standings().all(|row| row.technical_losses == 0));
}

#[test]
fn settings_change_while_no_league_runs() {
    let mut room = Room::with_players(2);
    let change = Change { mode: Some(Mode::Strict), move_ms: Some(7), ..Change::default() };
    room.venue.configure(room.now, change).unwrap();
    let timing = Timing { move_ms: 7, ..Timing::default() };
    assert_eq!((room.venue.config().mode, room.venue.config().timing), (Mode::Strict, timing));
    room.venue.configure(room.now, Change { mode: Some(Mode::Lenient), ..Change::default() }).unwrap();
    room.venue.command(room.now, Command::Start).unwrap();
    assert!(room.venue.configure(room.now, change).is_err());
    room.run(perfect);
    assert_eq!(room.venue.config().mode, Mode::Lenient);
    room.venue.configure(room.now, change).unwrap();
    assert_eq!(room.venue.config().mode, Mode::Strict);
}

#[test]
fn all_of_a_change_is_made_or_nothing() {
    let mut room = Room::with_players(2);
    let four = Change { game: Some(GameKind::Dance), start_at: Some(Some(2)), move_ms: Some(7), ..Change::default() };
    assert!(room.venue.configure(room.now, four).is_err());
    assert_eq!((room.venue.config().game, room.venue.config().timing), (GameKind::EvenOdd, Timing::default()));
}

#[test]
fn a_league_starts_when_enough_are_here_whoever_came_first_the_number_or_the_players() {
    let mut room = Room::with_players(3);
    let start_at = |n| Change { start_at: Some(n), ..Change::default() };
    room.venue.configure(room.now, start_at(Some(4))).unwrap();
    assert_eq!(room.venue.stage(), Stage::Waiting);
    room.venue.configure(room.now, start_at(None)).unwrap();
    room.register("Agent 3", 8104);
    assert_eq!(room.venue.stage(), Stage::Waiting);
    room.venue.configure(room.now, start_at(Some(3))).unwrap();
    assert_eq!(room.venue.stage(), Stage::Running(1));
    room.run(perfect);
    assert_eq!(room.venue.status().matches_completed, 6);
}

#[test]
fn a_chosen_seed_decides_the_draws_and_is_known_to_be_chosen() {
    let draws = |seed: Option<Seed>| {
        let mut room = Room::with_players(2);
        room.venue.configure(room.now, Change { seed: Some(seed), ..Change::default() }).unwrap();
        assert_eq!(room.venue.seed_is_chosen(), seed.is_some());
        room.venue.command(room.now, Command::Start).unwrap();
        room.venue.commitment(MatchId { round: 1, table: 1 })
    };
    let chosen = Some(Seed([7; 32]));
    assert!(draws(chosen) == draws(chosen));
    assert!(draws(chosen) != draws(None));
}

#[test]
fn a_chosen_seed_can_be_left_to_chance_again_and_nobody_can_foretell_what_follows() {
    let mut room = Room::with_players(2);
    let mut commitment_with = |seed: Option<Seed>| {
        room.venue.configure(room.now, Change { seed: Some(seed), ..Change::default() }).unwrap();
        assert_eq!(room.venue.seed_is_chosen(), seed.is_some());
        room.venue.origin().master
    };
    let by_chance = commitment_with(None);
    assert_eq!(by_chance, Seed([1; 32]), "what chance had chosen stays");
    let chosen = commitment_with(Some(Seed([7; 32])));
    let again = commitment_with(None);
    assert!(again != chosen && again != by_chance);
}

#[test]
fn news_that_did_not_get_through_is_sent_once_more_and_not_for_ever() {
    let mut room = Room::with_players(2);
    room.venue.command(room.now, Command::Start).unwrap();
    let mut told = Vec::new();
    for _ in 0..3 {
        let call = room.call(0).unwrap();
        told.push(call["params"]["message_type"].as_str().unwrap().to_string());
        let id = room.venue.call(0).unwrap().id;
        room.venue.handle(room.now, Event::Failed { player: 0, call: id, failure: Failure::Unreachable });
    }
    assert_eq!(told, ["ROUND_ANNOUNCEMENT", "ROUND_ANNOUNCEMENT", "GAME_INVITATION"]);
}
