//! Agents of League of Agents, one WebSocket each, that say and hear what a test tells them to, message by message.

use crate::PATIENCE;
use crate::http;
use crate::leaguebox::LeagueBox;
use crate::websocket::{Frame, WebSocket};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Where they dial in.
const PATH: &str = "/api/v1/ws?type=agent";

/// A connection at the door of the arena: an agent's, or of somebody who looks on.
pub struct Link(WebSocket);

impl Link {
    /// Dials in and says nothing.
    pub fn dial(leaguebox: &LeagueBox) -> Link {
        Link(WebSocket::dial_at(leaguebox.address, PATH))
    }

    /// Sends a text, be it a message or not.
    pub fn say_text(&mut self, text: &str) {
        self.0.send(text).expect("a link");
    }

    /// Sends a message.
    pub fn say(&mut self, message: Value) {
        self.say_text(&message.to_string());
    }

    /// The next message, as it came. A `pong` may come at any time, and is only heard by who [asks](Self::hear_pong).
    pub fn hear_text(&mut self) -> String {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < PATIENCE, "nothing but pongs");
            let text = self.0.receive().expect("a message");
            if !text.starts_with(r#"{"type":"pong""#) {
                return text;
            }
        }
    }

    /// The same as JSON.
    pub fn hear(&mut self) -> Value {
        let text = self.hear_text();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The next message, which must be a `pong`.
    pub fn hear_pong(&mut self) -> Value {
        serde_json::from_str(&self.0.receive().expect("a message")).expect("JSON")
    }

    /// As many messages as there are `types`, which they must have.
    pub fn hear_all(&mut self, types: &[&str]) -> Vec<Value> {
        let mut heard: Vec<Value> = Vec::new();
        for (place, expected) in types.iter().enumerate() {
            heard.push(self.hear());
            assert_eq!(heard[place]["type"], *expected, "{types:?}: {heard:#?}");
        }
        heard
    }

    /// All messages up to the next of this type.
    pub fn hear_until(&mut self, last: &str) -> Vec<Value> {
        let mut heard = Vec::new();
        while heard.last().is_none_or(|message: &Value| message["type"] != last) {
            heard.push(self.hear());
        }
        heard
    }

    /// The close that must come next: its code.
    pub fn hear_close(&mut self) -> u16 {
        match self.0.frame() {
            Ok(Frame::Close(code, _)) => code,
            other => panic!("{other:?} instead of a close"),
        }
    }
}

/// A registered agent and its connection.
pub struct Agent {
    /// What others know it by.
    pub id: String,
    /// Its `apiKey`.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its connection.
    pub link: Link,
}

impl Agent {
    /// Registers one, and connects it.
    pub fn register(leaguebox: &LeagueBox, name: &str) -> Agent {
        let (status, answer) = register(leaguebox, &json!({ "name": name }).to_string());
        assert_eq!(status, 201, "{answer}");
        let text = |field: &str| answer[field].as_str().unwrap_or_else(|| panic!("no {field} in {answer}")).to_owned();
        let (id, key) = (text("agentId"), text("apiKey"));
        let link = Self::connect(leaguebox, &id, &key, name);
        Agent { id, key, name: name.to_owned(), link }
    }

    fn connect(leaguebox: &LeagueBox, id: &str, key: &str, name: &str) -> Link {
        let mut link = Link::dial(leaguebox);
        link.say(json!({"type": "authenticate", "token": key}));
        assert_eq!(link.hear(), json!({"type": "authenticated", "agentId": id, "agentName": name}));
        link
    }

    /// Hangs up without a word, and comes back after a while with its key.
    pub fn come_back_after(&mut self, leaguebox: &LeagueBox, away: Duration) {
        // Another connection in its place, so that its own ends here.
        self.link = Link::dial(leaguebox);
        std::thread::sleep(away);
        self.link = Self::connect(leaguebox, &self.id, &self.key, &self.name);
    }

    /// What it is told of itself.
    pub fn me(&self, leaguebox: &LeagueBox) -> Value {
        let header = format!("Authorization: Bearer {}\r\n", self.key);
        http::request(leaguebox.address, "GET", "/api/v1/agents/me", &header, "").expect("an answer").json()
    }

    /// Asks for a game.
    pub fn join(&mut self, game: &str) {
        self.link.say(json!({"type": "join_queue", "gameType": game}));
    }

    /// Makes a move; the answer.
    pub fn play(&mut self, game_id: &str, wanted: Value) -> Value {
        self.link.say(json!({"type": "submit_move", "gameId": game_id, "move": wanted}));
        self.link.hear()
    }

    /// Makes a move that must be right; whatever is said of the others before the answer is skipped.
    pub fn plays_on(&mut self, game_id: &str, wanted: Value) {
        self.link.say(json!({"type": "submit_move", "gameId": game_id, "move": wanted}));
        let heard = self.link.hear_until("move_result");
        assert_eq!(heard.last(), Some(&json!({"type": "move_result", "success": true})), "{heard:?}");
    }

    /// Makes a move that must be right.
    pub fn plays(&mut self, game_id: &str, wanted: Value) {
        assert_eq!(self.play(game_id, wanted), json!({"type": "move_result", "success": true}));
    }
}

/// Registers by the body of the request: status and answer.
pub fn register(leaguebox: &LeagueBox, body: &str) -> (u16, Value) {
    let response = leaguebox.post("/api/v1/agents", body);
    (response.status, response.json())
}

/// Agents that ask for a game in this order, until it begins: all have heard `matched`. Also the game's id.
pub fn matched<const N: usize>(leaguebox: &LeagueBox, game: &str, names: [&str; N]) -> ([Agent; N], String) {
    let mut agents = names.map(|name| Agent::register(leaguebox, name));
    for (place, agent) in agents.iter_mut().enumerate() {
        agent.join(game);
        if place + 1 < N {
            let queued = json!({"type": "queue_status", "status": "queued", "position": place + 1, "gameType": game});
            assert_eq!(agent.link.hear(), queued);
        }
    }
    let ids = agents.each_mut().map(|agent| {
        let mut matched = agent.link.hear();
        let id = matched["gameId"].take().as_str().unwrap_or_else(|| panic!("{matched}")).to_owned();
        assert_eq!(matched, json!({"type": "matched", "gameId": null, "gameType": game}));
        id
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "one game: {ids:?}");
    let [id, ..] = ids.as_slice() else { panic!("a game without players") };
    (agents, id.clone())
}
