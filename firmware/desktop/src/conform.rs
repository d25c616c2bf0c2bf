//! Judges a recording of a league of league.v2, rule by rule, by nothing but the specification: not by how LeagueBox does it. So a
//! league that somebody else ran can be judged as well, if it was written down in the same form (see [`record`](crate::record)).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use protocol_core::json;
use protocol_core::time::is_utc_timestamp;
use serde_json::Value;

use crate::failure::{Failure, say};

/// A rule: what it is called, and what it demands.
type Rule = (&'static str, &'static str);

const LINE: Rule = ("recording", "every line is a JSON object with kind, exchange and message");
const ENVELOPE: Rule =
    ("envelope", "JSON-RPC 2.0: jsonrpc, method and params in what is asked, result or error in what is answered");
const ERROR: Rule = ("error", "no error beside a result, not even null");
const ID: Rule = ("id", "an answer repeats the id of what it answers");
const PROTOCOL: Rule = ("protocol", "protocol is league.v2");
const TYPE: Rule = ("message_type", "every message says its message_type");
const SENDER: Rule = ("sender", "sender is league_manager, or a role and an id such as player:P01");
const TIMESTAMP: Rule = ("timestamp", "timestamp is UTC in ISO 8601, with a Z");
const CONVERSATION: Rule = ("conversation_id", "every message has a conversation_id");
const TOKEN: Rule = ("auth_token", "whoever calls shows an auth_token, except to register");
const FIELDS: Rule = ("fields", "every message has the fields the specification requires of its type");
const CHOICE: Rule = ("choice", "parity_choice is even or odd");
const TIME: Rule =
    ("time", "GAME_JOIN_ACK within 5 s, CHOOSE_PARITY_RESPONSE within 30 s, everything else within 10 s");
const ORDER: Rule = ("order", "a player is invited, then asked, then told how it ended; no match before its round");
const ENDS: Rule = ("game_over", "whoever was invited is told how it ended, and both players the same");
const VERDICT: Rule = ("verdict", "the number is from 1 to 10, and who alone named its parity has won");
const POINTS: Rule = ("points", "a win 3, a draw 1, a loss 0; points and matches of a table add up");
const TABLE: Rule = ("standings", "the last table follows from the matches that were played");
const PAIRS: Rule = ("pairs", "no two players meet in two matches");
const LAST: Rule = ("last", "nobody is told anything after LEAGUE_COMPLETED");
const REPORT: Rule = ("report", "a match has one result, and its winner is one of its players");

const RULES: [Rule; 21] = [
    LINE,
    ENVELOPE,
    ERROR,
    ID,
    PROTOCOL,
    TYPE,
    SENDER,
    TIMESTAMP,
    CONVERSATION,
    TOKEN,
    FIELDS,
    CHOICE,
    TIME,
    ORDER,
    ENDS,
    VERDICT,
    POINTS,
    TABLE,
    PAIRS,
    LAST,
    REPORT,
];

/// The fields the specification requires, beside those of every message.
const REQUIRED: [(&str, &[&str]); 15] = [
    (
        "LEAGUE_REGISTER_REQUEST",
        &["player_meta.display_name", "player_meta.version", "player_meta.game_types", "player_meta.contact_endpoint"],
    ),
    (
        "REFEREE_REGISTER_REQUEST",
        &[
            "referee_meta.display_name",
            "referee_meta.version",
            "referee_meta.game_types",
            "referee_meta.contact_endpoint",
        ],
    ),
    ("LEAGUE_REGISTER_RESPONSE", &["status", "player_id"]),
    ("REFEREE_REGISTER_RESPONSE", &["status", "referee_id"]),
    ("GAME_INVITATION", &["league_id", "round_id", "match_id", "game_type", "role_in_match", "opponent_id"]),
    ("GAME_JOIN_ACK", &["match_id", "player_id", "accept"]),
    (
        "CHOOSE_PARITY_CALL",
        &[
            "match_id",
            "player_id",
            "game_type",
            "context.opponent_id",
            "context.round_id",
            "context.your_standings",
            "deadline",
        ],
    ),
    ("CHOOSE_PARITY_RESPONSE", &["match_id", "player_id", "parity_choice"]),
    (
        "GAME_OVER",
        &[
            "match_id",
            "game_type",
            "game_result.status",
            "game_result.drawn_number",
            "game_result.number_parity",
            "game_result.choices",
        ],
    ),
    ("GAME_ERROR", &["error_code", "error_description", "affected_player", "action_required"]),
    ("LEAGUE_ERROR", &["error_code", "error_description", "affected_player", "action_required"]),
    ("MATCH_RESULT_REPORT", &["match_id", "result"]),
    ("ROUND_ANNOUNCEMENT", &["round_id", "matches"]),
    ("ROUND_COMPLETED", &["round_id"]),
    ("LEAGUE_STANDINGS_UPDATE", &["round_id", "standings"]),
];

/// What was found out.
#[derive(Default)]
struct Judgement {
    /// How often a rule was looked at, how often it was broken, and the first time.
    found: BTreeMap<&'static str, (u32, u32, String)>,
}

impl Judgement {
    /// Looks at a rule.
    fn see(&mut self, rule: Rule, is_kept: bool, example: impl FnOnce() -> String) {
        let (seen, broken, first) = self.found.entry(rule.0).or_default();
        *seen += 1;
        if !is_kept {
            *broken += 1;
            if first.is_empty() {
                *first = example();
            }
        }
    }

    /// The rules that were broken.
    fn broken(&self) -> usize {
        self.found.values().filter(|(_, broken, _)| *broken > 0).count()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (name, demands) in RULES {
            let (seen, broken, first) = self.found.get(name).cloned().unwrap_or_default();
            let verdict = match (seen, broken) {
                (0, _) => "not seen".to_owned(),
                (seen, 0) => format!("kept, {seen} times"),
                (seen, broken) => format!("BROKEN, {broken} of {seen} times"),
            };
            let _ = writeln!(text, "{name:<16} {verdict:<26} {demands}");
            if !first.is_empty() {
                let _ = writeln!(text, "{:<16} first: {first}", "");
            }
        }
        text
    }
}

/// A message of the recording.
struct Said {
    line: usize,
    kind: String,
    /// When, in milliseconds.
    at: Option<u64>,
    peer: String,
    /// The method, or the tool, of what is asked.
    method: String,
    /// The message itself, out of whatever it came in.
    message: Value,
    id: Option<Value>,
}

impl Said {
    fn message_type(&self) -> &str {
        self.message["message_type"].as_str().unwrap_or("")
    }

    /// What is asked, or else what is answered.
    fn asks(&self) -> bool {
        matches!(self.kind.as_str(), "request" | "call")
    }

    /// The player it is to, or its address where it does not say.
    fn player(&self) -> String {
        self.message["player_id"].as_str().unwrap_or(&self.peer).to_owned()
    }
}

/// Judges the recording in a file, prints that, and fails where a rule was broken.
pub fn conform(file: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::work(format!("cannot read the recording {}: {error}", file.display())))?;
    let judgement = judge(&text);
    say(&mut io::stdout(), &judgement.text())?;
    match judgement.broken() {
        0 => Ok(()),
        broken => Err(Failure::work(format!("{broken} of {} rules were broken", RULES.len()))),
    }
}

fn judge(text: &str) -> Judgement {
    let mut judgement = Judgement::default();
    let mut said = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let read: Option<Value> = serde_json::from_str(line).ok().filter(is_line);
        judgement.see(LINE, read.is_some(), || format!("line {number}"));
        if let Some(read) = read {
            said.push((exchange(&read), unwrap(number, &read, &mut judgement)));
        }
    }
    for (_, one) in &said {
        head(one, &mut judgement);
    }
    exchanges(&said, &mut judgement);
    let said: Vec<&Said> = said.iter().map(|(_, said)| said).collect();
    matches(&said, &mut judgement);
    league(&said, &mut judgement);
    judgement
}

fn is_line(line: &Value) -> bool {
    let kinds = ["request", "answer", "call", "reply"];
    line["kind"].as_str().is_some_and(|kind| kinds.contains(&kind)) && line.get("message").is_some()
}

fn exchange(line: &Value) -> String {
    line["exchange"].as_str().map_or_else(|| line["exchange"].to_string(), str::to_owned)
}

/// Takes the message out of its envelope, whatever dialect that is, and judges the envelope.
fn unwrap(line: usize, read: &Value, judgement: &mut Judgement) -> Said {
    let kind = read["kind"].as_str().unwrap_or_default().to_owned();
    let body = &read["message"];
    let asks = matches!(kind.as_str(), "request" | "call");
    let is_whole = body["jsonrpc"] == "2.0"
        && if asks {
            body["method"].is_string() && (body["params"].is_object() || body["method"] == "ping")
        } else {
            body.get("result").is_some() || body.get("error").is_some()
        };
    judgement.see(ENVELOPE, is_whole, || format!("line {line}: {}", short(body)));
    if !asks {
        judgement.see(ERROR, body.get("result").is_none() || body.get("error").is_none(), || {
            format!("line {line}: {}", short(body))
        });
    }
    let (mut method, mut inner) = (body["method"].as_str().unwrap_or_default().to_owned(), body);
    for member in ["params", "result"] {
        if body[member].is_object() {
            inner = &body[member];
        }
    }
    if method == "tools/call" {
        method = inner["name"].as_str().unwrap_or_default().to_owned();
        inner = &inner["arguments"];
    }
    if inner["message"].is_object() {
        inner = &inner["message"];
    }
    let tool_text = inner["content"][0]["text"].as_str().and_then(|text| serde_json::from_str(text).ok());
    Said {
        line,
        kind,
        at: read["at"].as_str().and_then(milliseconds),
        peer: read["peer"].as_str().unwrap_or_default().to_owned(),
        method,
        message: tool_text.unwrap_or_else(|| inner.clone()),
        id: body.get("id").cloned(),
    }
}

/// What every message has, and what those of its type have.
fn head(said: &Said, judgement: &mut Judgement) {
    let message = &said.message;
    // JSON-RPC's and MCP's own errors and methods are no messages of the protocol.
    let is_foreign =
        ["ping", "initialize", "get_assigned_matches"].contains(&said.method.as_str()) || said.method.contains('/');
    if message.get("code").is_some() || is_foreign || message.is_null() || message.get("error").is_some() {
        return;
    }
    let at = |what: &str| format!("line {}: {} of {}", said.line, what, type_or(said));
    judgement.see(TYPE, !said.message_type().is_empty(), || format!("line {}: {}", said.line, short(message)));
    judgement.see(PROTOCOL, message["protocol"] == "league.v2", || at(&message["protocol"].to_string()));
    let sender = message["sender"].as_str().unwrap_or_default();
    let is_known = sender == "league_manager"
        || sender
            .split_once(':')
            .is_some_and(|(role, id)| ["player", "referee", "league_manager"].contains(&role) && !id.is_empty());
    judgement.see(SENDER, is_known, || at(&message["sender"].to_string()));
    let is_utc = is_utc(&message["timestamp"]);
    judgement.see(TIMESTAMP, is_utc, || at(&message["timestamp"].to_string()));
    judgement.see(CONVERSATION, message["conversation_id"].as_str().is_some_and(|id| !id.is_empty()), || {
        at("conversation_id")
    });
    if said.asks() && !said.message_type().ends_with("REGISTER_REQUEST") {
        judgement
            .see(TOKEN, message["auth_token"].as_str().is_some_and(|token| !token.is_empty()), || at("auth_token"));
    }
    if let Some((_, fields)) = REQUIRED.iter().find(|(name, _)| *name == said.message_type()) {
        for field in *fields {
            let found = field.split('.').try_fold(message, |within, name| within.get(name));
            // What is null is there, where nobody can be named: a rejection, a league without players.
            judgement.see(FIELDS, found.is_some(), || at(field));
        }
    }
    if said.message_type() == "CHOOSE_PARITY_RESPONSE" {
        let choice = &message["parity_choice"];
        judgement.see(CHOICE, choice == "even" || choice == "odd", || at(&choice.to_string()));
    }
}

/// Whether a value is a time as the specification writes it.
fn is_utc(value: &Value) -> bool {
    json::parse(value.to_string().as_bytes()).is_ok_and(|text| text.as_str().is_some_and(is_utc_timestamp))
}

/// What belongs together.
fn exchanges(said: &[(String, Said)], judgement: &mut Judgement) {
    let mut open: BTreeMap<&str, &Said> = BTreeMap::new();
    for (exchange, one) in said {
        if one.asks() {
            open.insert(exchange, one);
            continue;
        }
        let Some(asked) = open.get(exchange.as_str()) else { continue };
        // Who sends no envelope has no id to repeat.
        if let (Some(asked), Some(id)) = (&asked.id, &one.id) {
            judgement.see(ID, asked == id, || format!("line {}: {id} to {asked}", one.line));
        }
        let limit = match asked.message_type() {
            "GAME_INVITATION" => 5_000,
            "CHOOSE_PARITY_CALL" | "MOVE_REQUEST" => 30_000,
            _ => 10_000,
        };
        if let (Some(then), Some(now)) = (asked.at, one.at) {
            let took = now.saturating_sub(then);
            judgement.see(TIME, took <= limit, || {
                format!("line {}: {took} ms for an answer to {}", one.line, type_or(asked))
            });
        }
    }
}

/// How a match went.
#[derive(Default)]
struct Match {
    /// Whom its invitation was for, and who was asked, and what each was told in the end.
    invited: BTreeSet<String>,
    asked: BTreeSet<String>,
    told: BTreeMap<String, Value>,
}

/// Every match by itself.
fn matches(said: &[&Said], judgement: &mut Judgement) {
    let mut all: BTreeMap<String, Match> = BTreeMap::new();
    let mut results: BTreeMap<String, Value> = BTreeMap::new();
    let mut announced: BTreeSet<u64> = BTreeSet::new();
    for one in said {
        let Some(id) = one.message["match_id"].as_str() else {
            if one.message_type() == "ROUND_ANNOUNCEMENT" {
                announced.extend(one.message["round_id"].as_u64());
            }
            continue;
        };
        let at = || format!("line {}: {} of {id}", one.line, one.message_type());
        match one.message_type() {
            "GAME_INVITATION" | "GAME_INVITE" => {
                let round = one.message["round_id"].as_u64();
                judgement.see(ORDER, announced.is_empty() || round.is_some_and(|round| announced.contains(&round)), at);
                // Whoever is invited anew, after a restart or because its match is played again, begins anew.
                let this = all.entry(id.to_owned()).or_default();
                this.told.remove(&one.player());
                this.invited.insert(one.player());
            }
            "CHOOSE_PARITY_CALL" => {
                let this = all.entry(id.to_owned()).or_default();
                judgement.see(ORDER, this.invited.contains(&one.player()), at);
                this.asked.insert(one.player());
            }
            "GAME_OVER" => {
                let this = all.entry(id.to_owned()).or_default();
                judgement.see(ORDER, this.invited.is_empty() || this.invited.contains(&one.player()), at);
                judge_result(one, judgement);
                this.told.insert(one.player(), one.message["game_result"].clone());
            }
            "MATCH_RESULT_REPORT" => {
                let winner = one.message["result"]["winner"].clone();
                let scored = one.message["result"]["score"].as_object();
                let is_player = winner.as_str().is_none_or(|winner| {
                    scored.is_none_or(|score| winner.is_empty() || winner == "DRAW" || score.contains_key(winner))
                });
                let first = results.entry(id.to_owned()).or_insert_with(|| winner.clone());
                judgement.see(REPORT, is_player && *first == winner, at);
            }
            _ => {}
        }
    }
    for (id, this) in &all {
        for player in &this.invited {
            judgement.see(ENDS, this.told.contains_key(player), || format!("{player} is never told how {id} ended"));
        }
        let mut told = this.told.values();
        if let Some(first) = told.next() {
            judgement.see(ENDS, told.all(|other| outcome(other) == outcome(first)), || format!("two results of {id}"));
        }
    }
}

fn outcome(result: &Value) -> [&Value; 3] {
    ["status", "winner_player_id", "drawn_number"].map(|name| &result[name])
}

/// Whether a result is that of the rules of even and odd.
fn judge_result(one: &Said, judgement: &mut Judgement) {
    let result = &one.message["game_result"];
    let at = || format!("line {}: {}", one.line, short(result));
    if let Some(score) = result["score"].as_object() {
        let mut points: Vec<u64> = score.values().filter_map(Value::as_u64).collect();
        points.sort_unstable();
        let is_right = match result["status"].as_str() {
            Some("DRAW") => points == [1, 1],
            Some("WIN") => points == [0, 3],
            _ => points == [0, 3] || points == [0, 0],
        };
        judgement.see(POINTS, is_right || points.len() != 2, at);
    }
    let by_play = result["end_reason"].as_str().is_none_or(|reason| ["win", "draw"].contains(&reason));
    let (Some(number), Some(choices)) = (result["drawn_number"].as_u64(), result["choices"].as_object()) else {
        return;
    };
    if one.message["game_type"] != "even_odd" || result["status"] == "TECHNICAL_LOSS" || !by_play {
        return;
    }
    let parity = if number % 2 == 0 { "even" } else { "odd" };
    let right: Vec<&String> =
        choices.iter().filter(|(_, choice)| *choice == parity).map(|(player, _)| player).collect();
    let winner = match right[..] {
        [alone] => Value::String(alone.clone()),
        _ => Value::Null,
    };
    let is_right = result["number_parity"] == parity && result["winner_player_id"] == winner;
    judgement.see(VERDICT, is_right && (1..=10).contains(&number), at);
}

/// The league as a whole.
fn league(said: &[&Said], judgement: &mut Judgement) {
    let mut played: BTreeMap<String, Value> = BTreeMap::new();
    let mut pairs: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    let mut table: Option<(&Said, &Value)> = None;
    for one in said {
        let message = &one.message;
        if one.message_type() == "ROUND_ANNOUNCEMENT" && one.kind == "call" {
            for announced in message["matches"].as_array().into_iter().flatten() {
                let mut pair: Vec<String> = ["player_A_id", "player_B_id"]
                    .iter()
                    .filter_map(|name| announced[name].as_str().map(str::to_owned))
                    .collect();
                pair.sort();
                let id = announced["match_id"].to_string();
                if pair.len() == 2 {
                    let first = pairs.entry(pair.clone()).or_insert_with(|| id.clone());
                    judgement.see(PAIRS, *first == id, || format!("{} in {first} and in {id}", pair.join(" and ")));
                }
            }
        }
        if one.message_type() == "GAME_OVER" {
            played.insert(message["match_id"].to_string(), message["game_result"]["score"].clone());
        }
        for rows in [&message["standings"], &message["final_standings"]] {
            for row in rows.as_array().into_iter().flatten() {
                let number = |name: &str| row[name].as_u64();
                if let (Some(wins), Some(draws), Some(losses), Some(points), Some(all)) =
                    (number("wins"), number("draws"), number("losses"), number("points"), number("played"))
                {
                    let adds_up = points == 3 * wins + draws && all == wins + draws + losses;
                    judgement.see(POINTS, adds_up, || format!("line {}: {}", one.line, short(row)));
                }
            }
        }
        if one.kind == "call" && message["final_standings"].is_array() {
            table = Some((one, &message["final_standings"]));
        }
        if one.kind == "call" && one.message_type() != "PING" {
            let who = one.peer.clone() + message["player_id"].as_str().unwrap_or_default();
            if message["player_id"].is_string() {
                judgement.see(LAST, !last.contains_key(&who), || format!("line {}: {}", one.line, type_or(one)));
            }
            if one.message_type() == "LEAGUE_COMPLETED" {
                last.insert(who, one.line);
            }
        }
    }
    let Some((one, rows)) = table else { return };
    let mut points: BTreeMap<String, u64> = BTreeMap::new();
    let mut is_whole = true;
    for score in played.values() {
        match score.as_object() {
            Some(score) => score
                .iter()
                .for_each(|(player, value)| *points.entry(player.clone()).or_default() += value.as_u64().unwrap_or(0)),
            None => is_whole = false,
        }
    }
    let matches: u64 = rows.as_array().into_iter().flatten().filter_map(|row| row["played"].as_u64()).sum();
    // Matches that others refereed, or that were told before the recording began, are not in it.
    if is_whole && matches == 2 * played.len() as u64 {
        for row in rows.as_array().into_iter().flatten() {
            let id = row["player_id"].as_str().unwrap_or_default();
            let told = row["points"].as_u64();
            judgement.see(TABLE, told == Some(points.get(id).copied().unwrap_or(0)), || {
                format!("line {}: {}", one.line, short(row))
            });
        }
    }
}

fn type_or(said: &Said) -> &str {
    if said.message_type().is_empty() { "a message without a type" } else { said.message_type() }
}

/// The beginning of a value, for an example.
fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 160 { text.chars().take(157).collect::<String>() + "..." } else { text }
}

/// The milliseconds of the day and the days of a time such as `2026-01-15T10:05:00.250Z`, to be compared with others.
fn milliseconds(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let days = number(0, 4)? * 372 + number(5, 7)? * 31 + number(8, 10)?;
    let seconds = ((days * 24 + number(11, 13)?) * 60 + number(14, 16)?) * 60 + number(17, 19)?;
    let fraction =
        text.get(19..)?.strip_prefix('.').map_or("0", |rest| rest.trim_end_matches(|c: char| !c.is_ascii_digit()));
    let milliseconds: String = fraction.chars().chain("000".chars()).take(3).collect();
    Some(seconds * 1_000 + milliseconds.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(kind: &str, exchange: &str, at: &str, message: Value) -> String {
        json!({"at": format!("2026-01-15T10:05:{at}Z"), "kind": kind, "exchange": exchange, "peer": "10.0.0.7", "message": message}).to_string()
            + "\n"
    }

    fn message(message_type: &str, more: Value) -> Value {
        let mut message = json!({"protocol": "league.v2", "message_type": message_type, "sender": "player:P01",
            "timestamp": "2026-01-15T10:05:00Z", "conversation_id": "c", "auth_token": "*", "match_id": "R1M1", "player_id": "P01"});
        if let (Value::Object(message), Value::Object(more)) = (&mut message, more) {
            message.extend(more);
        }
        message
    }

    fn call(id: u32, message: Value) -> Value {
        json!({"jsonrpc": "2.0", "method": "m", "params": message, "id": id})
    }

    fn answer(id: u32, message: Value) -> Value {
        json!({"jsonrpc": "2.0", "result": message, "id": id})
    }

    /// One match of a player, without a fault.
    fn good() -> Vec<String> {
        let invitation = json!({"league_id": "l", "round_id": 1, "game_type": "even_odd", "role_in_match": "PLAYER_A", "opponent_id": "P02"});
        let context = json!({"opponent_id": "P02", "round_id": 1, "your_standings": {}});
        let result = json!({"status": "WIN", "winner_player_id": "P01", "drawn_number": 4, "number_parity": "even",
            "choices": {"P01": "even", "P02": "odd"}, "score": {"P01": 3, "P02": 0}, "end_reason": "win"});
        vec![
            line("call", "c1", "00.000", call(1, message("GAME_INVITATION", invitation))),
            line("reply", "c1", "01.000", answer(1, message("GAME_JOIN_ACK", json!({"accept": true})))),
            line(
                "call",
                "c2",
                "02.000",
                call(
                    2,
                    message(
                        "CHOOSE_PARITY_CALL",
                        json!({"game_type": "even_odd", "context": context, "deadline": "x"}),
                    ),
                ),
            ),
            line(
                "reply",
                "c2",
                "03.000",
                answer(2, message("CHOOSE_PARITY_RESPONSE", json!({"parity_choice": "even"}))),
            ),
            line(
                "call",
                "c3",
                "04.000",
                call(3, message("GAME_OVER", json!({"game_type": "even_odd", "game_result": result}))),
            ),
            line("reply", "c3", "04.100", answer(3, message("ACK", json!({})))),
        ]
    }

    /// The rules that are broken when one text in one line is another.
    fn broken(at: usize, from: &str, to: &str) -> Vec<&'static str> {
        let mut lines = good();
        assert!(lines[at].contains(from), "{from} in {}", lines[at]);
        lines[at] = lines[at].replacen(from, to, 1);
        let judgement = judge(&lines.concat());
        RULES
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| judgement.found.get(name).is_some_and(|(_, broken, _)| *broken > 0))
            .collect()
    }

    #[test]
    fn a_match_without_a_fault_breaks_no_rule() {
        let judgement = judge(&good().concat());
        assert_eq!(judgement.broken(), 0, "{}", judgement.text());
        assert!(judgement.text().contains("verdict          kept, 1 times"), "{}", judgement.text());
    }

    #[test]
    fn every_fault_breaks_its_rule_and_no_other() {
        for (at, from, to, rule) in [
            (0, "\"kind\":\"call\"", "\"kind\":\"shout\"", "recording"),
            (0, "\"jsonrpc\":\"2.0\",", "", "envelope"),
            (1, "\"jsonrpc\":\"2.0\"", "\"jsonrpc\":\"2.0\",\"error\":null", "error"),
            (1, "\"id\":1", "\"id\":7", "id"),
            (1, "league.v2", "league.v1", "protocol"),
            (5, "\"message_type\":\"ACK\",", "", "message_type"),
            (1, "player:P01", "Ada", "sender"),
            (1, "10:05:00Z\"", "10:05:00\"", "timestamp"),
            (1, "\"conversation_id\":\"c\",", "", "conversation_id"),
            (0, "\"auth_token\":\"*\",", "", "auth_token"),
            (1, "\"accept\":true,", "", "fields"),
            (3, "\"parity_choice\":\"even\"", "\"parity_choice\":\"Even\"", "choice"),
            (1, "10:05:01.000", "10:05:06.000", "time"),
            (2, "R1M1", "R1M2", "order"),
            (4, "\"drawn_number\":4", "\"drawn_number\":5", "verdict"),
            (4, "{\"P01\":3,\"P02\":0}", "{\"P01\":2,\"P02\":0}", "points"),
        ] {
            let found = broken(at, from, to);
            assert!(found.contains(&rule), "{rule}: {found:?}");
            // Without its invitation nobody was invited.
            assert!(found.len() == 1 || rule == "recording", "{rule}: {found:?}");
        }
        let cut = judge(&good()[..4].concat());
        assert_eq!(cut.broken(), 1, "{}", cut.text());
        assert!(cut.text().contains("P01 is never told how R1M1 ended"));
    }

    #[test]
    fn a_league_is_judged_as_a_whole() {
        let announce = |id: &str, a: &str, b: &str| {
            let one = json!({"match_id": id, "player_A_id": a, "player_B_id": b});
            line("call", id, "00.000", call(9, message("ROUND_ANNOUNCEMENT", json!({"round_id": 1, "matches": [one]}))))
        };
        let twice = judge(&(announce("R1M1", "P01", "P02") + &announce("R2M1", "P02", "P01")));
        assert_eq!(twice.found["pairs"].1, 1);
        let table = |points: u64| {
            let row = |id: &str, wins: u64, points: u64| json!({"player_id": id, "played": 1, "wins": wins, "draws": 0, "losses": 1 - wins, "points": points});
            let end = json!({"final_standings": [row("P01", 1, points), row("P02", 0, 0)]});
            judge(&(good().concat() + &line("call", "c9", "09.000", call(9, message("LEAGUE_COMPLETED", end)))))
        };
        assert_eq!(table(3).broken(), 0, "{}", table(3).text());
        let wrong = table(6);
        assert_eq!((wrong.found["points"].1, wrong.found["standings"].1), (1, 1));
        let after = table(3).text();
        assert!(after.contains("last             kept"), "{after}");
        let late =
            judge(&(line("call", "c0", "00.000", call(9, message("LEAGUE_COMPLETED", json!({})))) + &good().concat()));
        assert!(late.found["last"].1 > 0);
    }

    #[test]
    fn what_is_no_recording_at_all_is_said_to_be_none() {
        let judgement = judge("hello\n{}\n[1]\n");
        assert_eq!(judgement.found["recording"].1, 3);
        assert_eq!(judge("").broken(), 0);
    }
}
