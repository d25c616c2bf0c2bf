//! `leaguebox verify`: recomputes what was drawn in a match from the seed GAME_OVER revealed, and checks that this is the
//! seed the box was bound to. How numbers follow from a seed is protocol-core's; this is the report.

use std::fmt::{self, Write};

use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, Parity};
use protocol_core::json;

use crate::cli::VerifyOptions;
use crate::failure::Failure;

/// Everything a seed decides.
struct Recomputed {
    /// The hash that must have been published.
    commitment: [u8; 32],
    /// The numbers in the order of the turns. None in games where the moves decide what is drawn.
    numbers: Vec<u64>,
}

/// Recomputes the match and reports it; a published commitment that does not fit is a failure.
pub fn verify(options: &VerifyOptions) -> Result<String, Failure> {
    report(options, &recompute(options.game, options.seed)?)
}

/// The seed's commitment, and the numbers the game draws from it, turn by turn.
fn recompute(game: &str, seed: [u8; 32]) -> Result<Recomputed, Failure> {
    let seed = Seed(seed);
    let kind = GameKind::named(game).ok_or_else(|| Failure::usage(format!("there is no game {game}")))?;
    let mut draws = Draws::new(seed);
    let mut game = AnyGame::start(kind, *kind.rules().seats.start(), &mut draws);
    // In these games what is chosen does not change what is drawn, so any choices will do.
    let any = json::parse(b"\"even\"").map_err(|error| Failure::work(error.to_string()))?;
    while let Some(seat) = game.to_move().iter().next() {
        if game.play(seat, any, &mut draws).is_err() {
            return Ok(Recomputed { commitment: seed.commitment().0, numbers: Vec::new() });
        }
    }
    let exported = Exported(&game).to_string();
    let numbers = exported.split(',').next().unwrap_or_default();
    let numbers = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
    Ok(Recomputed { commitment: seed.commitment().0, numbers })
}

struct Exported<'a>(&'a AnyGame);

impl fmt::Display for Exported<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.export(f)
    }
}

fn report(options: &VerifyOptions, recomputed: &Recomputed) -> Result<String, Failure> {
    let commitment = hex(&recomputed.commitment);
    if options.commitment.is_some_and(|published| published != recomputed.commitment) {
        return Err(Failure::work(format!(
            "this seed was not the one committed to: its commitment is {commitment}; compare both with the messages"
        )));
    }
    let numbers: Vec<String> = recomputed.numbers.iter().map(u64::to_string).collect();
    let fits = if options.commitment.is_some() { "   (as published)" } else { "" };
    let mut text = format!("Game        {}\nCommitment  {commitment}{fits}\n", options.game);
    if !numbers.is_empty() {
        _ = writeln!(text, "Drawn       {}", numbers.join(", "));
    }
    if !options.choices.is_empty() {
        _ = writeln!(text, "Result      {}", result(options, &recomputed.numbers)?);
    }
    Ok(text)
}

/// Who named the parity of more numbers. With one number this is the rule of `even_odd`: both right or both wrong is a
/// draw.
fn result(options: &VerifyOptions, numbers: &[u64]) -> Result<String, Failure> {
    if numbers.is_empty() {
        return Err(Failure::usage(format!("--choices are for the games of even and odd, not for {}", options.game)));
    }
    if options.choices.len() != 2 * numbers.len() {
        return Err(Failure::usage(format!(
            "--choices wants {} words for {}, two for each number drawn, not {}",
            2 * numbers.len(),
            options.game,
            options.choices.len()
        )));
    }
    let right = |seat: usize| {
        let theirs = options.choices.iter().skip(seat).step_by(2);
        theirs.zip(numbers).filter(|(choice, number)| **choice == Parity::of(**number)).count()
    };
    let (a, b) = (right(0), right(1));
    let winner = match a.cmp(&b) {
        std::cmp::Ordering::Greater => "PLAYER_A wins",
        std::cmp::Ordering::Less => "PLAYER_B wins",
        std::cmp::Ordering::Equal => "draw",
    };
    Ok(format!("{winner}: PLAYER_A guessed {a} of {turns}, PLAYER_B {b}", turns = numbers.len()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Parity::{Even, Odd};

    fn options(commitment: Option<u8>, choices: &[Parity]) -> VerifyOptions {
        let commitment = commitment.map(|byte| [byte; 32]);
        VerifyOptions { game: "even_odd", seed: [1; 32], commitment, choices: choices.to_vec() }
    }

    fn drawn(numbers: &[u64]) -> Recomputed {
        Recomputed { commitment: [0xab; 32], numbers: numbers.to_vec() }
    }

    #[test]
    fn of_a_game_that_draws_nothing_the_commitment_is_all_there_is_to_check() {
        let echo = VerifyOptions { game: "echo", ..options(None, &[]) };
        let text = verify(&echo).unwrap();
        assert!(text.starts_with("Game        echo\nCommitment  ") && text.lines().count() == 2, "{text}");
        let failure = verify(&VerifyOptions { choices: vec![Even, Odd], ..echo }).unwrap_err();
        assert_eq!(failure.message, "--choices are for the games of even and odd, not for echo");
    }

    #[test]
    fn a_fitting_commitment_and_the_winner_are_reported() {
        assert_eq!(
            report(&options(Some(0xab), &[Even, Odd]), &drawn(&[8])).unwrap(),
            format!(
                "Game        even_odd\nCommitment  {}   (as published)\nDrawn       8\n\
                 Result      PLAYER_A wins: PLAYER_A guessed 1 of 1, PLAYER_B 0\n",
                "ab".repeat(32)
            )
        );
    }

    #[test]
    fn without_a_commitment_or_choices_the_draws_alone_are_shown() {
        let text = report(&options(None, &[]), &drawn(&[3, 4])).unwrap();
        assert!(text.ends_with("Drawn       3, 4\n"), "{text}");
        assert!(!text.contains("as published"));
    }

    #[test]
    fn a_seed_that_was_not_committed_to_is_a_failure() {
        let failure = report(&options(Some(0xcd), &[]), &drawn(&[8])).unwrap_err();
        assert_eq!(failure.code, 1);
        assert!(failure.message.contains(&"ab".repeat(32)));
    }

    #[test]
    fn the_most_right_guesses_win_and_as_many_are_a_draw() {
        let of = |choices: &[Parity], numbers: &[u64]| result(&options(None, choices), numbers).unwrap();
        assert!(of(&[Even, Even], &[8]).starts_with("draw"));
        assert!(of(&[Odd, Odd], &[8]).starts_with("draw"));
        assert!(of(&[Odd, Even], &[8]).starts_with("PLAYER_B wins"));
        assert!(of(&[Odd, Even, Odd, Even, Odd, Odd], &[8, 7, 9]).starts_with("draw: PLAYER_A guessed 2 of 3"));
    }

    #[test]
    fn too_few_choices_are_counted_for_the_user() {
        assert_eq!(
            result(&options(None, &[Even, Odd]), &[1, 2]).unwrap_err().message,
            "--choices wants 4 words for even_odd, two for each number drawn, not 2"
        );
    }
}
