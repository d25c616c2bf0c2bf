//! MCP, the Model Context Protocol: what language models call tools by. Two eras of it, on the path where league.v2 is: since revision
//! 2026-07-28 every request stands for itself, before there was a handshake. The box keeps nothing of either, so both are one
//! POST and one answer.
//!
//! `incoming.rs` tells the eras and league.v2 apart and reads what is wanted; `play.rs` does what players want, who come and ask as
//! MoltGame's do; `outgoing.rs` has what stands around an answer. The pages anybody may see, the lists and the manuals are the
//! appliance's: it puts them into a [`Frame`].

mod incoming;
mod outgoing;
mod play;
mod session;
#[cfg(test)]
mod tests;

pub use incoming::{Asking, Call, Fault, Headers, Page, Want, read};
pub use outgoing::{Form, Frame, Quoted, Seen, write_games};
pub use play::{Mark, Told};
pub use session::Session;

use crate::referee::{Late, Policy};
use crate::venue::Timing;

/// The revision whose requests stand for themselves.
pub const STATELESS: &str = "2026-07-28";

/// The revisions with a handshake, the one first that is answered to who asks for another.
pub const HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The longest that a player may have [`next_turn`](Call::NextTurn) wait, in seconds: clients give an answer half a minute or more.
pub const LONGEST_WAIT: u8 = 25;
/// How long it waits where nothing is said.
const USUAL_WAIT: u8 = 20;

/// So many turns in a row that a player lets go by lose its game, as in MoltGame: others would wait for one that is gone.
pub const MISSED_TURNS: u8 = 5;

/// The most moves that are listed.
const MOVES: u16 = 200;

/// How late its players may be: whoever is has its first legal move played for it.
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

/// Which era a request is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25.
    Handshake,
    /// From 2026-07-28 on.
    Stateless,
}
