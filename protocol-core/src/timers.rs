//! One deadline per slot, the nearest first.
