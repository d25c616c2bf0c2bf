//! Two families of public agents that need more than the five dialects, each as a stand-in that plays a whole league.

use host_tests::crowd::Crowd;
use host_tests::device::DEVICE;
use host_tests::http;
use host_tests::leaguebox::LeagueBox;
use host_tests::results;
use host_tests::settings::Settings;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What a stand-in was told, and says to a call.
type Answer = Box<dyn Fn(&Value) -> Value + Send + Sync>;

/// A server of one agent. It lives as long as the test's process.
struct Stranger {
    port: u16,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Stranger {
    fn new() -> (Stranger, TcpListener) {
        let listener = TcpListener::bind((DEVICE.players_listen(), 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        (Stranger { port, heard: Arc::default() }, listener)
    }

    fn serve(&self, listener: TcpListener, answer: Answer) {
        let (heard, answer) = (self.heard.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, answer) = (heard.clone(), answer.clone());
                thread::spawn(move || converse(stream, &heard, &answer));
            }
        });
    }

    fn heard(&self) -> Vec<Value> {
        self.heard.lock().expect("no panic while held").clone()
    }
}

/// One call a connection, as plain servers of students do.
fn converse(stream: TcpStream, heard: &Mutex<Vec<Value>>, answer: &Answer) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).ok()? > 2 {
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let call: Value = serde_json::from_slice(&body).ok()?;
    heard.lock().expect("no panic while held").push(call.clone());
    let reply = answer(&call).to_string();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", reply.len());
    { &stream }.write_all((head + &reply).as_bytes()).ok()
}

fn error(call: &Value) -> Value {
    json!({"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": call["id"]})
}

fn result(call: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "result": result, "id": call["id"]})
}

fn assert_nobody_lost_technically(leaguebox: &LeagueBox, matches: usize) {
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), matches);
    let log = || leaguebox.get("/api/log.jsonl").body;
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}\n{}", log());
}

/// It registers by message type with a UUID, reads no status but REGISTERED, acknowledges an invitation with a receipt, and
/// posts its GAME_JOIN_ACK to port 8001, without a token.
fn referee_seeker(leaguebox: &LeagueBox, name: &str) -> Stranger {
    let (stranger, listener) = Stranger::new();
    let params = json!({
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": format!("player:{name}"),
        "timestamp": "2026-11-17T08:37:00Z", "conversation_id": "conv_1", "player_meta": {
            "display_name": name, "version": "1.0.0", "protocol_version": "2.1.0", "game_types": ["even_odd"],
            "contact_endpoint": format!("http://localhost:{}/mcp", stranger.port)},
    });
    let uuid = "0b7c4a4e-1d9e-4b57-9a6e-0d5f7a1c2b3d";
    let referee = SocketAddr::new(leaguebox.address.ip(), 8001);
    let me: Arc<Mutex<Option<String>>> = Arc::default();
    let known = me.clone();
    let answer = move |call: &Value| {
        let message = &call["params"];
        let own_id = || known.lock().expect("no panic while held").clone();
        match call["method"].as_str() {
            Some("GAME_INVITATION") => {
                let ack = json!({
                    "protocol": "league.v2", "message_type": "GAME_JOIN_ACK", "sender": own_id(),
                    "player_id": own_id(), "match_id": message["match_id"], "accept": true,
                    "conversation_id": message["conversation_id"], "timestamp": "2026-11-17T08:37:00Z",
                });
                let own = json!({"jsonrpc": "2.0", "method": "GAME_JOIN_ACK", "params": ack, "id": uuid});
                let sent =
                    http::request(referee, "POST", "/mcp", "Content-Type: application/json\r\n", &own.to_string());
                result(call, json!({"status": if sent.is_ok() { "acknowledged" } else { "nobody at 8001" }}))
            }
            Some("CHOOSE_PARITY_CALL") => result(call, json!({"parity_choice": "even"})),
            Some(method) if method.chars().all(|c| c.is_ascii_uppercase() || c == '_') => {
                result(call, json!({"status": "received"}))
            }
            _ => error(call),
        }
    };
    stranger.serve(listener, Box::new(answer));
    let call = json!({"jsonrpc": "2.0", "method": "LEAGUE_REGISTER_REQUEST", "params": params, "id": uuid});
    // It knows who it is before it can be called: the league has not begun.
    let answer = leaguebox.post("/mcp", &call.to_string()).json();
    assert_eq!((&answer["result"]["status"], &answer["id"]), (&json!("REGISTERED"), &json!(uuid)), "{answer}");
    *me.lock().expect("no panic while held") = answer["result"]["player_id"].as_str().map(str::to_owned);
    stranger
}

#[test]
#[cfg_attr(feature = "board", ignore = "a board listens at 80 and 8000 only")]
fn agents_that_look_for_a_referee_at_port_8001_find_the_box_there() {
    // Every loopback address has its own ports.
    let leaguebox = LeagueBox::start_at("127.81.0.1:8000".parse().expect("an address"), Settings::default());
    let strangers = ["Ada", "Bob"].map(|name| referee_seeker(&leaguebox, name));
    assert_eq!(leaguebox.admin("start").status, 200);
    leaguebox.wait_for_the_champion();
    assert_nobody_lost_technically(&leaguebox, 1);
    for stranger in strangers {
        assert!(stranger.heard().iter().any(|call| call["method"] == "CHOOSE_PARITY_CALL"));
    }
}

#[test]
#[cfg_attr(feature = "board", ignore = "a board listens at 80 and 8000 only")]
fn a_box_at_port_8000_starts_although_8001_is_taken_and_one_elsewhere_takes_no_second_port() {
    let _other = TcpListener::bind("127.81.0.2:8001").expect("a free port");
    let leaguebox = LeagueBox::start_at("127.81.0.2:8000".parse().expect("an address"), Settings::default());
    assert_eq!(leaguebox.get("/health").status, 200);
    let _elsewhere = LeagueBox::start_at("127.81.0.3:8010".parse().expect("an address"), Settings::default());
    assert!(TcpListener::bind("127.81.0.3:8001").is_ok() && TcpListener::bind("127.81.0.3:8011").is_ok());
}

/// It registers by an MCP tool with `endpoint`, and knows no method but `protocol/message`.
fn mcp_client(leaguebox: &LeagueBox, name: &str) -> Stranger {
    let (stranger, listener) = Stranger::new();
    let answer = |call: &Value| {
        if call["method"] != "protocol/message" {
            return error(call);
        }
        let message = &call["params"]["message"];
        match message["message_type"].as_str() {
            Some("GAME_INVITE") if message["game_id"].is_string() => {
                result(call, json!({"accepted": true, "game_id": message["game_id"]}))
            }
            Some("GAME_INVITE" | "GAME_INVITATION") => error(call),
            Some("CHOOSE_PARITY_CALL") => result(call, json!({"parity_choice": "odd"})),
            _ => result(call, json!({"status": "ok"})),
        }
    };
    stranger.serve(listener, Box::new(answer));
    let arguments = json!({
        "display_name": name, "version": "1.0.0", "game_types": ["even_odd"],
        "endpoint": format!("http://{}:{}/mcp", leaguebox.home(), stranger.port),
    });
    let params = json!({"name": "register_player", "arguments": arguments});
    let answer = leaguebox.rpc("tools/call", params)["result"].take();
    let text = answer["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON")["status"], "ACCEPTED", "{answer}");
    stranger
}

#[test]
fn mcp_clients_with_an_endpoint_are_called_by_protocol_message_and_play_a_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(3));
    let strangers = ["Ada", "Bob"].map(|name| mcp_client(&leaguebox, name));
    let crowd = Crowd::of(&leaguebox, 1);
    crowd.wait_for_the_end();
    leaguebox.wait_for_the_champion();
    assert_nobody_lost_technically(&leaguebox, 3);
    for stranger in strangers {
        let heard = stranger.heard();
        assert!(heard.iter().all(|call| call["method"] == "protocol/message"), "no other way is tried: {heard:?}");
        let types = heard.iter().map(|call| call["params"]["message"]["message_type"].as_str().unwrap_or_default());
        assert_eq!(types.filter(|kind| *kind == "GAME_INVITE").count(), 2);
    }
}
