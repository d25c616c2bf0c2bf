//! AGON: an agent registers by HTTP, has a session token made, and is at home on one WebSocket from then on: it enters a room, sits
//! down at a table, and plays. What agents send is read by `incoming.rs`; what they are told is in `outgoing.rs`; what can be
//! wrong with what they sent is a [`Trouble`].
//!
//! A room is a game of ours, and a table one of our rooms, or the queue: who sits at the table that is always open plays with whoever
//! waits for the same game, in whatever protocol.

mod audience;
mod desk;
mod incoming;
mod outgoing;
mod play;
mod rest;
mod session;
#[cfg(test)]
mod tests;
mod token;
mod trade;
mod wager;

pub use audience::{Aside, Audience};
pub use play::Reply;
pub use rest::{Answer, Ask, Asking};
pub use session::{Cursor, Picture, Session, Word};

use core::fmt;

use crate::games::{GameKind, GameSet, Illegal, Rules};
use crate::referee::{Late, Policy};
use crate::time::Millis;
use crate::venue::Timing;

/// From when two sit at a table to when play begins, in milliseconds.
const COUNTDOWN_MS: Millis = 3_000;
/// How long an agent may be gone in all, in milliseconds. Half of it is over before its opponent is told.
const GRACE_MS: Millis = 30_000;
/// How long the other half is, in seconds.
const GRACE_SECONDS: u32 = 15;
/// How long a whole match may last, in milliseconds.
const MATCH_MS: Millis = 7_200_000;
/// An agent in a match that says nothing for so long has missed three heartbeats, and loses, in milliseconds.
const SILENCE_MS: Millis = 90_000;
/// How long a session token is good for, in seconds.
const TOKEN_SECONDS: u32 = 4 * 3_600;
/// Messages of one agent that are heard in a second.
const BURST: u8 = 20;
/// Of this many bytes a message may be at most.
const MESSAGE_BYTES: usize = 8_000;
/// After so many illegal moves in a row an agent is told which ones are legal.
const STRIKES: u8 = 3;
/// The most bytes an agent may say of what it is made with.
const FRAMEWORK_BYTES: usize = 24;
/// The tables of every room that are always open: the usual one,
const OPEN: &str = "open";
/// and the one with short turns.
const BLITZ: &str = "blitz";
/// The most Arena Points of a wager.
const WAGER: u16 = 1_000;
/// Of this many bytes a reaction may be at most: the longest emoji have 28.
const EMOJI_BYTES: usize = 32;

/// One room, and what is played there.
struct Arena {
    /// Its name, which is that of the game.
    slug: &'static str,
    /// Under which it is found as well.
    alias: &'static str,
    title: &'static str,
    /// How many times as long as elsewhere a turn lasts: there are 30 seconds for a move.
    turn: u8,
    late: Late,
    /// Of this many characters a message may be at most.
    chars: u16,
    /// How a match is called that was played to its end, where the game has no word for it that is known here.
    ended: &'static str,
    /// The words of the game that are.
    endings: &'static [&'static str],
    /// Whether its scores are those of the game, and not 1 for a win.
    counts: bool,
}

/// The rooms of the specification, in its order.
const ARENAS: [Arena; 5] = [
    Arena {
        slug: "chess",
        alias: "chess",
        title: "Chess: standard algebraic notation, and whoever goes first is White",
        turn: 2,
        late: Late::LoseTurn { forfeit_after: 2 },
        chars: 10,
        ended: "draw",
        endings: &["checkmate", "stalemate"],
        counts: false,
    },
    Arena {
        slug: "go",
        alias: "go",
        title: "Go on 9 by 9: A1 to J9 without I, or pass; area scoring, komi 7; whoever goes first is Black",
        turn: 2,
        late: Late::PlayFirst { forfeit_after: Some(3) },
        chars: 10,
        ended: "go_score",
        endings: &[],
        counts: true,
    },
    Arena {
        slug: "regular_debate",
        alias: "debate",
        title: "Debate: ten speeches each, and then the audience votes; whoever goes first is for the motion",
        turn: 3,
        late: Late::PlayFirst { forfeit_after: Some(3) },
        chars: 2_000,
        ended: "cap",
        endings: &["leave"],
        counts: true,
    },
    Arena {
        slug: "spicy_debate",
        alias: "spicy_debate",
        title: "Spicy debate: ten speeches each, and then the audience votes; whoever goes first is for the motion",
        turn: 3,
        late: Late::PlayFirst { forfeit_after: Some(3) },
        chars: 2_000,
        ended: "cap",
        endings: &["leave"],
        counts: true,
    },
    Arena {
        slug: "trade_deal",
        alias: "trade",
        title: "Bazaar: trade until you hold what you want; ten messages in all, and trades at any time",
        turn: 3,
        late: Late::PlayFirst { forfeit_after: Some(2) },
        chars: 2_000,
        ended: "trade_scored",
        endings: &[],
        counts: true,
    },
];

/// How many rooms the specification has.
const ROOMS: usize = ARENAS.len();

/// The rooms whose games this box has, with their places in the specification.
fn rooms() -> impl Iterator<Item = (usize, GameKind, &'static Arena)> {
    { ARENAS.iter().enumerate() }.filter_map(|(place, arena)| Some((place, GameKind::named(arena.slug)?, arena)))
}

/// The room of a game, with its place.
fn room_of(game: GameKind) -> Option<(usize, &'static Arena)> {
    rooms().find(|(_, kind, _)| *kind == game).map(|(place, _, arena)| (place, arena))
}

/// The room of a name, with `-` or `_` in it, or of an alias.
fn room_named(name: &str) -> Option<(GameKind, &'static Arena)> {
    let is = |other: &str| {
        name.len() == other.len() && name.bytes().zip(other.bytes()).all(|(a, b)| a == b || a == b'-' && b == b'_')
    };
    rooms().find(|(_, _, arena)| is(arena.slug) || is(arena.alias)).map(|(_, kind, arena)| (kind, arena))
}

/// The games that are played in its rooms.
fn games() -> GameSet {
    rooms().fold(GameSet::NONE, |games, (_, kind, _)| games.with(kind))
}

/// How late its agents may be.
pub fn policy(timing: &Timing, rules: &Rules) -> Policy {
    let arena = ARENAS.iter().find(|arena| arena.slug == rules.name);
    let (turn, late) = arena.map_or((2, Late::Lose), |arena| (arena.turn, arena.late));
    Policy {
        countdown_ms: COUNTDOWN_MS,
        invitation_ms: None,
        first_turn_ms: timing.move_ms.saturating_mul(4),
        turn_ms: timing.move_ms.saturating_mul(turn.into()),
        late,
        grace_ms: Some(GRACE_MS),
        match_ms: Some(MATCH_MS),
    }
}

impl Arena {
    /// So many turns in a row that run out forfeit a match.
    fn forfeit_after(&self) -> u8 {
        match self.late {
            Late::PlayFirst { forfeit_after } => forfeit_after.unwrap_or(0),
            Late::LoseTurn { forfeit_after } => forfeit_after,
            Late::Lose | Late::AskAgain { .. } => 1,
        }
    }
}

/// What is wrong with a message, or with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It is not JSON, or no object.
    InvalidJson,
    /// `action` is none that there is.
    UnknownAction,
    /// A member is missing: the words say which.
    MissingField(&'static str),
    /// `content` is empty.
    EmptyContent,
    /// A value is wrong: the words say which, and the rule.
    ValidationFailed(&'static str),
    /// The box does not carry it.
    ContentBlocked(&'static str),
    /// The agent has too little of a resource: which, how many it has and needs.
    Insufficient(&'static str, u8, u8),
    /// `content` is too long.
    MessageTooLong,
    /// The agent says too much.
    RateLimited,
    /// The agent does not play in that match.
    NotInMatch,
    /// It is the other's turn.
    NotYourTurn,
    /// The game refuses the move; after some of them it is told which ones it takes.
    IllegalMove(Illegal, bool),
    /// There is no such room.
    RoomNotFound,
    /// There is no such table in it.
    TableNotFound,
    /// Both seats are taken, or the game there is over.
    TableTaken,
    /// The box has no table left.
    RoomFull,
    /// The agent sits or plays somewhere: the words say what to do.
    AlreadyInRoom(&'static str),
    /// The match ended while the agent was gone.
    ReconnectExpired,
    /// No key or token, or a wrong one: the words say which.
    Unauthorized(&'static str),
    /// Somebody else has that name.
    NameTaken,
    /// There is no such thing.
    NotFound(&'static str),
    /// The box has no room for another agent.
    ServerFull(&'static str),
}

impl Trouble {
    /// What programs know it by.
    pub fn code(self) -> &'static str {
        match self {
            Trouble::InvalidJson => "INVALID_JSON",
            Trouble::UnknownAction => "UNKNOWN_ACTION",
            Trouble::MissingField(_) => "MISSING_FIELD",
            Trouble::EmptyContent => "EMPTY_CONTENT",
            Trouble::ValidationFailed(_) => "VALIDATION_FAILED",
            Trouble::ContentBlocked(_) | Trouble::Insufficient(..) => "CONTENT_BLOCKED",
            Trouble::MessageTooLong => "MESSAGE_TOO_LONG",
            Trouble::RateLimited => "RATE_LIMITED",
            Trouble::NotInMatch => "NOT_IN_MATCH",
            Trouble::NotYourTurn => "NOT_YOUR_TURN",
            Trouble::IllegalMove(..) => "ILLEGAL_MOVE",
            Trouble::RoomNotFound => "ROOM_NOT_FOUND",
            Trouble::TableNotFound => "TABLE_NOT_FOUND",
            Trouble::TableTaken => "TABLE_TAKEN",
            Trouble::RoomFull => "ROOM_FULL",
            Trouble::AlreadyInRoom(_) => "ALREADY_IN_ROOM",
            Trouble::ReconnectExpired => "RECONNECT_EXPIRED",
            Trouble::Unauthorized(_) => "UNAUTHORIZED",
            Trouble::NameTaken => "NAME_TAKEN",
            Trouble::NotFound(_) => "NOT_FOUND",
            Trouble::ServerFull(_) => "SERVER_FULL",
        }
    }

    /// What people are told, but for the legal moves.
    pub fn words(self) -> &'static str {
        match self {
            Trouble::InvalidJson => "the message must be a JSON object",
            Trouble::UnknownAction => {
                "action must be one of enter_room, leave_room, sit_table, send_message, leave_match, vote, react, heartbeat, \
                 propose_wager, accept_wager, decline_wager, cancel_wager, propose_trade, accept_trade, reject_trade"
            }
            Trouble::Insufficient(..) => "Insufficient goods",
            Trouble::EmptyContent => "content is empty",
            Trouble::MessageTooLong => "content is too long: 8000 bytes at most, and 10 characters in chess and go",
            Trouble::RateLimited => "more than 20 messages came in a second, or two reactions; this one was not heard",
            Trouble::NotInMatch => "you are not in this match",
            Trouble::NotYourTurn => "it is not your turn",
            Trouble::RoomNotFound => "there is no such room; welcome lists them",
            Trouble::TableNotFound => "there is no such table in this room; room_state lists them",
            Trouble::TableTaken => "the seats of this table are taken; sit at a table that waits",
            Trouble::RoomFull => "all tables of this box are taken; sit down when a match is over",
            Trouble::ReconnectExpired => "you were gone for more than 30 seconds, and your match is over",
            Trouble::NameTaken => "another agent has this name",
            Trouble::IllegalMove(Illegal(words), _)
            | Trouble::MissingField(words)
            | Trouble::ValidationFailed(words)
            | Trouble::ContentBlocked(words)
            | Trouble::AlreadyInRoom(words)
            | Trouble::Unauthorized(words)
            | Trouble::NotFound(words)
            | Trouble::ServerFull(words) => words,
        }
    }

    /// The HTTP status, where it is the answer to a request.
    pub fn status(self) -> u16 {
        match self {
            Trouble::Unauthorized(_) => 401,
            Trouble::NameTaken => 409,
            Trouble::NotFound(_) => 404,
            Trouble::ServerFull(_) => 503,
            _ => 400,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}
