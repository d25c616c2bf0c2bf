//! Finding things in a text that [`parse`](super::parse) has passed.
//!
//! Every function here may take the text for valid, so none can fail; and none would do worse than return too little
//! if it were not. A walk costs one look at each byte.

use super::Str;
use super::string::plain_end;

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
    /// `text` must have passed the scanner, without space around it, and if it is a string have `escapes` or not.
    #[inline(always)]
    pub(super) fn checked(text: &'a str, escapes: bool) -> Self {
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
    pub fn members<const N: usize>(self, names: [&str; N]) -> Members<'a, N> {
        let mut values = [None; N];
        self.find(Found::new(&names, &mut values));
        values
    }

    fn find(self, mut found: Found<'a, '_>) {
        let mut rest = self.entries().rest;
        while let Some(name) = rest.name()
            && let Some(value) = rest.value()
        {
            if let Some(slot) = found.slot(name) {
                found.fill(slot, value);
            }
        }
    }

    /// An object's members in the order they were written, repeated names included; empty for anything else.
    pub fn entries(self) -> Entries<'a> {
        Entries { rest: Rest::new(self.text, b'{') }
    }

    /// An array's items; empty for anything else.
    pub fn items(self) -> Items<'a> {
        Items { rest: Rest::new(self.text, b'[') }
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

    /// The same, and `7.0` is one: JSON has one sort of number, and an agent that computes with fractions sends it so.
    pub fn as_whole(self) -> Option<u64> {
        let point = self.text.split_once('.').filter(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'));
        point.map_or(self.text, |(whole, _)| whole).parse().ok()
    }

    /// A string, its escapes not yet resolved.
    pub fn as_str(self) -> Option<Str<'a>> {
        let inner = self.text.strip_prefix('"')?.strip_suffix('"')?;
        Some(Str::checked(inner, self.escapes))
    }
}

/// Members of an object, each in the place of the name it was asked for by.
pub type Members<'a, const N: usize> = [Option<Value<'a>>; N];

/// The members looked for in an object, as far as they were found.
pub(super) struct Found<'a, 'n> {
    names: &'n [&'n str],
    values: &'n mut [Option<Value<'a>>],
    /// Where the next search begins: members mostly come in the order in which they are asked for.
    next: usize,
}

impl<'a, 'n> Found<'a, 'n> {
    /// There is a value to each name, none of them found yet.
    pub(super) fn new(names: &'n [&'n str], values: &'n mut [Option<Value<'a>>]) -> Self {
        Self { names, values, next: 0 }
    }

    /// Where the value of a member of this name belongs, if it is looked for.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a place among the names, and the one after it, is at most their number"
    )]
    #[inline(always)]
    pub(super) fn slot(&mut self, name: Str<'_>) -> Option<usize> {
        let (before, after) = self.names.split_at_checked(self.next)?;
        let is_it = |wanted: &&str| name.is(wanted);
        let slot = match after.iter().position(is_it) {
            Some(at) => before.len() + at,
            None => before.iter().position(is_it)?,
        };
        self.next = slot + 1;
        Some(slot)
    }

    /// Takes the value of the member that `slot` was found for.
    #[inline(always)]
    pub(super) fn fill(&mut self, slot: usize, value: Value<'a>) {
        if let Some(place) = self.values.get_mut(slot) {
            *place = Some(value);
        }
    }

    /// Forgets what was found: the object was not the one that counts.
    pub(super) fn clear(&mut self) {
        self.values.fill(None);
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
        Some((self.rest.name()?, self.rest.value()?))
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
struct Rest<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    /// What is left of `text` after `bracket`; nothing if it begins with something else.
    fn new(text: &'a str, bracket: u8) -> Self {
        let text = if text.as_bytes().first() == Some(&bracket) { text } else { "" };
        Self { text, at: 1 }
    }

    /// The next value. None at the closing bracket.
    #[inline(always)]
    fn value(&mut self) -> Option<Value<'a>> {
        self.skip_between();
        let start = self.at;
        let mut escapes = false;
        match self.next()? {
            b'"' => (_, escapes) = self.skip_string(),
            b'[' | b'{' => self.skip_container(),
            b']' | b'}' => return None,
            _ => self.skip_word(),
        }
        Some(Value { text: self.text.get(start..self.at)?, escapes })
    }

    /// The next member's name. None at the closing bracket.
    #[inline(always)]
    fn name(&mut self) -> Option<Str<'a>> {
        self.skip_between();
        if self.next()? != b'"' {
            return None;
        }
        let start = self.at;
        let (end, escapes) = self.skip_string();
        Some(Str::checked(self.text.get(start..end)?, escapes))
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.step();
        Some(byte)
    }

    /// Goes past a byte, or the end of the text.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "at most one past the end of a text, and none is longer than `isize::MAX`"
    )]
    #[inline(always)]
    fn step(&mut self) {
        self.at += 1;
    }

    /// Goes to the next name or value, past the comma or colon before it and the space around that.
    #[inline(always)]
    fn skip_between(&mut self) {
        // Between names and values there is nothing else below a quote, nor a comma or colon within them.
        while let Some(..=b' ' | b',' | b':') = self.peek() {
            self.step();
        }
    }

    /// Goes past an array or object, from after its opening bracket.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "there are no more brackets than bytes, and one is open while there is a turn"
    )]
    fn skip_container(&mut self) {
        let mut open = 1_usize;
        while open > 0
            && let Some(byte) = self.next()
        {
            match byte {
                b'"' => {
                    self.skip_string();
                }
                b'[' | b'{' => open += 1,
                b']' | b'}' => open -= 1,
                _ => {}
            }
        }
    }

    /// Goes past a string's closing quote, from after its opening one. Says where that is, and whether there were escapes
    /// before it.
    #[inline(always)]
    fn skip_string(&mut self) -> (usize, bool) {
        self.at = plain_end(self.text.as_bytes(), self.at);
        let escapes = self.peek() != Some(b'"');
        if escapes {
            self.at = escapes_end(self.text.as_bytes(), self.at);
        }
        let end = self.at;
        self.step();
        (end, escapes)
    }

    /// Goes past a number or literal.
    #[inline(always)]
    fn skip_word(&mut self) {
        while let Some(byte) = self.peek()
            && !matches!(byte, 0..=b' ' | b',' | b']' | b'}')
        {
            self.step();
        }
    }
}

/// Where a string's closing quote is, from its first escape on.
// Rare: inside `skip_string` it would slow down every string that has none.
#[cold]
#[inline(never)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "there is a backslash at `at`, and no text is longer than `isize::MAX`"
)]
fn escapes_end(text: &[u8], mut at: usize) -> usize {
    while text.get(at) == Some(&b'\\') {
        at = plain_end(text, at + 2);
    }
    at
}
