//! How to compile for the RP2040's core, on whatever machine this is: `thumb` and `firmware` ask here; `systems` too, for other
//! targets.
//!
//! The target's `core` can come from three places; the first that there is is taken.

use crate::verb::Opt;
use crate::{Outcome, sh};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The RP2040's core, as the compiler calls it.
pub const TARGET: &str = "thumbv6m-none-eabi";

/// For verbs that leave the choice.
pub const OPTION: Opt = Opt {
    name: "--way",
    value: "installed|rustup|debian",
    what: "where the processor's `core` library comes from (the first that works)",
    default: None,
};

/// rustup downloads 10 MB or so. A machine without access to it may not refuse but keep us waiting.
const RUSTUP_LIMIT: Duration = Duration::from_secs(60);

/// A compiler with the source of its own library, beside whatever rustup has installed.
const DEBIAN: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm"];
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_LLD: &str = "/usr/bin/ld.lld";

/// `cargo build` by the first way that works here, or by the one that is named. The caller says what to build.
pub fn build(named: Option<&str>) -> Result<Command, String> {
    cargo("build", named)
}

/// The same for `cargo check`, which makes nothing that could run and takes a third of the time.
pub fn check(named: Option<&str>) -> Result<Command, String> {
    cargo("check", named)
}

fn cargo(verb: &str, named: Option<&str>) -> Result<Command, String> {
    match named {
        None => library(TARGET).map(|()| verb_of("cargo", verb)).or_else(|_| debian(verb)),
        Some("installed") => installed(TARGET).map(|()| verb_of("cargo", verb)),
        Some("rustup") => rustup(TARGET).map(|()| verb_of("cargo", verb)),
        Some("debian") => debian(verb),
        Some(other) => Err(format!("--way is installed, rustup or debian, not `{other}`")),
    }
}

/// Sees to it that the compiler has the library of a target, its `core` at least.
pub fn library(target: &str) -> Outcome {
    installed(target).or_else(|_| rustup(target))
}

/// The compiler has it already.
fn installed(target: &str) -> Outcome {
    let libraries = sh::answer(sh::command("rustc").args(["--print", "target-libdir", "--target", target]));
    if !libraries.is_some_and(|path| Path::new(&path).is_dir()) {
        return Err(format!("the target {target} is not installed; `rustup target add {target}` does it"));
    }
    println!("way: the compiler has the target {target}");
    Ok(())
}

/// rustup can fetch it.
fn rustup(target: &str) -> Outcome {
    let mut add = sh::command("rustup");
    // That it cannot download is expected on some machines; a backtrace would look like our mistake.
    add.args(["target", "add", target]).env_remove("RUST_BACKTRACE");
    sh::run_within(RUSTUP_LIMIT, &mut add).inspect_err(|why| println!("{why}"))?;
    println!("way: rustup has added the target {target}");
    Ok(())
}

/// Debian's compiler makes it from Debian's source.
fn debian(verb: &str) -> Result<Command, String> {
    if !debian_has_source() {
        sh::apt_install(
            DEBIAN,
            &format!("the target {TARGET}: `rustup target add {TARGET}`, or a compiler with its source"),
        )?;
    }
    if !debian_has_source() {
        return Err(format!("{DEBIAN_RUSTC} has no library source; apt-get install {}", DEBIAN.join(" ")));
    }
    println!("way: Debian's compiler builds `core` for {TARGET} from source");
    let mut build = verb_of(DEBIAN_CARGO, verb);
    // The variable permits `-Z` on a stable compiler.
    build.arg("-Zbuild-std=core").env("RUSTC_BOOTSTRAP", "1").env("RUSTC", DEBIAN_RUSTC);
    build.env("CARGO_TARGET_THUMBV6M_NONE_EABI_LINKER", linker()?);
    Ok(build)
}

/// Debian's compiler comes without its linker: its `rust-lld` is a dangling link.
fn linker() -> Result<PathBuf, String> {
    let rustup = sh::answer(sh::command("rustc").args(["--print", "target-libdir"]))
        .and_then(|libraries| Some(Path::new(&libraries).parent()?.join("bin/rust-lld")));
    let found = || rustup.clone().into_iter().chain([DEBIAN_LLD.into()]).find(|path| path.is_file());
    if found().is_none() {
        sh::apt_install(&["lld"], "LLVM's linker, lld")?;
    }
    found().ok_or_else(|| format!("there is no linker at {DEBIAN_LLD}; apt-get install lld"))
}

fn debian_has_source() -> bool {
    let sysroot = sh::answer(sh::command(DEBIAN_RUSTC).args(["--print", "sysroot"]));
    let source = sysroot.map(|path| Path::new(&path).join("lib/rustlib/src/rust/library/core/src/lib.rs"));
    Path::new(DEBIAN_CARGO).is_file() && source.is_some_and(|path| path.is_file())
}

fn verb_of(cargo: &str, verb: &str) -> Command {
    let mut command = sh::command(cargo);
    command.arg(verb);
    command
}
