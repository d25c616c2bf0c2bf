//! Resource rush: two drones on a map of 100×100 cells, five hundred ticks, both move at once. Who brings home more wins.
//!
//! Where the specification is silent, these are the rules:
//!
//! - `extra.grid[y][x]`; `y` grows to the south, `x` to the east. A cell further away than 35 in either direction is `-1`.
//!   Spectators see what the two drones see together, and all of it when the match is over.
//! - One harvest takes the whole cell and gives one piece: of wood, stone, gold or food. The piece is worth 1, 2, 5 or 3.
//!   The cell is grass from then on. `extra.playerResources` counts pieces.
//! - A move into water, into a mountain or off the map is refused, and so is a harvest where there is nothing: the drone
//!   can see all that, and may send another move.
//! - Drones do not block each other. If both harvest the same cell in the same tick, one of them gets it: the first
//!   player on even ticks, the second on odd ones. The other gets nothing.
//! - A station is where a drone started, and otherwise grass.
//! - `extra.playerPositions` has `null` for an opponent out of sight. Resources and scores are open to all.
//! - A thought is heard for one tick: `extra.playerThoughts` has `""` for a drone that said nothing in the last one.
//! - A memory is kept until another one comes; it is an object of at most 10,240 bytes of JSON. A drone sees only its own.
//! - A drone that gives up has lost, whatever it has gathered.
//!
//! The map is in [`map`]; who draws it must know the seed. Memories and thoughts are kept by the caller, who is told by
//! [`Game::note`] and [`Game::said`].

#[cfg(any(test, feature = "house"))]
pub(super) mod house;
mod map;
#[cfg(test)]
mod tests;

use core::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, SAID, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::{Kind, Raw, Seq, Str, Value};
use map::{Ground, Key, Map, SIZE, SLOTS, Spot};

const TICKS: u16 = 500;
/// How far a drone sees, to all sides: an area of 71×71 cells.
const SIGHT: u8 = 35;
/// Bytes of JSON a drone may ask us to remember.
const MEMORY: usize = 10 * 1024;
/// What a piece of gold is worth.
const GOLD: i32 = 5;
/// The bits a digest has for a drone: its gold in 8, what the rest is worth in 10 (a piece takes two ticks, so it is at most
/// 750), and its last action in 3.
const KEPT: u32 = 21;

const TAKEN: usize = SLOTS.div_ceil(8);

/// One match of resource rush.
#[derive(Clone, Debug)]
pub struct Rush {
    key: Key,
    /// A bit for each [slot](Map::slot): what was there has been harvested.
    taken: [u8; TAKEN],
    drones: [Drone; 2],
    /// Ticks that have been resolved.
    tick: u16,
    /// Who said something with its last move.
    spoke: Seats,
    forfeited: Seats,
}

#[derive(Clone, Copy, Debug)]
struct Drone {
    at: Spot,
    has: Pieces,
    /// What it will do in this tick.
    wants: Option<Action>,
    /// What it did in the last one.
    did: Option<Did>,
}

impl Drone {
    fn sees(&self, spot: Spot) -> bool {
        self.at.sight(spot) <= SIGHT
    }

    /// What it was last told to do.
    fn last(&self) -> Option<Action> {
        let done = |did| match did {
            Did::Wait => Action::Wait,
            Did::Move(direction) => Action::Move(direction),
            Did::Harvest(_) => Action::Harvest,
        };
        self.wants.or(self.did.map(done))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Wait,
    Move(Direction),
    Harvest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    North,
    South,
    East,
    West,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Wait,
    Move(Direction),
    /// What it got, unless the other drone was quicker.
    Harvest(Option<Resource>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    Wood,
    Stone,
    Gold,
    Food,
}

impl Direction {
    const ALL: [Direction; 4] = [Direction::North, Direction::South, Direction::East, Direction::West];

    fn name(self) -> &'static str {
        match self {
            Direction::North => "north",
            Direction::South => "south",
            Direction::East => "east",
            Direction::West => "west",
        }
    }
}

impl Resource {
    /// What is found on such a ground.
    fn on(ground: Ground) -> Option<Resource> {
        Some(match ground {
            Ground::Bush => Resource::Wood,
            Ground::Stone => Resource::Stone,
            Ground::Gold => Resource::Gold,
            Ground::Berry => Resource::Food,
            Ground::Grass | Ground::Water | Ground::Mountain | Ground::Station => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Resource::Wood => "wood",
            Resource::Stone => "stone",
            Resource::Gold => "gold",
            Resource::Food => "food",
        }
    }
}

impl Spot {
    /// The next cell in a direction, if the map does not end here.
    fn towards(self, direction: Direction) -> Option<Spot> {
        let Spot { x, y } = self;
        let on = |n: u8| n.checked_add(1).filter(|&n| n < SIZE);
        Some(match direction {
            Direction::North => Spot { x, y: y.checked_sub(1)? },
            Direction::South => Spot { x, y: on(y)? },
            Direction::East => Spot { x: on(x)?, y },
            Direction::West => Spot { x: x.checked_sub(1)?, y },
        })
    }
}

/// A move as it is sent.
#[derive(Debug, Serialize)]
pub struct Wire {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<Direction>,
}

impl Action {
    fn read(wanted: Value<'_>) -> Result<Action, Illegal> {
        if wanted.kind() != Kind::Object {
            return Err(Illegal("move: an object such as {\"action\":\"wait\"}"));
        }
        let [action, direction, thought, memory] = wanted.members(["action", "direction", "thought", "memory"]);
        let thought = thought.filter(|thought| !thought.is_null());
        if thought.is_some_and(|thought| thought.as_str().is_none_or(|text| text.chars().nth(SAID).is_some())) {
            return Err(Illegal("thought: a string of at most 100 characters"));
        }
        let memory = memory.filter(|memory| !memory.is_null());
        if memory.is_some_and(|memory| memory.kind() != Kind::Object || memory.raw().len() > MEMORY) {
            return Err(Illegal("memory: an object of at most 10240 bytes of JSON"));
        }
        let is = |word: Option<Value<'_>>, name| word.and_then(Value::as_str).is_some_and(|word| word.is(name));
        if is(action, "move") {
            let chosen = Direction::ALL.into_iter().find(|way| is(direction, way.name()));
            chosen.map(Action::Move).ok_or(Illegal("direction: \"north\", \"south\", \"east\" or \"west\""))
        } else if is(action, "harvest") {
            Ok(Action::Harvest)
        } else if is(action, "wait") {
            Ok(Action::Wait)
        } else {
            Err(Illegal("action: \"move\", \"harvest\" or \"wait\""))
        }
    }

    /// None, or which: three bits.
    fn to_bits(action: Option<Action>) -> u64 {
        match action {
            None => 0,
            Some(Action::Wait) => 1,
            Some(Action::Harvest) => 2,
            Some(Action::Move(direction)) => (direction as u64).saturating_add(3),
        }
    }

    fn from_bits(bits: u64) -> Option<Action> {
        Some(match bits {
            0 => return None,
            1 => Action::Wait,
            2 => Action::Harvest,
            way => Action::Move(*Direction::ALL.get(usize::try_from(way.checked_sub(3)?).ok()?)?),
        })
    }

    fn wire(self) -> Wire {
        match self {
            Action::Wait => Wire { action: "wait", direction: None },
            Action::Move(direction) => Wire { action: "move", direction: Some(direction) },
            Action::Harvest => Wire { action: "harvest", direction: None },
        }
    }
}

/// What a drone has gathered.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Pieces {
    wood: u8,
    stone: u8,
    gold: u8,
    food: u8,
}

impl Pieces {
    #[expect(clippy::arithmetic_side_effects, reason = "255 pieces of each are worth a few thousand")]
    fn score(self) -> i32 {
        let worth = |pieces: u8, each: i32| i32::from(pieces) * each;
        worth(self.wood, 1) + worth(self.stone, 2) + worth(self.gold, GOLD) + worth(self.food, 3)
    }

    fn add(&mut self, piece: Resource) {
        let pieces = match piece {
            Resource::Wood => &mut self.wood,
            Resource::Stone => &mut self.stone,
            Resource::Gold => &mut self.gold,
            Resource::Food => &mut self.food,
        };
        // Between two harvests is at least one step, so there are at most 250.
        *pieces = pieces.saturating_add(1);
    }
}

impl Rush {
    pub(super) const SIZE: usize = 104;

    #[expect(clippy::cast_possible_truncation, reason = "10 KB")]
    pub(super) const RULES: Rules = Rules {
        name: "resource-rush",
        seats: 2..=2,
        question: Question::Move,
        order: Order::Together,
        board: false,
        turns: TICKS,
        remembers: MEMORY as u16,
        columns: "ticks,score_a,gold_a,score_b,gold_b",
    };

    pub(super) fn start(_seats: u8, draws: &mut Draws) -> Self {
        let key = Key([draws.below(u32::MAX), draws.below(u32::MAX)]);
        let map = Map::new(key);
        let drone = |seat| Drone { at: map.station(seat), has: Pieces::default(), wants: None, did: None };
        let drones = [drone(0), drone(1)];
        Self { key, taken: [0; TAKEN], drones, tick: 0, spoke: Seats::NONE, forfeited: Seats::NONE }
    }

    /// The pieces other than gold are not remembered, only what they were worth: food and wood stand in for all.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "there are two drones, and what is cut off belongs to others"
    )]
    pub(super) fn recall(seed: Seed, digest: u64) -> Self {
        let mut game = Self::start(2, &mut Draws::new(seed));
        game.tick = (digest & 0x1ff) as u16;
        let forfeited = digest >> 9;
        game.forfeited = (0..2).filter(|seat| forfeited >> seat & 1 == 1).fold(Seats::NONE, Seats::with);
        for (drone, seat) in game.drones.iter_mut().zip(0..) {
            let kept = digest >> (11 + KEPT * seat);
            let rest = (kept >> 8 & 0x3ff) as u16;
            drone.has = Pieces { wood: (rest % 3) as u8, stone: 0, gold: kept as u8, food: (rest / 3) as u8 };
            drone.wants = Action::from_bits(kept >> 18 & 7);
        }
        game
    }

    fn is_over(&self) -> bool {
        self.tick >= TICKS || !self.forfeited.is_empty()
    }

    fn drone(&self, seat: Seat) -> Option<&Drone> {
        self.drones.get(usize::from(seat))
    }

    fn is_taken(&self, slot: u16) -> bool {
        self.taken.get(usize::from(slot / 8)).is_some_and(|byte| byte >> (slot % 8) & 1 == 1)
    }

    /// What a cell is now.
    fn ground(&self, map: &Map, spot: Spot) -> Ground {
        let ground = map.ground(spot);
        if Resource::on(ground).is_some() && self.is_taken(map.slot(spot)) { Ground::Grass } else { ground }
    }

    /// Whether a drone can do that, from where it is.
    fn judge(&self, drone: &Drone, action: Action, map: &Map) -> Result<(), Illegal> {
        match action {
            Action::Wait => Ok(()),
            Action::Move(direction) => match drone.at.towards(direction).map(|there| map.ground(there)) {
                None => Err(Illegal("direction: the map ends there")),
                Some(Ground::Water) => Err(Illegal("direction: there is water, a drone cannot enter it")),
                Some(Ground::Mountain) => Err(Illegal("direction: there is a mountain, a drone cannot enter it")),
                Some(_) => Ok(()),
            },
            Action::Harvest => match Resource::on(self.ground(map, drone.at)) {
                None => Err(Illegal("action: there is nothing to harvest under the drone")),
                Some(_) => Ok(()),
            },
        }
    }

    /// Both do what they want.
    fn resolve(&mut self, map: &Map) {
        let first = usize::from(self.tick % 2);
        for seat in [first, first ^ 1] {
            let Some(&Drone { at, wants, .. }) = self.drones.get(seat) else { continue };
            let did = match wants {
                None | Some(Action::Wait) => Did::Wait,
                Some(Action::Move(direction)) => Did::Move(direction),
                Some(Action::Harvest) => Did::Harvest(self.harvest(map, at)),
            };
            let Some(drone) = self.drones.get_mut(seat) else { continue };
            match did {
                Did::Move(direction) => drone.at = at.towards(direction).unwrap_or(at),
                Did::Harvest(Some(piece)) => drone.has.add(piece),
                Did::Harvest(None) | Did::Wait => {}
            }
            (drone.wants, drone.did) = (None, Some(did));
        }
        self.tick = self.tick.saturating_add(1);
    }

    /// Takes what is there, if there is something.
    fn harvest(&mut self, map: &Map, spot: Spot) -> Option<Resource> {
        let piece = Resource::on(self.ground(map, spot))?;
        let slot = map.slot(spot);
        *self.taken.get_mut(usize::from(slot / 8))? |= 1 << (slot % 8);
        Some(piece)
    }

    /// Whether a viewer sees a place.
    fn sees(&self, viewer: Viewer, spot: Spot) -> bool {
        match viewer {
            Viewer::Owner => true,
            // Somebody might tell a drone what it cannot see.
            Viewer::Spectator => self.is_over() || self.drones.iter().any(|drone| drone.sees(spot)),
            Viewer::Seat(seat) => self.drone(seat).is_some_and(|drone| drone.sees(spot)),
        }
    }
}

impl Game for Rush {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        if self.is_over() {
            return Seats::NONE;
        }
        let owed = |(_, drone): &(Seat, &Drone)| drone.wants.is_none();
        (0..).zip(&self.drones).filter(owed).map(|(seat, _)| seat).fold(Seats::NONE, Seats::with)
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        let action = Action::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        let map = Map::new(self.key);
        if let Some(drone) = self.drone(seat) {
            self.judge(drone, action, &map)?;
        }
        if let Some(drone) = self.drones.get_mut(usize::from(seat)) {
            drone.wants = Some(action);
        }
        self.spoke = self.spoke.without(Seats::only(seat));
        if self.said(seat, wanted).is_some() {
            self.spoke = self.spoke.with(seat);
        }
        if self.to_move().is_empty() {
            self.resolve(&map);
        }
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.forfeited = losers;
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        let (true, Some(drone)) = (self.to_move().has(seat), self.drone(seat)) else { return };
        let map = Map::new(self.key);
        let steps = Direction::ALL.map(Action::Move);
        let all = [Action::Wait, Action::Harvest].into_iter().chain(steps);
        let mut legal = all.filter(|&action| self.judge(drone, action, &map).is_ok());
        // Whoever breaks off wants no more.
        let _ = legal.try_for_each(|action| sink.legal_move(&action.wire()));
    }

    fn turn(&self) -> u16 {
        self.tick.saturating_add(1)
    }

    fn score(&self, seat: Seat) -> i32 {
        self.drone(seat).map_or(0, |drone| drone.has.score())
    }

    fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        let map = Map::new(self.key);
        let cell = |spot| if self.sees(viewer, spot) { self.ground(&map, spot) as i8 } else { -1 };
        let row = |y| Seq(move || (0..SIZE).map(move |x| cell(Spot { x, y })));
        out.serialize_entry("tick", &self.tick)?;
        out.serialize_entry("maxTicks", &TICKS)?;
        out.serialize_entry("mapSize", &SIZE)?;
        out.serialize_entry("grid", &Seq(|| (0..SIZE).map(row)))?;
        let position = |_, drone: &Drone| Some(drone.at).filter(|&at| self.sees(viewer, at));
        out.serialize_entry("playerPositions", &Each(self, table, position))?;
        out.serialize_entry("playerResources", &Each(self, table, |_, drone: &Drone| drone.has))?;
        // What comes with a move that waits for the other one is not told before it.
        let heard = |seat, drone: &Drone| self.spoke.has(seat) && drone.wants.is_none();
        let thought = |seat, drone: &Drone| if heard(seat, drone) { table.said(seat) } else { "" };
        out.serialize_entry("playerThoughts", &Each(self, table, thought))?;
        out.serialize_entry("scores", &Each(self, table, |_, drone: &Drone| drone.has.score()))?;
        if let Viewer::Seat(seat) = viewer {
            let memory = Some(table.note(seat)).filter(|note| !note.is_empty());
            out.serialize_entry("memory", &memory.map(Raw))?;
        }
        Ok(())
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.drone(seat).and_then(|drone| drone.did) {
            None => Ok(()),
            Some(Did::Wait) => f.write_str("Waited"),
            Some(Did::Move(direction)) => write!(f, "Moved {}", direction.name()),
            Some(Did::Harvest(Some(piece))) => write!(f, "Harvested {}", piece.name()),
            Some(Did::Harvest(None)) => f.write_str("Harvested nothing: the other drone was quicker"),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tick == 0 {
            return Ok(());
        }
        write!(f, "Tick {}: ", self.tick)?;
        self.tally(table, f)
    }

    fn note<'a>(&self, _seat: Seat, wanted: Value<'a>) -> Option<Value<'a>> {
        wanted.get("memory").filter(|memory| !memory.is_null())
    }

    fn said<'a>(&self, _seat: Seat, wanted: Value<'a>) -> Option<Str<'a>> {
        wanted.get("thought")?.as_str()
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        self.drone(seat).and_then(Drone::last).map(Action::wire).serialize(serializer)
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("total_ticks", &self.tick)?;
        out.serialize_entry("final_score", &Each(self, table, |_, drone: &Drone| drone.has.score()))?;
        out.serialize_entry("gold", &Each(self, table, |_, drone: &Drone| drone.has.gold))
    }

    fn standing(&self) -> Option<Standing> {
        if !self.is_over() {
            return None;
        }
        let mut scores = [0; MAX_SEATS];
        for (score, drone) in scores.iter_mut().zip(&self.drones) {
            *score = drone.has.score();
        }
        Some(Standing::after_forfeit(2, scores, self.forfeited))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for loser in self.forfeited.iter() {
            write!(f, "{} gave up. ", table.name(loser))?;
        }
        write!(f, "After {} ticks: ", self.tick)?;
        self.tally(table, f)
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tick)?;
        self.drones.iter().try_for_each(|Drone { has, .. }| write!(f, ",{},{}", has.score(), has.gold))
    }

    #[expect(clippy::arithmetic_side_effects, reason = "there are two drones, and gold is a part of the score")]
    fn digest(&self) -> u64 {
        let forfeited = u64::from(self.forfeited.has(0)) | u64::from(self.forfeited.has(1)) << 1;
        let mut digest = u64::from(self.tick) | forfeited << 9;
        for (seat, drone) in (0..).zip(&self.drones) {
            let gold = drone.has.gold;
            let rest = drone.has.score() - GOLD * i32::from(gold);
            let kept = u64::from(gold) | u64::from(rest.unsigned_abs()) << 8 | Action::to_bits(drone.last()) << 18;
            digest |= kept << (11 + KEPT * seat);
        }
        digest
    }
}

impl Rush {
    /// `Alpha 120, Beta 80`
    fn tally(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {} {}", table.name(0), self.score(0), table.name(1), self.score(1))
    }
}

/// `{agentId: …}` of both drones.
struct Each<'a, F>(&'a Rush, Table<'a>, F);

impl<F: Fn(Seat, &Drone) -> T, T: Serialize> Serialize for Each<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Each(game, table, of) = self;
        serializer.collect_map((0..).zip(&game.drones).map(|(seat, drone)| (table.id(seat), of(seat, drone))))
    }
}
