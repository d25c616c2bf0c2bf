extern crate std;

use core::net::{IpAddr, Ipv4Addr};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

use serde_json::{Value, json};

use super::{
    Asking, Call, Era, Form, Frame, HANDSHAKE, Headers, MISSED_TURNS, Page, STATELESS, Seen, Told, Want, read,
};
use crate::games::GameKind;
use crate::json::{Full, Sink, Slice};
use crate::time::Now;
use crate::venue::restart_tests::Pieces;
use crate::venue::tests::{Room, config, perfect};
use crate::venue::{Command, Config, Event, Stage};

const NONE: Headers<'_> = Headers { version: None, method: None, name: None };

fn headers<'a>(version: &'a str, method: &'a str) -> Headers<'a> {
    Headers { version: Some(version), method: Some(method), name: None }
}

fn meta(version: &str) -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}})
}

fn message(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn written(write: impl FnOnce(&mut dyn Sink) -> Result<(), Full>) -> Value {
    let mut buf = vec![0; 65_536];
    let mut sink = Slice::new(&mut buf);
    write(&mut sink).expect("there is room");
    serde_json::from_slice(sink.written()).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(sink.written())))
}

/// The status and the code that a message is refused with.
fn refused(headers: Headers<'_>, body: &str) -> (u16, i64) {
    let asking = read(headers, body.as_bytes()).expect("it is MCP");
    let Want::Wrong(_) = asking.want else { panic!("{body} is not refused: {:?}", asking.want) };
    let answer = written(|sink| Seen::write(&asking, sink));
    assert!(answer["error"]["message"].as_str().is_some_and(|words| !words.is_empty()), "{answer}");
    (Seen::status(&asking).unwrap(), answer["error"]["code"].as_i64().unwrap())
}

#[test]
fn the_eras_and_league_v2_are_told_apart_by_what_a_message_says() {
    let era = |headers, body: &str| read(headers, body.as_bytes()).map(|asking| asking.era);
    let plain = |method: &str| message(method, &json!({}));
    for method in
        ["initialize", "tools/list", "resources/list", "prompts/get", "notifications/initialized", "resources/x"]
    {
        assert_eq!(era(NONE, &plain(method)), Some(Era::Handshake), "{method}");
    }
    for version in HANDSHAKE {
        for method in ["ping", "tools/list", "register_player"] {
            assert_eq!(era(headers(version, method), &plain(method)), Some(Era::Handshake), "{version} {method}");
        }
    }
    for version in [STATELESS, "2027-01-01", "1999-01-01", ""] {
        assert_eq!(era(headers(version, "ping"), &plain("ping")), Some(Era::Stateless), "{version}");
    }
    assert_eq!(era(NONE, &plain("server/discover")), Some(Era::Stateless));
    assert_eq!(era(NONE, &message("tools/list", &json!({"_meta": meta(STATELESS)}))), Some(Era::Stateless));
    for body in [
        plain("ping"),
        plain("register_player"),
        plain("LEAGUE_QUERY"),
        message("tools/call", &json!({"name": "register_player", "arguments": {"endpoint": "http://10.0.0.1/mcp"}})),
        message("tools/call", &json!({"name": "ping", "arguments": {}})),
        message("protocol/message", &json!({})),
        json!({"message_type": "LEAGUE_QUERY", "x": "tools/list"}).to_string(),
        "{/".into(),
        "[\"/\"]".into(),
        String::new(),
    ] {
        assert_eq!(era(NONE, &body), None, "{body}");
    }
    let own = message("tools/call", &json!({"name": "get_status"}));
    assert_eq!(era(NONE, &own), Some(Era::Handshake), "its own tools are MCP's");
}

#[test]
fn everything_that_breaks_a_rule_of_mcp_has_its_code_and_its_status() {
    let new = |method| headers(STATELESS, method);
    let with = |mut params: Value| {
        params["_meta"] = meta(STATELESS);
        params
    };
    let named = |method, name| Headers { name: Some(name), ..new(method) };
    let call = with(json!({"name": "get_status"}));
    for (headers, body, status, code) in [
        (new("ping"), "{".into(), 400, -32700),
        (headers("2025-11-25", "ping"), "{".into(), 400, -32700),
        (new("ping"), "[]".into(), 400, -32600),
        (new("ping"), "{}".into(), 400, -32600),
        (new("x"), json!({"jsonrpc": "1.0", "method": "x", "id": 1}).to_string(), 400, -32600),
        (new("x"), json!({"jsonrpc": "2.0", "method": 1, "id": 1}).to_string(), 400, -32600),
        (new("x"), json!({"jsonrpc": "2.0", "method": "x", "id": null}).to_string(), 400, -32600),
        (new("x"), json!({"jsonrpc": "2.0", "method": "x", "id": [1]}).to_string(), 400, -32600),
        (new("tools/list"), message("tools/list", &json!({})), 400, -32602),
        (new("tools/list"), message("tools/list", &json!({"_meta": 1})), 400, -32602),
        (new("tools/list"), message("tools/list", &json!({"_meta": {}})), 400, -32602),
        (
            new("tools/list"),
            message("tools/list", &json!({"_meta": {"io.modelcontextprotocol/protocolVersion": STATELESS}})),
            400,
            -32602,
        ),
        (NONE, message("tools/list", &with(json!({}))), 400, -32020),
        (new("tools/call"), message("tools/list", &with(json!({}))), 400, -32020),
        (headers("2025-11-25", "tools/list"), message("tools/list", &with(json!({}))), 400, -32020),
        (new("tools/call"), message("tools/call", &call), 400, -32020),
        (named("tools/call", "play"), message("tools/call", &call), 400, -32020),
        (named("resources/read", "x"), message("resources/read", &with(json!({"uri": "y"}))), 400, -32020),
        (named("prompts/get", "x"), message("prompts/get", &with(json!({"name": "y"}))), 400, -32020),
        (
            headers("2027-01-01", "tools/list"),
            message("tools/list", &json!({"_meta": meta("2027-01-01")})),
            400,
            -32022,
        ),
        (new("fly"), message("fly", &with(json!({}))), 404, -32601),
        (new("ping"), message("ping", &with(json!({}))), 404, -32601),
        (new("initialize"), message("initialize", &with(json!({}))), 404, -32601),
        (headers("2025-11-25", "fly"), message("fly", &json!({})), 200, -32601),
        (NONE, message("resources/fly", &json!({})), 200, -32601),
        (named("tools/call", "fly"), message("tools/call", &with(json!({"name": "fly"}))), 400, -32602),
        (headers("2025-11-25", ""), message("tools/call", &json!({"name": "fly"})), 200, -32602),
        (headers("2025-11-25", ""), message("tools/call", &json!({})), 200, -32602),
        (headers("2025-11-25", ""), message("tools/list", &json!([])), 200, -32602),
        (NONE, message("resources/read", &json!({"uri": "leaguebox://moon"})), 200, -32602),
        (NONE, message("resources/read", &json!({})), 200, -32602),
        (NONE, message("prompts/get", &json!({"name": "sing"})), 200, -32602),
        (NONE, message("prompts/get", &json!({"name": "play", "arguments": {"name": 7}})), 200, -32602),
    ] {
        assert_eq!(refused(headers, &body), (status, code), "{headers:?} {body}");
    }
    let asked = message("tools/list", &json!({"_meta": meta("2027-01-01")}));
    let asking = read(headers("2027-01-01", "tools/list"), asked.as_bytes()).unwrap();
    let error = written(|sink| Seen::write(&asking, sink))["error"].take();
    assert_eq!(error["data"], json!({"supported": [STATELESS], "requested": "2027-01-01"}));
}

#[test]
fn a_notification_and_an_answer_want_none() {
    for (headers, body) in [
        (NONE, json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        (headers(STATELESS, "notifications/cancelled"), json!({"jsonrpc": "2.0", "method": "notifications/cancelled"})),
        (headers(STATELESS, "tools/list"), json!({"jsonrpc": "2.0", "method": "tools/list"})),
        (headers("2025-06-18", ""), json!({"jsonrpc": "2.0", "id": 7, "result": {}})),
        (headers("2025-06-18", ""), json!({"jsonrpc": "2.0", "id": 7, "error": {}})),
    ] {
        let body = body.to_string();
        let asking = read(headers, body.as_bytes()).unwrap();
        assert!(matches!(asking.want, Want::Nothing), "{body}");
        assert_eq!(Seen::status(&asking), Some(202));
    }
}

#[test]
fn whoever_shakes_hands_gets_its_revision_if_that_is_known_and_else_the_latest() {
    let revision = |asked: Value| {
        let body = message("initialize", &asked);
        let asking = read(NONE, body.as_bytes()).unwrap();
        let answer = written(|sink| Seen::write(&asking, sink));
        assert!(answer["result"]["serverInfo"]["name"] == "LeagueBox" && answer["id"] == 1, "{answer}");
        assert_eq!(answer["result"].get("resultType"), None, "{answer}");
        answer["result"]["protocolVersion"].as_str().unwrap().to_string()
    };
    for known in HANDSHAKE {
        assert_eq!(revision(json!({"protocolVersion": known})), known);
    }
    for other in [json!({"protocolVersion": "2199-01-01"}), json!({"protocolVersion": 7}), json!({})] {
        assert_eq!(revision(other), "2025-11-25");
    }
    let body = message("server/discover", &json!({"_meta": meta(STATELESS)}));
    let asking = read(headers(STATELESS, "server/discover"), body.as_bytes()).unwrap();
    let found = written(|sink| Seen::write(&asking, sink))["result"].take();
    assert_eq!(
        (&found["resultType"], &found["ttlMs"], &found["cacheScope"]),
        (&json!("complete"), &json!(60_000), &json!("public"))
    );
    assert_eq!(found["supportedVersions"], json!([STATELESS]));
    assert_eq!(found["capabilities"], json!({"tools": {}, "resources": {}, "prompts": {}}));
}

#[test]
fn a_frame_says_the_same_as_text_and_as_json_however_it_is_cut_into_parts() {
    let text = json!({"a": "quote \" slash \\ line \n tab \t end", "b": ["é", "\u{1}"]}).to_string();
    let asking = |era| Asking { era, id: "\"x\"", want: Want::Tools };
    let write = |frame: Frame<'_>| written(|sink| frame.write(&|sink| sink.put(text.as_bytes()), sink));
    let tool = write(Frame::new(&asking(Era::Stateless), Form::Tool));
    let meant: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&tool["id"], &tool["result"]["structuredContent"]), (&json!("x"), &meant));
    assert_eq!(tool["result"]["content"], json!([{"type": "text", "text": text}]));
    assert_eq!((&tool["result"]["isError"], &tool["result"]["resultType"]), (&json!(false), &json!("complete")));
    let refusal = write(Frame::new(&asking(Era::Handshake), Form::Refusal));
    assert_eq!(refusal["result"], json!({"content": [{"type": "text", "text": text}], "isError": true}));
    let list = write(Frame::new(&asking(Era::Stateless), Form::List));
    assert_eq!((&list["result"]["b"], &list["result"]["ttlMs"]), (&meant["b"], &json!(60_000)));
    let resource = Form::Resource { uri: "\"leaguebox://status\"", kind: "application/json", is_fixed: false };
    let read = write(Frame::new(&asking(Era::Stateless), resource));
    assert_eq!((&read["result"]["ttlMs"], &read["result"]["contents"][0]["text"]), (&json!(0), &json!(text)));
    let prompt = write(Frame::new(&asking(Era::Handshake), Form::Prompt(Some("\"A\\\"da\""))));
    let said = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(said, format!("Your name in the league is A\"da.\n\n{text}"));
    // Row by row.
    let rows = |at: &mut u64, sink: &mut dyn Sink| {
        let part = text.as_bytes().chunks(7).nth(usize::try_from(*at).unwrap()).unwrap_or_default();
        *at += 1;
        sink.put(part)?;
        Ok(!part.is_empty())
    };
    for form in [Form::Tool, Form::List, Form::Refusal] {
        let frame = Frame::new(&asking(Era::Stateless), form);
        let by_rows = written(|sink| {
            let mut at = 0;
            while frame.write_part(
                &|at, sink| if form == Form::List { whole(&text, at, sink) } else { rows(at, sink) },
                &mut at,
                sink,
            )? {}
            Ok(())
        });
        assert_eq!(by_rows, write(frame));
    }
}

fn whole(text: &str, _: &mut u64, sink: &mut dyn Sink) -> Result<bool, Full> {
    sink.put(text.as_bytes()).map(|()| false)
}

impl Room {
    /// Calls a tool. What it answers, or the rule it refuses with.
    fn tool(&mut self, name: &str, arguments: Value) -> Result<Value, String> {
        let body = message("tools/call", &json!({"name": name, "arguments": arguments}));
        let Want::Call(call) = read(NONE, body.as_bytes()).expect("it is MCP").want else { panic!("{body}") };
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));
        match self.venue.call_mcp(self.now, from, call) {
            Told::Refused(rule) => Err(rule.to_string()),
            told => Ok(written(|sink| self.venue.write_mcp(&told, sink))),
        }
    }

    fn joins_by_mcp(&mut self, name: &str) -> String {
        let joined = self.tool("join_league", json!({"name": name})).unwrap();
        joined["token"].as_str().unwrap().to_string()
    }

    fn passes_to(&mut self, ms: u64) {
        self.now = Now { ms, utc: self.now.utc_at(ms) };
        self.venue.handle(self.now, Event::Tick);
    }

    fn turn(&mut self, token: &str) -> Value {
        self.tool("next_turn", json!({"token": token})).unwrap()
    }

    /// Each plays its first legal move until nobody has one. What each was told last, and how many matches it heard the end of.
    fn all_play(&mut self, tokens: &[String]) -> Vec<(Value, usize)> {
        let mut heard = vec![(Value::Null, 0); tokens.len()];
        loop {
            let mut has_moved = false;
            for (token, (last, ended)) in tokens.iter().zip(&mut heard) {
                let turn = self.turn(token);
                *ended += usize::from(!turn["last_match"].is_null());
                if turn["your_turn"] == true {
                    let wanted = json!({"token": token, "match_id": turn["match_id"], "move": turn["legal_moves"][0]});
                    assert_eq!(self.tool("play", wanted).unwrap()["accepted"], true);
                    has_moved = true;
                }
                *last = turn;
            }
            if !has_moved {
                return heard;
            }
        }
    }
}

fn league_of(game: GameKind) -> Config {
    Config { game, ..config() }
}

#[test]
fn players_who_come_and_ask_play_a_league_beside_one_that_is_called() {
    let mut room = Room::of(config(), 1);
    let tokens = ["Ada", "Bob", "Cem"].map(|name| room.joins_by_mcp(name));
    assert_eq!(room.turn(&tokens[0])["message"], "The league has not begun: call next_turn again.");
    room.venue.command(room.now, Command::Start).unwrap();
    let mut heard = vec![0; 3];
    for _ in 0..400 {
        for (one, (_, ended)) in heard.iter_mut().zip(room.all_play(&tokens)) {
            *one += ended;
        }
        if room.venue.stage() == Stage::Completed {
            break;
        }
        if let Some(reply) = room.call(0).and_then(|call| perfect(0, &call)) {
            room.carry_out(0);
            room.answer(0, reply);
        } else if let Some(next) = room.venue.next_deadline() {
            room.passes_to(next);
        }
    }
    assert_eq!(room.venue.stage(), Stage::Completed);
    for (token, ended) in tokens.iter().zip(heard) {
        let over = room.turn(token);
        assert_eq!(
            (&over["league_over"], over["standings"].as_array().map(Vec::len)),
            (&json!(true), Some(4)),
            "{over}"
        );
        assert_eq!(ended, 3, "each match is told once");
        assert_eq!(over["last_match"], Value::Null);
    }
    assert!(room.venue.players().iter().all(|player| room.venue.tally(player).technical_losses == 0));
    assert!(room.venue.all_have_asked());
}

#[test]
fn every_game_is_played_to_its_end_by_the_moves_that_are_listed() {
    for &game in GameKind::ALL {
        let mut room = Room::of(config(), 0);
        let seats = *game.rules().seats.start();
        let tokens: Vec<_> = (0..seats).map(|n| room.joins_by_mcp(&format!("Player {n}"))).collect();
        for token in &tokens {
            let seated = room.tool("open_table", json!({"token": token, "game": game.rules().name})).unwrap();
            assert_eq!(seated["game"], game.rules().name);
        }
        let mut ended = 0;
        for _ in 0..3_000 {
            ended += room.all_play(&tokens).iter().map(|(_, ended)| ended).sum::<usize>();
            if ended == usize::from(seats) {
                break;
            }
            let next = room.venue.next_deadline().unwrap_or_else(|| panic!("{game:?} goes on"));
            room.passes_to(next);
        }
        assert_eq!(ended, usize::from(seats), "{game:?}: everybody hears the end once");
        assert!(tokens.iter().all(|token| room.turn(token)["match_id"].is_null()), "{game:?}");
    }
}

#[test]
fn what_is_refused_says_the_rule_and_changes_nothing() {
    let mut room = Room::of(league_of(GameKind::Echo), 0);
    let (ada, bob) = (room.joins_by_mcp("Ada"), room.joins_by_mcp("Bob"));
    for (tool, arguments, words) in [
        ("join_league", json!({"name": "ada"}), "taken"),
        ("join_league", json!({}), "required"),
        ("join_league", json!({"name": "x"}), "at least 2"),
        ("next_turn", json!({}), "token"),
        ("next_turn", json!({"token": "mcp_0"}), "token"),
        ("next_turn", json!({"token": ada, "wait_seconds": 26}), "wait_seconds"),
        ("next_turn", json!({"token": ada, "wait_seconds": "long"}), "wait_seconds"),
        ("play", json!({"token": ada, "match_id": "R1M1"}), "move"),
        ("play", json!({"token": ada, "move": 1}), "match_id"),
        ("play", json!({"token": ada, "match_id": "R1M1", "move": {"number": 1}}), "match_id"),
        ("open_table", json!({"token": ada, "game": "poker"}), "game"),
        ("open_table", json!({"token": ada, "game": "echo", "seats": 9}), "seats"),
        ("leave", json!({"token": ada}), "no table"),
        ("get_rules", json!({}), "game"),
        ("get_match", json!({"match_id": "M1"}), "match_id"),
        ("start_league", json!({}), "admin_code"),
        ("next_turn", json!([]), "object"),
    ] {
        let rule = room.tool(tool, arguments).expect_err(tool);
        assert!(rule.contains(words), "{tool}: {rule}");
    }
    room.venue.command(room.now, Command::Start).unwrap();
    let turn = room.turn(&ada);
    assert!(turn["your_turn"] == true && turn["seconds_left"].is_u64() && turn["more"] == false, "{turn}");
    let id = &turn["match_id"];
    let rule = room.tool("play", json!({"token": ada, "match_id": id, "move": {"number": 11}})).unwrap_err();
    assert!(rule.contains("number"), "{rule}");
    room.tool("play", json!({"token": ada, "match_id": id, "move": {"number": 7}, "thought": "seven!"})).unwrap();
    let rule = room.tool("play", json!({"token": ada, "match_id": id, "move": {"number": 7}})).unwrap_err();
    assert!(rule.contains("not your turn"), "{rule}");
    assert!(room.tool("leave", json!({"token": bob})).unwrap_err().contains("league"));
    assert!(room.tool("open_table", json!({"token": bob, "game": "echo"})).unwrap_err().contains("league"));
    // Reports are public: no token is in them.
    for player in room.venue.players() {
        assert!(player.compliance.broken().all(|(_, _, example)| !example.contains("mcp_")));
    }
}

#[test]
fn at_most_200_moves_are_listed_and_more_says_that_there_are_others() {
    let mut room = Room::of(config(), 0);
    let tokens = ["Ada", "Bob"].map(|name| room.joins_by_mcp(name));
    for token in &tokens {
        room.tool("open_table", json!({"token": token, "game": "go"})).unwrap();
    }
    let turns = tokens.each_ref().map(|token| room.turn(token));
    let mover = turns.iter().find(|turn| turn["your_turn"] == true).expect("somebody begins");
    let moves = mover["legal_moves"].as_array().unwrap().len();
    assert_eq!(mover["more"] == true, moves == 200, "{moves}");
    assert!(moves > 50);
}

#[test]
fn a_mark_changes_with_what_concerns_a_player_and_with_nothing_else() {
    let mut room = Room::of(config(), 0);
    let (ada, bob) = (room.joins_by_mcp("Ada"), room.joins_by_mcp("Bob"));
    let issue = room.venue.players()[0].issue;
    let mark = |room: &Room| room.venue.mcp_mark(issue).unwrap();
    let alone = mark(&room);
    assert!(!alone.has_news());
    room.joins_by_mcp("Cem");
    assert_eq!(mark(&room), alone, "others come and go");
    for token in [&ada, &bob] {
        room.tool("open_table", json!({"token": token, "game": "chess"})).unwrap();
    }
    assert_ne!(mark(&room), alone);
    let mover = if room.turn(&ada)["your_turn"] == true { &ada } else { &bob };
    let turn = room.turn(mover);
    let before = mark(&room);
    assert_eq!(before.has_news(), mover == &ada);
    room.tool("play", json!({"token": mover, "match_id": turn["match_id"], "move": turn["legal_moves"][0]})).unwrap();
    assert_ne!(mark(&room), before);
    room.tool("leave", json!({"token": bob})).unwrap();
    assert!(mark(&room).has_news(), "the game is over");
    assert_eq!(room.turn(&ada)["last_match"]["match_id"], turn["match_id"]);
    assert!(!mark(&room).has_news(), "and it knows");
    assert_eq!(room.venue.mcp_mark(4711), None);
}

#[test]
fn whoever_lets_five_turns_go_by_loses() {
    let mut room = Room::of(league_of(GameKind::Echo), 0);
    let (ada, _bob) = (room.joins_by_mcp("Ada"), room.joins_by_mcp("Bob"));
    room.venue.command(room.now, Command::Start).unwrap();
    for _ in 0..MISSED_TURNS {
        let turn = room.turn(&ada);
        if turn["your_turn"] == true {
            let wanted = json!({"token": ada, "match_id": turn["match_id"], "move": turn["legal_moves"][0]});
            room.tool("play", wanted).unwrap();
        }
        let next = room.venue.next_deadline().expect("Bob is waited for");
        room.passes_to(next);
    }
    assert_eq!(room.venue.stage(), Stage::Completed);
    assert_eq!(room.turn(&ada)["last_match"]["result"]["winner_player_id"], "P01");
}

#[test]
fn pages_are_found_by_their_uris_and_by_their_tools() {
    let page = |uri: &str| {
        let body = message("resources/read", &json!({"uri": uri}));
        match read(NONE, body.as_bytes()).unwrap().want {
            Want::Read(page, raw) => Some((page, raw == format!("{uri:?}"))),
            _ => None,
        }
    };
    for (uri, wanted) in [
        ("leaguebox://status", Page::Status),
        ("leaguebox://standings", Page::Standings),
        ("leaguebox://schedule", Page::Schedule),
        ("leaguebox://skill", Page::Skill),
        ("leaguebox://games/chess", Page::Rules(GameKind::named("chess").unwrap())),
    ] {
        assert_eq!(page(uri), Some((wanted, true)), "{uri}");
    }
    for uri in ["leaguebox://", "leaguebox://games/", "leaguebox://games/poker", "http://status", "status"] {
        assert_eq!(page(uri), None, "{uri}");
    }
    let body = message("tools/call", &json!({"name": "register_player", "arguments": {}}));
    let asking = read(headers("2025-06-18", ""), body.as_bytes()).unwrap();
    assert!(matches!(asking.want, Want::Call(Call::League)));
}

#[test]
fn tokens_and_the_league_outlive_a_power_cut() {
    let mut room = Room::of(league_of(GameKind::Echo), 0);
    let mut pieces = Pieces::default();
    room.venue.keep_facts();
    let tokens = ["Ada", "Bob"].map(|name| room.joins_by_mcp(name));
    pieces.keep(&mut room.venue);
    room.venue.command(room.now, Command::Start).unwrap();
    pieces.keep(&mut room.venue);
    room.turn(&tokens[0]);
    room.venue = pieces.restore();
    room.venue.resume(room.now);
    room.all_play(&tokens);
    assert_eq!(room.venue.stage(), Stage::Completed);
    for token in &tokens {
        assert_eq!(room.turn(token)["league_over"], true);
    }
    pieces.keep(&mut room.venue);
    room.venue = pieces.restore();
    room.venue.resume(room.now);
    assert_eq!(room.turn(&tokens[1])["standings"].as_array().map(Vec::len), Some(2), "the end is told again");
}
