//! Just enough HTTP/1.1 for the house players and the demo: whole messages over blocking sockets, bodies with a length.
//! The box itself does not use this; its HTTP is the appliance's.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The longest line of a head, and the most lines, that make sense between the two of us.
const LINE_BYTES: u64 = 8 * 1024;
const LINES: usize = 64;

/// The results of 512 players are 10 MB; more than this is a mistake.
const BODY_BYTES: u64 = 64 << 20;

/// How long a box may take to answer. It answers these requests at once, if it is alive.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// A request or a response.
pub struct Message {
    /// The first line: `POST /mcp HTTP/1.1` or `HTTP/1.1 200 OK`.
    pub start: String,
    /// What came after the head.
    pub body: Vec<u8>,
    /// Whether another message may follow on the same connection.
    pub keep_alive: bool,
}

/// Reads one whole message.
pub fn read(reader: &mut impl BufRead) -> io::Result<Message> {
    let start = line(reader)?;
    let mut length = None;
    let mut keep_alive = start.contains("HTTP/1.1");
    for _ in 0..LINES {
        let header = line(reader)?;
        let Some((name, value)) = header.split_once(':') else {
            if !header.is_empty() {
                return Err(malformed("a header has no colon"));
            }
            let mut body = Vec::new();
            match length {
                Some(length) => {
                    reader.take(length).read_to_end(&mut body)?;
                    if body.len() as u64 != length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                // A response without a length ends with its connection; a request without one has no body.
                None if start.starts_with("HTTP/") => {
                    keep_alive = false;
                    reader.take(BODY_BYTES).read_to_end(&mut body)?;
                }
                None => {}
            }
            return Ok(Message { start, body, keep_alive });
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => {
                let value = value.trim().parse().ok().filter(|length| *length <= BODY_BYTES);
                length = Some(value.ok_or_else(|| malformed("bad Content-Length"))?);
            }
            "connection" => keep_alive &= !value.to_ascii_lowercase().contains("close"),
            "transfer-encoding" => return Err(malformed("chunked bodies are not understood here")),
            _ => {}
        }
    }
    Err(malformed("too many headers"))
}

/// Writes a response with a JSON body, in one piece.
pub fn respond(mut stream: impl Write, status: &str, body: &str, keep_alive: bool) -> io::Result<()> {
    let connection = if keep_alive { "keep-alive" } else { "close" };
    let length = body.len();
    stream.write_all(
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: {connection}\r\n\r\n{body}"
        )
        .as_bytes(),
    )
}

/// GETs `path`; anything but 200 is an error.
pub fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    // HTTP/1.0, so that a long answer ends with its connection instead of coming in chunks.
    exchange(address, &format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n"))
}

/// POSTs a JSON text to `path`; anything but 200 is an error.
pub fn post(address: SocketAddr, path: &str, body: &str) -> io::Result<String> {
    let length = body.len();
    exchange(
        address,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ),
    )
}

fn exchange(address: SocketAddr, request: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_TIME)?;
    stream.set_read_timeout(Some(ANSWER_TIME))?;
    stream.set_write_timeout(Some(ANSWER_TIME))?;
    stream.write_all(request.as_bytes())?;
    let response = read(&mut BufReader::new(stream)).map_err(|error| match error.kind() {
        // The system says "would block" or "timed out", depending on the system.
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {} s", ANSWER_TIME.as_secs()))
        }
        _ => error,
    })?;
    if response.start.split(' ').nth(1) != Some("200") {
        return Err(io::Error::other(response.start));
    }
    String::from_utf8(response.body).map_err(|_| malformed("the answer is not UTF-8"))
}

/// One line without its end.
fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    reader.take(LINE_BYTES).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let line = String::from_utf8(line).map_err(|_| malformed("the head is not UTF-8"))?;
    Ok(line.trim_end_matches('\r').into())
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> io::Result<Vec<u8>> {
        read(&mut text.as_bytes()).map(|message| message.body)
    }

    #[test]
    fn a_request_ends_where_its_length_says() {
        let mut bytes =
            &b"POST /mcp HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}GET / HTTP/1.1\r\nConnection: Close\r\n\r\n"[..];
        let first = read(&mut bytes).unwrap();
        assert_eq!(
            (first.start.as_str(), first.body.as_slice(), first.keep_alive),
            ("POST /mcp HTTP/1.1", &b"{}"[..], true)
        );
        let second = read(&mut bytes).unwrap();
        assert_eq!((second.body.as_slice(), second.keep_alive), (&b""[..], false));
    }

    #[test]
    fn a_response_without_a_length_ends_with_the_connection() {
        assert_eq!(body("HTTP/1.1 200 OK\r\n\r\nall of it").unwrap(), b"all of it");
    }

    #[test]
    fn what_is_cut_off_or_malformed_is_an_error() {
        for text in [
            "",
            "POST /mcp HTTP/1.1\r\n",
            "POST /mcp HTTP/1.1\r\nContent-Length: 3\r\n\r\n{}",
            "POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "POST /mcp HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            "POST /mcp HTTP/1.1\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            assert!(body(text).is_err(), "{text:?}");
        }
        assert!(body(&"x".repeat(10_000)).is_err());
        assert!(body(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(100))).is_err());
    }
}
