extern crate std;

use core::net::{IpAddr, Ipv4Addr};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::hear;
use crate::time::Now;
use crate::venue::tests::{Room, config, perfect};
use crate::venue::{Command, Event, Stage};

fn say(room: &mut Room, line: &str) -> String {
    hear(&mut room.venue, room.now, IpAddr::V4(Ipv4Addr::new(10, 0, 0, 5)), line).to_string()
}

/// Plays until the league is over. Players of this protocol are silent where `is_silent`.
fn play(room: &mut Room, keys: &[String], is_silent: impl Fn(&str) -> bool) {
    while room.venue.stage() != Stage::Completed || !room.venue.is_over() {
        let mut has_moved = false;
        while room.venue.poll_output().is_some() {}
        for player in 0..room.venue.players().len() as u16 {
            if let Some(reply) = room.call(player).and_then(|call| perfect(player, &call)) {
                room.answer(player, reply);
                has_moved = true;
            }
        }
        for key in keys.iter().filter(|key| !is_silent(key)) {
            if say(room, &format!("look {key}")) == "move" {
                assert_eq!(say(room, &format!("play {key} \"maybe\"")).split(' ').next(), Some("refused"));
                assert_eq!(say(room, &format!("play {key} \"even\"")), "taken");
                assert_eq!(say(room, &format!("play {key} \"odd\"")), "not now");
                has_moved = true;
            }
        }
        if has_moved {
            continue;
        }
        let at = room.venue.next_deadline().expect("somebody is waited for");
        room.now = Now { ms: at, utc: room.now.utc_at(at) };
        room.venue.handle(room.now, Event::Tick);
    }
}

fn join(room: &mut Room, names: &[&str]) -> Vec<String> {
    let keys =
        names.iter().map(|name| say(room, &format!("join {name}")).strip_prefix("welcome ").unwrap().to_string());
    keys.collect()
}

#[test]
fn players_of_a_new_protocol_play_a_league_beside_others() {
    let mut room = Room::of(config(), 2);
    let keys = join(&mut room, &["Ada", "Bob", "Cyd"]);
    assert_eq!(say(&mut room, "join Ada"), "refused Name");
    assert_eq!(say(&mut room, &format!("look {}", keys[0])), "wait");
    room.venue.command(room.now, Command::Start).unwrap();
    play(&mut room, &keys, |_| false);
    assert_eq!(say(&mut room, &format!("look {}", keys[0])), "over");
    assert_eq!(room.venue.status().matches_completed, 10);
    assert_eq!(room.venue.standings().map(|row| u32::from(row.technical_losses)).sum::<u32>(), 0);
    assert_eq!(say(&mut room, "join Dan"), "welcome 6", "for the next league");
}

#[test]
fn who_never_asks_loses_its_matches_and_nobody_else_does() {
    let mut room = Room::of(config(), 2);
    let keys = join(&mut room, &["Ada", "Bob"]);
    room.venue.command(room.now, Command::Start).unwrap();
    let silent = keys[1].clone();
    play(&mut room, &keys, |key| key == silent);
    let lost: Vec<_> = room.venue.standings().map(|row| (row.display_name.to_string(), row.technical_losses)).collect();
    assert!(lost.contains(&("Bob".into(), 3)) && lost.iter().map(|(_, lost)| *lost).sum::<u16>() == 3, "{lost:?}");
}

#[test]
fn whatever_is_said_is_answered() {
    let mut room = Room::of(config(), 2);
    for line in ["", "join", "look", "look 99", "look x", "play 1 {}", "play 99 7", "play", "dance 1", "look 1"] {
        assert_eq!(say(&mut room, line), "say join, look or play", "{line}");
    }
}

#[test]
fn players_of_a_new_protocol_outlive_a_power_cut() {
    let mut room = Room::of(config(), 2);
    let mut pieces = crate::venue::restart_tests::Pieces::default();
    room.venue.keep_facts();
    let keys = join(&mut room, &["Ada"]);
    pieces.keep(&mut room.venue);
    room.venue = pieces.restore();
    assert_eq!(say(&mut room, &format!("look {}", keys[0])), "wait");
}
