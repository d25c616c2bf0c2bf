//! `cargo xtask autobahn`: the Autobahn test suite against every WebSocket of the box. The suite is a program for Python 2.7:
//! where there is none (in the path, or pyenv's), or the suite cannot be installed, this says so and does nothing.
//!
//! The suite expects a server that sends every message back, which no WebSocket of the box does. So a case that waits for
//! that cannot pass, and is judged by how the connection was closed: as the suite wants it, or, where the box refuses what
//! the case sends, with the code that says why.

use crate::verb::{Given, Verb};
use crate::{Outcome, sh};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// The suite, where pip puts it and where its reports go.
const SUITE: &str = "autobahntestsuite==25.10.1";
const FOLDER: &str = "target/autobahn";

/// By the names in the report. The last one speaks first, so that no case sees only what it waits for.
const LINKS: [(&str, &str); 3] = [("ws", "/ws"), ("arena", "/api/v1/ws?type=agent"), ("live", "/api/live")];
const SPEAKS_FIRST: &str = "live";

/// Framing, pings, reserved bits, opcodes, fragments, UTF-8, closing, limits. The rest is about compression, which the box
/// does not offer, about megabytes, and about more of the same UTF-8.
const CASES: [&str; 15] = [
    "1.*", "2.*", "3.*", "4.*", "5.*", "6.1.*", "6.2.*", "6.3.*", "6.4.*", "6.5.*", "6.6.*", "7.*", "9.1.1", "9.2.1",
    "10.*",
];

/// No case takes longer than a second or two.
const LIMIT: Duration = Duration::from_secs(600);

pub const VERB: Verb = Verb {
    name: "autobahn",
    what: "run the Autobahn test suite against the box's WebSockets",
    more: "\
        Prints how many cases pass for each of the three paths. The suite is a program for Python 2.7: where there is\n\
        none, or the suite cannot be installed, this says so and does nothing.",
    options: &[],
    words: &[],
    example: "cargo xtask autobahn",
    run,
};

/// Installs the suite, starts a box, and judges what the suite says of it.
fn run(_: &Given) -> Outcome {
    let Some(python) = pythons().into_iter().find(|python| sh::succeeds(Command::new(python).arg("--version"))) else {
        println!("left out: there is no Python 2.7, for which the Autobahn test suite is written");
        return Ok(());
    };
    let folder = sh::root().join(FOLDER);
    let suite = folder.join("bin/wstest");
    let with_suite = || {
        let mut command = sh::command(&python.to_string_lossy());
        command.env("PYTHONUSERBASE", &folder);
        command
    };
    if !suite.is_file() {
        let words = ["-m", "pip", "install", "--user", "--quiet", "--disable-pip-version-check", SUITE];
        if sh::run(with_suite().args(words)).is_err() {
            println!("left out: the Autobahn test suite cannot be installed here");
            return Ok(());
        }
    }
    sh::run(sh::command("cargo").args(["build", "--quiet", "-p", "leaguebox"]))?;
    let address = free_address()?;
    let mut leaguebox = sh::command("target/debug/leaguebox");
    leaguebox.args(["--no-flash", "--listen", &address.to_string()]).stdout(Stdio::null());
    let _leaguebox = sh::Group::start(&mut leaguebox)?;
    let begun = Instant::now();
    while TcpStream::connect(address).is_err() {
        if begun.elapsed() > Duration::from_secs(30) {
            return Err("the box does not listen".into());
        }
        thread::sleep(Duration::from_millis(50));
    }
    let servers: Vec<Value> =
        LINKS.iter().map(|(name, path)| json!({"agent": name, "url": format!("ws://{address}{path}")})).collect();
    let plan = json!({"outdir": folder.join("reports"), "servers": servers, "cases": CASES, "exclude-cases": [],
        "exclude-agent-cases": {}});
    let plan_file = folder.join("plan.json");
    fs::write(&plan_file, plan.to_string()).map_err(|error| format!("{}: {error}", plan_file.display()))?;
    let mut tests = with_suite();
    tests.arg(&suite).args(["-m", "fuzzingclient", "-s"]).arg(&plan_file).stdout(Stdio::null());
    sh::run_within(LIMIT, &mut tests)?;
    let report =
        fs::read_to_string(folder.join("reports/index.json")).map_err(|error| format!("no report: {error}"))?;
    judge(&serde_json::from_str(&report).map_err(|error| format!("no report: {error}"))?)
}

/// Where Python 2.7 may be.
fn pythons() -> Vec<PathBuf> {
    let pyenv = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".pyenv")));
    let versions = pyenv.into_iter().filter_map(|root| fs::read_dir(root.join("versions")).ok()).flatten().flatten();
    let old = versions.filter(|version| version.file_name().to_string_lossy().starts_with("2.7"));
    let pythons = old.map(|version| version.path().join("bin/python"));
    [PathBuf::from("python2.7")].into_iter().chain(pythons).collect()
}

fn free_address() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    listener.map_err(|error| format!("no free port: {error}"))
}

/// Says how each link did.
fn judge(report: &Value) -> Outcome {
    let mut wrong = Vec::new();
    for (link, path) in LINKS {
        let cases = report[link].as_object().ok_or(format!("the report says nothing of {path}"))?;
        let (mut passed, mut told) = (0, 0);
        for (case, verdict) in cases {
            match verdict["behavior"].as_str() {
                Some("OK" | "NON-STRICT" | "INFORMATIONAL") => passed += 1,
                _ if is_closed_well(link, case, verdict) => told += 1,
                _ => wrong.push(format!("{path} {case}: {verdict}")),
            }
        }
        println!(
            "{path}: {passed} of {} cases pass, {told} wait for an echo and are closed as they should be",
            cases.len()
        );
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Whether a case that did not pass only waits for its message to come back, and its connection was closed with the right code.
fn is_closed_well(link: &str, case: &str, verdict: &Value) -> bool {
    let number = |prefix: &str| case.strip_prefix(prefix).and_then(|rest| rest.parse::<u32>().ok());
    let code = verdict["remoteCloseCode"].as_u64();
    // The suite's own, when it has waited in vain.
    const GAVE_UP: u64 = 1001;
    let refused = match (number("1.1."), case) {
        (Some(6..), _) | (_, "9.1.1" | "10.1.1") => Some(1009),
        (_, case) if case.starts_with("1.2.") || case == "9.2.1" => Some(1003),
        _ => None,
    };
    if refused.is_some() {
        return code == refused;
    }
    let waits = matches!(number("1.1."), Some(1..=5)) || case.starts_with("6.") || case == "7.1.1";
    let is_answered = waits
        || matches!(number("3."), Some(2..=4))
        || matches!(number("4.1.").or(number("4.2.")), Some(3..=5))
        || matches!(number("5."), Some(3..=8 | 15 | 19 | 20));
    let is_closed = verdict["behaviorClose"] == "OK" || (waits && code == Some(GAVE_UP));
    is_closed && (is_answered || link == SPEAKS_FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_waits_for_an_echo_is_judged_by_its_close() {
        let verdict =
            |close: &str, code: u64| json!({"behavior": "FAILED", "behaviorClose": close, "remoteCloseCode": code});
        assert!(is_closed_well("ws", "1.1.1", &verdict("WRONG CODE", 1001)));
        assert!(is_closed_well("ws", "1.1.6", &verdict("FAILED", 1009)));
        assert!(is_closed_well("ws", "1.2.1", &verdict("FAILED", 1003)));
        assert!(is_closed_well("live", "2.5", &verdict("OK", 1002)));
        for (link, case, close, code) in [
            ("ws", "1.1.1", "FAILED", 1002),
            ("ws", "1.1.6", "WRONG CODE", 1001),
            ("ws", "1.2.1", "FAILED", 1002),
            ("ws", "2.5", "OK", 1002),
            ("live", "2.5", "FAILED", 1006),
            ("ws", "7.7.1", "WRONG CODE", 1001),
        ] {
            assert!(!is_closed_well(link, case, &verdict(close, code)), "{link} {case} {close} {code}");
        }
    }
}
