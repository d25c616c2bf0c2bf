//! News: what happens in a league and may concern its players, whatever protocol they speak. Each session decides what of it
//! its player hears, and when.

use super::Venue;
use super::players::OUTSIDE;
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

impl Venue<'_> {
    /// Everybody who is in the league is told.
    pub(super) fn tell_all(&mut self, now: Now, news: &[News]) {
        for index in 0..self.memory.players.len() as u16 {
            // Who sits out has nothing to do with it.
            if let Some(player) = self.player_mut(index).filter(|player| player.place != OUTSIDE) {
                news.iter().for_each(|&news| player.tell(news));
            }
            self.pump(now, index);
        }
    }

    /// Some news is no longer so: nobody is told who has not been, and who is just being told is not told to the end.
    pub(super) fn retract(&mut self, index: u16, is_past: impl Fn(News) -> bool) {
        if self.player_mut(index).is_some_and(|player| player.session.retract(&is_past)) {
            self.list(index);
        }
    }

    /// What there is to tell has changed: who is just being told is told anew.
    pub(super) fn tell_anew(&mut self, now: Now, index: u16, news: News) -> bool {
        let code = self.player(index).filter(|player| player.session.is_telling(news)).map(|it| it.session.code());
        if let Some(code) = code {
            code.tell_anew(self, now, index);
        }
        code.is_some()
    }
}
