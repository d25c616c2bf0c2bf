//! `cargo xtask emulate [--port 8000]`: the board's image on this computer, in the foreground, with a port of this computer
//! leading to it. An agent that registers there with an endpoint at `localhost` is called back.

use crate::{Outcome, firmware, option, sh};

/// The network the image is plugged into, and what runs the emulator.
const NEEDED: &[(&str, &[&str])] = &[("qemu-system-arm", &["qemu-system-arm"]), ("node", &["nodejs", "npm"])];

/// The flash's content, so that a box remembers its league from one run to the next.
const FLASH: &str = "target/emulate.flash";

/// Builds the image and runs it until Ctrl-C.
pub fn run(args: &[String]) -> Outcome {
    let port = option(args, "--port")?.unwrap_or("8000");
    for (program, packages) in NEEDED {
        if !sh::succeeds(sh::command(program).arg("--version")) {
            sh::apt_install(packages, program)?;
        }
    }
    firmware::run(&[])?;
    let mut emulator = sh::command("cargo");
    emulator.args(["run", "--quiet", "--package", "emulator", "--", "--port", port, "--flash", FLASH]);
    sh::run(emulator.arg(firmware::BOARDS[0].elf()))
}
