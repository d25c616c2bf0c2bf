//! Whatever a client sends, however it is cut: the server ends, and every request it takes leaves it whole.
#![no_main]

#[path = "../../firmware/appliance/tests/http_support/mod.rs"]
mod http_support;

use appliance::http::{Limits, ServerConn};
use http_support::{End, Stream, World};

libfuzzer_sys::fuzz_target!(|input: (u64, Vec<u8>)| {
    let (seed, bytes) = input;
    let world = World::default();
    let stream = Stream::new(&world, Some(seed));
    stream.from.borrow_mut().send(0, &bytes);
    stream.from.borrow_mut().end(0, End::Closed);
    let mut buf = [0; 900];
    world.run(async {
        let mut conn = ServerConn::new(stream, &mut buf, 200);
        loop {
            match conn.receive(&world, Limits::default).await {
                Ok(Some((request, responder))) => {
                    let _ = (request.header("host"), request.upgrade());
                    let _ = responder.respond(200, "text/plain", request.body, &[]).await;
                }
                Ok(None) => break,
                Err(refusal) => {
                    let _ = conn.refuse(&world, &Limits::default(), refusal, [r#"{"error":""#, r#""}"#]).await;
                    break;
                }
            }
        }
    });
});
