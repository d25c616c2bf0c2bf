//! What agents read is true: every message has the fields the box sends, every path is there, and the players that are printed
//! play.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use host_tests::crowd::Crowd;
use host_tests::free_port;
use host_tests::leaguebox::LeagueBox;
use host_tests::results;
use host_tests::settings::Settings;
use host_tests::wait_for;
use serde_json::Value;

/// The manual of league.v2.
fn manual(leaguebox: &LeagueBox) -> String {
    leaguebox.get("/skill.md").body
}

/// The fenced blocks of one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next()).map(str::to_owned).collect()
}

/// The one that has this in it.
fn block(page: &str, language: &str, with: &str) -> String {
    let found = blocks(page, language).into_iter().find(|block| block.contains(with));
    found.unwrap_or_else(|| panic!("no {language} with {with}"))
}

/// A program from a page, saved as the page says. It ends with its test.
struct Player {
    directory: PathBuf,
    child: Child,
}

impl Player {
    fn start(interpreter: &str, file: &str, code: &str, arguments: &[&str]) -> Player {
        let directory = std::env::temp_dir().join(format!("leaguebox-manual-{}-{}", std::process::id(), free_port()));
        fs::create_dir(&directory).expect("a directory");
        fs::write(directory.join(file), code).expect("the player is saved");
        let printed = File::create(directory.join("printed")).expect("a file");
        let mut command = Command::new(interpreter);
        command.current_dir(&directory).arg(file).args(arguments).stdin(Stdio::null()).stdout(printed);
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Player { directory, child }
    }

    fn python(leaguebox: &LeagueBox, page: &str, name: &str) -> Player {
        let code = block(page, "python", "serve_forever");
        Player::start("python3", "player.py", &code, &[&leaguebox.url(), &free_port().to_string(), name])
    }

    fn shell(leaguebox: &LeagueBox, page: &str, name: &str) -> Player {
        Player::start("bash", "player.sh", &block(page, "sh", "/dev/tcp"), &[&leaguebox.address.to_string(), name])
    }

    fn printed(&self) -> String {
        fs::read_to_string(self.directory.join("printed")).unwrap_or_default()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The players of a page, one for each protocol by turns, play a league of the game in strict mode.
fn the_players_of_the_page_play(game: &'static str, seats: usize) {
    let leaguebox = LeagueBox::start(Settings { game, mode: "strict", ..Settings::start_at(seats) });
    // Nobody is here to vote.
    assert_eq!(leaguebox.admin_with("settings", r#"{"vote_seconds":5}"#).status, 200);
    let page = leaguebox.get(&format!("/skill/{game}.md"));
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/markdown")), "{page:?}");
    let players: Vec<Player> = (1..=seats)
        .map(|seat| match seat % 2 {
            // A shell tries moves until one is allowed: in chess that takes minutes.
            n if n == 0 || game == "chess" => Player::python(&leaguebox, &page.body, &format!("Python {seat}")),
            _ => Player::shell(&leaguebox, &page.body, &format!("Shell {seat}")),
        })
        .collect();
    leaguebox.wait_for_the_champion();
    let printed: Vec<String> = players.iter().map(Player::printed).collect();
    for row in results::parse(&leaguebox.get("/api/results.csv").body) {
        assert_ne!(row.get("status"), "TECHNICAL_LOSS", "{row:?} {printed:?}");
    }
    for player in leaguebox.get_json("/api/players.json")["players"].as_array().expect("players") {
        let id = player["player_id"].as_str().expect("an id");
        let report = leaguebox.get_json(&format!("/api/players/{id}.json"));
        let broken = report["compliance"].as_array().expect("a report").iter().map(|line| line["rule"].as_str());
        // The shell tries moves until one is allowed.
        let kept = |rule: &Option<&str>| !matches!(rule, Some("illegal_move"));
        assert_eq!(broken.filter(kept).collect::<Vec<_>>(), [], "{report}");
    }
}

macro_rules! every_game {
    ($($name:ident: $game:literal of $seats:literal),+ $(,)?) => {
        $(#[test]
        #[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
        #[cfg_attr(
            all(feature = "clients", feature = "board"),
            ignore = "the same pages and players as on a computer, and minutes of moves"
        )]
        fn $name() {
            the_players_of_the_page_play($game, $seats);
        })+

        /// None is left out.
        const GAMES: &[&str] = &[$($game),+];
    };
}

every_game! {
    the_players_on_the_page_of_even_odd_play_it: "even_odd" of 2,
    the_players_on_the_page_of_even_odd_10_play_it: "even_odd_10" of 2,
    the_players_on_the_page_of_echo_play_it: "echo" of 2,
    the_players_on_the_page_of_blotto_play_it: "blotto" of 2,
    the_players_on_the_page_of_skill_gomoku_play_it: "skill-gomoku" of 2,
    the_players_on_the_page_of_resource_rush_play_it: "resource-rush" of 2,
    the_players_on_the_page_of_dance_battle_play_it: "dance-battle" of 4,
    the_players_on_the_page_of_landlord_play_it: "landlord" of 3,
    the_players_on_the_page_of_rockpaper_play_it: "rockpaper" of 2,
    the_players_on_the_page_of_blackjack_play_it: "blackjack" of 2,
    the_players_on_the_page_of_texasholdem_play_it: "texasholdem" of 2,
    the_players_on_the_page_of_chess_play_it: "chess" of 2,
    the_players_on_the_page_of_go_play_it: "go" of 2,
    the_players_on_the_page_of_regular_debate_play_it: "regular_debate" of 2,
    the_players_on_the_page_of_spicy_debate_play_it: "spicy_debate" of 2,
    the_players_on_the_page_of_trade_deal_play_it: "trade_deal" of 2,
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn two_players_in_shell_meet_in_the_queue_and_one_without_a_free_name_is_told_so() {
    let leaguebox = LeagueBox::start(Settings::default());
    let page = leaguebox.get("/skill/echo.md").body;
    let start = |name| Player::shell(&leaguebox, &page, name);
    let players = ["Ada", "Bob"].map(start);
    for player in &players {
        wait_for("the end of the game", || player.printed().contains("game_over").then_some(()));
        assert!(!player.printed().contains("Invalid move."), "{}", player.printed());
    }
    let third = start("Ada");
    wait_for("a refusal", || third.printed().contains("The box says no").then_some(()));
    assert!(third.printed().contains("already taken"), "{}", third.printed());
}

#[test]
fn every_game_has_a_page_that_everything_else_points_to() {
    let leaguebox = LeagueBox::start(Settings::default());
    let card = leaguebox.get_json("/.well-known/agent.json");
    let games: Vec<&Value> = card["games"].as_array().expect("games").iter().collect();
    assert_eq!(games.iter().map(|game| game["name"].as_str().expect("a name")).collect::<Vec<_>>(), GAMES);
    let manuals = ["/skill.md", "/api/v1/skill.md"].map(|path| leaguebox.get(path).body);
    for game in games {
        let path = game["page"].as_str().expect("a path");
        let page = leaguebox.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert!(page.body.starts_with(&format!("# {}\n", game["name"].as_str().expect("a name"))), "{path}");
        assert!(manuals.iter().all(|manual| manual.contains(&format!("({path})"))), "{path}");
    }
}

#[test]
fn manuals_name_the_address_they_were_asked_under_if_it_is_the_boxs_own() {
    let leaguebox = LeagueBox::start(Settings::default());
    let read = |path: &str, host: &str| {
        let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n");
        host_tests::http::exchange(leaguebox.address, &[request.as_bytes()]).expect("an answer")
    };
    for path in ["/skill.md", "/skill/echo.md", "/api/v1/skill.md", "/api/v1/doc"] {
        let usual = read(path, "evil.example:8000");
        assert!(usual.body.contains("leaguebox.local:8000") && !usual.body.contains("evil.example"), "{path}");
        for (host, said) in
            [("10.1.2.3:8765", "10.1.2.3:8765"), ("leaguebox.local", "leaguebox.local:80"), ("[::1]:9", "[::1]:9")]
        {
            let page = read(path, host);
            assert_eq!(page.body.replace(said, "leaguebox.local:8000"), usual.body, "{path} at {host}");
            let length = page.body.len().to_string();
            assert_eq!(page.header("content-length"), Some(length.as_str()), "{path} at {host}");
        }
    }
}

#[test]
fn every_json_example_parses() {
    let leaguebox = LeagueBox::start(Settings::default());
    let card = leaguebox.get_json("/.well-known/agent.json");
    assert_eq!((&card["name"], &card["protocol"]), (&"LeagueBox".into(), &"league.v2".into()));
    let games = card["games"].as_array().expect("games").iter().map(|game| game["page"].as_str().expect("a path"));
    for path in games.chain(["/skill.md"]) {
        let examples = blocks(&leaguebox.get(path).body, "json");
        assert!(examples.len() > 20, "only {} examples on {path}", examples.len());
        for example in examples {
            serde_json::from_str::<Value>(&example).unwrap_or_else(|error| panic!("{path}: {error}: {example}"));
        }
    }
}

#[test]
fn the_manual_shows_every_message_with_the_fields_the_box_really_sends() {
    let mut seen = BTreeSet::new();
    for game in ["even_odd", "even_odd_10"] {
        let leaguebox = LeagueBox::start(Settings { game, ..Settings::start_at(2) });
        let examples = blocks(&manual(&leaguebox), "json");
        let examples: Vec<Value> = examples.iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
        let crowd = Crowd::of(&leaguebox, 2);
        crowd.wait_for_the_end();
        for event in crowd.events() {
            let kind = event.message["message_type"].as_str().expect("a type").to_owned();
            // An example shows a message of one game; what the game itself puts into it differs.
            let example = examples.iter().map(|example| &example["params"]).find(|shown| shown["message_type"] == kind);
            let example = example.unwrap_or_else(|| panic!("the manual does not show {kind}"));
            assert_eq!(fields(example), fields(&event.message), "{kind}");
            seen.insert(kind);
        }
    }
    assert_eq!(seen.len(), 9, "all but GAME_ERROR: {seen:?}");
}

#[test]
fn the_manual_shows_the_ping_of_is_everybody_ready_as_it_is_sent() {
    let leaguebox = LeagueBox::start(Settings::default());
    let example: Value = serde_json::from_str(&block(&manual(&leaguebox), "json", "\"PING\"")).expect("JSON");
    let crowd = Crowd::of(&leaguebox, 1);
    assert_eq!(leaguebox.admin_with("check", r#"{"player_id":"P01"}"#).status, 200);
    let heard = wait_for("the ping", || crowd.events().into_iter().find(|event| event.is("PING")));
    assert_eq!(fields(&example["params"]), fields(&heard.message));
    assert_eq!(example["method"], "ping");
}

#[test]
fn every_path_the_manual_and_the_card_name_exists() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let crowd = Crowd::of(&leaguebox, 2);
    crowd.wait_for_the_end();
    let manual = manual(&leaguebox);
    let (begins, url) = (format!("curl -s {}/", leaguebox.url()), leaguebox.url());
    let named = manual.lines().filter(|line| line.starts_with(&begins));
    let named = named.filter_map(|line| line.split_whitespace().nth(2)?.strip_prefix(url.as_str()));
    let mut paths: BTreeSet<String> = named.map(str::to_owned).collect();
    let card = leaguebox.get_json("/.well-known/agent.json");
    for path in card["endpoints"].as_object().expect("endpoints").values() {
        paths.insert(path.as_str().expect("a path").to_owned());
    }
    assert!(paths.len() > 10, "{paths:?}");
    for path in paths {
        let wanted = match path.as_str() {
            "/mcp" | "/register" | "/api/v1/agents" | "/moltgame/api/v1/agents/register" => 405,
            "/ws" | "/api/v1/ws" => 426,
            _ => 200,
        };
        assert_eq!(leaguebox.get(&path).status, wanted, "GET {path}");
    }
}

/// The tables of `docs/http.md` name a path in backticks, most with its method.
#[test]
fn every_path_of_the_documentation_is_there() {
    let leaguebox = LeagueBox::start(Settings::default());
    let document = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/http.md")).expect("the document");
    let cells = document.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let named = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let paths = named.map(|name| name.trim_start_matches("GET ").trim_start_matches("POST "));
    let paths: Vec<&str> = paths.filter(|path| path.starts_with('/') && !path.ends_with('…')).collect();
    assert!(paths.len() > 25, "{paths:?}");
    for path in paths {
        // There is no match and no player, but there is a place for them.
        assert!(!leaguebox.get(path).body.contains("no such path"), "{path}");
    }
}

#[test]
fn the_curl_examples_of_the_manual_are_understood() {
    let leaguebox = LeagueBox::start(Settings::default());
    let manual = manual(&leaguebox);
    let bodies = manual.lines().filter(|line| line.starts_with("curl ")).filter_map(|line| line.split(" -d '").nth(1));
    let bodies: Vec<&str> = bodies.map(|body| body.trim_end_matches('\'')).collect();
    assert_eq!(bodies.len(), 2);
    // The reader's address is its own.
    let registration = bodies[0].replace("192.168.1.24", &leaguebox.home().to_string());
    let registered = leaguebox.post("/mcp", &registration).json();
    assert_eq!(registered["result"]["status"], "ACCEPTED", "{registered}");
    let token = registered["result"]["auth_token"].as_str().expect("a token");
    let answer = leaguebox.post("/mcp", &bodies[1].replace("YOUR TOKEN", token)).json();
    assert_eq!(answer["result"]["status"], "SUCCESS", "{answer}");
    let player = leaguebox.get_json("/api/players/P01.json");
    assert_eq!(player["compliance"], Value::Array(Vec::new()), "the manual keeps every rule it teaches");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_manuals_player_plays_both_games_and_breaks_no_rule_even_in_strict_mode() {
    for game in ["even_odd", "even_odd_10"] {
        let leaguebox = LeagueBox::start(Settings { game, mode: "strict", ..Settings::start_at(2) });
        let manual = manual(&leaguebox);
        let _players = ["Ada", "שחקנית 🎲"].map(|name| Player::python(&leaguebox, &manual, name));
        leaguebox.wait_for_the_champion();
        let played = leaguebox.get_json("/api/matches/R1M1.json");
        assert_ne!(played["result"], "TECHNICAL_LOSS", "{played}");
        for id in ["P01", "P02"] {
            let report = leaguebox.get_json(&format!("/api/players/{id}.json"));
            let broken: Vec<_> =
                report["compliance"].as_array().expect("a report").iter().map(|line| &line["rule"]).collect();
            assert!(broken.is_empty(), "{report}");
        }
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_manuals_player_that_dials_in_plays_as_it_is_printed_and_breaks_no_rule() {
    let leaguebox = LeagueBox::start(Settings { mode: "strict", ..Settings::start_at(2) });
    let code = block(&manual(&leaguebox), "python", "websockets");
    let python = host_tests::python::interpreter();
    let python = python.to_str().expect("a path");
    let address = leaguebox.address.to_string();
    let players = ["Ada", "Grace"].map(|name| Player::start(python, "dial_in.py", &code, &[&address, name]));
    leaguebox.wait_for_the_champion();
    for (id, player) in ["P01", "P02"].into_iter().zip(&players) {
        wait_for("a result is told", || player.printed().contains("R1M1").then_some(()));
        let report = leaguebox.get_json(&format!("/api/players/{id}.json"));
        assert_eq!(report["compliance"], Value::Array(Vec::new()), "{report}");
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_manuals_few_lines_recompute_every_draw() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let crowd = Crowd::of(&leaguebox, 4);
    crowd.wait_for_the_end();
    let snippet = block(&manual(&leaguebox), "python", "def draws");
    for round in 1..=3 {
        let played = leaguebox.get_json(&format!("/api/matches/R{round}M1.json"));
        let seed = played["match_seed"].as_str().expect("a seed");
        let print =
            format!("s = bytes.fromhex('{seed}')\nprint(hashlib.sha256(s).hexdigest(), 1 + next(draws(s, 10)))");
        let output =
            Command::new("python3").args(["-c", &format!("{snippet}\n{print}")]).output().expect("python3 starts");
        let (commitment, number) = (&played["seed_commitment"], &played["game_result"]["drawn_number"]);
        let wanted = format!("{} {number}", commitment.as_str().expect("a commitment"));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), wanted, "{output:?}");
    }
}

/// The names of a message's fields, and those inside its `context`, in which every game is the same.
fn fields(message: &Value) -> BTreeSet<String> {
    let names = |value: &Value| value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default();
    let mut all: BTreeSet<String> = names(message);
    all.extend(names(&message["context"]).into_iter().map(|name: String| format!("context.{name}")));
    all
}
