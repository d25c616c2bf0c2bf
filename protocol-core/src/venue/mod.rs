//! The venue: the whole box as one state machine. It seats the players of a [season](crate::season) at the tables of the
//! [referee](crate::referee) and keeps one line to each of them. What is said on a line, and what is heard there, is left to
//! the [protocols](crate::protocols). It opens no socket, reads no clock and allocates nothing.
//!
//! Ways in: what agents send comes by their protocol, everything else by [`Venue::handle`]. Way out:
//! [`Venue::poll_output`], drained after every input, names the players whose line has changed; [`Venue::call`] says what
//! the line has to do now and [`Venue::write_call`] writes the message. The future: [`Venue::next_deadline`].
//!
//! ```text
//! players.rs     who gets in, who leaves, who takes part
//! name.rs        what a name may be, and when two are the same to people
//! presence.rs    who is there, and on which line
//! calls.rs       what a line has to do: calls to players, and errands to others
//! seats.rs       who sits where, and what time does to them
//! space.rs       the memory it works in, and how much of it there is
//! settings.rs    what the owner may change before a league
//! rounds.rs      when things happen: start, rounds, results, standings, the end
//! news.rs        what happens in a league, and what of it a player hears next
//! pace.rs        so that people can follow: questions and rounds that are held back
//! powers.rs      what the owner may do to a running league
//! check.rs       test calls: is a player there?
//! ladder.rs      games outside the league, and ratings
//! rooms.rs       tables that wait for their players
//! chat.rs        what players say to everybody
//! notes.rs       what is kept for players between their moves
//! party.rs       who sits at a table, as a game is told of them
//! report.rs      what can be read of a league
//! speeches.rs    what is said at length
//! votes.rs       the audience that decides
//! film.rs        the steps of every match, to look at it again
//! facts.rs       what must outlive a power cut, and the venue again after one
//! ```

#[cfg(test)]
mod admission_tests;
#[cfg(test)]
mod arena_tests;
mod calls;
mod chat;
mod check;
#[cfg(test)]
mod check_tests;
mod facts;
mod film;
#[cfg(test)]
mod film_tests;
#[cfg(test)]
mod fours_tests;
#[cfg(test)]
mod held_tests;
mod ladder;
pub(crate) mod name;
mod news;
#[cfg(test)]
mod news_tests;
#[cfg(test)]
mod next_tests;
mod notes;
mod pace;
#[cfg(test)]
mod pace_tests;
mod party;
mod players;
mod powers;
#[cfg(test)]
mod powers_tests;
mod presence;
#[cfg(test)]
mod referee_tests;
mod report;
#[cfg(test)]
pub(crate) mod restart_tests;
mod rooms;
mod rounds;
mod seats;
#[cfg(test)]
mod seats_tests;
mod settings;
mod space;
mod speeches;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod trades_tests;
mod votes;
#[cfg(test)]
mod votes_tests;

use core::net::SocketAddr;

use heapless::String;

pub use calls::{Call, Failure, Progress};
pub use chat::TEXT_BYTES;
pub(crate) use chat::{Channel, NotSaid, Said};
pub use check::Ready;
pub use facts::{Fact, Unfit, has_reached};
pub use film::{Astray, Deed, FilmId, LastMove, MOVE_BYTES, Replay, Shot, Step};
pub use ladder::{Finished, seconds};
pub use news::{Cursor, News};
pub use party::{PLAYER_ID, Party};
pub use players::{AgentState, NAME_BYTES, Player};
pub(crate) use players::{Applicant, Gone, NotAdmitted};
pub use powers::Denied;
pub use report::{MatchLine, Sitter, Status};
pub use rooms::Waiting;
pub(crate) use rooms::{BLITZ, NotSeated, OpenRoom};
pub(crate) use rounds::Life;
pub use rounds::{Command, Lines, Refusal, Seating, Stage, Table};
pub use settings::{Change, Pace, Pacing, TIMEOUT_MS, Timing, VOTE_SECONDS, sizes};
pub use space::{Memory, Space};
pub use votes::{Ballot, CROWD, NotCounted, Poll, Vote, Voter};

use crate::fair::{Purpose, Seed};
use crate::games::GameKind;
use crate::ids::{AgentId, LeagueId, MatchId, OUR_REFEREE, Token};
use crate::log::{Entry, Happening, Log};
use crate::protocols::{Code, Desks};
use crate::season::Schedule;
use crate::time::{Millis, Now};

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

/// The longest topic the owner can set, in bytes.
pub const TOPIC_BYTES: usize = 160;

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
    /// After how many seconds a room that waits is filled with house players; `None`: never.
    pub fill_after: Option<u16>,
    /// How long the audience votes.
    pub vote_seconds: u16,
    /// What debates are about; what their seeds decide, where it is empty.
    pub topic: String<TOPIC_BYTES>,
    /// Whether an agent may be called at another address than it registered from.
    pub other_hosts: bool,
    /// Where agents reach the box: `http://10.0.0.5:8000/mcp`.
    pub endpoint: String<64>,
    /// Where else it listens, `0.0.0.0` standing for its address: it never calls itself.
    pub own: Option<&'static [SocketAddr]>,
}

impl Config {
    /// Of a venue that is not open yet: all zeros.
    const NONE: Config = Config {
        game: GameKind::FIRST,
        mode: Mode::Lenient,
        timing: Timing { join_ms: 0, move_ms: 0, retry_base_ms: 0, notice_ms: 0, first_turn_ms: 0, turn_ms: 0 },
        start_at: None,
        pacing: Pacing { pace: Pace::Fast, turn_ms: 0, match_ms: 0, break_ms: 0 },
        per_address: None,
        fill_after: None,
        vote_seconds: 0,
        topic: String::new(),
        other_hosts: false,
        endpoint: String::new(),
        own: None,
    };
}

/// As a box is when nobody has set it up. It has no address yet.
impl Default for Config {
    fn default() -> Self {
        Self { timing: Timing::default(), pacing: Pacing::default(), vote_seconds: VOTE_SECONDS, ..Self::NONE }
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
    /// This player's line has changed: drop what it is doing unless [`Venue::call`] still has the same id, then do that.
    Line(u16),
}

/// The whole box, in the memory it is lent: see [`Space`].
pub struct Venue<'m> {
    memory: Memory<'m>,
    config: Config,
    /// The game of the league that has begun.
    playing: GameKind,
    /// Decides every seed of a match.
    master: Seed,
    seed_is_chosen: bool,
    /// The same for the next league, where the owner has set it after the last, and whether it was chosen.
    next_seed: Option<(Seed, bool)>,
    /// Decides every token.
    secret: Seed,
    /// Which league this is, from 1.
    number: u32,
    stage: Stage,
    paused: bool,
    /// Whether the standings as of now have to be ranked before they are read.
    current_is_stale: bool,
    /// Matches of the league that have a result.
    results: u32,
    /// Matches of this round and earlier ones that wait to be played again.
    again: u16,
    round_is_closed: bool,
    /// The round after which the table stood that players are told.
    closed_round: u16,
    /// Since when there is a break before the next round.
    break_since: Option<Millis>,
    /// The next table of the round to be opened, from 1.
    next_table: u16,
    /// The line of a player for whom the round was last seen to wait: mostly it still does.
    waits_for: u16,
    /// The number of the last call.
    calls: u32,
    /// Registrations so far, over all leagues.
    issued: u32,
    /// How often the box was restarted in the middle of this league, or a match of it was to be played again. A match has
    /// the seed of the attempt it was begun in, so that no seed is used twice: one restart a second would take 18 hours to
    /// come to the end of them.
    attempts: u16,
    /// Whether everybody has been told how the league ended, and that is a fact.
    over_is_told: bool,
    /// Decides every game of the ladder. Another one after every restart: nobody has seen anything of it.
    chance: Seed,
    /// The number of the last of them that there ever was, and above its sixteen bits how often numbers have begun anew.
    last_game: u32,
    /// How many messages were ever said.
    messages: u32,
    /// Agents that wait for a game of the ladder, and how often one began to.
    queued: u16,
    tickets: u32,
    /// Whether somebody looks on who could vote.
    is_watched: bool,
}

/// How many there are, where memory has room for fewer than 16 bits can number.
pub(crate) fn count(many: usize) -> u16 {
    u16::try_from(many).unwrap_or(u16::MAX)
}

impl<'m> Venue<'m> {
    /// A venue that is open. `master` decides all draws, `secret` all tokens; both must be unpredictable.
    pub fn new(mut memory: Memory<'m>, config: Config, master: Seed, secret: Seed) -> Self {
        memory.clear();
        Self {
            memory,
            playing: config.game,
            config,
            master,
            seed_is_chosen: false,
            next_seed: None,
            chance: secret.derive(Purpose::Ladder, [0; 3]),
            secret,
            number: 1,
            stage: Stage::Waiting,
            paused: false,
            current_is_stale: false,
            results: 0,
            again: 0,
            round_is_closed: false,
            closed_round: 0,
            break_since: None,
            next_table: 0,
            waits_for: 0,
            calls: 1000,
            issued: 0,
            attempts: 0,
            over_is_told: false,
            last_game: 0,
            messages: 0,
            queued: 0,
            tickets: 0,
            is_watched: false,
        }
    }

    /// Ends it, and gives its memory back.
    pub fn into_memory(self) -> Memory<'m> {
        self.memory
    }
}

impl Venue<'_> {
    /// How many players there is room for.
    pub fn capacity(&self) -> usize {
        self.memory.players.capacity()
    }

    /// Whether somebody looks on who could vote.
    pub fn set_watched(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
    }

    /// How many results of a league there is room for.
    pub fn room_for_results(&self) -> usize {
        self.memory.records.capacity()
    }

    /// Takes note of something that happened.
    pub fn handle(&mut self, now: Now, event: Event<'_>) {
        match event {
            Event::Tick => {
                Code::ALL.iter().for_each(|code| code.end_errands(self, now));
                self.tick(now);
            }
            Event::Begun { player, call } => self.progress(now, player, call, Progress::Begun),
            Event::Sent { player, call } => self.progress(now, player, call, Progress::Sent),
            Event::Reply { player, call, status, body } => {
                self.progress(now, player, call, Progress::Replied(status, body));
            }
            Event::Failed { player, call, failure } => self.progress(now, player, call, Progress::Failed(failure)),
            Event::Arrived { player } => self.arrived(now, player),
            Event::Gone { player, why } => self.departed(now, player, why),
        }
        self.advance(now);
    }

    /// The next thing to be done outside. Drain it after every input.
    pub fn poll_output(&mut self) -> Option<Output> {
        let player = self.memory.changed.pop_front()?;
        if let Some(player) = self.memory.players.get_mut(usize::from(player)) {
            player.is_listed = false;
        }
        Some(Output::Line(player))
    }

    /// When [`Event::Tick`] is due.
    pub fn next_deadline(&self) -> Option<Millis> {
        let of_lines = self.memory.timers.next().map(|(_, at)| at);
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
    pub fn log(&self) -> &Log {
        self.memory.log
    }

    /// The players, by line.
    pub fn players(&self) -> &[Player] {
        self.memory.players
    }

    /// What the protocols keep for themselves.
    pub(crate) fn desks(&self) -> &Desks {
        self.memory.desks
    }

    /// The same, to be changed.
    pub(crate) fn desks_mut(&mut self) -> &mut Desks {
        self.memory.desks
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
        Schedule::new(*self.game().rules().seats.start(), count(self.memory.seating.len()))
    }

    pub(crate) fn note(&mut self, now: Now, agent: Option<AgentId>, at_match: Option<MatchId>, what: Happening) {
        self.memory.log.push(Entry::new(now.utc, what, agent, at_match));
    }

    /// The token of an agent. It is derived, not stored; `issue` keeps the next agent of that number from sharing it.
    pub(crate) fn token(&self, of: AgentId, issue: u32) -> Token {
        let (AgentId::Player(number) | AgentId::Referee(number)) = of;
        let role = u32::from(matches!(of, AgentId::Referee(_)));
        Token { of, secret: self.derive([role, number.into(), issue]) }
    }

    /// Sixteen bytes that nobody can foretell: what an agent shows that it is who it says, or is called by.
    pub(crate) fn derive(&self, of: [u32; 3]) -> [u8; 16] {
        let mut bytes = [0; 16];
        let derived = self.secret.derive(Purpose::Token, of);
        bytes.iter_mut().zip(derived.0).for_each(|(byte, derived)| *byte = derived);
        bytes
    }

    /// The number of a new registration.
    pub(crate) fn next_issue(&mut self) -> u32 {
        self.issued = self.issued.wrapping_add(1);
        self.issued
    }

    /// The token the box's own referee shows to players. It opens nothing.
    pub(crate) fn our_token(&self) -> Token {
        self.token(OUR_REFEREE, 0)
    }

    /// The seed of a match: of the attempt that has a result or is being played, else of the present one.
    pub(crate) fn match_seed(&self, id: MatchId) -> Seed {
        if let Some(finished) = self.finished_game(id) {
            return finished.seed;
        }
        match (self.record(id), self.table(id)) {
            (Some(record), _) => self.seed_of(id, record.attempt),
            (None, Some(table)) => table.play.seed(),
            (None, None) => self.seed_of(id, self.attempts),
        }
    }

    fn seed_of(&self, id: MatchId, attempt: u16) -> Seed {
        let table = u32::from(attempt) << 16 | u32::from(id.table);
        self.master.derive(Purpose::Match, [self.number, id.round.into(), table])
    }

    /// The attempt in which a match was begun that has this seed: nearly always the present one.
    fn attempt_of(&self, id: MatchId, seed: Seed) -> u16 {
        (0..=self.attempts).rev().find(|&attempt| self.seed_of(id, attempt) == seed).unwrap_or(self.attempts)
    }

    /// The id of the player at a place in the schedule.
    pub(crate) fn id_at(&self, place: u16) -> AgentId {
        let player = self
            .memory
            .seating
            .get(usize::from(place))
            .and_then(|&player| self.memory.players.get(usize::from(player)));
        AgentId::Player(player.map_or(0, |player| player.number))
    }

    /// The lines of the players at these places in the schedule.
    pub(crate) fn lines_of(&self, places: &[u16]) -> Lines {
        places.iter().map(|&place| self.memory.seating.get(usize::from(place)).copied().unwrap_or(u16::MAX)).collect()
    }

    /// The player at a place in the schedule.
    pub(crate) fn player_at(&self, place: u16) -> Option<&Player> {
        self.memory.players.get(usize::from(*self.memory.seating.get(usize::from(place))?))
    }
}
