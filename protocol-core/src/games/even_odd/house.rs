//! How the house plays it: as it plays every game of [even and odd](crate::games::parity::house).

// A house player is given what the box made, never a peer's bytes, and is on no board.
#![allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::indexing_slicing)]

pub use crate::games::parity::house::MINDS;
