//! The vote of the audience, in games that end by one ([`Game::is_voting`]). One vote for each agent that does not play, one for each page,
//! which keeps a number it has thrown dice for; each may be changed until the vote is closed.
//!
//! Who has voted for whom lies among the [notes](super::notes), 9 bytes each behind a [`Ballot`], and every vote is a fact: a power cut
//! loses none. After a restart the vote goes on where it was, and has all its time again; the match is not played anew.
//!
//! A page can lie about its number. So votes are counted by where they come from, and the owner is told where that looks odd
//! ([`Poll::crowd`]); nobody fills the box with them.

use core::fmt;
use core::net::IpAddr;

use super::Venue;
use super::facts::Fact;
use super::notes::Note;
use super::powers::{Denied, not_now};
use super::rounds::{Life, Lines, Seating, Table};
use crate::fair::{Draws, Seed};
use crate::games::{AnyGame, Game, GameKind, MAX_SEATS, Seat, Seats};
use crate::ids::MatchId;
use crate::journal::Entry;
use crate::journal::bytes::{Garbled, NoRoom, Reader, Writer};
use crate::log::Happening;
use crate::referee::{Match, Phase};
use crate::time::{Millis, Now};

/// So many votes from one address are no more those of a class behind one router.
pub const CROWD: u16 = 30;
/// One address has no more votes than this,
const EACH: usize = 60;
/// and a match has no more.
const MOST: usize = 240;
/// What a vote takes: who, from where, for whom.
const VOTE: usize = 9;

/// What is needed to go on with a vote after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ballot {
    /// Of which match.
    pub id: MatchId,
    /// What is played,
    pub game: GameKind,
    /// and what decides its draws.
    pub seed: Seed,
    /// What is worth keeping of the game as it was when the vote began.
    pub digest: u64,
    /// The steps on film so far.
    pub steps: u16,
    /// Whether it is about what the owner has said.
    pub is_own: bool,
    /// Who wanted to say no more.
    pub left: Seats,
    /// How many play,
    pub seats: u8,
    /// and who, by seat: the numbers in their ids.
    pub players: [u16; MAX_SEATS],
}

impl Ballot {
    const BYTES: usize = 61;

    /// In one byte: whether it is about what the owner has said, and who left.
    pub(crate) fn marks(&self) -> u8 {
        u8::from(self.is_own) | self.left.bits() << 1
    }

    /// The same again.
    pub(crate) fn of_marks(marks: u8) -> (bool, Seats) {
        (marks & 1 != 0, Seats::of_bits(marks >> 1).unwrap_or_default())
    }

    fn write(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        out.u16(self.id.round)?;
        out.u16(self.id.table)?;
        out.u8(self.game as u8)?;
        out.raw(&self.seed.0)?;
        out.u64(self.digest)?;
        out.u16(self.steps)?;
        out.u8(self.marks())?;
        out.u8(self.seats)?;
        self.players.into_iter().try_for_each(|number| out.u16(number))
    }

    fn read(bytes: &[u8]) -> Result<Self, Garbled> {
        let from = &mut Reader::new(bytes);
        let id = MatchId { round: from.u16()?, table: from.u16()? };
        let game = GameKind::ALL.get(usize::from(from.u8()?)).copied().ok_or(Garbled)?;
        let (seed, digest, steps) = (Seed(from.hash()?), from.u64()?, from.u16()?);
        let (is_own, left) = Self::of_marks(from.u8()?);
        let (seats, mut players) = (from.u8()?, [0; MAX_SEATS]);
        { players.iter_mut() }.try_for_each(|number| {
            *number = from.u16()?;
            Ok(())
        })?;
        Ok(Self { id, game, seed, digest, steps, is_own, left, seats, players })
    }
}

/// One vote, as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vote {
    /// Who voted,
    pub who: u32,
    /// from where,
    pub from: u32,
    /// for whom.
    pub seat: Seat,
}

impl Vote {
    fn bytes(&self) -> [u8; VOTE] {
        let ([a, b, c, d], [e, f, g, h]) = (self.who.to_le_bytes(), self.from.to_le_bytes());
        [a, b, c, d, e, f, g, h, self.seat]
    }

    fn read(&[a, b, c, d, e, f, g, h, seat]: &[u8; VOTE]) -> Self {
        Self { who: u32::from_le_bytes([a, b, c, d]), from: u32::from_le_bytes([e, f, g, h]), seat }
    }
}

/// Who votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voter<'a> {
    /// The player of this number.
    Agent(u16),
    /// A page, by what it keeps for that.
    Page(&'a str),
}

/// Pages have the lower half of all numbers.
const AGENT: u32 = 1 << 31;

impl Voter<'_> {
    fn number(self) -> u32 {
        match self {
            Voter::Agent(number) => AGENT | u32::from(number),
            // FNV-1a: of 240 pages two are taken for one another once in 75,000 votes.
            Voter::Page(key) => {
                key.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
                    & !AGENT
            }
        }
    }
}

/// An address in 32 bits.
fn place(from: IpAddr) -> u32 {
    match from.to_canonical() {
        IpAddr::V4(ip) => ip.to_bits(),
        IpAddr::V6(ip) => {
            ip.octets().as_chunks().0.iter().fold(0, |sum: u32, &four| sum.rotate_left(5) ^ u32::from_be_bytes(four))
        }
    }
}

/// Why a vote does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCounted {
    /// There is no such match, or it has no audience.
    Match,
    /// It is too early.
    NotOpen,
    /// It is too late.
    Closed,
    /// Whom it is for does not play.
    Choice,
    /// Who plays does not vote.
    Plays,
    /// So many have voted from there that this cannot be a class.
    TooMany,
}

impl NotCounted {
    /// What people are told.
    pub fn words(self) -> &'static str {
        match self {
            NotCounted::Match => "no such match has an audience that votes",
            NotCounted::NotOpen => "The vote is not open yet",
            NotCounted::Closed => "The vote is closed",
            NotCounted::Choice => "for must be the player_id of one who plays this match",
            NotCounted::Plays => "who plays a match has no vote in it",
            NotCounted::TooMany => "too many votes came from this address, or in all",
        }
    }
}

impl fmt::Display for NotCounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// How a vote stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poll {
    /// How long it is open, in milliseconds; `None` where it is not.
    pub left_ms: Option<u32>,
    /// Whether it is over.
    pub is_closed: bool,
    /// For each seat.
    pub votes: [u16; MAX_SEATS],
    /// The most votes from one address, where there are more than [`CROWD`].
    pub crowd: Option<u16>,
}

impl Venue<'_> {
    /// Somebody votes, or votes anew.
    pub fn vote(
        &mut self,
        now: Now,
        id: MatchId,
        voter: Voter<'_>,
        from: IpAddr,
        seat: Seat,
    ) -> Result<(), NotCounted> {
        let slot = self.open_ballot(id)?;
        let table = self.table_at(slot).ok_or(NotCounted::Match)?;
        if seat >= table.play.game().seats() {
            return Err(NotCounted::Choice);
        }
        let plays =
            |number| table.players().iter().any(|&line| self.player(line).is_some_and(|one| one.number == number));
        if let Voter::Agent(number) = voter
            && plays(number)
        {
            return Err(NotCounted::Plays);
        }
        let vote = Vote { who: voter.number(), from: place(from), seat };
        let at = self.count_vote(slot, vote).ok_or(NotCounted::TooMany)?;
        self.memory.facts.push(Fact::Vote(id, at));
        self.note(now, None, Some(id), Happening::Voted);
        Ok(())
    }

    /// The slot of a match whose vote is open.
    fn open_ballot(&self, id: MatchId) -> Result<u16, NotCounted> {
        let slot = self.slot_of(|table| table.id == id && !table.is_over());
        match slot.and_then(|slot| Some((slot, self.table_at(slot)?))) {
            Some((slot, table)) if table.life == Life::Voting && table.play.phase() == Phase::Voting => Ok(slot),
            Some((_, table)) if table.life == Life::Voting => Err(NotCounted::Closed),
            Some((_, table)) if table.play.game().has_audience() => Err(NotCounted::NotOpen),
            None if self.record(id).is_some() && self.recall(id).is_some_and(|game| game.has_audience()) => {
                Err(NotCounted::Closed)
            }
            _ => Err(NotCounted::Match),
        }
    }

    /// Puts a vote beside the others of a table, or in the place of the same voter's. Its place among them.
    fn count_vote(&mut self, slot: u16, vote: Vote) -> Option<u8> {
        let before = self.votes(slot).position(|other| other.who == vote.who);
        let at = match before {
            Some(at) => {
                let place = at.saturating_mul(VOTE).saturating_add(Ballot::BYTES).saturating_add(VOTE - 1);
                self.memory.notes.change(slot, Note::Votes, place, vote.seat);
                at
            }
            None => {
                let (all, from_there) =
                    (self.votes(slot).count(), self.votes(slot).filter(|one| one.from == vote.from).count());
                let has_room = all < MOST && from_there < EACH;
                if !has_room || !self.memory.notes.extend(slot, Note::Votes, &vote.bytes()) {
                    return None;
                }
                all
            }
        };
        let votes = self.tally_of_votes(slot);
        if let Some(table) = self.table_at_mut(slot) {
            table.play.votes(votes);
        }
        u8::try_from(at).ok()
    }

    /// The votes at a table.
    fn votes(&self, slot: u16) -> impl Iterator<Item = Vote> {
        let bytes = self.memory.notes.bytes_of(slot, Note::Votes).and_then(|bytes| bytes.get(Ballot::BYTES..));
        bytes.unwrap_or_default().as_chunks().0.iter().map(Vote::read)
    }

    fn tally_of_votes(&self, slot: u16) -> [u16; MAX_SEATS] {
        let mut tally = [0_u16; MAX_SEATS];
        for vote in self.votes(slot) {
            if let Some(votes) = tally.get_mut(usize::from(vote.seat)) {
                *votes = votes.saturating_add(1);
            }
        }
        tally
    }

    /// How the vote of a match stands, if it has one.
    pub fn poll(&self, now: Now, id: MatchId) -> Option<Poll> {
        let tally = |game: &AnyGame| {
            let mut votes = [0; MAX_SEATS];
            votes.iter_mut().zip(0..game.seats()).for_each(|(votes, seat)| *votes = game.votes(seat));
            votes
        };
        match self.slot_of(|table| table.id == id && !table.is_over()) {
            Some(slot) => {
                let table = self.table_at(slot).filter(|table| table.play.game().has_audience())?;
                let most = |vote: Vote| self.votes(slot).filter(|other| other.from == vote.from).count();
                let most = self.votes(slot).map(most).max().and_then(|most| u16::try_from(most).ok());
                Some(Poll {
                    left_ms: table.play.vote_left(now.ms).filter(|_| table.life == Life::Voting),
                    is_closed: false,
                    votes: tally(table.play.game()),
                    crowd: most.filter(|&most| most > CROWD),
                })
            }
            None => {
                let game = self.recall(id).filter(|game| game.has_audience())?;
                Some(Poll { left_ms: None, is_closed: true, votes: tally(&game), crowd: None })
            }
        }
    }

    /// For whom somebody has voted in a match that is open.
    pub fn voted_for(&self, id: MatchId, voter: Voter<'_>) -> Option<Seat> {
        let slot = self.open_ballot(id).ok()?;
        self.votes(slot).find(|vote| vote.who == voter.number()).map(|vote| vote.seat)
    }

    /// Nobody says any more at a match: its audience decides. Of whoever leaves it, or of the owner's will.
    pub fn open_vote(&mut self, now: Now, id: MatchId) -> Result<(), Denied> {
        let slot = self.slot_of(|table| table.id == id && !table.is_over()).ok_or(Denied::Match)?;
        let Some(table) = self.table_at_mut(slot) else { return Err(Denied::Match) };
        if table.life == Life::Voting {
            return not_now("the vote is open already");
        }
        if table.life != Life::Playing || !table.play.open_vote(None) {
            return not_now("the match has not begun, or has no audience that votes");
        }
        for line in table.seated() {
            if self.player_mut(line).is_some_and(|player| player.session.withdraw()) {
                self.list(line);
            }
        }
        self.proceed(now, slot);
        self.advance(now);
        Ok(())
    }

    /// A player wants to say no more in a match whose audience decides, and has last words for the others: the vote is open. False
    /// where there is none to open.
    pub(crate) fn leave_talk(&mut self, now: Now, line: u16, words: &str) -> bool {
        let Some((number, Seating { slot, seat })) = self.player(line).and_then(|one| Some((one.number, one.seating?)))
        else {
            return false;
        };
        let Some(table) = self.table_at_mut(slot).filter(|table| table.life == Life::Playing) else { return false };
        let game = table.play.game();
        if !game.has_audience() || !game.awaits_vote(false) {
            return false;
        }
        table.play.leaves(seat);
        let id = table.id;
        if !words.is_empty() {
            // Where there is no room for them, they are not heard.
            self.memory.notes.set(number, Note::Said, words);
        }
        self.open_vote(now, id).is_ok()
    }

    /// When the vote at a table ends, while it is open.
    pub(crate) fn vote_ends(&self, now: Now, table: &Table) -> Option<Millis> {
        let left = table.play.vote_left(now.ms).filter(|_| table.life == Life::Voting)?;
        Some(now.ms.saturating_add(left.into()))
    }

    /// The owner closes a vote before its time.
    pub fn close_vote(&mut self, now: Now, id: MatchId) -> Result<(), Denied> {
        let slot = self.slot_of(|table| table.id == id && !table.is_over()).ok_or(Denied::Match)?;
        let Some(table) = self.table_at_mut(slot).filter(|table| table.life == Life::Voting) else {
            return not_now("there is no vote to close");
        };
        table.play.close_vote();
        self.proceed(now, slot);
        self.advance(now);
        Ok(())
    }

    /// Begins the vote at a table where all has been said.
    pub(super) fn see_to_vote(&mut self, now: Now, slot: u16) {
        let vote_ms = Millis::from(self.config.vote_seconds).saturating_mul(1000);
        let is_watched = self.is_watched || self.memory.players.iter().any(|player| player.may_vote());
        let Some(table) = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        if table.play.phase() != Phase::Voting || table.life != Life::Playing {
            return;
        }
        table.life = Life::Voting;
        table.play.vote_lasts(now.ms, vote_ms);
        let id = table.id;
        if !table.play.game().awaits_vote(is_watched) {
            return table.play.close_vote();
        }
        if self.memory.notes.bytes_of(slot, Note::Votes).is_some() {
            // It was open before a restart.
            let votes = self.tally_of_votes(slot);
            self.table_at_mut(slot).into_iter().for_each(|table| table.play.votes(votes));
        } else if let Some(ballot) = self.ballot_at(slot) {
            self.lay_out(slot, &ballot);
            self.memory.facts.push(Fact::Voting(id));
        }
        self.note(now, None, Some(id), Happening::VoteOpened);
        // Whoever looks on may vote, and hears of it.
        self.lines().for_each(|line| self.list(line));
    }

    /// The ballot of the match at a table.
    fn ballot_at(&self, slot: u16) -> Option<Ballot> {
        let table = self.table_at(slot)?;
        let mut players = [0; MAX_SEATS];
        for (number, &line) in players.iter_mut().zip(table.players()) {
            *number = self.player(line).map_or(0, |player| player.number);
        }
        let game = table.play.game();
        Some(Ballot {
            id: table.id,
            game: GameKind::named(game.rules().name)?,
            seed: table.play.seed(),
            digest: game.digest(),
            steps: table.steps,
            is_own: game.has_own_topic(),
            left: game.talk().map_or(Seats::NONE, |talk| talk.left),
            seats: game.seats(),
            players,
        })
    }

    /// Votes can be laid on it from now on. Where there is no room nobody can vote.
    fn lay_out(&mut self, slot: u16, ballot: &Ballot) -> bool {
        let mut bytes = [0; Ballot::BYTES];
        ballot.write(&mut Writer::new(&mut bytes)).is_ok() && self.memory.notes.set_bytes(slot, Note::Votes, &bytes)
    }

    /// The ballot of an open vote, as it is kept.
    pub(super) fn ballot_of(&self, id: MatchId) -> Option<(u16, Ballot)> {
        let all =
            self.memory.notes.all(Note::Votes).filter_map(|(slot, bytes)| Some((slot, Ballot::read(bytes).ok()?)));
        { all }.find(|(_, ballot)| ballot.id == id)
    }

    /// A vote, as it is kept.
    pub(super) fn vote_at(&self, id: MatchId, at: u8) -> Option<Vote> {
        let (slot, _) = self.ballot_of(id)?;
        self.votes(slot).nth(at.into())
    }

    /// All that is kept of open votes.
    pub(super) fn open_votes(&self) -> impl Iterator<Item = Entry<'_>> + Clone {
        let ballots = self.memory.notes.all(Note::Votes);
        let ballots = ballots.filter_map(|(_, bytes)| Some((Ballot::read(bytes).ok()?, bytes.get(Ballot::BYTES..)?)));
        ballots.flat_map(|(ballot, votes)| {
            let votes = votes.as_chunks().0.iter().map(move |vote| Entry::Vote(ballot.id, Vote::read(vote)));
            core::iter::once(Entry::Voting(ballot)).chain(votes)
        })
    }

    /// Whether a vote of a round was open when the box was restarted.
    pub(super) fn has_vote_in(&self, round: u16) -> bool {
        self.memory
            .notes
            .all(Note::Votes)
            .any(|(_, bytes)| Ballot::read(bytes).is_ok_and(|ballot| ballot.id.round == round))
    }

    /// A journal says that a vote was open.
    pub(super) fn restore_ballot(&mut self, ballot: &Ballot) {
        self.drop_ballot(ballot.id);
        let is_free = |slot: &u16| self.memory.notes.bytes_of(*slot, Note::Votes).is_none();
        let room = u16::try_from(self.memory.tables.capacity()).unwrap_or(u16::MAX);
        if let Some(slot) = (0..room).find(is_free) {
            self.lay_out(slot, ballot);
        }
    }

    /// A journal tells of a vote.
    pub(super) fn restore_vote(&mut self, id: MatchId, vote: Vote) {
        if let Some((slot, _)) = self.ballot_of(id) {
            self.count_vote(slot, vote);
        }
    }

    /// A match is over, and its votes are counted.
    pub(super) fn drop_ballot(&mut self, id: MatchId) {
        if let Some((slot, _)) = self.ballot_of(id) {
            self.memory.notes.remove(slot, Note::Votes);
        }
    }

    /// Goes on with the votes that were open when the box was restarted. How many of them are of rounds that were over.
    pub(super) fn reopen_votes(&mut self, now: Now, closed: u16) -> u16 {
        let mut late = 0_u16;
        for slot in 0..u16::try_from(self.memory.tables.capacity()).unwrap_or(u16::MAX) {
            let Some(bytes) = self.memory.notes.bytes_of(slot, Note::Votes) else { continue };
            let Ok(ballot) = Ballot::read(bytes) else { continue };
            if self.reopen_vote(now, slot, &ballot).is_none() {
                self.memory.notes.remove(slot, Note::Votes);
            } else if (1..=closed).contains(&ballot.id.round) {
                late = late.saturating_add(1);
            }
        }
        late
    }

    fn reopen_vote(&mut self, now: Now, slot: u16, ballot: &Ballot) -> Option<()> {
        let Ballot { id, game, seed, digest, steps, is_own, left, seats, players } = *ballot;
        let is_open = self.record(id).is_none() && (id.is_outside() || self.places(id).is_some());
        if !is_open || !game.rules().seats.contains(&seats) {
            return None;
        }
        let mut lines = Lines::new();
        for number in players.into_iter().take(seats.into()) {
            let line = self.line_where(|player| player.number == number && player.seating.is_none())?;
            Some(line).filter(|line| !lines.contains(line)).and_then(|line| lines.push(line).ok())?;
        }
        while self.memory.tables.len() <= usize::from(slot) {
            self.memory.tables.push(None).ok()?;
        }
        let mut draws = Draws::new(seed);
        let game = AnyGame::start(game, seats, &mut draws);
        let mut play = Match::new(game, draws, now.ms, None);
        if is_own {
            play.own_topic();
        }
        left.iter().for_each(|seat| play.leaves(seat));
        if !play.open_vote(Some(digest)) {
            return None;
        }
        let place = self.memory.tables.get_mut(usize::from(slot))?;
        *place = Some(Table { steps, ..Table::new(id, &lines, play) });
        for (seat, &line) in (0..).zip(&lines) {
            self.player_mut(line)?.seating = Some(Seating { slot, seat });
        }
        self.proceed(now, slot);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ballot_is_read_as_it_was_written() {
        let ballot = Ballot {
            id: MatchId { round: 3, table: 2 },
            game: GameKind::ALL[1],
            seed: Seed([7; 32]),
            digest: 0x0123_4567_89ab_cdef,
            steps: 22,
            is_own: true,
            left: Seats::only(1),
            seats: 2,
            players: [4, 9, 0, 0, 0, 0],
        };
        let mut bytes = [0; Ballot::BYTES];
        ballot.write(&mut Writer::new(&mut bytes)).unwrap();
        assert_eq!(Ballot::read(&bytes), Ok(ballot));
        let vote = Vote { who: 0x0102_0304, from: 0xffff_0001, seat: 1 };
        assert_eq!(Vote::read(&vote.bytes()), vote);
    }

    #[test]
    fn agents_and_pages_are_never_taken_for_one_another() {
        assert_ne!(Voter::Page("a").number(), Voter::Page("b").number());
        assert!(["", "a", "0123456789abcdef"].into_iter().all(|key| Voter::Page(key).number() & AGENT == 0));
        assert_eq!(Voter::Agent(7).number(), AGENT | 7);
    }
}
