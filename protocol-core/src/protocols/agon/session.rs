//! What an agent hears of its match follows from the match alone: a connection remembers in a [`Cursor`] what was said on it, and
//! what is said next is what its [`Picture`] of the match shows beyond that. So whoever comes back hears how things stand, and
//! whoever reads slowly hears the same as the others, later.

use heapless::String;

use super::desk::Desk;
use super::wager::{self, Stands, Wager};
use super::{FRAMEWORK_BYTES, GRACE_SECONDS, ROOMS, SILENCE_MS, room_of, trade};
use crate::fair::Seed;
use crate::games::{AnyGame, Game, GameKind, Rules, Seat};
use crate::journal::bytes::{NoRoom, Reader, Writer};
use crate::protocols::{self, AnySession, DeskBytes, put_question};
use crate::referee::{Cause, Fault, Policy};
use crate::season::Rating;
use crate::time::{Millis, Now};
use crate::venue::{Life, Seating, Table, Timing, Venue};

/// Where everybody begins in every room.
const BEGINNER: u16 = 1_200;
/// So many games move a rating much, and those behind them half as much.
const NEWCOMER: u8 = 30;

/// What one agent has, wherever it plays.
pub struct Session {
    /// What it says it is made with.
    pub(super) framework: String<FRAMEWORK_BYTES>,
    /// The room it is in.
    pub(super) room: Option<GameKind>,
    /// Its Elo in each room, and after how many games.
    pub(super) elo: [(u16, u8); ROOMS],
    /// Its Arena Points.
    pub(super) points: u32,
    /// What its last match brought it.
    pub(super) gain: Gain,
    /// When it last said something, while it plays; 0 while it does not, or is not there.
    pub(super) heard: Millis,
    /// The second of its last message, and how many came in it.
    pub(super) burst: (u16, u8),
    /// The second after its last reaction.
    pub(super) reacted: u16,
    /// The wager that it proposed last.
    pub(super) wager: Wager,
    /// Illegal moves in a row.
    pub(super) strikes: u8,
    /// Whether its last match ended because it was gone, and it has not been told.
    pub(super) is_expired: bool,
}

/// What a match has brought an agent.
#[derive(Clone, Copy, Default)]
pub(super) struct Gain {
    /// Which match, by its key; 0 where there was none.
    pub of: u32,
    pub elo: i16,
    pub points: u16,
    /// 2 for who has won, 1 for a draw.
    pub halves: u8,
}

impl Session {
    pub(super) fn new(framework: String<FRAMEWORK_BYTES>) -> Self {
        Self {
            framework,
            room: None,
            elo: [(BEGINNER, 0); ROOMS],
            points: 0,
            gain: Gain::default(),
            heard: 0,
            burst: (0, 0),
            reacted: 0,
            wager: Wager::default(),
            strikes: 0,
            is_expired: false,
        }
    }

    /// A match in the room of this place is over: against somebody with such an Elo, after so many messages of its own.
    fn rate(&mut self, of: u32, place: usize, against: u16, halves: u8, messages: u16) {
        let Some((elo, games)) = self.elo.get_mut(place) else { return };
        let change = elo_change(*elo, against, *games, halves);
        *elo = elo.saturating_add_signed(change);
        *games = games.saturating_add(1);
        let base = match halves {
            2 => 50,
            1 => 25,
            _ => 10,
        };
        let points = (messages.saturating_mul(5).min(100) / 2).saturating_add(base);
        self.points = self.points.saturating_add(points.into());
        self.gain = Gain { of, elo: change, points, halves };
    }
}

/// How much an Elo changes by a match.
fn elo_change(elo: u16, against: u16, games: u8, halves: u8) -> i16 {
    let ahead = (f32::from(against) - f32::from(elo)) / 400.0;
    let expected = 1.0 / (1.0 + libm::exp10f(ahead));
    let k = if games < NEWCOMER { 32.0 } else { 16.0 };
    #[expect(clippy::cast_possible_truncation, reason = "at most 32 either way")]
    let change = libm::roundf(k * (f32::from(halves) / 2.0 - expected)) as i16;
    change
}

impl protocols::Session for Session {
    fn name(&self) -> &'static str {
        "agon"
    }

    fn policy(&self, timing: &Timing, rules: &Rules) -> Policy {
        super::policy(timing, rules)
    }

    fn draws_lots(&self) -> bool {
        true
    }

    fn votes(&self) -> bool {
        true
    }

    fn about(&self) -> &str {
        &self.framework
    }

    /// Elo and games in each room, and Arena Points, once there are any.
    fn keep(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        if self.points == 0 && self.elo.iter().all(|(_, games)| *games == 0) {
            return Ok(());
        }
        out.u32(self.points)?;
        self.elo.iter().try_for_each(|(elo, games)| {
            out.u16(*elo)?;
            out.u8(*games)
        })
    }

    fn recall(&mut self, bytes: &[u8]) {
        let from = &mut Reader::new(bytes);
        self.points = from.u32().unwrap_or(0);
        for place in &mut self.elo {
            // There may be more rooms than there were.
            let (Ok(elo), Ok(games)) = (from.u16(), from.u8()) else { return };
            *place = (elo, games);
        }
    }

    fn deadline(&self) -> Option<Millis> {
        (self.heard > 0).then(|| self.heard.saturating_add(SILENCE_MS))
    }
}

impl protocols::Protocol for Session {
    type Desk = Desk;

    fn restored(dialect: u8, about: &str) -> Option<Self> {
        String::try_from(about).ok().filter(|_| dialect == 0).map(Session::new)
    }

    fn pump(venue: &mut Venue<'_>, now: Now, index: u16) {
        put_question(venue, now, index);
        let is_playing = venue.table_of(index).is_some_and(|table| table.life == Life::Playing);
        let Some(player) = venue.player_mut(index) else { return };
        let counts = is_playing && !player.is_away();
        if let AnySession::Agon(session) = &mut player.session {
            session.heard = match counts {
                true if session.heard == 0 => now.ms.max(1),
                true => session.heard,
                false => 0,
            };
        }
        venue.list(index);
    }

    /// It has been silent for too long.
    fn expire(venue: &mut Venue<'_>, now: Now, index: u16) {
        let is_away = venue.player(index).is_some_and(|player| player.is_away());
        let Some(session) = of(venue, index) else { return };
        if session.heard == 0 || now.ms < session.heard.saturating_add(SILENCE_MS) {
            return;
        }
        session.heard = 0;
        if is_away {
            // It has its grace.
            return;
        }
        venue.give_up(now, index, Fault::Silent, "");
    }

    fn is_over(venue: &mut Venue<'_>, index: u16, slot: u16) {
        settle(venue, slot);
        let Some(table) = venue.table_at(slot) else { return };
        let outcome = table.play.outcome();
        let was_gone = outcome.is_some_and(|outcome| matches!(outcome.cause, Cause::Disconnected | Cause::BothFailed));
        let seat = table.seat_of(index);
        let is_expired = was_gone && seat.zip(outcome).is_some_and(|(seat, outcome)| outcome.forfeits.has(seat));
        let Some(session) = of(venue, index) else { return };
        (session.heard, session.strikes, session.is_expired) = (0, 0, is_expired);
    }

    fn who_has(venue: &Venue<'_>, credential: &str) -> Option<u16> {
        venue.agon_agent_of_key(credential)
    }

    fn kept(venue: &Venue<'_>, place: usize) -> Option<DeskBytes> {
        venue.desks().agon.kept(place)
    }

    fn kept_of(venue: &Venue<'_>, game: GameKind, who: [u32; 2]) -> Option<DeskBytes> {
        venue.desks().agon.kept_of(who, room_of(game)?.0)
    }

    fn restore_kept(venue: &mut Venue<'_>, bytes: &[u8]) {
        venue.desks_mut().agon.restore(bytes);
    }
}

/// The session of an agent of this protocol.
pub(super) fn of<'a>(venue: &'a mut Venue<'_>, index: u16) -> Option<&'a mut Session> {
    match &mut venue.player_mut(index)?.session {
        AnySession::Agon(session) => Some(session),
        _ => None,
    }
}

/// The same, to be read.
pub(super) fn seen<'a>(venue: &'a Venue<'_>, index: u16) -> Option<&'a Session> {
    match &venue.player(index)?.session {
        AnySession::Agon(session) => Some(session),
        _ => None,
    }
}

/// What others count a player as in the room of a place. Who speaks another protocol has the rating of the box, as far above
/// or below the beginner's as that is.
pub(super) fn elo_of(venue: &Venue<'_>, index: u16, place: usize) -> u16 {
    let own = seen(venue, index).and_then(|session| session.elo.get(place)).map(|(elo, _)| *elo);
    own.unwrap_or_else(|| {
        let rating = venue.player(index).map_or(0, |player| player.rating.points());
        rating.saturating_add(BEGINNER).saturating_sub(Rating::NEW.points())
    })
}

/// Counts a match for those of its players that speak this protocol, once.
fn settle(venue: &mut Venue<'_>, slot: u16) {
    // One that was called off counts for nobody.
    let Some(table) = venue.table_at(slot).filter(|table| table.life != Life::CalledOff) else { return };
    let (Some(outcome), &[first, second]) = (table.play.outcome(), table.players()) else { return };
    let game = GameKind::named(table.play.game().rules().name);
    let Some((place, _)) = game.and_then(room_of) else { return };
    let (of_match, game) = (key(table), table.play.game());
    let own = [0, 1].map(|seat| messages(game, Some(seat)));
    let lines = [first, second];
    if lines.iter().any(|&line| seen(venue, line).is_some_and(|session| session.gain.of == of_match)) {
        return;
    }
    let elos = lines.map(|line| elo_of(venue, line, place));
    for ((seat, line), (against, own)) in (0..).zip(lines).zip(elos.into_iter().rev().zip(own)) {
        let halves = match outcome.winners {
            winners if winners.is_empty() => 1,
            winners if !winners.has(seat) => 0,
            winners if winners.len() == 1 => 2,
            _ => 1,
        };
        if let Some(session) = of(venue, line) {
            session.rate(of_match, place, against, halves, own);
        }
        if seat == 0 {
            let who = lines.map(|line| venue.player(line).map_or(0, |player| player.issue));
            venue.desks_mut().agon.met(who, place, halves);
        }
    }
    let winner = outcome.winners.alone().and_then(|seat| lines.get(usize::from(seat)).copied());
    wager::settle(venue, slot, winner);
}

/// A match by the beginning of its tag. Never 0.
pub(super) fn key(table: &Table) -> u32 {
    let [a, b, c, d, ..] = table.tag;
    u32::from_be_bytes([a, b, c, d]).max(1)
}

/// The same by the commitment to its seed, with which its tag begins.
pub(super) fn key_of(commitment: Seed) -> u32 {
    let [a, b, c, d, ..] = commitment.0;
    u32::from_be_bytes([a, b, c, d]).max(1)
}

/// What is said of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// `seated`
    Seated,
    /// `match_countdown`
    Countdown,
    /// `match_start`
    Start,
    /// `reconnect_state`, which is streamed: its head, its messages, its end.
    Reconnect,
    /// `turn_timer`
    Timer,
    /// `opponent_message`
    Message,
    /// `opponent_leaving`
    Leaving,
    /// `voting_open`
    Voting,
    /// `opponent_disconnected`
    Gone,
    /// `opponent_reconnected`
    Back,
    /// `match_end`
    End,
    /// `elo_update`
    Elo,
    /// `points_update`
    Points,
    /// `trade_state_update`
    Stock,
    /// `trade_proposed`, `trade_executed` or `trade_rejected`: the act of this number.
    Trade(u16),
    /// A `wager_…` with what it has come to.
    Wager,
    /// `wager_settled`
    WagerSettled,
    /// `wager_result`
    WagerResult,
}

/// A match as it is at a moment, for one who plays it.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    pub(super) at: Now,
    pub(super) slot: u16,
    pub(super) seat: Seat,
    key: u32,
    /// One more than there were messages.
    turn: u16,
    /// Who goes first.
    first: Seat,
    /// Whether nothing was said in the last turn.
    is_silent: bool,
    is_voting: bool,
    is_countdown: bool,
    /// Whether the agent has been told that it has begun.
    is_known: bool,
    /// When it was asked for the move that it owes.
    asked: Option<u32>,
    has_left: bool,
    is_gone: bool,
    is_over: bool,
    /// Whether it counts.
    counts: bool,
    /// What its wager has come to.
    wager: wager::Told,
    /// How many acts there were, and from which on they are known; nothing where nobody trades.
    acts: Option<(u16, u16)>,
}

impl Picture {
    /// Whether nothing is told behind this word.
    pub(super) fn ends_with(&self, word: Word) -> bool {
        word == match (self.counts, self.wager.1) {
            (true, Stands::Settled) => Word::WagerResult,
            (true, _) => Word::Points,
            (false, _) => Word::End,
        }
    }

    /// Whether somebody is gone, and it matters for how long.
    pub fn is_waiting(&self, venue: &Venue<'_>) -> bool {
        let table = venue.table_at(self.slot);
        !self.is_over && table.is_some_and(|table| table.play.grace_left(self.seat ^ 1, self.at.ms).is_some())
    }
}

/// The match of the agent on a line, as it is now.
pub(super) fn picture(venue: &Venue<'_>, now: Now, line: u16) -> Option<Picture> {
    let Seating { slot, seat } = venue.player(line)?.seating?;
    let table = venue.table_at(slot)?;
    let (play, key) = (&table.play, key(table));
    let is_playing = table.life == Life::Playing;
    let asked = play.asked_at(seat).filter(|_| is_playing && play.hears(seat));
    let outcome = play.outcome().filter(|_| table.is_over());
    let left = play.grace_left(seat ^ 1, now.ms).filter(|_| is_playing);
    let talk = play.game().talk().unwrap_or_default();
    let has_resigned = outcome.is_some_and(|outcome| outcome.cause == Cause::Resigned && outcome.winners.has(seat));
    Some(Picture {
        at: now,
        slot,
        seat,
        key,
        turn: play.game().turn(),
        first: talk.first,
        is_silent: talk.is_silent,
        is_voting: table.life == Life::Voting,
        is_countdown: table.life == Life::Countdown,
        is_known: table.greeted.has(seat),
        asked: asked.map(|at| u32::try_from(at.saturating_sub(play.began())).unwrap_or(u32::MAX)),
        has_left: has_resigned || talk.left.has(seat ^ 1),
        is_gone: left.is_some_and(|left| left <= GRACE_SECONDS.saturating_mul(1_000)),
        is_over: table.is_over(),
        counts: seen(venue, line).is_some_and(|session| session.gain.of == key),
        wager: wager::told(venue, table),
        acts: trade::acts(play.game()),
    })
}

/// What has been told of a match on a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// Which match; nothing yet where it is 0.
    of: u32,
    /// Messages up to the one before this turn.
    turn: u16,
    /// The question of the turn, by when it was put.
    asked: Option<u32>,
    /// That it is seated, also for the match to come.
    is_seated: bool,
    is_counted_down: bool,
    is_begun: bool,
    is_voting: bool,
    has_left: bool,
    is_gone: bool,
    /// What its wager had come to.
    wager: wager::Told,
    /// What it holds and wants, where there are trades,
    is_stocked: bool,
    /// and these up to this one.
    acts: u16,
    /// How much of its end: the match, the Elo, the points, the wager.
    end: u8,
}

impl Cursor {
    /// The agent has been told that it sits, and waits for a match.
    pub fn has_sat_down(&mut self) {
        *self = Cursor { is_seated: true, ..Cursor::default() };
    }

    /// The agent sits nowhere any more.
    pub fn has_stood_up(&mut self) {
        self.is_seated = false;
    }

    /// What is to be said next, if anything. It counts as said.
    pub fn next(&mut self, picture: &Picture) -> Option<Word> {
        if self.of != picture.key {
            let is_seated = self.is_seated && self.of == 0;
            *self = Cursor { of: picture.key, turn: 1, is_seated, ..Cursor::default() };
            if picture.is_known {
                *self = Cursor { turn: picture.turn, is_seated: true, is_counted_down: true, is_begun: true, ..*self };
                // Of trades, only the one that is open.
                self.acts = picture.acts.map_or(0, |(acts, _)| acts & !1);
                if !picture.is_over {
                    return Some(Word::Reconnect);
                }
            }
        }
        if !core::mem::replace(&mut self.is_seated, true) {
            return Some(Word::Seated);
        }
        if !core::mem::replace(&mut self.is_counted_down, true) && picture.is_countdown {
            return Some(Word::Countdown);
        }
        if picture.is_countdown {
            return None;
        }
        if !core::mem::replace(&mut self.is_begun, true) {
            return Some(Word::Start);
        }
        if picture.acts.is_some() && !core::mem::replace(&mut self.is_stocked, true) {
            return Some(Word::Stock);
        }
        if let Some((acts, first)) = picture.acts.filter(|(acts, _)| *acts > self.acts) {
            self.acts = self.acts.saturating_add(1).clamp(first, acts);
            return Some(Word::Trade(self.acts));
        }
        if core::mem::replace(&mut self.turn, picture.turn) != picture.turn {
            // Another question, be it put in the same millisecond.
            self.asked = None;
            if sender(picture.turn, picture.first) != picture.seat && !picture.is_silent {
                return Some(Word::Message);
            }
        }
        if core::mem::replace(&mut self.has_left, picture.has_left) != picture.has_left {
            return Some(Word::Leaving);
        }
        if picture.is_voting && !core::mem::replace(&mut self.is_voting, true) {
            return Some(Word::Voting);
        }
        if self.wager != picture.wager && picture.wager.1 != Stands::Settled {
            self.wager = picture.wager;
            return Some(Word::Wager);
        }
        if picture.is_over {
            let is_settled = picture.counts && picture.wager.1 == Stands::Settled;
            let word = match self.end {
                0 => Word::End,
                1 if picture.counts => Word::Elo,
                2 if picture.counts => Word::Points,
                3 if is_settled => Word::WagerSettled,
                4 if is_settled => Word::WagerResult,
                _ => return None,
            };
            self.end = self.end.saturating_add(1);
            return Some(word);
        }
        if core::mem::replace(&mut self.is_gone, picture.is_gone) != picture.is_gone {
            // The clock runs on, with what was left.
            self.asked = None;
            return Some(if picture.is_gone { Word::Gone } else { Word::Back });
        }
        if picture.asked.is_some() && !picture.is_gone && self.asked != picture.asked {
            self.asked = picture.asked;
            return Some(Word::Timer);
        }
        None
    }
}

/// Who sent the last message before a turn, by who goes first.
pub(super) fn sender(turn: u16, first: Seat) -> Seat {
    first ^ u8::from(turn % 2 == 1)
}

/// How many messages there were in a game, of one of its seats or of both.
pub(super) fn messages(game: &AnyGame, of: Option<Seat>) -> u16 {
    let (made, talk) = (game.turn().saturating_sub(1), game.talk().unwrap_or_default());
    let own = |seat: Seat| {
        let turns = made.saturating_add(u16::from(seat == talk.first)) / 2;
        turns.saturating_sub(talk.silent.get(usize::from(seat)).copied().unwrap_or(0).into())
    };
    of.map_or_else(|| own(0).saturating_add(own(1)), own)
}
