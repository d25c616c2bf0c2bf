//! What the box says. Each message is a plain type; each is the superset of what the specification lists and what
//! validators in the wild demand. How a message is wrapped, as a call or as an answer, is said once, at the end.

use core::fmt;

use heapless::Vec;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::dialect::Dialect;
use super::incoming::{Envelope, Rejection};
use crate::contact::Url;
use crate::fair::Seed;
use crate::games::MAX_SEATS;
use crate::ids::{AgentId, Ids, LeagueId, MatchId, Token, write_ids};
#[cfg(doc)]
use crate::json::Joined;
use crate::json::{self, Raw, Shown};
use crate::season::{Tally, Verdict};
use crate::time::Utc;

/// What a message belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Conversation<'a> {
    /// A seat of a match: everything about it has one conversation.
    Seat(MatchId, u8),
    /// A round.
    Round(u16, &'static str),
    /// The league.
    League,
    /// That of the message we answer, as it was written.
    Theirs(&'a str),
}

impl fmt::Display for Conversation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Conversation::Seat(MatchId { round, table }, seat) => {
                write!(f, "conv_r{round}m{table}_{}", char::from(b'a'.saturating_add(seat)))
            }
            Conversation::Round(round, what) => write!(f, "conv_round{round}{what}"),
            Conversation::League | Conversation::Theirs(_) => f.write_str("conv_league"),
        }
    }
}

impl Serialize for Conversation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Conversation::Theirs(raw) => Raw(raw).serialize(serializer),
            ours => serializer.collect_str(ours),
        }
    }
}

/// Who speaks, and how the listener wants to see it written.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// Whether the referee speaks, or the league manager.
    pub referee: bool,
    /// Whether the listener demands an id behind every role.
    pub with_id: bool,
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.referee, self.with_id) {
            (true, _) => "referee:REF01",
            (false, true) => "league_manager:LM01",
            (false, false) => "league_manager",
        })
    }
}

/// The fields every message begins with; what follows is [`Joined`] to them.
#[derive(Serialize)]
pub struct Head<'a> {
    /// Always league.v2.
    pub protocol: &'static str,
    /// Its name.
    pub message_type: &'static str,
    /// Who speaks.
    pub sender: Shown<Sender>,
    /// When.
    pub timestamp: Shown<Utc>,
    /// About what.
    pub conversation_id: Conversation<'a>,
    /// Non-empty in every call: some players refuse a message without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_token: Option<Shown<Token>>,
    /// The league.
    pub league_id: Shown<LeagueId>,
}

/// GAME_INVITATION
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct GameInvitation {
    pub round_id: u16,
    pub match_id: Shown<MatchId>,
    /// The same for those who look for it by this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_id: Option<Shown<MatchId>>,
    pub game_type: &'static str,
    pub role_in_match: &'static str,
    pub player_id: Shown<AgentId>,
    pub opponent_id: Shown<AgentId>,
    #[serde(skip_serializing_if = "Ids::is_one")]
    pub opponent_ids: Ids,
    /// SHA-256 of the seed that will decide the match.
    pub seed_commitment: Shown<Seed>,
}

/// CHOOSE_PARITY_CALL
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct ChooseParityCall {
    pub round_id: u16,
    pub match_id: Shown<MatchId>,
    /// The same for those who look for it by this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_id: Option<Shown<MatchId>>,
    pub player_id: Shown<AgentId>,
    pub game_type: &'static str,
    pub context: Context,
    pub deadline: Shown<Utc>,
}

/// What a player is told before it chooses.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct Context {
    pub opponent_id: Shown<AgentId>,
    #[serde(skip_serializing_if = "Ids::is_one")]
    pub opponent_ids: Ids,
    pub round_id: u16,
    pub your_standings: YourStandings,
}

/// A player's own tally.
#[derive(Clone, Copy, Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct YourStandings {
    pub wins: u16,
    pub losses: u16,
    pub draws: u16,
    pub points: u16,
}

impl From<Tally> for YourStandings {
    fn from(tally: Tally) -> Self {
        Self { wins: tally.wins, losses: tally.losses, draws: tally.draws, points: tally.points }
    }
}

/// MOVE_REQUEST
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct MoveRequest<V, T> {
    pub round_id: u16,
    pub match_id: Shown<MatchId>,
    pub player_id: Shown<AgentId>,
    pub game_type: &'static str,
    pub context: Context,
    pub game_state: GameState<V, T>,
    pub deadline: Shown<Utc>,
}

/// What a player sees.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct GameState<V, T> {
    pub game_type: &'static str,
    pub turn_number: u16,
    pub timeout_seconds: u64,
    /// What everybody did in the turn before, in words, as players of League of Agents hear it too.
    pub last_turn: T,
    pub game_specific_state: V,
}

/// MOVE_VALIDATION. Only the player who moved hears it: what it played stays hidden until the turn is over.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct MoveValidation<V> {
    pub round_id: u16,
    pub match_id: Shown<MatchId>,
    pub validation: Validation<V>,
}

/// The verdict on a move.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct Validation<V> {
    pub player_id: Shown<AgentId>,
    pub r#move: V,
    pub status: &'static str,
    pub error: Option<&'static str>,
}

/// GAME_OVER
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct GameOver<R> {
    pub round_id: u16,
    pub match_id: Shown<MatchId>,
    pub player_id: Shown<AgentId>,
    pub game_type: &'static str,
    pub game_result: R,
    pub seed_commitment: Shown<Seed>,
    /// The seed itself: anybody can now recompute the draw.
    pub match_seed: Shown<Seed>,
}

/// The result of a match; what the game has to tell is [`Joined`] to it.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct GameResult {
    pub status: &'static str,
    pub winner_player_id: Option<Shown<AgentId>>,
    pub score: Score,
    pub end_reason: &'static str,
}

/// League points of a match: `{"P01":3,"P02":0}`.
pub struct Score(pub Vec<(AgentId, Verdict), MAX_SEATS>);

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, verdict)| (Shown(id), verdict.points())))
    }
}

/// GAME_ERROR
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct GameError {
    pub round_id: u16,
    pub match_id: Shown<MatchId>,
    pub error_code: &'static str,
    pub error_description: &'static str,
    /// What was wrong, in words that name the field and the rule.
    pub detail: &'static str,
    pub affected_player: Shown<AgentId>,
    pub action_required: &'static str,
    pub retryable: bool,
    pub retry_count: u8,
    pub max_retries: u8,
    pub retry_info: RetryInfo,
    pub consequence: &'static str,
}

/// The retries once more, as the dedicated document nests them.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct RetryInfo {
    pub retry_count: u8,
    pub max_retries: u8,
    pub next_retry_at: Shown<Utc>,
}

/// ROUND_ANNOUNCEMENT
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct RoundAnnouncement<M> {
    pub round_id: u16,
    pub total_rounds: u16,
    pub matches: M,
}

/// What the players of a match are called, by seat.
pub const ROLES: [&str; MAX_SEATS] = ["PLAYER_A", "PLAYER_B", "PLAYER_C", "PLAYER_D", "PLAYER_E", "PLAYER_F"];

/// What their addresses are called, by seat.
const ENDPOINTS: [&str; MAX_SEATS] = [
    "player_A_endpoint",
    "player_B_endpoint",
    "player_C_endpoint",
    "player_D_endpoint",
    "player_E_endpoint",
    "player_F_endpoint",
];

/// One match of a round.
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct AnnouncedMatch<'a> {
    pub match_id: MatchId,
    pub game_type: &'static str,
    /// By seat.
    pub players: Vec<(AgentId, Url<'a>), MAX_SEATS>,
    pub referee_id: AgentId,
    pub referee_endpoint: &'a str,
}

impl Serialize for AnnouncedMatch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}

impl AnnouncedMatch<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("match_id", &Shown(self.match_id))?;
        map.serialize_entry("game_type", self.game_type)?;
        write_ids(map, self.players.iter().map(|(id, _)| *id))?;
        map.serialize_entry("referee_id", &Shown(self.referee_id))?;
        map.serialize_entry("referee_endpoint", self.referee_endpoint)?;
        for (name, (_, url)) in ENDPOINTS.iter().zip(&self.players) {
            map.serialize_entry(name, &Shown(url))?;
        }
        Ok(())
    }
}

/// START_MATCH and MATCH_ASSIGNMENT, with the fields of the match by all names they are looked for; ROUND_ANNOUNCEMENT, with the match
/// as the only one of its round.
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct Assignment<'a> {
    pub total_rounds: u16,
    pub announced: AnnouncedMatch<'a>,
    /// Whether the fields of the match stand by themselves.
    pub is_flat: bool,
}

/// What players are called in an assignment, by seat: their ids, and their addresses.
const ASSIGNED: [[(&str, &str); 2]; 2] = [
    [("player_a_id", "player_a_endpoint"), ("player1_id", "player1_endpoint")],
    [("player_b_id", "player_b_endpoint"), ("player2_id", "player2_endpoint")],
];

impl Serialize for Assignment<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("round_id", &self.announced.match_id.round)?;
        if !self.is_flat {
            map.serialize_entry("total_rounds", &self.total_rounds)?;
            map.serialize_entry("matches", &[&self.announced])?;
            return map.end();
        }
        self.announced.write(&mut map)?;
        for (names, (id, url)) in ASSIGNED.iter().zip(&self.announced.players) {
            for (id_name, url_name) in names {
                map.serialize_entry(id_name, &Shown(id))?;
                map.serialize_entry(url_name, &Shown(url))?;
            }
        }
        map.serialize_entry("status", "PENDING")?;
        map.end()
    }
}

/// LEAGUE_STANDINGS_UPDATE
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct StandingsUpdate<R> {
    pub round_id: u16,
    pub standings: R,
}

/// ROUND_COMPLETED
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct RoundCompleted {
    pub round_id: u16,
    pub matches_played: u16,
    pub matches_completed: u16,
    pub next_round_id: Option<u16>,
    pub summary: RoundSummary,
}

/// What happened in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct RoundSummary {
    pub total_matches: u16,
    pub wins: u16,
    pub draws: u16,
    pub technical_losses: u16,
}

/// LEAGUE_COMPLETED
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct LeagueCompleted<'a, R> {
    pub total_rounds: u16,
    pub total_matches: u32,
    pub champion: Option<Champion<'a>>,
    pub final_standings: R,
}

/// Who won the league.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct Champion<'a> {
    pub player_id: Shown<AgentId>,
    pub display_name: &'a str,
    pub points: u16,
}

/// The id an agent was given. It is a required text, so who is turned away is given an empty one.
#[derive(Clone, Copy, Debug)]
pub struct GivenId(pub Option<AgentId>);

impl fmt::Display for GivenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |id| id.fmt(f))
    }
}

/// LEAGUE_REGISTER_RESPONSE and REFEREE_REGISTER_RESPONSE
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct RegisterResponse {
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<Shown<GivenId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<Shown<GivenId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_description: Option<&'static str>,
    pub reason: Option<&'static str>,
    /// What to change, in words that name the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<&'static str>,
}

/// LEAGUE_ERROR
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct LeagueError {
    pub error_code: &'static str,
    pub error_description: &'static str,
    /// What was wrong, in words that name the field and the rule.
    pub detail: &'static str,
    pub affected_player: Option<Shown<AgentId>>,
    pub action_required: &'static str,
    pub context: ErrorContext,
}

/// What a league error is about. The token that was sent is not repeated: answers get logged.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct ErrorContext {
    pub action: &'static str,
}

/// LEAGUE_QUERY_RESPONSE
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct QueryResponse<D> {
    pub query_type: &'static str,
    pub status: &'static str,
    /// The same once more, for those who look for it by this name.
    pub success: bool,
    pub data: D,
}

/// MATCH_RESULT_ACK
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct ResultAck {
    pub status: &'static str,
    /// Which match, where the report names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_id: Option<Shown<MatchId>>,
    /// What it is worth.
    pub reason: &'static str,
}

/// The plain receipt for a message that wants nothing back.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct Receipt {
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// A call to a player: the message, wrapped as it wants to hear it.
pub struct Call<M> {
    /// How to wrap it.
    pub dialect: Dialect,
    /// The method or the tool.
    pub method: &'static str,
    /// The number of the call.
    pub id: u32,
    /// The message.
    pub message: M,
}

impl<M: Serialize> Serialize for Call<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Nested<'a, M> {
            message: &'a M,
        }
        #[derive(Serialize)]
        struct Tool<'a, M> {
            name: &'static str,
            arguments: &'a M,
        }
        if self.dialect == Dialect::Bare {
            return self.message.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("jsonrpc", "2.0")?;
        match self.dialect {
            Dialect::McpTools => {
                map.serialize_entry("method", "tools/call")?;
                map.serialize_entry("params", &Tool { name: self.method, arguments: &self.message })?;
            }
            Dialect::Nested | Dialect::ProtocolMessage => {
                map.serialize_entry("method", self.method)?;
                map.serialize_entry("params", &Nested { message: &self.message })?;
            }
            _ => {
                map.serialize_entry("method", self.method)?;
                map.serialize_entry("params", &self.message)?;
            }
        }
        map.serialize_entry("id", &self.id)?;
        map.end()
    }
}

/// An answer to an agent: the message, wrapped as the agent wrapped its own.
pub struct Answer<'a, M> {
    /// How the agent asked.
    pub envelope: Envelope<'a>,
    /// The message.
    pub message: M,
}

impl<M: Serialize> Serialize for Answer<'_, M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Contents<'a, M: Serialize> {
            content: [Content<'a, M>; 1],
        }
        #[derive(Serialize)]
        struct Content<'a, M: Serialize> {
            r#type: &'static str,
            text: Shown<Text<'a, M>>,
        }
        if self.envelope.dialect == Dialect::Bare {
            return self.message.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("jsonrpc", "2.0")?;
        if self.envelope.dialect == Dialect::McpTools {
            let content = Content { r#type: "text", text: Shown(Text(&self.message)) };
            map.serialize_entry("result", &Contents { content: [content] })?;
        } else {
            map.serialize_entry("result", &self.message)?;
        }
        map.serialize_entry("id", &Raw(self.envelope.id.unwrap_or("null")))?;
        map.end()
    }
}

/// A message as JSON text, to be put into a string.
struct Text<'a, M>(&'a M);

impl<M: Serialize> fmt::Display for Text<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Into<'a, 'f>(&'a mut fmt::Formatter<'f>);
        impl json::Sink for Into<'_, '_> {
            fn put(&mut self, bytes: &[u8]) -> Result<(), json::Full> {
                let text = core::str::from_utf8(bytes).map_err(|_| json::Full)?;
                self.0.write_str(text).map_err(|_| json::Full)
            }
        }
        json::write(self.0, &mut Into(f)).map_err(|_| fmt::Error)
    }
}

/// A JSON-RPC error.
pub struct RpcError<'a> {
    /// How the agent asked, as far as that could be read.
    pub envelope: Envelope<'a>,
    /// What is wrong.
    pub rejection: Rejection<'a>,
}

impl Serialize for RpcError<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Error<'a> {
            code: i32,
            message: Shown<Rejection<'a>>,
        }
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("jsonrpc", "2.0")?;
        map.serialize_entry("error", &Error { code: self.rejection.code(), message: Shown(self.rejection) })?;
        map.serialize_entry("id", &Raw(self.envelope.id.unwrap_or("null")))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::{String, ToString};

    fn text(value: &impl Serialize) -> String {
        let mut buf = [0; 2048];
        let mut sink = json::Slice::new(&mut buf);
        json::write(value, &mut sink).unwrap();
        String::from_utf8(sink.written().to_vec()).unwrap()
    }

    #[derive(Serialize)]
    struct Hello {
        name: &'static str,
    }
    const HELLO: Hello = Hello { name: "שלום 👋 \"x\"" };
    const PLAIN: &str = r#"{"name":"שלום 👋 \"x\""}"#;

    #[test]
    fn a_call_is_wrapped_in_the_players_dialect() {
        let call = |dialect| text(&Call { dialect, method: "m", id: 7, message: HELLO });
        assert_eq!(
            call(Dialect::Canonical),
            std::format!(r#"{{"jsonrpc":"2.0","method":"m","params":{PLAIN},"id":7}}"#)
        );
        assert_eq!(
            call(Dialect::Nested),
            std::format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"message":{PLAIN}}},"id":7}}"#)
        );
        assert_eq!(
            call(Dialect::McpTools),
            std::format!(
                r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"m","arguments":{PLAIN}}},"id":7}}"#
            )
        );
        assert_eq!(call(Dialect::Bare), PLAIN);
    }

    #[test]
    fn an_answer_to_a_tool_call_is_text_that_is_json_again() {
        let envelope = Envelope { dialect: Dialect::McpTools, id: Some("\"a\"") };
        let answer: serde_json::Value = serde_json::from_str(&text(&Answer { envelope, message: HELLO })).unwrap();
        assert_eq!(answer["id"], "a");
        assert_eq!(answer["result"]["content"][0]["text"], PLAIN);
    }

    #[test]
    fn an_answer_repeats_the_id_byte_for_byte() {
        let envelope = Envelope { dialect: Dialect::Canonical, id: Some("1.50") };
        assert_eq!(
            text(&Answer { envelope, message: HELLO }),
            std::format!(r#"{{"jsonrpc":"2.0","result":{PLAIN},"id":1.50}}"#)
        );
        let envelope = Envelope { dialect: Dialect::Canonical, id: None };
        let rejection = Rejection::BadParams("params must be an object");
        assert_eq!(
            text(&RpcError { envelope, rejection }),
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params: params must be an object"},"id":null}"#
        );
    }

    #[test]
    fn ids_are_read_as_they_are_shown() {
        for id in [AgentId::Player(1), AgentId::Player(99), AgentId::Player(100), AgentId::Referee(2)] {
            assert_eq!(AgentId::read(&id.to_string()), Some(id));
        }
        for bad in ["", "P", "P0", "P00", "P1", "P001", "P+1", "alpha", "REF", "P1234", "Agent Alpha"] {
            assert_eq!(AgentId::read(bad), None, "{bad}");
        }
        assert_eq!(MatchId::read("R12M3"), Some(MatchId { round: 12, table: 3 }));
        assert_eq!(MatchId::read("R1"), None);
    }
}
