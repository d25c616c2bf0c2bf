//! The players of a simulation: one per kind of trouble a classroom has. An agent hears the text of a call and says
//! what it does about it, and when; carrying that out is left to the [`World`](super::World).

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Map, Value, json};

use super::random::Random;

/// How an agent speaks league.v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Named methods, flat parameters.
    Canonical,
    /// The message type is the method.
    MessageType,
    /// `handle_message`, the message nested in the parameters.
    Nested,
    /// MCP's `tools/call`.
    McpTools,
    /// No JSON-RPC at all.
    Bare,
}

impl Dialect {
    const ALL: [Dialect; 5] =
        [Dialect::Canonical, Dialect::MessageType, Dialect::Nested, Dialect::McpTools, Dialect::Bare];

    /// Any of the five.
    pub fn any(random: &mut Random) -> Self {
        Self::ALL[random.any() as usize % Self::ALL.len()]
    }

    /// Wraps a message to the box.
    pub fn wrap(self, method: &str, id: u64, message: Value) -> Value {
        match self {
            Dialect::Canonical => json!({"jsonrpc":"2.0","method":method,"params":message,"id":id}),
            Dialect::MessageType => {
                json!({"jsonrpc":"2.0","method":message["message_type"],"params":message,"id":id})
            }
            Dialect::Nested => {
                json!({"jsonrpc":"2.0","method":"handle_message","params":{"message":message},"id":id})
            }
            Dialect::McpTools => {
                json!({"jsonrpc":"2.0","method":"tools/call","params":{"name":method,"arguments":message},"id":id})
            }
            Dialect::Bare => message,
        }
    }

    /// Wraps the reply to a call of the box.
    fn wrap_reply(self, id: &Value, message: Value) -> Value {
        match self {
            Dialect::McpTools => {
                json!({"jsonrpc":"2.0","result":{"content":[{"type":"text","text":message.to_string()}]},"id":id})
            }
            Dialect::Bare => message,
            _ => json!({"jsonrpc":"2.0","result":message,"id":id}),
        }
    }

    /// Takes the message out of the box's answer.
    pub fn unwrap_answer(self, answer: &Value) -> Value {
        match self {
            Dialect::McpTools => answer["result"]["content"][0]["text"]
                .as_str()
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default(),
            Dialect::Bare => answer.clone(),
            _ => answer["result"].clone(),
        }
    }

    /// Takes a call of the box apart, whatever it is wrapped in: the dialect, the method or tool, and the message.
    pub fn unwrap_call(call: &Value) -> (Dialect, &str, &Map<String, Value>) {
        let method = call["method"].as_str().unwrap_or_default();
        let (dialect, name, message) = if call["jsonrpc"].is_null() {
            (Dialect::Bare, "", call)
        } else if method == "tools/call" {
            (Dialect::McpTools, call["params"]["name"].as_str().unwrap_or_default(), &call["params"]["arguments"])
        } else if call["params"]["message"].is_object() {
            (Dialect::Nested, method, &call["params"]["message"])
        } else if method.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            (Dialect::MessageType, method, &call["params"])
        } else {
            (Dialect::Canonical, method, &call["params"])
        };
        (dialect, name, message.as_object().expect("a call carries a message"))
    }
}

/// The names by which agents that do not follow the specification want to be called.
const OTHER_NAMES: &[&str] = &[
    "game_invitation",
    "parity_choose",
    "notify_game_over",
    "round_announcement",
    "round_completed",
    "league_completed",
    "league_standings_update",
    "request_move",
    "notify_move_validation",
    "notify_game_error",
];

/// The character of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// Answers everything by the book.
    Honest,
    /// Takes note of the call and sends the answer as a message of its own.
    SendsItsOwn,
    /// Answers, and sends the same answer again as a message of its own.
    AnswersTwice,
    /// Takes calls and never answers.
    Hangs,
    /// Refuses every connection.
    IsDead,
    /// Answers, but after the deadline.
    IsSlow,
    /// Never comes to play.
    Declines,
    /// Answers with wrong ids, tokens, types and choices.
    Lies,
    /// Answers with what is no answer at all.
    Babbles,
    /// Its server is up only after a while.
    StartsLate(u64),
    /// Hangs for a while and comes back.
    Faints(u64, u64),
    /// Answers by the book until it leaves the league.
    Leaves(u64),
    /// Loses every other answer on the way.
    Loses,
    /// Answers questions by the book, and news so many milliseconds later, or not at all.
    IgnoresNews(Option<u64>),
    /// All of the above by turns.
    Moody,
}

impl Conduct {
    /// Half of the class is well-behaved.
    pub fn any(random: &mut Random, horizon: u64) -> Self {
        match random.within(0, 27) {
            0..=9 => Conduct::Honest,
            10 | 11 => Conduct::SendsItsOwn,
            12 | 13 => Conduct::AnswersTwice,
            14 => Conduct::Hangs,
            15 => Conduct::IsDead,
            16 => Conduct::IsSlow,
            17 => Conduct::Declines,
            18 => Conduct::Lies,
            19 => Conduct::Babbles,
            20 => Conduct::StartsLate(random.within(0, 3_000)),
            21 => {
                let from = random.within(0, horizon);
                Conduct::Faints(from, from + random.within(0, 2 * horizon))
            }
            22 => Conduct::Leaves(random.within(0, horizon)),
            23 => Conduct::Loses,
            24 => Conduct::IgnoresNews(None),
            25 => Conduct::IgnoresNews(Some(random.within(1, 12_000))),
            _ => Conduct::Moody,
        }
    }

    /// What it does about this call.
    fn deed(self, now: u64, random: &mut Random) -> Deed {
        match self {
            Conduct::Honest | Conduct::Leaves(_) | Conduct::IgnoresNews(_) => Deed::Answer,
            Conduct::SendsItsOwn => Deed::SendOwn,
            Conduct::AnswersTwice => Deed::AnswerTwice,
            Conduct::Hangs => Deed::Nothing,
            Conduct::IsDead => Deed::Refuse,
            Conduct::IsSlow => Deed::AnswerLate,
            Conduct::Declines => Deed::Decline,
            Conduct::Lies => Deed::Lie,
            Conduct::Babbles => Deed::Babble,
            Conduct::StartsLate(until) if now < until => Deed::Refuse,
            Conduct::Faints(from, until) if (from..until).contains(&now) => Deed::Nothing,
            Conduct::StartsLate(_) | Conduct::Faints(..) => Deed::Answer,
            Conduct::Loses if random.one_in(2) => Deed::Nothing,
            Conduct::Loses => Deed::Answer,
            Conduct::Moody => match random.within(0, 12) {
                0..=4 => Deed::Answer,
                5 => Deed::SendOwn,
                6 => Deed::AnswerTwice,
                7 => Deed::Nothing,
                8 => Deed::Refuse,
                9 => Deed::AnswerLate,
                10 => Deed::Lie,
                11 => Deed::Babble,
                _ => Deed::Decline,
            },
        }
    }
}

/// What an agent does about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Answer,
    SendOwn,
    AnswerTwice,
    Nothing,
    Refuse,
    AnswerLate,
    Decline,
    Lie,
    Babble,
}

/// What comes of it, so many milliseconds later.
#[derive(Clone, Debug)]
pub enum Act {
    /// The call is replied to.
    Reply(u16, Vec<u8>),
    /// The connection is refused or breaks.
    Refuse,
    /// The reply is no HTTP, or too long.
    BreakOff,
    /// The agent calls the box.
    Say(Vec<u8>),
}

/// One player.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its display name.
    pub name: String,
    /// Where it sits in the network.
    pub address: IpAddr,
    /// Its character.
    pub conduct: Conduct,
    /// How it speaks.
    pub dialect: Dialect,
    /// How it registered. Some mislead.
    pub registers_in: Dialect,
    /// Whether it wants to be called by other names than the specification's.
    pub other_names: bool,
    /// How long it takes to answer, in milliseconds.
    pub latency: u64,
    /// The id it asks for, if any.
    pub suggests: Option<u16>,
    /// The id it was given.
    pub id: String,
    /// The token it was given.
    pub token: String,
    /// Whether it has left the league.
    pub has_left: bool,
}

impl Agent {
    /// One of a class of `n`.
    pub fn any(random: &mut Random, index: usize, conduct: Conduct, latency: u64) -> Self {
        let dialect = if random.one_in(2) { Dialect::Canonical } else { Dialect::any(random) };
        let misleads = conduct != Conduct::Honest && random.one_in(8);
        let other_names = dialect == Dialect::Canonical && conduct != Conduct::Honest && random.one_in(4);
        let name = random.pick(&["Ada", "סוכן", "Agent 🎲", "\"quoted\" \\ name", "wide\u{a0}name"]);
        Self {
            name: format!("{name} {index}"),
            address: IpAddr::V4(Ipv4Addr::new(10, 0, (index / 250) as u8, (index % 250) as u8 + 1)),
            conduct,
            dialect,
            registers_in: if misleads { Dialect::any(random) } else { dialect },
            other_names,
            latency,
            suggests: random.one_in(4).then(|| random.within(1, 99) as u16),
            id: String::new(),
            token: String::new(),
            has_left: false,
        }
    }

    /// Whether it keeps every rule: its report must stay empty.
    pub fn is_flawless(&self) -> bool {
        self.conduct == Conduct::Honest
    }

    /// Whether it answers every question validly and in time, in whatever way: it must never lose for a technical reason.
    pub fn is_sound(&self) -> bool {
        matches!(self.conduct, Conduct::Honest | Conduct::SendsItsOwn | Conduct::AnswersTwice | Conduct::IgnoresNews(_))
    }

    /// Its registration.
    pub fn registration(&self, game: &str) -> Value {
        let sender = match self.suggests {
            Some(number) => format!("player:P{number:02}"),
            None => format!("player:{}", self.name),
        };
        let message = json!({"protocol":"league.v2","message_type":"LEAGUE_REGISTER_REQUEST","sender":sender,
            "timestamp":"2025-01-15T10:05:00Z","conversation_id":"conv_register","player_meta":{
            "display_name":self.name,"version":"1.0.0","game_types":[game],
            "contact_endpoint":format!("http://{}:8101/mcp", self.address)}});
        self.registers_in.wrap("register_player", 1, message)
    }

    /// A message of its own, flawless but for what the caller changes.
    pub fn message(&self, message_type: &str, more: Value) -> Value {
        let mut message = json!({"protocol":"league.v2","message_type":message_type,
            "sender":format!("player:{}", self.id),"timestamp":"2025-01-15T10:15:01Z","conversation_id":"conv_own",
            "auth_token":self.token,"player_id":self.id});
        merge(&mut message, more);
        message
    }

    /// Hears a call and says what comes of it, and when. It may make these `moves`.
    pub fn hear(&self, now: u64, call: &Value, moves: &[Value], patience: u64, random: &mut Random) -> Vec<(u64, Act)> {
        let deed = self.conduct.deed(now, random);
        let (spoken, name, message) = Dialect::unwrap_call(call);
        let reply = |body: Value| Act::Reply(200, body.to_string().into_bytes());
        match deed {
            Deed::Nothing => return vec![],
            Deed::Refuse => return vec![(self.latency, Act::Refuse)],
            Deed::Babble => return vec![(self.latency, babble(random))],
            _ => {}
        }
        if !self.understands(spoken, name) {
            let shrug = if self.dialect == Dialect::Bare {
                json!({"status":"ok"})
            } else {
                json!({"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":call["id"]})
            };
            return vec![(self.latency, reply(shrug))];
        }
        let Some((method, mut answer)) = self.answer(message, moves, deed == Deed::Decline, random) else {
            let thanks = self.dialect.wrap_reply(&call["id"], json!({"status":"ok"}));
            return match self.conduct {
                Conduct::IgnoresNews(None) => vec![],
                Conduct::IgnoresNews(Some(late)) => vec![(self.latency + late, reply(thanks))],
                _ => vec![(self.latency, reply(thanks))],
            };
        };
        if deed == Deed::Lie {
            lie(&mut answer, random);
        }
        let own_id = random.within(0, 99);
        let own = |answer: Value| Act::Say(self.dialect.wrap(method, own_id, answer).to_string().into_bytes());
        let full = |answer: Value| self.dialect.wrap_reply(&call["id"], answer);
        let later = self.latency + random.within(0, self.latency);
        match deed {
            Deed::SendOwn => {
                vec![(self.latency, own(answer)), (later, reply(full(json!({"status":"received"}))))]
            }
            Deed::AnswerTwice => vec![(self.latency, reply(full(answer.clone()))), (later, own(answer))],
            Deed::AnswerLate => vec![(patience + random.within(0, patience), reply(full(answer)))],
            Deed::Lie if random.one_in(4) => vec![(self.latency, own(answer))],
            Deed::Lie => {
                let status = *random.pick(&[&200, &200, &422, &500]);
                vec![(self.latency, Act::Reply(status, full(answer).to_string().into()))]
            }
            _ => vec![(self.latency, reply(full(answer)))],
        }
    }

    /// Whether it would know what a call in this dialect, by this name, is about.
    pub fn understands(&self, spoken: Dialect, name: &str) -> bool {
        spoken == self.dialect && (!self.other_names || OTHER_NAMES.contains(&name))
    }

    /// The flawless answer to a question, and the method to send it by; `None` where nothing is asked.
    fn answer(
        &self,
        message: &Map<String, Value>,
        moves: &[Value],
        declines: bool,
        random: &mut Random,
    ) -> Option<(&'static str, Value)> {
        let (method, name, more) = match message["message_type"].as_str()? {
            "GAME_INVITATION" => ("game_join_ack", "GAME_JOIN_ACK", json!({"accept":!declines})),
            "CHOOSE_PARITY_CALL" => {
                let choice = random.pick(&["even", "odd"]);
                ("choose_parity_response", "CHOOSE_PARITY_RESPONSE", json!({"parity_choice":choice}))
            }
            "MOVE_REQUEST" => {
                let played = match (message["game_type"].as_str(), moves.len()) {
                    // What is listed first hardly ever brings two dancers together.
                    (Some("dance-battle"), _) => self.plan(message, random),
                    // The question may be about a match that is over by now.
                    (_, 0) => Value::Null,
                    (_, listed) => moves[random.any() as usize % listed].clone(),
                };
                ("move_response", "MOVE_RESPONSE", json!({"move":played}))
            }
            _ => return None,
        };
        let mut answer = self.message(name, more);
        answer["conversation_id"] = message["conversation_id"].clone();
        answer["match_id"] = message["match_id"].clone();
        Some((method, answer))
    }

    /// Some plan for a round of dance-battle. Every other step goes to the middle, so that they meet.
    fn plan(&self, message: &Map<String, Value>, random: &mut Random) -> Value {
        let dancers = message["game_state"]["game_specific_state"]["publicState"]["agents"].as_array();
        let me = dancers.and_then(|dancers| dancers.iter().find(|dancer| dancer["agentId"] == *self.id));
        let side = |name: &str| me.and_then(|me| me[name].as_u64()).expect("a dancer is on the floor").cmp(&8);
        let inwards = match (side("x"), side("y")) {
            (Ordering::Less, _) => "right",
            (Ordering::Greater, _) => "left",
            (_, Ordering::Less) => "down",
            _ => "up",
        };
        let mut step = |beat: u64| {
            let any = random.pick(&["up", "down", "left", "right", "hold", inwards, inwards, inwards, inwards]);
            json!({"beatIndex":beat,"kind":"move","direction":any})
        };
        let steps = [step(0), step(1)];
        let throw = random.pick(&["rock", "paper", "scissors"]);
        json!({"commands":[{"beatIndex":2,"kind":"action","action":throw}, steps[0], steps[1]]})
    }
}

fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// Makes one to three fields of a message wrong.
pub fn lie(message: &mut Value, random: &mut Random) {
    for _ in 0..random.within(1, 3) {
        let field = random.pick(&[
            "auth_token",
            "player_id",
            "match_id",
            "sender",
            "timestamp",
            "conversation_id",
            "message_type",
            "accept",
            "parity_choice",
            "move",
            "choice",
        ]);
        let fields = message.as_object_mut().expect("a message is an object");
        match random.within(0, 9) {
            0 => drop(fields.remove(field)),
            1 => drop(fields.insert(field.into(), Value::Null)),
            2 => drop(fields.insert(field.into(), json!(random.any()))),
            3 => drop(fields.insert(field.into(), json!([[], {"value": {}}]))),
            4 => drop(fields.insert(field.into(), json!({"value": random.pick(&["even", "odd", "both"])}))),
            5 => drop(fields.insert(field.into(), json!("x".repeat(random.within(0, 3000) as usize)))),
            6 => drop(fields.insert(field.into(), json!("\u{0}\u{7f}🎲\\\"\u{2028}"))),
            7 => drop(fields.insert(field.into(), json!(random.pick(&["P01", "R9M9", "maybe", "EVEN", "Odd", ""])))),
            8 => drop(fields.insert(field.into(), json!(random.one_in(2)))),
            _ => drop(fields.insert(field.into(), json!("stolen_p01_00000000000000000000000000000000"))),
        }
    }
}

/// Bytes that are no answer, nor any message.
pub fn gibberish(random: &mut Random) -> Vec<u8> {
    match random.within(0, 9) {
        0 => vec![],
        1 => {
            let n = random.within(0, 600);
            random.bytes(n)
        }
        2 => "[".repeat(random.within(1, 5_000) as usize).into_bytes(),
        3 => format!("{}1{}", "{\"a\":".repeat(17), "}".repeat(17)).into_bytes(),
        4 => json!({"result": "x".repeat(random.within(0, 20_000) as usize)}).to_string().into_bytes(),
        5 => json!({"jsonrpc":"2.0","result":null,"id":random.any()}).to_string().into_bytes(),
        6 => json!({"detail":[{"loc":["body","params"],"msg":"field required"}]}).to_string().into_bytes(),
        7 => json!({"jsonrpc":"2.0","error":{"code":-32000 - random.within(0, 700) as i64},"id":1}).to_string().into(),
        8 => format!("{{\"result\":[{}0]}}", "0,".repeat(5_000)).into_bytes(),
        _ => {
            json!({"result":{"content":[{"text":random.pick(&["{", "[]", "{\"accept\":7}", ""])}]}}).to_string().into()
        }
    }
}

fn babble(random: &mut Random) -> Act {
    if random.one_in(8) {
        return Act::BreakOff;
    }
    Act::Reply(*random.pick(&[&200, &200, &404, &500]), gibberish(random))
}
