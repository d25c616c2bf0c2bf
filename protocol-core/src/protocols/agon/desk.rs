//! What AGON keeps beside its players: who has met whom how often, and the last reactions.

use heapless::Vec;

use super::EMOJI_BYTES;
use crate::protocols::{self, DeskBytes};

/// So many pairs, each in a room, are remembered: of 32 agents all who meet in one room, or a third of them. The one that has not met
/// for longest gives way.
const PAIRS: usize = 160;
/// So many reactions wait for those who have not heard them. Older ones are not heard.
pub(super) const REACTIONS: u8 = 8;

/// What two have played against each other in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// Of the registrations the lower halves, the lower one first.
    who: [u16; 2],
    /// The place of the room.
    place: u8,
    /// What the first has won,
    won: u8,
    /// and lost,
    lost: u8,
    drawn: u8,
}

/// A reaction to a match.
#[derive(Clone, Copy)]
pub(super) struct Reaction {
    /// To which, by its key.
    pub of: u32,
    /// The registration of who sent it.
    pub from: u32,
    length: u8,
    emoji: [u8; EMOJI_BYTES],
}

impl Reaction {
    pub fn new(of: u32, from: u32, text: &str) -> Self {
        let mut emoji = [0; EMOJI_BYTES];
        emoji.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte);
        Self { of, from, length: u8::try_from(text.len()).unwrap_or(0), emoji }
    }

    pub fn emoji(&self) -> &str {
        self.emoji.get(..self.length.into()).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

/// The desk.
pub struct Desk {
    /// Who met last is last.
    pairs: Vec<Pair, PAIRS>,
    /// By their numbers, of which only the lowest bits count here.
    reactions: [Reaction; REACTIONS as usize],
    /// How many reactions there have been.
    pub(super) reacted: u32,
}

impl protocols::Desk for Desk {
    const EMPTY: Desk = Desk {
        pairs: Vec::new(),
        reactions: [Reaction { of: 0, from: 0, length: 0, emoji: [0; EMOJI_BYTES] }; REACTIONS as usize],
        reacted: 0,
    };

    fn clear(&mut self) {
        self.pairs.clear();
        self.reacted = 0;
    }
}

/// Two registrations in the order in which a pair has them, and whether they were turned for that.
fn ordered(who: [u32; 2]) -> ([u16; 2], bool) {
    let [one, two] = who.map(|issue| {
        let [low, high, ..] = issue.to_le_bytes();
        u16::from_le_bytes([low, high])
    });
    if one <= two { ([one, two], false) } else { ([two, one], true) }
}

impl Desk {
    fn find(&self, who: [u16; 2], place: u8) -> Option<usize> {
        self.pairs.iter().position(|pair| pair.who == who && pair.place == place)
    }

    /// Puts a pair behind all others, instead of what was known of it.
    fn put(&mut self, pair: Pair) {
        if let Some(at) = self.find(pair.who, pair.place) {
            self.pairs.remove(at);
        } else if self.pairs.is_full() {
            self.pairs.remove(0);
        }
        let _ = self.pairs.push(pair);
    }

    /// Two have met; the first of them has won with 2, drawn with 1.
    pub fn met(&mut self, who: [u32; 2], place: usize, halves: u8) {
        let (who, is_turned) = ordered(who);
        let place = u8::try_from(place).unwrap_or(u8::MAX);
        let known = self.find(who, place).and_then(|at| self.pairs.get(at)).copied();
        let mut pair = known.unwrap_or(Pair { who, place, won: 0, lost: 0, drawn: 0 });
        let count = match (halves, is_turned) {
            (1, _) => &mut pair.drawn,
            (2, false) | (0, true) => &mut pair.won,
            _ => &mut pair.lost,
        };
        *count = count.saturating_add(1);
        self.put(pair);
    }

    /// How often the first of two has won, lost and drawn against the other, if they have met.
    pub fn between(&self, who: [u32; 2], place: usize) -> Option<[u8; 3]> {
        let (who, is_turned) = ordered(who);
        let pair = self.pairs.get(self.find(who, u8::try_from(place).ok()?)?)?;
        Some(if is_turned { [pair.lost, pair.won, pair.drawn] } else { [pair.won, pair.lost, pair.drawn] })
    }

    /// The pair at a place, as it is journalled.
    pub fn kept(&self, at: usize) -> Option<DeskBytes> {
        self.pairs.get(at).map(Pair::bytes)
    }

    /// That of two in a room.
    pub fn kept_of(&self, who: [u32; 2], place: usize) -> Option<DeskBytes> {
        self.kept(self.find(ordered(who).0, u8::try_from(place).ok()?)?)
    }

    /// Takes in a pair that was journalled.
    pub fn restore(&mut self, bytes: &[u8]) {
        if let &[a, b, c, d, place, won, lost, drawn] = bytes {
            let who = [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])];
            self.put(Pair { who, place, won, lost, drawn });
        }
    }

    /// One more reaction.
    pub(super) fn react(&mut self, reaction: Reaction) {
        if let Some(place) = self.reactions.get_mut(place(self.reacted)) {
            *place = reaction;
        }
        self.reacted = self.reacted.wrapping_add(1);
    }

    /// The reaction of a number, which is one of the last.
    pub(super) fn reaction(&self, number: u32) -> Option<&Reaction> {
        self.reactions.get(place(number))
    }
}

/// Where a reaction lies.
fn place(number: u32) -> usize {
    usize::from(number.to_le_bytes()[0] % REACTIONS)
}

impl Pair {
    fn bytes(&self) -> DeskBytes {
        let [[a, b], [c, d]] = self.who.map(u16::to_le_bytes);
        [a, b, c, d, self.place, self.won, self.lost, self.drawn]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::Desk as _;

    #[test]
    fn a_pair_is_counted_from_both_sides_and_in_each_room_for_itself() {
        let mut desk = Desk::EMPTY;
        desk.met([9, 4], 0, 2);
        desk.met([4, 9], 0, 2);
        desk.met([9, 4], 0, 2);
        desk.met([9, 4], 0, 1);
        desk.met([9, 4], 1, 0);
        assert_eq!(desk.between([9, 4], 0), Some([2, 1, 1]));
        assert_eq!(desk.between([4, 9], 0), Some([1, 2, 1]));
        assert_eq!(desk.between([9, 4], 1), Some([0, 1, 0]));
        assert_eq!(desk.between([9, 4], 2), None);
    }

    #[test]
    fn the_pair_that_has_not_met_for_longest_gives_way_and_what_was_kept_is_known_again() {
        let mut desk = Desk::EMPTY;
        (1..=PAIRS as u32).for_each(|other| desk.met([0, other], 0, 2));
        desk.met([0, 1], 0, 0);
        desk.met([500, 501], 3, 1);
        assert_eq!((desk.between([0, 1], 0), desk.between([0, 2], 0)), (Some([1, 1, 0]), None));
        let mut again = Desk::EMPTY;
        (0..).map_while(|at| desk.kept(at)).for_each(|bytes| again.restore(&bytes));
        assert_eq!(again.pairs, desk.pairs);
        again.restore(&[1, 2, 3]);
        assert_eq!(again.pairs, desk.pairs, "what is no pair is none");
    }
}
