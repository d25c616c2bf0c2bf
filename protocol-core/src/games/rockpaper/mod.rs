//! `rockpaper`: both throw rock, paper or scissors at once, and a throw that beats the other one wins the round. Who has won
//! three rounds first wins; after fifteen rounds who has won more, and level is a draw. A round that is tied counts as one of
//! the fifteen. Who gives up loses whatever the rounds.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;

use core::fmt;

use serde::Serializer;
use serde::ser::SerializeMap;

use super::dance::Throw;
use super::words::{is, words};
use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::{Map, Seq, Value};

const ROUNDS: u8 = 15;
/// Rounds that have to be won.
const WINS: i32 = 3;

/// Bits for a throw; zero is none.
const THROW_WIDTH: u32 = 2;
/// Bits for a round.
const ROUND_WIDTH: u32 = 2 * THROW_WIDTH;

/// One match.
#[derive(Clone, Debug)]
pub struct RockPaper {
    /// Every throw, the first round in the lowest bits, and seat 0 in the lowest of these.
    throws: u64,
    forfeited: Seats,
}

impl RockPaper {
    pub(super) const SIZE: usize = 16;

    pub(super) const RULES: Rules = Rules {
        name: "rockpaper",
        seats: 2..=2,
        question: Question::Move,
        order: Order::Together,
        board: false,
        turns: ROUNDS as u16,
        remembers: 0,
        columns: "rounds,score_a,score_b",
    };

    pub(super) fn start(_seats: u8, _draws: &mut Draws) -> Self {
        Self { throws: 0, forfeited: Seats::NONE }
    }

    /// All of it: a match fits.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "15 rounds of four bits leave four"
    )]
    pub(super) fn recall(_seed: Seed, digest: u64) -> Self {
        let bits = u32::from(ROUNDS) * ROUND_WIDTH;
        let forfeited = Seats::of_bits((digest >> bits) as u8 & 3).unwrap_or_default();
        Self { throws: digest & ((1 << bits) - 1), forfeited }
    }

    /// What a seat threw in a round, from 0.
    #[expect(clippy::arithmetic_side_effects, reason = "no round or seat is above 255")]
    fn thrown(&self, round: u8, seat: Seat) -> Option<Throw> {
        let at = u32::from(round) * ROUND_WIDTH + u32::from(seat) * THROW_WIDTH;
        let bits = self.throws.checked_shr(at).filter(|_| round < ROUNDS && seat < 2)? & 3;
        Throw::ALL.get((bits as usize).checked_sub(1)?).copied()
    }

    /// What both threw in a round that is over.
    fn round(&self, round: u8) -> Option<[Throw; 2]> {
        Some([self.thrown(round, 0)?, self.thrown(round, 1)?])
    }

    /// How many rounds are over.
    fn over(&self) -> u8 {
        (0..ROUNDS).find(|&round| self.round(round).is_none()).unwrap_or(ROUNDS)
    }

    /// Who won a round that is over.
    fn winner(&self, round: u8) -> Option<Seat> {
        let [a, b] = self.round(round)?;
        (0..2).find(|&seat| if seat == 0 { a.beats(b) } else { b.beats(a) })
    }

    fn is_over(&self) -> bool {
        let has_won = (0..2).any(|seat| self.score(seat) >= WINS);
        has_won || self.over() >= ROUNDS || !self.forfeited.is_empty()
    }

    /// The round that is played, or, in the end, the one that was played last.
    fn current(&self) -> u8 {
        if self.is_over() { self.over().max(1) } else { self.over().saturating_add(1) }
    }

    fn read(wanted: Value<'_>) -> Result<Throw, Illegal> {
        let mut words = words(wanted);
        let throw = words.next().and_then(|word| Throw::ALL.into_iter().find(|throw| is(word, throw.name())));
        throw.filter(|_| words.next().is_none()).ok_or(Illegal("move: [\"rock\"], [\"paper\"] or [\"scissors\"]"))
    }

    fn scores<'a>(&'a self, table: Table<'a>) -> Map<impl Fn() -> ScoreList<'a>> {
        Map(move || [0, 1].map(|seat| (table.id(seat), self.score(seat))))
    }
}

/// The score of each seat, by what programs call it.
type ScoreList<'a> = [(&'a str, i32); 2];

impl Game for RockPaper {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        let round = self.over();
        let owes = |&seat: &Seat| !self.is_over() && self.thrown(round, seat).is_none();
        (0..2).filter(owes).fold(Seats::NONE, Seats::with)
    }

    #[expect(clippy::arithmetic_side_effects, reason = "whose turn it is has a seat below 2, in a round below 15")]
    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        let throw = Self::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        let at = u32::from(self.over()) * ROUND_WIDTH + u32::from(seat) * THROW_WIDTH;
        self.throws |= (throw as u64 + 1) << at;
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.forfeited = losers;
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            let _ = Throw::ALL.into_iter().try_for_each(|throw| sink.legal_move(&[throw]));
        }
    }

    fn turn(&self) -> u16 {
        u16::from(self.over()) + 1
    }

    fn score(&self, seat: Seat) -> i32 {
        (0..ROUNDS).map(|round| i32::from(self.winner(round) == Some(seat))).sum()
    }

    fn view<M: SerializeMap>(&self, _viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        let throws = |[a, b]: [Throw; 2]| Map(move || [(table.id(0), a), (table.id(1), b)]);
        let history = || (0..self.over()).filter_map(|round| self.round(round)).map(throws);
        out.serialize_entry("round", &self.current())?;
        out.serialize_entry("max_rounds", &ROUNDS)?;
        out.serialize_entry("rounds_to_win", &WINS)?;
        out.serialize_entry("scores", &self.scores(table))?;
        out.serialize_entry("history", &Seq(history))
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.over().checked_sub(1);
        match last.and_then(|last| self.thrown(last, seat)) {
            Some(throw) => write!(f, "Threw {}", throw.name()),
            None => Ok(()),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = self.over();
        let Some(last) = over.checked_sub(1) else { return Ok(()) };
        match (self.winner(last), self.round(last)) {
            (Some(seat), Some([a, b])) => {
                let [won, lost] = if seat == 0 { [a, b] } else { [b, a] };
                write!(f, "Round {over}: {} wins, {} beats {}", table.name(seat), won.name(), lost.name())
            }
            _ => write!(f, "Round {over}: tie"),
        }
    }

    fn recorded<S: Serializer>(&self, seat: Seat, _: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        self.last_move(seat, serializer)
    }

    fn last_move<S: Serializer>(&self, seat: Seat, serializer: S) -> Result<S::Ok, S::Error> {
        match (0..ROUNDS).rev().find_map(|round| self.thrown(round, seat)) {
            Some(throw) => serializer.collect_seq([throw]),
            None => serializer.serialize_none(),
        }
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("total_rounds", &self.over())?;
        out.serialize_entry("final_score", &self.scores(table))
    }

    fn standing(&self) -> Option<Standing> {
        let mut scores = [0; MAX_SEATS];
        scores.iter_mut().zip(0..2).for_each(|(score, seat)| *score = self.score(seat));
        self.is_over().then(|| Standing::after_forfeit(2, scores, self.forfeited))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (self.score(0), self.score(1));
        write!(f, "{} won {a} of {} rounds, {} {b}", table.name(0), self.over(), table.name(1))
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.over(), self.score(0), self.score(1))
    }

    fn digest(&self) -> u64 {
        let bits = u32::from(ROUNDS) * ROUND_WIDTH;
        self.throws | u64::from(self.forfeited.bits() & 3) << bits
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::games::testing::{AGENTS, moves_of, play, recorded, result, said, view};
    use serde_json::json;
    use std::format;
    use std::vec::Vec;

    const WORDS: [&str; 3] = ["rock", "paper", "scissors"];

    fn start() -> (RockPaper, Draws) {
        let mut draws = Draws::new(Seed([1; 32]));
        (RockPaper::start(2, &mut draws), draws)
    }

    /// Rounds as pairs of places in [`WORDS`].
    fn after(rounds: &[[usize; 2]]) -> RockPaper {
        let (mut game, mut draws) = start();
        for round in rounds {
            for (seat, &throw) in (0..).zip(round) {
                play(&mut game, seat, &format!("[\"{}\"]", WORDS[throw]), &mut draws).unwrap();
            }
        }
        game
    }

    #[test]
    fn each_throw_beats_the_one_before_it_in_the_list_and_loses_to_the_next() {
        for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let game = after(&[[a, b]]);
            let wins = [(3 + a - b) % 3 == 1, (3 + b - a) % 3 == 1];
            assert_eq!([game.score(0), game.score(1)], wins.map(i32::from), "{} {}", WORDS[a], WORDS[b]);
        }
    }

    #[test]
    fn who_has_won_three_rounds_first_has_won() {
        let game = after(&[[0, 2], [1, 1], [2, 0], [1, 0]]);
        assert_eq!((game.standing(), game.to_move()), (None, Seats::first(2)));
        let game = after(&[[0, 2], [1, 1], [2, 0], [1, 0], [2, 1]]);
        assert_eq!(game.standing().unwrap().winner(), Some(0));
        assert!(game.to_move().is_empty());
        assert_eq!(said(|f| game.reason(AGENTS, f)), "AgentAlpha won 3 of 5 rounds, AgentBeta 1");
        assert_eq!(said(|f| game.summary(AGENTS, f)), "Round 5: AgentAlpha wins, scissors beats paper");
        assert_eq!(said(|f| game.export(f)), "5,3,1");
        assert_eq!(result(&game, AGENTS), r#"{"total_rounds":5,"final_score":{"uuid-1":3,"uuid-2":1}}"#);
    }

    #[test]
    fn after_fifteen_rounds_most_won_rounds_win_and_level_is_a_draw() {
        let mut ties = std::vec![[0, 0]; 13];
        ties.extend([[0, 2], [1, 0]]);
        assert_eq!(after(&ties).standing().unwrap().winner(), Some(0));
        assert_eq!(after(&ties[..14]).standing(), None);
        let game = after(&[[2, 2]; 15]);
        assert_eq!((game.standing().unwrap().winner(), game.turn()), (None, 16));
    }

    #[test]
    fn everybody_sees_the_rounds_that_are_over_and_no_throw_before_both_are_in() {
        let (mut game, mut draws) = start();
        play(&mut game, 0, r#"["rock"]"#, &mut draws).unwrap();
        play(&mut game, 1, r#"["paper"]"#, &mut draws).unwrap();
        play(&mut game, 0, r#"["scissors"]"#, &mut draws).unwrap();
        let seen = json!({
            "round": 2, "max_rounds": 15, "rounds_to_win": 3, "scores": {"uuid-1": 0, "uuid-2": 1},
            "history": [{"uuid-1": "rock", "uuid-2": "paper"}],
        });
        for viewer in [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator, Viewer::Owner] {
            assert_eq!(view(&game, viewer, AGENTS), seen);
        }
        assert_eq!(said(|f| game.action(0, AGENTS, f)), "Threw rock");
        assert_eq!(game.to_move(), Seats::only(1));
    }

    #[test]
    fn a_throw_may_come_as_a_word_alone_or_as_an_action_and_is_recorded_as_listed() {
        for sent in [r#"["paper"]"#, r#""paper""#, r#"{"action":"paper"}"#, r#"{"action":["PAPER"]}"#] {
            let (mut game, mut draws) = start();
            play(&mut game, 0, sent, &mut draws).unwrap();
            assert_eq!(recorded(&game, 0, sent), json!(["paper"]));
        }
        let listed: Vec<_> = moves_of(&start().0, 0, 9);
        assert_eq!(listed, [r#"["rock"]"#, r#"["paper"]"#, r#"["scissors"]"#]);
    }

    #[test]
    fn anything_else_is_refused_with_the_three_words_there_are() {
        let (mut game, mut draws) = start();
        for sent in ["[]", "{}", "null", "1", r#"["stone"]"#, r#"["rock","rock"]"#, r#"[["rock"]]"#, r#"[1]"#] {
            let Illegal(rule) = play(&mut game, 0, sent, &mut draws).unwrap_err();
            assert_eq!(rule, r#"move: ["rock"], ["paper"] or ["scissors"]"#, "{sent}");
        }
        play(&mut game, 0, r#"["rock"]"#, &mut draws).unwrap();
        assert_eq!(play(&mut game, 0, r#"["rock"]"#, &mut draws), Err(Illegal("it is not your turn")));
    }

    #[test]
    fn who_gives_up_loses_with_all_its_rounds() {
        let mut game = after(&[[0, 2], [0, 2]]);
        game.forfeit(Seats::only(0), &mut start().1);
        let standing = game.standing().unwrap();
        assert_eq!((standing.winner(), standing.scores[0]), (Some(1), 2));
    }
}
