//! What an agent hears follows from the game alone, not from a queue of news: a connection remembers in a [`Cursor`] what
//! was said on it, and what is said next is what its [`Picture`] of the game shows beyond that. So whoever comes back hears
//! how things stand, whoever reads slowly skips what is past, and a spectator is nothing but an agent without a seat. A
//! picture is a copy: what is being written stays as it was while the game goes on.

use super::Uuid;
use crate::games::{AnyGame, Game, Rules, Seat, Seats};
use crate::protocols::{self, put_question};
use crate::referee::{Phase, Policy};
use crate::time::Now;
use crate::venue::{Table, Timing, Venue};

/// What is said to one agent. Each of its connections knows how far it has come: the session itself has nothing to remember.
pub struct Session;

impl protocols::Session for Session {
    fn name(&self) -> &'static str {
        "league_of_agents"
    }

    fn policy(&self, timing: &Timing, _rules: &Rules) -> Policy {
        super::policy(timing)
    }
}

impl protocols::Protocol for Session {
    type Desk = ();

    fn restored(dialect: u8, _about: &str) -> Option<Self> {
        (dialect == 0).then_some(Session)
    }

    fn pump(venue: &mut Venue<'_>, now: Now, index: u16) {
        put_question(venue, now, index);
        venue.list(index);
    }

    fn who_has(venue: &Venue<'_>, credential: &str) -> Option<u16> {
        venue.line_of(venue.agent_of_key(credential.chars())?)
    }
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
    pub(super) game: AnyGame,
    /// At which table. Everything else about that stays as it is while anybody is to be told of it.
    pub(super) slot: u16,
    /// Whose picture it is; a spectator has no seat.
    pub(super) seat: Option<Seat>,
    pub(super) thinking: Seats,
    /// Whether its owner owes a move.
    pub(super) owes: bool,
    /// Whether its owner knows that it is seated.
    pub(super) is_matched: bool,
    pub(super) is_over: bool,
    pub(super) spectators: u8,
    pub(super) seconds: u32,
    pub(super) key: u32,
}

/// What has been told of a game on a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// Which game, by the beginning of its id; nothing yet where it is 0.
    game: u32,
    /// Turns up to this one.
    turn: u16,
    /// The effect of the turn before this one.
    effect: u16,
    /// That it is the agent's move in this one.
    asked: u16,
    /// So many acts, by all and by the agent itself.
    acts: (u16, u16),
    /// Who was still thinking.
    thinking: Seats,
    /// How it stands.
    state: bool,
    /// That it is over.
    over: bool,
}

impl Cursor {
    /// What is to be said next, if anything. It counts as said.
    pub fn next(&mut self, picture: &Picture) -> Option<Word> {
        let turn = picture.game.turn();
        if self.game != picture.key {
            *self = Cursor { game: picture.key, turn, ..Cursor::default() };
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
        // Whoever acts changes how it stands, and not whose turn it is. Who acted itself is asked again.
        let (acts, own) = (picture.game.acts(), picture.seat.map_or(0, |seat| picture.game.acts_of(seat)));
        let (before, own_before) = core::mem::replace(&mut self.acts, (acts, own));
        if own != own_before {
            self.asked = 0;
        }
        if !self.state || acts != before || (picture.is_over && !self.over) && self.thinking != Seats::NONE {
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

/// The game at a table as it is now.
pub(super) fn picture(now: Now, slot: u16, table: &Table, seat: Option<Seat>) -> Picture {
    let play = &table.play;
    let is_joining = play.phase() == Phase::WaitingForPlayers;
    Picture {
        game: play.game().clone(),
        slot,
        seat,
        thinking: if is_joining { play.game().to_move() } else { play.thinking() },
        owes: !is_joining && seat.is_some_and(|seat| play.hears(seat)),
        is_matched: seat.is_some_and(|seat| table.greeted.has(seat)),
        is_over: table.is_over(),
        spectators: table.spectators,
        seconds: table.play.elapsed(now.ms) / 1000,
        key: key(Uuid::new(table.tag)),
    }
}

/// A game by the beginning of its id. Never 0.
pub(super) fn key(id: Uuid) -> u32 {
    let [a, b, c, d, ..] = id.bytes();
    u32::from_be_bytes([a, b, c, d]).max(1)
}
