//! Why the program stops: one line for a person, and an exit code. Every error that reaches the terminal is a
//! [`Failure`], so that each of them says what to do.

use std::fmt;

/// One line that says what went wrong and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line, without the program's name and without a full stop.
    pub message: String,
    /// The exit code: 2 when the command line is wrong, 1 for everything else.
    pub code: u8,
}

impl Failure {
    /// The command line cannot be understood.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }

    /// The command line is fine, but the work could not be done.
    pub fn work(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
