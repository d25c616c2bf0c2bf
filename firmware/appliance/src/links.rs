//! Players that dial in: they hold a WebSocket open, and everything that is said, by them or by the box, is said on it.
//!
//! A connection begins with a worker, like every other: it makes the handshake and listens until the agent has shown who
//! it is, by registering or by its token. Then it hands the connection to the player's line and is free for the next
//! one. The line, which has nobody to dial, keeps it: it sends what the hall wants said, gives the hall the answers by
//! the id of the call, and answers what the player asks in between.
//!
//! So a worker never has to keep a connection that lasts, the line stays the one future that speaks to its player, and
//! there is no third kind of future with sockets and buffers of its own: whoever is connected takes no more memory than
//! whoever is called. What it costs is that a connection can change hands, and so belongs to nobody's buffers:
//! the frame reader never reads past a frame, and the board has its sockets in a pool. A player is known by its
//! registration, not by its line, for lines move up when somebody leaves before the league.

use core::cell::Cell;
use core::net::IpAddr;
use core::pin::pin;

use edge_nal::TcpShutdown;
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use protocol_core::hall::{self, Answer, Failure, Hall, Via};
use protocol_core::wire::league_v2::incoming::answered_call;

use crate::Appliance;
use crate::board::Board;
use crate::calendar::{self, Source};
use crate::guard::{self, Later};
use crate::http::{Request, Responder};
use crate::routes::{FROM_ELSEWHERE, too_many};
use crate::ws::{self, End, Event, Link};

/// Where agents dial in.
pub(crate) const PATH: &str = "/ws";

/// How long a message of an agent that says too much has to wait before it is looked at again, in milliseconds.
const SLOW_MS: u64 = 50;

const STRANGER: End = End::Ours(1008, "say who you are: register_player, or any message with your auth_token");
pub(crate) const REPLACED: End = End::Ours(1008, "another connection with your token has taken over");
const TOO_MUCH: End =
    End::Ours(1013, "too many registrations came from your address; wait a few seconds and come back");
pub(crate) const OVER: End = End::Ours(1000, "your registration is over; register for the next league");

/// Connections on their way from a worker to a line. Costs a socket's handle and two words for each player.
pub struct Links<S, const P: usize>([Cell<Option<Held<S>>>; P]);

/// A connection, and whose it is.
struct Held<S> {
    /// The number of the player's registration.
    issue: u32,
    socket: S,
}

impl<S, const P: usize> Links<S, P> {
    /// Nobody has dialled in.
    pub const fn new() -> Self {
        Self([const { Cell::new(None) }; P])
    }

    fn take(&self, line: u16) -> Option<Held<S>> {
        self.0.get(usize::from(line))?.take()
    }

    pub(crate) fn has(&self, line: u16) -> bool {
        let Some(place) = self.0.get(usize::from(line)) else { return false };
        let held = place.take();
        let has = held.is_some();
        place.set(held);
        has
    }
}

impl<S, const P: usize> Default for Links<S, P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B: Board, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<B, P, M, R, L> {
    /// Answers a request for a WebSocket. True if the connection is one now.
    pub(crate) fn greet<S: Write>(
        &self,
        peer: IpAddr,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = bool> {
        async move {
            let may_ask = self.guard.borrow_mut().request(self.board.now(), peer, P);
            if let Err(later) = may_ask {
                let _ = too_many(responder, later, "requests came").await;
                return false;
            }
            if request.method != "GET" {
                let _ = responder.error_with(405, "this path takes GET", &[("Allow", "GET")]).await;
                return false;
            }
            if guard::is_from_elsewhere(&request, self.board.about().name) {
                let _ = responder.error(403, FROM_ELSEWHERE).await;
                return false;
            }
            match ws::accept(&request) {
                Ok(proof) => responder.upgrade("websocket", &[("Sec-WebSocket-Accept", &proof)]).await.is_ok(),
                Err(refusal) => {
                    let (status, rule) = refusal.answer();
                    let how = [("Upgrade", "websocket"), ("Sec-WebSocket-Version", ws::VERSION)];
                    let _ = responder.error_with(status, rule, &how).await;
                    false
                }
            }
        }
    }

    /// Listens on a new link until its agent has shown that it is a player that dials in; says which, by the number of its
    /// registration. Others may ask too, but not stay.
    pub(crate) fn meet<S>(
        &self,
        from: IpAddr,
        socket: &mut S,
        buf: &mut [u8],
        ms: u64,
    ) -> impl Future<Output = Option<u32>>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            let until = self.board.after(ms);
            let mut link = Link::new(socket, &self.board, buf);
            let end = loop {
                match link.next(true, pin!(self.board.sleep_until(until))).await {
                    Ok(Event::Message(length)) => match self.hear(from, &mut link, length).await {
                        Ok(Some(issue)) => return Some(issue),
                        Ok(None) => yield_now().await,
                        Err(end) => break end,
                    },
                    Ok(Event::Changed) => break STRANGER,
                    Err(end) => break end,
                }
            };
            link.close(end).await;
            None
        }
    }

    /// Gives a connection to the line of its player.
    pub(crate) fn hand_over<S>(&self, links: &Links<S, P>, issue: u32, socket: S) {
        let Some(line) = self.hall(|hall| hall.line_of(issue)) else { return };
        if let (Some(place), Some(bell)) = (links.0.get(usize::from(line)), self.lines.get(usize::from(line))) {
            place.set(Some(Held { issue, socket }));
            bell.signal(());
        }
    }

    /// Keeps the connection that was handed to a line, if there is one, for as long as it lasts and is the player's.
    pub(crate) fn hold<S>(&self, line: u16, links: &Links<S, P>, buf: &mut [u8]) -> impl Future<Output = ()>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            let Some(Held { mut issue, mut socket }) = links.take(line) else { return };
            let owner = issue;
            self.room().await;
            if self.is_at(owner, line) {
                self.act(|hall, now| hall.handle(now, hall::Event::Arrived { player: line }));
            }
            let mut link = Link::new(&mut socket, &self.board, buf);
            let is_of_the_arena = |hall: &Hall<P, M, R, L>| {
                hall.players().get(usize::from(line)).is_some_and(hall::Player::is_of_the_arena)
            };
            let end = match self.hall(is_of_the_arena) {
                true => self.play_with(line, links, owner, &mut link).await,
                false => self.converse_on(line, links, &mut issue, &mut link).await,
            };
            match self.is_over(line, links, owner, end).await {
                Some(end) => link.close(end).await,
                None => {
                    drop(link);
                    self.hand_over(links, issue, socket);
                }
            }
        }
    }

    /// Says that a player has no link any more, unless it has another one already.
    fn is_over<S>(
        &self,
        line: u16,
        links: &Links<S, P>,
        owner: u32,
        end: Option<End>,
    ) -> impl Future<Output = Option<End>> {
        async move {
            if self.is_at(owner, line) && !links.has(line) {
                self.room().await;
                let why = end.map_or("the connection is another player's now", End::reason);
                self.act(|hall, now| hall.handle(now, hall::Event::Gone { player: line, why }));
            }
            end
        }
    }

    /// Whether a line is that of a registration.
    fn is_at(&self, issue: u32, line: u16) -> bool {
        self.hall(|hall| hall.line_of(issue)) == Some(line)
    }

    /// Carries calls, answers and questions over a link. `None` if it is another line's from now on.
    fn converse_on<'a, S: Read + Write>(
        &'a self,
        line: u16,
        links: &Links<S, P>,
        issue: &mut u32,
        link: &mut Link<'a, S, B>,
    ) -> impl Future<Output = Option<End>> {
        async move {
            // The call that was said last on this link: an answer may come. On another link it has to be said again.
            let mut said = None;
            let Some(bell) = self.lines.get(usize::from(line)) else { return Some(OVER) };
            loop {
                match self.hall(|hall| hall.line_of(*issue)) {
                    Some(at) if at == line => {}
                    Some(_) => return None,
                    None => return Some(OVER),
                }
                if links.has(line) {
                    return Some(REPLACED);
                }
                let open = self.hall(|hall| hall.call(line).map(|call| call.id));
                if let (Some(call), true) = (open, open != said) {
                    match self.say_call(line, call, link).await {
                        Ok(()) => said = open,
                        Err(end) => return Some(end),
                    }
                }
                link.takes_long(self.hall(|hall| hall.may_write_long(line)).then_some(&self.long));
                let event = {
                    let changed = pin!(bell.wait());
                    link.next(open.is_some(), changed).await
                };
                match event {
                    Ok(Event::Changed) => {}
                    Ok(Event::Message(length)) => {
                        let (body, _) = link.message(length);
                        if let Some(call) = answered_call(body) {
                            self.room().await;
                            let reply = hall::Event::Reply { player: line, call, status: 200, body };
                            self.act(|hall, now| hall.handle(now, reply));
                        } else {
                            let Some(from) = self.address_of(line) else { return Some(OVER) };
                            match self.hear(from, link, length).await {
                                // A link belongs to the player that showed its token on it last.
                                Ok(caller) => *issue = caller.unwrap_or(*issue),
                                Err(end) => return Some(end),
                            }
                        }
                        // A flood must not keep the others waiting.
                        yield_now().await;
                    }
                    Err(end) => return Some(end),
                }
            }
        }
    }

    /// Where the player on a line is.
    pub(crate) fn address_of(&self, line: u16) -> Option<IpAddr> {
        self.hall(|hall| Some(hall.players().get(usize::from(line))?.contact.ip()))
    }

    /// Says the open call, if it still is.
    fn say_call<S: Read + Write>(
        &self,
        line: u16,
        call: u32,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            // What is said was decided when the call was made: all that led to it must be safe, what comes later need not.
            self.safe().await;
            if self.hall(|hall| hall.call(line).map(|open| open.id)) != Some(call) {
                return Ok(());
            }
            self.act(|hall, now| hall.handle(now, hall::Event::Begun { player: line, call }));
            let write = |sink: &mut dyn protocol_core::json::Sink| self.hall(|hall| hall.write_call(line, sink));
            if !link.say(write, async || {}).await? {
                // It was answered before it was asked: there is nothing to say.
                self.failed(line, call, Failure::Unreadable).await;
                return Ok(());
            }
            self.on_its_way(line, call).await;
            Ok(())
        }
    }

    /// Answers a message of an agent's own. Says who it is from, if that is a player that dials in and shows it.
    fn hear<S: Read + Write>(
        &self,
        from: IpAddr,
        link: &mut Link<'_, S, B>,
        length: usize,
    ) -> impl Future<Output = Result<Option<u32>, End>> {
        async move {
            let (body, speaker) = link.message(length);
            let answer = self.ask_hall(from, Via::Held, body).await.map_err(|_| TOO_MUCH)?;
            let issue = answer.caller().and_then(|player| self.hall(|hall| hall.issue_of_line(player)));
            if !answer.is_empty() {
                speaker
                    .say(|sink| self.hall(|hall| hall.write_answer(&answer, sink)), async || self.safe().await)
                    .await?;
            }
            link.forget();
            self.slow_down(from).await;
            Ok(issue)
        }
    }

    /// Whoever floods is not sent away but slowed down, once it is answered: its messages pile up before its own line, and it
    /// holds nothing that others wait for, such as the buffer for long messages.
    pub(crate) fn slow_down(&self, from: IpAddr) -> impl Future<Output = ()> {
        async move {
            while self.guard.borrow_mut().request(self.board.now(), from, P).is_err() {
                self.board.sleep_until(self.board.after(SLOW_MS)).await;
            }
        }
    }

    /// Gives the hall an agent's message, unless its address has registered enough players for now.
    pub(crate) fn ask_hall<'a>(
        &self,
        from: IpAddr,
        via: Via,
        body: &'a [u8],
    ) -> impl Future<Output = Result<Answer<'a>, Later>> {
        async move {
            if self.calendar().believes(Source::Agent)
                && let Some(utc) = calendar::of_agent(body, via == Via::Register)
            {
                self.learn_time(Source::Agent, utc);
            }
            let is_registration =
                || via == Via::Register || body.windows(8).any(|word| word.eq_ignore_ascii_case(b"register"));
            self.guard.borrow_mut().may_register(self.board.now(), from, P, is_registration)?;
            self.room().await;
            let before = self.hall(Hall::registrations);
            let answer = self.act(|hall, now| hall.request(now, from, via, body));
            if self.hall(Hall::registrations) != before {
                self.guard.borrow_mut().registered(self.board.now(), from, P);
            }
            Ok(answer)
        }
    }
}
