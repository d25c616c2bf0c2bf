//! Matches of the games with cards and chips, played at random by the box's rules and then again by somebody else's: Texas
//! Hold'em by pokerkit, blackjack by a second implementation. The cards are drawn from the seed again too, by a few lines of
//! Python that follow the manual.

use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use host_tests::here;
use host_tests::python::interpreter;
use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, MoveSink, Seat, Sitter, Table, Viewer};
use protocol_core::json;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

const TABLE: Table<'static> = Table(&[Sitter { id: "A", name: "", note: "", said: "" }; 6]);

/// What a viewer sees.
struct View<'a>(&'a AnyGame, Viewer);

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.view(self.1, TABLE, &mut map)?;
        map.end()
    }
}

fn view(game: &AnyGame, viewer: Viewer) -> Value {
    serde_json::to_value(View(game, viewer)).expect("a view")
}

/// The moves a seat may make.
fn listed(game: &AnyGame, seat: Seat) -> Vec<Value> {
    struct All(Vec<Value>);
    impl MoveSink for All {
        fn take(&mut self, legal: &str) -> ControlFlow<()> {
            self.0.push(serde_json::from_str(legal).expect("a move"));
            ControlFlow::Continue(())
        }
    }
    let mut all = All(Vec::new());
    game.legal_moves(seat, &mut all);
    all.0
}

fn play(game: &mut AnyGame, seat: Seat, wanted: &Value, draws: &mut Draws) {
    let text = wanted.to_string();
    let played = game.play(seat, json::parse(text.as_bytes()).expect("JSON"), draws);
    assert_eq!(played, Ok(()), "{wanted} in {}", view(game, Viewer::Seat(seat)));
}

/// How many hands have been played.
fn hands_over(game: &AnyGame) -> usize {
    let hand = view(game, Viewer::Spectator)["hand"].as_u64().expect("a number") as usize;
    if game.to_move().is_empty() { hand } else { hand - 1 }
}

fn chips(game: &AnyGame) -> Vec<i32> {
    (0..game.seats()).map(|seat| game.score(seat)).collect()
}

/// A match at its beginning, and what its players throw dice with.
fn start(kind: GameKind, number: u32) -> (Seed, AnyGame, Draws, Draws) {
    let seed = Seed(std::array::from_fn(|at| (number >> (8 * (at % 4))) as u8));
    let mut draws = Draws::new(seed);
    let game = AnyGame::start(kind, 2 + (number % 5) as u8, &mut draws);
    (seed, game, draws, Draws::new(seed.commitment()))
}

/// Gives a judge one match after the other and hears what it says to each.
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

/// What the box asked of a seat in Hold'em.
struct Asked {
    may_fold: bool,
    to_call: u64,
    /// From the smallest raise to all of the stack.
    raise: Option<(u64, u64)>,
    big_blind: u64,
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn pokerkit_asks_the_same_and_pays_the_same_in_thousands_of_hands_of_texas_holdem() {
    const MATCHES: u32 = 400;
    let (mut told, mut asked, mut stacks, mut shared) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for number in 0..MATCHES {
        let (seed, mut game, mut draws, mut dice) = start(GameKind::TexasHoldem, number);
        // Some play for little, so that there are long matches, and some for much, so that there are side pots.
        let boldness = dice.below(4);
        let (mut moves, mut mine, mut after) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(seat) = game.to_move().alone() {
            let (seen, all) = (view(&game, Viewer::Seat(seat)), listed(&game, seat));
            let number = |name: &str| seen[name].as_u64().expect("a number");
            let raise = seen["least_raise"].as_u64().map(|least| (least, number("all_in")));
            mine.push(Asked {
                may_fold: all.contains(&json!(["fold"])),
                to_call: number("to_call"),
                raise,
                big_blind: number("big_blind"),
            });
            let (roll, all_in) = (dice.below(100), [0, 1, 3, 9][boldness as usize]);
            let calls = all.iter().find(|one| matches!(one[0].as_str(), Some("call" | "check")));
            let wanted = match raise {
                Some(_) if roll < all_in => json!(["all_in"]),
                Some((least, most)) if least < most && roll < all_in + 12 => {
                    let most =
                        if roll.is_multiple_of(4) { most - 1 } else { (most - 1).min(least + 3 * number("big_blind")) };
                    json!(["raise", dice.between(least as u32, most as u32).to_string()])
                }
                _ if roll >= 90 => all[dice.below(all.len() as u32) as usize].clone(),
                _ if roll >= 80 => all[0].clone(),
                _ => calls.expect("one may always stay in").clone(),
            };
            let hand = number("hand");
            moves.push(json!([hand, seat, wanted]));
            play(&mut game, seat, &wanted, &mut draws);
            // Several hands may be over where blinds are all that somebody has: only what is left in the end is known.
            if hands_over(&game) as u64 >= hand {
                let seen = view(&game, Viewer::Spectator);
                let players = seen["players"].as_array().expect("players").iter();
                let whole = |player: &Value| Some(player["stack"].as_u64()? + player["bet"].as_u64()?);
                let paid =
                    seen["last_hand"]["players"].as_array().expect("players").iter().filter(|one| one["won"] != 0);
                shared += usize::from(paid.count() > 1);
                after.push((hands_over(&game), players.filter_map(whole).collect::<Vec<_>>()));
            }
        }
        told.push(json!({"seed": seed.to_string(), "seats": game.seats(), "moves": moves}));
        asked.push(mine);
        stacks.push(after);
    }
    let (mut hands, mut questions, mut closed) = (0, 0, 0);
    for ((told, (mine, after)), theirs) in told.iter().zip(asked.iter().zip(&stacks)).zip(judge("holdem.py", &told)) {
        let their_stacks: Vec<Vec<u64>> = serde_json::from_value(theirs["stacks"].clone()).expect("stacks");
        for (hand, stacks) in after {
            assert_eq!(&their_stacks[hand - 1], stacks, "after hand {hand} of {told}");
        }
        assert_eq!(after.last().map(|(hand, _)| *hand), Some(their_stacks.len()), "{told}");
        let theirs = theirs["asked"].as_array().expect("what was asked");
        assert_eq!(theirs.len(), mine.len());
        for (number, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
            let place = format!("move {number} of {told}: {theirs}");
            assert_eq!(mine.may_fold, theirs["fold"], "{place}");
            assert_eq!(mine.to_call, theirs["call"], "{place}");
            match mine.raise {
                Some((least, most)) => {
                    assert_eq!(
                        (theirs["least"].as_u64(), theirs["most"].as_u64()),
                        (Some(least), Some(most)),
                        "{place}"
                    );
                }
                // pokerkit does not take the big blind for a raise: who has called it may raise a stack that is a little more.
                None if !theirs["least"].is_null() => {
                    assert!(mine.to_call < mine.big_blind, "{place}");
                    closed += 1;
                }
                None => {}
            }
            questions += 1;
        }
        hands += their_stacks.len();
    }
    println!("{hands} hands, {questions} moves, {shared} times several were paid");
    println!("{closed} times pokerkit would allow a raise that we do not");
    assert!(hands > 2_000 && shared > 100);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn a_second_implementation_of_blackjack_asks_the_same_and_pays_the_same_in_thousands_of_hands() {
    const MATCHES: u32 = 600;
    let (mut told, mut asked, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..MATCHES {
        let (seed, mut game, mut draws, mut dice) = start(GameKind::Blackjack, number);
        let (mut moves, mut mine, mut chips_after) = (Vec::new(), Vec::new(), Vec::new());
        while !game.to_move().is_empty() {
            // Bets come in any order.
            let waiting: Vec<Seat> = game.to_move().iter().collect();
            let seat = waiting[dice.below(waiting.len() as u32) as usize];
            let all = listed(&game, seat);
            let wanted = all[dice.below(all.len() as u32) as usize].clone();
            moves.push(json!([seat, wanted]));
            mine.push(Value::Array(all));
            let before = hands_over(&game);
            play(&mut game, seat, &wanted, &mut draws);
            if hands_over(&game) > before {
                chips_after.push(chips(&game));
            }
        }
        told.push(json!({"seed": seed.to_string(), "seats": game.seats(), "moves": moves}));
        asked.push(mine);
        after.push(chips_after);
    }
    let mut hands = 0;
    for ((told, (mine, after)), theirs) in told.iter().zip(asked.iter().zip(&after)).zip(judge("blackjack.py", &told)) {
        assert_eq!(Some(mine), theirs["asked"].as_array(), "{told}");
        let their_chips: Vec<Vec<i32>> = serde_json::from_value(theirs["chips"].clone()).expect("chips");
        assert_eq!(&their_chips, after, "{told}");
        hands += their_chips.len();
    }
    println!("{hands} hands");
    assert!(hands > 4_000);
}
