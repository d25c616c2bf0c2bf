//! What is told of a match while it runs.

use core::fmt;

use serde::Serialize;
use serde::ser::SerializeMap;

use super::{Card, HANDS, Past, Street, TexasHoldem};
use crate::games::chips::of;
use crate::games::{Game, Seat, Table, Viewer};
use crate::json::Seq;

/// Somebody at the table.
#[derive(Serialize)]
struct Player<'a> {
    id: &'a str,
    name: &'a str,
    stack: u16,
    /// In this round.
    bet: u16,
    state: &'static str,
    /// `null` for who may not see it.
    hand: Option<[Card; 2]>,
}

/// Somebody in a hand that is over.
#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    hand: Option<[Card; 2]>,
    /// What the hand was worth, if it was shown.
    best: Option<&'static str>,
    won: u16,
}

#[derive(Serialize)]
struct LastHand<'a, P> {
    hand: u8,
    board: &'a [Card],
    players: P,
}

/// Whether a viewer may see the cards of a seat in any case.
fn may_see(game: &TexasHoldem, viewer: Viewer, seat: Seat) -> bool {
    game.is_over() || viewer == Viewer::Owner || viewer == Viewer::Seat(seat)
}

/// The number of the hand that was played last.
fn last_hand(game: &TexasHoldem) -> u8 {
    if game.is_over() && game.forfeited().is_empty() { game.hand } else { game.hand.saturating_sub(1) }
}

fn state(game: &TexasHoldem, seat: Seat) -> &'static str {
    match (game.live.has(seat), game.has_chips(seat), of(&game.put, seat)) {
        (_, false, 0) => "out",
        (false, ..) => "folded",
        (true, false, _) => "all_in",
        (true, true, _) => "in",
    }
}

/// Writes what a viewer may see.
pub(super) fn view<M: SerializeMap>(
    game: &TexasHoldem,
    viewer: Viewer,
    table: Table<'_>,
    out: &mut M,
) -> Result<(), M::Error> {
    let player = |seat: Seat| Player {
        id: table.id(seat),
        name: table.name(seat),
        stack: of(&game.stacks, seat),
        bet: game.bet(seat),
        state: state(game, seat),
        hand: (may_see(game, viewer, seat) && state(game, seat) != "out").then(|| of(&game.cards.holes, seat)),
    };
    let past = game.past.as_ref().map(|past| LastHand {
        hand: last_hand(game),
        board: board(past.street, &past.cards.board),
        players: Seq(move || past.dealt.iter().map(move |seat| shown(game, past, viewer, table, seat))),
    });
    out.serialize_entry("hand", &game.hand)?;
    out.serialize_entry("max_hands", &HANDS)?;
    out.serialize_entry("small_blind", &game.small_blind())?;
    out.serialize_entry("big_blind", &game.big_blind())?;
    out.serialize_entry("street", game.street.name())?;
    out.serialize_entry("button", table.id(game.button))?;
    out.serialize_entry("to_move", &game.to_move().alone().map(|seat| table.id(seat)))?;
    out.serialize_entry("pot", &game.pot())?;
    out.serialize_entry("cards", board(game.street, &game.cards.board))?;
    if let Viewer::Seat(seat) = viewer {
        let is_asked = game.to_move().has(seat);
        let may_raise = is_asked && game.may_raise(seat).is_ok();
        out.serialize_entry("your_hand", &of(&game.cards.holes, seat))?;
        out.serialize_entry("to_call", &game.to_call(seat).min(of(&game.stacks, seat)))?;
        out.serialize_entry("may_raise", &may_raise)?;
        out.serialize_entry("least_raise", &may_raise.then(|| game.least_raise().min(game.whole_bet(seat))))?;
        out.serialize_entry("all_in", &game.whole_bet(seat))?;
    }
    out.serialize_entry("players", &Seq(|| (0..game.seats).map(player)))?;
    out.serialize_entry("last_hand", &past)
}

/// As much of the board as lies there.
fn board(street: Street, cards: &[Card; 5]) -> &[Card] {
    cards.get(..street.board()).unwrap_or_default()
}

fn shown<'a>(game: &TexasHoldem, past: &Past, viewer: Viewer, table: Table<'a>, seat: Seat) -> Shown<'a> {
    let is_shown = past.shown.has(seat);
    Shown {
        id: table.id(seat),
        hand: (is_shown || may_see(game, viewer, seat)).then(|| of(&past.cards.holes, seat)),
        best: is_shown.then(|| past.cards.strength(seat, 5).category.name()),
        won: of(&past.won, seat),
    }
}

/// The turn that was resolved last, in words.
pub(super) fn summary(game: &TexasHoldem, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // Nobody has acted in a hand that has just begun.
    let is_fresh = game.street == Street::Preflop && game.acted.is_empty() || game.is_over();
    match &game.past {
        _ if game.moves == 0 => Ok(()),
        Some(past) if is_fresh => {
            write!(f, "Hand {}:", last_hand(game))?;
            let winners = past.dealt.iter().filter(|&seat| of(&past.won, seat) > 0);
            for (seat, gap) in winners.zip([" ", ", ", ", ", ", ", ", ", ", "]) {
                write!(f, "{gap}{} wins {}", table.name(seat), of(&past.won, seat))?;
                if past.shown.has(seat) {
                    write!(f, " with {}", past.cards.strength(seat, 5).category.name())?;
                }
            }
            f.write_str(".")
        }
        _ => write!(f, "Hand {}, {}: {} chips in the pot.", game.hand, game.street.name(), game.pot()),
    }
}
