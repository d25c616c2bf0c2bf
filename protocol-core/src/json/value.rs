//! Finding things in a text that [`parse`](super::parse) has passed.
//!
//! Every function here may take the text for valid, so none can fail; and none would do worse than return too little
//! if it were not. A walk costs one look at each byte.

use super::Str;
use super::string::skip_plain;

/// One value inside a checked text.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    text: &'a str,
    /// Whether it is a string with escapes. Known from when its end was found, and not worth a second look.
    escapes: bool,
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
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        let escapes = text.strip_prefix('"').is_some_and(|string| skip_string(string.as_bytes()).1);
        Self { text, escapes }
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

    /// Several members in one walk; all `None` if this is no object. Each name is listed once.
    pub fn members<const N: usize>(self, names: [&str; N]) -> [Option<Value<'a>>; N] {
        let mut found = Found::new(names);
        for (name, value) in self.entries() {
            found.note(name, value);
        }
        found.values
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
        Some(Str::checked(inner, self.escapes))
    }
}

/// The members looked for, as far as they were found.
pub(super) struct Found<'a, 'n, const N: usize> {
    names: [&'n str; N],
    pub(super) values: [Option<Value<'a>>; N],
}

impl<'a, 'n, const N: usize> Found<'a, 'n, N> {
    pub(super) fn new(names: [&'n str; N]) -> Self {
        Self { names, values: [None; N] }
    }

    /// Notes a member from its name to the end of its value. `escapes` says whether the value has any, if it is a string.
    pub(super) fn note_member(&mut self, text: &'a str, escapes: bool) {
        let mut rest = Rest(text);
        let Some(name) = rest.string() else { return };
        let value = skip_between(rest.0.as_bytes());
        let Some(text) = rest.take(value, &[]) else { return };
        self.note(name, Value { text, escapes });
    }

    #[inline]
    fn note(&mut self, name: Str<'a>, value: Value<'a>) {
        if let Some((slot, _)) = self.values.iter_mut().zip(self.names).find(|(_, wanted)| name.is(wanted)) {
            *slot = Some(value);
        }
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
        Some((self.rest.string()?, self.rest.value()?))
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
    /// The next value. None at the closing bracket.
    #[inline(always)]
    fn value(&mut self) -> Option<Value<'a>> {
        let start = skip_between(self.0.as_bytes());
        let (end, escapes) = match start {
            [b'"', start @ ..] => skip_string(start),
            [b'[' | b'{', start @ ..] => (skip_container(start), false),
            [b']' | b'}', ..] | [] => return None,
            [_, start @ ..] => (skip_word(start), false),
        };
        Some(Value { text: self.take(start, end)?, escapes })
    }

    /// The next value if it is a string.
    #[inline(always)]
    fn string(&mut self) -> Option<Str<'a>> {
        let [b'"', start @ ..] = skip_between(self.0.as_bytes()) else { return None };
        let (end, escapes) = skip_string(start);
        let text = self.take(start, end)?;
        Some(Str::checked(text.get(..text.len().checked_sub(1)?)?, escapes))
    }

    /// Goes on to `end` and returns what lies between the two, which are both ends of this text.
    #[inline(always)]
    fn take(&mut self, start: &[u8], end: &[u8]) -> Option<&'a str> {
        let length = self.0.len();
        let taken = self.0.get(length - start.len()..length - end.len())?;
        self.0 = self.0.get(length - end.len()..)?;
        Some(taken)
    }
}

/// What follows the comma or colon before a value, and the space around it.
#[inline(always)]
fn skip_between(rest: &[u8]) -> &[u8] {
    match skip_space(rest) {
        [b',' | b':', after @ ..] => skip_space(after),
        value => value,
    }
}

/// What follows the space that `rest` begins with. Between values there is nothing else below `!`.
#[inline(always)]
fn skip_space(mut rest: &[u8]) -> &[u8] {
    while let [..=b' ', after @ ..] = rest {
        rest = after;
    }
    rest
}

/// What follows an array or object, from after its opening bracket.
fn skip_container(mut rest: &[u8]) -> &[u8] {
    let mut open = 1_usize;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'"' => rest = skip_string(rest).0,
            b'[' | b'{' => open += 1,
            b']' | b'}' => {
                open -= 1;
                if open == 0 {
                    return rest;
                }
            }
            _ => {}
        }
    }
    rest
}

/// What follows a string's closing quote, and whether there were escapes before it.
#[inline(always)]
fn skip_string(rest: &[u8]) -> (&[u8], bool) {
    match skip_plain(rest) {
        [b'"', after @ ..] => (after, false),
        escape => (skip_escapes(escape), true),
    }
}

/// What follows the closing quote of a string, from its first escape on.
// Rare: inside `skip_string` it would slow down every string that has none.
#[cold]
#[inline(never)]
fn skip_escapes(mut rest: &[u8]) -> &[u8] {
    loop {
        match skip_plain(rest) {
            [b'\\', _, after @ ..] => rest = after,
            [_, after @ ..] => return after,
            [] => return &[],
        }
    }
}

/// What follows a number or literal.
#[inline(always)]
fn skip_word(mut rest: &[u8]) -> &[u8] {
    while let [byte, after @ ..] = rest
        && !matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r')
    {
        rest = after;
    }
    rest
}
