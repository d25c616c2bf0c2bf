//! Who is in, who plays whom, who leads. Knows no game and no transport.

mod compliance;
mod fours;
mod latency;
mod pairs;
mod rating;
mod record;
mod schedule;
mod standings;

pub use compliance::{Compliance, Rule};
pub use fours::Fours;
pub use latency::Latency;
pub use pairs::{Pair, Pairs};
pub use rating::{Rating, after_game};
pub use record::{ByReason, EndReason, Endings, Record, Status};
pub use schedule::{Places, SEATS, Schedule};
pub use standings::{Ranking, Tally, Verdict, rank};
