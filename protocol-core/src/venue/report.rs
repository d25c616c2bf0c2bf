//! What can be read of a league: how it stands, its matches, its table. Whoever shows it, a page or a protocol, does so in its
//! own words.

use heapless::Vec;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::rounds::Stage;
use super::{Venue, count};
use crate::games::AnyGame;
use crate::ids::{AgentId, Ids, LeagueId, MatchId, write_ids};
use crate::json::Shown;
use crate::season::{Ranked, Row};

impl Venue<'_> {
    /// Who won a match, if one did.
    pub(crate) fn winner_of(&self, id: MatchId) -> Option<AgentId> {
        let seat = self.record(id)?.winner()?;
        Some(self.seated_at(id).get(usize::from(seat))?.0)
    }

    /// A finished match again, as the game recalls it.
    pub fn recall(&self, id: MatchId) -> Option<AnyGame> {
        let record = self.record(id)?;
        Some(AnyGame::recall(self.game_at(id), self.match_seed(id), record.game_digest()))
    }

    /// The hash of a match's seed, which binds the box to it.
    pub fn commitment(&self, id: MatchId) -> crate::fair::Seed {
        self.match_seed(id).commitment()
    }

    /// The seed of a match that is over. `None` while it is secret.
    pub fn revealed_seed(&self, id: MatchId) -> Option<crate::fair::Seed> {
        self.record(id).map(|_| self.match_seed(id))
    }

    /// The matches of a round, in order.
    pub fn matches_of(&self, round: u16) -> impl Iterator<Item = MatchId> + use<> {
        (1..=self.schedule().matches_per_round()).map(move |table| MatchId { round, table })
    }

    /// The table as of the last round that closed.
    pub(crate) fn closed_rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows(self.memory.closed)
    }

    /// The table as of the last [`Venue::refresh_standings`].
    pub fn standings(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows(self.memory.current)
    }

    /// The places of the same table as people are shown them: shared where only the id parts two players.
    pub fn shared_places(&self) -> impl Iterator<Item = u16> {
        (1..).zip(self.memory.current.iter()).scan(1, |place, (rank, ranked)| {
            if !ranked.is_level {
                *place = rank;
            }
            Some(*place)
        })
    }

    pub(crate) fn rows<'a>(&'a self, ranking: &'a [Ranked]) -> impl Iterator<Item = Row<'a>> {
        (1..).zip(ranking).filter_map(move |(rank, &Ranked { player, tally, .. })| {
            let player = self.player_at(player)?;
            Some(Row {
                rank,
                player_id: Shown(player.id()),
                display_name: &player.name,
                played: tally.played,
                wins: tally.wins,
                draws: tally.draws,
                losses: tally.losses,
                technical_losses: tally.technical_losses,
                points: tally.points,
            })
        })
    }

    /// How the league stands, in numbers.
    pub fn status(&self) -> Status {
        let (status, round) = match self.stage {
            Stage::Waiting => ("WAITING", 0),
            Stage::Running(round) if self.paused => ("PAUSED", round),
            Stage::Running(round) => ("RUNNING", round),
            Stage::Completed => ("COMPLETED", self.schedule().rounds()),
        };
        let schedule = self.schedule();
        Status {
            status,
            league_id: Shown(self.league_id()),
            game_type: self.game().rules().name,
            current_round: round,
            total_rounds: schedule.rounds(),
            players: count(self.memory.players.len()),
            matches_completed: self.results,
            total_matches: schedule.total_matches(),
            running_matches: count(self.tables().count()),
        }
    }

    /// A match on one line.
    pub fn match_line(&self, id: MatchId) -> Option<MatchLine> {
        let players: Vec<_, _> = self.seated_at(id).into_iter().map(|(player, _)| player).collect();
        if players.is_empty() {
            return None;
        }
        let record = self.record(id);
        let status = match record {
            Some(_) => "FINISHED",
            None if self.table(id).is_some() => "RUNNING",
            None => "SCHEDULED",
        };
        Some(MatchLine {
            match_id: Shown(id),
            round_id: id.round,
            players: Ids(players),
            referee_id: Shown(self.referee_of(id)),
            status,
            result: record.map(|record| record.status().name()),
            winner: self.winner_of(id).map(Shown),
            end_reason: record.map(|record| record.end_reason().name()),
        })
    }

    /// Who plays a match, by seat.
    pub fn sitters(&self, id: MatchId) -> impl Iterator<Item = Sitter<'_>> {
        let (record, is_running) = (self.record(id), self.table(id).is_some());
        (0..).zip(self.seated_at(id)).map(move |(seat, (player, line))| Sitter {
            player_id: Shown(player),
            display_name: self.memory.players.get(usize::from(line)).map_or("", |player| &player.name),
            points: record.map(|record| record.verdict(seat).points()),
            said: if is_running { self.notes_of(line).1 } else { "" },
        })
    }
}

/// How the league stands.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Status {
    pub status: &'static str,
    pub league_id: Shown<LeagueId>,
    pub game_type: &'static str,
    pub current_round: u16,
    pub total_rounds: u16,
    pub players: u16,
    pub matches_completed: u32,
    pub total_matches: u32,
    pub running_matches: u16,
}

/// A match on one line.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct MatchLine {
    pub match_id: Shown<MatchId>,
    pub round_id: u16,
    /// Who plays it, by seat.
    pub players: Ids,
    pub referee_id: Shown<AgentId>,
    pub status: &'static str,
    pub result: Option<&'static str>,
    pub winner: Option<Shown<AgentId>>,
    pub end_reason: Option<&'static str>,
}

impl MatchLine {
    /// Who plays it, by seat.
    pub fn player_ids(&self) -> impl Iterator<Item = AgentId> {
        self.players.0.iter().copied()
    }

    pub(crate) fn has(&self, id: AgentId) -> bool {
        self.player_ids().any(|other| other == id)
    }
}

impl Serialize for MatchLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("match_id", &self.match_id)?;
        map.serialize_entry("round_id", &self.round_id)?;
        write_ids(&mut map, self.player_ids())?;
        map.serialize_entry("referee_id", &self.referee_id)?;
        map.serialize_entry("status", self.status)?;
        map.serialize_entry("result", &self.result)?;
        map.serialize_entry("winner", &self.winner)?;
        map.serialize_entry("end_reason", &self.end_reason)?;
        map.end()
    }
}

/// A player of a match.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Sitter<'a> {
    pub player_id: Shown<AgentId>,
    pub display_name: &'a str,
    /// What it gets for it; `None` before it is over.
    pub points: Option<u16>,
    /// What it said last, to everybody, while it is being played.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub said: &'a str,
}
