//! What the board pays: cycles per request, and RAM with a whole class on it. The board's time is deterministic to a few
//! cycles, so this may be asserted.

use emulator::Statistics;
use host_tests::crowd::Crowd;
use host_tests::keep_alive::Connection;
use host_tests::leaguebox::LeagueBox;
use host_tests::moltgame::{Agent, ECHO, ROCKPAPER, TEXASHOLDEM, worst_deal, worst_landlord};
use host_tests::settings::Settings;
use host_tests::websocket::WebSocket;
use host_tests::{here, results, wait_for};
use serde_json::{Value, json};
use std::time::Duration;

/// The board's clock.
const CYCLES_PER_SECOND: f64 = 125e6;

/// Requests that are measured together: each costs the same to a few cycles.
const REQUESTS: u64 = 20;
/// Of the long ones, which take a second each.
const LONG_REQUESTS: u64 = 4;

/// Variables and the deepest stack, of 264 KB. What players want remembered is not among them: it has what is left.
const RAM_BUDGET: u64 = 240 * 1024;

const CLASS: usize = 32;

fn statistics(leaguebox: &LeagueBox) -> Statistics {
    leaguebox.board().statistics().unwrap_or_else(|why| panic!("{why}"))
}

/// What the core is busy for, in cycles, on average over many of these requests on one connection.
fn cost(leaguebox: &LeagueBox, what: &str, requests: u64, mut request: impl FnMut(&mut Connection, u64)) -> f64 {
    let mut connection = Connection::open(leaguebox.address);
    // The first finds nothing in any cache.
    request(&mut connection, 0);
    let before = statistics(leaguebox);
    for number in 1..=requests {
        request(&mut connection, number);
    }
    let after = statistics(leaguebox);
    let cycles = (after.busy_cycles - before.busy_cycles) as f64 / requests as f64;
    let (millis, rate) = (cycles / CYCLES_PER_SECOND * 1e3, CYCLES_PER_SECOND / cycles);
    println!("{what:<14}{cycles:>10.0} cycles  {millis:>6.2} ms  {rate:>6.0} requests/s at 125 MHz");
    cycles
}

#[test]
fn a_keep_alive_answer_takes_less_than_five_milliseconds_of_the_boards_time() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 4);
    let token = &crowd.members[0].token;

    let health = cost(&leaguebox, "GET /health", REQUESTS, |connection, _| {
        assert_eq!(connection.get("/health").status, 200);
    });
    let query = cost(&leaguebox, "LEAGUE_QUERY", REQUESTS, |connection, number| {
        let params = json!({"protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": "player:P01",
            "timestamp": "2026-01-15T14:00:00Z", "conversation_id": "conv_query001", "auth_token": token,
            "league_id": "league_2025_even_odd", "query_type": "GET_STANDINGS", "query_params": {}});
        assert_eq!(connection.rpc("league_query", params, number)["result"]["status"], "SUCCESS");
    });
    // The same player again and again: there is not room for so many.
    let registration = cost(&leaguebox, "registration", REQUESTS, |connection, number| {
        let meta = json!({"display_name": "Cost", "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": "http://localhost:40000/mcp"});
        let params = json!({"protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:cost",
            "timestamp": "2026-01-15T10:05:00Z", "conversation_id": "conv_register", "player_meta": meta});
        let answer: Value = connection.rpc("register_player", params, number);
        assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    });
    assert!(CYCLES_PER_SECOND / query >= 200.0, "at least 200 LEAGUE_QUERY a second");
    for cycles in [health, query, registration] {
        assert!(cycles / CYCLES_PER_SECOND < 0.005, "an answer takes less than 5 ms, not {cycles} cycles");
    }
}

/// The cycles of a heartbeat, and the bytes that are answered.
fn heartbeat(leaguebox: &LeagueBox, connection: &mut Connection, agent: &Agent) -> (u64, usize) {
    let before = statistics(leaguebox);
    let answer = connection.post_as(&agent.key, "/moltgame/api/v1/agents/heartbeat", "{}");
    let after = statistics(leaguebox);
    assert_eq!(answer.status, 200, "{answer:?}");
    (after.busy_cycles - before.busy_cycles, answer.body.len())
}

/// The cheapest of some heartbeats, of which none comes too soon: what else the board does while it is asked is not theirs.
fn cost_of_a_heartbeat(leaguebox: &LeagueBox, what: &str, agent: &Agent) -> u64 {
    let mut connection = Connection::open(leaguebox.address);
    let mut beats: Vec<(u64, usize)> = Vec::new();
    for _ in 0..5 {
        let asked = leaguebox.clock();
        beats.push(heartbeat(leaguebox, &mut connection, agent));
        wait_for("a second of the board's time is over", || {
            (leaguebox.clock() - asked > Duration::from_millis(950)).then_some(())
        });
    }
    let (cycles, bytes) = beats.into_iter().min().expect("heartbeats");
    let millis = cycles as f64 / CYCLES_PER_SECOND * 1e3;
    println!("heartbeat, {what:<12}{cycles:>10} cycles  {millis:>6.2} ms  {bytes:>6} bytes");
    cycles
}

#[test]
fn a_usual_heartbeat_takes_less_than_four_milliseconds_of_the_boards_time_and_one_at_poker_less_than_six() {
    let leaguebox = LeagueBox::start(Settings::default());
    // Poker has twice as much to say as others.
    for (game, name, most) in
        [(ECHO, "echo", 0.004), (ROCKPAPER, "rockpaper", 0.004), (TEXASHOLDEM, "texasholdem", 0.006)]
    {
        let agents = ["A", "B"].map(|seat| Agent::register(&leaguebox, &format!("{name} {seat}")));
        agents.iter().for_each(|agent| {
            agent.sits_down(game);
        });
        let cycles = cost_of_a_heartbeat(&leaguebox, name, &agents[0]);
        assert!((cycles as f64) < most * CYCLES_PER_SECOND, "{name}: {cycles} cycles");
    }
}

/// The hand with the most moves there are. Nobody waits for it but who asks: it is made piece by piece.
#[test]
fn the_longest_heartbeat_is_told_and_its_cost_printed() {
    let leaguebox = LeagueBox::start(worst_deal());
    let landlord = worst_landlord(&leaguebox);
    assert_eq!(landlord.beat()["legal_moves"].as_array().map(Vec::len), Some(497));
    let cycles = cost_of_a_heartbeat(&leaguebox, "497 moves", &landlord);
    assert!((cycles as f64) < 0.5 * CYCLES_PER_SECOND, "half a second, not {cycles} cycles");
}

/// Texts are in flash packed. What unpacking costs is beside what sending costs, and nobody waits for more than a piece of it.
#[test]
fn a_text_is_unpacked_and_sent_in_less_than_500_cycles_a_byte() {
    let leaguebox = LeagueBox::start(Settings::default());
    for path in ["/skill.md", "/page.js"] {
        let mut bytes = 0;
        let cycles = cost(&leaguebox, path, LONG_REQUESTS, |connection, _| {
            let answer = connection.get(path);
            assert_eq!((answer.status, answer.header("Content-Encoding")), (200, None), "{path}");
            bytes = answer.body.len();
        });
        let per_byte = cycles / bytes as f64;
        println!("{path:<14}{per_byte:>10.0} cycles a byte, {bytes} bytes");
        assert!(per_byte < 500.0, "{path}: {per_byte} cycles");
    }
}

/// What a browser asks for that opens the page for the first time, in this order; then it watches. Everything goes one after
/// the other: browsers do better.
const PAGE: [&str; 6] = ["/", "/page.css", "/page.js", "/draw.js", "/.well-known/agent.json", "/api/settings.json"];

#[test]
fn a_page_that_is_opened_for_the_first_time_shows_a_class_of_32_within_two_seconds_of_the_boards_time() {
    let leaguebox = LeagueBox::start(Settings::room_for(CLASS));
    let mut crowd = Crowd::new();
    crowd.enlist(&leaguebox, CLASS / 2);
    crowd.dial_in(&leaguebox, CLASS / 2);
    let open = || {
        let before = statistics(&leaguebox);
        let mut connection = Connection::open(leaguebox.address);
        for path in PAGE {
            assert_eq!(connection.get_zipped(path).status, 200, "{path}");
        }
        let mut feed = WebSocket::dial_at(leaguebox.address, "/api/live");
        let mut players = 0;
        loop {
            let message = feed.receive().expect("the feed goes on");
            players += usize::from(message.starts_with(r#"{"type":"player""#));
            if message == r#"{"type":"ready"}"# {
                break;
            }
        }
        assert_eq!(players, CLASS);
        let after = statistics(&leaguebox);
        let seconds = (after.nanos - before.nanos) as f64 / 1e9;
        let busy = (after.busy_cycles - before.busy_cycles) as f64 / CYCLES_PER_SECOND;
        println!("the page is there after {seconds:.3} s of the board's time, {busy:.3} s of which it was busy");
        seconds
    };
    // The board's clock runs on while it waits for this computer, which may have other things to do: the best of three counts.
    let seconds = (0..3).map(|_| open()).fold(f64::MAX, f64::min);
    assert!(seconds < 2.0, "{seconds} s");
}

/// Half of them are called, half dial in.
#[test]
fn a_class_of_32_that_all_owe_an_answer_fits_the_board() {
    let leaguebox = LeagueBox::start(Settings::start_at(CLASS));
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, CLASS / 2);
    crowd.dial_in(&leaguebox, CLASS / 2);
    wait_for("all 32 owe an answer, in 16 matches", || {
        let asked = crowd.events().iter().filter(|event| event.is("CHOOSE_PARITY_CALL")).count();
        (asked >= CLASS).then_some(())
    });
    // Everybody thinks for a while, as in a class: the box pings, waits and tells pages meanwhile, and none of that may grow.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(leaguebox.get_json("/api/status.json")["running_matches"], CLASS / 2);
    crowd.release();
    crowd.wait_for_the_end();

    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), CLASS * (CLASS - 1) / 2);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);

    // Before anything else looks: what the box says of itself is what the linker and the emulator say.
    let said = leaguebox.get_json("/health")["memory"].take();
    let stack = statistics(&leaguebox).stack;
    let (variables, program) = (footprint("static_ram"), footprint("flash"));
    // But for the few bytes between two sections.
    let between = said["variables"].as_u64().expect("bytes") - (variables + footprint("memories"));
    assert!(between < 16 && said["program"] == program, "{said}, {variables} bytes of variables");
    assert_eq!((&said["stack"], &said["deepest_stack"]), (&json!(stack.size), &json!(stack.used)), "{said}");
    println!(
        "static RAM {variables} + deepest stack {} (of {}) = {} of {RAM_BUDGET} bytes",
        stack.used,
        stack.size,
        variables + stack.used
    );
    assert!(stack.used < stack.size, "the stack has never been full");
    assert!(variables + stack.used <= RAM_BUDGET);
    assert_eq!(leaguebox.resets(), Vec::<String>::new());
}

/// As `cargo xtask firmware` found it in the image.
fn footprint(of: &str) -> u64 {
    let path = here("../firmware/rp2040/target/thumbv6m-none-eabi/release/leaguebox-rp2040.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let footprint: Value = serde_json::from_str(&text).expect("a footprint in JSON");
    footprint[of].as_u64().unwrap_or_else(|| panic!("no {of} in {text}"))
}
