//! The JSON Schemas in `schemas/`, and who must obey which.
//!
//! `schemas/spec` says what the specifications demand of a message, `schemas/box` what real agents demand beyond them.
//! A message of the box must satisfy both; the specifications' own examples only the first.
//!
//! A module of the tests and not of the library, which `cargo run` builds: the validator is large.

// Each test uses its part.
#![allow(dead_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use host_tests::here;
use jsonschema::Validator;
use serde_json::Value;

thread_local! {
    /// Read once: a league has thousands of messages.
    static VALIDATORS: RefCell<HashMap<String, Rc<Validator>>> = RefCell::default();
}

fn validator(schema: &str) -> Rc<Validator> {
    let read = || {
        let text = std::fs::read_to_string(here("schemas").join(format!("{schema}.json")))
            .unwrap_or_else(|error| panic!("schema {schema}: {error}"));
        let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
        Rc::new(jsonschema::validator_for(&schema).expect("a schema is a schema"))
    };
    VALIDATORS.with_borrow_mut(|known| known.entry(schema.to_owned()).or_insert_with(read).clone())
}

/// The rules a message breaks, in words; empty when it is right.
pub fn faults(schema: &str, message: &Value) -> Vec<String> {
    validator(schema)
        .iter_errors(message)
        .map(|error| format!("{schema}: {error} at `{}`", error.instance_path()))
        .collect()
}

fn type_of(message: &Value) -> &str {
    message["message_type"].as_str().unwrap_or("(no message_type)")
}

fn exists(schema: &str) -> bool {
    here("schemas").join(format!("{schema}.json")).exists()
}

/// What is wrong with an answer of the box (a registration response, a query response, an error).
pub fn answer_faults(message: &Value) -> Vec<String> {
    let kind = type_of(message);
    if !exists(&format!("spec/{kind}")) {
        return vec![format!("no message the box may send: {message}")];
    }
    let mut all = Vec::new();
    for schema in ["spec/envelope", "box/envelope", &format!("spec/{kind}"), &format!("box/{kind}")] {
        if exists(schema) {
            all.extend(faults(schema, message));
        }
    }
    all
}

/// What is wrong with a message the box sent to a player by itself.
pub fn call_faults(message: &Value) -> Vec<String> {
    let mut all = answer_faults(message);
    all.extend(faults("box/call", message));
    all
}

/// The message in a call, whatever dialect it was put in: the box tries others on a player it cannot make out. The bare
/// dialect has no `params`, which is where players log from.
fn unwrapped(call: &Value) -> Option<&Value> {
    let inner = call.get("message").or_else(|| call.get("arguments")).unwrap_or(call);
    (inner != &serde_json::json!({})).then_some(inner)
}

/// Fails the test with every fault of every message, each fault once.
pub fn assert_calls_are_valid<'a>(messages: impl IntoIterator<Item = &'a Value>) {
    let mut all: Vec<String> = messages
        .into_iter()
        .filter_map(unwrapped)
        .flat_map(|message| call_faults(message).into_iter().map(move |fault| format!("{}: {fault}", type_of(message))))
        .collect();
    all.sort();
    all.dedup();
    assert!(all.is_empty(), "the box sent invalid messages:\n{}", all.join("\n"));
}
