//! Where the thread of the box waits: for its sockets, for the time, and for whoever wakes it from another thread.
//!
//! One thread runs everything and waits here, so that nothing has to be told to another one. The system is told of a socket once,
//! when it is made, and then tells what has changed (`mio`, which is `epoll`, `kqueue` or their like): a round costs what happens
//! in it, however many are connected. Because only changes are told, a socket remembers that it is ready until somebody who
//! uses it finds that it no longer is.
//!
//! What is sent gathers and leaves before the thread waits, as it does on a board: all that one round has to say to a peer is
//! one call of the system.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Token};
use slab::Slab;

use crate::computer::Computer;

/// Changes that are told at once; more are told in the next round.
const EVENTS: usize = 1024;
/// Stands for the waker among the sockets.
const ALARM: Token = Token(usize::MAX);

/// Waits for sockets and for the time.
pub struct Reactor {
    poll: RefCell<mio::Poll>,
    events: RefCell<Events>,
    /// Every socket there is, by its token.
    sockets: RefCell<Slab<Rc<Watched<dyn Socket>>>>,
    /// Those on which something has gathered.
    unsent: RefCell<Vec<Token>>,
    alarm: Arc<Alarm>,
}

impl Reactor {
    /// One that knows no sockets.
    pub fn new() -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let alarm = Arc::new(Alarm::new(mio::Waker::new(poll.registry(), ALARM)?));
        let events = RefCell::new(Events::with_capacity(EVENTS));
        Ok(Self { poll: RefCell::new(poll), events, sockets: RefCell::default(), unsent: RefCell::default(), alarm })
    }

    /// Runs a future, and everybody's sleep with it.
    pub fn run<T>(&self, clock: &Computer, future: impl Future<Output = T>) -> T {
        clock.look();
        let mut future = pin!(future);
        let waker = Waker::from(self.alarm.clone());
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            self.wait(clock.ring());
            clock.look();
        }
    }

    /// Lets leave what has gathered, and wakes who waits for sockets that are ready. Where nothing is and nobody rings, waits
    /// for either.
    fn wait(&self, patience: Duration) {
        self.send_gathered();
        let patience = if self.alarm.lie_down() { patience } else { Duration::ZERO };
        let mut events = self.events.borrow_mut();
        // What fails is asked again, and says meanwhile that nothing has changed.
        if self.poll.borrow_mut().poll(&mut events, Some(patience)).is_err() {
            events.clear();
        }
        self.alarm.get_up();
        for event in events.iter() {
            let socket = self.sockets.borrow().get(event.token().0).cloned();
            if socket.is_some_and(|socket| socket.changed(event)) {
                self.unsent.borrow_mut().push(event.token());
            }
        }
    }

    fn send_gathered(&self) {
        let sockets = self.sockets.borrow();
        for token in self.unsent.borrow_mut().drain(..) {
            if let Some(socket) = sockets.get(token.0) {
                socket.send_gathered();
            }
        }
    }
}

/// What the system can tell changes of.
pub trait Socket: mio::event::Source {
    /// Gives the system bytes to be sent.
    fn send(&self, bytes: &[u8]) -> io::Result<usize>;
}

impl Socket for TcpStream {
    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        (&mut &*self).write(bytes)
    }
}

impl Socket for TcpListener {
    fn send(&self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A socket that can be waited for.
pub struct Source<'r, S: Socket + 'static> {
    reactor: &'r Reactor,
    token: Token,
    watched: Rc<Watched<S>>,
}

impl<'r, S: Socket + 'static> Source<'r, S> {
    /// Takes a socket.
    pub fn new(reactor: &'r Reactor, mut socket: S) -> io::Result<Self> {
        let mut sockets = reactor.sockets.borrow_mut();
        let place = sockets.vacant_entry();
        let token = Token(place.key());
        reactor.poll.borrow().registry().register(&mut socket, token, Interest::READABLE | Interest::WRITABLE)?;
        let (readers, writers) = (Way::new(), Way::new());
        let watched =
            Rc::new(Watched { readers, writers, gathered: RefCell::default(), broken: Cell::new(None), socket });
        place.insert(watched.clone());
        Ok(Self { reactor, token, watched })
    }

    /// The socket.
    pub fn get(&self) -> &S {
        &self.watched.socket
    }

    /// The way in: to read or to accept.
    pub fn readers(&self) -> &Way {
        &self.watched.readers
    }

    /// The way out.
    pub fn writers(&self) -> &Way {
        &self.watched.writers
    }

    /// Takes bytes to be sent, as many as there is room for, and at least one.
    pub async fn gather(&self, bytes: &[u8]) -> io::Result<usize> {
        while self.watched.is_full() {
            self.watched.send_gathered();
            if self.watched.is_full() {
                self.writers().open().await;
            }
        }
        if self.watched.gathered.borrow().is_empty() {
            self.reactor.unsent.borrow_mut().push(self.token);
        }
        self.watched.gather(bytes)
    }

    /// Waits until the system has all that has gathered.
    pub async fn sent(&self) -> io::Result<()> {
        loop {
            self.watched.send_gathered();
            if let Some(error) = self.watched.broken.get() {
                return Err(error.into());
            }
            if self.watched.gathered.borrow().is_empty() {
                return Ok(());
            }
            self.writers().open().await;
        }
    }
}

impl<S: Socket + 'static> Drop for Source<'_, S> {
    fn drop(&mut self) {
        // What was said last is sent, if the system takes it.
        self.watched.send_gathered();
        drop(self.reactor.sockets.borrow_mut().remove(self.token.0));
        if let Some(watched) = Rc::get_mut(&mut self.watched) {
            _ = self.reactor.poll.borrow().registry().deregister(&mut watched.socket);
        }
    }
}

/// A socket, who waits for it, and what is to be sent on it.
struct Watched<S: ?Sized> {
    readers: Way,
    writers: Way,
    gathered: RefCell<Vec<u8>>,
    /// Nothing can be sent on it any more.
    broken: Cell<Option<io::ErrorKind>>,
    socket: S,
}

/// Most bytes that gather on a socket: as many as a peer has one deadline for.
const GATHERED: usize = 16 * 1024;

impl<S: Socket + ?Sized> Watched<S> {
    fn is_full(&self) -> bool {
        self.gathered.borrow().len() >= GATHERED
    }

    fn gather(&self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(error) = self.broken.get() {
            return Err(error.into());
        }
        let mut gathered = self.gathered.borrow_mut();
        let taken = bytes.len().min(GATHERED.saturating_sub(gathered.len()));
        gathered.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Gives the system what has gathered, as far as it takes it.
    fn send_gathered(&self) {
        let mut gathered = self.gathered.borrow_mut();
        while !gathered.is_empty() && self.writers.is_open() {
            match self.socket.send(&gathered) {
                Ok(0) => self.writers.shut(),
                Ok(sent) => drop(gathered.drain(..sent)),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => self.writers.shut(),
                    kind => {
                        gathered.clear();
                        self.broken.set(Some(kind));
                    }
                },
            }
        }
    }

    /// Takes note of a change. True where there is something to be sent.
    fn changed(&self, event: &Event) -> bool {
        // A connection that broke is good news for nobody, but news for everybody.
        let broke = event.is_error();
        if event.is_read_closed() {
            self.readers.stays_open.set(true);
        }
        if event.is_readable() || event.is_read_closed() || broke {
            self.readers.reopen();
        }
        if event.is_writable() || event.is_write_closed() || broke {
            self.writers.reopen();
            return !self.gathered.borrow().is_empty();
        }
        false
    }
}

/// One direction of a socket: whether it is ready, as far as is known, and who waits for that. Of the many that wait for a
/// connection one is woken for each, who came last first: it has just served, so no more memory is in use than is needed.
pub struct Way {
    is_open: Cell<bool>,
    /// The end has come: it is ready for good.
    stays_open: Cell<bool>,
    waiting: RefCell<Vec<(u64, Waker)>>,
    came: Cell<u64>,
}

impl Way {
    fn new() -> Self {
        let (waiting, came) = Default::default();
        Self { is_open: Cell::new(true), stays_open: Cell::new(false), waiting, came }
    }

    /// Whether it is ready, as far as is known.
    fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Somebody has found that it is not ready.
    pub fn shut(&self) {
        self.is_open.set(self.stays_open.get());
    }

    /// It is ready again.
    fn reopen(&self) {
        self.is_open.set(true);
        self.wake_next();
    }

    /// Wakes the next who waits: there may be enough for more than one.
    pub fn wake_next(&self) {
        let last = self.waiting.borrow_mut().pop();
        if let Some((_, waker)) = last {
            waker.wake();
        }
    }

    /// Waits until it is ready, as far as is known.
    pub fn open(&self) -> impl Future<Output = ()> {
        Wait { way: self, number: None }
    }

    fn queue_up(&self, waker: &Waker) -> u64 {
        let number = self.came.replace(self.came.get() + 1);
        self.waiting.borrow_mut().push((number, waker.clone()));
        number
    }

    /// Whether somebody still waits. Its task may have become another one.
    fn renew(&self, number: u64, waker: &Waker) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        let place = waiting.iter_mut().find(|place| place.0 == number);
        place.map(|place| place.1.clone_from(waker)).is_some()
    }

    /// Somebody waits no longer. Whoever was woken and did not look leaves that to the next.
    fn leave(&self, number: u64) {
        let place = self.waiting.borrow().iter().position(|place| place.0 == number);
        match place {
            Some(place) => drop(self.waiting.borrow_mut().remove(place)),
            None => self.wake_next(),
        }
    }
}

/// Somebody who waits.
struct Wait<'a> {
    way: &'a Way,
    /// None until it has queued up.
    number: Option<u64>,
}

impl Future for Wait<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.number {
            Some(number) if !self.way.renew(number, context.waker()) => {
                self.number = None;
                Poll::Ready(())
            }
            Some(_) => Poll::Pending,
            None if self.way.is_open() => Poll::Ready(()),
            None => {
                self.number = Some(self.way.queue_up(context.waker()));
                Poll::Pending
            }
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.way.leave(number);
        }
    }
}

/// Wakes the thread that waits. Whoever rings while it is awake is heard before it waits again, and costs no call of the
/// system.
struct Alarm {
    has_rung: AtomicBool,
    is_lying: AtomicBool,
    waker: mio::Waker,
}

impl Alarm {
    fn new(waker: mio::Waker) -> Self {
        Self { has_rung: AtomicBool::new(false), is_lying: AtomicBool::new(false), waker }
    }

    /// Before waiting: whether nobody has rung.
    fn lie_down(&self) -> bool {
        self.is_lying.store(true, Ordering::SeqCst);
        !self.has_rung.swap(false, Ordering::SeqCst)
    }

    fn get_up(&self) {
        self.is_lying.store(false, Ordering::SeqCst);
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::SeqCst);
        if self.is_lying.swap(false, Ordering::SeqCst) {
            // A thread that cannot be woken wakes by its next deadline.
            _ = self.waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use appliance::clock::{Clock, before};
    use embassy_futures::join::join;
    use embassy_futures::select::{Either, select};
    use std::net::{self, Ipv4Addr};
    use std::thread;

    /// Far longer than anything here takes.
    const PATIENCE_MS: u64 = 60_000;

    /// Runs a future that must end.
    fn run(reactor: &Reactor, future: impl Future<Output = ()>) {
        let clock = Computer::new();
        let future = pin!(future);
        assert!(reactor.run(&clock, before(&clock, PATIENCE_MS, future)).is_ok(), "nobody woke it");
    }

    fn listener(reactor: &Reactor) -> Source<'_, TcpListener> {
        Source::new(reactor, TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap()).unwrap()
    }

    fn dial(listener: &Source<'_, TcpListener>) -> net::TcpStream {
        net::TcpStream::connect(listener.get().local_addr().unwrap()).unwrap()
    }

    #[test]
    fn another_thread_wakes_the_one_that_waits() {
        let reactor = Reactor::new().unwrap();
        let alarm = reactor.alarm.clone();
        let mut ringer = None;
        run(
            &reactor,
            std::future::poll_fn(|context| {
                if ringer.is_some() {
                    return Poll::Ready(());
                }
                let (waker, alarm) = (context.waker().clone(), alarm.clone());
                ringer = Some(thread::spawn(move || {
                    while !alarm.is_lying.load(Ordering::SeqCst) {
                        thread::yield_now();
                    }
                    waker.wake();
                }));
                Poll::Pending
            }),
        );
        ringer.unwrap().join().unwrap();
    }

    /// Finds that nobody has dialled yet, as everybody does who then waits.
    fn finds_nothing(port: &Source<'_, TcpListener>) {
        assert_eq!(port.get().accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        port.readers().shut();
    }

    #[test]
    fn of_many_that_wait_for_a_connection_one_is_woken_for_each_and_the_last_first() {
        let reactor = Reactor::new().unwrap();
        let port = listener(&reactor);
        finds_nothing(&port);
        run(&reactor, async {
            let (mut first, mut second) = (pin!(port.readers().open()), pin!(port.readers().open()));
            let both = select(first.as_mut(), second.as_mut());
            let dialled = async {
                let _streams = [dial(&port), dial(&port)];
                std::future::pending::<()>().await
            };
            assert!(matches!(select(both, dialled).await, Either::First(Either::Second(()))));
            assert_eq!(port.readers().waiting.borrow().len(), 1, "the first was woken too");
            // Two have come, and it was told once: whoever takes one sees to the other.
            port.get().accept().unwrap();
            port.readers().wake_next();
            first.await;
            port.get().accept().unwrap();
        });
    }

    #[test]
    fn who_is_woken_and_gives_up_leaves_the_connection_to_the_next() {
        let reactor = Reactor::new().unwrap();
        let port = listener(&reactor);
        finds_nothing(&port);
        run(&reactor, async {
            let (mut first, mut second) = (pin!(port.readers().open()), Box::pin(port.readers().open()));
            let both = select(first.as_mut(), second.as_mut());
            assert!(matches!(select(both, std::future::ready(())).await, Either::Second(())));
            let _stream = dial(&port);
            while port.readers().waiting.borrow().len() == 2 {
                embassy_futures::yield_now().await;
            }
            drop(second);
            first.await;
        });
    }

    #[test]
    fn who_gives_up_leaves_nothing_behind_and_takes_nothing_from_others() {
        let reactor = Reactor::new().unwrap();
        let port = listener(&reactor);
        run(&reactor, async {
            finds_nothing(&port);
            let mut gives_up = Box::pin(port.readers().open());
            let given_up = select(gives_up.as_mut(), std::future::ready(())).await;
            assert!(matches!(given_up, Either::Second(())));
            let stays = async {
                drop(gives_up);
                port.readers().open().await;
            };
            join(stays, async { drop(dial(&port)) }).await;
        });
        assert!(port.readers().waiting.borrow().is_empty());
        drop(port);
        assert!(reactor.sockets.borrow().is_empty());
    }

    #[test]
    fn a_connection_that_ends_wakes_its_reader_and_a_full_one_its_writer_once_it_is_read() {
        let reactor = Reactor::new().unwrap();
        let port = listener(&reactor);
        let mut peer = dial(&port);
        run(&reactor, async {
            port.readers().open().await;
            let (stream, _) = port.get().accept().unwrap();
            let stream = Source::new(&reactor, stream).unwrap();
            while stream.get().send(&[0; 1 << 16]).is_ok() {}
            stream.writers().shut();
            let reads = thread::spawn(move || io::Read::read_exact(&mut peer, &mut vec![0; 1 << 20]).map(|()| peer));
            stream.writers().open().await;
            stream.readers().shut();
            drop(reads.join().unwrap());
            stream.readers().open().await;
        });
    }

    #[test]
    fn a_sleeper_wakes_though_no_socket_does() {
        let reactor = Reactor::new().unwrap();
        let (port, clock) = (listener(&reactor), Computer::new());
        finds_nothing(&port);
        let woken = reactor.run(&clock, select(port.readers().open(), clock.sleep_until(20)));
        assert!(matches!(woken, Either::Second(())));
        assert!(clock.now() >= 20);
    }
}
