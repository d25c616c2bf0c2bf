//! The box beside FastAPI and nginx: the same question asked of all, by the same clients, in turns. A query of league.v2, and a
//! heartbeat of MoltGame.

use super::peers::{Players, Server, post, post_with};
use super::{median, title, verdict};
use crate::verb::Given;
use crate::{Outcome, sh};
use std::thread;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 16;
const TURN: Duration = Duration::from_secs(2);
const TURNS: usize = 3;
const PLAYERS: usize = 4;
/// The game of that id in MoltGame.
const TEXAS_HOLDEM: &str = "00000000-0000-0000-0000-000000000004";
/// The core of the servers, and the core of the clients.
const CORES: [usize; 2] = [0, 1];

/// What one server did.
#[derive(Default)]
struct Seen {
    /// Answers per second, by turn.
    rates: Vec<f64>,
    /// How long each answer took.
    times: Vec<Duration>,
    /// For how many seconds the server was at work, as far as the system says.
    busy: f64,
}

/// A server, what it is asked, and what it answers.
struct Asked {
    name: &'static str,
    server: Server,
    request: Vec<u8>,
    answer: String,
    seen: Seen,
}

impl Asked {
    /// A box whose league of four is over, which is asked for the standings.
    fn leaguebox(name: &'static str, program: &str, core: Option<usize>) -> Result<Asked, String> {
        let server = Server::leaguebox(program, core, &["--start-at", &PLAYERS.to_string()])?;
        let players = Players::new()?;
        let token = players.register(&server, PLAYERS)?;
        players.wait_for_the_end(PLAYERS)?;
        let query = format!(
            r#"{{"jsonrpc":"2.0","method":"league_query","params":{{"protocol":"league.v2","message_type":"LEAGUE_QUERY","sender":"player:P01","timestamp":"2026-01-15T10:15:00Z","conversation_id":"conv_query","auth_token":"{token}","query_type":"GET_STANDINGS"}},"id":7}}"#
        );
        let request = post("/mcp", &query);
        let answer =
            server.dial()?.ask(&request).map_err(|error| format!("no answer to a query: {error}"))?.to_string();
        if answer.matches(r#""rank":"#).count() != PLAYERS {
            return Err(format!("not the standings of {PLAYERS}: {answer}"));
        }
        Ok(Asked { name, server, request, answer, seen: Seen::default() })
    }

    /// A box with a room in which two play Texas Hold'em, one of whom asks by a heartbeat which moves it has. The other sits
    /// still, and has so long for its move that nothing changes while it is measured, nor the length of the time that is left.
    fn room(name: &'static str, program: &str, core: Option<usize>) -> Result<Asked, String> {
        const HOUR_MS: &str = "3600000";
        let server = Server::leaguebox(program, core, &["--move-timeout-ms", HOUR_MS])?;
        let mut line = server.dial()?;
        let mut ask = |path: &str, key: &str, body: &str| {
            let request = post_with(path, &format!("Authorization: Bearer {key}\r\n"), body);
            let answer = line.ask(&request).map_err(|error| format!("no answer to {path}: {error}"))?;
            Ok::<_, String>((request, answer.to_string()))
        };
        let mut keys = vec![];
        for agent in ["Ada", "Bob"] {
            let (_, answer) = ask("/moltgame/api/v1/agents/register", "", &format!(r#"{{"name":"{agent}"}}"#))?;
            let key = answer.split(r#""api_key":""#).nth(1).and_then(|rest| rest.split('"').next());
            keys.push(key.ok_or_else(|| format!("an agent was not accepted: {answer}"))?.to_string());
        }
        for key in &keys {
            ask(&format!("/moltgame/api/v1/games/{TEXAS_HOLDEM}/match"), key, "{}")?;
        }
        for key in &keys {
            let (request, answer) = ask("/moltgame/api/v1/agents/heartbeat", key, "{}")?;
            if answer.contains(r#""your_turn":true"#) && answer.contains(r#""your_hand":["#) {
                return Ok(Asked { name, server, request, answer, seen: Seen::default() });
            }
        }
        Err("it is nobody's turn".into())
    }
}

/// POST /mcp.
pub fn run(given: &Given) -> Outcome {
    compare(given, "POST /mcp, LEAGUE_QUERY for the standings of four", Asked::leaguebox)
}

/// POST /agents/heartbeat.
pub fn heartbeats(given: &Given) -> Outcome {
    compare(given, "POST /agents/heartbeat, by whose turn it is at a table of Texas Hold'em", Asked::room)
}

/// Loads all servers in turns.
fn compare(given: &Given, what: &str, ours: fn(&'static str, &str, Option<usize>) -> Result<Asked, String>) -> Outcome {
    let cores = pin_clients().then_some(CORES);
    let core = cores.map(|[server, _]| server);
    let mut all = vec![ours("LeagueBox", super::LEAGUEBOX, core)?];
    if let Some(other) = given.get("--beside") {
        match ours(super::BESIDE, other, core) {
            Ok(asked) => all.push(asked),
            Err(why) => println!("\n{} is left out: {why}", super::BESIDE),
        }
    }
    let Asked { request, answer, .. } = &all[0];
    let (request, answer) = (request.clone(), answer.clone());
    let (asked, answered) = (request.len(), answer.len());
    let constant = |name, server| {
        let (request, answer) = (request.clone(), answer.clone());
        Asked { name, server, request, answer, seen: Seen::default() }
    };
    all.push(constant("FastAPI", Server::fastapi(core, &answer)?));
    match Server::nginx(core, &answer) {
        Ok(server) => all.push(constant("nginx", server)),
        Err(why) => println!("\nnginx is left out: {why}"),
    }

    title(
        &format!("{what}, beside FastAPI + uvicorn and nginx answering a constant"),
        &format!(
            "{asked} bytes asked, head included, and a body of {answered} answered; {CONNECTIONS} connections that stay \
             open, {TURNS} turns of {} s each; one process each; {}",
            TURN.as_secs(),
            match cores {
                Some([server, clients]) => format!("servers on core {server}, clients on core {clients}"),
                None => "not pinned to cores: that takes two cores and taskset".into(),
            }
        ),
    );
    for _ in 0..TURNS {
        for asked in &mut all {
            let before = asked.server.busy();
            load(asked)?;
            asked.seen.busy += asked.server.busy().zip(before).map_or(f64::NAN, |(after, before)| after - before);
        }
    }
    unpin_clients();
    println!("  {:<12}{:>10}{:>24}{:>10}{:>10}", "", "requests/s", "per s of its CPU time", "p50 ms", "p99 ms");
    let sums: Vec<(&str, Sums)> = all.into_iter().map(|asked| (asked.name, Sums::of(asked.seen))).collect();
    for (name, Sums { rate, per_work, p50, p99 }) in &sums {
        println!("  {name:<12}{rate:>10.0}{per_work:>24.0}{p50:>10.3}{p99:>10.3}");
    }
    let (_, ours) = &sums[0];
    for (name, theirs) in &sums[1..] {
        // What others do on this machine takes from the rate of either, but not from the work.
        let rates = [ours.per_work / theirs.per_work, ours.rate / theirs.rate];
        let ratio = rates.into_iter().find(|ratio| ratio.is_finite()).unwrap_or_default();
        let least = match *name {
            "FastAPI" => 10.0,
            super::BESIDE => 0.95,
            _ => 1.0,
        };
        let what = "requests per second of one core";
        verdict(what, &format!("{ratio:.2} x {name}"), &format!("at least {least} x"), ratio >= least);
        if *name == "FastAPI" {
            verdict("p99", &format!("{:.2} x {name}", ours.p99 / theirs.p99), "lower", ours.p99 < theirs.p99);
        }
    }
    Ok(())
}

/// One turn: every connection asks as fast as it is answered.
fn load(Asked { server, request, answer, seen, .. }: &mut Asked) -> Outcome {
    let (server, request, answer) = (&*server, &*request, &*answer);
    let begun = Instant::now();
    let client = || -> Result<Vec<Duration>, String> {
        let mut peer = server.dial()?;
        let mut times = vec![];
        while begun.elapsed() < TURN {
            let asked = Instant::now();
            let heard = peer.ask(request).map_err(|error| format!("a query was not answered: {error}"))?;
            if heard.len() != answer.len() {
                return Err(format!("a different answer: {heard}"));
            }
            times.push(asked.elapsed());
        }
        Ok(times)
    };
    let times = thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(client)).collect();
        let joined = clients.into_iter().map(|client| client.join().map_err(|_| "a client panicked".to_string())?);
        joined.collect::<Result<Vec<_>, String>>()
    })?;
    let before = seen.times.len();
    seen.times.extend(times.into_iter().flatten());
    seen.rates.push((seen.times.len() - before) as f64 / begun.elapsed().as_secs_f64());
    Ok(())
}

/// What is said of one server.
struct Sums {
    /// Requests per second: the median turn.
    rate: f64,
    /// Requests per second that the server was at work: what it could do with the core to itself.
    per_work: f64,
    /// Milliseconds within which half of all answers came.
    p50: f64,
    /// The same for 99 of 100.
    p99: f64,
}

impl Sums {
    fn of(mut seen: Seen) -> Sums {
        seen.times.sort();
        let at = |percent: usize| seen.times.get(seen.times.len() * percent / 100).copied().unwrap_or_default();
        let ms = |percent| at(percent).as_secs_f64() * 1000.0;
        let per_work = seen.times.len() as f64 / seen.busy;
        Sums { rate: median(seen.rates), per_work, p50: ms(50), p99: ms(99) }
    }
}

/// Moves this process, and the threads it will start, to the clients' core. False where that cannot be done.
fn pin_clients() -> bool {
    let [_, clients] = CORES;
    thread::available_parallelism().is_ok_and(|cores| cores.get() > clients) && move_to(&clients.to_string())
}

fn unpin_clients() {
    // Where it could not be pinned, there is nothing to undo.
    move_to("0-1023");
}

fn move_to(cores: &str) -> bool {
    sh::succeeds(sh::command("taskset").args(["-a", "-c", "-p", cores, &std::process::id().to_string()]))
}
