//! What agents ask by HTTP, each in its protocol: league.v2's JSON-RPC, registration in League of Agents, and all of MoltGame, whose
//! agents poll: a question takes a slot no longer than its answer needs. What is right to
//! say is decided in `protocol-core`; here it is asked for and sent.

use core::pin::pin;

use embedded_io_async::Write;
use protocol_core::protocols::moltgame::Ask;
use protocol_core::venue::Via;

use crate::Appliance;
use crate::answers::{Answering, JSON, apart, bearer, too_many};
use crate::board::Board;
use crate::http::{Request, WriteError};
use crate::routes::{moltgame, plain};
use crate::web::{self, File};

/// How agents of League of Agents play, for them and for programs.
const ARENA: &str = "/api/v1/skill.md";
const ARENA_JSON: &str = "/api/v1/doc.json";

impl<B: Board> Appliance<'_, B> {
    /// league.v2, at `/mcp` and `/register`.
    pub(crate) fn rpc<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        via: Via,
        body: &[u8],
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let answer = match self.ask_venue(*asked.peer, via, body).await {
                Ok(answer) => answer,
                Err(later) => return too_many(asked, plain, later, "registrations came").await,
            };
            if answer.is_empty() {
                self.safe().await;
                return asked.responder()?.respond(204, JSON, &[], &[]).await;
            }
            let status = if via == Via::Register { answer.status() } else { 200 };
            self.send(asked, status, &|venue, sink| venue.write_answer(&answer, sink)).await
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
                Err(later) => too_many(asked, plain, later, "registrations came").await,
            }
        }
    }

    /// What an agent is told of itself where League of Agents and MoltGame both have it: its key decides. Whoever shows nothing that
    /// is known is told so as MoltGame says it, which has words for each case.
    pub(crate) fn send_agent<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        request: &Request<'_>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let key = bearer(request);
            match self.venue(|venue| venue.agent_of_key(key?.chars())) {
                Some(issue) => self.send(asked, 200, &|venue, sink| venue.write_agent(issue, sink)).await,
                None => apart(pin!(self.answer_moltgame(asked, Ask::Me, request))).await,
            }
        }
    }

    /// MoltGame.
    pub(crate) fn answer_moltgame<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        ask: Ask<'_>,
        request: &Request<'_>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let (peer, is_new) = (*asked.peer, matches!(ask, Ask::Register));
            let may_register =
                || self.guard.borrow_mut().may_register(self.board.now(), peer, self.capacity(), || true);
            if let Some(later) = is_new.then(may_register).and_then(Result::err) {
                return too_many(asked, moltgame, later, "registrations came").await;
            }
            self.room().await;
            let authorization = request.header("authorization");
            let answer = self.act(|venue, now| venue.ask_moltgame(now, peer, authorization, ask, request.body));
            if is_new && answer.status() == 200 {
                self.guard.borrow_mut().registered(self.board.now(), peer, self.capacity());
            }
            self.send(asked, answer.status(), &|venue, sink| venue.write_moltgame(&answer, sink)).await
        }
    }
}

/// How agents of League of Agents play.
pub(crate) fn manual(request: &Request<'_>) -> Option<&'static File> {
    let is_for_programs = request.query.split('&').any(|part| part == "format=json");
    web::find(if is_for_programs { ARENA_JSON } else { ARENA })
}
