//! One deadline per slot, the nearest first.
//!
//! Whoever owns a slot says when it next needs the clock; the box sleeps until the nearest of these. What a slot
//! stands for, and what is due when its time comes, is left to the owner.

/// Marks a slot without a deadline. Zero, so that a box without deadlines is all zeros.
const IDLE: u16 = 0;

/// At most one deadline for each of the slots `0..N`: 12 bytes a slot.
///
/// A binary heap that also knows where each slot sits in it, so that any deadline can be moved or dropped.
/// Positions and slots inside are always below `N`: only [`set`](Self::set) brings in a new one, and it checks.
#[derive(Clone, Debug)]
pub struct Timers<const N: usize> {
    /// The deadline of each slot; means nothing while the slot is idle.
    at: [u64; N],
    /// Where each slot sits in `heap`, counted from 1, or [`IDLE`].
    place: [u16; N],
    /// The slots with a deadline, `len` of them, none due before its parent.
    heap: [u16; N],
    len: usize,
}

impl<const N: usize> Timers<N> {
    /// No deadlines. More slots than 16 bits can number do not compile.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(N <= u16::MAX as usize, "slots are numbered with 16 bits") };
        Self { at: [0; N], place: [IDLE; N], heap: [0; N], len: 0 }
    }

    /// Gives the slot a deadline in place of any it had, or none. A slot that does not exist is ignored.
    pub fn set(&mut self, slot: usize, at: Option<u64>) {
        let Some(&place) = self.place.get(slot) else {
            return;
        };
        match at {
            Some(at) => {
                self.at[slot] = at;
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
                self.place[slot] = IDLE;
                self.len -= 1;
                let last = self.heap[self.len];
                if usize::from(last) != slot {
                    self.settle(last, usize::from(place) - 1);
                }
            }
        }
    }

    /// The slot's deadline.
    #[must_use]
    pub fn get(&self, slot: usize) -> Option<u64> {
        (*self.place.get(slot)? != IDLE).then(|| self.at[slot])
    }

    /// The slot that is due first, and when. Of several due together, the lowest.
    #[must_use]
    pub fn next(&self) -> Option<(usize, u64)> {
        let slot = usize::from(*self.heap[..self.len].first()?);
        Some((slot, self.at[slot]))
    }

    /// Finds the slot its position, given that `hole` is free and all others are in order.
    fn settle(&mut self, slot: u16, mut hole: usize) {
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if self.key(self.heap[parent]) < self.key(slot) {
                break;
            }
            self.put(self.heap[parent], hole);
            hole = parent;
        }
        while let Some(child) = self.nearer_child(hole) {
            if self.key(slot) < self.key(self.heap[child]) {
                break;
            }
            self.put(self.heap[child], hole);
            hole = child;
        }
        self.put(slot, hole);
    }

    /// The position below this one that is due first.
    fn nearer_child(&self, position: usize) -> Option<usize> {
        let left = 2 * position + 1;
        (left..self.len.min(left + 2)).min_by_key(|&child| self.key(self.heap[child]))
    }

    /// What the heap is ordered by. No two slots have the same.
    fn key(&self, slot: u16) -> (u64, u16) {
        (self.at[usize::from(slot)], slot)
    }

    fn put(&mut self, slot: u16, position: usize) {
        self.heap[position] = slot;
        self.place[usize::from(slot)] = position as u16 + 1;
    }
}

impl<const N: usize> Default for Timers<N> {
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

    fn drain<const N: usize>(mut timers: Timers<N>) -> Vec<(usize, u64)> {
        let mut seen = Vec::new();
        while let Some((slot, at)) = timers.next() {
            seen.push((slot, at));
            timers.set(slot, None);
        }
        seen
    }

    #[test]
    fn without_deadlines_nothing_is_next() {
        assert_eq!(Timers::<4>::new().next(), None);
        assert_eq!(Timers::<0>::new().next(), None);
    }

    #[test]
    fn slots_due_together_come_lowest_first() {
        let mut timers = Timers::<6>::new();
        for slot in [4, 1, 5, 0, 3, 2] {
            timers.set(slot, Some(7));
        }
        assert!(drain(timers).into_iter().eq((0..6).map(|slot| (slot, 7))));
    }

    #[test]
    fn a_new_deadline_replaces_the_old_one() {
        let mut timers = Timers::<3>::new();
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
        let mut timers = Timers::<2>::new();
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
            let mut timers = Timers::<13>::new();
            let mut plain = [None; 13];
            for (slot, at) in sets {
                timers.set(slot, at);
                if let Some(entry) = plain.get_mut(slot) {
                    *entry = at;
                }
                for (slot, at) in plain.iter().enumerate() {
                    prop_assert_eq!(timers.get(slot), *at);
                }
                let mut due: Vec<_> = plain.iter().enumerate().filter_map(|(slot, at)| Some((slot, (*at)?))).collect();
                due.sort_by_key(|&(slot, at)| (at, slot));
                prop_assert_eq!(timers.next(), due.first().copied());
                prop_assert_eq!(drain(timers.clone()), due);
            }
        }
    }
}
