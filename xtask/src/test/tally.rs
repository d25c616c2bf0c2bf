//! Reads what the test harness prints while it is printed, and keeps count: what passed, what failed, what did not run and
//! why, and how long each program took.

use crate::{Outcome, sh};
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

/// The count so far.
#[derive(Default)]
pub struct Tally {
    ran: usize,
    failed: Vec<String>,
    /// Failed beside others, and passed when they were run again alone.
    passed_alone: Vec<String>,
    /// Names and reasons.
    not_run: Vec<String>,
    /// How long each program took, and how many of its tests ran.
    took: Vec<(Duration, usize, String)>,
}

impl Tally {
    /// Runs a test program to its end and shows all it prints. Answers with the tests that failed.
    pub fn watch(&mut self, file: &str, program: &mut Command) -> Result<Vec<String>, String> {
        let (begun, before) = (Instant::now(), self.ran);
        let mut group = sh::Group::start(program)?;
        let said = group.head().stdout.take().ok_or("a test program without output")?;
        let (mut failed, mut ended) = (Vec::new(), false);
        for line in BufReader::new(said).lines().map_while(Result::ok) {
            println!("{line}");
            match read(&line) {
                Some(Line::Passed) => self.ran += 1,
                Some(Line::Failed(name)) => {
                    self.ran += 1;
                    failed.push(name.to_owned());
                    self.failed.push(format!("{file}::{name}"));
                }
                Some(Line::Ignored(name, why)) => self.not_run.push(format!("{file}::{name} ({why})")),
                Some(Line::End) => ended = true,
                None => {}
            }
        }
        let succeeded = group.head().wait().is_ok_and(|status| status.success());
        self.took.push((begun.elapsed(), self.ran - before, file.to_owned()));
        // Also when it was killed in the middle of a test, or when a line was torn.
        if !ended || !succeeded && failed.is_empty() {
            self.failed.push(format!("{file} (it ended without saying how)"));
        }
        Ok(failed)
    }

    /// Runs a test that failed again, with nothing beside it. What passes then is told, and does not count as failed.
    pub fn again(&mut self, file: &str, name: &str, program: &mut Command) -> Outcome {
        let mut alone = Tally::default();
        alone.watch(file, program)?;
        for (took, tests, file) in alone.took {
            self.took.push((took, tests, format!("{file}, once more: {name}")));
        }
        if alone.failed.is_empty() && alone.ran == 1 {
            let name = format!("{file}::{name}");
            self.failed.retain(|failed| *failed != name);
            self.passed_alone.push(name);
        }
        Ok(())
    }

    /// Prints the count; an error if anything failed, or nothing ran at all.
    pub fn outcome(mut self) -> Outcome {
        println!("\nhow long each took, and how many tests it has:");
        self.took.sort_by_key(|(took, ..)| std::cmp::Reverse(*took));
        for (took, tests, file) in &self.took {
            println!("  {:>7.1} s  {tests:>3}  {file}", took.as_secs_f32());
        }
        println!("\nran {}, of which {} failed; did not run: {}", self.ran, self.failed.len(), self.not_run.len());
        for name in &self.not_run {
            println!("  not run: {name}");
        }
        for name in &self.passed_alone {
            println!("  failed beside others, passed alone: {name}");
        }
        match self.failed.as_slice() {
            [] if self.ran == 0 => Err("no test ran".into()),
            [] => Ok(()),
            failed => Err(format!("failed: {}", failed.join(", "))),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Passed,
    Failed(&'a str),
    Ignored(&'a str, &'a str),
    End,
}

/// What a line of the harness says, if it is one.
fn read(line: &str) -> Option<Line<'_>> {
    if line.starts_with("test result: ") {
        return Some(Line::End);
    }
    let (name, verdict) = line.strip_prefix("test ")?.split_once(" ... ")?;
    // Whoever asks the harness how long a test took has that behind the verdict.
    match verdict.split(" <").next() {
        Some("ok") => Some(Line::Passed),
        Some("FAILED") => Some(Line::Failed(name)),
        _ => Some(Line::Ignored(name, verdict.strip_prefix("ignored")?.trim_start_matches(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_is_understood() {
        assert_eq!(read("test the_box_is_back ... ok"), Some(Line::Passed));
        assert_eq!(read("test the_box_is_back ... ok <1.250s>"), Some(Line::Passed));
        assert_eq!(read("test deep::down ... FAILED"), Some(Line::Failed("deep::down")));
        assert_eq!(
            read("test once ... ignored, a board never ends"),
            Some(Line::Ignored("once", "a board never ends"))
        );
        assert_eq!(read("test result: ok. 3 passed; 0 failed; 1 ignored"), Some(Line::End));
        assert_eq!(read("running 4 tests"), None);
    }

    #[test]
    fn a_program_that_says_nothing_has_failed_and_so_has_a_run_without_tests() {
        let mut tally = Tally::default();
        tally.watch("silent", sh::line("exit 0").stdout(std::process::Stdio::piped())).unwrap();
        assert!(tally.outcome().is_err_and(|why| why.contains("silent")));
        assert!(Tally::default().outcome().is_err());
    }

    #[test]
    fn how_long_each_program_took_is_kept_with_its_tests() {
        let mut tally = Tally::default();
        for (file, said) in [("quick", "true"), ("slow", "sleep 0.05; printf 'test a ... ok\\n'")] {
            tally.watch(file, sh::line(said).stdout(std::process::Stdio::piped())).unwrap();
        }
        let took: Vec<_> = tally.took.iter().map(|(_, tests, file)| (file.as_str(), *tests)).collect();
        assert_eq!(took, [("quick", 0), ("slow", 1)]);
        assert!(tally.took[1].0 >= Duration::from_millis(50));
    }

    #[test]
    fn what_failed_is_named() {
        let mut tally = Tally::default();
        let said = "printf 'test a ... ok\\ntest b ... FAILED\\ntest result: FAILED.\\n'; exit 101";
        tally.watch("file", sh::line(said).stdout(std::process::Stdio::piped())).unwrap();
        assert_eq!(tally.outcome(), Err("failed: file::b".into()));
    }

    #[test]
    fn what_passes_alone_has_not_failed_and_what_fails_again_has() {
        let printing = |said: &str| {
            let mut program = sh::line(&format!("printf '{said}'"));
            program.stdout(std::process::Stdio::piped());
            program
        };
        let mut tally = Tally::default();
        let failed = tally.watch("file", &mut printing("test a ... FAILED\\ntest b ... FAILED\\ntest result: F\\n"));
        assert_eq!(failed, Ok(vec!["a".into(), "b".into()]));
        tally.again("file", "a", &mut printing("test a ... ok\\ntest result: ok\\n")).unwrap();
        tally.again("file", "b", &mut printing("test b ... FAILED\\ntest result: F\\n")).unwrap();
        assert_eq!(tally.outcome(), Err("failed: file::b".into()));
    }
}
