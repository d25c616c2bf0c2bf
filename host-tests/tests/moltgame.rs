//! MoltGame from outside: every call and every error by name, whole games by polling, agents that move at the same instant,
//! what is said and what is kept, and a league beside players that are called.

use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::moltgame::{
    Agent, BLACKJACK, DANCE, ECHO, GOMOKU, LANDLORD, ROCKPAPER, TEXASHOLDEM, ask, boldest, broken, first, is_refused,
    read, worst_deal, worst_landlord,
};
use host_tests::settings::Settings;
use host_tests::{http, results, wait_for};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

const NOBODY: &str = "550e8400-e29b-41d4-a716-446655440000";

/// How many players a box has room for.
const CAPACITY: usize = if cfg!(feature = "board") { 32 } else { 512 };

/// Two agents that have just registered.
fn two(leaguebox: &LeagueBox) -> (Agent, Agent) {
    (Agent::register(leaguebox, "Ada"), Agent::register(leaguebox, "Bob"))
}

/// All of them play as `choose` says until their game is over: what each is told then.
fn all_play(agents: &[&Agent], choose: fn(&Value) -> Value) -> Vec<Value> {
    thread::scope(|scope| {
        let playing: Vec<_> = agents.iter().map(|agent| scope.spawn(move || agent.plays(choose).0)).collect();
        playing.into_iter().map(|agent| agent.join().expect("it plays")).collect()
    })
}

/// The log of a room that is over. Its end is there as soon as it is on film.
fn whole_log(leaguebox: &LeagueBox, room: &str) -> Vec<Value> {
    wait_for("the end is in the log", || {
        let page = read(leaguebox, &format!("/rooms/{room}/logs"));
        let rows = page["logs"].as_array().expect("rows").clone();
        rows.last().is_some_and(|row| row["type"] == "game_over").then_some(rows)
    })
}

fn types(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["type"].as_str().expect("a type")).collect()
}

#[test]
fn a_game_is_played_from_registration_to_its_end_by_polling() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (ada, bob) = two(&leaguebox);
    assert_eq!(ada.get("/agents/me").1, read(&leaguebox, &format!("/agents/{}", ada.id)));
    let games = read(&leaguebox, "/games");
    let echo = games["games"].as_array().expect("games").iter().find(|game| game["engine_type"] == "echo");
    assert_eq!(echo.map(|game| &game["id"]), Some(&json!(ECHO)));
    assert_eq!(leaguebox.get(echo.and_then(|game| game["skill_url"].as_str()).expect("a page")).status, 200);

    let (status, opened) = ada.post(&format!("/games/{ECHO}/rooms"), json!({}));
    assert_eq!((status, &opened["status"]), (200, &json!("waiting")), "{opened}");
    let id = opened["room_id"].as_str().expect("an id").to_owned();
    is_refused(ada.post("/agents/heartbeat", json!({})), 400, "game_not_started");
    let (status, joined) = bob.post(&format!("/rooms/{id}/join"), json!({}));
    assert_eq!((status, &joined["players"]), (200, &json!([ada.id, bob.id])), "{joined}");
    let over = all_play(&[&ada, &bob], first);
    assert_eq!(over[0]["game_state"]["standing"], over[1]["game_state"]["standing"]);
    is_refused(ada.post("/agents/heartbeat", json!({})), 404, "no_active_game");
    assert_eq!(ada.told("/agents/heartbeat", json!({"room_id": id}))["game_over"], true);
    assert_eq!(read(&leaguebox, &format!("/spectate/rooms/{id}"))["status"], "finished");
    assert_eq!(ada.get("/agents/me").1["games_played"], 1);
    let mounted = leaguebox.get(&format!("/moltgame/api/v1/spectate/rooms/{id}"));
    assert_eq!(mounted.json()["status"], "finished");
}

#[test]
fn every_error_is_told_by_its_code() {
    let leaguebox = LeagueBox::start(Settings::default());
    let address = leaguebox.address;
    let (ada, bob) = two(&leaguebox);
    is_refused(ask(address, "", "POST", "/agents/register", r#"{"name":"ada"}"#), 409, "name_taken");
    for body in ["", "{", "[]", "{}", r#"{"name":""}"#, r#"{"name":"Dan","league":"no"}"#] {
        is_refused(ask(address, "", "POST", "/agents/register", body), 400, "invalid_request");
    }
    for (key, hint) in
        [("", "Missing Authorization header"), ("moltgame_x", "Invalid API key"), (NOBODY, "Invalid API key")]
    {
        for (method, path) in [
            ("GET", "/agents/me"),
            ("POST", "/agents/heartbeat"),
            ("POST", "/agents/move"),
            ("POST", "/chat/global"),
            ("GET", &format!("/rooms/{NOBODY}")),
            ("POST", &format!("/rooms/{NOBODY}/join")),
            ("POST", &format!("/games/{ECHO}/match")),
        ] {
            let refused = json!({"success": false, "error": "unauthorized", "hint": hint});
            assert_eq!(ask(address, key, method, path, "{}"), (401, refused), "{key} {path}");
        }
    }
    let odd = http::request(address, "GET", "/api/v1/agents/me", "Authorization: Basic x\r\n", "");
    assert_eq!(odd.expect("an answer").json()["hint"], "Invalid Authorization format");
    is_refused(ask(address, "", "GET", "/agents/7", ""), 400, "invalid_agent_id");
    is_refused(ask(address, "", "GET", &format!("/agents/{NOBODY}"), ""), 404, "agent_not_found");
    is_refused(ask(address, "", "GET", "/rooms/7/logs", ""), 400, "invalid_room_id");
    is_refused(ask(address, "", "GET", &format!("/rooms/{NOBODY}/logs"), ""), 404, "room_not_found");
    is_refused(ask(address, "", "GET", &format!("/spectate/rooms/{NOBODY}"), ""), 404, "room_not_found");
    is_refused(ask(address, "", "GET", "/spectate/rooms/7", ""), 400, "invalid_room_id");
    is_refused(ada.post("/games/echo/match", json!({})), 400, "invalid_game_id");
    is_refused(ada.post(&format!("/games/{NOBODY}/rooms"), json!({})), 400, "invalid_game_id");
    is_refused(ada.post(&format!("/games/{ECHO}/rooms"), json!({"seats": 9})), 400, "invalid_request");
    is_refused(ada.post("/rooms/7/join", json!({})), 400, "invalid_room_id");
    is_refused(ada.post(&format!("/rooms/{NOBODY}/join"), json!({})), 404, "room_not_found");
    is_refused(ada.post(&format!("/rooms/{NOBODY}/leave"), json!({})), 404, "room_not_found");
    is_refused(ada.get(&format!("/rooms/{NOBODY}")), 404, "room_not_found");
    is_refused(ada.post("/agents/heartbeat", json!({"room_id": 7})), 400, "invalid_room_id");
    is_refused(ada.post("/agents/heartbeat", json!({"room_id": NOBODY})), 404, "game_not_found");
    is_refused(ada.post("/agents/heartbeat", json!({})), 404, "no_active_game");
    is_refused(ada.post("/agents/heartbeat", json!([])), 400, "invalid_request");
    is_refused(ada.post("/agents/move", json!({"room_id": NOBODY})), 400, "invalid_request");
    is_refused(ada.post("/agents/move", json!({"room_id": NOBODY, "move": []})), 404, "game_not_found");

    let (_, room) = ada.post(&format!("/games/{DANCE}/match"), json!({}));
    let id = room["room_id"].as_str().expect("an id").to_owned();
    let (status, again) = ada.post(&format!("/games/{ECHO}/rooms"), json!({}));
    assert_eq!((status, &again["error"], &again["room_id"]), (400, &json!("already_in_room"), &json!(id)), "{again}");
    is_refused(bob.post(&format!("/rooms/{id}/leave"), json!({})), 400, "not_in_room");
    is_refused(ada.post("/agents/move", json!({"room_id": id, "move": []})), 400, "game_not_started");
    assert_eq!(ada.post(&format!("/rooms/{id}/leave"), json!({})).1["status"], "closed");

    ada.sits_down(ECHO);
    let room = bob.told(&format!("/games/{ECHO}/match"), json!({}));
    assert_eq!(room["matched"], true, "{room}");
    let id = room["room_id"].as_str().expect("an id").to_owned();
    let cyd = Agent::register(&leaguebox, "Cyd");
    is_refused(cyd.post(&format!("/rooms/{id}/join"), json!({})), 400, "room_full");
    is_refused(cyd.post("/agents/heartbeat", json!({"room_id": id})), 400, "not_in_room");
    is_refused(ada.post(&format!("/rooms/{id}/leave"), json!({})), 400, "cannot_leave_non_waiting");
    is_refused(ada.post("/agents/move", json!({"room_id": id, "move": ["x"]})), 400, "invalid_move");
    let legal = ada.beat()["legal_moves"][0].clone();
    assert_eq!(ada.post("/agents/move", json!({"room_id": id, "move": legal})).0, 200);
    is_refused(ada.post("/agents/move", json!({"room_id": id, "move": legal})), 400, "not_your_turn");
    is_refused(cyd.post("/agents/move", json!({"room_id": id, "move": legal})), 400, "not_in_room");

    let mounted = |method: &str, path: &str| {
        let path = format!("/moltgame/api/v1{path}");
        let answer = http::request(address, method, &path, "", "").expect("an answer");
        (answer.status, answer.json())
    };
    is_refused(mounted("POST", "/chairs"), 404, "not_found");
    is_refused(mounted("GET", "/agents/register"), 405, "invalid_request");
    is_refused(ask(address, "", "GET", "/agents/register", ""), 405, "invalid_request");
    // What is refused before it is read, too.
    let long = "x".repeat(70_000);
    is_refused(ada.post("/agents/move", json!({"room_id": id, "move": [long]})), 413, "invalid_request");
    let head = format!("X-Long: {long}\r\n");
    let answer = http::request(address, "POST", "/api/v1/agents/heartbeat", &head, "{}").expect("an answer");
    is_refused((answer.status, answer.json()), 431, "invalid_request");
}

#[test]
fn a_box_that_is_full_says_so_and_so_does_one_with_too_many_from_one_address() {
    let alone = LeagueBox::start(Settings { per_address: Some(1), ..Settings::default() });
    Agent::register(&alone, "Ada");
    is_refused(ask(alone.address, "", "POST", "/agents/register", r#"{"name":"Bob"}"#), 403, "server_full");
    drop(alone);
    let leaguebox = LeagueBox::start(Settings::room_for(CAPACITY));
    for number in 0..CAPACITY {
        Agent::register(&leaguebox, &format!("Agent {number}"));
    }
    let refused = wait_for("it says more than that it is in no hurry", || {
        let answer = ask(leaguebox.address, "", "POST", "/agents/register", r#"{"name":"One more"}"#);
        (answer.0 != 429).then_some(answer)
    });
    is_refused(refused, 503, "server_full");
}

#[test]
fn agents_that_move_at_the_same_instant_all_have_their_move_taken_once() {
    let leaguebox = LeagueBox::start(Settings::default());
    let agents = [0, 1].map(|number| Agent::register(&leaguebox, &format!("Agent {number}")));
    for agent in &agents {
        agent.sits_down(ECHO);
    }
    let pulse = agents[0].beat();
    let body = json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]});
    let taken = thread::scope(|scope| {
        let tries: Vec<_> = (0..6)
            .map(|number| {
                let (agent, body) = (&agents[number % 2], body.clone());
                scope.spawn(move || agent.post("/agents/move", body).0)
            })
            .collect();
        tries.into_iter().map(|tried| tried.join().expect("an answer")).filter(|status| *status == 200).count()
    });
    // The first of each is taken. A third may be of the next turn: then both have moved again.
    let turn = agents[0].beat()["state_version"].as_u64().expect("a version");
    assert!(taken >= 2 && taken as u64 >= 2 * (turn - 1), "{taken} taken, turn {turn}");
}

#[test]
fn of_two_that_move_at_the_same_instant_in_a_game_of_turns_each_is_taken_in_its_turn_or_told_that_it_is_not() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (ada, bob) = two(&leaguebox);
    ada.sits_down(GOMOKU);
    let room = bob.sits_down(GOMOKU);
    let begin = ada.beat();
    let version = begin["state_version"].as_u64().expect("a version");
    let mover = if begin["your_turn"] == true { &ada } else { &bob };
    let legal = mover.beat()["legal_moves"].clone();
    let mut wanted: Vec<(&Agent, Value)> = Vec::new();
    for number in 0..4 {
        wanted.push((&ada, legal[2 * number].clone()));
        wanted.push((&bob, legal[2 * number + 1].clone()));
    }
    let answers = thread::scope(|scope| {
        let tries: Vec<_> = wanted
            .into_iter()
            .map(|(agent, wanted)| {
                let body = json!({"room_id": room, "move": wanted});
                scope.spawn(move || (wanted, agent.post("/agents/move", body)))
            })
            .collect();
        tries.into_iter().map(|tried| tried.join().expect("an answer")).collect::<Vec<_>>()
    });
    let mut versions = BTreeSet::new();
    for (wanted, (status, answer)) in answers {
        match status {
            200 => assert!(versions.insert(answer["state_version"].as_u64()), "each is a turn of its own: {answer}"),
            _ => is_refused((status, answer), 400, "not_your_turn"),
        }
        drop(wanted);
    }
    let after = ada.told("/agents/heartbeat", json!({"room_id": room}));
    assert!(!versions.is_empty());
    assert_eq!(after["state_version"].as_u64(), Some(version + versions.len() as u64), "no move is lost or made twice");
}

#[test]
fn what_is_said_is_told_to_anybody_and_one_message_in_two_seconds_is_enough() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (ada, bob) = two(&leaguebox);
    let room = ada.sits_down(ECHO);
    let in_room = format!("/rooms/{room}/chat");
    assert_eq!(read(&leaguebox, "/chat/global"), json!({"messages": []}));
    let hello = ada.told("/chat/global", json!({"text": "Hello, \"all\" \u{1f44b}"}));
    assert_eq!((&hello["sender"], hello.get("room_id")), (&json!("Ada"), None), "{hello}");
    assert_eq!(hello["created_at"].as_str().map(|moment| &moment[11..16]), hello["time"].as_str());
    is_refused(ada.post("/chat/global", json!({"text": "and again"})), 429, "rate_limited");
    let here = bob.told(&in_room, json!({"text": "Who is here?"}));
    assert_eq!(here["room_id"], json!(room));
    assert_eq!(read(&leaguebox, "/chat/global"), json!({"messages": [hello]}));
    assert_eq!(read(&leaguebox, &in_room), json!({"messages": [here]}));
    let again = wait_for("two seconds are over", || {
        let (status, said) = ada.post("/chat/global", json!({"text": "x".repeat(200)}));
        assert!(status == 200 || status == 429, "{said}");
        (status == 200).then_some(said)
    });
    assert_eq!(read(&leaguebox, "/chat/global?limit=1"), json!({"messages": [again]}));
    for odd in ["limit=0", "limit=101", "limit=x", "limit="] {
        let page = read(&leaguebox, &format!("/chat/global?{odd}"));
        assert_eq!(page["messages"].as_array().map(Vec::len), Some(2), "{odd}");
    }
    for text in [json!({}), json!({"text": ""}), json!({"text": 7}), json!({"text": "x".repeat(201)})] {
        is_refused(bob.post("/chat/global", text), 400, "invalid_request");
    }
    is_refused(bob.post("/rooms/7/chat", json!({"text": "a"})), 400, "invalid_room_id");
    is_refused(bob.post(&format!("/rooms/{NOBODY}/chat"), json!({"text": "a"})), 404, "room_not_found");
    is_refused(ask(leaguebox.address, "", "GET", &format!("/rooms/{NOBODY}/chat"), ""), 404, "room_not_found");
    is_refused(ask(leaguebox.address, "", "POST", "/chat/global", r#"{"text":"a"}"#), 401, "unauthorized");
}

#[test]
fn the_log_of_a_room_has_who_sat_down_while_it_is_played_and_every_move_when_it_is_over() {
    let leaguebox = LeagueBox::start(Settings { move_timeout_ms: 4_000, ..Settings::default() });
    let (ada, bob) = two(&leaguebox);
    let room = ada.sits_down(ECHO);
    let logs = |query: &str| read(&leaguebox, &format!("/rooms/{room}/logs{query}"));
    let waiting = logs("");
    assert_eq!((&waiting["total"], &waiting["logs"][0]["agent_id"]), (&json!(1), &json!(ada.id)), "{waiting}");
    bob.sits_down(ECHO);
    // Bob lets his first turn go by.
    let pulse = ada.beat();
    ada.told("/agents/move", json!({"room_id": room, "move": first(&pulse)}));
    let playing = logs("");
    assert_eq!(types(playing["logs"].as_array().expect("rows")), ["join", "join", "game_start"], "no move is told");
    wait_for("the box has moved for Bob", || {
        let pulse = ada.told("/agents/heartbeat", json!({"room_id": room}));
        thread::sleep(Duration::from_millis(500));
        (pulse["your_turn"] == true).then_some(())
    });
    let over = all_play(&[&ada, &bob], first);
    let rows = whole_log(&leaguebox, &room);
    assert_eq!(types(&rows)[..3], ["join", "join", "game_start"]);
    assert_eq!([&rows[0]["agent_id"], &rows[1]["agent_id"]], [&json!(ada.id), &json!(bob.id)]);
    assert_eq!(rows[2]["payload"], json!({"game": "echo", "seats": 2}));
    let moves: Vec<&Value> = rows.iter().filter(|row| row["type"] == "move").collect();
    assert_eq!(moves.len(), rows.len() - 4, "{rows:?}");
    let late: Vec<&&Value> = moves.iter().filter(|row| row["payload"]["reason"] == "timeout").collect();
    assert_eq!(late.len(), 1, "{moves:?}");
    assert_eq!(late[0]["agent_id"], json!(bob.id));
    assert!(moves.iter().all(|row| row["payload"]["move"].is_array()), "{moves:?}");
    let end = rows.last().expect("an end");
    assert_eq!(end["payload"]["standing"], over[0]["game_state"]["standing"]);
    let moments: Vec<&str> = rows.iter().map(|row| row["created_at"].as_str().expect("a moment")).collect();
    assert!(moments.is_sorted(), "{moments:?}");
    // The same page by page.
    let total = rows.len();
    let mut pages = Vec::new();
    for offset in (0..total + 3).step_by(3) {
        let page = logs(&format!("?limit=3&offset={offset}"));
        assert_eq!(page["total"], total);
        pages.extend(page["logs"].as_array().expect("rows").iter().cloned());
    }
    assert_eq!(pages, rows);
    for odd in ["?limit=0", "?limit=201", "?limit=x&offset=x", "?limit=200&offset=0"] {
        assert_eq!(logs(odd)["logs"].as_array().map(Vec::len), Some(total), "{odd}");
    }
    assert_eq!(logs("?offset=60000")["logs"], json!([]));
}

#[test]
fn the_last_heartbeat_shows_the_game_as_it_stood_in_the_end() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (ada, bob) = two(&leaguebox);
    ada.sits_down(ROCKPAPER);
    let room = bob.sits_down(ROCKPAPER);
    let over = thread::scope(|scope| {
        let other = scope.spawn(|| bob.plays(|_| json!(["paper"])).0);
        [ada.plays(|_| json!(["rock"])).0, other.join().expect("Bob plays")]
    });
    for pulse in over {
        let state = &pulse["game_state"];
        assert_eq!(state["history"].as_array().map(Vec::len), Some(3), "three rounds were played: {state}");
        assert_eq!((&state["standing"][1]["place"], &pulse["legal_moves"]), (&json!(1), &json!([])), "{pulse}");
    }
    let seen = read(&leaguebox, &format!("/spectate/rooms/{room}"));
    assert_eq!(seen["game_state"]["history"].as_array().map(Vec::len), Some(3), "{seen}");
}

#[test]
fn an_agent_says_something_of_itself_and_may_stay_out_of_leagues() {
    let leaguebox = LeagueBox::start(Settings::default());
    let about = json!({"name": "Cyd", "description": "Only rooms, \u{2663}", "league": false});
    let cyd = Agent::register_with(&leaguebox, about);
    assert_eq!(read(&leaguebox, &format!("/agents/{}", cyd.id))["description"], "Only rooms, \u{2663}");
    for wrong in [json!("x".repeat(65)), json!("a\nb"), json!(7)] {
        let body = json!({"name": "Dan", "description": wrong}).to_string();
        is_refused(ask(leaguebox.address, "", "POST", "/agents/register", &body), 400, "invalid_request");
    }
    let crowd = Crowd::of(&leaguebox, 2);
    assert_eq!(leaguebox.admin("start").status, 200);
    assert_eq!(leaguebox.get_json("/api/status.json")["total_matches"], 1);
    let room = cyd.sits_down(ECHO);
    crowd.wait_for_the_end();
    assert_eq!(cyd.get("/agents/me").1["room_id"], json!(room), "it waits, league or no league");
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), 1);
}

#[test]
fn heartbeats_that_come_too_often_are_in_the_report_of_who_sends_them() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (ada, bob) = two(&leaguebox);
    ada.sits_down(ECHO);
    bob.sits_down(ECHO);
    for _ in 0..6 {
        let (status, answer) = ada.post("/agents/heartbeat", json!({}));
        assert!(status == 200, "{answer}");
    }
    bob.beat();
    assert!((1..=5).contains(&broken(&leaguebox, "Ada", "too_often")));
    assert_eq!(broken(&leaguebox, "Bob", "too_often"), 0);
}

#[test]
fn whoever_looks_on_sees_no_hand_while_it_is_played_and_everything_afterwards() {
    let leaguebox = LeagueBox::start(Settings::default());
    let agents = ["Ada", "Bob", "Cyd"].map(|name| Agent::register(&leaguebox, name));
    let eve = Agent::register(&leaguebox, "Eve");
    let room = agents.each_ref().map(|agent| agent.sits_down(LANDLORD))[2].clone();
    let hands =
        agents.each_ref().map(|agent| agent.get(&format!("/rooms/{room}")).1["game_state"]["your_hand"].clone());
    assert!(hands.iter().all(|hand| hand.as_array().is_some_and(|hand| hand.len() == 17)), "{hands:?}");
    for (agent, hand) in agents.iter().zip(&hands) {
        let state = agent.told("/agents/heartbeat", json!({}))["game_state"].clone();
        assert_eq!(&state["your_hand"], hand);
        assert!(state.get("hands").is_none_or(Value::is_null), "{state}");
        let others = hands.iter().filter(|other| *other != hand);
        others.for_each(|other| assert!(!state.to_string().contains(&other.to_string()), "{state}"));
    }
    let publicly = leaguebox.get("/api/matches/R0M1.json").body;
    let spectated = read(&leaguebox, &format!("/spectate/rooms/{room}")).to_string();
    let by_eve = eve.get(&format!("/rooms/{room}")).1.to_string();
    for text in [&publicly, &spectated, &by_eve] {
        assert!(text.contains("cards_left") && !text.contains("your_hand"), "{text}");
        assert!(hands.iter().all(|hand| !text.contains(&hand.to_string())), "{text}");
    }
    let all: Vec<&Agent> = agents.iter().collect();
    let over = all_play(&all, boldest);
    assert!(over[0]["game_state"]["hands"].is_object() || over[0]["game_state"]["hands"].is_array(), "{}", over[0]);
    let seen = read(&leaguebox, &format!("/spectate/rooms/{room}"));
    assert_eq!(seen["game_state"]["hands"], over[0]["game_state"]["hands"]);
    let rows = whole_log(&leaguebox, &room);
    let count = |kind: &str| rows.iter().filter(|row| row["type"] == kind).count();
    assert!(count("move") > 0 && count("pass") > 0 && count("game_over") == 1, "{rows:?}");
    assert!(rows.iter().all(|row| (row["type"] == "pass") == (row["payload"]["move"] == json!(["pass"]))));
    assert_eq!(rows.last().expect("an end")["payload"]["standing"], over[0]["game_state"]["standing"]);
}

#[test]
fn nobody_sees_what_another_holds_at_poker_or_how_it_bets_at_blackjack() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (ada, bob) = two(&leaguebox);
    ada.sits_down(TEXASHOLDEM);
    let room = bob.sits_down(TEXASHOLDEM);
    let shown =
        |state: &Value| [&state["players"][0]["hand"], &state["players"][1]["hand"]].map(|hand| !hand.is_null());
    let seen = read(&leaguebox, &format!("/spectate/rooms/{room}"));
    assert_eq!(shown(&seen["game_state"]), [false, false], "{seen}");
    assert_eq!(shown(&ada.beat()["game_state"]), [true, false]);
    assert_eq!(shown(&bob.beat()["game_state"]), [false, true]);
    all_play(&[&ada, &bob], boldest);
    let (cyd, dan) = (Agent::register(&leaguebox, "Cyd"), Agent::register(&leaguebox, "Dan"));
    cyd.sits_down(BLACKJACK);
    let room = dan.sits_down(BLACKJACK);
    let seen = || [dan.beat()["game_state"].clone(), read(&leaguebox, &format!("/spectate/rooms/{room}"))];
    let before = seen();
    cyd.told("/agents/move", json!({"room_id": room, "move": ["bet", "20"]}));
    assert_eq!(seen(), before, "a bet is seen when all have bet");
}

#[test]
fn the_worst_hand_is_told_with_all_its_497_moves_and_any_of_them_is_taken() {
    let leaguebox = LeagueBox::start(worst_deal());
    let landlord = worst_landlord(&leaguebox);
    let pulse = landlord.told("/agents/heartbeat", json!({}));
    let moves = pulse["legal_moves"].as_array().expect("moves");
    let bytes = pulse["legal_moves"].to_string().len();
    println!("{} moves, {bytes} bytes of legal_moves", moves.len());
    assert_eq!(moves.iter().map(Value::to_string).collect::<BTreeSet<_>>().len(), 497, "{}", pulse["game_state"]);
    landlord.told("/agents/move", json!({"room_id": pulse["room_id"], "move": moves[400]}));
}

#[test]
fn its_agents_play_a_league_beside_players_that_are_called() {
    let leaguebox = LeagueBox::start(Settings { game: "echo", ..Settings::default() });
    let _crowd = Crowd::of(&leaguebox, 2);
    let agents = ["Mo", "Li", "Su"].map(|name| Agent::register(&leaguebox, name));
    assert_eq!(leaguebox.admin("start").status, 200);
    thread::scope(|scope| {
        for agent in &agents {
            let leaguebox = &leaguebox;
            scope.spawn(move || {
                wait_for("the league is over", || {
                    let pulse = agent.beat();
                    if pulse["your_turn"] == true {
                        let body = json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]});
                        agent.post("/agents/move", body);
                    }
                    (leaguebox.get_json("/api/status.json")["state"] == "COMPLETED").then_some(())
                });
            });
        }
    });
    let standings = leaguebox.get_json("/api/standings.json");
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    results::assert_standings_follow(&standings, &rows);
    let lost = standings["standings"].as_array().expect("rows").iter().map(|row| row["technical_losses"].as_u64());
    assert_eq!(lost.flatten().sum::<u64>(), 0, "{standings}");
}
