//! A whole league over real HTTP, with players that answer at once.

use super::peers::{Players, Server};
use super::{title, verdict};
use crate::Outcome;
use crate::verb::Given;
use std::time::Instant;

const PLAYERS: usize = 32;
const MATCHES: usize = PLAYERS * (PLAYERS - 1) / 2;
const LEAGUES: usize = 3;
const STATUS: &[u8] = b"GET /api/status.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// Plays some leagues; the median counts.
pub fn run(_: &Given) -> Outcome {
    title(
        &format!("A league of {PLAYERS} instant players, {MATCHES} matches, over real HTTP"),
        "from the first registration to the last LEAGUE_COMPLETED; box and players share the machine",
    );
    let mut rates = vec![];
    for _ in 0..LEAGUES {
        let players = Players::new()?;
        let mut leaguebox = Server::leaguebox(super::LEAGUEBOX, None, &["--start-at", &PLAYERS.to_string()])?;
        let begun = Instant::now();
        players.register(&leaguebox, PLAYERS)?;
        players.wait_for_the_end(PLAYERS)?;
        let seconds = begun.elapsed().as_secs_f64();
        let mut line = leaguebox.dial()?;
        let status = line.ask(STATUS).map_err(|error| format!("no answer to GET /api/status.json: {error}"))?;
        if !status.contains(&format!(r#""matches_completed":{MATCHES},"#)) {
            return Err(format!("not every match was played: {status}"));
        }
        let peak = leaguebox.peak_memory().map_or("unknown".into(), |bytes| format!("{} MB", bytes >> 20));
        let rate = MATCHES as f64 / seconds;
        println!("  {seconds:.3} s   {rate:.0} matches/s   most memory the box had: {peak}");
        rates.push(rate);
    }
    let rate = super::median(rates);
    verdict("matches per second", &format!("{rate:.0}"), "at least 500", rate >= 500.0);
    Ok(())
}
