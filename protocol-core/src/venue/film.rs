//! The film: every step of every match, in order and with its time, so that a match can be looked at again
//! step by step after it is over ([`Replay`]). A step is a move, written as the game tells it, or the end of the match with
//! those it went against; what the seed decides is not kept, because it can be drawn again.
//!
//! The venue holds steps only until whoever keeps the film takes them ([`Venue::take_steps`]). Nothing ever waits for that:
//! where they are not taken in time steps are lost, their numbers tell so, and the match can be replayed up to there.
//!
//! ```text
//! step   match:u32  number:u16  at_ms:u32  what:u8  length:u8  move…                        12 bytes and the move
//! what   0x80 and the seats it went against; or the seat that moved, times 8 how often the position has come by it, and 0x40
//!        where the box made the move because the player was late; or 0xC0 and
//!        0 to 5  the seat: a part of what its move with this number said at length, as it is
//!        6       before the first move of such a game: what it is about, where the owner has said so
//!        7       the votes for each seat, in digits with commas between them, and in the seventh place who left, a bit each
//! ```
//!
//! How often a position has come is on film because a replay has no room for those there were.
//!
//! `match` is the beginning of the commitment to the match's seed: another one in every league and for every attempt.

use core::fmt::Write as _;

use heapless::String;
use serde::{Serialize, Serializer};

pub use crate::referee::MOVE_BYTES;

use super::notes::{Note, Notes};
use super::rounds::Life;
use super::speeches::part;
use super::{Table, Venue};
use crate::fair::{Draws, Seed};
use crate::games::{AnyGame, Game, GameKind, Illegal, MAX_SEATS, SAID, Seat, Seats, Word};
use crate::ids::MatchId;
use crate::journal::bytes::{Garbled, NoRoom, Reader, Writer};
use crate::json::{self, Full, Sink, Slice, Value};
use crate::referee::Cause;
use crate::season::Record;
use crate::time::Now;

/// So much is worth taking before a match ends. Whoever gives way then loses nothing: the longest move still fits, and its end.
const RIPE: usize = 224;
/// What a step takes beside its move.
const HEAD: usize = 12;
/// Said of a step that is an end; below it, of which seat the move is, and how often its position has come.
pub(super) const END: u8 = 0x80;
/// Said of a move that the box has made for a player who was late.
pub(super) const LATE: u8 = 0x40;

/// Said of what is neither a move nor an end: below it, of which seat it is a part of a speech,
const BESIDE: u8 = END | LATE;
/// or else that it is a topic,
pub(super) const TOPIC: u8 = BESIDE | 6;
/// or votes.
pub(super) const VOTES: u8 = BESIDE | 7;

/// Said of a move that has brought a position about for the so-many-th time.
pub(super) fn moved(seat: Seat, came: u8) -> u8 {
    seat & 7 | came.min(7) << 3
}

/// By which the steps of a match are known: the beginning of the commitment to its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilmId(u32);

impl FilmId {
    /// Of the match with this seed.
    pub fn of(seed: Seed) -> Self {
        let [a, b, c, d, ..] = seed.commitment().0;
        Self(u32::from_le_bytes([a, b, c, d]))
    }

    /// It as a number.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed<'a> {
    /// A seat made a move.
    Moved {
        /// Which one.
        seat: Seat,
        /// The move, as JSON.
        made: &'a str,
        /// How often the position has come that it brought about; 0 where that does not matter.
        came: u8,
        /// Whether the box made it, because the player was late.
        late: bool,
    },
    /// A part of what the last move said at length.
    Says(Seat, &'a str),
    /// What it is about; nothing where the seed decides that.
    About(&'a str),
    /// The votes for each seat, and who opened the vote by leaving.
    Voted([u16; MAX_SEATS], Seats),
    /// The match ended. Where the game did not end by its own rules, against these seats.
    Ended(Seats),
}

/// One step of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// Of which match.
    pub of: FilmId,
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
        let (of, number, at_ms, what) = (FilmId(from.u32()?), from.u16()?, from.u32()?, from.u8()?);
        let text = from.text()?;
        let deed = match what {
            TOPIC => Deed::About(text),
            VOTES => Deed::Voted(votes(text), left(text)),
            BESIDE.. => Deed::Says(what & 7, text),
            END.. => Deed::Ended(Seats::of_bits(what & !END).ok_or(Garbled)?),
            what => Deed::Moved { seat: what & 7, made: text, came: what >> 3 & 7, late: what & LATE != 0 },
        };
        Ok(Some(Self { of, number, at_ms, deed }))
    }
}

/// The votes a step tells of.
fn votes(text: &str) -> [u16; MAX_SEATS] {
    let mut votes = [0; MAX_SEATS];
    votes.iter_mut().zip(text.split(',')).for_each(|(votes, digits)| *votes = digits.parse().unwrap_or(0));
    votes
}

/// Who has left, as it says: behind as many votes as there can be.
fn left(text: &str) -> Seats {
    text.split(',').nth(MAX_SEATS).and_then(|bits| Seats::of_bits(bits.parse().ok()?)).unwrap_or_default()
}

/// Stands for a speech among steps that wait to be taken: whose it is, and from which byte on it is to be taken. A text like any
/// other, so seven bits to a byte.
struct Waiting {
    player: u16,
    from: u16,
}

impl Waiting {
    const BYTES: usize = 5;

    fn read(text: &str) -> Self {
        let number = |digits: &[u8]| digits.iter().fold(0, |n: u16, &digit| n << 7 | u16::from(digit & 0x7f));
        let (player, from) = text.as_bytes().split_at_checked(2).unwrap_or_default();
        Self { player: number(player), from: number(from) }
    }

    fn bytes(&self) -> [u8; Self::BYTES] {
        let digit =
            |n: u16, place: u32| n.checked_shr(7_u32.saturating_mul(place)).map_or(0, |n| n.to_le_bytes()[0] & 0x7f);
        let Self { player, from } = *self;
        [digit(player, 1), digit(player, 0), digit(from, 2), digit(from, 1), digit(from, 0)]
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
pub(super) struct Film<B: ?Sized = [u8]> {
    used: usize,
    /// Whether a match ended, or somebody looks at one: then it is worth taking what there is.
    has_end: bool,
    /// How many speeches wait.
    speeches: u8,
    bytes: B,
}

impl<const N: usize> Film<[u8; N]> {
    pub const fn new() -> Self {
        const { assert!(RIPE + HEAD + MOVE_BYTES + HEAD <= N, "there must be room for what is worth taking, and a move") };
        Self { used: 0, has_end: false, speeches: 0, bytes: [0; N] }
    }
}

impl Film {
    pub fn clear(&mut self) {
        (self.used, self.has_end, self.speeches) = (0, false, 0);
    }

    /// Adds a step, and if it is a move, that of the seat `what` as its game has it recorded. Lost where there is no room.
    pub fn add(&mut self, of: FilmId, number: u16, at_ms: u32, what: u8, made: Option<(&AnyGame, Value<'_>)>) {
        let is_added = self.push((of, number, at_ms), what, |text| match made {
            Some((game, wanted)) => json::write(&Recorded(game, what & 7, wanted), text),
            None => Ok(()),
        });
        self.has_end |= is_added && what >= END;
    }

    /// Adds a step that is a text. Lost where there is no room.
    pub fn add_text(&mut self, at: (FilmId, u16, u32), what: u8, text: &str) {
        self.push(at, what, |out| out.put(text.as_bytes()));
    }

    /// Adds all that a player has said at length, to be taken from the notes. Lost where there is no room.
    pub fn add_speech(&mut self, at: (FilmId, u16, u32), seat: Seat, player: u16) {
        let waiting = Waiting { player, from: 0 }.bytes();
        let is_added = self.push(at, BESIDE | seat & 7, |out| out.put(&waiting));
        self.speeches = self.speeches.saturating_add(is_added.into());
    }

    pub fn has_speeches(&self) -> bool {
        self.speeches > 0
    }

    fn push(
        &mut self,
        (of, number, at_ms): (FilmId, u16, u32),
        what: u8,
        write: impl FnOnce(&mut Slice<'_>) -> Result<(), Full>,
    ) -> bool {
        let Some((head, room)) = self.bytes.get_mut(self.used..).and_then(|rest| rest.split_at_mut_checked(HEAD))
        else {
            return false;
        };
        let mut text = Slice::new(room);
        if write(&mut text).is_err() {
            return false;
        }
        let Some(length) = u8::try_from(text.len()).ok().filter(|&length| usize::from(length) <= MOVE_BYTES) else {
            return false;
        };
        let is_written = write_head(&mut Writer::new(head), (of, number, at_ms), what, length).is_ok();
        if is_written {
            self.used = self.used.saturating_add(HEAD).saturating_add(length.into());
        }
        is_written
    }

    pub fn is_ripe(&self) -> bool {
        self.has_end || self.has_speeches() || self.used >= RIPE
    }

    /// Takes as many steps as fit, whole ones. What was said at length is in the notes.
    pub fn take(&mut self, notes: &Notes, out: &mut Writer<'_>) {
        let (waiting, _) = self.bytes.split_at_mut_checked(self.used).unwrap_or_default();
        let mut taken = 0_usize;
        loop {
            let rest = waiting.get(taken..).unwrap_or_default();
            let mut from = Reader::new(rest);
            let Ok(Some(step)) = Step::read(&mut from) else { break };
            let end = waiting.len().saturating_sub(from.left());
            if let Deed::Says(seat, text) = step.deed {
                let (at, mut speech) = ((step.of, step.number, step.at_ms), Waiting::read(text));
                let is_taken = speech.take((at, seat), notes.get(speech.player, Note::Speech), out);
                let place = waiting.get_mut(taken.saturating_add(HEAD)..end).unwrap_or_default();
                place.iter_mut().zip(speech.bytes()).for_each(|(to, from)| *to = from);
                if !is_taken {
                    break;
                }
                self.speeches = self.speeches.saturating_sub(1);
            } else if out.raw(waiting.get(taken..end).unwrap_or_default()).is_err() {
                break;
            }
            taken = end;
        }
        self.bytes.copy_within(taken..self.used, 0);
        self.used = self.used.saturating_sub(taken);
        self.has_end &= self.used > 0;
    }
}

fn write_head(
    out: &mut Writer<'_>,
    (of, number, at_ms): (FilmId, u16, u32),
    what: u8,
    length: u8,
) -> Result<(), NoRoom> {
    out.u32(of.0)?;
    out.u16(number)?;
    out.u32(at_ms)?;
    out.u8(what)?;
    out.u8(length)
}

impl Waiting {
    /// Writes as many parts of the speech as fit, from where it was left. False where there are more.
    fn take(&mut self, (at, seat): ((FilmId, u16, u32), Seat), text: &str, out: &mut Writer<'_>) -> bool {
        while let Some(part) = text.get(self.from.into()..).map(part).filter(|part| !part.is_empty()) {
            let Ok(length) = u8::try_from(part.len()) else { break };
            let written = out.all(|out| {
                write_head(out, at, BESIDE | seat & 7, length)?;
                out.raw(part.as_bytes())
            });
            if written.is_err() {
                return false;
            }
            self.from = self.from.saturating_add(length.into());
        }
        true
    }
}

impl Venue<'_> {
    /// Whether steps are worth taking: those of a match that is over, or many.
    pub fn has_steps(&self) -> bool {
        self.memory.film.is_ripe()
    }

    /// Somebody wants to see what was played: it is worth taking what there is.
    pub fn ripen_steps(&mut self) {
        self.memory.film.has_end |= self.memory.film.used > 0;
    }

    /// Takes the next steps, as many as fit.
    pub fn take_steps(&mut self, out: &mut Writer<'_>) {
        self.memory.film.take(self.memory.notes, out);
    }

    /// By which the steps of a match are known that is over, or hides nothing while it is played: one of speeches.
    pub fn open_film_of(&self, id: MatchId) -> Option<FilmId> {
        let open = self.table(id).filter(|table| table.play.game().speech() > SAID).map(Table::film_id);
        open.or_else(|| self.revealed_seed(id).map(FilmId::of))
    }

    /// A match that is over, from its beginning. `None` for any other.
    pub fn replay_of(&self, id: MatchId) -> Option<Replay> {
        let (seed, seats) = (self.revealed_seed(id)?, u8::try_from(self.seated_at(id).len()).ok()?);
        Some(Replay::new(self.game_at(id), seats, seed))
    }
}

impl Table {
    /// By which its steps are known.
    pub(super) fn film_id(&self) -> FilmId {
        let [a, b, c, d, ..] = self.tag;
        FilmId(u32::from_le_bytes([a, b, c, d]))
    }

    /// A seat has [`moved`], or with [`END`] the match has ended.
    pub(super) fn film(&mut self, film: &mut Film, now: Now, what: u8, made: Option<Value<'_>>) {
        self.steps = self.steps.saturating_add(1);
        let (of, at_ms) = (self.film_id(), self.play.elapsed(now.ms));
        film.add(of, self.steps, at_ms, what, made.map(|made| (self.play.game(), made)));
    }

    /// What it is about is known, before the first move: nothing where the seed decides it.
    pub(super) fn film_topic(&mut self, film: &mut Film, now: Now, topic: &str) {
        self.steps = self.steps.saturating_add(1);
        film.add_text((self.film_id(), self.steps, self.play.elapsed(now.ms)), TOPIC, topic);
    }

    /// The vote is over.
    fn film_votes(&mut self, film: &mut Film, now: Now) {
        let mut text = String::<{ 6 * MAX_SEATS }>::new();
        let game = self.play.game();
        let _ = (0..game.seats()).try_for_each(|seat| {
            let comma = if seat == 0 { "" } else { "," };
            write!(text, "{comma}{}", game.votes(seat))
        });
        if let Some(left) = game.talk().map(|talk| talk.left).filter(|left| !left.is_empty()) {
            let _ = (game.seats().into()..=MAX_SEATS).try_for_each(|_| text.push(','));
            let _ = write!(text, "{}", left.bits());
        }
        self.steps = self.steps.saturating_add(1);
        film.add_text((self.film_id(), self.steps, self.play.elapsed(now.ms)), VOTES, &text);
    }

    /// The match has ended as a record says.
    pub(super) fn film_end(&mut self, film: &mut Film, now: Now, record: &Record) {
        if self.life == Life::Voting {
            self.film_votes(film, now);
        }
        let (outcome, all) = (record.outcome(), Seats::first(self.play.game().seats()));
        let against = match outcome.cause {
            Cause::Adjudicated | Cause::Resigned if outcome.forfeits.is_empty() => {
                all.without(outcome.winners.alone().map_or(Seats::NONE, Seats::only))
            }
            // Nobody has won it, so it went against all.
            Cause::TimeUp => all,
            _ => outcome.forfeits,
        };
        self.film(film, now, END | against.bits(), None);
    }
}

impl Venue<'_> {
    /// What the film of a match is known by that is being played.
    pub fn running_film(&self, id: MatchId) -> Option<FilmId> {
        self.table(id).map(Table::film_id)
    }
}

/// A match, looked at again: the game as it stood after a step.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Which match.
    pub of: FilmId,
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
    /// Whether the box made it, because the player was late.
    pub late: bool,
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
        Self { of: FilmId::of(seed), game, draws, shot: Shot::default() }
    }

    /// Goes on by a step of this match. On `Err` nothing has changed.
    pub fn follow(&mut self, step: &Step<'_>) -> Result<(), Astray> {
        if let Deed::Says(..) = step.deed {
            // It belongs to the move before it, and is no part of the game.
            return if (step.of, step.number) == (self.of, self.shot.step) { Ok(()) } else { Err(Astray) };
        }
        if step.of != self.of || Some(step.number) != self.shot.step.checked_add(1) || self.shot.ended.is_some() {
            return Err(Astray);
        }
        let (seat, late, ended) = match step.deed {
            Deed::Moved { seat, made, came, late } => {
                let wanted = json::parse(made.as_bytes()).map_err(|_| Astray)?;
                let (mut game, mut draws) = (self.game.clone(), self.draws.clone());
                game.play(seat, wanted, &mut draws).map_err(|Illegal(_)| Astray)?;
                if came > 1 {
                    game.comes_again(came).map_err(|Illegal(_)| Astray)?;
                }
                (self.game, self.draws) = (game, draws);
                (Some(seat), late, None)
            }
            Deed::About(topic) => {
                if !topic.is_empty() {
                    self.game.tell(Word::OwnTopic);
                }
                (None, false, None)
            }
            Deed::Voted(votes, left) => {
                left.iter().for_each(|seat| self.game.tell(Word::Leaves(seat)));
                let words = [Word::VoteOpens(None), Word::Votes(votes), Word::VoteCloses];
                words.into_iter().for_each(|word| self.game.tell(word));
                (None, false, None)
            }
            // Above.
            Deed::Says(..) => return Err(Astray),
            Deed::Ended(against) => {
                if !against.is_empty() {
                    self.game.forfeit(against, &mut self.draws);
                }
                (None, false, Some(against))
            }
        };
        self.shot = Shot { step: step.number, at_ms: step.at_ms, seat, late, ended };
        Ok(())
    }
}
