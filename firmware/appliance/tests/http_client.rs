//! The client's side of HTTP: what players answer, well or badly, and when a connection may be used again.

mod http_support;

use std::pin::pin;

use appliance::{
    clock::{Clock, before},
    http::{CallError, ClientConn, Limits, ServerConn},
};
use embassy_futures::join::join;
use http_support::{End, Stream, World, chunked};
use proptest::prelude::*;

const ROOM: usize = 512;

/// Makes one call to a peer that answers this and then, if it says so, ends the stream.
/// The status and the body, or what went wrong; and whether the connection may be used again.
fn call(response: impl AsRef<[u8]>, end: Option<End>) -> (Result<(u16, String), CallError>, bool) {
    call_with(ROOM, None, response.as_ref(), end)
}

fn call_with(
    room: usize,
    seed: Option<u64>,
    response: &[u8],
    end: Option<End>,
) -> (Result<(u16, String), CallError>, bool) {
    let world = World::default();
    let stream = Stream::new(&world, seed);
    if !response.is_empty() {
        stream.from.borrow_mut().send(5, response);
    }
    if let Some(end) = end {
        stream.from.borrow_mut().end(6, end);
    }
    let mut buf = vec![0; room];
    let mut conn = ClientConn::new(stream, &mut buf);
    let result = world.run(async {
        let response = conn.call("/mcp", "10.0.0.7:8101", b"{}").await?;
        Ok((response.status, String::from_utf8_lossy(response.body).into_owned()))
    });
    (result, conn.is_reusable())
}

fn ok(status: u16, body: &str) -> Result<(u16, String), CallError> {
    Ok((status, body.into()))
}

#[test]
fn head_and_body_leave_in_one_write() {
    let world = World::default();
    let stream = Stream::new(&world, None);
    let to = stream.to.clone();
    let mut buf = [0; ROOM];
    let mut conn = ClientConn::new(stream, &mut buf);
    world.run(async {
        let mut call = conn.post("/mcp", "10.0.0.7:8101", Some(6), &[("Authorization", "Bearer x")]).unwrap();
        for piece in ["[1", ",", "22]"] {
            call.write_all(piece.as_bytes()).await.unwrap();
        }
        call.finish().await.unwrap();
    });
    assert_eq!(to.borrow().writes, 1);
    assert_eq!(
        to.borrow().text(),
        "POST /mcp HTTP/1.1\r\nHost: 10.0.0.7:8101\r\nContent-Type: application/json\r\nAccept: application/json\r\n\
         Content-Length: 6\r\nAuthorization: Bearer x\r\n\r\n[1,22]"
    );
}

#[test]
fn a_response_ends_where_its_length_says() {
    assert_eq!(call("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", None), (ok(200, "{}"), true));
    assert_eq!(call("HTTP/1.1 422 \r\ncontent-length: 0\r\n\r\n", None), (ok(422, ""), true));
}

#[test]
fn a_chunked_response_arrives_without_its_coding() {
    let mut response = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    response.extend(chunked(b"{\"jsonrpc\":\"2.0\"}", &[3, 1]));
    assert_eq!(call(response, None), (ok(200, "{\"jsonrpc\":\"2.0\"}"), true));
}

#[test]
fn a_response_without_a_length_ends_with_the_connection() {
    assert_eq!(call("HTTP/1.0 200 OK\r\n\r\n{}", Some(End::Closed)), (ok(200, "{}"), false));
    assert_eq!(call("HTTP/1.1 200 OK\r\n\r\n", Some(End::Closed)), (ok(200, ""), false));
    assert_eq!(call("HTTP/1.1 200 OK\r\n\r\n{}", Some(End::Reset)), (Err(CallError::Broken), false));
}

#[test]
fn no_content_and_not_modified_have_no_body() {
    assert_eq!(call("HTTP/1.1 204 No Content\r\n\r\n", None), (ok(204, ""), true));
    assert_eq!(call("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", None), (ok(304, ""), true));
}

#[test]
fn interim_responses_are_skipped_but_not_without_end() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
    let last = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    assert_eq!(call(format!("{interim}{last}"), None), (ok(200, "x"), true));
    assert_eq!(call(format!("{}{last}", interim.repeat(5)), None).0, Err(CallError::Garbled));
}

#[test]
fn a_server_that_closes_is_believed() {
    for head in [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    ] {
        assert_eq!(call(head, None), (ok(200, ""), false));
    }
    let kept = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(call(kept, None), (ok(200, ""), true));
}

#[test]
fn a_response_with_bytes_behind_it_spoils_the_connection() {
    assert_eq!(call("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", None), (ok(200, "x"), false));
}

#[test]
fn a_chunked_response_that_also_has_a_length_spoils_the_connection() {
    let response = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    assert_eq!(call(response, None), (ok(200, "x"), false));
}

#[test]
fn a_body_that_does_not_fit_is_too_long_and_tells_its_status() {
    let too_long = (Err(CallError::TooLong { status: 500 }), false);
    for length in ["512", "18446744073709551616"] {
        let head = format!("HTTP/1.1 500 Oops\r\nContent-Length: {length}\r\n\r\n");
        assert_eq!(call(head, None), too_long);
    }
    let large = "x".repeat(ROOM);
    assert_eq!(call(format!("HTTP/1.1 500 Oops\r\n\r\n{large}"), Some(End::Closed)), too_long);
    let mut response = b"HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    response.extend(chunked(large.as_bytes(), &[100]));
    assert_eq!(call(response, None), too_long);
}

#[test]
fn a_connection_closed_before_any_byte_is_unanswered() {
    for end in [End::Closed, End::Reset] {
        assert_eq!(call("", Some(end)), (Err(CallError::Unanswered), false));
    }
}

#[test]
fn a_connection_closed_within_the_response_is_broken() {
    for part in [
        "H",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1234",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        for end in [End::Closed, End::Reset] {
            assert_eq!(call(part, Some(end)), (Err(CallError::Broken), false), "{part}");
        }
    }
}

#[test]
fn what_is_not_http_is_garbled() {
    for response in [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 099 Low\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nxxx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
    ] {
        assert_eq!(call(response, None), (Err(CallError::Garbled), false), "{response}");
    }
}

#[test]
fn a_head_that_does_not_fit_is_an_error() {
    let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(ROOM));
    assert_eq!(call(long, None).0, Err(CallError::HeadTooLong));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A:\r\n".repeat(60));
    assert_eq!(call(many, None).0, Err(CallError::HeadTooLong));
}

#[test]
fn a_request_that_breaks_its_own_promise_is_not_sent_to_its_end() {
    let world = World::default();
    let mut buf = [0; ROOM];
    let mut conn = ClientConn::new(Stream::new(&world, None), &mut buf);
    world.run(async {
        let mut call = conn.post("/mcp", "a", Some(5), &[]).unwrap();
        assert_eq!(call.finish().await.map_err(CallError::from), Err(CallError::BadRequest));
        assert_eq!(conn.read_response().await.err(), Some(CallError::BadRequest));
    });
    let mut small = [0; 40];
    let mut conn = ClientConn::new(Stream::new(&world, None), &mut small);
    assert_eq!(conn.post("/mcp", "a", Some(5), &[]).err(), Some(CallError::BadRequest));
}

#[test]
fn an_endpoint_cannot_smuggle_in_a_header_or_a_request() {
    let world = World::default();
    let mut buf = [0; ROOM];
    let mut conn = ClientConn::new(Stream::new(&world, None), &mut buf);
    for (path, host) in [
        ("/ HTTP/1.1\r\nX: y", "a"),
        ("/a b", "a"),
        ("/a\n", "a"),
        ("/", "a\r\nX: y"),
        ("", "a"),
        ("mcp", "a"),
        ("/\0", "a"),
    ] {
        assert_eq!(conn.post(path, host, Some(0), &[]).err(), Some(CallError::BadRequest), "{path} {host}");
    }
    assert_eq!(conn.post("/", "a", Some(0), &[("X", "y\r\nZ: z")]).err(), Some(CallError::BadRequest));
}

#[test]
fn a_call_given_up_leaves_a_connection_not_to_be_reused() {
    let world = World::default();
    let stream = Stream::new(&world, None);
    let mut buf = [0; ROOM];
    let mut conn = ClientConn::new(stream, &mut buf);
    assert!(conn.is_reusable());
    world.run(async {
        assert!(before(&world, 30_000, pin!(conn.call("/mcp", "a", b"{}"))).await.is_err());
    });
    assert_eq!(world.now(), 30_000);
    assert!(!conn.is_reusable());
}

proptest! {
    #[test]
    fn whatever_bytes_come_back_nothing_panics_and_nothing_hangs(
        start in prop::sample::select(vec!["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]),
        bytes in proptest::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(&b"\r\n:;0 1Af"[..])], 0..700),
        seed: u64,
        room in 120_usize..600,
    ) {
        let response = [start.as_bytes(), &bytes].concat();
        let _ = call_with(room, Some(seed), &response, Some(End::Closed));
    }

    #[test]
    fn our_client_and_our_server_agree_however_the_stream_is_cut(
        bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 1..6),
        streamed: bool,
        seed: u64,
    ) {
        let world = World::default();
        let near = Stream::new(&world, Some(seed));
        let far = near.opposite();
        let serve = async {
            let mut buf = [0; ROOM + 200];
            let mut conn = ServerConn::new(far, &mut buf, 200);
            while let Some((request, responder)) = conn.receive(&world, Limits::default).await.unwrap() {
                let length = (!streamed).then_some(request.body.len());
                let mut answer = responder.begin(200, "application/octet-stream", length, &[]).unwrap();
                for piece in request.body.chunks(70) {
                    answer.write_all(piece).await.unwrap();
                }
                answer.finish().await.unwrap();
            }
        };
        let call = async {
            let mut buf = [0; ROOM];
            let mut conn = ClientConn::new(near, &mut buf);
            for body in &bodies {
                let response = conn.call("/mcp", "box", body).await.unwrap();
                assert_eq!((response.status, response.body), (200, &**body));
                assert_eq!(response.headers.get("content-type"), Some("application/octet-stream"));
                assert!(conn.is_reusable());
            }
        };
        world.run(join(serve, call));
    }
}
