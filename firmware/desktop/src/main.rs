//! LeagueBox on this computer.
fn main() {}
