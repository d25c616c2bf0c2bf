//! How the house chooses in the games of even and odd. A strategy sees what a player has seen, and says even or odd.
//!
//! # What can be won
//!
//! The number is drawn fairly, so nobody can guess it better than by chance, and no strategy *wins* more than half of
//! its guesses. What the game does allow is this: two players who choose alike always draw (1 point each), while two
//! who choose differently always have a winner (3 points for one of them, 1.5 on average for both). So whoever can
//! tell what the opponent will choose, and chooses the other, earns more than random. Should the draw ever be unfair,
//! a strategy that counts notices that too. [`Frequency`] and [`Markov`] do both; see [`best_choice`].

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

use super::Parity;
use crate::games::house::prelude::*;

/// One turn that has been played, as GAME_OVER tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    /// What was drawn.
    number: Parity,
    /// Whom we played.
    opponent: String,
    /// What they chose; nothing if they forfeited.
    choice: Option<Parity>,
}

impl Turn {
    /// The turns of a match against `opponent`: `[{"number": 7, "P02": "odd", …}, …]`.
    fn read(moves: &Value, opponent: &str) -> Vec<Turn> {
        let turn = |turn: &Value| {
            let number = Parity::of(turn["number"].as_u64()?);
            let choice = turn[opponent].as_str().and_then(Parity::named);
            Some(Turn { number, opponent: opponent.to_string(), choice })
        };
        moves.as_array().into_iter().flatten().filter_map(turn).collect()
    }
}

/// What a player remembers when it is asked to choose.
#[derive(Clone, Debug, Default)]
struct History {
    /// Every turn it has played, oldest first.
    turns: Vec<Turn>,
    /// Whom it plays now.
    opponent: String,
}

impl History {
    /// Everything drawn so far.
    fn numbers(&self) -> Vec<Parity> {
        self.turns.iter().map(|turn| turn.number).collect()
    }

    /// What the opponent has chosen against us so far; if we never met, what everybody else has.
    fn choices(&self) -> Vec<Parity> {
        let theirs = self.turns.iter().filter(|turn| turn.opponent == self.opponent);
        let theirs: Vec<Parity> = theirs.filter_map(|turn| turn.choice).collect();
        if theirs.is_empty() { self.turns.iter().filter_map(|turn| turn.choice).collect() } else { theirs }
    }
}

/// A way to choose.
trait Strategy: Send {
    /// Even or odd, given everything that has happened.
    fn choose(&mut self, history: &History) -> Parity;
}

/// Somebody who remembers, and chooses by a strategy.
struct Guesser<S> {
    strategy: S,
    history: History,
    /// How many turns of the history are of matches that are over.
    over: usize,
}

impl<S: Strategy + 'static> Guesser<S> {
    fn with(strategy: S) -> Box<dyn Mind> {
        Box::new(Self { strategy, history: History::default(), over: 0 })
    }
}

impl<S> Guesser<S> {
    /// Remembers the turns of the match it is in, in place of what it knew of it.
    fn remember(&mut self, moves: &Value, opponent: &str) {
        self.history.turns.truncate(self.over);
        self.history.turns.extend(Turn::read(moves, opponent));
        self.history.opponent = opponent.to_string();
    }
}

impl<S: Strategy> Mind for Guesser<S> {
    fn choose(&mut self, seen: Seen<'_>) -> Value {
        self.remember(&seen.state["previous_moves"], seen.opponent);
        json!({"action": "choose", "value": self.strategy.choose(&self.history).name()})
    }

    fn learn(&mut self, result: Seen<'_>) {
        let Seen { opponent, state, .. } = result;
        let moves = &state["game_summary"]["moves"];
        // A game of one turn tells it beside all else.
        let only = json!([{"number": state["drawn_number"], opponent: state["choices"][opponent]}]);
        self.remember(if moves.is_array() { moves } else { &only }, opponent);
        self.over = self.history.turns.len();
    }
}

/// The players in the order the house seats them.
pub const MINDS: &[(&str, Make)] = &[
    ("Random", |seed| Guesser::with(Random(Coin::new(seed)))),
    ("Always even", |_| Guesser::with(AlwaysEven)),
    ("Alternating", |_| Guesser::with(Alternating { next: Parity::Even })),
    ("Frequency", |seed| Guesser::with(Frequency(Coin::new(seed)))),
    ("Markov", |seed| Guesser::with(Markov(Coin::new(seed)))),
];

fn toss(coin: &mut Coin) -> Parity {
    Parity::of(coin.below(2))
}

/// Tosses a coin.
struct Random(Coin);

impl Strategy for Random {
    fn choose(&mut self, _: &History) -> Parity {
        toss(&mut self.0)
    }
}

/// Never thinks.
struct AlwaysEven;

impl Strategy for AlwaysEven {
    fn choose(&mut self, _: &History) -> Parity {
        Parity::Even
    }
}

/// Even, odd, even, odd.
struct Alternating {
    next: Parity,
}

impl Strategy for Alternating {
    fn choose(&mut self, _: &History) -> Parity {
        let choice = self.next;
        self.next = choice.other();
        choice
    }
}

/// Expects what has been most frequent.
struct Frequency(Coin);

impl Strategy for Frequency {
    fn choose(&mut self, history: &History) -> Parity {
        let number = chance_of_even(&history.numbers(), FAIR_DRAWS);
        let opponent = chance_of_even(&history.choices(), FAIR_CHOICES);
        best_choice(number, opponent).unwrap_or_else(|| toss(&mut self.0))
    }
}

/// Expects what most often came after the last one: it sees patterns where [`Frequency`] sees only counts.
struct Markov(Coin);

impl Strategy for Markov {
    fn choose(&mut self, history: &History) -> Parity {
        let number = chance_of_even(&after_the_last(&history.numbers()), FAIR_DRAWS);
        let opponent = chance_of_even(&after_the_last(&history.choices()), FAIR_CHOICES);
        best_choice(number, opponent).unwrap_or_else(|| toss(&mut self.0))
    }
}

/// Everything that ever followed what came last.
fn after_the_last(seen: &[Parity]) -> Vec<Parity> {
    let last = seen.last();
    seen.windows(2).filter(|pair| Some(&pair[0]) == last).map(|pair| pair[1]).collect()
}

/// The draw is said to be fair: it takes this many draws of each kind to make us doubt it.
const FAIR_DRAWS: f64 = 20.0;

/// Of an opponent we know nothing: one choice of each kind is soon outweighed.
const FAIR_CHOICES: f64 = 1.0;

/// How likely even is next, if it was drawn as often as in `seen` and `prior` times of each kind before that.
fn chance_of_even(seen: &[Parity], prior: f64) -> f64 {
    let even = seen.iter().filter(|&&parity| parity == Parity::Even).count();
    (even as f64 + prior) / (seen.len() as f64 + 2.0 * prior)
}

/// The choice that earns more points on average, or `None` when both earn the same. `number` is the chance that an
/// even number is drawn, `opponent` that the opponent chooses even.
///
/// Choosing even earns 3 when the number is even and the opponent chose odd, and 1 whenever the opponent chose even;
/// choosing odd, the other way round.
fn best_choice(number: f64, opponent: f64) -> Option<Parity> {
    let even = 3.0 * number * (1.0 - opponent) + opponent;
    let odd = 3.0 * (1.0 - number) * opponent + (1.0 - opponent);
    // Differences this small come from rounding, not from the game.
    if (even - odd).abs() < 1e-9 {
        None
    } else if even > odd {
        Some(Parity::Even)
    } else {
        Some(Parity::Odd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Parity::{Even, Odd};

    const TURNS: usize = 1000;

    fn mind(name: &str) -> Box<dyn Mind> {
        let (_, make) = MINDS.iter().find(|(known, _)| *known == name).unwrap();
        make(1)
    }

    fn seen<'a>(opponent: &'a str, state: &'a Value) -> Seen<'a> {
        Seen { me: "P01", seat: 0, opponent, state }
    }

    fn chosen(mind: &mut dyn Mind, state: &Value) -> Parity {
        Parity::named(mind.choose(seen("P02", state))["value"].as_str().unwrap()).unwrap()
    }

    /// Plays match after match against an opponent and a draw, and says how many points were earned and numbers guessed.
    fn play(
        name: &str,
        mut number: impl FnMut(usize) -> Parity,
        mut opponent: impl FnMut(usize) -> Parity,
    ) -> (usize, usize) {
        let mut mind = mind(name);
        let (mut points, mut guessed) = (0, 0);
        for turn in 0..TURNS {
            let (mine, theirs, number) = (chosen(&mut *mind, &Value::Null), opponent(turn), number(turn));
            guessed += usize::from(mine == number);
            points += match (mine == number, theirs == number) {
                (true, false) => 3,
                (false, true) => 0,
                _ => 1,
            };
            let drawn = if number == Even { 8 } else { 7 };
            let choices = json!({"P01": mine.name(), "P02": theirs.name()});
            mind.learn(seen("P02", &json!({"drawn_number": drawn, "choices": choices})));
        }
        (points, guessed)
    }

    fn fair() -> impl FnMut(usize) -> Parity {
        let mut coin = Coin::new(2);
        move |_| toss(&mut coin)
    }

    fn random() -> impl FnMut(usize) -> Parity {
        let mut coin = Coin::new(3);
        move |_| toss(&mut coin)
    }

    fn alternating(turn: usize) -> Parity {
        Parity::of(turn as u64)
    }

    #[test]
    fn nobody_guesses_a_fair_draw() {
        for (name, _) in MINDS {
            let (_, guessed) = play(name, fair(), random());
            assert!((440..=560).contains(&guessed), "{name}: {guessed}");
        }
    }

    #[test]
    fn counting_beats_chance_when_the_draw_is_biased() {
        let mostly_odd = |turn| if turn % 4 == 0 { Even } else { Odd };
        for name in ["Frequency", "Markov"] {
            let (_, guessed) = play(name, mostly_odd, random());
            assert!(guessed > 700, "{name}: {guessed}");
        }
        let (_, guessed) = play("Random", mostly_odd, random());
        assert!((440..=560).contains(&guessed), "{guessed}");
    }

    #[test]
    fn markov_sees_an_alternating_draw_and_frequency_does_not() {
        let (_, markov) = play("Markov", alternating, random());
        let (_, frequency) = play("Frequency", alternating, random());
        assert!(markov > 900, "{markov}");
        assert!(frequency < 600, "{frequency}");
    }

    #[test]
    fn choosing_what_the_opponent_does_not_earns_more_than_random() {
        let (random, _) = play("Random", fair(), |_| Even);
        for name in ["Frequency", "Markov"] {
            let (points, _) = play(name, fair(), |_| Even);
            assert!(points > random + 100, "{name}: {points}, random: {random}");
        }
    }

    #[test]
    fn markov_earns_more_than_random_against_an_alternating_opponent() {
        let (random, _) = play("Random", fair(), alternating);
        let (markov, _) = play("Markov", fair(), alternating);
        assert!(markov > random + 100, "{markov}, random: {random}");
    }

    #[test]
    fn an_opponent_we_met_is_judged_by_its_own_choices() {
        let turn = |opponent: &str, choice| Turn { number: Even, opponent: opponent.into(), choice: Some(choice) };
        let mut history =
            History { turns: [turn("P02", Even), turn("P03", Odd), turn("P03", Odd)].into(), opponent: "P02".into() };
        assert_eq!(history.choices(), [Even]);
        history.opponent = "P04".into();
        assert_eq!(history.choices(), [Even, Odd, Odd]);
    }

    #[test]
    fn with_nothing_known_both_choices_are_equal() {
        assert_eq!(best_choice(0.5, 0.5), None);
        assert_eq!(best_choice(0.5, 0.6), Some(Odd));
        assert_eq!(best_choice(0.6, 0.5), Some(Even));
    }

    #[test]
    fn alternating_alternates_and_always_even_does_not() {
        let choices = |name| {
            let mut mind = mind(name);
            [(); 4].map(|()| chosen(&mut *mind, &Value::Null))
        };
        assert_eq!(choices("Alternating"), [Even, Odd, Even, Odd]);
        assert_eq!(choices("Always even"), [Even; 4]);
    }

    /// Lets the test see what was remembered.
    struct Spy;

    impl Strategy for Spy {
        fn choose(&mut self, _: &History) -> Parity {
            Odd
        }
    }

    fn spy() -> Guesser<Spy> {
        Guesser { strategy: Spy, history: History::default(), over: 0 }
    }

    #[test]
    fn a_game_of_one_turn_is_learnt_from_and_the_next_opponent_is_known_by_name() {
        let mut spy = spy();
        spy.learn(seen("P02", &json!({"drawn_number": 8, "choices": {"P01": "odd", "P02": "even"}})));
        assert_eq!(spy.choose(seen("P03", &Value::Null)), json!({"action": "choose", "value": "odd"}));
        assert_eq!(spy.history.opponent, "P03");
        assert_eq!(spy.history.turns, [Turn { number: Even, opponent: "P02".into(), choice: Some(Even) }]);
    }

    #[test]
    fn the_turns_of_a_long_game_are_seen_as_they_happen_and_not_twice() {
        let mut spy = spy();
        let moves = json!([
            {"turn": 1, "P01": "odd", "P02": "even", "number": 42, "winner": "P02"},
            {"turn": 2, "P01": "odd", "P02": null, "number": 7, "winner": "P01"},
        ]);
        for _ in 0..2 {
            spy.choose(seen("P02", &json!({"previous_moves": moves})));
            assert_eq!(spy.history.turns.len(), 2);
        }
        spy.learn(seen("P02", &json!({"game_summary": {"moves": moves}})));
        spy.choose(seen("P02", &Value::Null));
        let turn = |number, choice| Turn { number, opponent: "P02".into(), choice };
        assert_eq!(spy.history.turns, [turn(Even, Some(Even)), turn(Odd, None)]);
    }
}
