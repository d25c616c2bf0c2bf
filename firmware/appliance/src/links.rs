//! Players that dial in: they hold a WebSocket open, and everything that is said, by them or by the box, is said on it.
//!
//! A connection begins like every other, in the slot that accepted it: that makes the handshake and listens until the agent
//! has shown who it is, by registering or by its token. From then on the slot is the player's link: it sends what the venue
//! wants said, gives the venue the answers by the id of the call, and answers what the player asks in between. A player is
//! known by its registration, not by its line, for lines move up when somebody leaves before the league.

use core::net::IpAddr;
use core::pin::pin;

use edge_nal::TcpShutdown;
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use protocol_core::json::{Full, Sink};
use protocol_core::protocols;
use protocol_core::protocols::league_v2::Answer;
use protocol_core::protocols::league_v2::incoming::answered_call;
use protocol_core::venue::{self, Failure, Venue, Via};

use crate::Appliance;
use crate::answers::{Answering, TAKE_MS, apart};
use crate::board::{Board, Said};
use crate::calendar::{self, Source};
use crate::guard::Later;
use crate::http::{Fragment, Request};
use crate::slots::{Id, Role};
use crate::ws::{self, End, Event, Link, Speaker};

/// How long a message of an agent that says too much has to wait before it is looked at again, in milliseconds.
const SLOW_MS: u64 = 50;

/// What is said to who would take the last connection for long, and when to come again, in seconds.
const FULL: &str = "all connections are taken; come back in a moment";
pub(crate) const RETRY_AFTER: &str = "2";

const STRANGER: End = End::Ours(1008, "say who you are: register_player, or any message with your auth_token");
pub(crate) const REPLACED: End = End::Ours(1008, "another connection with your token has taken over");
const TOO_MUCH: End =
    End::Ours(1013, "too many registrations came from your address; wait a few seconds and come back");
pub(crate) const OVER: End = End::Ours(1000, "your registration is over; register for the next league");

impl<B: Board> Appliance<'_, B> {
    /// Answers a request for a WebSocket. True if the connection is one now.
    pub(crate) fn greet<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        request: &Request<'_>,
    ) -> impl Future<Output = bool> {
        async move {
            match ws::accept(request) {
                // A link lasts, and the last slot is for who comes next.
                Ok(_) if self.slots.is_full() => {
                    let _ = asked.error_with(503, FULL, &[("Retry-After", RETRY_AFTER)]).await;
                    false
                }
                Ok(proof) => match asked.responder() {
                    Ok(responder) => responder.upgrade("websocket", &[("Sec-WebSocket-Accept", &proof)]).await.is_ok(),
                    Err(_) => false,
                },
                Err(refusal) => {
                    let (status, rule) = refusal.answer();
                    let how = [("Upgrade", "websocket"), ("Sec-WebSocket-Version", ws::VERSION)];
                    let _ = asked.error_with(status, rule, &how).await;
                    false
                }
            }
        }
    }

    /// Listens on a new link until its agent has shown that it is a player that dials in; says which, by the number of its
    /// registration. Others may ask too, but not stay.
    pub(crate) fn meet<'a, S>(&'a self, from: &IpAddr, link: &mut Link<'a, S, B>) -> impl Future<Output = Option<u32>>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            let until = self.board.after(self.limits().request_ms);
            link.takes_long(Some(&self.wide));
            let end = loop {
                match link.next(true, pin!(self.board.sleep_until(until))).await {
                    Ok(Event::Message(length)) => match self.hear(from, link, length).await {
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

    /// Keeps the link of a player for as long as it lasts and is the player's.
    pub(crate) fn hold<'a, S>(&'a self, slot: Id, mut issue: u32, link: &mut Link<'a, S, B>) -> impl Future<Output = ()>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            loop {
                match self.venue(|venue| venue.line_of(issue)) {
                    Some(line) => self.slots.link(slot, issue, line),
                    None => return link.close(OVER).await,
                }
                self.room().await;
                let protocol = self.arrive(issue);
                let left = match protocol {
                    Some(protocols::Code::LeagueOfAgents) => {
                        Left::For(apart(pin!(self.play_with(slot, issue, link))).await)
                    }
                    Some(protocols::Code::Agon) => Left::For(apart(pin!(self.play_agon(slot, issue, link))).await),
                    _ => apart(pin!(self.converse_on(slot, issue, link))).await,
                };
                let why = match left {
                    Left::For(end) => end.reason(),
                    Left::To(_) => "the connection is another player's now",
                };
                self.is_over(slot, issue, why).await;
                match left {
                    Left::For(end) => return link.close(end).await,
                    Left::To(another) => issue = another,
                }
            }
        }
    }

    /// A player is there. Says by which protocol.
    fn arrive(&self, issue: u32) -> Option<protocols::Code> {
        let player = self.venue(|venue| venue.line_of(issue))?;
        self.act(|venue, now| venue.handle(now, venue::Event::Arrived { player }));
        self.venue(|venue| Some(venue.players().get(usize::from(player))?.session.code()))
    }

    /// Says that a player has no link any more, unless it has another one already.
    fn is_over(&self, slot: Id, issue: u32, why: &'static str) -> impl Future<Output = ()> {
        async move {
            if self.slots.role(slot) == Role::Link(issue) {
                self.room().await;
            }
            let line = self.venue(|venue| venue.line_of(issue));
            if let Some(line) = line.filter(|_| self.slots.role(slot) == Role::Link(issue)) {
                self.slots.leave(slot, line, || false);
                self.act(|venue, now| venue.handle(now, venue::Event::Gone { player: line, why }));
            }
            self.slots.set(slot, Role::Busy);
        }
    }

    /// The line of a player whose link this slot is, or why it is not any more.
    pub(crate) fn line_of(&self, slot: Id, issue: u32) -> Result<u16, End> {
        let line = self.venue(|venue| venue.line_of(issue)).ok_or(OVER)?;
        if self.slots.role(slot) != Role::Link(issue) {
            return Err(REPLACED);
        }
        self.slots.is_on(slot, line);
        Ok(line)
    }

    /// Carries calls, answers and questions over a link.
    fn converse_on<'a, S: Read + Write>(
        &'a self,
        slot: Id,
        issue: u32,
        link: &mut Link<'a, S, B>,
    ) -> impl Future<Output = Left> {
        async move {
            // The call that was said last on this link: an answer may come. On another link it has to be said again.
            let mut said = None;
            loop {
                let line = match self.line_of(slot, issue) {
                    Ok(line) => line,
                    Err(end) => return Left::For(end),
                };
                let open = self.venue(|venue| venue.call(line).map(|call| call.id));
                if let (Some(call), true) = (open, open != said) {
                    match self.say_call(line, call, link).await {
                        Ok(()) => said = open,
                        Err(end) => return Left::For(end),
                    }
                }
                link.takes_long(Some(self.long_for(line)));
                let event = {
                    let changed = pin!(self.slots.rung(slot));
                    link.next(open.is_some(), changed).await
                };
                match event {
                    Ok(Event::Changed) => {}
                    Ok(Event::Message(length)) => {
                        // It may be on another line by now.
                        let line = match self.line_of(slot, issue) {
                            Ok(line) => line,
                            Err(end) => return Left::For(end),
                        };
                        let (body, _) = link.message(length);
                        if let Some(call) = answered_call(body) {
                            self.room().await;
                            let reply = venue::Event::Reply { player: line, call, status: 200, body };
                            self.record_reply(line, call, 200, body);
                            self.act(|venue, now| venue.handle(now, reply));
                        } else {
                            let Some(from) = self.address_of(line) else { return Left::For(OVER) };
                            match self.hear(&from, link, length).await {
                                // A link belongs to the player that showed its token on it last.
                                Ok(Some(caller)) if caller != issue => return Left::To(caller),
                                Ok(_) => {}
                                Err(end) => return Left::For(end),
                            }
                        }
                        // A flood must not keep the others waiting.
                        yield_now().await;
                    }
                    Err(end) => return Left::For(end),
                }
            }
        }
    }

    /// Where the long messages of a player go: much only while it owes a move that may have it.
    pub(crate) fn long_for(&self, line: u16) -> &ws::Long {
        if self.venue(|venue| venue.may_write_long(line)) { &self.long } else { &self.wide }
    }

    /// Where the player on a line is.
    pub(crate) fn address_of(&self, line: u16) -> Option<IpAddr> {
        self.venue(|venue| Some(venue.players().get(usize::from(line))?.contact.ip()))
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
            if self.venue(|venue| venue.call(line).map(|open| open.id)) != Some(call) {
                return Ok(());
            }
            self.act(|venue, now| venue.handle(now, venue::Event::Begun { player: line, call }));
            self.record_call(line, call);
            // What a call says stays as it is while it is open: it may leave in pieces, and whoever is slow to take them has the time
            // of any link, not that of a lent buffer.
            let is_said = if self.venue(|venue| venue.may_change(line)) {
                // Unless others act meanwhile.
                link.forget();
                let write = |venue: &Venue<'_>, sink: &mut dyn Sink| venue.write_call(line, sink);
                self.speak(link.message(0).1, &write, async || {}).await?
            } else {
                let write = |sink: &mut dyn Sink| self.venue(|venue| venue.write_call(line, sink));
                link.say(write, async || {}).await?
            };
            if !is_said {
                // It was answered before it was asked: there is nothing to say.
                self.failed(line, call, Failure::Unreadable).await;
                return Ok(());
            }
            self.on_its_way(line, call).await;
            Ok(())
        }
    }

    /// Says what `write` writes from the venue, as it is at one moment; `may_leave` is waited for then. What is too long for the
    /// room is made in a buffer that is lent, as an answer is: it may become another text any moment. Where none is free in time,
    /// or none is long enough, it leaves in pieces, and should it become another one meanwhile, the link is over. False where it
    /// cannot be written at all.
    pub(crate) fn speak<S: Write>(
        &self,
        speaker: Speaker<'_, S, B>,
        write: &dyn Fn(&Venue<'_>, &mut dyn Sink) -> Result<(), Full>,
        may_leave: impl AsyncFn(),
    ) -> impl Future<Output = Result<bool, End>> {
        async move {
            let text = |sink: &mut dyn Sink| self.venue(|venue| write(venue, sink));
            let speaker = match speaker.whole(Fragment::Whole, text) {
                Ok(mut message) => {
                    may_leave().await;
                    message.finish().await?;
                    return Ok(true);
                }
                Err(speaker) => speaker,
            };
            let mut lent = None;
            if let Some(long) = self.buffer_for(write) {
                lent = self.lend(long).await;
            }
            speaker.with_room(lent.as_deref_mut(), TAKE_MS).say(text, may_leave).await
        }
    }

    /// Answers a message of an agent's own. Says who it is from, if that is a player that dials in and shows it.
    fn hear<S: Read + Write>(
        &self,
        from: &IpAddr,
        link: &mut Link<'_, S, B>,
        length: usize,
    ) -> impl Future<Output = Result<Option<u32>, End>> {
        async move {
            let (body, speaker) = link.message(length);
            let answer = self.ask_venue(*from, Via::Held, body).await.map_err(|_| TOO_MUCH)?;
            let issue = answer.caller().and_then(|player| self.venue(|venue| venue.issue_of_line(player)));
            if !answer.is_empty() {
                let write = |venue: &Venue<'_>, sink: &mut dyn Sink| venue.write_answer(&answer, sink);
                self.speak(speaker, &write, async || self.safe().await).await?;
            }
            link.forget();
            self.slow_down(from).await;
            Ok(issue)
        }
    }

    /// Whoever floods is not sent away but slowed down, once it is answered: its messages pile up in its own connection, and it
    /// holds nothing that others wait for, such as the buffer for long messages.
    pub(crate) fn slow_down(&self, from: &IpAddr) -> impl Future<Output = ()> {
        async move {
            while self.guard.borrow_mut().request(self.board.now(), *from, self.capacity()).is_err() {
                self.board.sleep_until(self.board.after(SLOW_MS)).await;
            }
        }
    }

    /// Gives the venue an agent's message, unless its address has registered enough players for now.
    pub(crate) fn ask_venue<'a>(
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
            self.guard.borrow_mut().may_register(self.board.now(), from, self.capacity(), is_registration)?;
            self.room().await;
            let before = self.venue(Venue::registrations);
            let answer = self.act(|venue, now| venue.request(now, from, via, body));
            if B::RECORDS {
                self.board.record(Said::Request(from), &|sink| sink.put(body));
                self.board.record(Said::Answer(from), &|sink| self.venue(|venue| venue.write_answer(&answer, sink)));
            }
            if self.venue(Venue::registrations) != before {
                self.guard.borrow_mut().registered(self.board.now(), from, self.capacity());
            }
            Ok(answer)
        }
    }
}

/// Why a link is not a player's any more.
#[derive(Clone, Copy)]
enum Left {
    /// It is over.
    For(End),
    /// It is that of the player with this registration.
    To(u32),
}
