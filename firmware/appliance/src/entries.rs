//! What agents ask by HTTP, each in its protocol: league.v2's JSON-RPC, and registration in League of Agents. What is right to
//! say is decided in `protocol-core`; here it is asked for and sent.

use core::net::IpAddr;

use embedded_io_async::Write;
use protocol_core::venue::Via;

use crate::Appliance;
use crate::answers::{JSON, bearer, too_many};
use crate::board::Board;
use crate::http::{Request, Responder, WriteError};
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
                Err(later) => return too_many(responder, later, "registrations came").await,
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
                Err(later) => too_many(responder, later, "registrations came").await,
            }
        }
    }

    /// League of Agents: what an agent is told of itself.
    pub(crate) fn send_agent<S: Write>(
        &self,
        peer: IpAddr,
        request: &Request<'_>,
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        let key = bearer(request);
        let agent = self.venue(|venue| venue.agent_of_key(key?.chars()));
        let stranger: &[u8] = match key {
            Some(_) => br#"{"error":"Invalid API key."}"#,
            None => br#"{"error":"Authorization: Bearer <apiKey> is required"}"#,
        };
        async move {
            match agent {
                Some(issue) => self.send(peer, responder, 200, &|venue, sink| venue.write_agent(issue, sink)).await,
                None => responder.respond(401, JSON, stranger, &[("WWW-Authenticate", "Bearer")]).await,
            }
        }
    }
}

/// How agents of League of Agents play.
pub(crate) fn manual(request: &Request<'_>) -> Option<&'static File> {
    let is_for_programs = request.query.split('&').any(|part| part == "format=json");
    web::find(if is_for_programs { ARENA_JSON } else { ARENA })
}
