//! What players want, done: they join, ask whether it is their turn, play, and sit down at tables. What is [`Told`] is written from the
//! venue when it leaves, but for the game it shows, of which it has a copy.

use core::cell::Cell;
use core::net::IpAddr;

use serde::{Serialize, Serializer};

use super::{Call, MOVES, Session};
use crate::games::{self, Game, GameKind, GameSet, Illegal};
use crate::ids::{AgentId, MatchId};
use crate::json::{self, Full, Seq, Shown, Sink, Str, Value};
use crate::log::Happening;
use crate::protocols::AnySession;
use crate::protocols::enrol::{ApiKey, Enrolment, enrol};
use crate::protocols::moltgame::Fill;
use crate::protocols::sight::{Limit, Sight, State, version};
use crate::referee::{Fault, Heard};
use crate::season::Rule;
use crate::time::Now;
use crate::venue::{Player, Stage, TEXT_BYTES, Venue, name};

/// What every token begins with, and the role of these among all that is derived.
const TOKEN: &str = "mcp_";
const ROLE: u32 = 7;

const STRANGER: &str = "token is not one of this league: call join_league, and use the token it tells you";
const NOT_THERE: &str = "match_id: you do not sit in that match, or it is over; next_turn says where you sit";
const NOT_YOUR_TURN: &str = "it is not your turn: call next_turn and wait for it";

/// What is told.
#[derive(Clone, Debug)]
pub enum Told {
    /// Somebody has joined, by this registration.
    Joined(u32),
    /// How things stand for a player.
    Turn(Turn),
    /// Its move was taken, in this match.
    Played(MatchId),
    /// It sits at a table, or waits there for others.
    Seated(MatchId, GameKind),
    /// It waits no longer, or has given up.
    Left,
    /// It breaks a rule.
    Refused(&'static str),
}

/// How things stand for a player.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The game it plays.
    sight: Option<Sight>,
    /// The table it waits at.
    waits: Option<MatchId>,
    /// The game that has ended since it last asked.
    ended: Option<MatchId>,
    is_over: bool,
}

/// By which it is seen whether something has changed for a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its game, and how far that is.
    playing: Option<(MatchId, u16)>,
    /// Whether there is something to be told at once.
    has_news: bool,
}

impl Mark {
    /// Whether there is something that a player has not heard yet, or it is its turn.
    pub fn has_news(self) -> bool {
        self.has_news
    }
}

impl Told {
    /// Whether it is a refusal.
    pub fn is_refused(&self) -> bool {
        matches!(self, Told::Refused(_))
    }
}

impl Venue<'_> {
    /// The line of the player that has this token.
    pub(super) fn mcp_player(&self, token: &str) -> Option<u16> {
        let speaks = |session: &AnySession| matches!(session, AnySession::Mcp(_));
        let issue = self.holder_of(ROLE, ApiKey::read(TOKEN, token)?, speaks)?.issue;
        self.line_of(issue)
    }

    /// A player asks for its turn, and may wait for it: the registration of who has this token.
    pub fn mcp_asks(&mut self, now: Now, token: Str<'_>) -> Option<u32> {
        let line = self.mcp_player(&token.text::<40>().ok()?)?;
        self.saw(now, line);
        self.player(line).map(|player| player.issue)
    }

    /// By which it is seen whether something changes for a player. `None` where it is gone.
    pub fn mcp_mark(&self, issue: u32) -> Option<Mark> {
        let line = self.line_of(issue)?;
        let player = self.player(line)?;
        let table = self.table_of(line).filter(|table| !table.is_over());
        let is_turn = table.is_some() && self.may_move(line);
        let has_news = is_turn || ended(player).is_some() || self.has_to_hear_the_end(player) && table.is_none();
        Some(Mark { playing: table.map(|table| (table.id, version(table.play.game()))), has_news })
    }

    /// Whether the league is over that a player was in, and it does not know.
    fn has_to_hear_the_end(&self, player: &Player) -> bool {
        let was_in = self.stage() == Stage::Completed && self.plays_in(player);
        was_in && player.session.has_to_hear_end_of(self.league_id().number)
    }

    /// Does what a player wants.
    pub fn call_mcp(&mut self, now: Now, from: IpAddr, call: Call<'_>) -> Told {
        let line = match call {
            Call::NextTurn { token, .. }
            | Call::Play { token, .. }
            | Call::OpenTable { token, .. }
            | Call::Leave { token } => token.text::<40>().ok().and_then(|token| self.mcp_player(&token)),
            _ => None,
        };
        let done = match (call, line) {
            (Call::Join(arguments), _) => self.join_by_name(now, from, arguments),
            (Call::Refused(rule), _) => Err(rule),
            (_, None) => Err(STRANGER),
            (Call::NextTurn { .. }, Some(line)) => Ok(Told::Turn(self.next_turn(now, line))),
            (Call::Play { id, wanted, thought, .. }, Some(line)) => self.play_by(now, line, id, (wanted, thought)),
            (Call::OpenTable { game, seats, .. }, Some(line)) => self.sit_at_table(now, line, game, seats),
            (Call::Leave { .. }, Some(line)) => self.leave_table(now, line),
            (Call::Look(_) | Call::Order(..) | Call::League, Some(_)) => Err(STRANGER),
        };
        if let Some(line) = line {
            self.saw(now, line);
        }
        self.advance(now);
        done.unwrap_or_else(|rule| {
            // Not what was sent: a token is in it, and reports are public.
            self.note_broken(now, line, rule);
            Told::Refused(rule)
        })
    }

    /// Has a refusal counted and told. Who asks early breaks no rule, and a move that does has been noted.
    fn note_broken(&mut self, now: Now, line: Option<u16>, rule: &'static str) {
        let id = line.and_then(|line| self.player_mut(line)).map(|player| {
            if ![NOT_YOUR_TURN, NOT_THERE].contains(&rule) {
                player.compliance.note(Rule::BadRequest, rule);
            }
            player.id()
        });
        self.note(now, id, None, Happening::BadMessage(rule));
    }

    fn join_by_name(&mut self, now: Now, from: IpAddr, arguments: Value<'_>) -> Result<Told, &'static str> {
        let session = AnySession::Mcp(Session::default());
        match enrol(self, now, from, arguments.raw().as_bytes(), (session, GameSet::ALL)) {
            Enrolment::Done(issue, _) => Ok(Told::Joined(issue)),
            refused => Err(refused.text()),
        }
    }

    /// Tells a player how things stand. What it is told of what has ended, it is told once.
    fn next_turn(&mut self, now: Now, line: u16) -> Turn {
        let playing = self.table_of(line).filter(|table| !table.is_over()).map(|table| table.id);
        let sight = playing.and_then(|id| self.sight(now, id, Some(line)));
        let waits = self.waits_in(line);
        let is_over = self.player(line).is_some_and(|player| self.plays_in(player))
            && self.stage() == Stage::Completed
            && sight.is_none()
            && waits.is_none();
        if is_over {
            self.refresh_standings();
        }
        let league = self.league_id().number;
        let mut ended = None;
        if let Some(AnySession::Mcp(session)) = self.player_mut(line).map(|player| &mut player.session) {
            ended = session.ended.take();
            if is_over {
                session.heard_end_of = league;
            }
        }
        Turn { sight, waits, ended, is_over }
    }

    fn play_by(
        &mut self,
        now: Now,
        line: u16,
        id: MatchId,
        (wanted, thought): (Value<'_>, Option<Str<'_>>),
    ) -> Result<Told, &'static str> {
        let plays_there = self.table_of(line).is_some_and(|table| table.id == id && !table.is_over());
        if !plays_there {
            return Err(NOT_THERE);
        }
        match self.make_move(now, line, wanted) {
            Some(Heard::Taken) => {
                let thought = thought.map(|thought| thought.truncated::<TEXT_BYTES>());
                if let Some(thought) = thought.filter(|thought| name::is_fit(thought)) {
                    let room = self.room_id(id);
                    // The others at the table, and who looks on, hear it where they talk. A move is not refused for its words.
                    let _ = self.say_to_all(now, line, Some((room.of, room.id)), &thought);
                }
                Ok(Told::Played(id))
            }
            Some(Heard::Refused(Illegal(rule))) => Ok(Told::Refused(rule)),
            Some(Heard::Duplicate) | None => Err(NOT_YOUR_TURN),
        }
    }

    fn sit_at_table(&mut self, now: Now, line: u16, game: GameKind, seats: Option<u8>) -> Result<Told, &'static str> {
        if self.player(line).is_some_and(|player| self.plays_in_league(player)) {
            return Err("you play in a league that runs: tables outside it are for when it is over");
        }
        if self.waits_in(line).is_some() || self.table_of(line).is_some_and(|table| !table.is_over()) {
            return Err("you sit at a table already; next_turn says at which, leave leaves it");
        }
        let open = self.room_for(game).filter(|_| seats.is_none());
        let id = match open {
            Some(id) if self.enter_room(now, line, id).is_ok() => id,
            _ => self.open_room(now, line, game, seats.unwrap_or(*game.rules().seats.start())),
        };
        Ok(Told::Seated(id, game))
    }

    fn leave_table(&mut self, now: Now, line: u16) -> Result<Told, &'static str> {
        if self.waits_in(line).is_some() {
            self.leave_queue(line);
            return Ok(Told::Left);
        }
        match self.table_of(line).filter(|table| !table.is_over()).map(|table| table.id) {
            Some(id) if id.is_outside() => {
                self.give_up(now, line, Fault::Resigned, "");
                Ok(Told::Left)
            }
            Some(_) => Err("a match of the league cannot be left"),
            None => Err("you sit at no table outside the league"),
        }
    }

    /// The table at which a player waits that is told so, if house players are to fill it.
    pub fn fill_for(&mut self, now: Now, told: &Told) -> Option<Fill> {
        let Told::Turn(Turn { waits: Some(id), .. }) = told else { return None };
        let room = self.room_id(*id).uuid();
        self.wants_house(now, *id).map(|(game, players)| Fill { room, game, players })
    }

    /// Writes what is told.
    pub fn write_mcp(&self, told: &Told, sink: &mut dyn Sink) -> Result<(), Full> {
        match told {
            Told::Joined(issue) => {
                let player = self.players().iter().find(|player| player.issue == *issue).ok_or(Full)?;
                let sits_out = self.sits_out(player);
                let joined = Joined {
                    player_id: Shown(player.id()),
                    token: Shown(ApiKey(TOKEN, self.key_of(ROLE, player))),
                    game: self.config().game.rules().name,
                    sits_out,
                    message: "Keep the token. Call next_turn with it until it says league_over.",
                };
                json::write(&joined, sink)
            }
            Told::Turn(turn) => self.write_turn(turn, sink),
            Told::Played(id) => {
                let message = "Call next_turn to hear what follows.";
                json::write(&Played { accepted: true, match_id: Shown(*id), message }, sink)
            }
            Told::Seated(id, game) => {
                let (is_playing, game) = (self.table(*id).is_some(), game.rules().name);
                let message =
                    "Call next_turn with your token: who does not ask for a minute has left a table that waits.";
                json::write(&Seated { match_id: Shown(*id), game, playing: is_playing, message }, sink)
            }
            Told::Left => json::write(&Gone { left: true }, sink),
            Told::Refused(rule) => sink.put(rule.as_bytes()),
        }
    }

    fn write_turn(&self, turn: &Turn, sink: &mut dyn Sink) -> Result<(), Full> {
        let Turn { sight, waits, ended, is_over } = turn;
        let party = sight.as_ref().map(|sight| self.party_of(sight.id));
        let sitters = party.as_ref().map(|party| self.sitters_with_notes(party)).unwrap_or_default();
        let has_more = Cell::new(false);
        let limit = Limit { is_wrapped: false, at_most: MOVES, has_more: &has_more };
        let your_turn = sight.as_ref().is_some_and(|sight| sight.is_turn);
        let message = match (sight, waits) {
            (Some(_), _) if your_turn => {
                "It is your turn: call play with this match_id and a move. An empty legal_moves only says that they cannot be listed."
            }
            (Some(_), _) => "The others are thinking: call next_turn again.",
            (None, Some(_)) => "You wait at a table for others: call next_turn again.",
            (None, None) if *is_over => "The league is over: these are its final standings.",
            (None, None) if self.stage() == Stage::Waiting => "The league has not begun: call next_turn again.",
            (None, None) => "You have no match now: call next_turn again.",
        };
        let text = Standing {
            your_turn,
            match_id: sight.as_ref().map(|sight| sight.id).or(*waits).map(Shown),
            game: sight.as_ref().map(|sight| sight.game.rules().name),
            state: sight.as_ref().map(|sight| State {
                game: &sight.game,
                viewer: sight.viewer,
                table: games::Table(&sitters),
            }),
            legal_moves: sight.as_ref().map(|sight| self.moves_in(sight, limit)),
            more: More(&has_more),
            seconds_left: sight.as_ref().and_then(|sight| sight.seconds),
            last_match: ended.map(|id| Last { match_id: Shown(id), result: self.game_result(id) }),
            league_over: *is_over,
            standings: is_over.then(|| Seq(|| self.standings())),
            message,
        };
        sink.order_is(self.standings_sum());
        json::write(&text, sink)
    }

    /// Whether a player has a place in the league, be that over.
    fn plays_in(&self, player: &Player) -> bool {
        self.player_at(player.place).is_some_and(|at| at.issue == player.issue)
    }
}

/// The game that has ended since a player last asked.
fn ended(player: &Player) -> Option<MatchId> {
    if let AnySession::Mcp(session) = &player.session { session.ended } else { None }
}

#[derive(Serialize)]
struct Joined<T> {
    player_id: Shown<AgentId>,
    token: T,
    game: &'static str,
    /// Why it does not play in the league there is.
    sits_out: Option<&'static str>,
    message: &'static str,
}

#[derive(Serialize)]
struct Standing<'a, S, M, L, R> {
    your_turn: bool,
    match_id: Option<Shown<MatchId>>,
    game: Option<&'static str>,
    state: Option<S>,
    legal_moves: Option<M>,
    more: More<'a>,
    seconds_left: Option<u32>,
    last_match: Option<L>,
    league_over: bool,
    standings: Option<R>,
    message: &'static str,
}

/// Whether there are more moves, which is known when those before it are written.
struct More<'a>(&'a Cell<bool>);

impl Serialize for More<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(self.0.get())
    }
}

#[derive(Serialize)]
struct Last<R> {
    match_id: Shown<MatchId>,
    result: Option<R>,
}

#[derive(Serialize)]
struct Played {
    accepted: bool,
    match_id: Shown<MatchId>,
    message: &'static str,
}

#[derive(Serialize)]
struct Seated {
    match_id: Shown<MatchId>,
    game: &'static str,
    playing: bool,
    message: &'static str,
}

#[derive(Serialize)]
struct Gone {
    left: bool,
}
