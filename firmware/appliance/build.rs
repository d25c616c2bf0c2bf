//! Puts what the box serves into the program, under the path it is asked for by: the files of `web/`, with all that the
//! [`manual`] takes from the code, and the page and the drawing of every game. A file that is added to `web/` and a game that is added to
//! the others are served; nothing else has to be told of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use packing::{deflate, grammar};
use protocol_core::games::GameKind;

/// Where the box is, as what agents read has it.
const ADDRESS: &str = "leaguebox.local:8000";

fn main() {
    let web = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("web");
    println!("cargo::rerun-if-changed=web");
    println!("cargo::rerun-if-changed=build.rs");
    let mut served = BTreeMap::new();
    for entry in fs::read_dir(&web).expect("the files of the page are in web/") {
        let file = entry.expect("web/ can be read").path();
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
        let text = fs::read_to_string(&file).expect("the files of web/ are text");
        let path = match name {
            "index.html" => "/".into(),
            "agent.json" => "/.well-known/agent.json".into(),
            "league-of-agents.md" => "/api/v1/skill.md".into(),
            "moltgame.md" => "/moltgame/skill.md".into(),
            "agon.md" => "/agon/skill.md".into(),
            // What MCP's clients are told, which is also there by itself.
            name if name.starts_with("mcp-") => format!("/{}", name.replacen('-', "/", 1)),
            "league-of-agents.json" => "/api/v1/doc.json".into(),
            name => format!("/{name}"),
        };
        let kind = kind(name);
        let text = match name {
            "draw.js" => manual::drawings(&text),
            _ if is_for_agents(kind) => manual::document(&text),
            _ => text,
        };
        served.insert(path, (kind, text));
    }
    for &game in GameKind::ALL {
        let path = manual::path(game);
        served.insert(path.clone(), (kind(&path), manual::page(game)));
    }
    write("web.rs", table(&served).as_bytes());
    write("texts.rs", texts(&served).as_bytes());
}

/// All that the box serves, by path: what kind it is, and the text.
type Served = BTreeMap<String, (&'static str, String)>;

/// What the program has of it.
fn table(served: &Served) -> String {
    let of = |wanted: bool| {
        let texts = served.values().filter(move |(kind, _)| is_for_agents(kind) == wanted);
        texts.map(|(_, text)| text.as_str())
    };
    let manuals = grammar::pack(&of(true).map(symbols).collect::<Vec<_>>());
    let page = deflate::pack(&of(false).map(str::as_bytes).collect::<Vec<_>>());
    let symbols = write("manuals", &manuals.symbols);
    let (rules, width, window) = (&manuals.rules, manuals.width, deflate::WINDOW);
    let (blank, depth) = (grammar::BLANK, grammar::DEPTH);
    let code = |code: &deflate::Code| {
        let (counts, symbols) = code.table();
        format!("Code {{ counts: {counts:?}, symbols: &{symbols:?} }}")
    };
    let (literals, distances) = (code(&page.literals), code(&page.distances));
    let mut table = format!(
        "/// Where the box is, as the files have it.\n\
         const ADDRESS: &str = {ADDRESS:?};\n\
         /// Stands for it in what is packed.\n\
         const BLANK: u16 = {blank};\n\
         /// How many rules may be open at once.\n\
         const DEPTH: usize = {depth};\n\
         /// A buffer of so many bytes unpacks every file of the page.\n\
         pub const WINDOW: usize = {window};\n\
         static GRAMMAR: Grammar<'_> = Grammar {{ rules: &{rules:?}, width: {width}, symbols: include_bytes!({symbols:?}) }};\n\
         static CODES: Codes<'_> = Codes {{ literals: {literals}, distances: {distances} }};\n\
         /// Everything there is.\n\
         pub(crate) static FILES: &[File] = &[\n"
    );
    let (mut manuals, mut zipped) = (manuals.texts.into_iter(), page.files.into_iter());
    for (number, (path, (kind, text))) in served.iter().enumerate() {
        let tag = format!("W/\"{:016x}\"", sum(text.as_bytes()));
        let body = if is_for_agents(kind) {
            let text_at = manuals.next().expect("one for each");
            let addresses = text.matches(ADDRESS).count();
            let length = text.len() - addresses * ADDRESS.len();
            let (begin, end) = (text_at.start, text_at.end);
            format!("Body::Manual {{ begin: {begin}, end: {end}, length: {length}, addresses: {addresses} }}")
        } else {
            let (zipped, first) = zipped.next().expect("one for each");
            let (zipped, length) = (write(&format!("{number}.gz"), &zipped), text.len());
            format!("Body::Page {{ zipped: include_bytes!({zipped:?}), first: {first}, length: {length} }}")
        };
        writeln!(table, "File {{ path: {path:?}, kind: {kind:?}, tag: {tag:?}, body: {body} }},")
            .expect("a string takes everything");
    }
    table.push_str("];\n");
    table
}

/// The texts themselves, for the tests.
fn texts(served: &Served) -> String {
    let mut table = format!("const ADDRESS: &str = {ADDRESS:?};\nconst TEXTS: &[(&str, &str)] = &[\n");
    for (number, (path, (_, text))) in served.iter().enumerate() {
        let plain = write(&format!("{number}.txt"), text.as_bytes());
        writeln!(table, "({path:?}, include_str!({plain:?})),").expect("a string takes everything");
    }
    table.push_str("];\n");
    table
}

/// Keeps something for the compiler.
fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join(name);
    fs::write(&path, bytes).expect("OUT_DIR can be written");
    path
}

/// A text for the grammar. Another address can be said in the place of every mention of the box's.
fn symbols(text: &str) -> Vec<u16> {
    let bytes = |part: &str| part.bytes().map(u16::from).collect::<Vec<_>>();
    text.split(ADDRESS).map(bytes).collect::<Vec<_>>().join(&grammar::BLANK)
}

/// What agents read is long, alike, and seldom asked for compressed; what browsers load always is.
fn is_for_agents(kind: &str) -> bool {
    kind.starts_with("text/markdown") || kind == "application/json"
}

/// Another number for another file.
fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("md") => "text/markdown; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => panic!("{name}: build.rs does not know what kind of file this is"),
    }
}
