//! One match as whoever watches sees it, at one moment. What moves is held, in the few bytes a game takes, so that a page of
//! it is of one piece however long it takes to be sent: a map of resource-rush is 25 KB, and the drones go on meanwhile.

use core::fmt;

use heapless::{String, Vec};
use protocol_core::games::{self, AnyGame, Game, MAX_SEATS, Seat, Seats, Sitter, Viewer};
use protocol_core::hall::{self, Hall, LastMove};
use protocol_core::json::{self, Full, Joined, Seq, Shown, Sink};
use protocol_core::referee::Phase;
use protocol_core::wire::league_v2::outgoing::MatchId;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A match at one moment.
pub(crate) struct Moment {
    pub id: MatchId,
    state: &'static str,
    /// Where it stands, while it is being played.
    pub phase: Option<Phase>,
    /// As it stands; none before it has begun.
    game: Option<AnyGame>,
    thinking: Seats,
    /// How long each seat has left.
    left_ms: [Option<u32>; MAX_SEATS],
}

impl Moment {
    /// A match of this league now.
    pub fn of<const P: usize, const M: usize, const R: usize, const L: usize>(
        hall: &Hall<P, M, R, L>,
        id: MatchId,
        now_ms: u64,
    ) -> Option<Self> {
        hall.places(id)?;
        let mut moment = Self {
            id,
            state: "scheduled",
            phase: None,
            game: hall.recall(id),
            thinking: Seats::NONE,
            left_ms: [None; MAX_SEATS],
        };
        if moment.game.is_some() {
            moment.state = "over";
        } else if let Some(table) = hall.table(id) {
            (moment.state, moment.phase) = ("running", Some(table.play.phase()));
            moment.game = Some(table.play.game().clone());
            moment.thinking = table.play.thinking();
            for (seat, left) in (0..).zip(&mut moment.left_ms) {
                *left = table.play.deadline(seat).map(|at| at.saturating_sub(now_ms).min(u32::MAX.into()) as u32);
            }
        }
        Some(moment)
    }

    /// A match that is over, as it stood when it was being played.
    pub fn replayed(id: MatchId, game: AnyGame) -> Self {
        let (state, phase) = match game.standing() {
            Some(_) => ("over", Phase::Finished),
            None => ("running", Phase::CollectingChoices),
        };
        let thinking = game.to_move();
        Self { id, state, phase: Some(phase), game: Some(game), thinking, left_ms: [None; MAX_SEATS] }
    }

    /// On one line, as the live feed tells it.
    pub fn write_line<const P: usize, const M: usize, const R: usize, const L: usize>(
        &self,
        hall: &Hall<P, M, R, L>,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        #[derive(Serialize)]
        struct Head {
            match_id: Shown<MatchId>,
            round_id: u16,
        }
        #[derive(Serialize)]
        struct Tail<G> {
            result: Option<G>,
        }
        let head = Head { match_id: Shown(self.id), round_id: self.id.round };
        json::write(&Joined(head, Joined(self.now(hall), Tail { result: hall.game_result(self.id) })), sink)
    }

    /// How it stands, and who thinks.
    pub fn now<'a, const P: usize, const M: usize, const R: usize, const L: usize>(
        &'a self,
        hall: &'a Hall<P, M, R, L>,
    ) -> impl Serialize + 'a {
        #[derive(Serialize)]
        struct Now<S> {
            state: &'static str,
            turn: u16,
            players: S,
        }
        #[derive(Serialize)]
        struct Thinks {
            thinking: bool,
            deadline_ms: Option<u32>,
            score: i32,
        }
        let thinks = move |seat: Seat| Thinks {
            thinking: self.thinking.has(seat),
            deadline_ms: self.left_ms.get(usize::from(seat)).copied().flatten(),
            score: self.score(seat),
        };
        let seated = move |(seat, sitter)| Joined(sitter, thinks(seat));
        Now {
            state: self.state,
            turn: self.game.as_ref().map_or(0, Game::turn),
            players: Seq(move || (0..).zip(hall.sitters(self.id)).map(seated)),
        }
    }

    /// The last move of a seat.
    pub fn last_move(&self, seat: Option<Seat>) -> impl Serialize + '_ {
        seat.zip(self.game.as_ref()).map(|(seat, game)| LastMove(game, seat))
    }

    fn score(&self, seat: Seat) -> i32 {
        let Some(game) = &self.game else { return 0 };
        match game.standing() {
            Some(standing) => standing.scores.get(usize::from(seat)).copied().unwrap_or(0),
            None => game.score(seat),
        }
    }

    /// What anybody may see of a game that is being played: what everybody did last, in words, and the whole of it.
    pub fn view<'a, const P: usize, const M: usize, const R: usize, const L: usize>(
        &'a self,
        hall: &'a Hall<P, M, R, L>,
    ) -> impl Serialize + 'a {
        #[derive(Serialize)]
        struct Shows<A, S, V> {
            actions: Option<A>,
            summary: Option<S>,
            view: Option<V>,
        }
        let game = self.game.as_ref().filter(|_| self.phase.is_some());
        let who = move || Who::of(hall, self.id);
        let action = move |game, seat| Shown(Words(move |f: &mut fmt::Formatter<'_>| action(game, &who(), seat, f)));
        let actions = game.map(|game: &AnyGame| Seq(move || (0..game.seats()).map(move |seat| action(game, seat))));
        let summary = game
            .map(|game| Shown(Words(move |f: &mut fmt::Formatter<'_>| who().at_table(|table| game.summary(table, f)))));
        Shows { actions, summary, view: game.map(|game| View { game, who: who() }) }
    }
}

fn action(game: &AnyGame, who: &Who<'_>, seat: Seat, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    who.at_table(|table| game.action(seat, table, f))
}

/// What a function says.
struct Words<F>(F);

impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Words<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

/// Who sits at a table: ids and names, by seat.
struct Who<'a>(Vec<(String<8>, &'a str), MAX_SEATS>);

impl<'a> Who<'a> {
    fn of<const P: usize, const M: usize, const R: usize, const L: usize>(
        hall: &'a Hall<P, M, R, L>,
        id: MatchId,
    ) -> Self {
        let named = |sitter: hall::Sitter<'a>| {
            let mut id = String::new();
            let _ = fmt::write(&mut id, format_args!("{}", sitter.player_id.0));
            (id, sitter.display_name)
        };
        Self(hall.sitters(id).take(MAX_SEATS).map(named).collect())
    }

    fn at_table<T>(&self, look: impl FnOnce(games::Table<'_>) -> T) -> T {
        let sitters: Vec<Sitter<'_>, MAX_SEATS> =
            self.0.iter().map(|(id, name)| Sitter { id, name, ..Sitter::default() }).collect();
        look(games::Table(&sitters))
    }
}

/// What a spectator sees.
struct View<'a> {
    game: &'a AnyGame,
    who: Who<'a>,
}

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.who.at_table(|table| self.game.view(Viewer::Spectator, table, &mut map))?;
        map.end()
    }
}
