//! Which path is what: [`MOUNTS`]. A path that exists but not for this method gets 405 and is told which; anything else is 404.
//!
//! How each is answered is elsewhere: `entries.rs` has what agents ask in their protocols, `public.rs` what anybody may see,
//! `owner.rs` what only the owner may do, `links.rs`, `arena.rs` and `live.rs` what is a WebSocket, [`web`] files.

use protocol_core::games::GameKind;
use protocol_core::ids::{AgentId, MatchId};
use protocol_core::protocols::agon;
use protocol_core::protocols::moltgame::Ask;
use protocol_core::venue::{Command, Via};

use crate::board::Fault;
use crate::pages::Rows;
use crate::powers::Power;
use crate::web::{self, File};

/// What a path leads to.
#[derive(Clone, Copy)]
pub(crate) enum Route<'a> {
    /// JSON-RPC for agents.
    Rpc(Via),
    /// What is MCP's own on the same path.
    Mcp,
    /// Registration of agents of League of Agents.
    Agents,
    /// What one of them, or of MoltGame's, is told of itself.
    Me,
    /// How they play.
    Doc,
    /// What agents of MoltGame ask.
    MoltGame(Ask<'a>),
    /// What agents of AGON ask.
    Agon(agon::Ask<'a>),
    /// A WebSocket.
    Link(Purpose),
    Health,
    Status,
    Rows(Rows),
    Match(MatchId),
    /// Its moves, once it is over.
    Moves(MatchId),
    /// What was said in it at length.
    Speeches(MatchId),
    /// How its audience votes.
    Poll(MatchId),
    /// Somebody votes.
    Vote(MatchId),
    /// The same as people write it down, in files whose names end so.
    Notation(MatchId, &'static str),
    /// The game after one of them.
    Step(MatchId, u16),
    /// Leagues that have ended.
    Leagues,
    League(u32),
    File(&'static File),
    Settings,
    Clock,
    Admin(Order),
}

/// What a WebSocket is for.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// A player of league.v2 that dials in.
    Play,
    /// An agent of League of Agents.
    Arena,
    /// The agent of AGON with this registration, once its token was looked at.
    Agon(u32),
    /// A page that watches.
    Watch,
}

/// What only the owner may do.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    Command(Command),
    Use(Power),
    Configure,
    /// Go on with what is sound of a damaged journal.
    Recover,
    /// A new code for a screen that may show all there is.
    Projector,
    /// What debates are about.
    Topic,
    /// House players are to come.
    Hire,
    Break(Fault),
}

/// By which methods a path is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    /// GET, and HEAD for what comes before the body.
    Get,
    Post,
    /// GET, to become a WebSocket.
    Socket,
}

use Method::{Get, Post, Socket};

impl Method {
    fn fits(self, method: &str) -> bool {
        match self {
            Get => matches!(method, "GET" | "HEAD"),
            Post => method == "POST",
            Socket => method == "GET",
        }
    }
}

/// Where a path leads. What stands for a `*` in it is told.
#[derive(Clone, Copy)]
enum Leads {
    To(Route<'static>),
    By(for<'a> fn([&'a str; 2]) -> Option<Route<'a>>),
}

use Leads::{By, To};

/// A path below its mount. Of one that is asked for by several methods there are several rows. A `*` stands for anything without a
/// slash.
type Row = (Method, &'static str, Leads);

/// What stands around the words of an error with this status. The words need no escaping.
pub(crate) type Shape = fn(u16) -> [&'static str; 2];

/// Paths that belong together.
struct Mount {
    /// What they begin with. The same paths can be found in several places.
    at: &'static [&'static str],
    /// How the box says there that it does not answer.
    errors: Shape,
    rows: &'static [Row],
}

/// Every path but those of files, which [`web`] knows. A protocol is one line here: its rows, and where they are.
const MOUNTS: &[Mount] = &[
    Mount { at: &[""], errors: plain, rows: LEAGUE_V2 },
    Mount { at: &["/api/v1"], errors: plain, rows: LEAGUE_OF_AGENTS },
    Mount { at: &["/moltgame/api/v1", "/api/v1"], errors: moltgame, rows: MOLTGAME },
    Mount { at: &["/agon/api/v1"], errors: agon_error, rows: AGON_AGENTS },
    Mount { at: &["/agon/api/v1", "/api/v1"], errors: agon_error, rows: AGON },
    Mount { at: &["/agon", ""], errors: agon_error, rows: AGON_SOCKET },
    Mount { at: &["/api/admin"], errors: plain, rows: OWNER },
    Mount { at: &[""], errors: plain, rows: PUBLIC },
];

/// `{"error":"<words>"}`
pub(crate) fn plain(_: u16) -> [&'static str; 2] {
    [r#"{"error":""#, r#""}"#]
}

/// `{"success":false,"error":"<code>","hint":"<words>"}`
pub(crate) fn moltgame(status: u16) -> [&'static str; 2] {
    let begin = match status {
        404 => r#"{"success":false,"error":"not_found","hint":""#,
        429 => r#"{"success":false,"error":"rate_limited","hint":""#,
        503 => r#"{"success":false,"error":"server_full","hint":""#,
        _ => r#"{"success":false,"error":"invalid_request","hint":""#,
    };
    [begin, r#""}"#]
}

/// `{"error":{"code":"<code>","message":"<words>"}}`
fn agon_error(status: u16) -> [&'static str; 2] {
    let begin = match status {
        401 => r#"{"error":{"code":"UNAUTHORIZED","message":""#,
        404 => r#"{"error":{"code":"NOT_FOUND","message":""#,
        429 => r#"{"error":{"code":"RATE_LIMITED","message":""#,
        _ => r#"{"error":{"code":"VALIDATION_FAILED","message":""#,
    };
    [begin, r#""}}"#]
}

const LEAGUE_V2: &[Row] = &[
    (Post, "/mcp", To(Route::Rpc(Via::Post))),
    (Post, "/mcp/", To(Route::Rpc(Via::Post))),
    (Post, "/register", To(Route::Rpc(Via::Register))),
    (Socket, "/ws", To(Route::Link(Purpose::Play))),
];

const LEAGUE_OF_AGENTS: &[Row] = &[
    (Post, "/agents", To(Route::Agents)),
    (Get, "/doc", To(Route::Doc)),
    (Socket, "/ws", To(Route::Link(Purpose::Arena))),
];

/// What stands where the id of an agent may stand, and is none.
const VERBS: [&str; 4] = ["register", "heartbeat", "move", "session-token"];

const MOLTGAME: &[Row] = &[
    (Post, "/agents/register", To(Route::MoltGame(Ask::Register))),
    (Post, "/agents/heartbeat", To(Route::MoltGame(Ask::Heartbeat))),
    (Post, "/agents/move", To(Route::MoltGame(Ask::Move))),
    (Get, "/agents/me", To(Route::Me)),
    (Get, "/agents/*", By(|[id, _]| (!VERBS.contains(&id)).then_some(Route::MoltGame(Ask::Agent(id))))),
    (Get, "/games", To(Route::MoltGame(Ask::Games))),
    (Post, "/games/*/rooms", By(|[game, _]| Some(Route::MoltGame(Ask::Open(game))))),
    (Post, "/games/*/match", By(|[game, _]| Some(Route::MoltGame(Ask::Match(game))))),
    (Post, "/rooms/*/join", By(|[room, _]| Some(Route::MoltGame(Ask::Join(room))))),
    (Post, "/rooms/*/leave", By(|[room, _]| Some(Route::MoltGame(Ask::Leave(room))))),
    (Get, "/rooms/*/logs", By(|[room, _]| Some(Route::MoltGame(Ask::Logs(room))))),
    (Get, "/rooms/*/chat", By(|[room, _]| Some(Route::MoltGame(Ask::Chat(Some(room)))))),
    (Post, "/rooms/*/chat", By(|[room, _]| Some(Route::MoltGame(Ask::Say(Some(room)))))),
    (Get, "/chat/global", To(Route::MoltGame(Ask::Chat(None)))),
    (Post, "/chat/global", To(Route::MoltGame(Ask::Say(None)))),
    (Get, "/rooms/*", By(|[room, _]| Some(Route::MoltGame(Ask::Room(room))))),
    (Get, "/spectate/rooms/*", By(|[room, _]| Some(Route::MoltGame(Ask::Spectate(room))))),
];

/// What MoltGame has as well, where both are mounted.
const AGON_AGENTS: &[Row] = &[
    (Post, "/agents/register", To(Route::Agon(agon::Ask::Register))),
    (Get, "/agents/me", To(Route::Agon(agon::Ask::Me))),
];

const AGON: &[Row] = &[
    (Post, "/agents/session-token", To(Route::Agon(agon::Ask::Token))),
    (Get, "/rooms", To(Route::Agon(agon::Ask::Rooms))),
    (Get, "/arenas/*/spec", By(|[slug, _]| Some(Route::Agon(agon::Ask::Spec(slug))))),
    (Get, "/matches/*/result", By(|[id, _]| Some(Route::Agon(agon::Ask::Result(id))))),
];

const AGON_SOCKET: &[Row] = &[(Socket, "/ws/v1/connect", To(Route::Link(Purpose::Agon(0))))];

/// What anybody may see.
const PUBLIC: &[Row] = &[
    (Get, "/health", To(Route::Health)),
    (Get, "/api/status.json", To(Route::Status)),
    (Socket, "/api/live", To(Route::Link(Purpose::Watch))),
    (Get, "/api/settings.json", To(Route::Settings)),
    (Get, "/api/standings.json", To(Route::Rows(Rows::Standings))),
    (Get, "/api/schedule.json", To(Route::Rows(Rows::Schedule))),
    (Get, "/api/players.json", To(Route::Rows(Rows::Players))),
    (Get, "/api/referees.json", To(Route::Rows(Rows::Referees))),
    (Get, "/api/players/*.json", By(|[id, _]| Some(Route::Rows(Rows::Player(player(id)?, false))))),
    (Get, "/api/standings.csv", To(Route::Rows(Rows::Table))),
    (Get, "/api/results.csv", To(Route::Rows(Rows::Results))),
    (Get, "/api/log.jsonl", To(Route::Rows(Rows::Log))),
    (Get, "/api/waiting.json", To(Route::Rows(Rows::Waiting(0)))),
    (Get, "/api/matches/*.json", By(|[id, _]| Some(Route::Match(MatchId::read(id)?)))),
    (Get, "/api/matches/*.*", By(|[id, ending]| Some(Route::Notation(MatchId::read(id)?, notation(ending)?)))),
    (Get, "/api/matches/*/moves.json", By(|[id, _]| Some(Route::Moves(MatchId::read(id)?)))),
    (Get, "/api/matches/*/speeches.json", By(|[id, _]| Some(Route::Speeches(MatchId::read(id)?)))),
    (Get, "/api/matches/*/vote", By(|[id, _]| Some(Route::Poll(MatchId::read(id)?)))),
    (Post, "/api/matches/*/vote", By(|[id, _]| Some(Route::Vote(MatchId::read(id)?)))),
    (Get, "/api/matches/*/steps/*.json", By(|[id, n]| Some(Route::Step(MatchId::read(id)?, n.parse().ok()?)))),
    (Get, "/api/leagues.json", To(Route::Leagues)),
    (Get, "/api/leagues/*.json", By(|[number, _]| Some(Route::League(number.parse().ok()?)))),
    (Post, "/api/clock", To(Route::Clock)),
];

/// What only the owner may do.
const OWNER: &[Row] = &[
    (Post, "/start", To(Route::Admin(Order::Command(Command::Start)))),
    (Post, "/pause", To(Route::Admin(Order::Command(Command::Pause)))),
    (Post, "/resume", To(Route::Admin(Order::Command(Command::Resume)))),
    (Post, "/next", To(Route::Admin(Order::Command(Command::Next)))),
    (Post, "/reset", To(Route::Admin(Order::Command(Command::Reset)))),
    (Post, "/rematch", To(Route::Admin(Order::Command(Command::Rematch)))),
    (Post, "/settings", To(Route::Admin(Order::Configure))),
    (Post, "/check", To(Route::Admin(Order::Use(Power::Check)))),
    (Post, "/remove", To(Route::Admin(Order::Use(Power::Remove)))),
    (Post, "/rule", To(Route::Admin(Order::Use(Power::Rule)))),
    (Post, "/replay", To(Route::Admin(Order::Use(Power::Replay)))),
    (Post, "/vote", To(Route::Admin(Order::Use(Power::Vote)))),
    (Post, "/topic", To(Route::Admin(Order::Topic))),
    (Post, "/house", To(Route::Admin(Order::Hire))),
    (Post, "/projector", To(Route::Admin(Order::Projector))),
    (Post, "/recover", To(Route::Admin(Order::Recover))),
    (Post, "/fault/panic", To(Route::Admin(Order::Break(Fault::Panic)))),
    (Post, "/fault/hang", To(Route::Admin(Order::Break(Fault::Hang)))),
];

/// What is found at a path.
pub(crate) enum Found<'a> {
    This(Route<'a>),
    /// Something, but not by this method: by these.
    Otherwise(&'static str),
    Nothing,
}

/// What is at a path, and how the box says there that it does not answer.
pub(crate) fn find<'a>(method: &str, path: &'a str) -> (Found<'a>, Shape) {
    match web::find(path) {
        Some(file) if Get.fits(method) => (Found::This(Route::File(file)), plain),
        Some(_) => (Found::Otherwise("GET, HEAD"), plain),
        None => find_in(MOUNTS, method, path),
    }
}

fn find_in<'a>(mounts: &'static [Mount], method: &str, path: &'a str) -> (Found<'a>, Shape) {
    // As where it is found, by whatever method, or where something is mounted closest to it.
    let (mut errors, mut closest): (Shape, _) = (plain, 0);
    let mut others = [false; 3];
    for mount in mounts {
        for &at in mount.at {
            let Some(below) = below(at, path) else { continue };
            if at.len() > closest {
                (errors, closest) = (mount.errors, at.len());
            }
            for &(takes, pattern, leads) in mount.rows {
                let Some(route) = lead(pattern, leads, below) else { continue };
                if takes.fits(method) {
                    return (Found::This(route), mount.errors);
                }
                (errors, closest) = (mount.errors, usize::MAX);
                for (other, is_other) in [Get, Post, Socket].into_iter().zip(&mut others) {
                    *is_other |= takes == other;
                }
            }
        }
    }
    let allowed = match others {
        [true, true, _] => "GET, HEAD, POST",
        [true, false, _] => "GET, HEAD",
        [false, true, true] => "GET, POST",
        [false, true, false] => "POST",
        [false, false, true] => "GET",
        [false, false, false] => return (Found::Nothing, errors),
    };
    (Found::Otherwise(allowed), errors)
}

/// What of a path is below a mount. Agents write `/MCP` too.
fn below<'a>(at: &str, path: &'a str) -> Option<&'a str> {
    let (begin, below) = path.split_at_checked(at.len())?;
    (begin.eq_ignore_ascii_case(at) && (below.is_empty() || below.starts_with('/'))).then_some(below)
}

/// Where a path leads if it fits a pattern.
fn lead<'a>(pattern: &str, leads: Leads, path: &'a str) -> Option<Route<'a>> {
    match leads {
        To(route) => pattern.eq_ignore_ascii_case(path).then_some(route),
        By(route) => route(parts(pattern, path)?),
    }
}

/// What stands for each `*` of a pattern.
fn parts<'a>(pattern: &str, path: &'a str) -> Option<[&'a str; 2]> {
    let (first, others) = pattern.split_once('*')?;
    let (mut rest, mut parts) = (path.strip_prefix(first)?, [""; 2]);
    for (part, until) in parts.iter_mut().zip(others.split('*')) {
        let found = if until.is_empty() { Some((rest, "")) } else { rest.split_once(until) };
        (*part, rest) = found.filter(|(part, _)| !part.contains('/'))?;
    }
    rest.is_empty().then_some(parts)
}

/// Whether people write down matches of some game in such files.
fn notation(ending: &str) -> Option<&'static str> {
    GameKind::ALL.iter().find_map(|kind| kind.notation().filter(|known| *known == ending))
}

fn player(id: &str) -> Option<u16> {
    match AgentId::read(id)? {
        AgentId::Player(number) => Some(number),
        AgentId::Referee(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_found_by_its_method_and_told_by_another() {
        // Where an id is the end of a path, whatever stands there is one.
        for mount in MOUNTS.iter().filter(|mount| mount.rows.iter().all(|(_, pattern, _)| !pattern.ends_with('*'))) {
            for (at, (takes, pattern, _)) in mount.at.iter().flat_map(|at| mount.rows.iter().map(move |row| (at, row)))
            {
                let pattern = pattern.replace("*.*", "*.pgn");
                let path = pattern.replacen("*.json", "7.json", 1).replace("players/7", "players/P07");
                let path =
                    path.replace("matches/7", "matches/R1M1").replace("matches/*", "matches/R1M1").replace('*', "7");
                let path = std::format!("{at}{path}");
                let (method, other) = match takes {
                    Get => ("HEAD", "POST"),
                    Post => ("POST", "GET"),
                    Socket => ("GET", "HEAD"),
                };
                assert!(matches!(find(method, &path).0, Found::This(_)), "{method} {path}");
                assert!(matches!(find(other, &path).0, Found::Otherwise(_)), "{other} {path}");
                let beside = std::format!("{path}x");
                let is_an_id = matches!(find("GET", &beside).0, Found::This(Route::MoltGame(Ask::Agent(_))));
                assert!(is_an_id || matches!(find(method, &beside).0, Found::Nothing), "{beside}");
            }
        }
    }

    #[test]
    fn what_stands_for_a_part_of_a_path_is_never_more_than_one_part() {
        assert_eq!(parts("/a/*/b/*.json", "/a/1/b/2.json"), Some(["1", "2"]));
        assert_eq!(parts("/a/*.json", "/a/.json"), Some(["", ""]));
        for path in ["/a/1/2.json", "/a/1.json/", "/a/1.jso", "/b/1.json", "/a/1.json.json", ""] {
            assert_eq!(parts("/a/*.json", path), None, "{path}");
        }
    }

    #[test]
    fn a_question_of_moltgame_is_the_same_wherever_it_is_asked() {
        for at in ["/moltgame/api/v1", "/api/v1"] {
            let asked = |method, path| match find(method, &std::format!("{at}{path}")) {
                (Found::This(Route::MoltGame(ask)), errors) => {
                    assert_eq!(errors(429), moltgame(429));
                    std::format!("{ask:?}")
                }
                (Found::This(Route::Me), errors) => {
                    assert_eq!(errors(429), moltgame(429));
                    "by the key".into()
                }
                _ => "something else".into(),
            };
            assert_eq!(asked("GET", "/agents/me"), "by the key");
            assert_eq!(asked("GET", "/agents/7"), "Agent(\"7\")");
            let by_another_method = std::format!("{at}/agents/move");
            assert!(matches!(find("GET", &by_another_method).0, Found::Otherwise("POST")));
            assert_eq!(find("GET", &by_another_method).1(405), moltgame(405));
            assert_eq!(asked("POST", "/games/7/match"), "Match(\"7\")");
            assert_eq!(asked("POST", "/rooms/7/join"), "Join(\"7\")");
            assert_eq!(asked("GET", "/spectate/rooms/7"), "Spectate(\"7\")");
            assert_eq!(asked("POST", "/agents/heartbeat"), "Heartbeat");
        }
        assert_eq!(find("POST", "/moltgame/api/v1/chairs").1(404), moltgame(404));
    }

    #[test]
    fn agents_find_the_way_in_by_any_case() {
        for path in ["/mcp", "/MCP", "/Mcp/"] {
            assert!(matches!(find("POST", path).0, Found::This(Route::Rpc(Via::Post))), "{path}");
        }
        assert!(matches!(find("POST", "/API/V1/Agents").0, Found::This(Route::Agents)));
    }

    /// A protocol that is one line of the table: it is mounted twice, one of its paths has two methods, and its errors are its
    /// own.
    const TOY: Mount = Mount {
        at: &["/toy", "/api/v1/toy"],
        errors: |status| match status {
            404 => [r#"{"ok":false,"code":"nowhere","why":""#, r#""}"#],
            _ => [r#"{"ok":false,"code":"refused","why":""#, r#""}"#],
        },
        rows: &[
            (Get, "/table", To(Route::Status)),
            (Post, "/table", To(Route::Agents)),
            (Socket, "/ws", To(Route::Link(Purpose::Arena))),
            (Get, "/tables/*.json", By(|[number, _]| Some(Route::League(number.parse().ok()?)))),
        ],
    };
    const WITH_TOY: &[Mount] = &[
        TOY,
        Mount { at: &["/api/v1"], errors: plain, rows: LEAGUE_OF_AGENTS },
        Mount { at: &[""], errors: plain, rows: PUBLIC },
    ];

    #[test]
    fn a_protocol_is_one_line_whose_paths_are_found_wherever_it_is_mounted() {
        for at in ["/toy", "/api/v1/toy"] {
            let path = |below| std::format!("{at}{below}");
            assert!(matches!(find_in(WITH_TOY, "GET", &path("/table")).0, Found::This(Route::Status)));
            assert!(matches!(find_in(WITH_TOY, "POST", &path("/table")).0, Found::This(Route::Agents)));
            assert!(matches!(find_in(WITH_TOY, "GET", &path("/ws")).0, Found::This(Route::Link(Purpose::Arena))));
            assert!(matches!(find_in(WITH_TOY, "GET", &path("/tables/7.json")).0, Found::This(Route::League(7))));
            assert!(matches!(find_in(WITH_TOY, "PUT", &path("/table")).0, Found::Otherwise("GET, HEAD, POST")));
            assert!(matches!(find_in(WITH_TOY, "POST", &path("/ws")).0, Found::Otherwise("GET")));
            assert!(matches!(find_in(WITH_TOY, "GET", &path("/tables/seven.json")).0, Found::Nothing));
        }
        assert!(
            matches!(find_in(WITH_TOY, "GET", "/health").0, Found::This(Route::Health)),
            "the others are where they were"
        );
        assert!(matches!(find_in(WITH_TOY, "GET", "/api/v1/doc").0, Found::This(Route::Doc)));
        assert!(matches!(find_in(WITH_TOY, "GET", "/toytable").0, Found::Nothing));
    }

    #[test]
    fn what_is_not_there_is_said_in_the_words_of_the_protocol_it_was_asked_of() {
        let says = |method, path, status| find_in(WITH_TOY, method, path).1(status);
        assert_eq!(says("GET", "/toy/chair", 404), (TOY.errors)(404));
        assert_eq!(says("GET", "/api/v1/toy/chair", 404), (TOY.errors)(404));
        assert_eq!(says("PUT", "/toy/table", 405), (TOY.errors)(405));
        assert_eq!(says("POST", "/toy/table", 429), (TOY.errors)(429), "also where it is there");
        assert_eq!(says("GET", "/api/v1/chair", 404), plain(404));
        assert_eq!(says("GET", "/chair", 404), plain(404));
    }
}
