//! A network in memory and a whole box on it, in virtual time, on one thread, repeatable from a seed.
//!
//! Data is cut and delayed at random, and whoever waits is woken only by what it waits for: a wake-up that is forgotten
//! is a test that stands still. [`play`] builds a box with players and runs a test's script beside them.
#![allow(dead_code, reason = "each test file uses its part")]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, pending, poll_fn};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker, ready};

use appliance::board::{About, Board, Fault, Reset};
use appliance::clock::Clock;
use appliance::{Appliance, Space};
use edge_nal::{Close, Readable, TcpAccept, TcpConnect, TcpShutdown, TcpSplit};
use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use protocol_core::fair::Seed;
use protocol_core::games::GameKind;
use protocol_core::time::Utc;
use protocol_core::venue::Config;
use serde_json::{Value, json};

/// No test needs a day.
const FOR_EVER: u64 = 24 * 60 * 60 * 1000;

/// Time, chance, and who runs next.
pub struct World {
    now: Cell<u64>,
    random: Cell<Option<u64>>,
    /// Bytes that may be under way in one direction of a connection; then its writer waits.
    window: usize,
    sleepers: RefCell<BTreeMap<u64, Vec<Waker>>>,
    /// The board's own time of day, when it was switched on.
    utc: Option<Utc>,
    breaker: Option<fn(Fault)>,
    last_panic: Option<&'static str>,
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs beside a test, until the test ends.
type Task<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

fn task<'a>(future: impl Future + 'a) -> Task<'a> {
    Box::pin(async move {
        future.await;
    })
}

impl World {
    /// Without a seed nothing is cut and nothing takes time.
    fn new(plan: &Plan) -> Self {
        Self {
            now: Cell::new(0),
            random: Cell::new(plan.seed),
            window: plan.window,
            sleepers: RefCell::default(),
            utc: plan.utc,
            breaker: plan.breaker,
            last_panic: plan.last_panic,
        }
    }

    /// One of `0..n`.
    fn chance(&self, n: u64) -> u64 {
        let Some(seed) = self.random.get() else { return 0 };
        let seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random.set(Some(seed));
        (seed >> 33) % n
    }

    /// How much of `len` moves at once.
    fn part(&self, len: usize) -> usize {
        match self.chance(3) {
            0 => len,
            _ => len.min(1 + self.chance(120) as usize),
        }
    }

    fn wake_at(&self, at: u64, waker: &Waker) {
        let mut sleepers = self.sleepers.borrow_mut();
        let sleepers = sleepers.entry(at).or_default();
        if !sleepers.iter().any(|other| other.will_wake(waker)) {
            sleepers.push(waker.clone());
        }
    }

    pub async fn sleep(&self, ms: u64) {
        self.sleep_until(self.now() + ms).await;
    }

    /// Runs the tasks until `main` ends. The clock stands still while anybody can run.
    fn run<T>(&self, tasks: Vec<Task<'_>>, main: impl Future<Output = T>) -> T {
        let flag = || Arc::new(Flag(AtomicBool::new(true)));
        let mut main = pin!(main);
        let main_flag = flag();
        let mut tasks: Vec<_> = tasks.into_iter().map(|task| (flag(), task)).collect();
        loop {
            let mut idle = true;
            // The order of the tasks is not to matter: begin anywhere.
            let first = self.chance(tasks.len() as u64) as usize;
            for index in (first..tasks.len()).chain(0..first) {
                let (flag, task) = &mut tasks[index];
                if flag.0.swap(false, Ordering::Relaxed) {
                    idle = false;
                    let waker = Waker::from(flag.clone());
                    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending(), "a task ended");
                }
            }
            if main_flag.0.swap(false, Ordering::Relaxed) {
                idle = false;
                let waker = Waker::from(main_flag.clone());
                if let Poll::Ready(output) = main.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return output;
                }
            }
            if idle {
                let (at, wakers) = self.sleepers.borrow_mut().pop_first().expect("everybody waits for ever");
                self.now.set(at.max(self.now.get()));
                assert!(self.now.get() < FOR_EVER, "this never ends");
                wakers.into_iter().for_each(Waker::wake);
            }
        }
    }
}

impl Clock for World {
    fn now(&self) -> u64 {
        self.now.get()
    }

    async fn sleep_until(&self, at: u64) {
        poll_fn(|cx| {
            if self.now.get() >= at {
                return Poll::Ready(());
            }
            self.wake_at(at, cx.waker());
            Poll::Pending
        })
        .await;
    }
}

impl Board for World {
    fn about(&self) -> About<'_> {
        About { board: "test", name: "leaguebox-1", last_reset: Reset::Watchdog, last_panic: self.last_panic }
    }

    fn utc(&self) -> Option<Utc> {
        Some(Utc::at(u64::from(self.utc?.0) + self.now() / 1000))
    }

    fn breaker(&self) -> Option<fn(Fault)> {
        self.breaker
    }
}

#[derive(Clone, Copy)]
enum End {
    Closed,
    Reset,
}

/// One direction of a connection.
#[derive(Default)]
struct Pipe {
    /// Bytes and the moments they arrive.
    segments: VecDeque<(u64, Vec<u8>)>,
    under_way: usize,
    /// What follows the last segment.
    end: Option<(u64, End)>,
    reader_is_gone: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    fn wake(&mut self) {
        self.reader.take().into_iter().chain(self.writer.take()).for_each(Waker::wake);
    }
}

/// One end of a connection.
pub struct Socket<'w> {
    world: &'w World,
    from: Rc<RefCell<Pipe>>,
    to: Rc<RefCell<Pipe>>,
    /// Held by the end that dialled.
    _dialled: Option<Dialled<'w>>,
}

impl<'w> Socket<'w> {
    fn pair(world: &'w World, dialled: Dialled<'w>) -> [Self; 2] {
        let (there, back) = (Rc::<RefCell<Pipe>>::default(), Rc::<RefCell<Pipe>>::default());
        [
            Self { world, from: back.clone(), to: there.clone(), _dialled: Some(dialled) },
            Self { world, from: there, to: back, _dialled: None },
        ]
    }

    fn poll_readable(&self, cx: &Context<'_>) -> Poll<Result<(), ErrorKind>> {
        let mut pipe = self.from.borrow_mut();
        pipe.reader = Some(cx.waker().clone());
        let at = match (pipe.segments.front(), pipe.end) {
            (Some(&(at, _)), _) | (None, Some((at, _))) => at,
            (None, None) => return Poll::Pending,
        };
        if at > self.world.now() {
            self.world.wake_at(at, cx.waker());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_read(&self, cx: &Context<'_>, buf: &mut [u8]) -> Poll<Result<usize, ErrorKind>> {
        ready!(self.poll_readable(cx))?;
        if self.world.chance(4) == 1 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut pipe = self.from.borrow_mut();
        let Some((_, bytes)) = pipe.segments.front_mut() else {
            return Poll::Ready(match pipe.end {
                Some((_, End::Reset)) => Err(ErrorKind::ConnectionReset),
                _ => Ok(0),
            });
        };
        let n = self.world.part(bytes.len().min(buf.len()));
        buf[..n].copy_from_slice(&bytes[..n]);
        bytes.drain(..n);
        if bytes.is_empty() {
            pipe.segments.pop_front();
        }
        pipe.under_way -= n;
        pipe.writer.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(n))
    }

    fn poll_write(&self, cx: &Context<'_>, bytes: &[u8]) -> Poll<Result<usize, ErrorKind>> {
        if self.world.chance(4) == 1 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut pipe = self.to.borrow_mut();
        if pipe.reader_is_gone || pipe.end.is_some() {
            // The first bytes after the other end has gone are often accepted, and lost.
            return Poll::Ready(if self.world.chance(2) == 1 { Ok(bytes.len()) } else { Err(ErrorKind::BrokenPipe) });
        }
        let room = self.world.window - pipe.under_way;
        if room == 0 {
            pipe.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let n = self.world.part(bytes.len().min(room));
        let at = self.world.now() + self.world.chance(3);
        let at = pipe.segments.back().map_or(at, |&(before, _)| before.max(at));
        pipe.segments.push_back((at, bytes[..n].to_vec()));
        pipe.under_way += n;
        pipe.reader.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(n))
    }

    fn end(&self, end: End) {
        let mut pipe = self.to.borrow_mut();
        let at = pipe.segments.back().map_or(self.world.now(), |&(at, _)| at.max(self.world.now()));
        pipe.end.get_or_insert((at, end));
        pipe.wake();
    }

    /// Breaks the connection: what is under way is lost.
    pub fn cut(&self) {
        for pipe in [&self.from, &self.to] {
            let mut pipe = pipe.borrow_mut();
            (pipe.segments, pipe.under_way) = (VecDeque::new(), 0);
            pipe.end = Some((self.world.now(), End::Reset));
            pipe.wake();
        }
    }

    /// Bytes that wait to be read.
    pub fn unread(&self) -> usize {
        self.from.borrow().under_way
    }

    pub async fn send(&mut self, mut bytes: &[u8]) -> Result<(), ErrorKind> {
        while !bytes.is_empty() {
            let n = self.write(bytes).await?;
            bytes = &bytes[n..];
        }
        Ok(())
    }
}

impl Drop for Socket<'_> {
    fn drop(&mut self) {
        // As TCP does it: unread bytes turn the end into a reset.
        let unread = self.from.borrow().under_way > 0;
        self.end(if unread { End::Reset } else { End::Closed });
        let mut pipe = self.from.borrow_mut();
        pipe.reader_is_gone = true;
        pipe.wake();
    }
}

/// What both a socket and its halves are.
macro_rules! stream {
    ($name:ident<$($life:lifetime),+>) => {
        impl<$($life),+> ErrorType for $name<$($life),+> {
            type Error = ErrorKind;
        }

        impl<$($life),+> Read for $name<$($life),+> {
            async fn read(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
                poll_fn(|cx| self.poll_read(cx, buf)).await
            }
        }

        impl<$($life),+> Readable for $name<$($life),+> {
            async fn readable(&mut self) -> Result<(), ErrorKind> {
                poll_fn(|cx| self.poll_readable(cx)).await
            }
        }

        impl<$($life),+> Write for $name<$($life),+> {
            async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
                poll_fn(|cx| self.poll_write(cx, bytes)).await
            }

            async fn flush(&mut self) -> Result<(), ErrorKind> {
                Ok(())
            }
        }
    };
}

/// One direction of a socket.
pub struct Half<'a, 'w>(&'a Socket<'w>);

impl<'w> std::ops::Deref for Half<'_, 'w> {
    type Target = Socket<'w>;

    fn deref(&self) -> &Socket<'w> {
        self.0
    }
}

stream!(Socket<'w>);
stream!(Half<'a, 'w>);

impl<'w> TcpSplit for Socket<'w> {
    type Read<'a>
        = Half<'a, 'w>
    where
        Self: 'a;
    type Write<'a>
        = Half<'a, 'w>
    where
        Self: 'a;

    fn split(&mut self) -> (Half<'_, 'w>, Half<'_, 'w>) {
        (Half(self), Half(self))
    }
}

impl TcpShutdown for Socket<'_> {
    async fn close(&mut self, what: Close) -> Result<(), ErrorKind> {
        if !matches!(what, Close::Read) {
            self.end(End::Closed);
        }
        Ok(())
    }

    async fn abort(&mut self) -> Result<(), ErrorKind> {
        self.cut();
        Ok(())
    }
}

/// What happens to who dials an address.
#[derive(Clone, Copy, PartialEq)]
pub enum Door {
    Open,
    /// Connections are refused.
    Shut,
    /// Nothing answers at all.
    Nowhere,
}

/// An address that can be dialled, and what happened there.
pub struct Port<'w> {
    pub address: SocketAddr,
    pub door: Cell<Door>,
    queue: RefCell<VecDeque<(SocketAddr, Socket<'w>)>>,
    acceptors: RefCell<Vec<Waker>>,
    /// Who accepts at this moment. A port without a queue refuses whoever none of them is there for.
    listening: Cell<usize>,
    has_queue: Cell<bool>,
    /// Connections the dialling side has, or is making.
    pub open: Cell<usize>,
    /// The most there ever were.
    pub most: Cell<usize>,
    /// How many were asked for.
    pub dialled: Cell<usize>,
}

/// Counts a connection for as long as it lasts.
struct Dialled<'w>(Rc<Port<'w>>);

impl<'w> Dialled<'w> {
    fn new(port: Rc<Port<'w>>) -> Self {
        port.dialled.set(port.dialled.get() + 1);
        port.open.set(port.open.get() + 1);
        port.most.set(port.most.get().max(port.open.get()));
        Self(port)
    }
}

impl Drop for Dialled<'_> {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
    }
}

/// Counts who listens.
struct Listening<'a>(&'a Cell<usize>);

impl<'a> Listening<'a> {
    fn new(count: &'a Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl<'w> TcpAccept for Port<'w> {
    type Error = ErrorKind;
    type Socket<'a>
        = Socket<'w>
    where
        Self: 'a;

    async fn accept(&self) -> Result<(SocketAddr, Socket<'w>), ErrorKind> {
        let _listener = Listening::new(&self.listening);
        poll_fn(|cx| match self.queue.borrow_mut().pop_front() {
            Some(connection) => Poll::Ready(Ok(connection)),
            None => {
                self.acceptors.borrow_mut().push(cx.waker().clone());
                Poll::Pending
            }
        })
        .await
    }
}

/// Who can be dialled.
pub struct Net<'w> {
    world: &'w World,
    ports: RefCell<BTreeMap<SocketAddr, Rc<Port<'w>>>>,
}

pub const BOX: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 8000);

impl<'w> Net<'w> {
    fn new(world: &'w World) -> Self {
        Self { world, ports: RefCell::default() }
    }

    pub fn open(&self, address: SocketAddr) -> Rc<Port<'w>> {
        let port = Rc::new(Port {
            address,
            door: Cell::new(Door::Open),
            queue: RefCell::default(),
            acceptors: RefCell::default(),
            listening: Cell::new(0),
            has_queue: Cell::new(true),
            open: Cell::new(0),
            most: Cell::new(0),
            dialled: Cell::new(0),
        });
        self.ports.borrow_mut().insert(address, port.clone());
        port
    }

    async fn dial(&self, from: IpAddr, to: SocketAddr) -> Result<Socket<'w>, ErrorKind> {
        let port = self.ports.borrow().get(&to).cloned().ok_or(ErrorKind::ConnectionRefused)?;
        let dialled = Dialled::new(port.clone());
        self.world.sleep(self.world.chance(3)).await;
        match port.door.get() {
            Door::Shut => return Err(ErrorKind::ConnectionRefused),
            Door::Nowhere => pending().await,
            Door::Open if !port.has_queue.get() && port.queue.borrow().len() >= port.listening.get() => {
                return Err(ErrorKind::ConnectionRefused);
            }
            Door::Open => {}
        }
        let [here, there] = Socket::pair(self.world, dialled);
        port.queue.borrow_mut().push_back((SocketAddr::new(from, 50_000), there));
        port.acceptors.borrow_mut().drain(..).for_each(Waker::wake);
        Ok(here)
    }
}

impl<'w> TcpConnect for Net<'w> {
    type Error = ErrorKind;
    type Socket<'a>
        = Socket<'w>
    where
        Self: 'a;

    async fn connect(&self, remote: SocketAddr) -> Result<Socket<'w>, ErrorKind> {
        self.dial(BOX.ip(), remote).await
    }
}

/// Where a slot accepts and dials.
pub struct Exchange<'a, 'w> {
    pub port: Rc<Port<'w>>,
    pub net: &'a Net<'w>,
}

impl<'w> TcpAccept for Exchange<'_, 'w> {
    type Error = ErrorKind;
    type Socket<'s>
        = Socket<'w>
    where
        Self: 's;

    async fn accept(&self) -> Result<(SocketAddr, Socket<'w>), ErrorKind> {
        self.port.accept().await
    }
}

impl<'w> TcpConnect for Exchange<'_, 'w> {
    type Error = ErrorKind;
    type Socket<'s>
        = Socket<'w>
    where
        Self: 's;

    async fn connect(&self, remote: SocketAddr) -> Result<Socket<'w>, ErrorKind> {
        self.net.connect(remote).await
    }
}

/// What a player does with a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Does {
    /// Answers well.
    Answer,
    /// Answers well, so many milliseconds later.
    After(u64),
    /// Answers well, then reads nothing for so many milliseconds.
    Rest(u64),
    /// Says nothing, and keeps the connection.
    Hang,
    /// Answers well, then closes the connection without having said so.
    AnswerAndClose,
    /// Answers well, and a little later once more.
    Twice,
    /// Closes the connection.
    Close,
    /// Breaks the connection within its answer.
    Cut,
    /// Answers a byte at a time, this many milliseconds apart.
    Drip(u64),
    /// Answers well, but with this many bytes more than needed.
    Long(usize),
    /// Is a web server that has no such path, and says so on a page of this many bytes.
    NotFound(usize),
}

/// A call as it arrived at a player.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub at: u64,
    /// When the answer was sent, where it was.
    pub answered: Option<u64>,
    /// The player's how many-th connection it came over, from 1.
    pub connection: usize,
    pub text: String,
    pub call: Value,
}

impl Heard {
    pub fn name(&self) -> &str {
        self.call["params"]["message_type"].as_str().unwrap_or_default()
    }
}

/// What a player does, by the call and how many came before it.
pub type Habit = Box<dyn Fn(&Heard, usize) -> Does>;

/// A player: an HTTP server that takes two connections at a time.
pub struct Player<'w> {
    pub name: String,
    pub port: Rc<Port<'w>>,
    pub heard: RefCell<Vec<Heard>>,
    /// Accepts connections and reads nothing.
    pub is_deaf: Cell<bool>,
    does: Habit,
    pub token: RefCell<String>,
    connections: Cell<usize>,
}

impl<'w> Player<'w> {
    fn new(net: &Net<'w>, index: usize, does: Habit) -> Self {
        let ip = Ipv4Addr::new(10, 0, 0, 11 + index as u8);
        Self {
            name: format!("Agent {}", index + 1),
            port: net.open(SocketAddr::new(ip.into(), 8101)),
            heard: RefCell::default(),
            is_deaf: Cell::new(false),
            does,
            token: RefCell::default(),
            connections: Cell::new(0),
        }
    }

    /// The names of the calls that arrived, in order.
    pub fn names(&self) -> Vec<String> {
        self.heard.borrow().iter().map(|heard| heard.name().to_owned()).collect()
    }

    async fn live(&self, world: &'w World) {
        embassy_futures::join::join(self.serve(world), self.serve(world)).await;
    }

    async fn serve(&self, world: &'w World) {
        loop {
            let (_, mut socket) = self.port.accept().await.unwrap();
            let connection = self.connections.get() + 1;
            self.connections.set(connection);
            while let Some((head, body)) = self.next(&mut socket).await {
                if self.converse(world, connection, &mut socket, head, body).await.is_none() {
                    break;
                }
            }
        }
    }

    async fn next(&self, socket: &mut Socket<'w>) -> Option<(String, Vec<u8>)> {
        if self.is_deaf.get() {
            let gone = poll_fn(|cx| {
                let mut pipe = socket.from.borrow_mut();
                pipe.reader = Some(cx.waker().clone());
                if pipe.end.is_some() { Poll::Ready(()) } else { Poll::Pending }
            });
            gone.await;
            return None;
        }
        receive(socket, &mut Vec::new(), false).await
    }

    /// `None` to end the connection.
    async fn converse(
        &self,
        world: &World,
        connection: usize,
        socket: &mut Socket<'w>,
        head: String,
        body: Vec<u8>,
    ) -> Option<()> {
        let call: Value = serde_json::from_slice(&body).expect("the box sends JSON");
        let text = format!("{head}{}", String::from_utf8(body).unwrap());
        let heard = Heard { at: world.now(), answered: None, connection, text, call };
        let number = self.heard.borrow().len();
        let does = (self.does)(&heard, number);
        let answer = answer(&heard.call, &self.token.borrow(), if let Does::Long(more) = does { more } else { 0 });
        self.heard.borrow_mut().push(heard);
        match does {
            Does::Hang => {
                while !matches!(socket.read(&mut [0]).await, Ok(0) | Err(_)) {}
                return None;
            }
            Does::Close => return None,
            Does::NotFound(length) => {
                let page = "x".repeat(length);
                let answer = format!("HTTP/1.1 404 Not Found\r\nContent-Length: {length}\r\n\r\n{page}");
                socket.send(answer.as_bytes()).await.ok()?;
            }
            Does::Cut => {
                socket.send(&answer[..answer.len() / 2]).await.ok()?;
                world.sleep(10).await;
                socket.cut();
                return None;
            }
            Does::Drip(ms) => {
                for byte in &answer {
                    world.sleep(ms).await;
                    socket.send(&[*byte]).await.ok()?;
                }
            }
            Does::After(ms) => {
                world.sleep(ms).await;
                socket.send(&answer).await.ok()?;
            }
            Does::Twice => {
                for _ in 0..2 {
                    socket.send(&answer).await.ok()?;
                    world.sleep(20).await;
                }
            }
            Does::Answer | Does::AnswerAndClose | Does::Rest(_) | Does::Long(_) => socket.send(&answer).await.ok()?,
        }
        if let Some(heard) = self.heard.borrow_mut().get_mut(number) {
            heard.answered = Some(world.now());
        }
        if let Does::Rest(ms) = does {
            world.sleep(ms).await;
        }
        (does != Does::AnswerAndClose).then_some(())
    }
}

/// The whole HTTP answer of a flawless player.
fn answer(call: &Value, token: &str, more: usize) -> Vec<u8> {
    let body = reply(call, token, more).to_string();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into()
}

/// What a flawless player replies.
pub fn reply(call: &Value, token: &str, more: usize) -> Value {
    let params = &call["params"];
    let choice = if params["player_id"] == "P01" { "even" } else { "odd" };
    let mut result = match params["message_type"].as_str().unwrap_or_default() {
        "GAME_INVITATION" => json!({"message_type": "GAME_JOIN_ACK", "accept": true}),
        "CHOOSE_PARITY_CALL" => json!({"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": choice}),
        "MOVE_REQUEST" if params["game_type"] == "even_odd_10" => {
            json!({"message_type": "MOVE_RESPONSE", "move": {"action": "choose", "value": choice}})
        }
        "MOVE_REQUEST" if params["game_type"] == "dance-battle" => {
            let stay = |beat| json!({"beatIndex": beat, "kind": "move", "direction": "hold"});
            let throw = json!({"beatIndex": 2, "kind": "action", "action": "rock", "motto": "Olé"});
            json!({"message_type": "MOVE_RESPONSE", "move": {"commands": [stay(0), stay(1), throw]}})
        }
        "MOVE_REQUEST" => json!({"message_type": "MOVE_RESPONSE", "move": {"action": "wait"}}),
        _ => json!({"status": "ok"}),
    };
    for (name, value) in [
        ("protocol", json!("league.v2")),
        ("sender", json!(format!("player:{}", params["player_id"].as_str().unwrap_or("P01")))),
        ("timestamp", json!("2025-01-15T10:30:00Z")),
        ("conversation_id", params["conversation_id"].clone()),
        ("auth_token", json!(token)),
        ("match_id", params["match_id"].clone()),
        ("player_id", params["player_id"].clone()),
    ] {
        result[name] = value;
    }
    if more > 0 {
        result["padding"] = json!("x".repeat(more));
    }
    json!({"jsonrpc": "2.0", "result": result, "id": call["id"]})
}

/// Reads one message, without its coding. `None` if the stream ends before it does. What was read past its end stays in
/// `unread`.
async fn receive(socket: &mut Socket<'_>, unread: &mut Vec<u8>, is_answer_to_head: bool) -> Option<(String, Vec<u8>)> {
    let head_end = loop {
        if let Some(at) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        more(socket, unread).await?;
    };
    let head: String = String::from_utf8(unread.drain(..head_end).collect()).unwrap();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let mut body = Vec::new();
    if is_answer_to_head {
        return Some((head, body));
    }
    if field("Transfer-Encoding:") == Some("chunked") {
        loop {
            let size = loop {
                match unread.windows(2).position(|two| two == b"\r\n") {
                    Some(at) => break at,
                    None => more(socket, unread).await?,
                }
            };
            let line: Vec<u8> = unread.drain(..size + 2).collect();
            let size = usize::from_str_radix(str::from_utf8(&line[..size]).unwrap(), 16).unwrap();
            while unread.len() < size + 2 {
                more(socket, unread).await?;
            }
            body.extend(unread.drain(..size));
            assert_eq!(unread.drain(..2).collect::<Vec<_>>(), b"\r\n", "a chunk ends with its line");
            if size == 0 {
                return Some((head, body));
            }
        }
    }
    let length = field("Content-Length:").map_or(0, |length| length.parse().unwrap());
    while unread.len() < length {
        more(socket, unread).await?;
    }
    body.extend(unread.drain(..length));
    Some((head, body))
}

async fn more(socket: &mut Socket<'_>, unread: &mut Vec<u8>) -> Option<()> {
    let mut buf = [0; 1024];
    let n = socket.read(&mut buf).await.ok().filter(|&n| n > 0)?;
    unread.extend_from_slice(&buf[..n]);
    Some(())
}

/// An answer of the box.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Seen {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A connection to the box.
pub struct Client<'w> {
    pub socket: Socket<'w>,
    unread: Vec<u8>,
}

impl Client<'_> {
    /// The next answer. `None` if the box closes instead.
    pub async fn receive(&mut self) -> Option<Seen> {
        self.receive_answer_to("GET").await
    }

    async fn receive_answer_to(&mut self, method: &str) -> Option<Seen> {
        let (head, body) = receive(&mut self.socket, &mut self.unread, method == "HEAD").await?;
        let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap().parse().unwrap();
        Some(Seen { status, head, body: String::from_utf8(body).unwrap() })
    }

    pub async fn ask(&mut self, method: &str, path: &str, extra: &str, body: &str) -> Option<Seen> {
        let length = body.len();
        let text =
            format!("{method} {path} HTTP/1.1\r\nHost: 10.0.0.1:8000\r\n{extra}Content-Length: {length}\r\n\r\n{body}");
        self.socket.send(text.as_bytes()).await.ok()?;
        self.receive_answer_to(method).await
    }
}

/// A box of a size that is easily filled.
pub type Small<'w> = Appliance<'w, &'w World>;

/// A buffer that is lent.
pub const WIDE: usize = 2816;

pub const ADMIN_CODE: &str = "open sesame";
pub const ADMIN: &str = "Authorization: Bearer open sesame\r\n";

/// How a box is built.
pub struct Plan {
    /// Where data is cut; without one it is not, and nothing takes time.
    pub seed: Option<u64>,
    /// Bytes the network holds on their way.
    pub window: usize,
    /// Connections the box can have at once.
    pub slots: usize,
    /// The buffer of a slot: what a request may take of it, and what it leaves for the answer.
    pub incoming: usize,
    pub outgoing: usize,
    /// Larger ones that are lent.
    pub wide: usize,
    /// Whether who comes while nobody listens waits, as it does on a computer, or is refused, as on a board.
    pub has_queue: bool,
    pub game: GameKind,
    pub start_at: Option<u16>,
    pub utc: Option<Utc>,
    pub breaker: Option<fn(Fault)>,
    pub last_panic: Option<&'static str>,
    pub habits: Vec<Habit>,
}

impl Plan {
    /// Players that all answer well.
    pub fn new(players: usize) -> Self {
        Self {
            seed: None,
            window: 2048,
            slots: 12,
            incoming: 2048,
            outgoing: 2048,
            wide: 0,
            has_queue: true,
            game: GameKind::EvenOdd,
            start_at: None,
            utc: Some(Utc(1_736_937_000)),
            breaker: None,
            last_panic: None,
            habits: (0..players).map(|_| habit(|_, _| Does::Answer)).collect(),
        }
    }

    /// Slots with buffers of this size, and two large ones beside, as on a board.
    pub fn small(self, buf: usize) -> Self {
        Self { incoming: buf - 256, outgoing: 256, wide: 2, ..self }
    }

    pub fn with(mut self, player: usize, does: impl Fn(&Heard, usize) -> Does + 'static) -> Self {
        self.habits[player] = Box::new(does);
        self
    }
}

pub fn habit(does: impl Fn(&Heard, usize) -> Does + 'static) -> Habit {
    Box::new(does)
}

/// What a test's script sees.
#[derive(Clone, Copy)]
pub struct Scene<'a, 'w> {
    pub world: &'w World,
    pub net: &'a Net<'w>,
    pub leaguebox: &'a Small<'w>,
    pub players: &'a [Player<'w>],
}

impl<'w> Scene<'_, 'w> {
    /// A fresh connection to the box.
    pub async fn dial(&self) -> Client<'w> {
        self.dial_from(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 99))).await
    }

    pub async fn dial_from(&self, ip: IpAddr) -> Client<'w> {
        Client { socket: self.net.dial(ip, BOX).await.unwrap(), unread: Vec::new() }
    }

    pub async fn get(&self, path: &str) -> Seen {
        self.dial().await.ask("GET", path, "", "").await.expect("an answer")
    }

    pub async fn admin(&self, what: &str) -> Seen {
        self.dial().await.ask("POST", &format!("/api/admin/{what}"), ADMIN, "").await.expect("an answer")
    }

    /// Sends a JSON-RPC message.
    pub async fn rpc(&self, message: &Value) -> Seen {
        self.dial().await.ask("POST", "/mcp", "", &message.to_string()).await.expect("an answer")
    }

    /// Registers a player, from its own address, and returns the box's answer.
    pub async fn register(&self, player: &Player<'w>) -> Seen {
        let address = player.port.address;
        let game = self.leaguebox.venue(|venue| venue.config().game.rules().name);
        let message = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:new",
            "timestamp": "2025-01-15T10:05:00Z", "conversation_id": "conv_1", "player_meta": {
            "display_name": player.name, "version": "1.0.0", "game_types": [game],
            "contact_endpoint": format!("http://{address}/mcp")}}});
        let mut client = self.dial_from(address.ip()).await;
        let seen = client.ask("POST", "/mcp", "", &message.to_string()).await.expect("an answer");
        *player.token.borrow_mut() = seen.json()["result"]["auth_token"].as_str().unwrap_or_default().to_owned();
        seen
    }

    /// Registers everybody, one after the other.
    pub async fn register_all(&self) {
        for player in self.players {
            let answer = self.register(player).await.json();
            assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
        }
    }

    /// Registers everybody, starts, and waits for the end.
    pub async fn whole_league(&self) {
        self.register_all().await;
        assert_eq!(self.admin("start").await.status, 200);
        self.leaguebox.league_over().await;
    }

    /// The results without the moment each match ended.
    pub async fn results(&self) -> Vec<String> {
        let csv = self.get("/api/results.csv").await.body;
        csv.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
    }
}

/// Builds a box and its players, and runs `script` beside them.
pub fn play<T>(plan: Plan, script: impl AsyncFnOnce(Scene<'_, '_>) -> T) -> T {
    let mut space = Box::new(Space::<8, 4, 28, 256, 8192, 16_384, 48>::new());
    let world = &World::new(&plan);
    let net = &Net::new(world);
    let config = Config {
        game: plan.game,
        start_at: plan.start_at,
        endpoint: "http://10.0.0.1:8000/mcp".try_into().unwrap(),
        ..Config::default()
    };
    let (seeds, code) = ((Seed([1; 32]), Seed([2; 32])), ADMIN_CODE.try_into().unwrap());
    let leaguebox: &Small<'_> = &Appliance::new(space.lend(), world, config, seeds, code);
    let port = &net.open(BOX);
    port.has_queue.set(plan.has_queue);
    let players: Vec<_> = (0..).zip(plan.habits).map(|(index, does)| Player::new(net, index, does)).collect();
    let exchange = &Exchange { port: port.clone(), net };
    let mut tasks = vec![task(leaguebox.keep_time())];
    for _ in 0..plan.wide {
        leaguebox.have_wide(vec![0; WIDE].leak());
    }
    for _ in 0..plan.slots {
        let mut buf = vec![0; plan.incoming + plan.outgoing];
        let room = [plan.incoming, plan.outgoing].map(|bytes| bytes.try_into().unwrap());
        tasks.push(task(async move { leaguebox.slot(exchange, &mut buf, room).await }));
    }
    tasks.extend(players.iter().map(|player| task(player.live(world))));
    world.run(tasks, async {
        // Until somebody listens.
        while !port.has_queue.get() && port.listening.get() < plan.slots {
            embassy_futures::yield_now().await;
        }
        script(Scene { world, net, leaguebox, players: &players }).await
    })
}
