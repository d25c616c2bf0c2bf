//! Members of the club that speak MoltGame. They know nothing but what they are answered: a heartbeat says which room they are in
//! and which moves they have, and another agent's page in which room that one is. They open rooms, come into others, leave them,
//! move, try what is not allowed, fall silent and come back.

use protocol_core::games::{Game, GameKind, Seat, Table, Viewer};
use protocol_core::ids::MatchId;
use protocol_core::journal::bytes::Reader;
use protocol_core::protocols::moltgame::{Ask, Asking};
use protocol_core::venue::{Deed, FilmId, Stage, Step};
use serde::Serializer;
use serde::ser::SerializeMap;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr};

use super::super::written;
use super::{Club, Due, Manner, Tongue};

/// So many heartbeats in a row an agent waits for others before it leaves a room.
const PATIENCE: u32 = 12;

/// What an agent of MoltGame keeps.
#[derive(Default)]
pub(super) struct Notes {
    /// What others call it.
    id: String,
    /// The room it is about to move in, the version of the game it has seen, and its move.
    plan: Option<(Value, Value, Value)>,
    /// How many heartbeats it has waited.
    waited: u32,
}

/// A table where an agent plays: which match, in which seat, and by what its film is known.
type Place = (MatchId, Seat, FilmId);

impl Club<'_> {
    /// Says something of MoltGame, as an agent or as nobody.
    fn ask_as(&mut self, key: Option<&str>, ask: Ask<'_>, body: &[u8]) -> (u16, Value) {
        self.ask_while(true, key, ask, body)
    }

    /// The same while the box has time for those who ask too often, or has none.
    fn ask_while(&mut self, has_time: bool, key: Option<&str>, ask: Ask<'_>, body: &[u8]) -> (u16, Value) {
        let from = IpAddr::V4(Ipv4Addr::new(10, 0, 3, 1));
        let authorization = key.map(|key| format!("Bearer {key}"));
        let asking = Asking { ask, from, authorization: authorization.as_deref(), query: "", body, has_time };
        let answer = self.venue.ask_moltgame(self.moment(), asking);
        let text = written(&mut self.random, |sink| self.venue.write_moltgame(&answer, sink));
        let value: Value = serde_json::from_slice(&text).expect("an answer is JSON");
        let is_refused = value["success"] == false;
        assert_eq!(answer.status() != 200, is_refused, "what is refused says so: {value}");
        assert!(!is_refused || value["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "and why: {value}");
        assert!(answer.status() != 401 || key.is_none(), "a key opens the box for as long as it stands: {value}");
        (answer.status(), value)
    }

    fn by(&mut self, index: usize, ask: Ask<'_>, body: Value) -> (u16, Value) {
        let key = self.members[index].key.clone();
        self.ask_as(Some(&key), ask, body.to_string().as_bytes())
    }

    pub(super) fn register(&mut self, index: usize) {
        let body = json!({"name": format!("Agent {index}")}).to_string();
        let (status, answer) = self.ask_as(None, Ask::Register, body.as_bytes());
        assert_eq!(status, 200, "a flawless registration: {answer}");
        self.keep();
        let text = |member: &str| answer["agent"][member].as_str().expect("a text").to_string();
        let (id, key) = (text("agent_id"), text("api_key"));
        let line = self.venue.players().len() - 1;
        let issue = self.venue.issue_of_line(line as u16).expect("it comes and asks");
        self.enter(Tongue::Polls(Notes { id, ..Notes::default() }), key, issue);
        let at = self.random.within(0, 5_000);
        self.later(at, Due::Poll(index));
    }

    fn notes(&mut self, index: usize) -> &mut Notes {
        match &mut self.members[index].speaks {
            Tongue::Polls(notes) => notes,
            _ => unreachable!("it speaks MoltGame"),
        }
    }

    /// The table where an agent plays. It is never at two.
    fn place(&self, index: usize) -> Option<Place> {
        let line = self.line(index);
        let seat = |players: &[u16]| players.iter().position(|&other| other == line).map(|seat| seat as Seat);
        let mut all = self
            .venue
            .all_tables()
            .filter_map(|table| Some((table.id, seat(table.players())?, FilmId::of(table.play.seed()))));
        let place = all.next();
        assert!(all.next().is_none(), "nobody plays at two tables");
        place
    }

    /// How many moves of a seat are on film.
    fn filmed(&mut self, (_, seat, film): Place) -> usize {
        self.take_the_steps();
        let mut from = Reader::new(self.films.get(&film).map_or(&[], |bytes| &bytes[..]));
        let steps = std::iter::from_fn(|| Step::read(&mut from).expect("whole steps"));
        steps.filter(|step| matches!(step.deed, Deed::Moved { seat: mover, late: false, .. } if mover == seat)).count()
    }

    /// A heartbeat, and what an agent does about it.
    pub(super) fn poll(&mut self, index: usize) {
        let (key, has_time) = (self.members[index].key.clone(), !self.random.one_in(4));
        let (status, pulse) = self.ask_while(has_time, Some(&key), Ask::Heartbeat, b"");
        let mut next = 1 + self.random.within(self.members[index].latency / 2, 2 * self.members[index].latency + 50);
        match (status, pulse["error"].as_str()) {
            (200, _) => self.hear_pulse(index, &pulse),
            (429, _) => assert!(!has_time, "who asks often is answered where there is time: {pulse}"),
            (404, Some("no_active_game")) => {
                assert!(self.place(index).is_none(), "who plays is told of its game");
                self.find_a_room(index);
            }
            (400, Some("game_not_started")) => {
                assert!(self.place(index).is_none(), "who plays is told of its game, not of a room that waits");
                self.wait_in_room(index, &pulse["room_id"]);
            }
            _ => panic!("a heartbeat is answered, or there is no game: {pulse}"),
        }
        match self.members[index].manner {
            Manner::Sleeps if self.random.one_in(20) => next += 100_000,
            Manner::Drops if self.random.one_in(20) => next += *self.random.pick(&[&10, &3_000, &200_000]),
            _ => {}
        }
        if self.is_awaited(index) {
            self.later(next, Due::Poll(index));
        }
    }

    /// Whether anything may still happen to an agent that asks.
    fn is_awaited(&self, index: usize) -> bool {
        let league_comes = self.queue.values().any(|due| matches!(due, Due::Start));
        let league_runs = matches!(self.venue.stage(), Stage::Running(_));
        let Tongue::Polls(notes) = &self.members[index].speaks else { return false };
        league_comes || league_runs || notes.waited > 0 || self.members[index].wants > 0 || self.place(index).is_some()
    }

    /// It is told how its game stands.
    fn hear_pulse(&mut self, index: usize, pulse: &Value) {
        self.notes(index).waited = 0;
        let place = self.place(index);
        if pulse["game_over"] == true {
            assert_eq!((&pulse["your_turn"], &pulse["legal_moves"]), (&json!(false), &json!([])), "{pulse}");
            assert!(place.is_none(), "a game that is played is not over: {pulse}");
            let (_, again) = self.by(index, Ask::Heartbeat, json!({}));
            assert_ne!(again["game_over"], true, "and this is told once to who names no room: {again}");
            // Who names the room may look at it for as long as it is kept.
            let (status, again) = self.by(index, Ask::Heartbeat, json!({"room_id": pulse["room_id"]}));
            assert!(status == 200 && again["game_over"] == true, "{again}");
            return;
        }
        let place = place.unwrap_or_else(|| panic!("a game that is over is told to be: {pulse}"));
        let (id, seat, _) = place;
        if self.random.one_in(4) {
            self.check_what_is_hidden(id, seat, &pulse["game_state"]);
        }
        let play = &self.venue.table(id).expect("it plays there").play;
        let (hears, takes) = (play.hears(seat), play.takes(seat, None));
        assert_eq!(pulse["your_turn"] == true, hears, "whose turn it is: {pulse}");
        if self.random.one_in(16) {
            self.want_too_much(index, &pulse["room_id"]);
        }
        if self.random.one_in(16) {
            self.talk(index, pulse["room_id"].as_str().expect("an id"));
        }
        let moves = pulse["legal_moves"].as_array().expect("moves").clone();
        assert!(!moves.is_empty() || !hears, "whoever may move has a move: {pulse}");
        assert!(moves.is_empty() || takes, "nobody else has one: {pulse}");
        if !hears {
            if self.random.one_in(6) {
                let before = self.filmed(place);
                let (status, answer) =
                    self.by(index, Ask::Move, json!({"room_id": pulse["room_id"], "move": ["pass"]}));
                assert!(status == 400 || takes, "it is not its turn: {answer}");
                assert_eq!(self.filmed(place) - before, usize::from(status == 200), "and nothing was played");
            }
            return;
        }
        // The first of them, or any.
        let at = if self.random.one_in(3) { 0 } else { self.random.any() as usize % moves.len() };
        if self.members[index].manner == Manner::Fumbles && self.random.one_in(2) {
            self.fumble(index, place, &pulse["room_id"]);
        }
        if self.notes(index).plan.is_none() {
            self.notes(index).plan =
                Some((pulse["room_id"].clone(), pulse["state_version"].clone(), moves[at].clone()));
            let latency = self.members[index].latency;
            self.later(latency, Due::Submit(index));
        }
    }

    /// It has thought, and moves; perhaps twice, because the answer was lost.
    pub(super) fn submit(&mut self, index: usize) {
        let Some((room, version, wanted)) = self.notes(index).plan.take() else { return };
        let (_, pulse) = self.by(index, Ask::Heartbeat, json!({"room_id": room}));
        let is_as_seen = pulse["your_turn"] == true && pulse["state_version"] == version;
        let body = json!({"room_id": room, "move": wanted});
        for is_first in [true, false] {
            let place = self.place(index);
            let before = place.map(|place| self.filmed(place));
            let (status, answer) = self.by(index, Ask::Move, body.clone());
            assert!(status == 200 || !is_as_seen || !is_first, "a listed move in time is played: {wanted} {answer}");
            if let (Some(place), Some(before)) = (place, before) {
                let more = self.filmed(place) - before;
                assert_eq!(more, usize::from(status == 200), "what is answered with success is on film: {answer}");
                self.evening.polled += more as u64;
            } else {
                assert_ne!(status, 200, "nobody plays without a table");
            }
            if !self.random.one_in(10) {
                return;
            }
        }
    }

    /// It tries what breaks a rule.
    fn fumble(&mut self, index: usize, place: Place, room: &Value) {
        let before = self.filmed(place);
        // In a debate anything may be said.
        let takes_all = self.venue.table(place.0).is_some_and(|table| table.play.game().has_audience());
        for (wanted, status, code) in [
            (json!({"room_id": room, "move": ["?"]}), 400, "invalid_move"),
            (json!({"room_id": room, "move": "?"}), 400, "invalid_move"),
            (json!({"room_id": room}), 400, "invalid_request"),
            (json!({"move": ["?"]}), 400, "invalid_request"),
            (json!({"room_id": "R1M1", "move": ["?"]}), 400, "invalid_room_id"),
        ]
        .into_iter()
        .skip(takes_all.into())
        {
            let (told, answer) = self.by(index, Ask::Move, wanted);
            assert_eq!((told, &answer["error"]), (status, &json!(code)), "{answer}");
        }
        assert_eq!(self.filmed(place), before, "what is refused is not played");
    }

    /// Whoever is in a room comes into no other, and cannot leave one that plays.
    fn want_too_much(&mut self, index: usize, room: &Value) {
        let game = self.game_id();
        for ask in [Ask::Open(&game), Ask::Match(&game), Ask::Join(room.as_str().expect("an id"))] {
            let (_, answer) = self.by(index, ask, json!({}));
            assert_eq!((&answer["error"], &answer["room_id"]), (&json!("already_in_room"), room), "{ask:?}");
        }
        let (_, answer) = self.by(index, Ask::Leave(room.as_str().expect("an id")), json!({}));
        assert_eq!(answer["error"], "cannot_leave_non_waiting", "{answer}");
    }

    /// It says something to the others in the room.
    fn talk(&mut self, index: usize, room: &str) {
        let text = format!("{:?} at {}", self.members[index].manner, self.now);
        let (status, said) = self.by(index, Ask::Say(Some(room)), json!({"text": text}));
        assert!(status == 200 || status == 429, "an agent may talk, but not all the time: {said}");
        assert!(status == 429 || said["text"] == text && said["room_id"] == room, "what was said is heard: {said}");
    }

    /// The id of a game that is played in rooms this evening.
    fn game_id(&mut self) -> String {
        let game = self.games[self.random.any() as usize % self.games.len()];
        let (_, answer) = self.ask_as(None, Ask::Games, b"");
        let games = answer["games"].as_array().expect("games");
        let is = |kind: GameKind| games.iter().find(|game| game["engine_type"] == kind.rules().name);
        let listed = is(game).or_else(|| is(GameKind::Echo)).expect("echo is there");
        listed["id"].as_str().expect("an id").to_string()
    }

    /// It is in no room. If it wants a game, it opens a room, comes into another's, or lets itself be matched.
    fn find_a_room(&mut self, index: usize) {
        self.notes(index).waited = 0;
        if self.members[index].wants == 0 {
            return;
        }
        self.members[index].wants -= 1;
        let game = self.game_id();
        let others: Vec<String> = { &self.members }
            .iter()
            .filter_map(|member| if let Tongue::Polls(notes) = &member.speaks { Some(notes.id.clone()) } else { None })
            .collect();
        let other = others[self.random.any() as usize % others.len()].clone();
        let (_, other) = self.ask_as(None, Ask::Agent(&other), b"");
        let (ask, body) = match (self.random.within(0, 3), other["room_id"].as_str()) {
            (0, _) => (Ask::Open(&game), json!({"seats": self.random.within(2, 4)})),
            (1, _) => (Ask::Open(&game), json!({})),
            (2, Some(room)) => (Ask::Join(room), json!({})),
            _ => (Ask::Match(&game), json!({})),
        };
        let (status, answer) = self.by(index, ask, body);
        let (_, me) = self.by(index, Ask::Me, json!({}));
        if status == 200 {
            self.notes(index).waited = 1;
            let id = json!(self.notes(index).id);
            assert!(answer["players"].as_array().is_some_and(|players| players.contains(&id)), "{answer}");
            let is_there = me["room_id"] == answer["room_id"] || answer["status"] == "finished";
            assert!(is_there, "it is in the room it came into: {answer}, {me}");
        } else {
            let code = answer["error"].as_str().expect("a code");
            // Whoever plays in a league has its rooms there, and no others.
            let is_in_league = code == "already_in_room" && matches!(self.venue.stage(), Stage::Running(_));
            let may_be = ["invalid_request", "room_full", "room_not_found"];
            assert!(is_in_league || may_be.contains(&code), "{ask:?}: {answer}");
            assert_eq!(me["room_id"], Value::Null, "and is in none where it was refused");
        }
    }

    /// It waits for others, but not for ever.
    fn wait_in_room(&mut self, index: usize, room: &Value) {
        self.notes(index).waited += 1;
        if self.notes(index).waited <= PATIENCE && !self.random.one_in(20) {
            return;
        }
        let (status, answer) = self.by(index, Ask::Leave(room.as_str().expect("an id")), json!({}));
        assert_eq!(status, 200, "a room that waits can be left: {answer}");
        self.notes(index).waited = 0;
        let (_, me) = self.by(index, Ask::Me, json!({}));
        assert_eq!(me["room_id"], Value::Null, "who has left a room is in none");
    }

    /// What others hold, and neither the public nor the agent itself may see, is not in what it is told.
    fn check_what_is_hidden(&self, id: MatchId, seat: Seat, told: &Value) {
        let game = self.venue.table(id).expect("it plays there").play.game();
        let view = |viewer| {
            let mut map = serde_json::value::Serializer.serialize_map(None).expect("a map");
            game.view(viewer, Table(&[]), &mut map).expect("a view is JSON");
            lists(&map.end().expect("a view is JSON"))
        };
        let (own, public, told) = (view(Viewer::Seat(seat)), view(Viewer::Spectator), lists(told));
        for other in (0..game.seats()).filter(|other| *other != seat) {
            let hidden =
                view(Viewer::Seat(other)).into_iter().filter(|list| !own.contains(list) && !public.contains(list));
            for list in hidden {
                assert!(!told.contains(&list), "{id}: seat {seat} is shown what seat {other} holds: {list}");
            }
        }
    }

    /// The power came back: keys open what they opened, and ratings are those of before.
    pub(super) fn check_the_key(&mut self, index: usize) {
        let (status, me) = self.by(index, Ask::Me, json!({}));
        let rating = self.venue.players()[usize::from(self.line(index))].rating;
        let (id, name) = (self.notes(index).id.clone(), format!("Agent {index}"));
        assert_eq!((status, &me["agent_id"], &me["name"]), (200, &json!(id), &json!(name)), "{me}");
        assert_eq!((&me["rating"], &me["games_played"]), (&json!(rating.points()), &json!(rating.games)), "{me}");
        let notes = self.notes(index);
        (notes.plan, notes.waited) = (None, 0);
    }
}

/// All lists of several things in a text.
fn lists(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => {
            let own = (all.len() > 1).then(|| value.to_string());
            own.into_iter().chain(all.iter().flat_map(lists)).collect()
        }
        Value::Object(members) => members.values().flat_map(lists).collect(),
        _ => Vec::new(),
    }
}
