//! What the box keeps in memory: sizes, as the compiler knows them.

use super::title;
use crate::Outcome;
use crate::verb::Given;
use protocol_core::season::Record;
use protocol_core::venue::{Player, Space, Table};
use std::mem::size_of;

/// As many players as the board has room for.
type Board = Space<32, 16, 496, 256, 20_992, 416>;
/// As many as the desktop has.
type Desktop = Space<512, 256, 130_816, 32_768, 20_992, 416>;

/// Prints what one more of each costs, by taking the sizes of two venues that differ in nothing else.
pub fn run(_: &Given) -> Outcome {
    title("Memory of the venue", "sizes of this machine's build; pointers are half as large on the board");
    let more = |with: usize, without: usize| with - without;
    let player =
        more(size_of::<Space<64, 16, 2016, 256, 20_992, 416>>(), size_of::<Space<32, 16, 2016, 256, 20_992, 416>>())
            / 32;
    let table =
        more(size_of::<Space<32, 32, 496, 256, 20_992, 416>>(), size_of::<Space<32, 16, 496, 256, 20_992, 416>>()) / 16;
    let result =
        more(size_of::<Space<32, 16, 512, 256, 20_992, 416>>(), size_of::<Space<32, 16, 496, 256, 20_992, 416>>()) / 16;
    let entry =
        more(size_of::<Space<32, 16, 496, 512, 20_992, 416>>(), size_of::<Space<32, 16, 496, 256, 20_992, 416>>())
            / 256;
    println!("  {player:>9} bytes per player (Player itself {})", size_of::<Player>());
    println!("  {table:>9} bytes per match being played (Table itself {})", size_of::<Table>());
    println!("  {result:>9} bytes per finished match (Record itself {})", size_of::<Record>());
    println!("  {entry:>9} bytes per log entry");
    println!(
        "  {:>9} bytes: a venue of 32 players, 16 matches at once, 496 results, 256 log entries",
        size_of::<Board>()
    );
    println!("  {:>9} bytes: a venue of 512 players, 256, 130,816 and 32,768", size_of::<Desktop>());
    Ok(())
}
