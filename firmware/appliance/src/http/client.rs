//! The client's side of one connection: one request out, one response in, and whether it can be used again.
//!
//! Deadlines are the caller's: wrap a call in [`before`](crate::clock::before). A call dropped half-way leaves a
//! connection that [`ClientConn::is_reusable`] denies.

use core::{fmt, mem, mem::MaybeUninit};

use embedded_io_async::{Read, Write};

use super::{
    BadLength, Encoding, Fields, Headers, MAX_HEADERS, WriteError,
    incoming::{Fault, Framing, Incoming},
    outgoing::{Frame, Outgoing, Plain},
};

/// Most interim (1xx) responses before the real one.
const MAX_INTERIM: usize = 8;

/// Why a call brought no response. The connection is then of no further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// Closed before a single byte of the response. On a connection used before that is normal (it went stale): the
    /// caller may try once more on a fresh one.
    Unanswered,
    /// Closed or failed within the response.
    Broken,
    /// What came is not HTTP/1.
    Garbled,
    /// The response's head does not fit the buffer.
    HeadTooLong,
    /// The response's body does not fit the buffer.
    TooLong {
        /// The response's status.
        status: u16,
    },
    /// The request was never sent whole: its head does not fit the buffer or is no head (a path with a space or
    /// a line end in it), or its body was not as long as announced.
    BadRequest,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered => f.write_str("the connection was closed without a response"),
            Self::Broken => f.write_str("the connection was lost within the response"),
            Self::Garbled => f.write_str("the response is not HTTP/1.1"),
            Self::HeadTooLong => f.write_str("the head of the response is too large"),
            Self::TooLong { status } => write!(f, "the body of the response (status {status}) is too large"),
            Self::BadRequest => {
                f.write_str("the request has a bad path or host, or does not fit its buffer or its Content-Length")
            }
        }
    }
}

impl core::error::Error for CallError {}

impl From<WriteError> for CallError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Closed | WriteError::TooSlow => Self::Unanswered,
            WriteError::BadHead | WriteError::WrongLength | WriteError::NoRoom => Self::BadRequest,
        }
    }
}

/// A complete response, in the connection's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The status, 200 and above, or 101.
    pub status: u16,
    /// The header lines.
    pub headers: Headers<'a>,
    /// The body, without its transfer coding.
    pub body: &'a [u8],
}

/// A request being written piece by piece.
pub type Call<'a, S> = Outgoing<'a, Plain<'a, S>>;

/// One connection to a server. Costs the stream, the buffer and four words.
pub struct ClientConn<'b, S> {
    stream: S,
    /// Holds the request on its way out, then the response.
    incoming: Incoming<'b>,
    sent: bool,
    reusable: bool,
}

impl<'b, S: Read + Write> ClientConn<'b, S> {
    /// `buf` must hold the head of any request and, head and body, the largest response worth reading.
    pub fn new(stream: S, buf: &'b mut [u8]) -> Self {
        Self { stream, incoming: Incoming::new(buf, 0), sent: false, reusable: true }
    }

    /// There are larger buffers: where a response is too long for this one, it can go on in one that it [grows](Self::grow) into.
    pub fn may_grow(mut self, may_grow: bool) -> Self {
        self.incoming.may_grow(may_grow);
        self
    }

    /// The same connection in a larger buffer, with what has come of a response that was too long. Its
    /// [rest](Self::read_rest) can be read there.
    pub fn grow<'c>(&'c mut self, buf: &'c mut [u8]) -> ClientConn<'c, &'c mut S> {
        let filled = self.incoming.filled();
        buf.iter_mut().zip(filled).for_each(|(to, &from)| *to = from);
        let filled = filled.len();
        ClientConn {
            stream: &mut self.stream,
            incoming: Incoming::resume(buf, 0, filled),
            sent: false,
            reusable: false,
        }
    }

    /// Whether another call may be made: the last one came to a clean end and the server keeps the connection.
    pub fn is_reusable(&self) -> bool {
        self.reusable
    }

    /// Begins a request with a JSON body of `length` bytes, to be given in pieces; `None` leaves it open for
    /// [`announce`](Outgoing::announce). `host` is the authority the
    /// player gave, `name:port`. What fits the buffer is sent in one write when the request is finished.
    pub fn post(
        &mut self,
        path: &str,
        host: &str,
        length: Option<usize>,
        extra: &[(&str, &str)],
    ) -> Result<Call<'_, S>, CallError> {
        self.begin("POST", path, host, length, extra)
    }

    fn begin(
        &mut self,
        method: &str,
        path: &str,
        host: &str,
        length: Option<usize>,
        extra: &[(&str, &str)],
    ) -> Result<Call<'_, S>, CallError> {
        self.reusable = false;
        self.sent = false;
        // Players name their own endpoints: none may smuggle in a header or a second request.
        let breaks_out = |text: &str| text.bytes().any(|b| b.is_ascii_control() || b == b' ');
        if breaks_out(path) || breaks_out(host) || !path.starts_with('/') {
            return Err(CallError::BadRequest);
        }
        let mut call = Outgoing::new(Plain(&mut self.stream), self.incoming.clear(), (&mut self.sent, true));
        call.head(format_args!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
        ))?;
        call.content_length(length)?;
        call.headers(extra)?;
        call.end_of_head(Frame::Length(length.unwrap_or(0)))?;
        Ok(call)
    }

    /// Posts a body that is already there, and reads the response.
    pub async fn call(&mut self, path: &str, host: &str, body: &[u8]) -> Result<Response<'_>, CallError> {
        let mut call = self.post(path, host, Some(body.len()), &[])?;
        call.write_all(body).await?;
        call.finish().await?;
        self.read_response().await
    }

    /// Asks for what is at a path, and reads the response.
    pub async fn get(&mut self, path: &str, host: &str) -> Result<Response<'_>, CallError> {
        self.begin("GET", path, host, Some(0), &[])?.finish().await?;
        self.read_response().await
    }

    /// Reads the response to the request just finished.
    pub async fn read_response(&mut self) -> Result<Response<'_>, CallError> {
        if !mem::take(&mut self.sent) {
            return Err(CallError::BadRequest);
        }
        self.incoming.clear();
        self.read_rest().await
    }

    /// Reads what is left of a response.
    pub async fn read_rest(&mut self) -> Result<Response<'_>, CallError> {
        let (head, start) = self.read_head().await?;
        let body = self.incoming.body(&mut self.stream, start, head.framing).await;
        let end = body.map_err(|fault| match fault {
            Fault::Full => CallError::TooLong { status: head.status },
            Fault::BadChunk => CallError::Garbled,
            Fault::Closed | Fault::Broken => CallError::Broken,
        })?;
        let bytes = self.incoming.filled();
        // Bytes nobody asked for: whatever they are, the next response would begin with them.
        self.reusable = head.persists && end == bytes.len();
        Ok(Response {
            status: head.status,
            headers: Headers::of(bytes.get(..start).unwrap_or_default()),
            body: bytes.get(start..end).unwrap_or_default(),
        })
    }

    /// Reads heads up to the first that is final, and says where it ends.
    async fn read_head(&mut self) -> Result<(Head, usize), CallError> {
        for heads in 0..=MAX_INTERIM {
            let end = self.incoming.head(&mut self.stream).await.map_err(|fault| match fault {
                Fault::Full => CallError::HeadTooLong,
                _ if heads == 0 && self.incoming.filled().is_empty() => CallError::Unanswered,
                _ => CallError::Broken,
            })?;
            let head = Head::parse(self.incoming.filled().get(..end).unwrap_or_default())?;
            if !matches!(head.status, 100 | 102..=199) {
                return Ok((head, end));
            }
            self.incoming.skip(end);
        }
        Err(CallError::Garbled)
    }
}

struct Head {
    status: u16,
    framing: Framing,
    persists: bool,
}

impl Head {
    /// Parses a complete head. Not inlined, so that the headers are off the stack when the response is judged.
    #[inline(never)]
    fn parse(bytes: &[u8]) -> Result<Self, CallError> {
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let parsed =
            httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        match parsed {
            Ok(httparse::Status::Complete(end)) if end == bytes.len() => {}
            Err(httparse::Error::TooManyHeaders) => return Err(CallError::HeadTooLong),
            _ => return Err(CallError::Garbled),
        }
        let fields = Fields::of(response.headers).map_err(|BadLength| CallError::Garbled)?;
        let status = response.code.filter(|code| *code >= 100).ok_or(CallError::Garbled)?;
        let framing = match (status, fields.encoding, fields.length) {
            (101..=199 | 204 | 304, ..) => Framing::Length(0),
            (_, Encoding::Chunked, _) => Framing::Chunked,
            (_, Encoding::Other, _) => return Err(CallError::Garbled),
            (_, Encoding::None, Some(length)) => Framing::Length(length),
            (_, Encoding::None, None) => Framing::ToClose,
        };
        let one_framing = !(fields.encoding == Encoding::Chunked && fields.length.is_some());
        let persists =
            fields.persists(response.version == Some(0)) && one_framing && framing != Framing::ToClose && status != 101;
        Ok(Self { status, framing, persists })
    }
}
