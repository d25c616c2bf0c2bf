//! LeagueBox on this computer: OS sockets, the real clock, the command line. A board like any other, so it holds no
//! rule of any game or protocol; beside the box it has the house players and the demo that watches them.

mod bridge;
mod cli;
mod computer;
mod conform;
mod demo;
mod entropy;
mod failure;
mod flash;
mod house;
mod http;
mod lan;
mod narrate;
mod net;
mod reactor;
mod record;
mod run;
mod startup;
mod stop;
mod table;
mod verify;

use std::env;
use std::io;
use std::process::ExitCode;

use cli::Command;
use failure::{Failure, say};
use protocol_core::games::GameKind;

/// The games this build can referee; the first is the default.
fn games() -> Vec<&'static str> {
    GameKind::ALL.iter().map(|game| game.rules().name).collect()
}

fn main() -> ExitCode {
    match cli::parse(env::args_os().skip(1), &games()).and_then(obey) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("leaguebox: {failure}");
            ExitCode::from(failure.code)
        }
    }
}

fn obey(command: Command) -> Result<(), Failure> {
    let text = match command {
        Command::Run(options) => return run::run(options, run::Says::All),
        Command::Demo(options) => return demo::demo(options),
        Command::Mcp(url) => return bridge::bridge(&url),
        Command::Verify(options) => verify::verify(&options)?,
        Command::Conform(file) => return conform::conform(&file),
        Command::Player(options) => return house::away::play(&options),
        Command::Help(verb) => cli::help(verb, &games()),
        Command::Version => format!("leaguebox {}\n", env!("CARGO_PKG_VERSION")),
    };
    say(&mut io::stdout(), &text)
}
