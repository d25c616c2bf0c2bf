//! Unpacks the files of the page, for whoever does not do that itself. The buffer they leave from is the window: it is filled
//! from the front, leaves, and is filled again, and what was not overwritten yet is what came before. The code is a table in
//! flash, the same for all files.

use core::ops::Range;

use super::{WINDOW, bits_at};

/// Bits of the longest code.
const LONGEST: usize = 15;
/// The first symbol that is no byte is the end; those behind it are lengths.
const END: u16 = 256;
/// The one length that is out of line: its symbol, and what it says.
const LONGEST_COPY: (u16, u16) = (28, 258);

/// Behind no symbol are more.
const MOST_BITS: u16 = 13;

/// A canonical Huffman code.
pub(crate) struct Code<'a> {
    /// How many codes there are of each length.
    pub counts: [u16; LONGEST + 1],
    /// The symbols, in the order of their codes.
    pub symbols: &'a [u16],
}

/// The two codes.
pub(crate) struct Codes<'a> {
    /// For bytes, lengths and the end.
    pub literals: Code<'a>,
    pub distances: Code<'a>,
}

/// A file that is being unpacked.
pub(crate) struct Inflate<'a> {
    zipped: &'a [u8],
    bit: usize,
    /// What is still to be copied, and from how far back.
    copy: u16,
    distance: u16,
}

impl Inflate<'_> {
    /// From the beginning: the first symbol is at this bit.
    pub fn new(zipped: &[u8], bit: usize) -> Inflate<'_> {
        Inflate { zipped, bit, copy: 0, distance: 0 }
    }

    /// Writes the next of the file into a part of the window, behind what it wrote before; behind the end comes the beginning
    /// again. The window must be the same every time, with what was written into it, and at least [`WINDOW`] bytes. Says how much
    /// it wrote: less than all of the part at the end of the file alone.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a place in the part lies behind its beginning; 256 is handled before those above it; what is copied has a length"
    )]
    pub fn unpack(&mut self, codes: &Codes<'_>, window: &mut [u8], part: Range<usize>) -> usize {
        debug_assert!(window.len() >= WINDOW);
        let (size, begin) = (window.len(), part.start);
        for at in part.clone() {
            if self.copy == 0 {
                match self.symbol(&codes.literals) {
                    Some(END) | None => return at - begin,
                    Some(length @ END..) => {
                        self.copy = self.length(length - END - 1);
                        let symbol = self.symbol(&codes.distances).unwrap_or_default();
                        self.distance = self.number(symbol, 1).saturating_add(1);
                    }
                    Some(byte) => {
                        if let Some(place) = window.get_mut(at) {
                            *place = byte as u8;
                        }
                        continue;
                    }
                }
            }
            let back = usize::from(self.distance);
            let from = if back <= at { at - back } else { (at + size).saturating_sub(back) };
            let byte = window.get(from).copied().unwrap_or_default();
            if let Some(place) = window.get_mut(at) {
                *place = byte;
            }
            self.copy -= 1;
        }
        part.len()
    }

    /// None behind the end, and for a code that there is not.
    #[expect(clippy::arithmetic_side_effects, reason = "a file and its codes are far smaller than what is counted in")]
    fn symbol(&mut self, code: &Code<'_>) -> Option<u16> {
        let mut bits = bits_at(self.zipped, self.bit)?;
        // Codes of the same length are in a row, and those that are longer are behind those that are shorter.
        let (mut word, mut first, mut index) = (0u32, 0u32, 0u32);
        for &count in code.counts.iter().skip(1) {
            let count = u32::from(count);
            word |= bits & 1;
            bits >>= 1;
            self.bit += 1;
            if let Some(place) = word.checked_sub(first).filter(|place| *place < count) {
                return code.symbols.get((index + place) as usize).copied();
            }
            index += count;
            first = first.wrapping_add(count) << 1;
            word <<= 1;
        }
        None
    }

    /// What the symbol of a length says.
    fn length(&mut self, symbol: u16) -> u16 {
        let (longest, says) = LONGEST_COPY;
        if symbol == longest { says } else { self.number(symbol, 2).saturating_add(3) }
    }

    /// What a symbol says, with the bits behind it: `places` bits behind the highest are in the symbol.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a symbol is at least what its count is taken from, and the bits behind it are masked"
    )]
    fn number(&mut self, symbol: u16, places: u16) -> u16 {
        let count = (symbol >> places).saturating_sub(1).min(MOST_BITS);
        let high = symbol - (count << places);
        let low = bits_at(self.zipped, self.bit).unwrap_or_default() as u16 & ((1 << count) - 1);
        self.bit += usize::from(count);
        high << count | low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packing::deflate;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    /// Packs files, and unpacks them with a window of a size.
    fn unpacked(files: &[&[u8]], size: usize) -> Vec<Vec<u8>> {
        let packed = deflate::pack(files);
        let (literals, distances) = (packed.literals.table(), packed.distances.table());
        let codes = Codes {
            literals: Code { counts: literals.0, symbols: &literals.1 },
            distances: Code { counts: distances.0, symbols: &distances.1 },
        };
        let unpack = |(zipped, first): &(Vec<u8>, usize)| {
            let (mut inflate, mut file, mut window) = (Inflate::new(zipped, *first), Vec::new(), vec![0; size]);
            loop {
                // In two parts.
                for part in [0..size / 3, size / 3..size] {
                    let written = inflate.unpack(&codes, &mut window, part.clone());
                    file.extend_from_slice(&window[part.start..part.start + written]);
                    if written < part.len() {
                        return file;
                    }
                }
            }
        };
        packed.files.iter().map(unpack).collect()
    }

    #[test]
    fn files_are_unpacked_as_they_were_in_a_window_of_any_size() {
        let numbers: Vec<u8> = (0..3000u32).flat_map(|n| (n * n % 1009).to_be_bytes()).collect();
        let files = [&b""[..], b"a", &[7; 10_000], &numbers, &numbers[..WINDOW]];
        for size in [WINDOW, WINDOW + 1, WINDOW + 656, 16 * 1024] {
            assert_eq!(unpacked(&files, size), files, "{size}");
        }
    }

    #[test]
    fn what_is_damaged_is_unpacked_to_some_end() {
        let codes = || Codes {
            literals: Code { counts: [0, 0, 0, 0, 0, 0, 0, 0, 255, 1, 0, 0, 0, 0, 0, 0], symbols: &[285, 270, 256, 9] },
            distances: Code { counts: [u16::MAX / 2; 16], symbols: &[u16::MAX, 29, 0, 40] },
        };
        let mut window = [0; WINDOW];
        for zipped in [&[][..], &[0; 99], &[255; 99], &[1, 2, 3, 4, 5, 6, 7, 8, 9]] {
            let mut inflate = Inflate::new(zipped, 3);
            (0..99).for_each(|_| assert!(inflate.unpack(&codes(), &mut window, 0..WINDOW) <= WINDOW));
            assert_eq!(inflate.unpack(&codes(), &mut window, 0..WINDOW), 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_it_is_it_is_unpacked_as_it_was(
            noise in prop::collection::vec(any::<u8>(), 0..5000),
            words in prop::collection::vec(prop::sample::select(vec!["ja", "nein", " ", "vielleicht", "\n"]), 0..3000),
            more in 0..700usize,
        ) {
            let words = words.concat();
            let files = [&noise[..], words.as_bytes()];
            prop_assert_eq!(unpacked(&files, WINDOW + more), files);
        }
    }
}
