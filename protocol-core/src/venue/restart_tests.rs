//! A venue that is lost at any moment, and the venue that is made again from what was safe by then.

extern crate std;

use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::Value;

use super::tests::{Room, Small, config, perfect, small};
use super::*;
use crate::journal::Entry as Kept;
use crate::journal::bytes::{Reader, Writer};

/// A journal in memory: a piece for each time facts were made safe.
#[derive(Clone, Default)]
pub(crate) struct Pieces(Vec<Vec<u8>>);

impl Pieces {
    /// Makes all facts safe.
    pub fn keep(&mut self, venue: &mut Small) {
        let mut buf = [0; 4096];
        while let Some((number, fact)) = venue.next_fact(0) {
            let mut out = Writer::new(&mut buf);
            if fact == Fact::Chapter {
                self.0.clear();
                assert!(!venue.write_chapter(&mut 0, &mut out));
            } else {
                venue.write_fact(fact, &mut out).unwrap();
            }
            let written = out.len();
            self.0.push(buf[..written].to_vec());
            venue.facts_are_safe(number);
        }
        assert!(!venue.has_missed_facts());
    }

    pub fn restore(&self) -> Small {
        // The seeds are the journal's.
        let mut venue = small(config(), Seed([77; 32]), Seed([88; 32]));
        for piece in &self.0 {
            let mut from = Reader::new(piece);
            while let Some(entry) = Kept::read(&mut from).unwrap() {
                venue.restore(&entry).unwrap();
            }
        }
        venue
    }
}

/// A room whose venue keeps facts.
pub(crate) fn room(players: u16) -> Room {
    let mut room = Room::new(config());
    room.venue.keep_facts();
    (0..players).for_each(|i| _ = room.register(&std::format!("Agent {i}"), 8101 + i));
    room
}

/// Plays on for so many answers, keeping facts after each; says whether something was left to answer.
pub(crate) fn play(room: &mut Room, journal: &mut Pieces, answers: usize) -> bool {
    for _ in 0..answers {
        journal.keep(&mut room.venue);
        while room.venue.poll_output().is_some() {}
        let open = (0..room.venue.players().len() as u16).find_map(|player| Some((player, room.call(player)?)));
        let Some((player, call)) = open else { return false };
        room.answer(player, perfect(player, &call).unwrap());
        room.heard.push((player, call));
    }
    journal.keep(&mut room.venue);
    true
}

pub(crate) fn standings(venue: &mut Small) -> Vec<String> {
    venue.refresh_standings();
    venue.standings().map(|row| serde_json::to_string(&row).unwrap()).collect()
}

pub(crate) fn results(venue: &Small) -> Vec<String> {
    let rounds = 1..=venue.schedule().rounds();
    let ids = rounds.flat_map(|round| venue.matches_of(round));
    ids.filter_map(|id| venue.record(id).map(|record| std::format!("{id} {record:?}"))).collect()
}

#[test]
fn a_league_cut_off_after_any_answer_goes_on_with_every_result_it_had() {
    let mut cuts = 0;
    for answers in 0.. {
        let (mut room, mut journal) = (room(4), Pieces::default());
        journal.keep(&mut room.venue);
        room.venue.command(room.now, Command::Start).unwrap();
        let is_running = play(&mut room, &mut journal, answers);
        let before = (results(&room.venue), standings(&mut room.venue));
        room.venue = journal.restore();
        room.venue.resume(room.now);
        assert_eq!((results(&room.venue), standings(&mut room.venue)), before, "after {answers} answers");
        cuts += 1;
        while play(&mut room, &mut journal, 1) {}
        assert!(room.venue.is_over(), "after {answers} answers");
        let after = results(&room.venue);
        assert_eq!(after.len(), 6);
        assert!(before.0.iter().all(|result| after.contains(result)), "after {answers} answers");
        if !is_running {
            break;
        }
    }
    assert!(cuts > 60, "{cuts}");
}

#[test]
fn no_seed_comes_twice_however_often_the_power_is_cut() {
    let (mut room, mut journal) = (room(2), Pieces::default());
    room.venue.command(room.now, Command::Start).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for cut in 0..300 {
        journal.keep(&mut room.venue);
        let commitment = room.venue.commitment(MatchId { round: 1, table: 1 });
        assert!(seen.insert(commitment.0), "after {cut} power cuts");
        room.venue = journal.restore();
        room.venue.resume(room.now);
    }
}

#[test]
fn tokens_and_ids_are_the_same_after_a_restart_and_new_ones_are_new() {
    let (mut room, mut journal) = (room(3), Pieces::default());
    let before: Vec<Value> = (0..3).map(|i| room.register(&std::format!("Agent {i}"), 8101 + i)).collect();
    journal.keep(&mut room.venue);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    for (i, before) in (0..).zip(&before) {
        let again = room.register(&std::format!("Agent {i}"), 8101 + i);
        assert_eq!((&again["player_id"], &again["auth_token"]), (&before["player_id"], &before["auth_token"]));
    }
    let new = room.register("Late", 9000);
    assert_eq!(new["player_id"], "P04");
    assert!(before.iter().all(|before| before["auth_token"] != new["auth_token"]));
}

#[test]
fn a_match_that_is_played_again_has_another_seed_and_a_finished_one_keeps_its_own() {
    let (mut room, mut journal) = (room(4), Pieces::default());
    room.venue.command(room.now, Command::Start).unwrap();
    while results(&room.venue).is_empty() {
        assert!(play(&mut room, &mut journal, 1));
    }
    let ids: Vec<MatchId> = room.venue.matches_of(1).collect();
    let over = ids.iter().position(|&id| room.venue.record(id).is_some()).unwrap();
    let before = [0, 1].map(|i| room.venue.commitment(ids[i]));
    room.venue = journal.restore();
    room.venue.resume(room.now);
    let after = [0, 1].map(|i| room.venue.commitment(ids[i]));
    assert_eq!(after[over], before[over]);
    assert_ne!(after[1 - over], before[1 - over]);
    while play(&mut room, &mut journal, 1) {}
    assert_eq!([0, 1].map(|i| room.venue.commitment(ids[i])), after, "the result knows the seed it was played with");
}

#[test]
fn a_finished_league_is_readable_after_a_restart_and_nobody_is_called_again() {
    let (mut room, mut journal) = (room(3), Pieces::default());
    room.venue.command(room.now, Command::Start).unwrap();
    while play(&mut room, &mut journal, 1) {}
    let before = standings(&mut room.venue);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert!(room.venue.is_over());
    assert_eq!(standings(&mut room.venue), before);
    assert!((0..3).all(|player| room.venue.call(player).is_none()));
    room.venue.command(room.now, Command::Rematch).unwrap();
    while play(&mut room, &mut journal, 1) {}
    assert_eq!(journal.restore().league_id().number, 2);
}

#[test]
fn a_paused_league_is_paused_after_a_restart_and_the_next_round_waits() {
    let (mut room, mut journal) = (room(4), Pieces::default());
    room.venue.command(room.now, Command::Start).unwrap();
    assert!(play(&mut room, &mut journal, 3));
    room.venue.command(room.now, Command::Pause).unwrap();
    while play(&mut room, &mut journal, 1) {}
    assert_eq!(results(&room.venue).len(), 2);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert!(room.venue.is_paused());
    assert!(!play(&mut room, &mut journal, 1), "nothing is asked");
    room.venue.command(room.now, Command::Resume).unwrap();
    while play(&mut room, &mut journal, 1) {}
    assert!(room.venue.is_over());
}

#[test]
fn who_left_before_the_restart_has_left_after_it() {
    for start_first in [false, true] {
        let (mut room, mut journal) = (room(4), Pieces::default());
        let token = room.register("Agent 2", 8103)["auth_token"].to_string();
        if start_first {
            room.venue.command(room.now, Command::Start).unwrap();
        }
        let leave = std::format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"deregister_player","params":{{"auth_token":{token}}}}}"#
        );
        assert_eq!(room.send(&leave)["result"]["status"], "DEREGISTERED");
        journal.keep(&mut room.venue);
        room.venue = journal.restore();
        room.venue.resume(room.now);
        if !start_first {
            assert_eq!(room.venue.players().len(), 3);
            room.venue.command(room.now, Command::Start).unwrap();
        }
        while play(&mut room, &mut journal, 1) {}
        assert!(room.venue.is_over());
        room.venue.refresh_standings();
        let forfeits: u16 = room.venue.standings().map(|row| row.technical_losses).sum();
        assert_eq!(forfeits, if start_first { 3 } else { 0 });
    }
}

#[test]
fn a_reset_forgets_what_was_kept_before_it() {
    let (mut room, mut journal) = (room(4), Pieces::default());
    room.venue.command(room.now, Command::Start).unwrap();
    play(&mut room, &mut journal, 20);
    let _ = room.venue.command(room.now, Command::Reset);
    room.register("New", 9000);
    journal.keep(&mut room.venue);
    let venue = journal.restore();
    assert_eq!((venue.players().len(), venue.league_id().number, venue.stage()), (1, 2, Stage::Waiting));
}

#[test]
fn matches_that_end_as_they_begin_wait_for_room() {
    // Everybody has left: the whole league is over in one input, and has more results than the venue can hold facts.
    let (mut room, mut journal) = (room(8), Pieces::default());
    let tokens: Vec<String> =
        (0..8).map(|i| room.register(&std::format!("Agent {i}"), 8101 + i)["auth_token"].to_string()).collect();
    journal.keep(&mut room.venue);
    room.venue.command(room.now, Command::Start).unwrap();
    for token in tokens {
        let leave = std::format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"deregister_player","params":{{"auth_token":{token}}}}}"#
        );
        room.send(&leave);
        assert!(!room.venue.has_missed_facts());
        if !room.venue.has_room_for_facts() {
            journal.keep(&mut room.venue);
        }
    }
    assert!(results(&room.venue).len() < 28);
    while !room.venue.is_over() {
        journal.keep(&mut room.venue);
        room.venue.handle(room.now, Event::Tick);
    }
    journal.keep(&mut room.venue);
    assert_eq!(results(&journal.restore()).len(), 28);
}

#[test]
fn an_entry_that_does_not_fit_is_refused() {
    let mut venue = small(config(), Seed([1; 32]), Seed([2; 32]));
    assert_eq!(venue.restore(&Kept::Started), Err(Unfit), "nobody is there to play");
    for entry in [Kept::Paused, Kept::Over, Kept::Resumed] {
        assert_eq!(venue.restore(&entry), Err(Unfit), "nothing has started");
    }
    let (mut room, mut journal) = (room(2), Pieces::default());
    room.venue.command(room.now, Command::Start).unwrap();
    while play(&mut room, &mut journal, 1) {}
    let result = journal.0.iter().find(|piece| piece[0] == 9).unwrap().clone();
    journal.0.insert(1, result);
    let twice = std::panic::catch_unwind(|| journal.restore());
    assert!(twice.is_err(), "a result is not counted twice");
}
