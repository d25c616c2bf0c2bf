//! league.v2: JSON-RPC 2.0 in five dialects, as real agents speak it. What agents send us is read by [`incoming`], what
//! they answer by [`reply`]; what we say is in [`outgoing`]; how each agent wants to hear it in [`dialect`].

pub mod dialect;
pub mod incoming;
pub mod outgoing;
pub mod reply;

/// The protocol's name.
pub const PROTOCOL: &str = "league.v2";

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
