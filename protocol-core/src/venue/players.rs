//! The players: who gets in, who leaves, who takes part.

use core::net::IpAddr;

use heapless::String;

use super::check::Ready;
use super::facts::Fact;
use super::ladder::Wish;
use super::rounds::{Seating, Stage};
use super::settings::sizes;
use super::{Venue, count, name};
use crate::contact::{Contact, Endpoint};
use crate::games::GameSet;
use crate::ids::AgentId;
use crate::log::Happening;
use crate::protocols::{self, AnySession};
use crate::referee::{Breaker, Fault};
use crate::season::{Compliance, Latency, Rating};
use crate::time::{Now, Utc};

/// The longest name that is kept, in bytes. Longer ones are cut.
pub const NAME_BYTES: usize = 64;

/// The life of an agent, as the specification draws it. (INIT is before it registered: we do not know it then.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// Has an id and a token.
    Registered,
    /// Plays.
    Active,
    /// Did not answer the last time it was asked.
    Suspended,
    /// Has left, or the league is over.
    Shutdown,
}

impl AgentState {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            AgentState::Registered => "REGISTERED",
            AgentState::Active => "ACTIVE",
            AgentState::Suspended => "SUSPENDED",
            AgentState::Shutdown => "SHUTDOWN",
        }
    }
}

/// A registered player.
pub struct Player {
    /// The number in its id.
    pub number: u16,
    /// Which registration made it; part of its token.
    pub(crate) issue: u32,
    /// What it calls itself.
    pub name: String<NAME_BYTES>,
    /// Its version, as it says.
    pub version: String<16>,
    /// How it is reached.
    pub contact: Contact,
    /// Where it is in its life.
    pub state: AgentState,
    /// What it says it plays.
    pub games: GameSet,
    /// What was said to it, in its own protocol.
    pub session: AnySession,
    /// Which rules it broke.
    pub compliance: Compliance,
    /// Whether it is worth calling.
    pub breaker: Breaker,
    /// How long it takes to answer.
    pub latency: Latency,
    /// How strong it is.
    pub rating: Rating,
    /// The game it waits for in the queue of the ladder.
    pub(super) wish: Option<Wish>,
    /// Its place in the schedule; [`OUTSIDE`] where it has none.
    pub(crate) place: u16,
    /// Where it sits now.
    pub(crate) seating: Option<Seating>,
    /// Why nothing is said to it any more.
    pub(super) gone: Option<Gone>,
    /// Whether one that dials in is there.
    pub(super) is_linked: bool,
    /// Whether [`Venue::poll_output`] will name it.
    pub(super) is_listed: bool,
    /// What came of the last test call.
    pub(crate) ready: Ready,
    /// When it last said something; 0 if it has not.
    pub(super) seen: Utc,
}

/// Why nothing is said to a player any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It has left.
    Left,
    /// The admin has removed it.
    Removed,
}

/// Somebody who wants to play.
pub(crate) struct Applicant {
    /// What it calls itself; empty where it has no name.
    pub name: String<NAME_BYTES>,
    /// Its version, as it says.
    pub version: String<16>,
    /// How it is reached.
    pub contact: Contact,
    /// What it says it plays.
    pub games: GameSet,
    /// The number it would like to have.
    pub suggested: Option<u16>,
    /// Which rules it broke when it asked.
    pub compliance: Compliance,
    /// The protocol it speaks.
    pub session: AnySession,
    /// Whether it may come while a league runs, and play beside it.
    pub plays_beside: bool,
}

/// Why somebody cannot play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// A league runs.
    Closed,
    /// It does not play the game of the league.
    Game,
    /// Somebody has this name.
    Name,
    /// There is no room.
    Full,
    /// There is none for one more from its address.
    TooMany,
}

/// Stands for no place in the schedule.
pub(super) const OUTSIDE: u16 = u16::MAX;

impl Player {
    /// One that has just come.
    pub(super) fn new(
        number: u16,
        issue: u32,
        name: String<NAME_BYTES>,
        contact: Contact,
        session: AnySession,
    ) -> Self {
        Self {
            number,
            issue,
            name,
            version: String::new(),
            contact,
            state: AgentState::Registered,
            games: GameSet::ALL,
            session,
            compliance: Compliance::new(),
            breaker: Breaker::new(),
            latency: Latency::new(),
            rating: Rating::NEW,
            wish: None,
            place: OUTSIDE,
            seating: None,
            gone: None,
            is_linked: false,
            is_listed: false,
            ready: Ready::Unknown,
            seen: Utc(0),
        }
    }

    /// Its id.
    pub fn id(&self) -> AgentId {
        AgentId::Player(self.number)
    }

    /// Whether the admin has removed it.
    pub fn is_removed(&self) -> bool {
        self.gone == Some(Gone::Removed)
    }

    /// Whether it has left, or had to.
    pub(crate) fn has_left(&self) -> bool {
        self.gone.is_some()
    }

    /// Nothing is said to it any more.
    pub(super) fn hang_up(&mut self, gone: Gone) {
        self.session.hang_up();
        (self.gone, self.is_linked, self.ready, self.seen) = (Some(gone), false, Ready::Unknown, Utc(0));
    }

    /// What it means that no answer came.
    pub(crate) fn fault_of_silence(&self) -> Fault {
        if self.is_away() { Fault::Unreachable } else { Fault::Silent }
    }

    /// What came of the last test call.
    pub fn ready(&self) -> Ready {
        self.ready
    }

    /// When it last said something, as far as the box remembers.
    pub fn last_seen(&self) -> Option<Utc> {
        Some(self.seen).filter(|seen| seen.0 > 0)
    }

    /// Whether it dials in and is not there.
    pub fn is_away(&self) -> bool {
        self.contact.endpoint().is_none() && !self.is_linked && !self.session.polls()
    }

    /// Whether it could vote on a match of others just now.
    pub(super) fn may_vote(&self) -> bool {
        self.session.votes() && !self.is_away() && self.seating.is_none()
    }

    /// A player whose matches end at once is not called for news either: each would cost its time-out.
    pub(crate) fn is_held_back(&self) -> bool {
        self.breaker.is_open() && self.state != AgentState::Shutdown
    }

    /// Who dials in and is away hears news when it is back. At the end there is no later.
    pub(crate) fn is_told_later(&self) -> bool {
        self.is_away() && self.state != AgentState::Shutdown
    }
}

impl Venue<'_> {
    /// Takes in a player, or says why it cannot play. It has [entered](Self::entered) when that is noted.
    pub(crate) fn admit(&mut self, applicant: Applicant) -> Result<u16, NotAdmitted> {
        let Applicant { mut name, version, contact, games, suggested, compliance, session, plays_beside } = applicant;
        if matches!(self.stage, Stage::Running(_)) && !plays_beside {
            return Err(NotAdmitted::Closed);
        }
        if !plays_beside && !games.has(self.config.game) {
            return Err(NotAdmitted::Game);
        }
        if !name.is_empty() && self.has_player_called(&name) {
            return Err(NotAdmitted::Name);
        }
        let seats = if plays_beside { self.capacity() } else { self.seats() };
        if self.memory.players.len() >= seats {
            return Err(NotAdmitted::Full);
        }
        if !self.has_seat_for(contact.from()) {
            return Err(NotAdmitted::TooMany);
        }
        let taken = |number: u16| self.memory.players.iter().any(|player| player.number == number);
        let first_free = || (1..=count(self.capacity())).find(|&number| !taken(number));
        let number = suggested.filter(|&number| !taken(number)).or_else(first_free).ok_or(NotAdmitted::Full)?;
        if name.is_empty() {
            let _ = core::fmt::write(&mut name, format_args!("{}", AgentId::Player(number)));
        }
        let issue = self.issued.wrapping_add(1);
        let player = Player { version, games, compliance, ..Player::new(number, issue, name, contact, session) };
        let index = count(self.memory.players.len());
        self.memory.players.push(player).map_err(|_| NotAdmitted::Full)?;
        self.issued = issue;
        Ok(index)
    }

    /// Somebody is in: that is noted, and a league may start with it.
    pub(crate) fn entered(&mut self, now: Now, id: AgentId) {
        self.note(now, Some(id), None, Happening::Registered);
        self.memory.facts.push(match id {
            AgentId::Player(number) => Fact::Player(number),
            AgentId::Referee(number) => Fact::Referee(number),
        });
        self.start_if_enough(now);
    }

    /// How many can play a league of the game that is set.
    fn seats(&self) -> usize {
        self.capacity().min((*sizes(self.config.game).end()).into())
    }

    /// Whether somebody has this name, or one that people would take for it.
    fn has_player_called(&self, name: &str) -> bool {
        // Who has left may come back for the next league; whom the owner removed has to wait for its beginning.
        let stays = |player: &&Player| player.gone != Some(Gone::Left);
        self.memory.players.iter().filter(stays).any(|player| name::is_same(&player.name, name))
    }

    /// Whether one more player may come from an address.
    fn has_seat_for(&self, from: IpAddr) -> bool {
        let neighbours = self.memory.players.iter().filter(|player| player.contact.from() == from).count();
        neighbours < self.most_from_one_address(self.seats())
    }

    /// So many of the seats may go to one address: a quarter is left to others, unless the owner says otherwise. Where there
    /// are hardly any seats, a table of four may still sit at one computer.
    pub(crate) fn most_from_one_address(&self, seats: usize) -> usize {
        let most = seats.saturating_sub(seats / 4).max(4);
        self.config.per_address.map_or(most, usize::from)
    }

    /// Whether a call would come back to the box itself.
    pub(crate) fn is_own(&self, to: &Endpoint) -> bool {
        let here = Endpoint::of_box(&self.config.endpoint);
        let (ip, home) = (to.ip(), here.map(|at| at.ip()));
        here.into_iter().chain(self.config.own.into_iter().flatten().copied()).any(|own| {
            let is_there = own.ip() == ip || ip.is_loopback() || own.ip().is_unspecified() && home == Some(ip);
            own.port() == to.port && is_there
        })
    }

    /// A player leaves or has to: before the league its place is free again, later its matches are lost.
    pub(crate) fn part_with(&mut self, now: Now, player: u16, gone: Gone) {
        let leaver = self.memory.players.get_mut(usize::from(player)).filter(|player| !player.has_left());
        let Some(leaver) = leaver else { return };
        let (id, number) = (leaver.id(), leaver.number);
        self.memory.facts.push(match gone {
            Gone::Left => Fact::Left(number),
            Gone::Removed => Fact::Removed(number),
        });
        leaver.state = AgentState::Shutdown;
        leaver.hang_up(gone);
        let seating = leaver.seating;
        if let Some(seating) = seating {
            self.abandon(now, seating);
        }
        self.is_gone(now, player);
        if self.stage == Stage::Waiting {
            // Lines change hands now, so none may be in the middle of a call.
            for index in self.lines() {
                if self.give_way(index) {
                    self.memory.timers.set(index.into(), None);
                }
            }
            self.memory.players.remove(player.into());
            self.memory.notes.forget(number);
            self.move_up(player);
        } else {
            self.list(player);
        }
        self.note(now, Some(id), None, Happening::Left);
    }

    /// The number of the player that shows who it is by this token or key, in whatever protocol.
    pub fn player_of_credential(&self, credential: &str) -> Option<u16> {
        self.player(protocols::who_has(self, credential)?).map(|player| player.number)
    }

    /// Whether a player is in the league that begins. It must play the game; and where another league came before, it must have
    /// been in that or be there now. Whoever only looked in would keep the others waiting.
    pub(super) fn takes_part(&self, player: &Player) -> bool {
        let is_there = self.stage == Stage::Waiting || player.place != OUTSIDE || !player.is_away();
        is_there && player.games.has(self.config.game)
    }

    /// How many would play if the next league began now.
    pub fn takers(&self) -> usize {
        self.memory.players.iter().filter(|player| self.takes_part(player) && !player.has_left()).count()
    }

    /// Why a player is not in the league that runs, or will not be in the next one.
    pub fn sits_out(&self, player: &Player) -> Option<&'static str> {
        let is_running = matches!(self.stage, Stage::Running(_));
        let game = if is_running { self.playing } else { self.config.game };
        match player {
            player if player.has_left() || is_running && player.place != OUTSIDE => None,
            player if !player.games.has(game) => Some("the games it registered for do not name this one"),
            _ if is_running => Some("it came when the league had begun"),
            player if !self.takes_part(player) => Some("it is not connected"),
            _ => None,
        }
    }

    /// Seats the players for a league: by id, whatever the order they came in.
    pub(super) fn seat_players(&mut self) {
        self.memory.seating.clear();
        for index in self.lines() {
            if self.player(index).is_some_and(|player| self.takes_part(player)) {
                let _ = self.memory.seating.push(index);
            }
        }
        let number = |&player: &u16| self.memory.players.get(usize::from(player)).map(|player| player.number);
        self.memory.seating.sort_unstable_by_key(number);
        self.memory.players.iter_mut().for_each(|player| player.place = OUTSIDE);
        for (place, &player) in (0..).zip(self.memory.seating.iter()) {
            if let Some(player) = self.memory.players.get_mut(usize::from(player)) {
                player.place = place;
            }
        }
    }
}
