//! How the house plays the games whose moves are more than even or odd. A mind sees what the box shows its player and
//! says what to play; it knows nothing of HTTP, messages or time. There is a list for each game: somebody who plays at
//! random, to be beaten, and somebody who thinks.

mod blotto;
mod dance;
mod echo;
mod gomoku;
mod rush;

use serde_json::Value;

/// What a player knows when it is asked for a move.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// Its own id.
    pub me: &'a str,
    /// Its seat: 0 for PLAYER_A, 1 for PLAYER_B and so on.
    pub seat: usize,
    /// The id of whom it plays; in a game for four, of the first of them.
    pub opponent: &'a str,
    /// The game as the box shows it: `game_specific_state`.
    pub state: &'a Value,
}

/// A way to play.
pub trait Mind: Send {
    /// The move to make now.
    fn choose(&mut self, seen: Seen<'_>) -> Value;
}

/// Makes a mind; the seed is for its dice.
pub type Make = fn(seed: u64) -> Box<dyn Mind>;

/// The minds for a game in the order the house seats them, each with the name of its player.
pub fn of(game: &str) -> Option<&'static [(&'static str, Make)]> {
    match game {
        "echo" => Some(echo::ALL),
        "blotto" => Some(blotto::ALL),
        "skill-gomoku" => Some(gomoku::ALL),
        "resource-rush" => Some(rush::ALL),
        "dance-battle" => Some(dance::ALL),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_core::fair::{Draws, Seed};
    use protocol_core::games::{AnyGame, Game, GameKind, Sitter, Table, Viewer};
    use protocol_core::json;
    use serde::ser::SerializeMap;
    use serde::{Serialize, Serializer};

    const IDS: [&str; 4] = ["P01", "P02", "P03", "P04"];

    /// What a seat is shown.
    struct View<'a>(&'a AnyGame, u8);

    impl Serialize for View<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            let sitters = IDS.map(|id| Sitter { id, ..Sitter::default() });
            protocol_core::protocols::write_view(self.0, Viewer::Seat(self.1), Table(&sitters), &mut map)?;
            map.end()
        }
    }

    /// Plays a game by its true rules. No mind may ever break one.
    fn play(kind: GameKind, seed: u8, mut minds: Vec<Box<dyn Mind>>) -> Option<u8> {
        let mut draws = Draws::new(Seed([seed; 32]));
        let mut game = AnyGame::start(kind, minds.len() as u8, &mut draws);
        while let Some(seat) = game.to_move().iter().next() {
            let state = serde_json::to_value(View(&game, seat)).unwrap();
            let seat_index = usize::from(seat);
            let seen =
                Seen { me: IDS[seat_index], seat: seat_index, opponent: IDS[usize::from(seat == 0)], state: &state };
            let wanted = minds[seat_index].choose(seen).to_string();
            let played = game.play(seat, json::parse(wanted.as_bytes()).unwrap(), &mut draws);
            assert_eq!(played, Ok(()), "{wanted} in {state}");
        }
        game.standing().unwrap().winner()
    }

    /// How many of `games` games the named mind wins against another, or several such, changing seats; and loses.
    fn wins(kind: GameKind, name: &str, against: &str, games: u8) -> (u8, u8) {
        let make = |name: &str| of(kind.rules().name).unwrap().iter().find(|(known, _)| *known == name).unwrap().1;
        let (mut won, mut lost) = (0, 0);
        for n in 0..games {
            let seats = *kind.rules().seats.start();
            let my_seat = n % seats;
            let mind = |seat: u8| {
                if seat == my_seat {
                    make(name)(n.into())
                } else {
                    make(against)(1_000 * u64::from((seat + seats - my_seat) % seats) + u64::from(n))
                }
            };
            let winner = play(kind, n, (0..seats).map(mind).collect());
            won += u8::from(winner == Some(my_seat));
            lost += u8::from(winner.is_some_and(|winner| winner != my_seat));
        }
        (won, lost)
    }

    #[test]
    fn who_thinks_beats_who_does_not() {
        for (kind, name, games, at_least) in [
            (GameKind::Echo, "Ladder", 100, 95),
            (GameKind::Blotto, "Planner", 100, 80),
            (GameKind::Gomoku, "Builder", 20, 20),
            (GameKind::Gomoku, "Guard", 20, 20),
            (GameKind::Rush, "Prospector", 2, 2),
            // Against three. A fourth would be luck.
            (GameKind::Dance, "Dancer", 60, 24),
        ] {
            let (won, _) = wins(kind, name, "Random", games);
            assert!(won >= at_least, "{name} wins {won} of {games} games of {}", kind.rules().name);
        }
    }

    #[test]
    fn who_thinks_more_beats_who_thinks_less() {
        for (kind, name, against) in [
            (GameKind::Echo, "Ladder", "Always ten"),
            (GameKind::Echo, "Ladder", "High"),
            (GameKind::Blotto, "Planner", "Even"),
            (GameKind::Gomoku, "Guard", "Builder"),
        ] {
            let (won, lost) = wins(kind, name, against, 20);
            assert!(won > lost, "{name} wins {won} and loses {lost} of 20 against {against}");
        }
    }

    #[test]
    fn every_mind_of_every_game_plays_by_the_rules_against_every_other() {
        // One game of the longest is enough, and is played above.
        for &kind in GameKind::ALL.iter().filter(|kind| kind.rules().turns <= 300) {
            for (a, _) in of(kind.rules().name).unwrap_or_default() {
                for (b, _) in of(kind.rules().name).unwrap_or_default() {
                    // Once is enough: each pair comes up in both orders.
                    wins(kind, a, b, 1);
                }
            }
        }
    }

    #[test]
    fn a_mind_that_is_shown_nonsense_still_answers() {
        let board = [[7; 15]; 15];
        for state in [
            serde_json::json!(null),
            serde_json::json!({"extra": {"history": 7, "board": 7}}),
            serde_json::json!({"extra": {"history": [{"allocations": {"P02": [99, -1]}}], "board": board}}),
        ] {
            for &kind in GameKind::ALL {
                for (_, make) in of(kind.rules().name).unwrap_or_default() {
                    assert!(make(1).choose(Seen { me: "P01", seat: 0, opponent: "P02", state: &state }).is_object());
                }
            }
        }
    }
}
