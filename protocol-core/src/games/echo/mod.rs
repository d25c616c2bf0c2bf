//! `echo`: each round both pick a number from 1 to 10, and the higher wins. A number that repeats the player's own of the
//! round before counts as 0; two repeats tie. A number may come back after one round of another: 10, 9, 10 is three
//! good numbers. A round that was tied is a round like any other.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;

use core::fmt;

use serde::{Serialize, Serializer};

use super::duel::{Bits, Contest, Duel, ROUNDS, Round};
use super::{Illegal, MoveSink, Order, Question, Rules, Seat};
use crate::json::Value;

/// One match.
pub type Echo = Duel<Numbers>;

/// Pick a number.
pub enum Numbers {}

#[derive(Serialize)]
struct Pick {
    number: Bits,
}

impl Contest for Numbers {
    const RULES: Rules = Rules {
        name: "echo",
        seats: 2..=2,
        question: Question::Move,
        order: Order::Together,
        board: false,
        turns: ROUNDS as u16,
        remembers: 0,
        columns: "score_a,score_b",
    };

    /// The specification prints none.
    const SHOWS_HISTORY: bool = false;

    fn read(wanted: Value<'_>) -> Result<Bits, Illegal> {
        let number = wanted.get("number").ok_or(Illegal("number is missing: a move is {\"number\": 1 to 10}"))?;
        let number = number.as_whole().and_then(|number| Bits::try_from(number).ok());
        number.filter(|number| (1..=10).contains(number)).ok_or(Illegal("number must be an integer from 1 to 10"))
    }

    fn list(last: Bits, sink: &mut dyn MoveSink) {
        let fresh = (1..=10).rev().filter(|&number| number != last);
        for number in fresh.chain((last != 0).then_some(last)) {
            if sink.legal_move(&Pick { number }).is_break() {
                return;
            }
        }
    }

    fn write<S: Serializer>(number: Bits, serializer: S) -> Result<S::Ok, S::Error> {
        Pick { number }.serialize(serializer)
    }

    fn show<S: Serializer>(number: Bits, serializer: S) -> Result<S::Ok, S::Error> {
        number.serialize(serializer)
    }

    fn say(last: Bits, number: Bits, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match number {
            10 => f.write_str("Played 🔟")?,
            number => write!(f, "Played {number}\u{fe0f}\u{20e3}")?,
        }
        if number == last { f.write_str(" again, which counts as 0") } else { Ok(()) }
    }

    fn winner(before: Round, [a, b]: Round) -> Option<Seat> {
        let [a, b] = [(a, before[0]), (b, before[1])].map(|(number, last)| if number == last { 0 } else { number });
        match a.cmp(&b) {
            core::cmp::Ordering::Greater => Some(0),
            core::cmp::Ordering::Less => Some(1),
            core::cmp::Ordering::Equal => None,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::fair::{Draws, Seed};
    use crate::games::testing::{AGENTS, play, result, said, view};
    use crate::games::{Game, Seats, Viewer};
    use serde_json::json;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn start() -> (Echo, Draws) {
        let mut draws = Draws::new(Seed([1; 32]));
        (Echo::start(2, &mut draws), draws)
    }

    fn after(rounds: &[[u8; 2]]) -> Echo {
        let (mut game, mut draws) = start();
        for round in rounds {
            for (seat, number) in (0..).zip(round) {
                play(&mut game, seat, &format!("{{\"number\":{number}}}"), &mut draws).unwrap();
            }
        }
        game
    }

    /// The rules again, from the first round to the last, without looking at the code above.
    fn points(rounds: &[[u8; 2]]) -> [i32; 2] {
        let mut points = [0, 0];
        let mut previous: Option<[u8; 2]> = None;
        for round in rounds {
            let mut value = *round;
            if let Some(previous) = previous {
                for seat in [0, 1] {
                    if previous[seat] == round[seat] {
                        value[seat] = 0;
                    }
                }
            }
            if value[0] > value[1] {
                points[0] += 1;
            }
            if value[1] > value[0] {
                points[1] += 1;
            }
            previous = Some(*round);
        }
        points
    }

    #[test]
    fn the_state_in_the_specification_is_what_the_second_round_looks_like() {
        let game = after(&[[7, 3]]);
        let seen = json!({"extra": {"currentRound": 2, "maxRounds": 5, "scores": {"uuid-1": 1, "uuid-2": 0}}});
        for viewer in [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator] {
            assert_eq!(view(&game, viewer, AGENTS), seen);
        }
        assert_eq!(said(|f| game.action(0, AGENTS, f)), "Played 7️⃣");
        assert_eq!(said(|f| game.action(1, AGENTS, f)), "Played 3️⃣");
        assert_eq!(said(|f| game.summary(AGENTS, f)), "Round 1: AgentAlpha wins!");
        assert_eq!([game.score(0), game.score(1)], [1, 0]);
    }

    #[test]
    fn a_number_played_again_counts_as_nothing_and_is_told_so() {
        let game = after(&[[10, 3], [10, 1]]);
        assert_eq!(said(|f| game.action(0, AGENTS, f)), "Played 🔟 again, which counts as 0");
        assert_eq!(said(|f| game.summary(AGENTS, f)), "Round 2: AgentBeta wins!");
        assert_eq!(said(|f| after(&[[10, 3], [10, 3]]).summary(AGENTS, f)), "Round 2: tie!");
    }

    #[test]
    fn every_pair_of_rounds_is_scored_as_the_rules_say() {
        for n in 0..10_000u32 {
            let digit = |place: u32| (n / 10u32.pow(place) % 10) as u8 + 1;
            let rounds = [[digit(0), digit(1)], [digit(2), digit(3)]];
            let game = after(&rounds);
            assert_eq!([game.score(0), game.score(1)], points(&rounds), "{rounds:?}");
        }
    }

    #[test]
    fn thousands_of_random_games_end_as_a_second_referee_says() {
        let mut random = Draws::new(Seed([2; 32]));
        for _ in 0..2_000 {
            let rounds: Vec<[u8; 2]> = (0..5).map(|_| [0; 2].map(|_| random.between(1, 10) as u8)).collect();
            let game = after(&rounds);
            let [a, b] = points(&rounds);
            let standing = game.standing().unwrap();
            assert_eq!(standing.scores[..2], [a, b], "{rounds:?}");
            assert_eq!(
                standing.winner(),
                if a > b {
                    Some(0)
                } else if b > a {
                    Some(1)
                } else {
                    None
                }
            );
            assert!(game.to_move().is_empty());
        }
    }

    #[test]
    fn an_early_move_is_seen_by_nobody_not_even_in_words() {
        for early in 1..=10 {
            let (mut game, mut draws) = start();
            let shown = |game: &Echo| {
                let views = [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator].map(|who| view(game, who, AGENTS));
                let words = [0, 1].map(|seat| said(|f| game.action(seat, AGENTS, f)));
                format!(
                    "{views:?} {words:?} {} {:?} {}",
                    said(|f| game.summary(AGENTS, f)),
                    result(game, AGENTS),
                    game.turn()
                )
            };
            for round in [[1, 2], [3, 3]] {
                let before = shown(&game);
                play(&mut game, 1, &format!("{{\"number\":{early}}}"), &mut draws).unwrap();
                assert_eq!(shown(&game), before);
                assert_eq!(game.to_move(), Seats::only(0));
                play(&mut game, 0, &format!("{{\"number\":{}}}", round[0]), &mut draws).unwrap();
            }
        }
    }

    #[test]
    fn a_move_that_breaks_a_rule_is_refused_by_name_and_changes_nothing() {
        let (mut game, mut draws) = start();
        for (wanted, rule) in [
            ("{}", "number is missing"),
            ("7", "number is missing"),
            ("null", "number is missing"),
            (r#"{"number":0}"#, "number must be"),
            (r#"{"number":11}"#, "number must be"),
            (r#"{"number":-1}"#, "number must be"),
            (r#"{"number":7.5}"#, "number must be"),
            (r#"{"number":"7"}"#, "number must be"),
            (r#"{"number":99999999999999999999999999}"#, "number must be"),
            (r#"{"number":[7]}"#, "number must be"),
        ] {
            let Illegal(reason) = play(&mut game, 0, wanted, &mut draws).unwrap_err();
            assert!(reason.starts_with(rule), "{wanted}: {reason}");
            assert_eq!(game.to_move(), Seats::first(2));
        }
        play(&mut game, 0, r#"{"number":7}"#, &mut draws).unwrap();
        assert!(play(&mut game, 0, r#"{"number":8}"#, &mut draws).is_err());
        assert_eq!(game.to_move(), Seats::only(1));
    }

    #[test]
    fn who_gives_up_loses_with_all_its_points() {
        let mut game = after(&[[9, 1], [8, 2]]);
        game.forfeit(Seats::only(0), &mut start().1);
        let standing = game.standing().unwrap();
        assert_eq!((standing.winner(), standing.scores[0]), (Some(1), 2));
        let told: String = said(|f| game.reason(AGENTS, f));
        assert_eq!(told, "AgentAlpha won 2 of 2 rounds, AgentBeta 0");
    }
}
