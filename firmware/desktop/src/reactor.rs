//! Where the thread of the box waits: for its sockets, for the time, and for whoever wakes it from another thread.
//!
//! One thread runs everything and waits here, so that nothing has to be told to another one. All sockets that somebody waits
//! for are asked about at once, with `poll`. It costs a look at each of them, which for a class is less than keeping the
//! system informed of what is waited for, message by message; and a socket that is ready is ready whenever it is asked, so
//! that no news can be missed.
//!
//! What is sent gathers and leaves before the thread waits, as it does on a board: all that one round has to say to a peer is
//! one call of the system.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use socket2::SockRef;

use crate::computer::Computer;

/// Waits for sockets and for the time.
pub struct Reactor {
    /// Every socket there is, by the number it was given.
    sockets: RefCell<BTreeMap<u64, Rc<Watched<dyn AsFd>>>>,
    given: Cell<u64>,
    alarm: Arc<Alarm>,
}

impl Reactor {
    /// One that knows no sockets.
    pub fn new() -> io::Result<Self> {
        Ok(Self { sockets: RefCell::default(), given: Cell::new(0), alarm: Arc::new(Alarm::new()?) })
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
        let sockets = self.sockets.borrow();
        sockets.values().for_each(|socket| socket.send_gathered());
        let watched: Vec<_> = sockets.values().filter(|socket| socket.is_waited_for()).collect();
        let mut asked = Vec::with_capacity(watched.len() + 1);
        asked.extend(watched.iter().map(|socket| socket.question()));
        asked.push(PollFd::new(&self.alarm.line, PollFlags::IN));
        let patience = if self.alarm.lie_down() { patience } else { Duration::ZERO };
        // What fails is asked again, and says meanwhile that nothing is ready.
        _ = poll(&mut asked, Timespec::try_from(patience).ok().as_ref());
        self.alarm.get_up(asked.pop().is_some_and(|line| !line.revents().is_empty()));
        let answers = watched.iter().zip(asked.iter().map(PollFd::revents));
        let ready: Vec<_> = answers.flat_map(|(socket, answer)| socket.ready(answer)).flatten().collect();
        // Whoever is woken may let go of its socket.
        drop(asked);
        drop(watched);
        drop(sockets);
        ready.into_iter().for_each(Waker::wake);
    }
}

/// A socket that can be waited for.
pub struct Source<'r, S> {
    reactor: &'r Reactor,
    number: u64,
    watched: Rc<Watched<S>>,
}

impl<'r, S: AsFd + 'static> Source<'r, S> {
    /// Takes a socket that does not block.
    pub fn new(reactor: &'r Reactor, socket: S) -> Self {
        let number = reactor.given.replace(reactor.given.get() + 1);
        let (readers, writers, gathered) = Default::default();
        let watched = Rc::new(Watched { readers, writers, gathered, way: Cell::new(Way::Open), socket });
        reactor.sockets.borrow_mut().insert(number, watched.clone());
        Self { reactor, number, watched }
    }

    /// The socket.
    pub fn get(&self) -> &S {
        &self.watched.socket
    }

    /// Waits until there is something to read, or to accept, or never will be.
    pub fn readable(&self) -> impl Future<Output = ()> {
        Wait { queue: &self.watched.readers, number: None }
    }

    /// Waits until there is room for something to write, or never will be.
    pub fn writable(&self) -> impl Future<Output = ()> {
        Wait { queue: &self.watched.writers, number: None }
    }

    /// Takes bytes to be sent, as many as there is room for, and at least one.
    pub async fn gather(&self, bytes: &[u8]) -> io::Result<usize> {
        while self.watched.is_full() {
            self.watched.send_gathered();
            if self.watched.is_full() {
                self.writable().await;
            }
        }
        self.watched.gather(bytes)
    }

    /// Waits until the system has all that has gathered.
    pub async fn sent(&self) -> io::Result<()> {
        loop {
            self.watched.send_gathered();
            match self.watched.way.get() {
                Way::Full => self.writable().await,
                Way::Open => return Ok(()),
                Way::Broken(error) => return Err(error.into()),
            }
        }
    }
}

impl<S> Drop for Source<'_, S> {
    fn drop(&mut self) {
        let socket = self.reactor.sockets.borrow_mut().remove(&self.number);
        // What was said last is sent, if the system takes it.
        socket.iter().for_each(|socket| socket.send_gathered());
    }
}

/// A socket, who waits for it, and what is to be sent on it.
struct Watched<S: ?Sized> {
    readers: Queue,
    writers: Queue,
    gathered: RefCell<Vec<u8>>,
    way: Cell<Way>,
    socket: S,
}

/// How far what has gathered gets.
#[derive(Clone, Copy)]
enum Way {
    /// As far as is known, the system takes it.
    Open,
    /// It took less than all, and was not heard of since.
    Full,
    /// It never will again.
    Broken(io::ErrorKind),
}

/// Most bytes that gather on a socket: as many as a peer has one deadline for.
const GATHERED: usize = 16 * 1024;

impl<S: AsFd + ?Sized> Watched<S> {
    fn is_full(&self) -> bool {
        self.gathered.borrow().len() >= GATHERED
    }

    fn gather(&self, bytes: &[u8]) -> io::Result<usize> {
        if let Way::Broken(error) = self.way.get() {
            return Err(error.into());
        }
        let mut gathered = self.gathered.borrow_mut();
        let taken = bytes.len().min(GATHERED.saturating_sub(gathered.len()));
        gathered.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Gives the system what has gathered, unless it is known to take nothing now.
    fn send_gathered(&self) {
        let mut gathered = self.gathered.borrow_mut();
        if gathered.is_empty() || matches!(self.way.get(), Way::Full) {
            return;
        }
        match SockRef::from(&self.socket.as_fd()).send(&gathered) {
            Ok(sent) => {
                gathered.drain(..sent);
                self.way.set(if gathered.is_empty() { Way::Open } else { Way::Full });
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => self.way.set(Way::Full),
                kind => {
                    gathered.clear();
                    self.way.set(Way::Broken(kind));
                }
            },
        }
    }

    fn is_written_to(&self) -> bool {
        !self.writers.is_empty() || matches!(self.way.get(), Way::Full)
    }
}

impl Watched<dyn AsFd> {
    fn is_waited_for(&self) -> bool {
        !self.readers.is_empty() || self.is_written_to()
    }

    fn question(&self) -> PollFd<'_> {
        let (mut wanted, nothing) = (PollFlags::empty(), PollFlags::empty());
        wanted |= if self.readers.is_empty() { nothing } else { PollFlags::IN };
        wanted |= if self.is_written_to() { PollFlags::OUT } else { nothing };
        PollFd::from_borrowed_fd(self.socket.as_fd(), wanted)
    }

    /// Whom to wake. A connection that broke is good news for nobody, but news for everybody.
    fn ready(&self, answer: PollFlags) -> [Option<Waker>; 2] {
        let broke = answer.intersects(!(PollFlags::IN | PollFlags::OUT));
        if matches!(self.way.get(), Way::Full) && (broke || answer.intersects(PollFlags::OUT)) {
            self.way.set(Way::Open);
        }
        let first = |queue: &Queue, way| if broke || answer.intersects(way) { queue.pop() } else { None };
        [first(&self.readers, PollFlags::IN), first(&self.writers, PollFlags::OUT)]
    }
}

/// Who waits for the same, first come, first served: of the many that wait for a connection, one is woken for each.
#[derive(Default)]
struct Queue {
    waiting: RefCell<VecDeque<(u64, Waker)>>,
    came: Cell<u64>,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.waiting.borrow().is_empty()
    }

    fn push(&self, waker: &Waker) -> u64 {
        let number = self.came.replace(self.came.get() + 1);
        self.waiting.borrow_mut().push_back((number, waker.clone()));
        number
    }

    fn pop(&self) -> Option<Waker> {
        Some(self.waiting.borrow_mut().pop_front()?.1)
    }

    /// Whether somebody still waits. Its task may have become another one.
    fn renew(&self, number: u64, waker: &Waker) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        let place = waiting.iter_mut().find(|place| place.0 == number);
        place.map(|place| place.1.clone_from(waker)).is_some()
    }

    fn leave(&self, number: u64) {
        self.waiting.borrow_mut().retain(|place| place.0 != number);
    }
}

/// Somebody who waits.
struct Wait<'a> {
    queue: &'a Queue,
    /// None until it has queued up.
    number: Option<u64>,
}

impl Future for Wait<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.number {
            Some(number) if !self.queue.renew(number, context.waker()) => {
                self.number = None;
                Poll::Ready(())
            }
            Some(_) => Poll::Pending,
            None => {
                self.number = Some(self.queue.push(context.waker()));
                Poll::Pending
            }
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.queue.leave(number);
        }
    }
}

/// Wakes the thread that waits. Whoever rings while it is awake is heard before it waits again, and costs no call of the
/// system.
struct Alarm {
    has_rung: AtomicBool,
    is_lying: AtomicBool,
    /// What is sent on it is read from it.
    line: UdpSocket,
}

impl Alarm {
    fn new() -> io::Result<Self> {
        let line = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        line.connect(line.local_addr()?)?;
        line.set_nonblocking(true)?;
        Ok(Self { has_rung: AtomicBool::new(false), is_lying: AtomicBool::new(false), line })
    }

    /// Before waiting: whether nobody has rung.
    fn lie_down(&self) -> bool {
        self.is_lying.store(true, Ordering::SeqCst);
        !self.has_rung.swap(false, Ordering::SeqCst)
    }

    fn get_up(&self, was_woken: bool) {
        self.is_lying.store(false, Ordering::SeqCst);
        while was_woken && self.line.recv(&mut [0]).is_ok() {}
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::SeqCst);
        if self.is_lying.swap(false, Ordering::SeqCst) {
            // If there is no room for it, there is something to be heard already.
            _ = self.line.send(&[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use appliance::clock::{Clock, before};
    use embassy_futures::join::join;
    use embassy_futures::select::{Either, select};
    use std::net::{TcpListener, TcpStream};
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
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Source::new(reactor, listener)
    }

    fn dial(listener: &Source<'_, TcpListener>) -> TcpStream {
        TcpStream::connect(listener.get().local_addr().unwrap()).unwrap()
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

    #[test]
    fn of_many_that_wait_for_a_connection_one_is_woken_for_each_and_the_first_first() {
        let reactor = Reactor::new().unwrap();
        let port = listener(&reactor);
        let (first, second) = (port.readable(), port.readable());
        run(&reactor, async {
            let (mut first, mut second) = (pin!(first), pin!(second));
            let both = select(first.as_mut(), second.as_mut());
            let dialled = async {
                let _stream = dial(&port);
                std::future::pending::<()>().await
            };
            assert!(matches!(select(both, dialled).await, Either::First(Either::First(()))));
            assert_eq!(port.watched.readers.waiting.borrow().len(), 1, "the second was woken too");
            // Nobody took the connection: it is still there for the second.
            second.await;
        });
    }

    #[test]
    fn who_gives_up_leaves_nothing_behind_and_takes_nothing_from_others() {
        let reactor = Reactor::new().unwrap();
        let port = listener(&reactor);
        run(&reactor, async {
            let mut gives_up = Box::pin(port.readable());
            let given_up = select(gives_up.as_mut(), std::future::ready(())).await;
            assert!(matches!(given_up, Either::Second(())));
            let stays = async {
                drop(gives_up);
                port.readable().await;
            };
            join(stays, async { drop(dial(&port)) }).await;
        });
        assert!(port.watched.readers.is_empty());
        drop(port);
        assert!(reactor.sockets.borrow().is_empty());
    }

    #[test]
    fn a_connection_that_ends_wakes_its_reader_and_a_full_one_its_writer_once_it_is_read() {
        let reactor = Reactor::new().unwrap();
        let port = listener(&reactor);
        let mut peer = dial(&port);
        run(&reactor, async {
            port.readable().await;
            let (stream, _) = port.get().accept().unwrap();
            stream.set_nonblocking(true).unwrap();
            let stream = Source::new(&reactor, stream);
            while io::Write::write(&mut stream.get(), &[0; 1 << 16]).is_ok() {}
            let reads = thread::spawn(move || io::Read::read_exact(&mut peer, &mut vec![0; 1 << 20]).map(|()| peer));
            stream.writable().await;
            drop(reads.join().unwrap());
            stream.readable().await;
        });
    }

    #[test]
    fn a_sleeper_wakes_though_no_socket_does() {
        let reactor = Reactor::new().unwrap();
        let (port, clock) = (listener(&reactor), Computer::new());
        let woken = reactor.run(&clock, select(port.readable(), clock.sleep_until(20)));
        assert!(matches!(woken, Either::Second(())));
        assert!(clock.now() >= 20);
    }
}
