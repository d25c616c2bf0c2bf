//! The specifications' own examples: all are JSON, and the league.v2 ones obey the schemas written from the tables.

mod schema;

use host_tests::here;
use serde_json::Value;
use std::collections::BTreeSet;

fn examples() -> Vec<(String, Value)> {
    let mut all: Vec<_> = std::fs::read_dir(here("spec-examples"))
        .expect("the examples")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("readable");
            let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, value)
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// The message inside its JSON-RPC envelope, or the bare message.
fn message(example: &Value) -> &Value {
    match example.get("jsonrpc") {
        Some(_) => example.get("params").unwrap_or(&example["result"]),
        None => example,
    }
}

/// These printed examples break the table of their own specification. The box keeps to the table.
const BREAKS_ITS_OWN_TABLE: [(&str, &str); 2] = [
    ("appendix-game_error-2", "no conversation_id, no action_required"),
    ("appendix-league_error", "no affected_player, no action_required"),
];

#[test]
fn every_example_of_both_specifications_is_json() {
    assert_eq!(examples().len(), 56);
}

#[test]
fn the_league_v2_examples_obey_the_schemas() {
    let mut covered = BTreeSet::new();
    for (name, example) in examples() {
        let message = message(&example);
        if message["protocol"] != "league.v2" {
            continue;
        }
        let mut faults = schema::faults("spec/envelope", message);
        let kind = message["message_type"].as_str().expect("a message type").to_owned();
        if here(&format!("schemas/spec/{kind}.json")).exists() {
            faults.extend(schema::faults(&format!("spec/{kind}"), message));
            covered.insert(kind);
        }
        let known = BREAKS_ITS_OWN_TABLE.iter().any(|(broken, _)| *broken == name);
        assert_eq!(!faults.is_empty(), known, "{name}: {faults:?}");
    }
    assert_eq!(covered.len(), 12, "message types seen: {covered:?}");
}

#[test]
fn the_generic_move_examples_obey_the_schemas() {
    for (name, example) in examples() {
        let kind = message(&example)["message_type"].as_str().unwrap_or_default().to_owned();
        if kind.starts_with("MOVE_RE") && kind != "MOVE_RESPONSE" || kind == "MOVE_VALIDATION" {
            let faults = schema::faults(&format!("spec/{kind}"), &example);
            assert!(faults.is_empty(), "{name}: {faults:?}");
        }
    }
}

#[test]
fn the_log_example_obeys_the_log_schema() {
    let (_, line) = examples().into_iter().find(|(name, _)| name.starts_with("logging-")).expect("the log example");
    assert_eq!(schema::faults("spec/log-line", &line), Vec::<String>::new());
}

/// A schema that accepts everything would prove nothing: taking away any required field must be noticed.
#[test]
fn a_schema_misses_no_missing_field() {
    let kinds = ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "ROUND_ANNOUNCEMENT", "LEAGUE_COMPLETED"];
    for (name, example) in examples() {
        let message = message(&example);
        let kind = message["message_type"].as_str().unwrap_or_default();
        if !name.starts_with("appendix-") || !kinds.contains(&kind) {
            continue;
        }
        let text = std::fs::read_to_string(here(&format!("schemas/spec/{kind}.json"))).expect("the schema");
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        for field in schema["required"].as_array().expect("required fields") {
            let mut poorer = message.clone();
            poorer.as_object_mut().expect("an object").remove(field.as_str().expect("a name"));
            assert!(!schema::faults(&format!("spec/{kind}"), &poorer).is_empty(), "{kind} without {field}");
        }
    }
}
