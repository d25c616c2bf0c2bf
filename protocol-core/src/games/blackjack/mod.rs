//! `blackjack`: two to six play against the house, not against each other's cards. Everybody begins with 100 chips; ten hands,
//! and most chips win.
//!
//! # What is played here where the original is unknown
//!
//! - **Cards** are ranks: `A 2 3 4 5 6 7 8 9 10 J Q K`, 24 of each. Suits do not matter and are not dealt. Every hand is dealt
//!   from all 312: first a card to each who has bet, by seat, then one to the dealer, then all of that again; its second card
//!   lies face down. Then each card that is asked for, in the order of asking. A draw below the number of cards that are left
//!   says which of these comes next; they lie in the order of their ranks.
//! - **Bets** are made together: nobody sees another's before all are in. Who has fewer than 5 chips sits out the rest.
//! - **Play** goes by seats. A hand with 21 or more asks for nothing. The second of two split hands gets its second card when
//!   the first is done.
//! - **The dealer** looks at its second card only when all have played, so what was doubled or split is lost to its blackjack
//!   too. It draws up to 17, and stands on every 17, whatever the others have.
//! - **The bank** has no more for who has 1,000 chips: what would be paid beyond is not.
//! - Who gives up ends the match, loses it, and leaves its chips. The hand is not played: the others take back what they bet.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;
mod told;

use core::fmt;

use serde::Serializer;
use serde::ser::SerializeMap;

use super::chips::{BySeat, Sent, add, amount, of, read, set};
use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::{Map, Value};

const CHIPS: u16 = 100;
const BANK: u16 = 1_000;
const HANDS: u8 = 10;
const FEWEST: u8 = 2;
const BETS: [u16; 4] = [5, 10, 20, 50];

const RANKS: u8 = 13;
/// Of each rank, in six decks.
const OF_A_RANK: u32 = 24;
/// More than can be dealt in a hand. Each of twelve hands takes its last card on 20 points or less, the dealer on 16 or less:
/// that is 256 points and 13 cards, and no 100 cards of six decks are worth so little.
const MOST: usize = 112;

/// A move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Bet(Bet),
    Stand,
    Hit,
    Double,
    Split,
}

/// Which of [`BETS`], from 1; 0 is none.
type Bet = u8;

fn worth(bet: Bet) -> u16 {
    usize::from(bet).checked_sub(1).and_then(|at| BETS.get(at)).copied().unwrap_or(0)
}

impl Deed {
    const PLAYS: [Deed; 4] = [Deed::Stand, Deed::Hit, Deed::Double, Deed::Split];

    fn read(wanted: Value<'_>) -> Result<Deed, Illegal> {
        let (word, number) = read(wanted).ok_or(Illegal("move: a list such as [\"bet\",\"10\"] or [\"hit\"]"))?;
        if word.is("bet") {
            let bet = number.and_then(amount).and_then(|chips| (1..).zip(BETS).find(|&(_, bet)| bet == chips));
            return bet.map(|(number, _)| Deed::Bet(number)).ok_or(Illegal("move[1]: a bet is 5, 10, 20 or 50"));
        }
        let deed = Self::PLAYS.into_iter().find(|deed| word.is(deed.name()));
        let deed = deed.ok_or(Illegal("move[0]: \"bet\", \"stand\", \"hit\", \"double\" or \"split\""))?;
        if number.is_some() { Err(Illegal("move[1]: only a bet has a number")) } else { Ok(deed) }
    }

    fn name(self) -> &'static str {
        match self {
            Deed::Bet(_) => "bet",
            Deed::Stand => "stand",
            Deed::Hit => "hit",
            Deed::Double => "double",
            Deed::Split => "split",
        }
    }

    fn sent(self) -> Sent {
        match self {
            Deed::Bet(bet) => Sent(self.name(), Some(worth(bet))),
            _ => Sent(self.name(), None),
        }
    }
}

/// A card, from 1 for an ace to 13 for a king.
type Rank = u8;

/// What cards are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Total {
    points: u8,
    /// Whether an ace counts as eleven.
    is_soft: bool,
    cards: u8,
}

impl Total {
    fn of(cards: impl Iterator<Item = Rank>) -> Total {
        let (mut points, mut count, mut has_ace) = (0u8, 0u8, false);
        for rank in cards {
            points = points.saturating_add(rank.min(10));
            has_ace |= rank == 1;
            count = count.saturating_add(1);
        }
        let is_soft = has_ace && points <= 11;
        Total { points: if is_soft { points.saturating_add(10) } else { points }, is_soft, cards: count }
    }

    fn is_bust(self) -> bool {
        self.points > 21
    }

    /// Whether these would be a blackjack, were they not split.
    fn is_natural(self) -> bool {
        self.points == 21 && self.cards == 2
    }
}

/// What happens now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Bets are made. The cards on the table are those of the hand before.
    Bets,
    /// A seat plays its first hand, or its second.
    Play(Seat, bool),
    Over,
}

/// One match.
#[derive(Clone, Debug)]
pub struct Blackjack {
    /// What each has beside what it has bet.
    chips: BySeat<u16>,
    /// Turns that have been resolved.
    turns: u16,
    /// The cards of this hand in the order in which they were dealt, two a byte.
    cards: [u8; MOST / 2],
    /// How many.
    dealt: u8,
    /// How many each of its hands was dealt after the first two cards.
    more: BySeat<[u8; 2]>,
    /// What each has bet in this hand, in the low four bits, and for the next.
    bets: BySeat<u8>,
    split: Seats,
    /// Who has doubled its first hand, and its second.
    doubled: [Seats; 2],
    seats: u8,
    /// Hands that are over.
    hands: u8,
    phase: Phase,
    forfeited: Seats,
    /// Who played last, and what; nobody after bets.
    last: Option<(Seat, Deed)>,
}

impl Blackjack {
    pub(super) const SIZE: usize = 100;

    #[expect(clippy::cast_possible_truncation, reason = "six seats, and 112 cards")]
    pub(super) const RULES: Rules = Rules {
        name: "blackjack",
        seats: FEWEST..=MAX_SEATS as u8,
        question: Question::Move,
        // Bets come together, but the rest of a hand is played by seats.
        order: Order::InTurn,
        board: false,
        // In a hand everybody bets once, and every move takes a card or ends one of twelve hands.
        turns: HANDS as u16 * (1 + MOST as u16),
        remembers: 0,
        columns: "hands,chips_a,chips_b,chips_c,chips_d,chips_e,chips_f",
    };

    #[expect(clippy::cast_possible_truncation, reason = "six seats")]
    pub(super) fn start(seats: u8, _draws: &mut Draws) -> Self {
        Self::empty(seats.clamp(FEWEST, MAX_SEATS as u8), CHIPS)
    }

    fn empty(seats: u8, chips: u16) -> Self {
        let mut all = [0; MAX_SEATS];
        all.iter_mut().take(seats.into()).for_each(|place| *place = chips);
        Self {
            chips: all,
            turns: 0,
            cards: [0; MOST / 2],
            dealt: 0,
            more: [[0; 2]; MAX_SEATS],
            bets: [0; MAX_SEATS],
            split: Seats::NONE,
            doubled: [Seats::NONE; 2],
            seats,
            hands: 0,
            phase: Phase::Bets,
            forfeited: Seats::NONE,
            last: None,
        }
    }

    /// Knows what everybody has in the end.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "what is kept of a seat is below `KEPT`, and six powers of it fit, as is asserted below"
    )]
    pub(super) fn recall(_seed: Seed, digest: u64) -> Self {
        let mut game = Self::empty(MAX_SEATS as u8, 0);
        (game.phase, game.hands) = (Phase::Over, (digest / KEPT.pow(MAX_SEATS as u32)).min(HANDS.into()) as u8);
        for seat in (0..MAX_SEATS as Seat).rev() {
            match digest / KEPT.pow(seat.into()) % KEPT {
                GAVE_UP => game.forfeited = game.forfeited.with(seat),
                // Seats are taken from the first.
                NOBODY => game.seats = seat.clamp(FEWEST, game.seats),
                chips => set(&mut game.chips, seat, chips as u16),
            }
        }
        game
    }

    /// The bet of a seat in this hand; nothing if it sits out.
    fn bet(&self, seat: Seat) -> u16 {
        worth(of(&self.bets, seat) & 0xf)
    }

    /// Its bet for the next one.
    fn next_bet(&self, seat: Seat) -> Bet {
        of(&self.bets, seat) >> 4
    }

    /// Who plays in this hand.
    fn players(&self) -> Seats {
        (0..self.seats).filter(|&seat| self.bet(seat) > 0).fold(Seats::NONE, Seats::with)
    }

    /// Who has chips enough for another hand.
    fn able(&self) -> Seats {
        let [least, ..] = BETS;
        (0..self.seats).filter(|&seat| of(&self.chips, seat) >= least).fold(Seats::NONE, Seats::with)
    }

    fn card(&self, at: usize) -> Rank {
        let pair = self.cards.get(at / 2).copied().unwrap_or(0);
        if at.is_multiple_of(2) { pair & 0xf } else { pair >> 4 }
    }

    /// Deals the next card.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "no more than 112 of 312 cards are dealt, and of no rank more than there are"
    )]
    fn draw(&mut self, draws: &mut Draws) {
        let dealt = usize::from(self.dealt);
        let left = |rank: Rank| OF_A_RANK - (0..dealt).filter(|&at| self.card(at) == rank).count() as u32;
        let mut place = draws.below(OF_A_RANK * u32::from(RANKS) - dealt as u32);
        let mut rank = 1;
        while rank < RANKS && place >= left(rank) {
            place -= left(rank);
            rank += 1;
        }
        if let Some(pair) = self.cards.get_mut(dealt / 2) {
            *pair |= if dealt.is_multiple_of(2) { rank } else { rank << 4 };
            self.dealt += 1;
        }
    }

    /// The cards of a seat's first hand, or its second, which there is after a split.
    #[expect(clippy::arithmetic_side_effects, reason = "six seats, and no more than 112 cards")]
    fn hand(&self, seat: Seat, second: bool) -> impl Iterator<Item = Rank> {
        let players = self.players();
        let round = players.len() as usize + 1;
        let before = |other: &Seat| *other < seat;
        let place = players.iter().filter(before).count();
        let run = |seat: Seat| of(&self.more, seat);
        let start: u8 = players.iter().filter(before).flat_map(run).sum();
        let [first, other] = run(seat);
        let (start, run) = if second { (start + first, other) } else { (start, first) };
        let start = 2 * round + usize::from(start);
        let is_split = self.split.has(seat);
        let [low, high] = [!second || !is_split, second || !is_split];
        let two = low.then_some(place).into_iter().chain(high.then_some(round + place));
        two.chain(start..start + usize::from(run)).map(|at| self.card(at))
    }

    fn total(&self, seat: Seat, second: bool) -> Total {
        Total::of(self.hand(seat, second))
    }

    /// The dealer's cards, once there are any.
    #[expect(clippy::arithmetic_side_effects, reason = "six seats, and no more than 112 cards; the dealer is one more")]
    fn dealer(&self) -> impl Iterator<Item = Rank> {
        let players = self.players();
        let round = players.len() as usize + 1;
        let asked: u8 = players.iter().flat_map(|seat| of(&self.more, seat)).sum();
        let more = 2 * round + usize::from(asked)..usize::from(self.dealt);
        [round - 1, 2 * round - 1]
            .into_iter()
            .chain(more)
            .filter(|&at| at < usize::from(self.dealt))
            .map(|at| self.card(at))
    }

    /// What a seat has bet on one of its hands.
    fn stake(&self, seat: Seat, second: bool) -> u16 {
        let [first, other] = self.doubled;
        let is_doubled = if second { other } else { first }.has(seat);
        if is_doubled { self.bet(seat).saturating_mul(2) } else { self.bet(seat) }
    }

    /// The hands of a seat: its first and, after a split, its second.
    fn hands(&self, seat: Seat) -> impl Iterator<Item = bool> + use<> {
        [false, true].into_iter().take(if self.split.has(seat) { 2 } else { 1 })
    }

    /// What is paid for a hand, its stake included.
    fn paid(&self, seat: Seat, second: bool) -> u16 {
        let (mine, dealer, stake) = (self.total(seat, second), Total::of(self.dealer()), self.stake(seat, second));
        let has_blackjack = mine.is_natural() && !self.split.has(seat);
        match (has_blackjack, dealer.is_natural()) {
            (true, true) => stake,
            (true, false) => stake.saturating_add(stake.saturating_mul(3) / 2),
            (false, true) => 0,
            _ if mine.is_bust() => 0,
            _ if dealer.is_bust() || mine.points > dealer.points => stake.saturating_mul(2),
            _ if mine.points == dealer.points => stake,
            _ => 0,
        }
    }

    fn pay(&mut self, seat: Seat, chips: u16) {
        let left = of(&self.chips, seat).saturating_sub(chips);
        set(&mut self.chips, seat, left);
    }

    /// Deals to all who have bet.
    fn deal(&mut self, draws: &mut Draws) {
        for seat in 0..self.seats {
            let bet = self.next_bet(seat);
            set(&mut self.bets, seat, bet);
            self.pay(seat, worth(bet));
        }
        (self.cards, self.dealt, self.more) = ([0; MOST / 2], 0, [[0; 2]; MAX_SEATS]);
        (self.split, self.doubled, self.last) = (Seats::NONE, [Seats::NONE; 2], None);
        for _ in 0..self.players().len().saturating_add(1).saturating_mul(2) {
            self.draw(draws);
        }
        self.turns = self.turns.saturating_add(1);
        self.go_on(0, false, draws);
    }

    /// Deals a card to a hand.
    fn give(&mut self, seat: Seat, second: bool, draws: &mut Draws) {
        self.draw(draws);
        let [mut first, mut other] = of(&self.more, seat);
        let more = if second { &mut other } else { &mut first };
        *more = more.saturating_add(1);
        set(&mut self.more, seat, [first, other]);
    }

    /// Goes on at this hand: to the next that asks for something, or to the dealer.
    fn go_on(&mut self, seat: Seat, second: bool, draws: &mut Draws) {
        for next in self.players().iter().filter(|&next| next >= seat) {
            for other in self.hands(next).filter(|&other| next > seat || other >= second) {
                if self.total(next, other).cards < 2 {
                    self.give(next, other, draws);
                }
                if self.total(next, other).points < 21 {
                    self.phase = Phase::Play(next, other);
                    return;
                }
            }
        }
        while Total::of(self.dealer()).points < 17 && usize::from(self.dealt) < MOST {
            self.draw(draws);
        }
        self.pay_out();
    }

    /// Goes on behind this hand.
    fn go_on_behind(&mut self, seat: Seat, second: bool, draws: &mut Draws) {
        if second { self.go_on(seat.saturating_add(1), false, draws) } else { self.go_on(seat, true, draws) }
    }

    fn pay_out(&mut self) {
        for seat in self.players().iter() {
            let paid: u16 = self.hands(seat).map(|second| self.paid(seat, second)).sum();
            let chips = of(&self.chips, seat).saturating_add(paid);
            set(&mut self.chips, seat, chips.min(BANK));
        }
        self.hands = self.hands.saturating_add(1);
        self.phase = if self.hands >= HANDS || self.able().is_empty() { Phase::Over } else { Phase::Bets };
    }

    fn judge(&self, seat: Seat, deed: Deed) -> Result<(), Illegal> {
        let (second, deed) = match (self.phase, deed) {
            (Phase::Bets, Deed::Bet(bet)) if worth(bet) > of(&self.chips, seat) => {
                return Err(Illegal("move[1]: you have fewer chips than that"));
            }
            (Phase::Bets, Deed::Bet(_)) => return Ok(()),
            (Phase::Bets, _) => return Err(Illegal("move[0]: first a bet, then the cards")),
            (_, Deed::Bet(_)) => return Err(Illegal("move[0]: you have bet: stand, hit, double or split")),
            (Phase::Play(_, second), deed) => (second, deed),
            (Phase::Over, _) => return Err(Illegal("it is not your turn")),
        };
        let is_first = self.total(seat, second).cards == 2;
        let is_poor = of(&self.chips, seat) < self.bet(seat);
        let mut hand = self.hand(seat, second);
        match deed {
            Deed::Double if !is_first => Err(Illegal("double: only on two cards")),
            Deed::Split if self.split.has(seat) || !is_first || hand.next() != hand.next() => {
                Err(Illegal("split: once a hand, and only two cards of the same rank"))
            }
            Deed::Double | Deed::Split if is_poor => {
                Err(Illegal("double or split: takes as many chips again as you have bet, and you have fewer"))
            }
            _ => Ok(()),
        }
    }

    /// Plays what has been judged.
    fn execute(&mut self, seat: Seat, second: bool, deed: Deed, draws: &mut Draws) {
        self.last = Some((seat, deed));
        self.turns = self.turns.saturating_add(1);
        if let Deed::Double | Deed::Split = deed {
            self.pay(seat, self.bet(seat));
        }
        match deed {
            Deed::Bet(_) => {}
            Deed::Stand => self.go_on_behind(seat, second, draws),
            Deed::Hit => {
                self.give(seat, second, draws);
                self.go_on(seat, second, draws);
            }
            Deed::Double => {
                let [first, other] = &mut self.doubled;
                let doubled = if second { other } else { first };
                *doubled = doubled.with(seat);
                self.give(seat, second, draws);
                self.go_on_behind(seat, second, draws);
            }
            Deed::Split => {
                let has_aces = self.hand(seat, false).next() == Some(1);
                self.split = self.split.with(seat);
                if has_aces {
                    self.give(seat, false, draws);
                    self.give(seat, true, draws);
                    self.go_on_behind(seat, true, draws);
                } else {
                    self.go_on(seat, false, draws);
                }
            }
        }
    }

    /// What a seat will say next.
    fn deeds(&self, seat: Seat) -> impl Iterator<Item = Deed> {
        let bets = (1..).take(BETS.len()).map(Deed::Bet);
        Deed::PLAYS.into_iter().chain(bets).filter(move |&deed| self.judge(seat, deed).is_ok())
    }
}

/// What is kept of a seat: its chips, or one of these.
const GAVE_UP: u64 = BANK as u64 + 1;
const NOBODY: u64 = BANK as u64 + 2;
const KEPT: u64 = BANK as u64 + 3;

#[expect(clippy::cast_possible_truncation, reason = "six seats")]
const _: () = assert!(KEPT.pow(MAX_SEATS as u32).checked_mul(HANDS as u64 + 1).is_some());

impl Game for Blackjack {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        self.seats
    }

    fn to_move(&self) -> Seats {
        match self.phase {
            Phase::Bets => self.able().iter().filter(|&seat| self.next_bet(seat) == 0).fold(Seats::NONE, Seats::with),
            Phase::Play(seat, _) => Seats::only(seat),
            Phase::Over => Seats::NONE,
        }
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal> {
        let deed = Deed::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        self.judge(seat, deed)?;
        match (deed, self.phase) {
            (Deed::Bet(bet), _) => {
                let bets = of(&self.bets, seat) & 0xf | bet << 4;
                set(&mut self.bets, seat, bets);
                if self.to_move().is_empty() {
                    self.deal(draws);
                }
            }
            (deed, Phase::Play(_, second)) => self.execute(seat, second, deed, draws),
            _ => {}
        }
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        for seat in 0..self.seats {
            if let Phase::Play(..) = self.phase {
                let stakes: u16 = self.hands(seat).map(|second| self.stake(seat, second)).sum();
                add(&mut self.chips, seat, stakes);
            }
            if losers.has(seat) {
                set(&mut self.chips, seat, 0);
            }
        }
        (self.phase, self.forfeited) = (Phase::Over, losers);
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            let _ = self.deeds(seat).try_for_each(|deed| sink.legal_move(&deed.sent()));
        }
    }

    fn turn(&self) -> u16 {
        self.turns.saturating_add(1)
    }

    fn score(&self, seat: Seat) -> i32 {
        of(&self.chips, seat).into()
    }

    fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        told::view(self, viewer, table, out)
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            None if self.bet(seat) > 0 => write!(f, "Bets {}", self.bet(seat)),
            Some((who, deed)) if who == seat => f.write_str(match deed {
                Deed::Bet(_) => "Bets",
                Deed::Stand => "Stands",
                Deed::Hit => "Takes a card",
                Deed::Double => "Doubles",
                Deed::Split => "Splits",
            }),
            _ => Ok(()),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        told::summary(self, table, f)
    }

    fn recorded<S: Serializer>(&self, _: Seat, wanted: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::Serialize;
        match Deed::read(wanted) {
            Ok(deed) => deed.sent().serialize(serializer),
            Err(_) => serializer.serialize_none(),
        }
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("hands", &self.hands)?;
        out.serialize_entry("chips", &Map(|| (0..self.seats).map(|seat| (table.id(seat), self.score(seat)))))
    }

    fn standing(&self) -> Option<Standing> {
        let scores = self.chips.map(i32::from);
        (self.phase == Phase::Over).then(|| Standing::after_forfeit(self.seats, scores, self.forfeited))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for loser in self.forfeited.iter() {
            write!(f, "{} gave up. ", table.name(loser))?;
        }
        write!(f, "After {} hands:", self.hands)?;
        let mut all = (0..self.seats).zip([" ", ", ", ", ", ", ", ", ", ", "]);
        all.try_for_each(|(seat, gap)| write!(f, "{gap}{} {}", table.name(seat), self.score(seat)))
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.hands)?;
        (0..)
            .take(MAX_SEATS)
            .try_for_each(|seat| if seat < self.seats { write!(f, ",{}", self.score(seat)) } else { f.write_str(",") })
    }

    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "six seats and ten hands fit, as is asserted above"
    )]
    fn digest(&self) -> u64 {
        (0..MAX_SEATS as Seat).rev().fold(self.hands.into(), |digest, seat| {
            let kept = if seat >= self.seats {
                NOBODY
            } else if self.forfeited.has(seat) {
                GAVE_UP
            } else {
                of(&self.chips, seat).into()
            };
            digest * KEPT + kept
        })
    }
}

#[cfg(test)]
mod tests;
