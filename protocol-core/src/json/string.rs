//! Strings as they stand in the text, and what they mean once their escapes are resolved.

use core::fmt;

use heapless::String;

use super::{Sink, Slice};

/// What stands between the quotes of a checked string.
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    inner: &'a str,
    escapes: bool,
}

/// The string does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("string too long")
    }
}

impl core::error::Error for TooLong {}

impl<'a> Str<'a> {
    /// `inner` must have passed the scanner, and have `escapes` or not.
    pub(super) fn checked(inner: &'a str, escapes: bool) -> Self {
        Self { inner, escapes }
    }

    /// The characters meant, escapes resolved.
    pub fn chars(self) -> Chars<'a> {
        Chars { rest: self.inner.chars() }
    }

    /// The string itself, if it was written without escapes.
    pub fn plain(self) -> Option<&'a str> {
        (!self.escapes).then_some(self.inner)
    }

    /// A copy with escapes resolved.
    pub fn text<const N: usize>(self) -> Result<String<N>, TooLong> {
        let mut text = String::new();
        match self.plain() {
            Some(plain) => text.push_str(plain),
            None => self.chars().try_for_each(|c| text.push(c)),
        }
        .map_err(|_| TooLong)?;
        Ok(text)
    }

    /// As much of it as fits, cut between two characters.
    pub fn truncated<const N: usize>(self) -> String<N> {
        let mut text = String::new();
        // The first character that does not fit ends the copy: that is the cut.
        let _ = self.chars().try_for_each(|c| text.push(c));
        text
    }

    /// A copy in `buf`, escapes resolved; none if it does not fit.
    pub fn unescape_into(self, buf: &mut [u8]) -> Option<&str> {
        let mut text = Slice::new(buf);
        self.chars().try_for_each(|c| text.put(c.encode_utf8(&mut [0; 4]).as_bytes())).ok()?;
        let length = text.len();
        core::str::from_utf8(buf.get(..length)?).ok()
    }

    /// Whether it means `text`, however it was written.
    #[inline]
    pub fn is(self, text: &str) -> bool {
        if self.escapes { self.means(text) } else { self.inner == text }
    }

    // Rare: inside `is` it would slow down every comparison.
    #[cold]
    #[inline(never)]
    fn means(self, text: &str) -> bool {
        self.chars().eq(text.chars())
    }

    /// The same, but `A` is `a`.
    pub fn is_ignore_ascii_case(self, text: &str) -> bool {
        let lower = |c: char| c.to_ascii_lowercase();
        self.chars().map(lower).eq(text.chars().map(lower))
    }

    /// Whether it is `""`.
    pub fn is_empty(self) -> bool {
        self.inner.is_empty()
    }
}

/// Writes the characters meant.
impl fmt::Display for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        match self.plain() {
            Some(plain) => f.write_str(plain),
            None => self.chars().try_for_each(|c| f.write_char(c)),
        }
    }
}

/// The characters of a [`Str`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    rest: core::str::Chars<'a>,
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c != '\\' {
            return Some(c);
        }
        Some(match self.rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.code_point(),
            itself => itself,
        })
    }
}

impl Chars<'_> {
    /// What follows `\u`: four digits, or twelve bytes for a surrogate pair.
    fn code_point(&mut self) -> char {
        let mut code = self.code_unit();
        if (0xd800..0xdc00).contains(&code) {
            self.rest.nth(1);
            code = ((code & 0x3ff) << 10 | self.code_unit() & 0x3ff).saturating_add(0x1_0000);
        }
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn code_unit(&mut self) -> u32 {
        (0..4).fold(0, |unit, _| unit << 4 | self.rest.next().and_then(|c| c.to_digit(16)).unwrap_or(0))
    }
}

/// Where the bytes end that may stand between quotes as they are: at a quote, backslash or control character, or at the
/// end of the text.
///
/// All reading and writing of strings comes down to this, so it looks at a machine word at a time.
#[expect(clippy::arithmetic_side_effects, reason = "`rest` is a tail of `text`, and the place found lies in it")]
#[inline]
pub(super) fn plain_end(text: &[u8], from: usize) -> usize {
    const EACH: usize = usize::MAX / 0xff;
    // Sets the top bit of each byte that is special, and perhaps of bytes after the first such one. Exact for the first.
    let special = |word: &[u8; size_of::<usize>()]| {
        let word = usize::from_le_bytes(*word);
        // With this bit turned, quotes are the next after the control characters.
        let low = word ^ (EACH * 0x02);
        let backslashes = word ^ (EACH * usize::from(b'\\'));
        (low.wrapping_sub(EACH * 0x21) | backslashes.wrapping_sub(EACH)) & !word & (EACH * 0x80)
    };
    let mut rest = text.get(from..).unwrap_or_default();
    while let Some((word, after)) = rest.split_first_chunk() {
        let special = special(word);
        if special != 0 {
            return text.len() - rest.len() + special.trailing_zeros() as usize / 8;
        }
        rest = after;
    }
    // The last word of the text says all about its last bytes.
    if text.last_chunk().is_some_and(|word| special(word) == 0) {
        return text.len();
    }
    while let [byte, after @ ..] = rest
        && !matches!(byte, b'"' | b'\\' | 0..0x20)
    {
        rest = after;
    }
    text.len() - rest.len()
}
