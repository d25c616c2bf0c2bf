//! A running box, on whatever device the tests are for. What it is told and asked goes over HTTP, as with any other client.

#[cfg(feature = "emulator")]
use crate::device;
use crate::device::desktop::{self, Desktop};
use crate::device::probe::Probe;
use crate::device::{DEVICE, Device, address_towards};
use crate::http::{self, Response};
use crate::settings::Settings;
use crate::wait_for;
use serde_json::{Value, json};
use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A running box. It ends, or is free for the next test, when this is dropped.
pub struct LeagueBox {
    /// Where it listens.
    pub address: SocketAddr,
    /// What opens `/api/admin`.
    pub admin_code: String,
    begun: Instant,
    machine: Machine,
}

/// What keeps it running.
enum Machine {
    Desktop(Desktop),
    #[cfg(feature = "emulator")]
    Emulator(Box<emulator::Emulator>),
    Probe(#[expect(dead_code, reason = "held, not read")] Probe),
}

impl LeagueBox {
    /// Starts a box that knows nothing but these settings, and waits until it answers.
    pub fn start(settings: Settings) -> LeagueBox {
        match DEVICE {
            Device::Desktop => LeagueBox::on_desktop(settings, &[]),
            #[cfg(feature = "emulator")]
            Device::Emulator => LeagueBox::in_emulator(settings, "lb0"),
            #[cfg(not(feature = "emulator"))]
            Device::Emulator => unreachable!("the feature makes the device"),
            Device::Probe => {
                let (address, admin_code, probe) = Probe::take();
                let leaguebox =
                    LeagueBox { address, admin_code, begun: Instant::now(), machine: Machine::Probe(probe) };
                leaguebox.wait_until_healthy();
                assert_eq!(leaguebox.admin("reset").status, 200, "the last test's league is erased");
                leaguebox.tell(settings);
                leaguebox
            }
        }
    }

    /// Starts a box that answers a few dozen heartbeats a second of those that come too soon, as a board does by itself.
    pub fn with_little_time(settings: Settings) -> LeagueBox {
        match DEVICE {
            Device::Desktop => LeagueBox::on_desktop(settings, &["--spare-heartbeats=40"]),
            _ => LeagueBox::start(settings),
        }
    }

    /// Starts an emulated board on a bridge. A DHCP server must be there.
    #[cfg(feature = "emulator")]
    pub fn in_emulator(settings: Settings, bridge: &str) -> LeagueBox {
        let leaguebox = LeagueBox::boot(device::emulator::start(bridge, None));
        leaguebox.tell(settings);
        leaguebox
    }

    /// Starts an emulated board whose flash is in a file, asking nothing of it.
    #[cfg(feature = "emulator")]
    pub fn in_emulator_on(flash: &std::path::Path) -> LeagueBox {
        LeagueBox::boot(device::emulator::start("lb0", Some(flash)))
    }

    #[cfg(feature = "emulator")]
    fn boot(board: emulator::Emulator) -> LeagueBox {
        let (address, admin_code) = device::emulator::introduction(&board, 0);
        let leaguebox =
            LeagueBox { address, admin_code, begun: Instant::now(), machine: Machine::Emulator(Box::new(board)) };
        leaguebox.wait_until_healthy();
        leaguebox
    }

    /// The board itself: its cable, its power, its log.
    #[cfg(feature = "emulator")]
    pub fn board(&self) -> &emulator::Emulator {
        match &self.machine {
            Machine::Emulator(board) => board,
            _ => panic!("there is no board to look into"),
        }
    }

    /// Waits until a box that has been reset has an address again, and answers. `since` is the place in its log before.
    #[cfg(feature = "emulator")]
    pub fn wait_until_it_is_back(&mut self, since: usize) {
        (self.address, self.admin_code) = device::emulator::introduction(self.board(), since);
        self.wait_until_healthy();
    }

    /// Starts a desktop box at an address of our choice. Only for tests that are ignored elsewhere.
    pub fn start_at(address: SocketAddr, settings: Settings) -> LeagueBox {
        LeagueBox::with(Desktop::start_at(address, &settings, &[]))
    }

    /// Starts a desktop box that ends when its league does. Only for tests that are ignored elsewhere.
    pub fn start_once(settings: Settings) -> LeagueBox {
        LeagueBox::on_desktop(settings, &["--once"])
    }

    /// Starts a desktop box that keeps its league in a file. Dropping it is `SIGKILL`. Only for tests that are ignored
    /// elsewhere.
    pub fn on_flash(settings: Settings, file: &std::path::Path) -> LeagueBox {
        // The last word on the flash counts.
        LeagueBox::on_desktop(settings, &[&format!("--flash={}", file.display())])
    }

    /// The same at an address of our choice, for agents that come back to it by themselves.
    pub fn on_flash_at(address: SocketAddr, settings: Settings, file: &std::path::Path) -> LeagueBox {
        LeagueBox::with(Desktop::start_at(address, &settings, &[&format!("--flash={}", file.display())]))
    }

    /// Starts a box that keeps what is over: a board as it is, the desktop in a file.
    pub fn with_memory(settings: Settings, file: &std::path::Path) -> LeagueBox {
        match DEVICE {
            Device::Desktop => LeagueBox::on_flash(settings, file),
            _ => LeagueBox::start(settings),
        }
    }

    /// Starts it again on the same file, asking nothing of it: it is as it was.
    pub fn as_it_was(file: &std::path::Path) -> LeagueBox {
        LeagueBox::with(Desktop::bare(&[&format!("--flash={}", file.display())]))
    }

    /// The same for whoever knows the address it had.
    pub fn as_and_where_it_was(file: &std::path::Path, address: SocketAddr) -> LeagueBox {
        LeagueBox::with(Desktop::at(address, &[&format!("--flash={}", file.display())]))
    }

    fn on_desktop(settings: Settings, arguments: &[&str]) -> LeagueBox {
        LeagueBox::with(Desktop::start(&settings, arguments))
    }

    fn with((address, desktop): (SocketAddr, Desktop)) -> LeagueBox {
        let admin_code = desktop::ADMIN_CODE.to_owned();
        let mut leaguebox =
            LeagueBox { address, admin_code, begun: Instant::now(), machine: Machine::Desktop(desktop) };
        wait_for("the box answers GET /health", || {
            if let Machine::Desktop(desktop) = &mut leaguebox.machine {
                desktop.assert_alive();
            }
            leaguebox.is_healthy().then_some(())
        });
        leaguebox
    }

    /// Waits until it answers.
    pub fn wait_until_healthy(&self) {
        wait_for("the box answers GET /health", || self.is_healthy().then_some(()));
    }

    fn is_healthy(&self) -> bool {
        http::request(self.address, "GET", "/health", "", "").is_ok_and(|response| response.status == 200)
    }

    /// Tells a board its settings.
    pub fn tell(&self, settings: Settings) {
        let response = self.admin_with("settings", &settings.body().to_string());
        assert_eq!(response.status, 200, "{settings:?}: {response:?}");
    }

    /// The box's own time, from some moment on: an emulated board may live more slowly than we.
    pub fn clock(&self) -> Duration {
        match &self.machine {
            #[cfg(feature = "emulator")]
            Machine::Emulator(board) => {
                Duration::from_nanos(board.statistics().unwrap_or_else(|why| panic!("{why}")).nanos)
            }
            _ => self.begun.elapsed(),
        }
    }

    /// Why it was started again since it got power, time by time. Where we cannot see that, the box says it of its last start.
    pub fn resets(&self) -> Vec<String> {
        match &self.machine {
            #[cfg(feature = "emulator")]
            Machine::Emulator(board) => board.boots().into_iter().skip(1).map(|boot| boot.why).collect(),
            Machine::Desktop(_) => Vec::new(),
            Machine::Probe(_) => {
                let status = self.get_json("/api/status.json");
                let uptime = status["uptime_seconds"].as_u64().unwrap_or_default();
                let reset = uptime < self.begun.elapsed().as_secs();
                reset.then(|| status["last_reset"].to_string()).into_iter().collect()
            }
        }
    }

    /// Where agents are told to go.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Our own address, as the box sees it: where its players are.
    pub fn home(&self) -> IpAddr {
        address_towards(self.address)
    }

    /// Another address than `home`, of a computer beside it: the first, the second and so on up to the eighth. Not for a real
    /// board, whose network we do not make.
    pub fn neighbour(&self, number: u8) -> IpAddr {
        assert!((1..=8).contains(&number), "there are eight");
        match DEVICE {
            // Every loopback address is a computer of its own.
            Device::Desktop => IpAddr::from([127, 0, 0, 1 + number]),
            #[cfg(feature = "emulator")]
            Device::Emulator => crate::wire::another_address("lb0", [10, 77, 0, 1 + number].into()),
            _ => panic!("we do not make the network of a real board"),
        }
    }

    /// POST of a JSON text from another address.
    pub fn post_from(&self, source: IpAddr, path: &str, body: &str) -> Response {
        http::post_from(source, self.address, path, body).unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// GET, any status.
    pub fn get(&self, path: &str) -> Response {
        http::request(self.address, "GET", path, "", "").unwrap_or_else(|error| panic!("GET {path}: {error}"))
    }

    /// GET of a JSON document, which must be there.
    pub fn get_json(&self, path: &str) -> Value {
        let response = self.get(path);
        assert_eq!(response.status, 200, "GET {path}: {response:?}");
        response.json()
    }

    /// POST of a JSON text to any path.
    pub fn post(&self, path: &str, body: &str) -> Response {
        http::request(self.address, "POST", path, "Content-Type: application/json\r\n", body)
            .unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// One of the admin's buttons.
    pub fn admin(&self, verb: &str) -> Response {
        self.admin_with(verb, "")
    }

    /// The same of a box that may not live to answer: nobody waits for it.
    pub fn admin_blindly(&self, verb: &str) {
        let request = format!(
            "POST /api/admin/{verb} HTTP/1.0\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\n\r\n",
            self.admin_code
        );
        let sent = TcpStream::connect(self.address).and_then(|mut stream| stream.write_all(request.as_bytes()));
        sent.expect("the box takes the request");
    }

    /// The same with something to read, as JSON.
    pub fn admin_with(&self, verb: &str, body: &str) -> Response {
        let headers = format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\n", self.admin_code);
        http::request(self.address, "POST", &format!("/api/admin/{verb}"), &headers, body)
            .expect("the admin is answered")
    }

    /// One of the admin's buttons on a box that may have no connection free.
    pub fn try_admin(&self, verb: &str) -> Option<Response> {
        let headers = format!("Authorization: Bearer {}\r\n", self.admin_code);
        http::request(self.address, "POST", &format!("/api/admin/{verb}"), &headers, "").ok()
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

    /// Waits until the league is over.
    pub fn wait_for_the_champion(&self) {
        wait_for("the league is over", || (self.get_json("/api/status.json")["state"] == "COMPLETED").then_some(()));
    }

    /// The bytes a desktop box has in memory, where the system tells.
    pub fn memory(&self) -> Option<u64> {
        match &self.machine {
            Machine::Desktop(desktop) => desktop.memory(),
            _ => None,
        }
    }

    /// Waits until a box that was started once ends by itself: how it ended, and all it printed.
    pub fn wait_until_it_ends(mut self) -> (ExitStatus, String) {
        match &mut self.machine {
            Machine::Desktop(desktop) => desktop.wait_until_it_ends(),
            _ => panic!("a board never ends"),
        }
    }
}

/// Whatever a test was about: an image that does what its chip forbids has failed it.
#[cfg(feature = "emulator")]
impl Drop for LeagueBox {
    fn drop(&mut self) {
        if let Machine::Emulator(board) = &self.machine {
            if std::thread::panicking() {
                let log: Vec<String> = board.log().iter().map(ToString::to_string).collect();
                eprintln!("the box's log:\n{}", log.join("\n"));
                for page in ["status", "players"] {
                    let said = http::request(self.address, "GET", &format!("/api/{page}.json"), "", "");
                    eprintln!("{page}: {:?}", said.map(|response| response.body));
                }
                eprintln!("{:?}", board.statistics());
            } else {
                assert_eq!(board.invalid(), Vec::<String>::new(), "the image did what the chip forbids");
            }
        }
    }
}
