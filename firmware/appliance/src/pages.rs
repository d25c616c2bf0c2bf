//! What the box shows: JSON, CSV and the log, and the texts for people and agents. A page of many rows is written row by
//! row, each from the venue as it is then, so no page is ever held.

use core::fmt::{self, Write as _};
use core::ops::Range;

use protocol_core::games::{AnyGame, Game};
use protocol_core::ids::MatchId;
use protocol_core::json::{self, Full, Joined, Map, Seq, Shown, Sink};
use protocol_core::log::Entry;
use protocol_core::protocols::moltgame::ChatPage;
use protocol_core::season::{ByReason, Rule, Tally};
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{self, AgentState, Player, Ready, Stage, Venue};
use serde::Serialize;

use crate::board::{About, Memory};
use crate::calendar::Source;
use crate::http::Request;
use crate::journal::{Kept, Sound, State};
use crate::mcp;
use crate::moment::Moment;

/// `/health`
pub(crate) fn health(memory: Memory, kept: Kept, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Page {
        status: &'static str,
        service: &'static str,
        version: &'static str,
        journal: Shown<State>,
        journal_past: &'static str,
        /// In bytes.
        memory: Memory,
    }
    let page = Page {
        status: "ok",
        service: "LeagueBox",
        version: env!("CARGO_PKG_VERSION"),
        journal: Shown(kept.state),
        journal_past: kept.past(),
        memory,
    };
    json::write(&page, sink)
}

/// What the page of the status says beside the league.
#[derive(Clone, Copy)]
pub(crate) struct Vitals<'a> {
    /// By the box's own clock.
    pub ms: u64,
    pub time: Utc,
    pub time_source: Source,
    pub uptime_seconds: u64,
    pub refused_requests: u32,
    pub wrong_admin_codes: u32,
    pub limited_requests: u32,
    pub log_entries: u64,
    pub about: About<'a>,
    pub kept: Kept,
}

impl Vitals<'_> {
    /// Without what changes because time goes by.
    pub fn still(self) -> Self {
        Self { ms: 0, time: Utc(0), uptime_seconds: 0, log_entries: 0, ..self }
    }
}

/// `/api/status.json`
pub(crate) fn status(venue: &Venue<'_>, vitals: Vitals<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Page<'a> {
        state: &'static str,
        round: u16,
        total_rounds: u16,
        players: u16,
        /// Agents that registered as referees: `/api/referees.json` has them.
        referees: usize,
        capacity: usize,
        /// Why nothing happens, or what does.
        message: Shown<&'a dyn fmt::Display>,
        league_id: Shown<protocol_core::ids::LeagueId>,
        game_type: &'static str,
        mode: &'static str,
        pace: &'static str,
        /// While a break is counted down.
        next_round_in_ms: Option<u64>,
        /// Whether the next round waits for the owner to call for it.
        waits_for_owner: bool,
        matches_completed: u32,
        total_matches: u32,
        running_matches: u16,
        /// How many wait for a game outside the league.
        waiting: u16,
        /// "ok": what is acknowledged survives a power cut. "off", or "failed:" and why: it does not.
        journal: Shown<State>,
        /// What is sound of a damaged one, if something is.
        journal_recoverable: Option<Sound>,
        /// "ok", or "damaged": something of a league of the past is not as it was written.
        journal_past: &'static str,
        journal_erases: u32,
        resumed_at: Option<Shown<Utc>>,
        time: Shown<Utc>,
        time_source: &'static str,
        uptime_seconds: u64,
        refused_requests: u32,
        wrong_admin_codes: u32,
        /// Requests and registrations refused because too many came from one address.
        limited_requests: u32,
        /// Everything that was ever logged: what an entry counts on is counted here too.
        log_entries: u64,
        version: &'static str,
        board: &'static str,
        name: &'a str,
        /// Where agents reach it.
        endpoint: &'a str,
        last_reset: &'static str,
        last_panic: Option<&'a str>,
    }
    let league = venue.status();
    let page = Page {
        state: league.status,
        round: league.current_round,
        total_rounds: league.total_rounds,
        players: league.players,
        referees: venue.referee_lines().count(),
        capacity: venue.capacity().min((*venue::sizes(venue.config().game).end()).into()),
        message: Shown(&Both(vitals.kept, Why(venue))),
        league_id: league.league_id,
        game_type: league.game_type,
        mode: venue.config().mode.name(),
        pace: venue.config().pacing.pace.name(),
        next_round_in_ms: venue.next_round_in(vitals.ms),
        waits_for_owner: venue.waits_for_owner(),
        matches_completed: league.matches_completed,
        total_matches: league.total_matches,
        running_matches: league.running_matches,
        waiting: venue.waits(),
        journal: Shown(vitals.kept.state),
        journal_recoverable: vitals.kept.sound,
        journal_past: vitals.kept.past(),
        journal_erases: vitals.kept.erases,
        resumed_at: vitals.kept.resumed_at.map(Shown),
        time: Shown(vitals.time),
        time_source: vitals.time_source.name(),
        uptime_seconds: vitals.uptime_seconds,
        refused_requests: vitals.refused_requests,
        wrong_admin_codes: vitals.wrong_admin_codes,
        limited_requests: vitals.limited_requests,
        log_entries: vitals.log_entries,
        version: env!("CARGO_PKG_VERSION"),
        board: vitals.about.board,
        name: vitals.about.name,
        endpoint: &venue.config().endpoint,
        last_reset: vitals.about.last_reset.name(),
        last_panic: vitals.about.last_panic,
    };
    json::write(&page, sink)
}

/// One thing said, then another.
struct Both<A, B>(A, B);

impl<A: fmt::Display, B: fmt::Display> fmt::Display for Both<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0, self.1)
    }
}

/// What the box is waiting for, in words for the teacher.
struct Why<'a, H>(&'a H);

impl fmt::Display for Why<'_, Venue<'_>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let venue = self.0;
        let players = venue.takers();
        let fewest = usize::from(*venue::sizes(venue.config().game).start());
        match (venue.stage(), venue.config().start_at) {
            (Stage::Waiting, Some(n)) => write!(f, "Waiting for players: {players} of {n} are here."),
            (Stage::Waiting, None) if players < fewest => {
                let fewest = if fewest > 2 { "four" } else { "two" };
                write!(f, "Waiting for players: {players} here, a league needs at least {fewest}.")
            }
            (Stage::Waiting, None) => write!(f, "{players} players are here. Waiting for the teacher to start."),
            (Stage::Running(0), _) if venue.is_paused() => {
                f.write_str("Paused before the first round. Waiting for the teacher to resume.")
            }
            (Stage::Running(0), _) if venue.waits_for_owner() => {
                f.write_str("The league has begun. Waiting for the teacher to call the first round.")
            }
            (Stage::Running(0), _) => f.write_str("The league has begun. The first round follows in a moment."),
            (Stage::Running(round), _) if venue.waits_for_owner() => {
                write!(f, "Round {round} of {} is over. ", venue.schedule().rounds())?;
                f.write_str("Waiting for the teacher to call the next one.")
            }
            (Stage::Running(round), _) if venue.next_round_in(0).is_some() => {
                write!(f, "Round {round} of {} is over. The next one follows in a moment.", venue.schedule().rounds())
            }
            (Stage::Running(round), _) if venue.is_paused() && venue.tables().next().is_none() => {
                write!(f, "Paused after round {round}. Waiting for the teacher to resume.")
            }
            (Stage::Running(round), _) if venue.is_paused() => {
                write!(f, "Paused: round {round} is being finished, the next one waits.")
            }
            (Stage::Running(round), _) => {
                write!(f, "Round {round} of {}: ", venue.schedule().rounds())?;
                match venue.tables().count() {
                    1 => f.write_str("one match is being played."),
                    n => write!(f, "{n} matches are being played."),
                }
            }
            (Stage::Completed, _) => f.write_str("The league is over. The teacher can begin the next one."),
        }
    }
}

/// What is answered to a request that broke a rule.
pub(crate) fn error(rule: &dyn fmt::Display, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Error<'a> {
        error: Shown<&'a dyn fmt::Display>,
    }
    json::write(&Error { error: Shown(rule) }, sink)
}

/// What a browser that says the time is answered with.
pub(crate) fn clock(believed: bool, time: Utc, source: Source, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Clock {
        status: &'static str,
        time: Shown<Utc>,
        time_source: &'static str,
    }
    let status = if believed { "ok" } else { "ignored" };
    json::write(&Clock { status, time: Shown(time), time_source: source.name() }, sink)
}

/// What a command of the admin is answered with.
pub(crate) fn done(venue: &Venue<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Done<'a> {
        status: &'static str,
        state: &'static str,
        message: Shown<&'a dyn fmt::Display>,
    }
    json::write(&Done { status: "ok", state: venue.status().status, message: Shown(&Why(venue)) }, sink)
}

/// What the owner who has players removed is answered with.
pub(crate) fn removed(venue: &Venue<'_>, removed: u16, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Removed<'a> {
        status: &'static str,
        removed: u16,
        state: &'static str,
        message: Shown<&'a dyn fmt::Display>,
    }
    let (state, message) = (venue.status().status, Shown(&Why(venue) as &dyn fmt::Display));
    json::write(&Removed { status: "ok", removed, state, message }, sink)
}

/// The code of a screen that may show all there is of a match: `?projector=` and this.
pub(crate) fn projector(code: &str, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Projector<'a> {
        status: &'static str,
        projector: &'a str,
    }
    json::write(&Projector { status: "ok", projector: code }, sink)
}

/// `/api/matches/R1M1.json`, with these entries of the log, as they were at a moment.
pub(crate) fn one_match(
    venue: &Venue<'_>,
    moment: &Moment,
    entries: &Range<u64>,
    at: Utc,
    sink: &mut dyn Sink,
) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Page<G> {
        game_type: &'static str,
        /// "public", or "all" there is: when it is over, or for whom the owner lets see it.
        shows: &'static str,
        /// The referee's state, while it is being played.
        phase: Option<Shown<protocol_core::referee::Phase>>,
        seed_commitment: Option<Shown<protocol_core::fair::Seed>>,
        match_seed: Option<Shown<protocol_core::fair::Seed>>,
        finished_at: Option<Shown<Utc>>,
        game_result: Option<G>,
    }
    #[derive(Serialize)]
    struct Happened<S> {
        /// What happened in it and is not about to be forgotten, in order.
        log: S,
    }
    let id = moment.id;
    let line = venue.match_line(id).ok_or(Full)?;
    let begun = moment.phase.is_some() || venue.record(id).is_some();
    let page = Page {
        game_type: moment.game_type(venue),
        shows: moment.shows(),
        phase: moment.phase.map(Shown),
        seed_commitment: begun.then(|| Shown(venue.commitment(id))),
        match_seed: venue.revealed_seed(id).map(Shown),
        finished_at: venue.record(id).map(|record| Shown(record.finished)),
        game_result: venue.game_result(id),
    };
    let of_match = move |entry: &Entry| entry.at_match == Some(id);
    let log =
        Happened { log: Seq(|| venue.log().entries(entries.clone()).filter(of_match).map(|entry| entry.as_of(at))) };
    json::write(&Joined(Joined(line, page), Joined(moment.now(venue), Joined(moment.view(venue), log))), sink)
}

/// Who plays a match, by seat: `"players":[…]`.
fn players(venue: &Venue<'_>, id: MatchId) -> impl Serialize {
    Map(move || [("players", Seq(move || venue.sitters(id)))])
}

/// Pages of many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    Standings,
    /// The standings for a spreadsheet.
    Table,
    Schedule,
    Players,
    /// Agents that registered as referees.
    Referees,
    /// One player and its compliance report; whether the examples of it may be shown that a reply was quoted for.
    Player(u16, bool),
    Results,
    Log,
    /// What agents of MoltGame say.
    Chat(ChatPage),
    /// Who waits for a game outside the league, at a time in [`venue::seconds`].
    Waiting(u16),
}

impl Rows {
    pub fn content_type(self) -> &'static str {
        match self {
            Rows::Results | Rows::Table => "text/csv; charset=utf-8",
            Rows::Log => "application/x-ndjson",
            _ => crate::answers::JSON,
        }
    }

    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Rows::Results => &[("Content-Disposition", "attachment; filename=\"results.csv\"")],
            Rows::Table => &[("Content-Disposition", "attachment; filename=\"standings.csv\"")],
            Rows::Log => &[("Content-Disposition", "attachment; filename=\"log.jsonl\"")],
            _ => &[],
        }
    }

    /// The same, asked for now.
    pub fn as_of(self, now: Now) -> Rows {
        match self {
            Rows::Waiting(_) => Rows::Waiting(venue::seconds(now)),
            rows => rows,
        }
    }

    pub fn exists(self, venue: &Venue<'_>) -> bool {
        match self {
            Rows::Player(number, _) => player(venue, number).is_some(),
            _ => true,
        }
    }

    /// As [`write`](Self::write), within what stands around the answer to a request, where something does.
    pub fn write_in(
        self,
        around: Option<&Request<'_>>,
        venue: &Venue<'_>,
        at: &mut u64,
        sink: &mut dyn Sink,
    ) -> Result<bool, Full> {
        match around {
            Some(request) => {
                mcp::frame(request, false).ok_or(Full)?.write_part(&|at, sink| self.write(venue, at, sink), at, sink)
            }
            None => self.write(venue, at, sink),
        }
    }

    /// Writes the part that `at` names, moves `at` to the next, and says whether there is one.
    pub fn write(self, venue: &Venue<'_>, at: &mut u64, sink: &mut dyn Sink) -> Result<bool, Full> {
        let part = *at;
        *at = part.saturating_add(1);
        match self {
            Rows::Standings => {
                #[derive(Serialize)]
                struct Head {
                    state: &'static str,
                    round: u16,
                }
                #[derive(Serialize)]
                struct Place {
                    /// The rank, shared by those whom only their ids part.
                    place: u16,
                }
                let league = venue.status();
                list(part, sink, &Head { state: league.status, round: league.current_round }, "standings", |row| {
                    let place = venue.shared_places().nth(row)?;
                    Some(Joined(venue.standings().nth(row)?, Place { place }))
                })
            }
            Rows::Players => {
                #[derive(Serialize)]
                struct Head {
                    registered: usize,
                }
                list(part, sink, &Head { registered: venue.players().len() }, "players", |row| {
                    venue.players().get(row).map(|player| Person::of(venue, player))
                })
            }
            Rows::Referees => {
                #[derive(Serialize)]
                struct Head {
                    /// Whether they are given matches, and how many seconds more than the players of one they have.
                    foreign_referees: Option<u8>,
                }
                let head = Head { foreign_referees: venue.config().foreign_referees };
                list(part, sink, &head, "referees", |row| venue.referee_lines().nth(row))
            }
            Rows::Player(number, shows_replies) => {
                #[derive(Serialize)]
                struct Broken<'a> {
                    rule: &'static str,
                    count: u16,
                    example: &'a str,
                    advice: &'static str,
                }
                let player = player(venue, number).ok_or(Full)?;
                // What it said in the game it plays may be a choice that its opponent must not know yet.
                let is_told = !venue.is_seated(player);
                list(part, sink, &Person::of(venue, player), "compliance", |row| {
                    player.compliance.broken().nth(row).map(|(rule, count, example)| Broken {
                        rule: rule.code(),
                        count,
                        example: if is_told && (shows_replies || !rule.quotes_a_reply()) { example } else { "" },
                        advice: rule.advice_on(example),
                    })
                })
            }
            Rows::Chat(page) => {
                *at = part;
                venue.write_chat(page, at, sink)
            }
            Rows::Waiting(now) => {
                #[derive(Serialize)]
                struct Head {
                    count: u16,
                }
                list(part, sink, &Head { count: venue.waits() }, "waiting", |row| venue.who_waits(now).nth(row))
            }
            Rows::Table => table(venue, part, sink),
            Rows::Schedule => schedule(venue, part, sink),
            Rows::Results => results(venue, part, sink),
            Rows::Log => match venue.log().at_or_after(part) {
                Some((number, entry)) => {
                    *at = number.saturating_add(1);
                    json::write(&entry, sink)?;
                    sink.put(b"\n")?;
                    Ok(true)
                }
                None => Ok(false),
            },
        }
    }
}

fn player<'a>(venue: &'a Venue<'_>, number: u16) -> Option<&'a Player> {
    venue.players().iter().find(|player| player.number == number)
}

/// The row that a part is, from 0; none where it is the head.
fn row_of(part: u64) -> Option<usize> {
    Some(usize::try_from(part.checked_sub(1)?).unwrap_or(usize::MAX))
}

/// Part `part` of `{head…,"name":[row,row,…]}`: the head, then a row each, then the end.
pub(crate) fn list<T: Serialize>(
    part: u64,
    sink: &mut dyn Sink,
    head: &impl Serialize,
    name: &'static str,
    row: impl Fn(usize) -> Option<T>,
) -> Result<bool, Full> {
    let Some(number) = row_of(part) else {
        // The head's closing brace is left for the end.
        let length = json::count(head).saturating_sub(1);
        json::write(head, &mut First { sink: &mut *sink, left: length })?;
        for piece in [",\"", name, "\":["] {
            sink.put(piece.as_bytes())?;
        }
        return Ok(true);
    };
    match row(number) {
        Some(row) => {
            if number > 0 {
                sink.put(b",")?;
            }
            json::write(&row, sink)?;
            Ok(true)
        }
        None => {
            sink.put(b"]}\n")?;
            Ok(false)
        }
    }
}

/// Lets the first bytes through.
pub(crate) struct First<'a> {
    pub sink: &'a mut dyn Sink,
    pub left: usize,
}

impl Sink for First<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let n = bytes.len().min(self.left);
        self.left = self.left.saturating_sub(n);
        self.sink.put(bytes.get(..n).unwrap_or_default())
    }
}

/// A player on one line.
#[derive(Serialize)]
pub(crate) struct Person<'a> {
    player_id: Shown<protocol_core::ids::AgentId>,
    display_name: &'a str,
    version: &'a str,
    contact_endpoint: &'a str,
    /// Where it is really called, or calls from.
    address: Shown<&'a protocol_core::contact::Contact>,
    /// The address it belongs to.
    registered_from: Shown<core::net::IpAddr>,
    connects: &'static str,
    /// Whether one that dials in is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    connected: Option<bool>,
    /// Whether it can be spoken to, as far as that is known.
    online: Option<bool>,
    last_seen: Option<Shown<Utc>>,
    /// What came of the last test call.
    ready: Option<Tested>,
    state: &'static str,
    dialect: &'static str,
    /// Whether the admin has removed it.
    removed: bool,
    /// Why it is not in the league that runs, or will not be in the next.
    sits_out: Option<&'static str>,
    violations: u32,
    /// How its matches ended, and those it lost for a technical reason.
    end_reasons: ByReason,
    technical_losses: ByReason,
    /// What it has gathered so far, as the standings have it.
    tally: Gathered,
    /// On Elo's scale, with one standard deviation, from so many games.
    rating: u16,
    rating_deviation: u16,
    rated_games: u16,
    latency: Latency,
}

/// A test call.
#[derive(Serialize)]
struct Tested {
    status: &'static str,
    /// How long the answer took. Nobody who dials in is called.
    ms: Option<u16>,
    /// What is wrong, where something answered that is not the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'static str>,
}

impl Tested {
    fn of(player: &Player) -> Option<Self> {
        let (status, ms) = match player.ready() {
            Ready::Unknown => return None,
            Ready::Asked => ("asked", None),
            Ready::Yes(ms) => ("ok", player.contact.endpoint().map(|_| ms)),
            Ready::No | Ready::Astray(_) => ("failed", None),
        };
        let http_status = match player.ready() {
            Ready::Astray(status) => Some(status),
            _ => None,
        };
        let rule = http_status.map(|_| Rule::HttpStatus);
        Some(Self { status, ms, http_status, rule: rule.map(Rule::code), advice: rule.map(Rule::advice) })
    }
}

/// Whether a player that is called answers: by its last call, be it a test.
fn is_online(player: &Player) -> Option<bool> {
    match (player.contact.endpoint(), player.state, player.ready()) {
        (None, ..) => Some(!player.is_away()),
        (_, AgentState::Suspended, _) | (_, _, Ready::No | Ready::Astray(_)) => Some(false),
        (_, _, Ready::Yes(_)) => Some(true),
        _ => (player.latency.answers() > 0).then_some(true),
    }
}

/// The numbers of a row of the standings.
#[derive(Serialize)]
struct Gathered {
    played: u16,
    wins: u16,
    draws: u16,
    losses: u16,
    technical_losses: u16,
    points: u16,
}

/// How long it takes to answer. The median and the p99 are at most twice too high.
#[derive(Serialize)]
struct Latency {
    answers: u16,
    min_ms: Option<u32>,
    median_ms: Option<u32>,
    p99_ms: Option<u32>,
}

impl<'a> Person<'a> {
    pub fn of(venue: &Venue<'_>, player: &'a Player) -> Self {
        let endings = venue.endings(player);
        let latency = &player.latency;
        let Tally { played, wins, draws, losses, technical_losses, points, .. } = venue.tally(player);
        Self {
            player_id: Shown(player.id()),
            display_name: &player.name,
            version: &player.version,
            contact_endpoint: match player.contact.given() {
                "" => "dials in",
                given => given,
            },
            address: Shown(&player.contact),
            registered_from: Shown(player.contact.from()),
            connects: if player.contact.endpoint().is_some() { "http" } else { "websocket" },
            connected: player.contact.endpoint().is_none().then(|| !player.is_away()),
            online: is_online(player),
            last_seen: player.last_seen().map(Shown),
            ready: Tested::of(player),
            state: player.state.name(),
            dialect: player.session.name(),
            removed: player.is_removed(),
            sits_out: venue.sits_out(player),
            violations: player.compliance.total(),
            end_reasons: endings.matches,
            technical_losses: endings.technical_losses,
            tally: Gathered { played, wins, draws, losses, technical_losses, points },
            rating: player.rating.points(),
            rating_deviation: player.rating.deviation(),
            rated_games: player.rating.games,
            latency: Latency {
                answers: latency.answers(),
                min_ms: latency.least_ms(),
                median_ms: latency.within_ms(50),
                p99_ms: latency.within_ms(99),
            },
        }
    }
}

/// A part for each match.
fn schedule(venue: &Venue<'_>, part: u64, sink: &mut dyn Sink) -> Result<bool, Full> {
    let Some(number) = row_of(part) else {
        let empty = venue.schedule().rounds() == 0;
        sink.put(if empty { b"{\"rounds\":[]}\n" } else { b"{\"rounds\":[" })?;
        return Ok(!empty);
    };
    let Some((round, table)) = venue.schedule().at(number) else {
        sink.put(b"]}\n")?;
        return Ok(false);
    };
    if table == 1 {
        let mut head = heapless::String::<48>::new();
        let comma = if round > 1 { "," } else { "" };
        write!(head, "{comma}{{\"round_id\":{round},\"matches\":[").map_err(|_| Full)?;
        sink.put(head.as_bytes())?;
    } else {
        sink.put(b",")?;
    }
    let id = MatchId { round, table };
    json::write(&Joined(venue.match_line(id).ok_or(Full)?, players(venue, id)), sink)?;
    if table == venue.schedule().matches_per_round() {
        sink.put(b"]}")?;
    }
    Ok(true)
}

/// A part for each player. Names may have any character, so this begins with the mark by which a spreadsheet knows UTF-8.
fn table(venue: &Venue<'_>, part: u64, sink: &mut dyn Sink) -> Result<bool, Full> {
    let Some(number) = row_of(part) else {
        sink.put(
            "\u{FEFF}rank,player_id,display_name,played,wins,draws,losses,technical_losses,points\r\n".as_bytes(),
        )?;
        return Ok(true);
    };
    let Some(row) = venue.standings().nth(number) else { return Ok(false) };
    let mut text = heapless::String::<256>::new();
    write!(text, "{},{},{},", row.rank, row.player_id.0, Quoted(row.display_name)).map_err(|_| Full)?;
    write!(text, "{},{},{},", row.played, row.wins, row.draws).map_err(|_| Full)?;
    write!(text, "{},{},{}\r\n", row.losses, row.technical_losses, row.points).map_err(|_| Full)?;
    sink.put(text.as_bytes())?;
    Ok(true)
}

/// How a formula begins: some spreadsheets also take the wide signs of East Asian keyboards.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A text in quotes, as CSV has it. A spreadsheet would compute one that begins like a formula, so it gets an apostrophe.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.starts_with(FORMULA) { "\"'" } else { "\"" })?;
        for (number, part) in self.0.split('"').enumerate() {
            write!(f, "{}{part}", if number > 0 { "\"\"" } else { "" })?;
        }
        f.write_str("\"")
    }
}

/// A part for each match that is over, with the mark by which a spreadsheet knows UTF-8.
fn results(venue: &Venue<'_>, part: u64, sink: &mut dyn Sink) -> Result<bool, Full> {
    let Some(number) = row_of(part) else {
        let rules = venue.game().rules();
        let of_each = |what: &str, sink: &mut dyn Sink| {
            let seats = (b'a'..).take((*rules.seats.start()).into());
            { seats }.try_for_each(|seat| [what.as_bytes(), &[b'_', seat, b',']].iter().try_for_each(|p| sink.put(p)))
        };
        sink.put("\u{FEFF}round_id,match_id,".as_bytes())?;
        of_each("player", sink)?;
        of_each("name", sink)?;
        sink.put(b"status,winner,")?;
        of_each("points", sink)?;
        let pieces = ["end_reason,", rules.columns, ",finished_at\r\n"];
        { pieces }.iter().try_for_each(|piece| sink.put(piece.as_bytes()))?;
        return Ok(true);
    };
    let Some((round, table)) = venue.schedule().at(number) else { return Ok(false) };
    let id = MatchId { round, table };
    let (Some(record), Some(line), Some(game)) = (venue.record(id), venue.match_line(id), venue.recall(id)) else {
        return Ok(true);
    };
    let mut text = heapless::String::<512>::new();
    write!(text, "{round},{id},").map_err(|_| Full)?;
    line.player_ids().try_for_each(|player| write!(text, "{player},")).map_err(|_| Full)?;
    sink.put(text.as_bytes())?;
    // A name of 64 quotes is twice as long in quotes.
    for sitter in venue.sitters(id) {
        let mut name = heapless::String::<136>::new();
        write!(name, "{},", Quoted(sitter.display_name)).map_err(|_| Full)?;
        sink.put(name.as_bytes())?;
    }
    text.clear();
    write!(text, "{},", record.status().name()).map_err(|_| Full)?;
    if let Some(winner) = line.winner {
        write!(text, "{}", winner.0).map_err(|_| Full)?;
    }
    let points = (0..).zip(line.player_ids()).map(|(seat, _)| record.verdict(seat).points());
    { points }.try_for_each(|points| write!(text, ",{points}")).map_err(|_| Full)?;
    write!(text, ",{},{},{}\r\n", record.end_reason().name(), Cells(&game), record.finished).map_err(|_| Full)?;
    sink.put(text.as_bytes())?;
    Ok(true)
}

struct Cells<'a>(&'a AnyGame);

impl fmt::Display for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.export(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_name_stays_in_its_cell_and_is_never_computed() {
        for (name, cell) in [
            ("Ada", "\"Ada\""),
            ("a,\"b\"\nc", "\"a,\"\"b\"\"\nc\""),
            ("=1+1", "\"'=1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("+cmd", "\"'+cmd\""),
            ("-x", "\"'-x\""),
            ("＝1+1", "\"'＝1+1\""),
            ("1+1", "\"1+1\""),
            ("עדה", "\"עדה\""),
            ("", "\"\""),
        ] {
            assert_eq!(Quoted(name).to_string(), cell);
        }
    }
}
