//! `cargo xtask readme`: runs the commands the README shows, so that it cannot promise what does not work.
//!
//! The convention, which a reader of the README need not know:
//! - Blocks marked `sh` are run, line by line, from the repository's root. Blocks marked `text` are not. A block that looks
//!   like a shell's but is marked otherwise, or not at all, is an error: somebody must decide.
//! - A command whose comment mentions `Ctrl-C` runs until it gets one. It is ready when it has printed an address
//!   (`http://`); the block's other lines run beside it, as in a second terminal; at the block's end it gets its Ctrl-C and
//!   must end well.
//! - Commands that cannot be run here are named, with the reason.

use crate::verb::{Given, Verb};
use crate::{Outcome, sh};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// A command may have to build the box first.
const COMMAND_LIMIT: Duration = Duration::from_secs(20 * 60);

/// What Ctrl-C sends.
const SIGINT: i32 = 2;

/// After Ctrl-C.
const END_LIMIT: Duration = Duration::from_secs(10);

/// What a program that serves prints when it can be reached.
const READY: &str = "http://";

pub const VERB: Verb = Verb {
    name: "readme",
    what: "run the commands that the README shows",
    more: "\
        Runs every line of every block marked `sh`, from the root of the repository, so that the README cannot promise what\n\
        does not work. A command whose comment mentions Ctrl-C serves until the end of its block.",
    options: &[],
    words: &[],
    example: "cargo xtask readme",
    run: |_: &Given| run_but_for(&[]),
};

/// Runs all commands but those that the caller has run already.
pub fn run_but_for(done: &[&str]) -> Outcome {
    let readme = fs::read_to_string(sh::root().join("README.md"))
        .map_err(|error| format!("README.md cannot be read: {error}"))?;
    let blocks = blocks(&readme)?;
    if blocks.is_empty() {
        return Err("README.md has no block marked sh, so there is nothing to run".into());
    }
    for block in blocks {
        let mut serving = Vec::new();
        for command in &block.commands {
            if let Some(reason) = reason_not_to_run(command, done) {
                println!("not run: `{}`: {reason}", command.typed());
            } else if command.serves() {
                serving.push(Server::start(command).map_err(|why| block.name(&why))?);
            } else {
                sh::run_within(COMMAND_LIMIT, &mut sh::line(&command.0)).map_err(|why| block.name(&why))?;
            }
        }
        for server in serving.into_iter().rev() {
            server.end().map_err(|why| block.name(&why))?;
        }
    }
    Ok(())
}

/// A block of commands, and the README's line it begins in.
#[derive(Debug, PartialEq)]
struct Block {
    line: usize,
    commands: Vec<ShellLine>,
}

impl Block {
    fn name(&self, why: &str) -> String {
        format!("README.md, block at line {}: {why}", self.line)
    }
}

/// A command as it stands in the README, comment included.
#[derive(Debug, PartialEq)]
struct ShellLine(String);

impl ShellLine {
    /// The command without its comment.
    fn typed(&self) -> &str {
        self.0.split_once(" #").map_or(self.0.as_str(), |(command, _)| command).trim()
    }

    /// Whether it runs until Ctrl-C.
    fn serves(&self) -> bool {
        self.0.split_once(" #").is_some_and(|(_, comment)| comment.contains("Ctrl-C"))
    }
}

fn reason_not_to_run(command: &ShellLine, done: &[&str]) -> Option<&'static str> {
    match command.typed() {
        typed if typed.starts_with("git clone ") => Some("this is the clone"),
        typed if typed.starts_with("cd ") => Some("this is the clone's root already"),
        "cargo xtask ci" | ".ci/run" | "cargo xtask readme" => Some("it is what runs these commands"),
        typed if done.contains(&typed) => Some("it was a step of its own"),
        _ => None,
    }
}

/// The blocks to run.
fn blocks(markdown: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(markdown.lines());
    while let Some((line, opening)) = lines.next() {
        let opening = opening.trim();
        let mark = opening.trim_start_matches('`');
        let fence = &opening[..opening.len() - mark.len()];
        if fence.len() < 3 {
            continue;
        }
        let mut body = Vec::new();
        loop {
            match lines.next() {
                None => return Err(format!("README.md, line {line}: this block is never closed")),
                Some((_, text)) if text.trim() == fence => break,
                Some((_, text)) => body.push(text),
            }
        }
        match mark {
            "sh" => blocks.push(Block { line, commands: commands(&body) }),
            "" | "bash" | "shell" | "console" | "zsh" => {
                return Err(format!("README.md, line {line}: mark this block `sh`, to be run by CI, or `text`"));
            }
            _ => {}
        }
    }
    Ok(blocks)
}

/// A block's commands: its lines but for empty ones and comments, those that end with a backslash joined to the next.
fn commands(body: &[&str]) -> Vec<ShellLine> {
    let whole = body.join("\n").replace("\\\n", " ");
    let lines = whole.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| ShellLine(line.to_string())).collect()
}

/// A command that runs until Ctrl-C.
struct Server {
    typed: String,
    group: sh::Group,
}

impl Server {
    /// Starts it and waits until it is ready.
    fn start(command: &ShellLine) -> Result<Self, String> {
        let typed = command.typed().to_string();
        println!("$ {typed}   (until it is ready)");
        // Without `exec` the shell would stay in between, and its death by the signal would hide how the program ended.
        let mut shell = sh::line(&format!("exec {}", command.0));
        let mut group = sh::Group::start(shell.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let (ready, is_ready) = mpsc::channel();
        if let (Some(out), Some(err)) = (group.head().stdout.take(), group.head().stderr.take()) {
            echo(out, ready.clone());
            echo(err, ready);
        }
        match is_ready.recv_timeout(COMMAND_LIMIT) {
            Ok(()) => Ok(Server { typed, group }),
            Err(RecvTimeoutError::Timeout) => Err(format!("`{typed}` printed no address (`{READY}`) in time")),
            Err(RecvTimeoutError::Disconnected) => {
                Err(format!("`{typed}` ended before it printed an address (`{READY}`)"))
            }
        }
    }

    /// Ctrl-C, and a look at how it takes it.
    fn end(mut self) -> Outcome {
        self.group.interrupt();
        match self.group.wait(END_LIMIT) {
            // A tool without state may just die of it, as `cargo xtask emulate` does.
            Some(status) if status.success() || status.signal() == Some(SIGINT) => {
                println!("`{}` was ready and ended well after Ctrl-C", self.typed);
                Ok(())
            }
            Some(status) => Err(format!("`{}` ended with {status} after Ctrl-C", self.typed)),
            None => Err(format!("`{}` still ran {} s after Ctrl-C", self.typed, END_LIMIT.as_secs())),
        }
    }
}

/// Passes a program's lines on and says when one has an address. Reads on after that: a full pipe would stop the program.
fn echo(stream: impl Read + Send + 'static, ready: Sender<()>) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            println!("  {line}");
            if line.contains(READY) {
                // Nobody listens any more after the first time.
                let _ = ready.send(());
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell_line(text: &str) -> ShellLine {
        ShellLine(text.into())
    }

    #[test]
    fn every_file_that_the_documents_link_to_is_there() {
        let docs = fs::read_dir(sh::root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
        let documents = docs.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
        let mut links = 0;
        for document in documents.chain([sh::root().join("README.md")]) {
            let text = fs::read_to_string(&document).unwrap();
            for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                if !link.contains("://") {
                    assert!(document.with_file_name(link).exists(), "{} links to {link}", document.display());
                    links += 1;
                }
            }
        }
        assert!(links > 20, "{links}");
    }

    #[test]
    fn only_blocks_marked_sh_are_run() {
        let markdown =
            "# Box\n```sh\ncargo test\n```\n```text\ncargo burn\n```\n```json\n{}\n```\n  ```sh\n  cargo run\n  ```\n";
        let expected = [
            Block { line: 2, commands: vec![shell_line("cargo test")] },
            Block { line: 11, commands: vec![shell_line("cargo run")] },
        ];
        assert_eq!(blocks(markdown).unwrap(), expected);
    }

    #[test]
    fn a_block_nobody_decided_about_is_an_error() {
        for mark in ["", "bash", "console"] {
            assert!(blocks(&format!("```{mark}\ncargo test\n```\n")).is_err_and(|why| why.contains("line 1")));
        }
    }

    #[test]
    fn a_block_that_is_never_closed_is_an_error() {
        assert!(blocks("text\n```sh\ncargo test\n").is_err_and(|why| why.contains("line 2")));
    }

    #[test]
    fn a_longer_fence_may_hold_a_shorter_one() {
        assert_eq!(blocks("````text\n```sh\ncargo burn\n```\n````\n").unwrap(), []);
    }

    #[test]
    fn comments_and_empty_lines_are_no_commands_and_a_backslash_joins_lines() {
        assert_eq!(commands(&["# first", "", "cargo \\", "  test"]), [shell_line("cargo    test")]);
    }

    #[test]
    fn a_comment_that_mentions_ctrl_c_marks_a_server() {
        assert!(shell_line("cargo run   # Ctrl-C ends it").serves());
        assert!(!shell_line("cargo run   # prints and ends").serves());
        assert!(!shell_line("echo Ctrl-C").serves());
    }

    #[test]
    fn what_is_not_run_has_a_reason() {
        let reason = |text: &str| reason_not_to_run(&shell_line(text), &["cargo test"]);
        assert!(reason("git clone https://example.org/box").is_some());
        assert!(reason("cd box").is_some());
        assert!(reason("cargo xtask ci    # all of it").is_some());
        assert!(reason("cargo test # all").is_some());
        assert!(reason("cargo test -p xtask").is_none());
        assert!(reason("cargo run").is_none());
    }

    #[test]
    fn a_server_is_waited_for_and_interrupted() {
        let server =
            Server::start(&shell_line("sh -c 'trap \"exit 0\" INT; echo on http://box; while :; do sleep 0.1; done'"));
        assert_eq!(server.and_then(Server::end), Ok(()));
    }

    #[test]
    fn a_server_that_ends_badly_after_ctrl_c_is_an_error() {
        let server =
            Server::start(&shell_line("sh -c 'trap \"exit 7\" INT; echo on http://box; while :; do sleep 0.1; done'"));
        assert!(server.and_then(Server::end).is_err_and(|why| why.contains("7")));
    }

    #[test]
    fn a_server_that_ends_before_it_is_ready_is_an_error() {
        assert!(Server::start(&shell_line("echo the port is busy")).is_err_and(|why| why.contains("ended before")));
    }
}
