//! The core alone: a venue whose players answer at once, without network and clock. What a match costs should not depend
//! on how many players there are.

use super::peers::{Reply, registration, reply};
use super::{median, title, verdict};
use crate::Outcome;
use crate::verb::Given;
use protocol_core::fair::Seed;
use protocol_core::json::{Counter, Slice, Window};
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Output, Space, Venue, Via};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;
use std::thread;
use std::time::Instant;

/// A venue of 512 players is a few megabytes, and is made on the stack before it is boxed.
const STACK: usize = 256 << 20;
const NOW: Now = Now { ms: 0, utc: Utc(1_768_471_200) };
const TURNS: usize = 5;
/// Of a turn: many beside the thousandths of a second in which the system tells how long a thread has worked.
const MATCHES: u32 = 16_000;
/// What a line of the desktop writes of a message in one go.
const LINE_BYTES: usize = 128 * 1024;
/// The calls a player gets in each round, in this order.
const ROUND: [Reply; 6] = [Reply::Thanks, Reply::Accept, Reply::Choose, Reply::Thanks, Reply::Thanks, Reply::Thanks];

#[derive(Default)]
struct Cost {
    matches: u32,
    ns: f64,
    bytes: usize,
}

/// Measures leagues of three sizes in turns.
pub fn run(_: &Given) -> Outcome {
    let thread = thread::Builder::new().stack_size(STACK).spawn(measure);
    let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
    thread.join().map_err(|_| "the measurement of the core panicked".to_string())
}

fn measure() {
    title(
        "What a match costs in the core alone, without network",
        "12 answers are read per match; venues just large enough; medians of turns taken alternately",
    );
    let sizes = [4, 32, 512];
    let mut silent = [vec![], vec![], vec![]];
    for _ in 0..TURNS {
        let costs = [
            play::<4, 2, 6>(MATCHES, false),
            play::<32, 16, 496>(MATCHES, false),
            play::<512, 256, 130_816>(MATCHES, false),
        ];
        silent.iter_mut().zip(costs).for_each(|(all, cost)| all.push(cost.ns));
    }
    let spoken =
        [play::<4, 2, 6>(2_000, true), play::<32, 16, 496>(2_000, true), play::<512, 256, 130_816>(1_024, true)];
    let silent = silent.map(median);
    println!("  players   ns per match   with all it says: ns per match   bytes per match");
    for ((players, silent), spoken) in sizes.iter().zip(&silent).zip(&spoken) {
        let bytes = spoken.bytes / spoken.matches.max(1) as usize;
        println!("  {players:>7}{silent:>15.0}{:>33.0}{bytes:>18}", spoken.ns);
    }
    println!("  What is said grows with the class: both players of a match are told of every match and every rank.");
    let whole = play::<512, 256, 130_816>(u32::MAX, false);
    println!("  A whole league of 512, {} matches: {:.0} ns per match", whole.matches, whole.ns);
    let [few, _, many] = silent;
    let ratio = (whole.ns / few).max(many / few);
    verdict("512 players beside 4", &format!("{ratio:.2} x per match"), "within 1.5 x", ratio <= 1.5);
}

/// Plays leagues until there were so many matches, at most one league where `u32::MAX` are wanted.
fn play<const P: usize, const M: usize, const R: usize>(wanted: u32, spoken: bool) -> Cost {
    let endpoint = "http://10.0.0.1:8000/mcp".try_into().unwrap_or_default();
    // All come from one address.
    let config = Config { endpoint, per_address: Some(P as u16), ..Config::default() };
    let mut space = Box::new(Space::<P, M, R, 256, 1024, 1024>::new());
    let mut venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
    for n in 1..=P {
        venue.request(NOW, IpAddr::V4(Ipv4Addr::LOCALHOST), Via::Post, registration(n, 8101).as_bytes());
    }
    assert_eq!(venue.players().len(), P, "everybody is registered");
    let (mut cost, mut text, mut buf) = (Cost::default(), String::new(), [0; LINE_BYTES]);
    let mut command = Command::Start;
    let begun = busy();
    'leagues: while cost.matches < wanted {
        venue.command(NOW, command).expect("a league can start when none is running");
        let (mut turns, mut heard) = ([0; P], 0);
        while let Some(Output::Line(player)) = venue.poll_output() {
            let Some(id) = venue.call(player).map(|call| call.id) else { continue };
            if spoken {
                cost.bytes += say(&venue, player, &mut buf);
            }
            let turn = &mut turns[usize::from(player)];
            reply(ROUND[*turn % ROUND.len()], id, &mut text);
            *turn += 1;
            venue.handle(NOW, Event::Reply { player, call: id, status: 200, body: text.as_bytes() });
            heard += 1;
            // Every two players' rounds are a match.
            if heard % (2 * ROUND.len()) == 0 {
                cost.matches += 1;
                if cost.matches >= wanted {
                    break 'leagues;
                }
            }
        }
        // The news of the end, which every player gets once, would else count as rounds.
        cost.matches = cost.matches / R as u32 * R as u32;
        assert!(venue.is_over(), "the league was played to its end");
        command = Command::Rematch;
        if wanted == u32::MAX {
            break;
        }
    }
    cost.ns = (busy() - begun) / f64::from(cost.matches.max(1));
    cost
}

/// The nanoseconds this thread has been running, where the system tells; else those that have passed. Seconds of
/// measuring are sure to be interrupted on a busy machine.
fn busy() -> f64 {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let running = told.and_then(|text| text.split(' ').next()?.parse().ok());
    running.unwrap_or_else(|| BEGUN.elapsed().as_nanos() as f64)
}

/// Writes a call as a line of the desktop does, and drops it; how long it was.
fn say(venue: &Venue<'_>, player: u16, buf: &mut [u8]) -> usize {
    let mut slice = Slice::new(buf);
    if venue.write_call(player, &mut slice).is_ok() {
        return slice.len();
    }
    let mut counter = Counter::default();
    let counted = venue.write_call(player, &mut counter);
    assert!(counted.is_ok(), "a counter is never full");
    let mut sent = 0;
    while sent < counter.bytes {
        let mut window = Window::new(sent, buf);
        // Full only means that there is more.
        let _ = venue.write_call(player, &mut window);
        sent += window.written().len();
    }
    counter.bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_played() {
        let spoken = play::<4, 2, 6>(6, true);
        assert!(spoken.matches == 6 && spoken.bytes > 0);
        assert_eq!(play::<32, 16, 496>(40, false).matches, 40);
    }
}
