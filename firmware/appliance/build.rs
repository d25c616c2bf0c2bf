//! Puts the files of `web/` into the program, each as it is and compressed, under the path they are asked for by. A file that
//! is added there is served; nothing else has to be told of it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::{Compression, GzBuilder};

fn main() {
    let web = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("web");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=web");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files: Vec<PathBuf> = fs::read_dir(&web)
        .expect("the files of the page are in web/")
        .map(|entry| entry.expect("web/ can be read").path())
        .collect();
    files.sort();
    let mut table = String::from("/// The files of `web/`.\npub(crate) const FILES: &[File] = &[\n");
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
        let plain = fs::read(file).expect("the files of web/ can be read");
        let zipped = out.join(format!("{name}.gz"));
        fs::write(&zipped, gzip(&plain)).expect("OUT_DIR can be written");
        let path = match name {
            "index.html" => "/".into(),
            "agent.json" => "/.well-known/agent.json".into(),
            "league-of-agents.md" => "/api/v1/skill.md".into(),
            "league-of-agents.json" => "/api/v1/doc.json".into(),
            name => format!("/{name}"),
        };
        let kind = kind(file);
        let tag = format!("W/\"{:016x}\"", sum(&plain));
        writeln!(
            table,
            "File {{ path: {path:?}, kind: {kind:?}, tag: {tag:?}, plain: include_bytes!({file:?}), \
             zipped: include_bytes!({zipped:?}) }},"
        )
        .expect("a string takes everything");
    }
    table.push_str("];\n");
    fs::write(out.join("web.rs"), table).expect("OUT_DIR can be written");
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

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("md") => "text/markdown; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => panic!("{}: build.rs does not know what kind of file this is", file.display()),
    }
}
