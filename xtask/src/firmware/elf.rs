//! As much of the ELF format as a firmware image needs: what goes to flash, what takes RAM, and what it is called.
//! A compiler has just written the file, so a broken one is an error with few words.

use std::collections::BTreeSet;
use std::ops::Range;

/// The RP2040's memories.
const FLASH: Range<u32> = 0x1000_0000..0x1020_0000;
const RAM: Range<u32> = 0x2000_0000..0x2004_2000;

/// A linked image.
pub struct Elf<'a>(&'a [u8]);

/// A variable, a function, or a place the linker names.
struct Symbol<'a> {
    /// As the compiler mangled it.
    name: &'a str,
    address: u32,
    size: u32,
}

/// A table of the file: where its entries begin, how long each is, how many there are.
struct Table {
    start: usize,
    entry: usize,
    count: usize,
}

impl Table {
    fn offsets(&self) -> impl Iterator<Item = usize> {
        let (start, entry) = (self.start, self.entry);
        (0..self.count).map(move |index| start + index * entry)
    }
}

/// Kinds of sections and segments, and the flag of a section that has a place in memory.
const LOAD: u32 = 1;
const SYMBOLS: u32 = 2;
const IN_MEMORY: u32 = 2;

impl<'a> Elf<'a> {
    /// Takes a 32-bit little-endian file.
    pub fn new(bytes: &'a [u8]) -> Result<Self, String> {
        if bytes.starts_with(b"\x7fELF\x01\x01") {
            Ok(Elf(bytes))
        } else {
            Err("no 32-bit little-endian ELF file".into())
        }
    }

    /// The bytes that go to flash, from the lowest address to the highest, and the lowest address.
    pub fn flash_image(&self) -> Result<(u32, Vec<u8>), String> {
        let mut parts = Vec::new();
        for header in self.segments()?.offsets() {
            let [offset, address, size] = [4, 12, 16].map(|field| self.word(header + field));
            let (offset, address, size) = (offset?, address?, size?);
            if self.word(header)? == LOAD && size > 0 && FLASH.contains(&address) {
                parts.push((address, self.piece(offset as usize, size as usize)?));
            }
        }
        let start = parts.iter().map(|(address, _)| *address).min().ok_or("nothing in it goes to flash")?;
        let mut image = Vec::new();
        for (address, bytes) in parts {
            let from = (address - start) as usize;
            // Between parts flash stays as erasing leaves it.
            image.resize(image.len().max(from + bytes.len()), 0xff);
            image[from..from + bytes.len()].copy_from_slice(bytes);
        }
        Ok((start, image))
    }

    /// Bytes of RAM that are taken before the first instruction runs: variables, zeroed or not.
    pub fn static_ram(&self) -> Result<u32, String> {
        let mut sum = 0;
        for header in self.sections()?.offsets() {
            let [flags, address, size] = [8, 12, 20].map(|field| self.word(header + field));
            if flags? & IN_MEMORY != 0 && RAM.contains(&address?) {
                sum += size?;
            }
        }
        Ok(sum)
    }

    /// The variables in RAM by size, the largest first, under readable names.
    pub fn largest_variables(&self) -> Result<Vec<(u32, String)>, String> {
        let variables = self.symbols()?.into_iter().filter(|symbol| RAM.contains(&symbol.address) && symbol.size > 0);
        let mut variables: Vec<_> = variables.map(|symbol| (symbol.size, readable(symbol.name))).collect();
        variables.sort_by(|one, other| other.cmp(one));
        Ok(variables)
    }

    /// Bytes of flash and of RAM under the names of each of these modules of `folder`. Of a name with several of them the first
    /// counts. What the compiler has merged into its callers goes under theirs.
    pub fn modules(&self, folder: &str, modules: &[String]) -> Result<Vec<[u32; 2]>, String> {
        let word = |word: &str| format!("{}{word}", word.len());
        let wanted: Vec<_> = modules.iter().map(|module| word(folder) + &word(module)).collect();
        let (mut sizes, mut seen) = (vec![[0; 2]; modules.len()], BTreeSet::new());
        for Symbol { name, address, size } in self.symbols()? {
            let places = wanted.iter().enumerate().filter_map(|(at, wanted)| Some((name.find(wanted)?, at)));
            let Some((_, at)) = places.min().filter(|_| size > 0 && seen.insert(address)) else { continue };
            sizes[at][0] += if FLASH.contains(&address) { size } else { 0 };
            sizes[at][1] += if RAM.contains(&address) { size } else { 0 };
        }
        Ok(sizes)
    }

    /// How large the one thing is whose name ends like this.
    pub fn size(&self, end: &str) -> Result<u32, String> {
        Ok(self.find(end)?.size)
    }

    /// Where the one thing is whose name ends like this.
    pub fn address(&self, end: &str) -> Result<u32, String> {
        Ok(self.find(end)?.address)
    }

    /// The numbers of a constant in flash.
    pub fn words(&self, end: &str) -> Result<Vec<u32>, String> {
        let symbol = self.find(end)?;
        let (start, image) = self.flash_image()?;
        let from = symbol.address.checked_sub(start).ok_or_else(|| format!("{end} is not in flash"))? as usize;
        let bytes = image.get(from..from + symbol.size as usize).ok_or_else(|| format!("{end} is not in flash"))?;
        Ok(bytes.chunks_exact(4).map(little_endian).collect())
    }

    fn find(&self, end: &str) -> Result<Symbol<'a>, String> {
        let is_it = |symbol: &Symbol| {
            let name = readable(symbol.name);
            name.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with("::"))
        };
        let mut found: Vec<_> = self.symbols()?.into_iter().filter(is_it).collect();
        match (found.pop(), found.len()) {
            (Some(symbol), 0) => Ok(symbol),
            (None, _) => Err(format!("the image has nothing called `{end}`")),
            (Some(_), _) => Err(format!("the image has several things called `{end}`")),
        }
    }

    fn symbols(&self) -> Result<Vec<Symbol<'a>>, String> {
        let sections = self.sections()?;
        let mut found = Vec::new();
        for header in sections.offsets() {
            if self.word(header + 4)? != SYMBOLS {
                continue;
            }
            let size = self.word(header + 20)? as usize;
            let table = Table { start: self.word(header + 16)? as usize, entry: 16, count: size / 16 };
            let names = sections.start + self.word(header + 24)? as usize * sections.entry;
            let names = self.word(names + 16)? as usize;
            for symbol in table.offsets() {
                let [name, address, size] = [0, 4, 8].map(|field| self.word(symbol + field));
                let (name, address, size) = (self.text(names + name? as usize)?, address?, size?);
                if !name.is_empty() {
                    found.push(Symbol { name, address, size });
                }
            }
        }
        Ok(found)
    }

    fn segments(&self) -> Result<Table, String> {
        Ok(Table { start: self.word(28)? as usize, entry: self.half(42)?, count: self.half(44)? })
    }

    fn sections(&self) -> Result<Table, String> {
        Ok(Table { start: self.word(32)? as usize, entry: self.half(46)?, count: self.half(48)? })
    }

    fn piece(&self, offset: usize, length: usize) -> Result<&'a [u8], String> {
        let end = offset.checked_add(length);
        end.and_then(|end| self.0.get(offset..end)).ok_or_else(|| "the ELF file is cut short".into())
    }

    fn word(&self, offset: usize) -> Result<u32, String> {
        Ok(little_endian(self.piece(offset, 4)?))
    }

    fn half(&self, offset: usize) -> Result<usize, String> {
        Ok(little_endian(self.piece(offset, 2)?) as usize)
    }

    fn text(&self, offset: usize) -> Result<&'a str, String> {
        let rest = self.0.get(offset..).unwrap_or_default();
        let text = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        std::str::from_utf8(text).map_err(|_| "a name in the ELF file is no text".into())
    }
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// A mangled name's words: each is written with its length before it. What is not understood stays as it is.
fn readable(name: &str) -> String {
    let mut words = match (name.strip_prefix("_ZN"), name.strip_prefix("_R")) {
        (Some(rest), _) => {
            let mut words = words(rest, "");
            // The last word is a hash.
            words.pop();
            words
        }
        // The newer scheme: letters say what a word is, and an `s` before it keeps equal ones apart.
        (None, Some(rest)) => words(rest, "_"),
        (None, None) => Vec::new(),
    };
    // Closures and the framework's own wrappings say nothing.
    words.retain(|word| !word.contains('$') && !word.starts_with("____"));
    if words.is_empty() { name.to_string() } else { words.join("::") }
}

/// The words of a name. `gap` may stand between a length and its word.
fn words<'a>(mut rest: &'a str, gap: &str) -> Vec<&'a str> {
    let mut words = Vec::new();
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_ascii_uppercase() || letter == 'v');
        if rest.starts_with('s') {
            let Some((_, behind)) = rest.split_once('_') else { return words };
            rest = behind;
        }
        // A closure's name has no letters.
        rest = rest.trim_start_matches('0');
        let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        let Ok(length) = rest[..digits].parse::<usize>() else { return words };
        let behind = rest[digits..].strip_prefix(gap).unwrap_or(&rest[digits..]);
        let Some(word) = behind.get(..length) else { return words };
        words.push(word);
        rest = &behind[length..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one segment for flash, one variable section in RAM and one symbol.
    fn tiny() -> Vec<u8> {
        let mut file = b"\x7fELF\x01\x01".to_vec();
        file.resize(52, 0);
        let word = |file: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|word| file.extend(word.to_le_bytes()));
        let segments = file.len() as u32;
        word(&mut file, &[LOAD, 0, FLASH.start, FLASH.start, 4, 4, 5, 4]);
        word(&mut file, &[LOAD, 4, RAM.start, FLASH.start + 6, 2, 2, 6, 4]);
        let symbols = file.len() as u32;
        word(&mut file, &[1, RAM.start + 8, 24, 0]);
        let names = file.len() as u32;
        file.extend(b"\0POOL\0\0\0");
        let sections = file.len() as u32;
        word(&mut file, &[0, 8, IN_MEMORY, RAM.start, 0, 32, 0, 0, 0, 0]);
        word(&mut file, &[0, SYMBOLS, 0, 0, symbols, 16, 2, 0, 0, 16]);
        word(&mut file, &[0, 3, 0, 0, names, 8, 0, 0, 0, 0]);
        file[28..36].copy_from_slice(&[segments.to_le_bytes(), sections.to_le_bytes()].concat());
        file[42..50].copy_from_slice(&[32, 0, 2, 0, 40, 0, 3, 0]);
        file
    }

    #[test]
    fn the_image_is_in_one_piece_with_gaps_as_erased() {
        let file = tiny();
        let (start, image) = Elf::new(&file).and_then(|elf| elf.flash_image()).unwrap();
        assert_eq!((start, image.as_slice()), (FLASH.start, b"\x7fELF\xff\xff\x01\x01".as_slice()));
    }

    #[test]
    fn ram_and_names_are_found() {
        let file = tiny();
        let elf = Elf::new(&file).unwrap();
        assert_eq!(elf.static_ram(), Ok(32));
        assert_eq!(elf.largest_variables(), Ok(vec![(24, "POOL".to_owned())]));
        assert_eq!((elf.address("POOL"), elf.size("POOL")), (Ok(RAM.start + 8), Ok(24)));
        assert!(elf.size("line::POOL").is_err() && elf.size("OOL").is_err() && elf.words("POOL").is_err());
    }

    #[test]
    fn what_a_module_takes_is_found_by_its_folder_and_its_name() {
        let mut file = tiny();
        let modules = ["POOL", "OOL"].map(str::to_owned);
        assert_eq!(Elf::new(&file).unwrap().modules("a", &modules), Ok(vec![[0; 2]; 2]));
        // The name of the only variable, as the compiler writes `a::b`.
        let name = file.windows(4).position(|four| four == b"POOL").unwrap();
        file[name..name + 4].copy_from_slice(b"1a1b");
        let modules = ["c", "b"].map(str::to_owned);
        assert_eq!(Elf::new(&file).unwrap().modules("a", &modules), Ok(vec![[0; 2], [0, 24]]));
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error_and_no_panic() {
        let file = tiny();
        assert!(Elf::new(b"#!/bin/sh").is_err());
        // Of the last header only the first half is of any interest.
        for length in 6..file.len() - 20 {
            let elf = Elf::new(&file[..length]).unwrap();
            assert!(
                elf.static_ram().is_err() || elf.symbols().is_err() || elf.flash_image().is_err(),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn a_mangled_name_is_read_word_by_word() {
        assert_eq!(readable("_ZN9leaguebox4main4POOL17h0123456789abcdefE"), "leaguebox::main::POOL");
        assert_eq!(readable("_ZN3box13____main_task6_$u7b$4ROOM17h0123456789abcdefE"), "box::ROOM");
        assert_eq!(readable("_RNvNvCsYiXShMtYfj_9leaguebox4line4POOL"), "leaguebox::line::POOL");
        assert_eq!(readable("_RNvNCNvCsYiX_3box13_____main_task012LINE_BUFFERS"), "box::LINE_BUFFERS");
        assert_eq!(readable("_SEGGER_RTT"), "_SEGGER_RTT");
    }
}
