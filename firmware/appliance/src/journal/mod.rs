//! The journal: nothing acknowledged is ever lost.
//!
//! The venue says what must outlive a power cut, as facts with numbers. One future, [`Appliance::keep_journal`], writes
//! them into flash, as many at a time as there are. Everything that leaves the box (an answer, a page, a call to a
//! player) first waits until all facts are in flash that there were when it was written: `Appliance::safe`. And whatever
//! can make new facts first waits until there is room for them: `Appliance::room`.
//!
//! If the flash fails, the box plays on without the promise, and says so. A journal that cannot be read is kept as it is
//! until the owner decides: resets the box, or goes on with what is sound of it ([`Sound`]). Damage to leagues of the past
//! is told as well, and hinders nobody.

mod film;
mod log;
mod past;
#[cfg(feature = "ram-flash")]
pub mod ram;

use core::cell::{Cell, RefCell};
use core::fmt;
use core::future::poll_fn;
use core::ops::ControlFlow;
use core::task::{Poll, Waker};

use embassy_futures::select::{Either, select};
use embedded_storage_async::nor_flash::MultiwriteNorFlash;
use heapless::{String, VecView};
use protocol_core::journal::Entry;
use protocol_core::journal::bytes::{Reader, Writer};
use protocol_core::journal::frame::FRAME_BYTES;
use protocol_core::time::{Millis, Utc};
use protocol_core::venue::{Change, Event, Fact, Stage, Venue, has_reached};
use serde::Serialize;

pub(crate) use film::{Beside, Playback, Scene};
pub use film::{Place, spool};
pub use log::{FRAME, Log, Trouble};
pub(crate) use past::{Ask, Page};
pub use past::{Past, Spot};

use crate::board::Board;
use crate::calendar::Source;
use crate::{Appliance, Bell, lines};

/// How it goes with the journal.
/// `Off` is zero, so that a box that has not been opened is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// There is none.
    Off,
    /// What is acknowledged is in flash.
    Ok,
    /// It is not.
    Failed(Trouble),
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Off => f.write_str("off"),
            State::Ok => f.write_str("ok"),
            State::Failed(trouble) => write!(f, "failed: {trouble}"),
        }
    }
}

/// What the box tells of its journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub state: State,
    pub sound: Option<Sound>,
    pub past_is_damaged: bool,
    pub erases: u32,
    pub resumed_at: Option<Utc>,
}

/// What is sound of a journal that is damaged: the last league that begins whole, up to the damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sound {
    /// Which league.
    pub league: u32,
    /// How many players are in it.
    pub players: u16,
    /// How many results are.
    pub results: u16,
}

impl fmt::Display for Sound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "league {} with {} players and {} results", self.league, self.players, self.results)
    }
}

impl Kept {
    /// How it goes with leagues of the past.
    pub fn past(&self) -> &'static str {
        if self.past_is_damaged { "damaged" } else { "ok" }
    }
}

/// In words for the teacher, before what else is to be said; nothing where all is as it should be.
impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state {
            State::Failed(trouble @ (Trouble::OtherVersion(_) | Trouble::NotAJournal | Trouble::Damaged)) => write!(
                f,
                "Nothing will survive a power cut: the journal in flash cannot be used, {trouble}. It is kept until the \
                 teacher resets the box{}. ",
                Offer(self.sound)
            ),
            State::Failed(trouble) => {
                write!(f, "From here on nothing survives a power cut: the journal failed, {trouble}. ")
            }
            State::Ok if self.past_is_damaged => f.write_str(
                "What is in flash of a league of the past is damaged; what is sound of it can still be read. ",
            ),
            State::Off | State::Ok => Ok(()),
        }
    }
}

/// What the owner of a damaged journal can do beside a reset.
pub struct Offer(pub Option<Sound>);

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(sound) => write!(f, " or recovers what is sound of it ({sound}): POST /api/admin/recover"),
            None => Ok(()),
        }
    }
}

/// What the owner of a journal that cannot be used has decided. `Nothing` is zero.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
enum Decision {
    #[default]
    Nothing,
    /// It may be overwritten.
    Reset,
    /// What is sound of it counts.
    Recover,
}

/// What was chosen at this start, and so goes before what the journal says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chosen {
    /// The admin code.
    pub admin_code: bool,
    /// Settings, unless a league is being played or readable.
    pub settings: Change,
}

/// A journal in flash, after [`Appliance::resume`], and a film, after [`Appliance::resume_film`].
pub struct Journal<F> {
    log: Log<F>,
    film: Option<Log<F>>,
}

/// What the rest of the box knows of the journal.
pub(crate) struct Desk<'m> {
    state: Cell<State>,
    /// The number of the last fact in flash.
    written: Cell<u32>,
    /// Whoever waits for a fact to be written. Where there are more than fit, all look again.
    waiting: RefCell<&'m mut VecView<Waker>>,
    /// There is something to write.
    pub bell: Bell,
    /// What the owner has decided.
    decision: Cell<Decision>,
    /// What the owner can recover.
    sound: Cell<Option<Sound>>,
    /// Whether something in the flash of leagues of the past is not as it was written.
    past_is_damaged: Cell<bool>,
    erases: Cell<u32>,
    /// When the box went on with a league, on the monotonic clock.
    resumed: Cell<Option<Millis>>,
    /// What time of day that was, by the best source so far. Apart from it, so that a box that begins is all zeros.
    resumed_at: Cell<(Source, Utc)>,
    /// Whether the steps of matches are kept.
    has_film: Cell<bool>,
    /// Past leagues and matches are asked for here.
    counter: past::Counter,
}

impl<'m> Desk<'m> {
    pub const fn new(waiting: &'m mut VecView<Waker>) -> Self {
        Self {
            state: Cell::new(State::Off),
            written: Cell::new(0),
            waiting: RefCell::new(waiting),
            bell: Bell::new(),
            decision: Cell::new(Decision::Nothing),
            sound: Cell::new(None),
            past_is_damaged: Cell::new(false),
            erases: Cell::new(0),
            resumed: Cell::new(None),
            resumed_at: Cell::new((Source::None, Utc(0))),
            has_film: Cell::new(false),
            counter: past::Counter::new(),
        }
    }

    fn set(&self, state: State) {
        self.state.set(state);
        self.wake();
    }

    /// Has whoever waits look again.
    fn wake(&self) {
        let mut waiting = self.waiting.borrow_mut();
        while let Some(waker) = waiting.pop() {
            waker.wake();
        }
    }

    /// Somebody waits until it is [woken](Self::wake).
    fn wait(&self, waker: &Waker) {
        if self.waiting.borrow().iter().any(|waiting| waiting.will_wake(waker)) {
            return;
        }
        if self.waiting.borrow().is_full() {
            self.wake();
        }
        let _ = self.waiting.borrow_mut().push(waker.clone());
    }

    /// The box has been reset: a journal that could not be read may be overwritten.
    pub fn reset(&self) {
        self.decision.set(Decision::Reset);
        self.bell.signal(());
    }

    /// The owner wants to go on with what is sound of a damaged journal. False where there is nothing to go on with.
    pub fn recover(&self) -> bool {
        let is_offered = self.state.get() == State::Failed(Trouble::Damaged) && self.sound.get().is_some();
        if is_offered {
            self.decision.set(Decision::Recover);
            self.bell.signal(());
        }
        is_offered
    }
}

/// Looks into the venue between two waits.
pub trait Access<H> {
    /// Does something in the venue.
    fn with<T>(&mut self, look: impl FnOnce(&mut H) -> T) -> T;
}

impl<H> Access<H> for &mut H {
    fn with<T>(&mut self, look: impl FnOnce(&mut H) -> T) -> T {
        look(self)
    }
}

impl<H> Access<H> for &RefCell<H> {
    fn with<T>(&mut self, look: impl FnOnce(&mut H) -> T) -> T {
        look(&mut self.borrow_mut())
    }
}

/// Reads the journal into a venue. False where there is nothing to be read. On `Err` the venue is as it was.
pub async fn restore<'m, F: MultiwriteNorFlash>(
    log: &mut Log<F>,
    mut venue: impl Access<Venue<'m>>,
    buf: &mut [u8; FRAME],
    admin_code: impl FnMut(&str),
) -> Result<bool, Trouble> {
    if !log.open(buf).await? {
        return Ok(false);
    }
    let before = beginning(&mut venue);
    match read_in(log, &mut venue, buf, admin_code).await {
        Ok(true) => Ok(true),
        read => {
            empty(&mut venue, &before);
            read.and(Err(Trouble::Damaged))
        }
    }
}

/// What is sound of the journal that [`restore`] found damaged. The venue is as it was.
pub async fn sound<'m, F: MultiwriteNorFlash>(
    log: &mut Log<F>,
    mut venue: impl Access<Venue<'m>>,
    buf: &mut [u8; FRAME],
) -> Option<Sound> {
    let before = beginning(&mut venue);
    let read = if log.chapter_begin() > 0 { read_in(log, &mut venue, buf, |_| {}).await } else { Ok(false) };
    let sound = venue.with(|venue| Sound {
        league: venue.league_id().number,
        players: u16::try_from(venue.players().len()).unwrap_or(u16::MAX),
        results: venue.results_kept(),
    });
    empty(&mut venue, &before);
    (read == Ok(true)).then_some(sound)
}

/// What an empty venue begins with.
fn beginning<'m>(venue: &mut impl Access<Venue<'m>>) -> [Entry<'static>; 2] {
    venue.with(|venue| [Entry::Origin(venue.origin()), Entry::Settings(venue.settings())])
}

/// Empties a venue. It fits both entries then.
fn empty<'m>(venue: &mut impl Access<Venue<'m>>, before: &[Entry<'static>; 2]) {
    venue.with(|venue| before.iter().for_each(|entry| _ = venue.restore(entry)));
}

/// Reads the last chapter into a venue, as far as it is sound. False where its entries make no sense.
async fn read_in<'m, F: MultiwriteNorFlash>(
    log: &mut Log<F>,
    venue: &mut impl Access<Venue<'m>>,
    buf: &mut [u8; FRAME],
    mut admin_code: impl FnMut(&str),
) -> Result<bool, Trouble> {
    let mut fits = true;
    let fit = &mut fits;
    let read = log.replay(buf, |entries| {
        *fit = venue.with(|venue| take_in(venue, entries, &mut admin_code));
        if *fit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    read.await?;
    Ok(fits)
}

/// Takes the entries of a frame in. False where they make no sense.
fn take_in(venue: &mut Venue<'_>, entries: &[u8], admin_code: &mut impl FnMut(&str)) -> bool {
    let mut from = Reader::new(entries);
    loop {
        match Entry::read(&mut from) {
            Ok(Some(entry)) if venue.restore(&entry).is_err() => return false,
            Ok(Some(Entry::AdminCode(code))) => admin_code(code),
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Whether the beginning of a chapter is complete with these entries.
fn is_open(entries: &[u8]) -> bool {
    let mut from = Reader::new(entries);
    while let Ok(Some(entry)) = Entry::read(&mut from) {
        if matches!(entry, Entry::Open) {
            return true;
        }
    }
    false
}

/// Puts the next facts into flash, in one frame; a chapter in as many as it takes. Says the number of the last, or that
/// there were none.
pub async fn commit<'m, F: MultiwriteNorFlash>(
    log: &mut Log<F>,
    mut venue: impl Access<Venue<'m>>,
    buf: &mut [u8; FRAME],
    admin_code: &str,
) -> Result<Option<u32>, Trouble> {
    let next =
        venue.with(|venue| if venue.has_missed_facts() { Err(Trouble::Overrun) } else { Ok(venue.next_fact(0)) })?;
    let number = match next {
        None => return Ok(None),
        Some((number, Fact::Chapter)) => {
            begin_chapter(log, &mut venue, buf, admin_code).await?;
            number
        }
        Some((number, Fact::Ended)) => {
            write_ending(log, &mut venue, buf).await?;
            number
        }
        Some((number, _)) => {
            let mut last = number;
            let entries = venue.with(|venue| {
                let mut out = Writer::new(buf.get_mut(FRAME_BYTES..).unwrap_or_default());
                let mut ahead = 0_usize;
                while let Some((number, fact)) = venue.next_fact(ahead)
                    && !matches!(fact, Fact::Chapter | Fact::Ended)
                    && venue.write_fact(fact, &mut out).is_ok()
                {
                    last = number;
                    ahead = ahead.saturating_add(1);
                }
                out.len()
            });
            // A fact can have come to nothing: who registered may have left again.
            if entries > 0 {
                log.append(buf, entries).await?;
            }
            last
        }
    };
    venue.with(|venue| venue.facts_are_safe(number));
    Ok(Some(number))
}

/// Writes the beginning of a chapter. Should the box be reset meanwhile, another chapter follows, and this one stays
/// without its end.
async fn begin_chapter<'m, F: MultiwriteNorFlash>(
    log: &mut Log<F>,
    venue: &mut impl Access<Venue<'m>>,
    buf: &mut [u8; FRAME],
    admin_code: &str,
) -> Result<(), Trouble> {
    log.begin_chapter(buf).await?;
    let league = venue.with(|venue| venue.league_id().number);
    let mut at = 0;
    loop {
        let (entries, more, now) = venue.with(|venue| {
            let mut out = Writer::new(buf.get_mut(FRAME_BYTES..).unwrap_or_default());
            let said = at > 0 || Entry::AdminCode(admin_code).write(&mut out).is_ok();
            let more = venue.write_chapter(&mut at, &mut out) || !said || Entry::Open.write(&mut out).is_err();
            (out.len(), more, venue.league_id().number)
        });
        if now != league {
            return Ok(());
        }
        if entries == 0 {
            return Err(Trouble::Overrun);
        }
        log.append(buf, entries).await?;
        if !more {
            log.chapter_is_whole();
            return Ok(());
        }
    }
}

/// Writes how a league ended. Should the box be reset meanwhile, it stays without its end: nobody has been told of it.
async fn write_ending<'m, F: MultiwriteNorFlash>(
    log: &mut Log<F>,
    venue: &mut impl Access<Venue<'m>>,
    buf: &mut [u8; FRAME],
) -> Result<(), Trouble> {
    let league = venue.with(|venue| venue.league_id().number);
    let mut at = 0;
    loop {
        let (entries, more, now) = venue.with(|venue| {
            let mut out = Writer::new(buf.get_mut(FRAME_BYTES..).unwrap_or_default());
            let more = venue.write_ending(&mut at, &mut out);
            (out.len(), more, venue.league_id().number)
        });
        if now != league {
            return Ok(());
        }
        if entries > 0 {
            log.append(buf, entries).await?;
        }
        if !more {
            return Ok(());
        }
    }
}

/// Adds the code that opens what only the owner may do.
async fn keep_code<F: MultiwriteNorFlash>(log: &mut Log<F>, code: &str, buf: &mut [u8; FRAME]) -> Result<(), Trouble> {
    let mut out = Writer::new(buf.get_mut(FRAME_BYTES..).unwrap_or_default());
    // It fits.
    let _ = Entry::AdminCode(code).write(&mut out);
    let entries = out.len();
    log.append(buf, entries).await
}

/// The sectors a whole league takes at most, with some to spare.
pub fn sectors_of_a_league<F: MultiwriteNorFlash>(players: usize, results: usize) -> u32 {
    /// An agent and what its frame takes.
    const AGENT: usize = 232;
    /// A result with some broken rules.
    const RESULT: usize = 56;
    /// A line of the final standings.
    const RANKED: usize = 82;
    let agents = players.saturating_add(8).saturating_mul(AGENT);
    let rest = results.saturating_mul(RESULT).saturating_add(players.saturating_mul(RANKED));
    let sectors = agents.saturating_add(rest).checked_div(Log::<F>::sector_room()).unwrap_or(0);
    u32::try_from(sectors).unwrap_or(u32::MAX).saturating_add(2)
}

impl<B: Board> Appliance<'_, B> {
    /// Reads the journal in `flash` and goes on with the league in it. Before anything else of the box runs.
    pub fn resume<F: MultiwriteNorFlash>(
        &self,
        flash: F,
        buf: &mut [u8; FRAME],
        chosen: Chosen,
    ) -> impl Future<Output = Journal<F>> {
        async move {
            let mut log = Log::new(flash);
            let own_code = self.admin_code.borrow().clone();
            let mut code_is_other = false;
            let restored = restore(&mut log, &self.venue, buf, |code| {
                code_is_other = code != own_code.as_str();
                if !chosen.admin_code {
                    *self.admin_code.borrow_mut() = String::try_from(code).unwrap_or_default();
                }
            });
            let restored = restored.await;
            self.journal.erases.set(log.erases());
            match restored {
                Ok(true) => {
                    self.resume_venue(chosen);
                    if code_is_other
                        && chosen.admin_code
                        && let Err(trouble) = keep_code(&mut log, &own_code, buf).await
                    {
                        self.journal_failed(trouble);
                    }
                }
                Ok(false) => {
                    self.journal.set(State::Ok);
                    self.act(|venue, _| venue.keep_facts());
                }
                Err(trouble) => {
                    *self.admin_code.borrow_mut() = own_code;
                    self.journal_failed(trouble);
                    if trouble == Trouble::Damaged {
                        let sound = sound(&mut log, &self.venue, buf).await;
                        self.journal.sound.set(sound);
                    }
                }
            }
            self.look_back(&mut log, buf).await;
            Journal { log, film: None }
        }
    }

    /// Looks whether leagues of the past are as they were written. What cannot be read is not.
    async fn look_back<F: MultiwriteNorFlash>(&self, log: &mut Log<F>, buf: &mut [u8; FRAME]) {
        let is_sound = log.past_is_sound(buf).await.unwrap_or(false);
        self.journal.past_is_damaged.set(!is_sound);
    }

    /// The venue has been restored: it goes on.
    fn resume_venue(&self, chosen: Chosen) {
        self.journal.written.set(self.venue(Venue::facts));
        self.journal.set(State::Ok);
        if !self.venue(|venue| venue.stage() == Stage::Waiting && venue.players().is_empty()) {
            let calendar = self.calendar();
            let now = self.board.now();
            self.journal.resumed.set(Some(now));
            self.journal.resumed_at.set((calendar.source(), calendar.at(now)));
        }
        self.act(|venue, now| {
            venue.resume(now);
            if chosen.settings != Change::default() {
                // Where a league is under way, its players came for what is set; the rest may change.
                if venue.configure(now, chosen.settings).is_err() {
                    let _ = venue.configure(now, chosen.settings.harmless());
                }
            }
        });
    }

    /// Keeps the steps of matches beside the journal, in a flash of their own. While the journal cannot be used that flash is
    /// left alone: it may hold a part of what the owner was promised to keep until the next reset.
    pub async fn resume_film<F: MultiwriteNorFlash>(
        &self,
        journal: Journal<F>,
        flash: F,
        buf: &mut [u8; FRAME],
    ) -> Journal<F> {
        let mut film = Some(Log::new(flash));
        if self.journal() == State::Ok {
            self.open_film(&mut film, buf).await;
        }
        Journal { film, ..journal }
    }

    /// There is no flash to keep a journal in: the box says why.
    pub fn without_journal(&self, why: &'static str) {
        self.journal_failed(Trouble::NoFlash(why));
    }

    /// How it goes with the journal.
    pub fn journal(&self) -> State {
        self.journal.state.get()
    }

    /// Erases so far, of all sectors together.
    pub fn journal_erases(&self) -> u32 {
        self.journal.erases.get()
    }

    /// What is told of it.
    pub(crate) fn kept(&self) -> Kept {
        Kept {
            state: self.journal(),
            sound: self.journal_sound(),
            past_is_damaged: self.journal.past_is_damaged.get(),
            erases: self.journal_erases(),
            resumed_at: self.resumed_at(),
        }
    }

    /// Whether something in the flash of leagues of the past is not as it was written.
    pub fn journal_past_is_damaged(&self) -> bool {
        self.journal.past_is_damaged.get()
    }

    /// What of a damaged journal the owner can recover.
    pub fn journal_sound(&self) -> Option<Sound> {
        self.journal.sound.get()
    }

    /// When the box went on with a league after a restart, if it did. Better known once the time of day is; otherwise it
    /// stands still, for whatever changes is told to everybody who watches.
    pub fn resumed_at(&self) -> Option<Utc> {
        let (at, (source, utc)) = (self.journal.resumed.get()?, self.journal.resumed_at.get());
        let calendar = self.calendar();
        if calendar.source() <= source {
            return Some(utc);
        }
        let utc = calendar.then(at);
        self.journal.resumed_at.set((calendar.source(), utc));
        Some(utc)
    }

    /// What the owner authorizes with.
    pub fn admin_code(&self) -> String<64> {
        self.admin_code.borrow().clone()
    }

    /// Keeps the journal, for ever. Run one.
    pub async fn keep_journal<F: MultiwriteNorFlash>(&self, journal: &mut Journal<F>, buf: &mut [u8; FRAME]) -> ! {
        let Journal { log, film } = journal;
        loop {
            self.answer(Some(log), film, buf).await;
            if self.journal() != State::Ok {
                match self.journal.decision.take() {
                    Decision::Reset => self.begin_again(log, film, buf).await,
                    Decision::Recover => self.recover(log, film, buf).await,
                    Decision::Nothing if self.spool(film, buf).await => {}
                    Decision::Nothing => self.journal.bell.wait().await,
                }
                continue;
            }
            if !self.keep_facts(log, buf).await && !self.spool(film, buf).await {
                self.erase_ahead_or_wait(log, film, buf).await;
            }
            self.journal.erases.set(log.erases());
        }
    }

    /// Writes what has happened. False where nothing has.
    pub(super) async fn keep_facts<F: MultiwriteNorFlash>(&self, log: &mut Log<F>, buf: &mut [u8; FRAME]) -> bool {
        let code = self.admin_code();
        match commit(log, &self.venue, buf, &code).await {
            Ok(Some(number)) => {
                self.journal.written.set(number);
                self.journal.wake();
                // The league may have waited for room.
                self.act(|venue, now| venue.handle(now, Event::Tick));
            }
            Ok(None) => return false,
            Err(trouble) => self.journal_failed(trouble),
        }
        true
    }

    /// Waits for something to do. If that takes a while, what was written last is marked as whole meanwhile.
    async fn seal_and_wait<F: MultiwriteNorFlash>(&self, log: &mut Log<F>) {
        /// A league that goes on needs no marks: every frame is the mark of the one before it.
        const WHILE_MS: u64 = 200;
        let bell = &self.journal.bell;
        if log.is_sealed() {
            bell.wait().await;
        } else if let Either::Second(()) = select(bell.wait(), self.board.sleep_until(self.board.after(WHILE_MS))).await
            && let Err(trouble) = log.seal().await
        {
            self.journal_failed(trouble);
        }
    }

    /// Nothing is to be written: an erase does no harm unless a match is being played.
    async fn erase_ahead_or_wait<F: MultiwriteNorFlash>(
        &self,
        log: &mut Log<F>,
        film: &mut Option<Log<F>>,
        buf: &mut [u8; FRAME],
    ) {
        let (players, results) = self.venue(|venue| (venue.capacity(), venue.room_for_results()));
        let wanted = sectors_of_a_league::<F>(players, results);
        if log.chapter_sectors() > wanted && self.venue(|venue| venue.stage() == Stage::Waiting) {
            // Players came and went, and a league needs the room. What is left of them is said anew, and takes little.
            return self.act(|venue, _| venue.keep_facts());
        }
        let is_quiet = self.venue(|venue| venue.tables().next().is_none());
        match if is_quiet { log.prepare(wanted, buf).await } else { Ok(false) } {
            Ok(true) => embassy_futures::yield_now().await,
            Ok(false) if is_quiet && self.prepare_film(film, buf).await => embassy_futures::yield_now().await,
            Ok(false) => self.seal_and_wait(log).await,
            Err(trouble) => self.journal_failed(trouble),
        }
    }

    /// The owner has reset a box whose journal could not be read or kept: it is overwritten.
    async fn begin_again<F: MultiwriteNorFlash>(
        &self,
        log: &mut Log<F>,
        film: &mut Option<Log<F>>,
        buf: &mut [u8; FRAME],
    ) {
        match log.format().await {
            Ok(()) => {
                self.journal.sound.set(None);
                self.journal.past_is_damaged.set(false);
                if !self.journal.has_film.get() {
                    self.open_film(film, buf).await;
                }
                self.journal.written.set(self.venue(Venue::facts));
                self.journal.set(State::Ok);
                self.act(|venue, _| venue.keep_facts());
            }
            Err(trouble) => self.journal_failed(trouble),
        }
    }

    /// The owner goes on with what is sound of a damaged journal, and with the code that opened the box for that.
    async fn recover<F: MultiwriteNorFlash>(&self, log: &mut Log<F>, film: &mut Option<Log<F>>, buf: &mut [u8; FRAME]) {
        let code = self.admin_code();
        let recovered = async {
            log.recover(buf).await?;
            keep_code(log, &code, buf).await?;
            restore(log, &self.venue, buf, |_| {}).await
        };
        match recovered.await {
            Ok(_) => {
                self.journal.sound.set(None);
                self.look_back(log, buf).await;
                if !self.journal.has_film.get() {
                    self.open_film(film, buf).await;
                }
                self.resume_venue(Chosen::default());
                // Others may be on the lines now.
                self.venue(|venue| self.slots.all_changed(|player| lines::has_call(venue, player)));
            }
            Err(trouble) => self.journal_failed(trouble),
        }
    }

    fn journal_failed(&self, trouble: Trouble) {
        self.venue.borrow_mut().keep_no_facts();
        self.journal.decision.set(Decision::Nothing);
        self.journal.set(State::Failed(trouble));
    }

    /// Waits until everything that has happened so far is in flash. Before anything leaves the box.
    pub(crate) async fn safe(&self) {
        self.speeches_are_kept().await;
        let number = self.venue(Venue::facts);
        self.wait_for_journal(|| has_reached(self.journal.written.get(), number)).await;
    }

    /// Waits until there is room for what an input may lead to. Before every input.
    pub(crate) async fn room(&self) {
        // Steps of matches have no promise, but a chance to be taken before there are more of them: whoever is woken in one
        // round of the executor runs in the next.
        let mut rounds = 0..2u8;
        while self.journal.has_film.get() && self.venue(Venue::has_steps) && rounds.next().is_some() {
            embassy_futures::yield_now().await;
        }
        self.speeches_are_kept().await;
        self.wait_for_journal(|| self.venue(Venue::has_room_for_facts)).await;
    }

    /// Waits until all that was said at length is on film. What is acknowledged is safe, and the next speech has its room.
    async fn speeches_are_kept(&self) {
        while self.journal.has_film.get() && self.venue(Venue::has_speeches) {
            self.journal.bell.signal(());
            embassy_futures::yield_now().await;
        }
    }

    async fn wait_for_journal(&self, is_there: impl Fn() -> bool) {
        poll_fn(|context| {
            if self.journal() != State::Ok || is_there() {
                return Poll::Ready(());
            }
            self.journal.wait(context.waker());
            Poll::Pending
        })
        .await;
    }
}
