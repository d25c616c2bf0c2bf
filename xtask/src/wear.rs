//! `cargo xtask wear`: how many leagues the flash of a board lasts. The test of that name counts erases and holds the
//! README to it; here its words are shown.

use crate::{Outcome, no_options, sh};

/// Runs the test aloud.
pub fn run(args: &[String]) -> Outcome {
    no_options(args)?;
    sh::run(&mut sh::line("cargo test --quiet -p host-tests --test wear -- --nocapture"))
}
