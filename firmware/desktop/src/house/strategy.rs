//! How the house players choose. A strategy sees what a player has seen, and says even or odd; it knows nothing of
//! HTTP, JSON or time.
//!
//! # What can be won
//!
//! The number is drawn fairly, so nobody can guess it better than by chance, and no strategy *wins* more than half of
//! its guesses. What the game does allow is this: two players who choose alike always draw (1 point each), while two
//! who choose differently always have a winner (3 points for one of them, 1.5 on average for both). So whoever can
//! tell what the opponent will choose, and chooses the other, earns more than random. Should the draw ever be unfair,
//! a strategy that counts notices that too. [`Frequency`] and [`Markov`] do both; see [`best_choice`].

/// A choice, or the kind of number that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Divisible by two.
    Even,
    /// Not.
    Odd,
}

impl Parity {
    /// Its name in the messages.
    pub fn name(self) -> &'static str {
        match self {
            Parity::Even => "even",
            Parity::Odd => "odd",
        }
    }

    /// Reads that name.
    pub fn from_name(name: &str) -> Option<Parity> {
        [Parity::Even, Parity::Odd].into_iter().find(|parity| parity.name() == name)
    }

    /// The parity of a number.
    pub fn of(number: u64) -> Parity {
        if number.is_multiple_of(2) { Parity::Even } else { Parity::Odd }
    }

    /// The other one.
    pub fn other(self) -> Parity {
        match self {
            Parity::Even => Parity::Odd,
            Parity::Odd => Parity::Even,
        }
    }
}

/// One turn that has been played, as GAME_OVER tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What was drawn.
    pub number: Parity,
    /// Whom we played.
    pub opponent: String,
    /// What they chose; nothing if they forfeited.
    pub choice: Option<Parity>,
}

/// What a player remembers when it is asked to choose.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every turn it has played, oldest first.
    pub turns: Vec<Turn>,
    /// Whom it plays now.
    pub opponent: String,
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
pub trait Strategy: Send {
    /// Even or odd, given everything that has happened.
    fn choose(&mut self, history: &History) -> Parity;
}

/// Makes a strategy; the seed is for its coin.
pub type Make = fn(seed: u64) -> Box<dyn Strategy>;

/// The strategies in the order the house seats them, each with the name of its player.
pub const ALL: [(&str, Make); 5] = [
    ("Random", |seed| Box::new(Random(Coin::new(seed)))),
    ("Always even", |_| Box::new(AlwaysEven)),
    ("Alternating", |_| Box::new(Alternating { next: Parity::Even })),
    ("Frequency", |seed| Box::new(Frequency(Coin::new(seed)))),
    ("Markov", |seed| Box::new(Markov(Coin::new(seed)))),
];

/// Tosses a coin.
pub struct Random(Coin);

impl Strategy for Random {
    fn choose(&mut self, _: &History) -> Parity {
        self.0.toss()
    }
}

/// Never thinks.
pub struct AlwaysEven;

impl Strategy for AlwaysEven {
    fn choose(&mut self, _: &History) -> Parity {
        Parity::Even
    }
}

/// Even, odd, even, odd.
pub struct Alternating {
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
pub struct Frequency(Coin);

impl Strategy for Frequency {
    fn choose(&mut self, history: &History) -> Parity {
        let number = chance_of_even(&history.numbers(), FAIR_DRAWS);
        let opponent = chance_of_even(&history.choices(), FAIR_CHOICES);
        best_choice(number, opponent).unwrap_or_else(|| self.0.toss())
    }
}

/// Expects what most often came after the last one: it sees patterns where [`Frequency`] sees only counts.
pub struct Markov(Coin);

impl Strategy for Markov {
    fn choose(&mut self, history: &History) -> Parity {
        let number = chance_of_even(&after_the_last(&history.numbers()), FAIR_DRAWS);
        let opponent = chance_of_even(&after_the_last(&history.choices()), FAIR_CHOICES);
        best_choice(number, opponent).unwrap_or_else(|| self.0.toss())
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
pub fn best_choice(number: f64, opponent: f64) -> Option<Parity> {
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

/// A fair coin (SplitMix64). Good enough to be unpredictable to players; nothing secret depends on it.
pub struct Coin(u64);

impl Coin {
    /// The coin whose tosses `seed` decides.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Even or odd, equally likely.
    pub fn toss(&mut self) -> Parity {
        Parity::of(self.next() >> 63)
    }

    /// A number below `n`, all about equally likely; `n` is small and not zero.
    pub fn below(&mut self, n: u64) -> u64 {
        ((self.next() >> 32) * n) >> 32
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Parity::{Even, Odd};

    const TURNS: usize = 1000;

    fn strategy(name: &str) -> Box<dyn Strategy> {
        let (_, make) = ALL.into_iter().find(|(known, _)| *known == name).unwrap();
        make(1)
    }

    /// Plays turn after turn against an opponent and a draw, and says how many points were earned and numbers guessed.
    fn play(
        name: &str,
        mut number: impl FnMut(usize) -> Parity,
        mut opponent: impl FnMut(usize) -> Parity,
    ) -> (usize, usize) {
        let mut strategy = strategy(name);
        let mut history = History { opponent: "P02".into(), ..History::default() };
        let (mut points, mut guessed) = (0, 0);
        for turn in 0..TURNS {
            let (mine, theirs, number) = (strategy.choose(&history), opponent(turn), number(turn));
            guessed += usize::from(mine == number);
            points += match (mine == number, theirs == number) {
                (true, false) => 3,
                (false, true) => 0,
                _ => 1,
            };
            history.turns.push(Turn { number, opponent: "P02".into(), choice: Some(theirs) });
        }
        (points, guessed)
    }

    fn fair() -> impl FnMut(usize) -> Parity {
        let mut coin = Coin::new(2);
        move |_| coin.toss()
    }

    fn random() -> impl FnMut(usize) -> Parity {
        let mut coin = Coin::new(3);
        move |_| coin.toss()
    }

    fn alternating(turn: usize) -> Parity {
        Parity::of(turn as u64)
    }

    #[test]
    fn nobody_guesses_a_fair_draw() {
        for (name, _) in ALL {
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
            History { turns: vec![turn("P02", Even), turn("P03", Odd), turn("P03", Odd)], opponent: "P02".into() };
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
        let history = History::default();
        let choices = |name| {
            let mut strategy = strategy(name);
            [(); 4].map(|()| strategy.choose(&history))
        };
        assert_eq!(choices("Alternating"), [Even, Odd, Even, Odd]);
        assert_eq!(choices("Always even"), [Even; 4]);
    }
}
