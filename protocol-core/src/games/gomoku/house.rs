//! Minds for `skill-gomoku`. [`Builder`] gives every empty point the worth of the lines of five it belongs to: the more
//! stones of one player such a line has, and none of the other, the more it is worth. [`Guard`] counts the opponent's
//! lines as well, and when there are two ways to lose at once it blows a stone away.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Guard", |seed| Box::new(Guard { coin: Coin::new(seed), stormed: false })),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Builder", |seed| Box::new(Builder(Coin::new(seed)))),
];

const SIDE: usize = 15;

/// What a line is worth by how many stones it has.
const OWN: [u64; 5] = [1, 8, 60, 500, 1_000_000];
const THEIRS: [u64; 5] = [0, 6, 45, 400, 50_000];
const NOTHING: [u64; 5] = [0; 5];

type Point = (usize, usize);

/// What a player sees of the board.
struct Board {
    /// 0 for none, 1 for ours, 2 for theirs.
    stones: [[usize; SIDE]; SIDE],
    /// Where we may not place.
    quiet: [[bool; SIDE]; SIDE],
    sealed: [[bool; SIDE]; SIDE],
    energy: u64,
}

impl Board {
    fn read(seen: Seen<'_>) -> Self {
        let extra = &seen.state["extra"];
        let ours = seen.seat as u64 + 1;
        let mut stones = [[0; SIDE]; SIDE];
        for (row, line) in stones.iter_mut().enumerate() {
            for (col, stone) in line.iter_mut().enumerate() {
                *stone = match extra["board"][row][col].as_u64() {
                    None | Some(0) => 0,
                    Some(colour) if colour == ours => 1,
                    Some(_) => 2,
                };
            }
        }
        let mark = |cells: &Value, counts: &dyn Fn(&Value) -> bool| {
            let mut marked = [[false; SIDE]; SIDE];
            for cell in cells.as_array().into_iter().flatten().filter(|cell| counts(cell)) {
                let at = |axis: &str| cell[axis].as_u64().map_or(SIDE, |at| at as usize);
                if let Some(mark) = marked.get_mut(at("row")).and_then(|row| row.get_mut(at("col"))) {
                    *mark = true;
                }
            }
            marked
        };
        Self {
            stones,
            quiet: mark(&extra["quietZoneCells"], &|cell| cell["owner"].as_u64() != Some(ours)),
            sealed: mark(&extra["sealedStones"], &|_| true),
            energy: extra["energy"][seen.seat].as_u64().unwrap_or_default(),
        }
    }

    /// Where we may place, the middle first.
    fn free(&self) -> Vec<Point> {
        let points = (0..SIDE).flat_map(|row| (0..SIDE).map(move |col| (row, col)));
        let mut free: Vec<Point> =
            points.filter(|&(row, col)| self.stones[row][col] == 0 && !self.quiet[row][col]).collect();
        free.sort_by_key(|&(row, col)| row.abs_diff(SIDE / 2).max(col.abs_diff(SIDE / 2)));
        free
    }

    /// Every line of five points.
    fn lines() -> impl Iterator<Item = [Point; 5]> {
        let ways = [(0, 1), (1, 0), (1, 1), (1, -1)];
        let starts = (0..SIDE).flat_map(|row| (0..SIDE).map(move |col| (row, col)));
        starts.flat_map(move |(row, col)| {
            ways.into_iter().filter_map(move |(down, right): (usize, isize)| {
                let end = (row + 4 * down, col.checked_add_signed(4 * right)?);
                let at = |n: usize| (row + n * down, col.wrapping_add_signed(n as isize * right));
                (end.0 < SIDE && end.1 < SIDE).then(|| [0, 1, 2, 3, 4].map(at))
            })
        })
    }

    /// How many stones of ours and of theirs a line has.
    fn count(&self, line: &[Point; 5]) -> (usize, usize) {
        let of = |whose| line.iter().filter(|&&(row, col)| self.stones[row][col] == whose).count();
        (of(1), of(2))
    }

    /// The best point to place, if there is one.
    fn best(&self, own: [u64; 5], theirs: [u64; 5], coin: &mut Coin) -> Option<(Point, u64)> {
        let mut worth = [[0; SIDE]; SIDE];
        for line in Self::lines() {
            let value = match self.count(&line) {
                (mine @ 0..5, 0) => own[mine] + theirs[0],
                (0, other @ 1..5) => theirs[other],
                _ => 0,
            };
            line.iter().for_each(|&(row, col)| worth[row][col] += value);
        }
        // Points of equal worth are tried in a random order, so that no two games are alike.
        let free = self.free().into_iter().map(|(row, col)| ((row, col), worth[row][col]));
        free.max_by_key(|&(_, worth)| (worth, coin.below(1 << 20)))
    }

    /// Points with which they would win at once.
    fn threats(&self) -> Vec<([Point; 5], Point)> {
        let threats = Self::lines().filter(|line| self.count(line) == (0, 4));
        let open = |line: &[Point; 5]| line.iter().copied().find(|&(row, col)| self.stones[row][col] == 0);
        threats.filter_map(|line| Some((line, open(&line)?))).collect()
    }
}

fn place((row, col): Point) -> Value {
    json!({"type": "place", "row": row, "col": col})
}

fn skill(name: &str, (row, col): Point) -> Value {
    json!({"type": "skill", "skill": name, "target": {"row": row, "col": col}})
}

/// Who finds no point left to place on stirs up the middle.
fn place_or_stir(point: Option<Point>) -> Value {
    point.map_or_else(|| skill("uproot", (SIDE / 2, SIDE / 2)), place)
}

/// Sees only its own lines, and no skill.
struct Builder(Coin);

impl Mind for Builder {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        place_or_stir(Board::read(seen).best(OWN, NOTHING, &mut self.0).map(|(point, _)| point))
    }
}

/// Sees the lines of both.
struct Guard {
    coin: Coin,
    /// Whether the last move was a sandstorm: it may not be the next.
    stormed: bool,
}

impl Mind for Guard {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let board = Board::read(seen);
        let best = board.best(OWN, THEIRS, &mut self.coin);
        let threats = board.threats();
        let can_win = best.is_some_and(|(_, worth)| worth >= OWN[4]);
        let several = threats.iter().any(|&(_, open)| open != threats[0].1);
        let can_block = threats.first().is_none_or(|&(_, (row, col))| !board.quiet[row][col]);
        let stormy = !self.stormed && board.energy >= 2 && !can_win && (several || !can_block);
        self.stormed = false;
        if stormy {
            // The stone that most of the threats share.
            let loose = |&&(row, col): &&Point| board.stones[row][col] == 2 && !board.sealed[row][col];
            let stones = threats.iter().flat_map(|(line, _)| line.iter().filter(loose));
            let shared = |point: &Point| threats.iter().filter(|(line, _)| line.contains(point)).count();
            if let Some(&stone) = stones.max_by_key(|point| shared(point)) {
                self.stormed = true;
                return skill("sandstorm", stone);
            }
        }
        place_or_stir(best.map(|(point, _)| point))
    }
}

/// Any point.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let free = Board::read(seen).free();
        place_or_stir((!free.is_empty()).then(|| free[self.0.below(free.len() as u64) as usize]))
    }
}

#[cfg(test)]
mod tests {
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn who_sees_lines_beats_who_does_not_and_who_sees_those_of_both_beats_who_sees_its_own() {
        for name in ["Builder", "Guard"] {
            assert_eq!(wins(GameKind::Gomoku, name, "Random", 20).0, 20, "{name}");
        }
        let (won, lost) = wins(GameKind::Gomoku, "Guard", "Builder", 20);
        assert!(won > lost, "{won} : {lost}");
    }
}
