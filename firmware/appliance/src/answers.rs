//! A request is looked up in the table of [`routes`](crate::routes), and answered or refused. Here is what all answers share:
//! who may ask, and how a text that changes is sent as it was at one moment.

use core::fmt::Write as _;
use core::future::poll_fn;
use core::net::IpAddr;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};

use embedded_io_async::Write;
use heapless::String;
use protocol_core::json::{Counter, Full, Sink};
use protocol_core::venue::Venue;

use crate::Appliance;
use crate::board::Board;
use crate::calendar::{self, Source};
use crate::clock::Clock;
use crate::entries;
use crate::guard::{self, Later};
use crate::http::{Request, Responder, WriteError};
use crate::links::RETRY_AFTER;
use crate::owner::{Caller, stranger};
use crate::pages::{self, Rows};
use crate::pieces;
use crate::routes::{self, Found, Purpose, Route, Shape};
use crate::settings;
use crate::web::File;
use crate::ws::Long;

/// How long a peer may take to read an answer that is made in a lent buffer, in milliseconds: a lost frame is sent again after
/// one second.
const TAKE_MS: u32 = 1_500;
/// What is said where no such buffer is free in time.
const BUSY: &str = "too many long answers are being read; wait as Retry-After says";
/// What a head may take of the room for an answer.
pub(crate) const HEAD: usize = 256;

/// What is said to a browser that speaks for a page that is not the box's.
const FROM_ELSEWHERE: &str = "Origin must name the Host, and Host the box: its address, localhost, or leaguebox.local; a web page from \
     elsewhere may not do this";

pub(crate) const JSON: &str = "application/json";

/// What is left to do on a connection when a request was answered, as far as it could be.
pub(crate) enum Left {
    Nothing,
    /// A file is to be sent that takes more room to unpack than there was.
    Unpack(&'static File),
    /// It is a WebSocket now.
    Link(Purpose),
}

/// Runs a future in a function of its own, which the compiler does not merge with the one that waits for it.
pub(crate) fn apart<F: Future>(mut future: Pin<&mut F>) -> impl Future<Output = F::Output> {
    #[inline(never)]
    fn poll<F: Future>(future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        future.poll(context)
    }
    poll_fn(move |context| poll(future.as_mut(), context))
}

impl<B: Board> Appliance<'_, B> {
    /// Answers a request, as far as that can be done here: see [`Left`].
    pub(crate) fn route<S: Write>(
        &self,
        peer: IpAddr,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
        left: &mut Left,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let found = routes::find(request.method, request.path);
            let caller = self.caller(&found, &request);
            // Nothing that others have done keeps the owner out; a wrong code is the last request on its connection.
            let may_ask = match caller {
                Caller::Owner => Ok(()),
                Caller::Guesser => self.guard.borrow_mut().wrong_code(self.board.now(), peer, self.capacity()),
                _ => self.guard.borrow_mut().request(self.board.now(), peer, self.capacity()),
            };
            let responder = if caller == Caller::Guesser { responder.close() } else { responder };
            if let Err(later) = may_ask {
                let of = if caller == Caller::Guesser { "wrong admin codes came" } else { "requests came" };
                return too_many(responder, found.errors(), later, of).await;
            }
            let name = self.board.about().name;
            let speaks_for_a_page = request.method == "POST" || matches!(found, Found::This(Route::Link(_)));
            if speaks_for_a_page && guard::is_from_elsewhere(&request, name) {
                return responder.error(403, FROM_ELSEWHERE).await;
            }
            let route = match found {
                Found::This(route) => route,
                Found::Otherwise(allowed, errors) => {
                    let words = if allowed == "POST" { "this path takes POST" } else { "this path takes GET" };
                    return refuse(responder, 405, errors, words, &[("Allow", allowed)]).await;
                }
                Found::Nothing(errors) => {
                    let words = "no such path; the page at / and /skill.md name those that exist";
                    return refuse(responder, 404, errors, words, &[]).await;
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
                Route::Agents => apart(pin!(self.send_enrolment(peer, responder, request.body))).await,
                Route::Me => self.send_agent(peer, request, responder).await,
                Route::MoltGame(ask) => apart(pin!(self.answer_moltgame(peer, ask, request, responder))).await,
                Route::Doc => match entries::manual(&request) {
                    Some(file) => self.send_file(file, request, responder, left).await,
                    None => responder.error(404, "no such path").await,
                },
                Route::Link(purpose) => {
                    if self.greet(request, responder).await {
                        *left = Left::Link(purpose);
                    }
                    Ok(())
                }
                Route::Health => {
                    let (memory, kept) = (self.board.memory(), self.kept());
                    self.send(peer, responder, 200, &|_, sink| pages::health(memory, kept, sink)).await
                }
                Route::File(file) => self.send_file(file, request, responder, left).await,
                Route::Status => {
                    let vitals = self.vitals(self.board.now());
                    self.send(peer, responder, 200, &|venue, sink| pages::status(venue, vitals, sink)).await
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

    fn send_file<S: Write>(
        &self,
        file: &'static File,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
        left: &mut Left,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let host = guard::own_host(&request, self.board.about().name);
            let mut crowded = None;
            apart(pin!(file.send(request, host, responder, &self.turns, &mut crowded))).await?;
            if let Some(file) = crowded {
                *left = Left::Unpack(file);
            }
            Ok(())
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
}

/// Says that a request is not answered, in the words and the shape of where it was asked.
fn refuse<'a, S: Write, C: Clock>(
    responder: Responder<'a, S, C>,
    status: u16,
    errors: Shape,
    words: &'a str,
    extra: &[(&str, &str)],
) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
    let [before, behind] = errors(status);
    responder.json_of([before, words, behind, "", ""], extra, status)
}

/// Says that too much of something came from where this came from, and when to come again.
pub(crate) fn too_many<'a, S: Write, C: Clock>(
    responder: Responder<'a, S, C>,
    errors: Shape,
    Later(seconds): Later,
    of: &'a str,
) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
    let mut wait = String::<10>::new();
    let _ = write!(wait, "{seconds}");
    let [before, behind] = errors(429);
    let text = [before, "too many ", of, " from your address; wait as Retry-After says", behind];
    responder.json_of(text, &[("Retry-After", &wait)], 429)
}

/// What a request authorizes itself with.
pub(crate) fn bearer<'a>(request: &Request<'a>) -> Option<&'a str> {
    let (scheme, code) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| code.trim())
}
