//! Who leads.
