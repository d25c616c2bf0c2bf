//! Who asks, and what only the owner may do.

use core::fmt::Write as _;

use embassy_futures::yield_now;
use embedded_io_async::Write;
use heapless::String;
use protocol_core::venue::{Change, Command, Denied, Stage};

use crate::Appliance;
use crate::answers::{Answering, JSON, bearer};
use crate::board::{Board, Fault};
use crate::clock::Clock;
use crate::guard;
use crate::http::{Request, WriteError};
use crate::pages::{self, Rows};
use crate::powers::{self, Act};
use crate::routes::{Found, Order, Route};
use crate::settings;

/// How long a board that will be broken on purpose has for its answer, in milliseconds.
const LAST_WORDS_MS: u64 = 500;
const NO_HOUSE: &str = "this board has no house players; a box that runs on a computer has";

/// The code of a screen that may show all there is.
type Code = String<12>;

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    Anybody,
    /// The player of this number, by its token.
    Player(u16),
    /// A screen that may show all there is.
    Projector,
    Owner,
    /// Somebody who shows what is no code.
    Guesser,
}

impl Caller {
    /// What a request is for, to whoever makes it. `None` where it is for the owner alone.
    pub fn may<'r>(self, route: Route<'r>) -> Option<Route<'r>> {
        match (route, self) {
            (Route::Admin(_), Caller::Owner) => Some(route),
            (Route::Admin(_), _) | (Route::Rows(Rows::Player(..)), Caller::Guesser) => None,
            (Route::Rows(Rows::Player(number, _)), caller) => {
                let is_private = caller == Caller::Owner || caller == Caller::Player(number);
                Some(Route::Rows(Rows::Player(number, is_private)))
            }
            (route, _) => Some(route),
        }
    }
}

/// What became of a command.
pub(crate) enum Ordered {
    Done,
    /// It does not fit how the league stands.
    Not(&'static str),
}

/// What became of an order.
enum Obeyed<'a> {
    Done,
    /// So many players are removed.
    Removed(u16),
    /// There is more of it to do.
    Begun(Act),
    Projector(Code),
    Configured,
    Wrong(settings::Wrong<'a>),
    Unread(powers::Wrong<'a>),
    Denied(Denied),
    /// A status, and why.
    Not(u16, &'static str),
    WillBreak(fn(Fault), Fault),
}

impl<B: Board> Appliance<'_, B> {
    /// Who asks, where that makes a difference.
    pub(crate) fn caller(&self, found: &Found<'_>, request: &Request<'_>) -> Caller {
        let Found::This(route) = found else { return Caller::Anybody };
        let shown = bearer(request);
        let is_owner = |shown: &str| guard::is_same(shown, &self.admin_code.borrow());
        let is_projector = |shown: &str| self.projector_code().is_some_and(|code| guard::is_same(shown, &code));
        match (route, shown) {
            (Route::Admin(_) | Route::Match(_) | Route::Rows(Rows::Player(..)), Some(shown)) if is_owner(shown) => {
                Caller::Owner
            }
            (Route::Admin(_), Some(_)) => Caller::Guesser,
            (Route::Match(_), shown) => {
                let given = request.query.split('&').find_map(|part| part.strip_prefix("projector="));
                match given.or(shown) {
                    Some(given) if is_projector(given) => Caller::Projector,
                    // A wrong admin code counts as one here, too: this must not be a place to guess it.
                    Some(_) if given.is_none() => Caller::Guesser,
                    _ => Caller::Anybody,
                }
            }
            (Route::Rows(Rows::Player(..)), Some(shown)) => {
                match self.venue(|venue| venue.player_of_credential(shown)) {
                    Some(number) => Caller::Player(number),
                    // A token that is no longer good is no guess at a code.
                    None if shown.starts_with("tok_") => Caller::Anybody,
                    None => Caller::Guesser,
                }
            }
            _ => Caller::Anybody,
        }
    }

    /// What a screen says that may show all there is, if the owner has asked for such a code.
    fn projector_code(&self) -> Option<Code> {
        let nonce = Some(self.projector.get()).filter(|&nonce| nonce != 0)?;
        let mut code = Code::new();
        write!(code, "{:012x}", self.venue(|venue| venue.projector_code(nonce))).ok()?;
        Some(code)
    }

    /// Answers the owner.
    pub(crate) fn answer_owner<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        order: Order,
        body: &[u8],
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            self.room().await;
            let obeyed = match self.perform(order, body) {
                Obeyed::Begun(act) => self.remove_the_rest(act).await,
                obeyed => obeyed,
            };
            match obeyed {
                // Nothing is only begun by now.
                Obeyed::Done | Obeyed::Begun(_) => self.send(asked, 200, &pages::done).await,
                Obeyed::Removed(n) => self.send(asked, 200, &|venue, sink| pages::removed(venue, n, sink)).await,
                Obeyed::Projector(code) => self.send(asked, 200, &|_, sink| pages::projector(&code, sink)).await,
                Obeyed::Configured => self.send(asked, 200, &settings::write).await,
                Obeyed::Wrong(wrong) => self.send(asked, 400, &|_, sink| pages::error(&wrong, sink)).await,
                Obeyed::Unread(wrong) => self.send(asked, 400, &|_, sink| pages::error(&wrong, sink)).await,
                Obeyed::Denied(denied) => {
                    let status = powers::status(denied);
                    self.send(asked, status, &|_, sink| pages::error(&denied, sink)).await
                }
                Obeyed::Not(status, why) => asked.error(status, why).await,
                Obeyed::WillBreak(break_it, fault) => {
                    let body = br#"{"status":"ok","message":"See you after the reset."}"#;
                    asked.responder()?.respond(200, JSON, body, &[]).await?;
                    // What is answered is not sent yet: that takes the network a moment.
                    self.board.sleep_until(self.board.after(LAST_WORDS_MS)).await;
                    break_it(fault);
                    Ok(())
                }
            }
        }
    }

    /// Goes on with what has begun, one step after the other: each needs room in the journal.
    fn remove_the_rest<'a>(&self, act: Act) -> impl Future<Output = Obeyed<'a>> {
        async move {
            let mut removed: u16 = 1;
            loop {
                yield_now().await;
                self.room().await;
                match self.act(|venue, now| act.perform(venue, now)) {
                    Ok(true) => removed = removed.saturating_add(1),
                    // The league may be over, with so many gone.
                    Ok(false) | Err(_) => return Obeyed::Removed(removed),
                }
            }
        }
    }

    /// Does what the owner commands.
    pub(crate) fn order(&self, command: Command) -> Ordered {
        match self.act(|venue, now| venue.command(now, command)) {
            Ok(()) => {
                if command == Command::Reset {
                    self.journal.reset();
                }
                Ordered::Done
            }
            Err(refusal) => Ordered::Not(refusal.0),
        }
    }

    /// Does what the owner wants. Not inlined: what it takes of the stack would be taken by every request.
    #[inline(never)]
    fn perform<'a>(&self, order: Order, body: &'a [u8]) -> Obeyed<'a> {
        match order {
            Order::Command(command) => match self.order(command) {
                Ordered::Done => Obeyed::Done,
                Ordered::Not(why) => Obeyed::Not(409, why),
            },
            Order::Use(power) => match power.read(body) {
                Ok(act) => match self.act(|venue, now| act.perform(venue, now)) {
                    Ok(true) => Obeyed::Begun(act),
                    Ok(false) if matches!(act, Act::RemoveFrom(_)) => Obeyed::Denied(Denied::Address),
                    Ok(false) => Obeyed::Done,
                    Err(denied) => Obeyed::Denied(denied),
                },
                Err(wrong) => Obeyed::Unread(wrong),
            },
            Order::Configure => match settings::read(body, self.capacity()) {
                Ok(Change { fill_after: Some(Some(_)), .. }) if !self.board.has_house() => Obeyed::Not(404, NO_HOUSE),
                Ok(change) => match self.act(|venue, now| venue.configure(now, change)) {
                    Ok(()) => Obeyed::Configured,
                    Err(refusal) => Obeyed::Not(409, refusal.0),
                },
                Err(wrong) => Obeyed::Wrong(wrong),
            },
            Order::Projector => {
                // Another one each time, and none that there was before a restart.
                let [.., a, b, c, d] = self.board.now().to_be_bytes();
                self.projector.set(u32::from_be_bytes([a, b, c, d]).wrapping_add(1).max(1));
                self.projector_code().map_or(Obeyed::Not(500, "there is no code"), Obeyed::Projector)
            }
            Order::Recover if self.venue(|venue| matches!(venue.stage(), Stage::Running(_))) => {
                Obeyed::Not(409, "a league is being played: what is recovered would take its place")
            }
            Order::Recover if self.journal.recover() => Obeyed::Done,
            Order::Recover => Obeyed::Not(409, "there is nothing to recover; /api/status.json says how the journal is"),
            Order::Topic => match powers::read_topic(body) {
                Ok(topic) => {
                    self.act(|venue, now| venue.set_topic(now, &topic));
                    Obeyed::Configured
                }
                Err(wrong) => Obeyed::Unread(wrong),
            },
            Order::Hire => match powers::read_house(body, self.capacity()) {
                Err(wrong) => Obeyed::Unread(wrong),
                Ok(_) if self.venue(|venue| matches!(venue.stage(), Stage::Running(_))) => {
                    Obeyed::Not(409, "nobody can register while a league runs; house players neither")
                }
                Ok(players)
                    if self.venue(|venue| venue.players().len().saturating_add(players.into()) > self.capacity()) =>
                {
                    Obeyed::Not(409, "there is no room for so many more players")
                }
                Ok(players) if self.board.hire(players) => Obeyed::Done,
                Ok(_) => Obeyed::Not(404, NO_HOUSE),
            },
            Order::Break(fault) => match self.board.breaker() {
                Some(break_it) => Obeyed::WillBreak(break_it, fault),
                None => Obeyed::Not(404, "this board has no watchdog that would bring it back"),
            },
        }
    }
}

/// Says that this is for the owner.
pub(crate) fn stranger<S: Write, C: Clock>(
    asked: &mut Answering<'_, S, C>,
) -> impl Future<Output = Result<(), WriteError>> {
    let words = "Authorization: Bearer <admin code> is required; the box shows the code to its owner";
    asked.error_with(401, words, &[("WWW-Authenticate", "Bearer")])
}
