//! Reads texts that were packed as one grammar: a text is a row of symbols, a symbol a byte or a rule, a rule two symbols. Nothing
//! refers to what was read before, so no window is kept, and any buffer will do, however small.

use heapless::Vec;

use super::{BLANK, DEPTH, bits_at};

/// The rules and the texts.
pub(crate) struct Grammar<'a> {
    /// The two symbols of every rule.
    pub rules: &'a [(u16, u16)],
    /// Bits of a symbol in the texts.
    pub width: u32,
    /// The symbols of the texts, one behind the other.
    pub symbols: &'a [u8],
}

/// A text that is being read.
pub(crate) struct Reading {
    /// The next symbol, and the one behind the last.
    next: u32,
    end: u32,
    /// What is still to be read of the rules that were begun, the next symbol last.
    open: Vec<u16, DEPTH>,
    /// How much of a blank was filled in, if it did not fit the last piece.
    begun: usize,
}

impl Grammar<'_> {
    /// A symbol of the texts. None behind the end.
    fn symbol(&self, number: u32) -> Option<u16> {
        let bits = bits_at(self.symbols, number.checked_mul(self.width)? as usize)?;
        u16::try_from(bits & !(u32::MAX << self.width)).ok()
    }

    /// The two symbols of a rule. None if it is none.
    fn rule(&self, symbol: u16) -> Option<&(u16, u16)> {
        self.rules.get(usize::from(symbol.checked_sub(BLANK + 1)?))
    }
}

impl Reading {
    /// From the beginning. The text is between these symbols.
    pub fn new(begin: u32, end: u32) -> Self {
        Self { next: begin, end, open: Vec::new(), begun: 0 }
    }

    fn next(&mut self, grammar: &Grammar<'_>) -> Option<u16> {
        self.open.pop().or_else(|| {
            let symbol = grammar.symbol(self.next).filter(|_| self.next < self.end)?;
            self.next = self.next.saturating_add(1);
            Some(symbol)
        })
    }

    /// Writes the next of the text, with `blank` wherever something is to be filled in. Says how much it wrote: less than
    /// there is room for at the end of the text alone.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "what is written ends within the room, and what was begun within the blank"
    )]
    pub fn read(&mut self, grammar: &Grammar<'_>, blank: [&str; 2], room: &mut [u8]) -> usize {
        let mut written = 0;
        while let Some(place) = room.get_mut(written) {
            let Some(mut symbol) = self.next(grammar) else { break };
            // Only a damaged grammar is deeper than there is room for.
            while let Some(&(first, second)) = grammar.rule(symbol)
                && self.open.push(second).is_ok()
            {
                symbol = first;
            }
            match u8::try_from(symbol) {
                Ok(byte) => {
                    *place = byte;
                    written += 1;
                }
                Err(_) => {
                    let rest = blank.iter().flat_map(|part| part.bytes()).skip(self.begun);
                    let before = written;
                    for (place, byte) in room.iter_mut().skip(written).zip(rest) {
                        *place = byte;
                        written += 1;
                    }
                    self.begun += written - before;
                    if self.begun < blank.iter().map(|part| part.len()).sum() {
                        // It was next, so there is room for it.
                        let _ = self.open.push(symbol);
                    } else {
                        self.begun = 0;
                    }
                }
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packing::grammar;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec;
    use std::vec::Vec;

    /// Packs texts, and reads them in pieces of a size.
    fn read(texts: &[Vec<u16>], blank: [&str; 2], size: usize) -> Vec<Vec<u8>> {
        let packed = grammar::pack(texts);
        let grammar = Grammar { rules: &packed.rules, width: packed.width, symbols: &packed.symbols };
        let read = |text: &core::ops::Range<u32>| {
            let (mut reading, mut bytes) = (Reading::new(text.start, text.end), Vec::new());
            loop {
                let mut piece = vec![0; size];
                let written = reading.read(&grammar, blank, &mut piece);
                bytes.extend_from_slice(&piece[..written]);
                if written < size {
                    return bytes;
                }
            }
        };
        packed.texts.iter().map(read).collect()
    }

    fn symbols(text: &str) -> Vec<u16> {
        text.bytes().map(|byte| if byte == b'@' { BLANK } else { byte.into() }).collect()
    }

    #[test]
    fn texts_are_read_as_they_were_in_pieces_of_any_size() {
        let texts = ["Ask @ twice. Ask @ twice, ask @ again.", "", "@", "aaaaaaaaaaaaaaaaaaaaaaaaaaa", "Ask @ twice."];
        let packed: Vec<Vec<u16>> = texts.iter().map(|text| symbols(text)).collect();
        for size in [1, 2, 3, 5, 8, 100] {
            for blank in [["10.0.0.7", ":80"], ["", ":1"], ["", ""]] {
                let wanted: Vec<String> = texts.iter().map(|text| text.replace('@', &blank.concat())).collect();
                let read = read(&packed, blank, size);
                assert_eq!(read, wanted.iter().map(|text| text.as_bytes()).collect::<Vec<_>>(), "{size}");
            }
        }
    }

    #[test]
    fn what_texts_share_is_paid_for_once() {
        let paragraph: String = (0..400).map(|n| char::from(b'a' + (n * n % 23) as u8)).collect();
        let size = |texts: usize| {
            let packed = grammar::pack(&vec![symbols(&paragraph); texts]);
            packed.symbols.len() + 4 * packed.rules.len()
        };
        assert!(size(16) < size(4) + 100, "{} and {}", size(16), size(4));
    }

    #[test]
    fn the_same_texts_are_packed_to_the_same_bytes() {
        let texts = [symbols(&"to be or not to be ".repeat(30)), symbols(&"not to be, or to be ".repeat(30))];
        let (once, again) = (grammar::pack(&texts), grammar::pack(&texts));
        assert_eq!((once.rules, once.symbols), (again.rules, again.symbols));
    }

    #[test]
    fn what_is_damaged_is_read_to_some_end() {
        let mut piece = [0; 64];
        for bytes in [&[][..], &[255; 40], &[0; 40], &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]] {
            for width in [9, 13, 16] {
                let grammar = Grammar { rules: &[(257, 257), (40, 9999), (258, BLANK)], width, symbols: bytes };
                let mut reading = Reading::new(0, 20);
                for _ in 0..10 {
                    assert!(reading.read(&grammar, ["a", "b"], &mut piece) <= piece.len());
                }
                assert_eq!(Reading::new(u32::MAX - 1, u32::MAX).read(&grammar, ["", ""], &mut piece), 0);
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_it_is_it_is_read_as_it_was(
            noise in prop::collection::vec(0..=BLANK, 0..600),
            words in prop::collection::vec(prop::sample::select(vec!["ja", "nein", " ", "@", "jaja", "\n"]), 0..600),
            size in 1..700usize,
        ) {
            let texts = [noise, symbols(&words.concat())];
            let plain: Vec<Vec<u8>> = texts
                .iter()
                .map(|text| text.iter().flat_map(|&symbol| match u8::try_from(symbol) {
                    Ok(byte) => vec![byte],
                    Err(_) => b"box:8000".to_vec(),
                }).collect())
                .collect();
            prop_assert_eq!(read(&texts, ["box", ":8000"], size), plain);
        }
    }
}
