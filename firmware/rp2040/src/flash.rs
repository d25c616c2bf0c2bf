//! What the program leaves of the flash chip, where the journal is and behind it the film. The program runs from the same chip:
//! while it is written or erased nothing else goes on, a millisecond for a page and some fifty for a sector.

use core::cell::RefCell;

use embassy_rp::Peri;
use embassy_rp::flash::{Blocking, ERASE_SIZE, Error, Flash};
use embassy_rp::peripherals::FLASH;
use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};
use static_cell::StaticCell;

/// What the flash chip has, in bytes.
pub const CHIP_BYTES: usize = 2 * 1024 * 1024;
/// Where the journal begins: `memory.x` leaves the rest of the chip to it,
pub const BEGIN: u32 = 1152 * 1024;
/// and where the film does: room for some four thousand moves.
const FILM: u32 = CHIP_BYTES as u32 - 256 * 1024;

type Chip = RefCell<Flash<'static, FLASH, Blocking, CHIP_BYTES>>;

/// A part of the flash chip.
pub struct JournalFlash {
    chip: &'static Chip,
    begin: u32,
    end: u32,
}

impl JournalFlash {
    /// Takes over the flash chip: the journal's part of it, and the film's.
    pub fn new(flash: Peri<'static, FLASH>) -> [Self; 2] {
        static CHIP: StaticCell<Chip> = StaticCell::new();
        let chip: &'static Chip = CHIP.init(RefCell::new(Flash::new_blocking(flash)));
        [(BEGIN, FILM), (FILM, CHIP_BYTES as u32)].map(|(begin, end)| Self { chip, begin, end })
    }

    /// The number its maker gave the chip.
    pub fn unique_id(&mut self) -> [u8; 8] {
        let mut id = [0; 8];
        // Without one, all such boards have the same name: better than none.
        let _ = self.chip.borrow_mut().blocking_unique_id(&mut id);
        id
    }

    /// Where so many bytes at an offset into this part are in the chip.
    fn within(&self, offset: u32, bytes: usize) -> Result<u32, Error> {
        let at = offset.checked_add(self.begin).ok_or(Error::OutOfBounds)?;
        let end = u32::try_from(bytes).ok().and_then(|bytes| at.checked_add(bytes));
        if end.is_some_and(|end| end <= self.end) { Ok(at) } else { Err(Error::OutOfBounds) }
    }
}

impl ErrorType for JournalFlash {
    type Error = Error;
}

impl ReadNorFlash for JournalFlash {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Error> {
        let at = self.within(offset, bytes.len())?;
        self.chip.borrow_mut().blocking_read(at, bytes)
    }

    fn capacity(&self) -> usize {
        (self.end - self.begin) as usize
    }
}

impl NorFlash for JournalFlash {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Error> {
        let (from, to) = (self.within(from, 0)?, self.within(to, 0)?);
        self.chip.borrow_mut().blocking_erase(from, to)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        let at = self.within(offset, bytes.len())?;
        self.chip.borrow_mut().blocking_write(at, bytes)
    }
}

/// The chip can clear bits of what was written before; the driver fills the rest of a page with ones, which change nothing.
impl MultiwriteNorFlash for JournalFlash {}
