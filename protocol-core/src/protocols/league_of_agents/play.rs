//! Agents of League of Agents dial in, play in the league and in the ladder, and are told of nothing but their games: who
//! gets in, what they say, and what they are told, in words.
//!
//! Whoever carries messages knows an agent by its registration: lines move up when somebody leaves.

use core::net::IpAddr;

use super::incoming::Message;
use super::outgoing::{
    CutShort, GameOver, GameState, Me, Notice, Refused, Registered, SkillEffect, ToTheMillisecond, TurnUpdate, round,
};
use super::session::{Picture, Session, Word, key, picture};
use super::{Trouble, UUID_BYTES, Uuid, game};
use crate::games::{self, Game, GameKind, GameSet, Illegal, Order, Viewer};
use crate::json::{self, Full, Sink, Str, Value};
use crate::log::Happening;
use crate::message::Message as Ask;
use crate::protocols::AnySession;
use crate::protocols::enrol::{Enrolment, enrol};
use crate::referee::{Cause, Heard};
use crate::season::Rule;
use crate::time::{Millis, Now, Utc};
use crate::venue::{Life, Venue};

/// The answer to a message of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is who it says, by this registration.
    Authenticated(u32),
    /// It waits for a game.
    Queued(GameKind, u16),
    /// It was seated at once; the game speaks for itself.
    Seated,
    /// Its move is played.
    Moved,
    /// It looks on at a game.
    Watches(Uuid),
    /// To `ping`.
    Pong,
    /// Something is wrong; of a move also the rule it broke.
    Refused(Trouble, Option<Illegal>),
}

impl Venue<'_> {
    /// Registers an agent, by the body of its request.
    pub fn enrol(&mut self, now: Now, from: IpAddr, body: &[u8]) -> Enrolment {
        enrol(self, now, from, body, (AnySession::LeagueOfAgents(Session), GameSet::ALL))
    }

    /// Writes the answer to a registration.
    pub fn write_enrolment(&self, enrolment: Enrolment, sink: &mut dyn Sink) -> Result<(), Full> {
        match enrolment {
            Enrolment::Done(issue, at) => {
                let player = self.players().iter().find(|player| player.issue == issue).ok_or(Full)?;
                let registered = Registered {
                    agent_id: self.agent_id(player),
                    api_key: self.key_of(API_KEY, player),
                    name: &player.name,
                    created_at: ToTheMillisecond(at),
                };
                json::write(&registered, sink)
            }
            refused => json::write(&Refused { error: refused.text() }, sink),
        }
    }

    /// The registration of the agent that has this key.
    pub fn agent_of_key(&self, key: impl Iterator<Item = char>) -> Option<u32> {
        let speaks = |session: &AnySession| matches!(session, AnySession::LeagueOfAgents(_));
        self.holder_of(API_KEY, Uuid::read(key)?, speaks).map(|agent| agent.issue)
    }

    /// Writes what an agent is told of itself.
    pub fn write_agent(&self, issue: u32, sink: &mut dyn Sink) -> Result<(), Full> {
        let player = self.players().iter().find(|player| player.issue == issue).ok_or(Full)?;
        let me = Me {
            agent_id: self.agent_id(player),
            name: &player.name,
            rating: player.rating.points().into(),
            rating_deviation: player.rating.deviation(),
            games_played: player.rating.games.into(),
        };
        json::write(&me, sink)
    }

    /// Hears a message of an agent; `issue` is its registration, once it has shown who it is.
    pub fn hear_arena(&mut self, now: Now, issue: Option<u32>, body: &[u8]) -> Reply {
        let line = match issue.map(|issue| self.line_of(issue)) {
            // It has left, or was removed.
            Some(None) => return Reply::Refused(Trouble::InvalidKey, None),
            Some(line) => line,
            None => None,
        };
        let reply = self.answer_agent(now, line, body);
        if let Some(line) = line {
            self.saw(now, line);
        }
        // A move that breaks a rule of its game has been noted, with the rule.
        if let Reply::Refused(trouble, None) = reply {
            let player = line.and_then(|line| self.player_mut(line));
            let agent = player.map(|player| {
                if let Some(rule) = broken_by(trouble) {
                    player.compliance.note(rule, str::from_utf8(body).unwrap_or(trouble.text()));
                }
                player.id()
            });
            self.note(now, agent, None, Happening::BadMessage(trouble.text()));
        }
        self.advance(now);
        match reply {
            Reply::Queued(..) => match line.and_then(|line| self.queue_position(line)) {
                Some((game, position)) => Reply::Queued(game, position),
                None => Reply::Seated,
            },
            reply => reply,
        }
    }

    fn answer_agent(&mut self, now: Now, line: Option<u16>, body: &[u8]) -> Reply {
        let refused = |trouble| Reply::Refused(trouble, None);
        let message = match Message::read(body) {
            Ok(message) => message,
            Err(trouble) => return refused(trouble),
        };
        match (message, line) {
            (Message::Ping, _) => Reply::Pong,
            (Message::Authenticate { .. }, Some(_)) => refused(Trouble::AlreadyAuthenticated),
            (Message::Authenticate { token: None }, None) => refused(Trouble::MissingToken),
            (Message::Authenticate { token: Some(token) }, None) => match self.agent_of_key(token.chars()) {
                Some(issue) => Reply::Authenticated(issue),
                None => refused(Trouble::InvalidKey),
            },
            (Message::SubscribeGame { game_id: None }, _) => refused(Trouble::MissingGameId),
            (Message::SubscribeGame { game_id: Some(id) }, line) => match self.game_called(id) {
                Some(id) if line.and_then(|line| self.table_of(line)).is_none_or(|own| Uuid::new(own.tag) == id) => {
                    Reply::Watches(id)
                }
                Some(_) => refused(Trouble::InAGame),
                None => refused(Trouble::GameNotFound),
            },
            (Message::JoinQueue { .. } | Message::SubmitMove { .. }, None) => refused(Trouble::NotAuthenticated),
            (Message::JoinQueue { game_type: None }, _) => refused(Trouble::MissingGameType),
            (Message::JoinQueue { game_type: Some(name) }, Some(line)) => match game(name) {
                Ok(game) => {
                    self.queue_up(now, line, game);
                    Reply::Queued(game, 0)
                }
                Err(trouble) => refused(trouble),
            },
            (Message::SubmitMove { game_id: None, .. }, _) => refused(Trouble::MissingGameId),
            (Message::SubmitMove { wanted: None, .. }, _) => refused(Trouble::MissingMove),
            (Message::SubmitMove { game_id: Some(id), wanted: Some(wanted) }, Some(line)) => {
                match self.play_for(now, line, id, wanted) {
                    Ok(()) => Reply::Moved,
                    Err((trouble, rule)) => Reply::Refused(trouble, rule),
                }
            }
        }
    }

    /// The game that runs under an id.
    fn game_called(&self, id: Str<'_>) -> Option<Uuid> {
        let id = Uuid::read(id.chars())?;
        self.all_tables().any(|table| Uuid::new(table.tag) == id).then_some(id)
    }

    fn play_for(
        &mut self,
        now: Now,
        line: u16,
        id: Str<'_>,
        wanted: Value<'_>,
    ) -> Result<(), (Trouble, Option<Illegal>)> {
        let asked = self.game_called(id).ok_or((Trouble::NotActive, None))?;
        let table = self.table_of(line).filter(|table| Uuid::new(table.tag) == asked);
        let rules = table.ok_or((Trouble::NotAPlayer, None))?.play.game().rules();
        match self.make_move(now, line, wanted) {
            Some(Heard::Taken) => Ok(()),
            Some(Heard::Refused(rule)) => Err((Trouble::InvalidMove, Some(rule))),
            Some(Heard::Duplicate) if rules.order == Order::InTurn => {
                let rule = Illegal("it is not your turn");
                self.note_of(now, line, Happening::Unusable(Ask::MoveRequest, rule.0));
                Err((Trouble::InvalidMove, Some(rule)))
            }
            Some(Heard::Duplicate) | None => Err((Trouble::AlreadyMoved, None)),
        }
    }

    /// Writes an answer.
    pub fn write_reply(&self, reply: Reply, at: Utc, sink: &mut dyn Sink) -> Result<(), Full> {
        let notice = match reply {
            Reply::Authenticated(issue) => {
                let player = self.players().iter().find(|player| player.issue == issue).ok_or(Full)?;
                Notice::Authenticated { agent_id: self.agent_id(player), agent_name: &player.name }
            }
            Reply::Queued(game, position) => Notice::queued(position, game),
            // What follows says it.
            Reply::Seated | Reply::Watches(_) => return Err(Full),
            Reply::Moved => Notice::MOVE_TAKEN,
            Reply::Pong => Notice::Pong { timestamp: Millis::from(at.0) * 1000 },
            Reply::Refused(trouble, rule) => Notice::refused(trouble, rule),
        };
        json::write(&notice, sink)
    }

    /// The game an agent is in, as it is now.
    pub fn picture_for(&self, now: Now, issue: u32) -> Option<Picture> {
        let seating = self.player(self.line_of(issue)?)?.seating?;
        let table = self.table_at(seating.slot)?;
        Some(picture(now, seating.slot, table, Some(seating.seat)))
    }

    /// A game as anybody may see it.
    pub fn picture_of(&self, now: Now, game: Uuid) -> Option<Picture> {
        let slot = self.slot_of(|table| Uuid::new(table.tag) == game)?;
        Some(picture(now, slot, self.table_at(slot)?, None))
    }

    /// Writes a word about a game. Fails where there is nothing to say.
    pub fn write_word(&self, word: Word, picture: &Picture, sink: &mut dyn Sink) -> Result<(), Full> {
        let Picture { game, slot, .. } = picture;
        let at = self.table_at(*slot);
        let at = at.filter(|at| key(Uuid::new(at.tag)) == picture.key).ok_or(Full)?;
        let id = Uuid::new(at.tag);
        let party = self.party::<UUID_BYTES>(at.players(), |player| self.agent_id(player).text());
        let sitters = self.sitters_with_notes(&party);
        let table = games::Table(&sitters);
        match word {
            Word::Matched => {
                let kind = GameKind::named(game.rules().name).ok_or(Full)?;
                json::write(&Notice::matched(id, kind), sink)
            }
            Word::Thinking(seat) => json::write(&Notice::thinking(table, seat, false), sink),
            Word::Effect => json::write(&SkillEffect::of(game, table).ok_or(Full)?, sink),
            Word::Turn => json::write(&TurnUpdate { game, table }, sink),
            Word::State => {
                let viewer = picture.seat.map_or(Viewer::Spectator, Viewer::Seat);
                let (thinking, spectators) = (picture.thinking, picture.spectators.into());
                json::write(&GameState { game_id: id, game, table, viewer, thinking, spectators }, sink)
            }
            Word::YourTurn => json::write(&Notice::YourTurn { game_id: id, round: round(game) }, sink),
            Word::GameOver => {
                let (duration, cause) = (picture.seconds, at.play.outcome().map(|outcome| outcome.cause));
                let reason = match cause {
                    _ if at.life == Life::CalledOff => Some(CutShort::Error),
                    None | Some(Cause::Played | Cause::Adjudicated | Cause::Reported) => None,
                    Some(_) => Some(CutShort::Timeout),
                };
                json::write(&GameOver { game, table, duration, reason }, sink)
            }
        }
    }

    /// An agent has been told a word about the game it is in.
    pub fn word_is_told(&mut self, now: Now, issue: u32, word: Word) {
        let Some(line) = self.line_of(issue) else { return };
        let Some(seating) = self.player(line).and_then(|player| player.seating) else { return };
        let table = self.table_at_mut(seating.slot);
        match (word, table) {
            (Word::Matched, Some(table)) => table.greeted = table.greeted.with(seating.seat),
            (Word::GameOver, Some(table)) if table.is_over() => {
                self.stand_up(now, line, seating.slot);
                self.advance(now);
            }
            _ => {}
        }
    }

    /// Somebody begins to look on at a game, or stops. A game that is over stays until everybody who looks on knows it.
    pub fn count_spectator(&mut self, game: Uuid, comes: bool) {
        let Some(slot) = self.slot_of(|table| Uuid::new(table.tag) == game) else { return };
        let Some(table) = self.table_at_mut(slot) else { return };
        let by = if comes { 1 } else { -1 };
        table.spectators = table.spectators.saturating_add_signed(by);
        self.clear(slot);
    }
}

/// The rule that an agent broke by a message, for its report. A move for a game that has just ended breaks none.
fn broken_by(trouble: Trouble) -> Option<Rule> {
    match trouble {
        Trouble::NotActive => None,
        Trouble::AlreadyMoved => Some(Rule::Duplicate),
        Trouble::InvalidJson => Some(Rule::NotJson),
        _ => Some(Rule::BadRequest),
    }
}

/// The role of its keys among all that is derived.
const API_KEY: u32 = 3;
