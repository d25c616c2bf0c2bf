//! The smallest games there can be, for tests of everything that has to do with games of three and of six. Each is a folder
//! and a line in the list of games, as any other game.

pub mod sextet;
pub mod stroll;
pub mod trio;
