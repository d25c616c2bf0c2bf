//! Leagues that have ended, read from flash: as many as there is room for, the oldest dropped first.
//!
//! Nothing is kept for them beside the journal itself. A chapter stays in flash until its sectors are needed, and the
//! end of it tells how the league ended. Whoever wants to read of it asks the one future that owns the flash
//! ([`Appliance::keep_journal`]) for one league, then for one line of its standings after the other; so a league of any
//! size takes the memory of one line. If its sectors are erased in between, it is gone, and that is the answer.

use core::cell::{Cell, Ref, RefCell};
use core::net::IpAddr;
use core::ops::ControlFlow;

use embassy_futures::yield_now;
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::mutex::{Mutex, MutexGuard};
use embassy_sync::signal::Signal;
use embedded_storage_async::nor_flash::MultiwriteNorFlash;
use heapless::String;
use protocol_core::games::GameKind;
use protocol_core::ids::{AgentId, MatchId};
use protocol_core::journal::bytes;
use protocol_core::journal::{Ended, Entry};
use protocol_core::json::Shown;
use protocol_core::season::Row;
use protocol_core::time::Utc;
use protocol_core::venue::{NAME_BYTES, Replay, Stage};

use super::log::{FIRST, behind, said};
use super::{FRAME, Log, Place, Playback, Scene, State, Trouble};
use crate::Appliance;
use crate::board::Board;

/// Steps of matches that wait take no more frames than this.
const FRAMES_WAITING: u8 = 20;

/// Where a line of a league's final standings is to be found.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    chapter: u32,
    sector: u32,
    at: u32,
    rank: u16,
}

/// A league that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Past {
    /// What is known of it.
    pub ended: Ended,
    /// Where its standings begin.
    pub first: Spot,
    /// Leagues before it ended before this sector.
    pub before: u32,
}

/// What the journal can be asked for. `Nothing` is zero, so that a box that has not been opened takes no flash.
#[derive(Clone, Copy, Default)]
#[repr(u8)]
pub(crate) enum Ask {
    #[default]
    Nothing,
    /// The newest league that ended before this sector, and its champion. `u32::MAX` for the very newest.
    League(u32),
    /// A line of its standings.
    Line(Spot),
    /// A match of this league after a step; after the last one there is, with `u16::MAX`.
    Step(MatchId, u16),
    /// A step of it as it is in flash: behind so many others, from the first one on or from a place on.
    Scene(MatchId, Option<Place>, u16),
    /// The next one of a match that is being played, for those who play it, with what was said at length.
    Played(MatchId, Option<Place>),
    /// The next one with what was said at length, of a match of speeches that is being played too.
    Part(MatchId, Option<Place>),
}

/// What it answered last.
pub(crate) struct Page {
    pub past: Past,
    row: Row<'static>,
    name: String<NAME_BYTES>,
    /// Where the next line is.
    pub next: Spot,
}

impl Page {
    /// The line of the standings that was asked for.
    pub fn row(&self) -> Row<'_> {
        Row { display_name: &self.name, ..self.row }
    }
}

impl Page {
    const EMPTY: Page = {
        let ended = Ended { league: 0, game: GameKind::FIRST, at: Utc(0), players: 0, matches: 0 };
        let spot = Spot { chapter: 0, sector: 0, at: 0, rank: 0 };
        let player_id = Shown(AgentId::Player(0));
        let row = Row {
            rank: 0,
            player_id,
            display_name: "",
            played: 0,
            wins: 0,
            draws: 0,
            losses: 0,
            technical_losses: 0,
            points: 0,
        };
        let past = Past { ended, first: spot, before: 0 };
        Page { past, row, name: String::new(), next: spot }
    };
}

/// What was answered last. `Nothing` is zero here too.
#[repr(u8)]
pub(crate) enum Found {
    Nothing,
    Page(Page),
    Playback(Playback),
    Scene(Scene),
}

impl Found {
    fn page(&self) -> &Page {
        static EMPTY: Page = Page::EMPTY;
        if let Found::Page(page) = self { page } else { &EMPTY }
    }

    /// Changes the page, a new one if there is none.
    fn turn(&mut self, change: impl FnOnce(&mut Page)) {
        if !matches!(self, Found::Page(_)) {
            *self = Found::Page(Page::EMPTY);
        }
        if let Found::Page(page) = self {
            change(page);
        }
    }

    fn replay(&self) -> Option<&Replay> {
        if let Found::Playback(playback) = self { Some(&playback.replay) } else { None }
    }

    fn scene(&self) -> Option<&Scene> {
        if let Found::Scene(scene) = self { Some(scene) } else { None }
    }
}

/// Where the journal is asked, by one at a time.
pub(crate) struct Counter {
    turn: Mutex<NoopRawMutex, ()>,
    ask: Cell<Ask>,
    is_found: Signal<NoopRawMutex, bool>,
    /// Bytes that were read for the last answer.
    read: Cell<usize>,
    pub told: RefCell<Found>,
}

impl Counter {
    pub const fn new() -> Self {
        Self {
            turn: Mutex::new(()),
            ask: Cell::new(Ask::Nothing),
            is_found: Signal::new(),
            read: Cell::new(0),
            told: RefCell::new(Found::Nothing),
        }
    }
}

/// Who has its turn at the counter: what was answered stays there as long.
pub(crate) struct Reader<'a> {
    counter: &'a Counter,
    _turn: MutexGuard<'a, NoopRawMutex, ()>,
}

impl Reader<'_> {
    /// What was answered.
    pub fn page(&self) -> Ref<'_, Page> {
        Ref::map(self.counter.told.borrow(), Found::page)
    }

    /// The match as it stood.
    pub fn replay(&self) -> Option<Ref<'_, Replay>> {
        Ref::filter_map(self.counter.told.borrow(), Found::replay).ok()
    }

    /// One step of it.
    pub fn scene(&self) -> Option<Ref<'_, Scene>> {
        Ref::filter_map(self.counter.told.borrow(), Found::scene).ok()
    }
}

impl<F: MultiwriteNorFlash> Log<F> {
    /// The newest league in a chapter that begins before sector `before` and whose end is there, whole.
    pub async fn past(&mut self, before: u32, buf: &mut [u8; FRAME]) -> Result<Option<Past>, Trouble> {
        let Some(newest) = self.newest_sector() else { return Ok(None) };
        let mut number = before.min(newest.saturating_add(1));
        loop {
            // One that is damaged does not hide those before it.
            let Some(header) = self.header_before(number, newest).await? else { return Ok(None) };
            number = header.number;
            let oldest = header.chapter.max(newest.saturating_add(1).saturating_sub(self.sectors()));
            for sector in (oldest..=number).rev() {
                if self.header(sector).await?.is_none_or(|of| of.chapter != header.chapter) {
                    continue;
                }
                // The last end counts that is whole: a power cut may have torn one, and a restart have said it again.
                let mut until = u32::MAX;
                while let Some((at, ended)) = self.end_before(sector, until, buf).await? {
                    let first = Spot { chapter: header.chapter, sector, at, rank: 1 };
                    if self.is_complete(first, ended.players, buf).await? {
                        return Ok(Some(Past { ended, first, before: header.chapter }));
                    }
                    until = at;
                }
                yield_now().await;
            }
            number = header.chapter;
        }
    }

    /// Hands the line of final standings at a spot to `take`, if it is still there; says where the next one is.
    pub async fn line(
        &mut self,
        mut spot: Spot,
        buf: &mut [u8; FRAME],
        mut take: impl FnMut(Row<'_>),
    ) -> Result<Option<Spot>, Trouble> {
        while let Some(entries) = self.frame_at(&mut spot, buf).await? {
            for entry in entries_in(buf, entries) {
                if let Entry::Ranked(row) = entry
                    && row.rank == spot.rank
                {
                    take(row);
                    return Ok(Some(Spot { rank: spot.rank.saturating_add(1), ..spot }));
                }
            }
            spot.at = behind(spot.at, entries);
        }
        Ok(None)
    }

    /// The last end of a league in a sector, before offset `until`.
    async fn end_before(
        &mut self,
        sector: u32,
        until: u32,
        buf: &mut [u8; FRAME],
    ) -> Result<Option<(u32, Ended)>, Trouble> {
        let (mut at, mut found) = (FIRST, None);
        let (place, last) = (&mut at, &mut found);
        self.walk(sector, buf, |entries| {
            if *place >= until {
                return ControlFlow::Break(());
            }
            // Nothing stands before it in its frame.
            if let Ok(Some(Entry::Ended(ended))) = Entry::read(&mut bytes::Reader::new(entries)) {
                *last = Some((*place, ended));
            }
            *place = behind(*place, entries.len());
            ControlFlow::Continue(())
        })
        .await?;
        Ok(found)
    }

    /// Whether all lines of a league's standings follow its end.
    async fn is_complete(&mut self, mut spot: Spot, players: u16, buf: &mut [u8; FRAME]) -> Result<bool, Trouble> {
        while spot.rank <= players {
            let Some(entries) = self.frame_at(&mut spot, buf).await? else { return Ok(false) };
            for entry in entries_in(buf, entries) {
                match entry {
                    Entry::Ranked(row) if row.rank == spot.rank => spot.rank = spot.rank.saturating_add(1),
                    Entry::Ended(_) if spot.rank == 1 => {}
                    // Something else was said before all of it was.
                    _ => return Ok(spot.rank > players),
                }
            }
            spot.at = behind(spot.at, entries);
        }
        Ok(true)
    }

    /// Reads the frame at a spot, or the first one of the chapter's next sector: how many bytes its entries have.
    async fn frame_at(&mut self, spot: &mut Spot, buf: &mut [u8; FRAME]) -> Result<Option<usize>, Trouble> {
        let Some(newest) = self.newest_sector() else { return Ok(None) };
        loop {
            if let Some(entries) = self.frame(spot.sector, spot.at, buf).await? {
                return Ok(Some(entries));
            }
            (spot.sector, spot.at) = (spot.sector.saturating_add(1), FIRST);
            while self.header(spot.sector).await?.is_none_or(|header| header.chapter != spot.chapter) {
                spot.sector = spot.sector.saturating_add(1);
                if spot.sector > newest {
                    return Ok(None);
                }
            }
        }
    }
}

/// How much was read of a journal and a film since this was last asked.
fn read<F: MultiwriteNorFlash>(log: Option<&mut Log<F>>, film: &mut Option<Log<F>>) -> usize {
    let of_log = log.map_or(0, Log::take_read);
    film.as_mut().map_or(0, Log::take_read).saturating_add(of_log)
}

/// The entries of the frame in `buf`, as far as they make sense.
fn entries_in(buf: &[u8; FRAME], entries: usize) -> impl Iterator<Item = Entry<'_>> {
    let mut from = bytes::Reader::new(said(buf, entries));
    core::iter::from_fn(move || Entry::read(&mut from).ok().flatten())
}

impl<B: Board> Appliance<'_, B> {
    /// Asks the journal, after whoever asked before; who asks pays for what is read. `None` where it has no answer.
    pub(crate) async fn ask_the_journal(&self, peer: &IpAddr, ask: Ask) -> Option<Reader<'_>> {
        self.ask_on(peer, ask, None).await
    }

    /// The same where the turn may still be the asker's: nobody else has asked since.
    pub(crate) async fn ask_on<'a>(&'a self, peer: &IpAddr, ask: Ask, last: Option<Reader<'a>>) -> Option<Reader<'a>> {
        let counter = &self.journal.counter;
        let _turn = match last {
            Some(last) => last._turn,
            None => counter.turn.lock().await,
        };
        let is_kept = match ask {
            Ask::Step(..) | Ask::Scene(..) | Ask::Played(..) | Ask::Part(..) => self.journal.has_film.get(),
            Ask::League(_) | Ask::Line(_) => self.journal() == State::Ok,
            Ask::Nothing => false,
        };
        if !is_kept {
            return None;
        }
        counter.is_found.reset();
        counter.ask.set(ask);
        self.journal.bell.signal(());
        let is_found = counter.is_found.wait().await;
        self.guard.borrow_mut().pay(self.board.now(), *peer, self.capacity(), counter.read.get());
        is_found.then_some(Reader { counter, _turn })
    }

    /// Answers whoever asks.
    pub(super) async fn answer<F: MultiwriteNorFlash>(
        &self,
        mut log: Option<&mut Log<F>>,
        film: &mut Option<Log<F>>,
        buf: &mut [u8; FRAME],
    ) {
        let ask = self.journal.counter.ask.take();
        if matches!(ask, Ask::Nothing) {
            return;
        }
        // What was read for others is nothing to who asks now.
        read(log.as_deref_mut(), film);
        let is_found = match (ask, log.as_deref_mut()) {
            (Ask::Nothing, _) => false,
            (Ask::Scene(id, from, skip), log) => match film.as_mut().zip(self.film_of(id)) {
                Some((film, of)) => self.find_scene((of, from, skip, false), log, film, buf).await == Ok(true),
                None => false,
            },
            (Ask::Part(id, from), log) => {
                let of = self.venue(|venue| venue.open_film_of(id));
                match film.as_mut().zip(of) {
                    Some((film, of)) => self.find_scene((of, from, 0, true), log, film, buf).await == Ok(true),
                    None => false,
                }
            }
            (Ask::Played(id, from), log) => {
                if from.is_none() {
                    self.act(|venue, _| venue.ripen_steps());
                    self.spool_all(film, buf).await;
                }
                match film.as_mut().zip(self.venue(|venue| venue.running_film(id))) {
                    Some((film, of)) => self.find_scene((of, from, 0, true), log, film, buf).await == Ok(true),
                    None => false,
                }
            }
            (Ask::Step(id, step), log) => {
                self.spool_all(film, buf).await;
                match film {
                    Some(film) => self.wind((id, step), log, film, buf).await == Ok(true),
                    None => false,
                }
            }
            (Ask::League(before), Some(log)) => self.look_up(Err(before), log, buf).await == Ok(Some(())),
            (Ask::Line(spot), Some(log)) => self.look_up(Ok(spot), log, buf).await == Ok(Some(())),
            (_, None) => false,
        };
        self.journal.counter.read.set(read(log, film));
        self.journal.counter.is_found.signal(is_found);
    }

    /// The last steps of a match may be on their way.
    async fn spool_all<F: MultiwriteNorFlash>(&self, film: &mut Option<Log<F>>, buf: &mut [u8; FRAME]) {
        let mut frames = 0..FRAMES_WAITING;
        while frames.next().is_some() && self.spool(film, buf).await {}
    }

    /// Looks for a line of a league, or for the newest league that ended before a sector.
    async fn look_up<F: MultiwriteNorFlash>(
        &self,
        ask: Result<Spot, u32>,
        log: &mut Log<F>,
        buf: &mut [u8; FRAME],
    ) -> Result<Option<()>, Trouble> {
        let told = &self.journal.counter.told;
        if self.journal() != State::Ok {
            return Ok(None);
        }
        let spot = match ask {
            Ok(spot) => spot,
            Err(before) => {
                // The league of this moment has not ended before its last match.
                let is_over = self.venue(|venue| venue.stage() == Stage::Completed);
                let before = if is_over { before } else { before.min(log.chapter_begin()) };
                let Some(past) = log.past(before, buf).await? else { return Ok(None) };
                told.borrow_mut().turn(|page| page.past = past);
                past.first
            }
        };
        let take = |row: Row<'_>| {
            told.borrow_mut().turn(|page| {
                page.row = Row { display_name: "", ..row };
                page.name = String::try_from(row.display_name).unwrap_or_default();
            });
        };
        let Some(next) = log.line(spot, buf, take).await? else { return Ok(None) };
        told.borrow_mut().turn(|page| page.next = next);
        Ok(Some(()))
    }
}
