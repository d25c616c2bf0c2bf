//! `landlord`: the Chinese game Dou Dizhu, three deals with 54 cards. Whoever bids most is the landlord and plays alone against
//! the two others, the farmers; who has no cards left first wins the deal for its side.
//!
//! The platform that made these moves known never published its rules. These are ours:
//!
//! - **The deal**: 17 cards each, and three in the kitty. Suits do not matter. Card by card a hand is drawn from the
//!   cards that are left, the lowest first: the first hand, then the second, then the third; what remains is the kitty.
//! - **The auction**: in turn, beginning with seat 0 in the first deal, 1 in the second and 2 in the third, each passes or bids 1, 2
//!   or 3, more than anybody before, once. A bid of 3 ends it. If all pass, cards are dealt anew; if they pass a third time, the first bidder
//!   is the landlord at 1. The landlord takes the kitty, which everybody sees, and leads.
//! - **The play**: what can be played is in [`plays`]. Others beat it or pass, and may play again after they have
//!   passed; after two passes in a row whoever played last leads anew.
//! - **The score**: the bid, twice that for every bomb and for the rocket, and twice for a spring: no farmer has played a
//!   card, or the landlord only its first lead. The landlord wins or loses that twice, and each farmer once.
//! - Who gives up has lost, and ends the game: the others are placed by their points.
//!
//! What is hidden: a hand is seen by its seat, the kitty by nobody before the landlord takes it. When a deal is over, everybody
//! sees what each had in its hand when the last play was made, until the next landlord is known. No move is remembered
//! for longer than its trick.

mod cards;
#[cfg(any(test, feature = "house"))]
pub(super) mod house;
mod plays;
mod told;

use core::fmt;
use core::ops::ControlFlow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use self::cards::{Cards, Rank};
use self::plays::Play;
use super::words::{is, words};
use super::{Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Viewer};
use crate::fair::{Draws, Seed};
use crate::json::Value;

const SEATS: u8 = 3;
const DEALS: u8 = 3;
/// Cards in a hand, before the landlord takes the kitty.
const HAND: u8 = 17;
/// So often cards are dealt until somebody is the landlord, bid or no bid.
const AUCTIONS: u8 = 3;

/// Moves in a deal at most: three auctions, and 52 plays of one card with two passes after all but the last. Somebody is out
/// then, and the others have a card each.
const MOVES: u16 = 3 * AUCTIONS as u16 + 52 * 3 - 2;

/// Something for each seat.
type EachSeat<T> = [T; SEATS as usize];

/// A move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Pass,
    Bid(Bid),
    Play(Cards),
}

impl Deed {
    fn read(wanted: Value<'_>) -> Result<Deed, Illegal> {
        let mut words = words(wanted);
        let Some(first) = words.clone().next() else {
            return Err(Illegal("move: a list of words: [\"pass\"], [\"bid\",\"2\"] or the ranks of your cards"));
        };
        if is(first, "pass") && words.clone().count() == 1 {
            return Ok(Deed::Pass);
        }
        if is(first, "bid") {
            let bid =
                words.nth(1).and_then(|bid| Bid::ALL.into_iter().find(|&other| told::is_number(bid, other as u8)));
            return bid
                .filter(|_| words.next().is_none())
                .map(Deed::Bid)
                .ok_or(Illegal("bid: [\"bid\",\"1\"], [\"bid\",\"2\"] or [\"bid\",\"3\"]"));
        }
        let mut cards = Cards::NONE;
        for word in words {
            let rank = word.as_str().map_or_else(|| word.as_whole().and_then(Rank::numbered), Rank::named);
            let rank = rank.ok_or(Illegal("cards: the ranks are 3 4 5 6 7 8 9 10 J Q K A 2 BJ RJ"))?;
            cards = cards.with(rank).ok_or(NOT_YOURS)?;
        }
        Ok(Deed::Play(cards))
    }
}

const NOT_YOURS: Illegal = Illegal("cards: you have not got all of these");

/// A bid, by what it is worth; zero for a seat that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bid {
    Pass = 0,
    One = 1,
    Two = 2,
    Three = 3,
}

impl Bid {
    /// Those that are one.
    const ALL: [Bid; 3] = [Bid::One, Bid::Two, Bid::Three];
}

/// What is going on in a deal.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// They bid, or the match is over.
    Auction {
        /// The deal before.
        past: Option<Past>,
    },
    /// They play.
    Tricks {
        kitty: Cards,
        /// What each played last in this trick; nothing of a seat that passed or has not played yet.
        table: EachSeat<Cards>,
        /// Who passed last in this trick.
        passed: Seats,
        /// Whose play is to be beaten; nobody's when the next play is a lead.
        best: Option<Seat>,
        landlord: Seat,
        /// Bombs and rockets so far.
        doublings: u8,
        /// Plays of the landlord and of both farmers.
        plays: [u8; 2],
    },
}

/// A deal that is over.
#[derive(Clone, Copy, Debug)]
struct Past {
    /// What each held when the last play was made; that of the winner is the play.
    held: EachSeat<Cards>,
    /// What a farmer won, or lost.
    points: i32,
    landlord: Seat,
    winner: Seat,
    spring: bool,
}

/// One match.
#[derive(Clone, Debug)]
pub struct Landlord {
    hands: EachSeat<Cards>,
    phase: Phase,
    scores: EachSeat<i32>,
    /// All moves of the match.
    moves: u16,
    /// Deals that are over.
    deals: u8,
    /// Auctions of this deal in which everybody passed.
    passed_out: u8,
    /// The auction of this deal.
    bids: EachSeat<Option<Bid>>,
    /// Who is to move.
    mover: Seat,
    /// Who moved last.
    last: Seat,
    forfeited: Seats,
}

/// The seat to the left.
fn next(seat: Seat) -> Seat {
    seat.saturating_add(1) % SEATS
}

/// Of each seat's something that of one.
fn of<T: Copy + Default>(each: &EachSeat<T>, seat: Seat) -> T {
    each.get(usize::from(seat)).copied().unwrap_or_default()
}

/// Sets it.
fn put<T>(each: &mut EachSeat<T>, seat: Seat, value: T) {
    if let Some(place) = each.get_mut(usize::from(seat)) {
        *place = value;
    }
}

impl Landlord {
    pub(super) const SIZE: usize = 88;

    pub(super) const RULES: Rules = Rules {
        name: "landlord",
        seats: SEATS..=SEATS,
        question: Question::Move,
        order: Order::InTurn,
        board: false,
        turns: DEALS as u16 * MOVES,
        remembers: 0,
        columns: "moves,deals,score_a,score_b,score_c",
    };

    pub(super) fn start(_seats: u8, draws: &mut Draws) -> Self {
        Self { hands: Cards::deal(HAND, draws), ..Self::empty() }
    }

    /// Before any card is dealt.
    fn empty() -> Self {
        Self {
            hands: [Cards::NONE; SEATS as usize],
            phase: Phase::Auction { past: None },
            scores: [0; SEATS as usize],
            moves: 0,
            deals: 0,
            passed_out: 0,
            bids: [None; SEATS as usize],
            mover: 0,
            last: 0,
            forfeited: Seats::NONE,
        }
    }

    /// Knows the scores, after how many moves and deals, and who gave up; the cards are gone.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "every part has its own bits, and what is cut off belongs to others"
    )]
    pub(super) fn recall(_seed: Seed, digest: u64) -> Self {
        // A number with a sign comes back from the top.
        let score = |at: u32| ((digest << (64 - SCORE_WIDTH - at)) as i64 >> (64 - SCORE_WIDTH)) as i32;
        let (a, b) = (score(0), score(SCORE_WIDTH));
        let rest = digest >> (2 * SCORE_WIDTH);
        let (deals, forfeited) = (rest as u8 & 3, Seats::of_bits((rest >> 2) as u8 & 7).unwrap_or_default());
        let moves = (rest >> 5) as u16 & 0x1ff;
        Self { scores: [a, b, -(a + b)], moves, deals, forfeited, ..Self::empty() }
    }

    fn is_over(&self) -> bool {
        self.deals >= DEALS || !self.forfeited.is_empty()
    }

    /// Who bids first in this deal.
    fn first_bidder(&self) -> Seat {
        self.deals % SEATS
    }

    /// The highest bid, and whose it is.
    fn top_bid(&self) -> Option<(Bid, Seat)> {
        let bids = (0..).zip(self.bids).filter_map(|(seat, bid)| Some((bid?, seat)));
        bids.filter(|&(bid, _)| bid > Bid::Pass).max()
    }

    /// What the landlord of this deal was bid, or is taken to have.
    fn bid(&self) -> i32 {
        self.top_bid().map_or(Bid::One, |(bid, _)| bid) as i32
    }

    /// The play that is to be beaten; none for whoever leads.
    fn to_beat(&self) -> Option<(Seat, Cards)> {
        match &self.phase {
            Phase::Tricks { table, best: Some(best), .. } => Some((*best, of(table, *best))),
            _ => None,
        }
    }

    /// Who moved last, and what.
    fn last_deed(&self) -> Option<(Seat, Deed)> {
        let bid = match of(&self.bids, self.last) {
            Some(Bid::Pass) | None => Deed::Pass,
            Some(bid) => Deed::Bid(bid),
        };
        let has_bid = self.bids.iter().any(Option::is_some);
        let deed = match &self.phase {
            // Cards were just dealt, after the last play or after the last pass of all.
            Phase::Auction { past: Some(past) } if !has_bid && self.passed_out == 0 => {
                Deed::Play(of(&past.held, past.winner))
            }
            Phase::Auction { .. } => bid,
            Phase::Tricks { plays: [0, 0], .. } => bid,
            Phase::Tricks { table, .. } => match of(table, self.last) {
                Cards::NONE => Deed::Pass,
                cards => Deed::Play(cards),
            },
        };
        Some((self.last, deed)).filter(|_| self.moves > 0)
    }

    /// Whether who is to move may do this.
    fn judge(&self, deed: Deed) -> Result<(), Illegal> {
        let is_auction = matches!(self.phase, Phase::Auction { .. });
        match deed {
            Deed::Pass if !is_auction && self.to_beat().is_none() => Err(Illegal("pass: who leads must play")),
            Deed::Pass => Ok(()),
            Deed::Bid(_) if !is_auction => Err(Illegal("bid: the auction is over, and cards are played")),
            Deed::Bid(bid) if self.top_bid().is_some_and(|(top, _)| bid <= top) => {
                Err(Illegal("bid: must be higher than the bids before"))
            }
            Deed::Bid(_) => Ok(()),
            Deed::Play(_) if is_auction => Err(Illegal("cards: the auction comes first: pass, or bid")),
            Deed::Play(cards) => {
                let play = Play::of(cards)?;
                of(&self.hands, self.mover).without(cards).ok_or(NOT_YOURS)?;
                let over = self.to_beat().and_then(|(_, cards)| Play::of(cards).ok());
                if over.is_none_or(|over| play.beats(over)) {
                    return Ok(());
                }
                Err(Illegal(
                    "cards: must beat the last play: the same kind and length with a higher rank, a bomb, or the rocket",
                ))
            }
        }
    }

    /// Does what has been judged.
    fn execute(&mut self, deed: Deed, draws: &mut Draws) {
        let seat = self.mover;
        (self.moves, self.last, self.mover) = (self.moves.saturating_add(1), seat, next(seat));
        match deed {
            Deed::Bid(bid) => {
                put(&mut self.bids, seat, Some(bid));
                self.close_auction(draws);
            }
            Deed::Pass if matches!(self.phase, Phase::Auction { .. }) => {
                put(&mut self.bids, seat, Some(Bid::Pass));
                self.close_auction(draws);
            }
            Deed::Pass => self.pass(seat),
            Deed::Play(cards) => self.lay(seat, cards, draws),
        }
    }

    /// Looks whether somebody is the landlord now.
    fn close_auction(&mut self, draws: &mut Draws) {
        let has_spoken = self.bids.iter().all(Option::is_some);
        let landlord = match self.top_bid() {
            Some((bid, seat)) if bid == Bid::Three || has_spoken => seat,
            None if has_spoken => {
                self.passed_out = self.passed_out.saturating_add(1);
                if self.passed_out < AUCTIONS {
                    self.hands = Cards::deal(HAND, draws);
                    self.bids = [None; SEATS as usize];
                    return;
                }
                self.first_bidder()
            }
            _ => return,
        };
        let kitty = self.hands.iter().try_fold(Cards::ALL, |left, &hand| left.without(hand)).unwrap_or_default();
        let taken = of(&self.hands, landlord).and(kitty);
        put(&mut self.hands, landlord, taken);
        self.mover = landlord;
        self.phase = Phase::Tricks {
            kitty,
            table: [Cards::NONE; SEATS as usize],
            passed: Seats::NONE,
            best: None,
            landlord,
            doublings: 0,
            plays: [0; 2],
        };
    }

    /// A pass in a trick; the second in a row clears the table.
    fn pass(&mut self, seat: Seat) {
        if let Phase::Tricks { table, passed, best, .. } = &mut self.phase {
            if Some(next(seat)) == *best {
                (*table, *passed, *best) = ([Cards::NONE; SEATS as usize], Seats::NONE, None);
            } else {
                put(table, seat, Cards::NONE);
                *passed = passed.with(seat);
            }
        }
    }

    /// Plays cards, and sees whether they were the last.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "54 cards are fewer than 255 plays, and 14 bombs and a spring make 17 bits of a bid"
    )]
    fn lay(&mut self, seat: Seat, cards: Cards, draws: &mut Draws) {
        let Phase::Tricks { table, passed, best, landlord, doublings, plays, .. } = &mut self.phase else { return };
        let held = self.hands;
        let left = of(&held, seat).without(cards).unwrap_or_default();
        put(&mut self.hands, seat, left);
        put(table, seat, cards);
        *passed = passed.without(Seats::only(seat));
        *best = Some(seat);
        *doublings += u8::from(Play::of(cards).is_ok_and(Play::doubles));
        let is_landlord = seat == *landlord;
        let [of_landlord, of_farmers] = plays;
        *(if is_landlord { of_landlord } else { of_farmers }) += 1;
        if !left.is_empty() {
            return;
        }
        let (landlord, spring) = (*landlord, matches!((is_landlord, *plays), (true, [_, 0]) | (false, [1, _])));
        let doublings = *doublings + u8::from(spring);
        let worth = self.bid() << doublings;
        let points = if is_landlord { -worth } else { worth };
        for (score, seat) in self.scores.iter_mut().zip(0..) {
            *score += if seat == landlord { -2 * points } else { points };
        }
        self.phase = Phase::Auction { past: Some(Past { held, points, landlord, winner: seat, spring }) };
        self.deals += 1;
        (self.mover, self.passed_out, self.bids) = (self.first_bidder(), 0, [None; SEATS as usize]);
        if self.deals < DEALS {
            self.hands = Cards::deal(HAND, draws);
        }
    }
}

/// Bits for a score in a digest: it is never more than three times what 14 bombs and a spring make of a bid of 3, twice.
const SCORE_WIDTH: u32 = 21;

impl Game for Landlord {
    fn rules(&self) -> &'static Rules {
        &Self::RULES
    }

    fn seats(&self) -> u8 {
        SEATS
    }

    fn to_move(&self) -> Seats {
        if self.is_over() { Seats::NONE } else { Seats::only(self.mover) }
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, draws: &mut Draws) -> Result<(), Illegal> {
        let deed = Deed::read(wanted)?;
        if !self.to_move().has(seat) {
            return Err(Illegal("it is not your turn"));
        }
        self.judge(deed)?;
        self.execute(deed, draws);
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        self.forfeited = losers;
    }

    /// Passing is safest; a leader cannot, and its lowest card costs least.
    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if !self.to_move().has(seat) {
            return;
        }
        let mut tell = |deed: Deed| sink.legal_move(&deed);
        if self.judge(Deed::Pass).is_ok() && tell(Deed::Pass).is_break() {
            return;
        }
        let _: ControlFlow<()> = match self.phase {
            Phase::Auction { .. } => {
                Bid::ALL.into_iter().map(Deed::Bid).filter(|&bid| self.judge(bid).is_ok()).try_for_each(tell)
            }
            Phase::Tricks { .. } => {
                let over = self.to_beat().and_then(|(_, cards)| Play::of(cards).ok());
                plays::list(of(&self.hands, seat), over, &mut |cards| tell(Deed::Play(cards)))
            }
        };
    }

    fn turn(&self) -> u16 {
        self.moves.saturating_add(1)
    }

    fn score(&self, seat: Seat) -> i32 {
        of(&self.scores, seat)
    }

    fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        told::view(self, viewer, table, out)
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last_deed() {
            Some((mover, Deed::Pass)) if mover == seat => f.write_str("Passed"),
            Some((mover, Deed::Bid(bid))) if mover == seat => write!(f, "Bid {}", bid as u8),
            Some((mover, Deed::Play(cards))) if mover == seat => write!(f, "Played {}", told::Spoken(cards)),
            _ => Ok(()),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        told::summary(self, table, f)
    }

    fn recorded<S: Serializer>(&self, _seat: Seat, wanted: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        match Deed::read(wanted) {
            Ok(deed) => deed.serialize(serializer),
            Err(_) => serializer.serialize_none(),
        }
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("total_deals", &self.deals)?;
        out.serialize_entry("total_moves", &self.moves)?;
        out.serialize_entry("final_score", &told::by_id(table, |seat| self.score(seat)))
    }

    fn standing(&self) -> Option<Standing> {
        let mut scores = [0; MAX_SEATS];
        scores.iter_mut().zip(self.scores).for_each(|(place, score)| *place = score);
        self.is_over().then(|| Standing::after_forfeit(SEATS, scores, self.forfeited))
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.scores;
        let (deals, name) = (self.deals, |seat| table.name(seat));
        let plural = if deals == 1 { "" } else { "s" };
        write!(f, "{} has {a} points after {deals} deal{plural}, {} {b}, {} {c}", name(0), name(1), name(2))
    }

    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.scores;
        write!(f, "{},{},{a},{b},{c}", self.moves, self.deals)
    }

    /// The third score follows from the two others: in every deal they add up to nothing.
    fn digest(&self) -> u64 {
        let [a, b, _] = self.scores.map(|score| score as u64 & ((1 << SCORE_WIDTH) - 1));
        let rest = u64::from(self.deals) | u64::from(self.forfeited.bits()) << 2 | u64::from(self.moves) << 5;
        a | b << SCORE_WIDTH | rest << (2 * SCORE_WIDTH)
    }
}

#[cfg(test)]
mod tests;
