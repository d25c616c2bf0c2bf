extern crate std;
use super::*;
use crate::games::testing::{AGENTS, moves_of, play, result, said, view};
use crate::games::{AnyGame, GameKind};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

const VIEWERS: [Viewer; 8] = [
    Viewer::Seat(0),
    Viewer::Seat(1),
    Viewer::Seat(2),
    Viewer::Seat(3),
    Viewer::Seat(4),
    Viewer::Seat(5),
    Viewer::Spectator,
    Viewer::Owner,
];

fn start(seats: u8) -> (TexasHoldem, Draws) {
    let mut draws = Draws::new(Seed([1; 32]));
    (TexasHoldem::start(seats, &mut draws), draws)
}

/// A hand in which these are the stacks, seat 0 has the button, and the blinds are posted.
fn with_stacks<const N: usize>(stacks: [u16; N]) -> (TexasHoldem, Draws) {
    let (mut game, mut draws) = start(N as u8);
    game.stacks = [0; MAX_SEATS];
    game.stacks.iter_mut().zip(stacks).for_each(|(stack, wanted)| *stack = wanted);
    let big_blind = game.begin(0, &mut draws);
    game.proceed(big_blind, &mut draws);
    (game, draws)
}

fn cards(text: &str) -> Vec<Card> {
    text.split(' ').map(|word| Card::named(word).unwrap()).collect()
}

/// Puts cards where they were not dealt.
fn give(game: &mut TexasHoldem, holes: &[&str], board: &str) {
    for (hole, text) in game.cards.holes.iter_mut().zip(holes) {
        *hole = cards(text).try_into().unwrap();
    }
    game.cards.board = cards(board).try_into().unwrap();
}

/// Whoever is to move does one after the other.
fn run(game: &mut TexasHoldem, draws: &mut Draws, deeds: &[&str]) {
    for deed in deeds {
        let wanted = match deed.split_once(' ') {
            Some((word, number)) => format!(r#"["{word}","{number}"]"#),
            None => format!(r#"["{deed}"]"#),
        };
        let seat = game.mover;
        play(game, seat, &wanted, draws).unwrap_or_else(|why| panic!("{seat} {deed}: {why:?}"));
    }
}

fn refusal(game: &TexasHoldem, wanted: &str) -> &'static str {
    let Illegal(rule) = play(&mut game.clone(), game.mover, wanted, &mut start(2).1).unwrap_err();
    rule
}

fn chips(game: &TexasHoldem) -> u32 {
    game.stacks.iter().chain(&game.put).map(|&chips| u32::from(chips)).sum()
}

#[test]
fn of_two_the_button_posts_the_small_blind_and_acts_first_and_then_last() {
    let (mut game, mut draws) = start(2);
    assert_eq!((game.put[..2].to_vec(), game.mover), ([10, 20].to_vec(), 0));
    run(&mut game, &mut draws, &["call"]);
    assert_eq!(game.mover, 1);
    run(&mut game, &mut draws, &["check"]);
    assert_eq!((game.street, game.mover), (Street::Flop, 1));
    run(&mut game, &mut draws, &["check", "check", "check", "check", "check", "check"]);
    assert_eq!((game.hand, game.button, game.mover), (2, 1, 1));
}

#[test]
fn of_three_the_seats_left_of_the_button_post_the_blinds_and_the_button_acts_first() {
    let (mut game, mut draws) = start(3);
    assert_eq!((game.put[..3].to_vec(), game.mover), ([0, 10, 20].to_vec(), 0));
    run(&mut game, &mut draws, &["call", "call"]);
    // The big blind may still raise.
    assert_eq!(moves_of(&game, 2, 9)[..2], [r#"["check"]"#, r#"["raise","40"]"#]);
    run(&mut game, &mut draws, &["check"]);
    assert_eq!((game.street, game.mover), (Street::Flop, 1));
}

#[test]
fn blinds_are_doubled_every_ten_hands() {
    let (mut game, mut draws) = start(2);
    let mut blinds = Vec::new();
    while !game.is_over() {
        blinds.push(game.small_blind());
        run(&mut game, &mut draws, &["fold"]);
    }
    let expected: Vec<u16> = [10, 20, 40].into_iter().flat_map(|blind| [blind; 10]).collect();
    assert_eq!((blinds, game.hand), (expected, 30));
    assert_eq!(said(|f| game.reason(AGENTS, f)), "After 30 hands: AgentAlpha 1000, AgentBeta 1000");
    assert_eq!(game.standing().unwrap().winner(), None);
}

#[test]
fn raises_are_listed_by_half_the_pot_the_pot_and_twice_the_pot_after_the_call() {
    let (mut game, mut draws) = start(2);
    // 40 in the pot after the call of 10: by 20, which is the smallest too, by 40 and by 80.
    let listed =
        [r#"["fold"]"#, r#"["call"]"#, r#"["raise","40"]"#, r#"["raise","60"]"#, r#"["raise","100"]"#, r#"["all_in"]"#];
    assert_eq!(moves_of(&game, 0, 9), listed);
    run(&mut game, &mut draws, &["raise 100"]);
    // 200 in the pot: the smallest is by 80.
    let listed = [
        r#"["fold"]"#,
        r#"["call"]"#,
        r#"["raise","180"]"#,
        r#"["raise","200"]"#,
        r#"["raise","300"]"#,
        r#"["raise","500"]"#,
        r#"["all_in"]"#,
    ];
    assert_eq!(moves_of(&game, 1, 9), listed);
    run(&mut game, &mut draws, &["raise 500"]);
    // All of a stack is only ever an all_in.
    assert_eq!(moves_of(&game, 0, 9), [r#"["fold"]"#, r#"["call"]"#, r#"["raise","900"]"#, r#"["all_in"]"#]);
    run(&mut game, &mut draws, &["call"]);
    assert_eq!(moves_of(&game, 1, 9)[..2], [r#"["check"]"#, r#"["raise","20"]"#]);
    assert!(moves_of(&game, 0, 9).is_empty());
}

#[test]
fn any_raise_that_is_large_enough_is_taken_not_only_those_listed_and_a_number_may_be_one() {
    let (mut game, mut draws) = start(2);
    for (wanted, bet) in [(r#"["raise","41"]"#, 41), (r#"["raise",63]"#, 63), (r#"["raise",99.0]"#, 99)] {
        let seat = game.mover;
        play(&mut game, seat, wanted, &mut draws).unwrap();
        assert_eq!(game.bet(seat), bet);
    }
    assert_eq!(play(&mut game, 1, r#""call""#, &mut draws), Ok(()));
}

#[test]
fn a_move_that_breaks_a_rule_is_refused_by_name_and_changes_nothing() {
    let (game, mut draws) = start(2);
    for (wanted, rule) in [
        ("7", "move: a list"),
        (r#"{"raise":"40"}"#, "move: a list"),
        (r#"["bet","40"]"#, "move[0]:"),
        (r#"["raise"]"#, "move[1]: your whole bet"),
        (r#"["raise","much"]"#, "move[1]: your whole bet"),
        (r#"["call","10"]"#, "move[1]: only"),
        (r#"["check"]"#, "check: there is a bet"),
        (r#"["raise","39"]"#, "raise: to at least"),
        (r#"["raise","1000"]"#, "raise: all you have"),
        (r#"["raise","60000"]"#, "raise: all you have"),
    ] {
        assert!(refusal(&game, wanted).starts_with(rule), "{wanted}: {}", refusal(&game, wanted));
    }
    let mut limped = game.clone();
    assert_eq!(play(&mut limped, 1, r#"["fold"]"#, &mut draws), Err(Illegal("it is not your turn")));
    run(&mut limped, &mut draws, &["call"]);
    assert!(refusal(&limped, r#"["fold"]"#).starts_with("fold: there is nothing"));
    assert!(refusal(&limped, r#"["call"]"#).starts_with("call: there is nothing"));
}

#[test]
fn who_has_acted_may_not_raise_a_stack_that_was_no_full_raise_and_others_may() {
    let (mut game, mut draws) = with_stacks([1000, 150, 1000]);
    // The button raises by 80; the small blind has 50 more.
    run(&mut game, &mut draws, &["raise 100", "all_in"]);
    assert!(moves_of(&game, 2, 9).contains(&r#"["all_in"]"#.to_string()));
    assert_eq!(game.least_raise(), 230);
    run(&mut game, &mut draws, &["call"]);
    assert_eq!(moves_of(&game, 0, 9), [r#"["fold"]"#, r#"["call"]"#]);
    assert!(refusal(&game, r#"["all_in"]"#).contains("has not grown by a full raise"));
}

#[test]
fn stacks_that_together_are_a_full_raise_open_the_betting_again() {
    let (mut game, mut draws) = with_stacks([1000, 1000, 1000, 150, 190]);
    // Seat 3 is first, and calls the big blind of 20.
    run(&mut game, &mut draws, &["call", "call", "raise 100", "call", "call"]);
    // By 50, then by 40 more: a raise is by 80.
    run(&mut game, &mut draws, &["all_in", "all_in"]);
    assert_eq!((game.mover, game.to_call(0)), (0, 90));
    assert!(moves_of(&game, 0, 9).contains(&r#"["raise","270"]"#.to_string()));
}

#[test]
fn where_nobody_else_could_put_in_more_nobody_raises() {
    let (mut game, mut draws) = with_stacks([1000, 300]);
    run(&mut game, &mut draws, &["call", "all_in"]);
    assert_eq!(moves_of(&game, 0, 9), [r#"["fold"]"#, r#"["call"]"#]);
    assert!(refusal(&game, r#"["all_in"]"#).contains("nobody else could put in more"));
    let (mut game, mut draws) = with_stacks([1000, 300]);
    run(&mut game, &mut draws, &["all_in"]);
    assert!(refusal(&game, r#"["all_in"]"#).contains("to call takes all you have"));
}

#[test]
fn all_that_have_put_in_as_much_share_a_pot_and_the_rest_is_for_those_who_have_more() {
    let (mut game, mut draws) = with_stacks([100, 300, 1000, 1000]);
    give(&mut game, &["Ac Ad", "Kc Kd", "Qc Qd", "2h 7c"], "Ah Kh Qh 3s 4s");
    // Seat 3 is first. 100 × 4, 200 × 3, 200 × 2.
    run(&mut game, &mut draws, &["raise 500", "call", "call", "call"]);
    run(&mut game, &mut draws, &["check"; 6]);
    assert_eq!(game.past.unwrap().won[..4], [400, 600, 400, 0]);
    assert_eq!(game.stacks[..3].iter().sum::<u16>() + game.put.iter().sum::<u16>() + game.stacks[3], 2400);
}

#[test]
fn what_nobody_can_match_comes_back() {
    let (mut game, mut draws) = with_stacks([1000, 300]);
    give(&mut game, &["2c 7d", "Kc Kd"], "Ah Kh Qh 3s 4s");
    run(&mut game, &mut draws, &["all_in", "call"]);
    assert_eq!(game.past.unwrap().won[..2], [700, 600]);
}

#[test]
fn what_somebody_who_folded_put_in_belongs_to_the_pot_even_on_top_of_all_others() {
    let (mut game, mut draws) = with_stacks([1000, 100, 60]);
    give(&mut game, &["2c 7d", "Kc Kd", "Ac Ad"], "Ah Kh Qh 3s 4s");
    run(&mut game, &mut draws, &["raise 80", "all_in", "call"]);
    // 80 of seat 0 are in, 20 more to call.
    run(&mut game, &mut draws, &["fold"]);
    assert_eq!(game.past.unwrap().won[..3], [0, 60, 180]);
}

#[test]
fn a_pot_is_split_and_the_odd_chips_go_to_the_first_left_of_the_button() {
    let (mut game, mut draws) = with_stacks([1000, 1000, 1000, 1000]);
    give(&mut game, &["Ac 5d", "2c 7d", "As 5h", "Ad 5c"], "Ah Kd Qh Js 9s");
    run(&mut game, &mut draws, &["raise 50", "call", "fold", "call"]);
    run(&mut game, &mut draws, &["check"; 9]);
    // 160 between three, and the small blind, first left of the button, has folded.
    assert_eq!(game.past.unwrap().won[..4], [53, 0, 54, 53]);
}

#[test]
fn who_is_left_alone_wins_and_shows_nothing() {
    let (mut game, mut draws) = start(3);
    run(&mut game, &mut draws, &["raise 60", "fold", "fold"]);
    let past = view(&game, Viewer::Spectator, AGENTS)["last_hand"].clone();
    let shown = |id: &str, won: u16| json!({"id": id, "hand": null, "best": null, "won": won});
    let players = json!([shown("uuid-1", 90), shown("uuid-2", 0), shown("uuid-3", 0)]);
    assert_eq!(past, json!({"hand": 1, "board": [], "players": players}));
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Hand 1: AgentAlpha wins 90.");
    assert_eq!(said(|f| game.action(2, AGENTS, f)), "Folds");
    assert_eq!(said(|f| game.action(0, AGENTS, f)), "");
}

#[test]
fn a_showdown_is_told_with_all_hands_that_were_left_and_no_others() {
    let (mut game, mut draws) = start(3);
    give(&mut game, &["2c 7d", "Kc Kd", "Ac Ad"], "Ah Kh Qh 3s 4s");
    run(&mut game, &mut draws, &["fold", "call"]);
    run(&mut game, &mut draws, &["check"; 7]);
    let past = &view(&game, Viewer::Spectator, AGENTS)["last_hand"];
    let hands: Vec<&Json> = past["players"].as_array().unwrap().iter().map(|player| &player["hand"]).collect();
    assert_eq!(hands, [&json!(null), &json!(["Kc", "Kd"]), &json!(["Ac", "Ad"])]);
    assert_eq!(past["board"], json!(["Ah", "Kh", "Qh", "3s", "4s"]));
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Hand 1: AgentGamma wins 40 with three of a kind.");
}

#[test]
fn a_hand_is_over_before_anybody_acts_where_the_blinds_are_all_they_have() {
    let (game, _) = with_stacks([10, 1990]);
    assert!(game.hand >= 2 || game.is_over());
    assert_eq!(chips(&game), 2000);
}

#[test]
fn who_has_all_the_chips_ends_the_match() {
    let (mut game, mut draws) = start(2);
    give(&mut game, &["2c 7d", "Ac Ad"], "Ah Kh Qh 3s 4s");
    run(&mut game, &mut draws, &["all_in", "call"]);
    let standing = game.standing().unwrap();
    assert_eq!((standing.winner(), standing.scores[1], game.hands()), (Some(1), 2000, Some(1)));
    assert_eq!(said(|f| game.export(f)), "1,0,2000,,,,");
    assert_eq!(result(&game, AGENTS), r#"{"hands":1,"chips":{"uuid-1":0,"uuid-2":2000}}"#);
    // The losing hand went to the showdown, and all is open now.
    assert_eq!(view(&game, Viewer::Seat(1), AGENTS)["last_hand"]["players"][0]["hand"], json!(["2c", "7d"]));
}

#[test]
fn who_gives_up_is_last_and_bets_go_back() {
    let (mut game, mut draws) = start(3);
    run(&mut game, &mut draws, &["raise 500"]);
    game.forfeit(Seats::only(2), &mut draws);
    let standing = game.standing().unwrap();
    assert_eq!((&standing.scores[..3], &standing.places[..3]), (&[1000; 3][..], &[1, 1, 3][..]));
    assert_eq!(
        said(|f| game.reason(AGENTS, f)),
        "AgentGamma gave up. Chips: AgentAlpha 1000, AgentBeta 1000, AgentGamma 1000"
    );
}

#[test]
fn the_state_takes_what_the_file_says() {
    assert_eq!(size_of::<TexasHoldem>(), TexasHoldem::SIZE);
}

#[test]
fn a_division_of_chips_has_a_number_of_its_own_also_the_most_lopsided() {
    let mut last = None;
    for seats in 2..=6u8 {
        for rich in 0..seats {
            let mut stacks = [0; MAX_SEATS];
            stacks[usize::from(rich)] = u16::from(seats) * STACK;
            assert_eq!(unrank(rank(seats, &stacks)), (seats, stacks));
        }
        // Those between more seats come behind.
        let mut stacks = [0; MAX_SEATS];
        stacks[usize::from(seats) - 1] = u16::from(seats) * STACK;
        assert!(last.replace(rank(seats, &stacks)) < last);
    }
    assert!((2..=6).map(divisions).sum::<u64>().checked_mul(TOLD).is_some());
}

/// The cards in whatever is shown.
fn shown(seen: &Json, found: &mut BTreeSet<String>) {
    match seen {
        Json::String(text) if Card::named(text).is_some() => {
            found.insert(text.clone());
        }
        Json::Array(items) => items.iter().for_each(|item| shown(item, found)),
        Json::Object(members) => members.values().for_each(|member| shown(member, found)),
        _ => {}
    }
}

/// The cards of this hand that a viewer may know.
fn may_know(game: &TexasHoldem, viewer: Viewer) -> BTreeSet<String> {
    let holes = (0..game.seats).filter(|&seat| viewer == Viewer::Owner || viewer == Viewer::Seat(seat));
    let holes = holes.flat_map(|seat| game.cards.holes[usize::from(seat)]);
    holes.chain(game.cards.board.into_iter().take(game.street.board())).map(|card| card.to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn chips_are_kept_cards_are_unique_and_nobody_sees_what_is_hidden(
        seats in 2..=6u8,
        seed in any::<u8>(),
        picks in prop::collection::vec(any::<u8>(), 1..80),
    ) {
        let mut draws = Draws::new(Seed([seed; 32]));
        let mut game = TexasHoldem::start(seats, &mut draws);
        let mut hands = 0;
        for pick in picks.iter().cycle().take(400) {
            let Some(seat) = game.to_move().alone() else { break };
            let listed = moves_of(&game, seat, 20);
            prop_assert!([r#"["check"]"#, r#"["fold"]"#].contains(&listed[0].as_str()));
            for wanted in &listed {
                prop_assert_eq!(play(&mut game.clone(), seat, wanted, &mut draws.clone()), Ok(()));
            }
            for word in ["fold", "check", "call", "all_in"].map(|word| format!(r#"["{word}"]"#)) {
                let is_taken = play(&mut game.clone(), seat, &word, &mut draws.clone()).is_ok();
                prop_assert_eq!(is_taken, listed.contains(&word), "{}", word);
            }
            let wanted = &listed[usize::from(*pick) % listed.len()];
            play(&mut game, seat, wanted, &mut draws).unwrap();
            prop_assert_eq!(chips(&game), u32::from(seats) * 1000);
            let dealt = game.cards.holes.iter().take(seats.into()).flatten().chain(&game.cards.board);
            let dealt: BTreeSet<Card> = dealt.copied().collect();
            prop_assert_eq!(dealt.len(), 2 * usize::from(seats) + 5);
            if game.is_over() {
                prop_assert_eq!(view(&game, Viewer::Spectator, AGENTS), view(&game, Viewer::Owner, AGENTS));
                break;
            }
            for viewer in VIEWERS {
                let mut seen = view(&game, viewer, AGENTS);
                let past = seen["last_hand"].take();
                let mut found = BTreeSet::new();
                shown(&seen, &mut found);
                let known = may_know(&game, viewer);
                prop_assert!(found.is_subset(&known), "{:?} sees {:?} of {:?}", viewer, found, known);
                if viewer == Viewer::Spectator && hands != game.hand {
                    // Of the hand before: no card of who folded, or won alone.
                    hands = game.hand;
                    for player in past["players"].as_array().into_iter().flatten() {
                        prop_assert_eq!(player["hand"].is_null(), player["best"].is_null());
                    }
                }
            }
        }
        let told = |game: &AnyGame| format!("{:?} {} {}", game.standing(), said(|f| game.export(f)), said(|f| game.reason(AGENTS, f)));
        if !game.is_over() {
            game.forfeit(Seats::only(seed % seats), &mut draws);
        }
        let again = AnyGame::recall(GameKind::TexasHoldem, Seed([seed; 32]), game.digest());
        prop_assert_eq!(told(&again), told(&AnyGame::TexasHoldem(game)));
    }
}
