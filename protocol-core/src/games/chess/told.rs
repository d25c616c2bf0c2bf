//! What is told of a game: to its players and to who watches, and as PGN to whoever wants to keep it.

use core::fmt::{self, Write};
use core::ops::ControlFlow;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::board::{Board, Colour, Kind, Square};
use super::san::San;
use super::{Chess, End};
use crate::games::{Game, Part, Seat, Table, Viewer};
use crate::json::{Map, Seq, Shown};

/// A move as it is sent.
#[derive(Serialize)]
pub(super) struct Sent {
    #[serde(rename = "move")]
    made: Shown<San>,
}

impl Sent {
    pub fn of(san: San) -> Self {
        Self { made: Shown(san) }
    }
}

/// The whole FEN.
struct Fen<'a>(&'a Chess);

impl fmt::Display for Fen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Chess { board, quiet, plies, .. } = self.0;
        write!(f, "{board} {quiet} {}", (plies / 2).saturating_add(1))
    }
}

/// What a side has taken, the dearest first: "QRNPP".
struct Taken([u8; 5]);

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dear = Kind::ALL.into_iter().zip(self.0).rev();
        dear.flat_map(|(kind, count)| (0..count).map(move |_| kind.letter()))
            .try_for_each(|letter| f.write_char(letter))
    }
}

/// Every legal move, one by one as it is found.
struct Legal<'a>(&'a Board);

impl Serialize for Legal<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut moves = serializer.serialize_seq(None)?;
        let failed = self.0.legal(|made| match moves.serialize_element(&Shown(San::of(self.0, made).0)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failed) => ControlFlow::Break(failed),
        });
        match failed {
            ControlFlow::Continue(()) => moves.end(),
            ControlFlow::Break(failed) => Err(failed),
        }
    }
}

/// Where the pieces are.
pub(super) fn sketch<M: SerializeMap>(game: &Chess, out: &mut M) -> Result<(), M::Error> {
    out.serialize_entry("fen", &Shown(Fen(game)))
}

/// The members of a view.
pub(super) fn view<M: SerializeMap>(
    game: &Chess,
    viewer: Viewer,
    table: Table<'_>,
    out: &mut M,
) -> Result<(), M::Error> {
    #[derive(Serialize)]
    struct Last<'a> {
        player: &'a str,
        san: Shown<San>,
        from: Shown<Square>,
        to: Shown<Square>,
    }
    let colour = |seat: Seat| Colour::of(seat).name();
    let mover = game.to_move().alone();
    sketch(game, out)?;
    out.serialize_entry("players", &Map(|| (0..2).map(|seat| (colour(seat), table.id(seat)))))?;
    if let Viewer::Seat(seat) = viewer {
        out.serialize_entry("your_color", colour(seat))?;
    }
    out.serialize_entry("turn", &mover.map(colour))?;
    out.serialize_entry("to_move", &mover.map(|seat| table.id(seat)))?;
    out.serialize_entry("check", &game.board.in_check())?;
    let last = game.last().map(|(seat, san)| Last {
        player: table.id(seat),
        san: Shown(san),
        from: Shown(san.made.from),
        to: Shown(san.made.to),
    });
    out.serialize_entry("last_move", &last)?;
    let captured = || (0..2).zip(game.taken).map(|(seat, taken)| (colour(seat), Shown(Taken(taken))));
    out.serialize_entry("captured", &Map(captured))?;
    if mover.is_some_and(|seat| viewer == Viewer::Seat(seat)) {
        out.serialize_entry("legal_moves", &Legal(&game.board))?;
    }
    out.serialize_entry("ended_by", &game.end.map(End::name))
}

/// The letters of a FEN, row by row from the eighth rank; a point for nobody.
pub(super) fn board<S: Serializer>(board: &Board, serializer: S) -> Result<S::Ok, S::Error> {
    let letter = |at| board.piece(at).map_or('.', |piece| piece.letter());
    Seq(|| Square::rows().map(|row| Seq(move || row.clone().map(letter)))).serialize(serializer)
}

/// A part of the PGN of a match.
pub(super) fn pgn(game: &Chess, part: Part<'_>, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let result = match (game.winner(), game.end) {
        (Some(0), _) => "1-0",
        (Some(_), _) => "0-1",
        (None, Some(_)) => "1/2-1/2",
        (None, None) => "*",
    };
    match part {
        Part::Head(title) => {
            let termination = match game.end {
                Some(End::Forfeit(_)) => "abandoned",
                Some(_) => "normal",
                None => "unterminated",
            };
            for (name, value) in [
                ("Event", "LeagueBox"),
                ("Site", "?"),
                ("Date", "????.??.??"),
                ("Round", title),
                ("White", table.name(0)),
                ("Black", table.name(1)),
                ("Result", result),
                ("Termination", termination),
            ] {
                writeln!(f, "[{name} \"{}\"]", Quoted(value))?;
            }
            f.write_char('\n')
        }
        Part::Move(number) => {
            if !number.is_multiple_of(2) {
                write!(f, "{}. ", number.div_ceil(2))?;
            }
            if let Some(san) = game.last {
                write!(f, "{san}")?;
            }
            // Lines are to have less than 80 characters, and three moves of both always have.
            f.write_char(if number.is_multiple_of(6) { '\n' } else { ' ' })
        }
        Part::End => match game.end {
            Some(end) => writeln!(f, "{{{}}} {result}", end.name()),
            None => writeln!(f, "{result}"),
        },
    }
}

/// What may stand between the quotes of PGN.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars().filter(|c| !c.is_control()) {
            if matches!(c, '"' | '\\') {
                f.write_char('\\')?;
            }
            f.write_char(c)?;
        }
        Ok(())
    }
}
