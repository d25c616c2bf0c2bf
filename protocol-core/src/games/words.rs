//! Moves that are lists of words: `["pass"]`, `["bid","2"]`. MoltGame sends them so. An agent of another protocol may send a
//! single word without the list, or either of them as the `action` of an object.

use crate::json::{Kind, Value};

/// The words of a move, as they were sent; none if it is no such move.
pub(super) fn words(wanted: Value<'_>) -> impl Iterator<Item = Value<'_>> + Clone {
    let wanted = wanted.get("action").unwrap_or(wanted);
    let alone = Some(wanted).filter(|wanted| wanted.kind() == Kind::String);
    alone.into_iter().chain(wanted.items())
}

/// Whether a value is this word, in whatever case.
pub(super) fn is(value: Value<'_>, word: &str) -> bool {
    value.as_str().is_some_and(|text| text.is_ignore_ascii_case(word))
}
