//! `cargo xtask load`: a class of 32, some of them slow, flaky or reconnecting, and four watchers, league after league by
//! rematch: no result is lost and the box's memory stays flat. Prints what it saw. CI runs a short one.

use crate::{Outcome, option, sh};

/// Runs the test for so long.
pub fn run(args: &[String]) -> Outcome {
    let minutes: f64 = match option(args, "--minutes")? {
        None => 0.5,
        Some(given) => given.parse().map_err(|_| format!("--minutes takes a number, not `{given}`"))?,
    };
    let test = sh::line("cargo test --quiet -p host-tests --test load -- --ignored --nocapture");
    sh::run({ test }.env("LEAGUEBOX_LOAD_SECONDS", format!("{:.0}", minutes * 60.0)))
}
