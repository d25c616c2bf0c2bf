//! A NOR flash in memory, for tests and for what need not outlive the program: writing only clears bits, erasing sets all bits of a sector, and the power can be cut
//! at any byte of either.

use core::convert::AsMut;

use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};

/// The bytes of a sector: small, so that a test sees many.
const SECTOR: usize = 2048;
/// An erase is cut off after so many sixteenths of a sector.
const STEP: usize = SECTOR / 16;

/// As much power as this never runs out.
const FOR_EVER: u32 = u32::MAX;

/// A flash of as many sectors as fit into `B`.
#[derive(Clone, Debug)]
pub struct RamFlash<B> {
    /// What is in it.
    pub bytes: B,
    /// How many more bytes, or sixteenths of a sector, can be changed before the power is cut; `u32::MAX` is as many as there
    /// will be. Then nothing works until more is given.
    pub power: u32,
    /// Bytes and sixteenths changed so far.
    pub spent: u32,
    /// Sectors erased so far.
    pub erased: u32,
    /// A sector that cannot be erased.
    pub bad: Option<u32>,
}

/// What goes wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RamError {
    /// The power is cut.
    Dead,
    /// There is no such place.
    OutOfBounds,
}

impl NorFlashError for RamError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            RamError::Dead => NorFlashErrorKind::Other,
            RamError::OutOfBounds => NorFlashErrorKind::OutOfBounds,
        }
    }
}

impl<B: AsMut<[u8]> + AsRef<[u8]>> RamFlash<B> {
    /// A flash with these bytes in it, and power for ever.
    pub fn new(bytes: B) -> Self {
        Self { bytes, power: FOR_EVER, spent: 0, erased: 0, bad: None }
    }

    fn is_alive(&mut self) -> bool {
        let alive = self.power > 0;
        if self.power != FOR_EVER {
            self.power = self.power.saturating_sub(1);
        }
        self.spent = self.spent.saturating_add(alive.into());
        alive
    }
}

impl<B> ErrorType for RamFlash<B> {
    type Error = RamError;
}

impl<B: AsMut<[u8]> + AsRef<[u8]>> ReadNorFlash for RamFlash<B> {
    const READ_SIZE: usize = 4;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), RamError> {
        if self.power == 0 {
            return Err(RamError::Dead);
        }
        let from = self.bytes.as_ref().get(offset as usize..).and_then(|rest| rest.get(..bytes.len()));
        bytes.copy_from_slice(from.ok_or(RamError::OutOfBounds)?);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.as_ref().len()
    }
}

impl<B: AsMut<[u8]> + AsRef<[u8]>> NorFlash for RamFlash<B> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), RamError> {
        self.erased = self.erased.saturating_add(1);
        if self.bad.is_some_and(|bad| bad as usize == from as usize / SECTOR) {
            return Ok(());
        }
        for at in (from as usize..to as usize).step_by(STEP) {
            let alive = self.is_alive();
            let part = self.bytes.as_mut().get_mut(at..).and_then(|rest| rest.get_mut(..STEP));
            let part = part.ok_or(RamError::OutOfBounds)?;
            if !alive {
                // Bits on their way up.
                for (byte, at) in part.iter_mut().zip(at..) {
                    let [some, ..] = (at.wrapping_mul(37) ^ (at >> 3)).to_le_bytes();
                    *byte |= some;
                }
                return Err(RamError::Dead);
            }
            part.fill(0xff);
        }
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), RamError> {
        for (at, &new) in (offset as usize..).zip(bytes) {
            let alive = self.is_alive();
            let byte = self.bytes.as_mut().get_mut(at).ok_or(RamError::OutOfBounds)?;
            if !alive {
                // Some bits have come down, others not.
                *byte &= new | 0x5a;
                return Err(RamError::Dead);
            }
            *byte &= new;
        }
        Ok(())
    }
}

impl<B: AsMut<[u8]> + AsRef<[u8]>> MultiwriteNorFlash for RamFlash<B> {}
