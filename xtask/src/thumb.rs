//! `cargo xtask thumb`: compiles the crates that go on the board for the RP2040's core, to show that they need neither the
//! standard library nor an allocator. Checked only: the image that is flashed is built of the same crates.

use crate::verb::{Given, Verb};
use crate::{Outcome, sh, way};

const CRATES: &[&str] = &["protocol-core", "appliance"];

pub const VERB: Verb = Verb {
    name: "thumb",
    what: "compile the no_std crates for the RP2040's processor",
    more: "\
        Shows that protocol-core and appliance need neither the standard library nor an allocator. Makes nothing that could run.",
    options: &[way::OPTION],
    words: &[],
    example: "cargo xtask thumb --way installed",
    run,
};

/// Compiles by the first way that works here, or by the one that `--way` names.
fn run(given: &Given) -> Outcome {
    let mut check = way::check(given.get("--way"))?;
    // Its own directory, so that changing ways or compilers leaves the desktop's build alone.
    check.args(["--lib", "--no-default-features", "--target", way::TARGET, "--target-dir", "target/thumb"]);
    for name in CRATES {
        check.args(["--package", name]);
    }
    sh::run(&mut check)
}
