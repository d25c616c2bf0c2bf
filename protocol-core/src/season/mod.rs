//! Who is in, who plays whom, who leads. Knows no game and no transport.

mod compliance;
mod latency;
mod pairs;
mod rating;
mod record;
mod schedule;
mod standings;
mod tables;

pub use compliance::{Compliance, Rule};
pub use latency::Latency;
pub use pairs::{Pair, Pairs};
pub use rating::{Rating, after_game};
pub use record::{ByReason, EndReason, Endings, Record, Status};
pub use schedule::{Places, Schedule};
pub use standings::{Ranked, Row, Tally, Verdict, checksum, rank};
pub use tables::Tables;
