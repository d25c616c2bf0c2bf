//! Where written JSON goes: counted, kept whole, or kept in part.

use core::fmt;

/// Takes a text piece by piece.
pub trait Sink {
    /// Takes the next bytes of the text, or says that it wants no more.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full>;

    /// An item of an array is next, of one that is not within another. True where the sink knows what it says from an earlier
    /// writing of the text: then it is left out.
    fn has_item(&mut self) -> bool {
        false
    }

    /// What follows has items whose order may change, and then this number does.
    fn order_is(&mut self, _number: u32) {}
}

/// No room, or no interest in the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no room for the rest of the text")
    }
}

impl core::error::Error for Full {}

/// Counts, for a `Content-Length` or a frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// How many bytes were put so far.
    pub bytes: usize,
    most: usize,
}

impl Counter {
    /// One that gives up behind so many: whoever only wants to know whether a text is short need not have all of it made.
    pub fn up_to(most: usize) -> Self {
        Self { bytes: 0, most }
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::up_to(usize::MAX)
    }
}

impl Sink for Counter {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > self.most { Err(Full) } else { Ok(()) }
    }
}

/// Keeps a text that fits; `Full` if it does not.
#[derive(Debug)]
pub struct Slice<'b> {
    buf: &'b mut [u8],
    length: usize,
}

impl<'b> Slice<'b> {
    /// An empty text with room for `buf.len()` bytes.
    pub fn new(buf: &'b mut [u8]) -> Self {
        Self { buf, length: 0 }
    }

    /// What was put so far.
    pub fn written(&self) -> &[u8] {
        self.buf.get(..self.length).unwrap_or_default()
    }

    /// How many bytes were put so far.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether nothing was put so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets what was put so far.
    pub fn clear(&mut self) {
        self.length = 0;
    }
}

impl Sink for Slice<'_> {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "no slice is longer than `isize::MAX`, so two lengths add up to a `usize`"
    )]
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let end = self.length + bytes.len();
        self.buf.get_mut(self.length..end).ok_or(Full)?.copy_from_slice(bytes);
        self.length = end;
        Ok(())
    }
}

/// Keeps one piece of a text, from byte `skip` on as much as fits.
///
/// A text of any length is sent through a small buffer by writing it again and again, each time with `skip` moved on
/// by what was sent. `Full` means there is more; `Ok` means this was the last piece.
#[derive(Debug)]
pub struct Window<'b> {
    skip: usize,
    buf: &'b mut [u8],
    length: usize,
}

impl<'b> Window<'b> {
    /// A window of `buf.len()` bytes that opens at byte `skip`.
    pub fn new(skip: usize, buf: &'b mut [u8]) -> Self {
        Self { skip, buf, length: 0 }
    }

    /// The piece kept so far.
    pub fn written(&self) -> &[u8] {
        self.buf.get(..self.length).unwrap_or_default()
    }
}

impl Sink for Window<'_> {
    #[expect(clippy::arithmetic_side_effects, reason = "what fits ends within the buffer")]
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let skip = self.skip;
        self.skip = skip.saturating_sub(bytes.len());
        let bytes = bytes.get(skip..).unwrap_or_default();
        let room = self.buf.get_mut(self.length..).unwrap_or_default();
        let fits = bytes.len().min(room.len());
        if let (Some(to), Some(from)) = (room.get_mut(..fits), bytes.get(..fits)) {
            to.copy_from_slice(from);
            self.length += fits;
        }
        if fits == bytes.len() { Ok(()) } else { Err(Full) }
    }
}

impl<const N: usize> Sink for heapless::Vec<u8, N> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.extend_from_slice(bytes).map_err(|_| Full)
    }
}

impl<const N: usize> Sink for heapless::String<N> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        // The writer never puts half a character, so what is not text can only be a caller's mistake.
        let text = core::str::from_utf8(bytes).map_err(|_| Full)?;
        self.push_str(text).map_err(|_| Full)
    }
}
