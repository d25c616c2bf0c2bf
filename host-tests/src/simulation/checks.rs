//! What must hold, at every moment and at the end. Standings, draws and verdicts are computed here once more, in the
//! plainest way, from the records and from what was said; nothing of the box's own arithmetic is used.

use std::collections::BTreeMap;
use std::rc::Rc;

use protocol_core::games::{Game, GameKind};
use protocol_core::ids::MatchId;
use protocol_core::journal::bytes::{Reader, Writer};
use protocol_core::referee::{Cause, Outcome};
use protocol_core::venue::{Pace, Pacing, Stage, Step};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::agent::{Conduct, Dialect};
use super::{Text, World};

/// News a line may owe its player, and one call that is under way.
const BACKLOG: u64 = 11;

impl World<'_> {
    /// After every step.
    pub(super) fn check_the_moment(&mut self) {
        self.read_log();
        let next = self.venue.next_deadline();
        assert!(next.is_none_or(|next| next >= self.now), "no deadline lies in the past: {next:?}, now {}", self.now);
        self.check_the_lines();
        self.check_the_results();
        self.check_the_tables();
    }

    /// Every line does what the world was told it does.
    fn check_the_lines(&mut self) {
        for line in 0..self.at_line.len() as u16 {
            let told = self.open[usize::from(line)].as_ref().map(|open| open.call);
            let open = self.venue.call(line).map(|call| call.id);
            assert_eq!(open, told, "line {line} changes only when poll_output has named it");
        }
        if self.random.one_in(16) && !self.at_line.is_empty() {
            let line = self.random.any() as usize % self.at_line.len();
            self.check_the_text(line as u16);
        }
    }

    /// An open call says the same as in the beginning; but what it shows of a game may tell that others have moved meanwhile.
    pub(super) fn check_the_text(&self, line: u16) {
        let Some(open) = &self.open[usize::from(line)] else { return };
        let mut text = Text::default();
        match self.venue.write_call(line, &mut text) {
            Ok(()) => {
                let (was, is) = (String::from_utf8_lossy(&open.text), String::from_utf8_lossy(&text.0));
                // A game in which both move in turn remembers its last move alone: who hears late that its own was taken hears of none.
                if was != is && open.is("MOVE_VALIDATION") {
                    let rest = [&was, &is].map(|text| {
                        let call: Value = serde_json::from_str(text).expect("a call is JSON");
                        let mut message = Dialect::unwrap_call(&call).2.clone();
                        message["validation"]["move"] = Value::Null;
                        message
                    });
                    return assert_eq!(rest[0], rest[1], "a call says the same for as long as it is open");
                }
                if was != is && open.is("MOVE_REQUEST") {
                    let rest = [&was, &is].map(|text| {
                        let call: Value = serde_json::from_str(text).expect("a call is JSON");
                        let mut message = Dialect::unwrap_call(&call).2.clone();
                        message.remove("game_state").expect("a question shows the game");
                        message
                    });
                    return assert_eq!(rest[0], rest[1], "a call asks the same for as long as it is open");
                }
                assert_eq!(was, is, "a call says the same for as long as it is open");
            }
            Err(_) => assert!(open.may_be_settled, "an open call has words: {}", String::from_utf8_lossy(&open.text)),
        }
    }

    /// Matches begin as soon as they can.
    fn check_the_tables(&mut self) {
        let waited = self.now - self.quiet_since;
        let Pacing { pace, break_ms, .. } = self.setup.pacing;
        let patience = BACKLOG * self.setup.timing.notice_ms + if pace == Pace::Watch { break_ms } else { 0 };
        for table in self.venue.tables() {
            let id = table.id;
            assert!(self.venue.record(id).is_none(), "a match that is being played has no result yet");
            let course = self.courses.entry((id.round, id.table)).or_default();
            if course.opened.is_none() {
                // Between two rounds everybody is told how the last one ended; nothing else is waited for.
                assert!(waited <= patience, "{id} was begun {waited} ms after it could have been");
                course.opened = Some(self.now);
            }
        }
        if !self.was_over && self.venue.is_over() {
            assert!(waited <= 2 * patience, "the league was over {waited} ms after its last result");
        }
        self.was_over = self.venue.is_over();
    }

    /// Matches end once, in time, and their results stand.
    fn check_the_results(&mut self) {
        self.take_the_steps();
        let recorded = self.records.iter().flatten().count();
        if recorded as u32 == self.venue.status().matches_completed {
            return;
        }
        let schedule = self.venue.schedule();
        for index in 0..self.records.len() {
            let (round, table) = schedule.at(index).expect("a record belongs to a match");
            let id = MatchId { round, table };
            let is = self.venue.record(id).copied();
            match (&self.records[index], is) {
                (Some(was), Some(is)) => assert_eq!(format!("{was:?}"), format!("{is:?}"), "a result stands"),
                (Some(_), None) => panic!("a result is not forgotten"),
                (None, Some(_)) => {
                    self.records[index] = is;
                    self.quiet_since = self.now;
                    self.matches += 1;
                    self.check_the_time(id);
                    self.check_the_replay(id);
                }
                (None, None) => {}
            }
        }
    }

    /// Steps are taken as they come, sorted by match.
    pub(super) fn take_the_steps(&mut self) {
        loop {
            let mut buf = [0; 1024];
            let mut out = Writer::new(&mut buf);
            self.venue.take_steps(&mut out);
            let taken = out.len();
            if taken == 0 {
                return;
            }
            let mut from = Reader::new(&buf[..taken]);
            let mut at = 0;
            while let Some(step) = Step::read(&mut from).expect("whole steps") {
                let end = taken - from.left();
                self.films.entry(step.of).or_default().extend_from_slice(&buf[at..end]);
                at = end;
            }
        }
    }

    /// A match has ended: played again from its seed and its steps it is the same game.
    fn check_the_replay(&self, id: MatchId) {
        let mut replay = self.venue.replay_of(id).expect("a match that is over can be replayed");
        let mut from = Reader::new(&self.films[&replay.of]);
        while let Some(step) = Step::read(&mut from).expect("whole steps") {
            assert_eq!(replay.follow(&step), Ok(()), "{id}: {step:?} follows");
        }
        assert!(replay.shot.ended.is_some(), "{id} has its end");
        let record = self.venue.record(id).expect("a result");
        assert_eq!(replay.game.digest(), record.digest, "{id} is replayed as it was played");
    }

    /// A match has ended: it took no longer than its players may take, and no longer for anybody else's sake.
    fn check_the_time(&mut self, id: MatchId) {
        let now = self.now;
        let timing = self.setup.timing;
        let line = self.venue.match_line(id).expect("a match has a line");
        let agents: Vec<usize> = line.player_ids().map(|id| self.agent_named(&id.to_string())).collect();
        let course = self.courses.entry((id.round, id.table)).or_default();
        assert_eq!(course.ended, None, "{id} ends once");
        course.ended = Some(now);
        let opened = course.opened.unwrap_or(now);
        let took = now - opened;
        let turns = super::moves_of(self.setup.game);
        // A retry may be rested for and then answered: its step twice, and a tenth more. Three bytes of rounding each.
        let retries = 2 * 7 * timing.retry_base_ms * 11 / 10 + 6;
        let played = timing.join_ms + retries + turns * (timing.notice_ms + timing.move_ms + retries);
        let Pacing { pace, turn_ms, match_ms, .. } = self.setup.pacing;
        let held = if pace == Pace::Fast { 0 } else { match_ms + turns * turn_ms };
        let played = played + held;
        let news = BACKLOG * timing.notice_ms;
        assert!(took <= news + played, "{id} took {took} ms");
        if let (Some(last), true) = (course.invited.values().max(), course.invited.len() == agents.len()) {
            assert!(now - last <= played, "{id} took {} ms once all were invited", now - last);
        }
        if agents.iter().all(|&agent| self.agents[agent].is_flawless()) {
            let slower = agents.iter().map(|&agent| self.agents[agent].latency).max().unwrap_or(0);
            // Announcements of the round before, the invitation, a call and a verdict for each turn.
            let own = (BACKLOG + 1 + 2 * turns) * slower + held;
            assert!(took <= own, "{id} waited for somebody else: {took} ms, its players need {own}");
            let record = self.venue.record(id).expect("it has just ended");
            let is_played = record.outcome().cause == Cause::Played;
            assert!(!is_played || pace == Pace::Fast || took >= match_ms, "{id} was over after {took} ms");
        }
    }

    fn agent_named(&self, id: &str) -> usize {
        self.agents.iter().position(|agent| agent.id == id).expect("an id is an agent's")
    }

    /// Nobody else's token and no running match's seed is in a text. The box's own referee's token opens nothing.
    pub(super) fn check_no_secrets(&self, text: &[u8], own: Option<&str>) {
        let shown = std::str::from_utf8(text).expect("what the box says is UTF-8");
        for (at, _) in shown.match_indices("tok_") {
            let rest = &shown[at..];
            let is_own = own.is_some_and(|own| own.is_empty() || rest.starts_with(own));
            assert!(is_own || rest.starts_with("tok_ref01_"), "a token is told to its owner only: {shown}");
        }
        let digits = text.split(|byte| !byte.is_ascii_hexdigit()).filter(|digits| digits.len() == 64);
        if let Some(power) = &self.power {
            let mut digits = digits.clone();
            let is_burnt = digits.any(|digits| power.burnt.iter().any(|seed| seed == digits));
            assert!(!is_burnt, "the seed of a match that was cut off is never shown: {shown}");
        }
        for id in digits.filter_map(|digits| self.seeds.get(digits)) {
            assert!(self.venue.record(*id).is_some(), "the seed of {id} is secret until it is over: {shown}");
        }
    }

    /// What a call says is true, and comes in its order.
    pub(super) fn check_the_message(&mut self, agent: usize, understood: bool, message: &Map<String, Value>) {
        let kind = message["message_type"].as_str().expect("a message has a type").to_string();
        let round = message.get("round_id").and_then(Value::as_u64).unwrap_or(0);
        if understood {
            self.heard[agent].push((kind.clone(), round));
        }
        match kind.as_str() {
            "GAME_INVITATION" => {
                let id = message["match_id"].as_str().expect("an invitation names its match");
                let course = self.courses.get_mut(&place(id)).expect("the match exists");
                course.invited.entry(agent).or_insert(self.now);
                let commitment = message["seed_commitment"].as_str().expect("a commitment").to_string();
                let first = course.commitment.get_or_insert(commitment.clone());
                assert_eq!(*first, commitment, "all players get the same commitment");
            }
            "GAME_OVER" => self.check_game_over(agent, message),
            "LEAGUE_STANDINGS_UPDATE" => self.check_standings(&message["standings"], round as u16),
            "LEAGUE_COMPLETED" => {
                self.check_standings(&message["final_standings"], self.venue.schedule().rounds());
                assert_eq!(message["champion"]["player_id"], message["final_standings"][0]["player_id"]);
            }
            "GAME_ERROR" => {
                assert!(!self.agents[agent].is_flawless(), "who keeps every rule is never asked twice: {message:?}");
            }
            _ => {}
        }
    }

    /// The seed is the one that was promised, decides the draw, and the draw decides the match.
    fn check_game_over(&mut self, agent: usize, message: &Map<String, Value>) {
        self.take_the_steps();
        let id = message["match_id"].as_str().expect("a result names its match");
        let seed = unhex(message["match_seed"].as_str().expect("a seed"));
        let commitment = hex(&Sha256::digest(&seed));
        assert_eq!(message["seed_commitment"], json!(commitment));
        if let Some(promised) = &self.courses[&place(id)].commitment {
            assert_eq!(*promised, commitment, "the seed of {id} is the one that was promised");
        }
        let result = &message["game_result"];
        let is_ruled = result["end_reason"] == "adjudicated";
        let mut draws = draws(&seed);
        let choices: Vec<Value> = match self.setup.game {
            GameKind::EvenOdd => {
                let number = draws(10) + 1;
                assert_eq!(result["drawn_number"], json!(number), "{id}: the seed decides the number");
                vec![result["choices"].clone()]
            }
            GameKind::EvenOdd10 => {
                let moves = result["game_summary"]["moves"].as_array().expect("moves");
                for played in moves {
                    assert_eq!(played["number"], json!(draws(100)), "{id}: the seed decides every number");
                }
                moves.clone()
            }
            _ => {
                if result["status"] != "TECHNICAL_LOSS" && !is_ruled && !self.owner.has_acted {
                    self.check_who_won(id, result);
                }
                return;
            }
        };
        let me = &self.agents[agent];
        if let (Some(chosen), "WIN" | "DRAW", false) =
            (self.chosen.get(&(agent, id.into())), result["status"].as_str().unwrap_or_default(), is_ruled)
        {
            let told: Vec<&str> = choices.iter().filter_map(|turn| turn[&me.id].as_str()).collect();
            assert_eq!(told, *chosen, "{id}: what {} chose is what counts", me.id);
        }
        if self.setup.game == GameKind::EvenOdd && result["status"] != "TECHNICAL_LOSS" && !is_ruled {
            let choices = result["choices"].as_object().expect("choices");
            let right: Vec<&String> =
                choices.iter().filter(|(_, choice)| **choice == result["number_parity"]).map(|(id, _)| id).collect();
            let winner = if right.len() == 1 { json!(right[0]) } else { Value::Null };
            assert_eq!(result["winner_player_id"], winner, "{id}: who names the parity wins");
        }
    }

    /// Who has won, and who gets which points, follows from how the game stands when it is played again.
    fn check_who_won(&self, id: &str, result: &Value) {
        let place = MatchId::read(id).expect("a match id");
        let mut replay = self.venue.replay_of(place).expect("a match that is over can be replayed");
        let mut from = Reader::new(&self.films[&replay.of]);
        while let Some(step) = Step::read(&mut from).expect("whole steps") {
            assert_eq!(replay.follow(&step), Ok(()), "{id}: {step:?} follows");
        }
        let line = self.venue.match_line(place).expect("a match has a line");
        let standing = replay.game.standing().expect("it has been played to its end");
        let players = line.player_ids().map(|id| id.to_string()).zip(standing.places);
        let first: Vec<String> = players.filter(|(_, place)| *place == 1).map(|(player, _)| player).collect();
        let winner = if let [winner] = &first[..] { json!(winner) } else { Value::Null };
        assert_eq!(result["winner_player_id"], winner, "{id}: {result}");
        let points = result["score"].as_object().expect("points");
        assert_eq!(points.len(), usize::from(replay.game.seats()), "{id}: {result}");
        for (player, points) in points {
            let due = if !first.contains(player) {
                0
            } else if first.len() == 1 {
                3
            } else {
                1
            };
            assert_eq!(*points, due, "{id}: {result}");
        }
        if self.setup.game == GameKind::Dance {
            check_dance(id, result);
        }
    }

    /// A table that was told, against one computed from the records of the first `rounds` rounds.
    fn check_standings(&mut self, told: &Value, rounds: u16) {
        let told: Vec<Row> = told
            .as_array()
            .expect("standings are a list")
            .iter()
            .map(|row| {
                let number = |name: &str| row[name].as_u64().expect("a number");
                let id = row["player_id"].as_str().expect("an id").to_string();
                let counts = ["points", "wins", "draws", "losses", "technical_losses", "played"].map(number);
                assert!(number("rank") > 0);
                Row { id, counts }
            })
            .collect();
        if self.owner.told.get(&rounds).is_some_and(|earlier| earlier.contains(&told)) {
            return;
        }
        assert_eq!(told, *self.standings_after(rounds), "the standings after round {rounds} follow from the records");
    }

    fn standings_after(&mut self, rounds: u16) -> Rc<Vec<Row>> {
        if !self.standings.contains_key(&rounds) {
            self.standings.insert(rounds, Rc::new(self.naive_standings(rounds)));
        }
        self.standings[&rounds].clone()
    }

    pub(super) fn naive_standings(&self, rounds: u16) -> Vec<Row> {
        let mut rows: BTreeMap<String, [u64; 6]> = BTreeMap::new();
        // Against whom it played, with what each of them took, and what it took itself.
        type Met = (Vec<(String, u64)>, u64);
        let mut met: BTreeMap<String, Vec<Met>> = BTreeMap::new();
        for player in self.venue.players() {
            rows.insert(player.id().to_string(), [0; 6]);
        }
        for id in (1..=rounds).flat_map(|round| self.venue.matches_of(round)) {
            let line = self.venue.match_line(id).expect("a match has a line");
            let record = self.venue.record(id).expect("a closed round has its results");
            let ids: Vec<String> = line.player_ids().map(|id| id.to_string()).collect();
            let Outcome { winners, forfeits, .. } = record.outcome();
            let counts = |seat| match winners.len() {
                1 if winners.has(seat) => [3, 1, 0, 0, 0, 1],
                _ if winners.has(seat) => [1, 0, 1, 0, 0, 1],
                _ => [0, 0, 0, 1, u64::from(forfeits.has(seat)), 1],
            };
            for (seat, mine) in (0..).zip(&ids) {
                let [points, ..] = counts(seat);
                let row = rows.get_mut(mine).expect("a player has a row");
                row.iter_mut().zip(counts(seat)).for_each(|(sum, count)| *sum += count);
                let others = (0..).zip(&ids).filter(|(_, other)| *other != mine);
                let others = others.map(|(seat, other)| (other.clone(), counts(seat)[0])).collect();
                met.entry(mine.clone()).or_default().push((others, points));
            }
        }
        // What it took from matches with anybody who is level with it.
        let direct = |id: &String| -> u64 {
            let is_level = |(other, _): &(String, u64)| rows[other][0] == rows[id][0];
            let matches = met.get(id).into_iter().flatten();
            matches.filter(|(others, _)| others.iter().any(is_level)).map(|(_, points)| points).sum()
        };
        // The points of everybody it beat, twice, and of everybody it drew with.
        let beaten = |id: &String| -> u64 {
            let matches = met.get(id).into_iter().flatten();
            let others =
                matches.flat_map(|(others, mine)| others.iter().map(move |(other, theirs)| (other, mine, theirs)));
            others
                .map(|(other, mine, theirs)| match (mine, theirs) {
                    (mine, theirs) if mine > theirs => 2 * rows[other][0],
                    (1, 1) => rows[other][0],
                    _ => 0,
                })
                .sum()
        };
        let number = |id: &String| id.trim_start_matches('P').parse::<u64>().expect("a number");
        let mut order: Vec<&String> = rows.keys().collect();
        order.sort_by_key(|id| {
            let [points, wins, _, _, technical, _] = rows[*id];
            let down = std::cmp::Reverse;
            (down(points), down(direct(id)), down(wins), down(beaten(id)), technical, number(id))
        });
        order.into_iter().map(|id| Row { id: id.clone(), counts: rows[id] }).collect()
    }

    /// When a league is over.
    pub(super) fn check_the_end(&mut self) {
        assert_eq!(self.venue.stage(), Stage::Completed);
        assert!(self.venue.tables().next().is_none(), "no match is left over");
        assert!(self.records.iter().all(Option::is_some), "every match has a result");
        assert_eq!(self.venue.next_deadline(), None, "nothing is left to wait for");
        if self.venue.log().room() >= 512 {
            assert!(self.courses.values().all(|course| course.results == 1), "every match ends exactly once");
        }
        self.venue.refresh_standings();
        let told: Vec<String> = self.venue.standings().map(|row| row.player_id.0.to_string()).collect();
        let naive: Vec<String> =
            self.naive_standings(self.venue.schedule().rounds()).into_iter().map(|row| row.id).collect();
        assert_eq!(told, naive);
        for line in 0..self.at_line.len() {
            let agent = &self.agents[self.at_line[line]];
            let player = &self.venue.players()[line];
            let is_uncut = self.power.as_ref().is_none_or(|power| power.cuts == 0) && !self.owner.has_acted;
            // A message of its own may come for a match that has been begun again meanwhile.
            if agent.is_flawless() && (!self.owner.has_acted || agent.conduct == Conduct::Honest) {
                let broken: Vec<_> = player.compliance.broken().collect();
                assert!(broken.is_empty(), "{} keeps every rule: {broken:?}", agent.id);
                if is_uncut {
                    self.check_the_order(line);
                }
            }
            if agent.is_sound() && !agent.has_left {
                let row = self.venue.standings().find(|row| row.player_id.0 == player.id()).expect("a row");
                assert_eq!(row.technical_losses, 0, "{} ({:?}) answered everything", agent.id, agent);
            }
            // Who says too late that it knows news by another name has missed it.
            let refuses_late = agent.other_names && matches!(agent.conduct, Conduct::IgnoresNews(_));
            if is_uncut && agent.is_sound() && agent.registers_in == agent.dialect && !refuses_late {
                self.check_the_results_told(line);
            }
        }
    }

    /// GAME_OVER comes once for every match, and LEAGUE_COMPLETED last.
    fn check_the_results_told(&self, line: usize) {
        let agent = self.at_line[line];
        let heard = &self.heard[agent];
        let results: Vec<u64> = heard.iter().filter(|(kind, _)| kind == "GAME_OVER").map(|(_, round)| *round).collect();
        let row = self.venue.standings().find(|row| row.player_id.0 == self.venue.players()[line].id());
        let (played, agent) = (usize::from(row.expect("a row").played), &self.agents[agent]);
        assert_eq!(results.len(), played, "{agent:?} hears every result once: {heard:?}");
        assert!(results.is_sorted_by(|a, b| a < b), "results come once and in order: {results:?}");
        let last = heard.last().map(|(kind, _)| kind.as_str());
        assert_eq!(last, Some("LEAGUE_COMPLETED"), "{agent:?}");
    }

    /// A flawless player heard each round from its beginning to its end.
    fn check_the_order(&self, line: usize) {
        let agent = self.at_line[line];
        let id = &self.agents[agent].id;
        let mut heard = self.heard[agent].iter().map(|(kind, round)| (kind.as_str(), *round)).peekable();
        let rounds = u64::from(self.venue.schedule().rounds());
        for round in 1..=rounds {
            assert_eq!(heard.next(), Some(("ROUND_ANNOUNCEMENT", round)), "{id}");
            let plays = self.venue.matches_of(round as u16).filter_map(|id| self.venue.match_line(id));
            let has_bye = !{ plays }.any(|line| line.player_ids().any(|player| player.to_string() == *id));
            if !has_bye {
                heard.next_if_eq(&("GAME_INVITATION", round));
                // What it did without being asked is confirmed as well.
                let acted = self.acted.contains(&agent);
                while heard.next_if_eq(&("MOVE_REQUEST", round)).is_some()
                    || acted && heard.peek() == Some(&("MOVE_VALIDATION", round))
                {
                    // Who answers by an act, or has crossed one of another player, is asked again.
                    while super::has_acts(self.setup.game) && heard.next_if_eq(&("MOVE_REQUEST", round)).is_some() {}
                    assert_eq!(heard.next(), Some(("MOVE_VALIDATION", round)), "{id}");
                }
                heard.next_if_eq(&("CHOOSE_PARITY_CALL", round));
                assert_eq!(heard.next(), Some(("GAME_OVER", round)), "{id}");
            }
            assert_eq!(heard.next(), Some(("LEAGUE_STANDINGS_UPDATE", round)), "{id}");
            assert_eq!(heard.next(), Some(("ROUND_COMPLETED", round)), "{id}");
        }
        assert_eq!(heard.next(), Some(("LEAGUE_COMPLETED", 0)), "{id}");
        assert_eq!(heard.next(), None, "nothing follows LEAGUE_COMPLETED");
    }
}

/// Who is left alone has won, else who has the most points.
fn check_dance(id: &str, result: &Value) {
    let left = result["standing"].as_array().expect("who is left");
    let scores = result["final_score"].as_object().expect("scores");
    let most = scores.values().filter_map(Value::as_u64).max();
    let ahead: Vec<&str> = match left.as_slice() {
        [alone] => vec![alone.as_str().expect("an id")],
        _ => scores.iter().filter(|(_, score)| score.as_u64() == most).map(|(id, _)| id.as_str()).collect(),
    };
    let winner = if let [winner] = ahead[..] { json!(winner) } else { Value::Null };
    assert_eq!(result["winner_player_id"], winner, "{id}: {result}");
}

/// The round and table in a match's id.
fn place(id: &str) -> (u16, u16) {
    MatchId::read(id).map(|id| (id.round, id.table)).expect("a match id")
}

/// A line of a table: points, wins, draws, losses, technical losses, matches.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    id: String,
    counts: [u64; 6],
}

/// The draws of a seed, as the documentation tells anybody to compute them.
fn draws(seed: &[u8]) -> impl FnMut(u64) -> u64 {
    let mut i = 0u32;
    move |n| {
        loop {
            let hash = Sha256::digest([seed, &i.to_be_bytes()].concat());
            i += 1;
            let x = u64::from(u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]));
            if x < n * ((1 << 32) / n) {
                return x % n;
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits")).collect()
}
