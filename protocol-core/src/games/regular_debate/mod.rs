//! `regular_debate`: what a class can be of two minds about.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;

use super::debate::{Debate, Room, TOPICS};

/// One match.
pub type RegularDebate = Debate<Regular>;

/// What schools debate.
pub enum Regular {}

impl Room for Regular {
    const NAME: &'static str = "regular_debate";

    const TOPICS: [&'static str; TOPICS] = [
        "Homework should be abolished.",
        "Every pupil should learn to program.",
        "Phones belong in the classroom.",
        "A four-day week is better for everybody.",
        "Space travel is worth its price.",
        "Public transport should be free.",
        "Museums should give back what was taken from other countries.",
        "Art made by a machine is art.",
        "Zoos do more good than harm.",
        "Everybody should vote at sixteen.",
        "A city is a better place to live than a village.",
        "Books are better than films.",
    ];
}
