//! `cargo xtask emulate [--port 8000]`: the board's image on this computer, in the foreground, with a port of this computer
//! leading to it. An agent that registers there with an endpoint at `localhost` is called back.

use crate::firmware::{self, Board};
use crate::{Outcome, no_options, option, sh};

/// What runs the emulator, and the network that the image is plugged into: programs, and the packages that have them.
pub const NODE: (&str, &[&str]) = ("node", &["nodejs", "npm"]);
const QEMU: (&str, &[&str]) = ("qemu-system-arm", &["qemu-system-arm"]);

/// The board that is emulated.
const BOARD: &Board = &firmware::BOARDS[0];

/// The flash's content, so that a box remembers its league from one run to the next.
const FLASH: &str = "target/emulate.flash";

/// Builds the image and runs it until Ctrl-C.
pub fn run(args: &[String]) -> Outcome {
    let port = option(args, "--port")?.unwrap_or("8000");
    need(NODE)?;
    need(QEMU)?;
    firmware::compile(BOARD, firmware::Wish::default())?;
    let mut emulator = sh::command("cargo");
    emulator.args(["run", "--quiet", "--package", "emulator", "--", "--port", port, "--flash", FLASH]);
    sh::run(emulator.arg(BOARD.elf()))
}

/// The emulator's own tests, some of which run the image.
pub fn tests(args: &[String]) -> Outcome {
    no_options(args)?;
    need(NODE)?;
    firmware::compile(BOARD, firmware::Wish::default())?;
    sh::run(&mut sh::line("cargo test --package emulator -- --include-ignored"))
}

/// Node and the package it runs, for those who will start the emulator where there is no way to fetch it.
pub fn prepare() -> Outcome {
    need(NODE)?;
    let js = sh::root().join("host-tests/emulator/js");
    if js.join("node_modules/rp2040js").is_dir() {
        return Ok(());
    }
    sh::run(sh::command("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(js))
}

/// Installs a program where it is missing.
pub fn need((program, packages): (&str, &[&str])) -> Outcome {
    if sh::succeeds(sh::command(program).arg("--version")) { Ok(()) } else { sh::apt_install(packages, program) }
}
