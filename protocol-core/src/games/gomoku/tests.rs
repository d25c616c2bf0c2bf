//! The rules by example, and whole random games beside a second referee that was written without the first.

extern crate std;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::*;
use crate::games::testing::{AGENTS, effect, last_move, moves_of, play, said, view};
use crate::games::{Sitter, Viewer};

fn start() -> (Gomoku, Draws) {
    let mut draws = Draws::new(Seed([1; 32]));
    (Gomoku::start(2, &mut draws), draws)
}

fn place(row: u8, col: u8) -> String {
    json!({"type": "place", "row": row, "col": col}).to_string()
}

fn skill(name: &str, row: u8, col: u8) -> String {
    json!({"type": "skill", "skill": name, "target": {"row": row, "col": col}}).to_string()
}

/// Plays moves in turn, all of which must be legal.
fn after(moves: &[String]) -> Gomoku {
    let (mut game, mut draws) = start();
    for (number, wanted) in moves.iter().enumerate() {
        let seat = (number % 2) as Seat;
        play(&mut game, seat, wanted, &mut draws).unwrap_or_else(|Illegal(rule)| panic!("{wanted}: {rule}"));
    }
    game
}

fn refused(game: &Gomoku, wanted: &str) -> &'static str {
    let mut game = game.clone();
    let seat = game.mover();
    play(&mut game, seat, wanted, &mut Draws::new(Seed([1; 32]))).expect_err(wanted).0
}

fn accepted(game: &Gomoku, wanted: &str) -> Gomoku {
    let mut game = game.clone();
    let seat = game.mover();
    play(&mut game, seat, wanted, &mut Draws::new(Seed([1; 32]))).unwrap();
    game
}

fn point(row: u8, col: u8) -> Point {
    Point::new(row, col).unwrap()
}

/// Puts stones on the board that nobody played: `X` is black, `O` white.
fn lay(game: &mut Gomoku, rows: &[&str]) {
    for (row, line) in (0..).zip(rows) {
        for (col, stone) in (0..).zip(line.chars()) {
            let stone = match stone {
                'X' => Some(0),
                'O' => Some(1),
                _ => None,
            };
            game.board.set(point(row, col), stone);
        }
    }
}

fn rows_of(game: &Gomoku, side: u8) -> Vec<String> {
    let stone = |at| ["·", "X", "O"][usize::from(board::colour(game.board.stone(at)))];
    (0..side).map(|row| (0..side).map(|col| stone(point(row, col))).collect()).collect()
}

/// Black at the top, white at the bottom, out of each other's way.
fn quiet_opening(moves: u8) -> Vec<String> {
    (0..moves).map(|n| if n % 2 == 0 { place(0, n) } else { place(14, n) }).collect()
}

#[test]
fn the_state_reads_as_the_specification_prints_it() {
    let (mut game, _) = start();
    game.board.set(point(6, 6), Some(0));
    game.board.set(point(7, 7), Some(1));
    game.moves = 11;
    game.last = [Some(Deed::Place(point(7, 7))); 2];
    let names = ["uuid-black", "uuid-white"].map(|id| Sitter { id, ..Sitter::default() });
    let mut grid = [["·"; 15]; 15];
    (grid[6][6], grid[7][7]) = ("⚫", "⚪");
    let mut board = [[0; 15]; 15];
    (board[6][6], board[7][7]) = (1, 2);
    let state = json!({
        "grid": grid,
        "extra": {
            "board": board,
            "energy": [3, 3],
            "currentPlayer": "uuid-white",
            "sealedStones": [],
            "quietZoneCells": [],
            "lastMove": {"row": 7, "col": 7},
            "lastSkillEffect": null,
            "animationDurationMs": 0,
        }
    });
    for viewer in [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator] {
        assert_eq!(view(&game, viewer, Table(&names)), state);
    }
    assert_eq!(game.turn(), 12);
    assert_eq!(game.to_move(), Seats::only(1));
}

#[test]
fn a_skill_is_told_as_the_specification_prints_it() {
    let (mut game, mut draws) = start();
    lay(&mut game, &["", "", "", "", "", "", "······X··", "········O"]);
    play(&mut game, 0, &skill("uproot", 7, 7), &mut draws).unwrap();
    let told = effect(&game, AGENTS).unwrap();
    let members: Vec<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
    let mut printed =
        ["skill", "agentId", "agentName", "target", "description", "animationDurationMs", "affectedCells"];
    printed.sort_unstable();
    assert_eq!(members, printed);
    assert_eq!(told["skill"], "uproot");
    assert_eq!((&told["agentId"], &told["agentName"]), (&json!("uuid-1"), &json!("AgentAlpha")));
    assert_eq!(told["target"], json!({"row": 7, "col": 7}));
    assert_eq!(told["description"], "AgentAlpha used Uproot (力拔山兮) at H8!");
    assert_eq!(told["animationDurationMs"], 3000);
    let state = view(&game, Viewer::Spectator, AGENTS);
    for cell in told["affectedCells"].as_array().unwrap() {
        let at = |axis: &str| cell[axis].as_u64().unwrap() as usize;
        assert_eq!(cell["after"], state["grid"][at("row")][at("col")]);
        assert_ne!(cell["after"], cell["before"]);
    }
    let last = &state["extra"]["lastSkillEffect"];
    assert_eq!(last["casterId"], "uuid-1");
    for shared in ["skill", "target", "description", "affectedCells"] {
        assert_eq!(last[shared], told[shared]);
    }
    assert_eq!(state["extra"]["energy"], json!([1, 3]));
    assert_eq!(state["extra"]["animationDurationMs"], 3000);
    assert_eq!(state["extra"]["lastMove"], Value::Null);
    assert_eq!(said(|f| game.action(0, AGENTS, f)), "Used Uproot (力拔山兮) at H8");
    assert_eq!(said(|f| game.action(1, AGENTS, f)), "");
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Move 1: AgentAlpha used Uproot (力拔山兮) at H8");
}

#[test]
fn five_in_a_row_wins_in_every_direction_and_so_do_six() {
    for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
        for gap in 0..5i8 {
            let at = |n: i8| place((5 + n * down) as u8, (7 + n * right) as u8);
            let mut moves = Vec::new();
            for (n, stone) in (0..5i8).filter(|&n| n != gap).chain([gap]).enumerate() {
                moves.push(at(stone));
                if n < 4 {
                    moves.push(place(0, 2 * n as u8));
                }
            }
            let game = after(&moves);
            assert_eq!(game.standing().unwrap().winner(), Some(0), "{down} {right} {gap}");
            assert_eq!((game.score(0), game.score(1), game.to_move()), (1, 0, Seats::NONE));
            assert_eq!(said(|f| game.reason(AGENTS, f)), "AgentAlpha has five in a row after 9 moves");
            assert!(said(|f| game.summary(AGENTS, f)).ends_with(" and wins!"));
        }
    }
    let (mut game, mut draws) = start();
    lay(&mut game, &["XX·XXX"]);
    play(&mut game, 0, &place(0, 2), &mut draws).unwrap();
    assert_eq!(game.standing().unwrap().winner(), Some(0));
}

#[test]
fn a_line_does_not_go_on_over_the_edge() {
    let (mut game, mut draws) = start();
    lay(&mut game, &["············XX", "XX"]);
    play(&mut game, 0, &place(0, 14), &mut draws).unwrap();
    assert_eq!(game.standing(), None);
}

/// A full board without five in a row.
fn crowded() -> Gomoku {
    let (mut game, _) = start();
    for at in Point::all() {
        game.board.set(at, Some((at.col() / 2 + at.row()) % 2));
    }
    assert!(!Point::all().any(|at| game.board.five_through(at)));
    game
}

#[test]
fn a_full_board_is_a_draw() {
    let mut game = crowded();
    game.board.set(point(0, 0), None);
    let game = accepted(&game, &place(0, 0));
    assert_eq!((game.end, game.standing().unwrap().winner()), (Some(End::Full), None));
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Move 1: AgentAlpha placed ⚫ at A1. The game is a draw.");
}

#[test]
fn move_300_is_the_last() {
    let (mut game, _) = start();
    game.moves = 298;
    let game = accepted(&game, &place(0, 0));
    assert_eq!(game.standing(), None);
    let game = accepted(&game, &place(0, 1));
    assert_eq!((game.end, game.standing().unwrap().winner()), (Some(End::Limit), None));
    assert!(refused(&game, &place(0, 2)).contains("not your turn"));
}

#[test]
fn who_can_do_nothing_draws_instead_of_waiting_for_ever() {
    let mut game = crowded();
    // The last free point is next to a white stone that gets sealed, and black has no energy.
    game.board.set(point(0, 0), None);
    game.board.set(point(0, 1), Some(1));
    game.moves = 1;
    game.energy = [0, 3];
    let game = accepted(&game, &skill("stillwater", 0, 1));
    assert_eq!(game.end, Some(End::Stuck));
    assert_eq!(said(|f| game.reason(AGENTS, f)), "AgentAlpha cannot move");
}

#[test]
fn a_sealed_stone_stays_and_its_surroundings_are_quiet_for_three_moves_of_the_opponent() {
    // Move 1 places the stone, move 3 seals it: it holds until round 9.
    let game = after(&[place(7, 7), place(0, 0), skill("stillwater", 7, 7)]);
    let extra = &view(&game, Viewer::Spectator, AGENTS)["extra"];
    assert_eq!(extra["sealedStones"], json!([{"row": 7, "col": 7, "owner": 1, "expiresAtMove": 9}]));
    let quiet = [(6, 7), (7, 6), (7, 8), (8, 7)];
    assert_eq!(extra["quietZoneCells"], json!(quiet.map(|(row, col)| json!({"row": row, "col": col, "owner": 1}))));
    let grid = &view(&game, Viewer::Spectator, AGENTS)["grid"];
    assert_eq!((&grid[7][7], &grid[6][7], &grid[6][6]), (&json!("🔒"), &json!("🚫"), &json!("·")));
    let mut game = game;
    for round in [4, 6, 8] {
        assert_eq!(game.turn(), round);
        for (row, col) in quiet {
            assert!(refused(&game, &place(row, col)).starts_with("row and col must not be in the opponent's quiet"));
        }
        assert!(refused(&game, &skill("sandstorm", 7, 7)).starts_with("target must not be sealed"));
        accepted(&game, &place(6, 6));
        game = accepted(&game, &place(0, round as u8));
        if round < 8 {
            assert!(refused(&game, &skill("stillwater", 7, 7)).starts_with("target must be a stone that is not"));
            // The owner may build where its opponent may not.
            accepted(&game, &place(6, 7));
            game = accepted(&game, &place(14, round as u8));
        }
    }
    assert_eq!(view(&game, Viewer::Spectator, AGENTS)["extra"]["sealedStones"], json!([]));
    accepted(&game, &skill("stillwater", 7, 7));
    accepted(&accepted(&game, &place(1, 1)), &place(6, 7));
}

#[test]
fn a_white_seal_has_its_own_sign_and_owner() {
    let game = after(&[place(0, 0), place(7, 7), place(0, 1), skill("stillwater", 7, 7)]);
    let state = view(&game, Viewer::Spectator, AGENTS);
    assert_eq!(state["grid"][7][7], "🔐");
    assert_eq!(state["extra"]["sealedStones"][0]["owner"], 2);
    assert_eq!(state["extra"]["quietZoneCells"][0]["owner"], 2);
}

#[test]
fn a_sandstorm_removes_a_stone_and_cannot_follow_another_of_the_same_player() {
    let mut game = after(&[place(7, 7), place(0, 0), place(7, 8), place(0, 1)]);
    game.energy = [9, 9];
    let mut game = accepted(&game, &skill("sandstorm", 0, 0));
    assert_eq!(game.board.stone(point(0, 0)), None);
    let told = effect(&game, AGENTS).unwrap();
    assert_eq!(told["affectedCells"], json!([{"row": 0, "col": 0, "before": "⚪", "after": "·"}]));
    assert_eq!(last_move(&game, 0), serde_json::from_str::<Value>(&skill("sandstorm", 0, 0)).unwrap());
    // The opponent may answer in kind.
    game = accepted(&game, &skill("sandstorm", 7, 7));
    assert!(refused(&game, &skill("sandstorm", 0, 1)).contains("two turns in a row"));
    game = accepted(&game, &place(3, 3));
    assert!(refused(&game, &skill("sandstorm", 7, 8)).contains("two turns in a row"));
    game = accepted(&game, &place(4, 4));
    accepted(&game, &skill("sandstorm", 0, 1));
}

#[test]
fn a_rewind_takes_back_four_moves_with_their_seals_but_no_energy() {
    let mut moves = quiet_opening(4);
    let early = after(&moves);
    moves.extend([place(7, 7), place(8, 8), skill("stillwater", 7, 7), place(9, 9)]);
    let game = after(&moves);
    assert_eq!(game.energy, [3, 4]);
    let rewound = accepted(&game, &skill("rewind", 3, 3));
    assert_eq!(rows_of(&rewound, 15), rows_of(&early, 15));
    assert_eq!(rewound.energy, [0, 4]);
    assert_eq!(rewound.turn(), 10);
    assert_eq!(rewound.seals().count(), 0);
    let told = effect(&rewound, AGENTS).unwrap();
    assert_eq!(told["description"], "AgentAlpha used Rewind (时光倒流) at D4!");
    assert_eq!(told.get("affectedCells"), None);
    // Only once, and the other one has to wait for history.
    let mut game = rewound;
    game.energy = [9, 9];
    for col in 0..4 {
        assert!(refused(&game, &skill("rewind", 0, 0)).contains("rewind"), "{col}");
        game = accepted(&game, &place(5, 2 * col));
    }
    let by_white = accepted(&game, r#"{"type":"skill","skill":"rewind"}"#);
    assert_eq!(rows_of(&by_white, 15), rows_of(&early, 15));
    assert_eq!(effect(&by_white, AGENTS).unwrap()["description"], "AgentBeta used Rewind (时光倒流)!");
    game = accepted(&game, &place(6, 0));
    assert!(refused(&game, &skill("rewind", 0, 0)).contains("once in a game"));
}

#[test]
fn a_rewind_puts_back_what_skills_have_moved() {
    let (mut game, mut draws) = start();
    lay(&mut game, &["XOX", "OX·", "··O"]);
    game.energy = [9, 9];
    let before = rows_of(&game, 15);
    for (seat, wanted) in [
        (0, skill("uproot", 1, 1)),
        (1, skill("uproot", 0, 0)),
        (0, place(9, 9)),
        (1, skill("sandstorm", 9, 9)),
        (0, skill("rewind", 0, 0)),
    ] {
        play(&mut game, seat, &wanted, &mut draws).unwrap();
    }
    assert_eq!(rows_of(&game, 15), before);
}

#[test]
fn uproot_moves_a_lone_stone_anywhere_else_in_its_square_and_nowhere_else() {
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let (mut game, _) = start();
        lay(&mut game, &["", "·X"]);
        play(&mut game, 0, &skill("uproot", 1, 1), &mut Draws::new(Seed([seed; 32]))).unwrap();
        let at: Vec<Point> = Point::all().filter(|&at| game.board.stone(at).is_some()).collect();
        assert_eq!(at.len(), 1);
        assert!(at[0] != point(1, 1) && at[0].row() < 3 && at[0].col() < 3);
        seen.insert(at[0].number());
    }
    assert_eq!(seen.len(), 8);
}

#[test]
fn uproot_changes_nothing_but_the_energy_where_every_arrangement_would_make_five() {
    let (mut game, mut draws) = start();
    lay(&mut game, &["·XXXX", "XX", "X", "X", "X"]);
    let before = rows_of(&game, 15);
    play(&mut game, 0, &skill("uproot", 0, 0), &mut draws).unwrap();
    assert_eq!(rows_of(&game, 15), before);
    assert_eq!(game.energy, [1, 3]);
    assert_eq!(effect(&game, AGENTS).unwrap()["affectedCells"], json!([]));
    // Where there is nothing to move, nothing moves.
    play(&mut game, 1, &skill("uproot", 12, 12), &mut draws).unwrap();
    assert_eq!((rows_of(&game, 15), game.energy), (before, [1, 1]));
}

#[test]
fn uproot_leaves_sealed_stones_where_they_are() {
    for seed in 0..30 {
        let mut game = after(&[place(7, 7), place(7, 8), skill("stillwater", 7, 7)]);
        play(&mut game, 1, &skill("uproot", 7, 7), &mut Draws::new(Seed([seed; 32]))).unwrap();
        assert_eq!(game.board.stone(point(7, 7)), Some(0));
        assert_ne!(game.board.stone(point(7, 8)), Some(1));
    }
}

#[test]
fn every_order_of_stones_is_visited_once() {
    let mut order = [None, None, None, Some(0), Some(0), Some(0), Some(1), Some(1), Some(1)];
    let mut seen = BTreeSet::from([order]);
    while next_order(&mut order) {
        assert!(seen.insert(order));
    }
    assert_eq!(seen.len(), 1680);
    assert!(!next_order(&mut []));
}

#[test]
fn a_move_that_breaks_a_rule_is_refused_by_name_and_changes_nothing() {
    let mut game = after(&[place(7, 7), place(8, 8)]);
    game.energy = [9, 9];
    let poor = Gomoku { energy: [0, 0], ..game.clone() };
    let (row, col) = ("row must be an integer from 0 to 14", "col must be an integer from 0 to 14");
    for (wanted, rule) in [
        ("{}", "type is missing"),
        ("[]", "type is missing"),
        ("7", "type is missing"),
        (r#"{"type":7}"#, "type is missing"),
        (r#"{"type":"pass"}"#, "type must be \"place\" or \"skill\""),
        (r#"{"type":"place"}"#, row),
        (r#"{"type":"place","row":15,"col":0}"#, row),
        (r#"{"type":"place","row":-1,"col":0}"#, row),
        (r#"{"type":"place","row":"7","col":0}"#, row),
        (r#"{"type":"place","row":7.5,"col":0}"#, row),
        (r#"{"type":"place","row":0,"col":256}"#, col),
        (r#"{"type":"place","row":0,"col":99999999999999999999}"#, col),
        (r#"{"type":"place","row":0,"col":null}"#, col),
        (&place(7, 7), "row and col must name an empty cell"),
        (r#"{"type":"skill"}"#, "skill must be \"uproot\", "),
        (r#"{"type":"skill","skill":"fly"}"#, "skill must be \"uproot\", "),
        (r#"{"type":"skill","skill":"uproot"}"#, "target.row must be"),
        (r#"{"type":"skill","skill":"uproot","target":[7,7]}"#, "target.row must be"),
        (r#"{"type":"skill","skill":"uproot","target":{"row":7}}"#, "target.col must be"),
        (r#"{"type":"skill","skill":"uproot","target":{"row":7,"col":15}}"#, "target.col must be"),
        (&skill("stillwater", 8, 8), "target must be your own stone"),
        (&skill("stillwater", 0, 0), "target must be your own stone"),
        (&skill("sandstorm", 7, 7), "target must be a stone of your opponent"),
        (&skill("sandstorm", 0, 0), "target must be a stone of your opponent"),
        (&skill("rewind", 0, 0), "skill rewind needs four moves"),
    ] {
        assert!(refused(&game, wanted).starts_with(rule), "{wanted}: {}", refused(&game, wanted));
    }
    for name in ["uproot", "stillwater", "sandstorm", "rewind"] {
        let rule = refused(&poor, &skill(name, 7, 7));
        assert!(rule.starts_with(&format!("skill {name} costs ")) && rule.contains(" energy"), "{rule}");
    }
    let before = format!("{game:?}");
    assert_eq!(play(&mut game, 1, &place(0, 0), &mut start().1), Err(Illegal("it is not your turn")));
    assert_eq!(format!("{game:?}"), before);
}

#[test]
fn the_first_legal_move_is_the_middle_and_skills_come_last() {
    let (game, _) = start();
    let moves = moves_of(&game, 0, 1_000);
    assert_eq!(moves[0], place(7, 7).replace(r#""col":7,"row":7,"type":"place""#, r#""type":"place","row":7,"col":7"#));
    // Nothing to seal, nothing to remove, nothing to take back; but one may uproot.
    assert_eq!(moves.len(), 225 + 225);
    assert!(moves_of(&game, 1, 1).is_empty());
}

/// The rules once more, as plainly as they can be written: whole boards are kept, everything is looked for everywhere.
#[derive(Clone, Debug)]
struct Plain {
    board: Stones,
    energy: [i32; 2],
    moves: usize,
    seals: Vec<Sealed>,
    /// Boards and seals before each move that can be taken back.
    past: Vec<(Stones, Vec<Sealed>)>,
    rewound: [bool; 2],
    stormed: [bool; 2],
    winner: Option<u8>,
}

type Stones = [[u8; 15]; 15];

/// Row, column, owner and expiry.
type Sealed = (usize, usize, u8, usize);

#[derive(Clone, Copy, Debug)]
enum Wish {
    Place,
    Skill(&'static str),
}

impl Plain {
    fn new() -> Self {
        Self {
            board: [[0; 15]; 15],
            energy: [3, 3],
            moves: 0,
            seals: Vec::new(),
            past: Vec::new(),
            rewound: [false; 2],
            stormed: [false; 2],
            winner: None,
        }
    }

    fn me(&self) -> u8 {
        self.moves as u8 % 2 + 1
    }

    fn quiet(&self) -> BTreeSet<(usize, usize, u8)> {
        let mut quiet = BTreeSet::new();
        for &(row, col, owner, _) in &self.seals {
            for (r, c) in [(row.wrapping_sub(1), col), (row + 1, col), (row, col.wrapping_sub(1)), (row, col + 1)] {
                if r < 15 && c < 15 && self.board[r][c] == 0 {
                    quiet.insert((r, c, owner));
                }
            }
        }
        quiet
    }

    fn has_five(board: &Stones) -> bool {
        let at = |row: i32, col: i32| {
            if (0..15).contains(&row) && (0..15).contains(&col) { board[row as usize][col as usize] } else { 0 }
        };
        let five = |row: i32, col: i32, (down, right)| {
            let stone = at(row, col);
            stone != 0 && (1..5).all(|n| at(row + n * down, col + n * right) == stone)
        };
        let directions = [(0, 1), (1, 0), (1, 1), (1, -1)];
        (0..15).any(|row| (0..15).any(|col| directions.iter().any(|&way| five(row, col, way))))
    }

    fn allows(&self, wish: Wish, row: usize, col: usize) -> bool {
        let (me, other) = (self.me(), 3 - self.me());
        let mine = usize::from(me) - 1;
        let sealed = self.seals.iter().any(|seal| (seal.0, seal.1) == (row, col));
        let stone = self.board[row][col];
        match wish {
            Wish::Place => stone == 0 && !self.quiet().contains(&(row, col, other)),
            Wish::Skill("uproot") => self.energy[mine] >= 2,
            Wish::Skill("stillwater") => self.energy[mine] >= 1 && stone == me && !sealed,
            Wish::Skill("sandstorm") => self.energy[mine] >= 2 && stone == other && !sealed && !self.stormed[mine],
            Wish::Skill(_) => self.energy[mine] >= 3 && !self.rewound[mine] && self.past.len() >= 4,
        }
    }

    /// Plays a move that is allowed. Where chance decides, the board afterwards is given and only checked.
    fn play(&mut self, wish: Wish, row: usize, col: usize, afterwards: &Stones) {
        let me = self.me();
        let mine = usize::from(me) - 1;
        self.past.push((self.board, self.seals.clone()));
        self.moves += 1;
        self.stormed[mine] = false;
        match wish {
            Wish::Place => {
                self.board[row][col] = me;
                self.winner = Self::has_five(&self.board).then_some(me);
            }
            Wish::Skill("uproot") => {
                self.energy[mine] -= 2;
                self.check_uproot(row, col, afterwards);
                self.board = *afterwards;
            }
            Wish::Skill("stillwater") => {
                self.energy[mine] -= 1;
                self.seals.push((row, col, me, self.moves + 6));
            }
            Wish::Skill("sandstorm") => {
                self.energy[mine] -= 2;
                self.board[row][col] = 0;
                self.stormed[mine] = true;
            }
            Wish::Skill(_) => {
                self.energy[mine] -= 3;
                self.rewound[mine] = true;
                // The last of them is from before the rewind itself.
                let (board, seals) = self.past[self.past.len() - 5].clone();
                (self.board, self.seals) = (board, seals);
                self.past.clear();
            }
        }
        self.seals.retain(|seal| self.moves + 1 < seal.3);
        if self.moves.is_multiple_of(8) {
            self.energy = self.energy.map(|energy| energy + 1);
        }
    }

    fn check_uproot(&self, row: usize, col: usize, afterwards: &Stones) {
        let near = |r: usize, c: usize| r.abs_diff(row) <= 1 && c.abs_diff(col) <= 1;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (r, row) in afterwards.iter().enumerate() {
            for (c, &stone) in row.iter().enumerate() {
                if near(r, c) && !self.seals.iter().any(|seal| (seal.0, seal.1) == (r, c)) {
                    before.push(self.board[r][c]);
                    after.push(stone);
                } else {
                    assert_eq!(self.board[r][c], stone, "a stone that uproot must not touch");
                }
            }
        }
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after, "no stone comes or goes");
        assert!(!Self::has_five(afterwards), "no five after uproot");
    }

    fn is_draw(&self) -> bool {
        self.winner.is_none() && (self.moves == 300 || self.board.iter().flatten().all(|&stone| stone != 0))
    }
}

fn board_of(game: &Gomoku) -> Stones {
    let mut board = [[0; 15]; 15];
    for at in Point::all() {
        board[usize::from(at.row())][usize::from(at.col())] = board::colour(game.board.stone(at));
    }
    board
}

/// Wishes as a bad player would have them: mostly near the middle of a `side` × `side` corner, so that things happen.
fn wish(random: &mut Draws, side: u32) -> (Wish, usize, usize) {
    let wish = match random.below(12) {
        0 => Wish::Skill("uproot"),
        1 => Wish::Skill("stillwater"),
        2 => Wish::Skill("sandstorm"),
        3 => Wish::Skill("rewind"),
        _ => Wish::Place,
    };
    (wish, random.below(side) as usize, random.below(side) as usize)
}

fn sent(wish: Wish, row: usize, col: usize) -> String {
    match wish {
        Wish::Place => place(row as u8, col as u8),
        Wish::Skill(name) => skill(name, row as u8, col as u8),
    }
}

/// Plays a random game beside the plain referee; every wish, granted or not, must be judged alike.
fn play_beside(seed: Seed, side: u32, look: impl Fn(&Gomoku, &Plain)) -> Gomoku {
    let mut random = Draws::new(seed.derive(crate::fair::Purpose::Token, [0; 3]));
    let mut draws = Draws::new(seed);
    let mut game = Gomoku::start(2, &mut draws);
    let mut plain = Plain::new();
    let mut refusals = 0;
    while !game.to_move().is_empty() {
        let (wish, row, col) = wish(&mut random, if refusals > 100 { 15 } else { side });
        let seat = game.mover();
        let played = play(&mut game, seat, &sent(wish, row, col), &mut draws);
        assert_eq!(played.is_ok(), plain.allows(wish, row, col), "{wish:?} {row} {col} {played:?} {plain:?}");
        if played.is_err() {
            refusals += 1;
            continue;
        }
        plain.play(wish, row, col, &board_of(&game));
        assert_eq!(board_of(&game), plain.board, "{wish:?}");
        assert_eq!(game.energy.map(i32::from), plain.energy);
        assert!(plain.energy.iter().all(|&energy| energy >= 0));
        assert_eq!(usize::from(game.moves), plain.moves);
        look(&game, &plain);
        assert_eq!(game.to_move().is_empty(), plain.winner.is_some() || plain.is_draw());
    }
    assert_eq!(game.standing().unwrap().winner().map(|seat| seat + 1), plain.winner);
    game
}

fn seed(n: u32) -> Seed {
    Seed([3; 32]).derive(crate::fair::Purpose::Match, [n, 0, 0])
}

#[test]
fn thousands_of_random_games_are_refereed_alike_by_a_second_referee() {
    let mut ends = BTreeSet::new();
    for n in 0..2_000 {
        // Small corners fill up and are crowded with fives; the whole board makes long games.
        let game = play_beside(seed(n), 5 + n % 11, |_, _| {});
        ends.insert(game.end.unwrap().name().to_string());
    }
    assert!(ends.contains("five"), "{ends:?}");
}

#[test]
fn what_players_are_told_is_what_a_second_referee_would_tell() {
    for n in 1_000..1_040 {
        play_beside(seed(n), 6 + n % 4, |game, plain| {
            let state = view(game, Viewer::Seat(0), AGENTS);
            let extra = &state["extra"];
            assert_eq!(extra["board"], json!(plain.board));
            assert_eq!(extra["energy"], json!(plain.energy));
            let number = |value: &Value| value.as_u64().unwrap() as usize;
            let cells = |list: &Value, last: &str| -> BTreeSet<Sealed> {
                let cell = |cell: &Value| {
                    let last = if last.is_empty() { 0 } else { number(&cell[last]) };
                    (number(&cell["row"]), number(&cell["col"]), number(&cell["owner"]) as u8, last)
                };
                list.as_array().unwrap().iter().map(cell).collect()
            };
            assert_eq!(cells(&extra["sealedStones"], "expiresAtMove"), plain.seals.iter().copied().collect());
            let quiet = plain.quiet();
            assert_eq!(
                cells(&extra["quietZoneCells"], ""),
                quiet.iter().map(|&(row, col, owner)| (row, col, owner, 0)).collect()
            );
            assert_eq!(extra["quietZoneCells"].as_array().unwrap().len(), quiet.len());
            for row in 0..15 {
                for col in 0..15 {
                    let sealed = plain.seals.iter().any(|seal| (seal.0, seal.1) == (row, col));
                    let is_quiet = quiet.iter().any(|cell| (cell.0, cell.1) == (row, col));
                    let symbol = match (plain.board[row][col], sealed, is_quiet) {
                        (1, true, _) => "🔒",
                        (2, true, _) => "🔐",
                        (1, ..) => "⚫",
                        (2, ..) => "⚪",
                        (_, _, true) => "🚫",
                        _ => "·",
                    };
                    assert_eq!(state["grid"][row][col], symbol);
                }
            }
        });
    }
}

#[test]
fn every_listed_move_is_one_the_second_referee_allows_and_none_is_missing() {
    for n in 2_000..2_010 {
        play_beside(seed(n), 7, |game, plain| {
            if !plain.moves.is_multiple_of(5) || game.end.is_some() {
                return;
            }
            let listed: BTreeSet<String> = moves_of(game, game.mover(), 2_000)
                .iter()
                .map(|listed| serde_json::from_str::<Value>(listed).unwrap().to_string())
                .collect();
            let mut allowed = BTreeSet::new();
            for row in 0..15 {
                for col in 0..15 {
                    for name in ["uproot", "stillwater", "sandstorm"] {
                        if plain.allows(Wish::Skill(name), row, col) {
                            allowed.insert(sent(Wish::Skill(name), row, col));
                        }
                    }
                    if plain.allows(Wish::Place, row, col) {
                        allowed.insert(sent(Wish::Place, row, col));
                    }
                }
            }
            if plain.allows(Wish::Skill("rewind"), 7, 7) {
                allowed.insert(sent(Wish::Skill("rewind"), 7, 7));
            }
            assert_eq!(listed, allowed);
        });
    }
}
