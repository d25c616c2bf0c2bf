//! The players a student starts from: they are ready when asked, break no rule, and say what happens.

use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::settings::Settings;
use host_tests::{here, wait_for};
use serde_json::{Value, json};
use std::process::Command;

fn assert_clean(leaguebox: &LeagueBox, ids: &[&str]) {
    for id in ids {
        let report = leaguebox.get_json(&format!("/api/players/{id}.json"));
        assert_eq!((&report["compliance"], &report["violations"]), (&json!([]), &json!(0)), "{report}");
    }
}

fn says(player: &Player, words: &str) {
    wait_for(&format!("{} says {words:?}", player.name), || player.printed().contains(words).then_some(()));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_player_is_ready_when_asked_breaks_no_rule_and_says_what_happens() {
    for (game, mode) in [("even_odd", "strict"), ("even_odd_10", "lenient")] {
        let leaguebox = LeagueBox::start(Settings { game, mode, ..Settings::default() });
        let ada = Player::example(&leaguebox, "Ada");
        says(&ada, "Registered as P01");
        let grace = Player::example(&leaguebox, "Grace");
        says(&grace, "Registered as P02");
        for id in ["P01", "P02"] {
            let body = json!({ "player_id": id }).to_string();
            assert_eq!(leaguebox.admin_with("check", &body).status, 200);
        }
        wait_for("both are ready", || {
            let players = leaguebox.get_json("/api/players.json")["players"].take();
            let states: Vec<Value> =
                players.as_array()?.iter().map(|player| player["ready"]["status"].clone()).collect();
            assert!(states.iter().all(|state| state != "failed"), "{players}");
            (states == ["ok", "ok"]).then_some(())
        });
        assert_eq!(leaguebox.admin("start").status, 200);
        leaguebox.wait_for_the_champion();
        for player in [&ada, &grace] {
            for words in ["asks whether I am there", "R1M1: invited", "R1M1: I choose", "The league is over"] {
                says(player, words);
            }
            // Who lost says so; somebody won or nobody did. It stands before the last words.
            let said = player.printed();
            assert!(["I won. ", "I lost. ", "nobody won. "].iter().any(|end| said.contains(end)), "{said}");
        }
        assert_clean(&leaguebox, &["P01", "P02"]);
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_player_says_in_words_why_it_cannot_start() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (url, name) = (leaguebox.url(), "Ada");
    let run = |box_url: &str, port: u16| {
        let example = here("../examples/player.py");
        let arguments = ["--box", box_url, "--name", name, "--port", &port.to_string()].map(str::to_owned);
        let output = Command::new("python3").arg(example).args(arguments).output().expect("python3 starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && !said.contains("Traceback"), "{said}");
        said
    };
    let taken = std::net::TcpListener::bind("0.0.0.0:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port();
    assert!(run(&url, port).starts_with(&format!("Port {port} cannot be used")), "a busy port");
    let nowhere = format!("http://127.0.0.1:{}", host_tests::free_port());
    assert!(run(&nowhere, host_tests::free_port()).starts_with("There is no box at"), "no box");
    let _first = Player::example(&leaguebox, name);
    says(&_first, "Registered as");
    assert!(run(&url, host_tests::free_port()).contains("Duplicate display name"), "a name that is taken");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_that_dials_in_breaks_no_rule_and_says_what_happens() {
    let leaguebox = LeagueBox::start(Settings { mode: "strict", ..Settings::start_at(2) });
    let players = ["Ada", "Grace"].map(|name| Player::dialling_example(&leaguebox, "dial_in", name, &[]));
    leaguebox.wait_for_the_champion();
    for player in &players {
        for words in ["Registered as P0", "R1M1: invited", "R1M1: I choose", "The league is over"] {
            says(player, words);
        }
    }
    assert_clean(&leaguebox, &["P01", "P02"]);
}
