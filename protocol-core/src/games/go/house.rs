//! How the house plays go. The [`Keeper`] looks one move ahead: it takes what it can, saves what could be taken, gives nothing away, and
//! fills no eye of its own.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

extern crate std;

use std::collections::HashSet;

use super::board::{Point, Points, SIDE, Stones};
use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Keeper", |seed| Box::new(Keeper { coin: Coin::new(seed), seen: HashSet::new(), last_move: 0 })),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
];

/// The board as the box shows it, the ninth row first.
fn stones_of(seen: Seen<'_>) -> Stones {
    let mut stones = Stones::NONE;
    for at in Point::all() {
        let (row, column) = (SIDE - 1 - at.row(), at.column());
        let shown = seen.state["board"][usize::from(row)][usize::from(column)].as_u64();
        if let Some(seat @ 0..2) = shown.and_then(|colour| colour.checked_sub(1)) {
            stones.set(seat as u8, stones.of(seat as u8).and(Points::only(at)));
        }
    }
    stones
}

/// Whether a point is an eye: all around it are stones of one's own, and the other side cannot cut them apart at the corners.
fn is_eye(stones: &Stones, seat: u8, at: Point) -> bool {
    let own = stones.of(seat);
    if !Points::only(at).beside().without(own).is_empty() {
        return false;
    }
    let beside = |place: u8| [place.checked_sub(1), Some(place + 1).filter(|&next| next < SIDE)];
    let corners = beside(at.column()).into_iter().flat_map(|column| beside(at.row()).map(move |row| (column, row)));
    let (mut edges, mut others) = (0, 0);
    for corner in corners {
        match corner {
            (Some(column), Some(row)) => {
                others += usize::from(Point::new(column, row).is_some_and(|at| stones.at(at) == Some(seat ^ 1)));
            }
            _ => edges += 1,
        }
    }
    others + usize::from(edges > 0) < 2
}

fn liberties(stones: &Stones, group: Points) -> u8 {
    group.beside().without(stones.of(0)).without(stones.of(1)).len()
}

/// The groups of a seat beside a point.
fn groups(stones: &Stones, seat: u8, at: Point) -> Vec<Points> {
    let mut groups: Vec<Points> = Vec::new();
    for beside in Points::only(at).beside().iter().filter(|&beside| stones.of(seat).has(beside)) {
        if !groups.iter().any(|group| group.has(beside)) {
            groups.push(Points::only(beside).grown(stones.of(seat)));
        }
    }
    groups
}

fn lead(stones: &Stones, seat: u8) -> i32 {
    let area = stones.area().map(i32::from);
    area[usize::from(seat)] - area[usize::from(seat ^ 1)]
}

struct Keeper {
    coin: Coin,
    /// The boards of this match.
    seen: HashSet<u64>,
    last_move: u64,
}

impl Keeper {
    /// What a stone is worth, on the board before it and the one after it.
    fn worth(before: &Stones, after: &Stones, taken: u8, seat: u8, at: Point) -> i32 {
        let size = |group: &Points| i32::from(group.len());
        let own = Points::only(at).grown(after.of(seat));
        let breath = liberties(after, own);
        let mut worth = 20 * i32::from(taken) + 2 * lead(after, seat);
        if breath == 1 {
            worth -= 15 * size(&own);
        } else {
            let saved = groups(before, seat, at).into_iter().filter(|group| liberties(before, *group) == 1);
            worth += saved.map(|group| 15 * size(&group)).sum::<i32>();
        }
        let pressed = groups(after, seat ^ 1, at).into_iter().filter(|group| liberties(after, *group) == 1);
        worth += pressed.map(|group| 4 * size(&group)).sum::<i32>();
        let off = |place: u8| i32::from(place.abs_diff(SIDE / 2));
        // Neither the edge nor a heap of one's own stones, while there is room.
        worth + 3 * i32::from(breath.min(5))
            - off(at.column())
            - off(at.row())
            - if off(at.column()).max(off(at.row())) == 4 { 4 } else { 0 }
    }
}

impl Mind for Keeper {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let (stones, seat) = (stones_of(seen), (seen.seat % 2) as u8);
        let number = seen.state["move_number"].as_u64().unwrap_or(0);
        if number <= self.last_move {
            self.seen.clear();
        }
        self.last_move = number;
        self.seen.insert(stones.digest());
        let komi = if seat == 0 { -7 } else { 7 };
        if seen.state["last_move"]["move"] == "pass" && lead(&stones, seat) + komi > 0 {
            return json!({"move": "pass"});
        }
        let mut best: Option<(i32, u64, Point, u64)> = None;
        for at in stones.empty().iter().filter(|&at| !is_eye(&stones, seat, at)) {
            let Some((after, taken)) = stones.after(seat, at).filter(|(after, _)| !self.seen.contains(&after.digest()))
            else {
                continue;
            };
            let next = (Self::worth(&stones, &after, taken, seat, at), self.coin.below(1 << 20), at, after.digest());
            if best.is_none_or(|(worth, dice, ..)| (next.0, next.1) > (worth, dice)) {
                best = Some(next);
            }
        }
        match best {
            Some((_, _, at, digest)) => {
                self.seen.insert(digest);
                json!({"move": format!("{at}")})
            }
            None => json!({"move": "pass"}),
        }
    }
}

/// Any legal move.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let legal: Vec<&str> =
            seen.state["legal_moves"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        json!({"move": self.0.pick(&legal).unwrap_or("pass")})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn who_keeps_its_stones_beats_who_moves_at_random() {
        assert_eq!(wins(GameKind::Go, "Keeper", "Random", 20), (20, 0));
    }

    #[test]
    fn an_eye_is_a_point_whose_stones_cannot_be_cut_apart() {
        let stones = |black: &[&str], white: &[&str]| {
            let mut stones = Stones::NONE;
            for (seat, names) in [(0, black), (1, white)] {
                let points = names.iter().map(|name| Points::only(Point::read(name).unwrap()));
                stones.set(seat, points.fold(Points::NONE, Points::and));
            }
            stones
        };
        let at = |name| Point::read(name).unwrap();
        assert!(is_eye(&stones(&["A2", "B1", "B2"], &[]), 0, at("A1")));
        assert!(!is_eye(&stones(&["A2", "B1"], &["B2"]), 0, at("A1")));
        assert!(is_eye(&stones(&["D5", "D3", "C4", "E4"], &["C3"]), 0, at("D4")));
        assert!(!is_eye(&stones(&["D5", "D3", "C4", "E4"], &["C3", "E5"]), 0, at("D4")));
        assert!(!is_eye(&stones(&["D5", "D3", "C4"], &[]), 0, at("D4")));
    }
}
