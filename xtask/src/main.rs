//! The project's chores: `cargo xtask <verb>`.
//!
//! Each verb is a module with one way in, `run`. This file only finds the verb and turns its answer into an exit code;
//! `sh` is how all of them start other programs. Nothing here is part of the box.

mod autobahn;
mod bench;
mod ci;
mod clients;
mod emulate;
mod firmware;
mod fuzz;
mod load;
mod readme;
mod sh;
mod siege;
mod systems;
mod test;
mod thumb;
mod venv;
mod way;
mod wear;

use std::process::ExitCode;

/// How a chore ends: done, or one line that says what to do about it.
type Outcome = Result<(), String>;

/// A verb, what it does in one line, and what does it.
type Verb = (&'static str, &'static str, fn(&[String]) -> Outcome);

const VERBS: &[Verb] = &[
    ("ci", "everything CI does, step by step", ci::run),
    ("clients", "the tests with curl, Python agents and Chromium, installing what is missing", clients::run),
    ("test", "the tests from outside, on a device [--device desktop|emulator|probe]", test::run),
    ("thumb", "build the no_std crates for the RP2040's core [--way installed|rustup|debian]", thumb::run),
    (
        "firmware",
        "build every board's ELF and UF2, and hold them against the budgets [--admin-code CODE] [--way ...]",
        firmware::run,
    ),
    ("emulate", "run the board's image on this computer, at a port of it [--port 8000]", emulate::run),
    ("systems", "build the desktop box for Windows and compile it for macOS", systems::run),
    ("fuzz", "run every fuzz target briefly [--seconds 10]", fuzz::run),
    ("readme", "run the commands the README shows", readme::run),
    ("venv", "make .venv with the Python packages the test players need", venv::run),
    ("autobahn", "the Autobahn test suite against the box's WebSockets, where Python 2.7 is", autobahn::run),
    ("bench", "measure the box [queries websocket league messages matches games memory]", bench::run),
    ("load", "a class of 32 with slow, flaky and reconnecting players, league after league [--minutes 0.5]", load::run),
    ("siege", "a league of 32 while everything is tried against the box at once [--minutes 1]", siege::run),
    ("wear", "how many leagues the flash of a board lasts", wear::run),
    ("help", "this list", help),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (verb, rest) = match args.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", args.as_slice()),
    };
    let outcome = match VERBS.iter().find(|(name, ..)| *name == verb) {
        Some((_, _, run)) => run(rest),
        None => Err(format!("there is no chore `{verb}`; `cargo xtask help` lists them")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("xtask {verb}: {what}");
            ExitCode::FAILURE
        }
    }
}

fn help(_: &[String]) -> Outcome {
    println!("cargo xtask <verb>\n");
    for (name, what, _) in VERBS {
        println!("  {name:<10}{what}");
    }
    Ok(())
}

/// The value of a verb's only option, `--name value`, if it was given. Anything else on the command line is an error.
fn option<'a>(args: &'a [String], name: &str) -> Result<Option<&'a str>, String> {
    match args {
        [] => Ok(None),
        [given, value] if given == name => Ok(Some(value)),
        _ => Err(format!("the only option is `{name} <value>`, not `{}`", args.join(" "))),
    }
}

/// For verbs that take nothing.
fn no_options(args: &[String]) -> Outcome {
    if args.is_empty() { Ok(()) } else { Err(format!("it takes no options, not `{}`", args.join(" "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn an_option_is_its_name_and_one_value() {
        assert_eq!(option(&words(""), "--seconds"), Ok(None));
        assert_eq!(option(&words("--seconds 3"), "--seconds"), Ok(Some("3")));
    }

    #[test]
    fn an_unknown_or_incomplete_option_is_refused() {
        for line in ["--second 3", "--seconds", "--seconds 3 4", "3"] {
            assert!(option(&words(line), "--seconds").is_err(), "{line}");
        }
        assert!(no_options(&words("--all")).is_err());
    }
}
