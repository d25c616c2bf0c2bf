//! AGON on the box's port: agents ask by HTTP, dial in at `/ws/v1/connect` with a session token, and are told of their matches on
//! that connection. What is said, and what is right to say, is the venue's; here it is carried.

use core::net::IpAddr;
use core::pin::pin;

use embassy_futures::select::select;
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use protocol_core::json::{self, Counter, Full, Sink};
use protocol_core::protocols::agon::{Asking, Audience, Cursor, Picture, Reply, Word};
use protocol_core::venue::Venue;

pub(crate) use protocol_core::protocols::agon::Ask;

use crate::Appliance;
use crate::answers::{Answering, apart, bearer, too_many};
use crate::board::Board;
use crate::http::{Fragment, Request, WriteError};
use crate::journal::{Ask as Scroll, Beside};
use crate::links::OVER;
use crate::pages::First;
use crate::replay::write_inside;
use crate::slots::Id;
use crate::ws::{End, Event, Link};

/// How often is looked whether an opponent has been gone for so long that it is to be told, in milliseconds.
const LOOK_MS: u64 = 1_000;
/// What is written of a speech at once, in bytes,
const PIECE: usize = 384;
/// and what one byte of it takes at most: `\\u0001`.
const ESCAPE: usize = 6;
/// How long there may be nothing to look at, in milliseconds.
const LONG_MS: u64 = 60_000;

/// Who dials in without a token that is good is told so, and stays what it is.
pub(crate) const NO_TOKEN: &str =
    "token must be a session token that is not older than four hours; POST /agon/api/v1/agents/session-token gives one";

/// What writes a text from the venue,
type Text<'a> = &'a dyn Fn(&Venue<'_>, &mut dyn Sink) -> Result<(), Full>;
/// and what writes a part of one.
type Piece<'a> = &'a dyn Fn(&mut dyn Sink) -> Result<(), Full>;

impl<B: Board> Appliance<'_, B> {
    /// The registration of the agent whose token a WebSocket is asked for with.
    pub(crate) fn agon_caller(&self, request: &Request<'_>) -> Option<u32> {
        let token = request.query.split('&').find_map(|part| part.strip_prefix("token="))?;
        self.venue(|venue| venue.agon_agent(self.now(), token))
    }

    /// Whether a request shows a session token.
    pub(crate) fn is_agon(&self, request: &Request<'_>) -> bool {
        bearer(request).is_some_and(|token| self.venue(|venue| venue.agon_agent(self.now(), token)).is_some())
    }

    /// What an agent asks by HTTP.
    pub(crate) fn answer_agon<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        ask: Ask<'_>,
        request: &Request<'_>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let may_register =
                || self.guard.borrow_mut().may_register(self.board.now(), *asked.peer, self.capacity(), || true);
            if let Some(later) = (ask == Ask::Register).then(may_register).and_then(Result::err) {
                return too_many(asked, later, "registrations came").await;
            }
            self.room().await;
            let asking = Asking { ask, from: *asked.peer, bearer: bearer(request), body: request.body };
            let answer = self.act(|venue, now| venue.ask_agon(now, asking));
            if ask == Ask::Register && answer.status() == 201 {
                self.guard.borrow_mut().registered(self.board.now(), *asked.peer, self.capacity());
            }
            let humans = self.watchers.count();
            self.send(asked, answer.status(), &|venue, sink| venue.write_agon(answer, humans, sink)).await
        }
    }

    /// Plays with an agent over its link. Says why that is over.
    pub(crate) fn play_agon<'a, S: Read + Write>(
        &'a self,
        slot: Id,
        issue: u32,
        link: &mut Link<'a, S, B>,
    ) -> impl Future<Output = End> {
        async move {
            let (mut cursor, mut audience) = (Cursor::default(), Audience::default());
            let expired = self.act(|venue, now| venue.agon_expired(now, issue));
            for reply in [Some(Reply::Welcome), expired].into_iter().flatten() {
                if let Err(end) = self.say_agon(issue, reply, link).await {
                    return end;
                }
            }
            loop {
                let line = match self.line_of(slot, issue) {
                    Ok(line) => line,
                    Err(end) => return end,
                };
                if let Err(end) = self.tell_agon(issue, &mut cursor, link).await {
                    return end;
                }
                if let Err(end) = self.tell_aside(issue, &mut audience, link).await {
                    return end;
                }
                let event = {
                    link.takes_long(Some(self.long_for(line)));
                    let waits =
                        self.agon_picture(issue).is_some_and(|picture| self.venue(|venue| picture.is_waiting(venue)));
                    let look_at = self.board.after(if waits { LOOK_MS } else { LONG_MS });
                    let changed = pin!(select(self.slots.rung(slot), self.board.sleep_until(look_at)));
                    // Whoever plays may think: its silence has a limit of its own.
                    link.next(self.venue(|venue| venue.is_thinking(line)), changed).await
                };
                match event {
                    Ok(Event::Changed) => continue,
                    Ok(Event::Message(length)) => {
                        if let Err(end) = self.answer_action(issue, &mut cursor, link, length).await {
                            return end;
                        }
                        if let Some(from) = self.line_of(slot, issue).ok().and_then(|line| self.address_of(line)) {
                            self.slow_down(&from).await;
                        }
                    }
                    Err(end) => return end,
                }
                // A flood must not keep the others waiting.
                yield_now().await;
            }
        }
    }

    /// Answers a message of an agent.
    fn answer_action<S: Read + Write>(
        &self,
        issue: u32,
        cursor: &mut Cursor,
        link: &mut Link<'_, S, B>,
        length: usize,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            self.room().await;
            let reply = {
                let (body, _) = link.message(length);
                self.act(|venue, now| venue.hear_agon(now, issue, body))
            };
            match reply {
                Reply::Seated(..) => cursor.has_sat_down(),
                Reply::LeftRoom(_) => cursor.has_stood_up(),
                _ => {}
            }
            if reply != Reply::Nothing {
                self.say_agon(issue, reply, link).await?;
            }
            Ok(())
        }
    }

    /// Tells an agent what there is to tell of its match.
    fn tell_agon<S: Read + Write>(
        &self,
        issue: u32,
        cursor: &mut Cursor,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            while let Some(picture) = self.agon_picture(issue)
                && let Some(word) = cursor.next(&picture)
            {
                let from =
                    || self.venue(|venue| venue.line_of(issue)).and_then(|line| self.address_of(line)).ok_or(OVER);
                let is_list = word == Word::Reconnect;
                if is_list || word == Word::Message && self.venue(|venue| venue.agon_needs_film(&picture)) {
                    apart(pin!(self.say_film(from()?, &picture, is_list, link))).await?;
                } else {
                    self.say_text(link, &|venue, sink| venue.write_agon_word(word, &picture, sink)).await?;
                }
                self.room().await;
                self.act(|venue, now| venue.agon_is_told(now, issue, word));
            }
            Ok(())
        }
    }

    /// Tells an agent what there is to tell of the matches of others.
    fn tell_aside<S: Read + Write>(
        &self,
        issue: u32,
        audience: &mut Audience,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            let now = || self.now();
            while let Some(aside) = self.venue(|venue| venue.agon_aside(now(), issue, audience)) {
                self.say_text(link, &|venue, sink| venue.write_agon_aside(aside, sink)).await?;
            }
            Ok(())
        }
    }

    fn agon_picture(&self, issue: u32) -> Option<Picture> {
        let now = self.now();
        self.venue(|venue| venue.agon_picture(now, issue))
    }

    fn say_agon<S: Read + Write>(
        &self,
        issue: u32,
        reply: Reply,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<bool, End>> {
        async move {
            let humans = self.watchers.count();
            self.say_text(link, &|venue, sink| venue.write_agon_reply(reply, issue, humans, sink)).await
        }
    }

    /// All that fits a frame is said here: every other place would be another copy of it in flash.
    fn say_text<S: Read + Write>(
        &self,
        link: &mut Link<'_, S, B>,
        write: Text<'_>,
    ) -> impl Future<Output = Result<bool, End>> {
        async move {
            link.forget();
            self.speak(link.message(0).1, write, async || self.safe().await).await
        }
    }

    /// What comes from the film: `reconnect_state` with all messages of a match, or `opponent_message` with a speech that gave way to others'
    /// before it could be told. Every message leaves in frames of its own, a speech part by part.
    fn say_film<S: Read + Write>(
        &self,
        from: IpAddr,
        picture: &Picture,
        is_list: bool,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            let (id, total) = self.venue(|venue| venue.agon_match(picture)).ok_or(End::Lost)?;
            let numbers = if is_list { 1..=total } else { total..=total };
            self.safe().await;
            self.say_part(link, Fragment::First, &|sink| {
                open(sink, &|sink| {
                    self.venue(|venue| match is_list {
                        true => venue.write_agon_reconnect(picture, sink),
                        false => venue.write_agon_word(Word::Message, picture, sink),
                    })
                })?;
                sink.put(if is_list { br#","recent_messages":["# } else { b"" })
            })
            .await?;
            let (mut next, mut number, mut told_one, mut is_open) = (None, 0_u16, false, false);
            // So much of the part of a speech has been told.
            let mut from_byte = 0_usize;
            while number <= *numbers.end() {
                let Some(told) = self.ask_the_journal(&from, Scroll::Played(id, next)).await else { break };
                let Some((beside, shot)) = told.scene().map(|scene| (scene.beside, scene.shot)) else { break };
                let is_act = |made: &str| self.venue(|venue| venue.agon_is_act(picture, made));
                let is_act = told.scene().is_some_and(|scene| is_act(&scene.made));
                let is_move = beside == Beside::Nothing && shot.seat.is_some() && !is_act;
                let ends = (is_move || shot.ended.is_some()) && core::mem::take(&mut is_open);
                if is_move {
                    number = number.saturating_add(1);
                }
                let counts = numbers.contains(&number);
                let write: Piece<'_> = &|sink| {
                    let scene = told.scene().ok_or(Full)?;
                    if ends {
                        sink.put(if is_list { b"\"}" } else { b"\"" })?;
                    }
                    if !counts || !is_move {
                        return match counts && is_open && beside == Beside::Says {
                            true => write_inside(piece(&scene.made, from_byte), 1, 1, sink),
                            false => Ok(()),
                        };
                    }
                    match self.venue(|venue| venue.agon_talk(picture, &scene.made)) {
                        // A turn in which nothing was said.
                        Some(false) => Ok(()),
                        Some(true) if !is_list => sink.put(br#","content":""#),
                        is_speech => {
                            sink.put(if told_one { b"," } else { b"" })?;
                            let message = |sink: &mut dyn Sink| {
                                self.venue(|venue| {
                                    venue.write_agon_message(picture, number, shot.seat, &scene.made, sink)
                                })
                            };
                            if is_speech.is_none() {
                                return message(sink);
                            }
                            open(sink, &message)?;
                            sink.put(br#","content":""#)
                        }
                    }
                };
                let written = match ends || counts {
                    true => Some(link.message(0).1.whole(Fragment::Next, write).map_err(|_| End::Lost)),
                    false => None,
                };
                if counts && is_move {
                    let talk = told.scene().map(|scene| self.venue(|venue| venue.agon_talk(picture, &scene.made)));
                    is_open = talk == Some(Some(true));
                    told_one |= talk != Some(Some(false));
                }
                let rest = told.scene().filter(|_| beside == Beside::Says).and_then(|scene| {
                    let end = from_byte.saturating_add(piece(&scene.made, from_byte).len());
                    (end < scene.made.len()).then_some(end)
                });
                from_byte = rest.unwrap_or(0);
                if rest.is_none() {
                    next = told.scene().map(|scene| scene.next);
                }
                // Nobody else can ask while this is held, and the agent may be slow to read.
                drop(told);
                if let Some(written) = written {
                    written?.finish().await?;
                }
                self.turns.next().await;
            }
            let end: &[u8] = match (is_open, is_list) {
                (true, true) => b"\"}]}",
                (true, false) => b"\"}",
                (false, true) => b"]}",
                (false, false) => b"}",
            };
            self.say_part(link, Fragment::Last, &|sink| sink.put(end)).await
        }
    }

    fn say_part<S: Read + Write>(
        &self,
        link: &mut Link<'_, S, B>,
        part: Fragment,
        write: Piece<'_>,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            link.forget();
            let mut message = link.message(0).1.whole(part, write).map_err(|_| End::Lost)?;
            Ok(message.finish().await?)
        }
    }
}

/// As much of a part of a speech, from a byte on, as fits the buffer of a slot, whatever must be escaped.
fn piece(part: &str, from: usize) -> &str {
    let rest = part.get(from..).unwrap_or_default();
    let ends = (1..=rest.len()).rev().filter(|end| json::count(rest) <= PIECE || *end <= PIECE / ESCAPE);
    { ends }.find_map(|end| rest.get(..end)).unwrap_or(rest)
}

/// Writes an object without its end: more of it follows.
fn open(sink: &mut dyn Sink, write: Piece<'_>) -> Result<(), Full> {
    let mut counter = Counter::up_to(usize::MAX);
    write(&mut counter)?;
    write(&mut First { sink, left: counter.bytes.saturating_sub(1) })
}
