//! `cargo xtask thumb`: builds the crates that go on the board for the RP2040's core, to show that they need neither the
//! standard library nor an allocator. Libraries only, so nothing is linked.

use crate::verb::{Given, Verb};
use crate::{Outcome, sh, way};

const CRATES: &[&str] = &["protocol-core", "appliance"];

pub const VERB: Verb = Verb {
    name: "thumb",
    what: "build the no_std crates for the RP2040's processor",
    more: "\
        Shows that protocol-core and appliance need neither the standard library nor an allocator. Links nothing.",
    options: &[way::OPTION],
    words: &[],
    example: "cargo xtask thumb --way installed",
    run,
};

/// Builds by the first way that works here, or by the one that `--way` names.
fn run(given: &Given) -> Outcome {
    let mut build = way::build(given.get("--way"))?;
    // Its own directory, so that changing ways or compilers leaves the desktop's build alone.
    build.args([
        "--release",
        "--lib",
        "--no-default-features",
        "--target",
        way::TARGET,
        "--target-dir",
        "target/thumb",
    ]);
    for name in CRATES {
        build.args(["--package", name]);
    }
    sh::run(&mut build)
}
