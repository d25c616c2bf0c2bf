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
use protocol_core::protocols::moltgame::{Ask, Paged};
use protocol_core::venue::Venue;

use crate::Appliance;
use crate::agon;
use crate::board::Board;
use crate::calendar::{self, Source};
use crate::clock::Clock;
use crate::entries;
use crate::guard::{self, Later};
use crate::http::{Answer, Request, Responder, WriteError, send_parts};
use crate::links::RETRY_AFTER;
use crate::owner::{Caller, stranger};
use crate::pages::{self, Rows};
use crate::pieces::{Next, Sent};
use crate::routes::{self, Found, Purpose, Route, Shape};
use crate::settings;
use crate::votes::voter_of;
use crate::web::File;
use crate::ws::Long;

/// How long a peer may take to read an answer that is made in a lent buffer, in milliseconds: a lost frame is sent again after
/// one second.
pub(crate) const TAKE_MS: u32 = 1_500;
/// What is said where no such buffer is free in time.
const BUSY: &str = "too many long answers are being read; wait as Retry-After says";
/// What a head may take of the room for an answer.
pub(crate) const HEAD: usize = 256;

/// What is said to a browser that speaks for a page that is not the box's.
const FROM_ELSEWHERE: &str = "Origin must name the Host, and Host the box: its address, localhost, or leaguebox.local; a web page from \
     elsewhere may not do this";

pub(crate) const JSON: &str = "application/json";

/// A request that is being answered: who asked, and the right to answer. However deep in the code the answer is made, this is in one
/// place: on a board every slot has one.
pub(crate) struct Answering<'a, S, C> {
    pub peer: &'a IpAddr,
    /// Until somebody answers.
    responder: Option<Responder<'a, S, C>>,
    /// How the box says where it is asked that it does not answer.
    errors: Shape,
}

impl<'a, S: Write, C: Clock> Answering<'a, S, C> {
    pub fn new(peer: &'a IpAddr, responder: Responder<'a, S, C>) -> Self {
        Self { peer, responder: Some(responder), errors: routes::plain }
    }

    /// The right to answer, once.
    pub fn responder(&mut self) -> Result<Responder<'a, S, C>, WriteError> {
        self.responder.take().ok_or(WriteError::Closed)
    }

    /// What fits into one write, head included.
    pub fn room(&self) -> usize {
        self.responder.as_ref().map_or(0, Responder::room)
    }

    /// Whether only the head of the answer is wanted.
    pub fn is_head_only(&self) -> bool {
        self.responder.as_ref().is_some_and(Responder::is_head_only)
    }

    /// Answers with an error, in the shape of where it was asked. The text must need no escaping.
    pub fn error(
        &mut self,
        status: u16,
        text: &'static str,
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
        self.error_with(status, text, &[])
    }

    /// The same with more headers.
    pub fn error_with(
        &mut self,
        status: u16,
        text: &'static str,
        extra: &[(&str, &str)],
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
        let [before, behind] = (self.errors)(status);
        self.json_of([before, text, behind], extra, status)
    }

    /// Answers with a JSON text of several parts.
    fn json_of<const N: usize>(
        &mut self,
        parts: [&'a str; N],
        extra: &[(&str, &str)],
        status: u16,
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C, N> {
        let length = parts.iter().map(|part| part.len()).sum();
        let answer = self.responder().and_then(|responder| responder.begin(status, JSON, Some(length), extra));
        send_parts(answer, parts.map(str::as_bytes))
    }
}

/// Why a request is not answered.
enum Why {
    /// Too much of something came from where it came from.
    TooMany(&'static str, Later),
    /// A page from elsewhere speaks.
    Elsewhere,
    /// It is for another computer.
    Another,
    NotJson,
    /// The path is asked for by these methods.
    Otherwise(&'static str),
    Nothing,
}

impl Why {
    /// Says so, in the shape of where it was asked.
    #[inline(never)]
    fn say<'a, S: Write, C: Clock>(
        self,
        asked: &mut Answering<'a, S, C>,
    ) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
        let mut seconds = String::<10>::new();
        if let Why::TooMany(_, Later(wait)) = self {
            let _ = write!(seconds, "{wait}");
        }
        let (status, words) = match self {
            Why::TooMany(of, _) => (429, ["too many ", of, " from your address; wait as Retry-After says"]),
            Why::Elsewhere => (403, [FROM_ELSEWHERE, "", ""]),
            Why::Another => (403, ["Host must be the box's address, localhost, or its name: leaguebox.local", "", ""]),
            Why::NotJson => (415, ["Content-Type must be application/json", "", ""]),
            Why::Otherwise("POST") => (405, ["this path takes ", "POST", ""]),
            Why::Otherwise(_) => (405, ["this path takes ", "GET", ""]),
            Why::Nothing => (404, ["no such path; the page at / and /skill.md name those that exist", "", ""]),
        };
        let extra: &[(&str, &str)] = match self {
            Why::TooMany(..) => &[("Retry-After", &seconds)],
            Why::Otherwise(allowed) => &[("Allow", allowed)],
            _ => &[],
        };
        let ([before, behind], [first, second, third]) = ((asked.errors)(status), words);
        asked.json_of([before, first, second, third, behind], extra, status)
    }
}

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
    /// Whether a request may be answered, what it is for, and who asks. Not inlined: what it takes of the stack would be taken by
    /// every answer.
    #[inline(never)]
    fn admit<'r, S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        request: &Request<'r>,
    ) -> Result<(Route<'r>, Caller), Why> {
        let (found, errors) = routes::find(request.method, request.path);
        asked.errors = errors;
        let caller = self.caller(&found, request);
        let (now, peer, name) = (self.board.now(), *asked.peer, self.board.about().name);
        // Nothing that others have done keeps the owner out; a wrong code is the last request on its connection.
        let may_ask = match caller {
            Caller::Owner => Ok(()),
            Caller::Guesser => {
                asked.responder.iter_mut().for_each(Responder::is_last);
                let may_ask = self.guard.borrow_mut().wrong_code(now, peer, self.capacity());
                may_ask.map_err(|later| Why::TooMany("wrong admin codes came", later))
            }
            _ => {
                let may_ask = self.guard.borrow_mut().request(now, peer, self.capacity());
                may_ask.map_err(|later| Why::TooMany("requests came", later))
            }
        };
        let speaks_for_a_page = request.method == "POST" || matches!(found, Found::This(Route::Link(_)));
        match (may_ask, found) {
            (Err(why), _) => Err(why),
            (Ok(()), _) if speaks_for_a_page && guard::is_from_elsewhere(request, name) => Err(Why::Elsewhere),
            (Ok(()), Found::Otherwise(allowed)) => Err(Why::Otherwise(allowed)),
            (Ok(()), Found::Nothing) => Err(Why::Nothing),
            (Ok(()), Found::This(Route::Admin(_))) if guard::is_for_another(request, name) => Err(Why::Another),
            (Ok(()), Found::This(Route::Clock | Route::Vote(_) | Route::Admin(_))) if guard::is_not_json(request) => {
                Err(Why::NotJson)
            }
            (Ok(()), Found::This(route)) => Ok((route, caller)),
        }
    }

    /// Answers a request, as far as that can be done here: see [`Left`].
    pub(crate) fn route<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        request: &Request<'_>,
        left: &mut Left,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let (route, caller) = match self.admit(asked, request) {
                Ok(admitted) => admitted,
                Err(why) => return why.say(asked).await,
            };
            let Some(route) = caller.may(route) else { return stranger(asked).await };
            // Whatever needs much of the stack is polled apart: else every answer would take what all of them take.
            let sees_all = matches!(caller, Caller::Owner | Caller::Projector);
            let (route, is_framed) = self.unframed(route, request);
            let done = match route {
                Route::Rpc(via) => apart(pin!(self.rpc(asked, via, request, is_framed))).await,
                Route::Mcp => apart(pin!(self.answer_mcp(asked, request))).await,
                Route::Agents => apart(pin!(self.send_enrolment(asked, request.body))).await,
                Route::Me => match self.agent_of(request) {
                    Some(issue) => self.send(asked, 200, &|venue, sink| venue.write_agent(issue, sink)).await,
                    None if self.is_agon(request) => apart(pin!(self.answer_agon(asked, agon::Ask::Me, request))).await,
                    None => apart(pin!(self.answer_moltgame(asked, Ask::Me, request))).await,
                },
                Route::Agon(ask) => apart(pin!(self.answer_agon(asked, ask, request))).await,
                Route::MoltGame(ask) => match self.venue(|venue| venue.page_moltgame(self.now(), ask, request.query)) {
                    Some(Paged::Chat(page)) => apart(pin!(self.send_rows(asked, Rows::Chat(page), None))).await,
                    Some(Paged::Logs(page)) => apart(pin!(self.send_logs(asked, page))).await,
                    None => apart(pin!(self.answer_moltgame(asked, ask, request))).await,
                },
                Route::Doc => match entries::manual(request) {
                    Some(file) => self.send_file(asked, file, request, left).await,
                    None => asked.error(404, "no such path").await,
                },
                Route::Link(Purpose::Agon(_)) => match self.agon_caller(request) {
                    Some(issue) => {
                        if self.greet(asked, request).await {
                            *left = Left::Link(Purpose::Agon(issue));
                        }
                        Ok(())
                    }
                    None => asked.error(401, agon::NO_TOKEN).await,
                },
                Route::Link(purpose) => {
                    if self.greet(asked, request).await {
                        *left = Left::Link(purpose);
                    }
                    Ok(())
                }
                Route::Health => {
                    self.send(asked, 200, &|_, sink| pages::health(self.board.memory(), self.kept(), sink)).await
                }
                Route::File(file) => self.send_file(asked, file, request, left).await,
                Route::Status => {
                    let now = self.board.now();
                    self.send(asked, 200, &|venue, sink| pages::status(venue, self.vitals(now), sink)).await
                }
                Route::Settings => self.send(asked, 200, &settings::write).await,
                Route::Rows(rows) => {
                    apart(pin!(self.send_rows(asked, rows.as_of(self.now()), is_framed.then_some(request)))).await
                }
                Route::Match(id) => {
                    apart(pin!(self.send_match(asked, id, sees_all, is_framed.then_some(request)))).await
                }
                Route::Moves(id) => apart(pin!(self.send_moves(asked, id))).await,
                Route::Speeches(id) => apart(pin!(self.send_speeches(asked, id))).await,
                Route::Poll(id) => apart(pin!(self.send_poll(asked, id, voter_of(request)))).await,
                Route::Vote(id) => apart(pin!(self.take_vote(asked, id, request))).await,
                Route::Notation(id, ending) => apart(pin!(self.send_notation(asked, id, ending))).await,
                Route::Step(id, step) => apart(pin!(self.send_step(asked, id, step))).await,
                Route::Leagues => apart(pin!(self.send_leagues(asked))).await,
                Route::League(number) => apart(pin!(self.send_league(asked, number))).await,
                Route::Clock => match calendar::of_browser(request.body) {
                    Ok(utc) => {
                        let believed = self.learn_time(Source::Browser, utc);
                        let (now, source) = (self.now().utc, self.calendar().source());
                        self.send(asked, 200, &|_, sink| pages::clock(believed, now, source, sink)).await
                    }
                    Err(rule) => asked.error(400, rule).await,
                },
                Route::Admin(order) => apart(pin!(self.answer_owner(asked, order, request.body))).await,
            };
            match done {
                Err(WriteError::NoRoom) => asked.error_with(503, BUSY, &[("Retry-After", RETRY_AFTER)]).await,
                done => done,
            }
        }
    }

    fn send_file<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        file: &'static File,
        request: &Request<'_>,
        left: &mut Left,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let host = guard::own_host(request, self.board.about().name);
            let (responder, mut crowded) = (asked.responder()?, None);
            apart(pin!(file.send(request, host, responder, &self.turns, &mut crowded))).await?;
            if let Some(file) = crowded {
                *left = Left::Unpack(file);
            }
            Ok(())
        }
    }

    /// Sends a JSON text that `write` writes from the venue, as it is at one moment. One that is too long for the slot's buffer is made
    /// in one that is lent, as soon as there is one: it may become another text any moment. One that is too long for any of those
    /// leaves in pieces, and should it become another one meanwhile, the connection is closed.
    pub(crate) fn send<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        status: u16,
        write: &dyn Fn(&Venue<'_>, &mut dyn Sink) -> Result<(), Full>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let mut lent = None;
            let whole = self.write_whole(asked, status, write)?;
            #[expect(
                clippy::redundant_pattern_matching,
                reason = "a future keeps what was ever borrowed, as `is_ok` does"
            )]
            let is_whole = matches!(whole, Ok(_));
            let mut answer = match whole {
                Ok(answer) => answer,
                Err(long) => {
                    if let Some(long) = long {
                        lent = Some(self.lend(long).await.ok_or(WriteError::NoRoom)?);
                    }
                    asked.responder()?.with_room(lent.as_deref_mut(), TAKE_MS).begin_open(status, JSON)?
                }
            };
            if !is_whole {
                let text = |sink: &mut dyn Sink| self.venue(|venue| write(venue, sink));
                let mut sent = Sent::default();
                loop {
                    match sent.next(&mut answer, &text)? {
                        Next::All => break,
                        Next::Another => return Err(WriteError::WrongLength),
                        Next::Piece => {
                            self.go_on(asked.peer, answer.size()).await;
                            answer.flush().await?;
                        }
                    }
                }
            }
            self.safe().await;
            answer.finish().await
        }
    }

    /// Writes an answer, if there is room for all of it; else the buffers one of which it fits into, where there are such. One to
    /// HEAD has no body.
    fn write_whole<'a, S: Write>(
        &self,
        asked: &mut Answering<'a, S, B>,
        status: u16,
        write: &dyn Fn(&Venue<'_>, &mut dyn Sink) -> Result<(), Full>,
    ) -> Result<Result<Answer<'a, S, B>, Option<&Long>>, WriteError> {
        let responder = asked.responder()?;
        if responder.is_head_only() {
            // The length of a long text is not told: all of it would have to be made.
            let mut counter = Counter::up_to(responder.room().saturating_sub(HEAD));
            let length = self.venue(|venue| write(venue, &mut counter)).is_ok().then_some(counter.bytes);
            return responder.begin(status, JSON, length, &[]).map(Ok);
        }
        match responder.begin_whole(status, JSON, self.longest(), |sink| self.venue(|venue| write(venue, sink)))? {
            Ok(answer) => Ok(Ok(answer)),
            Err((responder, length)) => {
                asked.responder = Some(responder);
                Ok(Err(length.and_then(|length| self.buffer_of(length))))
            }
        }
    }

    /// The longest text for which there may be a buffer.
    fn longest(&self) -> usize {
        self.told.size().max(self.long.size())
    }

    /// The buffers one of which a text fits into, with its head, where there are such.
    pub(crate) fn buffer_for(&self, write: &dyn Fn(&Venue<'_>, &mut dyn Sink) -> Result<(), Full>) -> Option<&Long> {
        let mut counter = Counter::up_to(self.longest());
        self.venue(|venue| write(venue, &mut counter)).ok()?;
        self.buffer_of(counter.bytes)
    }

    /// The same for a text of this length: those of which one is free, or the smallest.
    fn buffer_of(&self, length: usize) -> Option<&Long> {
        let mut fits = [&self.told, &self.long].into_iter().filter(|long| length.saturating_add(HEAD) <= long.size());
        let smallest = fits.next()?;
        Some(fits.find(|long| !smallest.is_free() && long.is_free()).unwrap_or(smallest))
    }

    /// Waits until a piece of a long answer may leave and the next one may be made; who asked for it pays for it.
    pub(crate) fn go_on(&self, peer: &IpAddr, bytes: usize) -> impl Future<Output = ()> {
        async move {
            self.safe().await;
            self.guard.borrow_mut().pay(self.board.now(), *peer, self.capacity(), bytes);
            self.turns.next().await;
        }
    }
}

/// Says that too much of something came from where this came from, and when to come again.
pub(crate) fn too_many<'a, S: Write, C: Clock>(
    asked: &mut Answering<'a, S, C>,
    later: Later,
    of: &'static str,
) -> impl Future<Output = Result<(), WriteError>> + use<'a, S, C> {
    Why::TooMany(of, later).say(asked)
}

/// What a request authorizes itself with.
pub(crate) fn bearer<'a>(request: &Request<'a>) -> Option<&'a str> {
    let (scheme, code) = request.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| code.trim())
}
