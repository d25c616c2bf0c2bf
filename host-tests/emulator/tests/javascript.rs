//! The emulator's own tests, in JavaScript, with the test runner that Node.js has.

use std::process::Command;

#[test]
fn the_emulators_own_tests_pass() {
    emulator::prepare().unwrap();
    let output = Command::new("node").args(["--test"]).current_dir(emulator::JS).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
