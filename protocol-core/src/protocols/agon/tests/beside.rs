//! What is beside the moves: tables with short turns, reactions, wagers, and what outlives a power cut.

use super::*;
use crate::protocols::agon::session;
use crate::venue::restart_tests::Pieces;

const NONE: [&str; 0] = [];

/// As if it had played for them.
fn give(room: &mut Club, agent: &Agent, points: u32) {
    let line = room.0.venue.line_of(agent.issue).unwrap();
    session::of(&mut room.0.venue, line).unwrap().points = points;
}

fn me(room: &mut Club, agent: &Agent) -> Value {
    let token = room.agon_token(&agent.key);
    room.agon(Some(&token), Ask::Me, "").1
}

fn bet(id: &Value, action: &str) -> Value {
    json!({"action": format!("{action}_wager"), "match_id": id})
}

fn propose(id: &Value, amount: u16) -> Value {
    json!({"action": "propose_wager", "match_id": id, "amount": amount})
}

/// Black is mated in two, but for the last move.
fn nearly_mated(room: &mut Club, white: &mut Agent, black: &mut Agent, id: &Value) {
    room.plays(white, id, "f3");
    room.plays(black, id, "e5");
    room.plays(white, id, "g4");
    room.tell(black);
    white.news();
    black.news();
}

#[test]
fn beside_the_open_table_of_a_room_there_is_one_with_turns_of_15_seconds() {
    let mut room = box_of("chess");
    let (mut ada, mut bob, mut carol) = (room.agent("Ada"), room.agent("Bob"), room.agent("Carol"));
    room.says(&mut ada, json!({"action":"sit_table","room":"chess","table_id":"blitz"}));
    let seated = said(&ada.news(), "seated");
    assert_eq!(
        (&seated["table_id"], seated["prompt_title"].as_str().unwrap().starts_with("Blitz. ")),
        (&json!("blitz"), true)
    );
    room.says(&mut carol, json!({"action":"sit_table","room":"chess","table_id":"open"}));
    room.wait(5_000, &mut [&mut ada, &mut carol]);
    assert_eq!((ada.events(), carol.events()), (vec(NONE), vec(["welcome", "seated"])), "they wait for others");
    room.says(&mut bob, json!({"action":"enter_room","room":"chess"}));
    let tables = said(&bob.news(), "room_state")["tables"].clone();
    assert_eq!((&tables[0]["id"], &tables[0]["seat_1"]["name"]), (&json!("open"), &json!("Carol")));
    assert_eq!((&tables[1]["id"], &tables[1]["seat_1"]["name"]), (&json!("blitz"), &json!("Ada")));
    room.says(&mut bob, json!({"action":"sit_table","room":"chess","table_id":"blitz"}));
    room.wait(3_000, &mut [&mut ada, &mut bob, &mut carol]);
    let start = said(&ada.heard, "match_start");
    assert_eq!(start["config"]["turn_time_limit_seconds"], 15);
    assert!(start["prompt_title"].as_str().unwrap().starts_with("Blitz. "));
    assert_eq!(carol.events(), NONE);
    let (mut white, mut black) = if start["you_go_first"] == true { (ada, bob) } else { (bob, ada) };
    assert_eq!(said(&white.news(), "turn_timer")["seconds_remaining"], 120, "the first turn is as long as elsewhere");
    black.news();
    let id = &start["match_id"];
    for (mover, made) in [(0, "e4"), (1, "e5")] {
        let (mover, other) = if mover == 0 { (&mut white, &mut black) } else { (&mut black, &mut white) };
        room.plays(mover, id, made);
        room.tell(other);
    }
    assert_eq!(said(&white.news(), "turn_timer")["seconds_remaining"], 15);
    room.wait(30_000, &mut [&mut white, &mut black]);
    assert_eq!(said(&black.news(), "match_end")["result"]["end_reason"], "forfeit");
    // Who leaves the queue of quick games is in none.
    room.says(&mut white, json!({"action":"sit_table","room":"go","table_id":"blitz"}));
    room.says(&mut white, json!({"action":"leave_room"}));
    room.says(&mut black, json!({"action":"sit_table","room":"go","table_id":"blitz"}));
    room.wait(5_000, &mut [&mut black]);
    assert!(!black.events().contains(&"match_countdown".into()));
}

fn vec<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.iter().map(|name| (*name).to_string()).collect()
}

#[test]
fn a_reaction_is_heard_by_the_others_in_the_match_and_by_those_in_its_room() {
    let mut room = box_of("chess");
    let (mut white, mut black, id) = room.playing("chess");
    let (mut carol, mut dora) = (room.agent("Carol"), room.agent("Dora"));
    room.says(&mut carol, json!({"action":"enter_room","room":"chess"}));
    room.says(&mut dora, json!({"action":"enter_room","room":"go"}));
    [&mut carol, &mut dora].into_iter().for_each(|agent| drop(agent.news()));
    let react = |emoji: &str| json!({"action": "react", "match_id": id, "emoji": emoji});
    room.says(&mut white, react("👨‍👩‍👧‍👦"));
    let reaction = json!({"event": "reaction", "match_id": id, "from_name": who(&room, &white), "emoji": "👨‍👩‍👧‍👦"});
    for agent in [&mut black, &mut carol] {
        room.tell(agent);
        assert_eq!(agent.news(), core::slice::from_ref(&reaction));
    }
    room.tell(&mut dora);
    assert_eq!((dora.events(), white.events()), (vec(NONE), vec(NONE)));
    // Those who look on may react too.
    assert_eq!(room.agon_refused(&mut white, react("🙂")).0, "RATE_LIMITED");
    room.says(&mut carol, react("🙂"));
    room.tell(&mut white);
    assert_eq!(said(&white.news(), "reaction")["from_name"], "Carol");
    for wrong in ["", "hello", "a b", "\u{7}", &"🙂".repeat(9)] {
        assert_eq!(room.agon_refused(&mut carol, react(wrong)).0, "VALIDATION_FAILED", "{wrong}");
    }
    assert_eq!(room.agon_refused(&mut carol, json!({"action":"react","match_id":id})).0, "MISSING_FIELD");
    let other = json!({"action":"react","match_id":carol.id,"emoji":"🙂"});
    assert_eq!(room.agon_refused(&mut carol, other).0, "VALIDATION_FAILED");
    // Who does not read for long hears the last ones.
    for _ in 0..20 {
        room.wait(1_000, &mut []);
        room.says(&mut carol, react("🎲"));
    }
    room.tell(&mut white);
    assert_eq!(white.events(), ["reaction"; 8]);
}

fn who(room: &Club, agent: &Agent) -> String {
    let line = room.0.venue.line_of(agent.issue).unwrap();
    room.0.venue.players()[usize::from(line)].name.as_str().into()
}

#[test]
fn a_wager_that_was_accepted_is_paid_by_who_loses() {
    let mut room = box_of("chess");
    let (mut white, mut black, id) = room.playing("chess");
    give(&mut room, &white, 100);
    give(&mut room, &black, 40);
    room.says(&mut white, propose(&id, 40));
    room.tell(&mut black);
    let proposed = json!({"event":"wager_proposed","match_id":id,"proposer_name":who(&room, &white),"amount":40});
    assert_eq!((white.news(), black.news()), (std::vec![proposed.clone()], std::vec![proposed]));
    room.says(&mut black, bet(&id, "accept"));
    room.tell(&mut white);
    assert_eq!((white.events(), black.events()), (vec(["wager_accepted"]), vec(["wager_accepted"])));
    nearly_mated(&mut room, &mut white, &mut black, &id);
    room.plays(&mut black, &id, "Qh4#");
    room.tell(&mut white);
    let told = black.news();
    let names: Vec<_> = told.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["match_end", "elo_update", "points_update", "wager_settled", "wager_result"]);
    assert_eq!((&told[3]["winner_id"], &told[3]["amount"]), (&json!(black.id), &json!(40)));
    let earned = told[2]["points_earned"].as_u64().unwrap();
    assert_eq!((&told[4]["points_change"], &told[4]["arena_points"]), (&json!(40), &json!(40 + 40 + earned)));
    let told = said(&white.news(), "wager_result");
    assert_eq!((&told["points_change"], &told["arena_points"]), (&json!(-40), &json!(100 - 40 + 15)));
    assert_eq!(me(&mut room, &white)["arena_points"], 75);
    // And both sit nowhere.
    room.says(&mut white, json!({"action":"sit_table","room":"chess","table_id":"open"}));
    assert_eq!(white.events(), ["seated"]);
}

#[test]
fn a_wager_is_refused_for_what_is_wrong_with_it() {
    let mut room = box_of("chess");
    let (mut white, mut black, id) = room.playing("chess");
    let wrong = |room: &mut Club, agent: &mut Agent, message: Value, words: &str| {
        let (code, said) = room.agon_refused(agent, message.clone());
        assert!(code == "VALIDATION_FAILED" && said.contains(words), "{message}: {code} {said}");
    };
    wrong(&mut room, &mut white, propose(&id, 1), "your Arena Points");
    give(&mut room, &white, 50);
    wrong(&mut room, &mut white, propose(&id, 1), "your opponent's");
    give(&mut room, &black, 50);
    wrong(&mut room, &mut white, propose(&id, 0), "from 1 to 1000");
    wrong(&mut room, &mut white, json!({"action":"propose_wager","match_id":id,"amount":"5"}), "from 1 to 1000");
    wrong(&mut room, &mut white, bet(&id, "accept"), "no wager");
    assert_eq!(room.agon_refused(&mut white, bet(&id, "propose")).0, "MISSING_FIELD");
    let (code, words) =
        room.agon_refused(&mut white, json!({"action":"propose_wager","match_id":id,"amount":5,"currency":"USDC"}));
    assert_eq!((code.as_str(), words.contains("USDC")), ("CONTENT_BLOCKED", true));
    room.says(&mut white, propose(&id, 5));
    wrong(&mut room, &mut white, bet(&id, "accept"), "your own");
    wrong(&mut room, &mut black, propose(&id, 5), "pending");
    wrong(&mut room, &mut black, bet(&id, "cancel"), "only who proposed");
    room.says(&mut black, bet(&id, "decline"));
    room.tell(&mut white);
    assert_eq!(white.events().last().unwrap(), "wager_declined");
    room.says(&mut black, propose(&id, 7));
    room.says(&mut black, bet(&id, "cancel"));
    room.tell(&mut white);
    let told = white.news();
    assert_eq!((&told[0]["event"], &told[0]["proposer_name"]), (&json!("wager_cancelled"), &json!(who(&room, &black))));
    room.says(&mut white, propose(&id, 9));
    nearly_mated(&mut room, &mut white, &mut black, &id);
    room.tell(&mut white);
    wrong(&mut room, &mut black, bet(&id, "accept"), "no wager");
    wrong(&mut room, &mut black, propose(&id, 5), "before the third move");
    let mut room = box_of("regular_debate");
    let (mut first, _, id) = room.playing("regular_debate");
    assert_eq!(room.agon_refused(&mut first, propose(&id, 5)).0, "CONTENT_BLOCKED");
}

#[test]
fn a_wager_nobody_answers_expires_with_the_third_move() {
    let mut room = box_of("chess");
    let (mut white, mut black, id) = room.playing("chess");
    give(&mut room, &white, 50);
    give(&mut room, &black, 50);
    room.says(&mut white, propose(&id, 9));
    room.tell(&mut black);
    for (mover, made) in [(0, "f3"), (1, "e5"), (0, "g4")] {
        let (mover, other) = if mover == 0 { (&mut white, &mut black) } else { (&mut black, &mut white) };
        room.plays(mover, &id, made);
        room.tell(other);
    }
    for agent in [&mut white, &mut black] {
        room.tell(agent);
        assert_eq!(agent.events().iter().filter(|event| *event == "wager_expired").count(), 1);
    }
}

#[test]
fn a_match_that_a_league_calls_off_counts_for_nobody() {
    let mut room = box_of("chess");
    let (mut white, mut black, id) = room.playing("chess");
    give(&mut room, &white, 50);
    give(&mut room, &black, 50);
    room.says(&mut white, propose(&id, 9));
    room.says(&mut black, bet(&id, "accept"));
    room.0.venue.command(room.0.now, Command::Start).unwrap();
    room.tell(&mut white);
    assert!(!white.events().contains(&"elo_update".into()));
    assert_eq!(
        (&me(&mut room, &white)["elo"]["chess"], &me(&mut room, &black)["arena_points"]),
        (&json!(1200), &json!(50))
    );
}

/// The box again, from what was safe.
fn cut(room: &mut Club, journal: &mut Pieces, agents: &mut [&mut Agent]) {
    journal.keep(&mut room.0.venue);
    room.0.venue = journal.restore();
    room.0.venue.resume(room.0.now);
    journal.keep(&mut room.0.venue);
    agents.iter_mut().for_each(|agent| room.come(agent));
    agents.iter_mut().for_each(|agent| drop(agent.news()));
}

#[test]
fn elo_points_games_and_who_met_whom_outlive_a_power_cut() {
    for is_new_chapter in [false, true] {
        let (mut room, mut journal) = (box_of("chess"), Pieces::default());
        room.0.venue.keep_facts();
        let (mut white, mut black, id) = room.playing("chess");
        nearly_mated(&mut room, &mut white, &mut black, &id);
        room.plays(&mut black, &id, "Qh4");
        room.tell(&mut white);
        let before = (me(&mut room, &white), me(&mut room, &black));
        assert_eq!(before.1["elo"]["chess"], 1216);
        if is_new_chapter {
            room.0.venue.keep_facts();
        }
        for _ in 0..2 {
            cut(&mut room, &mut journal, &mut [&mut white, &mut black]);
            assert_eq!((me(&mut room, &white), me(&mut room, &black)), before);
        }
        for agent in [&mut white, &mut black] {
            room.says(agent, json!({"action":"sit_table","room":"chess","table_id":"open"}));
        }
        room.wait(3_000, &mut [&mut white, &mut black]);
        let start = said(&black.news(), "match_start");
        assert_eq!(start["h2h_summary"], json!({"wins": 1, "losses": 0, "draws": 0}));
        assert_eq!((&start["your_elo"], &start["opponent"]["elo"]), (&json!(1216), &json!(1184)));
        assert_eq!(said(&white.news(), "match_start")["h2h_summary"]["losses"], 1);
    }
}

#[test]
fn a_vote_of_a_debate_goes_on_after_a_power_cut_and_who_left_is_known() {
    let (mut room, mut journal) = (box_of("regular_debate"), Pieces::default());
    room.0.venue.keep_facts();
    let (mut first, mut second, id) = room.playing("regular_debate");
    let mut carol = room.agent("Carol");
    room.plays(&mut first, &id, "Well.");
    room.says(&mut second, json!({"action":"leave_match","match_id":id}));
    room.says(&mut carol, json!({"action":"vote","match_id":id,"participant_id":first.id}));
    room.wait(30_000, &mut []);
    cut(&mut room, &mut journal, &mut [&mut first, &mut second, &mut carol]);
    room.says(&mut second, json!({"action":"vote","match_id":id,"participant_id":first.id}));
    room.wait(60_000, &mut [&mut first, &mut second]);
    let end = said(&first.news(), "match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("leave"), &json!(first.id)));
    assert_eq!(end["result"]["total_votes"], 1, "who plays has no vote");
    cut(&mut room, &mut journal, &mut [&mut first]);
    assert_eq!(me(&mut room, &first)["elo"]["regular_debate"], 1216);
}
