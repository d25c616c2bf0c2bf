//! When things happen: start, rounds, results, standings, the end.

use core::fmt;

use heapless::Vec;

use super::admission::{AgentState, OUTSIDE, Player};
use super::facts::Fact;
use super::ladder::is_of_the_ladder;
use super::lines::{Notice, What};
use super::pace::Held;
use super::settings::sizes;
use super::{Hall, Standings};
use crate::fair::{Draws, Seed};
use crate::games::{AnyGame, Game, GameKind, Question, Seat, Seats};
use crate::league::{Endings, Places, Ranking, Record, Rule, SEATS, Tally, rank};
use crate::log::Happening;
use crate::referee::{Breaker, Cause, Fault, Match, Phase};
use crate::time::{Millis, Now};
use crate::wire::league_of_agents::Uuid;
use crate::wire::league_v2::dialect::Kind;
use crate::wire::league_v2::outgoing::MatchId;

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
    /// The next league, of the game that is set for it: the same players, and who came since and is there.
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

/// The players at a table, by seat: their lines.
pub type Lines = Vec<u16, SEATS>;

/// A match that is being played.
pub struct Table {
    /// Which match.
    pub id: MatchId,
    /// By seat; of seats the game does not have, nobody's.
    pub(super) lines: [u16; SEATS],
    /// The match.
    pub play: Match<AnyGame, SEATS>,
    /// What agents of League of Agents call it: the beginning of the commitment to its seed.
    pub(super) uuid: Uuid,
    pub(super) began: Millis,
    pub(super) held: Held,
    /// Seats that know they have been matched.
    pub(super) greeted: Seats,
    /// Moves so far, and at last its end.
    pub(super) steps: u16,
    pub(super) spectators: u8,
    /// Whether its result is counted, and only its agents of the arena are still to be told.
    pub(super) is_over: bool,
    /// Whether it was ended for the sake of the league.
    pub(super) is_called_off: bool,
}

impl Table {
    fn new(now: Now, id: MatchId, players: &[u16], play: Match<AnyGame, SEATS>) -> Self {
        let mut lines = [u16::MAX; SEATS];
        lines.iter_mut().zip(players).for_each(|(line, player)| *line = *player);
        let mut uuid = [0; 16];
        uuid.iter_mut().zip(play.seed().commitment().0).for_each(|(byte, of_hash)| *byte = of_hash);
        let (uuid, began) = (Uuid::new(uuid), now.ms);
        let (held, greeted, steps, spectators) = (Held::default(), Seats::NONE, 0, 0);
        Self { id, lines, play, uuid, began, held, greeted, steps, spectators, is_over: false, is_called_off: false }
    }

    /// The players at it, by seat: their lines.
    pub fn players(&self) -> &[u16] {
        self.lines.get(..self.play.game().seats().into()).unwrap_or(&self.lines)
    }

    /// The same for keeps.
    pub(super) fn seated(&self) -> Lines {
        Lines::from_slice(self.players()).unwrap_or_default()
    }

    /// What its players are asked now.
    pub(super) fn question(&self) -> Kind {
        match (self.play.phase(), self.play.game().rules().question) {
            (Phase::WaitingForPlayers, _) => Kind::GameInvitation,
            (_, Question::Parity) => Kind::ChooseParity,
            (_, Question::Move) => Kind::MoveRequest,
        }
    }

    /// The lines of the others.
    pub(super) fn opponents(&self, seat: Seat) -> impl Iterator<Item = u16> {
        (0..).zip(self.players()).filter(move |(other, _)| *other != seat).map(|(_, &line)| line)
    }
}

impl<const P: usize, const M: usize, const R: usize, const L: usize> Hall<P, M, R, L> {
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
                self.facts.push(Fact::Paused);
            }
            Command::Resume => {
                self.paused = false;
                self.facts.push(Fact::Unpaused);
                self.end_break(now);
            }
            Command::Next => self.break_since = None,
            Command::Rematch => {
                self.number = self.number.saturating_add(1);
                self.take_next_seed();
                // Everybody has been told the end, so every line is idle and may change hands.
                while let Some(gone) = self.players.iter().position(|player| player.line.has_left()) {
                    self.players.remove(gone);
                    self.move_up(gone as u16);
                }
                self.facts.begin_chapter();
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
        } else if self.players.iter().any(|player| !player.games.has(self.config.game)) {
            Err(match *sizes.start() {
                2 => Refusal("a league needs at least two players of this game; the others who are here sit out"),
                _ => {
                    Refusal("a league of this game needs at least four players of it; the others who are here sit out")
                }
            })
        } else if *sizes.start() > 2 {
            Err(Refusal("a league of this game needs at least four players; register them first"))
        } else {
            Err(Refusal("a league needs at least two players; register them first"))
        }
    }

    /// Whether the league is over and everybody has been told, or cannot be.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Completed && self.players.iter().all(|player| player.line.is_idle())
    }

    /// What is known of a finished match.
    pub fn record(&self, id: MatchId) -> Option<&Record> {
        self.records.get(self.schedule().index(id.round, id.table)?)?.as_ref()
    }

    /// Who plays a match: places in the schedule, by seat.
    pub fn places(&self, id: MatchId) -> Option<Places> {
        self.schedule().places(id.round, id.table)
    }

    /// Which seat the player at a place in the schedule has in a match.
    pub(super) fn seat_of_place(&self, id: MatchId, place: u16) -> Option<Seat> {
        Some(self.places(id)?.iter().position(|&other| other == place)? as Seat)
    }

    /// The matches of the league that are being played.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.all_tables().filter(|table| !is_of_the_ladder(table.id))
    }

    /// Whether a player sits at a table where a game is being played.
    pub fn is_seated(&self, player: &Player) -> bool {
        let sits = |line| self.players.get(usize::from(line)).is_some_and(|at| at.number == player.number);
        self.all_tables().any(|table| table.seated().into_iter().any(sits))
    }

    /// The matches of the league and the games of the ladder that are being played.
    pub fn all_tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().flatten().filter(|table| !table.is_over)
    }

    /// The table where a match is being played, be it of the ladder.
    pub fn table(&self, id: MatchId) -> Option<&Table> {
        self.all_tables().find(|table| table.id == id)
    }

    /// Whether somebody sits at a table of the league, be it only to hear how the game ended.
    fn is_anybody_seated(&self) -> bool {
        let of_league = |slot: u16| {
            let table = self.tables.get(usize::from(slot)).and_then(Option::as_ref);
            table.is_some_and(|table| !is_of_the_ladder(table.id))
        };
        self.players.iter().any(|player| player.seating.is_some_and(|seating| of_league(seating.slot)))
    }

    pub(super) fn start(&mut self, now: Now) {
        self.drop_errands();
        self.call_off_the_ladder(now);
        self.facts.start();
        self.clear_the_board();
        self.close_standings(0);
        self.note(now, None, None, Happening::LeagueStarted);
        self.rest_after(now, 0);
    }

    /// Everybody takes a seat, and nothing is played yet.
    pub(super) fn clear_the_board(&mut self) {
        self.playing = self.config.game;
        self.seat_players();
        for player in self.players.iter_mut().filter(|player| !player.line.has_left()) {
            let sits_out = player.place == OUTSIDE;
            player.state = if sits_out { AgentState::Registered } else { AgentState::Active };
            player.breaker = Breaker::new();
        }
        self.tallies.clear();
        let _ = self.tallies.resize(self.players.len(), Tally::default());
        self.records.clear();
        let _ = self.records.resize(self.schedule().total_matches() as usize, None);
        self.paused = false;
        (self.results, self.again, self.attempts) = (0, 0, 0);
        self.over_is_told = false;
    }

    /// Moves everything on as far as it can go by itself.
    pub(super) fn advance(&mut self, now: Now) {
        self.advance_league(now);
        self.match_up(now);
    }

    /// Moves the league on as far as the results allow. The only place that opens tables and closes rounds: a match that
    /// ends the moment it begins comes round this loop again instead of calling itself.
    fn advance_league(&mut self, now: Now) {
        while let Stage::Running(round) = self.stage {
            let id = MatchId { round, table: self.next_table };
            if self.record(id).is_some() {
                // Played before the box was restarted.
                self.next_table += 1;
                continue;
            }
            let places = self.places(id);
            if self.facts.is_full() {
                // A match may end as it begins, and its result needs room.
                return;
            }
            let is_last = places.is_none();
            if places.as_ref().is_some_and(|places| !self.are_free(places)) {
                // They are being told how their last game ended.
                return;
            }
            if let (Some(places), Some(slot)) = (places, self.free_slot()) {
                self.next_table += 1;
                let of_match = (self.playing, self.match_seed(id));
                self.open_table(now, id, of_match, &self.lines_of(&places), slot);
                self.begin(now, slot);
            } else if let (true, Some((id, places)), Some(slot)) = (is_last, self.next_again(round), self.free_slot()) {
                self.again -= 1;
                let of_match = (self.playing, self.match_seed(id));
                self.open_table(now, id, of_match, &self.lines_of(&places), slot);
                self.begin(now, slot);
            } else if !self.round_is_closed && is_last && self.again == 0 && !self.is_anybody_seated() {
                // There is one table that is told. A new one waits until everybody who listens has heard the last.
                let listens = |player: &Player| !player.is_held_back() && !player.is_told_later();
                if self.players.iter().any(|player| listens(player) && player.line.owes_standings()) {
                    return;
                }
                self.close_round(now, round);
            } else if self.round_is_closed && !self.paused && self.break_since.is_none() {
                self.start_round(now, round + 1);
            } else {
                return;
            }
        }
        if !self.over_is_told && self.is_over() && !self.facts.is_full() {
            self.over_is_told = true;
            self.facts.push(Fact::Over);
            self.begin_errands(now);
        }
    }

    pub(super) fn reset(&mut self) {
        self.drop_errands();
        for player in 0..self.players.len() as u16 {
            self.timers.set(player.into(), None);
            self.list(player);
        }
        self.number = self.number.saturating_add(1);
        self.take_next_seed();
        self.stage = Stage::Waiting;
        self.paused = false;
        self.break_since = None;
        (self.results, self.again) = (0, 0);
        self.tables.clear();
        self.notes.clear();
        self.queued = 0;
        self.records.clear();
        self.players.clear();
        self.referees.clear();
        self.seating.clear();
        self.tallies.clear();
        self.closed = Standings::new();
        self.current = Standings::new();
        self.facts.begin_chapter();
    }

    /// A round is over, or with 0 none has begun: the next one follows, be it after a break.
    pub(super) fn rest_after(&mut self, now: Now, round: u16) {
        self.stage = Stage::Running(round);
        self.round_is_closed = true;
        self.next_table = self.schedule().matches_per_round() + 1;
        self.take_a_break(now);
    }

    pub(super) fn start_round(&mut self, now: Now, round: u16) {
        self.stage = Stage::Running(round);
        self.round_is_closed = false;
        self.next_table = 1;
        self.note(now, None, None, Happening::RoundStarted(round));
        self.tell_all(now, &[Notice::Round(round)]);
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

    /// A table nobody sits at.
    pub(super) fn free_slot(&mut self) -> Option<u16> {
        let is_only_watched = |(slot, table): (u16, &Option<Table>)| {
            let sits = |player: &Player| player.seating.is_some_and(|seating| seating.slot == slot);
            table.as_ref().is_some_and(|table| table.is_over) && !self.players.iter().any(sits)
        };
        let room = self.tables.iter().position(Option::is_none);
        let free = room.or_else(|| match self.tables.is_full() {
            // Whoever only looks on does not keep a table from those who play.
            true => (0..).zip(&self.tables).position(is_only_watched),
            false => None,
        });
        let slot = free.or_else(|| self.tables.push(None).ok().map(|()| self.tables.len() - 1))?;
        Some(slot as u16)
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
        let game = AnyGame::start(game, players.len() as u8, &mut draws);
        let mut play = Match::new(game, draws, self.config.timing.retry_base_ms);
        let mut absent = Seats::NONE;
        for (seat, &player) in (0..).zip(players) {
            let Some(player) = self.players.get_mut(usize::from(player)) else { continue };
            player.seating = Some(Seating { slot, seat });
            self.notes.forget(player.number);
            let is_given_up = !player.breaker.admits(now.ms);
            if is_given_up && !player.line.has_left() {
                player.compliance.note(Rule::CircuitBreaker, id);
            }
            if player.line.has_left() || is_given_up {
                absent = absent.with(seat);
            }
        }
        play.absent(absent);
        if let Some(place) = self.tables.get_mut(usize::from(slot)) {
            *place = Some(Table::new(now, id, players, play));
        }
    }

    /// Begins the match at a table.
    pub(super) fn begin(&mut self, now: Now, slot: u16) {
        self.sit_down(now, slot);
        self.proceed(now, slot);
    }

    /// Looks at a table after something happened there.
    pub(super) fn proceed(&mut self, now: Now, slot: u16) {
        if let Some(table) = self.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) {
            table.keep_pace(now.ms, self.config.pacing);
        }
        let Some(table) = self.tables.get(usize::from(slot)).and_then(Option::as_ref) else { return };
        let players = table.seated();
        if let Some(mut outcome) = table.play.outcome().filter(|_| !table.is_over && !table.is_held()) {
            if is_of_the_ladder(table.id) {
                self.conclude_ladder(now, slot, outcome.forfeits);
                return players.iter().for_each(|&player| self.pump(now, player));
            }
            // The cause is that of the first who failed.
            let first = outcome.forfeits.iter().next().and_then(|seat| players.get(usize::from(seat)));
            let first = first.and_then(|&player| self.players.get(usize::from(player)));
            if outcome.cause == Cause::Disconnected && first.is_some_and(Player::is_removed) {
                outcome.cause = Cause::Adjudicated;
            }
            let attempt = self.attempt_of(table.id, table.play.seed());
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
        match self.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) {
            // What is over stays as it ended.
            Some(table) if table.is_over => {}
            Some(table) if is_of_the_ladder(table.id) => table.play.absent(Seats::only(seat)),
            Some(table) => table.play.lose(seat, Fault::Unreachable),
            None => {}
        }
        self.proceed(now, slot);
    }

    pub(super) fn conclude(&mut self, now: Now, slot: u16, record: Record) {
        let Some(table) = self.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        table.film_end(&mut self.reel, now, &record);
        let (id, players, standing) = (table.id, table.seated(), table.play.game().standing());
        let index = self.schedule().index(id.round, id.table);
        if let Some(place) = index.and_then(|index| self.records.get_mut(index)) {
            *place = Some(record);
        }
        self.facts.push(Fact::Played(id));
        self.rate(&players, standing, record.outcome().forfeits);
        for (seat, &player) in (0..).zip(&players) {
            let Some(player) = self.players.get_mut(usize::from(player)) else { continue };
            player.line.tell(Notice::GameOver(id.round));
            if let Some(tally) = self.tallies.get_mut(usize::from(player.place)) {
                tally.add(record.verdict(seat));
            }
        }
        self.current_is_stale = true;
        self.results += 1;
        if self.attempts > 0 {
            // It may have been played again, when its round had been over.
            self.summarize_anew(now, id.round);
        }
        self.note(now, None, Some(id), Happening::MatchOver(record.end_reason().name()));
        self.let_go(slot);
    }

    fn close_round(&mut self, now: Now, round: u16) {
        // Who does not listen is not waited for: it hears the new standings instead of the last.
        for index in 0..self.players.len() as u16 {
            self.take_back(index, |what| matches!(what, What::News(Notice::Standings(_))));
        }
        self.rest_after(now, round);
        self.close_standings(round);
        self.note(now, None, None, Happening::RoundOver(round));
        self.tell_all(now, &[Notice::Standings(round), Notice::RoundCompleted(round)]);
        if round < self.schedule().rounds() {
            return;
        }
        self.stage = Stage::Completed;
        self.push_ending();
        self.note(now, None, None, Happening::LeagueOver);
        for player in &mut self.players {
            player.state = AgentState::Shutdown;
            // Whoever stopped answering is told the end, not all it missed: every message would cost its time-out.
            if player.breaker.is_open() {
                player.line.forget_news();
            }
            player.line.hurry(round);
        }
        self.tell_all(now, &[Notice::LeagueCompleted]);
    }

    fn tell_all(&mut self, now: Now, notices: &[Notice]) {
        for index in 0..self.players.len() as u16 {
            // Who sits out has nothing to do with it.
            if let Some(player) = self.players.get_mut(usize::from(index)).filter(|player| player.place != OUTSIDE) {
                notices.iter().for_each(|&notice| player.line.tell(notice));
            }
            self.pump(now, index);
        }
    }

    pub(super) fn close_standings(&mut self, round: u16) {
        self.closed = self.rank_now(round);
        self.current_is_stale = true;
    }

    /// Ranks the players as of now. Call before reading [`Hall::standings`].
    pub fn refresh_standings(&mut self) {
        if core::mem::take(&mut self.current_is_stale) {
            let round = match self.stage {
                Stage::Waiting => 0,
                Stage::Running(round) => round,
                Stage::Completed => self.schedule().rounds(),
            };
            self.current = self.rank_now(round);
        }
    }

    /// A number that is another one for other standings, as of the last [`Hall::refresh_standings`].
    pub fn standings_sum(&self) -> u32 {
        self.current.checksum()
    }

    /// What a player has gathered so far.
    pub fn tally(&self, player: &Player) -> Tally {
        self.tallies.get(usize::from(player.place)).copied().unwrap_or_default()
    }

    fn rank_now(&self, rounds: u16) -> Standings<P> {
        let schedule = self.schedule();
        let points = |round: u16, place: u16| {
            let table = schedule.table_of(round, place)?;
            let record = self.records.get(schedule.index(round, table)?)?.as_ref()?;
            let seat = self.seat_of_place(MatchId { round, table }, place)?;
            Some(record.verdict(seat).points())
        };
        // The schedule's places follow the ids.
        let Ranking { order, is_level } = rank(schedule, &self.tallies, rounds, points, |a, b| a.cmp(&b));
        Standings { order, is_level, tallies: self.tallies.clone() }
    }

    /// What the player at a place had gathered when the last round closed. Nothing changes that before the next one does.
    pub(super) fn tally_of(&self, place: u16) -> Tally {
        self.closed.tallies.get(usize::from(place)).copied().unwrap_or_default()
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
