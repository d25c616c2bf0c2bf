//! A record of every message of league.v2, in and out: a line of JSON each, in the order in which they were heard and said. Tokens are
//! not in it: whoever reads a record must not be able to play for somebody.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use appliance::board::Said;
use protocol_core::json::{Full, Sink};
use protocol_core::time::Utc;
use serde_json::{Value, json};

use crate::failure::Failure;

/// What stands for the secret part of a token.
const MASK: &str = "*";

/// Where messages are taken down.
pub struct Recorder {
    file: File,
    /// Requests so far: an answer is that to the last.
    requests: u64,
    has_failed: bool,
}

/// A text of any length.
struct Text(Vec<u8>);

impl Sink for Text {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

impl Recorder {
    /// Begins a record in a new file, or in the place of an old one.
    pub fn create(file: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::work(format!("cannot write the record {}: {error}", file.display()));
        Ok(Self { file: File::create(file).map_err(failed)?, requests: 0, has_failed: false })
    }

    /// Takes a message down. A record that cannot be written any more is told once, and the box goes on without it.
    pub fn take_down(&mut self, said: Said, write: &dyn Fn(&mut dyn Sink) -> Result<(), Full>) {
        let mut text = Text(Vec::new());
        // A call that was settled meanwhile has no words.
        if write(&mut text).is_err() || text.0.is_empty() || self.has_failed {
            return;
        }
        let Text(bytes) = text;
        let message = match serde_json::from_slice::<Value>(&bytes) {
            Ok(message) => masked(message),
            Err(_) => Value::String(without_tokens(&String::from_utf8_lossy(&bytes))),
        };
        let line = self.line(said, message).to_string() + "\n";
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            self.has_failed = true;
            eprintln!("leaguebox: the record ends here: {error}");
        }
    }

    fn line(&mut self, said: Said, message: Value) -> Value {
        let (kind, peer, exchange, status) = match said {
            Said::Request(peer) => {
                self.requests += 1;
                ("request", peer, format!("r{}", self.requests), None)
            }
            Said::Answer(peer) => ("answer", peer, format!("r{}", self.requests), None),
            Said::Call(peer, call) => ("call", peer, format!("c{call}"), None),
            Said::Reply(peer, call, status) => ("reply", peer, format!("c{call}"), Some(status)),
        };
        let mut line = json!({"at": timestamp(), "kind": kind, "exchange": exchange, "peer": peer, "message": message});
        if let Some(status) = status {
            line["status"] = json!(status);
        }
        line
    }
}

/// The time of day, with milliseconds.
fn timestamp() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = Utc(u32::try_from(since.as_secs()).unwrap_or(u32::MAX)).to_string();
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), since.subsec_millis())
}

/// The same without what opens anything.
fn masked(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mask = |(name, value): (String, Value)| {
                let value = match value {
                    Value::String(token) if name == "auth_token" => Value::String(mask(&token)),
                    other => masked(other),
                };
                (name, value)
            };
            Value::Object(members.into_iter().map(mask).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(masked).collect()),
        Value::String(text) => Value::String(without_tokens(&text)),
        other => other,
    }
}

/// A token: whose it is stays.
fn mask(token: &str) -> String {
    match token.rsplit_once('_') {
        _ if token.is_empty() => String::new(),
        Some((whose, _)) if token.starts_with("tok_") => format!("{whose}_{MASK}"),
        _ => MASK.into(),
    }
}

/// A text in which tokens may stand, such as that of an MCP tool.
fn without_tokens(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("tok_") {
        let (before, token) = rest.split_at(at);
        let end = token.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(token.len());
        out += before;
        out += &mask(&token[..end]);
        rest = &token[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "tok_p01_0123456789abcdef0123456789abcdef";

    #[test]
    fn no_token_is_in_a_record_wherever_it_stood_and_whose_it_was_can_be_read() {
        let message = json!({"params": {"auth_token": TOKEN, "player_id": "P01"}, "list": [{"auth_token": "secret"}],
            "content": [{"text": format!("{{\"auth_token\":\"{TOKEN}\"}}")}], "null": {"auth_token": null}});
        let said = masked(message).to_string();
        assert!(!said.contains("0123456789abcdef") && !said.contains("secret"), "{said}");
        assert_eq!(said.matches("tok_p01_*").count(), 2);
        assert!(said.contains("\"P01\"") && said.contains("{\"auth_token\":null}"));
        assert_eq!(without_tokens(&format!("<{TOKEN}>tok_")), "<tok_p01_*>tok_*");
    }

    #[test]
    fn what_belongs_together_has_one_number_and_what_is_no_json_is_kept_as_text() {
        let file = std::env::temp_dir().join(format!("leaguebox-record-{}.jsonl", std::process::id()));
        let mut recorder = Recorder::create(&file).unwrap();
        let peer = std::net::IpAddr::from([10, 0, 0, 7]);
        for (said, text) in [
            (Said::Request(peer), r#"{"a":1}"#),
            (Said::Answer(peer), r#"{"b":2}"#),
            (Said::Call(peer, 1001), r#"{"c":3}"#),
            (Said::Reply(peer, 1001, 500), "oops"),
        ] {
            recorder.take_down(said, &|sink| sink.put(text.as_bytes()));
        }
        recorder.take_down(Said::Call(peer, 1002), &|_| Err(Full));
        let lines: Vec<Value> =
            std::fs::read_to_string(&file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let told: Vec<(&str, &str)> =
            lines.iter().map(|line| (line["kind"].as_str().unwrap(), line["exchange"].as_str().unwrap())).collect();
        assert_eq!(told, [("request", "r1"), ("answer", "r1"), ("call", "c1001"), ("reply", "c1001")]);
        assert_eq!(
            (&lines[3]["message"], &lines[3]["status"], &lines[0]["peer"]),
            (&json!("oops"), &json!(500), &json!("10.0.0.7"))
        );
        let _ = std::fs::remove_file(file);
    }
}
