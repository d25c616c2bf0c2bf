//! A match that is over, looked at again: its moves with their times, and the game as it stood after each of them. Read from
//! the reel in flash and played anew from the seed (`journal/reel.rs`), one step at a time, so a match of any length takes
//! the memory of one game.
//!
//! Of a match that is being played nothing is told here: who may see what of it is the game's to say.

use embedded_io_async::Write;
use protocol_core::games::Seats;
use protocol_core::ids::MatchId;
use protocol_core::json::{self, Full, Joined, Raw, Seq, Shown, Sink};
use protocol_core::venue::{Shot, Venue};
use serde::Serialize;

use crate::Appliance;
use crate::answers::{Answering, JSON};
use crate::archive::{ANSWER, add, busy};
use crate::board::Board;
use crate::http::WriteError;
use crate::journal::Ask;
use crate::moment::Moment;
use crate::pages::list;

const NOT_KEPT: &str = "the moves of this match are not kept: it is not over, or it was too long ago";
const NO_STEP: &str = "no such step is kept of a match that is over; moves.json lists them";

/// One step on one line.
fn line<'a>(venue: &'a Venue<'_>, id: MatchId, shot: Shot, made: impl Serialize + 'a) -> impl Serialize + 'a {
    #[derive(Serialize)]
    struct Line<I, T, A> {
        step: u16,
        at_ms: u32,
        /// Whose move it was; nobody's in the beginning and in the end.
        player_id: Option<I>,
        #[serde(rename = "move")]
        made: Option<T>,
        /// In the end: who had given up, or was ruled against, so that the game ended before its time.
        #[serde(skip_serializing_if = "Option::is_none")]
        ended_against: Option<A>,
    }
    let who = move |seats: Seats| {
        let sitters = venue.sitters(id).zip(0..).filter(move |(_, seat)| seats.has(*seat));
        sitters.map(|(sitter, _)| sitter.player_id)
    };
    Line {
        step: shot.step,
        at_ms: shot.at_ms,
        player_id: shot.seat.and_then(|seat| who(Seats::only(seat)).next()),
        made: shot.seat.is_some().then_some(made),
        ended_against: shot.ended.map(|against| Seq(move || who(against))),
    }
}

impl<B: Board> Appliance<'_, B> {
    /// `/api/matches/R1M1/moves.json`. Should they be erased while they are sent, the connection is closed.
    pub(crate) fn send_moves<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        id: MatchId,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            #[derive(Serialize)]
            struct Head {
                match_id: Shown<MatchId>,
                /// Whether they go on to the end of the match.
                complete: bool,
                steps: u16,
            }
            if asked.room() < ANSWER {
                return busy(asked).await;
            }
            let told = self.ask_the_journal(Ask::Step(id, u16::MAX)).await;
            let last = told.as_ref().and_then(|told| Some(told.replay()?.shot));
            drop(told);
            let Some(Shot { step: steps, ended, .. }) = last else {
                return asked.error(404, NOT_KEPT).await;
            };
            self.safe().await;
            if asked.is_head_only() {
                return asked.responder()?.head(200, JSON, &[]).await;
            }
            let mut answer = asked.responder()?.begin(200, JSON, None, &[])?;
            let head = Head { match_id: Shown(id), complete: ended.is_some(), steps };
            add(&mut answer, |sink| list(0, sink, &head, "moves", |_| None::<()>)).await?;
            let mut next = None;
            for step in 1..=steps {
                self.make_room(asked.peer, &mut answer).await?;
                let told = self.ask_the_journal(Ask::Scene(id, next)).await.ok_or(WriteError::WrongLength)?;
                let write = |sink: &mut dyn Sink| {
                    let scene = told.scene().ok_or(Full)?;
                    self.venue(|venue| {
                        let row = |_| Some(line(venue, id, scene.shot, Raw(&scene.made)));
                        list(step.into(), sink, &(), "moves", row)
                    })
                };
                add(&mut answer, write).await?;
                next = told.scene().map(|scene| scene.next);
            }
            add(&mut answer, |sink| list(1, sink, &(), "moves", |_| None::<()>)).await?;
            answer.finish().await
        }
    }

    /// `/api/matches/R1M1/steps/17.json`: the game as it stood after a step, as `/api/matches/R1M1.json` showed it then.
    pub(crate) fn send_step<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        id: MatchId,
        step: u16,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let told = self.ask_the_journal(Ask::Step(id, step)).await;
            let found = told.as_ref().and_then(|told| told.replay()).filter(|replay| replay.shot.step == step);
            let found = found.map(|replay| (replay.shot, Moment::replayed(id, replay.game.clone())));
            drop(told);
            let Some((shot, moment)) = found else {
                return asked.error(404, NO_STEP).await;
            };
            self.send(asked, 200, &|venue, sink| {
                let shown = Joined(moment.now(venue), moment.view(venue));
                json::write(&Joined(line(venue, id, shot, moment.last_move(shot.seat)), shown), sink)
            })
            .await
        }
    }
}
