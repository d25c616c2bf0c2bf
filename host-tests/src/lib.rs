//! Everything that looks at the box from outside.

pub mod simulation;
