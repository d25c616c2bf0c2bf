//! The board's wiring: which pin is what, and the Ethernet chip behind its SPI bus.

use embassy_rp::gpio::{Input, Level, Output, Pull};
use embassy_rp::peripherals::{DMA_CH0, DMA_CH1, PIN_16, PIN_17, PIN_18, PIN_19, PIN_20, PIN_21, SPI0};
use embassy_rp::spi::{self, Spi};
use embassy_rp::{Peri, bind_interrupts, dma};
use embassy_time::{Delay, Duration, with_timeout};
use embedded_hal::digital::ErrorType;
use embedded_hal_async::digital::Wait;
use embedded_hal_bus::spi::ExclusiveDevice;

use embassy_net_wiznet::chip::W5500;
use embassy_net_wiznet::{Device, InitError, Runner, State};

use crate::bus::CheckedBus;
use crate::watchdog::CHIP;

bind_interrupts!(struct Irqs {
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>, dma::InterruptHandler<DMA_CH1>;
});

/// Clock of the Ethernet chip's bus. The chip is specified up to 80 MHz, guaranteed to 33; 125 MHz / 4 is below both.
const SPI_HZ: u32 = 31_250_000;

/// How long an interrupt may be waited for. The driver takes one frame per interrupt, and the chip does not repeat one for
/// a frame that came meanwhile, so it must look by itself now and then.
const LOOK_EVERY: Duration = Duration::from_millis(8);

/// The pins and channels the Ethernet chip hangs on.
pub struct EthernetPins {
    /// The bus.
    pub spi: Peri<'static, SPI0>,
    /// Its clock.
    pub clock: Peri<'static, PIN_18>,
    /// To the chip.
    pub mosi: Peri<'static, PIN_19>,
    /// From the chip.
    pub miso: Peri<'static, PIN_16>,
    /// Selects the chip.
    pub select: Peri<'static, PIN_17>,
    /// Low while the chip has something to say.
    pub interrupt: Peri<'static, PIN_21>,
    /// Low resets the chip.
    pub reset: Peri<'static, PIN_20>,
    /// Carries bytes to the chip.
    pub tx_dma: Peri<'static, DMA_CH0>,
    /// Carries bytes from the chip.
    pub rx_dma: Peri<'static, DMA_CH1>,
}

type Bus = CheckedBus<ExclusiveDevice<Spi<'static, SPI0, spi::Async>, Output<'static>, Delay>>;

/// Runs the Ethernet chip.
pub type EthernetRunner = Runner<'static, W5500, Bus, Attention, Output<'static>>;

/// Frames of 1514 bytes that wait for the network stack. More wait in the chip, which has 16 KB.
pub const FRAMES_IN: usize = 2;
/// Frames that wait for the chip.
pub const FRAMES_OUT: usize = 2;

/// Starts the Ethernet chip.
pub async fn ethernet(
    pins: EthernetPins,
    mac: [u8; 6],
    state: &'static mut State<FRAMES_IN, FRAMES_OUT>,
) -> Result<(Device<'static>, EthernetRunner), InitError<<Bus as embedded_hal::spi::ErrorType>::Error>> {
    let mut config = spi::Config::default();
    config.frequency = SPI_HZ;
    let bus = Spi::new(pins.spi, pins.clock, pins.mosi, pins.miso, pins.tx_dma, pins.rx_dma, Irqs, config);
    let select = Output::new(pins.select, Level::High);
    let Ok(device) = ExclusiveDevice::new(bus, select, Delay);
    let attention = Attention(Input::new(pins.interrupt, Pull::Up));
    embassy_net_wiznet::new(mac, state, CheckedBus(device), attention, Output::new(pins.reset, Level::High)).await
}

/// The chip's interrupt pin, as the driver should see it.
pub struct Attention(Input<'static>);

impl ErrorType for Attention {
    type Error = core::convert::Infallible;
}

impl Wait for Attention {
    async fn wait_for_low(&mut self) -> Result<(), Self::Error> {
        CHIP.beat();
        let _ = with_timeout(LOOK_EVERY, self.0.wait_for_low()).await;
        Ok(())
    }

    async fn wait_for_high(&mut self) -> Result<(), Self::Error> {
        self.0.wait_for_high().await;
        Ok(())
    }

    async fn wait_for_rising_edge(&mut self) -> Result<(), Self::Error> {
        self.0.wait_for_rising_edge().await;
        Ok(())
    }

    async fn wait_for_falling_edge(&mut self) -> Result<(), Self::Error> {
        self.0.wait_for_falling_edge().await;
        Ok(())
    }

    async fn wait_for_any_edge(&mut self) -> Result<(), Self::Error> {
        self.0.wait_for_any_edge().await;
        Ok(())
    }
}
