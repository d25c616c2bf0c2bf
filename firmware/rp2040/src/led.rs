//! The board's LED, for whoever stands before it.
//!
//! | it shows | it means |
//! |---|---|
//! | fast blinking | no link: the cable is out, or its other end has no power |
//! | two short flashes, then a pause | the box has restarted after a fault of its own; its page says which |
//! | slow blinking | ready, waiting for players or for the start |
//! | steady light | a league is running |
//! | three long flashes, then restart | the Ethernet chip does not answer |

use embassy_rp::gpio::Output;
use embassy_time::{Duration, Ticker};

/// What the LED tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// No link.
    NoLink,
    /// The last run ended in a fault.
    Fault,
    /// Ready.
    Waiting,
    /// A league is running.
    Running,
    /// The board is broken.
    Broken,
}

impl Sign {
    /// Twenty tenths of a second, the first one rightmost.
    const fn picture(self) -> u32 {
        match self {
            Sign::NoLink => 0b01010_10101_01010_10101,
            Sign::Fault => 0b00000_00000_00000_00101,
            Sign::Waiting => 0b00000_00000_11111_11111,
            Sign::Running => 0b11111_11111_11111_11111,
            Sign::Broken => 0b00000_11110_11110_11110,
        }
    }
}

/// Shows a sign, asked for again every tenth of a second. It ends when there is none.
pub async fn show(led: &mut Output<'_>, mut sign: impl FnMut() -> Option<Sign>) {
    let mut ticker = Ticker::every(Duration::from_millis(100));
    let mut tenth = 0;
    while let Some(sign) = sign() {
        led.set_level((sign.picture() >> tenth & 1 == 1).into());
        tenth = (tenth + 1) % 20;
        ticker.next().await;
    }
}
