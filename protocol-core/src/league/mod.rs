//! Who is in, who plays whom, who leads. Knows no game and no transport.

pub mod schedule;
pub mod standings;
