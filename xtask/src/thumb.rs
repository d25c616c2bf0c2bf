//! `cargo xtask thumb`: builds the crates that go on the board for the RP2040's core, to show that they need neither the
//! standard library nor an allocator. Libraries only, so nothing is linked.

use crate::{Outcome, option, sh, way};

const CRATES: &[&str] = &["protocol-core", "appliance"];

/// Builds by the first way that works here, or by the one that `--way` names.
pub fn run(args: &[String]) -> Outcome {
    let mut build = way::build(option(args, "--way")?)?;
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
