//! What is kept of a finished match: enough to recompute the standings, and for the game to recall itself.

use core::num::NonZeroU16;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::games::{MAX_SEATS, Seat, Seats};
use crate::referee::{Cause, Outcome};
use crate::season::Verdict;
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

/// A finished match: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What the game keeps of itself.
    pub digest: u64,
    /// When it ended.
    pub finished: Utc,
    /// In which attempt of the league it was begun: part of the match's seed.
    pub attempt: u16,
    result: Packed,
}

/// Who won, who failed and why it ended, in two bytes: there are hundreds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed(NonZeroU16);

/// Bits for the seats, twice; the cause has those above, counted from 1.
const SEATS: usize = MAX_SEATS;

/// Where the digest of a match that was reported has the number of its referee: games that are refereed elsewhere leave it free.
const REFEREE: u64 = 0xff << 56;

const _: () = assert!(size_of::<Option<Record>>() == 16, "a record has grown");
const _: () = assert!(2 * SEATS <= 12 && Cause::ALL.len() < 16, "a result does not fit two bytes");

impl Packed {
    fn new(Outcome { winners, forfeits, cause }: Outcome) -> Self {
        let cause = (1..).zip(Cause::ALL).find(|&(_, known)| known == cause).map_or(1_u16, |(number, _)| number);
        let bits = u16::from(winners.bits()) | u16::from(forfeits.bits()) << SEATS | cause << (2 * SEATS);
        Self(NonZeroU16::new(bits).unwrap_or(NonZeroU16::MIN))
    }

    fn outcome(self) -> Outcome {
        let seats = |from: usize| Seats::of_bits(u8::try_from(self.0.get() >> from & ((1 << SEATS) - 1)).ok()?);
        let cause = usize::from(self.0.get() >> (2 * SEATS)).checked_sub(1).and_then(|cause| Cause::ALL.get(cause));
        Outcome {
            winners: seats(0).unwrap_or(Seats::NONE),
            forfeits: seats(SEATS).unwrap_or(Seats::NONE),
            cause: cause.copied().unwrap_or(Cause::Played),
        }
    }
}

impl Record {
    /// What is kept of a match.
    pub fn new(digest: u64, finished: Utc, outcome: Outcome, attempt: u16) -> Self {
        Self { digest, finished, attempt, result: Packed::new(outcome) }
    }

    /// The same match, with the result the admin gives it.
    pub fn ruled(self, at: Utc, winners: Seats) -> Self {
        let outcome = Outcome { winners, forfeits: Seats::NONE, cause: Cause::Adjudicated };
        Self::new(self.game_digest(), at, outcome, self.attempt)
    }

    /// The same match, if the referee of this number has refereed it.
    pub fn by_referee(self, number: u8) -> Self {
        Self { digest: self.digest & !REFEREE | u64::from(number) << REFEREE.trailing_zeros(), ..self }
    }

    /// The number of the referee that reported it; `None` where the box refereed it.
    pub fn referee(&self) -> Option<u16> {
        (self.outcome().cause == Cause::Reported)
            .then(|| self.digest.to_be_bytes().first().copied().unwrap_or(0).into())
    }

    /// What the game keeps of itself.
    pub fn game_digest(&self) -> u64 {
        if self.outcome().cause == Cause::Reported { self.digest & !REFEREE } else { self.digest }
    }

    /// The result.
    pub fn outcome(&self) -> Outcome {
        self.result.outcome()
    }

    /// The seat that won, if one did.
    pub fn winner(&self) -> Option<Seat> {
        self.outcome().winners.alone()
    }

    /// The result by its name.
    pub fn status(&self) -> Status {
        match (self.outcome().forfeits.is_empty(), self.winner()) {
            (false, _) => Status::TechnicalLoss,
            (true, Some(_)) => Status::Win,
            (true, None) => Status::Draw,
        }
    }

    /// What it means for the player at a seat.
    pub fn verdict(&self, seat: Seat) -> Verdict {
        let Outcome { winners, forfeits, .. } = self.outcome();
        if forfeits.has(seat) {
            Verdict::TechnicalLoss
        } else if !winners.has(seat) {
            Verdict::Loss
        } else if winners.len() == 1 {
            Verdict::Win
        } else {
            Verdict::Draw
        }
    }

    /// The points of every seat, of which standings ask for every match: as its verdicts have it, without a branch for each.
    pub fn points(&self) -> [u16; MAX_SEATS] {
        let Outcome { winners, forfeits, .. } = self.outcome();
        let each = if winners.len() == 1 { Verdict::Win } else { Verdict::Draw }.points();
        let takes = |seat: Seat| winners.has(seat) & !forfeits.has(seat);
        core::array::from_fn(|seat| if Seat::try_from(seat).is_ok_and(takes) { each } else { 0 })
    }

    /// Why it ended.
    pub fn end_reason(&self) -> EndReason {
        match (self.outcome().cause, self.winner()) {
            (Cause::Played, Some(_)) => EndReason::Win,
            (Cause::Played, None) => EndReason::Draw,
            (Cause::Timeout, _) => EndReason::Timeout,
            (Cause::Invalid, _) => EndReason::Invalid,
            (Cause::Refused, _) => EndReason::Refused,
            (Cause::Disconnected, _) => EndReason::Disconnected,
            (Cause::BothFailed, _) => EndReason::BothFailed,
            (Cause::Adjudicated, _) => EndReason::Adjudicated,
            (Cause::TimeUp, _) => EndReason::TimeUp,
            (Cause::Resigned, _) => EndReason::Resigned,
            (Cause::Reported, _) => EndReason::Reported,
        }
    }
}

/// Why a match ended, as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum EndReason {
    Win,
    Draw,
    Timeout,
    Invalid,
    Refused,
    Disconnected,
    BothFailed,
    Adjudicated,
    TimeUp,
    Resigned,
    Reported,
}

impl EndReason {
    /// All of them, in order.
    pub const ALL: [EndReason; 11] = [
        EndReason::Win,
        EndReason::Draw,
        EndReason::Timeout,
        EndReason::Invalid,
        EndReason::Refused,
        EndReason::Disconnected,
        EndReason::BothFailed,
        EndReason::Adjudicated,
        EndReason::TimeUp,
        EndReason::Resigned,
        EndReason::Reported,
    ];

    /// Its name in messages and exports.
    pub fn name(self) -> &'static str {
        match self {
            EndReason::Win => "win",
            EndReason::Draw => "draw",
            EndReason::Timeout => "timeout",
            EndReason::Invalid => "invalid",
            EndReason::Refused => "refused",
            EndReason::Disconnected => "disconnected",
            EndReason::BothFailed => "both_failed",
            EndReason::Adjudicated => "adjudicated",
            EndReason::TimeUp => "time_up",
            EndReason::Resigned => "resigned",
            EndReason::Reported => "reported",
        }
    }
}

/// How the matches of one player ended. It is counted from the records whenever somebody asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// All its matches.
    pub matches: ByReason,
    /// Those it lost for a technical reason.
    pub technical_losses: ByReason,
}

/// So many matches ended for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByReason([u16; EndReason::ALL.len()]);

impl Endings {
    /// Counts a match in which the player had this seat.
    pub fn add(&mut self, record: &Record, seat: Seat) {
        let lost = record.verdict(seat) == Verdict::TechnicalLoss;
        for counts in [Some(&mut self.matches), Some(&mut self.technical_losses).filter(|_| lost)].into_iter().flatten()
        {
            if let Some(count) = counts.0.get_mut(record.end_reason() as usize) {
                *count = count.saturating_add(1);
            }
        }
    }
}

/// As a map from each reason to how often.
impl Serialize for ByReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(EndReason::ALL.len()))?;
        EndReason::ALL.iter().zip(self.0).try_for_each(|(reason, count)| map.serialize_entry(reason.name(), &count))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(winners: Seats, forfeits: Seats, cause: Cause) -> Record {
        Record::new(0, Utc(0), Outcome { winners, forfeits, cause }, 0)
    }

    #[test]
    fn a_record_keeps_every_outcome_there_is() {
        for (cause, seats) in Cause::ALL.into_iter().flat_map(|cause| (0..64).map(move |seats| (cause, seats))) {
            let (winners, forfeits) = (Seats::of_bits(seats).unwrap(), Seats::of_bits(63 - seats).unwrap());
            let outcome = Outcome { winners, forfeits, cause };
            assert_eq!(Record::new(u64::MAX, Utc(u32::MAX), outcome, u16::MAX).outcome(), outcome);
        }
    }

    #[test]
    fn the_points_of_all_seats_are_those_of_their_verdicts() {
        for (winners, forfeits) in (0..64).flat_map(|winners| (0..64).map(move |forfeits| (winners, forfeits))) {
            let [winners, forfeits] = [winners, forfeits].map(|bits| Seats::of_bits(bits).unwrap());
            let record = record(winners, forfeits, Cause::Played);
            assert_eq!(record.points(), [0, 1, 2, 3, 4, 5].map(|seat| record.verdict(seat).points()));
        }
    }

    #[test]
    fn one_technical_loss_is_a_win_for_the_other() {
        let record = record(Seats::only(1), Seats::only(0), Cause::Timeout);
        assert_eq!(record.status(), Status::TechnicalLoss);
        assert_eq!((record.verdict(0), record.verdict(1)), (Verdict::TechnicalLoss, Verdict::Win));
    }

    #[test]
    fn two_technical_losses_are_worth_nothing_to_anybody() {
        let record = record(Seats::NONE, Seats::first(2), Cause::BothFailed);
        assert_eq!(record.status(), Status::TechnicalLoss);
        assert_eq!(record.verdict(0).points() + record.verdict(1).points(), 0);
    }

    #[test]
    fn a_ruling_changes_the_result_and_not_what_was_played() {
        let outcome = Outcome { winners: Seats::NONE, forfeits: Seats::first(2), cause: Cause::BothFailed };
        let was = Record::new(77, Utc(1), outcome, 3);
        let is = was.ruled(Utc(2), Seats::only(1));
        assert_eq!((is.digest, is.attempt, is.finished), (77, 3, Utc(2)));
        assert_eq!((is.verdict(0), is.verdict(1)), (Verdict::Loss, Verdict::Win));
        assert_eq!((is.status(), is.end_reason().name()), (Status::Win, "adjudicated"));
        assert_eq!(was.ruled(Utc(2), Seats::first(2)).status(), Status::Draw);
    }

    #[test]
    fn a_record_tells_who_reported_it_and_what_the_game_kept() {
        let outcome = Outcome { winners: Seats::only(1), forfeits: Seats::NONE, cause: Cause::Reported };
        let reported = Record::new(0x2a, Utc(1), outcome, 0).by_referee(99);
        assert_eq!((reported.referee(), reported.game_digest()), (Some(99), 0x2a));
        let ruled = reported.ruled(Utc(2), Seats::only(0));
        assert_eq!((ruled.referee(), ruled.game_digest(), ruled.digest), (None, 0x2a, 0x2a));
        assert_eq!((reported.status(), reported.end_reason().name()), (Status::Win, "reported"));
    }

    #[test]
    fn endings_tell_whose_failure_it_was() {
        let timeout = record(Seats::only(1), Seats::only(0), Cause::Timeout);
        let mut endings = [Endings::default(); 2];
        (0..2).zip(&mut endings).for_each(|(seat, endings)| endings.add(&timeout, seat));
        let shown = endings.map(|endings| serde_json::to_value(endings.technical_losses).unwrap()["timeout"].clone());
        assert_eq!(shown, [1, 0]);
        assert_eq!(endings[0].matches, endings[1].matches);
        assert!(EndReason::ALL.iter().zip(0..).all(|(&reason, place)| reason as usize == place));
    }

    #[test]
    fn a_draw_is_worth_a_point_each() {
        let record = record(Seats::first(2), Seats::NONE, Cause::Played);
        assert_eq!(record.status(), Status::Draw);
        assert_eq!((record.verdict(0).points(), record.verdict(1).points()), (1, 1));
    }

    #[test]
    fn of_four_those_who_are_level_in_front_draw_and_the_others_lose() {
        let level = record(Seats::only(0).with(2), Seats::NONE, Cause::Played);
        let verdicts = [Verdict::Draw, Verdict::Loss, Verdict::Draw, Verdict::Loss];
        assert_eq!(([0, 1, 2, 3].map(|seat| level.verdict(seat)), level.status()), (verdicts, Status::Draw));
        let failed = record(Seats::only(3), Seats::only(0).with(1), Cause::Timeout);
        let verdicts = [Verdict::TechnicalLoss, Verdict::TechnicalLoss, Verdict::Loss, Verdict::Win];
        assert_eq!(([0, 1, 2, 3].map(|seat| failed.verdict(seat)), failed.winner()), (verdicts, Some(3)));
    }
}
