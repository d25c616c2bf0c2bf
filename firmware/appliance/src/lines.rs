//! The line to one player: dials, carries the open call out, brings the reply back. At most one call is open, because a
//! line is one future. A connection is kept for the next call where the player's server keeps it. Where the player dials
//! in, the line keeps the connection it made: see [`links`](crate::links).

use core::fmt::Write as _;
use core::net::SocketAddr;

use edge_nal::{Readable, TcpConnect, TcpShutdown};
use embassy_futures::select::{Either, select};
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
    to: SocketAddr,
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
                match self.next_call(index, links).await {
                    Some(call) => self.dial(index, call, net, links, buf).await,
                    None => self.hold(index, links, buf).await,
                }
            }
        }
    }

    /// Dials, and carries out calls over that connection for as long as it can be used and leads to the right place.
    fn dial<N: TcpConnect, S>(
        &self,
        index: u16,
        mut call: Call,
        net: &N,
        links: &Links<S, P>,
        buf: &mut [u8],
    ) -> impl Future<Output = ()> {
        async move {
            let mut socket = match select(net.connect(call.to), self.dropped(index, call.id)).await {
                Either::First(Ok(socket)) => socket,
                Either::First(Err(_)) => return self.failed(index, call.id, Failure::Unreachable).await,
                Either::Second(()) => return,
            };
            let mut is_fresh = true;
            loop {
                let mut conn = ClientConn::new(&mut socket, buf);
                let carried_out = self.carry_out(index, call.id, &mut conn);
                match select(carried_out, self.dropped(index, call.id)).await {
                    Either::First(Ok(true)) => {}
                    Either::First(Ok(false)) => return,
                    // The player closed the connection it had kept: a new one may do.
                    Either::First(Err(CallError::Unanswered)) if !is_fresh => return,
                    Either::First(Err(CallError::Unanswered | CallError::Broken)) => {
                        return self.failed(index, call.id, Failure::Unreachable).await;
                    }
                    Either::First(Err(error)) => return self.failed(index, call.id, unreadable(error)).await,
                    Either::Second(()) => return,
                }
                if !conn.is_reusable() {
                    return;
                }
                // Between calls a player has nothing to say. Whatever comes, mostly the end, must not answer the next one.
                match select(socket.readable(), self.next_call(index, links)).await {
                    Either::Second(Some(next)) if next.to == call.to => call.id = next.id,
                    _ => return,
                }
                is_fresh = false;
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

    /// Waits until the line has something to do. `None`: the player has dialled in.
    async fn next_call<S>(&self, index: u16, links: &Links<S, P>) -> Option<Call> {
        loop {
            if links.has(index) {
                return None;
            }
            let call = |hall: &Hall<P, M, R, L>| {
                let call = hall.call(index)?;
                let to = call.to.endpoint()?;
                Some(Call { id: call.id, to: SocketAddr::new(to.ip(), to.port) })
            };
            if let Some(call) = self.hall(call) {
                return Some(call);
            }
            match self.lines.get(usize::from(index)) {
                Some(bell) => bell.wait().await,
                None => core::future::pending().await,
            }
        }
    }

    /// Waits until the hall drops a call.
    async fn dropped(&self, index: u16, call: u32) {
        while self.hall(|hall| hall.call(index).map(|open| open.id)) == Some(call) {
            match self.lines.get(usize::from(index)) {
                Some(bell) => bell.wait().await,
                None => core::future::pending().await,
            }
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
