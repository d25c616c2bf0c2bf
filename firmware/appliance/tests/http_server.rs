//! The server's side of HTTP: each rule by its name, then everything a hostile peer can think of.

mod http_support;

use std::fmt::Write as _;
use std::pin::pin;

use appliance::{
    clock::{Clock, before},
    http::{Limits, Refusal, Request, ServerConn, WriteError},
};
use http_support::{End, Seen, Stream, World, answers, chunked};
use proptest::prelude::*;

const LIMITS: Limits = Limits { idle_ms: 15_000, request_ms: 10_000, write_ms: 5_000, linger_ms: 500 };
const ROOM: usize = 1024;

/// What became of a connection.
struct Outcome {
    text: String,
    writes: usize,
    refused: Option<Refusal>,
    /// When the server was done with it.
    ended: u64,
    /// What the server never read.
    unread: usize,
}

impl Outcome {
    fn answers(&self) -> Vec<Seen> {
        answers(&self.text)
    }

    /// The one answer.
    fn answer(&self) -> Seen {
        let mut all = self.answers();
        assert_eq!(all.len(), 1, "{}", self.text);
        all.remove(0)
    }

    fn bodies(&self) -> Vec<String> {
        self.answers().into_iter().map(|answer| answer.body).collect()
    }
}

/// The request as text, made from the request's own bytes while the answer is written.
fn echo(request: &Request<'_>) -> String {
    let mut text = format!("{} {}", request.method, request.path);
    if !request.query.is_empty() {
        write!(text, " ?{}", request.query).unwrap();
    }
    if !request.body.is_empty() {
        write!(text, " [{}]", String::from_utf8_lossy(request.body)).unwrap();
    }
    text
}

/// Serves one connection with [`echo`], over a peer that `script` describes.
fn serve_with(room: usize, seed: Option<u64>, script: impl FnOnce(&Stream<'_>)) -> Outcome {
    let world = World::default();
    let stream = Stream::new(&world, seed);
    let (from, to) = (stream.from.clone(), stream.to.clone());
    script(&stream);
    let mut buf = vec![0; room + 512];
    let refused = world.run(async {
        let mut conn = ServerConn::new(stream, &mut buf, 512);
        loop {
            match conn.receive(&world, || LIMITS).await {
                Ok(Some((request, responder))) => {
                    let _ = responder.respond(200, "text/plain", echo(&request).as_bytes(), &[]).await;
                }
                Ok(None) => return None,
                Err(refusal) => {
                    let _ = conn.refuse(&world, &LIMITS, refusal, [r#"{"error":""#, r#""}"#]).await;
                    assert!(matches!(conn.receive(&world, || LIMITS).await, Ok(None)), "a refusal is the end");
                    return Some(refusal);
                }
            }
        }
    });
    let (text, writes) = (to.borrow().text(), to.borrow().writes);
    Outcome { text, writes, refused, ended: world.now(), unread: from.borrow().unread() }
}

/// The peer sends this in one segment and closes.
fn serve(bytes: impl AsRef<[u8]>) -> Outcome {
    serve_with(ROOM, None, |stream| {
        stream.from.borrow_mut().send(0, bytes.as_ref());
        stream.from.borrow_mut().end(0, End::Closed);
    })
}

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, refusal: Refusal, status: u16) {
    let outcome = serve(bytes);
    let answer = outcome.answers().pop().expect("an answer");
    assert_eq!(outcome.refused, Some(refusal));
    assert_eq!(answer.status, status);
    assert_eq!(answer.body, format!(r#"{{"error":"{refusal}"}}"#));
    assert!(answer.head.contains("Connection: close"), "{}", answer.head);
}

// Requests.

#[test]
fn a_request_is_answered_in_one_write() {
    let outcome = serve("POST /mcp?a=1 HTTP/1.1\r\nHost: box\r\nContent-Length: 2\r\n\r\n{}");
    assert_eq!(outcome.writes, 1);
    assert_eq!(
        outcome.text,
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Type: text/plain\r\nContent-Length: 19\r\n\r\nPOST /mcp ?a=1 [{}]"
    );
}

#[test]
fn head_and_body_may_come_in_separate_segments() {
    let outcome = serve_with(ROOM, None, |stream| {
        let mut peer = stream.from.borrow_mut();
        peer.send(0, b"POST /mcp HTTP/1.1\r\nHost: box\r\nContent-Length: 4\r\n\r\n");
        peer.send(40, b"true");
        peer.end(50, End::Closed);
    });
    assert_eq!(outcome.bodies(), ["POST /mcp [true]"]);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let outcome = serve(
        "GET /a HTTP/1.1\r\nHost: box\r\n\r\nPOST /b HTTP/1.1\r\nHost: box\r\nContent-Length: 3\r\n\r\nxyzGET /c HTTP/1.1\r\nHost: box\r\n\r\n",
    );
    assert_eq!(outcome.bodies(), ["GET /a", "POST /b [xyz]", "GET /c"]);
    assert_eq!(outcome.refused, None);
}

#[test]
fn a_chunked_body_arrives_without_its_coding() {
    let mut bytes = b"POST /a HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: Chunked\r\n\r\n".to_vec();
    bytes.extend(chunked(b"to be or not to be", &[1, 7, 3]));
    bytes.extend(b"GET /next HTTP/1.1\r\nHost: box\r\n\r\n");
    assert_eq!(serve(bytes).bodies(), ["POST /a [to be or not to be]", "GET /next"]);
}

#[test]
fn a_chunked_body_may_take_more_bytes_on_the_wire_than_the_buffer_has() {
    let body = "x".repeat(900);
    let mut bytes = b"POST /a HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    bytes.extend(chunked(body.as_bytes(), &[1]));
    assert!(bytes.len() > 5 * ROOM);
    assert_eq!(serve(bytes).bodies(), [format!("POST /a [{body}]")]);
}

#[test]
fn a_body_may_fill_the_buffer_to_the_last_byte() {
    let head = "POST /a HTTP/1.1\r\nHost: box\r\nContent-Length: 980\r\n\r\n";
    let fits = format!("{head}{}", "x".repeat(980));
    for (room, answered) in [(fits.len(), true), (fits.len() - 1, false)] {
        let outcome = serve_with(room, None, |stream| stream.from.borrow_mut().send(0, fits.as_bytes()));
        assert_eq!(outcome.refused.is_none(), answered);
    }
}

#[test]
fn blank_lines_before_a_request_are_skipped() {
    assert_eq!(
        serve("\r\n\nGET /a HTTP/1.1\r\nHost: box\r\n\r\n\r\nGET /b HTTP/1.1\r\nHost: box\r\n\r\n").bodies(),
        ["GET /a", "GET /b"]
    );
}

#[test]
fn lines_may_end_in_a_bare_line_feed() {
    assert_eq!(
        serve("POST /a HTTP/1.1\nHost: box\nContent-Length: 1\n\nxGET /b HTTP/1.1\nHost: box\n\n").bodies(),
        ["POST /a [x]", "GET /b"]
    );
}

#[test]
fn host_may_be_missing_and_header_names_have_any_case() {
    assert_eq!(serve("POST / HTTP/1.1\r\nHost: box\r\ncONTENT-lENGTH:1\r\n\r\nx").bodies(), ["POST / [x]"]);
}

#[test]
fn the_target_is_split_but_not_decoded() {
    for (target, path, query) in [
        ("/a%20b?q=%3F&r=?", "/a%20b", "q=%3F&r=?"),
        ("http://box:8000/mcp?x", "/mcp", "x"),
        ("HTTP://box", "/", ""),
        ("http://box?x", "/", "x"),
        ("*", "*", ""),
        ("/", "/", ""),
        ("?x", "/", "x"),
        ("/http://box/", "/http://box/", ""),
    ] {
        let answer = serve(format!("GET {target} HTTP/1.1\r\nHost: box\r\n\r\n")).answer();
        let query = if query.is_empty() { String::new() } else { format!(" ?{query}") };
        assert_eq!(answer.body, format!("GET {path}{query}"), "{target}");
    }
}

#[test]
fn equal_content_lengths_count_as_one() {
    assert_eq!(
        serve("POST / HTTP/1.1\r\nHost: box\r\nContent-Length: 1, 1\r\nContent-Length: 1\r\n\r\nx").bodies(),
        ["POST / [x]"]
    );
}

#[test]
fn headers_are_found_by_name_and_tokens_in_lists() {
    let world = World::default();
    let stream = Stream::new(&world, None);
    stream.from.borrow_mut().send(
        0,
        b"GET /ws HTTP/1.1\r\nHost: box\r\nAuthorization:  Bearer x \r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
          X-Latin: \xe9\r\nEmpty:\r\n\r\n",
    );
    world.run(async {
        let mut buf = [0; 2 * ROOM];
        let mut conn = ServerConn::new(stream, &mut buf, ROOM);
        let (request, _) = conn.receive(&world, || LIMITS).await.unwrap().unwrap();
        assert_eq!(request.header("authorization"), Some("Bearer x"));
        assert_eq!(request.header("empty"), Some(""));
        assert_eq!(request.header("author"), None);
        assert_eq!(request.header("x-latin"), None);
        assert_eq!(request.upgrade(), Some("websocket"));
        assert!(request.keep_alive && !request.http10);
    });
}

// The life of a connection.

#[test]
fn connection_close_is_honoured_in_any_list() {
    for value in ["close", "Close", "foo, close", "keep-alive,close"] {
        let outcome = serve(format!(
            "GET /a HTTP/1.1\r\nHost: box\r\nConnection: {value}\r\n\r\nGET /b HTTP/1.1\r\nHost: box\r\n\r\n"
        ));
        assert!(outcome.answer().head.contains("Connection: close"), "{value}");
    }
}

#[test]
fn http_1_0_closes_unless_asked_to_keep_alive() {
    assert_eq!(serve("GET /a HTTP/1.0\r\n\r\nGET /b HTTP/1.0\r\n\r\n").bodies(), ["GET /a"]);
    let outcome = serve("GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n");
    assert_eq!(outcome.bodies(), ["GET /a", "GET /b"]);
    assert!(outcome.text.contains("Connection: keep-alive"));
}

#[test]
fn an_idle_connection_is_closed_without_a_word() {
    let outcome =
        serve_with(ROOM, None, |stream| stream.from.borrow_mut().send(0, b"GET /a HTTP/1.1\r\nHost: box\r\n\r\n"));
    assert_eq!(outcome.bodies(), ["GET /a"]);
    assert_eq!((outcome.refused, outcome.ended), (None, LIMITS.idle_ms));
}

#[test]
fn blank_lines_do_not_keep_a_connection_open() {
    let outcome = serve_with(ROOM, None, |stream| {
        (0..4).for_each(|i| stream.from.borrow_mut().send(i * 4_000, b"\r\n"));
    });
    assert_eq!((outcome.text.as_str(), outcome.ended), ("", LIMITS.idle_ms));
    let flood = serve_with(ROOM, None, |stream| (0..100).for_each(|_| stream.from.borrow_mut().send(0, b"\r\n")));
    assert_eq!(flood.refused, Some(Refusal::RequestLine));
}

#[test]
fn a_request_that_drips_in_is_refused_at_its_deadline() {
    let request = b"POST /a HTTP/1.1\r\nHost: box\r\nContent-Length: 100\r\n\r\n{\"a\":";
    let outcome = serve_with(ROOM, None, |stream| {
        let mut peer = stream.from.borrow_mut();
        request.iter().zip(1..).for_each(|(byte, second)| peer.send(second * 1000, &[*byte]));
    });
    assert_eq!(outcome.refused, Some(Refusal::TooSlow));
    assert_eq!(outcome.answer().status, 408);
    // The first byte came after one second.
    assert_eq!(outcome.ended, 1000 + LIMITS.request_ms + LIMITS.linger_ms);
}

#[test]
fn a_body_that_never_comes_is_refused_at_the_deadline() {
    let outcome = serve_with(ROOM, None, |stream| {
        stream.from.borrow_mut().send(0, b"POST /a HTTP/1.1\r\nHost: box\r\nContent-Length: 1\r\n\r\n");
    });
    assert_eq!(outcome.answer().status, 408);
}

#[test]
fn a_peer_that_does_not_read_is_given_up() {
    let world = World::default();
    let stream = Stream::new(&world, None);
    stream.from.borrow_mut().send(0, b"GET /a HTTP/1.1\r\nHost: box\r\n\r\n");
    stream.to.borrow_mut().stuck = true;
    world.run(async {
        let mut buf = [0; 2 * ROOM];
        let mut conn = ServerConn::new(stream, &mut buf, ROOM);
        let (_, responder) = conn.receive(&world, || LIMITS).await.unwrap().unwrap();
        assert_eq!(responder.respond(200, "text/plain", b"", &[]).await, Err(WriteError::TooSlow));
        assert_eq!(world.now(), u64::from(LIMITS.write_ms));
        assert!(conn.receive(&world, || LIMITS).await.unwrap().is_none());
    });
}

#[test]
fn a_refusal_waits_for_the_peer_to_close_but_not_for_ever() {
    let body = [b'x'; 100_000];
    let head = b"POST /a HTTP/1.1\r\nHost: box\r\nContent-Length: 100000\r\n\r\n";
    let outcome = serve_with(ROOM, None, |stream| {
        let mut peer = stream.from.borrow_mut();
        peer.send(0, head);
        peer.send(20, &body);
        peer.end(30, End::Closed);
    });
    assert_eq!((outcome.answer().status, outcome.unread, outcome.ended), (413, 0, 30));

    let silent = serve_with(ROOM, None, |stream| stream.from.borrow_mut().send(0, head));
    assert_eq!((silent.answer().status, silent.ended), (413, LIMITS.linger_ms));

    let flood = serve_with(ROOM, None, |stream| {
        let mut peer = stream.from.borrow_mut();
        peer.send(0, head);
        (0..30).for_each(|_| peer.send(0, &body));
    });
    assert_eq!(flood.answer().status, 413);
    assert!(flood.unread > 1_900_000);
}

#[test]
fn a_reset_connection_gets_no_answer() {
    let outcome = serve_with(ROOM, None, |stream| {
        stream.from.borrow_mut().send(0, b"POST /a HT");
        stream.from.borrow_mut().end(5, End::Reset);
    });
    assert_eq!((outcome.text.as_str(), outcome.refused), ("", None));
}

#[test]
fn after_an_upgrade_the_stream_and_its_unread_bytes_can_be_taken() {
    let world = World::default();
    let stream = Stream::new(&world, None);
    let to = stream.to.clone();
    stream
        .from
        .borrow_mut()
        .send(0, b"GET /ws HTTP/1.1\r\nHost: box\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x00");
    world.run(async {
        let mut buf = [0; 2 * ROOM];
        let mut conn = ServerConn::new(stream, &mut buf, ROOM);
        let (_, responder) = conn.receive(&world, || LIMITS).await.unwrap().unwrap();
        responder.upgrade("websocket", &[("Sec-WebSocket-Accept", "abc=")]).await.unwrap();
        assert!(conn.receive(&world, || LIMITS).await.unwrap().is_none());
        let parts = conn.into_parts();
        assert_eq!(&parts.buf[..parts.unread], b"\x81\x00");
        assert_eq!(parts.buf.len(), 2 * ROOM);
    });
    assert_eq!(
        to.borrow().text(),
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: abc=\r\n\r\n"
    );
}

// Expect: 100-continue.

const EXPECT: &str = "POST /a HTTP/1.1\r\nHost: box\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";

#[test]
fn who_expects_100_continue_gets_it() {
    let outcome = serve_with(ROOM, None, |stream| {
        stream.from.borrow_mut().send(0, EXPECT.as_bytes());
        stream.from.borrow_mut().send(9, b"true");
    });
    assert!(outcome.text.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "{}", outcome.text);
}

#[test]
fn who_has_sent_the_body_or_would_be_refused_is_not_told_to_continue() {
    assert_eq!(serve(format!("{EXPECT}true")).bodies(), ["POST /a [true]"]);
    refused(EXPECT.replace("4", "4000"), Refusal::BodyTooLarge, 413);
    assert!(!serve(EXPECT.replace("4", "4000")).text.contains("100 Continue"));
}

// Refusals, by status.

#[test]
fn a_bad_request_line_is_400() {
    for line in
        ["GET", "GET /", "GET  / HTTP/1.1", "G@T(/ HTTP/1.1", "GET / HTTP/x", "GET / FTP/1.1", " GET / HTTP/1.1", "\0"]
    {
        refused(format!("{line}\r\n\r\n"), Refusal::RequestLine, 400);
    }
}

#[test]
fn tls_on_the_plain_port_is_400_at_once() {
    let outcome = serve_with(ROOM, None, |stream| stream.from.borrow_mut().send(0, b"\x16\x03\x01\x02\x00\x01"));
    assert_eq!((outcome.answer().status, outcome.ended), (400, LIMITS.linger_ms));
}

#[test]
fn a_bad_header_is_400() {
    refused("GET / HTTP/1.1\r\nHost: box\r\nno colon\r\n\r\n", Refusal::HeaderName, 400);
    refused("GET / HTTP/1.1\r\nHost: box\r\nContent-Length : 2\r\n\r\n", Refusal::HeaderName, 400);
    refused("GET / HTTP/1.1\r\nHost: box\r\nA: b\r\n folded\r\n\r\n", Refusal::HeaderName, 400);
    refused("GET / HTTP/1.1\r\nHost: box\r\nA\0: b\r\n\r\n", Refusal::HeaderName, 400);
    refused("GET / HTTP/1.1\r\nHost: box\r\nA: b\0\r\n\r\n", Refusal::HeaderValue, 400);
    refused("GET / HTTP/1.1\r\nHost: box\r\nA: b\rc\r\n\r\n", Refusal::HeaderValue, 400);
    refused("GET / HTTP/1.1\rA: b\r\n\r\n", Refusal::LineEnd, 400);
}

#[test]
fn a_content_length_that_is_not_one_number_is_400() {
    for value in ["abc", "-1", "+1", "2, 3", "2,", "", "0x10", "1 2", "1.0", "\u{0663}"] {
        refused(
            format!("POST / HTTP/1.1\r\nHost: box\r\nContent-Length: {value}\r\n\r\nxxx"),
            Refusal::ContentLength,
            400,
        );
    }
    refused(
        "POST / HTTP/1.1\r\nHost: box\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nxxx",
        Refusal::ContentLength,
        400,
    );
}

#[test]
fn two_ways_to_end_a_body_are_400() {
    for head in [
        "POST / HTTP/1.1\r\nHost: box\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        refused(head, Refusal::Ambiguous, 400);
    }
}

#[test]
fn a_bad_chunk_is_400() {
    let long_line = format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(400));
    let trailers = format!("0\r\n{}\r\n", "A: b\r\n".repeat(300));
    for body in [
        "",
        "\r\n",
        "-1\r\nx\r\n",
        "+1\r\nx\r\n",
        "0x1\r\nx\r\n",
        " 1\r\nx\r\n",
        "g\r\n",
        "1 1\r\nx\r\n",
        "1\nx\r\n0\r\n\r\n",
        "1\r\nxx\r\n0\r\n\r\n",
        "1\r\nx0\r\n\r\n",
        "1\r\nx\r\n0\n\n",
        "10000000000000000\r\nx\r\n",
        "1\0\r\nx\r\n",
        &long_line,
        &trailers,
    ] {
        let refusal = if body.is_empty() { Refusal::Truncated } else { Refusal::Chunk };
        refused(format!("POST / HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n{body}"), refusal, 400);
    }
}

#[test]
fn the_preface_of_http_2_is_400() {
    refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Refusal::Http2, 400);
}

#[test]
fn half_a_request_is_400() {
    refused("POST /a HTTP/1.1\r\nHost: box\r\nContent-Le", Refusal::Truncated, 400);
    refused("POST /a HTTP/1.1\r\nHost: box\r\nContent-Length: 5\r\n\r\n1234", Refusal::Truncated, 400);
    refused("POST /a HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1234", Refusal::Truncated, 400);
}

#[test]
fn a_body_that_does_not_fit_is_413() {
    refused("POST / HTTP/1.1\r\nHost: box\r\nContent-Length: 1024\r\n\r\n", Refusal::BodyTooLarge, 413);
    for length in ["4294967296", "18446744073709551615", "18446744073709551617", "99999999999999999999999999"] {
        refused(
            format!("POST / HTTP/1.1\r\nHost: box\r\nContent-Length: {length}\r\n\r\n"),
            Refusal::BodyTooLarge,
            413,
        );
    }
    let head = "POST / HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n";
    for size in ["400", "ffffffff", "7FFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF"] {
        refused(format!("{head}{size}\r\n"), Refusal::BodyTooLarge, 413);
    }
    let many = chunked(&[b'x'; 2000], &[100]);
    refused([head.as_bytes(), &many].concat(), Refusal::BodyTooLarge, 413);
}

#[test]
fn a_head_that_does_not_fit_is_431() {
    refused(format!("GET /{} HTTP/1.1\r\nHost: box\r\n\r\n", "a".repeat(ROOM)), Refusal::HeadTooLarge, 431);
    refused(format!("GET / HTTP/1.1\r\nHost: box\r\nA: {}\r\n\r\n", "a".repeat(ROOM)), Refusal::HeadTooLarge, 431);
}

#[test]
fn ten_thousand_headers_are_431() {
    let bytes = format!("GET / HTTP/1.1\r\nHost: box\r\n{}\r\n", "A: b\r\n".repeat(10_000));
    refused(&bytes, Refusal::HeadTooLarge, 431);
    let roomy = serve_with(100_000, None, |stream| stream.from.borrow_mut().send(0, bytes.as_bytes()));
    assert_eq!((roomy.refused, roomy.answer().status), (Some(Refusal::TooManyHeaders), 431));
}

#[test]
fn another_transfer_coding_is_501() {
    for value in ["gzip", "gzip, chunked", "identity", "chunked, chunked", "", "xchunked"] {
        refused(
            format!("POST / HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: {value}\r\n\r\n"),
            Refusal::TransferEncoding,
            501,
        );
    }
    let twice =
        "POST / HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    refused(twice, Refusal::TransferEncoding, 501);
}

#[test]
fn another_version_is_505() {
    for version in ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/3"] {
        refused(format!("GET / {version}\r\n\r\n"), Refusal::Version, 505);
    }
}

#[test]
fn requests_before_a_bad_one_are_answered() {
    let outcome =
        serve("GET /a HTTP/1.1\r\nHost: box\r\n\r\nGET /b HTTP/9.9\r\n\r\nGET /c HTTP/1.1\r\nHost: box\r\n\r\n");
    assert_eq!(outcome.answers().iter().map(|answer| answer.status).collect::<Vec<_>>(), [200, 505]);
}

// Answers.

/// Lets `answer` answer one request and returns what was sent, the number of writes, and whether it stayed open.
fn answer<F>(request: &str, room: usize, seed: Option<u64>, answer: F) -> (String, usize, bool)
where
    F: for<'a> AsyncFnOnce(appliance::http::Responder<'a, Stream<'_>, World>) -> Result<(), WriteError>,
{
    let world = World::default();
    let stream = Stream::new(&world, seed);
    let to = stream.to.clone();
    stream.from.borrow_mut().send(0, request.as_bytes());
    stream.from.borrow_mut().send(1, NEXT);
    let mut buf = vec![0; request.len().max(NEXT.len()) + room];
    world.run(async {
        let mut conn = ServerConn::new(stream, &mut buf, room);
        let (_, responder) = conn.receive(&world, || LIMITS).await.unwrap().unwrap();
        let _ = answer(responder).await;
        let (text, writes) = (to.borrow().text(), to.borrow().writes);
        (text, writes, conn.receive(&world, || LIMITS).await.unwrap().is_some())
    })
}

#[test]
fn a_request_has_one_host_and_in_http_1_0_at_most_one() {
    refused("GET / HTTP/1.1\r\n\r\n", Refusal::Host, 400);
    refused("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", Refusal::Host, 400);
    refused("GET http://box/ HTTP/1.1\r\n\r\n", Refusal::Host, 400);
    for version in ["HTTP/1.1", "HTTP/1.0"] {
        refused(format!("GET / {version}\r\nHost: box\r\nhost: box\r\n\r\n"), Refusal::Host, 400);
        assert_eq!(serve(format!("GET / {version}\r\nHost: box\r\n\r\n")).bodies(), ["GET /"]);
        assert_eq!(serve(format!("GET / {version}\r\nHost:\r\n\r\n")).bodies(), ["GET /"], "empty, as RFC 9110 allows");
    }
    assert_eq!(serve("GET / HTTP/1.0\r\n\r\n").bodies(), ["GET /"]);
}

const NEXT: &[u8] = b"GET /next HTTP/1.1\r\nHost: box\r\n\r\n";
const GET: &str = "GET / HTTP/1.1\r\nHost: box\r\n\r\n";
const GET_1_0: &str = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
const HEAD: &str = "HEAD / HTTP/1.1\r\nHost: box\r\n\r\n";

#[test]
fn extra_headers_are_sent_and_origins_are_not_invited() {
    let (text, ..) = answer(GET, 512, None, async |r| r.respond(405, "text/plain", b"no", &[("Allow", "POST")]).await);
    assert!(text.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
    assert!(text.contains("\r\nAllow: POST\r\n"));
    assert!(!text.to_lowercase().contains("access-control"));
}

#[test]
fn a_body_larger_than_the_buffer_is_sent_whole() {
    let body: String = (0..50_000).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
    for seed in [None, Some(1), Some(2)] {
        let (text, _, open) =
            answer(GET, 300, seed, async |r| r.respond(200, "text/plain", body.as_bytes(), &[]).await);
        assert_eq!(answers(&text)[0].body, body);
        assert!(open);
    }
}

#[test]
fn pieces_of_a_known_length_leave_together() {
    let (text, writes, open) = answer(GET, 512, None, async |r| {
        let mut answer = r.begin(200, "application/json", Some(6), &[])?;
        for piece in ["[1", ",", "22]"] {
            answer.write_all(piece.as_bytes()).await?;
        }
        answer.finish().await
    });
    assert_eq!((answers(&text)[0].body.as_str(), writes, open), ("[1,22]", 1, true));
}

#[test]
fn a_body_of_another_length_than_announced_closes() {
    for length in [5, 7] {
        let (.., open) = answer(GET, 512, None, async |r| {
            let mut answer = r.begin(200, "text/plain", Some(length), &[])?;
            answer.write_all(b"123456").await?;
            answer.finish().await
        });
        assert!(!open, "{length}");
    }
}

#[test]
fn an_answer_that_is_not_finished_closes() {
    let (text, _, open) = answer(GET, 512, None, async |_| Ok(()));
    assert_eq!((text.as_str(), open), ("", false));
    let (.., open) = answer(GET, 512, None, async |r| r.begin(200, "text/plain", None, &[]).map(|_| ()));
    assert!(!open);
}

#[test]
fn the_box_may_close_too() {
    let (text, _, open) = answer(GET, 512, None, async |r| r.close().respond(200, "text/plain", b"", &[]).await);
    assert!(text.contains("Connection: close") && !open);
}

#[test]
fn a_head_larger_than_the_buffer_is_an_error_not_a_panic() {
    for room in [0, 1, 20, 100, 140] {
        let (text, ..) = answer(GET, room, None, async |r| {
            assert_eq!(r.respond(200, "text/plain", b"x", &[]).await, Err(WriteError::BadHead));
            Ok(())
        });
        assert_eq!(text, "");
    }
}

#[test]
fn a_header_value_cannot_bring_a_line_of_its_own() {
    let (text, _, open) = answer(GET, 512, None, async |r| {
        r.respond(200, "text/plain", b"", &[("Location", "/\r\nSet-Cookie: a=b")]).await
    });
    assert_eq!((text.as_str(), open), ("", false));
}

#[test]
fn a_piece_that_failed_closes_even_if_nobody_looked() {
    let (text, _, open) = answer(GET, 512, None, async |r| {
        let mut answer = r.begin(200, "text/plain", Some(2), &[])?;
        assert_eq!(answer.write_all(b"123").await, Err(WriteError::WrongLength));
        answer.write_all(b"12").await?;
        answer.finish().await
    });
    assert_eq!((answers(&text)[0].body.as_str(), open), ("12", false));
}

#[test]
fn head_gets_the_headers_of_get_and_no_body() {
    let (text, _, open) = answer(HEAD, 512, None, async |r| r.respond(200, "text/plain", b"hello", &[]).await);
    assert!(text.ends_with("Content-Length: 5\r\n\r\n"), "{text}");
    assert!(open);
    let (text, _, open) = answer(HEAD, 512, None, async |r| {
        let mut answer = r.begin(200, "text/plain", None, &[])?;
        answer.write_all(b"hello").await?;
        answer.finish().await
    });
    assert!(text.ends_with("Transfer-Encoding: chunked\r\n\r\n"), "{text}");
    assert!(open);
}

#[test]
fn no_content_has_neither_length_nor_type() {
    let (text, ..) = answer(GET, 512, None, async |r| r.respond(204, "", b"", &[]).await);
    assert!(!text.contains("Content-Length") && !text.contains("\r\nContent-Type"), "{text}");
}

/// Takes the chunked coding off, strictly.
fn unchunked(text: &str) -> String {
    let (_, mut rest) = text.split_once("\r\n\r\n").unwrap();
    let mut body = String::new();
    loop {
        let (size, behind) = rest.split_once("\r\n").unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&behind[..size]);
        rest = behind[size..].strip_prefix("\r\n").expect("a line end behind the chunk");
        if size == 0 {
            assert_eq!(rest, "");
            return body;
        }
    }
}

proptest! {
    // The head takes 155 bytes: the smallest buffers have no room for a chunk beside it.
    #[test]
    fn a_body_of_unknown_length_is_chunked_and_for_http_1_0_ended_by_closing(
        pieces in proptest::collection::vec("[a-z]{0,90}", 0..12), room in 155_usize..400, seed: Option<u64>
    ) {
        let write = async |r: appliance::http::Responder<'_, Stream<'_>, World>| {
            let mut answer = r.begin(200, "text/plain", None, &[])?;
            for piece in &pieces {
                answer.write_all(piece.as_bytes()).await?;
            }
            answer.finish().await
        };
        let (text, _, open) = answer(GET, room, seed, write);
        prop_assert!(open);
        prop_assert_eq!(unchunked(&text), pieces.concat());
        let (text, _, open) = answer(GET_1_0, room, seed, write);
        prop_assert!(!open);
        prop_assert!(text.contains("Connection: close"));
        prop_assert_eq!(text.split_once("\r\n\r\n").unwrap().1, pieces.concat());
    }
}

// Everything else a peer can send.

#[derive(Clone, Debug)]
struct Sent {
    path: String,
    body: Vec<u8>,
    chunks: Option<Vec<usize>>,
}

impl Sent {
    fn bytes(&self) -> Vec<u8> {
        let framing = match &self.chunks {
            Some(_) => "Transfer-Encoding: chunked".to_string(),
            None => format!("Content-Length: {}", self.body.len()),
        };
        let mut bytes = format!("POST {} HTTP/1.1\r\nHost: box\r\n{framing}\r\n\r\n", self.path).into_bytes();
        match &self.chunks {
            Some(sizes) => bytes.extend(chunked(&self.body, sizes)),
            None => bytes.extend(&self.body),
        }
        bytes
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    let body = proptest::collection::vec(any::<u8>(), 0..200);
    let chunks = proptest::option::of(proptest::collection::vec(1_usize..50, 1..4));
    ("/[a-z]{0,8}", body, chunks).prop_map(|(path, body, chunks)| Sent { path, body, chunks })
}

proptest! {
    #[test]
    fn however_requests_are_cut_and_joined_each_arrives_whole(
        all in proptest::collection::vec(sent(), 1..8), seed: u64
    ) {
        let world = World::default();
        let stream = Stream::new(&world, Some(seed));
        stream.from.borrow_mut().send(0, &all.iter().flat_map(Sent::bytes).collect::<Vec<_>>());
        stream.from.borrow_mut().end(0, End::Closed);
        let to = stream.to.clone();
        let mut buf = [0; ROOM + 200];
        world.run(async {
            let mut conn = ServerConn::new(stream, &mut buf, 200);
            for sent in &all {
                let (request, responder) = conn.receive(&world, || LIMITS).await.unwrap().unwrap();
                assert_eq!((request.method, request.path, request.body), ("POST", &*sent.path, &*sent.body));
                responder.respond(200, "text/plain", sent.path.as_bytes(), &[]).await.unwrap();
            }
            assert!(conn.receive(&world, || LIMITS).await.unwrap().is_none());
        });
        let paths: Vec<_> = answers(&to.borrow().text()).into_iter().map(|answer| answer.body).collect();
        prop_assert_eq!(paths, all.iter().map(|sent| sent.path.clone()).collect::<Vec<_>>());
    }

    #[test]
    fn whatever_bytes_come_every_answer_is_well_formed(
        bytes in proptest::collection::vec(any::<u8>(), 0..600), seed: Option<u64>, room in 0_usize..300
    ) {
        let outcome = serve_with(room, seed, |stream| {
            stream.from.borrow_mut().send(0, &bytes);
            stream.from.borrow_mut().end(0, End::Closed);
        });
        answers(&outcome.text);
    }

    #[test]
    fn however_a_request_is_mutilated_every_answer_is_well_formed(
        first in sent(), second in sent(), seed: u64, room in 20_usize..ROOM,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..3, prop::sample::select(&b"\0\r\n :;,0159aFf-\xff"[..])), 1..6)
    ) {
        let mut bytes = [first.bytes(), second.bytes()].concat();
        for (at, kind, byte) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let outcome = serve_with(room, Some(seed), |stream| {
            stream.from.borrow_mut().send(0, &bytes);
            stream.from.borrow_mut().end(0, End::Closed);
        });
        answers(&outcome.text);
        prop_assert!(outcome.ended <= LIMITS.linger_ms);
    }
}

#[test]
fn work_that_is_ready_beats_its_deadline() {
    let world = World::default();
    assert_eq!(world.run(before(&world, 0, pin!(async { 7 }))), Ok(7));
    assert!(world.run(before(&world, 9, pin!(std::future::pending::<()>()))).is_err());
    assert_eq!(world.now(), 9);
}
