//! A classroom in virtual time. A seed decides a whole league: how many play, what, how each of them behaves, when the
//! admin interferes and what noise comes in from strangers. The box under test is the real
//! [`Venue`]; the network, the clock and the players are simulated around it, in one queue of events.
//!
//! ```text
//! random.rs   the seed's numbers
//! agent.rs    the players, one conduct per kind of trouble
//! checks.rs   what must hold, recomputed without the box
//! power.rs    power cuts
//! club.rs     agents that dial in and the queues they play from, agents that poll and their rooms
//! owner.rs    an owner who removes players, rules on matches and has them played again
//! ```
//!
//! Agents know no game: they choose among the moves the game lists for them. So a game that is added is simulated as it is, unless
//! its moves cannot be listed. With the feature `toys` the toy games and the toy protocol are there too.
//!
//! [`World::step`] lets one thing happen and then looks at everything that must hold. A broken promise is a panic; whoever
//! runs the league adds its seed.

pub mod agent;
mod checks;
pub mod club;
mod owner;
mod power;
pub mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;
use std::rc::Rc;

use protocol_core::fair::{Draws, Purpose, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, MoveSink, Order, Seat};
use protocol_core::ids::MatchId;
use protocol_core::json::{Counter, Full, Sink, Window};
use protocol_core::log::Happening;
use protocol_core::season::Record;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{
    Command, Config, Event, Failure, FilmId, Memory, Mode, Output, Pace, Pacing, Space, Stage, Timing, Venue, Via,
    sizes,
};
use serde_json::{Value, json};

use agent::{Act, Agent, Conduct, Dialect};
use random::Random;

/// When every simulated day begins.
const MORNING: u64 = 1_736_937_000;

/// What a seed decides before anything happens.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The seed.
    pub seed: u64,
    /// How many play.
    pub players: u64,
    /// What they play.
    pub game: GameKind,
    /// What happens to deviations.
    pub mode: Mode,
    /// How long they have.
    pub timing: Timing,
    /// How fast it goes on.
    pub pacing: Pacing,
    /// Whether the box runs fewer matches at once than a round has.
    pub few_tables: bool,
    /// What the monotonic clock shows in the morning. Nothing may depend on it.
    pub clock: u64,
}

impl Setup {
    /// A league of any game.
    pub fn any(seed: u64) -> Self {
        let setup = Self::of_parity(seed);
        let mut random = Random::new(seed ^ 0x9a3e);
        let game = any_game(&mut random);
        // Long games are played now and then, the longest by few.
        let cost = 1 + moves_of(game) * setup.players / 40;
        if random.one_in(cost) { setup.of(game) } else { setup }
    }

    /// The same league of another game: of as many as can play it, and few of them if it is long.
    pub fn of(self, game: GameKind) -> Self {
        let (least, most) = (u64::from(*sizes(game).start()), if moves_of(game) > 200 { 4 } else { u64::MAX });
        Self { game, players: self.players.min(most).max(least), ..self }
    }

    /// A league of even or odd, of up to 32, mostly small ones.
    pub fn of_parity(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let players = match random.within(1, 200) {
            0..=160 => random.within(2, 6),
            161..=194 => random.within(7, 10),
            195..=199 => random.within(11, 16),
            _ => random.within(17, 32),
        };
        // Ten turns are ten times the messages.
        let game = if random.one_in(players) { GameKind::EvenOdd10 } else { GameKind::EvenOdd };
        Self {
            seed,
            players,
            game,
            mode: if random.one_in(3) { Mode::Strict } else { Mode::Lenient },
            timing: if random.one_in(2) {
                Timing::default()
            } else {
                Timing {
                    join_ms: random.within(1_000, 6_000),
                    move_ms: random.within(1_000, 40_000),
                    retry_base_ms: random.within(10, 2_000),
                    notice_ms: random.within(1_000, 12_000),
                    ..Timing::default()
                }
            },
            few_tables: random.one_in(3),
            pacing: Pacing::default(),
            clock: 0,
        }
    }

    /// A league to be watched, or in steps.
    pub fn paced(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0xface);
        let pacing = Pacing {
            pace: if random.one_in(2) { Pace::Watch } else { Pace::Step },
            turn_ms: random.within(1, 2_000),
            match_ms: random.within(1, 8_000),
            break_ms: random.within(1, 8_000),
        };
        Self { pacing, ..Self::any(seed) }
    }

    /// A league of a game for three to six at a table, of all that there are by turns.
    pub fn of_many(seed: u64) -> Self {
        let games: Vec<_> = GameKind::ALL.iter().filter(|game| *game.rules().seats.start() > 2).collect();
        let game = *games[seed as usize % games.len()];
        Self { players: u64::from(*sizes(game).start()) + seed % 6, game, ..Self::of_parity(seed) }
    }
}

/// How many moves a game takes at most, where all that are made together count once.
fn moves_of(game: GameKind) -> u64 {
    let rules = game.rules();
    let movers = if rules.order == Order::InTurn { *rules.seats.start() } else { 1 };
    u64::from(rules.turns) * u64::from(movers)
}

/// Any game but those that end by a vote: here nobody votes yet, and what the checks say of time, seeds and replays is not so there.
fn any_game(random: &mut Random) -> GameKind {
    let games: Vec<GameKind> = GameKind::ALL.iter().copied().filter(|&game| !ends_by_vote(game)).collect();
    games[random.any() as usize % games.len()]
}

/// Whether a game ends by a vote, be nobody there to vote.
fn ends_by_vote(game: GameKind) -> bool {
    let game = AnyGame::start(game, *game.rules().seats.start(), &mut Draws::new(Seed([0; 32])));
    game.has_audience() && game.awaits_vote(false)
}

/// Whether players act in a game beside their moves.
fn has_acts(game: GameKind) -> bool {
    let act = protocol_core::json::parse(br#"{"reject":true}"#).expect("JSON");
    AnyGame::start(game, *game.rules().seats.start(), &mut Draws::new(Seed([0; 32]))).is_act(act)
}

/// Takes some legal moves.
struct Moves(Vec<Value>);

impl MoveSink for Moves {
    fn take(&mut self, legal: &str) -> ControlFlow<()> {
        self.0.push(serde_json::from_str(legal).expect("a move is JSON"));
        if self.0.len() < 24 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Some of the moves that the player on a line of the venue may make now; and in which match, in which seat.
fn moves_for(venue: &Venue<'_>, line: u16) -> Option<(MatchId, Seat, Vec<Value>)> {
    let at = |players: &[u16]| players.iter().position(|&other| other == line);
    let (table, seat) = venue.all_tables().find_map(|table| Some((table, at(table.players())? as Seat)))?;
    let mut moves = Moves(Vec::new());
    venue.legal_moves(line, &mut moves);
    Some((table.id, seat, moves.0))
}

/// What a league was like from outside. Two runs of a seed must agree on all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// A hash of every call, answer and log line, in order.
    pub bytes: u64,
    /// Messages and bytes that went out, by match.
    pub traffic: BTreeMap<String, (u64, u64)>,
    /// Virtual milliseconds from the first registration to the last message.
    pub lasted: u64,
    /// How many inputs the box took.
    pub steps: u64,
    /// How many matches were played.
    pub matches: u64,
}

/// Plays the league of a seed in a box of the size it asks for.
pub fn league(setup: Setup) -> Trace {
    match (setup.players, setup.few_tables) {
        (..=8, true) => World::new(lend(&mut spaces::<8, 2, 28, 64>()), setup).play(),
        (..=8, false) => World::new(lend(&mut spaces::<8, 4, 28, 512>()), setup).play(),
        (..=32, true) => World::new(lend(&mut spaces::<32, 3, 496, 64>()), setup).play(),
        (..=32, false) => World::new(lend(&mut spaces::<32, 16, 496, 1024>()), setup).play(),
        _ => World::new(lend(&mut spaces::<128, 64, 8128, 1024>()), setup).play(),
    }
}

/// The same with a journal, and the power cut about every so many inputs; where `meddles` says so, the owner uses its
/// powers about every so many inputs too. Says how often each was.
pub fn league_with_power_cuts(setup: Setup, every: u64, meddles: Option<u64>) -> (Trace, u64, u64) {
    fn play(mut world: World<'_>, every: u64, meddles: Option<u64>) -> (Trace, u64, u64) {
        world.cut_the_power(every);
        world.owner.meddles = meddles;
        world.play_and_count()
    }
    match (setup.players, setup.few_tables) {
        (..=8, true) => play(World::new(lend(&mut spaces::<8, 2, 28, 64>()), setup), every, meddles),
        (..=8, false) => play(World::new(lend(&mut spaces::<8, 4, 28, 512>()), setup), every, meddles),
        (_, true) => play(World::new(lend(&mut spaces::<32, 3, 496, 64>()), setup), every, meddles),
        (_, false) => play(World::new(lend(&mut spaces::<32, 16, 496, 1024>()), setup), every, meddles),
    }
}

/// Something that will happen.
#[derive(Clone, Debug)]
enum Due {
    /// A call is on its way.
    Sent { line: u16, call: u32 },
    /// What an agent did about a call reaches the box.
    Act { line: u16, call: u32, agent: usize, act: Act },
    /// An agent registers once more.
    RegisterAgain(usize),
    /// An agent asks something.
    Query(usize),
    /// An agent leaves.
    Leave(usize),
    /// An agent answers what it may not have been asked.
    Stray(usize),
    /// Somebody sends something.
    Noise,
    /// The admin speaks.
    Admin(Command),
}

/// A call that an agent is busy with.
#[derive(Clone, Debug)]
struct Open {
    call: u32,
    text: Vec<u8>,
    /// Whether the agent has sent a message of its own since: the box may then forget what it asked.
    may_be_settled: bool,
}

impl Open {
    /// Whether it must be answered.
    fn is_question(&self) -> bool {
        ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "MOVE_REQUEST", "GAME_ERROR"].iter().any(|kind| self.is(kind))
    }

    /// Whether the call is of this type.
    fn is(&self, message_type: &str) -> bool {
        String::from_utf8_lossy(&self.text).contains(&format!("\"{message_type}\""))
    }
}

/// What the world knows of one match.
#[derive(Clone, Debug, Default)]
struct Course {
    opened: Option<u64>,
    /// When each of its players was first invited.
    invited: BTreeMap<usize, u64>,
    ended: Option<u64>,
    commitment: Option<String>,
    results: u32,
}

/// What an agent heard and understood: the message type and its round.
type Heard = Vec<(String, u64)>;

/// Room for two venues: the one that is there, and the one that was there before the power was cut.
pub type Spaces<const P: usize, const M: usize, const R: usize, const L: usize> =
    [Space<P, M, R, L, 32_768, 16_384>; 2];

/// Room for two venues of `P` players, `M` matches at once, `R` results and `L` entries of the log.
pub fn spaces<const P: usize, const M: usize, const R: usize, const L: usize>() -> Box<Spaces<P, M, R, L>> {
    Box::new([const { Space::new() }; 2])
}

/// Lends it.
pub fn lend<const P: usize, const M: usize, const R: usize, const L: usize>(
    spaces: &mut Spaces<P, M, R, L>,
) -> [Memory<'_>; 2] {
    spaces.each_mut().map(Space::lend)
}

/// The box, its players and everything between them.
pub struct World<'m> {
    setup: Setup,
    random: Random,
    venue: Venue<'m>,
    /// For the venue after a power cut, beside that which is lost.
    spare: Option<Memory<'m>>,
    master: Seed,
    now: u64,
    agents: Vec<Agent>,
    /// The agent at each line of the venue.
    at_line: Vec<usize>,
    open: Vec<Option<Open>>,
    queue: BTreeMap<(u64, u64), Due>,
    queued: u64,
    calls: BTreeSet<u32>,
    /// Matches by round and table.
    courses: BTreeMap<(u16, u16), Course>,
    /// Seeds of this league's matches, as they would look in a text.
    seeds: BTreeMap<Vec<u8>, MatchId>,
    records: Vec<Option<Record>>,
    /// Those of them that are in flash.
    safe: Vec<Option<Record>>,
    power: Option<power::Power>,
    owner: owner::Owner,
    /// Restarts and replays in this league: part of the seeds.
    attempts: u32,
    /// Standings by round, computed once.
    standings: BTreeMap<u16, Rc<Vec<checks::Row>>>,
    /// When a match last ended, or the admin last let the league go on.
    quiet_since: u64,
    was_over: bool,
    heard: Vec<Heard>,
    /// What an agent and the box call what they say to each other in a match.
    conversations: BTreeMap<(usize, String), Value>,
    /// Agents that have moved without being asked.
    acted: BTreeSet<usize>,
    /// What an agent last chose in a match.
    chosen: BTreeMap<(usize, String), Vec<String>>,
    /// The steps of matches, as bytes.
    films: BTreeMap<FilmId, Vec<u8>>,
    log_read: u64,
    bytes: DefaultHasher,
    traffic: BTreeMap<String, (u64, u64)>,
    steps: u64,
    matches: u64,
}

/// Keeps a text of any length.
#[derive(Default)]
struct Text(Vec<u8>);

impl Sink for Text {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writes a text in every way there is, and says it once.
fn written(random: &mut Random, write: impl Fn(&mut dyn Sink) -> Result<(), Full>) -> Vec<u8> {
    let mut text = Text::default();
    write(&mut text).expect("a text that is not cut short is written to its end");
    let mut counter = Counter::default();
    write(&mut counter).expect("what can be written can be counted");
    assert_eq!(counter.bytes, text.0.len(), "a text is as long as it was counted");
    if random.one_in(16) {
        let mut pieces = Vec::new();
        loop {
            let mut buf = vec![0; random.within(1, 700) as usize];
            let mut window = Window::new(pieces.len(), &mut buf);
            let is_last = write(&mut window).is_ok();
            assert!(is_last || !window.written().is_empty(), "a piece that is not the last has something in it");
            pieces.extend_from_slice(window.written());
            if is_last {
                break;
            }
        }
        assert_eq!(pieces, text.0, "a text in pieces is the same text");
    }
    text.0
}

impl<'m> World<'m> {
    /// The classroom in the morning: nobody has registered.
    pub fn new([memory, spare]: [Memory<'m>; 2], setup: Setup) -> Self {
        let mut random = Random::new(setup.seed ^ 0x5eed);
        let mut seed = || {
            let mut bytes = [0; 32];
            bytes.copy_from_slice(&random.bytes(32));
            Seed(bytes)
        };
        let (master, secret) = (seed(), seed());
        let start_at = random.one_in(2).then_some(setup.players as u16);
        let config = Config {
            game: setup.game,
            mode: setup.mode,
            timing: setup.timing,
            pacing: setup.pacing,
            start_at,
            endpoint: "http://10.0.0.1:8000/mcp".try_into().expect("it fits"),
            ..Config::default()
        };
        let venue = Venue::new(memory, config, master, secret);
        let open = vec![None; venue.capacity()];
        let horizon = 10u64.pow(random.within(2, 5) as u32);
        let timing = setup.timing;
        let quickest = timing.join_ms.min(timing.move_ms).min(timing.notice_ms);
        let all_instant = random.one_in(4);
        let agents: Vec<Agent> = (0..setup.players as usize)
            .map(|index| {
                let conduct = Conduct::any(&mut random, horizon);
                // A sound agent may be called in five dialects and three names before it understands.
                let latency = if all_instant || random.one_in(4) { 0 } else { random.within(1, quickest / 32) };
                Agent::any(&mut random, index, conduct, latency)
            })
            .collect();
        let now = setup.clock;
        let mut world = Self {
            venue,
            master,
            now,
            heard: vec![Vec::new(); agents.len()],
            agents,
            at_line: Vec::new(),
            open,
            spare: Some(spare),
            queue: BTreeMap::new(),
            queued: 0,
            calls: BTreeSet::new(),
            courses: BTreeMap::new(),
            seeds: BTreeMap::new(),
            records: Vec::new(),
            safe: Vec::new(),
            power: None,
            owner: owner::Owner::default(),
            attempts: 0,
            standings: BTreeMap::new(),
            quiet_since: now,
            was_over: false,
            conversations: BTreeMap::new(),
            acted: BTreeSet::new(),
            chosen: BTreeMap::new(),
            films: BTreeMap::new(),
            log_read: 0,
            bytes: DefaultHasher::new(),
            traffic: BTreeMap::new(),
            steps: 0,
            matches: 0,
            random,
            setup,
        };
        world.plan(horizon);
        world
    }

    /// A class of our choice, whom nobody disturbs.
    pub fn with_class(memories: [Memory<'m>; 2], setup: Setup, conducts: &[Conduct], latency: u64) -> Self {
        let mut world = Self::new(memories, setup);
        world.queue.clear();
        for (index, &conduct) in conducts.iter().enumerate() {
            world.agents[index] = Agent::any(&mut world.random, index, conduct, latency);
        }
        world
    }

    /// Puts into the queue what happens whatever the box does.
    fn plan(&mut self, horizon: u64) {
        for agent in 0..self.agents.len() {
            if let Conduct::Leaves(at) = self.agents[agent].conduct {
                self.later(at, Due::Leave(agent));
            }
            for _ in 0..self.random.within(0, 2) {
                let at = self.random.within(0, horizon);
                let due = match self.random.within(0, 3) {
                    0 => Due::RegisterAgain(agent),
                    1 if !self.agents[agent].is_sound() => Due::Stray(agent),
                    1 | 2 => Due::Query(agent),
                    _ => Due::Noise,
                };
                self.later(at, due);
            }
        }
        for _ in 0..self.random.within(0, 2) {
            let at = self.random.within(0, horizon);
            let resumed = at + self.random.within(0, horizon);
            self.later(at, Due::Admin(Command::Pause));
            self.later(resumed, Due::Admin(Command::Resume));
            self.later(self.random.clone().within(0, horizon), Due::Admin(Command::Rematch));
            self.later(at, Due::Admin(Command::Start));
        }
        // Whatever was paused last goes on in the end.
        self.later(2 * horizon + 1, Due::Admin(Command::Resume));
    }

    fn later(&mut self, after: u64, due: Due) {
        self.queued += 1;
        self.queue.insert((self.now + after, self.queued), due);
    }

    fn moment(&self) -> Now {
        Now { ms: self.now, utc: Utc::at(MORNING + (self.now - self.setup.clock) / 1000) }
    }

    /// Everybody registers and the league starts.
    pub fn open(&mut self) {
        self.register_all();
        if self.venue.stage() == Stage::Waiting {
            self.venue.command(self.moment(), Command::Start).expect("there are enough players");
            self.keep();
        }
        self.begin();
        self.serve();
    }

    /// How many matches have a result.
    pub fn results(&self) -> u64 {
        self.matches
    }

    /// Virtual milliseconds from the morning to the last result.
    pub fn last_result(&self) -> u64 {
        self.quiet_since - self.setup.clock
    }

    /// Virtual milliseconds since the morning.
    pub fn elapsed(&self) -> u64 {
        self.now - self.setup.clock
    }

    /// The admin resets the box: every line is hung up and nobody is known any more. Replies still come in.
    pub fn reset(&mut self) {
        self.venue.command(self.moment(), Command::Reset).expect("a reset is always obeyed");
        self.at_line.clear();
        self.serve();
        assert!(self.open.iter().all(Option::is_none), "every line is hung up");
        assert!(self.venue.players().is_empty());
        assert_eq!(self.venue.next_deadline(), None, "nothing is left to wait for");
        let stale = self.agents[0].message("LEAGUE_QUERY", json!({"query_type":"GET_STANDINGS"}));
        let body = self.agents[0].dialect.wrap("league_query", 7, stale).to_string();
        let answer = self.say(self.agents[0].address, body.as_bytes()).expect("a query is answered");
        assert_eq!(self.agents[0].dialect.unwrap_answer(&answer)["error_code"], "E012", "old tokens open nothing");
        self.agents.iter_mut().for_each(|agent| agent.token.clear());
        self.agents.iter_mut().for_each(|agent| agent.has_left = false);
        self.queue.retain(|_, due| matches!(due, Due::Act { .. }));
    }

    /// The whole day: everybody registers, the league is played, sometimes a second one.
    pub fn play(self) -> Trace {
        self.play_and_count().0
    }

    fn play_and_count(mut self) -> (Trace, u64, u64) {
        self.open();
        self.run();
        self.check_the_end();
        if self.may_play_again() && self.random.one_in(8) {
            self.venue.command(self.moment(), Command::Rematch).expect("a rematch follows a finished league");
            self.keep();
            self.begin();
            self.serve();
            self.run();
            self.check_the_end();
        }
        let cuts = self.power.as_ref().map_or(0, |power| power.cuts);
        let trace = Trace {
            bytes: self.bytes.finish(),
            lasted: self.elapsed(),
            steps: self.steps,
            matches: self.matches,
            traffic: self.traffic,
        };
        (trace, cuts, self.owner.acts)
    }

    fn may_play_again(&self) -> bool {
        self.venue.is_over()
            && self.agents.iter().filter(|agent| !agent.has_left).count()
                >= usize::from(*sizes(self.setup.game).start())
    }

    /// Runs until the league is over and the last event has come.
    fn run(&mut self) {
        let enough = 200_000 + 20_000 * self.setup.players * self.setup.players;
        let before = self.steps;
        while self.step() {
            assert!(self.steps - before < enough, "a league comes to its end");
        }
        assert!(self.venue.is_over(), "when nothing is left to happen, the league is over");
    }

    fn register_all(&mut self) {
        let game = self.setup.game.rules().name;
        for index in 0..self.agents.len() {
            let agent = self.agents[index].clone();
            let answer = self.say(agent.address, agent.registration(game).to_string().as_bytes());
            let answer = agent.registers_in.unwrap_answer(&answer.expect("a registration is answered"));
            assert_eq!(answer["status"], "ACCEPTED", "a flawless registration is accepted: {answer}");
            self.agents[index].id = answer["player_id"].as_str().expect("an id").into();
            self.agents[index].token = answer["auth_token"].as_str().expect("a token").into();
        }
    }

    /// Takes note of a league that has just begun.
    fn begin(&mut self) {
        let line = |id: String| self.agents.iter().position(|agent| agent.id == id).expect("an id is an agent's");
        self.at_line = self.venue.players().iter().map(|player| line(player.id().to_string())).collect();
        let schedule = self.venue.schedule();
        let number = self.venue.league_id().number;
        let ids = (0..schedule.total_matches() as usize).filter_map(|index| schedule.at(index));
        let ids: Vec<MatchId> = ids.map(|(round, table)| MatchId { round, table }).collect();
        let seed = |id: &MatchId| self.master.derive(Purpose::Match, [number, id.round.into(), id.table.into()]);
        self.seeds = ids.iter().map(|id| (seed(id).to_string().into_bytes(), *id)).collect();
        self.courses = ids.iter().map(|id| ((id.round, id.table), Course::default())).collect();
        self.records = vec![None; ids.len()];
        self.safe = self.records.clone();
        self.attempts = 0;
        self.owner.told.clear();
        self.owner.has_acted = false;
        self.standings.clear();
        self.quiet_since = self.now;
        self.heard.iter_mut().for_each(Vec::clear);
        self.chosen.clear();
    }

    /// Lets the next thing happen, and looks at everything that must hold. False when there is nothing left.
    pub fn step(&mut self) -> bool {
        self.meddle_at_times();
        self.act_unasked_at_times();
        let is_idle = self.queue.is_empty() && self.venue.next_deadline().is_none();
        if self.venue.waits_for_owner() && (is_idle || self.random.one_in(8)) {
            self.venue.command(self.moment(), Command::Next).expect("the next round waits for it");
            self.quiet_since = self.now;
            self.keep();
            self.serve();
            self.check_the_moment();
        }
        let event = self.queue.first_key_value().map(|(&key, _)| key);
        let deadline = self.venue.next_deadline();
        let tick_first = match (event, deadline) {
            (None, None) => return false,
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (Some((at, _)), Some(deadline)) => deadline < at || deadline == at && self.random.one_in(2),
        };
        self.steps += 1;
        if tick_first {
            self.now = deadline.unwrap_or(self.now);
            self.venue.handle(self.moment(), Event::Tick);
            let next = self.venue.next_deadline();
            assert!(next.is_none_or(|next| next > self.now), "a deadline that has come is dealt with");
        } else if let Some(((at, _), due)) = self.queue.pop_first() {
            self.now = at;
            self.happen(due);
        }
        self.take_the_steps();
        self.keep_or_lose();
        self.serve_after(tick_first);
        self.check_the_moment();
        true
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Sent { line, call } => self.venue.handle(self.moment(), Event::Sent { player: line, call }),
            Due::Act { line, call, agent, act } => self.act(line, call, agent, act),
            Due::RegisterAgain(agent) => self.register_again(agent),
            Due::Query(agent) => self.query(agent),
            Due::Leave(agent) => self.leave(agent),
            Due::Stray(agent) => self.stray(agent),
            Due::Noise => self.noise(),
            Due::Admin(command) => {
                let was = (self.venue.stage(), self.venue.is_paused());
                let may_play_again = self.may_play_again();
                let obeyed = self.venue.command(self.moment(), command).is_ok();
                self.keep();
                let sense = match (command, was) {
                    (Command::Pause, (Stage::Running(_), false)) | (Command::Resume, (Stage::Running(_), true)) => true,
                    (Command::Rematch, (Stage::Completed, _)) => may_play_again,
                    _ => false,
                };
                if obeyed && command == Command::Resume {
                    self.quiet_since = self.now;
                }
                if obeyed && command == Command::Rematch {
                    self.begin();
                }
                assert_eq!(obeyed, sense, "{command:?} is obeyed when it makes sense, {was:?}");
            }
        }
    }

    /// What an agent did reaches the box.
    fn act(&mut self, line: u16, call: u32, agent: usize, act: Act) {
        let is_open = self.open[usize::from(line)].as_ref().is_some_and(|open| open.call == call);
        if is_open && !matches!(act, Act::Say(_)) {
            if self.random.one_in(4) {
                self.check_the_text(line);
            }
            self.open[usize::from(line)] = None;
        } else if let (Some(open), Act::Reply(..)) = (&mut self.open[usize::from(line)], &act) {
            // It may be late and count all the same.
            open.may_be_settled = true;
        }
        let now = self.moment();
        match act {
            Act::Reply(status, body) => {
                self.venue.handle(now, Event::Reply { player: line, call, status, body: &body });
            }
            Act::Refuse => {
                self.venue.handle(now, Event::Failed { player: line, call, failure: Failure::Unreachable });
            }
            Act::BreakOff => self.venue.handle(now, Event::Failed { player: line, call, failure: Failure::Unreadable }),
            Act::Say(body) => self.say_as(agent, &body),
        }
    }

    /// An agent sends a message of its own.
    fn say_as(&mut self, agent: usize, body: &[u8]) {
        if let Some(line) = self.at_line.iter().position(|&at| at == agent)
            && let Some(open) = &mut self.open[line]
        {
            open.may_be_settled = true;
        }
        self.say(self.agents[agent].address, body);
    }

    /// Sends a message to the box and reads the answer.
    fn say(&mut self, from: IpAddr, body: &[u8]) -> Option<Value> {
        let now = self.moment();
        let via = if self.random.one_in(8) { Via::Register } else { Via::Post };
        let answer = self.venue.request(now, from, via, body);
        self.keep();
        let text = written(&mut self.random, |sink| self.venue.write_answer(&answer, sink));
        assert_eq!(text.is_empty(), answer.is_empty(), "an answer that is one has words");
        self.bytes.write(&text);
        if text.is_empty() {
            return None;
        }
        let own = self.agents.iter().find(|agent| agent.address == from).map(|agent| agent.token.clone());
        self.check_no_secrets(&text, own.as_deref());
        Some(serde_json::from_slice(&text).expect("an answer is JSON"))
    }

    fn register_again(&mut self, agent: usize) {
        let stage = self.venue.stage();
        let was = self.agents[agent].clone();
        if was.has_left && stage == Stage::Completed {
            // It would be somebody else in the next league.
            return;
        }
        let body = was.registration(self.setup.game.rules().name).to_string();
        let answer = self.say(was.address, body.as_bytes()).expect("a registration is answered");
        let answer = was.registers_in.unwrap_answer(&answer);
        if stage != Stage::Waiting && !was.has_left {
            assert_eq!((&answer["player_id"], &answer["auth_token"]), (&json!(was.id), &json!(was.token)));
        } else {
            assert_eq!(answer["status"], "REJECTED", "who has left does not come back into a running league");
        }
    }

    fn query(&mut self, agent: usize) {
        let what = self.random.pick(&[
            "GET_NEXT_MATCH",
            "GET_STANDINGS",
            "GET_LEAGUE_STATUS",
            "GET_PLAYER_STATS",
            "GET_MATCH_HISTORY",
            "GET_SCHEDULE",
            "GET_PLAYER_DIRECTORY",
            "GET_REGISTRATIONS",
        ]);
        let asker = self.agents[agent].clone();
        let query = asker.message("LEAGUE_QUERY", json!({"query_type":what,"query_params":{"player_id":asker.id}}));
        let body = asker.dialect.wrap("league_query", 7, query).to_string();
        let answer = self.say(asker.address, body.as_bytes()).expect("a query is answered");
        let answer = asker.dialect.unwrap_answer(&answer);
        let is_known = self.venue.players().iter().any(|player| player.id().to_string() == asker.id);
        assert_eq!(answer["status"] == "SUCCESS", is_known, "{what} is answered to whoever is in: {answer}");
    }

    fn leave(&mut self, agent: usize) {
        let leaver = self.agents[agent].clone();
        if leaver.has_left && !self.venue.players().iter().any(|player| player.id().to_string() == leaver.id) {
            // It was removed, and a league has begun without it.
            return;
        }
        let message = leaver.message("LEAGUE_DEREGISTER_REQUEST", json!({}));
        let body = leaver.dialect.wrap("deregister_player", 8, message).to_string();
        let answer = self.say(leaver.address, body.as_bytes()).expect("a farewell is answered");
        assert_eq!(leaver.dialect.unwrap_answer(&answer)["status"], "DEREGISTERED");
        self.agents[agent].has_left = true;
    }

    /// Where a game lets players act who owe no move, one of them sometimes does.
    fn act_unasked_at_times(&mut self) {
        let may_act = |table: &protocol_core::venue::Table| !table.play.game().may_act().is_empty();
        if !self.venue.tables().any(may_act) || !self.random.one_in(8) {
            return;
        }
        let line = self.random.any() as usize % self.at_line.len();
        let agent = self.agents[self.at_line[line]].clone();
        let Some((id, seat, moves)) = moves_for(&self.venue, line as u16) else { return };
        let play = &self.venue.table(id).expect("it plays there").play;
        if play.hears(seat) || !play.takes(seat, None) || agent.has_left {
            return;
        }
        let acts = play.game().acts();
        let Some(unasked) = moves.get(self.random.any() as usize % moves.len().max(1)) else { return };
        let Some(conversation) = self.conversations.get(&(self.at_line[line], id.to_string())) else { return };
        let more = json!({"match_id":id.to_string(),"conversation_id":conversation,"move":unasked});
        let message = agent.message("MOVE_RESPONSE", more);
        let body = agent.dialect.wrap("move_response", 5, message).to_string();
        let answer = self.say(agent.address, body.as_bytes()).expect("an act is answered");
        assert_eq!(agent.dialect.unwrap_answer(&answer)["status"], "RECEIVED", "{unasked} was allowed: {answer}");
        self.acted.insert(self.at_line[line]);
        let game = self.venue.table(id).map(|table| table.play.game());
        assert!(game.is_none_or(|game| !game.may_act().has(seat) || game.acts() > acts), "and was done");
        self.serve();
        self.check_the_moment();
    }

    /// An answer nobody may have asked for, and perhaps a wrong one.
    fn stray(&mut self, agent: usize) {
        let (name, method) = *self.random.pick(&[
            &("GAME_JOIN_ACK", "game_join_ack"),
            &("CHOOSE_PARITY_RESPONSE", "choose_parity_response"),
            &("MOVE_RESPONSE", "move_response"),
            &("MATCH_RESULT_REPORT", "report_match_result"),
        ]);
        let more = json!({"accept":self.random.one_in(2),"parity_choice":self.random.pick(&["even", "odd", "maybe"]),
            "match_id":self.random.pick(&["R1M1", "R2M1", ""])});
        let stray = &self.agents[agent];
        let mut message = stray.message(name, more);
        if self.random.one_in(2) {
            agent::lie(&mut message, &mut self.random);
        }
        let body = self.agents[agent].dialect.wrap(method, 9, message).to_string();
        self.say_as(agent, body.as_bytes());
    }

    /// A stranger.
    fn noise(&mut self) {
        if self.venue.stage() == Stage::Completed {
            // Whoever registers then is in the next league: no stranger.
            return;
        }
        let random = &mut self.random;
        let stranger = |random: &mut Random| {
            let dialect = Dialect::any(random);
            let message = json!({"message_type":random.pick(&["LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST",
                "LEAGUE_QUERY", "GAME_JOIN_ACK", "LEAGUE_DEREGISTER_REQUEST", "ping", "FLY"]),
                "auth_token":random.pick(&["", "tok_p01_", "tok_p01_00000000000000000000000000000000", "tok_ref01_"]),
                "sender":"player:P01","player_meta":{"display_name":"Stranger","contact_endpoint":"http://10.9.9.9"},
                "query_type":"GET_STANDINGS"});
            dialect.wrap("handle_message", 3, message).to_string().into_bytes()
        };
        let body = match random.within(0, 3) {
            0 | 1 => stranger(random),
            2 => agent::gibberish(random),
            _ => {
                // A message with one byte changed.
                let mut body = stranger(random);
                let at = random.any() as usize % body.len();
                body[at] = random.any() as u8;
                body
            }
        };
        self.say(IpAddr::V4(Ipv4Addr::new(10, 9, 9, 9)), &body);
    }

    fn serve(&mut self) {
        self.serve_after(true);
    }

    /// Carries the calls of the box to the agents. Only the clock, or its player's leaving, may take an unanswered call
    /// off a line; news, and what needs no answer any more, make way for a question too.
    fn serve_after(&mut self, the_clock_moved: bool) {
        let mut named = Vec::new();
        while let Some(Output::Line(line)) = self.venue.poll_output() {
            assert!(!named.contains(&line), "a line is named once");
            named.push(line);
            let now_open = self.venue.call(line).map(|call| (call.id, call.to.ip()));
            let was = self.open[usize::from(line)].as_ref();
            let was_open = was.map(|open| open.call);
            // A round may have another result while somebody is told about it.
            let is_told_anew = self.owner.has_acted && was.is_some_and(|open| open.is("ROUND_COMPLETED"));
            if now_open.map(|(id, _)| id) == was_open {
                continue;
            }
            if was_open.is_some() {
                let has_left = self.at_line.get(usize::from(line)).is_none_or(|&agent| self.agents[agent].has_left)
                    || now_open.is_none()
                    || is_told_anew
                    || was.is_some_and(|open| open.may_be_settled || !open.is_question());
                assert!(the_clock_moved || has_left, "one call at a time: line {line} has not answered {was_open:?}");
                self.open[usize::from(line)] = None;
            }
            if let Some((call, ip)) = now_open {
                self.deliver(line, call, ip);
            }
        }
    }

    fn deliver(&mut self, line: u16, call: u32, ip: IpAddr) {
        assert!(self.calls.insert(call), "no two calls share an id");
        let text = written(&mut self.random, |sink| self.venue.write_call(line, sink));
        self.bytes.write(&text);
        self.check_no_secrets(&text, None);
        let spoken: Value = serde_json::from_slice(&text).expect("a call is JSON");
        let agent = self.at_line[usize::from(line)];
        assert_eq!(ip, self.agents[agent].address, "a call goes to its player");
        assert!(spoken["id"] == call || spoken["jsonrpc"].is_null(), "a call carries its id");
        let (dialect, name, message) = Dialect::unwrap_call(&spoken);
        let of_match = message.get("match_id").and_then(Value::as_str).unwrap_or("no match");
        self.conversations.insert((agent, of_match.into()), message["conversation_id"].clone());
        let traffic = self.traffic.entry(of_match.into()).or_default();
        *traffic = (traffic.0 + 1, traffic.1 + text.len() as u64);
        self.check_the_message(agent, self.agents[agent].understands(dialect, name), message);
        let patience = self.setup.timing.join_ms.max(self.setup.timing.notice_ms);
        let moves = moves_for(&self.venue, line).map_or(Vec::new(), |(_, _, moves)| moves);
        let acts = self.agents[agent].hear(self.now - self.setup.clock, &spoken, &moves, patience, &mut self.random);
        self.remember_choices(agent, of_match, &acts);
        self.later(0, Due::Sent { line, call });
        for (after, act) in acts {
            self.later(after, Due::Act { line, call, agent, act });
        }
        self.open[usize::from(line)] = Some(Open { call, text, may_be_settled: false });
    }

    /// Keeps what an honest agent chose, to be compared with what GAME_OVER says it chose.
    fn remember_choices(&mut self, agent: usize, of_match: &str, acts: &[(u64, Act)]) {
        if self.agents[agent].conduct != Conduct::Honest {
            return;
        }
        for (_, act) in acts {
            let Act::Reply(_, body) = act else { continue };
            let text = String::from_utf8_lossy(body).replace('\\', "");
            for choice in ["even", "odd"] {
                if text.contains(&format!("\"{choice}\"")) {
                    self.chosen.entry((agent, of_match.into())).or_default().push(choice.into());
                }
            }
        }
    }

    /// The log since it was last read. What a small ring has dropped by then is gone.
    fn read_log(&mut self) {
        while let Some((number, entry)) = self.venue.log().at_or_after(self.log_read) {
            self.log_read = number + 1;
            let mut line = Text::default();
            protocol_core::json::write(&entry, &mut line).expect("there is room");
            self.check_no_secrets(&line.0, None);
            self.bytes.write(&line.0);
            if let (Happening::MatchOver(_), Some(id)) = (entry.what, entry.at_match) {
                self.courses.entry((id.round, id.table)).or_default().results += 1;
            }
        }
    }
}
