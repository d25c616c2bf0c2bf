//! The Ethernet chip's bus, as the driver may see it.
//!
//! The driver believes the length that stands before each frame in the chip's buffer, and panics at one no frame can have. What
//! the chip does with a frame that is longer than Ethernet allows is not documented, and a disturbed bus makes up lengths of its
//! own. So the length is looked at here, before the driver sees it; where it cannot be, all that waits in the chip is thrown
//! away: where the next frame begins is not known then, and whatever mattered is sent again.

use defmt::warn;
use embedded_hal::spi::{Error, ErrorKind, ErrorType};
use embedded_hal_async::spi::{Operation, SpiDevice};

/// The longest frame the driver has room for, and the two bytes of its length.
const LONGEST: u16 = 1514 + 2;
/// The length itself counts.
const SHORTEST: u16 = 2;

/// Control bytes: what is read or written.
const READ_BUFFER: u8 = 0x03 << 3;
const READ_REGISTER: u8 = 0x01 << 3;
const WRITE_REGISTER: u8 = READ_REGISTER | 0x04;

/// Registers of the chip's socket: up to where it was read, and up to where the chip has written.
const READ_UP_TO: [u8; 2] = [0x00, 0x28];
const WRITTEN_UP_TO: [u8; 2] = [0x00, 0x2a];
const COMMAND: [u8; 2] = [0x00, 0x01];
/// The command that makes the first of them count.
const RECEIVED: u8 = 0x40;

/// A bus that lets no length through that no frame can have.
pub struct CheckedBus<S>(pub S);

/// Why nothing was read or written.
#[derive(Debug)]
pub enum BusError<E> {
    /// The bus failed.
    Bus(E),
    /// What the chip had was no frame. It is gone.
    NoFrame,
}

impl<E: Error> Error for BusError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            BusError::Bus(error) => error.kind(),
            BusError::NoFrame => ErrorKind::Other,
        }
    }
}

impl<S: SpiDevice> CheckedBus<S> {
    /// Throws away all that waits in the chip.
    async fn discard(&mut self) -> Result<(), S::Error> {
        let mut end = [0; 2];
        let bus = &mut self.0;
        bus.transaction(&mut [
            Operation::Write(&WRITTEN_UP_TO),
            Operation::Write(&[READ_REGISTER]),
            Operation::TransferInPlace(&mut end),
        ])
        .await?;
        for (register, value) in [(READ_UP_TO, &end[..]), (COMMAND, &[RECEIVED])] {
            bus.transaction(&mut [
                Operation::Write(&register),
                Operation::Write(&[WRITE_REGISTER]),
                Operation::Write(value),
            ])
            .await?;
        }
        Ok(())
    }
}

impl<S: SpiDevice> ErrorType for CheckedBus<S> {
    type Error = BusError<S::Error>;
}

impl<S: SpiDevice> SpiDevice for CheckedBus<S> {
    async fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Self::Error> {
        self.0.transaction(operations).await.map_err(BusError::Bus)?;
        // Two bytes of the buffer are a length: frames are read whole, and none is as short.
        if let [_, Operation::Write([READ_BUFFER]), Operation::TransferInPlace([high, low])] = operations {
            let length = u16::from_be_bytes([*high, *low]);
            if !(SHORTEST..=LONGEST).contains(&length) {
                warn!("the chip has a frame of {=u16} bytes: all it has is thrown away", length);
                self.discard().await.map_err(BusError::Bus)?;
                return Err(BusError::NoFrame);
            }
        }
        Ok(())
    }
}
