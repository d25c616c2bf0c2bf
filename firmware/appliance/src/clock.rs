//! Time, as the box needs it: what is it now, wake me at, and give up at.
//!
//! Which clock that is (the operating system's, a timer of the chip, a test's) is the board's business.

use core::{fmt, future::Future, pin::Pin};

use embassy_futures::select::{Either, select};

/// A monotonic clock in milliseconds. Only differences mean anything.
#[allow(async_fn_in_trait, reason = "the box runs on one thread: no future needs to be Send")]
pub trait Clock {
    /// The time now.
    fn now(&self) -> u64;

    /// Returns once `now()` has reached `at`.
    async fn sleep_until(&self, at: u64);

    /// The time `ms` from now.
    fn after(&self, ms: u64) -> u64 {
        self.now().saturating_add(ms)
    }
}

impl<C: Clock> Clock for &C {
    fn now(&self) -> u64 {
        C::now(self)
    }

    async fn sleep_until(&self, at: u64) {
        C::sleep_until(self, at).await;
    }
}

/// The deadline passed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the deadline passed")
    }
}

impl core::error::Error for Elapsed {}

/// Runs `f`, but not past `deadline`. It is pinned by the caller, who then drops it where it stands: a future that is
/// handed over is kept twice, where it came in and where it is run.
///
/// `f` is polled before the clock is looked at: work that is ready counts, however late it is asked for. So a loop
/// over input that is always ready is not ended by its deadline and needs a bound of its own.
pub fn before<C: Clock, F: Future>(
    clock: &C,
    deadline: u64,
    f: Pin<&mut F>,
) -> impl Future<Output = Result<F::Output, Elapsed>> {
    async move {
        match select(f, clock.sleep_until(deadline)).await {
            Either::First(output) => Ok(output),
            Either::Second(()) => Err(Elapsed),
        }
    }
}
