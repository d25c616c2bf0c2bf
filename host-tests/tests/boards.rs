//! Games on boards, judged by others. The PyPI package `chess` finds the same moves in the same notation and calls the same draws, it
//! reads every PGN the box writes, and stockfish plays the house. `sgfmill` reads every SGF and counts the same. All of them run as
//! programs of their own.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use host_tests::leaguebox::LeagueBox;
use host_tests::python::{Player, interpreter};
use host_tests::settings::Settings;
use host_tests::{here, wait_for};
use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, MoveSink, Seat, Sitter, Table, Viewer};
use protocol_core::json;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

const TABLE: Table<'static> = Table(&[Sitter { id: "A", name: "", note: "", said: "" }; 2]);

/// What everybody sees.
struct View<'a>(&'a AnyGame);

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.view(Viewer::Spectator, TABLE, &mut map)?;
        map.end()
    }
}

fn view(game: &AnyGame) -> Value {
    serde_json::to_value(View(game)).expect("a view")
}

/// The moves a seat may make.
fn listed(game: &AnyGame, seat: Seat) -> Vec<String> {
    struct All(Vec<String>);
    impl MoveSink for All {
        fn take(&mut self, legal: &str) -> ControlFlow<()> {
            let legal: Value = serde_json::from_str(legal).expect("a move");
            self.0.push(legal["move"].as_str().expect("a text").to_owned());
            ControlFlow::Continue(())
        }
    }
    let mut all = All(Vec::new());
    game.legal_moves(seat, &mut all);
    all.0
}

/// The game after a move, by all rules: `past` has how often each position was there.
fn after(game: &AnyGame, seat: Seat, made: &str, past: &HashMap<u64, u8>) -> AnyGame {
    let (mut game, text) = (game.clone(), json!({ "move": made }).to_string());
    let played = game.play(seat, json::parse(text.as_bytes()).expect("JSON"), &mut Draws::new(Seed([0; 32])));
    assert_eq!(played, Ok(()), "{made} in {}", view(&game));
    let position = game.position().expect("chess has positions").digest;
    game.comes_again(past.get(&position).map_or(1, |times| times + 1)).expect("nothing is forbidden in chess");
    game
}

/// How somebody plays who does not care.
#[derive(Clone, Copy)]
enum Way {
    /// Any move.
    Random,
    /// Back to where it was, if it can: games that repeat themselves.
    Back,
    /// Takes what it can: games in which little is left.
    Greedy,
    /// Neither takes nor moves a pawn, if it can: games in which nothing happens.
    Shy,
}

/// A match as the judge is told it.
fn played(number: u32) -> Value {
    let mut dice = Draws::new(Seed(std::array::from_fn(|at| (number >> (8 * (at % 4))) as u8)));
    let mut game = AnyGame::start(GameKind::Chess, 2, &mut dice.clone());
    let (mut plies, mut past) = (Vec::new(), HashMap::from([(game.position().expect("one").digest, 1)]));
    let way = [Way::Random, Way::Back, Way::Greedy, Way::Shy][number as usize % 4];
    while let Some(seat) = game.to_move().alone() {
        let all = listed(&game, seat);
        let is_wanted = |made: &&String| match way {
            Way::Random => true,
            Way::Back => past.contains_key(&after(&game, seat, made, &past).position().expect("one").digest),
            Way::Greedy => made.contains('x'),
            Way::Shy => !made.contains('x') && made.starts_with(|c: char| c.is_ascii_uppercase()),
        };
        let wanted: Vec<&String> = all.iter().filter(is_wanted).collect();
        // Most of the time as it likes to.
        let from = if wanted.is_empty() || dice.below(10) == 0 { all.iter().collect() } else { wanted };
        let made = from[dice.below(from.len() as u32) as usize].clone();
        let fen = view(&game)["fen"].clone();
        game = after(&game, seat, &made, &past);
        *past.entry(game.position().expect("one").digest).or_default() += 1;
        plies.push(json!([fen, all, made]));
    }
    let end = view(&game);
    json!({"plies": plies, "fen": end["fen"], "ended_by": end["ended_by"]})
}

/// Gives the judge one match after the other and hears what it says to each.
fn judge(script: &str, matches: &[Value]) -> Vec<Value> {
    let mut child = Command::new(interpreter())
        .arg(here("judges").join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python");
    let (mut ask, answers) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut answers = BufReader::new(answers).lines();
    let heard = matches.iter().map(|told| {
        writeln!(ask, "{told}").expect("the judge listens");
        let answer = answers.next().unwrap_or_else(|| panic!("the judge gives up at {told}")).expect("text");
        serde_json::from_str(&answer).expect("JSON")
    });
    let heard = heard.collect();
    drop(ask);
    assert!(child.wait().expect("a child").success());
    heard
}

/// Has matches played and judged; how many moves were listed, and how often a match ended how.
fn judged(matches: u32) -> (u64, HashMap<String, u32>) {
    let told: Vec<Value> = (0..matches).map(played).collect();
    let (mut moves, mut ends) = (0, HashMap::new());
    for (told, heard) in told.iter().zip(judge("chess_judge.py", &told)) {
        assert!(heard["wrong"].is_null(), "{}", heard["wrong"]);
        moves += heard["moves"].as_u64().expect("a number");
        *ends.entry(told["ended_by"].as_str().expect("a name").to_owned()).or_default() += 1;
    }
    println!("{matches} matches, {moves} moves: {ends:?}");
    (moves, ends)
}

const ENDS: [&str; 5] = ["checkmate", "stalemate", "threefold_repetition", "fifty_moves", "insufficient_material"];

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_package_chess_writes_a_hundred_thousand_moves_as_we_do_and_calls_the_same_draws() {
    let (moves, ends) = judged(60);
    assert!(moves > 100_000, "{moves}");
    assert!(ENDS.iter().all(|end| ends.contains_key(*end)), "{ends:?}");
}

#[test]
#[ignore = "minutes: cargo test -p host-tests --release --test boards millions -- --ignored --nocapture"]
fn the_package_chess_writes_millions_of_moves_as_we_do_and_calls_the_same_draws() {
    let (moves, ends) = judged(300);
    assert!(moves > 2_000_000 && ENDS.iter().all(|end| ends.contains_key(*end)), "{moves} {ends:?}");
}

/// The matches of a league.
fn matches(leaguebox: &LeagueBox) -> Vec<String> {
    let schedule = leaguebox.get_json("/api/schedule.json");
    let rounds = schedule["rounds"].as_array().expect("rounds").iter();
    let ids = rounds.flat_map(|round| round["matches"].as_array().expect("matches")).map(|one| &one["match_id"]);
    ids.map(|id| id.as_str().expect("an id").to_owned()).collect()
}

/// A league of the house, to its end.
fn league_of_the_house(game: &'static str) -> LeagueBox {
    let leaguebox = LeagueBox::start(Settings { game, ..Settings::default() });
    assert_eq!(leaguebox.admin_with("house", r#"{"players": 4}"#).status, 200);
    wait_for("they are in", || (leaguebox.get_json("/api/status.json")["players"] == 4).then_some(()));
    assert_eq!(leaguebox.admin("start").status, 200);
    leaguebox.wait_for_the_champion();
    leaguebox
}

/// The PGN of every match of a league that is over, as the package reads it: it must agree with the box on all of it.
fn judge_every_pgn(leaguebox: &LeagueBox) -> usize {
    let ids = matches(leaguebox);
    let pgn = |id: &String| {
        let answer = leaguebox.get(&format!("/api/matches/{id}.pgn"));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.lines().all(|line| line.len() < 80), "{}", answer.body);
        json!({ "pgn": answer.body })
    };
    let told: Vec<Value> = ids.iter().map(pgn).collect();
    for ((id, told), read) in ids.iter().zip(&told).zip(judge("chess_judge.py", &told)) {
        let ours = leaguebox.get_json(&format!("/api/matches/{id}.json"));
        assert_eq!(read["errors"], json!([]), "{told}");
        assert_eq!(
            (&read["plies"], &read["fen"]),
            (&ours["game_result"]["total_moves"], &ours["view"]["fen"]),
            "{told}"
        );
        let score = |seat: usize| ours["players"][seat]["score"].as_i64().expect("a score");
        let result = ["1-0", "1/2-1/2", "0-1"][(1 - score(0) + score(1)) as usize];
        assert_eq!((&read["headers"]["Result"], &read["headers"]["Round"]), (&json!(result), &json!(id)), "{told}");
        let names = ["White", "Black"].map(|colour| read["headers"][colour].clone());
        assert_eq!(names, [0, 1].map(|seat: usize| ours["players"][seat]["display_name"].clone()));
        let end = &ours["game_result"]["ended_by"];
        assert_eq!(&read["comment"], end);
        if end != "forfeit" {
            assert_eq!(&read["ended_by"], end, "{told}");
            // The package calls a draw by repetition or fifty moves only when somebody claims it.
            let is_claimed = end == "threefold_repetition" || end == "fifty_moves";
            assert_eq!(read["result"], if is_claimed { "*" } else { result }, "{told}");
        }
    }
    ids.len()
}

#[test]
#[cfg_attr(
    any(not(feature = "clients"), feature = "board"),
    ignore = "needs other people's clients, and a house: cargo xtask clients runs it"
)]
fn every_match_of_the_house_can_be_had_as_pgn_and_the_package_chess_agrees_with_it() {
    let leaguebox = league_of_the_house("chess");
    assert_eq!(judge_every_pgn(&leaguebox), 6);
    assert_eq!(leaguebox.get("/api/matches/R9M1.pgn").status, 404);
    assert_eq!(leaguebox.get("/api/matches/R1M1.doc").status, 404);
    assert_eq!(leaguebox.get("/api/matches/R1M1.sgf").status, 404);
    assert_eq!(leaguebox.post("/api/matches/R1M1.pgn", "").status, 405);
}

#[test]
#[cfg_attr(
    any(not(feature = "clients"), feature = "board"),
    ignore = "needs other people's clients, and a house: cargo xtask clients runs it"
)]
fn stockfish_plays_the_house_and_itself_twenty_one_times_and_no_move_is_refused() {
    let leaguebox = LeagueBox::start(Settings { game: "chess", ..Settings::default() });
    assert_eq!(leaguebox.admin_with("house", r#"{"players": 3}"#).status, 200);
    wait_for("the house is in", || (leaguebox.get_json("/api/status.json")["players"] == 3).then_some(()));
    let (bridge, url) = (here("players/uci_player.py"), leaguebox.url());
    let start = |name: &'static str| Player::script(&bridge, name, &["--box", &url, "--name", name]);
    let engines = ["Stockfish 1", "Stockfish 2", "Stockfish 3", "Stockfish 4"].map(start);
    for engine in &engines {
        wait_for("it is ready", || engine.printed().contains("ready").then_some(()));
    }
    assert_eq!(leaguebox.admin("start").status, 200);
    leaguebox.wait_for_the_champion();
    for engine in &engines {
        assert_eq!(engine.printed(), "ready\n", "{}", engine.name);
    }
    let standings = leaguebox.get_json("/api/standings.json");
    let rows = standings["standings"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["technical_losses"] == 0), "{standings}");
    let names: Vec<&str> = rows.iter().map(|row| row["display_name"].as_str().expect("a name")).collect();
    assert!(names[..4].iter().all(|name| name.starts_with("Stockfish")), "{names:?}");
    assert_eq!(judge_every_pgn(&leaguebox), 21);
}

#[test]
#[cfg_attr(
    any(not(feature = "clients"), feature = "board"),
    ignore = "needs other people's clients, and a house: cargo xtask clients runs it"
)]
fn every_match_of_go_can_be_had_as_sgf_and_sgfmill_has_the_same_board_and_counts_the_same() {
    let leaguebox = league_of_the_house("go");
    let ids = matches(&leaguebox);
    assert_eq!(ids.len(), 6);
    let told: Vec<Value> =
        ids.iter().map(|id| json!({ "sgf": leaguebox.get(&format!("/api/matches/{id}.sgf")).body })).collect();
    for ((id, told), read) in ids.iter().zip(&told).zip(judge("go_judge.py", &told)) {
        let ours = leaguebox.get_json(&format!("/api/matches/{id}.json"));
        let result = &ours["game_result"];
        assert_ne!(result["ended_by"], "forfeit", "{ours}");
        assert_eq!((&read["moves"], &read["board"]), (&result["total_moves"], &ours["view"]["board"]), "{told}");
        let lead = result["black"].as_i64().expect("points") - result["white"].as_i64().expect("points");
        assert_eq!(read["lead"].as_f64(), Some(lead as f64), "{told}");
        let said = match lead {
            0 => "0".to_owned(),
            1.. => format!("B+{lead}"),
            _ => format!("W+{}", -lead),
        };
        assert_eq!(read["result"], said, "{told}");
        let names = [0, 1].map(|seat: usize| ours["players"][seat]["display_name"].clone());
        assert_eq!(read["players"], json!(names));
    }
}
