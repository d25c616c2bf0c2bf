//! The audience: how a vote stands, and a vote that is given. By HTTP, so that a phone needs no place among those that watch: what it
//! shows is asked for every few seconds where the live feed is full.

use core::fmt;

use embedded_io_async::Write;
use heapless::String;
use protocol_core::games::Seat;
use protocol_core::ids::{AgentId, MatchId};
use protocol_core::json::{self, Full, Map, Shown, Sink};
use protocol_core::time::Now;
use protocol_core::venue::{NotCounted, Poll, Venue, Voter};
use serde::Serialize;

use crate::Appliance;
use crate::answers::{Answering, bearer};
use crate::board::Board;
use crate::http::{Request, WriteError};
use crate::pages;

/// What a page keeps to be known again, in bytes.
const KEY: usize = 64;
const NO_POLL: &str = "no such match has an audience that votes";

/// Why a vote is not taken.
enum Wrong {
    NotJson,
    /// No page is known by that.
    Voter,
    Not(NotCounted),
}

impl Wrong {
    fn status(&self) -> u16 {
        match self {
            Wrong::NotJson | Wrong::Voter | Wrong::Not(NotCounted::Choice) => 400,
            Wrong::Not(NotCounted::Match) => 404,
            Wrong::Not(NotCounted::Plays) => 403,
            Wrong::Not(NotCounted::NotOpen | NotCounted::Closed) => 409,
            Wrong::Not(NotCounted::TooMany) => 429,
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::NotJson => f.write_str("the body must be an object: {\"for\": \"P01\", \"voter\": \"…\"}"),
            Wrong::Voter => {
                write!(f, "voter must be a text of 8 to {KEY} bytes that the page has thrown dice for and keeps")
            }
            Wrong::Not(why) => why.fmt(f),
        }
    }
}

/// By what a page is known that asks how a vote stands.
pub(crate) fn voter_of<'a>(request: &Request<'a>) -> &'a str {
    request.query.split('&').find_map(|part| part.strip_prefix("voter=")).unwrap_or_default()
}

/// `GET /api/matches/R1M1/vote`
fn poll(venue: &Venue<'_>, now: Now, id: MatchId, voter: Voter<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Answer<V> {
        match_id: Shown<MatchId>,
        /// "waiting", "open" or "closed".
        vote: &'static str,
        /// How long it is open.
        left_ms: Option<u32>,
        votes: V,
        /// Whom the page has voted for that asks.
        yours: Option<Shown<AgentId>>,
        /// The most votes from one address, where there are so many that it looks odd.
        crowd: Option<u16>,
    }
    let Poll { left_ms, is_closed, votes, crowd } = venue.poll(now, id).ok_or(Full)?;
    let vote = match left_ms {
        Some(_) => "open",
        None if is_closed => "closed",
        None => "waiting",
    };
    let who = |seat: Seat| venue.sitters(id).nth(seat.into()).map(|sitter| sitter.player_id);
    let answer = Answer {
        match_id: Shown(id),
        vote,
        left_ms,
        votes: Map(|| venue.sitters(id).map(|sitter| sitter.player_id).zip(votes)),
        yours: venue.voted_for(id, voter).and_then(who),
        crowd,
    };
    json::write(&answer, sink)
}

impl<B: Board> Appliance<'_, B> {
    pub(crate) fn send_poll<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        id: MatchId,
        voter: &str,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let now = self.now();
            if self.venue(|venue| venue.poll(now, id)).is_none() {
                return asked.error(404, NO_POLL).await;
            }
            self.send(asked, 200, &|venue, sink| poll(venue, now, id, Voter::Page(voter), sink)).await
        }
    }

    /// Counts a vote: of a page, or of an agent that shows its token.
    pub(crate) fn take_vote<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        id: MatchId,
        request: &Request<'_>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            self.room().await;
            let agent = bearer(request).and_then(|shown| self.venue(|venue| venue.player_of_credential(shown)));
            let key = json::parse(request.body).ok().and_then(|body| body.get("voter")?.as_str()?.text::<KEY>().ok());
            let key = key.unwrap_or_default();
            let voter = agent.map_or(Voter::Page(&key), Voter::Agent);
            match self.count(asked, id, voter, request.body) {
                Ok(()) => {
                    let now = self.now();
                    self.send(asked, 200, &|venue, sink| poll(venue, now, id, voter, sink)).await
                }
                Err(wrong) => self.send(asked, wrong.status(), &|_, sink| pages::error(&wrong, sink)).await,
            }
        }
    }

    fn count<S: Write>(
        &self,
        asked: &Answering<'_, S, B>,
        id: MatchId,
        voter: Voter<'_>,
        body: &[u8],
    ) -> Result<(), Wrong> {
        let body = json::parse(body).map_err(|_| Wrong::NotJson)?;
        if matches!(voter, Voter::Page(key) if key.len() < 8) {
            return Err(Wrong::Voter);
        }
        let player = body.get("for").and_then(|player| player.as_str()?.text::<8>().ok()).unwrap_or_default();
        let seat = |venue: &Venue<'_>| {
            let is_it = |of: AgentId| {
                let mut name = String::<8>::new();
                fmt::Write::write_fmt(&mut name, format_args!("{of}")).is_ok() && name == player
            };
            venue.sitters(id).position(|sitter| is_it(sitter.player_id.0)).and_then(|seat| Seat::try_from(seat).ok())
        };
        self.act(|venue, now| {
            // Whom it is for is of no interest where nobody can be voted for.
            let seat = seat(venue).unwrap_or(Seat::MAX);
            venue.vote(now, id, voter, *asked.peer, seat)
        })
        .map_err(Wrong::Not)
    }
}
