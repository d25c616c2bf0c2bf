//! What many bodies at once take of the box.

use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wait_for;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

/// Requests that are under way at once, and what a slot of the desktop holds of one, both ways: a request is held where it is
/// read.
const UNDER_WAY: usize = 250;
const SLOTS: u64 = UNDER_WAY as u64 * 2 * 16 * 1024;
/// The rest of a program that has more to do than before.
const BESIDE: u64 = 4 * 1024 * 1024;

#[test]
#[cfg_attr(feature = "board", ignore = "a board lends its slots fixed memory: there is nothing to measure")]
fn bodies_under_way_take_no_more_memory_than_their_slots_have() {
    let leaguebox = LeagueBox::start(Settings::default());
    let Some(before) = leaguebox.memory() else { return };
    // Each has sent most of what fits a request, and the rest never comes.
    let head = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 15000\r\n\r\n";
    let request = [head.as_bytes(), &[b' '; 14_000]].concat();
    let under_way: Vec<TcpStream> = (0..UNDER_WAY)
        .filter_map(|_| {
            let mut stream = TcpStream::connect_timeout(&leaguebox.address, Duration::from_secs(1)).ok()?;
            stream.set_write_timeout(Some(Duration::from_millis(100))).ok()?;
            stream.write_all(&request).ok()?;
            Some(stream)
        })
        .collect();
    assert!(under_way.len() > 192, "{} of {UNDER_WAY}", under_way.len());
    let memory = || leaguebox.memory().unwrap_or(u64::MAX);
    wait_for("the bodies have come in", || (memory() > before + SLOTS / 4).then_some(()));
    let after = memory();
    println!("{} bodies under way: {} KB, then {} KB", under_way.len(), before / 1024, after / 1024);
    assert!(after <= before + SLOTS + BESIDE, "{before} bytes before, {after} after");
    drop(under_way);
    leaguebox.wait_until_healthy();
    assert!(memory() <= before + SLOTS + BESIDE);
}
