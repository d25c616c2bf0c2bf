//! What the box is measured with: connections that stay open, players that answer at once, and boxes to talk to.

use crate::sh::{self, Group};
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take that should take no time.
const PATIENCE: Duration = Duration::from_secs(60);

/// One end of an HTTP connection, one message at a time.
pub struct Peer {
    stream: TcpStream,
    buf: Vec<u8>,
}

impl Peer {
    /// Connects to a port of this machine.
    pub fn dial(port: u16) -> io::Result<Peer> {
        TcpStream::connect(("127.0.0.1", port)).and_then(Peer::new)
    }

    fn new(stream: TcpStream) -> io::Result<Peer> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Peer { stream, buf: vec![0; 1 << 16] })
    }

    /// Sends a whole message and waits for the body of the answer.
    pub fn ask(&mut self, message: &[u8]) -> io::Result<&str> {
        self.stream.write_all(message)?;
        self.receive()?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// The body of the next message; `None` when the other end hung up.
    fn receive(&mut self) -> io::Result<Option<&str>> {
        let mut filled = 0;
        loop {
            match parts(self.buf.get(..filled).unwrap_or_default()) {
                Some((start, end)) if end <= filled => {
                    let body = self.buf.get(start..end).unwrap_or_default();
                    return std::str::from_utf8(body).map(Some).map_err(io::Error::other);
                }
                Some((_, end)) if end > self.buf.len() => self.buf.resize(end, 0),
                _ => {}
            }
            match self.stream.read(self.buf.get_mut(filled..).unwrap_or_default())? {
                0 => return Ok(None),
                n => filled += n,
            }
        }
    }
}

/// Where the body of a message starts and ends, once the head is there. No length is no body.
fn parts(bytes: &[u8]) -> Option<(usize, usize)> {
    let start = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(bytes.get(..start)?).ok()?;
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    Some((start, start + length.map_or(0, |(_, value)| value.trim().parse().unwrap_or(0))))
}

/// A POST of a JSON text.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    post_with(path, "", body)
}

/// The same with more fields in its head.
pub fn post_with(path: &str, fields: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{fields}");
    format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// What a player says. Every second choice is even, by the number of the call.
#[derive(Clone, Copy)]
pub enum Reply {
    Accept,
    Choose,
    Thanks,
}

/// Writes the reply to the call `id`.
pub fn reply(what: Reply, id: u32, text: &mut String) {
    const COMMON: &str = r#""protocol":"league.v2","sender":"player:P01","timestamp":"2026-01-15T10:15:01Z","conversation_id":"conv_r1m1_a","auth_token":"tok_p01_00000000000000000000000000000000","match_id":"R1M1","player_id":"P01""#;
    text.clear();
    let parity = if (id.wrapping_mul(0x9e37_79b9) >> 16).is_multiple_of(2) { "even" } else { "odd" };
    // A string takes all that is written to it.
    let _ = match what {
        Reply::Accept => write!(
            text,
            r#"{{"jsonrpc":"2.0","result":{{"message_type":"GAME_JOIN_ACK",{COMMON},"arrival_timestamp":"2026-01-15T10:15:01Z","accept":true}},"id":{id}}}"#
        ),
        Reply::Choose => write!(
            text,
            r#"{{"jsonrpc":"2.0","result":{{"message_type":"CHOOSE_PARITY_RESPONSE",{COMMON},"parity_choice":"{parity}"}},"id":{id}}}"#
        ),
        Reply::Thanks => write!(text, r#"{{"jsonrpc":"2.0","result":{{"status":"ok"}},"id":{id}}}"#),
    };
}

/// The registration of the `n`-th player, who is called at this port.
pub fn registration(n: usize, port: u16) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"register_player","params":{{"protocol":"league.v2","message_type":"LEAGUE_REGISTER_REQUEST","sender":"player:agent{n}","timestamp":"2026-01-15T10:05:00Z","conversation_id":"conv_{n}","player_meta":{{"display_name":"Agent {n}","version":"1.0.0","game_types":["even_odd"],"contact_endpoint":"http://127.0.0.1:{port}/mcp/{n}"}}}},"id":{n}}}"#
    )
}

/// Players in this process that answer at once.
pub struct Players {
    port: u16,
    finished: Arc<AtomicU32>,
}

impl Players {
    /// Opens their door: a thread to each connection.
    pub fn new() -> Result<Players, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| format!("no port for the players: {error}"))?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let finished = Arc::new(AtomicU32::new(0));
        let told = finished.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let told = told.clone();
                // A connection that breaks is the box's to notice: its league then never finishes.
                thread::spawn(move || play(Peer::new(stream)?, &told));
            }
        });
        Ok(Players { port, finished })
    }

    /// Registers so many players; the token of the first.
    pub fn register(&self, leaguebox: &Server, count: usize) -> Result<String, String> {
        let mut box_line = leaguebox.dial()?;
        let mut first = String::new();
        for n in 1..=count {
            let request = post("/mcp", &registration(n, self.port));
            let answer = box_line.ask(&request).map_err(|error| format!("no answer to a registration: {error}"))?;
            let token = answer.split(r#""auth_token":""#).nth(1).and_then(|rest| rest.split('"').next());
            let token = token.ok_or_else(|| format!("a player was not accepted: {answer}"))?;
            if first.is_empty() {
                first = token.to_string();
            }
        }
        Ok(first)
    }

    /// Waits until so many players were told that the league is over.
    pub fn wait_for_the_end(&self, count: usize) -> Result<(), String> {
        let begun = Instant::now();
        while (self.finished.load(Ordering::Relaxed) as usize) < count {
            if begun.elapsed() > PATIENCE {
                return Err(format!("the league of {count} did not end in {} s", PATIENCE.as_secs()));
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }
}

fn play(mut peer: Peer, finished: &AtomicU32) -> io::Result<()> {
    let (mut text, mut message) = (String::new(), Vec::new());
    while let Some(call) = peer.receive()? {
        // The type stands among the first fields, the id at the end; a player that only answers needs no more.
        let kind = call.split(r#""message_type":""#).nth(1).and_then(|rest| rest.split('"').next());
        let id = call.rsplit(r#""id":"#).next().and_then(|rest| rest.trim_end_matches('}').parse().ok()).unwrap_or(0);
        let what = match kind {
            Some("GAME_INVITATION") => Reply::Accept,
            Some("CHOOSE_PARITY_CALL") => Reply::Choose,
            _ => Reply::Thanks,
        };
        if kind == Some("LEAGUE_COMPLETED") {
            finished.fetch_add(1, Ordering::Relaxed);
        }
        reply(what, id, &mut text);
        message.clear();
        write!(
            message,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        )?;
        peer.stream.write_all(&message)?;
    }
    Ok(())
}

/// A server that was started to be measured; it ends when this is dropped.
pub struct Server {
    group: Group,
    port: u16,
}

impl Server {
    /// A build of the box, with these options beside those that every measurement needs.
    pub fn leaguebox(program: &str, core: Option<usize>, options: &[&str]) -> Result<Server, String> {
        let port = free_port()?;
        let mut command = pinned(core, &sh::root().join(program).display().to_string());
        command.args(["--listen", &format!("127.0.0.1:{port}"), "--no-flash"]).args(options);
        Server::start(command, port)
    }

    /// nginx, one process, as Debian brings it, answering `body` and writing no log.
    pub fn nginx(core: Option<usize>, body: &str) -> Result<Server, String> {
        let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
        if !sh::succeeds(sh::command("nginx").arg("-v").env("PATH", &path)) {
            sh::apt_install(&["nginx-light"], "nginx")?;
        }
        let (port, folder) = (free_port()?, sh::root().join("target/nginx"));
        let (settings, folder) = (folder.join("nginx.conf"), folder.display().to_string());
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&settings, nginx_settings(&folder, port, body)?))
            .map_err(|error| format!("its settings cannot be written: {error}"))?;
        let mut command = pinned(core, "nginx");
        // It opens the log that it was built with before it reads where its own is.
        command.args(["-e", "stderr", "-c", &settings.display().to_string()]).env("PATH", &path);
        Server::start(command, port)
    }

    /// FastAPI and uvicorn, one worker, as `pip install fastapi uvicorn` brings them, answering `body`.
    pub fn fastapi(core: Option<usize>, body: &str) -> Result<Server, String> {
        let port = free_port()?;
        let mut command = pinned(core, ".venv/bin/python");
        command.args(["-m", "uvicorn", "--app-dir", "host-tests/players", "bench_constant:app", "--workers", "1"]);
        command.args(["--log-level", "warning", "--no-access-log", "--port", &port.to_string()]);
        command.env("BENCH_BODY", body);
        Server::start(command, port)
    }

    /// Python's `websockets`, sending back what comes.
    pub fn websockets() -> Result<Server, String> {
        let port = free_port()?;
        let mut command = sh::command(".venv/bin/python");
        command.args(["host-tests/players/bench_echo.py", &port.to_string()]);
        Server::start(command, port)
    }

    fn start(mut command: Command, port: u16) -> Result<Server, String> {
        let server = Server { group: Group::start(command.stdout(Stdio::null()))?, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > PATIENCE {
                return Err(format!("no server came up on port {port}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// A connection to it.
    pub fn dial(&self) -> Result<Peer, String> {
        Peer::dial(self.port).map_err(|error| format!("cannot connect to the server: {error}"))
    }

    /// The same without HTTP on it.
    pub fn stream(&self) -> Result<TcpStream, String> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok(stream)
        });
        stream.map_err(|error| format!("cannot connect to the server: {error}"))
    }

    /// The seconds its core has worked for it, where the system says.
    pub fn busy(&mut self) -> Option<f64> {
        self.work().map(|[own, system]| own + system)
    }

    /// The same, in its own code and in the system's.
    pub fn work(&mut self) -> Option<[f64; 2]> {
        /// Linux tells times in hundredths of a second, whatever its clock ticks in.
        const TICKS: f64 = 100.0;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.group.head().id())).ok()?;
        // The program's name, in brackets, may contain anything; user and system time are 11 fields behind it.
        let mut ticks = stat.rsplit(')').next()?.split_whitespace().skip(11).map(str::parse::<f64>);
        Some([ticks.next()?.ok()? / TICKS, ticks.next()?.ok()? / TICKS])
    }

    /// The most memory it ever had, in bytes, where the system says.
    pub fn peak_memory(&mut self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.group.head().id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
    }
}

/// What nginx reads. In quotes it knows a backslash, the quote, and variables, which a body must not have.
fn nginx_settings(folder: &str, port: u16, body: &str) -> io::Result<String> {
    if body.contains(['\'', '\\', '$']) {
        return Err(io::Error::other("the answer has signs in it that nginx understands"));
    }
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("  {kind}_temp_path {folder}/{kind};\n"))
        .concat();
    Ok(format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log stderr crit;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n{temporary}  access_log off;\n  keepalive_requests 1000000000;\n  default_type application/json;\n  \
         server {{ listen 127.0.0.1:{port}; location / {{ return 200 '{body}'; }} }}\n}}\n"
    ))
}

/// A program on one core. (taskset replaces itself by it, so the process is the program's own.)
fn pinned(core: Option<usize>, program: &str) -> Command {
    let Some(core) = core else { return sh::command(program) };
    let mut command = sh::command("taskset");
    command.args(["-c", &core.to_string(), program]);
    command
}

fn free_port() -> Result<u16, String> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    bound.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_where_its_length_says() {
        let message = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcd";
        assert_eq!(parts(message), Some((38, 41)));
        assert_eq!(parts(&message[..30]), None);
    }
}
