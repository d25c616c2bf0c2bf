//! Starting other programs: from the repository's root, without a terminal to ask questions on, and if need be with a
//! time limit. What they print goes to our output; what is started is printed first, as a reader could type it.

use crate::Outcome;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a running program is looked at. Small beside any program started here.
const POLL: Duration = Duration::from_millis(50);

/// The repository's root.
pub fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// A program, to be run from the root.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    // `cargo run` points the library path at its own compiler's libraries. Other compilers and Python must not see it.
    command.current_dir(root()).stdin(Stdio::null()).env_remove("LD_LIBRARY_PATH");
    command
}

/// A shell line, to be run from the root.
pub fn line(line: &str) -> Command {
    let mut shell = command("sh");
    shell.args(["-c", line]);
    shell
}

/// Prints a command and runs it to its end.
pub fn run(command: &mut Command) -> Outcome {
    let shown = show(command);
    println!("$ {shown}");
    ended(&shown, command.status().map_err(|error| not_started(&shown, &error))?)
}

/// Prints a command and runs it; if it takes longer than `limit`, ends it with all it started.
pub fn run_within(limit: Duration, command: &mut Command) -> Outcome {
    let shown = show(command);
    println!("$ {shown}");
    let mut group = Group::start(command)?;
    let status = group.wait(limit).ok_or_else(|| format!("`{shown}` took longer than {} s", limit.as_secs()))?;
    ended(&shown, status)
}

/// Prints a command, runs it to its end, and answers with what it printed on its standard output.
pub fn output(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    println!("$ {shown}");
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| not_started(&shown, &error))?;
    ended(&shown, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What a command prints on its standard output, or nothing if it cannot be run or fails.
pub fn answer(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Whether a command can be run and succeeds. What it prints is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    answer(command).is_some()
}

/// Installs Debian packages, where that is possible without asking anybody: as root, with apt-get. `wanted` is the
/// sentence's end when it is not.
pub fn apt_install(packages: &[&str], wanted: &str) -> Outcome {
    let by_hand = || format!("install {wanted} (Debian: apt-get install {})", packages.join(" "));
    let root = answer(command("id").arg("-u")).is_some_and(|id| id == "0");
    if !root || !succeeds(command("apt-get").arg("--version")) {
        return Err(by_hand());
    }
    // Package lists age: those of a machine's image may name versions that are gone or too old.
    // One unreachable source of several is no reason to stop, so only the installation decides.
    if let Err(why) = run(command("apt-get").args(["update", "-qq"])) {
        println!("{why}; going on with the package lists there are");
    }
    let mut install = command("apt-get");
    install.args(["install", "-qq", "-y", "--no-install-recommends"]).args(packages);
    run(install.env("DEBIAN_FRONTEND", "noninteractive")).map_err(|why| format!("{why}; {}", by_hand()))
}

/// A started program and everything it starts. What is left of it ends when this is dropped.
pub struct Group(Child);

impl Group {
    /// Starts a command as the head of its own group.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let shown = show(command);
        command.process_group(0).spawn().map(Group).map_err(|error| not_started(&shown, &error))
    }

    /// The program itself, for its output.
    pub fn head(&mut self) -> &mut Child {
        &mut self.0
    }

    /// Waits for the program's end, at most this long.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if begun.elapsed() < limit => std::thread::sleep(POLL),
                _ => return None,
            }
        }
    }

    /// What Ctrl-C does.
    pub fn interrupt(&self) {
        self.signal("INT");
    }

    fn signal(&self, name: &str) {
        // The shell's own `kill`, because the standard library sends no signals but KILL, and that not to a group.
        succeeds(&mut line(&format!("kill -s {name} -- -{}", self.0.id())));
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal("KILL");
        // Also directly, so that the wait below cannot be long. It only keeps a zombie from staying; how the program ended
        // no longer matters.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A command as one would type it: its variables, its program, its arguments; of a shell line, the line.
fn show(command: &Command) -> String {
    let mut args = command.get_args();
    if command.get_program() == "sh" && args.next().is_some_and(|arg| arg == "-c") {
        return args.map(|line| line.display().to_string()).collect();
    }
    let set = command.get_envs().filter_map(|(name, value)| Some(format!("{}={}", name.display(), quoted(value?))));
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    set.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let text = word.display().to_string();
    if text.contains(char::is_whitespace) { format!("'{text}'") } else { text }
}

fn not_started(shown: &str, error: &std::io::Error) -> String {
    format!("`{shown}` could not be started: {error}")
}

fn ended(shown: &str, status: ExitStatus) -> Outcome {
    if status.success() { Ok(()) } else { Err(format!("`{shown}` ended with {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        assert_eq!(
            show(command("cargo").arg("doc").env("RUSTDOCFLAGS", "-Dwarnings")),
            "RUSTDOCFLAGS=-Dwarnings cargo doc"
        );
        assert_eq!(show(command("cargo").env("RUSTFLAGS", "-C a -C b")), "RUSTFLAGS='-C a -C b' cargo");
        assert_eq!(show(&line("cargo test")), "cargo test");
    }

    #[test]
    fn a_failing_command_is_named_with_its_status() {
        assert_eq!(run(&mut line("exit 3")), Err("`exit 3` ended with exit status: 3".into()));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let marker = format!("sleep 600.{}", std::process::id());
        let outcome = run_within(Duration::from_millis(200), &mut line(&format!("{marker} & wait")));
        assert!(outcome.is_err_and(|why| why.contains("took longer")));
        // The bracket keeps the search from finding itself.
        let left = answer(
            line(&format!("ps -eo stat,args | grep '[s]leep 600.{}' | grep -v '^Z'", std::process::id()))
                .env("LC_ALL", "C"),
        );
        assert_eq!(left, None, "still running");
    }
}
