//! A class for a while: 32 players, of whom some are slow, flaky or reconnect all the time, real Python agents among them,
//! and four watchers; league after league by rematch. No result that anybody was told is lost, and the box takes no more
//! memory at the end than in the middle. `cargo xtask load` runs it and shows what it prints.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use host_tests::crowd::{Crowd, Does, Event};
use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::settings::Settings;
use host_tests::{Over, results, wait_for};
use serde_json::Value;

const PLAYERS: usize = 32;
/// Agents of the examples, with the system's own Python.
const PYTHON: usize = 4;
const MATCHES: usize = PLAYERS * (PLAYERS - 1) / 2;
const WATCHERS: usize = 4;
/// What the box may grow from the middle of the run to its end: the log fills its memory as it goes, and pages of buffers
/// are touched for the first time.
const GROWTH: u64 = 2 * 1024 * 1024;

/// Of 28 players 16 are steady, 4 slow, 4 flaky and 4 reconnect for every call.
fn habit(player: usize, call: usize) -> Does {
    // Calls come in any order, so this is as good as chance.
    let dice = (call.wrapping_mul(2_654_435_761) >> 7) % 100;
    match player % 7 {
        // A laptop that is closed now and then.
        3 if player == 3 && call / 500 % 4 == 3 => Does::HangUp,
        1 => Does::Wait(dice as u64 * 3),
        3 if dice < 4 => Does::HangUp,
        3 if dice < 6 => Does::Babble,
        // Later than the box waits for it.
        3 if dice < 7 => Does::Wait(900),
        5 => Does::AnswerAndClose,
        _ => Does::Answer,
    }
}

/// The place of the journal, deleted at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
#[ignore = "takes half a minute and python3: `cargo xtask load` runs it"]
fn a_class_of_32_with_slow_flaky_and_reconnecting_players_loses_no_result_and_memory_stays_flat() {
    let seconds = std::env::var("LEAGUEBOX_LOAD_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(30);
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = Folder(place.join(format!("leaguebox-load-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let settings =
        Settings { join_timeout_ms: 800, move_timeout_ms: 800, retry_base_ms: 100, ..Settings::start_at(PLAYERS) };
    let leaguebox = LeagueBox::on_flash(settings, &folder.0.join("leaguebox.flash"));
    let rss = || leaguebox.memory().unwrap_or(0);
    let start = rss();

    let (over, looks) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let watching = Over(&over);
        for _ in 0..WATCHERS {
            scope.spawn(|| watch(&leaguebox, &over, &looks));
        }
        let mut crowd = Crowd::with_habits(habit);
        let _agents: Vec<Player> =
            (1..=PYTHON).map(|number| Player::example(&leaguebox, &format!("Python {number}"))).collect();
        wait_for("the agents register", || (registered(&leaguebox) == PYTHON).then_some(()));
        crowd.enlist(&leaguebox, PLAYERS - PYTHON);

        let begun = Instant::now();
        let (mut leagues, mut told, mut middle) = (0, 0, None);
        let mut endings = BTreeMap::new();
        loop {
            leaguebox.wait_for_the_champion();
            leagues += 1;
            let events = crowd.take_events();
            let (rows, standings) = check(&leaguebox, &events, &mut endings);
            told += events.iter().filter(|event| event.is("GAME_OVER")).count();
            assert_eq!(rows, MATCHES, "league {leagues}");
            check_the_past(&leaguebox, leagues, &standings);
            let elapsed = begun.elapsed().as_secs();
            if middle.is_none() && elapsed >= seconds / 2 {
                middle = Some(rss());
            }
            if elapsed >= seconds && middle.is_some() && leagues > 1 {
                break;
            }
            // Whoever is slow has not heard the end yet.
            wait_for("the rematch begins", || (leaguebox.admin("rematch").status == 200).then_some(()));
        }
        drop(watching);
        let (middle, end) = (middle.unwrap_or(0), rss());
        let status = leaguebox.get_json("/api/status.json");
        println!(
            "{leagues} leagues of {PLAYERS} players in {} s: {} results, none lost",
            begun.elapsed().as_secs(),
            leagues * MATCHES
        );
        println!("{told} messages of results reached a player, {} pages were looked at", looks.load(Ordering::Relaxed));
        println!("ends of matches: {endings:?}");
        println!(
            "memory of the box: {} KB at the start, {} KB in the middle, {} KB at the end",
            start / 1024,
            middle / 1024,
            end / 1024
        );
        assert_eq!(status["journal"], "ok");
        assert_eq!(status["limited_requests"], 0, "a league's own traffic is never too much");
        assert!(end <= middle + GROWTH, "the box grows");
    });
}

fn registered(leaguebox: &LeagueBox) -> usize {
    leaguebox.get_json("/api/status.json")["players"].as_u64().unwrap_or(0) as usize
}

/// Every result somebody was told is there, as it was told, and the standings follow from the results. How many results,
/// and the standings.
fn check(leaguebox: &LeagueBox, told: &[Event], endings: &mut BTreeMap<String, usize>) -> (usize, Value) {
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    for event in told.iter().filter(|event| event.is("GAME_OVER")) {
        let id = &event.message["match_id"];
        let row = rows.iter().find(|row| id == row.get("match_id")).unwrap_or_else(|| panic!("{id} was told and lost"));
        let winner = event.message["game_result"]["winner_player_id"].as_str().unwrap_or("");
        assert_eq!(row.get("winner"), winner, "{id}");
    }
    for row in &rows {
        *endings.entry(row.get("end_reason").to_owned()).or_default() += 1;
    }
    results::assert_points_follow(&rows);
    let standings = leaguebox.get_json("/api/standings.json");
    results::assert_standings_follow(&standings, &rows);
    (rows.len(), results::without_places(&standings))
}

/// The league that has just ended is the newest of the past, and those before it follow.
fn check_the_past(leaguebox: &LeagueBox, league: usize, standings: &Value) {
    let listed = leaguebox.get_json("/api/leagues.json");
    let numbers: Vec<_> =
        listed["leagues"].as_array().expect("leagues").iter().map(|of| of["league"].as_u64()).collect();
    assert_eq!(numbers, (1..=league as u64).rev().map(Some).collect::<Vec<_>>(), "{listed}");
    assert_eq!(leaguebox.get_json(&format!("/api/leagues/{league}.json"))["standings"], *standings);
}

/// Looks at page after page, as somebody with a browser does.
fn watch(leaguebox: &LeagueBox, over: &AtomicBool, looks: &AtomicUsize) {
    let pages = ["status.json", "standings.json", "schedule.json", "players.json", "leagues.json", "log.jsonl"];
    for page in pages.iter().cycle() {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let seen = leaguebox.get(&format!("/api/{page}"));
        assert_eq!(seen.status, 200, "{page}");
        looks.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(250));
    }
}
