//! A game as somebody sees it who comes and asks, in whatever protocol: how it stands, whether it is its move, and which moves it has.
//! Legal moves are written one by one as the game lists them, and never held: a hand can have hundreds.

use core::cell::{Cell, RefCell};
use core::ops::ControlFlow;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::write_view;
use crate::games::{AnyGame, Game, MoveSink, Seat, Table, Viewer};
use crate::ids::MatchId;
use crate::json::{Raw, Seq};
use crate::referee::Phase;
use crate::time::Now;
use crate::venue::{self, Venue};

/// A game as somebody sees it now. A copy: what is being written stays as it was while the game goes on.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub id: MatchId,
    pub game: AnyGame,
    pub viewer: Viewer,
    /// Whether it is the viewer's move.
    pub is_turn: bool,
    pub is_over: bool,
    /// How many seconds it has for that.
    pub seconds: Option<u32>,
}

impl Sight {
    /// The viewer's seat, if it has one and may move or act.
    fn mover(&self) -> Option<Seat> {
        let may = |seat: &Seat| self.is_turn || self.game.may_act().has(*seat);
        if let Viewer::Seat(seat) = self.viewer { Some(seat).filter(may) } else { None }
    }
}

/// Another number whenever the game has changed.
pub(super) fn version(game: &AnyGame) -> u16 {
    game.turn().saturating_add(game.acts())
}

impl Venue<'_> {
    /// A match, as the player on a line sees it, or anybody else.
    pub(super) fn sight(&self, now: Now, id: MatchId, line: Option<u16>) -> Option<Sight> {
        let lines = self.seated_at(id);
        let seat = line.and_then(|line| (0..).zip(&lines).find(|(_, (_, other))| *other == line)).map(|(seat, _)| seat);
        let viewer = seat.map_or(Viewer::Spectator, Viewer::Seat);
        let Some(table) = self.table(id) else {
            let game = self.recall(id)?;
            return Some(Sight { id, game, viewer, is_turn: false, is_over: true, seconds: None });
        };
        let (play, is_turn) = (&table.play, seat.is_some_and(|seat| owes_a_move(table, seat)));
        let seconds = seat.filter(|_| is_turn).and_then(|seat| play.left(seat, now.ms)).map(|left| left / 1000);
        Some(Sight { id, game: play.game().clone(), viewer, is_turn, is_over: false, seconds })
    }

    /// Whether the player on a line may move now.
    pub(super) fn may_move(&self, line: u16) -> bool {
        self.table_of(line).is_some_and(|table| table.seat_of(line).is_some_and(|seat| owes_a_move(table, seat)))
    }

    /// The moves that a viewer has, as far as they are listed: so many at most.
    pub(super) fn moves_in<'a>(&'a self, sight: &'a Sight, limit: Limit<'a>) -> impl Serialize + 'a {
        let (game, seat) = (&sight.game, sight.mover());
        let stands = |table: &&venue::Table| game.position().is_some() && table.play.game().turn() == game.turn();
        let table = self.table(sight.id).filter(stands).zip(seat);
        let line = table.and_then(|(table, seat)| table.players().get(usize::from(seat)).copied());
        LegalMoves { game, seat, table: line.map(|line| (self, line)), limit }
    }
}

/// Whether the player at a seat may move now.
fn owes_a_move(table: &venue::Table, seat: Seat) -> bool {
    table.play.phase() != Phase::WaitingForPlayers && table.play.hears(seat)
}

/// How moves are listed.
#[derive(Clone, Copy)]
pub(super) struct Limit<'a> {
    /// Whether each is put into an array.
    pub is_wrapped: bool,
    pub at_most: u16,
    /// Says afterwards whether there are more.
    pub has_more: &'a Cell<bool>,
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

/// The moves that a seat has.
struct LegalMoves<'a, 'm, G> {
    game: &'a G,
    /// `None` where it has none now.
    seat: Option<Seat>,
    /// Where positions must not come again: the player's line at the table that knows which have been there.
    table: Option<(&'a Venue<'m>, u16)>,
    limit: Limit<'a>,
}

impl<G: Game> Serialize for LegalMoves<'_, '_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Into<'a, S: SerializeSeq> {
            seq: &'a RefCell<S>,
            limit: Limit<'a>,
            result: Result<(), S::Error>,
        }
        impl<S: SerializeSeq> MoveSink for Into<'_, S> {
            fn take(&mut self, legal: &str) -> ControlFlow<()> {
                let Some(left) = self.limit.at_most.checked_sub(1) else {
                    self.limit.has_more.set(true);
                    return ControlFlow::Break(());
                };
                self.limit.at_most = left;
                let (mut seq, legal) = (self.seq.borrow_mut(), Raw(legal));
                self.result =
                    if self.limit.is_wrapped { seq.serialize_element(&[legal]) } else { seq.serialize_element(&legal) };
                if self.result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
        }
        let seq = RefCell::new(serializer.serialize_seq(None)?);
        self.limit.has_more.set(false);
        let mut into = Into { seq: &seq, limit: self.limit, result: Ok(()) };
        match (self.seat, self.table) {
            (Some(_), Some((venue, line))) => venue.legal_moves(line, &mut into),
            (Some(seat), None) => self.game.legal_moves(seat, &mut into),
            (None, _) => {}
        }
        into.result?;
        seq.into_inner().end()
    }
}
