//! Whatever a player's server answers, however it is cut: the call ends.
#![no_main]

#[path = "../../firmware/appliance/tests/http_support/mod.rs"]
mod http_support;

use appliance::http::ClientConn;
use http_support::{End, Stream, World};

libfuzzer_sys::fuzz_target!(|input: (u64, Vec<u8>)| {
    let (seed, bytes) = input;
    let world = World::default();
    let stream = Stream::new(&world, Some(seed));
    stream.from.borrow_mut().send(0, &bytes);
    stream.from.borrow_mut().end(0, End::Closed);
    let mut buf = [0; 700];
    world.run(async {
        let mut conn = ClientConn::new(stream, &mut buf);
        while conn.is_reusable() {
            if conn.call("/mcp", "10.0.0.1:80", b"{}").await.is_err() {
                break;
            }
        }
    });
});
