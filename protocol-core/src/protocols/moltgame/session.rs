//! Who comes and asks is told what it asks for. All there is to remember is which game has ended that the agent has not asked
//! about since.

use crate::ids::MatchId;
use crate::protocols::{self, put_question};
use crate::referee::Policy;
use crate::time::Now;
use crate::venue::{Timing, Venue};

/// What one agent has yet to hear.
#[derive(Default)]
pub struct Session {
    /// The last game it played, until it has been told that this is over.
    pub(super) ended: Option<MatchId>,
}

impl protocols::Session for Session {
    fn name(&self) -> &'static str {
        "moltgame"
    }

    fn policy(&self, timing: &Timing) -> Policy {
        super::policy(timing)
    }

    fn polls(&self) -> bool {
        true
    }

    fn is_over(&mut self, id: MatchId) {
        self.ended = Some(id);
    }
}

impl protocols::Protocol for Session {
    type Desk = ();

    fn restored(dialect: u8) -> Option<Self> {
        (dialect == 0).then(Session::default)
    }

    fn pump(venue: &mut Venue<'_>, now: Now, player: u16) {
        put_question(venue, now, player);
    }

    fn who_has(venue: &Venue<'_>, credential: &str) -> Option<u16> {
        venue.molt_agent(credential)
    }
}
