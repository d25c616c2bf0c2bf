//! League of Agents: flat JSON messages over a WebSocket, registration over HTTP. What agents send is read by
//! [`incoming`]; what we say is in [`outgoing`]; what can be wrong with what they sent, word for word as the
//! specification has it, is a [`Trouble`].

pub mod incoming;
pub mod outgoing;
mod play;
mod session;
#[cfg(test)]
mod tests;

pub use crate::protocols::enrol::Enrolment;
pub use crate::uuid::{UUID_BYTES, Uuid};
pub use play::Reply;
pub use session::{Cursor, Picture, Session, Word};

use super::league_v2;
use crate::games::GameKind;
use crate::json::Str;
use crate::referee::{Late, Policy};
use crate::venue::Timing;

/// How late its agents may be: they are there without an invitation, and whoever does not move in time loses.
pub fn policy(timing: &Timing) -> Policy {
    Policy {
        countdown_ms: 0,
        invitation_ms: None,
        first_turn_ms: timing.first_turn_ms,
        turn_ms: timing.turn_ms,
        late: Late::Lose,
        grace_ms: None,
        match_ms: None,
    }
}

/// The code a connection is closed with when its agent cannot say who it is.
pub const UNAUTHORIZED: u16 = 4001;

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// `token` is nobody's.
    InvalidKey,
    /// `authenticate` without `token`.
    MissingToken,
    /// `authenticate` for the second time.
    AlreadyAuthenticated,
    /// Not JSON.
    InvalidJson,
    /// JSON, but more of it in one another than is read. The specification has no words for it, nor for the next two.
    TooDeep,
    /// JSON, but of more parts than are read.
    TooManyValues,
    /// JSON by its grammar, but no text.
    LoneSurrogate,
    /// No message of this protocol.
    UnknownType,
    /// `join_queue` or `submit_move` before `authenticate`.
    NotAuthenticated,
    /// `subscribe_game` or `submit_move` without `gameId`.
    MissingGameId,
    /// `join_queue` without `gameType`.
    MissingGameType,
    /// `join_queue` for a game there is not. The specification has no words for it.
    UnknownGame,
    /// `submit_move` without `move`.
    MissingMove,
    /// `subscribe_game` for a game there is not.
    GameNotFound,
    /// `subscribe_game` for a game of others, while it plays one of its own. The specification has no words for it.
    InAGame,
    /// `submit_move` for a game that does not run.
    NotActive,
    /// `submit_move` for a game of others.
    NotAPlayer,
    /// A second `submit_move` in a round.
    AlreadyMoved,
    /// The game refuses the move.
    InvalidMove,
}

impl Trouble {
    /// Every one there is.
    pub const ALL: [Trouble; 19] = [
        Trouble::InvalidKey,
        Trouble::MissingToken,
        Trouble::AlreadyAuthenticated,
        Trouble::InvalidJson,
        Trouble::TooDeep,
        Trouble::TooManyValues,
        Trouble::LoneSurrogate,
        Trouble::UnknownType,
        Trouble::NotAuthenticated,
        Trouble::MissingGameId,
        Trouble::MissingGameType,
        Trouble::UnknownGame,
        Trouble::MissingMove,
        Trouble::GameNotFound,
        Trouble::InAGame,
        Trouble::NotActive,
        Trouble::NotAPlayer,
        Trouble::AlreadyMoved,
        Trouble::InvalidMove,
    ];

    /// The words for it: the specification's, where it has some.
    pub const fn text(self) -> &'static str {
        match self {
            Trouble::InvalidKey => "Invalid API key.",
            Trouble::MissingToken => "Missing or invalid token in authenticate message.",
            Trouble::AlreadyAuthenticated => "Already authenticated.",
            Trouble::InvalidJson => "Invalid JSON.",
            Trouble::TooDeep => "JSON is nested deeper than 16 levels.",
            Trouble::TooManyValues => "JSON has more than 6144 values.",
            Trouble::LoneSurrogate => "A string has half of a surrogate pair.",
            Trouble::UnknownType => "Unknown message type.",
            Trouble::NotAuthenticated => {
                r#"Not authenticated. Send {"type":"authenticate","token":"YOUR_API_KEY"} first."#
            }
            Trouble::MissingGameId => "Missing gameId.",
            Trouble::MissingGameType => "Missing gameType.",
            Trouble::UnknownGame => UNKNOWN_GAME,
            Trouble::MissingMove => "Missing move.",
            Trouble::GameNotFound => "Game not found.",
            Trouble::InAGame => "You are in a game. Watch others on another connection.",
            Trouble::NotActive => "Game not found or not active.",
            Trouble::NotAPlayer => "You are not a player in this game.",
            Trouble::AlreadyMoved => "You already submitted a move this round.",
            Trouble::InvalidMove => "Invalid move.",
        }
    }

    /// The code to close the connection with, if it is over.
    pub const fn closes(self) -> Option<u16> {
        match self {
            Trouble::InvalidKey | Trouble::MissingToken => Some(UNAUTHORIZED),
            _ => None,
        }
    }

    /// Whether it is told as the result of a move, and not as an error.
    pub const fn is_about_a_move(self) -> bool {
        matches!(self, Trouble::NotActive | Trouble::NotAPlayer | Trouble::AlreadyMoved | Trouble::InvalidMove)
    }
}

/// The games of the specification.
const GAMES: [&str; 5] = ["echo", "resource-rush", "skill-gomoku", "dance-battle", "blotto"];

/// Whether a game is one of the specification, which then says what is seen of it.
pub fn specifies(game_type: &str) -> bool {
    GAMES.contains(&game_type)
}

/// Whether agents can join a game: all but those of league.v2's specification, which they play only in a league, and see as
/// its players do.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "the index stays below the length, which is that of a constant list"
)]
const fn is_offered(kind: GameKind) -> bool {
    let mut next = 0;
    while next < league_v2::GAMES.len() {
        if is_same(league_v2::GAMES[next].as_bytes(), kind.rules().name.as_bytes()) {
            return false;
        }
        next += 1;
    }
    true
}

#[expect(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "the index stays below both lengths")]
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut next = 0;
    while next < one.len() && next < other.len() && one[next] == other[next] {
        next += 1;
    }
    next == one.len() && next == other.len()
}

/// The games that can be joined.
pub fn games() -> impl Iterator<Item = GameKind> {
    GameKind::ALL.iter().copied().filter(|&kind| is_offered(kind))
}

/// The game that a `gameType` means.
pub fn game(game_type: Str<'_>) -> Result<GameKind, Trouble> {
    games().find(|kind| game_type.is(kind.rules().name)).ok_or(Trouble::UnknownGame)
}

/// Names every game that can be joined.
const UNKNOWN_GAME: &str = {
    const TEXT: ([u8; 256], usize) = unknown_game();
    // Both hold, or this does not compile.
    match core::str::from_utf8(TEXT.0.split_at(TEXT.1).0) {
        Ok(text) => text,
        Err(_) => panic!("a sentence of names is text"),
    }
};

/// The sentence in more room than it needs, and its length.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "computed by the compiler, which refuses what does not hold"
)]
const fn unknown_game() -> ([u8; 256], usize) {
    let (mut text, mut length) = ([0; 256], 0);
    let mut gap = "Unknown gameType. Use one of: ";
    let mut next = 0;
    while next < GameKind::ALL.len() {
        let kind = GameKind::ALL[next];
        if is_offered(kind) {
            length = put(&mut text, length, gap);
            length = put(&mut text, length, kind.rules().name);
            gap = ", ";
        }
        next += 1;
    }
    length = put(&mut text, length, ".");
    (text, length)
}

#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "computed by the compiler, which refuses what does not hold"
)]
const fn put(text: &mut [u8; 256], mut length: usize, piece: &str) -> usize {
    let mut next = 0;
    while next < piece.len() {
        text[length] = piece.as_bytes()[next];
        (length, next) = (length + 1, next + 1);
    }
    length
}
