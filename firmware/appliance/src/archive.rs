//! What the box shows of leagues that have ended: a list of them, newest first, and the final standings of each. All of it
//! is read from flash while it is sent, a league or a line at a time (`journal/past.rs`). What is in flash is safe to tell.

use embedded_io_async::Write;
use protocol_core::json::{Full, Shown, Sink};
use protocol_core::time::Utc;
use protocol_core::wire::league_v2::outgoing::{AgentId, LeagueId};
use serde::Serialize;

use crate::Appliance;
use crate::board::Board;
use crate::http::{self, Outgoing, Responder, WriteError};
use crate::journal::{Past, State};
use crate::pages::list;
use crate::pieces;
use crate::routes::JSON;

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
    fn of(past: &'a Past) -> Self {
        let (game, number) = (past.ended.game.rules().name, past.ended.league);
        let champion = past.line.row();
        Self {
            league: number,
            league_id: Shown(LeagueId { game, number }),
            game_type: game,
            players: past.ended.players,
            matches: past.ended.matches,
            ended_at: Shown(past.ended.at),
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

/// Adds a part to a message.
async fn add<T: http::Sink>(
    message: &mut Outgoing<'_, T>,
    write: impl Fn(&mut dyn Sink) -> Result<bool, Full>,
) -> Result<(), WriteError> {
    match pieces::send(message, |sink| write(sink).map(|_| ()), async || {}).await? {
        true => Ok(()),
        false => Err(WriteError::WrongLength),
    }
}

impl<B: Board, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<B, P, M, R, L> {
    /// `/api/leagues.json`
    pub(crate) async fn send_leagues<S: Write>(&self, responder: Responder<'_, S, B>) -> Result<(), WriteError> {
        let mut answer = responder.begin(200, JSON, None, &[])?;
        let head = Head { journal: Shown(self.journal()) };
        add(&mut answer, |sink| list(0, sink, &head, "leagues", |_| None::<()>)).await?;
        let (mut part, mut before) = (1, u32::MAX);
        while let Some(past) = self.past(before).await {
            add(&mut answer, |sink| list(part, sink, &head, "leagues", |_| Some(League::of(&past)))).await?;
            (part, before) = (part + 1, past.before);
        }
        add(&mut answer, |sink| list(part, sink, &head, "leagues", |_| None::<()>)).await?;
        answer.finish().await
    }

    /// `/api/leagues/3.json`. Should its sectors be erased while it is sent, the connection is closed.
    pub(crate) async fn send_league<S: Write>(
        &self,
        responder: Responder<'_, S, B>,
        number: u32,
    ) -> Result<(), WriteError> {
        let mut found = self.past(u32::MAX).await;
        while let Some(past) = &found
            && past.ended.league != number
        {
            found = self.past(past.before).await;
        }
        let Some(mut past) = found else {
            return responder.error(404, "no such league is kept; /api/leagues.json lists those that are").await;
        };
        let mut answer = responder.begin(200, JSON, None, &[])?;
        add(&mut answer, |sink| list(0, sink, &League::of(&past), "standings", |_| None::<()>)).await?;
        for part in 1..=u64::from(past.ended.players) {
            if part > 1 {
                past.line = self.past_line(past.line.next).await.ok_or(WriteError::WrongLength)?;
            }
            add(&mut answer, |sink| list(part, sink, &(), "standings", |_| Some(past.line.row()))).await?;
        }
        add(&mut answer, |sink| list(1, sink, &(), "standings", |_| None::<()>)).await?;
        answer.finish().await
    }
}
