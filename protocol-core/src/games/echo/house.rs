//! Minds for `echo`. [`Ladder`] cannot be beaten: 10, 9, 10, 9, 10 is never a repeat, its tens lose to nothing, and who
//! has a ten ready for its nines cannot have one for its tens, which are more.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Ladder", |_| Box::new(Ladder)),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Always ten", |_| Box::new(AlwaysTen)),
    ("High", |seed| Box::new(High { coin: Coin::new(seed), last: 0 })),
];

/// Ten in every odd round, nine in every even one.
struct Ladder;

impl Mind for Ladder {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let round = seen.state["extra"]["currentRound"].as_u64().unwrap_or(1);
        json!({"number": if round.is_multiple_of(2) { 9 } else { 10 }})
    }
}

/// Rolls a die with ten sides.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        json!({"number": 1 + self.0.below(10)})
    }
}

/// Has not read the rule about repeats.
struct AlwaysTen;

impl Mind for AlwaysTen {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        json!({"number": 10})
    }
}

/// One of the three highest, never the same twice.
struct High {
    coin: Coin,
    last: u64,
}

impl Mind for High {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        // One or two steps on in the circle 8, 9, 10.
        let step = 1 + self.coin.below(2);
        self.last = if self.last == 0 { 7 + step } else { 8 + (self.last - 8 + step) % 3 };
        json!({"number": self.last})
    }
}

#[cfg(test)]
mod tests {
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn the_ladder_beats_all_others() {
        assert!(wins(GameKind::Echo, "Ladder", "Random", 100).0 >= 95);
        for against in ["Always ten", "High"] {
            let (won, lost) = wins(GameKind::Echo, "Ladder", against, 20);
            assert!(won > lost, "{won} : {lost} against {against}");
        }
    }
}
