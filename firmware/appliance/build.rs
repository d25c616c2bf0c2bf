//! Puts what the box serves into the program, under the path it is asked for by: the files of `web/`, with all that the
//! [`manual`] takes from the code, and the page of every game. A file that is added to `web/` and a game that is added to
//! the others are served; nothing else has to be told of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use flate2::{Compression, GzBuilder};
use protocol_core::games::GameKind;

/// A paragraph that stands in several documents and is at least as long is in flash once.
const WORTH_SHARING: usize = 200;

/// Where the box is, as what agents read has it.
const ADDRESS: &str = "leaguebox.local:8000";

fn main() {
    let web = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("web");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
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
            "league-of-agents.json" => "/api/v1/doc.json".into(),
            name => format!("/{name}"),
        };
        let is_for_agents = name.ends_with(".md") || name.ends_with(".json");
        served.insert(path, (kind(name), if is_for_agents { manual::document(&text) } else { text }));
    }
    for &game in GameKind::ALL {
        let path = manual::path(game);
        served.insert(path.clone(), (kind(&path), manual::page(game)));
    }
    let shared = shared(served.values().map(|(_, text)| text.as_str()));
    let mut table = format!("/// Where the box is, as the files have it.\nconst ADDRESS: &str = {ADDRESS:?};\n");
    table.push_str("/// Everything there is.\npub(crate) const FILES: &[File] = &[\n");
    for (number, (path, (kind, text))) in served.iter().enumerate() {
        let zipped = out.join(format!("{number}.gz"));
        // What agents read is long, and few of them ask for it compressed.
        let is_zipped = !kind.starts_with("text/markdown");
        fs::write(&zipped, if is_zipped { gzip(text.as_bytes()) } else { Vec::new() }).expect("OUT_DIR can be written");
        let tag = format!("W/\"{:016x}\"", sum(text.as_bytes()));
        // Every mention of the box's address is a part of its own, so that another can be said in its place.
        let parts: Vec<&str> = parts(text, &shared).into_iter().flat_map(split_at_address).collect();
        writeln!(
            table,
            "File {{ path: {path:?}, kind: {kind:?}, tag: {tag:?}, parts: &{parts:?}, zipped: include_bytes!({zipped:?}) }},"
        )
        .expect("a string takes everything");
    }
    table.push_str("];\n");
    fs::write(out.join("web.rs"), table).expect("OUT_DIR can be written");
}

/// The paragraphs that are worth sharing.
fn shared<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut counts = BTreeMap::new();
    texts.flat_map(paragraphs).for_each(|paragraph| *counts.entry(paragraph).or_insert(0) += 1);
    counts.retain(|paragraph, count| *count > 1 && paragraph.len() >= WORTH_SHARING);
    counts.into_keys().collect()
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive("\n\n")
}

/// A text in pieces, those that are shared by themselves. The compiler keeps equal ones once.
fn parts<'a>(text: &'a str, shared: &[&str]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut begun, mut at) = (0, 0);
    for paragraph in paragraphs(text) {
        let end = at + paragraph.len();
        if shared.contains(&paragraph) {
            parts.extend([&text[begun..at], &text[at..end]]);
            begun = end;
        }
        at = end;
    }
    parts.push(&text[begun..]);
    parts.retain(|part| !part.is_empty());
    parts
}

fn split_at_address(part: &str) -> impl Iterator<Item = &str> {
    let between = part.split(ADDRESS).flat_map(|text| [ADDRESS, text]).skip(1);
    between.filter(|part| !part.is_empty())
}

/// The same bytes for the same file, whenever and wherever it is built.
fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut zipped = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    zipped.write_all(plain).expect("a vector takes everything");
    zipped.finish().expect("a vector takes everything")
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
