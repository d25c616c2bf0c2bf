//! Matches that are over, looked at again: over HTTP on any device, and in a browser that was opened after the league.

#[allow(dead_code, reason = "another test uses more of it")]
#[path = "../page/browser.rs"]
mod browser;

use browser::Browser;
use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use serde_json::{Value, json};

fn moves(leaguebox: &LeagueBox, id: &str) -> Value {
    leaguebox.get_json(&format!("/api/matches/{id}/moves.json"))
}

/// The stones on a board, after a step.
fn stones(leaguebox: &LeagueBox, id: &str, step: usize) -> usize {
    let shown = leaguebox.get_json(&format!("/api/matches/{id}/steps/{step}.json"));
    assert_eq!(shown["step"], step);
    let board = shown["view"]["extra"]["board"].as_array().expect("a board");
    board.iter().flat_map(|row| row.as_array().expect("a row")).filter(|stone| **stone != 0).count()
}

#[test]
fn every_move_of_a_league_is_kept_with_its_time_and_can_be_stepped_through() {
    let leaguebox = LeagueBox::start(Settings { game: "skill-gomoku", ..Settings::start_at(4) });
    let crowd = Crowd::of(&leaguebox, 4);
    crowd.wait_for_the_end();
    for id in ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"] {
        let told = moves(&leaguebox, id);
        assert_eq!((&told["match_id"], &told["complete"]), (&json!(id), &json!(true)), "{told}");
        let result = leaguebox.get_json(&format!("/api/matches/{id}.json"));
        let moves = told["moves"].as_array().expect("moves");
        assert_eq!(
            moves.len() as u64,
            result["game_result"]["total_moves"].as_u64().expect("a number") + 1,
            "and the end"
        );
        assert!(moves.is_sorted_by_key(|one| one["at_ms"].as_u64()));
        assert_eq!(stones(&leaguebox, id, 0), 0);
        assert_eq!(stones(&leaguebox, id, 1), 1);
        assert!(stones(&leaguebox, id, moves.len()) >= 5, "the board at the end");
    }
    assert_eq!(leaguebox.get("/api/matches/R1M1/steps/9999.json").status, 404);
    assert_eq!(leaguebox.get("/api/matches/R9M1/moves.json").status, 404);
}

#[test]
fn the_last_position_of_a_match_is_told_of_every_game_when_it_is_over() {
    for (game, players) in [
        ("even_odd", 2),
        ("even_odd_10", 2),
        ("echo", 2),
        ("blotto", 2),
        ("skill-gomoku", 2),
        ("resource-rush", 2),
        ("dance-battle", 4),
        ("landlord", 3),
        ("rockpaper", 2),
        ("blackjack", 2),
        ("texasholdem", 2),
        ("chess", 2),
        ("go", 2),
    ] {
        if game == "resource-rush" && cfg!(feature = "board") {
            // A thousand maps of 25 KB take an emulated board too long.
            continue;
        }
        let leaguebox = LeagueBox::start(Settings { game, ..Settings::start_at(players) });
        let crowd = Crowd::of(&leaguebox, players);
        crowd.wait_for_the_end();
        let told = leaguebox.get_json("/api/matches/R1M1.json");
        assert_eq!((&told["status"], &told["phase"]), (&json!("FINISHED"), &json!(null)), "{game}");
        assert!(
            told["view"].is_object() && told["actions"].is_array() && told["summary"].is_string(),
            "{game}: {told}"
        );
        let last = moves(&leaguebox, "R1M1")["steps"].clone();
        let shot = leaguebox.get_json(&format!("/api/matches/R1M1/steps/{last}.json"));
        for part in ["view", "actions", "summary"] {
            assert_eq!(told[part], shot[part], "{game}: as the last step has it");
        }
        // Nobody is shown ahead of who has won.
        let score = |player: &Value| player["score"].as_i64().expect("a score");
        let players = told["players"].as_array().expect("players");
        if let Some(winner) = players.iter().find(|player| player["player_id"] == told["winner"]) {
            assert!(players.iter().all(|player| score(player) <= score(winner)), "{game}: {told}");
        }
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_page_opened_after_the_league_replays_a_match_from_its_first_move_to_the_last() {
    let leaguebox = LeagueBox::start(Settings { game: "skill-gomoku", ..Settings::start_at(2) });
    let crowd = Crowd::of(&leaguebox, 2);
    crowd.wait_for_the_end();
    let told = moves(&leaguebox, "R1M1");
    let last = told["moves"].as_array().expect("moves").len();
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("!!document.querySelector('#rounds .match')");
    browser.run("document.querySelectorAll('#rounds details').forEach(one => one.open = true)");
    browser.click("#rounds .match");
    browser.wait_until(&format!("document.querySelectorAll('#body .moves li').length === {last}"));
    let on_board = |count: usize| {
        browser.wait_until(&format!(
            "document.querySelectorAll('#body .game .stone1, #body .game .stone2').length === {count}"
        ));
    };
    let said = || browser.text("#body .replay small");
    on_board(stones(&leaguebox, "R1M1", last));
    assert!(said().starts_with(&format!("step {last} of {last}, 0:")), "{}", said());
    browser.keep_picture("replay.png");

    // To the beginning and on from there, with the keyboard.
    browser.run("document.querySelector('#body .replay input').focus()");
    browser.press("\u{e011}");
    on_board(0);
    assert_eq!(said(), format!("step 0 of {last}"));
    for step in 1..=last {
        browser.press("\u{e014}");
        on_board(stones(&leaguebox, "R1M1", step));
        assert!(said().starts_with(&format!("step {step} of {last}, ")), "{}", said());
        assert_eq!(
            browser
                .eval("[...document.querySelectorAll('#body .moves li')].findIndex(one => one.ariaCurrent === 'step')"),
            step - 1
        );
    }
    browser.click("#body .replay button");
    assert!(said().starts_with(&format!("step {} of ", last - 1)), "{}", said());
    browser.run("document.querySelector('#body .moves li').click()");
    on_board(1);
    let line = browser.text("#body .moves li");
    assert!(line.contains("0:") && line.contains("place"), "{line}");
}
