//! A match replayed from its seed and the film is the match that was played.

extern crate std;

use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use proptest::prelude::*;

use super::film::{END, Film};
use super::notes::{Notes, PastOf};
use super::tests::{Room, config, perfect};
use super::*;
use crate::fair::Draws;
use crate::games::testing::{AGENTS, last_move, moves_of, play, result, said, view};
use crate::games::{AnyGame, Game, Seats, Viewer};
use crate::journal::bytes::{Reader, Writer};
use crate::protocols::toy;
use crate::referee::{Fault, Late, Match, Policy};
use crate::time::Utc;

/// All there is to be seen and told of a game.
fn seen(game: &AnyGame) -> String {
    let seats = || 0..game.seats();
    let views: Vec<_> = seats().map(Viewer::Seat).chain([Viewer::Spectator]).map(|by| view(game, by, AGENTS)).collect();
    let of_seat = |seat| (game.score(seat), last_move(game, seat), said(|f| game.action(seat, AGENTS, f)));
    let each: Vec<_> = seats().map(of_seat).collect();
    let words = [said(|f| game.summary(AGENTS, f)), said(|f| game.reason(AGENTS, f)), result(game, AGENTS)];
    format!("{views:?} {each:?} {words:?} {:?} {:?} {} {game:?}", game.standing(), game.to_move(), game.digest())
}

/// Takes all steps, in pieces of a size.
pub(super) fn taken(film: &mut Film, size: usize) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let mut buf = std::vec![0; size];
        let mut out = Writer::new(&mut buf);
        film.take(&Notes::<[u8; 8]>::new(), &mut out);
        match out.len() {
            0 => return all,
            n => all.extend_from_slice(&buf[..n]),
        }
    }
}

/// The same of a venue.
pub(super) fn taken_of(venue: &mut Venue<'_>, size: usize) -> Vec<u8> {
    let Memory { film, notes, .. } = &mut venue.memory;
    let mut all = Vec::new();
    loop {
        let mut buf = std::vec![0; size];
        let mut out = Writer::new(&mut buf);
        film.take(notes, &mut out);
        match out.len() {
            0 => return all,
            n => all.extend_from_slice(&buf[..n]),
        }
    }
}

pub(super) fn steps(bytes: &[u8]) -> impl Iterator<Item = Step<'_>> {
    let mut from = Reader::new(bytes);
    core::iter::from_fn(move || Step::read(&mut from).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn a_game_of_any_kind_is_the_same_after_each_step_of_its_replay(
        seed in any::<[u8; 32]>(),
        picks in prop::collection::vec(any::<u16>(), 1..80),
        gives_up in prop::option::of(0..80usize),
        losers in 1..4u8,
    ) {
        for &kind in GameKind::ALL {
            let (seats, seed) = (*kind.rules().seats.start(), Seed(seed));
            let (mut draws, film): (_, &mut Film) = (Draws::new(seed), &mut Film::<[u8; 416]>::new());
            let mut game = AnyGame::start(kind, seats, &mut draws);
            let mut replay = Replay::new(kind, seats, seed);
            prop_assert_eq!(seen(&replay.game), seen(&game));
            let mut number = 0;
            let mut film = |game: &AnyGame, what: u8, made: Option<&str>| {
                number += 1;
                film.add(FilmId::of(seed), number, u32::from(number) * 7, what, made.map(|made| (game, crate::json::parse(made.as_bytes()).unwrap())));
                let bytes = taken(film, 512);
                let step = steps(&bytes).next().unwrap();
                replay.follow(&step).unwrap();
                prop_assert_eq!(seen(&replay.game), seen(game));
                prop_assert_eq!((replay.shot.step, replay.shot.at_ms), (number, u32::from(number) * 7));
                prop_assert_eq!(replay.follow(&step), Err(Astray), "no step counts twice");
                Ok(())
            };
            for (at, &pick) in picks.iter().enumerate() {
                let owing: Vec<_> = game.to_move().iter().collect();
                if owing.is_empty() || gives_up == Some(at) {
                    break;
                }
                let seat = owing[usize::from(pick) % owing.len()];
                let legal = moves_of(&game, seat, 400);
                let made = &legal[usize::from(pick) % legal.len()];
                play(&mut game, seat, made, &mut draws).unwrap();
                film(&game, seat, Some(made))?;
            }
            let against = if game.to_move().is_empty() { Seats::NONE } else { Seats::of_bits(losers).unwrap() };
            if !against.is_empty() {
                game.forfeit(against, &mut draws);
            }
            film(&game, END | against.bits(), None)?;
            prop_assert_eq!(replay.shot.ended, Some(against));
        }
    }

    #[test]
    fn whatever_bytes_are_read_as_steps_nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut from = Reader::new(&bytes);
        let mut replay = Replay::new(GameKind::Dance, 4, Seed([3; 32]));
        while let Ok(Some(step)) = Step::read(&mut from) {
            let _ = replay.follow(&Step { of: replay.of, number: replay.shot.step + 1, ..step });
        }
    }
}

#[test]
fn steps_that_find_no_room_are_lost_and_the_numbers_tell() {
    let (seed, film): (_, &mut Film) = (Seed([5; 32]), &mut Film::<[u8; 416]>::new());
    let mut replay = Replay::new(GameKind::EvenOdd, 2, seed);
    let most = (416 / 12) as u16;
    assert!(!film.is_ripe());
    (1..most + 20).for_each(|number| film.add(replay.of, number, 0, END, None));
    assert!(film.is_ripe());
    let bytes = taken(film, 100);
    assert!(!film.is_ripe());
    let numbers: Vec<u16> = steps(&bytes).map(|step| step.number).collect();
    assert_eq!(numbers, (1..=most).collect::<Vec<_>>(), "pieces hold whole steps");
    let gap = steps(&bytes).nth(1).unwrap();
    assert_eq!(replay.follow(&gap), Err(Astray));
    assert_eq!(replay.shot.step, 0);
}

/// Plays a league in which some are silent, and replays every match of it.
fn league(game: GameKind, silent: u16, owner: bool) -> usize {
    let mut room = Room::of(Config { game, ..config() }, 5);
    room.venue.command(room.now, Command::Start).unwrap();
    let mut calls = 0;
    if owner {
        room.venue.rule(room.now, MatchId { round: 1, table: 1 }, Some(2)).unwrap();
        room.venue.remove(room.now, 4).unwrap();
    }
    room.run(|player, call| {
        calls += 1;
        // Some are silent for good, one now and then.
        let is_silent = silent == player + 1 || silent == 9 && calls % 37 == 0;
        if is_silent { None } else { perfect(player, call) }
    });
    let bytes = &room.filmed;
    let mut replays = BTreeMap::new();
    let rounds = 1..=room.venue.schedule().rounds();
    for id in rounds.flat_map(|round| room.venue.matches_of(round)) {
        replays.insert(FilmId::of(room.venue.revealed_seed(id).unwrap()), (id, room.venue.replay_of(id).unwrap()));
    }
    for step in steps(bytes) {
        let (_, replay) = replays.get_mut(&step.of).unwrap();
        replay.follow(&step).unwrap();
    }
    for (id, replay) in replays.values() {
        assert!(replay.shot.ended.is_some(), "{id}");
        let record = room.venue.record(*id).unwrap();
        assert_eq!(replay.game.digest(), record.digest, "{id} of {game:?}: {record:?}");
        assert_eq!(replay.game.standing(), room.venue.recall(*id).unwrap().standing(), "{id}");
    }
    steps(bytes).count()
}

#[test]
fn every_match_of_a_league_can_be_replayed_whoever_is_silent_and_whatever_the_owner_decides() {
    for game in [GameKind::EvenOdd, GameKind::EvenOdd10, GameKind::Dance] {
        let all = league(game, 0, false);
        assert!(all > 10, "{all} steps");
        for silent in [1, 3, 9] {
            league(game, silent, false);
        }
        league(game, 0, true);
    }
}

#[test]
fn only_a_match_that_is_over_can_be_replayed() {
    let mut room = Room::with_players(2);
    let id = MatchId { round: 1, table: 1 };
    assert!(room.venue.replay_of(id).is_none());
    room.venue.command(room.now, Command::Start).unwrap();
    assert!(room.venue.replay_of(id).is_none());
    room.run(perfect);
    assert!(room.venue.replay_of(id).is_some());
    assert!(room.venue.replay_of(MatchId { round: 9, table: 1 }).is_none());
}

#[test]
fn a_move_that_is_made_for_a_late_player_is_filmed_like_its_own() {
    let late = Late::PlayFirst { forfeit_after: None };
    let policy = Policy { late, ..crate::protocols::league_of_agents::policy(&Timing::default()) };
    let (seed, at) = (Seed([7; 32]), |ms| Now { ms, utc: Utc(0) });
    let mut draws = Draws::new(seed);
    let game = AnyGame::start(GameKind::Echo, 2, &mut draws);
    let mut table = Table::new(MatchId { round: 1, table: 1 }, &[0, 1], Match::new(game, draws, 0, None));
    (0..2).for_each(|seat| table.play.take_seat(seat));
    (0..2).for_each(|seat| table.ask(seat, 0, &policy));
    let film: &mut Film = &mut Film::<[u8; 1024]>::new();
    let notes: &mut Notes = &mut Notes::<[u8; 64]>::new();
    let past = &mut PastOf::new(notes, 0);
    assert!(!table.due((film, past), at(179_999), 1, Fault::Silent, &policy));
    assert!(table.due((film, past), at(180_000), 1, Fault::Silent, &policy));
    let kept = taken(film, 256);
    let step = Step::read(&mut Reader::new(&kept)).unwrap().unwrap();
    assert_eq!((step.of, step.number, step.at_ms), (FilmId::of(seed), 1, 180_000));
    assert!(matches!(step.deed, Deed::Moved { seat: 1, late: true, .. }));
    assert_eq!(Replay::new(GameKind::Echo, 2, seed).follow(&step), Ok(()));
}

#[test]
fn a_match_that_must_not_repeat_itself_is_judged_by_all_it_has_been_through_and_replayed_without_it() {
    let mut room = Room::of(Config { game: GameKind::Stroll, ..config() }, 0);
    let from = core::net::IpAddr::from([10, 0, 0, 5]);
    let say = |room: &mut Room, line: String| toy::hear(&mut room.venue, room.now, from, &line).to_string();
    assert_eq!(say(&mut room, "join Ada".into()) + &say(&mut room, "join Bob".into()), "welcome 1welcome 2");
    room.venue.command(room.now, Command::Start).unwrap();
    let (mut bytes, mut refused, mut moves) = (Vec::new(), 0, 0);
    while room.venue.stage() != Stage::Completed {
        let line = (0..2).find(|&line| say(&mut room, format!("look {}", line + 1)) == "move").unwrap();
        let key = line + 1;
        let listed = listed_for(&room.venue, line);
        for go in ["north", "east", "south", "west"] {
            let wanted = format!("{{\"go\":\"{go}\"}}");
            if !listed.contains(&wanted) {
                let answer = say(&mut room, format!("play {key} {wanted}"));
                assert!(["refused you have been there before", "refused the field ends there"].contains(&&*answer));
                refused += 1;
            }
        }
        assert_eq!(say(&mut room, format!("play {key} {}", listed[moves * moves % 3 % listed.len()])), "taken");
        moves += 1;
        bytes.extend(taken(room.venue.memory.film, 1024));
    }
    assert_eq!((moves, refused), (26, 36), "then there is no way on");
    let id = MatchId { round: 1, table: 1 };
    let mut replay = room.venue.replay_of(id).unwrap();
    steps(&bytes).for_each(|step| replay.follow(&step).unwrap());
    assert_eq!(replay.game.digest(), room.venue.record(id).unwrap().digest);
    assert_eq!(replay.shot.step, moves as u16 + 1);
}

fn listed_for(venue: &Venue<'_>, line: u16) -> Vec<String> {
    struct All(Vec<String>);
    impl crate::games::MoveSink for All {
        fn take(&mut self, legal: &str) -> core::ops::ControlFlow<()> {
            self.0.push(legal.into());
            core::ops::ControlFlow::Continue(())
        }
    }
    let mut all = All(Vec::new());
    venue.legal_moves(line, &mut all);
    all.0
}
