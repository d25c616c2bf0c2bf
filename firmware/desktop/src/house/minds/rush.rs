//! Minds for `resource-rush`. [`Prospector`] walks to where the most is to be had for the way, as [`Rush::house_move`]
//! says; [`Random`] harvests where it happens to come by.

use protocol_core::games::{Grid, Rush};
use serde_json::{Value, json};

use super::{Make, Mind, Seen};
use crate::house::strategy::Coin;

pub(super) const ALL: &[(&str, Make)] =
    &[("Prospector", |_| Box::new(Prospector)), ("Random", |seed| Box::new(Random(Coin::new(seed))))];

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
struct Prospector;

impl Mind for Prospector {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let wanted = read(seen).and_then(|(grid, x, y)| serde_json::to_value(Rush::house_move(&grid, x, y)).ok());
        wanted.unwrap_or_else(|| json!({"action": "wait"}))
    }
}

/// Goes anywhere.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
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
        }
    }
}
