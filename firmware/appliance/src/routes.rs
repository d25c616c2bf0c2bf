//! Which path is what: [`ROUTES`]. A path that exists but not for this method gets 405 and is told which; anything else is 404.

use core::cell::Cell;
use core::fmt::Write as _;
use core::future::poll_fn;
use core::net::IpAddr;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use embassy_futures::yield_now;
use embedded_io_async::Write;
use heapless::String;
use protocol_core::ids::{AgentId, MatchId};
use protocol_core::json::{Counter, Full, Sink};
use protocol_core::protocols::moltgame;
use protocol_core::venue::{Command, Denied, Stage, Venue, Via};

use crate::Appliance;
use crate::board::{Board, Fault};
use crate::calendar::{self, Source};
use crate::clock::Clock;
use crate::guard::{self, Later};
use crate::http::{Request, Responder, WriteError};
use crate::journal::Ask;
use crate::links::RETRY_AFTER;
use crate::moment::Moment;
use crate::pages::{self, Rows, Vitals};
use crate::pieces;
use crate::powers::{self, Act, Power};
use crate::settings;
use crate::web::{self, File};
use crate::ws::Long;

/// How long a board that will be broken on purpose has for its answer, in milliseconds.
const LAST_WORDS_MS: u64 = 500;
/// How long a peer may take to read an answer that is made in a lent buffer, in milliseconds: a lost frame is sent again after
/// one second.
const TAKE_MS: u32 = 1_500;
/// What is said where no such buffer is free in time.
const BUSY: &str = "too many long answers are being read; wait as Retry-After says";
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
#[derive(Clone, Copy)]
enum Route<'a> {
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
    /// What agents of MoltGame ask.
    MoltGame(moltgame::Ask<'a>),
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

/// By which methods a path is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// GET, and HEAD for what comes before the body.
    Get,
    Post,
}

use Method::{Get, Post};

impl Method {
    fn fits(self, method: &str) -> bool {
        match self {
            Get => matches!(method, "GET" | "HEAD"),
            Post => method == "POST",
        }
    }
}

/// Where a path leads. What stands for a `*` in it is told.
#[derive(Clone, Copy)]
enum Leads {
    To(Route<'static>),
    By(fn([&str; 2]) -> Option<Route<'static>>),
}

use Leads::{By, To};

/// Every path but those of files, which [`web`] knows. Of a path that is asked for by several methods there are several rows.
/// A `*` stands for anything without a slash.
const ROUTES: &[(Method, &str, Leads)] = &[
    // league.v2
    (Post, "/mcp", To(Route::Rpc(Via::Post))),
    (Post, "/mcp/", To(Route::Rpc(Via::Post))),
    (Post, "/register", To(Route::Rpc(Via::Register))),
    // League of Agents
    (Post, "/api/v1/agents", To(Route::Agents)),
    (Get, "/api/v1/agents/me", To(Route::Me)),
    (Get, "/api/v1/doc", To(Route::Doc)),
    // What anybody may see.
    (Get, "/health", To(Route::Health)),
    (Get, "/api/status.json", To(Route::Status)),
    (Get, "/api/settings.json", To(Route::Settings)),
    (Get, "/api/standings.json", To(Route::Rows(Rows::Standings))),
    (Get, "/api/schedule.json", To(Route::Rows(Rows::Schedule))),
    (Get, "/api/players.json", To(Route::Rows(Rows::Players))),
    (Get, "/api/players/*.json", By(|[id, _]| Some(Route::Rows(Rows::Player(player(id)?, false))))),
    (Get, "/api/standings.csv", To(Route::Rows(Rows::Table))),
    (Get, "/api/results.csv", To(Route::Rows(Rows::Results))),
    (Get, "/api/log.jsonl", To(Route::Rows(Rows::Log))),
    (Get, "/api/matches/*.json", By(|[id, _]| Some(Route::Match(MatchId::read(id)?)))),
    (Get, "/api/matches/*/moves.json", By(|[id, _]| Some(Route::Moves(MatchId::read(id)?)))),
    (Get, "/api/matches/*/steps/*.json", By(|[id, n]| Some(Route::Step(MatchId::read(id)?, n.parse().ok()?)))),
    (Get, "/api/leagues.json", To(Route::Leagues)),
    (Get, "/api/leagues/*.json", By(|[number, _]| Some(Route::League(number.parse().ok()?)))),
    (Post, "/api/clock", To(Route::Clock)),
    // What only the owner may do.
    (Post, "/api/admin/start", To(Route::Admin(Order::Command(Command::Start)))),
    (Post, "/api/admin/pause", To(Route::Admin(Order::Command(Command::Pause)))),
    (Post, "/api/admin/resume", To(Route::Admin(Order::Command(Command::Resume)))),
    (Post, "/api/admin/next", To(Route::Admin(Order::Command(Command::Next)))),
    (Post, "/api/admin/reset", To(Route::Admin(Order::Command(Command::Reset)))),
    (Post, "/api/admin/rematch", To(Route::Admin(Order::Command(Command::Rematch)))),
    (Post, "/api/admin/settings", To(Route::Admin(Order::Configure))),
    (Post, "/api/admin/check", To(Route::Admin(Order::Use(Power::Check)))),
    (Post, "/api/admin/remove", To(Route::Admin(Order::Use(Power::Remove)))),
    (Post, "/api/admin/rule", To(Route::Admin(Order::Use(Power::Rule)))),
    (Post, "/api/admin/replay", To(Route::Admin(Order::Use(Power::Replay)))),
    (Post, "/api/admin/house", To(Route::Admin(Order::Hire))),
    (Post, "/api/admin/projector", To(Route::Admin(Order::Projector))),
    (Post, "/api/admin/recover", To(Route::Admin(Order::Recover))),
    (Post, "/api/admin/fault/panic", To(Route::Admin(Order::Break(Fault::Panic)))),
    (Post, "/api/admin/fault/hang", To(Route::Admin(Order::Break(Fault::Hang)))),
];

/// What is found at a path.
enum Found<'a> {
    This(Route<'a>),
    /// Something, but not by this method: by these.
    Otherwise(&'static str),
    Nothing,
}

fn find<'a>(method: &str, path: &'a str) -> Found<'a> {
    let file = web::find(path).map(|file| (Get, Route::File(file)));
    let routes = ROUTES.iter().filter_map(|&(takes, pattern, leads)| Some((takes, lead(pattern, leads, path)?)));
    let mut others = [false; 2];
    let asked = crate::moltgame::find(path).map(|(takes, ask)| (takes, Route::MoltGame(ask)));
    for (takes, route) in file.into_iter().chain(routes).chain(asked) {
        if takes.fits(method) {
            return Found::This(route);
        }
        others = [others[0] | (takes == Get), others[1] | (takes == Post)];
    }
    match others {
        [true, true] => Found::Otherwise("GET, HEAD, POST"),
        [true, false] => Found::Otherwise("GET, HEAD"),
        [false, true] => Found::Otherwise("POST"),
        [false, false] => Found::Nothing,
    }
}

/// Where a path leads if it fits a pattern. Agents write `/MCP` too.
fn lead(pattern: &str, leads: Leads, path: &str) -> Option<Route<'static>> {
    match leads {
        To(route) => pattern.eq_ignore_ascii_case(path).then_some(route),
        By(route) => route(parts(pattern, path)?),
    }
}

/// What stands for each `*` of a pattern.
pub(crate) fn parts<'a>(pattern: &str, path: &'a str) -> Option<[&'a str; 2]> {
    let Some((first, others)) = pattern.split_once('*') else { return (pattern == path).then_some([""; 2]) };
    let (mut rest, mut parts) = (path.strip_prefix(first)?, [""; 2]);
    for (part, until) in parts.iter_mut().zip(others.split('*')) {
        (*part, rest) = rest.split_once(until).filter(|(part, _)| !part.contains('/'))?;
    }
    rest.is_empty().then_some(parts)
}

fn player(id: &str) -> Option<u16> {
    match AgentId::read(id)? {
        AgentId::Player(number) => Some(number),
        AgentId::Referee(_) => None,
    }
}

impl<B: Board> Appliance<'_, B> {
    /// Answers a request, unless it is for a file that is left in `crowded`: see [`File::send`].
    pub(crate) fn route<S: Write>(
        &self,
        peer: IpAddr,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
        crowded: &mut Option<&'static File>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let found = find(request.method, request.path);
            let caller = self.caller(&found, &request);
            // Nothing that others have done keeps the owner out; a wrong code is the last request on its connection.
            let may_ask = match caller {
                Caller::Owner => Ok(()),
                Caller::Guesser => self.guard.borrow_mut().wrong_code(self.board.now(), peer, self.capacity()),
                _ => self.guard.borrow_mut().request(self.board.now(), peer, self.capacity()),
            };
            let responder = if caller == Caller::Guesser { responder.close() } else { responder };
            if let (Err(Later(seconds)), Found::This(Route::MoltGame(_))) = (&may_ask, &found) {
                let refused = moltgame::Answer::refused(moltgame::Trouble::RateLimited(*seconds));
                return self.send_moltgame(peer, responder, &refused).await;
            }
            if let Err(later) = may_ask {
                let of = if caller == Caller::Guesser { "wrong admin codes came" } else { "requests came" };
                return too_many(responder, later, of).await;
            }
            let name = self.board.about().name;
            if request.method == "POST" && guard::is_from_elsewhere(&request, name) {
                return responder.error(403, FROM_ELSEWHERE).await;
            }
            let route = match found {
                Found::This(route) => route,
                Found::Otherwise(allowed) => {
                    let body: &[u8] = match allowed {
                        "POST" => br#"{"error":"this path takes POST"}"#,
                        _ => br#"{"error":"this path takes GET"}"#,
                    };
                    return responder.respond(405, JSON, body, &[("Allow", allowed)]).await;
                }
                Found::Nothing => {
                    let error = "no such path; the page at / and /skill.md name those that exist";
                    return responder.error(404, error).await;
                }
            };
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
                    apart(pin!(file.send(request, host, responder, &self.turns, crowded))).await
                }
                Route::Status => {
                    let vitals = self.vitals(self.board.now());
                    self.send(peer, responder, 200, &|venue, sink| pages::status(venue, vitals, sink)).await
                }
                Route::Agents => apart(pin!(self.send_enrolment(peer, responder, request.body))).await,
                Route::Me => {
                    let key = bearer(&request);
                    match self.venue(|venue| venue.agent_of_key(key?.chars())) {
                        Some(issue) => {
                            self.send(peer, responder, 200, &|venue, sink| venue.write_agent(issue, sink)).await
                        }
                        // Whoever shows nothing that is known is told so as MoltGame says it: it has words for each case.
                        None => apart(pin!(self.answer_moltgame(peer, moltgame::Ask::Me, request, responder))).await,
                    }
                }
                Route::MoltGame(ask) => apart(pin!(self.answer_moltgame(peer, ask, request, responder))).await,
                Route::Doc => {
                    let is_for_programs = request.query.split('&').any(|part| part == "format=json");
                    match web::find(if is_for_programs { ARENA_JSON } else { ARENA }) {
                        Some(file) => {
                            let host = guard::own_host(&request, self.board.about().name);
                            apart(pin!(file.send(request, host, responder, &self.turns, crowded))).await
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
                    self.send(peer, responder, enrolment.status(), &|venue, sink| {
                        venue.write_enrolment(enrolment, sink)
                    })
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
                self.venue(|venue| venue.match_line(id).map(|_| (Moment::of(venue, id, now), venue.log().written())));
            let Some((mut moment, upto)) = found else {
                return responder.error(404, "no such match in this league").await;
            };
            if moment.is_over() {
                // Of a match that is over the venue keeps how it ended; the reel has the rest.
                let told = self.ask_the_journal(Ask::Step(id, u16::MAX)).await;
                if let Some(replay) = told.as_ref().and_then(|told| told.replay()).filter(|it| it.shot.ended.is_some())
                {
                    moment.show_end(replay.game.clone());
                }
            }
            if sees_all {
                moment.show_all();
            }
            let at = self.now().utc;
            self.send(peer, responder, 200, &|venue, sink| pages::one_match(venue, &moment, upto, at, sink)).await
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
                    self.send(peer, responder, 200, &|venue, sink| pages::removed(venue, n, sink)).await
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
            log_entries: self.venue(|venue| venue.log().written() + venue.log().repeats()),
            about: self.board.about(),
            kept: self.kept(),
        }
    }

    /// What a screen says that may show all there is, if the owner has asked for such a code.
    fn projector_code(&self) -> Option<Code> {
        let nonce = Some(self.projector.get()).filter(|&nonce| nonce != 0)?;
        let mut code = Code::new();
        write!(code, "{:012x}", self.venue(|venue| venue.projector_code(nonce))).ok()?;
        Some(code)
    }

    /// Who asks, where that makes a difference.
    fn caller(&self, found: &Found, request: &Request<'_>) -> Caller {
        let Found::This(route) = found else { return Caller::Anybody };
        let shown = bearer(request);
        let is_owner = |shown: &str| guard::is_same(shown, &self.admin_code.borrow());
        let is_projector = |shown: &str| self.projector_code().is_some_and(|code| guard::is_same(shown, &code));
        match (route, shown) {
            (Route::Admin(_) | Route::Match(_) | Route::Rows(Rows::Player(..)), Some(shown)) if is_owner(shown) => {
                Caller::Owner
            }
            (Route::Admin(_), Some(_)) => Caller::Guesser,
            (Route::Match(_), shown) => {
                let given = request.query.split('&').find_map(|part| part.strip_prefix("projector="));
                match given.or(shown) {
                    Some(given) if is_projector(given) => Caller::Projector,
                    // A wrong admin code counts as one here, too: this must not be a place to guess it.
                    Some(_) if given.is_none() => Caller::Guesser,
                    _ => Caller::Anybody,
                }
            }
            (Route::Rows(Rows::Player(..)), Some(shown)) => {
                match self.venue(|venue| venue.player_of_credential(shown)) {
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
                match self.act(|venue, now| act.perform(venue, now)) {
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
            Order::Command(command) => match self.act(|venue, now| venue.command(now, command)) {
                Ok(()) => {
                    if command == Command::Reset {
                        self.journal.reset();
                    }
                    Obeyed::Done
                }
                Err(refusal) => Obeyed::Not(409, refusal.0),
            },
            Order::Use(power) => match power.read(body) {
                Ok(act) => match self.act(|venue, now| act.perform(venue, now)) {
                    Ok(true) => Obeyed::Begun(act),
                    Ok(false) if matches!(act, Act::RemoveFrom(_)) => Obeyed::Denied(Denied::Address),
                    Ok(false) => Obeyed::Done,
                    Err(denied) => Obeyed::Denied(denied),
                },
                Err(wrong) => Obeyed::Unread(wrong),
            },
            Order::Configure => match settings::read(body, self.capacity()) {
                Ok(change) => match self.act(|venue, now| venue.configure(now, change)) {
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
            Order::Recover if self.venue(|venue| matches!(venue.stage(), Stage::Running(_))) => {
                Obeyed::Not(409, "a league is being played: what is recovered would take its place")
            }
            Order::Recover if self.journal.recover() => Obeyed::Done,
            Order::Recover => Obeyed::Not(409, "there is nothing to recover; /api/status.json says how the journal is"),
            Order::Hire => match powers::read_house(body, self.capacity()) {
                Err(wrong) => Obeyed::Unread(wrong),
                Ok(_) if self.venue(|venue| matches!(venue.stage(), Stage::Running(_))) => {
                    Obeyed::Not(409, "nobody can register while a league runs; house players neither")
                }
                Ok(players) if self.venue(|venue| venue.players().len() + usize::from(players) > self.capacity()) => {
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

    /// Sends a JSON text that `write` writes from the venue, as it is at one moment.
    pub(crate) fn send<S: Write>(
        &self,
        peer: IpAddr,
        responder: Responder<'_, S, B>,
        status: u16,
        write: &dyn Fn(&Venue<'_>, &mut dyn Sink) -> Result<(), Full>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        // It is written before anybody waits: on a board every answer that waits is memory.
        let begun = if responder.is_head_only() {
            // The length of a long text is not told: all of it would have to be made.
            let mut counter = Counter::up_to(responder.room().saturating_sub(HEAD));
            let length = self.venue(|venue| write(venue, &mut counter)).is_ok().then_some(counter.bytes);
            responder.begin(status, JSON, length, &[]).map(Ok)
        } else {
            responder.begin_whole(status, JSON, |sink| self.venue(|venue| write(venue, sink)))
        };
        async move {
            match begun? {
                Ok(mut answer) => {
                    self.safe().await;
                    answer.finish().await
                }
                Err(responder) => apart(pin!(self.send_long(peer, responder, status, write))).await,
            }
        }
    }

    /// The same for a text that is too long for the slot's buffer. It is made in one that is lent, as soon as there is one: it may
    /// become another text any moment. One that is too long for any of those leaves in pieces, and should it become another
    /// one meanwhile, the connection is closed.
    fn send_long<S: Write>(
        &self,
        peer: IpAddr,
        responder: Responder<'_, S, B>,
        status: u16,
        write: &dyn Fn(&Venue<'_>, &mut dyn Sink) -> Result<(), Full>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let text = |sink: &mut dyn Sink| self.venue(|venue| write(venue, sink));
            let mut lent = match self.buffer_for(&text) {
                None => None,
                Some(long) => match self.lend(long).await {
                    None => return responder.error_with(503, BUSY, &[("Retry-After", RETRY_AFTER)]).await,
                    lent => lent,
                },
            };
            let responder = responder.with_room(lent.as_deref_mut(), TAKE_MS);
            let mut answer = match responder.begin_whole(status, JSON, text)? {
                Ok(answer) => answer,
                Err(responder) => {
                    let room = responder.room();
                    let mut answer = responder.begin_open(status, JSON)?;
                    if !pieces::send(&mut answer, &text, async || self.go_on(peer, room).await).await? {
                        return Err(WriteError::WrongLength);
                    }
                    answer
                }
            };
            self.safe().await;
            answer.finish().await
        }
    }

    /// The buffers one of which a text fits into, with its head, where there are such.
    fn buffer_for(&self, text: &dyn Fn(&mut dyn Sink) -> Result<(), Full>) -> Option<&Long> {
        let mut counter = Counter::up_to(self.told.size().max(self.long.size()));
        text(&mut counter).ok()?;
        [&self.told, &self.long].into_iter().find(|long| counter.bytes.saturating_add(HEAD) <= long.size())
    }

    /// Waits until a piece of a long answer may leave and the next one may be made; who asked for it pays for it.
    pub(crate) fn go_on(&self, peer: IpAddr, bytes: usize) -> impl Future<Output = ()> {
        async move {
            self.safe().await;
            self.guard.borrow_mut().pay(self.board.now(), peer, self.capacity(), bytes);
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
            let (exists, league) = self.venue(|venue| (rows.exists(venue), venue.league_id().number));
            if !exists {
                return responder.error(404, "no such player in this league").await;
            }
            if responder.is_head_only() {
                return responder.head(200, rows.content_type(), rows.headers()).await;
            }
            self.act(|venue, _| venue.refresh_standings());
            let size = responder.room();
            let room = size.saturating_sub(HEAD);
            let mut counter = Counter::default();
            let mut at = 0;
            let is_short = self.venue(|venue| {
                while counter.bytes <= room && at < ROWS {
                    match rows.write(venue, &mut at, &mut counter) {
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
                    self.venue(|venue| {
                        if venue.league_id().number != league {
                            return Err(Full);
                        }
                        let mut behind = at;
                        let more = rows.write(venue, &mut behind, sink)?;
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
    let body = br#"{"error":"Authorization: Bearer <admin code> is required; the box shows the code to its owner"}"#;
    responder.respond(401, JSON, body, &[("WWW-Authenticate", "Bearer")])
}

/// Says that too much of something came from where this came from, and when to come again.
pub(crate) fn too_many<'a, S: Write, C: Clock>(
    responder: Responder<'a, S, C>,
    Later(seconds): Later,
    of: &'a str,
) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
    let mut wait = String::<10>::new();
    let _ = write!(wait, "{seconds}");
    let text = ["too many ", of, " from your address; wait as Retry-After says"];
    responder.error_of(text, &[("Retry-After", &wait)], 429)
}

/// What a request authorizes itself with.
fn bearer<'a>(request: &Request<'a>) -> Option<&'a str> {
    let (scheme, code) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| code.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_found_by_its_method_and_told_by_another() {
        for (takes, pattern, _) in ROUTES {
            let path = pattern.replacen("*.json", "7.json", 1).replace("players/7", "players/P07");
            let path = path.replace("matches/7", "matches/R1M1").replace("matches/*", "matches/R1M1").replace('*', "7");
            let (method, other) = if *takes == Get { ("HEAD", "POST") } else { ("POST", "GET") };
            assert!(matches!(find(method, &path), Found::This(_)), "{method} {path}");
            assert!(matches!(find(other, &path), Found::Otherwise(_)), "{other} {path}");
            assert!(matches!(find(method, &std::format!("{path}x")), Found::Nothing), "{path}x");
        }
    }

    #[test]
    fn what_stands_for_a_part_of_a_path_is_never_more_than_one_part() {
        assert_eq!(parts("/a/*/b/*.json", "/a/1/b/2.json"), Some(["1", "2"]));
        assert_eq!(parts("/a/*.json", "/a/.json"), Some(["", ""]));
        for path in ["/a/1/2.json", "/a/1.json/", "/a/1.jso", "/b/1.json", "/a/1.json.json", ""] {
            assert_eq!(parts("/a/*.json", path), None, "{path}");
        }
    }

    #[test]
    fn agents_find_the_way_in_by_any_case() {
        for path in ["/mcp", "/MCP", "/Mcp/"] {
            assert!(matches!(find("POST", path), Found::This(Route::Rpc(Via::Post))), "{path}");
        }
    }
}
