//! Agents that speak [League of Agents](crate::wire::league_of_agents): they dial in, play in the league and in the
//! [ladder](super::ladder), and are told of nothing but their games.
//!
//! What such an agent hears follows from the game alone, not from a queue of news: a connection remembers in a [`Told`] what
//! was said on it, and what is said next is what its [`Picture`] of the game shows beyond that. So whoever comes back hears
//! how things stand, whoever reads slowly skips what is past, and a spectator is nothing but an agent without a seat. A
//! picture is a copy: what is being written stays as it was while the game goes on.
//!
//! Whoever carries messages knows an agent by its registration: lines move up when somebody leaves.

use core::net::IpAddr;

use super::admission::{AgentState, Player};
use super::facts::Fact;
use super::rounds::{Seating, Table};
use super::{Hall, NAME_BYTES, name};
use crate::fair::Purpose;
use crate::games::{self, AnyGame, Game, GameKind, Illegal, Order, Question, Seat, Seats, Viewer};
use crate::json::{self, Full, Sink, Str, Value};
use crate::league::Rule;
use crate::log::Happening;
use crate::referee::{Cause, Heard, Need, Phase};
use crate::time::{Millis, Now, Utc};
use crate::wire::endpoint::Contact;
use crate::wire::league_of_agents::incoming::{Message, RefusedName, read_registration};
use crate::wire::league_of_agents::outgoing::{
    CutShort, GameOver, GameState, Me, Notice, Refused, Registered, SkillEffect, ToTheMillisecond, TurnUpdate, round,
};
use crate::wire::league_of_agents::{Trouble, UUID_BYTES, Uuid, game};
use crate::wire::league_v2::dialect::{Dialect, Style};
use crate::wire::league_v2::outgoing::AgentId;
use crate::wire::league_v2::reply;

/// What an agent wants registered, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enrolment {
    /// It is in, by this registration. (Lines move up when somebody leaves.)
    Done(u32, Utc),
    /// Its name will not do.
    Refused(RefusedName),
    /// There is no room.
    Full,
    /// There is none for one more from its address.
    TooMany,
}

impl Enrolment {
    /// The HTTP status of the answer.
    pub fn status(self) -> u16 {
        match self {
            Enrolment::Done(..) => 201,
            Enrolment::Refused(refused) => refused.status(),
            Enrolment::Full => 503,
            // Waiting does not help.
            Enrolment::TooMany => 403,
        }
    }
}

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

/// What is said of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// `matched`
    Matched,
    /// `thinking`: this seat has moved.
    Thinking(Seat),
    /// `skill_effect`
    Effect,
    /// `turn_update`
    Turn,
    /// `game_state`
    State,
    /// `your_turn`
    YourTurn,
    /// `game_over`
    GameOver,
}

/// A game as it is at a moment, for one who looks at it.
#[derive(Clone, Debug)]
pub struct Picture {
    game: AnyGame,
    /// At which table. Everything else about that stays as it is while anybody is to be told of it.
    slot: u16,
    /// Whose picture it is; a spectator has no seat.
    seat: Option<Seat>,
    thinking: Seats,
    /// Whether its owner owes a move.
    owes: bool,
    /// Whether its owner knows that it is seated.
    is_matched: bool,
    is_over: bool,
    spectators: u8,
    seconds: u32,
    key: u32,
}

/// What has been told of a game on a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Which game, by the beginning of its id; nothing yet where it is 0.
    game: u32,
    /// Turns up to this one.
    turn: u16,
    /// The effect of the turn before this one.
    effect: u16,
    /// That it is the agent's move in this one.
    asked: u16,
    /// Who was still thinking.
    thinking: Seats,
    /// How it stands.
    state: bool,
    /// That it is over.
    over: bool,
}

impl Told {
    /// What is to be said next, if anything. It counts as said.
    pub fn next(&mut self, picture: &Picture) -> Option<Word> {
        let turn = picture.game.turn();
        if self.game != picture.key {
            *self = Told { game: picture.key, turn, ..Told::default() };
            if picture.seat.is_some() && !picture.is_matched {
                return Some(Word::Matched);
            }
        }
        if self.turn != turn {
            if let Some(seat) = self.thinking.iter().next() {
                return Some(self.has_moved(seat));
            }
            if self.effect != turn {
                self.effect = turn;
                return Some(Word::Effect);
            }
            (self.turn, self.state) = (turn, false);
            return Some(Word::Turn);
        }
        if !self.state || (picture.is_over && !self.over) && self.thinking != Seats::NONE {
            (self.state, self.thinking) = (true, picture.thinking);
            return Some(Word::State);
        }
        if picture.is_over {
            return (!core::mem::replace(&mut self.over, true)).then_some(Word::GameOver);
        }
        if picture.owes && self.asked != turn {
            self.asked = turn;
            return Some(Word::YourTurn);
        }
        let moved = self.thinking.without(picture.thinking).iter().next()?;
        Some(self.has_moved(moved))
    }

    fn has_moved(&mut self, seat: Seat) -> Word {
        self.thinking = self.thinking.without(Seats::only(seat));
        Word::Thinking(seat)
    }
}

impl<const P: usize, const M: usize, const R: usize, const L: usize> Hall<P, M, R, L> {
    /// Registers an agent, by the body of its request. Before the league begins it is one of its players; later it plays
    /// beside it.
    pub fn enrol(&mut self, now: Now, from: IpAddr, body: &[u8]) -> Enrolment {
        let name = match read_registration::<NAME_BYTES>(body) {
            Ok(name) if !name::is_fit(&name) => {
                self.note(now, None, None, Happening::Rejected(RefusedName::BadCharacter.text()));
                return Enrolment::Refused(RefusedName::BadCharacter);
            }
            Ok(name) => name,
            Err(refused) => {
                self.note(now, None, None, Happening::Rejected(refused.text()));
                return Enrolment::Refused(refused);
            }
        };
        if self.has_player_called(&name) {
            self.note(now, None, None, Happening::Rejected(RefusedName::Taken.text()));
            return Enrolment::Refused(RefusedName::Taken);
        }
        let taken = |number: u16| self.players.iter().any(|player| player.number == number);
        let Some(number) = (1..=P as u16).find(|&number| !taken(number)) else {
            self.note(now, None, None, Happening::Rejected(NO_ROOM));
            return Enrolment::Full;
        };
        let from = from.to_canonical();
        if !self.has_seat_for(from) {
            self.note(now, None, None, Happening::Rejected(TOO_MANY));
            return Enrolment::TooMany;
        }
        let issue = self.issued.wrapping_add(1);
        let player = Player::new(number, issue, name, Contact::DialsIn(from), Style::new(Dialect::LeagueOfAgents));
        let id = player.id();
        if self.players.push(player).is_err() {
            return Enrolment::Full;
        }
        self.issued = issue;
        self.note(now, Some(id), None, Happening::Registered);
        self.facts.push(Fact::Player(number));
        self.start_if_enough(now);
        self.advance(now);
        Enrolment::Done(issue, now.utc)
    }

    /// Writes the answer to a registration.
    pub fn write_enrolment(&self, enrolment: Enrolment, sink: &mut dyn Sink) -> Result<(), Full> {
        match enrolment {
            Enrolment::Done(issue, at) => {
                let player = self.players.iter().find(|player| player.issue == issue).ok_or(Full)?;
                let registered = Registered {
                    agent_id: self.agent_id(player),
                    api_key: self.api_key(player),
                    name: &player.name,
                    created_at: ToTheMillisecond(at),
                };
                json::write(&registered, sink)
            }
            Enrolment::Refused(refused) => json::write(&Refused::from(refused), sink),
            Enrolment::Full => json::write(&Refused { error: NO_ROOM }, sink),
            Enrolment::TooMany => json::write(&Refused { error: TOO_MANY }, sink),
        }
    }

    /// The registration of the agent that has this key.
    pub fn agent_of_key(&self, key: impl Iterator<Item = char>) -> Option<u32> {
        let key = Uuid::read(key)?;
        let [a, b, c, d, ..] = key.bytes();
        let issue = u32::from_be_bytes([a, b, c, d]);
        let agent = self.players.iter().find(|agent| agent.issue == issue && agent.is_of_the_arena())?;
        // Every byte is looked at, whatever the first ones say: how long it takes tells nothing.
        let right = self.api_key(agent).bytes();
        let difference = right.iter().zip(key.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        (difference == 0 && !agent.line.has_left()).then_some(issue)
    }

    /// Writes what an agent is told of itself.
    pub fn write_agent(&self, issue: u32, sink: &mut dyn Sink) -> Result<(), Full> {
        let player = self.players.iter().find(|player| player.issue == issue).ok_or(Full)?;
        let me = Me {
            agent_id: self.agent_id(player),
            name: &player.name,
            rating: player.rating.points().into(),
            rating_deviation: player.rating.deviation(),
            games_played: player.rating.games.into(),
        };
        json::write(&me, sink)
    }

    /// What others call a player in this protocol. It is derived, not stored.
    fn agent_id(&self, player: &Player) -> Uuid {
        Uuid::new(self.derived(AGENT_ID, player))
    }

    /// What it shows that it is who it says. It begins with the number of its registration, by which it is found.
    fn api_key(&self, player: &Player) -> Uuid {
        let mut bytes = self.derived(API_KEY, player);
        bytes.iter_mut().zip(player.issue.to_be_bytes()).for_each(|(byte, of_issue)| *byte = of_issue);
        Uuid::new(bytes)
    }

    fn derived(&self, role: u32, player: &Player) -> [u8; 16] {
        let (AgentId::Player(number) | AgentId::Referee(number)) = player.id();
        let seed = self.secret.derive(Purpose::Token, [role, number.into(), player.issue]);
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(seed.0).for_each(|(byte, derived)| *byte = derived);
        bytes
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
        if let Some(player) = line.and_then(|line| self.players.get_mut(usize::from(line))) {
            player.line.seen = now.utc;
        }
        // A move that breaks a rule of its game has been noted, with the rule.
        if let Reply::Refused(trouble, None) = reply {
            let player = line.and_then(|line| self.players.get_mut(usize::from(line)));
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
                Some(id) if line.and_then(|line| self.table_of(line)).is_none_or(|own| own.uuid == id) => {
                    Reply::Watches(id)
                }
                Some(_) => refused(Trouble::InAGame),
                None => refused(Trouble::GameNotFound),
            },
            (Message::JoinQueue { .. } | Message::SubmitMove { .. }, None) => refused(Trouble::NotAuthenticated),
            (Message::JoinQueue { game_type: None }, _) => refused(Trouble::MissingGameType),
            (Message::JoinQueue { game_type: Some(name) }, Some(line)) => match game(name) {
                Ok(game) => {
                    self.queue_up(line, game);
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
        self.tables.iter().flatten().find(|table| table.uuid == id && !table.is_over).map(|table| table.uuid)
    }

    fn play_for(
        &mut self,
        now: Now,
        line: u16,
        id: Str<'_>,
        wanted: Value<'_>,
    ) -> Result<(), (Trouble, Option<Illegal>)> {
        let asked = self.game_called(id).ok_or((Trouble::NotActive, None))?;
        let player = self.players.get(usize::from(line)).ok_or((Trouble::NotAPlayer, None))?;
        let (agent, seating) = (player.id(), player.seating.ok_or((Trouble::NotAPlayer, None))?);
        let patience = self.patience_at(line);
        let table = self.tables.get_mut(usize::from(seating.slot)).and_then(Option::as_mut);
        let table = table.filter(|table| table.uuid == asked).ok_or((Trouble::NotAPlayer, None))?;
        let (match_id, kind) = (table.id, table.question());
        // It has seen how the game stands, so it need not wait for the question that is held back.
        if table.is_held() && table.play.need(seating.seat) == Need::Question {
            table.ask(seating.seat, now.ms, patience);
        }
        let took = table.play.asked_at(seating.seat, patience).map(|asked| now.ms.saturating_sub(asked));
        let choice = match table.play.game().rules().question {
            Question::Parity => reply::choice(wanted, &mut |_, _| {}).unwrap_or(wanted),
            Question::Move => wanted,
        };
        let in_turn = table.play.game().rules().order == Order::InTurn;
        let broken = match self.play_at(now, line, seating, choice) {
            Heard::Taken => None,
            Heard::Duplicate if in_turn => Some(Illegal("it is not your turn")),
            Heard::Duplicate => return Err((Trouble::AlreadyMoved, None)),
            Heard::Refused(rule) => {
                if let Some(player) = self.players.get_mut(usize::from(line)) {
                    player.compliance.note(Rule::IllegalMove, wanted.raw());
                }
                Some(rule)
            }
        };
        if let Some(rule) = broken {
            self.note(now, Some(agent), Some(match_id), Happening::Unusable(kind, rule.0));
            return Err((Trouble::InvalidMove, Some(rule)));
        }
        if let Some(player) = self.players.get_mut(usize::from(line)) {
            player.state = if player.state == AgentState::Suspended { AgentState::Active } else { player.state };
            player.breaker.succeeded();
            player.latency.note(took.unwrap_or(0));
        }
        self.note(now, Some(agent), Some(match_id), Happening::Answered(kind));
        self.proceed(now, seating.slot);
        Ok(())
    }

    /// Writes an answer.
    pub fn write_reply(&self, reply: Reply, at: Utc, sink: &mut dyn Sink) -> Result<(), Full> {
        let notice = match reply {
            Reply::Authenticated(issue) => {
                let player = self.players.iter().find(|player| player.issue == issue).ok_or(Full)?;
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
        let seating = self.players.get(usize::from(self.line_of(issue)?))?.seating?;
        let table = self.tables.get(usize::from(seating.slot))?.as_ref()?;
        Some(picture(now, seating.slot, table, Some(seating.seat)))
    }

    /// A game as anybody may see it.
    pub fn picture_of(&self, now: Now, game: Uuid) -> Option<Picture> {
        let mut tables = (0..).zip(self.tables.iter());
        tables.find_map(|(slot, table)| {
            let table = table.as_ref().filter(|table| table.uuid == game)?;
            Some(picture(now, slot, table, None))
        })
    }

    /// Writes a word about a game. Fails where there is nothing to say.
    pub fn write_word(&self, word: Word, picture: &Picture, sink: &mut dyn Sink) -> Result<(), Full> {
        let Picture { game, slot, .. } = picture;
        let at = self.tables.get(usize::from(*slot)).and_then(Option::as_ref);
        let at = at.filter(|at| key(at.uuid) == picture.key).ok_or(Full)?;
        let id = at.uuid;
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
                    _ if at.is_called_off => Some(CutShort::Error),
                    None | Some(Cause::Played | Cause::Adjudicated) => None,
                    Some(_) => Some(CutShort::Timeout),
                };
                json::write(&GameOver { game, table, duration, reason }, sink)
            }
        }
    }

    /// An agent has been told a word about the game it is in.
    pub fn word_is_told(&mut self, now: Now, issue: u32, word: Word) {
        let Some(line) = self.line_of(issue) else { return };
        let Some(seating) = self.players.get(usize::from(line)).and_then(|player| player.seating) else { return };
        let table = self.tables.get_mut(usize::from(seating.slot)).and_then(Option::as_mut);
        match (word, table) {
            (Word::Matched, Some(table)) => table.greeted = table.greeted.with(seating.seat),
            (Word::GameOver, Some(table)) if table.is_over => {
                self.stand_up(now, line, seating.slot);
                self.advance(now);
            }
            _ => {}
        }
    }

    /// Somebody begins to look on at a game, or stops. A game that is over stays until everybody who looks on knows it.
    pub fn count_spectator(&mut self, game: Uuid, comes: bool) {
        let mut tables = (0..).zip(&mut self.tables);
        let found = tables.find_map(|(slot, table)| Some((slot, table.as_mut().filter(|table| table.uuid == game)?)));
        let Some((slot, table)) = found else { return };
        let by = if comes { 1 } else { -1 };
        table.spectators = table.spectators.saturating_add_signed(by);
        self.clear(slot);
    }

    /// The agents of the arena at a table need no invitation: they are there.
    pub(super) fn sit_down(&mut self, now: Now, slot: u16) {
        let Some(table) = self.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        let id = table.id;
        let mut is_known = false;
        for (seat, player) in (0..).zip(table.lines) {
            if let Some(player) = self.players.get(usize::from(player)).filter(|player| player.is_of_the_arena()) {
                table.play.sent(seat, now.ms, 0);
                table.play.join(seat);
                table.play.is_there(seat, !player.is_away());
                is_known = true;
            }
        }
        if is_known {
            self.note(now, None, Some(id), Happening::MatchBegun);
        }
    }

    /// Puts the question to an agent that is asked by its game: its time runs, whether it is there or not.
    pub(super) fn pump_agent(&mut self, now: Now, index: u16) {
        let patience = self.patience_at(index);
        let is_away = self.players.get(usize::from(index)).is_some_and(Player::is_away);
        if let Some((table, Seating { seat, .. })) = self.at_table(index) {
            table.play.is_there(seat, !is_away);
            if table.need(seat) == Need::Question {
                table.ask(seat, now.ms, patience);
            }
        }
        self.list(index);
    }

    /// How long a player has for what it is asked now.
    pub(super) fn patience_at(&self, index: u16) -> Millis {
        let timing = self.config.timing;
        let (Some(player), Some(table)) = (self.players.get(usize::from(index)), self.table_of(index)) else {
            return timing.move_ms;
        };
        let game = table.play.game();
        let first_turns = if game.rules().order == Order::InTurn { game.seats().into() } else { 1 };
        match table.play.phase() {
            Phase::WaitingForPlayers => timing.join_ms,
            _ if !player.is_of_the_arena() => timing.move_ms,
            _ if game.turn() <= first_turns => timing.first_turn_ms,
            _ => timing.turn_ms,
        }
    }

    /// The table where the player on a line sits, be its game over.
    pub(super) fn table_of(&self, line: u16) -> Option<&Table> {
        let seating = self.players.get(usize::from(line))?.seating?;
        self.tables.get(usize::from(seating.slot))?.as_ref()
    }

    /// Whether the player on a line owes a move, or an answer to an invitation.
    pub fn is_thinking(&self, line: u16) -> bool {
        let seating = self.players.get(usize::from(line)).and_then(|player| player.seating);
        seating.zip(self.table_of(line)).is_some_and(|(seating, table)| table.play.thinking().has(seating.seat))
    }

    /// A connection of an agent is gone. It waits for no game any more; one that it is in waits for it until its deadline.
    pub(super) fn agent_is_gone(&mut self, now: Now, index: u16) {
        self.leave_queue(index);
        let Some((table, Seating { slot, seat })) = self.at_table(index) else { return };
        table.play.is_there(seat, false);
        if table.is_over {
            self.stand_up(now, index, slot);
        }
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

/// The game at a table as it is now.
fn picture(now: Now, slot: u16, table: &Table, seat: Option<Seat>) -> Picture {
    let play = &table.play;
    let is_joining = play.phase() == Phase::WaitingForPlayers;
    Picture {
        game: play.game().clone(),
        slot,
        seat,
        thinking: if is_joining { play.game().to_move() } else { play.thinking() },
        owes: !is_joining && seat.is_some_and(|seat| play.hears(seat)),
        is_matched: seat.is_some_and(|seat| table.greeted.has(seat)),
        is_over: table.is_over,
        spectators: table.spectators,
        seconds: (now.ms.saturating_sub(table.began) / 1000) as u32,
        key: key(table.uuid),
    }
}

/// A game by the beginning of its id. Never 0.
fn key(id: Uuid) -> u32 {
    let [a, b, c, d, ..] = id.bytes();
    u32::from_be_bytes([a, b, c, d]).max(1)
}

const AGENT_ID: u32 = 2;
const API_KEY: u32 = 3;
const NO_ROOM: &str = "The box has no room for another agent.";
const TOO_MANY: &str =
    "Too many players from this address; per_address in the settings, or --per-address, allows more.";
