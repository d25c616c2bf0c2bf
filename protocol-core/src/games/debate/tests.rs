extern crate std;

use super::*;
use crate::games::testing::{PLAYERS, moves_of, play, recorded, result, said, view};
use crate::games::{RegularDebate, Sitter, SpicyDebate};
use serde_json::json;
use std::format;
use std::string::{String, ToString};

/// Whoever's turn it is speaks.
fn speak(game: &mut RegularDebate, wanted: &str, draws: &mut Draws) -> Result<(), Illegal> {
    let seat = game.speaker();
    play(game, seat, wanted, draws)
}

fn start(seed: u8) -> (RegularDebate, Draws) {
    let mut draws = Draws::new(Seed([seed; 32]));
    (RegularDebate::start(2, &mut draws), draws)
}

/// Everybody has spoken.
fn all_said(seed: u8) -> RegularDebate {
    let (mut game, mut draws) = start(seed);
    while let Some(seat) = game.to_move().alone() {
        play(&mut game, seat, r#"{"text":"Well."}"#, &mut draws).unwrap();
    }
    game
}

#[test]
fn ten_speeches_a_side_by_turns_and_then_the_audience_decides() {
    let game = all_said(1);
    assert_eq!((game.spoken, game.is_voting(), game.standing()), (20, true, None));
    assert_eq!(view(&game, Viewer::Spectator, PLAYERS)["stage"], "vote");
}

#[test]
fn who_speaks_first_is_drawn_and_is_for_the_motion() {
    let firsts: std::vec::Vec<_> = (0..40).map(|seed| start(seed).0.first).collect();
    assert!(firsts.contains(&0) && firsts.contains(&1));
    for seed in 0..5 {
        let (game, _) = start(seed);
        let shown = view(&game, Viewer::Seat(0), PLAYERS);
        let first = PLAYERS.id(game.first);
        assert_eq!((&shown["to_speak"], &shown["sides"][first]), (&json!(first), &json!("for")));
        assert_eq!(shown["sides"][PLAYERS.id(other(game.first))], "against");
    }
}

#[test]
fn more_votes_win_and_none_or_level_is_a_draw() {
    for (votes, winner) in [([3, 1], Some(0)), ([1, 2], Some(1)), ([2, 2], None), ([0, 0], None)] {
        let mut game = all_said(2);
        game.tell(Word::Votes([votes[0], votes[1], 0, 0, 0, 0]));
        game.tell(Word::VoteCloses);
        let standing = game.standing().unwrap();
        assert_eq!((standing.winner(), standing.scores[..2].to_vec()), (winner, votes.map(i32::from).to_vec()));
        game.tell(Word::Votes([9, 9, 0, 0, 0, 0]));
        assert_eq!(game.votes, votes, "what comes late does not count");
    }
    let told = |votes: [u16; 2]| {
        let mut game = all_said(2);
        game.tell(Word::Votes([votes[0], votes[1], 0, 0, 0, 0]));
        game.tell(Word::VoteCloses);
        (said(|f| game.reason(PLAYERS, f)), result(&game, PLAYERS))
    };
    assert_eq!(told([0, 0]).0, "nobody voted");
    let (reason, result) = told([3, 1]);
    assert_eq!(reason, "P01 has 3 of the votes, P02 1");
    assert_eq!(result, r#"{"speeches":20,"total_votes":4,"final_score":{"P01":3,"P02":1}}"#);
}

#[test]
fn to_say_nothing_is_a_turn_like_any_other() {
    let (mut game, mut draws) = start(3);
    let first = game.first;
    assert_eq!(moves_of(&game, first, 9), [r#"{"text":""}"#]);
    play(&mut game, first, r#"{"text":""}"#, &mut draws).unwrap();
    assert_eq!((game.to_move(), game.turn(), game.silent[usize::from(first)]), (Seats::only(other(first)), 2, 1));
    assert_eq!(view(&game, Viewer::Spectator, PLAYERS)["last"]["text"], "");
    assert_eq!(said(|f| game.action(first, PLAYERS, f)), "Said nothing");
}

#[test]
fn the_last_speech_is_shown_as_it_is_lent_and_what_gave_way_is_null() {
    let (mut game, mut draws) = start(4);
    let first = usize::from(game.first);
    speak(&mut game, r#"{"text":"Hear, hear"}"#, &mut draws).unwrap();
    assert_eq!(view(&game, Viewer::Spectator, PLAYERS)["last"]["text"], json!(null));
    let mut sitters = [Sitter { id: "P01", ..Sitter::default() }, Sitter { id: "P02", ..Sitter::default() }];
    sitters[first].said = "שלום 🙂";
    let shown = view(&game, Viewer::Seat(1), Table(&sitters));
    assert_eq!(shown["last"], json!({"player": sitters[first].id, "text": "שלום 🙂", "truncated": false}));
}

#[test]
fn two_thousand_characters_are_a_speech_and_one_more_is_cut_and_told() {
    for (text, is_cut) in [("🙂".repeat(2_000), false), ("🙂".repeat(2_001), true)] {
        let (mut game, mut draws) = start(5);
        let made = json!({"text": text}).to_string();
        speak(&mut game, &made, &mut draws).unwrap();
        assert_eq!(game.is_cut, is_cut);
        let film = recorded(&game, game.first, &made);
        assert_eq!((&film["bytes"], film["truncated"] == true), (&json!(8_000), is_cut));
        assert_eq!(film["text"], "🙂".repeat(5), "its beginning");
        let again = recorded(&game, game.first, &film.to_string());
        assert_eq!(again["truncated"] == true, is_cut, "a move of the film says so too");
        let (mut replayed, mut draws) = start(5);
        speak(&mut replayed, &film.to_string(), &mut draws).unwrap();
        assert_eq!(replayed.digest(), game.digest(), "and leads to the same game");
    }
}

#[test]
fn what_is_on_film_of_any_speech_is_a_move() {
    let worst = json!({"text": "\u{1}".repeat(2_001)}).to_string();
    let (mut game, mut draws) = start(6);
    speak(&mut game, &worst, &mut draws).unwrap();
    assert!(recorded(&game, game.first, &worst).to_string().len() <= crate::games::MOVE_BYTES);
}

#[test]
fn a_topic_is_of_the_list_unless_the_teacher_has_said_one() {
    let mut topics: std::vec::Vec<String> = (0..200)
        .map(|seed| String::from(view(&start(seed).0, Viewer::Spectator, PLAYERS)["topic"].as_str().unwrap()))
        .collect();
    topics.sort();
    topics.dedup();
    assert_eq!(topics.len(), TOPICS, "each comes up");
    let (mut game, _) = start(7);
    game.tell(Word::OwnTopic);
    let sitters = ["P01", "P02"].map(|id| Sitter { id, note: "מה שאומר המורה", ..Sitter::default() });
    assert_eq!(view(&game, Viewer::Seat(0), Table(&sitters))["topic"], "מה שאומר המורה");
    assert_eq!(view(&game, Viewer::Seat(0), PLAYERS)["topic"], json!(null), "nobody lends it");
}

#[test]
fn the_rooms_have_topics_of_their_own() {
    let spicy = SpicyDebate::start(2, &mut Draws::new(Seed([8; 32])));
    assert_eq!((spicy.rules().name, start(8).0.rules().name), ("spicy_debate", "regular_debate"));
    assert_ne!(spicy.topic(), start(8).0.topic());
}

#[test]
fn a_vote_can_open_before_all_has_been_said_and_after_a_restart_it_knows_when() {
    let (mut game, mut draws) = start(9);
    speak(&mut game, r#""A word.""#, &mut draws).unwrap();
    game.tell(Word::VoteOpens(None));
    assert_eq!((game.to_move(), game.is_voting(), game.spoken), (Seats::NONE, true, 1));
    let (mut again, _) = start(9);
    again.tell(Word::VoteOpens(Some(game.digest())));
    assert_eq!((again.spoken, again.is_voting()), (1, true));
}

#[test]
fn a_move_without_text_is_refused_by_name() {
    for wanted in ["{}", "7", "null", r#"{"text":7}"#, r#"{"move":"x"}"#] {
        let (mut game, mut draws) = start(1);
        let before = format!("{game:?}");
        assert_eq!(speak(&mut game, wanted, &mut draws), Err(NO_TEXT), "{wanted}");
        assert_eq!(format!("{game:?}"), before);
    }
}
