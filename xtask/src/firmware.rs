//! `cargo xtask firmware`: builds every board's image, as an ELF for probes and the emulator and as a UF2 for drag and
//! drop, prints what it takes of the board, and fails when that is more than the budget.
//!
//! ```text
//! elf.rs   what the linker wrote: bytes for flash, bytes of RAM, names
//! uf2.rs   the file a board takes by drag and drop
//! ```

mod elf;
mod uf2;

use crate::{Outcome, option, sh, way};
use elf::{Elf, RAM, Symbol};
use std::fs;
use std::path::PathBuf;

/// A crate that is a board, in a workspace of its own: its target and its linker script are not the desktop's.
pub struct Board {
    directory: &'static str,
    binary: &'static str,
}

pub const BOARDS: &[Board] = &[Board { directory: "firmware/rp2040", binary: "leaguebox-rp2040" }];

/// The whole image may take half of the smallest flash; the other half is the journal's.
const FLASH_BUDGET: u32 = 1024 * 1024;

/// Variables and stack together. The chip has 264 KB; the rest is for what is not measured.
const RAM_BUDGET: u32 = 240 * 1024;

/// What the stack gets of it. The tests on the emulated board measure how much it really takes and compare with the same
/// budget; see `device_cost.rs`.
const STACK_RESERVE: u32 = 24 * 1024;

/// One player's line with its buffers.
const LINK_BUDGET: u32 = 4608;

impl Board {
    /// Where the linker puts the image.
    pub fn elf(&self) -> PathBuf {
        sh::root().join(self.directory).join("target").join(way::TARGET).join("release").join(self.binary)
    }
}

/// Builds by the first way that works here, or by the one that `--way` names.
pub fn run(args: &[String]) -> Outcome {
    let named = option(args, "--way")?;
    let broken: Vec<String> = BOARDS.iter().map(|board| make(board, named)).collect::<Result<Vec<_>, _>>()?.concat();
    if broken.is_empty() { Ok(()) } else { Err(format!("over budget: {}", broken.join("; "))) }
}

/// Builds one board, prints its footprint, and answers with the budgets it breaks.
fn make(board: &Board, named: Option<&str>) -> Result<Vec<String>, String> {
    let mut build = way::build(named)?;
    // From its directory, so that cargo finds the board's own settings. The target stands there too, but a board must not
    // be built for this computer should it go missing.
    build.current_dir(sh::root().join(board.directory)).args(["--release", "--locked", "--target", way::TARGET]);
    sh::run(&mut build)?;

    let path = board.elf();
    let bytes = fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let elf = Elf::new(&bytes)?;
    let (start, image) = elf.flash_image()?;
    let target = path.with_extension("uf2");
    fs::write(&target, uf2::file(start, &image))
        .map_err(|error| format!("{} cannot be written: {error}", target.display()))?;
    for file in [&path, &target] {
        println!("  {}", file.strip_prefix(sh::root()).unwrap_or(file).display());
    }

    let symbols = elf.symbols()?;
    Ok(footprint(image.len() as u32, elf.static_ram()?, &symbols))
}

/// Prints the table and returns its lines that are over budget.
fn footprint(flash: u32, ram: u32, symbols: &[Symbol]) -> Vec<String> {
    let mut broken = Vec::new();
    let mut line = |what: &str, bytes: u32, budget: Option<u32>| {
        let budget_text = budget.map(|budget| format!("of {:>9}", grouped(budget))).unwrap_or_default();
        println!("  {what:<28}{:>9} bytes {budget_text}", grouped(bytes));
        if budget.is_some_and(|budget| bytes > budget) {
            broken.push(format!("{what} takes {} bytes {budget_text}", grouped(bytes)));
        }
    };
    line("flash", flash, Some(FLASH_BUDGET));
    line("static RAM", ram, None);
    line("static RAM and stack reserve", ram + STACK_RESERVE, Some(RAM_BUDGET));

    println!("  the largest variables:");
    let mut variables: Vec<&Symbol> = symbols.iter().filter(|symbol| RAM.contains(&symbol.address)).collect();
    variables.sort_by_key(|symbol| std::cmp::Reverse(symbol.size));
    for variable in variables.iter().take(8) {
        println!("    {:>9}  {}", grouped(variable.size), readable(variable.name));
    }
    broken
}

/// 1234567 as 1,234,567.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A mangled name's words: each is written with its length before it. What is not understood stays as it is.
fn readable(name: &str) -> String {
    let Some(mut rest) = name.strip_prefix("_ZN") else { return name.to_string() };
    let mut words = Vec::new();
    while let Some(digits) = rest.find(|character: char| !character.is_ascii_digit()).filter(|digits| *digits > 0) {
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let Some(word) = rest.get(digits..digits + length) else { break };
        words.push(word);
        rest = &rest[digits + length..];
    }
    // The last word is a hash.
    words.pop();
    if words.is_empty() { name.to_string() } else { words.join("::") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([7, 1000, 1_234_567].map(grouped), ["7", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_mangled_name_is_read_word_by_word() {
        assert_eq!(readable("_ZN9leaguebox4main4POOL17h0123456789abcdefE"), "leaguebox::main::POOL");
        assert_eq!(readable("_SEGGER_RTT"), "_SEGGER_RTT");
    }

    #[test]
    fn what_is_over_budget_is_named() {
        assert!(footprint(FLASH_BUDGET, RAM_BUDGET - STACK_RESERVE, &[]).is_empty());
        assert_eq!(footprint(FLASH_BUDGET + 1, RAM_BUDGET - STACK_RESERVE + 1, &[]).len(), 2);
    }
}
