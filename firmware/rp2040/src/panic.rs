//! What becomes of a panic.

use core::panic::PanicInfo;

/// Says why and starts again.
pub fn reset(info: &PanicInfo<'_>) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    cortex_m::peripheral::SCB::sys_reset()
}
