//! Real agents: the Python players of `players/`, in the virtual environment that `cargo xtask venv` makes, and the one
//! for Node beside them.

use crate::device::DEVICE;
use crate::leaguebox::LeagueBox;
use crate::{free_port, here, wait_for};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The interpreter of `.venv` in the repository's root.
pub fn interpreter() -> PathBuf {
    let python = here("../.venv/bin/python");
    assert!(python.exists(), "there is no .venv; `cargo xtask clients` makes it and runs these tests");
    python
}

/// A Python agent. It ends with its test.
pub struct Player {
    /// The name it registers with.
    pub name: String,
    log: PathBuf,
    child: Child,
}

impl Player {
    /// Starts `players/<script>.py` in one of its dialects, with `extra` arguments.
    pub fn start(leaguebox: &LeagueBox, script: &str, dialect: &str, name: &str, extra: &[&str]) -> Player {
        let log = log_file(dialect);
        let mut command = Command::new(interpreter());
        command.arg(here("players").join(format!("{script}.py")));
        command.args(["--dialect", dialect]).arg("--log").arg(&log).args(extra);
        command.arg("--host").arg(DEVICE.players_listen().to_string());
        Player { name: name.to_owned(), log, child: spawn(command, leaguebox, name) }
    }

    /// Starts `players/referees/<script>.py`, a referee, with the system's Python: it needs nothing else.
    pub fn referee(leaguebox: &LeagueBox, script: &str, extra: &[&str]) -> Player {
        let (mut command, log) = (Command::new("python3"), log_file(script));
        command.arg(here("players/referees").join(format!("{script}.py"))).arg("--log").arg(&log).args(extra);
        command.arg("--host").arg(DEVICE.players_listen().to_string());
        command.arg("--home").arg(leaguebox.home().to_string());
        Player { name: script.to_owned(), log, child: spawn(command, leaguebox, script) }
    }

    /// Starts `players/node_player.mjs`.
    pub fn node(leaguebox: &LeagueBox, name: &str) -> Player {
        let log = log_file("node");
        let mut command = Command::new("node");
        command.arg(here("players/node_player.mjs")).arg("--log").arg(&log);
        Player { name: name.to_owned(), log, child: spawn(command, leaguebox, name) }
    }

    /// Starts `players/node_arena_player.mjs` for one game.
    pub fn node_in_the_arena(leaguebox: &LeagueBox, name: &str, game: &str) -> Player {
        let log = log_file("node");
        let mut command = Command::new("node");
        command.arg(here("players/node_arena_player.mjs")).arg("--log").arg(&log).args(["--game", game]);
        Player { name: name.to_owned(), log, child: spawn(command, leaguebox, name) }
    }

    /// Starts an example that dials in, `examples/<script>.py`.
    pub fn dialling_example(leaguebox: &LeagueBox, script: &str, name: &str, extra: &[&str]) -> Player {
        let example = here("../examples").join(format!("{script}.py"));
        let url = leaguebox.url();
        Player::script(&example, name, &[&["--box", &url, "--name", name], extra].concat())
    }

    /// Starts any script. It keeps no log, but what it [prints](Self::printed) is there.
    pub fn script(path: &Path, name: &str, arguments: &[&str]) -> Player {
        let log = log_file("script");
        let mut command = Command::new(interpreter());
        command.arg(path).args(arguments).stdin(Stdio::piped()).stdout(fs::File::create(&log).expect("a file"));
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Player { name: name.to_owned(), log, child }
    }

    /// The same with Node.
    pub fn node_script(path: &Path, name: &str, arguments: &[&str]) -> Player {
        let log = log_file("node");
        let mut command = Command::new("node");
        command.arg(path).args(arguments).stdin(Stdio::piped()).stdout(fs::File::create(&log).expect("a file"));
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Player { name: name.to_owned(), log, child }
    }

    /// What a script has printed so far.
    pub fn printed(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Starts `examples/player.py`, with the system's Python: it must need nothing else. What it [prints](Self::printed) is
    /// there.
    pub fn example(leaguebox: &LeagueBox, name: &str) -> Player {
        let (mut command, log) = (Command::new("python3"), log_file("example"));
        command.arg(here("../examples/player.py")).stdout(fs::File::create(&log).expect("a file"));
        Player { name: name.to_owned(), log, child: spawn(command, leaguebox, name) }
    }

    /// The log's entries of one kind, oldest first: `received`, `registered`, `refused`, `posted`, `retry`, `unheard`.
    pub fn entries(&self, kind: &str) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may be half written.
        text.lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|entry| entry["kind"] == kind)
            .collect()
    }

    /// Every message of the box it understood, without wrapping.
    pub fn received(&self) -> Vec<Value> {
        self.entries("received").into_iter().map(|mut entry| entry["message"].take()).collect()
    }

    /// Those of one type.
    pub fn received_of(&self, message_type: &str) -> Vec<Value> {
        self.received().into_iter().filter(|message| message["message_type"] == message_type).collect()
    }

    /// Waits until it is registered; the box's answer.
    pub fn wait_until_registered(&mut self) -> Value {
        let what = format!("{} registers", self.name);
        wait_for(&what, || {
            self.assert_alive();
            self.entries("registered").pop().map(|mut entry| entry["message"].take())
        })
    }

    /// Waits for the last message of a league. A player that refuses a message will hardly get there: it says why at once.
    pub fn wait_for_the_end(&self) {
        wait_for(&format!("{} hears LEAGUE_COMPLETED", self.name), || {
            let refused = self.entries("refused");
            assert!(refused.is_empty(), "{} refuses what the box says: {refused:?}", self.name);
            self.received_of("LEAGUE_COMPLETED").pop()
        });
    }

    /// Waits until it ends by itself; its exit code.
    pub fn wait_until_it_ends(&mut self) -> Option<i32> {
        wait_for(&format!("{} ends", self.name), || self.child.try_wait().expect("a child")).code()
    }

    fn assert_alive(&mut self) {
        if let Ok(Some(status)) = self.child.try_wait() {
            panic!("the player {} ended early, with {status}", self.name);
        }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !std::thread::panicking() {
            let _ = fs::remove_file(&self.log);
        }
    }
}

/// Its standard input stays open as long as we live: should we be killed, it closes, and the player ends.
fn spawn(mut command: Command, leaguebox: &LeagueBox, name: &str) -> Child {
    let port = free_port().to_string();
    command.args(["--box", &leaguebox.url(), "--port", &port, "--name", name]).stdin(Stdio::piped());
    command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn log_file(dialect: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let directory: &Path = &std::env::temp_dir();
    let path = directory.join(format!("leaguebox-{}-{number}-{dialect}.jsonl", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}
