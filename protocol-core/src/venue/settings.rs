//! What the owner may change: the game, the mode, the times, when to start, the seed, the pace. While a league runs its game
//! and what its players must keep to are those they came for; all else may change at any time.

use core::ops::RangeInclusive;

use heapless::String;

use super::facts::Fact;
use super::speeches::beginning;
use super::{Mode, Refusal, Stage, TOPIC_BYTES, Venue};
use crate::fair::{Purpose, Seed};
use crate::games::GameKind;
use crate::log::Happening;
use crate::season::Schedule;
use crate::time::{Millis, Now};

/// A timeout of nothing would forfeit every match; one of more than an hour is a typing error.
pub const TIMEOUT_MS: RangeInclusive<Millis> = 1..=3_600_000;

/// How many seconds more than its players may take a referee elsewhere has for a match, at most.
pub const REFEREES_SECONDS: u8 = 120;

/// How long an audience votes unless the owner says otherwise.
pub const VOTE_SECONDS: u16 = 60;

/// How fast a league goes on. The box holds back its next question; nobody's deadline is shorter or longer by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as the players.
    Fast,
    /// So that people can follow: turns and matches have a least duration, and there is a break between rounds.
    Watch,
    /// The same, and the owner begins each round.
    Step,
}

impl Pace {
    /// All of them. Journals know one by its place here.
    pub const ALL: [Pace; 3] = [Pace::Fast, Pace::Watch, Pace::Step];

    /// Its name in settings, on the command line and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Pace::Fast => "fast",
            Pace::Watch => "watch",
            Pace::Step => "step",
        }
    }
}

/// The pace, and what it means in milliseconds where it is not [`Pace::Fast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// How fast.
    pub pace: Pace,
    /// A turn lasts no less,
    pub turn_ms: Millis,
    /// a match no less,
    pub match_ms: Millis,
    /// and the break between two rounds so long.
    pub break_ms: Millis,
}

impl Default for Pacing {
    fn default() -> Self {
        Self { pace: Pace::Fast, turn_ms: 1_000, match_ms: 5_000, break_ms: 5_000 }
    }
}

/// How long players have: from these, each protocol makes its [`Policy`](crate::referee::Policy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Who is called: to accept an invitation,
    pub join_ms: Millis,
    /// to make a move,
    pub move_ms: Millis,
    /// to answer the first retry; the second lasts twice, the third four times as long;
    pub retry_base_ms: Millis,
    /// to take note of anything else.
    pub notice_ms: Millis,
    /// Who follows its games by itself: for the first move of one,
    pub first_turn_ms: Millis,
    /// and for every later one.
    pub turn_ms: Millis,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            join_ms: 5_000,
            move_ms: 30_000,
            retry_base_ms: 1_000,
            notice_ms: 10_000,
            first_turn_ms: 180_000,
            turn_ms: 90_000,
        }
    }
}

/// How many can play a league of a game.
pub fn sizes(game: GameKind) -> RangeInclusive<u16> {
    Schedule::new(*game.rules().seats.start(), 0).sizes()
}

/// New settings. What is `None` stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The game of the league.
    pub game: Option<GameKind>,
    /// What happens to deviations.
    pub mode: Option<Mode>,
    /// At how many players it starts by itself; `Some(None)`: it does not.
    pub start_at: Option<Option<u16>>,
    /// To accept an invitation.
    pub join_ms: Option<Millis>,
    /// To make a move.
    pub move_ms: Option<Millis>,
    /// The first retry.
    pub retry_base_ms: Option<Millis>,
    /// For who follows its games by itself: its first move of one,
    pub first_turn_ms: Option<Millis>,
    /// and every later one.
    pub turn_ms: Option<Millis>,
    /// How fast it goes on.
    pub pace: Option<Pace>,
    /// Where that is not [`Pace::Fast`]: the least a turn lasts,
    pub pace_turn_ms: Option<Millis>,
    /// the least a match lasts,
    pub pace_match_ms: Option<Millis>,
    /// and the break between two rounds.
    pub pace_break_ms: Option<Millis>,
    /// Players from one address; `Some(None)`: as many as leave others a quarter of the seats.
    pub per_address: Option<Option<u16>>,
    /// After how many seconds a room that waits is filled with house players; `Some(None)`: never.
    pub fill_after: Option<Option<u16>>,
    /// How long an audience votes.
    pub vote_seconds: Option<u16>,
    /// Whether an agent may be called at another address than it registered from.
    pub other_hosts: Option<bool>,
    /// Whether others may referee, and how many seconds more than their players have; `Some(None)`: they may not.
    pub foreign_referees: Option<Option<u8>>,
    /// Decides all draws; `Some(None)`: chance does. Whoever chose it can foretell them, so it is known that it was chosen.
    pub seed: Option<Option<Seed>>,
}

impl Change {
    /// What of it leaves alone what the players of a running league came for.
    pub fn harmless(self) -> Change {
        let Change {
            pace,
            pace_turn_ms,
            pace_match_ms,
            pace_break_ms,
            start_at,
            per_address,
            other_hosts,
            foreign_referees,
            fill_after,
            vote_seconds,
            ..
        } = self;
        let harmless = Change { pace, pace_turn_ms, pace_match_ms, pace_break_ms, start_at, ..Change::default() };
        Change { per_address, other_hosts, foreign_referees, fill_after, vote_seconds, ..harmless }
    }
}

impl Venue<'_> {
    /// Changes the settings, all or none of them. If that makes the players who are here enough, the league starts.
    pub fn configure(&mut self, now: Now, change: Change) -> Result<(), Refusal> {
        if matches!(self.stage, Stage::Running(_)) && change != change.harmless() {
            return Err(Refusal(
                "while a league runs, only pace, start_at, per_address, other_hosts, foreign_referees, fill_after and vote_seconds can be changed; the rest when it is over",
            ));
        }
        let sizes = sizes(change.game.unwrap_or(self.config.game));
        if change.start_at.unwrap_or(self.config.start_at).is_some_and(|n| !sizes.contains(&n)) {
            return Err(Refusal(
                "start_at must suit the game: at least as many players as it seats, and at most 32 where it seats more than two",
            ));
        }
        let Change { game, mode, start_at, join_ms, move_ms, retry_base_ms, first_turn_ms, turn_ms, seed, .. } = change;
        let Change { pace, pace_turn_ms, pace_match_ms, pace_break_ms, per_address, other_hosts, fill_after, .. } =
            change;
        fn set<T>(setting: &mut T, new: Option<T>) {
            if let Some(new) = new {
                *setting = new;
            }
        }
        let timing = &mut self.config.timing;
        set(&mut timing.join_ms, join_ms);
        set(&mut timing.move_ms, move_ms);
        set(&mut timing.retry_base_ms, retry_base_ms);
        set(&mut timing.first_turn_ms, first_turn_ms);
        set(&mut timing.turn_ms, turn_ms);
        let before = self.config.pacing;
        let pacing = &mut self.config.pacing;
        set(&mut pacing.pace, pace);
        set(&mut pacing.turn_ms, pace_turn_ms);
        set(&mut pacing.match_ms, pace_match_ms);
        set(&mut pacing.break_ms, pace_break_ms);
        set(&mut self.config.per_address, per_address);
        set(&mut self.config.fill_after, fill_after);
        if let Some(seconds) = change.vote_seconds {
            self.config.vote_seconds = seconds;
            self.memory.facts.push(Fact::Debates);
        }
        set(&mut self.config.other_hosts, other_hosts);
        set(&mut self.config.foreign_referees, change.foreign_referees);
        set(&mut self.config.game, game);
        set(&mut self.config.mode, mode);
        set(&mut self.config.start_at, start_at);
        let seed = match seed {
            Some(Some(seed)) => Some((seed, true)),
            // Nobody knows the secret, so nobody can foretell what follows from it.
            Some(None) if self.seed_is_chosen() => {
                Some((self.secret.derive(Purpose::Master, [self.number, self.issued, 0]), false))
            }
            _ => None,
        };
        self.note(now, None, None, Happening::Admin("settings"));
        match seed {
            // The draws of a league that is over are those of its own seed.
            Some((seed, chosen)) if self.stage == Stage::Completed => {
                self.next_seed = Some((seed, chosen));
                self.memory.facts.push(Fact::Settings);
                self.memory.facts.push(Fact::NextSeed);
            }
            // Everything is derived from it.
            Some((seed, chosen)) => {
                (self.master, self.seed_is_chosen) = (seed, chosen);
                self.memory.facts.begin_chapter();
            }
            None => self.memory.facts.push(Fact::Settings),
        }
        if before != self.config.pacing {
            self.change_pace(now);
        }
        self.start_if_enough(now);
        self.advance(now);
        Ok(())
    }

    /// Sets what debates are about from now on; nothing: what their seeds decide. The part of it that there is room for.
    pub fn set_topic(&mut self, now: Now, topic: &str) {
        self.config.topic = String::try_from(beginning(topic, TOPIC_BYTES)).unwrap_or_default();
        self.note(now, None, None, Happening::Admin("topic"));
        self.memory.facts.push(Fact::Debates);
    }

    /// All draws come from a seed that somebody chose.
    pub fn set_seed(&mut self, seed: Seed) {
        self.master = seed;
        self.seed_is_chosen = true;
    }

    /// The code of a screen that may show what is hidden from players, of 48 bits. Nobody knows the secret, so nobody can
    /// compute it; another `nonce` is another code.
    pub fn projector_code(&self, nonce: u32) -> u64 {
        let Seed(bytes) = self.secret.derive(Purpose::Projector, [nonce, 0, 0]);
        bytes.iter().take(6).fold(0, |code, &byte| code << 8 | u64::from(byte))
    }

    /// Whether somebody chose the seed, and not chance: of the next league, where this one is over.
    pub fn seed_is_chosen(&self) -> bool {
        self.next_seed.map_or(self.seed_is_chosen, |(_, chosen)| chosen)
    }

    /// The next league begins: its seed is the one that was set for it.
    pub(super) fn take_next_seed(&mut self) {
        if let Some((seed, chosen)) = self.next_seed.take() {
            (self.master, self.seed_is_chosen) = (seed, chosen);
        }
    }

    /// Starts the league if it starts by itself at so many players.
    pub(super) fn start_if_enough(&mut self, now: Now) {
        let enough = self.config.start_at.is_some_and(|n| self.takers() >= n.into());
        if enough && self.fits().is_ok() && self.stage == Stage::Waiting {
            self.start(now);
        }
    }
}
