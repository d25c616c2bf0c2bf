//! Leagues of a game for four.

extern crate std;

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::restart_tests::{Pieces, play, results, standings};
use super::tests::{Room, config, names, perfect};
use super::*;
use crate::json::Slice;
use crate::season::{Status, Verdict};

fn dance() -> Config {
    Config { game: GameKind::Dance, ..config() }
}

fn started(players: u16) -> Room {
    let mut room = Room::of(dance(), players);
    room.venue.command(room.now, Command::Start).unwrap();
    room
}

fn result_of(room: &Room, id: MatchId) -> Value {
    let mut buf = [0; 2048];
    let mut sink = Slice::new(&mut buf);
    crate::json::write(&room.venue.game_result(id), &mut sink).unwrap();
    serde_json::from_slice(sink.written()).unwrap()
}

/// Dances at the next one in the list, and throws what beats the rock the others throw who stay where they are. All
/// others answer flawlessly.
fn hunter(player: u16, call: &Value, is_hunter: bool) -> Option<Value> {
    let params = &call["params"];
    let Some(dancers) = params["game_state"]["game_specific_state"]["publicState"]["agents"].as_array() else {
        return perfect(player, call);
    };
    let place = |dancer: &Value| [dancer["x"].as_i64().unwrap(), dancer["y"].as_i64().unwrap()];
    let mut at = dancers.iter().find(|dancer| dancer["agentId"] == params["player_id"]).map(place)?;
    let prey = dancers.iter().find(|dancer| dancer["agentId"] != params["player_id"] && dancer["eliminated"] == false);
    let step = |beat: u8| {
        let [x, y] = prey.map(place).map_or([0, 0], |[x, y]| [x - at[0], y - at[1]]);
        let direction = match (x, y) {
            _ if !is_hunter || x.abs() + y.abs() <= 1 => "hold",
            (1.., _) => "right",
            (..=-1, _) => "left",
            (_, 1..) => "down",
            _ => "up",
        };
        match direction {
            "right" => at[0] += 1,
            "left" => at[0] -= 1,
            "down" => at[1] += 1,
            "up" => at[1] -= 1,
            _ => {}
        }
        json!({"beatIndex": beat, "kind": "move", "direction": direction})
    };
    let mut commands: Vec<Value> = [0, 1].map(step).into();
    let throw = if is_hunter { "paper" } else { "rock" };
    commands.push(json!({"beatIndex": 2, "kind": "action", "action": throw}));
    Some(json!({"jsonrpc":"2.0","result":{"move":{"commands":commands}},"id":call["id"]}))
}

/// Everything of a type that a player was told.
fn told(room: &Room, player: u16, message: &str) -> Vec<Value> {
    let of_it = |(to, call): &&(u16, Value)| *to == player && call["params"]["message_type"] == message;
    room.heard.iter().filter(of_it).map(|(_, call)| call["params"].clone()).collect()
}

#[test]
fn a_league_of_five_dancers_is_played_to_its_champion_and_everybody_rests_once() {
    let mut room = started(5);
    // Three dance as the house does, one hunts, and one stays where it is.
    room.run(|player, call| if player < 3 { perfect(player, call) } else { hunter(player, call, player == 3) });
    assert!(room.venue.is_over());
    assert_eq!(room.venue.status().matches_completed, 5);
    let mut points: BTreeMap<String, u64> = BTreeMap::new();
    for round in 1..=5 {
        let id = MatchId { round, table: 1 };
        let result = result_of(&room, id);
        let score = result["score"].as_object().unwrap();
        assert_eq!(score.len(), 4, "{result}");
        score.iter().for_each(|(id, score)| *points.entry(id.clone()).or_default() += score.as_u64().unwrap());
    }
    room.venue.refresh_standings();
    let rows: Vec<_> = room.venue.standings().collect();
    assert!(rows.iter().all(|row| row.played == 4 && row.technical_losses == 0));
    assert!(rows.iter().all(|row| points[&row.player_id.0.to_string()] == u64::from(row.points)));
    assert!(rows.is_sorted_by_key(|row| core::cmp::Reverse(row.points)));
    assert!(rows[0].points > rows[4].points, "some dance better than others");
    for player in 0..5 {
        let names = names(&room, player);
        let count = |name: &str| names.iter().filter(|known| *known == name).count();
        assert_eq!([count("ROUND_ANNOUNCEMENT"), count("GAME_INVITATION"), count("GAME_OVER")], [5, 4, 4]);
        assert_eq!(names.last().unwrap(), "LEAGUE_COMPLETED");
    }
}

#[test]
fn all_four_are_named_wherever_a_match_is() {
    let mut room = started(4);
    room.run(perfect);
    let matches = &told(&room, 0, "ROUND_ANNOUNCEMENT")[1]["matches"];
    let ids = ["A", "B", "C", "D"].map(|seat| matches[0][format!("player_{seat}_id")].as_str().unwrap());
    assert_eq!(ids, ["P02", "P03", "P01", "P04"]);
    let ports = ["A", "B", "C", "D"].map(|seat| matches[0][format!("player_{seat}_endpoint")].as_str().unwrap());
    assert_eq!(ports, [8102, 8103, 8101, 8104].map(|port| format!("http://10.0.0.9:{port}/mcp")));
    let invitation = &told(&room, 0, "GAME_INVITATION")[1];
    assert_eq!(invitation["role_in_match"], "PLAYER_C");
    let others = json!(["P02", "P03", "P04"]);
    assert_eq!((&invitation["opponent_id"], &invitation["opponent_ids"]), (&json!("P02"), &others));
    let request = told(&room, 0, "MOVE_REQUEST").into_iter().find(|call| call["match_id"] == "R2M1").unwrap();
    assert_eq!(request["conversation_id"], "conv_r2m1_c");
    assert_eq!(request["context"]["opponent_ids"], others);
    let dancers = request["game_state"]["game_specific_state"]["publicState"]["agents"].as_array().unwrap();
    assert_eq!(
        dancers.iter().map(|dancer| &dancer["agentName"]).collect::<Vec<_>>(),
        ["Agent 1", "Agent 2", "Agent 0", "Agent 3"]
    );
    let line = serde_json::to_value(room.venue.match_line(MatchId { round: 2, table: 1 }).unwrap()).unwrap();
    assert_eq!((&line["player_C_id"], &line["player_D_id"]), (&json!("P01"), &json!("P04")));
    let sitters: Vec<_> = room.venue.sitters(MatchId { round: 2, table: 1 }).collect();
    assert_eq!((sitters.len(), sitters[2].display_name), (4, "Agent 0"));
}

#[test]
fn who_asks_for_its_next_match_hears_of_all_it_will_meet() {
    let mut room = Room::of(dance(), 4);
    room.venue.command(room.now, Command::Start).unwrap();
    let token = room.register("Agent 3", 8104)["auth_token"].clone();
    let query = json!({"jsonrpc":"2.0","id":1,"method":"league_query","params":{"auth_token":token,
        "timestamp":"2025-01-15T10:05:00Z","query_type":"GET_NEXT_MATCH"}});
    let next = room.send(&query.to_string())["result"]["data"].take();
    assert_eq!((&next["opponent_id"], &next["opponent_ids"]), (&json!("P01"), &json!(["P01", "P02", "P03"])));
}

#[test]
fn one_who_stops_answering_loses_and_the_others_are_placed_by_the_points_they_have() {
    let mut room = started(4);
    // P01 hunts the others; as soon as it has got one, P03 falls silent.
    room.run(|player, call| {
        let dancers = call["params"]["game_state"]["game_specific_state"]["publicState"]["agents"].as_array();
        let has_points = dancers.is_some_and(|dancers| dancers.iter().any(|dancer| dancer["score"] != 0));
        if player == 2 && has_points { None } else { hunter(player, call, player == 0) }
    });
    let mut won = 0;
    assert!(room.venue.is_over());
    for round in 1..=3 {
        let id = MatchId { round, table: 1 };
        let record = *room.venue.record(id).unwrap();
        let places = room.venue.places(id).unwrap();
        let result = result_of(&room, id);
        let silent = places.iter().position(|&place| place == 2).unwrap() as u8;
        assert_eq!((record.status(), record.verdict(silent)), (Status::TechnicalLoss, Verdict::TechnicalLoss));
        let score = |seat: usize| result["final_score"][room.venue.id_at(places[seat]).to_string()].as_u64().unwrap();
        let others = || (0..4).filter(|&seat| seat != usize::from(silent));
        let most = others().map(score).max().unwrap();
        let ahead: Vec<usize> = others().filter(|&seat| score(seat) == most).collect();
        for seat in others() {
            let due = match ahead.contains(&seat) {
                true if ahead.len() == 1 => Verdict::Win,
                true => Verdict::Draw,
                false => Verdict::Loss,
            };
            assert_eq!(record.verdict(seat as u8), due, "{id}: {result}");
        }
        assert_eq!(result["reason"], "P03 did not answer in time", "{id}");
        won += u8::from(record.winner().is_some());
    }
    assert_eq!(won, 3, "one was ahead in every match");
}

#[test]
fn when_nobody_comes_nobody_gets_anything() {
    let mut room = started(4);
    room.run(|player, call| {
        let declines = call["params"]["message_type"] == "GAME_INVITATION";
        if declines {
            Some(json!({"jsonrpc":"2.0","result":{"accept":false},"id":call["id"]}))
        } else {
            perfect(player, call)
        }
    });
    room.venue.refresh_standings();
    assert!(room.venue.standings().all(|row| (row.points, row.technical_losses) == (0, 3)));
    let result = result_of(&room, MatchId { round: 1, table: 1 });
    assert_eq!(
        (&result["end_reason"], &result["reason"]),
        (&json!("both_failed"), &json!("Nobody gave a valid answer"))
    );
}

#[test]
fn two_who_stay_away_are_both_named_and_the_other_two_share() {
    let mut room = started(4);
    room.run(|player, call| if player < 2 { None } else { perfect(player, call) });
    let result = result_of(&room, MatchId { round: 1, table: 1 });
    assert_eq!(result["reason"], "P01 did not answer in time; P02 failed as well");
    assert_eq!(result["score"], json!({"P01": 0, "P02": 0, "P03": 1, "P04": 1}));
}

fn kept(players: u16) -> (Room, Pieces) {
    let mut room = Room::new(dance());
    room.venue.keep_facts();
    (0..players).for_each(|i| _ = room.register(&format!("Agent {i}"), 8101 + i));
    room.venue.command(room.now, Command::Start).unwrap();
    (room, Pieces::default())
}

/// The same box after a power cut.
fn cut(room: &mut Room, journal: &mut Pieces) {
    journal.keep(&mut room.venue);
    let before = (results(&room.venue), standings(&mut room.venue));
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert_eq!((results(&room.venue), standings(&mut room.venue)), before);
}

#[test]
fn a_league_of_dancers_cut_off_in_the_middle_goes_on_with_every_result_it_had() {
    for answers in (0..).step_by(251) {
        let (mut room, mut journal) = kept(4);
        let is_running = play(&mut room, &mut journal, answers);
        let before = results(&room.venue);
        cut(&mut room, &mut journal);
        while play(&mut room, &mut journal, 1) {}
        assert!(room.venue.is_over(), "after {answers} answers");
        let after = results(&room.venue);
        assert_eq!(after.len(), 3);
        assert!(before.iter().all(|result| after.contains(result)), "after {answers} answers");
        if !is_running {
            return;
        }
    }
}

#[test]
fn the_owner_has_its_powers_over_a_match_of_four_and_they_outlive_a_power_cut() {
    let (mut room, mut journal) = kept(5);
    let [first, second] = [1, 2].map(|round| MatchId { round, table: 1 });
    while room.venue.record(first).is_none() {
        assert!(play(&mut room, &mut journal, 1));
    }
    assert_eq!(room.venue.rule(room.now, first, Some(5)), Err(Denied::Winner), "P05 rests in the first round");
    room.venue.rule(room.now, first, Some(4)).unwrap();
    let verdicts = |room: &Room| [0, 1, 2, 3].map(|seat| room.venue.record(first).unwrap().verdict(seat));
    assert_eq!(verdicts(&room), [Verdict::Loss, Verdict::Loss, Verdict::Loss, Verdict::Win]);
    cut(&mut room, &mut journal);
    room.venue.rule(room.now, first, None).unwrap();
    assert_eq!(verdicts(&room), [Verdict::Draw; 4]);
    cut(&mut room, &mut journal);
    room.venue.replay(room.now, first).unwrap();
    cut(&mut room, &mut journal);
    while room.venue.record(second).is_none() {
        assert!(play(&mut room, &mut journal, 1));
    }
    room.venue.remove(room.now, 2).unwrap();
    cut(&mut room, &mut journal);
    while play(&mut room, &mut journal, 1) {}
    assert!(room.venue.is_over());
    assert!(room.venue.record(first).unwrap().end_reason().name() != "adjudicated");
    let last = room.venue.record(MatchId { round: 5, table: 1 }).unwrap();
    assert_eq!(last.end_reason().name(), "adjudicated");
    assert_eq!(room.venue.status().matches_completed, 5);
}

#[test]
fn a_league_of_dancers_needs_four_and_starts_by_itself_at_no_fewer() {
    let mut room = Room::of(dance(), 3);
    let refusal = room.venue.command(room.now, Command::Start).unwrap_err();
    assert_eq!(refusal.to_string(), "a league of this game needs at least four players; register them first");
    let start_at = |n| Change { start_at: Some(n), ..Change::default() };
    for n in [2, 3, 33] {
        let refusal = room.venue.configure(room.now, start_at(Some(n))).unwrap_err();
        assert!(refusal.to_string().contains("at least as many players as it seats, and at most 32"), "{refusal}");
    }
    room.venue.configure(room.now, start_at(Some(4))).unwrap();
    assert_eq!(room.venue.stage(), Stage::Waiting);
    room.register("Agent 3", 8104);
    assert_eq!(room.venue.stage(), Stage::Running(1));
    // What starts at two cannot become a game for four.
    let mut room = Room::new(Config { start_at: Some(2), ..config() });
    assert!(room.venue.configure(room.now, Change { game: Some(GameKind::Dance), ..Change::default() }).is_err());
}

#[test]
fn a_league_of_dancers_is_full_with_thirty_two_however_large_the_box_is() {
    let now = Room::new(dance()).now;
    let mut space = std::boxed::Box::new(Space::<40, 4, 780, 64, 0, 1024>::new());
    let config = Config { per_address: Some(40), ..dance() };
    let mut venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
    for i in 1..=33u16 {
        let body = json!({"jsonrpc":"2.0","method":"register_player","id":1,"params":{"player_meta":{
            "display_name":format!("Agent {i}"),"contact_endpoint":format!("http://localhost:{}/mcp", 8100 + i)}}});
        let body = body.to_string();
        let answer = venue.request(now, IpAddr::V4(Ipv4Addr::LOCALHOST), Via::Post, body.as_bytes());
        let mut buf = [0; 1024];
        let mut sink = Slice::new(&mut buf);
        venue.write_answer(&answer, &mut sink).unwrap();
        let answer: Value = serde_json::from_slice(sink.written()).unwrap();
        assert_eq!(answer["result"]["reason"], if i > 32 { json!("League full") } else { Value::Null }, "{i}");
    }
    venue.command(now, Command::Start).unwrap();
    assert_eq!(venue.status().total_matches, 31 * 8);
}
