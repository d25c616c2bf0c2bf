//! Two players, a topic, ten speeches each by turns; then the audience votes, and who has more votes wins. What `regular_debate` and
//! `spicy_debate` have in common: they differ in their [topics](Room) alone.
//!
//! A speech is no part of the state: whoever runs the match keeps what was [said](Game::said) and lends the last of it again, and
//! the film has all of it. So a debate of 160 KB takes a few bytes here. To say nothing is a turn like any other. Who speaks
//! first is drawn from the seed, and is for the motion; the other one is against it.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;
#[cfg(test)]
mod tests;

use core::fmt;
use core::marker::PhantomData;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{
    Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Talk, Viewer, Word,
};
use crate::fair::{Draws, Seed};
use crate::json::{Map, Str, Value};

/// Speeches a side.
const EACH: u8 = 10;
const ALL: u8 = 2 * EACH;
/// The most characters of a speech, as Unicode counts them. What is longer is cut.
pub(super) const SPEECH: usize = 2_000;
/// What the film shows of a speech beside the whole of it, in bytes: short enough to be a move, whatever must be escaped.
const EXCERPT: usize = 20;
/// As many as there are bits for in a digest.
pub(super) const TOPICS: usize = 12;

const NO_TEXT: Illegal = Illegal("text is missing: a move is {\"text\": \"what you say\"}");

/// What sets one debate apart from another.
pub trait Room {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What is debated, unless the teacher has said.
    const TOPICS: [&'static str; TOPICS];
}

/// Where a debate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Talk,
    Vote,
    Over,
}

/// One debate.
pub struct Debate<R> {
    votes: [u16; 2],
    /// How often each has said nothing.
    silent: [u8; 2],
    /// Speeches so far.
    spoken: u8,
    first: Seat,
    topic: u8,
    /// Whether it is about what the teacher has said, and not about one of the list.
    is_own: bool,
    stage: Stage,
    /// Whether the last speech was cut.
    is_cut: bool,
    /// Whether nothing was said last.
    is_silent: bool,
    forfeited: Seats,
    /// Who wanted to say no more.
    left: Seats,
    room: PhantomData<R>,
}

// By hand: deriving would ask it of the room, which is never there.
impl<R> Clone for Debate<R> {
    fn clone(&self) -> Self {
        Self { room: PhantomData, ..*self }
    }
}

impl<R> fmt::Debug for Debate<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { votes, silent, spoken, first, topic, is_own, stage, is_cut, is_silent, forfeited, left, .. } = self;
        let state = (votes, silent, spoken, first, topic, is_own, stage, (is_cut, is_silent, forfeited, left));
        f.debug_tuple("Debate").field(&state).finish()
    }
}

/// A speech as it is sent.
#[derive(Serialize)]
pub(super) struct Says<T> {
    text: T,
    /// On film: how many bytes the whole of it has, where this is its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    truncated: bool,
}

impl<T> Says<T> {
    /// One that is not cut.
    pub fn new(text: T) -> Self {
        Self { text, bytes: None, truncated: false }
    }
}

/// The text of a move.
pub(super) fn read(wanted: Value<'_>) -> Option<Str<'_>> {
    wanted.as_str().or_else(|| wanted.get("text")?.as_str())
}

/// Whether it is longer than a speech may be, or was: on film a move that was cut says so of itself.
pub(super) fn is_cut(wanted: Value<'_>, text: Str<'_>) -> bool {
    text.chars().nth(SPEECH).is_some() || wanted.get("truncated").and_then(Value::as_bool) == Some(true)
}

/// Writes a speech as the film has it: its beginning, and how long the whole of it is.
pub(super) fn record<S: Serializer>(wanted: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(text) = read(wanted) else { return serializer.serialize_none() };
    let truncated = is_cut(wanted, text);
    let bytes = text.chars().take(SPEECH).map(char::len_utf8).sum();
    let beginning = text.truncated::<EXCERPT>();
    let bytes = Some(bytes).filter(|&bytes| bytes > beginning.len());
    Says { text: &*beginning, bytes, truncated }.serialize(serializer)
}

impl<R: Room> Debate<R> {
    pub(super) const SIZE: usize = 16;

    pub(super) const RULES: Rules = Rules {
        name: R::NAME,
        seats: 2..=2,
        question: Question::Move,
        order: Order::InTurn,
        board: false,
        turns: ALL as u16,
        remembers: 0,
        columns: "votes_a,votes_b",
    };

    #[expect(clippy::cast_possible_truncation, reason = "a topic of twelve, a seat of two")]
    pub(super) fn start(_seats: u8, draws: &mut Draws) -> Self {
        let (topic, first) = (draws.below(TOPICS as u32) as u8, draws.below(2) as Seat);
        Self {
            votes: [0; 2],
            silent: [0; 2],
            spoken: 0,
            first,
            topic,
            is_own: false,
            stage: Stage::Talk,
            is_cut: false,
            is_silent: false,
            forfeited: Seats::NONE,
            left: Seats::NONE,
            room: PhantomData,
        }
    }

    /// Knows who said how much and the votes.
    pub(super) fn recall(seed: Seed, digest: u64) -> Self {
        let [spoken, silent, marks, forfeited, a, b, c, d] = digest.to_le_bytes();
        Self {
            votes: [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])],
            silent: [silent & 15, silent >> 4],
            spoken: spoken.min(ALL),
            is_own: marks & 1 != 0,
            is_cut: marks & 2 != 0,
            is_silent: marks & 4 != 0,
            left: Seats::of_bits(marks >> 3 & 3).unwrap_or_default(),
            stage: Stage::Over,
            forfeited: Seats::of_bits(forfeited & 3).unwrap_or_default(),
            ..Self::start(2, &mut Draws::new(seed))
        }
    }

    /// Who speaks next, or would.
    fn speaker(&self) -> Seat {
        if self.spoken.is_multiple_of(2) { self.first } else { other(self.first) }
    }

    /// Who spoke last.
    fn last(&self) -> Option<Seat> {
        (self.spoken > 0).then(|| other(self.speaker()))
    }
}

fn other(seat: Seat) -> Seat {
    u8::from(seat == 0)
}

impl<R: Room> Game for Debate<R> {
    fn rules(&self) -> &'static Rules {
        const { &Self::RULES }
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        if self.stage == Stage::Talk { Seats::only(self.speaker()) } else { Seats::NONE }
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        let text = read(wanted).ok_or(NO_TEXT)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        (self.is_cut, self.is_silent) = (is_cut(wanted, text), text.is_empty());
        if self.is_silent
            && let Some(silent) = self.silent.get_mut(usize::from(seat))
        {
            *silent = silent.saturating_add(1);
        }
        self.spoken = self.spoken.saturating_add(1);
        if self.spoken >= ALL {
            self.stage = Stage::Vote;
        }
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        (self.stage, self.forfeited) = (Stage::Over, losers);
    }

    /// What can be said cannot be listed; that one may say nothing can.
    fn legal_moves<S: MoveSink>(&self, seat: Seat, sink: &mut S) {
        if self.to_move().has(seat) {
            let _ = sink.legal_move(&Says::new(""));
        }
    }

    fn turn(&self) -> u16 {
        u16::from(self.spoken).saturating_add(1)
    }

    fn score(&self, seat: Seat) -> i32 {
        self.votes(seat).into()
    }

    fn speech(&self) -> usize {
        SPEECH
    }

    fn talk(&self) -> Option<Talk> {
        let Self { first, is_cut, is_silent, silent, left, .. } = *self;
        Some(Talk { first, is_cut, is_silent, silent, left })
    }

    /// Only who leaves it ends it before its time.
    fn ended_by(&self) -> Option<&'static str> {
        (self.stage == Stage::Over && !self.left.is_empty()).then_some("leave")
    }

    fn has_audience(&self) -> bool {
        true
    }

    fn is_voting(&self) -> bool {
        self.stage == Stage::Vote
    }

    fn votes(&self, seat: Seat) -> u16 {
        self.votes.get(usize::from(seat)).copied().unwrap_or(0)
    }

    fn topic(&self) -> Option<&'static str> {
        R::TOPICS.get(usize::from(self.topic)).copied().filter(|_| !self.is_own)
    }

    fn has_own_topic(&self) -> bool {
        self.is_own
    }

    fn tell(&mut self, word: Word) {
        match word {
            Word::OwnTopic => self.is_own = true,
            Word::VoteOpens(digest) if self.stage == Stage::Talk => {
                self.stage = Stage::Vote;
                self.spoken = digest.map_or(self.spoken, |digest| digest.to_le_bytes()[0]).min(ALL);
            }
            Word::Votes([a, b, ..]) if self.stage == Stage::Vote => self.votes = [a, b],
            Word::VoteCloses if self.stage == Stage::Vote => self.stage = Stage::Over,
            Word::Leaves(seat) if self.stage == Stage::Talk => self.left = self.left.with(seat),
            Word::VoteOpens(_) | Word::Votes(_) | Word::VoteCloses | Word::Leaves(_) => {}
        }
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        #[derive(Serialize)]
        struct Last<'a> {
            player: &'a str,
            text: Option<&'a str>,
            truncated: bool,
        }
        let side = |seat| if seat == self.first { "for" } else { "against" };
        let speaker = (self.stage == Stage::Talk).then(|| table.id(self.speaker()));
        // One that is the teacher's is kept for the players; it is not known where nobody lends it.
        let own = Some(table.note(self.first)).filter(|own| self.is_own && !own.is_empty());
        out.serialize_entry("topic", &own.or(self.topic()))?;
        out.serialize_entry("sides", &Map(|| (0..2).map(|seat| (table.id(seat), side(seat)))))?;
        let stage = match self.stage {
            Stage::Talk => "talk",
            Stage::Vote => "vote",
            Stage::Over => "over",
        };
        out.serialize_entry("stage", stage)?;
        out.serialize_entry("to_speak", &speaker)?;
        out.serialize_entry("spoken", &self.spoken)?;
        out.serialize_entry("speeches", &ALL)?;
        let last = self.last().map(|seat| Last {
            player: table.id(seat),
            // What gave way to others' words is still on film.
            text: if self.is_silent { Some("") } else { Some(table.said(seat)).filter(|text| !text.is_empty()) },
            truncated: self.is_cut,
        });
        out.serialize_entry("last", &last)?;
        out.serialize_entry("votes", &Map(|| (0..2).map(|seat| (table.id(seat), self.votes(seat)))))
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last() == Some(seat) {
            true if self.is_silent => f.write_str("Said nothing"),
            true => write!(f, "Spoke, {} of {ALL}", self.spoken),
            false => Ok(()),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last() {
            Some(seat) if self.is_silent => write!(f, "{} said nothing", table.name(seat)),
            Some(seat) => write!(f, "{} has spoken", table.name(seat)),
            None => Ok(()),
        }
    }

    fn said<'a>(&self, _seat: Seat, wanted: Value<'a>) -> Option<Str<'a>> {
        read(wanted)
    }

    fn recorded<S: Serializer>(&self, _seat: Seat, wanted: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        record(wanted, serializer)
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("speeches", &self.spoken)?;
        out.serialize_entry(
            "total_votes",
            &self.votes.iter().fold(0, |all: u32, &votes| all.saturating_add(votes.into())),
        )?;
        out.serialize_entry("final_score", &Map(|| (0..2).map(|seat| (table.id(seat), self.votes(seat)))))
    }

    fn standing(&self) -> Option<Standing> {
        if self.stage != Stage::Over {
            return None;
        }
        let mut scores = [0; MAX_SEATS];
        scores.iter_mut().zip(0..2).for_each(|(score, seat)| *score = self.score(seat));
        Some(Standing::after_forfeit(2, scores, self.forfeited))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (self.votes(0), self.votes(1));
        match (self.forfeited.is_empty(), a, b) {
            (false, ..) => write!(f, "{} of {ALL} speeches were made", self.spoken),
            (true, 0, 0) => f.write_str("nobody voted"),
            (true, a, b) => write!(f, "{} has {a} of the votes, {} {b}", table.name(0), table.name(1)),
        }
    }

    /// The votes of each.
    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.votes(0), self.votes(1))
    }

    fn digest(&self) -> u64 {
        let [[a, b], [c, d]] = self.votes.map(u16::to_le_bytes);
        let [mine, other] = self.silent;
        let marks =
            u8::from(self.is_own) | u8::from(self.is_cut) << 1 | u8::from(self.is_silent) << 2 | self.left.bits() << 3;
        u64::from_le_bytes([self.spoken, mine & 15 | other << 4, marks, self.forfeited.bits(), a, b, c, d])
    }
}
