//! A text longer than any buffer, sent piece by piece. The text is never held: it is written anew for every piece,
//! straight into the buffer it leaves from, and the hall may have moved on in between. So what was sent is known again, by
//! its length and a checksum, and a text that has become another one is given up instead of being mixed with it.

use protocol_core::json::{Full, Sink, Slice};

use crate::http::{self, Outgoing, WriteError};

/// Adds the text that `write` writes to a message. One that fits the buffer is sent as it was at one moment. False where
/// it became another one while it was being sent. Before a part of it leaves, `may_leave` is waited for; what is in the
/// buffer in the end has not left, and nothing was waited for: whoever finishes the message does that.
pub(crate) async fn send<T: http::Sink>(
    message: &mut Outgoing<'_, T>,
    write: impl Fn(&mut dyn Sink) -> Result<(), Full>,
    may_leave: impl AsyncFn(),
) -> Result<bool, WriteError> {
    let mut sent = Prefix::default();
    // Once it is known outside, it must stay.
    let mut length = None;
    loop {
        let room = message.room();
        let mut piece =
            Piece { earlier: Prefix::default(), skip: sent.bytes, room: room.len(), window: Slice::new(room), rest: 0 };
        let written = write(&mut piece);
        let Piece { earlier, window, rest, .. } = piece;
        let kept = window.len();
        let total = earlier.bytes + kept + rest;
        match length {
            Some(length) if written.is_err() || earlier != sent || total != length => return Ok(false),
            Some(_) => {}
            None => {
                written.map_err(|Full| WriteError::WrongLength)?;
                if message.announce(total, kept) {
                    length = Some(total);
                }
            }
        }
        if rest == 0 {
            message.wrote(kept)?;
            return Ok(true);
        }
        // What does not fit behind what is there already may fit when that is gone.
        if message.is_flushed() {
            if kept == 0 {
                return Err(WriteError::BadHead);
            }
            sent.add(message.room().get(..kept).unwrap_or_default());
            length = Some(total);
            message.wrote(kept)?;
        }
        may_leave().await;
        message.flush().await?;
    }
}

/// The beginning of a text: enough to know it again, which takes no memory.
#[derive(Clone, Copy, Default, PartialEq)]
struct Prefix {
    bytes: usize,
    sum: u32,
}

impl Prefix {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        for &byte in bytes {
            self.sum = self.sum.rotate_left(5).wrapping_add(byte.into()).wrapping_mul(0x9E37_79B1);
        }
    }
}

/// Keeps one piece of a text and takes note of what stands before and behind it.
struct Piece<'b> {
    earlier: Prefix,
    /// Bytes before the piece that are still to come.
    skip: usize,
    window: Slice<'b>,
    /// What the window still takes.
    room: usize,
    /// Bytes behind the piece.
    rest: usize,
}

impl Sink for Piece<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let (earlier, bytes) = bytes.split_at(bytes.len().min(self.skip));
        self.skip -= earlier.len();
        self.earlier.add(earlier);
        let (here, behind) = bytes.split_at(bytes.len().min(self.room));
        self.room -= here.len();
        self.rest += behind.len();
        self.window.put(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Frame;
    use core::cell::Cell;
    use embassy_futures::block_on;
    use std::vec::Vec;
    use std::{format, vec};

    const LENGTH: Frame = Frame::Length(0);

    struct Wire(Vec<u8>);

    impl http::Sink for &mut Wire {
        async fn send(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
            self.0.extend_from_slice(bytes);
            Ok(())
        }
    }

    /// Sends `texts`, the next one from the second time it is written on, and so forth; the last one stays.
    fn sent(texts: &[&str], size: usize, frame: Frame) -> Result<Option<Vec<u8>>, WriteError> {
        let (mut buf, mut wire, mut open) = (vec![0; size], Wire(Vec::new()), false);
        let mut message = Outgoing::new(&mut wire, &mut buf, (&mut open, true));
        match frame {
            LENGTH => {
                message.content_length(None)?;
                message.end_of_head(frame)?;
            }
            _ => {
                message.end_of_head(frame)?;
                block_on(message.flush())?;
            }
        }
        let times = Cell::new(0);
        let write = |sink: &mut dyn Sink| {
            let text = texts.get(times.replace(times.get() + 1)).or(texts.last()).unwrap();
            // In several puts, as a writer does it.
            text.as_bytes().chunks(3).try_for_each(|part| sink.put(part))
        };
        if !block_on(send(&mut message, write, async || {}))? {
            return Ok(None);
        }
        block_on(message.finish())?;
        Ok(Some(wire.0))
    }

    #[test]
    fn a_text_arrives_whole_in_pieces_of_any_size() {
        for size in 2..20 {
            assert_eq!(sent(&["all these words"], size, Frame::ToClose).unwrap().unwrap(), b"\r\nall these words");
        }
        assert_eq!(sent(&[""], 4, Frame::ToClose).unwrap().unwrap(), b"\r\n");
        let chunked = b"\r\n00000006\r\nall th\r\n00000006\r\nese wo\r\n00000003\r\nrds\r\n0\r\n\r\n";
        assert_eq!(sent(&["all these words"], 18, Frame::Chunked(0)).unwrap().unwrap(), chunked);
    }

    #[test]
    fn the_head_tells_the_length_whether_or_not_the_text_fits_behind_it() {
        for text in ["", "word", &"all these words ".repeat(8)] {
            let whole = format!("Content-Length: {}\r\n\r\n{text}", text.len());
            for size in 40..200 {
                assert_eq!(sent(&[text], size, LENGTH).unwrap().unwrap(), whole.as_bytes());
            }
        }
        assert_eq!(sent(&["text"], 39, LENGTH), Err(WriteError::BadHead));
    }

    #[test]
    fn a_text_that_changed_before_or_in_length_is_given_up_and_one_that_changed_behind_goes_on() {
        assert_eq!(sent(&["all these words", "ALL these words"], 5, Frame::ToClose), Ok(None));
        assert_eq!(sent(&["all these words", "all those longer words"], 5, Frame::ToClose), Ok(None));
        assert_eq!(sent(&["all these words", "all"], 5, Frame::ToClose), Ok(None));
        assert_eq!(
            sent(&["all these words", "all tHESE WORDS"], 5, Frame::ToClose).unwrap().unwrap(),
            b"\r\nall tHESE WORDS"
        );
        let long = "all these words ".repeat(4);
        assert_eq!(sent(&[&long, "all"], 40, LENGTH), Ok(None), "its length was told");
    }

    #[test]
    fn no_room_is_no_endless_loop() {
        assert_eq!(sent(&["text"], 12, Frame::Chunked(0)), Err(WriteError::BadHead));
    }
}
