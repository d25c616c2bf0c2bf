//! The operating system's TCP behind `edge-nal`'s traits. Asking the system takes longer than answering a small message, so a
//! socket reads ahead, and what is written to it gathers until the box waits. What the system has it sends at once: Nagle is
//! off, because our messages are small and each waits for its answer. Reading is tried before it is waited for: under load it
//! mostly works.

use std::io;
use std::net::{Shutdown, SocketAddr};

use edge_nal::{Close, Readable, TcpAccept, TcpConnect, TcpShutdown, TcpSplit};
use embassy_futures::select::select;
use embedded_io_async::{ErrorType, Read, Write};
use mio::net::{TcpListener, TcpStream};

use crate::reactor::{Reactor, Source};

/// How far a socket reads ahead, in bytes. Most messages of agents are shorter than a tenth of it.
const AHEAD: usize = 4096;

/// A port the box listens on, or two.
pub struct Listener<'r> {
    reactor: &'r Reactor,
    port: Source<'r, TcpListener>,
    other: Option<Source<'r, TcpListener>>,
}

impl<'r> Listener<'r> {
    /// Takes over a bound listener.
    pub fn new(reactor: &'r Reactor, listener: std::net::TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { reactor, port: Source::new(reactor, TcpListener::from_std(listener))?, other: None })
    }

    /// Listens on another one too.
    pub fn also(&mut self, listener: std::net::TcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        self.other = Some(Source::new(self.reactor, TcpListener::from_std(listener))?);
        Ok(())
    }
}

impl<'r> TcpAccept for Listener<'r> {
    type Error = io::Error;
    type Socket<'a>
        = Socket<'r>
    where
        Self: 'a;

    async fn accept(&self) -> io::Result<(SocketAddr, Socket<'r>)> {
        loop {
            for port in [Some(&self.port), self.other.as_ref()].into_iter().flatten() {
                match port.get().accept() {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => port.readers().shut(),
                    accepted => {
                        // More may have come at the same time.
                        port.readers().wake_next();
                        let (stream, peer) = accepted?;
                        return Ok((peer, Socket::new(self.reactor, stream)?));
                    }
                }
            }
            match &self.other {
                Some(other) => _ = select(self.port.readers().open(), other.readers().open()).await,
                None => self.port.readers().open().await,
            }
        }
    }
}

/// The way out, to the players.
#[derive(Clone, Copy)]
pub struct Dialler<'r>(pub &'r Reactor);

impl<'r> TcpConnect for Dialler<'r> {
    type Error = io::Error;
    type Socket<'a>
        = Socket<'r>
    where
        Self: 'a;

    async fn connect(&self, remote: SocketAddr) -> io::Result<Socket<'r>> {
        let socket = Source::new(self.0, TcpStream::connect(remote)?)?;
        socket.writers().shut();
        loop {
            socket.writers().open().await;
            if let Some(error) = socket.get().take_error()? {
                return Err(error);
            }
            match socket.get().peer_addr() {
                Err(error) if error.kind() == io::ErrorKind::NotConnected => socket.writers().shut(),
                connected => return connected.and_then(|_| Socket::of(socket)),
            }
        }
    }
}

/// A box listens and dials with the same thing.
impl<'r> TcpConnect for Listener<'r> {
    type Error = io::Error;
    type Socket<'a>
        = Socket<'r>
    where
        Self: 'a;

    async fn connect(&self, remote: SocketAddr) -> io::Result<Socket<'r>> {
        Dialler(self.reactor).connect(remote).await
    }
}

/// One connection, with the bytes it has read ahead: whoever gets it gets them too.
pub struct Socket<'r> {
    tcp: Source<'r, TcpStream>,
    ahead: Ahead,
}

/// Bytes that have come and that nobody has asked for yet.
#[derive(Default)]
struct Ahead {
    /// Empty until something small is read: plain HTTP never is.
    buf: Box<[u8]>,
    start: usize,
    end: usize,
}

/// The end of a connection that is read from.
pub struct Reader<'a> {
    tcp: &'a Source<'a, TcpStream>,
    ahead: &'a mut Ahead,
}

/// The end of a connection that is written to.
pub struct Writer<'a>(&'a Source<'a, TcpStream>);

impl<'r> Socket<'r> {
    fn new(reactor: &'r Reactor, stream: TcpStream) -> io::Result<Self> {
        Self::of(Source::new(reactor, stream)?)
    }

    fn of(tcp: Source<'r, TcpStream>) -> io::Result<Self> {
        tcp.get().set_nodelay(true)?;
        Ok(Self { tcp, ahead: Ahead::default() })
    }
}

impl ErrorType for Reader<'_> {
    type Error = io::Error;
}

impl Read for Reader<'_> {
    /// Whoever gives this up loses nothing: what has come is here or there, and nothing is waited for in between.
    async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Ahead { buf: ahead, start, end } = &mut *self.ahead;
        if start == end {
            if buf.len() >= AHEAD {
                return receive(self.tcp, buf).await;
            }
            if ahead.is_empty() {
                *ahead = vec![0; AHEAD].into();
            }
            let n = receive(self.tcp, ahead).await?;
            (*start, *end) = (0, n);
        }
        let n = buf.len().min(*end - *start);
        buf[..n].copy_from_slice(&ahead[*start..*start + n]);
        *start += n;
        Ok(n)
    }
}

/// Whether a system that gives fewer bytes than were asked for has no more, and tells when others come. Windows tells only who
/// has found nothing.
const FEWER_IS_ALL: bool = cfg!(unix);

/// Waits for bytes, where there are none.
async fn receive(tcp: &Source<'_, TcpStream>, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        tcp.readers().open().await;
        match io::Read::read(&mut tcp.get(), buf) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => tcp.readers().shut(),
            read => {
                if FEWER_IS_ALL && read.as_ref().is_ok_and(|&n| n > 0 && n < buf.len()) {
                    tcp.readers().shut();
                }
                return read;
            }
        }
    }
}

impl Readable for Reader<'_> {
    async fn readable(&mut self) -> io::Result<()> {
        if self.ahead.start != self.ahead.end {
            return Ok(());
        }
        loop {
            self.tcp.readers().open().await;
            match self.tcp.get().peek(&mut [0]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.tcp.readers().shut(),
                _ => return Ok(()),
            }
        }
    }
}

impl ErrorType for Writer<'_> {
    type Error = io::Error;
}

impl Write for Writer<'_> {
    async fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.gather(buf).await
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.0.sent().await
    }
}

impl TcpSplit for Socket<'_> {
    type Read<'a>
        = Reader<'a>
    where
        Self: 'a;
    type Write<'a>
        = Writer<'a>
    where
        Self: 'a;

    fn split(&mut self) -> (Reader<'_>, Writer<'_>) {
        (Reader { tcp: &self.tcp, ahead: &mut self.ahead }, Writer(&self.tcp))
    }
}

impl ErrorType for Socket<'_> {
    type Error = io::Error;
}

impl Read for Socket<'_> {
    async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.split().0.read(buf).await
    }
}

impl Readable for Socket<'_> {
    async fn readable(&mut self) -> io::Result<()> {
        self.split().0.readable().await
    }
}

impl Write for Socket<'_> {
    async fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.split().1.write(buf).await
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.split().1.flush().await
    }
}

impl TcpShutdown for Socket<'_> {
    async fn close(&mut self, what: Close) -> io::Result<()> {
        if !matches!(what, Close::Read) {
            self.tcp.sent().await?;
        }
        self.tcp.get().shutdown(match what {
            Close::Read => Shutdown::Read,
            Close::Write => Shutdown::Write,
            Close::Both => Shutdown::Both,
        })
    }

    /// Dropping it does.
    async fn abort(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Enough for a demo of 512 players in one process, each with a reactor, a listener and both ends of a connection or two.
#[cfg(unix)]
const SOCKETS: u64 = 8192;

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
    use crate::computer::Computer;
    use embassy_futures::select::{Either, select};
    use std::net::{TcpListener, TcpStream};

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
        let reactor = Reactor::new().unwrap();
        reactor.run(&Computer::new(), async {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let listener = Listener::new(&reactor, listener).unwrap();
            let dialled = Dialler(&reactor).connect(address).await.unwrap();
            let (peer, accepted) = listener.accept().await.unwrap();
            assert_eq!(peer, dialled.tcp.get().local_addr().unwrap());
            assert!(dialled.tcp.get().nodelay().unwrap());
            assert!(accepted.tcp.get().nodelay().unwrap());
        });
    }

    #[test]
    fn a_port_where_nobody_listens_is_told_at_once_or_soon() {
        let reactor = Reactor::new().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let dialled = reactor.run(&Computer::new(), async { Dialler(&reactor).connect(free).await.map(|_| ()) });
        assert_eq!(dialled.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }

    /// Both ends of a connection: ours, and the peer's with a deadline on its reads.
    async fn connection(reactor: &Reactor) -> (Socket<'_>, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        peer.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        let (_, ours) = Listener::new(reactor, listener).unwrap().accept().await.unwrap();
        (ours, peer)
    }

    #[test]
    fn what_is_said_in_one_round_arrives_in_one_piece() {
        let reactor = Reactor::new().unwrap();
        reactor.run(&Computer::new(), async {
            let (mut ours, mut peer) = connection(&reactor).await;
            ours.write_all(b"one ").await.unwrap();
            ours.write_all(b"two").await.unwrap();
            peer.set_nonblocking(true).unwrap();
            let mut buf = [0; 16];
            let early = io::Read::read(&mut peer, &mut buf).unwrap_err();
            assert_eq!(early.kind(), io::ErrorKind::WouldBlock, "it left before the round was over");
            embassy_futures::yield_now().await;
            assert_eq!(io::Read::read(&mut peer, &mut buf).unwrap(), 7);
        });
    }

    #[test]
    fn what_was_said_last_is_sent_by_a_flush_by_the_end_and_by_nobody_asking() {
        let reactor = Reactor::new().unwrap();
        reactor.run(&Computer::new(), async {
            let (mut ours, mut peer) = connection(&reactor).await;
            let mut buf = [0; 16];
            ours.write_all(b"one").await.unwrap();
            ours.flush().await.unwrap();
            assert_eq!(io::Read::read(&mut peer, &mut buf).unwrap(), 3);
            ours.write_all(b"two ").await.unwrap();
            ours.close(Close::Write).await.unwrap();
            assert_eq!(io::Read::read(&mut peer, &mut buf).unwrap(), 4);
            assert_eq!(io::Read::read(&mut peer, &mut buf).unwrap(), 0);
            let (mut ours, mut peer) = connection(&reactor).await;
            ours.write_all(b"three").await.unwrap();
            drop(ours);
            assert_eq!(io::Read::read(&mut peer, &mut buf).unwrap(), 5);
        });
    }

    #[test]
    fn whoever_reads_late_gets_everything_and_the_end_waits_for_it() {
        const MUCH: usize = 64 << 20;
        let reactor = Reactor::new().unwrap();
        reactor.run(&Computer::new(), async {
            let (mut ours, mut peer) = connection(&reactor).await;
            let sent: Vec<u8> = (0..MUCH).map(|n| (n % 251) as u8).collect();
            let mut left = sent.as_slice();
            // As long as the system takes it, nobody reads.
            while let Either::First(n) = select(ours.write(left), embassy_futures::yield_now()).await {
                left = &left[n.unwrap()..];
            }
            let reads = std::thread::spawn(move || {
                let mut came = Vec::new();
                io::Read::read_to_end(&mut peer, &mut came).map(|_| came)
            });
            assert!(!left.is_empty(), "the system takes more than is sent");
            ours.write_all(left).await.unwrap();
            ours.close(Close::Write).await.unwrap();
            assert!(reads.join().unwrap().unwrap() == sent);
        });
    }

    #[test]
    fn a_connection_that_broke_is_told_to_whoever_writes_next() {
        let reactor = Reactor::new().unwrap();
        reactor.run(&Computer::new(), async {
            let (mut ours, peer) = connection(&reactor).await;
            ours.write_all(b"nobody reads this").await.unwrap();
            ours.flush().await.unwrap();
            // What was not read makes it a reset.
            drop(peer);
            ours.readable().await.unwrap();
            assert!(ours.write_all(b"nor this").await.is_ok());
            assert!(ours.flush().await.is_err());
            assert!(ours.write_all(b"nor that").await.is_err());
            assert!(ours.close(Close::Write).await.is_err());
        });
    }

    #[test]
    fn what_was_read_ahead_comes_next_and_once() {
        let reactor = Reactor::new().unwrap();
        reactor.run(&Computer::new(), async {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let listener = Listener::new(&reactor, listener).unwrap();
            let mut sender = Dialler(&reactor).connect(address).await.unwrap();
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
