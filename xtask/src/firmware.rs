//! `cargo xtask firmware`: builds every board's image, as an ELF for probes and the emulator and as a UF2 for drag and
//! drop, prints what it takes of the board, and fails when that is more than the budget.
//!
//! ```text
//! elf.rs   what the linker wrote: bytes for flash, bytes of RAM, names
//! uf2.rs   the file a board takes by drag and drop
//! ```

mod elf;
mod uf2;

use crate::verb::{Given, Opt, Verb};
use crate::{Outcome, sh, way};
use elf::Elf;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate that is a board, in a workspace of its own: its target and its linker script are not the desktop's.
pub struct Board {
    directory: &'static str,
    binary: &'static str,
}

pub const BOARDS: &[Board] = &[Board { directory: "firmware/rp2040", binary: "leaguebox-rp2040" }];

/// The whole image may take so much of the smallest flash, as `memory.x` has it; the rest is the journal's and the film's.
const FLASH_BUDGET: u32 = 1152 * 1024;

/// Variables may take 205 KB. With the deepest stack, which `device_cost.rs` in the tests measures, that is far from the 232 KB that
/// the board has beside what players want remembered: the rest is for protocols that come.
const RAM_BUDGET: u32 = 205 * 1024;

/// Variables that do not begin as zeros have their first values in flash as well. A single byte in the league that is not zero
/// would put all of it there.
const INITIAL_BUDGET: u32 = 1024;

/// A slot, which is one connection: its task with its buffer, and its socket with those it has.
const SLOT_BUDGET: u32 = 3584;

/// Tasks and variables by which the board's RAM is known, as the last words of their names.
const SLOTS: &str = "slot::POOL";
const BUFFERS: &str = "BUFFERS";
const SOCKETS: &str = "RESOURCES";

impl Board {
    /// Where the linker puts the image.
    pub fn elf(&self) -> PathBuf {
        sh::root().join(self.directory).join("target").join(way::TARGET).join("release").join(self.binary)
    }
}

/// What the board's crate reads the owner's choice from.
const ADMIN_CODE: &str = "LEAGUEBOX_ADMIN_CODE";

pub const VERB: Verb = Verb {
    name: "firmware",
    what: "build every board's image, and hold it against its budgets",
    more: "\
        Writes an ELF for probes and the emulator and a UF2 for drag and drop. Prints what the image takes of the board's\n\
        flash and RAM, by the sizes of the linked ELF, beside the budgets, and fails where one is exceeded. How deep the\n\
        stack gets is measured elsewhere: cargo xtask test --device emulator device_cost",
    options: &[
        Opt {
            name: "--admin-code",
            value: "CODE",
            what: "the owner's code in the image, 8 to 64 characters (the board's choice, in its log)",
            default: None,
        },
        way::OPTION,
    ],
    words: &[],
    example: "cargo xtask firmware --admin-code choose-your-own",
    run,
};

/// Builds by the first way that works here, or by the one that `--way` names. With `--admin-code` the image has that code; the
/// code of any other is chosen by the board and told in its log.
fn run(given: &Given) -> Outcome {
    let admin_code = given.get("--admin-code");
    if admin_code
        .is_some_and(|code| !(8..=64).contains(&code.len()) || !code.bytes().all(|byte| byte.is_ascii_graphic()))
    {
        return Err("--admin-code takes 8 to 64 letters, digits and signs".into());
    }
    let wish = Wish { way: given.get("--way"), admin_code };
    let broken: Vec<String> = BOARDS.iter().map(|board| make(board, wish)).collect::<Result<Vec<_>, _>>()?.concat();
    if broken.is_empty() { Ok(()) } else { Err(format!("over budget: {}", broken.join("; "))) }
}

/// How an image is to be built, where that is not left open.
#[derive(Clone, Copy, Default)]
pub struct Wish<'a> {
    way: Option<&'a str>,
    admin_code: Option<&'a str>,
}

/// Builds one board's image, whatever its size.
pub fn compile(board: &Board, wish: Wish<'_>) -> Outcome {
    let mut build = way::build(wish.way)?;
    if let Some(code) = wish.admin_code {
        build.env(ADMIN_CODE, code);
    }
    // From its directory, so that cargo finds the board's own settings. The target stands there too, but a board must not
    // be built for this computer should it go missing.
    build.current_dir(sh::root().join(board.directory)).args(["--release", "--target", way::TARGET]);
    sh::run(&mut build)
}

/// Compiles the tests that run on the boards themselves; `cargo test` there runs them where a probe is.
pub fn compile_tests() -> Outcome {
    for board in BOARDS {
        let mut build = way::build(None)?;
        build.current_dir(sh::root().join(board.directory)).args(["--release", "--tests", "--target", way::TARGET]);
        sh::run(&mut build)?;
        println!("not run: the tests of {} need a board on a probe", board.directory);
    }
    Ok(())
}

/// Builds one board, prints its footprint, and answers with the budgets it breaks.
fn make(board: &Board, wish: Wish<'_>) -> Result<Vec<String>, String> {
    compile(board, wish)?;
    let path = board.elf();
    let bytes = fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let elf = Elf::new(&bytes)?;
    let (start, image) = elf.flash_image()?;
    let counts = elf.words("COUNTS")?;
    let &[slots, sockets, match_bytes, memories] = counts.as_slice() else {
        return Err("COUNTS has not four numbers".into());
    };
    let (futures, buffers) = (elf.size(SLOTS)? / slots, elf.size(BUFFERS)? / slots);
    let socket = elf.size(SOCKETS)? / sockets;
    let footprint = Footprint {
        flash: image.len() as u32,
        ram: elf.static_ram()?.saturating_sub(memories),
        memories,
        initial: elf.address("__edata")? - elf.address("__sdata")?,
        stack: elf.address("_stack_start")? - elf.address("_stack_end")?,
        slot: futures + buffers + socket,
        match_bytes,
    };
    write(&path.with_extension("uf2"), &uf2::file(start, &image))?;
    write(&path.with_extension("json"), footprint.json().as_bytes())?;
    println!("  the largest variables:");
    for (size, name) in elf.largest_variables()?.into_iter().take(8) {
        println!("    {:>9}  {name}", grouped(size));
    }
    print_modules(&elf)?;
    println!("  a slot: {futures} bytes of future, {buffers} of buffers, {socket} of socket");
    Ok(footprint.print())
}

/// Folders of the core whose modules can be left out of a box, or added to it: what each takes is printed.
const FOLDERS: [&str; 2] = ["protocols", "games"];

/// Prints what each protocol and each game takes of the image under its own name.
fn print_modules(elf: &Elf<'_>) -> Outcome {
    for folder in FOLDERS {
        let path = sh::root().join("protocol-core/src").join(folder);
        let entries = fs::read_dir(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        let mut names: Vec<_> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let sizes = elf.modules(folder, &names)?;
        println!("  {folder}, by the names in the image:{:>10}{:>10}", "flash", "RAM");
        for (name, [flash, ram]) in names.iter().zip(sizes).filter(|(_, sizes)| sizes.iter().any(|bytes| *bytes > 0)) {
            println!("    {name:<28}{:>12}{:>10}", grouped(flash), grouped(ram));
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    println!("  {}", path.strip_prefix(sh::root()).unwrap_or(path).display());
    fs::write(path, bytes).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

/// What an image takes of the board, in bytes.
struct Footprint {
    flash: u32,
    /// Without what is there for memories.
    ram: u32,
    memories: u32,
    initial: u32,
    stack: u32,
    slot: u32,
    match_bytes: u32,
}

impl Footprint {
    /// For the tests, which measure the rest.
    fn json(&self) -> String {
        let Footprint { flash, ram, memories, initial: _, stack, slot, match_bytes } = self;
        json!({"flash": flash, "static_ram": ram, "memories": memories, "stack": stack, "slot": slot,
            "match": match_bytes})
        .to_string()
    }

    /// Prints the table, and returns the lines of it that are over budget.
    fn print(&self) -> Vec<String> {
        let lines = [
            ("flash", self.flash, Some(FLASH_BUDGET)),
            ("static RAM", self.ram, Some(RAM_BUDGET)),
            ("for memories", self.memories, None),
            ("initial values", self.initial, Some(INITIAL_BUDGET)),
            ("room for stack", self.stack, None),
            ("RAM per slot", self.slot, Some(SLOT_BUDGET)),
            ("RAM per match", self.match_bytes, None),
        ];
        let mut broken = Vec::new();
        for (what, bytes, budget) in lines {
            let limit = budget.map(|budget| format!(" of {}", grouped(budget))).unwrap_or_default();
            println!("  {what:<16}{:>9} bytes{limit}", grouped(bytes));
            if budget.is_some_and(|budget| bytes > budget) {
                broken.push(format!("{what} takes {} bytes{limit}", grouped(bytes)));
            }
        }
        broken
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([7, 1000, 1_234_567].map(grouped), ["7", "1,000", "1,234,567"]);
    }

    #[test]
    fn what_is_over_budget_is_named() {
        let most = Footprint {
            flash: FLASH_BUDGET,
            ram: RAM_BUDGET,
            memories: 9,
            initial: 9,
            stack: 9,
            slot: SLOT_BUDGET,
            match_bytes: 9,
        };
        assert!(most.print().is_empty());
        let more = Footprint {
            flash: FLASH_BUDGET + 1,
            ram: RAM_BUDGET + 1,
            memories: 9,
            initial: 9,
            stack: 9,
            slot: SLOT_BUDGET + 1,
            match_bytes: 9,
        };
        let broken = more.print();
        assert_eq!(broken.len(), 3);
        assert!(broken[2].starts_with("RAM per slot takes 3,585 bytes"), "{broken:?}");
    }
}
