//! `leaguebox verify`: recomputes what was drawn in a match from the seed GAME_OVER revealed, and checks that this is the
//! seed the box was bound to. How numbers follow from a seed is protocol-core's; this is the report.

use std::fmt::{self, Write};
use std::{fs, io};

use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, MAX_SEATS, Parity, Seats};
use protocol_core::json;
use protocol_core::venue::{Astray, Deed, Replay, Step};
use serde_json::Value;

use crate::cli::{Verify, VerifyOptions};
use crate::failure::Failure;

/// Everything a seed decides.
struct Recomputed {
    /// The hash that must have been published.
    commitment: [u8; 32],
    /// The numbers in the order of the turns. None in games where the moves decide what is drawn.
    numbers: Vec<u64>,
}

/// Recomputes the match and reports it; whatever does not fit is a failure.
pub fn verify(what: &Verify) -> Result<String, Failure> {
    match what {
        Verify::Draws(options) => report(options, &recompute(options.game, options.seed)?),
        Verify::Moves(file) => {
            let unread = |error: io::Error| Failure::usage(format!("{} cannot be read: {error}", file.display()));
            replay(&fs::read_to_string(file).map_err(unread)?)
        }
    }
}

/// Plays a match again from its seed, move by move.
fn replay(text: &str) -> Result<String, Failure> {
    let wrong = |what: &str| Failure::work(format!("this is no moves.json of a match that is over: {what}"));
    let file: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    let word = |name: &str| file[name].as_str().ok_or_else(|| wrong(&format!("{name} is missing")));
    let game = word("game_type")?;
    let kind = GameKind::named(game).ok_or_else(|| wrong(&format!("there is no game {game}")))?;
    let seed = Seed::from_hex(word("match_seed")?).ok_or_else(|| wrong("match_seed must be 64 hex digits"))?;
    let commitment = hex(&seed.commitment().0);
    if commitment != word("seed_commitment")? {
        return Err(Failure::work("this seed was not the one committed to"));
    }
    let list = |name: &str| file[name].as_array().ok_or_else(|| wrong(&format!("{name} is missing")));
    let players: Vec<&str> = list("players")?.iter().filter_map(Value::as_str).collect();
    let seats = u8::try_from(players.len()).ok().filter(|n| kind.rules().seats.contains(n));
    let mut replay = Replay::new(kind, seats.ok_or_else(|| wrong("players must be as many as the game has"))?, seed);
    let mut past: Vec<u64> = replay.game.position().iter().map(|position| position.digest).collect();
    let mut moves = 0;
    for line in list("moves")? {
        let number = replay.shot.step + 1;
        let astray = |Astray| Failure::work(format!("step {number} cannot have been played: {line}"));
        let seat = |player: &Value| players.iter().position(|id| player == id).and_then(|seat| u8::try_from(seat).ok());
        let made = line["move"].to_string();
        let deed = |came| match (seat(&line["player_id"]), line["ended_against"].as_array()) {
            (Some(seat), None) => Ok(Deed::Moved { seat, made: &made, came, late: line["late"] == true }),
            (None, Some(against)) => {
                Ok(Deed::Ended(against.iter().filter_map(seat).fold(Seats::NONE, |seats, seat| seats.with(seat))))
            }
            (None, None) if line["about"].is_string() => Ok(Deed::About(line["about"].as_str().unwrap_or_default())),
            (None, None) if line["votes"].is_array() => {
                let mut votes = [0; MAX_SEATS];
                let told = line["votes"].as_array().into_iter().flatten().filter_map(Value::as_u64);
                votes.iter_mut().zip(told).for_each(|(votes, told)| *votes = u16::try_from(told).unwrap_or(u16::MAX));
                Ok(Deed::Voted(votes, Seats::NONE))
            }
            _ => Err(wrong(&format!("step {number} is nobody's"))),
        };
        let step = |came| Ok(Step { of: replay.of, number, at_ms: 0, deed: deed(came)? });
        let mut next = replay.clone();
        next.follow(&step(0)?).map_err(astray)?;
        if let Some(position) = next.game.position().filter(|_| next.shot.seat.is_some()) {
            past.retain(|_| !position.is_new);
            let times = 1 + past.iter().filter(|&&digest| digest == position.digest).count();
            past.push(position.digest);
            if times > 1 {
                next = replay.clone();
                next.follow(&step(u8::try_from(times).unwrap_or(u8::MAX))?).map_err(astray)?;
            }
        }
        moves += u32::from(next.shot.seat.is_some());
        replay = next;
    }
    let mut text = format!(
        "Game        {game}\nCommitment  {commitment}   (as published)\nMoves       {moves}, each by the rules\n"
    );
    if file["complete"] != true {
        text += "            (the end is not kept)\n";
    }
    if let Some(standing) = replay.game.standing() {
        let placed = players.iter().zip(standing.places.iter().zip(standing.scores));
        let placed: Vec<_> = placed.map(|(id, (place, score))| format!("{place}. {id} ({score})")).collect();
        _ = writeln!(text, "Result      {}", placed.join(", "));
    }
    Ok(text)
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
    use serde_json::json;

    fn options(commitment: Option<u8>, choices: &[Parity]) -> VerifyOptions {
        let commitment = commitment.map(|byte| [byte; 32]);
        VerifyOptions { game: "even_odd", seed: [1; 32], commitment, choices: choices.to_vec() }
    }

    fn drawn(numbers: &[u64]) -> Recomputed {
        Recomputed { commitment: [0xab; 32], numbers: numbers.to_vec() }
    }

    #[test]
    fn a_match_is_played_again_and_whoever_changes_a_word_of_it_is_found_out() {
        let seed = Seed([7; 32]);
        let lines = [("P01", "rock"), ("P02", "paper")].repeat(3);
        let line = |(n, (id, made)): (usize, &(&str, &str))| json!({"step": n + 1, "player_id": id, "move": [made]});
        let mut moves: Vec<Value> = lines.iter().enumerate().map(line).collect();
        moves.push(json!({"step": 7, "player_id": null, "move": null, "ended_against": []}));
        let file = json!({"game_type": "rockpaper", "match_seed": hex(&seed.0), "seed_commitment": hex(&seed.commitment().0),
            "players": ["P01", "P02"], "complete": true, "steps": 7, "moves": moves});
        let text = replay(&file.to_string()).unwrap();
        assert!(text.contains("Moves       6, each by the rules") && text.contains("2. P01 (0), 1. P02 (3)"), "{text}");
        for (pointer, value) in [
            ("/match_seed", json!("00".repeat(32))),
            ("/players", json!(["P01"])),
            ("/moves/3/move", json!(["well"])),
            ("/moves/3/player_id", json!("P01")),
            ("/moves/3/player_id", json!("P07")),
            ("/game_type", json!("echo")),
        ] {
            let mut forged = file.clone();
            *forged.pointer_mut(pointer).unwrap() = value;
            assert!(replay(&forged.to_string()).is_err(), "{pointer}");
        }
    }

    #[test]
    fn of_a_game_that_draws_nothing_the_commitment_is_all_there_is_to_check() {
        let echo = VerifyOptions { game: "echo", ..options(None, &[]) };
        let text = verify(&Verify::Draws(echo.clone())).unwrap();
        assert!(text.starts_with("Game        echo\nCommitment  ") && text.lines().count() == 2, "{text}");
        let failure = verify(&Verify::Draws(VerifyOptions { choices: vec![Even, Odd], ..echo })).unwrap_err();
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
