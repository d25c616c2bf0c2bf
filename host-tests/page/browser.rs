//! A headless Chromium, driven by WebDriver's plain HTTP through Debian's chromedriver. It knows nothing of the page.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use host_tests::{PATIENCE, free_port, wait_for};
use serde_json::{Value, json};

/// A browser weighs more than all the rest of a test: one at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A running browser with one window.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// Opens a window the size of a projector.
    pub fn open() -> Browser {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let port = free_port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver, which `cargo xtask clients` installs");
        let profile = std::env::temp_dir().join(format!("leaguebox-browser-{}-{port}", std::process::id()));
        // From here on dropping it cleans up.
        let mut browser = Browser { driver, port, session: String::new(), profile, _turn: turn };
        wait_for("chromedriver answers", || {
            exchange(port, "GET", "/status", "").ok().filter(|(_, answer)| answer["value"]["ready"] == true)
        });
        let profile = format!("--user-data-dir={}", browser.profile.display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--window-size=1280,800",
            &profile,
        ];
        // An alert is left standing: whatever is asked next then fails, and with it the test.
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "unhandledPromptBehavior": "ignore", "goog:chromeOptions": {"args": arguments},
        }}});
        let answer = browser.send("POST", "/session", wanted);
        browser.session = answer["sessionId"].as_str().expect("a session").to_owned();
        browser.resize(1280, 800);
        browser
    }

    /// Opens an address.
    pub fn go(&self, url: &str) {
        self.tell("url", json!({"url": url}));
    }

    /// Runs a script in every page that is opened from now on, before the page's own.
    pub fn before_the_page(&self, script: &str) {
        self.command("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
    }

    /// Opens another window and turns to it: whatever is asked from now on is asked there. Says how to find it again.
    pub fn open_window(&self) -> String {
        let window = self.tell("window/new", json!({"type": "window"}))["handle"].clone();
        let window = window.as_str().expect("a window").to_owned();
        self.turn_to(&window);
        window
    }

    /// Turns to another window.
    pub fn turn_to(&self, window: &str) {
        self.tell("window", json!({ "handle": window }));
    }

    /// What a JavaScript expression is worth in the page.
    pub fn eval(&self, expression: &str) -> Value {
        self.tell("execute/sync", json!({"script": format!("return {expression};"), "args": []}))
    }

    /// Runs a script in the page.
    pub fn run(&self, script: &str) {
        self.tell("execute/sync", json!({"script": script, "args": []}));
    }

    /// The visible text of the first element that fits a selector.
    pub fn text(&self, selector: &str) -> String {
        let found = self.eval(&format!("(document.querySelector({selector:?}) || {{}}).innerText"));
        found.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until a JavaScript expression is true.
    pub fn wait_until(&self, expression: &str) {
        wait_for(expression, || (self.eval(expression) == true).then_some(()));
    }

    /// Clicks as a mouse would: on what is really there and visible.
    pub fn click(&self, selector: &str) {
        self.tell(&format!("element/{}/click", self.find(selector)), json!({}));
    }

    /// Empties a field and types into it.
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.find(selector);
        self.tell(&format!("element/{element}/clear"), json!({}));
        self.tell(&format!("element/{element}/value"), json!({"text": text}));
    }

    /// Presses and releases a key, as WebDriver spells it, wherever the focus is.
    pub fn press(&self, key: &str) {
        let actions = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.tell("actions", json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}));
    }

    /// Makes the window as large as another screen.
    pub fn resize(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Has the page believe that its reader prefers dark, or light.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.command("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Keeps a picture of the window in the build's temporary directory.
    pub fn keep_picture(&self, name: &str) {
        let answer = self.send("GET", &format!("/session/{}/screenshot", self.session), Value::Null);
        let bytes = from_base64(answer.as_str().expect("a picture"));
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
        fs::create_dir_all(&folder).expect("a folder for pictures");
        fs::write(folder.join(name), bytes).expect("the picture is written");
    }

    fn find(&self, selector: &str) -> String {
        let answer = self.tell("element", json!({"using": "css selector", "value": selector}));
        let reference = answer.as_object().and_then(|object| object.values().next()).and_then(Value::as_str);
        reference.unwrap_or_else(|| panic!("no {selector} in the page")).to_owned()
    }

    fn command(&self, name: &str, parameters: Value) {
        self.tell("goog/cdp/execute", json!({"cmd": name, "params": parameters}));
    }

    fn tell(&self, what: &str, body: Value) -> Value {
        self.send("POST", &format!("/session/{}/{what}", self.session), body)
    }

    fn send(&self, method: &str, path: &str, body: Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = exchange(self.port, method, path, &body);
        let (status, mut answer) = answer.unwrap_or_else(|error| panic!("the browser does not answer {path}: {error}"));
        assert_eq!(status, 200, "the browser refuses {path} {body}: {answer}");
        answer["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = exchange(self.port, "DELETE", &format!("/session/{}", self.session), "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

/// One request to chromedriver, and its status and JSON. It keeps every connection open whatever it is asked, so the
/// answer's length is believed.
fn exchange(port: u16, method: &str, path: &str, body: &str) -> std::io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all((head + body).as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut length = 0;
    while line != "\r\n" && !line.is_empty() {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer)?;
    Ok((status, serde_json::from_slice(&answer)?))
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let (mut bits, mut count, mut bytes) = (0, 0, Vec::new());
    for digit in digits {
        (bits, count) = (bits << 6 | digit, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}
