//! What is told of a game: to its players and to who watches, and as SGF to whoever wants to keep it.

use core::fmt::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::board::{Point, SIDE, Stones};
use super::{Deed, Go, KOMI};
use crate::games::{Game, Part, Seat, Table, Viewer};
use crate::json::{Map, Seq, Shown};

/// A move as it is sent.
#[derive(Serialize)]
pub(super) struct Sent {
    #[serde(rename = "move")]
    made: Shown<Deed>,
}

impl Sent {
    pub fn of(deed: Deed) -> Self {
        Self { made: Shown(deed) }
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Deed::Pass => f.write_str("pass"),
            Deed::Place(at) => write!(f, "{at}"),
        }
    }
}

/// What a seat may do, but for what was there before.
pub(super) fn legal(game: &Go, seat: Seat) -> impl Iterator<Item = Deed> {
    let is_legal = move |at: &Point| game.stones.after(seat, *at).is_some();
    [Deed::Pass].into_iter().chain(game.stones.empty().iter().filter(is_legal).map(Deed::Place))
}

fn colour(seat: Seat) -> &'static str {
    if seat == 0 { "black" } else { "white" }
}

/// Where the stones are, and how many were taken.
pub(super) fn sketch<M: SerializeMap>(game: &Go, out: &mut M) -> Result<(), M::Error> {
    struct Board<'a>(&'a Stones);
    impl Serialize for Board<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            board(self.0, serializer)
        }
    }
    out.serialize_entry("board", &Board(&game.stones))?;
    out.serialize_entry("captures", &Map(|| (0..2).map(colour).zip(game.taken)))
}

/// The members of a view.
pub(super) fn view<M: SerializeMap>(game: &Go, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
    #[derive(Serialize)]
    struct Last<'a> {
        player: &'a str,
        #[serde(rename = "move")]
        made: Shown<Deed>,
    }
    let mover = game.to_move().alone();
    out.serialize_entry("players", &Map(|| (0..2).map(|seat| (colour(seat), table.id(seat)))))?;
    if let Viewer::Seat(seat) = viewer {
        out.serialize_entry("your_color", colour(seat))?;
    }
    out.serialize_entry("turn", &mover.map(colour))?;
    out.serialize_entry("to_move", &mover.map(|seat| table.id(seat)))?;
    out.serialize_entry("move_number", &game.moves)?;
    out.serialize_entry("komi", &KOMI)?;
    out.serialize_entry("captures", &Map(|| (0..2).map(colour).zip(game.taken)))?;
    out.serialize_entry("points", &Map(|| (0..2).map(colour).zip(game.points())))?;
    let last = game.last().map(|(seat, deed)| Last { player: table.id(seat), made: Shown(deed) });
    out.serialize_entry("last_move", &last)?;
    if let Some(seat) = mover.filter(|&seat| viewer == Viewer::Seat(seat)) {
        out.serialize_entry("legal_moves", &Seq(|| legal(game, seat).map(Shown)))?;
    }
    out.serialize_entry("ended_by", &game.end.map(|end| end.cause.name()))
}

/// Row by row from the ninth: 0 for nobody, 1 for Black, 2 for White.
pub(super) fn board<S: Serializer>(stones: &Stones, serializer: S) -> Result<S::Ok, S::Error> {
    let sign = |at: Point| stones.at(at).map_or(0, |seat| seat.saturating_add(1));
    let row = |row: u8| Seq(move || (0..SIDE).filter_map(move |column| Point::new(column, row)).map(sign));
    Seq(|| (0..SIDE).rev().map(row)).serialize(serializer)
}

/// A part of the SGF of a match.
pub(super) fn sgf(game: &Go, part: Part<'_>, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match part {
        Part::Head(title) => {
            write!(f, "(;GM[1]FF[4]CA[UTF-8]AP[LeagueBox]SZ[{SIDE}]KM[{KOMI}]RU[Chinese]GN[{}]", Quoted(title))?;
            write!(f, "PB[{}]PW[{}]", Quoted(table.name(0)), Quoted(table.name(1)))?;
            let Some(end) = game.end else { return f.write_char('\n') };
            let [black, white] = end.points;
            let winner = game.standing().and_then(|standing| standing.winner());
            let letter = if winner == Some(0) { 'B' } else { 'W' };
            match end.cause {
                _ if winner.is_none() => f.write_str("RE[0]\n"),
                super::Cause::Forfeit(_) => writeln!(f, "RE[{letter}+F]"),
                _ => writeln!(f, "RE[{letter}+{}]", black.abs_diff(white)),
            }
        }
        Part::Move(number) => {
            let Some((seat, deed)) = game.last() else { return Ok(()) };
            write!(f, ";{}[", if seat == 0 { 'B' } else { 'W' })?;
            if let Deed::Place(at) = deed {
                // Columns and rows are letters from the top left, and there is an i.
                let letter = |place: u8| char::from(b'a'.saturating_add(place));
                write!(f, "{}{}", letter(at.column()), letter(SIDE.saturating_sub(1).saturating_sub(at.row())))?;
            }
            f.write_str(if number.is_multiple_of(10) { "]\n" } else { "]" })
        }
        Part::End => f.write_str(")\n"),
    }
}

/// What may stand between the brackets of SGF.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars().filter(|c| !c.is_control()) {
            if matches!(c, ']' | '\\' | ':') {
                f.write_char('\\')?;
            }
            f.write_char(c)?;
        }
        Ok(())
    }
}
