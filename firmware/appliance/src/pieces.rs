//! A text longer than any buffer, sent piece by piece. The text is never held: it is written anew for every piece,
//! straight into the buffer it leaves from, and the venue may have moved on in between. So what was sent is known again, by
//! its length and a checksum, and a text that has become another one is given up instead of being mixed with it.
//!
//! The items of its arrays that were sent are not written again, and nothing is behind the piece: a long text costs its
//! length, not the square of it. Each item is sent as it is when its turn comes.

use protocol_core::json::{Full, Sink, Slice};

use crate::http::{self, Outgoing, WriteError};

/// Adds the text that `write` writes to a message. One that fits the buffer is sent as it was at one moment. False where
/// it became another one while it was being sent. Before a part of it leaves, `may_leave` is waited for; what is in the
/// buffer in the end has not left, and nothing was waited for: whoever finishes the message does that.
pub(crate) fn send<T: http::Sink>(
    message: &mut Outgoing<'_, T>,
    write: &dyn Fn(&mut dyn Sink) -> Result<(), Full>,
    may_leave: impl AsyncFn(),
) -> impl Future<Output = Result<bool, WriteError>> {
    async move {
        let mut sent = Sent::default();
        loop {
            match sent.next(message, write)? {
                Next::All => return Ok(true),
                Next::Another => return Ok(false),
                Next::Piece => {
                    may_leave().await;
                    message.flush().await?;
                }
            }
        }
    }
}

/// What has become of a text.
#[derive(Default)]
pub(crate) struct Sent {
    text: Prefix,
    /// The length of the text. Once it is known outside, it must stay.
    length: Option<usize>,
    mark: Mark,
}

/// What is in the message now.
pub(crate) enum Next {
    /// The whole text, or the rest of it.
    All,
    /// A piece of it, or nothing yet: it must leave to make room.
    Piece,
    /// The text is another one.
    Another,
}

impl Sent {
    /// Adds the next piece to the message. No future waits in here, so that none has to keep what is only needed here.
    pub fn next<T: http::Sink>(
        &mut self,
        message: &mut Outgoing<'_, T>,
        write: &dyn Fn(&mut dyn Sink) -> Result<(), Full>,
    ) -> Result<Next, WriteError> {
        let room = message.room();
        let mut piece = Piece {
            sent: self.text,
            is_counted: self.length.is_none(),
            resumed: self.mark,
            text: Prefix::default(),
            items: 0,
            mark: self.mark,
            room: room.len(),
            window: Slice::new(room),
            rest: 0,
            end: End::Open,
        };
        let written = write(&mut piece);
        let Piece { mut text, mut mark, window, rest, end, .. } = piece;
        let is_whole = rest == 0 && end == End::Open;
        if !is_whole {
            let mut known = self.text;
            for place in [&mut mark.head, &mut mark.text, &mut text] {
                known.extend_to(place, self.text.bytes, window.written());
            }
        }
        let kept = window.len();
        let total = text.bytes.saturating_add(rest);
        match self.length {
            None => {
                written.map_err(|Full| WriteError::WrongLength)?;
                if message.announce(total, kept) {
                    self.length = Some(total);
                }
            }
            Some(length) => match (written, end) {
                (Ok(()), End::Open) if total == length => {}
                (Err(Full), End::More) if total < length => {}
                _ => return Ok(Next::Another),
            },
        }
        if is_whole {
            message.wrote(kept)?;
            return Ok(Next::All);
        }
        // What does not fit behind what is there already may fit when that is gone.
        if message.is_flushed() {
            if kept == 0 {
                return Err(WriteError::BadHead);
            }
            *self = Sent { text, mark, length: self.length.or(Some(total)) };
            message.wrote(kept)?;
        }
        Ok(Next::Piece)
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
        self.bytes = self.bytes.saturating_add(bytes.len());
        for &byte in bytes {
            self.sum = self.sum.rotate_left(5).wrapping_add(byte.into()).wrapping_mul(0x9E37_79B1);
        }
    }

    /// Goes on to a place in the window, which begins at byte `start`, and gives the place its sum. One before it has it already.
    fn extend_to(&mut self, place: &mut Prefix, start: usize, window: &[u8]) {
        if place.bytes > start {
            let new = self.bytes.saturating_sub(start)..place.bytes.saturating_sub(start);
            self.add(window.get(new).unwrap_or_default());
            *place = *self;
        }
    }
}

impl Sink for Prefix {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.add(bytes);
        Ok(())
    }
}

/// A number by which the text that `write` writes is known again.
pub(crate) fn sum(write: impl FnOnce(&mut dyn Sink) -> Result<(), Full>) -> u32 {
    let mut text = Prefix::default();
    // One that cannot be written to its end is known by its beginning.
    let _ = write(&mut text);
    text.sum
}

/// The last place between two items that what was sent has reached.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// Items before it.
    items: usize,
    /// The text before the first of them.
    head: Prefix,
    /// The text before it.
    text: Prefix,
    /// Their [order](Sink::order_is).
    order: u32,
}

/// How far a text was written.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// As far as it goes.
    Open,
    /// It is in the items that were sent.
    Passing,
    /// To the end of the piece: more is of no interest.
    More,
    /// Until it was seen to be another.
    Changed,
}

/// Keeps one piece of a text and takes note of what stands before it and, if that is asked for, how much behind it.
struct Piece<'b> {
    /// What was sent.
    sent: Prefix,
    /// Whether to go on to the end of the text.
    is_counted: bool,
    /// Up to where items were sent.
    resumed: Mark,
    /// The text up to here, at most to the end of the window. The sum goes up to the window: most texts end in their first
    /// window, and then nobody asks for it.
    text: Prefix,
    /// Items up to here.
    items: usize,
    mark: Mark,
    window: Slice<'b>,
    /// What the window still takes.
    room: usize,
    /// Bytes behind the window.
    rest: usize,
    end: End,
}

impl Piece<'_> {
    fn ends(&mut self, end: End) -> Result<(), Full> {
        self.end = end;
        Err(Full)
    }
}

impl Sink for Piece<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        match self.end {
            End::Open => {}
            End::Passing => return Ok(()),
            End::More | End::Changed => return Err(Full),
        }
        let (earlier, bytes) = bytes.split_at(bytes.len().min(self.sent.bytes.saturating_sub(self.text.bytes)));
        self.text.add(earlier);
        if bytes.is_empty() {
            return Ok(());
        }
        // The window begins where the last one ended.
        if self.window.is_empty() && self.rest == 0 && self.text != self.sent {
            return self.ends(End::Changed);
        }
        let (here, behind) = bytes.split_at(bytes.len().min(self.room));
        self.room = self.room.saturating_sub(here.len());
        self.text.bytes = self.text.bytes.saturating_add(here.len());
        self.window.put(here)?;
        if !behind.is_empty() && !self.is_counted {
            return self.ends(End::More);
        }
        self.rest = self.rest.saturating_add(behind.len());
        Ok(())
    }

    fn has_item(&mut self) -> bool {
        let before = self.items;
        self.items = self.items.saturating_add(1);
        if before < self.resumed.items {
            if before == 0 && self.text != self.resumed.head {
                self.end = End::Changed;
            } else if self.end == End::Open {
                self.end = End::Passing;
            }
            return true;
        }
        if self.end == End::Passing {
            self.end = End::Open;
            self.text = self.resumed.text;
        }
        if self.rest == 0 && self.end == End::Open {
            let head = if before == 0 { self.text } else { self.mark.head };
            self.mark = Mark { items: before, head, text: self.text, order: self.resumed.order };
        }
        false
    }

    fn order_is(&mut self, order: u32) {
        if order != self.resumed.order {
            // All of it is written once more, to see whether it is another text.
            self.resumed = Mark { order, ..Mark::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Frame;
    use core::cell::Cell;
    use embassy_futures::block_on;
    use protocol_core::json::{self, Seq};
    use serde::{Serialize, Serializer};
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
        if !block_on(send(&mut message, &write, async || {}))? {
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

    /// An item that takes note of being written.
    struct Noted<'a>(&'a str, &'a Cell<usize>);

    impl Serialize for Noted<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.1.set(self.1.get() + 1);
            serializer.serialize_str(self.0)
        }
    }

    /// Sends `[1, texts, 2, texts]` in pieces, with the words of the second text from the second piece on. Says how many words
    /// were written for it.
    fn sent_words(texts: [&str; 2], orders: [u32; 2], size: usize) -> (Option<Vec<u8>>, usize) {
        let (mut buf, mut wire, mut open) = (vec![0; size], Wire(Vec::new()), false);
        let mut message = Outgoing::new(&mut wire, &mut buf, (&mut open, true));
        message.end_of_head(Frame::ToClose).unwrap();
        block_on(message.flush()).unwrap();
        let (times, words) = (Cell::new(0), Cell::new(0));
        let write = |sink: &mut dyn Sink| {
            let now = usize::from(times.replace(times.get() + 1) > 0);
            let array = || Seq(|| texts[now].split(' ').map(|word| Noted(word, &words)));
            sink.order_is(orders[now]);
            json::write(&(1, array(), 2, array()), sink)
        };
        let done = block_on(send(&mut message, &write, async || {})).unwrap();
        let finished = block_on(message.finish());
        (done.then(|| finished.map(|()| wire.0[2..].into()).unwrap()), words.get())
    }

    #[test]
    fn items_that_were_sent_are_not_written_again() {
        let text = "all these words ".repeat(20);
        let array = format!("{:?}", text.split(' ').collect::<Vec<_>>()).replace(", ", ",");
        let whole = format!("[1,{array},2,{array}]");
        for size in 2..100 {
            let (sent, written) = sent_words([&text; 2], [0; 2], size);
            assert_eq!(sent.unwrap(), whole.as_bytes());
            let (words, pieces) = (2 * text.split(' ').count(), whole.len().div_ceil(size));
            // Once to know the length, once to be sent, and those that two pieces share.
            assert!(written <= 2 * words + 2 * pieces, "{written} for {words} words in {pieces} pieces");
        }
    }

    #[test]
    fn items_may_change_behind_what_was_sent_but_not_in_number_length_or_order() {
        let sent = |text, order| sent_words(["all these words", text], [0, order], 20).0;
        let whole = br#"[1,["all","these","words"],2,["all","these","words"]]"#;
        assert_eq!(sent("all these words", 0).unwrap(), whole);
        assert_eq!(sent("ALL these words", 0).unwrap(), br#"[1,["all","these","words"],2,["ALL","these","words"]]"#);
        assert_eq!(sent("ALL these words", 1), None);
        assert_eq!(sent("all these words", 1).unwrap(), whole, "another order of the same");
        assert_eq!(sent("all these other words", 0), None);
        assert_eq!(sent("all", 0), None);
    }

    #[test]
    fn no_room_is_no_endless_loop() {
        assert_eq!(sent(&["text"], 12, Frame::Chunked(0)), Err(WriteError::BadHead));
    }
}
