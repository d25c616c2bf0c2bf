//! What the owner may do to a league that is being played: remove a player, rule on a match, have a match played again.
//! Each becomes a fact before it is acknowledged; the standings follow from the results, as ever.

use core::fmt;
use core::net::IpAddr;

use super::facts::Fact;
use super::news::News;
use super::players::{Gone, OUTSIDE, Player};
use super::{Lines, Refusal, Stage, Venue};
use crate::games::Seats;
use crate::ids::{AgentId, MatchId};
use crate::log::Happening;
use crate::referee::{Cause, Outcome};
use crate::season::Record;
use crate::time::Now;

/// Why the owner is not obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// There is no such player.
    Player,
    /// There is no such referee.
    Referee,
    /// Nobody is from there.
    Address,
    /// There is no such match.
    Match,
    /// The winner does not play this match.
    Winner,
    /// Not now.
    Now(Refusal),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Denied::Player => "player_id names no player of this league",
            Denied::Referee => "referee_id names no agent that registered as a referee",
            Denied::Address => "no player of this league registered from this address",
            Denied::Match => "match_id names no match of this league",
            Denied::Winner => "winner must be one of the players of the match, or null for a draw",
            Denied::Now(refusal) => refusal.0,
        })
    }
}

pub(super) const fn not_now<T>(why: &'static str) -> Result<T, Denied> {
    Err(Denied::Now(Refusal(why)))
}

impl Venue<'_> {
    /// Removes the player of this number: what it still has to play is lost. Before the league its place is free again.
    pub fn remove(&mut self, now: Now, number: u16) -> Result<(), Denied> {
        let index = self.line_where(|player| player.number == number).ok_or(Denied::Player)?;
        if self.memory.players.get(usize::from(index)).is_some_and(|player| player.has_left()) {
            return not_now("the player has left already");
        }
        let has_played = self.memory.players.get(usize::from(index)).is_some_and(|player| player.place != OUTSIDE);
        if self.stage == Stage::Completed && has_played {
            return not_now("the league is over, the player has nothing left to play; a ruling changes a result");
        }
        self.note(now, Some(AgentId::Player(number)), self.match_of(index), Happening::Admin("remove"));
        self.part_with(now, index, Gone::Removed);
        self.advance(now);
        Ok(())
    }

    /// Removes one of the players that registered from an address; false where there is none. Whoever wants all of them gone
    /// asks again: each is an input of its own, for which there must be room in the journal.
    pub fn remove_one_from(&mut self, now: Now, address: IpAddr) -> Result<bool, Denied> {
        let address = address.to_canonical();
        let is_there = |player: &&Player| player.contact.from() == address && !player.has_left();
        match self.memory.players.iter().find(is_there).map(|player| player.number) {
            Some(number) => self.remove(now, number).map(|()| true),
            None => Ok(false),
        }
    }

    /// Rules on a match that is being played or is over. `winner` is the number of a player; nobody's is a draw.
    pub fn rule(&mut self, now: Now, id: MatchId, winner: Option<u16>) -> Result<(), Denied> {
        let places = self.places(id).ok_or(Denied::Match)?;
        let winners = match winner {
            Some(number) => {
                let mut seats = (0..).zip(&places);
                let seat = seats.find(|&(_, &place)| self.id_at(place) == AgentId::Player(number));
                Seats::only(seat.ok_or(Denied::Winner)?.0)
            }
            None => (0..).zip(&places).map(|(seat, _)| seat).fold(Seats::NONE, Seats::with),
        };
        let word = if winner.is_some() { "rule: this player wins" } else { "rule: a draw" };
        let agent = winner.map(AgentId::Player);
        self.let_result_out(now, id);
        let slot = self.slot_of(|table| table.id == id && !table.is_over());
        let index = self.schedule().index(id.round, id.table).ok_or(Denied::Match)?;
        if let Some(slot) = slot {
            self.note(now, agent, Some(id), Happening::Admin(word));
            let outcome = Outcome { winners, forfeits: Seats::NONE, cause: Cause::Adjudicated };
            self.rule_at_table(now, slot, outcome, None);
        } else if let Some(record) = self.memory.records.get_mut(index).and_then(Option::as_mut) {
            *record = record.ruled(now.utc, winners);
            self.note(now, agent, Some(id), Happening::Admin(word));
            self.memory.facts.push(Fact::Ruled(id));
            self.recount();
            if self.stage == Stage::Completed {
                self.push_ending();
            }
            self.tell_result_anew(now, id);
        } else {
            return not_now("the match has not begun; a match that is being played or is over can be ruled on");
        }
        self.advance(now);
        Ok(())
    }

    /// Ends the match at a table as somebody else decides: the owner, or the referee of this number.
    pub(super) fn rule_at_table(&mut self, now: Now, slot: u16, outcome: Outcome, referee: Option<u8>) {
        let Some(table) = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        table.play.decide(outcome.winners);
        let (id, seed) = (table.id, table.play.seed());
        let players = Lines::from_slice(table.players()).unwrap_or_default();
        let digest = crate::games::Game::digest(table.play.game());
        let record = Record::new(digest, now.utc, outcome, self.attempt_of(id, seed));
        let record = referee.map_or(record, |number| record.by_referee(number));
        for &player in &players {
            if self.player_mut(player).is_some_and(|player| player.session.withdraw()) {
                self.list(player);
            }
        }
        self.conclude(now, slot, record);
        players.into_iter().for_each(|player| self.pump(now, player));
    }

    /// Has a match that is over played again, from its invitation and with a seed nobody has seen anything of. It begins
    /// when its players are free.
    pub fn replay(&mut self, now: Now, id: MatchId) -> Result<(), Denied> {
        let places = self.places(id).ok_or(Denied::Match)?;
        let Stage::Running(round) = self.stage else {
            return not_now("a match can be played again only while the league runs; now a ruling changes its result");
        };
        let index = self.schedule().index(id.round, id.table).ok_or(Denied::Match)?;
        let Some(place) = self.memory.records.get_mut(index).filter(|place| place.is_some()) else {
            return not_now("the match is not over, so it cannot be played again");
        };
        // Attempts are part of the seeds, and no seed is used twice.
        let Some(attempts) = self.attempts.checked_add(1) else {
            return not_now("too many matches of this league were played again; a ruling changes a result");
        };
        *place = None;
        self.attempts = attempts;
        self.results = self.results.saturating_sub(1);
        if id.round < round || id.table < self.next_table {
            self.again = self.again.saturating_add(1);
        }
        self.round_is_closed = false;
        self.reopen_news_of(round);
        self.note(now, None, Some(id), Happening::Admin("replay"));
        self.memory.facts.push(Fact::Again(id));
        self.recount();
        for player in self.lines_of(&places) {
            self.take_back_result(player, id.round);
            self.pump(now, player);
        }
        self.summarize_anew(now, id.round);
        self.advance(now);
        Ok(())
    }

    /// The players of a match that has another result are told, while the league runs. Who is just being told the old one
    /// is told anew.
    fn tell_result_anew(&mut self, now: Now, id: MatchId) {
        self.summarize_anew(now, id.round);
        let Some(places) = self.places(id) else { return };
        let own = News::GameOver(id.round);
        for index in self.lines_of(&places) {
            if self.tell_anew(now, index, own) || self.stage == Stage::Completed {
                continue;
            }
            self.result_is_another(index, id.round);
            self.pump(now, index);
        }
    }

    /// A result of a round that was over has changed: who is just being told the sum of them is told anew.
    pub(super) fn summarize_anew(&mut self, now: Now, round: u16) {
        for index in self.lines() {
            self.tell_anew(now, index, News::RoundCompleted(round));
        }
    }
}
