//! A player that asks remembers for itself what it was told.

use crate::games::Rules;
use crate::protocols::{self, put_question};
use crate::referee::Policy;
use crate::time::Now;
use crate::venue::{Timing, Venue};

/// There is nothing to remember.
pub struct Session;

impl protocols::Session for Session {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn policy(&self, timing: &Timing, _rules: &Rules) -> Policy {
        Policy { first_turn_ms: timing.first_turn_ms, turn_ms: timing.turn_ms, ..Policy::NOBODYS }
    }

    fn polls(&self) -> bool {
        true
    }
}

impl protocols::Protocol for Session {
    type Desk = ();

    fn restored(dialect: u8, _about: &str) -> Option<Self> {
        (dialect == 0).then_some(Session)
    }

    fn pump(venue: &mut Venue<'_>, now: Now, player: u16) {
        put_question(venue, now, player);
    }
}
