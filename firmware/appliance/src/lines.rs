//! The line to one player: dials, carries the open call out, brings the reply back. At most one call is open, because a
//! line is one future. A connection is kept for the next call where the player's server keeps it. Where the player dials
//! in, the line keeps the connection it made: see [`links`](crate::links).

use core::fmt::Write as _;
use core::net::SocketAddr;

use edge_nal::{Readable, TcpConnect, TcpShutdown};
use embassy_futures::select::{Either, Either3, select, select3};
use embedded_io_async::{Read, Write};
use heapless::String;
use protocol_core::hall::{Event, Failure, Hall};
use protocol_core::json;

use crate::Appliance;
use crate::board::Board;
use crate::http::{self, CallError, ClientConn};
use crate::links::Links;
use crate::pieces;

/// A call the line has to carry out. What it says, and to which path, is asked of the hall when it is written: on a
/// board a line is memory.
#[derive(Clone, Copy)]
struct Call {
    id: u32,
    is_question: bool,
    to: SocketAddr,
}

/// A connection on which a question was put that may still be answered though its time is over.
struct Late<S> {
    socket: S,
    id: u32,
}

/// What a line does after a connection.
enum Next {
    /// Whatever it has to.
    Nothing,
    /// It reads an answer that comes late and begins with this byte.
    Answered(u8),
}

/// Waits for the first byte of an answer that comes late. Where there is no such connection, or no longer, for ever.
async fn speaks<S: Read>(late: &mut Option<Late<S>>) -> u8 {
    let mut byte = [0];
    if let Some(Late { socket, .. }) = late
        && let Ok(1) = socket.read(&mut byte).await
    {
        let [byte] = byte;
        return byte;
    }
    *late = None;
    core::future::pending().await
}

impl<B: Board, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<B, P, M, R, L> {
    /// Keeps the line to the player at `index`, and never ends. `buf` holds what is sent in one go, head and message, and
    /// then the whole reply: what does not fit is not read.
    ///
    /// A board has this future for every player, so neither this nor what it waits for is an `async fn`: that would keep
    /// its arguments twice.
    pub fn line<N, S>(&self, index: u16, net: &N, links: &Links<S, P>, buf: &mut [u8]) -> impl Future<Output = ()>
    where
        N: TcpConnect,
        S: Read + Write + TcpShutdown,
    {
        async move {
            loop {
                match self.next_call(index, links, None).await {
                    Some(call) => self.dial(index, call, net, links, buf).await,
                    None => self.hold(index, links, buf).await,
                }
            }
        }
    }

    /// Dials, and carries out calls over that connection for as long as it can be used and leads to the right place.
    ///
    /// A question whose time is over may still be answered while its match waits. So its connection is kept while the player is
    /// asked again on another one: a line has two connections then, and where there is no second it only waits for the first.
    fn dial<N: TcpConnect, S>(
        &self,
        index: u16,
        mut call: Call,
        net: &N,
        links: &Links<S, P>,
        buf: &mut [u8],
    ) -> impl Future<Output = ()> {
        async move {
            let mut late = None;
            loop {
                match self.dial_once(index, call, net, links, buf, &mut late).await {
                    Next::Nothing if late.is_none() => return,
                    Next::Nothing => {}
                    Next::Answered(byte) => {
                        if let Some(Late { mut socket, id }) = late {
                            self.hear_late(index, id, call.id, ClientConn::resume(&mut socket, buf, byte)).await;
                        }
                        return;
                    }
                }
                match select(self.next_call(index, links, late.as_ref().map(|late| late.id)), speaks(&mut late)).await {
                    Either::First(Some(next)) => call = next,
                    Either::First(None) => return,
                    Either::Second(byte) => {
                        if let Some(Late { mut socket, id }) = late {
                            self.hear_late(index, id, call.id, ClientConn::resume(&mut socket, buf, byte)).await;
                        }
                        return;
                    }
                }
            }
        }
    }

    /// One connection. What it leaves behind as `late` is waited for beside it.
    fn dial_once<'n, N: TcpConnect, S>(
        &self,
        index: u16,
        mut call: Call,
        net: &'n N,
        links: &Links<S, P>,
        buf: &mut [u8],
        late: &mut Option<Late<N::Socket<'n>>>,
    ) -> impl Future<Output = Next> {
        async move {
            let mut socket = match select3(net.connect(call.to), self.dropped(index, call.id), speaks(late)).await {
                Either3::First(Ok(socket)) => socket,
                Either3::First(Err(_)) => {
                    self.failed(index, call.id, Failure::Unreachable).await;
                    return Next::Nothing;
                }
                Either3::Second(()) => return Next::Nothing,
                Either3::Third(byte) => return Next::Answered(byte),
            };
            let mut is_fresh = true;
            loop {
                let mut conn = ClientConn::new(&mut socket, buf);
                let carried_out = self.carry_out(index, call.id, &mut conn);
                let failure = match select3(carried_out, self.dropped(index, call.id), speaks(late)).await {
                    Either3::First(Ok(true)) => None,
                    Either3::First(Ok(false)) => return Next::Nothing,
                    // The player closed the connection it had kept: a new one may do.
                    Either3::First(Err(CallError::Unanswered)) if !is_fresh => return Next::Nothing,
                    Either3::First(Err(CallError::Unanswered | CallError::Broken)) => Some(Failure::Unreachable),
                    Either3::First(Err(error)) => Some(unreadable(error)),
                    Either3::Second(()) => {
                        if late.is_none() && call.is_question && self.hall(|hall| hall.awaits(index, call.id)) {
                            *late = Some(Late { socket, id: call.id });
                        }
                        return Next::Nothing;
                    }
                    Either3::Third(byte) => return Next::Answered(byte),
                };
                if let Some(failure) = failure {
                    self.failed(index, call.id, failure).await;
                    return Next::Nothing;
                }
                if !conn.is_reusable() {
                    return Next::Nothing;
                }
                // It may just have been answered.
                late.take_if(|late| !self.hall(|hall| hall.awaits(index, late.id)));
                let awaited = late.as_ref().map(|late| late.id);
                // Between calls a player has nothing to say. Whatever comes, mostly the end, must not answer the next one.
                match select3(socket.readable(), self.next_call(index, links, awaited), speaks(late)).await {
                    Either3::Second(Some(next)) if next.to == call.to => call = next,
                    Either3::Third(byte) => return Next::Answered(byte),
                    _ => return Next::Nothing,
                }
                is_fresh = false;
            }
        }
    }

    /// A player answers a question whose time is over. `open` was under way beside it.
    fn hear_late<S: Read + Write>(
        &self,
        player: u16,
        call: u32,
        open: u32,
        mut conn: ClientConn<'_, S>,
    ) -> impl Future<Output = ()> {
        async move {
            let forgotten = async {
                while self.hall(|hall| hall.awaits(player, call)) {
                    self.rung(player).await;
                }
            };
            if let Either::First(Ok(response)) = select(conn.read_rest(), forgotten).await {
                let (status, body) = (response.status, response.body);
                self.room().await;
                self.act(|hall, now| hall.handle(now, Event::Reply { player, call, status, body }));
            }
            if !self.hall(|hall| hall.awaits(player, call)) {
                // What it was asked beside is settled, and nobody is going to say it.
                self.failed(player, open, Failure::Unreadable).await;
            }
        }
    }

    /// False where the message became another one while it was being sent: the call has to be made again.
    fn carry_out<S: Read + Write>(
        &self,
        index: u16,
        call: u32,
        conn: &mut ClientConn<'_, S>,
    ) -> impl Future<Output = Result<bool, CallError>> {
        async move {
            // What is said was decided when the call was made: all that led to it must be safe, what comes later need not.
            self.safe().await;
            if self.hall(|hall| hall.call(index).map(|open| open.id)) != Some(call) {
                return Ok(false);
            }
            {
                // Within braces: what is over makes room for what comes, in a future that a board has for every line.
                let mut request = self.begin(index, conn)?;
                let write = |sink: &mut dyn json::Sink| self.hall(|hall| hall.write_call(index, sink));
                if !pieces::send(&mut request, &write, async || {}).await? {
                    return Ok(false);
                }
                request.finish().await?;
            }
            self.on_its_way(index, call).await;
            let response = conn.read_response().await?;
            let (status, body) = (response.status, response.body);
            self.room().await;
            self.act(|hall, now| hall.handle(now, Event::Reply { player: index, call, status, body }));
            Ok(true)
        }
    }

    /// Begins the request that carries the open call.
    fn begin<'a, S: Read + Write>(
        &self,
        index: u16,
        conn: &'a mut ClientConn<'_, S>,
    ) -> Result<http::Call<'a, S>, CallError> {
        self.hall(|hall| {
            let call = hall.call(index).ok_or(CallError::BadRequest)?;
            let mut host = String::<56>::new();
            let endpoint = call.to.endpoint().ok_or(CallError::BadRequest)?;
            write!(host, "{endpoint}").map_err(|_| CallError::BadRequest)?;
            conn.post(endpoint.path(), &host, None, &[])
        })
    }

    /// Waits until the line has something to do. `None`: the player has dialled in, or nobody waits for the answer to
    /// the `late` call any more.
    async fn next_call<S>(&self, index: u16, links: &Links<S, P>, late: Option<u32>) -> Option<Call> {
        loop {
            if links.has(index) || late.is_some_and(|late| !self.hall(|hall| hall.awaits(index, late))) {
                return None;
            }
            let call = |hall: &Hall<P, M, R, L>| {
                let call = hall.call(index)?;
                let to = call.to.endpoint()?;
                Some(Call { id: call.id, is_question: call.is_question, to: SocketAddr::new(to.ip(), to.port) })
            };
            if let Some(call) = self.hall(call) {
                return Some(call);
            }
            self.rung(index).await;
        }
    }

    /// Waits until the hall drops a call.
    async fn dropped(&self, index: u16, call: u32) {
        while self.hall(|hall| hall.call(index).map(|open| open.id)) == Some(call) {
            self.rung(index).await;
        }
    }

    /// Waits until something about the line has changed.
    async fn rung(&self, index: u16) {
        match self.lines.get(usize::from(index)) {
            Some(bell) => bell.wait().await,
            None => core::future::pending().await,
        }
    }

    /// The hall knows that a call may be heard from now on.
    pub(crate) fn on_its_way(&self, player: u16, call: u32) -> impl Future<Output = ()> {
        async move {
            self.room().await;
            self.act(|hall, now| hall.handle(now, Event::Sent { player, call }));
        }
    }

    pub(crate) fn failed(&self, player: u16, call: u32, failure: Failure) -> impl Future<Output = ()> {
        async move {
            self.room().await;
            self.act(|hall, now| hall.handle(now, Event::Failed { player, call, failure }));
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
