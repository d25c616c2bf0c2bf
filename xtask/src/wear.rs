//! `cargo xtask wear`: how many leagues the flash of a board lasts. The test of that name counts erases and holds the
//! README to it; here its words are shown.

use crate::verb::{Given, Verb};
use crate::{Outcome, sh, test};

pub const VERB: Verb = Verb {
    name: "wear",
    what: "compute how many leagues a board's flash lasts",
    more: "\
        Plays leagues with the journal's own code on a flash that counts erases, and divides the 100,000 that a sector\n\
        stands by those that a league costs. Fails if the README says anything else.",
    options: &[],
    words: &[],
    example: "cargo xtask wear",
    run,
};

/// Runs the test aloud.
fn run(_: &Given) -> Outcome {
    sh::run(test::cargo(&["clients"]).args(["--quiet", "--test", "wear", "--", "--nocapture"]))
}
