//! The project's chores: `cargo xtask <verb>`, and `cargo xtask <verb> --help` for what one does.
//!
//! Each verb is a module with a [`Verb`], which says what it does, what it takes, and what does it. This file only finds the
//! verb and turns its outcome into an exit code; `sh` is how all of them start other programs. Nothing here is part of the
//! box.

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
mod simulate;
mod systems;
mod test;
mod thumb;
mod venv;
mod verb;
mod way;
mod wear;

use std::ffi::OsString;
use std::process::ExitCode;
use verb::Verb;

/// How a chore ends: done, or one line that says what to do about it.
type Outcome = Result<(), String>;

const VERBS: &[Verb] = &[
    ci::VERB,
    test::VERB,
    clients::VERB,
    load::VERB,
    siege::VERB,
    simulate::VERB,
    fuzz::VERB,
    autobahn::VERB,
    firmware::VERB,
    emulate::VERB,
    thumb::VERB,
    systems::VERB,
    bench::VERB,
    wear::VERB,
    readme::VERB,
    venv::VERB,
];

fn main() -> ExitCode {
    match obey(std::env::args_os().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("xtask: {what}");
            ExitCode::FAILURE
        }
    }
}

/// Finds the verb and runs it, or prints its help; without a verb, prints the list.
fn obey(mut words: Vec<OsString>) -> Outcome {
    let is_help = |word: &OsString| ["--help", "-h", "help"].iter().any(|help| word == help);
    // Behind a `--` the words are another program's.
    let asks = words.iter().take_while(|word| *word != "--").any(is_help);
    words.retain(|word| !asks || !is_help(word));
    if words.is_empty() {
        print!("{}", list());
        return Ok(());
    }
    let name = words.remove(0);
    let Some(verb) = VERBS.iter().chain([&test::INSIDE]).find(|verb| name == verb.name) else {
        return Err(format!("there is no verb {name:?}: cargo xtask --help lists them"));
    };
    if asks {
        print!("{}", verb.help());
        return Ok(());
    }
    verb.read(words).and_then(|given| (verb.run)(&given)).map_err(|why| format!("{}: {why}", verb.name))
}

/// What `cargo xtask` prints.
fn list() -> String {
    let verbs: String = VERBS.iter().map(|verb| format!("  {:<10}{}\n", verb.name, verb.what)).collect();
    format!(
        "The project's chores.\n\nUsage\n  cargo xtask <verb> [options]\n  cargo xtask <verb> --help   \
         what it does, its options, an example\n\nVerbs\n{verbs}\nExample\n  cargo xtask ci\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;

    /// Whether a line that begins with `cargo xtask` would be understood.
    fn understood(line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace().skip(2).map(OsString::from);
        let Some(name) = words.next().filter(|name| name != "--help") else { return Ok(()) };
        let verb = VERBS.iter().find(|verb| name == verb.name).ok_or_else(|| format!("there is no verb {name:?}"))?;
        verb.read(words.collect()).map(|_| ())
    }

    #[test]
    fn every_verb_has_a_help_within_the_width_of_a_terminal_and_an_example_that_is_understood() {
        assert_eq!(VERBS.iter().map(|verb| verb.name).collect::<BTreeSet<_>>().len(), VERBS.len());
        for verb in VERBS {
            assert!(verb.help().lines().all(|line| line.len() <= 120), "{}", verb.help());
            assert!(list().contains(verb.what) && list().lines().all(|line| line.len() <= 100));
            assert!(verb.example.starts_with(&format!("cargo xtask {}", verb.name)));
            understood(verb.example).unwrap();
        }
    }

    #[test]
    fn every_chore_that_a_document_names_is_understood() {
        let folders = [sh::root().to_path_buf(), sh::root().join("docs")];
        let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
        let mut found = 0;
        for document in files.filter(|path| path.extension().is_some_and(|kind| kind == "md")) {
            for rest in fs::read_to_string(&document).unwrap().split("cargo xtask").skip(1) {
                // Up to the end of the code it stands in, or to its comment.
                let line = format!("cargo xtask{}", rest.split(['`', '\n', '#']).next().unwrap_or_default());
                if !line.contains('<') {
                    understood(&line).unwrap_or_else(|why| panic!("{}: {line}: {why}", document.display()));
                    found += 1;
                }
            }
        }
        assert!(found > 15, "{found}");
    }

    #[test]
    fn a_verb_that_does_not_exist_points_to_the_list() {
        assert_eq!(obey(vec!["tset".into()]), Err("there is no verb \"tset\": cargo xtask --help lists them".into()));
    }
}
