//! `cargo xtask test --device desktop|emulator|probe`: the tests that look at the box from outside, on the device that is
//! named. What a device has no part in is printed with its reason; nothing passes by being left out.
//!
//! ```text
//! network.rs   a network of the emulated boxes' own: a namespace with a bridge and a DHCP server
//! probe.rs     a real board: flashed, and asked for its address
//! tally.rs     what passed, what failed, and what did not run
//! ```

mod network;
mod probe;
mod tally;

use crate::verb::{Given, Opt, Verb};
use crate::{Outcome, clients, emulate, firmware, sh};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tally::Tally;

pub const VERB: Verb = Verb {
    name: "test",
    what: "run the tests that look at the box from outside, on a device",
    more: "\
        On the desktop box, on the board's image in the emulator (in a network of its own, with a DHCP server), or on a\n\
        board that hangs on a debug probe. What a device has no part in is printed with its reason. A test that fails is\n\
        run once more, alone. Installs what is missing.",
    options: &[Opt { name: "--device", value: "desktop|emulator|probe", what: "where", default: Some("desktop") }],
    words: &[
        ("FILE ...", "files of host-tests/tests, without `.rs` (all)"),
        ("-- WORDS ...", "words for the test harness, such as --nocapture, --report-time or part of a name"),
    ],
    example: "cargo xtask test --device emulator device_cost -- --nocapture",
    run,
};

/// Makes `test` work in a network of the emulated boxes' own.
pub use network::VERB as INSIDE;

/// Whether a file of tests looks at a box. What the others say is the same on every device, so they are left to `cargo test`.
fn looks_at_a_box(file: &str) -> bool {
    let text = fs::read_to_string(sh::root().join("host-tests/tests").join(file).with_extension("rs"));
    text.is_ok_and(|text| text.contains("LeagueBox::"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Device {
    Desktop,
    Emulator,
    Probe,
}

impl Device {
    fn named(name: &str) -> Result<Device, String> {
        match name {
            "desktop" => Ok(Device::Desktop),
            "emulator" => Ok(Device::Emulator),
            "probe" => Ok(Device::Probe),
            other => Err(format!("--device is desktop, emulator or probe, not `{other}`")),
        }
    }

    /// The features that compile the tests for it.
    fn features(self) -> &'static [&'static str] {
        match self {
            Device::Desktop => &["clients"],
            Device::Emulator => &["clients", "emulator"],
            Device::Probe => &["clients", "probe"],
        }
    }

    /// How many tests run at once. An emulated box that is busy takes a core, but mostly tests wait; and there is one board on
    /// a probe.
    fn threads(self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        match self {
            Device::Desktop => cores.max(2),
            Device::Emulator => 2 * cores,
            Device::Probe => 1,
        }
    }
}

/// Runs the tests.
fn run(given: &Given) -> Outcome {
    let (files, harness) = (&given.words, &given.rest);
    let device = Device::named(given.get("--device").unwrap_or_default())?;
    if device == Device::Probe {
        // Before the long part.
        probe::find()?;
    }
    clients::prepare()?;
    if device != Device::Desktop {
        firmware::VERB.run(&[])?;
    }
    let mut plan = Plan { programs: programs(device, files)?, harness: harness.clone() };
    if !harness.iter().any(|word| word.starts_with("--test-threads")) {
        plan.harness.push(format!("--test-threads={}", device.threads()));
    }
    if files.is_empty() {
        plan.say_what_is_left_out();
    }
    match device {
        Device::Desktop => plan.run(|_| {}),
        Device::Emulator => {
            emulate::prepare()?;
            network::enter(&plan)
        }
        Device::Probe => {
            let board = probe::Board::start(&firmware::BOARDS[0].elf())?;
            plan.run(|test| board.tell(test))
        }
    }
}

/// What is to be run.
struct Plan {
    programs: Vec<PathBuf>,
    harness: Vec<String>,
}

impl Plan {
    /// Names the files of which there is no program: those about no box, and those that look into a board.
    fn say_what_is_left_out(&self) {
        let files = fs::read_dir(sh::root().join("host-tests/tests")).into_iter().flatten().flatten();
        let names = files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".rs")?.to_owned()));
        let (no_box, mut others): (Vec<_>, Vec<_>) = names.partition(|file| !looks_at_a_box(file));
        others.retain(|file| self.programs.iter().all(|program| name(program) != file));
        println!("about no box, and so left to `cargo test`: {}", no_box.join(", "));
        println!("not on this device, because it cannot be looked into: {}", others.join(", "));
    }

    /// Runs every program, also after one has failed. `prepare` adds to a command what the device needs. A test that failed
    /// is run once more, alone: two emulated boards and their players beside each other can be more than a computer bears.
    fn run(&self, prepare: impl Fn(&mut Command)) -> Outcome {
        let mut tally = Tally::default();
        for program in &self.programs {
            let command = |words: &[String]| {
                let mut test = sh::command(&program.to_string_lossy());
                test.current_dir(sh::root().join("host-tests")).args(words).stdout(Stdio::piped());
                // What the harness does not do for everybody yet.
                if words.iter().any(|word| word == "--report-time") {
                    test.arg("-Zunstable-options").env("RUSTC_BOOTSTRAP", "1");
                }
                prepare(&mut test);
                test
            };
            let file = name(program);
            println!("\n-- {file}");
            for failed in tally.watch(file, &mut command(&self.harness))? {
                println!("\n-- {file}, once more: {failed}");
                let words = ["--exact", &failed, "--test-threads=1"].map(str::to_owned);
                tally.again(file, &failed, &mut command(&words))?;
            }
        }
        tally.outcome()
    }
}

/// `cargo test` for the tests of `host-tests`, with these of its features. Always for the whole workspace: cargo compiles what two
/// packages share anew for every choice of packages, because together they want more of it than alone. One choice for all
/// chores, and nothing is compiled twice.
pub fn cargo(features: &[&str]) -> Command {
    let features: Vec<String> = features.iter().map(|feature| format!("host-tests/{feature}")).collect();
    let mut test = sh::command("cargo");
    test.args(["test", "--workspace", "--features", &features.join(",")]);
    test
}

/// Compiles the tests, and answers with the programs.
fn programs(device: Device, wanted: &[String]) -> Result<Vec<PathBuf>, String> {
    let mut build = cargo(device.features());
    build.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    if wanted.is_empty() {
        build.args(["--test", "*"]);
    }
    for file in wanted {
        build.args(["--test", file]);
    }
    let said = sh::output(&mut build)?;
    let found = said.lines().filter_map(executable);
    let some: Vec<PathBuf> = found.filter(|path| looks_at_a_box(name(path))).collect();
    if some.is_empty() { Err("there is no such file of tests that looks at a box".into()) } else { Ok(some) }
}

/// The program of `host-tests` that a line of cargo's speaks of.
fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_ours = message["package_id"].as_str()?.contains("/host-tests#") && message["profile"]["test"] == true;
    message["executable"].as_str().filter(|_| is_ours).map(PathBuf::from)
}

/// The file of tests a program was made from: `target/debug/deps/black_box-0123456789abcdef`.
fn name(program: &Path) -> &str {
    let file = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    file.rsplit_once('-').map_or(file, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_after_its_file() {
        assert_eq!(name(Path::new("target/debug/deps/black_box-0123456789abcdef")), "black_box");
    }

    #[test]
    fn a_file_that_starts_no_box_is_told_from_one_that_does() {
        assert!(["page", "device_cost", "hostile"].into_iter().all(looks_at_a_box));
        assert!(!["simulation", "judges", "wear", "no such file"].into_iter().any(looks_at_a_box));
    }

    #[test]
    fn cargos_lines_name_the_programs_of_tests_and_nothing_else() {
        let line = |package: &str, test: bool, program: &str| {
            let package = format!("path+file:///here/{package}#0.2.0");
            format!(r#"{{"package_id":"{package}","profile":{{"test":{test}}},"executable":{program}}}"#)
        };
        let program = r#""/t/deps/http-0a""#;
        assert_eq!(executable(&line("host-tests", true, program)), Some("/t/deps/http-0a".into()));
        for other in [
            line("host-tests", false, program),
            line("host-tests", true, "null"),
            line("appliance", true, program),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
            "no JSON".to_owned(),
        ] {
            assert_eq!(executable(&other), None, "{other}");
        }
    }
}
