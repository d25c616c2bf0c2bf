extern crate std;

use super::*;
use crate::games::testing::{PLAYERS, moves_of, play, recorded, result, said, view};
use crate::games::{AnyGame, GameKind, Sitter};
use proptest::prelude::*;
use serde_json::json;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

fn start(seed: u64) -> (TradeDeal, Draws) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut draws = Draws::new(Seed(bytes));
    (TradeDeal::start(2, &mut draws), draws)
}

fn act(game: &mut TradeDeal, seat: Seat, wanted: &str) -> Result<(), Illegal> {
    play(game, seat, wanted, &mut Draws::new(Seed([0; 32])))
}

/// A game in which each holds five of everything; the first wants nine gold, the second eight wood.
fn even() -> TradeDeal {
    let goals = [Goal { resource: 0, amount: 9 }, Goal { resource: 3, amount: 8 }];
    TradeDeal { held: [[5; KINDS]; 2], goals, ..start(1).0 }
}

/// Speaks until nobody does.
fn finish(game: &mut TradeDeal) {
    while let Some(seat) = game.to_move().alone() {
        act(game, seat, r#"{"text":"Well."}"#).unwrap();
    }
}

const DEAL: &str = r#"{"propose":{"offer":{"wood":3},"request":{"gold":4}}}"#;

#[test]
fn over_ten_thousand_seeds_nobody_reaches_its_goal_alone_and_both_do_by_one_trade() {
    let mut seen = [[0_u32; KINDS]; 2];
    for seed in 0..10_000 {
        let (mut game, _) = start(seed);
        assert!(game.held.iter().flatten().all(|amount| (2..=6).contains(amount)));
        let missing = [0, 1].map(|seat| {
            let (held, goal) = game.progress(seat);
            assert!((held + 3..=held + 5).contains(&goal.amount), "three to five more than it holds");
            assert_eq!(game.worth(seat), i32::from(held) * 100 / i32::from(goal.amount));
            seen[usize::from(seat)][usize::from(goal.resource)] += 1;
            (RESOURCES[usize::from(goal.resource)], goal.amount - held)
        });
        assert_ne!(game.goals[0].resource, game.goals[1].resource);
        let deal = json!({"propose": {"offer": {missing[1].0: missing[1].1}, "request": {missing[0].0: missing[0].1}}});
        act(&mut game, 0, &deal.to_string()).unwrap();
        act(&mut game, 1, r#"{"accept":true}"#).unwrap();
        assert_eq!([game.worth(0), game.worth(1)], [100, 100]);
    }
    assert!(seen.iter().flatten().all(|often| *often > 2_000), "each resource is wanted about as often: {seen:?}");
}

#[test]
fn an_accepted_trade_moves_goods_and_nothing_else_does() {
    let mut game = even();
    act(&mut game, 0, DEAL).unwrap();
    assert_eq!(game.held, [[5; KINDS]; 2]);
    act(&mut game, 0, r#"{"text":"I give you all my gold and iron for nothing!"}"#).unwrap();
    assert_eq!(game.held, [[5; KINDS]; 2]);
    act(&mut game, 1, r#"{"accept":true}"#).unwrap();
    assert_eq!(game.held, [[9, 5, 5, 2], [1, 5, 5, 8]]);
    assert_eq!((game.pending, game.trades, game.acts), (None, 1, [1, 1]));
}

#[test]
fn one_trade_is_pending_at_a_time_and_either_side_may_reject_it() {
    let mut game = even();
    act(&mut game, 1, r#"{"propose":{"offer":{"gold":1},"request":{}}}"#).unwrap();
    assert_eq!(act(&mut game, 0, DEAL), Err(PENDING));
    assert_eq!(act(&mut game, 1, DEAL), Err(PENDING));
    assert_eq!(act(&mut game, 1, r#"{"accept":true}"#), Err(OWN));
    act(&mut game, 1, r#"{"reject":true}"#).unwrap();
    assert_eq!(view(&game, Viewer::Spectator, PLAYERS)["last_trade"]["answer"], "withdrawn");
    act(&mut game, 1, DEAL).unwrap();
    act(&mut game, 0, r#"{"reject":true}"#).unwrap();
    assert_eq!(
        view(&game, Viewer::Spectator, PLAYERS)["last_trade"],
        json!({"player": "P02", "offer": {"wood": 3}, "request": {"gold": 4}, "answer": "rejected"})
    );
    for wanted in [r#"{"accept":true}"#, r#"{"reject":true}"#] {
        assert_eq!(act(&mut game, 0, wanted), Err(NONE_PENDING));
    }
}

#[test]
fn what_one_does_not_hold_cannot_be_offered_nor_given() {
    let mut game = even();
    let more = r#"{"propose":{"offer":{"gold":6},"request":{"food":1}}}"#;
    assert_eq!(act(&mut game, 0, more), Err(NOT_HELD));
    // What is requested need not be there yet.
    act(&mut game, 0, r#"{"propose":{"offer":{"gold":1},"request":{"food":6}}}"#).unwrap();
    assert_eq!(act(&mut game, 1, r#"{"accept":true}"#), Err(NOT_HELD_EITHER));
    assert_eq!(moves_of(&game, 1, 9), [r#"{"reject":true}"#]);
}

#[test]
fn four_proposals_of_a_side_are_heard_between_two_messages() {
    let mut game = even();
    for _ in 0..4 {
        act(&mut game, 0, DEAL).unwrap();
        act(&mut game, 1, r#"{"reject":true}"#).unwrap();
    }
    assert_eq!(act(&mut game, 0, DEAL), Err(TOO_MANY));
    assert_eq!(moves_of(&game, 0, 9), [r#"{"text":""}"#]);
    act(&mut game, 1, DEAL).unwrap();
    act(&mut game, 0, r#"{"reject":true}"#).unwrap();
    act(&mut game, 0, r#""Enough.""#).unwrap();
    act(&mut game, 0, DEAL).unwrap();
}

#[test]
fn an_act_touches_no_turn_and_a_message_is_said_by_turns() {
    let mut game = even();
    assert_eq!((game.to_move(), game.may_act()), (Seats::only(0), Seats::only(1)));
    for seat in [0, 1] {
        act(&mut game, seat, DEAL).unwrap();
        act(&mut game, 1 - seat, r#"{"reject":true}"#).unwrap();
        assert_eq!((game.to_move(), game.turn()), (Seats::only(0), 1));
    }
    assert_eq!(act(&mut game, 1, r#"{"text":"Me first"}"#), Err(NOT_YOUR_TURN));
    act(&mut game, 0, r#"{"text":""}"#).unwrap();
    assert_eq!((game.to_move(), game.may_act(), game.turn()), (Seats::only(1), Seats::only(0), 2));
    assert_eq!((game.acts(), said(|f| game.action(0, PLAYERS, f))), (4, String::from("Said nothing")));
}

#[test]
fn it_ends_at_the_tenth_message_of_both_together_and_more_wins() {
    let mut game = even();
    act(&mut game, 0, r#"{"propose":{"offer":{"wood":2},"request":{"gold":4}}}"#).unwrap();
    act(&mut game, 1, r#"{"accept":true}"#).unwrap();
    act(&mut game, 0, DEAL).unwrap();
    finish(&mut game);
    assert_eq!((game.spoken, game.stage, game.pending), (10, Stage::Over, None));
    let standing = game.standing().unwrap();
    assert_eq!((standing.winner(), standing.scores[..2].to_vec()), (Some(0), [100, 87].to_vec()));
    assert_eq!(said(|f| game.reason(PLAYERS, f)), "P01 has 9 of 9 gold: 100 points, P02 has 7 of 8 wood: 87 points");
    assert_eq!(said(|f| game.export(f)), "100,87,1");
    assert_eq!(act(&mut game, 1, DEAL), Err(Illegal("it is not your turn")));
    assert_eq!(
        result(&game, PLAYERS),
        r#"{"messages":10,"trades":1,"resources":{"P01":{"gold":9,"iron":5,"food":5,"wood":3},"P02":{"gold":1,"iron":5,"food":5,"wood":7}},"votes":{"P01":0,"P02":0},"final_score":{"P01":100,"P02":87}}"#
    );
}

/// Both have what they want, so it is level.
fn level() -> TradeDeal {
    let mut game = even();
    act(&mut game, 0, DEAL).unwrap();
    act(&mut game, 1, r#"{"accept":true}"#).unwrap();
    finish(&mut game);
    game
}

#[test]
fn if_it_is_level_the_audience_breaks_the_tie_and_without_one_it_is_a_draw() {
    let game = level();
    assert_eq!((game.is_voting(), game.standing()), (true, None));
    assert_eq!([true, false].map(|is_watched| game.awaits_vote(is_watched)), [true, false]);
    for (votes, winner) in [([3, 1], Some(0)), ([1, 2], Some(1)), ([2, 2], None), ([0, 0], None)] {
        let mut game = game.clone();
        game.tell(Word::Votes([votes[0], votes[1], 0, 0, 0, 0]));
        game.tell(Word::VoteCloses);
        let standing = game.standing().unwrap();
        assert_eq!((standing.winner(), standing.scores[..2].to_vec()), (winner, [100, 100].to_vec()));
    }
    let mut unlike = even();
    unlike.tell(Word::VoteOpens(None));
    assert!(
        unlike.is_voting() && !unlike.awaits_vote(true),
        "five of nine and five of eight: there is no tie to break"
    );
    unlike.tell(Word::Votes([9, 0, 0, 0, 0, 0]));
    unlike.tell(Word::VoteCloses);
    assert_eq!(unlike.standing().unwrap().winner(), Some(1), "and no vote changes that");
}

#[test]
fn a_vote_that_is_reopened_after_a_restart_knows_who_holds_what() {
    for seed in 0..100 {
        let (mut game, mut draws) = start(seed);
        for n in 0..40 {
            let seat = (n % 2) as Seat;
            let moves = moves_of(&game, seat, 80);
            if let Some(wanted) = moves.get((seed as usize + n * 7) % moves.len().max(1)).filter(|_| game.spoken < 8) {
                play(&mut game, seat, wanted, &mut draws).unwrap();
            }
        }
        game.tell(Word::VoteOpens(None));
        let (mut again, _) = start(seed);
        again.tell(Word::VoteOpens(Some(game.digest())));
        assert!(again.is_voting());
        assert_eq!((again.held, again.spoken, again.trades), (game.held, game.spoken, game.trades));
    }
}

#[test]
fn what_one_holds_and_wants_is_hidden_from_the_other_and_from_all_who_look_on_until_it_is_over() {
    let game = even();
    let shown = |viewer| view(&game, viewer, PLAYERS);
    for (seat, own, theirs) in [(0, "P01", "P02"), (1, "P02", "P01")] {
        let seen = shown(Viewer::Seat(seat));
        assert_eq!(seen["resources"][own], json!({"gold": 5, "iron": 5, "food": 5, "wood": 5}));
        assert_eq!(seen["goals"][own]["points"], 100);
        assert_eq!((&seen["resources"][theirs], &seen["goals"][theirs]), (&json!(null), &json!(null)));
    }
    let seen = shown(Viewer::Spectator);
    assert_eq!((&seen["resources"]["P01"], &seen["goals"]["P02"]), (&json!(null), &json!(null)));
    assert_eq!((game.score(0), game.score(1)), (0, 0), "nor does a score tell");
    let seen = shown(Viewer::Owner);
    assert_eq!(seen["goals"]["P02"], json!({"resource": "wood", "amount": 8, "points": 100}));
    assert_eq!(view(&level(), Viewer::Spectator, PLAYERS), view(&level(), Viewer::Owner, PLAYERS));
    // Whatever the other holds and wants, one sees the same.
    let mut another = even();
    (another.held[1], another.goals[1]) = ([1, 2, 3, 4], Goal { resource: 1, amount: 7 });
    assert_eq!(view(&another, Viewer::Seat(0), PLAYERS), shown(Viewer::Seat(0)));
    assert_eq!(moves_of(&another, 0, 200), moves_of(&game, 0, 200), "nor do the moves that are listed tell");
}

#[test]
fn what_is_no_move_is_refused_by_name() {
    for (wanted, rule) in [
        ("{}", NO_MOVE),
        ("7", NO_MOVE),
        (r#"{"accept":false}"#, NO_MOVE),
        (r#"{"text":"Yes","accept":true}"#, NO_MOVE),
        (r#"{"accept":true,"reject":true}"#, NO_MOVE),
        (r#"{"propose":7}"#, NO_PROPOSAL),
        (r#"{"propose":{"offer":[1]}}"#, NO_PROPOSAL),
        (r#"{"propose":{}}"#, NOTHING),
        (r#"{"propose":{"offer":{"gold":0},"request":{}}}"#, NOTHING),
        (r#"{"propose":{"offer":{"silver":1}}}"#, NO_AMOUNT),
        (r#"{"propose":{"offer":{"gold":-1}}}"#, NO_AMOUNT),
        (r#"{"propose":{"offer":{"gold":1.5}}}"#, NO_AMOUNT),
        (r#"{"propose":{"request":{"gold":100}}}"#, NO_AMOUNT),
        (r#"{"propose":{"request":{"gold":"four"}}}"#, NO_AMOUNT),
    ] {
        let mut game = even();
        let before = format!("{game:?}");
        assert_eq!(act(&mut game, 0, wanted), Err(rule), "{wanted}");
        assert_eq!(format!("{game:?}"), before);
    }
}

#[test]
fn the_longest_proposal_fits_a_step_of_the_film_and_a_message_is_filmed_as_a_speech() {
    let most = json!({"gold": 99, "iron": 99, "food": 99, "wood": 99});
    let deal = json!({"propose": {"offer": most, "request": most}}).to_string();
    assert!(recorded(&even(), 0, &deal).to_string().len() <= crate::games::MOVE_BYTES);
    let words = json!({"text": "🙂".repeat(2_001)}).to_string();
    let film = recorded(&even(), 0, &words);
    assert_eq!((&film["bytes"], &film["truncated"]), (&json!(8_000), &json!(true)));
    assert!(even().said(0, crate::json::parse(deal.as_bytes()).unwrap()).is_none());
}

#[test]
fn the_last_message_is_shown_as_it_is_lent() {
    let mut game = even();
    act(&mut game, 0, r#"{"text":"שלום"}"#).unwrap();
    let sitters = [Sitter { id: "P01", said: "שלום", ..Sitter::default() }, Sitter { id: "P02", ..Sitter::default() }];
    let shown = view(&game, Viewer::Seat(1), Table(&sitters));
    assert_eq!(shown["last"], json!({"player": "P01", "text": "שלום", "truncated": false}));
}

proptest! {
    #[test]
    fn whatever_is_done_goods_are_neither_made_nor_lost(
        seed in any::<u64>(),
        steps in prop::collection::vec((0..2_u8, any::<u16>(), prop::array::uniform4(0..8_u8), prop::array::uniform4(0..8_u8)), 0..120),
    ) {
        let (mut game, mut draws) = start(seed);
        let sum = |game: &TradeDeal| [0, 1, 2, 3].map(|at| game.held[0][at] + game.held[1][at]);
        let (all, mut film) = (sum(&game), Vec::new());
        for (seat, pick, offer, request) in steps {
            let listed = moves_of(&game, seat, 200);
            let wanted = match pick % 3 {
                0 if !listed.is_empty() => listed[usize::from(pick) % listed.len()].clone(),
                1 => String::from(r#"{"accept":true}"#),
                _ => {
                    let side = |amounts: [u8; 4]| json!({"gold": amounts[0], "iron": amounts[1], "food": amounts[2], "wood": amounts[3]});
                    json!({"propose": {"offer": side(offer), "request": side(request)}}).to_string()
                }
            };
            let before = (game.held, game.turn());
            match play(&mut game, seat, &wanted, &mut draws) {
                Ok(()) => film.push((seat, recorded(&game, seat, &wanted).to_string())),
                Err(_) => prop_assert_eq!((game.held, game.turn()), before),
            }
            prop_assert_eq!(sum(&game), all);
        }
        // What is on film leads to the same game.
        let (mut again, mut draws) = start(seed);
        for (seat, made) in film {
            play(&mut again, seat, &made, &mut draws).unwrap();
        }
        prop_assert_eq!(format!("{again:?}"), format!("{game:?}"));
    }
}

#[test]
fn it_takes_less_room_than_the_largest_game() {
    const { assert!(TradeDeal::SIZE < crate::games::ROOM) };
    assert_eq!(GameKind::named("trade_deal"), Some(GameKind::TradeDeal));
    assert!(size_of::<AnyGame>() <= crate::games::ROOM + 8);
}
