//! Tells the linker where things go: the board's memory map (at the root of the repository), the start-up code, the boot
//! loader, the texts of the log.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::copy("../../memory.x", out.join("memory.x")).expect("the memory map is at the root of the repository");
    println!("cargo::rerun-if-changed=../../memory.x");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tlink-rp.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg={argument}");
    }
    println!("cargo::rustc-link-arg-tests=-Tembedded-test.x");
    println!("cargo::rustc-check-cfg=cfg(rust_analyzer)");
}
