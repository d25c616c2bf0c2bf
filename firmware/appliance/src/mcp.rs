//! MCP: tools, resources and prompts for language models, on the path of league.v2. What is right to say is decided in `protocol-core`;
//! the pages are those that are there for everybody, each put into the frame of the answer while it is written.
//!
//! A player that asks for its next turn may wait for it, in [`bide`](Appliance::bide): before its answer is begun, so it has its slot
//! and nothing else, as a player that has dialled in would; and it lets go of that as soon as others need one.

use core::fmt::Write as _;
use core::net::IpAddr;

use embassy_futures::select::select;
use embedded_io_async::Write;
use heapless::String;
use protocol_core::games::GameKind;
use protocol_core::ids::MatchId;
use protocol_core::json::{Full, Sink};
use protocol_core::protocols::mcp::{self, Asking, Call, Form, Frame, Headers, Mark, Page, Quoted, Seen, Told, Want};
use protocol_core::venue::{Venue, Via};

use crate::Appliance;
use crate::answers::{Answering, JSON, too_many};
use crate::board::Board;
use crate::guard::{self, Later};
use crate::http::{Request, WriteError};
use crate::lines;
use crate::owner::Ordered;
use crate::pages::{self, Rows};
use crate::routes::{self, Found, Route};
use crate::slots::{Id, Role};
use crate::web::{self, File};

const MARKDOWN: &str = "text/markdown";
/// What stands behind the rules on the page of a game.
const BEHIND_RULES: &[u8] = b"\n## Time\n";
const NO_MATCH: &str = "match_id: there is no such match in this league";
const WRONG_CODE: &str = "admin_code is not the code of this box";
const FOR_ANOTHER: &str = "Host must be the box's address, localhost, or its name: leaguebox.local";

/// The text of an answer.
enum Text {
    /// A message is answered by itself.
    Seen,
    Told(Told),
    /// The status, at this time.
    Status(u64),
    Games,
    File(&'static File),
    Rules(GameKind),
    /// An order was obeyed.
    Done,
    Refused(&'static str),
}

impl Text {
    fn is_refused(&self) -> bool {
        match self {
            Text::Told(told) => told.is_refused(),
            Text::Refused(_) => true,
            _ => false,
        }
    }
}

/// Reads a request as MCP. `None` where it is league.v2's. Cheap enough to be done again where it is needed again: a board keeps what
/// an answer keeps once for every slot.
pub(crate) fn read<'a>(request: &Request<'a>) -> Option<Asking<'a>> {
    let headers = Headers {
        version: request.header("mcp-protocol-version"),
        method: request.header("mcp-method"),
        name: request.header("mcp-name"),
    };
    mcp::read(headers, request.body)
}

/// Writes a text within what stands around the answer to a request.
pub(crate) fn write_around(
    request: &Request<'_>,
    is_refused: bool,
    text: &dyn Fn(&mut dyn Sink) -> Result<(), Full>,
    sink: &mut dyn Sink,
) -> Result<(), Full> {
    frame(request, is_refused).ok_or(Full)?.write(text, sink)
}

/// What stands around the answer to a request.
pub(crate) fn frame<'a>(request: &Request<'a>, is_refused: bool) -> Option<Frame<'a>> {
    let asking = read(request)?;
    Some(Frame::new(&asking, if is_refused { Form::Refusal } else { form(&asking) }))
}

impl<B: Board> Appliance<'_, B> {
    /// What a message to the path of league.v2 and MCP is for: a page that is there for everybody, a tool of league.v2, something of
    /// MCP's own; and whether it is put into a frame. Not inlined: what it takes of the stack would be taken by every answer.
    #[inline(never)]
    pub(crate) fn unframed<'r>(&self, route: Route<'r>, request: &Request<'_>) -> (Route<'r>, bool) {
        let asking = if matches!(route, Route::Rpc(Via::Post)) { read(request) } else { None };
        let Some(Asking { want, .. }) = asking else { return (route, false) };
        let is_there = |&id: &MatchId| self.venue(|venue| venue.match_line(id).is_some());
        let route = match want {
            Want::Call(Call::League) => route,
            Want::Read(page, _) | Want::Call(Call::Look(page)) => match page {
                Page::Standings => Route::Rows(Rows::Standings),
                Page::Schedule => Route::Rows(Rows::Schedule),
                Page::Match(id) => Some(id).filter(is_there).map_or(Route::Mcp, Route::Match),
                _ => Route::Mcp,
            },
            _ => Route::Mcp,
        };
        (route, true)
    }

    /// Answers a message of MCP.
    pub(crate) fn answer_mcp<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        request: &Request<'_>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            // Whatever is called may become a fact.
            self.room().await;
            let (text, status) = match self.do_what_is_wanted(asked.peer, request) {
                Ok(text) => text,
                Err((later, of)) => return too_many(asked, later, of).await,
            };
            if status == 202 {
                return asked.responder()?.respond(202, JSON, &[], &[]).await;
            }
            self.send(asked, status, &|venue, sink| self.write_text(&text, request, venue, sink)).await
        }
    }

    /// Does what is wanted, and says what is to be answered and by which status; or that too much of something came, and of what.
    /// Not inlined: what it takes of the stack would be taken by every answer.
    #[inline(never)]
    fn do_what_is_wanted(&self, peer: &IpAddr, request: &Request<'_>) -> Result<(Text, u16), (Later, &'static str)> {
        let Some(asking) = read(request) else { return Ok((Text::Seen, 202)) };
        let file = |path| web::find(path).map_or(Text::Refused("this is not kept here"), Text::File);
        let text = match asking.want {
            Want::Tools => file("/mcp/tools.json"),
            Want::Resources => file("/mcp/resources.json"),
            Want::Templates => file("/mcp/templates.json"),
            Want::Prompts => file("/mcp/prompts.json"),
            Want::Prompt(_) => file("/mcp/play.md"),
            Want::Read(page, _) | Want::Call(Call::Look(page)) => match page {
                Page::Status => Text::Status(self.board.now()),
                Page::Games => Text::Games,
                Page::Skill => file("/skill.md"),
                Page::Rules(game) => Text::Rules(game),
                Page::Match(_) | Page::Standings | Page::Schedule => Text::Refused(NO_MATCH),
            },
            Want::Call(Call::Order(command, code)) => {
                let code = code.text::<64>().unwrap_or_default();
                if guard::is_for_another(request, self.board.about().name) {
                    Text::Refused(FOR_ANOTHER)
                } else if !guard::is_same(&code, &self.admin_code.borrow()) {
                    let wrong = self.guard.borrow_mut().wrong_code(self.board.now(), *peer, self.capacity());
                    wrong.map_err(|later| (later, "wrong admin codes came"))?;
                    Text::Refused(WRONG_CODE)
                } else {
                    match self.order(command) {
                        Ordered::Done => Text::Done,
                        Ordered::Not(why) => Text::Refused(why),
                    }
                }
            }
            Want::Call(call) => {
                let joins = matches!(call, Call::Join(_));
                let (now, players) = (self.board.now(), self.capacity());
                let may_join = self.guard.borrow_mut().may_register(now, *peer, players, || joins);
                may_join.map_err(|later| (later, "registrations came"))?;
                let (told, fill) = self.act(|venue, now| {
                    let told = venue.call_mcp(now, *peer, call);
                    let fill = venue.fill_for(now, &told);
                    (told, fill)
                });
                if matches!(told, Told::Joined(_)) {
                    self.guard.borrow_mut().registered(now, *peer, players);
                }
                if let Some(fill) = fill {
                    self.board.fill(fill);
                }
                Text::Told(told)
            }
            _ => Text::Seen,
        };
        Ok((text, Seen::status(&asking).unwrap_or(200)))
    }

    fn write_text(
        &self,
        text: &Text,
        request: &Request<'_>,
        venue: &Venue<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        if let Text::Seen = text {
            return Seen::write(&read(request).ok_or(Full)?, sink);
        }
        let frame = frame(request, text.is_refused()).ok_or(Full)?;
        frame.write(&|sink| self.write_unframed(text, request, frame.is_tool(), venue, sink), sink)
    }

    fn write_unframed(
        &self,
        text: &Text,
        request: &Request<'_>,
        is_json: bool,
        venue: &Venue<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let host = guard::own_host(request, self.board.about().name);
        match text {
            Text::Seen => Err(Full),
            Text::Told(told) => venue.write_mcp(told, sink),
            Text::Status(now) => pages::status(venue, self.vitals(*now), sink),
            Text::Games => mcp::write_games(venue, sink),
            Text::File(file) => file.write(host, sink),
            Text::Rules(game) => {
                let rules = game.rules();
                let mut path = String::<48>::new();
                write!(path, "/skill/{}.md", rules.name).map_err(|_| Full)?;
                let file = web::find(&path).ok_or(Full)?;
                if !is_json {
                    return file.write(host, &mut Before::new(sink));
                }
                let mut head = String::<128>::new();
                let (fewest, most) = (rules.seats.start(), rules.seats.end());
                write!(
                    head,
                    "{{\"game\":\"{}\",\"min_players\":{fewest},\"max_players\":{most},\"rules\":\"",
                    rules.name
                )
                .map_err(|_| Full)?;
                sink.put(head.as_bytes())?;
                file.write(host, &mut Before::new(&mut Quoted(sink)))?;
                sink.put(b"\"}")
            }
            Text::Done => pages::done(venue, sink),
            Text::Refused(rule) => sink.put(rule.as_bytes()),
        }
    }

    /// Has a player that asks for its next turn wait for it, until something changes, its time is over, it asks again, or others need
    /// its slot. Who asks for anything else waits for nothing.
    pub(crate) fn bide(&self, slot: Id, request: &Request<'_>) -> impl Future<Output = ()> {
        let wait = self.patience(request);
        async move {
            let Some((issue, mark, until)) = wait else { return };
            let mut at = None;
            loop {
                let (line, now) = self.venue(|venue| (venue.line_of(issue), venue.mcp_mark(issue)));
                if line != at {
                    // Lines move up when somebody leaves.
                    self.leave_line(slot, at);
                    line.into_iter().for_each(|line| self.slots.bide(slot, line));
                    at = line;
                }
                let is_on = line.is_some_and(|line| self.slots.carries(slot, line));
                let is_let_go = self.slots.role(slot) == Role::LetGo;
                if now != Some(mark) || !is_on || is_let_go || self.board.now() >= until {
                    break;
                }
                select(self.slots.rung(slot), self.board.sleep_until(until)).await;
            }
            self.leave_line(slot, at);
            self.slots.set(slot, Role::Busy);
        }
    }

    fn leave_line(&self, slot: Id, line: Option<u16>) {
        if let Some(line) = line {
            self.venue(|venue| self.slots.leave(slot, line, || lines::has_call(venue, line)));
        }
    }

    /// Who waits for its turn by a request, how things are for it, and until when. Nobody where few slots are free.
    #[inline(never)]
    fn patience(&self, request: &Request<'_>) -> Option<(u32, Mark, u64)> {
        if self.slots.is_short() || !request.body.windows(9).any(|word| word == b"next_turn") {
            return None;
        }
        let (Found::This(Route::Rpc(Via::Post)), _) = routes::find(request.method, request.path) else { return None };
        let Want::Call(Call::NextTurn { token, wait: wait @ 1.. }) = read(request)?.want else { return None };
        let issue = self.act(|venue, now| venue.mcp_asks(now, token))?;
        let mark = self.venue(|venue| venue.mcp_mark(issue)).filter(|mark| !mark.has_news())?;
        Some((issue, mark, self.board.after(u64::from(wait).saturating_mul(1000))))
    }
}

/// What an answer is, if nothing is refused.
fn form<'a>(asking: &Asking<'a>) -> Form<'a> {
    match asking.want {
        Want::Tools | Want::Resources | Want::Templates | Want::Prompts => Form::List,
        Want::Read(page, uri) => {
            let is_fixed = matches!(page, Page::Skill | Page::Rules(_));
            Form::Resource { uri, kind: if is_fixed { MARKDOWN } else { JSON }, is_fixed }
        }
        Want::Prompt(name) => Form::Prompt(name),
        _ => Form::Tool,
    }
}

/// Lets through what stands before the rest of a game's page.
struct Before<'s> {
    sink: &'s mut dyn Sink,
    /// How much of what begins the rest has come.
    seen: usize,
}

impl<'s> Before<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, seen: 0 }
    }
}

impl Sink for Before<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        for byte in bytes {
            if self.seen == BEHIND_RULES.len() {
                return Ok(());
            }
            if BEHIND_RULES.get(self.seen) == Some(byte) {
                self.seen = self.seen.saturating_add(1);
                continue;
            }
            // It begins with what comes nowhere else in it, so what was held back is let through as a whole.
            self.sink.put(BEHIND_RULES.get(..self.seen).unwrap_or_default())?;
            self.seen = usize::from(BEHIND_RULES.first() == Some(byte));
            if self.seen == 0 {
                self.sink.put(&[*byte])?;
            }
        }
        Ok(())
    }
}
