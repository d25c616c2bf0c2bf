//! The gate: everything a peer sends passes here before anyone looks inside.
//!
//! One pass, no recursion, no memory but a few words. It only says yes or no; finding things in a text that passed
//! is [`value`](super::value)'s work, which may be simple because this is strict.

use core::fmt;

use super::string::plain_end;
use super::value::Found;
use super::{Members, Str, Value};

/// How deep arrays and objects may nest.
///
/// The deepest example in the specifications we follow is six deep; the rest is room for agents that wrap things once
/// more. The open brackets are kept as bits of one word, so it can be at most 32.
pub const MAX_DEPTH: usize = 16;

/// How many values one text may hold, the outermost and every member and item counted.
///
/// The largest example in the specifications we follow has 513; a drone's memory of 10 KB, all of it numbers of one digit, has
/// 5,120. What the limit buys is time: a walk over a text of nothing but `0,0,0,…` has a known end, whatever the size of the
/// buffer it came in.
pub const MAX_VALUES: usize = 6144;

/// Checks that `text` is one JSON value and nothing else.
pub fn parse(text: &[u8]) -> Result<Value<'_>, Error> {
    parse_members(text, [], "", []).map(|(value, [], [])| value)
}

/// The same, and finds members on the way, as [`Value::members`] would with two walks of its own: members of the
/// outermost object, and `inner` ones of that member of it that is called `of`.
pub fn parse_members<'a, const N: usize, const M: usize>(
    text: &'a [u8],
    names: [&str; N],
    of: &str,
    inner: [&str; M],
) -> Result<(Value<'a>, Members<'a, N>, Members<'a, M>), Error> {
    let (mut outer_values, mut inner_values) = ([None; N], [None; M]);
    let sought = Sought {
        found: [Found::new(&names, &mut outer_values), Found::new(&inner, &mut inner_values)],
        of: names.iter().position(|name| *name == of),
    };
    let root = scan(text, sought)?;
    Ok((root, outer_values, inner_values))
}

fn scan<'a>(text: &'a [u8], sought: Sought<'a, '_>) -> Result<Value<'a>, Error> {
    if text.starts_with("\u{feff}".as_bytes()) {
        return Err(Error { at: 0, kind: ErrorKind::ByteOrderMark });
    }
    let text =
        core::str::from_utf8(text).map_err(|error| Error { at: error.valid_up_to(), kind: ErrorKind::NotUtf8 })?;
    let mut scanner = Scanner { text, at: 0 };
    scanner.text(sought).map_err(|kind| {
        // Whatever was expected: at the end of the text it is the end that is wrong.
        let kind = if scanner.at < text.len() { kind } else { ErrorKind::EndsEarly };
        Error { at: scanner.at, kind }
    })
}

/// Why a text was refused, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Offset of the offending byte.
    pub at: usize,
    /// The rule that was broken.
    pub kind: ErrorKind,
}

/// The rule a refused text broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text starts with U+FEFF.
    ByteOrderMark,
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The text ends inside a value, or is empty.
    EndsEarly,
    /// Something else stands where a value must.
    NotAValue,
    /// A number with a leading zero, a bare sign, or no digits after its point or exponent.
    BadNumber,
    /// A byte below 0x20 between quotes.
    ControlCharacter,
    /// A backslash before something JSON does not know.
    BadEscape,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// An object's member does not start with a quoted name.
    NoName,
    /// No colon after a member's name.
    NoColon,
    /// Neither a comma nor the closing bracket after a value.
    NoComma,
    /// More after the end of the value.
    TrailingBytes,
    /// More than [`MAX_DEPTH`] brackets open.
    TooDeep,
    /// More than [`MAX_VALUES`] values.
    TooManyValues,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at byte {}", self.kind, self.at)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByteOrderMark => "byte order mark before the JSON text",
            Self::NotUtf8 => "text is not UTF-8",
            Self::EndsEarly => "text ends too early",
            Self::NotAValue => "not a JSON value",
            Self::BadNumber => "malformed number",
            Self::ControlCharacter => "control character in a string",
            Self::BadEscape => "unknown escape in a string",
            Self::LoneSurrogate => "half of a surrogate pair in a string",
            Self::NoName => "member without a quoted name",
            Self::NoColon => "no ':' after a member's name",
            Self::NoComma => "neither ',' nor the closing bracket after a value",
            Self::TrailingBytes => "more text after the value",
            Self::TooDeep => return write!(f, "nested deeper than {MAX_DEPTH}"),
            Self::TooManyValues => return write!(f, "more than {MAX_VALUES} values"),
        })
    }
}

impl core::error::Error for Error {}

struct Scanner<'a> {
    text: &'a str,
    /// The next byte to be read; after an error, the byte that is wrong.
    at: usize,
}

impl<'a> Scanner<'a> {
    fn text(&mut self, mut sought: Sought<'a, '_>) -> Result<Value<'a>, ErrorKind> {
        let mut open = Open::default();
        let mut values_left = MAX_VALUES;
        // By depth, as far as it matters: where the value begins that is being read, and where it belongs.
        let (mut starts, mut slots) = ([0; 3], [None; 3]);
        // Whether the last string had any.
        let mut escapes = false;
        // Each turn reads one value, or the head of one, and then closes all that ends with it.
        'value: loop {
            self.skip_space();
            if open.innermost() == Some(true) {
                self.expect(b'"', ErrorKind::NoName)?;
                let start = self.at;
                let (end, escapes) = self.string()?;
                let [_, outer, _] = slots;
                if let Some(slot) = slots.get_mut(open.depth) {
                    let name = self.text.get(start..end).unwrap_or_default();
                    *slot = sought.slot(open.depth, outer, Str::checked(name, escapes));
                }
                self.skip_space();
                self.expect(b':', ErrorKind::NoColon)?;
                self.skip_space();
            }
            values_left = values_left.checked_sub(1).ok_or(ErrorKind::TooManyValues)?;
            if let Some(start) = starts.get_mut(open.depth) {
                *start = self.at;
            }
            match self.peek() {
                b'"' => {
                    self.step();
                    (_, escapes) = self.string()?;
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b'{' => {
                    open.push(true)?;
                    self.step();
                    self.skip_space();
                    if !self.eat(b'}') {
                        continue 'value;
                    }
                    open.pop();
                }
                b'[' => {
                    open.push(false)?;
                    self.step();
                    self.skip_space();
                    if !self.eat(b']') {
                        continue 'value;
                    }
                    open.pop();
                }
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                _ => return Err(ErrorKind::NotAValue),
            }
            while let Some(object) = open.innermost() {
                if object
                    && let (Some(&start), Some(&Some(slot))) = (starts.get(open.depth), slots.get(open.depth))
                    && let Some(text) = self.text.get(start..self.at)
                {
                    sought.fill(open.depth, slot, Value::checked(text, escapes));
                }
                self.skip_space();
                match (self.peek(), object) {
                    (b',', _) => {
                        self.step();
                        continue 'value;
                    }
                    (b'}', true) | (b']', false) => self.step(),
                    _ => return Err(ErrorKind::NoComma),
                }
                open.pop();
            }
            let [start, ..] = starts;
            let root = Value::checked(self.text.get(start..self.at).unwrap_or_default(), escapes);
            self.skip_space();
            return if self.at == self.text.len() { Ok(root) } else { Err(ErrorKind::TrailingBytes) };
        }
    }

    /// The rest of a string, after its opening quote. Says where its closing one is, and whether it has escapes.
    #[inline(always)]
    fn string(&mut self) -> Result<(usize, bool), ErrorKind> {
        let mut escapes = false;
        loop {
            self.at = plain_end(self.text.as_bytes(), self.at);
            match self.peek() {
                b'"' => {
                    let end = self.at;
                    self.step();
                    return Ok((end, escapes));
                }
                b'\\' => {
                    let mut aside = Scanner { ..*self };
                    let escape = aside.escape();
                    self.at = aside.at;
                    escape?;
                }
                _ => return Err(ErrorKind::ControlCharacter),
            }
            escapes = true;
        }
    }

    // Rare, and large: inside `string` it would slow down every string that has none.
    #[cold]
    #[inline(never)]
    fn escape(&mut self) -> Result<(), ErrorKind> {
        let start = self.at;
        self.step();
        match self.peek() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.step(),
            b'u' => {
                self.step();
                let whole = match self.code_unit()? {
                    0xd800..=0xdbff => {
                        self.eat(b'\\') && self.eat(b'u') && matches!(self.code_unit()?, 0xdc00..=0xdfff)
                    }
                    0xdc00..=0xdfff => false,
                    _ => true,
                };
                if !whole {
                    self.at = start;
                    return Err(ErrorKind::LoneSurrogate);
                }
            }
            _ => return Err(ErrorKind::BadEscape),
        }
        Ok(())
    }

    /// The four hexadecimal digits of a `\u` escape.
    fn code_unit(&mut self) -> Result<u32, ErrorKind> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit << 4 | char::from(self.peek()).to_digit(16).ok_or(ErrorKind::BadEscape)?;
            self.step();
        }
        Ok(unit)
    }

    #[inline(always)]
    fn number(&mut self) -> Result<(), ErrorKind> {
        self.eat(b'-');
        if self.eat(b'0') {
            if self.peek().is_ascii_digit() {
                return Err(ErrorKind::BadNumber);
            }
        } else {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(())
    }

    /// At least one digit.
    #[inline(always)]
    fn digits(&mut self) -> Result<(), ErrorKind> {
        if !self.peek().is_ascii_digit() {
            return Err(ErrorKind::BadNumber);
        }
        while self.peek().is_ascii_digit() {
            self.step();
        }
        Ok(())
    }

    #[inline(always)]
    fn literal(&mut self, word: &[u8]) -> Result<(), ErrorKind> {
        word.iter().try_for_each(|&byte| self.expect(byte, ErrorKind::NotAValue))
    }

    #[inline(always)]
    fn expect(&mut self, byte: u8, otherwise: ErrorKind) -> Result<(), ErrorKind> {
        if self.eat(byte) { Ok(()) } else { Err(otherwise) }
    }

    #[inline(always)]
    fn eat(&mut self, byte: u8) -> bool {
        if self.peek() != byte {
            return false;
        }
        self.step();
        true
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        while let b' ' | b'\t' | b'\n' | b'\r' = self.peek() {
            self.step();
        }
    }

    /// Goes past a byte that was looked at.
    #[expect(clippy::arithmetic_side_effects, reason = "a byte that was looked at lies before the end of the text")]
    #[inline(always)]
    fn step(&mut self) {
        self.at += 1;
    }

    /// The next byte. After the last there is a nought, which stands nowhere in a good text.
    #[inline(always)]
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }
}

/// The members to be found on the way: of the outermost object, and of that one of them whose slot is `of`.
struct Sought<'a, 'n> {
    found: [Found<'a, 'n>; 2],
    of: Option<usize>,
}

impl<'a> Sought<'a, '_> {
    /// Where the value of a member of this name belongs, if it is looked for. `outer` says the same of the member it is in.
    #[inline(never)]
    fn slot(&mut self, depth: usize, outer: Option<usize>, name: Str<'_>) -> Option<usize> {
        if depth == 2 && (outer.is_none() || outer != self.of) {
            return None;
        }
        let slot = self.found.get_mut(depth.checked_sub(1)?)?.slot(name)?;
        if depth == 1 && Some(slot) == self.of {
            let [_, inner] = &mut self.found;
            inner.clear();
        }
        Some(slot)
    }

    fn fill(&mut self, depth: usize, slot: usize, value: Value<'a>) {
        if let Some(found) = depth.checked_sub(1).and_then(|at| self.found.get_mut(at)) {
            found.fill(slot, value);
        }
    }
}

/// The brackets open at this point, innermost in the lowest bit: 1 for an object, 0 for an array.
#[derive(Default)]
struct Open {
    objects: u32,
    depth: usize,
}

impl Open {
    #[expect(clippy::arithmetic_side_effects, reason = "the depth stays below its limit")]
    fn push(&mut self, object: bool) -> Result<(), ErrorKind> {
        if self.depth == MAX_DEPTH {
            return Err(ErrorKind::TooDeep);
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u32::from(object);
        Ok(())
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.objects >>= 1;
    }

    /// Whether the innermost bracket is an object's; none if all are closed.
    fn innermost(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.objects & 1 == 1)
    }
}
