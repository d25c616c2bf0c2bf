//! Bytes to messages and back, one folder per protocol, on fixed buffers. Knows what a message looks like; who may send
//! it, and what follows from it, is decided elsewhere.

pub mod endpoint;
pub mod league_of_agents;
pub mod league_v2;
