//! What the owner reads first: where the box is, its admin code and what to do next. And, when it cannot start, the one
//! line that says why. Pure text; printing it is left to others.

use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use protocol_core::fair::Seed;
use protocol_core::games::{GameKind, Rules};
use protocol_core::protocols::{league_of_agents, league_v2};
use protocol_core::venue::Pace;

use crate::cli::Options;
use crate::entropy;
use crate::failure::Failure;

/// How it stands with what is kept over a restart.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// What keeps it, or why nothing does.
    pub how: String,
    /// What the box goes on with.
    pub found: Found,
    /// What is to be said of the seed, if it was chosen.
    pub seed: Option<String>,
}

/// What was found of an earlier run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    #[default]
    Nothing,
    /// So many players who wait for a start.
    Players(usize),
    /// A league in this round of so many.
    Running(u16, u16),
    /// A league that is over.
    Over,
}

/// Fewer characters can be guessed.
const ADMIN_CODE: usize = 8;

/// The text printed when the box is ready. `addresses` are those of [`crate::lan::addresses`], the best first.
pub fn text(options: &Options, addresses: &[SocketAddr], admin_code: &str, kept: &Kept) -> String {
    // Commands are shown for this computer, where they are typed first; it is the last address.
    let here = addresses.last().copied().unwrap_or(options.listen);
    let best = addresses.first().copied().unwrap_or(options.listen);
    let mut text = format!(
        "LeagueBox {} referees {} in {} mode.\n\n",
        env!("CARGO_PKG_VERSION"),
        options.game,
        options.mode.name()
    );
    let mut line = |name: &str, value: &str| _ = writeln!(text, "  {name:<12}{value}");
    for (index, address) in addresses.iter().enumerate() {
        let note = if address.ip().is_loopback() { "   (this computer only)" } else { "" };
        line(if index == 0 { "Agents" } else { "" }, &format!("http://{address}/mcp{note}"));
    }
    line("Page", &format!("http://{best}/"));
    line("Admin code", admin_code);
    if admin_code.len() < ADMIN_CODE {
        line("", "anybody in this network can try all codes as short as this one: choose eight characters or more");
    }
    line(
        "Timeouts",
        &format!(
            "{} to join, {} to move; a late answer is asked for again, for {}, {} and {} more",
            seconds(options.join_timeout),
            seconds(options.move_timeout),
            seconds(options.retry_base),
            seconds(options.retry_base * 2),
            seconds(options.retry_base * 4)
        ),
    );
    if options.pace != Pace::Fast {
        let how = match options.pace {
            Pace::Step => "step: every round waits for a click on the page",
            _ => "watch: slow enough to follow, with a break between rounds",
        };
        line("Pace", how);
    }
    if let Some(seed) = &kept.seed {
        line("Seed", seed);
    }
    line("Kept", &kept.how);
    match kept.found {
        Found::Nothing => {}
        Found::Players(players) => line("Resumed", &format!("{players} players are registered")),
        Found::Running(round, rounds) => line("Resumed", &format!("the league goes on in round {round} of {rounds}")),
        Found::Over => line("Resumed", "the league that is over can be read; a rematch or a reset begins another"),
    }
    let command =
        |verb| format!("    curl -X POST -H \"Authorization: Bearer {admin_code}\" http://{here}/api/admin/{verb}\n");
    if let Found::Running(..) | Found::Over = kept.found {
        text.push_str("\nNext\n");
        if kept.found == Found::Over {
            _ = write!(text, "  Play the next league, with whoever came since:\n{}", command("rematch"));
            _ = write!(text, "  Or send everybody away and register anew:\n{}", command("reset"));
        }
        text.push_str(ends(options));
        return text;
    }
    let (what, player) = example(options.game, here);
    _ = writeln!(text, "\nNext\n  {what}:\n    {player}");
    _ = match options.start_at {
        Some(players) => writeln!(text, "  The league starts by itself at {players} players."),
        None => write!(text, "  Start the league when everybody is in:\n{}", command("start")),
    };
    text.push_str(ends(options));
    text
}

/// Where a player for a game is to be found. Each protocol has an example for the games of its specification; every game has
/// players on its page.
fn example(game: &str, here: SocketAddr) -> (&'static str, String) {
    if league_v2::GAMES.contains(&game) {
        let player = format!("python3 examples/player.py --box http://{here} --port 8101 --name Ada");
        ("Register a player, for example the one in Python", player)
    } else if league_of_agents::specifies(game) {
        let player = format!("python3 examples/league_of_agents.py --box http://{here} --name Ada --game {game}");
        ("Register a player, for example the one in Python (pip install websockets)", player)
    } else {
        (
            "Register a player, for example one of those on the page of the game",
            format!("http://{here}/skill/{game}.md"),
        )
    }
}

/// What the owner must know of the seed of the command line. One that was lengthened is shown: only with all of it the same
/// draws come again.
pub fn of_seed(seed: Seed, is_lengthened: bool) -> Option<String> {
    if is_lengthened {
        return Some(format!(
            "{seed}\n{:14}Warning: the --seed that was given is short, so whoever sees the seed of one match could find it\n\
             {:14}and know all draws to come. Random digits stand before it now; with all 64 the same draws come again.",
            "", ""
        ));
    }
    entropy::is_plain(&seed.0).then(|| {
        "Warning: the --seed that was given can be guessed, and who does knows all draws to come. Give 64 random digits".into()
    })
}

/// What the demo says that stays.
pub fn demo(options: &Options, addresses: &[SocketAddr], admin_code: &str) -> String {
    let here = addresses.last().copied().unwrap_or(options.listen);
    let best = addresses.first().copied().unwrap_or(options.listen);
    let command = |verb: &str, body: &str| {
        let header = "-H \"Content-Type: application/json\"";
        let body = if body.is_empty() { String::new() } else { format!(" {header} -d '{body}'") };
        format!("    curl -X POST -H \"Authorization: Bearer {admin_code}\"{body} http://{here}/api/admin/{verb}\n")
    };
    // One with a board is worth looking at.
    let others = || GameKind::ALL.iter().map(|kind| kind.rules()).filter(|rules| rules.name != options.game);
    let for_two = |rules: &&Rules| *rules.seats.start() == 2;
    let other = others().filter(for_two).max_by_key(|rules| rules.board).map_or("", |rules| rules.name);
    let step = match options.pace {
        Pace::Step => format!("  Begin each round, there or with\n{}", command("next", "")),
        _ => String::new(),
    };
    format!(
        "{count} house players play {game}.\n\n  Page        http://{best}/\n  Admin code  {admin_code}\n\nNext\n  \
         Open the page: everything can be done there with the admin code.\n{step}  When the league is over, choose another game \
         and play the next one:\n{settings}{rematch}  Ctrl-C ends the box.\n\n",
        count = options.house,
        game = options.game,
        settings = command("settings", &format!("{{\"game\": \"{other}\"}}")),
        rematch = command("rematch", ""),
    )
}

fn ends(options: &Options) -> &'static str {
    match options.once {
        true => "  The box ends with the league. Ctrl-C ends it now.\n",
        false => "  Ctrl-C ends the box.\n",
    }
}

/// Why the box cannot listen there, and what to do.
pub fn cannot_listen(listen: SocketAddr, error: &io::Error) -> Failure {
    let other = |port| SocketAddr::new(listen.ip(), port);
    let port = listen.port();
    Failure::work(match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "port {port} is in use: stop the other program or choose another with --listen {}",
            other(if port == u16::MAX { 8000 } else { port + 1 })
        ),
        io::ErrorKind::PermissionDenied => {
            format!("port {port} is not allowed for this user: choose one from 1024 up with --listen {}", other(8000))
        }
        io::ErrorKind::AddrNotAvailable => format!(
            "{} is not an address of this computer: listen on all of them with --listen 0.0.0.0:{port}",
            listen.ip()
        ),
        _ => format!("cannot listen on {listen} ({error}): choose another address with --listen"),
    })
}

/// A timeout as people say it: `5 s`, `1.5 s`, `20 ms`.
fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) { format!("{} ms", time.as_millis()) } else { format!("{} s", time.as_secs_f64()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Mode;
    use std::net::TcpListener;

    fn addresses() -> Vec<SocketAddr> {
        vec!["192.168.7.12:8000".parse().unwrap(), "127.0.0.1:8000".parse().unwrap()]
    }

    fn kept(found: Found) -> Kept {
        Kept { how: "in leaguebox.flash".into(), found, seed: None }
    }

    #[test]
    fn a_league_that_goes_on_asks_nobody_to_register() {
        let options = Options::new("even_odd");
        let running = text(&options, &addresses(), "k3v9-m2xq", &kept(Found::Running(2, 3)));
        assert!(running.contains("the league goes on in round 2 of 3"), "{running}");
        let over = text(&options, &addresses(), "k3v9-m2xq", &kept(Found::Over));
        assert!(over.contains("/api/admin/reset"), "{over}");
        assert!(![running, over].concat().contains("Register a player"));
    }

    #[test]
    fn a_seed_that_can_be_guessed_is_warned_of_and_one_that_was_lengthened_is_shown() {
        let seed: [u8; 32] = std::array::from_fn(|at| at as u8);
        let said = of_seed(Seed(seed), true).unwrap();
        assert!(
            said.starts_with("000102030405") && said.contains("Warning: the --seed that was given is short"),
            "{said}"
        );
        let seeded = Kept { seed: Some(said.clone()), ..kept(Found::Nothing) };
        assert!(text(&Options::new("even_odd"), &addresses(), "k3v9-m2xq", &seeded).contains(&said));
        assert!(of_seed(Seed([7; 32]), false).unwrap().starts_with("Warning: "));
        assert_eq!(of_seed(Seed(seed), false), None);
    }

    #[test]
    fn the_owner_reads_where_the_box_is_and_how_to_start_it() {
        assert_eq!(
            text(&Options::new("even_odd"), &addresses(), "k3v9-m2xq", &kept(Found::Nothing)),
            format!(
                "\
LeagueBox {} referees even_odd in lenient mode.

  Agents      http://192.168.7.12:8000/mcp
              http://127.0.0.1:8000/mcp   (this computer only)
  Page        http://192.168.7.12:8000/
  Admin code  k3v9-m2xq
  Timeouts    5 s to join, 30 s to move; a late answer is asked for again, for 1 s, 2 s and 4 s more
  Kept        in leaguebox.flash

Next
  Register a player, for example the one in Python:
    python3 examples/player.py --box http://127.0.0.1:8000 --port 8101 --name Ada
  Start the league when everybody is in:
    curl -X POST -H \"Authorization: Bearer k3v9-m2xq\" http://127.0.0.1:8000/api/admin/start
  Ctrl-C ends the box.
",
                env!("CARGO_PKG_VERSION")
            )
        );
    }

    #[test]
    fn the_player_that_is_named_plays_the_game_of_the_league() {
        for kind in GameKind::ALL {
            let game = kind.rules().name;
            let said = text(&Options::new(game), &addresses(), "k3v9-m2xq", &kept(Found::Nothing));
            let named = said.lines().find(|line| line.contains("http://127.0.0.1:8000") && !line.contains("/mcp"));
            let named = named.unwrap_or_else(|| panic!("{said}"));
            // The example of league.v2 plays both of its games.
            assert!(named.contains("examples/player.py") || named.contains(game), "{named}");
        }
        assert_eq!(example("chess", addresses()[1]).1, "http://127.0.0.1:8000/skill/chess.md");
    }

    #[test]
    fn a_league_that_starts_by_itself_asks_nobody_to_start_it() {
        let options = Options {
            start_at: Some(30),
            once: true,
            mode: Mode::Strict,
            retry_base: Duration::from_millis(300),
            ..Options::new("even_odd_10")
        };
        let text = text(&options, &addresses(), "k3v9-m2xq", &kept(Found::Players(3)));
        for part in [
            "even_odd_10 in strict mode",
            "starts by itself at 30 players",
            "ends with the league",
            "300 ms, 600 ms and 1.2 s",
            "3 players are registered",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("curl"));
    }

    #[test]
    fn the_demo_that_stays_says_where_it_is_and_what_to_do_next() {
        let options = Options { house: 4, pace: Pace::Step, ..Options::new("even_odd") };
        let text = demo(&options, &addresses(), "k3v9-m2xq");
        for part in [
            "4 house players play even_odd",
            "http://192.168.7.12:8000/",
            "k3v9-m2xq",
            "/api/admin/next",
            "-d '{\"game\": \"go\"}' http://127.0.0.1:8000/api/admin/settings",
            "/api/admin/rematch",
            "Ctrl-C",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_busy_port_is_named_with_a_way_out() {
        let holder = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = holder.local_addr().unwrap();
        let error = TcpListener::bind(taken).unwrap_err();
        let (port, next) = (taken.port(), taken.port().checked_add(1).unwrap_or(8000));
        assert_eq!(
            cannot_listen(taken, &error).message,
            format!("port {port} is in use: stop the other program or choose another with --listen 127.0.0.1:{next}")
        );
    }

    #[test]
    fn a_forbidden_port_and_a_foreign_address_are_one_line_each() {
        assert_eq!(
            cannot_listen("0.0.0.0:80".parse().unwrap(), &io::ErrorKind::PermissionDenied.into()).message,
            "port 80 is not allowed for this user: choose one from 1024 up with --listen 0.0.0.0:8000"
        );
        assert_eq!(
            cannot_listen("192.0.2.7:8000".parse().unwrap(), &io::ErrorKind::AddrNotAvailable.into()).message,
            "192.0.2.7 is not an address of this computer: listen on all of them with --listen 0.0.0.0:8000"
        );
    }
}
