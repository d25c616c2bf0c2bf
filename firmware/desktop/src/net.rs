//! The operating system's TCP behind `edge-nal`'s traits. `edge-nal-std` has the socket; this adds what it leaves out: a
//! listener whose port is known, and Nagle off, because our messages are small and each waits for its answer.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use async_io::Async;
use edge_nal::{TcpAccept, TcpConnect};
use edge_nal_std::TcpSocket;

/// A port the box listens on.
pub struct Listener(Async<TcpListener>);

impl Listener {
    /// Takes over a bound listener.
    pub fn new(listener: TcpListener) -> io::Result<Self> {
        Async::new(listener).map(Self)
    }
}

impl TcpAccept for Listener {
    type Error = io::Error;
    type Socket<'a> = TcpSocket;

    async fn accept(&self) -> io::Result<(SocketAddr, TcpSocket)> {
        let (stream, peer) = self.0.accept().await?;
        Ok((peer, socket(stream)?))
    }
}

/// The way out, to the players.
#[derive(Clone, Copy, Default)]
pub struct Dialler;

impl TcpConnect for Dialler {
    type Error = io::Error;
    type Socket<'a> = TcpSocket;

    async fn connect(&self, remote: SocketAddr) -> io::Result<TcpSocket> {
        socket(Async::<TcpStream>::connect(remote).await?)
    }
}

fn socket(stream: Async<TcpStream>) -> io::Result<TcpSocket> {
    stream.get_ref().set_nodelay(true)?;
    Ok(TcpSocket::new(stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_connection_send_at_once() {
        async_io::block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let listener = Listener::new(listener).unwrap();
            let dialled = Dialler.connect(address).await.unwrap();
            let (peer, accepted) = listener.accept().await.unwrap();
            assert_eq!(peer, dialled.get_ref().local_addr().unwrap());
            assert!(dialled.get_ref().nodelay().unwrap());
            assert!(accepted.get_ref().nodelay().unwrap());
        });
    }
}
