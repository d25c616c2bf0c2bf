//! Wagers: two that play each other bet Arena Points on their match, before its third move. What a wager has come to lies in the session
//! of who proposed it; both are told, by [`Bet`]s that follow from it.

use serde::Serialize;

use super::play::Ended;
use super::session::{Picture, key, of, seen};
use super::{Reply, Trouble};
use crate::games::Game;
use crate::json::{self, Full, Sink};
use crate::protocols::moltgame::RoomId;
use crate::uuid::Uuid;
use crate::venue::{Table, Venue};

/// The last move before which a wager can be made or accepted.
const LAST_TURN: u16 = 3;

/// What somebody wants with a wager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bet {
    /// So many points.
    Propose(u16),
    Accept,
    Decline,
    Cancel,
}

/// What a wager has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stands {
    /// There is none.
    #[default]
    Nowhere,
    Proposed,
    Accepted,
    Declined,
    Cancelled,
    /// The match went on without an answer.
    Expired,
    /// The match is over, and it is paid.
    Settled,
}

/// A wager.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wager {
    /// On which match, by its key.
    of: u32,
    amount: u16,
    stands: Stands,
    /// Which word about wagers of this match is the last.
    word: u8,
}

/// What is to be told of a wager: what it has come to, and by which word that is known.
pub(super) type Told = (u8, Stands);

/// The wager on the match at a table, and who proposed it.
fn wager_at(venue: &Venue<'_>, table: &Table) -> Option<(u16, Wager)> {
    let on_it = |line: &u16| {
        let wager = seen(venue, *line)?.wager;
        (wager.of == key(table)).then_some((*line, wager))
    };
    let (line, wager) = table.players().iter().filter_map(on_it).max_by_key(|(_, wager)| wager.word)?;
    let is_late = table.play.game().turn() > LAST_TURN || table.is_over();
    let stands = if is_late && wager.stands == Stands::Proposed { Stands::Expired } else { wager.stands };
    Some((line, Wager { stands, ..wager }))
}

/// What is to be told of it.
pub(super) fn told(venue: &Venue<'_>, table: &Table) -> Told {
    wager_at(venue, table).map_or((0, Stands::Nowhere), |(_, wager)| (wager.word, wager.stands))
}

/// The match at a table is over: whoever has lost it pays whoever has won it.
pub(super) fn settle(venue: &mut Venue<'_>, slot: u16, winner: Option<u16>) {
    let Some(table) = venue.table_at(slot) else { return };
    let Some((proposer, wager)) = wager_at(venue, table).filter(|(_, wager)| wager.stands == Stands::Accepted) else {
        return;
    };
    let lines = table.seated();
    for line in lines {
        let Some(session) = of(venue, line) else { continue };
        session.points = match winner {
            Some(winner) if winner == line => session.points.saturating_add(wager.amount.into()),
            Some(_) => session.points.saturating_sub(wager.amount.into()),
            None => session.points,
        };
    }
    if let Some(session) = of(venue, proposer) {
        session.wager.stands = Stands::Settled;
    }
}

impl Venue<'_> {
    /// Hears what an agent wants with a wager.
    pub(super) fn hear_bet(&mut self, line: u16, of_match: Option<RoomId>, bet: Bet) -> Result<Reply, Trouble> {
        const WRONG: fn(&'static str) -> Trouble = Trouble::ValidationFailed;
        let table = self.is_in(line, of_match)?;
        let game = table.play.game();
        if game.has_audience() || game.talk().is_some() {
            return Err(Trouble::ContentBlocked("wagers are for chess and go"));
        }
        let other = table.players().iter().copied().find(|other| *other != line).ok_or(Trouble::NotInMatch)?;
        let (on, is_late, last) = (key(table), game.turn() > LAST_TURN, wager_at(self, table));
        let (word, stands) = last.map_or((0, Stands::Nowhere), |(_, wager)| (wager.word, wager.stands));
        let word = word.saturating_add(1);
        let points = |line| seen(self, line).map_or(0, |session| session.points);
        let (proposer, wager) = match (bet, last) {
            (Bet::Propose(_), _) if is_late => return Err(WRONG("a wager is made before the third move")),
            (Bet::Propose(_), _) if stands == Stands::Proposed => {
                return Err(WRONG("a wager is already pending: accept, decline or wait"));
            }
            (Bet::Propose(_), _) if stands == Stands::Accepted => return Err(WRONG("this match has its wager")),
            (Bet::Propose(_), _) if seen(self, other).is_none() => {
                return Err(Trouble::ContentBlocked("your opponent speaks another protocol, and takes no wagers"));
            }
            (Bet::Propose(amount), _) if points(line) < amount.into() => {
                return Err(WRONG("amount is more than your Arena Points"));
            }
            (Bet::Propose(amount), _) if points(other) < amount.into() => {
                return Err(WRONG("amount is more than your opponent's Arena Points"));
            }
            (Bet::Propose(amount), _) => (line, Wager { of: on, amount, stands: Stands::Proposed, word }),
            (_, Some((proposer, wager))) if stands == Stands::Proposed => {
                let stands = match bet {
                    Bet::Accept | Bet::Decline if proposer == line => {
                        return Err(WRONG("cannot answer your own wager; cancel_wager takes it back"));
                    }
                    Bet::Cancel if proposer != line => return Err(WRONG("only who proposed a wager can cancel it")),
                    Bet::Accept => Stands::Accepted,
                    Bet::Decline => Stands::Declined,
                    _ => Stands::Cancelled,
                };
                (proposer, Wager { stands, word, ..wager })
            }
            _ => return Err(WRONG("there is no wager that waits for an answer")),
        };
        if let Some(session) = of(self, proposer) {
            session.wager = wager;
        }
        self.list(other);
        Ok(Reply::Nothing)
    }

    /// Writes what a wager has come to; in the end, and to each for itself, what it has brought.
    pub(super) fn write_wager(
        &self,
        picture: &Picture,
        ended: Option<(&Ended<'_>, bool)>,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        #[derive(Serialize)]
        struct Event<'a> {
            event: &'static str,
            match_id: Uuid,
            proposer_name: &'a str,
            amount: u16,
            #[serde(skip_serializing_if = "Option::is_none")]
            winner_id: Option<Option<Uuid>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            points_change: Option<i32>,
            #[serde(skip_serializing_if = "Option::is_none")]
            arena_points: Option<u32>,
        }
        let table = self.table_at(picture.slot).ok_or(Full)?;
        let (proposer, wager) = wager_at(self, table).ok_or(Full)?;
        let line = *table.players().get(usize::from(picture.seat)).ok_or(Full)?;
        let winner = ended.and_then(|(ended, _)| ended.winner());
        let is_own = ended.is_some_and(|(_, is_own)| is_own);
        let change =
            |winner| if winner == line { i32::from(wager.amount) } else { i32::from(wager.amount).saturating_neg() };
        let id = |line: u16| self.player(line).map(|player| self.agent_id(player));
        let event = Event {
            event: match wager.stands {
                Stands::Settled if is_own => "wager_result",
                Stands::Settled => "wager_settled",
                Stands::Accepted => "wager_accepted",
                Stands::Declined => "wager_declined",
                Stands::Cancelled => "wager_cancelled",
                Stands::Expired => "wager_expired",
                Stands::Proposed | Stands::Nowhere => "wager_proposed",
            },
            match_id: self.room_id(table.id).uuid(),
            proposer_name: self.player(proposer).map_or("", |player| &player.name),
            amount: wager.amount,
            winner_id: ended.filter(|(_, is_own)| !is_own).map(|_| winner.and_then(id)),
            points_change: is_own.then(|| winner.map_or(0, change)),
            arena_points: seen(self, line).filter(|_| is_own).map(|session| session.points),
        };
        json::write(&event, sink)
    }
}
