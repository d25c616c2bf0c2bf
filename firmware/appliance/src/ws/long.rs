//! Buffers for what is too long for that of a slot. A board has few of them, and lends each to one slot at a time: what is long
//! is rare, and over in a moment.
//!
//! First come, first served: whoever wants it stands in a queue, and whoever gives up leaves it. So nobody can be overtaken,
//! and everybody waits for those before it and for nobody else.

use core::cell::{Cell, RefCell};
use core::future::Future;
use core::ops::{Deref, DerefMut};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use heapless::Vec;

/// Slots that can wait for one at once, 9 bytes each on a board: as many as a board has players, and who plays waits once.
const WAITERS: usize = 32;
/// Buffers of one size.
const BUFFERS: usize = 2;
/// The place of who waits no more.
const NOWHERE: u8 = u8::MAX;

/// Where the buffers are while nobody has them, and who waits for one.
#[derive(Default)]
pub struct Long {
    free: [Cell<Option<&'static mut [u8]>>; BUFFERS],
    /// The size of the smallest; 0 where there are none.
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
        Self { free: [const { Cell::new(None) }; BUFFERS], size: Cell::new(0), queue: RefCell::new(Queue::new()) }
    }

    /// From now on there is this one too, as far as there is a place for it.
    pub fn set(&self, buf: &'static mut [u8]) {
        let size = buf.len();
        self.size.set(if self.size.get() == 0 { size } else { self.size.get().min(size) });
        self.give_back(buf);
    }

    /// How large they are, also while somebody has them.
    pub fn size(&self) -> usize {
        self.size.get()
    }

    /// Whether somebody waits for one.
    pub fn is_wanted(&self) -> bool {
        !self.queue.borrow().order.is_empty()
    }

    /// Whether one can be had at once.
    pub fn is_free(&self) -> bool {
        !self.is_wanted() && self.take().map(|buf| self.keep(buf)).is_some()
    }

    fn take(&self) -> Option<&'static mut [u8]> {
        self.free.iter().find_map(Cell::take)
    }

    /// Lends one if another is left then: for who does better with it but can do without.
    pub fn spare(&self) -> Option<Lent<'_>> {
        if self.is_wanted() {
            return None;
        }
        let buf = self.take()?;
        match self.take() {
            Some(left) => {
                self.keep(left);
                Some(Lent { buf, long: self })
            }
            None => {
                self.keep(buf);
                None
            }
        }
    }

    fn keep(&self, buf: &'static mut [u8]) {
        let is_empty = |place: &&Cell<Option<&'static mut [u8]>>| {
            let kept = place.take();
            let is_empty = kept.is_none();
            place.set(kept);
            is_empty
        };
        if let Some(place) = self.free.iter().find(is_empty) {
            place.set(Some(buf));
        }
    }

    /// Takes a place at the end of the queue. `None` where there is none left.
    pub fn queue_up(&self) -> Option<Turn<'_>> {
        let mut queue = self.queue.borrow_mut();
        let ahead = u8::try_from(queue.order.len()).ok()?.saturating_add(1);
        let place = (0..).take(WAITERS).find(|place| !queue.order.contains(place))?;
        queue.order.push(place).ok()?;
        Some(Turn { long: self, place, ahead })
    }

    fn give_back(&self, buf: &'static mut [u8]) {
        self.keep(buf);
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

/// A place in the queue, and the wait for a buffer. Dropping it leaves the queue.
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
            && let Some(buf) = long.take()
        {
            queue.leave(place);
            // The place is somebody else's from now on.
            self.place = NOWHERE;
            drop(queue);
            // There may be another one.
            long.call_the_first();
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
        if let Some(buf) = self.long.take() {
            self.long.give_back(buf);
        }
    }
}

/// A buffer in somebody's hands, until this is dropped.
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
    fn of_two_both_are_lent_to_who_needs_one_and_one_is_left_by_who_can_do_without() {
        let long = long();
        assert!(long.spare().is_none(), "it is the only one");
        long.set(Box::leak(Box::new([0; 20])));
        assert_eq!(long.size(), 16);
        let spare = long.spare().expect("another one is left");
        assert!(long.spare().is_none());
        let needed = Waiter::new(&long).look().expect("that one");
        let (mut first, mut second) = (Waiter::new(&long), Waiter::new(&long));
        assert!(first.look().is_none() && second.look().is_none() && long.is_wanted());
        drop((spare, needed));
        assert!(long.spare().is_none(), "two wait");
        let (first, second) = (first.look(), second.look());
        assert!(first.is_some() && second.is_some(), "both at once");
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
