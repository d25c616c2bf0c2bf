//! The true RP2040 image, running on this computer.
//!
//! [`Emulator::start`] spawns the JavaScript emulator beside this crate (`js/`: the npm package rp2040js, with a W5500, a flash chip and
//! a LED around it), decodes its log, and hands out a handle. The handle pulls the cable, loses frames, cuts the power at a cycle,
//! and tells what happened: the log, boots and why, the LED, flash operations, and everything invalid, which a test must take for a
//! failure. Dropped, it ends everything it started.
//!
//! How the box reaches a network is a [`Link`]. What runs there, DHCP servers and players, is up to the caller.

mod history;
mod link;
mod node;

pub use history::{Boot, FlashOperation, Led, LogLine, Statistics};
pub use link::{BOX_IN_USER_NETWORK, HOST_IN_USER_NETWORK, Link};
pub use node::{JS, prepare};

use history::{History, Shared};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What can go wrong, in one line for whoever has to mend it.
pub type Result<T> = std::result::Result<T, String>;

/// How long a command may take. Only `run` takes long, and a minute of the board's time is worth more than a minute of ours.
const ANSWER_WITHIN: Duration = Duration::from_secs(600);

/// What is emulated.
#[derive(Debug, Clone)]
pub struct Options {
    /// The image.
    pub elf: PathBuf,
    /// The file that keeps the flash's content from one run to the next. Without one it begins erased.
    pub flash: Option<PathBuf>,
    /// The flash chip's number, from which a box has its name and its MAC address.
    pub unique_id: [u8; 8],
    /// Decides all that is random: the ring oscillator, RAM at power-on, what a power cut leaves in flash.
    pub seed: u32,
    /// Where its cable goes.
    pub link: Link,
    /// Whether its log goes to our standard output as well.
    pub show_log: bool,
}

impl Options {
    /// This image, with a cable that goes nowhere.
    pub fn new(elf: impl Into<PathBuf>) -> Options {
        Options {
            elf: elf.into(),
            flash: None,
            unique_id: [0xe6, 0x61, 0x64, 0x08, 0x43, 0x12, 0x34, 0x56],
            seed: 1,
            link: Link::ByHand,
            show_log: false,
        }
    }
}

/// A running board.
#[derive(Debug)]
pub struct Emulator {
    child: Child,
    input: Mutex<ChildStdin>,
    shared: Shared,
    next: AtomicU64,
    reader: Option<JoinHandle<()>>,
    wire: Option<link::Wire>,
}

impl Emulator {
    /// Powers a board up.
    pub fn start(options: Options) -> Result<Emulator> {
        let image = std::fs::read(&options.elf)
            .map_err(|error| format!("{}: {error}; `cargo xtask firmware` builds it", options.elf.display()))?;
        node::prepare()?;
        let wire = link::Wire::open(&options.link)?;
        let arguments = json!({
            "elf": absolute(&options.elf)?,
            "flash": options.flash.as_deref().map(absolute).transpose()?,
            "unique_id": hex(&options.unique_id),
            "seed": options.seed,
            "link": wire.as_ref().map(link::Wire::socket),
            "paced": wire.is_some(),
        });
        let mut child = Command::new("node")
            .arg(Path::new(JS).join("control.mjs"))
            .arg(arguments.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The terminal's Ctrl-C is for us. It ends when its standard input does.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("node could not be started: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("node came without its pipes".into());
        };
        let shared = Shared::default();
        let reader = history::read(output, &image, options.show_log, shared.clone())?;
        Ok(Emulator { child, input: Mutex::new(input), shared, next: AtomicU64::new(1), reader: Some(reader), wire })
    }

    /// All log lines so far.
    pub fn log(&self) -> Vec<LogLine> {
        self.shared.look(|history| history.log.clone())
    }

    /// How many log lines there are: where to wait from for the next.
    pub fn log_position(&self) -> usize {
        self.shared.look(|history| history.log.len())
    }

    /// Waits for a log line that contains `text`, from the `since`-th line on. Of the wall's time, `limit` at most.
    pub fn wait_for_log(&self, since: usize, text: &str, limit: Duration) -> Result<LogLine> {
        self.shared
            .wait(limit, |history| history.log.iter().skip(since).find(|line| line.text.contains(text)).cloned())
            .ok_or_else(|| {
                let seen: Vec<String> = self.log().iter().map(LogLine::to_string).collect();
                format!("no log line with `{text}` within {limit:?}; there were:\n{}", seen.join("\n"))
            })
    }

    /// Every start, and why.
    pub fn boots(&self) -> Vec<Boot> {
        self.shared.look(|history| history.boots.clone())
    }

    /// Waits until there were `count` boots in all.
    pub fn wait_for_boots(&self, count: usize, limit: Duration) -> Result<Vec<Boot>> {
        self.shared
            .wait(limit, |history| (history.boots.len() >= count).then(|| history.boots.clone()))
            .ok_or_else(|| format!("{} boots instead of {count} within {limit:?}", self.boots().len()))
    }

    /// Whenever the LED changed.
    pub fn led(&self) -> Vec<Led> {
        self.shared.look(|history| history.led.clone())
    }

    /// Whenever the flash was erased or programmed.
    pub fn flash_operations(&self) -> Vec<FlashOperation> {
        self.shared.look(|history| history.flash.clone())
    }

    /// What the image did that the chip forbids, or that is not emulated. A test in which this is not empty has failed.
    pub fn invalid(&self) -> Vec<String> {
        self.shared.look(|history| history.invalid.clone())
    }

    /// Frames sent since the last time, with [`Link::ByHand`].
    pub fn take_frames(&self) -> Vec<Vec<u8>> {
        self.shared.look(|history| std::mem::take(&mut history.frames))
    }

    /// A frame to the box, with [`Link::ByHand`].
    pub fn inject(&self, frame: &[u8]) -> Result<()> {
        self.command(json!({"do": "frame", "bytes": hex(frame)})).map(drop)
    }

    /// Lets the board's time pass, with [`Link::ByHand`]. With the others it passes by itself.
    pub fn run(&self, time: Duration) -> Result<()> {
        self.command(json!({"do": "run", "nanos": time.as_nanos() as u64})).map(drop)
    }

    /// Plugs the cable in, or pulls it.
    pub fn cable(&self, plugged: bool) -> Result<()> {
        self.command(json!({"do": "cable", "up": plugged})).map(drop)
    }

    /// Loses this share (0 to 1) of the frames in each direction. The seed decides which.
    pub fn lose(&self, receive: f64, send: f64, seed: u32) -> Result<()> {
        self.command(json!({"do": "loss", "receive": receive, "send": send, "seed": seed})).map(drop)
    }

    /// Turns the power on or off. Off, RAM is lost and a flash operation under way leaves garbage.
    pub fn power(&self, on: bool) -> Result<()> {
        self.command(json!({"do": "power", "on": on})).map(drop)
    }

    /// Pulls the plug and puts it back.
    pub fn power_cycle(&self) -> Result<()> {
        self.power(false)?;
        self.power(true)
    }

    /// Pulls the plug when the board's clock is at this cycle (see [`Statistics::cycle`]). It stays out until [`Emulator::power`].
    pub fn cut_at(&self, cycle: u64) -> Result<()> {
        self.command(json!({"do": "cut", "cycle": cycle})).map(drop)
    }

    /// Pulls the plug in the middle of the next flash operation of this kind, `erase` or `program`. What was being erased or
    /// programmed is garbage then.
    pub fn cut_in(&self, operation: &str) -> Result<()> {
        self.command(json!({"do": "cut_in", "operation": operation})).map(drop)
    }

    /// Waits until the power is off.
    pub fn wait_for_power_off(&self, limit: Duration) -> Result<()> {
        self.shared
            .wait(limit, |history| (!history.powered).then_some(()))
            .ok_or_else(|| format!("the power is still on after {limit:?}"))
    }

    /// What has been counted.
    pub fn statistics(&self) -> Result<Statistics> {
        let answer = self.command(json!({"do": "statistics"}))?;
        serde_json::from_value(answer).map_err(|error| format!("the emulator's statistics: {error}"))
    }

    /// Waits until the emulator has ended by itself. It does so only when something is wrong.
    pub fn wait_for_end(&mut self) -> Result<()> {
        let status = self.child.wait().map_err(|error| format!("node: {error}"))?;
        Err(format!("the emulator ended with {status}"))
    }

    fn command(&self, mut command: Value) -> Result<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        command["id"] = id.into();
        let gone = || "the emulator has ended; what it printed above says why".to_string();
        {
            let mut input = self.input.lock().map_err(|_| gone())?;
            writeln!(input, "{command}").and_then(|()| input.flush()).map_err(|_| gone())?;
        }
        let answer = |history: &mut History| match history.answers.remove(&id) {
            None if history.ended => Some(None),
            found => found.map(Some),
        };
        self.shared.wait(ANSWER_WITHIN, answer).flatten().ok_or_else(gone)
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Both end with the process.
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        self.wire = None;
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of an even number of hexadecimal digits. Anything else is left out.
fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    digits.filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
