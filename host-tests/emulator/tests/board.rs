//! The board's image in the emulator, with frames and time in the test's hands: what the emulator promises, shown on the image it
//! is for. `cargo xtask firmware` builds it.

use emulator::{Emulator, Options};
use std::path::{Path, PathBuf};
use std::time::Duration;

const ELF: &str = "../../firmware/rp2040/target/thumbv6m-none-eabi/release/leaguebox-rp2040";
const SECOND: Duration = Duration::from_secs(1);
/// Of our time. What is waited for here has happened already when `run` returns.
const PATIENCE: Duration = Duration::from_secs(60);

fn options() -> Options {
    Options::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(ELF))
}

fn start() -> Emulator {
    Emulator::start(options()).unwrap()
}

/// A file that is gone with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("leaguebox-{name}-{}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
#[ignore = "needs the board's image"]
fn it_boots_says_so_and_asks_for_an_address() {
    let board = start();
    board.run(3 * SECOND).unwrap();
    let line = board.wait_for_log(0, "last reset: power-on", PATIENCE).unwrap();
    assert!(line.text.starts_with("leaguebox "), "{line}");
    assert!(line.at < SECOND, "{line}");
    let frames = board.take_frames();
    assert!(frames.iter().any(|frame| is_dhcp(frame)), "no DHCP request");
    assert_eq!(board.boots().len(), 1);
    assert_eq!(board.invalid(), Vec::<String>::new());
}

/// From port 68 to port 67, over UDP.
fn is_dhcp(frame: &[u8]) -> bool {
    frame.get(23) == Some(&17) && frame.get(34..38) == Some(&[0, 68, 0, 67])
}

#[test]
#[ignore = "needs the board's image"]
fn two_runs_are_the_same_to_the_nanosecond() {
    let run = |seed| {
        let board = Emulator::start(Options { seed, ..options() }).unwrap();
        board.run(2 * SECOND).unwrap();
        let statistics = board.statistics().unwrap();
        (board.log(), board.led(), board.take_frames(), statistics.busy_cycles, statistics.instructions)
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0, "the admin code is random");
}

#[test]
#[ignore = "needs the board's image"]
fn a_pulled_cable_is_seen_and_a_new_one_too() {
    let board = start();
    board.run(2 * SECOND).unwrap();
    let position = board.log_position();
    board.cable(false).unwrap();
    board.run(2 * SECOND).unwrap();
    board.wait_for_log(position, "link down", PATIENCE).unwrap();
    board.take_frames();
    board.run(SECOND).unwrap();
    assert_eq!(board.take_frames(), Vec::<Vec<u8>>::new(), "nothing leaves over a pulled cable");
    let position = board.log_position();
    board.cable(true).unwrap();
    board.run(2 * SECOND).unwrap();
    board.wait_for_log(position, "link up", PATIENCE).unwrap();
}

#[test]
#[ignore = "needs the board's image"]
fn a_power_cut_comes_at_its_cycle_and_power_brings_the_box_back() {
    let board = start();
    for cycle in [1_000, 3_000_001, 90_000_000] {
        let now = board.statistics().unwrap().cycle;
        board.cut_at(now + cycle).unwrap();
        board.run(SECOND).unwrap();
        board.wait_for_power_off(PATIENCE).unwrap();
        let position = board.log_position();
        board.power(true).unwrap();
        board.run(SECOND).unwrap();
        board.wait_for_log(position, "last reset: power-on", PATIENCE).unwrap();
    }
    let boots = board.boots();
    assert_eq!(boots.len(), 4);
    assert!(boots.iter().all(|boot| boot.why == "power-on"), "{boots:?}");
    assert_eq!(board.invalid(), Vec::<String>::new());
}

#[test]
#[ignore = "needs the board's image"]
fn the_flash_file_holds_the_image_and_is_kept() {
    let file = Scratch::new("flash");
    let with_file = || Emulator::start(Options { flash: Some(file.0.clone()), ..options() }).unwrap();
    with_file().run(SECOND).unwrap();
    let mut flash = std::fs::read(&file.0).unwrap();
    assert_eq!(flash.len(), 2 * 1024 * 1024);
    // The journal's end of the flash is not the image's: what is there stays.
    let last = flash.len() - 1;
    flash[last] = 0x5a;
    std::fs::write(&file.0, &flash).unwrap();
    with_file().run(Duration::from_millis(1)).unwrap();
    assert_eq!(std::fs::read(&file.0).unwrap()[last], 0x5a);
}

#[test]
#[ignore = "needs the board's image"]
fn the_stack_is_measured() {
    let board = start();
    board.run(2 * SECOND).unwrap();
    let stack = board.statistics().unwrap().stack;
    assert!(0 < stack.used && stack.used < stack.size, "{stack:?}");
}

#[test]
fn a_missing_image_is_said_in_one_line() {
    let why = Emulator::start(Options::new("no/such/image")).unwrap_err();
    assert!(why.contains("no/such/image") && why.contains("cargo xtask firmware") && !why.contains('\n'), "{why}");
}
