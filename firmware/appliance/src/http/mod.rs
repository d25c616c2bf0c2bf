//! HTTP/1.1, both directions, over any byte stream.
//!
//! [`ServerConn`] answers requests on one connection, [`ClientConn`] makes them on one. Each lives in borrowed
//! buffers, whose size is its only limit: a message that does not fit is refused, never cut. `httparse` reads the
//! heads; framing, limits and deadlines are ours.
//!
//! Not here: accepting and dialling, closing the socket, routing, what a body means, percent-decoding, WebSocket
//! frames (after [`Responder::upgrade`] the bytes belong to whoever took them).
//!
//! ```
//! use appliance::{clock::Clock, http::{Limits, ServerConn}};
//! use embedded_io_async::{Read, Write};
//!
//! async fn serve<S: Read + Write, C: Clock>(stream: S, clock: &C, limits: &Limits) {
//!     let around = [r#"{"error":""#, r#""}"#];
//!     let mut buf = [0; 4096];
//!     let mut conn = ServerConn::new(stream, &mut buf, 1024);
//!     loop {
//!         match conn.receive(clock, || *limits).await {
//!             Ok(Some((request, responder))) => {
//!                 // An answer that fails leaves a closed connection: the next receive says so.
//!                 let _ = responder.respond(200, "application/json", request.body, &[]).await;
//!             }
//!             Ok(None) => break,
//!             Err(refusal) => {
//!                 let _ = conn.refuse(clock, limits, refusal, around).await;
//!                 break;
//!             }
//!         }
//!     }
//!     let socket_to_close = conn.into_parts().stream;
//! }
//! ```

use embedded_io_async::{ErrorType, Read, Write};

mod client;
mod incoming;
mod outgoing;
mod server;

pub use client::{Call, CallError, ClientConn, Response};
#[cfg(test)]
pub(crate) use outgoing::Frame;
pub use outgoing::{Fragment, Outgoing, Plain, Sink, Timed, WriteError};
pub(crate) use server::send_parts;
pub use server::{Answer, Asked, Limits, Parts, Refusal, Request, Responder, ServerConn};

/// A stream that is lent. What is read from it or written to it waits in the stream's own futures: those of a `&mut` keep what
/// they were given beside them, and on a board every slot has them.
pub(crate) struct By<'a, S>(pub &'a mut S);

impl<S: ErrorType> ErrorType for By<'_, S> {
    type Error = S::Error;
}

impl<S: Read> Read for By<'_, S> {
    fn read(&mut self, buf: &mut [u8]) -> impl Future<Output = Result<usize, S::Error>> {
        self.0.read(buf)
    }
}

impl<S: Write> Write for By<'_, S> {
    fn write(&mut self, buf: &[u8]) -> impl Future<Output = Result<usize, S::Error>> {
        self.0.write(buf)
    }

    fn flush(&mut self) -> impl Future<Output = Result<(), S::Error>> {
        self.0.flush()
    }
}

/// Most header lines in one message. Browsers send about twenty; each costs four words of stack while parsing.
const MAX_HEADERS: usize = 48;

/// The header lines of a message, looked up by name when needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    /// The headers of a complete head that `httparse` has accepted.
    fn of(head: &'a [u8]) -> Self {
        let first_line = head.split_inclusive(|b| *b == b'\n').next().unwrap_or_default();
        Self(head.get(first_line.len()..).unwrap_or_default())
    }

    fn all(self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.split(|b| *b == b'\n').filter_map(move |line| {
            let (found, colon_and_value) = line.split_at_checked(name.len())?;
            let (b':', value) = colon_and_value.split_first()? else { return None };
            if !found.eq_ignore_ascii_case(name.as_bytes()) {
                return None;
            }
            str::from_utf8(value.trim_ascii()).ok()
        })
    }

    /// The value of the first header of that name, if it is UTF-8.
    pub fn get(self, name: &str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// Whether the comma-separated list under that name contains the token: `Connection: keep-alive, Upgrade`.
    pub fn has_token(self, name: &str, token: &str) -> bool {
        self.all(name).any(|value| has_token(value.as_bytes(), token))
    }
}

fn has_token(list: &[u8], token: &str) -> bool {
    list.split(|b| *b == b',').any(|item| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

/// What the headers say about where the message ends and what becomes of the connection.
#[derive(Clone, Copy, Default)]
struct Fields {
    length: Option<u64>,
    encoding: Encoding,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    /// How many there are.
    hosts: u8,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Encoding {
    #[default]
    None,
    Chunked,
    Other,
}

/// `Content-Length` is not one number.
struct BadLength;

impl Fields {
    fn of(headers: &[httparse::Header<'_>]) -> Result<Self, BadLength> {
        let mut fields = Self::default();
        for httparse::Header { name, value } in headers {
            let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
            if is("content-length") {
                for item in value.split(|b| *b == b',') {
                    let length = decimal(item.trim_ascii()).ok_or(BadLength)?;
                    if fields.length.replace(length).is_some_and(|earlier| earlier != length) {
                        return Err(BadLength);
                    }
                }
            } else if is("transfer-encoding") {
                let alone = fields.encoding == Encoding::None;
                let chunked = alone && value.eq_ignore_ascii_case(b"chunked");
                fields.encoding = if chunked { Encoding::Chunked } else { Encoding::Other };
            } else if is("connection") {
                fields.close |= has_token(value, "close");
                fields.keep_alive |= has_token(value, "keep-alive");
            } else if is("host") {
                fields.hosts = fields.hosts.saturating_add(1);
            } else if is("expect") {
                fields.expects_continue |= value.eq_ignore_ascii_case(b"100-continue");
            }
        }
        Ok(fields)
    }

    /// Whether the connection outlives this message.
    fn persists(self, http10: bool) -> bool {
        !self.close && (!http10 || self.keep_alive)
    }
}

/// Digits only: no sign, no space, no base. A number too large for the type is as good as the largest.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, b| {
        let digit = char::from(*b).to_digit(10)?;
        Some(number.saturating_mul(10).saturating_add(digit.into()))
    })
}

fn reason(status: u16) -> &'static str {
    match status {
        101 => "Switching Protocols",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Status",
    }
}
