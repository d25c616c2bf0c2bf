//! What nobody may see: tokens and the admin code ever; while a match is played its seed, a choice that waits for another
//! one, and what its players cannot see.

use host_tests::arena::{self, Link};
use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::websocket::WebSocket;
use host_tests::{http, wait_for};
use serde_json::{Value, json};

const PLAYERS: usize = 4;

/// Everything the box shows without being told who asks.
fn pages(leaguebox: &LeagueBox) -> String {
    let players = (1..=PLAYERS).map(|number| format!("/api/players/P{number:02}.json"));
    let matches = (1..=3).flat_map(|round| [1, 2].map(|table| format!("/api/matches/R{round}M{table}.json")));
    let pages = ["/", "/skill.md", "/health", "/.well-known/agent.json"].map(String::from);
    let lists =
        ["status", "standings", "schedule", "players", "settings", "leagues"].map(|name| format!("/api/{name}.json"));
    let exports = ["/api/results.csv", "/api/log.jsonl"].map(String::from);
    let all = players.chain(matches).chain(pages).chain(lists).chain(exports);
    all.map(|path| {
        let page = leaguebox.get(&path);
        assert_eq!(page.status, 200, "{path}");
        page.body
    })
    .collect()
}

#[test]
fn no_page_log_or_export_shows_a_token_the_admin_code_or_the_seed_of_a_running_match() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, PLAYERS);
    assert_eq!(leaguebox.admin("start").status, 200);
    wait_for("both matches of the round are being played", || {
        let asked = crowd.events().iter().filter(|event| event.is("CHOOSE_PARITY_CALL")).count();
        (asked == PLAYERS).then_some(())
    });
    let during = pages(&leaguebox);
    crowd.release();
    crowd.wait_for_the_end();
    let after = pages(&leaguebox);
    let told = crowd.events();
    let seeds: Vec<&str> = told.iter().filter_map(|event| event.message["match_seed"].as_str()).collect();
    assert_eq!(seeds.len(), 12, "both players of six matches are told the seed");
    for seed in seeds {
        assert!(!during.contains(seed), "the seed of a match that was not over");
        assert!(after.contains(seed), "what is over is open");
    }
    for member in &crowd.members {
        let (_, secret) = member.token.rsplit_once('_').expect("a prefix, and the secret");
        assert_eq!((secret.len(), secret.bytes().all(|byte| byte.is_ascii_hexdigit())), (32, true), "128 bits");
        assert!(!during.contains(secret) && !after.contains(secret), "the token of {}", member.id);
    }
    let mut tokens: Vec<&str> = crowd.members.iter().map(|member| member.token.as_str()).collect();
    tokens.dedup();
    assert_eq!(tokens.len(), PLAYERS);
    assert!(!during.contains(&leaguebox.admin_code) && !after.contains(&leaguebox.admin_code));
}

/// Somebody who dials in and is played by hand.
struct ByHand {
    link: WebSocket,
    token: Value,
}

impl ByHand {
    fn register(leaguebox: &LeagueBox, name: &str) -> ByHand {
        let mut link = WebSocket::dial_at(leaguebox.address, "/ws");
        let meta = json!({"display_name": name, "version": "1.0.0", "game_types": ["even_odd"]});
        let call = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {"player_meta": meta}});
        link.send(&call.to_string()).expect("a link");
        let answer: Value = serde_json::from_str(&link.receive().expect("an answer")).expect("JSON");
        assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
        ByHand { link, token: answer["result"]["auth_token"].clone() }
    }

    /// Answers every call up to the one of this name, and says what that one is.
    fn answer_until(&mut self, last: &str) -> Value {
        loop {
            let call: Value = serde_json::from_str(&self.link.receive().expect("a call")).expect("JSON");
            if call["params"]["message_type"] == last {
                return call;
            }
            self.answer(&call, json!({}));
        }
    }

    fn answer(&mut self, call: &Value, mut result: Value) {
        result["auth_token"] = self.token.clone();
        let answer = json!({"jsonrpc": "2.0", "id": call["id"], "result": result});
        self.link.send(&answer.to_string()).expect("a link");
    }
}

#[test]
fn what_a_player_has_chosen_is_on_no_page_before_its_match_is_over() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let (mut ada, mut bob) = (ByHand::register(&leaguebox, "Ada"), ByHand::register(&leaguebox, "Bob"));
    let choice = |choice| json!({"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": choice});
    for player in [&mut ada, &mut bob] {
        let invitation = player.answer_until("GAME_INVITATION");
        player.answer(&invitation, json!({"message_type": "GAME_JOIN_ACK", "accept": true}));
    }
    let call = ada.answer_until("CHOOSE_PARITY_CALL");
    let other = bob.answer_until("CHOOSE_PARITY_CALL");
    ada.answer(&call, choice("EVEN"));
    let report = || leaguebox.get_json("/api/players/P01.json");
    let shouted = |report: &Value| {
        let broken = report["compliance"].as_array().expect("rules").clone();
        broken.into_iter().find(|broken| broken["rule"] == "choice_case")
    };
    let noted = wait_for("the choice is in", || shouted(&report()));
    assert_eq!((&noted["count"], &noted["example"]), (&json!(1), &json!("")), "{noted}");
    let mut live = WebSocket::dial_at(leaguebox.address, "/api/live");
    let mut told = String::new();
    while !told.contains("\"ready\"") {
        told.push_str(&live.receive().expect("all there is"));
    }
    for path in ["/api/players/P01.json", "/api/players.json", "/api/matches/R1M1.json", "/api/log.jsonl"] {
        told.push_str(&leaguebox.get(path).body);
    }
    for path in ["/api/schedule.json", "/api/results.csv", "/api/standings.json", "/api/status.json"] {
        told.push_str(&leaguebox.get(path).body);
    }
    let told = told.replace("even_odd", "");
    assert!(!told.to_lowercase().contains("even"), "{told}");
    bob.answer(&other, choice("odd"));
    wait_for("the match is over", || {
        shouted(&report()).filter(|noted| noted["example"].as_str().is_some_and(|example| example.contains("EVEN")))
    });
}

/// How many cells of the map are hidden.
fn hidden(view: &Value) -> usize {
    let rows = view["extra"]["grid"].as_array().unwrap_or_else(|| panic!("a map: {view}"));
    assert_eq!(rows.len(), 100);
    rows.iter().flat_map(|row| row.as_array().expect("a row")).filter(|&cell| *cell == -1).count()
}

#[test]
fn whoever_watches_sees_what_the_drones_see_together_and_the_owner_and_the_projector_all_of_it() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut ada, mut bob], id) = arena::matched(&leaguebox, "resource-rush", ["Ada", "Bob"]);
    let page = |query: &str, headers: &str| {
        let path = format!("/api/matches/R0M1.json{query}");
        http::request(leaguebox.address, "GET", &path, headers, "").expect("an answer").json()
    };
    let public = page("", "");
    let fog = hidden(&public["view"]);
    assert!(fog > 0 && public["shows"] == "public");
    for agent in [&mut ada, &mut bob] {
        let state = agent.link.hear_until("game_state").pop().expect("a state");
        assert!(hidden(&state) >= fog, "a drone sees no more than both");
    }
    let mut spectator = Link::dial(&leaguebox);
    spectator.say(json!({"type": "subscribe_game", "gameId": id}));
    let state = spectator.hear_until("game_state").pop().expect("a state");
    assert_eq!(hidden(&state), fog, "agents that look on see what everybody sees");

    let owner = page("", &format!("Authorization: Bearer {}\r\n", leaguebox.admin_code));
    assert_eq!((hidden(&owner["view"]), &owner["shows"]), (0, &json!("all")));
    let new_code = || {
        let answer = leaguebox.admin("projector");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["projector"].as_str().expect("a code").to_owned()
    };
    let code = new_code();
    assert_eq!(hidden(&page(&format!("?projector={code}"), "")["view"]), 0);
    assert_eq!(hidden(&page("", &format!("Authorization: Bearer {code}\r\n"))["view"]), 0);
    assert_eq!(hidden(&page("?projector=000000000000", "")["view"]), fog);
    let next = wait_for("another code", || Some(new_code()).filter(|next| *next != code));
    assert_eq!(hidden(&page(&format!("?projector={code}"), "")["view"]), fog, "the last one is void");
    assert_eq!(hidden(&page(&format!("?projector={next}"), "")["view"]), 0);
}
