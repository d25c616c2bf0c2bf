//! Whatever agents of MoltGame ask, in any order: the venue stands, every answer is JSON, and every refusal has a code and a hint.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};

use arbitrary::Arbitrary;
use protocol_core::fair::Seed;
use protocol_core::json::{Sink, Slice};
use protocol_core::protocols::moltgame::{Ask, Asking, LogRow, Paged};
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Space, Venue};
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// Anything at all, with whatever key.
    Any {
        key: &'a str,
        path: u8,
        id: &'a str,
        query: &'a str,
        body: &'a [u8],
    },
    Register(u8),
    /// It says something, in its room or to all, and all of it is read.
    Say {
        agent: u8,
        of: Option<u8>,
        text: &'a str,
        query: &'a str,
    },
    /// An agent sits down in a game, or wants to.
    Match {
        agent: u8,
        game: u8,
    },
    Open {
        agent: u8,
        game: u8,
        body: &'a [u8],
    },
    Join {
        agent: u8,
        of: u8,
    },
    Leave(u8),
    Beat(u8),
    /// It plays a move that it was offered, or what else it has in mind.
    Move {
        agent: u8,
        wanted: Option<&'a str>,
        number: u8,
    },
    Wait(u16),
    Start,
}

const FROM: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn asked(path: u8, id: &str) -> Ask<'_> {
    match path % 17 {
        0 => Ask::Register,
        1 => Ask::Me,
        2 => Ask::Agent(id),
        3 => Ask::Games,
        4 => Ask::Open(id),
        5 => Ask::Match(id),
        6 => Ask::Join(id),
        7 => Ask::Leave(id),
        8 => Ask::Room(id),
        9 => Ask::Spectate(id),
        10 => Ask::Heartbeat,
        11 => Ask::Logs(id),
        12 => Ask::Chat(Some(id)),
        13 => Ask::Chat(None),
        14 => Ask::Say(Some(id)),
        15 => Ask::Say(None),
        _ => Ask::Move,
    }
}

struct Hall<'v, 'm> {
    venue: &'v mut Venue<'m>,
    now: Now,
    buf: Vec<u8>,
    keys: Vec<String>,
    rooms: Vec<Value>,
}

impl Hall<'_, '_> {
    fn ask(&mut self, key: Option<&str>, ask: Ask<'_>, body: &[u8]) -> Value {
        self.ask_by(key, ask, "", body)
    }

    fn ask_by(&mut self, key: Option<&str>, ask: Ask<'_>, query: &str, body: &[u8]) -> Value {
        let asking = Asking { ask, from: FROM, authorization: key, query, body, has_time: self.now.ms % 2 == 0 };
        let answer = self.venue.ask_moltgame(self.now, asking);
        let mut sink = Slice::new(&mut self.buf);
        if let Some(Paged::Chat(page)) = answer.paged() {
            let mut at = 0;
            while self.venue.write_chat(page, &mut at, &mut sink).expect("messages fit") {}
        } else if let Some(Paged::Logs(page)) = answer.paged() {
            sink.put(b"[0").expect("it fits");
            for row in page.rows(self.venue.log_opening(&page)) {
                sink.put(b",").expect("it fits");
                self.venue.write_log_row(&page, LogRow::Opening(row), &mut sink).expect("a row fits");
            }
            sink.put(b"]").expect("it fits");
        } else {
            self.venue.write_moltgame(&answer, &mut sink).expect("an answer fits");
        }
        let value: Value = serde_json::from_slice(sink.written()).expect("an answer is JSON");
        if answer.status() != 200 {
            assert!(value["error"].is_string() && value["hint"].is_string(), "{value}");
        }
        if let Some(room) = value.get("room_id").filter(|room| room.is_string()) {
            self.rooms.push(room.clone());
        }
        value
    }

    fn by(&mut self, agent: u8, ask: Ask<'_>, body: &[u8]) -> Value {
        let key = self.keys.get(usize::from(agent) % self.keys.len().max(1)).cloned().unwrap_or_default();
        self.ask(Some(&format!("Bearer {key}")), ask, body)
    }
}

libfuzzer_sys::fuzz_target!(|steps: Vec<Step<'_>>| {
    let config = Config { per_address: Some(6), ..Config::default() };
    let mut space = Space::<6, 3, 15, 16, 2048, 1024>::new();
    let mut venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
    let now = Now { ms: 0, utc: Utc(1_736_937_000) };
    let mut hall = Hall { venue: &mut venue, now, buf: vec![0; 1 << 17], keys: Vec::new(), rooms: Vec::new() };
    for step in steps {
        match step {
            Step::Any { key, path, id, query, body } => {
                hall.ask_by(Some(key), asked(path, id), query, body);
            }
            Step::Say { agent, of, text, query } => {
                let room = of.and_then(|of| hall.rooms.get(usize::from(of) % hall.rooms.len().max(1)));
                let room = room.and_then(Value::as_str).map(str::to_owned);
                hall.by(agent, Ask::Say(room.as_deref()), json!({"text": text}).to_string().as_bytes());
                hall.ask_by(None, Ask::Chat(room.as_deref()), query, b"");
                room.into_iter().for_each(|room| {
                    hall.ask_by(None, Ask::Logs(&room), query, b"");
                });
            }
            Step::Register(name) => {
                let answer = hall.ask(None, Ask::Register, json!({"name": format!("A{name}")}).to_string().as_bytes());
                hall.keys.extend(answer["agent"]["api_key"].as_str().map(str::to_owned));
            }
            Step::Match { agent, game } => {
                let game = format!("00000000-0000-0000-0000-{:012}", game % 16);
                hall.by(agent, Ask::Match(&game), b"");
            }
            Step::Open { agent, game, body } => {
                let game = format!("00000000-0000-0000-0000-{:012}", game % 16);
                hall.by(agent, Ask::Open(&game), body);
            }
            Step::Join { agent, of } => {
                let room = hall.rooms.get(usize::from(of)).and_then(Value::as_str).unwrap_or_default().to_owned();
                hall.by(agent, Ask::Join(&room), b"");
            }
            Step::Leave(agent) => {
                let room = hall.by(agent, Ask::Me, b"")["room_id"].as_str().unwrap_or_default().to_owned();
                hall.by(agent, Ask::Leave(&room), b"");
            }
            Step::Beat(agent) => {
                hall.by(agent, Ask::Heartbeat, b"{}");
            }
            Step::Move { agent, wanted, number } => {
                let pulse = hall.by(agent, Ask::Heartbeat, b"");
                let legal = pulse["legal_moves"].as_array().filter(|moves| !moves.is_empty());
                let legal = legal.map(|moves| moves[usize::from(number) % moves.len()].clone());
                let is_offered = wanted.is_none() && legal.is_some();
                let wanted = wanted.map(Value::from).or(legal).unwrap_or_default();
                let answer = hall.by(
                    agent,
                    Ask::Move,
                    json!({"room_id": pulse["room_id"], "move": wanted}).to_string().as_bytes(),
                );
                assert!(!is_offered || answer["success"] == true, "{pulse} {answer}");
            }
            Step::Wait(ms) => {
                let ms = hall.now.ms + u64::from(ms);
                hall.now = Now { ms, utc: hall.now.utc_at(ms) };
                hall.venue.handle(hall.now, Event::Tick);
                assert!(hall.venue.next_deadline().is_none_or(|at| at > ms), "no deadline is missed");
            }
            Step::Start => {
                let _ = hall.venue.command(hall.now, Command::Start);
            }
        }
        while hall.venue.poll_output().is_some() {}
    }
});
