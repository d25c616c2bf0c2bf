//! What agents send to the box: the envelope in any dialect, and the message inside.

use core::fmt::{self, Write as _};

use super::dialect::Dialect;
use crate::json::{self, Str, Value};

/// What an agent wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// LEAGUE_REGISTER_REQUEST
    RegisterPlayer,
    /// REFEREE_REGISTER_REQUEST
    RegisterReferee,
    /// LEAGUE_DEREGISTER_REQUEST
    Deregister,
    /// LEAGUE_QUERY
    Query,
    /// GAME_JOIN_ACK, sent instead of answered.
    JoinAck,
    /// CHOOSE_PARITY_RESPONSE or MOVE_RESPONSE, sent instead of answered.
    Move,
    /// MATCH_RESULT_REPORT
    ResultReport,
    /// A referee comes and asks which matches it has.
    AssignedMatches,
    /// `ping`
    Ping,
}

/// By message type, by method, by tool: the names an agent may call a request by.
const NAMES: &[(&str, Request)] = &[
    ("LEAGUE_REGISTER_REQUEST", Request::RegisterPlayer),
    ("register_player", Request::RegisterPlayer),
    ("league_register", Request::RegisterPlayer),
    ("league_register_request", Request::RegisterPlayer),
    ("REFEREE_REGISTER_REQUEST", Request::RegisterReferee),
    ("register_referee", Request::RegisterReferee),
    ("referee_register_request", Request::RegisterReferee),
    ("LEAGUE_DEREGISTER_REQUEST", Request::Deregister),
    ("deregister_player", Request::Deregister),
    ("league_deregister", Request::Deregister),
    ("LEAGUE_QUERY", Request::Query),
    ("league_query", Request::Query),
    ("GAME_JOIN_ACK", Request::JoinAck),
    ("GAME_INVITATION_RESPONSE", Request::JoinAck),
    ("game_join_ack", Request::JoinAck),
    ("CHOOSE_PARITY_RESPONSE", Request::Move),
    ("PARITY_CHOICE", Request::Move),
    ("MOVE_RESPONSE", Request::Move),
    ("choose_parity_response", Request::Move),
    ("parity_choice", Request::Move),
    ("move_response", Request::Move),
    ("MATCH_RESULT_REPORT", Request::ResultReport),
    ("report_match_result", Request::ResultReport),
    ("match_result_report", Request::ResultReport),
    ("get_assigned_matches", Request::AssignedMatches),
    ("GET_ASSIGNED_MATCHES", Request::AssignedMatches),
    ("ping", Request::Ping),
    ("PING", Request::Ping),
];

/// How the answer has to be wrapped.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The dialect to answer in.
    pub dialect: Dialect,
    /// The JSON-RPC id, as its own text; `None` where the agent sent none.
    pub id: Option<&'a str>,
}

/// A message an agent sent.
#[derive(Clone, Copy)]
pub struct Incoming<'a> {
    /// How to wrap the answer.
    pub envelope: Envelope<'a>,
    /// The dialect in which the agent wants to be called.
    pub dialect: Dialect,
    /// What it wants.
    pub request: Request,
    /// The message itself, flat.
    pub message: Value<'a>,
}

/// How much of an unknown name is repeated.
const SHOWN_CHARS: usize = 64;

/// Why a message could not be understood, as JSON-RPC counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection<'a> {
    /// -32700
    NotJson(json::Error),
    /// -32600
    NotARequest(&'static str),
    /// -32601, with the name that is unknown, as it was written.
    UnknownMethod(&'a str),
    /// -32602
    BadParams(&'static str),
    /// -32603
    Internal(&'static str),
}

impl Rejection<'_> {
    /// The code of JSON-RPC 2.0.
    pub fn code(&self) -> i32 {
        match self {
            Rejection::NotJson(_) => -32700,
            Rejection::NotARequest(_) => -32600,
            Rejection::UnknownMethod(_) => -32601,
            Rejection::BadParams(_) => -32602,
            Rejection::Internal(_) => -32603,
        }
    }
}

impl fmt::Display for Rejection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::NotJson(error) => write!(f, "Parse error: {error}"),
            Rejection::NotARequest(rule) => write!(f, "Invalid Request: {rule}"),
            Rejection::UnknownMethod(name) => {
                f.write_str("Method not found: ")?;
                name.chars().take(SHOWN_CHARS).try_for_each(|c| f.write_char(c))?;
                f.write_str(" is no message of league.v2, such as register_player")
            }
            Rejection::BadParams(rule) => write!(f, "Invalid params: {rule}"),
            Rejection::Internal(what) => write!(f, "Internal error: {what}"),
        }
    }
}

impl<'a> Incoming<'a> {
    /// Reads a message. `registers` says that it came to `/register`, where a flat message without a type registers a
    /// player. On failure the envelope says how to answer all the same.
    pub fn read(text: &'a [u8], registers: bool) -> Result<Incoming<'a>, (Rejection<'a>, Envelope<'a>)> {
        let none = Envelope { dialect: Dialect::Canonical, id: None };
        let names = ["jsonrpc", "method", "params", "id", "result", "message_type"];
        let inner_names = ["message", "name", "arguments"];
        let (root, members, in_params) = json::parse_members(text, names, "params", inner_names)
            .map_err(|error| (Rejection::NotJson(error), none))?;
        if root.kind() != json::Kind::Object {
            return Err((Rejection::NotARequest("the message must be one JSON object; batches are not taken"), none));
        }
        let [version, method, params, id, result, message_type] = members;
        if version.is_none() && method.is_none() {
            // The message itself, no JSON-RPC.
            let request = match message_type.and_then(Value::as_str) {
                Some(name) => named(name),
                None if registers => Some(who_registers(root)),
                None => None,
            };
            // A flat registration is followed by calls in the canonical dialect.
            let dialect = if message_type.is_some() { Dialect::Bare } else { Dialect::Canonical };
            let envelope = Envelope { dialect: Dialect::Bare, id: None };
            let rule = "jsonrpc, method and params are required, or message_type for a bare message";
            return match (request, message_type) {
                (Some(request), _) => Ok(Incoming { envelope, dialect, request, message: root }),
                (None, Some(name)) => Err((Rejection::UnknownMethod(name.raw()), envelope)),
                (None, None) => Err((Rejection::NotARequest(rule), none)),
            };
        }
        let is_id = |id: &Value<'_>| matches!(id.kind(), json::Kind::String | json::Kind::Number | json::Kind::Null);
        let envelope = Envelope { dialect: Dialect::Canonical, id: id.filter(is_id).map(Value::raw) };
        if id.is_some_and(|id| !is_id(&id)) {
            return Err((Rejection::NotARequest("id must be a string, a number or null"), envelope));
        }
        if version.is_some_and(|version| !version.as_str().is_some_and(|text| text.is("2.0"))) {
            return Err((Rejection::NotARequest("jsonrpc must be \"2.0\""), envelope));
        }
        let Some(method) = method else {
            // An answer that comes as a message of its own.
            let Some(message) = result else {
                return Err((Rejection::NotARequest("method is required"), envelope));
            };
            return match message.get("message_type").and_then(Value::as_str).and_then(named) {
                Some(request) => Ok(Incoming { envelope, dialect: envelope.dialect, request, message }),
                None => Err((Rejection::NotARequest("method is required"), envelope)),
            };
        };
        let raw_method = method.raw();
        let Some(method) = method.as_str() else {
            return Err((Rejection::NotARequest("method must be a string"), envelope));
        };
        let (params, in_params) = match params.filter(|params| !params.is_null()) {
            Some(params) => (params, in_params),
            None => (root, root.members(inner_names)),
        };
        let is_object = |value: &Value<'_>| value.kind() == json::Kind::Object;
        let [inner, name, arguments] = in_params;
        let (dialect, name, message) = if method.is("tools/call") {
            let Some(name) = name.and_then(Value::as_str) else {
                return Err((Rejection::BadParams("params.name must name a tool"), envelope));
            };
            let arguments = arguments.filter(is_object).unwrap_or(params);
            (Dialect::McpTools, name, arguments.get("message").filter(is_object).unwrap_or(arguments))
        } else if let Some(message) = inner.filter(is_object) {
            (Dialect::Nested, method, message)
        } else if method.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            (Dialect::MessageType, method, params)
        } else {
            (Dialect::Canonical, method, params)
        };
        let envelope = Envelope { dialect, ..envelope };
        let by_type = || message.get("message_type").and_then(Value::as_str).and_then(named);
        match named(name).or_else(by_type) {
            Some(_) if !is_object(&message) && !method.chars().any(|c| c == '/') => {
                Err((Rejection::BadParams("params must be an object"), envelope))
            }
            Some(request) => Ok(Incoming { envelope, dialect, request, message }),
            None => Err((Rejection::UnknownMethod(raw_method), envelope)),
        }
    }
}

/// The id of the call that a message answers, where calls go both ways on one connection: `None` for a message of the
/// agent's own. An answer without an id, or with one we never gave, answers call 0, which is never open.
pub fn answered_call(text: &[u8]) -> Option<u32> {
    let names = ["method", "message_type", "result", "error", "id"];
    let (_, [method, message_type, result, error, id], []) = json::parse_members(text, names, "", []).ok()?;
    let is_own = method.is_some() || message_type.is_some() || (result.is_none() && error.is_none());
    if is_own {
        return None;
    }
    Some(id.and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok()).unwrap_or(0))
}

/// Who registers with a flat message without a type: a player, unless it says otherwise.
fn who_registers(message: Value<'_>) -> Request {
    let [agent_type, referee_meta] = message.members(["agent_type", "referee_meta"]);
    let says_so = agent_type.and_then(Value::as_str).is_some_and(|kind| kind.is_ignore_ascii_case("referee"));
    let has_meta = agent_type.is_none() && referee_meta.is_some_and(|meta| meta.kind() == json::Kind::Object);
    if says_so || has_meta { Request::RegisterReferee } else { Request::RegisterPlayer }
}

fn named(name: Str<'_>) -> Option<Request> {
    NAMES.iter().find(|(known, _)| name.is(known)).map(|&(_, request)| request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Dialect, Request, Option<&str>), i32> {
        match Incoming::read(text.as_bytes(), false) {
            Ok(incoming) => Ok((incoming.envelope.dialect, incoming.request, incoming.envelope.id)),
            Err((rejection, _)) => Err(rejection.code()),
        }
    }

    #[test]
    fn an_answer_is_told_from_a_message_of_the_agents_own_by_what_it_has() {
        for (text, answers) in [
            (r#"{"jsonrpc":"2.0","id":1001,"result":{"accept":true}}"#, Some(1001)),
            (r#"{"jsonrpc":"2.0","id":1001,"error":{"code":-32601}}"#, Some(1001)),
            (r#"{"jsonrpc":"2.0","id":1001,"result":null}"#, Some(1001)),
            (r#"{"jsonrpc":"2.0","id":"1001","result":{}}"#, Some(0)),
            (r#"{"jsonrpc":"2.0","id":99999999999,"result":{}}"#, Some(0)),
            (r#"{"jsonrpc":"2.0","result":{}}"#, Some(0)),
            (r#"{"jsonrpc":"2.0","id":1001,"method":"league_query","params":{}}"#, None),
            (r#"{"message_type":"MATCH_RESULT_REPORT","result":{"winner":"P01"}}"#, None),
            (r#"{"id":1001}"#, None),
            ("[]", None),
            ("no", None),
        ] {
            assert_eq!(answered_call(text.as_bytes()), answers, "{text}");
        }
    }

    #[test]
    fn an_agent_is_understood_in_all_five_dialects() {
        use Request::RegisterPlayer as Register;
        for (text, dialect) in [
            (r#"{"jsonrpc":"2.0","method":"register_player","params":{},"id":1}"#, Dialect::Canonical),
            (r#"{"jsonrpc":"2.0","method":"LEAGUE_REGISTER_REQUEST","params":{},"id":1}"#, Dialect::MessageType),
            (
                r#"{"jsonrpc":"2.0","method":"handle_message","params":{"message":{"message_type":"LEAGUE_REGISTER_REQUEST"}},"id":1}"#,
                Dialect::Nested,
            ),
            (
                r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"register_player","arguments":{}},"id":1}"#,
                Dialect::McpTools,
            ),
        ] {
            assert_eq!(read(text), Ok((dialect, Register, Some("1"))), "{text}");
        }
        assert_eq!(read(r#"{"message_type":"LEAGUE_REGISTER_REQUEST"}"#), Ok((Dialect::Bare, Register, None)));
        let flat = Incoming::read(br#"{"display_name":"x","endpoint":"y"}"#, true).ok().unwrap();
        assert_eq!((flat.envelope.dialect, flat.dialect, flat.request), (Dialect::Bare, Dialect::Canonical, Register));
    }

    #[test]
    fn the_generic_method_of_the_specifications_client_is_understood_by_its_message_type() {
        let text = r#"{"jsonrpc":"2.0","method":"mcp_message","params":{"message_type":"LEAGUE_QUERY"},"id":"a"}"#;
        assert_eq!(read(text), Ok((Dialect::Canonical, Request::Query, Some("\"a\""))));
    }

    #[test]
    fn an_id_is_kept_as_it_was_written() {
        for id in ["1", "1.50", "\"x\\u0041\"", "null", "-0"] {
            let text = std::format!(r#"{{"jsonrpc":"2.0","method":"ping","id":{id}}}"#);
            assert_eq!(read(&text).unwrap().2, Some(id));
        }
    }

    #[test]
    fn an_id_that_is_no_string_number_or_null_makes_no_request_and_is_not_repeated() {
        for id in ["[1, 2]", "{\"a\":1}", "true", "false", "[]"] {
            for rest in [r#""method":"ping""#, r#""method":"fly""#, r#""result":{"message_type":"GAME_JOIN_ACK"}"#] {
                let text = std::format!(r#"{{"jsonrpc":"2.0",{rest},"id":{id}}}"#);
                let (rejection, envelope) = Incoming::read(text.as_bytes(), false).err().unwrap();
                assert_eq!((rejection.code(), envelope.id), (-32600, None), "{text}");
            }
        }
    }

    #[test]
    fn params_that_are_null_are_as_if_there_were_none() {
        for method in ["ping", "register_player", "tools/list", "fly", "tools/call"] {
            let with = std::format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":null,"id":1}}"#);
            assert_eq!(read(&with), read(&with.replace(r#""params":null,"#, "")), "{method}");
        }
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","method":"ping","params":null,"id":1}"#),
            Ok((Dialect::Canonical, Request::Ping, Some("1")))
        );
    }

    #[test]
    fn a_flat_registration_says_whether_it_is_a_referees() {
        use Request::{RegisterPlayer, RegisterReferee};
        for (text, request) in [
            (r#"{"agent_type":"referee","display_name":"x"}"#, RegisterReferee),
            (r#"{"agent_type":"REFEREE"}"#, RegisterReferee),
            (r#"{"referee_meta":{"display_name":"x"}}"#, RegisterReferee),
            (r#"{"agent_type":"player"}"#, RegisterPlayer),
            (r#"{"agent_type":"player","referee_meta":{}}"#, RegisterPlayer),
            (r#"{"agent_type":7}"#, RegisterPlayer),
            (r#"{"display_name":"referee"}"#, RegisterPlayer),
        ] {
            assert_eq!(Incoming::read(text.as_bytes(), true).ok().unwrap().request, request, "{text}");
        }
    }

    #[test]
    fn every_kind_of_nonsense_has_its_json_rpc_code() {
        assert_eq!(read("{"), Err(-32700));
        assert_eq!(read("[]"), Err(-32600));
        assert_eq!(read("{}"), Err(-32600));
        assert_eq!(read(r#"{"jsonrpc":"1.0","method":"ping","id":1}"#), Err(-32600));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1}"#), Err(-32600));
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":1,"id":1}"#), Err(-32600));
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"fly","id":1}"#), Err(-32601));
        assert_eq!(read(r#"{"message_type":"FLY"}"#), Err(-32601));
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"register_player","params":[1],"id":1}"#), Err(-32602));
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"tools/call","params":{},"id":1}"#), Err(-32602));
    }

    extern crate std;
}
