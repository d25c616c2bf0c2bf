//! `cargo xtask emulate [--port 8000]`: the board's image on this computer, in the foreground, with a port of this computer
//! leading to it. An agent that registers there with an endpoint at `localhost` is called back.

use crate::{Outcome, firmware, no_options, option, sh};

/// What runs the emulator, and the network that the image is plugged into: programs, and the packages that have them.
const NODE: (&str, &[&str]) = ("node", &["nodejs", "npm"]);
const QEMU: (&str, &[&str]) = ("qemu-system-arm", &["qemu-system-arm"]);

/// The flash's content, so that a box remembers its league from one run to the next.
const FLASH: &str = "target/emulate.flash";

/// Builds the image and runs it until Ctrl-C.
pub fn run(args: &[String]) -> Outcome {
    let port = option(args, "--port")?.unwrap_or("8000");
    need(NODE)?;
    need(QEMU)?;
    firmware::run(&[])?;
    let mut emulator = sh::command("cargo");
    emulator.args(["run", "--quiet", "--package", "emulator", "--", "--port", port, "--flash", FLASH]);
    sh::run(emulator.arg(firmware::BOARDS[0].elf()))
}

/// The emulator's own tests, some of which run the image.
pub fn tests(args: &[String]) -> Outcome {
    no_options(args)?;
    need(NODE)?;
    firmware::run(&[])?;
    sh::run(&mut sh::line("cargo test --package emulator -- --include-ignored"))
}

fn need((program, packages): (&str, &[&str])) -> Outcome {
    if sh::succeeds(sh::command(program).arg("--version")) { Ok(()) } else { sh::apt_install(packages, program) }
}
