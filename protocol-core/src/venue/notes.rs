//! What the box keeps for players between their moves: what they want to remember, and what they say to everybody. A game
//! that asks for neither keeps nothing here.
//!
//! All notes share one pad, one behind the other, because most are short and a few are long: ten kilobytes for each player
//! would be more memory than a board has. A note that does not fit is refused, and nothing is lost by it.

use super::Venue;
use super::rounds::Seating;
use crate::games::{Game, Illegal, SAID};
use crate::json::Value;
use crate::referee::Heard;
use crate::time::Now;

/// A character takes at most so many bytes.
const CHAR: usize = 4;
const NO_ROOM: Illegal = Illegal("memory is longer than what the box has left for all memories");

/// Before each note: whose it is, what it is, how long it is.
const HEAD: usize = 5;

/// What a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// What the player wants to be shown again, as JSON.
    Memory,
    /// What it said last, to everybody.
    Said,
    /// What it says when the turn is over.
    Says,
}

/// The pad. How long it is, its owner says.
pub(super) struct Notes<B: ?Sized = [u8]> {
    used: usize,
    pad: B,
}

impl<const N: usize> Notes<[u8; N]> {
    pub const fn new() -> Self {
        Self { used: 0, pad: [0; N] }
    }
}

impl Notes {
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// A note of the player of this number; nothing where there is none.
    pub fn get(&self, player: u16, kind: Kind) -> &str {
        let note = self.find(player, kind).and_then(|(at, len)| self.bytes().get(at..)?.get(HEAD..)?.get(..len));
        note.and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// Whether a note would fit, instead of the last one of its kind.
    fn fits(&self, player: u16, kind: Kind, note: &str) -> bool {
        let last = self.find(player, kind).map_or(0, |(_, len)| HEAD.saturating_add(len));
        let used = self.used.saturating_sub(last).saturating_add(HEAD).saturating_add(note.len());
        used <= self.pad.len()
    }

    /// Keeps a note instead of the last one of its kind. False where there is no room for it: then the last one stays.
    pub fn set(&mut self, player: u16, kind: Kind, note: &str) -> bool {
        let Some(length) = u16::try_from(note.len()).ok().filter(|_| self.fits(player, kind, note)) else {
            return false;
        };
        self.remove(player, kind);
        let [a, b] = player.to_le_bytes();
        let [c, d] = length.to_le_bytes();
        let head = [a, b, kind as u8, c, d];
        let room = self.pad.iter_mut().skip(self.used);
        room.zip(head.iter().chain(note.as_bytes())).for_each(|(to, &from)| *to = from);
        self.used = self.used.saturating_add(HEAD).saturating_add(note.len());
        true
    }

    /// What a player says at the end of the turn is said.
    pub fn say(&mut self, player: u16) {
        let Some((at, _)) = self.find(player, Kind::Says) else { return };
        self.remove(player, Kind::Said);
        let at = self.find(player, Kind::Says).map_or(at, |(at, _)| at);
        if let Some([_, _, kind, ..]) = self.pad.get_mut(at..) {
            *kind = Kind::Said as u8;
        }
    }

    /// Forgets everything of a player.
    pub fn forget(&mut self, player: u16) {
        [Kind::Memory, Kind::Said, Kind::Says].into_iter().for_each(|kind| self.remove(player, kind));
    }

    fn remove(&mut self, player: u16, kind: Kind) {
        if let Some((at, len)) = self.find(player, kind) {
            let whole = HEAD.saturating_add(len);
            self.pad.copy_within(at.saturating_add(whole).min(self.used)..self.used, at);
            self.used = self.used.saturating_sub(whole);
        }
    }

    fn bytes(&self) -> &[u8] {
        self.pad.get(..self.used).unwrap_or_default()
    }

    /// Where a note begins, head and all, and how long it is.
    fn find(&self, player: u16, kind: Kind) -> Option<(usize, usize)> {
        let mut at = 0_usize;
        while let Some(&[a, b, of, c, d]) = self.bytes().get(at..).and_then(<[u8]>::first_chunk::<HEAD>) {
            let len = usize::from(u16::from_le_bytes([c, d]));
            if u16::from_le_bytes([a, b]) == player && of == kind as u8 {
                return Some((at, len));
            }
            at = at.saturating_add(HEAD).saturating_add(len);
        }
        None
    }
}

impl Venue<'_> {
    /// Whether the player on a line may send a long message now: it owes a move, of which much may be kept.
    pub fn may_write_long(&self, line: u16) -> bool {
        self.is_thinking(line) && self.table_of(line).is_some_and(|table| table.play.game().rules().remembers > 0)
    }

    /// What is kept for the player on a line, and what it said last.
    pub(crate) fn notes_of(&self, line: u16) -> (&str, &str) {
        let number = self.memory.players.get(usize::from(line)).map_or(0, |player| player.number);
        (self.memory.notes.get(number, Kind::Memory), self.memory.notes.get(number, Kind::Said))
    }

    /// Makes a move at a table, and keeps what its game wants kept of it. Not inlined, so that all that is off the stack when the
    /// match goes on.
    #[inline(never)]
    pub(crate) fn play_at(&mut self, now: Now, index: u16, seating: Seating, wanted: Value<'_>) -> Heard {
        let Some(number) = self.memory.players.get(usize::from(index)).map(|player| player.number) else {
            return Heard::Duplicate;
        };
        let Some(table) = self.memory.tables.get_mut(usize::from(seating.slot)).and_then(Option::as_mut) else {
            return Heard::Duplicate;
        };
        let game = table.play.game();
        let (turn, memory) = (game.turn(), game.note(seating.seat, wanted).map(Value::raw));
        if memory.is_some_and(|memory| !self.memory.notes.fits(number, Kind::Memory, memory)) {
            return Heard::Refused(NO_ROOM);
        }
        let heard = table.play.play(seating.seat, wanted);
        if heard != Heard::Taken {
            return heard;
        }
        table.film(self.memory.reel, now, seating.seat, Some(wanted));
        let game = table.play.game();
        if let Some(memory) = memory {
            self.memory.notes.set(number, Kind::Memory, memory);
        }
        if let Some(said) = game.said(seating.seat, wanted)
            && !self.memory.notes.set(number, Kind::Says, &said.truncated::<{ SAID * CHAR }>())
        {
            // There is no room for it, so nobody hears it, nor what was said before in its place: the move counts all the
            // same.
            self.memory.notes.remove(number, Kind::Said);
        }
        if game.turn() != turn {
            let lines = table.seated();
            let numbers = lines.iter().filter_map(|&line| Some(self.memory.players.get(usize::from(line))?.number));
            numbers.for_each(|number| self.memory.notes.say(number));
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::string::String;

    #[test]
    fn a_full_memory_fits_beside_many_short_ones() {
        let notes: &mut Notes = &mut Notes::<[u8; 20_992]>::new();
        let full = "x".repeat(10 * 1024);
        assert!(notes.set(1, Kind::Memory, &full));
        assert!((2..32).all(|player| notes.set(player, Kind::Said, "hello")));
        assert!(notes.set(2, Kind::Memory, &full));
        assert_eq!((notes.get(1, Kind::Memory), notes.get(31, Kind::Said)), (&*full, "hello"));
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_was_there_stays() {
        let notes: &mut Notes = &mut Notes::<[u8; 1024]>::new();
        assert!(notes.set(1, Kind::Memory, "[1]"));
        assert!(!notes.set(1, Kind::Memory, &"x".repeat(1024)));
        assert_eq!(notes.get(1, Kind::Memory), "[1]");
    }

    #[test]
    fn what_is_said_is_heard_when_the_turn_is_over() {
        let notes: &mut Notes = &mut Notes::<[u8; 1024]>::new();
        notes.set(1, Kind::Says, "one");
        assert_eq!(notes.get(1, Kind::Said), "");
        notes.say(1);
        notes.set(1, Kind::Says, "two");
        assert_eq!((notes.get(1, Kind::Said), notes.get(1, Kind::Says)), ("one", "two"));
        notes.say(1);
        notes.say(1);
        assert_eq!((notes.get(1, Kind::Said), notes.get(1, Kind::Says)), ("two", ""));
    }

    proptest! {
        #[test]
        fn whatever_is_kept_and_forgotten_the_pad_holds_the_last_of_each(
            steps in prop::collection::vec((0..4u16, 0..5u8, "[a-z]{0,300}"), 0..60),
        ) {
            let notes: &mut Notes = &mut Notes::<[u8; 2048]>::new();
            let mut model: BTreeMap<(u16, u8), String> = BTreeMap::new();
            for (player, what, text) in steps {
                let kind = match what { 0 => Kind::Memory, 1 => Kind::Said, _ => Kind::Says };
                match what {
                    0..=2 => {
                        if notes.set(player, kind, &text) {
                            model.insert((player, kind as u8), text);
                        }
                    }
                    3 => {
                        notes.say(player);
                        if let Some(says) = model.remove(&(player, Kind::Says as u8)) {
                            model.insert((player, Kind::Said as u8), says);
                        }
                    }
                    _ => {
                        notes.forget(player);
                        model.retain(|(owner, _), _| *owner != player);
                    }
                }
                for player in 0..4 {
                    for kind in [Kind::Memory, Kind::Said, Kind::Says] {
                        let kept = model.get(&(player, kind as u8)).map_or("", String::as_str);
                        prop_assert_eq!(notes.get(player, kind), kept);
                    }
                }
            }
        }
    }
}
