//! How the house would play it. Nobody can think ahead here: the others decide.

use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[("One", |_| Box::new(One)), ("Random", |seed| Box::new(Random(Coin::new(seed))))];

struct One;

impl Mind for One {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        json!({"say": 1})
    }
}

struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        json!({"say": 1 + self.0.below(3)})
    }
}
