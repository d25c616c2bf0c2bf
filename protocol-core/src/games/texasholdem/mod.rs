//! `texasholdem`: no-limit Texas Hold'em for two to six. Everybody begins with 1,000 chips; thirty hands at most, and most
//! chips win.
//!
//! # What is played here where the original is unknown
//!
//! - **Hands.** The button begins at seat 0 and goes to the next seat that has chips. The blinds are 10 and 20, doubled every
//!   ten hands; of two players the button posts the small one. Who has less than its blind posts what it has. What there is to
//!   call is the highest bet on the table.
//! - **Raises.** A raise is at least as large as the largest one of the round, and as the big blind. All of a stack may be
//!   less. Who has acted in a round may raise again only if the bet has grown by a full raise since. Where nobody else could
//!   put in more, nobody raises.
//! - **Pots.** What all who are left have put in is the main pot, what more some of them have is a side pot, and so on. A pot
//!   is split between the best hands in it; the odd chips go to the first of these left of the button.
//! - **Secrets.** At a showdown all hands are shown that are left. Folded ones, and that of who is left alone, stay hidden until
//!   the match is over.
//! - **Cards** for all seats of the table and for the board are dealt when a hand begins, two by two and seat by seat, also to
//!   who has no chips left: so the cards of every hand follow from the seed, whatever is played.
//! - Who gives up ends the match, and loses it. The hand is not played: everybody takes back what they put in.

mod cards;
#[cfg(any(test, feature = "house"))]
pub(super) mod house;
mod told;

use core::fmt;

use serde::Serializer;
use serde::ser::SerializeMap;

use self::cards::{Card, Strength, deal, strength};
use super::chips::{BySeat, Sent, add, amount, of, read, set};
use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::{Map, Value};

const STACK: u16 = 1_000;
const SMALL_BLIND: u16 = 10;
const HANDS: u8 = 30;
/// Hands after which the blinds are doubled.
const LEVEL: u8 = 10;
const FEWEST: u8 = 2;

/// A move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Fold,
    Check,
    Call,
    /// To this bet in the round.
    Raise(u16),
    AllIn,
}

impl Deed {
    fn read(wanted: Value<'_>) -> Result<Deed, Illegal> {
        let (word, number) = read(wanted).ok_or(Illegal("move: a list such as [\"call\"] or [\"raise\",\"120\"]"))?;
        let plain = [Deed::Fold, Deed::Check, Deed::Call, Deed::AllIn].into_iter().find(|deed| word.is(deed.name()));
        match (plain, number) {
            (Some(deed), None) => Ok(deed),
            (Some(_), Some(_)) => Err(Illegal("move[1]: only a raise has a number")),
            (None, _) if !word.is("raise") => {
                Err(Illegal("move[0]: \"fold\", \"check\", \"call\", \"raise\" or \"all_in\""))
            }
            (None, number) => number
                .and_then(amount)
                .map(Deed::Raise)
                .ok_or(Illegal("move[1]: your whole bet in this round after the raise, in digits")),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Deed::Fold => "fold",
            Deed::Check => "check",
            Deed::Call => "call",
            Deed::Raise(_) => "raise",
            Deed::AllIn => "all_in",
        }
    }

    fn sent(self) -> Sent {
        match self {
            Deed::Raise(to) => Sent(self.name(), Some(to)),
            _ => Sent(self.name(), None),
        }
    }
}

/// The rounds of betting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Street {
    Preflop,
    Flop,
    Turn,
    River,
}

impl Street {
    fn name(self) -> &'static str {
        match self {
            Street::Preflop => "preflop",
            Street::Flop => "flop",
            Street::Turn => "turn",
            Street::River => "river",
        }
    }

    /// Cards on the board.
    fn board(self) -> usize {
        match self {
            Street::Preflop => 0,
            Street::Flop => 3,
            Street::Turn => 4,
            Street::River => 5,
        }
    }

    fn next(self) -> Option<Street> {
        match self {
            Street::Preflop => Some(Street::Flop),
            Street::Flop => Some(Street::Turn),
            Street::Turn => Some(Street::River),
            Street::River => None,
        }
    }
}

/// The cards of a hand.
#[derive(Clone, Copy, Debug, Default)]
struct Cards {
    holes: BySeat<[Card; 2]>,
    board: [Card; 5],
}

impl Cards {
    fn deal(seats: u8, draws: &mut Draws) -> Cards {
        let mut cards = Cards::default();
        let Cards { holes, board } = &mut cards;
        deal(draws, holes.iter_mut().take(seats.into()).flatten().chain(board));
        cards
    }

    /// How good what a seat has is, with so much of the board.
    fn strength(&self, seat: Seat, board: usize) -> Strength {
        strength(of(&self.holes, seat).into_iter().chain(self.board.into_iter().take(board)))
    }
}

/// A hand that is over.
#[derive(Clone, Copy, Debug)]
struct Past {
    cards: Cards,
    /// What each took out of the pots.
    won: BySeat<u16>,
    street: Street,
    /// Who had cards.
    dealt: Seats,
    /// Whose cards were shown.
    shown: Seats,
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// By its rules.
    Played,
    Forfeit(Seats),
}

/// One match.
#[derive(Clone, Debug)]
pub struct TexasHoldem {
    /// What each has left.
    stacks: BySeat<u16>,
    /// What each has put in, in this hand.
    put: BySeat<u16>,
    /// The most that somebody had put in before this round.
    before: u16,
    /// How much a raise is at least.
    raise: u16,
    /// Moves that were made.
    moves: u16,
    cards: Cards,
    past: Option<Past>,
    seats: u8,
    /// From 1.
    hand: u8,
    button: Seat,
    /// Who is to move.
    mover: Seat,
    street: Street,
    /// Who is in the hand.
    live: Seats,
    /// Who has acted in this round.
    acted: Seats,
    last: Option<(Seat, Deed)>,
    end: Option<End>,
}

impl TexasHoldem {
    pub(super) const SIZE: usize = 94;

    #[expect(clippy::cast_possible_truncation, reason = "six seats")]
    pub(super) const RULES: Rules = Rules {
        name: "texasholdem",
        seats: FEWEST..=MAX_SEATS as u8,
        question: Question::Move,
        order: Order::InTurn,
        board: false,
        // Every call and every raise puts in a big blind, but for the last of a stack and the small blind: of 6,000 chips there
        // are 300 a hand, 150 and 75 when blinds are doubled. The others check or fold once a round.
        turns: 10 * (300 + 150 + 75) + 30 * (6 * 5 + 1),
        remembers: 0,
        columns: "hands,chips_a,chips_b,chips_c,chips_d,chips_e,chips_f",
    };

    #[expect(clippy::cast_possible_truncation, reason = "six seats")]
    pub(super) fn start(seats: u8, draws: &mut Draws) -> Self {
        let seats = seats.clamp(FEWEST, MAX_SEATS as u8);
        let mut game = Self::empty(seats);
        game.stacks.iter_mut().take(seats.into()).for_each(|stack| *stack = STACK);
        let big_blind = game.begin(0, draws);
        game.proceed(big_blind, draws);
        game
    }

    fn empty(seats: u8) -> Self {
        Self {
            stacks: [0; MAX_SEATS],
            put: [0; MAX_SEATS],
            before: 0,
            raise: 0,
            moves: 0,
            cards: Cards::default(),
            past: None,
            seats,
            hand: 1,
            button: 0,
            mover: 0,
            street: Street::Preflop,
            live: Seats::NONE,
            acted: Seats::NONE,
            last: None,
            end: None,
        }
    }

    /// Knows what everybody has in the end.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a hand is below 30, and who gave up has six bits"
    )]
    pub(super) fn recall(_seed: Seed, digest: u64) -> Self {
        let (told, stacks) = (digest % TOLD, digest / TOLD);
        let (seats, stacks) = unrank(stacks);
        let end = match told.checked_sub(u64::from(HANDS)) {
            None => End::Played,
            Some(losers) => End::Forfeit(Seats::of_bits(losers as u8 & 63).unwrap_or_default()),
        };
        // What a match that was given up does not tell is in which hand.
        let hand = if end == End::Played { told as u8 + 1 } else { 1 };
        Self { stacks, end: Some(end), hand, ..Self::empty(seats) }
    }

    fn big_blind(&self) -> u16 {
        self.small_blind().saturating_mul(2)
    }

    fn small_blind(&self) -> u16 {
        SMALL_BLIND << (self.hand.saturating_sub(1) / LEVEL).min(HANDS / LEVEL - 1)
    }

    /// The seats from the one left of `seat` round to itself.
    #[expect(clippy::arithmetic_side_effects, reason = "six seats, and there are always two or more")]
    fn left_of(&self, seat: Seat) -> impl Iterator<Item = Seat> + use<> {
        let seats = self.seats;
        (1..=seats).map(move |step| (seat + step) % seats)
    }

    fn has_chips(&self, seat: Seat) -> bool {
        of(&self.stacks, seat) > 0
    }

    /// The first left of `seat` who has chips.
    fn next_with_chips(&self, seat: Seat) -> Seat {
        self.left_of(seat).find(|&seat| self.has_chips(seat)).unwrap_or(seat)
    }

    /// Begins the hand whose number is set. Says who has the big blind.
    fn begin(&mut self, button: Seat, draws: &mut Draws) -> Seat {
        self.cards = Cards::deal(self.seats, draws);
        self.live = (0..self.seats).filter(|&seat| self.has_chips(seat)).fold(Seats::NONE, Seats::with);
        self.button = button;
        (self.put, self.before, self.raise) = ([0; MAX_SEATS], 0, self.big_blind());
        (self.street, self.acted) = (Street::Preflop, Seats::NONE);
        let small = if self.live.len() == 2 { button } else { self.next_with_chips(button) };
        let big = self.next_with_chips(small);
        self.pay(small, self.small_blind());
        self.pay(big, self.big_blind());
        big
    }

    /// Puts in so much, or all there is.
    fn pay(&mut self, seat: Seat, chips: u16) {
        let stack = of(&self.stacks, seat);
        let paid = chips.min(stack);
        set(&mut self.stacks, seat, stack.saturating_sub(paid));
        add(&mut self.put, seat, paid);
    }

    /// The most that somebody has put in.
    fn level(&self) -> u16 {
        self.put.into_iter().max().unwrap_or(0)
    }

    fn pot(&self) -> u16 {
        self.put.iter().sum()
    }

    /// What a seat has put in, in this round.
    fn bet(&self, seat: Seat) -> u16 {
        of(&self.put, seat).saturating_sub(self.before)
    }

    /// The bet of a seat in this round if it puts in all it has.
    fn whole_bet(&self, seat: Seat) -> u16 {
        self.bet(seat).saturating_add(of(&self.stacks, seat))
    }

    /// What a seat would have to put in to call, if it had so much.
    fn to_call(&self, seat: Seat) -> u16 {
        self.level().saturating_sub(of(&self.put, seat))
    }

    /// The smallest bet in this round that is a raise, but for all of a stack.
    fn least_raise(&self) -> u16 {
        self.level().saturating_sub(self.before).saturating_add(self.raise)
    }

    /// Whether a seat may raise at all.
    fn may_raise(&self, seat: Seat) -> Result<(), Illegal> {
        let to_call = self.to_call(seat);
        let can_follow = |other: Seat| other != seat && of(&self.stacks, other) > self.to_call(other);
        if of(&self.stacks, seat) <= to_call {
            return Err(Illegal("raise or all_in: to call takes all you have, so call"));
        }
        if self.acted.has(seat) && to_call < self.raise {
            return Err(Illegal("raise or all_in: you have acted, and the bet has not grown by a full raise since"));
        }
        if !self.live.iter().any(can_follow) {
            return Err(Illegal("raise or all_in: nobody else could put in more, so call"));
        }
        Ok(())
    }

    fn judge(&self, seat: Seat, deed: Deed) -> Result<(), Illegal> {
        let is_free = self.to_call(seat) == 0;
        match deed {
            Deed::Fold if is_free => Err(Illegal("fold: there is nothing to call, so check")),
            Deed::Call if is_free => Err(Illegal("call: there is nothing to call, so check")),
            Deed::Check if !is_free => Err(Illegal("check: there is a bet to call")),
            Deed::Raise(_) | Deed::AllIn => {
                self.may_raise(seat)?;
                match deed {
                    Deed::Raise(to) if to >= self.whole_bet(seat) => {
                        Err(Illegal("raise: all you have is an all_in, and more you do not have"))
                    }
                    Deed::Raise(to) if to < self.least_raise() => Err(Illegal(
                        "raise: to at least the highest bet and the largest raise of this round, or the big blind, more",
                    )),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The moves of whoever is to move: what is safest, then from little to much.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "no more than 6,000 chips are in play, and the bets of a round are among those of the hand"
    )]
    fn deeds(&self, seat: Seat) -> impl Iterator<Item = Deed> {
        let (highest, pot) = (self.level() - self.before, self.pot() + self.to_call(seat));
        let least = self.least_raise();
        let raises = [pot / 2, pot, 2 * pot].into_iter().map(move |by| highest + by).filter(move |&to| to > least);
        let first = [Deed::Check, Deed::Fold, Deed::Call, Deed::Raise(least)].into_iter();
        first.chain(raises.map(Deed::Raise)).chain([Deed::AllIn]).filter(move |&deed| self.judge(seat, deed).is_ok())
    }

    fn execute(&mut self, seat: Seat, deed: Deed, draws: &mut Draws) {
        let level = self.level();
        match deed {
            Deed::Fold => self.live = self.live.without(Seats::only(seat)),
            Deed::Check => {}
            Deed::Call => self.pay(seat, self.to_call(seat)),
            Deed::Raise(to) => self.pay(seat, to.saturating_sub(self.bet(seat))),
            Deed::AllIn => self.pay(seat, of(&self.stacks, seat)),
        }
        self.raise = self.raise.max(self.level().saturating_sub(level));
        self.acted = self.acted.with(seat);
        self.last = Some((seat, deed));
        self.moves = self.moves.saturating_add(1);
        self.proceed(seat, draws);
    }

    /// Whether a seat is still to act in this round.
    fn owes(&self, seat: Seat) -> bool {
        let others = || self.live.without(Seats::only(seat)).iter();
        self.live.has(seat)
            && self.has_chips(seat)
            && (self.to_call(seat) > 0 || !self.acted.has(seat) && others().any(|other| self.has_chips(other)))
    }

    /// Goes on behind `seat`: to the next who is to act, in the next round or hand if need be. Blinds can be all that somebody
    /// has, and a hand be over before anybody acts.
    fn proceed(&mut self, mut seat: Seat, draws: &mut Draws) {
        loop {
            while self.live.len() > 1 {
                if let Some(next) = self.left_of(seat).find(|&next| self.owes(next)) {
                    self.mover = next;
                    return;
                }
                let Some(street) = self.street.next() else { break };
                (self.street, self.before, self.raise) = (street, self.level(), self.big_blind());
                (self.acted, seat) = (Seats::NONE, self.button);
            }
            self.pay_out();
            let left = (0..self.seats).filter(|&seat| self.has_chips(seat)).count();
            if self.hand >= HANDS || left < 2 {
                self.end = Some(End::Played);
                return;
            }
            self.hand = self.hand.saturating_add(1);
            seat = self.begin(self.next_with_chips(self.button), draws);
        }
    }

    /// Pays the pots of a hand that is over.
    fn pay_out(&mut self) {
        let won = self.pots();
        let dealt = (0..self.seats).filter(|&seat| of(&self.put, seat) > 0 || of(&self.stacks, seat) > 0);
        let dealt = dealt.fold(Seats::NONE, Seats::with);
        let shown = if self.live.len() > 1 { self.live } else { Seats::NONE };
        self.past = Some(Past { cards: self.cards, won, street: self.street, dealt, shown });
        self.stacks.iter_mut().zip(won).for_each(|(stack, won)| *stack = stack.saturating_add(won));
        (self.put, self.before) = ([0; MAX_SEATS], 0);
    }

    /// What each takes out of the pots.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "no more than 6,000 chips are in play, and a pot has one to six winners"
    )]
    fn pots(&self) -> BySeat<u16> {
        let mut won = [0; MAX_SEATS];
        let mut paid = 0;
        // Who has put in least is in the fewest pots.
        while let Some(upto) = self.live.iter().map(|seat| of(&self.put, seat)).filter(|&put| put > paid).min() {
            let is_last = self.live.iter().all(|seat| of(&self.put, seat) <= upto);
            // What somebody who folded has put in on top of all that are left belongs to the last pot.
            let share = |put: u16| if is_last { put.saturating_sub(paid) } else { put.min(upto).saturating_sub(paid) };
            let pot: u16 = self.put.iter().map(|&put| share(put)).sum();
            let in_it = || self.left_of(self.button).filter(|&seat| self.live.has(seat) && of(&self.put, seat) >= upto);
            let best = in_it().map(|seat| self.strength(seat)).max();
            let winners = || in_it().filter(|&seat| Some(self.strength(seat)) == best);
            let count = winners().count().max(1) as u16;
            for (seat, odd) in winners().zip([pot % count, 0, 0, 0, 0, 0]) {
                add(&mut won, seat, pot / count + odd);
            }
            paid = upto;
        }
        won
    }

    /// How good what a seat has is at a showdown; nothing counts where there is none.
    fn strength(&self, seat: Seat) -> Strength {
        self.cards.strength(seat, 5)
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }

    fn forfeited(&self) -> Seats {
        match self.end {
            Some(End::Forfeit(losers)) => losers,
            _ => Seats::NONE,
        }
    }

    /// How many hands a match had that was played to its end.
    fn hands(&self) -> Option<u8> {
        (self.end == Some(End::Played)).then_some(self.hand)
    }
}

impl Game for TexasHoldem {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        self.seats
    }

    fn to_move(&self) -> Seats {
        if self.is_over() { Seats::NONE } else { Seats::only(self.mover) }
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal> {
        let deed = Deed::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        self.judge(seat, deed)?;
        self.execute(seat, deed, draws);
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.stacks
            .iter_mut()
            .zip(&mut self.put)
            .for_each(|(stack, put)| *stack = stack.saturating_add(core::mem::take(put)));
        self.before = 0;
        self.end = Some(End::Forfeit(losers));
    }

    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if self.to_move().has(seat) {
            let _ = self.deeds(seat).try_for_each(|deed| sink.legal_move(&deed.sent()));
        }
    }

    fn turn(&self) -> u16 {
        self.moves.saturating_add(1)
    }

    fn score(&self, seat: Seat) -> i32 {
        of(&self.stacks, seat).into()
    }

    fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        told::view(self, viewer, table, out)
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Some((who, deed)) if who == seat => match deed {
                Deed::Fold => f.write_str("Folds"),
                Deed::Check => f.write_str("Checks"),
                Deed::Call => f.write_str("Calls"),
                Deed::Raise(to) => write!(f, "Raises to {to}"),
                Deed::AllIn => f.write_str("Goes all in"),
            },
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
        out.serialize_entry("hands", &self.hands())?;
        out.serialize_entry("chips", &Map(|| (0..self.seats).map(|seat| (table.id(seat), self.score(seat)))))
    }

    fn standing(&self) -> Option<Standing> {
        self.end?;
        let scores = self.stacks.map(i32::from);
        Some(Standing::after_forfeit(self.seats, scores, self.forfeited()))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for loser in self.forfeited().iter() {
            write!(f, "{} gave up. ", table.name(loser))?;
        }
        match self.hands() {
            Some(hands) => write!(f, "After {hands} hands:")?,
            None => f.write_str("Chips:")?,
        }
        let mut all = (0..self.seats).zip([" ", ", ", ", ", ", ", ", ", ", "]);
        all.try_for_each(|(seat, gap)| write!(f, "{gap}{} {}", table.name(seat), self.score(seat)))
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(hands) = self.hands() {
            write!(f, "{hands}")?;
        }
        (0..)
            .take(MAX_SEATS)
            .try_for_each(|seat| if seat < self.seats { write!(f, ",{}", self.score(seat)) } else { f.write_str(",") })
    }

    #[expect(clippy::arithmetic_side_effects, reason = "56 bits for the stacks, and seven for what else is told")]
    fn digest(&self) -> u64 {
        let told = match self.end {
            Some(End::Forfeit(losers)) => u64::from(HANDS).saturating_add(losers.bits().into()),
            _ => u64::from(self.hand).saturating_sub(1),
        };
        rank(self.seats, &self.stacks) * TOLD + told
    }
}

/// So many things can be told beside the stacks: after which hand it ended, or who gave up.
const TOLD: u64 = HANDS as u64 + (1 << MAX_SEATS);

/// How many ways there are to choose `k` of `n`, for `k` up to five.
#[expect(clippy::arithmetic_side_effects, reason = "below 6,005⁵")]
fn choose(n: u64, k: u64) -> u64 {
    // Below 6,005⁵, and without a rest at every step.
    (0..k).fold(1, |ways, chosen| ways * n.saturating_sub(chosen) / (chosen + 1))
}

/// In how many ways all chips can be divided between so many seats.
#[expect(clippy::arithmetic_side_effects, reason = "two to six seats")]
fn divisions(seats: u8) -> u64 {
    let walls = u64::from(seats) - 1;
    choose(u64::from(seats) * u64::from(STACK) + walls, walls)
}

/// The number of a division of all chips, those between fewer seats first. Chips lie in a row with a wall between seats, and
/// where the walls stand, in the combinatorial number system, is the number: 56 bits for six seats.
#[expect(clippy::arithmetic_side_effects, reason = "56 bits for six seats")]
fn rank(seats: u8, stacks: &BySeat<u16>) -> u64 {
    let fewer: u64 = (FEWEST..seats).map(divisions).sum();
    let mut wall = 0;
    (1..u64::from(seats)).zip(stacks).fold(fewer, |rank, (number, &stack)| {
        wall += u64::from(stack);
        rank + choose(wall + number - 1, number)
    })
}

/// The division of that number; another one where there is no such number.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "56 bits for six seats, each with 6,000 chips at most; a division is at least one"
)]
fn unrank(rank: u64) -> (u8, BySeat<u16>) {
    let (mut seats, mut rest) = (FEWEST, rank);
    while usize::from(seats) < MAX_SEATS && rest >= divisions(seats) {
        rest -= divisions(seats);
        seats += 1;
    }
    rest %= divisions(seats);
    let mut stacks = [0; MAX_SEATS];
    let chips = u64::from(seats) * u64::from(STACK);
    let mut right = chips;
    for number in (1..u64::from(seats)).rev() {
        // The last place where a wall has no more ways than are left before it.
        let (mut low, mut high) = (0, chips + number);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if choose(middle, number) <= rest { low = middle } else { high = middle }
        }
        rest -= choose(low, number).min(rest);
        let wall = low.saturating_sub(number - 1);
        set(&mut stacks, number as Seat, right.saturating_sub(wall) as u16);
        right = right.min(wall);
    }
    set(&mut stacks, 0, right as u16);
    (seats, stacks)
}

#[cfg(test)]
mod tests;
