//! A house player that comes into a room that has waited too long. It plays by MoltGame, as whoever waits there does, stays out of
//! leagues, and says of itself what it is.

use std::io;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use appliance::http::ClientConn;
use edge_nal::TcpConnect;
use protocol_core::games::GameKind;
use protocol_core::games::house::{Mind, Seen};
use serde_json::{Value, json};

use crate::computer::Computer;
use crate::entropy;
use crate::net::Dialler;
use crate::reactor::Reactor;

/// Where MoltGame is.
const AT: &str = "/moltgame/api/v1";
/// Room for the longest answer: a hand can have hundreds of moves.
const ANSWER_BYTES: usize = 256 * 1024;
/// How often it asks.
const EVERY: Duration = Duration::from_secs(1);
/// A game in which nothing is heard of the box so often in a row is over for it.
const TRIES: u8 = 5;
/// So many names are tried.
const NAMES: usize = 500;

/// All guests, by their keys. Those that play are in threads of their own, which end with their games.
#[derive(Default)]
pub struct Guests(Vec<(String, Option<JoinHandle<()>>)>);

impl Guests {
    /// Has so many come into a room. Whoever plays no more comes again; else somebody new registers.
    pub fn fill(&mut self, leaguebox: SocketAddr, room: &str, game: GameKind, players: u8) -> io::Result<()> {
        for _ in 0..players {
            let is_free = |thread: &Option<JoinHandle<()>>| thread.as_ref().is_none_or(JoinHandle::is_finished);
            let place = match self.0.iter().position(|(_, thread)| is_free(thread)) {
                Some(place) => place,
                None => {
                    self.0.push((register(leaguebox, game, self.0.len() + 1)?, None));
                    self.0.len() - 1
                }
            };
            let (key, thread) = &mut self.0[place];
            let seed = u64::from_le_bytes(entropy::bytes().map_err(|failure| io::Error::other(failure.to_string()))?);
            let thinks = |(name, _): &&(&str, _)| *name != "Random";
            let (_, make) = game.house().iter().find(thinks).ok_or_else(|| io::Error::other("nobody plays this"))?;
            let (mind, key, room) = (make(seed), key.clone(), room.to_owned());
            *thread = Some(thread::spawn(move || {
                // What goes wrong costs it its game; who waits with it is told by the box.
                let _ = play(leaguebox, &key, &room, mind);
            }));
        }
        Ok(())
    }
}

/// Registers a guest by the first free name from a number on, and says what its key is.
fn register(leaguebox: SocketAddr, game: GameKind, first: usize) -> io::Result<String> {
    for number in first..NAMES {
        let about = "A player of the house.";
        let body = json!({"name": format!("House {number}"), "description": about, "league": false});
        let (status, answer) = ask(leaguebox, "", "/agents/register", &body)?;
        match (status, answer["agent"]["api_key"].as_str()) {
            (_, Some(key)) => return Ok(key.into()),
            (409, _) => {}
            _ => return Err(io::Error::other(format!("no guest can play {}: {}", game.rules().name, answer["hint"]))),
        }
    }
    Err(io::Error::other("all names of the house are taken"))
}

/// Comes into a room, and plays until its game is over.
fn play(leaguebox: SocketAddr, key: &str, room: &str, mut mind: Box<dyn Mind>) -> io::Result<()> {
    let (status, joined) = ask(leaguebox, key, &format!("/rooms/{room}/join"), &json!({}))?;
    if status != 200 {
        return Err(io::Error::other(joined["hint"].to_string()));
    }
    let mut failures = 0;
    while failures < TRIES {
        let Ok((status, pulse)) = ask(leaguebox, key, "/agents/heartbeat", &json!({"room_id": room})) else {
            failures += 1;
            thread::sleep(EVERY);
            continue;
        };
        failures = 0;
        if status == 404 || pulse["game_over"] == true {
            return Ok(());
        }
        if pulse["your_turn"] == true {
            let wanted = choose(&mut *mind, &pulse);
            let (status, _) = ask(leaguebox, key, "/agents/move", &json!({"room_id": room, "move": wanted}))?;
            if status == 200 {
                continue;
            }
        }
        thread::sleep(EVERY);
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// One of the legal moves: what its mind wants, or else the first.
fn choose(mind: &mut dyn Mind, pulse: &Value) -> Value {
    let (state, legal) = (&pulse["game_state"], &pulse["legal_moves"]);
    let seat = state["your_seat"].as_u64().unwrap_or(0) as usize;
    let id = |seat: usize| state["agents"][seat].as_str().unwrap_or_default();
    let seen = Seen { me: id(seat), seat, opponent: id((seat == 0).into()), state };
    let wanted = mind.choose(seen);
    let all = legal.as_array().map_or(&[][..], Vec::as_slice);
    let wrapped = json!([wanted]);
    [wanted, wrapped].into_iter().find(|wanted| all.contains(wanted)).unwrap_or_else(|| legal[0].clone())
}

/// Asks the box, and says what it answers.
fn ask(leaguebox: SocketAddr, key: &str, path: &str, body: &Value) -> io::Result<(u16, Value)> {
    let (reactor, clock) = (Reactor::new()?, Computer::new());
    let (host, body) = (leaguebox.to_string(), body.to_string());
    let authorization = format!("Bearer {key}");
    let headers = [("Authorization", &*authorization), ("Connection", "close")];
    let mut buf = vec![0; ANSWER_BYTES];
    reactor.run(&clock, async {
        let mut conn = ClientConn::new(Dialler(&reactor).connect(leaguebox).await?, &mut buf);
        let mut call =
            conn.post(&format!("{AT}{path}"), &host, Some(body.len()), &headers).map_err(io::Error::other)?;
        call.write_all(body.as_bytes()).await.map_err(io::Error::other)?;
        call.finish().await.map_err(io::Error::other)?;
        let answer = conn.read_response().await.map_err(io::Error::other)?;
        Ok((answer.status, serde_json::from_slice(answer.body)?))
    })
}
