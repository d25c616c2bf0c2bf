//! Minds for `blotto`. [`Planner`] counts how every allocation would do against all of the 1001 there are, and against
//! those the opponent has shown, which weigh more; and it picks one of the best, so that it is not easily foreseen.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

extern crate std;
use std::cmp::Reverse;
use std::sync::LazyLock;

use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Planner", |seed| Box::new(Planner(Coin::new(seed)))),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Even", |_| Box::new(Even)),
];

type Allocation = [i32; 5];

/// What one allocation that was seen counts, against all 1001 that might come.
const SEEN_WEIGHT: i32 = 300;

/// How many of the best plans are good enough.
const GOOD_PLANS: usize = 12;

/// Every allocation there is.
static EVERY: LazyLock<Vec<Allocation>> = LazyLock::new(|| {
    let upto = |placed: i32| 0..=10 - placed;
    let mut every = Vec::new();
    for a in upto(0) {
        for b in upto(a) {
            for c in upto(a + b) {
                every.extend(upto(a + b + c).map(|d| [a, b, c, d, 10 - a - b - c - d]));
            }
        }
    }
    every
});

/// How each of them does against all.
static AGAINST_ALL: LazyLock<Vec<i32>> = LazyLock::new(|| {
    let total = |mine: &Allocation| EVERY.iter().map(|theirs| points(mine, theirs)).sum();
    EVERY.iter().map(total).collect()
});

/// 1 for a round won, -1 for one lost.
fn points(mine: &Allocation, theirs: &Allocation) -> i32 {
    let taken = |a: &Allocation, b: &Allocation| a.iter().zip(b).filter(|(a, b)| a > b).count() >= 3;
    i32::from(taken(mine, theirs)) - i32::from(taken(theirs, mine))
}

/// Plans by what was seen.
struct Planner(Coin);

impl Mind for Planner {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let rounds = seen.state["extra"]["history"].as_array().into_iter().flatten();
        let allocation = |round: &Value| -> Option<Allocation> {
            let fields = round["allocations"][seen.opponent].as_array()?;
            let fields: Option<Vec<i32>> = fields.iter().map(|n| n.as_i64().and_then(|n| n.try_into().ok())).collect();
            fields?.try_into().ok()
        };
        let shown: Vec<Allocation> = rounds.filter_map(allocation).collect();
        let worth = |(plan, base): (&Allocation, &i32)| {
            base + shown.iter().map(|theirs| SEEN_WEIGHT * points(plan, theirs)).sum::<i32>()
        };
        let mut plans: Vec<(i32, Allocation)> =
            EVERY.iter().zip(AGAINST_ALL.iter()).map(|plan| (worth(plan), *plan.0)).collect();
        plans.sort_unstable_by_key(|&plan| Reverse(plan));
        let pick = self.0.below(GOOD_PLANS as u64) as usize;
        json!({"allocation": plans[pick].1})
    }
}

/// Any allocation.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        json!({"allocation": EVERY[self.0.below(EVERY.len() as u64) as usize]})
    }
}

/// Two everywhere.
struct Even;

impl Mind for Even {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        json!({"allocation": [2, 2, 2, 2, 2]})
    }
}

#[cfg(test)]
mod tests {
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn planning_beats_chance_and_two_everywhere() {
        assert!(wins(GameKind::Blotto, "Planner", "Random", 100).0 >= 80);
        let (won, lost) = wins(GameKind::Blotto, "Planner", "Even", 20);
        assert!(won > lost, "{won} : {lost}");
    }
}
