//! `cargo xtask siege`: a league of 32 honest players while everything that was ever tried against the box happens at once,
//! from other addresses of this computer. Prints what it saw. CI runs a minute of it.

use crate::verb::{Given, Opt, Verb};
use crate::{Outcome, sh, test};

pub const VERB: Verb = Verb {
    name: "siege",
    what: "play a league of 32 while everything is tried against the box at once",
    more: "\
        The attackers come from other addresses of this computer: floods, slow requests, garbage, false tokens. Prints\n\
        what each of them tried and how the league went. Fails if an honest player loses anything by it.",
    options: &[Opt { name: "--minutes", value: "N", what: "for how long the siege lasts", default: Some("1") }],
    words: &[],
    example: "cargo xtask siege --minutes 5",
    run,
};

/// Runs the test for so long.
fn run(given: &Given) -> Outcome {
    let minutes: f64 = given.parsed("--minutes", "a number above 0", |n| *n > 0.0)?;
    let mut test = test::cargo(&["clients"]);
    test.args(["--quiet", "--test", "siege", "--", "--ignored", "--nocapture"]);
    sh::run(test.env("LEAGUEBOX_SIEGE_SECONDS", format!("{:.0}", minutes * 60.0)))
}
