extern crate std;

use std::collections::HashSet;
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::games::testing::{AGENTS, last_move, moves_of, play, result, said};
use crate::games::{AnyGame, GameKind, Sitter};
use crate::json::parse;

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

fn start(seed: u8) -> Rush {
    Rush::start(2, &mut Draws::new(Seed([seed; 32])))
}

struct View<'a>(&'a Rush, Viewer, Table<'a>);

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        crate::protocols::write_view(self.0, self.1, self.2, &mut map)?;
        map.end()
    }
}

/// The member `extra`, through our own writer: it passes on a memory as it came.
fn extra_at(table: Table<'_>, game: &Rush, viewer: Viewer) -> serde_json::Value {
    let mut text = vec![0; 64 * 1024];
    let mut sink = crate::json::Slice::new(&mut text);
    crate::json::write(&View(game, viewer, table), &mut sink).unwrap();
    let bytes = sink.written().len();
    let mut seen: serde_json::Value = serde_json::from_slice(&text[..bytes]).unwrap();
    seen["extra"].take()
}

fn extra(game: &Rush, viewer: Viewer) -> serde_json::Value {
    extra_at(AGENTS, game, viewer)
}

fn grid(extra: &serde_json::Value) -> Vec<Vec<i64>> {
    serde_json::from_value(extra["grid"].clone()).unwrap()
}

fn spots() -> impl Iterator<Item = Spot> {
    (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| Spot { x, y }))
}

/// The first place with such a ground.
fn find(game: &Rush, wanted: Ground) -> Spot {
    let map = Map::new(game.key);
    spots().find(|&spot| game.ground(&map, spot) == wanted).unwrap()
}

const WAIT: &str = r#"{"action":"wait"}"#;
const HARVEST: &str = r#"{"action":"harvest"}"#;

fn step(way: &str) -> String {
    format!(r#"{{"action":"move","direction":"{way}"}}"#)
}

fn tick(game: &mut Rush, moves: [&str; 2]) {
    for (seat, wanted) in (0..).zip(moves) {
        play(game, seat, wanted, &mut draws()).unwrap();
    }
}

#[test]
fn every_sort_of_resource_is_one_piece_of_its_own_worth_and_leaves_grass() {
    for (ground, name, worth) in
        [(Ground::Bush, "wood", 1), (Ground::Stone, "stone", 2), (Ground::Gold, "gold", 5), (Ground::Berry, "food", 3)]
    {
        let mut game = start(1);
        let spot = find(&game, ground);
        game.drones[0].at = spot;
        tick(&mut game, [HARVEST, WAIT]);
        let seen = extra(&game, Viewer::Seat(0));
        let mut pieces = json!({"wood": 0, "stone": 0, "gold": 0, "food": 0});
        pieces[name] = json!(1);
        assert_eq!(seen["playerResources"]["uuid-1"], pieces);
        assert_eq!((&seen["scores"]["uuid-1"], &seen["scores"]["uuid-2"]), (&json!(worth), &json!(0)));
        assert_eq!(game.score(0), worth);
        assert_eq!(grid(&seen)[usize::from(spot.y)][usize::from(spot.x)], 0);
        assert_eq!(said(|f| game.action(0, AGENTS, f)), format!("Harvested {name}"));
        assert_eq!(said(|f| game.summary(AGENTS, f)), format!("Tick 1: AgentAlpha {worth}, AgentBeta 0"));
        assert!(play(&mut game, 0, HARVEST, &mut draws()).is_err());
    }
}

#[test]
fn north_is_up_and_a_move_goes_one_cell() {
    let mut game = start(1);
    let map = Map::new(game.key);
    let free = |spot: Spot| {
        let ways = Direction::ALL.map(|way| spot.towards(way));
        ways.iter().all(|to| to.is_some_and(|to| !matches!(map.ground(to), Ground::Water | Ground::Mountain)))
    };
    let from = spots().find(|&spot| free(spot)).unwrap();
    for (way, x, y) in [("north", 0, -1), ("south", 0, 1), ("east", 1, 0), ("west", -1, 0)] {
        game.drones[0].at = from;
        tick(&mut game, [&step(way), WAIT]);
        let position = &extra(&game, Viewer::Seat(0))["playerPositions"]["uuid-1"];
        assert_eq!(*position, json!({"x": i32::from(from.x) + x, "y": i32::from(from.y) + y}));
        assert_eq!(last_move(&game, 0), json!({"action": "move", "direction": way}));
        assert_eq!(said(|f| game.action(0, AGENTS, f)), format!("Moved {way}"));
    }
}

#[test]
fn drones_pass_each_other_and_of_two_harvests_one_counts_in_turns() {
    for first in [0, 1] {
        let mut game = start(1);
        let spot = find(&game, Ground::Berry);
        game.tick = first;
        game.drones[0].at = spot;
        game.drones[1].at = spot;
        tick(&mut game, [HARVEST; 2]);
        let (first, second) = (first as u8, 1 - first as u8);
        assert_eq!((game.score(first), game.score(second)), (3, 0));
        assert_eq!(said(|f| game.action(first, AGENTS, f)), "Harvested food");
        assert_eq!(said(|f| game.action(second, AGENTS, f)), "Harvested nothing: the other drone was quicker");
        assert_eq!(last_move(&game, second), json!({"action": "harvest"}));
    }
}

#[test]
fn a_bad_move_is_told_the_field_and_the_rule_and_changes_nothing() {
    let big = format!(r#"{{"action":"wait","memory":{{"a":"{}"}}}}"#, "x".repeat(MEMORY - 7));
    let long = format!(r#"{{"action":"wait","thought":"{}"}}"#, "é".repeat(101));
    for (bad, field) in [
        ("[]", "move:"),
        ("\"wait\"", "move:"),
        ("{}", "action:"),
        (r#"{"action":"fly"}"#, "action:"),
        (r#"{"action":["wait"]}"#, "action:"),
        (r#"{"action":"harvest"}"#, "action:"),
        (r#"{"action":"move"}"#, "direction:"),
        (r#"{"action":"move","direction":"up"}"#, "direction:"),
        (r#"{"action":"move","direction":0}"#, "direction:"),
        (r#"{"action":"wait","thought":1}"#, "thought:"),
        (&long, "thought:"),
        (r#"{"action":"wait","memory":[]}"#, "memory:"),
        (r#"{"action":"wait","memory":"x"}"#, "memory:"),
        (&big, "memory:"),
    ] {
        let mut game = start(1);
        let before = format!("{game:?}");
        let Illegal(why) = play(&mut game, 0, bad, &mut draws()).expect_err(bad);
        assert!(why.starts_with(field), "{bad}: {why}");
        assert_eq!(format!("{game:?}"), before);
    }
    // One byte or one character less is right.
    for good in [big.replacen('x', "", 1), long.replacen('é', "", 1)] {
        play(&mut start(1), 0, &good, &mut draws()).unwrap();
    }
}

#[test]
fn a_move_off_the_map_into_water_or_a_mountain_is_refused() {
    let game = start(1);
    let map = Map::new(game.key);
    let mut refused = HashSet::new();
    for spot in spots().filter(|&spot| !matches!(map.ground(spot), Ground::Water | Ground::Mountain)) {
        for way in Direction::ALL {
            let mut game = game.clone();
            game.drones[0].at = spot;
            match (play(&mut game, 0, &step(way.name()), &mut draws()), spot.towards(way)) {
                (Ok(()), to) => assert!(!matches!(map.ground(to.unwrap()), Ground::Water | Ground::Mountain)),
                (Err(Illegal(why)), None) => assert!(refused.insert(why) || why.contains("ends")),
                (Err(Illegal(why)), Some(to)) => {
                    let name = if map.ground(to) == Ground::Water { "water" } else { "mountain" };
                    assert!(why.contains(name), "{why} at {to:?}");
                    refused.insert(why);
                }
            }
        }
    }
    assert_eq!(refused.len(), 3);
}

#[test]
fn the_moves_that_the_specification_prints_are_understood() {
    let mut game = start(1);
    let thinking =
        r#"{"action": "wait", "thought": "Looking for gold veins...", "memory": {"visited": [[10,10],[11,10]]}}"#;
    let value = parse(thinking.as_bytes()).unwrap();
    assert_eq!(game.note(0, value).unwrap().raw(), r#"{"visited": [[10,10],[11,10]]}"#);
    assert_eq!(game.said(0, value).unwrap().to_string(), "Looking for gold veins...");
    tick(&mut game, [thinking, WAIT]);
    assert!(moves_of(&game, 0, 9).iter().any(|legal| legal.starts_with(r#"{"action":"move","direction":""#)));
    assert_eq!(moves_of(&game, 0, 9)[0], WAIT);
    for nothing in [WAIT, r#"{"action":"wait","thought":null,"memory":null}"#] {
        let value = parse(nothing.as_bytes()).unwrap();
        assert!(game.note(0, value).is_none() && game.said(0, value).is_none());
        tick(&mut game, [nothing, WAIT]);
    }
}

#[test]
fn a_state_has_the_fields_of_the_specification_and_no_others() {
    let game = start(1);
    let seen = extra(&game, Viewer::Seat(1));
    let mut names: Vec<_> = seen.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    let mut expected = [
        "tick",
        "maxTicks",
        "mapSize",
        "grid",
        "playerPositions",
        "playerResources",
        "playerThoughts",
        "scores",
        "memory",
    ];
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!((&seen["tick"], &seen["maxTicks"], &seen["mapSize"]), (&json!(0), &json!(500), &json!(100)));
    assert_eq!(seen["memory"], json!(null));
    assert!(extra(&game, Viewer::Spectator).get("memory").is_none());
    let grid = grid(&extra(&game, Viewer::Owner));
    assert!(grid.len() == 100 && grid.iter().all(|row| row.len() == 100));
    let stations = grid.iter().flatten().filter(|&&cell| cell == 7).count();
    assert_eq!(stations, 2);
    let Spot { x, y } = game.drones[1].at;
    assert_eq!(
        (&seen["playerPositions"]["uuid-2"], grid[usize::from(y)][usize::from(x)]),
        (&json!({"x": x, "y": y}), 7)
    );
}

#[test]
fn a_memory_comes_back_to_its_own_drone_only_and_a_thought_to_everybody_for_one_tick() {
    let sitters = [
        Sitter { id: "a", note: r#"{"plan":[1,2]}"#, said: "gold!", ..Sitter::default() },
        Sitter { id: "b", ..Sitter::default() },
    ];
    let table = Table(&sitters);
    let mut game = start(1);
    let thoughts = |game: &Rush, viewer| extra_at(table, game, viewer)["playerThoughts"].clone();
    play(&mut game, 0, r#"{"action":"wait","thought":"gold!","memory":{"plan":[1,2]}}"#, &mut draws()).unwrap();
    assert_eq!(thoughts(&game, Viewer::Spectator), json!({"a": "", "b": ""}));
    play(&mut game, 1, WAIT, &mut draws()).unwrap();
    for viewer in [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator] {
        assert_eq!(thoughts(&game, viewer), json!({"a": "gold!", "b": ""}));
    }
    assert_eq!(extra_at(table, &game, Viewer::Seat(0))["memory"], json!({"plan": [1, 2]}));
    assert_eq!(extra_at(table, &game, Viewer::Seat(1))["memory"], json!(null));
    assert!(!extra_at(table, &game, Viewer::Spectator).to_string().contains("plan"));
    tick(&mut game, [WAIT; 2]);
    assert_eq!(thoughts(&game, Viewer::Spectator), json!({"a": "", "b": ""}));
    assert_eq!(extra_at(table, &game, Viewer::Seat(0))["memory"], json!({"plan": [1, 2]}));
}

#[test]
fn nothing_of_a_move_is_seen_before_the_other_is_in() {
    let mut game = start(1);
    game.drones[0].at = find(&game, Ground::Gold);
    let all = [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator];
    let before = all.map(|viewer| extra(&game, viewer));
    play(&mut game, 0, HARVEST, &mut draws()).unwrap();
    assert_eq!(all.map(|viewer| extra(&game, viewer)), before);
    assert_eq!(said(|f| game.action(0, AGENTS, f)), "");
    assert_eq!(said(|f| game.summary(AGENTS, f)), "");
    assert!(play(&mut game, 0, WAIT, &mut draws()).is_err());
}

#[test]
fn a_drone_sees_35_cells_to_all_sides_spectators_what_both_see_and_the_owner_everything() {
    let mut dice = Dice(3);
    for seed in 0..40 {
        let mut game = start(seed);
        for drone in &mut game.drones {
            drone.at = Spot { x: dice.below(100) as u8, y: dice.below(100) as u8 };
        }
        let all = grid(&extra(&game, Viewer::Owner));
        let both = grid(&extra(&game, Viewer::Spectator));
        let drones = [0, 1].map(|seat| grid(&extra(&game, Viewer::Seat(seat))));
        for (y, x) in (0..100).flat_map(|y| (0..100).map(move |x| (y, x))) {
            assert_eq!(both[y][x], drones[0][y][x].max(drones[1][y][x]));
        }
        assert!(
            extra(&game, Viewer::Spectator)["playerPositions"].as_object().unwrap().values().all(|at| !at.is_null())
        );
        let mut over = game.clone();
        over.forfeit(Seats::only(0), &mut draws());
        assert_eq!(grid(&extra(&over, Viewer::Spectator)), all, "it can no longer matter");
        assert!(all.iter().flatten().all(|cell| (0..=7).contains(cell)));
        for seat in [0, 1] {
            let seen = extra(&game, Viewer::Seat(seat));
            let (me, other) = (game.drones[usize::from(seat)].at, game.drones[usize::from(1 - seat)].at);
            let near = |x: u8, y: u8| {
                (i32::from(x) - i32::from(me.x)).abs() <= 35 && (i32::from(y) - i32::from(me.y)).abs() <= 35
            };
            for (row, line) in (0..).zip(grid(&seen)) {
                for (column, cell) in (0..).zip(line) {
                    let there = all[usize::from(row)][usize::from(column)];
                    assert_eq!(cell, if near(column, row) { there } else { -1 });
                }
            }
            let id = ["uuid-2", "uuid-1"][usize::from(seat)];
            let expected = if near(other.x, other.y) { json!({"x": other.x, "y": other.y}) } else { json!(null) };
            assert_eq!(seen["playerPositions"][id], expected);
        }
    }
}

#[test]
fn a_stranger_sees_nothing_and_cannot_move() {
    let mut game = start(1);
    let seen = extra(&game, Viewer::Seat(9));
    assert!(grid(&seen).iter().flatten().all(|&cell| cell == -1));
    assert_eq!(seen["playerPositions"], json!({"uuid-1": null, "uuid-2": null}));
    assert!(play(&mut game, 2, WAIT, &mut draws()).is_err());
    assert!(moves_of(&game, 2, 9).is_empty());
}

#[test]
fn it_ends_after_500_ticks_and_the_higher_score_wins() {
    let mut game = start(1);
    game.drones[1].at = find(&game, Ground::Stone);
    tick(&mut game, [WAIT, HARVEST]);
    for _ in 1..TICKS {
        assert_eq!(game.standing(), None);
        tick(&mut game, [WAIT; 2]);
    }
    assert!(game.to_move().is_empty() && play(&mut game, 0, WAIT, &mut draws()).is_err());
    assert_eq!(game.standing().unwrap().winner(), Some(1));
    assert_eq!(said(|f| game.reason(AGENTS, f)), "After 500 ticks: AgentAlpha 0, AgentBeta 2");
    assert_eq!(said(|f| game.export(f)), "500,0,0,2,0");
    assert_eq!(
        result(&game, AGENTS),
        r#"{"total_ticks":500,"final_score":{"uuid-1":0,"uuid-2":2},"gold":{"uuid-1":0,"uuid-2":0}}"#
    );
}

#[test]
fn who_gives_up_loses_whatever_it_has() {
    let mut game = start(1);
    game.drones[0].at = find(&game, Ground::Gold);
    tick(&mut game, [HARVEST, WAIT]);
    game.forfeit(Seats::only(0), &mut draws());
    let standing = game.standing().unwrap();
    assert_eq!((standing.winner(), standing.scores[0]), (Some(1), 5));
    assert_eq!(said(|f| game.reason(AGENTS, f)), "AgentAlpha gave up. After 1 ticks: AgentAlpha 5, AgentBeta 0");
}

/// The same game once more, on a plain grid that the first view of a spectator has shown.
struct Oracle {
    grid: Vec<Vec<i64>>,
    at: [(i64, i64); 2],
    /// Wood, stone, gold, food.
    pieces: [[i64; 4]; 2],
    ticks: usize,
}

impl Oracle {
    fn new(game: &Rush) -> Oracle {
        let at = [0, 1].map(|seat| (i64::from(game.drones[seat].at.x), i64::from(game.drones[seat].at.y)));
        Oracle { grid: grid(&extra(game, Viewer::Owner)), at, pieces: [[0; 4]; 2], ticks: 0 }
    }

    fn cell(&self, (x, y): (i64, i64)) -> i64 {
        if (0..100).contains(&x) && (0..100).contains(&y) { self.grid[y as usize][x as usize] } else { 6 }
    }

    fn to(&self, seat: usize, way: &str) -> (i64, i64) {
        let (x, y) = self.at[seat];
        match way {
            "north" => (x, y - 1),
            "south" => (x, y + 1),
            "west" => (x - 1, y),
            _ => (x + 1, y),
        }
    }

    fn allows(&self, seat: usize, word: &str) -> bool {
        match word {
            "wait" => true,
            "harvest" => (1..=4).contains(&self.cell(self.at[seat])),
            way => self.cell(self.to(seat, way)) < 5 || self.cell(self.to(seat, way)) == 7,
        }
    }

    fn tick(&mut self, words: [&str; 2]) {
        // Harvests first: nobody is in the way of anybody.
        for seat in if self.ticks.is_multiple_of(2) { [0, 1] } else { [1, 0] } {
            let (x, y) = self.at[seat];
            let what = self.cell((x, y));
            if words[seat] == "harvest" && what > 0 {
                let place = match what {
                    1 => 0,
                    2 => 1,
                    3 => 2,
                    4 => 3,
                    _ => unreachable!(),
                };
                self.pieces[seat][place] += 1;
                self.grid[y as usize][x as usize] = 0;
            }
        }
        for seat in [0, 1] {
            if !["wait", "harvest"].contains(&words[seat]) {
                self.at[seat] = self.to(seat, words[seat]);
            }
        }
        self.ticks += 1;
    }
}

#[test]
fn thousands_of_games_go_as_the_plain_rules_say_and_nothing_is_lost_or_made() {
    let mut dice = Dice(11);
    let (mut harvests, mut contested) = (0, 0);
    for n in 0..2000u32 {
        let seed = Seed(core::array::from_fn(|at| (n >> (8 * (at % 2))) as u8));
        let mut game = Rush::start(2, &mut Draws::new(seed));
        if n % 2 == 0 {
            // In the same place, so that they fight for it.
            let spot = find(&game, Ground::Gold);
            game.drones.iter_mut().for_each(|drone| drone.at = spot);
        }
        let mut oracle = Oracle::new(&game);
        let count = |grid: &Vec<Vec<i64>>| {
            [1, 2, 3, 4].map(|kind| grid.iter().flatten().filter(|&&c| c == kind).count() as i64)
        };
        let generated = count(&oracle.grid);
        let mut heading = ["north", "south"];
        while !game.is_over() {
            let words: [&str; 2] = core::array::from_fn(|seat| {
                // Whoever can harvest mostly does; else it goes on, and now and then turns.
                let all = ["wait", "harvest", "north", "south", "east", "west"];
                if oracle.allows(seat, "harvest") && dice.below(8) > 0 {
                    return "harvest";
                }
                if dice.below(6) == 0 || !oracle.allows(seat, heading[seat]) {
                    heading[seat] = all[2 + dice.below(4)];
                }
                let word = if dice.below(20) == 0 { all[dice.below(6)] } else { heading[seat] };
                if oracle.allows(seat, word) { word } else { "wait" }
            });
            for (seat, word) in (0..2).zip(words) {
                for refused in ["harvest", "north", "south", "east", "west"] {
                    if dice.below(10) == 0 && !oracle.allows(seat.into(), refused) {
                        let text = if refused == "harvest" { HARVEST.into() } else { step(refused) };
                        assert!(play(&mut game, seat, &text, &mut draws()).is_err());
                    }
                }
                let text = match word {
                    "wait" | "harvest" => format!(r#"{{"action":"{word}"}}"#),
                    way => step(way),
                };
                play(&mut game, seat, &text, &mut draws()).unwrap();
            }
            contested += u32::from(words == ["harvest"; 2] && oracle.at[0] == oracle.at[1]);
            oracle.tick(words);
            for (seat, drone) in game.drones.iter().enumerate() {
                let Pieces { wood, stone, gold, food } = drone.has;
                assert_eq!([wood, stone, gold, food].map(i64::from), oracle.pieces[seat]);
                assert_eq!((i64::from(drone.at.x), i64::from(drone.at.y)), oracle.at[seat]);
                // Nobody leaves the map or is in water or on a mountain, and a score is what was gathered.
                assert!(![5, 6].contains(&oracle.cell(oracle.at[seat])));
                let [wood, stone, gold, food] = oracle.pieces[seat];
                assert_eq!(i64::from(game.score(seat as u8)), wood + 2 * stone + 5 * gold + 3 * food);
            }
        }
        let left = grid(&extra(&game, Viewer::Owner));
        assert_eq!(left, oracle.grid);
        let gathered: [i64; 4] = core::array::from_fn(|kind| oracle.pieces[0][kind] + oracle.pieces[1][kind]);
        let left = count(&left);
        assert_eq!(core::array::from_fn(|kind| gathered[kind] + left[kind]), generated);
        harvests += gathered.iter().sum::<i64>();
        let again = AnyGame::recall(GameKind::Rush, seed, game.digest());
        assert_eq!((again.standing(), again.digest()), (game.standing(), game.digest()));
        assert_eq!(said(|f| again.export(f)), said(|f| game.export(f)));
    }
    assert!(harvests > 20_000 && contested > 200, "{harvests} {contested}");
}

#[test]
fn the_richest_game_there_can_be_fits_its_digest() {
    let mut game = start(1);
    game.tick = TICKS;
    game.drones[0].has = Pieces { gold: 192, food: 58, ..Pieces::default() };
    game.drones[1].has = Pieces { food: 250, ..Pieces::default() };
    let again = Rush::recall(Seed([1; 32]), game.digest());
    assert_eq!(again.standing(), game.standing());
    assert_eq!(said(|f| again.export(f)), "500,1134,192,750,0");
}

proptest! {
    #[test]
    fn whatever_a_player_sends_is_judged(cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
                                         seat in 0..4u8) {
        let mut text = br#"{"action":"wait","direction":"north","thought":"x\u0041","memory":{"a":[1]}}"#.to_vec();
        for (place, byte) in cuts {
            let place = place.index(text.len());
            text[place] = byte;
        }
        let mut game = start(1);
        if let Ok(value) = parse(&text) {
            let judged = game.play(seat, value, &mut draws());
            prop_assert_eq!(judged.is_ok(), !game.to_move().has(seat) && seat < 2);
            let (_, _) = (game.said(seat, value), game.note(seat, value));
        }
    }
}

#[test]
fn a_state_is_about_twenty_kilobytes() {
    let sizes = (0..20).flat_map(|seed| {
        let game = start(seed);
        [Viewer::Owner, Viewer::Seat(0)].map(|viewer| crate::json::count(&View(&game, viewer, AGENTS)))
    });
    let (low, high) = sizes.fold((usize::MAX, 0), |(low, high), n| (n.min(low), n.max(high)));
    assert!(20_000 < low && high < 30_000, "{low} to {high}");
}

/// What a drone sees, as its view says.
fn seen(game: &Rush, seat: Seat) -> house::Grid {
    let map = Map::new(game.key);
    let cell = |spot| if game.sees(Viewer::Seat(seat), spot) { game.ground(&map, spot) as i8 } else { -1 };
    core::array::from_fn(|y| core::array::from_fn(|x| cell(Spot { x: x as u8, y: y as u8 })))
}

#[test]
fn the_house_gathers_many_times_what_one_does_that_moves_at_random() {
    let mut dice = Dice(5);
    for seed in 0..6 {
        let mut game = start(seed);
        let house = seed % 2;
        while !game.is_over() {
            for seat in 0..2 {
                let chosen = if seat == house {
                    let Spot { x, y } = game.drones[usize::from(seat)].at;
                    serde_json::to_string(&Rush::house_move(&seen(&game, seat), x, y)).unwrap()
                } else {
                    let legal = moves_of(&game, seat, 9);
                    legal[dice.below(legal.len())].clone()
                };
                play(&mut game, seat, &chosen, &mut draws()).unwrap();
            }
        }
        assert!(game.score(house) > 200.max(10 * game.score(1 - house)), "{} {}", game.score(0), game.score(1));
    }
}

#[test]
fn the_house_walks_around_obstacles_to_the_edge_of_the_fog_and_waits_where_it_is_walled_in() {
    let made = |grid: &house::Grid| serde_json::to_value(Rush::house_move(grid, 5, 5)).unwrap();
    let mut grid: house::Grid = [[0; 100]; 100];
    // A bush to the east, behind water that ends in the north.
    grid[5][8] = 1;
    (4..100).for_each(|y| grid[y][6] = 5);
    assert_eq!(made(&grid), json!({"action": "move", "direction": "north"}));
    grid[5][5] = 2;
    assert_eq!(made(&grid), json!({"action": "harvest"}));
    // Nothing but fog, in the west.
    let mut grid: house::Grid = [[0; 100]; 100];
    grid.iter_mut().for_each(|row| row[0] = -1);
    assert_eq!(made(&grid), json!({"action": "move", "direction": "west"}));
    [(4, 5), (6, 5), (5, 4), (5, 6)].into_iter().for_each(|(x, y): (usize, usize)| grid[y][x] = 6);
    assert_eq!(made(&grid), json!({"action": "wait"}));
}
