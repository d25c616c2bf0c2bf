//! The command line: words in, a [`Command`] out. Whatever is wrong is one line that names the flag, what it wants and
//! what it got. Nothing here prints or touches the system; which games exist is the caller's knowledge.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use std::vec::IntoIter;

use protocol_core::hall::{Pace, TIMEOUT_MS};

use crate::failure::Failure;
use crate::house::strategy::Parity;

/// How many players a league can have on this computer.
pub const PLAYERS: RangeInclusive<u16> = 2..=512;

/// How many players of the house a box can be told to seat at once.
const HOUSE: RangeInclusive<u16> = 0..=512;

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
    Verify(VerifyOptions),
    /// Print [`help`].
    Help,
    /// Print the version.
    Version,
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
    /// Whether agents may be called at another address than they registered from.
    pub other_hosts: bool,
    /// How fast a league goes on.
    pub pace: Pace,
    /// So many players of the house register when it is up.
    pub house: u16,
    /// Says nothing but where it is.
    pub quiet: bool,
    /// The flags that were given: what they choose goes before what was kept.
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
            other_hosts: false,
            pace: Pace::Fast,
            house: 0,
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

/// Reads the words after the program's name. `games` are the names this build can referee; the first is the default
/// and there must be one.
pub fn parse(words: impl IntoIterator<Item = String>, games: &[&'static str]) -> Result<Command, Failure> {
    let words: Vec<String> = words.into_iter().collect();
    let has = |long: &str, short: &str| words.iter().any(|word| word == long || word == short);
    if has("--help", "-h") {
        return Ok(Command::Help);
    }
    if has("--version", "-V") {
        return Ok(Command::Version);
    }
    let mut words = words.into_iter().peekable();
    match words.next_if(|word| !word.starts_with('-')).as_deref() {
        None => run(Flags::new(words.collect()), games),
        Some("demo") => demo(Flags::new(words.collect()), games),
        Some("verify") => verify(Flags::new(words.collect()), games),
        Some("help") => Ok(Command::Help),
        Some(other) => Err(Failure::usage(format!(
            "there is no command {other:?}: it is demo, verify or none at all; see leaguebox --help"
        ))),
    }
}

fn run(mut flags: Flags, games: &[&'static str]) -> Result<Command, Failure> {
    let mut options = Options::new(default_game(games)?);
    while let Some(flag) = flags.next_flag()? {
        options.given.insert(flag.name.clone());
        match flag.name.as_str() {
            "--listen" => options.listen = flags.parsed(flag, AN_ADDRESS)?,
            "--game" => options.game = game(flags.value(flag, &one_of(games))?, games)?,
            "--start-at" => options.start_at = Some(flags.number(flag, PLAYERS)?),
            "--once" => options.once = flag.alone()?,
            "--mode" => options.mode = mode(flags.value(flag, "lenient or strict")?)?,
            "--seed" => options.seed = Some(flags.hex(flag, 1..=64)?),
            "--admin-code" => options.admin_code = Some(admin_code(&mut flags, flag)?),
            "--no-flash" => options.flash = (!flag.alone()?).then(PathBuf::new),
            "--flash" => options.flash = Some(file(flags.value(flag, A_FILE)?)?),
            "--join-timeout-ms" => options.join_timeout = flags.millis(flag)?,
            "--move-timeout-ms" => options.move_timeout = flags.millis(flag)?,
            "--retry-base-ms" => options.retry_base = flags.millis(flag)?,
            "--first-turn-timeout-ms" => options.first_turn = flags.millis(flag)?,
            "--turn-timeout-ms" => options.turn = flags.millis(flag)?,
            "--per-address" => options.per_address = Some(flags.number(flag, 1..=*PLAYERS.end())?),
            "--other-hosts" => options.other_hosts = flag.alone()?,
            "--pace" => options.pace = pace(flags.value(flag, PACES)?)?,
            "--house" => options.house = flags.number(flag, HOUSE)?,
            "--quiet" => options.quiet = flag.alone()?,
            _ => return Err(flag.unknown()),
        }
    }
    Ok(Command::Run(options))
}

fn demo(mut flags: Flags, games: &[&'static str]) -> Result<Command, Failure> {
    let (game, pace, listen, admin_code) = (default_game(games)?, Pace::Fast, None, None);
    let mut options = DemoOptions { players: 4, game, pace, listen, admin_code };
    while let Some(flag) = flags.next_flag()? {
        match flag.name.as_str() {
            "--players" => options.players = flags.number(flag, PLAYERS)?,
            "--game" => options.game = self::game(flags.value(flag, &one_of(games))?, games)?,
            "--pace" => options.pace = self::pace(flags.value(flag, PACES)?)?,
            "--listen" => options.listen = Some(flags.parsed(flag, AN_ADDRESS)?),
            "--admin-code" => options.admin_code = Some(self::admin_code(&mut flags, flag)?),
            _ => return Err(flag.unknown()),
        }
    }
    if options.pace == Pace::Step && options.listen.is_none() {
        return Err(Failure::usage("demo --pace step waits for clicks on its page: give it --listen 127.0.0.1:8000"));
    }
    Ok(Command::Demo(options))
}

fn verify(mut flags: Flags, games: &[&'static str]) -> Result<Command, Failure> {
    let (mut chosen, mut seed, mut commitment, mut choices) = (default_game(games)?, None, None, Vec::new());
    while let Some(flag) = flags.next_flag()? {
        match flag.name.as_str() {
            "--game" => chosen = game(flags.value(flag, &one_of(games))?, games)?,
            "--seed" => seed = Some(flags.hex(flag, 64..=64)?),
            "--commitment" => commitment = Some(flags.hex(flag, 64..=64)?),
            "--choices" => choices = parities(flags.value(flag, PARITIES)?)?,
            _ => return Err(flag.unknown()),
        }
    }
    let seed = seed.ok_or_else(|| Failure::usage("verify needs --seed: the 64 hex digits that GAME_OVER revealed"))?;
    Ok(Command::Verify(VerifyOptions { game: chosen, seed, commitment, choices }))
}

/// The text of `--help`.
pub fn help(games: &[&str]) -> String {
    format!(
        "\
LeagueBox referees leagues of game-playing agents over HTTP.

leaguebox [options]          be the box until Ctrl-C
leaguebox demo [options]     be the box and its players, play one league, print it
leaguebox verify [options]   recompute the draws of a match from its seed

Options of the box
  --listen ADDRESS:PORT      where to listen (0.0.0.0:8000: every network of this computer); at port 8000 also at
                             8001, if it is free, where some agents expect the first referee
  --game NAME                what is played, the first by default:
                             {games}
  --start-at N               start by itself when N players are registered, {least} to {most}
  --once                     print the final standings and exit when the league ends
  --mode lenient|strict      report broken rules and play on (lenient), or reject them
  --seed HEX                 64 random hex digits that decide every draw (otherwise chosen at random);
                             of a short one only the end counts, after random digits that are shown
  --admin-code CODE          what the owner authorizes with (otherwise chosen at random)
  --flash FILE               the file that keeps the league over a restart ({flash} in this folder)
  --no-flash                 keep nothing over a restart
  --join-timeout-ms MS       how long a player may take to join (5000)
  --move-timeout-ms MS       how long a player may take to move (30000)
  --retry-base-ms MS         the first wait before a call is repeated; then twice, then four times that (1000)
  --first-turn-timeout-ms MS a League of Agents player's first move of a game (180000)
  --turn-timeout-ms MS       and every later one (90000)
  --per-address N            players from one address, 1 to {most} (three quarters of the seats)
  --other-hosts              call agents also at other addresses than they register from
  --pace fast|watch|step     as fast as the players (fast); so that people can follow, with a break between rounds
                             (watch); or the same, and each round waits for the owner's click (step)
  --house N                  N players of the house register too
  --quiet                    print nothing of what happens, only where the box is

Options of demo
  --players N                how many house players, {least} to {most} (4)
  --game NAME                as above
  --pace fast|watch|step     as above; step needs --listen
  --listen ADDRESS:PORT      where to listen: then the page stays until Ctrl-C (otherwise the demo ends with its league)
  --admin-code CODE          as above

Options of verify
  --game NAME                as above
  --seed HEX                 the 64 hex digits GAME_OVER revealed
  --commitment HEX           the 64 hex digits GAME_INVITATION published: is it the hash of the seed?
  --choices even,odd         what PLAYER_A and PLAYER_B chose, turn by turn: who won?

-h, --help and -V, --version work everywhere. A value may also follow as --flag=value.
",
        games = games.join(", "),
        least = PLAYERS.start(),
        most = PLAYERS.end(),
        flash = FLASH,
    )
}

fn default_game(games: &[&'static str]) -> Result<&'static str, Failure> {
    games.first().copied().ok_or_else(|| Failure::work("this build of LeagueBox has no game"))
}

fn one_of(games: &[&str]) -> String {
    format!("one of {}", games.join(", "))
}

fn game(value: Value, games: &[&'static str]) -> Result<&'static str, Failure> {
    games.iter().copied().find(|&game| game == value.text).ok_or_else(|| value.refused(&one_of(games)))
}

fn mode(value: Value) -> Result<Mode, Failure> {
    match value.text.as_str() {
        "lenient" => Ok(Mode::Lenient),
        "strict" => Ok(Mode::Strict),
        _ => Err(value.refused("lenient or strict")),
    }
}

const AN_ADDRESS: &str = "an address and a port like 0.0.0.0:8000";

const PACES: &str = "fast, watch or step";

fn pace(value: Value) -> Result<Pace, Failure> {
    Pace::ALL.into_iter().find(|pace| pace.name() == value.text).ok_or_else(|| value.refused(PACES))
}

const A_FILE: &str = "the name of a file";

fn file(value: Value) -> Result<PathBuf, Failure> {
    if value.text.is_empty() { Err(value.refused(A_FILE)) } else { Ok(value.text.into()) }
}

/// Whatever can stand in a header, and in the quotes of the shell command the start-up text prints.
fn admin_code(flags: &mut Flags, flag: Flag) -> Result<String, Failure> {
    const WANTS: &str = "1 to 64 ASCII characters without spaces, quotes, $ or \\";
    let value = flags.value(flag, WANTS)?;
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"'\"`$\\".contains(&byte);
    if (1..=64).contains(&value.text.len()) && value.text.bytes().all(plain) {
        Ok(value.text)
    } else {
        Err(value.refused(WANTS))
    }
}

const PARITIES: &str = "even or odd for PLAYER_A and PLAYER_B of each turn, like even,odd";

fn parities(value: Value) -> Result<Vec<Parity>, Failure> {
    let words: Option<Vec<Parity>> = value.text.split(',').map(Parity::from_name).collect();
    words.filter(|choices| choices.len().is_multiple_of(2)).ok_or_else(|| value.refused(PARITIES))
}

/// The words that are left, read flag by flag.
struct Flags {
    words: IntoIter<String>,
}

/// One flag, with its value when that came after a `=`.
struct Flag {
    name: String,
    inline: Option<String>,
}

/// A value and the flag it belongs to, for the message if it is refused.
struct Value {
    flag: String,
    text: String,
}

impl Flags {
    fn new(words: Vec<String>) -> Self {
        Self { words: words.into_iter() }
    }

    fn next_flag(&mut self) -> Result<Option<Flag>, Failure> {
        let Some(word) = self.words.next() else { return Ok(None) };
        if !word.starts_with('-') {
            return Err(Failure::usage(format!("{word:?} is not a flag: see leaguebox --help")));
        }
        Ok(Some(match word.split_once('=') {
            Some((name, value)) => Flag { name: name.into(), inline: Some(value.into()) },
            None => Flag { name: word, inline: None },
        }))
    }

    /// The flag's value. The next flag is never taken for one: it shows that the value was forgotten.
    fn value(&mut self, flag: Flag, wants: &str) -> Result<Value, Failure> {
        let mut next = || self.words.next().filter(|word| !word.starts_with("--"));
        match flag.inline.or_else(&mut next) {
            Some(text) => Ok(Value { flag: flag.name, text }),
            None => Err(Failure::usage(format!("{} wants {wants}, but nothing was given", flag.name))),
        }
    }

    fn parsed<T: FromStr>(&mut self, flag: Flag, wants: &str) -> Result<T, Failure> {
        let value = self.value(flag, wants)?;
        value.text.parse().map_err(|_| value.refused(wants))
    }

    fn number<N: FromStr + PartialOrd + ToString>(
        &mut self,
        flag: Flag,
        range: RangeInclusive<N>,
    ) -> Result<N, Failure> {
        let wants = format!("a number from {} to {}", range.start().to_string(), range.end().to_string());
        let value = self.value(flag, &wants)?;
        value.text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| value.refused(&wants))
    }

    fn millis(&mut self, flag: Flag) -> Result<Duration, Failure> {
        Ok(Duration::from_millis(self.number(flag, TIMEOUT_MS)?))
    }

    /// Hex digits as a big-endian number, so that `--seed 7` is a seed too.
    fn hex(&mut self, flag: Flag, digits: RangeInclusive<usize>) -> Result<[u8; 32], Failure> {
        let wants = match (digits.start(), digits.end()) {
            (least, most) if least == most => format!("{most} hex digits"),
            (least, most) => format!("{least} to {most} hex digits"),
        };
        let value = self.value(flag, &wants)?;
        if !digits.contains(&value.text.chars().count()) {
            return Err(value.refused(&wants));
        }
        let mut bytes = [0; 32];
        for (place, digit) in value.text.chars().rev().enumerate() {
            let nibble = digit.to_digit(16).ok_or_else(|| value.refused(&wants))? as u8;
            bytes[31 - place / 2] |= nibble << (4 * (place % 2));
        }
        Ok(bytes)
    }
}

impl Flag {
    /// True for a flag that stands alone.
    fn alone(self) -> Result<bool, Failure> {
        match self.inline {
            None => Ok(true),
            Some(_) => Err(Failure::usage(format!("{} takes no value: write it alone", self.name))),
        }
    }

    fn unknown(self) -> Failure {
        Failure::usage(format!("there is no flag {} here: see leaguebox --help", self.name))
    }
}

impl Value {
    fn refused(&self, wants: &str) -> Failure {
        Failure::usage(format!("{} wants {wants}, not {:?}", self.flag, self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: &[&str] = &["even_odd", "even_odd_10"];

    #[test]
    fn the_help_of_this_very_build_fits_a_terminal() {
        assert!(help(&crate::games()).lines().all(|line| line.len() <= 120));
    }

    fn parse(line: &str) -> Result<Command, Failure> {
        super::parse(line.split_whitespace().map(String::from), GAMES)
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
    fn every_flag_of_the_box_is_understood() {
        let all = options(
            "--listen 127.0.0.1:0 --game even_odd_10 --start-at 32 --once --mode strict --seed 0a0B --no-flash \
             --admin-code class-7b --join-timeout-ms 1 --move-timeout-ms 2 --retry-base-ms 3 \
             --first-turn-timeout-ms 4 --turn-timeout-ms 5 --per-address 6 --other-hosts --pace watch --house 3 --quiet",
        );
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
                other_hosts: true,
                pace: Pace::Watch,
                house: 3,
                quiet: true,
                given: all.given.clone(),
            }
        );
        assert_eq!(all.given.len(), 18);
    }

    #[test]
    fn a_value_may_follow_after_a_space_or_an_equals_sign() {
        assert_eq!(options("--start-at=4 --mode=strict"), options("--start-at 4 --mode strict"));
    }

    #[test]
    fn the_last_of_two_equal_flags_counts() {
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
            parse("demo --players 9 --game=even_odd_10 --pace watch --listen 127.0.0.1:0 --admin-code class-7b"),
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
        assert_eq!(parse(&format!("verify --seed {hex}")), Ok(Command::Verify(least.clone())));
        assert_eq!(
            parse(&format!("verify --seed {hex} --commitment {hex} --choices even,odd")),
            Ok(Command::Verify(VerifyOptions {
                commitment: Some([0xab; 32]),
                choices: vec![Parity::Even, Parity::Odd],
                ..least
            }))
        );
        assert_eq!(refusal("verify"), "verify needs --seed: the 64 hex digits that GAME_OVER revealed");
        assert_eq!(refusal("verify --seed ab"), "--seed wants 64 hex digits, not \"ab\"");
    }

    #[test]
    fn help_and_version_win_over_everything_else() {
        for line in ["--help", "-h", "help", "demo --help", "--players x --help"] {
            assert_eq!(parse(line), Ok(Command::Help), "{line}");
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
            ("--game chess", r#"--game wants one of even_odd, even_odd_10, not "chess""#),
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
    fn choices_come_in_pairs() {
        let seed = "00".repeat(32);
        for choices in ["even", "even,odd,odd", "even,maybe", ","] {
            let answer = refusal(&format!("verify --seed {seed} --choices {choices}"));
            assert!(answer.starts_with("--choices wants even or odd for PLAYER_A and PLAYER_B"), "{answer}");
        }
    }

    #[test]
    fn an_unknown_word_points_to_the_help() {
        assert_eq!(refusal("--sped 2"), "there is no flag --sped here: see leaguebox --help");
        assert_eq!(refusal("demo --once"), "there is no flag --once here: see leaguebox --help");
        assert_eq!(refusal("--once now"), "\"now\" is not a flag: see leaguebox --help");
        assert_eq!(
            refusal("dmeo"),
            "there is no command \"dmeo\": it is demo, verify or none at all; see leaguebox --help"
        );
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

    #[test]
    fn the_help_names_every_flag_and_game_within_the_width_of_a_terminal() {
        let help = help(GAMES);
        for word in [
            "--listen",
            "--game",
            "--start-at",
            "--once",
            "--mode",
            "--seed",
            "--admin-code",
            "--flash",
            "--no-flash",
            "--join-timeout-ms",
            "--move-timeout-ms",
            "--retry-base-ms",
            "--first-turn-timeout-ms",
            "--turn-timeout-ms",
            "--per-address",
            "--other-hosts",
            "--players",
            "--pace",
            "--house",
            "--quiet",
            "--commitment",
            "--choices",
            "even_odd_10",
            "demo",
            "verify",
            "2 to 512",
        ] {
            assert!(help.contains(word), "{word}");
        }
        assert!(help.lines().all(|line| line.len() <= 120));
    }
}
