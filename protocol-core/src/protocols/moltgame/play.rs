//! What agents ask for, done: they come in, sit down, look, and play. An [`Answer`] is what is to be said; it is written from the
//! venue when it leaves, but for the game it shows, of which it has a copy.

use core::cell::Cell;
use core::net::IpAddr;

use serde::Serialize;

use super::incoming::{self, KEY, RoomId, STRANGER, members};
use super::logs::{ChatPage, LogPage, Paged};
use super::outgoing::{Agent, Games, Look, NewAgent, Pulse, Refused, Registered, Room};
use super::session::Session;
use super::{Ask, BEAT_MS, HURRIED, TALKS_TOO_MUCH, Trouble, game_id, game_of, is_specified, number_of};
use crate::games::{self, AnyGame, Game, GameKind, GameSet, Illegal};
use crate::ids::MatchId;
use crate::json::{self, Full, Kind, Seq, Shown, Sink, Value};
use crate::log::Happening;
use crate::protocols::AnySession;
use crate::protocols::enrol::{ApiKey, Enrolment, RefusedName, enrol};
use crate::protocols::sight::{Limit, Sight, State, version};
use crate::referee::Heard;
use crate::season::Rule;
use crate::time::{Now, Utc};
use crate::uuid::{UUID_BYTES, Uuid};
use crate::venue::{Channel, Lines, NotSaid, NotSeated, OpenRoom, Party, Player, Venue};

/// The role of its keys among all that is derived.
const API_KEY: u32 = 4;

/// A question, and what comes along with it.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// What is asked, by method and path.
    pub ask: Ask<'a>,
    /// The machine it comes from.
    pub from: IpAddr,
    /// The header of that name.
    pub authorization: Option<&'a str>,
    /// What stands behind the path.
    pub query: &'a str,
    /// What was sent.
    pub body: &'a [u8],
    /// Whether the box has time for more than it owes: heartbeats that come too often.
    pub has_time: bool,
}

/// What is to be answered.
#[derive(Clone, Debug)]
pub struct Answer {
    what: What,
    is_hurried: bool,
    fill: Option<Fill>,
}

/// A room that has waited so long that house players are to fill it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Its id.
    pub room: Uuid,
    /// What is to be played there.
    pub game: GameKind,
    /// How many are missing.
    pub players: u8,
}

#[derive(Clone, Debug)]
enum What {
    /// Who is in, by its registration.
    Registered(u32),
    /// An agent, by its registration.
    Agent(u32),
    Games,
    /// A room that has been opened, come into or left. To `match` also whether it plays.
    Room {
        room: Seen,
        of_match: bool,
    },
    /// To a heartbeat.
    Pulse(RoomId, Sight),
    /// All that may be seen of a room.
    Look(Seen, Option<Sight>),
    Moved(u16),
    /// What is written row by row.
    Paged(Paged),
    /// A message that was just said, by its number.
    Said(u32, ChatPage),
    Refused(Trouble, Option<RoomId>),
}

/// A room as it is now.
#[derive(Clone, Debug)]
struct Seen {
    room: RoomId,
    game: GameKind,
    status: Status,
    players: Lines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Playing,
    Finished,
    Closed,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Status::Waiting => "waiting",
            Status::Playing => "playing",
            Status::Finished => "finished",
            Status::Closed => "closed",
        }
    }
}

type Done = Result<What, (Trouble, Option<RoomId>)>;

impl From<Trouble> for (Trouble, Option<RoomId>) {
    fn from(trouble: Trouble) -> Self {
        (trouble, None)
    }
}

impl Answer {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        match &self.what {
            What::Refused(trouble, _) => trouble.status(),
            _ => 200,
        }
    }

    /// Whether a heartbeat was answered that came too soon.
    pub fn is_hurried(&self) -> bool {
        self.is_hurried
    }

    /// A room that is to be filled, where one is.
    pub fn fill(&self) -> Option<Fill> {
        self.fill
    }

    /// What is written row by row, and not by [`Venue::write_moltgame`].
    pub fn paged(&self) -> Option<Paged> {
        if let What::Paged(page) = self.what { Some(page) } else { None }
    }

    /// The game whose end it shows: as far as the venue remembers it, until [`Answer::show_end`] has shown more.
    pub fn shows_end_of(&self) -> Option<MatchId> {
        match &self.what {
            What::Pulse(_, sight) | What::Look(_, Some(sight)) => sight.is_over.then_some(sight.id),
            _ => None,
        }
    }

    /// Shows a game as it stood when it was over.
    pub fn show_end(&mut self, end: AnyGame) {
        if let What::Pulse(_, sight) | What::Look(_, Some(sight)) = &mut self.what {
            sight.game = end;
        }
    }
}

impl Venue<'_> {
    /// The line of the agent that has this key.
    pub(super) fn molt_agent(&self, key: &str) -> Option<u16> {
        let speaks = |session: &AnySession| matches!(session, AnySession::MoltGame(_));
        let issue = self.holder_of(API_KEY, ApiKey::read(KEY, key)?, speaks)?.issue;
        self.line_of(issue)
    }

    /// Does what is asked, and says what is to be answered.
    pub fn ask_moltgame(&mut self, now: Now, asking: Asking<'_>) -> Answer {
        let Asking { ask, authorization, body, has_time, .. } = asking;
        let line = incoming::key(authorization).and_then(|key| self.molt_agent(key).ok_or(STRANGER));
        let is_hurried = ask == Ask::Heartbeat && line.is_ok_and(|line| self.beats_too_soon(now, line));
        let done = match line {
            Err(trouble) if !ask.is_open() => Err(trouble.into()),
            Ok(_) if is_hurried && !has_time => Err(HURRIED.into()),
            line => self.do_what_is_asked(now, line.ok(), asking),
        };
        if let Ok(line) = line {
            self.saw(now, line);
        }
        let what = done.unwrap_or_else(|(trouble, room)| {
            self.note_trouble(now, line.ok(), trouble, body);
            What::Refused(trouble, room)
        });
        let fill = match &what {
            What::Refused(Trouble::GameNotStarted, Some(room)) => {
                self.wants_house(now, room.id).map(|(game, players)| Fill { room: room.uuid(), game, players })
            }
            _ => None,
        };
        Answer { what, is_hurried, fill }
    }

    /// A heartbeat has come. True where the last one was just now: a rule is broken by it.
    fn beats_too_soon(&mut self, now: Now, line: u16) -> bool {
        let Some(player) = self.player_mut(line) else { return false };
        let AnySession::MoltGame(session) = &mut player.session else { return false };
        let ms = u32::try_from(now.ms & 0xffff_ffff).unwrap_or(0).max(1);
        let last = core::mem::replace(&mut session.beat, ms);
        let is_too_soon = last != 0 && ms.wrapping_sub(last) < BEAT_MS;
        if is_too_soon {
            player.compliance.note(Rule::TooOften, "heartbeat");
        }
        is_too_soon
    }

    fn do_what_is_asked(&mut self, now: Now, line: Option<u16>, asking: Asking<'_>) -> Done {
        let (agent, Asking { ask, from, query, body, .. }) = (line.ok_or(STRANGER), asking);
        match ask {
            Ask::Register => self.register_by_name(now, from, body),
            Ask::Chat(_) | Ask::Logs(_) => Ok(What::Paged(self.paged(now, ask, query)?)),
            Ask::Say(room) => {
                let (line, channel) = (agent?, self.channel(room)?);
                let [text] = members(body, ["text"])?;
                let text = incoming::message(text)?;
                let number = self.say_to_all(now, line, channel, &text).map_err(|why| match why {
                    NotSaid::TooSoon => TALKS_TOO_MUCH,
                    NotSaid::NoRoom => Trouble::NoRoomForWords,
                })?;
                Ok(What::Said(number, ChatPage::only(channel, number)))
            }
            Ask::Me => Ok(What::Agent(self.player(agent?).ok_or(STRANGER)?.issue)),
            Ask::Agent(id) => {
                let id = Uuid::read(id.chars()).ok_or(Trouble::InvalidAgentId)?;
                let agent = self.players().iter().find(|player| !player.has_left() && self.agent_id(player) == id);
                Ok(What::Agent(agent.ok_or(Trouble::AgentNotFound)?.issue))
            }
            Ask::Games => Ok(What::Games),
            Ask::Open(game) => {
                let (line, game) = (agent?, game_of(game).ok_or(Trouble::InvalidGameId)?);
                let [seats] = members(body, ["seats"])?;
                let seats = incoming::seats(seats)?.unwrap_or(*game.rules().seats.start());
                if !game.rules().seats.contains(&seats) {
                    return Err(Trouble::InvalidRequest("seats must be as many as the game has, by GET /games").into());
                }
                self.is_in_no_room(line)?;
                let id = self.open_room(now, line, game, seats);
                self.seated(now, line, id, false)
            }
            Ask::Match(game) => {
                let (line, game) = (agent?, game_of(game).ok_or(Trouble::InvalidGameId)?);
                members(body, [])?;
                self.is_in_no_room(line)?;
                let id = match self.room_for(game) {
                    Some(id) if self.enter_room(now, line, id).is_ok() => id,
                    _ => self.open_room(now, line, game, *game.rules().seats.start()),
                };
                self.seated(now, line, id, true)
            }
            Ask::Join(id) => {
                let (line, room) = (agent?, RoomId::read(id)?);
                self.is_in_no_room(line)?;
                self.seen(room).ok_or(Trouble::RoomNotFound)?;
                // One that waits no longer was filled.
                self.enter_room(now, line, room.id).map_err(|NotSeated| Trouble::RoomFull)?;
                self.seated(now, line, room.id, false)
            }
            Ask::Leave(id) => self.leave_room(agent?, RoomId::read(id)?),
            Ask::Room(id) => self.look(now, RoomId::read(id)?, Some(agent?)),
            Ask::Spectate(id) => self.look(now, RoomId::read(id)?, None),
            Ask::Heartbeat => self.heartbeat(now, agent?, body),
            Ask::Move => self.move_in_room(now, agent?, body),
        }
    }

    /// What is asked for that is written row by row; nothing, where it is refused or is nothing of the kind.
    pub fn page_moltgame(&self, now: Now, ask: Ask<'_>, query: &str) -> Option<Paged> {
        matches!(ask, Ask::Chat(_) | Ask::Logs(_)).then(|| self.paged(now, ask, query).ok()).flatten()
    }

    fn paged(&self, now: Now, ask: Ask<'_>, query: &str) -> Result<Paged, Trouble> {
        let id = match ask {
            Ask::Chat(room) => return Ok(Paged::Chat(self.chat_page(self.channel(room)?, query))),
            Ask::Logs(id) => id,
            _ => return Err(Trouble::RoomNotFound),
        };
        let room = RoomId::read(id)?;
        let seen = self.seen(room).ok_or(Trouble::RoomNotFound)?;
        let began = self.table(room.id).map(|table| Utc(now.utc.0.saturating_sub(table.play.elapsed(now.ms) / 1000)));
        let is_waiting = seen.status == Status::Waiting;
        Ok(Paged::Logs(LogPage::new((room, seen.game), is_waiting, began.unwrap_or(now.utc), query)))
    }

    fn register_by_name(&mut self, now: Now, from: IpAddr, body: &[u8]) -> Done {
        // What is no object is refused with the name.
        let [about, league] = members(body, ["description", "league"]).unwrap_or([None; 2]);
        let about = incoming::description(about)?;
        let games = if incoming::is_in_leagues(league)? { GameSet::ALL } else { GameSet::NONE };
        let session = AnySession::MoltGame(Session { about, ..Session::default() });
        match enrol(self, now, from, body, (session, games)) {
            Enrolment::Done(issue, _) => Ok(What::Registered(issue)),
            Enrolment::Refused(RefusedName::Taken) => Err(Trouble::NameTaken.into()),
            Enrolment::Refused(refused) => Err(Trouble::InvalidRequest(refused.text()).into()),
            Enrolment::Full => Err(Trouble::ServerFull.into()),
            Enrolment::TooMany => Err(Trouble::TooManyFromAddress.into()),
        }
    }

    /// The room that an agent waits or plays in.
    fn active_room(&self, line: u16) -> Option<RoomId> {
        let playing = || self.table_of(line).filter(|table| !table.is_over()).map(|table| table.id);
        self.waits_in(line).or_else(playing).map(|id| self.room_id(id))
    }

    /// Whoever is in a room is in no other.
    fn is_in_no_room(&self, line: u16) -> Result<(), (Trouble, Option<RoomId>)> {
        match self.active_room(line) {
            Some(room) => Err((Trouble::AlreadyInRoom, Some(room))),
            None if self.player(line).is_some_and(|player| self.plays_in_league(player)) => {
                Err(Trouble::InLeague.into())
            }
            None => Ok(()),
        }
    }

    /// An agent has come into a room. Play may begin by it.
    fn seated(&mut self, now: Now, line: u16, id: MatchId, of_match: bool) -> Done {
        self.saw(now, line);
        self.advance(now);
        let room = self.seen(self.room_id(id)).ok_or(Trouble::RoomNotFound)?;
        Ok(What::Room { room, of_match })
    }

    fn leave_room(&mut self, line: u16, room: RoomId) -> Done {
        let seen = self.seen(room).ok_or(Trouble::RoomNotFound)?;
        if !seen.players.contains(&line) {
            return Err(Trouble::NotInRoom.into());
        }
        if seen.status != Status::Waiting {
            return Err((Trouble::CannotLeaveNonWaiting, Some(room)));
        }
        self.leave_queue(line);
        let closed = Seen { status: Status::Closed, players: Lines::new(), ..seen };
        Ok(What::Room { room: self.seen(room).unwrap_or(closed), of_match: false })
    }

    /// Where something is said.
    fn channel(&self, room: Option<&str>) -> Result<Channel, Trouble> {
        let Some(room) = room.map(RoomId::read).transpose()? else { return Ok(None) };
        self.seen(room).ok_or(Trouble::RoomNotFound)?;
        Ok(Some((room.of, room.id)))
    }

    /// A match as a room.
    pub(in crate::protocols) fn room_id(&self, id: MatchId) -> RoomId {
        let of = if id.is_outside() { self.mark_of_game(id).number() } else { self.league_id().number };
        RoomId { of, id }
    }

    /// A room that waits, is played in, or is kept.
    fn seen(&self, room: RoomId) -> Option<Seen> {
        let id = Some(room.id).filter(|&id| self.room_id(id) == room)?;
        if let Some(OpenRoom { game, room: open, .. }) = self.open_room_of(id) {
            let players = self.roommates(game, open);
            return Some(Seen { room, game, status: Status::Waiting, players });
        }
        let players = self.seated_at(id).into_iter().map(|(_, line)| line).collect();
        let (status, game) = match self.table(id) {
            Some(table) => (Status::Playing, GameKind::named(table.play.game().rules().name)?),
            None => (Status::Finished, self.recall(id).and_then(|game| GameKind::named(game.rules().name))?),
        };
        Some(Seen { room, game, status, players })
    }

    /// Who is in a room, or was, by seat.
    pub(super) fn seated_in(&self, room: RoomId) -> Lines {
        self.seen(room).map(|seen| seen.players).unwrap_or_default()
    }

    /// What may be seen of a room by an agent that has a seat in it, or by anybody else.
    fn look(&self, now: Now, room: RoomId, line: Option<u16>) -> Done {
        let seen = self.seen(room).ok_or(Trouble::RoomNotFound)?;
        let sight = self.sight(now, room.id, line);
        Ok(What::Look(seen, sight))
    }

    fn heartbeat(&mut self, now: Now, line: u16, body: &[u8]) -> Done {
        let [named] = members(body, ["room_id"])?;
        let named = incoming::room_id(named)?;
        let ended = self.player(line).and_then(ended);
        let room = named.or_else(|| self.active_room(line)).or_else(|| ended.map(|id| self.room_id(id)));
        let room = room.ok_or(Trouble::NoActiveGame)?;
        let seen = self.seen(room).ok_or(if named.is_some() { Trouble::GameNotFound } else { Trouble::NoActiveGame });
        if seen.as_ref().is_ok_and(|seen| seen.status == Status::Waiting) {
            return Err((Trouble::GameNotStarted, Some(room)));
        }
        if seen.as_ref().map_or(true, |seen| seen.status == Status::Finished)
            && let Some(AnySession::MoltGame(session)) = self.player_mut(line).map(|player| &mut player.session)
        {
            // It has been told, or there is nothing left to tell.
            session.ended.take_if(|ended| *ended == room.id);
        }
        if !seen?.players.contains(&line) {
            return Err((Trouble::NotInRoom, Some(room)));
        }
        Ok(What::Pulse(room, self.sight(now, room.id, Some(line)).ok_or(Trouble::GameNotFound)?))
    }

    fn move_in_room(&mut self, now: Now, line: u16, body: &[u8]) -> Done {
        let [room, wanted] = members(body, ["room_id", "move"])?;
        let room = incoming::room_id(room)?.ok_or(Trouble::InvalidRequest("room_id is missing"))?;
        let wanted = wanted.ok_or(Trouble::InvalidRequest("move is missing"))?;
        let seen = self.seen(room).ok_or(Trouble::GameNotFound)?;
        match seen.status {
            _ if !seen.players.contains(&line) => return Err((Trouble::NotInRoom, Some(room))),
            Status::Waiting => return Err((Trouble::GameNotStarted, Some(room))),
            Status::Playing => {}
            Status::Finished | Status::Closed => return Err(Trouble::GameNotFound.into()),
        }
        if wanted.kind() != Kind::Array {
            return Err(Trouble::InvalidMove("move must be an array: one entry of legal_moves").into());
        }
        let wanted = if is_specified(seen.game) { wanted } else { unwrapped(wanted) };
        let heard = self.make_move(now, line, wanted);
        if heard == Some(Heard::Taken)
            && let Some(AnySession::MoltGame(session)) = self.player_mut(line).map(|player| &mut player.session)
        {
            session.beat = 0;
        }
        self.advance(now);
        match heard {
            Some(Heard::Taken) => {
                let version = self.sight(now, room.id, None).map_or(0, |sight| version(&sight.game));
                Ok(What::Moved(version))
            }
            Some(Heard::Refused(Illegal(rule))) => Err(Trouble::InvalidMove(rule).into()),
            Some(Heard::Duplicate) | None => Err(Trouble::NotYourTurn.into()),
        }
    }

    /// Has trouble counted and told. A game that waits, or a turn that is not there yet, breaks no rule: whoever asks often meets
    /// both.
    fn note_trouble(&mut self, now: Now, line: Option<u16>, trouble: Trouble, body: &[u8]) {
        let rule = match trouble {
            // Noted with the move, or with the registration.
            Trouble::InvalidMove(_) | Trouble::NameTaken | Trouble::ServerFull | Trouble::TooManyFromAddress => return,
            Trouble::GameNotStarted | Trouble::NoActiveGame | Trouble::NotYourTurn | Trouble::GameNotFound => return,
            Trouble::TooOften(_) => return,
            // It is in the log, and nobody's fault.
            Trouble::NoRoomForWords => None,
            _ => Some(Rule::BadRequest),
        };
        let (code, _) = trouble.words();
        let player = line.and_then(|line| self.player_mut(line));
        let agent = player.map(|player| {
            if let Some(rule) = rule {
                player.compliance.note(rule, core::str::from_utf8(body).unwrap_or(code));
            }
            player.id()
        });
        self.note(now, agent, None, Happening::BadMessage(code));
    }

    /// Writes an answer.
    pub fn write_moltgame(&self, answer: &Answer, sink: &mut dyn Sink) -> Result<(), Full> {
        let of_issue = |issue: u32| self.players().iter().find(|player| player.issue == issue).ok_or(Full);
        match &answer.what {
            What::Registered(issue) => {
                let player = of_issue(*issue)?;
                let api_key = Shown(ApiKey(KEY, self.key_of(API_KEY, player)));
                json::write(&Registered { agent: NewAgent { agent_id: self.agent_id(player), api_key } }, sink)
            }
            What::Agent(issue) => {
                let player = of_issue(*issue)?;
                let room = self.line_of(*issue).and_then(|line| self.active_room(line));
                let agent = Agent {
                    agent_id: self.agent_id(player),
                    name: &player.name,
                    description: player.session.about(),
                    rating: player.rating.points(),
                    games_played: player.rating.games,
                    room_id: room.map(RoomId::uuid),
                };
                json::write(&agent, sink)
            }
            What::Games => json::write(&Games, sink),
            What::Room { room, of_match } => {
                let text = Room {
                    room_id: room.room.uuid(),
                    game_id: game_id(number_of(room.game)),
                    status: room.status.name(),
                    players: self.ids(&room.players),
                    matched: of_match.then_some(room.status == Status::Playing),
                };
                json::write(&text, sink)
            }
            What::Pulse(room, sight) => {
                let Sight { game, viewer, is_turn, is_over, seconds, .. } = sight;
                let party = self.party_at(room.id);
                let sitters = self.sitters_with_notes(&party);
                let kind = GameKind::named(game.rules().name).ok_or(Full)?;
                let limit = Limit { is_wrapped: !is_specified(kind), at_most: u16::MAX, has_more: &Cell::new(false) };
                let text = Pulse {
                    your_turn: *is_turn,
                    game_state: State { game, viewer: *viewer, table: games::Table(&sitters) },
                    legal_moves: self.moves_in(sight, limit),
                    game_over: *is_over,
                    room_id: room.uuid(),
                    state_version: version(game),
                    seconds_left: *seconds,
                };
                json::write(&text, sink)
            }
            What::Look(seen, sight) => {
                let party = self.party_at(seen.room.id);
                let sitters = self.sitters_with_notes(&party);
                let text = Look {
                    room_id: seen.room.uuid(),
                    game_id: game_id(number_of(seen.game)),
                    players: self.ids(&seen.players),
                    status: seen.status.name(),
                    state_version: sight.as_ref().map_or(0, |sight| version(&sight.game)),
                    engine_type: seen.game.rules().name,
                    game_state: sight.as_ref().map(|sight| State {
                        game: &sight.game,
                        viewer: sight.viewer,
                        table: games::Table(&sitters),
                    }),
                };
                json::write(&text, sink)
            }
            What::Moved(version) => {
                #[derive(Serialize)]
                struct Moved {
                    success: bool,
                    state_version: u16,
                }
                json::write(&Moved { success: true, state_version: *version }, sink)
            }
            What::Said(number, page) => self.write_message(*number, *page, sink),
            // Whoever sends it writes it row by row.
            What::Paged(_) => Err(Full),
            What::Refused(trouble, room) => json::write(&Refused::new(*trouble, room.map(RoomId::uuid)), sink),
        }
    }
}

impl Venue<'_> {
    /// What others call the agents on these lines.
    fn ids(&self, lines: &Lines) -> impl Serialize {
        Seq(|| lines.iter().filter_map(|&line| self.player(line)).map(|player| self.agent_id(player)))
    }

    /// Who plays in a room, by what others call them.
    fn party_at(&self, id: MatchId) -> Party<'_, UUID_BYTES> {
        let lines: Lines = self.seated_at(id).into_iter().map(|(_, line)| line).collect();
        self.party(&lines, |player| self.agent_id(player).text())
    }
}

/// The game that has ended since an agent last asked.
fn ended(player: &Player) -> Option<MatchId> {
    match &player.session {
        AnySession::MoltGame(session) => session.ended,
        _ => None,
    }
}

/// The only thing in an array, where a move is no array by itself; else the array.
fn unwrapped(array: Value<'_>) -> Value<'_> {
    let mut items = array.items();
    match (items.next(), items.next()) {
        (Some(only), None) => only,
        _ => array,
    }
}
