//! The hall: the whole box as one state machine. It seats the [`league`](crate::league)'s players at the
//! [`referee`](crate::referee)'s tables, keeps one line to each player, and speaks and hears
//! [`wire`](crate::wire) messages. It opens no socket, reads no clock and allocates nothing.
//!
//! Ways in: [`Hall::request`] for a message an agent sends, [`Hall::handle`] for everything else. Way out:
//! [`Hall::poll_output`], drained after every input, names the players whose line has changed; [`Hall::call`] says what
//! the line has to do now and [`Hall::write_call`] writes the message. The future: [`Hall::next_deadline`].
//!
//! ```text
//! admission.rs   who gets in: registration, ids, tokens
//! name.rs        what a name may be, and when two are the same to people
//! settings.rs    what the owner may change before a league
//! rounds.rs      when things happen: start, rounds, results, standings, the end
//! pace.rs        so that people can follow: questions and rounds that are held back
//! powers.rs      what the owner may do to a running league
//! check.rs       test calls: is a player there?
//! arena.rs       agents of League of Agents: what they are told, what they say
//! ladder.rs      games outside the league, and ratings
//! notes.rs       what is kept for players between their moves
//! party.rs       who sits at a table
//! errands.rs     how referees hear the end
//! lines.rs       one line per player: what goes out next, what came back
//! speech.rs      the words of every call
//! answers.rs     the words of every answer, queries among them
//! reel.rs        the steps of every match, to look at it again
//! facts.rs       what must outlive a power cut, and the hall again after one
//! ```

mod admission;
#[cfg(test)]
mod admission_tests;
mod answers;
mod arena;
#[cfg(test)]
mod arena_tests;
mod check;
#[cfg(test)]
mod check_tests;
mod errands;
mod facts;
#[cfg(test)]
mod fours_tests;
#[cfg(test)]
mod held_tests;
mod ladder;
mod lines;
mod name;
#[cfg(test)]
mod news_tests;
#[cfg(test)]
mod next_tests;
mod notes;
mod pace;
#[cfg(test)]
mod pace_tests;
mod party;
mod powers;
#[cfg(test)]
mod powers_tests;
mod reel;
#[cfg(test)]
mod reel_tests;
#[cfg(test)]
mod referee_tests;
#[cfg(test)]
mod restart_tests;
mod rounds;
mod settings;
mod speech;
#[cfg(test)]
mod tests;

use core::net::SocketAddr;

use heapless::{Deque, String, Vec};

pub use admission::{AgentState, NAME_BYTES, Player, Referee};
pub use answers::{Answer, MatchLine, Sitter, Status};
pub use arena::{Enrolment, Picture, Reply, Told, Word};
pub use check::Ready;
pub use facts::{Fact, Unfit, has_reached};
pub use lines::{Call, Failure, NEWS_MS};
pub use party::{PLAYER_ID, Party};
pub use powers::Denied;
pub use reel::{Astray, Deed, LastMove, MOVE_BYTES, ReelId, Replay, Shot, Step};
pub use rounds::{Command, Lines, Refusal, Seating, Stage, Table};
pub use settings::{Change, Pace, Pacing, TIMEOUT_MS, sizes};

use errands::Errand;
use facts::Facts;
use notes::Notes;
use reel::Reel;

use crate::fair::{Purpose, Seed};
use crate::games::GameKind;
use crate::league::{Record, Schedule, Tally};
use crate::log::{Entry, Happening, Log};
use crate::referee::Timing;
use crate::time::{Millis, Now};
use crate::timers::Timers;
use crate::wire::league_v2::outgoing::{AgentId, LeagueId, MatchId, OUR_REFEREE, Token};

/// What happens to a message that breaks a rule but can be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is played, and reported.
    Lenient,
    /// It is refused, as the specification says.
    Strict,
}

impl Mode {
    /// Both of them.
    pub const ALL: [Mode; 2] = [Mode::Lenient, Mode::Strict];

    /// Its name in settings and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Lenient => "lenient",
            Mode::Strict => "strict",
        }
    }
}

/// How the box is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The game of the league.
    pub game: GameKind,
    /// What happens to deviations.
    pub mode: Mode,
    /// How long players have.
    pub timing: Timing,
    /// Starts by itself at so many players.
    pub start_at: Option<u16>,
    /// How fast it goes on, where people watch.
    pub pacing: Pacing,
    /// So many players may come from one address; `None`: as many as leave a quarter of the seats to others.
    pub per_address: Option<u16>,
    /// Whether an agent may be called at another address than it registered from.
    pub other_hosts: bool,
    /// Where agents reach the box: `http://10.0.0.5:8000/mcp`.
    pub endpoint: String<64>,
    /// Where else it listens, `0.0.0.0` standing for its address: it never calls itself.
    pub own: Option<&'static [SocketAddr]>,
}

impl Config {
    /// Of a hall that is not open yet: all zeros.
    const NONE: Config = Config {
        game: GameKind::EvenOdd,
        mode: Mode::Lenient,
        timing: Timing { join_ms: 0, move_ms: 0, retry_base_ms: 0, notice_ms: 0, first_turn_ms: 0, turn_ms: 0 },
        start_at: None,
        pacing: Pacing { pace: Pace::Fast, turn_ms: 0, match_ms: 0, break_ms: 0 },
        per_address: None,
        other_hosts: false,
        endpoint: String::new(),
        own: None,
    };
}

/// As a box is when nobody has set it up. It has no address yet.
impl Default for Config {
    fn default() -> Self {
        Self { timing: Timing::default(), pacing: Pacing::default(), ..Self::NONE }
    }
}

/// Something that happened outside, other than an agent's message.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A deadline has come.
    Tick,
    /// A call is being said, and cannot be taken back before its end: where calls follow each other on one connection.
    Begun {
        /// Which player's line.
        player: u16,
        /// Which call, by [`Call::id`].
        call: u32,
    },
    /// A call is on its way: it may be heard.
    Sent {
        /// Which player's line.
        player: u16,
        /// Which call, by [`Call::id`].
        call: u32,
    },
    /// A player answered a call.
    Reply {
        /// Which player's line.
        player: u16,
        /// Which call, by [`Call::id`].
        call: u32,
        /// The HTTP status.
        status: u16,
        /// The body.
        body: &'a [u8],
    },
    /// A call could not be made, or its answer not be read.
    Failed {
        /// Which player's line.
        player: u16,
        /// Which call.
        call: u32,
        /// What went wrong.
        failure: Failure,
    },
    /// A player that dials in is there.
    Arrived {
        /// Which player's line.
        player: u16,
    },
    /// A player that dials in is gone.
    Gone {
        /// Which player's line.
        player: u16,
        /// Why, as far as that is known.
        why: &'static str,
    },
}

/// How a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// It was posted.
    Post,
    /// It was posted where a flat message without a type registers a player.
    Register,
    /// On a connection that its agent holds: who registers on it is spoken to on it.
    Held,
}

/// Something to be done outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// This player's line has changed: drop what it is doing unless [`Hall::call`] still has the same id, then do that.
    Line(u16),
}

/// The whole box. `P` players, `M` matches at once, `R` results (at least `P·(P−1)/2`), `L` log entries.
pub struct Hall<const P: usize, const M: usize, const R: usize, const L: usize> {
    config: Config,
    /// The game of the league that has begun.
    playing: GameKind,
    /// Decides every seed of a match.
    master: Seed,
    seed_is_chosen: bool,
    /// The same for the next league, where the owner has set it after the last.
    next_seed: Option<Seed>,
    /// Apart from it, so that a hall without one is all zeros.
    next_seed_is_chosen: bool,
    /// Decides every token.
    secret: Seed,
    /// Which league this is, from 1.
    number: u32,
    stage: Stage,
    paused: bool,
    players: Vec<Player, P>,
    referees: Vec<Referee, 8>,
    /// Player by place in the schedule.
    seating: Vec<u16, P>,
    /// Tally by place in the schedule.
    tallies: Vec<Tally, P>,
    /// Places in the schedule, best first, with the tallies of that moment: as of the last round that closed, so that
    /// every player is told the same however late it listens.
    closed: Standings<P>,
    /// The same as of now, for whoever asks.
    current: Standings<P>,
    current_is_stale: bool,
    /// Matches of the league that have a result.
    results: u32,
    /// Matches of this round and earlier ones that wait to be played again.
    again: u16,
    round_is_closed: bool,
    /// Since when there is a break before the next round.
    break_since: Option<Millis>,
    /// By place in the season: of this league, so many as it has matches.
    records: Vec<Option<Record>, R>,
    /// By slot: so many as were ever needed at once.
    tables: Vec<Option<Table>, M>,
    /// The next table of the round to be opened, from 1.
    next_table: u16,
    timers: Timers<P>,
    changed: Deque<u16, P>,
    calls: u32,
    /// Registrations so far, over all leagues.
    issued: u32,
    /// How often the box was restarted in the middle of this league, or a match of it was to be played again. A match has
    /// the seed of the attempt it was begun in, so that no seed is used twice.
    attempts: u8,
    /// Whether everybody has been told how the league ended, and that is a fact.
    over_is_told: bool,
    /// The call by which a referee hears how the league ended.
    errand: Option<Errand>,
    /// Decides every game of the ladder. Another one after every restart: nobody has seen anything of it.
    chance: Seed,
    /// Games of the ladder since then.
    ladder_games: u32,
    /// Agents that wait for a game of the ladder, and how often one began to.
    queued: u16,
    tickets: u32,
    notes: Notes<P>,
    reel: Reel,
    facts: Facts<M>,
    log: Log<L>,
}

/// A ranking at some moment.
#[derive(Clone, Debug)]
struct Standings<const P: usize> {
    order: Vec<u16, P>,
    /// Beside each: whether only its id puts it behind the one before.
    is_level: Vec<bool, P>,
    tallies: Vec<Tally, P>,
}

impl<const P: usize> Standings<P> {
    const fn new() -> Self {
        Self { order: Vec::new(), is_level: Vec::new(), tallies: Vec::new() }
    }

    /// A number that is another one for other standings.
    fn checksum(&self) -> u32 {
        let tallies = self.tallies.iter().flat_map(|tally| [tally.played, tally.points]);
        let level = self.is_level.iter().map(|&is_level| is_level.into());
        let numbers = self.order.iter().copied().chain(level).chain(tallies);
        numbers.fold(0, |sum: u32, number| sum.wrapping_mul(31).wrapping_add(number.into()))
    }
}

impl<const P: usize, const M: usize, const R: usize, const L: usize> Hall<P, M, R, L> {
    /// A hall that is open. A board has no stack for one and does it in two steps, in place.
    pub fn new(config: Config, master: Seed, secret: Seed) -> Self {
        let mut hall = Self::closed();
        hall.open(config, master, secret);
        hall
    }

    /// A hall nobody can enter before it is [opened](Self::open). All of it is zeros: as the initial value of a static it
    /// takes no flash.
    pub const fn closed() -> Self {
        const { assert!(R >= P * (P - 1) / 2, "R must hold a result for every pair of players") };
        const { assert!(M >= 1 && P >= 2 && P < 1000, "2 to 999 players, at least one match at once") };
        Self {
            config: Config::NONE,
            playing: GameKind::EvenOdd,
            master: Seed([0; 32]),
            seed_is_chosen: false,
            next_seed: None,
            next_seed_is_chosen: false,
            secret: Seed([0; 32]),
            number: 0,
            stage: Stage::Waiting,
            paused: false,
            players: Vec::new(),
            referees: Vec::new(),
            seating: Vec::new(),
            tallies: Vec::new(),
            closed: Standings::new(),
            current: Standings::new(),
            current_is_stale: false,
            results: 0,
            again: 0,
            round_is_closed: false,
            break_since: None,
            records: Vec::new(),
            tables: Vec::new(),
            next_table: 0,
            timers: Timers::new(),
            changed: Deque::new(),
            calls: 0,
            issued: 0,
            attempts: 0,
            over_is_told: false,
            errand: None,
            chance: Seed([0; 32]),
            ladder_games: 0,
            queued: 0,
            tickets: 0,
            notes: Notes::new(),
            reel: Reel::new(),
            facts: Facts::new(),
            log: Log::new(),
        }
    }

    /// Opens the hall. `master` decides all draws, `secret` all tokens; both must be unpredictable.
    pub fn open(&mut self, config: Config, master: Seed, secret: Seed) {
        (self.config, self.master, self.secret) = (config, master, secret);
        self.chance = secret.derive(Purpose::Ladder, [0; 3]);
        self.number = 1;
        self.calls = 1000;
    }

    /// Takes note of something that happened.
    pub fn handle(&mut self, now: Now, event: Event<'_>) {
        match event {
            Event::Tick => {
                self.tick_errand(now);
                self.tick(now);
            }
            Event::Begun { player, call } => self.begun(now, player, call),
            Event::Sent { player, call } => self.sent(now, player, call),
            Event::Reply { call, body, .. } if self.is_errand(now, call, Some(body)) => {}
            Event::Failed { call, .. } if self.is_errand(now, call, None) => {}
            Event::Reply { player, call, status, body } => self.reply(now, player, call, status, body),
            Event::Failed { player, call, failure } => self.call_failed(now, player, call, failure),
            Event::Arrived { player } => self.arrived(now, player),
            Event::Gone { player, why } => self.gone(now, player, why),
        }
        self.advance(now);
    }

    /// The next thing to be done outside. Drain it after every input.
    pub fn poll_output(&mut self) -> Option<Output> {
        let player = self.changed.pop_front()?;
        if let Some(player) = self.players.get_mut(usize::from(player)) {
            player.line.is_listed = false;
        }
        Some(Output::Line(player))
    }

    /// When [`Event::Tick`] is due.
    pub fn next_deadline(&self) -> Option<Millis> {
        let of_lines = self.timers.next().map(|(_, at)| at);
        [of_lines, self.errand_deadline(), self.break_ends()].into_iter().flatten().min()
    }

    /// How the box is set up.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The box has moved to another address. Whoever is told from now on where it is hears the new one.
    pub fn move_to(&mut self, endpoint: String<64>) {
        self.config.endpoint = endpoint;
    }

    /// Everything that happened.
    pub fn log(&self) -> &Log<L> {
        &self.log
    }

    /// The players, by line.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// Registrations so far, over all leagues.
    pub fn registrations(&self) -> u32 {
        self.issued
    }

    /// The game of the league: of one that is over still that, whatever is set for the next.
    pub fn game(&self) -> GameKind {
        if self.stage == Stage::Waiting { self.config.game } else { self.playing }
    }

    /// The id of the league.
    pub fn league_id(&self) -> LeagueId {
        LeagueId { game: self.game().rules().name, number: self.number }
    }

    /// Who plays whom.
    pub fn schedule(&self) -> Schedule {
        Schedule::new(*self.game().rules().seats.start(), self.seating.len() as u16)
    }

    fn note(&mut self, now: Now, agent: Option<AgentId>, at_match: Option<MatchId>, what: Happening) {
        self.log.push(Entry::new(now.utc, what, agent, at_match));
    }

    /// The token of an agent. It is derived, not stored; `issue` keeps the next agent of that number from sharing it.
    fn token(&self, of: AgentId, issue: u32) -> Token {
        let (AgentId::Player(number) | AgentId::Referee(number)) = of;
        let role = u32::from(matches!(of, AgentId::Referee(_)));
        let mut secret = [0; 16];
        let derived = self.secret.derive(Purpose::Token, [role, number.into(), issue]);
        secret.iter_mut().zip(derived.0).for_each(|(byte, derived)| *byte = derived);
        Token { of, secret }
    }

    /// The token the box's own referee shows to players. It opens nothing.
    fn our_token(&self) -> Token {
        self.token(OUR_REFEREE, 0)
    }

    /// The seed of a match: of the attempt that has a result or is being played, else of the present one.
    fn match_seed(&self, id: MatchId) -> Seed {
        match (self.record(id), self.table(id)) {
            (Some(record), _) => self.seed_of(id, record.attempt),
            (None, Some(table)) => table.play.seed(),
            (None, None) => self.seed_of(id, self.attempts),
        }
    }

    fn seed_of(&self, id: MatchId, attempt: u8) -> Seed {
        let table = u32::from(attempt) << 16 | u32::from(id.table);
        self.master.derive(Purpose::Match, [self.number, id.round.into(), table])
    }

    /// The attempt in which a match was begun that has this seed: nearly always the present one.
    fn attempt_of(&self, id: MatchId, seed: Seed) -> u8 {
        (0..=self.attempts).rev().find(|&attempt| self.seed_of(id, attempt) == seed).unwrap_or(self.attempts)
    }

    /// The id of the player at a place in the schedule.
    fn id_at(&self, place: u16) -> AgentId {
        let player = self.seating.get(usize::from(place)).and_then(|&player| self.players.get(usize::from(player)));
        AgentId::Player(player.map_or(0, |player| player.number))
    }

    /// The lines of the players at these places in the schedule.
    fn lines_of(&self, places: &[u16]) -> Lines {
        places.iter().map(|&place| self.seating.get(usize::from(place)).copied().unwrap_or(u16::MAX)).collect()
    }

    /// The player at a place in the schedule.
    fn player_at(&self, place: u16) -> Option<&Player> {
        self.players.get(usize::from(*self.seating.get(usize::from(place))?))
    }
}
