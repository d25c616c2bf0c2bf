//! An owner who interferes: now and then a player is removed, a match is ruled on, or a match is played again. What it
//! commands is obeyed exactly when it makes sense, and the world expects nothing else to have changed.

use std::collections::{BTreeMap, BTreeSet};

use protocol_core::fair::Purpose;
use protocol_core::ids::{AgentId, MatchId};
use protocol_core::season::EndReason;
use protocol_core::venue::{Denied, Stage};

use super::checks::Row;
use super::{Course, World};

/// The owner's habits, and what the world has to remember of its acts.
#[derive(Default)]
pub(super) struct Owner {
    /// On average so many inputs pass between two acts.
    pub meddles: Option<u64>,
    pub acts: u64,
    /// Whether it has done something in this league.
    pub has_acted: bool,
    /// Standings by round as they were before some act: they may still be on their way to somebody.
    pub told: BTreeMap<u16, BTreeSet<Vec<Row>>>,
}

impl World<'_> {
    /// Before an input.
    pub(super) fn meddle_at_times(&mut self) {
        if !self.owner.meddles.is_some_and(|every| self.random.one_in(every)) || self.records.is_empty() {
            return;
        }
        self.remember_the_standings();
        let index = self.random.any() as usize % self.records.len();
        let (round, table) = self.venue.schedule().at(index).expect("a record belongs to a match");
        let id = MatchId { round, table };
        let is_obeyed = match self.random.within(0, 11) {
            0 => self.remove_somebody(),
            1..=5 => self.rule_on(id, index),
            _ => self.replay(id, index),
        };
        self.owner.acts += u64::from(is_obeyed);
        self.owner.has_acted |= is_obeyed;
        self.standings.clear();
        self.keep();
        self.serve();
        self.check_the_moment();
    }

    fn remember_the_standings(&mut self) {
        let rounds = self.venue.schedule().rounds();
        let is_complete = |round: &u16| self.venue.matches_of(*round).all(|id| self.venue.record(id).is_some());
        for round in (1..=rounds).take_while(is_complete) {
            let rows = self.naive_standings(round);
            self.owner.told.entry(round).or_default().insert(rows);
        }
    }

    fn remove_somebody(&mut self) -> bool {
        let agent = self.random.any() as usize % self.agents.len();
        let Some(AgentId::Player(number)) = AgentId::read(&self.agents[agent].id) else {
            panic!("an id is a player's")
        };
        let is_in = self.venue.players().iter().any(|player| player.number == number);
        let makes_sense = is_in && matches!(self.venue.stage(), Stage::Running(_)) && !self.agents[agent].has_left;
        let obeyed = self.venue.remove(self.moment(), number);
        assert_eq!(obeyed.is_ok(), makes_sense, "{obeyed:?}");
        assert_eq!(obeyed == Err(Denied::Player), !is_in, "{obeyed:?}");
        self.agents[agent].has_left |= makes_sense;
        makes_sense
    }

    fn rule_on(&mut self, id: MatchId, index: usize) -> bool {
        let line = self.venue.match_line(id).expect("a match has a line");
        let players: Vec<AgentId> = line.player_ids().collect();
        let choices: Vec<_> = players.iter().copied().chain([AgentId::Player(999)]).map(Some).chain([None]).collect();
        let winner = *self.random.pick(&choices.iter().collect::<Vec<_>>());
        let number = winner.map(|(AgentId::Player(number) | AgentId::Referee(number))| number);
        let (was_over, was_running) = (self.venue.record(id).is_some(), self.venue.table(id).is_some());
        let obeyed = self.venue.rule(self.moment(), id, number);
        if number == Some(999) {
            assert_eq!(obeyed, Err(Denied::Winner));
            return false;
        }
        assert_eq!(obeyed.is_ok(), was_over || was_running, "{obeyed:?}");
        if obeyed.is_err() {
            return false;
        }
        let record = *self.venue.record(id).expect("a ruling is a result");
        assert_eq!(record.end_reason(), EndReason::Adjudicated);
        assert_eq!(record.winner().map(|seat| players[usize::from(seat)]), winner);
        if was_over {
            self.records[index] = Some(record);
        }
        true
    }

    fn replay(&mut self, id: MatchId, index: usize) -> bool {
        let makes_sense = self.venue.record(id).is_some() && matches!(self.venue.stage(), Stage::Running(_));
        let running: BTreeSet<(u16, u16)> = self.venue.tables().map(|table| (table.id.round, table.id.table)).collect();
        let obeyed = self.venue.replay(self.moment(), id);
        assert_eq!(obeyed.is_ok(), makes_sense, "{obeyed:?}");
        if !makes_sense {
            return false;
        }
        self.records[index] = None;
        self.matches -= 1;
        self.quiet_since = self.now;
        self.courses.insert((id.round, id.table), Course::default());
        self.chosen.retain(|(_, of), _| *of != id.to_string());
        self.attempts += 1;
        // Whatever is begun from now on has a seed of this attempt; the old ones have been shown, or never will be used.
        let number = self.venue.league_id().number;
        for (index, record) in self.records.iter().enumerate() {
            let (round, table) = self.venue.schedule().at(index).expect("a record belongs to a match");
            let id = MatchId { round, table };
            if record.is_some() || running.contains(&(round, table)) {
                continue;
            }
            let seed =
                self.master.derive(Purpose::Match, [number, round.into(), self.attempts << 16 | u32::from(table)]);
            assert_eq!(self.venue.commitment(id), seed.commitment(), "{id} has the seed of its attempt");
            self.seeds.retain(|_, of| *of != id);
            self.seeds.insert(seed.to_string().into_bytes(), id);
        }
        true
    }
}
