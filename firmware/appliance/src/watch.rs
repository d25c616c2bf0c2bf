//! Connections that only watch: the web page's, and those of spectators. The slot that accepted one serves it for as long as it
//! lasts, so at most half of those do that players leave, and the others are for whoever asks something.
//!
//! A watcher can never slow a match. Nobody waits for it: there is no queue of what it has to be told. Ten times a second it
//! looks for itself what has changed since it last looked, and says that; one that reads slowly looks less often and skips
//! what was in between. It holds nothing while it writes, it rests longer than it speaks, and who does not read is let go.

use core::cell::Cell;
use core::net::IpAddr;
use core::pin::pin;

use edge_nal::TcpShutdown;
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};

use crate::Appliance;
use crate::board::Board;
use crate::ws::{End, Event, Link};

/// Between two looks, in milliseconds: more updates a second would be seen by nobody.
const LOOK_MS: u64 = 100;
/// A watcher rests so many times as long as it spoke. What it is told is written by the processor that referees.
const REST: u64 = 3;
/// And no longer than that, in milliseconds: on a busy box others had most of the time in which it spoke, and a page that rests
/// through half a round shows the one before.
const LONGEST_REST_MS: u64 = 400;

pub(crate) const FULL: End = End::Ours(1013, "as many watch as there is room for; come back in a while");
const TALKATIVE: End = End::Ours(1008, "whoever watches has nothing to say, least of all this often");

/// The right to watch. Dropping it gives it back.
pub(crate) struct Place<'a>(&'a Cell<u16>);

/// How many watch.
#[derive(Default)]
pub(crate) struct Watchers(Cell<u16>);

impl Watchers {
    pub const fn new() -> Self {
        Self(Cell::new(0))
    }

    /// How many there are.
    pub fn count(&self) -> u16 {
        self.0.get()
    }

    /// A place, if there is one: half of so many slots may watch.
    pub fn admit(&self, slots: u16) -> Option<Place<'_>> {
        let now = self.0.get();
        (now < slots / 2).then(|| {
            self.0.set(now.saturating_add(1));
            Place(&self.0)
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl<B: Board> Appliance<'_, B> {
    /// Serves one that watches, to its end. `tell` says what it does not know yet; it is asked again and again.
    pub(crate) async fn watch<S: Read + Write + TcpShutdown>(
        &self,
        from: &IpAddr,
        link: &mut Link<'_, S, B>,
        mut tell: impl AsyncFnMut(&mut Link<'_, S, B>) -> Result<(), End>,
    ) {
        let end = match self.watchers.admit(self.slots.others()) {
            None => FULL,
            Some(_place) => loop {
                let began = self.board.now();
                if let Err(end) = tell(link).await {
                    break end;
                }
                let spoke = self.board.now().saturating_sub(began);
                let until = self.board.after(spoke.saturating_mul(REST).clamp(LOOK_MS, LONGEST_REST_MS));
                if let Err(end) = self.rest(from, link, until).await {
                    break end;
                }
            },
        };
        link.close(end).await;
    }

    /// Keeps a link that there is nothing to say on, for a while. What its peer says is of no interest.
    fn rest<S: Read + Write>(
        &self,
        from: &IpAddr,
        link: &mut Link<'_, S, B>,
        until: u64,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            while let Event::Message(_) = link.next(false, pin!(self.board.sleep_until(until))).await? {
                self.guard.borrow_mut().request(self.board.now(), *from, self.capacity()).map_err(|_| TALKATIVE)?;
                yield_now().await;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_slots_may_watch_and_a_place_that_is_given_back_is_free() {
        let watchers = Watchers::new();
        assert!(watchers.admit(0).is_none(), "nobody serves");
        let (first, second) = (watchers.admit(5), watchers.admit(5));
        assert!(first.is_some() && second.is_some() && watchers.admit(5).is_none());
        drop(first);
        assert!(watchers.admit(5).is_some());
    }
}
