//! Minds for `texasholdem`. [`Odds`] deals the cards it does not see a few hundred times and counts how often it would win: with
//! good chances it raises, with chances that are worth the price it calls.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use super::cards::{Card, strength};
use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Odds", |seed| Box::new(Odds(Coin::new(seed)))),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Caller", |_| Box::new(Caller)),
];

/// How often the unseen cards are dealt.
const DEALS: u32 = 200;

fn number(state: &Value, name: &str) -> u64 {
    state[name].as_u64().unwrap_or(0)
}

/// A raise to so much, at least the smallest and at most all in; what comes nearest if that is not allowed.
fn raise(state: &Value, to: u64) -> Value {
    let (least, most) = (state["least_raise"].as_u64(), number(state, "all_in"));
    match least {
        None => call(state),
        Some(least) if to.max(least) >= most => json!(["all_in"]),
        Some(least) => json!(["raise", to.max(least).to_string()]),
    }
}

fn call(state: &Value) -> Value {
    json!([if number(state, "to_call") > 0 { "call" } else { "check" }])
}

fn give_way(state: &Value) -> Value {
    json!([if number(state, "to_call") > 0 { "fold" } else { "check" }])
}

/// Does anything, seldom with all it has.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, Seen { state, .. }: Seen<'_>) -> Value {
        match self.0.below(16) {
            0..4 => give_way(state),
            4..11 => call(state),
            11..15 => raise(state, number(state, "pot") * self.0.below(3)),
            _ => raise(state, u64::MAX),
        }
    }
}

/// Always wants to see.
struct Caller;

impl Mind for Caller {
    fn choose(&mut self, Seen { state, .. }: Seen<'_>) -> Value {
        call(state)
    }
}

struct Odds(Coin);

impl Odds {
    /// How many of a thousand pots it would win against so many.
    fn chances(&mut self, mine: &[Card], board: &[Card], others: usize) -> u64 {
        let seen = |card: &Card| mine.contains(card) || board.contains(card);
        let mut unseen: Vec<Card> = Card::deck().filter(|card| !seen(card)).collect();
        let needed = 2 * others + 5usize.saturating_sub(board.len());
        let mut won = 0;
        for _ in 0..DEALS {
            for at in 0..needed.min(unseen.len()) {
                let other = at + self.0.below((unseen.len() - at) as u64) as usize;
                unseen.swap(at, other);
            }
            let (hands, rest) = unseen.split_at((2 * others).min(unseen.len()));
            let table = || board.iter().chain(rest).take(5);
            let worth = |hand: &[Card]| strength(hand.iter().chain(table()).copied());
            let own = worth(mine);
            let best = hands.chunks(2).map(worth).max();
            won += match best {
                Some(best) if best > own => 0,
                Some(best) if best == own => 500,
                _ => 1000,
            };
        }
        won / u64::from(DEALS)
    }
}

impl Mind for Odds {
    fn choose(&mut self, Seen { state, me, .. }: Seen<'_>) -> Value {
        let cards = |of: &Value| -> Vec<Card> {
            of.as_array().into_iter().flatten().filter_map(|card| Card::named(card.as_str()?)).collect()
        };
        let is_in = |player: &&Value| player["id"] != me && (player["state"] == "in" || player["state"] == "all_in");
        let others = state["players"].as_array().into_iter().flatten().filter(is_in).count();
        let chances = self.chances(&cards(&state["your_hand"]), &cards(&state["cards"]), others.clamp(1, 5));
        let (pot, price) = (number(state, "pot"), number(state, "to_call"));
        // What the call must win at least, of a thousand times, to be worth it.
        let least = 1000 * price / (pot + price).max(1);
        // More than its share, and much more where it is dear.
        let good = 1000 / (others as u64 + 1) + 150;
        if chances >= good + 150 || chances >= good && price * 4 <= pot {
            raise(state, price + pot + pot / 2)
        // A little more than it is worth: some bets tell the truth.
        } else if chances > least + 50 {
            call(state)
        } else {
            give_way(state)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn who_counts_its_chances_beats_who_does_anything() {
        let (won, lost) = wins(GameKind::TexasHoldem, "Odds", "Random", 100);
        assert!(won >= 70, "{won} : {lost}");
    }

    #[test]
    fn who_counts_its_chances_beats_who_always_calls() {
        let (won, lost) = wins(GameKind::TexasHoldem, "Odds", "Caller", 100);
        assert!(won >= 70, "{won} : {lost}");
    }
}
