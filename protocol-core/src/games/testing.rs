//! What the tests of every game share: a table with players, and what a game tells them, as text and JSON.

extern crate std;
use std::fmt;
use std::ops::ControlFlow;
use std::string::{String, ToString};
use std::vec::Vec;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Game, Illegal, MoveSink, Seat, Sitter, Table, Viewer};
use crate::fair::Draws;

/// Players named as in the examples of the League of Agents specification.
pub(crate) const AGENTS: Table<'static> = Table(&[
    Sitter { id: "uuid-1", name: "AgentAlpha", note: "", said: "" },
    Sitter { id: "uuid-2", name: "AgentBeta", note: "", said: "" },
    Sitter { id: "uuid-3", name: "AgentGamma", note: "", said: "" },
    Sitter { id: "uuid-4", name: "AgentDelta", note: "", said: "" },
    Sitter { id: "uuid-5", name: "AgentEpsilon", note: "", said: "" },
    Sitter { id: "uuid-6", name: "AgentZeta", note: "", said: "" },
]);

/// Players as league.v2 knows them.
pub(crate) const PLAYERS: Table<'static> = Table(&[
    Sitter { id: "P01", name: "", note: "", said: "" },
    Sitter { id: "P02", name: "", note: "", said: "" },
    Sitter { id: "P03", name: "", note: "", said: "" },
    Sitter { id: "P04", name: "", note: "", said: "" },
    Sitter { id: "P05", name: "", note: "", said: "" },
    Sitter { id: "P06", name: "", note: "", said: "" },
]);

/// Plays a move given as text.
pub(crate) fn play(game: &mut impl Game, seat: Seat, wanted: &str, draws: &mut Draws) -> Result<(), Illegal> {
    game.play(seat, crate::json::parse(wanted.as_bytes()).unwrap(), draws)
}

/// The first `most` of the moves a seat may make, as text.
pub(crate) fn moves_of(game: &impl Game, seat: Seat, most: usize) -> Vec<String> {
    struct Few(Vec<String>, usize);
    impl MoveSink for Few {
        fn take(&mut self, legal: &str) -> ControlFlow<()> {
            self.0.push(legal.into());
            if self.0.len() < self.1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }
    let mut sink = Few(Vec::new(), most);
    game.legal_moves(seat, &mut sink);
    sink.0
}

/// What a viewer sees.
pub(crate) fn view<G: Game>(game: &G, viewer: Viewer, table: Table<'_>) -> Value {
    struct View<'a, G>(&'a G, Viewer, Table<'a>);
    impl<G: Game> Serialize for View<'_, G> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            crate::protocols::write_view(self.0, self.1, self.2, &mut map)?;
            map.end()
        }
    }
    serde_json::to_value(View(game, viewer, table)).unwrap()
}

/// The result as it is written, members in order.
pub(crate) fn result<G: Game>(game: &G, table: Table<'_>) -> String {
    struct Told<'a, G>(&'a G, Table<'a>);
    impl<G: Game> Serialize for Told<'_, G> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            self.0.result(self.1, &mut map)?;
            map.end()
        }
    }
    serde_json::to_string(&Told(game, table)).unwrap()
}

/// The last effect; `None` if there was none.
pub(crate) fn effect<G: Game>(game: &G, table: Table<'_>) -> Option<Value> {
    struct Effect<'a, G>(&'a G, Table<'a>);
    impl<G: Game> Serialize for Effect<'_, G> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            let had_one = self.0.effect(self.1, &mut map)?;
            map.serialize_entry("had one", &had_one)?;
            map.end()
        }
    }
    let mut effect = serde_json::to_value(Effect(game, table)).unwrap();
    let members = effect.as_object_mut().unwrap();
    let had_one = members.remove("had one") == Some(Value::Bool(true));
    assert_eq!(had_one, !members.is_empty());
    had_one.then_some(effect)
}

/// A move a seat has just made, as the film keeps it.
pub(crate) fn recorded<G: Game>(game: &G, seat: Seat, made: &str) -> Value {
    struct Recorded<'a, G>(&'a G, Seat, crate::json::Value<'a>);
    impl<G: Game> Serialize for Recorded<'_, G> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.recorded(self.1, self.2, serializer)
        }
    }
    let mut room = std::vec![0; 512];
    let mut sink = crate::json::Slice::new(&mut room);
    crate::json::write(&Recorded(game, seat, crate::json::parse(made.as_bytes()).unwrap()), &mut sink).unwrap();
    serde_json::from_slice(sink.written()).unwrap()
}

/// The last move of a seat.
pub(crate) fn last_move<G: Game>(game: &G, seat: Seat) -> Value {
    game.last_move(seat, serde_json::value::Serializer).unwrap()
}

/// What is said into a formatter.
pub(crate) fn said(say: impl Fn(&mut fmt::Formatter<'_>) -> fmt::Result) -> String {
    struct Said<F>(F);
    impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Said<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0(f)
        }
    }
    Said(say).to_string()
}
