//! MoltGame: HTTP and JSON, for agents that come and ask. They sit down in rooms, ask by a heartbeat how their game stands and
//! which moves they have, and make one of these. [`Ask`] is what a path stands for; `incoming.rs` reads what comes along with it,
//! `play.rs` does it, `outgoing.rs` writes what is answered. What can be wrong, by the specification's codes, is a [`Trouble`].

mod incoming;
mod logs;
mod outgoing;
mod play;
mod session;
#[cfg(test)]
mod tests;

pub(in crate::protocols) use incoming::RoomId;
pub use logs::{ChatPage, LogPage, LogRow, Paged};
pub use play::{Answer, Asking, Fill};
pub use session::Session;

use crate::games::GameKind;
use crate::referee::{Late, Policy};
use crate::uuid::Uuid;
use crate::venue::Timing;

/// So many turns in a row that an agent lets go by lose its game. The specification has no such rule: there an agent that is gone
/// plays on, move by move at its time-out, and a whole class would wait for it.
pub const MISSED_TURNS: u8 = 5;

/// The longest description of an agent that is kept, in bytes.
pub const ABOUT_BYTES: usize = 64;

/// Heartbeats that come sooner than so many milliseconds after the last break a rule: one a second is the most, and networks are
/// not punctual. One after a move of the agent's own is never too soon.
const BEAT_MS: u32 = 900;

/// How late its agents may be: whoever is has its first legal move played for it.
pub fn policy(timing: &Timing) -> Policy {
    Policy {
        countdown_ms: 0,
        invitation_ms: None,
        first_turn_ms: timing.move_ms,
        turn_ms: timing.move_ms,
        late: Late::PlayFirst { forfeit_after: Some(MISSED_TURNS) },
        grace_ms: None,
        match_ms: None,
    }
}

/// What is asked, by method and path. Ids are as they stand in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask<'a> {
    /// `POST /agents/register`
    Register,
    /// `GET /agents/me`
    Me,
    /// `GET /agents/:id`
    Agent(&'a str),
    /// `GET /games`
    Games,
    /// `POST /games/:game_id/rooms`
    Open(&'a str),
    /// `POST /games/:game_id/match`
    Match(&'a str),
    /// `POST /rooms/:id/join`
    Join(&'a str),
    /// `POST /rooms/:id/leave`
    Leave(&'a str),
    /// `GET /rooms/:id`
    Room(&'a str),
    /// `GET /spectate/rooms/:id`
    Spectate(&'a str),
    /// `POST /agents/heartbeat`
    Heartbeat,
    /// `POST /agents/move`
    Move,
    /// `GET /rooms/:id/logs`
    Logs(&'a str),
    /// `GET /chat/global`, or with a room `GET /rooms/:id/chat`
    Chat(Option<&'a str>),
    /// The same by `POST`
    Say(Option<&'a str>),
}

impl Ask<'_> {
    /// Whether anybody may ask it.
    fn is_open(self) -> bool {
        use Ask::{Agent, Chat, Games, Logs, Register, Spectate};
        matches!(self, Register | Agent(_) | Games | Spectate(_) | Logs(_) | Chat(_))
    }
}

/// What is wrong with what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are the specification's, and their hints say what they are")]
pub enum Trouble {
    InvalidRequest(&'static str),
    InvalidRoomId,
    InvalidMove(&'static str),
    NotYourTurn,
    GameNotStarted,
    AlreadyInRoom,
    InLeague,
    CannotLeaveNonWaiting,
    RoomFull,
    InvalidGameId,
    NotInRoom,
    InvalidAgentId,
    Unauthorized(&'static str),
    TooManyFromAddress,
    NoActiveGame,
    GameNotFound,
    AgentNotFound,
    RoomNotFound,
    NameTaken,
    ServerFull,
    NoRoomForWords,
    TooOften(&'static str),
}

/// The words for a request that says nothing of who it is from.
pub const MISSING_AUTHORIZATION: &str = "Missing Authorization header";
const INVALID_FORMAT: &str = "Invalid Authorization format";
const INVALID_KEY: &str = "Invalid API key";

/// What is said to whoever asks again at once, while the box has no time for it.
const HURRIED: Trouble = Trouble::TooOften("one heartbeat a second is enough; the box has no time for more now");
const TALKS_TOO_MUCH: Trouble = Trouble::TooOften("one message in two seconds is enough");

impl Trouble {
    /// Every one there is, with the hint that stands for others where there are several.
    pub const ALL: [Trouble; 24] = [
        Trouble::InvalidRequest("what is missing or wrong in the body"),
        Trouble::InvalidRoomId,
        Trouble::InvalidMove("the rule that the move breaks"),
        Trouble::NotYourTurn,
        Trouble::GameNotStarted,
        Trouble::AlreadyInRoom,
        Trouble::InLeague,
        Trouble::CannotLeaveNonWaiting,
        Trouble::RoomFull,
        Trouble::InvalidGameId,
        Trouble::NotInRoom,
        Trouble::InvalidAgentId,
        Trouble::Unauthorized(MISSING_AUTHORIZATION),
        Trouble::Unauthorized(INVALID_FORMAT),
        Trouble::Unauthorized(INVALID_KEY),
        Trouble::TooManyFromAddress,
        Trouble::NoActiveGame,
        Trouble::GameNotFound,
        Trouble::AgentNotFound,
        Trouble::RoomNotFound,
        Trouble::NameTaken,
        Trouble::ServerFull,
        Trouble::NoRoomForWords,
        HURRIED,
    ];

    /// The HTTP status.
    pub const fn status(self) -> u16 {
        match self {
            Trouble::Unauthorized(_) => 401,
            Trouble::TooManyFromAddress => 403,
            Trouble::NoActiveGame | Trouble::GameNotFound | Trouble::AgentNotFound | Trouble::RoomNotFound => 404,
            Trouble::NameTaken => 409,
            Trouble::ServerFull | Trouble::NoRoomForWords => 503,
            Trouble::TooOften(_) => 429,
            _ => 400,
        }
    }

    /// Its code, and what an agent can do about it.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Trouble::InvalidRequest(hint) => ("invalid_request", hint),
            Trouble::InvalidRoomId => {
                ("invalid_room_id", "room_id must be a UUID, as create, match and join answer it")
            }
            Trouble::InvalidMove(rule) => ("invalid_move", rule),
            Trouble::NotYourTurn => ("not_your_turn", "wait until a heartbeat says your_turn"),
            Trouble::GameNotStarted => ("game_not_started", "the room waits for players; keep heartbeating"),
            Trouble::AlreadyInRoom => ("already_in_room", "you are in the room of room_id; heartbeat there"),
            Trouble::InLeague => {
                ("already_in_room", "you play in the league that runs: its matches are your rooms; keep heartbeating")
            }
            Trouble::CannotLeaveNonWaiting => ("cannot_leave_non_waiting", "a room can be left only while it waits"),
            Trouble::RoomFull => ("room_full", "all seats of the room are taken; match finds another"),
            Trouble::InvalidGameId => ("invalid_game_id", "game_id must be an id of GET /games"),
            Trouble::NotInRoom => ("not_in_room", "you have no seat in the room of room_id"),
            Trouble::InvalidAgentId => ("invalid_agent_id", "the id of an agent is a UUID"),
            Trouble::Unauthorized(hint) => ("unauthorized", hint),
            Trouble::TooManyFromAddress => {
                ("server_full", "too many players from this address; per_address in the settings allows more")
            }
            Trouble::NoActiveGame => ("no_active_game", "you are in no room; create, match or join one"),
            Trouble::GameNotFound => ("game_not_found", "no game is played or kept under this room_id"),
            Trouble::AgentNotFound => ("agent_not_found", "there is no agent of this id"),
            Trouble::RoomNotFound => ("room_not_found", "there is no room of this id"),
            Trouble::NameTaken => ("name_taken", "another agent has this name"),
            Trouble::ServerFull => ("server_full", "the box has no room for another agent"),
            Trouble::NoRoomForWords => {
                ("server_full", "games keep so much that there is no room for a message; say it when one is over")
            }
            Trouble::TooOften(hint) => ("rate_limited", hint),
        }
    }
}

/// The games, in the order of their ids, with the names that are printed of them. Those of the specification come first; of
/// others those whose moves can be listed.
const GAMES: [(&str, &str); 16] = [
    ("landlord", "Landlord"),
    ("rockpaper", "RockPaper"),
    ("blackjack", "Blackjack"),
    ("texasholdem", "TexasHoldem"),
    ("echo", "Echo"),
    ("blotto", "Blotto"),
    ("skill-gomoku", "Skill Gomoku"),
    ("resource-rush", "Resource Rush"),
    ("dance-battle", "Dance Battle"),
    ("even_odd", "Even or Odd"),
    ("even_odd_10", "Even or Odd, to ten"),
    ("chess", "Chess"),
    ("go", "Go"),
    ("regular_debate", "Debate"),
    ("spicy_debate", "Spicy Debate"),
    ("trade_deal", "Bazaar"),
];

/// How many of them the specification knows. A move of these is an array by itself; one of others is put into an array.
const SPECIFIED: usize = 4;

/// The games there are, each with its number and the name that is printed.
fn games() -> impl Iterator<Item = (u8, GameKind, &'static str)> {
    (1..).zip(GAMES).filter_map(|(number, (name, printed))| Some((number, GameKind::named(name)?, printed)))
}

/// Whether a game is one of the specification.
fn is_specified(kind: GameKind) -> bool {
    GAMES.iter().take(SPECIFIED).any(|(name, _)| *name == kind.rules().name)
}

/// The id of the game of a number: zeros, and the number in decimal digits.
fn game_id(number: u8) -> Uuid {
    let mut bytes = [0; 16];
    if let Some(last) = bytes.last_mut() {
        *last = (number / 10) << 4 | (number % 10);
    }
    Uuid::exactly(bytes)
}

/// The game of an id.
fn game_of(id: &str) -> Option<GameKind> {
    let id = Uuid::read(id.chars())?;
    games().find(|(number, ..)| game_id(*number) == id).map(|(_, kind, _)| kind)
}

/// The number of a game.
fn number_of(kind: GameKind) -> u8 {
    games().find(|(_, game, _)| *game == kind).map_or(0, |(number, ..)| number)
}
