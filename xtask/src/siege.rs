//! `cargo xtask siege`: a league of 32 honest players while everything that was ever tried against the box happens at once,
//! from other addresses of this computer. Prints what it saw. CI runs a minute of it.

use crate::{Outcome, option, sh};

/// Runs the test for so long.
pub fn run(args: &[String]) -> Outcome {
    let minutes: f64 = match option(args, "--minutes")? {
        None => 1.0,
        Some(given) => given.parse().map_err(|_| format!("--minutes takes a number, not `{given}`"))?,
    };
    let test = sh::line("cargo test --quiet -p host-tests --test siege -- --ignored --nocapture");
    sh::run({ test }.env("LEAGUEBOX_SIEGE_SECONDS", format!("{:.0}", minutes * 60.0)))
}
