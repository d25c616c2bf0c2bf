//! Minds for `rockpaper`. Nobody wins against dice but by luck, so thinking pays only against who does not throw them: [`Reader`]
//! looks for what the other did after rounds like the last one.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use super::Throw;
use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Reader", |seed| Box::new(Reader(Coin::new(seed)))),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Fist", |_| Box::new(Fist)),
    ("Circle", |_| Box::new(Circle(0))),
];

fn sent(throw: Throw) -> Value {
    json!([throw])
}

/// Throws dice.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        sent(self.0.pick(&Throw::ALL).unwrap_or(Throw::Rock))
    }
}

/// Trusts in rock.
struct Fist;

impl Mind for Fist {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        sent(Throw::Rock)
    }
}

/// Rock, paper, scissors, and again.
struct Circle(usize);

impl Mind for Circle {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        self.0 += 1;
        sent(Throw::ALL[self.0 % Throw::ALL.len()])
    }
}

/// Beats what the other threw most often after the throw it made last; of several as many times, any.
struct Reader(Coin);

impl Reader {
    /// How often the other is to be expected to throw each.
    fn expected(seen: Seen<'_>) -> [u32; 3] {
        let throw = |round: &Value| Throw::ALL.into_iter().position(|throw| round[seen.opponent] == throw.name());
        let past: Vec<usize> = seen.state["history"].as_array().into_iter().flatten().filter_map(throw).collect();
        let mut counts = [0; 3];
        for pair in past.windows(2).filter(|pair| Some(&pair[0]) == past.last()) {
            counts[pair[1]] += 2;
        }
        // Before anything can follow from anything: people like what they have.
        past.last().into_iter().for_each(|&last| counts[last] += 1);
        counts
    }
}

impl Mind for Reader {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let counts = Self::expected(seen);
        let most = counts.into_iter().max().unwrap_or(0);
        let likely: Vec<Throw> =
            Throw::ALL.into_iter().zip(counts).filter(|&(_, n)| n == most).map(|(t, _)| t).collect();
        let theirs = self.0.pick(&likely).unwrap_or(Throw::Rock);
        sent(Throw::ALL.into_iter().find(|throw| throw.beats(theirs)).unwrap_or(theirs))
    }
}

#[cfg(test)]
mod tests {
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn the_reader_beats_whoever_has_a_habit() {
        for (against, at_least) in [("Fist", 200), ("Circle", 190)] {
            let (won, lost) = wins(GameKind::RockPaper, "Reader", against, 200);
            assert!(won >= at_least, "{won} : {lost} against {against}");
        }
    }

    #[test]
    fn dice_are_a_match_for_everybody() {
        for name in ["Reader", "Fist", "Circle"] {
            let (won, lost) = wins(GameKind::RockPaper, name, "Random", 200);
            assert!((70..130).contains(&won) && (70..130).contains(&lost), "{name} {won} : {lost}");
        }
    }
}
