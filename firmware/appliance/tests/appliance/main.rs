//! A whole box on a network in memory. One program, because every test file of its own would be the whole box compiled once
//! more.

mod journal;
mod league;
mod links;
mod live;
mod mcp;
mod memory;
mod net_support;
mod owner;
mod replay;
mod server;
mod slots;
