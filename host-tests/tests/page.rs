//! The page in a real browser.

#[path = "../page/browser.rs"]
mod browser;

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use browser::Browser;
use host_tests::arena;
use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::websocket::{Frame, WebSocket};
use host_tests::{here, http, results, wait_for};
use serde_json::json;

const HOSTILE: &str = "<script>alert(1)</script>";
const FOREIGN: &str = "שחקנית 🎲";

/// What all of the page may take on the wire: a microcontroller sends it.
const PAGE_BYTES: usize = 64 * 1024;

/// What a client without gzip takes: compressed it is a third of that. Each of sixteen games has a few kilobytes of it.
const PLAIN_BYTES: usize = 164 * 1024;

/// The files of the page, by their paths.
const PAGE: [(&str, &str); 4] =
    [("/", "index.html"), ("/page.css", "page.css"), ("/page.js", "page.js"), ("/draw.js", "draw.js")];

/// Some of the games, where the box is a board: the page draws them all, and draws the same from every box.
fn drawn_here<T>(games: Vec<T>, on_a_board: usize) -> impl Iterator<Item = T> {
    let many = if cfg!(feature = "board") { on_a_board } else { games.len() };
    games.into_iter().take(many)
}

/// The windows the page is looked at in.
const SCREENS: [(&str, u32, u32); 3] = [("projector", 1280, 800), ("wall", 1920, 1080), ("phone", 390, 844)];

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_class_watches_a_league_from_the_lobby_to_its_champion() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    assert_eq!(browser.text("h1"), "Waiting for players: 0 here, a league needs at least two.");
    assert_eq!(browser.text("#address"), leaguebox.get_json("/api/status.json")["endpoint"]);
    browser.wait_until("document.querySelector('#rules').innerText.includes('when the teacher presses Start')");
    let links = browser.eval("[...document.querySelectorAll('#join a')].map(link => link.getAttribute('href'))");
    assert_eq!(
        links,
        json!(["/skill.md", "/skill/even_odd.md", "/api/v1/skill.md", "/moltgame/skill.md", "/agon/skill.md"])
    );
    for path in links.as_array().expect("links") {
        assert_eq!(leaguebox.get(path.as_str().expect("a path")).status, 200, "{path}");
    }

    let mut crowd = Crowd::new();
    crowd.hold();
    // One that gives its address as most students do at first.
    crowd.register(&leaguebox, "Player 1", "0.0.0.0");
    crowd.enlist(&leaguebox, 4);
    browser.wait_until("document.querySelectorAll('#players tr').length === 5");
    browser.keep_picture("lobby.png");
    assert_eq!(leaguebox.admin("start").status, 200);
    browser.wait_until(&is("RUNNING"));
    browser.wait_until("document.querySelectorAll('#matches .card').length === 2");
    // One of five sits out. It is told when the schedule is there, which may come behind the matches.
    browser.wait_until("document.querySelector('#bye').innerText.includes('Player')");
    browser.wait_until("!!document.querySelector('#board .drawn')");
    browser.keep_picture("running.png");

    crowd.release();
    crowd.wait_for_the_end();
    browser.wait_until(&is("COMPLETED"));
    let standings = leaguebox.get_json("/api/standings.json");
    let rows = standings["standings"].as_array().expect("standings");
    let champion = rows[0]["display_name"].as_str().expect("a name");
    // Whom nothing parts share the place.
    let shared = rows.iter().filter(|row| row["place"] == 1).count() > 1;
    let wins = if shared { " share the first place".to_owned() } else { format!("{champion} wins the league") };
    browser.wait_until(&format!("document.querySelector('h1').innerText.endsWith({wins:?})"));
    assert!(browser.text("#ties").contains("Sonneborn-Berger"), "the tie-breaks are named");
    assert!(browser.text("#podium li").contains(champion), "{}", browser.text("#podium"));
    let shown = browser
        .eval("[...document.querySelectorAll('#standings tr')].map(tr => [...tr.children].map(td => td.innerText))");
    assert_eq!(shown.as_array().map(Vec::len), Some(5));
    for (row, shown) in rows.iter().zip(shown.as_array().expect("rows")) {
        for (cell, field) in [(0, "place"), (2, "played"), (3, "wins"), (4, "draws"), (5, "losses"), (7, "points")] {
            assert_eq!(shown[cell], row[field].to_string(), "{field} of {row}");
        }
        let name = row["display_name"].as_str().expect("a name");
        assert!(shown[1].as_str().is_some_and(|text| text.starts_with(name)), "{shown}");
    }
    browser.wait_until("document.querySelectorAll('#rounds .score:not(.soft)').length === 10");
    assert_eq!(browser.eval("document.querySelectorAll('#rounds details').length"), 5);

    // The crosstable says the same as the standings, and so do the ends of the lines.
    let letters = browser.eval("[...document.querySelectorAll('#crosstable tbody tr')].map(tr => tr.innerText)");
    for (row, letters) in rows.iter().zip(letters.as_array().expect("rows")) {
        let letters = letters.as_str().expect("text").to_owned();
        let cells: Vec<&str> = letters.split_whitespace().collect();
        for (letter, field) in [("W", "wins"), ("D", "draws"), ("L", "losses")] {
            let count = cells.iter().filter(|cell| **cell == letter).count();
            assert_eq!(json!(count), row[field], "{letter} of {row}: {letters}");
        }
    }
    let ends = browser.eval("[...document.querySelectorAll('#chart .label')].map(label => label.textContent)");
    for (row, end) in rows.iter().zip(ends.as_array().expect("labels")) {
        assert!(end.as_str().is_some_and(|end| end.ends_with(&format!(" {}", row["points"]))), "{end} of {row}");
    }

    browser.click("#rounds summary");
    browser.click("#rounds .match");
    browser.wait_until("document.querySelectorAll('#body .proof .yes').length === 2");
    let proof = browser.text("#body .proof");
    assert!(proof.contains("it is the commitment") && proof.contains("the seed draws"), "{proof}");
    // The log of a board is short, and this match was its first.
    let messages = browser.text("#body");
    let names = messages.contains("CHOOSE_PARITY_CALL") && messages.contains("GAME_OVER");
    assert!(names || cfg!(feature = "board"), "{messages}");
    browser.keep_picture("match.png");
    browser.click("#dialog .close");
    browser.click("#players tr:first-child button");
    browser.wait_until("document.querySelector('#body').innerText.includes('auth_token')");
    assert!(browser.text("#body").contains("the one you got when you registered"), "{}", browser.text("#body"));
    assert_eq!(browser.eval("document.querySelectorAll('#body .match').length"), 4, "its results");
    browser.keep_picture("report.png");
    browser.click("#dialog .close");

    for (name, width, height) in SCREENS {
        for scheme in ["light", "dark"] {
            browser.resize(width, height);
            browser.prefer(scheme);
            assert_that_nothing_sticks_out(&browser, name);
            browser.run("scrollTo(0, 0)");
            browser.keep_picture(&format!("{name}-{scheme}.png"));
        }
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn thirty_names_from_strangers_are_shown_as_text_break_no_layout_and_run_nothing() {
    let leaguebox = LeagueBox::start(Settings::room_for(30));
    let mut crowd = Crowd::new();
    crowd.hold();
    let image = "<img src=x onerror=alert(2)>";
    let endless = "x".repeat(64);
    let hebrew = "שם ארוך מאוד של שחקנית שלא נגמר אף פעם";
    for number in 0..6 {
        for name in [HOSTILE, FOREIGN, image, &endless, hebrew] {
            // Names in a league are distinct, and the longest are cut.
            crowd.register(&leaguebox, &format!("{number}{name}"), &leaguebox.home().to_string());
        }
    }
    let players = leaguebox.get_json("/api/players.json");
    let names: Vec<&str> =
        players["players"].as_array().expect("players").iter().filter_map(|one| one["display_name"].as_str()).collect();
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("document.querySelectorAll('#players tr').length === 30");
    let look = |scene: &str| {
        for (screen, width, height) in SCREENS {
            browser.resize(width, height);
            assert_that_nothing_sticks_out(&browser, screen);
            browser.keep_picture(&format!("strangers-{scene}-{screen}.png"));
        }
        browser.resize(1280, 800);
    };
    look("lobby");
    assert_eq!(leaguebox.admin("start").status, 200);
    browser.wait_until("document.querySelectorAll('#matches .card').length === 15");
    browser.wait_until("document.querySelectorAll('#rounds .match').length === 435");
    look("running");
    for place in ["#players", "#standings", "#rounds", "#matches"] {
        let shown = browser.eval(&format!("document.querySelector('{place}').textContent"));
        let shown = shown.as_str().expect("text");
        for name in &names {
            assert!(shown.contains(name), "{name} in {place}");
        }
    }
    for player in 1..=5 {
        browser.click(&format!("#players tr:nth-child({player}) button"));
        browser.wait_until("document.querySelector('#body').innerText.includes('protocol broken')");
        assert_eq!(browser.text("#title"), names[player - 1].trim());
        browser.click("#dialog .close");
    }
    assert_eq!(browser.eval("document.scripts.length"), 1, "the page's own");
    assert_eq!(browser.eval("document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.eval("[...document.querySelectorAll('#players bdi')].every(name => name.dir === 'auto')"), true);
    crowd.release();
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
    browser.wait_until(&is("WAITING"));

    browser.click("#teach");
    browser.fill("#code", "wrong");
    browser.click("[data-verb=start]");
    browser.wait_until("document.querySelector('#said').innerText.startsWith('Refused: this is not the admin code')");
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "WAITING");
    browser.fill("#code", &leaguebox.admin_code);
    browser.click("#check-all");
    browser.wait_until("document.querySelectorAll('#players .yes').length === 2");
    let disabled = "[...document.querySelectorAll('#verbs button:disabled')].map(one => one.dataset.verb)";
    assert_eq!(browser.eval(disabled), json!(["pause", "next", "resume", "rematch"]), "what makes no sense now");
    browser.click("[data-verb=start]");
    browser.wait_until("document.querySelector('#said').innerText.startsWith('Done.')");
    browser.wait_until(&is("RUNNING"));
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "RUNNING");
    browser.wait_until("document.querySelector('[data-verb=start]').disabled");
    assert_eq!(browser.eval(disabled), json!(["start", "next", "resume", "rematch", null]), "nor this, while it runs");

    for question in ["Erase all players and results?", "Really? Press once more"] {
        browser.click("[data-verb=reset]");
        assert_eq!(browser.text("[data-verb=reset]"), question);
        assert_eq!(leaguebox.get_json("/api/status.json")["state"], "RUNNING");
    }
    browser.click("[data-verb=reset]");
    browser.wait_until(&is("WAITING"));
    assert_eq!(leaguebox.get_json("/api/players.json")["registered"], 0);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_teacher_chooses_the_game_and_its_times_and_sees_how_the_box_is() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    browser.click("#teach");
    browser.fill("#code", &leaguebox.admin_code);
    browser.wait_until("document.querySelector('#settings').game.value === 'even_odd'");
    let offered = browser.eval("[...document.querySelector('#settings').game.options].map(option => option.value)");
    let refusal = leaguebox.admin_with("settings", r#"{"game":"no such game"}"#).json();
    let there_are = refusal["error"].as_str().and_then(|error| error.strip_prefix("game must be one of "));
    assert_eq!(offered, json!(there_are.expect("the games").split(' ').collect::<Vec<_>>()));
    browser.eval("void (document.querySelector('#settings').game.value = 'skill-gomoku')");
    browser.eval("void (document.querySelector('#settings').pace.value = 'watch')");
    browser.fill("[name=pace_break_ms]", "2.5");
    browser.fill("[name=start_at]", "7");
    browser.fill("[name=seed]", &"ab".repeat(32));
    browser.fill("[name=move_timeout_ms]", "12");
    browser.keep_picture("teacher.png");
    browser.click("#settings button");
    browser.wait_until("document.querySelector('#saved').innerText === 'Saved.'");
    let settings = leaguebox.get_json("/api/settings.json");
    assert_eq!(
        (&settings["game"], &settings["start_at"], &settings["move_timeout_ms"], &settings["join_timeout_ms"]),
        (&json!("skill-gomoku"), &json!(7), &json!(12_000), &json!(5_000))
    );
    assert_eq!((&settings["pace"], &settings["pace_break_ms"]), (&json!("watch"), &json!(2_500)));
    browser.wait_until("document.querySelector('#rules').textContent.includes('when 7 players are here')");
    // A seed that was chosen stays until it is taken out.
    for (written, kept) in [("set", "set"), ("", "random")] {
        browser.fill("[name=seed]", written);
        browser.click("#settings button");
        browser.wait_until("document.querySelector('#saved').innerText === 'Saved.'");
        wait_for("the seed", || (leaguebox.get_json("/api/settings.json")["seed"] == kept).then_some(()));
    }

    let status = leaguebox.get_json("/api/status.json");
    let health = browser.text("#health");
    for field in ["name", "board", "version", "journal"] {
        assert!(health.contains(status[field].as_str().expect("text")), "{field}: {health}");
    }
    let memory = if cfg!(feature = "board") { "for the stack at its deepest" } else { "RAM" };
    assert!(health.contains(memory), "{health}");
    browser.eval("void (document.querySelector('#settings').game.value = 'resource-rush')");
    browser.run("document.querySelector('#settings').game.dispatchEvent(new Event('change'))");
    assert!(browser.text("#hides").contains("projector"), "what spectators see is told where the game is chosen");
    browser.click("#clock");
    browser.wait_until("document.querySelector('#clocked').innerText.includes('20')");
    let links = browser.eval("[...document.querySelectorAll('#desk a')].map(link => link.getAttribute('href'))");
    for path in links.as_array().expect("links") {
        assert_eq!(leaguebox.get(path.as_str().expect("a path")).status, 200, "{path}");
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_teacher_rules_on_a_match_and_removes_a_player_and_both_ask_once_more() {
    // Longer than a browser takes beside others: the players join when the teacher has ruled.
    let leaguebox = LeagueBox::start(Settings { join_timeout_ms: 120_000, ..Settings::start_at(2) });
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 2);
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("!document.querySelector('#stage').hidden");
    browser.click("#stage-open");
    browser.wait_until("document.querySelector('#body').innerText.includes('the teacher decides here')");
    browser.click("#dialog .close");

    browser.click("#teach");
    browser.fill("#code", &leaguebox.admin_code);
    browser.click("#desk .close");
    browser.click("#stage-open");
    browser.wait_until("document.querySelectorAll('#body .powers button').length === 3");
    let second = "#body .powers button:nth-child(2)";
    browser.click(second);
    assert_eq!(browser.text(second), "Really? Player 1 wins");
    assert_eq!(leaguebox.get_json("/api/status.json")["matches_completed"], 0);
    browser.click(second);
    // The dialog is filled anew meanwhile, and says it again.
    browser.wait_until("document.querySelector('#body [role=status]')?.innerText.startsWith('Done.')");
    // What has become of it is shown at once: what was ruled, and by whom.
    browser.wait_until("document.querySelector('#body').innerText.includes('decided by the teacher')");
    assert_eq!(browser.text("#body .verdict"), "The teacher ruled: Player 1 wins");
    browser.wait_until("document.querySelectorAll('#body .powers button').length >= 3");
    let ruled = leaguebox.get_json("/api/matches/R1M1.json");
    assert_eq!((&ruled["winner"], &ruled["end_reason"]), (&json!("P01"), &json!("adjudicated")), "{ruled}");
    browser.click("#dialog .close");

    // Nobody is removed from a league that is over.
    browser.wait_until(&is("COMPLETED"));
    browser.click("#players .name");
    browser.wait_until("!!document.querySelector('#body .powers button')");
    assert_eq!(browser.text("#body .powers"), "Is it ready?");
    crowd.release();
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_page_says_when_the_box_is_gone_and_catches_up_when_it_is_back() {
    let flash = std::env::temp_dir().join(format!("leaguebox-page-{}.flash", std::process::id()));
    let leaguebox = LeagueBox::with_memory(Settings::default(), &flash);
    let mut crowd = Crowd::of(&leaguebox, 2);
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("document.querySelectorAll('#players tr').length === 2");
    // Waited for wherever it is looked at: a page whose box is slow for some seconds says that, and takes it back.
    let answers = "document.querySelector('#lost').hidden";
    browser.wait_until(answers);
    let leaguebox = restarted(leaguebox, &flash, || {
        browser.wait_until(&format!(
            "!{answers} && document.querySelector('#lost').innerText.startsWith('The box does not answer')"
        ));
        browser.keep_picture("gone.png");
    });
    browser.wait_until("document.querySelector('#more').innerText.startsWith('Resumed after a restart: ')");
    browser.wait_until(
        "document.querySelector('h1').innerText === '2 players are here. Waiting for the teacher to start.'",
    );
    crowd.enlist(&leaguebox, 1);
    browser.wait_until("document.querySelectorAll('#players tr').length === 3");
    browser.wait_until(answers);

    // What is over is kept. The desk asks for it once, when it is opened, and does without what does not come in time.
    assert_eq!(leaguebox.admin("start").status, 200);
    browser.wait_until(&is("COMPLETED"));
    wait_for("the league is kept", || {
        let kept = http::request(leaguebox.address, "GET", "/api/leagues.json", "", "").ok()?.json();
        kept["leagues"].as_array().is_some_and(|leagues| leagues.len() == 1).then_some(())
    });
    wait_for("the desk shows it", || {
        browser.click("#teach");
        // As long as the page waits for the four answers at most.
        let shown = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(200));
            browser.eval("document.querySelectorAll('#leagues li').length") == 1
        });
        if !shown {
            browser.click("#desk .close");
        }
        shown.then_some(())
    });
    let champion = leaguebox.get_json("/api/standings.json")["standings"][0]["display_name"].clone();
    let past = browser.text("#leagues");
    assert!(past.contains(&format!("{} won", champion.as_str().expect("a name"))), "{past}");
    let _ = fs::remove_file(flash);
}

/// The box after a restart, at the same address. `meanwhile` is while it is gone.
#[cfg(not(feature = "emulator"))]
fn restarted(leaguebox: LeagueBox, flash: &std::path::Path, meanwhile: impl FnOnce()) -> LeagueBox {
    let address = leaguebox.address;
    drop(leaguebox);
    meanwhile();
    LeagueBox::as_and_where_it_was(flash, address)
}

#[cfg(feature = "emulator")]
fn restarted(mut leaguebox: LeagueBox, _: &std::path::Path, meanwhile: impl FnOnce()) -> LeagueBox {
    let said = leaguebox.board().log_position();
    leaguebox.board().power(false).expect("the plug is pulled");
    meanwhile();
    leaguebox.board().power(true).expect("and put back");
    leaguebox.wait_until_it_is_back(said);
    leaguebox
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn whoever_cannot_see_or_use_a_mouse_finds_no_serious_obstacle() {
    let leaguebox = LeagueBox::start(Settings { game: "skill-gomoku", ..Settings::default() });
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.register(&leaguebox, FOREIGN, "127.0.0.1");
    crowd.enlist(&leaguebox, 3);
    let axe = fs::read_to_string(here("players/node_modules/axe-core/axe.min.js"));
    let axe = axe.expect("axe-core is there; cargo xtask clients installs it");
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("document.querySelectorAll('#players tr').length === 4");
    browser.run(&axe);
    let judge = |scene: &str| {
        for scheme in ["light", "dark"] {
            browser.prefer(scheme);
            let findings = browser.eval(
                "axe.run({resultTypes: ['violations']}).then(result => result.violations.filter(one => \
                 ['serious', 'critical'].includes(one.impact)).map(one => [one.id, ...one.nodes.map(node => \
                 node.html.slice(0, 200) + node.failureSummary)]))",
            );
            assert_eq!(findings, json!([]), "{scene}, {scheme}");
        }
    };
    judge("lobby");
    browser.click("#teach");
    browser.wait_until("document.querySelector('#settings').game.value !== ''");
    judge("the teacher's desk");
    browser.click("#desk .close");
    assert_eq!(leaguebox.admin("start").status, 200);
    browser.wait_until("document.querySelectorAll('#matches .card').length === 2");
    browser.wait_until("!document.querySelector('#stage').hidden");
    judge("playing");
    crowd.release();
    crowd.wait_for_the_end();
    browser.wait_until(&is("COMPLETED"));
    browser.wait_until("document.querySelectorAll('#rounds .score:not(.soft)').length === 6");
    // They were shown while the league went on, too short to be looked at.
    browser.run("document.querySelector('#fresh').hidden = false");
    browser.wait_until("document.querySelectorAll('#results li').length > 0");
    browser.click("#rounds summary");
    judge("finished");
    browser.click("#rounds .match");
    browser.wait_until("document.querySelectorAll('#body .proof .yes').length === 1");
    judge("a match");
    browser.click("#dialog .close");
    browser.click("#players .name");
    browser.wait_until("document.querySelector('#body').innerText.includes('protocol broken')");
    judge("a player");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_game_is_drawn_while_it_is_played_and_can_be_stepped_through() {
    // What is drawn, and how long players think: a page looks at the board at most every 700 ms.
    let games =
        vec![("skill-gomoku", "#board .stone2", 400), ("echo", "#board .bout", 1000), ("blotto", "#board .bar", 1000)];
    for (game, drawn, thinking) in drawn_here(games, 1) {
        let leaguebox = LeagueBox::start(Settings { game, ..Settings::start_at(2) });
        let browser = Browser::open();
        browser.go(&leaguebox.url());
        browser.wait_until(&is("WAITING"));
        let mut crowd = Crowd::thinking(Duration::from_millis(thinking));
        crowd.enlist(&leaguebox, 2);
        browser.wait_until(&format!("!!document.querySelector('{drawn}')"));
        browser.wait_until(
            "[...document.querySelectorAll('#matches .clock')].some(one => one.innerText.includes('s left'))",
        );
        browser.wait_until("Number(/turn (\\d+)/.exec(document.querySelector('#stage-turn').innerText)?.[1]) > 3");
        crowd.hold();
        browser.keep_picture(&format!("{game}.png"));
        browser.click("#stage-open");
        browser.wait_until("!!document.querySelector('#body .replay')");
        let last = browser.text("#body .replay small");
        browser.click("#body .replay button");
        assert_ne!(browser.text("#body .replay small"), last, "one step back");
        let keeps = browser.text("#body").contains("those that this page has seen");
        assert_eq!(keeps, ["echo", "skill-gomoku"].contains(&game), "{game}: what is known of it is told plainly");
        crowd.release();
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_match_somebody_chose_is_drawn_until_its_round_is_over() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    let mut crowd = Crowd::thinking(Duration::from_millis(1000));
    crowd.hold();
    crowd.enlist(&leaguebox, 4);
    browser.wait_until("document.querySelectorAll('#matches .card').length === 2");
    browser.click("#matches li:last-child .card");
    browser.wait_until("document.querySelector('#stage-turn').innerText.startsWith('R1M2')");
    crowd.release();
    browser.wait_until("/^R[23]/.test(document.querySelector('#stage-turn').innerText)");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn a_number_of_echo_that_is_played_again_is_drawn_as_what_it_counts() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    let drawn = browser.eval(
        "import('/draw.js').then(({ draw }) => { \
         const seats = ['P01', 'P02'].map(id => ({ id, name: id })); \
         const rounds = [[10, 3], [10, 4]].map(([P01, P02], at) => ({ round: at + 1, numbers: { P01, P02 } })); \
         return [...draw('echo', seats, { rounds, scores: {} }).querySelectorAll('.bout g')] \
         .map(bar => [bar.textContent, bar.querySelector('.lost') !== null]); })",
    );
    assert_eq!(drawn, json!([["10", false], ["3", true], ["10 again", true], ["4", false]]));
}

/// The names of a class of 30.
const CLASS: &str = "Ada|Noah Levi|Fatima|שירה|Maximilian von Hohenberg|Yui|Bob|Olena K.|Tomás|gpt-wrapper-final-2|Ivy|Priya|\
    The Even Steven|Zoë|Omar|Lin|Grace|Mateusz|Anna-Lena|Kofi|random.choice|Chen Wei|Eve|Søren|Daniel B.|Daniel S.|نور|Ruth|\
    Leo|Team Rocket 🚀";

#[test]
#[ignore = "takes minutes: cargo xtask test --device emulator page -- --ignored"]
fn a_class_of_30_watches_its_league_to_the_champion_and_then_another_game() {
    watch_an_hour(30);
}

/// The same, with few of them.
#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn four_watch_their_league_to_the_champion_and_then_another_game() {
    watch_an_hour(4);
}

/// A class as its teacher and the back row see it: lobby, a league in `watch`, its champion, and the next league with another game.
/// All that the teacher does is done on the page.
fn watch_an_hour(players: usize) {
    let (rounds, matches) = (players - 1, players / 2);
    let leaguebox = LeagueBox::start(Settings::room_for(players));
    let mut crowd = Crowd::new();
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    for name in CLASS.split('|').take(players) {
        crowd.register(&leaguebox, name, &leaguebox.home().to_string());
    }
    browser.wait_until(&format!("document.querySelectorAll('#players tr').length === {players}"));
    let look = |scene: &str| {
        for (screen, width, height) in SCREENS {
            browser.resize(width, height);
            assert_that_nothing_sticks_out(&browser, screen);
            browser.run("scrollTo(0, 0)");
            browser.keep_picture(&format!("class-of-{players}-{scene}-{screen}.png"));
        }
        browser.resize(1280, 800);
    };
    look("1-lobby");
    let lowest = "document.querySelector('#players tr:last-child').getBoundingClientRect().bottom - innerHeight";
    assert!(browser.eval(lowest).as_f64() <= Some(0.0), "everybody finds its name on the projector");

    let set = |game: &str| {
        browser.run(&format!("document.querySelector('#settings').game.value = {game:?}"));
        browser.click("#save");
        browser.wait_until("document.querySelector('#saved').innerText === 'Saved.'");
        wait_for("the game", || (leaguebox.get_json("/api/settings.json")["game"] == game).then_some(()));
    };
    browser.click("#teach");
    browser.fill("#code", &leaguebox.admin_code);
    browser.wait_until("document.querySelector('#settings').game.value !== ''");
    browser.run("document.querySelector('#settings').pace.value = 'watch'");
    set("even_odd");
    // What somebody sees who looks all the time: each round while it is played, and the countdown behind it.
    browser.run(
        "window.story = []; const begun = Date.now(); new MutationObserver(() => { \
         const round = Number(/^Round (\\d+) of/.exec(document.querySelector('h1').innerText)?.[1]) || 0; \
         const scene = [round, document.querySelector('#break').hidden ? 'played' : 'counted', document.querySelector('#feed').innerText].join(); \
         if (window.story.at(-1)?.[1] !== scene) window.story.push([(Date.now() - begun) / 1000, scene]); \
         }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })",
    );
    browser.click("[data-verb=start]");
    browser.click("#desk .close");
    browser.wait_until(&is("RUNNING"));
    let middle = rounds.div_ceil(2);
    for round in 1..=rounds {
        browser.wait_until(&format!("{} || window.story.some(one => parseInt(one[1]) >= {round})", is("COMPLETED")));
        if round == middle {
            browser.wait_until(&format!("document.querySelectorAll('#matches .card').length === {matches}"));
            browser.wait_until("!!document.querySelector('#board .drawn')");
            look("2-middle");
            browser.wait_until("!document.querySelector('#break').hidden");
            look("3-break");
        }
    }
    browser.wait_until(&is("COMPLETED"));
    let all: Vec<usize> = (1..=rounds).collect();
    let seen = |how: &str| {
        let rounds = format!("window.story.filter(one => one[1].includes(',{how},')).map(one => parseInt(one[1]))");
        browser.eval(&format!("[...new Set({rounds})].filter(Boolean).sort((a, b) => a - b)"))
    };
    let story = browser.eval("window.story");
    assert_eq!(seen("played"), json!(all), "every round was seen: {story}");
    // A computer that emulates a board beside other work may lose a connection, and a countdown with it.
    let counted = seen("counted").as_array().map_or(0, Vec::len);
    println!("{rounds} rounds were seen, and {counted} of {} countdowns", rounds - 1);
    assert!(counted * 10 >= (rounds - 1) * 9, "and the countdown behind almost each but the last: {story}");

    let standings = leaguebox.get_json("/api/standings.json");
    let standings = standings["standings"].as_array().expect("standings");
    assert_eq!(standings.len(), players);
    assert!(standings.iter().all(|row| row["played"] == rounds && row["technical_losses"] == 0), "{standings:?}");
    browser.wait_until("/ (wins the league|share the first place)$/.test(document.querySelector('h1').innerText)");
    let champion = standings[0]["display_name"].as_str().expect("a name");
    assert!(browser.text("#podium").contains(champion), "{}", browser.text("#podium"));
    browser
        .wait_until(&format!("document.querySelectorAll('#rounds .score:not(.soft)').length === {}", rounds * matches));
    look("4-champion");

    // The same players, another game.
    browser.click("#teach");
    browser.wait_until("document.querySelector('#settings').game.value === 'even_odd'");
    set("rockpaper");
    browser.click("[data-verb=rematch]");
    browser.click("#desk .close");
    browser.wait_until(&is("RUNNING"));
    browser.wait_until("document.querySelector('#league').innerText.startsWith('rockpaper')");
    browser.wait_until(&format!("document.querySelectorAll('#matches .card').length === {matches}"));
    let arrows = "document.querySelectorAll('#standings :is(.up, .down)').length";
    assert_eq!(browser.eval(arrows), 0, "nobody is compared with the league before");
    browser.wait_until("document.querySelectorAll('#board .bout').length > 1");
    look("5-next-league");
    assert_eq!(browser.eval("document.querySelectorAll('#standings tr').length"), players);
    // Its first results count in its own standings.
    browser.wait_until("/^Round 2 of/.test(document.querySelector('h1').innerText)");
    let points =
        "[...document.querySelectorAll('#standings td:last-child')].reduce((sum, td) => sum + Number(td.innerText), 0)";
    browser.wait_until(&format!("({points}) >= {} && ({points}) <= {}", 2 * matches, 3 * matches));
    look("6-next-round");
    assert_eq!(leaguebox.resets(), Vec::<String>::new());
}

/// As many as a board takes, in windows that are all looked at. The rest of the league would show nothing new.
#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn four_pages_follow_a_league_of_32_and_no_move_is_late() {
    const CLASS: usize = 32;
    const ROUNDS: usize = 10;
    let leaguebox = LeagueBox::start(Settings::start_at(CLASS));
    let mut crowd = Crowd::new();
    crowd.enlist(&leaguebox, CLASS / 2);
    crowd.dial_in(&leaguebox, CLASS / 2 - 1);
    let browser = Browser::open();
    let windows: Vec<String> = (0..4)
        .map(|_| {
            let window = browser.open_window();
            browser.go(&leaguebox.url());
            browser.wait_until("document.querySelector('#feed').innerText === 'live'");
            assert_eq!(browser.eval("document.visibilityState"), "visible");
            window
        })
        .collect();
    // The last one, and it begins.
    crowd.dial_in(&leaguebox, 1);
    let is_past = |round| {
        let told = "Number(/Round (\\d+)/.exec(document.querySelector('h1').innerText)?.[1])";
        format!("{} || {told} > {round}", is("COMPLETED"))
    };
    // Round by round: a busy computer may need its time for each.
    (1..=ROUNDS).for_each(|round| browser.wait_until(&is_past(round)));
    for window in &windows {
        browser.turn_to(window);
        browser.wait_until(&is_past(ROUNDS));
        // One that lost its connection on a busy computer has come back: none was sent away for good.
        browser.wait_until("document.querySelector('#feed').innerText === 'live'");
    }
    leaguebox.wait_until_healthy();
    // Whoever is late is told so before it is asked again.
    let late = crowd.events().into_iter().find(|event| event.is("GAME_ERROR"));
    assert!(late.is_none(), "{late:?}");
    // Four pages that ask for the match they draw can have all slots of a board for a moment: who is refused comes again.
    let ask = || http::request(leaguebox.address, "GET", "/api/results.csv", "", "").ok();
    let rows = results::parse(&wait_for("the results", ask).body);
    assert!(rows.len() >= ROUNDS * CLASS / 2, "{}", rows.len());
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    assert_eq!(leaguebox.resets(), Vec::<String>::new());
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_page_too_many_asks_instead_and_says_so_until_there_is_room() {
    let leaguebox = LeagueBox::start(Settings::default());
    let _crowd = Crowd::of(&leaguebox, 2);
    let browser = Browser::open();
    // As many as the box takes.
    let mut watchers: Vec<WebSocket> = Vec::new();
    loop {
        let mut watcher = WebSocket::dial_at(leaguebox.address, "/api/live");
        match watcher.frame().expect("a frame") {
            Frame::Close(code, _) => break assert_eq!(code, 1013),
            _ => watchers.push(watcher),
        }
    }
    browser.go(&leaguebox.url());
    browser.wait_until("document.querySelector('#feed').innerText === 'asking every 5 s'");
    browser.wait_until("document.querySelectorAll('#players tr').length === 2");
    // Whatever happens is asked for, though nothing else has changed.
    assert_eq!(leaguebox.admin_with("check", r#"{"player_id":"P01"}"#).status, 200);
    browser.wait_until("document.querySelectorAll('#players .yes').length === 1");
    drop(watchers);
    browser.wait_until("document.querySelector('#feed').innerText === 'live'");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn everything_can_be_reached_by_keyboard() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 2);
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("!document.querySelector('#stage').hidden");
    let mut reached = BTreeSet::new();
    for _ in 0..40 {
        browser.press("\u{E004}");
        let here = browser.eval("(document.activeElement.closest('[id]') || document.body).id");
        reached.insert(here.as_str().unwrap_or_default().to_owned());
    }
    for place in ["teach", "standings", "stage-open", "matches", "players", "rounds"] {
        assert!(reached.contains(place), "Tab does not reach {place}: {reached:?}");
    }
    browser.run("document.querySelector('#teach').focus()");
    browser.press("\u{E007}");
    assert_eq!(browser.eval("document.activeElement.id"), "code", "Enter opens the desk, and typing goes on there");
    browser.press("\u{E00C}");
    assert_eq!(browser.eval("document.querySelector('#desk').open"), false, "Escape closes it");
    assert_eq!(browser.eval("document.activeElement.id"), "teach", "and one is where one was");

    // In a dialog what was chosen goes away with the rest of it; what comes in its place is read from its title on.
    crowd.release();
    browser.wait_until(&is("COMPLETED"));
    browser.run("document.querySelector('#players .name').focus()");
    browser.press("\u{E007}");
    browser.wait_until("!!document.querySelector('#body .match')");
    browser.run("document.querySelector('#body .match').focus()");
    browser.press("\u{E007}");
    browser.wait_until("document.querySelector('#title').innerText.startsWith('Match')");
    assert_eq!(browser.eval("document.activeElement.id"), "title");
    browser.press("\u{E00C}");
    assert_eq!(browser.eval("document.activeElement.closest('[id]').id"), "players");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn enter_in_the_field_of_the_code_says_whether_it_is_right_and_starts_nothing() {
    let leaguebox = LeagueBox::start(Settings::default());
    let _crowd = Crowd::of(&leaguebox, 2);
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    browser.click("#teach");
    browser.fill("#code", "wrong");
    browser.press("\u{E007}");
    browser.wait_until("document.querySelector('#said').innerText.startsWith('Refused: this is not the admin code')");
    assert_eq!(browser.eval("document.activeElement.id"), "code", "to be typed again");
    assert_eq!(leaguebox.get_json("/api/status.json")["wrong_admin_codes"], 1);
    browser.fill("#code", &leaguebox.admin_code);
    for _ in 0..2 {
        browser.press("\u{E007}");
        browser.wait_until("document.querySelector('#said').innerText === 'The code is right.'");
    }
    assert_eq!(leaguebox.get_json("/api/status.json")["state"], "WAITING");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_end_of_a_match_is_shown_with_who_won_and_why_live_and_from_the_first_look() {
    // What is there only when the last move is drawn.
    let games = vec![
        ("even_odd", "document.querySelector('#board .drawn b').innerText !== '?'"),
        ("skill-gomoku", "!!document.querySelector('#board .five')"),
        ("even_odd_10", "document.querySelectorAll('#board .bout').length === 10"),
        ("echo", "document.querySelectorAll('#board .bout').length >= 3"),
        ("blotto", "document.querySelectorAll('#board .bout').length >= 3"),
        ("rockpaper", "!!document.querySelector('#board .throws')"),
        (
            "blackjack",
            "!!document.querySelector('#board .felt') && !document.querySelector('#board :is(.asked, .behind)')",
        ),
        ("texasholdem", "!!document.querySelector('#board .past .won')"),
    ];
    let browser = Browser::open();
    for (game, drawn) in drawn_here(games, 2) {
        let leaguebox = LeagueBox::start(Settings { game, ..Settings::start_at(2) });
        browser.go(&leaguebox.url());
        browser.wait_until(&is("WAITING"));
        let _crowd = Crowd::of(&leaguebox, 2);
        browser.wait_until(&is("COMPLETED"));
        let told = leaguebox.get_json("/api/matches/R1M1.json");
        let winner = told["players"].as_array().expect("players").iter().find(|one| one["player_id"] == told["winner"]);
        let won =
            winner.map_or("A draw".to_owned(), |one| format!("{} wins", one["display_name"].as_str().expect("a name")));
        for look in ["live", "first"] {
            browser.wait_until(&format!("document.querySelector('#board .verdict b')?.innerText === {won:?}"));
            browser.wait_until(drawn);
            // Who has won is not shown behind.
            let counts = "[...document.querySelectorAll('#board .side')].map(side => [side.querySelector('bdi').innerText, \
                          parseInt(side.querySelector('b').innerText)])";
            let counts = browser.eval(counts);
            let of = |name: &str| {
                let found = counts.as_array().into_iter().flatten().find(|one| one[0] == name);
                found.and_then(|one| one[1].as_i64())
            };
            let all = ["Player 1", "Player 2"].map(of);
            if let Some(winner) = winner.and_then(|one| one["display_name"].as_str()) {
                assert!(all.iter().all(|score| *score <= of(winner)), "{game}, {look}: {counts}, and {winner} won");
            }
            browser.keep_picture(&format!("end-{game}-{look}.png"));
            browser.go(&leaguebox.url());
        }
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_technical_loss_says_who_did_not_choose_and_calls_no_choice_wrong() {
    use host_tests::crowd::Does;
    let leaguebox = LeagueBox::start(Settings { move_timeout_ms: 300, retry_base_ms: 50, ..Settings::start_at(2) });
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    let mut crowd = Crowd::with_habits(|player, _| if player == 0 { Does::Babble } else { Does::Answer });
    crowd.enlist(&leaguebox, 2);
    browser.wait_until(&is("COMPLETED"));
    browser.wait_until("document.querySelector('#board .verdict')?.innerText.startsWith('Player 2 wins: Player 1 ')");
    let board = browser.text("#board");
    assert!(board.contains("did not choose") && !board.contains("✗ wrong\n✗ wrong"), "{board}");
    let line = browser.eval("document.querySelector('#rounds .note').textContent");
    assert!(line.as_str().is_some_and(|line| line.starts_with("technical loss: Player 2 wins: Player 1 ")), "{line}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_match_that_is_opened_while_it_is_played_goes_on_and_ends_there() {
    let leaguebox = LeagueBox::start(Settings { game: "skill-gomoku", ..Settings::start_at(2) });
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    let mut crowd = Crowd::thinking(Duration::from_millis(300));
    crowd.enlist(&leaguebox, 2);
    browser.wait_until("!!document.querySelector('#board .stone1')");
    browser.click("#stage-open");
    browser.wait_until("!!document.querySelector('#body .stone1')");
    let stones = "document.querySelectorAll('#body .stone1, #body .stone2').length";
    let first = browser.eval(stones).as_u64().expect("a number");
    browser.wait_until(&format!("{stones} > {first}"));
    browser.wait_until("!!document.querySelector('#body .verdict') && !!document.querySelector('#body .five')");
    browser.wait_until("!!document.querySelector('#body .moves')");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn the_stage_shows_other_players_in_other_rounds() {
    let leaguebox = LeagueBox::start(Settings { game: "even_odd_10", ..Settings::start_at(6) });
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    browser.run(
        "window.stages = new Set(); new MutationObserver(() => window.stages.add(document.querySelector('#stage-title').textContent)) \
         .observe(document.querySelector('#stage-title'), { childList: true })",
    );
    let mut crowd = Crowd::thinking(Duration::from_millis(400));
    crowd.enlist(&leaguebox, 6);
    browser.wait_until(&is("COMPLETED"));
    let stages = browser.eval("[...window.stages]");
    let stages: Vec<&str> = stages.as_array().expect("titles").iter().filter_map(|one| one.as_str()).collect();
    let on_stage = |number| stages.iter().filter(|title| title.contains(&format!("Player {number}"))).count();
    assert!((1..=6).all(|number| on_stage(number) < stages.len()), "nobody is always there: {stages:?}");
    assert!((1..=6).filter(|&number| on_stage(number) > 0).count() >= 4, "{stages:?}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn a_player_has_one_colour_and_every_number_beside_a_name_says_what_it_counts() {
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::start_at(3) });
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    assert_eq!(browser.eval("document.querySelector('#took').textContent"), "Answers in");
    let mut crowd = Crowd::thinking(Duration::from_millis(1200));
    crowd.enlist(&leaguebox, 3);
    browser.wait_until("document.querySelectorAll('#board .bout').length > 1");
    // "Player 2" is a name, "score 2" is none.
    let counts = browser
        .eval("[...document.querySelectorAll('#matches .seat > b, #board .side > b')].map(one => one.innerText)");
    let says = |one: &serde_json::Value| {
        one.as_str().is_some_and(|one| one.starts_with("score ") || one.ends_with(" round") || one.ends_with(" rounds"))
    };
    assert!(counts.as_array().is_some_and(|all| all.len() >= 4 && all.iter().all(says)), "{counts}");
    let hues = browser.eval(
        "Object.values([...document.querySelectorAll('#players .name, #standings .name, #matches .seat, #board .side')].reduce((all, one) => { \
         const hue = (one.querySelector('.dot') || one).style.getPropertyValue('--hue'); \
         (all[one.querySelector('bdi').textContent] ||= new Set()).add(hue); return all; }, {})).map(hues => [...hues])",
    );
    let mut hues: Vec<_> = hues.as_array().expect("players").iter().map(|one| one.as_array().expect("hues")).collect();
    assert!(hues.len() == 3 && hues.iter().all(|one| one.len() == 1), "one colour each: {hues:?}");
    hues.dedup();
    assert_eq!(hues.len(), 3, "and each its own");
    // How long it thinks, in seconds: not how long it took to join.
    browser.wait_until(
        "[...document.querySelectorAll('#players td:nth-child(4)')].some(td => /^\\d+\\.\\d+ s$/.test(td.innerText))",
    );
    assert_eq!(browser.eval("document.querySelector('#took').textContent"), "Thinks for");
    let took = browser.eval("[...document.querySelectorAll('#players td:nth-child(4)')].map(td => parseFloat(td.innerText)).filter(Number.isFinite)");
    assert!(took.as_array().is_some_and(|all| all.iter().all(|one| one.as_f64() >= Some(1.0))), "{took}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_player_removed_in_the_lobby_is_gone_and_the_page_says_so() {
    let leaguebox = LeagueBox::start(Settings::default());
    let _crowd = Crowd::of(&leaguebox, 2);
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("document.querySelectorAll('#players tr').length === 2");
    browser.click("#teach");
    browser.fill("#code", &leaguebox.admin_code);
    browser.click("#desk .close");
    browser.click("#players .name");
    browser.wait_until("!!document.querySelector('#body .powers button')");
    let remove = "#body .powers button:nth-child(2)";
    browser.click(remove);
    browser.click(remove);
    browser.wait_until("document.querySelector('#body').innerText.startsWith('Done.')");
    browser.wait_until("document.querySelectorAll('#players tr').length === 1");
    assert!(!browser.text("#body").contains("404"), "{}", browser.text("#body"));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_lobby_has_the_networks_address_to_copy_and_a_code_that_others_read() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until("!!document.querySelector('#code-of-page svg')");
    let endpoint = leaguebox.get_json("/api/status.json")["endpoint"].clone();
    assert_eq!(browser.text("#address"), endpoint);
    browser.click("#copy");
    browser.wait_until("/Copied|Selected/.test(document.querySelector('#copied').innerText)");
    assert_eq!(browser.eval("getSelection().toString()"), endpoint);

    let decoder = fs::read_to_string(here("players/node_modules/jsqr/dist/jsQR.js"));
    browser.run(&decoder.expect("jsQR is there; cargo xtask clients installs it"));
    let texts = ["a", "http://10.0.0.5:8000/", "http://leaguebox-3f1a.local:8000/"].map(str::to_owned);
    // The longest of every version, and what is too long.
    let longest = [14, 26, 42, 62, 84, 106].map(|length| "x".repeat(length));
    for text in texts.iter().chain(&longest) {
        let read = browser.eval(&format!(
            "import('/draw.js').then(({{ qr }}) => {{ const rows = qr({text:?}), wide = (rows.length + 8) * 4; \
             const bytes = new Uint8ClampedArray(wide * wide * 4).map((_, at) => at % 4 === 3 || \
             !rows[Math.floor(Math.floor(at / 4 / wide) / 4) - 4]?.[Math.floor(Math.floor(at / 4) % wide / 4) - 4] ? 255 : 0); \
             return jsQR(bytes, wide, wide)?.data; }})"
        ));
        assert_eq!(read, text.as_str());
    }
    assert_eq!(browser.eval(&format!("import('/draw.js').then(({{ qr }}) => qr({:?}).length)", "x".repeat(107))), 0);
    // The one that is shown is of this page.
    let shown = browser.eval("document.querySelector('#code-of-page svg').getAttribute('aria-label')");
    let page = endpoint.as_str().and_then(|endpoint| endpoint.strip_suffix("mcp")).expect("an endpoint").to_owned();
    assert_eq!(shown, format!("QR code of {page}"));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn the_desk_shows_the_pace_the_next_round_the_house_and_the_projector_and_asks_for_them() {
    let leaguebox = LeagueBox::start(Settings::default());
    let _crowd = Crowd::of(&leaguebox, 2);
    let browser = Browser::open();
    // What a box tells between two rounds, and what it answers, said by the test: so that nothing here depends on time.
    browser.before_the_page(
        "window.extra = { board: 'desktop', pace: 'step', waits_for_owner: true, next_round_in_ms: null }; window.asked = []; \
         const Link = WebSocket; \
         window.WebSocket = class extends Link { set onmessage(take) { super.onmessage = event => { \
           const told = JSON.parse(event.data); \
           if (told.status) Object.assign(told.status, window.extra); \
           if (told.player) told.player.sits_out = 'it does not play this game'; \
           take({ data: JSON.stringify(told) }); }; } }; \
         const ask = fetch; \
         window.fetch = (path, options) => { \
           const verb = /admin.(next|house|projector)/.exec(path)?.[1]; \
           if (!verb) { if (options?.headers?.Authorization) window.asked.push(['code', path]); return ask(path, options); } \
           window.asked.push([verb, options.body ? JSON.parse(options.body) : null]); \
           const body = verb === 'projector' ? { projector: 'p-7' } : {}; \
           return Promise.resolve(new Response(JSON.stringify(body), { status: verb === 'house' ? 409 : 200 })); };",
    );
    browser.go(&format!("{}/#projector=p%2D7", leaguebox.url()));
    browser.wait_until("document.querySelectorAll('#players tr').length === 2");
    browser.wait_until("performance.getEntriesByType('resource').length > 0");
    assert_eq!(browser.text("#next-round"), "The next round waits for the teacher.");
    assert_eq!(browser.eval("document.querySelector('#go').hidden"), true, "for those who have the code");
    assert_eq!(browser.text("#players td:nth-child(2)"), "sits out");
    browser.click("#teach");
    browser.fill("#code", &leaguebox.admin_code);
    browser.click("[data-verb=next]");
    browser.click("#add-house");
    browser.wait_until("document.querySelector('#house').hidden");
    browser.click("#projector");
    browser.wait_until("!!document.querySelector('#projected a')");
    assert_eq!(browser.text("#projected a"), format!("{}/#projector=p-7", leaguebox.url()));
    assert_eq!(browser.eval("window.asked"), json!([["next", null], ["house", {"players": 3}], ["projector", null]]));
    browser.click("#desk .close");
    // Whose report it is asked for with the code is told with its examples.
    browser.click("#players .name");
    browser.wait_until("window.asked.some(([what, path]) => what === 'code' && path === '/api/players/P01.json')");
    browser.click("#dialog .close");

    browser.run("window.extra = { pace: 'watch', waits_for_owner: false, next_round_in_ms: 3600000 }");
    assert_eq!(leaguebox.admin_with("settings", r#"{"start_at":5}"#).status, 200);
    browser.wait_until("/^Next round in 3(600|59.) s$/.test(document.querySelector('#next-round').innerText)");
    assert_eq!(browser.eval("document.querySelector('#go').hidden"), true);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn the_pages_own_sha_256_is_sha_256() {
    use sha2::{Digest, Sha256};
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    let lengths = "[0, 1, 3, 32, 36, 55, 56, 63, 64, 65, 119, 120, 500]";
    let hashes = browser.eval(&format!(
        "import('/draw.js').then(({{ hex, sha256 }}) => {lengths}.map(length => \
         hex(sha256(Array.from({{ length }}, (_, at) => at * 7 % 251)))))"
    ));
    let lengths: Vec<usize> = serde_json::from_str(lengths).expect("numbers");
    for (length, hash) in lengths.into_iter().zip(hashes.as_array().expect("hashes")) {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 7 % 251) as u8).collect();
        let wanted: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(*hash, wanted, "{length} bytes");
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_page_is_small_strict_and_takes_nothing_from_outside() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (mut total, mut zipped) = (0, 0);
    for (path, file) in PAGE {
        let text = web(file);
        let head = http::request(leaguebox.address, "HEAD", path, "Accept-Encoding: gzip\r\n", "").expect("a head");
        assert_eq!(head.header("content-encoding"), Some("gzip"), "{path}");
        zipped += head.header("content-length").and_then(|length| length.parse::<usize>().ok()).expect("a length");
        assert!(leaguebox.get(path).body == text, "{path} is {file}");
        total += text.len();
        // The namespace of a picture is a name, not an address.
        let outside = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http://") && !outside.contains("https://"), "{file}");
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "@import", "url("] {
            assert!(!text.contains(way), "{way} in {file}");
        }
    }
    assert!(total <= PLAIN_BYTES && zipped <= PAGE_BYTES, "{total} bytes, {zipped} compressed");
    let page = web("index.html");
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains(" onclick="), "nothing is inline");
    assert_eq!(
        page.matches("<script").count(),
        page.matches("<script type=\"module\" src=\"/page.js\"></script>").count()
    );
    let policy = leaguebox.get("/").header("content-security-policy").expect("a policy").to_owned();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}

/// A JavaScript expression: whether the league is in this state.
fn is(state: &str) -> String {
    format!("document.body.classList.contains('{state}')")
}

fn assert_that_nothing_sticks_out(browser: &Browser, screen: &str) {
    let overflow = browser.eval("document.documentElement.scrollWidth - innerWidth");
    assert!(overflow.as_i64().is_some_and(|pixels| pixels <= 0), "{overflow} pixels stick out on a {screen}");
}

/// A file the box serves.
fn web(name: &str) -> String {
    let text = fs::read_to_string(here("../firmware/appliance/web").join(name)).expect("a file of the page");
    if name == "draw.js" { manual::drawings(&text) } else { text }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn games_of_the_ladder_are_shown_in_the_lobby_with_what_is_said_in_them() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    let ([mut ada, mut bob], id) = arena::matched(&leaguebox, "resource-rush", ["Ada", "Bob"]);
    browser.wait_until("document.querySelectorAll('#matches .card').length === 1");
    browser.wait_until("!!document.querySelector('#board canvas')");
    assert!(browser.text("#matches").contains("ladder · resource-rush"), "{}", browser.text("#matches"));
    let colours =
        browser.eval("[...document.querySelectorAll('#board .key rect')].map(one => one.getAttribute('fill'))");
    assert_eq!(colours.as_array().map(Vec::len), Some(7), "what lies on the map, by its colour: {colours}");
    assert!(browser.text("#board .key").contains("gold"), "{}", browser.text("#board .key"));
    for agent in [&mut ada, &mut bob] {
        agent.link.hear_until("your_turn");
        agent.plays_on(&id, json!({"action": "wait", "thought": format!("{} <b>waits</b>", agent.name)}));
    }
    browser.wait_until("document.querySelector('#matches .said').innerText === '“Ada <b>waits</b>”'");
    browser.wait_until("document.querySelector('#board').innerText.includes('“Bob <b>waits</b>”')");
    browser.keep_picture("ladder.png");
    browser.click("#stage-open");
    browser.wait_until("document.querySelector('#title').innerText === 'Ladder: Ada – Bob'");
    browser.click("#dialog .close");
    // When the league begins it is called off.
    assert_eq!(leaguebox.admin("start").status, 200);
    browser.wait_until(&is("RUNNING"));
    browser.wait_until("!document.querySelector('#matches').innerText.includes('ladder')");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_browser_plays_a_whole_game_of_league_of_agents() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.run(
        r#"
        window.heard = {};
        const play = async (name) => {
            const answer = await fetch("/api/v1/agents", {
                method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({name}),
            });
            const {apiKey} = await answer.json();
            const socket = new WebSocket(`ws://${location.host}/api/v1/ws?type=agent`);
            const say = (message) => socket.send(JSON.stringify(message));
            window.heard[name] = [];
            socket.onopen = () => say({type: "authenticate", token: apiKey});
            socket.onmessage = ({data}) => {
                const message = JSON.parse(data);
                window.heard[name].push(message);
                if (message.type === "authenticated") say({type: "join_queue", gameType: "echo"});
                if (message.type === "your_turn")
                    say({type: "submit_move", gameId: message.gameId, move: {number: name === "Ada" ? 11 - message.round : message.round}});
            };
        };
        play("Ada").then(() => play("Bob"));
        "#,
    );
    let over = |name: &str| format!("(window.heard.{name} || []).find(message => message.type === 'game_over')");
    browser.wait_until(&format!("!!{} && !!{}", over("Ada"), over("Bob")));
    let ranking =
        browser.eval(&format!("{}.rankings.map(ranked => [ranked.agentName, ranked.finalScore])", over("Bob")));
    assert_eq!(ranking, json!([["Ada", 5], ["Bob", 0]]));
    browser.wait_until("[...document.querySelectorAll('#players .rating')].every(one => / ± /.test(one.innerText))");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn rooms_that_wait_are_shown_with_who_waits_in_them_until_play_begins() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    browser.go(&leaguebox.url());
    browser.wait_until(&is("WAITING"));
    assert_eq!(browser.eval("document.querySelector('#waiting').hidden"), true, "nobody waits");
    let ask = |key: &str, path: &str, body: serde_json::Value| {
        let headers = format!("Content-Type: application/json\r\nAuthorization: Bearer {key}\r\n");
        let answer = http::request(leaguebox.address, "POST", &format!("/api/v1{path}"), &headers, &body.to_string());
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    };
    let [ada, bob, eve] = ["Ada", "Bob", "Eve"].map(|name| {
        let answer = ask("", "/agents/register", json!({"name": name, "description": "polls"}));
        answer["agent"]["api_key"].as_str().expect("a key").to_owned()
    });
    let games = leaguebox.get_json("/api/v1/games");
    let landlord = games["games"].as_array().expect("games").iter().find(|game| game["engine_type"] == "landlord");
    let landlord = landlord.and_then(|game| game["id"].as_str()).expect("an id");
    let room = ask(&ada, &format!("/games/{landlord}/rooms"), json!({}))["room_id"].clone();
    let join = |key: &str| ask(key, &format!("/rooms/{}/join", room.as_str().expect("an id")), json!({}));
    join(&bob);
    browser.wait_until("document.querySelectorAll('#rooms li').length === 1");
    browser.wait_until("document.querySelector('#rooms').innerText.includes('room: 2 of 3')");
    let shown = browser.text("#rooms");
    assert!(shown.contains("landlord") && shown.contains("Ada and Bob"), "{shown}");
    assert!(shown.contains("for ") && shown.contains(" s"), "since when: {shown}");
    let told = leaguebox.get_json("/api/waiting.json");
    let told: Vec<_> =
        told["waiting"].as_array().expect("rows").iter().map(|one| (&one["match_id"], &one["seats"])).collect();
    assert_eq!(told, vec![(&json!("R0M1"), &json!(3)); 2]);
    browser.keep_picture("rooms.png");
    join(&eve);
    browser.wait_until("document.querySelector('#matches').innerText.includes('ladder · landlord')");
    browser.wait_until("document.querySelector('#waiting').hidden");
    browser.wait_until("!!document.querySelector('#board .landlord')");
    browser.keep_picture("room-played.png");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn the_chat_is_shown_as_text_its_last_lines_only_and_asked_for_rarely() {
    let leaguebox = LeagueBox::start(Settings::default());
    let browser = Browser::open();
    // What a box with a chat answers, said by the test. Whatever the page does every few seconds it does ten times as often.
    browser.before_the_page(
        "const often = setInterval; window.setInterval = (what, ms) => often(what, ms / 10); window.chat = { status: 200, messages: [] }; window.asked = []; const ask = fetch; \
         window.fetch = (path, options) => { if (!String(path).startsWith('/api/v1/chat/global')) return ask(path, options); \
         window.asked.push(performance.now()); \
         return Promise.resolve(new Response(JSON.stringify({ messages: window.chat.messages }), { status: window.chat.status })); };",
    );
    browser.go(&leaguebox.url());
    browser.wait_until("window.asked.length > 0");
    assert_eq!(browser.eval("document.querySelector('#chat').hidden"), true, "nothing was said");
    browser.run(&format!(
        "window.chat.messages = Array.from({{ length: 30 }}, (_, at) => ({{ id: 'm' + at, sender: {FOREIGN:?}, text: at + {HOSTILE:?}, \
         time: '10:05', created_at: '2026-01-15T10:05:00Z' }}))"
    ));
    browser.wait_until("!document.querySelector('#chat').hidden");
    let lines = browser.eval("[...document.querySelectorAll('#lines li')].map(line => line.lastChild.textContent)");
    assert_eq!(lines, json!((24..30).map(|at| format!("{at}{HOSTILE}")).collect::<Vec<_>>()));
    assert_eq!(browser.eval("document.scripts.length"), 1, "the page's own");
    browser.keep_picture("chat.png");
    let seen = browser.eval("window.asked.length").as_u64().expect("a number");
    browser.wait_until(&format!("window.asked.length > {}", seen + 1));
    let gaps = browser.eval("window.asked.slice(1).map((at, before) => at - window.asked[before])");
    assert!(gaps.as_array().expect("gaps").iter().all(|gap| gap.as_f64() > Some(490.0)), "{gaps}");
    // A box that has none is asked no more.
    browser.run("window.chat = { status: 404 }");
    let seen = browser.eval("window.asked.length").as_u64().expect("a number");
    browser.wait_until(&format!("window.asked.length > {seen}"));
    // Twice as long as until the next time, if there were one.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(browser.eval("window.asked.length"), seen + 1);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn hands_are_seen_by_nobody_while_they_are_played_but_for_the_projector() {
    // Where the hands lie, and how many cards.
    let games = vec![("landlord", 3, ".left", 51), ("texasholdem", 2, ".places", 4)];
    for (game, players, hands, cards) in drawn_here(games, 1) {
        let leaguebox = LeagueBox::start(Settings { game, ..Settings::default() });
        let mut crowd = Crowd::new();
        crowd.hold();
        crowd.enlist(&leaguebox, players);
        let browser = Browser::open();
        browser.go(&leaguebox.url());
        browser.wait_until(&is("WAITING"));
        browser.click("#teach");
        browser.fill("#code", &leaguebox.admin_code);
        browser.click("[data-verb=start]");
        browser.wait_until(&is("RUNNING"));
        let hidden = format!("document.querySelectorAll('#board {hands} .face .behind').length === {cards}");
        let seen = format!("document.querySelectorAll('#board {hands} .face text').length");
        browser.wait_until(&hidden);
        assert_eq!(browser.eval(&seen), 0, "{game}: not even by whoever has typed the owner's code");
        // The owner's own wish: a link that shows all.
        browser.click("#projector");
        browser.wait_until("!!document.querySelector('#projected a')");
        let link = browser.text("#projected a");
        browser.go("about:blank");
        browser.go(&link);
        browser.wait_until(&format!("{seen} >= {cards}"));
        browser.keep_picture(&format!("hands-{game}.png"));
        crowd.release();
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
#[cfg_attr(all(feature = "clients", feature = "board"), ignore = "the page's own work, the same from any box")]
fn no_card_of_landlord_covers_the_rank_of_another() {
    let leaguebox = LeagueBox::start(Settings { game: "landlord", ..Settings::start_at(3) });
    let browser = Browser::open();
    let _crowd = Crowd::of(&leaguebox, 3);
    browser.go(&leaguebox.url());
    browser.wait_until(&is("COMPLETED"));
    browser.wait_until("!!document.querySelector('#board .landlord')");
    // The worst there is: twenty cards of two digits each.
    let covered = "import('/draw.js').then(({ draw }) => { \
        const ids = ['P01', 'P02', 'P03'], of = value => Object.fromEntries(ids.map(id => [id, value])); \
        const view = { deal: 1, deals: 3, phase: 'playing', to_move: 'P01', scores: of(0), cards_left: of(20), bids: of(null), kitty: ['10', '10', '10'], \
          landlord: 'P01', worth: 3, trick: of(Array(20).fill('10')), hands: of(Array(20).fill('10')) }; \
        document.querySelector('#board').replaceChildren(draw('landlord', ids.map(id => ({ id, name: id })), { view })); \
        return [...document.querySelectorAll('#board .fan')].flatMap(fan => [...fan.children].filter((card, at) => { \
          const next = fan.children[at + 1]?.getBoundingClientRect(), text = card.querySelector('text').getBoundingClientRect(); \
          return next && next.top === card.getBoundingClientRect().top && text.right > next.left + .5; })).length; })";
    for (screen, width, height) in SCREENS {
        browser.resize(width, height);
        assert_eq!(browser.eval(covered), 0, "{screen}");
        assert_that_nothing_sticks_out(&browser, screen);
        browser.keep_picture(&format!("twenty-tens-{screen}.png"));
    }
}
