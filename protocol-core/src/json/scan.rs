//! The gate: everything a peer sends passes here before anyone looks inside.
//!
//! One pass, no recursion, no memory but a few words. It only says yes or no; finding things in a text that passed
//! is [`value`](super::value)'s work, which may be simple because this is strict.

use core::fmt;

use super::Value;
use super::string::skip_plain;
use super::value::Found;

/// How deep arrays and objects may nest.
///
/// The deepest example in the specifications we follow is six deep; the rest is room for agents that wrap things once
/// more. The open brackets are kept as bits of one word, so it can be at most 32.
pub const MAX_DEPTH: usize = 16;

/// How many values one text may hold, the outermost and every member and item counted.
///
/// The largest example in the specifications we follow has 513. What the limit buys is time: a walk over a text of
/// nothing but `0,0,0,…` has a known end, whatever the size of the buffer it came in.
pub const MAX_VALUES: usize = 4096;

/// Checks that `text` is one JSON value and nothing else.
pub fn parse(text: &[u8]) -> Result<Value<'_>, Error> {
    parse_members(text, []).map(|(value, [])| value)
}

/// The same, and finds members of the outermost object on the way, as [`Value::members`] would with a walk of its own.
pub fn parse_members<'a, const N: usize>(
    text: &'a [u8],
    names: [&str; N],
) -> Result<(Value<'a>, [Option<Value<'a>>; N]), Error> {
    if text.starts_with("\u{feff}".as_bytes()) {
        return Err(Error { at: 0, kind: ErrorKind::ByteOrderMark });
    }
    let text =
        core::str::from_utf8(text).map_err(|error| Error { at: error.valid_up_to(), kind: ErrorKind::NotUtf8 })?;
    let mut scanner = Scanner { text, rest: text.as_bytes() };
    let mut found = Found::new(names);
    match scanner.text(&mut found) {
        Ok(()) => Ok((Value::checked(text), found.values)),
        // Whatever was expected: at the end of the text it is the end that is wrong.
        Err(_) if scanner.rest.is_empty() => Err(Error { at: text.len(), kind: ErrorKind::EndsEarly }),
        Err(kind) => Err(Error { at: text.len() - scanner.rest.len(), kind }),
    }
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
    /// What is still to be read; after an error, from the byte that is wrong.
    rest: &'a [u8],
}

impl<'a> Scanner<'a> {
    fn text<const N: usize>(&mut self, found: &mut Found<'a, '_, N>) -> Result<(), ErrorKind> {
        let mut open = Open::default();
        let mut values = 0;
        // Where the member of the outermost object begins that is being read.
        let mut member = None;
        // Whether the last string had any.
        let mut escapes = false;
        // Each turn reads one value, or the head of one, and then closes all that ends with it.
        'value: loop {
            values += 1;
            if values > MAX_VALUES {
                return Err(ErrorKind::TooManyValues);
            }
            self.skip_space();
            match self.rest {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    escapes = self.string()?;
                }
                [b'-' | b'0'..=b'9', ..] => self.number()?,
                [b'{', rest @ ..] => {
                    open.push(true)?;
                    self.rest = rest;
                    self.skip_space();
                    if !self.rest.starts_with(b"}") {
                        if open.depth == 1 {
                            member = Some(self.rest);
                        }
                        self.name()?;
                        continue 'value;
                    }
                }
                [b'[', rest @ ..] => {
                    open.push(false)?;
                    self.rest = rest;
                    self.skip_space();
                    if !self.rest.starts_with(b"]") {
                        continue 'value;
                    }
                }
                [b't', ..] => self.literal(b"true")?,
                [b'f', ..] => self.literal(b"false")?,
                [b'n', ..] => self.literal(b"null")?,
                _ => return Err(ErrorKind::NotAValue),
            }
            while let Some(object) = open.innermost() {
                if open.depth == 1
                    && let Some(start) = member.take()
                {
                    found.note_member(self.since(start), escapes);
                }
                self.skip_space();
                match (self.rest, object) {
                    ([b',', rest @ ..], _) => {
                        self.rest = rest;
                        if object {
                            self.skip_space();
                            if open.depth == 1 {
                                member = Some(self.rest);
                            }
                            self.name()?;
                        }
                        continue 'value;
                    }
                    ([b'}', rest @ ..], true) | ([b']', rest @ ..], false) => self.rest = rest,
                    _ => return Err(ErrorKind::NoComma),
                }
                open.pop();
            }
            self.skip_space();
            return if self.rest.is_empty() { Ok(()) } else { Err(ErrorKind::TrailingBytes) };
        }
    }

    /// What was read since `start` was the rest.
    fn since(&self, start: &[u8]) -> &'a str {
        let length = self.text.len();
        self.text.get(length - start.len()..length - self.rest.len()).unwrap_or_default()
    }

    /// A member's name and its colon.
    #[inline(always)]
    fn name(&mut self) -> Result<(), ErrorKind> {
        self.expect(b'"', ErrorKind::NoName)?;
        self.string()?;
        self.skip_space();
        self.expect(b':', ErrorKind::NoColon)
    }

    /// The rest of a string, after its opening quote. Says whether it has escapes.
    #[inline(always)]
    fn string(&mut self) -> Result<bool, ErrorKind> {
        let mut escapes = false;
        loop {
            self.rest = skip_plain(self.rest);
            match self.rest {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    return Ok(escapes);
                }
                [b'\\', ..] => {
                    let mut aside = Scanner { ..*self };
                    let escape = aside.escape();
                    self.rest = aside.rest;
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
        let start = self.rest;
        self.eat(b'\\');
        match self.rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..] => self.rest = rest,
            [b'u', rest @ ..] => {
                self.rest = rest;
                let whole = match self.code_unit()? {
                    0xd800..=0xdbff => {
                        self.eat(b'\\') && self.eat(b'u') && matches!(self.code_unit()?, 0xdc00..=0xdfff)
                    }
                    0xdc00..=0xdfff => false,
                    _ => true,
                };
                if !whole {
                    self.rest = start;
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
            let [byte, rest @ ..] = self.rest else { return Err(ErrorKind::BadEscape) };
            unit = unit << 4 | char::from(*byte).to_digit(16).ok_or(ErrorKind::BadEscape)?;
            self.rest = rest;
        }
        Ok(unit)
    }

    #[inline(always)]
    fn number(&mut self) -> Result<(), ErrorKind> {
        self.eat(b'-');
        if self.eat(b'0') {
            if let [b'0'..=b'9', ..] = self.rest {
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
        let [b'0'..=b'9', ..] = self.rest else { return Err(ErrorKind::BadNumber) };
        while let [b'0'..=b'9', rest @ ..] = self.rest {
            self.rest = rest;
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
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
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
