//! How the house plays it: as it plays every game of [even and odd](crate::games::parity::house).

pub use crate::games::parity::house::MINDS;
