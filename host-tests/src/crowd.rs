//! Many honest players in one process: canonical dialect, one listener, one path per player, one thread per connection.
//!
//! For leagues where the players are not the question. It remembers what every player was told, in the order it was
//! told, so a test can judge by the order of events and not by the clock. Real agents are in `players/`.

use crate::device::DEVICE;
use crate::leaguebox::LeagueBox;
use crate::websocket::WebSocket;
use crate::{PATIENCE, wait_for};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// What the crowd can play.
const GAMES: [&str; 14] = [
    "even_odd",
    "even_odd_10",
    "echo",
    "blotto",
    "skill-gomoku",
    "dance-battle",
    "resource-rush",
    "landlord",
    "rockpaper",
    "blackjack",
    "texasholdem",
    "chess",
    "go",
    "trade_deal",
];

const THROWS: [&str; 3] = ["rock", "paper", "scissors"];

/// One message that one player received. Its place in the list is when.
#[derive(Debug, Clone)]
pub struct Event {
    /// Which player of the crowd, from 0.
    pub player: usize,
    /// The message, without its JSON-RPC envelope.
    pub message: Value,
}

impl Event {
    /// Whether it is of this type.
    pub fn is(&self, message_type: &str) -> bool {
        self.message["message_type"] == message_type
    }
}

/// What a player learned when it registered.
#[derive(Debug, Clone)]
pub struct Member {
    /// The id the box gave it.
    pub id: String,
    /// The token the box gave it.
    pub token: String,
    /// The name it gave itself.
    pub name: String,
}

/// What a player does with a call, by its number and that of the call.
pub type Habit = fn(player: usize, call: usize) -> Does;

/// What a player does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It answers.
    Answer,
    /// It answers after so many milliseconds.
    Wait(u64),
    /// It answers, and closes the connection.
    AnswerAndClose,
    /// It closes the connection.
    HangUp,
    /// It answers something that is no JSON.
    Babble,
}

/// The players.
pub struct Crowd {
    /// Those who registered, in that order.
    pub members: Vec<Member>,
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    events: Mutex<Vec<Event>>,
    /// Messages answered.
    told: AtomicUsize,
    /// Players that were told that the league is over.
    finished: AtomicUsize,
    /// How long a player thinks before every choice.
    thinking: Duration,
    /// A player asked for its choice waits while this is set.
    held: Mutex<bool>,
    released: Condvar,
    /// What a player does with a call.
    habit: Option<Habit>,
    /// Remembers nothing but `finished`, for leagues whose messages would not fit in memory.
    forgetful: bool,
    over: AtomicBool,
}

impl Crowd {
    /// Nobody yet, but the door is open.
    pub fn new() -> Crowd {
        Crowd::with(Shared::default())
    }

    /// A crowd that remembers only who has finished.
    pub fn forgetful() -> Crowd {
        Crowd::with(Shared { forgetful: true, ..Shared::default() })
    }

    /// A crowd in which everybody thinks for so long before every choice.
    pub fn thinking(thinking: Duration) -> Crowd {
        Crowd::with(Shared { thinking, ..Shared::default() })
    }

    /// A crowd with habits.
    pub fn with_habits(habit: Habit) -> Crowd {
        Crowd::with(Shared { habit: Some(habit), ..Shared::default() })
    }

    /// Forgets what everybody was told so far, which is what it returns.
    pub fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.shared.events.lock().expect("no panic while held"))
    }

    fn with(shared: Shared) -> Crowd {
        let listener = TcpListener::bind((DEVICE.players_listen(), 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(shared);
        let door = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if door.over.load(Ordering::Relaxed) {
                    return;
                }
                let shared = door.clone();
                let small = thread::Builder::new().stack_size(256 * 1024);
                small.spawn(move || drop(serve(stream, &shared))).expect("a thread");
            }
        });
        Crowd { members: Vec::new(), port, shared }
    }

    /// `count` players, all registered.
    pub fn of(leaguebox: &LeagueBox, count: usize) -> Crowd {
        let mut crowd = Crowd::new();
        crowd.enlist(leaguebox, count);
        crowd
    }

    /// Registers `count` more players.
    pub fn enlist(&mut self, leaguebox: &LeagueBox, count: usize) {
        for _ in 0..count {
            let name = format!("Player {}", self.members.len() + 1);
            self.register(leaguebox, &name, &leaguebox.home().to_string());
        }
    }

    /// Registers one player that says it lives at `host`; the box's answer.
    pub fn register(&mut self, leaguebox: &LeagueBox, name: &str, host: &str) -> Value {
        let endpoint = self.endpoint(host);
        let params = json!({
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:crowd",
            "timestamp": "2026-01-15T10:05:00Z", "conversation_id": format!("conv_{name}"),
            "player_meta": {"display_name": name, "version": "1.0.0", "game_types": GAMES, "contact_endpoint": endpoint},
        });
        let answer = leaguebox.rpc("register_player", params);
        let result = &answer["result"];
        assert_eq!(result["status"], "ACCEPTED", "{answer}");
        let text = |field: &str| result[field].as_str().unwrap_or_else(|| panic!("no {field} in {answer}")).to_owned();
        self.members.push(Member { id: text("player_id"), token: text("auth_token"), name: name.to_owned() });
        result.clone()
    }

    /// Registers `count` more players that dial in, each on a connection of its own.
    pub fn dial_in(&mut self, leaguebox: &LeagueBox, count: usize) {
        for _ in 0..count {
            let (player, name) = (self.members.len(), format!("Player {}", self.members.len() + 1));
            let mut link = WebSocket::dial(leaguebox.address);
            let params = json!({
                "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:crowd",
                "timestamp": "2026-01-15T10:05:00Z", "conversation_id": format!("conv_{name}"),
                "player_meta": {"display_name": name, "version": "1.0.0", "game_types": ["even_odd", "even_odd_10"]},
            });
            let call = json!({"jsonrpc": "2.0", "method": "register_player", "params": params, "id": 1});
            link.send(&call.to_string()).expect("a link");
            let answer: Value = serde_json::from_str(&link.receive().expect("an answer")).expect("JSON");
            let text = |field: &str| answer["result"][field].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
            self.members.push(Member { id: text("player_id"), token: text("auth_token"), name });
            self.talk(player, link);
        }
    }

    /// Members that dial in come back, each with its token.
    pub fn come_back(&self, leaguebox: &LeagueBox, members: std::ops::Range<usize>) {
        for player in members {
            let mut link = WebSocket::dial(leaguebox.address);
            let params = json!({"auth_token": self.members[player].token});
            let call = json!({"jsonrpc": "2.0", "method": "ping", "params": params, "id": 1});
            link.send(&call.to_string()).expect("a link");
            self.talk(player, link);
        }
    }

    /// Answers what comes on a link. What is no call is no concern of a player.
    fn talk(&self, player: usize, mut link: WebSocket) {
        let shared = self.shared.clone();
        let small = thread::Builder::new().stack_size(256 * 1024);
        let talk = move || {
            while let Ok(message) = link.receive() {
                if !message.contains("\"method\"") {
                    continue;
                }
                let reply = shared.answer(player, message.as_bytes());
                if link.send(&reply).is_err() || shared.over.load(Ordering::Relaxed) {
                    return;
                }
            }
        };
        small.spawn(talk).expect("a thread");
    }

    /// Where the next player to register will be called.
    pub fn endpoint(&self, host: &str) -> String {
        format!("http://{host}:{}/{}/mcp", self.port, self.members.len())
    }

    /// Everything every player was told so far.
    pub fn events(&self) -> Vec<Event> {
        self.shared.events.lock().expect("no panic while held").clone()
    }

    /// From now on nobody answers when asked for a choice, until `release`.
    pub fn hold(&self) {
        *self.shared.held.lock().expect("no panic while held") = true;
    }

    /// Everybody asked answers.
    pub fn release(&self) {
        *self.shared.held.lock().expect("no panic while held") = false;
        self.shared.released.notify_all();
    }

    /// Waits until every player was told that the league is over.
    pub fn wait_for_the_end(&self) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        // Progress renews the patience: a league of 512 takes longer than any single step of it.
        while count(&self.shared.finished) < self.members.len() {
            let told = count(&self.shared.told);
            let what = || {
                let finished = count(&self.shared.finished);
                format!("one more message after {told}; {finished} of {} have finished", self.members.len())
            };
            wait_for(&what(), || {
                let moved = count(&self.shared.told) != told || count(&self.shared.finished) >= self.members.len();
                moved.then_some(())
            });
        }
    }
}

impl Default for Crowd {
    fn default() -> Self {
        Crowd::new()
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        self.release();
        // Wakes the listener, so that it sees that it is over.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Answers one connection until the box closes it.
fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        // `POST /<player>/mcp HTTP/1.1`; a path without a number is the first player's.
        let player = line.split('/').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or(0);
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let does = shared.habit.map_or(Does::Answer, |habit| habit(player, shared.told.load(Ordering::Relaxed)));
        match does {
            // Who does not answer has not heard: the box says it again.
            Does::HangUp => return Ok(()),
            Does::Wait(ms) => thread::sleep(Duration::from_millis(ms)),
            _ => {}
        }
        let reply = if does == Does::Babble { "even, I think".to_owned() } else { shared.answer(player, &body) };
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", reply.len());
        writer.write_all((head + &reply).as_bytes())?;
        if does == Does::AnswerAndClose {
            return Ok(());
        }
    }
}

impl Shared {
    fn answer(&self, player: usize, body: &[u8]) -> String {
        self.told.fetch_add(1, Ordering::Relaxed);
        const BIG: usize = 4096;
        // The type of a message stands near its beginning.
        let beginning = &body[..body.len().min(256)];
        if self.forgetful && body.len() > BIG && !contains(beginning, b"LEAGUE_COMPLETED") {
            return r#"{"jsonrpc":"2.0","result":{"status":"ok"},"id":0}"#.to_owned();
        }
        let call: Value = match serde_json::from_slice(body) {
            Ok(call) => call,
            Err(_) => {
                return r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}"#.to_owned();
            }
        };
        let message = &call["params"];
        let kind = message["message_type"].as_str().unwrap_or_default();
        if !self.forgetful {
            let event = Event { player, message: message.clone() };
            self.events.lock().expect("no panic while held").push(event);
        }
        let mut result = json!({
            "protocol": "league.v2", "sender": format!("player:{}", message["player_id"].as_str().unwrap_or("P")),
            "timestamp": "2026-01-15T10:15:01Z", "conversation_id": message["conversation_id"],
            "auth_token": message["auth_token"], "match_id": message["match_id"], "player_id": message["player_id"],
        });
        match kind {
            "GAME_INVITATION" => {
                result["message_type"] = json!("GAME_JOIN_ACK");
                result["arrival_timestamp"] = json!("2026-01-15T10:15:01Z");
                result["accept"] = json!(true);
            }
            "CHOOSE_PARITY_CALL" => {
                self.think();
                result["message_type"] = json!("CHOOSE_PARITY_RESPONSE");
                result["parity_choice"] = json!(parity(player, message));
            }
            "MOVE_REQUEST" => {
                self.think();
                result["message_type"] = json!("MOVE_RESPONSE");
                result["move"] = game_move(player, message);
            }
            _ => {
                result = json!({"status": "ok"});
                if kind == "LEAGUE_COMPLETED" {
                    self.finished.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        json!({"jsonrpc": "2.0", "result": result, "id": call["id"]}).to_string()
    }

    fn think(&self) {
        thread::sleep(self.thinking);
        let held = self.held.lock().expect("no panic while held");
        drop(self.released.wait_timeout_while(held, PATIENCE, |held| *held));
    }
}

/// Some choice that differs between players and matches, so that leagues see wins, losses and draws.
fn parity(player: usize, message: &Value) -> &'static str {
    let text = message["match_id"].as_str().unwrap_or_default();
    let turn = message["game_state"]["turn_number"].as_u64().unwrap_or(0);
    let mixed = text.bytes().fold(turn as usize + player, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    if (mixed >> 2).is_multiple_of(2) { "even" } else { "odd" }
}

/// A move of the game that is played: some choice again, or in skill-gomoku the move of [`GOMOKU`].
fn game_move(player: usize, message: &Value) -> Value {
    let turn = message["game_state"]["turn_number"].as_u64().unwrap_or(1) as usize;
    match message["game_type"].as_str() {
        Some("echo") => json!({"number": 1 + (7 * player + 3 * turn) % 10}),
        Some("blotto") => {
            let mut allocation = [4, 3, 2, 1, 0];
            allocation.rotate_left((player + turn * (player + 1)) % 5);
            json!({ "allocation": allocation })
        }
        Some("skill-gomoku") => {
            let (kind, row, col) = GOMOKU[(turn - 1) % GOMOKU.len()];
            match kind {
                "place" => json!({"type": "place", "row": row, "col": col}),
                skill => json!({"type": "skill", "skill": skill, "target": {"row": row, "col": col}}),
            }
        }
        Some("dance-battle") => dance(player, turn, message),
        Some("resource-rush") => json!({"action": "wait"}),
        Some("landlord") => landlord(message),
        Some("rockpaper") => json!([THROWS[(player + turn * (player + 1)) % 3]]),
        Some("blackjack") => blackjack(player, message),
        Some("texasholdem") => texasholdem(turn, message),
        // The fool's mate: nothing is over sooner.
        Some("chess") => json!({"move": (["f3", "e5", "g4", "Qh4"][(turn - 1) % 4])}),
        // Both pass after a stone each, and White has won.
        Some("go") => json!({"move": (["E5", "C3", "pass", "pass"][(turn - 1) % 4])}),
        Some("trade_deal") => trade(&message["game_state"]["game_specific_state"]),
        _ => json!({"action": "choose", "value": parity(player, message)}),
    }
}

/// Accepts what it can give, asks once a turn for what it misses, and then says something.
pub fn trade(state: &Value) -> Value {
    let sides = state["resources"].as_object().expect("what each side holds");
    let (me, held) = sides.iter().find(|(_, held)| !held.is_null()).expect("its own");
    let (goal, pending) = (&state["goals"][me], &state["pending"]);
    let resource = goal["resource"].as_str().expect("a resource");
    let missing = goal["amount"].as_u64().unwrap_or(0).saturating_sub(held[resource].as_u64().unwrap_or(0));
    if pending.is_object() && pending["player"] != *me {
        let asked = pending["request"].as_object().expect("a request");
        let can = asked.iter().all(|(name, amount)| held[name].as_u64() >= amount.as_u64());
        return if can { json!({"accept": true}) } else { json!({"reject": true}) };
    }
    if pending.is_null() && missing > 0 && state["proposals_left"][me] == 4 {
        let most = held.as_object().expect("resources").iter().filter(|(name, _)| *name != resource);
        let (give, _) = most.max_by_key(|(_, amount)| amount.as_u64()).expect("three others");
        return json!({"propose": {"offer": {give: 1}, "request": {resource: missing}}});
    }
    json!({"text": format!("I am looking for {missing} {resource}.")})
}

/// Never bids, leads its lowest card, and beats a card with the lowest that is higher.
fn landlord(message: &Value) -> Value {
    let seen = &message["game_state"]["game_specific_state"];
    let ranks = ["3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2", "BJ", "RJ"];
    let rank = |card: &Value| ranks.iter().position(|rank| card == rank);
    let least = seen["to_beat"]["cards"][0].as_str().and_then(|card| rank(&json!(card)));
    let hand = seen["your_hand"].as_array().expect("cards");
    match hand.iter().find(|card| least.is_none_or(|least| rank(card) > Some(least))) {
        Some(card) if seen["phase"] == "playing" => json!([card]),
        _ => json!(["pass"]),
    }
}

/// Bets more the later it came, and takes cards as long as none can be too much.
fn blackjack(player: usize, message: &Value) -> Value {
    let seen = &message["game_state"]["game_specific_state"];
    let bets = seen["your_bets"].as_array().filter(|bets| !bets.is_empty());
    match bets {
        Some(bets) => json!(["bet", bets[player % bets.len()]]),
        None if seen["your_hand"]["points"].as_u64() < Some(12) => json!(["hit"]),
        None => json!(["stand"]),
    }
}

/// Stays in, and after some hands with all it has, so that matches end.
fn texasholdem(turn: usize, message: &Value) -> Value {
    let seen = &message["game_state"]["game_specific_state"];
    match seen["to_call"].as_u64() {
        _ if turn > 30 && seen["may_raise"] == true => json!(["all_in"]),
        Some(0) => json!(["check"]),
        _ => json!(["call"]),
    }
}

/// To a place of its own in the middle of the floor, next to others, with throws that differ between players and turns.
fn dance(player: usize, turn: usize, message: &Value) -> Value {
    use std::cmp::Ordering::{Greater, Less};
    let dancers = &message["game_state"]["game_specific_state"]["publicState"]["agents"];
    let dancers = dancers.as_array().expect("a list of dancers");
    let me = dancers.iter().find(|dancer| dancer["agentId"] == message["player_id"]).expect("me among them");
    let axis = |name: &str| me[name].as_u64().expect("a number");
    let step = match (axis("x").cmp(&(6 + player as u64)), axis("y").cmp(&8)) {
        (Less, _) => "right",
        (Greater, _) => "left",
        (_, Less) => "down",
        (_, Greater) => "up",
        _ => "hold",
    };
    let throw = THROWS[(player + turn * (player + 1)) % 3];
    json!({"commands": [
        {"beatIndex": 0, "kind": "move", "direction": step},
        {"beatIndex": 1, "kind": "move", "direction": "hold"},
        {"beatIndex": 2, "kind": "action", "action": throw, "motto": "Here I come"},
    ]})
}

/// A whole game in which black, who begins, seals a stone, uproots others and wins along the edge.
pub const GOMOKU: [(&str, u8, u8); 17] = [
    ("place", 7, 7),
    ("place", 8, 8),
    ("place", 7, 9),
    ("place", 8, 6),
    ("stillwater", 7, 7),
    ("sandstorm", 7, 9),
    ("uproot", 8, 8),
    ("place", 0, 0),
    ("place", 14, 0),
    ("place", 0, 2),
    ("place", 14, 1),
    ("place", 0, 4),
    ("place", 14, 2),
    ("place", 0, 6),
    ("place", 14, 3),
    ("place", 0, 8),
    ("place", 14, 4),
];

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
