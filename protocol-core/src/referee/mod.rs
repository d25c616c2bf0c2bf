//! One match: invite, ask, judge, announce. Knows the [`Game`] contract and no particular game; knows seats, and no
//! players, messages or connections. Whoever carries the messages asks [`Match::need`] what to send to a seat, says when
//! it went out, hands in what came back, and ticks the seat at its [`Match::deadline`].

mod ask;
mod breaker;

use core::fmt;

pub use ask::{Ask, Broken, Fault, MAX_RETRIES, Need};
pub use breaker::Breaker;

use crate::fair::{Draws, Seed};
use crate::games::{Game, Illegal, MAX_SEATS, Seat, Seats};
use crate::json::Value;
use crate::time::Millis;

/// How long players have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// To accept an invitation.
    pub join_ms: Millis,
    /// To make a move.
    pub move_ms: Millis,
    /// The first retry; the second lasts twice, the third four times as long.
    pub retry_base_ms: Millis,
    /// To take note of anything else.
    pub notice_ms: Millis,
    /// For an agent of League of Agents: its first move of a game,
    pub first_turn_ms: Millis,
    /// and every later one. It is not asked again.
    pub turn_ms: Millis,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            join_ms: 5_000,
            move_ms: 30_000,
            retry_base_ms: 1_000,
            notice_ms: 10_000,
            first_turn_ms: 180_000,
            turn_ms: 90_000,
        }
    }
}

/// Where a match stands, by the specification's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Invitations are out.
    WaitingForPlayers,
    /// Everybody joined; moves are awaited.
    CollectingChoices,
    /// Over. (DRAWING_NUMBER, between the two, takes no time here.)
    Finished,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::WaitingForPlayers => "WAITING_FOR_PLAYERS",
            Phase::CollectingChoices => "COLLECTING_CHOICES",
            Phase::Finished => "FINISHED",
        })
    }
}

/// Why a match ended as it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// By the rules of the game.
    Played,
    /// A player did not answer in time.
    Timeout,
    /// A player answered, but never with a legal move.
    Invalid,
    /// A player declined the invitation.
    Refused,
    /// A player could not be reached.
    Disconnected,
    /// Nobody was left to win.
    BothFailed,
    /// The admin decided it: ruled on it, or removed a player.
    Adjudicated,
}

/// The result of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The seats that won. Several have drawn; none: everybody lost.
    pub winners: Seats,
    /// Seats that lost for a technical reason.
    pub forfeits: Seats,
    /// Why it ended.
    pub cause: Cause,
}

/// What became of a move that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It counts.
    Taken,
    /// It breaks a rule of the game.
    Refused(Illegal),
    /// The seat has answered already, or was not asked. The first answer stands.
    Duplicate,
}

/// One match, with room for `SEATS` players: whoever never seats more need not pay for more.
#[derive(Clone, Debug)]
pub struct Match<G, const SEATS: usize = MAX_SEATS> {
    game: G,
    draws: Draws,
    /// How long the first retry lasts.
    retry_base_ms: Millis,
    asks: [Ask; SEATS],
    joined: Seats,
    declined: Seats,
    /// Seats that have joined and are not there.
    away: Seats,
    phase: Phase,
}

impl<G: Game, const SEATS: usize> Match<G, SEATS> {
    /// A match at its beginning: every seat is to be invited. `draws` are those the game was started with.
    pub fn new(game: G, draws: Draws, retry_base_ms: Millis) -> Self {
        let mut asks = [Ask::IDLE; SEATS];
        asks.iter_mut().take(game.seats().into()).for_each(Ask::open);
        let (joined, declined, away) = (Seats::NONE, Seats::NONE, Seats::NONE);
        Self { game, draws, retry_base_ms, asks, joined, declined, away, phase: Phase::WaitingForPlayers }
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The seed that decides the match. Secret until it is over.
    pub fn seed(&self) -> Seed {
        self.draws.seed()
    }

    /// Where it stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// What the link to a seat has to do. In [`Phase::WaitingForPlayers`] the question is the invitation, later a move.
    pub fn need(&self, seat: Seat) -> Need {
        self.asks.get(usize::from(seat)).map_or(Need::Nothing, Ask::need)
    }

    /// Whether a seat is being asked again. That clock runs, so nothing else may keep its link busy.
    pub fn is_retrying(&self, seat: Seat) -> bool {
        self.asks.get(usize::from(seat)).is_some_and(Ask::is_retry)
    }

    /// When a seat next needs [`Match::tick`].
    pub fn deadline(&self, seat: Seat) -> Option<Millis> {
        self.asks.get(usize::from(seat))?.deadline()
    }

    /// When the question to a seat was first put, if it has been, with this `timeout`.
    pub fn asked_at(&self, seat: Seat, timeout: Millis) -> Option<Millis> {
        self.asks.get(usize::from(seat)).filter(|ask| ask.hears())?.asked_at(timeout)
    }

    /// Whether an answer of this seat would count now.
    pub fn hears(&self, seat: Seat) -> bool {
        self.asks.get(usize::from(seat)).is_some_and(Ask::hears)
    }

    /// Whether a seat has lost because no answer came, or none that was any good.
    pub fn has_lost(&self, seat: Seat) -> bool {
        self.asks.get(usize::from(seat)).is_some_and(Ask::is_lost)
    }

    /// Seats that are invited or owe a move, for whoever watches.
    pub fn thinking(&self) -> Seats {
        (0..)
            .zip(&self.asks)
            .filter(|(_, ask)| !ask.is_idle() && !ask.is_lost())
            .map(|(s, _)| s)
            .fold(Seats::NONE, Seats::with)
    }

    /// The question to a seat is on its way; the answer has `timeout` from now.
    pub fn sent(&mut self, seat: Seat, now: Millis, timeout: Millis) {
        if let Some(ask) = self.ask(seat) {
            ask.sent(now, timeout);
        }
    }

    /// The announcement of a retry has arrived, or cannot.
    pub fn announced(&mut self, seat: Seat) {
        let (seed, base) = (self.seed(), self.retry_base_ms);
        if let Some(ask) = self.ask(seat) {
            ask.announced(|retry| step(seed, base, seat, retry));
        }
    }

    /// A seat accepted its invitation.
    pub fn join(&mut self, seat: Seat) -> Heard {
        if self.phase != Phase::WaitingForPlayers || !self.hears(seat) {
            return Heard::Duplicate;
        }
        self.joined = self.joined.with(seat);
        if let Some(ask) = self.ask(seat) {
            ask.answered();
        }
        self.proceed();
        Heard::Taken
    }

    /// A seat that joins without being asked is there, or is not. Who is not when the match ends before it has begun has not
    /// won it: it loses as well.
    pub fn is_there(&mut self, seat: Seat, is_there: bool) {
        self.away = if is_there { self.away.without(Seats::only(seat)) } else { self.away.with(seat) };
    }

    /// A seat declined its invitation.
    pub fn decline(&mut self, seat: Seat) -> Heard {
        if self.phase != Phase::WaitingForPlayers || !self.hears(seat) {
            return Heard::Duplicate;
        }
        self.declined = self.declined.with(seat);
        self.lose(seat, Fault::Unusable(Broken::Move, "the invitation was declined"));
        Heard::Taken
    }

    /// A seat moved. A refused move changes nothing: whoever carries the answer then calls [`Match::fail`].
    pub fn play(&mut self, seat: Seat, wanted: Value<'_>) -> Heard {
        if self.phase != Phase::CollectingChoices || !self.hears(seat) {
            return Heard::Duplicate;
        }
        if let Err(illegal) = self.game.play(seat, wanted, &mut self.draws) {
            return Heard::Refused(illegal);
        }
        if let Some(ask) = self.ask(seat) {
            ask.answered();
        }
        self.proceed();
        Heard::Taken
    }

    /// The last attempt to get an answer from a seat failed.
    pub fn fail(&mut self, seat: Seat, now: Millis, fault: Fault) {
        let (seed, base) = (self.seed(), self.retry_base_ms);
        if let Some(ask) = self.ask(seat) {
            ask.failed(now, fault, |retry| step(seed, base, seat, retry));
        }
        self.proceed();
    }

    /// A seat's deadline has come. True if it has failed to answer by it, for which `fault` is the reason.
    pub fn tick(&mut self, seat: Seat, now: Millis, fault: Fault) -> bool {
        let (seed, base) = (self.seed(), self.retry_base_ms);
        let silent = self.ask(seat).is_some_and(|ask| ask.tick(now, fault, |retry| step(seed, base, seat, retry)));
        self.proceed();
        silent
    }

    /// The same for a seat that is asked only once: it loses.
    pub fn expire(&mut self, seat: Seat, now: Millis, fault: Fault) -> bool {
        let is_late = self.deadline(seat).is_some_and(|at| at <= now);
        if is_late {
            self.lose(seat, fault);
        }
        is_late
    }

    /// A seat loses now, whatever it still had coming. A match that is over stays as it ended.
    pub fn lose(&mut self, seat: Seat, fault: Fault) {
        if self.phase == Phase::Finished {
            return;
        }
        if let Some(ask) = self.ask(seat) {
            ask.lose(fault);
        }
        self.proceed();
    }

    /// Seats whose players are not to be called at all: the match ends at once.
    pub fn absent(&mut self, seats: Seats) {
        if self.phase == Phase::Finished {
            return;
        }
        for seat in seats.iter() {
            if let Some(ask) = self.ask(seat) {
                ask.lose(Fault::Unreachable);
            }
        }
        if !seats.is_empty() {
            self.end_by_forfeit();
        }
    }

    /// Somebody else decides it, now: one seat wins, or several draw.
    pub fn adjudicate(&mut self, winners: Seats) -> Outcome {
        let all = Seats::first(self.game.seats());
        self.game.forfeit(winners.alone().map_or(all, |seat| all.without(Seats::only(seat))), &mut self.draws);
        self.asks.iter_mut().for_each(Ask::answered);
        self.phase = Phase::Finished;
        Outcome { winners, forfeits: Seats::NONE, cause: Cause::Adjudicated }
    }

    /// The result, once there is one.
    pub fn outcome(&self) -> Option<Outcome> {
        if self.phase != Phase::Finished {
            return None;
        }
        let forfeits = self.lost();
        let winners = self.game.standing().map_or(Seats::NONE, |standing| standing.first().without(forfeits));
        let cause = match forfeits.iter().next() {
            None => Cause::Played,
            Some(_) if forfeits.len() == u32::from(self.game.seats()) => Cause::BothFailed,
            Some(seat) if self.declined.has(seat) => Cause::Refused,
            Some(seat) => match self.asks.get(usize::from(seat)).map(Ask::fault) {
                Some(Fault::Unreachable) => Cause::Disconnected,
                Some(Fault::Unusable(..)) => Cause::Invalid,
                _ => Cause::Timeout,
            },
        };
        Some(Outcome { winners, forfeits, cause })
    }

    fn ask(&mut self, seat: Seat) -> Option<&mut Ask> {
        self.asks.get_mut(usize::from(seat))
    }

    fn lost(&self) -> Seats {
        (0..).zip(&self.asks).filter(|(_, ask)| ask.is_lost()).map(|(seat, _)| seat).fold(Seats::NONE, Seats::with)
    }

    /// Moves on as far as the answers allow.
    fn proceed(&mut self) {
        let lost = self.lost();
        // Who still owes an answer is waited for even when somebody has lost: it may lose as well.
        if self.phase == Phase::Finished || !self.thinking().is_empty() {
            return;
        }
        if !lost.is_empty() {
            return self.end_by_forfeit();
        }
        self.phase = Phase::CollectingChoices;
        let owing = self.game.to_move();
        for seat in owing.iter() {
            if let Some(ask) = self.ask(seat) {
                ask.open();
            }
        }
        if owing.is_empty() {
            self.phase = Phase::Finished;
        }
    }

    fn end_by_forfeit(&mut self) {
        if self.phase == Phase::WaitingForPlayers {
            for seat in self.away.iter() {
                if let Some(ask) = self.ask(seat) {
                    ask.lose(Fault::Unreachable);
                }
            }
        }
        let lost = self.lost();
        self.game.forfeit(lost, &mut self.draws);
        for ask in &mut self.asks {
            if !ask.is_lost() {
                ask.answered();
            }
        }
        self.phase = Phase::Finished;
    }
}

/// How long retry number `retry` lasts. The jitter, up to a tenth, keeps a class from retrying in step; it comes from
/// the seed, so that a simulated league repeats to the byte, but not from the draws, which belong to the game.
fn step(seed: Seed, base: Millis, seat: Seat, retry: u8) -> Millis {
    let step = base << retry.clamp(1, MAX_RETRIES).saturating_sub(1);
    let at = (usize::from(seat) * 4 + usize::from(retry)) % seed.0.len();
    let jitter = seed.0.get(at).copied().unwrap_or(0);
    step + step * Millis::from(jitter) / 2_560
}

#[cfg(test)]
mod tests;
