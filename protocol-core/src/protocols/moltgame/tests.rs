extern crate std;

use core::net::{IpAddr, Ipv4Addr};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::{Ask, Asking, LogRow, MISSED_TURNS, Paged, Trouble};
use crate::games::GameKind;
use crate::json::{Sink, Slice};
use crate::log::{Entry, Happening};
use crate::time::Now;
use crate::venue::restart_tests::Pieces;
use crate::venue::tests::{Room, config, perfect};
use crate::venue::{Command, Config, Event, Stage};

const HOLDEM: &str = "00000000-0000-0000-0000-000000000004";
const ECHO: &str = "00000000-0000-0000-0000-000000000005";
const GOMOKU: &str = "00000000-0000-0000-0000-000000000007";
const DANCE: &str = "00000000-0000-0000-0000-000000000009";

/// An agent, by what it was told when it registered.
struct Agent {
    id: String,
    key: String,
}

impl Room {
    fn ask(&mut self, authorization: Option<&str>, ask: Ask<'_>, body: &str) -> (u16, Value) {
        self.ask_by(authorization, ask, "", body, true)
    }

    fn ask_by(
        &mut self,
        authorization: Option<&str>,
        ask: Ask<'_>,
        query: &str,
        body: &str,
        has_time: bool,
    ) -> (u16, Value) {
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));
        let asking = Asking { ask, from, authorization, query, body: body.as_bytes(), has_time };
        let answer = self.venue.ask_moltgame(self.now, asking);
        let mut buf = std::vec![0; 65_536];
        let mut sink = Slice::new(&mut buf);
        if let Some(Paged::Chat(page)) = answer.paged() {
            let mut at = 0;
            while self.venue.write_chat(page, &mut at, &mut sink).unwrap() {}
        } else if let Some(Paged::Logs(page)) = answer.paged() {
            for (n, row) in page.rows(self.venue.log_opening(&page)).enumerate() {
                sink.put(if n == 0 { b"[" } else { b"," }).unwrap();
                self.venue.write_log_row(&page, LogRow::Opening(row), &mut sink).unwrap();
            }
            sink.put(b"]").unwrap();
        } else {
            self.venue.write_moltgame(&answer, &mut sink).unwrap();
        }
        (answer.status(), serde_json::from_slice(sink.written()).unwrap())
    }

    /// The texts of a channel, as anybody is told them.
    fn texts(&mut self, room: Option<&str>, query: &str) -> Vec<String> {
        let (status, page) = self.ask_by(None, Ask::Chat(room), query, "", true);
        assert_eq!(status, 200, "{page}");
        page["messages"].as_array().unwrap().iter().map(|said| said["text"].as_str().unwrap().to_string()).collect()
    }

    fn molt(&mut self, name: &str) -> Agent {
        let (status, answer) =
            self.ask(None, Ask::Register, &json!({"name": name, "description": "plays"}).to_string());
        assert_eq!(status, 200, "{answer}");
        let text = |member: &str| answer["agent"][member].as_str().unwrap().to_string();
        Agent { id: text("agent_id"), key: text("api_key") }
    }

    fn by(&mut self, agent: &Agent, ask: Ask<'_>, body: Value) -> (u16, Value) {
        self.ask(Some(&format!("Bearer {}", agent.key)), ask, &body.to_string())
    }

    /// What an agent is told that is in order.
    fn told(&mut self, agent: &Agent, ask: Ask<'_>, body: Value) -> Value {
        let (status, answer) = self.by(agent, ask, body);
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// What an agent is told that is refused: the status, and the code of it.
    fn refused(&mut self, agent: &Agent, ask: Ask<'_>, body: Value) -> (u16, String) {
        let (status, answer) = self.by(agent, ask, body);
        assert_eq!(answer["success"], false, "{answer}");
        assert!(answer["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{answer}");
        (status, answer["error"].as_str().unwrap().to_string())
    }

    /// Has all agents play their first legal move whenever it is their turn, until nobody's game goes on.
    fn play_out(&mut self, agents: &[&Agent]) {
        loop {
            let mut has_moved = false;
            for agent in agents {
                let (_, pulse) = self.by(agent, Ask::Heartbeat, json!({}));
                if pulse["your_turn"] == true {
                    let body = json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]});
                    assert_eq!(self.told(agent, Ask::Move, body)["success"], true);
                    has_moved = true;
                }
            }
            if !has_moved {
                return;
            }
        }
    }

    fn pass_to(&mut self, ms: u64) {
        self.now = Now { ms, utc: self.now.utc_at(ms) };
        self.venue.handle(self.now, Event::Tick);
    }
}

fn code(status: u16, code: &str) -> (u16, String) {
    (status, code.to_string())
}

#[test]
fn an_agent_registers_by_name_and_its_key_opens_what_is_its() {
    let mut room = Room::new(config());
    let ada = room.molt("Ada");
    assert!(ada.key.starts_with("moltgame_") && ada.key.len() == 9 + 32, "{}", ada.key);
    let me = room.told(&ada, Ask::Me, json!({}));
    assert_eq!(
        me,
        json!({"agent_id": ada.id, "name": "Ada", "description": "plays", "rating": 1500, "games_played": 0, "room_id": null})
    );
    assert_eq!(room.ask(None, Ask::Agent(&ada.id), ""), (200, me));
    assert_eq!(room.ask(None, Ask::Agent("Ada"), "").1["error"], "invalid_agent_id");
    assert_eq!(room.ask(None, Ask::Agent(ECHO), "").0, 404);
    let (status, answer) = room.ask(None, Ask::Register, r#"{"name":"ada"}"#);
    assert_eq!((status, &answer["error"]), (409, &json!("name_taken")));
    for body in ["", "{}", "[]", "{", r#"{"name":7}"#, r#"{"name":"A"}"#] {
        let (status, answer) = room.ask(None, Ask::Register, body);
        assert_eq!((status, &answer["error"]), (400, &json!("invalid_request")), "{body}");
    }
}

#[test]
fn who_shows_no_key_or_a_wrong_one_is_told_which_it_is() {
    let mut room = Room::new(config());
    let ada = room.molt("Ada");
    let (digits, last) = ada.key.split_at(ada.key.len() - 1);
    let wrong = format!("Bearer {digits}{}", if last == "0" { "1" } else { "0" });
    for (authorization, hint) in [
        (None, "Missing Authorization header"),
        (Some("Token abc"), "Invalid Authorization format"),
        (Some("moltgame_abc"), "Invalid Authorization format"),
        (Some("Bearer moltgame_abc"), "Invalid API key"),
        (Some("Bearer 550e8400-e29b-41d4-a716-446655440000"), "Invalid API key"),
        (Some(&wrong), "Invalid API key"),
    ] {
        for ask in [Ask::Me, Ask::Open(ECHO), Ask::Match(ECHO), Ask::Join(ECHO), Ask::Heartbeat, Ask::Move] {
            let refused = json!({"success": false, "error": "unauthorized", "hint": hint});
            assert_eq!(room.ask(authorization, ask, "{}"), (401, refused), "{authorization:?}");
        }
    }
}

#[test]
fn every_game_is_listed_by_an_id_that_never_changes() {
    let mut room = Room::new(config());
    let (status, answer) = room.ask(None, Ask::Games, "");
    assert_eq!(status, 200);
    let games = answer["games"].as_array().unwrap();
    let echo = games.iter().find(|game| game["engine_type"] == "echo").unwrap();
    assert_eq!(
        *echo,
        json!({"id": ECHO, "name": "Echo", "engine_type": "echo", "min_players": 2, "max_players": 2, "skill_url": "/games/echo.md"})
    );
    assert!(games.iter().any(|game| game["id"] == "00000000-0000-0000-0000-000000000010"), "in decimal digits");
}

#[test]
fn a_room_waits_for_its_players_plays_and_is_told_to_the_end() {
    let mut room = Room::new(config());
    let (ada, bob, cyd) = (room.molt("Ada"), room.molt("Bob"), room.molt("Cyd"));
    let opened = room.told(&ada, Ask::Open(ECHO), json!({}));
    assert_eq!((&opened["status"], &opened["game_id"]), (&json!("waiting"), &json!(ECHO)));
    let id = opened["room_id"].as_str().unwrap().to_string();
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({})), code(400, "game_not_started"));
    assert_eq!(room.told(&ada, Ask::Me, json!({}))["room_id"], json!(id));
    let again = room.by(&ada, Ask::Match(ECHO), json!({}));
    assert_eq!((again.0, &again.1["error"], &again.1["room_id"]), (400, &json!("already_in_room"), &json!(id)));
    assert_eq!(room.refused(&bob, Ask::Move, json!({"room_id": id, "move": [1]})), code(400, "not_in_room"));
    assert_eq!(room.refused(&ada, Ask::Move, json!({"room_id": id, "move": [1]})), code(400, "game_not_started"));
    assert_eq!(room.told(&ada, Ask::Room(&id), json!({}))["game_state"], Value::Null);

    let joined = room.told(&bob, Ask::Join(&id), json!({}));
    assert_eq!((&joined["status"], &joined["players"]), (&json!("playing"), &json!([ada.id, bob.id])));
    assert_eq!(room.refused(&cyd, Ask::Join(&id), json!({})), code(400, "room_full"));
    assert_eq!(room.refused(&ada, Ask::Leave(&id), json!({})), code(400, "cannot_leave_non_waiting"));
    assert_eq!(room.refused(&cyd, Ask::Leave(&id), json!({})), code(400, "not_in_room"));
    assert_eq!(room.refused(&cyd, Ask::Heartbeat, json!({"room_id": id})), code(400, "not_in_room"));

    let pulse = room.told(&ada, Ask::Heartbeat, json!({}));
    assert_eq!(
        (&pulse["your_turn"], &pulse["game_over"], &pulse["room_id"]),
        (&json!(true), &json!(false), &json!(id))
    );
    assert!(pulse["legal_moves"].as_array().unwrap().iter().all(Value::is_array), "{pulse}");
    assert_eq!(pulse["game_state"]["agents"], json!([ada.id, bob.id]));
    assert_eq!(pulse["seconds_left"], 30);
    let before = pulse["state_version"].as_u64().unwrap();

    room.play_out(&[&ada, &bob]);
    let kept = room.told(&ada, Ask::Heartbeat, json!({"room_id": id}));
    assert_eq!(
        (&kept["game_over"], &kept["your_turn"], &kept["legal_moves"]),
        (&json!(true), &json!(false), &json!([]))
    );
    assert!(kept["state_version"].as_u64().unwrap() > before, "{kept}");
    assert_eq!(kept["game_state"]["standing"].as_array().unwrap().len(), 2, "{kept}");
    assert_eq!(room.refused(&ada, Ask::Move, json!({"room_id": id, "move": [1]})), code(404, "game_not_found"));
    assert_eq!(room.ask(None, Ask::Spectate(&id), "").1["status"], "finished");
    assert_eq!(room.told(&ada, Ask::Me, json!({}))["games_played"], 1);
}

#[test]
fn the_end_of_a_game_is_told_once_to_whoever_asks_without_naming_it() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({})), code(404, "no_active_game"));
    assert_eq!(room.told(&ada, Ask::Match(ECHO), json!({}))["matched"], false);
    assert_eq!(room.told(&bob, Ask::Match(ECHO), json!({}))["matched"], true);
    loop {
        let pulse = room.told(&ada, Ask::Heartbeat, json!({}));
        if pulse["game_over"] == true {
            break;
        }
        for agent in [&ada, &bob] {
            let body = json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]});
            room.told(agent, Ask::Move, body);
        }
    }
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({})), code(404, "no_active_game"));
    assert_eq!(room.told(&bob, Ask::Heartbeat, json!({}))["game_over"], true);
    assert_eq!(room.refused(&bob, Ask::Heartbeat, json!({})), code(404, "no_active_game"));
}

#[test]
fn a_room_is_left_while_it_waits_and_is_closed_with_the_last() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    let id = room.told(&ada, Ask::Open(DANCE), json!({}))["room_id"].as_str().unwrap().to_string();
    assert_eq!(room.told(&bob, Ask::Match(DANCE), json!({}))["room_id"], json!(id), "it waits for more");
    let left = room.told(&ada, Ask::Leave(&id), json!({}));
    assert_eq!((&left["status"], &left["players"]), (&json!("waiting"), &json!([bob.id])));
    assert_eq!(room.refused(&ada, Ask::Leave(&id), json!({})), code(400, "not_in_room"));
    let left = room.told(&bob, Ask::Leave(&id), json!({}));
    assert_eq!((&left["status"], &left["players"]), (&json!("closed"), &json!([])));
    assert_eq!(room.refused(&ada, Ask::Join(&id), json!({})), code(404, "room_not_found"));
    assert_eq!(room.refused(&ada, Ask::Room(&id), json!({})), code(404, "room_not_found"));
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({"room_id": id})), code(404, "game_not_found"));
}

#[test]
fn whoever_opened_a_room_may_leave_it_to_others_and_the_oldest_room_is_filled_first() {
    let mut room = Room::new(config());
    let [ada, bob, cyd, dan, eve] = ["Ada", "Bob", "Cyd", "Dan", "Eve"].map(|name| room.molt(name));
    let first = room.told(&ada, Ask::Open(DANCE), json!({}))["room_id"].as_str().unwrap().to_string();
    room.told(&bob, Ask::Join(&first), json!({}));
    let second = room.told(&cyd, Ask::Open(DANCE), json!({}))["room_id"].as_str().unwrap().to_string();
    room.told(&ada, Ask::Leave(&first), json!({}));
    // Bob keeps it now, and came before Cyd.
    assert_eq!(room.told(&dan, Ask::Match(DANCE), json!({}))["room_id"], json!(first));
    room.told(&dan, Ask::Leave(&first), json!({}));
    room.told(&bob, Ask::Leave(&first), json!({}));
    assert_eq!(room.told(&eve, Ask::Match(DANCE), json!({}))["room_id"], json!(second));
    assert_eq!(room.told(&eve, Ask::Room(&second), json!({}))["players"], json!([cyd.id, eve.id]));
}

#[test]
fn whoever_plays_in_a_league_that_runs_waits_in_no_room() {
    let mut room = Room::of(config(), 2);
    let ada = room.molt("Ada");
    let id = room.told(&ada, Ask::Open(GOMOKU), json!({}))["room_id"].as_str().unwrap().to_string();
    room.venue.command(room.now, Command::Start).unwrap();
    let bob = room.molt("Bob");
    assert_eq!(room.refused(&bob, Ask::Join(&id), json!({})), code(404, "room_not_found"));
    assert_eq!(room.refused(&ada, Ask::Match(GOMOKU), json!({})), code(400, "already_in_room"));
    assert_eq!(room.told(&bob, Ask::Match(GOMOKU), json!({}))["status"], "waiting", "it came later, and plays beside");
}

#[test]
fn what_is_wrong_with_a_request_is_named() {
    let mut room = Room::new(config());
    let ada = room.molt("Ada");
    assert_eq!(room.refused(&ada, Ask::Open("landlord"), json!({})), code(400, "invalid_game_id"));
    assert_eq!(room.refused(&ada, Ask::Match(&ada.id.clone()), json!({})), code(400, "invalid_game_id"));
    assert_eq!(room.refused(&ada, Ask::Join("7"), json!({})), code(400, "invalid_room_id"));
    assert_eq!(room.refused(&ada, Ask::Join(&ada.id.clone()), json!({})), code(404, "room_not_found"));
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({"room_id": "7"})), code(400, "invalid_room_id"));
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({"room_id": ada.id})), code(404, "game_not_found"));
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!([])), code(400, "invalid_request"));
    assert_eq!(room.refused(&ada, Ask::Move, json!({"move": [1]})), code(400, "invalid_request"));
    assert_eq!(room.refused(&ada, Ask::Move, json!({"room_id": ada.id})), code(400, "invalid_request"));
    for seats in [json!(1), json!(7), json!("2"), json!(2.5), json!(300)] {
        assert_eq!(room.refused(&ada, Ask::Open(ECHO), json!({"seats": seats})), code(400, "invalid_request"));
    }
    // A body that is not there is an empty object, and what nobody asks for is ignored.
    let key = format!("bearer {}", ada.key);
    assert_eq!(room.ask(Some(&key), Ask::Heartbeat, "").1["error"], "no_active_game");
    assert_eq!(room.ask(Some(&key), Ask::Heartbeat, r#"{"status":"idle"}"#).1["error"], "no_active_game");
}

#[test]
fn a_move_is_judged_by_the_rules_and_a_refusal_names_the_rule() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    room.told(&ada, Ask::Match(GOMOKU), json!({}));
    let id = room.told(&bob, Ask::Match(GOMOKU), json!({}))["room_id"].clone();
    let (first, second) = match room.told(&ada, Ask::Heartbeat, json!({}))["your_turn"] == true {
        true => (&ada, &bob),
        false => (&bob, &ada),
    };
    let pulse = room.told(second, Ask::Heartbeat, json!({}));
    assert_eq!((&pulse["your_turn"], &pulse["legal_moves"]), (&json!(false), &json!([])));
    let legal = room.told(first, Ask::Heartbeat, json!({}))["legal_moves"][0].clone();
    assert_eq!(room.refused(second, Ask::Move, json!({"room_id": id, "move": legal})), code(400, "not_your_turn"));
    assert_eq!(room.refused(first, Ask::Move, json!({"room_id": id, "move": legal[0]})), code(400, "invalid_move"));
    assert_eq!(room.refused(first, Ask::Move, json!({"room_id": id, "move": ["nowhere"]})), code(400, "invalid_move"));
    assert_eq!(room.told(first, Ask::Move, json!({"room_id": id, "move": legal}))["success"], true);
    assert_eq!(room.refused(first, Ask::Move, json!({"room_id": id, "move": legal})), code(400, "not_your_turn"));
}

#[test]
fn whoever_is_late_has_its_first_legal_move_played_and_loses_after_five_in_a_row() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    room.told(&ada, Ask::Match(ECHO), json!({}));
    room.told(&bob, Ask::Match(ECHO), json!({}));
    for turn in 1..=u64::from(MISSED_TURNS) {
        let pulse = room.told(&ada, Ask::Heartbeat, json!({}));
        assert_eq!(pulse["game_over"], false, "turn {turn}");
        assert_eq!(pulse["state_version"], turn);
        let body = json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]});
        room.told(&ada, Ask::Move, body);
        room.pass_to(turn * 30_000);
    }
    let pulse = room.told(&ada, Ask::Heartbeat, json!({}));
    assert_eq!(pulse["game_over"], true, "{pulse}");
    assert_eq!(pulse["game_state"]["standing"][1]["place"], 2, "{pulse}");
}

#[test]
fn whoever_stops_asking_while_it_waits_is_not_played_with() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    let first = room.told(&ada, Ask::Match(ECHO), json!({}))["room_id"].clone();
    room.pass_to(61_000);
    let second = room.told(&bob, Ask::Match(ECHO), json!({}));
    assert_eq!((&second["matched"], second["room_id"] == first), (&json!(false), false), "{second}");
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({})), code(404, "no_active_game"));
}

#[test]
fn agents_of_two_protocols_meet_in_a_room() {
    let mut room = Room::new(config());
    let ada = room.molt("Ada");
    room.told(&ada, Ask::Match(ECHO), json!({}));
    let (_, enrolled) = room.enrol("Bob");
    let token = json!({"type": "authenticate", "token": enrolled["apiKey"]}).to_string();
    let crate::protocols::league_of_agents::Reply::Authenticated(issue) =
        room.venue.hear_arena(room.now, None, token.as_bytes())
    else {
        panic!("no key");
    };
    let line = room.venue.line_of(issue).unwrap();
    room.venue.handle(room.now, Event::Arrived { player: line });
    room.venue.hear_arena(room.now, Some(issue), br#"{"type":"join_queue","gameType":"echo"}"#);
    let pulse = room.told(&ada, Ask::Heartbeat, json!({}));
    assert_eq!((&pulse["your_turn"], &pulse["game_state"]["agents"][1]), (&json!(true), &enrolled["agentId"]));
}

#[test]
fn who_sits_at_a_table_and_what_the_game_says_of_its_players_are_two_members() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    room.told(&ada, Ask::Match(HOLDEM), json!({}));
    room.told(&bob, Ask::Match(HOLDEM), json!({}));
    let state = room.told(&ada, Ask::Heartbeat, json!({}))["game_state"].clone();
    assert_eq!(state["agents"], json!([ada.id, bob.id]));
    assert_eq!(state["players"][1]["id"], json!(bob.id), "{state}");
}

#[test]
fn its_agents_play_a_league_beside_others_and_its_matches_are_their_rooms() {
    let mut room = Room::of(config(), 2);
    let agents = ["Ada", "Bob", "Cyd"].map(|name| room.molt(name));
    room.venue.command(room.now, Command::Start).unwrap();
    let mut rooms = Vec::new();
    while room.venue.stage() != Stage::Completed || !room.venue.is_over() {
        let mut has_moved = false;
        while room.venue.poll_output().is_some() {}
        for player in 0..2 {
            if let Some(reply) = room.call(player).and_then(|call| perfect(player, &call)) {
                room.answer(player, reply);
                has_moved = true;
            }
        }
        for agent in &agents {
            let (_, pulse) = room.by(agent, Ask::Heartbeat, json!({}));
            if pulse["your_turn"] == true {
                rooms.push(pulse["room_id"].as_str().unwrap().to_string());
                room.told(agent, Ask::Move, json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]}));
                has_moved = true;
            }
        }
        if !has_moved {
            let at = room.venue.next_deadline().expect("somebody is waited for");
            room.pass_to(at);
        }
    }
    assert_eq!(room.venue.status().matches_completed, 10);
    assert_eq!(room.venue.standings().map(|row| u32::from(row.technical_losses)).sum::<u32>(), 0);
    assert_eq!(rooms.len(), 12, "four matches each");
    let kept = room.told(&agents[0], Ask::Room(&rooms[0]), json!({}));
    assert_eq!(kept["status"], "finished");
}

#[test]
fn keys_ratings_and_games_that_are_over_outlive_a_power_cut_and_rooms_that_wait_do_not() {
    let mut room = Room::new(config());
    let mut pieces = Pieces::default();
    room.venue.keep_facts();
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    room.told(&ada, Ask::Match(ECHO), json!({}));
    let id = room.told(&bob, Ask::Match(ECHO), json!({}))["room_id"].as_str().unwrap().to_string();
    pieces.keep(&mut room.venue);
    room.play_out(&[&ada, &bob]);
    pieces.keep(&mut room.venue);
    let before = room.told(&ada, Ask::Me, json!({}));
    room.told(&ada, Ask::Open(ECHO), json!({}));
    pieces.keep(&mut room.venue);
    room.venue = pieces.restore();
    assert_eq!(room.told(&ada, Ask::Me, json!({})), before);
    assert_eq!(room.told(&bob, Ask::Room(&id), json!({}))["status"], "finished");
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({})), code(404, "no_active_game"));
}

#[test]
fn the_id_of_a_room_that_was_lost_in_a_power_cut_names_no_other_room_afterwards() {
    let mut room = Room::new(config());
    let mut pieces = Pieces::default();
    room.venue.keep_facts();
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    let opened = |room: &mut Room| {
        let id = room.told(&ada, Ask::Open(ECHO), json!({}))["room_id"].as_str().unwrap().to_string();
        let number = room.venue.who_waits(0).next().unwrap().match_id.unwrap().0;
        (id, number)
    };
    pieces.keep(&mut room.venue);
    let (lost, number) = opened(&mut room);
    pieces.keep(&mut room.venue);
    room.venue = pieces.restore();
    let (id, same) = opened(&mut room);
    assert_eq!(number, same, "it is the first game, again");
    assert_ne!(id, lost);
    assert_eq!(room.refused(&bob, Ask::Join(&lost), json!({})), code(404, "room_not_found"));
    assert_eq!(room.refused(&ada, Ask::Heartbeat, json!({"room_id": lost})), code(404, "game_not_found"));
    assert_eq!(room.refused(&bob, Ask::Say(Some(&lost)), json!({"text": "Hello?"})), code(404, "room_not_found"));
    assert_eq!(room.told(&bob, Ask::Join(&id), json!({}))["status"], "playing");
    room.play_out(&[&ada, &bob]);
    assert_eq!(room.told(&bob, Ask::Room(&id), json!({}))["status"], "finished", "it keeps its id to the end");
}

#[test]
fn what_is_said_is_told_to_anybody_by_channel_the_oldest_first() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    let id = room.told(&ada, Ask::Open(GOMOKU), json!({}))["room_id"].as_str().unwrap().to_string();
    room.now.utc.0 += 3_600;
    let said = room.told(&ada, Ask::Say(None), json!({"text": "Hello, \"all\""}));
    assert_eq!((&said["sender"], &said["text"], said.get("room_id")), (&json!("Ada"), &json!("Hello, \"all\""), None));
    let moment = said["created_at"].as_str().unwrap();
    assert_eq!(said["time"], json!(moment[11..16]), "{moment}");
    let said = room.told(&bob, Ask::Say(Some(&id)), json!({"text": "Who is here?"}));
    assert_eq!(said["room_id"], json!(id));
    let (_, page) = room.ask(None, Ask::Chat(Some(&id)), "");
    assert_eq!(page, json!({"messages": [said]}));
    room.now.utc.0 += 2;
    room.told(&ada, Ask::Say(None), json!({"text": "Again"}));
    assert_eq!(room.texts(None, ""), ["Hello, \"all\"", "Again"]);
    assert_eq!(room.texts(None, "limit=1"), ["Again"]);
    for odd in ["limit=0", "limit=101", "limit=x", "limit", "limit=-1"] {
        assert_eq!(room.texts(None, odd).len(), 2, "{odd}");
    }
}

#[test]
fn a_message_there_is_no_room_for_is_refused_and_none_gives_way_to_it_until_a_game_does() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    room.told(&ada, Ask::Say(None), json!({"text": "Hello"}));
    let refusals = |room: &Room| {
        let is_full = |entry: &Entry| matches!(entry.what, Happening::BadMessage("server_full"));
        room.venue.log().entries(0..u64::MAX).filter(is_full).filter_map(|entry| entry.times).sum::<u16>()
    };
    // A game keeps so much that there is room for short messages only.
    room.venue.leave_room_for(60);
    room.now.utc.0 += 2;
    assert_eq!(room.refused(&bob, Ask::Say(None), json!({"text": "x".repeat(100)})), code(503, "server_full"));
    assert_eq!(refusals(&room), 1);
    assert_eq!(room.venue.players().iter().map(|player| player.compliance.broken().count()).sum::<usize>(), 0);
    assert_eq!(room.texts(None, ""), ["Hello"], "what was said stays");
    room.told(&bob, Ask::Say(None), json!({"text": "A short one"}));
    assert_eq!(room.texts(None, ""), ["A short one"], "in the place of the oldest");
    room.venue.leave_room_for(5);
    assert_eq!(room.texts(None, ""), [""; 0], "games come before chat");
    room.now.utc.0 += 2;
    assert_eq!(room.refused(&bob, Ask::Say(None), json!({"text": "!"})), code(503, "server_full"));
    assert_eq!(refusals(&room), 2);
    // The game is over.
    room.venue.leave_room_for(4_000);
    let said = room.told(&bob, Ask::Say(None), json!({"text": "x".repeat(100)}));
    assert_eq!(said["id"].as_str().map(|id| id.ends_with("03")), Some(true), "what was refused has no number: {said}");
    assert_eq!(room.texts(None, "").len(), 1);
}

#[test]
fn what_cannot_be_said_is_refused_by_its_rule() {
    let mut room = Room::new(config());
    let ada = room.molt("Ada");
    let long = "x".repeat(201);
    for body in [json!({}), json!({"text": ""}), json!({"text": " "}), json!({"text": 7}), json!({"text": long})] {
        assert_eq!(room.refused(&ada, Ask::Say(None), body), code(400, "invalid_request"));
    }
    assert_eq!(room.refused(&ada, Ask::Say(None), json!({"text": "a\nb"})), code(400, "invalid_request"));
    assert_eq!(room.refused(&ada, Ask::Say(Some("7")), json!({"text": "a"})), code(400, "invalid_room_id"));
    assert_eq!(room.refused(&ada, Ask::Say(Some(&ada.id)), json!({"text": "a"})), code(404, "room_not_found"));
    assert_eq!(room.ask(None, Ask::Say(None), r#"{"text":"a"}"#).0, 401);
    room.told(&ada, Ask::Say(None), json!({"text": "x".repeat(200)}));
    assert_eq!(room.refused(&ada, Ask::Say(None), json!({"text": "a"})), code(429, "rate_limited"));
    assert_eq!(room.texts(None, "").len(), 1);
}

#[test]
fn chat_is_bounded_the_oldest_is_dropped_first_and_nobody_drives_all_others_out() {
    let mut room = Room::new(config());
    let agents: Vec<Agent> = (0..6).map(|n| room.molt(&format!("Agent {n}"))).collect();
    room.told(&agents[0], Ask::Say(None), json!({"text": "first"}));
    for n in 0..30 {
        room.now.utc.0 += 2;
        room.told(&agents[1], Ask::Say(None), json!({"text": format!("mine {n}")}));
    }
    let texts = room.texts(None, "");
    assert_eq!((texts.len(), &*texts[0], &*texts[1], &*texts[10]), (11, "first", "mine 20", "mine 29"));
    for n in 0..20 {
        room.now.utc.0 += 2;
        agents[2..].iter().for_each(|agent| {
            room.told(agent, Ask::Say(None), json!({"text": format!("{n} {}", "x".repeat(190))}));
        });
    }
    let texts = room.texts(None, "");
    assert!(!texts.contains(&"first".to_string()) && texts.len() >= 8, "{}", texts.len());
    assert!(texts.last().unwrap().starts_with("19 "));
}

#[test]
fn what_somebody_said_goes_with_it() {
    let mut room = Room::new(config());
    let ada = room.molt("Ada");
    room.molt("Bob");
    room.told(&ada, Ask::Say(None), json!({"text": "rude"}));
    let number = room.venue.players()[0].number;
    room.venue.remove(room.now, number).unwrap();
    assert_eq!(room.texts(None, ""), Vec::<String>::new());
}

#[test]
fn the_log_of_a_room_begins_with_who_sat_down() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    let id = room.told(&ada, Ask::Open(ECHO), json!({}))["room_id"].as_str().unwrap().to_string();
    let kinds = |rows: &Value| rows.as_array().unwrap().iter().map(|row| row["type"].clone()).collect::<Vec<_>>();
    let (_, rows) = room.ask(None, Ask::Logs(&id), "");
    assert_eq!((kinds(&rows), &rows[0]["agent_id"]), (std::vec![json!("join")], &json!(ada.id)));
    room.told(&bob, Ask::Join(&id), json!({}));
    let (_, rows) = room.ask(None, Ask::Logs(&id), "");
    assert_eq!(kinds(&rows), ["join", "join", "game_start"]);
    assert_eq!(rows[2]["payload"], json!({"game": "echo", "seats": 2}));
    let (_, rows) = room.ask_by(None, Ask::Logs(&id), "limit=1&offset=1", "", true);
    assert_eq!(rows[0]["agent_id"], json!(bob.id));
    assert_eq!(room.ask(None, Ask::Logs("7"), "").1["error"], "invalid_room_id");
    assert_eq!(room.ask(None, Ask::Logs(&ada.id), "").1["error"], "room_not_found");
}

#[test]
fn heartbeats_more_often_than_once_a_second_break_a_rule_and_are_answered_while_there_is_time() {
    let mut room = Room::new(config());
    let (ada, bob) = (room.molt("Ada"), room.molt("Bob"));
    room.told(&ada, Ask::Match(ECHO), json!({}));
    room.told(&bob, Ask::Match(ECHO), json!({}));
    let broken = |room: &Room| room.venue.players()[0].compliance.broken().count();
    let pulse = room.told(&ada, Ask::Heartbeat, json!({}));
    room.told(&ada, Ask::Move, json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]}));
    // One after a move of its own is never too soon.
    room.told(&ada, Ask::Heartbeat, json!({}));
    room.pass_to(room.now.ms + 1_000);
    room.told(&ada, Ask::Heartbeat, json!({}));
    assert_eq!(broken(&room), 0);
    room.pass_to(room.now.ms + 100);
    room.told(&ada, Ask::Heartbeat, json!({}));
    assert_eq!(broken(&room), 1);
    let key = format!("Bearer {}", ada.key);
    let (status, answer) = room.ask_by(Some(&key), Ask::Heartbeat, "", "{}", false);
    assert_eq!((status, &answer["error"]), (429, &json!("rate_limited")));
    let key = format!("Bearer {}", bob.key);
    assert_eq!(room.ask_by(Some(&key), Ask::Heartbeat, "", "{}", false).0, 200, "it has not asked before");
}

#[test]
fn an_agent_may_stay_out_of_leagues_and_says_of_itself_what_outlives_a_power_cut() {
    let mut room = Room::of(config(), 2);
    let mut pieces = Pieces::default();
    room.venue.keep_facts();
    let body = json!({"name": "Cyd", "description": "Only rooms", "league": false}).to_string();
    let (_, answer) = room.ask(None, Ask::Register, &body);
    let cyd = Agent {
        id: answer["agent"]["agent_id"].as_str().unwrap().to_string(),
        key: answer["agent"]["api_key"].as_str().unwrap().to_string(),
    };
    pieces.keep(&mut room.venue);
    room.venue = pieces.restore();
    assert_eq!(room.told(&cyd, Ask::Me, json!({}))["description"], "Only rooms");
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(room.venue.status().total_matches, 1);
    assert_eq!(room.told(&cyd, Ask::Match(ECHO), json!({}))["status"], "waiting");
    for body in [
        json!({"name": "Dan", "description": "x".repeat(65)}),
        json!({"name": "Dan", "description": "a\nb"}),
        json!({"name": "Dan", "description": 7}),
        json!({"name": "Dan", "league": "no"}),
    ] {
        assert_eq!(room.ask(None, Ask::Register, &body.to_string()).1["error"], "invalid_request", "{body}");
    }
}

#[test]
fn bad_requests_are_in_the_report_of_who_makes_them_and_impatience_is_not() {
    let mut room = Room::new(config());
    let ada = room.molt("Ada");
    room.by(&ada, Ask::Heartbeat, json!({}));
    let violations = |room: &Room| room.venue.players()[0].compliance.broken().count();
    assert_eq!(violations(&room), 0);
    room.pass_to(1_000);
    room.by(&ada, Ask::Heartbeat, json!({"room_id": 7}));
    assert_eq!(violations(&room), 1);
}

#[test]
fn every_refusal_has_a_code_and_a_hint() {
    for trouble in Trouble::ALL {
        let (code, hint) = trouble.words();
        assert!(!code.is_empty() && !hint.is_empty() && trouble.status() >= 400);
    }
}

#[test]
fn no_move_is_listed_that_brings_back_what_must_not_come_again() {
    let mut room = Room::new(Config { game: GameKind::Stroll, ..config() });
    let agents = ["Ada", "Bob"].map(|name| room.molt(name));
    room.venue.command(room.now, Command::Start).unwrap();
    let lists = |pulse: &Value, step: &str| pulse["legal_moves"].as_array().unwrap().contains(&json!([{"go": step}]));
    let mut walkers = agents.iter().rev().cycle();
    for step in ["north", "east", "south", "south"] {
        let agent = walkers.next().unwrap();
        let pulse = room.told(agent, Ask::Heartbeat, json!({}));
        assert!(lists(&pulse, step), "{pulse}");
        room.told(agent, Ask::Move, json!({"room_id": pulse["room_id"], "move": [{"go": step}]}));
    }
    let agent = walkers.next().unwrap();
    let pulse = room.told(agent, Ask::Heartbeat, json!({}));
    assert!(!lists(&pulse, "north") && lists(&pulse, "south"), "{pulse}");
    let back = json!({"room_id": pulse["room_id"], "move": [{"go": "north"}]});
    assert_eq!(room.refused(agent, Ask::Move, back), code(400, "invalid_move"));
}
