//! One way to end: a flag that Ctrl-C, or whoever owns a running box, raises once, and that futures and threads watch.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::failure::Failure;

/// A request to end. Clones share it; it is never taken back.
#[derive(Clone, Default)]
pub struct Stop(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    raised: bool,
    waiting: Vec<Waker>,
}

impl Stop {
    /// A request that Ctrl-C raises, or the system when it ends the program. Only one of these can exist in a process.
    pub fn on_ctrl_c() -> Result<Self, Failure> {
        let stop = Self::default();
        let raised = stop.clone();
        // The handler runs on a thread of its own, not inside the signal, so it may lock.
        ctrlc::set_handler(move || raised.raise())
            .map_err(|error| Failure::work(format!("cannot watch for Ctrl-C ({error})")))?;
        Ok(stop)
    }

    /// Asks everybody who watches to end.
    pub fn raise(&self) {
        let mut state = self.state();
        state.raised = true;
        state.waiting.drain(..).for_each(Waker::wake);
    }

    /// Whether the end has been asked for.
    pub fn is_raised(&self) -> bool {
        self.state().raised
    }

    /// Resolves when the end is asked for.
    pub async fn raised(&self) {
        poll_fn(|context| {
            let mut state = self.state();
            if state.raised {
                return Poll::Ready(());
            }
            if !state.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                state.waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// A panic elsewhere leaves nothing half-done here, so a poisoned lock is as good as any.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_future_that_waits_is_woken_from_another_thread() {
        let stop = Stop::default();
        let raiser = stop.clone();
        let thread = thread::spawn(move || raiser.raise());
        futures_lite::future::block_on(stop.raised());
        thread.join().unwrap();
        assert!(stop.is_raised());
    }

    #[test]
    fn a_request_made_before_anybody_waits_is_not_lost() {
        let stop = Stop::default();
        stop.raise();
        futures_lite::future::block_on(stop.raised());
    }
}
