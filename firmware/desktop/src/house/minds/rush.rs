<<<<<<< HEAD
//! Minds for `resource-rush`. [`Prospector`] walks to where the most is to be had for the way, as [`Rush::house_move`]
//! says; [`Random`] harvests where it happens to come by.

use protocol_core::games::{Grid, Rush};
=======
//! Minds for `resource-rush`. [`Prospector`] plays as the house's player in protocol-core does.

use protocol_core::games::Rush;
>>>>>>> games1
use serde_json::{Value, json};

use super::{Make, Mind, Seen};
use crate::house::strategy::Coin;

pub(super) const ALL: &[(&str, Make)] =
    &[("Prospector", |_| Box::new(Prospector)), ("Random", |seed| Box::new(Random(Coin::new(seed))))];

<<<<<<< HEAD
/// The grid, and where on it we are; `None` if that is not what we are shown.
fn read(seen: Seen<'_>) -> Option<(Grid, u8, u8)> {
    let extra = &seen.state["extra"];
    let (_, me) = extra["playerPositions"].as_object()?.iter().find(|(id, _)| *id != seen.opponent)?;
    let number = |axis: &str| me[axis].as_u64().and_then(|n| u8::try_from(n).ok()).filter(|&n| n < 100);
    let mut grid: Grid = [[-1; 100]; 100];
    for (row, cells) in grid.iter_mut().zip(extra["grid"].as_array()?) {
        for (cell, value) in row.iter_mut().zip(cells.as_array()?) {
            *cell = value.as_i64().and_then(|n| i8::try_from(n).ok()).unwrap_or(-1);
        }
    }
    Some((grid, number("x")?, number("y")?))
}

/// Goes for the gold.
=======
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
>>>>>>> games1
struct Prospector;

impl Mind for Prospector {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
<<<<<<< HEAD
        let wanted = read(seen).and_then(|(grid, x, y)| serde_json::to_value(Rush::house_move(&grid, x, y)).ok());
        wanted.unwrap_or_else(|| json!({"action": "wait"}))
    }
}

/// Goes anywhere.
=======
        let Sight { grid, x, y } = Sight::read(seen);
        serde_json::to_value(Rush::house_move(&grid, x, y)).unwrap_or_else(|_| json!({"action": "wait"}))
    }
}

/// Walks about, and takes what it stands on.
>>>>>>> games1
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
<<<<<<< HEAD
        let Some((grid, x, y)) = read(seen) else { return json!({"action": "wait"}) };
        let (x, y) = (usize::from(x), usize::from(y));
        if (1..=4).contains(&grid[y][x]) {
            return json!({"action": "harvest"});
        }
        let cell =
            |x: Option<usize>, y: Option<usize>| grid.get(y?)?.get(x?).filter(|cell| ![-1, 5, 6].contains(*cell));
        let (here, row) = (Some(x), Some(y));
        let ways = [
            ("north", cell(here, y.checked_sub(1))),
            ("south", cell(here, Some(y + 1))),
            ("east", cell(Some(x + 1), row)),
            ("west", cell(x.checked_sub(1), row)),
        ];
        let open: Vec<&str> = ways.iter().filter(|(_, cell)| cell.is_some()).map(|(way, _)| *way).collect();
        match open.get(self.0.below(open.len().max(1) as u64) as usize) {
            Some(way) => json!({"action": "move", "direction": way}),
            None => json!({"action": "wait"}),
=======
        let sight = Sight::read(seen);
        if (1..=4).contains(&sight.cell(0, 0)) {
            return json!({"action": "harvest"});
        }
        let ways = [("north", (0, -1)), ("south", (0, 1)), ("east", (1, 0)), ("west", (-1, 0))];
        let (direction, (east, south)) = ways[self.0.below(4) as usize];
        match sight.cell(east, south) {
            FOG | 5 | 6 => json!({"action": "wait"}),
            _ => json!({"action": "move", "direction": direction}),
>>>>>>> games1
        }
    }
}
