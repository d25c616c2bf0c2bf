//! What a player says: a JSON-RPC request in, its answer out. It knows the messages of league.v2; sockets are left to the
//! module above, and choosing to its mind.

use std::collections::BTreeMap;

use protocol_core::games::house::{Mind, Seen};
use protocol_core::protocols::league_v2::outgoing::ROLES;
use serde_json::{Value, json};

use crate::computer;

/// Finds a mind for a game.
pub type Learns = Box<dyn Fn(&str) -> Option<Box<dyn Mind>> + Send>;

/// One player.
pub struct Player {
    name: String,
    learns: Learns,
    /// The games it has learnt.
    minds: BTreeMap<String, Box<dyn Mind>>,
    /// The id and the token the box gave us when we registered.
    id: String,
    token: String,
    /// The match we are in.
    match_id: Option<String>,
    game: String,
    seat: usize,
    opponent: String,
    /// Whether the league is over.
    is_over: bool,
}

impl Player {
    /// The id it was given.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether its league is over.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// A player that is not registered yet.
    pub fn new(name: &str, learns: Learns) -> Self {
        Self {
            name: name.into(),
            learns,
            minds: BTreeMap::new(),
            id: String::new(),
            token: String::new(),
            match_id: None,
            game: String::new(),
            seat: 0,
            opponent: String::new(),
            is_over: false,
        }
    }

    /// The request that registers us: what we are called, what we play, and where to call us.
    pub fn registration(&self, games: &[&str], endpoint: &str) -> Value {
        json!({
            "jsonrpc": "2.0",
            "method": "register_player",
            "params": {
                "protocol": "league.v2",
                "message_type": "LEAGUE_REGISTER_REQUEST",
                "sender": "player:house",
                "timestamp": computer::timestamp(),
                "conversation_id": format!("conv-register-{}", self.name.to_lowercase().replace(' ', "-")),
                "player_meta": {
                    "display_name": self.name,
                    "version": env!("CARGO_PKG_VERSION"),
                    "game_types": games,
                    "contact_endpoint": endpoint,
                },
            },
            "id": 1,
        })
    }

    /// Reads the answer to that request; the error is the box's reason.
    pub fn registered(&mut self, response: &str) -> Result<(), String> {
        let response: Value = serde_json::from_str(response).map_err(|error| error.to_string())?;
        let result = &response["result"];
        // Managers have several words for yes, and some have none.
        let is_refused = result["status"] == "REJECTED" || result["player_id"].as_str().is_none_or(str::is_empty);
        if is_refused {
            let reason = [&result["reason"], &response["error"]["message"]].into_iter().find_map(Value::as_str);
            return Err(reason.unwrap_or("no reason given").into());
        }
        self.id = text(&result["player_id"]);
        self.token = text(&result["auth_token"]);
        Ok(())
    }

    /// Answers one call of the box; `None` if it wants no answer.
    pub fn answer(&mut self, request: &[u8]) -> Option<Value> {
        let Ok(request) = serde_json::from_slice::<Value>(request) else {
            return Some(error(&Value::Null, -32700, "Parse error"));
        };
        let params = &request["params"];
        // Beside the names of the specification, those that other managers and referees use.
        let result = match request["method"].as_str().unwrap_or_default() {
            "handle_game_invitation" | "game_invitation" | "GAME_INVITATION" => Some(self.join(params)),
            "choose_parity" | "parity_choose" | "CHOOSE_PARITY_CALL" => Some(self.choose_parity(params)),
            "request_move" | "MOVE_REQUEST" => Some(self.choose_move(params)),
            "notify_match_result" | "notify_game_over" | "game_over" | "GAME_OVER" => {
                self.learn(params);
                Some(self.reply("ACK", params, json!({})))
            }
            "notify_league_completed" | "league_completed" | "LEAGUE_COMPLETED" => {
                self.is_over = true;
                Some(self.reply("ACK", params, json!({})))
            }
            "notify_round"
            | "round_announcement"
            | "announce_round"
            | "ROUND_ANNOUNCEMENT"
            | "notify_round_completed"
            | "round_completed"
            | "ROUND_COMPLETED"
            | "update_standings"
            | "league_standings_update"
            | "notify_standings"
            | "LEAGUE_STANDINGS_UPDATE"
            | "notify_game_error"
            | "GAME_ERROR"
            | "notify_move_validation"
            | "MOVE_VALIDATION"
            | "ping" => Some(self.reply("ACK", params, json!({}))),
            _ => None,
        };
        // A request without an id is a notification: it is obeyed, not answered.
        let id = request.get("id")?;
        Some(match result {
            Some(result) => json!({"jsonrpc": "2.0", "result": result, "id": id}),
            None => error(id, -32601, "Method not found"),
        })
    }

    /// GAME_INVITATION: come to this match.
    fn join(&mut self, invitation: &Value) -> Value {
        self.match_id = Some(text(&invitation["match_id"]));
        self.game = text(&invitation["game_type"]);
        if !self.minds.contains_key(&self.game)
            && let Some(mind) = (self.learns)(&self.game)
        {
            self.minds.insert(self.game.clone(), mind);
        }
        let role = |role: &&str| invitation["role_in_match"] == **role;
        self.seat = ROLES.iter().position(role).unwrap_or(0);
        self.opponent = text(&invitation["opponent_id"]);
        self.reply("GAME_JOIN_ACK", invitation, json!({"arrival_timestamp": computer::timestamp(), "accept": true}))
    }

    /// The mind for the match we are in, and what it sees. None in a game we do not know.
    fn thinking<'a>(&'a mut self, state: &'a Value) -> Option<(&'a mut dyn Mind, Seen<'a>)> {
        let seen = Seen { me: &self.id, seat: self.seat, opponent: &self.opponent, state };
        Some((&mut **self.minds.get_mut(&self.game)?, seen))
    }

    /// The move we make. In a game we do not know it is none, and the box says so.
    fn choose(&mut self, state: &Value) -> Value {
        self.thinking(state).map_or(Value::Null, |(mind, seen)| mind.choose(seen))
    }

    /// CHOOSE_PARITY_CALL: even or odd?
    fn choose_parity(&mut self, call: &Value) -> Value {
        let wanted = self.choose(&Value::Null);
        self.reply("CHOOSE_PARITY_RESPONSE", call, json!({"parity_choice": wanted["value"]}))
    }

    /// MOVE_REQUEST: the same question in every other game, with what there is to see.
    fn choose_move(&mut self, request: &Value) -> Value {
        let wanted = self.choose(&request["game_state"]["game_specific_state"]);
        self.reply("MOVE_RESPONSE", request, json!({"move": wanted}))
    }

    /// GAME_OVER: this is how it ended. It may come twice; the second time there is nothing left to learn.
    fn learn(&mut self, game_over: &Value) {
        if self.match_id.as_deref() != game_over["match_id"].as_str() {
            return;
        }
        self.match_id = None;
        if let Some((mind, seen)) = self.thinking(&game_over["game_result"]) {
            mind.learn(seen);
        }
    }

    /// An answer in the envelope every message has, with `fields` of its own.
    fn reply(&self, message_type: &str, call: &Value, fields: Value) -> Value {
        let mut reply = json!({
            "protocol": "league.v2",
            "message_type": message_type,
            "sender": format!("player:{}", self.id),
            "timestamp": computer::timestamp(),
            "conversation_id": call["conversation_id"],
            "auth_token": self.token,
            "match_id": call["match_id"],
            "player_id": self.id,
        });
        if let (Value::Object(reply), Value::Object(fields)) = (&mut reply, fields) {
            reply.extend(fields);
        }
        reply
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": id})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Says what it sees, and lets the test see what it was told to learn.
    #[derive(Clone, Default)]
    struct Spy(Arc<Mutex<Vec<Value>>>);

    impl Mind for Spy {
        fn choose(&mut self, seen: Seen<'_>) -> Value {
            let Seen { me, seat, opponent, state } = seen;
            json!({"value": "odd", "me": me, "seat": seat, "opponent": opponent, "state": state})
        }

        fn learn(&mut self, result: Seen<'_>) {
            self.0.lock().unwrap().push(json!({"opponent": result.opponent, "result": result.state}));
        }
    }

    fn player() -> (Player, Spy) {
        let spy = Spy::default();
        let mind = spy.clone();
        let learns = move |game: &str| (game == "known").then(|| Box::new(mind.clone()) as Box<dyn Mind>);
        let mut player = Player::new("Spy", Box::new(learns));
        let response = r#"{"result":{"status":"ACCEPTED","player_id":"P01","auth_token":"tok"},"id":1}"#;
        player.registered(response).unwrap();
        (player, spy)
    }

    fn call(player: &mut Player, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1001});
        let answer = player.answer(request.to_string().as_bytes()).unwrap();
        assert_eq!(answer["id"], 1001);
        answer["result"].clone()
    }

    fn invite(player: &mut Player, match_id: &str, opponent: &str) -> Value {
        let params =
            json!({"match_id": match_id, "game_type": "known", "opponent_id": opponent, "conversation_id": "c1"});
        call(player, "handle_game_invitation", params)
    }

    fn game_over(match_id: &str) -> Value {
        json!({"match_id": match_id, "game_result": {"drawn_number": 8, "choices": {"P01": "odd", "P02": "even"}}})
    }

    #[test]
    fn an_invitation_is_accepted_in_the_words_of_the_specification() {
        let (mut player, _) = player();
        let ack = invite(&mut player, "R1M1", "P02");
        for (field, value) in [
            ("protocol", "league.v2"),
            ("message_type", "GAME_JOIN_ACK"),
            ("sender", "player:P01"),
            ("conversation_id", "c1"),
            ("auth_token", "tok"),
            ("match_id", "R1M1"),
            ("player_id", "P01"),
        ] {
            assert_eq!(ack[field], value, "{field}");
        }
        assert_eq!(ack["accept"], true);
        assert!(ack["arrival_timestamp"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn both_questions_get_the_minds_choice() {
        let (mut player, _) = player();
        invite(&mut player, "R1M1", "P02");
        let parity = call(&mut player, "choose_parity", json!({"match_id": "R1M1"}));
        assert_eq!(
            (&parity["message_type"], &parity["parity_choice"]),
            (&json!("CHOOSE_PARITY_RESPONSE"), &json!("odd"))
        );
        let answer = call(&mut player, "request_move", json!({"match_id": "R1M1"}));
        assert_eq!(answer["message_type"], "MOVE_RESPONSE");
        assert_eq!(answer["move"]["value"], "odd");
    }

    #[test]
    fn a_mind_is_told_its_seat_and_opponent_and_its_move_is_sent_as_it_is() {
        let (mut player, _) = player();
        for (role, seat) in [("PLAYER_A", 0), ("PLAYER_B", 1), ("PLAYER_D", 3)] {
            let invitation =
                json!({"match_id": "R1M1", "game_type": "known", "opponent_id": "P02", "role_in_match": role});
            call(&mut player, "handle_game_invitation", invitation);
            let answer = call(&mut player, "request_move", json!({"game_state": {"game_specific_state": {"x": 1}}}));
            let wanted = json!({"value": "odd", "me": "P01", "seat": seat, "opponent": "P02", "state": {"x": 1}});
            assert_eq!(answer["move"], wanted);
        }
    }

    #[test]
    fn a_game_nobody_has_taught_it_gets_no_move() {
        let (mut player, _) = player();
        call(&mut player, "handle_game_invitation", json!({"match_id": "R1M1", "game_type": "unknown"}));
        assert_eq!(call(&mut player, "request_move", json!({}))["move"], Value::Null);
    }

    #[test]
    fn a_game_is_learnt_from_once_however_often_it_is_over() {
        let (mut player, spy) = player();
        invite(&mut player, "R1M1", "P02");
        for _ in 0..2 {
            call(&mut player, "notify_match_result", game_over("R1M1"));
        }
        call(&mut player, "notify_match_result", game_over("R9M9"));
        let learnt = json!({"opponent": "P02", "result": game_over("R1M1")["game_result"]});
        assert_eq!(*spy.0.lock().unwrap(), [learnt]);
    }

    #[test]
    fn a_notification_is_obeyed_but_not_answered() {
        let (mut player, _) = player();
        assert_eq!(player.answer(br#"{"jsonrpc":"2.0","method":"notify_round","params":{}}"#), None);
    }

    #[test]
    fn every_notification_of_the_box_is_understood() {
        let (mut player, _) = player();
        for method in [
            "notify_round",
            "notify_round_completed",
            "update_standings",
            "notify_league_completed",
            "notify_game_error",
            "notify_move_validation",
            "notify_match_result",
        ] {
            assert_eq!(call(&mut player, method, json!({}))["message_type"], "ACK", "{method}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_answered_with_an_error() {
        let (mut player, _) = player();
        for (request, code) in
            [(&b"{"[..], -32700), (br#"{"id":1}"#, -32601), (br#"{"method":"dance","id":1}"#, -32601)]
        {
            assert_eq!(player.answer(request).unwrap()["error"]["code"], code);
        }
        assert_eq!(player.answer(b"[]"), None);
    }

    #[test]
    fn a_rejection_keeps_the_boxs_words() {
        let (mut player, _) = player();
        for (response, reason) in [
            (r#"{"result":{"status":"REJECTED","reason":"League full"}}"#, "League full"),
            (r#"{"error":{"code":-32602,"message":"player_meta is missing"}}"#, "player_meta is missing"),
            (r#"{}"#, "no reason given"),
        ] {
            assert_eq!(player.registered(response), Err(reason.into()));
        }
    }
}
