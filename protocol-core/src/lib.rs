//! The whole referee as pure state machines: no I/O, no clock, no allocation, no `unsafe`.
//!
//! Time, identity, entropy and addresses come in as arguments. A machine has a way in, a way out that is drained after
//! every input, and one question it answers about the future: when it next needs the clock. So a whole classroom, with
//! lost answers and dead laptops, can be simulated in virtual time from one seed.
//!
//! From the inside out:
//!
//! - [`games`]: rules only. Knows seats and moves; knows no names, no messages, no time.
//! - [`referee`]: one match: invite, ask, judge, announce. Knows the [`Game`](games::Game) contract and no game.
//! - [`season`]: who plays whom, who leads, who broke which rule. Knows no game and no transport.
//! - [`protocols`]: bytes to messages and back, a folder per protocol. Decides nothing.
//! - [`venue`]: the box: players at tables, one line to each, from registration to champion.
//! - [`journal`]: what of all that outlives a power cut, as bytes.
//!
//! And what they all stand on: [`ids`] and [`contact`] (who, and where), [`json`] (strict, bounded, streaming), [`fair`] (seeds, commitments, draws), [`time`],
//! [`timers`], [`log`].
//!
//! Two rules decide whether a change is right: replacing a game touches only `games/`, and replacing a transport touches
//! nothing in this crate.
#![no_std]
#![forbid(unsafe_code)]
// What a peer sends cannot stop the box. Where one of these must be broken, `expect` says why it holds.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

pub mod contact;
pub mod fair;
pub mod games;
pub mod ids;
pub mod journal;
pub mod json;
pub mod log;
pub mod message;
pub mod protocols;
pub mod referee;
pub mod season;
pub mod time;
pub mod timers;
pub mod uuid;
pub mod venue;
