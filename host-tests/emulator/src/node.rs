//! Node.js and the package it needs.

use crate::Result;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// The emulator's JavaScript.
pub const JS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/js");

const OLDEST: u32 = 18;

/// Sees to it that node can run the emulator: that it is there, and that the package is. [`crate::Emulator::start`] does this too.
pub fn prepare() -> Result<()> {
    // Tests start emulators side by side; one of them installs.
    static ONE: Mutex<()> = Mutex::new(());
    let _guard = ONE.lock();
    let version = Command::new("node").arg("--version").output();
    let major = version.ok().and_then(|output| {
        let text = String::from_utf8(output.stdout).ok()?;
        text.trim_start_matches('v').split('.').next()?.parse::<u32>().ok()
    });
    if major.is_none_or(|major| major < OLDEST) {
        return Err(format!("the emulator needs Node.js {OLDEST} or newer (Debian: apt-get install nodejs npm)"));
    }
    if Path::new(JS).join("node_modules/rp2040js").is_dir() {
        return Ok(());
    }
    let installed = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--silent"])
        .current_dir(JS)
        .stdin(Stdio::null())
        .status()
        .map_err(|_| "the emulator needs npm, once (Debian: apt-get install npm)".to_string())?;
    if installed.success() { Ok(()) } else { Err(format!("`npm ci` in {JS} ended with {installed}")) }
}
