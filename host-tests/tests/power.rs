//! The plug, the watchdog and the panic: whatever ends a run of the box, the next one begins.

use host_tests::crowd::{Crowd, Event};
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::{Over, PATIENCE, results, wait_for};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the box may be away after a fault, in its own time: the watchdog's patience, the start, an address.
const AWAY: Duration = Duration::from_secs(20);

const CYCLES_PER_SECOND: u64 = 125_000_000;

/// Of the journal: 640 KB.
const SECTORS: usize = 160;

/// The times of the cuts, from the start of each run on: from the first instructions to the middle of a league. Spread evenly
/// over the logarithm, because more happens in the beginning. Written out by a generator, so that each run has the same.
fn moments() -> impl Iterator<Item = u64> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let fraction = (state >> 11) as f64 / (1_u64 << 53) as f64;
        // Between a hundredth of a second and six.
        (CYCLES_PER_SECOND as f64 * 0.01 * 600_f64.powf(fraction)) as u64
    })
}

#[test]
fn a_box_whose_plug_is_pulled_again_and_again_always_boots() {
    pull_the_plug(25);
}

#[test]
#[ignore = "takes minutes: cargo xtask test --device emulator power -- --ignored"]
fn a_box_whose_plug_is_pulled_a_hundred_times_always_boots() {
    pull_the_plug(100);
}

fn pull_the_plug(cuts: usize) {
    let mut leaguebox = LeagueBox::start(Settings::default());
    let over = AtomicBool::new(false);
    let address = leaguebox.address;
    let leagues = std::thread::scope(|scope| {
        let running = Over(&over);
        // A class that does not give up: it registers and starts a league whenever the box is there.
        let class = scope.spawn(|| {
            let crowd = Crowd::new();
            let mut leagues = 0;
            while !over.load(Ordering::Relaxed) {
                let code = leaguebox.board().log().iter().rev().find_map(|line| code(&line.text));
                leagues += usize::from(code.is_some_and(|code| start_a_league(address, &code, &crowd)));
                std::thread::sleep(Duration::from_millis(200));
            }
            leagues
        });
        let board = leaguebox.board();
        for (cut, moment) in moments().take(cuts).enumerate() {
            board.cut_at(board.statistics().expect("statistics").cycle + moment).expect("a plug");
            board.wait_for_power_off(PATIENCE).expect("the plug is pulled");
            let seen = board.log_position();
            board.power(true).expect("a plug");
            let line = board.wait_for_log(seen, "last reset: ", PATIENCE);
            let line = line.unwrap_or_else(|why| panic!("no boot after cut {cut}, {moment} cycles in: {why}"));
            assert!(line.text.ends_with("last reset: power-on"), "cut {cut}: {line}");
        }
        drop(running);
        class.join().expect("a class")
    });
    assert!(leagues > 0, "no cut was in a league");
    println!("{cuts} cuts, {leagues} leagues begun");

    let seen = leaguebox.board().log_position();
    leaguebox.board().power_cycle().expect("a plug");
    leaguebox.wait_until_it_is_back(seen);
    let boots = leaguebox.board().boots();
    assert!(boots.iter().all(|boot| boot.why == "power-on"), "{boots:?}");
    assert_eq!(boots.len(), cuts + 2);
    leaguebox.admin("reset");
    leaguebox.tell(Settings::start_at(2));
    let crowd = Crowd::of(&leaguebox, 2);
    crowd.wait_for_the_end();
}

/// Pulls the plug as `pull` says, and puts it back.
fn cut(leaguebox: &mut LeagueBox, pull: impl FnOnce(&LeagueBox)) {
    let seen = leaguebox.board().log_position();
    pull(leaguebox);
    leaguebox.board().wait_for_power_off(PATIENCE).expect("the plug is pulled");
    leaguebox.board().power(true).expect("a plug");
    leaguebox.wait_until_it_is_back(seen);
    assert_eq!(leaguebox.get_json("/api/status.json")["journal"], "ok");
}

/// Every result a player was told must be among those the box shows.
fn assert_nothing_told_is_lost(leaguebox: &LeagueBox, told: &[Event]) {
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    for event in told.iter().filter(|event| event.is("GAME_OVER")) {
        let row = rows.iter().find(|row| event.message["match_id"] == row.get("match_id"));
        let row = row.unwrap_or_else(|| panic!("{} was told before the cut", event.message["match_id"]));
        let winner = event.message["game_result"]["winner_player_id"].as_str().unwrap_or("");
        assert_eq!(row.get("winner"), winner, "{}", event.message["match_id"]);
    }
}

#[test]
fn a_board_that_loses_power_within_an_erase_a_program_operation_or_anywhere_loses_no_result() {
    const PLAYERS: usize = 6;
    let mut leaguebox = LeagueBox::start(Settings::default());
    // Every league begins in a new sector, so in the end one has to be erased.
    cut(&mut leaguebox, |leaguebox| {
        let (board, admin) = (leaguebox.board(), format!("Authorization: Bearer {}\r\n", leaguebox.admin_code));
        board.cut_in("erase").expect("a plug");
        for _ in 0..2 * SECTORS {
            if !board.statistics().expect("statistics").powered {
                return;
            }
            // The box may be gone before it answers.
            let _ = host_tests::http::request(leaguebox.address, "POST", "/api/admin/reset", &admin, "");
        }
    });
    assert_eq!(leaguebox.board().statistics().expect("statistics").flash.cut, 1, "power failed within an erase");

    leaguebox.tell(Settings::start_at(PLAYERS));
    let mut crowd = Crowd::thinking(Duration::from_millis(100));
    crowd.enlist(&leaguebox, PLAYERS);
    for moment in moments().take(6) {
        // The next thing that is written is a result.
        cut(&mut leaguebox, |leaguebox| leaguebox.board().cut_in("program").expect("a plug"));
        assert_nothing_told_is_lost(&leaguebox, &crowd.events());
        let cycle = leaguebox.board().statistics().expect("statistics").cycle;
        cut(&mut leaguebox, |leaguebox| leaguebox.board().cut_at(cycle + moment).expect("a plug"));
        assert_nothing_told_is_lost(&leaguebox, &crowd.events());
        if leaguebox.get_json("/api/status.json")["matches_completed"].as_u64() > Some(9) {
            break;
        }
    }
    let flash = leaguebox.board().statistics().expect("statistics").flash;
    assert!(flash.cut >= 2, "power failed within a program operation too: {flash:?}");
    leaguebox.wait_for_the_champion();
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), PLAYERS * (PLAYERS - 1) / 2);
    assert_nothing_told_is_lost(&leaguebox, &crowd.events());
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
}

/// What `firmware/rp2040/src/flash.rs` leaves to the film, at the end of the flash.
const FILM: usize = 256 * 1024;

#[test]
fn a_board_with_a_flipped_bit_in_its_flash_says_so_and_goes_on_with_what_is_sound() {
    let file = std::env::temp_dir().join(format!("leaguebox-flipped-{}.flash", std::process::id()));
    let leaguebox = LeagueBox::in_emulator_on(&file);
    leaguebox.tell(Settings::start_at(2));
    let crowd = Crowd::of(&leaguebox, 2);
    crowd.wait_for_the_end();
    leaguebox.wait_for_the_champion();
    // Another chapter begins: one frame, in the last sector that is written.
    assert_eq!(leaguebox.admin("reset").status, 200);
    let says = |leaguebox: &LeagueBox, journal: &str| leaguebox.get_json("/api/status.json")["journal"] == journal;
    // That a frame is whole is written behind it, a moment later; until then damage looks like a power cut.
    let reset = leaguebox.clock();
    wait_for("two seconds of the board's time", || (leaguebox.clock() - reset > Duration::from_secs(2)).then_some(()));
    assert!(says(&leaguebox, "ok"));
    leaguebox.board().power(false).expect("a plug");
    drop(leaguebox);
    let mut flash = std::fs::read(&file).expect("the flash");
    let journal = flash.len() - FILM;
    let last = flash[..journal].chunks(4096).rposition(|sector| sector.starts_with(b"LBjr")).expect("a journal");
    flash[last * 4096 + 40] ^= 1;
    std::fs::write(&file, &flash).expect("the flash");

    let leaguebox = LeagueBox::in_emulator_on(&file);
    let status = leaguebox.get_json("/api/status.json");
    assert_eq!((&status["journal"], &status["players"]), (&json!("failed: it is damaged"), &json!(0)), "{status}");
    assert_eq!(status["journal_recoverable"], json!({"league": 1, "players": 2, "results": 1}), "{status}");
    assert_eq!(leaguebox.admin("recover").status, 200);
    wait_for("it is recovered", || says(&leaguebox, "ok").then_some(()));
    let status = leaguebox.get_json("/api/status.json");
    assert_eq!((&status["state"], &status["matches_completed"]), (&json!("COMPLETED"), &json!(1)), "{status}");
    let _ = std::fs::remove_file(file);
}

fn code(line: &str) -> Option<String> {
    line.strip_prefix("admin code ").map(str::to_owned)
}

/// Registers four players at a box that may vanish at any moment, and starts it. Whether the league began.
fn start_a_league(address: std::net::SocketAddr, code: &str, crowd: &Crowd) -> bool {
    let admin = format!("Authorization: Bearer {code}\r\n");
    let post = |path: &str, head: &str, body: &str| {
        host_tests::http::request(address, "POST", path, head, body).is_ok_and(|response| response.status == 200)
    };
    let home = crowd.endpoint("localhost");
    let register = |number: usize| {
        let meta = json!({"display_name": format!("P{number}"), "contact_endpoint": home.replace("/0/", &format!("/{number}/"))});
        let call = json!({"jsonrpc": "2.0", "method": "register_player", "params": {"player_meta": meta}, "id": 1});
        post("/mcp", "Content-Type: application/json\r\n", &call.to_string())
    };
    (0..4).all(register) && post("/api/admin/start", &admin, "")
}

/// Breaks the box by one of its own self-tests, and waits until it is back: how it explains that.
fn broken_by(fault: &str) -> (LeagueBox, serde_json::Value) {
    let mut leaguebox = LeagueBox::start(Settings::default());
    let (seen, begun) = (leaguebox.board().log_position(), leaguebox.clock());
    leaguebox.admin_blindly(&format!("fault/{fault}"));
    leaguebox.wait_until_it_is_back(seen);
    let away = leaguebox.clock() - begun;
    assert!(away < AWAY, "it was away for {away:?}");
    println!("after a {fault} it was back within {:.1} s", away.as_secs_f64());
    assert_eq!(leaguebox.resets().len(), 1, "{:?}", leaguebox.resets());
    let status = leaguebox.get_json("/api/status.json");
    (leaguebox, status)
}

#[test]
fn a_box_that_panics_is_back_within_seconds_and_says_why() {
    let (leaguebox, status) = broken_by("panic");
    assert_eq!(status["last_reset"], "panic", "{status}");
    assert!(status["last_panic"].as_str().is_some_and(|words| !words.is_empty()), "{status}");
    let log = leaguebox.board().log();
    assert!(log.iter().any(|line| line.text.ends_with("last reset: panic")), "{log:?}");
    assert!(log.iter().any(|line| line.text.contains(status["last_panic"].as_str().unwrap_or_default())), "{log:?}");
}

#[test]
fn a_box_that_hangs_is_back_within_seconds_and_says_why() {
    let (leaguebox, status) = broken_by("hang");
    assert_eq!(status["last_reset"], "watchdog", "{status}");
    let log = leaguebox.board().log();
    assert!(log.iter().any(|line| line.text.ends_with("last reset: watchdog")), "{log:?}");
}

#[test]
fn only_the_owner_may_break_the_box() {
    let leaguebox = LeagueBox::start(Settings::default());
    for fault in ["panic", "hang"] {
        assert_eq!(leaguebox.post(&format!("/api/admin/fault/{fault}"), "").status, 401);
    }
    assert_eq!(leaguebox.resets(), Vec::<String>::new());
}
