//! What stands around an answer, and what is told. A tool's answer says everything twice, once as JSON and once as a text of that:
//! whoever writes it is asked twice, and nothing is held.

use serde::Serialize;

use super::{Asking, Era, Fault, HANDSHAKE, STATELESS, Want};
use crate::games::GameKind;
use crate::json::{self, Full, Raw, Seq, Shown, Sink};
use crate::venue::Venue;

/// For how long clients need not ask again for what never changes, in milliseconds.
const TTL_MS: u32 = 60_000;

/// What a model is told of the box when it connects.
const INSTRUCTIONS: &str = "LeagueBox referees leagues of games. To play: call join_league with a name, keep the token, then call next_turn and \
     play in turns until next_turn says league_over. get_rules has the rules of a game. The prompt 'play' says all of it.";

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form<'a> {
    /// Of a tool: JSON, and the same as text.
    Tool,
    /// A tool refuses: the rule in words.
    Refusal,
    /// A resource: one text.
    Resource {
        /// Its URI, as it was written.
        uri: &'a str,
        /// What sort of text.
        kind: &'static str,
        /// Whether it stays as it is.
        is_fixed: bool,
    },
    /// A prompt: one text, for a player who wants to have this name, as it was written.
    Prompt(Option<&'a str>),
    /// A list, whose text is an object with nothing else in it.
    List,
}

/// What stands around an answer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    era: Era,
    id: &'a str,
    form: Form<'a>,
}

/// Writes a text, the same every time.
type Text<'t> = &'t dyn Fn(&mut dyn Sink) -> Result<(), Full>;

/// Writes the part of a text that a number names, moves it to the next, and says whether there is one.
type Rows<'t> = &'t dyn Fn(&mut u64, &mut dyn Sink) -> Result<bool, Full>;

impl<'a> Frame<'a> {
    /// Around the answer to a message.
    pub fn new(asking: &Asking<'a>, form: Form<'a>) -> Self {
        Self { era: asking.era, id: asking.id, form }
    }

    /// Whether it is around the answer of a tool.
    pub fn is_tool(&self) -> bool {
        self.form == Form::Tool
    }

    /// Writes a whole answer.
    pub fn write(&self, text: Text<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
        let whole = |_: &mut u64, sink: &mut dyn Sink| text(sink).map(|()| false);
        let mut at = 0;
        while self.write_part(&whole, &mut at, sink)? {}
        Ok(())
    }

    /// Writes the part of an answer that `at` names, where its text has many parts.
    pub fn write_part(&self, rows: Rows<'_>, at: &mut u64, sink: &mut dyn Sink) -> Result<bool, Full> {
        /// Which of the five sections a part belongs to stands in the upper half of its number.
        const SECTION: u32 = 32;
        let (section, mut row) = (*at >> SECTION, *at & ((1 << SECTION) - 1));
        let mut more = false;
        match section {
            0 => self.begin(sink)?,
            1 if self.form != Form::List => more = rows(&mut row, &mut Quoted(sink))?,
            2 if self.is_tool() => sink.put(b"\"}],\"structuredContent\":")?,
            2 if self.form == Form::Refusal => sink.put(b"\"}]")?,
            3 if self.is_tool() => more = rows(&mut row, sink)?,
            // Without the brace it begins with: what stands before it is in the same object.
            3 if self.form == Form::List => more = rows(&mut row, &mut Behind(sink, 1))?,
            4 => self.end(sink)?,
            _ => {}
        }
        *at = if more { section << SECTION | row } else { (section.saturating_add(1)) << SECTION };
        Ok(more || section < 4)
    }

    fn begin(&self, sink: &mut dyn Sink) -> Result<(), Full> {
        put(sink, &["{\"jsonrpc\":\"2.0\",\"id\":", self.id, ",\"result\":{"])?;
        if self.era == Era::Stateless {
            sink.put(b"\"resultType\":\"complete\",")?;
            let ttl = match self.form {
                Form::List | Form::Resource { is_fixed: true, .. } => "\"ttlMs\":60000,\"cacheScope\":\"public\",",
                Form::Resource { .. } => "\"ttlMs\":0,\"cacheScope\":\"public\",",
                Form::Tool | Form::Refusal | Form::Prompt(_) => "",
            };
            sink.put(ttl.as_bytes())?;
        }
        match self.form {
            Form::Tool | Form::Refusal => sink.put(b"\"content\":[{\"type\":\"text\",\"text\":\""),
            Form::Resource { uri, kind, .. } => {
                put(sink, &["\"contents\":[{\"uri\":", uri, ",\"mimeType\":\"", kind, "\",\"text\":\""])
            }
            Form::Prompt(name) => {
                sink.put(b"\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"")?;
                // As it stands between the quotes it needs no more escapes.
                let name = name.and_then(|name| name.strip_prefix('"')?.strip_suffix('"')).unwrap_or_default();
                let [before, behind] =
                    if name.is_empty() { ["", ""] } else { ["Your name in the league is ", ".\\n\\n"] };
                put(sink, &[before, name, behind])
            }
            Form::List => Ok(()),
        }
    }

    fn end(&self, sink: &mut dyn Sink) -> Result<(), Full> {
        let end = match self.form {
            Form::Refusal => ",\"isError\":true}}",
            Form::Tool => ",\"isError\":false}}",
            Form::Resource { .. } => "\"}]}}",
            Form::Prompt(_) => "\"}}]}}",
            Form::List => "}",
        };
        sink.put(end.as_bytes())
    }
}

fn put(sink: &mut dyn Sink, parts: &[&str]) -> Result<(), Full> {
    parts.iter().try_for_each(|part| sink.put(part.as_bytes()))
}

/// Puts a text into a string that is open.
pub struct Quoted<'s>(pub &'s mut dyn Sink);

impl Sink for Quoted<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
            let (plain, special) = rest.split_at_checked(at).unwrap_or_default();
            self.0.put(plain)?;
            let Some((&byte, behind)) = special.split_first() else { break };
            match byte {
                b'\n' => self.0.put(b"\\n")?,
                b'\t' => self.0.put(b"\\t")?,
                b'"' | b'\\' => self.0.put(&[b'\\', byte])?,
                // No text of ours has others.
                _ => self.0.put(b" ")?,
            }
            rest = behind;
        }
        self.0.put(rest)
    }

    fn has_item(&mut self) -> bool {
        self.0.has_item()
    }

    fn order_is(&mut self, number: u32) {
        self.0.order_is(number);
    }
}

/// Leaves out the first bytes.
struct Behind<'s>(&'s mut dyn Sink, usize);

impl Sink for Behind<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let n = bytes.len().min(self.1);
        self.1 = self.1.saturating_sub(n);
        self.0.put(bytes.get(n..).unwrap_or_default())
    }
}

/// A name and a value that are there in one era only are left out in the other.
#[derive(Serialize)]
#[allow(non_snake_case, reason = "the fields are MCP's")]
struct Server<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    resultType: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttlMs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cacheScope: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    supportedVersions: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocolVersion: Option<&'a str>,
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    serverInfo: Option<Info>,
    #[serde(skip_serializing_if = "Option::is_none")]
    _meta: Option<Meta>,
    instructions: &'static str,
}

#[derive(Default, Serialize)]
struct Capabilities {
    tools: Empty,
    resources: Empty,
    prompts: Empty,
}

#[derive(Default, Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Info {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server: Info,
}

const INFO: Info = Info { name: "LeagueBox", version: env!("CARGO_PKG_VERSION") };

#[derive(Serialize)]
struct Answered<'a, R> {
    jsonrpc: &'static str,
    id: Raw<'a>,
    result: R,
}

#[derive(Serialize)]
struct Failed<'a, D> {
    jsonrpc: &'static str,
    id: Raw<'a>,
    error: Failure<'a, D>,
}

#[derive(Serialize)]
struct Failure<'a, D> {
    code: i32,
    message: Shown<Fault<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<D>,
}

#[derive(Serialize)]
struct Versions<'a> {
    supported: [&'static str; 1],
    requested: Raw<'a>,
}

/// What is answered to a message that wants nothing of the box but that it speaks MCP.
pub struct Seen;

impl Seen {
    /// The HTTP status of that answer. `None` where something else is wanted.
    pub fn status(asking: &Asking<'_>) -> Option<u16> {
        match asking.want {
            Want::Nothing => Some(202),
            Want::Discover | Want::Initialize(_) | Want::Ping => Some(200),
            Want::Wrong(fault) => Some(fault.status(asking.era)),
            _ => None,
        }
    }

    /// Writes it.
    pub fn write(asking: &Asking<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
        let (jsonrpc, id) = ("2.0", Raw(asking.id));
        match asking.want {
            Want::Wrong(fault) => {
                let data = match fault {
                    Fault::Version(requested) => Some(Versions { supported: [STATELESS], requested: Raw(requested) }),
                    _ => None,
                };
                let error = Failure { code: fault.code(), message: Shown(fault), data };
                json::write(&Failed { jsonrpc, id, error }, sink)
            }
            Want::Ping => json::write(&Answered { jsonrpc, id, result: Empty {} }, sink),
            Want::Discover | Want::Initialize(_) => {
                let revision = if let Want::Initialize(revision) = asking.want { Some(revision) } else { None };
                let is_old = revision.is_some();
                let result = Server {
                    resultType: (!is_old).then_some("complete"),
                    ttlMs: (!is_old).then_some(TTL_MS),
                    cacheScope: (!is_old).then_some("public"),
                    supportedVersions: (!is_old).then_some([STATELESS]),
                    protocolVersion: revision,
                    capabilities: Capabilities::default(),
                    serverInfo: is_old.then_some(INFO),
                    _meta: (!is_old).then_some(Meta { server: INFO }),
                    instructions: INSTRUCTIONS,
                };
                json::write(&Answered { jsonrpc, id, result }, sink)
            }
            _ => Err(Full),
        }
    }
}

const _: () = assert!(HANDSHAKE.len() == 4 && TTL_MS == 60_000, "as they are written above");

/// Writes the games there are.
pub fn write_games(venue: &Venue<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Games<G> {
        league_game: &'static str,
        games: G,
    }
    #[derive(Serialize)]
    struct Listed {
        game: &'static str,
        min_players: u8,
        max_players: u8,
    }
    let listed = |kind: &GameKind| {
        let rules = kind.rules();
        Listed { game: rules.name, min_players: *rules.seats.start(), max_players: *rules.seats.end() }
    };
    let games = Seq(|| GameKind::ALL.iter().map(listed));
    json::write(&Games { league_game: venue.config().game.rules().name, games }, sink)
}
