//! The page in a real browser, and the manual for agents held against the box it describes.

#[path = "../page/browser.rs"]
mod browser;

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use browser::Browser;
use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::{free_port, here};
use serde_json::{Value, json};

const HOSTILE: &str = "<script>alert(1)</script>";
const FOREIGN: &str = "שחקנית 🎲";

/// The longest file the page may be: a microcontroller sends it.
const PAGE_BYTES: usize = 24 * 1024;

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_class_watches_a_league_from_the_lobby_to_its_champion() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("document.body.className === 'WAITING'");
    assert_eq!(browser.text("h1"), "Waiting for players: 0 here, a league needs at least two.");
    assert_eq!(browser.text("#address"), format!("{}/mcp", leaguebox.url()));

    let mut crowd = Crowd::new();
    crowd.hold();
    // One that gives its address as most students do at first.
    crowd.register(&leaguebox, "Player 1", "127.0.0.1");
    crowd.enlist(&leaguebox, 4);
    browser.wait_until("document.querySelectorAll('#players tr').length === 5");
    browser.keep_picture("lobby.png");
    assert_eq!(leaguebox.admin("start").status, 200);
    browser.wait_until("document.body.className === 'RUNNING'");
    browser.wait_until("document.querySelectorAll('#matches li').length === 2");
    assert!(browser.text("#matches").contains("playing"), "{}", browser.text("#matches"));
    assert!(browser.text("#bye").contains("Player"), "one of five sits out: {}", browser.text("#bye"));
    browser.keep_picture("running.png");

    crowd.release();
    crowd.wait_for_the_end();
    browser.wait_until("document.body.className === 'COMPLETED'");
    let standings = leaguebox.get_json("/api/standings.json");
    let rows = standings["standings"].as_array().expect("standings");
    let champion = rows[0]["display_name"].as_str().expect("a name");
    assert_eq!(browser.text("h1"), format!("{champion} wins the league"));
    let shown = browser
        .eval("[...document.querySelectorAll('#standings tr')].map(tr => [...tr.children].map(td => td.innerText))");
    assert_eq!(shown.as_array().map(Vec::len), Some(5));
    for (row, shown) in rows.iter().zip(shown.as_array().expect("rows")) {
        for (cell, field) in [(0, "rank"), (2, "played"), (3, "wins"), (4, "draws"), (5, "losses"), (7, "points")] {
            assert_eq!(shown[cell], row[field].to_string(), "{field} of {row}");
        }
        let name = row["display_name"].as_str().expect("a name");
        assert!(shown[1].as_str().is_some_and(|text| text.starts_with(name)), "{shown}");
    }
    assert_eq!(browser.eval("document.querySelectorAll('#rounds details').length"), 5);
    assert_eq!(browser.eval("document.querySelectorAll('#rounds .score:not(.soft)').length"), 10);

    browser.click("#matches li:first-child button");
    browser.wait_until("document.querySelector('#body').innerText.includes('Seed')");
    browser.click("dialog form button");
    browser.click("#players tr:first-child button");
    browser.wait_until("document.querySelector('#body').innerText.includes('endpoint_host')");
    assert!(browser.text("#body").contains("names an address the box can reach"), "{}", browser.text("#body"));
    browser.keep_picture("report.png");
    browser.click("dialog form button");

    for (name, width, height) in [("projector", 1280, 800), ("phone", 390, 844)] {
        for scheme in ["light", "dark"] {
            browser.resize(width, height);
            browser.prefer(scheme);
            let overflow = browser.eval("document.documentElement.scrollWidth - innerWidth");
            assert!(overflow.as_i64().is_some_and(|pixels| pixels <= 0), "{overflow} pixels stick out on a {name}");
            browser.keep_picture(&format!("{name}-{scheme}.png"));
        }
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn names_from_strangers_are_shown_as_text_and_nothing_runs() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let mut crowd = Crowd::new();
    let image = "<img src=x onerror=alert(2)>";
    let endless = "x".repeat(64);
    for name in [HOSTILE, FOREIGN, image, &endless] {
        crowd.register(&leaguebox, name, "127.0.0.1");
    }
    crowd.wait_for_the_end();
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("document.body.className === 'COMPLETED'");
    for place in ["#players", "#standings", "#rounds"] {
        let shown = browser.eval(&format!("document.querySelector('{place}').textContent"));
        let shown = shown.as_str().expect("text");
        for name in [HOSTILE, FOREIGN, image, &endless] {
            assert!(shown.contains(name), "{name} in {place}: {shown}");
        }
    }
    for player in 1..=4 {
        browser.click(&format!("#players tr:nth-child({player}) button"));
        browser.wait_until("document.querySelector('#body').innerText.includes('endpoint_host')");
        browser.click("dialog form button");
    }
    assert_eq!(browser.eval("document.querySelectorAll('script').length"), 1, "the page's own");
    assert_eq!(browser.eval("document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.eval("[...document.querySelectorAll('#players bdi')].every(name => name.dir === 'auto')"), true);
    for (width, height) in [(1280, 800), (390, 844)] {
        browser.resize(width, height);
        let overflow = browser.eval("document.documentElement.scrollWidth - innerWidth");
        assert!(overflow.as_i64().is_some_and(|pixels| pixels <= 0), "{overflow} pixels stick out at {width}");
    }
    browser.keep_picture("strangers-phone.png");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_teacher_starts_with_the_right_code_only_and_reset_asks_twice() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 2);
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("document.body.className === 'WAITING'");

    browser.fill("#code", "wrong");
    browser.click("[data-verb=start]");
    browser.wait_until("document.querySelector('#said').innerText.startsWith('Refused: this is not the admin code')");
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "WAITING");
    browser.fill("#code", &leaguebox.admin_code);
    browser.click("[data-verb=resume]");
    browser.wait_until("document.querySelector('#said').innerText === 'Refused: the league is not paused.'");
    browser.click("[data-verb=start]");
    browser.wait_until("document.querySelector('#said').innerText.startsWith('Done.')");
    browser.wait_until("document.body.className === 'RUNNING'");
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "RUNNING");

    for question in ["Erase all players and results?", "Really? Press once more"] {
        browser.click("[data-verb=reset]");
        assert_eq!(browser.text("[data-verb=reset]"), question);
        assert_eq!(leaguebox.get_json("/api/status.json")["state"], "RUNNING");
    }
    browser.click("[data-verb=reset]");
    browser.wait_until("document.body.className === 'WAITING'");
    assert_eq!(leaguebox.get_json("/api/players.json")["registered"], 0);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_teacher_rules_on_a_match_and_removes_a_player_and_both_ask_once_more() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 2);
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("!!document.querySelector('#matches .match')");
    browser.click("#matches .match");
    browser.wait_until("document.querySelector('#body').innerText.includes('the owner decides here')");
    browser.click("#dialog form button");

    browser.fill("#code", &leaguebox.admin_code);
    browser.click("#matches .match");
    browser.wait_until("document.querySelectorAll('#body .buttons button').length === 4");
    let second = "#body .buttons button:nth-child(2)";
    browser.click(second);
    assert_eq!(browser.text(second), "Really? Player 1 wins");
    assert_eq!(leaguebox.get_json("/api/status.json")["matches_completed"], 0);
    browser.click(second);
    browser.wait_until("document.querySelector('#body [role=status]').innerText.startsWith('Done.')");
    let ruled = leaguebox.get_json("/api/matches/R1M1.json");
    assert_eq!((&ruled["winner"], &ruled["end_reason"]), (&json!("P01"), &json!("adjudicated")), "{ruled}");
    browser.click("#dialog form button");

    browser.click("#players .name");
    browser.wait_until("!!document.querySelector('#body .buttons button')");
    browser.click("#body .buttons button");
    browser.click("#body .buttons button");
    browser.wait_until(
        "document.querySelector('#body [role=status]').innerText.startsWith('Refused: the league is over')",
    );
    crowd.release();
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_page_says_when_the_box_is_gone() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("document.body.className === 'WAITING'");
    assert_eq!(browser.eval("document.querySelector('#lost').hidden"), true);
    drop(leaguebox);
    browser.wait_until("document.querySelector('#lost').innerText.startsWith('The box does not answer, for')");
    browser.keep_picture("gone.png");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_page_is_small_and_takes_nothing_from_outside() {
    let page = web("index.html");
    assert!(page.len() <= PAGE_BYTES, "{} bytes", page.len());
    // The namespace of an inline picture is a name, not an address.
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://") && !outside.contains("src="));
    assert!(!page.contains("innerHTML") && !page.contains("insertAdjacentHTML") && !page.contains("document.write"));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn every_json_example_of_the_manual_parses() {
    let examples = blocks(&web("skill.md"), "json");
    assert!(examples.len() > 20, "only {} examples", examples.len());
    for example in examples {
        serde_json::from_str::<Value>(&example).unwrap_or_else(|error| panic!("{error}: {example}"));
    }
    let card: Value = serde_json::from_str(&web("agent.json")).expect("the agent card is JSON");
    assert_eq!((&card["name"], &card["protocol"]), (&"LeagueBox".into(), &"league.v2".into()));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_manual_shows_every_message_with_the_fields_the_box_really_sends() {
    let examples: Vec<Value> =
        blocks(&web("skill.md"), "json").iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
    let mut seen = BTreeSet::new();
    for game in ["even_odd", "even_odd_10"] {
        let leaguebox = LeagueBox::start(Settings { game, ..Settings::start_at(2) });
        let crowd = Crowd::of(&leaguebox, 2);
        crowd.wait_for_the_end();
        for event in crowd.events() {
            let kind = event.message["message_type"].as_str().expect("a type").to_owned();
            // An example shows a message of one game; what the game itself puts into it differs.
            let example = examples.iter().map(|example| &example["params"]).find(|shown| shown["message_type"] == kind);
            let example = example.unwrap_or_else(|| panic!("the manual does not show {kind}"));
            assert_eq!(fields(example), fields(&event.message), "{kind}");
            seen.insert(kind);
        }
    }
    assert_eq!(seen.len(), 9, "all but GAME_ERROR: {seen:?}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn every_path_the_manual_and_the_card_name_exists() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let crowd = Crowd::of(&leaguebox, 2);
    crowd.wait_for_the_end();
    let manual = web("skill.md");
    let named = manual.lines().filter(|line| line.starts_with("curl -s http://leaguebox.local:8000/"));
    let named = named.filter_map(|line| line.split_whitespace().nth(2)?.strip_prefix("http://leaguebox.local:8000"));
    let mut paths: BTreeSet<String> = named.map(str::to_owned).collect();
    let card: Value = serde_json::from_str(&web("agent.json")).expect("JSON");
    for path in card["endpoints"].as_object().expect("endpoints").values() {
        paths.insert(path.as_str().expect("a path").to_owned());
    }
    assert!(paths.len() > 10, "{paths:?}");
    for path in paths {
        let wanted = match path.as_str() {
            "/mcp" | "/register" => 405,
            "/ws" => 426,
            _ => 200,
        };
        assert_eq!(leaguebox.get(&path).status, wanted, "GET {path}");
    }
    for (path, file) in [("/", "index.html"), ("/skill.md", "skill.md"), ("/.well-known/agent.json", "agent.json")] {
        assert_eq!(leaguebox.get(path).body, web(file));
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_curl_examples_of_the_manual_are_understood() {
    let leaguebox = LeagueBox::start(Settings::default());
    let manual = web("skill.md");
    let bodies = manual.lines().filter(|line| line.starts_with("curl ")).filter_map(|line| line.split(" -d '").nth(1));
    let bodies: Vec<&str> = bodies.map(|body| body.trim_end_matches('\'')).collect();
    assert_eq!(bodies.len(), 2);
    let registered = leaguebox.post("/mcp", bodies[0]).json();
    assert_eq!(registered["result"]["status"], "ACCEPTED", "{registered}");
    let token = registered["result"]["auth_token"].as_str().expect("a token");
    let answer = leaguebox.post("/mcp", &bodies[1].replace("YOUR TOKEN", token)).json();
    assert_eq!(answer["result"]["status"], "SUCCESS", "{answer}");
    let player = leaguebox.get_json("/api/players/P01.json");
    assert_eq!(player["compliance"], Value::Array(Vec::new()), "the manual keeps every rule it teaches");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_manuals_player_plays_both_games_and_breaks_no_rule_even_in_strict_mode() {
    let player = blocks(&web("skill.md"), "python").into_iter().find(|block| block.contains("serve_forever"));
    let file = std::env::temp_dir().join(format!("leaguebox-manual-player-{}.py", std::process::id()));
    fs::write(&file, player.expect("a player in the manual")).expect("the player is written");
    for game in ["even_odd", "even_odd_10"] {
        let leaguebox = LeagueBox::start(Settings { game, mode: "strict", ..Settings::start_at(2) });
        let start = |name: &str| {
            let mut command = python();
            command.arg(&file).args([&leaguebox.url(), &free_port().to_string(), name]).stdout(Stdio::null());
            Ended(command.spawn().expect("python3 starts"))
        };
        let _players = [start("Ada"), start(FOREIGN)];
        leaguebox.wait_for_the_champion();
        let played = leaguebox.get_json("/api/matches/R1M1.json");
        assert_ne!(played["result"], "TECHNICAL_LOSS", "{played}");
        for id in ["P01", "P02"] {
            let report = leaguebox.get_json(&format!("/api/players/{id}.json"));
            let broken: Vec<_> =
                report["compliance"].as_array().expect("a report").iter().map(|line| &line["rule"]).collect();
            // Towards a box on the same computer its address is the one that means nothing to others.
            let expected: &[&str] = if leaguebox.home().is_loopback() { &["endpoint_host"] } else { &[] };
            assert_eq!(broken, expected, "{report}");
        }
    }
    let _ = fs::remove_file(file);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_manuals_few_lines_recompute_every_draw() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let crowd = Crowd::of(&leaguebox, 4);
    crowd.wait_for_the_end();
    let snippet = blocks(&web("skill.md"), "python").into_iter().find(|block| block.contains("def draws"));
    let snippet = snippet.expect("a way to recompute draws");
    for round in 1..=3 {
        let played = leaguebox.get_json(&format!("/api/matches/R{round}M1.json"));
        let seed = played["match_seed"].as_str().expect("a seed");
        let print =
            format!("s = bytes.fromhex('{seed}')\nprint(hashlib.sha256(s).hexdigest(), 1 + next(draws(s, 10)))");
        let output = python().args(["-c", &format!("{snippet}\n{print}")]).output().expect("python3 starts");
        let (commitment, number) = (&played["seed_commitment"], &played["game_result"]["drawn_number"]);
        let wanted = format!("{} {number}", commitment.as_str().expect("a commitment"));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), wanted, "{output:?}");
    }
}

/// A file the box serves.
fn web(name: &str) -> String {
    fs::read_to_string(here("../firmware/appliance/web").join(name)).expect("a file of the page")
}

/// The fenced blocks of one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next()).map(str::to_owned).collect()
}

/// The names of a message's fields, and those inside its `context`, in which every game is the same.
fn fields(message: &Value) -> BTreeSet<String> {
    let names = |value: &Value| value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default();
    let mut all: BTreeSet<String> = names(message);
    all.extend(names(&message["context"]).into_iter().map(|name: String| format!("context.{name}")));
    all
}

fn python() -> Command {
    Command::new(if cfg!(windows) { "python" } else { "python3" })
}

/// A child that ends with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
