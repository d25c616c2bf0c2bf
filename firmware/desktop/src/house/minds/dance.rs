//! Minds for `dance-battle`. [`Dancer`] plays as the house's player in protocol-core does.

use protocol_core::games::Dance;
use protocol_core::json::parse;
use serde_json::{Value, json};

use super::{Make, Mind, Seen};
use crate::house::strategy::Coin;

pub(super) const ALL: &[(&str, Make)] = &[
    ("Dancer", |seed| Box::new(Dancer(Coin::new(seed)))),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Wallflower", |_| Box::new(Wallflower)),
];

const STEPS: [&str; 5] = ["hold", "up", "down", "left", "right"];
const THROWS: [&str; 3] = ["rock", "paper", "scissors"];

fn plan([first, second]: [&str; 2], throw: &str) -> Value {
    json!({"commands": [
        {"beatIndex": 0, "kind": "move", "direction": first},
        {"beatIndex": 1, "kind": "move", "direction": second},
        {"beatIndex": 2, "kind": "action", "action": throw},
    ]})
}

/// Walks up to others and makes them stumble.
struct Dancer(Coin);

impl Mind for Dancer {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let view = seen.state.to_string();
        let dice = self.0.below(1 << 30) as u32;
        let plan = parse(view.as_bytes()).ok().and_then(|view| Dance::house_move(view, seen.me, dice));
        plan.and_then(|plan| serde_json::to_value(plan).ok()).unwrap_or_else(|| Wallflower.choose(seen))
    }
}

/// Dances as the dice fall.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        let mut any = |words: &[&'static str]| words[self.0.below(words.len() as u64) as usize];
        plan([any(&STEPS), any(&STEPS)], any(&THROWS))
    }
}

/// Stays where it is.
struct Wallflower;

impl Mind for Wallflower {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        plan(["hold", "hold"], "rock")
    }
}
