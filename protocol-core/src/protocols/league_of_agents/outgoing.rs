//! What the box says to agents, the members of every message in the order of the specification. Short messages are a
//! [`Notice`]. Those that show a game are written from the game itself as they go out: a map in the fog is 25 KB.

use core::fmt::{self, Write as _};

use heapless::String;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Trouble, Uuid};
use crate::games::{Game, GameKind, Illegal, MAX_SEATS, Seat, Seats, Standing, Table, Viewer};
use crate::json::{self, Map, Seq, Shown, Slice};
use crate::protocols::{Board, league_v2};
use crate::time::{Millis, Utc};

/// A short message.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub enum Notice<'a> {
    Authenticated {
        agent_id: Uuid,
        agent_name: &'a str,
    },
    /// See [`Notice::queued`].
    QueueStatus {
        status: &'static str,
        position: u16,
        game_type: &'static str,
    },
    /// See [`Notice::matched`].
    Matched {
        game_id: Uuid,
        game_type: &'static str,
    },
    YourTurn {
        game_id: Uuid,
        round: u16,
    },
    /// See [`Notice::MOVE_TAKEN`] and [`Notice::refused`].
    MoveResult {
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// The rule that the move broke.
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'static str>,
    },
    /// See [`Notice::thinking`].
    Thinking {
        agent_id: &'a str,
        agent_name: &'a str,
        thinking: bool,
    },
    /// See [`Notice::refused`].
    Error {
        message: &'static str,
    },
    /// Milliseconds since 1970.
    Pong {
        timestamp: Millis,
    },
}

impl<'a> Notice<'a> {
    /// The move is played.
    pub const MOVE_TAKEN: Notice<'static> = Notice::MoveResult { success: true, error: None, detail: None };

    /// The agent waits in a queue, the first at position 1.
    pub fn queued(position: u16, kind: GameKind) -> Self {
        Notice::QueueStatus { status: "queued", position, game_type: kind.rules().name }
    }

    /// The agent has a seat in a game.
    pub fn matched(game_id: Uuid, kind: GameKind) -> Self {
        Notice::Matched { game_id, game_type: kind.rules().name }
    }

    /// A player starts or stops thinking about its move.
    pub fn thinking(table: Table<'a>, seat: Seat, thinking: bool) -> Self {
        Notice::Thinking { agent_id: table.id(seat), agent_name: table.name(seat), thinking }
    }

    /// What is wrong with a message, told as the specification wants that told. Of a move also the rule it broke.
    pub fn refused(trouble: Trouble, rule: Option<Illegal>) -> Self {
        if trouble.is_about_a_move() {
            let detail = rule.map(|Illegal(rule)| rule);
            Notice::MoveResult { success: false, error: Some(trouble.text()), detail }
        } else {
            Notice::Error { message: trouble.text() }
        }
    }
}

/// `game_state`: all that a viewer may see of a game.
#[derive(Clone, Copy, Debug)]
pub struct GameState<'a, G> {
    /// Which game of the box.
    pub game_id: Uuid,
    /// The game.
    pub game: &'a G,
    /// Who plays it.
    pub table: Table<'a>,
    /// Who looks at it.
    pub viewer: Viewer,
    /// Whose move is still owed.
    pub thinking: Seats,
    /// How many look on.
    pub spectators: u16,
}

impl<G: Game> Serialize for GameState<'_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Player<'a> {
            agent_id: &'a str,
            agent_name: &'a str,
            score: i32,
            thinking: bool,
        }
        let Self { game, table, .. } = *self;
        let player = |seat| Player {
            agent_id: table.id(seat),
            agent_name: table.name(seat),
            score: game.score(seat),
            thinking: self.thinking.has(seat),
        };
        let rules = game.rules();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "game_state")?;
        map.serialize_entry("gameId", &self.game_id)?;
        map.serialize_entry("gameType", rules.name)?;
        map.serialize_entry("status", if is_over(game) { "completed" } else { "active" })?;
        map.serialize_entry("round", &round(game))?;
        map.serialize_entry("maxRounds", &rules.turns)?;
        map.serialize_entry("players", &Seq(|| (0..game.seats()).map(player)))?;
        if league_v2::GAMES.contains(&rules.name) {
            game.view(self.viewer, table, &mut map)?;
        } else {
            if !has_grid(game) {
                map.serialize_entry("grid", &())?;
            }
            write_view(game, self.viewer, table, &mut map)?;
        }
        map.serialize_entry("spectatorCount", &self.spectators)?;
        map.end()
    }
}

/// The game whose board the specification calls `publicState`, and shows last. All other boards are a `grid`.
const PUBLIC: &str = "dance-battle";

fn has_grid(game: &impl Game) -> bool {
    game.rules().board && game.rules().name != PUBLIC
}

/// Writes a game as the specification prints it: its board as `grid`, and all else in `extra`.
pub fn write_view<G: Game, M: SerializeMap>(
    game: &G,
    viewer: Viewer,
    table: Table<'_>,
    out: &mut M,
) -> Result<(), M::Error> {
    let board = Board { game, viewer, table };
    if has_grid(game) {
        out.serialize_entry("grid", &board)?;
    }
    out.serialize_entry("extra", &Extra { game, viewer, table })?;
    if game.rules().name == PUBLIC { out.serialize_entry("publicState", &board) } else { Ok(()) }
}

/// What a game shows beside its board.
struct Extra<'a, G> {
    game: &'a G,
    viewer: Viewer,
    table: Table<'a>,
}

impl<G: Game> Serialize for Extra<'_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.game.view(self.viewer, self.table, &mut map)?;
        map.end()
    }
}

fn is_over(game: &impl Game) -> bool {
    game.to_move().is_empty()
}

/// Rounds that have been resolved.
fn played(game: &impl Game) -> u16 {
    game.turn().saturating_sub(1)
}

/// The round that is played; of a finished game the last one that was.
pub fn round(game: &impl Game) -> u16 {
    if is_over(game) { played(game).max(1) } else { game.turn() }
}

/// `turn_update`: what everybody did in the round that was resolved last.
#[derive(Clone, Copy, Debug)]
pub struct TurnUpdate<'a, G> {
    /// The game.
    pub game: &'a G,
    /// Who plays it.
    pub table: Table<'a>,
}

impl<G: Game> Serialize for TurnUpdate<'_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Move<'a, A> {
            agent_id: &'a str,
            agent_name: &'a str,
            action: A,
        }
        let Self { game, table } = *self;
        let action = |seat| Said(move |f: &mut fmt::Formatter<'_>| game.action(seat, table, f));
        let moved = || (0..game.seats()).filter(move |&seat| !is_silent(&action(seat)));
        let moves = Seq(|| {
            moved().map(move |seat| Move {
                agent_id: table.id(seat),
                agent_name: table.name(seat),
                action: Shown(action(seat)),
            })
        });
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "turn_update")?;
        map.serialize_entry("round", &played(game))?;
        map.serialize_entry("moves", &moves)?;
        map.serialize_entry("roundSummary", &Shown(Said(|f: &mut fmt::Formatter<'_>| game.summary(table, f))))?;
        map.serialize_entry("scores", &Map(|| (0..game.seats()).map(|seat| (table.name(seat), game.score(seat)))))?;
        map.end()
    }
}

/// What a game says into a formatter.
struct Said<F>(F);

impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Said<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0(f)
    }
}

/// Whether it says nothing.
fn is_silent(said: &impl fmt::Display) -> bool {
    // There is room for nothing else.
    write!(String::<0>::new(), "{said}").is_ok()
}

/// `skill_effect`: what the last move did beside the obvious.
#[derive(Clone, Copy, Debug)]
pub struct SkillEffect<'a, G> {
    game: &'a G,
    table: Table<'a>,
}

impl<'a, G: Game> SkillEffect<'a, G> {
    /// The effect of the last move, if it had one.
    pub fn of(game: &'a G, table: Table<'a>) -> Option<Self> {
        struct Effect<'a, G>(&'a G, Table<'a>);
        impl<G: Game> Serialize for Effect<'_, G> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                self.0.effect(self.1, &mut map)?;
                map.end()
            }
        }
        // An object with nothing in it takes two bytes.
        let mut room = [0; 2];
        let has_one = json::write(&Effect(game, table), &mut Slice::new(&mut room)).is_err();
        has_one.then_some(Self { game, table })
    }
}

impl<G: Game> Serialize for SkillEffect<'_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "skill_effect")?;
        self.game.effect(self.table, &mut map)?;
        write_view(self.game, Viewer::Spectator, self.table, &mut map)?;
        map.end()
    }
}

/// Why a game ended, other than by its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CutShort {
    /// Somebody did not move in time.
    Timeout,
    /// The box could not go on with it.
    Error,
}

/// `game_over`: who came in which place.
#[derive(Clone, Copy, Debug)]
pub struct GameOver<'a, G> {
    /// The game.
    pub game: &'a G,
    /// Who played it.
    pub table: Table<'a>,
    /// How long it took, in seconds.
    pub duration: u32,
    /// Why it did not end by its rules, if it did not.
    pub reason: Option<CutShort>,
}

impl<G: Game> Serialize for GameOver<'_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Ranked<'a> {
            agent_id: &'a str,
            agent_name: &'a str,
            final_score: i32,
        }
        let Self { game, table, .. } = *self;
        let seats = game.seats();
        // A game that was broken off has no standing of its own.
        let Standing { scores, places } = game.standing().unwrap_or_else(|| {
            let mut scores = [0; MAX_SEATS];
            scores.iter_mut().zip(0..seats).for_each(|(score, seat)| *score = game.score(seat));
            Standing::by_score(seats, scores)
        });
        let ranked =
            |((seat, final_score), _)| Ranked { agent_id: table.id(seat), agent_name: table.name(seat), final_score };
        let at = |place| (0..seats).zip(scores).zip(places).filter(move |(_, at)| *at == place).map(ranked);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "game_over")?;
        map.serialize_entry("rankings", &Seq(|| (1..=seats).flat_map(at)))?;
        map.serialize_entry("totalRounds", &played(game))?;
        map.serialize_entry("duration", &self.duration)?;
        if let Some(reason) = self.reason {
            map.serialize_entry("reason", &reason)?;
        }
        map.end()
    }
}

/// The answer to a registration.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub struct Registered<'a> {
    pub agent_id: Uuid,
    pub api_key: Uuid,
    pub name: &'a str,
    pub created_at: ToTheMillisecond,
}

/// A moment with three zeros behind its seconds, as JavaScript prints it.
#[derive(Clone, Copy, Debug)]
pub struct ToTheMillisecond(pub Utc);

impl Serialize for ToTheMillisecond {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::<20>::new();
        // It is as long as there is room.
        let _ = write!(text, "{}", self.0);
        serializer.collect_str(&format_args!("{}.000Z", text.trim_end_matches('Z')))
    }
}

/// The answer to an HTTP request that is refused.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the one field is the specification's")]
pub struct Refused {
    pub error: &'static str,
}

/// `agents/me`: what an agent is told of itself.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields name themselves")]
pub struct Me<'a> {
    pub agent_id: Uuid,
    pub name: &'a str,
    pub rating: i32,
    pub rating_deviation: u16,
    pub games_played: u32,
}
