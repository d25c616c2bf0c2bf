//! Minds for `blackjack`. [`Steady`] plays each hand by the book, so that it loses little in the long run, bets as little as it
//! can while it leads, and as much as it must when few hands are left.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Steady", |_| Box::new(Steady)),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Timid", |_| Box::new(Timid)),
];

/// What may be bet; the least where the view does not say.
fn bets(state: &Value) -> Vec<u64> {
    let bets: Vec<u64> = state["your_bets"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    if bets.is_empty() { vec![5] } else { bets }
}

fn is_betting(state: &Value) -> bool {
    state["phase"] != "play"
}

fn bet(chips: u64) -> Value {
    json!(["bet", chips.to_string()])
}

/// Does anything that is allowed.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let may: Vec<&str> = seen.state["you_may"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        match is_betting(seen.state) {
            true => bet(self.0.pick(&bets(seen.state)).unwrap_or(5)),
            false => json!([self.0.pick(&may).unwrap_or("stand")]),
        }
    }
}

/// Bets the least, and never takes a card that could be too much.
struct Timid;

impl Mind for Timid {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let points = seen.state["your_hand"]["points"].as_u64().unwrap_or(21);
        match is_betting(seen.state) {
            true => bet(5),
            false => json!([if points < 12 { "hit" } else { "stand" }]),
        }
    }
}

struct Steady;

impl Steady {
    /// The bet that suffices: behind somebody it takes what is missing, spread over the hands that are left.
    fn bet(seen: Seen<'_>) -> Value {
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let (mine, left) = (number(&seen.state["your_chips"]), 11 - number(&seen.state["hand"]).min(10));
        let players = || seen.state["players"].as_array().into_iter().flatten();
        let best = players().filter(|player| player["id"] != seen.me).map(|player| number(&player["chips"])).max();
        let missing = best.unwrap_or(0).saturating_sub(mine);
        let wanted = if left <= 4 { missing.div_ceil(left) } else { 0 };
        let bets = bets(seen.state);
        bet(bets.iter().copied().find(|&bet| bet >= wanted).or(bets.last().copied()).unwrap_or(5))
    }

    /// What the book says. The dealer does not look at its second card before, so nothing is risked against a ten or an ace.
    fn word(state: &Value) -> &'static str {
        let (hand, dealer) = (&state["your_hand"], state["dealer"]["points"].as_u64().unwrap_or(10));
        let points = hand["points"].as_u64().unwrap_or(21);
        let may = |word: &str| state["you_may"].as_array().is_some_and(|may| may.iter().any(|other| other == word));
        let is_weak = (2..=6).contains(&dealer);
        let is_pair = match hand["cards"][0].as_str().unwrap_or_default() {
            "A" | "8" => dealer < 10,
            "2" | "3" | "7" => dealer < 8,
            "6" => is_weak,
            "9" => dealer < 10 && dealer != 7,
            _ => false,
        };
        if may("split") && is_pair {
            return "split";
        }
        let soft = hand["soft"].as_bool().unwrap_or(false);
        let doubles = match points {
            13..=18 if soft => (5..=6).contains(&dealer),
            9 => (3..=6).contains(&dealer),
            10 | 11 => !soft && dealer < 10,
            _ => false,
        };
        if may("double") && doubles {
            return "double";
        }
        let stands = match points {
            18 if soft => dealer < 9,
            ..=18 if soft => false,
            12 => (4..=6).contains(&dealer),
            13..=16 => is_weak,
            17.. => true,
            _ => false,
        };
        if stands { "stand" } else { "hit" }
    }
}

impl Mind for Steady {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        if is_betting(seen.state) { Self::bet(seen) } else { json!([Self::word(seen.state)]) }
    }
}

#[cfg(test)]
mod tests {
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn who_plays_by_the_book_beats_who_does_anything() {
        let (won, lost) = wins(GameKind::Blackjack, "Steady", "Random", 200);
        assert!(won >= 160, "{won} : {lost}");
    }

    #[test]
    fn who_plays_by_the_book_beats_who_never_dares() {
        let (won, lost) = wins(GameKind::Blackjack, "Steady", "Timid", 200);
        assert!(won > lost, "{won} : {lost}");
    }
}
