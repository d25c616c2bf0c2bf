//! MoltGame on the box's port: which path is which question, and the way of a question to the venue and of the answer back.
//! Agents poll, so a question takes a slot no longer than its answer needs.

use core::net::IpAddr;

use embedded_io_async::Write;
use protocol_core::protocols::moltgame::{Answer, Ask, Trouble};

use crate::Appliance;
use crate::board::Board;
use crate::guard::Later;
use crate::http::{Request, Responder, WriteError};
use crate::routes::Method::{self, Get, Post};
use crate::routes::parts;

/// Where its paths begin: League of Agents lives at the first, too.
const MOUNTS: [&str; 2] = ["/api/v1", "/moltgame/api/v1"];

/// How a path is read; what stands for a `*` in it is told.
type Lead = for<'a> fn([&'a str; 2]) -> Ask<'a>;

/// Its paths, behind where they begin. Of several that fit the first counts.
const ROUTES: &[(Method, &str, Lead)] = &[
    (Post, "/agents/register", |_| Ask::Register),
    (Post, "/agents/heartbeat", |_| Ask::Heartbeat),
    (Post, "/agents/move", |_| Ask::Move),
    (Get, "/agents/me", |_| Ask::Me),
    (Get, "/agents/*", |[id, _]| Ask::Agent(id)),
    (Get, "/games", |_| Ask::Games),
    (Post, "/games/*/rooms", |[game, _]| Ask::Open(game)),
    (Post, "/games/*/match", |[game, _]| Ask::Match(game)),
    (Post, "/rooms/*/join", |[room, _]| Ask::Join(room)),
    (Post, "/rooms/*/leave", |[room, _]| Ask::Leave(room)),
    (Get, "/rooms/*", |[room, _]| Ask::Room(room)),
    (Get, "/spectate/rooms/*", |[room, _]| Ask::Spectate(room)),
];

/// What is asked at a path, by each method that asks something there.
pub(crate) fn find(path: &str) -> impl Iterator<Item = (Method, Ask<'_>)> {
    let rest = MOUNTS.iter().find_map(|mount| path.strip_prefix(mount));
    let fits = move |&(method, pattern, lead): &(Method, &str, Lead)| Some((method, lead(parts(pattern, rest?)?)));
    ROUTES.iter().filter_map(fits)
}

impl<B: Board> Appliance<'_, B> {
    /// Answers what an agent asks.
    pub(crate) fn answer_moltgame<S: Write>(
        &self,
        peer: IpAddr,
        ask: Ask<'_>,
        request: Request<'_>,
        responder: Responder<'_, S, B>,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move {
            let is_new = matches!(ask, Ask::Register);
            let may_register =
                || self.guard.borrow_mut().may_register(self.board.now(), peer, self.capacity(), || true);
            if let Some(Later(seconds)) = is_new.then(may_register).and_then(Result::err) {
                return self.send_moltgame(peer, responder, &Answer::refused(Trouble::RateLimited(seconds))).await;
            }
            self.room().await;
            let authorization = request.header("authorization");
            let answer = self.act(|venue, now| venue.ask_moltgame(now, peer, authorization, ask, request.body));
            if is_new && answer.status() == 200 {
                self.guard.borrow_mut().registered(self.board.now(), peer, self.capacity());
            }
            self.send_moltgame(peer, responder, &answer).await
        }
    }

    /// Sends an answer.
    pub(crate) fn send_moltgame<S: Write>(
        &self,
        peer: IpAddr,
        responder: Responder<'_, S, B>,
        answer: &Answer,
    ) -> impl Future<Output = Result<(), WriteError>> {
        async move { self.send(peer, responder, answer.status(), &|venue, sink| venue.write_moltgame(answer, sink)).await }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_question_wherever_it_is_mounted() {
        for mount in MOUNTS {
            let at = |path: &str| std::format!("{mount}{path}");
            let first = |path: &str| find(path).next().map(|(_, ask)| std::format!("{ask:?}"));
            assert_eq!(first(&at("/agents/me")).as_deref(), Some("Me"));
            assert_eq!(first(&at("/agents/7")).as_deref(), Some("Agent(\"7\")"));
            assert_eq!(first(&at("/games/7/match")).as_deref(), Some("Match(\"7\")"));
            assert_eq!(first(&at("/rooms/7/join")).as_deref(), Some("Join(\"7\")"));
            assert_eq!(first(&at("/spectate/rooms/7")).as_deref(), Some("Spectate(\"7\")"));
            assert_eq!(first(&at("/rooms/7/8")), None);
        }
        assert!(find("/agon/api/v1/games").next().is_none());
    }
}
