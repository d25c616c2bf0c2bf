//! What is told of a game: to its players, to who watches, and in words.

use core::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::cards::Cards;
use super::plays::Play;
use super::{Bid, DEALS, Deed, Landlord, Past, Phase, SEATS, of};
use crate::games::{Game, Seat, Table, Viewer};
use crate::json::{Map, Shown, Value};

/// Whether a value is this number, as an agent may send it: `"2"` or `2`.
pub(super) fn is_number(value: Value<'_>, number: u8) -> bool {
    match value.as_str() {
        Some(text) => text.chars().eq(core::iter::once(char::from(b'0' | (number % 10)))),
        None => value.as_whole() == Some(number.into()),
    }
}

/// A move as it is sent.
impl Serialize for Deed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Deed::Pass => ["pass"].serialize(serializer),
            Deed::Bid(bid) => ("bid", Shown(*bid as u8)).serialize(serializer),
            Deed::Play(cards) => cards.serialize(serializer),
        }
    }
}

impl Serialize for Bid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Bid::Pass => Deed::Pass,
            bid => Deed::Bid(bid),
        }
        .serialize(serializer)
    }
}

/// Cards in words: "3 3 3 4, a trio with a solo".
pub(super) struct Spoken(pub Cards);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, rank) in self.0.iter().enumerate() {
            write!(f, "{}{}", if place == 0 { "" } else { " " }, rank.name())?;
        }
        match Play::of(self.0) {
            Ok(play) if self.0.len() > 1 => write!(f, ", a {}", play.name()),
            _ => Ok(()),
        }
    }
}

/// Something of each seat, by what programs call it.
pub(super) fn by_id<'a, T: Serialize + 'a>(
    table: Table<'a>,
    of_seat: impl Fn(Seat) -> T + Copy + 'a,
) -> impl Serialize + 'a {
    Map(move || (0..SEATS).map(move |seat| (table.id(seat), of_seat(seat))))
}

/// The members of a view.
pub(super) fn view<M: SerializeMap>(
    game: &Landlord,
    viewer: Viewer,
    table: Table<'_>,
    out: &mut M,
) -> Result<(), M::Error> {
    let id = |seat: Seat| table.id(seat);
    let sees_all = viewer == Viewer::Owner || game.is_over();
    let hand = |seat: Seat| of(&game.hands, seat);
    let hidden = game.hands.iter().try_fold(Cards::ALL, |left, &hand| left.without(hand)).unwrap_or_default();
    let deal = if game.is_over() { game.deals.max(1) } else { game.deals.saturating_add(1) };
    let phase = match game.phase {
        _ if game.is_over() => "over",
        Phase::Auction { .. } => "bidding",
        Phase::Tricks { .. } => "playing",
    };
    out.serialize_entry("deal", &deal.min(DEALS))?;
    out.serialize_entry("deals", &DEALS)?;
    out.serialize_entry("phase", phase)?;
    out.serialize_entry("to_move", &game.to_move().alone().map(id))?;
    out.serialize_entry("scores", &by_id(table, |seat| game.score(seat)))?;
    if let Viewer::Seat(seat) = viewer {
        out.serialize_entry("your_hand", &hand(seat))?;
    }
    out.serialize_entry("cards_left", &by_id(table, |seat| hand(seat).len()))?;
    out.serialize_entry("bids", &by_id(table, |seat| of(&game.bids, seat)))?;
    match &game.phase {
        Phase::Auction { past } => {
            out.serialize_entry("kitty", &Some(hidden).filter(|_| sees_all && game.deals < DEALS))?;
            out.serialize_entry("last_deal", &past.map(|past| Told { past, table }))?;
        }
        Phase::Tricks { kitty, table: trick, passed, landlord, doublings, .. } => {
            let did = |seat: Seat| match of(trick, seat) {
                Cards::NONE => passed.has(seat).then_some(Deed::Pass),
                cards => Some(Deed::Play(cards)),
            };
            out.serialize_entry("kitty", kitty)?;
            out.serialize_entry("landlord", id(*landlord))?;
            out.serialize_entry("worth", &(game.bid() << doublings))?;
            out.serialize_entry("trick", &by_id(table, did))?;
            out.serialize_entry("to_beat", &game.to_beat().map(|(seat, cards)| ToBeat { player: id(seat), cards }))?;
            out.serialize_entry("played", &hidden)?;
        }
    }
    if sees_all { out.serialize_entry("hands", &by_id(table, hand)) } else { Ok(()) }
}

#[derive(Serialize)]
struct ToBeat<'a> {
    player: &'a str,
    cards: Cards,
}

/// A deal that is over, as everybody is told of it.
struct Told<'a> {
    past: Past,
    table: Table<'a>,
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { past: Past { held, points, landlord, winner, spring }, table } = *self;
        let won = |seat| if seat == landlord { points.saturating_mul(-2) } else { points };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("landlord", table.id(landlord))?;
        map.serialize_entry("winner", table.id(winner))?;
        map.serialize_entry("spring", &spring)?;
        map.serialize_entry("points", &by_id(table, won))?;
        map.serialize_entry("hands", &by_id(table, |seat| of(&held, seat)))?;
        map.end()
    }
}

/// The last move, and what came of it.
pub(super) fn summary(game: &Landlord, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some((seat, deed)) = game.last_deed() else { return Ok(()) };
    let name = table.name(seat);
    let has_bid = game.bids.iter().any(Option::is_some);
    let past = match game.phase {
        Phase::Auction { past } if !has_bid && game.passed_out == 0 => past,
        _ => None,
    };
    // A deal that is over was the one before.
    write!(f, "Deal {}: {name} ", if past.is_some() { game.deals } else { game.deals.saturating_add(1) })?;
    match deed {
        Deed::Pass => f.write_str("passes")?,
        Deed::Bid(bid) => write!(f, "bids {}", bid as u8)?,
        Deed::Play(cards) => write!(f, "plays {}", Spoken(cards))?,
    }
    if let Some(Past { points, landlord, winner, spring, .. }) = past {
        let side = if winner == landlord { "the landlord wins" } else { "the farmers win" };
        let spring = if spring { " with a spring" } else { "" };
        return write!(f, ": {side} {} points{spring}", points.saturating_abs().saturating_mul(2));
    }
    match game.phase {
        Phase::Auction { .. } if !has_bid => f.write_str("; nobody bids, new cards"),
        Phase::Tricks { landlord, plays: [0, 0], .. } => write!(f, "; {} is the landlord", table.name(landlord)),
        _ => Ok(()),
    }
}
