//! LeagueBox on the WIZnet W5500-EVB-Pico.
#![no_std]

pub mod board;
pub mod clock;
pub mod entropy;
pub mod identity;
pub mod net;
pub mod panic;
pub mod socket;
