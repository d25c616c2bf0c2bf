use super::*;

fn trade(id: &Value, action: &str) -> Value {
    json!({"action": action, "match_id": id})
}

fn propose(id: &Value, offer: Value, request: Value) -> Value {
    json!({"action": "propose_trade", "match_id": id, "offer": offer, "request": request})
}

/// Two in the Bazaar, and what each was told of itself.
fn bazaar() -> (Club, [Agent; 2], [Value; 2], Value) {
    let mut room = box_of("trade_deal");
    let (mut ada, mut bob) = (room.agent("Ada"), room.agent("Bob"));
    for agent in [&mut ada, &mut bob] {
        room.says(agent, json!({"action": "sit_table", "room": "trade_deal", "table_id": "open"}));
    }
    room.wait(3_000, &mut [&mut ada, &mut bob]);
    let mut agents = [ada, bob];
    let goes_first = |agent: &Agent| said(&agent.heard, "match_start")["you_go_first"] == true;
    if !goes_first(&agents[0]) {
        agents.swap(0, 1);
    }
    let id = said(&agents[0].heard, "match_start")["match_id"].clone();
    let stocks = agents.each_ref().map(|agent| said(&agent.heard, "trade_state_update"));
    let events: Vec<_> = agents[0].heard.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(events[events.len() - 3..], ["match_start", "trade_state_update", "turn_timer"]);
    agents.iter_mut().for_each(|agent| drop(agent.news()));
    (room, agents, stocks, id)
}

fn missing(stock: &Value) -> (String, u64) {
    let resource = stock["your_goal"]["resource"].as_str().unwrap();
    let amount = stock["your_goal"]["amount"].as_u64().unwrap();
    (resource.into(), amount - stock["your_resources"][resource].as_u64().unwrap())
}

#[test]
fn the_worked_example_either_side_proposes_the_other_accepts_and_both_are_told_what_they_hold() {
    let (mut room, [mut ada, mut bob], [own, theirs], id) = bazaar();
    assert_eq!(own["match_id"], id);
    assert_eq!((&own["your_goal"]["points"], own["your_resources"].as_object().unwrap().len()), (&json!(100), 4));
    let ((mine, n), (other, m)) = (missing(&own), missing(&theirs));
    // It is Ada's turn to speak, and Bob trades.
    room.says(&mut bob, propose(&id, json!({&*mine: n}), json!({&*other: m})));
    room.tell(&mut ada);
    let told = json!({"event": "trade_proposed", "match_id": id, "proposer_name": "Bob",
        "offer": {&*mine: n}, "request": {&*other: m}});
    let name = said(&ada.heard, "trade_proposed")["proposer_name"].clone();
    let told = json!({"event": told["event"], "match_id": id, "proposer_name": name, "offer": told["offer"], "request": told["request"]});
    assert_eq!(ada.news(), std::slice::from_ref(&told));
    assert_eq!(bob.news(), [told]);
    room.says(&mut ada, trade(&id, "accept_trade"));
    room.tell(&mut bob);
    for (agent, stock, gets, gives) in
        [(&mut ada, &own, (&mine, n), (&other, m)), (&mut bob, &theirs, (&other, m), (&mine, n))]
    {
        let [executed] = &agent.news()[..] else { panic!("one event") };
        assert_eq!((&executed["event"], &executed["match_id"]), (&json!("trade_executed"), &id));
        let held = |told: &Value, name: &str| told["your_resources"][name].as_u64().unwrap();
        assert_eq!(held(executed, gets.0), held(stock, gets.0) + gets.1);
        assert_eq!(held(executed, gives.0), held(stock, gives.0) - gives.1);
    }
    // Words move no goods, and ten of them end it.
    for turn in 0..10 {
        let (speaker, other) = if turn % 2 == 0 { (&mut ada, &mut bob) } else { (&mut bob, &mut ada) };
        room.plays(speaker, &id, "I give you everything!");
        room.tell(other);
    }
    let heard = ada.news();
    assert!(heard.iter().all(|event| event["event"] != "trade_executed" && event["event"] != "error"), "{heard:?}");
    let end = said(&heard, "match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("trade_scored"), &Value::Null));
    assert_eq!((&end["your_score"], &end["opponent_score"]), (&json!(100), &json!(100)));
    assert_eq!(end["result"]["total_messages"], 10);
    said(&heard, "points_update");
}

#[test]
fn every_error_of_a_trade_has_its_code_and_its_words_as_printed() {
    let (mut room, [mut ada, mut bob], [own, _], id) = bazaar();
    let gold = own["your_resources"]["gold"].as_u64().unwrap();
    let wrong = |code: &str, words: &str| (String::from(code), String::from(words));
    for action in ["accept_trade", "reject_trade"] {
        let told = room.agon_refused(&mut ada, trade(&id, action));
        assert_eq!(told, wrong("VALIDATION_FAILED", "there is no pending trade to accept or reject"));
    }
    let told = room.agon_refused(&mut ada, propose(&id, json!({"gold": gold + 1}), json!({"food": 1})));
    assert_eq!(told, wrong("CONTENT_BLOCKED", &format!("Insufficient gold: have {gold}, need {}", gold + 1)));
    for (offer, request) in [(json!({}), json!({})), (json!({"gold": 0}), json!({"food": 0}))] {
        assert_eq!(room.agon_refused(&mut ada, propose(&id, offer, request)).0, "CONTENT_BLOCKED");
    }
    for offer in [json!({"silver": 1}), json!({"gold": -1}), json!({"gold": 1.5}), json!([1])] {
        assert_eq!(room.agon_refused(&mut ada, propose(&id, offer, json!({"food": 1}))).0, "VALIDATION_FAILED");
    }
    assert_eq!(room.agon_refused(&mut ada, json!({"action": "accept_trade"})).0, "MISSING_FIELD");
    assert_eq!(room.agon_refused(&mut ada, trade(&json!(bob.id), "accept_trade")).0, "NOT_IN_MATCH");
    room.says(&mut ada, propose(&id, json!({"gold": 1}), json!({"food": 99})));
    let pending = wrong("VALIDATION_FAILED", "A trade is already pending — accept, reject, or wait");
    for agent in [&mut ada, &mut bob] {
        assert_eq!(room.agon_refused(agent, propose(&id, json!({"gold": 1}), json!({}))), pending);
    }
    let told = room.agon_refused(&mut ada, trade(&id, "accept_trade"));
    assert_eq!(told, wrong("VALIDATION_FAILED", "Cannot accept your own trade proposal"));
    let (code, words) = room.agon_refused(&mut bob, trade(&id, "accept_trade"));
    assert!(
        code == "CONTENT_BLOCKED" && words.starts_with("Insufficient food: have ") && words.ends_with(", need 99"),
        "{words}"
    );
    let message = json!({"action": "send_message", "match_id": id, "content": "Well?"});
    assert_eq!(room.agon_refused(&mut bob, message).0, "NOT_YOUR_TURN");
}

#[test]
fn either_side_rejects_and_whoever_reads_slowly_or_comes_back_hears_how_it_stands() {
    let (mut room, [mut ada, mut bob], _, id) = bazaar();
    let deal = propose(&id, json!({"gold": 1}), json!({"food": 1}));
    room.says(&mut ada, deal.clone());
    room.says(&mut ada, trade(&id, "reject_trade"));
    assert_eq!(ada.events(), ["trade_proposed", "trade_rejected"]);
    room.says(&mut ada, deal.clone());
    // Bob has read nothing so far.
    room.tell(&mut bob);
    let heard = bob.news();
    let events: Vec<_> = heard.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["trade_proposed", "trade_rejected", "trade_proposed"]);
    let (ours, theirs) = (&heard[0]["proposer_name"], &heard[1]["rejector_name"]);
    assert_eq!(ours, theirs, "who takes it back is who proposed it");
    room.says(&mut bob, trade(&id, "reject_trade"));
    assert_ne!(&said(&bob.news(), "trade_rejected")["rejector_name"], ours);
    room.says(&mut bob, deal);
    room.go(&ada);
    room.come(&mut ada);
    let events = ada.events();
    let behind = events.iter().skip_while(|event| *event != "reconnect_state").skip(1).collect::<Vec<_>>();
    assert_eq!(behind[..2], ["trade_state_update", "trade_proposed"], "{events:?}");
}

#[test]
fn who_leaves_has_lost_and_other_rooms_know_no_trades() {
    let (mut room, [mut ada, mut bob], _, id) = bazaar();
    room.says(&mut ada, json!({"action": "leave_match", "match_id": id}));
    room.tell(&mut bob);
    let end = said(&bob.news(), "match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("leave"), &json!(bob.id)));
    let mut room = box_of("chess");
    let (mut white, _, id) = room.playing("chess");
    assert_eq!(room.agon_refused(&mut white, trade(&id, "accept_trade")).0, "CONTENT_BLOCKED");
}
