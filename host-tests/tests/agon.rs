//! AGON over real sockets: other people's WebSocket client and engines play chess and go, drop, and come back. The rules of the protocol are
//! proved in virtual time, in `protocol-core`.

use host_tests::http::request;
use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::settings::Settings;
use host_tests::{here, wait_for};

use host_tests::websocket::WebSocket;
use serde_json::{Value, json};

/// An agent that has registered: its key.
fn register(leaguebox: &LeagueBox, name: &str) -> String {
    let answer =
        leaguebox.post("/agon/api/v1/agents/register", &json!({"name": name, "framework": "rust"}).to_string());
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()["api_key"].as_str().expect("a key").to_owned()
}

fn token(leaguebox: &LeagueBox, key: &str) -> String {
    let headers = format!("Authorization: Bearer {key}\r\nContent-Type: application/json\r\n");
    let answer =
        request(leaguebox.address, "POST", "/agon/api/v1/agents/session-token", &headers, "{}").expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()["token"].as_str().expect("a token").to_owned()
}

/// An agent on its connection.
struct Agent(WebSocket);

impl Agent {
    fn come(leaguebox: &LeagueBox, key: &str) -> Agent {
        let path = format!("/ws/v1/connect?token={}", token(leaguebox, key));
        Agent(WebSocket::dial_at(leaguebox.address, &path))
    }

    fn send(&mut self, message: Value) {
        self.0.send(&message.to_string()).expect("it is sent");
    }

    /// The next event of a name; what comes before it is of no interest, if it is no error.
    fn hear(&mut self, name: &str) -> Value {
        loop {
            let event: Value = serde_json::from_str(&self.0.receive().expect("a message")).expect("JSON");
            if event["event"] == name {
                return event;
            }
            assert_ne!(event["event"], "error", "{event}");
        }
    }

    fn sit(&mut self, room: &str) {
        self.send(json!({"action": "sit_table", "room": room, "table_id": "open"}));
    }

    fn plays(&mut self, id: &Value, content: &str) {
        self.hear("turn_timer");
        self.send(json!({"action": "send_message", "match_id": id, "content": content}));
    }
}

#[test]
fn who_comes_back_hears_all_that_was_said_and_goes_on() {
    let leaguebox = LeagueBox::start(Settings::default());
    let keys = ["Ada", "Bob"].map(|name| register(&leaguebox, name));
    let mut agents = keys.each_ref().map(|key| Agent::come(&leaguebox, key));
    agents.iter_mut().for_each(|agent| agent.sit("chess"));
    let starts = agents.each_mut().map(|agent| agent.hear("match_start"));
    let id = starts[0]["match_id"].clone();
    let ([mut white, mut black], white_key) = match starts[0]["you_go_first"] == true {
        true => (agents, &keys[0]),
        false => {
            let [ada, bob] = agents;
            ([bob, ada], &keys[1])
        }
    };
    let played = ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5", "0-0", "Nf6"];
    for pair in played.chunks(2) {
        white.plays(&id, pair[0]);
        black.plays(&id, pair[1]);
    }
    white.hear("turn_timer");
    drop(white);
    let mut white = Agent::come(&leaguebox, white_key);
    let state = white.hear("reconnect_state");
    let said: Vec<&Value> =
        state["recent_messages"].as_array().expect("messages").iter().map(|message| &message["content"]).collect();
    // As chess writes them.
    assert_eq!(said, ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5", "O-O", "Nf6"]);
    assert_eq!((&state["your_turn"], &state["total_messages"]), (&json!(true), &json!(8)));
    white.plays(&id, "d3");
    assert!(black.hear("opponent_message")["fen"].as_str().is_some_and(|fen| fen.contains(" b ")));
    black.send(json!({"action": "leave_match", "match_id": id, "parting_shot": "שלום 🎲"}));
    assert_eq!(white.hear("opponent_leaving")["parting_shot"], "שלום 🎲");
    let end = white.hear("match_end");
    assert_eq!((&end["result"]["end_reason"], &end["your_score"]), (&json!("leave"), &json!(1)));
    assert_eq!(white.hear("elo_update")["new_rating"], 1216);
    white.hear("points_update");
    let path = format!("/api/v1/matches/{}/result", id.as_str().expect("an id"));
    let bearer = format!("Authorization: Bearer {}\r\n", token(&leaguebox, white_key));
    let answer = request(leaguebox.address, "GET", &path, &bearer, "").expect("an answer");
    assert_eq!(answer.json()["result"]["end_reason"], "leave", "{}", answer.body);
}

/// Two agents that have just begun a match, the one that goes first first, with their keys.
fn begin(leaguebox: &LeagueBox, room: &str) -> ([Agent; 2], [String; 2], Value) {
    begin_as(leaguebox, room, ["Ada", "Bob"])
}

fn begin_as(leaguebox: &LeagueBox, room: &str, names: [&str; 2]) -> ([Agent; 2], [String; 2], Value) {
    let mut keys = names.map(|name| register(leaguebox, name));
    let mut agents = keys.each_ref().map(|key| Agent::come(leaguebox, key));
    agents.iter_mut().for_each(|agent| agent.sit(room));
    let starts = agents.each_mut().map(|agent| agent.hear("match_start"));
    if starts[1]["you_go_first"] == true {
        agents.reverse();
        keys.reverse();
    }
    (agents, keys, starts[0]["match_id"].clone())
}

fn vote_seconds(leaguebox: &LeagueBox, seconds: u16) {
    let answer = leaguebox.admin_with("settings", &json!({"vote_seconds": seconds}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// How many characters that are six bytes each as JSON has to write them. What comes to a board in one message has 10 KB.
const MOST_ESCAPED: usize = if cfg!(feature = "board") { 1_600 } else { 2_000 };

#[test]
fn a_debate_is_heard_byte_for_byte_and_who_comes_back_has_all_of_it() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut first, mut second], [key, _], id) = begin(&leaguebox, "regular_debate");
    let speeches = [
        "שלום 🎲 ".repeat(250),
        "\u{1}".repeat(MOST_ESCAPED - 1) + "\"",
        "🙂".repeat(2_000),
        "A \"quote\", a \\ and\na line.".to_owned(),
    ];
    for pair in speeches.chunks(2) {
        first.plays(&id, &pair[0]);
        assert_eq!(second.hear("opponent_message")["content"], pair[0]);
        second.plays(&id, &pair[1]);
        assert_eq!(first.hear("opponent_message")["content"], pair[1]);
    }
    first.hear("turn_timer");
    first.send(json!({"action": "send_message", "match_id": id, "content": "🙂".repeat(2_001)}));
    assert_eq!(first.hear("error")["code"], "MESSAGE_TOO_LONG");
    first.send(json!({"action": "send_message", "match_id": id, "content": "א".repeat(2_001)}));
    let message = second.hear("opponent_message");
    assert_eq!((message["content"].as_str(), &message["truncated"]), (Some(&*"א".repeat(2_000)), &json!(true)));
    drop(first);
    let mut first = Agent::come(&leaguebox, &key);
    let state = first.hear("reconnect_state");
    let messages = state["recent_messages"].as_array().expect("messages");
    let said: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
    assert_eq!(said[..4], speeches);
    assert_eq!((said.len(), said[4]), (5, &*"א".repeat(2_000)));
    assert_eq!((&messages[3]["message_number"], &state["your_turn"]), (&json!(4), &json!(false)));
    second.plays(&id, "Well.");
    assert_eq!(first.hear("opponent_message")["message_number"], 6);
}

#[test]
fn agents_vote_on_a_debate_that_somebody_has_left() {
    let leaguebox = LeagueBox::start(Settings::default());
    vote_seconds(&leaguebox, 5);
    let ([mut first, mut second], _, id) = begin(&leaguebox, "spicy_debate");
    let mut carol = Agent::come(&leaguebox, &register(&leaguebox, "Carol"));
    first.plays(&id, "Enough.");
    second.hear("opponent_message");
    second.send(json!({"action": "leave_match", "match_id": id, "parting_shot": "שלום 🎲"}));
    assert_eq!(first.hear("opponent_leaving")["parting_shot"], "שלום 🎲");
    first.hear("voting_open");
    let open = carol.hear("voting_open");
    assert_eq!(open["match_id"], id);
    let one = open["participants"][0]["id"].clone();
    carol.send(json!({"action": "vote", "match_id": id, "participant_id": one}));
    let end = first.hear("match_end");
    assert_eq!((&end["result"]["end_reason"], &end["your_score"]), (&json!("leave"), &json!(1)), "{end}");
    assert_eq!((&end["result"]["winner_id"], &end["result"]["total_votes"]), (&one, &json!(1)));
    second.hear("match_end");
    carol.send(json!({"action": "vote", "match_id": id, "participant_id": one}));
    assert_eq!(carol.hear("error")["message"], "The vote is closed");
}

#[test]
fn goods_are_traded_and_who_comes_back_has_what_was_said_and_no_trade_among_it() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut first, mut second], keys, id) = begin(&leaguebox, "trade_deal");
    let stock = second.hear("trade_state_update");
    second.send(json!({"action": "propose_trade", "match_id": id, "offer": {"gold": 1}, "request": {"iron": 1}}));
    assert_eq!(first.hear("trade_proposed")["request"], json!({"iron": 1}));
    first.send(json!({"action": "accept_trade", "match_id": id}));
    let held = |told: &Value, name: &str| told["your_resources"][name].as_u64().expect("an amount");
    let executed = second.hear("trade_executed");
    assert_eq!(
        (held(&executed, "gold"), held(&executed, "iron")),
        (held(&stock, "gold") - 1, held(&stock, "iron") + 1)
    );
    first.send(json!({"action": "send_message", "match_id": id, "content": "A pleasure."}));
    assert_eq!(second.hear("opponent_message")["message_number"], 1);
    let mut second = Agent::come(&leaguebox, &keys[1]);
    let state = second.hear("reconnect_state");
    let said = state["recent_messages"].as_array().expect("messages");
    assert_eq!((said.len(), &said[0]["content"]), (1, &json!("A pleasure.")), "{state}");
    assert_eq!(second.hear("trade_state_update")["your_resources"], executed["your_resources"]);
}

#[test]
fn after_ten_speeches_each_other_agents_decide() {
    let leaguebox = LeagueBox::start(Settings::default());
    vote_seconds(&leaguebox, 5);
    let ([mut first, mut second], _, id) = begin(&leaguebox, "regular_debate");
    let mut carol = Agent::come(&leaguebox, &register(&leaguebox, "Carol"));
    for turn in 1..=10 {
        first.plays(&id, &format!("For, {turn}"));
        second.plays(&id, &format!("Against, {turn}"));
    }
    first.hear("voting_open");
    let whom = carol.hear("voting_open")["participants"][1]["id"].clone();
    carol.send(json!({"action": "vote", "match_id": id, "participant_id": whom}));
    let end = second.hear("match_end");
    assert_eq!((&end["result"]["end_reason"], &end["result"]["winner_id"]), (&json!("cap"), &whom), "{end}");
    assert_eq!(end["result"]["vote_count"][whom.as_str().expect("an id")], 1);
    second.hear("elo_update");
    first.hear("points_update");
}

/// White is mated by its own moves.
fn mate(white: &mut Agent, black: &mut Agent, id: &Value) {
    white.send(json!({"action": "send_message", "match_id": id, "content": "f3"}));
    black.plays(id, "e5");
    white.plays(id, "g4");
    black.plays(id, "Qh4");
}

#[test]
fn what_is_bet_at_a_blitz_table_is_paid_and_reactions_are_heard() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([mut white, mut black], _, id) = begin(&leaguebox, "chess");
    mate(&mut white, &mut black, &id);
    let points = [&mut white, &mut black].map(|agent| agent.hear("points_update")["points_earned"].as_i64());
    assert_eq!(points, [Some(15), Some(55)]);
    let mut agents = [white, black];
    for agent in &mut agents {
        agent.send(json!({"action": "sit_table", "room": "chess", "table_id": "blitz"}));
    }
    let starts = agents.each_mut().map(|agent| agent.hear("match_start"));
    assert_eq!(starts[0]["config"]["turn_time_limit_seconds"], 15);
    assert_eq!((&starts[0]["h2h_summary"]["losses"], &starts[1]["h2h_summary"]["wins"]), (&json!(1), &json!(1)));
    let id = &starts[0]["match_id"];
    if starts[1]["you_go_first"] == true {
        agents.reverse();
    }
    let [mut white, mut black] = agents;
    white.send(json!({"action": "propose_wager", "match_id": id, "amount": 10}));
    assert_eq!(black.hear("wager_proposed")["amount"], 10);
    black.send(json!({"action": "accept_wager", "match_id": id}));
    white.hear("wager_accepted");
    white.send(json!({"action": "react", "match_id": id, "emoji": "🎲"}));
    assert_eq!(black.hear("reaction")["emoji"], "🎲");
    mate(&mut white, &mut black, id);
    assert_eq!(white.hear("wager_result")["points_change"], -10);
    let winner = black.hear("match_end")["result"]["winner_id"].clone();
    assert_eq!(black.hear("wager_settled")["winner_id"], winner);
}

#[test]
fn who_is_gone_for_half_a_minute_has_lost_and_both_have_drawn() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ([white, mut black], [key, _], _) = begin(&leaguebox, "chess");
    let ([one, two], _, other) = begin_as(&leaguebox, "go", ["Carol", "Dora"]);
    drop((white, one, two));
    assert_eq!(black.hear("opponent_disconnected")["grace_seconds"], 15);
    assert_eq!(black.hear("match_end")["result"]["end_reason"], "disconnect");
    let mut white = Agent::come(&leaguebox, &key);
    assert_eq!(white.hear("error")["code"], "RECONNECT_EXPIRED");
    let path = format!("/agon/api/v1/matches/{}/result", other.as_str().expect("an id"));
    let bearer = format!("Authorization: Bearer {}\r\n", token(&leaguebox, &key));
    let ended = wait_for("the other match to end", || {
        let answer = request(leaguebox.address, "GET", &path, &bearer, "").ok()?;
        (answer.status == 200).then(|| answer.json())
    });
    assert_eq!(
        (&ended["result"]["end_reason"], &ended["result"]["winner_id"]),
        (&json!("both_disconnect"), &Value::Null)
    );
}

#[test]
fn turns_that_run_out_forfeit_a_match_of_chess() {
    let leaguebox = LeagueBox::start(Settings { move_timeout_ms: 1_000, ..Settings::default() });
    let ([mut white, mut black], _, _) = begin(&leaguebox, "chess");
    assert_eq!(white.hear("turn_timer")["seconds_remaining"], 4);
    assert_eq!(white.hear("turn_timer")["seconds_remaining"], 4);
    assert_eq!(black.hear("match_end")["result"]["end_reason"], "forfeit");
}

#[test]
fn without_a_good_token_nobody_gets_as_far_as_a_websocket() {
    let leaguebox = LeagueBox::start(Settings::default());
    let key = register(&leaguebox, "Ada");
    for path in ["/ws/v1/connect".to_owned(), "/ws/v1/connect?token=".into(), format!("/ws/v1/connect?token={key}")] {
        let refused = WebSocket::try_dial(leaguebox.address, &path).err().expect("it is refused").to_string();
        assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    }
    let good = token(&leaguebox, &key);
    for (at, status) in [
        ("/agon/api/v1/agents/me", 200),
        ("/api/v1/agents/me", 200),
        ("/api/v1/rooms", 200),
        ("/agon/api/v1/chairs", 404),
    ] {
        let answer =
            request(leaguebox.address, "GET", at, &format!("Authorization: Bearer {good}\r\n"), "").expect("an answer");
        assert_eq!(answer.status, status, "{at} {}", answer.body);
    }
    let answer = leaguebox.get("/agon/api/v1/chairs");
    assert_eq!(answer.json()["error"]["code"], "NOT_FOUND");
}

/// The example plays so many matches against itself, with engines or without.
fn examples_play(room: &str, matches: &str, engines: [Option<&str>; 2]) {
    let leaguebox = LeagueBox::start(Settings::default());
    let players: Vec<Player> = { engines.iter().zip(["Ada", "Bob"]) }
        .map(|(engine, name)| {
            let url = leaguebox.url();
            let mut arguments =
                vec!["--box", &url, "--name", name, "--room", room, "--matches", matches, "--think", "5"];
            arguments.extend(engine.iter().flat_map(|engine| ["--engine", engine]));
            Player::script(&here("../examples/agon.py"), name, &arguments)
        })
        .collect();
    for mut player in players {
        let ended = player.wait_until_it_ends();
        let printed = player.printed();
        assert_eq!(ended, Some(0), "{printed}");
        let endings = ["checkmate", "stalemate", "draw", "go_score"];
        let count =
            printed.lines().filter(|line| endings.iter().any(|end| line.contains(&format!(": {end}, ")))).count();
        assert_eq!(count.to_string(), matches, "{printed}");
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_plays_go_to_its_score() {
    examples_play("go", "1", [None, None]);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn stockfish_mates_the_example() {
    examples_play("chess", "1", [Some("/usr/games/stockfish"), None]);
}

#[test]
#[ignore = "takes minutes"]
fn stockfish_plays_itself_twenty_times() {
    examples_play("chess", "20", [Some("/usr/games/stockfish"); 2]);
}
