//! Files as gzip (RFC 1951 and 1952), with two limits that let the box unpack them too: no reference reaches further back than
//! [`WINDOW`], and all files have the same code, which the box has as a table in flash instead of reading it from each.

use std::array;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::bits::Bits;

/// How far back a reference may reach. Whoever unpacks needs a buffer of that size.
pub const WINDOW: usize = 2048;

const SHORTEST: usize = 3;
const LONGEST: usize = 258;
const LITERALS: usize = 286;
const DISTANCES: usize = 30;
/// The symbol behind the last one.
const END: usize = 256;
/// Bits of the longest code, of those for symbols and of those for the lengths of these.
const LONGEST_CODE: u8 = 15;
const LONGEST_LENGTH_CODE: u8 = 7;
/// In which order the lengths of the codes for lengths are told.
const LENGTHS_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Which way is shortest depends on the code, and the code on the way: after so many rounds there is nothing left to gain.
const ROUNDS: usize = 4;

/// Files, packed.
pub struct Packed {
    /// Each file, and at which of its bits the first symbol is.
    pub files: Vec<(Vec<u8>, usize)>,
    /// The code for bytes, lengths and the end.
    pub literals: Code,
    /// The code for distances.
    pub distances: Code,
}

/// A canonical Huffman code: all there is to know of it is how long the code of each symbol is; zero for one that has none.
pub struct Code(Vec<u8>);

/// A byte, or a reference to earlier ones.
#[derive(Clone, Copy)]
enum Token {
    Byte(u8),
    Reference { length: u16, distance: u16 },
}

/// A number as deflate has it: a symbol, and so many bits behind it.
struct Number {
    symbol: usize,
    bits: u32,
    count: u32,
}

/// Packs files.
pub fn pack(files: &[&[u8]]) -> Packed {
    let references: Vec<_> = files.iter().map(|file| references(file)).collect();
    let mut literals = Code(vec![8; LITERALS]);
    let mut distances = Code(vec![5; DISTANCES]);
    let mut tokens = Vec::new();
    for _ in 0..ROUNDS {
        let pairs = files.iter().zip(&references);
        tokens = pairs.map(|(file, found)| shortest(file, found, &literals, &distances)).collect();
        (literals, distances) = codes(&tokens);
    }
    let files = files.iter().zip(&tokens).map(|(file, tokens)| gzip(file, tokens, &literals, &distances)).collect();
    Packed { files, literals, distances }
}

impl Code {
    /// How many codes there are of each length, and the symbols in the order of their codes.
    pub fn table(&self) -> ([u16; LONGEST_CODE as usize + 1], Vec<u16>) {
        let of = |length: usize| self.0.iter().filter(move |&&other| length > 0 && usize::from(other) == length);
        let counts = array::from_fn(|length| of(length).count() as u16);
        let mut symbols: Vec<u16> =
            (0..self.0.len() as u16).filter(|&symbol| self.0[usize::from(symbol)] > 0).collect();
        symbols.sort_by_key(|&symbol| self.0[usize::from(symbol)]);
        (counts, symbols)
    }

    /// The code of every symbol, its first bit the highest.
    fn words(&self) -> Vec<u32> {
        let (counts, symbols) = self.table();
        let mut words = vec![0; self.0.len()];
        let (mut next, mut symbols) = (0, symbols.into_iter());
        for count in &counts[1..] {
            next <<= 1;
            for symbol in symbols.by_ref().take((*count).into()) {
                words[usize::from(symbol)] = next;
                next += 1;
            }
        }
        words
    }

    /// The shortest code for symbols that are found so often, none longer than `longest`.
    fn of(counts: &[u32], longest: u8) -> Self {
        let mut counts = counts.to_vec();
        loop {
            let code = Self(lengths(&counts));
            if code.0.iter().all(|&length| length <= longest) {
                return code;
            }
            // The rare ones are the long ones: less rare, they are shorter.
            counts.iter_mut().filter(|count| **count > 0).for_each(|count| *count = count.div_ceil(2) + 1);
        }
    }

    /// What a symbol costs. One that has no code is not out of the question.
    fn cost(&self, symbol: usize) -> u32 {
        match self.0[symbol] {
            0 => LONGEST_CODE.into(),
            length => length.into(),
        }
    }
}

/// Huffman's lengths. A code of one symbol would be half a code, which not everybody reads: there are always two.
fn lengths(counts: &[u32]) -> Vec<u8> {
    let mut counts = counts.to_vec();
    for symbol in 0..2 {
        if counts.iter().filter(|&&count| count > 0).count() < 2 {
            counts[symbol] = counts[symbol].max(1);
        }
    }
    let mut lengths = vec![0; counts.len()];
    let used = (0..counts.len()).filter(|&symbol| counts[symbol] > 0);
    let mut trees: BinaryHeap<_> = used.map(|symbol| Reverse((counts[symbol], symbol, vec![symbol]))).collect();
    while let Some(Reverse((count, number, mut symbols))) = trees.pop() {
        let Some(Reverse((other_count, _, others))) = trees.pop() else { break };
        symbols.extend(others);
        symbols.iter().for_each(|&symbol| lengths[symbol] += 1);
        trees.push(Reverse((count + other_count, number, symbols)));
    }
    lengths
}

impl Number {
    fn length(length: u16) -> Self {
        if usize::from(length) == LONGEST {
            return Self { symbol: LITERALS - 1, bits: 0, count: 0 };
        }
        let number = Self::of(u32::from(length) - SHORTEST as u32, 2);
        Self { symbol: END + 1 + number.symbol, ..number }
    }

    fn distance(distance: u16) -> Self {
        Self::of(u32::from(distance) - 1, 1)
    }

    /// The first `places` bits behind the highest are told by the symbol, the others behind it.
    fn of(number: u32, places: u32) -> Self {
        let count = (number | 1).ilog2().saturating_sub(places);
        let symbol = (count << places) + (number >> count);
        Self { symbol: symbol as usize, bits: number & ((1 << count) - 1), count }
    }
}

/// For every place the references that are worth a thought: for each length the nearest.
fn references(file: &[u8]) -> Vec<Vec<Token>> {
    let mut last = HashMap::new();
    let mut earlier = vec![None; file.len()];
    let mut found = Vec::new();
    for at in 0..file.len() {
        let mut references = Vec::new();
        let (mut longest, mut other) = (SHORTEST - 1, None);
        if let Some(key) = file.get(at..at + SHORTEST) {
            other = last.insert(key, at);
            earlier[at] = other;
        }
        while let Some(from) = other.filter(|&from| at - from <= WINDOW && longest < LONGEST) {
            let same = file[from..].iter().zip(&file[at..]).take(LONGEST).take_while(|(a, b)| a == b).count();
            if same > longest {
                longest = same;
                references.push(Token::Reference { length: same as u16, distance: (at - from) as u16 });
            }
            other = earlier[from];
        }
        found.push(references);
    }
    found
}

/// The shortest way to say a file.
fn shortest(file: &[u8], references: &[Vec<Token>], literals: &Code, distances: &Code) -> Vec<Token> {
    let length_costs: Vec<u32> = (0..=LONGEST as u16)
        .map(|length| match usize::from(length) {
            ..SHORTEST => 0,
            _ => {
                let number = Number::length(length);
                literals.cost(number.symbol) + number.count
            }
        })
        .collect();
    let mut costs = vec![u32::MAX; file.len() + 1];
    let mut last = vec![Token::Byte(0); file.len() + 1];
    costs[0] = 0;
    for (at, &byte) in file.iter().enumerate() {
        let here = costs[at];
        let mut reach = |to: usize, cost: u32, token| {
            if here + cost < costs[to] {
                (costs[to], last[to]) = (here + cost, token);
            }
        };
        reach(at + 1, literals.cost(byte.into()), Token::Byte(byte));
        let mut shorter = SHORTEST as u16;
        for &reference in &references[at] {
            let Token::Reference { length: longest, distance } = reference else { continue };
            let number = Number::distance(distance);
            let cost = distances.cost(number.symbol) + number.count;
            for length in shorter..=longest {
                let token = Token::Reference { length, distance };
                reach(at + usize::from(length), cost + length_costs[usize::from(length)], token);
            }
            shorter = longest + 1;
        }
    }
    let mut tokens = Vec::new();
    let mut at = file.len();
    while at > 0 {
        tokens.push(last[at]);
        at -= match last[at] {
            Token::Byte(_) => 1,
            Token::Reference { length, .. } => usize::from(length),
        };
    }
    tokens.reverse();
    tokens
}

/// The codes that suit these files best.
fn codes(files: &[Vec<Token>]) -> (Code, Code) {
    let (mut literals, mut distances) = ([0; LITERALS], [0; DISTANCES]);
    literals[END] = files.len().max(1) as u32;
    for token in files.iter().flatten() {
        match *token {
            Token::Byte(byte) => literals[usize::from(byte)] += 1,
            Token::Reference { length, distance } => {
                literals[Number::length(length).symbol] += 1;
                distances[Number::distance(distance).symbol] += 1;
            }
        }
    }
    (Code::of(&literals, LONGEST_CODE), Code::of(&distances, LONGEST_CODE))
}

/// One file in one block, and at which bit its first symbol is.
fn gzip(file: &[u8], tokens: &[Token], literals: &Code, distances: &Code) -> (Vec<u8>, usize) {
    // Deflate; no name, no time, packed slowly, by no system known.
    let mut bits = Bits::behind(vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255]);
    // The last block, and its codes are told.
    bits.push(1, 1);
    bits.push(2, 2);
    bits.push(LITERALS as u32 - 257, 5);
    bits.push(DISTANCES as u32 - 1, 5);
    let lengths = || literals.0.iter().chain(&distances.0).map(|&length| usize::from(length));
    let mut counts = [0; LENGTHS_ORDER.len()];
    lengths().for_each(|length| counts[length] += 1);
    let code = Code::of(&counts, LONGEST_LENGTH_CODE);
    bits.push(LENGTHS_ORDER.len() as u32 - 4, 4);
    LENGTHS_ORDER.iter().for_each(|&length| bits.push(code.0[length].into(), 3));
    let words = code.words();
    lengths().for_each(|length| push_word(&mut bits, words[length], code.0[length]));

    let first = bits.len;
    let (literal_words, distance_words) = (literals.words(), distances.words());
    for token in tokens {
        match *token {
            Token::Byte(byte) => push_word(&mut bits, literal_words[usize::from(byte)], literals.0[usize::from(byte)]),
            Token::Reference { length, distance } => {
                for (number, words, code) in [
                    (Number::length(length), &literal_words, literals),
                    (Number::distance(distance), &distance_words, distances),
                ] {
                    push_word(&mut bits, words[number.symbol], code.0[number.symbol]);
                    bits.push(number.bits, number.count);
                }
            }
        }
    }
    push_word(&mut bits, literal_words[END], literals.0[END]);
    let mut bytes = bits.into_bytes();
    bytes.extend(crc(file).to_le_bytes());
    bytes.extend((file.len() as u32).to_le_bytes());
    (bytes, first)
}

/// A code goes out by its highest bit first.
fn push_word(bits: &mut Bits, word: u32, length: u8) {
    (0..length).rev().for_each(|place| bits.push(word >> place, 1));
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use proptest::prelude::*;
    use std::io::Read;

    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        GzDecoder::new(bytes).read_to_end(&mut file).expect("somebody else unpacks it");
        file
    }

    #[test]
    fn somebody_else_unpacks_it() {
        let long = "so it goes on and on, ".repeat(500);
        let zeros = [0; 10_000];
        for files in [vec![&b""[..]], vec![b"a"], vec![b"", long.as_bytes(), &zeros, b"on"], vec![]] {
            let packed = pack(&files);
            assert_eq!(packed.files.len(), files.len());
            for (file, (bytes, _)) in files.iter().zip(&packed.files) {
                assert_eq!(unpacked(bytes), *file);
            }
        }
        let packed = pack(&[long.as_bytes()]);
        assert!(packed.files[0].0.len() < 400, "{}", packed.files[0].0.len());
    }

    #[test]
    fn a_code_for_symbols_that_are_ever_rarer_is_as_long_as_allowed() {
        let mut counts = vec![1, 1];
        while counts.len() < 40 {
            counts.push(counts.iter().rev().take(2).sum());
        }
        let code = Code::of(&counts, LONGEST_CODE);
        assert!(code.0.iter().all(|length| (1..=LONGEST_CODE).contains(length)), "{:?}", code.0);
        let whole: u32 = code.0.iter().map(|&length| 1 << (LONGEST_CODE - length)).sum();
        assert_eq!(whole, 1 << LONGEST_CODE, "no code is left over");
    }

    proptest! {
        #[test]
        fn whatever_it_is_somebody_else_unpacks_it(
            noise in prop::collection::vec(any::<u8>(), 0..600),
            words in prop::collection::vec(prop::sample::select(vec!["ja", "nein", " ", "vielleicht", "\n"]), 0..900),
        ) {
            let words = words.concat();
            let files = [&noise[..], words.as_bytes()];
            for (file, (bytes, _)) in files.iter().zip(pack(&files).files) {
                prop_assert_eq!(&unpacked(&bytes)[..], *file);
            }
        }
    }
}
