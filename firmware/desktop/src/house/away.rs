//! A player of the house in somebody else's league: it registers as the specification has it, waits for its manager if that is
//! not there yet, answers whoever referees, and ends with the league.

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};

use appliance::clock::Clock;
use embassy_futures::join::join_array;
use embassy_futures::select::{Either, select};
use protocol_core::games::GameKind;
use protocol_core::games::house::Mind;

use super::{CONNECTIONS, Player, answer};
use crate::cli::PlayerOptions;
use crate::computer::Computer;
use crate::failure::{Failure, say};
use crate::net::Listener;
use crate::reactor::Reactor;
use crate::stop::Stop;
use crate::{entropy, http};

/// How long it waits for a manager that is not there, in milliseconds: at first, and at most.
const WAIT_MS: u64 = 1_000;
const LONGEST_WAIT_MS: u64 = 8_000;
/// How long the last answer may take on its way.
const LAST_WORDS_MS: u64 = 500;

/// Plays a league to its end.
pub fn play(options: &PlayerOptions) -> Result<(), Failure> {
    let stop = Stop::on_ctrl_c()?;
    play_until(options, &stop, |line| say(&mut io::stdout(), line))
}

/// The same until somebody wants it to end; what happens is told to `tell`.
fn play_until(options: &PlayerOptions, stop: &Stop, tell: impl Fn(&str) -> Result<(), Failure>) -> Result<(), Failure> {
    let manager = &options.manager;
    let failed = |error: io::Error| Failure::work(format!("the player cannot play: {error}"));
    let home = source_towards(manager.address).map_err(failed)?;
    let listen = options.listen.unwrap_or(SocketAddr::new(home.ip(), 0));
    let in_use = |error| Failure::work(format!("cannot listen on {listen}: {error}"));
    let listener = TcpListener::bind(listen).map_err(in_use)?;
    let bound = listener.local_addr().map_err(failed)?;
    let ip = if bound.ip().is_unspecified() { home.ip() } else { bound.ip() };
    let endpoint = format!("http://{}/mcp", SocketAddr::new(ip, bound.port()));

    let seed = u64::from_le_bytes(entropy::bytes()?);
    let strategy = options.strategy.clone();
    let mut player = Player::new(&options.name, Box::new(move |game: &str| mind(game, &strategy, seed)));
    let games: Vec<&str> = GameKind::ALL.iter().map(|game| game.rules().name).collect();

    let (reactor, clock) = (Reactor::new().map_err(failed)?, Computer::new());
    let listener = Listener::new(&reactor, listener).map_err(failed)?;
    reactor.run(&clock, async {
        let mut wait_ms = WAIT_MS;
        loop {
            let request = player.registration(&games, &endpoint).to_string();
            match http::ask(&reactor, &clock, manager.address, &manager.path, Some(&request)).await {
                Ok(response) => {
                    let rejected = |reason| Failure::work(format!("{manager} rejected the player: {reason}"));
                    player.registered(&response).map_err(rejected)?;
                    break;
                }
                Err(error) => tell(&format!("{manager} does not take a registration ({error}); trying again.\n"))?,
            }
            if let Either::First(()) = select(stop.raised(), clock.sleep_until(clock.after(wait_ms))).await {
                return Ok(());
            }
            wait_ms = (2 * wait_ms).min(LONGEST_WAIT_MS);
        }
        tell(&format!("{} plays as {} with {manager}, and is called at {endpoint}\n", options.name, player.id()))?;
        let (player, over) = (RefCell::new(player), Stop::default());
        let serve = || {
            http::serve(&listener, &clock, |request| {
                let answered = answer(&player, request);
                if player.borrow().is_over() {
                    over.raise();
                }
                answered
            })
        };
        let serving = async {
            join_array([(); CONNECTIONS].map(|()| serve())).await;
        };
        let ended = async {
            over.raised().await;
            clock.sleep_until(clock.after(LAST_WORDS_MS)).await;
        };
        if let Either::First(Either::First(())) = select(select(ended, stop.raised()), serving).await {
            tell("The league is over.\n")?;
        }
        Ok(())
    })
}

/// Where this computer is, to whoever is at an address. Nothing is sent.
fn source_towards(address: SocketAddr) -> io::Result<SocketAddr> {
    let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(address)?;
    socket.local_addr()
}

/// Somebody who plays a game by a strategy, or, where the game knows none of that name, as the first of its minds does.
fn mind(game: &str, strategy: &str, seed: u64) -> Option<Box<dyn Mind>> {
    let minds = GameKind::named(game)?.house();
    let (_, make) = minds.iter().find(|(name, _)| is_same(name, strategy)).or(minds.first())?;
    Some(make(seed))
}

/// Whether a strategy is meant by a word: `always-even` is `Always even`.
pub fn is_same(name: &str, word: &str) -> bool {
    name.eq_ignore_ascii_case(&word.replace(['-', '_'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Manager;
    use serde_json::{Value, json};
    use std::sync::mpsc;
    use std::thread;

    fn options(address: SocketAddr) -> PlayerOptions {
        let manager = Manager { address, path: "/league".into() };
        PlayerOptions { manager, strategy: "always-even".into(), name: "Eve".into(), listen: None }
    }

    fn post(endpoint: &str, method: &str) -> Value {
        let address: SocketAddr = endpoint.trim_start_matches("http://").trim_end_matches("/mcp").parse().unwrap();
        let call = json!({"jsonrpc": "2.0", "method": method, "params": {"match_id": "R1M1", "game_type": "even_odd"}, "id": 5});
        let (reactor, clock) = (Reactor::new().unwrap(), Computer::new());
        let call = call.to_string();
        let asked = http::ask(&reactor, &clock, address, "/mcp", Some(&call));
        serde_json::from_str(&reactor.run(&clock, asked).unwrap()).unwrap()
    }

    #[test]
    fn it_registers_where_its_manager_is_answers_whoever_calls_and_ends_with_the_league() {
        let (sender, registered) = mpsc::channel();
        let manager = http::fake(move |request| {
            assert_eq!(request.path, "/league");
            let request: Value = serde_json::from_slice(request.body).unwrap();
            let meta = &request["params"]["player_meta"];
            assert_eq!((&request["method"], &meta["display_name"]), (&json!("register_player"), &json!("Eve")));
            sender.send(meta["contact_endpoint"].as_str().unwrap().to_owned()).unwrap();
            (200, json!({"result": {"status": "ACCEPTED", "player_id": "P09", "auth_token": "t"}, "id": 1}).to_string())
        });
        let thread = thread::spawn(move || play_until(&options(manager), &Stop::default(), |_| Ok(())));
        let endpoint = registered.recv().unwrap();
        assert_eq!(post(&endpoint, "GAME_INVITATION")["result"]["accept"], true, "by its message type too");
        assert_eq!(post(&endpoint, "choose_parity")["result"]["parity_choice"], "even");
        assert_eq!(post(&endpoint, "notify_league_completed")["result"]["message_type"], "ACK");
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn a_rejection_ends_it_with_the_managers_reason() {
        let manager =
            http::fake(|_| (200, json!({"result": {"status": "REJECTED", "reason": "League full"}}).to_string()));
        let failure = play_until(&options(manager), &Stop::default(), |_| Ok(())).unwrap_err();
        assert!(failure.message.ends_with("rejected the player: League full"), "{failure}");
    }

    #[test]
    fn a_strategy_is_known_by_its_name_in_any_spelling() {
        assert!(is_same("Always even", "always-even") && is_same("Markov", "MARKOV") && !is_same("Markov", "Random"));
        assert!(mind("even_odd", "nothing of the kind", 1).is_some() && mind("checkers", "Random", 1).is_none());
    }
}
