//! How the house plays chess. They read the board from its FEN and look ahead by the rules of the game itself.

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects)]

extern crate std;

use core::ops::ControlFlow;
use std::collections::HashSet;

use super::board::{Board, Colour, Kind, Move, Square};
use super::san::San;
use crate::games::house::prelude::*;

pub const MINDS: &[(&str, Make)] = &[
    ("Planner", |seed| Box::new(Planner { coin: Coin::new(seed), seen: HashSet::new(), last_move: 0 })),
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Grabber", |seed| Box::new(Grabber(Coin::new(seed)))),
];

/// Boards the Planner looks at before it moves: so its time is bounded, whatever the position.
const BOARDS: u32 = 3_000;
/// It never looks further ahead than this.
const DEPTH: u8 = 6;
const MATE: i32 = 100_000;

fn worth(kind: Kind) -> i32 {
    match kind {
        Kind::Pawn => 100,
        Kind::Knight => 320,
        Kind::Bishop => 330,
        Kind::Rook => 500,
        Kind::Queen => 900,
        Kind::King => 0,
    }
}

/// Steps to the middle of the board: 0 on d4, e4, d5, e5 and 6 in the corners.
fn from_middle(at: Square) -> i32 {
    let off = |line: u8| i32::from(if line < 4 { 3 - line } else { line - 4 });
    off(at.file()) + off(at.rank())
}

/// Steps of a king from one square to another, both ways added.
fn apart(a: Square, b: Square) -> i32 {
    i32::from(a.file().abs_diff(b.file())) + i32::from(a.rank().abs_diff(b.rank()))
}

/// What one side has.
struct Side {
    king: Option<Square>,
    pieces: i32,
    pawns: i32,
    /// What its pieces gain by where they stand, but the king.
    place: i32,
}

impl Side {
    fn of(board: &Board, colour: Colour) -> Self {
        let mut side = Side { king: None, pieces: 0, pawns: 0, place: 0 };
        for (at, kind) in board.pieces(colour) {
            let advanced = i32::from(if colour == Colour::White { at.rank() } else { 7 - at.rank() });
            match kind {
                Kind::King => side.king = Some(at),
                Kind::Pawn => {
                    side.pawns += worth(kind);
                    side.place += 2 * advanced * advanced - 3 * from_middle(at);
                }
                kind => {
                    side.pieces += worth(kind);
                    side.place -= match kind {
                        Kind::Knight | Kind::Bishop => 6 * from_middle(at),
                        Kind::Queen => from_middle(at),
                        _ => 0,
                    };
                }
            }
        }
        side
    }

    /// What it is worth while the other side has `other`.
    fn value(&self, other: &Side) -> i32 {
        let Some((king, their_king)) = self.king.zip(other.king) else { return 0 };
        let mut value = self.pieces + self.pawns + self.place;
        if other.pieces >= 1_300 {
            // A king hides while there are pieces that can hunt it.
            value += 8 * from_middle(king);
        } else {
            value -= 4 * from_middle(king);
        }
        if other.pieces + other.pawns == 0 && self.pieces >= 500 {
            // To the edge with it, and our own king comes close.
            value += 20 * from_middle(their_king) - 8 * apart(king, their_king);
        }
        value
    }
}

/// How good a board is for who is to move.
fn judged(board: &Board) -> i32 {
    let (mine, theirs) = (Side::of(board, board.mover), Side::of(board, board.mover.other()));
    mine.value(&theirs) - theirs.value(&mine)
}

/// Every legal move, those first that take much with little.
fn moves(board: &Board) -> Vec<Move> {
    let mut moves = Vec::with_capacity(48);
    let _ = board.legal(|made| {
        moves.push(made);
        ControlFlow::<()>::Continue(())
    });
    moves.sort_by_key(|&made| -promise(board, made));
    moves
}

fn promise(board: &Board, made: Move) -> i32 {
    let mover = board.piece(made.from).map_or(0, |piece| worth(piece.kind));
    let gain = board.taken(made).map_or(0, |kind| 10 * worth(kind) - mover);
    gain + made.promotion.map_or(0, worth)
}

/// A search, and how many boards it may still look at.
struct Search {
    left: u32,
}

/// It has looked at as many boards as it may.
struct Tired;

impl Search {
    fn look(&mut self) -> Result<(), Tired> {
        self.left = self.left.checked_sub(1).ok_or(Tired)?;
        Ok(())
    }

    /// The best that who is to move can reach, as far as it is between the two.
    fn best(&mut self, board: &Board, depth: u8, from_root: i32, mut low: i32, high: i32) -> Result<i32, Tired> {
        self.look()?;
        if depth == 0 {
            return self.calm(board, from_root, low, high);
        }
        let moves = moves(board);
        if moves.is_empty() {
            return Ok(if board.in_check() { from_root - MATE } else { 0 });
        }
        if board.is_dead() {
            return Ok(0);
        }
        for made in moves {
            low = low.max(-self.best(&board.after(made), depth - 1, from_root + 1, -high, -low)?);
            if low >= high {
                break;
            }
        }
        Ok(low)
    }

    /// The same where only pieces are taken, until there is nothing left to take: a board is not judged in the middle of an
    /// exchange.
    fn calm(&mut self, board: &Board, from_root: i32, mut low: i32, high: i32) -> Result<i32, Tired> {
        let moves = moves(board);
        let is_check = board.in_check();
        if moves.is_empty() {
            return Ok(if is_check { from_root - MATE } else { 0 });
        }
        low = low.max(judged(board));
        for made in moves.into_iter().filter(|&made| board.taken(made).is_some() || made.promotion == Some(Kind::Queen))
        {
            if low >= high {
                break;
            }
            self.look()?;
            low = low.max(-self.calm(&board.after(made), from_root + 1, -high, -low)?);
        }
        Ok(low)
    }
}

fn said(board: &Board, made: Option<Move>) -> Value {
    // Who is shown no board has nothing to say.
    made.map_or_else(|| json!({"move": ""}), |made| json!({"move": San::of(board, made).0.to_string()}))
}

fn board_of(seen: Seen<'_>) -> Option<Board> {
    Board::of_fen(seen.state["fen"].as_str()?)
}

/// Looks ahead, deeper and deeper, until it has looked at enough boards.
struct Planner {
    coin: Coin,
    /// The boards it has left to the other side in this match: who is ahead does not go there again.
    seen: HashSet<u64>,
    last_move: u64,
}

impl Planner {
    fn plan(&mut self, board: &Board) -> Option<Move> {
        let mut moves = moves(board);
        // Moves of equal worth come in a random order, so that no two games are alike.
        moves.sort_by_cached_key(|&made| (-promise(board, made), self.coin.below(1 << 20)));
        let (mut search, mut best) = (Search { left: BOARDS }, moves.first().copied());
        for depth in 0..DEPTH {
            let (mut low, mut found) = (-2 * MATE, None);
            for &made in &moves {
                let after = board.after(made);
                let value = match self.seen.contains(&after.digest()) {
                    true => Ok(0),
                    false => search.best(&after, depth, 1, -2 * MATE, -low).map(|value| -value),
                };
                let Ok(value) = value else { return found.or(best) };
                if value > low {
                    (low, found) = (value, Some(made));
                }
            }
            best = found.or(best);
            if low > MATE / 2 {
                break;
            }
            // What was best so far is looked at first.
            moves.sort_by_key(|&made| Some(made) != best);
        }
        best
    }
}

impl Mind for Planner {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let Some(board) = board_of(seen) else { return json!({"move": ""}) };
        let number = seen.state["fen"].as_str().and_then(|fen| fen.rsplit(' ').next()?.parse().ok()).unwrap_or(0);
        if number <= self.last_move {
            self.seen.clear();
        }
        self.last_move = number;
        let made = self.plan(&board);
        if let Some(made) = made {
            self.seen.insert(board.after(made).digest());
        }
        said(&board, made)
    }
}

/// Takes what it can, and does not look what that costs.
struct Grabber(Coin);

impl Mind for Grabber {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let Some(board) = board_of(seen) else { return json!({"move": ""}) };
        let gain = |made: Move| board.taken(made).map_or(0, worth) + made.promotion.map_or(0, worth);
        let best = moves(&board).into_iter().max_by_key(|&made| (gain(made), self.0.below(1 << 20)));
        said(&board, best)
    }
}

/// Any legal move.
struct Random(Coin);

impl Mind for Random {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        let legal: Vec<&str> =
            seen.state["legal_moves"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        json!({"move": self.0.pick(&legal).unwrap_or("")})
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::fair::{Draws, Seed};
    use crate::games::chess::{Chess, End};
    use crate::games::house::testing::wins;
    use crate::games::testing::{PLAYERS, play, view};
    use crate::games::{Game, GameKind, Viewer};

    /// Plays on from a position, by all rules, and says how it ended and who has won.
    fn playing(fen: &str, mut minds: [Box<dyn Mind>; 2]) -> (Option<End>, Option<u8>) {
        let mut draws = Draws::new(Seed([1; 32]));
        let mut game = Chess { board: Board::of_fen(fen).unwrap(), ..Chess::start(2, &mut draws) };
        let mut seen: HashMap<u64, u8> = HashMap::new();
        while let Some(seat) = game.to_move().alone() {
            let state = view(&game, Viewer::Seat(seat), PLAYERS);
            let (me, opponent) = (PLAYERS.id(seat), PLAYERS.id(1 - seat));
            let wanted = minds[usize::from(seat)].choose(Seen { me, seat: seat.into(), opponent, state: &state });
            play(&mut game, seat, &wanted.to_string(), &mut draws).unwrap();
            let times = seen.entry(game.position().unwrap().digest).or_default();
            *times += 1;
            game.comes_again(*times).unwrap();
        }
        (game.end, game.winner())
    }

    #[test]
    fn who_plans_beats_who_moves_at_random_and_who_only_grabs() {
        assert_eq!(wins(GameKind::Chess, "Planner", "Random", 20), (20, 0));
        let (won, lost) = wins(GameKind::Chess, "Planner", "Grabber", 6);
        assert!(won >= 5 && lost == 0, "{won} : {lost}");
    }

    #[test]
    fn who_plans_mates_with_king_and_queen_or_rook_whoever_defends() {
        let make = |name: &str, seed| (MINDS.iter().find(|(known, _)| *known == name).unwrap().1)(seed);
        for (number, fen) in (0..).zip([
            "8/8/8/4k3/8/8/8/4K2Q w - - 0 1",
            "7k/8/8/8/8/8/8/QK6 w - - 0 1",
            "8/8/3k4/8/8/8/8/K6Q w - - 0 1",
            "4k3/8/8/8/8/8/8/R3K3 w - - 0 1",
            "8/8/8/3k4/8/8/8/K6R w - - 0 1",
        ]) {
            for defender in ["Random", "Planner"] {
                let ended = playing(fen, [make("Planner", number), make(defender, number + 100)]);
                assert_eq!(ended, (Some(End::Checkmate), Some(0)), "{fen} against {defender}");
            }
        }
    }
}
