//! News, and who does not listen to it; answers that come late, and who is given up.

extern crate std;

use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::tests::{Room, config, perfect};
use super::*;
use crate::season::Rule;

const QUESTIONS: [&str; 3] = ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "MOVE_REQUEST"];

fn kind(call: &Value) -> &str {
    call["params"]["message_type"].as_str().unwrap_or_default()
}

fn is_question(call: &Value) -> bool {
    QUESTIONS.contains(&kind(call))
}

/// Plays until nothing is left to happen. `respond` says after how many milliseconds a call is answered, and how. Answers
/// come in by the id of their call, though nobody may wait for them any more.
fn play(room: &mut Room, mut respond: impl FnMut(u16, &Value) -> Option<(u64, Value)>) {
    let mut answers: BTreeMap<(u64, u32), (u16, Value)> = BTreeMap::new();
    let mut heard = room.said.len();
    loop {
        while room.venue.poll_output().is_some() {}
        while (0..room.venue.players().len() as u16).any(|player| {
            let call = room.venue.call(player).map(|call| call.id);
            let is_new = room.carry_out(player);
            if let (Some(call), Some((_, player, text))) = (call, room.said.get(heard))
                && is_new
            {
                heard += 1;
                if let Some((after, answer)) = respond(*player, text) {
                    answers.insert((room.now.ms + after, call), (*player, answer));
                }
            }
            is_new
        }) {}
        let at = match (answers.first_key_value(), room.venue.next_deadline()) {
            (None, None) => return,
            (Some(((at, _), _)), deadline) if deadline.is_none_or(|deadline| *at <= deadline) => *at,
            (_, deadline) => deadline.unwrap(),
        };
        room.now = Now { ms: at, utc: room.now.utc_at(at) };
        match answers.first_entry() {
            Some(entry) if entry.key().0 == at => {
                let ((_, call), (player, body)) = entry.remove_entry();
                let body = body.to_string();
                room.venue.handle(room.now, Event::Reply { player, call, status: 200, body: body.as_bytes() });
            }
            _ => room.venue.handle(room.now, Event::Tick),
        }
    }
}

/// A league of so many players, started.
fn started(players: u16) -> Room {
    let mut room = Room::with_players(players);
    room.venue.command(room.now, Command::Start).unwrap();
    room
}

fn technical_losses(room: &mut Room) -> u16 {
    room.venue.refresh_standings();
    room.venue.standings().map(|row| row.technical_losses).sum()
}

/// When the last question of the league was put.
fn last_question(room: &Room) -> u64 {
    room.said.iter().filter(|(_, _, call)| is_question(call)).map(|(at, ..)| *at).max().unwrap()
}

/// What a player was told, in order.
fn told(room: &Room, player: u16) -> Vec<String> {
    room.said.iter().filter(|(_, to, _)| *to == player).map(|(_, _, call)| kind(call).to_string()).collect()
}

fn broken(room: &Room, player: usize, rule: Rule) -> Option<(u16, String)> {
    let report = &room.venue.players()[player].compliance;
    report.broken().find(|(found, ..)| *found == rule).map(|(_, count, example)| (count, example.to_string()))
}

/// All that a player of a league of four hears, in order.
fn whole_league() -> Vec<&'static str> {
    let round = [
        "ROUND_ANNOUNCEMENT",
        "GAME_INVITATION",
        "CHOOSE_PARITY_CALL",
        "GAME_OVER",
        "LEAGUE_STANDINGS_UPDATE",
        "ROUND_COMPLETED",
    ];
    let mut whole = round.repeat(3);
    whole.push("LEAGUE_COMPLETED");
    whole
}

#[test]
fn who_never_answers_news_slows_nobody_and_still_hears_everything_in_order() {
    let mut room = started(4);
    play(&mut room, |player, call| (player != 1 || is_question(call)).then(|| (1, perfect(player, call).unwrap())));
    assert_eq!(technical_losses(&mut room), 0);
    // It was waited for a few times, half as long each time; every answer takes a millisecond.
    assert!(last_question(&room) <= 500 + 3 * 8, "{} ms", last_question(&room));
    for player in 0..4 {
        assert_eq!(told(&room, player), whole_league(), "player {player}");
    }
    assert!(room.venue.is_over() && room.now.ms <= 10_300, "{} ms", room.now.ms);
    assert!(broken(&room, 1, Rule::NewsUnanswered).is_some(), "it is told");
    assert_eq!(broken(&room, 0, Rule::NewsUnanswered), None);
    assert_eq!(room.venue.players()[1].breaker, crate::referee::Breaker::new(), "and it is no failure");
}

#[test]
fn who_answers_news_after_nine_seconds_slows_nobody_and_its_late_answers_are_nothing() {
    let mut room = started(4);
    play(&mut room, |player, call| {
        let after = if player == 1 && !is_question(call) { 9_500 } else { 1 };
        Some((after, perfect(player, call)?))
    });
    assert_eq!(technical_losses(&mut room), 0);
    assert!(last_question(&room) <= 500 + 3 * 8, "{} ms", last_question(&room));
    assert_eq!(told(&room, 1), whole_league());
    assert!(broken(&room, 1, Rule::NewsUnanswered).is_some());
    assert_eq!(broken(&room, 1, Rule::Duplicate), None);
}

#[test]
fn who_takes_its_time_for_news_is_asked_when_it_has_answered() {
    let mut room = started(4);
    play(&mut room, |player, call| Some((50, perfect(player, call)?)));
    for player in 0..4 {
        assert_eq!(told(&room, player), whole_league());
        let calls: Vec<u64> = room.said.iter().filter(|(_, to, _)| *to == player).map(|(at, ..)| *at).collect();
        assert!(calls.windows(2).all(|two| two[1] - two[0] >= 50), "one at a time: {calls:?}");
        assert_eq!(broken(&room, player.into(), Rule::NewsUnanswered), None);
    }
}

#[test]
fn who_is_slow_once_is_waited_for_again_when_it_answers_news_in_time() {
    let mut room = started(4);
    let mut calls = 0;
    play(&mut room, |player, call| {
        calls += u32::from(player == 1);
        let after = if player == 1 && calls == 1 { 1_000 } else { 10 };
        Some((after, perfect(player, call)?))
    });
    let times: Vec<u64> = room.said.iter().filter(|(_, to, _)| *to == 1).map(|(at, ..)| *at).collect();
    assert_eq!(times[1] - times[0], 250, "the invitation did not wait for the second");
    let later: Vec<u64> = times.windows(2).skip(1).map(|two| two[1] - two[0]).collect();
    assert!(later.iter().all(|&wait| wait >= 10), "{later:?}");
}

#[test]
fn news_that_is_not_on_its_way_when_a_question_is_due_comes_after_it() {
    let mut room = started(2);
    while room.venue.poll_output().is_some() {}
    assert_eq!(kind(&room.call(0).unwrap()), "ROUND_ANNOUNCEMENT");
    let stuck = room.venue.call(0).unwrap().id;
    room.now.ms = 250;
    room.venue.handle(room.now, Event::Tick);
    assert_eq!(kind(&room.call(0).unwrap()), "GAME_INVITATION");
    let question = room.venue.call(0).unwrap().id;
    room.venue.handle(room.now, Event::Reply { player: 0, call: stuck, status: 200, body: b"{}" });
    room.venue.handle(room.now, Event::Sent { player: 0, call: stuck });
    assert_eq!(room.venue.call(0).unwrap().id, question, "what is not awaited changes nothing");
    let answer = perfect(0, &room.call(0).unwrap()).unwrap();
    room.answer(0, answer);
    assert_eq!(kind(&room.call(0).unwrap()), "ROUND_ANNOUNCEMENT");
}

#[test]
fn news_that_is_being_said_is_said_to_its_end_before_a_question() {
    let mut room = started(2);
    while room.venue.poll_output().is_some() {}
    let news = room.venue.call(0).unwrap().id;
    room.now.ms = 200;
    room.venue.handle(room.now, Event::Begun { player: 0, call: news });
    // A link that is slow, but not stuck.
    for ms in [250, 2_000, 5_199] {
        room.now.ms = ms;
        room.venue.handle(room.now, Event::Tick);
        assert_eq!(kind(&room.call(0).unwrap()), "ROUND_ANNOUNCEMENT", "{ms}");
    }
    room.venue.handle(room.now, Event::Sent { player: 0, call: news });
    assert_eq!(room.venue.call(0).unwrap().id, news, "the player has its time to answer");
    room.now.ms += 250;
    room.venue.handle(room.now, Event::Tick);
    assert_eq!(kind(&room.call(0).unwrap()), "GAME_INVITATION");
}

#[test]
fn news_that_takes_for_ever_to_be_said_is_given_up() {
    let mut room = started(2);
    while room.venue.poll_output().is_some() {}
    let news = room.venue.call(0).unwrap().id;
    room.venue.handle(room.now, Event::Begun { player: 0, call: news });
    room.now.ms += 5_000;
    room.venue.handle(room.now, Event::Tick);
    assert_eq!(kind(&room.call(0).unwrap()), "GAME_INVITATION");
}

#[test]
fn who_never_takes_what_is_said_has_half_the_time_for_the_next() {
    assert_eq!(waits_for_who_never_takes_what_is_said(started(2)), [5_000, 2_500, 1_250, 1_000]);
}

#[test]
fn who_dials_in_has_all_the_time_for_what_is_said_because_half_of_it_costs_the_link() {
    let mut room = super::held_tests::two();
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(waits_for_who_never_takes_what_is_said(room), [5_000; 4]);
}

/// How long the box waits for the first of two players, piece of news by piece of news.
fn waits_for_who_never_takes_what_is_said(mut room: Room) -> Vec<u64> {
    let mut news: Vec<(u32, u64)> = Vec::new();
    let mut waited = Vec::new();
    while waited.len() < 4 {
        while room.venue.poll_output().is_some() {}
        let answers: Vec<u16> = (0..2)
            .filter(|&player| room.venue.call(player).is_some())
            .filter(|&player| player == 1 || is_question(&room.call(player).unwrap()))
            .collect();
        for &player in &answers {
            let answer = perfect(player, &room.call(player).unwrap()).unwrap();
            room.answer(player, answer);
        }
        if let Some(call) = room.venue.call(0).map(|call| call.id).filter(|_| answers.is_empty()) {
            if news.last().is_none_or(|(last, _)| *last != call) {
                waited.extend(news.last().map(|(_, since)| room.now.ms - since));
                news.push((call, room.now.ms));
            }
            // To begin anew gives no more time.
            room.venue.handle(room.now, Event::Begun { player: 0, call });
            let at = room.venue.next_deadline().unwrap();
            room.now = Now { ms: at, utc: room.now.utc_at(at) };
            room.venue.handle(room.now, Event::Tick);
        }
    }
    waited
}

#[test]
fn who_answers_by_messages_of_its_own_and_never_replies_is_not_waited_for_either() {
    let mut room = started(2);
    let token = room.register("Agent 0", 8101)["auth_token"].as_str().unwrap().to_string();
    play(&mut room, |player, call| (player != 0 || !is_question(call)).then(|| (0, perfect(player, call).unwrap())));
    // It lost, so it is played again by hand: the invitation is answered by a message, the call stays unanswered.
    room.venue.command(room.now, Command::Rematch).unwrap();
    let mut asked = Vec::new();
    for _ in 0..40 {
        while room.venue.poll_output().is_some() {}
        let said = (room.said.len(), asked.len());
        for player in 0..2 {
            room.carry_out(player);
            // What is settled has no words.
            let mut buf = [0; 8192];
            let mut sink = crate::json::Slice::new(&mut buf);
            if room.venue.call(player).is_none() || room.venue.write_call(player, &mut sink).is_err() {
                continue;
            }
            let call: Value = serde_json::from_slice(sink.written()).unwrap();
            if player == 1 || !is_question(&call) {
                room.answer(player, perfect(player, &call).unwrap());
                continue;
            }
            asked.push(room.now.ms);
            let mut own = perfect(player, &call).unwrap()["result"].take();
            let (name, method) = match kind(&call) {
                "GAME_INVITATION" => ("GAME_JOIN_ACK", "game_join_ack"),
                _ => ("CHOOSE_PARITY_RESPONSE", "choose_parity_response"),
            };
            own["message_type"] = name.into();
            own["auth_token"] = token.clone().into();
            own["match_id"] = call["params"]["match_id"].clone();
            room.send(&json!({"jsonrpc":"2.0","method":method,"id":1,"params":own}).to_string());
        }
        if let Some(at) = room.venue.next_deadline().filter(|_| (room.said.len(), asked.len()) == said) {
            room.now = Now { ms: at, utc: room.now.utc_at(at) };
            room.venue.handle(room.now, Event::Tick);
        }
    }
    assert_eq!(asked.len(), 2);
    assert!(asked[1] - asked[0] <= 250, "{asked:?}");
}

#[test]
fn an_answer_one_second_late_counts_though_the_player_was_asked_again() {
    for late_to in ["GAME_INVITATION", "CHOOSE_PARITY_CALL"] {
        let mut room = started(2);
        let timing = room.venue.config().timing;
        let limit = if late_to == "GAME_INVITATION" { timing.join_ms } else { timing.move_ms };
        let mut is_first = true;
        play(&mut room, |player, call| {
            let answer = perfect(player, call)?;
            match (player, kind(call)) {
                (1, question) if question == late_to => {
                    // It thinks about the first call; those that follow pile up before its server.
                    core::mem::take(&mut is_first).then(|| (limit + 1_000, answer))
                }
                (1, "GAME_ERROR") => None,
                _ => Some((0, answer)),
            }
        });
        assert_eq!(technical_losses(&mut room), 0, "{late_to}");
        let errors = told(&room, 1).iter().filter(|told| *told == "GAME_ERROR").count();
        assert_eq!(errors, 1, "it was asked again meanwhile");
        assert!(
            last_question(&room) <= limit + 1_300,
            "and nothing waits for the second call: {}",
            last_question(&room)
        );
    }
}

#[test]
fn a_late_answer_to_an_earlier_question_is_not_one_to_the_next() {
    let mut room = started(2);
    play(&mut room, |player, call| {
        let answer = perfect(player, call)?;
        match (player, kind(call)) {
            // Every call is answered, each late by itself: the second answer comes when a choice is asked for.
            (1, "GAME_INVITATION") => Some((5_900, answer)),
            (1, "CHOOSE_PARITY_CALL") => Some((10_000, answer)),
            _ => Some((0, answer)),
        }
    });
    assert_eq!(technical_losses(&mut room), 0);
}

#[test]
fn five_matches_lost_by_silence_open_the_breaker_and_four_tries_of_one_do_not() {
    let mut room = started(8);
    play(&mut room, |player, call| (player != 1).then(|| (0, perfect(player, call).unwrap())));
    let asked = told(&room, 1).iter().filter(|told| *told == "GAME_INVITATION").count();
    assert_eq!(asked, 5 * 4, "five invitations, with three more tries each");
    let (count, example) = broken(&room, 1, Rule::CircuitBreaker).unwrap();
    assert!(count == 2 && example.starts_with("R6"), "the other two ended at once: {count}, {example}");
    assert_eq!(technical_losses(&mut room), 7);
}

#[test]
fn news_that_a_player_refuses_by_every_name_is_not_sent_again() {
    let mut room = started(4);
    play(&mut room, |player, call| {
        let known = ["handle_game_invitation", "choose_parity", "notify_game_over", "notify_league_completed"];
        let refusal = json!({"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":call["id"]});
        let is_known = player != 1 || known.contains(&call["method"].as_str()?);
        Some((0, if is_known { perfect(player, call)? } else { refusal }))
    });
    assert_eq!(technical_losses(&mut room), 0);
    let methods = room.said.iter().filter(|(_, to, _)| *to == 1).map(|(_, _, call)| call["method"].as_str().unwrap());
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    methods.for_each(|method| *counts.entry(method).or_default() += 1);
    let round = ["notify_round", "round_announcement", "announce_round"];
    let standings = ["update_standings", "league_standings_update", "notify_standings"];
    for name in round.iter().chain(&standings).chain(&["notify_round_completed", "round_completed"]) {
        assert_eq!(counts[name], 1, "{name} was refused once");
    }
    assert_eq!((counts["notify_match_result"], counts["notify_game_over"]), (1, 3), "the name it knows is found once");
    assert_eq!(counts["notify_league_completed"], 1);
}

#[test]
fn who_registers_again_is_told_again_what_it_refused() {
    let mut room = started(2);
    let refuse = |player: u16, call: &Value| {
        let refusal = json!({"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":call["id"]});
        Some((0, if is_question(call) || player == 0 { perfect(player, call)? } else { refusal }))
    };
    play(&mut room, refuse);
    let before = told(&room, 1).len();
    room.venue.command(room.now, Command::Rematch).unwrap();
    play(&mut room, refuse);
    assert_eq!(told(&room, 1).len() - before, 2, "only the questions");
    room.register("Agent 1", 8102);
    room.venue.command(room.now, Command::Rematch).unwrap();
    play(&mut room, refuse);
    assert!(told(&room, 1).len() - before > 2 + 2, "it may have been restarted as something else");
}

#[test]
fn the_refusal_in_the_players_own_dialect_is_the_one_that_is_reported() {
    let mut room = started(2);
    play(&mut room, |player, call| {
        let error = |code: i32, message: &str| json!({"jsonrpc":"2.0","error":{"code":code,"message":message},"id":1});
        let answer = match call["method"].as_str() {
            _ if player == 0 => perfect(player, call)?,
            Some("handle_game_invitation") => error(-32603, "KeyError: 'game_id' in handle_game_invitation()"),
            _ => error(-32601, "Method not found"),
        };
        Some((0, answer))
    });
    let (count, example) = broken(&room, 1, Rule::RpcError).unwrap();
    assert_eq!((count, example.as_str()), (4, "-32603 KeyError: 'game_id' in handle_game_invitation()"));
}

#[test]
fn a_refusal_that_another_dialect_mends_is_no_violation() {
    let mut room = started(2);
    play(&mut room, |player, call| {
        let refusal = json!({"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":call["id"]});
        let is_known = player == 0 || call["method"] == kind(call);
        Some((0, if is_known { perfect(player, call)? } else { refusal }))
    });
    assert_eq!(technical_losses(&mut room), 0);
    assert_eq!(broken(&room, 1, Rule::RpcError), None);
}

#[test]
fn what_is_missing_takes_no_room_and_an_example_is_the_value_that_is_wrong() {
    let mut room = Room::new(config());
    ["Ada", "Bob"].iter().zip(8101..).for_each(|(name, port)| drop(room.register(name, port)));
    room.venue.command(room.now, Command::Start).unwrap();
    let sender = format!("agent://{}/player", "x".repeat(40));
    play(&mut room, |player, call| {
        let mut answer = perfect(player, call)?;
        answer["result"]["sender"] = sender.clone().into();
        Some((0, answer))
    });
    assert_eq!(broken(&room, 0, Rule::Protocol).unwrap().1, "missing");
    assert_eq!(broken(&room, 0, Rule::AuthToken).unwrap().1, "missing");
    assert_eq!(broken(&room, 0, Rule::Sender).unwrap().1, format!("\"{sender}\""));
}
