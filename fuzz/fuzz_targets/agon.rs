//! Whatever agents of AGON send, in any order and with whatever token: the venue stands, every answer and every event is JSON, and every
//! refusal has a code and words.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};

use arbitrary::Arbitrary;
use protocol_core::fair::Seed;
use protocol_core::journal::bytes::Writer;
use protocol_core::json::{Sink, Slice};
use protocol_core::protocols::agon::{Ask, Asking, Audience, Cursor, Reply, Word};
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Space, Venue};
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// Anything at all, asked with whatever token.
    Ask {
        token: &'a str,
        path: u8,
        id: &'a str,
        body: &'a [u8],
    },
    /// Anything at all, on a connection.
    Any {
        agent: u8,
        message: &'a [u8],
    },
    Register(u8),
    Come(u8),
    Go(u8),
    Sit {
        agent: u8,
        room: u8,
        is_blitz: bool,
    },
    /// Something about a match, its own or that of others.
    Act {
        agent: u8,
        action: u8,
        of: u8,
        text: &'a str,
        number: u16,
    },
    Wait(u32),
    Start,
}

const FROM: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const ROOMS: [&str; 5] = ["chess", "go", "regular_debate", "spicy_debate", "trade_deal"];
const ACTIONS: [&str; 13] = [
    "send_message",
    "leave_match",
    "vote",
    "react",
    "propose_wager",
    "accept_wager",
    "decline_wager",
    "cancel_wager",
    "propose_trade",
    "accept_trade",
    "heartbeat",
    "enter_room",
    "leave_room",
];

fn asked(path: u8, id: &str) -> Ask<'_> {
    match path % 6 {
        0 => Ask::Register,
        1 => Ask::Token,
        2 => Ask::Me,
        3 => Ask::Rooms,
        4 => Ask::Spec(id),
        _ => Ask::Result(id),
    }
}

struct Agent {
    issue: u32,
    id: Value,
    key: String,
    is_there: bool,
    cursor: Cursor,
    audience: Audience,
}

struct Hall<'v, 'm> {
    venue: &'v mut Venue<'m>,
    now: Now,
    buf: Vec<u8>,
    agents: Vec<Agent>,
    matches: Vec<Value>,
}

impl Hall<'_, '_> {
    fn ask(&mut self, bearer: Option<&str>, ask: Ask<'_>, body: &[u8]) -> (u16, Value) {
        let answer = self.venue.ask_agon(self.now, Asking { ask, from: FROM, bearer, body });
        let mut sink = Slice::new(&mut self.buf);
        self.venue.write_agon(answer, 0, &mut sink).expect("an answer fits");
        let value: Value = serde_json::from_slice(sink.written()).expect("an answer is JSON");
        assert_eq!(answer.status() >= 400, value["error"]["code"].is_string(), "{value}");
        (answer.status(), value)
    }

    fn written(&mut self, write: impl Fn(&Venue<'_>, &mut dyn Sink) -> bool) -> Value {
        let mut sink = Slice::new(&mut self.buf);
        assert!(write(self.venue, &mut sink), "an event fits");
        serde_json::from_slice(sink.written()).expect("an event is JSON")
    }

    fn hear(&mut self, agent: usize, message: &[u8]) {
        let Some(Agent { issue, is_there: true, .. }) = self.agents.get(agent) else { return };
        let issue = *issue;
        let reply = self.venue.hear_agon(self.now, issue, message);
        match reply {
            Reply::Nothing => return,
            Reply::Seated(..) => self.agents[agent].cursor.has_sat_down(),
            Reply::LeftRoom(_) => self.agents[agent].cursor.has_stood_up(),
            _ => {}
        }
        let event = self.written(|venue, sink| venue.write_agon_reply(reply, issue, 0, sink).is_ok());
        assert!(!matches!(reply, Reply::Refused(_)) || event["code"].is_string() && event["message"] != "", "{event}");
    }

    fn tell(&mut self, agent: usize) {
        let issue = self.agents[agent].issue;
        while self.agents[agent].is_there
            && let Some(picture) = self.venue.agon_picture(self.now, issue)
            && let Some(word) = self.agents[agent].cursor.next(&picture)
        {
            let event = self.written(|venue, sink| match word {
                Word::Reconnect => venue.write_agon_reconnect(&picture, sink).is_ok(),
                word => venue.write_agon_word(word, &picture, sink).is_ok(),
            });
            if word == Word::Start {
                self.matches.push(event["match_id"].clone());
            }
            self.venue.agon_is_told(self.now, issue, word);
        }
        while self.agents[agent].is_there
            && let Some(aside) = self.venue.agon_aside(self.now, issue, &mut self.agents[agent].audience)
        {
            self.written(|venue, sink| venue.write_agon_aside(aside, sink).is_ok());
        }
    }
}

libfuzzer_sys::fuzz_target!(|steps: Vec<Step<'_>>| {
    let config = Config { per_address: Some(6), ..Config::default() };
    let mut space = Space::<6, 3, 15, 16, 2048, 1024>::new();
    let mut venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
    let now = Now { ms: 0, utc: Utc(1_736_937_000) };
    let mut hall = Hall { venue: &mut venue, now, buf: vec![0; 1 << 17], agents: Vec::new(), matches: Vec::new() };
    for step in steps {
        let of = |agent: u8, hall: &Hall<'_, '_>| usize::from(agent) % hall.agents.len().max(1);
        match step {
            Step::Ask { token, path, id, body } => {
                let (status, _) = hall.ask(Some(token), asked(path, id), body);
                assert!(status >= 400 || path % 6 == 0, "nobody guesses a token");
            }
            Step::Any { agent, message } => hall.hear(of(agent, &hall), message),
            Step::Register(name) => {
                let body = json!({"name": format!("A{name}")}).to_string();
                let (status, told) = hall.ask(None, Ask::Register, body.as_bytes());
                if status == 201 {
                    let key = told["api_key"].as_str().expect("a key").to_owned();
                    let (_, answer) = hall.ask(Some(&key), Ask::Token, b"");
                    let token = answer["token"].as_str().expect("a token");
                    let issue = hall.venue.agon_agent(hall.now, token).expect("it is good");
                    let (cursor, audience) = (Cursor::default(), Audience::default());
                    let id = told["agent_id"].clone();
                    hall.agents.push(Agent { issue, id, key, is_there: false, cursor, audience });
                }
            }
            Step::Come(agent) => {
                let (now, at) = (hall.now, of(agent, &hall));
                if let Some(agent) = hall.agents.get_mut(at)
                    && let Some(player) = hall.venue.line_of(agent.issue)
                {
                    (agent.is_there, agent.cursor, agent.audience) = (true, Cursor::default(), Audience::default());
                    hall.venue.handle(now, Event::Arrived { player });
                    let _ = hall.venue.agon_expired(now, agent.issue);
                }
            }
            Step::Go(agent) => {
                let (now, at) = (hall.now, of(agent, &hall));
                if let Some(agent) = hall.agents.get_mut(at).filter(|agent| agent.is_there)
                    && let Some(player) = hall.venue.line_of(agent.issue)
                {
                    agent.is_there = false;
                    hall.venue.handle(now, Event::Gone { player, why: "it broke" });
                }
            }
            Step::Sit { agent, room, is_blitz } => {
                let room = ROOMS[usize::from(room) % ROOMS.len()];
                let table = if is_blitz { "blitz" } else { "open" };
                let message = json!({"action": "sit_table", "room": room, "table_id": table});
                hall.hear(of(agent, &hall), message.to_string().as_bytes());
            }
            Step::Act { agent, action, of: other, text, number } => {
                let action = ACTIONS[usize::from(action) % ACTIONS.len()];
                let id = hall.matches.get(usize::from(other) % hall.matches.len().max(1)).cloned();
                let whom = hall.agents.get(usize::from(other) % hall.agents.len().max(1)).map(|agent| &agent.id);
                let message = json!({
                    "action": action, "match_id": id, "content": text, "parting_shot": text, "emoji": text, "amount": number,
                    "participant_id": whom, "room": ROOMS[usize::from(other) % ROOMS.len()],
                });
                hall.hear(of(agent, &hall), message.to_string().as_bytes());
            }
            Step::Wait(ms) => {
                let until = hall.now.ms + u64::from(ms % 200_000);
                while let Some(at) = hall.venue.next_deadline().filter(|at| *at <= until) {
                    hall.now = Now { ms: at, utc: hall.now.utc_at(at) };
                    hall.venue.handle(hall.now, Event::Tick);
                    assert!(hall.venue.next_deadline().is_none_or(|next| next > at), "no deadline is missed");
                }
                hall.now = Now { ms: until, utc: hall.now.utc_at(until) };
            }
            Step::Start => {
                let _ = hall.venue.command(hall.now, Command::Start);
            }
        }
        // Whoever keeps the film takes what was said before anybody else speaks.
        let mut film = [0; 1024];
        while hall.venue.has_speeches() {
            hall.venue.take_steps(&mut Writer::new(&mut film));
        }
        (0..hall.agents.len()).for_each(|agent| hall.tell(agent));
        while hall.venue.poll_output().is_some() {}
    }
    // A key is good for as long as its agent is registered.
    for agent in 0..hall.agents.len() {
        let (key, is_in) = (hall.agents[agent].key.clone(), hall.venue.line_of(hall.agents[agent].issue).is_some());
        assert_eq!(hall.ask(Some(&key), Ask::Token, b"").0 == 200, is_in);
    }
});
