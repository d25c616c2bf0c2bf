//! What must outlive a power cut, and the venue again after one.
//!
//! While facts are kept, everything that must not be forgotten becomes a [`Fact`], in order. Whoever keeps the journal
//! asks for them ([`Venue::next_fact`]), writes them ([`Venue::write_fact`]) and says when they are safe
//! ([`Venue::facts_are_safe`]). A fact is a few bytes that name what happened; the words are taken from the venue when it is
//! written, so nothing is held twice. The rule that makes this worth something is the caller's to keep: nothing leaves the
//! box before all facts are safe that existed when it was made ([`Venue::facts`]).

use heapless::String;

use super::players::{AgentState, Gone, OUTSIDE, Player};
use super::rounds::Stage;
use super::settings::Pace;
use super::{Config, Venue, count};
use crate::contact::Contact;
use crate::games::GameKind;
use crate::ids::MatchId;
use crate::journal::bytes::{NoRoom, Writer};
use crate::journal::{Agent, Counts, Ended, Entry, Origin, Played, Settings};
use crate::log::Happening;
use crate::protocols::{self, AnySession, Code};
use crate::season::Tally;
use crate::time::{Now, Utc};

/// Something that must outlive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A new chapter: what [`Venue::write_chapter`] writes.
    Chapter,
    /// The settings are others.
    Settings,
    /// The seed of the next league is another.
    NextSeed,
    /// The player of this number is in.
    Player(u16),
    /// The referee of this number is in.
    Referee(u16),
    /// The player of this number has left.
    Left(u16),
    /// The admin has removed the player of this number.
    Removed(u16),
    /// The player of this number has broken rules before the league began.
    Counts(u16),
    /// The league began.
    Started,
    /// A match is over.
    Played(MatchId),
    /// The admin gave a match that was over another result.
    Ruled(MatchId),
    /// A match that was over is to be played again.
    Again(MatchId),
    /// The audience votes on a match.
    Voting(MatchId),
    /// The vote with this place among those on a match.
    Vote(MatchId, u8),
    /// How debates are held is another.
    Debates,
    /// The game of this number, outside the league, is over.
    Game(u16),
    /// The player of this number has played one of which nothing else is kept.
    Rated(u16),
    /// The next round waits for the admin.
    Paused,
    /// It no longer does.
    Unpaused,
    /// The box was restarted in the middle of a league.
    Resumed,
    /// The league has a champion: what [`Venue::write_ending`] writes.
    Ended,
    /// Everybody has been told how the league ended.
    Over,
}

/// Facts that are not safe yet, in order. Every input makes at most two for each table and two more: no more matches can end
/// at once, each a fact, or one for each of its players where too many games have ended for all to be kept. Four for each
/// table leave room for some inputs while the flash is busy.
pub(super) struct Facts<R: ?Sized = [[Fact; 4]]> {
    first: usize,
    len: usize,
    /// How many there have ever been.
    made: u32,
    kept: bool,
    missed: bool,
    ring: R,
}

impl<const M: usize> Facts<[[Fact; 4]; M]> {
    pub const fn new() -> Self {
        Self { first: 0, len: 0, made: 0, kept: false, missed: false, ring: [[Fact::Chapter; 4]; M] }
    }
}

impl Facts {
    /// None, and none are kept.
    pub fn clear(&mut self) {
        (self.first, self.len, self.made, self.kept, self.missed) = (0, 0, 0, false, false);
    }

    fn room(&self) -> usize {
        self.ring.as_flattened().len()
    }

    pub fn push(&mut self, fact: Fact) {
        if !self.kept {
            return;
        }
        self.made = self.made.wrapping_add(1);
        let room = self.room();
        let at = self.first.saturating_add(self.len).checked_rem(room).unwrap_or(0);
        match self.ring.as_flattened_mut().get_mut(at) {
            Some(place) if self.len < room => {
                *place = fact;
                self.len = self.len.saturating_add(1);
            }
            _ => self.missed = true,
        }
    }

    /// A chapter says all there is to say, so what was not said before it need not be.
    pub fn begin_chapter(&mut self) {
        self.len = 0;
        self.push(Fact::Chapter);
    }

    /// The league starts. A chapter that is still to be written says so itself: a rematch is written whole or not at all,
    /// so that the league before it stays readable until then.
    pub fn start(&mut self) {
        match self.get(0) {
            Some((_, Fact::Chapter)) => self.begin_chapter(),
            _ => self.push(Fact::Started),
        }
    }

    pub fn is_full(&self) -> bool {
        self.len >= self.room()
    }

    /// Whether a fact is not safe yet.
    pub fn holds(&self, fact: Fact) -> bool {
        (0..self.len).any(|ahead| self.get(ahead).is_some_and(|(_, other)| other == fact))
    }

    /// The fact that is `ahead` others away from being the next, and its number.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there is room for far fewer facts than 32 bits count, and these counts begin anew"
    )]
    fn get(&self, ahead: usize) -> Option<(u32, Fact)> {
        let at = self.first.saturating_add(ahead).checked_rem(self.room())?;
        let number = self.made.wrapping_sub(self.len as u32).wrapping_add(ahead as u32).wrapping_add(1);
        (ahead < self.len).then(|| Some((number, *self.ring.as_flattened().get(at)?))).flatten()
    }

    fn drop_up_to(&mut self, number: u32) {
        while let Some((next, _)) = self.get(0)
            && has_reached(number, next)
        {
            self.first = self.first.saturating_add(1).checked_rem(self.room()).unwrap_or(0);
            self.len = self.len.saturating_sub(1);
        }
    }
}

/// Whether a count of facts has come to `number`. Counts begin anew after four billion.
pub fn has_reached(count: u32, number: u32) -> bool {
    count.wrapping_sub(number) as i32 >= 0
}

/// An entry that does not fit those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit;

impl Venue<'_> {
    /// Something has happened that must outlive a power cut.
    pub(crate) fn keep(&mut self, fact: Fact) {
        self.memory.facts.push(fact);
    }

    /// Keeps facts from now on, beginning with a chapter.
    pub fn keep_facts(&mut self) {
        self.memory.facts.kept = true;
        self.memory.facts.missed = false;
        self.memory.facts.begin_chapter();
    }

    /// Keeps facts no longer, and forgets those that are not safe.
    pub fn keep_no_facts(&mut self) {
        self.memory.facts.kept = false;
        self.memory.facts.len = 0;
    }

    /// How many facts there have ever been. A number of a fact, too: the number of the last one.
    pub fn facts(&self) -> u32 {
        self.memory.facts.made
    }

    /// Whether there is room for the facts of one more input. Where there is not, wait.
    pub fn has_room_for_facts(&self) -> bool {
        let room = self.memory.facts.room();
        room.saturating_sub(self.memory.facts.len) >= (room / 2).saturating_add(2)
    }

    /// Whether a fact was lost for want of room: then the journal no longer tells the whole story.
    pub fn has_missed_facts(&self) -> bool {
        self.memory.facts.missed
    }

    /// The next fact to be made safe, or the one `ahead` others later, with its number.
    pub fn next_fact(&self, ahead: usize) -> Option<(u32, Fact)> {
        self.memory.facts.get(ahead)
    }

    /// All facts up to this number are safe.
    pub fn facts_are_safe(&mut self, number: u32) {
        self.memory.facts.drop_up_to(number);
    }

    /// Writes a fact as it is now; nothing where nothing is left of it. A chapter is written by
    /// [`Venue::write_chapter`], an ending by [`Venue::write_ending`].
    pub fn write_fact(&self, fact: Fact, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        match fact {
            Fact::Chapter | Fact::Ended => Ok(()),
            Fact::Settings => Entry::Settings(self.settings()).write(out),
            Fact::NextSeed => match self.next_seed {
                Some((seed, chosen)) => Entry::NextSeed(seed, chosen).write(out),
                None => Ok(()),
            },
            Fact::Player(number) => match self.memory.players.iter().find(|player| player.number == number) {
                Some(player) => out.all(|out| {
                    player.entry().write(out)?;
                    Counts::write(number, &player.compliance, out)
                }),
                None => Ok(()),
            },
            Fact::Counts(number) => match self.memory.players.iter().find(|player| player.number == number) {
                Some(player) => Counts::write(number, &player.compliance, out),
                None => Ok(()),
            },
            Fact::Referee(number) => match protocols::referees(self).find(|referee| referee.number == number) {
                Some(referee) => Entry::Referee(referee).write(out),
                None => Ok(()),
            },
            Fact::Left(number) => Entry::Left(number).write(out),
            Fact::Removed(number) => Entry::Removed(number).write(out),
            Fact::Started => Entry::Started.write(out),
            Fact::Played(id) => self.write_result(id, out, Entry::Played),
            Fact::Ruled(id) => self.write_result(id, out, Entry::Ruled),
            Fact::Again(id) => Entry::Again(id).write(out),
            Fact::Voting(id) => match self.ballot_of(id) {
                Some((_, ballot)) => Entry::Voting(ballot).write(out),
                None => Ok(()),
            },
            Fact::Vote(id, at) => match self.vote_at(id, at) {
                Some(vote) => Entry::Vote(id, vote).write(out),
                None => Ok(()),
            },
            Fact::Debates => self.debates().write(out),
            Fact::Game(number) => match self.finished_game(MatchId::of_game(number)) {
                Some(finished) => out.all(|out| {
                    Entry::Game(*finished).write(out)?;
                    let is_here = |&(number, issue): &(u16, u32)| {
                        self.memory.players.iter().find(|player| player.number == number && player.issue == issue)
                    };
                    { finished.who() }
                        .filter_map(|who| is_here(&who))
                        .try_for_each(|player| player.write_after(out))?;
                    self.write_desks(finished.game, finished.who().map(|(_, issue)| issue), out)
                }),
                None => Ok(()),
            },
            Fact::Rated(number) => match self.memory.players.iter().find(|player| player.number == number) {
                Some(player) => out.all(|out| {
                    player.rated().write(out)?;
                    player.write_session(out)
                }),
                None => Ok(()),
            },
            Fact::Paused => Entry::Paused.write(out),
            Fact::Unpaused => Entry::Unpaused.write(out),
            Fact::Resumed => Entry::Resumed.write(out),
            Fact::Over => Entry::Over.write(out),
        }
    }

    fn write_result(
        &self,
        id: MatchId,
        out: &mut Writer<'_>,
        entry: fn(Played) -> Entry<'static>,
    ) -> Result<(), NoRoom> {
        let (Some(&record), Some(places)) = (self.record(id), self.places(id)) else { return Ok(()) };
        out.all(|out| {
            entry(Played { id, record }).write(out)?;
            let players = || places.iter().filter_map(|&place| self.player_at(place));
            players().try_for_each(|player| player.write_after(out))?;
            self.write_desks(self.playing, players().map(|player| player.issue), out)
        })
    }

    /// Writes what a match of two has changed at the desks of protocols.
    fn write_desks(
        &self,
        game: GameKind,
        mut who: impl Iterator<Item = u32>,
        out: &mut Writer<'_>,
    ) -> Result<(), NoRoom> {
        let (Some(one), Some(two), None) = (who.next(), who.next(), who.next()) else { return Ok(()) };
        protocols::kept_of(self, game, [one, two]).try_for_each(|(code, bytes)| Entry::Desk(code, &bytes).write(out))
    }

    /// Writes the beginning of a chapter, from part `at` on, as far as there is room; moves `at` on. False when there is
    /// no more. Whoever keeps the journal adds what it knows itself, and [`Entry::Open`].
    pub fn write_chapter(&self, at: &mut usize, out: &mut Writer<'_>) -> bool {
        let head = [Entry::Origin(self.origin()), Entry::Settings(self.settings()), self.debates()];
        // Whoever came when the league had begun plays beside it.
        let is_beside = |player: &&Player| self.stage != Stage::Waiting && player.place == OUTSIDE;
        let is_in = move |player: &&Player| !is_beside(player);
        let agents = self.memory.players.iter().filter(is_in).map(Player::entry);
        let agents = agents.chain(protocols::referees(self).map(Entry::Referee));
        let started = (self.stage != Stage::Waiting).then_some(Entry::Started);
        let beside = self.memory.players.iter().filter(is_beside).map(Player::entry);
        let ratings = self.memory.players.iter().filter(|player| player.rating.games > 0).map(Player::rated);
        let (older, newer) = self.memory.finished.as_slices();
        let games = older.iter().chain(newer).map(|finished| Entry::Game(*finished));
        let entries = head.into_iter().chain(agents).chain(started).chain(beside).chain(ratings).chain(games);
        let entries = entries.chain(self.open_votes());
        let said = entries.clone().count();
        if write_from(at, entries, out) {
            return true;
        }
        for player in self.memory.players.iter().skip(at.saturating_sub(said)) {
            let write = |out: &mut Writer<'_>| {
                Counts::write(player.number, &player.compliance, out)?;
                player.write_session(out)
            };
            if out.all(write).is_err() {
                return true;
            }
            *at = at.saturating_add(1);
        }
        let said = said.saturating_add(self.memory.players.len());
        for (code, bytes) in protocols::all_kept(self).skip(at.saturating_sub(said)) {
            if Entry::Desk(code, &bytes).write(out).is_err() {
                return true;
            }
            *at = at.saturating_add(1);
        }
        false
    }

    /// The league has ended, or its standings have changed since: the last ending is the one that counts.
    pub(super) fn push_ending(&mut self) {
        self.refresh_standings();
        self.memory.facts.push(Fact::Ended);
    }

    /// Writes how the league ended, from part `at` on, as far as there is room; moves `at` on. False when there is no more.
    pub fn write_ending(&self, at: &mut usize, out: &mut Writer<'_>) -> bool {
        let last = self.memory.records.iter().flatten().map(|record| record.finished.0).max();
        let ended = Entry::Ended(Ended {
            league: self.number,
            game: self.game(),
            at: Utc(last.unwrap_or(0)),
            players: count(self.standings().count()),
            matches: self.schedule().total_matches(),
        });
        write_from(at, core::iter::once(ended).chain(self.standings().map(Entry::Ranked)), out)
    }

    /// What everything is derived from.
    pub fn origin(&self) -> Origin {
        let Self { number: league, issued, master, secret, seed_is_chosen: chosen, .. } = *self;
        Origin { league, issued, master, secret, chosen }
    }

    /// How debates are held.
    fn debates(&self) -> Entry<'_> {
        Entry::Debates(self.config.vote_seconds, &self.config.topic)
    }

    /// How the league is set up.
    pub fn settings(&self) -> Settings {
        let Config { game, mode, timing, start_at, pacing, per_address, fill_after, other_hosts, .. } = self.config;
        Settings { game, mode, timing, start_at, pacing, per_address, fill_after, other_hosts }
    }

    /// Takes in what a journal says, entry by entry, in order. Nothing goes out; when all is in, [`Venue::resume`] goes on.
    pub fn restore(&mut self, entry: &Entry<'_>) -> Result<(), Unfit> {
        let is_waiting = self.stage == Stage::Waiting;
        match *entry {
            Entry::Origin(origin) => {
                self.reset();
                while self.poll_output().is_some() {}
                let Origin { league, issued, master, secret, chosen } = origin;
                (self.number, self.issued) = (league, issued);
                (self.master, self.secret, self.seed_is_chosen) = (master, secret, chosen);
            }
            Entry::Settings(settings) => self.apply(settings),
            Entry::NextSeed(seed, chosen) => self.next_seed = Some((seed, chosen)),
            // Whoever comes when the league has begun plays beside it, or in the next.
            Entry::Player(agent) => self.restore_player(agent).ok_or(Unfit)?,
            Entry::Referee(agent) => {
                Code::of(agent.protocol).and_then(|code| code.restore_referee(self, agent)).ok_or(Unfit)?;
                self.issued = self.issued.max(agent.issue);
            }
            Entry::Left(number) | Entry::Removed(number) if is_waiting => {
                self.memory.players.retain(|player| player.number != number);
            }
            Entry::Left(number) | Entry::Removed(number) => {
                let gone = if matches!(entry, Entry::Left(_)) { Gone::Left } else { Gone::Removed };
                if let Some(player) = self.memory.players.iter_mut().find(|player| player.number == number) {
                    player.state = AgentState::Shutdown;
                    player.hang_up(gone);
                }
            }
            Entry::Started if is_waiting && self.fits().is_ok() => {
                self.clear_the_board();
                self.stage = Stage::Running(1);
            }
            Entry::Played(played) if !is_waiting => {
                let index = self.schedule().index(played.id.round, played.id.table).ok_or(Unfit)?;
                let place = self.memory.records.get_mut(index).ok_or(Unfit)?;
                if place.replace(played.record).is_some() {
                    return Err(Unfit);
                }
                self.drop_ballot(played.id);
            }
            Entry::Voting(ballot) => self.restore_ballot(&ballot),
            Entry::Vote(id, vote) => self.restore_vote(id, vote),
            Entry::Debates(seconds, topic) => {
                self.config.vote_seconds = seconds;
                self.config.topic = String::try_from(topic).map_err(|_| Unfit)?;
            }
            Entry::Ruled(played) if !is_waiting => {
                let index = self.schedule().index(played.id.round, played.id.table).ok_or(Unfit)?;
                *self.memory.records.get_mut(index).and_then(Option::as_mut).ok_or(Unfit)? = played.record;
            }
            Entry::Again(id) if !is_waiting => {
                // The result may not have been written before it was taken back.
                let index = self.schedule().index(id.round, id.table).ok_or(Unfit)?;
                *self.memory.records.get_mut(index).ok_or(Unfit)? = None;
                self.attempts = self.attempts.saturating_add(1);
            }
            Entry::Counts(counts) => {
                if let Some(player) = self.memory.players.iter_mut().find(|player| player.number == counts.player) {
                    counts.iter().for_each(|(rule, count)| player.compliance.restore(rule, count));
                }
            }
            Entry::Game(finished) => {
                self.last_game = finished.number.into();
                self.drop_ballot(MatchId::of_game(finished.number));
                self.keep_game(finished);
            }
            Entry::Rated(number, rating) => {
                if let Some(player) = self.memory.players.iter_mut().find(|player| player.number == number) {
                    player.rating = rating;
                }
            }
            Entry::Session(number, bytes) => {
                if let Some(player) = self.memory.players.iter_mut().find(|player| player.number == number) {
                    player.session.recall(bytes);
                }
            }
            Entry::Desk(code, bytes) => Code::of(code).ok_or(Unfit)?.restore_kept(self, bytes),
            Entry::Paused if !is_waiting => self.paused = true,
            Entry::Unpaused if !is_waiting => self.paused = false,
            Entry::Resumed if !is_waiting => self.attempts = self.attempts.saturating_add(1),
            Entry::Over
                if !is_waiting && self.records_of(1..=self.schedule().rounds()).all(|played| played.is_some()) =>
            {
                self.over_is_told = true;
            }
            Entry::Open | Entry::AdminCode(_) | Entry::Ended(_) | Entry::Ranked(_) => {}
            _ => return Err(Unfit),
        }
        Ok(())
    }

    fn apply(&mut self, settings: Settings) {
        let Settings { game, mode, timing, start_at, pacing, per_address, fill_after, other_hosts } = settings;
        let config = &mut self.config;
        (config.game, config.mode, config.timing, config.start_at) = (game, mode, timing, start_at);
        (config.pacing, config.per_address, config.fill_after) = (pacing, per_address, fill_after);
        config.other_hosts = other_hosts;
    }

    fn restore_player(&mut self, agent: Agent<'_>) -> Option<()> {
        let number = Some(agent.number).filter(|number| (1..1000).contains(number))?;
        let contact = Contact::restored(agent.endpoint, agent.from, agent.elsewhere)?;
        let name = String::try_from(agent.name).ok()?;
        let player = Player {
            version: String::try_from(agent.version).ok()?,
            games: agent.games,
            ..Player::new(
                number,
                agent.issue,
                name,
                contact,
                AnySession::restored(agent.protocol, agent.dialect, agent.about)?,
            )
        };
        self.issued = self.issued.max(agent.issue);
        match self.memory.players.iter_mut().find(|known| known.number == agent.number) {
            Some(known) => *known = Player { place: known.place, rating: known.rating, ..player },
            None => self.memory.players.push(player).ok()?,
        }
        Some(())
    }

    /// Goes on after a restart, with what was restored. Matches without a result are played from their invitation; the
    /// round is announced and its results are told once more, because nobody knows who has heard them. Keeps facts.
    pub fn resume(&mut self, now: Now) {
        self.memory.facts.kept = true;
        self.note(now, None, None, Happening::Resumed);
        if self.stage == Stage::Waiting {
            self.reopen_votes(now, 0);
            // The last one may have been kept, and the start it led to not.
            self.start_if_enough(now);
            self.advance(now);
            return;
        }
        let last = self.schedule().rounds();
        let is_begun =
            |round: u16| self.records_of(round..=round).any(|played| played.is_some()) || self.has_vote_in(round);
        let begun = (1..=last).rev().find(|&round| is_begun(round)).unwrap_or(1);
        // What is missing of earlier rounds is to be played again, within the one that was begun last.
        let is_complete = self.records_of(1..=begun).all(|played| played.is_some());
        let open = if is_complete { begun.saturating_add(1).min(last) } else { begun };
        let is_begun = is_begun(open);
        self.results = self.results_kept().into();
        // A pause holds between two rounds, and a round without any result can as well begin after it.
        let is_paced = self.config.pacing.pace != Pace::Fast;
        let is_between = (self.paused && open > 1 || is_paced) && !is_begun;
        let (round, closed) = (if is_between { open.saturating_sub(1) } else { open }, open.saturating_sub(1));
        if self.over_is_told {
            self.count_results(1, last);
            self.close_standings(last);
            self.end_news();
            self.stage = Stage::Completed;
            let seated = self.memory.players.iter_mut().filter(|player| player.place != OUTSIDE);
            seated.for_each(|player| player.state = AgentState::Shutdown);
            return;
        }
        self.attempts = self.attempts.saturating_add(1);
        self.memory.facts.push(Fact::Resumed);
        self.count_results(1, closed);
        self.close_standings(closed);
        self.begin_news_after(closed);
        if is_between {
            return self.rest_after(now, round);
        }
        self.start_round(now, round);
        self.count_results(round, round);
        let again = count(self.records_of(1..=closed).filter(Option::is_none).count());
        self.again = again.saturating_sub(self.reopen_votes(now, closed));
        self.advance(now);
    }

    /// How many matches have a result.
    pub fn results_kept(&self) -> u16 {
        count(self.memory.records.iter().flatten().count())
    }

    fn records_of(
        &self,
        rounds: core::ops::RangeInclusive<u16>,
    ) -> impl Iterator<Item = Option<crate::season::Record>> {
        rounds.flat_map(|round| self.matches_of(round)).map(|id| self.record(id).copied())
    }

    /// Counts anew what the players have gathered: a result has changed.
    pub(super) fn recount(&mut self) {
        self.memory.tallies.iter_mut().for_each(|tally| *tally = Tally::default());
        self.count_results(1, self.schedule().rounds());
    }

    /// Adds the results of these rounds to what the players have gathered.
    fn count_results(&mut self, first: u16, last: u16) {
        let tables = 1..=self.schedule().matches_per_round();
        for id in (first..=last).flat_map(|round| tables.clone().map(move |table| MatchId { round, table })) {
            let (Some(&record), Some(places)) = (self.record(id), self.places(id)) else { continue };
            for (seat, place) in (0..).zip(places) {
                if let Some(tally) = self.memory.tallies.get_mut(usize::from(place)) {
                    tally.add(record.verdict(seat));
                }
            }
        }
        self.current_is_stale = true;
    }
}

/// Writes entries from the one that `at` names on, as far as there is room; moves `at` on. False when there is no more.
fn write_from<'a>(at: &mut usize, entries: impl Iterator<Item = Entry<'a>>, out: &mut Writer<'_>) -> bool {
    for entry in entries.skip(*at) {
        if entry.write(out).is_err() {
            return true;
        }
        *at = at.saturating_add(1);
    }
    false
}

/// The most bytes a session keeps.
const SESSION_BYTES: usize = 32;

impl Player {
    /// What a match has changed of it.
    fn write_after(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        Counts::write(self.number, &self.compliance, out)?;
        self.rated().write(out)?;
        self.write_session(out)
    }

    /// What its protocol keeps of it, if anything.
    fn write_session(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        let mut bytes = [0; SESSION_BYTES];
        let mut kept = Writer::new(&mut bytes);
        self.session.keep(&mut kept)?;
        match kept.len() {
            0 => Ok(()),
            length => Entry::Session(self.number, bytes.get(..length).unwrap_or_default()).write(out),
        }
    }

    fn rated(&self) -> Entry<'_> {
        Entry::Rated(self.number, self.rating)
    }

    fn entry(&self) -> Entry<'_> {
        Entry::Player(Agent {
            number: self.number,
            issue: self.issue,
            name: &self.name,
            version: &self.version,
            endpoint: self.contact.given(),
            from: self.contact.from(),
            elsewhere: self.contact.is_elsewhere(),
            games: self.games,
            protocol: self.session.code() as u8,
            dialect: self.session.dialect(),
            about: self.session.about(),
        })
    }
}
