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

/// Enough for a demo of 512 players in one process, each with a listener and both ends of a connection or two.
#[cfg(unix)]
const SOCKETS: u64 = 4096;

/// Asks the system for as many sockets as a full league needs; many allow 1024 (or 256) unless asked. If it refuses,
/// smaller leagues still play.
pub fn allow_many_sockets() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        // `None` means no limit.
        let wanted = maximum.unwrap_or(SOCKETS).min(SOCKETS);
        if current.is_some_and(|current| current < wanted) {
            _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_full_league_has_its_sockets_where_the_system_allows_them() {
        use rustix::process::{Resource, getrlimit};
        allow_many_sockets();
        let limit = getrlimit(Resource::Nofile);
        let allowed = limit.maximum.unwrap_or(SOCKETS).min(SOCKETS);
        assert!(limit.current.is_none_or(|current| current >= allowed));
    }

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
