//! How the house gathers. Of all resources the [`Prospector`] can see and walk to it takes the one with the most worth around it for the way, and walks the
//! shortest way there. Where it sees none, it goes to where the fog begins. It remembers nothing.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use super::{Action, Direction, SIZE, Spot, Wire};
use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] =
    &[("Prospector", |_| Box::new(Prospector)), ("Random", |seed| Box::new(Random(Coin::new(seed))))];

/// Ticks a harvest and the search for the next one cost, beside the way. It keeps a lonely bush at hand from being
/// preferred to a vein.
const EFFORT: u32 = 4;
/// How far around a resource others count.
const AROUND: u8 = 2;
/// What so many cells of gold are worth.
const MOST_AROUND: u32 = 5 * (2 * AROUND as u32 + 1).pow(2);

/// A cell for each bit, a row for each number.
type Cells = [u128; SIZE as usize];

/// What a drone sees: `extra.grid`, row by row.
pub(super) type Grid = [[i8; SIZE as usize]; SIZE as usize];

/// A way to somewhere.
struct Search<'a> {
    grid: &'a Grid,
    open: Cells,
    me: Spot,
}

impl super::Rush {
    /// A move for a drone that is there and sees this.
    pub(super) fn house_move(grid: &Grid, x: u8, y: u8) -> Wire {
        let open = grid.map(|row| {
            let open = row.iter().zip(0..).filter(|(cell, _)| !matches!(cell, -1 | 5 | 6));
            open.fold(0, |cells, (_, x)| cells | 1 << x)
        });
        let me = Spot { x: x.min(SIZE - 1), y: y.min(SIZE - 1) };
        let search = Search { grid, open, me };
        let action = match search.target() {
            Some(target) if target == me => Action::Harvest,
            Some(target) => search.first_step(target).map_or(Action::Wait, Action::Move),
            None => Action::Wait,
        };
        action.wire()
    }
}

impl Search<'_> {
    fn cell(&self, spot: Spot) -> i8 {
        self.grid.get(usize::from(spot.y)).and_then(|row| row.get(usize::from(spot.x))).copied().unwrap_or(-1)
    }

    fn worth(&self, spot: Spot) -> u32 {
        match self.cell(spot) {
            1 => 1,
            2 => 2,
            3 => 5,
            4 => 3,
            _ => 0,
        }
    }

    /// What a resource and those around it are worth.
    #[expect(clippy::arithmetic_side_effects, reason = "a spot is on the map, below 100")]
    fn worth_around(&self, spot: Spot) -> u32 {
        let span = |n: u8| n.saturating_sub(AROUND)..(n + AROUND + 1).min(SIZE);
        span(spot.y).flat_map(|y| span(spot.x).map(move |x| Spot { x, y })).map(|near| self.worth(near)).sum()
    }

    /// Where to go.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a way has at most 10,000 steps, and what is seen is worth at most `MOST_AROUND`"
    )]
    fn target(&self) -> Option<Spot> {
        let mut best: Option<(u32, Spot)> = None;
        let mut edge = None;
        let mut reached = cells(self.me);
        let mut fresh = reached;
        for distance in 0.. {
            let most = 1000 * MOST_AROUND / (distance + EFFORT);
            if best.is_some_and(|(gain, _)| gain >= most) {
                break;
            }
            for spot in each(&fresh) {
                if self.worth(spot) > 0 {
                    let gain = 1000 * self.worth_around(spot) / (distance + EFFORT);
                    if best.is_none_or(|(best, _)| gain > best) {
                        best = Some((gain, spot));
                    }
                } else if distance > 0
                    && Direction::ALL.iter().any(|&way| spot.towards(way).is_some_and(|there| self.cell(there) == -1))
                {
                    edge = edge.or(Some(spot));
                }
            }
            let next = self.spread(&reached);
            fresh =
                core::array::from_fn(|y| next.get(y).zip(reached.get(y)).map_or(0, |(next, reached)| next & !reached));
            if fresh == [0; SIZE as usize] {
                break;
            }
            reached = next;
        }
        best.map(|(_, spot)| spot).or(edge)
    }

    /// Which way the shortest way to `target` begins.
    fn first_step(&self, target: Spot) -> Option<Direction> {
        let mut reached = cells(target);
        loop {
            let next_to = |way: &Direction| self.me.towards(*way).is_some_and(|spot| has(&reached, spot));
            if let Some(way) = Direction::ALL.into_iter().find(next_to) {
                return Some(way);
            }
            let next = self.spread(&reached);
            if next == reached {
                return None;
            }
            reached = next;
        }
    }

    /// These cells and all open ones next to them.
    fn spread(&self, from: &Cells) -> Cells {
        let row = |y: Option<usize>| y.and_then(|y| from.get(y)).copied().unwrap_or(0);
        core::array::from_fn(|y| {
            let here = row(Some(y));
            let near = here | here << 1 | here >> 1 | row(y.checked_sub(1)) | row(y.checked_add(1));
            here | near & self.open.get(y).copied().unwrap_or(0)
        })
    }
}

/// Only this cell.
fn cells(spot: Spot) -> Cells {
    core::array::from_fn(|y| if y == usize::from(spot.y) { 1 << spot.x } else { 0 })
}

fn has(cells: &Cells, spot: Spot) -> bool {
    cells.get(usize::from(spot.y)).is_some_and(|row| row >> spot.x & 1 == 1)
}

#[expect(clippy::cast_possible_truncation, reason = "there are 128 bits to a row")]
fn each(cells: &Cells) -> impl Iterator<Item = Spot> {
    let row = |(&row, y): (&u128, u8)| {
        let lowest = |row: u128| (row != 0).then_some(row);
        // Each number is the one before without its lowest bit.
        core::iter::successors(lowest(row), move |row| lowest(row & row.wrapping_sub(1)))
            .map(move |row| Spot { x: row.trailing_zeros() as u8, y })
    };
    cells.iter().zip(0..).flat_map(row)
}

/// What cannot be seen.
const FOG: i8 = -1;

/// What a drone sees, row by row, and where it is.
struct Sight {
    grid: Grid,
    x: u8,
    y: u8,
}

impl Sight {
    fn read(seen: Seen<'_>) -> Self {
        let extra = &seen.state["extra"];
        let mut grid = [[FOG; SIZE as usize]; SIZE as usize];
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
        let at = |axis: u8, steps: i8| axis.checked_add_signed(steps).map_or(usize::MAX, usize::from);
        self.grid.get(at(self.y, south)).and_then(|row| row.get(at(self.x, east))).copied().unwrap_or(FOG)
    }
}

/// Goes to where most can be gathered.
struct Prospector;

impl Mind for Prospector {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let Sight { grid, x, y } = Sight::read(seen);
        serde_json::to_value(super::Rush::house_move(&grid, x, y)).unwrap_or_else(|_| json!({"action": "wait"}))
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

#[cfg(test)]
mod tests {
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn who_looks_for_veins_beats_who_walks_about() {
        assert_eq!(wins(GameKind::Rush, "Prospector", "Random", 2).0, 2);
    }
}
