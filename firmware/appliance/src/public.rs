//! What anybody may see of the league: pages that are more than a text of one moment, and what the box says of itself.

use core::cell::Cell;

use embedded_io_async::Write;
use protocol_core::ids::MatchId;
use protocol_core::json::{Counter, Full, Sink};

use crate::Appliance;
use crate::answers::{Answering, HEAD};
use crate::board::Board;
use crate::http::{Request, WriteError};
use crate::journal::Ask;
use crate::mcp;
use crate::moment::Moment;
use crate::pages::{self, Rows, Vitals};
use crate::pieces;

/// Rows of a page that are made in one go. One of a match that is not over has nothing to show and still takes work.
const ROWS: u64 = 4096;

impl<B: Board> Appliance<'_, B> {
    /// What the box says of itself at a moment.
    pub(crate) fn vitals(&self, ms: u64) -> Vitals<'_> {
        let (calendar, guard) = (self.calendar(), self.guard.borrow());
        Vitals {
            ms,
            time: calendar.at(ms),
            time_source: calendar.source(),
            uptime_seconds: ms.saturating_sub(self.started) / 1000,
            refused_requests: self.refused.get(),
            wrong_admin_codes: guard.wrong_codes,
            limited_requests: guard.too_many,
            log_entries: self.venue(|venue| venue.log().written().saturating_add(venue.log().repeats())),
            about: self.board.about(),
            kept: self.kept(),
        }
    }

    pub(crate) fn send_match<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        id: MatchId,
        sees_all: bool,
        around: Option<&Request<'_>>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let now = self.board.now();
            let found =
                self.venue(|venue| venue.match_line(id).map(|_| (Moment::of(venue, id, now), venue.log().lasting())));
            let Some((mut moment, entries)) = found else {
                return asked.error(404, "no such match in this league").await;
            };
            if moment.is_over() {
                // Of a match that is over the venue keeps how it ended; the film has the rest.
                let told = self.ask_the_journal(asked.peer, Ask::Step(id, u16::MAX)).await;
                if let Some(replay) = told.as_ref().and_then(|told| told.replay()).filter(|it| it.shot.ended.is_some())
                {
                    moment.show_end(replay.game.clone());
                }
            }
            if sees_all {
                moment.show_all();
            }
            let at = self.now().utc;
            self.send(asked, 200, &|venue, sink| {
                let page = |sink: &mut dyn Sink| pages::one_match(venue, &moment, &entries, at, sink);
                match around {
                    Some(request) => mcp::write_around(request, false, &page, sink),
                    None => page(sink),
                }
            })
            .await
        }
    }

    /// Sends a page row by row, by itself or within a frame. One that fits a single write has a length; a longer one is chunked, each row as it is
    /// when its turn comes. Rows of another league would not fit behind those already sent: then it breaks off.
    pub(crate) fn send_rows<S: Write>(
        &self,
        asked: &mut Answering<'_, S, B>,
        rows: Rows,
        around: Option<&Request<'_>>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let (exists, league) = self.venue(|venue| (rows.exists(venue), venue.league_id().number));
            if !exists {
                return asked.error(404, "no such player in this league").await;
            }
            if asked.is_head_only() {
                return asked.responder()?.head(200, rows.content_type(), rows.headers()).await;
            }
            self.act(|venue, _| venue.refresh_standings());
            let size = asked.room();
            let room = size.saturating_sub(HEAD);
            let mut counter = Counter::default();
            let mut at = 0;
            let is_short = self.venue(|venue| {
                while counter.bytes <= room && at < ROWS {
                    match rows.write_in(around, venue, &mut at, &mut counter) {
                        Ok(true) => {}
                        Ok(false) => return true,
                        Err(Full) => return false,
                    }
                }
                false
            });
            let length = is_short.then_some(counter.bytes);
            let mut answer = asked.responder()?.begin(200, rows.content_type(), length, rows.headers())?;
            let (mut at, mut made) = (0, 0u64);
            loop {
                let next = Cell::new((at, false));
                let row = |sink: &mut dyn Sink| {
                    self.venue(|venue| {
                        if venue.league_id().number != league {
                            return Err(Full);
                        }
                        let mut behind = at;
                        let more = rows.write_in(around, venue, &mut behind, sink)?;
                        next.set((behind, more));
                        Ok(())
                    })
                };
                if !pieces::send(&mut answer, &row, async || self.go_on(asked.peer, size).await).await? {
                    return Err(WriteError::WrongLength);
                }
                let more;
                (at, more) = next.get();
                if !more {
                    self.safe().await;
                    return answer.finish().await;
                }
                made = made.wrapping_add(1);
                if made % ROWS == 0 {
                    self.turns.next().await;
                }
            }
        }
    }
}
