//! Debates: two agents speak by turns, byte for byte whatever they say, and an audience votes. On the desktop and on a board.

#[allow(dead_code, reason = "another test uses more of it")]
#[path = "../page/browser.rs"]
mod browser;

use std::path::{Path, PathBuf};
use std::time::Duration;

use browser::Browser;
use host_tests::arena::Agent;
use host_tests::http::Response;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wait_for;
use serde_json::{Value, json};

const VOTE: &str = "/api/matches/R1M1/vote";

fn settings() -> Settings {
    Settings { game: "regular_debate", ..Settings::start_at(2) }
}

fn memory(name: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&file);
    file
}

/// What is said in a turn: two players with a voice of their own, the longest speeches there are first.
fn speech(turn: usize) -> String {
    let length = if turn <= 4 { 2_000 } else { 40 * turn };
    let voice =
        if turn % 2 == 1 { "שלום לכולם, \"כן\"\n— זה נכון? " } else { "🙂👩‍🚀 \\ café\t" };
    format!("{turn}: ").chars().chain(voice.chars().cycle()).take(length).collect()
}

/// Two agents debate until all is said: what each of them has heard of the other.
fn debate(leaguebox: &LeagueBox, speech: impl Fn(usize) -> String) -> [Vec<Value>; 2] {
    let mut agents = ["Ada", "Bob"].map(|name| Agent::register(leaguebox, name));
    // Who begins is drawn; from then on it is the other one's turn.
    let first = wait_for("somebody is to speak", || {
        leaguebox.get_json("/api/matches/R1M1.json")["view"]["to_speak"].as_str().map(str::to_owned)
    });
    let first = usize::from(first == "P02");
    let mut heard: [Vec<Value>; 2] = Default::default();
    for turn in 1..=20 {
        let at = (first + turn + 1) % 2;
        let game = loop {
            let mut said = agents[at].link.hear();
            match said["type"].as_str() {
                Some("your_turn") => break said["gameId"].take(),
                _ => heard[at].push(said),
            }
        };
        agents[at].plays_on(game.as_str().expect("a game"), json!({"text": speech(turn)}));
    }
    wait_for("the vote is open", || (poll(leaguebox)["vote"] == "open").then_some(()));
    heard
}

fn poll(leaguebox: &LeagueBox) -> Value {
    leaguebox.get(VOTE).json()
}

fn vote(leaguebox: &LeagueBox, page: usize, player: &str) -> Response {
    leaguebox.post(VOTE, &json!({"for": player, "voter": format!("page-{page:08}")}).to_string())
}

/// A phone that is told to come back later comes back.
fn votes(leaguebox: &LeagueBox, page: usize, player: &str) {
    let is_counted = || match vote(leaguebox, page, player).status {
        200 => Some(()),
        429 | 503 => None,
        status => panic!("{status}"),
    };
    wait_for("a vote is counted", is_counted);
}

fn close(leaguebox: &LeagueBox) {
    let closed = leaguebox.admin_with("vote", r#"{"match_id":"R1M1","open":false}"#);
    assert_eq!(closed.status, 200, "{}", closed.body);
}

#[test]
fn a_debate_in_hebrew_and_emoji_is_heard_and_filmed_byte_for_byte() {
    let leaguebox = LeagueBox::start(settings());
    let heard = debate(&leaguebox, speech);
    // Each has heard all of what the other one said last.
    for turn in 1..20 {
        let said = format!("{}", json!(speech(turn)));
        assert!(heard.iter().flatten().any(|state| state.to_string().contains(&said)), "turn {turn}");
    }
    for when in ["while it is voted on", "when it is over"] {
        let told = leaguebox.get_json("/api/matches/R1M1/speeches.json");
        let speeches = told["speeches"].as_array().expect("speeches");
        assert_eq!(speeches.len(), 20, "{when}");
        for (at, one) in speeches.iter().enumerate() {
            assert_eq!(one["text"], speech(at + 1), "{when}, speech {}", at + 1);
            assert_eq!((&one["truncated"], &one["late"]), (&json!(false), &json!(false)));
        }
        assert!(told["topic"].is_string(), "{told}");
        if poll(&leaguebox)["vote"] == "open" {
            close(&leaguebox);
        }
    }
    // Its moves are told as others are, with the beginning of each speech; the topic, the votes and the end are steps too.
    let told = leaguebox.get_json("/api/matches/R1M1/moves.json");
    assert_eq!((&told["complete"], told["moves"].as_array().map(Vec::len)), (&json!(true), Some(23)), "{told}");
    assert_eq!(told["moves"][1]["move"]["bytes"], speech(1).len());
    let last = leaguebox.get_json("/api/matches/R1M1/steps/23.json");
    assert_eq!(last["view"]["stage"], "over");
    leaguebox.wait_for_the_champion();
}

#[test]
fn what_is_longer_than_two_thousand_characters_is_cut_and_told_so() {
    let leaguebox = LeagueBox::start(settings());
    assert_eq!(leaguebox.admin_with("topic", r#"{"topic":"מה שאומר המורה"}"#).status, 200);
    assert_eq!(leaguebox.get_json("/api/settings.json")["topic"], "מה שאומר המורה");
    debate(&leaguebox, |turn| if turn == 1 { "א".repeat(2_500) } else { "Well.".into() });
    let told = leaguebox.get_json("/api/matches/R1M1/speeches.json");
    let first = &told["speeches"][0];
    assert_eq!((&first["text"], &first["truncated"]), (&json!("א".repeat(2_000)), &json!(true)));
    assert_eq!(told["topic"], "מה שאומר המורה");
    assert_eq!(leaguebox.get("/api/matches/R9M9/speeches.json").status, 404);
}

#[test]
fn thirty_phones_vote_at_once_each_counts_once_over_a_power_cut_and_a_late_vote_is_refused_in_words() {
    let file = memory("votes.flash");
    let mut leaguebox = LeagueBox::with_memory(settings(), &file);
    assert_eq!(vote(&leaguebox, 0, "P01").status, 404, "there is no match");
    debate(&leaguebox, |turn| format!("Speech {turn}"));
    assert_eq!(vote(&leaguebox, 0, "P03").status, 400);
    assert_eq!(leaguebox.post(VOTE, r#"{"for":"P01","voter":"short"}"#).status, 400);
    assert_eq!(leaguebox.post(VOTE, "[]").status, 400);
    let wave = |leaguebox: &LeagueBox, pages: std::ops::Range<usize>| {
        std::thread::scope(|scope| {
            for page in pages {
                scope.spawn(move || votes(leaguebox, page, if page % 3 == 0 { "P01" } else { "P02" }));
            }
        });
    };
    wave(&leaguebox, 0..15);
    assert_eq!(poll(&leaguebox)["votes"], json!({"P01": 5, "P02": 10}));
    cut(&mut leaguebox, &file);
    assert_eq!(poll(&leaguebox)["votes"], json!({"P01": 5, "P02": 10}), "none is lost");
    assert_eq!(poll(&leaguebox)["vote"], "open", "and it goes on");
    let speeches = leaguebox.get_json("/api/matches/R1M1/speeches.json");
    assert_eq!(speeches["speeches"][19]["text"], "Speech 20", "nor is a word");
    // Those from before vote again: it is the same page, and the last word of each counts.
    wave(&leaguebox, 0..30);
    assert_eq!(poll(&leaguebox)["votes"], json!({"P01": 10, "P02": 20}));
    votes(&leaguebox, 1, "P01");
    let mine = leaguebox.get(&format!("{VOTE}?voter=page-00000001")).json();
    assert_eq!((&mine["yours"], &mine["votes"]), (&json!("P01"), &json!({"P01": 11, "P02": 19})));
    assert_eq!(mine["crowd"], json!(null));
    votes(&leaguebox, 30, "P02");
    assert_eq!(poll(&leaguebox)["crowd"], 31, "more than a class has");
    close(&leaguebox);
    let late = vote(&leaguebox, 31, "P01");
    assert_eq!((late.status, &late.json()["error"]), (409, &json!("The vote is closed")));
    let result = leaguebox.get_json("/api/matches/R1M1.json");
    assert_eq!((&result["winner"], &result["game_result"]["total_votes"]), (&json!("P02"), &json!(31)), "{result}");
}

/// Pulls the plug and puts it back.
fn cut(leaguebox: &mut LeagueBox, file: &Path) {
    #[cfg(feature = "emulator")]
    {
        let _ = file;
        let seen = leaguebox.board().log_position();
        leaguebox.board().power_cycle().expect("a plug");
        leaguebox.wait_until_it_is_back(seen);
    }
    #[cfg(not(feature = "emulator"))]
    {
        // The old one goes before the new one has its file.
        let old = std::mem::replace(leaguebox, LeagueBox::start(Settings::default()));
        drop(old);
        *leaguebox = LeagueBox::as_it_was(file);
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_class_reads_a_debate_from_the_back_row_and_votes_by_one_tap() {
    let leaguebox = LeagueBox::start(settings());
    let browser = Browser::open();
    browser.resize(1920, 1080);
    browser.go(&leaguebox.url());
    debate(&leaguebox, |turn| {
        match turn {
        19 => "לדעתי, \"כן\" — והסיבה פשוטה: מי ששואל לומד, ומי שלומד משתנה. זה לא עניין של טעם (taste) אלא של ניסיון.\n\nHere a line goes the other way.".into(),
        turn => format!("Speech {turn}. Think of what we gain, and of whom it concerns. 🙂"),
    }
    });
    browser.wait_until("document.querySelectorAll('#board .choice').length === 2");
    browser.wait_until("document.querySelectorAll('#board .debate li').length === 20");
    // Hebrew runs from right to left, and a line of English below it from left to right.
    let size = browser.eval("parseFloat(getComputedStyle(document.querySelector('#board .latest .words')).fontSize)");
    assert!(size.as_f64().expect("a size") >= 24.0, "the back row cannot read {size}");
    browser.keep_picture("debate-large.png");
    votes(&leaguebox, 1, "P01");
    votes(&leaguebox, 2, "P01");
    browser.wait_until("document.querySelector('#board .votes').textContent.includes('2')");
    browser.resize(390, 844);
    browser.click("#board .choice:last-child");
    browser.wait_until("document.querySelector('#board .choice:last-child').getAttribute('aria-pressed') === 'true'");
    wait_for("the vote is counted", || {
        (poll(&leaguebox)["votes"]["P02"] == 1 || poll(&leaguebox)["votes"]["P01"] == 3).then_some(())
    });
    browser.keep_picture("debate-phone.png");
    browser.click("#board .choice:first-child");
    browser.wait_until("document.querySelector('#board .choice:first-child').getAttribute('aria-pressed') === 'true'");
    let all = |poll: &Value| poll["votes"]["P01"].as_u64().unwrap_or(0) + poll["votes"]["P02"].as_u64().unwrap_or(0);
    wait_for("it is changed and counted once", || {
        let now = poll(&leaguebox);
        (all(&now) == 3).then_some(())
    });
    assert_eq!(browser.eval("document.documentElement.scrollWidth <= innerWidth"), json!(true), "nothing sticks out");
    close(&leaguebox);
    browser.wait_until("document.querySelector('#board .verdict') !== null");
    std::thread::sleep(Duration::from_millis(300));
    browser.keep_picture("debate-over.png");
    browser.resize(1920, 1080);
    browser.click("#stage-open");
    browser.wait_until("document.querySelectorAll('#body .moves li').length === 23");
    browser.keep_picture("debate-film.png");
}
