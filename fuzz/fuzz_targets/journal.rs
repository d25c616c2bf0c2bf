//! Whatever stands in the flash: the journal is read or refused, and the venue that comes of it stands and plays.
#![no_main]

use appliance::journal::ram::RamFlash;
use appliance::journal::{FRAME, Log, commit, restore};
use arbitrary::Arbitrary;
use embassy_futures::block_on;
use protocol_core::fair::Seed;
use protocol_core::journal::frame::FRAME_BYTES;
use protocol_core::json::Slice;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Config, Event, Space, Venue};

const SECTORS: usize = 4;
const SECTOR: usize = 2048;

#[derive(Arbitrary, Debug)]
enum Content<'a> {
    /// The bytes of the flash, from its beginning.
    Bytes(&'a [u8]),
    /// Sound frames of arbitrary entries.
    Frames(Vec<&'a [u8]>),
    /// Sound frames, and then some bytes are others.
    Damaged(Vec<&'a [u8]>, Vec<(u16, u8)>),
}

libfuzzer_sys::fuzz_target!(|content: Content<'_>| {
    let mut flash = RamFlash::new(vec![0xff; SECTORS * SECTOR]);
    match content {
        Content::Bytes(bytes) => flash.bytes.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte),
        Content::Frames(frames) => flash = framed(&frames),
        Content::Damaged(frames, changes) => {
            flash = framed(&frames);
            for (at, byte) in changes {
                flash.bytes[usize::from(at) % (SECTORS * SECTOR)] = byte;
            }
        }
    }
    let config = Config { endpoint: "http://10.0.0.1:8000/mcp".try_into().unwrap(), ..Config::default() };
    let mut space = Space::<4, 2, 6, 16, 2048, 1024>::new();
    let mut venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
    let (mut log, mut frame) = (Log::new(flash), [0; FRAME]);
    let before = log.flash_mut().bytes.clone();
    let mut now = Now { ms: 0, utc: Utc(0) };
    match block_on(restore(&mut log, &mut venue, &mut frame, |_| {})) {
        Ok(true) => venue.resume(now),
        Ok(false) => venue.keep_facts(),
        Err(_) => {
            assert!(venue.players().is_empty() && venue.next_deadline().is_none(), "nothing of it is left");
            assert_eq!(log.flash_mut().bytes, before, "it is kept as it is");
            return;
        }
    }
    let mut buf = vec![0; 1 << 16];
    for _ in 0..200 {
        while let Ok(Some(_)) = block_on(commit(&mut log, &mut venue, &mut frame, "code")) {}
        while venue.poll_output().is_some() {}
        for player in 0..venue.players().len() as u16 {
            let Some(call) = venue.call(player).map(|call| call.id) else { continue };
            let mut sink = Slice::new(&mut buf);
            if venue.write_call(player, &mut sink).is_ok() {
                serde_json::from_slice::<serde_json::Value>(sink.written()).unwrap();
            }
            let body = br#"{"jsonrpc":"2.0","id":1,"result":{"accept":true,"parity_choice":"even","move":"odd"}}"#;
            venue.handle(now, Event::Reply { player, call, status: 200, body });
        }
        let Some(at) = venue.next_deadline() else { break };
        now = Now { ms: at, utc: now.utc_at(at) };
        venue.handle(now, Event::Tick);
    }
    venue.refresh_standings();
    assert_eq!(venue.standings().count(), usize::from(venue.schedule().players()));
});

/// A flash with one chapter of these entries.
fn framed(frames: &[&[u8]]) -> RamFlash<Vec<u8>> {
    let mut log = Log::new(RamFlash::new(vec![0xff; SECTORS * SECTOR]));
    let mut frame = [0; FRAME];
    let _ = block_on(log.begin_chapter(&mut frame));
    let open: &[u8] = &[6];
    for entries in frames.iter().copied().chain([open]) {
        let entries = &entries[..entries.len().min(FRAME - FRAME_BYTES - 4)];
        frame[FRAME_BYTES..FRAME_BYTES + entries.len()].copy_from_slice(entries);
        let _ = block_on(log.append(&mut frame, entries.len()));
    }
    log.into_flash()
}
