//! Lateness is data: how long a seat has, and what becomes of it when that is not enough. Each protocol names its own
//! policy; one match may seat players of several, so a policy is that of a seat, and is handed in with whatever it decides.

use super::MAX_RETRIES;
use crate::time::Millis;

/// How long a seat has, and what happens after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// From when all seats are taken to when play begins. Of several, the longest counts.
    pub countdown_ms: Millis,
    /// To accept an invitation; `None` where it needs none.
    pub invitation_ms: Option<Millis>,
    /// For its first move of a game.
    pub first_turn_ms: Millis,
    /// For every later one.
    pub turn_ms: Millis,
    /// What happens to whoever needs longer.
    pub late: Late,
    /// How long it may be gone: its clock stands still meanwhile, and when this is over it loses. `None` where its clock runs
    /// on, whether it is there or not.
    pub grace_ms: Option<Millis>,
    /// How long the whole match may last; then it is a draw. Of several, the shortest counts.
    pub match_ms: Option<Millis>,
}

/// What happens to a seat whose time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// It is told so and asked again, each time for twice as long as the time before, and loses after the last. The same for
    /// an answer that cannot be used.
    AskAgain {
        /// So many times.
        times: u8,
        /// For so long the first time.
        base_ms: Millis,
    },
    /// It loses.
    Lose,
    /// The referee plays the first move that the game lists for it. Where the rules know a pass, that is it.
    PlayFirst {
        /// So many turns in a row lose; `None`: it may go on like that.
        forfeit_after: Option<u8>,
    },
    /// The turn was for nothing: it is asked anew, with a new clock.
    LoseTurn {
        /// So many turns in a row lose.
        forfeit_after: u8,
    },
}

impl Policy {
    /// That of a seat that nobody has: it loses at once.
    pub const NOBODYS: Policy = Policy {
        countdown_ms: 0,
        invitation_ms: None,
        first_turn_ms: 0,
        turn_ms: 0,
        late: Late::Lose,
        grace_ms: None,
        match_ms: None,
    };

    /// How long a match of so many turns may take in which everybody is as late as it may be.
    pub fn longest(&self, turns: Millis) -> Millis {
        let again = match self.late {
            // Each time twice as long as the time before, and up to a tenth more.
            Late::AskAgain { times, base_ms } => {
                let in_all =
                    (0..times.min(MAX_RETRIES)).fold(0, |sum: Millis, retry| sum.saturating_add(base_ms << retry));
                in_all.saturating_add(in_all / 10)
            }
            _ => 0,
        };
        let turn = self.first_turn_ms.max(self.turn_ms).saturating_add(again);
        let invitation = self.invitation_ms.map_or(0, |ms| ms.saturating_add(again));
        self.countdown_ms.saturating_add(invitation).saturating_add(turn.saturating_mul(turns))
    }

    /// How long an answer may take: to the invitation, or else to the question of a turn.
    pub fn time_for(&self, is_invitation: bool, is_first_turn: bool) -> Millis {
        match (is_invitation, is_first_turn) {
            (true, _) => self.invitation_ms.unwrap_or(0),
            (false, true) => self.first_turn_ms,
            (false, false) => self.turn_ms,
        }
    }
}
