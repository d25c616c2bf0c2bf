//! The ladder: games outside the league, for agents that ask for one. Whoever joins the queue of a game is seated as soon as
//! enough wait for it, in the order they came, in a [room](super::rooms) that waits for players before any other. The league
//! has the right of way: who plays in one that runs is not
//! seated here, and one that begins calls these games off.
//!
//! Every game that is played to an end, here or in the league, changes the [ratings](Rating) of its players, is filmed, and
//! is a fact. Of those played here the last ones are kept ([`Finished`]).

use super::facts::Fact;
use super::film::FilmId;
use super::players::{OUTSIDE, Player};
use super::rooms::{BLITZ, Room};
use super::rounds::{Life, Lines, Stage, Table};
use super::{Venue, count};
use crate::fair::{Purpose, Seed};
use crate::games::{Game, GameKind, MAX_SEATS, Seats, Standing};
use crate::ids::MatchId;
use crate::log::Happening;
use crate::season::{Rating, Record, after_game};
use crate::time::Now;

/// A wish to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub game: GameKind,
    /// Who came first has the lowest.
    pub ticket: u32,
    /// Where; `None` with whoever waits for the same game.
    pub room: Option<Room>,
    /// How many wait in the room, if this is who keeps it: who came first of those who are in it. Else 0.
    pub keeps: u8,
    /// Since when it waits, and when it last asked, both in [`seconds`].
    pub since: u16,
    pub asked: u16,
}

/// Seconds on the monotonic clock. They begin anew after 18 hours, and nobody waits so long.
pub fn seconds(now: Now) -> u16 {
    u16::try_from((now.ms / 1000) & 0xffff).unwrap_or(0)
}

/// A game outside the league that is over: all that is kept of it, for whoever looks at it afterwards. Its moves are on film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its number.
    pub number: u16,
    /// What was played.
    pub game: GameKind,
    /// How many played.
    pub seats: u8,
    /// Decided its draws.
    pub seed: Seed,
    /// How it ended.
    pub record: Record,
    /// Who played, by seat: the number in the id,
    pub players: [u16; MAX_SEATS],
    /// and the registration, for whoever has that number later is somebody else.
    pub issues: [u32; MAX_SEATS],
}

impl Finished {
    /// The players' numbers and registrations, by seat.
    pub fn who(&self) -> impl Iterator<Item = (u16, u32)> {
        self.players.into_iter().zip(self.issues).take(self.seats.into())
    }
}

/// Whether whoever came last goes first, where lots are drawn for it: the seed decides.
fn is_turned(seed: Seed) -> bool {
    let Seed([first, ..]) = seed.derive(Purpose::First, [0; 3]);
    first & 1 == 1
}

impl Venue<'_> {
    /// An agent waits for a game. Who waits already keeps its place, unless it wants another game now.
    pub(crate) fn queue_up(&mut self, now: Now, index: u16, game: GameKind) {
        let wish = self.memory.players.get(usize::from(index)).and_then(|player| player.wish);
        if wish.is_none_or(|wish| wish.game != game) {
            self.wish(now, index, game, None);
        }
    }

    /// An agent waits for a quick game.
    pub(crate) fn queue_up_for_blitz(&mut self, now: Now, index: u16, game: GameKind) {
        self.wish(now, index, game, Some(BLITZ));
    }

    /// An agent waits for a game, behind all who wait already, and for no other.
    pub(super) fn wish(&mut self, now: Now, index: u16, game: GameKind, room: Option<Room>) {
        self.leave_queue(index);
        let Some(player) = self.memory.players.get_mut(usize::from(index)) else { return };
        self.queued = self.queued.saturating_add(1);
        self.tickets = self.tickets.wrapping_add(1);
        let since = seconds(now);
        player.wish = Some(Wish { game, ticket: self.tickets, room, keeps: 0, since, asked: since });
    }

    /// An agent waits no longer.
    pub(crate) fn leave_queue(&mut self, index: u16) {
        let wish = self.memory.players.get_mut(usize::from(index)).and_then(|player| player.wish.take());
        let Some(wish) = wish else { return };
        self.queued = self.queued.saturating_sub(1);
        self.left_room(wish);
    }

    /// The game an agent waits for, and its place among those who wait for it, from 1.
    pub(crate) fn queue_position(&self, index: u16) -> Option<(GameKind, u16)> {
        let wish = self.memory.players.get(usize::from(index))?.wish?;
        let before = |other: &Wish| other.game == wish.game && other.ticket <= wish.ticket;
        let place = self.memory.players.iter().filter_map(|player| player.wish).filter(before).count();
        Some((wish.game, count(place)))
    }

    /// Seats those who wait, as far as there are enough of them and tables are free. Not inlined: mostly nobody waits.
    #[inline(never)]
    pub(super) fn match_up(&mut self, now: Now) {
        if self.queued == 0 {
            return;
        }
        self.forget_who_asks_no_more(now);
        for &game in GameKind::ALL {
            while let Some((room, mut players)) = self.next_party(game) {
                // A game may end as it begins, and its result needs room.
                let Some(slot) = self.free_slot().filter(|_| !self.memory.facts.is_full()) else { return };
                players.iter().for_each(|&player| self.leave_queue(player));
                let is_blitz = room == Some(BLITZ);
                let room = room.filter(|_| !is_blitz);
                let id = room.map_or_else(|| self.next_game(), |room| MatchId::of_game(room.number));
                let seed = self.game_seed(id.table);
                let draws = |&line: &u16| self.player(line).is_some_and(|player| player.session.draws_lots());
                if players.iter().any(draws) && is_turned(seed) {
                    players.reverse();
                }
                self.open_table(now, id, (game, seed), &players, slot);
                self.table_at_mut(slot).into_iter().for_each(|table| table.is_blitz = is_blitz);
                self.begin(now, slot);
            }
        }
    }

    /// Who begins a game next: those in a room that is full, or that others in the queue can fill; else the first of these.
    fn next_party(&self, game: GameKind) -> Option<(Option<Room>, Lines)> {
        let is_free = |player: &Player| player.seating.is_none() && !self.plays_in_league(player) && !player.has_left();
        let queues = |player: &&Player| {
            player.wish.is_some_and(|wish| wish.game == game && wish.room.is_none()) && is_free(player)
        };
        let queue = self.memory.players.iter().filter(queues).count();
        let can_begin = |seats: u8, here: u8| usize::from(here).saturating_add(queue) >= seats.into();
        let room = self.first_room(|open| open.game == game && can_begin(open.room.seats, open.taken));
        let seats = room.map_or(*game.rules().seats.start(), |open| open.room.seats);
        if room.is_none() && !can_begin(seats, 0) {
            let quick = self.waiting(game, Some(BLITZ)).filter(|&player| self.player(player).is_some_and(is_free));
            let lines: Lines = quick.take(BLITZ.seats.into()).collect();
            return (lines.len() == usize::from(BLITZ.seats)).then_some((Some(BLITZ), lines));
        }
        let room = room.map(|open| open.room);
        let mut lines = room.map_or_else(Lines::new, |room| self.roommates(game, room));
        let queue = self.waiting(game, None).filter(|&player| self.player(player).is_some_and(is_free));
        lines.extend(queue.take(usize::from(seats).saturating_sub(lines.len())));
        (lines.len() == usize::from(seats)).then_some((room, lines))
    }

    /// Whether a player has its place in a league that runs.
    pub(crate) fn plays_in_league(&self, player: &Player) -> bool {
        matches!(self.stage, Stage::Running(_)) && player.place != OUTSIDE
    }

    /// Those who wait for a game in a room, or in the queue, the first of them first.
    pub(crate) fn waiting(&self, game: GameKind, room: Option<Room>) -> impl Iterator<Item = u16> {
        let tickets = move || {
            let waits = move |wish: &Wish| wish.game == game && wish.room == room;
            (0..)
                .zip(self.memory.players.iter())
                .filter_map(move |(line, player)| player.wish.filter(waits).map(|wish| (wish.ticket, line)))
        };
        let mut last = None;
        core::iter::from_fn(move || {
            let (ticket, line) = tickets().filter(|(ticket, _)| last.is_none_or(|last| *ticket > last)).min()?;
            last = Some(ticket);
            Some(line)
        })
    }

    /// The league begins: the games of the ladder are called off, and count for nobody.
    pub(super) fn call_off_the_ladder(&mut self, now: Now) {
        for slot in self.slots() {
            let table = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut);
            let Some(table) = table.filter(|table| table.id.is_outside() && !table.is_over()) else { continue };
            table.play.adjudicate(Seats::NONE);
            table.life = Life::CalledOff;
            let (id, players) = (table.id, table.seated());
            self.note(now, None, Some(id), Happening::MatchOver("called off"));
            self.let_go(slot);
            players.iter().for_each(|&player| self.pump(now, player));
        }
    }

    /// The league has begun: who plays in it waits in no room any more.
    pub(super) fn leave_rooms_for_the_league(&mut self) {
        for line in self.lines() {
            let waits = |player: &Player| player.wish.is_some_and(|wish| wish.room.is_some());
            if self.player(line).is_some_and(|player| waits(player) && player.place != OUTSIDE) {
                self.leave_queue(line);
            }
        }
    }

    /// The next number that no game has which waits, runs or is kept.
    pub(super) fn next_game(&mut self) -> MatchId {
        loop {
            self.last_game = self.last_game.wrapping_add(1);
            let [.., high, low] = self.last_game.to_be_bytes();
            let id = MatchId::of_game(u16::from_be_bytes([high, low]));
            let is_taken = id.table == 0
                || self.finished_game(id).is_some()
                || self.memory.tables.iter().flatten().any(|table| table.id == id)
                || self.open_rooms().any(|open| open.room.number == id.table);
            if !is_taken {
                return id;
            }
        }
    }

    /// What decides the game of a number that has been given out: another seed each time the number comes again, and after every
    /// restart.
    fn game_seed(&self, number: u16) -> Seed {
        let newest = self.last_game & !0xffff | u32::from(number);
        let count = if newest > self.last_game { newest.wrapping_sub(0x1_0000) } else { newest };
        self.chance.derive(Purpose::Ladder, [count, 0, 0])
    }

    /// By which a game outside the league is told from all others that ever have its number. A number that somebody was told may
    /// be lost in a power cut, and come again.
    pub(crate) fn mark_of_game(&self, id: MatchId) -> FilmId {
        let seed = || self.finished_game(id).map_or_else(|| self.game_seed(id.table), |finished| finished.seed);
        self.table(id).map_or_else(|| FilmId::of(seed()), Table::film_id)
    }

    /// A game outside the league that is over, while it is kept.
    pub(super) fn finished_game(&self, id: MatchId) -> Option<&Finished> {
        self.memory.finished.iter().find(|finished| id.is_outside() && finished.number == id.table)
    }

    /// The games outside the league that are over and kept, oldest first.
    pub fn finished_games(&self) -> impl Iterator<Item = MatchId> {
        self.memory.finished.iter().map(|finished| MatchId::of_game(finished.number))
    }

    /// A game of the ladder has a result. The oldest makes room for it, unless that has yet to be written: then its ratings
    /// are all that is kept of this one.
    pub(super) fn finish_game(&mut self, slot: u16, record: Record) {
        let Some(table) = self.memory.tables.get(usize::from(slot)).and_then(Option::as_ref) else { return };
        let (number, play) = (table.id.table, &table.play);
        let Some(game) = GameKind::named(play.game().rules().name) else { return };
        let mut finished = Finished {
            number,
            game,
            seats: play.game().seats(),
            seed: play.seed(),
            record,
            players: [0; MAX_SEATS],
            issues: [0; MAX_SEATS],
        };
        let seats = finished.players.iter_mut().zip(&mut finished.issues);
        for (line, (of_number, of_issue)) in table.players().iter().zip(seats) {
            if let Some(player) = self.memory.players.get(usize::from(*line)) {
                (*of_number, *of_issue) = (player.number, player.issue);
            }
        }
        if self.keep_game(finished) {
            return self.memory.facts.push(Fact::Game(number));
        }
        finished.who().for_each(|(number, _)| self.memory.facts.push(Fact::Rated(number)));
    }

    /// Keeps a game that is over. False where the oldest cannot make room for it yet.
    pub(super) fn keep_game(&mut self, finished: Finished) -> bool {
        let oldest = self.memory.finished.front().filter(|_| self.memory.finished.is_full());
        if oldest.is_some_and(|oldest| self.memory.facts.holds(Fact::Game(oldest.number))) {
            return false;
        }
        if oldest.is_some() {
            self.memory.finished.pop_front();
        }
        self.memory.finished.push_back(finished).is_ok()
    }

    /// Rates the players of a game that is over. One that all gave up says nothing of anybody.
    pub(super) fn rate(&mut self, players: &[u16], standing: Option<Standing>, forfeits: Seats) {
        let Some(standing) = standing.filter(|_| (forfeits.len() as usize) < players.len()) else { return };
        let mut ratings = [Rating::NEW; MAX_SEATS];
        for (rating, &player) in ratings.iter_mut().zip(players) {
            *rating = self.memory.players.get(usize::from(player)).map_or(Rating::NEW, |player| player.rating);
        }
        let after = after_game(ratings, players.len(), standing);
        for (rating, &player) in after.into_iter().zip(players) {
            if let Some(player) = self.memory.players.get_mut(usize::from(player)) {
                player.rating = rating;
            }
        }
    }

    /// The game at a table is over and counted. Players that follow it and are there have still to be told; everybody
    /// else is free.
    pub(super) fn let_go(&mut self, slot: u16) {
        let Some(table) = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        if !table.is_over() {
            table.life = Life::Over;
        }
        for line in table.seated() {
            if let Some(code) = self.player(line).map(|player| player.session.code()) {
                code.is_over(self, line, slot);
            }
            let Some(player) = self.player_mut(line) else { continue };
            // Who is told of matches by news is told of this one whether it sits there or not.
            if player.session.cursor().is_some() || !player.is_linked {
                player.seating = None;
            }
        }
        self.clear(slot);
    }

    /// A player leaves a table where everything is over.
    pub(crate) fn stand_up(&mut self, now: Now, index: u16, slot: u16) {
        if let Some(player) = self.memory.players.get_mut(usize::from(index)) {
            player.seating = None;
        }
        self.clear(slot);
        self.pump(now, index);
    }

    /// Takes away a table where everything is over, nobody sits and nobody looks on.
    pub(crate) fn clear(&mut self, slot: u16) {
        let Some(place) = self.memory.tables.get_mut(usize::from(slot)) else { return };
        let sits = |line: &u16| {
            let seating = self.memory.players.get(usize::from(*line)).and_then(|player| player.seating);
            seating.is_some_and(|seating| seating.slot == slot)
        };
        let is_done = |table: &mut Table| table.is_over() && table.spectators == 0 && !table.players().iter().any(sits);
        let Some(table) = place.take_if(is_done) else { return };
        // Only now: the last state of the game shows what was said in it.
        for player in table.seated().iter().filter_map(|line| self.memory.players.get(usize::from(*line))) {
            if player.seating.is_none() {
                self.memory.notes.forget(player.number);
            }
        }
    }

    /// Somebody before them has left, and the players behind it move up by a line. Where it sat, nobody sits.
    pub(super) fn move_up(&mut self, from: u16) {
        for line in self.memory.tables.iter_mut().flatten().flat_map(|table| &mut table.lines) {
            *line = match *line {
                line if line == from => u16::MAX,
                line if line > from && line != u16::MAX => line.saturating_sub(1),
                line => line,
            };
        }
        (from..=count(self.memory.players.len())).for_each(|line| self.set_clock(line));
    }
}
