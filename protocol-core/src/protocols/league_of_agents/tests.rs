//! The messages as the specification prints them: compared as text without the space between its parts, so that also the
//! order of the members counts.

extern crate std;
use std::fmt;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde::Serialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

use super::incoming::*;
use super::outgoing::*;
use super::*;
use crate::fair::{Draws, Seed};
use crate::games::{AnyGame, Game, Illegal, Seat, Seats, Sitter, Table, Viewer};
use crate::json;
use crate::time::Utc;

const GAME_ID: &str = "7d444840-9dc0-41d1-b245-5ffdce74fad2";

const AGENTS: Table<'static> = Table(&[
    Sitter { id: "uuid-1", name: "AgentAlpha", note: "", said: "" },
    Sitter { id: "uuid-2", name: "AgentBeta", note: "", said: "" },
    Sitter { id: "uuid-3", name: "AgentGamma", note: "", said: "" },
    Sitter { id: "uuid-4", name: "AgentDelta", note: "", said: "" },
]);

const ALL_VIEWERS: [Viewer; 3] = [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator];

fn uuid(text: &str) -> Uuid {
    Uuid::read(text.chars()).unwrap()
}

/// What goes out.
fn text(message: &impl Serialize) -> String {
    let mut room = std::vec![0; 40_000];
    let mut sink = json::Slice::new(&mut room);
    json::write(message, &mut sink).unwrap();
    String::from_utf8(sink.written().to_vec()).unwrap()
}

fn value(message: &impl Serialize) -> Value {
    serde_json::from_str(&text(message)).unwrap()
}

/// The names of an object's members, as they stand there.
fn names(object: &str) -> Vec<String> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some((name, IgnoredAny)) = map.next_entry()? {
                names.push(name);
            }
            Ok(names)
        }
    }
    serde_json::Deserializer::from_str(object).deserialize_map(Names).unwrap()
}

/// An example as it would go out: without the space between its parts, and about a game with a real id.
fn printed(example: &str) -> String {
    serde_json::from_str::<Value>(example).expect("the example is JSON");
    let (mut in_string, mut escaped) = (false, false);
    let example = example.replace("game-uuid-here", GAME_ID);
    let kept = example.chars().filter(|&c| {
        let is_part = in_string || !c.is_whitespace();
        (in_string, escaped) = (in_string ^ (c == '"' && !escaped), c == '\\' && !escaped);
        is_part
    });
    kept.collect()
}

fn game(kind: GameKind) -> (AnyGame, Draws) {
    let mut draws = Draws::new(Seed([3; 32]));
    (AnyGame::start(kind, *kind.rules().seats.start(), &mut draws), draws)
}

fn play(game: &mut AnyGame, draws: &mut Draws, seat: Seat, wanted: &str) {
    game.play(seat, json::parse(wanted.as_bytes()).unwrap(), draws).unwrap();
}

/// A game of echo after these rounds.
fn echo(rounds: &[[u8; 2]]) -> AnyGame {
    let (mut game, mut draws) = game(GameKind::Echo);
    for [a, b] in rounds {
        play(&mut game, &mut draws, 0, &format!(r#"{{"number":{a}}}"#));
        play(&mut game, &mut draws, 1, &format!(r#"{{"number":{b}}}"#));
    }
    game
}

fn state<'a>(game: &'a AnyGame, table: Table<'a>, viewer: Viewer, spectators: u16) -> GameState<'a, AnyGame> {
    GameState { game_id: uuid(GAME_ID), game, table, viewer, thinking: game.to_move(), spectators }
}

fn is(text: Option<json::Str<'_>>, expected: &str) -> bool {
    text.is_some_and(|text| text.is(expected))
}

#[test]
fn every_message_an_agent_can_send_is_read() {
    let key = "a1b2c3d4-e5f6-7890-abcd-ef1234567890";
    let Ok(Message::Authenticate { token }) =
        Message::read(br#"{"type": "authenticate", "token": "a1b2c3d4-e5f6-7890-abcd-ef1234567890"}"#)
    else {
        panic!("authenticate")
    };
    assert!(is(token, key));
    let Ok(Message::JoinQueue { game_type }) = Message::read(br#"{"type": "join_queue", "gameType": "echo"}"#) else {
        panic!("join_queue")
    };
    assert_eq!(super::game(game_type.unwrap()), Ok(GameKind::Echo));
    for (wanted, example) in [
        (r#"{"number": 7}"#, r#"{"type": "submit_move", "gameId": "game-uuid-here", "move": {"number": 7}}"#),
        (
            r#"{"action": "move", "direction": "north"}"#,
            r#"{"type": "submit_move", "gameId": "game-uuid-here", "move": {"action": "move", "direction": "north"}}"#,
        ),
        (
            r#"{"type": "place", "row": 7, "col": 7}"#,
            r#"{"type": "submit_move", "gameId": "game-uuid-here", "move": {"type": "place", "row": 7, "col": 7}}"#,
        ),
        (
            r#"{"allocation": [3, 3, 2, 1, 1]}"#,
            r#"{"type": "submit_move", "gameId": "game-uuid-here", "move": {"allocation": [3, 3, 2, 1, 1]}}"#,
        ),
    ] {
        let Ok(Message::SubmitMove { game_id, wanted: Some(read) }) = Message::read(example.as_bytes()) else {
            panic!("submit_move")
        };
        assert!(is(game_id, "game-uuid-here"));
        assert_eq!(read.raw(), wanted);
    }
    let Ok(Message::SubscribeGame { game_id }) =
        Message::read(br#"{"type": "subscribe_game", "gameId": "game-uuid-here"}"#)
    else {
        panic!("subscribe_game")
    };
    assert!(is(game_id, "game-uuid-here"));
    assert!(matches!(Message::read(br#"{"type": "ping"}"#), Ok(Message::Ping)));
}

#[test]
fn a_move_may_be_anything_but_null() {
    for wanted in ["{}", "[]", "7", "\"x\"", "false", "0"] {
        let body = format!(r#"{{"move":{wanted},"type":"submit_move"}}"#);
        let Ok(Message::SubmitMove { game_id: None, wanted: Some(read) }) = Message::read(body.as_bytes()) else {
            panic!("{body}")
        };
        assert_eq!(read.raw(), wanted);
    }
    let Ok(Message::SubmitMove { wanted: None, .. }) = Message::read(br#"{"type":"submit_move","move":null}"#) else {
        panic!("null is no move")
    };
}

#[test]
fn a_field_of_another_type_or_an_empty_one_is_missing() {
    for bad in ["null", "1", "true", "[]", "{}", "\"\""] {
        let read = |kind: &str, field: &str| format!(r#"{{"type":"{kind}","{field}":{bad}}}"#);
        let body = read("authenticate", "token");
        assert!(matches!(Message::read(body.as_bytes()), Ok(Message::Authenticate { token: None })), "{body}");
        let body = read("join_queue", "gameType");
        assert!(matches!(Message::read(body.as_bytes()), Ok(Message::JoinQueue { game_type: None })), "{body}");
        let body = read("submit_move", "gameId");
        assert!(matches!(Message::read(body.as_bytes()), Ok(Message::SubmitMove { game_id: None, .. })), "{body}");
        let body = read("subscribe_game", "gameId");
        assert!(matches!(Message::read(body.as_bytes()), Ok(Message::SubscribeGame { game_id: None })), "{body}");
    }
}

#[test]
fn what_is_not_json_is_told_from_what_is_no_message() {
    for bad in ["", "{", "authenticate", r#"{"type":"ping"} x"#, r#"{"type":"ping",}"#] {
        assert_eq!(Message::read(bad.as_bytes()).err(), Some(Trouble::InvalidJson), "{bad}");
    }
    assert_eq!(Message::read(b"\xff").err(), Some(Trouble::InvalidJson));
    for unknown in [
        "{}",
        "[]",
        "7",
        "null",
        r#""ping""#,
        r#"{"type":"PING"}"#,
        r#"{"type":7}"#,
        r#"{"type":null}"#,
        r#"{"type":""}"#,
        r#"{"Type":"ping"}"#,
        r#"{"type":"game_state"}"#,
        r#"{"data":{"type":"ping"}}"#,
    ] {
        assert_eq!(Message::read(unknown.as_bytes()).err(), Some(Trouble::UnknownType), "{unknown}");
    }
}

#[test]
fn what_is_json_and_is_not_read_is_told_why() {
    let message = |memory: &str| format!(r#"{{"type":"submit_move","gameId":"x","move":{{"memory":{memory}}}}}"#);
    let nested = |levels: usize| message(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
    let many = |values: usize| message(&format!("[{}0]", "0,".repeat(values - 1)));
    let spare = 6;
    for (body, trouble) in [
        (nested(json::MAX_DEPTH - 2), None),
        (nested(json::MAX_DEPTH - 1), Some(Trouble::TooDeep)),
        (many(json::MAX_VALUES - spare), None),
        (many(json::MAX_VALUES), Some(Trouble::TooManyValues)),
        (message(r#""\ud83c\udfae""#), None),
        (message(r#""\ud83c""#), Some(Trouble::LoneSurrogate)),
    ] {
        assert_eq!(Message::read(body.as_bytes()).err(), trouble, "{body:.200}");
    }
    assert!(Trouble::TooDeep.text().contains(&json::MAX_DEPTH.to_string()));
    assert!(Trouble::TooManyValues.text().contains(&json::MAX_VALUES.to_string()));
}

#[test]
fn every_trouble_has_the_words_of_the_specification() {
    let not_authenticated = r#"Not authenticated. Send {"type":"authenticate","token":"YOUR_API_KEY"} first."#;
    for (trouble, words, closes) in [
        (Trouble::InvalidKey, "Invalid API key.", Some(4001)),
        (Trouble::MissingToken, "Missing or invalid token in authenticate message.", Some(4001)),
        (Trouble::AlreadyAuthenticated, "Already authenticated.", None),
        (Trouble::InvalidJson, "Invalid JSON.", None),
        (Trouble::UnknownType, "Unknown message type.", None),
        (Trouble::NotAuthenticated, not_authenticated, None),
        (Trouble::MissingGameId, "Missing gameId.", None),
        (Trouble::MissingGameType, "Missing gameType.", None),
        (Trouble::MissingMove, "Missing move.", None),
        (Trouble::GameNotFound, "Game not found.", None),
    ] {
        assert_eq!((trouble.text(), trouble.closes()), (words, closes));
        let message = value(&Notice::refused(trouble, None));
        assert_eq!(message, json!({"type": "error", "message": words}));
    }
    for (trouble, words) in [
        (Trouble::NotActive, "Game not found or not active."),
        (Trouble::NotAPlayer, "You are not a player in this game."),
        (Trouble::AlreadyMoved, "You already submitted a move this round."),
        (Trouble::InvalidMove, "Invalid move."),
    ] {
        assert_eq!((trouble.text(), trouble.closes()), (words, None));
        let message = value(&Notice::refused(trouble, None));
        assert_eq!(message, json!({"type": "move_result", "success": false, "error": words}));
    }
}

#[test]
fn who_asks_for_a_game_there_is_not_is_told_which_there_are() {
    let names: Vec<&str> = games().map(|kind| kind.rules().name).collect();
    let (real, toys) = names.split_at(names.iter().position(|name| name.starts_with("toy-")).unwrap());
    let specified = ["echo", "blotto", "skill-gomoku", "resource-rush", "dance-battle"];
    let cards = ["landlord", "rockpaper", "blackjack", "texasholdem"];
    let of_agon = ["chess", "go", "regular_debate", "spicy_debate", "trade_deal"];
    assert_eq!(real, [&specified[..], &cards[..], &of_agon[..]].concat());
    assert_eq!(toys, ["toy-trio", "toy-sextet", "toy-stroll"]);
    assert_eq!(Trouble::UnknownGame.text(), format!("Unknown gameType. Use one of: {}.", names.join(", ")));
    assert_eq!(Trouble::UnknownGame.closes(), None);
    let game = |name: &str| {
        let quoted = format!("{name:?}");
        super::game(json::parse(quoted.as_bytes()).unwrap().as_str().unwrap())
    };
    for kind in games() {
        assert_eq!(game(kind.rules().name), Ok(kind));
    }
    for other in ["", "checkers", "Echo", "even_odd", "even_odd_10"] {
        assert_eq!(game(other), Err(Trouble::UnknownGame), "{other}");
    }
}

#[test]
fn a_registration_is_read_and_answered_as_printed() {
    let body = br#"{"name": "YOUR_AGENT_NAME", "description": "optional description"}"#;
    let name = read_registration::<64>(body).unwrap();
    let answer = Registered {
        agent_id: uuid("550e8400-e29b-41d4-a716-446655440000"),
        api_key: uuid("a1b2c3d4-e5f6-7890-abcd-ef1234567890"),
        name: &name,
        created_at: ToTheMillisecond(Utc(1_736_942_400)),
    };
    let example = r#"{
        "agentId": "550e8400-e29b-41d4-a716-446655440000",
        "apiKey": "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
        "name": "YOUR_AGENT_NAME",
        "createdAt": "2025-01-15T12:00:00.000Z"
    }"#;
    assert_eq!(text(&answer), printed(example));
}

#[test]
fn every_row_of_the_registration_table_is_told_by_its_status_and_words() {
    let bad = "Name may only contain letters, numbers, spaces, hyphens, underscores, and dots.";
    for (refused, status, words) in [
        (RefusedName::InvalidJson, 400, "Invalid JSON body."),
        (RefusedName::Missing, 400, "Name is required."),
        (RefusedName::TooShort, 400, "Name must be at least 2 characters."),
        (RefusedName::TooLong, 400, "Name must be 32 characters or fewer."),
        (RefusedName::TooManyBytes, 400, "Name must be 64 bytes or fewer in UTF-8."),
        (RefusedName::BadCharacter, 400, bad),
        (RefusedName::Taken, 409, "Agent name is already taken."),
    ] {
        assert_eq!((refused.status(), refused.text()), (status, words));
        assert_eq!(text(&Refused { error: refused.text() }), format!(r#"{{"error":"{words}"}}"#));
    }
    for (body, refused) in [
        ("", RefusedName::InvalidJson),
        (r#"{"name":"Ada""#, RefusedName::InvalidJson),
        ("{}", RefusedName::Missing),
        ("[]", RefusedName::Missing),
        (r#"{"name":null}"#, RefusedName::Missing),
        (r#"{"name":7}"#, RefusedName::Missing),
        (r#"{"name":""}"#, RefusedName::Missing),
        (r#"{"name":"  \t "}"#, RefusedName::Missing),
        (r#"{"name":"A"}"#, RefusedName::TooShort),
        (r#"{"name":" A "}"#, RefusedName::TooShort),
        (r#"{"name":"!"}"#, RefusedName::TooShort),
        (r#"{"name":"123456789012345678901234567890123"}"#, RefusedName::TooLong),
        (r#"{"name":"12345678901234567890123456789012!"}"#, RefusedName::TooLong),
        (r#"{"name":"一二三四五六七八九十一二三四五六七八九十一二"}"#, RefusedName::TooManyBytes),
        (r#"{"name":"Ada!"}"#, RefusedName::BadCharacter),
        (r#"{"name":"Ada\tB"}"#, RefusedName::BadCharacter),
        (r#"{"name":"<b>"}"#, RefusedName::BadCharacter),
        (r#"{"name":"🎮🎮"}"#, RefusedName::BadCharacter),
    ] {
        assert_eq!(read_registration::<64>(body.as_bytes()), Err(refused), "{body}");
    }
}

#[test]
fn a_name_is_read_in_any_script_and_without_the_space_around_it() {
    for (given, name) in [
        ("Ok", "Ok"),
        ("12345678901234567890123456789012", "12345678901234567890123456789012"),
        (" Ada Lovelace\\n", "Ada Lovelace"),
        ("a-b_c.d 9", "a-b_c.d 9"),
        ("\\u05e9\\u05dc\\u05d5\\u05dd", "שלום"),
        ("Zoë", "Zoë"),
        ("力拔山兮", "力拔山兮"),
        ("हिन्दी", "हिन्दी"),
        ("Jose\u{301}", "Jose\u{301}"),
        ("สวัสดี", "สวัสดี"),
    ] {
        let body = format!(r#"{{"name":"{given}"}}"#);
        assert_eq!(read_registration::<64>(body.as_bytes()).unwrap(), name);
    }
}

#[test]
fn every_short_message_goes_out_as_printed() {
    let game_id = uuid(GAME_ID);
    for (message, example) in [
        (
            Notice::Authenticated { agent_id: uuid("550e8400-e29b-41d4-a716-446655440000"), agent_name: "YourAgent" },
            r#"{
                "type": "authenticated",
                "agentId": "550e8400-e29b-41d4-a716-446655440000",
                "agentName": "YourAgent"
            }"#,
        ),
        (
            Notice::queued(1, GameKind::Echo),
            r#"{"type": "queue_status", "status": "queued", "position": 1, "gameType": "echo"}"#,
        ),
        (
            Notice::matched(game_id, GameKind::Echo),
            r#"{"type": "matched", "gameId": "game-uuid-here", "gameType": "echo"}"#,
        ),
        (Notice::YourTurn { game_id, round: 1 }, r#"{"type": "your_turn", "gameId": "game-uuid-here", "round": 1}"#),
        (Notice::MOVE_TAKEN, r#"{"type": "move_result", "success": true}"#),
        (
            Notice::refused(Trouble::AlreadyMoved, None),
            r#"{"type": "move_result", "success": false, "error": "You already submitted a move this round."}"#,
        ),
        (
            Notice::thinking(AGENTS, 0, false),
            r#"{"type": "thinking", "agentId": "uuid-1", "agentName": "AgentAlpha", "thinking": false}"#,
        ),
        (Notice::refused(Trouble::InvalidKey, None), r#"{"type": "error", "message": "Invalid API key."}"#),
        (Notice::Pong { timestamp: 1_710_000_000_000 }, r#"{"type": "pong", "timestamp": 1710000000000}"#),
    ] {
        assert_eq!(text(&message), printed(example));
    }
}

#[test]
fn a_refused_move_is_told_with_the_rule_it_broke() {
    let refused = Notice::refused(Trouble::InvalidMove, Some(Illegal("number must be an integer from 1 to 10")));
    let example = r#"{
        "type": "move_result", "success": false, "error": "Invalid move.",
        "detail": "number must be an integer from 1 to 10"
    }"#;
    assert_eq!(text(&refused), printed(example));
}

#[test]
fn a_game_of_echo_is_shown_as_printed() {
    let example = r#"{
        "type": "game_state",
        "gameId": "game-uuid-here",
        "gameType": "echo",
        "status": "active",
        "round": 1,
        "maxRounds": 5,
        "players": [
            {"agentId": "uuid-1", "agentName": "AgentAlpha", "score": 0, "thinking": true},
            {"agentId": "uuid-2", "agentName": "AgentBeta", "score": 0, "thinking": true}
        ],
        "grid": null,
        "extra": {
            "currentRound": 1,
            "maxRounds": 5,
            "scores": {"uuid-1": 0, "uuid-2": 0}
        },
        "spectatorCount": 3
    }"#;
    assert_eq!(text(&state(&echo(&[]), AGENTS, Viewer::Seat(0), 3)), printed(example));
    // Printed without `grid`, and the text beside it says "absent or null".
    let example = r#"{
        "type": "game_state",
        "gameId": "game-uuid-here",
        "gameType": "echo",
        "status": "active",
        "round": 2,
        "maxRounds": 5,
        "players": [
            {"agentId": "uuid-1", "agentName": "AgentAlpha", "score": 1, "thinking": true},
            {"agentId": "uuid-2", "agentName": "AgentBeta", "score": 0, "thinking": true}
        ],
        "grid": null,
        "extra": {
            "currentRound": 2,
            "maxRounds": 5,
            "scores": {"uuid-1": 1, "uuid-2": 0}
        },
        "spectatorCount": 0
    }"#;
    assert_eq!(text(&state(&echo(&[[7, 3]]), AGENTS, Viewer::Spectator, 0)), printed(example));
}

#[test]
fn a_game_of_gomoku_is_shown_as_printed() {
    // The printed position comes from no game: eleven moves, two stones. This is the same after two moves.
    let (mut game, mut draws) = game(GameKind::Gomoku);
    play(&mut game, &mut draws, 0, r#"{"type":"place","row":6,"col":6}"#);
    play(&mut game, &mut draws, 1, r#"{"type":"place","row":7,"col":7}"#);
    let empty = r#"["·","·","·","·","·","·","·","·","·","·","·","·","·","·","·"],"#;
    let none = "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],";
    let example = [
        r#"{
            "type": "game_state",
            "gameId": "game-uuid-here",
            "gameType": "skill-gomoku",
            "status": "active",
            "round": 3,
            "maxRounds": 300,
            "players": [
                {"agentId": "uuid-black", "agentName": "BlackBot", "score": 0, "thinking": true},
                {"agentId": "uuid-white", "agentName": "WhiteBot", "score": 0, "thinking": false}
            ],
            "grid": ["#,
        &empty.repeat(6),
        r#"["·","·","·","·","·","·","⚫","·","·","·","·","·","·","·","·"],"#,
        r#"["·","·","·","·","·","·","·","⚪","·","·","·","·","·","·","·"],"#,
        empty.repeat(7).trim_end_matches(','),
        r#"], "extra": { "board": ["#,
        &none.repeat(6),
        "[0,0,0,0,0,0,1,0,0,0,0,0,0,0,0],",
        "[0,0,0,0,0,0,0,2,0,0,0,0,0,0,0],",
        none.repeat(7).trim_end_matches(','),
        r#"],
                "energy": [3, 3],
                "currentPlayer": "uuid-black",
                "sealedStones": [],
                "quietZoneCells": [],
                "lastMove": {"row": 7, "col": 7},
                "lastSkillEffect": null,
                "animationDurationMs": 0
            },
            "spectatorCount": 5
        }"#,
    ]
    .concat();
    let players = [("uuid-black", "BlackBot"), ("uuid-white", "WhiteBot")].map(|(id, name)| Sitter {
        id,
        name,
        ..Sitter::default()
    });
    for viewer in ALL_VIEWERS {
        assert_eq!(text(&state(&game, Table(&players), viewer, 5)), printed(&example));
    }
}

#[test]
fn every_game_is_shown_with_the_same_members_and_one_grid() {
    for kind in games() {
        let (game, _) = game(kind);
        for viewer in ALL_VIEWERS {
            let shown = names(&text(&state(&game, AGENTS, viewer, 0)));
            let head = ["type", "gameId", "gameType", "status", "round", "maxRounds", "players", "grid", "extra"];
            let tail =
                if kind == GameKind::Dance { &["publicState", "spectatorCount"][..] } else { &["spectatorCount"] };
            assert_eq!(shown, [&head[..], tail].concat(), "{kind:?}");
        }
    }
}

#[test]
fn a_finished_game_is_shown_in_the_last_round_that_was_played() {
    let (mut started, mut draws) = game(GameKind::Gomoku);
    for col in 0..5 {
        play(&mut started, &mut draws, 0, &format!(r#"{{"type":"place","row":0,"col":{col}}}"#));
        if col < 4 {
            play(&mut started, &mut draws, 1, &format!(r#"{{"type":"place","row":9,"col":{col}}}"#));
        }
    }
    for (mut game, rounds, total) in
        [(echo(&[[1, 2]; 5]), 5, 5), (started, 9, 9), (echo(&[[7, 3], [3, 7]]), 2, 2), (echo(&[]), 1, 0)]
    {
        if !game.to_move().is_empty() {
            game.forfeit(Seats::only(0), &mut draws);
        }
        let seen = value(&state(&game, AGENTS, Viewer::Spectator, 0));
        assert_eq!((&seen["status"], &seen["round"]), (&json!("completed"), &json!(rounds)));
        if seen["gameType"] == "echo" {
            assert_eq!(seen["extra"]["currentRound"], rounds);
        }
        assert_eq!(seen["players"][0]["thinking"], false);
        let over = value(&GameOver { game: &game, table: AGENTS, duration: 0, reason: None });
        assert_eq!(over["totalRounds"], total);
    }
}

#[test]
fn who_has_moved_is_not_thinking_any_more() {
    let (mut game, mut draws) = game(GameKind::Echo);
    play(&mut game, &mut draws, 1, r#"{"number":4}"#);
    let seen = value(&state(&game, AGENTS, Viewer::Spectator, 0));
    assert_eq!([&seen["players"][0]["thinking"], &seen["players"][1]["thinking"]], [true, false]);
}

#[test]
fn a_round_is_told_as_printed() {
    let example = r#"{
        "type": "turn_update",
        "round": 1,
        "moves": [
            {"agentId": "uuid-1", "agentName": "AgentAlpha", "action": "Played 7️⃣"},
            {"agentId": "uuid-2", "agentName": "AgentBeta", "action": "Played 3️⃣"}
        ],
        "roundSummary": "Round 1: AgentAlpha wins!",
        "scores": {"AgentAlpha": 1, "AgentBeta": 0}
    }"#;
    let game = echo(&[[7, 3]]);
    // The space in the strings counts.
    assert_eq!(text(&TurnUpdate { game: &game, table: AGENTS }), printed(example));
}

#[test]
fn in_a_game_of_turns_only_who_moved_is_told_of() {
    let (mut game, mut draws) = game(GameKind::Gomoku);
    play(&mut game, &mut draws, 0, r#"{"type":"place","row":7,"col":7}"#);
    let told = value(&TurnUpdate { game: &game, table: AGENTS });
    let moves = json!([{"agentId": "uuid-1", "agentName": "AgentAlpha", "action": "Placed ⚫ at H8"}]);
    assert_eq!((&told["round"], &told["moves"]), (&json!(1), &moves));
}

#[test]
fn a_skill_is_told_as_printed_and_a_stone_not_at_all() {
    let (mut game, mut draws) = game(GameKind::Gomoku);
    play(&mut game, &mut draws, 0, r#"{"type":"place","row":6,"col":6}"#);
    assert!(SkillEffect::of(&game, AGENTS).is_none());
    play(&mut game, &mut draws, 1, r#"{"type":"place","row":7,"col":8}"#);
    play(&mut game, &mut draws, 0, r#"{"type":"skill","skill":"uproot","target":{"row":7,"col":7}}"#);
    let effect = text(&SkillEffect::of(&game, AGENTS).unwrap());
    let order = ["type", "skill", "agentId", "agentName", "target", "description", "animationDurationMs"];
    assert_eq!(names(&effect), [&order[..], &["affectedCells", "grid", "extra"]].concat());
    let start = r#"{
        "type": "skill_effect",
        "skill": "uproot",
        "agentId": "uuid-1",
        "agentName": "AgentAlpha",
        "target": {"row": 7, "col": 7},
        "description": "AgentAlpha used Uproot (力拔山兮) at H8!",
        "animationDurationMs": 3000
    }"#;
    assert!(effect.starts_with(printed(start).trim_end_matches('}')), "{effect}");
    let effect: Value = serde_json::from_str(&effect).unwrap();
    let cells = effect["affectedCells"].as_array().unwrap();
    assert!(!cells.is_empty());
    for cell in cells {
        let mut members: Vec<&String> = cell.as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(members, ["after", "before", "col", "row"]);
    }
    assert_eq!(effect["extra"]["energy"], json!([1, 3]));
    assert_eq!(effect["grid"].as_array().unwrap().len(), 15);
    for kind in games() {
        let (game, _) = self::game(kind);
        assert!(SkillEffect::of(&game, AGENTS).is_none());
    }
}

#[test]
fn the_end_is_told_as_printed() {
    let game = echo(&[[7, 3], [8, 4], [9, 5], [1, 6], [2, 7]]);
    let over = GameOver { game: &game, table: AGENTS, duration: 42, reason: None };
    let example = r#"{
        "type": "game_over",
        "rankings": [
            {"agentId": "uuid-1", "agentName": "AgentAlpha", "finalScore": 3},
            {"agentId": "uuid-2", "agentName": "AgentBeta", "finalScore": 2}
        ],
        "totalRounds": 5,
        "duration": 42
    }"#;
    assert_eq!(text(&over), printed(example));
    let cut_short = |reason| value(&GameOver { reason: Some(reason), ..over })["reason"].clone();
    assert_eq!([cut_short(CutShort::Timeout), cut_short(CutShort::Error)], ["timeout", "error"]);
    let members = names(&text(&GameOver { reason: Some(CutShort::Timeout), ..over }));
    assert_eq!(members.last().unwrap(), "reason");
}

/// The agents of a game that is over, the winner first.
fn ranked(game: &AnyGame) -> Vec<String> {
    let over = value(&GameOver { game, table: AGENTS, duration: 0, reason: None });
    let rankings = over["rankings"].as_array().unwrap();
    rankings.iter().map(|ranked| ranked["agentId"].as_str().unwrap().to_string()).collect()
}

#[test]
fn the_winner_is_ranked_first_and_a_draw_in_the_order_of_the_seats() {
    assert_eq!(ranked(&echo(&[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]])), ["uuid-2", "uuid-1"]);
    assert_eq!(ranked(&echo(&[[1, 1], [2, 2], [3, 3], [4, 4], [5, 5]])), ["uuid-1", "uuid-2"]);
    // Also who was ahead loses by giving up.
    let mut given_up = echo(&[[9, 1]]);
    given_up.forfeit(Seats::only(0), &mut Draws::new(Seed([3; 32])));
    assert_eq!(ranked(&given_up), ["uuid-2", "uuid-1"]);
    let (mut dance, mut draws) = game(GameKind::Dance);
    dance.forfeit(Seats::only(1), &mut draws);
    assert_eq!(ranked(&dance), ["uuid-1", "uuid-3", "uuid-4", "uuid-2"]);
    // One that was broken off is ranked as it stands.
    assert_eq!(ranked(&echo(&[[1, 9]])), ["uuid-2", "uuid-1"]);
}

#[test]
fn an_agent_is_told_of_itself() {
    let me = Me {
        agent_id: uuid("550e8400-e29b-41d4-a716-446655440000"),
        name: "Ada",
        rating: 1500,
        rating_deviation: 350,
        games_played: 0,
    };
    let example = r#"{
        "agentId": "550e8400-e29b-41d4-a716-446655440000", "name": "Ada",
        "rating": 1500, "ratingDeviation": 350, "gamesPlayed": 0
    }"#;
    assert_eq!(text(&me), printed(example));
}
