//! What the box says, whatever the protocol: the log and the reports name it so.

/// What the box says to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A round begins.
    RoundAnnouncement,
    /// Come and play.
    GameInvitation,
    /// Even or odd?
    ChooseParity,
    /// What is your move?
    MoveRequest,
    /// Your move counts.
    MoveValidation,
    /// The match is over.
    GameOver,
    /// Something went wrong; this follows.
    GameError,
    /// The table after a round.
    Standings,
    /// A round is over.
    RoundCompleted,
    /// The league is over.
    LeagueCompleted,
    /// Are you there? The same in every dialect.
    Ping,
    /// Referee this match.
    MatchAssignment,
}

impl Message {
    /// Its name in the log and in reports, and its `message_type` where a protocol has one.
    pub fn name(self) -> &'static str {
        match self {
            Message::RoundAnnouncement => "ROUND_ANNOUNCEMENT",
            Message::GameInvitation => "GAME_INVITATION",
            Message::ChooseParity => "CHOOSE_PARITY_CALL",
            Message::MoveRequest => "MOVE_REQUEST",
            Message::MoveValidation => "MOVE_VALIDATION",
            Message::GameOver => "GAME_OVER",
            Message::GameError => "GAME_ERROR",
            Message::Standings => "LEAGUE_STANDINGS_UPDATE",
            Message::RoundCompleted => "ROUND_COMPLETED",
            Message::LeagueCompleted => "LEAGUE_COMPLETED",
            Message::Ping => "PING",
            Message::MatchAssignment => "MATCH_ASSIGNMENT",
        }
    }
}
