//! Whatever a client sends as frames, however it is cut: the reader never panics, has always room for the next byte, takes
//! none that is behind a frame, and sees the same as if all had come at once. What it takes for text is text.
#![no_main]

use appliance::ws::{Came, Reader, limit};

const SIZE: usize = 300;

/// What came, with its bytes, and the code of the breach that ended it.
fn read(bytes: &[u8], mut cut: impl FnMut(usize) -> usize) -> (Vec<(Came, Vec<u8>)>, Option<u16>) {
    let (mut reader, mut buf, mut seen, mut rest) = (Reader::new(), [0; SIZE], Vec::new(), bytes);
    while !rest.is_empty() {
        let room = reader.room(&mut buf);
        assert!(!room.is_empty());
        let n = cut(room.len().min(rest.len()));
        room[..n].copy_from_slice(&rest[..n]);
        rest = &rest[n..];
        match reader.took(n, &mut buf) {
            Ok(None) => {}
            // Nobody here has a larger buffer.
            Ok(Some(Came::Long(_))) => return (seen, Some(1009)),
            Ok(Some(came)) => {
                let payload = match came {
                    Came::Message(length) => {
                        assert!(length <= limit(&buf) && reader.is_between_messages());
                        assert!(std::str::from_utf8(&buf[..length]).is_ok());
                        buf[..length].to_vec()
                    }
                    Came::Ping(length) => reader.pong(length, &mut buf).to_vec(),
                    Came::Pong | Came::Close(_) | Came::Long(_) => Vec::new(),
                };
                seen.push((came, payload));
            }
            Err(breach) => return (seen, Some(breach.code())),
        }
    }
    (seen, None)
}

libfuzzer_sys::fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (cuts, bytes) = input;
    let mut cuts = cuts.iter().cycle();
    let pieces = read(&bytes, |n| n.min(1 + usize::from(*cuts.next().unwrap_or(&0))));
    assert_eq!(pieces, read(&bytes, |n| n));
});
