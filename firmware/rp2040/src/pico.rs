//! What the appliance asks of a board: the time since it started, what it is, how its memory is used, and to break on purpose.

use appliance::board::{About, Board, Fault, Memory, Reset};
use appliance::clock::Clock;
use embassy_sync::once_lock::OnceLock;
use embassy_time::{Instant, Timer};

use crate::flash;

/// This board. It holds nothing, so that the static box it is part of is all zeros and takes no flash.
#[derive(Clone, Copy, Debug)]
pub struct Pico;

static ABOUT: OnceLock<About<'static>> = OnceLock::new();

impl Pico {
    /// Takes note of what was found out at the start.
    pub fn know(name: &'static str, last_reset: Reset, last_panic: Option<&'static str>) {
        let _ = ABOUT.init(About { board: BOARD, name, last_reset, last_panic });
    }
}

const BOARD: &str = "w5500-evb-pico";

/// Polls a second that come too soon and are answered all the same: with 4 ms for each a sixth of the processor's time.
const SPARE_POLLS: u32 = 40;

/// All six banks.
const RAM_BYTES: u32 = 264 * 1024;
/// Where the flash chip is seen. What is copied to RAM at the start is last in it.
const FLASH_BEGIN: u32 = 0x1000_0000;

// SAFETY: the linker script defines them; only their addresses mean anything.
#[allow(unsafe_code)]
unsafe extern "C" {
    safe static _stack_start: u32;
    safe static _stack_end: u32;
    safe static __sdata: u32;
    safe static __edata: u32;
    safe static __sidata: u32;
    safe static __euninit: u32;
}

impl Clock for Pico {
    fn now(&self) -> u64 {
        Instant::now().as_millis()
    }

    // The timer itself, not a future around it: every slot keeps one.
    fn sleep_until(&self, at: u64) -> impl Future<Output = ()> {
        Timer::at(Instant::try_from_millis(at).unwrap_or(Instant::MAX))
    }
}

impl Board for Pico {
    fn about(&self) -> About<'_> {
        let unknown = About { board: BOARD, name: "", last_reset: Reset::PowerOn, last_panic: None };
        ABOUT.try_get().copied().unwrap_or(unknown)
    }

    fn spare_polls(&self) -> u32 {
        SPARE_POLLS
    }

    fn memory(&self) -> Memory {
        let (stack_end, stack_start) = (&raw const _stack_end, &raw const _stack_start);
        let between = |from: *const u32, to: *const u32| to.addr().saturating_sub(from.addr()) as u32;
        let stack = between(stack_end, stack_start);
        let is_painted = |&word: &usize| {
            // SAFETY: every word between the two is RAM, aligned, and may be read whatever it is used for.
            #[allow(unsafe_code)]
            let paint = unsafe { stack_end.add(word).read_volatile() };
            paint == cortex_m_rt::STACK_PAINT_VALUE
        };
        let untouched = 4 * (0..stack as usize / 4).take_while(is_painted).count() as u32;
        let data = between(&raw const __sdata, &raw const __edata);
        Memory {
            resident: None,
            ram: Some(RAM_BYTES),
            variables: Some(between(&raw const __sdata, &raw const __euninit)),
            stack: Some(stack),
            deepest_stack: Some(stack.saturating_sub(untouched)),
            flash: Some(flash::CHIP_BYTES as u32),
            program: Some((&raw const __sidata).addr() as u32 + data - FLASH_BEGIN),
            journal: Some(flash::CHIP_BYTES as u32 - flash::BEGIN),
        }
    }

    fn breaker(&self) -> Option<fn(Fault)> {
        Some(|fault| match fault {
            Fault::Panic => panic!("asked to panic"),
            // Never gives the executor its turn back: the watchdog has to bite.
            Fault::Hang => loop {
                cortex_m::asm::nop();
            },
        })
    }
}
