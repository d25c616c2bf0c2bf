//! What the program prints, as whoever starts it reads it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// The program, in a folder of its own.
fn leaguebox(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaguebox"));
    command.args(words).stdin(Stdio::null()).current_dir(std::env::temp_dir());
    command
}

/// All it prints until it ends by itself, which must be well.
fn printed(words: &[&str]) -> String {
    let output = leaguebox(words).output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

const ONE_LEAGUE: [&str; 7] = ["--listen", "127.0.0.1:0", "--no-flash", "--start-at", "4", "--house=4", "--once"];

#[test]
fn a_league_of_the_house_is_told_from_the_first_player_to_the_champion_without_colours_in_a_pipe() {
    let text = printed(&ONE_LEAGUE);
    let (_, told) = text.split_once("Ctrl-C ends it now.\n").expect("what to do next");
    let parts =
        ["P01 Random is in", "The league begins: 4 players, even_odd", "Round 1 of 3", "  R1M1  Random", "  R3M2  "];
    let mut rest = told;
    for part in parts.into_iter().chain(["Final standings", " is the champion"]) {
        let (_, behind) = rest.split_once(part).unwrap_or_else(|| panic!("{part} in its place: {text}"));
        rest = behind;
    }
    assert_eq!(text.matches("Final standings").count(), 1);
    assert!(!text.contains('\u{1b}'), "no terminal, no colours");
}

#[test]
fn a_quiet_box_prints_where_it_is_and_the_standings_it_ends_with() {
    let text = printed(&[&ONE_LEAGUE[..], &["--quiet"]].concat());
    assert!(text.contains("Admin code") && text.contains("Final standings"), "{text}");
    for told in ["is in", "Round 1", "champion"] {
        assert!(!text.contains(told), "{told}: {text}");
    }
}

#[test]
fn the_demo_ends_with_its_league_and_names_no_address_that_is_dead_by_then() {
    let text = printed(&["demo", "--players", "3", "--game", "echo"]);
    assert!(text.contains("3 house players play echo") && text.contains("Final standings"), "{text}");
    assert!(!text.contains("http://"), "{text}");
}

/// A program that runs until it is ended, and what it has printed.
struct Running(Child, BufReader<std::process::ChildStdout>, String);

impl Running {
    fn start(words: &[&str]) -> Self {
        let mut child = leaguebox(words).stdout(Stdio::piped()).spawn().expect("it starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Self(child, out, String::new())
    }

    /// Reads on until a line has this in it.
    fn until(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.1.read_line(&mut line).expect("a line"), 0, "no {part}: {}", self.2);
            self.2 += &line;
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Asks until the box is not busy telling players how the last league ended.
    fn ask(&self, address: &str, request: &str, code: &str, body: &str) -> Value {
        loop {
            let answer = self.answer(address, request, code, body);
            let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
            if head.starts_with("HTTP/1.1 409") && body.contains("try again in a moment") {
                std::thread::sleep(std::time::Duration::from_millis(20));
                continue;
            }
            assert!(head.starts_with("HTTP/1.1 200"), "{request}: {answer}");
            return serde_json::from_str(body).expect("JSON");
        }
    }

    fn answer(&self, address: &str, request: &str, code: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        let length = body.len();
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {code}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[test]
fn a_demo_that_listens_stays_and_its_owner_plays_another_game_with_more_of_the_house() {
    let mut demo = Running::start(&["demo", "--listen", "127.0.0.1:0", "--players", "3", "--admin-code", "class-7b"]);
    let page = demo.until("Page");
    let address = page.trim().rsplit("http://").next().expect("an address").trim_end_matches('/').to_owned();
    assert!(demo.until("Admin code").contains("class-7b"));
    demo.until("is the champion");
    demo.ask(&address, "POST /api/admin/settings", "class-7b", r#"{"game": "skill-gomoku"}"#);
    demo.ask(&address, "POST /api/admin/house", "class-7b", r#"{"players": 2}"#);
    demo.until("(5 players)");
    demo.ask(&address, "POST /api/admin/rematch", "class-7b", "");
    demo.until("5 players, skill-gomoku");
    demo.until("is the champion");
    let standings = demo.ask(&address, "GET /api/standings.json", "class-7b", "");
    let rows = standings["standings"].as_array().expect("rows");
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row["technical_losses"] == 0 && row["played"] == 4), "{standings}");
}

#[test]
fn a_file_that_was_asked_for_and_cannot_be_used_ends_the_start_with_a_plain_word() {
    let folder = std::env::temp_dir().join(format!("leaguebox-terminal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let short = folder.join("short.flash");
    std::fs::write(&short, "homework").expect("a file");
    for (file, why) in [
        ("/nowhere/at/all.flash", "the file cannot be opened for writing"),
        (folder.to_str().expect("a path"), "the file cannot be opened for writing"),
        (short.to_str().expect("a path"), "the file is not a whole journal"),
        // Nobody may write the one, not even root; the other is a disk that is full.
        ("/sys/kernel/uevent_seqnum", "the file cannot be opened for writing"),
        ("/dev/full", "the file cannot be written"),
    ] {
        if file.starts_with("/sys") && !std::path::Path::new(file).exists() {
            continue;
        }
        let output = leaguebox(&["--listen", "127.0.0.1:0", "--flash", file]).output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{file}: {error}");
        assert!(output.stdout.is_empty(), "it does not say that it serves");
        assert!(error.contains(&format!("{file}: {why}")), "{error}");
        assert!(error.contains("--no-flash") && error.trim_end().lines().count() == 1, "{error}");
    }
    assert_eq!(std::fs::read(&short).expect("the file"), b"homework", "it is kept");
    std::fs::remove_dir_all(folder).expect("the folder");
}
