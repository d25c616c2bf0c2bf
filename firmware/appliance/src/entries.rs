//! What agents ask by HTTP, each in its protocol: league.v2's JSON-RPC, registration in League of Agents, and all of MoltGame, whose
//! agents poll: a question takes a slot no longer than its answer needs. What is right to
//! say is decided in `protocol-core`; here it is asked for and sent.

use core::net::IpAddr;
use core::pin::pin;

use embedded_io_async::Write;
use protocol_core::protocols::moltgame::Ask;
use protocol_core::venue::Via;

use crate::Appliance;
use crate::answers::{JSON, apart, bearer, too_many};
use crate::board::Board;
use crate::http::{Request, Responder, WriteError};
use crate::routes::{Found, Route, plain};
use crate::web::{self, File};

/// How agents of League of Agents play, for them and for programs.
const ARENA: &str = "/api/v1/skill.md";
const ARENA_JSON: &str = "/api/v1/doc.json";

impl<B: Board> Appliance<'_, B> {
    /// league.v2, at `/mcp` and `/register`.
    pub(crate) fn rpc<S: Write>(
        &self,
        peer: IpAddr,
        via: Via,
        body: &[u8],
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let answer = match self.ask_venue(peer, via, body).await {
                Ok(answer) => answer,
                Err(later) => return too_many(responder, plain, later, "registrations came").await,
            };
            if answer.is_empty() {
                self.safe().await;
                return responder.respond(204, JSON, &[], &[]).await;
            }
            let status = if via == Via::Register { answer.status() } else { 200 };
            self.send(peer, responder, status, &|venue, sink| venue.write_answer(&answer, sink)).await
        }
    }

    /// League of Agents: an agent registers.
    pub(crate) fn send_enrolment<S: Write>(
        &self,
        peer: IpAddr,
        responder: Responder<'_, S, B>,
        body: &[u8],
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            match self.enrol(peer, body).await {
                Ok(enrolment) => {
                    self.send(peer, responder, enrolment.status(), &|venue, sink| {
                        venue.write_enrolment(enrolment, sink)
                    })
                    .await
                }
                Err(later) => too_many(responder, plain, later, "registrations came").await,
            }
        }
    }

    /// What an agent is told of itself where League of Agents and MoltGame both have it: its key decides. Whoever shows nothing that
    /// is known is told so as MoltGame says it, which has words for each case.
    pub(crate) fn send_agent<S: Write>(
        &self,
        peer: IpAddr,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let key = bearer(&request);
            match self.venue(|venue| venue.agent_of_key(key?.chars())) {
                Some(issue) => self.send(peer, responder, 200, &|venue, sink| venue.write_agent(issue, sink)).await,
                None => apart(pin!(self.answer_moltgame(peer, Ask::Me, request, responder))).await,
            }
        }
    }

    /// MoltGame.
    pub(crate) fn answer_moltgame<S: Write>(
        &self,
        peer: IpAddr,
        ask: Ask<'_>,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let is_new = matches!(ask, Ask::Register);
            let may_register =
                || self.guard.borrow_mut().may_register(self.board.now(), peer, self.capacity(), || true);
            if let Some(later) = is_new.then(may_register).and_then(Result::err) {
                return too_many(responder, Found::This(Route::MoltGame(ask)).errors(), later, "registrations came")
                    .await;
            }
            self.room().await;
            let authorization = request.header("authorization");
            let answer = self.act(|venue, now| venue.ask_moltgame(now, peer, authorization, ask, request.body));
            if is_new && answer.status() == 200 {
                self.guard.borrow_mut().registered(self.board.now(), peer, self.capacity());
            }
            self.send(peer, responder, answer.status(), &|venue, sink| venue.write_moltgame(&answer, sink)).await
        }
    }
}

/// How agents of League of Agents play.
pub(crate) fn manual(request: &Request<'_>) -> Option<&'static File> {
    let is_for_programs = request.query.split('&').any(|part| part == "format=json");
    web::find(if is_for_programs { ARENA_JSON } else { ARENA })
}
