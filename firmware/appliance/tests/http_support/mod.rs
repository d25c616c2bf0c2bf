//! A world in virtual time, and streams in it that break data wherever their seed says.
#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use appliance::clock::Clock;
use embedded_io_async::{ErrorKind, ErrorType, Read, Write};

/// The clock. It stands still while anything can run, then jumps to the next moment somebody waits for.
#[derive(Default)]
pub struct World {
    now: Cell<u64>,
    wake: Cell<Option<u64>>,
}

impl World {
    fn wake_at(&self, at: u64) {
        self.wake.set(Some(self.wake.get().map_or(at, |earlier| earlier.min(at))));
    }

    /// Runs to the end. Panics if everybody waits for ever.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut idle = 0;
        loop {
            self.wake.set(None);
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return output;
            }
            match self.wake.get() {
                Some(at) => self.now.set(at.max(self.now.get())),
                None => {
                    idle += 1;
                    assert!(idle < 1_000_000, "everybody waits for ever");
                }
            }
        }
    }
}

impl Clock for World {
    fn now(&self) -> u64 {
        self.now.get()
    }

    async fn sleep_until(&self, at: u64) {
        poll_fn(|_| {
            if self.now.get() >= at {
                return Poll::Ready(());
            }
            self.wake_at(at);
            Poll::Pending
        })
        .await;
    }
}

/// One direction of a connection.
#[derive(Default)]
pub struct Wire {
    /// Bytes and the moments they arrive.
    segments: VecDeque<(u64, Vec<u8>)>,
    /// What follows the last segment. Without it the reader waits.
    end: Option<(u64, End)>,
    /// The other side does not read.
    pub stuck: bool,
    /// How often was written.
    pub writes: usize,
}

#[derive(Clone, Copy)]
pub enum End {
    Closed,
    Reset,
}

impl Wire {
    pub fn send(&mut self, at: u64, bytes: &[u8]) {
        self.segments.push_back((at, bytes.to_vec()));
    }

    pub fn end(&mut self, at: u64, end: End) {
        self.end = Some((at, end));
    }

    /// Everything written and not read.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.segments.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn unread(&self) -> usize {
        self.segments.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

pub type SharedWire = Rc<RefCell<Wire>>;

/// One end of a connection.
pub struct Stream<'w> {
    world: &'w World,
    pub from: SharedWire,
    pub to: SharedWire,
    /// Where to break data; without one it comes as it was sent.
    seed: Option<u64>,
}

impl<'w> Stream<'w> {
    pub fn new(world: &'w World, seed: Option<u64>) -> Self {
        Self { world, from: SharedWire::default(), to: SharedWire::default(), seed }
    }

    /// The end opposite to this one.
    pub fn opposite(&self) -> Self {
        Self { world: self.world, from: self.to.clone(), to: self.from.clone(), seed: self.seed.map(|seed| !seed) }
    }

    /// How much of `len` to move now; sometimes nothing yet.
    fn part(&mut self, len: usize) -> Option<usize> {
        let Some(seed) = &mut self.seed else { return Some(len) };
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = (*seed >> 33) as usize;
        match random % 4 {
            0 => {
                self.world.wake_at(self.world.now());
                None
            }
            1 => Some(len),
            _ => Some(len.min(1 + random / 4 % 40)),
        }
    }
}

impl ErrorType for Stream<'_> {
    type Error = ErrorKind;
}

impl Read for Stream<'_> {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
        poll_fn(|_| {
            let from = self.from.clone();
            let mut from = from.borrow_mut();
            let Some((at, bytes)) = from.segments.front_mut() else {
                return match from.end {
                    Some((at, _)) if at > self.world.now() => {
                        self.world.wake_at(at);
                        Poll::Pending
                    }
                    Some((_, End::Closed)) => Poll::Ready(Ok(0)),
                    Some((_, End::Reset)) => Poll::Ready(Err(ErrorKind::ConnectionReset)),
                    None => Poll::Pending,
                };
            };
            if *at > self.world.now() {
                self.world.wake_at(*at);
                return Poll::Pending;
            }
            let Some(n) = self.part(bytes.len().min(buf.len())) else { return Poll::Pending };
            buf[..n].copy_from_slice(&bytes[..n]);
            bytes.drain(..n);
            if bytes.is_empty() {
                from.segments.pop_front();
            }
            Poll::Ready(Ok(n))
        })
        .await
    }
}

impl Write for Stream<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        poll_fn(|_| {
            if self.to.borrow().stuck {
                return Poll::Pending;
            }
            let Some(n) = self.part(bytes.len()) else { return Poll::Pending };
            let mut to = self.to.borrow_mut();
            to.send(self.world.now(), &bytes[..n]);
            to.writes += 1;
            // The other end, polled before this one, may go on.
            self.world.wake_at(self.world.now());
            Poll::Ready(Ok(n))
        })
        .await
    }

    async fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        let end = &mut self.to.borrow_mut().end;
        end.get_or_insert((0, End::Closed));
    }
}

/// The chunked coding of `body`, in chunks as long as `sizes` says, again and again.
pub fn chunked(body: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut rest = body;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let (chunk, later) = rest.split_at((*sizes.next().unwrap_or(&1)).clamp(1, rest.len()));
        coded.extend_from_slice(format!("{:X};ext=1\r\n", chunk.len()).as_bytes());
        coded.extend_from_slice(chunk);
        coded.extend_from_slice(b"\r\n");
        rest = later;
    }
    coded.extend_from_slice(b"0\r\nX-Trailer: 1\r\n\r\n");
    coded
}

/// One answer as a strict reader sees it.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Splits a stream of answers that all carry a length.
pub fn answers(mut text: &str) -> Vec<Seen> {
    let mut seen = Vec::new();
    while !text.is_empty() {
        let (head, rest) = text.split_once("\r\n\r\n").expect("a complete head");
        let status = head.strip_prefix("HTTP/1.1 ").and_then(|s| s.get(..3)).expect("a status line").parse().unwrap();
        let length =
            head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).map_or(0, |n| n.parse().unwrap());
        let (body, rest) = rest.split_at(length);
        seen.push(Seen { status, head: head.into(), body: body.into() });
        text = rest;
    }
    seen
}
