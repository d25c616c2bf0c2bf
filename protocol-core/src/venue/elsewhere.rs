//! Matches that are refereed elsewhere, by agents that registered as referees. Such a match is a table like any other, at which
//! the box waits: its players sit there and are asked nothing, and its beginning lies ahead. A report of its referee ends it. If none
//! comes before it would begin, it begins, and the box referees it as it does every other. So a match is never lost with its referee,
//! and has one result: that of whoever had it when the result came.
//!
//! Who is given a match, and by what words it hears of it, its protocol knows.

use super::Venue;
use super::facts::Fact;
use super::powers::Denied;
use super::rounds::{Life, Table};
use crate::games::{Game, Seats};
use crate::ids::{AgentId, MatchId, OUR_REFEREE};
use crate::log::Happening;
use crate::protocols::Code;
use crate::referee::{Cause, Outcome, Phase};
use crate::time::{Millis, Now};

/// What a report is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// It is the result.
    Taken,
    /// It says what is known.
    Again,
    /// The match has another result already, and that stands.
    Contradicts,
    /// The match is not one of this referee's, or no longer.
    NotTheirs,
}

/// A referee that will have a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taker {
    /// The number in its id.
    pub number: u8,
    /// How much longer it needs, because it comes and asks.
    pub more_ms: Millis,
}

impl Table {
    /// The number of the referee that has its match, elsewhere.
    pub(crate) fn referee(&self) -> Option<u8> {
        match self.life {
            Life::Elsewhere(number) => Some(number),
            _ => None,
        }
    }

    /// Seats that owe something, as far as the box knows.
    pub fn thinking(&self) -> Seats {
        if self.referee().is_some() { Seats::NONE } else { self.play.thinking() }
    }
}

impl Venue<'_> {
    /// Gives the match that has just got a table away, if the owner allows that, its players can be called by somebody else, and
    /// a referee has time for it.
    pub(super) fn give_away(&mut self, now: Now, slot: u16) {
        let Some(seconds) = self.config.foreign_referees else { return };
        let Some(table) = self.table_at(slot).filter(|table| table.life == Life::Playing) else { return };
        let players = table.seated();
        let is_called = |&line: &u16| self.player(line).is_some_and(|player| player.contact.endpoint().is_some());
        if table.play.phase() != Phase::WaitingForPlayers || !players.iter().all(is_called) {
            return;
        }
        let turns = Millis::from(table.play.game().rules().turns);
        let Some(taker) = Code::ALL.iter().find_map(|code| code.taker(self, &players)) else { return };
        let longest = players.iter().map(|&line| self.policy_of(line).longest(turns)).max().unwrap_or(0);
        let until = now.ms.saturating_add(longest).saturating_add(taker.more_ms);
        let until = until.saturating_add(Millis::from(seconds).saturating_mul(1_000));
        if let Some(table) = self.table_at_mut(slot) {
            table.life = Life::Elsewhere(taker.number);
            table.play.begin_at(until);
        }
    }

    /// The matches that the referee of this number has.
    pub(crate) fn given_to(&self, number: u8) -> impl Iterator<Item = &Table> {
        self.tables().filter(move |table| table.referee() == Some(number))
    }

    /// Who referees a match, or did.
    pub fn referee_of(&self, id: MatchId) -> AgentId {
        let known = match (self.record(id), self.table(id)) {
            (Some(record), _) => record.referee(),
            (None, Some(table)) => table.referee().map(u16::from),
            (None, None) => None,
        };
        known.map_or(OUR_REFEREE, AgentId::Referee)
    }

    /// The box referees a match after all, if somebody else had it.
    pub(super) fn take_back(&mut self, now: Now, slot: u16) {
        let Some(table) = self.table_at_mut(slot).filter(|table| table.referee().is_some()) else { return };
        table.life = Life::Playing;
        table.greeted = Seats::NONE;
        table.play.begin_at(now.ms);
        for line in table.seated() {
            if self.player_mut(line).is_some_and(|player| player.session.withdraw()) {
                self.list(line);
            }
        }
    }

    /// The referee of a match has not reported it in time, or cannot be told of it. It is given no more.
    pub(crate) fn has_not_reported(&mut self, now: Now, slot: u16) {
        let Some((number, id)) = self.table_at(slot).and_then(|table| Some((table.referee()?, table.id))) else {
            return;
        };
        Code::ALL.iter().for_each(|code| code.referee_failed(self, number));
        self.note(now, Some(AgentId::Referee(number.into())), Some(id), Happening::TakenBack);
        self.take_back(now, slot);
        self.begin(now, slot);
    }

    /// A referee says how a match ended: one seat has won, several have drawn, or nobody has; and whether who has not won has failed.
    pub(crate) fn report(&mut self, now: Now, id: MatchId, number: u8, winners: Seats, is_technical: bool) -> Report {
        let slot = self.slot_of(|table| table.id == id && table.referee() == Some(number));
        if let Some(slot) = slot {
            let all = self.table_at(slot).map_or(Seats::NONE, |table| Seats::first(table.play.game().seats()));
            let forfeits = if is_technical { all.without(winners) } else { Seats::NONE };
            let outcome = Outcome { winners, forfeits, cause: Cause::Reported };
            self.rule_at_table(now, slot, outcome, Some(number));
            return Report::Taken;
        }
        match self.record(id).filter(|record| record.referee() == Some(number.into())) {
            Some(record) if record.outcome().winners == winners => Report::Again,
            Some(_) => Report::Contradicts,
            None => Report::NotTheirs,
        }
    }

    /// The referee of this number is gone, or the owner wants it gone: its matches come back.
    pub fn dismiss(&mut self, now: Now, number: u16, is_owners_will: bool) -> Result<(), Denied> {
        if !self.forget_referee(number) {
            return Err(Denied::Referee);
        }
        let what = if is_owners_will { Happening::Admin("remove") } else { Happening::Left };
        self.note(now, Some(AgentId::Referee(number)), None, what);
        self.keep(Fact::Dismissed(number));
        for slot in self.slots() {
            if self.table_at(slot).and_then(Table::referee).is_some_and(|of| u16::from(of) == number) {
                self.take_back(now, slot);
                self.begin(now, slot);
            }
        }
        self.advance(now);
        Ok(())
    }

    /// Forgets a referee. False where there is none of this number.
    pub(super) fn forget_referee(&mut self, number: u16) -> bool {
        Code::ALL.iter().any(|code| code.forget_referee(self, number))
    }
}
