//! The Bazaar: trades are proposed, accepted and rejected at any time, in every protocol, and nothing else moves goods. On the desktop
//! and on a board.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host_tests::arena::Agent;
use host_tests::crowd::{Crowd, trade};
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::{moltgame, results, wait_for};
use serde_json::{Value, json};

const MATCH: &str = "/api/matches/R1M1.json";

fn settings(players: usize) -> Settings {
    Settings { game: "trade_deal", ..Settings::start_at(players) }
}

/// Plays over League of Agents by what it is shown, until it has played so many games.
fn play_on(mut agent: Agent, games: usize) {
    let (mut state, mut over) = (Value::Null, 0);
    while over < games {
        let mut said = agent.link.hear();
        match said["type"].as_str() {
            Some("game_state") => state = said,
            Some("your_turn") => {
                let game = said["gameId"].take();
                agent.link.say(json!({"type": "submit_move", "gameId": game, "move": trade(&state["extra"])}));
            }
            Some("game_over") => over += 1,
            Some("move_result") => assert_eq!(said["success"], true, "{said}"),
            _ => {}
        }
    }
}

/// Plays over MoltGame, until the league is over.
fn poll_on(agent: &moltgame::Agent, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let pulse = agent.beat();
        if pulse["your_turn"] != true {
            std::thread::sleep(Duration::from_secs(1));
            continue;
        }
        let body = json!({"room_id": pulse["room_id"], "move": [trade(&pulse["game_state"])]});
        let (status, answer) = agent.post("/agents/move", body);
        // It may have crossed an act of the other one.
        assert!(status == 200 || answer["error"] == "invalid_move", "{answer}");
    }
}

/// What both sides hold of each resource.
fn all(resources: &Value) -> Value {
    let sides: Vec<_> = resources.as_object().expect("sides").values().collect();
    let sum = |name: &str| sides.iter().map(|side| side[name].as_u64().expect("an amount")).sum::<u64>();
    json!(["gold", "iron", "food", "wood"].map(sum))
}

#[test]
fn players_of_three_protocols_trade_in_one_league_and_no_goods_are_made_or_lost() {
    let leaguebox = LeagueBox::start(settings(3));
    let mut crowd = Crowd::new();
    crowd.enlist(&leaguebox, 1);
    let molt = moltgame::Agent::register(&leaguebox, "Molt");
    let agent = Agent::register(&leaguebox, "Loa");
    let is_over = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| play_on(agent, 2));
        scope.spawn(|| poll_on(&molt, is_over));
        leaguebox.wait_for_the_champion();
        is_over.store(true, Ordering::Relaxed);
    });
    let mut trades = 0;
    for row in results::parse(&leaguebox.get("/api/results.csv").body) {
        assert_ne!(row.get("status"), "TECHNICAL_LOSS", "{row:?}");
        let id = row.get("match_id").to_owned();
        let told = leaguebox.get_json(&format!("/api/matches/{id}/moves.json"));
        let moves = told["moves"].as_array().expect("moves");
        assert_eq!(told["complete"], true, "{told}");
        let made = |what: &str| moves.iter().filter(|one| one["move"].get(what).is_some()).count();
        assert_eq!(made("text"), 10, "{told}");
        trades += made("accept");
        // Step by step, whatever is done.
        let before = all(&leaguebox.get_json(&format!("/api/matches/{id}/steps/1.json"))["view"]["resources"]);
        for one in moves {
            let step = leaguebox.get_json(&format!("/api/matches/{id}/steps/{}.json", one["step"]));
            assert_eq!(all(&step["view"]["resources"]), before, "{id} {one}");
        }
        let page = leaguebox.get_json(&format!("/api/matches/{id}.json"));
        assert_eq!(all(&page["game_result"]["resources"]), before, "{page}");
        assert_eq!(page["game_result"]["trades"], made("accept"), "{page}");
        let said = leaguebox.get_json(&format!("/api/matches/{id}/speeches.json"));
        assert_eq!(said["speeches"].as_array().map(Vec::len), Some(10), "who trades does not speak by it: {said}");
    }
    assert!(trades >= 3, "somebody has traded in every match");
}

#[test]
fn who_is_not_asked_acts_over_league_of_agents_and_both_see_it_at_once() {
    let leaguebox = LeagueBox::start(settings(2));
    let mut agents = ["Ada", "Bob"].map(|name| Agent::register(&leaguebox, name));
    let heard = agents.each_mut().map(|agent| agent.link.hear_until("game_state"));
    let game = heard[0][0]["gameId"].as_str().expect("a game").to_owned();
    let first = usize::from(leaguebox.get_json(MATCH)["view"]["to_speak"] == "P02");
    agents[first].link.hear_until("your_turn");
    let [ada, bob] = &mut agents;
    let (speaker, other) = if first == 0 { (ada, bob) } else { (bob, ada) };
    let deal = json!({"propose": {"offer": {"gold": 1}, "request": {"iron": 1}}});
    other.plays_on(&game, deal);
    for agent in [&mut *speaker, &mut *other] {
        let state = agent.link.hear_until("game_state").pop().expect("a state");
        assert!(state["extra"]["pending"]["player"].is_string(), "{state}");
    }
    let early = other.play(&game, json!({"text": "Well?"}));
    assert!(early.to_string().contains("not your turn to speak"), "{early}");
    speaker.plays_on(&game, json!({"accept": true}));
    let page = leaguebox.get_json(MATCH);
    assert_eq!((&page["turn"], &page["acts"], &page["view"]["trades"]), (&json!(1), &json!(2), &json!(1)));
    assert_eq!(page["view"]["resources"], json!({"P01": null, "P02": null}), "that is hidden from who looks on");
    assert_eq!(page["view"]["last_trade"]["answer"], "accepted");
}

#[test]
fn who_is_not_asked_acts_over_moltgame_and_its_moves_are_listed() {
    let leaguebox = LeagueBox::start(settings(2));
    let agents = ["Ada", "Bob"].map(|name| moltgame::Agent::register(&leaguebox, name));
    let waits = |agent: &moltgame::Agent| {
        let pulse = agent.beat();
        (pulse["your_turn"] == false && pulse["legal_moves"][0][0].get("propose").is_some()).then_some(pulse)
    };
    let (other, pulse) = wait_for("somebody waits", || agents.iter().find_map(|agent| Some((agent, waits(agent)?))));
    let version = pulse["state_version"].as_u64().expect("a number");
    let room = pulse["room_id"].clone();
    let (status, moved) = other.post("/agents/move", json!({"room_id": room, "move": pulse["legal_moves"][0]}));
    assert_eq!((status, &moved["state_version"]), (200, &json!(version + 1)), "{moved}");
    let speaker = agents.iter().find(|agent| agent.id != other.id).expect("the other one");
    let pulse = speaker.beat();
    assert_eq!((&pulse["your_turn"], &pulse["legal_moves"][1]), (&json!(true), &json!([{"accept": true}])), "{pulse}");
    assert_eq!(speaker.post("/agents/move", json!({"room_id": room, "move": [{"accept": true}]})).0, 200);
    assert_eq!(speaker.beat()["your_turn"], true, "it still has to say something");
    moltgame::is_refused(
        other.post("/agents/move", json!({"room_id": room, "move": [{"accept": true}]})),
        400,
        "invalid_move",
    );
}
