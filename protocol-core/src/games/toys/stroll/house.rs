//! How the house would walk: a few steps east, and then it has had enough.

use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] =
    &[("Walker", |_| Box::new(Walker(3))), ("Random", |seed| Box::new(Walker(Coin::new(seed).below(4))))];

/// How many steps are left.
struct Walker(u64);

impl Mind for Walker {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        let walks = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        json!({"go": if walks { "east" } else { "stop" }})
    }
}
