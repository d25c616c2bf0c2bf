//! What the box keeps between moves: for players what they want to remember and what they say to everybody, for matches the
//! positions they have been through. A game that asks for none of it keeps nothing here.
//!
//! All notes share one pad, one behind the other, because most are short and a few are long: ten kilobytes for each player
//! would be more memory than a board has. A note that does not fit is refused, and nothing is lost by it. A position that does
//! not fit takes the place of the match's oldest: what is older than that can come again, and the game still ends with its last
//! turn. Sixteen matches of 250 moves have room on the smallest board, if nobody's memory is beside them. What is left is for
//! [chat](super::chat), which gives way to all else.

use core::ops::Range;

use super::Venue;
use super::film::moved;
use super::rounds::Seating;
use super::speeches::{self, Speech};
use crate::games::{Game, Illegal, MoveSink, SAID};
use crate::json::Value;
use crate::referee::{Heard, Past};
use crate::time::Now;

/// A character takes at most so many bytes.
const CHAR: usize = 4;
const NO_ROOM: Illegal = Illegal("memory is longer than what the box has left for all memories");

/// Before each note: whose it is, what it is, how long it is.
const HEAD: usize = 5;

/// What is kept of a position.
const POSITION: u16 = 5;
type Kept = [u8; POSITION as usize];

/// What a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Note {
    /// What the player wants to be shown again, as JSON.
    Memory,
    /// What it said last, to everybody.
    Said,
    /// What it says when the turn is over.
    Says,
    /// Not of a player but of the table with this number: the positions its match has been through.
    Past,
    /// A message to everybody, of which a player may have several.
    Chat,
    /// What it said last, at length.
    Speech,
    /// Of the table with this number: who has voted, and for whom.
    Votes,
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

/// Where a note lies in the pad, head and all, and how long it is. One that was found lies within what is used.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    len: u16,
}

impl Place {
    /// What is behind its head.
    fn text(self) -> Range<usize> {
        let begin = self.at.saturating_add(HEAD);
        begin..begin.saturating_add(self.len.into())
    }

    /// What it takes of the pad.
    fn bytes(self) -> usize {
        HEAD.saturating_add(self.len.into())
    }
}

impl Notes {
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// A note of the player of this number; nothing where there is none.
    pub fn get(&self, player: u16, kind: Note) -> &str {
        let note = self.find(player, kind).and_then(|place| self.bytes().get(place.text()));
        note.and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// Whether a note would fit, instead of the last one of its kind: its length then.
    fn fits(&self, player: u16, kind: Note, note: &str) -> Option<u16> {
        self.has_room_for(note.len(), self.find(player, kind).map_or(0, Place::bytes))
    }

    /// Whether there is room for a note of this length in the place of so many bytes, and of what gives way: its length then.
    pub fn has_room_for(&self, len: usize, instead: usize) -> Option<u16> {
        let gives_way = self.taken_by(Note::Chat).saturating_add(self.taken_by(Note::Speech));
        let used = self.used.saturating_sub(instead).saturating_sub(gives_way);
        let used = used.saturating_add(HEAD).saturating_add(len);
        u16::try_from(len).ok().filter(|_| used <= self.pad.len())
    }

    /// Keeps a note instead of the last one of its kind. False where there is no room for it: then the last one stays.
    pub fn set(&mut self, player: u16, kind: Note, note: &str) -> bool {
        let Some(len) = self.fits(player, kind, note) else { return false };
        self.remove(player, kind);
        while !self.append((player, kind), len, note.bytes()) && self.give_way() {}
        true
    }

    /// The same with bytes.
    pub fn set_bytes(&mut self, table: u16, kind: Note, note: &[u8]) -> bool {
        self.remove(table, kind);
        let Some(len) = self.has_room_for(note.len(), 0) else { return false };
        while !self.append((table, kind), len, note.iter().copied()) && self.give_way() {}
        true
    }

    /// Keeps a note of this length behind all others. False where there is no room for it.
    pub fn append(&mut self, (player, kind): (u16, Note), len: u16, note: impl Iterator<Item = u8>) -> bool {
        let after = self.used.saturating_add(HEAD).saturating_add(len.into());
        if after > self.pad.len() {
            return false;
        }
        let ([a, b], [c, d]) = (player.to_le_bytes(), len.to_le_bytes());
        let head = [a, b, kind as u8, c, d];
        let room = self.pad.iter_mut().skip(self.used);
        room.zip(head.into_iter().chain(note).take(after.saturating_sub(self.used))).for_each(|(to, from)| *to = from);
        self.used = after;
        true
    }

    /// How much there is room for in all.
    pub fn size(&self) -> usize {
        self.pad.len()
    }

    /// All notes of a kind, and whose they are, the oldest first.
    pub fn all(&self, kind: Note) -> impl Iterator<Item = (u16, &[u8])> + Clone {
        let notes = self.places().filter(move |(_, of, _)| *of == kind as u8);
        notes.filter_map(|(player, _, place)| Some((player, self.bytes().get(place.text())?)))
    }

    /// What the notes of a kind take.
    pub fn taken_by(&self, kind: Note) -> usize {
        self.all(kind).map(|(_, note)| HEAD.saturating_add(note.len())).sum()
    }

    /// The oldest message gives way. False where there is none.
    pub fn drop_message(&mut self) -> bool {
        let oldest = self.all(Note::Chat).next().map(|(player, _)| player);
        oldest.is_some_and(|player| {
            self.remove(player, Note::Chat);
            true
        })
    }

    /// The oldest of what was said gives way, messages first. False where there is nothing left.
    pub fn give_way(&mut self) -> bool {
        self.drop_message() || {
            let oldest = self.all(Note::Speech).next().map(|(player, _)| player);
            oldest.into_iter().for_each(|player| self.remove(player, Note::Speech));
            oldest.is_some()
        }
    }

    /// What a player says at the end of the turn is said.
    pub fn say(&mut self, player: u16) {
        if self.find(player, Note::Says).is_none() {
            return;
        }
        self.remove(player, Note::Said);
        let says = self.find(player, Note::Says);
        if let Some(kind) = says.and_then(|Place { at, .. }| self.pad.get_mut(at.saturating_add(2))) {
            *kind = Note::Said as u8;
        }
    }

    /// The positions a match has been through.
    fn positions(&self, table: u16) -> &[Kept] {
        let note = self.find(table, Note::Past).and_then(|place| self.bytes().get(place.text()));
        note.map_or(&[], |bytes| bytes.as_chunks().0)
    }

    /// How often the match at a table has been through a position.
    fn times(&self, table: u16, position: u64) -> u8 {
        let is_it = |kept: &&Kept| **kept == shortened(position);
        self.positions(table).iter().filter(is_it).count().try_into().unwrap_or(u8::MAX)
    }

    /// One more position. Where there is no room, the oldest gives way to it.
    fn add_position(&mut self, table: u16, position: u64) {
        if self.find(table, Note::Past).is_none() && !self.set(table, Note::Past, "") {
            return;
        }
        if !self.extend(table, Note::Past, &shortened(position)) {
            self.drop_oldest(table);
            self.extend(table, Note::Past, &shortened(position));
        }
    }

    /// Adds to a note that is there. False where there is no room.
    pub fn extend(&mut self, table: u16, kind: Note, bytes: &[u8]) -> bool {
        while self.used.saturating_add(bytes.len()) > self.pad.len() {
            if !self.give_way() {
                return false;
            }
        }
        let Some(place) = self.find(table, kind) else { return false };
        let Some(len) = u16::try_from(bytes.len()).ok().and_then(|more| place.len.checked_add(more)) else {
            return false;
        };
        let end = place.text().end;
        self.pad.copy_within(end..self.used, end.saturating_add(bytes.len()));
        self.pad.iter_mut().skip(end).zip(bytes).for_each(|(to, from)| *to = *from);
        self.used = self.used.saturating_add(bytes.len());
        self.set_length(place, len);
        true
    }

    /// What a note has, as bytes.
    pub fn bytes_of(&self, table: u16, kind: Note) -> Option<&[u8]> {
        self.bytes().get(self.find(table, kind)?.text())
    }

    /// Changes a byte of a note that is there.
    pub fn change(&mut self, table: u16, kind: Note, at: usize, byte: u8) {
        let place = self.find(table, kind).and_then(|place| place.text().nth(at));
        if let Some(to) = place.and_then(|at| self.pad.get_mut(at)) {
            *to = byte;
        }
    }

    fn drop_oldest(&mut self, table: u16) {
        let Some(place) = self.find(table, Note::Past) else { return };
        let Some(len) = place.len.checked_sub(POSITION) else { return };
        let begin = place.text().start;
        self.pad.copy_within(begin.saturating_add(POSITION.into())..self.used, begin);
        self.used = self.used.saturating_sub(POSITION.into());
        self.set_length(place, len);
    }

    /// Of the note that is there.
    fn set_length(&mut self, Place { at, .. }: Place, len: u16) {
        self.pad.iter_mut().skip(at.saturating_add(3)).zip(len.to_le_bytes()).for_each(|(to, from)| *to = from);
    }

    /// Forgets what the match at a table has been through.
    pub fn forget_past(&mut self, table: u16) {
        self.remove(table, Note::Past);
    }

    /// Forgets everything of a player.
    pub fn forget(&mut self, player: u16) {
        [Note::Memory, Note::Said, Note::Says, Note::Speech].into_iter().for_each(|kind| self.remove(player, kind));
    }

    /// Forgets a note of a player, the oldest of its kind.
    pub fn remove(&mut self, player: u16, kind: Note) {
        if let Some(place) = self.find(player, kind) {
            self.pad.copy_within(place.text().end..self.used, place.at);
            self.used = self.used.saturating_sub(place.bytes());
        }
    }

    fn bytes(&self) -> &[u8] {
        self.pad.get(..self.used).unwrap_or_default()
    }

    fn find(&self, player: u16, kind: Note) -> Option<Place> {
        self.places().find(|&(whose, of, _)| whose == player && of == kind as u8).map(|(.., place)| place)
    }

    /// All notes: whose and what each is, and where it lies.
    fn places(&self) -> impl Iterator<Item = (u16, u8, Place)> + Clone {
        let mut next = 0_usize;
        core::iter::from_fn(move || {
            let Some(&[a, b, kind, c, d]) = self.bytes().get(next..next.saturating_add(HEAD)) else { return None };
            let place = Place { at: next, len: u16::from_le_bytes([c, d]) };
            next = place.text().end;
            Some((u16::from_le_bytes([a, b]), kind, place))
        })
    }
}

/// As much of a position as is kept.
fn shortened(position: u64) -> Kept {
    let [a, b, c, d, e, ..] = position.to_le_bytes();
    [a, b, c, d, e]
}

/// The past of the match at a table.
pub(super) struct PastOf<'a> {
    pub notes: &'a mut Notes,
    pub table: u16,
    /// How often the last move has brought its position about.
    pub came: u8,
}

impl<'a> PastOf<'a> {
    pub fn new(notes: &'a mut Notes, table: u16) -> Self {
        Self { notes, table, came: 1 }
    }
}

impl Past for PastOf<'_> {
    fn times(&self, position: u64) -> u8 {
        self.notes.times(self.table, position)
    }

    fn keep(&mut self, position: u64, times: u8) {
        self.notes.add_position(self.table, position);
        self.came = times;
    }

    fn forget(&mut self) {
        self.notes.forget_past(self.table);
    }
}

impl Venue<'_> {
    /// Lists the moves the player on a line may make now, the safest first.
    pub fn legal_moves<S: MoveSink>(&self, line: u16, sink: &mut S) {
        let seating = self.memory.players.get(usize::from(line)).and_then(|player| player.seating);
        if let Some((Seating { slot, seat }, table)) = seating.zip(self.table_of(line)) {
            table.play.legal_moves(seat, |position| self.memory.notes.times(slot, position), sink);
        }
    }

    /// Whether the player on a line may send a long message now: it owes a move, of which much may be kept; or it plays a game of
    /// speeches, and may be late with one, or early.
    pub fn may_write_long(&self, line: u16) -> bool {
        let Some(table) = self.table_of(line) else { return false };
        let game = table.play.game();
        game.rules().remembers > 0 && self.is_thinking(line) || game.speech() > SAID && !table.is_over()
    }

    /// Whether the game of the player on a line may change while it is asked, because others act.
    pub fn may_change(&self, line: u16) -> bool {
        self.table_of(line).is_some_and(|table| !table.play.game().may_act().is_empty())
    }

    /// What is kept for the player on a line, and what it said last.
    pub(crate) fn notes_of(&self, line: u16) -> (&str, &str) {
        let number = self.memory.players.get(usize::from(line)).map_or(0, |player| player.number);
        (self.memory.notes.get(number, Note::Memory), self.memory.notes.get(number, Note::Said))
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
        if memory.is_some_and(|memory| self.memory.notes.fits(number, Note::Memory, memory).is_none()) {
            return Heard::Refused(NO_ROOM);
        }
        let speech = Speech::of(game, seating.seat, wanted);
        if speech.is_some_and(|speech| !speech.fits(self.memory.notes)) {
            return Heard::Refused(speeches::NO_ROOM);
        }
        let mut past = PastOf::new(self.memory.notes, seating.slot);
        let heard = table.play.play(seating.seat, wanted, &mut past);
        if heard != Heard::Taken {
            return heard;
        }
        table.film(self.memory.film, now, moved(seating.seat, past.came), Some(wanted));
        let game = table.play.game();
        if let Some(memory) = memory {
            self.memory.notes.set(number, Note::Memory, memory);
        }
        if let Some(speech) = speech {
            speech.keep(self.memory.notes, number);
            table.film_speech(self.memory.film, now, seating.seat, number, speech);
        } else if let Some(said) = game.said(seating.seat, wanted)
            && !self.memory.notes.set(number, Note::Says, &said.truncated::<{ SAID * CHAR }>())
        {
            // There is no room for it, so nobody hears it, nor what was said before in its place: the move counts all the
            // same.
            self.memory.notes.remove(number, Note::Said);
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
        assert!(notes.set(1, Note::Memory, &full));
        assert!((2..32).all(|player| notes.set(player, Note::Said, "hello")));
        assert!(notes.set(2, Note::Memory, &full));
        assert_eq!((notes.get(1, Note::Memory), notes.get(31, Note::Said)), (&*full, "hello"));
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_was_there_stays() {
        let notes: &mut Notes = &mut Notes::<[u8; 1024]>::new();
        assert!(notes.set(1, Note::Memory, "[1]"));
        assert!(!notes.set(1, Note::Memory, &"x".repeat(1024)));
        assert_eq!(notes.get(1, Note::Memory), "[1]");
    }

    #[test]
    fn what_is_said_is_heard_when_the_turn_is_over() {
        let notes: &mut Notes = &mut Notes::<[u8; 1024]>::new();
        notes.set(1, Note::Says, "one");
        assert_eq!(notes.get(1, Note::Said), "");
        notes.say(1);
        notes.set(1, Note::Says, "two");
        assert_eq!((notes.get(1, Note::Said), notes.get(1, Note::Says)), ("one", "two"));
        notes.say(1);
        notes.say(1);
        assert_eq!((notes.get(1, Note::Said), notes.get(1, Note::Says)), ("two", ""));
    }

    #[test]
    fn sixteen_matches_of_250_positions_have_room_on_the_smallest_board() {
        let notes: &mut Notes = &mut Notes::<[u8; 20_992]>::new();
        for position in 0..250 {
            (0..16).for_each(|table| notes.add_position(table, position << 8 | u64::from(table)));
        }
        for table in 0..16 {
            assert!((0..250).all(|position| notes.times(table, position << 8 | u64::from(table)) == 1));
            assert_eq!(notes.times(table, 250 << 8 | u64::from(table)), 0);
        }
        assert!((0..16).all(|table| notes.set(100 + table, Note::Said, "well played")));
    }

    #[test]
    fn where_there_is_no_room_for_a_position_the_oldest_of_its_match_gives_way() {
        let notes: &mut Notes = &mut Notes::<[u8; 64]>::new();
        notes.set(1, Note::Memory, "0123456789012345678901234567890123456789");
        (7..20).for_each(|position| notes.add_position(0, position));
        assert_eq!(
            (0..30).map(|position| notes.times(0, position)).collect::<std::vec::Vec<_>>()[16..21],
            [0, 0, 1, 1, 0]
        );
        notes.forget(1);
        (20..25).for_each(|position| notes.add_position(0, position));
        assert!((18..25).all(|position| notes.times(0, position) == 1));
        notes.add_position(0, 20);
        assert_eq!(notes.times(0, 20), 2);
        notes.forget_past(0);
        assert_eq!((notes.times(0, 20), notes.used), (0, 0));
    }

    proptest! {
        #[test]
        fn whatever_is_kept_and_forgotten_the_pad_holds_the_last_of_each(
            steps in prop::collection::vec((0..4u16, 0..7u8, "[a-z]{0,300}"), 0..60),
        ) {
            let notes: &mut Notes = &mut Notes::<[u8; 2048]>::new();
            let mut model: BTreeMap<(u16, u8), String> = BTreeMap::new();
            let mut past: BTreeMap<u16, std::vec::Vec<u64>> = BTreeMap::new();
            for (player, what, text) in steps {
                let kind = match what { 0 => Note::Memory, 1 => Note::Said, _ => Note::Says };
                match what {
                    0..=2 => {
                        if notes.set(player, kind, &text) {
                            model.insert((player, kind as u8), text);
                        }
                    }
                    4 => {
                        let position = text.len() as u64 % 7;
                        notes.add_position(player, position);
                        past.entry(player).or_default().push(position);
                    }
                    5 => {
                        notes.forget_past(player);
                        past.remove(&player);
                    }
                    3 => {
                        notes.say(player);
                        if let Some(says) = model.remove(&(player, Note::Says as u8)) {
                            model.insert((player, Note::Said as u8), says);
                        }
                    }
                    _ => {
                        notes.forget(player);
                        model.retain(|(owner, _), _| *owner != player);
                    }
                }
                for player in 0..4 {
                    for kind in [Note::Memory, Note::Said, Note::Says] {
                        let kept = model.get(&(player, kind as u8)).map_or("", String::as_str);
                        prop_assert_eq!(notes.get(player, kind), kept);
                    }
                    // Of the oldest some may have given way.
                    let all: std::vec::Vec<_> = past.get(&player).into_iter().flatten().map(|&p| shortened(p)).collect();
                    prop_assert!(all.ends_with(notes.positions(player)));
                }
            }
        }
    }
}
