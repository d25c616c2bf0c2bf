//! House players: agents that fill a league or play the demo, and an example of how to write one.
//!
//! A player of league.v2 is a small HTTP server. It registers with the box by `POST /mcp`, telling where it listens, and
//! from then on the box calls it: "come to this match", "even or odd?", "this is how it ended". Each call is one
//! JSON-RPC request and its answer. [`Player`] is what to answer, [`strategy`] and [`minds`] what to choose,
//! and the rest is sockets.

mod minds;
mod player;
pub mod strategy;

use std::io::{self, BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use player::{Brain, Player};
use protocol_core::games::GameKind;

use crate::failure::Failure;
use crate::stop::Stop;
use crate::{entropy, http};

/// How often an idle connection looks whether it is time to end.
const GLANCE: Duration = Duration::from_millis(200);

/// What the box says of a name that another player has.
const TAKEN: &str = "Duplicate display name";

/// So many names are tried.
const MOST: usize = 2_000;

/// How long a connection may be idle, and how long a request may pause once it has begun.
const IDLE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_secs(5);

/// A player that is registered and answers on a port of its own. Dropping it ends it.
pub struct HousePlayer {
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl HousePlayer {
    /// Starts a player, then registers it with the box.
    pub fn start(leaguebox: SocketAddr, name: &str, games: &[&str], player: Player) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::work(format!("the house player {name} cannot play: {error}"));
        // Where it registers from: the box calls it there.
        let listener = TcpListener::bind((leaguebox.ip(), 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let player = Arc::new(Mutex::new(player));
        let stop = Stop::default();
        // The player listens before it registers: the box may call at once. Such a call waits for the lock, until the
        // player knows its own id.
        let mut registering = lock(&player);
        let thread = thread::spawn({
            let (player, stop) = (player.clone(), stop.clone());
            move || serve(&listener, &player, &stop)
        });
        let started = Self { address, stop, thread: Some(thread) };
        let request = registering.registration(games, &format!("http://{address}/mcp")).to_string();
        let registered = http::post(leaguebox, "/mcp", &request).map_err(failed).and_then(|response| {
            let rejected = |reason| Failure::work(format!("the box rejected the house player {name}: {reason}"));
            registering.registered(&response).map_err(rejected)
        });
        // Before any way out: ending the player waits for its calls, and those wait for the lock.
        drop(registering);
        registered?;
        Ok(started)
    }
}

impl Drop for HousePlayer {
    fn drop(&mut self) {
        self.stop.raise();
        // A last connection wakes the thread that waits for one.
        _ = TcpStream::connect_timeout(&self.address, PAUSE);
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// All players of the house. Dropping it ends them.
#[derive(Default)]
pub struct House(Vec<HousePlayer>);

impl House {
    /// Starts `count` players, one way to play after the other, and registers them in that order.
    pub fn seat(leaguebox: SocketAddr, count: u16, game: &str) -> Result<Self, Failure> {
        let mut house = Self::default();
        house.fill(leaguebox, count, game)?;
        Ok(house)
    }

    /// The same beside those who are here already, whoever they are.
    fn fill(&mut self, leaguebox: SocketAddr, count: u16, game: &str) -> Result<(), Failure> {
        let games: Vec<&str> = GameKind::ALL.iter().map(|game| game.rules().name).collect();
        let mut index = 0;
        for _ in 0..count {
            let seed = u64::from_le_bytes(entropy::bytes()?);
            loop {
                let (name, brain) = hire(game, index, seed)
                    .ok_or_else(|| Failure::work(format!("the house has no players for {game} yet")))?;
                let place = index;
                let learns = move |game: &str| hire(game, place, seed).map(|(_, brain)| brain);
                let player = Player::new(&name, brain).versatile(game, Box::new(learns));
                index += 1;
                match HousePlayer::start(leaguebox, &name, &games, player) {
                    Err(failure) if failure.message.contains(TAKEN) && index < MOST => {}
                    started => {
                        self.0.push(started?);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Seats as many as are ordered, whenever they are, until nobody can order any more. What goes wrong is told on the
    /// terminal: the box is there without them.
    pub fn keep(leaguebox: SocketAddr, orders: &mpsc::Receiver<u16>) {
        let mut house = Self::default();
        while let Ok(count) = orders.recv() {
            let settings = http::get(leaguebox, "/api/settings.json").unwrap_or_default();
            let settings: serde_json::Value = serde_json::from_str(&settings).unwrap_or_default();
            let game = settings["game"].as_str().unwrap_or("even_odd");
            if let Err(failure) = house.fill(leaguebox, count, game) {
                eprintln!("leaguebox: {failure}");
            }
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // All are asked before the first is waited for: 512 players end as fast as one.
        self.0.iter().for_each(|player| player.stop.raise());
    }
}

/// The name and the brain of a player of the house; `None` if it has none for the game.
fn hire(game: &str, index: usize, seed: u64) -> Option<(String, Brain)> {
    if ["even_odd", "even_odd_10"].contains(&game) {
        let (kind, make) = strategy::ALL[index % strategy::ALL.len()];
        return Some((name(kind, index / strategy::ALL.len()), Brain::Parity(make(seed))));
    }
    let minds = minds::of(game)?;
    let (kind, make) = minds[index % minds.len()];
    Some((name(kind, index / minds.len()), Brain::Game(make(seed))))
}

/// `Random`, and from the second of its kind on `Random 2`: names in a league are distinct.
fn name(kind: &str, earlier: usize) -> String {
    match earlier {
        0 => kind.into(),
        earlier => format!("{kind} {}", earlier + 1),
    }
}

/// Answers every connection on a thread of its own, until the end; then waits for those threads.
fn serve(listener: &TcpListener, player: &Mutex<Player>, stop: &Stop) {
    thread::scope(|threads| {
        for stream in listener.incoming() {
            if stop.is_raised() {
                break;
            }
            match stream {
                // A broken connection is the box's to notice: it calls again.
                Ok(stream) => _ = threads.spawn(move || _ = converse(&stream, player, stop)),
                // Out of sockets, perhaps: give others time to close some.
                Err(_) => thread::sleep(GLANCE),
            }
        }
    });
}

/// Answers request after request on one connection.
fn converse(stream: &TcpStream, player: &Mutex<Player>, stop: &Stop) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PAUSE))?;
    let mut reader = BufReader::new(stream);
    while request_begins(stream, &mut reader, stop)? {
        let request = http::read(&mut reader)?;
        let (status, body) = match request.start.split(' ').next() {
            Some("POST") => match lock(player).answer(&request.body) {
                Some(answer) => ("200 OK", answer.to_string()),
                None => ("204 No Content", String::new()),
            },
            Some("GET") => ("200 OK", r#"{"status":"ok"}"#.into()),
            _ => ("405 Method Not Allowed", String::new()),
        };
        http::respond(stream, status, &body, request.keep_alive)?;
        if !request.keep_alive {
            break;
        }
    }
    Ok(())
}

/// Waits for the next request. False when there will be none: the peer closed, was idle too long, or it is the end.
fn request_begins(stream: &TcpStream, reader: &mut impl BufRead, stop: &Stop) -> io::Result<bool> {
    let since = Instant::now();
    stream.set_read_timeout(Some(GLANCE))?;
    loop {
        match reader.fill_buf() {
            Ok([]) => return Ok(false),
            Ok(_) => break,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                if stop.is_raised() || since.elapsed() > IDLE {
                    return Ok(false);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.set_read_timeout(Some(PAUSE))?;
    Ok(true)
}

/// A player whose strategy panicked once is still there to answer the next call.
fn lock(player: &Mutex<Player>) -> MutexGuard<'_, Player> {
    player.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::io::Write;

    /// A box that knows one answer: it accepts (or rejects) whoever registers, and hands on what they sent.
    fn fake_box(result: Value) -> (SocketAddr, mpsc::Receiver<Value>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let request = http::read(&mut BufReader::new(&stream)).unwrap();
            assert_eq!(request.start, "POST /mcp HTTP/1.1");
            let request: Value = serde_json::from_slice(&request.body).unwrap();
            let answer = json!({"jsonrpc": "2.0", "result": result, "id": request["id"]});
            sender.send(request).unwrap();
            http::respond(&stream, "200 OK", &answer.to_string(), false).unwrap();
        });
        (address, requests)
    }

    fn accepted() -> Value {
        json!({"status": "ACCEPTED", "player_id": "P07", "auth_token": "tok"})
    }

    fn start(leaguebox: SocketAddr) -> Result<HousePlayer, Failure> {
        let player = Player::new("Always even", Brain::Parity(Box::new(strategy::AlwaysEven)));
        HousePlayer::start(leaguebox, "Always even", &["even_odd"], player)
    }

    fn call(stream: &TcpStream, method: &str) -> Value {
        let body = json!({"jsonrpc": "2.0", "method": method, "params": {"match_id": "R1M1"}, "id": 5}).to_string();
        let mut writer = stream;
        write!(writer, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        serde_json::from_slice(&http::read(&mut BufReader::new(stream)).unwrap().body).unwrap()
    }

    #[test]
    fn a_house_player_registers_and_is_called_at_the_endpoint_it_named() {
        let (leaguebox, requests) = fake_box(accepted());
        let player = start(leaguebox).unwrap();
        let request = requests.recv().unwrap();
        assert_eq!(request["params"]["player_meta"]["contact_endpoint"], format!("http://{}/mcp", player.address));

        // Two calls on one connection, as the box makes them.
        let stream = TcpStream::connect(player.address).unwrap();
        assert_eq!(call(&stream, "handle_game_invitation")["result"]["accept"], true);
        let answer = call(&stream, "choose_parity");
        assert_eq!(answer["result"]["parity_choice"], "even");
        assert_eq!(answer["result"]["player_id"], "P07");
        assert_eq!(answer["id"], 5);
        assert_eq!(http::get(player.address, "/health").unwrap(), r#"{"status":"ok"}"#);
    }

    #[test]
    fn a_call_that_overtakes_the_registrations_answer_waits_for_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let leaguebox = listener.local_addr().unwrap();
        let (sender, early) = mpsc::channel();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let request: Value =
                serde_json::from_slice(&http::read(&mut BufReader::new(&stream)).unwrap().body).unwrap();
            let endpoint = request["params"]["player_meta"]["contact_endpoint"].as_str().unwrap();
            let address: SocketAddr = endpoint.trim_start_matches("http://").trim_end_matches("/mcp").parse().unwrap();
            let call = thread::spawn(move || call(&TcpStream::connect(address).unwrap(), "handle_game_invitation"));
            http::respond(&stream, "200 OK", &json!({"result": accepted()}).to_string(), false).unwrap();
            sender.send(call.join().unwrap()).unwrap();
        });
        let _player = start(leaguebox).unwrap();
        assert_eq!(early.recv().unwrap()["result"]["player_id"], "P07");
    }

    #[test]
    fn a_player_ends_although_the_box_still_holds_a_connection() {
        let (leaguebox, _requests) = fake_box(accepted());
        let player = start(leaguebox).unwrap();
        let stream = TcpStream::connect(player.address).unwrap();
        call(&stream, "notify_round");
        let address = player.address;
        drop(player);
        assert!(TcpStream::connect(address).is_err());
    }

    #[test]
    fn a_rejected_player_says_why() {
        let (leaguebox, _requests) = fake_box(json!({"status": "REJECTED", "reason": "League full"}));
        let failure = start(leaguebox).err().unwrap();
        assert_eq!(failure.message, "the box rejected the house player Always even: League full");
    }

    #[test]
    fn names_are_distinct_and_in_the_order_of_the_strategies() {
        let names = |game, count| (0..count).map(|index| hire(game, index, 1).unwrap().0).collect::<Vec<_>>();
        assert_eq!(
            names("even_odd", 7),
            ["Random", "Always even", "Alternating", "Frequency", "Markov", "Random 2", "Always even 2"]
        );
        assert_eq!(names("skill-gomoku", 4), ["Guard", "Random", "Builder", "Guard 2"]);
        assert!(hire("chess", 0, 1).is_none());
    }
}
