//! MCP from outside: both eras, every status and every error, what is listed and what it leads to, players that wait for their turn, a
//! league beside players that are called; and other people's clients, who play whole leagues.

use host_tests::crowd::Crowd;
use host_tests::device::desktop;
use host_tests::http::{self, Response};
use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::settings::Settings;
use host_tests::{here, wait_for};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Command, Stdio};
use std::thread;

const NEW: &str = "2026-07-28";
const OLD: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const JSON: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

/// The two eras, and an old client that sends no header.
const ERAS: [Option<&str>; 3] = [Some(NEW), Some(OLD[0]), None];

/// How many players a box has room for.
const CAPACITY: usize = if cfg!(feature = "board") { 32 } else { 512 };

fn post(leaguebox: &LeagueBox, headers: &str, body: &str) -> Response {
    let headers = format!("{JSON}{headers}");
    // On a board, who comes with many others at the same instant may find nobody listening, and comes again.
    wait_for("an answer", || match http::request(leaguebox.address, "POST", "/mcp", &headers, body) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => None,
        answer => Some(answer.expect("an answer")),
    })
}

fn meta(version: &str) -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}})
}

/// The headers that a message of a revision has.
fn headers(version: Option<&str>, method: &str, params: &Value) -> String {
    let named = if method == "resources/read" { &params["uri"] } else { &params["name"] };
    let name = named.as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    match version {
        Some(NEW) => format!("MCP-Protocol-Version: {NEW}\r\nMcp-Method: {method}\r\n{name}"),
        Some(version) => format!("MCP-Protocol-Version: {version}\r\n"),
        None => String::new(),
    }
}

/// Asks in a revision, with all that it wants to see.
fn ask(leaguebox: &LeagueBox, version: Option<&str>, method: &str, mut params: Value) -> Response {
    if version == Some(NEW) {
        params["_meta"] = meta(NEW);
    }
    let headers = headers(version, method, &params);
    post(leaguebox, &headers, &json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}).to_string())
}

/// The result of what is in order.
fn result(leaguebox: &LeagueBox, version: Option<&str>, method: &str, params: Value) -> Value {
    let response = ask(leaguebox, version, method, params);
    let mut answer = response.json();
    assert_eq!((response.status, &answer["id"]), (200, &json!("q")), "{method}: {response:?}");
    assert_eq!(response.header("Content-Type"), Some("application/json"));
    assert_eq!(answer["result"]["resultType"] == "complete", version == Some(NEW), "{method}: {answer}");
    answer["result"].take()
}

/// Calls a tool in a revision: what it answers, or the words of its refusal.
fn call_in(leaguebox: &LeagueBox, version: Option<&str>, tool: &str, arguments: Value) -> Result<Value, String> {
    let mut result = result(leaguebox, version, "tools/call", json!({"name": tool, "arguments": arguments}));
    let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
    if result["isError"] == true {
        return Err(text);
    }
    let told = result["structuredContent"].take();
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON in the text"), told, "{tool}");
    Ok(told)
}

fn call(leaguebox: &LeagueBox, tool: &str, arguments: Value) -> Value {
    call_in(leaguebox, Some(NEW), tool, arguments).unwrap_or_else(|rule| panic!("{tool}: {rule}"))
}

fn refused(leaguebox: &LeagueBox, tool: &str, arguments: Value) -> String {
    call_in(leaguebox, Some(NEW), tool, arguments).expect_err(tool)
}

fn join(leaguebox: &LeagueBox, name: &str) -> String {
    call(leaguebox, "join_league", json!({"name": name}))["token"].as_str().expect("a token").to_owned()
}

fn turn(leaguebox: &LeagueBox, token: &str, wait: u8) -> Value {
    call(leaguebox, "next_turn", json!({"token": token, "wait_seconds": wait}))
}

/// Plays the first legal move whenever it may, until the league is over: what it is told then.
fn play_to_the_end(leaguebox: &LeagueBox, token: &str) -> Value {
    loop {
        let now = turn(leaguebox, token, 20);
        if now["league_over"] == true {
            return now;
        }
        if now["your_turn"] == true {
            let made = json!({"token": token, "match_id": now["match_id"], "move": now["legal_moves"][0]});
            assert_eq!(call(leaguebox, "play", made)["accepted"], true);
        }
    }
}

#[test]
fn both_eras_say_what_the_box_is() {
    let leaguebox = LeagueBox::start(Settings::default());
    let found = result(&leaguebox, Some(NEW), "server/discover", json!({}));
    assert_eq!(found["supportedVersions"], json!([NEW]));
    assert_eq!(found["capabilities"], json!({"tools": {}, "resources": {}, "prompts": {}}));
    assert!(found["ttlMs"] == 60_000 && found["cacheScope"] == "public" && found["instructions"].is_string());
    for version in OLD {
        let hello =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let response = ask(&leaguebox, None, "initialize", hello);
        assert_eq!(response.header("Mcp-Session-Id"), None);
        assert_eq!(response.json()["result"]["protocolVersion"], version);
        assert_eq!(result(&leaguebox, Some(version), "ping", json!({})), json!({}));
    }
    let later = result(&leaguebox, None, "initialize", json!({"protocolVersion": "2199-12-31"}));
    assert_eq!((&later["protocolVersion"], &later["serverInfo"]["name"]), (&json!(OLD[0]), &json!("LeagueBox")));
    for version in [None, Some(OLD[0]), Some(NEW)] {
        let headers = headers(version, "notifications/initialized", &Value::Null);
        let told = post(&leaguebox, &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!((told.status, told.body.as_str()), (202, ""), "{version:?}");
    }
    for method in ["GET", "DELETE"] {
        let told = http::request(leaguebox.address, method, "/mcp", "Accept: text/event-stream\r\n", "").expect("told");
        assert_eq!((told.status, told.header("Allow")), (405, Some("POST")), "{method}");
    }
    let evil = post(&leaguebox, "Origin: http://evil.example\r\n", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(evil.status, 403, "a page from elsewhere");
}

#[test]
fn every_fault_has_its_code_and_its_status() {
    let leaguebox = LeagueBox::start(Settings::default());
    let message = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
    };
    let full = json!({"_meta": meta(NEW)});
    let named = json!({"_meta": meta(NEW), "name": "get_status"});
    let new = |method: &str, name: &str| {
        format!("MCP-Protocol-Version: {NEW}\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n")
    };
    let old = format!("MCP-Protocol-Version: {}\r\n", OLD[0]);
    let later = "MCP-Protocol-Version: 2030-01-01\r\nMcp-Method: tools/list\r\n".to_owned();
    for (headers, body, status, code) in [
        (new("tools/list", ""), "{".to_owned(), 400, -32700),
        (old.clone(), "{".to_owned(), 400, -32700),
        (new("tools/list", ""), "[]".to_owned(), 400, -32600),
        (new("tools/list", ""), r#"{"jsonrpc":"2.0","id":1}"#.to_owned(), 400, -32600),
        (new("tools/list", ""), r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#.to_owned(), 400, -32600),
        (new("tools/list", ""), r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#.to_owned(), 400, -32600),
        (new("tools/list", ""), message("tools/list", json!({})), 400, -32602),
        (
            new("tools/list", ""),
            message("tools/list", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": NEW}})),
            400,
            -32602,
        ),
        (String::new(), message("tools/list", full.clone()), 400, -32020),
        (old.clone(), message("tools/list", full.clone()), 400, -32020),
        (new("tools/call", ""), message("tools/list", full.clone()), 400, -32020),
        (new("tools/call", "play"), message("tools/call", named.clone()), 400, -32020),
        (later.clone(), message("tools/list", json!({"_meta": meta("2030-01-01")})), 400, -32022),
        (new("fly", ""), message("fly", full.clone()), 404, -32601),
        (new("initialize", ""), message("initialize", full.clone()), 404, -32601),
        (new("ping", ""), message("ping", full), 404, -32601),
        (old.clone(), message("fly", json!({})), 200, -32601),
        (old.clone(), message("tools/call", json!({"name": "fly"})), 200, -32602),
        (old, message("resources/read", json!({"uri": "leaguebox://moon"})), 200, -32602),
        (String::new(), message("prompts/get", json!({"name": "sing"})), 200, -32602),
    ] {
        let told = post(&leaguebox, &headers, &body);
        assert_eq!((told.status, &told.json()["error"]["code"]), (status, &json!(code)), "{headers} {body} {told:?}");
    }
    let told = post(&leaguebox, &later, &message("tools/list", json!({"_meta": meta("2030-01-01")}))).json();
    assert_eq!(told["error"]["data"], json!({"supported": [NEW], "requested": "2030-01-01"}));
    // What is none of it is league.v2's, where every answer is 200.
    assert_eq!(leaguebox.rpc("ping", json!({}))["result"]["status"], "pong");
    assert_eq!(leaguebox.rpc("fly", json!({}))["error"]["code"], -32601);
    assert_eq!(leaguebox.post("/mcp", "{").status, 200);
}

#[test]
fn what_is_listed_is_there_in_both_eras() {
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::default() });
    for version in ERAS {
        let tools = result(&leaguebox, version, "tools/list", json!({}));
        let tools = tools["tools"].as_array().expect("tools");
        assert_eq!(tools.len(), 18);
        for tool in tools {
            assert!(tool["description"].is_string() && tool["outputSchema"]["type"] == "object", "{tool}");
            jsonschema::meta::validate(&tool["inputSchema"]).expect("a schema");
        }
        let resources = result(&leaguebox, version, "resources/list", json!({}));
        let templates = result(&leaguebox, version, "resources/templates/list", json!({}));
        let prompts = result(&leaguebox, version, "prompts/list", json!({}));
        for list in [&resources, &templates, &prompts] {
            assert_eq!(list["ttlMs"] == 60_000 && list["cacheScope"] == "public", version == Some(NEW), "{list}");
        }
        let mut uris: Vec<_> =
            resources["resources"].as_array().expect("resources").iter().map(|one| one["uri"].clone()).collect();
        assert_eq!(
            (uris.len(), &templates["resourceTemplates"][0]["uriTemplate"]),
            (4, &json!("leaguebox://games/{game}"))
        );
        uris.extend(["echo", "chess"].map(|game| json!(format!("leaguebox://games/{game}"))));
        for uri in uris {
            let read = result(&leaguebox, version, "resources/read", json!({"uri": uri}));
            let content = &read["contents"][0];
            assert_eq!((&content["uri"], read["ttlMs"].is_u64()), (&uri, version == Some(NEW)));
            let text = content["text"].as_str().expect("a text");
            match content["mimeType"].as_str() {
                Some("application/json") => assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}"),
                _ => assert!(text.starts_with("# ") || text.starts_with("---"), "{text}"),
            }
        }
        let prompt =
            result(&leaguebox, version, "prompts/get", json!({"name": "play", "arguments": {"name": "Ada \"A\""}}));
        let text = prompt["messages"][0]["content"]["text"].as_str().expect("a text");
        assert!(text.contains("Ada \"A\"") && text.contains("next_turn"), "{text}");
    }
    // The pages are those of everybody.
    assert_eq!(call(&leaguebox, "get_standings", json!({})), leaguebox.get_json("/api/standings.json"));
    assert_eq!(call(&leaguebox, "get_schedule", json!({})), leaguebox.get_json("/api/schedule.json"));
    assert_eq!(call(&leaguebox, "get_status", json!({}))["game_type"], "echo");
    assert_eq!(leaguebox.get_json("/mcp/tools.json")["tools"].as_array().map(Vec::len), Some(18));
}

#[test]
fn every_answer_of_a_tool_is_as_its_schema_says() {
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::default() });
    let tools = leaguebox.get_json("/mcp/tools.json");
    let tools = tools["tools"].as_array().expect("tools");
    let mut called = Vec::new();
    let mut check = |tool: &str, arguments: Value| {
        let listed = tools.iter().find(|listed| listed["name"] == tool).expect("it is listed");
        jsonschema::validate(&listed["inputSchema"], &arguments).unwrap_or_else(|error| panic!("{tool}: {error}"));
        let told = call(&leaguebox, tool, arguments);
        jsonschema::validate(&listed["outputSchema"], &told).unwrap_or_else(|error| panic!("{tool}: {error}: {told}"));
        called.push(tool.to_owned());
        told
    };
    for tool in ["get_status", "list_games", "get_standings", "get_schedule"] {
        check(tool, json!({}));
    }
    check("get_rules", json!({"game": "chess"}));
    let [ada, bob] = ["Ada", "Bob"].map(|name| check("join_league", json!({"name": name}))["token"].clone());
    check("next_turn", json!({"token": ada, "wait_seconds": 0}));
    check("open_table", json!({"token": ada, "game": "echo"}));
    let table = check("open_table", json!({"token": bob, "game": "echo"}))["match_id"].clone();
    let now = check("next_turn", json!({"token": ada}));
    check("play", json!({"token": ada, "match_id": table, "move": now["legal_moves"][0], "thought": "So be it."}));
    check("get_match", json!({"match_id": table}));
    check("leave", json!({"token": ada}));
    check("get_match", json!({"match_id": table}));
    check("next_turn", json!({"token": bob}));
    let meta = json!({"display_name": "Called", "version": "1", "game_types": ["echo"], "contact_endpoint": "http://127.0.0.1:9/mcp"});
    let served = check("register_player", json!({"player_meta": meta}));
    let referee = json!({"display_name": "Ref", "version": "1", "game_types": ["echo"], "contact_endpoint": "http://127.0.0.1:10/mcp"});
    check("register_referee", json!({"referee_meta": referee}));
    check("league_query", json!({"auth_token": served["auth_token"], "query_type": "GET_LEAGUE_STATUS"}));
    check("report_match_result", json!({"match_id": "R1M1"}));
    for tool in ["start_league", "pause_league", "resume_league"] {
        check(tool, json!({"admin_code": leaguebox.admin_code}));
    }
    check("get_schedule", json!({}));
    let is_called = |tool: &&Value| called.iter().any(|name| tool["name"] == **name);
    assert_eq!(tools.iter().filter(|tool| !is_called(tool)).count(), 0, "all of them");
}

#[test]
fn what_a_tool_refuses_it_refuses_in_words() {
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::default() });
    let token = join(&leaguebox, "Ada");
    for (tool, arguments, words) in [
        ("join_league", json!({"name": "Ada"}), "taken"),
        ("join_league", json!({}), "required"),
        ("next_turn", json!({"token": "mcp_00000000000000000000000000000000"}), "token"),
        ("next_turn", json!({"token": token, "wait_seconds": 26}), "wait_seconds"),
        ("play", json!({"token": token, "match_id": "R1M1", "move": 1}), "match_id"),
        ("get_rules", json!({"game": "poker"}), "game"),
        ("get_match", json!({"match_id": "R7M7"}), "match_id"),
        ("leave", json!({"token": token}), "no table"),
        ("start_league", json!({"admin_code": "guess"}), "admin_code"),
        ("start_league", json!({"admin_code": leaguebox.admin_code}), "two"),
        ("league_query", json!({"auth_token": "x", "query_type": "GET_STANDINGS"}), "E012"),
    ] {
        for version in [Some(NEW), Some(OLD[1])] {
            let rule = call_in(&leaguebox, version, tool, arguments.clone()).expect_err(tool);
            assert!(rule.contains(words), "{tool}: {rule}");
        }
    }
    let report = leaguebox.get("/api/players/P01.json").body;
    assert!(!report.contains(&token), "a report is public: {report}");
}

#[test]
fn models_play_a_league_beside_players_that_are_called() {
    let leaguebox = LeagueBox::start(Settings::start_at(3));
    let tokens = ["Ada", "Bob"].map(|name| join(&leaguebox, name));
    let crowd = Crowd::of(&leaguebox, 1);
    thread::scope(|scope| {
        let playing = tokens.each_ref().map(|token| scope.spawn(|| play_to_the_end(&leaguebox, token)));
        for one in playing {
            let over = one.join().expect("it plays");
            assert_eq!(over["standings"].as_array().map(Vec::len), Some(3), "{over}");
        }
    });
    crowd.wait_for_the_end();
    let standings = leaguebox.get_json("/api/standings.json");
    let rows = standings["standings"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["played"] == 2 && row["technical_losses"] == 0), "{standings}");
    let player = leaguebox.get_json("/api/players/P01.json");
    assert_eq!((&player["dialect"], &player["violations"]), (&json!("mcp"), &json!(0)), "{player}");
}

#[test]
fn who_waits_for_its_turn_is_told_when_it_comes() {
    let leaguebox = LeagueBox::start(Settings { game: "skill-gomoku", ..Settings::default() });
    let tokens = ["Ada", "Bob"].map(|name| join(&leaguebox, name));
    thread::scope(|scope| {
        // Both have asked before there is anything to tell.
        let waiting = tokens.each_ref().map(|token| scope.spawn(|| turn(&leaguebox, token, 25)));
        // A board that nobody has told the time does not say when it saw them.
        if cfg!(not(feature = "board")) {
            wait_for("both are seen to ask", || {
                let players = leaguebox.get_json("/api/players.json");
                let seen = players["players"].as_array()?.iter().all(|player| !player["last_seen"].is_null());
                seen.then_some(())
            });
        }
        assert_eq!(leaguebox.admin("start").status, 200);
        let told = waiting.map(|one| one.join().expect("it is told"));
        assert!(told.iter().all(|now| now["match_id"] == "R1M1"), "{told:?}");
        let first = told.iter().position(|now| now["your_turn"] == true).expect("somebody begins");
        let second = &tokens[1 - first];
        let other = scope.spawn(|| turn(&leaguebox, second, 25));
        let made = json!({"token": tokens[first], "match_id": "R1M1", "move": told[first]["legal_moves"][0]});
        call(&leaguebox, "play", made);
        assert_eq!(other.join().expect("it is told")["your_turn"], true);
    });
}

#[test]
fn however_many_wait_others_are_answered_and_can_join() {
    // With one more it is an even number: everybody has a match in the first round.
    let players = CAPACITY.min(40) - 1;
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::room_for(CAPACITY) });
    let tokens: Vec<_> = (0..players).map(|n| join(&leaguebox, &format!("Player {n}"))).collect();
    thread::scope(|scope| {
        let waiting: Vec<_> = tokens.iter().map(|token| scope.spawn(|| turn(&leaguebox, token, 25))).collect();
        for _ in 0..10 {
            assert_eq!(leaguebox.get("/health").status, 200);
        }
        // Who asks again, while it waits already, waits in the place of that.
        assert_eq!(turn(&leaguebox, &tokens[0], 0)["your_turn"], false);
        join(&leaguebox, "One More");
        assert_eq!(leaguebox.admin("start").status, 200);
        let told: Vec<_> = waiting.into_iter().map(|one| one.join().expect("it is told")).collect();
        assert_eq!(told.len(), players);
        for token in &tokens {
            wait_for("its match", || {
                let now = turn(&leaguebox, token, 5);
                (now["match_id"].is_string() || !now["last_match"].is_null()).then_some(())
            });
        }
    });
}

#[test]
#[cfg_attr(feature = "board", ignore = "kills a desktop; power.rs pulls the plug of a board")]
fn tokens_outlive_a_power_cut() {
    let flash = std::env::temp_dir().join(format!("mcp-{}.flash", std::process::id()));
    let leaguebox = LeagueBox::on_flash(Settings { game: "echo", ..Settings::default() }, &flash);
    let tokens = ["Ada", "Bob"].map(|name| join(&leaguebox, name));
    assert_eq!(leaguebox.admin("start").status, 200);
    assert_eq!(turn(&leaguebox, &tokens[0], 5)["match_id"], "R1M1");
    drop(leaguebox);
    let leaguebox = LeagueBox::as_it_was(&flash);
    thread::scope(|scope| {
        for one in tokens.each_ref().map(|token| scope.spawn(|| play_to_the_end(&leaguebox, token))) {
            assert_eq!(one.join().expect("it plays")["standings"].as_array().map(Vec::len), Some(2));
        }
    });
    drop(leaguebox);
    let _ = std::fs::remove_file(flash);
}

#[test]
#[cfg_attr(feature = "board", ignore = "the bridge is a program of this computer")]
fn the_bridge_prints_every_answer_on_one_line() {
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::default() });
    let mut bridge = Command::new(desktop::executable())
        .args(["mcp", "--box", &leaguebox.url()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the bridge");
    let (mut input, mut output) =
        (bridge.stdin.take().expect("in"), BufReader::new(bridge.stdout.take().expect("out")));
    let mut ask = |message: Value| {
        writeln!(input, "{message}").expect("it listens");
        if message.get("id").is_none() {
            return Value::Null;
        }
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer
    };
    let hello = json!({"protocolVersion": OLD[1], "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    assert_eq!(answer["result"]["protocolVersion"], OLD[1]);
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(ask(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))["result"], json!({}));
    let tools = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(18));
    let rules = json!({"_meta": meta(NEW), "name": "get_rules", "arguments": {"game": "echo"}});
    let answer = ask(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": rules}));
    assert_eq!(answer["result"]["structuredContent"]["game"], "echo", "{answer}");
    assert_eq!(ask(json!({"jsonrpc": "2.0", "id": 4, "method": "fly"}))["error"]["code"], -32601);
    drop(input);
    assert!(bridge.wait().expect("it ends").success());
}

/// Runs a client to its end: what it prints.
fn run(mut client: Player) -> String {
    let code = client.wait_until_it_ends();
    let printed = client.printed();
    assert_eq!(code, Some(0), "{}: {printed}", client.name);
    printed
}

fn python(leaguebox: &LeagueBox, mode: &str, what: &str, argument: &str) -> Player {
    let url = format!("{}/mcp", leaguebox.url());
    Player::script(&here("players/mcp_client.py"), argument, &[&url, mode, what, argument])
}

fn node(leaguebox: &LeagueBox, what: &str, name: &str) -> Player {
    let url = format!("{}/mcp", leaguebox.url());
    Player::node_script(&here("players/mcp_client.mjs"), name, &[&url, what, name])
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_official_clients_use_all_there_is() {
    for mode in ["auto", "legacy", NEW] {
        let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::default() });
        let printed = run(python(&leaguebox, mode, "look", &leaguebox.admin_code));
        assert!(printed.contains("looked 18 tools"), "{mode}: {printed}");
    }
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::default() });
    assert!(run(node(&leaguebox, "look", "Node")).contains("looked 18 tools"));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_official_clients_play_leagues_of_echo_and_chess() {
    for game in ["echo", "chess"] {
        let leaguebox = LeagueBox::start(Settings { game, ..Settings::start_at(4) });
        let python =
            ["auto", "legacy", NEW].map(|mode| python(&leaguebox, mode, "play", &format!("Py {}", &mode[..4])));
        let clients = python.into_iter().chain([node(&leaguebox, "play", "Node")]).collect::<Vec<_>>();
        for client in clients {
            let printed = run(client);
            assert!(printed.contains("over 4 "), "{printed}");
        }
        let standings = leaguebox.get_json("/api/standings.json");
        let rows = standings["standings"].as_array().expect("rows");
        assert!(rows.iter().all(|row| row["played"] == 3 && row["technical_losses"] == 0), "{game}: {standings}");
    }
}

#[test]
fn a_stranger_is_refused_by_every_tool_of_players() {
    let leaguebox = LeagueBox::start(Settings::default());
    let token = "mcp_0123456789abcdef0123456789abcdef";
    for (tool, arguments) in [
        ("next_turn", json!({"token": token, "wait_seconds": 25})),
        ("play", json!({"token": token, "match_id": "R1M1", "move": 1})),
        ("open_table", json!({"token": token, "game": "echo"})),
        ("leave", json!({"token": token})),
    ] {
        assert!(refused(&leaguebox, tool, arguments).contains("join_league"), "{tool}");
    }
}
