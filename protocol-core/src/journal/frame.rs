//! What stands in a sector of flash: a header, then frames. A frame is written in one go and read whole or not at all, so
//! what is in it is kept together or not kept.
//!
//! ```text
//! header   "LBjr"  version  0  previous_end:u16  number:u32  chapter:u32  erases:u32  crc:u32        24 bytes
//! frame    mark:u16  length:u16  crc:u32  entries…  (0xff up to a multiple of four)
//! ```
//!
//! A frame's checksum covers the number of its sector, so what an earlier use of the sector left behind is never read.
//!
//! A power cut can tear the last frame, and then nobody was told what is in it. Damage can come to a frame that was whole.
//! The mark tells them apart: it stays blank while the frame is written, and is [struck](STRUCK) when the frame is known to
//! be whole. One that is marked and does not fit its checksum is damaged.

use super::bytes::{Garbled, Reader, Writer};

/// The version of all that is said in this folder.
pub const VERSION: u8 = 6;

/// The bytes a sector's header takes.
pub const HEADER_BYTES: usize = 24;
/// What a frame takes beside its entries and its padding.
pub const FRAME_BYTES: usize = 8;
/// What is written over the first bytes of a frame that is whole. The length behind the mark stays as it is: writing only
/// clears bits.
pub const STRUCK: [u8; ALIGN] = [0, 0, 0xff, 0xff];
/// Frames begin at multiples of this.
pub const ALIGN: usize = 4;

const MAGIC: &[u8; 4] = b"LBjr";

/// The beginning of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Sectors are numbered from 1 in the order they are begun; the number decides the place.
    pub number: u32,
    /// The number of the sector in which the chapter begins that this one belongs to.
    pub chapter: u32,
    /// Where the frames of the sector before this one end.
    pub previous_end: u16,
    /// Erases of any sector so far.
    pub erases: u32,
}

/// What stands where a header should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A header.
    Header(Header),
    /// Nothing: it looks erased.
    Blank,
    /// A header that was struck out: the sector may be erased.
    StruckOut,
    /// A header of another version.
    Version(u8),
    /// Something else.
    Unknown,
}

impl Header {
    /// As bytes.
    pub fn write(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut out = Writer::new(&mut bytes);
        // All of it fits.
        let _ = out.raw(MAGIC);
        let _ = out.raw(&[VERSION, 0]);
        let _ = out.u16(self.previous_end);
        let _ = out.u32(self.number);
        let _ = out.u32(self.chapter);
        let _ = out.u32(self.erases);
        let (said, crc) = bytes.split_at_mut(HEADER_BYTES - 4);
        crc.copy_from_slice(&Crc::new().over(said).sum().to_le_bytes());
        bytes
    }
}

impl Mark {
    /// Reads the beginning of a sector.
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Mark {
        if bytes.iter().all(|&byte| byte == 0xff) {
            return Mark::Blank;
        }
        // One bit may have changed since: what is struck out stays so.
        if bytes.iter().map(|byte| byte.count_ones()).sum::<u32>() <= 1 {
            return Mark::StruckOut;
        }
        match Mark::read_as_it_is(bytes) {
            header @ Mark::Header(_) => header,
            other => Mark::repaired(bytes).unwrap_or(other),
        }
    }

    /// A header of which one bit has changed since it was written. The checksum says which.
    fn repaired(bytes: &[u8; HEADER_BYTES]) -> Option<Mark> {
        (0..HEADER_BYTES * 8).find_map(|bit| {
            let mut bytes = *bytes;
            *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
            Some(Mark::read_as_it_is(&bytes)).filter(|mark| matches!(mark, Mark::Header(_)))
        })
    }

    fn read_as_it_is(bytes: &[u8; HEADER_BYTES]) -> Mark {
        let (said, crc) = bytes.split_at(HEADER_BYTES - 4);
        let sound = Crc::new().over(said).sum().to_le_bytes() == *crc;
        let read = || -> Result<Mark, Garbled> {
            let mut from = Reader::new(said);
            if from.raw(MAGIC.len())? != MAGIC {
                return Ok(Mark::Unknown);
            }
            match from.u8()? {
                VERSION if sound => {}
                VERSION => return Ok(Mark::Unknown),
                other => return Ok(Mark::Version(other)),
            }
            from.u8()?;
            let previous_end = from.u16()?;
            Ok(Mark::Header(Header { previous_end, number: from.u32()?, chapter: from.u32()?, erases: from.u32()? }))
        };
        read().unwrap_or(Mark::Unknown)
    }
}

/// How long a frame is that has so many bytes of entries.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "entries lie in flash or in a buffer, and both are far smaller than `usize::MAX`"
)]
pub fn length_of(entries: usize) -> usize {
    (FRAME_BYTES + entries).next_multiple_of(ALIGN)
}

/// Makes a frame of the entries that stand in `buf` behind the first [`FRAME_BYTES`]. `None` where there are none, or too
/// many.
pub fn seal(buf: &mut [u8], entries: usize, sector: u32) -> Option<&[u8]> {
    let length = u16::try_from(entries).ok().filter(|&length| length != 0 && length != u16::MAX)?;
    let (head, rest) = buf.split_at_mut_checked(FRAME_BYTES)?;
    let crc = Crc::new().over(&sector.to_le_bytes()).over(&length.to_le_bytes()).over(rest.get(..entries)?).sum();
    let mut out = Writer::new(head);
    out.u16(u16::MAX).and_then(|()| out.u16(length)).and_then(|()| out.u32(crc)).ok()?;
    let whole = buf.get_mut(..length_of(entries))?;
    whole.get_mut(FRAME_BYTES..)?.get_mut(entries..)?.fill(0xff);
    Some(whole)
}

/// How many bytes of entries the frame says to have that begins with these bytes.
pub fn entries_of(first: &[u8; FRAME_BYTES]) -> usize {
    let [_, _, low, high, ..] = *first;
    u16::from_le_bytes([low, high]).into()
}

/// Whether the frame that begins with these bytes was marked as whole. A bit of the mark may have changed since.
pub fn is_marked(first: &[u8; FRAME_BYTES]) -> bool {
    let [low, high, ..] = *first;
    u16::from_le_bytes([low, high]).count_zeros() >= 8
}

/// The entries of the frame at the beginning of `bytes`, if it is sound.
pub fn open(bytes: &[u8], sector: u32) -> Option<&[u8]> {
    let mut from = Reader::new(bytes);
    from.u16().ok()?;
    let (length, crc) = (from.u16().ok()?, from.u32().ok()?);
    if length == 0 || length == u16::MAX {
        return None;
    }
    let entries = from.raw(length.into()).ok()?;
    let sum = Crc::new().over(&sector.to_le_bytes()).over(&length.to_le_bytes()).over(entries).sum();
    (sum == crc).then_some(entries)
}

/// The checksum of Ethernet and zip, four bits at a time: a table of 64 bytes.
#[derive(Clone, Copy)]
pub struct Crc(u32);

#[expect(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "computed by the compiler, which refuses what does not hold"
)]
const CRC_TABLE: [u32; 16] = {
    let mut table = [0; 16];
    let mut n = 0;
    while n < 16 {
        let (mut crc, mut bit) = (n as u32, 0);
        while bit < 4 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[n] = crc;
        n += 1;
    }
    table
};

impl Crc {
    /// Over nothing yet.
    pub const fn new() -> Self {
        Crc(!0)
    }

    /// Over `bytes` as well.
    #[must_use]
    pub fn over(self, bytes: &[u8]) -> Self {
        #[expect(clippy::indexing_slicing, reason = "four bits number 16 places")]
        let step = |crc: u32| crc >> 4 ^ CRC_TABLE[(crc & 15) as usize];
        Crc(bytes.iter().fold(self.0, |crc, &byte| step(step(crc ^ u32::from(byte)))))
    }

    /// The sum.
    pub fn sum(self) -> u32 {
        !self.0
    }
}

impl Default for Crc {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn the_checksum_is_the_well_known_one() {
        assert_eq!(Crc::new().over(b"123456789").sum(), 0xcbf4_3926);
        assert_eq!(Crc::new().over(b"1234").over(b"56789").sum(), 0xcbf4_3926);
    }

    #[test]
    fn a_header_is_read_as_it_was_written_with_any_bit_changed_and_with_two_it_is_none() {
        let header = Header { number: 7, chapter: 5, previous_end: 4000, erases: 99 };
        let bytes = header.write();
        assert_eq!(Mark::read(&bytes), Mark::Header(header));
        let flipped = |bytes: &[u8; HEADER_BYTES], bit: usize| {
            let mut bytes = *bytes;
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        };
        for bit in 0..HEADER_BYTES * 8 {
            assert_eq!(Mark::read(&flipped(&bytes, bit)), Mark::Header(header), "bit {bit}");
            for other in 0..bit {
                match Mark::read(&flipped(&flipped(&bytes, bit), other)) {
                    Mark::Unknown => {}
                    // The version stands outside the checksum's care: another version may have another checksum.
                    Mark::Version(_) => assert!(bit / 8 == 4 || other / 8 == 4),
                    mark => panic!("bits {bit} and {other}: {mark:?}"),
                }
            }
            assert_eq!(Mark::read(&flipped(&[0; HEADER_BYTES], bit)), Mark::StruckOut);
        }
        assert_eq!(Mark::read(&[0xff; HEADER_BYTES]), Mark::Blank);
        assert_eq!(Mark::read(&[0; HEADER_BYTES]), Mark::StruckOut);
    }

    #[test]
    fn a_header_of_another_version_is_not_repaired_into_one_of_this() {
        let mut bytes = Header { number: 7, chapter: 5, previous_end: 4000, erases: 99 }.write();
        bytes[4] = VERSION ^ 1;
        let (said, crc) = bytes.split_at_mut(HEADER_BYTES - 4);
        crc.copy_from_slice(&Crc::new().over(said).sum().to_le_bytes());
        assert_eq!(Mark::read(&bytes), Mark::Version(VERSION ^ 1));
    }

    #[test]
    fn a_frame_is_read_as_it_was_written_in_its_own_sector_only() {
        let mut buf = [0; 64];
        buf[FRAME_BYTES..FRAME_BYTES + 5].copy_from_slice(b"hello");
        let frame = seal(&mut buf, 5, 3).unwrap();
        assert_eq!(frame.len(), 16);
        assert_eq!(frame.len(), length_of(5));
        assert_eq!(open(frame, 3), Some(&b"hello"[..]));
        assert_eq!(open(frame, 4), None);
        let marked = |frame: &[u8]| is_marked(frame[..FRAME_BYTES].try_into().unwrap());
        assert!(!marked(frame));
        let mut struck = frame.to_vec();
        struck.iter_mut().zip(STRUCK).for_each(|(byte, mark)| *byte &= mark);
        assert!(marked(&struck));
        for bit in 0..13 * 8 {
            for (frame, is_marked) in [(frame, false), (&struck, true)] {
                let mut bytes = frame.to_vec();
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(marked(&bytes), is_marked);
                let is_in_the_mark = bit < 16;
                assert_eq!(open(&bytes, 3), is_in_the_mark.then_some(&b"hello"[..]), "bit {bit}");
            }
        }
        for cut in 0..13 {
            assert_eq!(open(&frame[..cut], 3), None);
        }
        assert!(seal(&mut buf, 0, 3).is_none());
        assert!(seal(&mut buf, 60, 3).is_none());
        assert_eq!(open(&[0xff; 16], 3), None);
    }
}
