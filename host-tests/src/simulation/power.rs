//! Power cuts. The box of the simulation keeps a journal, with the code of the real one, in a flash that can die at any
//! byte. Now and then the power is cut, before or while something is written; after a while a new venue is made from what
//! the flash has kept, and the league goes on. What had been written before is there, exactly; what was being written is
//! there or not, but never otherwise; and nothing else is.

use appliance::journal::ram::RamFlash;
use appliance::journal::{FRAME, Log, commit, restore};
use embassy_futures::block_on;
use protocol_core::fair::{Purpose, Seed};
use protocol_core::ids::MatchId;
use protocol_core::season::Record;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Config, Event, Stage, Venue};

use super::{Course, Due, MORNING, World};

/// What opens the box to its owner: kept like everything else.
const ADMIN_CODE: &str = "class-7b";
/// More than the largest frame.
const A_FRAME: u64 = 400;

/// The power of a box, and what is kept without it.
pub(super) struct Power {
    log: Log<RamFlash<Vec<u8>>>,
    /// On average so many inputs pass between two cuts.
    every: u64,
    pub cuts: u64,
    /// Seeds of attempts that were cut off, as they would look in a text. Nobody may ever see one.
    pub burnt: Vec<Vec<u8>>,
}

impl World<'_> {
    /// From now on the box has a journal, and its power is cut about every so many inputs.
    pub fn cut_the_power(&mut self, every: u64) {
        let sectors = if self.venue.capacity() <= 8 { 12 } else { 64 };
        let mut log = Log::new(RamFlash::new(vec![0xff; sectors * 2048]));
        assert_eq!(block_on(log.open(&mut [0; FRAME])), Ok(false), "a new flash is empty");
        self.venue.keep_facts();
        self.power = Some(Power { log, every, cuts: 0, burnt: Vec::new() });
        self.keep();
    }

    /// Everything is written before anything leaves the box.
    pub(super) fn keep(&mut self) {
        assert!(self.write(), "the power stays");
    }

    /// Writes all facts. False where the power did not last.
    fn write(&mut self) -> bool {
        let Some(power) = &mut self.power else { return true };
        let (mut buf, mut is_other) = ([0; FRAME], false);
        loop {
            let was_full = !self.venue.has_room_for_facts();
            match block_on(commit(&mut power.log, &mut self.venue, &mut buf, ADMIN_CODE)) {
                Ok(Some(_)) => {
                    is_other = true;
                    if was_full {
                        // The league may have waited for room.
                        let utc = Utc::at(MORNING + (self.now - self.setup.clock) / 1000);
                        self.venue.handle(Now { ms: self.now, utc }, Event::Tick);
                    }
                }
                Ok(None) => break,
                Err(trouble) if power.log.flash_mut().power > 0 => panic!("the flash is sound: {trouble}"),
                Err(_) => return false,
            }
        }
        if is_other {
            for (index, safe) in self.safe.iter_mut().enumerate() {
                let id = self.venue.schedule().at(index).map(|(round, table)| MatchId { round, table });
                *safe = id.and_then(|id| self.venue.record(id).copied());
            }
        }
        true
    }

    /// After an input: what it led to is written, or the power is cut.
    pub(super) fn keep_or_lose(&mut self) {
        let Some(power) = &mut self.power else { return };
        if !self.random.one_in(power.every) {
            self.keep();
            return self.prepare();
        }
        if self.random.one_in(2) {
            power.log.flash_mut().power = self.random.within(1, A_FRAME) as u32;
            if self.write() {
                if let Some(power) = &mut self.power {
                    power.log.flash_mut().power = u32::MAX;
                }
                return;
            }
        }
        self.restart();
    }

    /// Sectors are erased while nobody plays.
    fn prepare(&mut self) {
        if let Some(power) = &mut self.power
            && self.venue.tables().next().is_none()
        {
            let _ = block_on(power.log.prepare(2, &mut [0; FRAME])).expect("the flash is sound");
        }
    }

    /// The power comes back.
    fn restart(&mut self) {
        let Some(power) = &mut self.power else { return };
        power.cuts += 1;
        let mut flash = std::mem::replace(&mut power.log, Log::new(RamFlash::new(Vec::new()))).into_flash();
        flash.power = u32::MAX;
        power.log = Log::new(flash);
        // Only what the journal says is known.
        let seed = |n| Seed([n; 32]);
        let config = Config { endpoint: self.venue.config().endpoint.clone(), ..Config::default() };
        let spare = self.spare.take().expect("it was given back after the last cut");
        let lost = std::mem::replace(&mut self.venue, Venue::new(spare, config, seed(1), seed(2)));
        let mut code = String::new();
        let found = block_on(restore(&mut power.log, &mut self.venue, &mut [0; FRAME], |said| code = said.into()));
        assert_eq!((found, code.as_str()), (Ok(true), ADMIN_CODE), "a power cut is no damage");
        self.check_what_is_left(&lost);
        self.spare = Some(lost.into_memory());

        self.now += self.random.within(0, 30_000);
        let now = self.moment();
        let was_played = matches!(self.venue.stage(), Stage::Running(_));
        let schedule = self.venue.schedule();
        let id = |index| schedule.at(index).map(|(round, table)| MatchId { round, table });
        let left = (0..self.records.len()).map(|index| self.venue.record(id(index)?).copied()).collect();
        self.venue.resume(now);
        self.forget_the_lost(left, was_played && !self.venue.is_over());
        self.keep();
        self.serve();
    }

    /// What was safe is there, and nothing but what was true.
    fn check_what_is_left(&self, lost: &Venue<'_>) {
        assert_eq!(self.venue.league_id().number, lost.league_id().number, "a league is begun with the power on");
        assert_eq!(format!("{:?}", self.venue.config()), format!("{:?}", lost.config()), "settings are kept");
        assert_eq!(self.venue.is_paused(), lost.is_paused(), "the admin is answered with the power on");
        let ids = |venue: &Venue<'_>| venue.players().iter().map(|player| player.id()).collect::<Vec<_>>();
        assert_eq!(ids(&self.venue), ids(lost), "registrations are answered with the power on");
        for (index, safe) in self.safe.iter().enumerate() {
            let (round, table) = lost.schedule().at(index).expect("a record belongs to a match");
            let id = MatchId { round, table };
            let (was, is) = (lost.record(id), self.venue.record(id));
            match (safe, is) {
                (Some(safe), is) => assert_eq!(is, Some(safe), "{id} had been acknowledged"),
                (None, Some(is)) => assert_eq!(was, Some(is), "{id} was being written"),
                (None, None) => {}
            }
        }
    }

    /// The world forgets what the box has lost, and learns its new seeds.
    fn forget_the_lost(&mut self, left: Vec<Option<Record>>, is_played: bool) {
        self.open.iter_mut().for_each(|open| *open = None);
        self.calls.clear();
        self.standings.clear();
        self.owner.told.clear();
        self.log_read = 0;
        self.quiet_since = self.now;
        self.was_over = self.venue.is_over();
        // Connections are gone; what agents do by themselves they do a little later.
        let now = self.now;
        let queue = std::mem::take(&mut self.queue);
        self.queue = queue
            .into_iter()
            .filter(|(_, due)| !matches!(due, Due::Act { .. }))
            .map(|((at, number), due)| ((at.max(now), number), due))
            .collect();
        let schedule = self.venue.schedule();
        let number = self.venue.league_id().number;
        let Some(power) = &mut self.power else { return };
        self.attempts += u32::from(is_played);
        for (index, (was, is)) in self.records.iter().zip(&left).enumerate() {
            let (round, table) = schedule.at(index).expect("a record belongs to a match");
            let id = MatchId { round, table };
            self.matches -= u64::from(was.is_some() && is.is_none());
            self.matches += u64::from(was.is_none() && is.is_some());
            if is.is_some() {
                // The log that said so may be gone.
                self.courses.entry((round, table)).or_default().results = 1;
                continue;
            }
            self.courses.insert((round, table), Course::default());
            self.chosen.retain(|(_, of), _| *of != id.to_string());
            let old = self.seeds.iter().filter(|(_, of)| **of == id).map(|(seed, _)| seed.clone());
            power.burnt.extend(old.collect::<Vec<_>>());
            self.seeds.retain(|_, of| *of != id);
            let table = self.attempts << 16 | u32::from(table);
            let seed = self.master.derive(Purpose::Match, [number, round.into(), table]);
            assert_eq!(self.venue.commitment(id), seed.commitment(), "{id} has the seed of its attempt");
            self.seeds.insert(seed.to_string().into_bytes(), id);
        }
        power.burnt.retain(|seed| !self.seeds.contains_key(seed));
        self.records = left;
        self.safe = self.records.clone();
    }
}
