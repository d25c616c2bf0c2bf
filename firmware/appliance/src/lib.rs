//! The box without its board: HTTP in and out, the lines to the players, the clock, the pages. `no_std`, no
//! allocation, generic over network and board; what is decided is decided in `protocol-core`, and what is plugged in is
//! the board's.
//!
//! An [`Appliance`] is shared by a fixed set of endless futures, all on one thread, which the board runs on whatever
//! executor it has: an [`Appliance::slot`] for each connection there can be at once, and one [`Appliance::keep_time`]. Each
//! slot lives in a buffer it is lent, so what a board spends is what it lends.
//!
//! ```text
//! http/       HTTP/1.1, both directions
//! ws/         WebSocket, for agents that dial in
//! slots.rs    which connection is what
//! server.rs   a slot's life; requests and their answers
//! lines.rs    dials players, carries calls out, brings replies back
//! links.rs    players that dial in instead
//! arena.rs    those that speak League of Agents
//! routes.rs   which path is what
//! answers.rs  how requests are answered, and who may ask
//! entries.rs  what agents ask in their protocols
//! mcp.rs      what language models ask, and how they wait for their turn
//! public.rs   what anybody may see
//! owner.rs    what only the owner may do
//! watch.rs    connections that only watch
//! live.rs     what the web page watches
//! moment.rs   one match as it is now
//! pages.rs    what the box shows: JSON, CSV, the log, text for agents
//! web/        the web page and what agents read
//! pieces.rs   a text longer than any buffer
//! turns.rs    who makes the next piece
//! archive.rs  leagues that have ended, from flash
//! replay.rs   matches that are over, step by step, from flash
//! journal/    what outlives a power cut, in flash
//! settings.rs what the owner may set
//! powers.rs   what the owner may do to a running league
//! board.rs    what the box is plugged into
//! calendar.rs the time of day, as far as it is known
//! sntp.rs     a question to a time server, and its answer
//! guard.rs    who is kept out
//! ```
#![no_std]
#![forbid(unsafe_code)]
// What a peer sends cannot stop the box. Where one of these must be broken, `expect` says why it holds.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]
// An `async fn` keeps its arguments twice, where they came in and where they are used; an `async move` block does not. Slots
// are many, and on a board each is memory: where it counts, it is written out.
#![allow(clippy::manual_async_fn)]

#[cfg(test)]
extern crate std;

mod agon;
mod answers;
mod archive;
mod arena;
pub mod board;
pub mod calendar;
pub mod clock;
mod entries;
mod guard;
pub mod http;
pub mod journal;
mod lines;
mod links;
mod live;
mod mcp;
mod moment;
mod owner;
mod pages;
mod pieces;
mod powers;
mod public;
mod replay;
mod routes;
mod server;
mod settings;
mod slots;
pub mod sntp;
mod turns;
mod votes;
mod watch;
mod web;
pub mod ws;

use core::cell::{Cell, RefCell};
use core::task::Waker;

use embassy_futures::select::select;
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::signal::Signal;
use heapless::{String, Vec, VecView};
use protocol_core::fair::Seed;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{self, Config, Event, Output, Stage, Venue};

use board::Board;
use calendar::{Calendar, Source};
use guard::Guard;

pub use archive::ANSWER;
pub use web::WINDOW;

/// Wakes one future that waits.
type Bell = Signal<NoopRawMutex, ()>;

/// The box without its board, in the memory it is lent: see [`Space`].
pub struct Appliance<'m, B> {
    venue: RefCell<Venue<'m>>,
    board: B,
    calendar: Cell<Calendar>,
    admin_code: RefCell<String<64>>,
    guard: RefCell<Guard>,
    slots: slots::Slots<'m>,
    /// The next deadline has changed.
    deadline: Bell,
    watchers: watch::Watchers,
    turns: turns::Turns,
    refused: Cell<u32>,
    /// Decides the code of a screen that may show all there is; none before the owner asks for one.
    projector: Cell<u32>,
    started: u64,
    journal: journal::Desk<'m>,
    /// For a request or a message that is too long for a slot's buffer, and for what is sent of a long answer in one go.
    wide: ws::Long,
    /// For a move with much to remember, and for an answer that is too long for `told`.
    long: ws::Long,
    /// For what pages are told, and for answers: these change as they are told, so they must be made in one go.
    told: ws::Long,
}

/// The memory of an appliance, to be lent to it. The parameters are those of its venue's [`Space`](venue::Space), and how many
/// connections there can be at once: more than players.
pub struct Space<
    const PLAYERS: usize,
    const MATCHES: usize,
    const RESULTS: usize,
    const LOG: usize,
    const NOTES: usize,
    const STEPS: usize,
    const SLOTS: usize,
> {
    venue: venue::Space<PLAYERS, MATCHES, RESULTS, LOG, NOTES, STEPS>,
    slots: [slots::Slot; SLOTS],
    lines: [slots::Line; PLAYERS],
    /// Whoever waits for a fact to be written.
    waiting: Vec<Waker, SLOTS>,
}

impl<
    const PLAYERS: usize,
    const MATCHES: usize,
    const RESULTS: usize,
    const LOG: usize,
    const NOTES: usize,
    const STEPS: usize,
    const SLOTS: usize,
> Space<PLAYERS, MATCHES, RESULTS, LOG, NOTES, STEPS, SLOTS>
{
    /// Nothing but zeros: as the initial value of a static it takes no flash.
    pub const fn new() -> Self {
        Self {
            venue: venue::Space::new(),
            slots: [const { slots::Slot::new() }; SLOTS],
            lines: [const { slots::Line::new() }; PLAYERS],
            waiting: Vec::new(),
        }
    }

    /// Lends it.
    pub fn lend(&mut self) -> Memory<'_> {
        Memory { venue: self.venue.lend(), slots: &self.slots, lines: &self.lines, waiting: &mut self.waiting }
    }
}

impl<
    const PLAYERS: usize,
    const MATCHES: usize,
    const RESULTS: usize,
    const LOG: usize,
    const NOTES: usize,
    const STEPS: usize,
    const SLOTS: usize,
> Default for Space<PLAYERS, MATCHES, RESULTS, LOG, NOTES, STEPS, SLOTS>
{
    fn default() -> Self {
        Self::new()
    }
}

/// The same, lent.
pub struct Memory<'m> {
    venue: venue::Memory<'m>,
    slots: &'m [slots::Slot],
    lines: &'m [slots::Line],
    waiting: &'m mut VecView<Waker>,
}

impl<'m, B: Board> Appliance<'m, B> {
    /// A box that is ready to be run. `master` decides all draws, `secret` all tokens: see [`Venue::new`]. `admin_code` opens
    /// what only its owner may do.
    pub fn new(
        memory: Memory<'m>,
        board: B,
        config: Config,
        (master, secret): (Seed, Seed),
        admin_code: String<64>,
    ) -> Self {
        let Memory { venue, slots, lines, waiting } = memory;
        Self {
            venue: RefCell::new(Venue::new(venue, config, master, secret)),
            calendar: Cell::new(Calendar::new()),
            admin_code: RefCell::new(admin_code),
            guard: RefCell::new(Guard::new()),
            slots: slots::Slots::new(slots, lines),
            deadline: Bell::new(),
            watchers: watch::Watchers::new(),
            turns: turns::Turns::new(),
            refused: Cell::new(0),
            projector: Cell::new(0),
            started: board.now(),
            journal: journal::Desk::new(waiting),
            wide: ws::Long::new(),
            long: ws::Long::new(),
            told: ws::Long::new(),
            board,
        }
    }

    /// How many players there is room for.
    fn capacity(&self) -> usize {
        self.slots.lines()
    }

    /// Has another buffer for what is too long for that of a slot: a request, a message, a piece of an answer. It is lent to one
    /// after the other. With several, one is always left for who asks.
    pub fn have_wide(&self, buf: &'static mut [u8]) {
        self.wide.set(buf);
    }

    /// Has a buffer for the longest messages of players, who are lent it one after the other: see [`Venue::may_write_long`].
    pub fn have_long(&self, buf: &'static mut [u8]) {
        self.long.set(buf);
    }

    /// Has a buffer for what pages that watch are told, and for answers, one after the other, where that of a slot is too short
    /// for them.
    pub fn have_told(&self, buf: &'static mut [u8]) {
        self.told.set(buf);
    }

    /// What it is plugged into.
    pub fn board(&self) -> &B {
        &self.board
    }

    /// Looks at the venue.
    pub fn venue<T>(&self, look: impl FnOnce(&Venue<'m>) -> T) -> T {
        look(&self.venue.borrow())
    }

    /// Does something in the venue, and wakes whoever that concerns.
    pub fn act<T>(&self, act: impl FnOnce(&mut Venue<'m>, Now) -> T) -> T {
        let now = self.now();
        let mut venue = self.venue.borrow_mut();
        let (before, players) = (venue.next_deadline(), venue.players().len());
        venue.set_watched(self.watchers.count() > 0);
        let done = act(&mut venue, now);
        while let Some(Output::Line(player)) = venue.poll_output() {
            self.slots.changed(player, || lines::has_call(&venue, player));
        }
        if venue.players().len() < players {
            // Players moved up.
            self.slots.all_changed(|player| lines::has_call(&venue, player));
        }
        if venue.next_deadline() != before {
            self.deadline.signal(());
        }
        if venue.next_fact(0).is_some() || venue.has_steps() {
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
            match self.venue(Venue::next_deadline) {
                Some(at) if at <= self.board.now() => {
                    self.room().await;
                    self.act(|venue, now| venue.handle(now, Event::Tick));
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
        while !self.venue(|venue| venue.is_over() && !venue.has_errands() && venue.all_have_asked()) {
            if self.venue(Venue::stage) == Stage::Completed {
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
