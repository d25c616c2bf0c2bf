//! Members of the club that speak MCP. They know nothing but what tools answer: whether it is their turn, which moves they have, and how
//! what they played has ended. They sit down at tables, leave them, think, try what is not allowed, fall silent and come back. Whenever
//! something changes for one of them, its line is rung: whoever waits for its turn would be woken.

use protocol_core::games::Game as _;
use protocol_core::protocols::mcp::{Headers, Mark, Told, Want, read};
use protocol_core::venue::Stage;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr};

use super::super::written;
use super::{Club, Due, Manner, Tongue};

/// So many questions in a row a model waits for others before it leaves a table.
const PATIENCE: u32 = 12;

/// So long it waits for its turn.
const WAIT_MS: u64 = 20_000;

/// What a model keeps.
#[derive(Default)]
pub(super) struct Notes {
    /// The match it is about to move in, what it has seen of it, and its move.
    plan: Option<(Value, Option<Mark>, Value)>,
    /// How often it has asked while it waits at a table.
    waited: u32,
    /// How things stood for it after the last step.
    mark: Option<Mark>,
}

impl Club<'_> {
    /// Calls a tool. What it answers, or the rule it refuses with.
    fn call_tool(&mut self, name: &str, arguments: &Value) -> Result<Value, String> {
        let params = json!({"name": name, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let asking = read(Headers::default(), body.as_bytes()).expect("it is MCP");
        let Want::Call(call) = asking.want else { panic!("a tool is called: {body}") };
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 4, 1));
        match self.venue.call_mcp(self.moment(), from, call) {
            Told::Refused(rule) => Err(rule.into()),
            told => {
                let text = written(&mut self.random, |sink| self.venue.write_mcp(&told, sink));
                Ok(serde_json::from_slice(&text).expect("an answer is JSON"))
            }
        }
    }

    pub(super) fn join_as_model(&mut self, index: usize) {
        let joined = self.call_tool("join_league", &json!({"name": format!("Agent {index}")}));
        let joined = joined.expect("a flawless registration");
        self.keep();
        let key = joined["token"].as_str().expect("a token").to_string();
        let line = self.venue.players().len() - 1;
        let issue = self.venue.issue_of_line(line as u16).expect("it comes and asks");
        self.enter(Tongue::Models(Notes::default()), key, issue);
        let at = self.random.within(0, 5_000);
        self.later(at, Due::Turn(index));
    }

    fn model(&mut self, index: usize) -> &mut Notes {
        match &mut self.members[index].speaks {
            Tongue::Models(notes) => notes,
            _ => unreachable!("it speaks MCP"),
        }
    }

    /// It asks for its turn, because it has waited long enough or because it was woken, and does something about it.
    pub(super) fn ask_for_turn(&mut self, index: usize, is_woken: bool) {
        let token = self.members[index].key.clone();
        let turn = self.call_tool("next_turn", &json!({"token": token, "wait_seconds": 0})).expect("its token is good");
        let line = self.line(index);
        let table = self.venue.all_tables().find(|table| table.players().contains(&line));
        let id = table.map(|table| table.id.to_string());
        let (hears, may_act) = table.map_or((false, false), |table| {
            let seat = table.players().iter().position(|&other| other == line).expect("it sits there") as u8;
            (table.play.hears(seat), table.play.game().may_act().has(seat))
        });
        assert!(turn["state"].is_null() || turn["match_id"].as_str() == id.as_deref(), "{turn}");
        assert_eq!(turn["your_turn"] == true, hears, "whose turn it is: {turn}");
        let moves = turn["legal_moves"].as_array().cloned().unwrap_or_default();
        assert!(moves.len() <= 200 && (!hears || !moves.is_empty()), "whoever may move has a move: {turn}");
        assert!(moves.is_empty() || hears || may_act, "nobody else has one: {turn}");
        if !turn["last_match"].is_null() {
            let again = self.call_tool("next_turn", &json!({"token": token, "wait_seconds": 0})).expect("a token");
            assert!(again["last_match"].is_null(), "what has ended is told once: {again}");
        }
        let is_over = turn["league_over"] == true;
        assert!(!is_over || self.venue.stage() == Stage::Completed && turn["standings"].is_array(), "{turn}");
        let mut next = WAIT_MS;
        if hears && self.model(index).plan.is_none() {
            let at = self.random.any() as usize % moves.len();
            if self.members[index].manner == Manner::Fumbles && self.random.one_in(2) {
                self.try_nonsense(index, &turn["match_id"]);
            }
            let issue = self.members[index].issue;
            let mark = self.venue.mcp_mark(issue);
            assert!(mark.is_some_and(Mark::has_news), "who has a turn need not wait");
            self.model(index).plan = Some((turn["match_id"].clone(), mark, moves[at].clone()));
            let latency = self.members[index].latency;
            self.later(latency, Due::Choose(index));
        } else if id.is_none() {
            self.find_a_table(index, &turn);
        }
        match self.members[index].manner {
            Manner::Sleeps if self.random.one_in(20) => next += 100_000,
            Manner::Drops if self.random.one_in(20) => next += *self.random.pick(&[&10, &3_000, &200_000]),
            _ => {}
        }
        if !is_woken && self.is_expected(index) {
            self.later(next, Due::Turn(index));
        }
    }

    /// Whether anything may still happen to a model.
    fn is_expected(&mut self, index: usize) -> bool {
        let line = self.line(index);
        let comes = self.queue.values().any(|due| matches!(due, Due::Start));
        let runs = matches!(self.venue.stage(), Stage::Running(_));
        let plays = self.venue.all_tables().any(|table| table.players().contains(&line));
        comes || runs || plays || self.members[index].wants > 0 || self.model(index).waited > 0
    }

    /// It plays nothing. It waits at a table, or sits down at one.
    fn find_a_table(&mut self, index: usize, turn: &Value) {
        let token = self.members[index].key.clone();
        if !turn["match_id"].is_null() {
            self.model(index).waited += 1;
            if self.model(index).waited > PATIENCE || self.random.one_in(20) {
                self.model(index).waited = 0;
                let left = self.call_tool("leave", &json!({"token": token})).expect("a table that waits can be left");
                assert_eq!(left["left"], true);
            }
            return;
        }
        self.model(index).waited = 0;
        if self.members[index].wants == 0 {
            return;
        }
        self.members[index].wants -= 1;
        let game = self.games[self.random.any() as usize % self.games.len()].rules().name;
        match self.call_tool("open_table", &json!({"token": token, "game": game})) {
            Ok(table) => {
                assert_eq!(table["game"], game);
                self.model(index).waited = 1;
            }
            Err(rule) => assert!(rule.contains("league"), "only a league that runs keeps it from a table: {rule}"),
        }
    }

    /// It has thought, and moves.
    pub(super) fn choose(&mut self, index: usize) {
        let Some((id, mark, wanted)) = self.model(index).plan.take() else { return };
        let (token, issue) = (self.members[index].key.clone(), self.members[index].issue);
        let is_as_seen = self.venue.mcp_mark(issue) == mark;
        let thought = if self.random.one_in(4) { json!("I think.") } else { Value::Null };
        let made = json!({"token": token, "match_id": id, "move": wanted, "thought": thought});
        let told = self.call_tool("play", &made);
        assert!(told.is_ok() || !is_as_seen, "a listed move in time is played: {wanted} {told:?}");
        self.evening.called += u64::from(told.is_ok());
    }

    /// It tries what breaks a rule.
    fn try_nonsense(&mut self, index: usize, id: &Value) {
        let token = self.members[index].key.clone();
        let takes_all =
            self.venue.table(protocol_core::ids::MatchId::read(id.as_str().expect("an id")).expect("an id"));
        let takes_all = takes_all.is_some_and(|table| protocol_core::games::Game::has_audience(table.play.game()));
        for (tool, arguments) in [
            ("play", json!({"token": token, "match_id": id, "move": ["?"]})),
            ("play", json!({"token": token, "match_id": "R99M99", "move": 1})),
            ("play", json!({"token": token, "match_id": id})),
            ("play", json!({"match_id": id, "move": 1})),
            ("open_table", json!({"token": token, "game": "echo"})),
            ("join_league", json!({"name": format!("Agent {index}")})),
        ]
        .into_iter()
        .skip(takes_all.into())
        {
            let rule = self.call_tool(tool, &arguments).expect_err("it breaks a rule");
            assert!(!rule.is_empty() && !rule.contains(&token), "{rule}");
        }
    }

    /// What changed for a model in a step was rung, unless it is what it has just been told itself.
    pub(super) fn check_the_bells(&mut self, rung: &[u16]) {
        for index in 0..self.members.len() {
            let Tongue::Models(notes) = &self.members[index].speaks else { continue };
            let (before, now) = (notes.mark, self.venue.mcp_mark(self.members[index].issue));
            let is_news = now.is_some_and(Mark::has_news) && !before.is_some_and(Mark::has_news);
            let line = self.line(index);
            assert!(!is_news || before.is_none() || rung.contains(&line), "who waits for its turn is woken: {now:?}");
            self.model(index).mark = now;
            if is_news && self.members[index].manner != Manner::Sleeps {
                self.later(1, Due::Woken(index));
            }
        }
    }

    /// The power came back: the token is as good as before.
    pub(super) fn check_the_token(&mut self, index: usize) {
        let token = self.members[index].key.clone();
        self.call_tool("next_turn", &json!({"token": token, "wait_seconds": 0})).expect("a token outlives a power cut");
        *self.model(index) = Notes::default();
    }
}
