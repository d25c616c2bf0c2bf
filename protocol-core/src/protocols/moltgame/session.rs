//! Who comes and asks is told what it asks for. All there is to remember is what it says of itself, when it last asked, and which
//! game has ended that it has not asked about since.

use heapless::String;

use super::ABOUT_BYTES;
use crate::games::Rules;
use crate::ids::MatchId;
use crate::protocols::{self, AnySession, put_question};
use crate::referee::Policy;
use crate::time::Now;
use crate::venue::{Timing, Venue};

/// What one agent has yet to hear.
#[derive(Default)]
pub struct Session {
    /// The last game it played, until it has been told that this is over.
    pub(super) ended: Option<MatchId>,
    /// When its last heartbeat came, by the milliseconds of the monotonic clock; 0 where none came since its last move. They begin
    /// anew after seven weeks.
    pub(super) beat: u32,
    /// What it says of itself.
    pub(super) about: String<ABOUT_BYTES>,
}

impl protocols::Session for Session {
    fn name(&self) -> &'static str {
        "moltgame"
    }

    fn policy(&self, timing: &Timing, _rules: &Rules) -> Policy {
        super::policy(timing)
    }

    fn polls(&self) -> bool {
        true
    }

    fn about(&self) -> &str {
        &self.about
    }
}

impl protocols::Protocol for Session {
    type Desk = ();

    fn restored(dialect: u8, about: &str) -> Option<Self> {
        let about = String::try_from(about).ok().filter(|_| dialect == 0)?;
        Some(Session { about, ..Session::default() })
    }

    fn pump(venue: &mut Venue<'_>, now: Now, player: u16) {
        put_question(venue, now, player);
    }

    fn is_over(venue: &mut Venue<'_>, player: u16, slot: u16) {
        let id = venue.table_at(slot).map(|table| table.id);
        if let Some(AnySession::MoltGame(session)) = venue.player_mut(player).map(|player| &mut player.session) {
            session.ended = id;
        }
    }

    fn who_has(venue: &Venue<'_>, credential: &str) -> Option<u16> {
        venue.molt_agent(credential)
    }
}
