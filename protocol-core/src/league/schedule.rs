//! Who plays whom, and when.
