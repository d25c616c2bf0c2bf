//! Agents of MoltGame: they poll, one connection for each question, as curl does.

use crate::http::{self, Response};
use crate::leaguebox::LeagueBox;
use crate::settings::Settings;
use crate::{PATIENCE, wait_for};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Landlord, as it is called in paths.
pub const LANDLORD: &str = "00000000-0000-0000-0000-000000000001";
/// RockPaper, as it is called in paths.
pub const ROCKPAPER: &str = "00000000-0000-0000-0000-000000000002";
/// Blackjack, as it is called in paths.
pub const BLACKJACK: &str = "00000000-0000-0000-0000-000000000003";
/// Texas Hold'em, as it is called in paths.
pub const TEXASHOLDEM: &str = "00000000-0000-0000-0000-000000000004";
/// `echo`, as it is called in paths.
pub const ECHO: &str = "00000000-0000-0000-0000-000000000005";
/// `skill-gomoku`, as it is called in paths.
pub const GOMOKU: &str = "00000000-0000-0000-0000-000000000007";
/// `dance-battle`, as it is called in paths.
pub const DANCE: &str = "00000000-0000-0000-0000-000000000009";

/// An agent. It knows where the box is, and nothing else of it.
#[derive(Debug, Clone)]
pub struct Agent {
    /// What others call it.
    pub id: String,
    /// What it shows.
    pub key: String,
    /// Where the box is.
    pub address: SocketAddr,
}

/// The answer to one question: its status and its JSON. A box whose connections are all taken refuses one more; that is no
/// answer, so it is asked again.
pub fn ask(address: SocketAddr, key: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
    let answer = answer(address, key, method, path, body);
    assert!(serde_json::from_str::<Distinct>(&answer.body).is_ok(), "a member stands there twice: {}", answer.body);
    (answer.status, answer.json())
}

/// The same as it came.
fn answer(address: SocketAddr, key: &str, method: &str, path: &str, body: &str) -> Response {
    try_answer(address, key, method, path, body).unwrap_or_else(|why| panic!("{method} {path}: {why}"))
}

/// The same of a box that has more to do than it can: it may close a connection that it has taken, and then nobody knows
/// whether it has heard.
fn try_answer(address: SocketAddr, key: &str, method: &str, path: &str, body: &str) -> std::io::Result<Response> {
    let key = if key.is_empty() { String::new() } else { format!("Authorization: Bearer {key}\r\n") };
    let (headers, path) = (format!("Content-Type: application/json\r\n{key}"), format!("/api/v1{path}"));
    let begun = Instant::now();
    loop {
        match http::request(address, method, &path, &headers, body) {
            Err(why) if why.kind() == ErrorKind::ConnectionRefused && begun.elapsed() < PATIENCE => {
                sleep(Duration::from_millis(50));
            }
            heard => return heard,
        }
    }
}

/// JSON in which no object has a member twice. What most who read JSON would let pass.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Distinct;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
                let mut names = BTreeSet::new();
                while let Some((name, Distinct)) = map.next_entry::<String, Distinct>()? {
                    if !names.insert(name) {
                        return Err(A::Error::custom("twice"));
                    }
                }
                Ok(Distinct)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Distinct, A::Error> {
                while seq.next_element::<Distinct>()?.is_some() {}
                Ok(Distinct)
            }

            fn visit_unit<E>(self) -> Result<Distinct, E> {
                Ok(Distinct)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Distinct, E> {
                Ok(Distinct)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Distinct, E> {
                Ok(Distinct)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Distinct, E> {
                Ok(Distinct)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Distinct, E> {
                Ok(Distinct)
            }

            fn visit_str<E>(self, _: &str) -> Result<Distinct, E> {
                Ok(Distinct)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// What anybody may read.
pub fn read(leaguebox: &LeagueBox, path: &str) -> Value {
    let (status, answer) = ask(leaguebox.address, "", "GET", path, "");
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

impl Agent {
    /// Registers by a name.
    pub fn register(leaguebox: &LeagueBox, name: &str) -> Agent {
        Agent::register_with(leaguebox, json!({"name": name, "description": "optional"}))
    }

    /// Registers by all that it says of itself. A class that comes all at once is told to wait.
    pub fn register_with(leaguebox: &LeagueBox, body: Value) -> Agent {
        let address = leaguebox.address;
        let answer = wait_for("there is a place for one more", || {
            let (status, answer) = ask(address, "", "POST", "/agents/register", &body.to_string());
            assert!(status == 200 || status == 429, "{status} {answer}");
            (status == 200).then_some(answer)
        });
        let text = |member: &str| answer["agent"][member].as_str().expect("text").to_owned();
        Agent { id: text("agent_id"), key: text("api_key"), address }
    }

    /// POST, whatever comes back.
    pub fn post(&self, path: &str, body: Value) -> (u16, Value) {
        ask(self.address, &self.key, "POST", path, &body.to_string())
    }

    /// GET, whatever comes back.
    pub fn get(&self, path: &str) -> (u16, Value) {
        ask(self.address, &self.key, "GET", path, "")
    }

    /// What it is told that must be in order.
    pub fn told(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.post(path, body);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// A heartbeat, whatever comes back.
    pub fn beat(&self) -> Value {
        self.post("/agents/heartbeat", json!({})).1
    }

    /// Sits down with whoever wants to play that game: the room.
    pub fn sits_down(&self, game: &str) -> String {
        let room = self.told(&format!("/games/{game}/match"), json!({}));
        room["room_id"].as_str().expect("an id").to_owned()
    }

    /// Plays as `choose` says whenever it is its turn, until its game is over: how that ended, and how many moves it made. It
    /// asks again at once after a move of its own, and else once a second.
    pub fn plays(&self, choose: impl Fn(&Value) -> Value) -> (Value, usize) {
        let Played { end, moves, unsure, .. } = self.plays_patiently(choose);
        assert_eq!(unsure, 0, "the box closed a connection before it answered");
        (end, moves)
    }

    /// The same where the box may have no time: it is asked again in a second.
    pub fn plays_patiently(&self, choose: impl Fn(&Value) -> Value) -> Played {
        let (mut played, mut moved) = (Played::default(), Instant::now());
        while moved.elapsed() < PATIENCE {
            let pulse = match self.heard("/agents/heartbeat", &json!({}), &mut played) {
                Some((200 | 400, pulse)) => pulse,
                Some((status, answer)) => panic!("{status} {answer}"),
                None => continue,
            };
            if pulse["game_over"] == true {
                return Played { end: pulse, ..played };
            }
            if pulse["your_turn"] != true {
                sleep(Duration::from_secs(1));
                continue;
            }
            let body = json!({"room_id": pulse["room_id"], "move": choose(&pulse)});
            let resets = played.resets;
            match self.heard("/agents/move", &body, &mut played) {
                Some((200, answer)) => {
                    assert_eq!(answer["success"], true, "{answer}");
                    (played.moves, moved) = (played.moves + 1, Instant::now());
                }
                Some((status, answer)) => panic!("{body}: {status} {answer}"),
                None => played.unsure += played.resets - resets,
            }
        }
        panic!("the game goes on, and it is never its turn");
    }

    /// The answer, unless the box has no time for it; then a second has gone by.
    fn heard(&self, path: &str, body: &Value, played: &mut Played) -> Option<(u16, Value)> {
        match try_answer(self.address, &self.key, "POST", path, &body.to_string()) {
            Ok(answer) if answer.status == 429 || answer.status == 503 => {
                let code = if answer.status == 429 { "rate_limited" } else { "server_full" };
                is_refused((answer.status, answer.json()), answer.status, code);
                assert!(answer.header("retry-after").is_some(), "{answer:?}");
                played.put_off += 1;
            }
            Ok(answer) => return Some((answer.status, answer.json())),
            Err(why) if why.kind() == ErrorKind::ConnectionReset => played.resets += 1,
            Err(why) => panic!("POST {path}: {why}"),
        }
        sleep(Duration::from_secs(1));
        None
    }
}

/// How a game went for an agent.
#[derive(Debug, Default)]
pub struct Played {
    /// The last heartbeat.
    pub end: Value,
    /// Moves that were taken,
    pub moves: usize,
    /// and those of which it is not known, because their connection was closed.
    pub unsure: usize,
    /// Connections that were closed before an answer,
    pub resets: usize,
    /// and questions that were answered with "later".
    pub put_off: usize,
}

/// The move that is always safe.
pub fn first(pulse: &Value) -> Value {
    pulse["legal_moves"][0].clone()
}

/// A move by which games end soon: all chips, where that can be; the most cards; else the first.
pub fn boldest(pulse: &Value) -> Value {
    let moves = pulse["legal_moves"].as_array().expect("moves");
    let all_in = moves.iter().find(|legal| legal[0] == "all_in");
    let longest = moves.iter().rev().max_by_key(|legal| legal.as_array().map_or(0, Vec::len));
    all_in.or(longest.filter(|_| pulse["game_state"].get("landlord").is_some())).unwrap_or(&moves[0]).clone()
}

/// A league whose first match deals the hand with the most moves there are, 497, to the landlord, if that is seat 0. One seed in
/// some hundred thousand does.
pub fn worst_deal() -> Settings {
    let mut seed = [0x42; 32];
    seed[24..].copy_from_slice(&167_822_u64.to_be_bytes());
    Settings { game: "landlord", seed: Some(seed), ..Settings::default() }
}

/// Has three agents register and begin that league: the landlord, who is to lead.
pub fn worst_landlord(leaguebox: &LeagueBox) -> Agent {
    let agents = ["Ada", "Bob", "Cyd"].map(|name| Agent::register(leaguebox, name));
    assert_eq!(leaguebox.admin("start").status, 200);
    let mut seats = agents.into_iter().map(|agent| (agent.told("/agents/heartbeat", json!({})), agent));
    let first = seats.find(|(pulse, _)| pulse["game_state"]["your_seat"] == 0);
    let (pulse, landlord) = first.expect("somebody sits in seat 0");
    landlord.told("/agents/move", json!({"room_id": pulse["room_id"], "move": ["bid", "3"]}));
    landlord
}

/// Fails unless it is a refusal of this status and code, with a hint.
pub fn is_refused((status, answer): (u16, Value), expected: u16, code: &str) {
    assert_eq!((status, &answer["success"], &answer["error"]), (expected, &json!(false), &json!(code)), "{answer}");
    assert!(answer["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{answer}");
}

/// How often an agent has broken a rule, by the report of it that anybody may read.
pub fn broken(leaguebox: &LeagueBox, name: &str, rule: &str) -> u64 {
    let players = leaguebox.get_json("/api/players.json");
    let mut rows = players["players"].as_array().expect("players").iter();
    let player = rows.find(|player| player["display_name"] == name).unwrap_or_else(|| panic!("{name} in {players}"));
    let report = leaguebox.get_json(&format!("/api/players/{}.json", player["player_id"].as_str().expect("an id")));
    let rules = report["compliance"].as_array().unwrap_or_else(|| panic!("no compliance in {report}"));
    let noted = rules.iter().find(|noted| noted["rule"] == rule);
    noted.map_or(0, |noted| noted["count"].as_u64().unwrap_or_else(|| panic!("no count in {noted}")))
}
