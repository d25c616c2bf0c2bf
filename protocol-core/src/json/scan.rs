//! The gate: everything a peer sends passes here before anyone looks inside.
//!
//! One pass, no recursion, no memory but a few words. It only says yes or no; finding things in a text that passed
//! is [`value`](super::value)'s work, which may be simple because this is strict.

use core::fmt;

use super::Value;

/// How deep arrays and objects may nest.
///
/// The deepest message of any protocol we speak is seven deep (a game state inside MCP content). The open brackets are
/// kept as bits of one word, so this is also at most 32.
pub const MAX_DEPTH: usize = 16;

/// How many values one text may hold, the outermost and every member and item counted.
///
/// A full board of moves is a few hundred. What the limit buys is time: a walk over a text of nothing but `0,0,0,…`
/// has a known end, whatever the size of the buffer it came in.
pub const MAX_VALUES: usize = 4096;

/// Checks that `text` is one JSON value and nothing else.
pub fn parse(text: &[u8]) -> Result<Value<'_>, Error> {
    if text.starts_with("\u{feff}".as_bytes()) {
        return Err(Error { at: 0, kind: ErrorKind::ByteOrderMark });
    }
    let text =
        core::str::from_utf8(text).map_err(|error| Error { at: error.valid_up_to(), kind: ErrorKind::NotUtf8 })?;
    Scanner { bytes: text.as_bytes(), at: 0 }.text()?;
    Ok(Value::checked(text))
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
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn text(&mut self) -> Result<(), Error> {
        let mut open = Open::default();
        let mut values = 0;
        // Each turn reads one value, or the head of one, and then closes all that ends with it.
        'value: loop {
            self.skip_space();
            values += 1;
            if values > MAX_VALUES {
                return Err(self.error(ErrorKind::TooManyValues));
            }
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b'{') => {
                    open.push(true).ok_or(self.error(ErrorKind::TooDeep))?;
                    self.at += 1;
                    self.skip_space();
                    if self.peek() != Some(b'}') {
                        self.name()?;
                        continue 'value;
                    }
                }
                Some(b'[') => {
                    open.push(false).ok_or(self.error(ErrorKind::TooDeep))?;
                    self.at += 1;
                    self.skip_space();
                    if self.peek() != Some(b']') {
                        continue 'value;
                    }
                }
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                _ => return Err(self.error(ErrorKind::NotAValue)),
            }
            while let Some(object) = open.innermost() {
                self.skip_space();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if object {
                            self.skip_space();
                            self.name()?;
                        }
                        continue 'value;
                    }
                    Some(b'}') if object => self.at += 1,
                    Some(b']') if !object => self.at += 1,
                    _ => return Err(self.error(ErrorKind::NoComma)),
                }
                open.pop();
            }
            self.skip_space();
            return if self.peek().is_none() { Ok(()) } else { Err(self.error(ErrorKind::TrailingBytes)) };
        }
    }

    /// A member's name and its colon.
    fn name(&mut self) -> Result<(), Error> {
        self.expect(b'"', ErrorKind::NoName)?;
        self.string()?;
        self.skip_space();
        self.expect(b':', ErrorKind::NoColon)
    }

    /// The rest of a string, after its opening quote.
    fn string(&mut self) -> Result<(), Error> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(0x20..) => self.at += 1,
                _ => return Err(self.error(ErrorKind::ControlCharacter)),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Error> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                let lone = Error { at: start, kind: ErrorKind::LoneSurrogate };
                match self.code_unit()? {
                    0xd800..=0xdbff => {
                        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"\\u")) {
                            return Err(lone);
                        }
                        self.at += 2;
                        if !matches!(self.code_unit()?, 0xdc00..=0xdfff) {
                            return Err(lone);
                        }
                    }
                    0xdc00..=0xdfff => return Err(lone),
                    _ => {}
                }
            }
            _ => return Err(self.error(ErrorKind::BadEscape)),
        }
        Ok(())
    }

    /// The four hexadecimal digits of a `\u` escape.
    fn code_unit(&mut self) -> Result<u32, Error> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit << 4 | digit.ok_or(self.error(ErrorKind::BadEscape))?;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<(), Error> {
        self.eat(b'-');
        if self.eat(b'0') {
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.error(ErrorKind::BadNumber));
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
    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.error(ErrorKind::BadNumber)) }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Error> {
        word.iter().try_for_each(|&byte| self.expect(byte, ErrorKind::NotAValue))
    }

    fn expect(&mut self, byte: u8, otherwise: ErrorKind) -> Result<(), Error> {
        if self.eat(byte) { Ok(()) } else { Err(self.error(otherwise)) }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// What is wrong here. Whatever was expected, at the end of the text it is the end that is wrong.
    fn error(&self, kind: ErrorKind) -> Error {
        let kind = if self.peek().is_none() { ErrorKind::EndsEarly } else { kind };
        Error { at: self.at, kind }
    }
}

/// The brackets open at this point, innermost in the lowest bit: 1 for an object, 0 for an array.
#[derive(Default)]
struct Open {
    objects: u32,
    depth: usize,
}

impl Open {
    fn push(&mut self, object: bool) -> Option<()> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u32::from(object);
        Some(())
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
