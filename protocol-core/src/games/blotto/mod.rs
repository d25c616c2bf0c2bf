//! `blotto`: each round both spread 10 soldiers over 5 battlefields. More soldiers take a battlefield, equal numbers
//! leave it to nobody. Who takes 3 or more wins the round; taking more than the other is not enough.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;

use core::fmt;

use serde::{Serialize, Serializer};

use super::duel::{Bits, Contest, Duel, ROUNDS, Round};
use super::{Illegal, MoveSink, Order, Question, Rules, Seat};
use crate::json::Value;

const FIELDS: usize = 5;
const SOLDIERS: u8 = 10;

/// One match.
pub type Blotto = Duel<Allocations>;

/// Spread soldiers.
pub enum Allocations {}

/// Four bits a battlefield, from the lowest. Soldiers must be somewhere, so no allocation is zero.
fn pack(fields: [u8; FIELDS]) -> Bits {
    fields.iter().rev().fold(0, |bits, &soldiers| bits << 4 | Bits::from(soldiers))
}

fn unpack(bits: Bits) -> [u8; FIELDS] {
    let mut fields = [0; FIELDS];
    for (soldiers, at) in fields.iter_mut().zip([0, 4, 8, 12, 16]) {
        *soldiers = (bits >> at & 15) as u8;
    }
    fields
}

#[derive(Serialize)]
struct Deploy {
    allocation: [u8; FIELDS],
}

impl Contest for Allocations {
    const RULES: Rules = Rules {
        name: "blotto",
        seats: 2..=2,
        question: Question::Move,
        order: Order::Together,
        board: false,
        turns: ROUNDS as u16,
        remembers: 0,
        columns: "score_a,score_b",
    };

    const SHOWS_HISTORY: bool = true;

    fn read(wanted: Value<'_>) -> Result<Bits, Illegal> {
        let Some(allocation) = wanted.get("allocation") else {
            return Err(Illegal("allocation is missing: a move is {\"allocation\": [2, 2, 2, 2, 2]}"));
        };
        let mut fields = [0; FIELDS];
        let mut items = allocation.items();
        for field in &mut fields {
            let soldiers = items.next().ok_or(Illegal("allocation must be an array of exactly 5 numbers"))?;
            let soldiers = soldiers.as_whole().ok_or(Illegal("allocation must have only non-negative integers"))?;
            *field = u8::try_from(soldiers).ok().filter(|&n| n <= SOLDIERS).ok_or(Illegal(NOT_TEN))?;
        }
        if items.next().is_some() {
            return Err(Illegal("allocation must be an array of exactly 5 numbers"));
        }
        if fields.iter().sum::<u8>() != SOLDIERS {
            return Err(Illegal(NOT_TEN));
        }
        Ok(pack(fields))
    }

    fn list(_last: Bits, sink: &mut dyn MoveSink) {
        const EVEN: [u8; FIELDS] = [2; FIELDS];
        let all = (0..=SOLDIERS).flat_map(|a| {
            let left = SOLDIERS.saturating_sub(a);
            (0..=left).flat_map(move |b| {
                let left = left.saturating_sub(b);
                (0..=left).flat_map(move |c| {
                    let left = left.saturating_sub(c);
                    (0..=left).map(move |d| [a, b, c, d, left.saturating_sub(d)])
                })
            })
        });
        for allocation in core::iter::once(EVEN).chain(all.filter(|&allocation| allocation != EVEN)) {
            if sink.legal_move(&Deploy { allocation }).is_break() {
                return;
            }
        }
    }

    fn write<S: Serializer>(played: Bits, serializer: S) -> Result<S::Ok, S::Error> {
        Deploy { allocation: unpack(played) }.serialize(serializer)
    }

    fn show<S: Serializer>(played: Bits, serializer: S) -> Result<S::Ok, S::Error> {
        unpack(played).serialize(serializer)
    }

    fn say(_last: Bits, played: Bits, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e] = unpack(played);
        write!(f, "Deployed {a}-{b}-{c}-{d}-{e}")
    }

    fn winner(_before: Round, round: Round) -> Option<Seat> {
        let [a, b] = round.map(unpack);
        let taken =
            |mine: [u8; FIELDS], theirs: [u8; FIELDS]| mine.iter().zip(theirs).filter(|(m, t)| **m > *t).count();
        if taken(a, b) >= 3 {
            Some(0)
        } else if taken(b, a) >= 3 {
            Some(1)
        } else {
            None
        }
    }
}

const NOT_TEN: &str = "allocation must sum to exactly 10";

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::fair::{Draws, Seed};
    use crate::games::testing::{AGENTS, moves_of, play, said, view};
    use crate::games::{Game, Seats, Viewer};
    use serde_json::json;
    use std::collections::BTreeSet;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn start() -> (Blotto, Draws) {
        let mut draws = Draws::new(Seed([1; 32]));
        (Blotto::start(2, &mut draws), draws)
    }

    /// Every allocation there is, found by trying all.
    fn all() -> Vec<[u8; FIELDS]> {
        let digit = |n: u32, place| (n / 11u32.pow(place) % 11) as u8;
        let fields = |n| [digit(n, 4), digit(n, 3), digit(n, 2), digit(n, 1), digit(n, 0)];
        (0..11u32.pow(5)).map(fields).filter(|fields| fields.iter().sum::<u8>() == 10).collect()
    }

    /// Who takes three battlefields, counted one by one.
    fn round_winner(a: [u8; FIELDS], b: [u8; FIELDS]) -> Option<Seat> {
        let mut taken = [0, 0];
        for field in 0..FIELDS {
            if a[field] > b[field] {
                taken[0] += 1;
            } else if b[field] > a[field] {
                taken[1] += 1;
            }
        }
        match taken {
            [3..=5, _] => Some(0),
            [_, 3..=5] => Some(1),
            _ => None,
        }
    }

    fn sent(allocation: [u8; FIELDS]) -> String {
        format!("{{\"allocation\":{allocation:?}}}")
    }

    #[test]
    fn all_1001_allocations_are_listed_once_the_even_one_first_and_no_other_is_legal() {
        let (game, mut draws) = start();
        let listed = moves_of(&game, 0, 2_000);
        assert_eq!(listed[0], r#"{"allocation":[2,2,2,2,2]}"#);
        let listed: BTreeSet<String> = listed.into_iter().collect();
        assert_eq!(listed, all().iter().map(|a| serde_json::to_string(&Deploy { allocation: *a }).unwrap()).collect());
        assert_eq!(listed.len(), 1001);
        for n in 0..7u32.pow(5) {
            let digit = |place| (n / 7u32.pow(place) % 7) as u8;
            let fields = [digit(0), digit(1), digit(2), digit(3), digit(4)];
            let legal = play(&mut game.clone(), 0, &sent(fields), &mut draws).is_ok();
            assert_eq!(legal, fields.iter().sum::<u8>() == 10, "{fields:?}");
        }
    }

    #[test]
    fn every_allocation_against_every_other_is_won_by_whom_the_rules_say() {
        let all = all();
        for &a in &all {
            for &b in &all {
                assert_eq!(Allocations::winner([0; 2], [pack(a), pack(b)]), round_winner(a, b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_history_shows_rounds_that_are_over_and_never_an_early_move() {
        let (mut game, mut draws) = start();
        play(&mut game, 0, r#"{"allocation":[3,3,2,1,1]}"#, &mut draws).unwrap();
        for viewer in [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator] {
            let scores = json!({"uuid-1": 0, "uuid-2": 0});
            let extra = json!({"currentRound": 1, "maxRounds": 5, "scores": scores, "history": []});
            assert_eq!(view(&game, viewer, AGENTS), json!({ "extra": extra }));
        }
        play(&mut game, 1, r#"{"allocation":[2,2,2,2,2]}"#, &mut draws).unwrap();
        play(&mut game, 1, r#"{"allocation":[4,3,3,0,0]}"#, &mut draws).unwrap();
        let past = json!({"round": 1, "winner": null,
            "allocations": {"uuid-1": [3, 3, 2, 1, 1], "uuid-2": [2, 2, 2, 2, 2]}});
        assert_eq!(view(&game, Viewer::Seat(0), AGENTS)["extra"]["history"], json!([past]));
        play(&mut game, 0, r#"{"allocation":[2,2,2,2,2]}"#, &mut draws).unwrap();
        let extra = &view(&game, Viewer::Spectator, AGENTS)["extra"];
        assert_eq!(extra["history"][1]["winner"], "uuid-2");
        assert_eq!(extra["scores"], json!({"uuid-1": 0, "uuid-2": 1}));
        assert_eq!(said(|f| game.action(1, AGENTS, f)), "Deployed 4-3-3-0-0");
        assert_eq!(said(|f| game.summary(AGENTS, f)), "Round 2: AgentBeta wins!");
    }

    #[test]
    fn thousands_of_random_games_end_as_a_second_referee_says() {
        let (all, mut random) = (all(), Draws::new(Seed([2; 32])));
        for _ in 0..2_000 {
            let (mut game, mut draws) = start();
            let mut points = [0, 0];
            for round in 1..=5 {
                let [a, b] = [0; 2].map(|_| all[random.below(1001) as usize]);
                assert_eq!((game.turn(), game.to_move()), (round, Seats::first(2)));
                play(&mut game, 1, &sent(b), &mut draws).unwrap();
                play(&mut game, 0, &sent(a), &mut draws).unwrap();
                if let Some(winner) = round_winner(a, b) {
                    points[usize::from(winner)] += 1;
                }
                assert_eq!([game.score(0), game.score(1)], points);
            }
            let winner = match points {
                [a, b] if a > b => Some(0),
                [a, b] if a < b => Some(1),
                _ => None,
            };
            assert_eq!(game.standing().unwrap().winner(), winner);
        }
    }

    #[test]
    fn a_move_that_breaks_a_rule_is_refused_by_name_and_changes_nothing() {
        let (mut game, mut draws) = start();
        let (five, whole) = ("allocation must be an array of exactly 5", "allocation must have only non-negative");
        for (wanted, rule) in [
            ("{}", "allocation is missing"),
            ("[2,2,2,2,2]", "allocation is missing"),
            (r#"{"allocation":10}"#, five),
            (r#"{"allocation":"22222"}"#, five),
            (r#"{"allocation":{"0":10}}"#, five),
            (r#"{"allocation":[]}"#, five),
            (r#"{"allocation":[5,5,0,0]}"#, five),
            (r#"{"allocation":[2,2,2,2,2,0]}"#, five),
            (r#"{"allocation":[12,-2,0,0,0]}"#, NOT_TEN),
            (r#"{"allocation":[2,-2,5,5,0]}"#, whole),
            (r#"{"allocation":[2.5,2.5,5,0,0]}"#, whole),
            (r#"{"allocation":["2",2,2,2,2]}"#, whole),
            (r#"{"allocation":[null,2,2,2,4]}"#, whole),
            (r#"{"allocation":[[2],2,2,2,2]}"#, whole),
            (r#"{"allocation":[256,10,0,0,0]}"#, NOT_TEN),
            (r#"{"allocation":[99999999999999999999,0,0,0,10]}"#, whole),
            (r#"{"allocation":[10,10,10,10,10]}"#, NOT_TEN),
            (r#"{"allocation":[0,0,0,0,0]}"#, NOT_TEN),
        ] {
            let Illegal(reason) = play(&mut game, 0, wanted, &mut draws).unwrap_err();
            assert!(reason.starts_with(rule), "{wanted}: {reason}");
            assert_eq!(game.to_move(), Seats::first(2));
        }
    }
}
