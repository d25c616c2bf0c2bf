//! The box without its board: HTTP in and out, the lines to the players, the clock, the pages. `no_std`, no
//! allocation, generic over network and clock; what is decided is decided in `protocol-core`, and what is plugged in is
//! the board's.
//!
//! An [`Appliance`] is shared by a fixed set of endless futures, all on one thread, which the board runs on whatever
//! executor it has: one [`Appliance::line`] for each player there is room for, some [`Appliance::serve`] workers, one
//! [`Appliance::keep_time`], and where there is flash one [`Appliance::keep_journal`]. Each worker and line lives in buffers it is lent, so what a board spends is what it lends.
//!
//! ```text
//! http/       HTTP/1.1, both directions
//! lines.rs    dials players, carries calls out, brings replies back
//! server.rs   accepts connections, answers requests
//! routes.rs   which path is what
//! pages.rs    what the box shows: JSON, CSV, the log, text for agents
//! pieces.rs   a text longer than any buffer
//! journal/    what outlives a power cut, in flash
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod clock;
pub mod http;
pub mod journal;
mod lines;
mod pages;
mod pieces;
mod routes;
mod server;

use core::cell::{Cell, RefCell};

use embassy_futures::select::select;
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::signal::Signal;
use heapless::String;
use protocol_core::hall::{Event, Hall, Output};
use protocol_core::time::{Now, Utc};

use clock::Clock;

/// Wakes one future that waits.
type Bell = Signal<NoopRawMutex, ()>;

/// The box without its board. The parameters are those of [`Hall`].
pub struct Appliance<C, const P: usize, const M: usize, const R: usize, const L: usize> {
    hall: RefCell<Hall<P, M, R, L>>,
    clock: C,
    admin_code: RefCell<String<64>>,
    /// One for each line: what it has to do has changed.
    lines: [Bell; P],
    /// The next deadline has changed.
    deadline: Bell,
    limits: http::Limits,
    /// Workers that wait for a connection.
    free_workers: Cell<u16>,
    refused: Cell<u32>,
    started: u64,
    journal: journal::Desk<P>,
}

impl<C: Clock, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<C, P, M, R, L> {
    /// A box that is ready to be run. `admin_code` opens what only its owner may do.
    pub fn new(hall: Hall<P, M, R, L>, clock: C, admin_code: String<64>) -> Self {
        Self {
            started: clock.now(),
            hall: RefCell::new(hall),
            clock,
            admin_code: RefCell::new(admin_code),
            lines: [const { Bell::new() }; P],
            deadline: Bell::new(),
            limits: http::Limits::default(),
            free_workers: Cell::new(0),
            refused: Cell::new(0),
            journal: journal::Desk::new(),
        }
    }

    /// Looks at the hall.
    pub fn hall<T>(&self, look: impl FnOnce(&Hall<P, M, R, L>) -> T) -> T {
        look(&self.hall.borrow())
    }

    /// Does something in the hall, and wakes whoever that concerns.
    pub fn act<T>(&self, act: impl FnOnce(&mut Hall<P, M, R, L>, Now) -> T) -> T {
        let now = self.now();
        let mut hall = self.hall.borrow_mut();
        let before = hall.next_deadline();
        let done = act(&mut hall, now);
        while let Some(Output::Line(player)) = hall.poll_output() {
            if let Some(bell) = self.lines.get(usize::from(player)) {
                bell.signal(());
            }
        }
        if hall.next_deadline() != before {
            self.deadline.signal(());
        }
        if hall.next_fact(0).is_some() {
            self.journal.bell.signal(());
        }
        done
    }

    fn now(&self) -> Now {
        Now { ms: self.clock.now(), utc: Utc(self.clock.utc()) }
    }

    /// Brings every deadline about. Run one.
    pub async fn keep_time(&self) -> ! {
        loop {
            match self.hall(Hall::next_deadline) {
                Some(at) if at <= self.clock.now() => {
                    self.room().await;
                    self.act(|hall, now| hall.handle(now, Event::Tick));
                }
                Some(at) => {
                    select(self.clock.sleep_until(at), self.deadline.wait()).await;
                }
                None => self.deadline.wait().await,
            }
        }
    }

    /// Returns when a league is over and everybody has been told, or cannot be.
    pub async fn league_over(&self) {
        /// How often to look. Nobody waits for it but the end of a program.
        const LOOK_MS: u64 = 20;
        while !self.hall(Hall::is_over) {
            self.clock.sleep_until(self.clock.after(LOOK_MS)).await;
        }
    }
}
