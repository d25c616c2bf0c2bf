//! What the box shows of leagues that have ended: a list of them, newest first, and the final standings of each. All of it
//! is read from flash while it is sent, a league or a line at a time (`journal/past.rs`). What is in flash is safe to tell.

use core::net::IpAddr;

use embedded_io_async::Write;
use protocol_core::ids::{AgentId, LeagueId};
use protocol_core::json::{Full, Shown, Sink};
use protocol_core::time::Utc;
use serde::Serialize;

use crate::Appliance;
use crate::answers::{Answering, JSON};
use crate::board::Board;
use crate::clock::Clock;
use crate::http::{self, Outgoing, WriteError};
use crate::journal::{Ask, Page, State};
use crate::links::RETRY_AFTER;
use crate::pages::list;
use crate::pieces;

/// A league on one line.
#[derive(Serialize)]
struct League<'a> {
    league: u32,
    league_id: Shown<LeagueId>,
    game_type: &'static str,
    players: u16,
    matches: u32,
    ended_at: Shown<Utc>,
    champion: Champion<'a>,
}

#[derive(Serialize)]
struct Champion<'a> {
    player_id: Shown<AgentId>,
    display_name: &'a str,
    points: u16,
}

impl<'a> League<'a> {
    /// As it is told with its champion.
    fn of(page: &'a Page) -> Self {
        let (ended, champion) = (page.past.ended, page.row());
        let (game, number) = (ended.game.rules().name, ended.league);
        Self {
            league: number,
            league_id: Shown(LeagueId { game, number }),
            game_type: game,
            players: ended.players,
            matches: ended.matches,
            ended_at: Shown(ended.at),
            champion: Champion {
                player_id: champion.player_id,
                display_name: champion.display_name,
                points: champion.points,
            },
        }
    }
}

/// `"journal"` says why there may be none.
#[derive(Serialize)]
struct Head {
    journal: Shown<State>,
}

/// What a league, a line or a move takes at most: a name of 64 bytes, each of them escaped by six, and the rest.
const PART: usize = 640;

/// The least room for an answer from flash, in bytes: a part, and the chunk around it.
pub const ANSWER: usize = PART + 16;

/// Says that there is no such room just now.
pub(crate) fn busy<S: Write, C: Clock>(
    asked: &mut Answering<'_, S, C>,
) -> impl Future<Output = Result<(), WriteError>> {
    let later = [("Retry-After", RETRY_AFTER)];
    asked.error_with(503, "too much is being read from flash; wait as Retry-After says", &later)
}

/// Whether a message has room for another part.
pub(crate) fn has_room<T: http::Sink>(message: &mut Outgoing<'_, T>) -> bool {
    message.room().len() >= PART
}

/// Adds a part to a message.
pub(crate) async fn add<T: http::Sink>(
    message: &mut Outgoing<'_, T>,
    write: impl Fn(&mut dyn Sink) -> Result<bool, Full>,
) -> Result<(), WriteError> {
    match pieces::send(message, &|sink| write(sink).map(|_| ()), async || {}).await? {
        true => Ok(()),
        false => Err(WriteError::WrongLength),
    }
}

impl<B: Board> Appliance<'_, B> {
    /// Makes room for a part. Before the journal is asked for it: nobody else is answered there while a part is added, and
    /// must not wait for who reads slowly.
    pub(crate) async fn make_room<T: http::Sink>(
        &self,
        peer: &IpAddr,
        message: &mut Outgoing<'_, T>,
    ) -> Result<(), WriteError> {
        if has_room(message) {
            return Ok(());
        }
        self.go_on(peer, ANSWER).await;
        message.flush().await
    }

    /// `/api/leagues.json`
    pub(crate) fn send_leagues<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            if asked.room() < ANSWER {
                return busy(asked).await;
            }
            if asked.is_head_only() {
                return asked.responder()?.head(200, JSON, &[]).await;
            }
            let mut answer = asked.responder()?.begin(200, JSON, None, &[])?;
            let head = Head { journal: Shown(self.journal()) };
            add(&mut answer, |sink| list(0, sink, &head, "leagues", |_| None::<()>)).await?;
            let (mut part, mut before) = (1, u32::MAX);
            loop {
                self.make_room(asked.peer, &mut answer).await?;
                let Some(told) = self.ask_the_journal(asked.peer, Ask::League(before)).await else { break };
                let write = |sink: &mut dyn Sink| {
                    let page = told.page();
                    list(part, sink, &head, "leagues", |_| Some(League::of(&page)))
                };
                add(&mut answer, write).await?;
                (part, before) = (part.saturating_add(1), told.page().past.before);
            }
            add(&mut answer, |sink| list(part, sink, &head, "leagues", |_| None::<()>)).await?;
            answer.finish().await
        }
    }

    /// `/api/leagues/3.json`. Should its sectors be erased while it is sent, the connection is closed.
    pub(crate) fn send_league<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        number: u32,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            if asked.room() < ANSWER {
                return busy(asked).await;
            }
            let mut found = self.ask_the_journal(asked.peer, Ask::League(u32::MAX)).await;
            while let Some(told) = found.take() {
                let past = told.page().past;
                if past.ended.league == number {
                    found = Some(told);
                    break;
                }
                drop(told);
                found = self.ask_the_journal(asked.peer, Ask::League(past.before)).await;
            }
            let Some(mut told) = found else {
                return asked.error(404, "no such league is kept; /api/leagues.json lists those that are").await;
            };
            if asked.is_head_only() {
                drop(told);
                return asked.responder()?.head(200, JSON, &[]).await;
            }
            let mut answer = asked.responder()?.begin(200, JSON, None, &[])?;
            add(&mut answer, |sink| list(0, sink, &League::of(&told.page()), "standings", |_| None::<()>)).await?;
            let players = told.page().past.ended.players;
            for part in 1..=u64::from(players) {
                if part > 1 {
                    let next = told.page().next;
                    drop(told);
                    self.make_room(asked.peer, &mut answer).await?;
                    told = self.ask_the_journal(asked.peer, Ask::Line(next)).await.ok_or(WriteError::WrongLength)?;
                }
                let write = |sink: &mut dyn Sink| {
                    let page = told.page();
                    list(part, sink, &(), "standings", |_| Some(page.row()))
                };
                add(&mut answer, write).await?;
            }
            drop(told);
            add(&mut answer, |sink| list(1, sink, &(), "standings", |_| None::<()>)).await?;
            answer.finish().await
        }
    }
}
