//! Finding things in a text that [`parse`](super::parse) has passed.
//!
//! Every function here may take the text for valid, so none can fail; and none would do worse than return too little
//! if it were not. A walk costs one look at each byte.

use super::Str;
use super::string::plain_length;

/// One value inside a checked text.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    text: &'a str,
}

/// What sort of value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl<'a> Value<'a> {
    /// `text` must have passed the scanner.
    pub(super) fn checked(text: &'a str) -> Self {
        Self { text: text.trim_matches([' ', '\t', '\n', '\r']) }
    }

    /// The text it was written as, without the space around it.
    pub fn raw(self) -> &'a str {
        self.text
    }

    /// What sort of value it is.
    pub fn kind(self) -> Kind {
        match self.text.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// An object's member. Of two with the same name the last counts, as in Python and JavaScript.
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        let [found] = self.members([name]);
        found
    }

    /// Several members in one walk; all `None` if this is no object.
    pub fn members<const N: usize>(self, names: [&str; N]) -> [Option<Value<'a>>; N] {
        let mut found = [None; N];
        for (name, value) in self.entries() {
            for (slot, wanted) in found.iter_mut().zip(names) {
                if name.is(wanted) {
                    *slot = Some(value);
                }
            }
        }
        found
    }

    /// An object's members in the order they were written, repeated names included; empty for anything else.
    pub fn entries(self) -> Entries<'a> {
        Entries { rest: Rest(self.text.strip_prefix('{').unwrap_or_default()) }
    }

    /// An array's items; empty for anything else.
    pub fn items(self) -> Items<'a> {
        Items { rest: Rest(self.text.strip_prefix('[').unwrap_or_default()) }
    }

    /// `true` or `false`.
    pub fn as_bool(self) -> Option<bool> {
        self.text.parse().ok()
    }

    /// An integer. `None` if it has a point or an exponent, or does not fit.
    pub fn as_i64(self) -> Option<i64> {
        self.text.parse().ok()
    }

    /// An integer that is not negative. `None` if it has a point or an exponent, or does not fit.
    pub fn as_u64(self) -> Option<u64> {
        self.text.parse().ok()
    }

    /// A string, its escapes not yet resolved.
    pub fn as_str(self) -> Option<Str<'a>> {
        let inner = self.text.strip_prefix('"')?.strip_suffix('"')?;
        Some(Str::checked(inner))
    }
}

/// Walks the members of an object.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    rest: Rest<'a>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Str<'a>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.rest.value()?.as_str()?;
        Some((name, self.rest.value()?))
    }
}

/// Walks the items of an array.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: Rest<'a>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest.value()
    }
}

/// What is left of an array or object after its opening bracket.
#[derive(Clone, Debug)]
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// The next value, past the space and the comma or colon before it. None at the closing bracket.
    fn value(&mut self) -> Option<Value<'a>> {
        let start = self.0.bytes().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':'))?;
        let (_, rest) = self.0.split_at_checked(start)?;
        if let Some(b']' | b'}') = rest.as_bytes().first() {
            return None;
        }
        let (text, rest) = rest.split_at_checked(length(rest.as_bytes()))?;
        self.0 = rest;
        Some(Value { text })
    }
}

/// How many bytes the value takes that `bytes` starts with.
fn length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'"') => string_length(bytes),
        Some(b'[' | b'{') => {
            let mut open = 0_usize;
            let mut at = 0;
            while let Some(&byte) = bytes.get(at) {
                match byte {
                    b'"' => {
                        at += string_length(bytes.get(at..).unwrap_or_default());
                        continue;
                    }
                    b'[' | b'{' => open += 1,
                    b']' | b'}' => open = open.saturating_sub(1),
                    _ => {}
                }
                at += 1;
                if open == 0 {
                    break;
                }
            }
            at
        }
        _ => bytes
            .iter()
            .position(|byte| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r'))
            .unwrap_or(bytes.len()),
    }
}

/// The same for a string, both its quotes counted.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(rest) = bytes.get(at..) {
        at += plain_length(rest);
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            _ => return bytes.len().min(at + 1),
        }
    }
    bytes.len()
}
