//! The memory a venue works in. How many players, matches and results there is room for is said here and nowhere else: a
//! board makes one [`Space`], all zeros, and lends it to its venue, which knows only what it was lent.

use heapless::deque::DequeView;
use heapless::{Deque, Vec, VecView};

use super::Table;
use super::facts::{Fact, Facts};
use super::ladder::Finished;
use super::notes::Notes;
use super::players::Player;
use super::reel::Reel;
use crate::log::{Kept, Log};
use crate::protocols::Desks;
use crate::season::{Ranked, Record, Tally};
use crate::timers::{Slot, Timers};

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
pub struct Space<
    const PLAYERS: usize,
    const MATCHES: usize,
    const RESULTS: usize,
    const LOG: usize,
    const NOTES: usize,
    const STEPS: usize,
> {
    players: Vec<Player, PLAYERS>,
    desks: Desks,
    seating: Vec<u16, PLAYERS>,
    tallies: Vec<Tally, PLAYERS>,
    closed: Vec<Ranked, PLAYERS>,
    current: Vec<Ranked, PLAYERS>,
    records: Vec<Option<Record>, RESULTS>,
    tables: Vec<Option<Table>, MATCHES>,
    finished: Deque<Finished, MATCHES>,
    timers: Timers<[Slot; PLAYERS]>,
    changed: Deque<u16, PLAYERS>,
    notes: Notes<[u8; NOTES]>,
    reel: Reel<[u8; STEPS]>,
    facts: Facts<[[Fact; 4]; MATCHES]>,
    log: Log<Vec<Kept, LOG>>,
}

/// The same, lent.
pub struct Memory<'m> {
    pub(super) players: &'m mut VecView<Player>,
    pub(super) desks: &'m mut Desks,
    pub(super) seating: &'m mut VecView<u16>,
    pub(super) tallies: &'m mut VecView<Tally>,
    pub(super) closed: &'m mut VecView<Ranked>,
    pub(super) current: &'m mut VecView<Ranked>,
    pub(super) records: &'m mut VecView<Option<Record>>,
    pub(super) tables: &'m mut VecView<Option<Table>>,
    pub(super) finished: &'m mut DequeView<Finished>,
    pub(super) timers: &'m mut Timers,
    pub(super) changed: &'m mut DequeView<u16>,
    pub(super) notes: &'m mut Notes,
    pub(super) reel: &'m mut Reel,
    pub(super) facts: &'m mut Facts,
    pub(super) log: &'m mut Log,
}

impl Memory<'_> {
    /// Forgets what a venue before may have left there.
    pub(super) fn clear(&mut self) {
        let Self { players, desks, seating, tallies, closed, current, records, .. } = self;
        players.clear();
        desks.clear();
        seating.clear();
        tallies.clear();
        closed.clear();
        current.clear();
        records.clear();
        let Self { tables, finished, timers, changed, notes, reel, facts, log, .. } = self;
        tables.clear();
        finished.clear();
        timers.clear();
        changed.clear();
        notes.clear();
        reel.clear();
        facts.clear();
        log.clear();
    }
}

impl<
    const PLAYERS: usize,
    const MATCHES: usize,
    const RESULTS: usize,
    const LOG: usize,
    const NOTES: usize,
    const STEPS: usize,
> Space<PLAYERS, MATCHES, RESULTS, LOG, NOTES, STEPS>
{
    /// Nothing but zeros.
    pub const fn new() -> Self {
        const { assert!(RESULTS >= PLAYERS * (PLAYERS - 1) / 2, "there must be room for a result of every pair") };
        const { assert!(MATCHES >= 1 && PLAYERS >= 2 && PLAYERS < 1000, "2 to 999 players, at least one match") };
        Self {
            players: Vec::new(),
            desks: Desks::new(),
            seating: Vec::new(),
            tallies: Vec::new(),
            closed: Vec::new(),
            current: Vec::new(),
            records: Vec::new(),
            tables: Vec::new(),
            finished: Deque::new(),
            timers: Timers::new(),
            changed: Deque::new(),
            notes: Notes::new(),
            reel: Reel::new(),
            facts: Facts::new(),
            log: Log::new(),
        }
    }

    /// Lends it.
    pub fn lend(&mut self) -> Memory<'_> {
        let Self { players, desks, seating, tallies, closed, current, records, .. } = self;
        let Self { tables, finished, timers, changed, notes, reel, facts, log, .. } = self;
        Memory {
            players,
            desks,
            seating,
            tallies,
            closed,
            current,
            records,
            tables,
            finished,
            timers,
            changed,
            notes,
            reel,
            facts,
            log,
        }
    }
}

impl<
    const PLAYERS: usize,
    const MATCHES: usize,
    const RESULTS: usize,
    const LOG: usize,
    const NOTES: usize,
    const STEPS: usize,
> Default for Space<PLAYERS, MATCHES, RESULTS, LOG, NOTES, STEPS>
{
    fn default() -> Self {
        Self::new()
    }
}
