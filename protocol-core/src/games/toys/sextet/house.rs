//! How the house would play it: who says six cannot lose.

use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[("Six", |_| Box::new(Six)), ("Random", |seed| Box::new(Random(Coin::new(seed))))];

struct Six;

impl Mind for Six {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        json!({"say": 6})
    }
}

struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        json!({"say": 1 + self.0.below(6)})
    }
}
