//! The games. The rules of one know seats and moves; they know no names, no protocol and no time. All that belongs to one
//! game alone lies in its folder:
//!
//! ```text
//! mod.rs      the rules
//! tests.rs    what is special about them
//! manual.md   what agents are told of it, beside what the code itself says
//! house.rs    how the house plays it
//! draw.js     how the page draws it, and what it says of it
//! ```
//!
//! To add or replace one, write its folder, and one line in the [list](AnyGame) below. All else follows from its [`Rules`] and
//! its folder: leagues, protocols, results, films, manuals, the page and the demo.
//!
//! # How very different games fit the contract
//!
//! - **Hidden cards** (Landlord, Texas Hold'em): [`Game::view`] is asked per [`Viewer`], so a seat is shown its own hand
//!   and the table, a spectator what is open to all, and the owner's screen all there is. The deck is not stored: a shuffle is drawn from the [`Draws`] that
//!   come with [`AnyGame::start`] and every [`Game::play`].
//! - **A 100×100 map** (resource-rush): a view is *written*, member by member, into whatever the caller serializes
//!   to, so 25 KB of state pass through without ever being held. The terrain is a function of the seed; only what
//!   changed is state. What a game must keep counts against its match slot, and how many slots there are is the
//!   caller's constant, so a big game means fewer at once and not another contract.
//! - **Two to six players**: [`Seats`] is a set of up to six. [`Game::to_move`] says who owes a move now:
//!   one seat in a game of turns, several where moves are simultaneous; the game keeps early moves to itself until the
//!   last one is in. [`Game::standing`] places every seat, ties included.
//! - **Free text** (debates): a move is judged where it stands, as JSON in the receive buffer. No move type has to be sized for
//!   the longest [speech](Game::speech), and none is part of a game: the caller keeps what was said, and the film has it.
//! - **An audience** (debates): when all has been said nobody owes a move, and the game is not over before the box has
//!   [told](Game::tell) it the votes.
//! - **Trades** (Bazaar): an offer is made, accepted and rejected by whoever likes, when it likes. [`Game::may_act`] names seats that
//!   owe no move and may make one; [`Game::is_act`] tells such moves from those that end a turn, and [`Game::acts`] counts them. An
//!   act touches no turn and no clock, and is on film like any move.
//! - **Long histories**: what was played and said is on the film of the match, as [`Game::recorded`] writes it, and a game
//!   that is over keeps only what its result needs ([`Game::digest`]).
//! - **Repetition** (chess, superko in go): a game says what its [position](Game::position) is and nothing more; whoever runs the
//!   match remembers those there were, outside its slot, and [tells it](Game::comes_again) when one comes again.
//! - **A silent player**: the referee either ends the game with [`Game::forfeit`] or plays the first legal move for it.
//!   Which of the two is the protocol's policy; the game can do both.

mod chips;
mod debate;
mod duel;
#[cfg(any(test, feature = "house"))]
pub mod house;
mod parity;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(any(test, feature = "toys"))]
mod toys;
mod words;

use core::fmt;
use core::ops::{ControlFlow, RangeInclusive};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub use parity::Parity;
pub(crate) use trade_deal::Act;

use crate::fair::{Draws, Seed};
use crate::json::{self, Slice, Str, Value};

/// The most seats any game has.
pub const MAX_SEATS: usize = 6;

/// The most bytes the state of a game takes. The board has sixteen match slots, each with room for the largest game.
pub const ROOM: usize = 104;

/// The most characters a player says to everybody at once: the length League of Agents allows a thought.
pub const SAID: usize = 100;

/// A place at the table, from 0.
pub type Seat = u8;

/// A set of seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seats(u8);

impl Seats {
    /// No seat.
    pub const NONE: Seats = Seats(0);

    /// Every seat a game can have.
    const ALL: Seats = Seats((1 << MAX_SEATS) - 1);

    /// The first `n` seats.
    pub const fn first(n: u8) -> Seats {
        match 1_u8.checked_shl(n as u32) {
            Some(next) => Seats(next.saturating_sub(1) & Self::ALL.0),
            None => Self::ALL,
        }
    }

    /// Only this seat.
    pub fn only(seat: Seat) -> Seats {
        Seats::NONE.with(seat)
    }

    /// These seats and `seat`. A seat no game has is left out.
    pub fn with(self, seat: Seat) -> Seats {
        Seats(self.0 | if usize::from(seat) < MAX_SEATS { 1 << seat } else { 0 })
    }

    /// These seats without the `others`.
    pub fn without(self, others: Seats) -> Seats {
        Seats(self.0 & !others.0)
    }

    /// Whether `seat` is among them.
    pub fn has(self, seat: Seat) -> bool {
        usize::from(seat) < MAX_SEATS && self.0 >> seat & 1 == 1
    }

    /// A bit each, the lowest for seat 0.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The same again; `None` where there is a bit for a seat no game has.
    pub fn of_bits(bits: u8) -> Option<Seats> {
        Some(Seats(bits)).filter(|seats| seats.without(Seats::ALL).is_empty())
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The one seat there is, if there is only one.
    pub fn alone(self) -> Option<Seat> {
        self.iter().next().filter(|_| self.len() == 1)
    }

    /// Each of them, from the lowest.
    pub fn iter(self) -> impl Iterator<Item = Seat> {
        (0..).take(MAX_SEATS).filter(move |&seat| self.has(seat))
    }
}

/// What a game is, before it is played.
#[derive(Debug)]
pub struct Rules {
    /// Its name on the wire.
    pub name: &'static str,
    /// How many can play it.
    pub seats: RangeInclusive<u8>,
    /// How it asks for a move.
    pub question: Question,
    /// Who moves when.
    pub order: Order,
    /// Whether it has a [board](Game::board).
    pub board: bool,
    /// How many turns it lasts at most.
    pub turns: u16,
    /// How many bytes a player may have [kept](Game::note) between its moves.
    pub remembers: u16,
    /// The columns it adds to exported results, as [`Game::export`] fills them.
    pub columns: &'static str,
}

/// A set of games, a bit each by their place in [`GameKind::ALL`]. Journals keep them: new games come behind the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameSet(u32);

impl GameSet {
    /// Every game, those to come too.
    pub const ALL: GameSet = GameSet(u32::MAX);
    /// No game.
    pub const NONE: GameSet = GameSet(0);

    /// These and another one.
    pub fn with(self, game: GameKind) -> GameSet {
        GameSet(self.0 | Self::bit(game))
    }

    /// Whether a game is among them.
    pub fn has(self, game: GameKind) -> bool {
        self.0 & Self::bit(game) != 0
    }

    /// As a number.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The same again.
    pub fn of_bits(bits: u32) -> GameSet {
        GameSet(bits)
    }

    fn bit(game: GameKind) -> u32 {
        const { assert!(GameKind::ALL.len() <= 32, "a bit for each game") };
        1 << (game as u32)
    }
}

/// A game of more turns than this, in which all move together, goes by the ticks of a clock.
const TURNS: u16 = 200;

impl Rules {
    /// Whether its turns are ticks: too many to look at each of them.
    pub fn has_ticks(&self) -> bool {
        self.order == Order::Together && self.turns > TURNS
    }
}

/// How a game asks for a move. Protocols that have words of their own for a question use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// "Even or odd?" and nothing else.
    Parity,
    /// "Here is what you see: what is your move?"
    Move,
}

/// Who moves when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All, before anybody sees what the others did.
    Together,
    /// One after the other.
    InTurn,
}

/// Who looks at a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A player, who sees what its seat may see.
    Seat(Seat),
    /// Anybody else, who may be a player's friend: what is hidden from a player is shown to the public only when it can no
    /// longer matter, and all of it once the game is over.
    Spectator,
    /// Whoever the owner lets see all of it.
    Owner,
}

/// Why a move was refused: the rule, in words for the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal(pub &'static str);

/// How a finished game stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The game's own score of each seat.
    pub scores: [i32; MAX_SEATS],
    /// The place of each seat, from 1. Seats that are level share a place.
    pub places: [u8; MAX_SEATS],
}

impl Standing {
    /// Places seats by score, the highest first.
    pub fn by_score(seats: u8, scores: [i32; MAX_SEATS]) -> Self {
        let mut places = [0; MAX_SEATS];
        for (place, mine) in places.iter_mut().zip(scores).take(seats.into()) {
            let ahead = scores.iter().take(seats.into()).filter(|&&other| other > mine);
            *place = ahead.fold(1_u8, |place, _| place.saturating_add(1));
        }
        Self { scores, places }
    }

    /// Places the seats that stayed by score, and behind them the `losers`, who share the last place.
    pub fn after_forfeit(seats: u8, scores: [i32; MAX_SEATS], losers: Seats) -> Self {
        let stayed = |seat: Seat| !losers.has(seat);
        let mut places = [0; MAX_SEATS];
        for (seat, (place, mine)) in (0..seats).zip(places.iter_mut().zip(scores)) {
            let ahead = |(other, score): &(Seat, i32)| stayed(*other) && (!stayed(seat) || *score > mine);
            *place = (0..seats).zip(scores).filter(ahead).fold(1_u8, |place, _| place.saturating_add(1));
        }
        Self { scores, places }
    }

    /// The seats in first place.
    pub fn first(&self) -> Seats {
        (0..).zip(self.places).filter(|(_, place)| *place == 1).map(|(seat, _)| seat).fold(Seats::NONE, Seats::with)
    }

    /// The one seat in first place, if it is there alone.
    pub fn winner(&self) -> Option<Seat> {
        self.first().alone()
    }
}

/// Who sits in a seat.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sitter<'a> {
    /// What the protocol knows it by: a player id, an agentId. It keys what programs read.
    pub id: &'a str,
    /// What people call it. Empty where nobody does: then the id stands in.
    pub name: &'a str,
    /// What the caller keeps for the seat between its moves, as JSON; empty if nothing. See [`Game::note`].
    pub note: &'a str,
    /// What it said last, to everybody; empty if nothing. See [`Game::said`].
    pub said: &'a str,
}

/// Who sits at the table, by seat. Lent to a game for the moment in which it writes something.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a>(pub &'a [Sitter<'a>]);

impl<'a> Table<'a> {
    /// What programs call the player at `seat`.
    pub fn id(&self, seat: Seat) -> &'a str {
        self.sitter(seat).id
    }

    /// What people call it.
    pub fn name(&self, seat: Seat) -> &'a str {
        let Sitter { id, name, .. } = self.sitter(seat);
        if name.is_empty() { id } else { name }
    }

    /// What is kept for it, as JSON; empty if nothing.
    pub fn note(&self, seat: Seat) -> &'a str {
        self.sitter(seat).note
    }

    /// What it said last; empty if nothing.
    pub fn said(&self, seat: Seat) -> &'a str {
        self.sitter(seat).said
    }

    fn sitter(&self, seat: Seat) -> Sitter<'a> {
        self.0.get(usize::from(seat)).copied().unwrap_or_default()
    }
}

/// The most bytes a move takes as JSON. One that is longer is not listed, not made for a late player, who then loses, and not
/// filmed.
pub const MOVE_BYTES: usize = 168;

/// Takes legal moves one by one. They are never collected: a hand can have hundreds.
pub trait MoveSink {
    /// One legal move, as the JSON that would be sent. Break to hear no more.
    fn take(&mut self, legal: &str) -> ControlFlow<()>;
}

// For all sinks at once: with a copy of every game's list for each of them, lists would be the largest part of the program.
impl dyn MoveSink + '_ {
    /// One legal move, as it would be sent. Break to hear no more.
    pub fn legal_move<M: Serialize>(&mut self, legal: &M) -> ControlFlow<()> {
        let mut room = [0; MOVE_BYTES];
        let mut text = Slice::new(&mut room);
        let is_written = json::write(legal, &mut text).is_ok();
        debug_assert!(is_written, "no move takes more than MOVE_BYTES");
        match core::str::from_utf8(text.written()) {
            Ok(text) if is_written => self.take(text),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// A position, as it is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Another one for nearly every other position: 40 bits of it are kept, so of 250 positions two are taken for one
    /// another once in 35 million games.
    pub digest: u64,
    /// Whether none of those before can come again, because a stone was taken for good or a pawn moved: they are forgotten.
    pub is_new: bool,
}

/// A part of a match that is [written down](Game::write_down), in their order.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// What stands before the moves. The match is called so.
    Head(&'a str),
    /// A move, with its number from 1: the last one of the game as it is now.
    Move(u16),
    /// What stands behind the moves.
    End,
}

/// What a game is told beside its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It is about what the owner has said, lent as [`Sitter::note`] of all seats, and not about what its seed decides.
    OwnTopic,
    /// Nobody moves any more, and the audience decides. Where it was read from a journal, the game is as its
    /// [digest](Game::digest) was then.
    VoteOpens(Option<u64>),
    /// So many are for each seat.
    Votes([u16; MAX_SEATS]),
    /// It is over.
    VoteCloses,
    /// This seat wants to say no more, and so the vote is about to open.
    Leaves(Seat),
}

/// How a game of [speeches](Game::speech) goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Talk {
    /// Who speaks first.
    pub first: Seat,
    /// Whether the last speech was cut.
    pub is_cut: bool,
    /// Whether nothing was said last, in a turn all the same.
    pub is_silent: bool,
    /// How often that was so, by seat.
    pub silent: [u8; 2],
    /// Who wanted to say no more.
    pub left: Seats,
}

/// The contract between a referee and any game.
pub trait Game: Sized + Clone {
    /// What is being played.
    fn rules(&self) -> &'static Rules;

    /// How many seats are taken.
    fn seats(&self) -> u8;

    /// Who owes a move now. Nobody, once the game is over.
    fn to_move(&self) -> Seats;

    /// Who owes no move and may make one all the same: accept what it is offered, say check. Its clock does not run, and a
    /// game in which everybody waits for such an act would never end: somebody must owe a move until it is over.
    fn may_act(&self) -> Seats {
        Seats::NONE
    }

    /// Whether a move is an act: it answers no question. Who owes a move may make it as well, and still owes its move; its clock
    /// runs on. A game refuses acts once there were too many before the next move, so that nobody stalls or floods it.
    fn is_act(&self, _wanted: Value<'_>) -> bool {
        false
    }

    /// How many acts there were of a seat. Between two moves that is how anybody knows that the game has changed.
    fn acts_of(&self, _seat: Seat) -> u16 {
        0
    }

    /// How many there were of all.
    fn acts(&self) -> u16 {
        (0..self.seats()).fold(0, |acts, seat| acts.saturating_add(self.acts_of(seat)))
    }

    /// Judges a move and plays it. On `Err` nothing has changed. A seat that neither owes a move nor [may act](Self::may_act)
    /// is refused.
    fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal>;

    /// Ends the game: `losers` have given up or broken the rules. Draws what is still to be drawn, so that the result
    /// can be reported in full.
    fn forfeit(&mut self, losers: Seats, draws: &mut Draws);

    /// Lists the moves `seat` may make, the safest first. Lists none where they cannot be enumerated. Among them may be some
    /// that bring a position [back](Self::comes_again): whoever knows what was there leaves them out.
    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink);

    /// How the game stands now, in a game in which it matters whether a position comes twice: there always, in others never.
    fn position(&self) -> Option<Position> {
        None
    }

    /// The move that was just played has brought a [position](Self::position) about that had been there: now for the
    /// `times`-th time, from 2 on, and beyond 7 always 7. An error refuses the move, and the game is as it was before; else the
    /// game may be over now.
    fn comes_again(&mut self, _times: u8) -> Result<(), Illegal> {
        Ok(())
    }

    /// The number of the turn, from 1. One more than the turns that have been resolved.
    fn turn(&self) -> u16;

    /// The score of a seat as it is now.
    fn score(&self, seat: Seat) -> i32;

    /// Writes what `viewer` may see of the game: members in the game's own words. What they are wrapped in, the protocol
    /// says.
    fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error>;

    /// Writes the least by which a program that keeps no game itself knows how it stands, where everybody may see it: a FEN.
    fn sketch<M: SerializeMap>(&self, _out: &mut M) -> Result<(), M::Error> {
        Ok(())
    }

    /// Writes the board as `viewer` may see it, in one piece, for whoever looks at pictures rather than at members: rows of
    /// signs, or the floor and who stands on it. Only [where there is one](Rules::board).
    fn board<S: Serializer>(&self, _viewer: Viewer, _table: Table<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_none()
    }

    /// What a seat did in the turn that was resolved last, in words: "Played 7️⃣". Nothing before the
    /// first, and of a seat that had none to make.
    fn action(&self, seat: Seat, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// The turn that was resolved last, in words: "Round 1: AgentAlpha wins!". Nothing before the first.
    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Writes what the last move did beside the obvious, for whoever draws the game; false, and nothing, if it did not.
    fn effect<M: SerializeMap>(&self, _table: Table<'_>, _out: &mut M) -> Result<bool, M::Error> {
        Ok(false)
    }

    /// The part of a move that was accepted which the caller is to keep for the seat and lend again as its
    /// [`Sitter::note`]. A game that asks for none keeps none.
    fn note<'a>(&self, _seat: Seat, _wanted: Value<'a>) -> Option<Value<'a>> {
        None
    }

    /// What a move that was accepted says to everybody, as much of it as a [speech](Self::speech) may have. The caller keeps it for the seat
    /// until it says something else, and lends it again as its [`Sitter::said`]. When it is heard, the game knows.
    fn said<'a>(&self, _seat: Seat, _wanted: Value<'a>) -> Option<Str<'a>> {
        None
    }

    /// How many characters of what is [said](Self::said) are kept. More than [`SAID`] is a speech: what is longer is cut, it is heard at
    /// once, and all of it is on the film, behind the move.
    fn speech(&self) -> usize {
        SAID
    }

    /// How it goes, where it is one of speeches.
    fn talk(&self) -> Option<Talk> {
        None
    }

    /// Whether an audience may decide how it ends.
    fn has_audience(&self) -> bool {
        false
    }

    /// Whether nobody moves any more, and the audience decides how it ends.
    fn is_voting(&self) -> bool {
        false
    }

    /// So many of the audience are for a seat.
    fn votes(&self, _seat: Seat) -> u16 {
        0
    }

    /// Whether its vote is worth waiting for, be somebody there to vote or not. A vote that only breaks a tie is not, where there
    /// is none or nobody to break it.
    fn awaits_vote(&self, _is_watched: bool) -> bool {
        true
    }

    /// What it is about, where its seed decides that.
    fn topic(&self) -> Option<&'static str> {
        None
    }

    /// Whether it was told that it is about what the owner has said.
    fn has_own_topic(&self) -> bool {
        false
    }

    /// The box tells what is no move. What does not fit how the game stands changes nothing.
    fn tell(&mut self, _word: Word) {}

    /// Writes the move that `seat` has just made, as the film of the match keeps it: played again in its place it leads
    /// to the same game. So a game need not remember its moves. As it was sent, if the game does not know better: that only
    /// does where nothing long can come along with a move.
    fn recorded<S: Serializer>(&self, _seat: Seat, wanted: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        wanted.serialize(serializer)
    }

    /// Writes the last move of a seat as it would be sent; `null` if it has made none, or if the game does not remember
    /// moves: then only the film has them.
    fn last_move<S: Serializer>(&self, _seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_none()
    }

    /// Writes what is told of the finished game, beside who won.
    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error>;

    /// How it stands at the end; `None` while it runs.
    fn standing(&self) -> Option<Standing>;

    /// Why it ended as it did, in words.
    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// How it ended by its rules, in one word: "checkmate". Nothing where there is only one way.
    fn ended_by(&self) -> Option<&'static str> {
        None
    }

    /// Writes the cells of a finished game for exported results, with a comma between them.
    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// How people write down a match of this game: what the names of such files end in, `pgn`. `None` if nobody does.
    const NOTATION: Option<&'static str> = None;

    /// Writes a part of the match as people write it down. The game is as it was then, and for the head as it ended.
    fn write_down(&self, _part: Part<'_>, _table: Table<'_>, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    /// What is worth keeping of a finished game for as long as the league is remembered. A game recalled from it tells
    /// the same standing, reason, result and export, and the same last moves if it remembers any. Its board, and what was
    /// played or said in it, may be forgotten: the film has them.
    fn digest(&self) -> u64;
}

/// Declares the folder of a game; a toy's is inside another.
macro_rules! folder {
    ($(#[$when:meta])? $folder:ident) => {
        $(#[$when])?
        mod $folder;
    };
    ($(#[$when:meta])? $folder:ident of $parent:ident) => {
        $(#[$when])?
        use $parent::$folder;
    };
}

/// A file of the folder of a game.
macro_rules! beside {
    ($folder:ident $(of $parent:ident)?, $file:literal) => {
        include_str!(concat!($(stringify!($parent), "/",)? stringify!($folder), "/", $file))
    };
}

/// Declares the games, [`GameKind`] and [`AnyGame`]. A game may be there only for tests.
macro_rules! games {
    ($($(#[cfg($when:meta)])? $game:ident in $folder:ident $(of $parent:ident)?),+ $(,)?) => {
        $(folder! { $(#[cfg($when)])? $folder $(of $parent)? })+
        $($(#[cfg($when)])? pub(crate) use $folder::$game;)+

        /// Which game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GameKind { $($(#[cfg($when)])? #[doc = concat!("The one in `", stringify!($folder), "/`.")] $game),+ }

        impl GameKind {
            /// Every game there is.
            pub const ALL: &[GameKind] = &[$($(#[cfg($when)])? GameKind::$game),+];

            /// What it is.
            pub const fn rules(self) -> &'static Rules {
                match self { $($(#[cfg($when)])? GameKind::$game => &<$game>::RULES),+ }
            }

            /// What agents are told of it, beside what the code itself says: `firmware/manual` makes its page from that.
            pub const fn manual(self) -> &'static str {
                match self { $($(#[cfg($when)])? GameKind::$game => beside!($folder $(of $parent)?, "manual.md")),+ }
            }

            /// What the names of files end in to which people [write down](Game::write_down) its matches.
            pub const fn notation(self) -> Option<&'static str> {
                match self { $($(#[cfg($when)])? GameKind::$game => <$game as Game>::NOTATION),+ }
            }

            /// How the page draws it: `firmware/appliance` puts that into the page.
            pub const fn drawing(self) -> &'static str {
                match self { $($(#[cfg($when)])? GameKind::$game => beside!($folder $(of $parent)?, "draw.js")),+ }
            }

            /// How the house plays it: its players' names and what makes them, in the order they are seated.
            #[cfg(any(test, feature = "house"))]
            pub fn house(self) -> &'static [(&'static str, house::Make)] {
                match self { $($(#[cfg($when)])? GameKind::$game => $folder::house::MINDS),+ }
            }
        }

        // A game is as large as its file says, on every board, and no larger than a match slot allows.
        $($(#[cfg($when)])? const _: () = assert!(size_of::<$game>() == <$game>::SIZE && <$game>::SIZE <= ROOM);)+

        /// Any of the games, at the size of the largest.
        #[derive(Clone, Debug)]
        pub enum AnyGame { $($(#[cfg($when)])? #[doc = concat!("The one in `", stringify!($folder), "/`.")] $game($game)),+ }

        impl AnyGame {
            /// A game at its beginning.
            pub fn start(kind: GameKind, seats: u8, draws: &mut Draws) -> Self {
                match kind { $($(#[cfg($when)])? GameKind::$game => AnyGame::$game(<$game>::start(seats, draws))),+ }
            }

            /// A finished game again, from its seed and what [`Game::digest`] kept of it.
            pub fn recall(kind: GameKind, seed: Seed, digest: u64) -> Self {
                match kind { $($(#[cfg($when)])? GameKind::$game => AnyGame::$game(<$game>::recall(seed, digest))),+ }
            }
        }

        impl Game for AnyGame {
            fn rules(&self) -> &'static Rules {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.rules()),+ }
            }
            fn seats(&self) -> u8 {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.seats()),+ }
            }
            fn to_move(&self) -> Seats {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.to_move()),+ }
            }
            fn may_act(&self) -> Seats {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.may_act()),+ }
            }
            fn is_act(&self, wanted: Value<'_>) -> bool {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.is_act(wanted)),+ }
            }
            fn acts_of(&self, seat: Seat) -> u16 {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.acts_of(seat)),+ }
            }
            fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.play(seat, wanted, draws)),+ }
            }
            fn forfeit(&mut self, losers: Seats, draws: &mut Draws) {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.forfeit(losers, draws)),+ }
            }
            fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.legal_moves(seat, sink)),+ }
            }
            fn position(&self) -> Option<Position> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.position()),+ }
            }
            fn comes_again(&mut self, times: u8) -> Result<(), Illegal> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.comes_again(times)),+ }
            }
            fn turn(&self) -> u16 {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.turn()),+ }
            }
            fn score(&self, seat: Seat) -> i32 {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.score(seat)),+ }
            }
            fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.view(viewer, table, out)),+ }
            }
            fn sketch<M: SerializeMap>(&self, out: &mut M) -> Result<(), M::Error> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.sketch(out)),+ }
            }
            fn board<S: Serializer>(&self, viewer: Viewer, table: Table<'_>, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.board(viewer, table, serializer)),+ }
            }
            fn action(&self, seat: Seat, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.action(seat, table, f)),+ }
            }
            fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.summary(table, f)),+ }
            }
            fn effect<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<bool, M::Error> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.effect(table, out)),+ }
            }
            fn note<'a>(&self, seat: Seat, wanted: Value<'a>) -> Option<Value<'a>> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.note(seat, wanted)),+ }
            }
            fn said<'a>(&self, seat: Seat, wanted: Value<'a>) -> Option<Str<'a>> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.said(seat, wanted)),+ }
            }
            fn speech(&self) -> usize {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.speech()),+ }
            }
            fn talk(&self) -> Option<Talk> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.talk()),+ }
            }
            fn has_audience(&self) -> bool {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.has_audience()),+ }
            }
            fn is_voting(&self) -> bool {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.is_voting()),+ }
            }
            fn votes(&self, seat: Seat) -> u16 {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.votes(seat)),+ }
            }
            fn awaits_vote(&self, is_watched: bool) -> bool {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.awaits_vote(is_watched)),+ }
            }
            fn topic(&self) -> Option<&'static str> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.topic()),+ }
            }
            fn has_own_topic(&self) -> bool {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.has_own_topic()),+ }
            }
            fn tell(&mut self, word: Word) {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.tell(word)),+ }
            }
            fn recorded<S: Serializer>(&self, seat: Seat, wanted: Value<'_>, out: S) -> Result<S::Ok, S::Error> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.recorded(seat, wanted, out)),+ }
            }
            fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.last_move(seat, serializer)),+ }
            }
            fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.result(table, out)),+ }
            }
            fn standing(&self) -> Option<Standing> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.standing()),+ }
            }
            fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.reason(table, f)),+ }
            }
            fn ended_by(&self) -> Option<&'static str> {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.ended_by()),+ }
            }
            fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.export(f)),+ }
            }
            fn write_down(&self, part: Part<'_>, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.write_down(part, table, f)),+ }
            }
            fn digest(&self) -> u64 {
                match self { $($(#[cfg($when)])? AnyGame::$game(game) => game.digest()),+ }
            }
        }
    };
}

// The one place that lists the games. New ones come behind the others: journals know games by their place.
games! {
    EvenOdd in even_odd,
    EvenOdd10 in even_odd_10,
    Echo in echo,
    Blotto in blotto,
    Gomoku in gomoku,
    Rush in rush,
    Dance in dance,
    Landlord in landlord,
    RockPaper in rockpaper,
    Blackjack in blackjack,
    TexasHoldem in texasholdem,
    Chess in chess,
    Go in go,
    RegularDebate in regular_debate,
    SpicyDebate in spicy_debate,
    TradeDeal in trade_deal,
    #[cfg(any(test, feature = "toys"))] Trio in trio of toys,
    #[cfg(any(test, feature = "toys"))] Sextet in sextet of toys,
    #[cfg(any(test, feature = "toys"))] Stroll in stroll of toys,
}

impl GameKind {
    /// What is played where nobody has chosen a game.
    #[expect(clippy::indexing_slicing, reason = "computed by the compiler: without a game it does not build")]
    pub const FIRST: GameKind = Self::ALL[0];

    /// The game with this name.
    pub fn named(name: &str) -> Option<GameKind> {
        Self::ALL.iter().copied().find(|kind| kind.rules().name == name)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::testing::{AGENTS, effect, last_move, moves_of, play, recorded, result, said, view};
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::{String, ToString};
    use std::vec::Vec;

    #[test]
    fn every_game_has_its_own_name_and_can_be_found_by_it() {
        for kind in GameKind::ALL {
            assert_eq!(GameKind::named(kind.rules().name), Some(*kind));
            assert!(*kind.rules().seats.end() as usize <= MAX_SEATS);
        }
        assert_eq!(GameKind::named("checkers"), None);
    }

    #[test]
    fn seats_that_are_level_share_a_place() {
        let standing = Standing::by_score(4, [3, 7, 3, 1, 0, 0]);
        assert_eq!(standing.places, [2, 1, 2, 4, 0, 0]);
        assert_eq!(standing.winner(), Some(1));
        assert_eq!(Standing::by_score(2, [1, 1, 0, 0, 0, 0]).winner(), None);
    }

    #[test]
    fn who_gave_up_is_placed_behind_everybody_whatever_the_score() {
        let standing = Standing::after_forfeit(4, [3, 7, 3, 9, 0, 0], Seats::only(1).with(3));
        assert_eq!(standing.places, [1, 3, 1, 3, 0, 0]);
        assert_eq!(standing.scores[1], 7);
        assert_eq!(Standing::after_forfeit(2, [0, 5, 0, 0, 0, 0], Seats::only(1)).winner(), Some(0));
        assert_eq!(Standing::after_forfeit(2, [0, 5, 0, 0, 0, 0], Seats::first(2)).winner(), None);
    }

    #[test]
    fn a_seat_without_a_name_is_called_by_its_id_and_an_empty_seat_by_nothing() {
        let sitters =
            [Sitter { id: "P01", name: "Ada", note: "{}", said: "Hello" }, Sitter { id: "P02", ..Sitter::default() }];
        let table = Table(&sitters);
        assert_eq!((table.id(0), table.name(0), table.note(0)), ("P01", "Ada", "{}"));
        assert_eq!((table.id(1), table.name(1), table.note(1)), ("P02", "P02", ""));
        assert_eq!((table.id(9), table.name(9), table.note(9)), ("", "", ""));
        assert_eq!([0, 1, 9].map(|seat| table.said(seat)), ["Hello", "", ""]);
    }

    /// Everything a recalled game must still know.
    fn told(game: &AnyGame) -> String {
        let (reason, export) = (said(|f| game.reason(AGENTS, f)), said(|f| game.export(f)));
        let last: Vec<_> = (0..game.seats()).map(|seat| last_move(game, seat).to_string()).collect();
        format!("{:?} {} {reason} {export} {} {last:?}", game.standing(), game.digest(), result(game, AGENTS))
    }

    fn start(kind: GameKind, seed: Seed) -> (AnyGame, Draws) {
        let mut draws = Draws::new(seed);
        (AnyGame::start(kind, *kind.rules().seats.start(), &mut draws), draws)
    }

    #[test]
    fn a_whole_number_in_a_move_may_have_a_zero_behind_a_point() {
        for &kind in GameKind::ALL {
            let (game, mut draws) = start(kind, Seed([1; 32]));
            for listed in moves_of(&game, 0, 40) {
                // In a string digits are letters like others.
                let (mut sent, mut is_text) = (String::new(), false);
                for part in listed.split_inclusive(|c: char| !c.is_ascii_digit()) {
                    match part.find(|c: char| !c.is_ascii_digit()) {
                        Some(end) if end > 0 && !is_text => {
                            sent.push_str(&format!("{}.0{}", &part[..end], &part[end..]))
                        }
                        _ => sent.push_str(part),
                    }
                    is_text ^= part.ends_with('"');
                }
                let played = play(&mut game.clone(), 0, &sent, &mut draws);
                assert_eq!(played, Ok(()), "{sent}");
            }
        }
    }

    #[test]
    fn every_listed_move_is_legal_and_told_as_listed_and_a_finished_game_can_be_recalled() {
        for &kind in GameKind::ALL {
            for n in 0..50u8 {
                let seed = Seed([n; 32]);
                let (mut game, mut draws) = start(kind, seed);
                let mut moves = 0;
                while let Some(seat) = game.to_move().iter().next() {
                    let legal = moves_of(&game, seat, 40);
                    let pick = &legal[(n as usize + moves * 7) % legal.len()];
                    play(&mut game, seat, pick, &mut draws).unwrap();
                    assert_eq!(recorded(&game, seat, pick), serde_json::from_str::<serde_json::Value>(pick).unwrap());
                    let last = last_move(&game, seat);
                    assert!(last.is_null() || last == recorded(&game, seat, pick));
                    effect(&game, AGENTS);
                    moves += 1;
                    assert!(moves <= MAX_SEATS * usize::from(kind.rules().turns));
                }
                assert!(game.turn() - 1 <= kind.rules().turns);
                assert_eq!(game.standing().is_none(), game.is_voting());
                game.tell(Word::Votes([n.into(), 7, 0, 0, 0, 0]));
                game.tell(Word::VoteCloses);
                let cells = said(|f| game.export(f)).split(',').count();
                assert_eq!(cells, kind.rules().columns.split(',').count());
                assert_eq!(told(&AnyGame::recall(kind, seed, game.digest())), told(&game));
            }
        }
    }

    #[test]
    fn a_forfeited_game_is_over_and_can_be_recalled() {
        for &kind in GameKind::ALL {
            for losers in [Seats::only(0), Seats::only(1), Seats::first(2)] {
                let seed = Seed([9; 32]);
                let (mut game, mut draws) = start(kind, seed);
                let mover = game.to_move().iter().next().unwrap();
                let first = &moves_of(&game, mover, 1)[0];
                play(&mut game, mover, first, &mut draws).unwrap();
                game.forfeit(losers, &mut draws);
                assert!(game.to_move().is_empty() && game.may_act().is_empty());
                assert!(losers.iter().all(|loser| game.standing().unwrap().winner() != Some(loser)));
                assert_eq!(told(&AnyGame::recall(kind, seed, game.digest())), told(&game));
            }
        }
    }

    #[test]
    fn nobody_sees_what_a_seat_has_chosen_before_all_others_have_and_then_the_game_goes_on() {
        for &kind in GameKind::ALL.iter().filter(|kind| kind.rules().order == Order::Together) {
            let (mut game, mut draws) = start(kind, Seed([5; 32]));
            let shown = |game: &AnyGame| {
                let viewers = (1..game.seats()).map(Viewer::Seat).chain([Viewer::Spectator, Viewer::Owner]);
                let views: Vec<_> = viewers.map(|viewer| view(game, viewer, AGENTS).to_string()).collect();
                let actions: Vec<_> = (0..game.seats()).map(|seat| said(|f| game.action(seat, AGENTS, f))).collect();
                let scores: Vec<_> = (0..game.seats()).map(|seat| game.score(seat)).collect();
                format!("{views:?} {actions:?} {} {scores:?} {}", said(|f| game.summary(AGENTS, f)), game.turn())
            };
            for _ in 0..3 {
                // That it has chosen may be seen, but not what.
                let after = moves_of(&game, 0, 40).into_iter().map(|wanted| {
                    let mut game = game.clone();
                    play(&mut game, 0, &wanted, &mut draws.clone()).unwrap();
                    shown(&game)
                });
                let after: Vec<_> = after.collect();
                assert!(after.len() > 1 && after.iter().all(|shown| *shown == after[0]), "{after:#?}");
                for seat in game.to_move().iter() {
                    let first = &moves_of(&game, seat, 1)[0];
                    play(&mut game, seat, first, &mut draws).unwrap();
                }
                if game.to_move().is_empty() {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_game_that_is_over_has_no_secrets() {
        for &kind in GameKind::ALL {
            let (mut game, mut draws) = start(kind, Seed([5; 32]));
            game.forfeit(Seats::only(0), &mut draws);
            assert_eq!(view(&game, Viewer::Spectator, AGENTS), view(&game, Viewer::Owner, AGENTS));
        }
    }

    /// JSON that has the words of the games in it, and whatever else a peer may send.
    fn anything() -> impl Strategy<Value = serde_json::Value> {
        use serde_json::Value;
        let number = prop_oneof![
            (-2i64..20).prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from)
        ];
        let word = prop_oneof![prop::sample::select(WORDS).prop_map(String::from), ".{0,12}"];
        let leaf = prop_oneof![
            4 => number,
            2 => word.clone().prop_map(Value::from),
            1 => any::<bool>().prop_map(Value::from),
            1 => Just(Value::Null),
        ];
        leaf.prop_recursive(5, 64, 8, move |inner| {
            prop_oneof![
                2 => prop::collection::vec((word.clone(), inner.clone()), 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
                1 => prop::collection::vec(inner, 0..8).prop_map(Value::Array),
            ]
        })
    }

    const WORDS: &[&str] = &[
        "type",
        "place",
        "skill",
        "row",
        "col",
        "target",
        "uproot",
        "stillwater",
        "sandstorm",
        "rewind",
        "number",
        "allocation",
        "value",
        "even",
        "odd",
        "action",
        "move",
        "harvest",
        "wait",
        "direction",
        "north",
        "thought",
        "memory",
        "commands",
        "beatIndex",
        "kind",
        "up",
        "hold",
        "rock",
        "motto",
        "pass",
        "bid",
        "3",
        "RJ",
        "bet",
        "stand",
        "hit",
        "double",
        "split",
        "fold",
        "check",
        "call",
        "raise",
        "all_in",
        "10",
        "text",
        "propose",
        "accept",
        "reject",
        "offer",
        "request",
        "gold",
        "food",
    ];

    proptest! {
        #[test]
        fn whatever_is_sent_is_played_or_refused_and_a_refusal_changes_nothing(
            wishes in prop::collection::vec((0..8u8, anything(), any::<bool>()), 1..12),
            seed in any::<u8>(),
        ) {
            for &kind in GameKind::ALL {
                let (mut game, mut draws) = start(kind, Seed([seed; 32]));
                for (seat, wish, legal) in &wishes {
                    // Some good moves in between, so that games get somewhere.
                    let listed = legal.then(|| moves_of(&game, *seat, 40)).filter(|moves| !moves.is_empty());
                    let wish = listed.map_or(wish.to_string(), |moves| moves[usize::from(seed) % moves.len()].clone());
                    let (before, owed, may) = (format!("{game:?}"), game.to_move(), game.may_act());
                    prop_assert!(owed.without(may) == owed, "who owes a move does not act without being asked");
                    let wanted = crate::json::parse(wish.as_bytes()).unwrap();
                    match game.play(*seat, wanted, &mut draws) {
                        Ok(()) => {
                            prop_assert!(owed.has(*seat) || may.has(*seat));
                            game.note(*seat, wanted);
                        }
                        Err(Illegal(rule)) => {
                            prop_assert!(!rule.is_empty());
                            prop_assert_eq!(format!("{game:?}"), before);
                        }
                    }
                    // Whoever looks and whatever is asked, there is an answer.
                    view(&game, Viewer::Seat(*seat), AGENTS);
                    effect(&game, AGENTS);
                    said(|f| game.action(*seat, AGENTS, f));
                    said(|f| game.summary(AGENTS, f));
                    game.score(*seat);
                    last_move(&game, *seat);
                    told(&game);
                }
            }
        }

        #[test]
        fn whatever_digest_is_recalled_the_game_is_over_and_can_be_told(digest in any::<u64>(), seed in any::<u8>()) {
            for &kind in GameKind::ALL {
                let game = AnyGame::recall(kind, Seed([seed; 32]), digest);
                told(&game);
                view(&game, Viewer::Spectator, AGENTS);
                effect(&game, AGENTS);
                for seat in 0..8 {
                    said(|f| game.action(seat, AGENTS, f));
                    last_move(&game, seat);
                }
            }
        }
    }
}
