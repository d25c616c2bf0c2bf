//! What players answer to our calls, in every shape seen in the wild.

use core::fmt;

use super::dialect::Dialect;
use crate::games::Parity;
use crate::json::{self, Kind, Value};
use crate::season::Rule;
use crate::time::is_utc_timestamp;

/// How much of an MCP tool's text is read, in bytes. Answers are a few hundred.
pub const TEXT_BYTES: usize = 1024;

/// A reply, unwrapped.
#[derive(Clone, Copy)]
pub enum Reply<'a> {
    /// A message.
    Message(Value<'a>),
    /// The player does not know the method, as this error says.
    UnknownMethod(Value<'a>),
    /// Any other error.
    Error(Value<'a>),
    /// Not JSON, or not an object.
    Garbage,
}

/// Takes the message out of whatever it came in, and notes what the wrapping broke. `text` is room for the text of an
/// MCP tool; `id` is that of our call.
pub fn unwrap<'a>(
    body: &'a [u8],
    text: &'a mut [u8; TEXT_BYTES],
    dialect: Dialect,
    id: u32,
    note: &mut impl FnMut(Rule, &str),
) -> Reply<'a> {
    let names = ["jsonrpc", "result", "id", "error", "params", "method"];
    let inner_names = ["content", "message"];
    let (root, members, in_result) = match json::parse_members(body, names, "result", inner_names) {
        Ok(found @ (root, ..)) if root.kind() == Kind::Object => found,
        _ => {
            note(Rule::NotJson, core::str::from_utf8(body).unwrap_or("not UTF-8"));
            return Reply::Garbage;
        }
    };
    let [version, result, its_id, error, params, method] = members;
    let error_is_null = error.is_some_and(Value::is_null);
    let error = error.filter(|error| !error.is_null());
    let result = result.filter(|result| !result.is_null());
    if let (Some(error), None) = (error, result) {
        let code = error.get("code").and_then(Value::as_i64);
        return if code == Some(-32601) { Reply::UnknownMethod(error) } else { Reply::Error(error) };
    }
    let (message, [content, inner]) = match (result, method, params) {
        (Some(result), ..) => {
            if error.is_some() || error_is_null {
                note(Rule::ErrorBesideResult, error.map_or("null", Value::raw));
            }
            if its_id.and_then(Value::as_u64) != Some(id.into()) {
                note(Rule::IdMismatch, its_id.map_or("no id", Value::raw));
            }
            (result, in_result)
        }
        // One family answers with a request of its own.
        (None, Some(method), Some(params)) => {
            note(Rule::NoEnvelope, method.raw());
            (params, params.members(inner_names))
        }
        _ => {
            if dialect != Dialect::Bare {
                note(Rule::NoEnvelope, version.map_or("no jsonrpc", Value::raw));
            }
            (root, root.members(inner_names))
        }
    };
    // An MCP tool answers with text that is JSON again.
    let tool_text = content.and_then(|content| content.items().next()?.get("text")?.as_str());
    if let Some(tool_text) = tool_text {
        let inner = tool_text.unescape_into(text).and_then(|inner| json::parse(inner.as_bytes()).ok());
        return match inner {
            Some(inner) if inner.kind() == Kind::Object => Reply::Message(inner),
            _ => Reply::Garbage,
        };
    }
    match inner.filter(|inner| inner.kind() == Kind::Object) {
        Some(inner) => Reply::Message(inner),
        None if message.kind() == Kind::Object => Reply::Message(message),
        None => Reply::Garbage,
    }
}

/// An error as it is shown: its code and its message, where it has them.
pub struct Shown<'a>(pub Value<'a>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = *self;
        let [code, message] = error.members(["code", "message"]);
        match (code, message.and_then(Value::as_str)) {
            (Some(code), Some(message)) => write!(f, "{} {message}", code.raw()),
            _ => f.write_str(error.raw()),
        }
    }
}

/// Whether a message accepts an invitation; `None` where it says neither yes nor no.
pub fn acceptance(message: Value<'_>, note: &mut impl FnMut(Rule, &str)) -> Option<bool> {
    let [accept, accepted, status] = message.members(["accept", "accepted", "status"]);
    if let Some(accept) = accept.and_then(Value::as_bool) {
        return Some(accept);
    }
    let other = accepted.filter(|value| value.as_bool().is_some()).or(status)?;
    let answer = other.as_bool().or_else(|| {
        let status = other.as_str()?;
        let is = |words: &[&str]| words.iter().any(|word| status.is_ignore_ascii_case(word));
        if is(&["ACCEPTED", "ACK", "READY", "joined"]) {
            Some(true)
        } else if is(&["DECLINED", "REJECTED", "REFUSED"]) {
            Some(false)
        } else {
            None
        }
    })?;
    note(Rule::AcceptForm, other.raw());
    Some(answer)
}

/// The choice in a message, wherever it stands.
pub fn choice<'a>(message: Value<'a>, note: &mut impl FnMut(Rule, &str)) -> Option<Value<'a>> {
    let (found, place) = Parity::find(message)?;
    if let Some(place) = place {
        note(Rule::ChoiceForm, place);
    }
    if let Some(word) = found.as_str()
        && word.chars().any(|c| c.is_ascii_uppercase())
    {
        note(Rule::ChoiceCase, found.raw());
    }
    Some(found)
}

/// The move of the generic messages: `move`, or what a player of the parity dialects would send.
pub fn game_move<'a>(message: Value<'a>) -> Option<Value<'a>> {
    let [played, choice, parity] = message.members(["move", "choice", "parity_choice"]);
    [played, choice, parity].into_iter().flatten().find(|value| !value.is_null())
}

/// Whether a message only says that it arrived. Some players then send the real answer as a message of their own.
pub fn is_receipt(message: Value<'_>) -> bool {
    let [status, parity] = message.members(["status", "parity_choice"]);
    parity.is_none() && status.and_then(Value::as_str).is_some()
}

/// What an answer has to repeat.
pub struct Expected<'a> {
    /// `GAME_JOIN_ACK`, `CHOOSE_PARITY_RESPONSE` or `MOVE_RESPONSE`.
    pub message_type: &'static str,
    /// The id of the player.
    pub player_id: &'a str,
    /// Its sender line: `player:P01`.
    pub sender: &'a str,
    /// Its token.
    pub token: &'a str,
    /// The match.
    pub match_id: &'a str,
    /// The conversation.
    pub conversation_id: &'a str,
}

/// Notes every rule of the common fields that an answer breaks.
pub fn check(message: Value<'_>, expected: &Expected<'_>, note: &mut impl FnMut(Rule, &str)) {
    let [message_type, protocol, sender, timestamp, conversation, token, match_id, player_id] = message.members([
        "message_type",
        "protocol",
        "sender",
        "timestamp",
        "conversation_id",
        "auth_token",
        "match_id",
        "player_id",
    ]);
    for (found, wanted, rule) in [
        (message_type, expected.message_type, Rule::MessageType),
        (protocol, super::PROTOCOL, Rule::Protocol),
        (sender, expected.sender, Rule::Sender),
        (conversation, expected.conversation_id, Rule::ConversationId),
        (token, expected.token, Rule::AuthToken),
        (match_id, expected.match_id, Rule::MatchId),
        (player_id, expected.player_id, Rule::PlayerId),
    ] {
        match found {
            Some(value) if value.as_str().is_some_and(|text| text.is(wanted)) => {}
            // A wrong token may be most of a right one, and reports are public.
            Some(_) if rule == Rule::AuthToken => note(rule, "not yours"),
            Some(value) => note(rule, value.raw()),
            None => note(rule, ""),
        }
    }
    check_timestamp(timestamp, note);
}

/// Notes a timestamp that is missing or not in the specified form.
pub fn check_timestamp(timestamp: Option<Value<'_>>, note: &mut impl FnMut(Rule, &str)) {
    match timestamp {
        None => note(Rule::TimestampMissing, ""),
        Some(value) if value.as_str().is_some_and(is_utc_timestamp) => {}
        Some(value) => note(Rule::TimestampForm, value.raw()),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{string::String, vec, vec::Vec};

    fn read(body: &str, dialect: Dialect) -> (Option<String>, Vec<Rule>) {
        let mut rules = vec![];
        let mut text = [0; TEXT_BYTES];
        let reply = unwrap(body.as_bytes(), &mut text, dialect, 7, &mut |rule, _| rules.push(rule));
        match reply {
            Reply::Message(message) => (Some(message.raw().into()), rules),
            _ => (None, rules),
        }
    }

    #[test]
    fn the_message_is_found_in_every_wrapping() {
        let canonical = Dialect::Canonical;
        let wanted = Some(String::from(r#"{"accept":true}"#));
        for (body, dialect, rules) in [
            (r#"{"jsonrpc":"2.0","result":{"accept":true},"id":7}"#, canonical, vec![]),
            (
                r#"{"jsonrpc":"2.0","result":{"accept":true},"error":null,"id":7}"#,
                canonical,
                vec![Rule::ErrorBesideResult],
            ),
            (r#"{"jsonrpc":"2.0","result":{"message":{"accept":true}},"id":7}"#, Dialect::Nested, vec![]),
            (
                r#"{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"{\"accept\":true}"}]},"id":7}"#,
                Dialect::McpTools,
                vec![],
            ),
            (r#"{"accept":true}"#, Dialect::Bare, vec![]),
            (r#"{"accept":true}"#, canonical, vec![Rule::NoEnvelope]),
            (
                r#"{"jsonrpc":"2.0","method":"game_join_ack","params":{"accept":true},"id":99}"#,
                canonical,
                vec![Rule::NoEnvelope],
            ),
            (r#"{"jsonrpc":"2.0","result":{"accept":true},"id":8}"#, canonical, vec![Rule::IdMismatch]),
        ] {
            assert_eq!(read(body, dialect), (wanted.clone(), rules), "{body}");
        }
    }

    #[test]
    fn an_unknown_method_is_told_from_other_errors() {
        let mut text = [0; TEXT_BYTES];
        let body = br#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":7}"#;
        assert!(matches!(unwrap(body, &mut text, Dialect::Canonical, 7, &mut |_, _| {}), Reply::UnknownMethod(_)));
        let body = br#"{"detail":"Not Found"}"#;
        assert!(matches!(unwrap(body, &mut text, Dialect::Canonical, 7, &mut |_, _| {}), Reply::Message(_)));
        let body = br#"{"jsonrpc":"2.0","error":{"code":-32000},"id":7}"#;
        assert!(matches!(unwrap(body, &mut text, Dialect::Canonical, 7, &mut |_, _| {}), Reply::Error(_)));
    }

    #[test]
    fn acceptance_comes_in_six_forms_and_an_ok_is_not_one() {
        let said = |text: &str| acceptance(json::parse(text.as_bytes()).unwrap(), &mut |_, _| {});
        for yes in [
            r#"{"accept":true}"#,
            r#"{"accepted":true}"#,
            r#"{"status":"ACCEPTED"}"#,
            r#"{"status":"ACK"}"#,
            r#"{"status":"READY"}"#,
            r#"{"status":"joined"}"#,
        ] {
            assert_eq!(said(yes), Some(true), "{yes}");
        }
        assert_eq!(said(r#"{"accept":false,"status":"READY"}"#), Some(false));
        assert_eq!(said(r#"{"status":"DECLINED"}"#), Some(false));
        assert_eq!(said(r#"{"status":"ok"}"#), None);
        assert_eq!(said("{}"), None);
    }

    #[test]
    fn a_choice_is_found_wherever_it_stands() {
        let said = |text: &str| {
            choice(json::parse(text.as_bytes()).unwrap(), &mut |_, _| {}).map(|value| String::from(value.raw()))
        };
        for text in [
            r#"{"parity_choice":"even"}"#,
            r#"{"choice":"even"}"#,
            r#"{"choice":{"value":"even"}}"#,
            r#"{"move":{"value":"even"}}"#,
            r#"{"parity_choice":null,"choice":"even"}"#,
        ] {
            assert_eq!(said(text).as_deref(), Some("\"even\""), "{text}");
        }
        assert_eq!(said(r#"{"status":"ok"}"#), None);
    }

    #[test]
    fn a_perfect_answer_breaks_no_rule_and_an_empty_one_breaks_all() {
        let expected = Expected {
            message_type: "GAME_JOIN_ACK",
            player_id: "P01",
            sender: "player:P01",
            token: "tok",
            match_id: "R1M1",
            conversation_id: "conv_r1m1_a",
        };
        let broken = |text: &str| {
            let mut rules = vec![];
            check(json::parse(text.as_bytes()).unwrap(), &expected, &mut |rule, _| rules.push(rule));
            rules
        };
        let perfect = r#"{"message_type":"GAME_JOIN_ACK","protocol":"league.v2","sender":"player:P01","timestamp":
            "2025-01-15T10:15:01Z","conversation_id":"conv_r1m1_a","auth_token":"tok","match_id":"R1M1","player_id":"P01"}"#;
        assert_eq!(broken(perfect), []);
        assert_eq!(broken("{}").len(), 8);
        assert_eq!(broken(&perfect.replace(":01Z", ":01+00:00")), [Rule::TimestampForm]);
        assert_eq!(broken(&perfect.replace("\"tok\"", "null")), [Rule::AuthToken]);
    }
}
