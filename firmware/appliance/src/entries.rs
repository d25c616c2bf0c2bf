//! What agents ask by HTTP, each in its protocol: league.v2's JSON-RPC, and registration in League of Agents. What is right to
//! say is decided in `protocol-core`; here it is asked for and sent.

use embedded_io_async::Write;
use protocol_core::venue::Via;

use crate::Appliance;
use crate::answers::{Answering, JSON, bearer, too_many};
use crate::board::Board;
use crate::http::{Request, WriteError};
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
                Err(later) => return too_many(asked, later, "registrations came").await,
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
                Err(later) => too_many(asked, later, "registrations came").await,
            }
        }
    }

    /// League of Agents: what an agent is told of itself.
    pub(crate) fn send_agent<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        request: &Request<'_>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        let key = bearer(request);
        let agent = self.venue(|venue| venue.agent_of_key(key?.chars()));
        let stranger = match key {
            Some(_) => "Invalid API key.",
            None => "Authorization: Bearer <apiKey> is required",
        };
        async move {
            match agent {
                Some(issue) => self.send(asked, 200, &|venue, sink| venue.write_agent(issue, sink)).await,
                None => asked.error_with(401, stranger, &[("WWW-Authenticate", "Bearer")]).await,
            }
        }
    }
}

/// How agents of League of Agents play.
pub(crate) fn manual(request: &Request<'_>) -> Option<&'static File> {
    let is_for_programs = request.query.split('&').any(|part| part == "format=json");
    web::find(if is_for_programs { ARENA_JSON } else { ARENA })
}
