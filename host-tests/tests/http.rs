//! HTTP/1.1 as curl, httpx and worse clients speak it.

use host_tests::http::exchange;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

const PING: &str = r#"{"jsonrpc":"2.0","method":"ping","params":{},"id":1}"#;

/// What curl prints for `arguments`, where `BOX` stands for the box's address.
fn curl(leaguebox: &LeagueBox, arguments: &[&str], stdin: &str) -> String {
    let arguments = arguments.iter().map(|text| text.replace("BOX", &leaguebox.url()));
    let mut child = Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "30", "--noproxy", "*"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("curl is installed");
    child.stdin.take().expect("a pipe").write_all(stdin.as_bytes()).expect("curl reads");
    let output = child.wait_with_output().expect("curl ends");
    String::from_utf8(output.stdout).expect("text")
}

/// The status alone.
fn status(leaguebox: &LeagueBox, arguments: &[&str], stdin: &str) -> String {
    curl(leaguebox, &[&["--output", "/dev/null", "--write-out", "%{http_code}"], arguments].concat(), stdin)
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_wrong_path_is_404_and_the_wrong_method_405() {
    let leaguebox = LeagueBox::start(Settings::default());
    assert_eq!(status(&leaguebox, &["BOX/no/such/page"], ""), "404");
    assert_eq!(status(&leaguebox, &["BOX/mcp"], ""), "405");
    assert_eq!(status(&leaguebox, &["-X", "DELETE", "BOX/health"], ""), "405");
    assert_eq!(leaguebox.get("/mcp").header("allow"), Some("POST"), "a 405 says what is allowed");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_path_of_the_protocol_has_any_case() {
    let leaguebox = LeagueBox::start(Settings::default());
    for path in ["/mcp", "/MCP", "/Mcp"] {
        assert!(leaguebox.post(path, PING).json().get("result").is_some(), "{path}");
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_body_too_large_is_413_before_it_is_sent() {
    let leaguebox = LeagueBox::start(Settings::default());
    let head = "POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100000000\r\n\r\n";
    assert_eq!(exchange(leaguebox.address, &[head.as_bytes()]).expect("an answer").status, 413);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_head_too_large_is_431() {
    let leaguebox = LeagueBox::start(Settings::default());
    let cookie = format!("Cookie: {}", "x".repeat(20_000));
    assert_eq!(status(&leaguebox, &["-H", &cookie, "BOX/health"], ""), "431");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_malformed_head_is_400() {
    let leaguebox = LeagueBox::start(Settings::default());
    for length in ["abc", "-1", "2, 3", "99999999999999999999999"] {
        let head =
            format!("POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{{}}");
        let status = exchange(leaguebox.address, &[head.as_bytes()]).expect("an answer").status;
        assert!(status == 400 || status == 413, "Content-Length: {length} gives {status}");
    }
    assert_eq!(exchange(leaguebox.address, &[b"\x16\x03\x01 what?\r\n\r\n"]).expect("an answer").status, 400);
    let smuggled = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(exchange(leaguebox.address, &[smuggled.as_bytes()]).expect("an answer").status, 400, "two lengths");
    assert_eq!(leaguebox.get("/health").status, 200, "and the box is still there");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_chunked_body_is_understood() {
    let leaguebox = LeagueBox::start(Settings::default());
    let arguments = ["-H", "Transfer-Encoding: chunked", "-H", "Content-Type: application/json", "-d", "@-", "BOX/mcp"];
    assert!(curl(&leaguebox, &arguments, PING).contains("\"result\""));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_client_that_waits_for_100_continue_is_told_to_go_on() {
    let leaguebox = LeagueBox::start(Settings::default());
    let arguments = ["--include", "--expect100-timeout", "20", "-H", "Expect: 100-continue", "-d", "@-", "BOX/mcp"];
    let printed = curl(&leaguebox, &arguments, PING);
    assert!(printed.starts_with("HTTP/1.1 100"), "{printed}");
    assert!(printed.contains("\"result\""), "{printed}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn one_connection_carries_several_requests() {
    let leaguebox = LeagueBox::start(Settings::default());
    let printed = curl(&leaguebox, &["--write-out", " %{num_connects} ", "BOX/health", "BOX/health"], "");
    assert!(printed.contains(" 1 ") && printed.contains(" 0 "), "the second needs no new connection: {printed}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_client_that_asks_for_close_gets_it() {
    let leaguebox = LeagueBox::start(Settings::default());
    let response = leaguebox.get("/health");
    assert!(response.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")), "{response:?}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn two_requests_sent_at_once_are_answered_in_order() {
    let leaguebox = LeagueBox::start(Settings::default());
    let first = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    let second = "GET /no/such/page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let response = exchange(leaguebox.address, &[first.as_bytes(), second.as_bytes()]).expect("two answers");
    assert_eq!(response.status, 200);
    assert!(response.body.contains("HTTP/1.1 404"), "{response:?}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn head_is_get_without_the_body() {
    let leaguebox = LeagueBox::start(Settings::default());
    let get = leaguebox.get("/health");
    let head = curl(&leaguebox, &["--head", "BOX/health"], "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let length = format!("content-length: {}", get.body.len());
    assert!(head.to_ascii_lowercase().contains(&length), "{length} in {head}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_head_that_comes_byte_by_byte_is_understood() {
    let leaguebox = LeagueBox::start(Settings::default());
    let text =
        format!("POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{PING}", PING.len());
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert!(exchange(leaguebox.address, &bytes).expect("an answer").body.contains("\"result\""));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_client_that_never_finishes_blocks_nobody() {
    let leaguebox = LeagueBox::start(Settings::default());
    // A board refuses those it has no room for.
    let mut half: Vec<TcpStream> = (0..20).filter_map(|_| TcpStream::connect(leaguebox.address).ok()).collect();
    for stream in &mut half {
        let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: box\r\nContent-Le");
    }
    leaguebox.wait_until_healthy();
    drop(half);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_client_that_only_connects_is_let_go() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut idle = TcpStream::connect(leaguebox.address).expect("connected");
    idle.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut said = Vec::new();
    idle.read_to_end(&mut said).expect("the box closes it before we lose patience");
    let said = String::from_utf8_lossy(&said);
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn health_says_ok_in_json() {
    let leaguebox = LeagueBox::start(Settings::default());
    let response = leaguebox.get("/health");
    assert_eq!(response.json()["status"], "ok");
    assert!(response.header("content-type").is_some_and(|kind| kind.starts_with("application/json")), "{response:?}");
}
