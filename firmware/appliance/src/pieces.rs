//! A text longer than any buffer, sent piece by piece. The text is never held: it is written anew for every piece, and
//! the hall may have moved on in between. So what was sent is known again, by its length and a checksum, and a text that
//! has become another one is given up instead of being mixed with it.

use protocol_core::json::{Counter, Full, Sink, Slice};

/// What was sent of a text, and how long it is.
pub(crate) struct Pieces {
    sent: Prefix,
    length: usize,
}

/// It has become another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Changed;

impl Pieces {
    /// Of the text that `write` writes.
    pub fn of(write: impl FnOnce(&mut dyn Sink) -> Result<(), Full>) -> Result<Self, Full> {
        let mut counter = Counter::default();
        write(&mut counter)?;
        Ok(Self { sent: Prefix::default(), length: counter.bytes })
    }

    /// The bytes of the whole text.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The next piece, as large as `buf`; `None` when all are sent.
    pub fn next<'b>(
        &mut self,
        buf: &'b mut [u8],
        write: impl FnOnce(&mut dyn Sink) -> Result<(), Full>,
    ) -> Result<Option<&'b [u8]>, Changed> {
        if self.sent.bytes == self.length {
            return Ok(None);
        }
        let room = buf.len().min(self.length - self.sent.bytes);
        let mut piece =
            Piece { earlier: Prefix::default(), skip: self.sent.bytes, window: Slice::new(buf), room, rest: 0 };
        write(&mut piece).map_err(|Full| Changed)?;
        let Piece { earlier, rest, .. } = piece;
        let kept = piece.window.len();
        if earlier != self.sent || kept == 0 || self.sent.bytes + kept + rest != self.length {
            return Err(Changed);
        }
        let kept = buf.get(..kept).unwrap_or_default();
        self.sent.add(kept);
        Ok(Some(kept))
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
    use std::vec::Vec;

    /// Sends `texts`, the next one from the second piece on, and so forth; the last one stays.
    fn send(texts: &[&str], size: usize) -> Result<Vec<u8>, Changed> {
        let mut pieces = Pieces::of(|sink| sink.put(texts[0].as_bytes())).unwrap();
        let (mut buf, mut sent, mut number) = (std::vec![0; size], Vec::new(), 0);
        loop {
            let text = texts.get(number).or(texts.last()).unwrap();
            // In several puts, as a writer does it.
            let write = |sink: &mut dyn Sink| text.as_bytes().chunks(3).try_for_each(|part| sink.put(part));
            match pieces.next(&mut buf, write)? {
                Some(piece) => sent.extend_from_slice(piece),
                None => return Ok(sent),
            }
            number += 1;
        }
    }

    #[test]
    fn a_text_arrives_whole_in_pieces_of_any_size() {
        for size in 1..20 {
            assert_eq!(send(&["all these words"], size).unwrap(), b"all these words");
        }
        assert_eq!(send(&[""], 4).unwrap(), b"");
    }

    #[test]
    fn a_text_that_changed_before_or_in_length_is_given_up_and_one_that_changed_behind_goes_on() {
        assert_eq!(send(&["all these words", "ALL these words"], 5), Err(Changed));
        assert_eq!(send(&["all these words", "all those longer words"], 5), Err(Changed));
        assert_eq!(send(&["all these words", "all"], 5), Err(Changed));
        assert_eq!(send(&["all these words", "all tHESE WORDS"], 5).unwrap(), b"all tHESE WORDS");
    }

    #[test]
    fn no_room_is_no_endless_loop() {
        assert_eq!(send(&["text"], 0), Err(Changed));
    }
}
