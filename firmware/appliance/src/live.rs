//! `/api/live`, the WebSocket behind the web page: first all there is, then what changes. Every message is small, whole and
//! of one moment; the page has nothing to say.
//!
//! ```text
//! {"type":"snapshot","status":{…}}         as /api/status.json. Forget everything: players, matches and standings follow
//! {"type":"player","player":{…}}           a row of /api/players.json, one message for each player
//! {"type":"match","match":{…}}             one for each match that is being played, see below
//! {"type":"standings","standings":["P07",…],"places":[1,…]}   the ids, best first, and their places, which are shared where
//!                                          only the id decides; the numbers are in each player's "tally"
//! {"type":"ready"}                         this was the snapshot
//! ```
//!
//! From then on the same messages, and `{"type":"status","status":{…}}`, come when something has changed: at most ten times
//! a second, each as things are then. Nothing is sent because time goes by.
//!
//! ```text
//! {"match_id":"R1M2","round_id":1,"game_type":"echo","state":"scheduled|running|over","turn":3,
//!  "players":[{"player_id":"P01","display_name":"Ada","said":"hi","thinking":true,"deadline_ms":28500,"score":2},…],
//!  "result":null}                           for one that is over the game_result of /api/matches/R1M2.json
//! ```
//!
//! `deadline_ms` is how long a player has left, counted from the message; null where nobody waits for it. `said` is there
//! when the player said something. A game of the ladder is a match of round 0; nothing but its end is told when it is over.
//!
//! A new snapshot can come at any time: when the league begins, ends, or was changed by its owner, and when a watcher is
//! so slow that it has missed something. Matches that were over before a snapshot are not in it: `/api/schedule.json` has
//! their results. A connection that is refused with 1013 is one too many; come back in a while.
//!
//! What has changed is known from the log: whatever happens to a player or in a match is an entry of it, and entries
//! have numbers. So all a watcher has to remember is up to which number it knows everything, and when it last looked: what
//! happens again and again is no new entry, but one of the last that counts on.

use core::net::IpAddr;

use edge_nal::TcpShutdown;
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use protocol_core::ids::{AgentId, MatchId};
use protocol_core::json::{self, Full, Seq, Sink};
use protocol_core::log::{Entry, Happening, LOOK_BACK, Log};
use protocol_core::message::Message;
use protocol_core::time::Utc;
use protocol_core::venue::{Player, Venue};

use crate::Appliance;
use crate::board::Board;
use crate::moment::Moment;
use crate::pages::{self, Vitals};
use crate::pieces;
use crate::ws::{End, Link};

/// How long a page may take to be told one thing, in milliseconds, where others wait for the buffer: less than these wait, and more
/// than a board takes that begins a round of 30. A page that takes longer comes back when it can.
const TELL_MS: u32 = 1_500;

/// After so many things that a page is told it looks at the status again.
const STATUS_EVERY: u8 = 8;

/// What changes again within so many entries of the log is told then. To look further would cost more than to tell it twice.
const AHEAD: u64 = 64;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Snapshot,
    /// By its line.
    Player(u16),
    Match(MatchId),
    Standings,
    Status,
    Ready,
}

/// How far a snapshot has been told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Head,
    Players(u16),
    /// Matches behind this one.
    Matches(MatchId),
    Standings,
    Ready,
    /// All of it.
    Done,
}

/// What a watcher knows.
#[derive(Default)]
struct Cursor {
    part: Part,
    /// All entries of the log before this one.
    log: u64,
    /// What has been told of that one.
    step: u16,
    /// The entries that are being told end here.
    upto: u64,
    /// Those before this one had been told, and are told again only if they have counted on since.
    known: u64,
    since: Utc,
    /// How much it may be told before it looks at the status.
    before_status: u8,
    /// How often entries had counted on when it last looked, and when that was.
    repeats: u64,
    looked: Utc,
    /// Sums, by which the status and the standings are known again.
    status: u32,
    standings: u32,
}

/// Whether so much has changed that all of it is told anew.
fn is_new_beginning(what: Happening) -> bool {
    use Happening::*;
    matches!(what, Left | LeagueStarted | Resumed | LeagueOver | Admin(_))
}

/// Whether it shows in the row of the player it happened to. What is asked and answered shows when the match is over.
fn shows(entry: &Entry) -> bool {
    match entry.what {
        Happening::Sent(kind) | Happening::Answered(kind) => kind == Message::Ping,
        _ => true,
    }
}

impl Cursor {
    /// Looks for what has happened since it last looked.
    fn look(&mut self, log: &Log, now: Utc) {
        (self.upto, self.known, self.before_status) = (log.written(), self.log, 0);
        self.since = core::mem::replace(&mut self.looked, now);
        if core::mem::replace(&mut self.repeats, log.repeats()) != self.repeats {
            self.log = self.log.saturating_sub(LOOK_BACK);
        }
    }

    /// Whether an entry, by its number, has not been told, or has counted on since.
    fn is_news(&self, (number, entry): &(u64, Entry)) -> bool {
        *number >= self.known || (entry.is_repeated() && entry.until >= self.since)
    }

    /// What is to be said next; nothing, when all that had happened when the telling began is told.
    fn next(&mut self, venue: &Venue<'_>, status: impl Fn() -> u32) -> Option<News> {
        while self.part != Part::Done {
            if let Some(news) = self.next_of_snapshot(venue, &status) {
                return Some(news);
            }
        }
        // Whether a round is played or over is what everybody looks for first, and the rest takes a while on a busy box.
        self.before_status = match self.before_status.checked_sub(1) {
            Some(left) => left,
            None if core::mem::replace(&mut self.status, status()) != self.status => return Some(News::Status),
            None => STATUS_EVERY,
        };
        while self.log < self.upto {
            let entry = venue.log().at_or_after(self.log).filter(|(number, _)| *number == self.log);
            if self.log < self.known && !entry.as_ref().is_some_and(|entry| self.is_news(entry)) {
                self.go_on();
                continue;
            }
            let Some((_, entry)) = entry.filter(|(_, entry)| !is_new_beginning(entry.what)) else {
                self.part = Part::Head;
                return self.next_of_snapshot(venue, &status);
            };
            let step = self.step;
            self.step = step.saturating_add(1);
            let is_last = |is_same: &dyn Fn(&Entry) -> bool| {
                let mut ahead = (self.log.saturating_add(1)..self.upto.min(self.log.saturating_add(AHEAD)))
                    .filter_map(|at| venue.log().at_or_after(at));
                !ahead.any(|later| self.is_news(&later) && is_same(&later.1))
            };
            match (step, entry.at_match, entry.agent) {
                (0, Some(id), _) if is_last(&|later| later.at_match == Some(id)) => return Some(News::Match(id)),
                (0, ..) => {}
                (_, Some(id), None) if matches!(entry.what, Happening::MatchOver(_)) => {
                    match venue
                        .sitters(id)
                        .nth(usize::from(step).saturating_sub(1))
                        .and_then(|sitter| line_of(venue, sitter.player_id.0))
                    {
                        Some(line) => return Some(News::Player(line)),
                        None => self.go_on(),
                    }
                }
                (1, _, Some(agent)) if shows(&entry) => {
                    if is_last(&|later| later.agent == Some(agent) && shows(later))
                        && let Some(line) = line_of(venue, agent)
                    {
                        return Some(News::Player(line));
                    }
                }
                _ => self.go_on(),
            }
        }
        (core::mem::replace(&mut self.standings, venue.standings_sum()) != self.standings).then_some(News::Standings)
    }

    /// An entry is told.
    fn go_on(&mut self) {
        (self.log, self.step) = (self.log.saturating_add(1), 0);
    }

    fn next_of_snapshot(&mut self, venue: &Venue<'_>, status: impl Fn() -> u32) -> Option<News> {
        let (next, news) = match self.part {
            Part::Head => {
                // Whatever happens from now on is told behind it.
                let (now, repeats, looked) = (venue.log().written(), venue.log().repeats(), self.looked);
                *self = Self { log: now, upto: now, repeats, looked, status: status(), ..Self::default() };
                (Part::Players(0), Some(News::Snapshot))
            }
            Part::Players(line) if usize::from(line) < venue.players().len() => {
                (Part::Players(line.saturating_add(1)), Some(News::Player(line)))
            }
            Part::Players(_) => (Part::Matches(MatchId { round: 0, table: 0 }), None),
            Part::Matches(told) => {
                let place = |id: MatchId| (id.round, id.table);
                let shown = venue.all_tables().map(|table| table.id).chain(venue.finished_games());
                let behind = shown.filter(|&id| place(id) > place(told));
                match behind.min_by_key(|&id| place(id)) {
                    Some(id) => (Part::Matches(id), Some(News::Match(id))),
                    None => (Part::Standings, None),
                }
            }
            Part::Standings => {
                self.standings = venue.standings_sum();
                (Part::Ready, Some(News::Standings))
            }
            Part::Ready => (Part::Done, Some(News::Ready)),
            Part::Done => (Part::Done, None),
        };
        self.part = next;
        news
    }
}

fn line_of(venue: &Venue<'_>, agent: AgentId) -> Option<u16> {
    (0..).zip(venue.players()).find(|(_, player)| player.id() == agent).map(|(line, _)| line)
}

impl News {
    fn write(self, venue: &Venue<'_>, now_ms: u64, vitals: Vitals<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
        let (kind, name) = match self {
            News::Snapshot => ("snapshot", "status"),
            News::Status => ("status", "status"),
            News::Player(_) => ("player", "player"),
            News::Match(_) => ("match", "match"),
            News::Standings => ("standings", "standings"),
            News::Ready => return sink.put(br#"{"type":"ready"}"#),
        };
        for text in ["{\"type\":\"", kind, "\",\"", name, "\":"] {
            sink.put(text.as_bytes())?;
        }
        match self {
            News::Snapshot | News::Status => pages::status(venue, vitals, sink)?,
            News::Player(line) => {
                let player: &Player = venue.players().get(usize::from(line)).ok_or(Full)?;
                json::write(&pages::Person::of(venue, player), sink)?;
            }
            News::Match(id) => Moment::of(venue, id, now_ms).write_line(venue, sink)?,
            News::Standings => {
                json::write(&Seq(|| venue.standings().map(|row| row.player_id)), sink)?;
                sink.put(b",\"places\":")?;
                json::write(&Seq(|| venue.shared_places()), sink)?;
            }
            News::Ready => {}
        }
        sink.put(b"}")
    }
}

impl<B: Board> Appliance<'_, B> {
    /// Serves a page that watches, to its end.
    pub(crate) fn show_live<S: Read + Write + TcpShutdown>(
        &self,
        from: &IpAddr,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = ()> {
        async move {
            let mut told = Cursor::default();
            self.watch(from, link, async |link| self.tell_news(&mut told, link).await).await;
        }
    }

    fn tell_news<S: Read + Write>(
        &self,
        told: &mut Cursor,
        link: &mut Link<'_, S, B>,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            self.act(|venue, _| venue.refresh_standings());
            let now = self.now().utc;
            self.venue(|venue| told.look(venue.log(), now));
            loop {
                // One page after the other: what cannot be told now is told when it is looked for again.
                let mut lent = match self.told.size() {
                    0 => None,
                    _ => match self.lend(&self.told).await {
                        Some(lent) => Some(lent),
                        None => return Ok(()),
                    },
                };
                let Some(news) = self.next_news(told) else { return Ok(()) };
                let now = self.board.now();
                let write = |sink: &mut dyn Sink| self.venue(|venue| news.write(venue, now, self.vitals(now), sink));
                // What there is no longer, such as a player that has left meanwhile, is not told.
                match &mut lent {
                    Some(lent) => link.say_in(lent, TELL_MS, write, async || self.safe().await).await?,
                    None => link.say(write, async || self.safe().await).await?,
                };
                drop(lent);
                yield_now().await;
            }
        }
    }

    fn next_news(&self, told: &mut Cursor) -> Option<News> {
        self.venue(|venue| {
            let still = || pieces::sum(|sink| pages::status(venue, self.vitals(self.started).still(), sink));
            told.next(venue, still)
        })
    }
}
