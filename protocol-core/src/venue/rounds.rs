//! When things happen: start, rounds, results, standings, the end.

use core::fmt;

use heapless::Vec;

use super::facts::Fact;
use super::film::{Film, LATE, moved};
use super::notes::{Note, PastOf};
use super::pace::Held;
use super::players::{AgentState, OUTSIDE, Player};
use super::settings::sizes;
use super::{Memory, Venue, count};
use crate::fair::{Draws, Seed};
use crate::games::{AnyGame, Game, GameKind, MAX_SEATS, Question, Rules, SAID, Seat, Seats};
use crate::ids::MatchId;
use crate::json::Value;
use crate::log::Happening;
use crate::message::Message;
use crate::protocols::Code;
use crate::referee::{Breaker, Cause, Fault, Lapse, Match, Phase, Policy};
use crate::season::{Endings, Places, Record, Rule, Tally, checksum, rank};
use crate::time::{Millis, Now};

/// Where the league stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Players may register.
    Waiting,
    /// This round is being played, or is over and the next one has not begun; 0 before the first.
    Running(u16),
    /// It has a champion.
    Completed,
}

/// What the owner of the box may command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Close the registration and begin.
    Start,
    /// Let the round finish, then wait.
    Pause,
    /// Go on.
    Resume,
    /// Begin the next round, and not wait any longer.
    Next,
    /// Forget everything: players, results, tokens.
    Reset,
    /// The next league, of the game that is set for it: with the same players, and those who came since and are there.
    Rematch,
}

/// Why a command cannot be obeyed now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(pub &'static str);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Where a player sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seating {
    /// Which of the tables in use.
    pub slot: u16,
    /// Which seat at it.
    pub seat: Seat,
}

/// Which of the two rankings: see [`Venue`].
enum Ranking {
    Closed,
    Current,
}

/// The players at a table, by seat: their lines.
pub type Lines = Vec<u16, MAX_SEATS>;

/// A match that is being played.
pub struct Table {
    /// Which match.
    pub id: MatchId,
    /// By seat; of seats the game does not have, nobody's.
    pub(super) lines: [u16; MAX_SEATS],
    /// The match.
    pub play: Match<AnyGame>,
    /// The beginning of the commitment to its seed: where a protocol calls a match by an id of its own, it makes it of this.
    pub(crate) tag: [u8; 16],
    pub(super) held: Held,
    /// Seats that know they have been matched.
    pub(crate) greeted: Seats,
    /// Moves so far, and at last its end.
    pub(super) steps: u16,
    pub(crate) spectators: u8,
    /// Whether its turns are short.
    pub(crate) is_blitz: bool,
    pub(crate) life: Life,
}

/// Where a table is in its life, whoever filled it. It begins when the seats are taken, and when it is over it stays for as long
/// as somebody sits there or looks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Everybody sits, and its match has yet to begin.
    Countdown,
    /// Its match is played, or its result held back.
    Playing,
    /// Its match was played, and the audience decides.
    Voting,
    /// Its result is counted, and those who are told by their game still hear of it.
    Over,
    /// It was ended for the sake of the league, and counts for nobody.
    CalledOff,
}

impl Table {
    pub(super) fn new(id: MatchId, players: &[u16], play: Match<AnyGame>) -> Self {
        let mut lines = [u16::MAX; MAX_SEATS];
        lines.iter_mut().zip(players).for_each(|(line, player)| *line = *player);
        let mut tag = [0; 16];
        tag.iter_mut().zip(play.seed().commitment().0).for_each(|(byte, of_hash)| *byte = of_hash);
        let (held, greeted, steps, spectators) = (Held::default(), Seats::NONE, 0, 0);
        Self { id, lines, play, tag, held, greeted, steps, spectators, is_blitz: false, life: Life::Playing }
    }

    /// The players at it, by seat: their lines.
    pub fn players(&self) -> &[u16] {
        self.lines.get(..self.play.game().seats().into()).unwrap_or(&self.lines)
    }

    /// The same for keeps.
    pub(crate) fn seated(&self) -> Lines {
        Lines::from_slice(self.players()).unwrap_or_default()
    }

    /// What its players are asked now.
    pub(crate) fn question(&self) -> Message {
        match (self.play.phase(), self.play.game().rules().question) {
            (Phase::WaitingForPlayers, _) => Message::GameInvitation,
            (_, Question::Parity) => Message::ChooseParity,
            (_, Question::Move) => Message::MoveRequest,
        }
    }

    /// Whether nobody plays there any more.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.life, Life::Over | Life::CalledOff)
    }

    /// How long it is until play begins, while it is counted down.
    pub fn starts_in(&self, now: Millis) -> Option<Millis> {
        (self.life == Life::Countdown).then(|| self.play.began().saturating_sub(now))
    }

    /// Ends the countdown if its time has come.
    pub(super) fn start(&mut self, now: Millis) -> bool {
        let starts = self.starts_in(now) == Some(0);
        if starts {
            self.life = Life::Playing;
        }
        starts
    }

    /// The deadline of a seat has come. True if its player was late, for which `fault` is the reason.
    pub(super) fn due(
        &mut self,
        (film, past): (&mut Film, &mut PastOf<'_>),
        now: Now,
        seat: Seat,
        fault: Fault,
        policy: &Policy,
    ) -> bool {
        self.let_on(now.ms);
        let (of, at_ms, number) = (self.film_id(), self.play.elapsed(now.ms), self.steps.saturating_add(1));
        let film = |game: &AnyGame, made: Value<'_>, came| {
            film.add(of, number, at_ms, moved(seat, came) | LATE, Some((game, made)));
        };
        let lapse = self.play.due(seat, now.ms, fault, policy, past, film);
        if lapse == Lapse::Moved {
            self.steps = number;
        }
        lapse != Lapse::Nothing
    }

    /// Where the player on a line sits.
    pub(crate) fn seat_of(&self, line: u16) -> Option<Seat> {
        (0..).zip(self.players()).find(|(_, other)| **other == line).map(|(seat, _)| seat)
    }

    /// The lines of the others.
    pub(crate) fn opponents(&self, seat: Seat) -> impl Iterator<Item = u16> {
        (0..).zip(self.players()).filter(move |(other, _)| *other != seat).map(|(_, &line)| line)
    }
}

/// Why a league cannot begin that needs so many players, be it because those who are here play other games.
fn too_few(needs: u16, others_are_here: bool) -> Refusal {
    macro_rules! needs {
        ($league:literal, $players:literal, $of_it:literal) => {
            Refusal(if others_are_here {
                concat!($league, " needs at least ", $players, " players", $of_it, "; the others who are here sit out")
            } else {
                concat!($league, " needs at least ", $players, " players; register them first")
            })
        };
    }
    match needs {
        3 => needs!("a league of this game", "three", " of it"),
        4 => needs!("a league of this game", "four", " of it"),
        5 => needs!("a league of this game", "five", " of it"),
        6 => needs!("a league of this game", "six", " of it"),
        _ => needs!("a league", "two", " of this game"),
    }
}

impl Venue<'_> {
    /// Where the league stands.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether the next round waits for the admin.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Obeys a command of the owner, or says why it cannot be obeyed now.
    pub fn command(&mut self, now: Now, command: Command) -> Result<(), Refusal> {
        if let (Command::Start, Stage::Waiting) | (Command::Rematch, Stage::Completed) = (command, self.stage) {
            self.fits()?;
        }
        let word = match (command, self.stage) {
            (Command::Start, Stage::Waiting) => "start",
            (Command::Start, Stage::Running(_)) => return Err(Refusal("the league is already running")),
            (Command::Start, Stage::Completed) => {
                return Err(Refusal(
                    "the league is over; rematch plays another with the same players, reset begins anew",
                ));
            }
            (Command::Pause, Stage::Running(_)) if !self.paused => "pause",
            (Command::Pause, _) => return Err(Refusal("there is no running league to pause")),
            (Command::Resume, Stage::Running(_)) if self.paused => "resume",
            (Command::Resume, _) => return Err(Refusal("the league is not paused")),
            (Command::Next, _) => {
                self.may_go_on()?;
                "next"
            }
            (Command::Rematch, Stage::Completed) if !self.is_over() => {
                return Err(Refusal("the players are still being told how it ended; try again in a moment"));
            }
            (Command::Rematch, Stage::Completed) => "rematch",
            (Command::Rematch, _) => return Err(Refusal("a rematch follows a finished league")),
            (Command::Reset, _) => "reset",
        };
        self.note(now, None, None, Happening::Admin(word));
        match command {
            Command::Start => self.start(now),
            Command::Pause => {
                self.paused = true;
                self.memory.facts.push(Fact::Paused);
            }
            Command::Resume => {
                self.paused = false;
                self.memory.facts.push(Fact::Unpaused);
                self.end_break(now);
            }
            Command::Next => self.break_since = None,
            Command::Rematch => {
                self.number = self.number.saturating_add(1);
                self.take_next_seed();
                // Everybody has been told the end, so every line is idle and may change hands.
                while let Some(gone) = self.line_where(|player| player.has_left()) {
                    self.memory.players.remove(gone.into());
                    self.move_up(gone);
                }
                self.memory.facts.begin_chapter();
                self.start(now);
            }
            Command::Reset => self.reset(),
        }
        self.advance(now);
        Ok(())
    }

    /// Whether those who are here can play a league of this game, or why they cannot.
    pub(super) fn fits(&self) -> Result<(), Refusal> {
        let here = self.takers();
        let sizes = sizes(self.config.game);
        if here > usize::from(*sizes.end()) {
            Err(Refusal("a league of this game can have at most 32 players; remove some of them first"))
        } else if here >= usize::from(*sizes.start()) {
            Ok(())
        } else {
            let others_are_here = self.memory.players.iter().any(|player| !player.games.has(self.config.game));
            Err(too_few(*sizes.start(), others_are_here))
        }
    }

    /// Whether the league is over and everybody has been told, or cannot be.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Completed && self.memory.players.iter().all(|player| self.is_idle(player))
    }

    /// What is known of a finished match.
    pub fn record(&self, id: MatchId) -> Option<&Record> {
        if let Some(finished) = self.finished_game(id) {
            return Some(&finished.record);
        }
        self.memory.records.get(self.schedule().index(id.round, id.table)?)?.as_ref()
    }

    /// Who plays a match: places in the schedule, by seat.
    pub fn places(&self, id: MatchId) -> Option<Places> {
        self.schedule().places(id.round, id.table)
    }

    /// Which seat the player at a place in the schedule has in a match.
    pub(crate) fn seat_of_place(&self, id: MatchId, place: u16) -> Option<Seat> {
        seat_of(place, &self.places(id)?)
    }

    /// The matches of the league that are being played.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.all_tables().filter(|table| !table.id.is_outside())
    }

    /// Whether a player sits at a table where a game is being played.
    pub fn is_seated(&self, player: &Player) -> bool {
        let sits = |line| self.memory.players.get(usize::from(line)).is_some_and(|at| at.number == player.number);
        self.all_tables().any(|table| table.seated().into_iter().any(sits))
    }

    /// The matches of the league and the games of the ladder that are being played.
    pub fn all_tables(&self) -> impl Iterator<Item = &Table> {
        self.memory.tables.iter().flatten().filter(|table| !table.is_over())
    }

    /// The table where a match is being played, be it of the ladder.
    pub fn table(&self, id: MatchId) -> Option<&Table> {
        self.all_tables().find(|table| table.id == id)
    }

    /// Whether somebody sits at a table of the league, be it only to hear how the game ended.
    fn is_anybody_seated(&mut self) -> bool {
        self.is_anybody(|venue, player| {
            let table = player.seating.and_then(|seating| venue.table_at(seating.slot));
            table.is_some_and(|table| !table.id.is_outside())
        })
    }

    /// Whether a player is like that. Asked after every answer, so it begins with whom it found last: in all it goes
    /// round the players once while a round waits for one after the other, and not once for each answer.
    fn is_anybody(&mut self, is_so: impl Fn(&Self, &Player) -> bool) -> bool {
        let all = count(self.memory.players.len());
        let first = self.waits_for.min(all);
        let found = (first..all).chain(0..first).find(|&line| self.player(line).is_some_and(|one| is_so(self, one)));
        self.waits_for = found.unwrap_or(first);
        found.is_some()
    }

    pub(super) fn start(&mut self, now: Now) {
        Code::ALL.iter().for_each(|code| code.drop_errands(self));
        self.call_off_the_ladder(now);
        self.memory.facts.start();
        self.clear_the_board();
        self.leave_rooms_for_the_league();
        self.close_standings(0);
        self.note(now, None, None, Happening::LeagueStarted);
        self.rest_after(now, 0);
    }

    /// Everybody takes a seat, and nothing is played yet.
    pub(super) fn clear_the_board(&mut self) {
        self.playing = self.config.game;
        self.seat_players();
        for player in self.memory.players.iter_mut().filter(|player| !player.has_left()) {
            let sits_out = player.place == OUTSIDE;
            player.state = if sits_out { AgentState::Registered } else { AgentState::Active };
            player.breaker = Breaker::new();
        }
        self.memory.tallies.clear();
        let _ = self.memory.tallies.resize(self.memory.players.len(), Tally::default());
        self.memory.records.clear();
        let _ = self.memory.records.resize(self.schedule().total_matches() as usize, None);
        self.paused = false;
        (self.results, self.again, self.attempts) = (0, 0, 0);
        self.over_is_told = false;
        self.begin_news_after(0);
    }

    /// Moves everything on as far as it can go by itself.
    pub(crate) fn advance(&mut self, now: Now) {
        self.advance_league(now);
        self.match_up(now);
    }

    /// Moves the league on as far as the results allow. The only place that opens tables and closes rounds: a match that
    /// ends the moment it begins comes round this loop again instead of calling itself.
    fn advance_league(&mut self, now: Now) {
        while let Stage::Running(round) = self.stage {
            let id = MatchId { round, table: self.next_table };
            if self.record(id).is_some() || self.table(id).is_some() {
                // Played before the box was restarted, or at its vote.
                self.next_table = self.next_table.saturating_add(1);
                continue;
            }
            let places = self.places(id);
            if self.memory.facts.is_full() {
                // A match may end as it begins, and its result needs room.
                return;
            }
            let is_last = places.is_none();
            if places.as_ref().is_some_and(|places| !self.are_free(places)) {
                // They are being told how their last game ended.
                return;
            }
            if let Some(places) = places
                && let Some(slot) = self.free_slot()
            {
                self.next_table = self.next_table.saturating_add(1);
                let of_match = (self.playing, self.match_seed(id));
                self.open_table(now, id, of_match, &self.lines_of(&places), slot);
                self.begin(now, slot);
            } else if is_last
                && let Some((id, places)) = self.next_again(round)
                && let Some(slot) = self.free_slot()
            {
                self.again = self.again.saturating_sub(1);
                let of_match = (self.playing, self.match_seed(id));
                self.open_table(now, id, of_match, &self.lines_of(&places), slot);
                self.begin(now, slot);
            } else if !self.round_is_closed && is_last && self.again == 0 && !self.is_anybody_seated() {
                // There is one table that is told. A new one waits until everybody who listens has heard the last.
                if self.is_anybody(|venue, player| venue.owes_standings(player)) {
                    return;
                }
                self.close_round(now, round);
            } else if self.round_is_closed && !self.paused && self.break_since.is_none() {
                self.start_round(now, round.saturating_add(1));
            } else {
                return;
            }
        }
        if !self.over_is_told && self.is_over() && !self.memory.facts.is_full() {
            self.over_is_told = true;
            self.memory.facts.push(Fact::Over);
            Code::ALL.iter().for_each(|code| code.begin_errands(self, now));
        }
    }

    pub(super) fn reset(&mut self) {
        Code::ALL.iter().for_each(|code| code.drop_errands(self));
        for player in self.lines() {
            self.memory.timers.set(player.into(), None);
            self.list(player);
        }
        self.number = self.number.saturating_add(1);
        self.take_next_seed();
        self.stage = Stage::Waiting;
        self.paused = false;
        self.break_since = None;
        (self.results, self.again) = (0, 0);
        self.memory.tables.clear();
        self.memory.notes.clear();
        self.queued = 0;
        self.memory.finished.clear();
        self.memory.records.clear();
        self.memory.players.clear();
        self.memory.desks.clear();
        self.memory.seating.clear();
        self.memory.tallies.clear();
        self.memory.closed.clear();
        self.memory.current.clear();
        self.memory.facts.begin_chapter();
    }

    /// A round is over, or with 0 none has begun: the next one follows, be it after a break.
    pub(super) fn rest_after(&mut self, now: Now, round: u16) {
        self.stage = Stage::Running(round);
        self.round_is_closed = true;
        self.next_table = self.schedule().matches_per_round().saturating_add(1);
        self.take_a_break(now);
    }

    pub(super) fn start_round(&mut self, now: Now, round: u16) {
        self.stage = Stage::Running(round);
        self.round_is_closed = false;
        self.next_table = 1;
        self.note(now, None, None, Happening::RoundStarted(round));
        self.tell_all(now);
    }

    /// A match that waits to be played again and whose players are free. Those of the present round have all been begun.
    fn next_again(&self, round: u16) -> Option<(MatchId, Places)> {
        if self.again == 0 {
            return None;
        }
        let ids = (1..=round).flat_map(|round| self.matches_of(round));
        let open = ids.filter(|&id| self.record(id).is_none() && self.table(id).is_none());
        { open }.filter_map(|id| Some((id, self.places(id)?))).find(|(_, places)| self.are_free(places))
    }

    /// Whether none of them sits at a table.
    fn are_free(&self, places: &[u16]) -> bool {
        places.iter().all(|&place| self.player_at(place).is_none_or(|player| player.seating.is_none()))
    }

    /// Whether one more match can begin.
    pub(crate) fn has_free_slot(&self) -> bool {
        !self.memory.tables.is_full() || self.memory.tables.iter().flatten().any(Table::is_over) || {
            self.memory.tables.iter().any(Option::is_none)
        }
    }

    /// A table nobody sits at.
    pub(super) fn free_slot(&mut self) -> Option<u16> {
        let is_only_watched = |(slot, table): (u16, &Option<Table>)| {
            let sits = |player: &Player| player.seating.is_some_and(|seating| seating.slot == slot);
            table.as_ref().is_some_and(Table::is_over) && !self.memory.players.iter().any(sits)
        };
        let room = self.memory.tables.iter().position(Option::is_none);
        let free = room.or_else(|| match self.memory.tables.is_full() {
            // Whoever only looks on does not keep a table from those who play.
            true => (0..).zip(self.memory.tables.iter()).position(is_only_watched),
            false => None,
        });
        let slot = free.or_else(|| {
            let next = self.memory.tables.len();
            self.memory.tables.push(None).ok().map(|()| next)
        })?;
        u16::try_from(slot).ok()
    }

    /// Seats players at a table. Not inlined, so that a game that is made is off the stack when its match begins.
    #[inline(never)]
    pub(super) fn open_table(
        &mut self,
        now: Now,
        id: MatchId,
        (game, seed): (GameKind, Seed),
        players: &[u16],
        slot: u16,
    ) {
        let mut draws = Draws::new(seed);
        let game = AnyGame::start(game, u8::try_from(players.len()).unwrap_or(u8::MAX), &mut draws);
        let policies = || players.iter().map(|&player| self.policy_for(player, game.rules()));
        let cap = policies().filter_map(|policy| policy.match_ms).min();
        let countdown = policies().map(|policy| policy.countdown_ms).max().unwrap_or(0);
        let mut play = Match::new(game, draws, now.ms.saturating_add(countdown), cap);
        let mut absent = Seats::NONE;
        for (seat, &player) in (0..).zip(players) {
            let Some(player) = self.memory.players.get_mut(usize::from(player)) else { continue };
            player.seating = Some(Seating { slot, seat });
            self.memory.notes.forget(player.number);
            let is_given_up = !player.breaker.admits(now.ms);
            if is_given_up && !player.has_left() {
                player.compliance.note(Rule::CircuitBreaker, id);
            }
            if player.has_left() || is_given_up {
                absent = absent.with(seat);
            }
        }
        play.absent(absent);
        if !self.config.topic.is_empty() && play.game().speech() > SAID {
            play.own_topic();
            for &line in players {
                let number = self.player(line).map_or(0, |player| player.number);
                self.memory.notes.set(number, Note::Memory, &self.config.topic);
            }
        }
        self.memory.notes.forget_past(slot);
        if let Some(place) = self.memory.tables.get_mut(usize::from(slot)) {
            let life = if countdown > 0 { Life::Countdown } else { Life::Playing };
            *place = Some(Table { life, ..Table::new(id, players, play) });
        }
    }

    /// Begins the match at a table, once its countdown is over.
    pub(super) fn begin(&mut self, now: Now, slot: u16) {
        let table = self.memory.tables.get(usize::from(slot)).and_then(Option::as_ref);
        if table.is_some_and(|table| table.life == Life::Playing) {
            let table = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut);
            if let Some(table) = table.filter(|table| table.play.game().speech() > SAID) {
                table.film_topic(self.memory.film, now, &self.config.topic);
            }
            self.sit_down(now, slot);
        }
        self.proceed(now, slot);
    }

    /// How late the player on a line may be in its match, or else in one of the league, by the protocol it speaks.
    pub(crate) fn policy_of(&self, line: u16) -> Policy {
        let table = self.table_of(line);
        let mut policy = self.policy_for(line, table.map_or(self.game().rules(), |table| table.play.game().rules()));
        if table.is_some_and(|table| table.is_blitz) {
            // A quarter of a minute, where a move has half of one.
            policy.turn_ms = self.config.timing.move_ms / 2;
        }
        policy
    }

    /// The same in a game of these rules.
    fn policy_for(&self, line: u16, rules: &Rules) -> Policy {
        let session = self.player(line).map(|player| &player.session);
        session.map_or(Policy::NOBODYS, |session| session.policy(&self.config.timing, rules))
    }

    /// Looks at a table after something happened there.
    pub(crate) fn proceed(&mut self, now: Now, slot: u16) {
        if let Some(table) = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) {
            table.keep_pace(now.ms, self.config.pacing);
        }
        self.see_to_vote(now, slot);
        let Some(table) = self.memory.tables.get(usize::from(slot)).and_then(Option::as_ref) else { return };
        let players = table.seated();
        if let Some(mut outcome) = table.play.outcome().filter(|_| !table.is_over() && !table.is_held()) {
            // The cause is that of the first who failed.
            let first = outcome.forfeits.iter().next().and_then(|seat| players.get(usize::from(seat)));
            let first = first.and_then(|&player| self.memory.players.get(usize::from(player)));
            if outcome.cause == Cause::Disconnected && first.is_some_and(Player::is_removed) {
                outcome.cause = Cause::Adjudicated;
            }
            let attempt = if table.id.is_outside() { 0 } else { self.attempt_of(table.id, table.play.seed()) };
            let record = Record::new(table.play.game().digest(), now.utc, outcome, attempt);
            self.conclude(now, slot, record);
        }
        for player in players {
            self.pump(now, player);
        }
    }

    /// A player gives up the match it is in. A game of the ladder ends with that: its rating needs everybody who sat there,
    /// and the leaver may be forgotten at once.
    pub(super) fn abandon(&mut self, now: Now, Seating { slot, seat }: Seating) {
        match self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) {
            // What is over stays as it ended.
            Some(table) if table.is_over() => {}
            Some(table) if table.id.is_outside() => table.play.absent(Seats::only(seat)),
            Some(table) => table.play.lose(seat, Fault::Unreachable),
            None => {}
        }
        self.proceed(now, slot);
    }

    pub(super) fn conclude(&mut self, now: Now, slot: u16, record: Record) {
        let Some(table) = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        table.film_end(self.memory.film, now, &record);
        self.memory.notes.forget_past(slot);
        self.memory.notes.remove(slot, Note::Votes);
        let (id, players, standing) = (table.id, table.seated(), table.play.game().standing());
        self.rate(&players, standing, record.outcome().forfeits);
        if id.is_outside() {
            self.finish_game(slot, record);
        } else {
            self.count(now, id, &players, record);
        }
        self.note(now, None, Some(id), Happening::MatchOver(record.end_reason().name()));
        self.let_go(slot);
    }

    /// A match of the league has a result.
    fn count(&mut self, now: Now, id: MatchId, players: &[u16], record: Record) {
        let index = self.schedule().index(id.round, id.table);
        if let Some(place) = index.and_then(|index| self.memory.records.get_mut(index)) {
            *place = Some(record);
        }
        self.memory.facts.push(Fact::Played(id));
        for (seat, &player) in (0..).zip(players) {
            let Some(player) = self.memory.players.get_mut(usize::from(player)) else { continue };
            if let Some(tally) = self.memory.tallies.get_mut(usize::from(player.place)) {
                tally.add(record.verdict(seat));
            }
        }
        self.current_is_stale = true;
        self.results = self.results.saturating_add(1);
        if self.attempts > 0 {
            // It may have been played again, when its result had been told and its round was over.
            players.iter().for_each(|&player| self.result_is_another(player, id.round));
            self.summarize_anew(now, id.round);
        }
    }

    fn close_round(&mut self, now: Now, round: u16) {
        // Who does not listen is not waited for.
        self.take_back_standings();
        self.rest_after(now, round);
        self.close_standings(round);
        self.note(now, None, None, Happening::RoundOver(round));
        if round < self.schedule().rounds() {
            return self.tell_all(now);
        }
        self.stage = Stage::Completed;
        self.push_ending();
        self.note(now, None, None, Happening::LeagueOver);
        self.hurry_news();
        for player in self.memory.players.iter_mut() {
            player.state = AgentState::Shutdown;
        }
        self.tell_all(now);
    }

    pub(super) fn close_standings(&mut self, round: u16) {
        // Who is reading those of now goes on reading them.
        self.rank_now(round, Ranking::Closed);
        self.closed_round = round;
        self.current_is_stale = true;
    }

    /// Ranks the players as of now. Call before reading [`Venue::standings`].
    pub fn refresh_standings(&mut self) {
        if core::mem::take(&mut self.current_is_stale) {
            let round = match self.stage {
                Stage::Waiting => 0,
                Stage::Running(round) => round,
                Stage::Completed => self.schedule().rounds(),
            };
            self.rank_now(round, Ranking::Current);
        }
    }

    /// A number that is another one for other standings, as of the last [`Venue::refresh_standings`].
    pub fn standings_sum(&self) -> u32 {
        checksum(self.memory.current)
    }

    /// What a player has gathered so far.
    pub fn tally(&self, player: &Player) -> Tally {
        self.memory.tallies.get(usize::from(player.place)).copied().unwrap_or_default()
    }

    fn rank_now(&mut self, rounds: u16, which: Ranking) {
        let schedule = self.schedule();
        let Memory { records, tallies, closed, current, .. } = &mut self.memory;
        let ranking = match which {
            Ranking::Closed => closed,
            Ranking::Current => current,
        };
        let taken = |place: usize| records.get(place)?.as_ref().map(Record::points);
        // The schedule's places follow the ids.
        rank(schedule, tallies, rounds, taken, ranking);
    }

    /// What the player at a place had gathered when the last round closed. Nothing changes that before the next one does.
    pub(crate) fn tally_of(&self, place: u16) -> Tally {
        self.memory.closed.iter().find(|ranked| ranked.player == place).map(|ranked| ranked.tally).unwrap_or_default()
    }

    /// How the matches of a player ended.
    pub fn endings(&self, player: &Player) -> Endings {
        let mut endings = Endings::default();
        for round in 1..=self.schedule().rounds() {
            let Some(table) = self.schedule().table_of(round, player.place) else { continue };
            let id = MatchId { round, table };
            if let (Some(record), Some(seat)) = (self.record(id), self.seat_of_place(id, player.place)) {
                endings.add(record, seat);
            }
        }
        endings
    }
}

/// The seat of the player at a place in the schedule, of those who sit at a table.
fn seat_of(place: u16, places: &Places) -> Option<Seat> {
    (0..).zip(places).find(|&(_, &other)| other == place).map(|(seat, _)| seat)
}
