//! One match: invite, ask, judge, announce. Knows the [`Game`] contract and no particular game; knows seats, and no
//! players, messages or connections. Whoever carries the messages asks [`Match::need`] what to send to a seat, says when
//! it went out, hands in what came back, and calls [`Match::due`] at the seat's [`Match::deadline`]. What follows from being
//! late or gone is the seat's [`Policy`], which comes with every call that it decides.

mod ask;
mod breaker;
mod clock;
mod past;
mod policy;

use core::fmt;
use core::ops::ControlFlow;

use serde::Serialize;

pub use ask::{Ask, Broken, Fault, MAX_RETRIES, Need};
pub use breaker::Breaker;
pub use past::Past;
pub use policy::{Late, Policy};

use ask::Retries;
use clock::{Since, lasting};

use crate::fair::{Draws, Seed};
use crate::games::{Game, Illegal, MAX_SEATS, MoveSink, Order, Seat, Seats, Word};
use crate::json::{self, Slice, Value};
use crate::time::Millis;

/// Where a match stands, by the specification's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Invitations are out.
    WaitingForPlayers,
    /// Everybody joined; moves are awaited.
    CollectingChoices,
    /// Everybody has moved, and the audience decides: ours, for games that have one.
    Voting,
    /// Over. (DRAWING_NUMBER, between the two, takes no time here.)
    Finished,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::WaitingForPlayers => "WAITING_FOR_PLAYERS",
            Phase::CollectingChoices => "COLLECTING_CHOICES",
            Phase::Voting => "VOTING",
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
    /// It had lasted as long as it may.
    TimeUp,
    /// A player gave up.
    Resigned,
}

impl Cause {
    /// All of them, in the order journals know: new ones come behind the others.
    pub const ALL: [Cause; 9] = [
        Cause::Played,
        Cause::Timeout,
        Cause::Invalid,
        Cause::Refused,
        Cause::Disconnected,
        Cause::BothFailed,
        Cause::Adjudicated,
        Cause::TimeUp,
        Cause::Resigned,
    ];
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

/// What came of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// Nothing that the player could have prevented.
    Nothing,
    /// It was late, or gone for too long.
    Late,
    /// The same, and a move was made for it.
    Moved,
}

/// The most bytes a move takes as JSON. One that is longer is not made for a late player, who then loses, and not filmed.
pub const MOVE_BYTES: usize = 168;

/// One match, with room for `SEATS` players: whoever never seats more need not pay for more.
#[derive(Clone, Debug)]
pub struct Match<G, const SEATS: usize = MAX_SEATS> {
    game: G,
    draws: Draws,
    began: Millis,
    /// When it has lasted as long as it may, or its vote has; never where that is the last moment there is.
    ends: Since,
    asks: [Ask; SEATS],
    declined: Seats,
    /// Seats that have joined and are not there.
    away: Seats,
    phase: Phase,
    is_time_up: bool,
}

impl<G: Game, const SEATS: usize> Match<G, SEATS> {
    /// A match at its beginning: every seat is to be invited. `draws` are those the game was started with; it lasts at most
    /// `cap`.
    pub fn new(game: G, draws: Draws, now: Millis, cap: Option<Millis>) -> Self {
        let mut asks = [Ask::IDLE; SEATS];
        asks.iter_mut().take(game.seats().into()).for_each(Ask::open);
        let (declined, away, ends) = (Seats::NONE, Seats::NONE, cap.map_or(Since::MAX, lasting));
        Self { game, draws, began: now, ends, asks, declined, away, phase: Phase::WaitingForPlayers, is_time_up: false }
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

    /// When it began.
    pub fn began(&self) -> Millis {
        self.began
    }

    /// How long it has lasted.
    pub fn elapsed(&self, now: Millis) -> Since {
        lasting(now.saturating_sub(self.began))
    }

    /// When a seat next needs [`Match::due`].
    pub fn deadline(&self, seat: Seat) -> Option<Millis> {
        if self.phase == Phase::Finished {
            return None;
        }
        let of_seat = self.asks.get(usize::from(seat))?.deadline();
        let next = of_seat.into_iter().chain([self.ends]).min().filter(|&next| next != Since::MAX)?;
        Some(self.began.saturating_add(next.into()))
    }

    /// How long a seat has left for what it is asked, be its clock standing.
    pub fn left(&self, seat: Seat, now: Millis) -> Option<Since> {
        self.asks.get(usize::from(seat))?.left(self.elapsed(now))
    }

    /// How long the player of a seat that is gone may still be so.
    pub fn grace_left(&self, seat: Seat, now: Millis) -> Option<Since> {
        self.asks.get(usize::from(seat))?.grace_left(self.elapsed(now))
    }

    /// When the question to a seat was first put, if it has been. Time in which its clock stood still does not count.
    pub fn asked_at(&self, seat: Seat) -> Option<Millis> {
        Some(self.began.saturating_add(self.asks.get(usize::from(seat))?.asked_at()?.into()))
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

    /// How long a seat has for what it is asked now.
    pub fn time_for(&self, policy: &Policy) -> Millis {
        let first_turns = if self.game.rules().order == Order::InTurn { self.game.seats().into() } else { 1 };
        policy.time_for(self.phase == Phase::WaitingForPlayers, self.game.turn() <= first_turns)
    }

    /// The question to a seat is on its way.
    pub fn sent(&mut self, seat: Seat, now: Millis, policy: &Policy) {
        let (at, timeout) = (self.elapsed(now), lasting(self.time_for(policy)));
        if let Some(ask) = self.ask(seat) {
            ask.sent(at, timeout);
        }
        self.keep_clocks(at);
    }

    /// The announcement of a retry has arrived, or cannot.
    pub fn announced(&mut self, seat: Seat, policy: &Policy) {
        let retries = self.retries(seat, policy);
        if let Some(ask) = self.ask(seat) {
            ask.announced(retries);
        }
    }

    /// A seat that needs no invitation is taken.
    pub fn take_seat(&mut self, seat: Seat) {
        if self.phase == Phase::WaitingForPlayers
            && let Some(ask) = self.ask(seat)
        {
            ask.answered();
            self.proceed();
        }
    }

    /// A seat accepted its invitation.
    pub fn join(&mut self, seat: Seat) -> Heard {
        if self.phase != Phase::WaitingForPlayers || !self.hears(seat) {
            return Heard::Duplicate;
        }
        if let Some(ask) = self.ask(seat) {
            ask.answered();
        }
        self.proceed();
        Heard::Taken
    }

    /// The player of a seat that is asked by its game is there, or is not: where its policy says so, all clocks stand still
    /// until it is. Who is not when the match ends before it has begun has not won it: it loses as well.
    pub fn is_there(&mut self, seat: Seat, now: Millis, is_there: bool, policy: &Policy) {
        let at = self.elapsed(now);
        if self.phase == Phase::Voting {
            // Nobody waits for who has said it all.
            return;
        }
        self.away = if is_there { self.away.without(Seats::only(seat)) } else { self.away.with(seat) };
        let Some(ask) = self.ask(seat) else { return };
        match policy.grace_ms {
            _ if is_there => ask.come_back(at),
            Some(grace) if !ask.is_lost() => ask.leave(at, lasting(grace)),
            _ => {}
        }
        self.keep_clocks(at);
    }

    /// Nobody's clock runs while somebody is missing.
    fn keep_clocks(&mut self, at: Since) {
        let stand = self.asks.iter().any(Ask::is_missing);
        self.asks.iter_mut().for_each(|ask| ask.keep_clock(stand, at));
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

    /// Whether a move of this seat would count now: it is asked for one, or [may act](Game::may_act) without being asked.
    pub fn takes(&self, seat: Seat, wanted: Option<Value<'_>>) -> bool {
        self.hears(seat) || self.may_act(seat, wanted)
    }

    /// The answer of a seat was an [act](Game::is_act), so it still owes its move: it is asked once more, in the time it has.
    pub fn ask_once_more(&mut self, seat: Seat) {
        if let Some(ask) = self.ask(seat) {
            ask.once_more();
        }
    }

    /// A seat moved. A refused move changes nothing: whoever carries the answer to a question then calls [`Match::fail`]. One
    /// that was not asked for has no clock that could run out, and costs its seat nothing. `past` has the positions there were.
    pub fn play(&mut self, seat: Seat, wanted: Value<'_>, past: &mut impl Past) -> Heard {
        if self.phase != Phase::CollectingChoices || !self.takes(seat, Some(wanted)) {
            return Heard::Duplicate;
        }
        let is_answer = self.hears(seat) && !self.game.is_act(wanted);
        if let Err(illegal) = self.make_move(seat, wanted, past) {
            return Heard::Refused(illegal);
        }
        if let Some(ask) = self.ask(seat).filter(|_| is_answer) {
            ask.moved();
        }
        if !is_answer {
            self.let_off();
        }
        self.proceed();
        Heard::Taken
    }

    /// The last attempt to get an answer from a seat failed. Who is not asked again has until its time is over to mend it.
    pub fn fail(&mut self, seat: Seat, now: Millis, fault: Fault, policy: &Policy) {
        if let Late::AskAgain { .. } = policy.late {
            let (at, retries) = (self.elapsed(now), self.retries(seat, policy));
            if let Some(ask) = self.ask(seat) {
                ask.failed(at, fault, retries);
            }
            self.proceed();
        }
    }

    /// A seat's deadline has come: its policy says what follows. `fault` is the reason if it has failed to answer by it; a move
    /// that is made for it is told to `film`, and how often it has brought its position about.
    pub fn due(
        &mut self,
        seat: Seat,
        now: Millis,
        fault: Fault,
        policy: &Policy,
        past: &mut impl Past,
        film: impl FnOnce(&G, Value<'_>, u8),
    ) -> Lapse {
        let at = self.elapsed(now);
        if self.phase == Phase::Finished {
            return Lapse::Nothing;
        }
        if at >= self.ends {
            if self.phase == Phase::Voting {
                self.close_vote()
            } else {
                self.end_level()
            }
            return Lapse::Nothing;
        }
        if self.phase == Phase::Voting {
            return Lapse::Nothing;
        }
        let Some(ask) = self.asks.get(usize::from(seat)).copied() else { return Lapse::Nothing };
        if ask.is_gone(at) {
            // Whoever else is gone by then has not won it.
            self.absent(self.seats_that(Ask::is_missing));
            return Lapse::Late;
        }
        if let Late::AskAgain { .. } = policy.late {
            let retries = self.retries(seat, policy);
            let is_late = self.ask(seat).is_some_and(|ask| ask.tick(at, fault, retries));
            self.proceed();
            return if is_late { Lapse::Late } else { Lapse::Nothing };
        }
        if !ask.is_late(at) {
            return Lapse::Nothing;
        }
        let missed = self.ask(seat).map_or(0, Ask::miss);
        match policy.late {
            Late::PlayFirst { forfeit_after }
                if forfeit_after.is_none_or(|n| missed < n) && self.play_first(seat, past, film) =>
            {
                return Lapse::Moved;
            }
            Late::LoseTurn { forfeit_after } if missed < forfeit_after && self.phase == Phase::CollectingChoices => {
                if let Some(ask) = self.ask(seat) {
                    ask.open();
                }
            }
            _ => self.lose(seat, fault),
        }
        Lapse::Late
    }

    /// A seat loses now, whatever it still had coming. A match that is over stays as it ended.
    pub fn lose(&mut self, seat: Seat, fault: Fault) {
        if matches!(self.phase, Phase::Voting | Phase::Finished) {
            return;
        }
        if let Some(ask) = self.ask(seat) {
            ask.lose(fault);
        }
        self.proceed();
    }

    /// A seat gives the match up, or is out of it for good: it ends at once.
    pub fn give_up(&mut self, seat: Seat, fault: Fault) {
        if self.phase == Phase::Finished {
            return;
        }
        if let Some(ask) = self.ask(seat) {
            ask.lose(fault);
        }
        self.end_by_forfeit();
    }

    /// Seats whose players are not to be called at all: the match ends at once.
    pub fn absent(&mut self, seats: Seats) {
        if matches!(self.phase, Phase::Voting | Phase::Finished) {
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

    /// Nobody moves any more: the audience decides, whatever has been played. After a restart, as the game was when it did. False
    /// where the game has no audience.
    pub fn open_vote(&mut self, digest: Option<u64>) -> bool {
        if self.phase != Phase::Voting && self.phase != Phase::Finished {
            self.game.tell(Word::VoteOpens(digest));
            if self.game.is_voting() {
                self.begin_vote();
            }
        }
        self.phase == Phase::Voting
    }

    /// A seat wants to say no more, in a game whose audience decides.
    pub fn leaves(&mut self, seat: Seat) {
        self.game.tell(Word::Leaves(seat));
    }

    /// The vote lasts so long from now on.
    pub fn vote_lasts(&mut self, now: Millis, vote_ms: Millis) {
        if self.phase == Phase::Voting {
            self.ends = self.elapsed(now).saturating_add(lasting(vote_ms));
        }
    }

    /// How long the vote lasts from now on, while there is one.
    pub fn vote_left(&self, now: Millis) -> Option<Since> {
        (self.phase == Phase::Voting).then(|| self.ends.saturating_sub(self.elapsed(now)))
    }

    /// So many are for each seat.
    pub fn votes(&mut self, votes: [u16; MAX_SEATS]) {
        self.game.tell(Word::Votes(votes));
    }

    /// The vote is over, and so is the match.
    pub fn close_vote(&mut self) {
        if self.phase == Phase::Voting {
            self.game.tell(Word::VoteCloses);
            self.phase = Phase::Finished;
        }
    }

    /// It is about what the owner has said.
    pub fn own_topic(&mut self) {
        self.game.tell(Word::OwnTopic);
    }

    /// Until somebody says how long it lasts it does not end.
    fn begin_vote(&mut self) {
        (self.phase, self.ends, self.asks) = (Phase::Voting, Since::MAX, [Ask::IDLE; SEATS]);
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
        let lost = self.lost();
        // Who gives up has lost, but for no technical reason.
        let forfeits = lost.without(self.seats_that(|ask| ask.is_lost() && ask.fault() == Fault::Resigned));
        let winners = match self.game.standing() {
            _ if self.is_time_up => Seats::first(self.game.seats()),
            standing => standing.map_or(Seats::NONE, |standing| standing.first().without(lost)),
        };
        let cause = match lost.iter().next() {
            None if self.is_time_up => Cause::TimeUp,
            None => Cause::Played,
            Some(_) if lost.len() == u32::from(self.game.seats()) => Cause::BothFailed,
            Some(seat) if self.declined.has(seat) => Cause::Refused,
            Some(seat) => match self.asks.get(usize::from(seat)).map(Ask::fault) {
                Some(Fault::Unreachable) => Cause::Disconnected,
                Some(Fault::Unusable(..)) => Cause::Invalid,
                Some(Fault::Resigned) => Cause::Resigned,
                _ => Cause::Timeout,
            },
        };
        Some(Outcome { winners, forfeits, cause })
    }

    /// Whether a seat that is not asked may make a move: any that its game takes of who owes none, or an act while its question waits
    /// to be put.
    fn may_act(&self, seat: Seat, wanted: Option<Value<'_>>) -> bool {
        let Some(ask) = self.asks.get(usize::from(seat)) else { return false };
        let may = match ask.is_idle() {
            true => self.game.may_act().has(seat),
            false => self.game.to_move().has(seat) && wanted.is_some_and(|wanted| self.game.is_act(wanted)),
        };
        may && !ask.is_lost() && self.phase == Phase::CollectingChoices
    }

    /// After an act nobody asked for: who owed a move and owes it no longer is not waited for.
    fn let_off(&mut self) {
        let owing = self.game.to_move();
        let off = (0..).zip(&mut self.asks).filter(|(seat, ask)| !owing.has(*seat) && !ask.is_lost());
        off.for_each(|(_, ask)| ask.answered());
    }

    fn ask(&mut self, seat: Seat) -> Option<&mut Ask> {
        self.asks.get_mut(usize::from(seat))
    }

    fn lost(&self) -> Seats {
        self.seats_that(Ask::is_lost)
    }

    fn seats_that(&self, are: impl Fn(&Ask) -> bool) -> Seats {
        (0..).zip(&self.asks).filter(|(_, ask)| are(ask)).map(|(seat, _)| seat).fold(Seats::NONE, Seats::with)
    }

    /// How a seat is asked again, by its policy; it is not where that says nothing of it.
    fn retries(&self, seat: Seat, policy: &Policy) -> Retries<impl Fn(u8) -> Since + use<G, SEATS>> {
        let (times, base_ms) = match policy.late {
            Late::AskAgain { times, base_ms } => (times.min(MAX_RETRIES), base_ms),
            _ => (0, 0),
        };
        let (seed, patience) = (self.seed(), lasting(self.time_for(policy)));
        Retries { times, patience, step: move |retry| lasting(step(seed, base_ms, seat, retry)) }
    }

    /// Makes the first legal move for a seat. False where the game lists none, or none that is short enough.
    fn play_first(&mut self, seat: Seat, past: &mut impl Past, film: impl FnOnce(&G, Value<'_>, u8)) -> bool {
        struct First {
            text: [u8; MOVE_BYTES],
            len: Option<usize>,
        }
        impl MoveSink for First {
            fn legal_move<M: Serialize>(&mut self, legal: &M) -> ControlFlow<()> {
                let mut text = Slice::new(&mut self.text);
                self.len = json::write(legal, &mut text).is_ok().then(|| text.len());
                ControlFlow::Break(())
            }
        }
        let mut first = First { text: [0; MOVE_BYTES], len: None };
        if self.phase == Phase::CollectingChoices {
            self.legal_moves(seat, |position| past.times(position), &mut first);
        }
        let text = first.len.and_then(|len| first.text.get(..len));
        let Some(wanted) = text.and_then(|text| json::parse(text).ok()) else { return false };
        let Ok(times) = self.make_move(seat, wanted, past) else { return false };
        film(&self.game, wanted, times);
        if let Some(ask) = self.ask(seat) {
            ask.answered();
        }
        self.proceed();
        true
    }

    /// It has lasted as long as it may: nobody has won, unless there is an audience to decide.
    fn end_level(&mut self) {
        if !self.lost().is_empty() {
            return self.end_by_forfeit();
        }
        if self.open_vote(None) {
            return;
        }
        self.game.forfeit(Seats::first(self.game.seats()), &mut self.draws);
        self.asks.iter_mut().for_each(Ask::answered);
        (self.phase, self.is_time_up) = (Phase::Finished, true);
    }

    /// Moves on as far as the answers allow.
    fn proceed(&mut self) {
        let lost = self.lost();
        // Who still owes an answer is waited for even when somebody has lost: it may lose as well.
        if matches!(self.phase, Phase::Voting | Phase::Finished) || !self.thinking().is_empty() {
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
        if self.game.is_voting() {
            self.begin_vote();
        } else if owing.is_empty() {
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
    let at = usize::from(seat).saturating_mul(4).saturating_add(retry.into());
    let jitter = seed.0.iter().cycle().nth(at).copied().unwrap_or(0);
    step.saturating_add(step.saturating_mul(jitter.into()) / 2_560)
}

#[cfg(test)]
mod tests;
