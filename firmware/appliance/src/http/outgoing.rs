//! Writing one message through a borrowed buffer.
//!
//! Head and body gather in the buffer and leave when it is full or the message is finished, so a message that fits
//! is one write, and one segment on the wire. A message larger than the buffer is still never held whole.

use core::{fmt, mem};

use edge_ws::{FrameHeader, FrameType};
use embassy_futures::select::{Either, select};
use embassy_futures::yield_now;
use embedded_io_async::Write;

use crate::clock::Clock;

/// Bytes that must leave within one write deadline. A peer that reads slower than this is as good as gone.
const BLOCK: usize = 16 * 1024;
/// A chunk's size line. The number is always this wide: it is written before the chunk is complete.
const CHUNK_HEAD: usize = "00000000\r\n".len();
/// What is left open for the digits of a length. No number has more.
const DIGITS: usize = 20;
/// What is left open for the header of a WebSocket frame. None of ours is longer.
const FRAME_HEADER: usize = 10;
const LINE_END: &[u8] = b"\r\n";

/// Why a message could not be written. The connection is then of no further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The peer did not read in time.
    TooSlow,
    /// The stream is closed or broken.
    Closed,
    /// The head does not fit the buffer, or a header value would not stay on its line.
    BadHead,
    /// The body was not as long as announced, or could not be written at all.
    WrongLength,
    /// There was no buffer in time to write it in. Nothing has left.
    NoRoom,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooSlow => "the peer did not read in time",
            Self::Closed => "the connection is closed",
            Self::BadHead => "the head does not fit the buffer or has a control character",
            Self::WrongLength => "the body is not as long as announced",
            Self::NoRoom => "there was no buffer in time to write it in",
        })
    }
}

impl core::error::Error for WriteError {}

/// Where bytes leave.
#[allow(async_fn_in_trait, reason = "the box runs on one thread: no future needs to be Send")]
pub trait Sink {
    /// Sends all of it.
    async fn send(&mut self, bytes: &[u8]) -> Result<(), WriteError>;
}

/// A stream whose writer keeps the time itself.
pub struct Plain<'a, S>(pub(super) &'a mut S);

impl<S: Write> Sink for Plain<'_, S> {
    async fn send(&mut self, mut bytes: &[u8]) -> Result<(), WriteError> {
        while !bytes.is_empty() {
            match self.0.write(bytes).await {
                Ok(n @ 1..) => bytes = bytes.get(n..).unwrap_or_default(),
                _ => return Err(WriteError::Closed),
            }
        }
        Ok(())
    }
}

/// A stream with a deadline on every block of bytes, or on all of them.
pub struct Timed<'a, S, C> {
    pub(crate) stream: &'a mut S,
    pub(crate) clock: &'a C,
    pub(super) write_ms: u32,
    /// Whether that is for all blocks: what the peer takes for one is not there for the next.
    pub(super) is_for_all: bool,
}

impl<'a, S, C> Timed<'a, S, C> {
    pub(crate) fn new(stream: &'a mut S, clock: &'a C, write_ms: u32) -> Self {
        Self { stream, clock, write_ms, is_for_all: false }
    }
}

impl<S: Write, C: Clock> Sink for Timed<'_, S, C> {
    fn send(&mut self, mut bytes: &[u8]) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let (mut deadline, mut left) = (self.clock.after(self.write_ms.into()), BLOCK);
            while !bytes.is_empty() {
                let block = bytes.get(..left).unwrap_or(bytes);
                match select(self.stream.write(block), self.clock.sleep_until(deadline)).await {
                    Either::First(Ok(n @ 1..)) => {
                        bytes = bytes.get(n..).unwrap_or_default();
                        left = left.saturating_sub(n);
                    }
                    Either::First(_) => return Err(WriteError::Closed),
                    Either::Second(()) => return Err(WriteError::TooSlow),
                }
                if left == 0 {
                    // A peer that takes everything at once must not keep the others waiting.
                    yield_now().await;
                    left = BLOCK;
                    if !self.is_for_all {
                        deadline = self.clock.after(self.write_ms.into());
                    }
                }
            }
            if self.is_for_all {
                // It was not more before.
                self.write_ms = u32::try_from(deadline.saturating_sub(self.clock.now())).unwrap_or(self.write_ms);
            }
            Ok(())
        }
    }
}

/// A message on its way out. Give it the body in pieces of any size, then [`finish`](Self::finish) it. A body that is not
/// there yet can be written straight into the buffer: into its [`room`](Self::room), as much as there is of it.
///
/// Dropped before that, it leaves a connection that is not used again.
pub struct Outgoing<'a, T> {
    sink: T,
    buf: &'a mut [u8],
    len: usize,
    frame: Frame,
    gap: Gap,
    /// Set to `.1` once the message is complete, if anybody wants to know.
    outcome: (Option<&'a mut bool>, bool),
}

/// What is left open in the buffer until the length of the body is known.
#[derive(Clone, Copy, Default)]
enum Gap {
    #[default]
    None,
    /// Its digits, at this place.
    Digits(u16),
    /// The header of a WebSocket frame, at the front.
    Header(Fragment),
}

/// Which part of a WebSocket message a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// All of it.
    Whole,
    /// Its beginning; others follow.
    First,
    /// More of it.
    Next,
    /// The rest.
    Last,
}

impl Fragment {
    fn frame_type(self) -> FrameType {
        match self {
            Fragment::Whole => FrameType::Text(false),
            Fragment::First => FrameType::Text(true),
            Fragment::Next => FrameType::Continue(false),
            Fragment::Last => FrameType::Continue(true),
        }
    }
}

/// What is done to the body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// This many bytes are still owed.
    Length(usize),
    /// The open chunk's size line belongs at this place in the buffer.
    Chunked(usize),
    /// The end of the connection ends it.
    ToClose,
    /// It is not sent: the answer to HEAD.
    Silent,
}

impl<'a, T: Sink> Outgoing<'a, T> {
    pub(crate) fn new(sink: T, buf: &'a mut [u8], (done, with): (&'a mut bool, bool)) -> Self {
        Self { sink, buf, len: 0, frame: Frame::Length(0), gap: Gap::None, outcome: (Some(done), with) }
    }

    /// A text message in one WebSocket frame, or a part of one, whose length is left open for [`announce`](Self::announce).
    pub(crate) fn frame(sink: T, buf: &'a mut [u8], part: Fragment) -> Self {
        Self { sink, buf, len: FRAME_HEADER, frame: Frame::Length(0), gap: Gap::Header(part), outcome: (None, true) }
    }

    /// What it was made of, as if nothing had been written. Nothing has left.
    pub(crate) fn undo(self) -> (T, &'a mut [u8], Option<&'a mut bool>) {
        (self.sink, self.buf, self.outcome.0)
    }

    /// Adds to the head.
    pub(super) fn head(&mut self, text: fmt::Arguments<'_>) -> Result<(), WriteError> {
        fmt::write(self, text).map_err(|_| WriteError::BadHead)
    }

    /// Adds header lines. Values may come from a peer: none may bring a line of its own.
    pub(super) fn headers(&mut self, headers: &[(&str, &str)]) -> Result<(), WriteError> {
        headers.iter().try_for_each(|(name, value)| match value.bytes().any(|b| b.is_ascii_control()) {
            true => Err(WriteError::BadHead),
            false => self.head(format_args!("{name}: {value}\r\n")),
        })
    }

    /// Adds the line with the length of the body. Where that is not known yet, it is left open.
    pub(crate) fn content_length(&mut self, length: Option<usize>) -> Result<(), WriteError> {
        match length {
            Some(length) => self.head(format_args!("Content-Length: {length}\r\n")),
            None => {
                self.head(format_args!("Content-Length: "))?;
                self.gap = Gap::Digits(u16::try_from(self.len).map_err(|_| WriteError::BadHead)?);
                self.head(format_args!("{:DIGITS$}\r\n", ""))
            }
        }
    }

    /// Says how long the body is, if that was left open; says whether it was. The first `written` bytes of the body stand
    /// in the [`room`](Self::room) already, and move with it.
    pub fn announce(&mut self, length: usize, written: usize) -> bool {
        let (at, size, part): (usize, _, _) = match mem::take(&mut self.gap) {
            Gap::None => return false,
            Gap::Digits(at) => (at.into(), DIGITS, None),
            Gap::Header(part) => (0, FRAME_HEADER, Some(part)),
        };
        let end = self.len.saturating_add(written).min(self.buf.len());
        let head_and_written = at.saturating_add(size).min(end)..end;
        let head = self.len.saturating_sub(head_and_written.start);
        self.len = at;
        // What is written fits the gap, so what is behind it moves to the front, if at all.
        if let Some(part) = part {
            let header = FrameHeader { frame_type: part.frame_type(), payload_len: length as u64, mask_key: None };
            self.len = header.serialize(self.buf).unwrap_or(0);
        } else {
            let _ = self.head(format_args!("{length}"));
        }
        self.buf.copy_within(head_and_written, self.len);
        self.len = self.len.saturating_add(head);
        if let Frame::Length(owed) = &mut self.frame {
            *owed = length;
        }
        true
    }

    /// How much of a message can be held.
    pub(crate) fn size(&self) -> usize {
        self.buf.len()
    }

    /// Where the next of the body may be written.
    pub fn room(&mut self) -> &mut [u8] {
        let end = match self.frame {
            // Two bytes stay free for the line end behind the chunk.
            Frame::Chunked(_) => self.buf.len().saturating_sub(LINE_END.len()),
            _ => self.buf.len(),
        };
        self.buf.get_mut(self.len..end).unwrap_or_default()
    }

    /// Whether the room is as large as it gets.
    pub fn is_flushed(&self) -> bool {
        match self.frame {
            Frame::Chunked(at) => at == 0 && self.len == CHUNK_HEAD,
            _ => self.len == 0,
        }
    }

    /// The first `n` bytes of the room are now part of the body.
    pub fn wrote(&mut self, n: usize) -> Result<(), WriteError> {
        match &mut self.frame {
            Frame::Silent => return Ok(()),
            Frame::Length(owed) => *owed = owed.checked_sub(n).ok_or(WriteError::WrongLength)?,
            Frame::Chunked(_) | Frame::ToClose => {}
        }
        self.len = self.len.saturating_add(n);
        Ok(())
    }

    /// Adds as much to the body as there is room for, and says how much that was.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<usize, WriteError> {
        let room = self.room();
        let n = room.iter_mut().zip(bytes).map(|(to, &from)| *to = from).count();
        self.wrote(n)?;
        Ok(n)
    }

    /// Sends what has gathered, to make room.
    pub fn flush(&mut self) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let outcome = mem::take(&mut self.outcome.1);
            if let Frame::Chunked(at) = self.frame {
                self.close_chunk(at);
            }
            self.send_buffered().await?;
            if let Frame::Chunked(_) = self.frame {
                self.open_chunk();
            }
            self.outcome.1 = outcome;
            Ok(())
        }
    }

    /// Ends the head. The body is treated as `frame` says.
    pub(crate) fn end_of_head(&mut self, frame: Frame) -> Result<(), WriteError> {
        self.head(format_args!("\r\n"))?;
        self.frame = frame;
        if let Frame::Chunked(_) = frame {
            self.open_chunk();
        }
        Ok(())
    }

    /// Copies as much as fits and says how much that was.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let room = self.buf.get_mut(self.len..).unwrap_or_default();
        let n = bytes.len().min(room.len());
        if let (Some(to), Some(from)) = (room.get_mut(..n), bytes.get(..n)) {
            to.copy_from_slice(from);
        }
        self.len = self.len.saturating_add(n);
        n
    }

    /// The buffer is free again when this is done.
    fn send_buffered(&mut self) -> impl Future<Output = Result<(), WriteError>> {
        let len = mem::take(&mut self.len);
        self.sink.send(self.buf.get(..len).unwrap_or_default())
    }

    fn open_chunk(&mut self) {
        self.frame = Frame::Chunked(self.len);
        // This may lie past the end of the buffer. Then no piece fits, and the empty chunk is taken back.
        self.len = self.len.saturating_add(CHUNK_HEAD);
    }

    /// Writes the open chunk's size before its bytes; an empty chunk is taken back, for it would end the body.
    fn close_chunk(&mut self, at: usize) {
        let size = self.len.saturating_sub(at).saturating_sub(CHUNK_HEAD);
        if size == 0 {
            self.len = at;
            return;
        }
        let digit = |shift: u32| b"0123456789abcdef".get(size >> shift & 15);
        let digits = [28, 24, 20, 16, 12, 8, 4, 0].into_iter().filter_map(digit);
        for (to, from) in self.buf.iter_mut().skip(at).zip(digits.chain(LINE_END)) {
            *to = *from;
        }
        self.take(LINE_END);
    }

    /// Adds to the body.
    pub fn write_all(&mut self, bytes: &[u8]) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            // A piece that failed or was given up half-way spoils the connection, whatever its writer does next.
            let outcome = mem::take(&mut self.outcome.1);
            match self.frame {
                Frame::Silent => {}
                Frame::ToClose => self.write_through(bytes).await?,
                Frame::Length(owed) => {
                    self.frame = Frame::Length(owed.checked_sub(bytes.len()).ok_or(WriteError::WrongLength)?);
                    self.write_through(bytes).await?;
                }
                Frame::Chunked(_) => self.write_chunked(bytes).await?,
            }
            self.outcome.1 = outcome;
            Ok(())
        }
    }

    /// What does not fit the buffer is not copied into it first.
    fn write_through(&mut self, bytes: &[u8]) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let n = self.take(bytes);
            let rest = bytes.get(n..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            self.send_buffered().await?;
            if rest.len() < self.buf.len() {
                self.take(rest);
                return Ok(());
            }
            self.sink.send(rest).await
        }
    }

    fn write_chunked(&mut self, mut bytes: &[u8]) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            while let (Frame::Chunked(at), false) = (self.frame, bytes.is_empty()) {
                // Two bytes stay free for the line end behind the chunk.
                let room = self.buf.len().saturating_sub(self.len).saturating_sub(LINE_END.len());
                let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
                self.take(now);
                bytes = later;
                if !bytes.is_empty() {
                    if at == 0 && self.len <= CHUNK_HEAD {
                        return Err(WriteError::BadHead);
                    }
                    self.close_chunk(at);
                    self.send_buffered().await?;
                    self.open_chunk();
                }
            }
            Ok(())
        }
    }

    /// Sends what is left. Only now may the connection be used again. Nothing can be added any more.
    ///
    /// It borrows what it ends: by value, a future would keep the message three times.
    pub fn finish(&mut self) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            match self.frame {
                Frame::Length(1..) => return Err(WriteError::WrongLength),
                Frame::Length(0) | Frame::ToClose | Frame::Silent => {}
                Frame::Chunked(at) => {
                    self.close_chunk(at);
                    const LAST: &[u8] = b"0\r\n\r\n";
                    if self.buf.len().saturating_sub(self.len) < LAST.len() {
                        self.send_buffered().await?;
                    }
                    self.take(LAST);
                }
            }
            self.send_buffered().await?;
            if let Some(done) = &mut self.outcome.0 {
                **done = self.outcome.1;
            }
            self.frame = Frame::Length(0);
            Ok(())
        }
    }
}

impl<T: Sink> fmt::Write for Outgoing<'_, T> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.take(text.as_bytes()) == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}
