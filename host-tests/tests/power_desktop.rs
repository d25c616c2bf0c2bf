//! The desktop box is killed at random instants of a league and started again on the same file, until the league is
//! over: nothing it had acknowledged is lost. And a file it cannot use is told, while it referees all the same.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use host_tests::arena;
use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::results;
use host_tests::settings::Settings;
use host_tests::simulation::random::Random;
use host_tests::wait_for;
use serde_json::{Value, json};

/// A file in a folder of this test's own, deleted at the end.
struct Flash(PathBuf);

impl Flash {
    fn new(name: &str) -> Flash {
        // In memory where there is such a place: a busy disk can take half a minute to write, and a killed program does not
        // need it to.
        let memory = PathBuf::from("/dev/shm");
        let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let folder = place.join(format!("leaguebox-power-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Flash(folder.join("leaguebox.flash"))
    }
}

impl Drop for Flash {
    fn drop(&mut self) {
        let _ = self.0.parent().map(std::fs::remove_dir_all);
    }
}

fn settings(players: usize) -> Settings {
    Settings { join_timeout_ms: 2_000, move_timeout_ms: 2_000, retry_base_ms: 50, ..Settings::start_at(players) }
}

/// Every result the box shows, by match.
fn shown(leaguebox: &LeagueBox) -> BTreeMap<String, results::Row> {
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    rows.into_iter().map(|row| (row.get("match_id").to_owned(), row)).collect()
}

#[test]
#[cfg_attr(feature = "board", ignore = "a process of this computer is killed")]
fn a_box_killed_at_random_instants_completes_its_league_and_loses_nothing() {
    const PLAYERS: usize = 14;
    let flash = Flash::new("kill");
    let mut random = Random::new(4);
    let start = || LeagueBox::on_flash(settings(PLAYERS), &flash.0);
    let mut leaguebox = start();
    // They think, so that a fast computer does not end the league between two kills.
    let mut crowd = Crowd::thinking(Duration::from_millis(10));
    let mut kills = 0;
    // Killed while players register: whoever was accepted is in, with the same id and token.
    while crowd.members.len() < PLAYERS {
        crowd.enlist(&leaguebox, 1);
        if random.one_in(3) && crowd.members.len() < PLAYERS {
            drop(leaguebox);
            kills += 1;
            leaguebox = start();
            let listed = leaguebox.get_json("/api/players.json");
            let ids: Vec<&str> = listed["players"]
                .as_array()
                .expect("players")
                .iter()
                .map(|player| player["player_id"].as_str().expect("an id"))
                .collect();
            assert_eq!(ids, crowd.members.iter().map(|member| member.id.as_str()).collect::<Vec<_>>());
            assert!(leaguebox.get_json("/api/status.json")["resumed_at"].is_string());
        }
    }
    // Killed while they play.
    let mut seen = BTreeMap::new();
    let mut kills_in_play = 0;
    loop {
        sleep(Duration::from_millis(random.within(0, 40)));
        if random.one_in(2) {
            seen.extend(shown(&leaguebox));
        }
        if leaguebox.get_json("/api/status.json")["state"] == "COMPLETED" {
            break;
        }
        drop(leaguebox);
        kills_in_play += 1;
        let told = crowd.events();
        leaguebox = start();
        let now = shown(&leaguebox);
        for (id, line) in &seen {
            assert_eq!(now.get(id), Some(line), "{id} was shown before the kill");
        }
        for event in told.iter().filter(|event| event.is("GAME_OVER")) {
            let id = event.message["match_id"].as_str().expect("a match");
            let line = now.get(id).unwrap_or_else(|| panic!("{id} was told before the kill"));
            let winner = event.message["game_result"]["winner_player_id"].as_str().unwrap_or("");
            assert_eq!(line.get("winner"), winner, "{id}");
        }
        seen = now;
        assert!(kills_in_play < 500, "every start brings the league on");
    }
    println!("{kills} kills while registering, {kills_in_play} while playing");
    assert!(kills_in_play >= 3, "the league was over too soon to say much: {kills_in_play} kills");
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), PLAYERS * (PLAYERS - 1) / 2);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "nobody misbehaved but the box: {rows:?}");
    results::assert_points_follow(&rows);
    let standings = leaguebox.get_json("/api/standings.json");
    results::assert_standings_follow(&standings, &rows);
    assert_tokens_open(&leaguebox, &crowd);
    check_the_seeds(&crowd);

    // What is over stays readable, and nobody is called again.
    wait_for("everybody is told", || {
        let ends = crowd.events().iter().filter(|event| event.is("LEAGUE_COMPLETED")).count();
        (ends >= PLAYERS).then_some(())
    });
    let journal_is_idle = leaguebox.get_json("/api/status.json")["journal"] == "ok";
    assert!(journal_is_idle);
    drop(leaguebox);
    let leaguebox = start();
    assert_eq!(leaguebox.get_json("/api/standings.json")["standings"], standings["standings"]);
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "COMPLETED");
    assert_eq!(leaguebox.admin("rematch").status, 200);
    leaguebox.wait_for_the_champion();
}

/// Everybody is who they were.
fn assert_tokens_open(leaguebox: &LeagueBox, crowd: &Crowd) {
    for member in &crowd.members {
        let query = serde_json::json!({"protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "player:x",
            "timestamp": "2026-01-15T10:05:00Z", "conversation_id": "c", "auth_token": member.token,
            "query_type": "GET_PLAYER_STATS"});
        let answer = leaguebox.rpc("league_query", query);
        assert_eq!(answer["result"]["data"]["player_id"], Value::from(member.id.clone()), "{answer}");
    }
}

/// A match that was begun more than once has another commitment each time, and its result has the last one's.
fn check_the_seeds(crowd: &Crowd) {
    let mut promised: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut revealed: BTreeMap<String, String> = BTreeMap::new();
    for event in crowd.events() {
        let text = |field: &str| event.message[field].as_str().unwrap_or_default().to_owned();
        if event.is("GAME_INVITATION") {
            let all = promised.entry(text("match_id")).or_default();
            if !all.contains(&text("seed_commitment")) {
                all.push(text("seed_commitment"));
            }
        } else if event.is("GAME_OVER") {
            let was = revealed.insert(text("match_id"), text("match_seed"));
            assert!(was.is_none_or(|was| was == text("match_seed")), "a result stands");
            assert_eq!(promised[&text("match_id")].last(), Some(&text("seed_commitment")));
        }
    }
    let again = promised.values().filter(|commitments| commitments.len() > 1).count();
    println!("{again} matches were begun more than once");
}

#[test]
#[cfg_attr(feature = "board", ignore = "a process of this computer is killed")]
fn a_game_from_the_queue_is_looked_at_move_by_move_after_a_kill() {
    let flash = Flash::new("queue");
    let leaguebox = LeagueBox::on_flash(Settings::default(), &flash.0);
    let (mut agents, id) = arena::matched(&leaguebox, "echo", ["Ada", "Bob"]);
    for round in 1..=5u64 {
        for (agent, number) in agents.iter_mut().zip([11 - round, round]) {
            agent.link.hear_until("your_turn");
            agent.plays_on(&id, json!({ "number": number }));
        }
    }
    agents.iter_mut().for_each(|agent| drop(agent.link.hear_until("game_over")));
    let page = |leaguebox: &LeagueBox, path: &str| leaguebox.get_json(&format!("/api/matches/R0M1{path}.json"));
    let pages = |leaguebox: &LeagueBox| {
        let mut shown = page(leaguebox, "");
        // The log is in memory alone.
        shown.as_object_mut().expect("a page").remove("log");
        [shown, page(leaguebox, "/moves"), page(leaguebox, "/steps/3")]
    };
    wait_for("its end is on film", || {
        let moves = leaguebox.get("/api/matches/R0M1/moves.json");
        (moves.status == 200 && moves.json()["complete"] == true).then_some(())
    });
    let before = pages(&leaguebox);
    assert_eq!((&before[0]["winner"], &before[0]["game_type"]), (&json!("P01"), &json!("echo")));
    assert_eq!((&before[1]["complete"], &before[1]["steps"]), (&json!(true), &json!(11)));
    assert_eq!(before[2]["step"], 3);
    drop(leaguebox);
    let leaguebox = LeagueBox::as_it_was(&flash.0);
    assert_eq!(pages(&leaguebox), before);
}

#[test]
#[cfg_attr(feature = "board", ignore = "a process of this computer is killed")]
fn players_that_dial_in_come_back_with_their_tokens_after_a_kill() {
    let flash = Flash::new("dial");
    let leaguebox = LeagueBox::on_flash(Settings::start_at(4), &flash.0);
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 1);
    crowd.dial_in(&leaguebox, 3);
    wait_for("all four are asked", || {
        let asked = crowd.events().iter().filter(|event| event.is("CHOOSE_PARITY_CALL")).count();
        (asked >= 4).then_some(())
    });
    drop(leaguebox);
    crowd.release();
    let leaguebox = LeagueBox::as_it_was(&flash.0);
    crowd.come_back(&leaguebox, 1..4);
    crowd.wait_for_the_end();
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
}

#[test]
#[cfg_attr(feature = "board", ignore = "files are the desktop's")]
fn a_file_that_is_no_journal_is_told_and_kept_and_the_box_referees_all_the_same() {
    let flash = Flash::new("unusable");
    let folder = flash.0.parent().expect("a folder").to_owned();
    let strange = folder.join("strange.flash");
    std::fs::write(&strange, vec![0x42; 16 * 1024 * 1024]).expect("a file");
    let leaguebox = LeagueBox::on_flash(settings(3), &strange);
    let status = leaguebox.get_json("/api/status.json");
    assert_eq!(status["journal"], "failed: what is in the flash is not a journal");
    assert!(status["message"].as_str().expect("words").contains("othing"), "{status}");
    let crowd = Crowd::of(&leaguebox, 3);
    crowd.wait_for_the_end();
    assert_eq!(results::parse(&leaguebox.get("/api/results.csv").body).len(), 3);
    drop(leaguebox);
    assert!(std::fs::read(&strange).expect("the file").iter().all(|&byte| byte == 0x42), "it is kept");
    // Until the owner resets the box.
    let leaguebox = LeagueBox::on_flash(settings(3), &strange);
    assert_eq!(leaguebox.admin("reset").status, 200);
    wait_for("the journal is kept again", || (leaguebox.get_json("/api/status.json")["journal"] == "ok").then_some(()));
    let crowd = Crowd::of(&leaguebox, 3);
    crowd.wait_for_the_end();
    drop(leaguebox);
    let leaguebox = LeagueBox::on_flash(settings(3), &strange);
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "COMPLETED");
}

#[test]
#[cfg_attr(feature = "board", ignore = "files are the desktop's")]
fn settings_the_owner_made_and_the_admin_code_are_kept() {
    let flash = Flash::new("settings");
    let leaguebox = LeagueBox::on_flash(Settings::default(), &flash.0);
    let made = leaguebox.admin_with("settings", r#"{"game":"even_odd_10"}"#);
    assert_eq!(made.status, 200, "{made:?}");
    drop(leaguebox);
    // This time nothing is asked of it on the command line.
    let leaguebox = LeagueBox::as_it_was(&flash.0);
    assert_eq!(leaguebox.get_json("/api/status.json")["game_type"], "even_odd_10");
    assert_eq!(leaguebox.admin("reset").status, 200, "the admin code is the one of before");
}
