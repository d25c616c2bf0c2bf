extern crate std;
use super::*;
use crate::games::testing::{AGENTS, moves_of, play, result, said, view};
use crate::games::{AnyGame, GameKind};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

fn start(seats: u8) -> (Blackjack, Draws) {
    let mut draws = Draws::new(Seed([1; 32]));
    (Blackjack::start(seats, &mut draws), draws)
}

/// A hand that was dealt these cards, all having bet 10.
fn dealt(seats: u8, cards: &[Rank]) -> (Blackjack, Draws) {
    let (mut game, mut draws) = start(seats);
    for seat in 0..seats {
        play(&mut game, seat, r#"["bet","10"]"#, &mut draws).unwrap();
    }
    (game.cards, game.dealt, game.more) = ([0; MOST / 2], 0, [[0; 2]; MAX_SEATS]);
    game.chips = [0; MAX_SEATS];
    game.chips.iter_mut().take(seats.into()).for_each(|chips| *chips = 90);
    (game.hands, game.turns) = (0, 1);
    stack(&mut game, cards);
    game.go_on(0, false, &mut draws);
    (game, draws)
}

/// Puts cards behind those that were dealt.
fn stack(game: &mut Blackjack, cards: &[Rank]) {
    for &rank in cards {
        let at = usize::from(game.dealt);
        game.cards[at / 2] |= if at % 2 == 0 { rank } else { rank << 4 };
        game.dealt += 1;
    }
}

fn run(game: &mut Blackjack, draws: &mut Draws, words: &[&str]) {
    for word in words {
        let seat = game.to_move().alone().unwrap();
        play(game, seat, &format!(r#"["{word}"]"#), draws).unwrap_or_else(|why| panic!("{seat} {word}: {why:?}"));
    }
}

fn points(cards: &[Rank]) -> (u8, bool) {
    let total = Total::of(cards.iter().copied());
    (total.points, total.is_soft)
}

#[test]
fn an_ace_counts_eleven_as_long_as_that_is_no_more_than_21() {
    assert_eq!(points(&[1, 13]), (21, true));
    assert_eq!(points(&[1, 1]), (12, true));
    assert_eq!(points(&[1, 1, 10]), (12, false));
    assert_eq!(points(&[1, 6, 10]), (17, false));
    assert_eq!(points(&[11, 12, 2]), (22, false));
    assert_eq!(points(&[1; 21]), (21, false));
}

#[test]
fn all_bet_at_once_and_nobody_sees_a_bet_before_all_are_in() {
    let (mut game, mut draws) = start(3);
    assert_eq!(game.to_move(), Seats::first(3));
    assert_eq!(moves_of(&game, 1, 9), [r#"["bet","5"]"#, r#"["bet","10"]"#, r#"["bet","20"]"#, r#"["bet","50"]"#]);
    play(&mut game, 0, r#"["bet","5"]"#, &mut draws).unwrap();
    let shown = |game: &Blackjack| {
        let viewers = [Viewer::Seat(1), Viewer::Seat(2), Viewer::Spectator, Viewer::Owner];
        let words = said(|f| game.action(0, AGENTS, f)) + &said(|f| game.summary(AGENTS, f));
        format!("{:?} {words} {}", viewers.map(|viewer| view(game, viewer, AGENTS)), game.score(0))
    };
    let after_five = shown(&game);
    for other in ["10", "20", "50"] {
        let (mut game, mut draws) = start(3);
        play(&mut game, 0, &format!(r#"["bet","{other}"]"#), &mut draws).unwrap();
        assert_eq!(shown(&game), after_five);
    }
    assert!(play(&mut game, 0, r#"["bet","10"]"#, &mut draws).is_err());
    play(&mut game, 2, r#"["bet",50]"#, &mut draws).unwrap();
    assert_eq!((game.to_move(), game.turn()), (Seats::only(1), 1));
    play(&mut game, 1, r#"["bet",10.0]"#, &mut draws).unwrap();
    assert_eq!((game.turn(), game.chips[..3].to_vec()), (2, [95, 90, 50].to_vec()));
    assert_eq!(said(|f| game.action(2, AGENTS, f)), "Bets 50");
}

#[test]
fn cards_go_round_twice_the_dealers_last() {
    let (game, _) = dealt(2, &[2, 3, 4, 5, 6, 7]);
    let hand = |seat| game.hand(seat, false).collect::<Vec<_>>();
    assert_eq!((hand(0), hand(1)), ([2, 5].to_vec(), [3, 6].to_vec()));
    assert_eq!(game.dealer().collect::<Vec<_>>(), [4, 7]);
}

#[test]
fn the_dealers_second_card_is_seen_by_the_owner_alone_until_the_dealer_plays() {
    let (mut game, mut draws) = dealt(2, &[2, 10, 4, 5, 10, 13]);
    let dealer = |game: &Blackjack, viewer| view(game, viewer, AGENTS)["dealer"]["cards"].clone();
    for viewer in [Viewer::Seat(0), Viewer::Seat(1), Viewer::Spectator] {
        assert_eq!(dealer(&game, viewer), json!(["4", "?"]));
        assert_eq!(view(&game, viewer, AGENTS)["dealer"]["points"], 4);
    }
    assert_eq!(dealer(&game, Viewer::Owner), json!(["4", "K"]));
    run(&mut game, &mut draws, &["stand", "stand"]);
    assert_eq!(dealer(&game, Viewer::Seat(0))[1], "K");
}

#[test]
fn a_blackjack_pays_three_to_two_rounded_down_and_ties_with_the_dealers() {
    // 10 for seat 0 who has one, against 19.
    let (mut game, mut draws) = dealt(2, &[1, 10, 10, 13, 10, 9]);
    // Seat 0 is asked for nothing.
    assert_eq!(game.to_move(), Seats::only(1));
    run(&mut game, &mut draws, &["stand"]);
    assert_eq!(game.chips[..2], [90 + 25, 90 + 20]);
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Hand 1: the dealer has 19. AgentAlpha +15, AgentBeta +10.");
    game.bets[0] = 1;
    assert_eq!(game.paid(0, false), 5 + 7);
    // Both have one, and 21 in three cards is less.
    let (mut game, mut draws) = dealt(2, &[1, 10, 1, 13, 5, 10]);
    run(&mut game, &mut draws, &["stand"]);
    assert_eq!(game.chips[..2], [90 + 10, 90]);
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Hand 1: the dealer has a blackjack. AgentAlpha +0, AgentBeta -10.");
}

#[test]
fn the_dealer_stands_on_every_17_and_equal_points_tie() {
    let (mut game, mut draws) = dealt(2, &[10, 10, 1, 7, 8, 6]);
    run(&mut game, &mut draws, &["stand", "stand"]);
    assert_eq!(game.dealer().count(), 2);
    assert_eq!(game.chips[..2], [90 + 10, 90 + 20]);
}

#[test]
fn a_double_takes_one_card_for_twice_the_bet_and_only_on_two_cards() {
    let (mut game, mut draws) = dealt(2, &[2, 10, 10, 3, 10, 7]);
    assert_eq!(moves_of(&game, 0, 9), [r#"["stand"]"#, r#"["hit"]"#, r#"["double"]"#]);
    let mut hit = game.clone();
    run(&mut hit, &mut draws, &["hit"]);
    assert_eq!(moves_of(&hit, 0, 9), [r#"["stand"]"#, r#"["hit"]"#]);
    run(&mut game, &mut draws, &["double"]);
    assert_eq!((game.to_move(), game.stake(0, false), game.chips[0]), (Seats::only(1), 20, 80));
    assert_eq!(game.hand(0, false).count(), 3);
}

#[test]
fn a_pair_is_split_once_into_two_hands_with_a_bet_each_and_may_be_doubled_then() {
    let (mut game, mut draws) = dealt(2, &[8, 10, 10, 8, 10, 7]);
    assert_eq!(moves_of(&game, 0, 9)[2..], [r#"["double"]"#, r#"["split"]"#]);
    run(&mut game, &mut draws, &["split"]);
    assert_eq!((game.hand(0, false).count(), game.hand(0, true).count(), game.chips[0]), (2, 1, 80));
    assert!(!moves_of(&game, 0, 9).contains(&r#"["split"]"#.into()));
    run(&mut game, &mut draws, &["double"]);
    assert_eq!((game.phase, game.stake(0, false), game.stake(0, true)), (Phase::Play(0, true), 20, 10));
    assert_eq!(game.hand(0, true).count(), 2);
    run(&mut game, &mut draws, &["stand", "stand"]);
    assert_eq!(view(&game, Viewer::Spectator, AGENTS)["players"][0]["hands"].as_array().unwrap().len(), 2);
}

#[test]
fn only_equal_ranks_are_split_and_aces_get_one_card_each() {
    let (game, mut draws) = dealt(2, &[13, 10, 10, 12, 10, 7]);
    let refused = play(&mut game.clone(), 0, r#"["split"]"#, &mut draws);
    assert_eq!(refused, Err(Illegal("split: once a hand, and only two cards of the same rank")));
    let (mut game, mut draws) = dealt(2, &[1, 10, 10, 1, 10, 7]);
    run(&mut game, &mut draws, &["split"]);
    assert_eq!((game.hand(0, false).count(), game.hand(0, true).count()), (2, 2));
    assert_eq!(game.to_move(), Seats::only(1));
    // 21 after a split is no blackjack.
    (game.cards[3], game.more[0]) = (10 | 10 << 4, [1, 1]);
    assert_eq!((game.total(0, false).points, game.paid(0, false)), (21, 20));
}

#[test]
fn who_has_too_few_chips_cannot_double_split_or_bet_so_much_and_below_5_sits_out() {
    let (mut game, mut draws) = dealt(2, &[8, 10, 10, 8, 10, 7]);
    game.chips[0] = 9;
    assert_eq!(moves_of(&game, 0, 9), [r#"["stand"]"#, r#"["hit"]"#]);
    run(&mut game, &mut draws, &["stand", "stand"]);
    // 16 against 17 loses.
    assert_eq!(moves_of(&game, 0, 9), [r#"["bet","5"]"#]);
    let refused = play(&mut game, 0, r#"["bet","10"]"#, &mut draws);
    assert_eq!(refused, Err(Illegal("move[1]: you have fewer chips than that")));
    game.chips[0] = 4;
    assert_eq!(game.to_move(), Seats::only(1));
    play(&mut game, 1, r#"["bet","10"]"#, &mut draws).unwrap();
    assert_eq!(view(&game, Viewer::Spectator, AGENTS)["players"][0]["hands"], json!([]));
    assert_eq!(game.hand(1, false).count(), 2);
}

#[test]
fn a_match_without_anybody_who_could_bet_is_over() {
    let (mut game, mut draws) = dealt(2, &[10, 10, 10, 6, 6, 10]);
    game.chips = [0; MAX_SEATS];
    run(&mut game, &mut draws, &["stand", "stand"]);
    assert_eq!((game.phase, game.hands), (Phase::Over, 1));
    assert_eq!(game.standing().unwrap().winner(), None);
}

#[test]
fn the_bank_has_no_more_for_who_has_a_thousand() {
    let (mut game, mut draws) = dealt(2, &[10, 10, 10, 10, 6, 8]);
    game.chips[0] = 990;
    run(&mut game, &mut draws, &["stand", "stand"]);
    assert_eq!(game.chips[..2], [1000, 90]);
}

#[test]
fn a_move_that_breaks_a_rule_is_refused_by_name() {
    let (mut game, mut draws) = start(2);
    for (wanted, rule) in [
        ("7", "move: a list"),
        (r#"["bet"]"#, "move[1]: a bet is"),
        (r#"["bet","15"]"#, "move[1]: a bet is"),
        (r#"["raise","10"]"#, "move[0]: \"bet\""),
        (r#"["hit"]"#, "move[0]: first a bet"),
        (r#"["hit","10"]"#, "move[1]: only a bet"),
    ] {
        let Illegal(reason) = play(&mut game, 0, wanted, &mut draws).unwrap_err();
        assert!(reason.starts_with(rule), "{wanted}: {reason}");
        assert_eq!(game.to_move(), Seats::first(2));
    }
    let (mut game, mut draws) = dealt(2, &[2, 10, 10, 3, 10, 7]);
    assert!(play(&mut game, 0, r#"["bet","10"]"#, &mut draws).unwrap_err().0.starts_with("move[0]: you have bet"));
    assert_eq!(play(&mut game, 1, r#"["hit"]"#, &mut draws), Err(Illegal("it is not your turn")));
}

#[test]
fn who_gives_up_leaves_its_chips_and_the_others_take_back_their_bets() {
    let (mut game, mut draws) = dealt(3, &[2, 10, 10, 10, 3, 10, 7, 7]);
    run(&mut game, &mut draws, &["double"]);
    game.forfeit(Seats::only(1), &mut draws);
    let standing = game.standing().unwrap();
    assert_eq!((&standing.scores[..3], &standing.places[..3]), (&[100, 0, 100][..], &[1, 3, 1][..]));
    assert_eq!(result(&game, AGENTS), r#"{"hands":0,"chips":{"uuid-1":100,"uuid-2":0,"uuid-3":100}}"#);
}

#[test]
fn the_state_takes_what_the_file_says() {
    assert_eq!(size_of::<Blackjack>(), Blackjack::SIZE);
}

/// Every card that a viewer is shown, but for those that lie face down.
fn shown(seen: &Json) -> Vec<&str> {
    let hands = seen["players"].as_array().unwrap().iter().flat_map(|player| player["hands"].as_array().unwrap());
    let cards = hands.map(|hand| &hand["cards"]).chain([&seen["dealer"]["cards"]]);
    cards.flat_map(|cards| cards.as_array().unwrap()).map(|card| card.as_str().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn chips_come_and_go_only_when_bets_are_made_and_paid_and_no_view_shows_the_dealers_card(
        seats in 2..=6u8,
        seed in any::<u8>(),
        picks in prop::collection::vec(any::<u8>(), 1..60),
    ) {
        let mut draws = Draws::new(Seed([seed; 32]));
        let mut game = Blackjack::start(seats, &mut draws);
        for pick in picks.iter().cycle().take(600) {
            let Some(seat) = game.to_move().iter().nth(usize::from(*pick) % game.to_move().len().max(1) as usize) else { break };
            let listed = moves_of(&game, seat, 20);
            prop_assert!([r#"["bet","5"]"#, r#"["stand"]"#].contains(&listed[0].as_str()));
            for wanted in &listed {
                prop_assert_eq!(play(&mut game.clone(), seat, wanted, &mut draws.clone()), Ok(()));
            }
            let all = ["stand", "hit", "double", "split"].map(|word| format!(r#"["{word}"]"#)).into_iter();
            for word in all.chain(BETS.map(|bet| format!(r#"["bet","{bet}"]"#))) {
                let is_taken = play(&mut game.clone(), seat, &word, &mut draws.clone()).is_ok();
                prop_assert_eq!(is_taken, listed.contains(&word), "{}", word);
            }
            let owned = |game: &Blackjack, seat: Seat| {
                let stakes = game.hands(seat).map(|second| game.stake(seat, second)).sum::<u16>();
                game.chips[usize::from(seat)] + if matches!(game.phase, Phase::Play(..)) { stakes } else { 0 }
            };
            let before: Vec<u16> = (0..seats).map(|seat| owned(&game, seat)).collect();
            let hands = game.hands;
            play(&mut game, seat, &listed[usize::from(*pick) / 7 % listed.len()], &mut draws).unwrap();
            if game.hands == hands {
                let after: Vec<u16> = (0..seats).map(|seat| owned(&game, seat)).collect();
                prop_assert_eq!(before, after);
            }
            for rank in 1..=RANKS {
                prop_assert!((0..usize::from(game.dealt)).filter(|&at| game.card(at) == rank).count() <= 24);
            }
            let is_playing = matches!(game.phase, Phase::Play(..));
            for viewer in (0..seats).map(Viewer::Seat).chain([Viewer::Spectator]) {
                let seen = view(&game, viewer, AGENTS);
                let cards = shown(&seen);
                prop_assert_eq!(cards.len(), usize::from(game.dealt));
                prop_assert_eq!(cards.iter().filter(|&&card| card == "?").count(), usize::from(is_playing));
            }
            prop_assert!(!shown(&view(&game, Viewer::Owner, AGENTS)).contains(&"?"));
        }
        let told = |game: &AnyGame| format!("{:?} {} {}", game.standing(), said(|f| game.export(f)), said(|f| game.reason(AGENTS, f)));
        if game.phase != Phase::Over {
            game.forfeit(Seats::only(seed % seats), &mut draws);
        }
        let again = AnyGame::recall(GameKind::Blackjack, Seed([seed; 32]), game.digest());
        prop_assert_eq!(told(&again), told(&AnyGame::Blackjack(game)));
    }
}

#[test]
fn a_match_has_ten_hands_and_most_chips_win() {
    let (mut game, mut draws) = start(2);
    while let Some(seat) = game.to_move().iter().next() {
        let wanted = &moves_of(&game, seat, 1)[0];
        play(&mut game, seat, wanted, &mut draws).unwrap();
    }
    assert_eq!((game.hands, view(&game, Viewer::Spectator, AGENTS)["phase"].to_string()), (10, "\"over\"".to_string()));
    let [a, b] = [game.score(0), game.score(1)];
    let told: String = said(|f| game.reason(AGENTS, f));
    assert_eq!(told, format!("After 10 hands: AgentAlpha {a}, AgentBeta {b}"));
}
