//! Accepts connections and answers requests on them. A worker serves one connection at a time; how many workers there are
//! is how many can be served at once. When few are left, connections that only idle are let go sooner, and every answer is its
//! connection's last: whoever has been answered makes room for who has not.

use core::net::IpAddr;
use core::pin::pin;

use edge_nal::{Close, TcpAccept, TcpShutdown};
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};

use crate::Appliance;
use crate::arena;
use crate::board::Board;
use crate::clock::before;
use crate::http::{Limits, Parts, ServerConn};
use crate::links::{self, Links};
use crate::live;
use crate::routes::apart;
use crate::ws::{End, Link};

/// Free workers below which nobody keeps one for longer than it needs it …
const FEW: u16 = 3;
/// … and as a part of all there are: those who come at once are more where more are served.
const FEW_OF: u16 = 8;
/// How long a connection may idle then, in milliseconds.
const SHORT_IDLE_MS: u64 = 500;
/// How long a request may take to come then, in milliseconds: an honest one is there at once, and one that drips keeps nobody
/// out for long.
const SHORT_REQUEST_MS: u64 = 3_000;
/// How long a closing connection may take to do so, in milliseconds. A lost frame is sent again after one second, and again after
/// two more.
const CLOSE_MS: u64 = 4_000;
/// What is said to who sends frames before it knows that they are understood.
const TOO_EARLY: End = End::Ours(1002, "a client must wait for the answer to its handshake");

impl<B: Board, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<B, P, M, R, L> {
    /// Serves connections, one after the other, and never ends. `buf` holds a whole request and, behind it, what is sent in
    /// one go: all that the request leaves, `spare` bytes or more, and at least [`ANSWER`](crate::ANSWER). Players that dial
    /// in are handed to their lines through `links`.
    pub fn serve<'n, A: TcpAccept>(
        &self,
        acceptor: &'n A,
        links: &Links<A::Socket<'n>, P>,
        buf: &mut [u8],
        spare: usize,
    ) -> impl Future<Output = ()> {
        async move {
            self.watchers.count_worker();
            self.free_workers.set(self.free_workers.get().saturating_add(1));
            // All are counted before the first one serves.
            yield_now().await;
            loop {
                let accepted = acceptor.accept().await.map(|(peer, socket)| (peer.ip(), socket));
                self.free_workers.set(self.free_workers.get().saturating_sub(1));
                match accepted {
                    Ok((peer, socket)) => self.attend(peer, socket, links, buf, spare).await,
                    // Out of sockets, or a connection that died in the queue: the next one may do.
                    Err(_) => self.board.sleep_until(self.board.after(10)).await,
                }
                self.free_workers.set(self.free_workers.get().saturating_add(1));
            }
        }
    }

    /// Serves one connection to its end, or until it is a player's.
    fn attend<S>(
        &self,
        peer: IpAddr,
        mut socket: S,
        links: &Links<S, P>,
        buf: &mut [u8],
        spare: usize,
    ) -> impl Future<Output = ()>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            if let Some(player) = self.converse(peer, &mut socket, buf, spare).await {
                return self.hand_over(links, player, socket);
            }
            let closed = pin!(socket.close(Close::Write));
            let _ = before(&self.board, self.board.after(CLOSE_MS), closed).await;
        }
    }

    fn is_short_of_workers(&self) -> bool {
        self.free_workers.get() < FEW.max(self.watchers.workers() / FEW_OF)
    }

    /// How long a peer may take, as things are now.
    fn limits(&self) -> Limits {
        let usual = Limits::default();
        match self.is_short_of_workers() {
            true => Limits { idle_ms: SHORT_IDLE_MS, request_ms: SHORT_REQUEST_MS, ..usual },
            false => usual,
        }
    }

    /// Answers requests on a connection until one side has enough. `Some` player dialled in and wants to keep it.
    fn converse<S>(
        &self,
        peer: IpAddr,
        socket: &mut S,
        buf: &mut [u8],
        spare: usize,
    ) -> impl Future<Output = Option<u32>>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            let mut conn = ServerConn::new(socket, buf, spare);
            loop {
                let (request, responder) = match conn.receive(&self.board, || self.limits()).await {
                    Ok(Some((request, responder))) if self.is_short_of_workers() => (request, responder.close()),
                    Ok(Some(asked)) => asked,
                    Ok(None) => return None,
                    Err(refusal) => {
                        self.refused.set(self.refused.get().saturating_add(1));
                        let _ = conn.refuse(&self.board, &self.limits(), refusal).await;
                        return None;
                    }
                };
                if let Some(purpose) = Purpose::at(request.path) {
                    if self.greet(peer, request, responder).await {
                        return self.receive_link(peer, purpose, conn.into_parts()).await;
                    }
                } else {
                    // An answer that fails leaves a closed connection: the next receive says so.
                    let _ = self.route(peer, request, responder).await;
                }
                // The next request may be there already: the others get their turn first.
                yield_now().await;
            }
        }
    }

    /// Listens on a new link. `Some` player dialled in and wants to keep it.
    fn receive_link<'b, S>(
        &'b self,
        peer: IpAddr,
        purpose: Purpose,
        Parts { stream, buf, unread }: Parts<'b, &'b mut S>,
    ) -> impl Future<Output = Option<u32>>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            let ms = self.limits().request_ms;
            match purpose {
                _ if unread > 0 => Link::new(stream, &self.board, buf).close(TOO_EARLY).await,
                Purpose::Watch => apart(pin!(self.show_live(peer, &mut Link::new(stream, &self.board, buf)))).await,
                Purpose::Play => return apart(pin!(self.meet(peer, stream, buf, ms))).await,
                Purpose::Arena => return apart(pin!(self.meet_agent(peer, stream, buf, ms))).await,
            }
            None
        }
    }
}

/// What a link is for, by its path.
#[derive(Clone, Copy)]
enum Purpose {
    Play,
    Arena,
    Watch,
}

impl Purpose {
    fn at(path: &str) -> Option<Self> {
        match path {
            links::PATH => Some(Self::Play),
            arena::PATH => Some(Self::Arena),
            live::PATH => Some(Self::Watch),
            _ => None,
        }
    }
}
