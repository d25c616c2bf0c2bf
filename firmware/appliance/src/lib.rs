//! The box without its board: HTTP in and out, the lines to the players, the clock, the pages. `no_std`, no
//! allocation, generic over network and board; what is decided is decided in `protocol-core`, and what is plugged in is
//! the board's.
//!
//! An [`Appliance`] is shared by a fixed set of endless futures, all on one thread, which the board runs on whatever
//! executor it has: one [`Appliance::line`] for each player there is room for, some [`Appliance::serve`] workers, and one
//! [`Appliance::keep_time`]. Each worker and line lives in buffers it is lent, so what a board spends is what it lends.
//!
//! ```text
//! http/       HTTP/1.1, both directions
//! ws/         WebSocket, for agents that dial in
//! lines.rs    dials players, carries calls out, brings replies back
//! links.rs    players that dial in instead
//! arena.rs    those that speak League of Agents
//! server.rs   accepts connections, answers requests
//! routes.rs   which path is what
//! watch.rs    connections that only watch
//! live.rs     what the web page watches
//! moment.rs   one match as it is now
//! pages.rs    what the box shows: JSON, CSV, the log, text for agents
//! web.rs      the files of the web page
//! pieces.rs   a text longer than any buffer
//! turns.rs    who makes the next piece
//! archive.rs  leagues that have ended, from flash
//! replay.rs   matches that are over, step by step, from flash
//! journal/    what outlives a power cut, in flash
//! settings.rs what the owner may set
//! powers.rs   what the owner may do to a running league
//! board.rs    what the box is plugged into
//! calendar.rs the time of day, as far as it is known
//! guard.rs    who is kept out
//! ```
#![no_std]
#![forbid(unsafe_code)]
// An `async fn` keeps its arguments twice, where they came in and where they are used; an `async move` block does not. Lines and
// workers are many, and on a board each is memory: where it counts, it is written out.
#![allow(clippy::manual_async_fn)]

#[cfg(test)]
extern crate std;

mod archive;
mod arena;
pub mod board;
pub mod calendar;
pub mod clock;
mod guard;
pub mod http;
pub mod journal;
mod lines;
mod links;
mod live;
mod moment;
mod pages;
mod pieces;
mod powers;
mod replay;
mod routes;
mod server;
mod settings;
mod turns;
mod watch;
mod web;
pub mod ws;

use core::cell::{Cell, RefCell};

use embassy_futures::select::select;
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::signal::Signal;
use heapless::String;
use protocol_core::fair::Seed;
use protocol_core::hall::{Config, Event, Hall, Output, Stage};
use protocol_core::time::{Now, Utc};

use board::Board;
use calendar::{Calendar, Source};
use guard::Guard;

pub use archive::ANSWER;
pub use links::Links;

/// What the box of a board may take of its memory, checked wherever it is built for one: 32 players, what these want
/// remembered, a whole round of them at once, 256 log entries.
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<Appliance<(), 32, 16, 496, 256>>() <= 70 * 1024, "the box does not fit the board");

/// Wakes one future that waits.
type Bell = Signal<NoopRawMutex, ()>;

/// The box without its board. The parameters are those of [`Hall`].
pub struct Appliance<B, const P: usize, const M: usize, const R: usize, const L: usize> {
    hall: RefCell<Hall<P, M, R, L>>,
    board: B,
    calendar: Cell<Calendar>,
    admin_code: RefCell<String<64>>,
    guard: RefCell<Guard>,
    /// One for each line: what it has to do has changed.
    lines: [Bell; P],
    /// The next deadline has changed.
    deadline: Bell,
    /// Workers that wait for a connection.
    free_workers: Cell<u16>,
    watchers: watch::Watchers,
    turns: turns::Turns,
    refused: Cell<u32>,
    /// Decides the code of a screen that may show all there is; none before the owner asks for one.
    projector: Cell<u32>,
    started: u64,
    journal: journal::Desk<P>,
    long: ws::Long,
}

impl<B: Board, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<B, P, M, R, L> {
    /// A box that is ready to be run. `admin_code` opens what only its owner may do.
    pub fn new(hall: Hall<P, M, R, L>, board: B, admin_code: String<64>) -> Self {
        Self {
            started: board.now(),
            hall: RefCell::new(hall),
            admin_code: RefCell::new(admin_code),
            ..Self::closed(board)
        }
    }

    /// A box that is [opened](Self::open) before it is run. But for the board all of it is zeros: as the initial value of
    /// a static it takes no flash, and opening it there no stack.
    pub const fn closed(board: B) -> Self {
        Self {
            hall: RefCell::new(Hall::closed()),
            board,
            calendar: Cell::new(Calendar::new()),
            admin_code: RefCell::new(String::new()),
            guard: RefCell::new(Guard::new()),
            lines: [const { Bell::new() }; P],
            deadline: Bell::new(),
            free_workers: Cell::new(0),
            watchers: watch::Watchers::new(),
            turns: turns::Turns::new(),
            refused: Cell::new(0),
            projector: Cell::new(0),
            started: 0,
            journal: journal::Desk::new(),
            long: ws::Long::new(),
        }
    }

    /// Opens the [hall](Hall::open). `admin_code` opens what only its owner may do.
    pub fn open(&mut self, config: Config, master: Seed, secret: Seed, admin_code: String<64>) {
        self.hall.get_mut().open(config, master, secret);
        self.admin_code = RefCell::new(admin_code);
        self.started = self.board.now();
    }

    /// Has a buffer for messages that are longer than those of the lines, which are lent it one after the other: see
    /// [`Hall::may_write_long`].
    pub fn have_long(&self, buf: &'static mut [u8]) {
        self.long.set(buf);
    }

    /// What it is plugged into.
    pub fn board(&self) -> &B {
        &self.board
    }

    /// Looks at the hall.
    pub fn hall<T>(&self, look: impl FnOnce(&Hall<P, M, R, L>) -> T) -> T {
        look(&self.hall.borrow())
    }

    /// Does something in the hall, and wakes whoever that concerns.
    pub fn act<T>(&self, act: impl FnOnce(&mut Hall<P, M, R, L>, Now) -> T) -> T {
        let now = self.now();
        let mut hall = self.hall.borrow_mut();
        let (before, players) = (hall.next_deadline(), hall.players().len());
        let done = act(&mut hall, now);
        while let Some(Output::Line(player)) = hall.poll_output() {
            if let Some(bell) = self.lines.get(usize::from(player)) {
                bell.signal(());
            }
        }
        if hall.players().len() < players {
            // Players moved up: every line has to look who is on it.
            self.lines.iter().for_each(|bell| bell.signal(()));
        }
        if hall.next_deadline() != before {
            self.deadline.signal(());
        }
        if hall.next_fact(0).is_some() || hall.has_steps() {
            self.journal.bell.signal(());
        }
        done
    }

    fn now(&self) -> Now {
        let ms = self.board.now();
        Now { ms, utc: self.calendar_at(ms).at(ms) }
    }

    /// What is known of the time of day.
    fn calendar(&self) -> Calendar {
        self.calendar_at(self.board.now())
    }

    /// The same, where the time is known. A board that knows the time of day by itself has its say before anybody else.
    fn calendar_at(&self, now: u64) -> Calendar {
        let mut calendar = self.calendar.get();
        if !calendar.has_just_asked(now)
            && let Some(utc) = self.board.utc()
        {
            calendar.learn(now, Source::System, utc);
            self.calendar.set(calendar);
        }
        calendar
    }

    /// Somebody says what time it is now. Says whether that was believed: see [`calendar`].
    pub fn learn_time(&self, source: Source, utc: Utc) -> bool {
        let mut calendar = self.calendar();
        let believed = calendar.learn(self.board.now(), source, utc);
        self.calendar.set(calendar);
        believed
    }

    /// Brings every deadline about. Run one.
    pub async fn keep_time(&self) -> ! {
        loop {
            match self.hall(Hall::next_deadline) {
                Some(at) if at <= self.board.now() => {
                    self.room().await;
                    self.act(|hall, now| hall.handle(now, Event::Tick));
                }
                Some(at) => {
                    select(self.board.sleep_until(at), self.deadline.wait()).await;
                }
                None => self.deadline.wait().await,
            }
        }
    }

    /// Returns when a league is over and everybody has been told, or cannot be, or does not listen.
    pub async fn league_over(&self) {
        /// How often to look. Nobody waits for it but the end of a program.
        const LOOK_MS: u64 = 20;
        /// How long the telling may take.
        const TELL_MS: u64 = 10_000;
        let mut until = None;
        while !self.hall(|hall| hall.is_over() && !hall.has_errands()) {
            if self.hall(Hall::stage) == Stage::Completed {
                let until = *until.get_or_insert(self.board.after(TELL_MS));
                if self.board.now() >= until {
                    break;
                }
            }
            self.board.sleep_until(self.board.after(LOOK_MS)).await;
        }
        self.safe().await;
    }
}
