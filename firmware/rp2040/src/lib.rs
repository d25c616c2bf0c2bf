//! LeagueBox on the WIZnet W5500-EVB-Pico: a board for [`appliance`], which is the box without one.
//!
//! ```text
//! main.rs      what runs, and how much memory each part gets
//! board.rs     the wiring; the Ethernet chip
//! bus.rs       what the chip says, checked
//! pico.rs      what the appliance asks of a board
//! net.rs       link and address: DHCP, and what happens without
//! socket.rs    TCP for the slots
//! mdns.rs      leaguebox.local
//! sntp.rs      what time it is
//! dhcp.rs      the questions the stack's own client does not ask
//! identity.rs  this box's name and Ethernet address
//! entropy.rs   what nobody may guess
//! watchdog.rs  resets a box that got stuck
//! panic.rs     what is left of a run that failed
//! led.rs       for whoever stands before it
//! flash.rs     where the journal is
//! lent_stack.rs  more stack, once
//! ```
#![no_std]

pub mod board;
pub mod bus;
pub mod dhcp;
pub mod entropy;
pub mod flash;
pub mod identity;
pub mod led;
pub mod lent_stack;
pub mod mdns;
pub mod net;
pub mod panic;
pub mod pico;
pub mod sntp;
pub mod socket;
pub mod watchdog;
