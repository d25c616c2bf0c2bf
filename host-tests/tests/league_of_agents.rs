//! League of Agents from outside: every error by name, whole games message by message, whoever is late, away or looks on,
//! and agents of both protocols in one league.

use std::time::Duration;

use host_tests::arena::{Agent, Link, matched, register};
use host_tests::crowd::{Crowd, GOMOKU};
use host_tests::http;
use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::results;
use host_tests::settings::Settings;
use host_tests::wait_for;
use serde_json::{Value, json};

fn error(message: &str) -> Value {
    json!({"type": "error", "message": message})
}

fn refused(error: &str) -> Value {
    json!({"type": "move_result", "success": false, "error": error})
}

/// The agents of a `game_over`, the winner first.
fn ranking(over: &Value) -> Vec<&str> {
    let rankings = over["rankings"].as_array().unwrap_or_else(|| panic!("{over}"));
    rankings.iter().filter_map(|ranked| ranked["agentName"].as_str()).collect()
}

#[test]
fn an_agent_is_registered_once_and_every_error_of_the_table_is_told() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (status, answer) = register(&leaguebox, r#"{"name": " Ada ", "description": "optional"}"#);
    assert_eq!((status, &answer["name"]), (201, &json!("Ada")), "{answer}");
    for (field, length) in [("agentId", 36), ("apiKey", 36), ("createdAt", "2025-01-15T12:00:00.000Z".len())] {
        assert_eq!(answer[field].as_str().map(str::len), Some(length), "{answer}");
    }
    let bad = "Name may only contain letters, numbers, spaces, hyphens, underscores, and dots.";
    for (body, status, error) in [
        (r#"{"name": "#, 400, "Invalid JSON body."),
        ("", 400, "Invalid JSON body."),
        ("{}", 400, "Name is required."),
        (r#"{"name": ""}"#, 400, "Name is required."),
        (r#"{"name": "A"}"#, 400, "Name must be at least 2 characters."),
        (r#"{"name": "123456789012345678901234567890123"}"#, 400, "Name must be 32 characters or fewer."),
        (r#"{"name": "<script>"}"#, 400, bad),
        (r#"{"name": "Ada"}"#, 409, "Agent name is already taken."),
    ] {
        assert_eq!(register(&leaguebox, body), (status, json!({ "error": error })), "{body}");
    }
}

#[test]
fn an_agent_with_its_key_is_told_of_itself_and_nobody_else_is() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ada = Agent::register(&leaguebox, "Ada");
    let me = json!({"agentId": ada.id, "name": "Ada", "rating": 1500, "ratingDeviation": 350, "gamesPlayed": 0});
    assert_eq!(ada.me(&leaguebox), me);
    for headers in ["", "Authorization: Bearer 550e8400-e29b-41d4-a716-446655440000\r\n", "Authorization: Basic x\r\n"]
    {
        let response = http::request(leaguebox.address, "GET", "/api/v1/agents/me", headers, "").expect("an answer");
        assert_eq!(response.status, 401, "{headers}");
    }
}

#[test]
fn what_agents_read_is_there() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (path, kind) in [("/api/v1/skill.md", "text/markdown"), ("/api/v1/doc", "text/markdown")] {
        let response = leaguebox.get(path);
        assert!(response.header("content-type").is_some_and(|value| value.starts_with(kind)), "{path}");
        assert!(response.body.starts_with("# League of Agents on LeagueBox"), "{path}");
    }
    assert!(leaguebox.get_json("/api/v1/doc?format=json")["games"]["echo"].is_object());
    let card = leaguebox.get_json("/.well-known/agent.json");
    assert_eq!(card["endpoints"]["leagueOfAgentsSkill"], "/api/v1/skill.md");
}

#[test]
fn every_connection_error_is_told_and_closes_with_4001_where_the_table_says_so() {
    let leaguebox = LeagueBox::start(Settings::default());
    let nobody = "550e8400-e29b-41d4-a716-446655440000";
    let missing = "Missing or invalid token in authenticate message.";
    for (message, words) in [
        (json!({"type": "authenticate", "token": nobody}), "Invalid API key."),
        (json!({"type": "authenticate", "token": "x"}), "Invalid API key."),
        (json!({"type": "authenticate"}), missing),
        (json!({"type": "authenticate", "token": 7}), missing),
        (json!({"type": "authenticate", "token": null}), missing),
    ] {
        let mut link = Link::dial(&leaguebox);
        link.say(message.clone());
        assert_eq!(link.hear(), error(words), "{message}");
        assert_eq!(link.hear_close(), 4001, "{message}");
    }
    let mut ada = Agent::register(&leaguebox, "Ada");
    for token in [ada.key.clone(), nobody.into()] {
        ada.link.say(json!({"type": "authenticate", "token": token}));
        assert_eq!(ada.link.hear(), error("Already authenticated."));
    }
    ada.join("echo");
    assert_eq!(ada.link.hear()["type"], "queue_status", "the connection stays open");
}

#[test]
fn every_protocol_error_is_told_in_its_words_and_the_connection_stays_open() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut ada = Agent::register(&leaguebox, "Ada");
    let mut stranger = Link::dial(&leaguebox);
    let first = r#"Not authenticated. Send {"type":"authenticate","token":"YOUR_API_KEY"} first."#;
    let both = [
        ("{nonsense", "Invalid JSON."),
        (r#"{"type":"dance"}"#, "Unknown message type."),
        ("[]", "Unknown message type."),
        (r#"{"type":"subscribe_game"}"#, "Missing gameId."),
        (r#"{"type":"subscribe_game","gameId":"game-456"}"#, "Game not found."),
    ];
    for (text, words) in both.into_iter().chain([
        (r#"{"type":"join_queue","gameType":"echo"}"#, first),
        (r#"{"type":"join_queue"}"#, first),
        (r#"{"type":"submit_move","gameId":"game-456","move":{}}"#, first),
    ]) {
        stranger.say_text(text);
        assert_eq!(stranger.hear(), error(words), "{text}");
    }
    let unknown = "Unknown gameType. Use one of: echo, blotto, skill-gomoku, resource-rush, dance-battle, landlord, \
                   rockpaper, blackjack, texasholdem, chess, go, regular_debate, spicy_debate, trade_deal.";
    for (text, words) in both.into_iter().chain([
        (r#"{"type":"join_queue"}"#, "Missing gameType."),
        (r#"{"type":"join_queue","gameType":7}"#, "Missing gameType."),
        (r#"{"type":"join_queue","gameType":"checkers"}"#, unknown),
        (r#"{"type":"submit_move","move":{}}"#, "Missing gameId."),
        (r#"{"type":"submit_move","gameId":"game-456"}"#, "Missing move."),
        (r#"{"type":"submit_move","gameId":"game-456","move":null}"#, "Missing move."),
    ]) {
        ada.link.say_text(text);
        assert_eq!(ada.link.hear(), error(words), "{text}");
    }
}

#[test]
fn every_move_error_is_told_in_its_words_and_a_refused_move_may_be_made_again() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut ada, mut bob], id) = matched(&leaguebox, "echo", ["Ada", "Bob"]);
    let mut eve = Agent::register(&leaguebox, "Eve");
    ada.link.hear_all(&["game_state", "your_turn"]);
    bob.link.hear_all(&["game_state", "your_turn"]);
    for nowhere in ["game-456", "550e8400-e29b-41d4-a716-446655440000"] {
        assert_eq!(ada.play(nowhere, json!({"number": 7})), refused("Game not found or not active."));
    }
    assert_eq!(eve.play(&id, json!({"number": 7})), refused("You are not a player in this game."));
    let answer = ada.play(&id, json!({"number": 11}));
    assert_eq!((&answer["success"], &answer["error"]), (&json!(false), &json!("Invalid move.")));
    assert_eq!(answer["detail"], "number must be an integer from 1 to 10");
    ada.plays(&id, json!({"number": 7}));
    ada.link.hear_all(&["thinking"]);
    assert_eq!(ada.play(&id, json!({"number": 8})), refused("You already submitted a move this round."));
    bob.link.hear_all(&["thinking"]);
    bob.plays(&id, json!({"number": 3}));
    let heard = bob.link.hear_until("turn_update");
    assert_eq!(heard[heard.len() - 1]["scores"], json!({"Ada": 1, "Bob": 0}), "the first move counts");
}

#[test]
fn a_whole_game_of_echo_is_told_message_by_message() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut ada, mut bob], id) = matched(&leaguebox, "echo", ["Ada", "Bob"]);
    let state = |round: u32, status: &str, scores: [u32; 2]| {
        let thinking = status == "active";
        json!({"type": "game_state", "gameId": id, "gameType": "echo", "status": status, "round": round, "maxRounds": 5,
            "players": [{"agentId": ada.id, "agentName": "Ada", "score": scores[0], "thinking": thinking},
                        {"agentId": bob.id, "agentName": "Bob", "score": scores[1], "thinking": thinking}],
            "grid": null,
            "extra": {"currentRound": round, "maxRounds": 5, "scores": {&ada.id: scores[0], &bob.id: scores[1]}},
            "spectatorCount": 0})
    };
    let thinking =
        |agent: &Agent| json!({"type": "thinking", "agentId": agent.id, "agentName": agent.name, "thinking": false});
    let (ada_has_moved, bob_has_moved) = (thinking(&ada), thinking(&bob));
    let states: Vec<Value> = [[0, 0], [1, 0], [2, 0], [2, 1], [2, 1]]
        .into_iter()
        .zip(1..)
        .map(|(scores, round)| state(round, "active", scores))
        .chain([state(5, "completed", [3, 1])])
        .collect();
    let rounds =
        [([7, 3], "Ada wins!"), ([8, 4], "Ada wins!"), ([1, 9], "Bob wins!"), ([5, 5], "tie!"), ([9, 2], "Ada wins!")];
    for agent in [&mut ada, &mut bob] {
        assert_eq!(agent.link.hear(), states[0]);
        assert_eq!(agent.link.hear(), json!({"type": "your_turn", "gameId": id, "round": 1}));
    }
    for (round, ([a, b], summary)) in (1..).zip(rounds) {
        ada.plays(&id, json!({"number": a}));
        assert_eq!(ada.link.hear(), ada_has_moved);
        assert_eq!(bob.link.hear(), ada_has_moved);
        bob.plays(&id, json!({"number": b}));
        for agent in [&mut ada, &mut bob] {
            assert_eq!(agent.link.hear(), bob_has_moved);
            let update = agent.link.hear();
            assert_eq!((&update["type"], &update["round"]), (&json!("turn_update"), &json!(round)), "{update}");
            assert_eq!(update["roundSummary"], format!("Round {round}: {summary}"));
            assert_eq!(update["moves"][0]["action"], format!("Played {a}\u{fe0f}\u{20e3}"));
            assert_eq!(update["moves"][1]["agentName"], "Bob");
            assert_eq!(agent.link.hear(), states[round]);
            if round < 5 {
                assert_eq!(agent.link.hear(), json!({"type": "your_turn", "gameId": id, "round": round + 1}));
            }
        }
    }
    let over = json!([{"agentId": ada.id, "agentName": "Ada", "finalScore": 3},
                      {"agentId": bob.id, "agentName": "Bob", "finalScore": 1}]);
    for agent in [&mut ada, &mut bob] {
        let heard = agent.link.hear();
        assert_eq!(
            (&heard["type"], &heard["rankings"], &heard["totalRounds"]),
            (&json!("game_over"), &over, &json!(5))
        );
        assert!(heard["duration"].is_u64() && heard.get("reason").is_none(), "{heard}");
    }
    assert_eq!(ada.play(&id, json!({"number": 1})), refused("Game not found or not active."));
    let (ada, bob) = (ada.me(&leaguebox), bob.me(&leaguebox));
    assert!(ada["rating"].as_u64() > Some(1500) && bob["rating"].as_u64() < Some(1500), "{ada} {bob}");
    for me in [ada, bob] {
        assert!(me["gamesPlayed"] == 1 && me["ratingDeviation"].as_u64() < Some(350), "{me}");
    }
}

#[test]
fn who_does_not_move_in_time_loses_and_the_first_move_has_a_time_of_its_own() {
    let settings = Settings { first_turn_timeout_ms: 20_000, turn_timeout_ms: 1_000, ..Settings::default() };
    let leaguebox = LeagueBox::start(settings);
    let ([mut ada, mut bob], id) = matched(&leaguebox, "echo", ["Ada", "Bob"]);
    // Longer than a turn, and not too long for the first one.
    let begun = leaguebox.clock();
    while leaguebox.clock() - begun < Duration::from_millis(1_500) {
        std::thread::sleep(Duration::from_millis(50));
    }
    ada.link.hear_all(&["game_state", "your_turn"]);
    bob.link.hear_all(&["game_state", "your_turn"]);
    bob.plays(&id, json!({"number": 9}));
    ada.link.hear_all(&["thinking"]);
    ada.plays(&id, json!({"number": 1}));
    ada.link.hear_all(&["thinking", "turn_update", "game_state", "your_turn"]);
    // Nobody moves any more: Ada, who does, wins against the points.
    ada.plays(&id, json!({"number": 2}));
    for agent in [&mut ada, &mut bob] {
        let heard = agent.link.hear_until("game_over");
        let [.., state, over] = heard.as_slice() else { panic!("{heard:?}") };
        assert_eq!((&state["type"], &state["status"]), (&json!("game_state"), &json!("completed")));
        assert_eq!((&over["reason"], &over["totalRounds"]), (&json!("timeout"), &json!(1)), "{over}");
        assert_eq!(ranking(over), ["Ada", "Bob"]);
    }
}

#[test]
fn who_hangs_up_and_comes_back_within_its_turn_plays_on() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut ada, mut bob], id) = matched(&leaguebox, "echo", ["Ada", "Bob"]);
    for round in 1..=5 {
        ada.link.hear_until("your_turn");
        ada.plays(&id, json!({"number": round}));
        bob.come_back_after(&leaguebox, Duration::from_millis(200));
        let heard = bob.link.hear_all(&["game_state", "your_turn"]);
        assert_eq!((&heard[0]["round"], &heard[1]["round"]), (&json!(round), &json!(round)));
        let thinking: Vec<&Value> = [0, 1].map(|seat| &heard[0]["players"][seat]["thinking"]).to_vec();
        assert_eq!(thinking, [false, true], "it is told who has moved");
        bob.plays(&id, json!({"number": 11 - round}));
    }
    for agent in [&mut ada, &mut bob] {
        let over = agent.link.hear_until("game_over").pop().expect("it ends");
        assert!(over.get("reason").is_none(), "{over}");
        assert_eq!(ranking(&over), ["Bob", "Ada"]);
    }
}

#[test]
fn somebody_looks_on_is_counted_and_hears_everything_but_whose_turn_it_is() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut ada, mut bob], id) = matched(&leaguebox, "echo", ["Ada", "Bob"]);
    for agent in [&mut ada, &mut bob] {
        let state = agent.link.hear_all(&["game_state", "your_turn"]).swap_remove(0);
        assert_eq!(state["spectatorCount"], 0);
    }
    let mut spectator = Link::dial(&leaguebox);
    spectator.say(json!({"type": "subscribe_game", "gameId": id}));
    let state = spectator.hear();
    assert_eq!(
        (&state["type"], &state["gameId"], &state["spectatorCount"]),
        (&json!("game_state"), &json!(id), &json!(1))
    );
    for round in 1..=5 {
        ada.plays(&id, json!({"number": round}));
        assert_eq!(spectator.hear()["agentName"], "Ada", "has moved");
        assert_eq!(bob.link.hear()["type"], "thinking");
        bob.plays(&id, json!({"number": 11 - round}));
        let heard = spectator.hear_all(&["thinking", "turn_update", "game_state"]);
        assert_eq!((&heard[1]["round"], &heard[2]["spectatorCount"]), (&json!(round), &json!(1)));
        let state = ada.link.hear_until("game_state").pop().expect("a state");
        assert_eq!(state["spectatorCount"], 1);
        bob.link.hear_until("game_state");
        if round < 5 {
            ada.link.hear_all(&["your_turn"]);
            bob.link.hear_all(&["your_turn"]);
        }
    }
    assert_eq!(ranking(&spectator.hear_all(&["game_over"])[0]), ["Bob", "Ada"]);
}

#[test]
fn an_agent_without_a_game_looks_on_and_one_that_is_matched_looks_on_no_more() {
    let leaguebox = LeagueBox::start(Settings { turn_timeout_ms: 2_000, ..Settings::default() });
    let ([mut ada, mut bob], id) = matched(&leaguebox, "echo", ["Ada", "Bob"]);
    let mut eve = Agent::register(&leaguebox, "Eve");
    eve.link.say(json!({"type": "subscribe_game", "gameId": id}));
    assert_eq!(eve.link.hear_all(&["game_state"])[0]["spectatorCount"], 1);
    ada.link.hear_all(&["game_state", "your_turn"]);
    bob.link.hear_all(&["game_state", "your_turn"]);
    ada.plays(&id, json!({"number": 1}));
    bob.link.hear_all(&["thinking"]);
    bob.plays(&id, json!({"number": 2}));
    // Nobody moves any more.
    for agent in [&mut ada, &mut bob, &mut eve] {
        assert_eq!(agent.link.hear_until("game_over").pop().expect("an end")["reason"], "timeout");
    }
    let ([mut ada, mut bob], id) = rematched([ada, bob]);
    eve.link.say(json!({"type": "subscribe_game", "gameId": id}));
    eve.link.hear_all(&["game_state"]);
    let mut dan = Agent::register(&leaguebox, "Dan");
    for agent in [&mut eve, &mut dan] {
        agent.join("blotto");
    }
    let heard = eve.link.hear_until("your_turn");
    assert_eq!(heard[heard.len() - 2]["gameType"], "blotto");
    ada.link.hear_all(&["game_state", "your_turn"]);
    ada.plays(&id, json!({"number": 1}));
    bob.link.hear_until("thinking");
    bob.plays(&id, json!({"number": 2}));
    let state = bob.link.hear_until("game_state").pop().expect("a state");
    assert_eq!(state["spectatorCount"], 0);
}

/// The same two once more.
fn rematched(mut agents: [Agent; 2]) -> ([Agent; 2], String) {
    agents[0].join("echo");
    assert_eq!(agents[0].link.hear()["type"], "queue_status");
    agents[1].join("echo");
    let matched = agents.each_mut().map(|agent| agent.link.hear_all(&["matched"]).swap_remove(0));
    let id = matched[0]["gameId"].as_str().unwrap_or_else(|| panic!("{matched:?}")).to_owned();
    (agents, id)
}

#[test]
fn whoever_pings_is_answered_with_the_time() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut stranger = Link::dial(&leaguebox);
    let mut ada = Agent::register(&leaguebox, "Ada");
    for link in [&mut stranger, &mut ada.link] {
        link.say(json!({"type": "ping"}));
        let pong = link.hear_pong();
        assert_eq!(pong["type"], "pong");
        assert!(pong["timestamp"].is_u64(), "{pong}");
    }
}

#[test]
fn a_whole_game_of_gomoku_with_every_skill_told_before_its_turn() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (mut agents, id) = matched(&leaguebox, "skill-gomoku", ["Black", "White"]);
    for (place, &(kind, row, col)) in GOMOKU.iter().enumerate() {
        let at = json!({"row": row, "col": col});
        let wanted = match kind {
            "place" => json!({"type": "place", "row": row, "col": col}),
            skill => json!({"type": "skill", "skill": skill, "target": at}),
        };
        let [black, white] = &mut agents;
        let (mover, other) = if place % 2 == 0 { (black, white) } else { (white, black) };
        let turn = mover.link.hear_until("your_turn").pop().expect("a turn");
        assert_eq!(turn["round"], place + 1);
        if place == 0 {
            assert_eq!(other.link.hear()["type"], "game_state", "and it is not its turn");
            let answer = other.play(&id, wanted.clone());
            assert_eq!(answer["error"], "Invalid move.");
            assert_eq!(answer["detail"], "it is not your turn");
        }
        mover.plays(&id, wanted);
        for agent in [mover, other] {
            let mut types = vec!["thinking", "turn_update", "game_state"];
            if kind != "place" {
                types.insert(1, "skill_effect");
            }
            let heard = agent.link.hear_all(&types);
            let state = &heard[heard.len() - 1];
            if kind != "place" {
                assert_eq!((&heard[1]["skill"], &heard[1]["target"]), (&json!(kind), &at));
                assert_eq!((&heard[1]["grid"], &heard[1]["extra"]), (&state["grid"], &state["extra"]));
            } else {
                assert_eq!(state["extra"]["lastMove"], at);
            }
        }
    }
    for agent in &mut agents {
        let over = agent.link.hear_all(&["game_over"]).swap_remove(0);
        assert_eq!((ranking(&over), &over["totalRounds"]), (vec!["Black", "White"], &json!(GOMOKU.len())));
    }
}

#[test]
fn a_whole_game_of_blotto_with_its_history() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut ada, mut bob], id) = matched(&leaguebox, "blotto", ["Ada", "Bob"]);
    for _ in 0..5 {
        ada.link.hear_until("your_turn");
        bob.link.hear_until("your_turn");
        assert_eq!(
            bob.play(&id, json!({"allocation": [2, 2, 2, 2, 3]}))["detail"],
            "allocation must sum to exactly 10"
        );
        ada.plays(&id, json!({"allocation": [3, 3, 3, 1, 0]}));
        bob.link.hear_all(&["thinking"]);
        bob.plays(&id, json!({"allocation": [2, 2, 2, 2, 2]}));
    }
    let heard = bob.link.hear_until("game_over");
    let [.., state, over] = heard.as_slice() else { panic!("{heard:?}") };
    let history = state["extra"]["history"].as_array().expect("a history");
    assert_eq!(history.len(), 5);
    let round =
        json!({"round": 5, "allocations": {&ada.id: [3, 3, 3, 1, 0], &bob.id: [2, 2, 2, 2, 2]}, "winner": ada.id});
    assert_eq!(history[4], round);
    assert_eq!(ranking(over), ["Ada", "Bob"]);
}

#[test]
fn a_drone_gets_its_memory_back_and_everybody_hears_its_thought() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut ada, mut bob], id) = matched(&leaguebox, "resource-rush", ["Ada", "Bob"]);
    let state = ada.link.hear_all(&["game_state", "your_turn"]).swap_remove(0);
    assert_eq!((&state["extra"]["maxTicks"], &state["extra"]["memory"]), (&json!(500), &Value::Null));
    assert_eq!(state["extra"]["grid"].as_array().map(Vec::len), Some(100));
    bob.link.hear_all(&["game_state", "your_turn"]);
    let memory = json!({"visited": [[10, 10], [11, 10]]});
    ada.plays(&id, json!({"action": "wait", "thought": "Looking for gold veins...", "memory": memory}));
    bob.link.hear_all(&["thinking"]);
    bob.plays(&id, json!({"action": "wait"}));
    for (agent, memory) in [(&mut ada, memory), (&mut bob, Value::Null)] {
        let state = agent.link.hear_until("game_state").pop().expect("a state");
        assert_eq!((&state["extra"]["tick"], &state["extra"]["memory"]), (&json!(1), &memory));
        let thoughts = state["extra"]["playerThoughts"].as_object().expect("thoughts");
        assert!(thoughts.values().any(|thought| thought == "Looking for gold veins..."));
    }
}

/// What everybody dances: the first and the last of the seats meet their neighbours, then each other.
const DANCE: [[[&str; 3]; 4]; 4] = [
    [
        ["right", "right", "rock"],
        ["left", "left", "scissors"],
        ["left", "left", "scissors"],
        ["right", "right", "rock"],
    ],
    [
        ["right", "right", "rock"],
        ["left", "hold", "scissors"],
        ["left", "hold", "scissors"],
        ["right", "right", "rock"],
    ],
    [["down", "down", "rock"], ["hold", "hold", "rock"], ["hold", "hold", "rock"], ["up", "up", "scissors"]],
    [["down", "down", "rock"], ["hold", "hold", "rock"], ["hold", "hold", "rock"], ["up", "hold", "scissors"]],
];

#[test]
fn four_dance_until_one_is_left_and_who_is_out_goes_on_planning() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (mut agents, id) = matched(&leaguebox, "dance-battle", ["Ada", "Bob", "Cleo", "Dan"]);
    for (round, plans) in (1..).zip(DANCE) {
        for agent in &mut agents {
            let heard = agent.link.hear_until("your_turn");
            let [.., state, turn] = heard.as_slice() else { panic!("{heard:?}") };
            assert_eq!((&state["publicState"]["round"], &turn["round"]), (&json!(round), &json!(round)));
            assert_eq!(state["publicState"]["matchResult"], Value::Null);
            let motto = if round == 1 { "" } else { "I am Bob" };
            assert_eq!(state["publicState"]["agents"][1]["motto"], motto);
        }
        for (agent, [first, second, throw]) in agents.iter_mut().zip(plans) {
            let plan = json!({"commands": [
                {"beatIndex": 0, "kind": "move", "direction": first},
                {"beatIndex": 1, "kind": "move", "direction": second},
                {"beatIndex": 2, "kind": "action", "action": throw, "motto": format!("I am {}", agent.name)}]});
            agent.link.say(json!({"type": "submit_move", "gameId": id, "move": plan}));
            let heard = agent.link.hear_until("move_result");
            assert_eq!(heard[heard.len() - 1]["success"], true, "{heard:?}");
        }
    }
    for agent in &mut agents {
        let heard = agent.link.hear_until("game_over");
        let [.., state, over] = heard.as_slice() else { panic!("{heard:?}") };
        assert_eq!((&state["status"], &state["round"]), (&json!("completed"), &json!(4)));
        assert_eq!(state["publicState"]["matchResult"]["reason"], "last_standing");
        assert_eq!(state["publicState"]["agents"][1]["motto"], "I am Bob", "also of one who is out");
        assert_eq!(ranking(over), ["Ada", "Dan", "Bob", "Cleo"]);
        assert_eq!(over["rankings"][0]["finalScore"], 2);
    }
}

#[test]
fn an_agent_of_the_arena_and_players_that_are_called_play_one_league() {
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::start_at(3) });
    let mut ada = Agent::register(&leaguebox, "Ada");
    let crowd = Crowd::of(&leaguebox, 2);
    let mut over = 0;
    while over < 2 {
        let heard = ada.link.hear();
        match heard["type"].as_str() {
            Some("your_turn") => {
                let number = 1 + heard["round"].as_u64().unwrap_or_default();
                let wanted = json!({ "number": number });
                ada.link.say(json!({"type": "submit_move", "gameId": heard["gameId"], "move": wanted}));
            }
            Some("move_result") => assert_eq!(heard["success"], true, "{heard}"),
            Some("game_over") => {
                assert!(heard.get("reason").is_none(), "{heard}");
                over += 1;
            }
            _ => {}
        }
    }
    crowd.wait_for_the_end();
    leaguebox.wait_for_the_champion();
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    results::assert_points_follow(&rows);
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    assert_eq!(ada.me(&leaguebox)["gamesPlayed"], 2);
}

#[test]
fn in_echo_players_of_both_protocols_are_told_what_the_other_played() {
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::start_at(2) });
    let mut ada = Agent::register(&leaguebox, "Ada");
    let crowd = Crowd::of(&leaguebox, 1);
    let mut heard = Vec::new();
    loop {
        let message = ada.link.hear();
        match message["type"].as_str() {
            Some("your_turn") => {
                let wanted = json!({"number": 1 + message["round"].as_u64().expect("a round")});
                ada.link.say(json!({"type": "submit_move", "gameId": message["gameId"], "move": wanted}));
            }
            Some("turn_update") => heard.push(message["moves"].clone()),
            Some("game_over") => break,
            _ => {}
        }
    }
    crowd.wait_for_the_end();
    assert_eq!(heard.len(), 5);
    let events = crowd.events();
    let told = |turn: usize| {
        let of_it = |state: &Value| state["turn_number"] == turn;
        let mut states =
            events.iter().filter(|event| event.is("MOVE_REQUEST")).map(|event| &event.message["game_state"]);
        states.find(|state| of_it(state)).unwrap_or_else(|| panic!("a question in turn {turn}"))["last_turn"].clone()
    };
    assert_eq!(told(1), json!({}), "nothing has been played");
    for (turn, heard) in (1..5).zip(&heard) {
        let of = |name: &str| heard.as_array().into_iter().flatten().find(|one| one["agentName"] == name);
        let [adas, others] =
            ["Ada", "Player 1"].map(|name| of(name).unwrap_or_else(|| panic!("{heard}"))["action"].clone());
        assert_eq!(adas, format!("Played {}\u{fe0f}\u{20e3}", turn + 1));
        assert_eq!(told(turn + 1), json!({"P01": adas, "P02": others}), "both are told the same of both");
    }
}

/// What a real client heard of its one game.
fn heard_by(player: &Player) -> Vec<Value> {
    wait_for(&format!("{} hears game_over", player.name), || {
        let heard = player.received();
        heard.iter().any(|message| message["type"] == "game_over").then_some(heard)
    })
}

/// Two real clients play a whole game; what each of them heard.
fn real_clients_play(players: [Player; 2], rounds: usize) -> Vec<Vec<Value>> {
    let all = players.each_ref().map(heard_by);
    for heard in &all {
        let count = |kind: &str| heard.iter().filter(|message| message["type"] == kind).count();
        assert_eq!((count("authenticated"), count("matched"), count("turn_update")), (1, 1, rounds), "{heard:?}");
        assert_eq!((count("game_state"), count("error")), (rounds + 1, 0), "{heard:?}");
        assert_eq!(count("move_result"), count("your_turn"), "{heard:?}");
        assert!(
            heard.iter().all(|message| message["type"] != "move_result" || message["success"] == true),
            "{heard:?}"
        );
        let over = heard.iter().find(|message| message["type"] == "game_over").expect("it was waited for");
        assert!(over["totalRounds"] == rounds && over.get("reason").is_none(), "{over}");
    }
    all.to_vec()
}

fn python(leaguebox: &LeagueBox, library: &str, name: &str, game: &str) -> Player {
    let mut player = Player::start(leaguebox, "arena_player", library, name, &["--game", game]);
    player.wait_until_registered();
    // Who asks first has the first seat.
    wait_for(&format!("{name} waits or plays"), || (player.received().len() > 1).then_some(()));
    player
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn pythons_websockets_and_websocket_client_play_a_whole_game_of_echo() {
    let leaguebox = LeagueBox::start(Settings::default());
    let players = ["websockets", "websocket-client"].map(|library| python(&leaguebox, library, library, "echo"));
    real_clients_play(players, 5);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn pythons_websockets_and_websocket_client_play_a_whole_game_of_gomoku() {
    let leaguebox = LeagueBox::start(Settings::default());
    let players =
        ["websockets", "websocket-client"].map(|library| python(&leaguebox, library, library, "skill-gomoku"));
    for heard in real_clients_play(players, 9) {
        assert!(heard.iter().any(|message| message["type"] == "skill_effect" && message["skill"] == "stillwater"));
        assert_eq!(ranking(&heard[heard.len() - 1]), ["websockets", "websocket-client"]);
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn nodes_ws_plays_whole_games_of_echo_and_gomoku() {
    for (game, rounds) in [("echo", 5), ("skill-gomoku", 9)] {
        let leaguebox = LeagueBox::start(Settings::default());
        let python = python(&leaguebox, "websockets", "Python", game);
        let node = Player::node_in_the_arena(&leaguebox, "Node", game);
        for heard in real_clients_play([python, node], rounds) {
            assert_eq!(ranking(&heard[heard.len() - 1]), ["Python", "Node"]);
        }
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_plays_every_game_and_no_move_of_its_is_refused() {
    let leaguebox = LeagueBox::start(Settings::default());
    // A whole game on the map is five hundred states of 27 KB for each drone.
    for (game, seats, end) in [
        ("echo", 2, "1st:"),
        ("blotto", 2, "1st:"),
        ("skill-gomoku", 2, "1st:"),
        ("resource-rush", 2, "Tick 5:"),
        ("dance-battle", 4, "1st:"),
    ] {
        let start = |seat: usize| {
            let name = format!("{game} {seat}");
            Player::dialling_example(&leaguebox, "league_of_agents", &name, &["--game", game])
        };
        let players: Vec<Player> = (1..=seats).map(start).collect();
        for player in &players {
            wait_for(&format!("{} prints {end}", player.name), || player.printed().contains(end).then_some(()));
            assert!(!player.printed().contains("refused:"), "{}", player.printed());
        }
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_player_in_the_documentation_plays_as_it_is_printed() {
    let leaguebox = LeagueBox::start(Settings::default());
    let page = leaguebox.get("/api/v1/skill.md").body;
    let code = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a player");
    let script = std::env::temp_dir().join(format!("leaguebox-documented-{}.py", std::process::id()));
    std::fs::write(&script, code).expect("a file");
    let address = leaguebox.address.to_string();
    let mut players = ["Ada", "Bob"].map(|name| Player::script(&script, name, &[&address, name]));
    for player in &mut players {
        assert_eq!(player.wait_until_it_ends(), Some(0), "{}", player.printed());
        assert!(player.printed().contains("is first"), "{}", player.printed());
    }
    std::fs::remove_file(script).expect("it was there");
}
