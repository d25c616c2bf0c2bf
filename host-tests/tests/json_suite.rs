//! The published JSONTestSuite, every file of it: what must be read is read, what must not be is not.
//!
//! The files are not in this repository. They come with a package that `fuzz/Cargo.toml` names, whose lock file pins
//! them; cargo says where it keeps them.

use std::path::{Path, PathBuf};
use std::process::Command;

use protocol_core::json::{self, ErrorKind};

/// Of the texts that JSON leaves to the reader we read those with numbers of any size, since they stay text with us.
const READ_BY_CHOICE: &str = "i_number_";

#[test]
fn every_case_of_the_published_suite_is_judged_as_it_says() {
    let mut wrong = Vec::new();
    let mut seen = [0; 3];
    for entry in std::fs::read_dir(suite()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (class, expected) = match name.split_once('_') {
            Some(("y", _)) => (0, true),
            Some(("n", _)) => (1, false),
            Some(("i", _)) => (2, name.starts_with(READ_BY_CHOICE)),
            _ => continue,
        };
        seen[class] += 1;
        let text = std::fs::read(&path).unwrap();
        let read = json::parse(&text);
        if read.is_ok() != expected {
            wrong.push(format!("{name}: {read:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen, [95, 188, 35], "files of each class");
}

#[test]
fn a_hundred_thousand_open_brackets_are_refused_at_the_seventeenth() {
    let text = std::fs::read(suite().join("n_structure_100000_opening_arrays.json")).unwrap();
    let error = json::parse(&text).unwrap_err();
    assert_eq!((error.kind, error.at), (ErrorKind::TooDeep, json::MAX_DEPTH));
}

/// Where cargo keeps the suite's files.
fn suite() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let package = metadata["packages"].as_array().unwrap().iter().find(|package| package["name"] == "justjson");
    let manifest = package.expect("the suite's package")["manifest_path"].as_str().unwrap();
    Path::new(manifest).with_file_name("tests").join("JSONTestSuite")
}
