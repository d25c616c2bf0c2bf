//! What is said at length, in games whose moves are [speeches](Game::speech). Of each player the last one is kept among the
//! [notes](super::notes), for whoever is asked next and for those who watch, and gives way to others where there is no room for all.
//! Every one is filmed whole, in parts that fit a step: what is on film is in flash, and takes no memory.
//!
//! A speech is known by its match, by which steps are known, and by the number of its move. Whoever keeps the film lets nothing
//! leave, and takes no input, while a speech waits to be taken ([`Venue::has_speeches`]): so what was acknowledged is on film, and no
//! more than one speech for each table ever waits.

use super::Venue;
use super::film::{Film, MOVE_BYTES};
use super::notes::{Note, Notes};
use super::rounds::Table;
use crate::games::{AnyGame, Game, Illegal, SAID, Seat};
use crate::json::{Str, Value};
use crate::time::Now;

pub(super) const NO_ROOM: Illegal =
    Illegal("text is longer than what the box has room for just now: say it in fewer words, or once more in a while");

/// A speech as it is heard.
#[derive(Clone, Copy)]
pub(super) struct Speech<'a> {
    text: Str<'a>,
    /// So many characters of it count.
    most: usize,
}

impl<'a> Speech<'a> {
    /// What a move says at length, if its game is of that kind.
    pub fn of(game: &AnyGame, seat: Seat, wanted: Value<'a>) -> Option<Self> {
        let most = game.speech();
        Some(Self { text: game.said(seat, wanted)?, most }).filter(|_| most > SAID)
    }

    fn bytes(self) -> impl Iterator<Item = u8> {
        self.text.chars().take(self.most).flat_map(|c| {
            let mut bytes = [0; 4];
            let length = c.encode_utf8(&mut bytes).len();
            bytes.into_iter().take(length)
        })
    }

    fn length(self) -> usize {
        self.text.chars().take(self.most).map(char::len_utf8).sum()
    }

    /// Whether there is room for it, be it that of others.
    pub fn fits(self, notes: &Notes) -> bool {
        notes.has_room_for(self.length(), 0).is_some()
    }

    /// Keeps it instead of what the player said before.
    pub fn keep(self, notes: &mut Notes, player: u16) {
        let Ok(length) = u16::try_from(self.length()) else { return };
        notes.remove(player, Note::Speech);
        while !notes.append((player, Note::Speech), length, self.bytes()) && notes.give_way() {}
    }
}

/// As much of a text as so many bytes have room for, cut between two characters.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let ends = (0..=text.len().min(most)).rev();
    { ends }.find_map(|end| text.get(..end)).unwrap_or_default()
}

/// As much of a text as fits a step.
pub(super) fn part(text: &str) -> &str {
    beginning(text, MOVE_BYTES)
}

impl Table {
    /// Behind the move, the whole of what it said, where the move does not show it.
    pub(super) fn film_speech(&self, film: &mut Film, now: Now, seat: Seat, player: u16, speech: Speech<'_>) {
        if speech.length() > 0 {
            film.add_speech((self.film_id(), self.steps, self.play.elapsed(now.ms)), seat, player);
        }
    }
}

impl Venue<'_> {
    /// Whether a speech waits to be taken to the film: see [`Venue::take_steps`].
    pub fn has_speeches(&self) -> bool {
        self.memory.film.has_speeches()
    }

    /// What the player on a line said last, at length.
    pub(crate) fn speech_of(&self, line: u16) -> &str {
        let number = self.memory.players.get(usize::from(line)).map_or(0, |player| player.number);
        self.memory.notes.get(number, Note::Speech)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::json::parse;
    use std::string::String;

    fn speech(text: &Value<'static>) -> Speech<'static> {
        Speech { text: text.as_str().unwrap(), most: 2_000 }
    }

    fn leaked(text: &str) -> Value<'static> {
        let json = serde_json::to_string(text).unwrap();
        parse(String::leak(json).as_bytes()).unwrap()
    }

    #[test]
    fn a_speech_is_kept_byte_for_byte_up_to_its_last_character_that_counts() {
        let notes: &mut Notes = &mut Notes::<[u8; 20_992]>::new();
        let long = "שלום 🙂\n".repeat(400);
        speech(&leaked(&long)).keep(notes, 7);
        let counts: String = long.chars().take(2_000).collect();
        assert_eq!(notes.get(7, Note::Speech), counts);
    }

    #[test]
    fn the_oldest_speech_gives_way_and_memories_stay() {
        let notes: &mut Notes = &mut Notes::<[u8; 20_992]>::new();
        notes.set(9, Note::Memory, "[1]");
        let long = leaked(&"🙂".repeat(2_000));
        for player in 1..=3 {
            assert!(speech(&long).fits(notes));
            speech(&long).keep(notes, player);
        }
        assert_eq!([1, 2, 3].map(|player| notes.get(player, Note::Speech).len()), [0, 8_000, 8_000]);
        assert_eq!(notes.get(9, Note::Memory), "[1]");
        assert!(notes.set(9, Note::Memory, &"x".repeat(10_240)), "and a memory has more of a right to the room");
        assert!(notes.set(8, Note::Memory, &"x".repeat(10_240)));
        assert!(!speech(&long).fits(notes), "now there is none");
        assert!(speech(&leaked("Well.")).fits(notes));
    }

    #[test]
    fn a_part_is_as_much_as_fits_a_step_and_never_half_a_character() {
        assert_eq!(part("short"), "short");
        let long = "x".to_owned() + &"🙂".repeat(100);
        assert_eq!(part(&long).len(), 165);
    }

    use std::borrow::ToOwned;
}
