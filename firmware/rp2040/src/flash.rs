//! The second megabyte of the flash chip, where the journal is. The program runs from the same chip: while it is written or
//! erased nothing else goes on, a millisecond for a page and some fifty for a sector.

use embassy_rp::Peri;
use embassy_rp::flash::{Blocking, ERASE_SIZE, Error, Flash};
use embassy_rp::peripherals::FLASH;
use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};

/// What the flash chip has, in bytes.
pub const CHIP_BYTES: usize = 2 * 1024 * 1024;
/// Where the journal begins: `memory.x` leaves the rest of the chip to it.
pub const BEGIN: u32 = 1024 * 1024;

/// The journal's part of the flash chip.
pub struct JournalFlash(Flash<'static, FLASH, Blocking, CHIP_BYTES>);

impl JournalFlash {
    /// Takes over the flash chip.
    pub fn new(flash: Peri<'static, FLASH>) -> Self {
        Self(Flash::new_blocking(flash))
    }

    /// The number its maker gave the chip.
    pub fn unique_id(&mut self) -> [u8; 8] {
        let mut id = [0; 8];
        // Without one, all such boards have the same name: better than none.
        let _ = self.0.blocking_unique_id(&mut id);
        id
    }
}

impl ErrorType for JournalFlash {
    type Error = Error;
}

impl ReadNorFlash for JournalFlash {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Error> {
        self.0.blocking_read(within(offset)?, bytes)
    }

    fn capacity(&self) -> usize {
        CHIP_BYTES - BEGIN as usize
    }
}

impl NorFlash for JournalFlash {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = ERASE_SIZE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Error> {
        self.0.blocking_erase(within(from)?, within(to)?)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Error> {
        self.0.blocking_write(within(offset)?, bytes)
    }
}

/// The chip can clear bits of what was written before; the driver fills the rest of a page with ones, which change nothing.
impl MultiwriteNorFlash for JournalFlash {}

/// Where an offset into the journal's part is in the chip. What lies beyond its end the driver refuses.
fn within(offset: u32) -> Result<u32, Error> {
    offset.checked_add(BEGIN).ok_or(Error::OutOfBounds)
}
