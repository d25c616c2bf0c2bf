//! `cargo xtask clients`: the tests with other people's clients, after installing what they need. `cargo test` alone needs only
//! Rust and shows these as ignored.

use crate::verb::{Given, Verb};
use crate::{Outcome, emulate, sh, test, venv};
use std::fs;
use std::path::PathBuf;

/// Where Debian puts a player of chess.
const STOCKFISH: &str = "/usr/games/stockfish";

/// What compiles them so that they run.
const FEATURES: &[&str] = &["clients"];

/// What makes a test one of these.
const MARK: &str = r#"not(feature = "clients")"#;

pub const VERB: Verb = Verb {
    name: "clients",
    what: "run the tests that need other people's clients",
    more: "\
        Python agents, curl and jq, Node and Chromium play against the box or look at its page. Installs what is missing.\n\
        `cargo test` alone needs only Rust and shows these tests as ignored.",
    options: &[],
    words: &[],
    example: "cargo xtask clients",
    run,
};

/// Installs and runs.
fn run(_: &Given) -> Outcome {
    prepare()?;
    let mut test = test::cargo(FEATURES);
    for file in files()? {
        test.args(["--test", &file]);
    }
    sh::run(&mut test)
}

/// `cargo test` with these tests in it, and with those of the chores and of the emulator.
pub fn and_all_others() -> Outcome {
    prepare()?;
    // Most of these tests wait for somebody most of the time.
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    sh::run(test::cargo(FEATURES).env("RUST_TEST_THREADS", (2 * cores).to_string()))
}

/// The files that have such tests: a list kept by hand would one day leave one out.
fn files() -> Result<Vec<String>, String> {
    let folder = sh::root().join("host-tests/tests");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let has_some = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(MARK));
    let mut files: Vec<String> =
        paths.filter(has_some).filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    files.sort();
    Ok(files)
}

/// Installs what they need.
pub fn prepare() -> Outcome {
    venv::make()?;
    emulate::need(emulate::NODE)?;
    let players = sh::root().join("host-tests/players");
    if ["ws", "axe-core", "jsqr", "@modelcontextprotocol/sdk"]
        .iter()
        .any(|module| !players.join("node_modules").join(module).is_dir())
    {
        sh::run(sh::command("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(players))?;
    }
    // Each by a program and the package it is in. Before anything else: the network of the emulated boxes has no way out.
    let browser = [("chromium", "chromium"), ("chromedriver", "chromium-driver")];
    for (program, package) in [("curl", "curl"), ("jq", "jq"), (STOCKFISH, "stockfish")].into_iter().chain(browser) {
        if !sh::succeeds(sh::command(program).arg("--version")) {
            sh::apt_install(&[package], program)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whichever_file_needs_other_peoples_clients_is_found() {
        let files = files().unwrap();
        assert!(
            ["league_of_agents", "manual", "page"].iter().all(|file| files.contains(&(*file).to_owned())),
            "{files:?}"
        );
        assert!(!files.contains(&"registration".to_owned()), "{files:?}");
    }
}
