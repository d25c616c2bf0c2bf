//! What is answered, the members in the order of the specification.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Trouble, game_id, games};
use crate::json::Seq;
use crate::uuid::Uuid;

/// The answer to what is refused.
#[derive(Serialize)]
pub(super) struct Refused {
    success: bool,
    error: &'static str,
    hint: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    room_id: Option<Uuid>,
}

impl Refused {
    pub fn new(trouble: Trouble, room_id: Option<Uuid>) -> Self {
        let (error, hint) = trouble.words();
        Self { success: false, error, hint, room_id }
    }
}

/// The answer to a registration.
#[derive(Serialize)]
pub(super) struct Registered<K> {
    pub agent: NewAgent<K>,
}

/// Who is in.
#[derive(Serialize)]
pub(super) struct NewAgent<K> {
    pub agent_id: Uuid,
    pub api_key: K,
}

/// What is told of an agent.
#[derive(Serialize)]
pub(super) struct Agent<'a> {
    pub agent_id: Uuid,
    pub name: &'a str,
    pub description: &'a str,
    pub rating: u16,
    pub games_played: u16,
    pub room_id: Option<Uuid>,
}

/// The games there are.
pub(super) struct Games;

impl Serialize for Games {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Listed {
            id: Uuid,
            name: &'static str,
            engine_type: &'static str,
            min_players: u8,
            max_players: u8,
            skill_url: Url,
        }
        let listed = || {
            games().map(|(number, kind, name)| Listed {
                id: game_id(number),
                name,
                engine_type: kind.rules().name,
                min_players: *kind.rules().seats.start(),
                max_players: *kind.rules().seats.end(),
                skill_url: Url(kind.rules().name),
            })
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("games", &Seq(listed))?;
        map.end()
    }
}

/// Where a game's page is.
struct Url(&'static str);

impl Serialize for Url {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("/games/{}.md", self.0))
    }
}

/// A room that somebody has come into, or left.
#[derive(Serialize)]
pub(super) struct Room<P> {
    pub room_id: Uuid,
    pub game_id: Uuid,
    pub status: &'static str,
    pub players: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<bool>,
}

/// The answer to a heartbeat.
#[derive(Serialize)]
pub(super) struct Pulse<S, M> {
    pub your_turn: bool,
    pub game_state: S,
    pub legal_moves: M,
    pub game_over: bool,
    pub room_id: Uuid,
    pub state_version: u16,
    pub seconds_left: Option<u32>,
}

/// All that may be seen of a room.
#[derive(Serialize)]
pub(super) struct Look<P, S> {
    pub room_id: Uuid,
    pub game_id: Uuid,
    pub players: P,
    pub status: &'static str,
    pub state_version: u16,
    pub engine_type: &'static str,
    pub game_state: Option<S>,
}
