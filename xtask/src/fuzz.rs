//! `cargo xtask fuzz`: runs every target of `fuzz/` for a few seconds. Enough to find out that a parser has become unsafe
//! to feed; a long hunt is for a machine with time.
//!
//! The targets are libFuzzer programs. They are built with the coverage instrumentation libFuzzer looks at, by plain cargo.
//! Inputs in `fuzz/corpus/<target>` are the start; what is found is kept in `target/fuzz`, out of the repository.

use crate::verb::{Given, Opt, Verb};
use crate::{Outcome, sh};
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

const MANIFEST: &str = "fuzz/Cargo.toml";

/// One input may take this long before it counts as a hang.
const INPUT_SECONDS: u64 = 5;

/// A target may need this much longer than it was told to run, for its seeds and its last input.
const GRACE: Duration = Duration::from_secs(60);

/// What libFuzzer needs to see of a run: edges, the table of their places, and comparisons. One unit of code generation,
/// because the table must be in one piece. Overflows and failed assertions are findings.
const INSTRUMENTATION: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks";

pub const VERB: Verb = Verb {
    name: "fuzz",
    what: "run every fuzz target for a short time",
    more: "\
        Feeds every parser that meets the network with inputs that libFuzzer invents from those in fuzz/corpus.\n\
        An input that breaks a parser is kept in target/fuzz, and named.",
    options: &[Opt {
        name: "--seconds",
        value: "N",
        what: "how long each target runs, a whole number",
        default: Some("10"),
    }],
    words: &[],
    example: "cargo xtask fuzz --seconds 60",
    run,
};

/// Builds all targets, then runs them, as many at once as there are cores: each takes one. All run, also after a finding.
fn run(given: &Given) -> Outcome {
    let seconds = given.parsed("--seconds", "a whole number from 1", |n| *n > 0)?;
    let manifest = fs::read_to_string(sh::root().join(MANIFEST))
        .map_err(|error| format!("{MANIFEST} names the fuzz targets and cannot be read: {error}"))?;
    let targets = binaries(&manifest);
    if targets.is_empty() {
        return Err(format!("{MANIFEST} has no [[bin]] with a name, so there is nothing to run"));
    }
    if !sh::succeeds(sh::command("c++").arg("--version")) {
        sh::apt_install(&["g++"], "a C++ compiler, which libFuzzer is built with")?;
    }
    let host = host()?;
    // With `--target` the flags reach the targets only, not build scripts and macros.
    let mut build = sh::command("cargo");
    build.args(["build", "--release", "--bins", "--manifest-path", MANIFEST, "--target", &host]);
    sh::run(build.args(["--target-dir", "target/fuzz"]).env("RUSTFLAGS", INSTRUMENTATION))?;

    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut failures = Vec::new();
    for some in targets.chunks(cores) {
        let outcomes = thread::scope(|scope| {
            let hunts: Vec<_> = some.iter().map(|target| scope.spawn(|| hunt(target, &host, seconds))).collect();
            hunts.into_iter().map(|hunt| hunt.join().unwrap_or(Err("a hunt panicked".into()))).collect::<Vec<_>>()
        });
        failures.extend(outcomes.into_iter().filter_map(Result::err));
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

/// Runs one target. libFuzzer talks much, so its words go to a file, and only a finding brings their end to the screen.
fn hunt(target: &str, host: &str, seconds: u64) -> Outcome {
    let found = format!("target/fuzz/found/{target}");
    let log_path = format!("target/fuzz/{target}.log");
    let seeds = format!("fuzz/corpus/{target}");
    let in_root = |path: &str| sh::root().join(path);
    let no_place = |error| format!("target/fuzz cannot be written: {error}");
    fs::create_dir_all(in_root(&found)).map_err(no_place)?;
    let log = fs::File::create(in_root(&log_path)).map_err(no_place)?;

    let mut hunt = sh::command(&format!("target/fuzz/{host}/release/{target}"));
    hunt.args([format!("-max_total_time={seconds}"), format!("-timeout={INPUT_SECONDS}")]);
    // The first directory is where new inputs go; the second is only read.
    hunt.args([format!("-artifact_prefix=target/fuzz/{target}-"), found]);
    if in_root(&seeds).is_dir() {
        hunt.arg(seeds);
    }
    hunt.stdout(Stdio::null()).stderr(log);
    let outcome = sh::run_within(Duration::from_secs(seconds) + GRACE, &mut hunt);

    let said =
        fs::read(in_root(&log_path)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    match (outcome, last_line(&said)) {
        (Ok(()), Some(done)) => println!("{target}: {done}"),
        (Ok(()), None) => return Err(format!("{target} ended without having run; {log_path} has what it said")),
        (Err(_), _) => {
            println!("{}", tail(&said, 40));
            return Err(format!("{target} found an input that breaks it, or hung; {log_path} has what it said"));
        }
    }
    Ok(())
}

/// This computer, as the compiler calls it.
fn host() -> Result<String, String> {
    let about = sh::answer(sh::command("rustc").arg("-vV")).ok_or("rustc does not start; install Rust with rustup")?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(String::from).ok_or_else(|| "rustc -vV names no host".into())
}

/// The names of a manifest's `[[bin]]` entries. Reads as much TOML as such an entry needs: headers and `name = "…"`.
fn binaries(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut in_binary = false;
    for line in manifest.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if line.starts_with('[') {
            in_binary = line == "[[bin]]";
        } else if in_binary
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "name"
        {
            names.push(value.trim().trim_matches(['"', '\'']).to_string());
        }
    }
    names
}

/// libFuzzer's word that it has run as long as it was told: how many inputs it tried.
fn last_line(said: &str) -> Option<&str> {
    said.lines().rev().find(|line| line.starts_with("Done "))
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binary_of_a_manifest_is_found_and_nothing_else() {
        let manifest = r#"
            [package]
            name = "fuzz"
            [[bin]] # the scanner
            name = "scan"   # a comment
            path = "targets/scan.rs"
            test = false
            [[bin]]
            path = "targets/head.rs"
            name='http_head'
            [dependencies.core]
            name = "not a binary"
        "#;
        assert_eq!(binaries(manifest), ["scan", "http_head"]);
    }

    #[test]
    fn a_manifest_without_binaries_has_no_targets() {
        assert!(binaries("[package]\nname = \"fuzz\"\n").is_empty());
    }

    #[test]
    fn a_run_that_was_never_finished_has_no_last_line() {
        assert_eq!(
            last_line("INFO: Seed: 1\n#2 INITED\nDone 812 runs in 3 second(s)\n"),
            Some("Done 812 runs in 3 second(s)")
        );
        assert_eq!(last_line("INFO: Seed: 1\n"), None);
    }

    #[test]
    fn a_tail_is_never_longer_than_the_text() {
        assert_eq!(tail("a\nb\nc", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
    }
}
