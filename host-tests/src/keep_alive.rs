//! One connection for many requests, as agents' HTTP clients keep it.

use crate::http::Response;
use crate::wait_for;
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};

/// An open connection.
pub struct Connection {
    address: SocketAddr,
    reader: BufReader<TcpStream>,
}

impl Connection {
    /// Connects.
    pub fn open(address: SocketAddr) -> Connection {
        Connection::on(TcpStream::connect(address).expect("a connection to the box"), address)
    }

    /// Connects from another address of this computer, as soon as a slot listens.
    pub fn open_from(source: IpAddr, address: SocketAddr) -> Connection {
        let socket = wait_for("a connection to the box", || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).expect("a socket");
            socket.bind(&SocketAddr::new(source, 0).into()).expect("an address of ours");
            socket.connect(&address.into()).is_ok().then_some(socket)
        });
        Connection::on(socket.into(), address)
    }

    fn on(stream: TcpStream, address: SocketAddr) -> Connection {
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(crate::PATIENCE)).expect("a socket");
        Connection { address, reader: BufReader::new(stream) }
    }

    /// GET.
    pub fn get(&mut self, path: &str) -> Response {
        self.exchange("GET", path, "", "")
    }

    /// GET as a browser asks for a file. What is compressed is not made readable.
    pub fn get_zipped(&mut self, path: &str) -> Response {
        self.exchange("GET", path, "Accept-Encoding: gzip\r\n", "")
    }

    /// POST of a JSON text.
    pub fn post(&mut self, path: &str, body: &str) -> Response {
        self.exchange("POST", path, "", body)
    }

    /// The same by somebody who shows a key.
    pub fn post_as(&mut self, key: &str, path: &str, body: &str) -> Response {
        self.exchange("POST", path, &format!("Authorization: Bearer {key}\r\n"), body)
    }

    /// A JSON-RPC call to `/mcp`; the whole answer.
    pub fn rpc(&mut self, method: &str, params: Value, id: u64) -> Value {
        let call = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": id});
        let answer = self.post("/mcp", &call.to_string()).json();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn exchange(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Response {
        let (host, length) = (self.address, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{headers}\
             Content-Length: {length}\r\n\r\n"
        );
        let stream = self.reader.get_mut();
        stream.write_all((head + body).as_bytes()).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        self.read().unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    fn read(&mut self) -> std::io::Result<Response> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.reader.read_line(&mut head)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let head = head.trim_end().to_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        let mut response = Response { status, head, body: String::new() };
        let length = response.header("content-length").and_then(|length| length.parse().ok());
        match length {
            Some(length) => {
                let mut body = vec![0; length];
                self.reader.read_exact(&mut body)?;
                response.body = String::from_utf8_lossy(&body).into_owned();
            }
            None => response.body = self.chunks()?,
        }
        Ok(response)
    }

    fn chunks(&mut self) -> std::io::Result<String> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim(), 16).map_err(|_| std::io::ErrorKind::InvalidData)?;
            let mut chunk = vec![0; length + 2];
            self.reader.read_exact(&mut chunk)?;
            if length == 0 {
                return Ok(String::from_utf8_lossy(&body).into_owned());
            }
            body.extend(&chunk[..length]);
        }
    }
}
