//! Accepts connections and answers requests on them. A worker serves one connection at a time; how many workers there are
//! is how many can be served at once. When few are left, connections that only idle are let go sooner.

use core::net::IpAddr;
use core::pin::pin;

use edge_nal::{Close, TcpAccept, TcpShutdown};
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};

use crate::Appliance;
use crate::board::Board;
use crate::clock::before;
use crate::http::{Limits, ServerConn};

/// Free workers below which idling is cut short.
const FEW: u16 = 3;
/// How long a connection may idle then, in milliseconds.
const SHORT_IDLE_MS: u64 = 500;
/// How long a request may take to come then, in milliseconds: an honest one is there at once, and one that drips keeps nobody
/// out for long.
const SHORT_REQUEST_MS: u64 = 3_000;
/// How long a closing connection may take to do so, in milliseconds. A lost frame is sent again after one second, and again after
/// two more.
const CLOSE_MS: u64 = 4_000;
/// Requests on one connection before the others get their turn.
const TURN: u8 = 8;

impl<B: Board, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<B, P, M, R, L> {
    /// Serves connections, one after the other, for ever. `incoming` holds a whole request; `outgoing` what is sent in
    /// one go, 512 bytes or more: the longest head, that of the web page, must fit.
    pub async fn serve<A: TcpAccept>(&self, acceptor: &A, incoming: &mut [u8], outgoing: &mut [u8]) -> ! {
        loop {
            self.free_workers.set(self.free_workers.get().saturating_add(1));
            let accepted = acceptor.accept().await;
            self.free_workers.set(self.free_workers.get().saturating_sub(1));
            match accepted {
                Ok((peer, mut socket)) => {
                    self.converse(peer.ip(), &mut socket, incoming, outgoing).await;
                    let closed = pin!(socket.close(Close::Write));
                    let _ = before(&self.board, self.board.after(CLOSE_MS), closed).await;
                }
                // Out of sockets, or a connection that died in the queue: the next one may do.
                Err(_) => self.board.sleep_until(self.board.after(10)).await,
            }
        }
    }

    /// Answers requests on a connection until one side has enough.
    async fn converse<S: Read + Write>(&self, peer: IpAddr, socket: S, incoming: &mut [u8], outgoing: &mut [u8]) {
        let mut conn = ServerConn::new(socket, incoming, outgoing);
        let mut turn = 0u8;
        loop {
            let few = self.free_workers.get() < FEW;
            let mut limits = Limits::default();
            if few {
                limits.idle_ms = SHORT_IDLE_MS;
                limits.request_ms = SHORT_REQUEST_MS;
            }
            match conn.receive(&self.board, &limits).await {
                Ok(Some((request, responder))) => {
                    // An answer that fails leaves a closed connection: the next receive says so.
                    let _ = self.route(peer, request, responder).await;
                }
                Ok(None) => return,
                Err(refusal) => {
                    self.refused.set(self.refused.get().saturating_add(1));
                    let _ = conn.refuse(&self.board, &limits, refusal).await;
                    return;
                }
            }
            turn += 1;
            if turn == TURN {
                turn = 0;
                yield_now().await;
            }
        }
    }
}
