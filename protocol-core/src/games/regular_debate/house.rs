//! Minds for `regular_debate`: those of every [debate](crate::games::debate::house).

pub use crate::games::debate::house::MINDS;
