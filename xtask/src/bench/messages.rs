//! Reading and writing every message of league.v2, beside serde_json.
//!
//! Reading: serde_json fills typed structs, and is told which type to expect; ours checks the whole text, finds out what
//! it is, and looks up the same fields. Both borrow a string where they can and resolve its escapes where they must: a
//! plain `&str` would make serde_json refuse an escape, such as every letter of a Hebrew name that Python sends.
//! Writing: both write the same values into a buffer that is already there; where ours joins two objects, serde_json
//! writes them as a pair. A message that the two read or write differently is an error, not a number.

use super::{race, title, verdict};
use crate::Outcome;
use crate::verb::Given;
use protocol_core::contact::{Contact, Endpoint, Url};
use protocol_core::fair::Seed;
use protocol_core::ids::*;
use protocol_core::json::{self, Joined, Shown, Slice, Value};
use protocol_core::message::Message;
use protocol_core::protocols::league_v2::PROTOCOL;
use protocol_core::protocols::league_v2::dialect::Dialect;
use protocol_core::protocols::league_v2::incoming::{Envelope, Incoming};
use protocol_core::protocols::league_v2::outgoing::*;
use protocol_core::protocols::league_v2::reply::{self, Reply, TEXT_BYTES};
use protocol_core::season::Row;
use protocol_core::season::Verdict;
use protocol_core::time::Utc;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Debug;
use std::hint::black_box;

/// Races every message, and sums up.
pub fn run(_: &Given) -> Outcome {
    title(
        "Reading and writing league.v2, beside serde_json with typed structs",
        "in this process, medians of turns taken alternately; the ratio is ours to serde_json's, below 1 is faster",
    );
    println!("  {:<34}{:>6}{:>9}{:>12}{:>7}", "message", "bytes", "ours", "serde_json", "ratio");
    let (mut slower, mut messages, mut all) = (0, 0, [0.0, 0.0]);
    for (group, rows) in [("read", readings()?), ("written", writings()?)] {
        let mut sum = [0.0, 0.0];
        for Timed { name, bytes, ns: [ours, theirs] } in rows {
            let ratio = ours / theirs;
            println!("  {name:<34}{bytes:>6}{ours:>6.0} ns{theirs:>9.0} ns{ratio:>7.2}");
            sum = [sum[0] + ours, sum[1] + theirs];
            messages += 1;
            slower += u32::from(ratio > 1.0);
        }
        let [ours, theirs] = sum;
        println!("  all that are {group:<27}{ours:>6.0} ns{theirs:>9.0} ns{:>7.2}", ours / theirs);
        all = [all[0] + ours, all[1] + theirs];
    }
    verdict("messages slower than serde_json's", &format!("{slower} of {messages}"), "none", slower == 0);
    let ratio = all[0] / all[1];
    verdict("all of them together", &format!("{ratio:.2} x serde_json's time"), "at most 1 x", ratio <= 1.0);
    Ok(())
}

/// What a message costs us and serde_json.
struct Timed {
    name: &'static str,
    bytes: usize,
    ns: [f64; 2],
}

/// A field as both read it.
trait Field<'a>: Sized {
    fn of(value: Value<'a>) -> Option<Self>;
}

/// A string, borrowed unless it has escapes. A type of its own, because serde borrows no `Option<Cow<str>>`.
#[derive(Deserialize, Debug)]
#[serde(transparent)]
#[allow(dead_code, reason = "compared as Debug shows it")]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Field<'a> for Text<'a> {
    fn of(value: Value<'a>) -> Option<Self> {
        let text = value.as_str()?;
        Some(Self(text.plain().map_or_else(|| text.chars().collect(), Cow::Borrowed)))
    }
}

impl<'a> Field<'a> for Vec<Text<'a>> {
    fn of(value: Value<'a>) -> Option<Self> {
        value.items().map(Text::of).collect()
    }
}

impl Field<'_> for bool {
    fn of(value: Value<'_>) -> Option<Self> {
        value.as_bool()
    }
}

/// A field's name on the wire: `move` is a word of Rust.
const fn wire(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// A message by its type, whatever it borrows from.
trait Readable {
    type As<'a>: Field<'a> + Deserialize<'a> + Debug;
}

/// A message, as a typed struct for serde_json and as a list of names for us.
macro_rules! message {
    ($name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        #[derive(Deserialize, Debug)]
        #[serde(bound(deserialize = "'de: 'a"))]
        #[allow(dead_code, reason = "compared as Debug shows them")]
        struct $name<'a> {
            $($field: Option<$type>,)+
        }

        impl<'a> Field<'a> for $name<'a> {
            fn of(value: Value<'a>) -> Option<Self> {
                let [$($field),+] = value.members([$(const { wire(stringify!($field)) }),+]);
                Some(Self { $($field: $field.and_then(Field::of)),+ })
            }
        }

        impl Readable for $name<'static> {
            type As<'a> = $name<'a>;
        }
    };
}

message!(Register {
    protocol: Text<'a>,
    message_type: Text<'a>,
    sender: Text<'a>,
    timestamp: Text<'a>,
    conversation_id: Text<'a>,
    player_meta: Meta<'a>,
    referee_meta: Meta<'a>,
});
message!(Meta {
    display_name: Text<'a>,
    version: Text<'a>,
    game_types: Vec<Text<'a>>,
    contact_endpoint: Text<'a>,
    protocol_version: Text<'a>,
});
message!(Query {
    protocol: Text<'a>,
    sender: Text<'a>,
    timestamp: Text<'a>,
    conversation_id: Text<'a>,
    auth_token: Text<'a>,
    query_type: Text<'a>,
    query_params: About<'a>,
});
message!(About { player_id: Text<'a> });
message!(Answered {
    message_type: Text<'a>,
    protocol: Text<'a>,
    sender: Text<'a>,
    timestamp: Text<'a>,
    conversation_id: Text<'a>,
    auth_token: Text<'a>,
    match_id: Text<'a>,
    player_id: Text<'a>,
    accept: bool,
    parity_choice: Text<'a>,
    r#move: Move<'a>,
});
message!(Move { action: Text<'a>, value: Text<'a> });
message!(Status { status: Text<'a> });

/// JSON-RPC around a message, as serde_json reads it.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a, P: Deserialize<'de>"))]
#[allow(dead_code, reason = "read, as we read them, and not used")]
struct Asked<'a, P> {
    jsonrpc: Text<'a>,
    method: Text<'a>,
    params: P,
    id: u64,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a, R: Deserialize<'de>"))]
#[allow(dead_code, reason = "read, as we read them, and not used")]
struct Told<'a, R> {
    jsonrpc: Text<'a>,
    result: R,
    id: u64,
}

const COMMON: &str = r#""protocol":"league.v2","sender":"player:P01","timestamp":"2026-01-15T10:15:01Z","conversation_id":"conv_r1m1_a","auth_token":"tok_p01_0123456789abcdef0123456789abcdef""#;

fn readings() -> Result<Vec<Timed>, String> {
    let meta = r#"{"display_name":"Agent Alpha","version":"1.0.0","game_types":["even_odd"],"contact_endpoint":"http://192.168.1.10:8101/mcp"}"#;
    let referee = r#"{"display_name":"Referee Alpha","version":"1.0.0","game_types":["even_odd"],"contact_endpoint":"http://192.168.1.10:8001/mcp","max_concurrent_matches":2}"#;
    let call = |method: &str, message_type: &str, rest: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"message_type":"{message_type}",{COMMON}{rest}}},"id":1}}"#
        )
    };
    let result = |message_type: &str, rest: &str| {
        let ids = r#""match_id":"R1M1","player_id":"P01""#;
        format!(r#"{{"jsonrpc":"2.0","result":{{"message_type":"{message_type}",{COMMON},{ids},{rest}}},"id":1001}}"#)
    };
    let result_of = r#","league_id":"league_even_odd_1","round_id":1,"match_id":"R1M1","game_type":"even_odd","result":{"winner":"P01","score":{"P01":3,"P02":0},"details":{"drawn_number":8,"choices":{"P01":"even","P02":"odd"}}}"#;
    Ok(vec![
        request::<Register>(
            "LEAGUE_REGISTER_REQUEST",
            call("register_player", "LEAGUE_REGISTER_REQUEST", &format!(r#","player_meta":{meta}"#)),
        )?,
        request::<Register>(
            "REFEREE_REGISTER_REQUEST",
            call("register_referee", "REFEREE_REGISTER_REQUEST", &format!(r#","referee_meta":{referee}"#)),
        )?,
        request::<Query>(
            "LEAGUE_QUERY",
            call(
                "league_query",
                "LEAGUE_QUERY",
                r#","league_id":"league_even_odd_1","query_type":"GET_PLAYER_STATS","query_params":{"player_id":"P01"}"#,
            ),
        )?,
        request::<Query>("LEAGUE_DEREGISTER_REQUEST", call("deregister_player", "LEAGUE_DEREGISTER_REQUEST", ""))?,
        request::<Query>("MATCH_RESULT_REPORT", call("report_match_result", "MATCH_RESULT_REPORT", result_of))?,
        request::<Answered>(
            "CHOOSE_PARITY_RESPONSE, sent",
            call(
                "choose_parity_response",
                "CHOOSE_PARITY_RESPONSE",
                r#","match_id":"R1M1","player_id":"P01","parity_choice":"even""#,
            ),
        )?,
        replied::<Answered>(
            "GAME_JOIN_ACK",
            result("GAME_JOIN_ACK", r#""arrival_timestamp":"2026-01-15T10:15:01Z","accept":true"#),
        )?,
        replied::<Answered>("CHOOSE_PARITY_RESPONSE", result("CHOOSE_PARITY_RESPONSE", r#""parity_choice":"even""#))?,
        replied::<Answered>("MOVE_RESPONSE", result("MOVE_RESPONSE", r#""move":{"action":"choose","value":"even"}"#))?,
        replied::<Status>("a receipt", r#"{"jsonrpc":"2.0","result":{"status":"ok"},"id":1001}"#.into())?,
    ])
}

/// A message that an agent sends.
fn request<M: Readable>(name: &'static str, text: String) -> Result<Timed, String> {
    let text = text.as_bytes();
    let ours = |look: Look| look(&Incoming::read(text, false).ok().and_then(|incoming| M::As::of(incoming.message)));
    let theirs = |look: Look| look(&serde_json::from_slice::<Asked<M::As<'_>>>(text).ok().map(|call| call.params));
    reading(name, text, ours, theirs)
}

/// A message that a player answers with.
fn replied<M: Readable>(name: &'static str, text: String) -> Result<Timed, String> {
    let text = text.as_bytes();
    let ours = |look: Look| {
        let mut room = [0; TEXT_BYTES];
        look(&match reply::unwrap(text, &mut room, Dialect::Canonical, 1001, &mut |_, _| {}) {
            Reply::Message(message) => M::As::of(message),
            _ => None,
        })
    };
    let theirs = |look: Look| look(&serde_json::from_slice::<Told<M::As<'_>>>(text).ok().map(|told| told.result));
    reading(name, text, ours, theirs)
}

/// Looks at what was read: closely to compare it, or only so that reading it is not optimised away.
type Look = fn(&dyn Debug) -> String;

fn closely(read: &dyn Debug) -> String {
    format!("{read:?}")
}

fn hardly(read: &dyn Debug) -> String {
    black_box(read);
    String::new()
}

fn reading(
    name: &'static str,
    text: &[u8],
    ours: impl Fn(Look) -> String,
    theirs: impl Fn(Look) -> String,
) -> Result<Timed, String> {
    let [one, other] = [ours(closely), theirs(closely)];
    if one != other || one == "None" {
        return Err(format!("{name} is read as {one} by us and as {other} by serde_json"));
    }
    Ok(Timed { name, bytes: text.len(), ns: race(|| ours(hardly), || theirs(hardly)) })
}

/// A call to a player.
fn call<B: Serialize>(kind: Message, body: B) -> Result<Timed, String> {
    let method = kind.method(Dialect::Canonical, 0).unwrap_or_default();
    let message = message(kind.name(), Some(OUR_TOKEN), body);
    writing(kind.name(), Call { dialect: Dialect::Canonical, method, id: 1001, message })
}

/// An answer to an agent.
fn answer<B: Serialize>(message_type: &'static str, token: Option<Shown<Token>>, body: B) -> Result<Timed, String> {
    let envelope = Envelope { dialect: Dialect::Canonical, id: Some("7") };
    writing(message_type, Answer { envelope, message: message(message_type, token, body) })
}

fn message<B>(message_type: &'static str, auth_token: Option<Shown<Token>>, body: B) -> Joined<Head<'static>, B> {
    let head = Head {
        protocol: PROTOCOL,
        message_type,
        sender: Shown(Sender { referee: false, with_id: false }),
        timestamp: AT,
        conversation_id: Conversation::Seat(R1M1, 0),
        auth_token,
        league_id: Shown(LeagueId { game: GAME, number: 1 }),
    };
    Joined(head, body)
}

fn writing(name: &'static str, value: impl Serialize) -> Result<Timed, String> {
    let (mut buf, mut vec) = ([0; ROOM], Vec::with_capacity(ROOM));
    let mut ours = || {
        let mut slice = Slice::new(&mut buf);
        let fits = json::write(&value, &mut slice);
        fits.map_or(0, |()| black_box(slice.written()).len())
    };
    let mut theirs = || {
        vec.clear();
        let fits = serde_json::to_writer(&mut vec, &value);
        fits.map_or(0, |()| black_box(&vec).len())
    };
    let bytes = ours();
    theirs();
    let ns = race(&mut ours, &mut theirs);
    let [one, other] = [&buf[..bytes], &vec].map(|text| serde_json::from_slice(text).map(plain).ok());
    if one != other || one.is_none() {
        return Err(format!("{name} is written as {one:?} by us and as {other:?} by serde_json"));
    }
    Ok(Timed { name, bytes, ns })
}

/// What both writers mean. Two things are only known to ours: objects that are joined, which serde_json writes as a pair,
/// and text that is JSON already, such as the id of an answer.
fn plain(value: serde_json::Value) -> serde_json::Value {
    let serde_json::Value::Object(members) = value else { return value };
    let mean = |(name, value): (String, serde_json::Value)| match value {
        serde_json::Value::Array(pair) if ["params", "result", "game_result"].contains(&name.as_str()) => {
            let parts = pair.into_iter().map(plain).filter_map(|part| part.as_object().cloned());
            (name, parts.flatten().collect())
        }
        value => (name, plain(value)),
    };
    members.into_iter().filter(|(name, _)| name != "id").map(mean).collect()
}

/// Room for any of these messages.
const ROOM: usize = 4096;
const AT: Shown<Utc> = Shown(Utc(1_768_471_200));
const R1M1: MatchId = MatchId { round: 1, table: 1 };
const P01: Shown<AgentId> = Shown(AgentId::Player(1));
const P02: Shown<AgentId> = Shown(AgentId::Player(2));
const OUR_TOKEN: Shown<Token> = Shown(Token { of: OUR_REFEREE, secret: [0x5a; 16] });
const SEED: Shown<Seed> = Shown(Seed([0xa5; 32]));
const GAME: &str = "even_odd";

/// What a game itself tells of a match.
#[derive(Serialize)]
struct Drawn {
    drawn_number: u8,
    number_parity: &'static str,
    choices: [(Shown<AgentId>, &'static str); 2],
    reason: &'static str,
}

#[derive(Serialize)]
struct Table<'a> {
    standings: &'a [Row<'a>],
}

fn writings() -> Result<Vec<Timed>, String> {
    let (round_id, match_id, player_id, opponent_id, game_type) = (1, Shown(R1M1), P01, P02, GAME);
    let (deadline, seed_commitment) = (AT, SEED);
    let tally = || YourStandings { wins: 1, losses: 0, draws: 0, points: 3 };
    let context = || Context { opponent_id, opponent_ids: Ids::default(), round_id, your_standings: tally() };
    let result = GameResult {
        status: "WIN",
        winner_player_id: Some(P01),
        score: Score([(P01.0, Verdict::Win), (P02.0, Verdict::Loss)].into_iter().collect()),
        end_reason: "win",
    };
    let drawn = Drawn {
        drawn_number: 8,
        number_parity: "even",
        choices: [(P01, "even"), (P02, "odd")],
        reason: "P01 chose even, number was 8 (even)",
    };
    let game_result = Joined(result, drawn);
    let endpoint = |text: &str| {
        let text = format!("\"{text}\"");
        let text = json::parse(text.as_bytes()).ok().and_then(Value::as_str);
        text.and_then(|text| Endpoint::read(text, std::net::Ipv4Addr::LOCALHOST.into(), false))
            .map(Contact::Dial)
            .ok_or("an endpoint")
    };
    let (one, two) = (endpoint("http://192.168.1.10:8101/mcp")?, endpoint("http://192.168.1.11:8102/mcp")?);
    let matches = [1, 2].map(|table| AnnouncedMatch {
        match_id: MatchId { round: 1, table },
        game_type,
        players: [(P01.0, Url(&one)), (P02.0, Url(&two))].into_iter().collect(),
        referee_id: OUR_REFEREE,
        referee_endpoint: "http://192.168.1.2:8000/mcp",
    });
    let standings = &[1, 2, 3, 4].map(|rank| Row {
        rank,
        player_id: Shown(AgentId::Player(rank)),
        display_name: "Agent Alpha",
        played: 3,
        wins: 2,
        draws: 0,
        losses: 1,
        technical_losses: 0,
        points: 6,
    });
    let game_state = GameState {
        game_type,
        turn_number: 1,
        timeout_seconds: 30,
        last_turn: (),
        game_specific_state: Table { standings: &[] },
    };
    Ok(vec![
        call(Message::RoundAnnouncement, RoundAnnouncement { round_id, total_rounds: 3, matches })?,
        call(
            Message::GameInvitation,
            GameInvitation {
                round_id,
                match_id,
                game_id: None,
                game_type,
                role_in_match: "PLAYER_A",
                player_id,
                opponent_id,
                opponent_ids: Ids::default(),
                seed_commitment,
            },
        )?,
        call(
            Message::ChooseParity,
            ChooseParityCall { round_id, match_id, game_id: None, player_id, game_type, context: context(), deadline },
        )?,
        call(
            Message::MoveRequest,
            MoveRequest { round_id, match_id, player_id, game_type, context: context(), game_state, deadline },
        )?,
        call(
            Message::MoveValidation,
            MoveValidation {
                round_id,
                match_id,
                validation: Validation { player_id, r#move: "even", status: "VALID", error: None },
            },
        )?,
        call(
            Message::GameOver,
            GameOver { round_id, match_id, player_id, game_type, game_result, seed_commitment, match_seed: SEED },
        )?,
        call(
            Message::GameError,
            GameError {
                round_id,
                match_id,
                error_code: "E001",
                error_description: "TIMEOUT_ERROR",
                detail: "no answer came before the deadline",
                affected_player: P01,
                action_required: "CHOOSE_PARITY_RESPONSE",
                retryable: true,
                retry_count: 1,
                max_retries: 3,
                retry_info: RetryInfo { retry_count: 1, max_retries: 3, next_retry_at: AT },
                consequence: "Technical loss if no response after retries",
            },
        )?,
        call(Message::Standings, StandingsUpdate { round_id, standings })?,
        call(
            Message::RoundCompleted,
            RoundCompleted {
                round_id,
                matches_played: 2,
                matches_completed: 2,
                next_round_id: Some(2),
                summary: RoundSummary { total_matches: 2, wins: 1, draws: 1, technical_losses: 0 },
            },
        )?,
        call(
            Message::LeagueCompleted,
            LeagueCompleted {
                total_rounds: 3,
                total_matches: 6,
                champion: Some(Champion { player_id, display_name: "Agent Alpha", points: 9 }),
                final_standings: standings,
            },
        )?,
        answer(
            "LEAGUE_REGISTER_RESPONSE",
            Some(OUR_TOKEN),
            RegisterResponse {
                status: "ACCEPTED",
                player_id: Some(Shown(GivenId(Some(P01.0)))),
                referee_id: None,
                error_code: None,
                error_description: None,
                reason: None,
                detail: None,
            },
        )?,
        answer(
            "LEAGUE_QUERY_RESPONSE",
            None,
            QueryResponse { query_type: "GET_STANDINGS", status: "SUCCESS", success: true, data: Table { standings } },
        )?,
        answer(
            "LEAGUE_ERROR",
            None,
            LeagueError {
                error_code: "E012",
                error_description: "AUTH_TOKEN_INVALID",
                detail: "auth_token is not the one you got when you registered",
                affected_player: None,
                action_required: "Correct the message and send it again",
                context: ErrorContext { action: "LEAGUE_MESSAGE" },
            },
        )?,
        answer("RECEIPT", None, Receipt { status: "RECEIVED", reason: None })?,
    ])
}
