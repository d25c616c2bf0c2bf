//! News: what happens in a league and concerns its players, whatever protocol they speak. It is kept nowhere. What a player
//! hears next follows from how the league stands and from its [`Cursor`], which a session keeps whose player is told by news.
//! So nobody is told what is no longer so, and whoever listens slowly skips what is past.

use super::players::{OUTSIDE, Player};
use super::{Stage, Venue};
use crate::ids::MatchId;
use crate::season::Record;
use crate::time::Now;

/// What has happened, most of it in a round. It is put into words when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// This round begins.
    Round(u16),
    /// The player's move counts, in its match of this round.
    MoveTaken(u16),
    /// The player's match of this round is over.
    GameOver(u16),
    /// The table after this round.
    Standings(u16),
    /// This round is over.
    RoundCompleted(u16),
    /// The league is over.
    LeagueCompleted,
}

/// The place of news in a league: the round, and how far in it.
type Place = (u16, u8);

const RESULT: u8 = 3;
const TABLE: u8 = 4;
const END_OF_ROUND: u8 = 5;
const END_OF_LEAGUE: Place = (u16::MAX, 0);

impl News {
    /// In which order it is told.
    fn place(self) -> Place {
        match self {
            News::Round(round) => (round, 1),
            News::MoveTaken(round) => (round, 2),
            News::GameOver(round) => (round, RESULT),
            News::Standings(round) => (round, TABLE),
            News::RoundCompleted(round) => (round, END_OF_ROUND),
            News::LeagueCompleted => END_OF_LEAGUE,
        }
    }
}

/// Of rounds that are farther back than this, a player hears only how its matches ended. Its own match holds the next round up,
/// so only one that has byes, or whose matches end at once, can be that late.
const ROUNDS_BEHIND: u16 = 2;

/// What a player has heard of a league.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// All up to here.
    heard: Place,
    /// But not that its last move was taken, in its match of this round,
    moved: Option<u16>,
    /// nor the results of its matches in these rounds, from the first to the last, which have changed since it heard them.
    /// Where more than one has, it hears of those between them again: two of a player seldom change at once.
    changed: Option<(u16, u16)>,
    /// Whether of rounds before the last it hears only how its matches ended.
    is_hurried: bool,
}

impl Cursor {
    /// Of a player that has heard everything up to the end of a round.
    fn after(round: u16) -> Self {
        Self { heard: (round, END_OF_ROUND), ..Self::default() }
    }

    /// A move of the player was taken. Only the last can be put into words.
    pub(crate) fn has_moved(&mut self, round: u16) {
        self.moved = Some(round);
    }

    /// The player is being told this. It counts as [heard](Self::has_heard) only afterwards, except of a move: by then it would
    /// be about the next one.
    pub(crate) fn hears(&mut self, news: News) {
        if matches!(news, News::MoveTaken(_)) {
            self.moved = None;
        }
    }

    /// The player has been told this, as far as anybody knows.
    pub(crate) fn has_heard(&mut self, news: News) {
        match (news, self.changed) {
            (News::MoveTaken(_), _) => {}
            (News::GameOver(round), Some((first, last))) if first <= round && news.place() <= self.heard => {
                self.changed = (round < last).then_some((round.saturating_add(1), last));
            }
            _ => self.heard = self.heard.max(news.place()),
        }
    }

    /// The result of the player's match of a round has changed.
    fn has_changed(&mut self, round: u16) {
        if self.heard >= (round, RESULT) {
            let (first, last) = self.changed.unwrap_or((round, round));
            self.changed = Some((first.min(round), last.max(round)));
        }
    }

    /// The match of a round is played again: what was taken in it is forgotten.
    fn forget_moves(&mut self, round: u16) {
        self.moved = self.moved.filter(|&of| of != round);
    }
}

impl Venue<'_> {
    /// What a player is told next, if anything.
    pub(crate) fn next_news(&self, player: &Player) -> Option<News> {
        let cursor = player.session.cursor().filter(|_| player.place != OUTSIDE && !player.has_left())?;
        let round = match self.stage {
            Stage::Waiting => return None,
            Stage::Running(round) => round,
            Stage::Completed => self.schedule().rounds(),
        };
        let all_from = if cursor.is_hurried { (round, TABLE) } else { (round.saturating_sub(ROUNDS_BEHIND), 0) };
        let is_told = |news: News| matches!(news, News::GameOver(_)) || news.place() >= all_from;
        let is_new = |&news: &News| news.place() > cursor.heard && is_told(news) && self.is_so(player, news);
        let first = cursor.heard.0.max(1);
        let in_order =
            |round| [News::Round(round), News::GameOver(round), News::Standings(round), News::RoundCompleted(round)];
        let next = (first..=round).flat_map(in_order).chain([News::LeagueCompleted]).find(is_new);
        let (from, to) = cursor.changed.unwrap_or((1, 0));
        let changed = (from..=to).map(News::GameOver).find(|&news| self.is_so(player, news));
        let moved = cursor.moved.map(News::MoveTaken);
        [changed, moved, next].into_iter().flatten().min_by_key(|news| news.place())
    }

    /// Whether something has happened, of what happens to all in a league and to a player in its match.
    fn is_so(&self, player: &Player, news: News) -> bool {
        let is_closed = |round: u16| match self.stage {
            Stage::Waiting => false,
            Stage::Running(present) => round < present || round == present && self.round_is_closed,
            Stage::Completed => true,
        };
        match news {
            News::Round(_) | News::MoveTaken(_) => true,
            News::GameOver(round) => {
                let table = self.schedule().table_of(round, player.place);
                // Who was refereed elsewhere has heard it there.
                let is_ours = |record: &Record| record.referee().is_none();
                table.is_some_and(|table| self.record(MatchId { round, table }).is_some_and(is_ours))
            }
            // There is one table that can be told.
            News::Standings(round) => round == self.closed_round && is_closed(round),
            News::RoundCompleted(round) => is_closed(round),
            News::LeagueCompleted => self.stage == Stage::Completed,
        }
    }

    /// Whether nothing is being said to a player, nor waits to be.
    pub(crate) fn is_idle(&self, player: &Player) -> bool {
        player.session.is_idle() && self.next_news(player).is_none()
    }

    /// Whether a player that listens has yet to hear the standings.
    pub(super) fn owes_standings(&self, player: &Player) -> bool {
        let last = News::Standings(self.closed_round);
        let session = &player.session;
        let is_unheard = |cursor: &Cursor| cursor.heard < last.place() && self.is_so(player, last);
        let is_told =
            player.place != OUTSIDE && !player.has_left() && !player.is_held_back() && !player.is_told_later();
        is_told && !session.is_deaf() && (is_standings(session.telling()) || session.cursor().is_some_and(is_unheard))
    }

    /// A league begins, or goes on after a restart: everybody counts as having heard everything up to the end of a round.
    pub(super) fn begin_news_after(&mut self, round: u16) {
        self.move_cursors(|_, cursor| *cursor = Cursor::after(round));
    }

    /// A league is over that everybody has been told of.
    pub(super) fn end_news(&mut self) {
        self.move_cursors(|_, cursor| cursor.heard = END_OF_LEAGUE);
    }

    /// A round that was closed is open again, and its end will be told anew.
    pub(super) fn reopen_news_of(&mut self, round: u16) {
        self.move_cursors(|_, cursor| {
            if cursor.heard > (round, RESULT) && cursor.heard.0 == round {
                cursor.heard = (round, RESULT);
            }
        });
    }

    /// The league is over. Who does not listen is told of its matches, of the last round and the end, not all it missed: every
    /// message would cost its time. Who is given up is told only the end.
    pub(super) fn hurry_news(&mut self) {
        let last = self.schedule().rounds();
        self.move_cursors(|player, cursor| {
            cursor.is_hurried = player.session.is_deaf();
            if player.breaker.is_open() {
                *cursor = Cursor::after(last);
            }
        });
    }

    fn move_cursors(&mut self, change: impl Fn(&Player, &mut Cursor)) {
        for player in self.memory.players.iter_mut() {
            if let Some(mut cursor) = player.session.cursor().copied() {
                change(player, &mut cursor);
                player.session.set_cursor(cursor);
            }
        }
    }

    /// The cursor of a player that is told by news.
    fn move_cursor(&mut self, index: u16, change: impl Fn(&mut Cursor)) {
        if let Some(player) = self.player_mut(index)
            && let Some(mut cursor) = player.session.cursor().copied()
        {
            change(&mut cursor);
            player.session.set_cursor(cursor);
        }
    }

    /// Something has happened that may concern everybody.
    pub(super) fn tell_all(&mut self, now: Now) {
        self.lines().for_each(|index| self.pump(now, index));
    }

    /// The match of a player in a round has another result than it had, or one again: whoever has heard the first hears it too.
    pub(super) fn result_is_another(&mut self, index: u16, round: u16) {
        self.move_cursor(index, |cursor| cursor.has_changed(round));
    }

    /// The match of a player in a round is to be played again. Who is just being told of it is not told to the end.
    pub(super) fn take_back_result(&mut self, index: u16, round: u16) {
        self.move_cursor(index, |cursor| cursor.forget_moves(round));
        self.break_off(index, |news| [News::GameOver(round), News::MoveTaken(round)].contains(&news));
    }

    /// Who is just being told the table of another round is not told to the end: it hears the new one instead.
    pub(super) fn take_back_standings(&mut self) {
        for index in self.lines() {
            self.break_off(index, |news| is_standings(Some(news)));
        }
    }

    fn break_off(&mut self, index: u16, is_past: impl Fn(News) -> bool) {
        if let Some(player) = self.player_mut(index)
            && player.session.telling().is_some_and(is_past)
        {
            player.session.break_off();
            self.list(index);
        }
    }

    /// What there is to tell has changed: who is just being told is told anew.
    pub(super) fn tell_anew(&mut self, now: Now, index: u16, news: News) -> bool {
        let is_telling = |player: &&Player| player.session.telling() == Some(news);
        let code = self.player(index).filter(is_telling).map(|player| player.session.code());
        if let Some(code) = code {
            code.tell_anew(self, now, index);
        }
        code.is_some()
    }
}

fn is_standings(news: Option<News>) -> bool {
    matches!(news, Some(News::Standings(_)))
}
