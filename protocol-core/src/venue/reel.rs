//! The reel: every step of every match, in order and with its time, so that a match can be looked at again
//! step by step after it is over ([`Replay`]). A step is a move, written as the game tells it, or the end of the match with
//! those it went against; what the seed decides is not kept, because it can be drawn again.
//!
//! The venue holds steps only until whoever keeps the reel takes them ([`Venue::take_steps`]). Nothing ever waits for that:
//! where they are not taken in time steps are lost, their numbers tell so, and the match can be replayed up to there.
//!
//! ```text
//! step   match:u32  number:u16  at_ms:u32  what:u8  length:u8  move…                        12 bytes and the move
//! what   0x80 and the seats it went against, or the seat that moved and, times 8, how often the position has come by it
//! ```
//!
//! How often a position has come is on film because a replay has no room for those there were.
//!
//! `match` is the beginning of the commitment to the match's seed: another one in every league and for every attempt.

use serde::{Serialize, Serializer};

pub use crate::referee::MOVE_BYTES;

use super::{Table, Venue};
use crate::fair::{Draws, Seed};
use crate::games::{AnyGame, Game, GameKind, Illegal, Seat, Seats};
use crate::ids::MatchId;
use crate::journal::bytes::{Garbled, NoRoom, Reader, Writer};
use crate::json::{self, Slice, Value};
use crate::referee::Cause;
use crate::season::Record;
use crate::time::Now;

/// So much is worth taking before a match ends. Whoever gives way then loses nothing: the longest move still fits, and its end.
const RIPE: usize = 224;
/// What a step takes beside its move.
const HEAD: usize = 12;
/// Said of a step that is an end; below it, of which seat the move is, and how often its position has come.
pub(super) const END: u8 = 0x80;

/// Said of a move that has brought a position about for the so-many-th time.
pub(super) fn moved(seat: Seat, came: u8) -> u8 {
    seat & 7 | came.min(15) << 3
}

/// By which the steps of a match are known: the beginning of the commitment to its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReelId(u32);

impl ReelId {
    /// Of the match with this seed.
    pub fn of(seed: Seed) -> Self {
        let [a, b, c, d, ..] = seed.commitment().0;
        Self(u32::from_le_bytes([a, b, c, d]))
    }
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed<'a> {
    /// A seat made a move: as JSON. The position it brought about has come so many times; 0 where that does not matter.
    Moved(Seat, &'a str, u8),
    /// The match ended. Where the game did not end by its own rules, against these seats.
    Ended(Seats),
}

/// One step of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// Of which match.
    pub of: ReelId,
    /// From 1.
    pub number: u16,
    /// Milliseconds since the match began.
    pub at_ms: u32,
    /// What it is.
    pub deed: Deed<'a>,
}

impl<'a> Step<'a> {
    /// The next step there is; `None` after the last.
    pub fn read(from: &mut Reader<'a>) -> Result<Option<Self>, Garbled> {
        if from.is_empty() {
            return Ok(None);
        }
        let (of, number, at_ms, what) = (ReelId(from.u32()?), from.u16()?, from.u32()?, from.u8()?);
        let text = from.text()?;
        let deed = match what {
            END.. => Deed::Ended(Seats::of_bits(what & !END).ok_or(Garbled)?),
            what => Deed::Moved(what & 7, text, what >> 3),
        };
        Ok(Some(Self { of, number, at_ms, deed }))
    }
}

/// The last move of a seat, as it would be sent.
pub struct LastMove<'a>(pub &'a AnyGame, pub Seat);

impl Serialize for LastMove<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.last_move(self.1, serializer)
    }
}

/// The move a seat has just made, as it is recorded.
struct Recorded<'a>(&'a AnyGame, Seat, Value<'a>);

impl Serialize for Recorded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.recorded(self.1, self.2, serializer)
    }
}

/// Steps that wait to be taken, one behind the other. How many can, its owner says: where flash is slow and matches are many,
/// more should.
pub(super) struct Reel<B: ?Sized = [u8]> {
    used: usize,
    /// Whether a match ended: then it is worth taking what there is.
    has_end: bool,
    bytes: B,
}

impl<const N: usize> Reel<[u8; N]> {
    pub const fn new() -> Self {
        const { assert!(RIPE + HEAD + MOVE_BYTES + HEAD <= N, "there must be room for what is worth taking, and a move") };
        Self { used: 0, has_end: false, bytes: [0; N] }
    }
}

impl Reel {
    pub fn clear(&mut self) {
        (self.used, self.has_end) = (0, false);
    }

    /// Adds a step, and if it is a move, that of the seat `what` as its game has it recorded. Lost where there is no room.
    pub fn add(&mut self, of: ReelId, number: u16, at_ms: u32, what: u8, made: Option<(&AnyGame, Value<'_>)>) {
        let Some((head, room)) = self.bytes.get_mut(self.used..).and_then(|rest| rest.split_at_mut_checked(HEAD))
        else {
            return;
        };
        let mut text = Slice::new(room);
        if made.is_some_and(|(game, wanted)| json::write(&Recorded(game, what & 7, wanted), &mut text).is_err()) {
            return;
        }
        let Some(length) = u8::try_from(text.len()).ok().filter(|&length| usize::from(length) <= MOVE_BYTES) else {
            return;
        };
        let mut head = Writer::new(head);
        let mut write = || -> Result<(), NoRoom> {
            head.u32(of.0)?;
            head.u16(number)?;
            head.u32(at_ms)?;
            head.u8(what)?;
            head.u8(length)
        };
        if write().is_ok() {
            self.used = self.used.saturating_add(HEAD).saturating_add(length.into());
            self.has_end |= what >= END;
        }
    }

    pub fn is_ripe(&self) -> bool {
        self.has_end || self.used >= RIPE
    }

    /// Takes as many steps as fit, whole ones.
    pub fn take(&mut self, out: &mut Writer<'_>) {
        let waiting = self.bytes.get(..self.used).unwrap_or_default();
        let (mut from, mut taken) = (Reader::new(waiting), 0);
        while let Ok(Some(_)) = Step::read(&mut from) {
            let end = waiting.len().saturating_sub(from.left());
            if out.raw(waiting.get(taken..end).unwrap_or_default()).is_err() {
                break;
            }
            taken = end;
        }
        self.bytes.copy_within(taken..self.used, 0);
        self.used = self.used.saturating_sub(taken);
        self.has_end &= self.used > 0;
    }
}

impl Venue<'_> {
    /// Whether steps are worth taking: those of a match that is over, or many.
    pub fn has_steps(&self) -> bool {
        self.memory.reel.is_ripe()
    }

    /// Takes the next steps, as many as fit.
    pub fn take_steps(&mut self, out: &mut Writer<'_>) {
        self.memory.reel.take(out);
    }

    /// A match that is over, from its beginning. `None` for any other.
    pub fn replay_of(&self, id: MatchId) -> Option<Replay> {
        let (seed, seats) = (self.revealed_seed(id)?, u8::try_from(self.seated_at(id).len()).ok()?);
        Some(Replay::new(self.game_at(id), seats, seed))
    }
}

impl Table {
    /// By which its steps are known.
    pub(super) fn reel_id(&self) -> ReelId {
        let [a, b, c, d, ..] = self.tag;
        ReelId(u32::from_le_bytes([a, b, c, d]))
    }

    /// A seat has [`moved`], or with [`END`] the match has ended.
    pub(super) fn film(&mut self, reel: &mut Reel, now: Now, what: u8, made: Option<Value<'_>>) {
        self.steps = self.steps.saturating_add(1);
        let (of, at_ms) = (self.reel_id(), self.play.elapsed(now.ms));
        reel.add(of, self.steps, at_ms, what, made.map(|made| (self.play.game(), made)));
    }

    /// The match has ended as a record says.
    pub(super) fn film_end(&mut self, reel: &mut Reel, now: Now, record: &Record) {
        let (outcome, all) = (record.outcome(), Seats::first(self.play.game().seats()));
        let against = match outcome.cause {
            Cause::Adjudicated if outcome.forfeits.is_empty() => {
                all.without(outcome.winners.alone().map_or(Seats::NONE, Seats::only))
            }
            // Nobody has won it, so it went against all.
            Cause::TimeUp => all,
            _ => outcome.forfeits,
        };
        self.film(reel, now, END | against.bits(), None);
    }
}

/// A match, looked at again: the game as it stood after a step.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Which match.
    pub of: ReelId,
    /// The game as it stood.
    pub game: AnyGame,
    draws: Draws,
    /// After which step.
    pub shot: Shot,
}

/// Where in a match that is looked at again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shot {
    /// After this step; 0 before the first.
    pub step: u16,
    /// When that was, in milliseconds since the match began.
    pub at_ms: u32,
    /// Whose move it was.
    pub seat: Option<Seat>,
    /// Once the match has ended: whom it went against, where the game did not end by its own rules.
    pub ended: Option<Seats>,
}

/// A step that does not follow those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Astray;

impl Replay {
    /// A match at its beginning.
    pub fn new(kind: GameKind, seats: u8, seed: Seed) -> Self {
        let mut draws = Draws::new(seed);
        let game = AnyGame::start(kind, seats, &mut draws);
        Self { of: ReelId::of(seed), game, draws, shot: Shot::default() }
    }

    /// Goes on by a step of this match. On `Err` nothing has changed.
    pub fn follow(&mut self, step: &Step<'_>) -> Result<(), Astray> {
        if step.of != self.of || Some(step.number) != self.shot.step.checked_add(1) || self.shot.ended.is_some() {
            return Err(Astray);
        }
        let (seat, ended) = match step.deed {
            Deed::Moved(seat, text, came) => {
                let wanted = json::parse(text.as_bytes()).map_err(|_| Astray)?;
                let (mut game, mut draws) = (self.game.clone(), self.draws.clone());
                game.play(seat, wanted, &mut draws).map_err(|Illegal(_)| Astray)?;
                if came > 1 {
                    game.comes_again(came).map_err(|Illegal(_)| Astray)?;
                }
                (self.game, self.draws) = (game, draws);
                (Some(seat), None)
            }
            Deed::Ended(against) => {
                if !against.is_empty() {
                    self.game.forfeit(against, &mut self.draws);
                }
                (None, Some(against))
            }
        };
        self.shot = Shot { step: step.number, at_ms: step.at_ms, seat, ended };
        Ok(())
    }
}
