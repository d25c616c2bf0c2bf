//! LeagueBox on this computer.
#![allow(dead_code)]
mod cli;
mod clock;
mod failure;
mod house;
fn main() {}
