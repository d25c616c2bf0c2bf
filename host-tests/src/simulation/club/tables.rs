//! Members of the club that speak AGON. They sit down at tables, play chess and go or debate, vote on the debates of others, react, bet,
//! leave, drop and come back, and send what is not allowed. What a speaker said is what its opponent hears, byte for byte.

use protocol_core::games::Game;
use protocol_core::protocols::agon::{Answer, Ask, Asking, Audience, Cursor, Reply, Word};
use protocol_core::venue::Event;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr};

use super::super::{Text, agent, moves_for, written};
use super::{Club, Due, Manner, Tongue};

/// What an agent of AGON keeps.
#[derive(Default)]
pub(super) struct Notes {
    cursor: Cursor,
    audience: Audience,
    /// The match it plays in,
    id: Value,
    /// and what it said there last.
    said: String,
    /// A vote it has heard of.
    poll: Option<Value>,
}

const FROM: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 4, 1));

impl Club<'_> {
    fn ask_agon(&mut self, bearer: Option<&str>, ask: Ask<'_>, body: &[u8]) -> (u16, Value) {
        let answer = self.venue.ask_agon(self.moment(), Asking { ask, from: FROM, bearer, body });
        let text = written(&mut self.random, |sink| self.venue.write_agon(answer, 0, sink));
        (answer.status(), serde_json::from_slice(&text).expect("an answer is JSON"))
    }

    pub(super) fn register_for_tables(&mut self, index: usize) {
        let body = json!({"name": format!("Agent {index}"), "framework": "rust"}).to_string();
        let (status, answer) = self.ask_agon(None, Ask::Register, body.as_bytes());
        assert_eq!(status, 201, "a flawless registration: {answer}");
        self.keep();
        let issue = self.venue.issue_of_line(self.venue.players().len() as u16 - 1).expect("it dials in");
        let key = answer["api_key"].as_str().expect("a key").into();
        self.enter(Tongue::Sits(Notes::default()), key, issue);
        (self.members[index].is_there, self.members[index].is_busy) = (false, true);
        let at = self.random.within(0, 5_000);
        self.later(at, Due::Return(index));
    }

    fn table_notes(&mut self, index: usize) -> &mut Notes {
        match &mut self.members[index].speaks {
            Tongue::Sits(notes) => notes,
            _ => unreachable!("it speaks AGON"),
        }
    }

    pub(super) fn sits(&self, index: usize) -> bool {
        matches!(self.members[index].speaks, Tongue::Sits(_))
    }

    /// Elo in every room and Arena Points of an agent, as it is told.
    pub(super) fn agon_record(&self, index: usize) -> String {
        let mut text = Text::default();
        self.venue.write_agon(Answer::Me(self.members[index].issue), 0, &mut text).expect("there is room");
        let me: Value = serde_json::from_slice(&text.0).expect("an answer is JSON");
        format!("{} {}", me["elo"], me["arena_points"])
    }

    /// An agent that was not there is.
    pub(super) fn dial_in(&mut self, index: usize) {
        (self.members[index].is_there, self.members[index].is_busy) = (true, false);
        let (issue, player) = (self.members[index].issue, self.line(index));
        self.venue.handle(self.moment(), Event::Arrived { player });
        let notes = self.table_notes(index);
        (notes.cursor, notes.audience, notes.poll) = (Cursor::default(), Audience::default(), None);
        self.check_reply(index, Reply::Welcome);
        if let Some(expired) = self.venue.agon_expired(self.moment(), issue) {
            self.check_reply(index, expired);
        }
        self.want(index);
    }

    fn check_reply(&mut self, index: usize, reply: Reply) {
        let issue = self.members[index].issue;
        match reply {
            Reply::Nothing => return,
            Reply::Seated(..) => self.table_notes(index).cursor.has_sat_down(),
            Reply::LeftRoom(_) => self.table_notes(index).cursor.has_stood_up(),
            Reply::Refused(trouble) => assert!(!trouble.code().is_empty() && !trouble.words().is_empty()),
            _ => {}
        }
        let text = written(&mut self.random, |sink| self.venue.write_agon_reply(reply, issue, 0, sink));
        serde_json::from_slice::<Value>(&text).expect("an answer is JSON");
    }

    fn act(&mut self, index: usize, message: &Value) -> Reply {
        self.act_bytes(index, message.to_string().as_bytes())
    }

    pub(super) fn act_bytes(&mut self, index: usize, body: &[u8]) -> Reply {
        if !self.members[index].is_there {
            return Reply::Nothing;
        }
        let reply = self.venue.hear_agon(self.moment(), self.members[index].issue, body);
        self.check_reply(index, reply);
        reply
    }

    /// It sits down where others of the club may come, or in a room for debates.
    pub(super) fn sit(&mut self, index: usize) {
        let rooms = ["chess", "go"].into_iter().filter(|room| self.games.iter().any(|game| game.rules().name == *room));
        let debates = if self.random.one_in(8) { "spicy_debate" } else { "regular_debate" };
        let rooms: Vec<_> = rooms.chain([debates]).collect();
        let room = rooms[self.random.any() as usize % rooms.len()];
        let table = if self.random.one_in(4) { "blitz" } else { "open" };
        let reply = self.act(index, &json!({"action": "sit_table", "room": room, "table_id": table}));
        if let Reply::Refused(trouble) = reply {
            assert!(["ALREADY_IN_ROOM", "ROOM_FULL"].contains(&trouble.code()), "{trouble:?}");
        }
    }

    /// It says that it is there, for as long as it plays, and now and then something else.
    pub(super) fn beat(&mut self, index: usize) {
        if !self.members[index].is_there || moves_for(&self.venue, self.line(index)).is_none() {
            return;
        }
        self.act(index, &json!({"action": "heartbeat"}));
        let id = self.table_notes(index).id.clone();
        match self.random.within(0, 7) {
            0 => _ = self.act(index, &json!({"action": "react", "match_id": id, "emoji": "🎲"})),
            1 => _ = self.act(index, &json!({"action": "propose_wager", "match_id": id, "amount": 5})),
            2 => _ = self.act(index, &json!({"action": "accept_wager", "match_id": id})),
            3 => _ = self.act(index, &json!({"action": "cancel_wager", "match_id": id})),
            _ => {}
        }
        self.later(25_000, Due::Beat(index));
    }

    pub(super) fn noise(&mut self, index: usize) {
        let noise = agent::gibberish(&mut self.random);
        self.act_bytes(index, &noise);
        let action =
            *self.random.pick(&[&"vote", &"react", &"sit_table", &"send_message", &"propose_trade", &"leave_room"]);
        self.act(index, &json!({"action": action, "match_id": "9d7e", "room": "go", "table_id": "R0M0"}));
    }

    /// An agent says what it has to say in its match, be it nothing.
    pub(super) fn speak(&mut self, index: usize) {
        self.members[index].is_busy = false;
        let place = moves_for(&self.venue, self.line(index));
        let Some((match_id, seat, moves)) = place.filter(|_| self.members[index].is_there) else { return };
        let Some(table) = self.venue.table(match_id) else { return };
        let (takes, is_debate) = (table.play.hears(seat), table.play.game().has_audience());
        let id = self.table_notes(index).id.clone();
        if self.random.one_in(60) {
            self.act(index, &json!({"action": "leave_match", "match_id": id, "parting_shot": "שלום"}));
            return;
        }
        if self.members[index].manner == Manner::Fumbles && self.random.one_in(3) {
            let reply = self.act(index, &json!({"action": "send_message", "match_id": id, "content": ""}));
            assert!(matches!(reply, Reply::Refused(_)), "nobody says nothing");
        }
        let said = match is_debate {
            true => ["שלום 🙂 ", "\u{1}\"\\", "Well, ", "🎲"].concat().repeat(self.random.within(1, 60) as usize),
            false => {
                let Some(made) = moves.get(self.random.any() as usize % moves.len().max(1)) else { return };
                made["move"].as_str().or(made.as_str()).expect("a move is a text").to_string()
            }
        };
        let reply = self.act(index, &json!({"action": "send_message", "match_id": id, "content": said}));
        assert!(reply == Reply::Nothing || !takes, "what is said in time is heard: {said} {reply:?}");
        if reply == Reply::Nothing {
            self.evening.said += 1;
            self.table_notes(index).said = said;
        }
    }

    /// An agent hears what there is to hear, and does something about it.
    pub(super) fn listen(&mut self, index: usize) {
        let (issue, now) = (self.members[index].issue, self.moment());
        while self.members[index].is_there
            && let Some(picture) = self.venue.agon_picture(self.moment(), issue)
            && let Some(word) = self.table_notes(index).cursor.next(&picture)
        {
            let text = written(&mut self.random, |sink| match word {
                Word::Reconnect => self.venue.write_agon_reconnect(&picture, sink),
                word => self.venue.write_agon_word(word, &picture, sink),
            });
            let event: Value = serde_json::from_slice(&text).expect("a word is JSON");
            self.venue.agon_is_told(self.moment(), issue, word);
            if event["match_id"].is_string() {
                self.table_notes(index).id = event["match_id"].clone();
            }
            match word {
                Word::Start | Word::Reconnect => self.later(20_000, Due::Beat(index)),
                Word::Message => self.compare(index, &event),
                Word::Timer => self.think(index),
                Word::End => self.want(index),
                _ => {}
            }
        }
        while self.members[index].is_there
            && let Tongue::Sits(notes) = &mut self.members[index].speaks
            && let Some(aside) = self.venue.agon_aside(now, issue, &mut notes.audience)
        {
            let text = written(&mut self.random, |sink| self.venue.write_agon_aside(aside, sink));
            let event: Value = serde_json::from_slice(&text).expect("a word is JSON");
            if event["event"] == "voting_open" {
                self.table_notes(index).poll = Some(event);
                let after = self.random.within(0, 90_000);
                self.later(after, Due::Vote(index));
            }
        }
    }

    /// What an agent hears is what its opponent said, byte for byte, if that speaks AGON too and has not said anything else since.
    fn compare(&mut self, index: usize, event: &Value) {
        let said = |member: &super::Member| match &member.speaks {
            Tongue::Sits(notes) if notes.id == event["match_id"] => Some(notes.said.clone()),
            _ => None,
        };
        let others = self.members.iter().enumerate().filter(|(other, _)| *other != index);
        let Some(said) = others.filter_map(|(_, member)| said(member)).next() else { return };
        // What gave way to others' words is read from the film.
        if event.get("fen").is_none()
            && event.get("board").is_none()
            && event.get("content").is_some()
            && !said.is_empty()
        {
            assert_eq!(event["content"], said);
            self.evening.heard += 1;
        }
    }

    /// An agent votes on a debate of others, perhaps too late.
    pub(super) fn cast(&mut self, index: usize) {
        let Some(open) = self.table_notes(index).poll.take() else { return };
        let whom = &open["participants"][self.random.within(0, 1) as usize]["id"];
        let vote = json!({"action": "vote", "match_id": open["match_id"], "participant_id": whom});
        if let Reply::Refused(trouble) = self.act(index, &vote) {
            // A league that began has called the match off, or it is too late.
            let words = ["The vote is closed", "no such match has an audience that votes"];
            assert!(trouble.code() == "VALIDATION_FAILED" && words.contains(&trouble.words()), "{}", trouble.words());
        }
    }
}
