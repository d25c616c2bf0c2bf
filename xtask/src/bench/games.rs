//! The rules alone: how many moves a second each game judges. A game is played once with moves it lists itself, and then
//! replayed from their text, as the referee plays it: every move is read, judged and played.

use super::{TURNS, median, title, turn};
use crate::Outcome;
use crate::verb::Given;
use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, MoveSink, Seat};
use protocol_core::json;
use std::ops::ControlFlow;

const SEED: Seed = Seed([7; 32]);
/// Of so many listed moves one is picked.
const LISTED: usize = 40;

/// The first moves that are listed, as they would be sent.
#[derive(Default)]
struct Listed(Vec<String>);

impl MoveSink for Listed {
    fn take(&mut self, legal: &str) -> ControlFlow<()> {
        self.0.push(legal.to_owned());
        if self.0.len() < LISTED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Measures every game.
pub fn run(_: &Given) -> Outcome {
    title("How fast the games are judged", "one whole game, replayed; medians of turns");
    println!("  game            moves in it   ns per move      moves/s");
    for &kind in GameKind::ALL {
        let moves = play(kind)?;
        replay(kind, &moves)?;
        let of_game = median((0..TURNS).map(|_| turn(&mut || replay(kind, &moves))).collect());
        let ns = of_game / moves.len() as f64;
        println!("  {:<16}{:>11}{ns:>14.0}{:>13.0}", kind.rules().name, moves.len(), 1e9 / ns);
    }
    Ok(())
}

fn start(kind: GameKind) -> (AnyGame, Draws) {
    let mut draws = Draws::new(SEED);
    (AnyGame::start(kind, *kind.rules().seats.start(), &mut draws), draws)
}

/// A whole game.
fn play(kind: GameKind) -> Result<Vec<(Seat, String)>, String> {
    let (mut game, mut draws) = start(kind);
    let mut moves: Vec<(Seat, String)> = vec![];
    while let Some(seat) = game.to_move().iter().next() {
        let mut listed = Listed::default();
        game.legal_moves(seat, &mut listed);
        let count = listed.0.len().max(1);
        let picked = listed.0.into_iter().nth(moves.len() * 7 % count).ok_or("a game lists no move")?;
        step(&mut game, seat, &picked, &mut draws)?;
        moves.push((seat, picked));
    }
    Ok(moves)
}

/// The same game again, to its end.
fn replay(kind: GameKind, moves: &[(Seat, String)]) -> Outcome {
    let (mut game, mut draws) = start(kind);
    for (seat, text) in moves {
        step(&mut game, *seat, text, &mut draws)?;
    }
    if game.to_move().is_empty() { Ok(()) } else { Err(format!("{} did not end", kind.rules().name)) }
}

fn step(game: &mut AnyGame, seat: Seat, text: &str, draws: &mut Draws) -> Outcome {
    let wanted = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    game.play(seat, wanted, draws).map_err(|illegal| format!("a listed move was refused: {}", illegal.0))
}
