//! What is left of a run that failed. A panic's words are kept in a part of RAM that no start clears, and the chip is reset; the
//! next run finds them there. Only losing power loses them.

use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::mem::MaybeUninit;
use core::panic::PanicInfo;

use appliance::board::Reset;
use embassy_rp::peripherals::WATCHDOG;
use embassy_rp::watchdog::{ResetReason, Watchdog};

/// As much as is shown of a panic, in bytes.
const TEXT: usize = 240;

/// Says that somebody wrote the record; the checksum says that all of it is as written.
const MAGIC: u32 = 0x4c42_7061;

#[derive(Clone, Copy)]
struct Record {
    magic: u32,
    checksum: u32,
    /// 1 until a run has found it.
    fresh: u32,
    length: usize,
    text: [u8; TEXT],
}

struct Slot(UnsafeCell<MaybeUninit<Record>>);

// SAFETY: it is used by `find`, once, and by `keep` when nothing else runs any more.
#[allow(unsafe_code)]
unsafe impl Sync for Slot {}

// SAFETY: the linker script leaves this section alone at start-up, which is what an uninitialised value allows.
#[allow(unsafe_code)]
#[unsafe(link_section = ".uninit.last_panic")]
static SLOT: Slot = Slot(UnsafeCell::new(MaybeUninit::uninit()));

impl Record {
    fn sum(&self) -> u32 {
        let bytes = self.text.iter().copied().chain(self.length.to_le_bytes()).chain(self.fresh.to_le_bytes());
        bytes.fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    fn text(&self) -> &str {
        let bytes = self.text.get(..self.length).unwrap_or_default();
        // A long text may have been cut inside a character.
        bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }
}

impl Write for Record {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for (to, from) in self.text.iter_mut().skip(self.length).zip(s.bytes()) {
            *to = from;
            self.length += 1;
        }
        Ok(())
    }
}

/// How the last run ended, by what the watchdog says of it, and the last words of the last run that panicked. Call it once.
pub fn find(reason: Option<ResetReason>) -> (Reset, Option<&'static str>) {
    let mut record = read();
    let panicked = record.is_some_and(|record| record.fresh == 1);
    let reset = match reason {
        None => Reset::PowerOn,
        Some(ResetReason::TimedOut) => Reset::Watchdog,
        Some(ResetReason::Forced) if panicked => Reset::Panic,
        Some(ResetReason::Forced) => Reset::Software,
    };
    if let Some(record) = &mut record {
        record.fresh = 0;
        write(*record);
    }
    // SAFETY: just read and found whole, and written again only when this run ends.
    #[allow(unsafe_code)]
    let last = record.is_some().then(|| unsafe { (*SLOT.0.get()).assume_init_ref() }.text());
    (reset, last)
}

/// Keeps a text for the next run.
pub fn keep(text: fmt::Arguments<'_>) {
    let mut record = Record { magic: MAGIC, checksum: 0, fresh: 1, length: 0, text: [0; TEXT] };
    let _ = record.write_fmt(text);
    write(record);
}

fn read() -> Option<Record> {
    // SAFETY: every bit pattern is a record of numbers and bytes; whether it means anything is checked next. Volatile,
    // because what is there was put there by no code of this run.
    #[allow(unsafe_code)]
    let record = unsafe { SLOT.0.get().read_volatile().assume_init() };
    (record.magic == MAGIC && record.length <= TEXT && record.checksum == record.sum()).then_some(record)
}

fn write(mut record: Record) {
    record.checksum = record.sum();
    // SAFETY: nobody else looks: see `Slot`.
    #[allow(unsafe_code)]
    unsafe {
        SLOT.0.get().write_volatile(MaybeUninit::new(record));
    }
}

/// Ends this run: keeps what it says, and resets the chip. For the panic handler.
pub fn end(info: &PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    match info.location() {
        // The words first: where a path is long, its end matters least.
        Some(at) => keep(format_args!("{}, {}:{}", info.message(), short(at.file()), at.line())),
        None => keep(format_args!("{}", info.message())),
    }
    defmt::error!("panic: {}", read().as_ref().map_or("", Record::text));
    reset()
}

/// Ends this run after the processor met something it cannot do. For the hard fault handler.
pub fn fault(at: u32) -> ! {
    keep(format_args!("hard fault at {at:#010x}"));
    defmt::error!("hard fault at {=u32:#010x}", at);
    reset()
}

/// Where in its crate a file is: the rest of the path is somebody's computer.
fn short(path: &str) -> &str {
    path.rfind("/src/").map_or(path, |src| {
        let crate_name = path.get(..src).unwrap_or_default().rfind('/').map_or(0, |slash| slash + 1);
        path.get(crate_name..).unwrap_or(path)
    })
}

/// Resets everything but the oscillators, through the watchdog: so the next run can tell it from getting power.
fn reset() -> ! {
    // SAFETY: whoever owns the watchdog never runs again.
    #[allow(unsafe_code)]
    let mut watchdog = Watchdog::new(unsafe { WATCHDOG::steal() });
    watchdog.trigger_reset();
    loop {
        cortex_m::asm::nop();
    }
}
