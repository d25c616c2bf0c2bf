//! The memory a venue works in. How many players, matches and results there is room for is said here and nowhere else: a
//! board makes one [`Space`], all zeros, and lends it to its venue, which knows only what it was lent.

use heapless::deque::DequeView;
use heapless::{Deque, Vec, VecView};

use super::Table;
use super::facts::{Fact, Facts};
use super::film::Film;
use super::ladder::Finished;
use super::notes::Notes;
use super::players::Player;
use crate::log::{Kept, Log};
use crate::protocols::Desks;
use crate::season::{Ranked, Record, Tally};
use crate::timers::{Slot, Timers};

/// Declares [`Space`] and [`Memory`]: the one list of what a venue remembers, each as it is kept and as it is lent.
macro_rules! space {
    ($(#[doc = $space:literal])+ $($room:ident)+ { $($(#[doc = $doc:literal])* $name:ident: $kept:ty as $lent:ty,)+ }) => {
        $(#[doc = $space])+
        pub struct Space<$(const $room: usize),+> { $($name: $kept),+ }

        /// The same, lent.
        pub struct Memory<'m> { $($(#[doc = $doc])* pub(super) $name: &'m mut $lent),+ }

        impl Memory<'_> {
            /// Forgets what a venue before may have left there.
            pub(super) fn clear(&mut self) {
                $(self.$name.clear();)+
            }
        }

        impl<$(const $room: usize),+> Space<$($room),+> {
            /// Nothing but zeros.
            pub const fn new() -> Self {
                const { assert!(RESULTS >= PLAYERS * (PLAYERS - 1) / 2, "there must be room for a result of every pair") };
                const { assert!(MATCHES >= 1 && PLAYERS >= 2 && PLAYERS < 1000, "2 to 999 players, at least one match") };
                Self { $($name: <$kept>::new()),+ }
            }

            /// Lends it.
            pub fn lend(&mut self) -> Memory<'_> {
                Memory { $($name: &mut self.$name),+ }
            }
        }

        impl<$(const $room: usize),+> Default for Space<$($room),+> {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

space! {
    /// The memory of a venue, to be lent to it. As the initial value of a static it takes no flash: all of it is zeros.
    ///
    /// | parameter | what there is room for |
    /// |---|---|
    /// | `PLAYERS` | players registered |
    /// | `MATCHES` | matches at once, of the league and beside it; and games that are over, of those beside it |
    /// | `RESULTS` | results of a league: a match for every pair of players |
    /// | `LOG` | entries of the log; the oldest give way |
    /// | `NOTES` | bytes that games keep for players between their moves, for all of them together |
    /// | `STEPS` | bytes of moves that wait to be written to flash |
    PLAYERS MATCHES RESULTS LOG NOTES STEPS {
        /// The players, by line.
        players: Vec<Player, PLAYERS> as VecView<Player>,
        /// What the protocols keep for themselves.
        desks: Desks as Desks,
        /// Player by place in the schedule.
        seating: Vec<u16, PLAYERS> as VecView<u16>,
        /// Tally by place in the schedule.
        tallies: Vec<Tally, PLAYERS> as VecView<Tally>,
        /// Places in the schedule, best first, with the tallies of that moment: as of the last round that closed, so that
        /// every player is told the same however late it listens.
        closed: Vec<Ranked, PLAYERS> as VecView<Ranked>,
        /// The same as of now, for whoever asks.
        current: Vec<Ranked, PLAYERS> as VecView<Ranked>,
        /// By place in the season: of this league, so many as it has matches.
        records: Vec<Option<Record>, RESULTS> as VecView<Option<Record>>,
        /// By slot: so many as were ever needed at once.
        tables: Vec<Option<Table>, MATCHES> as VecView<Option<Table>>,
        /// Games of the ladder that are over, as many as there is room for, oldest first.
        finished: Deque<Finished, MATCHES> as DequeView<Finished>,
        /// When each line next needs the clock.
        timers: Timers<[Slot; PLAYERS]> as Timers,
        /// Lines that [`Venue::poll_output`](super::Venue::poll_output) will name.
        changed: Deque<u16, PLAYERS> as DequeView<u16>,
        /// What is kept for players between their moves.
        notes: Notes<[u8; NOTES]> as Notes,
        /// Steps of matches that wait to be taken.
        film: Film<[u8; STEPS]> as Film,
        /// What has to outlive a power cut and is not safe yet.
        facts: Facts<[[Fact; 4]; MATCHES]> as Facts,
        /// What happened.
        log: Log<Vec<Kept, LOG>> as Log,
    }
}
