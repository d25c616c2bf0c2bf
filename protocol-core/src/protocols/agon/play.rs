//! What agents say on their WebSocket, done, and what they are told, in words. Whoever carries messages knows an agent by its
//! registration: lines move up when somebody leaves.

use core::fmt;

use serde::Serialize;

use super::incoming::{Action, table};
use super::outgoing::*;
use super::session::{Picture, Word, elo_of, key, messages, of, picture, seen, sender};
use super::{Arena, BLITZ, BURST, MESSAGE_BYTES, OPEN, STRIKES, Trouble, room_named, room_of, rooms};
use crate::games::{AnyGame, Game, GameKind, SAID, Seat};
use crate::ids::MatchId;
use crate::json::{self, Full, Joined, Map, Seq, Shown, Sink, Str, Value};
use crate::log::Happening;
use crate::protocols::AnySession;
use crate::protocols::moltgame::RoomId;
use crate::referee::{Cause, Fault, Heard, Outcome};
use crate::season::Rule;
use crate::time::Now;
use crate::uuid::Uuid;
use crate::venue::{self, Life, NotCounted, OpenRoom, Table, Venue, Voter, seconds};

/// The answer to a message of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// There is nothing to say: what follows from it speaks for itself.
    Nothing,
    /// `welcome`, to who has just come.
    Welcome,
    /// `room_state`
    RoomState(GameKind),
    /// `left_room`
    LeftRoom(Option<GameKind>),
    /// `seated`: the agent waits at a table of a room, or at the one that is always open.
    Seated(GameKind, Option<MatchId>),
    /// Something is wrong.
    Refused(Trouble),
}

const IN_A_MATCH: Trouble = Trouble::AlreadyInRoom("you are in a match; leave_match gives it up");
const IN_A_LEAGUE: Trouble = Trouble::AlreadyInRoom("you play in the league, and its matches come to you");
/// Stands for the table with short turns that is always open: no match has this id.
const BLITZ_TABLE: MatchId = MatchId { round: 0, table: venue::BLITZ.number };
const AT_A_TABLE: Trouble = Trouble::AlreadyInRoom("you sit at a table; leave_room leaves it");

impl Venue<'_> {
    /// Hears a message of the agent with this registration.
    pub fn hear_agon(&mut self, now: Now, issue: u32, body: &[u8]) -> Reply {
        let Some(line) = self.line_of(issue) else { return Reply::Refused(Trouble::NotInMatch) };
        let is_heard = of(self, line).is_some_and(|session| {
            let (second, count) = session.burst;
            session.burst = if second == seconds(now) { (second, count.saturating_add(1)) } else { (seconds(now), 1) };
            if session.heard > 0 {
                session.heard = now.ms.max(1);
            }
            session.burst.1 <= BURST
        });
        self.saw(now, line);
        self.set_clock(line);
        let reply = match is_heard {
            true => self.do_action(now, line, body).unwrap_or_else(Reply::Refused),
            false => Reply::Refused(Trouble::RateLimited),
        };
        if let Reply::Refused(trouble) = reply {
            self.note_agon(now, line, trouble, body);
        }
        self.advance(now);
        reply
    }

    /// Has trouble counted and told. A move that breaks a rule of its game has been noted, with the rule.
    fn note_agon(&mut self, now: Now, line: u16, trouble: Trouble, body: &[u8]) {
        let rule = match trouble {
            Trouble::IllegalMove(..) | Trouble::NotYourTurn | Trouble::ReconnectExpired => return,
            Trouble::InvalidJson => Rule::NotJson,
            Trouble::RateLimited => Rule::TooOften,
            _ => Rule::BadRequest,
        };
        if let Some(player) = self.player_mut(line) {
            player.compliance.note(rule, core::str::from_utf8(body).unwrap_or(trouble.code()));
        }
        self.note_of(now, line, Happening::BadMessage(trouble.code()));
    }

    fn do_action(&mut self, now: Now, line: u16, body: &[u8]) -> Result<Reply, Trouble> {
        match Action::read(body)? {
            Action::Heartbeat => Ok(Reply::Nothing),
            Action::EnterRoom(name) => {
                let (game, _) = room_named(&name).ok_or(Trouble::RoomNotFound)?;
                if self.agon_room(line) != Some(game) {
                    self.is_nowhere(line)?;
                    self.go_to_room(line, Some(game));
                }
                Ok(Reply::RoomState(game))
            }
            Action::LeaveRoom => {
                if self.is_in_match(line) {
                    return Err(IN_A_MATCH);
                }
                self.leave_queue(line);
                let room = seen(self, line).and_then(|session| session.room);
                self.go_to_room(line, None);
                Ok(Reply::LeftRoom(room))
            }
            Action::SitTable(room, name) => {
                let (game, _) = room_named(&room).ok_or(Trouble::RoomNotFound)?;
                self.sit_at(now, line, game, &name)
            }
            Action::SendMessage(of_match, content) => self.hear_content(now, line, of_match, content),
            Action::LeaveMatch(of_match, shot) => {
                if self.is_in(line, of_match)?.life == Life::Voting {
                    return Err(Trouble::ValidationFailed("nobody can leave this match any more: its audience votes"));
                }
                let shot = shot.map(Str::truncated::<400>).unwrap_or_default();
                // Where there is an audience, that decides.
                if !self.leave_talk(now, line, &shot) {
                    self.give_up(now, line, Fault::Resigned, &shot);
                }
                Ok(Reply::Nothing)
            }
            Action::Vote(of_match, who) => self.hear_vote(now, line, of_match, who),
            Action::React(of_match, emoji) => self.hear_reaction(now, line, of_match, &emoji),
            Action::Wager(of_match, bet) => self.hear_bet(line, of_match, bet),
            Action::Trade(of_match, wanted) => self.hear_trade(now, line, of_match, wanted),
        }
    }

    /// An agent votes on a match of others.
    fn hear_vote(
        &mut self,
        now: Now,
        line: u16,
        of_match: Option<RoomId>,
        who: Option<Uuid>,
    ) -> Result<Reply, Trouble> {
        let refused = |why: NotCounted| match why {
            NotCounted::Choice => {
                Trouble::ValidationFailed("participant_id must be the id of one who plays this match")
            }
            why => Trouble::ValidationFailed(why.words()),
        };
        let id = of_match.filter(|room| self.room_id(room.id) == *room).map(|room| room.id);
        let id = id.ok_or(refused(NotCounted::Match))?;
        let is_it = |line: &u16| self.player(*line).is_some_and(|player| Some(self.agent_id(player)) == who);
        let seat = (0..).zip(self.seated_at(id)).find(|(_, (_, line))| is_it(line)).map(|(seat, _)| seat);
        let voter = self.player(line).ok_or(Trouble::NotInMatch)?;
        let (voter, from) = (Voter::Agent(voter.number), voter.contact.ip());
        // Whom it is for matters only while the vote is open.
        self.vote(now, id, voter, from, seat.unwrap_or(Seat::MAX)).map_err(refused)?;
        Ok(Reply::Nothing)
    }

    /// The room an agent is in: that of its match, or the one it went into.
    fn agon_room(&self, line: u16) -> Option<GameKind> {
        let playing = self.table_of(line).and_then(|table| GameKind::named(table.play.game().rules().name));
        playing.or_else(|| seen(self, line)?.room)
    }

    fn go_to_room(&mut self, line: u16, room: Option<GameKind>) {
        if let Some(session) = of(self, line) {
            session.room = room;
        }
    }

    pub(super) fn is_in_match(&self, line: u16) -> bool {
        self.table_of(line).is_some_and(|table| !table.is_over())
    }

    /// Whether an agent neither plays nor waits.
    fn is_nowhere(&self, line: u16) -> Result<(), Trouble> {
        if self.is_in_match(line) {
            Err(IN_A_MATCH)
        } else if self.queue_position(line).is_some() {
            Err(AT_A_TABLE)
        } else {
            Ok(())
        }
    }

    fn sit_at(&mut self, now: Now, line: u16, game: GameKind, name: &str) -> Result<Reply, Trouble> {
        let waits_here = |venue: &Self, at| venue.queue_position(line).is_some() && venue.waits_in(line) == at;
        let at = match name {
            OPEN => None,
            BLITZ => Some(BLITZ_TABLE),
            name => Some(table(name).ok_or(Trouble::TableNotFound)?),
        };
        if self.agon_room(line) == Some(game) && waits_here(self, at) {
            return Ok(Reply::Seated(game, at));
        }
        self.is_nowhere(line)?;
        if self.player(line).is_some_and(|player| self.plays_in_league(player)) {
            return Err(IN_A_LEAGUE);
        }
        if !self.has_free_slot() {
            return Err(Trouble::RoomFull);
        }
        match at {
            None => self.queue_up(now, line, game),
            Some(BLITZ_TABLE) => self.queue_up_for_blitz(now, line, game),
            Some(id) => match self.open_room_of(id) {
                Some(open) if open.game == game => {
                    self.enter_room(now, line, id).map_err(|_| Trouble::TableTaken)?;
                }
                _ if self.tables_of(game).any(|other| other == id) => return Err(Trouble::TableTaken),
                _ => return Err(Trouble::TableNotFound),
            },
        }
        self.go_to_room(line, Some(game));
        Ok(Reply::Seated(game, at))
    }

    /// The tables where a game is played, or was.
    fn tables_of(&self, game: GameKind) -> impl Iterator<Item = MatchId> {
        let is_it = move |table: &&Table| table.play.game().rules().name == game.rules().name;
        let playing = self.all_tables().filter(is_it).map(|table| table.id);
        playing.chain(self.finished_games().filter(move |&id| self.game_at(id) == game))
    }

    /// Whether an agent plays in a match that goes on.
    pub(super) fn is_in(&self, line: u16, of_match: Option<RoomId>) -> Result<&Table, Trouble> {
        let table = self.table_of(line).filter(|table| !table.is_over() && Some(self.room_id(table.id)) == of_match);
        table.ok_or(Trouble::NotInMatch)
    }

    fn hear_content(
        &mut self,
        now: Now,
        line: u16,
        of_match: Option<RoomId>,
        content: Value<'_>,
    ) -> Result<Reply, Trouble> {
        let table = self.is_in(line, of_match)?;
        if table.life == Life::Countdown {
            return Err(Trouble::NotYourTurn);
        }
        let game = table.play.game();
        // Who may only trade now has to wait with its words.
        if table.seat_of(line).is_some_and(|seat| game.may_act().has(seat)) {
            return Err(Trouble::NotYourTurn);
        }
        let text = || content.as_str().into_iter().flat_map(Str::chars);
        // Speeches that are longer are cut.
        let is_speech = game.speech() > SAID;
        let most = arena_of(game).filter(|_| !is_speech).map_or(usize::MAX, |arena| arena.chars.into());
        // As it is meant, however it was escaped.
        let bytes: usize = text().map(char::len_utf8).sum();
        if bytes > MESSAGE_BYTES || text().count() > most {
            return Err(Trouble::MessageTooLong);
        }
        let heard = self.make_move(now, line, content);
        let strikes = of(self, line).map_or(0, |session| {
            session.strikes = match heard {
                Some(Heard::Refused(_)) => session.strikes.saturating_add(1),
                _ => 0,
            };
            session.strikes
        });
        match heard {
            Some(Heard::Taken) => Ok(Reply::Nothing),
            Some(Heard::Refused(rule)) => Err(Trouble::IllegalMove(rule, strikes >= STRIKES)),
            Some(Heard::Duplicate) | None => Err(Trouble::NotYourTurn),
        }
    }

    /// An agent has come. If its match ended while it was gone, it is told that, once.
    pub fn agon_expired(&mut self, now: Now, issue: u32) -> Option<Reply> {
        let line = self.line_of(issue)?;
        let session = of(self, line)?;
        // While it was gone it could not say anything.
        if session.heard > 0 {
            session.heard = now.ms.max(1);
        }
        core::mem::take(&mut session.is_expired).then_some(Reply::Refused(Trouble::ReconnectExpired))
    }

    /// Writes an answer to the agent with this registration; so many people look on.
    pub fn write_agon_reply(&self, reply: Reply, issue: u32, humans: u16, sink: &mut dyn Sink) -> Result<(), Full> {
        match reply {
            Reply::Nothing => Err(Full),
            Reply::Welcome => json::write(&Welcome { event: "welcome", rooms: self.agon_rooms(humans) }, sink),
            Reply::RoomState(game) => {
                let (_, arena) = room_of(game).ok_or(Full)?;
                let state = RoomState {
                    event: "room_state",
                    room: arena.slug,
                    tables: Seq(|| self.agon_tables(game)),
                    agents_present: self.agents_in(game),
                    humans_present: humans,
                };
                json::write(&state, sink)
            }
            Reply::LeftRoom(room) => {
                let room = room.and_then(room_of).map(|(_, arena)| arena.slug);
                json::write(&LeftRoom { event: "left_room", room }, sink)
            }
            Reply::Seated(game, at) => {
                let (_, arena) = room_of(game).ok_or(Full)?;
                let prompt_title = Shown(Title(at == Some(BLITZ_TABLE), arena.title));
                let seated = Seated { event: "seated", table_id: TableId(at), prompt_title, prompt_body: None };
                json::write(&seated, sink)
            }
            Reply::Refused(trouble) => {
                let lists = matches!(trouble, Trouble::IllegalMove(_, true));
                let legal = self.line_of(issue).filter(|_| lists).map(|line| (self, line));
                json::write(&Error::new(trouble, legal), sink)
            }
        }
    }

    /// The rooms there are, with who is in them.
    pub(super) fn agon_rooms(&self, humans: u16) -> impl Serialize {
        Seq(move || {
            rooms().map(move |(_, game, arena)| Room {
                room: arena.slug,
                agents_present: self.agents_in(game),
                humans_present: humans,
                tables_open: self.waiting_rooms(game).filter(|open| open.taken < 2).count().saturating_add(2),
            })
        })
    }

    /// How many of its agents are in a room.
    fn agents_in(&self, game: GameKind) -> usize {
        let is_in = |line: &u16| {
            let player = self.player(*line);
            player.is_some_and(|player| !player.is_away() && matches!(player.session, AnySession::Agon(_)))
                && self.agon_room(*line) == Some(game)
        };
        self.lines().filter(is_in).count()
    }

    /// The rooms of two that wait for players of a game.
    fn waiting_rooms(&self, game: GameKind) -> impl Iterator<Item = OpenRoom> {
        self.open_rooms().filter(move |open| open.game == game && open.room.seats == 2)
    }

    /// The tables of a room: the one that is always open, those that wait, those that are played at, and those that were.
    fn agon_tables(&self, game: GameKind) -> impl Iterator<Item = TableState<'_, TableId, Shown<Title<'_>>>> {
        let place = room_of(game).map_or(0, |(place, _)| place);
        let title = room_of(game).map_or("", |(_, arena)| arena.title);
        let state = move |id: Option<MatchId>, status, [seat_1, seat_2]: [_; 2]| {
            let table = id.and_then(|id| self.table(id));
            let is_blitz = id == Some(BLITZ_TABLE) || table.is_some_and(|table| table.is_blitz);
            let title = Title(is_blitz, table.and_then(|table| self.prompt(table)).unwrap_or(title));
            TableState { id: TableId(id), status, seat_1, seat_2, prompt_title: Shown(title), prompt_body: None }
        };
        let sitting = move |line: Option<&u16>| self.sitting(*line?, place);
        let open = [(None, None), (Some(BLITZ_TABLE), Some(venue::BLITZ))].into_iter().map(move |(id, room)| {
            let first = self.waiting(game, room).next();
            state(id, "waiting", [sitting(first.as_ref()), None])
        });
        let waiting = self.waiting_rooms(game).map(move |open| {
            let lines = self.roommates(game, open.room);
            let id = MatchId::of_game(open.room.number);
            state(Some(id), "waiting", [sitting(lines.first()), sitting(lines.get(1))])
        });
        let others = self.tables_of(game).map(move |id| {
            let lines = self.seated_at(id);
            let at = |seat: usize| lines.get(seat).and_then(|(_, line)| self.sitting(*line, place));
            let status = if self.table(id).is_some() { "in_match" } else { "finished" };
            state(Some(id), status, [at(0), at(1)])
        });
        open.chain(waiting).chain(others)
    }

    /// What the match at a table is about, where it is about something.
    fn prompt(&self, table: &Table) -> Option<&str> {
        let (game, &line) = (table.play.game(), table.players().first()?);
        let own = Some(self.notes_of(line).0).filter(|own| game.has_own_topic() && !own.is_empty());
        own.or(game.topic())
    }

    fn sitting(&self, line: u16, place: usize) -> Option<Sitting<'_>> {
        let player = self.player(line)?;
        Some(Sitting { id: self.agent_id(player), name: &player.name, kind: "agent", elo: elo_of(self, line, place) })
    }

    /// The match of an agent, as it is now.
    pub fn agon_picture(&self, now: Now, issue: u32) -> Option<Picture> {
        picture(self, now, self.line_of(issue)?)
    }

    /// An agent has been told a word about its match.
    pub fn agon_is_told(&mut self, now: Now, issue: u32, word: Word) {
        let Some(line) = self.line_of(issue) else { return };
        let Some(seating) = self.player(line).and_then(|player| player.seating) else { return };
        let is_last = picture(self, now, line).is_some_and(|picture| picture.ends_with(word));
        let Some(table) = self.table_at_mut(seating.slot) else { return };
        match word {
            Word::Start => table.greeted = table.greeted.with(seating.seat),
            _ if is_last && table.is_over() => {
                self.stand_up(now, line, seating.slot);
                self.advance(now);
            }
            _ => {}
        }
    }

    /// Writes a word about a match, but for `reconnect_state`, which is written in parts.
    pub fn write_agon_word(&self, word: Word, picture: &Picture, sink: &mut dyn Sink) -> Result<(), Full> {
        let (table, seat) = (self.table_at(picture.slot).ok_or(Full)?, picture.seat);
        let line = *table.players().get(usize::from(seat)).ok_or(Full)?;
        let (match_id, play) = (self.room_id(table.id).uuid(), &table.play);
        let (game, arena) = (play.game(), arena_of(play.game()).ok_or(Full)?);
        let (place, first) = (place_of(game), first(game));
        let prompt_title = Shown(Title(table.is_blitz, self.prompt(table).unwrap_or(arena.title)));
        let lines = [0, 1].map(|seat: usize| table.players().get(seat).copied().unwrap_or(u16::MAX));
        let ended = || {
            let seconds = play.elapsed(picture.at.ms) / 1_000;
            let outcome = play.outcome().filter(|_| table.life != Life::CalledOff);
            Ended { outcome, game, lines, key: key(table), seconds }
        };
        let vote_left = || play.vote_left(picture.at.ms).unwrap_or(0).div_ceil(1_000);
        let notice = |event, grace_seconds| Notice { event, match_id, grace_seconds };
        match word {
            Word::Seated => {
                let table_id = TableId(Some(table.id));
                json::write(&Seated { event: "seated", table_id, prompt_title, prompt_body: None }, sink)
            }
            Word::Countdown => {
                let seconds = table.starts_in(picture.at.ms).unwrap_or(0).div_ceil(1_000);
                json::write(&Countdown { event: "match_countdown", match_id, seconds }, sink)
            }
            Word::Start => {
                let other = *table.players().get(usize::from(seat ^ 1)).ok_or(Full)?;
                let policy = self.policy_of(line);
                let start = MatchStart {
                    event: "match_start",
                    match_id,
                    opponent: self.agon_opponent(other, place).ok_or(Full)?,
                    prompt_title,
                    prompt_body: game.talk().filter(|_| self.prompt(table).is_some()).map(|_| match seat == first {
                        true => "You are for the motion, and speak first.",
                        false => "You are against the motion, and speak second.",
                    }),
                    you_go_first: seat == first,
                    config: Config {
                        turn_time_limit_seconds: policy.turn_ms / 1_000,
                        max_message_chars: arena.chars,
                        consecutive_timeouts_forfeit: arena.forfeit_after(),
                    },
                    your_elo: elo_of(self, line, place),
                    h2h_summary: self.head_to_head([line, other], place),
                };
                json::write(&start, sink)
            }
            Word::Timer => {
                let seconds_remaining = play.left(seat, picture.at.ms).unwrap_or(0).div_ceil(1_000);
                json::write(&TurnTimer { event: "turn_timer", match_id, seconds_remaining }, sink)
            }
            Word::Message => {
                let message = OpponentMessage {
                    event: "opponent_message",
                    match_id,
                    content: match game.speech() > SAID {
                        true => self.last_speech(table).map(Content::Speech),
                        false => Some(Content::Move(game, sender(game.turn(), first))),
                    },
                    message_number: game.turn().saturating_sub(1),
                    truncated: game.talk().is_some_and(|talk| talk.is_cut),
                    server_timestamp: u64::from(picture.at.utc.0).saturating_mul(1_000),
                };
                json::write(&Joined(message, Sketch(game)), sink)
            }
            Word::Leaving => {
                let other = *table.players().get(usize::from(seat ^ 1)).ok_or(Full)?;
                let shot = Some(self.notes_of(other).1).filter(|shot| !shot.is_empty());
                let voting_in_seconds = (table.life == Life::Voting).then_some(0);
                let event = "opponent_leaving";
                json::write(&Leaving { event, match_id, parting_shot: shot, voting_in_seconds }, sink)
            }
            Word::Voting => {
                let (event, duration_seconds) = ("voting_open", vote_left());
                json::write(&VotingOpen { event, match_id, duration_seconds, participants: None::<()> }, sink)
            }
            Word::Gone => json::write(&notice("opponent_disconnected", Some(super::GRACE_SECONDS)), sink),
            Word::Back => json::write(&notice("opponent_reconnected", None), sink),
            Word::End => {
                let ended = ended();
                let end = MatchEnd {
                    event: "match_end",
                    match_id,
                    result: self.agon_result(&ended),
                    your_role: if seat == first { "participant_1" } else { "participant_2" },
                    your_score: ended.score(seat),
                    opponent_score: ended.score(seat ^ 1),
                };
                json::write(&end, sink)
            }
            Word::Elo => {
                let session = seen(self, line).ok_or(Full)?;
                let (new_rating, _) = *session.elo.get(place).ok_or(Full)?;
                let change = session.gain.elo;
                json::write(&EloUpdate { event: "elo_update", room: arena.slug, new_rating, change }, sink)
            }
            Word::Points => {
                let gain = seen(self, line).ok_or(Full)?.gain;
                let reason = match gain.halves {
                    2 => "win",
                    1 => "draw",
                    _ => "loss",
                };
                json::write(&PointsUpdate { event: "points_update", points_earned: gain.points, reason }, sink)
            }
            Word::Stock => self.write_stock(picture, sink),
            Word::Trade(number) => self.write_trade(picture, number, sink),
            Word::Wager => self.write_wager(picture, None, sink),
            Word::WagerSettled | Word::WagerResult => {
                self.write_wager(picture, Some((&ended(), word == Word::WagerResult)), sink)
            }
            Word::Reconnect => Err(Full),
        }
    }

    /// Writes all of `reconnect_state` but its `recent_messages`.
    pub fn write_agon_reconnect(&self, picture: &Picture, sink: &mut dyn Sink) -> Result<(), Full> {
        let (table, seat) = (self.table_at(picture.slot).ok_or(Full)?, picture.seat);
        let other = *table.players().get(usize::from(seat ^ 1)).ok_or(Full)?;
        let play = &table.play;
        let head = Reconnect {
            event: "reconnect_state",
            match_id: self.room_id(table.id).uuid(),
            status: "active",
            your_turn: play.hears(seat),
            turn_timer_remaining: [seat, seat ^ 1]
                .into_iter()
                .find_map(|seat| play.left(seat, picture.at.ms))
                .unwrap_or(0)
                .div_ceil(1_000),
            total_messages: messages(play.game(), None),
            opponent: self.agon_opponent(other, place_of(play.game())).ok_or(Full)?,
            spectator_count: table.spectators,
            match_duration_seconds: play.elapsed(picture.at.ms) / 1_000,
        };
        json::write(&head, sink)
    }

    /// Writes one of the messages, as the film has it.
    pub fn write_agon_message(
        &self,
        picture: &Picture,
        number: u16,
        seat: Option<Seat>,
        made: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let table = self.table_at(picture.slot).ok_or(Full)?;
        let line = seat.and_then(|seat| table.players().get(usize::from(seat)).copied());
        let player = line.and_then(|line| self.player(line));
        // What was said at length follows in parts.
        let is_speech = table.play.game().speech() > SAID;
        let made = json::parse(made.as_bytes()).ok().filter(|_| !is_speech);
        let message = MatchMessage {
            participant_id: player.map(|player| self.agent_id(player)),
            participant_name: player.map_or("", |player| &player.name),
            content: made.and_then(content),
            message_number: number,
        };
        json::write(&message, sink)
    }

    /// Whether a move on film says something, where that is a speech, of which the parts follow.
    pub fn agon_talk(&self, picture: &Picture, made: &str) -> Option<bool> {
        let table = self.table_at(picture.slot).filter(|table| table.play.game().speech() > SAID)?;
        let made = json::parse(made.as_bytes()).ok().and_then(|made| table.play.game().said(0, made));
        Some(made.is_some_and(|text| !text.is_empty()))
    }

    /// The match that a picture is of, and how many turns there were.
    pub fn agon_match(&self, picture: &Picture) -> Option<(MatchId, u16)> {
        self.table_at(picture.slot).map(|table| (table.id, table.play.game().turn().saturating_sub(1)))
    }

    /// The last speech at a table, while it is kept for those who have not heard it; `None` where only the film has it.
    fn last_speech(&self, table: &Table) -> Option<&str> {
        let game = table.play.game();
        let line = table.players().get(usize::from(sender(game.turn(), first(game))))?;
        Some(self.speech_of(*line)).filter(|speech| !speech.is_empty())
    }

    /// Whether the message that is to be told has to be read from the film.
    pub fn agon_needs_film(&self, picture: &Picture) -> bool {
        let table = self.table_at(picture.slot);
        table.is_some_and(|table| table.play.game().speech() > SAID && self.last_speech(table).is_none())
    }

    fn agon_opponent(&self, line: u16, place: usize) -> Option<Opponent<'_>> {
        let player = self.player(line)?;
        Some(Opponent {
            id: self.agent_id(player),
            kind: "agent",
            name: &player.name,
            framework: Some(player.session.about()).filter(|about| !about.is_empty()),
            elo: elo_of(self, line, place),
            connected: !player.is_away(),
        })
    }

    /// How often two have met in a room, of what the box still knows.
    fn head_to_head(&self, lines: [u16; 2], place: usize) -> Option<HeadToHead> {
        let who = lines.map(|line| self.player(line).map_or(0, |player| player.issue));
        let [wins, losses, draws] = self.desks().agon.between(who, place)?;
        Some(HeadToHead { wins, losses, draws })
    }

    /// How a match ended.
    pub(super) fn agon_result(&self, ended: &Ended<'_>) -> impl Serialize {
        let lines = ended.lines;
        let id = move |line: u16| self.player(line).map(|player| self.agent_id(player));
        let winner = ended.outcome.and_then(|outcome| outcome.winners.alone());
        let at = |seat: Option<Seat>| lines.get(usize::from(seat?)).copied();
        let gains = move |of: u32| {
            lines.into_iter().filter_map(move |line| {
                let gain = seen(self, line)?.gain;
                (gain.of == of).then_some((id(line)?, gain))
            })
        };
        let (key, game) = (ended.key, ended.game);
        let (first, has_audience) = (first(game), game.has_audience());
        let votes = move || {
            let of_seat = move |seat: Seat| u32::try_from(game.score(seat)).unwrap_or(0);
            [first, first ^ 1].into_iter().filter(move |_| has_audience).map(move |seat| (seat, of_seat(seat)))
        };
        let voted_for = move |seat: Seat| lines.get(usize::from(seat)).and_then(|&line| id(line));
        MatchResult {
            winner_id: at(winner).and_then(id),
            winner_type: winner.map(|_| "agent"),
            loser_id: at(winner.map(|winner| winner ^ 1)).and_then(id),
            end_reason: ended.reason(),
            participant_1_score: ended.score(first),
            participant_2_score: ended.score(first ^ 1),
            vote_count: Map(move || votes().filter_map(move |(seat, votes)| Some((Shown(voted_for(seat)?), votes)))),
            total_votes: votes().map(|(_, votes)| votes).fold(0, u32::saturating_add),
            elo_changes: Map(move || gains(key).map(|(id, gain)| (Shown(id), gain.elo))),
            points_awarded: Map(move || gains(key).map(|(id, gain)| (Shown(id), gain.points))),
            duration_seconds: ended.seconds,
            total_messages: messages(ended.game, None),
        }
    }
}

/// What a table is about, or is for.
struct Title<'a>(bool, &'a str);

impl fmt::Display for Title<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Title(is_blitz, title) = *self;
        f.write_str(if is_blitz { "Blitz. " } else { "" })?;
        f.write_str(title)
    }
}

/// A match that is over.
pub(super) struct Ended<'a> {
    /// `None` where it was called off.
    pub outcome: Option<Outcome>,
    pub game: &'a AnyGame,
    pub lines: [u16; 2],
    /// By which its players know what it brought them.
    pub key: u32,
    pub seconds: u32,
}

impl Ended<'_> {
    /// The line of who has won it alone.
    pub(super) fn winner(&self) -> Option<u16> {
        let seat = self.outcome?.winners.alone()?;
        self.lines.get(usize::from(seat)).copied()
    }

    fn reason(&self) -> &'static str {
        let (Some(outcome), Some(arena)) = (self.outcome, arena_of(self.game)) else { return "called_off" };
        match outcome.cause {
            Cause::Played | Cause::TimeUp => {
                let word = self.game.ended_by().filter(|word| arena.endings.contains(word));
                word.unwrap_or(arena.ended)
            }
            Cause::Resigned => "leave",
            Cause::Disconnected => "disconnect",
            Cause::BothFailed => "both_disconnect",
            Cause::Timeout | Cause::Invalid | Cause::Refused => "forfeit",
            Cause::Adjudicated | Cause::Reported => "adjudicated",
        }
    }

    pub(super) fn score(&self, seat: Seat) -> Score {
        let Some(outcome) = self.outcome else { return Score::Halves(0) };
        match arena_of(self.game) {
            Some(arena) if arena.counts => Score::Points(self.game.score(seat)),
            _ if outcome.winners.is_empty() => Score::Halves(1),
            _ if !outcome.winners.has(seat) => Score::Halves(0),
            _ if outcome.winners.len() == 1 => Score::Halves(2),
            _ => Score::Halves(1),
        }
    }
}

/// Who goes first in it.
pub(super) fn first(game: &AnyGame) -> Seat {
    game.talk().map_or(0, |talk| talk.first)
}

/// The room of a game.
fn arena_of(game: &AnyGame) -> Option<&'static Arena> {
    GameKind::named(game.rules().name).and_then(room_of).map(|(_, arena)| arena)
}

/// Its place among all rooms.
fn place_of(game: &AnyGame) -> usize {
    GameKind::named(game.rules().name).and_then(room_of).map_or(0, |(place, _)| place)
}

/// A table by its name.
#[derive(Clone, Copy)]
struct TableId(Option<MatchId>);

impl Serialize for TableId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_str(OPEN),
            Some(BLITZ_TABLE) => serializer.serialize_str(BLITZ),
            Some(id) => serializer.collect_str(&id),
        }
    }
}
