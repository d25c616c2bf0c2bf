//! What is told of a match while it runs.

use core::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{BETS, Blackjack, HANDS, Phase, Rank, Total};
use crate::games::chips::of;
use crate::games::{Game, Seat, Table, Viewer};
use crate::json::Seq;

/// A card as it lies on the table: face down, nobody knows it.
struct Card(Option<Rank>);

impl Serialize for Card {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NAMES: [&str; 14] = ["?", "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];
        serializer.serialize_str(NAMES.get(usize::from(self.0.unwrap_or(0))).unwrap_or(&"?"))
    }
}

/// Somebody at the table.
#[derive(Serialize)]
struct Player<'a, H> {
    id: &'a str,
    name: &'a str,
    /// Beside what is bet.
    chips: u16,
    hands: H,
}

#[derive(Serialize)]
struct Hand<C> {
    cards: C,
    points: u8,
    soft: bool,
    bet: u16,
    /// What was paid for it, the bet included; `null` while it is played.
    paid: Option<u16>,
}

#[derive(Serialize)]
struct Dealer<C> {
    cards: C,
    /// Of those that can be seen.
    points: u8,
}

/// Writes what a viewer may see.
pub(super) fn view<M: SerializeMap>(
    game: &Blackjack,
    viewer: Viewer,
    table: Table<'_>,
    out: &mut M,
) -> Result<(), M::Error> {
    let is_played = !matches!(game.phase, Phase::Play(..));
    let is_open = is_played || viewer == Viewer::Owner || !game.forfeited.is_empty();
    let hand = |seat: Seat, second: bool| {
        let Total { points, is_soft, .. } = game.total(seat, second);
        Hand {
            cards: Seq(move || game.hand(seat, second).map(|rank| Card(Some(rank)))),
            points,
            soft: is_soft,
            bet: game.stake(seat, second),
            paid: is_played.then(|| game.paid(seat, second)).filter(|_| game.forfeited.is_empty()),
        }
    };
    let player = |seat: Seat| Player {
        id: table.id(seat),
        name: table.name(seat),
        chips: of(&game.chips, seat),
        hands: Seq(move || game.hands(seat).filter(move |_| game.bet(seat) > 0).map(move |second| hand(seat, second))),
    };
    let known = if is_open { usize::MAX } else { 1 };
    let cards = || game.dealer().enumerate().map(|(at, rank)| Some(rank).filter(|_| at < known));
    let dealer = Dealer { cards: Seq(|| cards().map(Card)), points: Total::of(cards().flatten()).points };
    let current = match game.phase {
        Phase::Bets => ("bet", None, false),
        Phase::Play(seat, second) => ("play", Some(table.id(seat)), second),
        Phase::Over => ("over", None, false),
    };
    out.serialize_entry(
        "hand",
        &(if game.phase == Phase::Over { game.hands.max(1) } else { game.hands.saturating_add(1) }),
    )?;
    out.serialize_entry("max_hands", &HANDS)?;
    out.serialize_entry("phase", current.0)?;
    out.serialize_entry("to_move", &current.1)?;
    out.serialize_entry("second_hand", &current.2)?;
    if let Viewer::Seat(seat) = viewer {
        out.serialize_entry("your_chips", &of(&game.chips, seat))?;
        match game.phase {
            Phase::Bets if game.to_move().has(seat) => {
                let bets = || BETS.into_iter().filter(|&bet| bet <= of(&game.chips, seat));
                out.serialize_entry("your_bets", &Seq(bets))?;
            }
            Phase::Play(mover, second) if mover == seat => {
                let may = || game.deeds(seat).map(|deed| deed.name());
                out.serialize_entry("your_hand", &hand(seat, second))?;
                out.serialize_entry("you_may", &Seq(may))?;
            }
            _ => {}
        }
    }
    out.serialize_entry("dealer", &dealer)?;
    out.serialize_entry("players", &Seq(|| (0..game.seats).map(player)))
}

/// The turn that was resolved last, in words.
pub(super) fn summary(game: &Blackjack, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if game.turns == 0 {
        return Ok(());
    }
    if let Phase::Play(seat, _) = game.phase {
        return write!(f, "Hand {}: {} plays.", game.hands.saturating_add(1), table.name(seat));
    }
    if !game.forfeited.is_empty() {
        return write!(f, "Hand {} is not played.", game.hands.saturating_add(1));
    }
    let dealer = Total::of(game.dealer());
    match (dealer.is_natural(), dealer.is_bust()) {
        (true, _) => write!(f, "Hand {}: the dealer has a blackjack", game.hands)?,
        (_, true) => write!(f, "Hand {}: the dealer has {} and is bust", game.hands, dealer.points)?,
        _ => write!(f, "Hand {}: the dealer has {}", game.hands, dealer.points)?,
    }
    for (seat, gap) in game.players().iter().zip([". ", ", ", ", ", ", ", ", ", ", "]) {
        let won = |second| i32::from(game.paid(seat, second)).saturating_sub(game.stake(seat, second).into());
        write!(f, "{gap}{} {:+}", table.name(seat), game.hands(seat).map(won).sum::<i32>())?;
    }
    f.write_str(".")
}
