//! The desktop box as a child process: started on a free port, killed when the test is over, however it ends.

use crate::http::{self, Response};
use crate::{free_port, wait_for};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

/// The code the tests give the box for `/api/admin`.
pub const ADMIN_CODE: &str = "test-admin-code";

/// A running box.
pub struct LeagueBox {
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    child: Child,
    stdout: Option<JoinHandle<String>>,
}

impl LeagueBox {
    /// Starts a box without flash, with `arguments` besides, and waits until it answers.
    pub fn start(arguments: &[&str]) -> LeagueBox {
        let port = free_port();
        let mut child = Command::new(executable())
            .args(["--listen", &format!("127.0.0.1:{port}"), "--no-flash", "--admin-code", ADMIN_CODE])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the box starts");
        let stdout = child.stdout.take().map(collect);
        let mut leaguebox = LeagueBox { port, child, stdout };
        wait_for("the box answers GET /health", || {
            if let Ok(Some(status)) = leaguebox.child.try_wait() {
                panic!("the box ended at once with {status}");
            }
            http::request(port, "GET", "/health", "", "").ok().filter(|response| response.status == 200)
        });
        leaguebox
    }

    /// Where agents are told to go.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// GET, any status.
    pub fn get(&self, path: &str) -> Response {
        http::request(self.port, "GET", path, "", "").unwrap_or_else(|error| panic!("GET {path}: {error}"))
    }

    /// GET of a JSON document, which must be there.
    pub fn get_json(&self, path: &str) -> Value {
        let response = self.get(path);
        assert_eq!(response.status, 200, "GET {path}: {response:?}");
        response.json()
    }

    /// POST of a JSON text to any path.
    pub fn post(&self, path: &str, body: &str) -> Response {
        http::request(self.port, "POST", path, "Content-Type: application/json\r\n", body)
            .unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// One of the admin's buttons.
    pub fn admin(&self, verb: &str) -> Response {
        let headers = format!("Authorization: Bearer {ADMIN_CODE}\r\n");
        http::request(self.port, "POST", &format!("/api/admin/{verb}"), &headers, "").expect("the admin is answered")
    }

    /// A JSON-RPC call to `/mcp`; the whole answer.
    pub fn rpc(&self, method: &str, params: Value) -> Value {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let call = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": id});
        let response = self.post("/mcp", &call.to_string());
        assert_eq!(response.status, 200, "every JSON-RPC answer is a 200: {response:?}");
        let answer = response.json();
        assert_eq!(answer["id"], id, "the id comes back: {answer}");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "result or error: {answer}");
        answer
    }

    /// Waits until the box ends by itself (`--once`): how it ended, and all it printed.
    pub fn wait_until_it_ends(mut self) -> (ExitStatus, String) {
        let status = wait_for("the box ends by itself", || self.child.try_wait().expect("a child"));
        let printed = self.stdout.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        (status, printed)
    }
}

impl Drop for LeagueBox {
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
fn executable() -> &'static Path {
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
            let built = Command::new(cargo).args(["build", "--quiet", "-p", "leaguebox"]).args(release).status();
            assert!(built.is_ok_and(|status| status.success()), "`cargo build -p leaguebox` failed");
        }
        let path = profile.join(format!("leaguebox{}", std::env::consts::EXE_SUFFIX));
        assert!(path.exists(), "no box at {}: run `cargo build -p leaguebox`", path.display());
        path
    })
}
