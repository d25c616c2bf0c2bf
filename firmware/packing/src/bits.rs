//! Numbers of so many bits each, one behind the other, the lowest bit first.

#[derive(Default)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
    /// How many bits there are.
    pub len: usize,
}

impl Bits {
    /// Begins behind whole bytes.
    pub fn behind(bytes: Vec<u8>) -> Self {
        Self { len: bytes.len() * 8, bytes }
    }

    /// Adds the lowest `count` bits of a number.
    pub fn push(&mut self, number: u32, count: u32) {
        for place in 0..count {
            if self.len.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((number >> place & 1) as u8) << (self.len % 8);
            }
            self.len += 1;
        }
    }

    /// All of it in whole bytes; the bits behind the last are zeros.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
