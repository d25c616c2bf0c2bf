//! Messages over WebSocket: the box, which reads and answers each as a message of League of Agents, beside Python's `websockets`,
//! which only sends them back. And how long a state of resource-rush takes, the largest thing the box says.

use super::peers::{Peer, Server, post};
use super::{median, title, verdict};
use crate::Outcome;
use crate::verb::Given;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 16;
const TURN: Duration = Duration::from_secs(2);
const TURNS: usize = 3;
/// How many messages a client sends before it reads the answers, where it does not wait for each.
const BURST: usize = 16;
const PING: &str = r#"{"type":"ping"}"#;
/// So many connections ask while the box has so many in all. The others are agents as far as it has seats, and behind them
/// plain HTTP that was answered and is kept open.
const ASKING: usize = 8;
const ALL: [usize; 3] = [8, 500, 2_000];
const AGENTS: usize = 500;
/// All agents may come from this computer.
const OPTIONS: [&str; 2] = ["--per-address", "512"];
/// Connections that are idle are let go when fewer than an eighth are free.
const MANY: [&str; 4] = ["--per-address", "512", "--connections", "2048"];
const HEALTH: &[u8] = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// A WebSocket, as far as a measurement needs one.
struct Socket {
    stream: TcpStream,
    buf: Vec<u8>,
    filled: usize,
}

impl Socket {
    fn open(server: &Server, path: &str) -> Result<Socket, String> {
        let stream = server.stream()?;
        let mut socket = Socket { stream, buf: vec![0; 1 << 16], filled: 0 };
        socket.shake_hands(path).map_err(|error| format!("no handshake: {error}"))?;
        Ok(socket)
    }

    fn shake_hands(&mut self, path: &str) -> io::Result<()> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        self.stream.write_all(request.as_bytes())?;
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        if head.starts_with(b"HTTP/1.1 101") { Ok(()) } else { Err(io::Error::other("it was refused")) }
    }

    fn send(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(&said(text))
    }

    /// The next message.
    fn receive(&mut self) -> io::Result<String> {
        loop {
            if let Some((start, end)) = frame(&self.buf[..self.filled]) {
                let text = String::from_utf8_lossy(&self.buf[start..end]).into_owned();
                self.buf.copy_within(end..self.filled, 0);
                self.filled -= end;
                return Ok(text);
            }
            if self.filled == self.buf.len() {
                self.buf.resize(2 * self.filled, 0);
            }
            match self.stream.read(&mut self.buf[self.filled..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => self.filled += n,
            }
        }
    }

    fn until(&mut self, kind: &str) -> io::Result<String> {
        let wanted = format!(r#"{{"type":"{kind}""#);
        loop {
            let message = self.receive()?;
            if message.starts_with(&wanted) {
                return Ok(message);
            }
        }
    }
}

/// A text in the frame of a client.
fn said(text: &str) -> Vec<u8> {
    // A mask of zeros is a mask.
    let mut frame = vec![0x81, 0x80];
    match u8::try_from(text.len()).ok().filter(|&len| len < 126) {
        Some(len) => frame[1] |= len,
        None => {
            frame[1] |= 126;
            frame.extend((text.len() as u16).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(text.as_bytes());
    frame
}

/// Where the payload of a whole frame starts and ends.
fn frame(bytes: &[u8]) -> Option<(usize, usize)> {
    let (&second, rest) = bytes.get(1..)?.split_first()?;
    let (start, length) = match second & 0x7f {
        126 => (4, u16::from_be_bytes(rest.get(..2)?.try_into().ok()?) as usize),
        127 => (10, u64::from_be_bytes(rest.get(..8)?.try_into().ok()?) as usize),
        length => (2, length as usize),
    };
    (bytes.len() >= start + length).then_some((start, start + length))
}

/// What one server did.
#[derive(Default)]
struct Seen {
    rates: Vec<f64>,
    answers: usize,
    /// The seconds it worked, in its own code and in the system's.
    work: [f64; 2],
}

impl Seen {
    /// Answers per second of its work; per second where nobody knows how much it worked.
    fn rate(&self) -> f64 {
        let rate = self.answers as f64 / self.work.iter().sum::<f64>();
        if rate.is_finite() { rate } else { median(self.rates.clone()) }
    }
}

/// Measures both.
pub fn run(given: &Given) -> Outcome {
    let mut leaguebox = Server::leaguebox(super::LEAGUEBOX, None, &OPTIONS)?;
    let mut python = Server::websockets()?;
    let keys = (0..CONNECTIONS).map(|n| key(&leaguebox, &format!("Agent {n}"))).collect::<Result<Vec<_>, _>>()?;
    title(
        "Messages over WebSocket, answered by the box, beside Python websockets sending them back",
        &format!("{} bytes asked; {CONNECTIONS} connections, {TURNS} turns of {} s each", PING.len(), TURN.as_secs()),
    );
    println!("  {:<38}{:>12}{:>23}{:>16}", "", "messages/s", "per s of its CPU time", "system's share");
    for (how, burst) in [("sixteen at a time", BURST), ("one at a time", 1)] {
        let mut seen = [Seen::default(), Seen::default()];
        for _ in 0..TURNS {
            let [ours, theirs] = &mut seen;
            load(&mut leaguebox, ours, (CONNECTIONS, burst), |server, n| {
                let mut socket = Socket::open(server, "/api/v1/ws?type=agent")?;
                authenticate(&mut socket, &keys[n])?;
                Ok(socket)
            })?;
            load(&mut python, theirs, (CONNECTIONS, burst), |server, _| Socket::open(server, "/"))?;
        }
        for (name, seen) in ["LeagueBox", "Python websockets"].iter().zip(&seen) {
            let share = 100.0 * seen.work[1] / seen.work.iter().sum::<f64>();
            let name = format!("{name}, {how}");
            println!("  {name:<38}{:>12.0}{:>23.0}{share:>14.0} %", median(seen.rates.clone()), seen.rate());
        }
        let ratio = seen[0].rate() / seen[1].rate();
        let what = format!("messages per second of one core, {how}");
        verdict(&what, &format!("{ratio:.1} x Python"), "at least 5 x", ratio >= 5.0);
    }
    states(&leaguebox, &keys)?;
    drop(leaguebox);
    let ours = crowd("LeagueBox", super::LEAGUEBOX, &MANY, &ALL)?;
    let Some(other) = given.get("--beside") else { return Ok(()) };
    let theirs = crowd(super::BESIDE, other, &OPTIONS, &ALL[..1])?;
    let what = format!("messages per second of one core with {ASKING} connections");
    verdict(&what, &format!("{:.2} x {}", ours / theirs, super::BESIDE), "at least 0.95 x", ours >= 0.95 * theirs);
    Ok(())
}

/// What a message costs with few and with many connections; the rate with the fewest.
fn crowd(name: &str, program: &str, options: &[&str], sizes: &[usize]) -> Result<f64, String> {
    title(
        &format!("The same with few and many connections: {name}"),
        &format!(
            "{ASKING} agents ask, one message at a time, {TURNS} turns of {} s each; of the others up to {AGENTS} are agents that \
             say nothing, and the rest HTTP that is kept open",
            TURN.as_secs()
        ),
    );
    let mut leaguebox = Server::leaguebox(program, None, options)?;
    let agent = |server: &Server, key: &str| -> Result<Socket, String> {
        let mut socket = Socket::open(server, "/api/v1/ws?type=agent")?;
        authenticate(&mut socket, key)?;
        Ok(socket)
    };
    let keys = (0..ASKING).map(|n| key(&leaguebox, &format!("Agent {n}"))).collect::<Result<Vec<_>, _>>()?;
    let (mut idle, mut kept, mut rates) = (Vec::<Socket>::new(), Vec::<Peer>::new(), Vec::new());
    for &all in sizes {
        while ASKING + idle.len() < all.min(AGENTS) {
            let key = key(&leaguebox, &format!("Idler {}", idle.len()))?;
            idle.push(agent(&leaguebox, &key)?);
        }
        let mut seen = Seen::default();
        for _ in 0..TURNS {
            // What was idle for too long the box has hung up.
            kept.retain_mut(|peer| peer.ask(HEALTH).is_ok());
            while ASKING + idle.len() + kept.len() < all {
                let mut peer = leaguebox.dial()?;
                peer.ask(HEALTH).map_err(|error| format!("no answer to GET /health: {error}"))?;
                kept.push(peer);
            }
            load(&mut leaguebox, &mut seen, (ASKING, 1), |server, n| agent(server, &keys[n]))?;
            kept.retain_mut(|peer| peer.ask(HEALTH).is_ok());
        }
        let held = ASKING + idle.len() + kept.len();
        println!(
            "  {all:>6} connections, {held:>5} held to the end: {:>8.0} messages per second of CPU time",
            seen.rate()
        );
        rates.push(seen.rate());
    }
    let few = rates.first().copied().unwrap_or(f64::NAN);
    let least = rates.iter().copied().fold(few, f64::min);
    if let (Some(most), true) = (sizes.last(), sizes.len() > 1) {
        let what = format!("cost of a message with up to {most} connections");
        verdict(&what, &format!("{:.2} x that with {}", few / least, sizes[0]), "at most 1.2 x", few / least <= 1.2);
    }
    Ok(few)
}

/// The key of a new agent.
fn key(server: &Server, name: &str) -> Result<String, String> {
    let request = post("/api/v1/agents", &format!(r#"{{"name":"{name}"}}"#));
    let answer = server.dial()?.ask(&request).map_err(|error| error.to_string())?.to_string();
    let key = answer.split(r#""apiKey":""#).nth(1).and_then(|rest| rest.split('"').next());
    key.map(str::to_string).ok_or(format!("no key: {answer}"))
}

fn authenticate(socket: &mut Socket, key: &str) -> Outcome {
    let said = socket.send(&format!(r#"{{"type":"authenticate","token":"{key}"}}"#));
    said.and_then(|()| socket.until("authenticated")).map(|_| ()).map_err(|error| format!("no authentication: {error}"))
}

/// One turn: every connection sends its next `burst` of messages as soon as the last one is answered.
fn load(
    server: &mut Server,
    seen: &mut Seen,
    (connections, burst): (usize, usize),
    open: impl Fn(&Server, usize) -> Result<Socket, String> + Sync,
) -> Outcome {
    let sockets = (0..connections).map(|n| open(server, n)).collect::<Result<Vec<_>, _>>()?;
    let before = server.work();
    let begun = Instant::now();
    let asked = said(PING).repeat(burst);
    let client = |mut socket: Socket| -> io::Result<usize> {
        let mut answers = 0;
        while begun.elapsed() < TURN {
            socket.stream.write_all(&asked)?;
            for _ in 0..burst {
                socket.receive()?;
            }
            answers += burst;
        }
        Ok(answers)
    };
    let answers = thread::scope(|scope| {
        let clients: Vec<_> = sockets.into_iter().map(|socket| scope.spawn(move || client(socket))).collect();
        let joined =
            clients.into_iter().map(|client| client.join().map_err(|_| io::Error::other("a client panicked"))?);
        joined.sum::<io::Result<usize>>()
    });
    let answers = answers.map_err(|error| format!("a message was not answered: {error}"))?;
    seen.answers += answers;
    seen.rates.push(answers as f64 / begun.elapsed().as_secs_f64());
    let (before, after) = before.zip(server.work()).unwrap_or(([f64::NAN; 2], [f64::NAN; 2]));
    for (sum, (after, before)) in seen.work.iter_mut().zip(after.into_iter().zip(before)) {
        *sum += after - before;
    }
    Ok(())
}

/// How long it takes from the second move of a tick to both new states.
fn states(server: &Server, keys: &[String]) -> Outcome {
    const TICKS: usize = 200;
    let mut players = Vec::new();
    for key in keys.iter().take(2) {
        let mut socket = Socket::open(server, "/api/v1/ws?type=agent")?;
        authenticate(&mut socket, key)?;
        players.push(socket);
    }
    let measured = (|| -> io::Result<(f64, usize)> {
        let mut game = String::new();
        for player in &mut players {
            player.send(r#"{"type":"join_queue","gameType":"resource-rush"}"#)?;
        }
        for player in &mut players {
            let matched = player.until("matched")?;
            game = matched.split(r#""gameId":""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("").into();
            player.until("your_turn")?;
        }
        let wait = format!(r#"{{"type":"submit_move","gameId":"{game}","move":{{"action":"wait"}}}}"#);
        let (mut times, mut bytes) = (vec![], 0);
        for _ in 0..TICKS {
            let begun = Instant::now();
            for player in &mut players {
                player.send(&wait)?;
            }
            for player in &mut players {
                bytes = player.until("game_state")?.len();
                player.until("your_turn")?;
            }
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        Ok((median(times), bytes))
    })();
    let (micros, bytes) = measured.map_err(|error| format!("a game of resource-rush broke off: {error}"))?;
    title(
        "A tick of resource-rush over WebSocket",
        &format!("{TICKS} ticks of one game: two moves in, two states of {bytes} bytes out"),
    );
    println!("  {micros:.0} microseconds a tick, {:.0} MB of states a second", 2.0 * bytes as f64 / micros);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_ends_where_its_length_says() {
        assert_eq!(frame(&[0x81, 2, b'a', b'b', 0x81]), Some((2, 4)));
        assert_eq!(frame(&[0x81, 126, 0, 3, 1, 2]), None);
        assert_eq!(frame(&[0x81, 126, 0, 2, 1, 2]), Some((4, 6)));
    }
}
