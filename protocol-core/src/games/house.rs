//! How the house plays. Each game has its players beside its rules, in `<game>/house.rs`: a list [`MINDS`](Make) with somebody
//! who plays at random, to be beaten, and somebody who thinks.
//!
//! A mind is told what the box tells any agent: the view of its seat, as JSON. It is never lent the game, so it cannot
//! see what its seat may not. It knows nothing of HTTP, messages or time, and its chance is not the match's: nobody
//! learns of a draw to come by looking at the house.
//!
//! Minds may allocate, and a board has no house, so all of this is compiled only with the feature `house`, which the
//! desktop asks for, and in tests. The rest of the crate goes without.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

extern crate std;

use prelude::{Box, Value};

/// What every `house.rs` needs. A crate without `std` has no boxes, lists and strings by itself.
pub(super) mod prelude {
    pub(in crate::games) use super::std::prelude::v1::*;
    pub(in crate::games) use super::{Coin, Make, Mind, Seen};
    pub(in crate::games) use serde_json::{Value, json};
}

/// What a player knows when it is asked for a move, or told how its match ended.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Its own id.
    pub me: &'a str,
    /// Its seat, from 0.
    pub seat: usize,
    /// The id of whom it plays; where there are several, of the first of them.
    pub opponent: &'a str,
    /// The game as its seat may see it, or the result.
    pub state: &'a Value,
}

/// A way to play. It lasts for a league and longer: what it remembers of one match helps it in the next.
pub trait Mind: Send {
    /// The move to make now.
    fn choose(&mut self, seen: Seen<'_>) -> Value;

    /// A match is over, and this is its result.
    fn learn(&mut self, _result: Seen<'_>) {}
}

/// Makes a mind; the seed is for its dice.
pub type Make = fn(seed: u64) -> Box<dyn Mind>;

/// A fair coin, or a die (SplitMix64). Good enough to be unpredictable to players; nothing secret depends on it.
#[derive(Clone, Debug)]
pub struct Coin(u64);

impl Coin {
    /// The coin whose tosses `seed` decides.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `n`, all about equally likely; `n` is small and not zero.
    pub fn below(&mut self, n: u64) -> u64 {
        ((self.next() >> 32) * n) >> 32
    }

    /// Any of these; nothing if there is none.
    pub fn pick<T: Copy>(&mut self, any: &[T]) -> Option<T> {
        any.get(self.below(any.len() as u64) as usize).copied()
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    }
}

/// What the tests of every house share.
#[cfg(test)]
pub(super) mod testing {
    use super::prelude::*;
    use crate::fair::{Draws, Seed};
    use crate::games::testing::{PLAYERS, play, view};
    use crate::games::{AnyGame, Game, GameKind, Viewer, Word};

    /// Plays a game by its true rules. No mind may ever break one.
    fn playing(kind: GameKind, seed: u8, mut minds: Vec<Box<dyn Mind>>) -> Option<u8> {
        let mut draws = Draws::new(Seed([seed; 32]));
        let mut game = AnyGame::start(kind, minds.len() as u8, &mut draws);
        while let Some(seat) = game.to_move().iter().next() {
            let state = view(&game, Viewer::Seat(seat), PLAYERS);
            let (me, opponent) = (PLAYERS.id(seat), PLAYERS.id((seat == 0).into()));
            let wanted = minds[usize::from(seat)].choose(Seen { me, seat: seat.into(), opponent, state: &state });
            let played = play(&mut game, seat, &wanted.to_string(), &mut draws);
            assert_eq!(played, Ok(()), "{wanted} in {state}");
        }
        game.tell(Word::VoteCloses);
        game.standing().unwrap().winner()
    }

    /// How many of `games` games the named mind wins against another, or several such, changing seats; and loses.
    pub(in crate::games) fn wins(kind: GameKind, name: &str, against: &str, games: u8) -> (u8, u8) {
        let make = |name: &str| kind.house().iter().find(|(known, _)| *known == name).unwrap().1;
        let (mut won, mut lost) = (0, 0);
        for n in 0..games {
            let seats = *kind.rules().seats.start();
            let my_seat = n % seats;
            let mind = |seat: u8| {
                if seat == my_seat {
                    make(name)(n.into())
                } else {
                    make(against)(1_000 * u64::from((seat + seats - my_seat) % seats) + u64::from(n))
                }
            };
            let winner = playing(kind, n, (0..seats).map(mind).collect());
            won += u8::from(winner == Some(my_seat));
            lost += u8::from(winner.is_some_and(|winner| winner != my_seat));
        }
        (won, lost)
    }
}

#[cfg(test)]
mod tests {
    use super::prelude::*;
    use super::testing::wins;
    use crate::games::GameKind;

    #[test]
    fn every_game_has_somebody_who_plays_at_random_and_somebody_who_thinks() {
        for &kind in GameKind::ALL {
            let names: Vec<_> = kind.house().iter().map(|(name, _)| *name).collect();
            assert!(names.len() > 1 && names.contains(&"Random"), "{}: {names:?}", kind.rules().name);
        }
    }

    #[test]
    fn every_mind_of_every_game_plays_by_the_rules_against_every_other() {
        // One game of the longest is enough, and is played in the tests of its house.
        for &kind in GameKind::ALL.iter().filter(|kind| kind.rules().turns <= 300) {
            for (a, _) in kind.house() {
                for (b, _) in kind.house() {
                    // Once is enough: each pair comes up in both orders.
                    wins(kind, a, b, 1);
                }
            }
        }
    }

    #[test]
    fn a_mind_that_is_shown_nonsense_still_answers() {
        let board = [[7; 15]; 15];
        for state in [
            json!(null),
            json!({"extra": {"history": 7, "board": 7}}),
            json!({"extra": {"history": [{"allocations": {"P02": [99, -1]}}], "board": board}}),
            json!({"previous_moves": [{"number": "seven"}, 7], "game_summary": {"moves": [null]}}),
        ] {
            for &kind in GameKind::ALL {
                for (_, make) in kind.house() {
                    let (seen, mut mind) = (Seen { me: "P01", seat: 0, opponent: "P02", state: &state }, make(1));
                    mind.learn(seen);
                    let answer = mind.choose(seen);
                    assert!(answer.is_object() || answer.is_array(), "{answer}");
                }
            }
        }
    }
}
