//! Real agents on FastAPI and Flask, one per dialect and per family seen in the wild, all in one league.

mod schema;

use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::results;
use host_tests::settings::Settings;

const PLAYERS: [(&str, &str); 11] = [
    ("fastapi_player", "canonical"),
    ("fastapi_player", "message"),
    ("fastapi_player", "nested"),
    ("fastapi_player", "mcp"),
    ("fastapi_player", "bare"),
    ("flask_player", "canonical"),
    ("flask_player", "flat"),
    ("flask_player", "request"),
    ("flask_player", "post"),
    ("flask_player", "quirks"),
    ("flask_player", "early"),
];

/// Every family, and the example a student starts from.
const COUNT: usize = PLAYERS.len() + 1;

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn every_family_plays_a_whole_league_without_a_technical_loss() {
    let leaguebox = LeagueBox::start(Settings::start_at(COUNT));
    // In Hebrew and with an emoji: Python sends them as \u escapes, the emoji as a surrogate pair.
    let name = |script: &str, dialect: &str| format!("{} שחקן 🎲 {dialect}", script.replace("_player", ""));
    let _example = Player::example(&leaguebox, "Ada");
    let mut players: Vec<Player> = PLAYERS
        .iter()
        .map(|(script, dialect)| Player::start(&leaguebox, script, dialect, &name(script, dialect), &[]))
        .collect();
    for player in &mut players {
        let answer = player.wait_until_registered();
        assert_eq!(schema::answer_faults(&answer), Vec::<String>::new(), "{} is told {answer}", player.name);
    }
    for player in &players {
        player.wait_for_the_end();
    }

    let standings = leaguebox.get_json("/api/standings.json");
    let names: Vec<_> =
        standings["standings"].as_array().expect("standings").iter().map(|row| &row["display_name"]).collect();
    for player in &players {
        assert!(names.iter().any(|name| **name == *player.name), "{} is not in {names:?}", player.name);
    }
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), COUNT * (COUNT - 1) / 2);
    let lost: Vec<_> = rows.iter().filter(|row| row.get("status") == "TECHNICAL_LOSS").collect();
    assert!(lost.is_empty(), "{lost:?}\n{standings}");
    results::assert_standings_follow(&standings, &rows);

    for player in &players {
        assert_eq!(player.received_of("GAME_OVER").len(), COUNT - 1, "{} hears every result", player.name);
        // The bare family logs wrong dialects too, while the box still finds out how to talk to it.
        let messages: Vec<_> =
            player.received().into_iter().filter(|message| message.get("jsonrpc").is_none()).collect();
        schema::assert_calls_are_valid(&messages);
    }
    let bare = players.iter_mut().find(|player| player.name.ends_with("bare")).expect("the bare player");
    assert_eq!(bare.wait_until_it_ends(), Some(0), "the bare family leaves when the league is over");
}

/// The smallest league that a class has, of the players most students write.
#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn four_fastapi_players_play_a_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let names = ["Ada", "Grace", "Barbara", "Radia"];
    let players = names.map(|name| Player::start(&leaguebox, "fastapi_player", "canonical", name, &[]));
    for player in &players {
        player.wait_for_the_end();
    }
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_player_plays_both_forms_of_the_game() {
    for game in ["even_odd", "even_odd_10"] {
        let leaguebox = LeagueBox::start(Settings { game, ..Settings::start_at(2) });
        let _ada = Player::example(&leaguebox, "Ada");
        let _grace = Player::example(&leaguebox, "Grace");
        leaguebox.wait_for_the_champion();
        let rows = results::parse(&leaguebox.get("/api/results.csv").body);
        assert_ne!(rows[0].get("status"), "TECHNICAL_LOSS", "{game}: {rows:?}");
        let standings = leaguebox.get("/api/standings.json").body;
        assert!(standings.contains("Ada") && standings.contains("Grace"), "{game}: {standings}");
    }
}
