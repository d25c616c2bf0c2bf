//! `cargo xtask ci`: everything CI does. All steps run, also after one has failed, so that one run shows all there is to
//! mend; the last lines say what passed, what failed and how long each took.

use crate::verb::{Given, Verb};
use crate::{
    Outcome, autobahn, clients, emulate, firmware, fuzz, load, readme, sh, siege, simulate, systems, test, thumb,
};
use std::time::Instant;

pub const VERB: Verb = Verb {
    name: "ci",
    what: "run everything CI runs, step by step",
    more: "Formatting, lints, documentation, tests, real clients, a class with its troubles, a siege, other systems, the board's\n\
        image in the emulator, fuzzing, and the commands of the README. All steps run, also after one has failed; the last\n\
        lines say what passed, what failed and how long each took. Takes less than an hour on two cores. Installs what is\n\
        missing.",
    options: &[],
    words: &[],
    example: "cargo xtask ci",
    run,
};

enum Work {
    /// A command, exactly as one would type it.
    Line(&'static str),
    /// Another chore, with these words.
    Chore(&'static Verb, &'static [&'static str]),
    /// A part of another chore.
    Part(fn() -> Outcome),
    /// The README's commands, but for those that another step has run.
    Readme,
}
use Work::{Chore, Line, Part, Readme};

/// Cheap ones first.
const STEPS: &[(&str, Work)] = &[
    ("format", Line("cargo fmt --all --check")),
    // A macro declares their folders, and cargo fmt does not look into macros.
    ("format of the games", Line("rustfmt --edition 2024 --check protocol-core/src/games/*/mod.rs")),
    ("format of the fuzz targets", Line("cargo fmt --manifest-path fuzz/Cargo.toml --check")),
    ("format of the board's crate", Line("cargo fmt --manifest-path firmware/rp2040/Cargo.toml --check")),
    ("lints", Line("cargo clippy --workspace --all-targets -- -D warnings")),
    (
        "lints of the tests on boards",
        Line("cargo clippy --workspace --all-targets --features host-tests/emulator -- -D warnings"),
    ),
    ("documentation", Line("RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps")),
    ("tests, those with real clients too", Part(clients::and_all_others)),
    ("a class with its troubles", Chore(&load::VERB, &[])),
    ("a league under siege", Chore(&siege::VERB, &[])),
    // A sample of what the verb plays, with the toys, which `cargo test` does not have.
    ("leagues of every kind in virtual time", Chore(&simulate::VERB, &["--leagues", "400"])),
    ("the Autobahn test suite", Chore(&autobahn::VERB, &[])),
    ("builds for other systems", Chore(&systems::VERB, &[])),
    ("no_std build", Chore(&thumb::VERB, &[])),
    ("tests for a board on a probe", Part(firmware::compile_tests)),
    ("tests of the emulator", Part(emulate::tests)),
    // The same suite as on the desktop, on the image that is flashed, after holding that against its budgets.
    ("tests on the emulated board", Chore(&test::VERB, &["--device", "emulator"])),
    ("fuzz targets", Chore(&fuzz::VERB, &[])),
    ("commands of the README", Readme),
];

/// Runs all steps.
fn run(_: &Given) -> Outcome {
    let mut summary = Vec::new();
    let mut failed = 0;
    for (index, (name, work)) in STEPS.iter().enumerate() {
        println!("\n== {}/{} {name}", index + 1, STEPS.len());
        let begun = Instant::now();
        let outcome = match work {
            Line(line) => sh::run(&mut sh::line(line)),
            Chore(verb, words) => verb.run(words),
            Part(run) => run(),
            Readme => readme::run_but_for(&lines()),
        };
        let seconds = begun.elapsed().as_secs_f32();
        summary.push(match outcome {
            Ok(()) => format!("  ok     {seconds:>7.1} s  {name}"),
            Err(why) => {
                failed += 1;
                println!("FAILED: {why}");
                format!("  FAILED {seconds:>7.1} s  {name}: {why}")
            }
        });
    }
    println!("\n== all steps\n{}", summary.join("\n"));
    if failed == 0 { Ok(()) } else { Err(format!("{failed} of {} steps failed", STEPS.len())) }
}

/// The commands that are steps of their own, or a part of one.
fn lines() -> Vec<&'static str> {
    let lines = STEPS.iter().filter_map(|(_, work)| if let Line(line) = work { Some(*line) } else { None });
    // Of the tests it is all but those with real clients.
    lines.chain(["cargo test"]).collect()
}
