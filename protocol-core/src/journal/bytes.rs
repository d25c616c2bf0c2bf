//! Numbers and texts as bytes: little-endian, a text behind its length.

/// There is no room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// These bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbled;

/// Writes into a buffer, from its beginning.
pub struct Writer<'a> {
    buf: &'a mut [u8],
    len: usize,
}

impl<'a> Writer<'a> {
    /// Nothing is written yet.
    pub fn new(buf: &'a mut [u8]) -> Self {
        Self { buf, len: 0 }
    }

    /// How much is written.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes all of it, or nothing where there is no room for all.
    pub fn all(&mut self, write: impl FnOnce(&mut Self) -> Result<(), NoRoom>) -> Result<(), NoRoom> {
        let before = self.len;
        let written = write(self);
        if written.is_err() {
            self.len = before;
        }
        written
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        let end = self.len.checked_add(bytes.len()).ok_or(NoRoom)?;
        self.buf.get_mut(self.len..end).ok_or(NoRoom)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// A byte.
    pub fn u8(&mut self, n: u8) -> Result<(), NoRoom> {
        self.raw(&[n])
    }

    /// A number of 16 bits.
    pub fn u16(&mut self, n: u16) -> Result<(), NoRoom> {
        self.raw(&n.to_le_bytes())
    }

    /// A number of 32 bits.
    pub fn u32(&mut self, n: u32) -> Result<(), NoRoom> {
        self.raw(&n.to_le_bytes())
    }

    /// A number of 64 bits.
    pub fn u64(&mut self, n: u64) -> Result<(), NoRoom> {
        self.raw(&n.to_le_bytes())
    }

    /// A text of at most 255 bytes.
    pub fn text(&mut self, text: &str) -> Result<(), NoRoom> {
        self.u8(u8::try_from(text.len()).map_err(|_| NoRoom)?)?;
        self.raw(text.as_bytes())
    }
}

/// Reads what a [`Writer`] wrote, or finds out that it did not.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// From the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all is read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How much is left to read.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// So many bytes as they are.
    pub fn raw(&mut self, n: usize) -> Result<&'a [u8], Garbled> {
        let (bytes, rest) = self.0.split_at_checked(n).ok_or(Garbled)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Garbled> {
        self.raw(N)?.try_into().map_err(|_| Garbled)
    }

    /// A byte.
    pub fn u8(&mut self) -> Result<u8, Garbled> {
        self.array().map(u8::from_le_bytes)
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> Result<u16, Garbled> {
        self.array().map(u16::from_le_bytes)
    }

    /// A number of 32 bits.
    pub fn u32(&mut self) -> Result<u32, Garbled> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of 64 bits.
    pub fn u64(&mut self) -> Result<u64, Garbled> {
        self.array().map(u64::from_le_bytes)
    }

    /// 32 bytes.
    pub fn hash(&mut self) -> Result<[u8; 32], Garbled> {
        self.array()
    }

    /// A text.
    pub fn text(&mut self) -> Result<&'a str, Garbled> {
        let length = self.u8()?;
        core::str::from_utf8(self.raw(length.into())?).map_err(|_| Garbled)
    }
}
