//! What the box serves arrives byte for byte as it was written, however it is packed, and whoever asks for it: programs that take
//! no compression read it all the same.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use flate2::read::GzDecoder;
use host_tests::http;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use protocol_core::games::GameKind;

/// The files of the page.
const PAGE: [(&str, &str); 4] =
    [("/", "index.html"), ("/page.css", "page.css"), ("/page.js", "page.js"), ("/draw.js", "draw.js")];

/// What agents read, beside the pages of the games.
const DOCUMENTS: [(&str, &str); 4] = [
    ("/skill.md", "skill.md"),
    ("/api/v1/skill.md", "league-of-agents.md"),
    ("/api/v1/doc.json", "league-of-agents.json"),
    ("/.well-known/agent.json", "agent.json"),
];

fn web(file: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/appliance/web");
    let text = fs::read_to_string(directory.join(file)).expect("a file of the page");
    if file == "draw.js" { manual::drawings(&text) } else { text }
}

/// Every text by its path, as this box says it.
fn texts(leaguebox: &LeagueBox) -> Vec<(String, String)> {
    let page = PAGE.map(|(path, file)| (path.into(), web(file)));
    let documents = DOCUMENTS.map(|(path, file)| (path.into(), manual::document(&web(file))));
    let games = GameKind::ALL.iter().map(|&game| (manual::path(game), manual::page(game)));
    let address = leaguebox.address.to_string();
    let spoken = |(path, text): (String, String)| (path, text.replace("leaguebox.local:8000", &address));
    page.into_iter().chain(documents.into_iter().chain(games).map(spoken)).collect()
}

/// The head of an answer and its body, made readable if it came compressed.
fn unzipped(leaguebox: &LeagueBox, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(leaguebox.address).expect("the box is there");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
        leaguebox.address
    );
    stream.write_all(request.as_bytes()).expect("a request");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer");
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
    let body = &bytes[end + 4..];
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{path}: {head}");
    let mut text = String::new();
    if head.contains("Content-Encoding: gzip") {
        GzDecoder::new(body).read_to_string(&mut text).expect("gzip");
    } else {
        text = String::from_utf8(body.to_vec()).expect("text");
    }
    (head, text)
}

#[test]
fn every_text_arrives_as_it_was_written_with_and_without_compression() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (path, text) in texts(&leaguebox) {
        let plain = leaguebox.get(&path);
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None), "{path}");
        assert!(plain.body == text, "{path}");
        assert_eq!(plain.header("content-length"), Some(text.len().to_string().as_str()), "{path}");
        let (head, body) = unzipped(&leaguebox, &path);
        assert!(body == text, "{path}, compressed");
        let is_of_page = PAGE.iter().any(|(of_page, _)| *of_page == path);
        assert_eq!(head.contains("Content-Encoding: gzip"), is_of_page, "{path}: {head}");
        assert!(head.contains("Vary: Accept-Encoding"), "{path}: {head}");
    }
}

#[test]
fn the_length_of_every_text_is_told_without_the_text() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (path, text) in texts(&leaguebox) {
        let head = http::request(leaguebox.address, "HEAD", &path, "", "").expect("an answer");
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-length"), Some(text.len().to_string().as_str()), "{path}");
        let tag = head.header("etag").expect("a tag");
        let known = http::request(leaguebox.address, "GET", &path, &format!("If-None-Match: {tag}\r\n"), "");
        assert_eq!(known.expect("an answer").status, 304, "{path}");
    }
}

/// A request leaves little of a board's buffer to answer in.
#[test]
fn who_asks_at_length_and_takes_no_compression_gets_every_text_too() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (path, text) in texts(&leaguebox) {
        let headers = format!("Cookie: {}\r\n", "x".repeat(1800));
        let answer = http::request(leaguebox.address, "GET", &path, &headers, "").expect("an answer");
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body == text, "{path}");
    }
}
