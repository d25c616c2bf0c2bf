//! What is told row by row: messages, and what has happened in a room. Rows are asked for one after the other, and each is
//! written as it is then, so that no page is ever held.

use serde::Serialize;

use super::incoming::{self, RoomId};
use crate::games::{Game, GameKind};
use crate::ids::MatchId;
use crate::json::{self, Full, Raw, Seq, Shown, Sink};
use crate::time::Utc;
use crate::uuid::Uuid;
use crate::venue::{Channel, Said, Shot, Venue};

/// The most messages, or rows of a log, that are told at once; so many are where the query names no number, or one that will not
/// do.
const MESSAGES: u16 = 100;
const ROWS: u16 = 200;

/// Messages of a channel, from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatPage {
    channel: Channel,
    first: u32,
}

impl ChatPage {
    /// One message.
    pub(super) fn only(channel: Channel, number: u32) -> Self {
        Self { channel, first: number }
    }
}

/// Rows of the log of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPage {
    room: RoomId,
    game: GameKind,
    /// Whether its game has not begun.
    is_waiting: bool,
    /// When its game began, or who is in it came.
    began: Utc,
    offset: u16,
    limit: u16,
}

/// What is written row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paged {
    /// By [`Venue::write_chat`].
    Chat(ChatPage),
    /// By [`Venue::write_log_row`].
    Logs(LogPage),
}

/// A row of the log of a room: how it began, or what is on film of it.
#[derive(Clone, Copy, Debug)]
pub enum LogRow<'a> {
    /// The so-many-th of those that come before the film.
    Opening(u16),
    /// A step, and the move that it is, as JSON.
    Step(Shot, &'a str),
}

impl LogPage {
    pub(super) fn new((room, game): (RoomId, GameKind), is_waiting: bool, began: Utc, query: &str) -> Self {
        let limit = incoming::number(query, "limit").filter(|limit| (1..=ROWS).contains(limit)).unwrap_or(ROWS);
        Self { room, game, is_waiting, began, offset: incoming::number(query, "offset").unwrap_or(0), limit }
    }

    /// The match that is played in the room.
    pub fn id(&self) -> MatchId {
        self.room.id
    }

    /// The rows that are asked for, of so many.
    pub fn rows(&self, total: u16) -> core::ops::Range<u16> {
        self.offset.min(total)..self.offset.saturating_add(self.limit).min(total)
    }

    /// The last step of the match is known, and with it when it began.
    pub fn ended(self, finished: Option<Utc>, last: Option<Shot>) -> Self {
        let began = finished.map(|at| Utc(at.0.saturating_sub(last.map_or(0, |last| last.at_ms / 1000))));
        Self { began: began.unwrap_or(self.began), ..self }
    }
}

/// A message as it is told.
#[derive(Serialize)]
struct Message<'a> {
    id: Uuid,
    sender: &'a str,
    text: &'a str,
    time: Shown<Clock>,
    created_at: Shown<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    room_id: Option<Uuid>,
}

/// The time of the day, to the minute.
struct Clock(Utc);

impl core::fmt::Display for Clock {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let minutes = self.0.0 / 60 % (24 * 60);
        write!(f, "{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl Venue<'_> {
    /// The last messages of a channel, as many as the query wants.
    pub(super) fn chat_page(&self, channel: Channel, query: &str) -> ChatPage {
        let limit = incoming::number(query, "limit").filter(|limit| (1..=MESSAGES).contains(limit));
        let all = self.said_in(channel).count();
        let first = self.said_in(channel).nth(all.saturating_sub(limit.unwrap_or(MESSAGES).into()));
        ChatPage { channel, first: first.map_or(u32::MAX, |said| said.number) }
    }

    fn message<'a>(&'a self, said: Said<'a>) -> Option<Message<'a>> {
        let sender = self.player(self.line_of(said.by)?)?;
        let ([a, b, c, d], [e, f, g, h]) = (said.at.0.to_be_bytes(), said.number.to_be_bytes());
        Some(Message {
            id: Uuid::new([a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, e, f, g, h]),
            sender: &sender.name,
            text: said.text,
            time: Shown(Clock(said.at)),
            created_at: Shown(said.at),
            room_id: said.channel.map(|(of, id)| RoomId { of, id }.uuid()),
        })
    }

    /// Writes one message.
    pub(super) fn write_message(&self, number: u32, page: ChatPage, sink: &mut dyn Sink) -> Result<(), Full> {
        let said = self.said_in(page.channel).find(|said| said.number == number);
        json::write(&said.and_then(|said| self.message(said)).ok_or(Full)?, sink)
    }

    /// Writes the part of a page of messages that `at` names, from 0, moves `at` to the next, and says whether there is one.
    pub fn write_chat(&self, page: ChatPage, at: &mut u64, sink: &mut dyn Sink) -> Result<bool, Full> {
        let from = match *at {
            0 => {
                sink.put(br#"{"messages":["#)?;
                *at = 1;
                return Ok(true);
            }
            1 => page.first.into(),
            next => next,
        };
        let Some(said) = self.said_in(page.channel).find(|said| u64::from(said.number) >= from) else {
            sink.put(b"]}\n")?;
            return Ok(false);
        };
        if *at > 1 {
            sink.put(b",")?;
        }
        *at = u64::from(said.number).saturating_add(1).max(2);
        json::write(&self.message(said).ok_or(Full)?, sink)?;
        Ok(true)
    }

    /// How many rows of a log come before the film: who sat down, and that the game began.
    pub fn log_opening(&self, page: &LogPage) -> u16 {
        let seats = u16::try_from(self.seated_in(page.room).len()).unwrap_or(0);
        seats.saturating_add((!page.is_waiting).into())
    }

    /// Writes a row of a log.
    pub fn write_log_row(&self, page: &LogPage, row: LogRow<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
        #[derive(Serialize)]
        struct Row<P> {
            r#type: &'static str,
            agent_id: Option<Uuid>,
            payload: P,
            created_at: Shown<Utc>,
        }
        #[derive(Serialize)]
        struct Nothing {}
        #[derive(Serialize)]
        struct Began {
            game: &'static str,
            seats: u16,
        }
        #[derive(Serialize)]
        struct Moved<M> {
            r#move: M,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<&'static str>,
        }
        #[derive(Serialize)]
        struct Placed {
            agent_id: Option<Uuid>,
            score: i32,
            place: u8,
        }
        #[derive(Serialize)]
        struct Over<S> {
            standing: S,
        }
        let lines = self.seated_in(page.room);
        let agent =
            |seat: usize| lines.get(seat).and_then(|&line| self.player(line)).map(|player| self.agent_id(player));
        let at = |ms: u32| Shown(Utc(page.began.0.saturating_add(ms / 1000)));
        match row {
            LogRow::Opening(index) if usize::from(index) < lines.len() => {
                let row = Row { r#type: "join", agent_id: agent(index.into()), payload: Nothing {}, created_at: at(0) };
                json::write(&row, sink)
            }
            LogRow::Opening(_) => {
                let seats = u16::try_from(lines.len()).unwrap_or(0);
                let payload = Began { game: page.game.rules().name, seats };
                json::write(&Row { r#type: "game_start", agent_id: None, payload, created_at: at(0) }, sink)
            }
            LogRow::Step(shot, made) => match shot.seat {
                Some(seat) => {
                    let reason = shot.late.then_some("timeout");
                    let (agent_id, created_at) = (agent(seat.into()), at(shot.at_ms));
                    let r#type = if made == r#"["pass"]"# { "pass" } else { "move" };
                    if made.starts_with('[') {
                        let payload = Moved { r#move: Raw(made), reason };
                        return json::write(&Row { r#type, agent_id, payload, created_at }, sink);
                    }
                    json::write(
                        &Row { r#type, agent_id, payload: Moved { r#move: [Raw(made)], reason }, created_at },
                        sink,
                    )
                }
                // What it is about, or how the audience voted.
                None if shot.ended.is_none() => {
                    let created_at = at(shot.at_ms);
                    json::write(&Row { r#type: "note", agent_id: None, payload: Nothing {}, created_at }, sink)
                }
                None => {
                    let standing = self.recall(page.room.id).and_then(|game| game.standing());
                    let seats = || {
                        let places = standing.iter().flat_map(|all| all.scores.into_iter().zip(all.places));
                        (0..lines.len()).zip(places).map(|(seat, (score, place))| Placed {
                            agent_id: agent(seat),
                            score,
                            place,
                        })
                    };
                    let payload = Over { standing: Seq(seats) };
                    json::write(&Row { r#type: "game_over", agent_id: None, payload, created_at: at(shot.at_ms) }, sink)
                }
            },
        }
    }
}
