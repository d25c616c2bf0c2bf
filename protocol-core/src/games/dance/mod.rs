//! Dance battle: four dancers on a floor of 17×17 cells, thirty rounds. All of them plan a round in secret, then it is
//! danced: on a move beat everybody takes a step, on a stress beat neighbours duel with rock, paper or scissors.
//!
//! Where the specification is silent, these are the rules:
//!
//! - A round has three beats: move, move, stress. Agents read that from `publicState.beatSequence.rounds`.
//! - `x` grows to the right, `y` downwards. The four start at (4, 4), (12, 4), (12, 12) and (4, 12), in order of their seats.
//! - A step off the floor, onto a cell where somebody stays, or onto the same cell as somebody else's step is not taken,
//!   and stuns whoever tried it until the round ends. Who holds is not stunned by who walks into them. A cell is free
//!   for the one who follows if its dancer leaves in the same beat; two may swap places. If the one ahead does not get
//!   away, the follower stumbles too.
//! - On a stress beat every two dancers side by side (not diagonally) duel. The winner gets a point, the loser is out;
//!   the same throw changes nothing. A stunned dancer throws nothing and loses to any that is not stunned; two stunned
//!   ones do nothing to each other. All duels of a beat are judged before anybody leaves, so one can win and be out.
//! - Who is out has left the floor, keeps the points, and blocks nobody. It goes on sending plans, which must be
//!   well-formed and are not danced.
//! - A plan is `{"commands": [...]}` with one command for each beat, in any order. A `motto` (at most 100 characters) in
//!   the command of a stress beat is shown with the dancer from the next round on, until another one comes.
//! - The game ends when one is left, who wins, or after the last round: then the most points win, also of one who is out.
//!   The others are placed by points.
//! - Who gives up has lost, and ends the game: the others are placed by points.
//!
//! Nothing is drawn. Mottos are kept by the caller, who is told by [`Game::said`].

#[cfg(any(test, feature = "house"))]
pub(super) mod house;
#[cfg(test)]
mod tests;

use core::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, SAID, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::{Kind, Map, Seq, Str, Value};

const ROUNDS: u8 = 30;
const SIDE: u8 = 17;
const DANCERS: u8 = 4;
const MOVE_BEATS: usize = 2;
/// Where they start, by seat.
const STARTS: [Spot; DANCERS as usize] =
    [Spot { x: 4, y: 4 }, Spot { x: 12, y: 4 }, Spot { x: 12, y: 12 }, Spot { x: 4, y: 12 }];
/// The beats of every round.
#[expect(clippy::cast_possible_truncation, reason = "there are three")]
const BEATS: [Beat; MOVE_BEATS + 1] = [
    Beat { beat_index: 0, kind: "move" },
    Beat { beat_index: 1, kind: "move" },
    Beat { beat_index: STRESS as u8, kind: "stress" },
];
/// Which of them is the stress beat.
const STRESS: usize = MOVE_BEATS;

/// One match of dance battle.
#[derive(Clone, Debug)]
pub struct Dance {
    dancers: [Dancer; DANCERS as usize],
    /// Rounds that have been danced.
    rounds: u8,
    /// Who is out.
    out: Seats,
    /// Who went out in the last round.
    fell: Seats,
    /// Who was stunned in the last round.
    stunned: Seats,
    /// Whose plan for this round has a motto.
    speak: Seats,
    forfeited: Seats,
}

#[derive(Clone, Copy, Debug)]
struct Dancer {
    at: Spot,
    score: u8,
    /// The plan for this round.
    next: Option<Plan>,
    /// The plan of the last one.
    last: Option<Plan>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Spot {
    x: u8,
    y: u8,
}

/// What a dancer does in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: [Step; MOVE_BEATS],
    throw: Throw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Step {
    Hold,
    Up,
    Down,
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Throw {
    Rock,
    Paper,
    Scissors,
}

impl Spot {
    /// The next cell, if the floor does not end here.
    fn towards(self, step: Step) -> Option<Spot> {
        let Spot { x, y } = self;
        let on = |n: u8| n.checked_add(1).filter(|&n| n < SIDE);
        Some(match step {
            Step::Hold => self,
            Step::Up => Spot { x, y: y.checked_sub(1)? },
            Step::Down => Spot { x, y: on(y)? },
            Step::Left => Spot { x: x.checked_sub(1)?, y },
            Step::Right => Spot { x: on(x)?, y },
        })
    }

    /// Steps from one to the other.
    fn distance(self, other: Spot) -> u8 {
        self.x.abs_diff(other.x).saturating_add(self.y.abs_diff(other.y))
    }
}

impl Step {
    const ALL: [Step; 5] = [Step::Hold, Step::Up, Step::Down, Step::Left, Step::Right];

    fn name(self) -> &'static str {
        match self {
            Step::Hold => "hold",
            Step::Up => "up",
            Step::Down => "down",
            Step::Left => "left",
            Step::Right => "right",
        }
    }
}

impl Throw {
    pub(super) const ALL: [Throw; 3] = [Throw::Rock, Throw::Paper, Throw::Scissors];

    pub(super) fn name(self) -> &'static str {
        match self {
            Throw::Rock => "rock",
            Throw::Paper => "paper",
            Throw::Scissors => "scissors",
        }
    }

    pub(super) fn beats(self, other: Throw) -> bool {
        use Throw::{Paper, Rock, Scissors};
        matches!((self, other), (Rock, Scissors) | (Paper, Rock) | (Scissors, Paper))
    }
}

impl Plan {
    /// All of them. The first does nothing that could go wrong.
    fn all() -> impl Iterator<Item = Plan> {
        let steps = || Step::ALL.into_iter();
        let plan = |first, second| move |throw| Plan { steps: [first, second], throw };
        steps().flat_map(move |first| steps().flat_map(move |second| Throw::ALL.into_iter().map(plan(first, second))))
    }

    /// None, or which of them: seven bits.
    fn to_bits(plan: Option<Plan>) -> u64 {
        plan.and_then(|plan| (1..).zip(Plan::all()).find(|(_, other)| *other == plan)).map_or(0, |(number, _)| number)
    }

    fn from_bits(bits: u64) -> Option<Plan> {
        Plan::all().nth(usize::try_from(bits.checked_sub(1)?).ok()?)
    }

    fn read(wanted: Value<'_>) -> Result<Plan, Illegal> {
        let Some(commands) = wanted.get("commands").filter(|commands| commands.kind() == Kind::Array) else {
            return Err(Illegal("commands: an array of one command for each beat of the round"));
        };
        let (mut steps, mut throw) = ([None; MOVE_BEATS], None);
        for command in commands.items() {
            let [index, kind, direction, action, motto] =
                command.members(["beatIndex", "kind", "direction", "action", "motto"]);
            let index = index.and_then(Value::as_whole).and_then(|index| usize::try_from(index).ok());
            let is = |word: Option<Value<'_>>, name| word.and_then(Value::as_str).is_some_and(|word| word.is(name));
            let second = match index {
                Some(STRESS) if !is(kind, "action") => return Err(Illegal("kind: \"action\" on a stress beat")),
                Some(STRESS) => {
                    let chosen = Throw::ALL.into_iter().find(|throw| is(action, throw.name()));
                    let chosen = chosen.ok_or(Illegal("action: \"rock\", \"paper\" or \"scissors\""))?;
                    let motto = motto.filter(|motto| !motto.is_null());
                    if motto.is_some_and(|motto| motto.as_str().is_none_or(|text| text.chars().nth(SAID).is_some())) {
                        return Err(Illegal("motto: a string of at most 100 characters"));
                    }
                    throw.replace(chosen).is_some()
                }
                _ => {
                    let place = index.and_then(|index| steps.get_mut(index));
                    let place = place.ok_or(Illegal("beatIndex: the number of a beat of the round, from 0"))?;
                    if !is(kind, "move") {
                        return Err(Illegal("kind: \"move\" on a move beat"));
                    }
                    let chosen = Step::ALL.into_iter().find(|step| is(direction, step.name()));
                    let chosen =
                        chosen.ok_or(Illegal("direction: \"up\", \"down\", \"left\", \"right\" or \"hold\""))?;
                    place.replace(chosen).is_some()
                }
            };
            if second {
                return Err(Illegal("beatIndex: there are two commands for one beat"));
            }
        }
        match (steps, throw) {
            ([Some(first), Some(second)], Some(throw)) => Ok(Plan { steps: [first, second], throw }),
            _ => Err(Illegal("commands: there is a beat without a command")),
        }
    }

    fn commands(self) -> impl Iterator<Item = Command> {
        let moves = (0..).zip(self.steps).map(|(beat_index, step)| Command {
            beat_index,
            kind: "move",
            direction: Some(step),
            action: None,
        });
        let [.., Beat { beat_index, .. }] = BEATS;
        let stress = Command { beat_index, kind: "action", direction: None, action: Some(self.throw) };
        moves.chain([stress])
    }
}

/// A plan as it is sent.
impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("commands", Seq(|| self.commands()))])
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Command {
    beat_index: u8,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<Throw>,
}

impl Dance {
    pub(super) const SIZE: usize = 42;

    pub(super) const RULES: Rules = Rules {
        name: "dance-battle",
        seats: DANCERS..=DANCERS,
        question: Question::Move,
        order: Order::Together,
        board: true,
        turns: ROUNDS as u16,
        remembers: 0,
        columns: "rounds,score_a,score_b,score_c,score_d,standing",
    };

    pub(super) fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self::beginning()
    }

    fn beginning() -> Self {
        Self {
            dancers: STARTS.map(|at| Dancer { at, score: 0, next: None, last: None }),
            rounds: 0,
            out: Seats::NONE,
            fell: Seats::NONE,
            stunned: Seats::NONE,
            speak: Seats::NONE,
            forfeited: Seats::NONE,
        }
    }

    #[expect(clippy::arithmetic_side_effects, reason = "there are four dancers: 52 bits")]
    pub(super) fn recall(_seed: Seed, digest: u64) -> Self {
        let mut game = Self::beginning();
        let seats = |bits: u64| (0..DANCERS).filter(|seat| bits >> seat & 1 == 1).fold(Seats::NONE, Seats::with);
        game.rounds = (digest & 0xff) as u8;
        game.out = seats(digest >> 8);
        game.forfeited = seats(digest >> 12);
        for (dancer, seat) in game.dancers.iter_mut().zip(0..) {
            dancer.score = (digest >> (16 + 2 * seat) & 3) as u8;
            dancer.last = Plan::from_bits(digest >> (24 + 7 * seat) & 0x7f);
        }
        game
    }

    fn dancer(&self, seat: Seat) -> Option<&Dancer> {
        self.dancers.get(usize::from(seat))
    }

    /// Who is still on the floor.
    fn floor(&self) -> Seats {
        Seats::first(DANCERS).without(self.out)
    }

    fn is_over(&self) -> bool {
        self.rounds >= ROUNDS || self.floor().len() <= 1 || !self.forfeited.is_empty()
    }

    /// The one who is left, if only one is.
    fn survivor(&self) -> Option<Seat> {
        let mut floor = self.floor().iter();
        floor.next().filter(|_| floor.next().is_none())
    }

    /// The round that is planned, or, in the end, the one that was danced last.
    fn round(&self) -> u8 {
        if self.is_over() { self.rounds.max(1) } else { self.rounds.saturating_add(1) }
    }

    /// Dances the round that everybody has planned.
    fn dance(&mut self) {
        for dancer in &mut self.dancers {
            dancer.last = dancer.next.take();
        }
        (self.stunned, self.speak) = (Seats::NONE, Seats::NONE);
        for beat in 0..MOVE_BEATS {
            self.step(beat);
        }
        let mut fell = Seats::NONE;
        let mut points = [0_u8; DANCERS as usize];
        for (winner, loser) in self.duels(self.floor()) {
            fell = fell.with(loser);
            if let Some(points) = points.get_mut(usize::from(winner)) {
                *points = points.saturating_add(1);
            }
        }
        for (dancer, points) in self.dancers.iter_mut().zip(points) {
            dancer.score = dancer.score.saturating_add(points);
        }
        self.out = fell.iter().fold(self.out, Seats::with);
        self.fell = fell;
        self.rounds = self.rounds.saturating_add(1);
    }

    /// One move beat.
    fn step(&mut self, beat: usize) {
        let floor = self.floor();
        let mut to = self.dancers.map(|dancer| dancer.at);
        for seat in floor.without(self.stunned).iter() {
            let step = self.dancer(seat).and_then(|dancer| dancer.last?.steps.get(beat).copied());
            let (Some(step), Some(to)) = (step, to.get_mut(usize::from(seat))) else { continue };
            match to.towards(step) {
                Some(there) => *to = there,
                None => self.stunned = self.stunned.with(seat),
            }
        }
        // Who stumbles stays, and may be in the way of somebody who had not been stumbling. Every turn of this loop
        // stops at least one of four.
        loop {
            let place = |seat: Seat| to.get(usize::from(seat)).copied();
            let walks = |seat: &Seat| place(*seat) != self.dancer(*seat).map(|dancer| dancer.at);
            let meets =
                |seat: &Seat| floor.without(Seats::only(*seat)).iter().any(|other| place(other) == place(*seat));
            let stumble = floor.iter().filter(walks).filter(meets).fold(Seats::NONE, Seats::with);
            if stumble.is_empty() {
                break;
            }
            for seat in stumble.iter() {
                self.stunned = self.stunned.with(seat);
                if let (Some(to), Some(dancer)) = (to.get_mut(usize::from(seat)), self.dancers.get(usize::from(seat))) {
                    *to = dancer.at;
                }
            }
        }
        for (dancer, to) in self.dancers.iter_mut().zip(to) {
            dancer.at = to;
        }
    }

    /// Who beat whom on the last stress beat, of those who were on the floor.
    fn duels(&self, floor: Seats) -> impl Iterator<Item = (Seat, Seat)> {
        let beats = move |one: &Dancer, other: &Dancer, helpless: bool| {
            let throws = one.last.zip(other.last);
            one.at.distance(other.at) == 1
                && (helpless || throws.is_some_and(|(one, other)| one.throw.beats(other.throw)))
        };
        let duel = move |winner, loser| {
            let (one, other) = (self.dancer(winner)?, self.dancer(loser)?);
            beats(one, other, self.stunned.has(loser)).then_some((winner, loser))
        };
        floor
            .without(self.stunned)
            .iter()
            .flat_map(move |winner| floor.iter().filter_map(move |loser| duel(winner, loser)))
    }
}

impl Game for Dance {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        DANCERS
    }

    fn to_move(&self) -> Seats {
        if self.is_over() {
            return Seats::NONE;
        }
        let owed = |(_, dancer): &(Seat, &Dancer)| dancer.next.is_none();
        (0..).zip(&self.dancers).filter(owed).map(|(seat, _)| seat).fold(Seats::NONE, Seats::with)
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        let plan = Plan::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        if self.said(seat, wanted).is_some() {
            self.speak = self.speak.with(seat);
        }
        if let Some(dancer) = self.dancers.get_mut(usize::from(seat)) {
            dancer.next = Some(plan);
        }
        if self.to_move().is_empty() {
            self.dance();
        }
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.forfeited = losers;
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            // Whoever breaks off wants no more.
            let _ = Plan::all().try_for_each(|plan| sink.legal_move(&plan));
        }
    }

    fn turn(&self) -> u16 {
        u16::from(self.rounds) + 1
    }

    fn score(&self, seat: Seat) -> i32 {
        self.dancer(seat).map_or(0, |dancer| dancer.score.into())
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("currentRound", &self.round())?;
        out.serialize_entry("maxRounds", &ROUNDS)?;
        out.serialize_entry("scores", &Scores { game: self, table })
    }

    fn board<S: Serializer>(&self, _viewer: Viewer, table: Table<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        Floor { game: self, table }.serialize(serializer)
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Plan { steps: [first, second], throw }) = self.dancer(seat).and_then(|dancer| dancer.last) else {
            return Ok(());
        };
        if self.out.has(seat) && !self.fell.has(seat) {
            return f.write_str("Watched");
        }
        write!(f, "Danced {}, {}, {}", first.name(), second.name(), throw.name())?;
        f.write_str(if self.stunned.has(seat) { ", stumbled" } else { "" })?;
        f.write_str(if self.fell.has(seat) { " and is out" } else { "" })
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rounds == 0 {
            return Ok(());
        }
        write!(f, "Round {}: ", self.rounds)?;
        if self.fell.is_empty() {
            return f.write_str("nobody is out");
        }
        let floor = self.fell.iter().fold(self.floor(), Seats::with);
        let mut duels = self.duels(floor).zip(core::iter::once("").chain(core::iter::repeat(", ")));
        duels
            .try_for_each(|((winner, loser), gap)| write!(f, "{gap}{} beats {}", table.name(winner), table.name(loser)))
    }

    fn said<'a>(&self, _seat: Seat, wanted: Value<'a>) -> Option<Str<'a>> {
        let stress = |command: &Value<'_>| command.get("beatIndex").and_then(Value::as_whole) == Some(STRESS as u64);
        wanted.get("commands")?.items().find(stress)?.get("motto")?.as_str()
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        self.dancer(seat).and_then(|dancer| dancer.next.or(dancer.last)).serialize(serializer)
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("total_rounds", &self.rounds)?;
        out.serialize_entry("final_score", &Scores { game: self, table })?;
        out.serialize_entry("standing", &Seq(|| self.floor().iter().map(|seat| table.id(seat))))
    }

    fn standing(&self) -> Option<Standing> {
        if !self.is_over() {
            return None;
        }
        let mut scores = [0; MAX_SEATS];
        for (score, dancer) in scores.iter_mut().zip(&self.dancers) {
            *score = dancer.score.into();
        }
        if !self.forfeited.is_empty() {
            return Some(Standing::after_forfeit(DANCERS, scores, self.forfeited));
        }
        let mut weights = scores;
        // More than can be won: the last one standing is ahead of all.
        if let Some(weight) = self.survivor().and_then(|seat| weights.get_mut(usize::from(seat))) {
            *weight = i32::MAX;
        }
        Some(Standing { scores, ..Standing::by_score(DANCERS, weights) })
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for loser in self.forfeited.iter() {
            write!(f, "{} gave up. ", table.name(loser))?;
        }
        match self.survivor() {
            Some(seat) => write!(f, "{} is the last one standing after {} rounds", table.name(seat), self.rounds),
            None => {
                write!(f, "After {} rounds:", self.rounds)?;
                let mut all = (0..).zip(&self.dancers).zip([" ", ", ", ", ", ", "]);
                all.try_for_each(|((seat, dancer), gap)| write!(f, "{gap}{} {}", table.name(seat), dancer.score))
            }
        }
    }

    /// Who is left stands in the last cell as letters: `AC`.
    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        write!(f, "{}", self.rounds)?;
        self.dancers.iter().try_for_each(|dancer| write!(f, ",{}", dancer.score))?;
        f.write_char(',')?;
        ('A'..).zip(0..DANCERS).filter(|&(_, seat)| self.floor().has(seat)).try_for_each(|(name, _)| f.write_char(name))
    }

    #[expect(clippy::arithmetic_side_effects, reason = "there are four dancers: 52 bits")]
    fn digest(&self) -> u64 {
        let bits = |seats: Seats| seats.iter().fold(0, |bits, seat| bits | 1u64 << seat);
        let mut digest = u64::from(self.rounds) | bits(self.out) << 8 | bits(self.forfeited) << 12;
        for (dancer, seat) in self.dancers.iter().zip(0..) {
            // Whoever is beaten is out, so there are three points to be made.
            digest |= u64::from(dancer.score) << (16 + 2 * seat);
            digest |= Plan::to_bits(dancer.next.or(dancer.last)) << (24 + 7 * seat);
        }
        digest
    }
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Beat {
    beat_index: u8,
    kind: &'static str,
}

/// `{agentId: score}`
struct Scores<'a> {
    game: &'a Dance,
    table: Table<'a>,
}

impl Serialize for Scores<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let score = |(seat, dancer): (Seat, &Dancer)| (self.table.id(seat), dancer.score);
        serializer.collect_map((0..).zip(&self.game.dancers).map(score))
    }
}

/// The floor, the beats and the dancers.
struct Floor<'a> {
    game: &'a Dance,
    table: Table<'a>,
}

/// A round of the beat sequence.
#[derive(Serialize)]
struct Round {
    round: u8,
    beats: [Beat; BEATS.len()],
}

/// A dancer as everybody sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Agent<'a> {
    agent_id: &'a str,
    agent_name: &'a str,
    x: u8,
    y: u8,
    score: u8,
    eliminated: bool,
    /// In the last round.
    stunned: bool,
    motto: &'a str,
    /// Of the last round.
    last_plan: Option<Plan>,
}

impl Serialize for Floor<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Floor { game, table } = *self;
        let round = |round| Round { round, beats: BEATS };
        let agent = |(seat, dancer): (Seat, &Dancer)| Agent {
            agent_id: table.id(seat),
            agent_name: table.name(seat),
            x: dancer.at.x,
            y: dancer.at.y,
            score: dancer.score,
            eliminated: game.out.has(seat),
            stunned: game.stunned.has(seat),
            // One that comes with a plan is not told before the plan is.
            motto: if game.speak.has(seat) { "" } else { table.said(seat) },
            last_plan: dancer.last,
        };
        let mut state = serializer.serialize_map(None)?;
        state.serialize_entry("round", &game.round())?;
        state.serialize_entry("maxRounds", &ROUNDS)?;
        state.serialize_entry("map", &Map(|| [("width", SIDE), ("height", SIDE)]))?;
        state.serialize_entry("beatSequence", &Map(|| [("rounds", Seq(|| (1..=ROUNDS).map(round)))]))?;
        state.serialize_entry("agents", &Seq(|| (0..).zip(&game.dancers).map(agent)))?;
        state.serialize_entry("matchResult", &game.standing().map(|standing| MatchResult { game, table, standing }))?;
        state.end()
    }
}

/// How it ended.
struct MatchResult<'a> {
    game: &'a Dance,
    table: Table<'a>,
    standing: Standing,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ranked<'a> {
    agent_id: &'a str,
    agent_name: &'a str,
    rank: u8,
    final_score: i32,
}

impl Serialize for MatchResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let MatchResult { game, table, standing } = self;
        let reason = match game.survivor() {
            _ if !game.forfeited.is_empty() => "forfeit",
            Some(_) => "last_standing",
            None => "rounds",
        };
        let placed = || (0..).zip(standing.places).zip(standing.scores);
        let ranked = |rank| {
            let here = placed().filter(move |((_, place), _)| *place == rank);
            here.map(move |((seat, _), final_score)| Ranked {
                agent_id: table.id(seat),
                agent_name: table.name(seat),
                rank,
                final_score,
            })
        };
        let mut result = serializer.serialize_map(None)?;
        result.serialize_entry("reason", reason)?;
        result.serialize_entry("rounds", &game.rounds)?;
        result.serialize_entry("rankings", &Seq(|| (1..=DANCERS).flat_map(ranked)))?;
        result.end()
    }
}
