//! What clients send: which era it is of, if it is MCP at all, and what is wanted. What breaks a rule of MCP itself is a [`Fault`], which
//! is a JSON-RPC error; what is wrong with a tool's arguments is an answer of that tool, for the model to read.

use core::fmt::{self, Write as _};

use super::{Era, HANDSHAKE, LONGEST_WAIT, STATELESS, USUAL_WAIT};
use crate::games::GameKind;
use crate::ids::MatchId;
use crate::json::{self, Kind, Str, Value};
use crate::venue::Command;

/// The headers that come along with a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers<'a> {
    /// `MCP-Protocol-Version`
    pub version: Option<&'a str>,
    /// `Mcp-Method`
    pub method: Option<&'a str>,
    /// `Mcp-Name`
    pub name: Option<&'a str>,
}

/// A message of MCP.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// Its era.
    pub era: Era,
    /// Its id, as it was written; `null` where that is not known.
    pub id: &'a str,
    /// What is wanted.
    pub want: Want<'a>,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Want<'a> {
    /// No answer: it was a notification, or itself an answer.
    Nothing,
    /// `server/discover`
    Discover,
    /// `initialize`, to be answered with this revision.
    Initialize(&'static str),
    /// `ping`
    Ping,
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    Templates,
    /// `resources/read`, with its URI as it was written.
    Read(Page, &'a str),
    /// `prompts/list`
    Prompts,
    /// `prompts/get`, with the name the player is to have, as it was written.
    Prompt(Option<&'a str>),
    /// `tools/call`
    Call(Call<'a>),
    /// It breaks a rule of the protocol.
    Wrong(Fault<'a>),
}

/// What can be seen by anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are the tools and the resources of these names")]
pub enum Page {
    Status,
    Games,
    Standings,
    Schedule,
    Skill,
    Rules(GameKind),
    Match(MatchId),
}

/// A tool that is called. Tokens are as they were written.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the tools' own descriptions say what is what")]
pub enum Call<'a> {
    Look(Page),
    /// `join_league`, with all its arguments.
    Join(Value<'a>),
    NextTurn {
        token: Str<'a>,
        wait: u8,
    },
    Play {
        token: Str<'a>,
        id: MatchId,
        wanted: Value<'a>,
        thought: Option<Str<'a>>,
    },
    OpenTable {
        token: Str<'a>,
        game: GameKind,
        seats: Option<u8>,
    },
    Leave {
        token: Str<'a>,
    },
    /// What only the owner may do, with the code that is shown.
    Order(Command, Str<'a>),
    /// A tool of league.v2, which reads the message itself.
    League,
    /// The arguments break this rule.
    Refused(&'static str),
}

/// The tools of league.v2 that are listed.
const LEAGUE_V2: [&str; 4] = ["register_player", "register_referee", "league_query", "report_match_result"];

/// The box's own.
const TOOLS: [&str; 14] = [
    "get_status",
    "list_games",
    "get_standings",
    "get_schedule",
    "get_rules",
    "get_match",
    "join_league",
    "next_turn",
    "play",
    "open_table",
    "leave",
    "start_league",
    "pause_league",
    "resume_league",
];

/// Why a message is none, as JSON-RPC and MCP count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault<'a> {
    /// -32700
    NotJson(json::Error),
    /// -32600
    NotARequest(&'static str),
    /// -32601, with the name as it was written.
    UnknownMethod(&'a str),
    /// -32602
    BadParams(&'static str),
    /// -32020: a header does not say what the body says.
    Header(&'static str),
    /// -32022, with the revision that is asked for as it was written.
    Version(&'a str),
}

impl Fault<'_> {
    /// The code.
    pub fn code(&self) -> i32 {
        match self {
            Fault::NotJson(_) => -32700,
            Fault::NotARequest(_) => -32600,
            Fault::UnknownMethod(_) => -32601,
            Fault::BadParams(_) => -32602,
            Fault::Header(_) => -32020,
            Fault::Version(_) => -32022,
        }
    }

    /// The HTTP status. Clients of the handshake read no error that comes with another than 200, so it has one only where there is no
    /// message to answer.
    pub fn status(&self, era: Era) -> u16 {
        match (self, era) {
            (Fault::NotJson(_) | Fault::NotARequest(_), _) => 400,
            (_, Era::Handshake) => 200,
            (Fault::UnknownMethod(_), Era::Stateless) => 404,
            (_, Era::Stateless) => 400,
        }
    }
}

/// How much of an unknown name is repeated.
const SHOWN_CHARS: usize = 64;

impl fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotJson(error) => write!(f, "Parse error: {error}"),
            Fault::NotARequest(rule) => write!(f, "Invalid Request: {rule}"),
            Fault::UnknownMethod(name) => {
                f.write_str("Method not found: ")?;
                name.chars().take(SHOWN_CHARS).try_for_each(|c| f.write_char(c))
            }
            Fault::BadParams(rule) => write!(f, "Invalid params: {rule}"),
            Fault::Header(rule) => write!(f, "Header mismatch: {rule}"),
            Fault::Version(_) => f.write_str("Unsupported protocol version: data.supported has those there are"),
        }
    }
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A message, taken apart.
#[derive(Clone, Copy)]
struct Parts<'a> {
    method: Option<Str<'a>>,
    raw_method: &'a str,
    params: Option<Value<'a>>,
    meta: Option<Value<'a>>,
    name: Option<Value<'a>>,
    arguments: Option<Value<'a>>,
    uri: Option<Value<'a>>,
}

/// Reads a message. `None` where it is league.v2's.
pub fn read<'a>(headers: Headers<'a>, body: &'a [u8]) -> Option<Asking<'a>> {
    // Most messages are league.v2's moves, and known by this to be no others: names of methods, and of revisions, have a slash.
    let says_so = headers.version.is_some();
    if !says_so && !body.contains(&b'/') && !body.windows(10).any(|word| word == b"initialize") {
        return None;
    }
    let names = ["jsonrpc", "method", "params", "id", "result", "error"];
    let read = json::parse_members(body, names, "params", ["_meta", "name", "arguments", "uri"]);
    let (root, [version, method, params, id, result, error], [meta, name, arguments, uri]) = match read {
        Ok(read) => read,
        Err(error) => {
            let era = era_of(headers.version);
            return says_so.then_some(Asking { era, id: "null", want: Want::Wrong(Fault::NotJson(error)) });
        }
    };
    let raw_method = method.map_or("", Value::raw);
    let parts = Parts { method: method.and_then(Value::as_str), raw_method, params, meta, name, arguments, uri };
    let in_body = meta.and_then(|meta| meta.get(VERSION));
    let era = match headers.version {
        _ if in_body.is_some() || parts.is("server/discover") => Era::Stateless,
        Some(_) => era_of(headers.version),
        None if parts.is_of_mcp() => Era::Handshake,
        None => return None,
    };
    let is_id = |id: &Value<'_>| matches!(id.kind(), Kind::String | Kind::Number);
    let known_id = id.filter(is_id).map_or("null", Value::raw);
    let wrong = |rule| Want::Wrong(Fault::NotARequest(rule));
    let want = if root.kind() != Kind::Object {
        wrong("the message must be one JSON object; batches are not taken")
    } else if !version.and_then(Value::as_str).is_some_and(|text| text.is("2.0")) {
        wrong("jsonrpc must be \"2.0\"")
    } else if method.is_none() && (result.is_some() || error.is_some()) {
        Want::Nothing
    } else if parts.method.is_none() {
        wrong("method must be a string")
    } else if id.is_some_and(|id| !is_id(&id)) {
        wrong("id must be a string or a number")
    } else if id.is_none() {
        Want::Nothing
    } else {
        match era {
            Era::Stateless => parts.check(headers, in_body).map_or_else(Want::Wrong, |()| parts.want(era)),
            Era::Handshake => parts.want(era),
        }
    };
    Some(Asking { era, id: known_id, want })
}

/// The era of a revision. One that is not known is for the later to refuse, which has words for it.
fn era_of(version: Option<&str>) -> Era {
    if version.is_some_and(|version| HANDSHAKE.contains(&version)) { Era::Handshake } else { Era::Stateless }
}

impl<'a> Parts<'a> {
    fn is(&self, method: &str) -> bool {
        self.method.is_some_and(|name| name.is(method))
    }

    /// Whether a message that says no revision is MCP's all the same. `ping` is league.v2's, and so are its tools: agents that call them
    /// by no more than their names are answered as they always were.
    fn is_of_mcp(&self) -> bool {
        let is_own = || {
            let name = self.name.and_then(Value::as_str);
            name.is_some_and(|name| TOOLS.iter().any(|tool| name.is(tool)))
        };
        let begins = |with: &str| self.method.is_some_and(|name| name.chars().take(with.len()).eq(with.chars()));
        self.is("initialize")
            || self.is("tools/list")
            || self.is("tools/call") && is_own()
            || ["resources/", "prompts/", "notifications/"].into_iter().any(begins)
    }

    /// Whether a request of the later era says all it must, and its headers the same.
    fn check(&self, headers: Headers<'_>, version: Option<Value<'a>>) -> Result<(), Fault<'a>> {
        let meta = self.meta.filter(|meta| meta.kind() == Kind::Object);
        let meta =
            meta.ok_or(Fault::BadParams("params._meta must be an object with protocolVersion and clientCapabilities"))?;
        let version =
            version.ok_or(Fault::BadParams("params._meta[io.modelcontextprotocol/protocolVersion] is missing"))?;
        if meta.get(CAPABILITIES).is_none_or(|can| can.kind() != Kind::Object) {
            return Err(Fault::BadParams("params._meta[io.modelcontextprotocol/clientCapabilities] must be an object"));
        }
        let says = |header: Option<&str>, value: Option<Str<'_>>| {
            // What no header can say as it is comes encoded; nobody between here and there goes by it.
            header.zip(value).is_some_and(|(header, value)| value.is(header) || header.starts_with("=?base64?"))
        };
        if !says(headers.version, version.as_str()) {
            return Err(Fault::Header(
                "MCP-Protocol-Version must be params._meta[io.modelcontextprotocol/protocolVersion]",
            ));
        }
        if !says(headers.method, self.method) {
            return Err(Fault::Header("Mcp-Method must be the method"));
        }
        let named = match self {
            _ if self.is("tools/call") || self.is("prompts/get") => self.name,
            _ if self.is("resources/read") => self.uri,
            _ => None,
        };
        if named.is_some_and(|named| !says(headers.name, named.as_str())) {
            return Err(Fault::Header("Mcp-Name must be params.name, or params.uri of resources/read"));
        }
        match version.as_str() {
            Some(text) if text.is(STATELESS) => Ok(()),
            _ => Err(Fault::Version(version.raw())),
        }
    }

    fn want(&self, era: Era) -> Want<'a> {
        let wrong = |rule| Want::Wrong(Fault::BadParams(rule));
        if self.params.is_some_and(|params| !params.is_null() && params.kind() != Kind::Object) {
            return wrong("params must be an object");
        }
        let named: &[(&str, Option<Era>, Want<'a>)] = &[
            ("server/discover", Some(Era::Stateless), Want::Discover),
            ("initialize", Some(Era::Handshake), Want::Initialize(self.revision())),
            ("ping", Some(Era::Handshake), Want::Ping),
            ("tools/list", None, Want::Tools),
            ("resources/list", None, Want::Resources),
            ("resources/templates/list", None, Want::Templates),
            ("prompts/list", None, Want::Prompts),
        ];
        if let Some((.., want)) = named.iter().find(|(name, of, _)| self.is(name) && of.is_none_or(|of| of == era)) {
            return *want;
        }
        if self.is("tools/call") {
            let name = self.name.and_then(Value::as_str);
            return match name.and_then(|name| self.call(name)) {
                Some(call) => Want::Call(call),
                None => wrong("params.name must be a tool that tools/list names"),
            };
        }
        if self.is("resources/read") {
            let page = self.uri.and_then(|uri| Some((page_of(uri.as_str()?)?, uri.raw())));
            return match page {
                Some((page, uri)) => Want::Read(page, uri),
                None => wrong("params.uri must be a resource that resources/list or resources/templates/list names"),
            };
        }
        if self.is("prompts/get") {
            let is_it = self.name.and_then(Value::as_str).is_some_and(|name| name.is("play"));
            let name = self.arguments.and_then(|arguments| arguments.get("name")).filter(|name| !name.is_null());
            return match is_it {
                false => wrong("params.name must be a prompt that prompts/list names"),
                true if name.is_some_and(|name| name.as_str().is_none()) => {
                    wrong("params.arguments.name must be a string")
                }
                true => Want::Prompt(name.map(Value::raw)),
            };
        }
        Want::Wrong(Fault::UnknownMethod(self.raw_method))
    }

    /// The revision that is spoken with whoever shakes hands.
    fn revision(&self) -> &'static str {
        let [latest, ..] = HANDSHAKE;
        let asked = self.params.and_then(|params| params.get("protocolVersion")?.as_str());
        HANDSHAKE.into_iter().find(|known| asked.is_some_and(|asked| asked.is(known))).unwrap_or(latest)
    }

    /// A tool that is called. `None` where there is no such tool.
    fn call(&self, name: Str<'_>) -> Option<Call<'a>> {
        if LEAGUE_V2.iter().any(|tool| name.is(tool)) {
            return Some(Call::League);
        }
        let tool = TOOLS.iter().find(|tool| name.is(tool))?;
        let is_object = |value: &Value<'_>| value.kind() == Kind::Object;
        let given = self.arguments.filter(|value| !value.is_null());
        Some(match given {
            Some(arguments) if !is_object(&arguments) => Call::Refused("arguments must be an object"),
            arguments => call(tool, arguments).unwrap_or_else(Call::Refused),
        })
    }
}

/// What a tool is called with.
fn call<'a>(tool: &str, arguments: Option<Value<'a>>) -> Result<Call<'a>, &'static str> {
    let names = ["token", "wait_seconds", "match_id", "move", "thought", "game", "seats", "admin_code"];
    let members = arguments.map_or([None; 8], |arguments| arguments.members(names));
    let [token, wait, id, wanted, thought, game, seats, code] =
        members.map(|value| value.filter(|value| !value.is_null()));
    let token = || token.and_then(Value::as_str).ok_or("token is required: the one that join_league has told you");
    let id = || {
        let id = id.and_then(Value::as_str).and_then(|id| MatchId::read(&id.text::<16>().ok()?));
        id.ok_or("match_id must be that of a match, such as R1M1")
    };
    let game = || {
        let game = game.and_then(Value::as_str).and_then(|name| game_called(name));
        game.ok_or("game must be one that list_games names")
    };
    let order = |command| {
        let code = code.and_then(Value::as_str).ok_or("admin_code is required: the box shows it to its owner")?;
        Ok(Call::Order(command, code))
    };
    match tool {
        "get_status" => Ok(Call::Look(Page::Status)),
        "list_games" => Ok(Call::Look(Page::Games)),
        "get_standings" => Ok(Call::Look(Page::Standings)),
        "get_schedule" => Ok(Call::Look(Page::Schedule)),
        "get_rules" => Ok(Call::Look(Page::Rules(game()?))),
        "get_match" => Ok(Call::Look(Page::Match(id()?))),
        "join_league" => Ok(arguments.map_or(Call::Refused("name is required"), Call::Join)),
        "next_turn" => {
            let wait = match wait {
                None => Some(USUAL_WAIT),
                Some(wait) => {
                    wait.as_whole().and_then(|wait| u8::try_from(wait).ok()).filter(|&wait| wait <= LONGEST_WAIT)
                }
            };
            Ok(Call::NextTurn {
                token: token()?,
                wait: wait.ok_or("wait_seconds must be a whole number from 0 to 25")?,
            })
        }
        "play" => {
            let thought = thought.map(|thought| thought.as_str().ok_or("thought must be a string")).transpose()?;
            let wanted = wanted.ok_or("move is required: one of legal_moves, or as get_rules says")?;
            Ok(Call::Play { token: token()?, id: id()?, wanted, thought })
        }
        "open_table" => {
            let (token, game) = (token()?, game()?);
            let whole = |seats: Value<'_>| seats.as_whole().and_then(|seats| u8::try_from(seats).ok());
            let seats = seats.map(|seats| whole(seats).filter(|seats| game.rules().seats.contains(seats)).ok_or(SEATS));
            Ok(Call::OpenTable { token, game, seats: seats.transpose()? })
        }
        "leave" => Ok(Call::Leave { token: token()? }),
        "start_league" => order(Command::Start),
        "pause_league" => order(Command::Pause),
        _ => order(Command::Resume),
    }
}

const SEATS: &str = "seats must be as many as list_games says the game has";

/// The game of this name.
fn game_called(name: Str<'_>) -> Option<GameKind> {
    GameKind::ALL.iter().copied().find(|game| name.is(game.rules().name))
}

/// What a URI leads to.
fn page_of(uri: Str<'_>) -> Option<Page> {
    let uri = uri.text::<64>().ok()?;
    match uri.strip_prefix("leaguebox://")? {
        "status" => Some(Page::Status),
        "standings" => Some(Page::Standings),
        "schedule" => Some(Page::Schedule),
        "skill" => Some(Page::Skill),
        path => GameKind::named(path.strip_prefix("games/")?).map(Page::Rules),
    }
}
