//! The server's side of one connection: requests in, answers out, one at a time.
//!
//! Whoever accepted the connection loops over [`ServerConn::receive`] and closes the stream when that returns
//! nothing. A connection is used again only after an answer that was finished.

use core::{fmt, mem, mem::MaybeUninit, pin::pin};

use embassy_futures::select::{Either, select};
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use protocol_core::json::{self, Counter, Full, Slice};

use super::{
    BadLength, Encoding, Fields, Headers, MAX_HEADERS,
    incoming::{Fault, Framing, Incoming},
    outgoing::{Frame, Outgoing, Plain, Sink, Timed, WriteError},
    reason,
};
use crate::clock::{Clock, before};

/// Most reads that may bring nothing but blank lines before a request. One line, byte by byte, is two.
const BLANK_READS: usize = 8;
/// Most bytes read and thrown away behind a refusal.
const MAX_DISCARD: usize = 1 << 20;

/// How often the limits are looked at while a request comes, in milliseconds.
const LOOK_MS: u64 = 500;

/// How long a peer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Between two requests, and before the first. Then the connection is closed without a word.
    pub idle_ms: u64,
    /// For a whole request, from its first byte to its last. Then 408.
    pub request_ms: u64,
    /// For reading each block of the answer.
    pub write_ms: u32,
    /// For reading a refusal and closing. Closing earlier could destroy the refusal on its way.
    pub linger_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { idle_ms: 15_000, request_ms: 10_000, write_ms: 5_000, linger_ms: 500 }
    }
}

/// What was wrong with a request: one rule of HTTP, and the status that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The first line is not `METHOD target HTTP/1.1`.
    RequestLine,
    /// A header name has a byte no name may have, or no colon follows it.
    HeaderName,
    /// A header value has a control character.
    HeaderValue,
    /// A carriage return without its line feed.
    LineEnd,
    /// The connection preface of HTTP/2.
    Http2,
    /// `Content-Length` is not one decimal number.
    ContentLength,
    /// No `Host` in HTTP/1.1, or more than one.
    Host,
    /// Both `Content-Length` and `Transfer-Encoding`, or the latter in HTTP/1.0: the body's end is ambiguous.
    Ambiguous,
    /// A chunk of the body is malformed.
    Chunk,
    /// The stream ended within the request.
    Truncated,
    /// The request took too long.
    TooSlow,
    /// The body does not fit.
    BodyTooLarge,
    /// The head does not fit.
    HeadTooLarge,
    /// More header lines than anybody needs.
    TooManyHeaders,
    /// A transfer coding other than `chunked`.
    TransferEncoding,
    /// Neither HTTP/1.1 nor HTTP/1.0.
    Version,
    /// There is no room for it just now.
    Busy,
}

impl Refusal {
    /// The HTTP status.
    pub fn status(self) -> u16 {
        self.answer().0
    }

    /// The rule in words. Needs no escaping in JSON.
    pub fn rule(self) -> &'static str {
        self.answer().1
    }

    fn headers(self) -> &'static [(&'static str, &'static str)] {
        if self == Self::Busy { &[("Retry-After", "1")] } else { &[] }
    }

    fn answer(self) -> (u16, &'static str) {
        match self {
            Self::RequestLine => (400, "the request line must be METHOD, target and HTTP/1.1, one space between them"),
            Self::HeaderName => (400, "a header name must be letters, digits or hyphens, and a colon must follow it"),
            Self::HeaderValue => (400, "a header value must not contain control characters"),
            Self::LineEnd => (400, "a header line must end in CR LF"),
            Self::Http2 => (400, "HTTP/2 is not spoken here: use HTTP/1.1"),
            Self::ContentLength => (400, "Content-Length must be one decimal number"),
            Self::Host => (400, "a request must have one Host header; in HTTP/1.0 it may have none"),
            Self::Ambiguous => (400, "Transfer-Encoding must not come with Content-Length or in HTTP/1.0"),
            Self::Chunk => (400, "a chunk must be its size in hexadecimal, CR LF, that many bytes, CR LF"),
            Self::Truncated => (400, "the request ended early"),
            Self::TooSlow => (408, "the request did not arrive in time"),
            Self::BodyTooLarge => (413, "the body is too large"),
            Self::HeadTooLarge => (431, "the head is too large"),
            Self::TooManyHeaders => (431, "there are too many headers"),
            Self::TransferEncoding => (501, "Transfer-Encoding must be chunked"),
            Self::Version => (505, "the version must be HTTP/1.1 or HTTP/1.0"),
            Self::Busy => (503, "too many long requests came at once; wait as Retry-After says"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule())
    }
}

impl core::error::Error for Refusal {}

/// A complete request, in the connection's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `GET`, `POST`, …, as sent.
    pub method: &'a str,
    /// The target up to the question mark; percent-encoding is left alone.
    pub path: &'a str,
    /// The target behind the question mark, or nothing.
    pub query: &'a str,
    /// The header lines.
    pub headers: Headers<'a>,
    /// The body, without its transfer coding.
    pub body: &'a [u8],
    /// Whether the client wants to go on after the answer.
    pub keep_alive: bool,
    /// Whether the client speaks HTTP/1.0.
    pub http10: bool,
}

impl<'a> Request<'a> {
    /// The value of the first header of that name.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.get(name)
    }

    /// The protocol the client wants to change to, such as `websocket`.
    pub fn upgrade(&self) -> Option<&'a str> {
        if self.http10 || !self.headers.has_token("connection", "upgrade") {
            return None;
        }
        self.header("upgrade")
    }
}

/// A parsed head, as places in the buffer: the buffer still moves under it.
#[derive(Clone, Copy)]
struct Head {
    method: usize,
    target: usize,
    end: usize,
    fields: Fields,
    http10: bool,
}

impl Head {
    /// Parses a complete head. Not inlined, so that the headers are off the stack when the request is answered.
    #[inline(never)]
    fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut []);
        match request.parse_with_uninit_headers(bytes, &mut headers) {
            Ok(httparse::Status::Complete(end)) if end == bytes.len() => {}
            Ok(_) | Err(httparse::Error::Token | httparse::Error::Status) => return Err(Refusal::RequestLine),
            Err(httparse::Error::HeaderName) => return Err(Refusal::HeaderName),
            Err(httparse::Error::HeaderValue) => return Err(Refusal::HeaderValue),
            Err(httparse::Error::NewLine) => return Err(Refusal::LineEnd),
            Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooManyHeaders),
            Err(httparse::Error::Version) => return Err(version_refusal(bytes)),
        }
        Ok(Self {
            method: request.method.map_or(0, str::len),
            target: request.path.map_or(0, str::len),
            end: bytes.len(),
            fields: Fields::of(request.headers).map_err(|BadLength| Refusal::ContentLength)?,
            http10: request.version == Some(0),
        })
    }

    fn framing(&self) -> Result<Framing, Refusal> {
        match (self.fields.encoding, self.fields.length) {
            (Encoding::None, length) => Ok(Framing::Length(length.unwrap_or(0))),
            (Encoding::Other, _) => Err(Refusal::TransferEncoding),
            (Encoding::Chunked, None) if !self.http10 => Ok(Framing::Chunked),
            (Encoding::Chunked, _) => Err(Refusal::Ambiguous),
        }
    }

    /// The request, once the body is there too and ends at `end`.
    fn request<'a>(&self, bytes: &'a [u8], end: usize) -> Request<'a> {
        let text = |from: usize, len: usize| {
            let text = bytes.get(from..).and_then(|bytes| bytes.get(..len));
            text.and_then(|text| str::from_utf8(text).ok()).unwrap_or_default()
        };
        let (path, query) = split_target(text(self.method.saturating_add(1), self.target));
        Request {
            method: text(0, self.method),
            path,
            query,
            headers: Headers::of(bytes.get(..self.end).unwrap_or_default()),
            body: bytes.get(self.end..end).unwrap_or_default(),
            keep_alive: self.fields.persists(self.http10),
            http10: self.http10,
        }
    }
}

/// `httparse` knows two versions. Is this another one, or none at all?
fn version_refusal(head: &[u8]) -> Refusal {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii_end();
    match line.rsplit(|b| *b == b' ').next().unwrap_or_default() {
        _ if line.starts_with(b"PRI * HTTP/2") => Refusal::Http2,
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', rest @ ..] if rest.len() <= 2 => Refusal::Version,
        _ => Refusal::RequestLine,
    }
}

/// Path and query of `/path?query`, or of the same behind `http://authority`.
fn split_target(target: &str) -> (&str, &str) {
    let behind_scheme = ["http://", "https://"].iter().find_map(|scheme| {
        let (found, rest) = target.split_at_checked(scheme.len())?;
        found.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let target = match behind_scheme {
        Some(rest) => rest.find(['/', '?']).and_then(|at| rest.get(at..)).unwrap_or_default(),
        None => target,
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    (if path.is_empty() { "/" } else { path }, query)
}

impl Fault {
    /// How to answer it, if anybody is left to answer. `full` is what the request was too large for.
    fn refusal(self, full: Refusal) -> Option<Refusal> {
        match self {
            Self::Broken => None,
            Self::Closed => Some(Refusal::Truncated),
            Self::Full => Some(full),
            Self::BadChunk => Some(Refusal::Chunk),
        }
    }
}

/// A request, and the right to answer it.
pub type Asked<'a, S, C> = (Request<'a>, Responder<'a, S, C>);

/// One connection. Costs the stream, the buffer and six words.
pub struct ServerConn<'b, S> {
    stream: S,
    incoming: Incoming<'b>,
    /// Bytes at the front of the buffer that belong to the request answered last.
    consumed: usize,
    /// Whether another request may come.
    open: bool,
}

/// What is left of a connection whose stream is wanted for something else.
pub struct Parts<'b, S> {
    /// The stream.
    pub stream: S,
    /// The buffer. Its first `unread` bytes came behind the last request.
    pub buf: &'b mut [u8],
    /// See `buf`.
    pub unread: usize,
}

impl<'b, S: Read + Write> ServerConn<'b, S> {
    /// `buf` must hold the largest request, head and body, and behind it `spare` bytes for the answer: its head must fit
    /// these. All that a request leaves of the buffer is for its answer; one that fits is one write.
    pub fn new(stream: S, buf: &'b mut [u8], spare: usize) -> Self {
        Self { stream, incoming: Incoming::new(buf, spare), consumed: 0, open: true }
    }

    /// The same in another buffer, in which the first `filled` bytes stand that have come already. `may_grow` says that there is
    /// a larger one: what is refused for want of room can go on there.
    pub fn resume(stream: S, buf: &'b mut [u8], spare: usize, filled: usize, may_grow: bool) -> Self {
        let mut incoming = Incoming::resume(buf, spare, filled);
        incoming.may_grow(may_grow);
        Self { stream, incoming, consumed: 0, open: true }
    }

    /// Whether another request may come.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Bytes that have come and belong to no request that was answered. After a refusal for want of room these are all that has
    /// come of the request: a larger buffer may do.
    pub fn unread(&self) -> usize {
        self.incoming.filled().len().saturating_sub(self.consumed)
    }

    /// Waits for the next request. `None` when there will be none: close the stream.
    ///
    /// The limits are asked for again and again while a request comes: they may have become shorter. A refusal is for
    /// [`refuse`](Self::refuse). Dropping this future ends the connection.
    pub fn receive<'a, C: Clock>(
        &'a mut self,
        clock: &'a C,
        limits: impl Fn() -> Limits,
    ) -> impl Future<Output = Result<Option<Asked<'a, S, C>>, Refusal>> {
        self.receive_unless(clock, limits, core::future::pending())
    }

    /// The same, unless it has to let go of the connection before a request has begun.
    pub async fn receive_unless<'a, C: Clock>(
        &'a mut self,
        clock: &'a C,
        limits: impl Fn() -> Limits,
        let_go: impl Future<Output = ()>,
    ) -> Result<Option<Asked<'a, S, C>>, Refusal> {
        // From here to the end of the answer, anything that goes wrong closes.
        if !mem::take(&mut self.open) {
            return Ok(None);
        }
        self.incoming.skip(mem::take(&mut self.consumed));
        {
            let idle_until = clock.after(limits().idle_ms);
            let mut let_go = pin!(let_go);
            let mut reads = BLANK_READS;
            while self.is_blank() {
                reads = reads.checked_sub(1).ok_or(Refusal::RequestLine)?;
                let more = pin!(self.incoming.fill(&mut self.stream));
                let Ok(Either::First(Ok(()))) = before(clock, idle_until, pin!(select(more, let_go.as_mut()))).await
                else {
                    return Ok(None);
                };
            }
        }
        let begun = clock.now();
        let until = || begun.saturating_add(limits().request_ms);
        let (head, end) = {
            let mut reading = pin!(self.read_request());
            loop {
                match before(clock, until().min(clock.after(LOOK_MS)), reading.as_mut()).await {
                    Ok(Ok(read)) => break read,
                    Ok(Err(refusal)) => return refusal.map_or(Ok(None), Err),
                    Err(_) if clock.now() >= until() => return Err(Refusal::TooSlow),
                    Err(_) => {}
                }
            }
        };
        self.consumed = end;
        let (filled, free) = self.incoming.split();
        let request = head.request(filled, end);
        let responder = Responder {
            sink: Timed::new(&mut self.stream, clock, limits().write_ms),
            buf: free,
            open: &mut self.open,
            keep_alive: request.keep_alive,
            http10: request.http10,
            head_only: request.method == "HEAD",
        };
        Ok(Some((request, responder)))
    }

    /// Skips blank lines before a request, which some clients send. True if nothing else is there.
    fn is_blank(&mut self) -> bool {
        let blank = self.incoming.filled().iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        self.incoming.skip(blank);
        self.incoming.filled().is_empty()
    }

    /// Reads head and body, and says where the body ends. The error is `None` if the stream broke.
    async fn read_request(&mut self) -> Result<(Head, usize), Option<Refusal>> {
        // No method begins like this, but TLS does: no need to wait for the end of a head that will not come.
        if self.incoming.filled().first().is_some_and(|b| !b.is_ascii_graphic()) {
            return Err(Some(Refusal::RequestLine));
        }
        let end = self.incoming.head(&mut self.stream).await.map_err(|fault| fault.refusal(Refusal::HeadTooLarge))?;
        let head = Head::parse(self.incoming.filled().get(..end).unwrap_or_default())?;
        let framing = head.framing()?;
        if head.fields.hosts != 1 && !(head.http10 && head.fields.hosts == 0) {
            return Err(Some(Refusal::Host));
        }
        let body_awaits_go_ahead = head.fields.expects_continue && !head.http10 && self.incoming.filled().len() == end;
        if body_awaits_go_ahead && self.incoming.fits(end, framing) {
            Plain(&mut self.stream).send(b"HTTP/1.1 100 Continue\r\n\r\n").await.map_err(|_| None)?;
        }
        let body = self.incoming.body(&mut self.stream, end, framing).await;
        Ok((head, body.map_err(|fault| fault.refusal(Refusal::BodyTooLarge))?))
    }

    /// What a request that was refused is for, as far as that has come.
    pub fn path(&self) -> &str {
        let line =
            self.incoming.filled().split(|byte| *byte == b'\r').next().and_then(|line| str::from_utf8(line).ok());
        split_target(line.and_then(|line| line.split(' ').nth(1)).unwrap_or_default()).0
    }

    /// Answers a bad request with its status and its rule between what stands around errors, and lets the peer read it.
    ///
    /// Then the connection is over: close the stream.
    pub fn refuse<C: Clock>(
        &mut self,
        clock: &C,
        limits: &Limits,
        refusal: Refusal,
        around: [&'static str; 2],
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let last = self.last_answer(clock, limits);
            last.error_with(refusal.status(), refusal.rule(), refusal.headers(), around).await?;
            self.discard(clock, clock.after(limits.linger_ms)).await;
            Ok(())
        }
    }

    /// The right to give one more answer, with all of the buffer to make it in: what came is forgotten, so it is the connection's
    /// last.
    pub fn last_answer<'a, C: Clock>(&'a mut self, clock: &'a C, limits: &Limits) -> Responder<'a, S, C> {
        Responder {
            sink: Timed::new(&mut self.stream, clock, limits.write_ms),
            buf: self.incoming.clear(),
            open: &mut self.open,
            keep_alive: false,
            http10: false,
            head_only: false,
        }
    }

    /// Reads on until the peer closes, for a while. A stream closed on unread bytes is reset, and the reset can
    /// overtake the answer.
    fn discard<C: Clock>(&mut self, clock: &C, until: u64) -> impl Future<Output = ()> {
        async move {
            let mut discarded = 0_usize;
            while discarded < MAX_DISCARD && clock.now() < until {
                let read = pin!(self.stream.read(self.incoming.clear()));
                let Ok(Ok(n @ 1..)) = before(clock, until, read).await else { return };
                discarded = discarded.saturating_add(n);
                // A flood must not keep the others waiting.
                yield_now().await;
            }
        }
    }

    /// Takes the connection apart, for example after [`Responder::upgrade`].
    pub fn into_parts(mut self) -> Parts<'b, S> {
        self.incoming.skip(self.consumed);
        let unread = self.incoming.filled().len();
        Parts { stream: self.stream, buf: self.incoming.into_buf(), unread }
    }
}

/// What may be kept, and for how long: nothing, unless an answer says otherwise.
const CACHE: &str = "Cache-Control";

/// What an answer says about the length of its body.
#[derive(Clone, Copy)]
enum Length {
    Is(usize),
    /// It will be known before the head is sent.
    Open,
    Unknown,
}

/// An answer being written piece by piece.
pub type Answer<'a, S, C> = Outgoing<'a, Timed<'a, S, C>>;

/// An answer with all of its body; or the right to make it in a larger buffer, and how long the body is if that is worth it.
pub type Whole<'a, S, C> = Result<Answer<'a, S, C>, (Responder<'a, S, C>, Option<usize>)>;

/// Keeps a text that fits, and counts the bytes of one that does not.
struct Measured<'b> {
    kept: Slice<'b>,
    behind: Counter,
}

impl json::Sink for Measured<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if self.behind.bytes == 0 && self.kept.put(bytes).is_ok() { Ok(()) } else { self.behind.put(bytes) }
    }
}

/// The right to answer one request, once. Dropped unused, it closes the connection.
pub struct Responder<'a, S, C> {
    sink: Timed<'a, S, C>,
    buf: &'a mut [u8],
    open: &'a mut bool,
    keep_alive: bool,
    http10: bool,
    head_only: bool,
}

impl<'a, S: Write, C: Clock> Responder<'a, S, C> {
    /// Makes this the connection's last answer.
    pub fn close(mut self) -> Self {
        self.is_last();
        self
    }

    /// The same, where it is.
    pub fn is_last(&mut self) {
        self.keep_alive = false;
    }

    /// Whether only the head of the answer is wanted: then the body need not be made.
    pub fn is_head_only(&self) -> bool {
        self.head_only
    }

    /// Answers HEAD for a body that is not made. Its length is not told, as that would take making it.
    pub fn head(
        self,
        status: u16,
        content_type: &str,
        extra: &[(&str, &str)],
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
        send_parts(self.begin(status, content_type, None, extra), [])
    }

    /// Answers at once.
    pub fn respond(
        self,
        status: u16,
        content_type: &str,
        body: &'a [u8],
        extra: &[(&str, &str)],
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
        let answer = self.begin(status, content_type, Some(body.len()), extra);
        send_parts(answer, [body])
    }

    /// Writes the answer in a lent buffer, if that is larger, which the peer may keep waiting for so many milliseconds in all.
    pub fn with_room(self, lent: Option<&'a mut [u8]>, ms: u32) -> Self {
        match lent {
            Some(buf) if buf.len() > self.buf.len() => Self { buf, ..self }.keeps_waiting(ms),
            _ => self,
        }
    }

    /// The peer may keep the answer waiting for so many milliseconds in all.
    pub fn keeps_waiting(mut self, ms: u32) -> Self {
        (self.sink.write_ms, self.sink.is_for_all) = (ms, true);
        self
    }

    /// What fits into one write, head included.
    pub fn room(&self) -> usize {
        self.buf.len()
    }

    /// Answers with an error: a text that needs no escaping, and what stands around it.
    fn error_with(
        self,
        status: u16,
        text: &'static str,
        extra: &[(&str, &str)],
        [before, behind]: [&'static str; 2],
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
        let parts = [before, text, behind].map(str::as_bytes);
        let length = parts.iter().map(|part| part.len()).sum();
        send_parts(self.begin(status, "application/json", Some(length), extra), parts)
    }

    /// Begins an answer whose body comes in pieces. Nothing is sent until the buffer is full or the answer finished.
    ///
    /// Without a `length` the body is chunked, or for HTTP/1.0 ended by closing. 204 and 304 have no body.
    pub fn begin(
        self,
        status: u16,
        content_type: &str,
        length: Option<usize>,
        extra: &[(&str, &str)],
    ) -> Result<Answer<'a, S, C>, WriteError> {
        self.begin_with(status, content_type, length.map_or(Length::Unknown, Length::Is), extra)
    }

    /// Begins an answer and writes all of its body, as it is at this moment, if there is room for that. Otherwise nothing has
    /// happened, and it is told how long the body is, unless it is longer than `most`.
    pub fn begin_whole(
        self,
        status: u16,
        content_type: &str,
        most: usize,
        write: impl FnOnce(&mut dyn json::Sink) -> Result<(), Full>,
    ) -> Result<Whole<'a, S, C>, WriteError> {
        let Self { keep_alive, http10, head_only, .. } = self;
        let mut answer = self.begin_open(status, content_type)?;
        let room = answer.room();
        let mut body = Measured { behind: Counter::up_to(most.saturating_sub(room.len())), kept: Slice::new(room) };
        let written = write(&mut body).map(|()| (body.kept.len(), body.behind.bytes));
        match (written, answer) {
            (Ok((length, 0)), mut answer) => {
                answer.announce(length, length);
                answer.wrote(length)?;
                Ok(Ok(answer))
            }
            (written, answer) => {
                let (sink, buf, Some(open)) = answer.undo() else { return Err(WriteError::BadHead) };
                let length = written.ok().map(|(kept, behind)| kept.saturating_add(behind));
                Ok(Err((Self { sink, buf, open, keep_alive, http10, head_only }, length)))
            }
        }
    }

    /// Begins an answer whose length is left open for [`announce`](Outgoing::announce). Whoever asks too often is told when to come
    /// again.
    pub fn begin_open(self, status: u16, content_type: &str) -> Result<Answer<'a, S, C>, WriteError> {
        let later: &[(&str, &str)] = if status == 429 { &[("Retry-After", "2")] } else { &[] };
        self.begin_with(status, content_type, Length::Open, later)
    }

    fn begin_with(
        self,
        status: u16,
        content_type: &str,
        length: Length,
        extra: &[(&str, &str)],
    ) -> Result<Answer<'a, S, C>, WriteError> {
        let to_close = matches!(length, Length::Unknown) && self.http10 && !self.head_only;
        let keep_alive = self.keep_alive && !to_close;
        let mut answer = Outgoing::new(self.sink, self.buf, (self.open, keep_alive));
        answer.head(format_args!(
            "HTTP/1.1 {status} {}\r\nConnection: {}\r\n",
            reason(status),
            if keep_alive { "keep-alive" } else { "close" },
        ))?;
        if !extra.iter().any(|(name, _)| *name == CACHE) {
            answer.headers(&[(CACHE, "no-store")])?;
        }
        answer.headers(&[("X-Content-Type-Options", "nosniff")])?;
        let frame = match length {
            _ if matches!(status, 204 | 304) => Frame::Length(0),
            Length::Is(length) => {
                answer.headers(&[("Content-Type", content_type)])?;
                answer.content_length(Some(length))?;
                Frame::Length(length)
            }
            Length::Open => {
                answer.headers(&[("Content-Type", content_type)])?;
                answer.content_length(None)?;
                Frame::Length(0)
            }
            Length::Unknown if self.http10 => {
                answer.headers(&[("Content-Type", content_type)])?;
                Frame::ToClose
            }
            Length::Unknown => {
                answer.headers(&[("Content-Type", content_type), ("Transfer-Encoding", "chunked")])?;
                Frame::Chunked(0)
            }
        };
        answer.headers(extra)?;
        answer.end_of_head(if self.head_only { Frame::Silent } else { frame })?;
        Ok(answer)
    }

    /// Answers 101: from here on the stream speaks `protocol`. Then take it with [`ServerConn::into_parts`].
    pub fn upgrade(
        self,
        protocol: &str,
        extra: &[(&str, &str)],
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
        let begin = || {
            let mut answer = Outgoing::new(self.sink, self.buf, (self.open, false));
            answer.head(format_args!("HTTP/1.1 101 {}\r\n", reason(101)))?;
            answer.headers(&[("Connection", "Upgrade"), ("Upgrade", protocol)])?;
            answer.headers(extra)?;
            answer.end_of_head(Frame::Length(0))?;
            Ok(answer)
        };
        send_parts(begin(), [])
    }
}

/// Adds as much of the parts as there is room for, and leaves the rest of them. Says whether that is anything.
fn put_parts<S: Write, C: Clock>(answer: &mut Answer<'_, S, C>, parts: &mut [&[u8]]) -> Result<bool, WriteError> {
    for part in parts {
        let written = answer.put(part)?;
        *part = part.get(written..).unwrap_or_default();
        if !part.is_empty() {
            return if written == 0 && answer.is_flushed() { Err(WriteError::BadHead) } else { Ok(true) };
        }
    }
    Ok(false)
}

/// Sends an answer whose head is in the buffer already: then nobody has to keep what was in it.
pub(crate) fn send_parts<S: Write, C: Clock, const N: usize>(
    mut answer: Result<Answer<'_, S, C>, WriteError>,
    mut parts: [&[u8]; N],
) -> impl Future<Output = Result<(), WriteError>> {
    async move {
        let answer = answer.as_mut().map_err(|error| *error)?;
        while put_parts(answer, &mut parts)? {
            answer.flush().await?;
        }
        answer.finish().await
    }
}
