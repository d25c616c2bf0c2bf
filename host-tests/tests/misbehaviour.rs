//! One player that breaks the rules among honest ones. It loses its own matches, and costs nobody else anything.

mod schema;

use host_tests::crowd::{Crowd, Event};
use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::results::{self, Row};
use host_tests::settings::Settings;
use serde_json::Value;

const HONEST: usize = 3;

struct League {
    /// The id of the odd one out.
    culprit: String,
    rows: Vec<Row>,
    /// What the honest ones heard, in order.
    events: Vec<Event>,
    /// What the odd one heard, in order.
    heard: Vec<Value>,
    /// What the box says of the odd one.
    report: Value,
}

impl League {
    /// Its matches and how they ended.
    fn of_the_culprit(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| [row.get("player_a"), row.get("player_b")].contains(&self.culprit.as_str()))
    }

    fn assert_culprit_loses_everything(&self) {
        for row in self.of_the_culprit() {
            assert_eq!(row.get("status"), "TECHNICAL_LOSS", "{row:?}");
            assert_ne!(row.get("winner"), self.culprit, "{row:?}");
            assert_ne!(row.get("winner"), "", "the honest one wins: {row:?}");
        }
    }

    fn errors(&self) -> Vec<&Value> {
        self.heard.iter().filter(|message| message["message_type"] == "GAME_ERROR").collect()
    }
}

/// Three honest players and one of `kind` play a league with short deadlines. Whatever the kind, every match ends, the
/// honest ones play each other properly, and each hears of every result.
fn league_with(kind: &str, extra: &[&str]) -> League {
    // A board sends an announcement in two pieces, and a computer may take 40 ms to ask for the second.
    let deadlines =
        Settings { join_timeout_ms: 500, move_timeout_ms: 1000, retry_base_ms: 200, ..Settings::start_at(4) };
    let leaguebox = LeagueBox::start(deadlines);
    let mut player = Player::start(&leaguebox, "misbehaving", kind, kind, extra);
    let culprit = player.wait_until_registered()["player_id"].as_str().expect("an id").to_owned();
    let crowd = Crowd::of(&leaguebox, HONEST);
    crowd.wait_for_the_end();
    if kind == "aloof" {
        player.wait_for_the_end();
    }
    let report = leaguebox.get_json(&format!("/api/players/{culprit}.json"));

    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), 6, "every match ends");
    results::assert_points_follow(&rows);
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
    for row in rows.iter().filter(|row| ![row.get("player_a"), row.get("player_b")].contains(&culprit.as_str())) {
        assert_ne!(row.get("status"), "TECHNICAL_LOSS", "two honest players: {row:?}");
    }
    let events = crowd.events();
    for honest in 0..HONEST {
        let results = events.iter().filter(|event| event.player == honest && event.is("GAME_OVER")).count();
        assert_eq!(results, 3, "player {honest} hears the result of each of its matches");
    }
    let heard = player.received();
    schema::assert_calls_are_valid(events.iter().map(|event| &event.message).chain(&heard));
    League { culprit, rows, events, heard, report }
}

/// When, in the order of events, the first player was told the result of a match.
fn over(events: &[Event], match_id: &str) -> usize {
    let place = events.iter().position(|event| event.is("GAME_OVER") && event.message["match_id"] == match_id);
    place.unwrap_or_else(|| panic!("nobody heard how {match_id} ended"))
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn while_one_player_hangs_the_other_match_of_the_round_finishes() {
    let league = league_with("hung", &[]);
    league.assert_culprit_loses_everything();
    let first_round = |of_the_culprit: bool| {
        let mut rows = league.rows.iter().filter(|row| row.get("round_id") == "1");
        let concerned = |row: &&Row| [row.get("player_a"), row.get("player_b")].contains(&league.culprit.as_str());
        rows.find(|row| concerned(row) == of_the_culprit).expect("two matches a round").get("match_id")
    };
    assert!(
        over(&league.events, first_round(false)) < over(&league.events, first_round(true)),
        "the honest match does not wait for the hung one"
    );
    assert!(!league.heard.is_empty(), "it was called");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_player_that_nobody_can_reach_loses() {
    let league = league_with("dead", &[]);
    league.assert_culprit_loses_everything();
    assert!(league.heard.is_empty());
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn an_invalid_choice_is_asked_again_three_times_then_loses() {
    let league = league_with("maybe", &[]);
    league.assert_culprit_loses_everything();
    let first = &league.errors()[0]["match_id"];
    let errors: Vec<_> = league.errors().into_iter().filter(|error| error["match_id"] == *first).collect();
    let counts: Vec<_> = errors.iter().filter_map(|error| error["retry_count"].as_u64()).collect();
    assert_eq!(counts, [1, 2, 3]);
    for error in errors {
        assert_eq!(error["error_code"], "E004", "{error}");
        assert_eq!(error["error_description"], "INVALID_PARITY_CHOICE", "{error}");
        assert_eq!(error["affected_player"], *league.culprit, "{error}");
        assert_eq!(error["retryable"], true, "{error}");
        assert_eq!(error["max_retries"], 3, "{error}");
    }
    let calls = league.heard.iter().filter(|message| message["message_type"] == "CHOOSE_PARITY_CALL");
    assert_eq!(calls.filter(|call| call["match_id"] == *first).count(), 4, "once, and three times again");
    let overs = league.heard.iter().filter(|message| message["message_type"] == "GAME_OVER").count();
    assert_eq!(overs, 3, "it hears how its matches ended");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_player_that_answers_after_its_deadline_loses() {
    let league = league_with("slow", &["--seconds", "4"]);
    league.assert_culprit_loses_everything();
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_player_that_thinks_but_answers_in_time_plays() {
    let league = league_with("slow", &["--seconds", "0.1"]);
    for row in league.of_the_culprit() {
        assert_ne!(row.get("status"), "TECHNICAL_LOSS", "{row:?}");
    }
    assert!(league.errors().is_empty());
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_player_that_answers_news_late_or_never_plays_and_hears_everything() {
    for seconds in ["0", "3"] {
        let league = league_with("aloof", &["--seconds", seconds]);
        for row in league.of_the_culprit() {
            assert_ne!(row.get("status"), "TECHNICAL_LOSS", "{row:?}");
        }
        let heard: Vec<&str> = league.heard.iter().filter_map(|message| message["message_type"].as_str()).collect();
        for name in ["ROUND_ANNOUNCEMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"] {
            assert_eq!(heard.iter().filter(|heard| **heard == name).count(), 3, "{name}: {heard:?}");
        }
        assert_eq!(heard.last(), Some(&"LEAGUE_COMPLETED"));
        let rules = league.report["compliance"].as_array().expect("a report");
        assert!(rules.iter().any(|rule| rule["rule"] == "news_unanswered"), "{}", league.report);
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_player_that_declines_loses() {
    let league = league_with("decliner", &[]);
    league.assert_culprit_loses_everything();
    assert!(!league.heard.iter().any(|message| message["message_type"] == "CHOOSE_PARITY_CALL"));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_player_that_answers_no_json_loses() {
    league_with("garbage", &[]).assert_culprit_loses_everything();
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_player_that_answers_a_megabyte_loses() {
    league_with("huge", &[]).assert_culprit_loses_everything();
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn two_hung_players_both_lose_their_match() {
    let deadlines = Settings { join_timeout_ms: 300, retry_base_ms: 20, ..Settings::start_at(2) };
    let leaguebox = LeagueBox::start(deadlines);
    let mut players = ["one", "two"].map(|name| Player::start(&leaguebox, "misbehaving", "hung", name, &[]));
    for player in &mut players {
        player.wait_until_registered();
    }
    let rows = host_tests::wait_for("the match ends", || {
        let rows = results::parse(&leaguebox.get("/api/results.csv").body);
        rows.iter().any(|row| !row.get("finished_at").is_empty()).then_some(rows)
    });
    assert_eq!((rows[0].get("status"), rows[0].get("winner")), ("TECHNICAL_LOSS", ""));
    assert_eq!((rows[0].get("points_a"), rows[0].get("points_b")), ("0", "0"));
    assert!(!rows[0].get("drawn_number").is_empty(), "a number is drawn even then");
}
