//! Who comes and asks is told what it asks for. All there is to remember is which game has ended that it has not asked about since,
//! and of which league it has heard the end.

use crate::games::Rules;
use crate::ids::MatchId;
use crate::protocols::{self, AnySession, put_question};
use crate::referee::Policy;
use crate::time::Now;
use crate::venue::{Timing, Venue};

/// What one player has yet to hear.
#[derive(Default)]
pub struct Session {
    /// The last game it played, until it has been told that this is over.
    pub(super) ended: Option<MatchId>,
    /// The number of the last league whose end it was told.
    pub(super) heard_end_of: u32,
}

impl protocols::Session for Session {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn policy(&self, timing: &Timing, _rules: &Rules) -> Policy {
        super::policy(timing)
    }

    fn polls(&self) -> bool {
        true
    }

    fn has_to_hear_end_of(&self, league: u32) -> bool {
        self.heard_end_of != league
    }
}

impl protocols::Protocol for Session {
    type Desk = ();

    fn restored(dialect: u8, _about: &str) -> Option<Self> {
        (dialect == 0).then(Session::default)
    }

    fn pump(venue: &mut Venue<'_>, now: Now, player: u16) {
        put_question(venue, now, player);
        // It may be waiting for just that.
        venue.list(player);
    }

    fn is_over(venue: &mut Venue<'_>, player: u16, slot: u16) {
        let id = venue.table_at(slot).map(|table| table.id);
        if let Some(AnySession::Mcp(session)) = venue.player_mut(player).map(|player| &mut player.session) {
            session.ended = id;
        }
    }

    fn who_has(venue: &Venue<'_>, credential: &str) -> Option<u16> {
        venue.mcp_player(credential)
    }
}
