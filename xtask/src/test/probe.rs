//! A real board on a debug probe: probe-rs flashes it, and stays to read its log, where the box says who it is.

use crate::{Outcome, sh};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Flashing takes ten seconds or so, an address from a DHCP server a few more.
const START_LIMIT: Duration = Duration::from_secs(120);

/// Whether there is a probe to work with.
pub fn find() -> Outcome {
    let said = sh::answer(sh::command("probe-rs").arg("list"))
        .ok_or("probe-rs is not installed, which flashes the board: `cargo install probe-rs-tools --locked`")?;
    if said.contains("No debug probes") || !said.contains("[0]") {
        return Err("no debug probe is plugged in (`probe-rs list` shows none); `--device emulator` needs none".into());
    }
    Ok(())
}

/// The board, running, with probe-rs attached.
pub struct Board {
    address: String,
    admin_code: String,
    /// The image resets if nobody reads its log; and what it says belongs to the tests' output.
    _attached: sh::Group,
}

impl Board {
    /// Flashes an image and waits until the box has an address.
    pub fn start(elf: &Path) -> Result<Board, String> {
        let mut attach = sh::command("probe-rs");
        attach.args(["run", "--chip", "RP2040"]).arg(elf).stdout(Stdio::piped());
        let mut attached = sh::Group::start(&mut attach)?;
        let log = attached.head().stdout.take().ok_or("probe-rs without output")?;
        let (say, said) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                println!("board: {line}");
                // Nobody listens once the box is found.
                let _ = say.send(line);
            }
        });
        let (address, admin_code) = introduction(&said)?;
        Ok(Board { address, admin_code, _attached: attached })
    }

    /// Tells a test where the box is.
    pub fn tell(&self, test: &mut Command) {
        test.env("LEAGUEBOX_ADDRESS", format!("{}:8000", self.address)).env("LEAGUEBOX_ADMIN_CODE", &self.admin_code);
    }
}

/// Reads the log until both lines were there that say where the box is and what opens it.
fn introduction(said: &Receiver<String>) -> Result<(String, String), String> {
    let end = Instant::now() + START_LIMIT;
    let (mut address, mut code) = (None, None);
    while address.is_none() || code.is_none() {
        let line = said.recv_timeout(end.saturating_duration_since(Instant::now())).map_err(|why| match why {
            RecvTimeoutError::Timeout => format!("the board got no address within {} s", START_LIMIT.as_secs()),
            RecvTimeoutError::Disconnected => "probe-rs ended before the board had an address".into(),
        })?;
        address = word_after(&line, "address ").or(address);
        code = word_after(&line, "admin code ").or(code);
    }
    Ok((address.unwrap_or_default(), code.unwrap_or_default()))
}

/// The word that follows, in a line with a time and a level before what is said and a place behind it.
fn word_after(line: &str, words: &str) -> Option<String> {
    let (_, rest) = line.split_once(words)?;
    rest.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_introduces_itself_in_its_log() {
        let (say, said) = channel();
        for line in [
            "0.10 [INFO ] leaguebox 0.1.0, leaguebox-3f1a, last reset: power-on (leaguebox_rp2040 src/main.rs:54)",
            "0.11 [INFO ] admin code k7mx2p9q (leaguebox_rp2040 src/main.rs:90)",
            "2.50 [INFO ] address 192.168.1.77 (leaguebox_rp2040 src/net.rs:20)",
        ] {
            say.send(line.to_owned()).unwrap();
        }
        assert_eq!(introduction(&said), Ok(("192.168.1.77".into(), "k7mx2p9q".into())));
        drop(say);
        assert!(introduction(&said).is_err_and(|why| why.contains("probe-rs ended")));
    }
}
