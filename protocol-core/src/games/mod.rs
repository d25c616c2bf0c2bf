//! The games: rules only. A game knows seats and moves; it knows no names, no protocol and no time. To add or replace
//! one, write its file here and name it in [`AnyGame`]; nothing outside this folder changes.
//!
//! # How very different games fit the contract
//!
//! - **Hidden cards** (Landlord, Texas Hold'em): [`Game::view`] is asked per [`Viewer`], so a seat is shown its own hand
//!   and the table, a spectator what is open to all. The deck is not stored: a shuffle is drawn from the [`Draws`] that
//!   come with [`AnyGame::start`] and every [`Game::play`].
//! - **A 100×100 map** (resource-rush): a view is *written*, member by member, into whatever the caller serializes
//!   to, so 25 KB of state pass through without ever being held. The terrain is a function of the seed; only what
//!   changed is state. What a game must keep counts against its match slot, and how many slots there are is the
//!   caller's constant, so a big game means fewer at once and not another contract.
//! - **Four players** (dance-battle): [`Seats`] is a set of up to six. [`Game::to_move`] says who owes a move now:
//!   one seat in a game of turns, several where moves are simultaneous; the game keeps early moves to itself until the
//!   last one is in. [`Game::standing`] places every seat, ties included.
//! - **Free text** (debates): a move is judged where it stands, as JSON in the receive buffer. The game keeps what it
//!   needs of it, no move type has to be sized for the longest speech, and [`Game::legal_moves`] lists nothing, which
//!   reads as "not enumerable".
//! - **A silent player**: the referee either ends the game with [`Game::forfeit`] or plays the first legal move for it.
//!   Which of the two is the protocol's policy; the game can do both.

mod even_odd;
mod even_odd_10;

use core::fmt;
use core::ops::{ControlFlow, RangeInclusive};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub use even_odd::{EvenOdd, Parity};
pub use even_odd_10::EvenOdd10;

use crate::fair::{Draws, Seed};
use crate::json::Value;

/// The most seats any game has.
pub const MAX_SEATS: usize = 6;

/// A place at the table, from 0.
pub type Seat = u8;

/// A set of seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seats(u8);

impl Seats {
    /// No seat.
    pub const NONE: Seats = Seats(0);

    /// The first `n` seats.
    pub const fn first(n: u8) -> Seats {
        Seats(((1u16 << if n as usize > MAX_SEATS { MAX_SEATS as u8 } else { n }) - 1) as u8)
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

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Each of them, from the lowest.
    pub fn iter(self) -> impl Iterator<Item = Seat> {
        (0..MAX_SEATS as Seat).filter(move |&seat| self.has(seat))
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
    /// The columns it adds to exported results, as [`Game::export`] fills them.
    pub columns: &'static str,
}

/// How a game asks for a move. Protocols that have words of their own for a question use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// "Even or odd?" and nothing else.
    Parity,
    /// "Here is what you see: what is your move?"
    Move,
}

/// Who looks at a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// A player, who sees what its seat may see.
    Seat(Seat),
    /// Anybody else.
    Spectator,
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
            *place = 1 + scores.iter().take(seats.into()).filter(|&&other| other > mine).count() as u8;
        }
        Self { scores, places }
    }

    /// The one seat in first place, if it is there alone.
    pub fn winner(&self) -> Option<Seat> {
        let mut first = self.places.iter().zip(0..).filter(|(place, _)| **place == 1).map(|(_, seat)| seat);
        match (first.next(), first.next()) {
            (Some(seat), None) => Some(seat),
            _ => None,
        }
    }
}

/// What the players are called, by seat. Lent to a game for the moment in which it writes a view.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a>(pub &'a [&'a str]);

impl<'a> Names<'a> {
    /// The name at `seat`.
    pub fn of(&self, seat: Seat) -> &'a str {
        self.0.get(usize::from(seat)).copied().unwrap_or("")
    }
}

/// Takes legal moves one by one. They are never collected: a hand can have hundreds.
pub trait MoveSink {
    /// One legal move, as it would be sent. Break to hear no more.
    fn legal_move<M: Serialize>(&mut self, legal: &M) -> ControlFlow<()>;
}

/// The contract between a referee and any game.
pub trait Game: Sized {
    /// What is being played.
    fn rules(&self) -> &'static Rules;

    /// How many seats are taken.
    fn seats(&self) -> u8;

    /// Who owes a move now. Nobody, once the game is over.
    fn to_move(&self) -> Seats;

    /// Judges a move and plays it. On `Err` nothing has changed. A seat that owes no move is refused.
    fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal>;

    /// Ends the game: `losers` have given up or broken the rules. Draws what is still to be drawn, so that the result
    /// can be reported in full.
    fn forfeit(&mut self, losers: Seats, draws: &mut Draws);

    /// Lists the moves `seat` may make, the safest first. Lists none where they cannot be enumerated.
    fn legal_moves<S: MoveSink>(&self, seat: Seat, sink: &mut S);

    /// The number of the turn, from 1.
    fn turn(&self) -> u16;

    /// Writes what `viewer` may see of the running game.
    fn view<M: SerializeMap>(&self, viewer: Viewer, names: Names<'_>, out: &mut M) -> Result<(), M::Error>;

    /// Writes the last move of a seat as it would be sent; `null` if it has made none.
    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error>;

    /// Writes what is told of the finished game, beside who won.
    fn result<M: SerializeMap>(&self, names: Names<'_>, out: &mut M) -> Result<(), M::Error>;

    /// How it stands at the end; `None` while it runs.
    fn standing(&self) -> Option<Standing>;

    /// Why it ended as it did, in words.
    fn reason(&self, names: Names<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Writes the cells of a finished game for exported results, with a comma between them.
    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// What is worth keeping of a finished game for as long as the league is remembered.
    fn digest(&self) -> u64;
}

/// Declares [`GameKind`] and [`AnyGame`]: the one place that lists the games.
macro_rules! games {
    ($($(#[$doc:meta])* $kind:ident($game:ty)),+ $(,)?) => {
        /// Which game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GameKind { $($(#[$doc])* $kind),+ }

        impl GameKind {
            /// Every game there is.
            pub const ALL: &[GameKind] = &[$(GameKind::$kind),+];

            /// What it is.
            pub const fn rules(self) -> &'static Rules {
                match self { $(GameKind::$kind => &<$game>::RULES),+ }
            }
        }

        /// Any of the games, at the size of the largest.
        #[derive(Clone, Debug)]
        pub enum AnyGame { $($(#[$doc])* $kind($game)),+ }

        impl AnyGame {
            /// A game at its beginning.
            pub fn start(kind: GameKind, seats: u8, draws: &mut Draws) -> Self {
                match kind { $(GameKind::$kind => AnyGame::$kind(<$game>::start(seats, draws))),+ }
            }

            /// A finished game again, from its seed and what [`Game::digest`] kept of it.
            pub fn recall(kind: GameKind, seed: Seed, digest: u64) -> Self {
                match kind { $(GameKind::$kind => AnyGame::$kind(<$game>::recall(seed, digest))),+ }
            }
        }

        impl Game for AnyGame {
            fn rules(&self) -> &'static Rules {
                match self { $(AnyGame::$kind(game) => game.rules()),+ }
            }
            fn seats(&self) -> u8 {
                match self { $(AnyGame::$kind(game) => game.seats()),+ }
            }
            fn to_move(&self) -> Seats {
                match self { $(AnyGame::$kind(game) => game.to_move()),+ }
            }
            fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal> {
                match self { $(AnyGame::$kind(game) => game.play(seat, wanted, draws)),+ }
            }
            fn forfeit(&mut self, losers: Seats, draws: &mut Draws) {
                match self { $(AnyGame::$kind(game) => game.forfeit(losers, draws)),+ }
            }
            fn legal_moves<S: MoveSink>(&self, seat: Seat, sink: &mut S) {
                match self { $(AnyGame::$kind(game) => game.legal_moves(seat, sink)),+ }
            }
            fn turn(&self) -> u16 {
                match self { $(AnyGame::$kind(game) => game.turn()),+ }
            }
            fn view<M: SerializeMap>(&self, viewer: Viewer, names: Names<'_>, out: &mut M) -> Result<(), M::Error> {
                match self { $(AnyGame::$kind(game) => game.view(viewer, names, out)),+ }
            }
            fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(AnyGame::$kind(game) => game.last_move(seat, serializer)),+ }
            }
            fn result<M: SerializeMap>(&self, names: Names<'_>, out: &mut M) -> Result<(), M::Error> {
                match self { $(AnyGame::$kind(game) => game.result(names, out)),+ }
            }
            fn standing(&self) -> Option<Standing> {
                match self { $(AnyGame::$kind(game) => game.standing()),+ }
            }
            fn reason(&self, names: Names<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(AnyGame::$kind(game) => game.reason(names, f)),+ }
            }
            fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(AnyGame::$kind(game) => game.export(f)),+ }
            }
            fn digest(&self) -> u64 {
                match self { $(AnyGame::$kind(game) => game.digest()),+ }
            }
        }
    };
}

games! {
    /// One draw from 1 to 10.
    EvenOdd(EvenOdd),
    /// Ten draws from 0 to 99.
    EvenOdd10(EvenOdd10),
}

impl GameKind {
    /// The game with this name.
    pub fn named(name: &str) -> Option<GameKind> {
        Self::ALL.iter().copied().find(|kind| kind.rules().name == name)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn every_game_has_its_own_name_and_can_be_found_by_it() {
        for kind in GameKind::ALL {
            assert_eq!(GameKind::named(kind.rules().name), Some(*kind));
            assert!(*kind.rules().seats.end() as usize <= MAX_SEATS);
        }
        assert_eq!(GameKind::named("chess"), None);
    }

    #[test]
    fn seats_that_are_level_share_a_place() {
        let standing = Standing::by_score(4, [3, 7, 3, 1, 0, 0]);
        assert_eq!(standing.places, [2, 1, 2, 4, 0, 0]);
        assert_eq!(standing.winner(), Some(1));
        assert_eq!(Standing::by_score(2, [1, 1, 0, 0, 0, 0]).winner(), None);
    }

    #[test]
    fn any_game_takes_no_more_room_than_its_match_slot_allows() {
        // Sixteen of them must fit beside everything else on the board.
        assert!(size_of::<AnyGame>() <= 32, "{}", size_of::<AnyGame>());
    }

    #[test]
    fn every_listed_move_is_legal_and_a_finished_game_can_be_recalled() {
        struct First(std::vec::Vec<std::string::String>);
        impl MoveSink for First {
            fn legal_move<M: Serialize>(&mut self, legal: &M) -> ControlFlow<()> {
                self.0.push(serde_json::to_string(legal).unwrap());
                ControlFlow::Continue(())
            }
        }
        for &kind in GameKind::ALL {
            for n in 0..50u8 {
                let seed = Seed([n; 32]);
                let mut draws = Draws::new(seed);
                let mut game = AnyGame::start(kind, 2, &mut draws);
                let mut moves = 0;
                while let Some(seat) = game.to_move().iter().next() {
                    let mut sink = First(std::vec::Vec::new());
                    game.legal_moves(seat, &mut sink);
                    let pick = &sink.0[(n as usize + moves * 7) % sink.0.len()];
                    game.play(seat, crate::json::parse(pick.as_bytes()).unwrap(), &mut draws).unwrap();
                    moves += 1;
                    assert!(moves < 1000);
                }
                let again = AnyGame::recall(kind, seed, game.digest());
                assert_eq!(again.standing(), game.standing());
                assert_eq!(again.digest(), game.digest());
                assert_eq!(std::format!("{again:?}"), std::format!("{game:?}"));
            }
        }
    }

    #[test]
    fn a_forfeited_game_is_over_and_can_be_recalled() {
        for &kind in GameKind::ALL {
            for losers in [Seats::only(0), Seats::only(1), Seats::first(2)] {
                let seed = Seed([9; 32]);
                let mut draws = Draws::new(seed);
                let mut game = AnyGame::start(kind, 2, &mut draws);
                game.play(0, crate::json::parse(b"\"odd\"").unwrap(), &mut draws).unwrap();
                game.forfeit(losers, &mut draws);
                assert!(game.to_move().is_empty());
                assert!(game.standing().is_some());
                let again = AnyGame::recall(kind, seed, game.digest());
                assert_eq!(std::format!("{again:?}"), std::format!("{game:?}"));
            }
        }
    }
}
