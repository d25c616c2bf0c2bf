//! Minds for debates. [`Debater`] knows its side: it opens, takes up the last words of the other one, goes through arguments that fit
//! any motion, and closes. It is not clever, but it is worth listening to. Nobody here votes, so nobody beats anybody.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Debater", |seed| Box::new(Debater { coin: Coin::new(seed), said: 0 })),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Orator", |seed| Box::new(Debater { coin: Coin::new(!seed), said: 1 << 7 })),
    ("Man of few words", |_| Box::new(FewWords)),
];

/// What can be said for nearly anything,
const FOR: [&str; 10] = [
    "Think of what we gain. Most good ideas looked odd for a year, and then nobody could remember living without them.",
    "Let us count. A little trouble now, against a benefit every single day: the sum is not even close.",
    "Ask those whom it concerns. They have tried it, and they do not want to go back.",
    "It is fair. What is good for a few today would be good for all of us tomorrow.",
    "The risks are real, and they are small, and we know them. That is more than can be said of how things are now.",
    "Somebody always says it cannot be done. Meanwhile somebody else is doing it.",
    "Habit is not an argument. If we began anew today, nobody would propose what we have.",
    "It teaches us something, whether it works or not; and what is learnt nobody can take away again.",
    "Even a half of it would be worth the whole price.",
    "Where it was tried with care it worked, and where it failed the care was missing.",
];

/// and against it.
const AGAINST: [&str; 10] = [
    "A fine dream. Now tell us who pays for it, and who cleans up afterwards.",
    "What works should be left to work. A fence stands where it stands for a reason; find the reason first.",
    "The few who shout for it are heard; the many who would lose by it are at home, minding their own business.",
    "It was tried. It was tried again. I admire the patience, but not the plan.",
    "Small risks have a way of meeting each other on a Monday morning.",
    "What everybody is made to like, nobody likes for long.",
    "You measure what is easy to measure. What we would lose has no number, and is worth more.",
    "If it were as good as you say, it would need no debate.",
    "There is a cheaper way to the same end, and it is to do what we do now, but better.",
    "Once it is done it cannot be undone, and that alone should make us slow.",
];

const OPENINGS: [&str; 3] = [
    "Friends, listeners, doubters:",
    "Let me begin where it matters.",
    "I thank my opponent for coming, and regret where they stand.",
];
const TURNS: [&str; 5] = [
    "My opponent tells us: “{}” I ask you to weigh that.",
    "“{}” — so we heard. It sounds well. It is not so.",
    "When somebody says “{}”, look at what is left out.",
    "I grant you “{}”, and it changes nothing.",
    "“{}” That is the best they have, and it is not enough.",
];
const CLOSINGS: [&str; 3] = [
    "You have heard both of us. Vote for what you would still think true tomorrow.",
    "I have nothing to sell you but the reasons. You have them all. Vote.",
    "Remember who answered, and who only spoke. Now it is your turn.",
];

/// Argues by a list.
struct Debater {
    coin: Coin,
    /// How many speeches it has made; with its highest bit, that it likes long ones.
    said: u64,
}

/// The last sentence of a speech, if it is short enough to be quoted.
fn quoted(text: &str) -> Option<&str> {
    let sentence = text
        .trim()
        .trim_end_matches(['.', '!', '?'])
        .rsplit(['.', '!', '?', ':', ';', '“', '”'])
        .find(|one| one.trim().len() > 8)?;
    Some(sentence.trim()).filter(|one| one.chars().count() <= 160)
}

impl Mind for Debater {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let spoken = seen.state["spoken"].as_u64().unwrap_or(0) as usize;
        let is_for = seen.state["sides"][seen.me] == "for";
        let arguments = if is_for { &FOR } else { &AGAINST };
        let own = spoken / 2;
        let mut text = String::new();
        if own == 0 {
            let topic = seen.state["topic"].as_str().unwrap_or("The motion before us.");
            text.push_str(self.coin.pick(&OPENINGS).unwrap_or_default());
            text.push_str(&format!(
                " The motion is: {topic} {}\n\n",
                if is_for { "It is right." } else { "It is wrong." }
            ));
        }
        if let Some(words) = seen.state["last"]["text"].as_str().and_then(quoted) {
            let turn = self.coin.pick(&TURNS).unwrap_or("{}");
            text.push_str(&turn.replace("{}", words));
            text.push_str("\n\n");
        }
        let first = own * 7 % arguments.len();
        text.push_str(arguments[first]);
        if self.said >> 7 & 1 == 1 {
            text.push(' ');
            text.push_str(arguments[(first + 3) % arguments.len()]);
        }
        if own == 9 {
            text.push_str("\n\n");
            text.push_str(self.coin.pick(&CLOSINGS).unwrap_or_default());
        }
        json!({"text": text})
    }
}

/// Takes the first argument that comes, of either side.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, _: Seen<'_>) -> Value {
        let list = if self.0.below(2) == 0 { &FOR } else { &AGAINST };
        json!({"text": self.0.pick(list)})
    }
}

/// Says yes, or no.
struct FewWords;

impl Mind for FewWords {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        json!({"text": if seen.state["sides"][seen.me] == "for" { "Yes." } else { "No. 🙂" }})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debater_opens_with_the_motion_takes_up_what_was_said_and_closes() {
        let speech = |spoken: u64, last: Value| {
            let state = json!({"topic": "Cats fly.", "spoken": spoken, "sides": {"P01": "for"}, "last": last});
            let mut mind = Debater { coin: Coin::new(1), said: 0 };
            let said = mind.choose(Seen { me: "P01", seat: 0, opponent: "P02", state: &state });
            String::from(said["text"].as_str().unwrap())
        };
        assert!(speech(0, json!(null)).contains("Cats fly. It is right."));
        let second = speech(2, json!({"text": "Look around you. They walk on all fours."}));
        assert!(second.contains("“They walk on all fours"), "{second}");
        assert!(CLOSINGS.iter().any(|closing| speech(18, json!(null)).ends_with(closing)));
    }
}
