//! The box itself, on this computer: bind the port, say so, and serve until the end. `run` is the box of the command
//! line; [`start_box`] is the same box on a thread, for the demo. Both end in [`serve`].

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use appliance::clock::Clock;
use appliance::journal::ram::RamFlash;
use appliance::journal::{Chosen, FRAME, Journal, Offer, State};
use appliance::{Appliance, Space};
use async_executor::LocalExecutor;
use embassy_futures::select::{Either, select};
use futures_lite::future::block_on;
use protocol_core::fair::Seed;
use protocol_core::games::GameKind;
use protocol_core::venue::{self, Change, Config, Mode, Pacing, Stage, Timing, Venue};

use crate::cli::{self, Options};
use crate::computer::Computer;
use crate::failure::{Failure, say};
use crate::flash::{FileFlash, Unusable};
use crate::house::{House, Order};
use crate::narrate::{Narrator, Paint, Printer, standing};
use crate::net::{Listener, allow_many_sockets};
use crate::reactor::Reactor;
use crate::record::Recorder;
use crate::startup::{Found, Kept};
use crate::stop::Stop;
use crate::table::{self, Standing};
use crate::{entropy, lan, startup};

/// A box that is about to serve: its port is bound and nothing about it is left to choose.
struct Ready {
    options: Options,
    listener: TcpListener,
    /// Where some agents expect the first referee, if it is free.
    referee: Option<TcpListener>,
    address: SocketAddr,
    admin_code: String,
    /// The seed that was given was short, and has random digits before it now.
    seed_is_lengthened: bool,
}

/// What a box says on the terminal.
#[derive(Clone, Copy)]
pub enum Says {
    /// Nothing.
    Nothing,
    /// Where it is and what to do next, and what happens.
    All,
    /// The same for a box that plays with itself.
    Demo,
}

/// Is the box until Ctrl-C, or with `--once` until the league ends.
pub fn run(options: Options, says: Says) -> Result<(), Failure> {
    let ready = Ready::new(options)?;
    let stop = Stop::on_ctrl_c()?;
    serve(ready, &stop, says)
}

/// A box that serves on a thread of its own. Dropping it ends it.
pub struct RunningBox {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<Result<(), Failure>>>,
}

/// Starts a box and returns when it can be connected to.
pub fn start_box(options: Options) -> Result<RunningBox, Failure> {
    let ready = Ready::new(options)?;
    let (address, stop) = (ready.address, Stop::default());
    let thread = thread::spawn({
        let stop = stop.clone();
        move || serve(ready, &stop, Says::Nothing)
    });
    Ok(RunningBox { address, stop, thread: Some(thread) })
}

impl RunningBox {
    /// Ends the box and says how it went.
    pub fn end(mut self) -> Result<(), Failure> {
        self.join()
    }

    fn join(&mut self) -> Result<(), Failure> {
        self.stop.raise();
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(Failure::work("the box stopped by a fault of its own: please report the lines above")),
        }
    }
}

impl Drop for RunningBox {
    fn drop(&mut self) {
        // Whoever wants to know how it went calls `end`.
        _ = self.join();
    }
}

impl Ready {
    fn new(options: Options) -> Result<Self, Failure> {
        let (game, start_at) = (config(&options).game, options.start_at);
        if let Some(n) = start_at.filter(|n| !venue::sizes(game).contains(n)) {
            let (least, most) = venue::sizes(game).into_inner();
            return Err(Failure::usage(format!(
                "a league of {} is played by {least} to {most} players, not by {n}",
                game.rules().name
            )));
        }
        allow_many_sockets();
        let cannot_listen = |error| startup::cannot_listen(options.listen, &error);
        let listener = TcpListener::bind(options.listen).map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let referee = referee_of(address).and_then(|address| TcpListener::bind(address).ok());
        let admin_code = options.admin_code.clone().map_or_else(entropy::admin_code, Ok)?;
        let seed = options.seed.map(entropy::lengthened).transpose()?;
        let seed_is_lengthened = seed != options.seed;
        let options = Options { seed, ..options };
        Ok(Self { options, listener, referee, address, admin_code, seed_is_lengthened })
    }
}

/// In the specification's network the league manager is at port 8000 and the first referee at 8001, and some agents send
/// their answers there. The box is both. At any other port it is one of several boxes, and takes no port it was not given.
fn referee_of(manager: SocketAddr) -> Option<SocketAddr> {
    (manager.port() == 8000).then(|| SocketAddr::new(manager.ip(), 8001))
}

/// Players the desktop has room for; the other sizes follow.
const PLAYERS: usize = 512;
/// All matches of a round at once.
const MATCHES: usize = PLAYERS / 2;
const RESULTS: usize = PLAYERS * (PLAYERS - 1) / 2;
/// A league of thirty leaves some 15,000 entries.
const LOG: usize = 32_768;
/// Connections at once at most: every player's, and those beside that may be asked for. More wait in the system's queue.
const SLOTS: usize = PLAYERS + *cli::CONNECTIONS.end() as usize;
/// A call written in one go, and then a player's whole reply: an announcement to 512 players takes 85 KB. The system only
/// hands out what is used.
const SLOT_BYTES: usize = 128 * 1024;
/// Of that a request, and what is sent of its answer in one go. A table of 32 players takes 5 KB.
const REQUEST_BYTES: [u16; 2] = [16 * 1024; 2];
/// For the moves of matches where there is no flash: some fifteen thousand.
const FILM_BYTES: usize = 1024 * 1024;
/// How often whoever tells what happens looks at it, in milliseconds.
const LOOK_MS: u64 = 50;
/// The venue of 512 players is some 10 MB and is built on the stack before it moves to the heap.
const STACK_BYTES: usize = 256 * 1024 * 1024;

/// What games keep for players between their moves: a full memory of resource-rush for fifty of them.
const NOTES: usize = 512 * 1024;
/// Moves that wait for the disk.
const STEPS: usize = 16 * 1024;

type Box512<'m> = Appliance<'m, Computer>;
type Memory = Space<PLAYERS, MATCHES, RESULTS, LOG, NOTES, STEPS, SLOTS>;

/// Serves until `stop` is raised; with `--once` until the league has ended, whose standings it then prints. Returning
/// drops the listener and every connection.
fn serve(ready: Ready, stop: &Stop, says: Says) -> Result<(), Failure> {
    let stop = stop.clone();
    let thread = thread::Builder::new().name("box".into()).stack_size(STACK_BYTES);
    let thread = thread.spawn(move || serve_here(ready, &stop, says));
    let thread = thread.map_err(|error| Failure::work(format!("cannot start a thread: {error}")))?;
    thread
        .join()
        .unwrap_or_else(|_| Err(Failure::work("the box stopped by a fault of its own: please report the lines above")))
}

fn serve_here(ready: Ready, stop: &Stop, says: Says) -> Result<(), Failure> {
    let once = ready.options.once;
    let cannot_use = |error| Failure::work(format!("cannot use the port: {error}"));
    let reactor = Reactor::new().map_err(cannot_use)?;
    let listener = ready.listener.try_clone().and_then(|listener| Listener::new(&reactor, listener));
    let mut listener = listener.map_err(cannot_use)?;
    if let Some(referee) = ready.referee.as_ref().and_then(|referee| referee.try_clone().ok()) {
        listener.also(referee).map_err(cannot_use)?;
    }
    let mut memory = Box::new(Memory::new());
    let leaguebox = appliance(&ready, &mut memory)?;
    let mut frame = [0; FRAME];
    let mut journal = resume(&leaguebox, &ready.options, &mut frame);
    // Whoever names a file relies on it.
    if let (Some(Err(unusable)), true) = (&journal, ready.options.given.contains("--flash")) {
        return Err(Failure::work(format!(
            "{unusable}; choose another file with --flash, or keep nothing over a restart with --no-flash"
        )));
    }
    match says {
        Says::Nothing => {}
        Says::All => say(&mut io::stdout(), &startup_text(&leaguebox, &ready, &journal))?,
        Says::Demo => {
            let (options, code) = (&ready.options, leaguebox.admin_code());
            say(&mut io::stdout(), &startup::demo(options, &lan::addresses(ready.address), &code))?;
        }
    }
    let narrates = !matches!(says, Says::Nothing) && !ready.options.quiet;
    let narrator = narrates.then(|| {
        let told = leaguebox.venue(|venue| venue.log().written());
        (RefCell::new(Narrator::new(told, Paint::of_stdout())), Printer::new())
    });
    let (hire, orders) = mpsc::channel();
    leaguebox.board().set_house(hire.clone());
    let here = lan::addresses(ready.address).last().copied().unwrap_or(ready.address);
    // It ends with the box, which has the other end of the channel.
    thread::spawn(move || House::keep(here, &orders));
    if ready.options.house > 0 {
        _ = hire.send(Order::Hire(ready.options.house));
    }
    drop(hire);
    let executor = LocalExecutor::new();
    match &mut journal {
        Some(Ok(journal)) => executor.spawn(leaguebox.keep_journal(journal, &mut frame)).detach(),
        // Matches can be looked at again for as long as the box runs.
        _ => executor.spawn(leaguebox.keep_film(RamFlash::new(vec![0xff; FILM_BYTES]), &mut frame)).detach(),
    }
    for _ in 0..PLAYERS + usize::from(ready.options.connections) {
        let (leaguebox, listener) = (&leaguebox, &listener);
        let slot = async move { leaguebox.slot(listener, &mut vec![0; SLOT_BYTES], REQUEST_BYTES).await };
        executor.spawn(slot).detach();
    }
    executor.spawn(leaguebox.keep_time()).detach();
    if let Some((narrator, printer)) = &narrator {
        let leaguebox = &leaguebox;
        let narrate = async move {
            loop {
                leaguebox.board().sleep_until(leaguebox.board().after(LOOK_MS)).await;
                printer.print(news(leaguebox, narrator));
            }
        };
        executor.spawn(narrate).detach();
    }
    let ended = async {
        match once {
            true => leaguebox.league_over().await,
            false => std::future::pending().await,
        }
    };
    let finished = reactor.run(leaguebox.board(), executor.run(select(ended, stop.raised())));
    drop(executor);
    match (finished, narrator) {
        (Either::First(()), Some((narrator, printer))) => {
            printer.print(news(&leaguebox, &narrator));
            printer.finish();
            Ok(())
        }
        (Either::First(()), None) => {
            say(&mut io::stdout(), &format!("\nFinal standings\n{}", table::standings(&standings(&leaguebox))))
        }
        // Whoever ends it waits for nothing more.
        (Either::Second(()), _) => Ok(()),
    }
}

/// What has happened since the narrator last looked.
fn news(leaguebox: &Box512, narrator: &RefCell<Narrator>) -> String {
    let mut narrator = narrator.borrow_mut();
    if !leaguebox.venue(|venue| narrator.has_news(venue)) {
        return String::new();
    }
    leaguebox.act(|venue, _| venue.refresh_standings());
    leaguebox.venue(|venue| narrator.look(venue))
}

/// The settings of the command line.
fn config(options: &Options) -> Config {
    let ms = |duration: Duration| duration.as_millis() as u64;
    Config {
        game: GameKind::named(options.game).unwrap_or(GameKind::FIRST),
        mode: match options.mode {
            cli::Mode::Lenient => Mode::Lenient,
            cli::Mode::Strict => Mode::Strict,
        },
        timing: Timing {
            join_ms: ms(options.join_timeout),
            move_ms: ms(options.move_timeout),
            retry_base_ms: ms(options.retry_base),
            first_turn_ms: ms(options.first_turn),
            turn_ms: ms(options.turn),
            ..Timing::default()
        },
        start_at: options.start_at,
        per_address: options.per_address,
        other_hosts: options.other_hosts,
        foreign_referees: options.foreign_referees,
        pacing: Pacing { pace: options.pace, ..Pacing::default() },
        ..Config::default()
    }
}

fn appliance<'m>(ready: &Ready, memory: &'m mut Memory) -> Result<Box512<'m>, Failure> {
    let options = &ready.options;
    let addresses = lan::addresses(ready.address);
    let address = addresses.first().copied().unwrap_or(ready.address);
    let endpoint = format!("http://{address}/mcp").as_str().try_into().unwrap_or_default();
    // A box has one list of them for as long as the program runs.
    let config = Config { endpoint, own: Some(addresses.leak()), ..config(options) };
    // Tokens are never repeatable, even where the draws are.
    let (master, secret) = (Seed(entropy::bytes()?), Seed(entropy::bytes()?));
    let code = ready.admin_code.as_str().try_into().map_err(|_| Failure::usage("--admin-code is too long"))?;
    let leaguebox =
        Appliance::new(memory.lend(), Computer::with(options.spare_heartbeats), config, (master, secret), code);
    if let Some(file) = &options.record {
        leaguebox.board().set_recorder(Recorder::create(file)?);
    }
    if let Some(seed) = options.seed {
        leaguebox.act(|venue, _| venue.set_seed(Seed(seed)));
    }
    Ok(leaguebox)
}

/// Goes on with what was kept, if something keeps it.
fn resume(
    leaguebox: &Box512<'_>,
    options: &Options,
    frame: &mut [u8; FRAME],
) -> Option<Result<Journal<FileFlash>, Unusable>> {
    let flash = FileFlash::open(options.flash.as_ref()?);
    if let Err(unusable) = &flash {
        leaguebox.without_journal(unusable.why);
    }
    let given = |flag: &str| options.given.contains(flag);
    let config = config(options);
    let settings = Change {
        game: given("--game").then_some(config.game),
        mode: given("--mode").then_some(config.mode),
        start_at: given("--start-at").then_some(config.start_at),
        join_ms: given("--join-timeout-ms").then_some(config.timing.join_ms),
        move_ms: given("--move-timeout-ms").then_some(config.timing.move_ms),
        retry_base_ms: given("--retry-base-ms").then_some(config.timing.retry_base_ms),
        first_turn_ms: given("--first-turn-timeout-ms").then_some(config.timing.first_turn_ms),
        turn_ms: given("--turn-timeout-ms").then_some(config.timing.turn_ms),
        per_address: given("--per-address").then_some(config.per_address),
        other_hosts: given("--other-hosts").then_some(config.other_hosts),
        foreign_referees: given("--foreign-referees").then_some(config.foreign_referees),
        pace: given("--pace").then_some(config.pacing.pace),
        seed: options.seed.map(|seed| Some(Seed(seed))),
        ..Change::default()
    };
    let chosen = Chosen { admin_code: options.admin_code.is_some(), settings };
    Some(flash.map(|[flash, film]| {
        block_on(async {
            let journal = leaguebox.resume(flash, frame, chosen).await;
            leaguebox.resume_film(journal, film, frame).await
        })
    }))
}

/// What the owner reads: the settings as they are, be they from the command line or kept.
fn startup_text(leaguebox: &Box512, ready: &Ready, journal: &Option<Result<Journal<FileFlash>, Unusable>>) -> String {
    let file = ready.options.flash.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    let how = match (journal, leaguebox.journal()) {
        (None, _) => "nothing survives a restart (--no-flash)".into(),
        (Some(Err(unusable)), _) => format!("nothing survives a restart. {unusable}"),
        (Some(Ok(_)), State::Failed(trouble)) => {
            let offer = Offer(leaguebox.journal_sound());
            format!("nothing survives a restart. {file}: {trouble}. It is kept until the owner resets the box{offer}")
        }
        (Some(Ok(_)), _) if leaguebox.journal_past_is_damaged() => {
            format!("in {file}. What is there of a league of the past is damaged; the rest is as it was")
        }
        (Some(Ok(_)), _) => format!("in {file}: what the box acknowledges survives a power cut"),
    };
    let found = leaguebox.venue(|venue| match venue.stage() {
        Stage::Waiting if venue.players().is_empty() => Found::Nothing,
        Stage::Waiting => Found::Players(venue.players().len()),
        Stage::Running(round) => Found::Running(round, venue.schedule().rounds()),
        Stage::Completed => Found::Over,
    });
    let settings = leaguebox.venue(Venue::settings);
    let options = Options {
        game: settings.game.rules().name,
        mode: match settings.mode {
            Mode::Lenient => cli::Mode::Lenient,
            Mode::Strict => cli::Mode::Strict,
        },
        start_at: settings.start_at,
        join_timeout: Duration::from_millis(settings.timing.join_ms),
        move_timeout: Duration::from_millis(settings.timing.move_ms),
        retry_base: Duration::from_millis(settings.timing.retry_base_ms),
        first_turn: Duration::from_millis(settings.timing.first_turn_ms),
        turn: Duration::from_millis(settings.timing.turn_ms),
        pace: settings.pacing.pace,
        ..ready.options.clone()
    };
    // A league that goes on has the seed it began with.
    let seed = options.seed.map(Seed).filter(|&seed| leaguebox.venue(|venue| venue.origin().master == seed));
    let seed = seed.and_then(|seed| startup::of_seed(seed, ready.seed_is_lengthened));
    startup::text(&options, &lan::addresses(ready.address), &leaguebox.admin_code(), &Kept { how, found, seed })
}

fn standings(leaguebox: &Box512) -> Vec<Standing> {
    leaguebox.act(|venue, _| venue.refresh_standings());
    leaguebox.venue(|venue| venue.standings().map(standing).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    fn options(listen: SocketAddr) -> Options {
        Options { listen, flash: None, ..Options::new("even_odd") }
    }

    #[test]
    fn a_started_box_is_reachable_and_an_ended_one_is_not() {
        let running = start_box(options("127.0.0.1:0".parse().unwrap())).unwrap();
        let address = running.address;
        assert!(TcpStream::connect(address).is_ok());
        running.end().unwrap();
        assert!(TcpStream::connect(address).is_err());
    }

    #[test]
    fn the_referees_port_is_taken_only_beside_port_8000() {
        let of = |address: &str| referee_of(address.parse().unwrap()).map(|address| address.to_string());
        assert_eq!(of("0.0.0.0:8000").as_deref(), Some("0.0.0.0:8001"));
        assert_eq!(of("[::1]:8000").as_deref(), Some("[::1]:8001"));
        assert_eq!((of("127.0.0.1:8010"), of("127.0.0.1:7999")), (None, None));
    }

    #[test]
    fn a_second_box_on_the_same_port_says_what_to_do() {
        let first = start_box(options("127.0.0.1:0".parse().unwrap())).unwrap();
        let failure = start_box(options(first.address)).err().unwrap();
        assert_eq!(failure.code, 1);
        assert!(failure.message.starts_with(&format!("port {} is in use", first.address.port())), "{failure}");
    }

    #[test]
    fn no_two_boxes_with_the_same_short_seed_draw_alike_and_those_with_the_same_long_one_do() {
        let master = |seed| {
            let options = Options { seed: Some(seed), ..options("127.0.0.1:0".parse().unwrap()) };
            Ready::new(options).unwrap().options.seed.unwrap()
        };
        let mut short = [0; 32];
        short[31] = 7;
        // Whoever has seen the seed of one match tries all short seeds: none of them is the one.
        assert!(master(short) != short && master(short) != master(short));
        assert_eq!(master([7; 32]), [7; 32]);
    }

    #[test]
    fn what_the_command_line_leaves_open_is_chosen_afresh() {
        let ready = || Ready::new(options("127.0.0.1:0".parse().unwrap())).unwrap();
        let (a, b) = (ready(), ready());
        assert_ne!(a.admin_code, b.admin_code);
        let given = Options { admin_code: Some("code".into()), ..a.options };
        assert_eq!(Ready::new(given).unwrap().admin_code, "code");
    }
}
