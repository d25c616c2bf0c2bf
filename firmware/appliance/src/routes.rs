//! Which path is what. A path that exists but not for this method gets 405 and is told which; anything else is 404.

use core::net::IpAddr;

use embedded_io_async::Write;
use protocol_core::hall::{Command, Hall};
use protocol_core::json::{Counter, Full, Sink, Slice};
use protocol_core::wire::league_v2::outgoing::{AgentId, MatchId};

use crate::Appliance;
use crate::clock::Clock;
use crate::http::{Request, Responder, WriteError};
use crate::pages::{self, Rows};
use crate::pieces::{Changed, Pieces};

/// Texts up to this size are written once; longer ones in pieces of this size.
const SCRATCH: usize = 1024;
/// What a head may take of the room for an answer.
const HEAD: usize = 256;

pub(crate) const JSON: &str = "application/json";
pub(crate) const MARKDOWN: &str = "text/markdown; charset=utf-8";
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// What a path leads to.
enum Route {
    /// JSON-RPC for agents; `true` for `/register`.
    Rpc(bool),
    Health,
    Status,
    Rows(Rows),
    Match(MatchId),
    Static(&'static str, &'static str),
    Admin(Command),
}

fn find(path: &str) -> Option<Route> {
    if path.eq_ignore_ascii_case("/mcp") || path.eq_ignore_ascii_case("/mcp/") {
        return Some(Route::Rpc(false));
    }
    Some(match path {
        "/register" => Route::Rpc(true),
        "/health" => Route::Health,
        "/" | "/index.html" => Route::Static(HTML, pages::INDEX),
        "/skill.md" => Route::Static(MARKDOWN, pages::SKILL),
        "/.well-known/agent.json" => Route::Static(JSON, pages::AGENT),
        "/api/status.json" => Route::Status,
        "/api/standings.json" => Route::Rows(Rows::Standings),
        "/api/schedule.json" => Route::Rows(Rows::Schedule),
        "/api/players.json" => Route::Rows(Rows::Players),
        "/api/results.csv" => Route::Rows(Rows::Results),
        "/api/log.jsonl" => Route::Rows(Rows::Log),
        "/api/admin/start" => Route::Admin(Command::Start),
        "/api/admin/pause" => Route::Admin(Command::Pause),
        "/api/admin/resume" => Route::Admin(Command::Resume),
        "/api/admin/reset" => Route::Admin(Command::Reset),
        "/api/admin/rematch" => Route::Admin(Command::Rematch),
        _ => {
            let name = path.strip_prefix("/api/")?.strip_suffix(".json")?;
            if let Some(id) = name.strip_prefix("matches/") {
                Route::Match(MatchId::read(id)?)
            } else {
                match AgentId::read(name.strip_prefix("players/")?)? {
                    AgentId::Player(number) => Route::Rows(Rows::Player(number)),
                    AgentId::Referee(_) => return None,
                }
            }
        }
    })
}

impl<C: Clock, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<C, P, M, R, L> {
    /// Answers a request.
    pub(crate) async fn route<S: Write>(
        &self,
        peer: IpAddr,
        request: Request<'_>,
        responder: Responder<'_, S, C>,
    ) -> Result<(), WriteError> {
        let Some(route) = find(request.path) else {
            return responder.error(404, "no such path; the page at / and /skill.md name those that exist").await;
        };
        let posted = matches!(route, Route::Rpc(_) | Route::Admin(_));
        let allowed = if posted { "POST" } else { "GET, HEAD" };
        let fits = if posted { request.method == "POST" } else { matches!(request.method, "GET" | "HEAD") };
        if !fits {
            let body: &[u8] =
                if posted { br#"{"error":"this path takes POST"}"# } else { br#"{"error":"this path takes GET"}"# };
            return responder.respond(405, JSON, body, &[("Allow", allowed)]).await;
        }
        match route {
            Route::Rpc(registers) => self.rpc(peer, registers, request.body, responder).await,
            Route::Health => responder.respond(200, JSON, pages::HEALTH.as_bytes(), &[]).await,
            Route::Static(kind, text) => {
                let security = if kind == HTML { pages::SECURITY } else { &[] };
                responder.respond(200, kind, text.as_bytes(), security).await
            }
            Route::Status => {
                let uptime = self.clock.now().saturating_sub(self.started) / 1000;
                let (now, refused, kept) = (self.clock.utc(), self.refused.get(), self.kept());
                self.send(responder, 200, |hall, sink| pages::status(hall, now, uptime, refused, kept, sink)).await
            }
            Route::Rows(rows) => self.send_rows(responder, rows).await,
            Route::Match(id) => {
                if self.hall(|hall| hall.pair(id)).is_none() {
                    return responder.error(404, "no such match in this league").await;
                }
                self.send(responder, 200, |hall, sink| pages::one_match(hall, id, sink)).await
            }
            Route::Admin(command) => {
                let given = request.header("authorization").and_then(|value| value.split_once(' '));
                let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, code)| code);
                if !given.is_some_and(|given| is_same(given.trim().as_bytes(), self.admin_code.borrow().as_bytes())) {
                    let body = br#"{"error":"Authorization: Bearer <admin code> is required; the box shows the code to its owner"}"#;
                    return responder.respond(401, JSON, body, &[("WWW-Authenticate", "Bearer")]).await;
                }
                self.room().await;
                let obeyed = self.act(|hall, now| hall.command(now, command));
                if command == Command::Reset {
                    self.journal.reset();
                }
                match obeyed {
                    Ok(()) => self.send(responder, 200, pages::done).await,
                    Err(refusal) => responder.error(409, refusal.0).await,
                }
            }
        }
    }

    async fn rpc<S: Write>(
        &self,
        peer: IpAddr,
        registers: bool,
        body: &[u8],
        responder: Responder<'_, S, C>,
    ) -> Result<(), WriteError> {
        self.room().await;
        let answer = self.act(|hall, now| hall.request(now, peer, registers, body));
        if answer.is_empty() {
            self.safe().await;
            return responder.respond(204, JSON, &[], &[]).await;
        }
        self.send(responder, 200, |hall, sink| hall.write_answer(&answer, sink)).await
    }

    /// Sends a JSON text that `write` writes from the hall. One that does not fit the scratch is sent in pieces; should
    /// it become another text meanwhile, the connection is closed.
    async fn send<S: Write>(
        &self,
        responder: Responder<'_, S, C>,
        status: u16,
        write: impl Fn(&Hall<P, M, R, L>, &mut dyn Sink) -> Result<(), Full>,
    ) -> Result<(), WriteError> {
        let mut scratch = [0; SCRATCH];
        let mut slice = Slice::new(&mut scratch);
        if self.hall(|hall| write(hall, &mut slice)).is_ok() {
            self.safe().await;
            return responder.respond(status, JSON, slice.written(), &[]).await;
        }
        let Ok(mut pieces) = self.hall(|hall| Pieces::of(|sink| write(hall, sink))) else {
            return responder.error(500, "the answer could not be written").await;
        };
        let mut answer = responder.begin(status, JSON, Some(pieces.length()), &[])?;
        loop {
            let piece = self.hall(|hall| pieces.next(&mut scratch, |sink| write(hall, sink)));
            self.safe().await;
            match piece.map_err(|Changed| WriteError::WrongLength)? {
                Some(piece) => answer.write_all(piece).await?,
                None => return answer.finish().await,
            }
        }
    }

    /// Sends a page row by row. One that fits a single write has a length; a longer one is chunked, each row as it is
    /// when its turn comes. Rows of another league would not fit behind those already sent: then it breaks off.
    async fn send_rows<S: Write>(&self, responder: Responder<'_, S, C>, rows: Rows) -> Result<(), WriteError> {
        self.act(|hall, _| hall.refresh_standings());
        let (exists, league) = self.hall(|hall| (rows.exists(hall), hall.league_id().number));
        if !exists {
            return responder.error(404, "no such player in this league").await;
        }
        let room = responder.room().saturating_sub(HEAD);
        let mut counter = Counter::default();
        let mut at = 0;
        let is_short = self.hall(|hall| {
            while counter.bytes <= room {
                match rows.write(hall, &mut at, &mut counter) {
                    Ok(true) => {}
                    Ok(false) => return true,
                    Err(Full) => return false,
                }
            }
            false
        });
        let length = is_short.then_some(counter.bytes);
        let mut answer = responder.begin(200, rows.content_type(), length, rows.headers())?;
        let mut scratch = [0; SCRATCH];
        let mut at = 0;
        loop {
            let mut slice = Slice::new(&mut scratch);
            let more = self.hall(|hall| {
                if hall.league_id().number != league {
                    return Err(Full);
                }
                rows.write(hall, &mut at, &mut slice)
            });
            let more = more.map_err(|_| WriteError::WrongLength)?;
            self.safe().await;
            answer.write_all(slice.written()).await?;
            if !more {
                return answer.finish().await;
            }
        }
    }
}

/// Compares without telling, by the time it takes, how much was right.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
