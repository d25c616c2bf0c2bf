//! How the house plays it: as it plays every game of [even and odd](crate::games::parity::house). It remembers the turns of
//! all its matches.

pub use crate::games::parity::house::MINDS;
