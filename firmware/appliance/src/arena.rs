//! League of Agents on the box's port: agents register by HTTP, dial in at `/api/v1/ws`, and are told of their games on that
//! connection. What is said, and what is right to say, is the venue's; here it is carried.
//!
//! A slot listens until the agent has shown its key, and is that agent's link from then on, as in [`links`](crate::links).
//! Whoever only looks on needs no key.

use core::net::IpAddr;
use core::pin::pin;

use edge_nal::TcpShutdown;
use embassy_futures::select::select;
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use protocol_core::protocols::league_of_agents::Uuid;
use protocol_core::protocols::league_of_agents::{Cursor, Enrolment, Picture, Reply, Word};
use protocol_core::venue::Venue;

use crate::Appliance;
use crate::board::Board;
use crate::guard::Later;
use crate::links::OVER;
use crate::slots::Id;
use crate::watch::FULL;
use crate::ws::{End, Event, Link};

/// How often an agent hears that the box is there, in milliseconds.
const PONG_MS: u64 = 30_000;
/// How often somebody who looks on at a game of others is shown what has changed, in milliseconds.
const LOOK_MS: u64 = 200;

const STRANGER: End = End::Ours(4001, "say who you are: {\"type\":\"authenticate\",\"token\":\"YOUR_API_KEY\"}");

impl<'m, B: Board> Appliance<'m, B> {
    /// Registers an agent, unless its address has registered enough of them for now.
    pub(crate) fn enrol(&self, from: IpAddr, body: &[u8]) -> impl Future<Output = Result<Enrolment, Later>> {
        async move {
            self.guard.borrow_mut().may_register(self.board.now(), from, self.capacity(), || true)?;
            self.room().await;
            let enrolment = self.act(|venue, now| venue.enrol(now, from, body));
            if let Enrolment::Done(..) = enrolment {
                self.guard.borrow_mut().registered(self.board.now(), from, self.capacity());
            }
            Ok(enrolment)
        }
    }

    /// Listens on a new link until its agent has shown its key; says which it is, by the number of its registration. Who
    /// looks on at a game may stay without one.
    pub(crate) fn meet_agent<'a, S>(
        &'a self,
        from: &IpAddr,
        link: &mut Link<'a, S, B>,
    ) -> impl Future<Output = Option<Met>>
    where
        S: Read + Write + TcpShutdown,
    {
        async move {
            let until = self.board.after(self.limits().request_ms);
            link.takes_long(Some(&self.wide));
            let end = loop {
                match link.next(true, pin!(self.board.sleep_until(until))).await {
                    Ok(Event::Message(length)) => match self.hear_stranger(from, link, length).await {
                        Ok(Reply::Authenticated(issue)) => return Some(Met::Player(issue)),
                        Ok(Reply::Watches(game)) => return Some(Met::Spectator(game)),
                        Ok(_) => yield_now().await,
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

    /// Answers a message of somebody who has not shown a key.
    fn hear_stranger<S: Read + Write>(
        &self,
        from: &IpAddr,
        link: &mut Link<'_, S, B>,
        length: usize,
    ) -> impl Future<Output = Result<Reply, End>> {
        async move {
            self.slow_down(from).await;
            self.room().await;
            let reply = self.hear_agent(None, link, length);
            self.say_reply(&reply, link).await?;
            goes_on(reply)?;
            Ok(reply)
        }
    }

    /// Shows games to somebody without a seat in them, one after the other, for as long as there are messages.
    pub(crate) fn show<S: Read + Write>(
        &self,
        from: &IpAddr,
        game: Uuid,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = End> {
        let place = self.watchers.admit(self.slots.others());
        let mut watched = place.is_some().then(|| self.count_in(game));
        async move {
            if place.is_none() {
                return FULL;
            }
            let mut told = Cursor::default();
            let mut pong_at = self.board.after(PONG_MS);
            loop {
                while let Some(picture) = self.picture(|venue, now| venue.picture_of(now, watched.as_ref()?.game)) {
                    let Some(word) = told.next(&picture) else { break };
                    if let Err(end) = self.say_word(word, &picture, link).await {
                        return end;
                    }
                    watched.take_if(|_| word == Word::GameOver);
                }
                let look_at = self.board.after(LOOK_MS).min(pong_at);
                let heard = match link.next(false, pin!(self.board.sleep_until(look_at))).await {
                    Ok(Event::Message(length)) => self.hear_stranger(from, link, length).await.map(Some),
                    Ok(Event::Changed) => Ok(None),
                    Err(end) => Err(end),
                };
                match heard {
                    Ok(Some(Reply::Watches(other))) => {
                        (watched, told) = (Some(self.count_in(other)), Cursor::default())
                    }
                    // One connection is one agent or one spectator.
                    Ok(Some(Reply::Authenticated(_))) => return SPECTATOR,
                    Ok(Some(_)) => yield_now().await,
                    Ok(None) if self.board.now() >= pong_at => {
                        pong_at = self.board.after(PONG_MS);
                        if let Err(end) = self.say_reply(&Reply::Pong, link).await {
                            return end;
                        }
                    }
                    Ok(None) => {}
                    Err(end) => return end,
                }
            }
        }
    }

    /// Counts somebody who looks on at a game, for as long as this is held.
    fn count_in(&self, game: Uuid) -> Watched<'_, 'm, B> {
        self.act(|venue, _| venue.count_spectator(game, true));
        Watched { appliance: self, game }
    }

    /// Plays with an agent over its link. Says why that is over.
    pub(crate) fn play_with<'a, S: Read + Write>(
        &'a self,
        slot: Id,
        issue: u32,
        link: &mut Link<'a, S, B>,
    ) -> impl Future<Output = End> {
        let mut player = Playing { issue, told: Cursor::default(), seen: None, watched: None };
        async move {
            let mut pong_at = self.board.after(PONG_MS);
            loop {
                if let Err(end) = self.line_of(slot, player.issue) {
                    return end;
                }
                if let Err(end) = self.tell(&mut player, link).await {
                    return end;
                }
                let event = {
                    let line = self.line_of(slot, player.issue).unwrap_or(u16::MAX);
                    link.takes_long(Some(self.long_for(line)));
                    let look_at = player.watched.as_ref().map_or(pong_at, |_| self.board.after(LOOK_MS).min(pong_at));
                    let changed = pin!(select(self.slots.rung(slot), self.board.sleep_until(look_at)));
                    // Whoever thinks may be silent: its game has a deadline of its own.
                    link.next(self.venue(|venue| venue.is_thinking(line)), changed).await
                };
                match event {
                    Ok(Event::Changed) if self.board.now() < pong_at => continue,
                    Ok(Event::Changed) => {
                        pong_at = self.board.after(PONG_MS);
                        if let Err(end) = self.say_reply(&Reply::Pong, link).await {
                            return end;
                        }
                    }
                    Ok(Event::Message(length)) => {
                        if let Err(end) = self.answer_agent(slot, &mut player, link, length).await {
                            return end;
                        }
                        let line = self.line_of(slot, player.issue).ok();
                        if let Some(from) = line.and_then(|line| self.address_of(line)) {
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
    fn answer_agent<'a, S: Read + Write>(
        &'a self,
        slot: Id,
        player: &mut Playing<'a, 'm, B>,
        link: &mut Link<'_, S, B>,
        length: usize,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            self.address_of(self.line_of(slot, player.issue)?).ok_or(OVER)?;
            self.room().await;
            let reply = self.hear_agent(Some(player.issue), link, length);
            player.seen = self.picture(|venue, now| venue.picture_for(now, player.issue));
            if let Reply::Watches(game) = reply {
                (player.told, player.watched) = (Cursor::default(), Some(self.count_in(game)));
            }
            self.say_reply(&reply, link).await?;
            goes_on(reply)
        }
    }

    /// Tells an agent what there is to tell of its game, or of the one it looks on at: first as it was seen, then as it is.
    /// Everything there is to say of a picture is said before the next one is taken, so that no turn is left out between.
    fn tell<'a, S: Read + Write>(
        &'a self,
        player: &mut Playing<'a, 'm, B>,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            let issue = player.issue;
            player.watched.take_if(|_| self.picture(|venue, now| venue.picture_for(now, issue)).is_some());
            loop {
                let is_now = player.seen.is_none();
                if is_now {
                    let game = player.watched.as_ref().map(|watched| watched.game);
                    let look =
                        |venue: &Venue<'_>, now| venue.picture_for(now, issue).or_else(|| venue.picture_of(now, game?));
                    player.seen = self.picture(look);
                }
                let mut is_all = is_now;
                while let Some(picture) = &player.seen
                    && let Some(word) = player.told.next(picture)
                {
                    is_all = false;
                    self.say_word(word, picture, link).await?;
                    if matches!(word, Word::Matched | Word::GameOver) {
                        self.room().await;
                        self.act(|venue, now| venue.word_is_told(now, player.issue, word));
                    }
                    if word == Word::GameOver {
                        player.watched = None;
                    }
                }
                player.seen = None;
                if is_all {
                    return Ok(());
                }
            }
        }
    }

    fn picture(&self, look: impl Fn(&Venue<'_>, protocol_core::time::Now) -> Option<Picture>) -> Option<Picture> {
        let now = self.now();
        self.venue(|venue| look(venue, now))
    }

    /// Gives the venue a message of an agent.
    fn hear_agent<S: Read + Write>(&self, issue: Option<u32>, link: &mut Link<'_, S, B>, length: usize) -> Reply {
        let (body, _) = link.message(length);
        self.act(|venue, now| venue.hear_arena(now, issue, body))
    }

    fn say_reply<S: Read + Write>(
        &self,
        reply: &Reply,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<bool, End>> {
        let at = self.now().utc;
        link.say(move |sink| self.venue(|venue| venue.write_reply(*reply, at, sink)), async || self.safe().await)
    }

    /// Says a word about a game.
    fn say_word<S: Read + Write>(
        &self,
        word: Word,
        picture: &Picture,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<bool, End>> {
        link.say(move |sink| self.venue(|venue| venue.write_word(word, picture, sink)), async || self.safe().await)
    }
}

/// Who is at the other end of a link.
pub(crate) enum Met {
    /// The agent with this registration.
    Player(u32),
    /// Somebody who looks on at this game.
    Spectator(Uuid),
}

/// Some replies are the last thing that is said.
fn goes_on(reply: Reply) -> Result<(), End> {
    match reply {
        Reply::Refused(trouble, _) => trouble.closes().map_or(Ok(()), |code| Err(End::Ours(code, trouble.text()))),
        _ => Ok(()),
    }
}

/// An agent on its link.
struct Playing<'a, 'm, B: Board> {
    /// Its registration.
    issue: u32,
    /// What it knows.
    told: Cursor,
    /// Its game right after its last message. Others may have moved by the time that is answered, and it hears of every turn
    /// all the same.
    seen: Option<Picture>,
    /// A game of others that it looks on at while it has none of its own.
    watched: Option<Watched<'a, 'm, B>>,
}

/// Somebody who looks on at a game is counted until this is dropped.
struct Watched<'a, 'm, B: Board> {
    appliance: &'a Appliance<'m, B>,
    game: Uuid,
}

impl<B: Board> Drop for Watched<'_, '_, B> {
    fn drop(&mut self) {
        self.appliance.act(|venue, _| venue.count_spectator(self.game, false));
    }
}

const SPECTATOR: End = End::Ours(1008, "this connection looks on at a game; play on another one");
