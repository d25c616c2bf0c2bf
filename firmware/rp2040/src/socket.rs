//! TCP behind `edge-nal`'s traits, on the network stack's sockets.
//!
//! There is no queue of connections here: a connection comes to a socket that listens at that moment, or is refused. So every
//! slot has its socket, which listens whenever it has nothing else to do, is used again and again, and every wait for a peer
//! ends.

use core::cell::{Cell, RefCell};
use core::future::poll_fn;
use core::net::{IpAddr, SocketAddr};
use core::pin::pin;
use core::task::Poll;

use edge_nal::{Close, Readable, TcpAccept, TcpConnect, TcpShutdown, TcpSplit};
use embassy_futures::select::{Either, select};
use embassy_net::tcp::{Error, State, TcpReader, TcpSocket, TcpWriter};
use embassy_net::{IpAddress, IpEndpoint, Stack};
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::mutex::{Mutex, MutexGuard};
use embassy_sync::waitqueue::MultiWakerRegistration;
use embassy_time::{Duration, with_timeout};
use embedded_io_async::{ErrorType, Read, Write};

/// How long a handshake may take. Until it is over it holds a socket nobody else can connect to.
const HANDSHAKE: Duration = Duration::from_secs(3);
/// How long a peer may be unheard of. Keep-alives make a healthy one answer.
const SILENCE: Duration = Duration::from_secs(15);
/// How often a peer that says nothing is asked whether it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long a closing connection may take to send what is left. A lost frame is sent again after one second, and again after two
/// more: less would cut the end off an answer.
const CLOSE: Duration = Duration::from_secs(4);
/// How long a peer that has everything may take to close its side.
const GOODBYE: Duration = Duration::from_millis(500);
/// How long the socket of a connection that was not closed, or never came about, is kept from the next one.
const LET_GO: Duration = Duration::from_secs(1);

/// The socket of a slot, which is used for one connection after the other.
pub struct Own {
    socket: Mutex<NoopRawMutex, TcpSocket<'static>>,
    ports: &'static Ports,
}

type Guard<'a> = MutexGuard<'a, NoopRawMutex, TcpSocket<'static>>;

impl Own {
    /// A socket with its buffers, that listens on these ports.
    pub fn new(stack: Stack<'static>, rx: &'static mut [u8], tx: &'static mut [u8], ports: &'static Ports) -> Self {
        let mut socket = TcpSocket::new(stack, rx, tx);
        socket.set_nagle_enabled(false);
        socket.set_keep_alive(Some(KEEP_ALIVE));
        Self { socket: Mutex::new(socket), ports }
    }

    /// The socket, done with its last connection.
    async fn take(&self) -> Guard<'_> {
        let mut socket = self.socket.lock().await;
        if socket.state() != State::Closed {
            socket.close();
            let _ = with_timeout(LET_GO, socket.flush()).await;
            socket.abort();
            let _ = with_timeout(LET_GO, socket.flush()).await;
        }
        socket.set_timeout(Some(HANDSHAKE));
        socket
    }
}

/// Slots that can wait for a change of ports at once.
const LISTENERS: usize = 48;

/// The ports that are listened on. No slot is bound to one: whoever is free listens where it is needed, so that pages that watch
/// for hours through one port leave nobody in front of it.
pub struct Ports {
    /// The port of agents, and that of browsers.
    ports: [u16; 2],
    /// How many listen on each.
    listening: Cell<[u8; 2]>,
    /// Who listens is woken when one of them has nobody.
    listeners: RefCell<MultiWakerRegistration<LISTENERS>>,
}

impl Ports {
    /// Nobody listens yet.
    pub const fn new(ports: [u16; 2]) -> Self {
        Self { ports, listening: Cell::new([0; 2]), listeners: RefCell::new(MultiWakerRegistration::new()) }
    }

    /// Three listen for agents, who come all at once, where one does for browsers; but one for each as long as there are two.
    fn next(&self) -> usize {
        let [agents, browsers] = self.listening.get();
        usize::from(3 * browsers < agents)
    }

    fn count(&self, port: usize, by: i8) {
        let mut listening = self.listening.get();
        if let Some(count) = listening.get_mut(port) {
            *count = count.saturating_add_signed(by);
        }
        self.listening.set(listening);
        if listening.contains(&0) {
            self.listeners.borrow_mut().wake();
        }
    }

    /// Returns when the other port has nobody and this one has others.
    fn is_needed_elsewhere(&self, port: usize) -> impl Future<Output = ()> {
        poll_fn(move |context| {
            let [agents, browsers] = self.listening.get();
            let (here, there) = if port == 0 { (agents, browsers) } else { (browsers, agents) };
            if there == 0 && here > 1 {
                return Poll::Ready(());
            }
            self.listeners.borrow_mut().register(context.waker());
            Poll::Pending
        })
    }
}

/// Somebody who listens.
struct Listener<'a>(&'a Ports, usize);

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        self.0.count(self.1, -1);
    }
}

impl TcpAccept for Own {
    type Error = Error;
    type Socket<'a> = Connection<'a>;

    async fn accept(&self) -> Result<(SocketAddr, Connection<'_>), Error> {
        loop {
            let mut socket = self.take().await;
            let at = self.ports.next();
            self.ports.count(at, 1);
            let _listener = Listener(self.ports, at);
            let port = self.ports.ports.get(at).copied().unwrap_or_default();
            match select(socket.accept(port), self.ports.is_needed_elsewhere(at)).await {
                Either::First(Ok(())) => {}
                Either::First(Err(_)) => return Err(Error::ConnectionReset),
                Either::Second(()) => continue,
            }
            // A handshake that was never finished, or one whose peer has gone since: there is nobody to talk to.
            if let Some(peer) = socket.remote_endpoint() {
                socket.set_timeout(Some(SILENCE));
                return Ok((address(peer), Connection(socket)));
            }
        }
    }
}

impl TcpConnect for Own {
    type Error = Error;
    type Socket<'a> = Connection<'a>;

    async fn connect(&self, remote: SocketAddr) -> Result<Connection<'_>, Error> {
        let SocketAddr::V4(remote) = remote else { return Err(Error::ConnectionReset) };
        let mut socket = self.take().await;
        socket.connect(remote).await.map_err(|_| Error::ConnectionReset)?;
        socket.set_timeout(Some(SILENCE));
        Ok(Connection(socket))
    }
}

fn address(endpoint: IpEndpoint) -> SocketAddr {
    let IpAddress::Ipv4(address) = endpoint.addr;
    SocketAddr::new(IpAddr::V4(address), endpoint.port)
}

/// An open connection. Dropping it closes it; what is left is sent while nobody needs the socket.
pub struct Connection<'a>(Guard<'a>);

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl ErrorType for Connection<'_> {
    type Error = Error;
}

// The socket's own futures remember nothing: they are made anew whenever they are polled, and no slot keeps one.
impl Read for Connection<'_> {
    fn read(&mut self, buf: &mut [u8]) -> impl Future<Output = Result<usize, Error>> {
        poll_fn(move |cx| pin!(self.0.read(buf)).poll(cx))
    }
}

impl Write for Connection<'_> {
    /// Once the buffer is full, waits until it is empty. Whoever fills every gap as it is acknowledged sends segments that never
    /// grow again. A full buffer is more than a segment, and the other end acknowledges it at once.
    fn write(&mut self, buf: &[u8]) -> impl Future<Output = Result<usize, Error>> {
        let mut was_full = false;
        poll_fn(move |cx| {
            was_full |= self.0.send_queue() == self.0.send_capacity();
            if was_full && pin!(self.0.flush()).poll(cx).is_pending() {
                return Poll::Pending;
            }
            pin!(self.0.write(buf)).poll(cx)
        })
    }

    /// Does not wait for the peer: what is written is on its way, and a lost connection shows at the next read or write.
    async fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

impl Readable for Connection<'_> {
    async fn readable(&mut self) -> Result<(), Error> {
        // Takes nothing; an error is the end, which is something to read too.
        let _ = self.0.read_with(|_| (0, ())).await;
        Ok(())
    }
}

impl TcpShutdown for Connection<'_> {
    /// Says that nothing more comes, and gives the peer until then to take what it was sent: a reset would destroy it.
    async fn close(&mut self, _what: Close) -> Result<(), Error> {
        self.0.close();
        let _ = with_timeout(CLOSE, self.0.flush()).await;
        // It has everything now. One that does not say goodbye keeps the socket no longer.
        let _ = with_timeout(GOODBYE, async {
            while let Ok(1..) = self.0.read_with(|data| (data.len(), data.len())).await {}
        })
        .await;
        Ok(())
    }

    async fn abort(&mut self) -> Result<(), Error> {
        self.0.abort();
        let _ = with_timeout(CLOSE, self.0.flush()).await;
        Ok(())
    }
}

impl TcpSplit for Connection<'_> {
    type Read<'b>
        = ReadHalf<'b>
    where
        Self: 'b;
    type Write<'b>
        = TcpWriter<'b>
    where
        Self: 'b;

    fn split(&mut self) -> (ReadHalf<'_>, TcpWriter<'_>) {
        let (reader, writer) = self.0.split();
        (ReadHalf(reader), writer)
    }
}

/// The half of a connection that is read from.
pub struct ReadHalf<'b>(TcpReader<'b>);

impl ErrorType for ReadHalf<'_> {
    type Error = Error;
}

impl Read for ReadHalf<'_> {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Error> {
        self.0.read(buf).await
    }
}

impl Readable for ReadHalf<'_> {
    async fn readable(&mut self) -> Result<(), Error> {
        let _ = self.0.read_with(|_| (0, ())).await;
        Ok(())
    }
}
