//! What is told of a game while it runs: its view, its board, and what a skill did.

use core::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::board::{Point, SIDE, Square, colour};
use super::{Deed, Gomoku, REWIND_MOVES, Skill};
use crate::games::{Seat, Table};
use crate::json::{Seq, Shown};

/// How long clients show a skill.
const ANIMATION_MS: u16 = 3_000;

/// A skill by its full name, and where it was cast.
pub(super) struct Cast(pub Skill, pub Option<Point>);

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Skill::Uproot => "Uproot (力拔山兮)",
            Skill::Stillwater => "Stillwater (静如止水)",
            Skill::Sandstorm => "Sandstorm (飞沙走石)",
            Skill::Rewind => "Rewind (时光倒流)",
        })?;
        match self.1 {
            Some(target) => write!(f, " at {target}"),
            None => Ok(()),
        }
    }
}

/// What a point shows that nothing is special about.
pub(super) fn symbol(stone: Option<Seat>) -> &'static str {
    match stone {
        None => "·",
        Some(0) => "⚫",
        Some(_) => "⚪",
    }
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Cell {
            row: u8,
            col: u8,
        }
        Cell { row: self.row(), col: self.col() }.serialize(serializer)
    }
}

/// As it is sent.
impl Serialize for Deed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(tag = "type", rename_all = "lowercase")]
        enum Sent {
            Place { row: u8, col: u8 },
            Skill { skill: &'static str, target: Option<Point> },
        }
        match *self {
            Deed::Place(at) => Sent::Place { row: at.row(), col: at.col() },
            Deed::Skill(skill, target) => Sent::Skill { skill: skill.name(), target },
        }
        .serialize(serializer)
    }
}

/// A skill that was the last move, and what it changed.
struct Effect<'a> {
    game: &'a Gomoku,
    skill: Skill,
    caster: Seat,
    target: Option<Point>,
}

impl<'a> Effect<'a> {
    fn of(game: &'a Gomoku) -> Option<Self> {
        match game.last_deed()? {
            (caster, Deed::Skill(skill, target)) => Some(Self { game, skill, caster, target }),
            _ => None,
        }
    }

    fn description(&self, table: Table<'a>) -> Shown<impl fmt::Display> {
        struct Description<'a>(&'a str, Cast);
        impl fmt::Display for Description<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} used {}!", self.0, self.1)
            }
        }
        Shown(Description(table.name(self.caster), Cast(self.skill, self.target)))
    }

    /// The points that have other stones than before; `None` for skills that are not about single points.
    fn affected(&self) -> Option<impl Serialize> {
        #[derive(Serialize)]
        struct Affected {
            row: u8,
            col: u8,
            before: &'static str,
            after: &'static str,
        }
        if !matches!(self.skill, Skill::Uproot | Skill::Sandstorm) {
            return None;
        }
        let game = self.game;
        Some(Seq(move || {
            let was = game.undo.get(usize::from(game.moves) % REWIND_MOVES).copied();
            was.into_iter().flat_map(Square::stones).filter_map(|(at, before)| {
                let after = game.board.stone(at);
                let (row, col) = (at.row(), at.col());
                (before != after).then(|| Affected { row, col, before: symbol(before), after: symbol(after) })
            })
        }))
    }
}

/// The board, a sign for each point.
pub(super) fn board(game: &Gomoku) -> impl Serialize {
    rows(|at| grid_symbol(game, at))
}

/// Writes what a skill did, if the last move was a skill.
pub(super) fn effect<M: SerializeMap>(game: &Gomoku, table: Table<'_>, out: &mut M) -> Result<bool, M::Error> {
    let Some(effect) = Effect::of(game) else { return Ok(false) };
    out.serialize_entry("skill", effect.skill.name())?;
    out.serialize_entry("agentId", table.id(effect.caster))?;
    out.serialize_entry("agentName", table.name(effect.caster))?;
    out.serialize_entry("target", &effect.target)?;
    out.serialize_entry("description", &effect.description(table))?;
    out.serialize_entry("animationDurationMs", &ANIMATION_MS)?;
    if let Some(affected) = effect.affected() {
        out.serialize_entry("affectedCells", &affected)?;
    }
    Ok(true)
}

/// All points, row by row.
fn rows<T: Serialize, F: Fn(Point) -> T + Copy>(show: F) -> impl Serialize {
    Seq(move || {
        let row = move |row| Seq(move || (0..SIDE).filter_map(move |col| Point::new(row, col)).map(show));
        (0..SIDE).map(row)
    })
}

fn grid_symbol(game: &Gomoku, at: Point) -> &'static str {
    match game.board.stone(at) {
        Some(0) if game.is_sealed(at) => "🔒",
        Some(_) if game.is_sealed(at) => "🔐",
        None if game.is_quiet(at, 0) || game.is_quiet(at, 1) => "🚫",
        stone => symbol(stone),
    }
}

/// Writes what both players may know.
pub(super) fn view<M: SerializeMap>(game: &Gomoku, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Sealed {
        row: u8,
        col: u8,
        owner: u8,
        expires_at_move: u16,
    }
    #[derive(Serialize)]
    struct Quiet {
        row: u8,
        col: u8,
        owner: u8,
    }
    let sealed = Seq(|| {
        game.seals().map(|seal| Sealed {
            row: seal.at.row(),
            col: seal.at.col(),
            owner: colour(Some(seal.owner)),
            expires_at_move: seal.expires,
        })
    });
    let quiet = Seq(|| {
        let empty = Point::all().filter(|&at| game.board.stone(at).is_none());
        let owners = empty.flat_map(|at| [(at, 0), (at, 1)]).filter(|&(at, owner)| game.is_quiet(at, owner));
        owners.map(|(at, owner)| Quiet { row: at.row(), col: at.col(), owner: colour(Some(owner)) })
    });
    let placed = match game.last_deed() {
        Some((_, Deed::Place(at))) => Some(at),
        _ => None,
    };
    let effect = Effect::of(game);
    out.serialize_entry("board", &rows(|at| colour(game.board.stone(at))))?;
    out.serialize_entry("energy", &game.energy)?;
    out.serialize_entry("currentPlayer", &game.end.is_none().then(|| table.id(game.mover())))?;
    out.serialize_entry("sealedStones", &sealed)?;
    out.serialize_entry("quietZoneCells", &quiet)?;
    out.serialize_entry("lastMove", &placed)?;
    out.serialize_entry("lastSkillEffect", &effect.as_ref().map(|effect| LastSkill { effect, table }))?;
    out.serialize_entry("animationDurationMs", &effect.as_ref().map_or(0, |_| ANIMATION_MS))?;
    Ok(())
}

struct LastSkill<'a> {
    effect: &'a Effect<'a>,
    table: Table<'a>,
}

impl Serialize for LastSkill<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { effect, table } = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("skill", effect.skill.name())?;
        map.serialize_entry("casterId", table.id(effect.caster))?;
        map.serialize_entry("target", &effect.target)?;
        map.serialize_entry("description", &effect.description(table))?;
        if let Some(affected) = effect.affected() {
            map.serialize_entry("affectedCells", &affected)?;
        }
        map.end()
    }
}
