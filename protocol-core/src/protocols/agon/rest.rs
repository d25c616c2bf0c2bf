//! What agents ask by HTTP: to be registered, for a session token, and what there is.

use core::net::IpAddr;

use serde::Serialize;

use super::incoming;
use super::outgoing::{Coded, Refused};
use super::play::Ended;
use super::session::{Session, key_of, seen};
use super::token;
use super::{TOKEN_SECONDS, Trouble, games, room_named, rooms};
use crate::games::GameKind;
use crate::json::{self, Full, Map, Shown, Sink};
use crate::protocols::AnySession;
use crate::protocols::enrol::{ApiKey, Enrolment, RefusedName, enrol};
use crate::protocols::moltgame::RoomId;
use crate::time::{Now, Utc};
use crate::uuid::Uuid;
use crate::venue::Venue;

/// What every key begins with.
const KEY: &str = "agon_";
/// The roles of its keys, and of the key that signs tokens, among all that is derived.
const API_KEY: u32 = 5;
const SIGNATURE: u32 = 6;

/// What is asked, by method and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask<'a> {
    /// `POST /agents/register`
    Register,
    /// `POST /agents/session-token`
    Token,
    /// `GET /agents/me`
    Me,
    /// `GET /rooms`
    Rooms,
    /// `GET /arenas/:slug/spec`
    Spec(&'a str),
    /// `GET /matches/:id/result`
    Result(&'a str),
}

/// A question, and what comes along with it.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// What is asked.
    pub ask: Ask<'a>,
    /// The machine it comes from.
    pub from: IpAddr,
    /// What it authorizes itself with.
    pub bearer: Option<&'a str>,
    /// What was sent.
    pub body: &'a [u8],
}

/// What is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Who is in, by its registration.
    Registered(u32),
    /// A token for this agent, made then.
    Token(u32, Utc),
    /// What an agent is told of itself.
    Me(u32),
    /// The rooms there are.
    Rooms,
    /// One of them.
    Spec(GameKind),
    /// How a match ended, by its id.
    Result(Uuid),
    /// Nothing of it.
    Refused(Trouble),
}

impl Answer {
    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Answer::Registered(_) => 201,
            Answer::Refused(trouble) => trouble.status(),
            _ => 200,
        }
    }
}

const NO_KEY: Trouble =
    Trouble::Unauthorized("Authorization must be Bearer and the api_key; POST agents/register gives one");
const NO_TOKEN: Trouble =
    Trouble::Unauthorized("Authorization must be Bearer and a session token; POST agents/session-token gives one");
const NO_MATCH: Trouble = Trouble::NotFound("there is no such match, or it is not over");

impl Venue<'_> {
    /// The line of the agent that has this key.
    pub(super) fn agon_agent_of_key(&self, key: &str) -> Option<u16> {
        let speaks = |session: &AnySession| matches!(session, AnySession::Agon(_));
        let issue = self.holder_of(API_KEY, ApiKey::read(KEY, key)?, speaks)?.issue;
        self.line_of(issue)
    }

    /// The registration of the agent that has this session token.
    pub fn agon_agent(&self, now: Now, token: &str) -> Option<u32> {
        let agent = token::read(&self.derive([SIGNATURE, 0, 0]), token, now.utc)?;
        let is_it = |line: &u16| {
            let player = self.player(*line);
            seen(self, *line).is_some()
                && player.is_some_and(|player| !player.has_left() && self.agent_id(player) == agent)
        };
        self.player(self.lines().find(is_it)?).map(|player| player.issue)
    }

    /// Does what is asked, and says what is to be answered.
    pub fn ask_agon(&mut self, now: Now, asking: Asking<'_>) -> Answer {
        self.answer_agon(now, asking).unwrap_or_else(Answer::Refused)
    }

    fn answer_agon(&mut self, now: Now, Asking { ask, from, bearer, body }: Asking<'_>) -> Result<Answer, Trouble> {
        let issue = || bearer.and_then(|token| self.agon_agent(now, token)).ok_or(NO_TOKEN);
        match ask {
            Ask::Register => {
                let session = AnySession::Agon(Session::new(incoming::framework(body)?));
                match enrol(self, now, from, body, (session, games())) {
                    Enrolment::Done(issue, _) => Ok(Answer::Registered(issue)),
                    Enrolment::Refused(RefusedName::Taken) => Err(Trouble::NameTaken),
                    Enrolment::Refused(RefusedName::InvalidJson) => Err(Trouble::InvalidJson),
                    Enrolment::Refused(RefusedName::Missing) => Err(Trouble::MissingField("name is missing")),
                    Enrolment::Refused(refused) => Err(Trouble::ValidationFailed(refused.text())),
                    full @ (Enrolment::Full | Enrolment::TooMany) => Err(Trouble::ServerFull(full.text())),
                }
            }
            Ask::Token => {
                let line = bearer.and_then(|key| self.agon_agent_of_key(key)).ok_or(NO_KEY)?;
                let issue = self.player(line).ok_or(NO_KEY)?.issue;
                Ok(Answer::Token(issue, now.utc))
            }
            Ask::Me => Ok(Answer::Me(issue()?)),
            Ask::Rooms => issue().map(|_| Answer::Rooms),
            Ask::Spec(slug) => {
                issue()?;
                let (game, _) = room_named(slug).ok_or(Trouble::NotFound("there is no such arena in this box"))?;
                Ok(Answer::Spec(game))
            }
            Ask::Result(id) => {
                issue()?;
                let id = Uuid::read(id.chars()).ok_or(NO_MATCH)?;
                let room = RoomId::of(id);
                let is_over = self.room_id(room.id) == room && self.record(room.id).is_some();
                if is_over { Ok(Answer::Result(id)) } else { Err(NO_MATCH) }
            }
        }
    }

    /// Writes an answer; so many people look on.
    pub fn write_agon(&self, answer: Answer, humans: u16, sink: &mut dyn Sink) -> Result<(), Full> {
        let of_issue = |issue: u32| self.players().iter().find(|player| player.issue == issue).ok_or(Full);
        match answer {
            Answer::Registered(issue) => {
                #[derive(Serialize)]
                struct Registered {
                    agent_id: Uuid,
                    api_key: Shown<ApiKey>,
                }
                let player = of_issue(issue)?;
                let api_key = Shown(ApiKey(KEY, self.key_of(API_KEY, player)));
                json::write(&Registered { agent_id: self.agent_id(player), api_key }, sink)
            }
            Answer::Token(issue, at) => {
                #[derive(Serialize)]
                struct Token<'a> {
                    token: &'a str,
                    expires_at: Shown<Utc>,
                }
                let (agent, until) = (self.agent_id(of_issue(issue)?), Utc(at.0.saturating_add(TOKEN_SECONDS)));
                let token = token::write(&self.derive([SIGNATURE, 0, 0]), agent, at, until).ok_or(Full)?;
                json::write(&Token { token: &token, expires_at: Shown(until) }, sink)
            }
            Answer::Me(issue) => {
                #[derive(Serialize)]
                struct Me<'a, E> {
                    agent_id: Uuid,
                    name: &'a str,
                    framework: Option<&'a str>,
                    active_match_id: Option<Uuid>,
                    elo: E,
                    arena_points: u32,
                }
                let (player, line) = (of_issue(issue)?, self.line_of(issue).ok_or(Full)?);
                let session = seen(self, line).ok_or(Full)?;
                let playing = self.table_of(line).filter(|table| !table.is_over());
                let elo = || rooms().filter_map(|(place, _, arena)| Some((arena.slug, session.elo.get(place)?.0)));
                let me = Me {
                    agent_id: self.agent_id(player),
                    name: &player.name,
                    framework: Some(session.framework.as_str()).filter(|framework| !framework.is_empty()),
                    active_match_id: playing.map(|table| self.room_id(table.id).uuid()),
                    elo: Map(elo),
                    arena_points: session.points,
                };
                json::write(&me, sink)
            }
            Answer::Rooms => {
                #[derive(Serialize)]
                struct Rooms<R> {
                    rooms: R,
                }
                json::write(&Rooms { rooms: self.agon_rooms(humans) }, sink)
            }
            Answer::Spec(game) => {
                #[derive(Serialize)]
                struct Spec {
                    slug: &'static str,
                    title: &'static str,
                    turn_time_limit_seconds: u64,
                    first_turn_seconds: u64,
                    max_message_chars: u16,
                    consecutive_timeouts_forfeit: u8,
                    rules: Shown<Manual>,
                }
                let (_, arena) = super::room_of(game).ok_or(Full)?;
                let policy = super::policy(&self.config().timing, game.rules());
                let spec = Spec {
                    slug: arena.slug,
                    title: arena.title,
                    turn_time_limit_seconds: policy.turn_ms / 1_000,
                    first_turn_seconds: policy.first_turn_ms / 1_000,
                    max_message_chars: arena.chars,
                    consecutive_timeouts_forfeit: arena.forfeit_after(),
                    rules: Shown(Manual(game)),
                };
                json::write(&spec, sink)
            }
            Answer::Result(id) => {
                #[derive(Serialize)]
                struct Result<R> {
                    match_id: Uuid,
                    result: R,
                }
                let id = RoomId::of(id).id;
                let (record, game) = (self.record(id).ok_or(Full)?, self.recall(id).ok_or(Full)?);
                let seated = self.seated_at(id);
                let lines = [0, 1].map(|seat: usize| seated.get(seat).map_or(u16::MAX, |(_, line)| *line));
                // How long it took is not kept, nor what it brought, but for the last match of each.
                let key = key_of(self.commitment(id));
                let ended = Ended { outcome: Some(record.outcome()), game: &game, lines, key, seconds: 0 };
                json::write(&Result { match_id: self.room_id(id).uuid(), result: self.agon_result(&ended) }, sink)
            }
            Answer::Refused(trouble) => {
                json::write(&Refused { error: Coded { code: trouble.code(), message: trouble.words() } }, sink)
            }
        }
    }
}

/// Where the rules of a game are.
struct Manual(GameKind);

impl core::fmt::Display for Manual {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "/games/{}.md", self.0.rules().name)
    }
}
