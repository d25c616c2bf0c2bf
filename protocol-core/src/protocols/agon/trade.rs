//! The Bazaar's three actions, and what both sides are told by them. A trade is an act of its game, whoever's turn it is.

use serde::Serialize;

use super::session::Picture;
use super::{Reply, Trouble};
use crate::games::{Act, AnyGame, Game, Seat, TradeDeal};
use crate::json::{self, Full, Sink, Value};
use crate::protocols::moltgame::RoomId;
use crate::referee::Heard;
use crate::time::Now;
use crate::uuid::Uuid;
use crate::venue::{Table, Venue};

fn bazaar(game: &AnyGame) -> Option<&TradeDeal> {
    if let AnyGame::TradeDeal(game) = game { Some(game) } else { None }
}

/// How many acts there were, and from which on they are known; nothing where nobody trades.
pub(super) fn acts(game: &AnyGame) -> Option<(u16, u16)> {
    bazaar(game).map(|game| (game.acts(), game.first_act()))
}

impl Venue<'_> {
    /// Hears what an agent wants with a trade.
    pub(super) fn hear_trade(
        &mut self,
        now: Now,
        line: u16,
        of_match: Option<RoomId>,
        wanted: Value<'_>,
    ) -> Result<Reply, Trouble> {
        let table = self.is_in(line, of_match)?;
        let seat = table.seat_of(line).ok_or(Trouble::NotInMatch)?;
        let game = bazaar(table.play.game()).ok_or(Trouble::ContentBlocked("goods are traded in the Bazaar alone"))?;
        let lacks = game.lacks(seat, wanted);
        match self.make_move(now, line, wanted) {
            Some(Heard::Taken) => Ok(Reply::Nothing),
            Some(Heard::Refused(rule)) if TradeDeal::is_about_goods(rule) => {
                let lacks = lacks.map(|(name, has, needs)| Trouble::Insufficient(name, has, needs));
                Err(lacks.unwrap_or(Trouble::ContentBlocked(rule.0)))
            }
            Some(Heard::Refused(rule)) => Err(Trouble::ValidationFailed(rule.0)),
            Some(Heard::Duplicate) | None => Err(Trouble::ValidationFailed("nobody trades in this match now")),
        }
    }

    /// Whether a move on film is an act, and no message.
    pub fn agon_is_act(&self, picture: &Picture, made: &str) -> bool {
        let game = self.table_at(picture.slot).map(|table| table.play.game());
        game.zip(json::parse(made.as_bytes()).ok()).is_some_and(|(game, made)| game.is_act(made))
    }

    fn trading(&self, picture: &Picture) -> Result<(&Table, &TradeDeal, Uuid), Full> {
        let table = self.table_at(picture.slot).ok_or(Full)?;
        Ok((table, bazaar(table.play.game()).ok_or(Full)?, self.room_id(table.id).uuid()))
    }

    /// Writes what an agent holds and wants.
    pub(super) fn write_stock(&self, picture: &Picture, sink: &mut dyn Sink) -> Result<(), Full> {
        #[derive(Serialize)]
        struct Goal {
            resource: &'static str,
            amount: u8,
            points: u8,
        }
        #[derive(Serialize)]
        struct Update<H> {
            event: &'static str,
            match_id: Uuid,
            your_resources: H,
            your_goal: Goal,
        }
        let (_, game, match_id) = self.trading(picture)?;
        let (resource, amount, points) = game.goal(picture.seat);
        let your_goal = Goal { resource, amount, points };
        let your_resources = game.held(picture.seat);
        json::write(&Update { event: "trade_state_update", match_id, your_resources, your_goal }, sink)
    }

    /// Writes what was done by an act.
    pub(super) fn write_trade(&self, picture: &Picture, number: u16, sink: &mut dyn Sink) -> Result<(), Full> {
        #[derive(Serialize)]
        struct Proposed<'a, O, R> {
            event: &'static str,
            match_id: Uuid,
            proposer_name: &'a str,
            offer: O,
            request: R,
        }
        #[derive(Serialize)]
        struct Executed<H> {
            event: &'static str,
            match_id: Uuid,
            your_resources: H,
        }
        #[derive(Serialize)]
        struct Rejected<'a> {
            event: &'static str,
            match_id: Uuid,
            rejector_name: &'a str,
        }
        let (table, game, match_id) = self.trading(picture)?;
        let name = |seat: Seat| {
            let line = table.players().get(usize::from(seat)).copied();
            line.and_then(|line| self.player(line)).map_or("", |player| &player.name)
        };
        match game.act(number).ok_or(Full)? {
            Act::Proposed { by, offer, request } => {
                let proposed = Proposed { event: "trade_proposed", match_id, proposer_name: name(by), offer, request };
                json::write(&proposed, sink)
            }
            Act::Executed => {
                let your_resources = game.held(picture.seat);
                json::write(&Executed { event: "trade_executed", match_id, your_resources }, sink)
            }
            Act::Rejected(by) => {
                json::write(&Rejected { event: "trade_rejected", match_id, rejector_name: name(by) }, sink)
            }
        }
    }
}
