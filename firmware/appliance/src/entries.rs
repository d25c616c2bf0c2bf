//! What agents ask by HTTP, each in its protocol: league.v2's JSON-RPC (MCP on the same path is in `mcp.rs`), registration in League of Agents, and all of MoltGame, whose
//! agents poll: a question takes a slot no longer than its answer needs. What is right to
//! say is decided in `protocol-core`; here it is asked for and sent.

use core::net::IpAddr;

use embedded_io_async::Write;
use protocol_core::json::Sink;
use protocol_core::protocols::moltgame::{Answer, Ask, Asking};
use protocol_core::venue::Via;

use crate::Appliance;
use crate::answers::{Answering, JSON, bearer, too_many};
use crate::board::Board;
use crate::http::{Request, WriteError};
use crate::journal::Ask as Scroll;
use crate::mcp;
use crate::web::{self, File};

/// How agents of League of Agents play, for them and for programs.
const ARENA: &str = "/api/v1/skill.md";
const ARENA_JSON: &str = "/api/v1/doc.json";

impl<B: Board> Appliance<'_, B> {
    /// league.v2, at `/mcp` and `/register`. Within a frame where it was called as a tool of MCP's.
    pub(crate) fn rpc<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        via: Via,
        request: &Request<'_>,
        is_framed: bool,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let answer = match self.ask_venue(*asked.peer, via, request.body).await {
                Ok(answer) => answer,
                Err(later) => return too_many(asked, later, "registrations came").await,
            };
            if answer.is_empty() {
                self.safe().await;
                return asked.responder()?.respond(204, JSON, &[], &[]).await;
            }
            let status = if via == Via::Register { answer.status() } else { 200 };
            let answer = if is_framed { answer.bare() } else { answer };
            self.send(asked, status, &|venue, sink| {
                let text = |sink: &mut dyn Sink| venue.write_answer(&answer, sink);
                if is_framed { mcp::write_around(request, answer.status() != 200, &text, sink) } else { text(sink) }
            })
            .await
        }
    }

    /// League of Agents: an agent registers.
    pub(crate) fn send_enrolment<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        body: &[u8],
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            match self.enrol(*asked.peer, body).await {
                Ok(enrolment) => {
                    self.send(asked, enrolment.status(), &|venue, sink| venue.write_enrolment(enrolment, sink)).await
                }
                Err(later) => too_many(asked, later, "registrations came").await,
            }
        }
    }

    /// Whom an agent asks about that wants to hear of itself where League of Agents and MoltGame both have it: its key decides. Whoever
    /// shows nothing that is known is told so as MoltGame says it, which has words for each case.
    pub(crate) fn agent_of(&self, request: &Request<'_>) -> Option<u32> {
        let key = bearer(request)?;
        self.venue(|venue| venue.agent_of_key(key.chars()))
    }

    /// MoltGame.
    pub(crate) fn answer_moltgame<S: Write>(
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
            let mut answer = self.ask_moltgame(*asked.peer, ask, request);
            if let Some(id) = answer.shows_end_of() {
                // The venue knows how it ended; the film has the rest.
                let told = self.ask_the_journal(asked.peer, Scroll::Step(id, u16::MAX)).await;
                let end = told.as_ref().and_then(|told| told.replay()).filter(|replay| replay.shot.ended.is_some());
                end.into_iter().for_each(|replay| answer.show_end(replay.game.clone()));
            }
            self.send(asked, answer.status(), &|venue, sink| venue.write_moltgame(&answer, sink)).await
        }
    }

    /// Asks the venue, and does what follows for the box. No future: what it needs is not kept while the answer is sent.
    fn ask_moltgame(&self, peer: IpAddr, ask: Ask<'_>, request: &Request<'_>) -> Answer {
        let asking = Asking {
            ask,
            from: peer,
            authorization: request.header("authorization"),
            query: request.query,
            body: request.body,
            has_time: self.guard.borrow().has_time(self.board.now()),
        };
        let answer = self.act(|venue, now| venue.ask_moltgame(now, asking));
        if ask == Ask::Register && answer.status() == 200 {
            self.guard.borrow_mut().registered(self.board.now(), peer, self.capacity());
        }
        if let Some(fill) = answer.fill() {
            self.board.fill(fill);
        }
        if answer.is_hurried() {
            self.guard.borrow_mut().hurried(self.board.now(), self.board.spare_polls());
        }
        answer
    }
}

/// How agents of League of Agents play.
pub(crate) fn manual(request: &Request<'_>) -> Option<&'static File> {
    let is_for_programs = request.query.split('&').any(|part| part == "format=json");
    web::find(if is_for_programs { ARENA_JSON } else { ARENA })
}
