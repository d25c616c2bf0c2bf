//! The operating system's TCP behind `edge-nal`'s traits. `edge-nal-std` has the socket; this adds what it leaves out: a
//! listener whose port is known, Nagle off, because our messages are small and each waits for its answer, and a socket that
//! reads ahead, because asking the system twice for one small message takes longer than answering it.

use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use async_io::Async;
use edge_nal::{Close, Readable, TcpAccept, TcpConnect, TcpShutdown, TcpSplit};
use edge_nal_std::TcpSocket;
use embedded_io_async::{ErrorType, Read, Write};

/// How far a socket reads ahead, in bytes. Most messages of agents are shorter than a tenth of it.
const AHEAD: usize = 4096;

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
    type Socket<'a> = Socket;

    async fn accept(&self) -> io::Result<(SocketAddr, Socket)> {
        let (stream, peer) = self.0.accept().await?;
        Ok((peer, Socket::new(stream)?))
    }
}

/// The way out, to the players.
#[derive(Clone, Copy, Default)]
pub struct Dialler;

impl TcpConnect for Dialler {
    type Error = io::Error;
    type Socket<'a> = Socket;

    async fn connect(&self, remote: SocketAddr) -> io::Result<Socket> {
        Socket::new(Async::<TcpStream>::connect(remote).await?)
    }
}

/// One connection, with the bytes it has read ahead: whoever gets it gets them too.
pub struct Socket {
    tcp: TcpSocket,
    ahead: Ahead,
}

/// Bytes that have come and that nobody has asked for yet.
#[derive(Default)]
struct Ahead {
    /// Empty until something small is read: plain HTTP never is.
    buf: Box<[u8]>,
    start: usize,
    end: usize,
    /// The system had nothing and was not heard of since.
    is_dry: bool,
}

/// The end of a connection that is read from.
pub struct Reader<'a> {
    tcp: &'a TcpSocket,
    ahead: &'a mut Ahead,
}

impl Socket {
    fn new(stream: Async<TcpStream>) -> io::Result<Self> {
        stream.get_ref().set_nodelay(true)?;
        Ok(Self { tcp: TcpSocket::new(stream), ahead: Ahead::default() })
    }
}

impl ErrorType for Reader<'_> {
    type Error = io::Error;
}

impl Read for Reader<'_> {
    /// Whoever gives this up loses nothing: what has come is here or there, and nothing is waited for in between.
    async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Ahead { buf: ahead, start, end, is_dry } = &mut *self.ahead;
        if start == end {
            if buf.len() >= AHEAD {
                return receive(self.tcp, is_dry, buf).await;
            }
            if ahead.is_empty() {
                *ahead = vec![0; AHEAD].into();
            }
            let n = receive(self.tcp, is_dry, ahead).await?;
            (*start, *end) = (0, n);
        }
        let n = buf.len().min(*end - *start);
        buf[..n].copy_from_slice(&ahead[*start..*start + n]);
        *start += n;
        Ok(n)
    }
}

/// Waits for bytes, where there are none. Under load there mostly are: to ask for them at once is faster than to be told.
async fn receive(tcp: &TcpSocket, is_dry: &mut bool, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        if *is_dry {
            poll_fn(|context| tcp.poll_readable(context)).await?;
            *is_dry = false;
        }
        match io::Read::read(&mut tcp.get_ref(), buf) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => *is_dry = true,
            read => return read,
        }
    }
}

impl Readable for Reader<'_> {
    async fn readable(&mut self) -> io::Result<()> {
        match self.ahead.start < self.ahead.end {
            true => Ok(()),
            false => self.tcp.readable().await,
        }
    }
}

impl TcpSplit for Socket {
    type Read<'a> = Reader<'a>;
    type Write<'a> = &'a TcpSocket;

    fn split(&mut self) -> (Reader<'_>, &TcpSocket) {
        (Reader { tcp: &self.tcp, ahead: &mut self.ahead }, &self.tcp)
    }
}

impl ErrorType for Socket {
    type Error = io::Error;
}

impl Read for Socket {
    async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.split().0.read(buf).await
    }
}

impl Readable for Socket {
    async fn readable(&mut self) -> io::Result<()> {
        self.split().0.readable().await
    }
}

impl Write for Socket {
    async fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.tcp.write(buf).await
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush().await
    }
}

impl TcpShutdown for Socket {
    async fn close(&mut self, what: Close) -> io::Result<()> {
        self.tcp.close(what).await
    }

    async fn abort(&mut self) -> io::Result<()> {
        self.tcp.abort().await
    }
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
            assert_eq!(peer, dialled.tcp.get_ref().local_addr().unwrap());
            assert!(dialled.tcp.get_ref().nodelay().unwrap());
            assert!(accepted.tcp.get_ref().nodelay().unwrap());
        });
    }

    #[test]
    fn what_was_read_ahead_comes_next_and_once() {
        async_io::block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let listener = Listener::new(listener).unwrap();
            let mut sender = Dialler.connect(address).await.unwrap();
            let (_, mut reader) = listener.accept().await.unwrap();
            let sent: Vec<u8> = (0..3 * AHEAD).map(|n| (n % 251) as u8).collect();
            sender.write_all(&sent).await.unwrap();
            sender.close(Close::Write).await.unwrap();
            // Small pieces, a large one, small ones again, handed on in between.
            let (mut came, mut buf) = (Vec::new(), vec![0; 2 * AHEAD]);
            for size in [1, 6, 100, 2 * AHEAD].into_iter().cycle() {
                let mut moved = reader;
                moved.readable().await.unwrap();
                let n = moved.read(&mut buf[..size]).await.unwrap();
                came.extend_from_slice(&buf[..n]);
                reader = moved;
                if n == 0 {
                    break;
                }
            }
            assert_eq!(came, sent);
        });
    }
}
