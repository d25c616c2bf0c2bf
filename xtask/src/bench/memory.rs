//! What the box keeps in memory: sizes, as the compiler knows them.

use super::title;
use crate::Outcome;
use protocol_core::hall::{Hall, Player, Table};
use protocol_core::league::Record;
use std::mem::size_of;

/// As many players as the board has room for.
type Board = Hall<32, 16, 496, 256>;
/// As many as the desktop has.
type Desktop = Hall<512, 256, 130_816, 32_768>;

/// Prints what one more of each costs, by taking the sizes of two halls that differ in nothing else.
pub fn run() -> Outcome {
    title("Memory of the hall", "sizes of this machine's build; pointers are half as large on the board");
    let more = |with: usize, without: usize| with - without;
    let player = more(size_of::<Hall<64, 16, 2016, 256>>(), size_of::<Hall<32, 16, 2016, 256>>()) / 32;
    let table = more(size_of::<Hall<32, 32, 496, 256>>(), size_of::<Hall<32, 16, 496, 256>>()) / 16;
    let result = more(size_of::<Hall<32, 16, 512, 256>>(), size_of::<Hall<32, 16, 496, 256>>()) / 16;
    let entry = more(size_of::<Hall<32, 16, 496, 512>>(), size_of::<Hall<32, 16, 496, 256>>()) / 256;
    println!("  {player:>9} bytes per player (Player itself {})", size_of::<Player>());
    println!("  {table:>9} bytes per match being played (Table itself {})", size_of::<Table>());
    println!("  {result:>9} bytes per finished match (Record itself {})", size_of::<Record>());
    println!("  {entry:>9} bytes per log entry");
    println!(
        "  {:>9} bytes: a hall of 32 players, 16 matches at once, 496 results, 256 log entries",
        size_of::<Board>()
    );
    println!("  {:>9} bytes: a hall of 512 players, 256, 130,816 and 32,768", size_of::<Desktop>());
    Ok(())
}
