//! What the owner does to a league that is being played, and what is left of it after a power cut.

extern crate std;

use std::string::ToString;
use std::vec::Vec;

use serde_json::{Value, json};

use super::restart_tests::{Pieces, play, results, room, standings};
use super::tests::{Room, perfect};
use super::*;
use crate::journal::Entry;
use crate::journal::bytes::{Reader, Writer};
use crate::season::Status;

const R1M1: MatchId = MatchId { round: 1, table: 1 };
const R1M2: MatchId = MatchId { round: 1, table: 2 };
const R2M1: MatchId = MatchId { round: 2, table: 1 };

fn started(players: u16) -> (Room, Pieces) {
    let mut room = room(players);
    room.venue.command(room.now, Command::Start).unwrap();
    (room, Pieces::default())
}

/// Plays until this match is over.
fn play_until_over(room: &mut Room, journal: &mut Pieces, id: MatchId) {
    while room.venue.record(id).is_none() {
        assert!(play(room, journal, 1));
    }
}

fn finish(room: &mut Room, journal: &mut Pieces) {
    while play(room, journal, 1) {}
    assert!(room.venue.is_over());
    assert_eq!(room.venue.status().matches_completed, room.venue.schedule().total_matches());
}

/// The same box after a power cut.
fn cut(room: &mut Room, journal: &mut Pieces) {
    journal.keep(&mut room.venue);
    let before = (results(&room.venue), standings(&mut room.venue));
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert_eq!((results(&room.venue), standings(&mut room.venue)), before);
    journal.keep(&mut room.venue);
}

fn reason(room: &Room, id: MatchId) -> &'static str {
    room.venue.record(id).unwrap().end_reason().name()
}

fn points(room: &mut Room, player: &str) -> u16 {
    room.venue.refresh_standings();
    let row = room.venue.standings().find(|row| row.player_id.0.to_string() == player);
    row.unwrap().points
}

fn told(room: &Room, player: u16, message: &str) -> Vec<Value> {
    let of_it = |(to, call): &&(u16, Value)| *to == player && call["params"]["message_type"] == message;
    room.heard.iter().filter(of_it).map(|(_, call)| call["params"].clone()).collect()
}

#[test]
fn a_removed_player_forfeits_what_is_left_and_is_told_nothing_more() {
    let (mut room, mut journal) = started(4);
    play_until_over(&mut room, &mut journal, R2M1);
    let before = room.heard.len();
    room.venue.remove(room.now, 4).unwrap();
    assert_eq!(room.venue.remove(room.now, 4).unwrap_err().to_string(), "the player has left already");
    cut(&mut room, &mut journal);
    finish(&mut room, &mut journal);
    assert!(room.heard[before..].iter().all(|(player, _)| *player != 3));
    assert_eq!(reason(&room, MatchId { round: 3, table: 1 }), "adjudicated");
    let player = &room.venue.players()[3];
    assert!(player.is_removed());
    let lost = serde_json::to_value(room.venue.endings(player).technical_losses).unwrap();
    assert!(lost["adjudicated"].as_u64() >= Some(1) && lost["disconnected"] == 0, "{lost}");
    assert_eq!(room.register("Agent 3", 8104)["status"], "REJECTED");
}

#[test]
fn a_player_removed_in_its_match_loses_it_once_the_other_has_answered() {
    let (mut room, mut journal) = started(2);
    assert!(play(&mut room, &mut journal, 2));
    room.venue.remove(room.now, 1).unwrap();
    finish(&mut room, &mut journal);
    let record = room.venue.record(R1M1).unwrap();
    let winner = room.venue.match_line(R1M1).unwrap().winner.unwrap();
    assert_eq!((record.status(), winner.0), (Status::TechnicalLoss, AgentId::Player(2)));
    let over = told(&room, 1, "GAME_OVER").remove(0);
    assert_eq!(over["game_result"]["reason"], "P01 was removed by the admin");
}

#[test]
fn before_the_league_a_removed_player_makes_room_and_its_token_opens_nothing() {
    let (mut room, mut journal) = (room(3), Pieces::default());
    let token = room.register("Agent 2", 8103)["auth_token"].to_string();
    room.venue.remove(room.now, 3).unwrap();
    assert_eq!(room.venue.remove(room.now, 3), Err(Denied::Player));
    journal.keep(&mut room.venue);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert_eq!(room.venue.players().len(), 2);
    let again = room.register("Agent 2", 8103);
    assert_ne!(again["auth_token"].to_string(), token);
}

#[test]
fn a_ruling_on_a_running_match_ends_it_at_once() {
    for winner in [Some(1), Some(2), None] {
        let (mut room, mut journal) = started(4);
        // The first player has chosen, the second has been asked.
        assert!(play(&mut room, &mut journal, 5));
        assert!(room.venue.table(R1M1).is_some());
        room.venue.rule(room.now, R1M1, winner).unwrap();
        assert!(room.venue.table(R1M1).is_none());
        cut(&mut room, &mut journal);
        finish(&mut room, &mut journal);
        assert_eq!(reason(&room, R1M1), "adjudicated");
        let over = told(&room, 0, "GAME_OVER").remove(0);
        assert_eq!(over["game_result"]["reason"], "The admin ruled on this match");
        assert_eq!(over["game_result"]["winner_player_id"], json!(winner.map(|n| std::format!("P0{n}"))));
        let score = |points: [u16; 2]| json!({"P01": points[0], "P02": points[1]});
        let expected = score(match winner {
            Some(1) => [3, 0],
            Some(_) => [0, 3],
            None => [1, 1],
        });
        assert_eq!(over["game_result"]["score"], expected);
    }
}

#[test]
fn a_ruling_on_a_finished_match_changes_the_standings_and_is_told() {
    let (mut room, mut journal) = started(4);
    play_until_over(&mut room, &mut journal, R2M1);
    for (winner, expected) in [(Some(2), [0, 3]), (None, [1, 1]), (Some(1), [3, 0])] {
        let others = [points(&mut room, "P03"), points(&mut room, "P04")];
        let draw = room.venue.record(R1M1).unwrap().verdict(0).points();
        let before = points(&mut room, "P01") - draw;
        room.venue.rule(room.now, R1M1, winner).unwrap();
        assert_eq!(points(&mut room, "P01"), before + expected[0]);
        assert_eq!([points(&mut room, "P03"), points(&mut room, "P04")], others);
        cut(&mut room, &mut journal);
    }
    room.venue.rule(room.now, R1M1, Some(2)).unwrap();
    finish(&mut room, &mut journal);
    for player in [0, 1] {
        let overs = told(&room, player, "GAME_OVER");
        let of_it = overs.iter().filter(|over| over["match_id"] == "R1M1").map(|over| &over["game_result"]);
        let reasons: Vec<_> = of_it.map(|result| (&result["end_reason"], &result["winner_player_id"])).collect();
        assert_eq!(reasons, [(&json!("draw"), &Value::Null), (&json!("adjudicated"), &json!("P02"))]);
    }
}

#[test]
fn two_results_that_change_before_a_player_hears_of_either_are_both_told() {
    let (mut room, mut journal) = started(6);
    let schedule = room.venue.schedule();
    let own = [1, 2, 3].map(|round| MatchId { round, table: schedule.table_of(round, 0).unwrap() });
    play_until_over(&mut room, &mut journal, own[2]);
    room.venue.rule(room.now, own[1], Some(1)).unwrap();
    room.venue.rule(room.now, own[0], Some(1)).unwrap();
    finish(&mut room, &mut journal);
    let overs = told(&room, 0, "GAME_OVER");
    let ruled = overs.iter().filter(|over| over["game_result"]["end_reason"] == "adjudicated");
    let ids: Vec<_> = ruled.map(|over| over["match_id"].as_str().unwrap().to_string()).collect();
    assert_eq!((ids, overs.len()), (own[..2].iter().map(ToString::to_string).collect(), 5 + 2));
}

#[test]
fn a_finished_league_can_be_ruled_on_and_nobody_is_called() {
    let (mut room, mut journal) = started(3);
    finish(&mut room, &mut journal);
    room.venue.rule(room.now, R1M1, Some(3)).unwrap();
    assert!((0..3).all(|player| room.venue.call(player).is_none()));
    cut(&mut room, &mut journal);
    assert!(room.venue.is_over());
    assert_eq!(reason(&room, R1M1), "adjudicated");
}

#[test]
fn a_ruling_on_a_finished_league_changes_what_is_remembered_of_it() {
    let (mut room, mut journal) = started(3);
    finish(&mut room, &mut journal);
    journal.keep(&mut room.venue);
    room.venue.rule(room.now, R1M1, Some(3)).unwrap();
    assert_eq!([0, 1].map(|n| room.venue.next_fact(n).unwrap().1), [Fact::Ruled(R1M1), Fact::Ended]);
    let mut buf = [0; 1024];
    let mut out = Writer::new(&mut buf);
    assert!(!room.venue.write_ending(&mut 0, &mut out));
    let mut from = Reader::new(&buf);
    assert!(matches!(Entry::read(&mut from), Ok(Some(Entry::Ended(ended))) if ended.players == 3));
    let Ok(Some(Entry::Ranked(champion))) = Entry::read(&mut from) else { panic!("no first line") };
    assert_eq!((champion.player_id.0.to_string(), champion.points), ("P03".into(), points(&mut room, "P03")));
}

#[test]
fn a_match_is_played_again_from_its_invitation_with_another_seed() {
    for (first, id) in [(R1M1, R1M1), (R1M2, R1M2), (R2M1, R1M1), (R2M1, R2M1)] {
        for cut_at in 0..12 {
            let (mut room, mut journal) = started(4);
            play_until_over(&mut room, &mut journal, first);
            let was = *room.venue.record(id).unwrap();
            let (seed, running) = (room.venue.commitment(id), room.venue.commitment(R1M2));
            room.venue.replay(room.now, id).unwrap();
            assert!(room.venue.record(id).is_none());
            assert_ne!(room.venue.commitment(id), seed);
            assert_eq!(room.venue.commitment(R1M2) == running, id != R1M2, "others keep theirs");
            let before = room.heard.len();
            play(&mut room, &mut journal, cut_at);
            cut(&mut room, &mut journal);
            finish(&mut room, &mut journal);
            let invitations = room.heard[before..].iter().filter(|(_, call)| {
                let params = &call["params"];
                params["message_type"] == "GAME_INVITATION" && params["match_id"] == id.to_string()
            });
            assert!(invitations.count() >= 2, "{id} after {first}, cut at {cut_at}");
            assert!(room.venue.commitment(id) != seed && room.venue.record(id).unwrap().attempt > was.attempt);
        }
    }
}

#[test]
fn the_result_of_a_match_that_is_played_again_leaves_the_standings() {
    let (mut room, mut journal) = started(4);
    play_until_over(&mut room, &mut journal, R2M1);
    room.venue.rule(room.now, R1M1, Some(2)).unwrap();
    let before = points(&mut room, "P02");
    room.venue.replay(room.now, R1M1).unwrap();
    assert_eq!(points(&mut room, "P02"), before - 3);
    cut(&mut room, &mut journal);
    finish(&mut room, &mut journal);
    assert_eq!(reason(&room, R1M1), "draw", "everybody says even");
}

#[test]
fn a_paused_round_is_opened_again_for_a_match_and_then_waits_again() {
    let (mut room, mut journal) = started(4);
    room.venue.command(room.now, Command::Pause).unwrap();
    while play(&mut room, &mut journal, 1) {}
    room.venue.replay(room.now, R1M2).unwrap();
    assert!(room.venue.table(R1M2).is_some());
    while play(&mut room, &mut journal, 1) {}
    assert_eq!((room.venue.stage(), room.venue.status().matches_completed), (Stage::Running(1), 2));
    room.venue.command(room.now, Command::Resume).unwrap();
    finish(&mut room, &mut journal);
    assert_eq!(told(&room, 0, "ROUND_COMPLETED").len(), 4, "the first round closed twice");
}

#[test]
fn what_cannot_be_done_is_told_and_changes_nothing() {
    let mut waiting = room(4);
    assert_eq!(waiting.venue.rule(waiting.now, R1M1, None), Err(Denied::Match));
    assert_eq!(waiting.venue.replay(waiting.now, R1M1), Err(Denied::Match));
    assert_eq!(waiting.venue.remove(waiting.now, 9), Err(Denied::Player));

    let (mut room, mut journal) = started(4);
    let now = room.now;
    let facts = room.venue.facts();
    let venue = &mut room.venue;
    assert_eq!(venue.rule(now, MatchId { round: 4, table: 1 }, None), Err(Denied::Match));
    assert_eq!(venue.rule(now, MatchId { round: 0, table: 0 }, None), Err(Denied::Match));
    assert_eq!(venue.rule(now, R1M1, Some(3)), Err(Denied::Winner));
    assert!(matches!(venue.rule(now, R2M1, None), Err(Denied::Now(_))), "it has not begun");
    assert!(matches!(venue.replay(now, R1M1), Err(Denied::Now(_))), "it is being played");
    assert_eq!(venue.facts(), facts);
    finish(&mut room, &mut journal);
    assert!(matches!(room.venue.replay(now, R1M1), Err(Denied::Now(_))), "the league is over");
    assert!(matches!(room.venue.remove(now, 1), Err(Denied::Now(_))), "the league is over");
}

#[test]
fn every_power_is_in_the_log_with_whom_and_what_it_concerns() {
    let (mut room, mut journal) = started(4);
    play_until_over(&mut room, &mut journal, R1M1);
    room.venue.rule(room.now, R1M1, Some(2)).unwrap();
    room.venue.replay(room.now, R1M1).unwrap();
    room.venue.remove(room.now, 4).unwrap();
    let log = room.venue.log();
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some((number, entry)) = log.at_or_after(at) {
        at = number + 1;
        if let Happening::Admin(word) = entry.what {
            lines.push((word, entry.agent, entry.at_match.filter(|id| *id == R1M1)));
        }
    }
    let player = |n| Some(AgentId::Player(n));
    let expected =
        [("rule: this player wins", player(2), Some(R1M1)), ("replay", None, Some(R1M1)), ("remove", player(4), None)];
    assert_eq!(lines[lines.len() - 3..], expected);
}

#[test]
fn the_rules_broken_at_registration_are_known_after_a_restart() {
    let (mut room, mut journal) = (room(0), Pieces::default());
    let body = r#"{"jsonrpc":"2.0","method":"register_player","id":1,"params":{"display_name":"Sloppy","contact_endpoint":"http://localhost:8101/mcp"}}"#;
    let token = room.send(body)["result"]["auth_token"].to_string();
    for _ in 0..5 {
        let query = std::format!(
            r#"{{"jsonrpc":"2.0","method":"league_query","id":1,"params":{{"auth_token":{token},"query_type":"GET_STANDINGS"}}}}"#
        );
        room.send(&query);
    }
    let counts = |room: &Room| -> Vec<_> {
        room.venue.players()[0].compliance.broken().map(|(rule, count, _)| (rule, count)).collect()
    };
    let before = counts(&room);
    assert!(before.len() > 3);
    for chapter in [false, true] {
        if chapter {
            room.venue.configure(room.now, Change { seed: Some(Some(Seed([7; 32]))), ..Change::default() }).unwrap();
        }
        journal.keep(&mut room.venue);
        room.venue = journal.restore();
        room.venue.resume(room.now);
        let after = counts(&room);
        assert_eq!(after.len(), before.len());
        assert!(after.iter().zip(&before).all(|(after, before)| after.1 * 2 > before.1), "{after:?} of {before:?}");
    }
}

#[test]
fn a_player_is_timed_from_the_first_call_for_a_move_to_the_valid_answer() {
    let mut room = Room::with_players(2);
    room.venue.command(room.now, Command::Start).unwrap();
    let mut warned = false;
    room.run(|player, call| {
        // The second player chooses only when it is asked again.
        let name = &call["params"]["message_type"];
        warned |= name == "GAME_ERROR";
        (player == 0 || name != "CHOOSE_PARITY_CALL" || warned).then(|| perfect(player, call)).flatten()
    });
    let [quick, slow] = [0, 1].map(|player: usize| room.venue.players()[player].latency);
    // To join is no thinking, and is not counted.
    assert_eq!((quick.answers(), quick.least_ms(), quick.within_ms(99)), (1, Some(0), Some(3)));
    assert_eq!(slow.answers(), 1);
    assert_eq!(slow.within_ms(99), Some(32_767), "thirty seconds, and the retry was answered at once");
}
