//! `cargo xtask clients`: the tests with other people's clients, after installing what they need (Chromium installs itself
//! when its test begins). `cargo test` alone needs
//! only Rust and shows these as ignored.

use crate::{Outcome, emulate, no_options, sh, venv};

/// Installs and runs.
pub fn run(args: &[String]) -> Outcome {
    no_options(args)?;
    prepare()?;
    sh::run(&mut sh::line(
        "cargo test -p host-tests --features clients --test dialects --test http --test league_of_agents --test misbehaviour --test page --test websocket",
    ))
}

/// Installs what they need.
pub fn prepare() -> Outcome {
    venv::run(&[])?;
    emulate::need(emulate::NODE)?;
    let players = sh::root().join("host-tests/players");
    if ["ws", "axe-core"].iter().any(|module| !players.join("node_modules").join(module).is_dir()) {
        sh::run(sh::command("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(players))?;
    }
    if sh::succeeds(sh::command("curl").arg("--version")) { Ok(()) } else { sh::apt_install(&["curl"], "curl") }
}
