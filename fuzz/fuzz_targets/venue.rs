//! Whatever agents send and players answer: the venue stands, and everything it says is JSON.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};

use arbitrary::Arbitrary;
use protocol_core::fair::Seed;
use protocol_core::games::GameKind;
use protocol_core::json::Slice;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Failure, Mode, Space, Venue, Via};

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
    let mut space = Space::<4, 2, 6, 16, 2048, 1024>::new();
    let mut venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
    let mut now = Now { ms: 0, utc: Utc(0) };
    let mut buf = vec![0; 1 << 16];
    for step in steps {
        match step {
            Step::Request { via, body } => request(&mut venue, now, via, body, &mut buf),
            Step::Register { name, rest } => {
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"register_player","params":{{{rest}"player_meta":{{
                    "display_name":"{name}","contact_endpoint":"http://localhost:80{name:02}/mcp"}}}}}}"#
                );
                request(&mut venue, now, 0, body.as_bytes(), &mut buf);
            }
            Step::Reply { player, status, body } => reply(&mut venue, now, player, status, body),
            Step::Honest { player } => {
                let body = br#"{"jsonrpc":"2.0","id":1,"result":{"accept":true,"parity_choice":"even","move":"odd"}}"#;
                reply(&mut venue, now, player, 200, body);
            }
            Step::Failed { player, unreadable } => {
                let player = u16::from(player % 4);
                let failure = if unreadable { Failure::Unreadable } else { Failure::Unreachable };
                if let Some(call) = venue.call(player).map(|call| call.id) {
                    venue.handle(now, Event::Failed { player, call, failure });
                }
            }
            Step::Wait(ms) => {
                now = Now { ms: now.ms + u64::from(ms), utc: now.utc_at(now.ms + u64::from(ms)) };
                venue.handle(now, Event::Tick);
            }
            Step::Command(command) => {
                let commands =
                    [Command::Start, Command::Pause, Command::Resume, Command::Rematch, Command::Reset, Command::Start];
                let _ = venue.command(now, commands[usize::from(command) % commands.len()]);
            }
        }
        assert!(venue.next_deadline().is_none_or(|at| at > now.ms));
        while venue.poll_output().is_some() {}
        for player in 0..venue.players().len() as u16 {
            if venue.call(player).is_some() {
                let mut sink = Slice::new(&mut buf);
                // A question that was settled by other means is not said again.
                if venue.write_call(player, &mut sink).is_ok() {
                    serde_json::from_slice::<serde_json::Value>(sink.written()).unwrap();
                }
            }
        }
    }
});

fn request(venue: &mut Venue<'_>, now: Now, via: u8, body: &[u8], buf: &mut [u8]) {
    let via = [Via::Post, Via::Register, Via::Held][usize::from(via % 3)];
    let answer = venue.request(now, IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9)), via, body);
    if !answer.is_empty() {
        let mut sink = Slice::new(buf);
        venue.write_answer(&answer, &mut sink).unwrap();
        serde_json::from_slice::<serde_json::Value>(sink.written()).unwrap();
    }
}

fn reply(venue: &mut Venue<'_>, now: Now, player: u8, status: u16, body: &[u8]) {
    let player = u16::from(player % 4);
    if let Some(call) = venue.call(player).map(|call| call.id) {
        venue.handle(now, Event::Reply { player, call, status, body });
    }
}
