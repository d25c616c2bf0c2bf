//! Which path is what. A path that exists but not for this method gets 405 and is told which; anything else is 404.

use core::cell::Cell;
use core::fmt::Write as _;
use core::future::poll_fn;
use core::net::IpAddr;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use embassy_futures::yield_now;
use embedded_io_async::Write;
use heapless::String;
use protocol_core::hall::{Command, Denied, Hall, Stage, Via};
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
use crate::powers::{self, Act, Power};
use crate::settings;
use crate::web::{self, File};

/// How long a board that will be broken on purpose has for its answer, in milliseconds.
const LAST_WORDS_MS: u64 = 500;
/// What a head may take of the room for an answer.
const HEAD: usize = 256;
/// Rows of a page that are made in one go. One of a match that is not over has nothing to show and still takes work.
const ROWS: u64 = 4096;

/// What is said to a browser that speaks for a page that is not the box's.
pub(crate) const FROM_ELSEWHERE: &str = "Origin must name the Host, and Host the box: its address, localhost, or leaguebox.local; a web page from \
     elsewhere may not do this";

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
    /// Go on with what is sound of a damaged journal.
    Recover,
    /// A new code for a screen that may show all there is.
    Projector,
    /// House players are to come.
    Hire,
    Break(Fault),
}

/// The code of a screen that may show all there is.
type Code = String<12>;

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    Anybody,
    /// The player of this number, by its token.
    Player(u16),
    /// A screen that may show all there is.
    Projector,
    Owner,
    /// Somebody who shows what is no code.
    Guesser,
}

/// What became of an order.
enum Obeyed<'a> {
    Done,
    /// So many players are removed.
    Removed(u16),
    /// There is more of it to do.
    Begun(Act),
    Projector(Code),
    Configured,
    Wrong(settings::Wrong<'a>),
    Unread(powers::Wrong<'a>),
    Denied(Denied),
    /// A status, and why.
    Not(u16, &'static str),
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
        "/api/admin/house" => Route::Admin(Order::Hire),
        "/api/admin/settings" => Route::Admin(Order::Configure),
        "/api/admin/fault/panic" => Route::Admin(Order::Break(Fault::Panic)),
        "/api/admin/fault/hang" => Route::Admin(Order::Break(Fault::Hang)),
        "/api/admin/start" => Route::Admin(Order::Command(Command::Start)),
        "/api/admin/pause" => Route::Admin(Order::Command(Command::Pause)),
        "/api/admin/resume" => Route::Admin(Order::Command(Command::Resume)),
        "/api/admin/next" => Route::Admin(Order::Command(Command::Next)),
        "/api/admin/reset" => Route::Admin(Order::Command(Command::Reset)),
        "/api/admin/rematch" => Route::Admin(Order::Command(Command::Rematch)),
        "/api/admin/projector" => Route::Admin(Order::Projector),
        "/api/admin/recover" => Route::Admin(Order::Recover),
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
                    AgentId::Player(number) => Route::Rows(Rows::Player(number, false)),
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
            let route = find(request.path);
            let caller = self.caller(route.as_ref(), &request);
            // Nothing that others have done keeps the owner out; a wrong code is the last request on its connection.
            let may_ask = match caller {
                Caller::Owner => Ok(()),
                Caller::Guesser => self.guard.borrow_mut().wrong_code(self.board.now(), peer, P),
                _ => self.guard.borrow_mut().request(self.board.now(), peer, P),
            };
            let responder = if caller == Caller::Guesser { responder.close() } else { responder };
            if let Err(later) = may_ask {
                let of = if caller == Caller::Guesser { "wrong admin codes came" } else { "requests came" };
                return too_many(responder, later, of).await;
            }
            let name = self.board.about().name;
            if request.method == "POST" && guard::is_from_elsewhere(&request, name) {
                return responder.error(403, FROM_ELSEWHERE).await;
            }
            let Some(route) = route else {
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
            if matches!(route, Route::Admin(_)) && guard::is_for_another(&request, name) {
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
                    let (memory, kept) = (self.board.memory(), self.kept());
                    self.send(peer, responder, 200, &|_, sink| pages::health(memory, kept, sink)).await
                }
                Route::File(file) => {
                    let host = guard::own_host(&request, self.board.about().name);
                    apart(pin!(file.send(request, host, responder))).await
                }
                Route::Status => {
                    let vitals = self.vitals(self.board.now());
                    self.send(peer, responder, 200, &|hall, sink| pages::status(hall, vitals, sink)).await
                }
                Route::Agents => apart(pin!(self.send_enrolment(peer, responder, request.body))).await,
                Route::Me => {
                    let key = bearer(&request);
                    match self.hall(|hall| hall.agent_of_key(key?.chars())) {
                        Some(issue) => {
                            self.send(peer, responder, 200, &|hall, sink| hall.write_agent(issue, sink)).await
                        }
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
                        Some(file) => {
                            let host = guard::own_host(&request, self.board.about().name);
                            apart(pin!(file.send(request, host, responder))).await
                        }
                        None => responder.error(404, "no such path").await,
                    }
                }
                Route::Settings => self.send(peer, responder, 200, &settings::write).await,
                Route::Rows(Rows::Player(..)) if caller == Caller::Guesser => stranger(responder).await,
                Route::Rows(rows) => {
                    let rows = match rows {
                        Rows::Player(number, _) => {
                            let is_private = matches!(caller, Caller::Owner) || caller == Caller::Player(number);
                            Rows::Player(number, is_private)
                        }
                        rows => rows,
                    };
                    apart(pin!(self.send_rows(peer, responder, rows))).await
                }
                Route::Match(id) => {
                    let sees_all = matches!(caller, Caller::Owner | Caller::Projector);
                    apart(pin!(self.send_match(peer, responder, id, sees_all))).await
                }
                Route::Moves(id) => apart(pin!(self.send_moves(peer, responder, id))).await,
                Route::Step(id, step) => apart(pin!(self.send_step(peer, responder, id, step))).await,
                Route::Leagues => apart(pin!(self.send_leagues(peer, responder))).await,
                Route::League(number) => apart(pin!(self.send_league(peer, responder, number))).await,
                Route::Clock => match calendar::of_browser(request.body) {
                    Ok(utc) => {
                        let believed = self.learn_time(Source::Browser, utc);
                        let (now, source) = (self.now().utc, self.calendar().source());
                        self.send(peer, responder, 200, &|_, sink| pages::clock(believed, now, source, sink)).await
                    }
                    Err(rule) => responder.error(400, rule).await,
                },
                Route::Admin(order) if caller == Caller::Owner => {
                    apart(pin!(self.answer_owner(peer, order, request.body, responder))).await
                }
                Route::Admin(_) => stranger(responder).await,
            }
        }
    }

    fn send_enrolment<S: Write>(
        &self,
        peer: IpAddr,
        responder: Responder<'_, S, B>,
        body: &[u8],
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            match self.enrol(peer, body).await {
                Ok(enrolment) => {
                    self.send(peer, responder, enrolment.status(), &|hall, sink| hall.write_enrolment(enrolment, sink))
                        .await
                }
                Err(later) => too_many(responder, later, "registrations came").await,
            }
        }
    }

    fn send_match<S: Write>(
        &self,
        peer: IpAddr,
        responder: Responder<'_, S, B>,
        id: MatchId,
        sees_all: bool,
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
            let moment = if sees_all { moment.in_full() } else { moment };
            let at = self.now().utc;
            self.send(peer, responder, 200, &|hall, sink| pages::one_match(hall, &moment, upto, at, sink)).await
        }
    }

    /// Answers the owner.
    fn answer_owner<S: Write>(
        &self,
        peer: IpAddr,
        order: Order,
        body: &[u8],
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            self.room().await;
            let obeyed = match self.perform(order, body) {
                Obeyed::Begun(act) => self.remove_the_rest(act).await,
                obeyed => obeyed,
            };
            match obeyed {
                // Nothing is only begun by now.
                Obeyed::Done | Obeyed::Begun(_) => self.send(peer, responder, 200, &pages::done).await,
                Obeyed::Removed(n) => {
                    self.send(peer, responder, 200, &|hall, sink| pages::removed(hall, n, sink)).await
                }
                Obeyed::Projector(code) => {
                    self.send(peer, responder, 200, &|_, sink| pages::projector(&code, sink)).await
                }
                Obeyed::Configured => self.send(peer, responder, 200, &settings::write).await,
                Obeyed::Wrong(wrong) => self.send(peer, responder, 400, &|_, sink| pages::error(&wrong, sink)).await,
                Obeyed::Unread(wrong) => self.send(peer, responder, 400, &|_, sink| pages::error(&wrong, sink)).await,
                Obeyed::Denied(denied) => {
                    let status = powers::status(denied);
                    self.send(peer, responder, status, &|_, sink| pages::error(&denied, sink)).await
                }
                Obeyed::Not(status, why) => responder.error(status, why).await,
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
            ms,
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

    /// What a screen says that may show all there is, if the owner has asked for such a code.
    fn projector_code(&self) -> Option<Code> {
        let nonce = Some(self.projector.get()).filter(|&nonce| nonce != 0)?;
        let mut code = Code::new();
        write!(code, "{:012x}", self.hall(|hall| hall.projector_code(nonce))).ok()?;
        Some(code)
    }

    /// Who asks, where that makes a difference.
    fn caller(&self, route: Option<&Route>, request: &Request<'_>) -> Caller {
        let shown = bearer(request);
        let is_owner = |shown: &str| guard::is_same(shown, &self.admin_code.borrow());
        let is_projector = |shown: &str| self.projector_code().is_some_and(|code| guard::is_same(shown, &code));
        match (route, shown) {
            (Some(Route::Admin(_) | Route::Match(_) | Route::Rows(Rows::Player(..))), Some(shown))
                if is_owner(shown) =>
            {
                Caller::Owner
            }
            (Some(Route::Admin(_)), Some(_)) => Caller::Guesser,
            (Some(Route::Match(_)), shown) => {
                let given = request.query.split('&').find_map(|part| part.strip_prefix("projector="));
                match given.or(shown) {
                    Some(given) if is_projector(given) => Caller::Projector,
                    // A wrong admin code counts as one here, too: this must not be a place to guess it.
                    Some(_) if given.is_none() => Caller::Guesser,
                    _ => Caller::Anybody,
                }
            }
            (Some(Route::Rows(Rows::Player(..))), Some(shown)) => {
                match self.hall(|hall| hall.player_of_credential(shown)) {
                    Some(number) => Caller::Player(number),
                    // A token that is no longer good is no guess at a code.
                    None if shown.starts_with("tok_") => Caller::Anybody,
                    None => Caller::Guesser,
                }
            }
            _ => Caller::Anybody,
        }
    }

    /// Goes on with what has begun, one step after the other: each needs room in the journal.
    fn remove_the_rest<'a>(&self, act: Act) -> impl Future<Output = Obeyed<'a>> {
        async move {
            let mut removed = 1;
            loop {
                yield_now().await;
                self.room().await;
                match self.act(|hall, now| act.perform(hall, now)) {
                    Ok(true) => removed += 1,
                    // The league may be over, with so many gone.
                    Ok(false) | Err(_) => return Obeyed::Removed(removed),
                }
            }
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
                    Ok(true) => Obeyed::Begun(act),
                    Ok(false) if matches!(act, Act::RemoveFrom(_)) => Obeyed::Denied(Denied::Address),
                    Ok(false) => Obeyed::Done,
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
            Order::Projector => {
                // Another one each time, and none that there was before a restart.
                self.projector.set((self.board.now() as u32).wrapping_add(1).max(1));
                self.projector_code().map_or(Obeyed::Not(500, "there is no code"), Obeyed::Projector)
            }
            Order::Recover if self.hall(|hall| matches!(hall.stage(), Stage::Running(_))) => {
                Obeyed::Not(409, "a league is being played: what is recovered would take its place")
            }
            Order::Recover if self.journal.recover() => Obeyed::Done,
            Order::Recover => Obeyed::Not(409, "there is nothing to recover; /api/status.json says how the journal is"),
            Order::Hire => match powers::read_house(body, P) {
                Err(wrong) => Obeyed::Unread(wrong),
                Ok(_) if self.hall(|hall| matches!(hall.stage(), Stage::Running(_))) => {
                    Obeyed::Not(409, "nobody can register while a league runs; house players neither")
                }
                Ok(players) if self.hall(|hall| hall.players().len() + usize::from(players) > P) => {
                    Obeyed::Not(409, "there is no room for so many more players")
                }
                Ok(players) if self.board.hire(players) => Obeyed::Done,
                Ok(_) => Obeyed::Not(404, "this board has no house players; a box that runs on a computer has"),
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
            let status = if via == Via::Register { answer.status() } else { 200 };
            self.send(peer, responder, status, &|hall, sink| hall.write_answer(&answer, sink)).await
        }
    }

    /// Sends a JSON text that `write` writes from the hall. Should one that does not fit the buffer become another text
    /// meanwhile, the connection is closed.
    pub(crate) fn send<S: Write>(
        &self,
        peer: IpAddr,
        responder: Responder<'_, S, B>,
        status: u16,
        write: &dyn Fn(&Hall<P, M, R, L>, &mut dyn Sink) -> Result<(), Full>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let room = responder.room();
            if responder.is_head_only() {
                // The length of a long text is not told: all of it would have to be made.
                let mut counter = Counter::up_to(room.saturating_sub(HEAD));
                let length = self.hall(|hall| write(hall, &mut counter)).is_ok().then_some(counter.bytes);
                self.safe().await;
                return responder.begin(status, JSON, length, &[])?.finish().await;
            }
            let mut answer = responder.begin_open(status, JSON)?;
            let text = |sink: &mut dyn Sink| self.hall(|hall| write(hall, sink));
            match pieces::send(&mut answer, &text, async || self.go_on(peer, room).await).await? {
                true => {
                    self.safe().await;
                    answer.finish().await
                }
                false => Err(WriteError::WrongLength),
            }
        }
    }

    /// Waits until a piece of a long answer may leave and the next one may be made; who asked for it pays for it.
    pub(crate) fn go_on(&self, peer: IpAddr, bytes: usize) -> impl Future<Output = ()> {
        async move {
            self.safe().await;
            self.guard.borrow_mut().pay(self.board.now(), peer, P, bytes);
            self.turns.next().await;
        }
    }

    /// Sends a page row by row. One that fits a single write has a length; a longer one is chunked, each row as it is
    /// when its turn comes. Rows of another league would not fit behind those already sent: then it breaks off.
    fn send_rows<S: Write>(
        &self,
        peer: IpAddr,
        responder: Responder<'_, S, B>,
        rows: Rows,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let (exists, league) = self.hall(|hall| (rows.exists(hall), hall.league_id().number));
            if !exists {
                return responder.error(404, "no such player in this league").await;
            }
            if responder.is_head_only() {
                return responder.head(200, rows.content_type(), rows.headers()).await;
            }
            self.act(|hall, _| hall.refresh_standings());
            let size = responder.room();
            let room = size.saturating_sub(HEAD);
            let mut counter = Counter::default();
            let mut at = 0;
            let is_short = self.hall(|hall| {
                while counter.bytes <= room && at < ROWS {
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
            let (mut at, mut made) = (0, 0u64);
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
                if !pieces::send(&mut answer, &row, async || self.go_on(peer, size).await).await? {
                    return Err(WriteError::WrongLength);
                }
                let more;
                (at, more) = next.get();
                if !more {
                    self.safe().await;
                    return answer.finish().await;
                }
                made += 1;
                if made % ROWS == 0 {
                    self.turns.next().await;
                }
            }
        }
    }
}

/// Says that this is for the owner.
fn stranger<S: Write, C: Clock>(responder: Responder<'_, S, C>) -> impl Future<Output = Result<(), WriteError>> {
    async move {
        let body =
            br#"{"error":"Authorization: Bearer <admin code> is required; the box shows the code to its owner"}"#;
        responder.respond(401, JSON, body, &[("WWW-Authenticate", "Bearer")]).await
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
