//! What is kept of a finished match: enough to recompute the standings, and for the game to recall itself.

use crate::games::Seats;
use crate::league::Verdict;
use crate::referee::{Cause, Outcome};
use crate::time::Utc;

/// A result as the specification names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// One player won by the rules of the game.
    Win,
    /// Nobody won.
    Draw,
    /// Somebody lost for a technical reason.
    TechnicalLoss,
}

impl Status {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Status::Win => "WIN",
            Status::Draw => "DRAW",
            Status::TechnicalLoss => "TECHNICAL_LOSS",
        }
    }
}

/// A finished two-player match: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What the game keeps of itself.
    pub digest: u64,
    /// When it ended.
    pub finished: Utc,
    /// The seat that won; [`NOBODY`] where none did.
    winner: u8,
    forfeits: Seats,
    cause: Cause,
    /// How often the box had been restarted in the middle of the league by then: part of the match's seed.
    pub attempt: u8,
}

const NOBODY: u8 = u8::MAX;

impl Record {
    /// What is kept of a match.
    pub fn new(digest: u64, finished: Utc, outcome: Outcome, attempt: u8) -> Self {
        let Outcome { winner, forfeits, cause } = outcome;
        Self { digest, finished, winner: winner.unwrap_or(NOBODY), forfeits, cause, attempt }
    }

    /// The result.
    pub fn outcome(&self) -> Outcome {
        let winner = Some(self.winner).filter(|&winner| winner != NOBODY);
        Outcome { winner, forfeits: self.forfeits, cause: self.cause }
    }

    /// The result by its name.
    pub fn status(&self) -> Status {
        match (self.forfeits == Seats::NONE, self.outcome().winner) {
            (false, _) => Status::TechnicalLoss,
            (true, Some(_)) => Status::Win,
            (true, None) => Status::Draw,
        }
    }

    /// What it means for the player at a seat.
    pub fn verdict(&self, seat: u8) -> Verdict {
        if self.forfeits.has(seat) {
            Verdict::TechnicalLoss
        } else if self.outcome().winner == Some(seat) {
            Verdict::Win
        } else if self.outcome().winner.is_none() {
            Verdict::Draw
        } else {
            Verdict::Loss
        }
    }

    /// Why it ended, by its name in exports.
    pub fn end_reason(&self) -> &'static str {
        match (self.cause, self.outcome().winner) {
            (Cause::Played, Some(_)) => "win",
            (Cause::Played, None) => "draw",
            (Cause::Timeout, _) => "timeout",
            (Cause::Invalid, _) => "invalid",
            (Cause::Refused, _) => "refused",
            (Cause::Disconnected, _) => "disconnected",
            (Cause::BothFailed, _) => "both_failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(winner: Option<u8>, forfeits: Seats, cause: Cause) -> Record {
        Record::new(0, Utc(0), Outcome { winner, forfeits, cause }, 0)
    }

    #[test]
    fn one_technical_loss_is_a_win_for_the_other() {
        let record = record(Some(1), Seats::only(0), Cause::Timeout);
        assert_eq!(record.status(), Status::TechnicalLoss);
        assert_eq!((record.verdict(0), record.verdict(1)), (Verdict::TechnicalLoss, Verdict::Win));
    }

    #[test]
    fn two_technical_losses_are_worth_nothing_to_anybody() {
        let record = record(None, Seats::first(2), Cause::BothFailed);
        assert_eq!(record.status(), Status::TechnicalLoss);
        assert_eq!(record.verdict(0).points() + record.verdict(1).points(), 0);
    }

    #[test]
    fn a_draw_is_worth_a_point_each() {
        let record = record(None, Seats::NONE, Cause::Played);
        assert_eq!(record.status(), Status::Draw);
        assert_eq!((record.verdict(0).points(), record.verdict(1).points()), (1, 1));
    }
}
