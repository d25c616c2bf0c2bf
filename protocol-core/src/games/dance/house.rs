//! A player of dance battle, good enough to beat those that dance at random.
//!
//! Throws are luck, steps are not: one who stumbles next to another is out. So it tries all its steps in its head,
//! against all that the nearest other might do, and takes those that make the other stumble more often than itself. As
//! long as nobody is near, it goes and looks for somebody. It sees what any agent sees, the view.

use super::{Dance, Dancer, Game, Plan, SIDE, Seat, Seats, Spot, Throw, Value};
use crate::json::Kind;

/// What it is worth to be a step nearer, in thousandths of a point.
const NEARER: i32 = 10;
/// What it is worth to avoid a duel that only luck decides.
const LUCK: i32 = 100;

impl Dance {
    /// A plan for the agent with the id `me`, who sees this view; `None` if that is no view with such an agent. The
    /// `seed` makes the throw hard to foresee: it should be another one for every move.
    pub fn house_move(view: Value<'_>, me: &str, seed: u32) -> Option<Plan> {
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
    fn seen(view: Value<'_>, me: &str) -> Option<(Dance, Seat)> {
        let agents = view.get("publicState")?.get("agents").filter(|agents| agents.kind() == Kind::Array)?;
        let mut game = Self::beginning();
        let mut seat = None;
        for ((dancer, agent), at) in game.dancers.iter_mut().zip(agents.items()).zip(0..) {
            let number = |name| u8::try_from(agent.get(name)?.as_u64()?).ok().filter(|&n| n < SIDE);
            *dancer = Dancer { at: Spot { x: number("x")?, y: number("y")? }, score: 0, next: None, last: None };
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
