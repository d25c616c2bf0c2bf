//! Which path is what. A path that exists but not for this method gets 405 and is told which; anything else is 404.

use core::cell::Cell;
use core::fmt::Write as _;
use core::future::poll_fn;
use core::net::IpAddr;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use embedded_io_async::Write;
use heapless::String;
use protocol_core::hall::{Command, Denied, Hall, Via};
use protocol_core::json::{Counter, Full, Sink};
use protocol_core::wire::league_v2::outgoing::{AgentId, MatchId};

use crate::Appliance;
use crate::board::{Board, Fault};
use crate::calendar::{self, Source};
use crate::clock::Clock;
use crate::guard::{self, Later};
use crate::http::{Request, Responder, WriteError};
use crate::journal::Ask;
use crate::moment::Moment;
use crate::pages::{self, Rows, Vitals};
use crate::pieces;
use crate::powers::{self, Power};
use crate::settings;
use crate::web::{self, File};

/// How long a board that will be broken on purpose has for its answer, in milliseconds.
const LAST_WORDS_MS: u64 = 500;
/// What a head may take of the room for an answer.
const HEAD: usize = 256;

pub(crate) const JSON: &str = "application/json";

/// How agents of League of Agents play, for them and for programs.
const ARENA: &str = "/api/v1/skill.md";
const ARENA_JSON: &str = "/api/v1/doc.json";

/// What a path leads to.
enum Route {
    /// JSON-RPC for agents.
    Rpc(Via),
    Health,
    Status,
    Rows(Rows),
    Match(MatchId),
    /// Its moves, once it is over.
    Moves(MatchId),
    /// The game after one of them.
    Step(MatchId, u16),
    /// Leagues that have ended.
    Leagues,
    League(u32),
    File(&'static File),
    Settings,
    Clock,
    Admin(Order),
    /// Registration of agents of League of Agents.
    Agents,
    /// What one of them is told of itself.
    Me,
    /// How they play.
    Doc,
}

/// What only the owner may do.
#[derive(Clone, Copy)]
enum Order {
    Command(Command),
    Use(Power),
    Configure,
    Break(Fault),
}

/// What became of an order.
enum Obeyed<'a> {
    Done,
    Configured,
    Wrong(settings::Wrong<'a>),
    Unread(powers::Wrong<'a>),
    Denied(Denied),
    /// A status, and why.
    Not(u16, &'static str),
    Stranger,
    /// Too many codes were tried.
    Later(Later),
    WillBreak(fn(Fault), Fault),
}

/// Runs a future in a function of its own, which the compiler does not merge with the one that waits for it.
pub(crate) fn apart<F: Future>(mut future: Pin<&mut F>) -> impl Future<Output = F::Output> {
    #[inline(never)]
    fn poll<F: Future>(future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        future.poll(context)
    }
    poll_fn(move |context| poll(future.as_mut(), context))
}

fn find(path: &str) -> Option<Route> {
    if path.eq_ignore_ascii_case("/mcp") || path.eq_ignore_ascii_case("/mcp/") {
        return Some(Route::Rpc(Via::Post));
    }
    Some(match path {
        "/register" => Route::Rpc(Via::Register),
        "/health" => Route::Health,
        "/api/status.json" => Route::Status,
        "/api/standings.json" => Route::Rows(Rows::Standings),
        "/api/schedule.json" => Route::Rows(Rows::Schedule),
        "/api/players.json" => Route::Rows(Rows::Players),
        "/api/standings.csv" => Route::Rows(Rows::Table),
        "/api/results.csv" => Route::Rows(Rows::Results),
        "/api/log.jsonl" => Route::Rows(Rows::Log),
        "/api/leagues.json" => Route::Leagues,
        "/api/settings.json" => Route::Settings,
        "/api/clock" => Route::Clock,
        "/api/v1/agents" => Route::Agents,
        "/api/v1/agents/me" => Route::Me,
        "/api/v1/doc" => Route::Doc,
        "/api/admin/settings" => Route::Admin(Order::Configure),
        "/api/admin/fault/panic" => Route::Admin(Order::Break(Fault::Panic)),
        "/api/admin/fault/hang" => Route::Admin(Order::Break(Fault::Hang)),
        "/api/admin/start" => Route::Admin(Order::Command(Command::Start)),
        "/api/admin/pause" => Route::Admin(Order::Command(Command::Pause)),
        "/api/admin/resume" => Route::Admin(Order::Command(Command::Resume)),
        "/api/admin/reset" => Route::Admin(Order::Command(Command::Reset)),
        "/api/admin/rematch" => Route::Admin(Order::Command(Command::Rematch)),
        "/api/admin/check" => Route::Admin(Order::Use(Power::Check)),
        "/api/admin/remove" => Route::Admin(Order::Use(Power::Remove)),
        "/api/admin/rule" => Route::Admin(Order::Use(Power::Rule)),
        "/api/admin/replay" => Route::Admin(Order::Use(Power::Replay)),
        _ => {
            if let Some(file) = web::find(path) {
                return Some(Route::File(file));
            }
            let name = path.strip_prefix("/api/")?.strip_suffix(".json")?;
            if let Some(name) = name.strip_prefix("matches/") {
                match name.split_once('/') {
                    None => Route::Match(MatchId::read(name)?),
                    Some((id, "moves")) => Route::Moves(MatchId::read(id)?),
                    Some((id, step)) => Route::Step(MatchId::read(id)?, step.strip_prefix("steps/")?.parse().ok()?),
                }
            } else if let Some(number) = name.strip_prefix("leagues/") {
                Route::League(number.parse().ok()?)
            } else {
                match AgentId::read(name.strip_prefix("players/")?)? {
                    AgentId::Player(number) => Route::Rows(Rows::Player(number)),
                    AgentId::Referee(_) => return None,
                }
            }
        }
    })
}

impl<B: Board, const P: usize, const M: usize, const R: usize, const L: usize> Appliance<B, P, M, R, L> {
    /// Answers a request.
    pub(crate) fn route<S: Write>(
        &self,
        peer: IpAddr,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let may_ask = self.guard.borrow_mut().request(self.board.now(), peer, P);
            if let Err(later) = may_ask {
                return too_many(responder, later, "requests came").await;
            }
            let Some(route) = find(request.path) else {
                return responder.error(404, "no such path; the page at / and /skill.md name those that exist").await;
            };
            let posted = matches!(route, Route::Rpc(_) | Route::Clock | Route::Admin(_) | Route::Agents);
            let allowed = if posted { "POST" } else { "GET, HEAD" };
            let fits = if posted { request.method == "POST" } else { matches!(request.method, "GET" | "HEAD") };
            if !fits {
                let body: &[u8] =
                    if posted { br#"{"error":"this path takes POST"}"# } else { br#"{"error":"this path takes GET"}"# };
                return responder.respond(405, JSON, body, &[("Allow", allowed)]).await;
            }
            if posted && guard::is_from_elsewhere(&request) {
                return responder
                    .error(403, "Origin must name the Host: a web page from elsewhere may not do this")
                    .await;
            }
            if matches!(route, Route::Admin(_)) && guard::is_for_another(&request, self.board.about().name) {
                return responder
                    .error(403, "Host must be the box's address, localhost, or its name: leaguebox.local")
                    .await;
            }
            if matches!(route, Route::Clock | Route::Admin(_)) && guard::is_not_json(&request) {
                return responder.error(415, "Content-Type must be application/json").await;
            }
            // Whatever needs much of the stack is polled apart: else every answer would take what all of them take.
            match route {
                Route::Rpc(via) => apart(pin!(self.rpc(peer, via, request.body, responder))).await,
                Route::Health => {
                    let memory = self.board.memory();
                    self.send(responder, 200, &|_, sink| pages::health(memory, sink)).await
                }
                Route::File(file) => apart(pin!(file.send(request, responder))).await,
                Route::Status => {
                    let vitals = self.vitals(self.board.now());
                    self.send(responder, 200, &|hall, sink| pages::status(hall, vitals, sink)).await
                }
                Route::Agents => apart(pin!(self.send_enrolment(responder, peer, request.body))).await,
                Route::Me => {
                    let key = bearer(&request);
                    match self.hall(|hall| hall.agent_of_key(key?.chars())) {
                        Some(issue) => self.send(responder, 200, &|hall, sink| hall.write_agent(issue, sink)).await,
                        None => {
                            let body: &[u8] = match key {
                                Some(_) => br#"{"error":"Invalid API key."}"#,
                                None => br#"{"error":"Authorization: Bearer <apiKey> is required"}"#,
                            };
                            responder.respond(401, JSON, body, &[("WWW-Authenticate", "Bearer")]).await
                        }
                    }
                }
                Route::Doc => {
                    let is_for_programs = request.query.split('&').any(|part| part == "format=json");
                    match web::find(if is_for_programs { ARENA_JSON } else { ARENA }) {
                        Some(file) => apart(pin!(file.send(request, responder))).await,
                        None => responder.error(404, "no such path").await,
                    }
                }
                Route::Settings => self.send(responder, 200, &settings::write).await,
                Route::Rows(rows) => apart(pin!(self.send_rows(responder, rows))).await,
                Route::Match(id) => apart(pin!(self.send_match(responder, id))).await,
                Route::Moves(id) => apart(pin!(self.send_moves(responder, id))).await,
                Route::Step(id, step) => apart(pin!(self.send_step(responder, id, step))).await,
                Route::Leagues => apart(pin!(self.send_leagues(responder))).await,
                Route::League(number) => apart(pin!(self.send_league(responder, number))).await,
                Route::Clock => match calendar::of_browser(request.body) {
                    Ok(utc) => {
                        let believed = self.learn_time(Source::Browser, utc);
                        let (now, source) = (self.now().utc, self.calendar().source());
                        self.send(responder, 200, &|_, sink| pages::clock(believed, now, source, sink)).await
                    }
                    Err(rule) => responder.error(400, rule).await,
                },
                Route::Admin(order) => apart(pin!(self.answer_owner(peer, order, request, responder))).await,
            }
        }
    }

    fn send_enrolment<S: Write>(
        &self,
        responder: Responder<'_, S, B>,
        peer: IpAddr,
        body: &[u8],
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            match self.enrol(peer, body).await {
                Ok(enrolment) => {
                    self.send(responder, enrolment.status(), &|hall, sink| hall.write_enrolment(enrolment, sink)).await
                }
                Err(later) => too_many(responder, later, "registrations came").await,
            }
        }
    }

    fn send_match<S: Write>(
        &self,
        responder: Responder<'_, S, B>,
        id: MatchId,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let now = self.board.now();
            let found =
                self.hall(|hall| hall.match_line(id).map(|_| (Moment::of(hall, id, now), hall.log().written())));
            let Some((mut moment, upto)) = found else {
                return responder.error(404, "no such match in this league").await;
            };
            if moment.is_over() {
                // Of a match that is over the hall keeps how it ended; the reel has the rest.
                let told = self.ask_the_journal(Ask::Step(id, u16::MAX)).await;
                if let Some(replay) = told.as_ref().and_then(|told| told.replay()).filter(|it| it.shot.ended.is_some())
                {
                    moment.show_end(replay.game.clone());
                }
            }
            let at = self.now().utc;
            self.send(responder, 200, &|hall, sink| pages::one_match(hall, &moment, upto, at, sink)).await
        }
    }

    /// Answers who says to be the owner.
    fn answer_owner<S: Write>(
        &self,
        peer: IpAddr,
        order: Order,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            match self.obey(peer, order, request).await {
                Obeyed::Done => self.send(responder, 200, &pages::done).await,
                Obeyed::Configured => self.send(responder, 200, &settings::write).await,
                Obeyed::Wrong(wrong) => self.send(responder, 400, &|_, sink| pages::error(&wrong, sink)).await,
                Obeyed::Unread(wrong) => self.send(responder, 400, &|_, sink| pages::error(&wrong, sink)).await,
                Obeyed::Denied(denied) => {
                    let status = powers::status(denied);
                    self.send(responder, status, &|_, sink| pages::error(&denied, sink)).await
                }
                Obeyed::Not(status, why) => responder.error(status, why).await,
                Obeyed::Stranger => {
                    let body = br#"{"error":"Authorization: Bearer <admin code> is required; the box shows the code to its owner"}"#;
                    responder.respond(401, JSON, body, &[("WWW-Authenticate", "Bearer")]).await
                }
                Obeyed::Later(later) => too_many(responder, later, "wrong admin codes came").await,
                Obeyed::WillBreak(break_it, fault) => {
                    let body = br#"{"status":"ok","message":"See you after the reset."}"#;
                    responder.respond(200, JSON, body, &[]).await?;
                    // What is answered is not sent yet: that takes the network a moment.
                    self.board.sleep_until(self.board.after(LAST_WORDS_MS)).await;
                    break_it(fault);
                    Ok(())
                }
            }
        }
    }

    /// What the box says of itself at a moment.
    pub(crate) fn vitals(&self, ms: u64) -> Vitals<'_> {
        let (calendar, guard) = (self.calendar(), self.guard.borrow());
        Vitals {
            time: calendar.at(ms),
            time_source: calendar.source(),
            uptime_seconds: ms.saturating_sub(self.started) / 1000,
            refused_requests: self.refused.get(),
            wrong_admin_codes: guard.wrong_codes,
            limited_requests: guard.too_many,
            log_entries: self.hall(|hall| hall.log().written() + hall.log().repeats()),
            about: self.board.about(),
            kept: self.kept(),
        }
    }

    /// Whether the owner sent this; if not, what it is answered.
    fn admit<'a>(&self, peer: IpAddr, request: Request<'_>) -> Result<(), Obeyed<'a>> {
        let given = bearer(&request).ok_or(Obeyed::Stranger)?;
        let (now, mut guard) = (self.board.now(), self.guard.borrow_mut());
        guard.may_guess(now, peer).map_err(Obeyed::Later)?;
        if !is_same(given.as_bytes(), self.admin_code.borrow().as_bytes()) {
            guard.wrong(now, peer);
            return Err(Obeyed::Stranger);
        }
        guard.right(now, peer);
        Ok(())
    }

    /// Obeys the owner, and only the owner.
    fn obey<'a>(&self, peer: IpAddr, order: Order, request: Request<'a>) -> impl Future<Output = Obeyed<'a>> {
        async move {
            if let Err(stranger) = self.admit(peer, request) {
                return stranger;
            }
            self.room().await;
            self.perform(order, request.body)
        }
    }

    /// Does what the owner wants. Not inlined: what it takes of the stack would be taken by every request.
    #[inline(never)]
    fn perform<'a>(&self, order: Order, body: &'a [u8]) -> Obeyed<'a> {
        match order {
            Order::Command(command) => match self.act(|hall, now| hall.command(now, command)) {
                Ok(()) => {
                    if command == Command::Reset {
                        self.journal.reset();
                    }
                    Obeyed::Done
                }
                Err(refusal) => Obeyed::Not(409, refusal.0),
            },
            Order::Use(power) => match power.read(body) {
                Ok(act) => match self.act(|hall, now| act.perform(hall, now)) {
                    Ok(()) => Obeyed::Done,
                    Err(denied) => Obeyed::Denied(denied),
                },
                Err(wrong) => Obeyed::Unread(wrong),
            },
            Order::Configure => match settings::read(body, P) {
                Ok(change) => match self.act(|hall, now| hall.configure(now, change)) {
                    Ok(()) => Obeyed::Configured,
                    Err(refusal) => Obeyed::Not(409, refusal.0),
                },
                Err(wrong) => Obeyed::Wrong(wrong),
            },
            Order::Break(fault) => match self.board.breaker() {
                Some(break_it) => Obeyed::WillBreak(break_it, fault),
                None => Obeyed::Not(404, "this board has no watchdog that would bring it back"),
            },
        }
    }

    fn rpc<S: Write>(
        &self,
        peer: IpAddr,
        via: Via,
        body: &[u8],
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let answer = match self.ask_hall(peer, via, body).await {
                Ok(answer) => answer,
                Err(later) => return too_many(responder, later, "registrations came").await,
            };
            if answer.is_empty() {
                self.safe().await;
                return responder.respond(204, JSON, &[], &[]).await;
            }
            self.send(responder, 200, &|hall, sink| hall.write_answer(&answer, sink)).await
        }
    }

    /// Sends a JSON text that `write` writes from the hall. Should one that does not fit the buffer become another text
    /// meanwhile, the connection is closed.
    pub(crate) fn send<S: Write>(
        &self,
        responder: Responder<'_, S, B>,
        status: u16,
        write: &dyn Fn(&Hall<P, M, R, L>, &mut dyn Sink) -> Result<(), Full>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let mut answer = responder.begin_open(status, JSON)?;
            match pieces::send(&mut answer, &|sink| self.hall(|hall| write(hall, sink)), async || self.safe().await)
                .await?
            {
                true => {
                    self.safe().await;
                    answer.finish().await
                }
                false => Err(WriteError::WrongLength),
            }
        }
    }

    /// Sends a page row by row. One that fits a single write has a length; a longer one is chunked, each row as it is
    /// when its turn comes. Rows of another league would not fit behind those already sent: then it breaks off.
    fn send_rows<S: Write>(
        &self,
        responder: Responder<'_, S, B>,
        rows: Rows,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
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
            let mut at = 0;
            loop {
                let next = Cell::new((at, false));
                let row = |sink: &mut dyn Sink| {
                    self.hall(|hall| {
                        if hall.league_id().number != league {
                            return Err(Full);
                        }
                        let mut behind = at;
                        let more = rows.write(hall, &mut behind, sink)?;
                        next.set((behind, more));
                        Ok(())
                    })
                };
                if !pieces::send(&mut answer, &row, async || self.safe().await).await? {
                    return Err(WriteError::WrongLength);
                }
                let more;
                (at, more) = next.get();
                if !more {
                    self.safe().await;
                    return answer.finish().await;
                }
            }
        }
    }
}

/// Says that too much of something came from where this came from, and when to come again.
pub(crate) fn too_many<S: Write, C: Clock>(
    responder: Responder<'_, S, C>,
    Later(seconds): Later,
    of: &str,
) -> impl Future<Output = Result<(), WriteError>> {
    async move {
        let (mut wait, mut body) = (String::<10>::new(), String::<96>::new());
        let _ = write!(wait, "{seconds}");
        let _ = write!(body, r#"{{"error":"too many {of} from your address; wait as Retry-After says"}}"#);
        responder.respond(429, JSON, body.as_bytes(), &[("Retry-After", &wait)]).await
    }
}

/// What a request authorizes itself with.
fn bearer<'a>(request: &Request<'a>) -> Option<&'a str> {
    let (scheme, code) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| code.trim())
}

/// Compares without telling, by the time it takes, how much was right.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
