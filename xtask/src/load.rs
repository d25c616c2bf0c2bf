//! `cargo xtask load`: a class of 32, some of them slow, flaky or reconnecting, and four watchers, league after league by
//! rematch: no result is lost and the box's memory stays flat. Prints what it saw. CI runs a short one.

use crate::verb::{Given, Opt, Verb};
use crate::{Outcome, sh, test};

pub const VERB: Verb = Verb {
    name: "load",
    what: "play a class of 32 with slow, flaky and reconnecting players, league after league",
    more: "\
        Starts the desktop box and plays with it over loopback: 32 players, of whom four are slow, four hang up or babble,\n\
        four reconnect for every call, one is closed for a while and four are Python; four watchers look on. Counts every\n\
        result against the schedule, and reads the box's memory from /proc in the middle and at the end. Fails if a result\n\
        is lost or the memory grows; the speed is printed and judged by nobody.",
    options: &[Opt {
        name: "--minutes",
        value: "N",
        what: "for how long leagues follow each other",
        default: Some("0.5"),
    }],
    words: &[],
    example: "cargo xtask load --minutes 10",
    run,
};

/// Runs the test for so long.
fn run(given: &Given) -> Outcome {
    let minutes: f64 = given.parsed("--minutes", "a number above 0", |n| *n > 0.0)?;
    let mut test = test::cargo(&["clients"]);
    test.args(["--quiet", "--test", "load", "--", "--ignored", "--nocapture"]);
    sh::run(test.env("LEAGUEBOX_LOAD_SECONDS", format!("{:.0}", minutes * 60.0)))
}
