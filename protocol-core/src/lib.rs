//! The whole referee as pure state machines.
#![no_std]
#![forbid(unsafe_code)]

pub mod json;
pub mod league;
pub mod timers;
