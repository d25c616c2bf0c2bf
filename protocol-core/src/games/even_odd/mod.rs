//! Even or odd: two players guess, one number from 1 to 10 is drawn, who guessed its parity wins. Both right or both
//! wrong is a draw.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;

use core::fmt;
use core::ops::ControlFlow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::parity::Choices;
use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Parity, Question, Rules, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::Value;

/// One match of even or odd.
#[derive(Clone, Debug)]
pub struct EvenOdd {
    choices: [Option<Parity>; 2],
    drawn: Option<u8>,
    forfeited: Seats,
}

impl EvenOdd {
    pub(super) const SIZE: usize = 5;

    pub(super) const RULES: Rules = Rules {
        name: "even_odd",
        seats: 2..=2,
        question: Question::Parity,
        order: Order::Together,
        board: false,
        turns: 1,
        remembers: 0,
        columns: "drawn_number,choice_a,choice_b",
    };

    pub(super) fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { choices: [None; 2], drawn: None, forfeited: Seats::NONE }
    }

    pub(super) fn recall(seed: Seed, digest: u64) -> Self {
        let forfeited = [0, 1].into_iter().filter(|seat| digest >> 4 >> seat & 1 == 1).fold(Seats::NONE, Seats::with);
        let mut game =
            Self { choices: [Parity::from_bits(digest), Parity::from_bits(digest >> 2)], drawn: None, forfeited };
        game.draw(&mut Draws::new(seed));
        game
    }

    fn draw(&mut self, draws: &mut Draws) {
        self.drawn = u8::try_from(draws.between(1, 10)).ok();
    }

    fn choice(&self, seat: Seat) -> Option<Parity> {
        self.choices.get(usize::from(seat)).copied().flatten()
    }

    /// Whether a seat named the parity that was drawn.
    fn right(&self, seat: Seat) -> bool {
        self.drawn.is_some_and(|number| self.choice(seat) == Some(Parity::of(number)))
    }
}

impl Game for EvenOdd {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        if self.drawn.is_some() {
            return Seats::NONE;
        }
        (0..2).filter(|&seat| self.choice(seat).is_none()).fold(Seats::NONE, Seats::with)
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal> {
        let choice = Parity::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        if let Some(place) = self.choices.get_mut(usize::from(seat)) {
            *place = Some(choice);
        }
        if self.to_move().is_empty() {
            self.draw(draws);
        }
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, draws: &mut Draws) {
        self.forfeited = losers;
        self.draw(draws);
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) && sink.legal_move(&Parity::Even) == ControlFlow::Continue(()) {
            let _ = sink.legal_move(&Parity::Odd);
        }
    }

    fn turn(&self) -> u16 {
        if self.drawn.is_some() { 2 } else { 1 }
    }

    fn score(&self, seat: Seat) -> i32 {
        if self.forfeited.is_empty() { i32::from(self.right(seat)) } else { i32::from(!self.forfeited.has(seat)) }
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, _table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("choices_in", &self.choices.iter().flatten().count())
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.drawn, self.choice(seat)) {
            (None, _) => Ok(()),
            (_, Some(choice)) => write!(f, "Chose {}", choice.name()),
            (_, None) => f.write_str("Chose nothing"),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.drawn.is_some() { self.reason(table, f) } else { Ok(()) }
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        self.choice(seat).serialize(serializer)
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("drawn_number", &self.drawn)?;
        out.serialize_entry("number_parity", &self.drawn.map(Parity::of))?;
        out.serialize_entry("choices", &Choices { choices: &self.choices, table })
    }

    fn standing(&self) -> Option<Standing> {
        self.drawn?;
        let mut scores = [0; MAX_SEATS];
        for (score, seat) in scores.iter_mut().zip(0..2) {
            *score = self.score(seat);
        }
        Some(Standing::by_score(2, scores))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(number) = self.drawn else { return f.write_str("still running") };
        let parity = Parity::of(number).name();
        match (self.right(0), self.right(1)) {
            (true, true) => write!(f, "Both chose {parity}, number was {number} ({parity})"),
            (true, false) => write!(f, "{} chose {parity}, number was {number} ({parity})", table.id(0)),
            (false, true) => write!(f, "{} chose {parity}, number was {number} ({parity})", table.id(1)),
            (false, false) => write!(f, "Neither chose {parity}, number was {number} ({parity})"),
        }
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.drawn {
            write!(f, "{number}")?;
        }
        self.choices.iter().try_for_each(|choice| write!(f, ",{}", choice.map_or("", Parity::name)))
    }

    fn digest(&self) -> u64 {
        Parity::to_bits(self.choice(0))
            | Parity::to_bits(self.choice(1)) << 2
            | u64::from(self.forfeited.has(0)) << 4
            | u64::from(self.forfeited.has(1)) << 5
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::games::testing::{self, PLAYERS, said};
    use crate::json::parse;
    use std::format;

    /// Plays two choices under a seed that draws `number`.
    fn played(a: &str, b: &str, number: u8) -> EvenOdd {
        let seed =
            (0..=255u8).map(|n| Seed([n; 32])).find(|&s| Draws::new(s).between(1, 10) == u32::from(number)).unwrap();
        let mut draws = Draws::new(seed);
        let mut game = EvenOdd::start(2, &mut draws);
        for (seat, choice) in [(0, a), (1, b)] {
            game.play(seat, parse(format!("\"{choice}\"").as_bytes()).unwrap(), &mut draws).unwrap();
        }
        game
    }

    #[test]
    fn who_did_not_choose_is_not_among_the_choices() {
        let mut game = EvenOdd::start(2, &mut Draws::new(Seed([0; 32])));
        assert!(testing::result(&game, PLAYERS).ends_with(r#""choices":{}}"#));
        game.choices = [None, Some(Parity::Odd)];
        assert!(testing::result(&game, PLAYERS).ends_with(r#""choices":{"P02":"odd"}}"#));
    }

    #[test]
    fn who_names_the_drawn_parity_wins() {
        assert_eq!(played("even", "odd", 8).standing().unwrap().winner(), Some(0));
        assert_eq!(played("even", "odd", 7).standing().unwrap().winner(), Some(1));
    }

    #[test]
    fn both_right_and_both_wrong_are_draws() {
        assert_eq!(played("even", "even", 8).standing().unwrap().winner(), None);
        assert_eq!(played("odd", "odd", 8).standing().unwrap().winner(), None);
    }

    #[test]
    fn a_choice_may_come_in_any_case_or_inside_an_object() {
        for text in [r#""EVEN""#, r#"{"value":"Even"}"#, r#"{"action":"choose","value":"even"}"#, r#""\u0065ven""#] {
            assert_eq!(Parity::read(parse(text.as_bytes()).unwrap()), Ok(Parity::Even), "{text}");
        }
        for text in [r#""maybe""#, "1", "null", "{}", r#"["even"]"#, r#"{"value":1}"#] {
            assert!(Parity::read(parse(text.as_bytes()).unwrap()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_second_choice_is_refused_and_changes_nothing() {
        let mut draws = Draws::new(Seed([1; 32]));
        let mut game = EvenOdd::start(2, &mut draws);
        game.play(0, parse(b"\"even\"").unwrap(), &mut draws).unwrap();
        assert!(game.play(0, parse(b"\"odd\"").unwrap(), &mut draws).is_err());
        assert_eq!(game.choice(0), Some(Parity::Even));
    }

    #[test]
    fn the_result_reads_as_the_specification_prints_it() {
        assert_eq!(
            testing::result(&played("even", "odd", 8), PLAYERS),
            r#"{"drawn_number":8,"number_parity":"even","choices":{"P01":"even","P02":"odd"}}"#
        );
        let reason = |(a, b)| said(|f| played(a, b, 8).reason(PLAYERS, f));
        let reasons = [("even", "odd"), ("odd", "even"), ("even", "even"), ("odd", "odd")].map(reason);
        assert_eq!(
            reasons,
            [
                "P01 chose even, number was 8 (even)",
                "P02 chose even, number was 8 (even)",
                "Both chose even, number was 8 (even)",
                "Neither chose even, number was 8 (even)"
            ]
        );
    }

    #[test]
    fn a_turn_is_told_when_both_have_chosen_and_not_before() {
        let mut draws = Draws::new(Seed([1; 32]));
        let mut game = EvenOdd::start(2, &mut draws);
        testing::play(&mut game, 0, "\"even\"", &mut draws).unwrap();
        assert_eq!(
            (game.turn(), said(|f| game.action(0, PLAYERS, f)), said(|f| game.summary(PLAYERS, f))),
            (1, "".into(), "".into())
        );
        let game = played("even", "odd", 8);
        assert_eq!((game.turn(), game.score(0), game.score(1)), (2, 1, 0));
        assert_eq!(said(|f| game.action(1, PLAYERS, f)), "Chose odd");
        assert_eq!(said(|f| game.summary(PLAYERS, f)), "P01 chose even, number was 8 (even)");
    }
}
