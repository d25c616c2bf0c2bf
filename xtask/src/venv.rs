//! `cargo xtask venv`: the Python environment `.venv`, in which the tests' players run. The packages and their versions
//! stand in `host-tests/players/requirements.txt`. Cheap to call again: nothing is done while that file stays the same.

use crate::verb::{Given, Verb};
use crate::{Outcome, sh};
use std::fs;

const VENV: &str = ".venv";
const REQUIREMENTS: &str = "host-tests/players/requirements.txt";

pub const VERB: Verb = Verb {
    name: "venv",
    what: "make .venv, the Python packages that the test players need",
    more: "\
        The packages and their versions stand in host-tests/players/requirements.txt. Does nothing while that file and\n\
        Python stay the same. Other verbs run it by themselves.",
    options: &[],
    words: &[],
    example: "cargo xtask venv",
    run: |_: &Given| make(),
};

/// Makes the environment unless there is one made from these very requirements by this very Python.
pub fn make() -> Outcome {
    let requirements = fs::read_to_string(sh::root().join(REQUIREMENTS))
        .map_err(|error| format!("{REQUIREMENTS} names the packages and cannot be read: {error}"))?;
    if !sh::succeeds(sh::command("python3").arg("--version")) {
        sh::apt_install(&["python3", "python3-venv"], "Python 3")?;
    }
    let version = sh::answer(sh::command("python3").arg("--version"))
        .ok_or("python3 does not start; install Python 3 (Debian: apt-get install python3 python3-venv)")?;

    // Written last, so that an interrupted installation is not taken for a finished one.
    let stamp = sh::root().join(VENV).join("made-from.txt");
    let made_from = format!("# {version}\n{requirements}");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == made_from) {
        println!("{VENV} is up to date");
        return Ok(());
    }
    create()?;
    let mut pip = sh::command(".venv/bin/python");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS]);
    sh::run(&mut pip)?;
    fs::write(&stamp, made_from).map_err(|error| format!("{} cannot be written: {error}", stamp.display()))?;
    println!("{VENV} is ready");
    Ok(())
}

/// Debian ships Python without the module's inner half, and says so only when asked to make an environment.
fn create() -> Outcome {
    let make = || sh::run(sh::command("python3").args(["-m", "venv", "--clear", VENV]));
    make().or_else(|_| {
        sh::apt_install(&["python3-venv"], "Python's venv module with pip")?;
        make()
    })
}
