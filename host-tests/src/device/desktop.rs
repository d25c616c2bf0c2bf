//! The desktop box as a child process: started on a free port, killed when the test is over, however it ends.

use crate::settings::Settings;
use crate::{free_port, wait_for};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread::JoinHandle;

/// The code the tests give it for `/api/admin`.
pub const ADMIN_CODE: &str = "test-admin-code";

/// The process.
pub struct Desktop {
    child: Child,
    stdout: Option<JoinHandle<String>>,
}

impl Desktop {
    /// Starts a box without flash, with `arguments` besides its settings.
    pub fn start(settings: &Settings, arguments: &[&str]) -> (SocketAddr, Desktop) {
        Desktop::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, free_port())), settings, arguments)
    }

    /// The same at an address of our choice.
    pub fn start_at(address: SocketAddr, settings: &Settings, arguments: &[&str]) -> (SocketAddr, Desktop) {
        let flags = settings.flags();
        let flags = flags.iter().map(String::as_str);
        let all: Vec<&str> = ["--no-flash", "--admin-code", ADMIN_CODE].into_iter().chain(flags).collect();
        Desktop::at(address, &[&all, arguments].concat())
    }

    /// Starts a box with nothing but `arguments`.
    pub fn bare(arguments: &[&str]) -> (SocketAddr, Desktop) {
        Desktop::at(SocketAddr::from((Ipv4Addr::LOCALHOST, free_port())), arguments)
    }

    /// The same at an address of our choice.
    pub fn at(address: SocketAddr, arguments: &[&str]) -> (SocketAddr, Desktop) {
        let mut child = Command::new(executable())
            .args(["--listen", &address.to_string()])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the box starts");
        let stdout = child.stdout.take().map(collect);
        (address, Desktop { child, stdout })
    }

    /// The bytes it has in memory, where the system tells.
    pub fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    }

    /// Fails the test if the box has ended.
    pub fn assert_alive(&mut self) {
        if let Ok(Some(status)) = self.child.try_wait() {
            panic!("the box ended at once with {status}");
        }
    }

    /// Waits until the box ends by itself (`--once`): how it ended, and all it printed.
    pub fn wait_until_it_ends(&mut self) -> (ExitStatus, String) {
        let status = wait_for("the box ends by itself", || self.child.try_wait().expect("a child"));
        let printed = self.stdout.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        (status, printed)
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps the pipe empty, so that a talkative box never blocks.
fn collect(mut pipe: ChildStdout) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = pipe.read_to_string(&mut text);
        text
    })
}

/// The box to test: `LEAGUEBOX` if set, else the one beside this test, `target/<profile>/leaguebox`, brought up to date.
pub fn executable() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        if let Some(path) = std::env::var_os("LEAGUEBOX") {
            return path.into();
        }
        let test = std::env::current_exe().expect("this test's path");
        let profile = test.parent().and_then(Path::parent).expect("tests are in target/<profile>/deps");
        // `cargo test` builds no binary of another package, so a test would judge yesterday's box, or none.
        if let Some(cargo) = std::env::var_os("CARGO") {
            let release: &[&str] = if profile.ends_with("release") { &["--release"] } else { &[] };
            let mut build = Command::new(cargo);
            // Set for the harness alone, where it is to report times; with it all would be compiled anew.
            build.env_remove("RUSTC_BOOTSTRAP");
            let built = build.args(["build", "--quiet", "-p", "leaguebox"]).args(release).status();
            assert!(built.is_ok_and(|status| status.success()), "`cargo build -p leaguebox` failed");
        }
        let path = profile.join(format!("leaguebox{}", std::env::consts::EXE_SUFFIX));
        assert!(path.exists(), "no box at {}: run `cargo build -p leaguebox`", path.display());
        path
    })
}
