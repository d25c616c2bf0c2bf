//! One match as whoever watches sees it, at one moment. What moves is held, in the few bytes a game takes, so that a page of
//! it is of one piece however long it takes to be sent: a map of resource-rush is 25 KB, and the drones go on meanwhile.

use core::fmt;
use core::num::NonZeroU32;

use protocol_core::games::{self, AnyGame, Game, MAX_SEATS, Seat, Seats, Viewer};
use protocol_core::ids::MatchId;
use protocol_core::json::{self, Full, Joined, Seq, Shown, Sink};
use protocol_core::protocols;
use protocol_core::referee::Phase;
use protocol_core::venue::{LastMove, Venue};
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
    /// Whether that is all of it. What the venue recalls of a match that is over may lack its board.
    is_whole: bool,
    thinking: Seats,
    /// How long each seat has left.
    left: [Left; MAX_SEATS],
    /// Who looks.
    viewer: Viewer,
}

/// The milliseconds somebody has left, if there is a limit: one more than these, so that they take no more than a number.
#[derive(Clone, Copy, Default)]
struct Left(Option<NonZeroU32>);

impl Left {
    fn of(ms: Option<u32>) -> Self {
        Self(ms.map(|ms| NonZeroU32::MIN.saturating_add(ms)))
    }

    fn ms(self) -> Option<u32> {
        self.0.map(|ms| ms.get().saturating_sub(1))
    }
}

impl Moment {
    /// A match of this league, or a game of the ladder, now. Of the latter nothing is known once it is no longer kept.
    pub fn of(venue: &Venue<'_>, id: MatchId, now_ms: u64) -> Self {
        let mut moment = Self {
            id,
            state: if venue.places(id).is_some() { "scheduled" } else { "over" },
            phase: None,
            game: venue.recall(id),
            is_whole: false,
            thinking: Seats::NONE,
            left: [Left::default(); MAX_SEATS],
            viewer: Viewer::Spectator,
        };
        if moment.game.is_some() {
            moment.state = "over";
        } else if let Some(table) = venue.table(id) {
            (moment.state, moment.phase) = ("running", Some(table.play.phase()));
            (moment.game, moment.is_whole) = (Some(table.play.game().clone()), true);
            moment.thinking = table.thinking();
            for (seat, left) in (0..).zip(&mut moment.left) {
                *left = Left::of(table.play.left(seat, now_ms));
            }
            if let Some(left) = table.play.vote_left(now_ms) {
                moment.state = "voting";
                moment.left = [Left::of(Some(left)); MAX_SEATS];
            }
            if let Some(left) = table.starts_in(now_ms) {
                moment.state = "countdown";
                moment.left = [Left::of(Some(u32::try_from(left).unwrap_or(u32::MAX))); MAX_SEATS];
            }
        }
        moment
    }

    /// The game that is played.
    pub fn game_type(&self, venue: &Venue<'_>) -> &'static str {
        self.game.as_ref().map_or(venue.game().rules(), Game::rules).name
    }

    /// A match that is over, as it stood when it was being played.
    pub fn replayed(id: MatchId, game: AnyGame) -> Self {
        let (state, phase) = match game.standing() {
            Some(_) => ("over", Phase::Finished),
            None => ("running", Phase::CollectingChoices),
        };
        let thinking = game.to_move();
        // It is over, so nothing of it is hidden any more.
        let viewer = Viewer::Owner;
        let left = [Left::default(); MAX_SEATS];
        Self { id, state, phase: Some(phase), game: Some(game), is_whole: true, thinking, left, viewer }
    }

    /// From now on it is shown as somebody sees it whom the owner lets see all of it.
    pub fn show_all(&mut self) {
        self.viewer = Viewer::Owner;
    }

    /// Whether all of it is shown, or what the public may see.
    pub fn shows(&self) -> &'static str {
        if self.viewer == Viewer::Owner || self.is_over() { "all" } else { "public" }
    }

    /// Whether it has been played.
    pub fn is_over(&self) -> bool {
        self.state == "over"
    }

    /// The last position of a match that is over, which the venue does not keep.
    pub fn show_end(&mut self, game: AnyGame) {
        (self.game, self.is_whole) = (Some(game), true);
    }

    /// On one line, as the live feed tells it.
    pub fn write_line(&self, venue: &Venue<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
        #[derive(Serialize)]
        struct Head {
            match_id: Shown<MatchId>,
            round_id: u16,
            game_type: &'static str,
        }
        #[derive(Serialize)]
        struct Tail<G> {
            result: Option<G>,
        }
        let head = Head { match_id: Shown(self.id), round_id: self.id.round, game_type: self.game_type(venue) };
        json::write(&Joined(head, Joined(self.now(venue), Tail { result: venue.game_result(self.id) })), sink)
    }

    /// How it stands, and who thinks.
    pub fn now<'a>(&'a self, venue: &'a Venue<'_>) -> impl Serialize + 'a {
        #[derive(Serialize)]
        struct Now<S> {
            state: &'static str,
            turn: u16,
            /// Acts that nobody was asked for, in games that have them.
            #[serde(skip_serializing_if = "Option::is_none")]
            acts: Option<u16>,
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
            deadline_ms: self.left.get(usize::from(seat)).and_then(|left| left.ms()),
            score: self.score(seat),
        };
        let seated = move |(seat, sitter)| Joined(sitter, thinks(seat));
        Now {
            state: self.state,
            turn: self.game.as_ref().map_or(0, Game::turn),
            acts: self.game.as_ref().map(Game::acts).filter(|&acts| acts > 0),
            players: Seq(move || (0..).zip(venue.sitters(self.id)).map(seated)),
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
            // While the audience votes, that is what counts.
            None if game.is_voting() => game.votes(seat).into(),
            None => game.score(seat),
        }
    }

    /// What anybody may see of the game: what everybody did last, in words, and the whole of it.
    pub fn view<'a>(&'a self, venue: &'a Venue<'_>) -> impl Serialize + 'a {
        #[derive(Serialize)]
        struct Shows<A, S, V> {
            actions: Option<A>,
            summary: Option<S>,
            view: Option<V>,
        }
        let game = self.game.as_ref().filter(|_| self.is_whole);
        let party = move || venue.party_of(self.id);
        let action = move |game: &'a AnyGame, seat| {
            Shown(Words(move |f: &mut fmt::Formatter<'_>| game.action(seat, games::Table(&party().sitters()), f)))
        };
        let actions = game.map(|game: &AnyGame| Seq(move || (0..game.seats()).map(move |seat| action(game, seat))));
        let summary = game.map(|game| {
            Shown(Words(move |f: &mut fmt::Formatter<'_>| game.summary(games::Table(&party().sitters()), f)))
        });
        Shows { actions, summary, view: game.map(|game| View { game, venue, id: self.id, viewer: self.viewer }) }
    }
}

/// What a function says.
struct Words<F>(F);

impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Words<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

/// What is seen of a game.
struct View<'a, H> {
    game: &'a AnyGame,
    venue: &'a H,
    id: MatchId,
    viewer: Viewer,
}

impl Serialize for View<'_, Venue<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let party = self.venue.party_of(self.id);
        // What players say is of the match they play now, and not of one that is over.
        let sitters = match self.venue.table(self.id) {
            Some(_) => self.venue.sitters_with_notes(&party),
            None => party.sitters(),
        };
        protocols::write_view(self.game, self.viewer, games::Table(&sitters), &mut map)?;
        map.end()
    }
}
