//! A whole class of League of Agents at once: as many agents as the board has room for, all connected, all playing.

use host_tests::arena::Agent;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use serde_json::{Value, json};

/// As many as the board takes.
const AGENTS: usize = 32;

/// Who brings a full memory. A board has room for those of one game: it need not refuse all others.
const WITH_FULL_MEMORIES: usize = if cfg!(feature = "board") { 8 } else { AGENTS };

/// So many are registered, connected and matched with a neighbour in `game`; with the ids of the games.
fn class(leaguebox: &LeagueBox, agents: usize, game: &str) -> Vec<(Agent, Agent, String)> {
    let mut agents: Vec<Agent> = (0..agents).map(|n| Agent::register(leaguebox, &format!("Agent {n}"))).collect();
    let mut pairs = Vec::new();
    while let (Some(mut second), Some(mut first)) = (agents.pop(), agents.pop()) {
        first.join(game);
        first.link.hear_all(&["queue_status"]);
        second.join(game);
        let matched = first.link.hear_all(&["matched"]).swap_remove(0);
        second.link.hear_all(&["matched"]);
        let id = matched["gameId"].as_str().expect("an id").to_string();
        pairs.push((first, second, id));
    }
    pairs
}

/// Makes a move; the answer, whatever is said of others before it.
fn moves(agent: &mut Agent, game_id: &str, wanted: Value) -> Value {
    agent.link.say(json!({"type": "submit_move", "gameId": game_id, "move": wanted}));
    agent.link.hear_until("move_result").pop().expect("an answer")
}

#[test]
fn thirty_two_agents_play_sixteen_games_of_gomoku_at_once() {
    let leaguebox = LeagueBox::start(Settings::room_for(AGENTS));
    let mut pairs = class(&leaguebox, AGENTS, "skill-gomoku");
    // Black builds a row, white another one beside it; every game makes a move before any makes the next.
    for turn in 0..9 {
        for (black, white, id) in &mut pairs {
            let (mover, row) = if turn % 2 == 0 { (black, 7) } else { (white, 9) };
            mover.link.hear_until("your_turn");
            mover.plays(id, json!({"type": "place", "row": row, "col": turn / 2}));
        }
    }
    for (black, white, _) in &mut pairs {
        for agent in [black, white] {
            let over = agent.link.hear_until("game_over").pop().expect("the end");
            assert_eq!((&over["totalRounds"], &over["rankings"][0]["finalScore"]), (&json!(9), &json!(1)), "{over}");
        }
    }
}

#[test]
fn sixteen_maps_are_shown_at_once_and_memories_are_kept_as_far_as_there_is_room() {
    let leaguebox = LeagueBox::start(Settings::room_for(AGENTS));
    let mut pairs = class(&leaguebox, AGENTS, "resource-rush");
    // What a drone may remember grows with every tick, until the box says that it is enough.
    let (mut kept, mut refused) = (0, 0);
    for tick in 0..3usize {
        let memory = json!({"seen": "x".repeat(8 << (3 * tick))});
        let mut expected = Vec::new();
        for (first, second, id) in &mut pairs {
            for drone in [first, second] {
                drone.link.hear_until("your_turn");
                let answer = moves(drone, id, json!({"action": "wait", "memory": memory}));
                let is_kept = answer["success"] == true;
                if is_kept {
                    kept += 1;
                } else {
                    refused += 1;
                    assert_eq!(answer["error"], "Invalid move.");
                    let rule = answer["detail"].as_str().expect("the rule");
                    assert!(rule.contains("memory is longer than what the box has left"), "{answer}");
                    assert_eq!(moves(drone, id, json!({"action": "wait"}))["success"], true);
                }
                expected.push(is_kept);
            }
        }
        for ((first, second, _), are_kept) in pairs.iter_mut().zip(expected.chunks(2)) {
            for (drone, is_kept) in [first, second].into_iter().zip(are_kept) {
                let state = drone.link.hear_until("game_state").pop().expect("a state");
                assert_eq!(state["extra"]["tick"], tick + 1);
                assert_eq!(state["extra"]["grid"].as_array().map(Vec::len), Some(100));
                if *is_kept {
                    assert_eq!(state["extra"]["memory"], memory);
                }
            }
        }
    }
    println!("{AGENTS} drones with memories of 8, 64 and 512 bytes: {kept} kept, {refused} refused");
    assert!(kept >= AGENTS, "short ones fit everywhere");
}

/// A computer has room for the full memories of everybody, a board for those of one game. Whoever is refused is told so and
/// plays on.
#[test]
fn full_memories_come_back_and_who_has_none_left_is_told() {
    let leaguebox = LeagueBox::start(Settings::room_for(AGENTS));
    let mut pairs = class(&leaguebox, WITH_FULL_MEMORIES, "resource-rush");
    // 10,240 bytes, and as many values as they can be.
    let memory = json!({"seen": vec![1; (10_240 - r#"{"seen":[]}"#.len()).div_ceil(2)]});
    assert_eq!(memory.to_string().len(), 10_240);
    let full = json!({"action": "wait", "thought": "I remember", "memory": memory});
    let mut games = 0;
    for tick in 1..4 {
        games = 0;
        for (first, second, id) in &mut pairs {
            let mut kept = 0;
            for drone in [&mut *first, &mut *second] {
                drone.link.hear_until("your_turn");
                let answer = moves(drone, id, full.clone());
                if answer["success"] == true {
                    kept += 1;
                    continue;
                }
                let rule = answer["detail"].as_str().expect("the rule");
                assert!(rule.contains("memory is longer than what the box has left"), "{answer}");
                assert_eq!(moves(drone, id, json!({"action": "wait"}))["success"], true);
            }
            for drone in [first, second] {
                let state = drone.link.hear_until("game_state").pop().expect("a state");
                assert_eq!(state["extra"]["tick"], tick);
                if kept == 2 {
                    assert_eq!(state["extra"]["memory"], memory);
                }
            }
            games += kept / 2;
        }
    }
    println!("games at once with full memories of 10 KB: {games}");
    let is_computer = leaguebox.get_json("/api/status.json")["board"] == "desktop";
    assert_eq!(games, if is_computer { WITH_FULL_MEMORIES / 2 } else { 1 });
}
