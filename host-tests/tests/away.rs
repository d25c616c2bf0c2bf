//! In good company: a player of the house in somebody else's league, and the record of a league, judged.

use host_tests::crowd::Crowd;
use host_tests::device::desktop;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wait_for;
use std::process::{Child, Command, Output, Stdio};

/// The desktop's own program, told to do something else than to be the box.
fn leaguebox(words: &[&str]) -> Command {
    let mut command = Command::new(desktop::executable());
    command.args(words);
    command
}

/// A child that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[cfg_attr(feature = "board", ignore = "the program is this computer's")]
fn a_player_of_the_house_waits_for_its_manager_plays_and_ends_with_the_league() {
    let settings = Settings::start_at(3);
    // Nobody is there yet.
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], host_tests::free_port()));
    let url = format!("http://{address}/mcp");
    let mut players = [("always-even", "Eve"), ("Markov", "Andrey")].map(|(strategy, name)| {
        let mut command = leaguebox(&["player", "--manager", &url, "--strategy", strategy, "--name", name]);
        Running(command.stdout(Stdio::null()).spawn().expect("a player"))
    });
    let manager = LeagueBox::start_at(address, settings);
    let crowd = Crowd::of(&manager, 1);
    crowd.wait_for_the_end();
    for Running(player) in &mut players {
        let status = wait_for("a player ends with the league", || player.try_wait().expect("a child"));
        assert!(status.success(), "{status}");
    }
    let standings = manager.get("/api/standings.json").body;
    assert!(standings.contains("Eve") && standings.contains("Andrey"), "{standings}");
    let reports = manager.get_json("/api/players.json");
    for player in reports["players"].as_array().expect("players").iter().filter(|one| one["display_name"] != "Player 1")
    {
        assert_eq!(player["violations"], 0, "{player}");
    }
}

fn judged(file: &std::path::Path) -> (Option<i32>, String) {
    let Output { status, stdout, .. } = leaguebox(&["conform"]).arg(file).output().expect("a judge");
    (status.code(), String::from_utf8(stdout).expect("a text"))
}

#[test]
#[cfg_attr(feature = "board", ignore = "a record is a file of this computer")]
fn the_record_of_a_league_keeps_every_rule_has_no_token_and_one_fault_in_it_is_found() {
    let file = std::env::temp_dir().join(format!("leaguebox-away-{}.jsonl", std::process::id()));
    let record = format!("--record={}", file.display());
    let words = ["--listen=127.0.0.1:0", "--no-flash", "--start-at=6", "--house=6", "--once", "--quiet", &record];
    let played = leaguebox(&words).output().expect("a league");
    assert!(played.status.success(), "{played:?}");
    let text = std::fs::read_to_string(&file).expect("a record");
    assert!(text.lines().count() > 300, "{} lines", text.lines().count());
    let secret = |word: &str| word.len() > 24 && word.starts_with("tok_");
    let leaked: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| secret(word)).collect();
    assert!(leaked.is_empty(), "{leaked:?}");
    let (code, report) = judged(&file);
    assert_eq!(code, Some(0), "{report}");
    assert!(!report.contains("BROKEN"), "{report}");
    for rule in ["verdict", "standings", "game_over", "pairs", "last", "order"] {
        let line = report.lines().find(|line| line.starts_with(rule)).unwrap_or_default();
        assert!(line.contains("kept"), "{rule}: {report}");
    }
    std::fs::write(&file, text.replacen("\"parity_choice\":\"", "\"parity_choice\":\"not ", 1)).expect("a file");
    let (code, report) = judged(&file);
    assert_eq!(code, Some(1), "{report}");
    assert!(report.lines().any(|line| line.starts_with("choice") && line.contains("BROKEN, 1 of")), "{report}");
    let _ = std::fs::remove_file(&file);
    assert_eq!(judged(&file).0, Some(1), "a file that is not there");
}
