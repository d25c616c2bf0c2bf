//! Minds for `landlord`. A hand is as good as few plays empty it: [`Tactician`] counts them, roughly, for all that is left after each
//! play it may make, keeps what wins tricks for later, and leaves tricks to its partner.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use core::cmp::Reverse;
use core::ops::ControlFlow;

use super::cards::{Cards, RANKS, Rank};
use super::plays::{self, Play};
use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Tactician", |_| Box::new(Tactician)),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Miser", |_| Box::new(Miser)),
];

/// What a player sees of a deal.
struct Sight {
    hand: Cards,
    /// What is to be beaten.
    over: Option<Play>,
    /// The highest bid so far; `None` when there is nothing more to bid.
    bid: Option<u8>,
    /// Whether the play that is to be beaten is a partner's.
    is_partners: bool,
    /// The fewest cards an enemy has.
    fewest: u64,
}

fn cards(value: &Value) -> Option<Cards> {
    let rank = |name: &Value| Rank::all().find(|rank| name == rank.name());
    value.as_array()?.iter().try_fold(Cards::NONE, |cards, name| cards.with(rank(name)?))
}

impl Sight {
    fn of(seen: Seen<'_>) -> Option<Self> {
        let state = seen.state;
        let bids = state["bids"].as_object()?.values();
        let top = bids.filter_map(|bid| bid.get(1)?.as_str()?.parse().ok()).max().unwrap_or(0);
        let landlord = state["landlord"].as_str();
        let is_enemy = |id: &str| id != seen.me && (landlord == Some(seen.me) || landlord == Some(id));
        let left = state["cards_left"].as_object()?.iter();
        let best = state["to_beat"]["player"].as_str();
        Some(Self {
            hand: cards(&state["your_hand"])?,
            over: cards(&state["to_beat"]["cards"]).and_then(|cards| Play::of(cards).ok()),
            bid: (state["phase"] == "bidding").then_some(top),
            is_partners: best.is_some_and(|best| !is_enemy(best)),
            fewest: left.filter(|(id, _)| is_enemy(id)).filter_map(|(_, left)| left.as_u64()).min().unwrap_or(20),
        })
    }

    fn plays(&self) -> Vec<Cards> {
        let mut all = Vec::new();
        let _ = plays::list(self.hand, self.over, &mut |cards| {
            all.push(cards);
            ControlFlow::Continue(())
        });
        all
    }
}

fn pass() -> Value {
    json!(["pass"])
}

fn bid(bid: u8) -> Value {
    if bid == 0 { pass() } else { json!(["bid", bid.to_string()]) }
}

/// Any move at all.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let Some(sight) = Sight::of(seen) else { return pass() };
        if let Some(top) = sight.bid {
            let higher = self.0.below(4 - u64::from(top.min(3))) as u8;
            return bid(if higher == 0 { 0 } else { top + higher });
        }
        let all = sight.plays();
        // A pass is one of them for whoever does not lead.
        let pick = self.0.below(all.len() as u64 + u64::from(sight.over.is_some())) as usize;
        all.get(pick).map_or_else(pass, |cards| json!(cards))
    }
}

/// Never bids, and gives away its lowest cards one by one.
struct Miser;

impl Mind for Miser {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let lowest =
            Sight::of(seen).filter(|sight| sight.bid.is_none()).and_then(|sight| sight.plays().into_iter().next());
        lowest.map_or_else(pass, |cards| json!(cards))
    }
}

/// What a play is worth that has not to be made.
const TURN: i32 = 10;
/// What a card is worth that wins tricks.
const CONTROL: i32 = 4;
/// What it is worth to stop an enemy who is nearly out.
const URGENT: i32 = 12;
/// So few cards are nearly none.
const FEW: u64 = 3;

/// How many cards there are of each rank.
type Counts = [u8; RANKS];

/// The ranks that can stand in a row.
const ROW: usize = Rank::IN_A_ROW as usize;

/// How much there is still to do with a hand, the less the better.
fn burden(hand: Cards) -> i32 {
    let mut counts = [0; RANKS];
    counts.iter_mut().zip(Rank::all()).for_each(|(count, rank)| *count = hand.count(rank));
    let bombs = counts.iter().filter(|&&count| count == 4).count() as i32;
    let [.., twos, black, red] = counts;
    let controls = i32::from(twos + black + red) + 2 * bombs;
    TURN * turns(counts, true).min(turns(counts, false)) - CONTROL * controls
}

/// About how many plays empty a hand, bombs and the rocket aside: those come between.
fn turns(mut counts: Counts, straights_first: bool) -> i32 {
    counts.iter_mut().filter(|count| **count == 4).for_each(|count| *count = 0);
    if let [.., black @ 1, red @ 1] = &mut counts {
        (*black, *red) = (0, 0);
    }
    let mut turns = if straights_first { rows(&mut counts, 1, 5, |count| count >= 1) } else { 0 };
    // Each trio takes a kicker along, those of a plane too.
    let kickers = counts.iter().filter(|&&count| count == 3).count() as i32;
    turns += rows(&mut counts, 3, 1, |count| count == 3);
    if let [.., twos @ 3, _, _] = &mut counts {
        (*twos, turns) = (0, turns + 1);
    }
    turns += rows(&mut counts, 2, 3, |count| count == 2);
    if !straights_first {
        turns += rows(&mut counts, 1, 5, |count| count >= 1);
    }
    let rest = counts.iter().filter(|&&count| count > 0).count() as i32;
    turns + (rest - kickers).max(0)
}

/// Takes away rows of at least so many groups, the longest first, and counts them.
fn rows(counts: &mut Counts, group: u8, least: usize, fits: impl Fn(u8) -> bool) -> i32 {
    let mut taken = 0;
    loop {
        let length = |first: usize| counts[first..ROW].iter().take_while(|&&count| fits(count)).count();
        let longest = (0..ROW).map(|first| (length(first), first)).max();
        let Some((length, first)) = longest.filter(|&(length, _)| length >= least) else { return taken };
        counts[first..first + length].iter_mut().for_each(|count| *count -= group);
        taken += 1;
    }
}

/// Plays so that little is left to do.
struct Tactician;

impl Tactician {
    /// What to bid for a hand.
    fn bid(hand: Cards) -> u8 {
        match 8 * TURN - burden(hand) {
            ..5 => 0,
            5..15 => 1,
            15..25 => 2,
            25.. => 3,
        }
    }

    /// The best play; none if it is better to pass.
    fn best(sight: &Sight) -> Option<Cards> {
        let left = |play: &Cards| sight.hand.without(*play).unwrap_or_default();
        let gain = |play: &Cards| burden(sight.hand) - burden(left(play));
        let lowest = |play: &Cards| play.iter().next();
        let all = sight.plays();
        if let Some(last) = all.iter().find(|play| left(play).is_empty()) {
            return Some(*last);
        }
        if sight.over.is_none() {
            // An enemy who has as many cards left may well be out with them: then the higher, the better.
            let danger = |play: &Cards| u64::from(play.len()) == sight.fewest && play.len() <= 2;
            let key = |play: &Cards| {
                let high = lowest(play).filter(|_| danger(play));
                (gain(play) - 5 * TURN * i32::from(danger(play)), high, play.len(), Reverse(lowest(play)))
            };
            return all.into_iter().max_by_key(key);
        }
        let best = all.into_iter().max_by_key(|play| (gain(play), Reverse(lowest(play))))?;
        let urge = match sight {
            Sight { is_partners: true, .. } => -TURN,
            Sight { fewest: ..=FEW, .. } => URGENT,
            _ => 0,
        };
        (gain(&best) + urge > 0).then_some(best)
    }
}

impl Mind for Tactician {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let Some(sight) = Sight::of(seen) else { return pass() };
        match sight.bid {
            Some(top) => bid(Some(Self::bid(sight.hand)).filter(|&bid| bid > top).unwrap_or(0)),
            None => Self::best(&sight).map_or_else(pass, |cards| json!(cards)),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::games::GameKind;
    use crate::games::house::testing::wins;

    #[test]
    fn the_tactician_beats_dice_and_misers_by_far() {
        for (against, at_least) in [("Random", 140), ("Miser", 150)] {
            let (won, lost) = wins(GameKind::Landlord, "Tactician", against, 200);
            std::println!("{won} : {lost} of 200 against two of {against}");
            assert!(won >= at_least, "{won} : {lost} against {against}");
        }
    }

    #[test]
    fn a_hand_is_as_good_as_few_plays_empty_it() {
        let hand = |text: &str| cards(&json!(text.split(' ').collect::<Vec<_>>())).unwrap();
        for (text, least) in [
            ("3 4 5 6 7 8", 1),
            ("3 3 4 4 5 5", 1),
            ("3 3 3 4 4 4 8 9", 1),
            ("2 2 2 3", 1),
            ("3 4 5 6 7 7 7", 2),
            ("3 5 7", 3),
            ("3 3 3 3 BJ RJ 4", 1),
        ] {
            let mut counts = [0; RANKS];
            counts.iter_mut().zip(Rank::all()).for_each(|(count, rank)| *count = hand(text).count(rank));
            assert_eq!(turns(counts, true).min(turns(counts, false)), least, "{text}");
        }
    }
}
