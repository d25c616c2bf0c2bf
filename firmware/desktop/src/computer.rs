//! This computer as a board: its clocks, and what it says of itself.
//!
//! Whoever waits for a peer also waits for a deadline, and nearly always the peer comes first. So a deadline costs an entry
//! in a map and not a timer of the operating system: the [reactor](crate::reactor) waits no longer than until the first of them.
//! And everybody is told the time at which the reactor last looked, at most one round ago: whoever answers a message asks for
//! the time again and again.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::mpsc::Sender;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use appliance::board::{About, Board, Memory, Reset, Said};
use appliance::clock::Clock;
use protocol_core::json::{Full, Sink};
use protocol_core::protocols::moltgame::Fill;
use protocol_core::time::Utc;

use crate::house::Order;
use crate::record::Recorder;

/// Milliseconds since the box was started, and the time of day.
pub struct Computer {
    started: Instant,
    /// What the clock showed when it was last looked at: all that happens in one round happens then.
    seen: Cell<u64>,
    /// Who sleeps until when. The second number tells apart who wakes at the same time.
    sleepers: RefCell<BTreeMap<(u64, u64), Waker>>,
    fell_asleep: Cell<u64>,
    /// Who seats house players.
    house: RefCell<Option<Sender<Order>>>,
    /// So many polls a second are answered that come too soon; all, where that is not limited.
    spare_polls: Option<u16>,
    /// Where messages are taken down.
    recorder: RefCell<Option<Recorder>>,
}

/// The longest that nobody looks at the clock: some systems cannot wait for weeks.
const LONGEST: Duration = Duration::from_secs(60 * 60);

impl Computer {
    /// Its clock begins at zero now.
    pub fn new() -> Self {
        Self::with(None)
    }

    /// The same of one that has no time for more polls a second, of those that come too soon.
    pub fn with(spare_polls: Option<u16>) -> Self {
        Self {
            spare_polls,
            started: Instant::now(),
            seen: Cell::new(0),
            sleepers: RefCell::default(),
            fell_asleep: Cell::new(0),
            house: RefCell::default(),
            recorder: RefCell::default(),
        }
    }

    /// Takes messages down from now on.
    pub fn set_recorder(&self, recorder: Recorder) {
        self.recorder.replace(Some(recorder));
    }

    /// Who seats house players from now on.
    pub fn set_house(&self, house: Sender<Order>) {
        self.house.replace(Some(house));
    }

    fn order(&self, order: Order) -> bool {
        self.house.borrow().as_ref().is_some_and(|house| house.send(order).is_ok())
    }

    /// Looks at the clock.
    pub fn look(&self) -> Duration {
        let elapsed = self.started.elapsed();
        self.seen.set(elapsed.as_millis() as u64);
        elapsed
    }

    /// Wakes everybody whose time has come; says how long it is until the next one's.
    pub fn ring(&self) -> Duration {
        let elapsed = self.look();
        while let Some(sleeper) = self.due(self.seen.get()) {
            sleeper.wake();
        }
        let next = self.sleepers.borrow().keys().next().map(|&(at, _)| Duration::from_millis(at));
        next.map_or(LONGEST, |at| at.saturating_sub(elapsed).min(LONGEST))
    }

    /// Takes out somebody whose time has come.
    fn due(&self, now: u64) -> Option<Waker> {
        let mut sleepers = self.sleepers.borrow_mut();
        let first = sleepers.first_entry().filter(|sleeper| sleeper.key().0 <= now)?;
        Some(first.remove())
    }
}

impl Clock for Computer {
    fn now(&self) -> u64 {
        self.seen.get()
    }

    async fn sleep_until(&self, at: u64) {
        Sleep { clock: self, at, number: None }.await;
    }
}

/// Somebody who sleeps.
struct Sleep<'a> {
    clock: &'a Computer,
    at: u64,
    /// None until it has fallen asleep.
    number: Option<u64>,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { clock, at, number } = *self;
        if let Some(number) = number {
            return match clock.sleepers.borrow_mut().get_mut(&(at, number)) {
                Some(waker) => {
                    waker.clone_from(context.waker());
                    Poll::Pending
                }
                None => Poll::Ready(()),
            };
        }
        if at <= clock.seen.get() {
            return Poll::Ready(());
        }
        let number = clock.fell_asleep.replace(clock.fell_asleep.get() + 1);
        self.number = Some(number);
        clock.sleepers.borrow_mut().insert((at, number), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.clock.sleepers.borrow_mut().remove(&(self.at, number));
        }
    }
}

impl Board for Computer {
    fn about(&self) -> About<'_> {
        // A program that panicked is not there to tell.
        About { board: "desktop", name: "leaguebox", last_reset: Reset::PowerOn, last_panic: None }
    }

    fn memory(&self) -> Memory {
        Memory { resident: resident(), ..Memory::default() }
    }

    fn utc(&self) -> Option<Utc> {
        Some(utc())
    }

    fn spare_polls(&self) -> u32 {
        self.spare_polls.map_or(u32::MAX, u32::from)
    }

    fn hire(&self, players: u16) -> bool {
        self.order(Order::Hire(players))
    }

    fn has_house(&self) -> bool {
        self.house.borrow().is_some()
    }

    fn fill(&self, room: Fill) -> bool {
        self.order(Order::Fill(room))
    }

    const RECORDS: bool = true;

    fn record(&self, said: Said, write: &dyn Fn(&mut dyn Sink) -> Result<(), Full>) {
        if let Some(recorder) = self.recorder.borrow_mut().as_mut() {
            recorder.take_down(said, write);
        }
    }
}

fn utc() -> Utc {
    Utc::at(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// What this program has in memory, where the system tells.
fn resident() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes: u32 =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Now, as `YYYY-MM-DDTHH:MM:SSZ`.
pub fn timestamp() -> String {
    utc().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reactor::Reactor;
    use embassy_futures::join::join;
    use embassy_futures::select::{Either, select};
    use embassy_futures::yield_now;

    fn sleep(clock: &Computer, sleeper: impl Future) {
        Reactor::new().unwrap().run(clock, sleeper);
    }

    #[test]
    fn a_sleeper_wakes_at_its_time_and_not_before() {
        let clock = Computer::new();
        let at = clock.after(20);
        sleep(&clock, clock.sleep_until(at));
        assert!(clock.now() >= at);
    }

    #[test]
    fn the_time_is_that_of_the_last_look_and_a_wait_ends_with_one() {
        let clock = Computer::new();
        while clock.started.elapsed() < Duration::from_millis(2) {}
        assert_eq!(clock.now(), 0);
        sleep(&clock, yield_now());
        assert!(clock.now() >= 2);
    }

    #[test]
    fn who_falls_asleep_later_may_wake_sooner_and_who_leaves_is_forgotten() {
        let clock = Computer::new();
        let (late, soon, sooner) = (clock.after(1_000_000), clock.after(20), clock.after(10));
        sleep(&clock, async {
            let never = select(clock.sleep_until(late), clock.sleep_until(u64::MAX));
            let both = join(clock.sleep_until(soon), clock.sleep_until(sooner));
            assert!(matches!(select(never, both).await, Either::Second(_)));
            assert!(clock.now() >= soon);
        });
        assert!(clock.sleepers.borrow().is_empty());
    }
}
