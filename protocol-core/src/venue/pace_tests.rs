//! A league at a pace that people can follow, in virtual time.

extern crate std;

use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::restart_tests::Pieces;
use super::tests::{Room, config, perfect};
use super::*;

const TURN: Millis = 1_000;
const MATCH: Millis = 5_000;
const BREAK: Millis = 4_000;

fn pacing(pace: Pace) -> Pacing {
    Pacing { pace, turn_ms: TURN, match_ms: MATCH, break_ms: BREAK }
}

fn room(game: GameKind, pace: Pace, players: u16) -> Room {
    Room::of(Config { game, pacing: pacing(pace), ..config() }, players)
}

/// What a player was told, and when.
#[derive(Clone, Debug)]
struct Said {
    at: Millis,
    player: u16,
    kind: String,
}

/// Serves every open call by `respond`, and lets the clock run where nothing is open, until nothing is left to wait for.
fn serve(room: &mut Room, mut respond: impl FnMut(u16, &Value) -> Option<Value>) -> Vec<Said> {
    let mut said = Vec::new();
    loop {
        while room.venue.poll_output().is_some() {}
        let mut answered = false;
        for player in 0..room.venue.players().len() as u16 {
            let Some(call) = room.call(player) else { continue };
            if let Some(reply) = respond(player, &call) {
                let kind = call["params"]["message_type"].as_str().unwrap().to_string();
                said.push(Said { at: room.now.ms, player, kind });
                room.answer(player, reply);
                answered = true;
            }
        }
        if !answered {
            let Some(at) = room.venue.next_deadline() else { return said };
            assert!(at > room.now.ms, "a deadline that has passed must have been dealt with");
            room.now = Now { ms: at, utc: room.now.utc_at(at) };
            room.venue.handle(room.now, Event::Tick);
        }
    }
}

fn times(said: &[Said], player: u16, kind: &str) -> Vec<Millis> {
    said.iter().filter(|said| said.player == player && said.kind == kind).map(|said| said.at).collect()
}

fn technical_losses(room: &mut Room) -> u16 {
    room.venue.refresh_standings();
    room.venue.standings().map(|row| row.technical_losses).sum()
}

/// Stones in a row for either, side by side, or a drone that stays where it is.
fn player_of_any_game(player: u16, call: &Value) -> Option<Value> {
    let params = &call["params"];
    if params["message_type"] != "MOVE_REQUEST" {
        return perfect(player, call);
    }
    let wanted = match params["game_type"].as_str() {
        Some("skill-gomoku") => {
            let turn = params["game_state"]["turn_number"].as_u64()?.checked_sub(1)?;
            json!({"type": "place", "row": turn % 2, "col": turn / 2})
        }
        Some("resource-rush") => json!({"action": "wait"}),
        _ => return perfect(player, call),
    };
    Some(json!({"jsonrpc":"2.0","result":{"move":wanted},"id":call["id"]}))
}

#[test]
fn a_match_to_be_watched_lasts_and_there_is_a_break_before_every_round() {
    let mut room = room(GameKind::EvenOdd, Pace::Watch, 4);
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(room.venue.next_round_in(room.now.ms), Some(BREAK), "before the first round too");
    let said = serve(&mut room, perfect);
    for player in 0..4 {
        let rounds = times(&said, player, "ROUND_ANNOUNCEMENT");
        assert_eq!(rounds, [BREAK, 2 * BREAK + MATCH, 3 * BREAK + 2 * MATCH]);
        let invited = times(&said, player, "GAME_INVITATION");
        let asked = times(&said, player, "CHOOSE_PARITY_CALL");
        let over = times(&said, player, "GAME_OVER");
        for round in 0..3 {
            assert_eq!(invited[round], rounds[round]);
            assert_eq!(asked[round], rounds[round] + MATCH - TURN, "the question comes late, not the end of the match");
            assert_eq!(over[round], rounds[round] + MATCH);
        }
        assert_eq!(times(&said, player, "LEAGUE_COMPLETED"), [3 * (BREAK + MATCH)], "none behind the last round");
    }
    assert_eq!(technical_losses(&mut room), 0);
}

#[test]
fn a_turn_to_be_watched_lasts_whoever_moves() {
    for (game, turns) in [(GameKind::EvenOdd10, 10), (GameKind::Gomoku, 9)] {
        let mut room = room(game, Pace::Watch, 2);
        room.venue.command(room.now, Command::Start).unwrap();
        let said = serve(&mut room, player_of_any_game);
        let mut asked: Vec<Millis> = said.iter().filter(|s| s.kind == "MOVE_REQUEST").map(|s| s.at).collect();
        asked.dedup();
        asked.extend(times(&said, 0, "GAME_OVER"));
        assert_eq!(asked.len(), turns + 1, "{game:?}");
        assert!(asked.windows(2).all(|pair| pair[1] - pair[0] == TURN), "{game:?}: {asked:?}");
        assert_eq!(technical_losses(&mut room), 0);
    }
}

#[test]
fn ticks_share_the_time_of_a_match() {
    let mut room = room(GameKind::Rush, Pace::Watch, 2);
    room.venue.command(room.now, Command::Start).unwrap();
    let said = serve(&mut room, player_of_any_game);
    let asked = times(&said, 0, "MOVE_REQUEST");
    assert_eq!(asked.len(), 500);
    assert_eq!(times(&said, 0, "GAME_OVER")[0] - times(&said, 0, "GAME_INVITATION")[0], MATCH);
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] == MATCH / 500));
}

#[test]
fn whoever_is_held_back_has_all_its_time_once_it_is_asked() {
    for pace in [Pace::Fast, Pace::Watch] {
        let mut room = room(GameKind::EvenOdd, pace, 2);
        room.venue.command(room.now, Command::Start).unwrap();
        let timing = room.venue.config().timing;
        // The first is asked and says nothing; the clock stops at its deadline.
        let said = serve(&mut room, |player, call| {
            let is_question = player == 0 && call["params"]["message_type"] == "CHOOSE_PARITY_CALL";
            if is_question { None } else { perfect(player, call) }
        });
        let told = times(&said, 0, "GAME_ERROR");
        let other = times(&said, 1, "CHOOSE_PARITY_CALL")[0];
        assert_eq!(told[0], other + timing.move_ms, "{pace:?}: both were asked at the same time");
    }
}

#[test]
fn an_answer_that_takes_longer_than_a_turn_delays_nothing_more() {
    let mut room = room(GameKind::EvenOdd10, Pace::Watch, 2);
    room.venue.command(room.now, Command::Start).unwrap();
    // Each answer to a move comes when the clock has gone on once: with the deadline of the other's call at the earliest.
    let mut moves = Vec::new();
    for _ in 0..200 {
        while room.venue.poll_output().is_some() {}
        let open: Vec<(u16, Value)> = (0..2).filter_map(|player| Some((player, room.call(player)?))).collect();
        let Some((player, call)) = open.first() else {
            let Some(at) = room.venue.next_deadline() else { break };
            room.now = Now { ms: at, utc: room.now.utc };
            room.venue.handle(room.now, Event::Tick);
            continue;
        };
        if call["params"]["message_type"] == "MOVE_REQUEST" {
            moves.push((*player, room.now.ms));
            room.now.ms += 3 * TURN;
        }
        room.answer(*player, perfect(*player, call).unwrap());
    }
    let of_first: Vec<Millis> = moves.iter().filter(|(player, _)| *player == 0).map(|(_, at)| *at).collect();
    assert_eq!(of_first.len(), 10);
    assert!(of_first.windows(2).all(|pair| pair[1] - pair[0] == 6 * TURN), "{of_first:?}");
}

#[test]
fn in_steps_every_round_waits_for_the_owner_the_first_too() {
    let mut room = room(GameKind::EvenOdd, Pace::Step, 4);
    room.venue.command(room.now, Command::Start).unwrap();
    for round in 0..3 {
        assert!(serve(&mut room, perfect).iter().all(|said| said.kind != "ROUND_ANNOUNCEMENT"));
        assert_eq!(room.venue.stage(), Stage::Running(round));
        assert!(room.venue.waits_for_owner());
        assert_eq!(room.venue.next_round_in(room.now.ms), None);
        room.venue.command(room.now, Command::Next).unwrap();
        assert_eq!(room.venue.stage(), Stage::Running(round + 1));
        let refusal = room.venue.command(room.now, Command::Next).unwrap_err();
        assert!(refusal.0.contains("still being played"), "{refusal}");
        let said = serve(&mut room, perfect);
        assert_eq!(
            times(&said, 0, "GAME_OVER")[0] - times(&said, 0, "GAME_INVITATION")[0],
            MATCH,
            "else as to be watched"
        );
    }
    assert_eq!(room.venue.stage(), Stage::Completed);
    assert!(room.venue.command(room.now, Command::Next).is_err());
    assert_eq!(technical_losses(&mut room), 0);
}

#[test]
fn the_owner_can_cut_a_break_short_and_a_pause_outlasts_it() {
    let mut room = room(GameKind::EvenOdd, Pace::Watch, 2);
    room.venue.command(room.now, Command::Start).unwrap();
    room.venue.command(room.now, Command::Next).unwrap();
    assert_eq!(room.venue.stage(), Stage::Running(1));
    let mut room = self::room(GameKind::EvenOdd, Pace::Watch, 2);
    room.venue.command(room.now, Command::Start).unwrap();
    room.venue.command(room.now, Command::Pause).unwrap();
    assert_eq!(room.venue.next_round_in(0), None);
    assert!(room.venue.command(room.now, Command::Next).is_err());
    assert_eq!(room.venue.next_deadline(), None, "a pause has no end of its own");
    room.now.ms += 10 * BREAK;
    room.venue.command(room.now, Command::Resume).unwrap();
    serve(&mut room, perfect);
    assert!(room.venue.is_over());
}

#[test]
fn the_pace_changes_while_a_league_runs_and_at_once() {
    let mut room = room(GameKind::EvenOdd, Pace::Watch, 4);
    room.venue.command(room.now, Command::Start).unwrap();
    let pace = |pace| Change { pace: Some(pace), ..Change::default() };
    room.venue.configure(room.now, pace(Pace::Step)).unwrap();
    assert!(room.venue.waits_for_owner());
    room.venue.configure(room.now, pace(Pace::Watch)).unwrap();
    assert_eq!(room.venue.next_round_in(room.now.ms), Some(BREAK));
    // Into the first match, whose question is held back.
    room.now.ms += BREAK;
    room.venue.handle(room.now, Event::Tick);
    let held = loop {
        while room.venue.poll_output().is_some() {}
        match (0..4).find_map(|player| Some((player, room.call(player)?))) {
            Some((player, call)) => room.answer(player, perfect(player, &call).unwrap()),
            None => break room.now.ms,
        }
    };
    assert_eq!((room.venue.next_deadline(), held), (Some(BREAK + MATCH - TURN), BREAK));
    let refused = Change { move_ms: Some(1), ..pace(Pace::Fast) };
    assert!(room.venue.configure(room.now, refused).is_err(), "what players came for stays");
    room.venue.configure(room.now, pace(Pace::Fast)).unwrap();
    let said = serve(&mut room, perfect);
    assert!(said.iter().all(|said| said.at == BREAK), "nothing is held back any more");
    assert!(room.venue.is_over());
}

#[test]
fn what_is_ruled_or_given_up_while_a_result_is_held_back_changes_it_as_one_that_is_told() {
    let mut room = room(GameKind::EvenOdd, Pace::Watch, 2);
    room.venue.command(room.now, Command::Start).unwrap();
    let id = MatchId { round: 1, table: 1 };
    let until_finished = |room: &mut Room| loop {
        while room.venue.poll_output().is_some() {}
        if room.venue.table(id).is_some_and(|table| table.play.phase() == crate::referee::Phase::Finished) {
            return;
        }
        match (0..2).find_map(|player| Some((player, room.call(player)?))) {
            Some((player, call)) => room.answer(player, perfect(player, &call).unwrap()),
            None => {
                room.now.ms = room.venue.next_deadline().unwrap();
                room.venue.handle(room.now, Event::Tick);
            }
        }
    };
    until_finished(&mut room);
    assert!(room.venue.record(id).is_none(), "its result is held back");
    room.venue.remove(room.now, 1).unwrap();
    serve(&mut room, perfect);
    let record = room.venue.record(id).unwrap();
    assert_eq!(record.end_reason().name(), "draw", "who leaves then has played");

    let mut room = self::room(GameKind::EvenOdd, Pace::Watch, 2);
    room.venue.command(room.now, Command::Start).unwrap();
    until_finished(&mut room);
    room.venue.rule(room.now, id, Some(2)).unwrap();
    serve(&mut room, perfect);
    room.venue.refresh_standings();
    assert_eq!(room.venue.standings().next().unwrap().player_id.0, AgentId::Player(2));
}

#[test]
fn a_league_cut_off_in_a_break_counts_down_anew_and_one_in_steps_waits_again() {
    for pace in [Pace::Watch, Pace::Step] {
        for rounds in 0..2 {
            let mut room = Room::new(Config { pacing: pacing(pace), ..config() });
            let mut journal = Pieces::default();
            room.venue.keep_facts();
            (0..4).for_each(|i| _ = room.register(&std::format!("Agent {i}"), 8101 + i));
            room.venue.command(room.now, Command::Start).unwrap();
            let mut results = 0;
            while results < 2 * rounds {
                while room.venue.poll_output().is_some() {}
                journal.keep(&mut room.venue);
                if room.venue.waits_for_owner() {
                    room.venue.command(room.now, Command::Next).unwrap();
                }
                match (0..4).find_map(|player| Some((player, room.call(player)?))) {
                    Some((player, call)) => room.answer(player, perfect(player, &call).unwrap()),
                    None => {
                        room.now.ms = room.venue.next_deadline().unwrap();
                        room.venue.handle(room.now, Event::Tick);
                    }
                }
                results = room.venue.status().matches_completed;
            }
            journal.keep(&mut room.venue);
            room.now.ms += 700;
            room.venue = journal.restore();
            room.venue.resume(room.now);
            assert_eq!(room.venue.config().pacing, pacing(pace));
            assert_eq!(room.venue.stage(), Stage::Running(rounds as u16), "{pace:?}");
            match pace {
                Pace::Watch => assert_eq!(room.venue.next_round_in(room.now.ms), Some(BREAK)),
                _ => assert!(room.venue.waits_for_owner()),
            }
            room.venue.configure(room.now, Change { pace: Some(Pace::Watch), ..Change::default() }).unwrap();
            serve(&mut room, perfect);
            assert!(room.venue.is_over());
            assert_eq!(room.venue.status().matches_completed, 6);
            assert_eq!(technical_losses(&mut room), 0);
        }
    }
}
