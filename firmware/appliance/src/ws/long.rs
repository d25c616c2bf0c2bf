//! The buffer for long messages. A board has one, and lends it to one link at a time: nothing but a move with much to remember
//! is long, and it is over in a moment.

use core::cell::Cell;
use core::ops::{Deref, DerefMut};

/// Where the buffer is while nobody has it.
#[derive(Default)]
pub struct Long {
    buf: Cell<Option<&'static mut [u8]>>,
    size: Cell<usize>,
}

impl Long {
    /// There is none.
    pub const fn new() -> Self {
        Self { buf: Cell::new(None), size: Cell::new(0) }
    }

    /// From now on there is this one.
    pub fn set(&self, buf: &'static mut [u8]) {
        self.size.set(buf.len());
        self.buf.set(Some(buf));
    }

    /// How large it is, also while somebody has it.
    pub fn size(&self) -> usize {
        self.size.get()
    }

    /// Takes it, unless somebody has it.
    pub fn lend(&self) -> Option<Lent<'_>> {
        self.buf.take().map(|buf| Lent { buf, long: self })
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
        self.long.buf.set(Some(core::mem::take(&mut self.buf)));
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::boxed::Box;

    #[test]
    fn one_at_a_time_has_it_and_who_is_done_gives_it_back() {
        let long = Long::new();
        assert!(long.lend().is_none());
        long.set(Box::leak(Box::new([0; 16])));
        let mut first = long.lend().expect("nobody has it");
        first.fill(7);
        assert!(long.lend().is_none());
        assert_eq!(long.size(), 16);
        drop(first);
        assert_eq!(long.lend().expect("it came back").len(), 16);
    }
}
