//! Time as the referee knows it: an argument. A monotonic count of milliseconds decides every deadline; the
//! calendar is only ever printed. Nothing here reads a clock.

use core::fmt::{self, Write as _};

use crate::json::Str;

/// Milliseconds on a clock that never goes back.
pub type Millis = u64;

/// The moment an event happened: `ms` decides, `utc` is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds on the monotonic clock.
    pub ms: Millis,
    /// The same moment on the calendar.
    pub utc: Utc,
}

impl Now {
    /// The calendar time at which the monotonic clock will show `ms`.
    pub fn utc_at(self, ms: Millis) -> Utc {
        Utc::at(u64::from(self.utc.0).saturating_add(ms.saturating_sub(self.ms).div_ceil(1000)))
    }
}

/// Seconds since 1970-01-01T00:00:00Z, up to the year 2106: results and log entries are many, and each has one. Shown as
/// the protocol demands: `YYYY-MM-DDTHH:MM:SSZ`, never a fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utc(pub u32);

impl Utc {
    /// So many seconds since 1970, or the last moment there is.
    pub fn at(seconds: u64) -> Utc {
        Utc(seconds.try_into().unwrap_or(u32::MAX))
    }

    /// Reads the form that [`is_utc_timestamp`] describes, if there is such a day and it is in our time. A fraction of a
    /// second is dropped.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "four digits at most are far from the end of a `u64`, and a year has more quarters than centuries"
    )]
    pub fn read(text: Str<'_>) -> Option<Utc> {
        if !is_utc_timestamp(text) {
            return None;
        }
        let mut digits = text.chars().filter_map(|c| c.to_digit(10));
        let number = |length| digits.by_ref().take(length).fold(0, |number, digit| number * 10 + u64::from(digit));
        let [year, month, day, h, m, s] = [4, 2, 2, 2, 2, 2].map(number);
        // The other way round than below.
        let year = year.checked_sub(u64::from(month <= 2))?;
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
        let (era, year_of_era) = (year / 400, year % 400);
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
        let utc = Utc(u32::try_from(days * 86_400 + h * 3600 + m * 60 + s).ok()?);
        // The 31st of February is the 3rd of March: it does not come back as it was.
        let mut back = heapless::String::<20>::new();
        write!(back, "{utc}").ok()?;
        let length = "YYYY-MM-DDTHH:MM:SS".len();
        back.chars().take(length).eq(text.chars().take(length)).then_some(utc)
    }
}

impl fmt::Display for Utc {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "there are 49,711 days at most, and what is taken from a count is a part of it"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0 / 86_400, self.0 % 86_400);
        // Civil date from a day count, in 400-year eras that begin on 1 March.
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = era * 400 + year_of_era + u32::from(month <= 2);
        let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}Z")
    }
}

/// Whether a timestamp has the one form the specification allows: `YYYY-MM-DDTHH:MM:SS`, perhaps a fraction, then
/// `Z`. Digits are judged by place, not by calendar: the 31st of February is a bug, not a violation of the form.
pub fn is_utc_timestamp(text: Str<'_>) -> bool {
    const FORM: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let mut chars = text.chars();
    for &want in FORM {
        match (want, chars.next()) {
            (b'd', Some(c)) if c.is_ascii_digit() => {}
            (want, Some(c)) if want != b'd' && c == char::from(want) => {}
            _ => return false,
        }
    }
    match chars.next() {
        Some('Z') => chars.next().is_none(),
        Some('.') => {
            let mut has_digits = false;
            for c in chars.by_ref() {
                match c {
                    '0'..='9' => has_digits = true,
                    'Z' => return has_digits && chars.next().is_none(),
                    _ => return false,
                }
            }
            false
        }
        _ => false,
    }
}

/// What is wrong with a timestamp that [`is_utc_timestamp`] does not take, or as much of it as was kept: its JSON, as it was
/// sent. `None` where that is not one of the forms seen in the wild.
pub fn timestamp_advice(raw: &str) -> Option<&'static str> {
    let Some(text) = raw.strip_prefix('"') else {
        let is_number = raw.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        return is_number.then_some("A timestamp is a text such as \"2025-01-15T10:30:00Z\", not a number of seconds.");
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits >= 8 {
        return Some(
            "A timestamp is not in the compact form: the dashes and colons are missing. 2025-01-15T10:30:00Z, not 20250115T103000Z.",
        );
    }
    let (date, rest) = text.split_at_checked("YYYY-MM-DD".len())?;
    let is_date = date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match rest.chars().next() {
        _ if !is_date => None,
        Some(' ') => Some("A timestamp has a T between date and time, not a space: 2025-01-15T10:30:00Z."),
        Some('T') if rest.contains(['+', '-']) => Some(
            "A timestamp is UTC and ends in Z, not in an offset such as +00:00: 2025-01-15T10:30:00Z. In Python: \
             datetime.now(timezone.utc).strftime(\"%Y-%m-%dT%H:%M:%SZ\").",
        ),
        Some('T') if !rest.contains('Z') => Some(
            "A timestamp says its zone: the Z at the end is missing. 2025-01-15T10:30:00Z, and the time must be UTC.",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_calendar_knows_leap_years() {
        assert_eq!(Utc(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Utc(951_827_696).to_string(), "2000-02-29T12:34:56Z");
        assert_eq!(Utc(1_736_937_000).to_string(), "2025-01-15T10:30:00Z");
        assert_eq!(Utc(4_107_542_400).to_string(), "2100-03-01T00:00:00Z");
    }

    fn read(text: &str) -> Option<Utc> {
        let quoted = std::format!("\"{text}\"");
        Utc::read(crate::json::parse(quoted.as_bytes()).unwrap().as_str().unwrap())
    }

    #[test]
    fn what_is_written_is_read_back() {
        // Every day there is, at ever another second of it.
        for day in 0..u32::MAX / 86_400 {
            let utc = Utc(day * 86_400 + day * 7919 % 86_400);
            assert_eq!(read(&utc.to_string()), Some(utc));
        }
        assert_eq!(read("2025-01-15T10:30:00.999Z"), Some(Utc(1_736_937_000)));
        assert_eq!(read("2106-02-07T06:28:15Z"), Some(Utc(u32::MAX)));
    }

    #[test]
    fn a_moment_that_is_on_no_calendar_is_not_read() {
        for bad in [
            "2025-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2025-00-10T00:00:00Z",
            "2025-13-10T00:00:00Z",
            "2025-04-31T00:00:00Z",
            "2025-01-00T00:00:00Z",
            "2025-01-01T24:00:00Z",
            "2025-01-01T00:60:00Z",
            "2025-01-01T00:00:60Z",
            "1969-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
            "2025-01-01T00:00:00",
            "2106-02-07T06:28:16Z",
            "9999-99-99T99:99:99Z",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_advice_for_a_timestamp_says_what_is_wrong_with_it() {
        for (raw, says) in [
            (r#""20261117T083700Z""#, "dashes and colons are missing"),
            (r#""20261117T083700""#, "dashes and colons are missing"),
            (r#""20261117""#, "dashes and colons are missing"),
            (r#""2025-01-15T10:30:00+00:00""#, "offset"),
            (r#""2025-01-15T10:30:00.123456+02:00""#, "offset"),
            (r#""2025-01-15T10:30:00.123456-0"#, "offset"),
            (r#""2025-01-15T10:30:00""#, "Z at the end is missing"),
            (r#""2025-01-15T10:30:00.123456""#, "Z at the end is missing"),
            (r#""2025-01-15 10:30:00""#, "not a space"),
            ("1736937000", "not a number"),
            ("1736937000.25", "not a number"),
        ] {
            assert!(timestamp_advice(raw).is_some_and(|advice| advice.contains(says)), "{raw}");
        }
        for raw in [r#""now""#, r#""""#, "", "null", r#""שלום שלום שלום""#, r#""15/01/2025 10:30""#] {
            assert_eq!(timestamp_advice(raw), None, "{raw}");
        }
    }

    #[test]
    fn only_utc_with_z_is_the_specified_form() {
        let is = |text: &str| {
            let quoted = std::format!("\"{text}\"");
            is_utc_timestamp(crate::json::parse(quoted.as_bytes()).unwrap().as_str().unwrap())
        };
        assert!(is("2025-01-15T10:30:00Z"));
        assert!(is("2025-01-15T10:30:00.000Z"));
        for bad in [
            "2025-01-15T10:30:00+02:00",
            "2025-01-15T10:30:00+00:00",
            "2025-01-15 10:30:00",
            "20261115T234108Z",
            "2025-01-15T10:30:00.Z",
            "2025-01-15T10:30:00Zz",
            "2025-01-15T10:30:00",
            "",
        ] {
            assert!(!is(bad), "{bad}");
        }
    }
}
