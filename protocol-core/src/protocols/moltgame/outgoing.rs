//! What is answered, the members in the order of the specification. Legal moves are written one by one as the game lists them,
//! and never held: a hand can have hundreds.

use core::cell::RefCell;
use core::ops::ControlFlow;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{Trouble, game_id, games};
use crate::games::{Game, MoveSink, Seat, Table, Viewer};
use crate::json::{Raw, Seq};
use crate::protocols::write_view;
use crate::uuid::Uuid;
use crate::venue::Venue;

/// The answer to what is refused.
#[derive(Serialize)]
pub(super) struct Refused {
    success: bool,
    error: &'static str,
    hint: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    room_id: Option<Uuid>,
}

impl Refused {
    pub fn new(trouble: Trouble, room_id: Option<Uuid>) -> Self {
        let (error, hint) = trouble.words();
        Self { success: false, error, hint, room_id }
    }
}

/// The answer to a registration.
#[derive(Serialize)]
pub(super) struct Registered<K> {
    pub agent: NewAgent<K>,
}

/// Who is in.
#[derive(Serialize)]
pub(super) struct NewAgent<K> {
    pub agent_id: Uuid,
    pub api_key: K,
}

/// What is told of an agent.
#[derive(Serialize)]
pub(super) struct Agent<'a> {
    pub agent_id: Uuid,
    pub name: &'a str,
    pub description: &'a str,
    pub rating: u16,
    pub games_played: u16,
    pub room_id: Option<Uuid>,
}

/// The games there are.
pub(super) struct Games;

impl Serialize for Games {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Listed {
            id: Uuid,
            name: &'static str,
            engine_type: &'static str,
            min_players: u8,
            max_players: u8,
            skill_url: Url,
        }
        let listed = || {
            games().map(|(number, kind, name)| Listed {
                id: game_id(number),
                name,
                engine_type: kind.rules().name,
                min_players: *kind.rules().seats.start(),
                max_players: *kind.rules().seats.end(),
                skill_url: Url(kind.rules().name),
            })
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("games", &Seq(listed))?;
        map.end()
    }
}

/// Where a game's page is.
struct Url(&'static str);

impl Serialize for Url {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("/games/{}.md", self.0))
    }
}

/// A room that somebody has come into, or left.
#[derive(Serialize)]
pub(super) struct Room<P> {
    pub room_id: Uuid,
    pub game_id: Uuid,
    pub status: &'static str,
    pub players: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<bool>,
}

/// The answer to a heartbeat.
#[derive(Serialize)]
pub(super) struct Pulse<S, M> {
    pub your_turn: bool,
    pub game_state: S,
    pub legal_moves: M,
    pub game_over: bool,
    pub room_id: Uuid,
    pub state_version: u16,
    pub seconds_left: Option<u32>,
}

/// All that may be seen of a room.
#[derive(Serialize)]
pub(super) struct Look<P, S> {
    pub room_id: Uuid,
    pub game_id: Uuid,
    pub players: P,
    pub status: &'static str,
    pub state_version: u16,
    pub engine_type: &'static str,
    pub game_state: Option<S>,
}

/// What a game looks like to somebody, and how it stands when it is over.
pub(super) struct State<'a, G> {
    pub game: &'a G,
    pub viewer: Viewer,
    pub table: Table<'a>,
}

impl<G: Game> Serialize for State<'_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Placed<'a> {
            agent_id: &'a str,
            score: i32,
            place: u8,
        }
        let Self { game, viewer, table } = *self;
        let mut map = serializer.serialize_map(None)?;
        if let Viewer::Seat(seat) = viewer {
            map.serialize_entry("your_seat", &seat)?;
        }
        // Not `players`: some games have a member of that name, and no object has two.
        map.serialize_entry("agents", &Seq(|| (0..game.seats()).map(|seat| table.id(seat))))?;
        write_view(game, viewer, table, &mut map)?;
        if let Some(standing) = game.standing() {
            let placed = move |(seat, (score, place))| Placed { agent_id: table.id(seat), score, place };
            let seats = || (0..game.seats()).zip(standing.scores.into_iter().zip(standing.places)).map(placed);
            map.serialize_entry("standing", &Seq(seats))?;
        }
        map.end()
    }
}

/// The moves that a seat has, as an array of arrays.
pub(super) struct LegalMoves<'a, 'm, G> {
    pub game: &'a G,
    /// `None` where it has none now.
    pub seat: Option<Seat>,
    /// Where positions must not come again: the player's line at the table that knows which have been there.
    pub table: Option<(&'a Venue<'m>, u16)>,
    /// Whether a move is no array by itself.
    pub is_wrapped: bool,
}

impl<G: Game> Serialize for LegalMoves<'_, '_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Into<'a, S: SerializeSeq> {
            seq: &'a RefCell<S>,
            is_wrapped: bool,
            result: Result<(), S::Error>,
        }
        impl<S: SerializeSeq> MoveSink for Into<'_, S> {
            fn take(&mut self, legal: &str) -> ControlFlow<()> {
                let (mut seq, legal) = (self.seq.borrow_mut(), Raw(legal));
                self.result =
                    if self.is_wrapped { seq.serialize_element(&[legal]) } else { seq.serialize_element(&legal) };
                if self.result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
        }
        let seq = RefCell::new(serializer.serialize_seq(None)?);
        let mut into = Into { seq: &seq, is_wrapped: self.is_wrapped, result: Ok(()) };
        match (self.seat, self.table) {
            (Some(_), Some((venue, line))) => venue.legal_moves(line, &mut into),
            (Some(seat), None) => self.game.legal_moves(seat, &mut into),
            (None, _) => {}
        }
        into.result?;
        seq.into_inner().end()
    }
}
