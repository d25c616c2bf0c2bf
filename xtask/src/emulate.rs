//! `cargo xtask emulate [--port 8000]`: the board's image on this computer, in the foreground, with a port of this computer
//! leading to it. An agent that registers there with an endpoint at `localhost` is called back.

use crate::firmware::{self, Board};
use crate::verb::{Given, Opt, Verb};
use crate::{Outcome, sh};

/// What runs the emulator, and the network that the image is plugged into: programs, and the packages that have them.
pub const NODE: (&str, &[&str]) = ("node", &["nodejs", "npm"]);
const QEMU: (&str, &[&str]) = ("qemu-system-arm", &["qemu-system-arm"]);

/// The board that is emulated.
const BOARD: &Board = &firmware::BOARDS[0];

/// The flash's content, so that a box remembers its league from one run to the next.
const FLASH: &str = "target/emulate.flash";

pub const VERB: Verb = Verb {
    name: "emulate",
    what: "run the board's image on this computer, until Ctrl-C",
    more: "\
        Builds the image that is flashed and runs it in the emulator, Ethernet chip and all. Agents of this computer\n\
        register at the port. Its flash is target/emulate.flash: delete it to begin with an empty one.",
    options: &[Opt {
        name: "--port",
        value: "PORT",
        what: "the port of this computer that leads to the box",
        default: Some("8000"),
    }],
    words: &[],
    example: "cargo xtask emulate --port 8010",
    run,
};

/// Builds the image and runs it until Ctrl-C.
fn run(given: &Given) -> Outcome {
    let port = given.parsed("--port", "a port, 1 to 65535", |port: &u16| *port > 0)?.to_string();
    need(NODE)?;
    need(QEMU)?;
    firmware::compile(BOARD, firmware::Wish::default())?;
    let mut emulator = sh::command("cargo");
    emulator.args(["run", "--quiet", "--package", "emulator", "--", "--port", &port, "--flash", FLASH]);
    sh::run(emulator.arg(BOARD.elf()))
}

/// The emulator's own tests that run the image.
pub fn tests() -> Outcome {
    need(NODE)?;
    firmware::compile(BOARD, firmware::Wish::default())?;
    // The whole workspace, as in `test::cargo`: compiled already, where the other tests are.
    sh::run(&mut sh::line("cargo test --workspace --test board -- --include-ignored"))
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
