//! `cargo xtask simulate`: leagues of every protocol and every game in virtual time, the toys too, with faults, power cuts and an
//! owner who interferes. The tests do the work; here they are asked for more.

use crate::verb::{Given, Opt, Verb};
use crate::{Outcome, sh, test};

pub const VERB: Verb = Verb {
    name: "simulate",
    what: "play ten thousand leagues in virtual time",
    more: "\
        Every game in every protocol, in leagues, from queues and in rooms, among agents that hang, lie, drop and come back,\n\
        with power cuts at any byte and an owner who interferes. A broken promise names its seed. Ten thousand take tens\n\
        of minutes on two cores.\n\
        The toy games and the toy protocol are built for this alone, so they come after the tests that have a league of each.",
    options: &[
        Opt { name: "--leagues", value: "N", what: "so many, a quarter of each kind", default: Some("10000") },
        Opt { name: "--seed", value: "N", what: "only the leagues of this seed", default: None },
    ],
    words: &[],
    example: "cargo xtask simulate --leagues 400",
    run,
};

/// Runs the tests that need the toys, then as many leagues as are asked for.
fn run(given: &Given) -> Outcome {
    let leagues: u64 = given.parsed("--leagues", "a number from 4", |&n| n >= 4)?;
    let toys = || {
        let mut test = test::cargo(&["clients", "toys"]);
        test.args(["--quiet", "--test", "simulation", "--"]);
        test
    };
    sh::run(toys().arg("toy"))?;
    let mut test = toys();
    test.args(["--ignored", "--nocapture", "of_every_kind"]);
    test.env("LEAGUEBOX_LEAGUES", leagues.to_string());
    if given.get("--seed").is_some() {
        let seed: u64 = given.parsed("--seed", "a number", |_| true)?;
        test.env("LEAGUEBOX_SEED", seed.to_string());
    }
    sh::run(&mut test)
}
