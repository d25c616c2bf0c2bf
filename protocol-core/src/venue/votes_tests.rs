//! Debates in a league, from the first speech to the last vote, and what a power cut does to them.

extern crate std;

use core::net::IpAddr;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::film_tests::{steps, taken_of};
use super::restart_tests::Pieces;
use super::tests::{Room, config, perfect};
use super::*;
use crate::games::{Game, GameKind};

const ID: MatchId = MatchId { round: 1, table: 1 };

fn debate() -> GameKind {
    GameKind::named("regular_debate").unwrap()
}

/// A player who says this, with the number of its turn before it.
fn speaker(words: &str) -> impl FnMut(u16, &Value) -> Option<Value> {
    move |player, call| match call["params"]["message_type"].as_str() {
        Some("MOVE_REQUEST") => {
            let turn = &call["params"]["game_state"]["turn_number"];
            let text = format!("{turn} {words}");
            Some(json!({"jsonrpc":"2.0","result":{"move":{"text":text}},"id":call["id"]}))
        }
        _ => perfect(player, call),
    }
}

fn room_of(game: GameKind) -> Room {
    let mut room = Room::new(Config { game, ..config() });
    room.venue.keep_facts();
    for (i, name) in ["Ada", "Bob"].into_iter().enumerate() {
        room.register(name, 8101 + i as u16);
    }
    room
}

/// Plays until the vote is open: what was asked of players by then, and the film.
fn talk(room: &mut Room, journal: &mut Pieces, words: &str) -> (Vec<Value>, Vec<u8>) {
    let (mut respond, mut asked, mut film) = (speaker(words), Vec::new(), Vec::new());
    room.venue.command(room.now, Command::Start).unwrap();
    for _ in 0..200 {
        journal.keep(&mut room.venue);
        film.extend(taken_of(&mut room.venue, 300));
        while room.venue.poll_output().is_some() {}
        for player in 0..2 {
            room.carry_out(player);
            if let Some(call) = room.call(player) {
                let reply = respond(player, &call).unwrap();
                room.answer(player, reply);
                asked.push(call["params"].clone());
            }
        }
        if room.venue.poll(room.now, ID).is_some_and(|poll| poll.left_ms.is_some()) {
            journal.keep(&mut room.venue);
            film.extend(taken_of(&mut room.venue, 300));
            return (asked, film);
        }
    }
    panic!("the vote never opened");
}

fn page(room: &mut Room, key: &str, seat: u8) -> Result<(), NotCounted> {
    room.venue.vote(room.now, ID, Voter::Page(key), IpAddr::from([10, 0, 1, 1]), seat)
}

fn wait(room: &mut Room, ms: u64) {
    let at = room.now.ms + ms;
    room.now = Now { ms: at, utc: room.now.utc_at(at) };
    room.venue.handle(room.now, Event::Tick);
}

fn votes(room: &Room) -> [u16; 2] {
    let [a, b, ..] = room.venue.poll(room.now, ID).unwrap().votes;
    [a, b]
}

/// The speeches on a film, whole.
fn speeches(film: &[u8]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for step in steps(film) {
        match step.deed {
            Deed::Moved { .. } => all.push(String::new()),
            Deed::Says(_, part) => all.last_mut().unwrap().push_str(part),
            _ => {}
        }
    }
    all
}

#[test]
fn a_debate_is_spoken_heard_filmed_and_voted_on() {
    let (mut room, mut journal) = (room_of(debate()), Pieces::default());
    let words = "עברית, \"ציטוט\" ו-🙂 ".repeat(40);
    let (asked, mut film) = talk(&mut room, &mut journal, &words);
    let said = speeches(&film);
    assert_eq!(said.len(), 20);
    for (at, text) in said.iter().enumerate() {
        assert_eq!(*text, format!("{} {words}", at + 1), "byte for byte");
    }
    // Whoever speaks next has heard all of what was said last.
    let heard: Vec<_> = asked.iter().filter(|one| one["message_type"] == "MOVE_REQUEST").collect();
    assert_eq!(heard.len(), 20);
    for (at, one) in heard.iter().enumerate().skip(1) {
        let last = &one["game_state"]["game_specific_state"]["last"];
        assert_eq!(last["text"], format!("{at} {words}"));
    }
    for (key, seat) in [("a", 0), ("b", 0), ("c", 1), ("a", 1), ("a", 0)] {
        page(&mut room, key, seat).unwrap();
    }
    assert_eq!(votes(&room), [2, 1], "each counts once, and the last word of each");
    assert_eq!(room.venue.voted_for(ID, Voter::Page("c")), Some(1));
    wait(&mut room, 59_999);
    assert!(room.venue.record(ID).is_none());
    wait(&mut room, 1);
    let record = room.venue.record(ID).unwrap();
    assert_eq!(record.verdict(0).points(), 3);
    assert_eq!(page(&mut room, "d", 0), Err(NotCounted::Closed));
    assert_eq!(NotCounted::Closed.to_string(), "The vote is closed");
    assert_eq!((votes(&room), room.venue.poll(room.now, ID).unwrap().is_closed), ([2, 1], true));
    film.extend(taken_of(&mut room.venue, 300));
    let mut replay = room.venue.replay_of(ID).unwrap();
    steps(&film).for_each(|step| replay.follow(&step).unwrap());
    assert_eq!(replay.game.digest(), room.venue.record(ID).unwrap().digest, "the film leads to the same end");
}

#[test]
fn nobody_votes_before_it_is_time_nor_for_nobody_nor_for_itself() {
    let (mut room, mut journal) = (room_of(debate()), Pieces::default());
    assert_eq!(page(&mut room, "a", 0), Err(NotCounted::Match));
    room.venue.command(room.now, Command::Start).unwrap();
    assert_eq!(page(&mut room, "a", 0), Err(NotCounted::NotOpen));
    let mut room = room_of(debate());
    talk(&mut room, &mut journal, "Well");
    assert_eq!(page(&mut room, "a", 2), Err(NotCounted::Choice));
    let from = IpAddr::from([10, 0, 0, 9]);
    assert_eq!(room.venue.vote(room.now, ID, Voter::Agent(1), from, 0), Err(NotCounted::Plays));
    assert_eq!(room.venue.vote(room.now, ID, Voter::Agent(7), from, 0), Ok(()));
    assert_eq!(
        room.venue.vote(room.now, MatchId { round: 1, table: 2 }, Voter::Agent(7), from, 0),
        Err(NotCounted::Match)
    );
}

#[test]
fn a_crowd_at_one_address_is_told_and_cannot_fill_the_box() {
    let (mut room, mut journal) = (room_of(debate()), Pieces::default());
    talk(&mut room, &mut journal, "Well");
    for n in 0..60 {
        let crowd = room.venue.poll(room.now, ID).unwrap().crowd;
        assert_eq!(crowd, Some(n).filter(|&n| n > CROWD), "it is told from the first that is too many");
        page(&mut room, &n.to_string(), 1).unwrap();
        journal.keep(&mut room.venue);
    }
    assert_eq!(room.venue.poll(room.now, ID).unwrap().crowd, Some(60));
    assert_eq!(page(&mut room, "another", 0), Err(NotCounted::TooMany));
    assert_eq!(page(&mut room, "7", 0), Ok(()), "a change is no new vote");
    assert_eq!(votes(&room), [1, 59]);
}

#[test]
fn a_power_cut_in_the_middle_of_a_vote_loses_no_vote_and_the_match_is_not_played_anew() {
    let (mut room, mut journal) = (room_of(debate()), Pieces::default());
    let (_, mut film) = talk(&mut room, &mut journal, "Well");
    for n in 0..30 {
        page(&mut room, &n.to_string(), u8::from(n % 3 == 0)).unwrap();
        journal.keep(&mut room.venue);
        film.extend(taken_of(&mut room.venue, 300));
        if n % 10 == 4 {
            let before = votes(&room);
            room.venue = journal.restore();
            room.venue.resume(room.now);
            assert_eq!(votes(&room), before, "after {n} votes");
            assert_eq!(room.venue.poll(room.now, ID).unwrap().left_ms, Some(60_000), "it has all its time again");
        }
    }
    page(&mut room, "0", 0).unwrap();
    journal.keep(&mut room.venue);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert_eq!(votes(&room), [21, 9]);
    room.run(perfect);
    assert_eq!(room.venue.stage(), Stage::Completed);
    film.append(&mut room.filmed);
    let mut replay = room.venue.replay_of(ID).unwrap();
    steps(&film).for_each(|step| replay.follow(&step).unwrap());
    assert_eq!(replay.game.digest(), room.venue.record(ID).unwrap().digest);
    journal.keep(&mut room.venue);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert_eq!(votes(&room), [21, 9], "what is over stays");
}

#[test]
fn the_owner_opens_and_closes_a_vote_and_sets_what_it_is_about() {
    let (mut room, mut journal) = (room_of(debate()), Pieces::default());
    room.venue.set_topic(room.now, "מה שאומר המורה");
    room.venue.command(room.now, Command::Start).unwrap();
    journal.keep(&mut room.venue);
    while !(0..2).any(|player| room.call(player).is_some_and(|call| call["params"]["message_type"] == "MOVE_REQUEST")) {
        (0..2).for_each(|player| {
            if let Some(call) = room.call(player) {
                room.answer(player, perfect(player, &call).unwrap());
            }
        });
    }
    let asked = (0..2).find_map(|player| room.call(player)).unwrap();
    assert_eq!(asked["params"]["game_state"]["game_specific_state"]["topic"], "מה שאומר המורה");
    assert!(room.venue.close_vote(room.now, ID).is_err(), "there is none");
    room.venue.open_vote(room.now, ID).unwrap();
    assert!(room.venue.open_vote(room.now, ID).is_err(), "it is open");
    assert!((0..2).all(|player| room.call(player).is_none_or(|call| call["params"]["message_type"] != "MOVE_REQUEST")));
    page(&mut room, "a", 1).unwrap();
    journal.keep(&mut room.venue);
    let mut again = journal.restore();
    assert_eq!(again.config().topic, "מה שאומר המורה");
    again.resume(room.now);
    assert_eq!(again.poll(room.now, ID).unwrap().votes[1], 1);
    room.venue.close_vote(room.now, ID).unwrap();
    assert_eq!(room.venue.record(ID).unwrap().verdict(1).points(), 3);
}

#[test]
fn whoever_leaves_while_the_audience_votes_still_has_what_it_decides() {
    let (mut room, mut journal) = (room_of(debate()), Pieces::default());
    talk(&mut room, &mut journal, "Well");
    page(&mut room, "a", 0).unwrap();
    room.venue.remove(room.now, 1).unwrap();
    assert!(room.venue.record(ID).is_none(), "the vote goes on");
    wait(&mut room, 60_000);
    assert_eq!(room.venue.record(ID).unwrap().verdict(0).points(), 3);
}

#[test]
fn a_debate_in_which_nobody_says_anything_is_lost_by_who_is_silent_as_its_protocol_says() {
    let (mut room, mut journal) = (room_of(debate()), Pieces::default());
    room.venue.command(room.now, Command::Start).unwrap();
    journal.keep(&mut room.venue);
    room.run(
        |player, call| if call["params"]["message_type"] == "MOVE_REQUEST" { None } else { perfect(player, call) },
    );
    assert_eq!(room.venue.record(ID).unwrap().end_reason().name(), "timeout");
}
