//! The one source of chance in a simulation: a seed goes in, the same numbers come out, for ever and on every machine.

/// SplitMix64: one word of state, and good enough to shuffle a classroom.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers that `seed` decides.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.any() % (high - low + 1)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.any().is_multiple_of(n)
    }

    /// One of these.
    pub fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.any() as usize % of.len()]
    }

    /// So many bytes of noise.
    pub fn bytes(&mut self, n: u64) -> Vec<u8> {
        (0..n).map(|_| self.any() as u8).collect()
    }
}
