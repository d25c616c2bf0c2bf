//! What a match has been through, for games in which a position must not come twice, or ends them when it does. A game has no room
//! for that, and a match slot has none either: whoever runs the match keeps the positions, in whatever memory it has for all of
//! them, and the match asks.

use core::ops::ControlFlow;

use super::Match;
use crate::fair::Draws;
use crate::games::{Game, Illegal, MoveSink, Seat};
use crate::json::{self, Value};

/// More often than this is told as this often.
const OFTEN: u8 = 7;

/// The positions a match has been through, as [`Position::digest`](crate::games::Position::digest) knows them. Where nobody
/// keeps any, `()`, none comes again.
pub trait Past {
    /// How often a position was there.
    fn times(&self, position: u64) -> u8;

    /// A position was there, and a move was made from it. That brought one about which has come so many times.
    fn keep(&mut self, position: u64, times: u8);

    /// None of those that were there can come again.
    fn forget(&mut self);
}

impl Past for () {
    fn times(&self, _position: u64) -> u8 {
        0
    }

    fn keep(&mut self, _position: u64, _times: u8) {}

    fn forget(&mut self) {}
}

/// The game after a move, and how often it has stood like this; for a game that asks for that.
fn after<G: Game>(
    (game, draws): (&G, &Draws),
    (seat, wanted): (Seat, Value<'_>),
    times: impl Fn(u64) -> u8,
) -> Result<(G, Draws, u8), Illegal> {
    let (mut game, mut draws, before) = (game.clone(), draws.clone(), game.position());
    game.play(seat, wanted, &mut draws)?;
    let position = game.position().map(|position| position.digest);
    let is_same = before.is_some_and(|before| Some(before.digest) == position);
    let came = position.map_or(0, times).saturating_add(is_same.into()).saturating_add(1).min(OFTEN);
    if came > 1 {
        game.comes_again(came)?;
    }
    Ok((game, draws, came))
}

impl<G: Game, const SEATS: usize> Match<G, SEATS> {
    /// Has the game play a move. How often it has stood as it stands now, as far as that matters.
    pub(super) fn make_move(&mut self, seat: Seat, wanted: Value<'_>, past: &mut impl Past) -> Result<u8, Illegal> {
        let Some(before) = self.game.position() else {
            return self.game.play(seat, wanted, &mut self.draws).map(|()| 1);
        };
        let (game, draws, came) = after((&self.game, &self.draws), (seat, wanted), |position| past.times(position))?;
        (self.game, self.draws) = (game, draws);
        if self.game.position().is_some_and(|position| position.is_new) {
            past.forget();
        } else {
            past.keep(before.digest, came);
        }
        Ok(came)
    }

    /// Lists the moves a seat may make, the safest first, as [`Game::legal_moves`] does, but for those that bring back what must
    /// not come again. `times` says how often a position was there.
    pub fn legal_moves(&self, seat: Seat, times: &dyn Fn(u64) -> u8, sink: &mut dyn MoveSink) {
        if self.game.position().is_none() {
            return self.game.legal_moves(seat, sink);
        }
        self.game.legal_moves(seat, &mut New { of: self, seat, times, sink });
    }
}

/// Hands on the moves that bring nothing back which must not come again.
struct New<'a, G, const SEATS: usize> {
    of: &'a Match<G, SEATS>,
    seat: Seat,
    times: &'a dyn Fn(u64) -> u8,
    sink: &'a mut dyn MoveSink,
}

impl<G: Game, const SEATS: usize> MoveSink for New<'_, G, SEATS> {
    fn take(&mut self, legal: &str) -> ControlFlow<()> {
        let game = (&self.of.game, &self.of.draws);
        match json::parse(legal.as_bytes()) {
            Ok(wanted) if after(game, (self.seat, wanted), self.times).is_err() => ControlFlow::Continue(()),
            _ => self.sink.take(legal),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::fair::Seed;
    use crate::games::{AnyGame, GameKind};
    use crate::referee::{Cause, Fault, Heard, Lapse, Late, Policy};
    use std::string::String;
    use std::vec::Vec;

    #[derive(Default)]
    struct All(Vec<u64>, u8);

    impl Past for All {
        fn times(&self, position: u64) -> u8 {
            self.0.iter().filter(|kept| **kept == position).count() as u8
        }

        fn keep(&mut self, position: u64, times: u8) {
            self.0.push(position);
            self.1 = times;
        }

        fn forget(&mut self) {
            self.0.clear();
        }
    }

    const POLICY: Policy = Policy { late: Late::PlayFirst { forfeit_after: None }, ..Policy::NOBODYS };

    fn stroll() -> Match<AnyGame> {
        let mut draws = Draws::new(Seed([1; 32]));
        let game = AnyGame::start(GameKind::Stroll, 2, &mut draws);
        let mut play = Match::new(game, draws, 0, None);
        (0..2).for_each(|seat| play.take_seat(seat));
        play
    }

    /// Whoever is on turn goes there.
    fn go(play: &mut Match<AnyGame>, past: &mut All, to: &str) -> Heard {
        let seat = play.game().to_move().alone().unwrap();
        play.sent(seat, 0, &POLICY);
        play.play(seat, json::parse(std::format!("{{\"go\":\"{to}\"}}").as_bytes()).unwrap(), past)
    }

    fn listed(play: &Match<AnyGame>, past: &All) -> Vec<String> {
        struct Names(Vec<String>);
        impl MoveSink for Names {
            fn take(&mut self, legal: &str) -> ControlFlow<()> {
                let legal: serde_json::Value = serde_json::from_str(legal).unwrap();
                self.0.push(legal["go"].as_str().unwrap().into());
                ControlFlow::Continue(())
            }
        }
        let mut names = Names(Vec::new());
        play.legal_moves(play.game().to_move().alone().unwrap(), &|position| past.times(position), &mut names);
        names.0
    }

    #[test]
    fn a_position_that_must_not_come_twice_is_refused_and_the_game_is_as_it_was() {
        let (mut play, mut past) = (stroll(), All::default());
        for to in ["north", "east", "south", "east"] {
            assert_eq!(go(&mut play, &mut past, to), Heard::Taken);
        }
        let was = std::format!("{:?}", play.game());
        assert_eq!(go(&mut play, &mut past, "west"), Heard::Refused(Illegal("you have been there before")));
        assert_eq!(std::format!("{:?}", play.game()), was);
        assert_eq!(past.0.len(), 4, "the place where they began is one of those they have been to");
        assert_eq!(listed(&play, &past), ["north", "east", "south", "stop"]);
    }

    #[test]
    fn a_position_that_ends_the_game_when_it_comes_again_does_and_nobody_has_won() {
        let (mut play, mut past) = (stroll(), All::default());
        for to in ["north", "east", "south"] {
            assert_eq!(go(&mut play, &mut past, to), Heard::Taken);
        }
        assert_eq!(listed(&play, &past), ["east", "south", "west", "stop"]);
        assert_eq!(go(&mut play, &mut past, "west"), Heard::Taken);
        assert_eq!(past.1, 2);
        let outcome = play.outcome().unwrap();
        assert_eq!((outcome.winners.len(), outcome.cause), (2, Cause::Played));
    }

    #[test]
    fn the_first_move_for_a_late_player_brings_nothing_back() {
        let (mut play, mut past) = (stroll(), All::default());
        let mut places = Vec::new();
        while let Some(seat) = play.game().to_move().alone() {
            play.sent(seat, 0, &POLICY);
            let film = |game: &AnyGame, _: Value<'_>, times: u8| places.push((game.digest() >> 16 & 0xff, times));
            let lapse = play.due(seat, play.deadline(seat).unwrap(), Fault::Silent, &POLICY, &mut past, film);
            assert_eq!(lapse, Lapse::Moved);
        }
        // North as far as the field goes, along its edge, up and down, and home from the south.
        let home = places.pop().unwrap();
        assert!(places.len() == 127 && places.iter().all(|(_, times)| *times == 1), "{places:?}");
        assert_eq!(home, (8 * 16 + 8, 2));
        let mut sorted: Vec<_> = places.iter().map(|(place, _)| place).collect();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), places.len(), "no place twice");
    }

    #[test]
    fn where_nobody_keeps_what_was_there_nothing_comes_again() {
        let mut play = stroll();
        for to in ["north", "south", "north", "south"] {
            let seat = play.game().to_move().alone().unwrap();
            play.sent(seat, 0, &POLICY);
            let wanted = std::format!("{{\"go\":\"{to}\"}}");
            assert_eq!(play.play(seat, json::parse(wanted.as_bytes()).unwrap(), &mut ()), Heard::Taken);
        }
    }
}
