//! A tiny blocking HTTP client, one connection per request. What it does not do (keep-alive, chunked, Expect), curl does.

use socket2::{Domain, Socket, Type};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

/// An answer of the box.
#[derive(Debug, Clone)]
pub struct Response {
    /// 200 and its kin.
    pub status: u16,
    /// The head as it came, status line included.
    pub head: String,
    /// The body as it came.
    pub body: String,
}

impl Response {
    /// The body as JSON; fails the test when it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }

    /// A header's value, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.into_iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Sends the parts one by one, as they are, and reads until the box closes.
pub fn exchange(address: SocketAddr, parts: &[&[u8]]) -> Result<Response> {
    exchange_on(TcpStream::connect(address)?, parts)
}

fn exchange_on(mut stream: TcpStream, parts: &[&[u8]]) -> Result<Response> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    // The box may answer and close before it has read all: what it said still counts.
    let sent = parts.iter().try_for_each(|part| stream.write_all(part));
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    if bytes.is_empty() {
        sent.and(read)?;
    } else if sent.is_ok() {
        read?;
    }
    let text = String::from_utf8(bytes).map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
    let (head, body) = text
        .split_once("\r\n\r\n")
        .ok_or_else(|| Error::new(ErrorKind::UnexpectedEof, format!("no head: {text:?}")))?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("no status: {head:?}")))?;
    Ok(Response { status, head: head.to_owned(), body: body.to_owned() })
}

/// One request with a body, or an empty one.
pub fn request(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> Result<Response> {
    let head = head(address, method, path, headers, body);
    // Two writes, as httpx does: the box must not expect head and body in one segment.
    exchange(address, &[head.as_bytes(), body.as_bytes()])
}

/// A POST of a JSON text from another address of this computer.
pub fn post_from(source: IpAddr, address: SocketAddr, path: &str, body: &str) -> Result<Response> {
    post_with(source, address, path, "Content-Type: application/json\r\n", body)
}

/// The same with headers.
pub fn post_with(source: IpAddr, address: SocketAddr, path: &str, headers: &str, body: &str) -> Result<Response> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.bind(&SocketAddr::new(source, 0).into())?;
    socket.connect(&address.into())?;
    let head = head(address, "POST", path, headers, body);
    exchange_on(socket.into(), &[head.as_bytes(), body.as_bytes()])
}

fn head(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    // HTTP/1.0, so that a long answer ends with its connection; chunks are for curl and the Python players to read.
    format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n"
    )
}
