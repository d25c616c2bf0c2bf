//! Makes the box's texts small, while the box is built. The box itself only unpacks: piece by piece into the buffer a text
//! leaves from, without a window or a table of its own in RAM. The same texts are packed to the same bytes, whenever and
//! wherever that is done. Nothing from outside reaches it, so it may index and count as it likes: a mistake stops the build, not
//! the box.
//!
//! ```text
//! grammar.rs   many texts that have much in common: one grammar for all of them, read without a window
//! deflate.rs   files that browsers unpack: gzip, with a window that fits a small buffer
//! bits.rs      numbers of so many bits each
//! ```

mod bits;
pub mod deflate;
pub mod grammar;
