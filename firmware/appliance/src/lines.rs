//! Calls to players that are servers: a slot is hired when a player's line has something to say, dials, carries the open call
//! out and brings the reply back. A connection is kept for the next call where the player's server keeps it and slots are
//! plentiful. For players that dial in instead see [`links`](crate::links).

use core::fmt::Write as _;
use core::net::SocketAddr;
use core::pin::pin;

use edge_nal::{Readable, TcpConnect};
use embassy_futures::select::{Either, select};
use embedded_io_async::{Read, Write};
use heapless::String;
use protocol_core::json;
use protocol_core::venue::{Event, Failure, Venue};

use crate::Appliance;
use crate::answers::apart;
use crate::board::{Board, Said};
use crate::http::{self, By, CallError, ClientConn, Response};
use crate::pieces;
use crate::slots::{Id, Role};

/// A call that has to be carried out. What it says, and to which path, is asked of the venue when it is written: on a
/// board a slot is memory.
#[derive(Clone, Copy)]
struct Call {
    id: u32,
    is_question: bool,
    to: SocketAddr,
}

/// The open call to a player that is a server.
fn call_to(venue: &Venue<'_>, player: u16) -> Option<Call> {
    let call = venue.call(player)?;
    let to = call.to.endpoint()?;
    Some(Call { id: call.id, is_question: call.is_question, to: SocketAddr::new(to.ip(), to.port) })
}

/// Whether somebody has to dial a player.
pub(crate) fn has_call(venue: &Venue<'_>, player: u16) -> bool {
    call_to(venue, player).is_some()
}

impl<B: Board> Appliance<'_, B> {
    /// Calls a player for as long as there is something to tell it.
    ///
    /// A board has this future for every slot, so neither this nor what it waits for is an `async fn`: that would keep
    /// its arguments twice.
    pub(crate) fn dial<N: TcpConnect>(
        &self,
        slot: Id,
        player: u16,
        net: &N,
        buf: &mut [u8],
    ) -> impl Future<Output = ()> {
        async move {
            while let Some(call) = self.venue(|venue| call_to(venue, player)).filter(|_| self.carries(slot, player)) {
                let connected = match select(net.connect(call.to), self.dropped(slot, player, call.id)).await {
                    Either::First(connected) => connected,
                    Either::Second(()) => continue,
                };
                match connected {
                    Ok(mut socket) => apart(pin!(self.call_over(slot, player, call, &mut socket, buf))).await,
                    Err(_) => self.failed(player, call.id, Failure::Unreachable).await,
                }
            }
            self.venue(|venue| self.slots.leave(slot, player, || has_call(venue, player)));
        }
    }

    fn carries(&self, slot: Id, player: u16) -> bool {
        self.slots.carries(slot, player)
    }

    /// Carries out calls over a connection for as long as it can be used and leads to the right place.
    fn call_over<S: Read + Write + Readable>(
        &self,
        slot: Id,
        player: u16,
        mut call: Call,
        socket: &mut S,
        buf: &mut [u8],
    ) -> impl Future<Output = ()> {
        async move {
            let mut is_fresh = true;
            loop {
                let carried_out = {
                    let mut conn = ClientConn::new(By(socket), &mut *buf).may_grow(self.has_wide());
                    match select(self.carry_out(player, call.id, &mut conn), self.over(slot, player, call)).await {
                        Either::First(carried_out) => carried_out.map(|done| done && conn.is_reusable()),
                        Either::Second(()) => return,
                    }
                };
                let failure = match carried_out {
                    Ok(true) => None,
                    Ok(false) => return,
                    // The player closed the connection it had kept: a new one may do.
                    Err(CallError::Unanswered) if !is_fresh => return,
                    Err(CallError::Unanswered | CallError::Broken) => Some(Failure::Unreachable),
                    Err(error) => Some(unreadable(error)),
                };
                if !self.carries(slot, player) {
                    return;
                }
                if let Some(failure) = failure {
                    return self.failed(player, call.id, failure).await;
                }
                // Between calls a player has nothing to say. Whatever comes, mostly the end, must not answer the next one.
                match select(socket.readable(), self.next_call(slot, player)).await {
                    Either::Second(Some(next)) if next.to == call.to => call = next,
                    _ => return,
                }
                is_fresh = false;
            }
        }
    }

    /// False where the message became another one while it was being sent: the call has to be made again.
    fn carry_out<S: Read + Write>(
        &self,
        player: u16,
        call: u32,
        conn: &mut ClientConn<'_, S>,
    ) -> impl Future<Output = Result<bool, CallError>> {
        async move {
            // What is said was decided when the call was made: all that led to it must be safe, what comes later need not.
            self.safe().await;
            if self.open_call(player) != Some(call) {
                return Ok(false);
            }
            self.act(|venue, now| venue.handle(now, Event::Begun { player, call }));
            self.record_call(player, call);
            {
                // Within braces: what is over makes room for what comes, in a future that a board has for every slot.
                let mut request = self.begin(player, conn)?;
                let write = |sink: &mut dyn json::Sink| self.venue(|venue| venue.write_call(player, sink));
                if !pieces::send(&mut request, &write, async || {}).await? {
                    return Ok(false);
                }
                request.finish().await?;
            }
            self.on_its_way(player, call).await;
            let error = match conn.read_response().await {
                Ok(response) => return Ok(self.take_reply(player, call, response).await),
                Err(error) => error,
            };
            if !matches!(error, CallError::TooLong { .. } | CallError::HeadTooLong) || !self.has_wide() {
                return Err(error);
            }
            let mut wide = self.lend(self.long_for(player)).await.ok_or(error)?;
            let mut conn = conn.grow(&mut wide);
            let response = conn.read_rest().await?;
            Ok(self.take_reply(player, call, response).await)
        }
    }

    /// A player has answered a call.
    fn take_reply(&self, player: u16, call: u32, response: Response<'_>) -> impl Future<Output = bool> {
        let (status, body) = (response.status, response.body);
        async move {
            self.room().await;
            let beside = self.open_call(player).filter(|&open| open != call);
            self.record_reply(player, call, status, body);
            self.act(|venue, now| venue.handle(now, Event::Reply { player, call, status, body }));
            if let Some(beside) = beside
                && !self.venue(|venue| venue.awaits(player, call))
            {
                // What it was asked beside is settled, and nobody needs to say it.
                self.failed(player, beside, Failure::Unreadable).await;
            }
            true
        }
    }

    /// Takes the open call of a line down.
    pub(crate) fn record_call(&self, line: u16, call: u32) {
        if B::RECORDS
            && let Some(to) = self.venue(|venue| venue.call(line).map(|call| call.to.ip()))
        {
            self.board.record(Said::Call(to, call), &|sink| self.venue(|venue| venue.write_call(line, sink)));
        }
    }

    /// Takes down what came back.
    pub(crate) fn record_reply(&self, line: u16, call: u32, status: u16, body: &[u8]) {
        if !B::RECORDS {
            return;
        }
        // A call may be to a player's referee.
        let to = self.venue(|venue| venue.call(line).filter(|open| open.id == call).map(|open| open.to.ip()));
        if let Some(from) = to.or_else(|| self.address_of(line)) {
            self.board.record(Said::Reply(from, call, status), &|sink| sink.put(body));
        }
    }

    fn open_call(&self, player: u16) -> Option<u32> {
        self.venue(|venue| venue.call(player).map(|open| open.id))
    }

    /// Begins the request that carries the open call.
    fn begin<'a, S: Read + Write>(
        &self,
        player: u16,
        conn: &'a mut ClientConn<'_, S>,
    ) -> Result<http::Call<'a, S>, CallError> {
        self.venue(|venue| {
            let call = venue.call(player).ok_or(CallError::BadRequest)?;
            let mut host = String::<56>::new();
            let endpoint = call.to.endpoint().ok_or(CallError::BadRequest)?;
            write!(host, "{endpoint}").map_err(|_| CallError::BadRequest)?;
            conn.post(endpoint.path(), &host, None, &[])
        })
    }

    /// Keeps a connection until there is another call. `None`: it has to be let go.
    fn next_call(&self, slot: Id, player: u16) -> impl Future<Output = Option<Call>> {
        async move {
            loop {
                if !self.carries(slot, player) {
                    return None;
                }
                if let Some(call) = self.venue(|venue| call_to(venue, player)) {
                    self.slots.set(slot, Role::Busy);
                    return Some(call);
                }
                if self.slots.is_short() || self.slots.role(slot) == Role::LetGo {
                    return None;
                }
                self.slots.set(slot, Role::Idle);
                self.slots.rung(slot).await;
            }
        }
    }

    /// Waits until the venue drops a call.
    fn dropped(&self, slot: Id, player: u16, call: u32) -> impl Future<Output = ()> {
        async move {
            while self.open_call(player) == Some(call) {
                self.slots.rung(slot).await;
            }
        }
    }

    /// Waits until nobody waits for the answer to a call any more. A question whose time is over may still be answered while its
    /// match waits: its connection stays, and the player is asked again on another one, if there is a slot for it.
    fn over(&self, slot: Id, player: u16, call: Call) -> impl Future<Output = ()> {
        async move {
            loop {
                if self.open_call(player) != Some(call.id) {
                    let waits = |venue: &Venue<'_>| {
                        call.is_question
                            && venue.awaits(player, call.id)
                            && self.slots.role(slot) != Role::LetGo
                            && self.slots.wait_late(slot, player, || has_call(venue, player))
                    };
                    if !self.venue(waits) {
                        return;
                    }
                }
                self.slots.rung(slot).await;
            }
        }
    }

    /// The venue knows that a call may be heard from now on.
    pub(crate) fn on_its_way(&self, player: u16, call: u32) -> impl Future<Output = ()> {
        async move {
            self.room().await;
            self.act(|venue, now| venue.handle(now, Event::Sent { player, call }));
        }
    }

    pub(crate) fn failed(&self, player: u16, call: u32, failure: Failure) -> impl Future<Output = ()> {
        async move {
            self.room().await;
            self.act(|venue, now| venue.handle(now, Event::Failed { player, call, failure }));
        }
    }
}

/// What a reply that cannot be read says. The long page of a web server that has no such path says that by its status.
fn unreadable(error: CallError) -> Failure {
    match error {
        CallError::TooLong { status } if !(200..300).contains(&status) => Failure::Status(status),
        _ => Failure::Unreadable,
    }
}
