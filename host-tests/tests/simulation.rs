//! Thousands of leagues in virtual time. A failure names its seed; `LEAGUEBOX_SEED=… cargo test -p host-tests --test
//! simulation` plays that league alone, and `LEAGUEBOX_LEAGUES=…` plays so many. `cargo xtask simulate` plays ten thousand of
//! every kind, with the toys.

use std::panic::catch_unwind;
use std::thread;

use host_tests::simulation::agent::Conduct;
use host_tests::simulation::club::{Club, Evening};
use host_tests::simulation::{Setup, Trace, World, league, league_with_power_cuts, lend, spaces};
use protocol_core::games::GameKind;

fn number_from(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

/// The seeds to play: `usual` of them, or those the environment asks for.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    match number_from("LEAGUEBOX_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..usual,
    }
}

/// Plays a league; a broken promise names the seed it was broken under.
fn play(setup: Setup) -> Trace {
    let (seed, shown) = (setup.seed, format!("{setup:?}"));
    catch_unwind(|| league(setup)).unwrap_or_else(|_| panic!("LEAGUEBOX_SEED={seed} replays this league: {shown}"))
}

/// Plays what the seeds say, on all cores.
fn play_all<T: Send>(seeds: std::ops::Range<u64>, play: impl Fn(u64) -> T + Copy + Send) -> Vec<T> {
    let workers = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    thread::scope(|scope| {
        let run =
            move |worker| seeds.clone().filter(move |seed| seed % workers == worker).map(play).collect::<Vec<_>>();
        let started: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn({
                    let run = run.clone();
                    move || run(worker)
                })
            })
            .collect();
        started.into_iter().flat_map(|worker| worker.join().expect("the seed is named above")).collect()
    })
}

#[test]
fn every_league_keeps_every_promise() {
    let seeds = seeds(number_from("LEAGUEBOX_LEAGUES").unwrap_or(2_000));
    let traces = play_all(seeds, |seed| play(Setup::any(seed)));
    let sum = |of: fn(&Trace) -> u64| traces.iter().map(of).sum::<u64>();
    println!(
        "{} leagues: {} matches, {} inputs, {} messages, {} virtual hours",
        traces.len(),
        sum(|trace| trace.matches),
        sum(|trace| trace.steps),
        sum(|trace| trace.traffic.values().map(|(messages, _)| messages).sum()),
        sum(|trace| trace.lasted) / 3_600_000
    );
}

#[test]
fn a_league_larger_than_the_board_allows_keeps_every_promise() {
    for seed in seeds(2) {
        play(Setup { players: 33 + seed % 32, ..Setup::of_parity(seed) });
    }
}

#[test]
fn leagues_to_be_watched_and_leagues_in_steps_keep_every_promise() {
    for seed in seeds(200) {
        play(Setup::paced(seed));
    }
    let (cuts, acts) = play_with_power_cuts(Setup::paced, seeds(60), true);
    println!("{cuts} power cuts and {acts} acts of the owner");
}

#[test]
fn leagues_with_three_to_six_at_a_table_keep_every_promise() {
    let inputs: u64 = seeds(60).map(|seed| play(Setup::of_many(seed)).steps).sum();
    println!("{inputs} inputs");
}

#[test]
fn leagues_with_three_to_six_at_a_table_lose_nothing_to_power_cuts_and_follow_their_owner() {
    let seeds = seeds(40);
    let (cuts, acts) = play_with_power_cuts(Setup::of_many, seeds.clone(), true);
    println!("{} leagues with {cuts} power cuts and {acts} acts of the owner", seeds.end - seeds.start);
    assert!(cuts > 40 && acts > 40 || seeds.end - seeds.start == 1);
}

#[test]
fn replaying_a_seed_gives_the_same_bytes() {
    for seed in seeds(60) {
        assert_eq!(play(Setup::any(seed)), play(Setup::any(seed)), "seed {seed}");
    }
}

#[test]
fn the_messages_and_bytes_of_a_match_depend_on_the_seed_alone() {
    for seed in seeds(40) {
        let setup = Setup { few_tables: false, players: 2 + seed % 7, ..Setup::any(seed) };
        let here = play(setup.clone()).traffic;
        // Another clock, another thread, and a box with room for many more.
        let elsewhere = Setup { clock: 86_400_000 * (seed + 1), ..setup };
        let there = thread::spawn(move || World::new(lend(&mut spaces::<32, 16, 496, 64>()), elsewhere).play().traffic);
        assert_eq!(here, there.join().expect("it runs here too"), "seed {seed}");
    }
}

#[test]
fn two_seeds_are_two_leagues() {
    assert_ne!(play(Setup::any(1)).bytes, play(Setup::any(2)).bytes);
}

#[test]
fn while_one_player_hangs_every_other_match_of_its_round_finishes() {
    for seed in seeds(40) {
        let setup = Setup { few_tables: false, players: 8, ..Setup::of_parity(seed) };
        let mut conducts = [Conduct::Honest; 8];
        conducts[seed as usize % 8] = Conduct::Hangs;
        let mut spaces = spaces::<8, 4, 28, 512>();
        let mut world = World::with_class(lend(&mut spaces), setup, &conducts, 0);
        world.open();
        assert_eq!(world.results(), 0);
        while world.results() < 3 {
            assert!(world.step());
        }
        assert_eq!(world.elapsed(), 0, "seed {seed}: three matches are played without waiting for the fourth");
    }
}

#[test]
fn a_dead_player_costs_the_class_no_more_than_its_own_deadlines() {
    for conduct in [Conduct::Hangs, Conduct::IsDead] {
        for seed in seeds(20) {
            let setup = Setup { few_tables: false, players: 8, ..Setup::of_parity(seed) };
            let timing = setup.timing;
            let mut conducts = [Conduct::Honest; 8];
            conducts[seed as usize % 8] = conduct;
            let mut spaces = spaces::<8, 4, 28, 512>();
            let mut world = World::with_class(lend(&mut spaces), setup, &conducts, 0);
            world.open();
            while world.step() {}
            // Four attempts in each of five matches, with their announcements, and it is not called again until a minute has
            // passed. What it does not answer to news costs half a second in all, and ten at the end.
            let attempts = timing.join_ms + 2 * 7 * timing.retry_base_ms * 11 / 10 + 6;
            let limit = 5 * attempts + 10_500;
            assert!(world.elapsed() <= limit, "seed {seed}, {conduct:?}: {} ms of {limit}", world.elapsed());
        }
    }
}

#[test]
fn who_does_not_answer_news_costs_its_league_half_a_second_in_all() {
    for seed in seeds(40) {
        let last_result = |conduct| {
            let setup = Setup { few_tables: false, players: 8, ..Setup::of_parity(seed) };
            let mut conducts = [Conduct::Honest; 8];
            conducts[seed as usize % 8] = conduct;
            let mut spaces = spaces::<8, 4, 28, 512>();
            let mut world = World::with_class(lend(&mut spaces), setup, &conducts, 2);
            world.open();
            while world.step() {}
            (world.last_result(), world.elapsed())
        };
        let (honest, _) = last_result(Conduct::Honest);
        for late in [None, Some(9_500), Some(251)] {
            let (ignoring, over) = last_result(Conduct::IgnoresNews(late));
            assert!(ignoring <= honest + 500, "seed {seed}, {late:?}: {ignoring} ms instead of {honest}");
            assert!(over <= ignoring + 20_000, "seed {seed}, {late:?}: its last answer came at {over} ms");
        }
    }
}

/// Plays leagues with power cuts, and perhaps with an owner who uses its powers; says how many cuts and acts there were.
fn play_with_power_cuts(setup: fn(u64) -> Setup, seeds: std::ops::Range<u64>, with_owner: bool) -> (u64, u64) {
    let play = |seed: u64| {
        let setup = setup(seed);
        // From several cuts a round, so that some match has to be begun three times, to one or two a league.
        let turns = match (setup.game.rules().turns, setup.game.rules().seats.start()) {
            (turns, 2) => u64::from(turns),
            // With so many at a table somebody mostly forfeits before it is played to its end.
            (turns, _) => u64::from(turns).min(2),
        };
        let every = turns * (4 * setup.players + seed * 7 % (2 * setup.players * setup.players));
        let shown = format!("{setup:?}");
        let meddles = with_owner.then_some(turns * (5 + seed % 40));
        catch_unwind(|| league_with_power_cuts(setup, every, meddles))
            .map(|(_, cuts, acts)| (cuts, acts))
            .unwrap_or_else(|_| panic!("LEAGUEBOX_SEED={seed} replays this league: {shown}"))
    };
    play_all(seeds, play).into_iter().fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1))
}

#[test]
fn whenever_the_power_is_cut_no_acknowledged_result_is_lost_and_none_is_counted_twice() {
    let seeds = seeds(number_from("LEAGUEBOX_LEAGUES").unwrap_or(400));
    let (cuts, _) = play_with_power_cuts(Setup::any, seeds.clone(), false);
    println!("{} leagues with {cuts} power cuts", seeds.end - seeds.start);
}

#[test]
fn whatever_the_owner_does_and_whenever_the_power_is_cut_the_standings_are_those_of_the_results() {
    let seeds = seeds(number_from("LEAGUEBOX_LEAGUES").unwrap_or(200));
    let (cuts, acts) = play_with_power_cuts(Setup::any, seeds.clone(), true);
    println!("{} leagues with {cuts} power cuts and {acts} acts of the owner", seeds.end - seeds.start);
    assert!(acts > 0 || seeds.end - seeds.start == 1);
}

/// Plays evenings in clubs, with power cuts where `cuts` says so; what they were like all together.
fn play_clubs(seeds: std::ops::Range<u64>, cuts: bool) -> Evening {
    let play = |seed: u64| {
        // From a cut in every few moves to one in an evening or so.
        let every = cuts.then_some(4 + seed * 13 % 120);
        catch_unwind(|| match seed % 3 {
            0 => Club::new(lend(&mut spaces::<8, 1, 28, 64>()), seed, every).play(),
            1 => Club::new(lend(&mut spaces::<8, 2, 28, 64>()), seed, every).play(),
            _ => Club::new(lend(&mut spaces::<8, 4, 28, 512>()), seed, every).play(),
        })
        .unwrap_or_else(|_| panic!("LEAGUEBOX_SEED={seed} replays this club"))
    };
    let add = |sum: Evening, one: Evening| Evening {
        games: sum.games + one.games,
        matches: sum.matches + one.matches,
        polled: sum.polled + one.polled,
        said: sum.said + one.said,
        heard: sum.heard + one.heard,
        cuts: sum.cuts + one.cuts,
        steps: sum.steps + one.steps,
    };
    play_all(seeds, play).into_iter().reduce(add).unwrap_or_default()
}

#[test]
fn every_game_from_a_queue_is_played_to_an_end_rated_once_and_can_be_looked_at_again() {
    let seeds = seeds(number_from("LEAGUEBOX_LEAGUES").unwrap_or(150));
    let evening = play_clubs(seeds.clone(), false);
    println!("{} clubs: {evening:?}", seeds.end - seeds.start);
    assert!(evening.games > 100 && evening.matches > 100 && evening.polled > 1_000 || seeds.end - seeds.start < 150);
    assert!(evening.said > 1_000 && evening.heard > 500 || seeds.end - seeds.start < 150);
}

#[test]
fn whenever_the_power_is_cut_no_game_from_a_queue_that_was_acknowledged_is_lost() {
    let seeds = seeds(number_from("LEAGUEBOX_LEAGUES").unwrap_or(150));
    let evening = play_clubs(seeds.clone(), true);
    println!("{} clubs: {evening:?}", seeds.end - seeds.start);
    assert!(evening.cuts > 100 && evening.games > 100 && evening.polled > 1_000 || seeds.end - seeds.start < 150);
}

/// What `cargo xtask simulate` plays: a quarter each with troubles alone, with power cuts, with an owner who interferes
/// as well and at any pace, and from queues. The games by turns, so that the longest are seldom.
#[test]
#[ignore = "takes minutes: cargo xtask simulate"]
fn leagues_of_every_kind_keep_every_promise() {
    let leagues = seeds(number_from("LEAGUEBOX_LEAGUES").unwrap_or(10_000));
    let begun = std::time::Instant::now();
    let quarter = |n: u64| match number_from("LEAGUEBOX_SEED") {
        Some(_) => leagues.clone(),
        None => n * (leagues.end / 4)..(n + 1) * (leagues.end / 4),
    };
    let told = |what: &str, of: std::ops::Range<u64>, found: String| {
        println!("{} {what}: {found}; {} s so far", of.end - of.start, begun.elapsed().as_secs());
    };
    let games = GameKind::ALL.iter().map(|game| game.rules().name).collect::<Vec<_>>();
    println!("games: {}", games.join(", "));
    let traces = play_all(quarter(0), |seed| play(Setup::any(seed)));
    let matches: u64 = traces.iter().map(|trace| trace.matches).sum();
    told("leagues", quarter(0), format!("{matches} matches"));
    let (cuts, _) = play_with_power_cuts(Setup::any, quarter(1), false);
    told("leagues", quarter(1), format!("{cuts} power cuts"));
    let (cuts, acts) = play_with_power_cuts(Setup::paced, quarter(2), true);
    told("leagues", quarter(2), format!("{cuts} power cuts, {acts} acts of the owner"));
    let evening = play_clubs(quarter(3), true);
    told("evenings with queues", quarter(3), format!("{evening:?}"));
}

#[cfg(feature = "toys")]
#[test]
fn a_toy_for_three_plays_a_league_of_7_and_one_for_six_of_13_whenever_the_power_is_cut() {
    fn sevens(seed: u64) -> Setup {
        Setup { players: 7, game: GameKind::Trio, ..Setup::of_parity(seed) }
    }
    fn thirteens(seed: u64) -> Setup {
        Setup { players: 13, game: GameKind::Sextet, ..Setup::of_parity(seed) }
    }
    for setup in [sevens, thirteens] {
        let seeds = seeds(30);
        seeds.clone().for_each(|seed| assert!(play(setup(seed)).matches > 0));
        let (cuts, acts) = play_with_power_cuts(setup, seeds.clone(), true);
        println!("{} leagues with {cuts} power cuts and {acts} acts of the owner", seeds.end - seeds.start);
        assert!(cuts > 20 && acts > 20 || seeds.end - seeds.start == 1);
    }
}

#[test]
fn a_reset_in_the_middle_forgets_everybody_and_the_next_league_is_played() {
    for seed in seeds(100) {
        let setup = Setup::any(seed);
        let setup = Setup { players: (2 + seed % 7).max((*setup.game.rules().seats.start()).into()), ..setup };
        let seed = setup.seed;
        let played = catch_unwind(|| {
            let mut spaces = spaces::<8, 4, 28, 512>();
            let mut world = World::new(lend(&mut spaces), setup);
            world.open();
            for _ in 0..seed * 3 {
                world.step();
            }
            world.reset();
            world.play()
        });
        assert!(played.is_ok(), "LEAGUEBOX_SEED={seed} replays this league");
    }
}
