//! `cargo xtask systems`: the desktop box for the systems of other people's laptops. For Windows it is built to the end,
//! because its linkers want what others do without; for macOS, whose linker is not to be had elsewhere, it is compiled.
//! Nothing is run.

use crate::verb::{Given, Verb};
use crate::{Outcome, sh, way};

const WINDOWS: &str = "x86_64-pc-windows-gnu";
const WINDOWS_LINKER: &str = "x86_64-w64-mingw32-gcc";
const MACOS: &str = "aarch64-apple-darwin";

pub const VERB: Verb = Verb {
    name: "systems",
    what: "build the desktop box for Windows, and compile it for macOS",
    more: "\
        Nothing is run. A system whose compiler or linker cannot be had here is named and left out.",
    options: &[],
    words: &[],
    example: "cargo xtask systems",
    run,
};

/// Both, as far as this machine can.
fn run(_: &Given) -> Outcome {
    for (target, verb, tools) in [(WINDOWS, "build", linker as fn() -> Outcome), (MACOS, "check", || Ok(()))] {
        match way::library(target).and_then(|()| tools()) {
            Ok(()) => sh::run(sh::command("cargo").args([verb, "-p", "leaguebox", "--target", target]))?,
            Err(why) => println!("not tried for {target}: {why}"),
        }
    }
    Ok(())
}

fn linker() -> Outcome {
    let is_there = || sh::succeeds(sh::command(WINDOWS_LINKER).arg("--version"));
    if is_there() { Ok(()) } else { sh::apt_install(&["gcc-mingw-w64-x86-64"], "a linker for Windows, MinGW's") }
}
