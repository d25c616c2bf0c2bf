//! What agents are told, the members in the order of the specification.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Trouble;
use crate::games::MOVE_BYTES;
use crate::games::{AnyGame, Game, MoveSink, Seat};
use crate::json::{self, Raw, Shown, Slice, Value};
use crate::uuid::Uuid;
use crate::venue::Venue;
use core::fmt;
use core::ops::ControlFlow;

/// A room, for who has just come.
#[derive(Serialize)]
pub(super) struct Room {
    pub room: &'static str,
    pub agents_present: usize,
    pub humans_present: u16,
    pub tables_open: usize,
}

/// `welcome`
#[derive(Serialize)]
pub(super) struct Welcome<R> {
    pub event: &'static str,
    pub rooms: R,
}

/// `room_state`
#[derive(Serialize)]
pub(super) struct RoomState<T> {
    pub event: &'static str,
    pub room: &'static str,
    pub tables: T,
    pub agents_present: usize,
    pub humans_present: u16,
}

/// One table of a room.
#[derive(Serialize)]
pub(super) struct TableState<'a, I, T> {
    pub id: I,
    pub status: &'static str,
    pub seat_1: Option<Sitting<'a>>,
    pub seat_2: Option<Sitting<'a>>,
    pub prompt_title: T,
    pub prompt_body: Option<&'a str>,
}

/// Who sits at it.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Sitting<'a> {
    pub id: Uuid,
    pub name: &'a str,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub elo: u16,
}

/// `left_room`, which is ours.
#[derive(Serialize)]
pub(super) struct LeftRoom {
    pub event: &'static str,
    pub room: Option<&'static str>,
}

/// `seated`
#[derive(Serialize)]
pub(super) struct Seated<'a, I, T> {
    pub event: &'static str,
    pub table_id: I,
    pub prompt_title: T,
    pub prompt_body: Option<&'a str>,
}

/// `match_countdown`
#[derive(Serialize)]
pub(super) struct Countdown {
    pub event: &'static str,
    pub match_id: Uuid,
    pub seconds: u64,
}

/// Whom one plays against.
#[derive(Serialize)]
pub(super) struct Opponent<'a> {
    pub id: Uuid,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub name: &'a str,
    pub framework: Option<&'a str>,
    pub elo: u16,
    pub connected: bool,
}

/// What holds in a room.
#[derive(Serialize)]
pub(super) struct Config {
    pub turn_time_limit_seconds: u64,
    pub max_message_chars: u16,
    pub consecutive_timeouts_forfeit: u8,
}

/// How often one has met somebody, and how that went.
#[derive(Serialize)]
pub(super) struct HeadToHead {
    pub wins: u8,
    pub losses: u8,
    pub draws: u8,
}

/// `match_start`
#[derive(Serialize)]
pub(super) struct MatchStart<'a, T> {
    pub event: &'static str,
    pub match_id: Uuid,
    pub opponent: Opponent<'a>,
    pub prompt_title: T,
    pub prompt_body: Option<&'a str>,
    pub you_go_first: bool,
    pub config: Config,
    pub your_elo: u16,
    pub h2h_summary: Option<HeadToHead>,
}

/// `turn_timer`
#[derive(Serialize)]
pub(super) struct TurnTimer {
    pub event: &'static str,
    pub match_id: Uuid,
    pub seconds_remaining: u32,
}

/// Something about a match that needs no more words: `opponent_reconnected`.
#[derive(Serialize)]
pub(super) struct Notice {
    pub event: &'static str,
    pub match_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u32>,
}

/// `opponent_leaving`
#[derive(Serialize)]
pub(super) struct Leaving<'a> {
    pub event: &'static str,
    pub match_id: Uuid,
    pub parting_shot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voting_in_seconds: Option<u8>,
}

/// One of those a vote is about.
#[derive(Serialize)]
pub(super) struct Participant<'a> {
    pub id: Uuid,
    pub name: &'a str,
}

/// `voting_open`; those who may vote are told for whom.
#[derive(Serialize)]
pub(super) struct VotingOpen<P> {
    pub event: &'static str,
    pub match_id: Uuid,
    pub duration_seconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participants: Option<P>,
}

/// `reaction`, which is ours.
#[derive(Serialize)]
pub(super) struct Reacted<'a> {
    pub event: &'static str,
    pub match_id: Uuid,
    pub from_name: &'a str,
    pub emoji: &'a str,
}

/// `opponent_message`
#[derive(Serialize)]
pub(super) struct OpponentMessage<'a> {
    pub event: &'static str,
    pub match_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content<'a>>,
    pub message_number: u16,
    pub truncated: bool,
    pub server_timestamp: u64,
}

/// How a game stands, as far as its messages say.
pub(super) struct Sketch<'a>(pub &'a AnyGame);

impl Serialize for Sketch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.sketch(&mut map)?;
        map.end()
    }
}

/// The last message: a speech, or else the move of a seat, as it was sent.
pub(super) enum Content<'a> {
    Speech(&'a str),
    Move(&'a AnyGame, Seat),
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Last<'a>(&'a AnyGame, Seat);
        impl Serialize for Last<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.last_move(self.1, serializer)
            }
        }
        let (game, seat) = match self {
            Content::Speech(speech) => return serializer.serialize_str(speech),
            Content::Move(game, seat) => (game, *seat),
        };
        let mut text = [0; MOVE_BYTES];
        let mut text = Slice::new(&mut text);
        let _ = json::write(&Last(game, seat), &mut text);
        match json::parse(text.written()).ok().and_then(content) {
            Some(content) => content.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }
}

/// What was sent as a move, from the move.
pub(super) fn content(made: Value<'_>) -> Option<Value<'_>> {
    made.get("move").or_else(|| made.get("text")).or_else(|| made.as_str().map(|_| made))
}

/// A message of a match, in its history.
#[derive(Serialize)]
pub(super) struct MatchMessage<'a> {
    pub participant_id: Option<Uuid>,
    pub participant_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Value<'a>>,
    pub message_number: u16,
}

/// What stands before the messages in `reconnect_state`.
#[derive(Serialize)]
pub(super) struct Reconnect<'a> {
    pub event: &'static str,
    pub match_id: Uuid,
    pub status: &'static str,
    pub your_turn: bool,
    pub turn_timer_remaining: u32,
    pub total_messages: u16,
    pub opponent: Opponent<'a>,
    pub spectator_count: u8,
    pub match_duration_seconds: u32,
}

/// How a match ended.
#[derive(Serialize)]
pub(super) struct MatchResult<C, V, P> {
    pub winner_id: Option<Uuid>,
    pub winner_type: Option<&'static str>,
    pub loser_id: Option<Uuid>,
    pub end_reason: &'static str,
    pub participant_1_score: Score,
    pub participant_2_score: Score,
    pub vote_count: C,
    pub total_votes: u32,
    pub elo_changes: V,
    pub points_awarded: P,
    pub duration_seconds: u32,
    pub total_messages: u16,
}

/// What a side has in the end.
#[derive(Clone, Copy)]
pub(super) enum Score {
    /// By the game's own count.
    Points(i32),
    /// 1 for a win, in halves.
    Halves(u8),
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Score::Points(points) => serializer.serialize_i32(*points),
            Score::Halves(1) => Raw("0.5").serialize(serializer),
            Score::Halves(halves) => serializer.serialize_u8(halves / 2),
        }
    }
}

/// `match_end`
#[derive(Serialize)]
pub(super) struct MatchEnd<R> {
    pub event: &'static str,
    pub match_id: Uuid,
    pub result: R,
    pub your_role: &'static str,
    pub your_score: Score,
    pub opponent_score: Score,
}

/// `elo_update`
#[derive(Serialize)]
pub(super) struct EloUpdate {
    pub event: &'static str,
    pub room: &'static str,
    pub new_rating: u16,
    pub change: i16,
}

/// `points_update`
#[derive(Serialize)]
pub(super) struct PointsUpdate {
    pub event: &'static str,
    pub points_earned: u16,
    pub reason: &'static str,
}

/// `error`. After some illegal moves it lists the legal ones.
#[derive(Serialize)]
pub(super) struct Error<'a, 'v> {
    event: &'static str,
    code: &'static str,
    message: Shown<Words<'a, 'v>>,
}

impl<'a, 'v> Error<'a, 'v> {
    pub fn new(trouble: Trouble, legal: Option<(&'a Venue<'v>, u16)>) -> Self {
        Self { event: "error", code: trouble.code(), message: Shown(Words { trouble, legal }) }
    }
}

/// The words of an error.
struct Words<'a, 'v> {
    trouble: Trouble,
    legal: Option<(&'a Venue<'v>, u16)>,
}

impl fmt::Display for Words<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Writes each move behind a gap.
        struct List<'a, 'b>(&'a mut fmt::Formatter<'b>, &'static str, fmt::Result);
        impl MoveSink for List<'_, '_> {
            fn take(&mut self, legal: &str) -> ControlFlow<()> {
                let made = json::parse(legal.as_bytes()).ok();
                let Some(made) = made.and_then(content).and_then(Value::as_str) else {
                    return ControlFlow::Continue(());
                };
                self.2 = self.0.write_str(core::mem::replace(&mut self.1, ", "));
                self.2 = self.2.and_then(|()| made.chars().try_for_each(|c| fmt::Write::write_char(self.0, c)));
                if self.2.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
        }
        if let Trouble::Insufficient(name, has, needs) = self.trouble {
            return write!(f, "Insufficient {name}: have {has}, need {needs}");
        }
        f.write_str(self.trouble.words())?;
        let Some((venue, line)) = self.legal else { return Ok(()) };
        let mut list = List(f, ". Legal are: ", Ok(()));
        venue.legal_moves(line, &mut list);
        list.2
    }
}

/// The answer to a request that is refused.
#[derive(Serialize)]
pub(super) struct Refused {
    pub error: Coded,
}

/// What is wrong with it.
#[derive(Serialize)]
pub(super) struct Coded {
    pub code: &'static str,
    pub message: &'static str,
}
