//! league.v2: JSON-RPC 2.0 in five dialects, as real agents speak it. What agents send us is read by [`incoming`], what
//! they answer by [`reply`]; what we say is in [`outgoing`]; how each agent wants to hear it in [`dialect`].

mod calls;
pub mod dialect;
mod hear;
pub mod incoming;
pub mod outgoing;
mod referees;
mod register;
pub mod reply;
pub mod report;
mod say;
mod session;

pub use dialect::Dialect;
pub use hear::Answer;
use outgoing::Conversation;
pub use referees::{Desk, Referee, RefereeLine};
pub use session::{NEWS_MS, Session};

use crate::json;
use crate::referee::{Late, MAX_RETRIES, Policy};
use crate::venue::Timing;

/// How late its players may be: whoever does not answer, or wrongly, is asked again three times.
pub fn policy(timing: &Timing) -> Policy {
    Policy {
        countdown_ms: 0,
        invitation_ms: Some(timing.join_ms),
        first_turn_ms: timing.move_ms,
        turn_ms: timing.move_ms,
        late: Late::AskAgain { times: MAX_RETRIES, base_ms: timing.retry_base_ms },
        grace_ms: None,
        match_ms: None,
    }
}

/// The protocol's name.
pub const PROTOCOL: &str = "league.v2";

/// The games of the specification.
pub const GAMES: [&str; 2] = ["even_odd", "even_odd_10"];

/// The error codes of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// E001
    Timeout,
    /// E002
    InvalidChoice,
    /// E003
    MissingRequiredField,
    /// E004
    InvalidParityChoice,
    /// E005
    PlayerNotRegistered,
    /// E009
    ConnectionError,
    /// E010
    RegistrationClosed,
    /// E011
    AuthTokenMissing,
    /// E012
    AuthTokenInvalid,
    /// E013
    MatchNotFound,
    /// E018
    ProtocolVersionMismatch,
    /// E021
    InvalidTimestamp,
}

impl Code {
    /// Every one there is.
    pub const ALL: [Code; 12] = [
        Code::Timeout,
        Code::InvalidChoice,
        Code::MissingRequiredField,
        Code::InvalidParityChoice,
        Code::PlayerNotRegistered,
        Code::ConnectionError,
        Code::RegistrationClosed,
        Code::AuthTokenMissing,
        Code::AuthTokenInvalid,
        Code::MatchNotFound,
        Code::ProtocolVersionMismatch,
        Code::InvalidTimestamp,
    ];

    /// `E001` …
    pub fn code(self) -> &'static str {
        match self {
            Code::Timeout => "E001",
            Code::InvalidChoice => "E002",
            Code::MissingRequiredField => "E003",
            Code::InvalidParityChoice => "E004",
            Code::PlayerNotRegistered => "E005",
            Code::ConnectionError => "E009",
            Code::RegistrationClosed => "E010",
            Code::AuthTokenMissing => "E011",
            Code::AuthTokenInvalid => "E012",
            Code::MatchNotFound => "E013",
            Code::ProtocolVersionMismatch => "E018",
            Code::InvalidTimestamp => "E021",
        }
    }

    /// `TIMEOUT_ERROR` …
    pub fn name(self) -> &'static str {
        match self {
            Code::Timeout => "TIMEOUT_ERROR",
            Code::InvalidChoice => "INVALID_CHOICE",
            Code::MissingRequiredField => "MISSING_REQUIRED_FIELD",
            Code::InvalidParityChoice => "INVALID_PARITY_CHOICE",
            Code::PlayerNotRegistered => "PLAYER_NOT_REGISTERED",
            Code::ConnectionError => "CONNECTION_ERROR",
            Code::RegistrationClosed => "REGISTRATION_CLOSED",
            Code::AuthTokenMissing => "AUTH_TOKEN_MISSING",
            Code::AuthTokenInvalid => "AUTH_TOKEN_INVALID",
            Code::MatchNotFound => "MATCH_NOT_FOUND",
            Code::ProtocolVersionMismatch => "PROTOCOL_VERSION_MISMATCH",
            Code::InvalidTimestamp => "INVALID_TIMESTAMP",
        }
    }
}

/// What the answer to a test call says.
enum TestReply {
    /// The agent is there.
    There,
    /// It is not the agent that answers.
    Astray,
}

impl TestReply {
    /// An agent that does not know `ping` may refuse it in the words of JSON-RPC, or as a web framework refuses a body (400,
    /// 422) or reports a slip (500); every other status but success is not from the agent.
    fn read(status: u16, body: &[u8]) -> TestReply {
        let is_json_rpc = || json::parse(body).is_ok_and(|reply| reply.get("jsonrpc").is_some());
        match status {
            200..300 | 400 | 422 | 500 => TestReply::There,
            _ if is_json_rpc() => TestReply::There,
            _ => TestReply::Astray,
        }
    }
}
