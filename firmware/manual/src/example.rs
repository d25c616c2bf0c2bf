//! Example games, played in the real venue by players that do as their script says. What the venue said to the first of them,
//! and what that answered, is what the pages show.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;

use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, Illegal, MoveSink, Question, Seat};
use protocol_core::json::{self, Full, Sink, parse};
use protocol_core::protocols::league_of_agents::games;
use protocol_core::protocols::league_of_agents::{Cursor, Reply, Word};
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Mode, Space, Table, Venue, Via};

use crate::fragment::Attempt;

/// Who plays, by line.
const NAMES: [&str; 4] = ["Grace", "Ada", "Alan", "Edsger"];

/// The one whose messages are shown has the first seat.
const SHOWN: Seat = 0;

/// So many of its first messages are kept, and later ones where they tell of something new.
const KEPT: usize = 40;

/// Of a message that is not shown, enough is written to answer it.
const GLANCE: usize = 2_000;

/// A message that was said, and what the player answered, if more than that it has heard.
pub struct Said {
    /// Its name in the protocol.
    pub kind: String,
    pub text: String,
    pub answer: Option<String>,
}

/// What was said in an example.
pub struct Example {
    /// How the player registered, and what the box answered.
    pub registered: [String; 2],
    pub said: Vec<Said>,
}

impl Example {
    /// The first message of a kind; of a question or a state the first after a turn, so that there is something to see.
    pub fn first(&self, kind: &str) -> Option<&Said> {
        let is_first = |said: &&Said| said.text.contains("\"turn_number\":1,") || said.text.contains("\"round\":1,");
        let mut all = self.said.iter().filter(|said| said.kind == kind);
        match kind {
            // The first answer to it is wrong.
            "CHOOSE_PARITY_CALL" => all.next_back(),
            "MOVE_REQUEST" => all.clone().skip(1).find(|said| !is_first(said)).or_else(|| all.next_back()),
            "game_state" => all.clone().find(|said| !is_first(said)).or_else(|| all.next()),
            _ => all.next(),
        }
    }
}

struct Room {
    venue: Venue<'static>,
    now: Now,
    /// By seat.
    scripts: Vec<Script>,
}

impl Room {
    fn of(kind: GameKind, script: &[Attempt<'_>]) -> Room {
        let config = Config {
            game: kind,
            mode: Mode::Strict,
            endpoint: "http://192.168.1.10:8000/mcp".try_into().expect("it is short"),
            ..Config::default()
        };
        let space = Box::leak(Box::new(Space::<4, 2, 6, 64, 4096, 16_384>::new()));
        let venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
        let seats = *kind.rules().seats.start();
        // 2026-11-16T10:20:00Z
        let now = Now { ms: 0, utc: Utc(1_794_824_400) };
        Room { venue, now, scripts: (0..seats).map(|seat| Script::of(seat, script)).collect() }
    }

    fn wait(&mut self, seconds: u32) {
        self.now = Now { ms: self.now.ms + u64::from(seconds) * 1000, utc: Utc(self.now.utc.0 + seconds) };
    }

    /// Where an audience votes it takes its time. False where none does.
    fn let_vote(&mut self) -> bool {
        let left = self.venue.tables().find_map(|table| table.play.vote_left(self.now.ms));
        if let Some(left) = left {
            self.wait(left / 1000 + 1);
            self.venue.handle(self.now, Event::Tick);
        }
        left.is_some()
    }

    /// Answers a message of an agent over league.v2.
    fn answer(&mut self, host: u8, request: &str) -> String {
        let from = IpAddr::V4(Ipv4Addr::new(192, 168, 1, host));
        let answer = self.venue.request(self.now, from, Via::Post, request.as_bytes());
        written(|sink| self.venue.write_answer(&answer, sink))
    }

    /// Registers a player over league.v2: what it sends, and what is answered.
    fn register(&mut self, player: usize) -> [String; 2] {
        let (name, host) = (NAMES[player], 23 + player as u8);
        let request = format!(
            r#"{{"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {{"protocol": "league.v2",
            "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:new", "timestamp": "{}",
            "conversation_id": "conv_register", "player_meta": {{"display_name": "{name}", "version": "1.0.0",
            "game_types": ["{}"], "contact_endpoint": "http://192.168.1.{host}:8101/mcp"}}}}}}"#,
            self.now.utc,
            self.venue.config().game.rules().name,
        );
        let answer = self.answer(host, &request);
        [request, answer]
    }

    /// Begins the league; the line of the player whose messages are shown.
    fn start(&mut self) -> usize {
        self.wait(60);
        self.venue.command(self.now, Command::Start).expect("the players are there");
        let table = self.venue.tables().next().expect("a match begins");
        table.players()[usize::from(SHOWN)].into()
    }

    /// What the player of a line does next.
    fn choose(&mut self, line: usize) -> String {
        let seat = |table: &Table| table.players().iter().position(|&other| usize::from(other) == line);
        let (table, seat) = self.venue.tables().find_map(|table| Some((table, seat(table)?))).expect("it plays");
        self.scripts[seat].choose(table.play.game(), seat as Seat)
    }
}

/// What a seat is to do. Where that ends it does something that is allowed.
struct Script {
    wrong: Option<String>,
    moves: Vec<String>,
    made: usize,
}

impl Script {
    fn of(seat: Seat, script: &[Attempt<'_>]) -> Script {
        let own = || script.iter().filter(move |attempt| attempt.seat == seat);
        let text = |attempt: &Attempt<'_>| attempt.wanted.to_string();
        let wrong = own().find(|attempt| attempt.is_refused).filter(|_| seat == SHOWN).map(text);
        Script { wrong, moves: own().filter(|attempt| !attempt.is_refused).map(text).collect(), made: 0 }
    }

    /// The next move. The first one that is shown is wrong, to see what is said to it.
    fn choose(&mut self, game: &AnyGame, seat: Seat) -> String {
        if let Some(wrong) = self.wrong.take() {
            return wrong;
        }
        self.made += 1;
        let written = self.moves.get(self.made - 1).filter(|wanted| judge(game, seat, wanted).is_ok());
        written.cloned().unwrap_or_else(|| some_move(game, seat, self.made))
    }
}

/// What a game says to a move, without making it.
fn judge(game: &AnyGame, seat: Seat, wanted: &str) -> Result<(), Illegal> {
    game.clone().play(seat, value(wanted), &mut Draws::new(Seed([0; 32])))
}

fn value(text: &str) -> json::Value<'_> {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The first moves that a seat is offered.
struct Few(Vec<String>);

impl MoveSink for Few {
    fn take(&mut self, legal: &str) -> ControlFlow<()> {
        self.0.push(legal.to_owned());
        if self.0.len() < 8 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Moves with which a game can begin.
pub fn first_moves(kind: GameKind) -> Vec<String> {
    let game = AnyGame::start(kind, *kind.rules().seats.start(), &mut Draws::new(Seed([1; 32])));
    let mut few = Few(Vec::new());
    game.legal_moves(0, &mut few);
    few.0
}

/// A move that is allowed, another one for another number; not the first, which is to do nothing where there is that.
fn some_move(game: &AnyGame, seat: Seat, number: usize) -> String {
    let mut few = Few(Vec::new());
    game.legal_moves(seat, &mut few);
    let place = 1 + (number * number + number / 7 + usize::from(seat)) % few.0.len().max(2).saturating_sub(1);
    few.0.get(place).or(few.0.first()).expect("who is to move can").clone()
}

/// Takes the beginning of a text.
struct Text {
    text: Vec<u8>,
    room: usize,
}

impl Sink for Text {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.text.extend_from_slice(bytes);
        if self.text.len() <= self.room { Ok(()) } else { Err(Full) }
    }
}

/// A whole text.
fn written(write: impl FnOnce(&mut dyn Sink) -> Result<(), Full>) -> String {
    let mut sink = Text { text: Vec::new(), room: usize::MAX };
    write(&mut sink).expect("there is something to say");
    String::from_utf8(sink.text).expect("JSON is text")
}

/// A text member, by the first place where there is one of that name.
pub fn member<'a>(text: &'a str, name: &str) -> &'a str {
    let rest = text.split_once(&format!("\"{name}\":\"")).unwrap_or_else(|| panic!("no {name} in {text}")).1;
    rest.split_once('"').expect("the end of a string").0
}

/// A league of this game over league.v2.
pub fn league_v2(kind: GameKind, script: &[Attempt<'_>]) -> Example {
    let mut room = Room::of(kind, script);
    let mut registered: Vec<_> = (0..room.scripts.len()).map(|player| room.register(player)).collect();
    let shown = room.start();
    let mut said = Vec::new();
    loop {
        while room.venue.poll_output().is_some() {}
        let calls: Vec<_> = (0..).zip(&registered).filter(|(line, _)| room.venue.call(*line).is_some()).collect();
        if calls.is_empty() {
            if room.let_vote() {
                continue;
            }
            break;
        }
        for (player, [_, mine]) in calls {
            let (line, call) = (usize::from(player), room.venue.call(player).expect("it was there").id);
            let is_kept = line == shown && said.len() < KEPT;
            let mut sink = Text { text: Vec::new(), room: if is_kept { usize::MAX } else { GLANCE } };
            // Only a glance fails.
            let _ = room.venue.write_call(player, &mut sink);
            let text = String::from_utf8_lossy(&sink.text).into_owned();
            let kind = member(&text, "message_type").to_string();
            let own = match kind.as_str() {
                "GAME_INVITATION" => {
                    Some(("GAME_JOIN_ACK", format!(r#""accept": true, "arrival_timestamp": "{}""#, room.now.utc)))
                }
                "CHOOSE_PARITY_CALL" => {
                    Some(("CHOOSE_PARITY_RESPONSE", format!(r#""parity_choice": {}"#, room.choose(line))))
                }
                "MOVE_REQUEST" => Some(("MOVE_RESPONSE", format!(r#""move": {}"#, room.choose(line)))),
                _ => None,
            };
            let result = own.as_ref().map(|(message_type, own)| {
                format!(
                    r#"{{"protocol": "league.v2", "message_type": "{message_type}", "sender": "player:{id}",
                    "timestamp": "{}", "conversation_id": "{}", "match_id": "{}", "player_id": "{id}",
                    "auth_token": "{}", {own}}}"#,
                    room.now.utc,
                    member(&text, "conversation_id"),
                    member(&text, "match_id"),
                    member(mine, "auth_token"),
                    id = member(mine, "player_id"),
                )
            });
            let heard = result.as_deref().unwrap_or(r#"{"status": "ok"}"#);
            let body = format!(r#"{{"jsonrpc": "2.0", "result": {heard}, "id": {call}}}"#);
            room.venue.handle(room.now, Event::Reply { player, call, status: 200, body: body.as_bytes() });
            if line == shown && (is_kept || !kind.starts_with("MOVE_")) {
                said.push(Said { kind, text, answer: result.and(Some(body)) });
            }
        }
        room.wait(1);
    }
    assert!(room.venue.is_over(), "the example is played to its end");
    let errors = said.iter().filter(|said| said.kind == "GAME_ERROR").count();
    assert_eq!(errors, 1, "one move of the example is wrong, and the rest keeps every rule");
    Example { registered: registered.swap_remove(shown), said }
}

/// What is answered to messages that are no part of a match, by the names the documents have for them.
pub fn answers(kind: GameKind) -> [(&'static str, String); 5] {
    let mut room = Room::of(kind, &[]);
    let [_, mine] = room.register(0);
    room.register(1);
    let query = |token: &str| {
        format!(
            r#"{{"jsonrpc": "2.0", "method": "league_query", "id": 2, "params": {{"protocol": "league.v2",
            "message_type": "LEAGUE_QUERY", "sender": "player:P01", "timestamp": "{}", "conversation_id": "conv_query",
            "auth_token": "{token}", "query_type": "GET_LEAGUE_STATUS", "query_params": {{}}}}}}"#,
            room.now.utc
        )
    };
    let (asked, wrong) = (query(member(&mine, "auth_token")), query("tok_p01_0"));
    let queried = room.answer(23, &asked);
    let denied = room.answer(23, &wrong);
    let misunderstood = room.answer(23, r#"{"jsonrpc": "2.0", "method": "play_chess", "params": {}, "id": 3}"#);
    room.start();
    let [_, rejected] = room.register(2);
    [
        ("query", asked),
        ("queried", queried),
        ("denied", denied),
        ("misunderstood", misunderstood),
        ("rejected", rejected),
    ]
}

/// An agent's connection.
struct Agent {
    registered: [String; 2],
    issue: u32,
    told: Cursor,
    game: String,
    said: Vec<Said>,
}

impl Agent {
    /// Registers and connects.
    fn new(room: &mut Room, name: &str) -> Agent {
        let request = format!(r#"{{"name": "{name}"}}"#);
        let from = IpAddr::V4(Ipv4Addr::new(192, 168, 1, 23));
        let enrolment = room.venue.enrol(room.now, from, request.as_bytes());
        let answer = written(|sink| room.venue.write_enrolment(enrolment, sink));
        let key = format!(r#"{{"type": "authenticate", "token": "{}"}}"#, member(&answer, "apiKey"));
        let reply = room.venue.hear_arena(room.now, None, key.as_bytes());
        let Reply::Authenticated(issue) = reply else { panic!("{name} has a key") };
        let player = room.venue.line_of(issue).expect("it is registered");
        room.venue.handle(room.now, Event::Arrived { player });
        let (told, game) = (Cursor::default(), String::new());
        let mut agent = Agent { registered: [request, answer], issue, told, game, said: Vec::new() };
        agent.note(room, reply, key);
        agent
    }

    /// Sends a message; whether it was refused.
    fn send(&mut self, room: &mut Room, text: String) -> bool {
        let reply = room.venue.hear_arena(room.now, Some(self.issue), text.as_bytes());
        self.note(room, reply, text);
        matches!(reply, Reply::Refused(..))
    }

    fn note(&mut self, room: &Room, reply: Reply, sent: String) {
        let text = written(|sink| room.venue.write_reply(reply, room.now.utc, sink));
        let kind = if matches!(reply, Reply::Refused(..)) { "refused" } else { member(&text, "type") };
        self.said.push(Said { kind: kind.into(), text, answer: Some(sent) });
    }

    /// Hears all that it is told of its game; whether there was something, and whether it is its move.
    fn listen(&mut self, room: &mut Room) -> (bool, bool) {
        let (mut heard, mut is_asked) = (false, false);
        while let Some(picture) = room.venue.picture_for(room.now, self.issue) {
            let Some(word) = self.told.next(&picture) else { break };
            (heard, is_asked) = (true, is_asked || word == Word::YourTurn);
            // A state may be long, and there may be hundreds.
            let mut sink = Text { text: Vec::new(), room: usize::MAX };
            if (word != Word::State || self.said.len() < KEPT)
                && room.venue.write_word(word, &picture, &mut sink).is_ok()
            {
                let text = String::from_utf8(sink.text).expect("JSON is text");
                if word == Word::Matched {
                    self.game = member(&text, "gameId").into();
                }
                self.said.push(Said { kind: member(&text, "type").into(), text, answer: None });
            }
            room.venue.word_is_told(room.now, self.issue, word);
        }
        (heard, is_asked)
    }
}

/// A league of this game over League of Agents. Where it has a queue, somebody waits in that before.
pub fn league_of_agents(kind: GameKind, script: &[Attempt<'_>]) -> Example {
    let mut room = Room::of(kind, script);
    let mut agents: Vec<Agent> = NAMES[..room.scripts.len()].iter().map(|name| Agent::new(&mut room, name)).collect();
    let queued = games().any(|offered| offered == kind).then(|| {
        let join = format!(r#"{{"type": "join_queue", "gameType": "{}"}}"#, kind.rules().name);
        let agent = agents.first_mut().expect("there are players");
        agent.send(&mut room, join);
        agent.said.pop().expect("an answer")
    });
    let shown = room.start();
    let mut is_quiet = false;
    while !is_quiet {
        is_quiet = true;
        for (line, agent) in agents.iter_mut().enumerate() {
            let (heard, mut is_asked) = agent.listen(&mut room);
            is_quiet &= !heard;
            while is_asked {
                let wanted = room.choose(line);
                let wanted = match kind.rules().question {
                    Question::Parity => format!(r#"{{"parity_choice": {wanted}}}"#),
                    Question::Move => wanted,
                };
                let submit = format!(r#"{{"type": "submit_move", "gameId": "{}", "move": {wanted}}}"#, agent.game);
                is_asked = agent.send(&mut room, submit);
                room.wait(1);
            }
        }
        is_quiet &= !room.let_vote();
    }
    let Agent { registered, mut said, .. } = agents.swap_remove(shown);
    said.extend(queued);
    Example { registered, said }
}

/// Every rule the game has words for, with a move that broke it: the script's wrong moves in their places, and after its end
/// all its moves again, wherever the game has come to.
pub fn refusals(kind: GameKind, script: &[Attempt<'_>]) -> Vec<(String, &'static str)> {
    let mut draws = Draws::new(Seed([1; 32]));
    let mut game = AnyGame::start(kind, *kind.rules().seats.start(), &mut draws);
    let mut refusals: Vec<(String, &'static str)> = Vec::new();
    let mut note = |wanted: &str, rule| {
        if !refusals.iter().any(|(_, known)| *known == rule) {
            refusals.push((wanted.into(), rule));
        }
    };
    for Attempt { seat, is_refused, wanted } in script {
        match game.play(*seat, value(wanted), &mut draws) {
            Err(Illegal(rule)) if *is_refused => note(wanted, rule),
            played => assert_eq!((played, is_refused), (Ok(()), &false), "{}: {wanted}", kind.rules().name),
        }
    }
    let (mut number, mut last) = (0, vec![String::from("null"); usize::from(game.seats())]);
    while let Some(seat) = game.to_move().iter().next() {
        for Attempt { wanted, .. } in script {
            if let Err(Illegal(rule)) = judge(&game, seat, wanted) {
                note(wanted, rule);
            }
        }
        // Straight on until there is a wall: so they are found.
        let again = &mut last[usize::from(seat)];
        if judge(&game, seat, again).is_err() {
            *again = some_move(&game, seat, number);
        }
        number += 1;
        game.play(seat, value(again), &mut draws).expect("it is allowed");
    }
    refusals
}
