extern crate std;
use std::format;
use std::string::String;

use super::board::Points;
use super::*;
use crate::games::testing::{AGENTS, last_move, moves_of, play, said, view};

fn attempt(game: &mut Go, text: &str) -> Result<(), Illegal> {
    play(game, game.mover(), &format!(r#"{{"move":"{text}"}}"#), &mut Draws::new(Seed([0; 32])))
}

/// A game after moves.
fn after(moves: &str) -> Go {
    let mut game = Go::start(2, &mut Draws::new(Seed([0; 32])));
    for made in moves.split_whitespace() {
        assert_eq!(attempt(&mut game, made), Ok(()), "{made}");
    }
    game
}

fn point(name: &str) -> Point {
    Point::read(name).unwrap()
}

#[test]
fn points_are_named_from_the_bottom_left_without_an_i_in_any_case() {
    for (name, number) in [("A1", 0), ("J1", 8), ("a2", 9), ("H9", 79), ("j9", 80)] {
        assert_eq!(point(name).number(), number);
        assert_eq!(format!("{}", point(name)), name.to_uppercase());
    }
    for name in ["I5", "A0", "K1", "A10", "5E", "", "é"] {
        assert_eq!(Point::read(name), None, "{name}");
    }
    assert_eq!(
        Point::all().map(|at| Points::only(at).beside().len()).map(usize::from).sum::<usize>(),
        288,
        "edges count twice"
    );
}

#[test]
fn a_group_without_a_liberty_is_taken_and_counted() {
    let game = after("E5 D5 pass E6 pass F5 pass E4");
    assert_eq!((game.stones.at(point("E5")), game.taken), (None, [0, 1]));
    let corner = after("A1 A2 pass B1");
    assert_eq!((corner.stones.at(point("A1")), corner.taken), (None, [0, 1]));
    // Two groups at once.
    let game = after("A1 A2 C1 B2 pass C2 pass D1 pass B1");
    assert_eq!(game.taken, [0, 2]);
}

#[test]
fn suicide_is_refused_and_taking_is_none() {
    let mut game = after("A2 pass B1");
    assert!(attempt(&mut game, "A1").unwrap_err().0.contains("suicide"));
    assert!(!moves_of(&game, 1, 100).contains(&String::from(r#"{"move":"A1"}"#)));
    // The same point where it takes a stone.
    let mut game = after("A2 A3 B1 B2 pass C1 pass");
    assert_eq!(attempt(&mut game, "A1"), Ok(()));
    assert_eq!(game.taken, [0, 2]);
}

#[test]
fn a_ko_may_not_be_taken_back_at_once_and_after_a_pass_neither() {
    // White takes at E5, and Black may not take back at D5.
    let mut game = after("D6 E6 C5 F5 D4 E4 E5 D5");
    assert_eq!(game.taken, [0, 1]);
    let before = after("D6 E6 C5 F5 D4 E4 E5").position().unwrap().digest;
    assert_eq!(attempt(&mut game, "E5"), Ok(()));
    assert_eq!(game.position().unwrap().digest, before);
    assert_eq!(game.comes_again(2), Err(Illegal(SUPERKO)));
    // A pass changes nothing on the board, and is always possible.
    let mut passed = after("E5 pass");
    assert_eq!(passed.comes_again(2), Ok(()));
}

#[test]
fn two_passes_end_it_and_the_area_counts_with_komi() {
    let game = after("pass pass");
    assert_eq!(game.end, Some(End { cause: Cause::Passes, points: [0, 7] }));
    assert_eq!(game.standing().unwrap().winner(), Some(1));
    // A wall in the middle: both halves count for who borders them.
    let moves = "D1 F1 D2 F2 D3 F3 D4 F4 D5 F5 D6 F6 D7 F7 D8 F8 D9 F9 pass pass";
    let game = after(moves);
    assert_eq!(game.points(), [36, 36 + 7], "the column between them is nobody's");
    assert_eq!(said(|f| game.reason(AGENTS, f)), "AgentAlpha has 36 points, AgentBeta 43");
    assert_eq!(said(|f| game.export(f)), "20,two_passes,36,43");
    // A lead of exactly seven is a draw.
    let draw = Go { stones: Stones::NONE, end: Some(End { cause: Cause::Passes, points: [44, 44] }), ..game };
    assert_eq!(draw.standing().unwrap().winner(), None);
}

#[test]
fn after_250_moves_it_is_counted_as_it_stands_and_who_gives_up_loses_whatever_the_points() {
    let mut game = Go { moves: MOVES - 1, ..after("E5 pass") };
    assert_eq!(attempt(&mut game, "D4"), Ok(()));
    assert_eq!(game.end.map(|end| end.cause), Some(Cause::Limit));
    let mut game = after("E5");
    assert_eq!(game.points(), [81, 7]);
    game.forfeit(Seats::only(0), &mut Draws::new(Seed([0; 32])));
    assert_eq!(game.standing().unwrap().winner(), Some(1));
}

#[test]
fn a_pass_is_what_is_played_for_who_is_silent() {
    assert_eq!(moves_of(&after("E5"), 1, 1), [r#"{"move":"pass"}"#]);
    assert_eq!(moves_of(&after(""), 0, 100).len(), 82);
}

#[test]
fn a_player_sees_the_board_from_the_ninth_row_down_and_what_was_taken() {
    let game = after("A1 A2 J9 B1");
    let seen = view(&game, Viewer::Seat(0), AGENTS);
    assert_eq!((&seen["board"][0][8], &seen["board"][8][1], &seen["board"][8][0]), (&1.into(), &2.into(), &0.into()));
    assert_eq!(seen["captures"], serde_json::json!({"black": 0, "white": 1}));
    assert_eq!(seen["last_move"], serde_json::json!({"player": "uuid-2", "move": "B1"}));
    assert_eq!(last_move(&game, 1), serde_json::json!({"move": "B1"}));
    assert!(seen["legal_moves"].is_array() && view(&game, Viewer::Seat(1), AGENTS)["legal_moves"].is_null());
}

#[test]
fn a_match_is_written_down_as_sgf() {
    let table = Table(&[
        crate::games::Sitter { id: "P01", name: "A [b] \\", note: "", said: "" },
        crate::games::Sitter { id: "P02", name: "", note: "", said: "" },
    ]);
    let end = after("A9 J1 pass pass");
    let so_far = ["A9", "A9 J1", "A9 J1 pass", "A9 J1 pass pass"].map(after);
    let moves = (1..).zip(&so_far).map(|(number, game)| (game, Part::Move(number)));
    let all = [(&end, Part::Head("R1M1"))].into_iter().chain(moves).chain([(&end, Part::End)]);
    let text: String = all.map(|(game, part)| said(|f| game.write_down(part, table, f))).collect();
    assert_eq!(
        text,
        "(;GM[1]FF[4]CA[UTF-8]AP[LeagueBox]SZ[9]KM[7]RU[Chinese]GN[R1M1]PB[A [b\\] \\\\]PW[P02]RE[W+7]\n\
         ;B[aa];W[ii];B[];W[])\n"
    );
}
