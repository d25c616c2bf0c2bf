//! Minds for the Bazaar. A [`Trader`] says what it looks for, hears what the other one does, and proposes what would bring both
//! where they want to be. A miser gives one less than it is asked for, and waits for the other to give in.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use super::{MESSAGES, RESOURCES};
use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Trader", |seed| Box::new(Trader { coin: Coin::new(seed), is_miser: false, proposed: None, trades: 0 })),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Miser", |seed| Box::new(Trader { coin: Coin::new(!seed), is_miser: true, proposed: None, trades: 0 })),
    ("Merchant", |seed| Box::new(Trader { coin: Coin::new(seed ^ 7), is_miser: false, proposed: None, trades: 0 })),
];

/// What somebody sees of a match.
struct Sight<'a> {
    state: &'a Value,
    me: &'a str,
    /// What it holds, by resource.
    held: [u64; 4],
    /// What it wants, by its place among the resources, and how many.
    goal: (usize, u64),
}

fn amount(bundle: &Value, resource: usize) -> u64 {
    bundle[RESOURCES[resource]].as_u64().unwrap_or(0)
}

impl<'a> Sight<'a> {
    fn of(seen: Seen<'a>) -> Self {
        let Seen { me, state, .. } = seen;
        let (own, goal) = (&state["resources"][me], &state["goals"][me]);
        let resource = RESOURCES.iter().position(|name| goal["resource"] == *name).unwrap_or(0);
        let held = [0, 1, 2, 3].map(|resource| amount(own, resource));
        Self { state, me, held, goal: (resource, goal["amount"].as_u64().unwrap_or(0)) }
    }

    fn spoken(&self) -> u64 {
        self.state["spoken"].as_u64().unwrap_or(0)
    }

    /// How many are missing.
    fn missing(&self) -> u64 {
        self.goal.1.saturating_sub(self.held[self.goal.0])
    }

    fn may_propose(&self) -> bool {
        self.state["pending"].is_null() && self.state["proposals_left"][self.me].as_u64().unwrap_or(0) > 0
    }

    /// The proposal that the other one has made: what it gives, and what for.
    fn offered(&self) -> Option<[[u64; 4]; 2]> {
        let deal = self.state["pending"].as_object().filter(|deal| deal["player"] != self.me)?;
        Some(["offer", "request"].map(|side| [0, 1, 2, 3].map(|resource| amount(&deal[side], resource))))
    }

    fn can_accept(&self) -> bool {
        self.offered().is_some_and(|[_, request]| request.iter().zip(self.held).all(|(asked, held)| *asked <= held))
    }

    /// What the other one wants, by what it has proposed or said: a resource, and how many.
    fn wish_of_other(&self) -> Option<(usize, u64)> {
        let asked = |deal: &Value| {
            let is_theirs = deal["player"].as_str().is_some_and(|player| player != self.me);
            let asks = |resource: usize| amount(&deal["request"], resource);
            (0..4).filter(|_| is_theirs).max_by_key(|&resource| asks(resource)).map(|at| (at, asks(at)))
        };
        let last = &self.state["last"];
        let words = last["text"].as_str().filter(|_| last["player"] != self.me).unwrap_or_default().to_lowercase();
        let said = || {
            let behind = ["looking for", "need", "want"].into_iter().find_map(|sign| words.split_once(sign))?.1;
            let of_it = |(at, name): (usize, &&str)| behind.find(*name).map(|place| (place, at));
            let (place, at) = RESOURCES.iter().enumerate().filter_map(of_it).min()?;
            let digits: String = behind[..place].chars().filter(char::is_ascii_digit).collect();
            Some((at, digits.parse().unwrap_or(4)))
        };
        said()
            .or_else(|| [&self.state["pending"], &self.state["last_trade"]].into_iter().find_map(asked))
            .filter(|&(at, amount)| amount > 0 && at != self.goal.0)
    }
}

fn proposal(give: (usize, u64), take: (usize, u64)) -> Value {
    json!({"propose": {"offer": {RESOURCES[give.0]: give.1}, "request": {RESOURCES[take.0]: take.1}}})
}

const GREETINGS: [&str; 3] =
    ["Welcome to my stall!", "Good day, friend, and a better bargain.", "Come closer, I have what others have not."];
const PLEASED: [&str; 3] =
    ["A pleasure to trade with you.", "Shake hands on it!", "That was worth the walk to the market."];
const COLD: [&str; 3] =
    ["No, thank you: that does not help me.", "My mother would not forgive me that one.", "Not for that."];
const DONE: [&str; 4] = [
    "I have all I came for. May your evening be as good.",
    "My cart is full; I am only here for the company now.",
    "If you still miss something, ask: I have things to spare.",
    "Good weather for a market, is it not?",
];
const PUSHING: [&str; 3] =
    ["The sun is going down.", "Others have offered me more.", "Think of what you go home with."];

struct Trader {
    coin: Coin,
    is_miser: bool,
    /// In which turn it proposed something last.
    proposed: Option<u64>,
    /// How many trades there were when it spoke last.
    trades: u64,
}

impl Trader {
    /// Whether a proposal is good enough.
    fn likes(&self, sight: &Sight<'_>, [offer, request]: [[u64; 4]; 2]) -> bool {
        let (resource, amount) = sight.goal;
        let after = (sight.held[resource] + offer[resource]).saturating_sub(request[resource]);
        let gains = after.min(amount) > sight.held[resource].min(amount);
        let is_late = sight.spoken() + 3 > MESSAGES.into();
        match self.is_miser {
            // It would give nobody what it has not been asked for twice.
            true => after >= amount && (is_late || offer.iter().sum::<u64>() >= request.iter().sum()),
            false => gains && (is_late || after >= amount) || sight.missing() == 0 && after >= amount,
        }
    }

    /// What it proposes, if that can be.
    fn proposes(&mut self, sight: &Sight<'_>) -> Option<Value> {
        let take = (sight.goal.0, sight.missing());
        if take.1 == 0 {
            return None;
        }
        let wish = sight.wish_of_other();
        let guesses: Vec<usize> = (0..4).filter(|&at| at != take.0 && sight.held[at] > 0).collect();
        let (at, many) = wish.or_else(|| Some((self.coin.pick(&guesses)?, take.1)))?;
        let many = if self.is_miser { many.saturating_sub(1).max(1) } else { many };
        Some(proposal((at, many.min(sight.held[at])), take)).filter(|_| sight.held[at] > 0)
    }

    fn says(&mut self, sight: &Sight<'_>) -> Value {
        let (resource, _) = sight.goal;
        let last = &sight.state["last_trade"];
        let trades = sight.state["trades"].as_u64().unwrap_or(0);
        let has_traded = core::mem::replace(&mut self.trades, trades) != trades;
        let mut text = String::new();
        let mut add = |words: &str| {
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(words);
        };
        match last["answer"].as_str() {
            _ if sight.spoken() < 2 => add(self.coin.pick(&GREETINGS).unwrap_or_default()),
            Some("accepted") if has_traded => add(self.coin.pick(&PLEASED).unwrap_or_default()),
            Some("rejected") if last["player"] != sight.me => add(self.coin.pick(&COLD).unwrap_or_default()),
            _ => {}
        }
        if sight.missing() == 0 {
            add(self.coin.pick(&DONE).unwrap_or_default());
            return json!({"text": text});
        }
        add(&format!("I am looking for {} {}.", sight.missing(), RESOURCES[resource]));
        let spare: Vec<String> = (0..4)
            .filter(|&at| at != resource && sight.held[at] > 2)
            .map(|at| format!("{} {}", sight.held[at], RESOURCES[at]))
            .collect();
        if !spare.is_empty() {
            add(&format!("To spare I have {}.", spare.join(", ")));
        }
        if sight.spoken() > 4 {
            add(self.coin.pick(&PUSHING).unwrap_or_default());
        }
        json!({"text": text})
    }
}

impl Mind for Trader {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let sight = Sight::of(seen);
        if let Some(deal) = sight.offered() {
            let accepts = sight.can_accept() && self.likes(&sight, deal);
            return if accepts { json!({"accept": true}) } else { json!({"reject": true}) };
        }
        let has_proposed = self.proposed == Some(sight.spoken());
        if !has_proposed && sight.state["pending"].is_object() {
            // The other one has had its say, and did not want it.
            return json!({"reject": true});
        }
        if !has_proposed
            && sight.may_propose()
            && let Some(proposal) = self.proposes(&sight)
        {
            self.proposed = Some(sight.spoken());
            return proposal;
        }
        // In the next match it proposes anew.
        self.proposed = None;
        self.says(&sight)
    }
}

/// Does whatever comes to its mind, as far as it may.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let sight = Sight::of(seen);
        let of_all = [0, 1, 2, 3];
        match self.0.below(5) {
            0 if sight.can_accept() => json!({"accept": true}),
            1 if sight.state["pending"].is_object() => json!({"reject": true}),
            2 | 3 if sight.may_propose() => {
                let (give, take) = (self.0.below(4) as usize, self.0.below(4) as usize);
                let most = sight.held[give];
                if most == 0 || give == take {
                    return json!({"text": "Gold! Iron! Food! Wood!"});
                }
                proposal((give, 1 + self.0.below(most)), (take, 1 + self.0.below(4)))
            }
            _ => json!({"text": format!("Who wants {}?", RESOURCES[self.0.pick(&of_all).unwrap_or(0)])}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn a_trader_beats_who_trades_at_random_and_a_miser_beats_a_trader() {
        let (won, lost) = wins(GameKind::TradeDeal, "Trader", "Random", 100);
        assert!(won > 3 * lost, "{won} to {lost}");
        let (won, lost) = wins(GameKind::TradeDeal, "Miser", "Trader", 100);
        assert!(won > lost, "{won} to {lost}");
    }

    #[test]
    fn two_traders_come_to_what_both_want() {
        let (won, lost) = wins(GameKind::TradeDeal, "Trader", "Merchant", 100);
        assert!(won + lost < 20, "all others are level: {won} to {lost}");
    }
}
