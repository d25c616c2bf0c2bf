//! MoltGame from outside: every call and every error by name, whole games by polling, agents that move at the same instant,
//! and a league beside players that are called.

use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::settings::Settings;
use host_tests::{here, http, results, wait_for};
use serde_json::{Value, json};
use std::thread;

const ECHO: &str = "00000000-0000-0000-0000-000000000005";
const DANCE: &str = "00000000-0000-0000-0000-000000000009";
const NOBODY: &str = "550e8400-e29b-41d4-a716-446655440000";

/// An agent that polls.
struct Agent<'b> {
    leaguebox: &'b LeagueBox,
    id: String,
    key: String,
}

fn ask(leaguebox: &LeagueBox, key: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
    let key = if key.is_empty() { String::new() } else { format!("Authorization: Bearer {key}\r\n") };
    let headers = format!("Content-Type: application/json\r\n{key}");
    let path = format!("/api/v1{path}");
    let answer = http::request(leaguebox.address, method, &path, &headers, body).unwrap_or_else(|why| panic!("{why}"));
    (answer.status, answer.json())
}

impl<'b> Agent<'b> {
    fn register(leaguebox: &'b LeagueBox, name: &str) -> Agent<'b> {
        let body = json!({"name": name, "description": "optional"}).to_string();
        let (status, answer) = ask(leaguebox, "", "POST", "/agents/register", &body);
        assert_eq!(status, 200, "{answer}");
        let text = |member: &str| answer["agent"][member].as_str().expect("text").to_owned();
        Agent { leaguebox, id: text("agent_id"), key: text("api_key") }
    }

    fn post(&self, path: &str, body: Value) -> (u16, Value) {
        ask(self.leaguebox, &self.key, "POST", path, &body.to_string())
    }

    fn get(&self, path: &str) -> (u16, Value) {
        ask(self.leaguebox, &self.key, "GET", path, "")
    }

    fn beat(&self) -> Value {
        self.post("/agents/heartbeat", json!({})).1
    }

    /// Plays its first legal move whenever it is its turn, until its game is over or there is none.
    fn play(&self) -> Value {
        wait_for("the game is over", || {
            let pulse = self.beat();
            if pulse["your_turn"] == true {
                let body = json!({"room_id": pulse["room_id"], "move": pulse["legal_moves"][0]});
                let (status, answer) = self.post("/agents/move", body);
                assert_eq!(status, 200, "{answer}");
            }
            (pulse["game_over"] == true).then_some(pulse)
        })
    }
}

fn is_refused((status, answer): (u16, Value), expected: u16, code: &str) {
    assert_eq!((status, &answer["success"], &answer["error"]), (expected, &json!(false), &json!(code)), "{answer}");
    assert!(answer["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{answer}");
}

#[test]
fn a_game_is_played_from_registration_to_its_end_by_polling() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (ada, bob) = (Agent::register(&leaguebox, "Ada"), Agent::register(&leaguebox, "Bob"));
    assert_eq!(ada.get("/agents/me"), ask(&leaguebox, "", "GET", &format!("/agents/{}", ada.id), ""));
    let (_, games) = ask(&leaguebox, "", "GET", "/games", "");
    let echo = games["games"].as_array().expect("games").iter().find(|game| game["engine_type"] == "echo");
    assert_eq!(echo.map(|game| &game["id"]), Some(&json!(ECHO)));
    assert_eq!(leaguebox.get(echo.and_then(|game| game["skill_url"].as_str()).expect("a page")).status, 200);

    let (status, opened) = ada.post(&format!("/games/{ECHO}/rooms"), json!({}));
    assert_eq!((status, &opened["status"]), (200, &json!("waiting")), "{opened}");
    let id = opened["room_id"].as_str().expect("an id").to_owned();
    is_refused(ada.post("/agents/heartbeat", json!({})), 400, "game_not_started");
    let (status, joined) = bob.post(&format!("/rooms/{id}/join"), json!({}));
    assert_eq!((status, &joined["players"]), (200, &json!([ada.id, bob.id])), "{joined}");
    let over = thread::scope(|scope| {
        let others = scope.spawn(|| bob.play());
        (ada.play(), others.join().expect("Bob plays"))
    });
    assert_eq!(over.0["game_state"]["standing"], over.1["game_state"]["standing"]);
    is_refused(ada.post("/agents/heartbeat", json!({})), 404, "no_active_game");
    assert_eq!(ada.post("/agents/heartbeat", json!({"room_id": id})).1["game_over"], true);
    assert_eq!(ask(&leaguebox, "", "GET", &format!("/spectate/rooms/{id}"), "").1["status"], "finished");
    assert_eq!(ada.get("/agents/me").1["games_played"], 1);
    let mounted = leaguebox.get(&format!("/moltgame/api/v1/spectate/rooms/{id}"));
    assert_eq!(mounted.json()["status"], "finished");
}

#[test]
fn every_error_is_told_by_its_code() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (ada, bob) = (Agent::register(&leaguebox, "Ada"), Agent::register(&leaguebox, "Bob"));
    is_refused(ask(&leaguebox, "", "POST", "/agents/register", r#"{"name":"ada"}"#), 409, "name_taken");
    for body in ["", "{", "[]", "{}", r#"{"name":""}"#] {
        is_refused(ask(&leaguebox, "", "POST", "/agents/register", body), 400, "invalid_request");
    }
    for (key, hint) in
        [("", "Missing Authorization header"), ("moltgame_x", "Invalid API key"), (NOBODY, "Invalid API key")]
    {
        for (method, path) in [("GET", "/agents/me"), ("POST", "/agents/heartbeat"), ("POST", "/agents/move")] {
            let refused = json!({"success": false, "error": "unauthorized", "hint": hint});
            assert_eq!(ask(&leaguebox, key, method, path, "{}"), (401, refused), "{key} {path}");
        }
    }
    let odd = http::request(leaguebox.address, "GET", "/api/v1/agents/me", "Authorization: Basic x\r\n", "");
    assert_eq!(odd.expect("an answer").json()["hint"], "Invalid Authorization format");
    is_refused(ask(&leaguebox, "", "GET", "/agents/7", ""), 400, "invalid_agent_id");
    is_refused(ask(&leaguebox, "", "GET", &format!("/agents/{NOBODY}"), ""), 404, "agent_not_found");
    is_refused(ada.post("/games/echo/match", json!({})), 400, "invalid_game_id");
    is_refused(ada.post(&format!("/games/{NOBODY}/rooms"), json!({})), 400, "invalid_game_id");
    is_refused(ada.post(&format!("/games/{ECHO}/rooms"), json!({"seats": 9})), 400, "invalid_request");
    is_refused(ada.post("/rooms/7/join", json!({})), 400, "invalid_room_id");
    is_refused(ada.post(&format!("/rooms/{NOBODY}/join"), json!({})), 404, "room_not_found");
    is_refused(ada.get(&format!("/rooms/{NOBODY}")), 404, "room_not_found");
    is_refused(ada.post("/agents/heartbeat", json!({"room_id": NOBODY})), 404, "game_not_found");
    is_refused(ada.post("/agents/heartbeat", json!({})), 404, "no_active_game");
    is_refused(ada.post("/agents/move", json!({"room_id": NOBODY})), 400, "invalid_request");
    is_refused(ada.post("/agents/move", json!({"room_id": NOBODY, "move": []})), 404, "game_not_found");

    let (_, room) = ada.post(&format!("/games/{DANCE}/match"), json!({}));
    let id = room["room_id"].as_str().expect("an id").to_owned();
    let (status, again) = ada.post(&format!("/games/{ECHO}/rooms"), json!({}));
    assert_eq!((status, &again["error"], &again["room_id"]), (400, &json!("already_in_room"), &json!(id)), "{again}");
    is_refused(bob.post(&format!("/rooms/{id}/leave"), json!({})), 400, "not_in_room");
    is_refused(ada.post("/agents/move", json!({"room_id": id, "move": []})), 400, "game_not_started");
    assert_eq!(ada.post(&format!("/rooms/{id}/leave"), json!({})).1["status"], "closed");

    ada.post(&format!("/games/{ECHO}/match"), json!({}));
    let (_, room) = bob.post(&format!("/games/{ECHO}/match"), json!({}));
    assert_eq!(room["matched"], true, "{room}");
    let id = room["room_id"].as_str().expect("an id").to_owned();
    let cyd = Agent::register(&leaguebox, "Cyd");
    is_refused(cyd.post(&format!("/rooms/{id}/join"), json!({})), 400, "room_full");
    is_refused(ada.post(&format!("/rooms/{id}/leave"), json!({})), 400, "cannot_leave_non_waiting");
    is_refused(ada.post("/agents/move", json!({"room_id": id, "move": ["x"]})), 400, "invalid_move");
    let legal = ada.beat()["legal_moves"][0].clone();
    assert_eq!(ada.post("/agents/move", json!({"room_id": id, "move": legal})).0, 200);
    is_refused(ada.post("/agents/move", json!({"room_id": id, "move": legal})), 400, "not_your_turn");
    is_refused(cyd.post("/agents/move", json!({"room_id": id, "move": legal})), 400, "not_in_room");
}

#[test]
fn agents_that_move_at_the_same_instant_all_have_their_move_taken_once() {
    let leaguebox = LeagueBox::start(Settings::default());
    let agents = [0, 1].map(|number| Agent::register(&leaguebox, &format!("Agent {number}")));
    for agent in &agents {
        agent.post(&format!("/games/{ECHO}/match"), json!({}));
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

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_plays_a_game_and_says_how_it_ended() {
    let leaguebox = LeagueBox::start(Settings::default());
    let example = here("../examples/moltgame.py");
    let mut players = ["Ada", "Bob"]
        .map(|name| Player::script(&example, name, &["--box", &leaguebox.url(), "--name", name, "--game", "echo"]));
    for player in &mut players {
        assert_eq!(player.wait_until_it_ends(), Some(0));
        assert!(player.printed().contains("It is over: "), "{}", player.printed());
    }
}
