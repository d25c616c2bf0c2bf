//! A WebSocket client with a thread's patience: for players that dial in, and for bytes no library would send.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::{PATIENCE, wait_for};

/// What the box sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A message.
    Text(String),
    /// A ping. It has been answered.
    Ping,
    /// A pong.
    Pong(Vec<u8>),
    /// A close, with its code and reason.
    Close(u16, String),
}

/// An open connection.
pub struct WebSocket(BufReader<TcpStream>);

/// A frame as a client sends it: masked.
pub fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x37, 0xFA, 0x21, 0x3D];
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..126 => bytes.push(0x80 | length as u8),
        length => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
    }
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

impl WebSocket {
    /// Dials in. A board that is just busy refuses connections; then once more.
    pub fn dial(address: SocketAddr) -> WebSocket {
        WebSocket::dial_at(address, "/ws")
    }

    /// The same at another path.
    pub fn dial_at(address: SocketAddr, path: &str) -> WebSocket {
        wait_for("a WebSocket", || WebSocket::try_dial(address, path).ok())
    }

    /// The same, once: who is refused does not come again.
    pub fn try_dial(address: SocketAddr, path: &str) -> io::Result<WebSocket> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // As Firefox writes it.
        let hello = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(hello.as_bytes())?;
        let mut reader = BufReader::new(stream);
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line)? > 2 {
            head.push_str(&line);
            line.clear();
        }
        let is_right = head.starts_with("HTTP/1.1 101 ") && head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        if is_right { Ok(WebSocket(reader)) } else { Err(io::Error::other(head)) }
    }

    /// Sends bytes, be they frames or not.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    /// Sends a message.
    pub fn send(&mut self, text: &str) -> io::Result<()> {
        self.send_bytes(&masked(0x81, text.as_bytes()))
    }

    /// A frame as it comes: its first byte, and what it carries.
    fn raw(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.0.read_exact(&mut head)?;
        let mut length = u64::from(head[1]);
        let longer = match head[1] {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        if longer > 0 {
            let mut bytes = [0; 8];
            self.0.read_exact(&mut bytes[8 - longer..])?;
            length = u64::from_be_bytes(bytes);
        }
        let mut payload = vec![0; length as usize];
        self.0.read_exact(&mut payload)?;
        Ok((head[0], payload))
    }

    /// The next frame, or all those that make one message.
    pub fn frame(&mut self) -> io::Result<Frame> {
        let (mut first, mut payload) = self.raw()?;
        while first == 0x01 {
            let (next, more) = self.raw()?;
            payload.extend(more);
            first = match next {
                0x00 => 0x01,
                0x80 => 0x81,
                other => return Err(io::Error::other(format!("{other:#x} within a message"))),
            };
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(io::Error::other);
        match (first, payload.as_slice()) {
            (0x81, bytes) => Ok(Frame::Text(text(bytes)?)),
            (0x88, [high, low, reason @ ..]) => Ok(Frame::Close(u16::from_be_bytes([*high, *low]), text(reason)?)),
            (0x89, bytes) => {
                let pong = masked(0x8A, bytes);
                self.send_bytes(&pong)?;
                Ok(Frame::Ping)
            }
            (0x8A, bytes) => Ok(Frame::Pong(bytes.to_vec())),
            (first, _) => Err(io::Error::other(format!("a frame that begins with {first:#x}"))),
        }
    }

    /// The next message.
    pub fn receive(&mut self) -> io::Result<String> {
        loop {
            match self.frame()? {
                Frame::Text(text) => return Ok(text),
                Frame::Ping | Frame::Pong(_) => {}
                Frame::Close(code, reason) => return Err(io::Error::other(format!("closed: {code} {reason}"))),
            }
        }
    }
}
