//! What players say to everybody, beside any game: in the whole box, or in one room. It takes what the [notes](super::notes) of
//! games leave of their pad, and gives way to them: the oldest message goes first. A power cut forgets all of it.

use super::Venue;
use super::notes::{Note, Notes};
use crate::ids::MatchId;
use crate::journal::bytes::{Garbled, NoRoom, Reader, Writer};
use crate::time::{Now, Utc};

/// The longest message, in bytes.
pub const TEXT_BYTES: usize = 200;
/// What is kept beside its text.
const HEAD: usize = 21;
/// So many messages of one player are kept: nobody drives the words of all others out.
const EACH: usize = 10;
/// The part of the pad that all of them may take.
const PART: usize = 4;
/// A player says no more than one thing in so many seconds.
const PAUSE: u32 = 2;

/// Where something is said: in a room, by its league or, outside, what tells its game from others of its number, and its match; or
/// in the whole box.
pub(crate) type Channel = Option<(u32, MatchId)>;

/// Something that was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said<'a> {
    /// From 1, over all channels.
    pub number: u32,
    pub at: Utc,
    /// By which registration.
    pub by: u32,
    pub channel: Channel,
    pub text: &'a str,
}

impl<'a> Said<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Garbled> {
        let from = &mut Reader::new(bytes);
        let (number, at, by, is_in_room) = (from.u32()?, Utc(from.u32()?), from.u32()?, from.u8()? != 0);
        let room = (from.u32()?, MatchId { round: from.u16()?, table: from.u16()? });
        let text = str::from_utf8(bytes.get(HEAD..).ok_or(Garbled)?).map_err(|_| Garbled)?;
        Ok(Self { number, at, by, channel: is_in_room.then_some(room), text })
    }

    fn write(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        out.u32(self.number)?;
        out.u32(self.at.0)?;
        out.u32(self.by)?;
        out.u8(self.channel.is_some().into())?;
        let (of, id) = self.channel.unwrap_or((0, MatchId { round: 0, table: 0 }));
        out.u32(of)?;
        out.u16(id.round)?;
        out.u16(id.table)?;
        out.raw(self.text.as_bytes())
    }
}

/// Why a message is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotSaid {
    /// The player has just said something, and is to wait.
    TooSoon,
    /// What games keep takes all the room.
    NoRoom,
}

impl Notes {
    /// All that was said, the oldest first.
    fn chat(&self) -> impl Iterator<Item = Said<'_>> {
        self.all(Note::Chat).filter_map(|(_, bytes)| Said::read(bytes).ok())
    }

    /// Keeps a message, in the place of the oldest where there is no room for more. False where that would not be enough: then none
    /// gives way.
    fn add_message(&mut self, player: u16, said: &Said<'_>) -> bool {
        let mut bytes = [0; HEAD + TEXT_BYTES];
        let mut out = Writer::new(&mut bytes);
        if said.write(&mut out).is_err() {
            return false;
        }
        let length = out.len();
        if self.has_room_for(length, 0).is_none() {
            return false;
        }
        if self.all(Note::Chat).filter(|(by, _)| *by == player).count() >= EACH {
            self.remove(player, Note::Chat);
        }
        let most = self.size() / PART;
        while self.taken_by(Note::Chat).saturating_add(length) > most && self.drop_message() {}
        let (message, length) = (bytes.get(..length).unwrap_or_default(), u16::try_from(length).unwrap_or(0));
        while !self.append((player, Note::Chat), length, message.iter().copied()) && self.drop_message() {}
        true
    }
}

impl Venue<'_> {
    /// A player says something. The number of its message.
    pub(crate) fn say_to_all(&mut self, now: Now, line: u16, channel: Channel, text: &str) -> Result<u32, NotSaid> {
        let Some((player, by)) = self.player(line).map(|player| (player.number, player.issue)) else {
            return Err(NotSaid::NoRoom);
        };
        let is_just_now = |said: Said<'_>| said.by == by && said.at.0.abs_diff(now.utc.0) < PAUSE;
        if self.memory.notes.chat().any(is_just_now) {
            return Err(NotSaid::TooSoon);
        }
        let number = self.messages.saturating_add(1);
        if !self.memory.notes.add_message(player, &Said { number, at: now.utc, by, channel, text }) {
            return Err(NotSaid::NoRoom);
        }
        self.messages = number;
        Ok(number)
    }

    /// What was said in a channel by those who are still here, the oldest first.
    pub(crate) fn said_in(&self, channel: Channel) -> impl Iterator<Item = Said<'_>> {
        self.memory.notes.chat().filter(move |said| said.channel == channel && self.line_of(said.by).is_some())
    }
}

#[cfg(test)]
impl Venue<'_> {
    /// A game keeps so much that this is left of the pad.
    pub(crate) fn leave_room_for(&mut self, bytes: usize) {
        extern crate std;
        let notes = &mut *self.memory.notes;
        notes.remove(u16::MAX, Note::Memory);
        let rest = notes.size() - notes.taken_by(Note::Memory) - notes.taken_by(Note::Past);
        assert!(notes.set(u16::MAX, Note::Memory, &"x".repeat(rest - bytes - 5)));
    }
}
