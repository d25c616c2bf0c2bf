//! LeagueBox on this computer.
#![allow(dead_code)]
mod cli;
mod clock;
mod entropy;
mod failure;
mod house;
mod http;
mod lan;
mod startup;
mod stop;
mod table;
fn main() {}
