//! How the house dances. Throws are luck, steps are not: one who stumbles next to another is out. So the [`Dancer`] tries all its steps in its head,
//! against all that the nearest other might do, and takes those that make the other stumble more often than itself. As
//! long as nobody is near, it goes and looks for somebody.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use super::{Dance, Game, Plan, SIDE, Seat, Seats, Spot, Throw};
use crate::games::house::prelude::*;
use crate::json::{self, Kind};

pub const MINDS: &[(&str, Make)] = &[
    ("Dancer", |seed| Box::new(Dancer(Coin::new(seed)))),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Wallflower", |_| Box::new(Wallflower)),
];

/// What it is worth to be a step nearer, in thousandths of a point.
const NEARER: i32 = 10;
/// What it is worth to avoid a duel that only luck decides.
const LUCK: i32 = 100;

impl Dance {
    /// A plan for the agent with the id `me`, who sees this view; `None` if that is no view with such an agent. The
    /// `seed` makes the throw hard to foresee: it should be another one for every move.
    pub(crate) fn house_move(view: json::Value<'_>, me: &str, seed: u32) -> Option<Plan> {
        let (game, seat) = Self::seen(view, me)?;
        let throw = *Throw::ALL.get((seed % 3) as usize)?;
        let here = game.dancer(seat)?.at;
        let away = |other: &Seat| game.dancer(*other).map(|dancer| dancer.at.distance(here));
        let nearest = game.floor().without(Seats::only(seat)).iter().min_by_key(away);
        let Some(nearest) = nearest.filter(|_| game.floor().has(seat)) else { return Plan::all().next() };
        let steps = || Plan::all().filter(|plan| plan.throw == Throw::Rock);
        let worth = |mine: &Plan| steps().map(|theirs| game.tried([(seat, *mine), (nearest, theirs)])).sum::<i32>();
        Some(Plan { throw, ..steps().max_by_key(worth)? })
    }

    /// The game as a view tells it, as far as it matters for the next round, and the seat of `me`.
    fn seen(view: json::Value<'_>, me: &str) -> Option<(Dance, Seat)> {
        let agents = view.get("publicState")?.get("agents").filter(|agents| agents.kind() == Kind::Array)?;
        let mut game = Self::beginning();
        let mut seat = None;
        for ((dancer, agent), at) in game.dancers.iter_mut().zip(agents.items()).zip(0..) {
            let number = |name| u8::try_from(agent.get(name)?.as_u64()?).ok().filter(|&n| n < SIDE);
            *dancer = super::Dancer { at: Spot { x: number("x")?, y: number("y")? }, score: 0, next: None, last: None };
            if agent.get("eliminated")?.as_bool()? {
                game.out = game.out.with(at);
            }
            if agent.get("agentId")?.as_str()?.is(me) {
                seat = Some(at);
            }
        }
        Some((game, seat?))
    }

    /// How good the round is for the first of two, if everybody else holds. Equal throws leave the stumbling.
    #[expect(clippy::arithmetic_side_effects, reason = "a dancer has a few points, and the floor 17 cells a side")]
    fn tried(&self, [(seat, mine), (other, theirs)]: [(Seat, Plan); 2]) -> i32 {
        let mut game = self.clone();
        for (dancer, at) in game.dancers.iter_mut().zip(0..) {
            dancer.next = if at == seat { Some(mine) } else { Some(theirs).filter(|_| at == other) };
        }
        game.dance();
        let place = |seat| game.dancer(seat).map(|dancer| dancer.at);
        let away = place(seat).zip(place(other)).map_or(0, |(here, there)| here.distance(there));
        let luck = away == 1 && game.stunned.is_empty();
        let points = game.score(seat) - i32::from(game.out.has(seat));
        1000 * points - NEARER * i32::from(away) - LUCK * i32::from(luck)
    }
}

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
        let plan = json::parse(view.as_bytes()).ok().and_then(|view| Dance::house_move(view, seen.me, dice));
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

#[cfg(test)]
mod tests {
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn who_tries_its_steps_first_beats_three_who_do_not() {
        // Of four, fifteen would be luck.
        let (won, _) = wins(GameKind::Dance, "Dancer", "Random", 60);
        assert!(won >= 24, "{won}");
    }
}
