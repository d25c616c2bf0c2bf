//! A match that is over, looked at again: its moves with their times, and the game as it stood after each of them. Read from
//! the film in flash and played anew from the seed (`journal/film.rs`), one step at a time, so a match of any length takes
//! the memory of one game.
//!
//! Of a match that is being played nothing is told here: who may see what of it is the game's to say.

use core::fmt::{self, Write as _};

use embedded_io_async::Write;
use protocol_core::fair::Seed;
use protocol_core::games::{Game, GameKind, Part, SAID, Seats, Table};
use protocol_core::ids::MatchId;
use protocol_core::json::{self, Full, Joined, Raw, Seq, Shown, Sink};
use protocol_core::protocols::moltgame::{LogPage, LogRow};
use protocol_core::venue::{Shot, Venue};
use serde::Serialize;

use crate::Appliance;
use crate::answers::{Answering, JSON};
use crate::archive::{ANSWER, add, busy, has_room};
use crate::board::Board;
use crate::http::WriteError;
use crate::journal::{Ask, Beside};
use crate::moment::Moment;
use crate::pages::list;

const NOT_KEPT: &str = "the moves of this match are not kept: it is not over, or it was too long ago";
const NO_STEP: &str = "no such step is kept of a match that is over; moves.json lists them";

const NO_SPEECHES: &str =
    "nothing that was said at length is kept of this match: it is none of speeches, or it was too long ago";
const NOT_SO: &str = "nobody writes down matches of this game in files of that kind";

/// What is formatted goes on as it comes.
struct Text<'a>(&'a mut dyn Sink);

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.put(text.as_bytes()).map_err(|Full| fmt::Error)
    }
}

/// A part of a match as it is written down.
struct Written<'a, G>(&'a G, Part<'a>, Table<'a>);

impl<G: Game> fmt::Display for Written<'_, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write_down(self.1, self.2, f)
    }
}

/// Writes JSON without its first and its last bytes.
pub(crate) fn write_inside<T: Serialize + ?Sized>(
    value: &T,
    first: usize,
    last: usize,
    sink: &mut dyn Sink,
) -> Result<(), Full> {
    struct Inside<'a> {
        sink: &'a mut dyn Sink,
        skip: usize,
        left: usize,
    }
    impl Sink for Inside<'_> {
        fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
            let bytes = bytes.get(self.skip.min(bytes.len())..).inspect(|rest| {
                self.skip = self.skip.saturating_sub(bytes.len().saturating_sub(rest.len()));
            });
            let bytes = bytes.unwrap_or_default();
            let n = bytes.len().min(self.left);
            self.left = self.left.saturating_sub(n);
            self.sink.put(bytes.get(..n).unwrap_or_default())
        }
    }
    let left = json::count(value).saturating_sub(first).saturating_sub(last);
    json::write(value, &mut Inside { sink, skip: first, left })
}

/// One step on one line.
fn line<'a>(
    venue: &'a Venue<'_>,
    id: MatchId,
    (shot, beside): (Shot, Option<(Beside, &'a str)>),
    made: impl Serialize + 'a,
) -> impl Serialize + 'a {
    #[derive(Serialize)]
    struct Line<'a, I, T, A> {
        step: u16,
        at_ms: u32,
        /// Whose move it was; nobody's in the beginning and in the end.
        player_id: Option<I>,
        #[serde(rename = "move")]
        made: Option<T>,
        /// Whether the box made it, because the player was late.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        late: bool,
        /// Before the first move of a debate: what it is about, where the owner has said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        about: Option<&'a str>,
        /// How its audience voted, by seat.
        #[serde(skip_serializing_if = "Option::is_none")]
        votes: Option<Raw<'a>>,
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
        late: shot.late,
        about: beside.filter(|(what, _)| *what == Beside::Topic).map(|(_, words)| words),
        votes: beside.filter(|(what, _)| *what == Beside::Votes).map(|(_, votes)| Raw(votes)),
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
            struct Head<P> {
                match_id: Shown<MatchId>,
                game_type: &'static str,
                match_seed: Option<Shown<Seed>>,
                seed_commitment: Shown<Seed>,
                /// By seat.
                players: P,
                /// Whether they go on to the end of the match.
                complete: bool,
                steps: u16,
            }
            if asked.room() < ANSWER {
                return busy(asked).await;
            }
            let told = self.ask_the_journal(asked.peer, Ask::Step(id, u16::MAX)).await;
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
            let write = |sink: &mut dyn Sink| {
                self.venue(|venue| {
                    let head = Head {
                        match_id: Shown(id),
                        game_type: venue.game_at(id).rules().name,
                        match_seed: venue.revealed_seed(id).map(Shown),
                        seed_commitment: Shown(venue.commitment(id)),
                        players: Seq(|| venue.sitters(id).map(|sitter| sitter.player_id)),
                        complete: ended.is_some(),
                        steps,
                    };
                    list(0, sink, &head, "moves", |_| None::<()>)
                })
            };
            add(&mut answer, write).await?;
            let mut next = None;
            for step in 1..=steps {
                self.make_room(asked.peer, &mut answer).await?;
                let told =
                    self.ask_the_journal(asked.peer, Ask::Scene(id, next, 0)).await.ok_or(WriteError::WrongLength)?;
                let write = |sink: &mut dyn Sink| {
                    let scene = told.scene().ok_or(Full)?;
                    self.venue(|venue| {
                        let row = |_| {
                            Some(line(venue, id, (scene.shot, Some((scene.beside, &*scene.made))), Raw(&scene.made)))
                        };
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

    /// `/api/matches/R1M1/speeches.json`: all that was said at length, byte for byte, of a match that is being played too. Read from flash
    /// part by part while it is sent.
    pub(crate) fn send_speeches<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        id: MatchId,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            #[derive(Serialize)]
            struct Head<'a> {
                match_id: Shown<MatchId>,
                game_type: &'static str,
                topic: Option<&'a str>,
            }
            #[derive(Serialize)]
            struct Speech<I> {
                step: u16,
                at_ms: u32,
                player_id: Option<I>,
                /// Whether the player was late, and so has said nothing.
                late: bool,
                truncated: bool,
                text: &'static str,
            }
            if asked.room() < ANSWER {
                return busy(asked).await;
            }
            let about = self.venue(|venue| {
                let running = venue.table(id).map(|table| table.play.game().clone());
                let game = running.or_else(|| venue.recall(id)).filter(|game| game.speech() > SAID)?;
                Some((game.rules().name, game.topic()))
            });
            let (Some((game_type, topic)), Some(told)) =
                (about, self.ask_the_journal(asked.peer, Ask::Part(id, None)).await)
            else {
                return asked.error(404, NO_SPEECHES).await;
            };
            self.safe().await;
            if asked.is_head_only() {
                drop(told);
                return asked.responder()?.head(200, JSON, &[]).await;
            }
            let mut answer = asked.responder()?.begin(200, JSON, None, &[])?;
            let head = |sink: &mut dyn Sink| {
                let scene = told.scene().ok_or(Full)?;
                let own = Some(&*scene.made).filter(|own| scene.beside == Beside::Topic && !own.is_empty());
                let head = Head { match_id: Shown(id), game_type, topic: own.or(topic) };
                list(0, sink, &head, "speeches", |_| None::<()>)
            };
            add(&mut answer, head).await?;
            let mut next = told.scene().map(|scene| scene.next);
            drop(told);
            // A speech is open until the next step that is no part of it.
            let mut spoken = 0_u16;
            loop {
                self.make_room(asked.peer, &mut answer).await?;
                let Some(told) = self.ask_the_journal(asked.peer, Ask::Part(id, next)).await else { break };
                let (is_part, shot) = match told.scene() {
                    Some(scene) => (scene.beside == Beside::Says, scene.shot),
                    None => break,
                };
                // Who trades does not speak by it.
                let is_speech = |made: &str| json::parse(made.as_bytes()).is_ok_and(|made| made.get("text").is_some());
                if is_part {
                    add(&mut answer, |sink| {
                        let scene = told.scene().ok_or(Full)?;
                        write_inside(&*scene.made, 1, 1, sink).map(|()| true)
                    })
                    .await?;
                } else if shot.seat.is_some() && told.scene().is_some_and(|scene| is_speech(&scene.made)) {
                    add(&mut answer, |sink| {
                        let scene = told.scene().ok_or(Full)?;
                        let made = json::parse(scene.made.as_bytes()).ok();
                        let truncated = made.and_then(|made| made.get("truncated")?.as_bool()) == Some(true);
                        sink.put(if spoken > 0 { b"\"},".as_slice() } else { b"" })?;
                        self.venue(|venue| {
                            let player_id = shot.seat.and_then(|seat| venue.sitters(id).nth(seat.into()));
                            let player_id = player_id.map(|sitter| sitter.player_id);
                            let Shot { step, at_ms, late, .. } = shot;
                            write_inside(&Speech { step, at_ms, player_id, late, truncated, text: "" }, 0, 2, sink)
                        })
                        .map(|()| true)
                    })
                    .await?;
                    spoken = spoken.saturating_add(1);
                }
                next = told.scene().map(|scene| scene.next);
            }
            let end = if spoken > 0 { "\"}" } else { "" };
            add(&mut answer, |sink| {
                sink.put(end.as_bytes())?;
                list(1, sink, &(), "speeches", |_| None::<()>)
            })
            .await?;
            answer.finish().await
        }
    }

    /// What has happened in a room of MoltGame: who sat down, and when its game is over, all its moves.
    pub(crate) fn send_logs<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        page: LogPage,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            #[derive(Serialize)]
            struct Head {
                total: u16,
            }
            if asked.room() < ANSWER {
                return busy(asked).await;
            }
            let id = page.id();
            let told = self.ask_the_journal(asked.peer, Ask::Step(id, u16::MAX)).await;
            let last = told.as_ref().and_then(|told| Some(told.replay()?.shot));
            drop(told);
            let (page, opening) = self.venue(|venue| {
                let finished = venue.record(id).map(|record| record.finished);
                let page = page.ended(finished, last);
                (page, venue.log_opening(&page))
            });
            self.safe().await;
            if asked.is_head_only() {
                return asked.responder()?.head(200, JSON, &[]).await;
            }
            let total = opening.saturating_add(last.map_or(0, |last| last.step));
            let rows = page.rows(total);
            let mut answer = asked.responder()?.begin(200, JSON, None, &[])?;
            add(&mut answer, |sink| list(0, sink, &Head { total }, "logs", |_| None::<()>)).await?;
            let (mut next, mut skip) = (None, rows.start.saturating_sub(opening));
            for row in rows.clone() {
                let comma = if row > rows.start { ",".as_bytes() } else { &[] };
                self.make_room(asked.peer, &mut answer).await?;
                let told = match row < opening {
                    true => None,
                    false => {
                        let scene = Ask::Scene(id, next, core::mem::take(&mut skip));
                        Some(self.ask_the_journal(asked.peer, scene).await.ok_or(WriteError::WrongLength)?)
                    }
                };
                let write = |sink: &mut dyn Sink| {
                    let scene = told.as_ref().map(|told| told.scene().ok_or(Full)).transpose()?;
                    let row =
                        scene.as_ref().map_or(LogRow::Opening(row), |scene| LogRow::Step(scene.shot, &scene.made));
                    sink.put(comma)?;
                    self.venue(|venue| venue.write_log_row(&page, row, sink)).map(|()| true)
                };
                add(&mut answer, write).await?;
                next = told.as_ref().and_then(|told| told.scene()).map(|scene| scene.next);
            }
            add(&mut answer, |sink| list(1, sink, &(), "logs", |_| None::<()>)).await?;
            answer.finish().await
        }
    }

    /// `/api/matches/R1M1.pgn`: the match as people write it down. Should it be erased while it is sent, the connection is closed.
    pub(crate) fn send_notation<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        id: MatchId,
        ending: &'static str,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            if asked.room() < ANSWER {
                return busy(asked).await;
            }
            let told = self.ask_the_journal(asked.peer, Ask::Step(id, u16::MAX)).await;
            let last = told.as_ref().and_then(|told| {
                let replay = told.replay()?;
                let kind = GameKind::named(replay.game.rules().name);
                Some((replay.shot.step, kind.and_then(GameKind::notation) == Some(ending)))
            });
            drop(told);
            let steps = match last {
                Some((steps, true)) => steps,
                Some((_, false)) => return asked.error(404, NOT_SO).await,
                None => return asked.error(404, NOT_KEPT).await,
            };
            self.safe().await;
            let (kind, saved) = ("text/plain; charset=utf-8", [("Content-Disposition", "attachment")]);
            if asked.is_head_only() {
                return asked.responder()?.head(200, kind, &saved).await;
            }
            let mut answer = asked.responder()?.begin(200, kind, None, &saved)?;
            let mut told = None;
            for step in 0..=steps {
                if !has_room(&mut answer) {
                    // As much as fits is made in one turn: whoever looks at another match meanwhile winds this one back.
                    told = None;
                    self.make_room(asked.peer, &mut answer).await?;
                }
                // The head says how it ended, so there it is looked at from its end.
                let ask = Ask::Step(id, if step == 0 { u16::MAX } else { step });
                told = self.ask_on(asked.peer, ask, told.take()).await;
                let told = told.as_ref().ok_or(WriteError::WrongLength)?;
                let write = |sink: &mut dyn Sink| {
                    let replay = told.replay().ok_or(Full)?;
                    let mut title = heapless::String::<16>::new();
                    write!(title, "{id}").map_err(|_| Full)?;
                    let is_last = step == steps;
                    let parts = [
                        (step == 0, Part::Head(&title)),
                        (step > 0 && replay.shot.ended.is_none(), Part::Move(step)),
                        (is_last, Part::End),
                    ];
                    self.venue(|venue| {
                        let party = venue.party_of(id);
                        let (sitters, mut text) = (party.sitters(), Text(sink));
                        { parts.into_iter() }
                            .filter(|(is_due, _)| *is_due)
                            .try_for_each(|(_, part)| write!(text, "{}", Written(&replay.game, part, Table(&sitters))))
                            .map(|()| true)
                            .map_err(|fmt::Error| Full)
                    })
                };
                add(&mut answer, write).await?;
            }
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
            let told = self.ask_the_journal(asked.peer, Ask::Step(id, step)).await;
            let found = told.as_ref().and_then(|told| told.replay()).filter(|replay| replay.shot.step == step);
            let found = found.map(|replay| (replay.shot, Moment::replayed(id, replay.game.clone())));
            drop(told);
            let Some((shot, moment)) = found else {
                return asked.error(404, NO_STEP).await;
            };
            self.send(asked, 200, &|venue, sink| {
                let shown = Joined(moment.now(venue), moment.view(venue));
                json::write(&Joined(line(venue, id, (shot, None), moment.last_move(shot.seat)), shown), sink)
            })
            .await
        }
    }
}
