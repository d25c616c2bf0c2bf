//! Even and odd: what a choice is in the games that ask for one, and how the house guesses.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;

use serde::Serialize;

use super::{Illegal, Table};
use crate::json::Value;

/// Even or odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Parity {
    /// Divisible by two.
    Even,
    /// Not.
    Odd,
}

impl Parity {
    /// The parity of a number.
    pub fn of(number: impl Into<u64>) -> Parity {
        if number.into().is_multiple_of(2) { Parity::Even } else { Parity::Odd }
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Parity::Even => "even",
            Parity::Odd => "odd",
        }
    }

    /// The one with that name.
    pub fn named(name: &str) -> Option<Parity> {
        [Parity::Even, Parity::Odd].into_iter().find(|parity| parity.name() == name)
    }

    /// The other one.
    pub fn other(self) -> Parity {
        match self {
            Parity::Even => Parity::Odd,
            Parity::Odd => Parity::Even,
        }
    }

    /// Where a choice stands in an object: at `parity_choice`, where it belongs, or at `choice` or `move`, be it as the `value`
    /// of an object there. Agents write all of these. The name is that of the wrong place.
    pub(crate) fn find(within: Value<'_>) -> Option<(Value<'_>, Option<&'static str>)> {
        let [parity, choice, played] = within.members(["parity_choice", "choice", "move"]);
        match [parity, choice, played].map(|value| value.filter(|value| !value.is_null())) {
            [Some(parity), ..] => Some((parity, None)),
            [_, Some(choice), _] => Some((choice.get("value").unwrap_or(choice), Some("choice"))),
            [_, _, Some(played)] => Some((played.get("value").unwrap_or(played), Some("move"))),
            _ => None,
        }
    }

    /// Reads a choice: the word itself, or an object [with the word](Self::find) somewhere. Case does not matter.
    pub(super) fn read(wanted: Value<'_>) -> Result<Parity, Illegal> {
        let wanted = Self::find(wanted).map_or(wanted, |(found, _)| found);
        let Some(word) = wanted.as_str().or_else(|| wanted.get("value")?.as_str()) else {
            return Err(Illegal("Invalid choice format: a choice is the string \"even\" or \"odd\""));
        };
        if word.is_ignore_ascii_case("even") {
            Ok(Parity::Even)
        } else if word.is_ignore_ascii_case("odd") {
            Ok(Parity::Odd)
        } else {
            Err(Illegal("Choice not in allowed values: \"even\" or \"odd\""))
        }
    }

    /// Two bits that keep a choice, or that there was none.
    pub(super) fn to_bits(choice: Option<Parity>) -> u64 {
        match choice {
            None => 0,
            Some(Parity::Even) => 1,
            Some(Parity::Odd) => 2,
        }
    }

    pub(super) fn from_bits(bits: u64) -> Option<Parity> {
        match bits & 3 {
            1 => Some(Parity::Even),
            2 => Some(Parity::Odd),
            _ => None,
        }
    }
}

/// `{"P01":"even","P02":"odd"}`. Who did not choose is not in it: validators know no other values.
pub(super) struct Choices<'a> {
    pub choices: &'a [Option<Parity>; 2],
    pub table: Table<'a>,
}

impl Serialize for Choices<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let chose = (0..).zip(self.choices).filter_map(|(seat, choice)| Some((self.table.id(seat), choice.as_ref()?)));
        serializer.collect_map(chose)
    }
}
