//! Runs something once that needs more stack than the box ever has again, on memory that is not needed yet.
//!
//! The network stack builds all its sockets on the stack, 16 KB of them, before it puts them where they stay. Everything that runs
//! later does with a quarter of that.

use core::arch::asm;

/// Runs `f` on `memory` as its stack. Nothing faults where that is too small: it must be plenty.
pub fn run<F: FnOnce() -> R, R>(memory: &mut [u8], f: F) -> R {
    struct Call<F, R> {
        f: Option<F>,
        result: Option<R>,
    }
    extern "C" fn run<F: FnOnce() -> R, R>(call: &mut Call<F, R>) {
        call.result = call.f.take().map(|f| f());
    }
    let mut call = Call { f: Some(f), result: None };
    let top = memory.as_mut_ptr_range().end as usize & !7;
    let run: extern "C" fn(&mut Call<F, R>) = run;
    // SAFETY: the memory is borrowed until the call is over, and any bytes may be left there; its end is aligned as the calling convention asks; r4 is
    // kept by whatever is called, so the stack pointer comes back; interrupts use whatever stack they find.
    #[allow(unsafe_code)]
    unsafe {
        asm!(
            "mov r4, sp",
            "mov sp, {top}",
            "blx {run}",
            "mov sp, r4",
            top = in(reg) top,
            run = in(reg) run,
            inout("r0") &mut call => _,
            out("r4") _,
            clobber_abi("C"),
        );
    }
    call.result.expect("the call has returned")
}
