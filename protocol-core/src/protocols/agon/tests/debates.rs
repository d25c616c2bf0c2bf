use super::*;

/// Lets time pass with everybody's heart beating.
fn pass(room: &mut Club, ms: u64, agents: &mut [&mut Agent]) {
    for _ in 0..ms / 10_000 {
        room.wait(10_000, agents);
        agents.iter_mut().for_each(|agent| room.says(agent, json!({"action": "heartbeat"})));
    }
    room.wait(ms % 10_000, agents);
}

fn vote(id: &Value, who: &Agent) -> Value {
    json!({"action": "vote", "match_id": id, "participant_id": who.id})
}

/// Both say all they may.
fn say_all(room: &mut Club, first: &mut Agent, second: &mut Agent, id: &Value) {
    for turn in 1..=10 {
        room.plays(first, id, &format!("For, {turn}"));
        room.tell(second);
        room.plays(second, id, &format!("Against, {turn}"));
        room.tell(first);
    }
}

#[test]
fn a_debate_is_told_with_its_topic_and_each_hears_what_the_other_says() {
    let mut room = box_of("regular_debate");
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    for agent in [&mut ada, &mut bob] {
        room.says(agent, json!({"action": "sit_table", "room": "spicy_debate", "table_id": "open"}));
    }
    room.wait(3_000, &mut [&mut ada, &mut bob]);
    let starts = [&mut ada, &mut bob].map(|agent| (said(&agent.heard, "match_start"), agent.news()));
    let [(one, told), (two, _)] = &starts;
    assert_eq!(
        one["config"],
        json!({"turn_time_limit_seconds": 90, "max_message_chars": 2000, "consecutive_timeouts_forfeit": 3})
    );
    assert!(one["prompt_title"].as_str().unwrap().ends_with('.') && one["prompt_title"] == two["prompt_title"]);
    assert_ne!(one["prompt_body"], two["prompt_body"]);
    let goes_first = one["you_go_first"] == true;
    assert_eq!(one["prompt_body"].as_str().unwrap().contains("for the motion"), goes_first);
    assert_eq!(told.iter().any(|event| event["event"] == "turn_timer"), goes_first);
    let (mut first, mut second) = if goes_first { (ada, bob) } else { (bob, ada) };
    let id = &one["match_id"];
    room.plays(&mut first, id, "שלום 🙂\n\"so\" it is");
    room.tell(&mut second);
    let heard = second.news();
    let message = said(&heard, "opponent_message");
    assert_eq!(message["content"], "שלום 🙂\n\"so\" it is");
    assert_eq!((&message["message_number"], &message["truncated"]), (&json!(1), &json!(false)));
    assert_eq!(said(&heard, "turn_timer")["seconds_remaining"], 120, "it is its first turn");
    assert_eq!(
        room.agon_refused(&mut first, json!({"action":"send_message","match_id":id,"content":"x"})).0,
        "NOT_YOUR_TURN"
    );
    room.plays(&mut second, id, "No.");
    room.tell(&mut first);
    let heard = first.news();
    assert_eq!(said(&heard, "opponent_message")["message_number"], 2);
    assert_eq!(said(&heard, "turn_timer")["seconds_remaining"], 90);
}

#[test]
fn a_speech_is_cut_after_two_thousand_characters_and_one_of_more_than_8000_bytes_is_refused() {
    let mut room = box_of("regular_debate");
    let (mut first, mut second, id) = room.playing("regular_debate");
    let say = |text: String| json!({"action": "send_message", "match_id": id, "content": text});
    let (code, _) = room.agon_refused(&mut first, say("🎲".repeat(2_001)));
    assert_eq!(code, "MESSAGE_TOO_LONG", "8,004 bytes");
    room.says(&mut first, say("א".repeat(2_001)));
    room.tell(&mut second);
    let message = said(&second.news(), "opponent_message");
    assert_eq!((message["content"].as_str().unwrap(), &message["truncated"]), (&*"א".repeat(2_000), &json!(true)));
    room.says(&mut second, say("🎲".repeat(2_000)));
    room.tell(&mut first);
    let message = said(&first.news(), "opponent_message");
    assert_eq!((message["content"].as_str().unwrap(), &message["truncated"]), (&*"🎲".repeat(2_000), &json!(false)));
    // What it is as bytes counts, and not how it was escaped.
    let escaped = format!(r#"{{"action":"send_message","match_id":{id},"content":"{}"}}"#, "\\u05d0".repeat(2_000));
    assert_eq!(room.0.venue.hear_agon(room.0.now, first.issue, escaped.as_bytes()), Reply::Nothing);
    room.tell(&mut second);
    assert_eq!(said(&second.news(), "opponent_message")["content"], "א".repeat(2_000));
}

#[test]
fn after_ten_turns_a_side_the_audience_votes_and_its_votes_are_the_scores() {
    let mut room = box_of("regular_debate");
    let (mut first, mut second, id) = room.playing("regular_debate");
    let (mut carol, mut dora, mut eve) = (room.agent("Carol"), room.agent("Dora"), room.agent("Eve"));
    [&mut carol, &mut dora, &mut eve].into_iter().for_each(|agent| drop(agent.news()));
    assert_eq!(
        room.agon_refused(&mut carol, vote(&id, &first)),
        ("VALIDATION_FAILED".into(), "The vote is not open yet".into())
    );
    say_all(&mut room, &mut first, &mut second, &id);
    let open = said(&first.news(), "voting_open");
    assert_eq!(open, json!({"event": "voting_open", "match_id": id, "duration_seconds": 60}));
    assert_eq!(said(&second.news(), "voting_open"), open);
    room.wait(20_000, &mut []);
    for agent in [&mut carol, &mut dora, &mut eve] {
        room.tell(agent);
        let open = said(&agent.news(), "voting_open");
        assert_eq!((&open["match_id"], &open["duration_seconds"]), (&id, &json!(40)), "it has been open for a while");
        let who = json!([{"id": first.id, "name": who(&room, &first)}, {"id": second.id, "name": who(&room, &second)}]);
        assert_eq!(open["participants"], who);
        room.tell(agent);
        assert_eq!(agent.events(), [""; 0], "it is told once");
    }
    for (message, words) in [
        (vote(&id, &carol), "participant_id must be the id of one who plays this match"),
        (
            json!({"action":"vote","match_id":first.id,"participant_id":first.id}),
            "no such match has an audience that votes",
        ),
        (
            json!({"action":"vote","match_id":id,"participant_id":7}),
            "participant_id must be the id of one who plays this match",
        ),
    ] {
        assert_eq!(room.agon_refused(&mut carol, message), ("VALIDATION_FAILED".into(), words.into()));
    }
    assert_eq!(room.agon_refused(&mut carol, json!({"action":"vote","match_id":id})).0, "MISSING_FIELD");
    assert_eq!(
        room.agon_refused(&mut first, vote(&id, &second)),
        ("VALIDATION_FAILED".into(), "who plays a match has no vote in it".into())
    );
    assert_eq!(
        room.agon_refused(&mut first, json!({"action":"send_message","match_id":id,"content":"x"})).0,
        "NOT_YOUR_TURN"
    );
    assert_eq!(room.agon_refused(&mut first, json!({"action":"leave_match","match_id":id})).0, "VALIDATION_FAILED");
    room.says(&mut carol, vote(&id, &first));
    room.says(&mut dora, vote(&id, &first));
    room.says(&mut dora, vote(&id, &second));
    room.says(&mut eve, vote(&id, &second));
    room.wait(39_999, &mut [&mut first, &mut second]);
    assert_eq!(second.events(), [""; 0]);
    room.wait(1, &mut [&mut first, &mut second]);
    assert_eq!(
        room.agon_refused(&mut carol, vote(&id, &first)),
        ("VALIDATION_FAILED".into(), "The vote is closed".into())
    );
    let told = second.news();
    let names: Vec<_> = told.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["match_end", "elo_update", "points_update"]);
    let end = &told[0];
    assert_eq!(
        (&end["your_role"], &end["your_score"], &end["opponent_score"]),
        (&json!("participant_2"), &json!(2), &json!(1))
    );
    let result = &end["result"];
    assert_eq!((&result["end_reason"], &result["winner_id"]), (&json!("cap"), &json!(second.id)));
    assert_eq!((&result["participant_1_score"], &result["participant_2_score"]), (&json!(1), &json!(2)));
    assert_eq!((&result["total_votes"], &result["total_messages"]), (&json!(3), &json!(20)));
    assert_eq!(result["vote_count"], json!({first.id.as_str(): 1, second.id.as_str(): 2}));
    assert_eq!((&told[1]["room"], &told[1]["change"]), (&json!("regular_debate"), &json!(16)));
    assert_eq!(told[2]["points_earned"], 75, "50, and 5 for each of ten messages, halved");
    // Who asks later is told the same.
    let token = room.agon_token(&first.key);
    let (_, told) = room.agon(Some(&token), Ask::Result(id.as_str().unwrap()), "");
    assert_eq!(told["result"]["vote_count"], result["vote_count"]);
    assert_eq!(told["result"]["end_reason"], "cap");
}

/// What an agent is called.
fn who(room: &Club, agent: &Agent) -> String {
    let line = room.0.venue.line_of(agent.issue).unwrap();
    room.0.venue.players()[usize::from(line)].name.as_str().into()
}

#[test]
fn without_a_vote_a_debate_is_a_draw() {
    let mut room = box_of("regular_debate");
    let (mut first, mut second, id) = room.playing("regular_debate");
    say_all(&mut room, &mut first, &mut second, &id);
    room.wait(60_000, &mut [&mut first, &mut second]);
    let end = said(&first.news(), "match_end");
    assert_eq!((&end["result"]["winner_id"], &end["result"]["total_votes"]), (&Value::Null, &json!(0)));
    assert_eq!(said(&second.news(), "points_update")["reason"], "draw");
}

#[test]
fn whoever_leaves_a_debate_opens_the_vote_and_its_last_words_are_heard() {
    let mut room = box_of("regular_debate");
    let (mut first, mut second, id) = room.playing("regular_debate");
    let mut carol = room.agent("Carol");
    room.plays(&mut first, &id, "Well.");
    room.tell(&mut second);
    second.news();
    room.says(&mut first, json!({"action":"leave_match","match_id":id,"parting_shot":"שלום 🎲"}));
    room.tell(&mut second);
    let told = second.news();
    let leaving = json!({"event":"opponent_leaving","match_id":id,"parting_shot":"שלום 🎲","voting_in_seconds":0});
    assert_eq!((&told[0], &told[1]["event"]), (&leaving, &json!("voting_open")));
    assert_eq!(first.events(), ["voting_open"]);
    room.tell(&mut carol);
    carol.news();
    room.says(&mut carol, vote(&id, &first));
    room.wait(60_000, &mut [&mut first, &mut second]);
    let end = said(&first.news(), "match_end");
    assert_eq!(
        (&end["result"]["end_reason"], &end["result"]["winner_id"]),
        (&json!("leave"), &json!(first.id)),
        "it may win"
    );
    let token = room.agon_token(&second.key);
    let (_, told) = room.agon(Some(&token), Ask::Result(id.as_str().unwrap()), "");
    assert_eq!(told["result"]["end_reason"], "leave", "and later it is known why it ended");
}

#[test]
fn a_turn_that_runs_out_is_the_others_and_three_in_a_row_forfeit() {
    let mut room = box_of("regular_debate");
    let (mut first, mut second, id) = room.playing("regular_debate");
    pass(&mut room, 120_000, &mut [&mut first, &mut second]);
    let told = second.events();
    assert_eq!(told, ["turn_timer"], "nothing was said, and it is its turn");
    for missed in 2..=3 {
        room.plays(&mut second, &id, "Well.");
        room.tell(&mut first);
        let told = first.news();
        assert_eq!(said(&told, "opponent_message")["message_number"], 2 * missed - 2);
        pass(&mut room, 90_000, &mut [&mut first, &mut second]);
    }
    let end = said(&second.news(), "match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("forfeit"), &json!(second.id)));
    assert_eq!(end["result"]["total_messages"], 2, "what was not said is no message");
}

#[test]
fn a_debate_of_two_hours_has_its_vote() {
    let mut room = box_of("regular_debate");
    let (mut first, mut second, _) = room.playing("regular_debate");
    // The clocks stand still while somebody is gone.
    for _ in 0..7_200 / 25 {
        room.go(&first);
        room.wait(25_000, &mut [&mut second]);
        room.come(&mut first);
        room.says(&mut second, json!({"action": "heartbeat"}));
    }
    let told = second.events();
    assert_eq!(told.last().map(String::as_str), Some("voting_open"), "{told:?}");
    room.wait(60_000, &mut [&mut first, &mut second]);
    assert_eq!(said(&second.news(), "match_end")["result"]["end_reason"], "cap");
}

#[test]
fn who_is_gone_for_thirty_seconds_has_lost_a_debate_without_a_vote() {
    let mut room = box_of("regular_debate");
    let (mut first, second, id) = room.playing("regular_debate");
    room.plays(&mut first, &id, "Well.");
    room.go(&second);
    room.wait(30_000, &mut [&mut first]);
    let told = first.news();
    assert!(told.iter().all(|event| event["event"] != "voting_open"));
    let end = said(&told, "match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("disconnect"), &json!(first.id)));
}

#[test]
fn who_comes_back_while_the_audience_votes_is_told_so() {
    let mut room = box_of("regular_debate");
    let (mut first, mut second, id) = room.playing("regular_debate");
    say_all(&mut room, &mut first, &mut second, &id);
    first.news();
    room.go(&first);
    room.wait(40_000, &mut [&mut second]);
    assert_eq!(second.events().last().unwrap(), "voting_open", "nobody waits for who has said it all");
    room.come(&mut first);
    let told = first.news();
    let state = said(&told, "reconnect_state");
    assert_eq!((&state["your_turn"], &state["total_messages"]), (&json!(false), &json!(20)));
    assert_eq!(said(&told, "voting_open")["duration_seconds"], 20);
    room.wait(20_000, &mut [&mut first]);
    assert_eq!(said(&first.news(), "match_end")["result"]["end_reason"], "cap");
}
