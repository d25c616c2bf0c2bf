//! What outlives a power cut, as bytes. The [`venue`](crate::venue) says what must be kept, in [`Entry`]s; whoever owns the
//! flash puts them there in frames, and after a restart reads them back into a new venue. Nothing here touches flash, and
//! whatever bytes come out of it, reading them ends in an entry or in an error.
//!
//! ```text
//! entry.rs   what is said: a registration, a result …
//! frame.rs   how it stands in a sector: a header, frames, checksums
//! bytes.rs   numbers and texts
//! ```
//!
//! The journal of a league is a *chapter*. It begins with all that is known at that moment (the seeds, the settings, the
//! players), so that it needs none of the chapters before it, and [`Entry::Open`] ends that part: a chapter without it is
//! not begun. Then comes what happens. When the league has a champion, its final standings are said once more in full
//! ([`Entry::Ended`], [`Entry::Ranked`]): they outlive it, as long as there is room.

pub mod bytes;
pub mod frame;

mod entry;

pub use entry::{Agent, Counts, Ended, Entry, Origin, Played, Settings};
