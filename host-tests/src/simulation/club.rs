//! A club: agents of League of Agents that dial in and wait in queues, and agents of MoltGame that ask by heartbeats and sit down
//! in rooms (`polls.rs`), language models that call MCP's tools (`models.rs`), and agents of AGON that sit down at tables
//! (`tables.rs`). They play whatever they find others for, in virtual time. Some are late, some break rules, some drop and
//! come back; the power is cut; and now and then the teacher starts a league in the middle of it. With the feature `toys` some
//! speak the toy protocol: they ask, know no queues, and play in the league. A seed decides all of it.

mod models;
mod polls;
mod tables;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use appliance::journal::ram::RamFlash;
use appliance::journal::{FRAME, Log, commit, restore};
use embassy_futures::block_on;
use protocol_core::fair::Seed;
use protocol_core::games::{Game, GameKind};
use protocol_core::ids::MatchId;
use protocol_core::journal::bytes::{Reader, Writer};
use protocol_core::protocols::league_of_agents::{Cursor, Enrolment, Reply, Word};
use protocol_core::season::Rating;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Deed, Event, FilmId, Memory, Output, Stage, Step, Venue, sizes};
use serde_json::{Value, json};

use super::random::Random;
use super::{MORNING, Text, agent, moves_for, moves_of};

/// The most power cuts of an evening: a league counts its restarts in eight bits.
const CUTS: u64 = 250;
/// What opens the box to its owner.
const ADMIN_CODE: &str = "class-7b";

/// How an agent behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Moves in time, by the rules.
    Sound,
    /// Tries moves that break a rule before it makes a good one.
    Fumbles,
    /// Lets some turns run out.
    Sleeps,
    /// Drops its connection and comes back.
    Drops,
}

/// What an agent speaks.
enum Tongue {
    /// League of Agents: it dials in.
    Dials,
    /// The toy protocol.
    Asks,
    /// MoltGame.
    Polls(polls::Notes),
    /// MCP.
    Models(models::Notes),
    /// AGON.
    Sits(tables::Notes),
}

/// An agent of the club.
struct Member {
    speaks: Tongue,
    key: String,
    issue: u32,
    manner: Manner,
    latency: u64,
    /// So many games it still wants.
    wants: u32,
    is_there: bool,
    told: Cursor,
    /// Whether it has a move, or its return, on the way.
    is_busy: bool,
    /// Rated games it has played, by our own count.
    games: u16,
}

/// Something that will happen.
#[derive(Clone, Copy, Debug)]
enum Due {
    Join(usize),
    Move(usize),
    Drop(usize),
    Return(usize),
    Noise(usize),
    /// A heartbeat of MoltGame.
    Poll(usize),
    /// A move of MoltGame.
    Submit(usize),
    /// A model asks for its turn, and again when it has waited.
    Turn(usize),
    /// It was woken while it waited.
    Woken(usize),
    /// A model moves.
    Choose(usize),
    /// A heartbeat of AGON.
    Beat(usize),
    /// A vote of AGON.
    Vote(usize),
    Start,
}

/// What a club was like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evening {
    /// Games from the queue that were played to an end.
    pub games: u64,
    /// Matches of a league.
    pub matches: u64,
    /// Moves that agents of MoltGame made.
    pub polled: u64,
    /// Moves that models made.
    pub called: u64,
    /// Messages that agents of AGON sent,
    pub said: u64,
    /// and speeches that others heard as they were sent.
    pub heard: u64,
    /// Power cuts.
    pub cuts: u64,
    /// How many inputs the box took.
    pub steps: u64,
}

/// The box, its agents and everything between them.
pub struct Club<'m> {
    random: Random,
    venue: Venue<'m>,
    spare: Option<Memory<'m>>,
    now: u64,
    members: Vec<Member>,
    /// What they queue for.
    games: Vec<GameKind>,
    queue: BTreeMap<(u64, u64), Due>,
    queued: u64,
    films: BTreeMap<FilmId, Vec<u8>>,
    flash: Option<(Log<RamFlash<Vec<u8>>>, u64)>,
    /// What is known of each game of the queue that is over, in the order in which they ended.
    over: Vec<(MatchId, String)>,
    /// By which it is seen that there are more of them: the last game of the queue, and how many matches the league has had.
    counted: (u16, u32),
    /// When each game began that runs.
    began: BTreeMap<(u16, u16), u64>,
    /// Results, and the ratings of the members, as of when all of it was last in flash.
    safe: (Vec<(MatchId, String)>, Vec<Rating>),
    /// The same of what AGON knows of its members.
    records: Vec<String>,
    /// One in so many members speaks AGON.
    others: u64,
    evening: Evening,
}

/// Whether there is a queue for it. Even or odd is played in leagues alone.
fn is_queued_for(game: GameKind) -> bool {
    !matches!(game, GameKind::EvenOdd | GameKind::EvenOdd10)
}

/// Any game, but a long one only once in a while.
fn any_game(random: &mut Random) -> GameKind {
    loop {
        let game = super::any_game(random);
        if random.one_in(1 + moves_of(game) / 20) {
            return game;
        }
    }
}

impl<'m> Club<'m> {
    /// The club that a seed decides. Where `every` says so, the power is cut about every so many inputs.
    pub fn new([memory, spare]: [Memory<'m>; 2], seed: u64, every: Option<u64>) -> Self {
        let mut random = Random::new(seed ^ 0xc1ab);
        let game = any_game(&mut random);
        let endpoint = "http://10.0.0.1:8000/mcp".try_into().expect("it fits");
        // Who asks may do so from one machine, all of them.
        let config = Config { game, endpoint, per_address: Some(8), ..Config::default() };
        let mut venue = Venue::new(memory, config, Seed([seed as u8; 32]), Seed([!seed as u8; 32]));
        let flash = every.map(|every| {
            let mut log = Log::new(RamFlash::new(vec![0xff; 24 * 2048]));
            assert_eq!(block_on(log.open(&mut [0; FRAME])), Ok(false), "a new flash is empty");
            venue.keep_facts();
            (log, every)
        });
        let mut games: Vec<GameKind> = (0..random.within(1, 2)).map(|_| any_game(&mut random)).collect();
        games.iter_mut().filter(|game| !is_queued_for(**game)).for_each(|game| *game = GameKind::Echo);
        let mut club = Self {
            random,
            venue,
            spare: Some(spare),
            now: 0,
            members: Vec::new(),
            games,
            queue: BTreeMap::new(),
            queued: 0,
            films: BTreeMap::new(),
            flash,
            over: Vec::new(),
            counted: (0, 0),
            began: BTreeMap::new(),
            safe: (Vec::new(), Vec::new()),
            records: Vec::new(),
            others: if seed.is_multiple_of(4) { 1 } else { 6 },
            evening: Evening::default(),
        };
        club.keep();
        for index in 0..club.random.within(2, 8) as usize {
            club.enrol(index);
        }
        if club.random.one_in(3) {
            let at = club.random.within(0, 60_000);
            club.later(at, Due::Start);
        }
        club
    }

    fn moment(&self) -> Now {
        Now { ms: self.now, utc: Utc::at(MORNING + self.now / 1000) }
    }

    fn later(&mut self, after: u64, due: Due) {
        self.queued += 1;
        self.queue.insert((self.now + after, self.queued), due);
    }

    /// Says a line of the toy protocol, if there is one.
    fn ask(&mut self, line: &str) -> String {
        #[cfg(feature = "toys")]
        {
            let (now, from) = (self.moment(), IpAddr::V4(Ipv4Addr::new(10, 0, 2, 1)));
            protocol_core::protocols::toy::hear(&mut self.venue, now, from, line).to_string()
        }
        #[cfg(not(feature = "toys"))]
        unreachable!("nobody says {line}")
    }

    fn enrol(&mut self, index: usize) {
        if cfg!(feature = "toys") && self.random.one_in(4) {
            let answer = self.ask(&format!("join Agent {index}"));
            let key = answer.strip_prefix("welcome ").expect("a flawless registration").to_string();
            self.keep();
            let issue = key.parse().expect("a number");
            return self.enter(Tongue::Asks, key, issue);
        }
        if self.random.one_in(self.others) {
            return self.register_for_tables(index);
        }
        if self.random.one_in(3) {
            return self.join_as_model(index);
        }
        if self.random.one_in(2) {
            return self.register(index);
        }
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 1, index as u8 + 1));
        let body = json!({"name": format!("Agent {index}")}).to_string();
        let enrolment = self.venue.enrol(self.moment(), from, body.as_bytes());
        let Enrolment::Done(issue, _) = enrolment else { panic!("a flawless registration: {enrolment:?}") };
        self.keep();
        let mut text = Text::default();
        self.venue.write_enrolment(enrolment, &mut text).expect("there is room");
        let answer: Value = serde_json::from_slice(&text.0).expect("an answer is JSON");
        let key = answer["apiKey"].as_str().expect("a key").into();
        self.enter(Tongue::Dials, key, issue);
        let at = self.random.within(0, 5_000);
        self.later(at, Due::Return(index));
    }

    fn enter(&mut self, speaks: Tongue, key: String, issue: u32) {
        let manner = match self.random.within(0, 7) {
            0..=3 => Manner::Sound,
            4 => Manner::Fumbles,
            5 => Manner::Sleeps,
            _ => Manner::Drops,
        };
        let dials = matches!(speaks, Tongue::Dials);
        self.members.push(Member {
            speaks,
            key,
            issue,
            manner,
            latency: self.random.within(0, 2_000),
            wants: self.random.within(0, 4) as u32,
            is_there: !dials,
            told: Cursor::default(),
            is_busy: dials,
            games: 0,
        });
    }

    /// The whole evening.
    pub fn play(mut self) -> Evening {
        while self.step() {
            assert!(self.evening.steps < 200_000, "an evening comes to its end");
        }
        assert_eq!(self.venue.all_tables().count(), 0, "when nothing is left to happen, nobody plays");
        assert!(self.venue.stage() == Stage::Waiting || self.venue.is_over(), "a league that began is over");
        self.evening
    }

    /// Lets the next thing happen, and looks at everything that must hold. False when there is nothing left.
    fn step(&mut self) -> bool {
        let event = self.queue.first_key_value().map(|(&key, _)| key);
        let deadline = self.venue.next_deadline();
        let tick_first = match (event, deadline) {
            (None, None) => return false,
            (Some((at, _)), Some(deadline)) => deadline <= at,
            (event, _) => event.is_none(),
        };
        self.evening.steps += 1;
        if tick_first {
            self.now = deadline.unwrap_or(self.now);
            self.venue.handle(self.moment(), Event::Tick);
            assert!(self.venue.next_deadline().is_none_or(|next| next > self.now), "what is due is dealt with");
        } else if let Some(((at, _), due)) = self.queue.pop_first() {
            self.now = at;
            self.happen(due);
        }
        self.take_the_steps();
        if !self.survive() {
            self.restart();
        }
        let rung: Vec<_> = std::iter::from_fn(|| self.venue.poll_output()).map(|Output::Line(line)| line).collect();
        self.check_the_bells(&rung);
        self.tell();
        self.check();
        true
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Start => {
                let is_enough = self.members.len() >= usize::from(*sizes(self.venue.config().game).start());
                let obeyed = self.venue.command(self.moment(), Command::Start).is_ok();
                assert_eq!(obeyed, is_enough && self.venue.stage() != Stage::Waiting);
            }
            Due::Return(index) if self.sits(index) => self.dial_in(index),
            Due::Return(index) => self.dial(index),
            // Who asks has no connection to drop; it thinks for a while longer.
            Due::Drop(index) if self.asks(index) => self.later(1_000, Due::Move(index)),
            Due::Drop(index) => {
                self.members[index].is_there = false;
                let player = self.line(index);
                self.venue.handle(self.moment(), Event::Gone { player, why: "it broke" });
                let away = *self.random.pick(&[&10, &3_000, &200_000]);
                self.later(away, Due::Return(index));
            }
            Due::Join(index) if self.sits(index) => self.sit(index),
            Due::Join(index) => {
                let game = self.games[self.random.any() as usize % self.games.len()];
                let reply = self.hear(index, &json!({"type":"join_queue","gameType":game.rules().name}));
                assert!(matches!(reply, Reply::Queued(..) | Reply::Seated), "{reply:?}");
            }
            Due::Noise(index) if self.asks(index) => {
                let noise = *self.random.pick(&[&"look", &"look 0", &"play 0 {}", &"dance", &""]);
                assert_eq!(self.ask(noise), "say join, look or play");
            }
            Due::Noise(index) if self.sits(index) => self.noise(index),
            Due::Noise(index) => {
                let noise = agent::gibberish(&mut self.random);
                self.hear_bytes(index, &noise);
            }
            Due::Move(index) if self.sits(index) => self.speak(index),
            Due::Move(index) => self.make_a_move(index),
            Due::Beat(index) => self.beat(index),
            Due::Vote(index) => self.cast(index),
            Due::Poll(index) => self.poll(index),
            Due::Submit(index) => self.submit(index),
            Due::Turn(index) => self.ask_for_turn(index, false),
            Due::Woken(index) => self.ask_for_turn(index, true),
            Due::Choose(index) => self.choose(index),
        }
    }

    /// An agent that was not there is.
    fn dial(&mut self, index: usize) {
        let body = json!({"type":"authenticate","token":self.members[index].key}).to_string();
        let reply = self.venue.hear_arena(self.moment(), None, body.as_bytes());
        let member = &mut self.members[index];
        assert_eq!(reply, Reply::Authenticated(member.issue), "a key opens the box for as long as it stands");
        (member.is_there, member.is_busy, member.told) = (true, false, Cursor::default());
        let player = self.line(index);
        self.venue.handle(self.moment(), Event::Arrived { player });
        self.want(index);
    }

    /// An agent that plays nothing looks for a game, if it wants one.
    fn want(&mut self, index: usize) {
        if self.members[index].wants > 0 {
            self.members[index].wants -= 1;
            let after = self.random.within(0, 3_000);
            self.later(after, Due::Join(index));
        }
    }

    /// Whether an agent speaks the toy protocol.
    fn asks(&self, index: usize) -> bool {
        matches!(self.members[index].speaks, Tongue::Asks)
    }

    fn line(&self, index: usize) -> u16 {
        self.venue.line_of(self.members[index].issue).expect("nobody leaves")
    }

    fn hear(&mut self, index: usize, message: &Value) -> Reply {
        self.hear_bytes(index, message.to_string().as_bytes())
    }

    /// Whoever has dropped says nothing.
    fn hear_bytes(&mut self, index: usize, body: &[u8]) -> Reply {
        let issue = self.members[index].issue;
        if !self.members[index].is_there {
            return Reply::Seated;
        }
        let reply = self.venue.hear_arena(self.moment(), Some(issue), body);
        let mut text = Text::default();
        if self.venue.write_reply(reply, self.moment().utc, &mut text).is_ok() {
            serde_json::from_slice::<Value>(&text.0).expect("an answer is JSON");
        }
        reply
    }

    /// An agent does what it may, be it nothing.
    fn make_a_move(&mut self, index: usize) {
        self.members[index].is_busy = false;
        let place = moves_for(&self.venue, self.line(index));
        let Some((id, seat, moves)) = place.filter(|_| self.members[index].is_there) else { return };
        let Some(table) = self.venue.table(id) else { return };
        let takes = table.play.takes(seat, None);
        let Some(wanted) = moves.get(self.random.any() as usize % moves.len().max(1)) else {
            return assert!(!takes, "{id}: a game whose moves cannot be listed needs its own agents here");
        };
        if self.asks(index) {
            let key = self.members[index].key.clone();
            if takes && self.members[index].manner == Manner::Fumbles && self.random.one_in(2) {
                let answer = self.ask(&format!("play {key} [\"?\"]"));
                assert!(answer.starts_with("refused "), "no game has such a move: {answer}");
            }
            let answer = self.ask(&format!("play {key} {wanted}"));
            return assert!(answer == "taken" || !takes, "a listed move in time is played: {wanted} {answer}");
        }
        let Some(picture) = self.venue.picture_for(self.moment(), self.members[index].issue) else { return };
        let mut text = Text::default();
        self.venue.write_word(Word::YourTurn, &picture, &mut text).expect("there is a game");
        let game: Value = serde_json::from_slice(&text.0).expect("a word is JSON");
        let game = &game["gameId"];
        if self.members[index].manner == Manner::Fumbles && self.random.one_in(2) {
            let wrong = json!({"type":"submit_move","gameId":game,"move":{"number":99,"action":"fly","type":"?"}});
            assert!(matches!(self.hear(index, &wrong), Reply::Refused(..)), "no game has such a move");
        }
        let reply = self.hear(index, &json!({"type":"submit_move","gameId":game,"move":wanted}));
        assert!(reply == Reply::Moved || !takes, "a listed move in time is played: {wanted} {reply:?}");
    }

    /// Everybody who is there hears what there is to hear, and does something about it.
    fn tell(&mut self) {
        for index in 0..self.members.len() {
            match self.members[index].speaks {
                Tongue::Dials => {}
                Tongue::Polls(_) | Tongue::Models(_) => continue,
                Tongue::Sits(_) => {
                    self.listen(index);
                    continue;
                }
                Tongue::Asks => {
                    let key = self.members[index].key.clone();
                    if self.ask(&format!("look {key}")) == "move" {
                        self.think(index);
                    }
                    continue;
                }
            }
            while self.members[index].is_there
                && let Some(picture) = self.venue.picture_for(self.moment(), self.members[index].issue)
                && let Some(word) = self.members[index].told.next(&picture)
            {
                let mut text = Text::default();
                // A map is long; it is enough to read one now and then.
                let is_read = word != Word::State || self.games != [GameKind::Rush] || self.random.one_in(50);
                if is_read && self.venue.write_word(word, &picture, &mut text).is_ok() {
                    serde_json::from_slice::<Value>(&text.0).expect("a word is JSON");
                }
                self.venue.word_is_told(self.moment(), self.members[index].issue, word);
                match word {
                    Word::YourTurn => self.think(index),
                    // Where a game lets it act without being asked, it sometimes does.
                    Word::State if self.random.one_in(8) => self.think(index),
                    Word::GameOver => self.want(index),
                    _ => {}
                }
            }
        }
    }

    fn think(&mut self, index: usize) {
        if std::mem::replace(&mut self.members[index].is_busy, true) {
            return;
        }
        let latency = self.members[index].latency;
        match self.members[index].manner {
            Manner::Sleeps if self.random.one_in(12) => self.later(400_000, Due::Move(index)),
            Manner::Drops if self.random.one_in(6) => self.later(latency, Due::Drop(index)),
            _ => self.later(latency, Due::Move(index)),
        }
        if self.random.one_in(16) {
            self.later(latency / 2, Due::Noise(index));
        }
    }

    fn take_the_steps(&mut self) {
        loop {
            let mut buf = [0; 1024];
            let mut out = Writer::new(&mut buf);
            self.venue.take_steps(&mut out);
            let taken = out.len();
            if taken == 0 {
                return;
            }
            let (mut from, mut at) = (Reader::new(&buf[..taken]), 0);
            while let Some(step) = Step::read(&mut from).expect("whole steps") {
                let end = taken - from.left();
                self.films.entry(step.of).or_default().extend_from_slice(&buf[at..end]);
                at = end;
            }
        }
    }

    /// All that is told of results now: of the queue and of the league.
    fn results(&self) -> Vec<(MatchId, String)> {
        let rounds = 1..=self.venue.schedule().rounds();
        let of_league = rounds.flat_map(|round| self.venue.matches_of(round));
        let ids = self.venue.finished_games().chain(of_league);
        ids.filter_map(|id| Some((id, self.result(id)?))).collect()
    }

    fn result(&self, id: MatchId) -> Option<String> {
        let (record, seed) = (self.venue.record(id)?, self.venue.revealed_seed(id)?);
        let who: Vec<_> = self.venue.sitters(id).map(|sitter| format!("{sitter:?}")).collect();
        Some(format!("{record:?} {seed} {who:?}"))
    }

    /// What must hold after every step.
    fn check(&mut self) {
        let next = self.venue.next_deadline();
        assert!(next.is_none_or(|next| next >= self.now), "no deadline lies in the past");
        let timing = self.venue.config().timing;
        let running: Vec<_> = self.venue.all_tables().map(|table| (table.id, table.play.game().clone())).collect();
        self.began.retain(|&(round, table), _| running.iter().any(|(id, _)| *id == MatchId { round, table }));
        for (id, game) in running {
            assert!(self.venue.record(id).is_none(), "a game that is being played has no result yet");
            assert!(self.venue.revealed_seed(id).is_none(), "and its seed is secret");
            let lasts = self.now - *self.began.entry((id.round, id.table)).or_insert(self.now);
            // Who comes and asks has as long as whoever is called.
            let (first, turn) = (timing.first_turn_ms.max(timing.move_ms), timing.turn_ms.max(timing.move_ms));
            let (rules, seats) = (game.rules(), u64::from(game.seats()));
            let kind = GameKind::named(rules.name).expect("it has a name");
            let moves = moves_of(kind) * seats / u64::from(*rules.seats.start());
            // With who sits down at tables the clocks may stand still, but not for ever.
            let lines = self.venue.table(id).map(|table| table.players().to_vec()).unwrap_or_default();
            let sits = |line: &u16| (0..self.members.len()).any(|index| self.sits(index) && self.line(index) == *line);
            let most = if lines.iter().any(sits) { 7_300_000 } else { (2 + seats) * first + moves * turn };
            assert!(lasts <= most, "{id} has lasted {lasts} ms");
        }
        self.check_what_is_over();
        for member in &self.members {
            let player =
                self.venue.players().iter().find(|player| player.number > 0 && self.issue(player) == member.issue);
            assert_eq!(player.map(|player| player.rating.games), Some(member.games), "every result is rated once");
        }
    }

    fn issue(&self, player: &protocol_core::venue::Player) -> u32 {
        let line = self.venue.players().iter().position(|other| other.number == player.number).expect("a player");
        self.venue.issue_of_line(line as u16).expect("it dials in")
    }

    /// New results come behind the others, the oldest give way, and all of them can be looked at again.
    fn check_what_is_over(&mut self) {
        let last = self.venue.finished_games().last().map_or(0, |id| id.table);
        let told = (last, self.venue.status().matches_completed);
        if std::mem::replace(&mut self.counted, told) == told {
            return;
        }
        let (was, is) = (std::mem::take(&mut self.over), self.results());
        let of_queue = |results: &[(MatchId, String)]| {
            results.iter().filter(|(id, _)| id.is_outside()).cloned().collect::<Vec<_>>()
        };
        let (was_kept, is_kept) = (of_queue(&was), of_queue(&is));
        let new = is_kept.iter().position(|one| !was_kept.contains(one)).unwrap_or(is_kept.len());
        assert!(was_kept.ends_with(&is_kept[..new]), "the oldest give way: {was_kept:?}, {is_kept:?}");
        for (id, result) in &is {
            if was.iter().any(|(other, told)| other == id && told == result) {
                continue;
            }
            assert!(!was.iter().any(|(other, _)| other == id), "a result stands: {id}");
            self.evening.games += u64::from(id.is_outside());
            self.evening.matches += u64::from(!id.is_outside());
            self.check_the_replay(*id);
            self.count(*id);
        }
        assert!(self.venue.stage() != Stage::Waiting || is.len() == is_kept.len());
        self.over = is;
    }

    fn check_the_replay(&self, id: MatchId) {
        let mut replay = self.venue.replay_of(id).expect("a match that is over can be replayed");
        let mut from = Reader::new(&self.films[&replay.of]);
        while let Some(step) = Step::read(&mut from).expect("whole steps") {
            if self.evening.cuts > 0 && matches!(step.deed, Deed::Voted(..)) && replay.shot.ended.is_some() {
                // The power was cut when the end was on film and its result was not safe yet: the vote went on, and ended again.
                return;
            }
            assert_eq!(replay.follow(&step), Ok(()), "{id}: {step:?} follows");
        }
        assert!(replay.shot.ended.is_some(), "{id} has its end");
        let record = self.venue.record(id).expect("a result");
        assert_eq!(replay.game.digest(), record.digest, "{id} is replayed as it was played");
        let line = self.venue.match_line(id).expect("a match has a line");
        assert_eq!((line.status, line.player_ids().count()), ("FINISHED", usize::from(replay.game.seats())));
    }

    /// A game that not everybody gave up counts for each of its players.
    fn count(&mut self, id: MatchId) {
        let players: Vec<_> = self.venue.sitters(id).map(|sitter| sitter.player_id.0).collect();
        let forfeits = self.venue.record(id).expect("a result").outcome().forfeits.len() as usize;
        if forfeits < players.len() {
            for index in 0..self.members.len() {
                let line = usize::from(self.line(index));
                let own = self.venue.players()[line].id();
                self.members[index].games += u16::from(players.contains(&own));
            }
        }
    }

    /// Everything is written before anything leaves the box.
    fn keep(&mut self) {
        assert!(self.write(), "the power stays");
    }

    /// Writes all facts. False where the power did not last.
    fn write(&mut self) -> bool {
        let Some((log, _)) = &mut self.flash else { return true };
        let (mut buf, mut is_other) = ([0; FRAME], false);
        loop {
            match block_on(commit(log, &mut self.venue, &mut buf, ADMIN_CODE)) {
                Ok(Some(_)) => is_other = true,
                Ok(None) => break,
                Err(trouble) if log.flash_mut().power > 0 => panic!("the flash is sound: {trouble}"),
                Err(_) => return false,
            }
        }
        assert!(!self.venue.has_missed_facts());
        if is_other {
            self.safe = (self.results(), self.ratings());
            self.records = self.agon_records();
        }
        true
    }

    /// What AGON knows of each member, nothing of those who speak something else.
    fn agon_records(&self) -> Vec<String> {
        let members = 0..self.members.len();
        members.map(|index| if self.sits(index) { self.agon_record(index) } else { String::new() }).collect()
    }

    fn ratings(&self) -> Vec<Rating> {
        self.venue.players().iter().map(|player| player.rating).collect()
    }

    /// What an input led to is written. False where the power is cut.
    fn survive(&mut self) -> bool {
        let Some((log, every)) = &mut self.flash else { return true };
        if !self.random.one_in(*every) || self.evening.cuts >= CUTS {
            self.keep();
            return true;
        }
        log.flash_mut().power = if self.random.one_in(2) { 0 } else { self.random.within(1, 400) as u32 };
        let is_written = self.write();
        if let Some((log, _)) = &mut self.flash {
            log.flash_mut().power = u32::MAX;
        }
        is_written && self.random.one_in(2)
    }

    /// The power comes back: what was safe is there, exactly; what was being written is there or not; nothing else is.
    fn restart(&mut self) {
        let Some((log, every)) = self.flash.take() else { return };
        self.evening.cuts += 1;
        let mut log = Log::new(log.into_flash());
        let config = Config { endpoint: self.venue.config().endpoint.clone(), ..Config::default() };
        let spare = self.spare.take().expect("it was given back after the last cut");
        let mut chance = Seed([0; 32]);
        chance.0.copy_from_slice(&self.random.bytes(32));
        let lost = std::mem::replace(&mut self.venue, Venue::new(spare, config, chance, chance));
        let found = block_on(restore(&mut log, &mut self.venue, &mut [0; FRAME], |_| {}));
        assert_eq!(found, Ok(true), "a power cut is no damage");
        self.flash = Some((log, every));
        let (left, left_records) = (self.results(), self.agon_records());
        let lost = std::mem::replace(&mut self.venue, lost);
        let was = self.results();
        let (was_rated, was_known) = (self.ratings(), self.agon_records());
        let lost = std::mem::replace(&mut self.venue, lost);
        for one in &self.safe.0 {
            // The oldest of the queue may have given way to one that was being written.
            assert!(left.contains(one) || one.0.is_outside() && !was.contains(one), "{one:?} had been acknowledged");
        }
        assert!(left.iter().all(|one| was.contains(one) || self.safe.0.contains(one)), "nothing is made up");
        for (at, rating) in self.ratings().into_iter().enumerate() {
            let may_be = [self.safe.1.get(at).copied(), was_rated.get(at).copied()];
            assert!(may_be.contains(&Some(rating)), "a rating is the last one that was safe, or the one being written");
        }
        for (at, known) in left_records.iter().enumerate() {
            let may_be = [self.records.get(at), was_known.get(at)];
            assert!(
                may_be.contains(&Some(known)),
                "what AGON knows is what was safe, or being written: {known} {may_be:?}"
            );
        }
        self.spare = Some(lost.into_memory());
        self.now += self.random.within(0, 30_000);
        self.venue.resume(self.moment());
        // Connections are gone, and with them what was on the way.
        let queue = std::mem::take(&mut self.queue);
        let lasts = |due: &Due| matches!(due, Due::Start | Due::Join(_) | Due::Poll(_) | Due::Turn(_));
        self.queue = queue.into_iter().filter(|(_, due)| lasts(due)).collect();
        self.queue =
            std::mem::take(&mut self.queue).into_iter().map(|((at, n), due)| ((at.max(self.now), n), due)).collect();
        self.began.clear();
        self.over = left;
        self.counted = (u16::MAX, 0);
        for index in 0..self.members.len() {
            let line = usize::from(self.line(index));
            self.members[index].games = self.venue.players()[line].rating.games;
            match self.members[index].speaks {
                Tongue::Asks => self.members[index].is_busy = false,
                Tongue::Polls(_) => self.check_the_key(index),
                Tongue::Models(_) => self.check_the_token(index),
                Tongue::Dials | Tongue::Sits(_) => {
                    self.members[index].is_there = false;
                    let after = self.random.within(1, 20_000);
                    self.later(after, Due::Return(index));
                }
            }
        }
        self.keep();
    }
}
