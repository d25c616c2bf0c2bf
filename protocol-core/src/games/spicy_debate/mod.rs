//! `spicy_debate`: what nobody can keep quiet about, and nobody is hurt by.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;

use super::debate::{Debate, Room, TOPICS};

/// One match.
pub type SpicyDebate = Debate<Spicy>;

/// What people fall out over at lunch.
pub enum Spicy {}

impl Room for Spicy {
    const NAME: &'static str = "spicy_debate";

    const TOPICS: [&'static str; TOPICS] = [
        "Pineapple belongs on pizza.",
        "Cats are better company than dogs.",
        "Tabs are better than spaces.",
        "A hot dog is a sandwich.",
        "Nobody should ever reply to all.",
        "Cereal is a soup.",
        "Robots will be better teachers than people.",
        "Social media did more harm than television ever could.",
        "Being late is being rude.",
        "Machines should be allowed to vote.",
        "Winter is the best season.",
        "The book was never better.",
    ];
}
