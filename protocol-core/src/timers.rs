//! One deadline per slot, the nearest first.
//!
//! Whoever owns a slot says when it next needs the clock; the box sleeps until the nearest of these. What a slot
//! stands for, and what is due when its time comes, is left to the owner.

/// Marks a slot without a deadline. Zero, so that a box without deadlines is all zeros.
const IDLE: u16 = 0;

/// At most one deadline for each of its slots: 16 bytes a slot.
///
/// A binary heap that also knows where each slot sits in it, so that any deadline can be moved or dropped.
/// Positions and slots inside always exist: only [`set`](Self::set) brings in a new one, and it checks. How many slots there
/// are, its owner says: `Timers<[Slot; N]>` is lent as `Timers`.
#[derive(Clone, Debug)]
pub struct Timers<S: ?Sized = [Slot]> {
    /// How many have a deadline.
    len: usize,
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
        let Some(&Slot { place, .. }) = self.slots.get(slot) else {
            return;
        };
        match at {
            Some(at) => {
                self.slots[slot].at = at;
                let place = if place == IDLE {
                    self.len += 1;
                    self.len - 1
                } else {
                    usize::from(place) - 1
                };
                self.settle(slot as u16, place);
            }
            None if place == IDLE => {}
            None => {
                self.slots[slot].place = IDLE;
                self.len -= 1;
                let last = self.slots[self.len].heap;
                if usize::from(last) != slot {
                    self.settle(last, usize::from(place) - 1);
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
        let slot = usize::from(self.slots[..self.len].first()?.heap);
        Some((slot, self.slots[slot].at))
    }

    /// Finds the slot its position, given that `hole` is free and all others are in order.
    fn settle(&mut self, slot: u16, mut hole: usize) {
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if self.key(self.slots[parent].heap) < self.key(slot) {
                break;
            }
            self.put(self.slots[parent].heap, hole);
            hole = parent;
        }
        while let Some(child) = self.nearer_child(hole) {
            if self.key(slot) < self.key(self.slots[child].heap) {
                break;
            }
            self.put(self.slots[child].heap, hole);
            hole = child;
        }
        self.put(slot, hole);
    }

    /// The position below this one that is due first.
    fn nearer_child(&self, position: usize) -> Option<usize> {
        let left = 2 * position + 1;
        (left..self.len.min(left + 2)).min_by_key(|&child| self.key(self.slots[child].heap))
    }

    /// What the heap is ordered by. No two slots have the same.
    fn key(&self, slot: u16) -> (u64, u16) {
        (self.slots[usize::from(slot)].at, slot)
    }

    fn put(&mut self, slot: u16, position: usize) {
        self.slots[position].heap = slot;
        self.slots[usize::from(slot)].place = position as u16 + 1;
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
