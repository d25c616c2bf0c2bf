//! A network of the emulated boxes' own, gone with all its processes when the tests are over: a namespace in which this
//! computer is 10.77.0.1 on the bridge `lb0`, a real DHCP server gives out addresses, and nothing leads outside. Making it
//! takes no rights where users may have namespaces.

use super::Plan;
use crate::verb::{Given, Verb};
use crate::{Outcome, sh};
use std::path::PathBuf;
use std::process::Stdio;

/// How this program calls itself inside. Nobody else does, so it stands in no list.
pub const VERB: Verb = Verb {
    name: "test-inside",
    what: "run compiled tests in a network of their own",
    more: "`cargo xtask test --device emulator` starts it.",
    options: &[],
    words: &[("PROGRAM ...", "the compiled tests"), ("-- WORDS ...", "words for the test harness")],
    example: "cargo xtask test --device emulator",
    run: inside,
};

/// No time server among the options. Two minutes is the shortest lease dnsmasq gives; boxes come and go.
const DHCP: &str = "dnsmasq --no-daemon --quiet-dhcp --conf-file=/dev/null --no-resolv --no-hosts --port=0 --no-ping \
    --dhcp-authoritative --bind-interfaces --interface=lb0 --dhcp-range=10.77.0.10,10.77.0.250,2m \
    --dhcp-option=option:router --dhcp-option=option:dns-server";

/// Runs the plan inside.
pub fn enter(plan: &Plan) -> Outcome {
    for (program, package) in [("ip", "iproute2"), ("dnsmasq", "dnsmasq-base"), ("unshare", "util-linux")] {
        if !sh::succeeds(sh::command("sh").args(["-c", &format!("PATH=$PATH:/sbin:/usr/sbin command -v {program}")])) {
            sh::apt_install(&[package], program)?;
        }
    }
    let mut again = sh::command("unshare");
    again.args(namespaces()?);
    again.arg(std::env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))?);
    again.arg(VERB.name).args(&plan.programs).arg("--").args(&plan.harness);
    let mut inside = sh::Group::start(again.stdin(Stdio::piped()))?;
    // Open as long as we live: Ctrl-C does not reach the first process of a namespace, but the end of this does.
    let _life = inside.head().stdin.take();
    let status = inside.head().wait().map_err(|error| format!("the tests inside are lost: {error}"))?;
    // It has said why.
    if status.success() { Ok(()) } else { Err("not all tests passed".into()) }
}

/// A user namespace is what lets anybody make the others; root can do without, should the system forbid it.
fn namespaces() -> Result<Vec<&'static str>, String> {
    // Whatever is left ends with the first process inside.
    let network = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
    let user = ["--user", "--map-root-user"];
    let ways = [[&user[..], &network].concat(), network.to_vec()];
    let works = |way: &&Vec<&str>| sh::succeeds(sh::command("unshare").args(way.iter()).arg("true"));
    let found = ways.iter().find(works).cloned();
    found.ok_or_else(|| "this system lets nobody but root make a network namespace; run it as root".into())
}

/// Makes the network and runs the plan in it.
fn inside(given: &Given) -> Outcome {
    let plan = Plan { programs: given.words.iter().map(PathBuf::from).collect(), harness: given.rest.clone() };
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        // With the first process all others in the namespace end.
        std::process::exit(1);
    });
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    for step in [
        "ip link set lo up",
        // With an address of its own: a bridge without one takes the lowest of its ports', which changes as boxes come and go,
        // and for a minute those that know the old one would talk to nobody.
        "ip link add lb0 address 02:4c:42:00:00:01 type bridge",
        "ip address add 10.77.0.1/24 dev lb0",
        "ip link set lb0 up",
    ] {
        sh::run(sh::line(step).env("PATH", &path))?;
    }
    let leases = std::env::temp_dir().join(format!("leaguebox-{}.leases", std::process::id()));
    let _ = std::fs::remove_file(&leases);
    let mut server = sh::line(&format!("exec {DHCP} --dhcp-leasefile={}", leases.display()));
    let server = sh::Group::start(server.env("PATH", &path))?;
    let outcome = plan.run(|test| _ = test.env("PATH", &path));
    drop(server);
    let _ = std::fs::remove_file(&leases);
    outcome
}
