//! The life of a slot: it listens, and is then what it is asked to be. Accepts connections and answers requests on them. When
//! few slots are left, connections that only idle are let go sooner, and every answer is its connection's last: whoever has been
//! answered makes room for who has not.

use core::net::IpAddr;
use core::pin::pin;

use edge_nal::{Close, TcpAccept, TcpConnect, TcpShutdown};
use embassy_futures::select::{Either, select};
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};

use crate::Appliance;
use crate::answers::{Answering, Left, apart};
use crate::arena::Met;
use crate::board::Board;
use crate::clock::before;
use crate::http::{By, Limits, Refusal, ServerConn};
use crate::routes::{self, Purpose};
use crate::slots::{Id, Role};
use crate::web::File;
use crate::ws::{End, Lent, Link, Long};
use crate::{ANSWER, WINDOW, lines};

/// How long a connection may idle when few slots are free, in milliseconds.
const SHORT_IDLE_MS: u64 = 500;
/// How long a request may take to come then, in milliseconds: an honest one is there at once, and one that drips keeps nobody
/// out for long.
const SHORT_REQUEST_MS: u64 = 3_000;
/// How long a block of an answer may take then to be read, in milliseconds.
const SHORT_WRITE_MS: u32 = 3_000;
/// How long whoever needs a larger buffer than the slot's waits for one, in milliseconds.
const WAIT_MS: u64 = 2_000;
/// How long a peer may keep such a buffer waiting in all while it reads a long answer from it, in milliseconds. Only the spare
/// one is lent for that, and for the page unpacked, which browsers do not ask for.
const KEEP_MS: u32 = 20_000;
/// How long a closing connection may take to do so, in milliseconds. A lost frame is sent again after one second, and again after
/// two more.
const CLOSE_MS: u64 = 4_000;
/// What is said to who sends frames before it knows that they are understood.
const TOO_EARLY: End = End::Ours(1002, "a client must wait for the answer to its handshake");

/// What becomes of a connection on which requests are answered.
enum Next {
    /// It is over.
    Over,
    /// It is a link.
    Link(Purpose),
    /// It is one, and to be closed: frames came before the handshake was answered.
    TooEarly,
    /// The request is too long for the buffer, which so many bytes of it fill.
    Longer(usize),
    /// The request that was too long is answered; so many bytes came behind it.
    Shorter(usize),
    /// There was no larger buffer in time for a request of which so many bytes have come.
    Busy(usize),
    /// A file is to be sent that takes more room to unpack than there was.
    Unpack(&'static File),
}

/// What a request and its answer may take of a slot's buffer.
fn within(buf: &mut [u8], [request, answer]: [u16; 2]) -> &mut [u8] {
    let end = buf.len().min(usize::from(request).saturating_add(answer.into()));
    buf.get_mut(..end).unwrap_or_default()
}

/// The first bytes of one buffer are those of another one, too.
fn copy(from: &mut [u8], to: &mut [u8], bytes: usize) {
    to.iter_mut().zip(from.iter()).take(bytes).for_each(|(to, &from)| *to = from);
}

impl<B: Board> Appliance<'_, B> {
    /// A slot: one connection after the other, accepted or made, and never ends. `buf` holds what is written of a call in one go
    /// and then a player's whole reply, or the longest message on a link. Of a request it holds `room[0]` bytes and, behind it,
    /// what is sent in one go: all that the request leaves, `room[1]` bytes or more, the head of an answer at least.
    pub fn slot<N: TcpAccept + TcpConnect>(&self, net: &N, buf: &mut [u8], room: [u16; 2]) -> impl Future<Output = ()> {
        // Numbered as they are made, whoever runs first: see `Slots::hire`.
        let slot = self.slots.open();
        async move {
            let Some(slot) = slot else { return core::future::pending().await };
            self.slots.set(slot, Role::Free);
            // All are counted before the first one serves.
            yield_now().await;
            loop {
                let (peer, mut socket) = self.visitor(slot, net, buf).await;
                apart(pin!(self.attend(slot, peer, &mut socket, buf, room))).await;
            }
        }
    }

    /// Listens until somebody connects. Players that are to be called meanwhile are called.
    fn visitor<'n, N: TcpAccept + TcpConnect>(
        &self,
        slot: Id,
        net: &'n N,
        buf: &mut [u8],
    ) -> impl Future<Output = (IpAddr, <N as TcpAccept>::Socket<'n>)> {
        async move {
            loop {
                // It may have been hired before it came to listen: after a restart there is much to say at once.
                if !matches!(self.slots.role(slot), Role::Hired(_)) {
                    self.slots.set(slot, Role::Free);
                }
                // Who waits for a slot comes before who may be at the door.
                self.hire_all();
                // Within braces: what came of it makes room for the call, in a future that a board has for every slot.
                let hired = {
                    let accepted = match self.slots.role(slot) {
                        Role::Hired(player) => Either::Second(player),
                        _ => select(net.accept(), self.hired(slot)).await,
                    };
                    if let (Either::First(_), Role::Hired(player)) = (&accepted, self.slots.role(slot)) {
                        // Both at once: somebody else makes the call.
                        self.venue(|venue| self.slots.leave(slot, player, || lines::has_call(venue, player)));
                    }
                    self.slots.set(slot, Role::Busy);
                    match accepted {
                        Either::First(Ok((peer, socket))) => {
                            self.hire_all();
                            return (peer.ip(), socket);
                        }
                        Either::First(Err(_)) => None,
                        Either::Second(player) => Some(player),
                    }
                };
                match hired {
                    Some(player) => apart(pin!(self.dial(slot, player, net, buf))).await,
                    // Out of sockets, or a connection that died in the queue: the next one may do.
                    None => self.board.sleep_until(self.board.after(10)).await,
                }
            }
        }
    }

    fn hire_all(&self) {
        self.venue(|venue| self.slots.hire_all(|player| lines::has_call(venue, player)));
    }

    /// Waits until a slot is to call a player.
    fn hired(&self, slot: Id) -> impl Future<Output = u16> {
        async move {
            loop {
                if let Role::Hired(player) = self.slots.role(slot) {
                    return player;
                }
                self.slots.rung(slot).await;
            }
        }
    }

    /// How long a peer may take, as things are now.
    pub(crate) fn limits(&self) -> Limits {
        let usual = Limits::default();
        match self.slots.is_short() {
            true => {
                let write_ms = if self.slots.is_full() { SHORT_WRITE_MS } else { usual.write_ms };
                Limits { idle_ms: SHORT_IDLE_MS, request_ms: SHORT_REQUEST_MS, write_ms, ..usual }
            }
            false => usual,
        }
    }

    /// Serves one connection to its end. Answers requests until one side has enough, or it becomes a link. What is too long for
    /// the buffer is read in a larger one, as soon as there is one.
    fn attend<S>(
        &self,
        slot: Id,
        peer: IpAddr,
        socket: &mut S,
        buf: &mut [u8],
        room: [u16; 2],
    ) -> impl Future<Output = ()>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            let visit = self.slots.visit();
            let (mut lent, mut filled): (Option<Lent<'_>>, _) = (None, 0);
            let next = loop {
                let (conn, own) = match &mut lent {
                    Some(lent) => (ServerConn::resume(By(socket), lent, ANSWER, filled, false), Some(room[0])),
                    None => {
                        let (buf, spare) = (within(buf, room), room[1].into());
                        (ServerConn::resume(By(socket), buf, spare, filled, self.has_wide()), None)
                    }
                };
                match self.answer_requests(slot, &peer, conn, own).await {
                    Next::Longer(bytes) => {
                        let Some(mut wide) = self.lend(&self.wide).await else { break Next::Busy(bytes) };
                        copy(buf, &mut wide, bytes);
                        (lent, filled) = (Some(wide), bytes);
                    }
                    Next::Shorter(bytes) => {
                        if let Some(mut wide) = lent.take() {
                            copy(&mut wide, buf, bytes);
                        }
                        filled = bytes;
                    }
                    next => break next,
                }
            };
            drop(lent);
            let next = match next {
                Next::Unpack(file) => apart(pin!(self.send_unpacked(file, socket, buf))).await,
                next => next,
            };
            let player = match next {
                Next::Busy(bytes) => {
                    let mut conn = ServerConn::resume(By(socket), &mut *buf, room[1].into(), bytes, false);
                    self.refuse(&mut conn, Refusal::Busy).await;
                    None
                }
                // Who has not said who it is says no more than a request may.
                Next::Link(purpose) => self.begin_link(&peer, Some(purpose), socket, within(buf, room)).await,
                Next::TooEarly => self.begin_link(&peer, None, socket, within(buf, room)).await,
                Next::Over | Next::Longer(_) | Next::Shorter(_) | Next::Unpack(_) => None,
            };
            drop(visit);
            match player {
                Some(player) => {
                    let link = &mut Link::new(socket, &self.board, buf);
                    apart(pin!(self.hold(slot, player, link))).await
                }
                None => {
                    let closed = pin!(socket.close(Close::Write));
                    let _ = before(&self.board, self.board.after(CLOSE_MS), closed).await;
                }
            }
        }
    }

    /// Sends a file unpacked, in a larger buffer where that of the slot is too small. It is the connection's last answer.
    fn send_unpacked<S: Read + Write>(
        &self,
        file: &'static File,
        socket: &mut S,
        buf: &mut [u8],
    ) -> impl Future<Output = Next> {
        async move {
            let mut lent = if buf.len() < WINDOW { self.lend(&self.wide).await } else { None };
            let buf = lent.as_deref_mut().unwrap_or(buf);
            if buf.len() < WINDOW {
                return Next::Busy(0);
            }
            let mut conn = ServerConn::new(By(socket), buf, 0);
            let responder = conn.last_answer(&self.board, &self.limits()).keeps_waiting(KEEP_MS);
            let _ = file.send_unpacked(responder, &self.turns).await;
            Next::Over
        }
    }

    /// Whether there are larger buffers than those of the slots.
    pub(crate) fn has_wide(&self) -> bool {
        self.wide.size() > 0
    }

    /// A larger buffer for what is too long for that of a slot, as soon as there is one. `None` where there is none in time.
    pub(crate) fn lend<'a>(&'a self, long: &'a Long) -> impl Future<Output = Option<Lent<'a>>> {
        async move {
            let turn = pin!(long.queue_up()?);
            before(&self.board, self.board.after(WAIT_MS), turn).await.ok()
        }
    }

    /// Serves a new link. `Some` player has dialled in and wants to keep it. One without a purpose is closed.
    fn begin_link<'a, S>(
        &'a self,
        peer: &IpAddr,
        purpose: Option<Purpose>,
        socket: &'a mut S,
        buf: &'a mut [u8],
    ) -> impl Future<Output = Option<u32>>
    where
        S: Read + Write + TcpShutdown,
    {
        let mut link = Link::new(socket, &self.board, buf);
        async move {
            match purpose {
                Some(Purpose::Play) => return apart(pin!(self.meet(peer, &mut link))).await,
                Some(Purpose::Arena) => {
                    let met = apart(pin!(self.meet_agent(peer, &mut link))).await;
                    match met {
                        Some(Met::Player(player)) => return Some(player),
                        Some(Met::Spectator(game)) => {
                            let end = apart(pin!(self.show(peer, game, &mut link))).await;
                            link.close(end).await;
                        }
                        None => {}
                    }
                }
                Some(Purpose::Agon(issue)) => return Some(issue),
                Some(Purpose::Watch) => apart(pin!(self.show_live(peer, &mut link))).await,
                None => link.close(TOO_EARLY).await,
            }
            None
        }
    }

    /// Answers requests in one buffer. A lent one is given back when what came behind a request fits the `own` one.
    fn answer_requests<'b, S>(
        &'b self,
        slot: Id,
        peer: &'b IpAddr,
        mut conn: ServerConn<'b, By<'b, S>>,
        own: Option<u16>,
    ) -> impl Future<Output = Next>
    where
        S: Read + Write,
    {
        async move {
            let mut is_kept = false;
            loop {
                let is_lent = own.is_some();
                let limits = || match self.limits() {
                    // Others wait for this buffer.
                    limits if is_lent && self.wide.is_wanted() => {
                        Limits { request_ms: limits.request_ms.min(SHORT_REQUEST_MS), ..limits }
                    }
                    limits => limits,
                };
                let (request, responder) =
                    match conn.receive_unless(&self.board, limits, self.let_go(slot, is_kept)).await {
                        Ok(Some((request, responder))) if self.slots.is_short() => (request, responder.close()),
                        Ok(Some(came)) => came,
                        Ok(None) => return Next::Over,
                        Err(Refusal::HeadTooLarge | Refusal::BodyTooLarge) if !is_lent && self.has_wide() => {
                            return Next::Longer(conn.unread());
                        }
                        Err(refusal) => {
                            self.refused.set(self.refused.get().saturating_add(1));
                            self.refuse(&mut conn, refusal).await;
                            return Next::Over;
                        }
                    };
                self.slots.set(slot, Role::Busy);
                let mut left = Left::Nothing;
                if !is_lent {
                    apart(pin!(self.bide(slot, &request))).await;
                }
                {
                    let mut wide = if is_lent { None } else { self.wide.spare() };
                    let responder = if is_lent { responder.keeps_waiting(KEEP_MS) } else { responder };
                    let mut asked = Answering::new(peer, responder.with_room(wide.as_deref_mut(), KEEP_MS));
                    // An answer that fails leaves a closed connection: the next receive says so.
                    let _ = self.route(&mut asked, &request, &mut left).await;
                }
                match left {
                    Left::Nothing => {}
                    Left::Unpack(file) => return Next::Unpack(file),
                    Left::Link(_) if conn.unread() > 0 => return Next::TooEarly,
                    Left::Link(purpose) => return Next::Link(purpose),
                }
                // The next request may be there already: the others get their turn first.
                yield_now().await;
                if own.is_some_and(|own| conn.is_open() && conn.unread() <= own.into()) {
                    return Next::Shorter(conn.into_parts().unread);
                }
                is_kept = true;
            }
        }
    }

    /// Refuses a request, as errors are told where it was to go.
    fn refuse<'b, S: Read + Write>(
        &'b self,
        conn: &'b mut ServerConn<'_, By<'_, S>>,
        refusal: Refusal,
    ) -> impl Future<Output = ()> {
        async move {
            let around = routes::find("", conn.path()).1(refusal.status());
            let _ = conn.refuse(&self.board, &self.limits(), refusal, around).await;
        }
    }

    /// Waits until a slot has to let go of a connection that is only kept for the next request.
    fn let_go(&self, slot: Id, is_kept: bool) -> impl Future<Output = ()> {
        async move {
            if !is_kept {
                return core::future::pending().await;
            }
            if self.slots.role(slot) == Role::Busy {
                self.slots.set(slot, Role::Idle);
            }
            while self.slots.role(slot) != Role::LetGo {
                self.slots.rung(slot).await;
            }
        }
    }
}
