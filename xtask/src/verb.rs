//! What a verb is: its name, its options, its help, and what does the work. One table per verb is both parsed and printed,
//! so that the help cannot say anything else than what is understood. `lexopt` splits the words.

use crate::Outcome;
use lexopt::{Arg, Parser};
use std::ffi::OsString;
use std::fmt::Write;
use std::str::FromStr;

/// A chore: `cargo xtask <name>`.
pub struct Verb {
    pub name: &'static str,
    /// What it does, in the one line of the list.
    pub what: &'static str,
    /// What else somebody wants to know who never ran it: what it needs, what it leaves out, how it measures.
    pub more: &'static str,
    pub options: &'static [Opt],
    /// What may follow the options, and what it means. A name that begins with `--` stands for the words behind a `--`.
    pub words: &'static [(&'static str, &'static str)],
    pub example: &'static str,
    pub run: fn(&Given) -> Outcome,
}

/// An option with a value.
pub struct Opt {
    /// As it is written, `--seconds`.
    pub name: &'static str,
    /// What its value is, in one word.
    pub value: &'static str,
    pub what: &'static str,
    /// The value it has when it is not given, if it has one.
    pub default: Option<&'static str>,
}

/// What was given to a verb.
#[derive(Debug, Default)]
pub struct Given {
    options: Vec<(&'static str, String)>,
    /// What came beside the options.
    pub words: Vec<String>,
    /// What came behind a `--`.
    pub rest: Vec<String>,
}

impl Given {
    /// The value of an option: the last that was given, or its default.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
    }

    /// The same as a number or the like, where there is one and it pleases.
    pub fn parsed<T: FromStr>(&self, name: &str, wants: &str, pleases: impl Fn(&T) -> bool) -> Result<T, String> {
        let text = self.get(name).unwrap_or_default();
        text.parse().ok().filter(pleases).ok_or_else(|| format!("{name} wants {wants}, not `{text}`"))
    }
}

impl Verb {
    /// Does the work with these words.
    pub fn run(&self, words: &[&str]) -> Outcome {
        (self.run)(&self.read(words.iter().map(OsString::from).collect())?)
    }

    /// Reads the words behind the verb.
    pub fn read(&self, mut words: Vec<OsString>) -> Result<Given, String> {
        let takes = |behind: bool| self.words.iter().any(|(name, _)| name.starts_with("--") == behind);
        let text = |word: OsString| word.into_string().map_err(|word| format!("{word:?} is not text"));
        let mut given = Given::default();
        for option in self.options {
            given.options.extend(option.default.map(|default| (option.name, default.into())));
        }
        if let Some(place) = words.iter().position(|word| word == "--").filter(|_| takes(true)) {
            given.rest = words.split_off(place).into_iter().skip(1).map(text).collect::<Result<_, _>>()?;
        }
        let mut parser = Parser::from_args(words);
        loop {
            let name = match parser.next().map_err(|error| self.refuse(&error.to_string()))? {
                None => return Ok(given),
                Some(Arg::Value(word)) if takes(false) => {
                    given.words.push(text(word)?);
                    continue;
                }
                Some(Arg::Value(word)) => return Err(self.refuse(&format!("{word:?} is too much"))),
                Some(Arg::Long(name)) => format!("--{name}"),
                Some(Arg::Short(letter)) => format!("-{letter}"),
            };
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                return Err(self.refuse(&format!("there is no option {name}")));
            };
            let value = parser.value().map_err(|_| self.refuse(&format!("{name} wants a value, {}", option.value)))?;
            given.options.push((option.name, text(value)?));
        }
    }

    fn refuse(&self, why: &str) -> String {
        format!("{why}: see cargo xtask {} --help", self.name)
    }

    /// What `--help` prints.
    pub fn help(&self) -> String {
        let Verb { name, what, more, example, .. } = self;
        let words: String = self.words.iter().map(|(word, _)| format!(" [{word}]")).collect();
        let options = if self.options.is_empty() { "" } else { " [options]" };
        let mut text =
            format!("cargo xtask {name}: {what}.\n\n{more}\n\nUsage\n  cargo xtask {name}{options}{words}\n");
        for (word, what) in self.words {
            text.push_str(&row(word, what));
        }
        if !self.options.is_empty() {
            text.push_str("\nOptions, with their defaults in brackets\n");
        }
        for Opt { name, value, what, default } in self.options {
            let default = default.map(|default| format!(" ({default})")).unwrap_or_default();
            text.push_str(&row(&format!("{name} {value}"), &format!("{what}{default}")));
        }
        // A string takes all that is written to it.
        let _ = write!(text, "\nExample\n  {example}\n");
        text
    }
}

/// A line of a help: a word, and what it means.
pub fn row(word: &str, what: &str) -> String {
    format!("  {word:<34}{what}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERB: Verb = Verb {
        name: "dig",
        what: "dig a hole",
        more: "Needs a spade.",
        options: &[
            Opt { name: "--metres", value: "N", what: "how deep", default: Some("2") },
            Opt { name: "--place", value: "PLACE", what: "where", default: None },
        ],
        words: &[("TOOL ...", "what with"), ("-- WORDS ...", "what to say meanwhile")],
        example: "cargo xtask dig --metres 3 spade",
        run: |_| Ok(()),
    };

    fn read(verb: &Verb, line: &str) -> Result<Given, String> {
        verb.read(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn an_option_has_its_default_until_it_is_given_and_then_the_last_value() {
        assert_eq!(read(&VERB, "").unwrap().get("--metres"), Some("2"));
        assert_eq!(read(&VERB, "").unwrap().get("--place"), None);
        assert_eq!(read(&VERB, "--metres=3 --place here --metres 4").unwrap().get("--metres"), Some("4"));
    }

    #[test]
    fn words_beside_the_options_and_behind_two_dashes_are_kept_apart() {
        let given = read(&VERB, "spade --metres 3 fork -- --sing --loud").unwrap();
        assert_eq!(
            (given.words, given.rest),
            (vec!["spade".into(), "fork".into()], vec!["--sing".into(), "--loud".into()])
        );
    }

    #[test]
    fn what_is_not_understood_is_named_with_the_way_to_the_help() {
        let silent = Verb { words: &[], ..VERB };
        for (verb, line, why) in [
            (&VERB, "--meters 3", "there is no option --meters: see cargo xtask dig --help"),
            (&VERB, "-m 3", "there is no option -m: see cargo xtask dig --help"),
            (&VERB, "--metres", "--metres wants a value, N: see cargo xtask dig --help"),
            (&silent, "spade", "\"spade\" is too much: see cargo xtask dig --help"),
            (&silent, "-- spade", "\"spade\" is too much: see cargo xtask dig --help"),
        ] {
            assert_eq!(read(verb, line).unwrap_err(), why);
        }
    }

    #[test]
    fn a_value_that_does_not_please_is_answered_with_what_is_wanted() {
        let metres = |line: &str| read(&VERB, line).unwrap().parsed("--metres", "a number from 1", |n: &u32| *n > 0);
        assert_eq!(metres("--metres 7"), Ok(7));
        for bad in ["0", "deep"] {
            assert_eq!(metres(&format!("--metres {bad}")), Err(format!("--metres wants a number from 1, not `{bad}`")));
        }
    }

    #[test]
    fn the_help_is_made_of_what_is_understood() {
        assert_eq!(
            VERB.help(),
            "\
cargo xtask dig: dig a hole.

Needs a spade.

Usage
  cargo xtask dig [options] [TOOL ...] [-- WORDS ...]
  TOOL ...                          what with
  -- WORDS ...                      what to say meanwhile

Options, with their defaults in brackets
  --metres N                        how deep (2)
  --place PLACE                     where

Example
  cargo xtask dig --metres 3 spade
"
        );
    }
}
