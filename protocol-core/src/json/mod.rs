//! JSON in and out, on fixed buffers.
//!
//! **In**: [`parse`] checks a whole text against RFC 8259 and our limits, once and without recursion. What it returns,
//! a [`Value`], is a piece of that text known to be good: its accessors walk it, and cannot fail or panic. Nothing is
//! copied and no tree is built, so a message costs no memory beyond the buffer it came in.
//!
//! **Out**: [`write`](fn@write) runs any `serde::Serialize` into a [`Sink`]. A sink may count, fill a slice, or keep one
//! [`Window`] of a text far larger than the memory at hand; the text is the same byte for byte.
//!
//! What the fields of a message mean is left to the protocols.

mod scan;
mod sink;
mod string;
mod value;
mod writer;

#[cfg(test)]
mod tests;

pub use scan::{Error, ErrorKind, MAX_DEPTH, MAX_VALUES, parse, parse_members};
pub use sink::{Counter, Full, Sink, Slice, Window};
pub use string::{Chars, Str, TooLong};
pub use value::{Entries, Items, Kind, Members, Value};
pub use writer::{Joined, Map, Raw, Seq, Shown, count, write};
