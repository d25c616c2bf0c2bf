//! Who and what: agents, matches, leagues, and the tokens by which agents show who they are. No protocol owns them; each
//! shows them in its own words.

use core::fmt;

use heapless::Vec;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::games::MAX_SEATS;
use crate::json::Shown;

/// The number of an agent, shown as the id the league gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentId {
    /// `P01` …
    Player(u16),
    /// `REF01` …
    Referee(u16),
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentId::Player(number) => write!(f, "P{number:02}"),
            AgentId::Referee(number) => write!(f, "REF{number:02}"),
        }
    }
}

impl Default for AgentId {
    fn default() -> Self {
        AgentId::Player(0)
    }
}

impl AgentId {
    /// Reads `P07` or `REF02`, as this type shows it.
    pub fn read(text: &str) -> Option<AgentId> {
        let (prefix, make): (_, fn(u16) -> AgentId) = match text.strip_prefix("REF") {
            Some(_) => ("REF", AgentId::Referee),
            None => ("P", AgentId::Player),
        };
        let digits = text.strip_prefix(prefix)?;
        let number = digits.parse::<u16>().ok().filter(|&number| number > 0)?;
        let well_formed =
            digits.bytes().all(|d| d.is_ascii_digit()) && digits.len() == if number < 100 { 2 } else { 3 };
        well_formed.then(|| make(number))
    }
}

/// The box's own referee. Agents that referee themselves are numbered after it.
pub const OUR_REFEREE: AgentId = AgentId::Referee(1);

/// The id of a match, `R1M1`; of a game outside the league, which is of no round, `R0M1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchId {
    /// The round, from 1; 0 outside the league.
    pub round: u16,
    /// The table, from 1; outside the league the number of the game.
    pub table: u16,
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{}M{}", self.round, self.table)
    }
}

impl MatchId {
    /// That of a game outside the league. No match of a league has it: rounds count from 1.
    pub fn of_game(number: u16) -> MatchId {
        MatchId { round: 0, table: number }
    }

    /// Whether it is that of a game outside the league.
    pub fn is_outside(self) -> bool {
        self.round == 0
    }

    /// Reads `R1M1`.
    pub fn read(text: &str) -> Option<MatchId> {
        let (round, table) = text.strip_prefix('R')?.split_once('M')?;
        Some(MatchId { round: round.parse().ok()?, table: table.parse().ok()? })
    }
}

/// The id of a league.
#[derive(Clone, Copy, Debug)]
pub struct LeagueId {
    /// The game.
    pub game: &'static str,
    /// Which league of this box, from 1.
    pub number: u32,
}

impl fmt::Display for LeagueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "league_{}_{}", self.game, self.number)
    }
}

/// A bearer token, shown as `tok_p01_` and 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Whose it is.
    pub of: AgentId,
    /// Its secret.
    pub secret: [u8; 16],
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            AgentId::Player(number) => write!(f, "tok_p{number:02}_")?,
            AgentId::Referee(number) => write!(f, "tok_ref{number:02}_")?,
        }
        self.secret.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Some players of a match. Where there may be several, all of them are told beside the first.
#[derive(Clone, Debug, Default)]
pub struct Ids(pub Vec<AgentId, MAX_SEATS>);

impl Ids {
    /// The first of them.
    pub fn first(&self) -> Option<AgentId> {
        self.0.first().copied()
    }

    /// Whether the first is all there is.
    pub fn is_one(&self) -> bool {
        self.0.len() < 2
    }
}

impl Serialize for Ids {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Shown))
    }
}

/// What the ids of the players of a match are called, by seat.
const IDS: [&str; MAX_SEATS] =
    ["player_A_id", "player_B_id", "player_C_id", "player_D_id", "player_E_id", "player_F_id"];

/// Writes `player_A_id` and so on, as many as there are seats.
pub fn write_ids<M: SerializeMap>(map: &mut M, ids: impl Iterator<Item = AgentId>) -> Result<(), M::Error> {
    IDS.iter().zip(ids).try_for_each(|(name, id)| map.serialize_entry(name, &Shown(id)))
}
