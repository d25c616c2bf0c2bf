//! The command line: words in, a [`Command`] out. Whatever is wrong is one line that names the option, what it wants and
//! what it got. `lexopt` splits the words; what they mean stands here. Nothing here prints or touches the system; which
//! games exist is the caller's knowledge.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use lexopt::{Arg, Parser};
use protocol_core::games::{GameKind, Parity};
use protocol_core::venue::{Pace, REFEREES_SECONDS, TIMEOUT_MS};

use crate::failure::Failure;
use crate::house::away;

/// How many players a league can have on this computer.
pub const PLAYERS: RangeInclusive<u16> = 2..=512;

/// How many players of the house a box can be told to seat at once.
const HOUSE: RangeInclusive<u16> = 0..=512;

/// How many seconds more than the players of a match may take a referee elsewhere may have.
const GRACE: RangeInclusive<u16> = 1..=REFEREES_SECONDS as u16;

/// How many connections can be served at once beside those of the players that dial in. One that waits costs memory and no
/// time; more wait in the system's queue.
pub const CONNECTIONS: RangeInclusive<u16> = 8..=2048;

/// Where the league is kept unless told otherwise: in the folder the box is started in, where it is seen and can be
/// deleted.
pub const FLASH: &str = "leaguebox.flash";

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Be the box until Ctrl-C.
    Run(Options),
    /// Be the box and all its players, for one league.
    Demo(DemoOptions),
    /// Recompute the draws of a match.
    Verify(Verify),
    /// Speak MCP on standard input and output, for the box at this URL.
    Mcp(String),
    /// Play in somebody else's league.
    Player(PlayerOptions),
    /// Judge a recording.
    Conform(PathBuf),
    /// Print the [`help`] of a verb.
    Help(Verb),
    /// Print the version.
    Version,
}

/// The word after the program's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// None at all: be the box.
    Run,
    /// Be the box and its players.
    Demo,
    /// Recompute a match.
    Verify,
    /// Speak MCP for a box.
    Mcp,
    /// Play in somebody else's league.
    Player,
    /// Judge a recording.
    Conform,
}

/// Where a league manager is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// Its address.
    pub address: SocketAddr,
    /// Its path.
    pub path: String,
}

impl Display for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "http://{}{}", self.address, self.path)
    }
}

/// A player of the house in somebody else's league.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerOptions {
    /// Where it registers.
    pub manager: Manager,
    /// How it plays.
    pub strategy: String,
    /// What it is called.
    pub name: String,
    /// Where it listens, if not where the system likes.
    pub listen: Option<SocketAddr>,
}

/// How the box runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The game it referees, by its name on the wire.
    pub game: &'static str,
    /// Start by itself when this many have registered; otherwise the admin starts.
    pub start_at: Option<u16>,
    /// End after one league.
    pub once: bool,
    /// What happens to a message that breaks a rule.
    pub mode: Mode,
    /// The master seed; from the system's entropy when not given.
    pub seed: Option<[u8; 32]>,
    /// The admin code; from the system's entropy when not given.
    pub admin_code: Option<String>,
    /// The file that keeps the league over a restart, if one does.
    pub flash: Option<PathBuf>,
    /// How long a player may take to join.
    pub join_timeout: Duration,
    /// How long a player may take to move.
    pub move_timeout: Duration,
    /// The first wait before a call is repeated; it doubles each time.
    pub retry_base: Duration,
    /// How long an agent of League of Agents may take for its first move of a game,
    pub first_turn: Duration,
    /// and for every later one.
    pub turn: Duration,
    /// So many players may come from one address, if not all but a quarter of the seats.
    pub per_address: Option<u16>,
    /// So many connections are served at once, beside those of the players that dial in.
    pub connections: u16,
    /// So many heartbeats a second are answered that come too soon; all, if none is given.
    pub spare_heartbeats: Option<u16>,
    /// Whether agents may be called at another address than they registered from.
    pub other_hosts: bool,
    /// Whether agents that registered as referees are given matches, and how many seconds more than its players one has.
    pub foreign_referees: Option<u8>,
    /// How fast a league goes on.
    pub pace: Pace,
    /// So many players of the house register when it is up.
    pub house: u16,
    /// Where every message is taken down.
    pub record: Option<PathBuf>,
    /// Says nothing but where it is.
    pub quiet: bool,
    /// The options that were given: what they choose goes before what was kept.
    pub given: BTreeSet<String>,
}

impl Options {
    /// The defaults, for one game.
    pub fn new(game: &'static str) -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 8000)),
            game,
            start_at: None,
            once: false,
            mode: Mode::Lenient,
            seed: None,
            admin_code: None,
            flash: Some(FLASH.into()),
            join_timeout: Duration::from_secs(5),
            move_timeout: Duration::from_secs(30),
            retry_base: Duration::from_secs(1),
            first_turn: Duration::from_secs(180),
            turn: Duration::from_secs(90),
            per_address: None,
            connections: 192,
            spare_heartbeats: None,
            other_hosts: false,
            foreign_referees: None,
            pace: Pace::Fast,
            house: 0,
            record: None,
            quiet: false,
            given: BTreeSet::new(),
        }
    }
}

/// What happens to a message that breaks a rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Play on where the meaning is clear, and report it.
    Lenient,
    /// Reject it as the specification says.
    Strict,
}

impl Mode {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Lenient => "lenient",
            Mode::Strict => "strict",
        }
    }
}

/// What the demo plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoOptions {
    /// How many house players.
    pub players: u16,
    /// The game, by its name on the wire.
    pub game: &'static str,
    /// How fast it goes on.
    pub pace: Pace,
    /// Where it listens: then it stays until Ctrl-C.
    pub listen: Option<SocketAddr>,
    /// The admin code; from the system's entropy when not given.
    pub admin_code: Option<String>,
}

/// The match to recompute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyOptions {
    /// The game, by its name on the wire.
    pub game: &'static str,
    /// The seed GAME_OVER revealed.
    pub seed: [u8; 32],
    /// The commitment GAME_INVITATION published, to be held against the seed.
    pub commitment: Option<[u8; 32]>,
    /// What the players chose, PLAYER_A first, turn by turn; empty to see the draws only.
    pub choices: Vec<Parity>,
}

/// What to verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verify {
    /// What a seed decides.
    Draws(VerifyOptions),
    /// A whole match, as its `moves.json` has it, in this file.
    Moves(PathBuf),
}

/// Reads the words after the program's name. `games` are the names this build can referee; the first is the default
/// and there must be one.
pub fn parse(words: impl IntoIterator<Item = OsString>, games: &[&'static str]) -> Result<Command, Failure> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let has = |long: &str, short: &str| words.iter().any(|word| word == long || word == short);
    let (mut helps, asks_version) = (has("--help", "-h"), has("--version", "-V"));
    if words.first().is_some_and(|word| word == "help") {
        words.remove(0);
        helps = true;
    }
    let verb = match words.first().and_then(|word| word.to_str()) {
        Some("demo") => Verb::Demo,
        Some("verify") => Verb::Verify,
        Some("mcp") => Verb::Mcp,
        Some("player") => Verb::Player,
        Some("conform") => Verb::Conform,
        Some(word) if !word.starts_with('-') && !helps => {
            return Err(Failure::usage(format!(
                "there is no command {word:?}: it is demo, verify, player, conform, mcp or none at all; see leaguebox --help"
            )));
        }
        _ => Verb::Run,
    };
    if helps {
        return Ok(Command::Help(verb));
    }
    if asks_version {
        return Ok(Command::Version);
    }
    let parser = Parser::from_args(words.into_iter().skip(usize::from(verb != Verb::Run)));
    let mut words = Words { verb, games, parser, option: String::new() };
    match verb {
        Verb::Run => run(words).map(Command::Run),
        Verb::Demo => demo(words).map(Command::Demo),
        Verb::Verify => verify(words).map(Command::Verify),
        Verb::Mcp => mcp(words).map(Command::Mcp),
        Verb::Player => player(words).map(Command::Player),
        Verb::Conform => words.alone().map(Command::Conform),
    }
}

fn run(mut words: Words<'_>) -> Result<Options, Failure> {
    let mut options = Options::new(words.default_game()?);
    while let Some(option) = words.next()? {
        match option.as_str() {
            "--listen" => options.listen = words.address()?,
            "--game" => options.game = words.game()?,
            "--start-at" => options.start_at = Some(words.number(PLAYERS)?),
            "--once" => options.once = true,
            "--mode" => options.mode = words.mode()?,
            "--seed" => options.seed = Some(words.hex(1..=64)?),
            "--admin-code" => options.admin_code = Some(words.admin_code()?),
            "--no-flash" => options.flash = None,
            "--flash" => options.flash = Some(words.file()?),
            "--join-timeout-ms" => options.join_timeout = words.millis()?,
            "--move-timeout-ms" => options.move_timeout = words.millis()?,
            "--retry-base-ms" => options.retry_base = words.millis()?,
            "--first-turn-timeout-ms" => options.first_turn = words.millis()?,
            "--turn-timeout-ms" => options.turn = words.millis()?,
            "--per-address" => options.per_address = Some(words.number(1..=*PLAYERS.end())?),
            "--connections" => options.connections = words.number(CONNECTIONS)?,
            "--spare-heartbeats" => options.spare_heartbeats = Some(words.number(1..=u16::MAX)?),
            "--other-hosts" => options.other_hosts = true,
            "--foreign-referees" => options.foreign_referees = u8::try_from(words.number(GRACE)?).ok(),
            "--pace" => options.pace = words.pace()?,
            "--house" => options.house = words.number(HOUSE)?,
            "--record" => options.record = Some(words.file()?),
            "--quiet" => options.quiet = true,
            _ => return Err(words.unknown()),
        }
        options.given.insert(option);
    }
    Ok(options)
}

fn demo(mut words: Words<'_>) -> Result<DemoOptions, Failure> {
    let (game, pace, listen, admin_code) = (words.default_game()?, Pace::Fast, None, None);
    let mut options = DemoOptions { players: 4, game, pace, listen, admin_code };
    while let Some(option) = words.next()? {
        match option.as_str() {
            "--players" => options.players = words.number(PLAYERS)?,
            "--game" => options.game = words.game()?,
            "--pace" => options.pace = words.pace()?,
            "--listen" => options.listen = Some(words.address()?),
            "--admin-code" => options.admin_code = Some(words.admin_code()?),
            _ => return Err(words.unknown()),
        }
    }
    if options.pace == Pace::Step && options.listen.is_none() {
        return Err(Failure::usage("demo --pace step waits for clicks on its page: give it --listen 127.0.0.1:8000"));
    }
    Ok(options)
}

fn verify(mut words: Words<'_>) -> Result<Verify, Failure> {
    let (mut game, mut seed, mut commitment, mut choices) = (words.default_game()?, None, None, Vec::new());
    let mut moves = None;
    while let Some(option) = words.next()? {
        match option.as_str() {
            "--game" => game = words.game()?,
            "--seed" => seed = Some(words.hex(64..=64)?),
            "--commitment" => commitment = Some(words.hex(64..=64)?),
            "--choices" => choices = words.parities()?,
            "--moves" => moves = Some(words.file()?),
            _ => return Err(words.unknown()),
        }
    }
    if let Some(file) = moves {
        let is_alone = seed.is_none() && commitment.is_none() && choices.is_empty();
        let alone = "--moves stands alone: the file says which game it was and what its seed is";
        return is_alone.then_some(Verify::Moves(file)).ok_or_else(|| Failure::usage(alone));
    }
    let needs = "verify needs --seed, the 64 hex digits that GAME_OVER revealed, or --moves, the moves.json of a match";
    let seed = seed.ok_or_else(|| Failure::usage(needs))?;
    Ok(Verify::Draws(VerifyOptions { game, seed, commitment, choices }))
}

fn mcp(mut words: Words<'_>) -> Result<String, Failure> {
    let mut url = None;
    while let Some(option) = words.next()? {
        match option.as_str() {
            "--box" => url = Some(words.read("the URL of a box like http://leaguebox.local:8000", is_url)?),
            _ => return Err(words.unknown()),
        }
    }
    url.ok_or_else(|| Failure::usage("mcp needs --box, the URL of a box like http://leaguebox.local:8000"))
}

fn is_url(text: &str) -> Option<String> {
    let is_one = !text.is_empty() && !text.starts_with("https:") && !text.contains(char::is_whitespace);
    is_one.then(|| text.into())
}

fn player(mut words: Words<'_>) -> Result<PlayerOptions, Failure> {
    let (mut manager, mut strategy, mut name, mut listen) = (None, None, None, None);
    while let Some(option) = words.next()? {
        match option.as_str() {
            "--manager" => manager = Some(words.manager()?),
            "--strategy" => strategy = Some(words.strategy()?),
            "--name" => name = Some(words.name()?),
            "--listen" => listen = Some(words.address()?),
            _ => return Err(words.unknown()),
        }
    }
    let needs = "player needs --manager, the URL of a league manager like http://10.0.0.5:8000/mcp";
    let manager = manager.ok_or_else(|| Failure::usage(needs))?;
    let strategy = strategy.unwrap_or_else(|| "Random".into());
    let name = name.unwrap_or_else(|| format!("LeagueBox {}", strategy.replace(['-', '_'], " ").to_lowercase()));
    Ok(PlayerOptions { manager, strategy, name, listen })
}

/// The words behind the verb, read option by option.
struct Words<'g> {
    verb: Verb,
    games: &'g [&'static str],
    parser: Parser,
    /// The option that was read last.
    option: String,
}

impl Words<'_> {
    /// The next option, as it is written: `--pace`. A value that nobody took is refused here.
    fn next(&mut self) -> Result<Option<String>, Failure> {
        self.option = match self.parser.next() {
            Ok(Some(Arg::Long(name))) => format!("--{name}"),
            Ok(Some(Arg::Short(letter))) => format!("-{letter}"),
            Ok(Some(Arg::Value(word))) => {
                return Err(Failure::usage(format!("{word:?} is not an option: see {} --help", self.command())));
            }
            Ok(None) => return Ok(None),
            Err(lexopt::Error::UnexpectedValue { option, .. }) => {
                return Err(Failure::usage(format!("{option} takes no value: write it alone")));
            }
            Err(other) => return Err(Failure::usage(other.to_string())),
        };
        Ok(Some(self.option.clone()))
    }

    /// The only word there is: the name of a file.
    fn alone(&mut self) -> Result<PathBuf, Failure> {
        let words: Vec<OsString> = self.parser.raw_args().map(Iterator::collect).unwrap_or_default();
        match &words[..] {
            [file] if !file.as_encoded_bytes().starts_with(b"-") => Ok(file.into()),
            _ => Err(Failure::usage("conform wants one file, a recording that --record has made")),
        }
    }

    fn unknown(&self) -> Failure {
        Failure::usage(format!("there is no option {} here: see {} --help", self.option, self.command()))
    }

    fn command(&self) -> &'static str {
        match self.verb {
            Verb::Run => "leaguebox",
            Verb::Demo => "leaguebox demo",
            Verb::Verify => "leaguebox verify",
            Verb::Mcp => "leaguebox mcp",
            Verb::Player => "leaguebox player",
            Verb::Conform => "leaguebox conform",
        }
    }

    fn default_game(&self) -> Result<&'static str, Failure> {
        self.games.first().copied().ok_or_else(|| Failure::work("this build of LeagueBox has no game"))
    }

    /// Reads the value of the option. The next option is never taken for a value: it shows that the value was forgotten.
    fn read<T>(&mut self, wants: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, Failure> {
        let parser = &mut self.parser;
        let is_value = |word: &std::ffi::OsStr| !word.as_encoded_bytes().starts_with(b"--");
        let word = parser.optional_value().or_else(|| parser.raw_args().ok()?.next_if(is_value));
        let Some(word) = word else {
            return Err(Failure::usage(format!("{} wants {wants}, but nothing was given", self.option)));
        };
        word.to_str()
            .and_then(read)
            .ok_or_else(|| Failure::usage(format!("{} wants {wants}, not {word:?}", self.option)))
    }

    fn number<N: FromStr + PartialOrd + Display>(&mut self, range: RangeInclusive<N>) -> Result<N, Failure> {
        let wants = format!("a number from {} to {}", range.start(), range.end());
        self.read(&wants, |text| text.parse().ok().filter(|number| range.contains(number)))
    }

    fn millis(&mut self) -> Result<Duration, Failure> {
        self.number(TIMEOUT_MS).map(Duration::from_millis)
    }

    fn address(&mut self) -> Result<SocketAddr, Failure> {
        self.read("an address and a port like 0.0.0.0:8000", |text| text.parse().ok())
    }

    fn manager(&mut self) -> Result<Manager, Failure> {
        self.read("a URL like http://10.0.0.5:8000/mcp, of a host that is there", |text| {
            let rest = text.strip_prefix("http://")?;
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = if host.contains(':') && !host.ends_with(']') { host.to_owned() } else { format!("{host}:80") };
            // Of a name's addresses the first IPv4 one: agents told to listen nowhere special listen there.
            let mut found: Vec<SocketAddr> = host.to_socket_addrs().ok()?.collect();
            found.sort_by_key(SocketAddr::is_ipv6);
            let path = if path.is_empty() || path == "/" { "/mcp" } else { path }.to_owned();
            Some(Manager { address: found.first().copied()?, path })
        })
    }

    fn strategy(&mut self) -> Result<String, Failure> {
        let mut all: Vec<&str> =
            GameKind::ALL.iter().flat_map(|game| game.house().iter().map(|(name, _)| *name)).collect();
        all.sort_unstable();
        all.dedup();
        let wants = format!("one of {}", all.join(", "));
        self.read(&wants, |text| all.iter().find(|name| away::is_same(name, text)).map(|name| (*name).to_owned()))
    }

    fn name(&mut self) -> Result<String, Failure> {
        self.read("a name of 1 to 64 bytes", |text| (1..=64).contains(&text.len()).then(|| text.into()))
    }

    fn game(&mut self) -> Result<&'static str, Failure> {
        let games = self.games;
        let wants = format!("one of {}", games.join(", "));
        self.read(&wants, |text| games.iter().copied().find(|&game| game == text))
    }

    fn mode(&mut self) -> Result<Mode, Failure> {
        let modes = [Mode::Lenient, Mode::Strict];
        self.read("lenient or strict", |text| modes.into_iter().find(|mode| mode.name() == text))
    }

    fn pace(&mut self) -> Result<Pace, Failure> {
        self.read("fast, watch or step", |text| Pace::ALL.into_iter().find(|pace| pace.name() == text))
    }

    fn file(&mut self) -> Result<PathBuf, Failure> {
        self.read("the name of a file", |text| (!text.is_empty()).then(|| text.into()))
    }

    /// Whatever can stand in a header, and in the quotes of the shell command the start-up text prints.
    fn admin_code(&mut self) -> Result<String, Failure> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"'\"`$\\".contains(&byte);
        self.read("1 to 64 ASCII characters without spaces, quotes, $ or \\", |text| {
            ((1..=64).contains(&text.len()) && text.bytes().all(is_plain)).then(|| text.into())
        })
    }

    /// Hex digits as a big-endian number, so that `--seed 7` is a seed too.
    fn hex(&mut self, digits: RangeInclusive<usize>) -> Result<[u8; 32], Failure> {
        let wants = match (digits.start(), digits.end()) {
            (least, most) if least == most => format!("{most} hex digits"),
            (least, most) => format!("{least} to {most} hex digits"),
        };
        self.read(&wants, |text| {
            let mut bytes = [0; 32];
            for (place, digit) in text.chars().rev().enumerate() {
                *bytes.iter_mut().rev().nth(place / 2)? |= (digit.to_digit(16)? as u8) << (4 * (place % 2));
            }
            digits.contains(&text.len()).then_some(bytes)
        })
    }

    fn parities(&mut self) -> Result<Vec<Parity>, Failure> {
        self.read("even or odd for PLAYER_A and PLAYER_B of each turn, like even,odd", |text| {
            let choices: Option<Vec<Parity>> = text.split(',').map(Parity::named).collect();
            choices.filter(|choices| choices.len().is_multiple_of(2))
        })
    }
}

/// Names, as many on a line as fit beside an option.
fn listed(names: &[&str]) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for name in names {
        let gap = match width {
            0 => "",
            _ if width + name.len() > 80 => {
                width = 0;
                ",\n                             "
            }
            _ => ", ",
        };
        width += name.len() + 2;
        text += gap;
        text += name;
    }
    text
}

/// What `--help` prints: what the verb does, its options with their defaults, and an example.
pub fn help(verb: Verb, games: &[&str]) -> String {
    let (games, least, most) = (listed(games), PLAYERS.start(), PLAYERS.end());
    match verb {
        Verb::Run => format!(
            "\
LeagueBox referees leagues of game-playing agents over HTTP and WebSocket.

Usage
  leaguebox [options]          be the box until Ctrl-C
  leaguebox demo [options]     be the box and its players, play one league, print it
  leaguebox verify [options]   recompute the draws of a match from its seed
  leaguebox mcp --box URL      speak MCP on standard input and output, for a language model
  leaguebox player [options]   play in anybody's league
  leaguebox conform FILE       judge a recording of a league, rule by rule
  leaguebox <verb> --help      the options of a verb

Options, with their defaults in brackets
  --listen ADDRESS:PORT      where to listen (0.0.0.0:8000: every network of this computer); at port 8000 also at
                             8001, if it is free, where some agents expect the first referee
  --game NAME                what is played, the first by default:
                             {games}
  --start-at N               start by itself when N players are registered, {least} to {most} (the owner starts)
  --once                     print the final standings and exit when the league ends
  --mode lenient|strict      report broken rules and play on, or reject them (lenient)
  --seed HEX                 64 random hex digits that decide every draw (chosen at random);
                             of a short one only the end counts, after random digits that are shown
  --admin-code CODE          what the owner authorizes with (chosen at random)
  --flash FILE               the file that keeps the league over a restart ({FLASH} in this folder)
  --no-flash                 keep nothing over a restart
  --join-timeout-ms MS       how long a player may take to join (5000)
  --move-timeout-ms MS       how long a player may take to move (30000)
  --retry-base-ms MS         the first wait before a call is repeated; then twice, then four times that (1000)
  --first-turn-timeout-ms MS a League of Agents player's first move of a game (180000)
  --turn-timeout-ms MS       and every later one (90000)
  --per-address N            players from one address, 1 to {most} (three quarters of the seats)
  --connections N            served at once beside those of players that dial in, {fewest} to {largest} (192)
  --spare-heartbeats N       a second that are answered though they come too soon; more are told to wait (all of them)
  --other-hosts              call agents also at other addresses than they register from
  --foreign-referees SECONDS agents that register as referees are given matches, and have as long as the players of a
                             match may take and so many seconds more, 1 to {grace} (the box referees every match)
  --pace fast|watch|step     as fast as the players (the default); so that people can follow, with a break between
                             rounds (watch); or the same, and each round waits for the owner's click (step)
  --house N                  N players of the house register too, 0 to {house} (0)
  --record FILE              write every message of league.v2, in and out, a line of JSON each, without the tokens;
                             leaguebox conform judges it
  --quiet                    print nothing of what happens, only where the box is
  -h, --help                 print this, or the help of the verb before it
  -V, --version              print the version

A value may also follow as --option=value. Of an option that is given twice the last one counts.

Example: a league of eight, four of them the house's, at a pace people can follow
  leaguebox --start-at 8 --house 4 --pace watch
",
            house = HOUSE.end(),
            grace = GRACE.end(),
            fewest = CONNECTIONS.start(),
            largest = CONNECTIONS.end(),
        ),
        Verb::Demo => format!(
            "\
Be the box and all its players, for one league, and print it. Nothing is kept.

Usage
  leaguebox demo [options]

Options, with their defaults in brackets
  --players N                how many house players, {least} to {most} (4)
  --game NAME                what is played, the first by default:
                             {games}
  --pace fast|watch|step     as fast as the players (the default); so that people can follow, with a break between
                             rounds (watch); or the same, and each round waits for a click on the page that --listen
                             opens (step)
  --listen ADDRESS:PORT      where to listen: the page then stays until Ctrl-C (the demo ends with its league)
  --admin-code CODE          what the owner authorizes with (chosen at random)

Example: something to look at on http://127.0.0.1:8000/
  leaguebox demo --players 8 --game skill-gomoku --pace watch --listen 127.0.0.1:8000
"
        ),
        Verb::Verify => format!(
            "\
Recompute the draws of a match from its seed, and so check that the box has not cheated. Needs no box.

Usage
  leaguebox verify --seed HEX [options]
  leaguebox verify --moves FILE

Options, with their defaults in brackets
  --moves FILE               a whole match, saved from /api/matches/R1M1/moves.json: is its seed the one that was
                             published, was every card dealt by it, and was every move legal?
  --seed HEX                 the 64 hex digits GAME_OVER revealed
  --commitment HEX           the 64 hex digits GAME_INVITATION published: is it the hash of the seed? (not checked)
  --choices even,odd         what PLAYER_A and PLAYER_B chose, turn by turn: who won? (only the draws are shown)
  --game NAME                what was played, the first by default:
                             {games}

Example
  curl -s http://127.0.0.1:8000/api/matches/R1M1/moves.json > match.json && leaguebox verify --moves match.json
  leaguebox verify --seed {seed} --choices even,odd
",
            seed = "0123456789abcdef".repeat(4),
        ),
        Verb::Mcp => "\
Speak MCP on standard input and output, for a program that starts its servers itself. Each line is posted to the box, and each
answer is printed on one line. Programs that speak MCP over HTTP need no bridge: the box has it at /mcp.

Usage
  leaguebox mcp --box URL

Options
  --box URL                  where the box is

Example
  leaguebox mcp --box http://leaguebox.local:8000
"
        .into(),
        Verb::Conform => "\
Judge a recording of a league of league.v2, rule by rule: whether each was kept, how often not, and the first example. It need
not be a league that LeagueBox ran. The exit code is 0 if all rules were kept, 1 if not.

Usage
  leaguebox conform FILE

FILE has a line of JSON for each message, as --record writes it: {\"at\": time, \"kind\": \"request\", \"answer\", \"call\" or \"reply\",
\"exchange\": what belongs together, \"peer\": address, \"message\": as it was said}

Example
  leaguebox --record league.jsonl --start-at 4 --house 4 --once && leaguebox conform league.jsonl
"
        .to_owned(),
        Verb::Player => "\
A player of the house in anybody's league: registers by league.v2, waits for the manager if it is not there yet, and ends
with the league.

Usage
  leaguebox player --manager URL [options]

Options, with their defaults in brackets
  --manager URL              the league manager, like http://10.0.0.5:8000/mcp
  --strategy NAME            how it plays, like Random, always-even or Markov (Random)
  --name NAME                what it is called (LeagueBox and its strategy)
  --listen ADDRESS:PORT      where it is called (a free port, at the address the manager sees)

Example
  leaguebox player --manager http://127.0.0.1:8000/mcp --strategy markov --name \"House of Markov\"
"
        .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: &[&str] = &["even_odd", "even_odd_10"];
    /// All but `--flash`, which `--no-flash` contradicts.
    const ALL: &str = "--listen 127.0.0.1:0 --game even_odd_10 --start-at 32 --once --mode strict --seed 0a0B --no-flash \
        --admin-code class-7b --join-timeout-ms 1 --move-timeout-ms 2 --retry-base-ms 3 --first-turn-timeout-ms 4 \
        --turn-timeout-ms 5 --per-address 6 --connections 8 --spare-heartbeats 9 --other-hosts --foreign-referees 4 --pace watch --house 3 --record r.jsonl --quiet";
    const ALL_OF_DEMO: &str =
        "demo --players 9 --game even_odd_10 --pace watch --listen 127.0.0.1:0 --admin-code class-7b";
    /// `--moves` stands alone.
    const ALL_OF_VERIFY: &str =
        "verify --game even_odd --seed 00 --commitment 00 --choices even,odd --moves match.json";

    fn parse(line: &str) -> Result<Command, Failure> {
        super::parse(line.split_whitespace().map(OsString::from), GAMES)
    }

    fn options(line: &str) -> Options {
        match parse(line) {
            Ok(Command::Run(options)) => options,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn refusal(line: &str) -> String {
        let failure = parse(line).unwrap_err();
        assert_eq!(failure.code, 2, "{line}");
        assert!(!failure.message.contains('\n'), "{line}");
        failure.message
    }

    #[test]
    fn no_words_are_the_documented_defaults() {
        let options = options("");
        assert_eq!(options, Options::new("even_odd"));
        assert_eq!(options.listen.to_string(), "0.0.0.0:8000");
        assert_eq!(options.mode, Mode::Lenient);
        assert_eq!(options.start_at, None);
        assert_eq!(
            [options.join_timeout, options.move_timeout, options.retry_base, options.first_turn, options.turn]
                .map(|t| t.as_millis()),
            [5000, 30000, 1000, 180_000, 90_000]
        );
    }

    #[test]
    fn every_option_of_the_box_is_understood() {
        let all = options(ALL);
        let mut seed = [0; 32];
        seed[30..].copy_from_slice(&[0x0a, 0x0b]);
        assert_eq!(
            all,
            Options {
                listen: "127.0.0.1:0".parse().unwrap(),
                game: "even_odd_10",
                start_at: Some(32),
                once: true,
                mode: Mode::Strict,
                seed: Some(seed),
                admin_code: Some("class-7b".into()),
                flash: None,
                join_timeout: Duration::from_millis(1),
                move_timeout: Duration::from_millis(2),
                retry_base: Duration::from_millis(3),
                first_turn: Duration::from_millis(4),
                turn: Duration::from_millis(5),
                per_address: Some(6),
                connections: 8,
                spare_heartbeats: Some(9),
                other_hosts: true,
                foreign_referees: Some(4),
                pace: Pace::Watch,
                house: 3,
                record: Some("r.jsonl".into()),
                quiet: true,
                given: all.given.clone(),
            }
        );
        assert_eq!(all.given.len(), 22);
    }

    #[test]
    fn a_value_may_follow_after_a_space_or_an_equals_sign() {
        assert_eq!(options("--start-at=4 --mode=strict"), options("--start-at 4 --mode strict"));
    }

    #[test]
    fn the_last_of_two_equal_options_counts() {
        assert_eq!(options("--start-at 4 --start-at 8").start_at, Some(8));
    }

    #[test]
    fn a_seed_is_a_number_and_may_be_short() {
        assert_eq!(options("--seed 7").seed, options("--seed 0007").seed);
        assert_eq!(options(&format!("--seed {}", "ff".repeat(32))).seed, Some([0xff; 32]));
    }

    #[test]
    fn the_demo_has_four_players_unless_told() {
        let plain = DemoOptions { players: 4, game: "even_odd", pace: Pace::Fast, listen: None, admin_code: None };
        assert_eq!(parse("demo"), Ok(Command::Demo(plain)));
        assert_eq!(
            parse(ALL_OF_DEMO),
            Ok(Command::Demo(DemoOptions {
                players: 9,
                game: "even_odd_10",
                pace: Pace::Watch,
                listen: Some("127.0.0.1:0".parse().unwrap()),
                admin_code: Some("class-7b".into()),
            }))
        );
    }

    #[test]
    fn verify_needs_a_seed_and_may_have_the_rest() {
        let hex = "ab".repeat(32);
        let least = VerifyOptions { game: "even_odd", seed: [0xab; 32], commitment: None, choices: vec![] };
        assert_eq!(parse(&format!("verify --seed {hex}")), Ok(Command::Verify(Verify::Draws(least.clone()))));
        assert_eq!(
            parse(&format!("verify --seed {hex} --commitment {hex} --choices even,odd")),
            Ok(Command::Verify(Verify::Draws(VerifyOptions {
                commitment: Some([0xab; 32]),
                choices: vec![Parity::Even, Parity::Odd],
                ..least
            })))
        );
        assert_eq!(
            refusal("verify"),
            "verify needs --seed, the 64 hex digits that GAME_OVER revealed, or --moves, the moves.json of a match"
        );
        assert_eq!(refusal("verify --seed ab"), "--seed wants 64 hex digits, not \"ab\"");
    }

    #[test]
    fn help_and_version_win_over_everything_else() {
        for (line, verb) in [
            ("--help", Verb::Run),
            ("-h", Verb::Run),
            ("help", Verb::Run),
            ("--players x --help", Verb::Run),
            ("demo --help", Verb::Demo),
            ("demo --players x -h", Verb::Demo),
            ("help demo", Verb::Demo),
            ("dmeo --help", Verb::Run),
            ("verify --help", Verb::Verify),
            ("mcp --help", Verb::Mcp),
        ] {
            assert_eq!(parse(line), Ok(Command::Help(verb)), "{line}");
        }
        for line in ["--version", "-V", "verify -V"] {
            assert_eq!(parse(line), Ok(Command::Version), "{line}");
        }
    }

    #[test]
    fn a_wrong_value_is_answered_with_what_is_wanted() {
        for (line, answer) in [
            ("demo --players x", r#"--players wants a number from 2 to 512, not "x""#),
            ("demo --players 1", r#"--players wants a number from 2 to 512, not "1""#),
            ("demo --players=513", r#"--players wants a number from 2 to 512, not "513""#),
            ("demo --pace slow", r#"--pace wants fast, watch or step, not "slow""#),
            ("--house 513", r#"--house wants a number from 0 to 512, not "513""#),
            ("demo --players", "--players wants a number from 2 to 512, but nothing was given"),
            ("--start-at --once", "--start-at wants a number from 2 to 512, but nothing was given"),
            ("--start-at -1", r#"--start-at wants a number from 2 to 512, not "-1""#),
            ("--listen 8000", r#"--listen wants an address and a port like 0.0.0.0:8000, not "8000""#),
            (
                "--listen 0.0.0.0:70000",
                r#"--listen wants an address and a port like 0.0.0.0:8000, not "0.0.0.0:70000""#,
            ),
            ("--game checkers", r#"--game wants one of even_odd, even_odd_10, not "checkers""#),
            ("--game=", r#"--game wants one of even_odd, even_odd_10, not """#),
            ("--mode hard", r#"--mode wants lenient or strict, not "hard""#),
            ("--seed xyz", r#"--seed wants 1 to 64 hex digits, not "xyz""#),
            ("--seed=", r#"--seed wants 1 to 64 hex digits, not """#),
            ("--seed é", r#"--seed wants 1 to 64 hex digits, not "é""#),
            ("--admin-code=", r#"--admin-code wants 1 to 64 ASCII characters without spaces, quotes, $ or \, not """#),
            (
                "--admin-code x'y",
                r#"--admin-code wants 1 to 64 ASCII characters without spaces, quotes, $ or \, not "x'y""#,
            ),
            ("--move-timeout-ms 0", r#"--move-timeout-ms wants a number from 1 to 3600000, not "0""#),
            ("--move-timeout-ms 30s", r#"--move-timeout-ms wants a number from 1 to 3600000, not "30s""#),
            ("--once=yes", "--once takes no value: write it alone"),
        ] {
            assert_eq!(refusal(line), answer, "{line}");
        }
    }

    #[test]
    fn mcp_needs_a_box() {
        assert_eq!(parse("mcp --box http://10.0.0.1"), Ok(Command::Mcp("http://10.0.0.1".into())));
        assert_eq!(refusal("mcp"), "mcp needs --box, the URL of a box like http://leaguebox.local:8000");
        let answer = r#"--box wants the URL of a box like http://leaguebox.local:8000, not "https://x""#;
        assert_eq!(refusal("mcp --box https://x"), answer);
    }

    #[test]
    fn choices_come_in_pairs() {
        let seed = "00".repeat(32);
        for choices in ["even", "even,odd,odd", "even,maybe", ","] {
            let answer = refusal(&format!("verify --seed {seed} --choices {choices}"));
            assert!(answer.starts_with("--choices wants even or odd for PLAYER_A and PLAYER_B"), "{answer}");
        }
    }

    #[test]
    fn an_unknown_word_points_to_the_help_of_its_verb() {
        assert_eq!(refusal("--sped 2"), "there is no option --sped here: see leaguebox --help");
        assert_eq!(refusal("--sped=2"), "there is no option --sped here: see leaguebox --help");
        assert_eq!(refusal("-q"), "there is no option -q here: see leaguebox --help");
        assert_eq!(refusal("demo --once"), "there is no option --once here: see leaguebox demo --help");
        assert_eq!(refusal("--once now"), "\"now\" is not an option: see leaguebox --help");
        assert_eq!(
            refusal("dmeo"),
            "there is no command \"dmeo\": it is demo, verify, player, conform, mcp or none at all; see leaguebox --help"
        );
    }

    #[test]
    #[cfg(unix)]
    fn a_word_that_is_no_text_is_refused_like_any_other() {
        use std::os::unix::ffi::OsStringExt;
        let word = || OsString::from_vec(b"\xff".to_vec());
        for words in [vec![word()], vec!["--game".into(), word()], vec!["demo".into(), word()]] {
            assert_eq!(super::parse(words, GAMES).unwrap_err().code, 2);
        }
    }

    #[test]
    fn the_last_word_on_the_flash_counts() {
        assert_eq!(options("").flash, Some("leaguebox.flash".into()));
        assert_eq!(options("--flash class.flash").flash, Some("class.flash".into()));
        assert_eq!(options("--flash class.flash --no-flash").flash, None);
        assert_eq!(options("--no-flash --flash=class.flash").flash, Some("class.flash".into()));
        assert_eq!(refusal("--flash="), "--flash wants the name of a file, not \"\"");
        assert_eq!(refusal("--flash --once"), "--flash wants the name of a file, but nothing was given");
    }

    /// The options that a help describes, each at the beginning of its line.
    fn described(verb: Verb) -> BTreeSet<String> {
        let help = help(verb, GAMES);
        let options = help.lines().filter_map(|line| line.strip_prefix("  --")?.split(' ').next().map(String::from));
        options.map(|name| format!("--{name}")).collect()
    }

    #[test]
    fn every_option_that_is_described_is_understood() {
        for (verb, word) in [(Verb::Run, ""), (Verb::Demo, "demo"), (Verb::Verify, "verify"), (Verb::Mcp, "mcp")] {
            for option in described(verb) {
                let said = parse(&format!("{word} {option}=?")).map_err(|failure| failure.message);
                assert!(!said.is_err_and(|said| said.contains("there is no option")), "{word} {option}");
            }
        }
    }

    #[test]
    fn every_option_that_is_understood_is_described() {
        assert_eq!(options(ALL).given, &described(Verb::Run) - &BTreeSet::from(["--flash".into()]));
        let understood = |line: &str| line.split(' ').filter(|word| word.starts_with("--")).map(String::from).collect();
        for (line, verb) in [(ALL_OF_DEMO, Verb::Demo), (ALL_OF_VERIFY, Verb::Verify), ("mcp --box x", Verb::Mcp)] {
            assert_eq!(described(verb), understood(line));
        }
    }

    #[test]
    fn a_help_has_the_games_the_limits_an_example_that_works_and_the_width_of_a_terminal() {
        let games = crate::games();
        for verb in [Verb::Run, Verb::Demo, Verb::Verify] {
            let help = help(verb, &games);
            let on_one_line = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                on_one_line.contains(&games.join(", ")) && (verb == Verb::Verify || help.contains("2 to 512")),
                "{help}"
            );
            assert!(help.lines().all(|line| line.len() <= 120), "{help}");
            let example = help.lines().last().unwrap().trim_start().strip_prefix("leaguebox ").unwrap();
            assert!(super::parse(example.split(' ').map(OsString::from), &games).is_ok(), "{example}");
        }
    }
}
