//! Minds for `resource-rush`. [`Prospector`] plays as the house's player in protocol-core does.

use protocol_core::games::Rush;
use serde_json::{Value, json};

use super::{Make, Mind, Seen};
use crate::house::strategy::Coin;

pub(super) const ALL: &[(&str, Make)] =
    &[("Prospector", |_| Box::new(Prospector)), ("Random", |seed| Box::new(Random(Coin::new(seed))))];

const SIDE: usize = 100;

/// What cannot be seen.
const FOG: i8 = -1;

/// What a drone sees, row by row, and where it is.
struct Sight {
    grid: [[i8; SIDE]; SIDE],
    x: u8,
    y: u8,
}

impl Sight {
    fn read(seen: Seen<'_>) -> Self {
        let extra = &seen.state["extra"];
        let mut grid = [[FOG; SIDE]; SIDE];
        for (row, line) in grid.iter_mut().enumerate() {
            for (col, cell) in line.iter_mut().enumerate() {
                *cell = extra["grid"][row][col].as_i64().and_then(|cell| cell.try_into().ok()).unwrap_or(FOG);
            }
        }
        let at = &extra["playerPositions"][seen.me];
        let axis = |name: &str| at[name].as_u64().and_then(|n| n.try_into().ok()).unwrap_or(0);
        Self { grid, x: axis("x"), y: axis("y") }
    }

    /// The cell so many steps to the east and south.
    fn cell(&self, east: i8, south: i8) -> i8 {
        let at = |axis: u8, steps: i8| axis.checked_add_signed(steps).map_or(SIDE, usize::from);
        self.grid.get(at(self.y, south)).and_then(|row| row.get(at(self.x, east))).copied().unwrap_or(FOG)
    }
}

/// Goes to where most can be gathered.
struct Prospector;

impl Mind for Prospector {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let Sight { grid, x, y } = Sight::read(seen);
        serde_json::to_value(Rush::house_move(&grid, x, y)).unwrap_or_else(|_| json!({"action": "wait"}))
    }
}

/// Walks about, and takes what it stands on.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let sight = Sight::read(seen);
        if (1..=4).contains(&sight.cell(0, 0)) {
            return json!({"action": "harvest"});
        }
        let ways = [("north", (0, -1)), ("south", (0, 1)), ("east", (1, 0)), ("west", (-1, 0))];
        let (direction, (east, south)) = ways[self.0.below(4) as usize];
        match sight.cell(east, south) {
            FOG | 5 | 6 => json!({"action": "wait"}),
            _ => json!({"action": "move", "direction": direction}),
        }
    }
}
