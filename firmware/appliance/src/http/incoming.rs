//! Reading one message into a borrowed buffer: where its head ends, where its body ends.
//!
//! The buffer always holds, in this order: the head, the body decoded so far, bytes not looked at yet. What follows
//! a message stays in place for the next one.

use embedded_io_async::Read;

/// Longest chunk-size or trailer line, line end included. Extensions are legal, and nobody sends them.
const MAX_LINE: usize = 256;
/// Most bytes of trailers behind a chunked body. They are skipped.
const MAX_TRAILERS: usize = 1024;

/// Why a message did not arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    /// The peer ended the stream.
    Closed,
    /// The stream failed.
    Broken,
    /// The buffer cannot hold the message.
    Full,
    /// The chunked coding is malformed.
    BadChunk,
}

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    ToClose,
}

/// A buffer and how much of it is filled.
pub(super) struct Incoming<'b> {
    buf: &'b mut [u8],
    filled: usize,
    /// What is never filled.
    spare: usize,
    /// There are larger buffers. A chunked body is decoded where it stands, and so is not begun in this one.
    may_grow: bool,
}

impl<'b> Incoming<'b> {
    /// The last `spare` bytes of the buffer are kept free for an answer.
    pub fn new(buf: &'b mut [u8], spare: usize) -> Self {
        Self { buf, filled: 0, spare, may_grow: false }
    }

    /// The same, where the first `filled` bytes have come already.
    pub fn resume(buf: &'b mut [u8], spare: usize, filled: usize) -> Self {
        let filled = filled.min(buf.len());
        Self { buf, filled, spare, may_grow: false }
    }

    /// Whether there are larger buffers, for what is too long for this one.
    pub fn may_grow(&mut self, may_grow: bool) {
        self.may_grow = may_grow;
    }

    pub fn filled(&self) -> &[u8] {
        self.buf.get(..self.filled).unwrap_or_default()
    }

    /// What is filled, and all that is free behind it.
    pub fn split(&mut self) -> (&[u8], &mut [u8]) {
        let (filled, free) = self.buf.split_at_mut_checked(self.filled).unwrap_or_default();
        (filled, free)
    }

    /// How much may be filled.
    fn size(&self) -> usize {
        self.buf.len().saturating_sub(self.spare)
    }

    pub fn into_buf(self) -> &'b mut [u8] {
        self.buf
    }

    /// The whole buffer, to write in. What was read is forgotten.
    pub fn clear(&mut self) -> &mut [u8] {
        self.filled = 0;
        self.buf
    }

    /// Forgets the first `n` bytes; the rest moves to the front.
    pub fn skip(&mut self, n: usize) {
        let n = n.min(self.filled);
        if n > 0 {
            self.buf.copy_within(n..self.filled, 0);
            self.filled = self.filled.saturating_sub(n);
        }
    }

    /// Waits for more bytes.
    pub async fn fill<S: Read>(&mut self, stream: &mut S) -> Result<(), Fault> {
        let end = self.size();
        let room = self.buf.get_mut(self.filled..end).unwrap_or_default();
        let size = room.len();
        if size == 0 {
            return Err(Fault::Full);
        }
        match stream.read(room).await {
            Ok(0) => Err(Fault::Closed),
            Ok(n) => {
                self.filled = self.filled.saturating_add(n.min(size));
                Ok(())
            }
            Err(_) => Err(Fault::Broken),
        }
    }

    /// Reads to the end of the head and says where that is.
    pub async fn head<S: Read>(&mut self, stream: &mut S) -> Result<usize, Fault> {
        let mut searched = 0;
        loop {
            if let Some(end) = end_of_head(self.filled(), searched) {
                return Ok(end);
            }
            // An end cut in two can have begun in the last two bytes.
            searched = self.filled.saturating_sub(2);
            self.fill(stream).await?;
        }
    }

    /// Whether a body of that length fits behind a head that ends at `start`.
    pub fn fits(&self, start: usize, framing: Framing) -> bool {
        match framing {
            Framing::Length(length) => length <= self.size().saturating_sub(start) as u64,
            Framing::Chunked | Framing::ToClose => true,
        }
    }

    /// Reads the body behind a head that ends at `start` and says where the body ends.
    pub async fn body<S: Read>(&mut self, stream: &mut S, start: usize, framing: Framing) -> Result<usize, Fault> {
        if !self.fits(start, framing) || (self.may_grow && framing == Framing::Chunked) {
            return Err(Fault::Full);
        }
        match framing {
            Framing::Length(length) => {
                // It fits, so it is no larger than a usize.
                let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
                while self.filled < end {
                    self.fill(stream).await?;
                }
                Ok(end)
            }
            Framing::Chunked => {
                let mut chunks = Chunks { end: start, next: Next::Size, trailers: 0 };
                let size = self.size();
                while !chunks.decode(self.buf.get_mut(..size).unwrap_or_default(), &mut self.filled)? {
                    self.fill(stream).await?;
                }
                Ok(chunks.end)
            }
            Framing::ToClose => loop {
                match self.fill(stream).await {
                    Ok(()) => {}
                    Err(Fault::Closed) => return Ok(self.filled),
                    Err(fault) => return Err(fault),
                }
            },
        }
    }
}

/// Where the first empty line ends. The search begins at `from`.
#[expect(clippy::arithmetic_side_effects, reason = "what was found at a place lies before the end of the bytes")]
fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|b| *b == b'\n')? + 1;
        match bytes.get(at..)? {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
}

/// Takes the chunked coding off a body, in place.
struct Chunks {
    /// Where the decoded body ends. Between calls the bytes not decoded yet begin right there.
    end: usize,
    next: Next,
    trailers: usize,
}

enum Next {
    Size,
    Data(usize),
    DataEnd,
    Trailer,
}

impl Chunks {
    /// Decodes what is there. True when the body is complete; what follows it then begins at `end`.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`end` is at most `raw`, and that at most `filled`: it goes past what is in `rest`; trailers have a limit"
    )]
    fn decode(&mut self, buf: &mut [u8], filled: &mut usize) -> Result<bool, Fault> {
        let mut raw = self.end;
        let done = loop {
            let rest = buf.get(raw..*filled).unwrap_or_default();
            match self.next {
                Next::Size => {
                    let Some(line) = line(rest)? else { break false };
                    raw += line.len();
                    self.next = match usize::try_from(chunk_size(line)?) {
                        Ok(0) => Next::Trailer,
                        Ok(size) if size <= buf.len().saturating_sub(self.end) => Next::Data(size),
                        _ => return Err(Fault::Full),
                    };
                }
                Next::Data(size) => {
                    let n = size.min(rest.len());
                    // In range: `rest` is `n` bytes or longer, and the decoded end is never past the raw start.
                    buf.copy_within(raw..raw + n, self.end);
                    self.end += n;
                    raw += n;
                    if n < size {
                        self.next = Next::Data(size - n);
                        break false;
                    }
                    self.next = Next::DataEnd;
                }
                Next::DataEnd => match rest {
                    [b'\r', b'\n', ..] => {
                        raw += 2;
                        self.next = Next::Size;
                    }
                    [] | [b'\r'] => break false,
                    _ => return Err(Fault::BadChunk),
                },
                Next::Trailer => {
                    let Some(line) = line(rest)? else { break false };
                    raw += line.len();
                    self.trailers += line.len();
                    if line == b"\r\n" {
                        break true;
                    }
                    if self.trailers > MAX_TRAILERS {
                        return Err(Fault::BadChunk);
                    }
                }
            }
        };
        // In range: the decoded end is never past the raw start, nor that past what was filled.
        buf.copy_within(raw..*filled, self.end);
        *filled -= raw - self.end;
        Ok(done)
    }
}

/// The first line, its end included, if it is all there.
fn line(bytes: &[u8]) -> Result<Option<&[u8]>, Fault> {
    match bytes.iter().take(MAX_LINE).position(|b| *b == b'\n') {
        Some(at) => match bytes.get(..=at) {
            Some(line) if line.ends_with(b"\r\n") => Ok(Some(line)),
            _ => Err(Fault::BadChunk),
        },
        None if bytes.len() >= MAX_LINE => Err(Fault::BadChunk),
        None => Ok(None),
    }
}

/// One to sixteen hexadecimal digits, then perhaps an extension, which is skipped.
fn chunk_size(line: &[u8]) -> Result<u64, Fault> {
    let digits = line.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let (digits, rest) = line.split_at_checked(digits).ok_or(Fault::BadChunk)?;
    let extension_or_nothing = matches!(rest.trim_ascii().first(), None | Some(b';'));
    if digits.is_empty() || digits.len() > 16 || !extension_or_nothing {
        return Err(Fault::BadChunk);
    }
    Ok(digits.iter().filter_map(|b| char::from(*b).to_digit(16)).fold(0, |size, digit| size << 4 | u64::from(digit)))
}
