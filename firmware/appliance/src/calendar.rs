//! The time of day, as far as it is known. A board without a calendar of its own, on a network without internet, learns
//! it from whoever comes along: agents and browsers say what time it is, a time server says it better. It is only ever
//! printed; every deadline is by the monotonic clock.
//!
//! What is shown never goes back. Who says a later time than shown is believed at once; who says an earlier one makes the
//! calendar run at half speed until the two meet. Of two agents or two browsers the first is believed: the second may be
//! wrong, or lie. So a lie can be told only by whoever comes first, holds until a better source is found, and if it lies
//! in the future, the true time has to catch up with it, or the box be switched off and on.

use protocol_core::json;
use protocol_core::protocols::league_v2::incoming::{Incoming, Request};
use protocol_core::time::{Millis, Utc};

/// 2024-01-01 and 2100-01-01: nobody who says another time can be right.
const SANE: core::ops::Range<u32> = 1_704_067_200..4_102_444_800;

/// How long a board is not asked again what time it is, in milliseconds. Asking takes as long as reading a message.
const ASK_MS: u64 = 50;

/// Who said what time it is; the better ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nobody: the calendar began in 1970 when the box was switched on.
    None,
    /// An agent that registered.
    Agent,
    /// A browser that opened the page.
    Browser,
    /// A time server.
    Sntp,
    /// The board itself.
    System,
}

impl Source {
    /// Its name in `/api/status.json`.
    pub fn name(self) -> &'static str {
        match self {
            Source::None => "none",
            Source::Agent => "agent",
            Source::Browser => "browser",
            Source::Sntp => "sntp",
            Source::System => "system",
        }
    }
}

/// What is known of the time of day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calendar {
    source: Source,
    /// At this moment of the monotonic clock …
    at: Millis,
    /// … so many milliseconds since 1970 were shown …
    shown: u64,
    /// … and that was so many too many.
    ahead: u64,
}

impl Calendar {
    pub const fn new() -> Self {
        Self { source: Source::None, at: 0, shown: 0, ahead: 0 }
    }

    pub fn source(self) -> Source {
        self.source
    }

    /// The time of day at a moment of the monotonic clock.
    pub fn at(self, now: Millis) -> Utc {
        Utc::at(self.millis(now) / 1000)
    }

    /// The time of day at a moment that is over, as far as is known now.
    pub fn then(self, earlier: Millis) -> Utc {
        Utc::at(self.shown.saturating_sub(self.ahead).saturating_sub(self.at.saturating_sub(earlier)) / 1000)
    }

    fn millis(self, now: Millis) -> u64 {
        let passed = now.saturating_sub(self.at);
        self.shown.saturating_add(passed.saturating_sub(self.ahead.min(passed / 2)))
    }

    /// Whether the board itself has said the time of day so recently that it need not be asked.
    pub fn has_just_asked(self, now: Millis) -> bool {
        self.source == Source::System && now.saturating_sub(self.at) < ASK_MS
    }

    /// Whether it would believe such a source now.
    pub fn believes(self, source: Source) -> bool {
        source > self.source || source == self.source && source >= Source::Sntp
    }

    /// Somebody says what time it is now. Says whether that was believed.
    pub fn learn(&mut self, now: Millis, source: Source, utc: Utc) -> bool {
        let believed = self.believes(source) && SANE.contains(&utc.0);
        if believed {
            let (shown, told) = (self.millis(now), u64::from(utc.0) * 1000);
            *self = Self { source, at: now, shown: shown.max(told), ahead: shown.saturating_sub(told) };
        }
        believed
    }
}

/// What a browser says: `{"utc":"2026-01-31T12:00:00Z"}`. The error is the rule that was broken.
pub(crate) fn of_browser(body: &[u8]) -> Result<Utc, &'static str> {
    let body = json::parse(body).map_err(|_| "the body must be JSON: an object with utc")?;
    let utc = body.get("utc").and_then(|utc| Utc::read(utc.as_str()?));
    let utc = utc.ok_or("utc must be the time in UTC, such as 2026-01-31T12:00:00Z")?;
    if SANE.contains(&utc.0) { Ok(utc) } else { Err("utc must be between 2024 and 2100") }
}

/// What an agent says when it registers.
pub(crate) fn of_agent(body: &[u8], registers: bool) -> Option<Utc> {
    let incoming = Incoming::read(body, registers).ok()?;
    let registers = matches!(incoming.request, Request::RegisterPlayer | Request::RegisterReferee);
    Utc::read(incoming.message.get("timestamp").filter(|_| registers)?.as_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2025-01-15T10:30:00Z
    const T: u32 = 1_736_937_000;

    #[test]
    fn time_passes_from_what_was_told() {
        let mut calendar = Calendar::new();
        assert_eq!(calendar.at(5_999), Utc(5));
        assert!(calendar.learn(10_000, Source::Agent, Utc(T)));
        assert_eq!((calendar.at(10_000), calendar.at(12_500)), (Utc(T), Utc(T + 2)));
    }

    #[test]
    fn a_better_source_is_believed_and_a_worse_one_or_another_of_the_same_kind_is_not() {
        let sources = [Source::Agent, Source::Browser, Source::Sntp, Source::System];
        for (rank, &first) in sources.iter().enumerate() {
            for (other, &second) in sources.iter().enumerate() {
                let mut calendar = Calendar::new();
                calendar.learn(0, first, Utc(T));
                let believed = calendar.learn(0, second, Utc(T + 3600));
                let same = first == second && matches!(first, Source::Sntp | Source::System);
                assert_eq!(believed, other > rank || same, "{second:?} after {first:?}");
                assert_eq!(calendar.at(0), Utc(if believed { T + 3600 } else { T }));
                assert_eq!(calendar.source(), if believed { second } else { first });
            }
        }
    }

    #[test]
    fn what_is_shown_never_goes_back_and_meets_the_truth() {
        let mut calendar = Calendar::new();
        calendar.learn(0, Source::Agent, Utc(T + 100));
        calendar.learn(0, Source::Sntp, Utc(T));
        let mut last = Utc(T + 100);
        for second in 0..400 {
            let shown = calendar.at(u64::from(second) * 1000);
            assert!(shown >= last && shown >= Utc(T + second));
            last = shown;
        }
        assert_eq!(calendar.at(100_000), Utc(T + 150), "half speed");
        assert_eq!(calendar.at(200_000), Utc(T + 200), "they meet");
        assert_eq!(calendar.at(300_000), Utc(T + 300));
    }

    #[test]
    fn a_time_server_may_correct_itself_again_and_again() {
        let mut calendar = Calendar::new();
        for hour in 0..48 {
            // The box's own clock is fast by 0.36 seconds an hour.
            let now = u64::from(hour) * 3_600_360;
            let before = calendar.at(now);
            assert!(calendar.learn(now, Source::Sntp, Utc(T + hour * 3600)));
            assert!(calendar.at(now) >= before && calendar.at(now).0 - (T + hour * 3600) <= 1);
        }
    }

    #[test]
    fn a_moment_that_is_over_is_known_once_the_time_is() {
        let mut calendar = Calendar::new();
        calendar.learn(60_000, Source::Browser, Utc(T));
        assert_eq!((calendar.then(60_000), calendar.then(0)), (Utc(T), Utc(T - 60)));
        calendar.learn(120_000, Source::Sntp, Utc(T + 30));
        assert_eq!(calendar.then(0), Utc(T - 90), "by the time that is true, not by the one that is shown");
    }

    #[test]
    fn nobody_is_believed_who_cannot_be_right() {
        let mut calendar = Calendar::new();
        for utc in [0, SANE.start - 1, SANE.end, u32::MAX] {
            assert!(!calendar.learn(0, Source::Sntp, Utc(utc)));
        }
        assert_eq!((calendar.source(), calendar.at(0)), (Source::None, Utc(0)));
    }
}
