//! The buffer for long messages. A board has one, and lends it to one link at a time: nothing but a move with much to remember
//! is long, and it is over in a moment.
//!
//! First come, first served: whoever wants it stands in a queue, and whoever gives up leaves it. So nobody can be overtaken,
//! and everybody waits for those before it and for nobody else.

use core::cell::{Cell, RefCell};
use core::future::Future;
use core::ops::{Deref, DerefMut};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use heapless::Vec;

/// Links that can wait for it at once, 9 bytes each on a board: as many as a board has players, and who plays waits once.
const WAITERS: usize = 32;
/// The place of who waits no more.
const NOWHERE: u8 = u8::MAX;

/// Where the buffer is while nobody has it, and who waits for it.
#[derive(Default)]
pub struct Long {
    buf: Cell<Option<&'static mut [u8]>>,
    size: Cell<usize>,
    queue: RefCell<Queue>,
}

struct Queue {
    /// Who waits, by the number of a place, in the order in which they came.
    order: Vec<u8, WAITERS, u8>,
    /// By place.
    wakers: [Option<Waker>; WAITERS],
}

impl Queue {
    const fn new() -> Self {
        Self { order: Vec::new(), wakers: [const { None }; WAITERS] }
    }

    fn leave(&mut self, place: u8) {
        self.order.retain(|&other| other != place);
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

impl Long {
    /// There is none.
    pub const fn new() -> Self {
        Self { buf: Cell::new(None), size: Cell::new(0), queue: RefCell::new(Queue::new()) }
    }

    /// From now on there is this one.
    pub fn set(&self, buf: &'static mut [u8]) {
        self.size.set(buf.len());
        self.give_back(buf);
    }

    /// How large it is, also while somebody has it.
    pub fn size(&self) -> usize {
        self.size.get()
    }

    /// Takes a place at the end of the queue. `None` where there is none left.
    pub fn queue_up(&self) -> Option<Turn<'_>> {
        let mut queue = self.queue.borrow_mut();
        let ahead = queue.order.len() as u8 + 1;
        let place = (0..WAITERS as u8).find(|place| !queue.order.contains(place))?;
        queue.order.push(place).ok()?;
        Some(Turn { long: self, place, ahead })
    }

    fn give_back(&self, buf: &'static mut [u8]) {
        self.buf.set(Some(buf));
        self.call_the_first();
    }

    fn call_the_first(&self) {
        let mut queue = self.queue.borrow_mut();
        let first = queue.order.first().copied();
        let waker = first.and_then(|place| queue.wakers.get_mut(usize::from(place))?.take());
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A place in the queue, and the wait for the buffer. Dropping it leaves the queue.
pub struct Turn<'a> {
    long: &'a Long,
    place: u8,
    ahead: u8,
}

impl Turn<'_> {
    /// How many had it or waited for it already, at most.
    pub fn ahead(&self) -> u8 {
        self.ahead
    }
}

impl<'a> Future for Turn<'a> {
    type Output = Lent<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Lent<'a>> {
        let (long, place) = (self.long, self.place);
        let mut queue = long.queue.borrow_mut();
        if queue.order.first() == Some(&place)
            && let Some(buf) = long.buf.take()
        {
            queue.leave(place);
            // The place is somebody else's from now on.
            self.place = NOWHERE;
            return Poll::Ready(Lent { buf, long });
        }
        if let Some(kept) = queue.wakers.get_mut(usize::from(place))
            && !kept.as_ref().is_some_and(|waker| waker.will_wake(context.waker()))
        {
            *kept = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.long.queue.borrow_mut().leave(self.place);
        // It may have been called and not have come.
        let buf = self.long.buf.take();
        let is_free = buf.is_some();
        self.long.buf.set(buf);
        if is_free {
            self.long.call_the_first();
        }
    }
}

/// The buffer in somebody's hands, until this is dropped.
pub struct Lent<'a> {
    buf: &'static mut [u8],
    long: &'a Long,
}

impl Deref for Lent<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.buf
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.buf
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.long.give_back(core::mem::take(&mut self.buf));
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::boxed::Box;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Wake;
    use std::vec::Vec;

    fn long() -> Long {
        let long = Long::new();
        long.set(Box::leak(Box::new([0; 16])));
        long
    }

    /// Somebody who waits, and looks only when it is called.
    struct Waiter<'a> {
        turn: Turn<'a>,
        is_called: Arc<Call>,
    }

    struct Call(AtomicBool);

    impl Wake for Call {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl<'a> Waiter<'a> {
        fn new(long: &'a Long) -> Self {
            let turn = long.queue_up().expect("a place in the queue");
            Self { turn, is_called: Arc::new(Call(AtomicBool::new(true))) }
        }

        fn look(&mut self) -> Option<Lent<'a>> {
            if !self.is_called.0.swap(false, Ordering::Relaxed) {
                return None;
            }
            let waker = Waker::from(self.is_called.clone());
            match Pin::new(&mut self.turn).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(lent) => Some(lent),
                Poll::Pending => None,
            }
        }
    }

    #[test]
    fn one_at_a_time_has_it_and_who_is_done_gives_it_back() {
        let long = Long::new();
        let mut first = Waiter::new(&long);
        assert!(first.look().is_none(), "there is none yet");
        long.set(Box::leak(Box::new([0; 16])));
        let mut lent = first.look().expect("nobody has it");
        lent.fill(7);
        let mut second = Waiter::new(&long);
        assert!(second.look().is_none());
        assert_eq!(long.size(), 16);
        drop(lent);
        assert_eq!(second.look().expect("it came back").len(), 16);
    }

    #[test]
    fn of_many_who_wait_the_first_come_is_served_first_however_often_the_others_look() {
        let long = long();
        let mut holder = Waiter::new(&long).look();
        let mut waiters: Vec<_> = (0..WAITERS).map(|name| (name, Waiter::new(&long))).collect();
        let mut served = Vec::new();
        while !waiters.is_empty() {
            // The last look first, called or not.
            for (_, waiter) in waiters.iter_mut().rev() {
                waiter.is_called.0.store(true, Ordering::Relaxed);
                assert!(waiter.look().is_none(), "somebody has it");
            }
            drop(holder.take());
            let (name, lent) =
                waiters.iter_mut().rev().find_map(|(name, waiter)| Some((*name, waiter.look()?))).unwrap();
            served.push(name);
            holder = Some(lent);
            waiters.retain(|(other, _)| *other != name);
        }
        assert_eq!(served, (0..WAITERS).collect::<Vec<_>>());
    }

    #[test]
    fn whoever_has_had_it_and_wants_it_again_stands_behind_all_who_wait() {
        let long = long();
        let mut hogs: Vec<_> = (0..5).map(|_| Waiter::new(&long)).collect();
        let mut sixth = Waiter::new(&long);
        for _ in 0..5 {
            let mut hog = hogs.remove(0);
            let lent = hog.look().expect("its turn");
            assert!(sixth.look().is_none());
            drop(lent);
            hogs.push(Waiter::new(&long));
            assert!(hogs.last_mut().unwrap().look().is_none(), "others came before");
        }
        assert!(sixth.look().is_some(), "five were before it, and five have had it");
    }

    #[test]
    fn whoever_gives_up_leaves_the_queue_called_or_not_and_nobody_behind_waits_for_it() {
        for gives_up_after_the_call in [false, true] {
            let long = long();
            let lent = Waiter::new(&long).look().expect("nobody has it");
            let mut waiters: Vec<_> = (0..6).map(|_| Waiter::new(&long)).collect();
            waiters.iter_mut().for_each(|waiter| assert!(waiter.look().is_none()));
            let gone = [3, 1, 0].map(|place| waiters.remove(place));
            if gives_up_after_the_call {
                drop(lent);
                drop(gone);
            } else {
                drop(gone);
                drop(lent);
            }
            while !waiters.is_empty() {
                let lent = waiters.remove(0).look().expect("it was called");
                waiters.iter_mut().for_each(|waiter| assert!(waiter.look().is_none()));
                drop(lent);
            }
        }
    }

    #[test]
    fn the_queue_has_an_end_and_a_place_that_is_left_is_free() {
        let long = long();
        let _lent = Waiter::new(&long).look().expect("nobody has it");
        let mut waiters: Vec<_> = (0..WAITERS).map(|_| Waiter::new(&long)).collect();
        assert_eq!(usize::from(waiters.last().unwrap().turn.ahead()), WAITERS);
        assert!(long.queue_up().is_none());
        waiters.remove(7);
        assert!(long.queue_up().is_some());
    }
}
