//! Whatever language models send, in any order: the venue stands, every answer is JSON, says the same as text, and every move that was
//! offered is taken.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};

use arbitrary::Arbitrary;
use protocol_core::fair::Seed;
use protocol_core::json::{Full, Sink, Slice};
use protocol_core::protocols::mcp::{Asking, Form, Frame, Headers, Seen, Told, Want, read};
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Space, Venue};
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// Anything at all.
    Any {
        version: Option<&'a str>,
        method: Option<&'a str>,
        name: Option<&'a str>,
        body: &'a [u8],
    },
    /// A tool with any arguments.
    Call {
        tool: &'a str,
        arguments: &'a str,
    },
    Join(u8),
    /// A player asks for its turn, and plays a move that it was offered or what else it has in mind.
    Turn {
        player: u8,
        wanted: Option<&'a str>,
        number: u8,
    },
    Table {
        player: u8,
        game: u8,
    },
    Leave(u8),
    Wait(u16),
    Start,
}

const FROM: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// What is written, as JSON.
fn written(write: impl FnOnce(&mut dyn Sink) -> Result<(), Full>) -> Value {
    let mut buf = vec![0; 256 * 1024];
    let mut sink = Slice::new(&mut buf);
    write(&mut sink).expect("an answer fits");
    serde_json::from_slice(sink.written()).expect("an answer is JSON")
}

struct Scene<'m> {
    venue: Venue<'m>,
    now: Now,
}

impl Scene<'_> {
    /// Hears a message; the result of a tool, if one was called.
    fn hear(&mut self, headers: Headers<'_>, body: &[u8]) -> Option<Value> {
        let asking = read(headers, body)?;
        if let Some(status) = Seen::status(&asking) {
            if status != 202 {
                written(|sink| Seen::write(&asking, sink));
            }
            return None;
        }
        let Want::Call(call) = asking.want else {
            // What the appliance has a text for.
            frame(&asking, Form::List, "{\"x\":\"\\\"\\n\"}");
            return None;
        };
        match self.venue.call_mcp(self.now, FROM, call) {
            Told::Refused(rule) => {
                assert!(!rule.is_empty());
                frame(&asking, Form::Refusal, rule);
                None
            }
            told => {
                let frame = Frame::new(&asking, Form::Tool);
                let answer = written(|sink| frame.write(&|sink| self.venue.write_mcp(&told, sink), sink));
                let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
                let same: Value = serde_json::from_str(text).expect("the text is JSON");
                assert_eq!(same, answer["result"]["structuredContent"]);
                Some(same)
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Option<Value> {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        self.hear(Headers::default(), body.as_bytes())
    }
}

fn frame(asking: &Asking<'_>, form: Form<'_>, text: &str) {
    written(|sink| Frame::new(asking, form).write(&|sink| sink.put(text.as_bytes()), sink));
}

libfuzzer_sys::fuzz_target!(|steps: Vec<Step<'_>>| {
    let mut space = Box::new(Space::<6, 3, 16, 32, 2048, 2048>::new());
    let config = Config { per_address: Some(6), ..Config::default() };
    let venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
    let mut scene = Scene { venue, now: Now { ms: 0, utc: Utc(1_736_937_000) } };
    let mut tokens: Vec<Value> = Vec::new();
    for step in steps.into_iter().take(200) {
        let token = |player: u8| tokens.get(usize::from(player) % tokens.len().max(1)).cloned().unwrap_or_default();
        match step {
            Step::Any { version, method, name, body } => {
                scene.hear(Headers { version, method, name }, body);
            }
            Step::Call { tool, arguments } => {
                let arguments = serde_json::from_str(arguments).unwrap_or_default();
                scene.call(tool, &arguments);
            }
            Step::Join(number) => {
                if let Some(joined) = scene.call("join_league", &json!({"name": format!("Agent {number}")})) {
                    tokens.push(joined["token"].clone());
                }
            }
            Step::Turn { player, wanted, number } => {
                let token = token(player);
                let Some(turn) = scene.call("next_turn", &json!({"token": token})) else { continue };
                let moves = turn["legal_moves"].as_array().cloned().unwrap_or_default();
                let offered = moves.get(usize::from(number) % moves.len().max(1)).filter(|_| wanted.is_none());
                let own = || wanted.and_then(|wanted| serde_json::from_str(wanted).ok()).unwrap_or_default();
                let made = offered.cloned().unwrap_or_else(own);
                let played = scene.call("play", &json!({"token": token, "match_id": turn["match_id"], "move": made}));
                assert!(played.is_some() || offered.is_none(), "a move that was offered is taken: {made}");
            }
            Step::Table { player, game } => {
                let games = protocol_core::games::GameKind::ALL;
                let game = games[usize::from(game) % games.len()].rules().name;
                scene.call("open_table", &json!({"token": token(player), "game": game}));
            }
            Step::Leave(player) => {
                scene.call("leave", &json!({"token": token(player)}));
            }
            Step::Wait(ms) => {
                let ms = scene.now.ms + u64::from(ms) * 10;
                scene.now = Now { ms, utc: scene.now.utc_at(ms) };
                scene.venue.handle(scene.now, Event::Tick);
            }
            Step::Start => {
                let _ = scene.venue.command(scene.now, Command::Start);
            }
        }
        while scene.venue.poll_output().is_some() {}
    }
});
