//! The whole referee as pure state machines.
#![no_std]
#![forbid(unsafe_code)]

pub mod fair;
pub mod games;
pub mod hall;
pub mod json;
pub mod league;
pub mod log;
pub mod referee;
pub mod time;
pub mod timers;
pub mod wire;
