//! House players: agents that fill a league or play the demo, and an example of how to write one.
//!
//! A player of league.v2 is a small HTTP server. It registers with the box by `POST /mcp`, telling where it listens, and
//! from then on the box calls it: "come to this match", "even or odd?", "this is how it ended". Each call is one
//! JSON-RPC request and its answer. [`Player`] is what to answer, what to choose is a mind's, which lies beside its
//! [game](protocol_core::games::house), and the HTTP is the appliance's.

pub mod away;
mod guest;
mod player;

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use appliance::http::Request;
use embassy_futures::join::join_array;
use embassy_futures::select::select;
use guest::Guests;
use player::Player;
use protocol_core::games::GameKind;
use protocol_core::games::house::Mind;
use protocol_core::protocols::moltgame::Fill;

use crate::computer::Computer;
use crate::failure::Failure;
use crate::net::Listener;
use crate::reactor::Reactor;
use crate::stop::Stop;
use crate::{entropy, http};

/// What the box says of a name that another player has.
const TAKEN: &str = "Duplicate display name";

/// So many names are tried.
const MOST: usize = 2_000;

/// Connections a player answers at once. The box has one, and another when it gives up waiting on that.
const CONNECTIONS: usize = 3;

/// A player that is registered and answers on a port of its own, in a thread of its own. Dropping it ends it.
pub struct HousePlayer {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl HousePlayer {
    /// Starts a player, which registers with the box.
    pub fn start(leaguebox: SocketAddr, name: &str, games: &[&str], player: Player) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::work(format!("the house player {name} cannot play: {error}"));
        // Where it registers from: the box calls it there. It may do so at once; such a call waits until the player knows its id.
        let listener = TcpListener::bind((leaguebox.ip(), 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let request = player.registration(games, &format!("http://{address}/mcp")).to_string();
        let (sender, registered) = mpsc::channel();
        let stop = Stop::default();
        let thread = thread::spawn({
            let stop = stop.clone();
            move || {
                if let Err(error) = play(leaguebox, &request, listener, player, &sender, &stop) {
                    _ = sender.send(Err(error));
                }
            }
        });
        let started = Self { stop, thread: Some(thread) };
        let rejected = |reason| Failure::work(format!("the box rejected the house player {name}: {reason}"));
        let gone = |_| io::Error::other("its thread ended");
        registered.recv().map_err(gone).and_then(|said| said).map_err(failed)?.map_err(rejected)?;
        Ok(started)
    }
}

/// Registers a player, tells what the box said to that, and answers the box until the end.
fn play(
    leaguebox: SocketAddr,
    request: &str,
    listener: TcpListener,
    mut player: Player,
    registered: &mpsc::Sender<io::Result<Result<(), String>>>,
    stop: &Stop,
) -> io::Result<()> {
    let (reactor, clock) = (Reactor::new()?, Computer::new());
    let listener = Listener::new(&reactor, listener)?;
    reactor.run(&clock, async {
        let response = http::ask(&reactor, &clock, leaguebox, "/mcp", Some(request)).await?;
        _ = registered.send(Ok(player.registered(&response)));
        let player = RefCell::new(player);
        let serve = || http::serve(&listener, &clock, |request| answer(&player, request));
        select(stop.raised(), join_array([(); CONNECTIONS].map(|()| serve()))).await;
        Ok(())
    })
}

fn answer(player: &RefCell<Player>, request: &Request<'_>) -> (u16, String) {
    match request.method {
        "POST" => {
            player.borrow_mut().answer(request.body).map_or((204, String::new()), |answer| (200, answer.to_string()))
        }
        "GET" => (200, r#"{"status":"ok"}"#.into()),
        _ => (405, String::new()),
    }
}

impl Drop for HousePlayer {
    fn drop(&mut self) {
        self.stop.raise();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// What the house is to do.
pub enum Order {
    /// So many players register, to play in a league.
    Hire(u16),
    /// A room is to be filled.
    Fill(Fill),
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
                let name = hire(game, index, seed).map(|(name, _)| name);
                let name = name.ok_or_else(|| Failure::work(format!("the house has no players for {game}")))?;
                let place = index;
                // It plays every other game too, as whoever has its place there.
                let learns = move |game: &str| hire(game, place, seed).map(|(_, mind)| mind);
                let player = Player::new(&name, Box::new(learns));
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
    pub fn keep(leaguebox: SocketAddr, orders: &mpsc::Receiver<Order>) {
        let (mut house, mut guests) = (Self::default(), Guests::default());
        while let Ok(order) = orders.recv() {
            let count = match order {
                Order::Hire(count) => count,
                Order::Fill(Fill { room, game, players }) => {
                    if let Err(error) = guests.fill(leaguebox, &room.text(), game, players) {
                        eprintln!("leaguebox: {error}");
                    }
                    continue;
                }
            };
            let settings = http::get(leaguebox, "/api/settings.json").unwrap_or_default();
            let settings: serde_json::Value = serde_json::from_str(&settings).unwrap_or_default();
            let game = settings["game"].as_str().ok_or_else(|| Failure::work("the box does not say what it plays"));
            if let Err(failure) = game.and_then(|game| house.fill(leaguebox, count, game)) {
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

/// The name and the mind of a player of the house; `None` if there is no such game.
fn hire(game: &str, index: usize, seed: u64) -> Option<(String, Box<dyn Mind>)> {
    let minds = GameKind::named(game)?.house();
    let (kind, make) = minds.get(index % minds.len().max(1))?;
    Some((name(kind, index / minds.len()), make(seed)))
}

/// `Random`, and from the second of its kind on `Random 2`: names in a league are distinct.
fn name(kind: &str, earlier: usize) -> String {
    match earlier {
        0 => kind.into(),
        earlier => format!("{kind} {}", earlier + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Dialler;
    use appliance::http::ClientConn;
    use edge_nal::TcpConnect;
    use serde_json::{Value, json};
    use std::net::TcpStream;

    /// A box that knows one answer: it accepts (or rejects) whoever registers, and hands on what they sent.
    fn fake_box(result: Value) -> (SocketAddr, mpsc::Receiver<Value>) {
        let (sender, requests) = mpsc::channel();
        let address = http::fake(move |request| {
            assert_eq!((request.method, request.path), ("POST", "/mcp"));
            let request: Value = serde_json::from_slice(request.body).unwrap();
            let answer = json!({"jsonrpc": "2.0", "result": result, "id": request["id"]});
            sender.send(request).unwrap();
            (200, answer.to_string())
        });
        (address, requests)
    }

    /// Where whoever sent this registration is to be called.
    fn endpoint(registration: &Value) -> SocketAddr {
        let endpoint = registration["params"]["player_meta"]["contact_endpoint"].as_str().unwrap();
        endpoint.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().parse().unwrap()
    }

    fn accepted() -> Value {
        json!({"status": "ACCEPTED", "player_id": "P07", "auth_token": "tok"})
    }

    fn start(leaguebox: SocketAddr) -> Result<HousePlayer, Failure> {
        let player = Player::new("Always even", Box::new(|game: &str| hire(game, 1, 1).map(|(_, mind)| mind)));
        HousePlayer::start(leaguebox, "Always even", &["even_odd"], player)
    }

    /// What a player answers to one call after the other, on one connection, as the box makes them.
    fn calls(address: SocketAddr, methods: &[&str]) -> Vec<Value> {
        let (reactor, clock) = (Reactor::new().unwrap(), Computer::new());
        let mut buf = vec![0; 1 << 16];
        reactor.run(&clock, async {
            let mut conn = ClientConn::new(Dialler(&reactor).connect(address).await.unwrap(), &mut buf);
            let mut answers = vec![];
            for method in methods {
                assert!(conn.is_reusable());
                let call = json!({"jsonrpc": "2.0", "method": method, "params": {"match_id": "R1M1", "game_type": "even_odd"}, "id": 5});
                let answer = conn.call("/mcp", "x", call.to_string().as_bytes()).await.unwrap();
                answers.push(serde_json::from_slice(answer.body).unwrap());
            }
            answers
        })
    }

    #[test]
    fn a_house_player_registers_and_is_called_at_the_endpoint_it_named() {
        let (leaguebox, requests) = fake_box(accepted());
        let _player = start(leaguebox).unwrap();
        let address = endpoint(&requests.recv().unwrap());
        let answers = calls(address, &["handle_game_invitation", "choose_parity"]);
        assert_eq!(answers[0]["result"]["accept"], true);
        assert_eq!(answers[1]["result"]["parity_choice"], "even");
        assert_eq!(answers[1]["result"]["player_id"], "P07");
        assert_eq!(answers[1]["id"], 5);
        assert_eq!(http::get(address, "/health").unwrap(), r#"{"status":"ok"}"#);
    }

    #[test]
    fn a_call_that_overtakes_the_registrations_answer_waits_for_it() {
        let (sender, early) = mpsc::channel();
        let leaguebox = http::fake(move |request| {
            let address = endpoint(&serde_json::from_slice(request.body).unwrap());
            let sender = sender.clone();
            // It is connected before the answer leaves.
            let connected = TcpStream::connect(address).unwrap();
            thread::spawn(move || {
                sender.send(calls(address, &["handle_game_invitation"]).remove(0)).unwrap();
                drop(connected);
            });
            (200, json!({"result": accepted()}).to_string())
        });
        let _player = start(leaguebox).unwrap();
        assert_eq!(early.recv().unwrap()["result"]["player_id"], "P07");
    }

    #[test]
    fn a_player_ends_although_the_box_still_holds_a_connection() {
        let (leaguebox, requests) = fake_box(accepted());
        let player = start(leaguebox).unwrap();
        let address = endpoint(&requests.recv().unwrap());
        let _held = TcpStream::connect(address).unwrap();
        calls(address, &["notify_round"]);
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
        assert!(hire("checkers", 0, 1).is_none());
    }
}
