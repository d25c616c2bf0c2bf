//! What `blackjack` and `texasholdem` have in common: moves that are a word and perhaps a number, `["fold"]` or
//! `["raise","120"]`, and chips by seat.

use serde::{Serialize, Serializer};

use super::{MAX_SEATS, Seat};
use crate::json::{Shown, Str, Value};

/// Something of each seat.
pub(super) type BySeat<T> = [T; MAX_SEATS];

/// What a seat has.
pub(super) fn of<T: Copy + Default>(all: &BySeat<T>, seat: Seat) -> T {
    all.get(usize::from(seat)).copied().unwrap_or_default()
}

/// Gives a seat something else.
pub(super) fn set<T>(all: &mut BySeat<T>, seat: Seat, value: T) {
    if let Some(place) = all.get_mut(usize::from(seat)) {
        *place = value;
    }
}

/// Gives a seat more chips.
pub(super) fn add(all: &mut BySeat<u16>, seat: Seat, chips: u16) {
    set(all, seat, of(all, seat).saturating_add(chips));
}

/// The word of a move and what stands behind it. Who sends a bare word means the same.
pub(super) fn read(wanted: Value<'_>) -> Option<(Str<'_>, Option<Value<'_>>)> {
    if let Some(word) = wanted.as_str() {
        return Some((word, None));
    }
    let mut items = wanted.items();
    let (word, number, more) = (items.next()?.as_str()?, items.next(), items.next());
    if more.is_some() { None } else { Some((word, number)) }
}

/// A number of chips: `"120"`, or 120 as a number.
pub(super) fn amount(value: Value<'_>) -> Option<u16> {
    let Some(text) = value.as_str() else {
        return value.as_whole().and_then(|number| u16::try_from(number).ok());
    };
    let text = text.plain()?;
    let point = text.split_once('.').filter(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'));
    let whole = point.map_or(text, |(whole, _)| whole);
    whole.parse().ok().filter(|_| whole.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A move as it is sent.
pub(super) struct Sent(pub &'static str, pub Option<u16>);

impl Serialize for Sent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Sent(word, None) => [word].serialize(serializer),
            Sent(word, Some(number)) => (word, Shown(number)).serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn a_move_is_a_word_or_a_list_of_a_word_and_perhaps_a_number() {
        let word = |text: &'static str| {
            read(parse(text.as_bytes()).unwrap()).map(|(word, number)| (word.plain().unwrap(), number.is_some()))
        };
        assert_eq!(word(r#"["fold"]"#), Some(("fold", false)));
        assert_eq!(word(r#""fold""#), Some(("fold", false)));
        assert_eq!(word(r#"["raise", "120"]"#), Some(("raise", true)));
        for text in ["[]", "{}", "7", "[7]", "null", r#"["raise","120","130"]"#, r#"{"raise":120}"#] {
            assert_eq!(word(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_of_chips_is_digits_or_a_whole_number() {
        let number = |text: &'static str| amount(parse(text.as_bytes()).unwrap());
        for text in ["120", "120.0", r#""120""#, r#""120.0""#, r#""0120""#] {
            assert_eq!(number(text), Some(120), "{text}");
        }
        for text in
            ["-1", "1.5", r#""1.5""#, r#""+5""#, r#""""#, r#"" 5""#, "65536", r#""65536""#, "[5]", "null", "true"]
        {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
