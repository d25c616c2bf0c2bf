//! What agents read about League of Agents says what the code says: every error in its own words, every game by its name
//! and with moves the game knows, every member of what a game shows.

use std::collections::BTreeSet;

use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, Illegal, Seats, Sitter, Table, Viewer};
use protocol_core::json;
use protocol_core::protocols::league_of_agents::incoming::RefusedName;
use protocol_core::protocols::league_of_agents::outgoing::GameState;
use protocol_core::protocols::league_of_agents::{Trouble, Uuid, games, specifies};
use serde_json::Value;

fn text() -> String {
    manual::document(include_str!("../web/league-of-agents.md"))
}

fn data() -> Value {
    let text = manual::document(include_str!("../web/league-of-agents.json"));
    serde_json::from_str(&text).expect("the document for programs is JSON")
}

/// What a player sees of a game that begins.
fn seen(kind: GameKind) -> Value {
    let names = ["a", "b", "c", "d"].map(|name| Sitter { id: name, name, ..Sitter::default() });
    let game = AnyGame::start(kind, *kind.rules().seats.start(), &mut Draws::new(Seed([1; 32])));
    let state = GameState {
        game_id: Uuid::new([0; 16]),
        game: &game,
        table: Table(&names),
        viewer: Viewer::Seat(0),
        thinking: Seats::NONE,
        spectators: 0,
    };
    let mut room = vec![0; 40_000];
    let mut sink = json::Slice::new(&mut room);
    json::write(&state, &mut sink).unwrap();
    serde_json::from_slice(sink.written()).unwrap()
}

fn members(object: &Value) -> BTreeSet<&str> {
    object.as_object().into_iter().flat_map(|object| object.keys().map(String::as_str)).collect()
}

fn words(list: &Value) -> BTreeSet<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn every_trouble_stands_there_word_for_word() {
    let (text, data) = (text(), data());
    for trouble in Trouble::ALL {
        assert!(text.contains(&format!("| `{}` |", trouble.text())), "{trouble:?}");
        let (list, words) = if trouble.is_about_a_move() { ("move_result", "error") } else { ("error", "message") };
        let told = data["errors"][list].as_array().unwrap().iter().find(|told| told[words] == trouble.text());
        let told = told.unwrap_or_else(|| panic!("{trouble:?} is not in the document for programs"));
        assert_eq!(told["closes"].as_u64(), trouble.closes().map(u64::from), "{trouble:?}");
    }
    for refused in RefusedName::ALL {
        assert!(text.contains(&format!("| {} | `{}` |", refused.status(), refused.text())), "{refused:?}");
        let told = serde_json::json!({"status": refused.status(), "error": refused.text()});
        assert!(data["errors"]["registration"].as_array().unwrap().contains(&told), "{refused:?}");
    }
}

#[test]
fn every_game_stands_there_with_its_size_and_all_that_it_shows() {
    let data = data();
    assert_eq!(members(&data["games"]), games().map(|kind| kind.rules().name).collect());
    for kind in games() {
        let rules = kind.rules();
        let page = manual::page(kind);
        let told = &data["games"][rules.name];
        assert_eq!(told["players"], *rules.seats.start());
        assert_eq!(told["maxRounds"], rules.turns);
        assert_eq!(told["page"], manual::path(kind));
        let seen = seen(kind);
        for part in ["extra", "publicState"] {
            // What others show stands on their pages alone.
            if specifies(rules.name) {
                assert_eq!(words(&told[part]), members(&seen[part]), "{} {part}", rules.name);
            }
            for member in members(&seen[part]) {
                assert!(page.contains(&format!("`{member}`")), "{} {part}.{member}", rules.name);
            }
        }
    }
}

#[test]
fn every_move_that_stands_there_is_one_the_game_understands() {
    // Refused for what it would do and not for how it is written: the field that is named is right.
    let situations = ["target", "skill", "action", "direction: there is", "direction: the map ends"];
    for kind in games() {
        for wanted in data()["games"][kind.rules().name]["moves"].as_array().unwrap() {
            let mut draws = Draws::new(Seed([1; 32]));
            let mut game = AnyGame::start(kind, *kind.rules().seats.start(), &mut draws);
            let wanted = wanted.to_string();
            if let Err(Illegal(rule)) = game.play(0, json::parse(wanted.as_bytes()).unwrap(), &mut draws) {
                assert!(situations.iter().any(|word| rule.starts_with(word)), "{wanted}: {rule}");
                assert!(!rule.contains(" or \""), "{wanted}: {rule}");
            }
        }
    }
}

#[test]
fn every_example_for_people_is_json() {
    let text = text();
    let blocks = text.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("json\n"));
    let mut examples = 0;
    for block in blocks {
        for example in serde_json::Deserializer::from_str(block).into_iter::<Value>() {
            example.unwrap_or_else(|error| panic!("{error} in {block}"));
            examples += 1;
        }
    }
    assert!(examples > 15);
}

#[test]
fn the_page_fits_its_place_in_flash() {
    assert!(text().len() <= 20 * 1024, "{} bytes", text().len());
}
