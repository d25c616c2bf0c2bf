extern crate std;

use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::games::testing::{AGENTS, last_move, moves_of, play, result, said, view};
use crate::games::{AnyGame, GameKind, Sitter};
use crate::json::parse;

const STEPS: [&str; 5] = ["hold", "up", "down", "left", "right"];
const THROWS: [&str; 3] = ["rock", "paper", "scissors"];

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn draws() -> Draws {
    Draws::new(Seed([1; 32]))
}

/// A game whose dancers stand there.
fn standing_at(places: [(u8, u8); 4]) -> Dance {
    let mut game = Dance::start(4, &mut draws());
    for (dancer, (x, y)) in game.dancers.iter_mut().zip(places) {
        dancer.at = Spot { x, y };
    }
    game
}

/// `up hold rock` as it is sent.
fn plan(words: &str) -> String {
    let [first, second, throw] = words.split(' ').collect::<Vec<_>>().try_into().unwrap();
    format!(
        r#"{{"commands":[{{"beatIndex":0,"kind":"move","direction":"{first}"}},{{"beatIndex":1,"kind":"move","direction":"{second}"}},{{"beatIndex":2,"kind":"action","action":"{throw}"}}]}}"#
    )
}

fn dance(game: &mut Dance, plans: [&str; 4]) {
    for (seat, words) in (0..).zip(plans) {
        play(game, seat, &plan(words), &mut draws()).unwrap();
    }
}

fn at(game: &Dance, seat: usize) -> (u8, u8) {
    (game.dancers[seat].at.x, game.dancers[seat].at.y)
}

/// Somewhere nobody else comes by.
const FAR: [(u8, u8); 4] = [(0, 0), (16, 0), (16, 16), (0, 16)];
const HOLD: &str = "hold hold rock";

#[test]
fn a_step_goes_one_cell_and_two_a_round() {
    let mut game = Dance::start(4, &mut draws());
    dance(&mut game, ["up left rock", "right right rock", "down hold rock", "hold up rock"]);
    assert_eq!([0, 1, 2, 3].map(|seat| at(&game, seat)), [(3, 3), (14, 4), (12, 13), (4, 11)]);
    assert!(game.stunned.is_empty());
}

#[test]
fn a_wall_stuns_for_the_rest_of_the_round_and_no_longer() {
    let mut game = standing_at(FAR);
    dance(&mut game, ["up right rock", HOLD, HOLD, HOLD]);
    assert_eq!((at(&game, 0), game.stunned), ((0, 0), Seats::only(0)));
    dance(&mut game, ["right right rock", HOLD, HOLD, HOLD]);
    assert_eq!((at(&game, 0), game.stunned), ((2, 0), Seats::NONE));
}

#[test]
fn two_who_step_onto_the_same_cell_are_both_stunned_and_who_holds_is_not() {
    let mut game = standing_at([(5, 5), (7, 5), (16, 16), (0, 16)]);
    dance(&mut game, ["right hold rock", "left hold rock", HOLD, HOLD]);
    assert_eq!((at(&game, 0), at(&game, 1), game.stunned), ((5, 5), (7, 5), Seats::first(2)));
    let mut game = standing_at([(5, 5), (6, 5), (16, 16), (0, 16)]);
    dance(&mut game, ["right hold rock", HOLD, HOLD, HOLD]);
    assert_eq!((at(&game, 0), game.stunned), ((5, 5), Seats::only(0)));
    // And being stunned next to one who is not, it is out.
    assert_eq!((game.out, game.score(1)), (Seats::only(0), 1));
}

#[test]
fn dancers_follow_each_other_swap_places_and_turn_in_a_ring() {
    let mut game = standing_at([(5, 5), (6, 5), (16, 16), (0, 16)]);
    dance(&mut game, ["right hold rock", "right hold rock", HOLD, HOLD]);
    assert_eq!((at(&game, 0), at(&game, 1), game.stunned), ((6, 5), (7, 5), Seats::NONE));
    dance(&mut game, ["right hold rock", "left hold rock", HOLD, HOLD]);
    assert_eq!((at(&game, 0), at(&game, 1), game.stunned), ((7, 5), (6, 5), Seats::NONE));
    let ring = [(5, 5), (6, 5), (6, 6), (5, 6)];
    let mut game = standing_at(ring);
    dance(&mut game, ["right hold rock", "down hold rock", "left hold rock", "up hold rock"]);
    assert_eq!([3, 0, 1, 2].map(|seat| at(&game, seat)), ring);
    assert!(game.stunned.is_empty() && game.out.is_empty());
}

#[test]
fn who_follows_one_that_stumbles_stumbles_too() {
    let mut game = standing_at([(0, 5), (1, 5), (2, 5), (16, 16)]);
    dance(&mut game, ["left hold rock", "left hold rock", "left hold rock", HOLD]);
    assert_eq!(game.stunned, Seats::first(3));
    assert_eq!([0, 1, 2].map(|seat| at(&game, seat)), [(0, 5), (1, 5), (2, 5)]);
    // Side by side and all of them stunned: nothing happens.
    assert!(game.out.is_empty());
}

#[test]
fn a_duel_is_rock_paper_scissors_and_the_same_throw_changes_nothing() {
    for (one, other, winner) in [
        ("rock", "scissors", Some(0)),
        ("scissors", "paper", Some(0)),
        ("paper", "rock", Some(0)),
        ("scissors", "rock", Some(1)),
        ("paper", "scissors", Some(1)),
        ("rock", "paper", Some(1)),
        ("rock", "rock", None),
        ("paper", "paper", None),
        ("scissors", "scissors", None),
    ] {
        let mut game = standing_at([(5, 5), (5, 6), (16, 16), (0, 16)]);
        dance(&mut game, [&format!("hold hold {one}"), &format!("hold hold {other}"), HOLD, HOLD]);
        let out = winner.map_or(Seats::NONE, |winner: u8| Seats::only(1 - winner));
        assert_eq!(game.out, out, "{one} {other}");
        assert_eq!([game.score(0), game.score(1)], [0, 1].map(|seat| i32::from(winner == Some(seat))));
    }
}

#[test]
fn diagonal_neighbours_do_not_duel() {
    let mut game = standing_at([(5, 5), (6, 6), (16, 16), (0, 16)]);
    dance(&mut game, ["hold hold rock", "hold hold paper", HOLD, HOLD]);
    assert!(game.out.is_empty());
}

#[test]
fn every_pair_is_judged_before_anybody_leaves() {
    // The middle one beats the left one and loses to the right one.
    let mut game = standing_at([(5, 5), (6, 5), (7, 5), (0, 16)]);
    dance(&mut game, ["hold hold scissors", "hold hold rock", "hold hold paper", HOLD]);
    assert_eq!(game.out, Seats::first(2));
    assert_eq!([0, 1, 2, 3].map(|seat| game.score(seat)), [0, 1, 1, 0]);
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Round 1: AgentBeta beats AgentAlpha, AgentGamma beats AgentBeta");
    assert_eq!(said(|f| game.action(0, AGENTS, f)), "Danced hold, hold, scissors and is out");
}

#[test]
fn the_last_one_standing_wins_whatever_the_points() {
    let mut game = standing_at([(5, 5), (6, 5), (7, 5), (7, 6)]);
    game.dancers[1].score = 1;
    dance(&mut game, ["hold hold scissors", "hold hold rock", "hold hold paper", "hold hold scissors"]);
    // Delta beats Gamma beats Beta beats Alpha.
    assert_eq!(game.out, Seats::first(3));
    let standing = game.standing().unwrap();
    assert_eq!(
        (standing.winner(), &standing.scores[..4], &standing.places[..4]),
        (Some(3), &[0, 2, 1, 1][..], &[4, 2, 3, 1][..])
    );
    assert_eq!(said(|f| game.reason(AGENTS, f)), "AgentDelta is the last one standing after 1 rounds");
    let state = &view(&game, Viewer::Spectator, AGENTS)["publicState"];
    assert_eq!(
        state["matchResult"],
        json!({"reason": "last_standing", "rounds": 1, "rankings": [
            {"agentId": "uuid-4", "agentName": "AgentDelta", "rank": 1, "finalScore": 1},
            {"agentId": "uuid-2", "agentName": "AgentBeta", "rank": 2, "finalScore": 2},
            {"agentId": "uuid-3", "agentName": "AgentGamma", "rank": 3, "finalScore": 1},
            {"agentId": "uuid-1", "agentName": "AgentAlpha", "rank": 4, "finalScore": 0},
        ]})
    );
}

#[test]
fn after_thirty_rounds_the_most_points_win_even_of_one_who_is_out() {
    let mut game = standing_at([(5, 5), (6, 5), (7, 5), (0, 16)]);
    dance(&mut game, ["hold hold scissors", "hold hold rock", "hold hold paper", HOLD]);
    while !game.is_over() {
        dance(&mut game, [HOLD; 4]);
    }
    assert_eq!(game.rounds, 30);
    assert_eq!(&game.standing().unwrap().places[..4], [3, 1, 1, 3]);
    assert_eq!(
        said(|f| game.reason(AGENTS, f)),
        "After 30 rounds: AgentAlpha 0, AgentBeta 1, AgentGamma 1, AgentDelta 0"
    );
    let state = &view(&game, Viewer::Spectator, AGENTS)["publicState"];
    assert_eq!((&state["round"], &state["matchResult"]["reason"]), (&json!(30), &json!("rounds")));
}

#[test]
fn who_is_out_still_plans_is_refused_nonsense_and_changes_nothing_but_its_motto() {
    let mut game = standing_at([(5, 5), (6, 5), (16, 16), (0, 16)]);
    dance(&mut game, ["hold hold scissors", HOLD, HOLD, HOLD]);
    assert_eq!(game.out, Seats::only(0));
    assert!(game.to_move().has(0));
    assert!(play(&mut game, 0, r#"{"commands":[]}"#, &mut draws()).is_err());
    // Its plan would lead into Beta; and Beta walks over the place where it was.
    dance(&mut game, ["right right paper", "left left rock", HOLD, HOLD]);
    assert_eq!((at(&game, 1), game.out, game.stunned), ((4, 5), Seats::only(0), Seats::NONE));
    assert_eq!(said(|f| game.action(0, AGENTS, f)), "Watched");
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Round 2: nobody is out");
}

#[test]
fn plans_and_mottos_stay_hidden_until_the_last_plan_is_in() {
    let mut game = Dance::start(4, &mut draws());
    let motto = r#"{"commands":[{"beatIndex":2,"kind":"action","action":"paper","motto":"my \u0068eart"},
        {"beatIndex":0,"kind":"move","direction":"up"},{"beatIndex":1,"kind":"move","direction":"hold"}]}"#;
    let value = parse(motto.as_bytes()).unwrap();
    assert_eq!(game.said(0, value).unwrap().to_string(), "my heart");
    assert!(game.said(0, parse(plan(HOLD).as_bytes()).unwrap()).is_none());
    // What the caller has kept is lent, but not yet shown.
    let sitters = ["uuid-1", "uuid-2", "uuid-3", "uuid-4"].map(|id| Sitter { id, ..Sitter::default() });
    let mut spoken = sitters;
    spoken[0].said = "my heart";
    let before = view(&game, Viewer::Spectator, Table(&sitters));
    play(&mut game, 0, motto, &mut draws()).unwrap();
    for seat in 1..4 {
        assert_eq!(view(&game, Viewer::Spectator, Table(&spoken)), before);
        assert_eq!(view(&game, Viewer::Seat(3), Table(&spoken)), before);
        assert_eq!(said(|f| game.action(0, AGENTS, f)), "");
        assert_eq!(said(|f| game.summary(AGENTS, f)), "");
        play(&mut game, seat, &plan(HOLD), &mut draws()).unwrap();
    }
    let agents = &view(&game, Viewer::Spectator, Table(&spoken))["publicState"]["agents"];
    assert_eq!((&agents[0]["motto"], &agents[0]["y"]), (&json!("my heart"), &json!(3)));
    // It is still there after a round in which nothing was said.
    dance(&mut game, [HOLD; 4]);
    let agents = &view(&game, Viewer::Spectator, Table(&spoken))["publicState"]["agents"];
    assert_eq!(agents[0]["motto"], json!("my heart"));
}

#[test]
fn the_public_state_is_what_the_specification_asks_for() {
    let mut game = Dance::start(4, &mut draws());
    let seen = view(&game, Viewer::Seat(0), AGENTS);
    let state = &seen["publicState"];
    assert_eq!(state["map"], json!({"width": 17, "height": 17}));
    assert_eq!((&state["round"], &state["maxRounds"], &state["matchResult"]), (&json!(1), &json!(30), &json!(null)));
    assert_eq!(state["beatSequence"]["rounds"].as_array().unwrap().len(), 30);
    assert_eq!(
        state["agents"][1],
        json!({"agentId": "uuid-2", "agentName": "AgentBeta", "x": 12, "y": 4, "score": 0,
            "eliminated": false, "stunned": false, "motto": "", "lastPlan": null})
    );
    let scores = json!({"uuid-1": 0, "uuid-2": 0, "uuid-3": 0, "uuid-4": 0});
    assert_eq!(seen["extra"], json!({"currentRound": 1, "maxRounds": 30, "scores": scores}));
    // The specification's own sample agent, word for word: a rock on stress beats, up on all others.
    let round = &state["beatSequence"]["rounds"][state["round"].as_u64().unwrap() as usize - 1];
    let command = |(index, beat): (usize, &serde_json::Value)| match beat["kind"] == "stress" {
        true => json!({"beatIndex": index, "kind": "action", "action": "rock"}),
        false => json!({"beatIndex": index, "kind": "move", "direction": "up"}),
    };
    let commands: Vec<_> = round["beats"].as_array().unwrap().iter().enumerate().map(command).collect();
    let sample = json!({ "commands": commands });
    for seat in 0..4 {
        play(&mut game, seat, &sample.to_string(), &mut draws()).unwrap();
    }
    assert_eq!((game.turn(), last_move(&game, 2)), (2, sample.clone()));
    assert_eq!(view(&game, Viewer::Spectator, AGENTS)["publicState"]["agents"][2]["lastPlan"], sample);
    assert_eq!(said(|f| game.action(2, AGENTS, f)), "Danced up, up, rock");
}

#[test]
fn a_bad_plan_is_told_the_field_and_the_rule_and_changes_nothing() {
    let good = plan(HOLD);
    for (bad, field) in [
        ("[]".into(), "commands:"),
        (r#"{"commands":{}}"#.into(), "commands:"),
        (r#"{"commands":[]}"#.into(), "commands:"),
        (good.replace(r#""beatIndex":1"#, r#""beatIndex":0"#), "beatIndex:"),
        (good.replace(r#""beatIndex":1"#, r#""beatIndex":3"#), "beatIndex:"),
        (good.replace(r#""beatIndex":1"#, r#""beatIndex":-1"#), "beatIndex:"),
        (good.replace(r#""beatIndex":1"#, r#""beatIndex":"1""#), "beatIndex:"),
        (good.replace(r#""beatIndex":1"#, r#""beatIndex":18446744073709551616"#), "beatIndex:"),
        (good.replace(r#""kind":"action""#, r#""kind":"stress""#), "kind:"),
        (good.replace(r#""kind":"move""#, r#""kind":"action""#), "kind:"),
        (good.replace(r#""direction":"hold""#, r#""direction":"north""#), "direction:"),
        (good.replace(r#""action":"rock""#, r#""action":"well""#), "action:"),
        (good.replace(r#""action":"rock""#, r#""action":"rock","motto":7"#), "motto:"),
        (good.replace(r#""action":"rock""#, &format!(r#""action":"rock","motto":"{}""#, "é".repeat(101))), "motto:"),
    ] {
        let mut game = Dance::start(4, &mut draws());
        let before = format!("{game:?}");
        let Illegal(why) = play(&mut game, 0, &bad, &mut draws()).expect_err(&bad);
        assert!(why.starts_with(field), "{bad}: {why}");
        assert_eq!(format!("{game:?}"), before);
    }
    let longest = good.replace(r#""action":"rock""#, &format!(r#""action":"rock","motto":"{}""#, "é".repeat(100)));
    play(&mut Dance::start(4, &mut draws()), 0, &longest, &mut draws()).unwrap();
}

#[test]
fn a_second_plan_and_a_stranger_are_refused() {
    let mut game = Dance::start(4, &mut draws());
    play(&mut game, 0, &plan(HOLD), &mut draws()).unwrap();
    for seat in [0, 4, 255] {
        assert!(play(&mut game, seat, &plan("up up rock"), &mut draws()).is_err());
    }
    assert_eq!(game.to_move(), Seats::first(4).without(Seats::only(0)));
}

#[test]
fn who_gives_up_is_last_and_the_rest_stand_by_points() {
    let mut game = standing_at([(5, 5), (6, 5), (16, 16), (0, 16)]);
    dance(&mut game, ["hold hold paper", HOLD, HOLD, HOLD]);
    game.forfeit(Seats::only(0), &mut draws());
    assert_eq!(&game.standing().unwrap().places[..4], [4, 1, 1, 1]);
    assert!(said(|f| game.reason(AGENTS, f)).starts_with("AgentAlpha gave up. "));
    assert_eq!(said(|f| game.export(f)), "1,1,0,0,0,ACD");
    assert_eq!(
        result(&game, AGENTS),
        r#"{"total_rounds":1,"final_score":{"uuid-1":1,"uuid-2":0,"uuid-3":0,"uuid-4":0},"standing":["uuid-1","uuid-3","uuid-4"]}"#
    );
}

#[test]
fn there_are_seventy_five_plans_and_the_first_is_safe() {
    let game = Dance::start(4, &mut draws());
    let all = moves_of(&game, 0, 1000);
    assert_eq!(all.len(), 75);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&all[0]).unwrap(),
        serde_json::from_str::<serde_json::Value>(&plan(HOLD)).unwrap()
    );
    assert!(moves_of(&game, 4, 1000).is_empty());
}

/// The same game once more, written as plainly as can be: a dancer gets where it wants if the cell is on the floor,
/// nobody else wants it, and whoever is there gets away.
#[derive(Clone)]
struct Oracle {
    dancers: Vec<Plain>,
}

#[derive(Clone)]
struct Plain {
    x: i32,
    y: i32,
    points: i64,
    out: bool,
    stunned: bool,
}

impl Oracle {
    fn beat(&mut self, steps: &[&str]) {
        let wishes: Vec<Option<(i32, i32)>> = (0..4)
            .map(|i| {
                let d = &self.dancers[i];
                let (x, y) = match steps[i] {
                    "up" => (d.x, d.y - 1),
                    "down" => (d.x, d.y + 1),
                    "left" => (d.x - 1, d.y),
                    "right" => (d.x + 1, d.y),
                    _ => return None,
                };
                (!d.out && !d.stunned).then_some((x, y))
            })
            .collect();
        let gets: Vec<bool> = (0..4).map(|i| self.gets_there(i, &wishes, &mut vec![])).collect();
        for i in 0..4 {
            match wishes[i] {
                Some((x, y)) if gets[i] => (self.dancers[i].x, self.dancers[i].y) = (x, y),
                Some(_) => self.dancers[i].stunned = true,
                None => {}
            }
        }
    }

    fn gets_there(&self, i: usize, wishes: &[Option<(i32, i32)>], asked: &mut Vec<usize>) -> bool {
        if asked.contains(&i) {
            return true; // A ring: everybody in it moves on.
        }
        asked.push(i);
        let Some((x, y)) = wishes[i] else { return false };
        (0..17).contains(&x)
            && (0..17).contains(&y)
            && (0..4).all(|j| j == i || wishes[j] != Some((x, y)))
            && (0..4).all(|j| {
                let other = &self.dancers[j];
                j == i || other.out || (other.x, other.y) != (x, y) || self.gets_there(j, wishes, asked)
            })
    }

    fn stress(&mut self, throws: &[&str]) {
        let before = self.dancers.clone();
        for i in 0..4 {
            for j in 0..4 {
                let (a, b) = (&before[i], &before[j]);
                let near = (a.x - b.x).abs() + (a.y - b.y).abs() == 1;
                let wins = ["rock scissors", "scissors paper", "paper rock"]
                    .contains(&format!("{} {}", throws[i], throws[j]).as_str());
                if near && !a.out && !b.out && !a.stunned && (b.stunned || wins) {
                    self.dancers[i].points += 1;
                    self.dancers[j].out = true;
                }
            }
        }
    }
}

#[test]
fn thousands_of_games_go_as_the_plain_rules_say() {
    let mut dice = Dice(7);
    let (mut ended_early, mut stunned, mut fallen) = (0, 0, 0);
    for _ in 0..4000 {
        // Close together and next to a wall, so that something happens; every third game further apart.
        let room = [4, 6, 17][dice.below(3)];
        let mut places = vec![];
        while places.len() < 4 {
            let place = (dice.below(room) as u8, dice.below(room) as u8);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let mut game = standing_at(places.clone().try_into().unwrap());
        let plain = |&(x, y): &(u8, u8)| Plain { x: x.into(), y: y.into(), points: 0, out: false, stunned: false };
        let mut oracle = Oracle { dancers: places.iter().map(plain).collect() };
        while !game.is_over() {
            let steps: Vec<[&str; 2]> = (0..4).map(|_| [0, 1].map(|_| STEPS[dice.below(5)])).collect();
            let throws: Vec<&str> = (0..4).map(|_| THROWS[dice.below(3)]).collect();
            let (out, rounds) = (game.out, game.rounds);
            for seat in 0..4 {
                assert_eq!(game.rounds, rounds);
                let words = format!("{} {} {}", steps[seat][0], steps[seat][1], throws[seat]);
                play(&mut game, seat as u8, &plan(&words), &mut draws()).unwrap();
            }
            oracle.dancers.iter_mut().for_each(|dancer| dancer.stunned = false);
            for beat in 0..2 {
                let before = oracle.dancers.clone();
                oracle.beat(&steps.iter().map(|steps| steps[beat]).collect::<Vec<_>>());
                // A stunned dancer never moves.
                assert!(before.iter().zip(&oracle.dancers).all(|(a, b)| !a.stunned || (a.x, a.y) == (b.x, b.y)));
            }
            oracle.stress(&throws);
            for (seat, plain) in (0..).zip(&oracle.dancers) {
                let dancer = game.dancer(seat).unwrap();
                assert_eq!((i32::from(dancer.at.x), i32::from(dancer.at.y)), (plain.x, plain.y));
                assert_eq!(i64::from(dancer.score), plain.points);
                assert_eq!((game.out.has(seat), game.stunned.has(seat)), (plain.out, plain.stunned));
                // Nobody leaves the floor, nobody comes back, and nobody shares a cell.
                assert!(dancer.at.x < 17 && dancer.at.y < 17);
                assert!(!out.has(seat) || game.out.has(seat));
                let alone = |other: &Seat| *other == seat || game.dancer(*other).unwrap().at != dancer.at;
                assert!(game.out.has(seat) || game.floor().iter().all(|other| alone(&other)));
            }
            stunned += game.stunned.len();
            fallen += game.fell.len();
            // Nobody can beat the one nobody has beaten.
            assert!(!game.floor().is_empty());
            assert_eq!(game.standing().is_some(), game.to_move().is_empty());
        }
        ended_early += u32::from(game.rounds < 30);
        let again = AnyGame::recall(GameKind::Dance, Seed([1; 32]), game.digest());
        assert_eq!(again.standing(), game.standing());
        // Who moved last is told what it played when the game is over.
        assert!((0..4).all(|seat| last_move(&again, seat) == last_move(&game, seat)));
    }
    assert!(ended_early > 500 && stunned > 20_000 && fallen > 5000, "{ended_early} {stunned} {fallen}");
}

proptest! {
    #[test]
    fn whatever_a_player_sends_is_judged(cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
                                         seat in 0..6u8) {
        let mut text = plan("up left scissors").into_bytes();
        for (place, byte) in cuts {
            let place = place.index(text.len());
            text[place] = byte;
        }
        let mut game = Dance::start(4, &mut draws());
        if let Ok(value) = parse(&text) {
            let judged = game.play(seat, value, &mut draws());
            prop_assert_eq!(judged.is_ok(), !game.to_move().has(seat) && seat < 4);
            let _ = game.said(seat, value);
        }
    }
}

#[test]
fn a_view_is_a_few_kilobytes() {
    struct View(Dance);
    impl Serialize for View {
        fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            crate::protocols::write_view(&self.0, Viewer::Spectator, AGENTS, &mut map)?;
            map.end()
        }
    }
    let bytes = crate::json::count(&View(Dance::start(4, &mut draws())));
    assert!((3000..5000).contains(&bytes), "{bytes}");
}

#[test]
fn the_house_beats_three_who_dance_at_random() {
    const GAMES: u32 = 60;
    let mut dice = Dice(5);
    let (mut ahead, mut points, mut others) = (0, 0, 0);
    for n in 0..GAMES {
        let house = (n % 4) as u8;
        let mut game = Dance::start(4, &mut draws());
        while !game.is_over() {
            let view = view(&game, Viewer::Seat(house), AGENTS).to_string();
            for seat in 0..4 {
                let plan = if seat == house {
                    let view = parse(view.as_bytes()).unwrap();
                    Dance::house_move(view, AGENTS.id(house), dice.below(1 << 30) as u32).unwrap()
                } else {
                    Plan::all().nth(dice.below(75)).unwrap()
                };
                play(&mut game, seat, &serde_json::to_string(&plan).unwrap(), &mut draws()).unwrap();
            }
        }
        ahead += u32::from(game.standing().unwrap().winner() == Some(house));
        points += game.score(house);
        others += (0..4).filter(|&seat| seat != house).map(|seat| game.score(seat)).sum::<i32>();
    }
    // A fourth of the games would be luck. The three others together make fewer points than the one.
    assert!(ahead > GAMES * 2 / 5 && points > others, "{ahead} of {GAMES}, {points} : {others}");
}

#[test]
fn the_house_makes_no_plan_from_what_is_no_view_of_its_own() {
    let seen = view(&Dance::start(4, &mut draws()), Viewer::Spectator, AGENTS).to_string();
    assert!(Dance::house_move(parse(seen.as_bytes()).unwrap(), "uuid-4", 1).is_some());
    for (text, me) in [(seen.as_str(), "uuid-5"), ("{}", "uuid-1"), (r#"{"publicState":{"agents":[1,{}]}}"#, "uuid-1")]
    {
        assert!(Dance::house_move(parse(text.as_bytes()).unwrap(), me, 1).is_none());
    }
}

#[test]
fn the_house_makes_no_plan_for_somebody_who_is_not_on_the_floor() {
    let mut seen = view(&Dance::start(4, &mut draws()), Viewer::Spectator, AGENTS);
    for (x, y) in [(255, 4), (4, 255), (17, 4), (4, 17)] {
        (seen["publicState"]["agents"][0]["x"], seen["publicState"]["agents"][0]["y"]) = (x.into(), y.into());
        assert!(Dance::house_move(parse(seen.to_string().as_bytes()).unwrap(), "uuid-1", 1).is_none(), "{x}, {y}");
    }
}
