//! One deadline per slot, the nearest first.
//!
//! Whoever owns a slot says when it next needs the clock; the box sleeps until the nearest of these. What a slot
//! stands for, and what is due when its time comes, is left to the owner.

/// Marks a slot without a deadline. Zero, so that a box without deadlines is all zeros.
const IDLE: u16 = 0;

/// At most one deadline for each of its slots: 16 bytes a slot.
///
/// A binary heap that also knows where each slot sits in it, so that any deadline can be moved or dropped.
/// Places and slots inside always exist: only [`set`](Self::set) brings in a new one, and it checks. How many slots there
/// are, its owner says: `Timers<[Slot; N]>` is lent as `Timers`.
#[derive(Clone, Debug)]
pub struct Timers<S: ?Sized = [Slot]> {
    /// How many have a deadline.
    len: u16,
    slots: S,
}

/// One slot, and one place of the heap.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The deadline of this slot; means nothing while it is idle.
    at: u64,
    /// Where this slot sits in the heap, counted from 1, or [`IDLE`].
    place: u16,
    /// The slot that sits at this place of the heap, if there are so many; none is due before its parent.
    heap: u16,
}

impl<const N: usize> Timers<[Slot; N]> {
    /// No deadlines. More slots than 16 bits can number do not compile.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(N <= u16::MAX as usize, "slots are numbered with 16 bits") };
        Self { len: 0, slots: [Slot { at: 0, place: IDLE, heap: 0 }; N] }
    }
}

impl Timers {
    /// Drops every deadline.
    pub fn clear(&mut self) {
        self.len = 0;
        self.slots.iter_mut().for_each(|slot| slot.place = IDLE);
    }

    /// Gives the slot a deadline in place of any it had, or none. A slot that does not exist is ignored.
    pub fn set(&mut self, slot: usize, at: Option<u64>) {
        let (Some(held), Ok(slot)) = (self.slots.get_mut(slot), u16::try_from(slot)) else {
            return;
        };
        match at {
            Some(at) => {
                held.at = at;
                let place = if held.place == IDLE {
                    self.len = self.len.saturating_add(1);
                    self.len
                } else {
                    held.place
                };
                self.settle(slot, place);
            }
            None if held.place == IDLE => {}
            None => {
                let hole = core::mem::replace(&mut held.place, IDLE);
                let last = self.at(self.len);
                self.len = self.len.saturating_sub(1);
                if let Some(last) = last.filter(|&last| last != slot) {
                    self.settle(last, hole);
                }
            }
        }
    }

    /// The slot's deadline.
    #[must_use]
    pub fn get(&self, slot: usize) -> Option<u64> {
        self.slots.get(slot).filter(|slot| slot.place != IDLE).map(|slot| slot.at)
    }

    /// The slot that is due first, and when. Of several due together, the lowest.
    #[must_use]
    pub fn next(&self) -> Option<(usize, u64)> {
        let slot = usize::from(self.at(1)?);
        Some((slot, self.slots.get(slot)?.at))
    }

    /// Finds the slot its place, given that `hole` is free and all others are in order.
    fn settle(&mut self, slot: u16, mut hole: u16) {
        while let Some(above) = self.at(hole / 2)
            && self.key(slot) < self.key(above)
        {
            self.put(above, hole);
            hole /= 2;
        }
        while let Some((child, below)) = self.nearer_child(hole)
            && self.key(below) < self.key(slot)
        {
            self.put(below, hole);
            hole = child;
        }
        self.put(slot, hole);
    }

    /// The slot at this place of the heap, counted from 1.
    fn at(&self, place: u16) -> Option<u16> {
        let place = usize::from(place.checked_sub(1)?);
        (place < usize::from(self.len)).then_some(self.slots.get(place)?.heap)
    }

    /// The place below this one that is due first, and the slot there.
    fn nearer_child(&self, place: u16) -> Option<(u16, u16)> {
        let left = place.checked_mul(2)?;
        let children = [left, left | 1].into_iter().filter_map(|child| Some((child, self.at(child)?)));
        children.min_by_key(|&(_, slot)| self.key(slot))
    }

    /// What the heap is ordered by. No two slots have the same.
    fn key(&self, slot: u16) -> (Option<u64>, u16) {
        (self.slots.get(usize::from(slot)).map(|slot| slot.at), slot)
    }

    fn put(&mut self, slot: u16, place: u16) {
        if let Some(at) = place.checked_sub(1).and_then(|at| self.slots.get_mut(usize::from(at))) {
            at.heap = slot;
        }
        if let Some(slot) = self.slots.get_mut(usize::from(slot)) {
            slot.place = place;
        }
    }
}

impl<const N: usize> Default for Timers<[Slot; N]> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn drain(timers: &mut Timers) -> Vec<(usize, u64)> {
        let mut seen = Vec::new();
        while let Some((slot, at)) = timers.next() {
            seen.push((slot, at));
            timers.set(slot, None);
        }
        seen
    }

    #[test]
    fn without_deadlines_nothing_is_next() {
        let (four, none): (&Timers, &Timers) = (&Timers::<[_; 4]>::new(), &Timers::<[_; 0]>::new());
        assert_eq!((four.next(), none.next()), (None, None));
    }

    #[test]
    fn slots_due_together_come_lowest_first() {
        let timers: &mut Timers = &mut Timers::<[_; 6]>::new();
        for slot in [4, 1, 5, 0, 3, 2] {
            timers.set(slot, Some(7));
        }
        assert!(drain(timers).into_iter().eq((0..6).map(|slot| (slot, 7))));
    }

    #[test]
    fn a_new_deadline_replaces_the_old_one() {
        let timers: &mut Timers = &mut Timers::<[_; 3]>::new();
        timers.set(0, Some(10));
        timers.set(1, Some(20));
        timers.set(0, Some(30));
        assert_eq!(timers.next(), Some((1, 20)));
        timers.set(0, Some(u64::MAX));
        timers.set(1, Some(0));
        assert_eq!(drain(timers), [(1, 0), (0, u64::MAX)]);
    }

    #[test]
    fn a_slot_that_does_not_exist_is_ignored() {
        let timers: &mut Timers = &mut Timers::<[_; 2]>::new();
        timers.set(2, Some(1));
        timers.set(usize::MAX, Some(1));
        timers.set(2, None);
        assert_eq!((timers.next(), timers.get(2)), (None, None));
    }

    proptest! {
        #[test]
        fn any_history_of_sets_reads_like_a_plain_list(
            // Few slots and few times, so that ties, replacements and removals are the rule.
            sets in proptest::collection::vec((0usize..15, proptest::option::weighted(0.7, 0u64..20)), 0..200)
        ) {
            let mut timers = Timers::<[_; 13]>::new();
            let mut plain = [None; 13];
            for (slot, at) in sets {
                let view: &mut Timers = &mut timers;
                view.set(slot, at);
                if let Some(entry) = plain.get_mut(slot) {
                    *entry = at;
                }
                for (slot, at) in plain.iter().enumerate() {
                    prop_assert_eq!(view.get(slot), *at);
                }
                let mut due: Vec<_> = plain.iter().enumerate().filter_map(|(slot, at)| Some((slot, (*at)?))).collect();
                due.sort_by_key(|&(slot, at)| (at, slot));
                prop_assert_eq!(view.next(), due.first().copied());
                prop_assert_eq!(drain(&mut timers.clone()), due);
            }
        }
    }
}
