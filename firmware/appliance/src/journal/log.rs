//! An append-only log in NOR flash: a ring of sectors, each with a header, then frames
//! ([`protocol_core::journal::frame`]).
//!
//! Sectors are numbered in the order they are begun and number n stands at place n modulo their count, so wear is even
//! by construction. A frame is programmed once, in one go, read back, and never touched again; one that a power cut tore
//! is left where it is, and the log goes on in the next sector. What else is not as it was written is damage, wherever it
//! is: a sector that does not end where the next one says, or a last frame that was marked as whole ([`Log::seal`]).
//!
//! Sectors are given out to *chapters*; all sectors of the last whole chapter are kept, those before it are erased from
//! the oldest on as room is needed: ahead of time while nobody waits ([`Log::prepare`]), or else when the log gets there.
//!
//! Why not `sequential-storage`: its queue decides by itself when to erase, which on the board stops everything for a
//! twentieth of a second and must not happen in a match; it finds its place by looking at every page, or by a cache of a
//! kilobyte and a half for 256 pages; it drops the oldest items one by one, where we drop leagues; and it repairs what it
//! cannot read, where we must tell the owner and keep it. What is left of it for us is the framing: a checksum and a
//! length.

use core::fmt;
use core::ops::ControlFlow;

use embedded_storage_async::nor_flash::MultiwriteNorFlash;
use protocol_core::journal::Entry;
use protocol_core::journal::bytes::Writer;
use protocol_core::journal::frame::{self, ALIGN, FRAME_BYTES, HEADER_BYTES, Header, Mark};

/// The largest frame, and the buffer that everything here works in. A registration takes up to 306 bytes, a result up to
/// 210 and mostly 30.
pub const FRAME: usize = 1024;

/// Where the first frame of a sector is.
#[expect(clippy::cast_possible_truncation, reason = "24 bytes")]
pub(super) const FIRST: u32 = HEADER_BYTES as u32;

/// Fewer sectors than this are no ring.
const MIN_SECTORS: u32 = 4;

/// Why a journal cannot be read or kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is no flash to keep it in, and why.
    NoFlash(&'static str),
    /// There is too little flash.
    TooSmall,
    /// It was written by another version.
    OtherVersion(u8),
    /// What is in the flash is not a journal.
    NotAJournal,
    /// It is a journal, but something in it is not as it was written.
    Damaged,
    /// One league has taken all the room there is.
    Full,
    /// The flash cannot be read.
    Read,
    /// The flash does not keep what is written.
    Write,
    /// The flash cannot be erased.
    Erase,
    /// More happened than could be written.
    Overrun,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NoFlash(why) => f.write_str(why),
            Trouble::TooSmall => f.write_str("the flash is too small"),
            Trouble::OtherVersion(version) => {
                write!(
                    f,
                    "it was written by another version of LeagueBox (format {version}, this is {})",
                    frame::VERSION
                )
            }
            Trouble::NotAJournal => f.write_str("what is in the flash is not a journal"),
            Trouble::Damaged => f.write_str("it is damaged"),
            Trouble::Full => f.write_str("it is full"),
            Trouble::Read => f.write_str("the flash cannot be read"),
            Trouble::Write => f.write_str("the flash does not keep what is written"),
            Trouble::Erase => f.write_str("the flash cannot be erased"),
            Trouble::Overrun => f.write_str("more happened than could be written"),
        }
    }
}

impl core::error::Error for Trouble {}

/// Where the next frame of a sector is, behind one at `at`.
pub(super) fn behind(at: u32, entries: usize) -> u32 {
    at.saturating_add(u32::try_from(frame::length_of(entries)).unwrap_or(u32::MAX))
}

/// The entries of the frame in `buf`.
pub(super) fn said(buf: &[u8; FRAME], entries: usize) -> &[u8] {
    buf.get(FRAME_BYTES..).and_then(|said| said.get(..entries)).unwrap_or_default()
}

/// The sector that is being filled.
#[derive(Clone, Copy, Debug)]
struct Head {
    number: u32,
    chapter: u32,
    /// Where its frames end.
    end: u32,
    /// Where its last frame begins, as long as that is not marked as whole.
    unmarked: Option<u32>,
    /// Whether nothing may be added to it any more.
    is_spent: bool,
}

/// How the newest sector ends.
struct Tail {
    /// Where its frames end.
    end: u32,
    /// Its last frame, if that is not marked.
    unmarked: Option<u32>,
    /// Something else stands behind them.
    is_torn: bool,
    /// And that was a frame.
    is_damaged: bool,
}

/// The log in a flash.
pub struct Log<F> {
    flash: F,
    head: Option<Head>,
    /// The last chapter that is whole.
    chapter: Option<u32>,
    /// Sectors behind the head that are known to be blank.
    ahead: u32,
    erases: u32,
    /// Bytes of frames that were read since somebody last asked.
    read: usize,
}

impl<F: MultiwriteNorFlash> Log<F> {
    #[expect(clippy::cast_possible_truncation, reason = "32 KB at most")]
    const SECTOR: u32 = {
        assert!(F::ERASE_SIZE >= 2 * FRAME && F::ERASE_SIZE <= 32_768, "a sector of 2 to 32 KB");
        assert!(ALIGN.is_multiple_of(F::WRITE_SIZE) && ALIGN.is_multiple_of(F::READ_SIZE), "words of 1, 2 or 4 bytes");
        F::ERASE_SIZE as u32
    };

    /// A log that has not been looked at: [`Log::open`] comes next, or [`Log::format`].
    pub fn new(flash: F) -> Self {
        Self { flash, head: None, chapter: None, ahead: 0, erases: 0, read: 0 }
    }

    /// The flash it is in.
    pub fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    /// The flash again.
    pub fn into_flash(self) -> F {
        self.flash
    }

    /// How many sectors there are.
    pub fn sectors(&self) -> u32 {
        let sectors = self.flash.capacity().checked_div(F::ERASE_SIZE).unwrap_or(0);
        u32::try_from(sectors).unwrap_or(u32::MAX)
    }

    /// Erases so far, of all sectors together, as far as headers tell.
    pub fn erases(&self) -> u32 {
        self.erases
    }

    /// The bytes of a sector that hold frames.
    pub const fn sector_room() -> usize {
        F::ERASE_SIZE.saturating_sub(HEADER_BYTES)
    }

    /// Finds the last whole chapter and the place to go on. False where there is none yet. On [`Trouble::Damaged`] the
    /// chapter is the last one that begins whole, and [`Log::replay`] hands out what is sound of it.
    pub async fn open(&mut self, buf: &mut [u8; FRAME]) -> Result<bool, Trouble> {
        if self.sectors() < MIN_SECTORS {
            return Err(Trouble::TooSmall);
        }
        let Some((newest, is_last)) = self.newest(buf).await? else { return Ok(false) };
        self.erases = newest.erases;
        let tail = self.tail_of(newest.number, buf).await?;
        let mut is_sound = is_last && !tail.is_damaged;
        let mut chapter = Some(newest.chapter);
        while let Some(number) = chapter {
            if self.is_whole(number, newest.number, buf).await? {
                break;
            }
            // The power was cut as it began: the one before it goes on. It is there, or else there was none.
            let before = self.header_before(number, newest.number).await?;
            is_sound &= before.map_or(0, |header| header.number) == number.saturating_sub(1);
            chapter = before.map(|header| header.chapter);
        }
        let first = chapter.unwrap_or(self.oldest(newest.number));
        is_sound &= self.is_sound_from(first, newest.number, buf).await?;
        let is_spent = tail.is_torn || !is_sound || chapter != Some(newest.chapter);
        let of = chapter.unwrap_or(newest.chapter);
        let Tail { end, unmarked, .. } = tail;
        self.head = Some(Head { number: newest.number, chapter: of, end, unmarked, is_spent });
        self.chapter = chapter;
        if is_sound { Ok(chapter.is_some()) } else { Err(Trouble::Damaged) }
    }

    /// Hands every frame of the chapter that [`Log::open`] found to `take`, in order, until it has enough or something is
    /// not as it was written.
    pub async fn replay(
        &mut self,
        buf: &mut [u8; FRAME],
        mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), Trouble> {
        let (Some(head), Some(chapter)) = (self.head, self.chapter) else { return Ok(()) };
        for number in chapter..=head.number {
            let Some(header) = self.header(number).await? else { break };
            if header.chapter != chapter {
                continue;
            }
            let mut is_enough = false;
            let enough = &mut is_enough;
            let end = self.walk(number, buf, |entries| {
                let flow = take(entries);
                *enough = flow.is_break();
                flow
            });
            let end = end.await?;
            if is_enough || !self.ends_at(number, end, head.number).await? {
                break;
            }
        }
        Ok(())
    }

    /// Says what is sound of a damaged chapter once more, in a chapter of its own. Nothing else is changed; as long as it is
    /// not whole, the damaged one stays the last.
    pub async fn recover(&mut self, buf: &mut [u8; FRAME]) -> Result<(), Trouble> {
        let (Some(head), Some(chapter)) = (self.head, self.chapter) else { return Err(Trouble::Damaged) };
        self.begin_chapter(buf).await?;
        for number in chapter..=head.number {
            let Some(header) = self.header(number).await? else { break };
            if header.chapter != chapter {
                continue;
            }
            let mut at = FIRST;
            while let Some(entries) = self.frame(number, at, buf).await? {
                at = behind(at, entries);
                // What makes it whole is said when all the rest has been. It is the last of its frame.
                let entries = entries.saturating_sub(super::is_open(said(buf, entries)).into());
                if entries > 0 {
                    self.append(buf, entries).await?;
                }
            }
            if !self.ends_at(number, at, head.number).await? {
                break;
            }
        }
        self.append_open(buf).await?;
        self.chapter_is_whole();
        Ok(())
    }

    /// The last word of a chapter's beginning.
    pub(super) async fn append_open(&mut self, buf: &mut [u8; FRAME]) -> Result<(), Trouble> {
        let mut out = Writer::new(buf.get_mut(FRAME_BYTES..).unwrap_or_default());
        // It fits.
        let _ = Entry::Open.write(&mut out);
        let entries = out.len();
        self.append(buf, entries).await
    }

    /// Begins a chapter, in a sector of its own. It counts once [`Log::chapter_is_whole`] is said.
    pub async fn begin_chapter(&mut self, buf: &mut [u8; FRAME]) -> Result<(), Trouble> {
        self.turn(true, buf).await
    }

    /// All of the chapter's beginning is in: those before it may be erased.
    pub fn chapter_is_whole(&mut self) {
        self.chapter = self.head.map(|head| head.chapter);
    }

    /// Adds a frame: the entries stand in `buf` behind the first [`frame::FRAME_BYTES`]. When this returns they are in
    /// flash.
    pub async fn append(&mut self, buf: &mut [u8; FRAME], entries: usize) -> Result<(), Trouble> {
        let fits = |head: &Head| !head.is_spent && behind(head.end, entries) <= Self::SECTOR;
        if !self.head.as_ref().is_some_and(fits) {
            // The entries are in the only buffer there is: turning must not use it.
            self.turn(false, &mut [0; 64]).await?;
        }
        let Some(mut head) = self.head else { return Err(Trouble::Write) };
        let frame = frame::seal(buf, entries, head.number).ok_or(Trouble::Write)?;
        // Whatever happens now, these bytes are no longer blank.
        self.head = Some(Head { is_spent: true, ..head });
        self.program(self.place(head.number, head.end), frame).await?;
        head.unmarked = Some(head.end);
        head.end = behind(head.end, entries);
        self.head = Some(head);
        Ok(())
    }

    /// Marks the last frame as whole, so that damage to it is never taken for a power cut. To those before it the next one
    /// is the mark. Nobody needs to wait for this.
    pub async fn seal(&mut self) -> Result<(), Trouble> {
        let Some(head) = &mut self.head else { return Ok(()) };
        let (number, Some(at)) = (head.number, head.unmarked.take()) else { return Ok(()) };
        let at = self.place(number, at);
        self.flash.write(at, &frame::STRUCK).await.map_err(|_| Trouble::Write)
    }

    /// Whether that is done.
    pub fn is_sealed(&self) -> bool {
        self.head.is_none_or(|head| head.unmarked.is_none())
    }

    /// The most bytes of entries for which the next frame stays in this sector.
    pub(super) fn room(&self) -> usize {
        let left =
            self.head.filter(|head| !head.is_spent).map_or(0, |head| Self::SECTOR.saturating_sub(head.end)) as usize;
        left.min(FRAME).saturating_sub(frame::FRAME_BYTES)
    }

    /// Erases one sector ahead of time, if fewer than `wanted` are blank. False when there is nothing to do.
    pub async fn prepare(&mut self, wanted: u32, buf: &mut [u8; FRAME]) -> Result<bool, Trouble> {
        let Some(head) = self.head else { return Ok(false) };
        let number = head.number.saturating_add(1).saturating_add(self.ahead);
        if self.ahead >= wanted || self.is_kept(number) {
            return Ok(false);
        }
        self.make_blank(number, buf).await?;
        self.ahead = self.ahead.saturating_add(1);
        Ok(true)
    }

    /// Gives up all there is and begins anew. Sectors are struck out, which is quick, and erased when their turn comes.
    pub async fn format(&mut self) -> Result<(), Trouble> {
        if self.sectors() < MIN_SECTORS {
            return Err(Trouble::TooSmall);
        }
        for place in 0..self.sectors() {
            let at = place.saturating_mul(Self::SECTOR);
            if self.mark(at).await? != Mark::Blank {
                self.flash.write(at, &[0; HEADER_BYTES]).await.map_err(|_| Trouble::Write)?;
            }
        }
        (self.head, self.chapter, self.ahead) = (None, None, 0);
        Ok(())
    }

    /// Where in the flash a byte of a sector is.
    fn place(&self, number: u32, at: u32) -> u32 {
        number.checked_rem(self.sectors()).unwrap_or(0).saturating_mul(Self::SECTOR).saturating_add(at)
    }

    /// Whether the sector that a new number would take belongs to what must be kept.
    fn is_kept(&self, number: u32) -> bool {
        let first = self.chapter.or(self.head.map(|head| head.chapter));
        first.is_some_and(|first| number.saturating_sub(first) >= self.sectors())
    }

    async fn mark(&mut self, at: u32) -> Result<Mark, Trouble> {
        let mut bytes = [0; HEADER_BYTES];
        self.flash.read(at, &mut bytes).await.map_err(|_| Trouble::Read)?;
        Ok(Mark::read(&bytes))
    }

    /// The sector that is being filled.
    pub(super) fn newest_sector(&self) -> Option<u32> {
        self.head.map(|head| head.number)
    }

    /// The sector in which the last whole chapter begins.
    pub(super) fn chapter_begin(&self) -> u32 {
        self.chapter.unwrap_or(0)
    }

    /// How many sectors it takes by now.
    pub(super) fn chapter_sectors(&self) -> u32 {
        self.head.zip(self.chapter).map_or(0, |(head, chapter)| head.number.saturating_sub(chapter).saturating_add(1))
    }

    /// The header of the sector with this number, if it is there.
    pub(super) async fn header(&mut self, number: u32) -> Result<Option<Header>, Trouble> {
        match self.mark(self.place(number, 0)).await? {
            Mark::Header(header) if header.number == number && self.is_sound(header) => Ok(Some(header)),
            _ => Ok(None),
        }
    }

    /// Whether a header can be one of this log's.
    fn is_sound(&self, header: Header) -> bool {
        let Header { number, chapter, .. } = header;
        (1..=number).contains(&chapter) && number.saturating_sub(chapter) < self.sectors() && number < u32::MAX / 2
    }

    /// The header with the highest number, and whether it is the last there was.
    async fn newest(&mut self, buf: &mut [u8; FRAME]) -> Result<Option<(Header, bool)>, Trouble> {
        let mut newest: Option<Header> = None;
        let mut other_version = None;
        let mut is_strange = false;
        for place in 0..self.sectors() {
            let at = place.saturating_mul(Self::SECTOR);
            match self.mark(at).await? {
                Mark::Header(header) if self.place(header.number, 0) == at && self.is_sound(header) => {
                    if newest.is_none_or(|newest| newest.number < header.number) {
                        newest = Some(header);
                    }
                }
                Mark::Blank | Mark::StruckOut => {}
                // A power cut can tear a header; then nothing stands behind it.
                _ if self.is_blank(at, FIRST, buf).await? => {}
                Mark::Version(version) => other_version = Some(version),
                _ => is_strange = true,
            }
        }
        if let Some(version) = other_version {
            return Err(Trouble::OtherVersion(version));
        }
        match newest {
            None if is_strange => Err(Trouble::NotAJournal),
            None => Ok(None),
            // A power cut can leave anything in a sector that was being erased. But frames of the next number had a header.
            Some(newest) => {
                let is_last = !is_strange || !self.has_frame(newest.number.saturating_add(1), FIRST, buf).await?;
                Ok(Some((newest, is_last)))
            }
        }
    }

    /// Reads the frame at `at` in a sector; says how many bytes its entries have, which then stand in `buf` behind the
    /// frame's own.
    pub(super) async fn frame(
        &mut self,
        number: u32,
        at: u32,
        buf: &mut [u8; FRAME],
    ) -> Result<Option<usize>, Trouble> {
        let room = Self::SECTOR.saturating_sub(at) as usize;
        let Some(first) = self.first_of(number, at).await? else { return Ok(None) };
        let length = frame::length_of(frame::entries_of(&first));
        let Some(bytes) = buf.get_mut(..length).filter(|_| length <= room) else { return Ok(None) };
        self.flash.read(self.place(number, at), bytes).await.map_err(|_| Trouble::Read)?;
        self.read = self.read.saturating_add(length);
        Ok(frame::open(bytes, number).map(<[u8]>::len))
    }

    /// How many bytes of frames were read since this was last asked.
    pub(super) fn take_read(&mut self) -> usize {
        core::mem::take(&mut self.read)
    }

    /// The first bytes of a frame, if there is room for one.
    async fn first_of(&mut self, number: u32, at: u32) -> Result<Option<[u8; FRAME_BYTES]>, Trouble> {
        let mut first = [0; FRAME_BYTES];
        if (Self::SECTOR.saturating_sub(at) as usize) < FRAME_BYTES {
            return Ok(None);
        }
        self.flash.read(self.place(number, at), &mut first).await.map_err(|_| Trouble::Read)?;
        Ok(Some(first))
    }

    async fn is_marked(&mut self, number: u32, at: u32) -> Result<bool, Trouble> {
        Ok(self.first_of(number, at).await?.is_some_and(|first| frame::is_marked(&first)))
    }

    async fn has_frame(&mut self, number: u32, from: u32, buf: &mut [u8; FRAME]) -> Result<bool, Trouble> {
        for at in (from..Self::SECTOR).step_by(ALIGN) {
            if self.frame(number, at, buf).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Hands the frames of a sector to `take` until it has enough; says where they end, or where that was.
    pub(super) async fn walk(
        &mut self,
        number: u32,
        buf: &mut [u8; FRAME],
        mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<u32, Trouble> {
        let mut at = FIRST;
        while let Some(entries) = self.frame(number, at, buf).await? {
            at = behind(at, entries);
            if take(said(buf, entries)).is_break() {
                break;
            }
        }
        Ok(at)
    }

    /// How the newest sector ends.
    async fn tail_of(&mut self, number: u32, buf: &mut [u8; FRAME]) -> Result<Tail, Trouble> {
        let (mut end, mut last) = (FIRST, None);
        while let Some(entries) = self.frame(number, end, buf).await? {
            last = Some(end);
            end = behind(end, entries);
        }
        let unmarked = match last {
            Some(last) if !self.is_marked(number, last).await? => Some(last),
            _ => None,
        };
        let is_torn = !self.is_blank(self.place(number, 0), end, buf).await?;
        // Nothing is ever written behind a torn frame, and none is marked. So what stands here was whole.
        let is_damaged = is_torn && (self.is_marked(number, end).await? || self.has_frame(number, end, buf).await?);
        Ok(Tail { end, unmarked, is_torn, is_damaged })
    }

    /// The lowest number that can still be there.
    fn oldest(&self, newest: u32) -> u32 {
        newest.saturating_add(1).saturating_sub(self.sectors()).max(1)
    }

    /// The header with the highest number below this one.
    pub(super) async fn header_before(&mut self, number: u32, newest: u32) -> Result<Option<Header>, Trouble> {
        for number in (self.oldest(newest)..number).rev() {
            if let Some(header) = self.header(number).await? {
                return Ok(Some(header));
            }
        }
        Ok(None)
    }

    /// Whether a chapter's beginning is complete. Its frames are looked at only as far as that, or as they are sound.
    async fn is_whole(&mut self, chapter: u32, newest: u32, buf: &mut [u8; FRAME]) -> Result<bool, Trouble> {
        let mut is_whole = false;
        for number in chapter..=newest {
            let Some(header) = self.header(number).await? else { break };
            if header.chapter != chapter {
                continue;
            }
            let whole = &mut is_whole;
            let end = self.walk(number, buf, |entries| {
                *whole = super::is_open(entries);
                if *whole { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let end = end.await?;
            if is_whole || !self.ends_at(number, end, newest).await? {
                break;
            }
        }
        Ok(is_whole)
    }

    /// Whether a sector ends where the one after it says. Nothing says where the newest ends.
    async fn ends_at(&mut self, number: u32, end: u32, newest: u32) -> Result<bool, Trouble> {
        if number >= newest {
            return Ok(true);
        }
        let next = self.header(number.saturating_add(1)).await?;
        Ok(next.is_some_and(|next| end == u32::from(next.previous_end)))
    }

    /// Whether every sector from one on is there and ends as it was written. Sectors of chapters that never became whole,
    /// too: only then it was a power cut that kept them from it.
    async fn is_sound_from(&mut self, first: u32, newest: u32, buf: &mut [u8; FRAME]) -> Result<bool, Trouble> {
        for number in first..=newest {
            let end = self.walk(number, buf, |_| ControlFlow::Continue(())).await?;
            if self.header(number).await?.is_none() || !self.ends_at(number, end, newest).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether all that is left of chapters before the last is as it was written.
    pub async fn past_is_sound(&mut self, buf: &mut [u8; FRAME]) -> Result<bool, Trouble> {
        let (Some(head), Some(chapter)) = (self.head, self.chapter) else { return Ok(true) };
        let mut oldest = chapter;
        while let Some(header) = self.header_before(oldest, head.number).await? {
            oldest = header.number;
        }
        self.is_sound_from(oldest, chapter, buf).await
    }

    /// Goes on in the next sector. `buf` is only looked through, and may be small.
    async fn turn(&mut self, new_chapter: bool, buf: &mut [u8]) -> Result<(), Trouble> {
        let (number, end) = self.head.map_or((1, 0), |head| (head.number.saturating_add(1), head.end));
        let previous_end = u16::try_from(end).map_err(|_| Trouble::Write)?;
        if self.is_kept(number) {
            return Err(Trouble::Full);
        }
        if self.ahead == 0 {
            self.make_blank(number, buf).await?;
        }
        self.ahead = self.ahead.saturating_sub(1);
        let chapter = self.head.filter(|_| !new_chapter).map_or(number, |head| head.chapter);
        let header = Header { number, chapter, previous_end, erases: self.erases };
        let head = Head { number, chapter, end: FIRST, unmarked: None, is_spent: true };
        self.head = Some(head);
        self.program(self.place(number, 0), &header.write()).await?;
        self.head = Some(Head { is_spent: false, ..head });
        Ok(())
    }

    /// Erases the sector a number will take, unless it is blank. A header is struck out first: an erase that is cut off
    /// may leave anything, but not that header.
    async fn make_blank(&mut self, number: u32, buf: &mut [u8]) -> Result<(), Trouble> {
        let at = self.place(number, 0);
        if self.is_blank(at, 0, buf).await? {
            return Ok(());
        }
        self.flash.write(at, &[0; HEADER_BYTES]).await.map_err(|_| Trouble::Write)?;
        self.flash.erase(at, at.saturating_add(Self::SECTOR)).await.map_err(|_| Trouble::Erase)?;
        self.erases = self.erases.saturating_add(1);
        if self.is_blank(at, 0, buf).await? { Ok(()) } else { Err(Trouble::Erase) }
    }

    /// Whether nothing is written in the sector at a place, from one of its bytes on.
    async fn is_blank(&mut self, sector: u32, from: u32, buf: &mut [u8]) -> Result<bool, Trouble> {
        let (mut at, end) = (sector.saturating_add(from), sector.saturating_add(Self::SECTOR));
        while at < end {
            let n = (end.saturating_sub(at)).min(u32::try_from(buf.len()).unwrap_or(u32::MAX));
            let Some(bytes) = buf.get_mut(..n as usize).filter(|bytes| !bytes.is_empty()) else { return Ok(false) };
            self.flash.read(at, bytes).await.map_err(|_| Trouble::Read)?;
            if bytes.iter().any(|&byte| byte != 0xff) {
                return Ok(false);
            }
            at = at.saturating_add(n);
        }
        Ok(true)
    }

    /// Programs bytes and reads them back.
    async fn program(&mut self, at: u32, bytes: &[u8]) -> Result<(), Trouble> {
        self.flash.write(at, bytes).await.map_err(|_| Trouble::Write)?;
        for (at, written) in (at..).step_by(32).zip(bytes.chunks(32)) {
            let mut read = [0; 32];
            let Some(read) = read.get_mut(..written.len()) else { continue };
            self.flash.read(at, read).await.map_err(|_| Trouble::Read)?;
            if read != written {
                return Err(Trouble::Write);
            }
        }
        Ok(())
    }
}
