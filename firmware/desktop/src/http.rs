//! HTTP for the house players and the demo, which look at the box from outside: the appliance's own, on sockets of this
//! computer.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;

use appliance::clock::{Clock, before};
use appliance::http::{ClientConn, Limits, Request, ServerConn};
use edge_nal::{TcpAccept, TcpConnect};
use embedded_io_async::{ErrorType, Read, Write};

use crate::computer::Computer;
use crate::net::{Dialler, Listener, Socket};
use crate::reactor::Reactor;

/// Room for the longest answer: the results of 512 players are 10 MB. The system only hands out what is used.
const ANSWER_BYTES: usize = 64 << 20;
/// How long a box may be silent, in milliseconds. A long answer may take longer: players go before it.
const SILENCE_MS: u64 = 10_000;
/// Room for the longest call of a box, an announcement to 512 players, and for what is sent in one go.
const CALL_BYTES: usize = 128 * 1024;
const SPARE_BYTES: usize = 16 * 1024;

/// GETs `path`; anything but 200 is an error.
pub fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let (reactor, clock) = (Reactor::new()?, Computer::new());
    reactor.run(&clock, ask(&reactor, &clock, address, path, None))
}

/// Asks a box: POSTs a JSON text to `path`, or GETs it where there is none. Anything but 200 is an error.
pub async fn ask(
    reactor: &Reactor,
    clock: &Computer,
    address: SocketAddr,
    path: &str,
    body: Option<&str>,
) -> io::Result<String> {
    let mut buf = vec![0; ANSWER_BYTES];
    let host = address.to_string();
    let socket = Dialler(reactor).connect(address).await?;
    let mut conn = ClientConn::new(Patient { socket, clock }, &mut buf);
    let response = match body {
        Some(body) => conn.call(path, &host, body.as_bytes()).await,
        None => conn.get(path, &host).await,
    };
    let response = response.map_err(io::Error::other)?;
    match response.status {
        200 => String::from_utf8(response.body.into()).map_err(io::Error::other),
        other => Err(io::Error::other(format!("status {other}"))),
    }
}

/// A connection to somebody who may think for a while, but not for ever.
struct Patient<'a> {
    socket: Socket<'a>,
    clock: &'a Computer,
}

impl ErrorType for Patient<'_> {
    type Error = io::Error;
}

impl Read for Patient<'_> {
    async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = pin!(self.socket.read(buf));
        before(self.clock, self.clock.after(SILENCE_MS), read).await.map_err(|_| io::ErrorKind::TimedOut)?
    }
}

impl Write for Patient<'_> {
    async fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.socket.write(buf).await
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.socket.flush().await
    }
}

/// Answers requests, one connection after the other, and never ends. `answer` gives the status and a JSON text.
pub async fn serve(listener: &Listener<'_>, clock: &Computer, answer: impl Fn(&Request<'_>) -> (u16, String)) {
    let mut buf = vec![0; CALL_BYTES + SPARE_BYTES];
    loop {
        let Ok((_, socket)) = listener.accept().await else {
            // Out of sockets, perhaps: give others time to close some.
            clock.sleep_until(clock.after(200)).await;
            continue;
        };
        let mut conn = ServerConn::new(socket, &mut buf, SPARE_BYTES);
        // A broken connection is the box's to notice: it calls again.
        while let Ok(Some((request, responder))) = conn.receive(clock, Limits::default).await {
            let (status, body) = answer(&request);
            _ = responder.respond(status, "application/json", body.as_bytes(), &[]).await;
        }
    }
}

/// A server in a thread of its own, which ends with the tests.
#[cfg(test)]
pub fn fake(answer: impl Fn(&Request<'_>) -> (u16, String) + Send + 'static) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (reactor, clock) = (Reactor::new().unwrap(), Computer::new());
        let listener = Listener::new(&reactor, listener).unwrap();
        reactor.run(&clock, serve(&listener, &clock, answer))
    });
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_megabytes_is_read_and_any_status_but_200_is_an_error() {
        let long = "all these words ".repeat(1 << 18);
        let said = long.clone();
        let address = fake(move |request| match request.path {
            "/long" => (200, said.clone()),
            _ => (404, String::new()),
        });
        assert!(get(address, "/long").unwrap() == long);
        assert_eq!(get(address, "/other").unwrap_err().to_string(), "status 404");
    }

    #[test]
    fn a_box_that_is_not_there_is_told() {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert_eq!(get(address, "/").unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
