//! `cargo xtask bench`: measures the box, and prints what was measured beside what is aimed at.
//!
//! Everything is a ratio, a count or a size within one run, so that the table means the same on any machine. Nothing
//! fails for being slow: a busy machine is no bug. What fails is a measurement that did not measure what it says.
//!
//! ```text
//! queries.rs    POST /mcp, and heartbeats of MoltGame, beside FastAPI and nginx, on one core each
//! websocket.rs  messages over WebSocket beside Python's, with few and many connections, and the largest state
//! league.rs     32 instant players over real HTTP
//! messages.rs   reading and writing every message beside serde_json
//! matches.rs    the core alone: what a match costs in small and large leagues
//! games.rs      the rules alone: moves a second of each game
//! memory.rs     bytes per player, match, result and log entry
//! peers.rs      sockets, players and boxes to measure with
//! ```

mod games;
mod league;
mod matches;
mod memory;
mod messages;
mod peers;
mod queries;
mod websocket;

use crate::verb::{Given, Opt, Verb};
use crate::{Outcome, sh, venv};
use std::time::{Duration, Instant};

/// Something that can be measured, by name.
type Part = (&'static str, fn(&Given) -> Outcome);

/// The box that is measured, and what another build of it is called.
const LEAGUEBOX: &str = "target/release/leaguebox";
const BESIDE: &str = "the other";

const PARTS: &[Part] = &[
    ("queries", queries::run),
    ("heartbeats", queries::heartbeats),
    ("websocket", websocket::run),
    ("league", league::run),
    ("messages", messages::run),
    ("matches", matches::run),
    ("games", games::run),
    ("memory", memory::run),
];

pub const VERB: Verb = Verb {
    name: "bench",
    what: "measure the box",
    more: "Everything is a ratio, a count or a size within one run, and stands beside its aim; nothing fails for being slow.\n\
        Servers are measured in turns and by the seconds of CPU the system says they worked (/proc), so that what else\n\
        runs on the machine matters little; code in this process by medians of short turns taken alternately.\n\
        Release builds only. Installs what it compares with: Python packages in .venv, Debian's nginx-light.\n\n\
        queries     POST /mcp, LEAGUE_QUERY, beside FastAPI and nginx that answer a constant of the same size\n\
        heartbeats  the same for a heartbeat of MoltGame\n\
        websocket   messages over WebSocket beside Python's websockets; with 8, 500 and 2,000 connections; the largest state\n\
        league      matches per second of a league of 32 instant players over real HTTP\n\
        messages    reading and writing every message of league.v2 beside serde_json\n\
        matches     what a match costs in the core alone, with 4, 32 and 512 players\n\
        games       moves per second of each game's rules\n\
        memory      bytes per player, match, result and log entry",
    options: &[Opt {
        name: "--beside",
        value: "FILE",
        what: "another build of leaguebox, measured beside this one by the servers (none)",
        default: None,
    }],
    words: &[("PART ...", "what to measure, by the names above (all)")],
    example: "cargo xtask bench queries matches",
    run,
};

/// Measures everything, or the parts that are named. A debug build of this program makes and starts a release build of
/// itself: what it measures in its own process must be compiled as the box is.
fn run(given: &Given) -> Outcome {
    let args = &given.words;
    if let Some(unknown) = args.iter().find(|arg| PARTS.iter().all(|(name, _)| name != arg)) {
        let names: Vec<_> = PARTS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no part `{unknown}`, but {}", names.join(", ")));
    }
    if cfg!(debug_assertions) {
        venv::make()?;
        sh::run(sh::command("cargo").args(["build", "--quiet", "--release", "-p", "leaguebox", "-p", "xtask"]))?;
        // Two thousand connections have two ends; many systems allow 1024 files unless asked.
        let words: String = std::env::args().skip(1).map(|word| format!(" '{word}'")).collect();
        let again = format!("ulimit -S -n 8192; exec cargo run --quiet --release -p xtask --{words}");
        return sh::run(&mut sh::line(&again));
    }
    let mut wanted = PARTS.iter().filter(|(name, _)| args.is_empty() || args.iter().any(|arg| arg == name));
    wanted.try_for_each(|(_, measure)| measure(given))
}

/// The head of a part: what is measured, and how.
fn title(what: &str, how: &str) {
    println!("\n{what}\n  ({how})");
}

/// A number beside its target.
fn verdict(what: &str, measured: &str, target: &str, reached: bool) {
    println!("  => {what}: {measured}; target {target}: {}", if reached { "reached" } else { "missed" });
}

/// How long one turn of a measurement in this process lasts: long beside the clock's grain, short beside the slices of
/// time a busy machine deals out, so that few turns are interrupted and the median is none of them.
const TURN: Duration = Duration::from_micros(200);
const TURNS: usize = 101;

/// Nanoseconds per call of each of two functions that do the same work: medians over turns they take alternately.
fn race<A, B>(mut one: impl FnMut() -> A, mut other: impl FnMut() -> B) -> [f64; 2] {
    let mut times = [vec![], vec![]];
    for _ in 0..TURNS {
        times[0].push(turn(&mut one));
        times[1].push(turn(&mut other));
    }
    times.map(median)
}

fn turn<T>(work: &mut impl FnMut() -> T) -> f64 {
    let begun = Instant::now();
    let mut calls = 0;
    while begun.elapsed() < TURN {
        // Many calls to a look at the clock, so that the clock is not what is measured.
        for _ in 0..16 {
            std::hint::black_box(work());
        }
        calls += 16;
    }
    begun.elapsed().as_nanos() as f64 / f64::from(calls)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_turn_does_not_move_the_median() {
        assert_eq!(median(vec![2.0, 900.0, 1.0]), 2.0);
    }
}
