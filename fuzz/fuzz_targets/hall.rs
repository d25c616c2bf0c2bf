//! Whatever agents send and players answer: the hall stands, and everything it says is JSON.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};

use arbitrary::Arbitrary;
use protocol_core::fair::Seed;
use protocol_core::games::GameKind;
use protocol_core::hall::{Command, Config, Event, Failure, Hall, Mode, Via};
use protocol_core::json::Slice;
use protocol_core::time::{Now, Utc};

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Request {
        via: u8,
        body: &'a [u8],
    },
    /// A well-formed registration with a fuzzed part in it.
    Register {
        name: u8,
        rest: &'a str,
    },
    Reply {
        player: u8,
        status: u16,
        body: &'a [u8],
    },
    /// What an honest player would answer.
    Honest {
        player: u8,
    },
    Failed {
        player: u8,
        unreadable: bool,
    },
    Wait(u16),
    Command(u8),
}

libfuzzer_sys::fuzz_target!(|input: (bool, bool, Vec<Step<'_>>)| {
    let (strict, ten, steps) = input;
    let config = Config {
        game: if ten { GameKind::EvenOdd10 } else { GameKind::EvenOdd },
        mode: if strict { Mode::Strict } else { Mode::Lenient },
        endpoint: "http://10.0.0.1:8000/mcp".try_into().unwrap(),
        ..Config::default()
    };
    let mut hall: Hall<4, 2, 6, 16> = Hall::new(config, Seed([1; 32]), Seed([2; 32]));
    let mut now = Now { ms: 0, utc: Utc(0) };
    let mut buf = vec![0; 1 << 16];
    for step in steps {
        match step {
            Step::Request { via, body } => request(&mut hall, now, via, body, &mut buf),
            Step::Register { name, rest } => {
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"register_player","params":{{{rest}"player_meta":{{
                    "display_name":"{name}","contact_endpoint":"http://localhost:80{name:02}/mcp"}}}}}}"#
                );
                request(&mut hall, now, 0, body.as_bytes(), &mut buf);
            }
            Step::Reply { player, status, body } => reply(&mut hall, now, player, status, body),
            Step::Honest { player } => {
                let body = br#"{"jsonrpc":"2.0","id":1,"result":{"accept":true,"parity_choice":"even","move":"odd"}}"#;
                reply(&mut hall, now, player, 200, body);
            }
            Step::Failed { player, unreadable } => {
                let player = u16::from(player % 4);
                let failure = if unreadable { Failure::Unreadable } else { Failure::Unreachable };
                if let Some(call) = hall.call(player).map(|call| call.id) {
                    hall.handle(now, Event::Failed { player, call, failure });
                }
            }
            Step::Wait(ms) => {
                now = Now { ms: now.ms + u64::from(ms), utc: now.utc_at(now.ms + u64::from(ms)) };
                hall.handle(now, Event::Tick);
            }
            Step::Command(command) => {
                let commands =
                    [Command::Start, Command::Pause, Command::Resume, Command::Rematch, Command::Reset, Command::Start];
                let _ = hall.command(now, commands[usize::from(command) % commands.len()]);
            }
        }
        assert!(hall.next_deadline().is_none_or(|at| at > now.ms));
        while hall.poll_output().is_some() {}
        for player in 0..hall.players().len() as u16 {
            if hall.call(player).is_some() {
                let mut sink = Slice::new(&mut buf);
                // A question that was settled by other means is not said again.
                if hall.write_call(player, &mut sink).is_ok() {
                    serde_json::from_slice::<serde_json::Value>(sink.written()).unwrap();
                }
            }
        }
    }
});

fn request(hall: &mut Hall<4, 2, 6, 16>, now: Now, via: u8, body: &[u8], buf: &mut [u8]) {
    let via = [Via::Post, Via::Register, Via::Held][usize::from(via % 3)];
    let answer = hall.request(now, IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9)), via, body);
    if !answer.is_empty() {
        let mut sink = Slice::new(buf);
        hall.write_answer(&answer, &mut sink).unwrap();
        serde_json::from_slice::<serde_json::Value>(sink.written()).unwrap();
    }
}

fn reply(hall: &mut Hall<4, 2, 6, 16>, now: Now, player: u8, status: u16, body: &[u8]) {
    let player = u16::from(player % 4);
    if let Some(call) = hall.call(player).map(|call| call.id) {
        hall.handle(now, Event::Reply { player, call, status, body });
    }
}
