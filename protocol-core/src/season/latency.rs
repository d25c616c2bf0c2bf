//! How long a player takes to answer, measured by the box: from the first call of a question to its valid answer, retries
//! included.

use crate::time::Millis;

const BUCKETS: usize = 16;

/// The answers of one player, sorted by how long they took: 24 bytes.
///
/// Each bucket reaches to twice the time of the one before it, the first to 3 ms, the last to 131 s. The least time and
/// the number of answers are exact. A quantile is told as the end of its bucket: that share of the answers came within
/// that time, and at most half of it would not have been enough. (Who took longer than 131 s is told as 131 s.)
///
/// Counts are bytes. When one is full all are halved, which keeps the shape of the whole.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    least: u32,
    answers: u16,
    buckets: [u8; BUCKETS],
}

impl Latency {
    /// No answer yet.
    pub const fn new() -> Self {
        Self { least: 0, answers: 0, buckets: [0; BUCKETS] }
    }

    /// One more answer took so long.
    pub fn note(&mut self, took: Millis) {
        let took = u32::try_from(took).unwrap_or(u32::MAX);
        self.least = if self.answers == 0 { took } else { self.least.min(took) };
        self.answers = self.answers.saturating_add(1);
        let index = (took.max(2).ilog2() as usize).saturating_sub(1).min(BUCKETS - 1);
        if self.buckets.get(index) == Some(&u8::MAX) {
            self.buckets.iter_mut().for_each(|count| *count = count.div_ceil(2));
        }
        if let Some(count) = self.buckets.get_mut(index) {
            *count = count.saturating_add(1);
        }
    }

    /// How many answers there were. Beyond 65,535 it stands still.
    pub fn answers(&self) -> u16 {
        self.answers
    }

    /// The least time an answer took, in milliseconds.
    pub fn least_ms(&self) -> Option<u32> {
        (self.answers > 0).then_some(self.least)
    }

    /// So many of a hundred answers came within this time, in milliseconds.
    pub fn within_ms(&self, percent: u32) -> Option<u32> {
        let all: u32 = self.buckets.iter().map(|&count| u32::from(count)).sum();
        let mut wanted = all.saturating_mul(percent).div_ceil(100).max(1);
        for (index, &count) in (0..).zip(&self.buckets) {
            match wanted.checked_sub(count.into()) {
                Some(more) if more > 0 => wanted = more,
                _ => return Some((4_u32 << index).saturating_sub(1)),
            }
        }
        None
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl IntoIterator<Item = Millis>) -> Latency {
        let mut latency = Latency::new();
        times.into_iter().for_each(|took| latency.note(took));
        latency
    }

    #[test]
    fn who_has_not_answered_has_no_latency() {
        let none = Latency::new();
        assert_eq!((none.answers(), none.least_ms(), none.within_ms(50)), (0, None, None));
    }

    #[test]
    fn a_quantile_is_never_too_low_and_less_than_twice_too_high() {
        let mut times: [Millis; 200] = core::array::from_fn(|i| 3 + (i as Millis * 7919) % 4001);
        let latency = of(times);
        times.sort_unstable();
        assert_eq!(latency.least_ms(), Some(times[0] as u32));
        for percent in [1, 50, 99, 100] {
            let exact = times[(2 * percent as usize).saturating_sub(1)] as u32;
            let told = latency.within_ms(percent).unwrap();
            assert!(exact <= told && told < 2 * exact.max(2), "{percent}: {told} for {exact}");
        }
    }

    #[test]
    fn one_slow_answer_of_two_hundred_does_not_change_what_is_usual() {
        let latency = of((0..200).map(|i| if i == 77 { 20_000 } else { 100 }));
        assert_eq!(
            (latency.within_ms(50), latency.within_ms(99), latency.within_ms(100)),
            (Some(127), Some(127), Some(32_767))
        );
    }

    #[test]
    fn after_very_many_answers_the_shape_is_still_right() {
        let latency = of((0..70_000).map(|i| if i % 10 == 0 { 5_000 } else { 10 }));
        assert_eq!(
            (latency.answers(), latency.within_ms(50), latency.within_ms(99)),
            (u16::MAX, Some(15), Some(8_191))
        );
    }

    #[test]
    fn no_time_is_too_short_or_too_long() {
        assert_eq!(of([0]).within_ms(99), Some(3));
        assert_eq!(of([Millis::MAX]).within_ms(99), Some(131_071));
        assert!(size_of::<Latency>() <= 24);
    }
}
