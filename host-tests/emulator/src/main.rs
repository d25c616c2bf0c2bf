//! Runs an image in the foreground, until Ctrl-C: `emulator [--port 8000] [--flash FILE] IMAGE`. `cargo xtask emulate` builds the
//! image and calls this.

use emulator::{Emulator, HOST_IN_USER_NETWORK, Link, Options};
use std::process::ExitCode;
use std::time::Duration;

/// How long the box may take to get an address.
const PATIENCE: Duration = Duration::from_secs(60);

const USAGE: &str = "emulator [--port 8000] [--flash FILE] IMAGE";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("emulator: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> emulator::Result<()> {
    let mut port = 8000;
    let mut flash = None;
    let mut image = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value: {USAGE}"));
        match argument.as_str() {
            "--port" => port = value()?.parse().map_err(|_| format!("`--port` needs a port: {USAGE}"))?,
            "--flash" => flash = Some(value()?.into()),
            _ if argument.starts_with('-') || image.is_some() => return Err(USAGE.into()),
            _ => image = Some(argument),
        }
    }
    let options = Options {
        flash,
        link: Link::User { ports: vec![(port, 8000)] },
        show_log: true,
        ..Options::new(image.ok_or(USAGE)?)
    };
    let mut board = Emulator::start(options)?;
    board.wait_for_log(0, "address ", PATIENCE)?;
    println!(
        "The box is at http://127.0.0.1:{port}, and sees this computer as {HOST_IN_USER_NETWORK}. Ctrl-C ends it."
    );
    board.wait_for_end()
}
