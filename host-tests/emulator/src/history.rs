//! What has happened on a board: a thread reads the emulator's events and keeps them; others look, or wait for more.

use crate::unhex;
use defmt_decoder::{DecodeError, Table};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::ChildStdout;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A line of the box's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The board's time.
    pub at: Duration,
    /// How many boots there were before, this one included.
    pub boot: usize,
    /// `info`, `warn`, ...
    pub level: &'static str,
    /// What it says.
    pub text: String,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>10.3} {:<5} {}", self.at.as_secs_f64(), self.level, self.text)
    }
}

/// A start of the box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boot {
    /// The board's time.
    pub at: Duration,
    /// `power-on`, `watchdog`, `watchdog-forced` or `software`.
    pub why: String,
}

/// The LED went on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Led {
    /// The board's time.
    pub at: Duration,
    /// Whether it shines now.
    pub on: bool,
}

/// The flash began to be erased or programmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlashOperation {
    /// The board's time.
    pub at: Duration,
    /// `erase` or `program`.
    pub operation: String,
    /// Where, from the flash's start.
    pub address: u32,
    /// How many bytes.
    pub length: u32,
}

/// What has been counted since the first power-on.
#[derive(Debug, Clone, Deserialize)]
pub struct Statistics {
    /// The board's time in nanoseconds.
    pub nanos: u64,
    /// The board's time in cycles of 125 MHz.
    pub cycle: u64,
    /// Cycles in which the core was not asleep.
    pub busy_cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Whether the power is on.
    pub powered: bool,
    /// How often something invalid was done. [`crate::Emulator::invalid`] says what.
    pub invalid: u64,
    /// The stack since the last start.
    pub stack: StackUse,
    /// The flash.
    pub flash: FlashUse,
    /// The Ethernet chip.
    pub ethernet: EthernetUse,
    /// Frames lost on the cable, on purpose.
    pub lost_frames: u64,
    /// Nanoseconds of our time that the emulation took.
    pub worked: u64,
}

/// In bytes.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct StackUse {
    /// What there is.
    pub size: u64,
    /// The most that was in use.
    pub used: u64,
}

/// Operations.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct FlashUse {
    /// Erasing.
    pub erases: u64,
    /// Programming.
    pub programs: u64,
    /// Those in the middle of which the power failed.
    pub cut: u64,
}

/// Frames.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct EthernetUse {
    /// Sent by the box.
    pub sent: u64,
    /// Received by the box.
    pub received: u64,
    /// Lost because its buffer was full.
    pub overrun: u64,
    /// Not for it.
    pub filtered: u64,
    /// Lost because it had no power, or far too many waited on the wire.
    pub lost_in_queue: u64,
}

#[derive(Debug, Default)]
pub(crate) struct History {
    pub log: Vec<LogLine>,
    pub boots: Vec<Boot>,
    pub led: Vec<Led>,
    pub flash: Vec<FlashOperation>,
    pub invalid: Vec<String>,
    pub frames: Vec<Vec<u8>>,
    pub answers: HashMap<u64, Value>,
    pub powered: bool,
    /// The emulator is gone: nothing more will come.
    pub ended: bool,
}

/// The history, and a bell that rings when it has grown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared(Arc<(Mutex<History>, Condvar)>);

impl Shared {
    pub fn look<T>(&self, look: impl FnOnce(&mut History) -> T) -> T {
        look(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks until there is something, `limit` has passed, or nothing more can come.
    pub fn wait<T>(&self, limit: Duration, mut look: impl FnMut(&mut History) -> Option<T>) -> Option<T> {
        let until = Instant::now() + limit;
        let mut history = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let found = look(&mut history);
            let left = until.saturating_duration_since(Instant::now());
            if found.is_some() || left.is_zero() || history.ended {
                return found;
            }
            history = self.0.1.wait_timeout(history, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn change(&self, change: impl FnOnce(&mut History)) {
        self.look(change);
        self.0.1.notify_all();
    }
}

/// Starts the thread that reads events. It ends with the process that writes them.
pub(crate) fn read(
    output: ChildStdout,
    image: &[u8],
    show_log: bool,
    shared: Shared,
) -> Result<JoinHandle<()>, String> {
    let table = Table::parse(image)
        .map_err(|error| format!("the image's log format: {error}"))?
        .ok_or("the image has no defmt log")?;
    Ok(std::thread::spawn(move || {
        let mut decoder = table.new_stream_decoder();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
            match event["event"].as_str() {
                Some("log") => decoder.received(&unhex(event["bytes"].as_str().unwrap_or_default())),
                // A line that the reset cut short will not be completed.
                Some("boot") => decoder = table.new_stream_decoder(),
                _ => {}
            }
            let mut lines = Vec::new();
            loop {
                match decoder.decode() {
                    Ok(frame) => lines.push((
                        frame.level().map_or("print", |level| level.as_str()),
                        frame.display_message().to_string(),
                    )),
                    Err(DecodeError::UnexpectedEof) => break,
                    Err(DecodeError::Malformed) => {}
                }
            }
            shared.change(|history| {
                for (level, text) in lines {
                    let line = LogLine { at: time(&event), boot: history.boots.len(), level, text };
                    if show_log {
                        println!("{line}");
                    }
                    history.log.push(line);
                }
                history.add(event);
            });
        }
        shared.change(|history| history.ended = true);
    }))
}

impl History {
    fn add(&mut self, mut event: Value) {
        let at = time(&event);
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_string();
        let number = |name: &str| event[name].as_u64().unwrap_or_default() as u32;
        match event["event"].as_str() {
            None => {
                if let Some(id) = event["answer"].as_u64() {
                    self.answers.insert(id, event.take());
                }
            }
            Some("boot") => {
                self.powered = true;
                self.boots.push(Boot { at, why: text("why") });
            }
            Some("off") => self.powered = false,
            Some("led") => self.led.push(Led { at, on: event["on"] == true }),
            Some("flash") => self.flash.push(FlashOperation {
                at,
                operation: text("operation"),
                address: number("address"),
                length: number("length"),
            }),
            Some("invalid") => {
                self.invalid.push(format!("{} (pc {}, after {:.6} s)", text("what"), text("pc"), at.as_secs_f64()));
            }
            Some("frame") => self.frames.push(unhex(&text("bytes"))),
            Some(_) => {}
        }
    }
}

fn time(event: &Value) -> Duration {
    Duration::from_nanos(event["at"].as_u64().unwrap_or_default())
}
