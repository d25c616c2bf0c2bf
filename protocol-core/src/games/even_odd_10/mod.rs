//! The ten-turn form of even or odd: each turn both guess and a number from 0 to 99 is drawn; who guessed more turns
//! right wins, and level is a draw. Every number is drawn before the next guess, so all of them follow from the seed.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;

use core::fmt;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::parity::Choices;
use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Parity, Question, Rules, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::Value;

const TURNS: usize = 10;

/// One match of ten turns: two bits a choice, a byte a number.
#[derive(Clone, Debug)]
pub struct EvenOdd10 {
    /// Two bits a choice, seat by seat, turn by turn; as [`Parity::to_bits`] writes them.
    choices: u64,
    drawn: [u8; TURNS],
    /// Turns that have been drawn.
    turns: u8,
    forfeited: Seats,
}

/// A move as the generic messages carry it.
#[derive(Serialize)]
struct Choose {
    action: &'static str,
    value: Parity,
}

/// One turn that has been played.
struct Turn<'a> {
    number: usize,
    choices: [Option<Parity>; 2],
    drawn: u8,
    table: Table<'a>,
}

impl EvenOdd10 {
    pub(super) const SIZE: usize = 24;

    #[expect(clippy::cast_possible_truncation, reason = "ten turns")]
    pub(super) const RULES: Rules = Rules {
        name: "even_odd_10",
        seats: 2..=2,
        question: Question::Move,
        order: Order::Together,
        board: false,
        turns: TURNS as u16,
        remembers: 0,
        columns: "drawn_number,choice_a,choice_b",
    };

    pub(super) fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { choices: 0, drawn: [0; TURNS], turns: 0, forfeited: Seats::NONE }
    }

    pub(super) fn recall(seed: Seed, digest: u64) -> Self {
        let mut draws = Draws::new(seed);
        let mut game = Self::start(2, &mut draws);
        game.choices = digest & ((1 << (4 * TURNS)) - 1);
        let forfeits = digest >> (4 * TURNS);
        game.forfeited = [0, 1].into_iter().filter(|seat| forfeits >> seat & 1 == 1).fold(Seats::NONE, Seats::with);
        let turns = usize::try_from(forfeits >> 2).unwrap_or(TURNS);
        for _ in 0..turns.min(TURNS) {
            game.draw(&mut draws);
        }
        game
    }

    fn choices(&self, turn: usize) -> [Option<Parity>; 2] {
        let bits = self.choices >> (turn << 2);
        [Parity::from_bits(bits), Parity::from_bits(bits >> 2)]
    }

    fn draw(&mut self, draws: &mut Draws) {
        if let Some(place) = self.drawn.get_mut(usize::from(self.turns)) {
            *place = u8::try_from(draws.below(100)).unwrap_or(0);
            self.turns = self.turns.saturating_add(1);
        }
    }

    /// Turns a seat has guessed right.
    fn won(&self, seat: Seat) -> i32 {
        let right = |(turn, &number): (usize, &u8)| {
            self.choices(turn).get(usize::from(seat)).copied().flatten() == Some(Parity::of(number))
        };
        self.drawn.iter().enumerate().take(self.turns.into()).map(|turn| i32::from(right(turn))).sum()
    }

    fn turns<'a>(&self, table: Table<'a>) -> impl Iterator<Item = Turn<'a>> {
        (0..usize::from(self.turns)).zip(1..).zip(self.drawn).map(move |((turn, number), drawn)| Turn {
            number,
            choices: self.choices(turn),
            drawn,
            table,
        })
    }
}

impl Game for EvenOdd10 {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        let turn = usize::from(self.turns);
        if turn >= TURNS || !self.forfeited.is_empty() {
            return Seats::NONE;
        }
        let owed = |(_, choice): &(Seat, Option<Parity>)| choice.is_none();
        (0..).zip(self.choices(turn)).filter(owed).map(|(seat, _)| seat).fold(Seats::NONE, Seats::with)
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal> {
        let choice = Parity::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        self.choices |= Parity::to_bits(Some(choice)) << (self.turns << 2 | seat << 1);
        let turn = self.choices(self.turns.into());
        if turn.iter().all(Option::is_some) {
            self.draw(draws);
        }
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, draws: &mut Draws) {
        self.forfeited = losers;
        self.draw(draws);
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) && sink.legal_move(&Choose { action: "choose", value: Parity::Even }).is_continue()
        {
            let _ = sink.legal_move(&Choose { action: "choose", value: Parity::Odd });
        }
    }

    fn turn(&self) -> u16 {
        u16::from(self.turns) + 1
    }

    fn score(&self, seat: Seat) -> i32 {
        if self.forfeited.is_empty() { self.won(seat) } else { i32::from(!self.forfeited.has(seat)) }
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("turn_number", &self.turn())?;
        out.serialize_entry("max_turns", &TURNS)?;
        out.serialize_entry("allowed_values", &[Parity::Even, Parity::Odd])?;
        out.serialize_entry("previous_moves", &Turns { game: self, table })
    }

    fn action(&self, seat: Seat, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(turn) = self.turns(table).last() else { return Ok(()) };
        match turn.choices.get(usize::from(seat)).copied().flatten() {
            Some(choice) => write!(f, "Chose {}", choice.name()),
            None => f.write_str("Chose nothing"),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(turn) = self.turns(table).last() else { return Ok(()) };
        let (number, parity) = (turn.drawn, Parity::of(turn.drawn).name());
        write!(f, "Turn {}: the number was {number} ({parity}), ", turn.number)?;
        match turn.choices.map(|choice| choice == Some(Parity::of(number))) {
            [true, true] => f.write_str("both guessed it"),
            [true, false] => write!(f, "{} guessed it", table.name(0)),
            [false, true] => write!(f, "{} guessed it", table.name(1)),
            [false, false] => f.write_str("nobody guessed it"),
        }
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        let choice = |turn| self.choices(turn).get(usize::from(seat)).copied().flatten();
        let last = (0..TURNS).rev().find_map(choice);
        last.map(|value| Choose { action: "choose", value }).serialize(serializer)
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        let last = usize::from(self.turns).checked_sub(1);
        let drawn = last.and_then(|turn| self.drawn.get(turn)).copied();
        let choices = last.map(|turn| self.choices(turn)).unwrap_or_default();
        out.serialize_entry("drawn_number", &drawn)?;
        out.serialize_entry("number_parity", &drawn.map(Parity::of))?;
        out.serialize_entry("choices", &Choices { choices: &choices, table })?;
        out.serialize_entry("total_turns", &self.turns)?;
        out.serialize_entry("final_score", &Score { game: self, table })?;
        out.serialize_entry("game_summary", &Summary { moves: Turns { game: self, table } })
    }

    fn standing(&self) -> Option<Standing> {
        if !self.to_move().is_empty() {
            return None;
        }
        let mut scores = [0; MAX_SEATS];
        for (score, seat) in scores.iter_mut().zip(0..2) {
            *score = self.score(seat);
        }
        Some(Standing::by_score(2, scores))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} guessed {} of {} turns, {} {}", table.id(0), self.won(0), self.turns, table.id(1), self.won(1))
    }

    /// Each cell has the ten turns in order, with a space between them.
    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = 0..usize::from(self.turns);
        let gap = |turn| if turn == 0 { "" } else { " " };
        for (turn, number) in turns.clone().zip(self.drawn) {
            write!(f, "{}{number}", gap(turn))?;
        }
        for seat in 0..2 {
            f.write_str(",")?;
            for turn in turns.clone() {
                let choice = self.choices(turn).get(seat).copied().flatten();
                write!(f, "{}{}", gap(turn), choice.map_or("-", Parity::name))?;
            }
        }
        Ok(())
    }

    fn digest(&self) -> u64 {
        let forfeits = u64::from(self.forfeited.has(0)) | u64::from(self.forfeited.has(1)) << 1;
        self.choices | (forfeits | u64::from(self.turns) << 2) << (4 * TURNS)
    }
}

struct Turns<'a> {
    game: &'a EvenOdd10,
    table: Table<'a>,
}

impl Serialize for Turns<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.game.turns.into()))?;
        self.game.turns(self.table).try_for_each(|turn| seq.serialize_element(&turn))?;
        seq.end()
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    moves: Turns<'a>,
}

/// `{"turn":1,"P01":"even","P02":"odd","number":42,"winner":"P01"}`
impl Serialize for Turn<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let right = self.choices.map(|choice| choice == Some(Parity::of(self.drawn)));
        let winner = match right {
            [true, false] => Some(self.table.id(0)),
            [false, true] => Some(self.table.id(1)),
            _ => None,
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("turn", &self.number)?;
        for (seat, choice) in (0..).zip(&self.choices) {
            map.serialize_entry(self.table.id(seat), choice)?;
        }
        map.serialize_entry("number", &self.drawn)?;
        map.serialize_entry("winner", &winner)?;
        map.end()
    }
}

/// `{"P01":6,"P02":4}`
struct Score<'a> {
    game: &'a EvenOdd10,
    table: Table<'a>,
}

impl Serialize for Score<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        for seat in 0..2 {
            map.serialize_entry(self.table.id(seat), &self.game.won(seat))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::games::testing::{self, PLAYERS, said};
    use crate::json::parse;

    fn play_all(seed: u8, choose: impl Fn(usize, Seat) -> Parity) -> EvenOdd10 {
        let mut draws = Draws::new(Seed([seed; 32]));
        let mut game = EvenOdd10::start(2, &mut draws);
        let mut turn = 0;
        while !game.to_move().is_empty() {
            for seat in game.to_move().iter() {
                let word = std::format!("{{\"action\":\"choose\",\"value\":\"{}\"}}", choose(turn, seat).name());
                game.play(seat, parse(word.as_bytes()).unwrap(), &mut draws).unwrap();
            }
            turn += 1;
        }
        assert_eq!(turn, TURNS);
        game
    }

    #[test]
    fn who_guesses_more_of_ten_turns_wins() {
        let numbers: std::vec::Vec<u8> = {
            let mut draws = Draws::new(Seed([3; 32]));
            (0..TURNS).map(|_| draws.below(100) as u8).collect()
        };
        let other = |p: Parity| if p == Parity::Even { Parity::Odd } else { Parity::Even };
        let game = play_all(3, |turn, seat| match seat {
            0 => Parity::of(numbers[turn]),
            _ => other(Parity::of(numbers[turn])),
        });
        assert_eq!(game.standing().unwrap().scores[..2], [10, 0]);
        assert_eq!(game.standing().unwrap().winner(), Some(0));
    }

    #[test]
    fn equal_guesses_are_a_draw() {
        assert_eq!(play_all(5, |_, _| Parity::Odd).standing().unwrap().winner(), None);
    }

    #[test]
    fn a_player_sees_earlier_turns_but_not_the_others_choice_of_this_one() {
        let mut draws = Draws::new(Seed([3; 32]));
        let mut game = EvenOdd10::start(2, &mut draws);
        for seat in [0, 1, 0] {
            game.play(seat, parse(b"\"even\"").unwrap(), &mut draws).unwrap();
        }
        let view = testing::view(&game, Viewer::Seat(1), PLAYERS);
        assert_eq!(view["turn_number"], 2);
        assert_eq!(view["previous_moves"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn the_last_turn_is_told_in_words() {
        let game = play_all(5, |_, seat| if seat == 0 { Parity::Odd } else { Parity::Even });
        let (number, right) = (game.drawn[TURNS - 1], if game.drawn[TURNS - 1] % 2 == 1 { "P01" } else { "P02" });
        let parity = Parity::of(number).name();
        assert_eq!(said(|f| game.action(0, PLAYERS, f)), "Chose odd");
        assert_eq!(
            said(|f| game.summary(PLAYERS, f)),
            std::format!("Turn 10: the number was {number} ({parity}), {right} guessed it")
        );
    }
}
