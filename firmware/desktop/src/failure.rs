//! Why the program stops: one line for a person, and an exit code. Every error that reaches the terminal is a
//! [`Failure`], so that each of them says what to do.

use std::fmt;
use std::io::{self, Write};

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

/// Prints. A reader who has seen enough (`leaguebox --help | head`) is no failure; a full disk is.
pub fn say(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::work(format!("cannot print: {error}"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed(io::ErrorKind);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_who_left_is_no_failure_but_a_full_disk_is() {
        assert_eq!(say(&mut Closed(io::ErrorKind::BrokenPipe), "x"), Ok(()));
        assert!(say(&mut Closed(io::ErrorKind::StorageFull), "x").unwrap_err().message.starts_with("cannot print"));
    }
}
