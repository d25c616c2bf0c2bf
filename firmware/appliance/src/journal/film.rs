//! The film in flash: the steps of matches ([`protocol_core::venue::Replay`]), in a ring of their own beside the journal's.
//!
//! It is a log as the journal is one, and a power cut costs it no more than the last frame; but every sector is a chapter, so
//! that nothing is kept for long: the oldest steps are erased for the newest. It is a convenience: nobody waits for it, and
//! one that fails is given up without a word.
//!
//! Whoever wants to look at a match again asks for the game after a step. What was answered last stays where it is, so
//! that the next step is one step away and not a whole match.

use core::fmt::Write as _;
use core::ops::ControlFlow;

use embassy_futures::yield_now;
use embedded_storage_async::nor_flash::MultiwriteNorFlash;
use heapless::String;
use protocol_core::games::MAX_SEATS;
use protocol_core::ids::MatchId;
use protocol_core::journal::bytes::{Reader, Writer};
use protocol_core::journal::frame::FRAME_BYTES;
use protocol_core::venue::{Deed, FilmId, MOVE_BYTES, Replay, Shot, Step, Venue};

use super::log::{FIRST, behind, said};
use super::past::Found;
use super::{Access, FRAME, Log, State, Trouble};
use crate::Appliance;
use crate::board::Board;

/// The part of the ring that is erased ahead, while nobody plays.
const AHEAD: u32 = 8;

/// Where in the flash a step is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    sector: u32,
    /// The frame it is in.
    at: u32,
    /// What stands before it there.
    skip: usize,
}

impl Place {
    fn beginning_of(sector: u32) -> Self {
        Self { sector, at: FIRST, skip: 0 }
    }
}

/// A match that is being looked at, and where its next step is at the earliest.
pub(crate) struct Playback {
    pub replay: Replay,
    next: Place,
}

/// What a step that is neither a move nor an end tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Nothing,
    /// A part of what the last move said at length.
    Says,
    /// What it is about.
    Topic,
    /// The votes for each seat, as JSON.
    Votes,
}

/// One step of a match, as it is in flash.
pub(crate) struct Scene {
    pub shot: Shot,
    pub beside: Beside,
    /// The move, as JSON; or the words that are beside it.
    pub made: String<MOVE_BYTES>,
    /// Where the next one is at the earliest.
    pub next: Place,
}

impl Scene {
    fn of(step: &Step<'_>, next: Place) -> Self {
        let mut votes = String::<{ 6 * MAX_SEATS + 2 }>::new();
        if let Deed::Voted(of, _) = step.deed {
            let _ = of
                .iter()
                .enumerate()
                .try_for_each(|(seat, count)| write!(votes, "{}{count}", if seat == 0 { "[" } else { "," }));
            let _ = votes.push(']');
        }
        let (seat, late, ended, made) = match step.deed {
            Deed::Moved { seat, made, late, .. } => (Some(seat), late, None, made),
            Deed::Says(seat, part) => (Some(seat), false, None, part),
            Deed::About(topic) => (None, false, None, topic),
            Deed::Voted(..) => (None, false, None, &*votes),
            Deed::Ended(against) => (None, false, Some(against), ""),
        };
        let beside = match step.deed {
            Deed::Says(..) => Beside::Says,
            Deed::About(_) => Beside::Topic,
            Deed::Voted(..) => Beside::Votes,
            _ => Beside::Nothing,
        };
        let shot = Shot { step: step.number, at_ms: step.at_ms, seat, late, ended };
        // Whatever was written fits.
        Self { shot, beside, made: String::try_from(made).unwrap_or_default(), next }
    }
}

impl<F: MultiwriteNorFlash> Log<F> {
    /// Opens a film. One that cannot be read is begun anew.
    pub async fn open_film(&mut self, buf: &mut [u8; FRAME]) -> Result<(), Trouble> {
        match self.open(buf).await {
            Ok(_) => Ok(()),
            Err(_) => self.format().await,
        }
    }

    /// The place of the first step of a match, if it is there still. `pause` is called where others may have a turn, and may
    /// write; what it overwrites is not there any more.
    pub async fn first_step(
        &mut self,
        of: FilmId,
        buf: &mut [u8; FRAME],
        mut pause: impl AsyncFnMut(&mut Self, &mut [u8; FRAME]) -> Result<(), Trouble>,
    ) -> Result<Option<Place>, Trouble> {
        let Some(newest) = self.newest_sector() else { return Ok(None) };
        // Mostly it is a match of this hour.
        for sector in (newest.saturating_add(1).saturating_sub(self.sectors())..=newest).rev() {
            let (mut place, mut found) = (Place::beginning_of(sector), None);
            while let Some(entries) = self.frame(sector, place.at, buf).await? {
                let mut from = steps(buf, entries, 0);
                let mut skip = 0;
                while let Ok(Some(step)) = Step::read(&mut from) {
                    if step.of == of && step.number == 1 {
                        found = Some(Place { skip, ..place });
                    }
                    skip = entries.saturating_sub(from.left());
                }
                place.at = behind(place.at, entries);
            }
            if found.is_some() {
                return Ok(found);
            }
            pause(self, buf).await?;
        }
        Ok(None)
    }

    /// Hands steps to `take`, from a place on and until it breaks; `place` is then behind the last. False where there are no
    /// more. `pause` is as above.
    pub async fn steps(
        &mut self,
        place: &mut Place,
        buf: &mut [u8; FRAME],
        mut take: impl FnMut(&Step<'_>) -> ControlFlow<()>,
        mut pause: impl AsyncFnMut(&mut Self, &mut [u8; FRAME]) -> Result<(), Trouble>,
    ) -> Result<bool, Trouble> {
        let Some(newest) = self.newest_sector() else { return Ok(false) };
        loop {
            while let Some(entries) = self.frame(place.sector, place.at, buf).await? {
                let mut from = steps(buf, entries, place.skip);
                while let Ok(Some(step)) = Step::read(&mut from) {
                    if take(&step).is_break() {
                        place.skip = entries.saturating_sub(from.left());
                        return Ok(true);
                    }
                }
                (place.at, place.skip) = (behind(place.at, entries), 0);
                pause(self, buf).await?;
            }
            if place.sector >= newest {
                return Ok(false);
            }
            *place = Place::beginning_of(place.sector.saturating_add(1));
            pause(self, buf).await?;
        }
    }

    /// Begins a sector of a film.
    async fn begin_film(&mut self, buf: &mut [u8; FRAME]) -> Result<(), Trouble> {
        self.begin_chapter(buf).await?;
        self.append_open(buf).await?;
        self.chapter_is_whole();
        Ok(())
    }
}

/// The steps of the frame in `buf`, without the first `skip` bytes.
fn steps(buf: &[u8; FRAME], entries: usize, skip: usize) -> Reader<'_> {
    Reader::new(said(buf, entries).get(skip..).unwrap_or_default())
}

/// Puts steps that wait in the venue into flash, if they are worth it. False where there was nothing to do.
pub async fn spool<'m, F: MultiwriteNorFlash>(
    film: &mut Log<F>,
    mut venue: impl Access<Venue<'m>>,
    buf: &mut [u8; FRAME],
) -> Result<bool, Trouble> {
    if !venue.with(|venue| venue.has_steps()) {
        return Ok(false);
    }
    loop {
        let room = film.room();
        let entries = venue.with(|venue| {
            let entries = buf.get_mut(FRAME_BYTES..);
            let mut out = Writer::new(entries.and_then(|entries| entries.get_mut(..room)).unwrap_or_default());
            venue.take_steps(&mut out);
            out.len()
        });
        if entries > 0 {
            film.append(buf, entries).await?;
            return Ok(true);
        }
        film.begin_film(buf).await?;
    }
}

impl<B: Board> Appliance<'_, B> {
    /// Keeps the film for ever where there is no journal. Run one, or [`Appliance::keep_journal`].
    pub async fn keep_film<F: MultiwriteNorFlash>(&self, flash: F, buf: &mut [u8; FRAME]) -> ! {
        let mut film = Some(Log::new(flash));
        self.open_film(&mut film, buf).await;
        loop {
            self.answer(None, &mut film, buf).await;
            if !self.spool(&mut film, buf).await {
                self.journal.bell.wait().await;
            }
        }
    }

    /// Finds what is left of the last film. Nothing is kept before.
    pub(super) async fn open_film<F: MultiwriteNorFlash>(&self, film: &mut Option<Log<F>>, buf: &mut [u8; FRAME]) {
        let Some(log) = film else { return };
        let opened = log.open_film(buf).await.map(|()| true);
        let is_there = self.keep_or_drop(film, opened);
        self.journal.has_film.set(is_there);
    }

    /// Writes steps, if there are any. A film that fails is given up.
    pub(super) async fn spool<F: MultiwriteNorFlash>(&self, film: &mut Option<Log<F>>, buf: &mut [u8; FRAME]) -> bool {
        let Some(log) = film.as_mut().filter(|_| self.journal.has_film.get()) else { return false };
        let written = spool(log, &self.venue, buf).await;
        self.keep_or_drop(film, written)
    }

    /// Nobody plays: erases a sector ahead of time. False where there is nothing to do.
    pub(super) async fn prepare_film<F: MultiwriteNorFlash>(
        &self,
        film: &mut Option<Log<F>>,
        buf: &mut [u8; FRAME],
    ) -> bool {
        let Some(log) = film else { return false };
        let prepared = log.prepare(log.sectors() / AHEAD, buf).await;
        self.keep_or_drop(film, prepared)
    }

    fn keep_or_drop<F>(&self, film: &mut Option<Log<F>>, done: Result<bool, Trouble>) -> bool {
        done.unwrap_or_else(|_| {
            *film = None;
            self.journal.has_film.set(false);
            false
        })
    }

    /// Brings the [`Playback`] of a match that is over to a step, or as far as it goes. False where it does not get there.
    pub(super) async fn wind<F: MultiwriteNorFlash>(
        &self,
        (id, to): (MatchId, u16),
        mut log: Option<&mut Log<F>>,
        film: &mut Log<F>,
        buf: &mut [u8; FRAME],
    ) -> Result<bool, Trouble> {
        let told = &self.journal.counter.told;
        let Some(of) = self.film_of(id) else { return Ok(false) };
        let mut pause =
            async |film: &mut Log<F>, buf: &mut [u8; FRAME]| self.pause(log.as_deref_mut(), film, buf).await;
        // Whoever wants all of it begins anew, for the beginning may be erased by now.
        let is_on_the_way = |film: &Playback| film.replay.of == of && film.replay.shot.step <= to && to != u16::MAX;
        if !matches!(&*told.borrow(), Found::Playback(film) if is_on_the_way(film)) {
            let Some(next) = film.first_step(of, buf, &mut pause).await? else { return Ok(false) };
            let Some(replay) = self.venue(|venue| venue.replay_of(id)) else { return Ok(false) };
            *told.borrow_mut() = Found::Playback(Playback { replay, next });
        }
        let is_there = |replay: &Replay| replay.shot.step >= to || replay.shot.ended.is_some();
        let next = match &*told.borrow() {
            Found::Playback(film) if !is_there(&film.replay) => Some(film.next),
            _ => None,
        };
        if let Some(mut next) = next {
            let follow = |step: &Step<'_>| match &mut *told.borrow_mut() {
                Found::Playback(Playback { replay, .. }) if step.of == of => match replay.follow(step) {
                    Ok(()) if !is_there(replay) => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                },
                _ => ControlFlow::Continue(()),
            };
            film.steps(&mut next, buf, follow, &mut pause).await?;
            if let Found::Playback(film) = &mut *told.borrow_mut() {
                film.next = next;
            }
        }
        let reached = match &*told.borrow() {
            Found::Playback(film) if film.replay.of == of => film.replay.shot.step,
            _ => return Ok(false),
        };
        Ok(reached == to || to == u16::MAX)
    }

    /// Finds a [`Scene`] of a match: behind so many others, from a place on, or from the first one where none is given. What is said at
    /// length is among them where `speeches` are asked for.
    pub(super) async fn find_scene<F: MultiwriteNorFlash>(
        &self,
        (of, from, mut skip, speeches): (FilmId, Option<Place>, u16, bool),
        mut log: Option<&mut Log<F>>,
        film: &mut Log<F>,
        buf: &mut [u8; FRAME],
    ) -> Result<bool, Trouble> {
        let told = &self.journal.counter.told;
        let mut pause =
            async |film: &mut Log<F>, buf: &mut [u8; FRAME]| self.pause(log.as_deref_mut(), film, buf).await;
        let from = match from {
            None => film.first_step(of, buf, &mut pause).await?,
            from => from,
        };
        let Some(mut next) = from else { return Ok(false) };
        let take = |step: &Step<'_>| {
            if step.of != of || !speeches && matches!(step.deed, Deed::Says(..)) {
                return ControlFlow::Continue(());
            }
            if let Some(left) = skip.checked_sub(1) {
                skip = left;
                return ControlFlow::Continue(());
            }
            *told.borrow_mut() = Found::Scene(Scene::of(step, Place::beginning_of(0)));
            ControlFlow::Break(())
        };
        let is_found = film.steps(&mut next, buf, take, &mut pause).await?;
        if let Found::Scene(scene) = &mut *told.borrow_mut() {
            scene.next = next;
        }
        Ok(is_found)
    }

    /// To look for a match takes as long as many moves take, and whoever makes them must not wait for it: others have a turn,
    /// and what has happened is kept.
    async fn pause<F: MultiwriteNorFlash>(
        &self,
        log: Option<&mut Log<F>>,
        film: &mut Log<F>,
        buf: &mut [u8; FRAME],
    ) -> Result<(), Trouble> {
        yield_now().await;
        if let Some(log) = log.filter(|_| self.journal() == State::Ok) {
            self.keep_facts(log, buf).await;
        }
        spool(film, &self.venue, buf).await.map(|_| ())
    }

    pub(super) fn film_of(&self, id: MatchId) -> Option<FilmId> {
        self.venue(|venue| venue.revealed_seed(id)).map(FilmId::of)
    }
}
