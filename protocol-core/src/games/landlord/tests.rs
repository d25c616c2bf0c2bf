extern crate std;
use super::*;
use crate::games::testing::{AGENTS, moves_of, play, recorded, result, said, view};
use crate::json::parse;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Cards from their ranks: "3 3 3 4".
fn cards(text: &str) -> Cards {
    let ranks = text.split_whitespace().map(|name| Rank::all().find(|rank| rank.name() == name).unwrap());
    ranks.fold(Cards::NONE, |cards, rank| cards.with(rank).unwrap())
}

/// As a move is sent.
fn sent(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().map(|word| format!("\"{word}\"")).collect();
    format!("[{}]", words.join(","))
}

fn start(seed: u8) -> (Landlord, Draws) {
    let mut draws = Draws::new(Seed([seed; 32]));
    (Landlord::start(3, &mut draws), draws)
}

/// A match in which seat 0 is the landlord at `bid`, and these are the hands.
fn playing(hands: [&str; 3], bid: Bid) -> (Landlord, Draws) {
    let mut draws = Draws::new(Seed([1; 32]));
    let mut game = Landlord::empty();
    game.bids = [Some(bid), Some(Bid::Pass), Some(Bid::Pass)];
    game.close_auction(&mut draws);
    game.hands = hands.map(cards);
    (game, draws)
}

/// Makes moves in turn.
fn after(game: &mut Landlord, draws: &mut Draws, moves: &[&str]) {
    for wanted in moves {
        let seat = game.mover;
        play(game, seat, &sent(wanted), draws).unwrap_or_else(|rule| panic!("{wanted}: {rule:?}"));
    }
}

fn refused(game: &Landlord, wanted: &str) -> &'static str {
    let (mut game, mut draws) = (game.clone(), Draws::new(Seed([0; 32])));
    let seat = game.mover;
    play(&mut game, seat, wanted, &mut draws).unwrap_err().0
}

#[test]
fn a_deal_is_drawn_card_by_card_from_those_that_are_left_the_lowest_first() {
    let (game, _) = start(7);
    let mut draws = Draws::new(Seed([7; 32]));
    let names = ["3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2"];
    let mut deck: Vec<&str> = names.iter().flat_map(|&name| [name; 4]).chain(["BJ", "RJ"]).collect();
    assert_eq!(deck.len(), 54);
    for hand in game.hands {
        let drawn: Vec<_> = (0..17).map(|_| deck.remove(draws.below(deck.len() as u32) as usize)).collect();
        assert_eq!(hand, cards(&drawn.join(" ")));
    }
    let owner = view(&game, Viewer::Owner, AGENTS);
    assert_eq!(owner["kitty"], json!(deck));
}

mod the_auction {
    use super::*;

    fn offered(game: &Landlord) -> Vec<String> {
        moves_of(game, game.mover, 9)
    }

    #[test]
    fn goes_once_around_each_bid_higher_and_the_highest_bidder_takes_the_kitty_and_leads() {
        let (mut game, mut draws) = start(1);
        let all = [r#"["pass"]"#, r#"["bid","1"]"#, r#"["bid","2"]"#, r#"["bid","3"]"#];
        assert_eq!(offered(&game), all);
        after(&mut game, &mut draws, &["bid 1"]);
        assert_eq!(offered(&game), [all[0], all[2], all[3]]);
        after(&mut game, &mut draws, &["bid 2"]);
        assert_eq!(refused(&game, r#"["bid","2"]"#), "bid: must be higher than the bids before");
        after(&mut game, &mut draws, &["pass"]);
        assert_eq!((game.mover, game.hands.map(Cards::len)), (1, [17, 20, 17]));
        let seen = view(&game, Viewer::Spectator, AGENTS);
        assert_eq!((&seen["landlord"], &seen["worth"]), (&json!("uuid-2"), &json!(2)));
        assert_eq!(seen["kitty"].as_array().unwrap().len(), 3);
        assert_eq!(said(|f| game.summary(AGENTS, f)), "Deal 1: AgentGamma passes; AgentBeta is the landlord");
    }

    #[test]
    fn ends_with_a_bid_of_three() {
        let (mut game, mut draws) = start(1);
        after(&mut game, &mut draws, &["pass", "bid 3"]);
        assert_eq!((game.mover, game.bid()), (1, 3));
        assert_eq!(refused(&game, r#"["bid","3"]"#), "bid: the auction is over, and cards are played");
    }

    #[test]
    fn gives_new_cards_when_all_pass_and_the_third_time_the_first_bidder_is_landlord_at_one() {
        let (mut game, mut draws) = start(1);
        let mut hands = game.hands;
        for _ in 0..2 {
            after(&mut game, &mut draws, &["pass", "pass", "pass"]);
            assert_ne!(game.hands, hands);
            assert_eq!((game.mover, game.turn()), (0, u16::from(game.passed_out) * 3 + 1));
            assert_eq!(said(|f| game.summary(AGENTS, f)), "Deal 1: AgentGamma passes; nobody bids, new cards");
            hands = game.hands;
        }
        after(&mut game, &mut draws, &["pass", "pass", "pass"]);
        assert_eq!((game.mover, game.bid(), game.hands[0].len()), (0, 1, 20));
        assert_eq!(game.hands[1..], hands[1..]);
    }

    #[test]
    fn begins_one_seat_further_in_every_deal() {
        let (mut game, mut draws) = start(1);
        for deal in 0..3 {
            assert_eq!((game.deals, game.mover), (deal, deal));
            game.bids = [Some(Bid::One), Some(Bid::Pass), Some(Bid::Pass)];
            game.close_auction(&mut draws);
            game.hands = ["3", "4", "4"].map(cards);
            after(&mut game, &mut draws, &["3"]);
        }
        assert!(game.standing().is_some() && game.to_move().is_empty());
    }
}

mod a_play {
    use super::*;

    #[test]
    fn is_one_of_fourteen_kinds() {
        for (text, name) in [
            ("RJ", "solo"),
            ("2 2", "pair"),
            ("2 2 2", "trio"),
            ("2 2 2 RJ", "trio with a solo"),
            ("3 3 2 2 2", "trio with a pair"),
            ("3 4 5 6 7", "straight"),
            ("3 4 5 6 7 8 9 10 J Q K A", "straight"),
            ("Q Q K K A A", "pair straight"),
            ("K K K A A A", "plane"),
            ("3 3 3 4 4 4 5 6", "plane with solos"),
            ("3 3 3 4 4 4 2 BJ", "plane with solos"),
            ("3 3 3 4 4 4 9 9 2 2", "plane with pairs"),
            ("3 3 3 3", "bomb"),
            ("3 3 3 3 4 RJ", "four with two solos"),
            ("2 2 2 2 3 3 4 4", "four with two pairs"),
            ("BJ RJ", "rocket"),
        ] {
            assert_eq!(Play::of(cards(text)).map(Play::name), Ok(name), "{text}");
        }
    }

    #[test]
    fn that_is_none_of_them_is_refused_by_the_rule_it_breaks() {
        for (text, rule) in [
            ("3 4", "cards: a straight has five cards or more, 3 to A"),
            ("3 4 5 6 8", "cards: a straight has five cards or more, 3 to A"),
            ("10 J Q K A 2", "cards: a straight has five cards or more, 3 to A"),
            ("3 3 4 4", "cards: a pair straight has three pairs or more, 3 to A"),
            ("K K A A 2 2", "cards: a pair straight has three pairs or more, 3 to A"),
            ("3 3 3 5 5 5", "cards: the trios of a plane stand in a row, 3 to A"),
            ("A A A 2 2 2", "cards: the trios of a plane stand in a row, 3 to A"),
            ("3 3 3 3 4 4 4 4", "cards: only one four is played at once"),
            ("3 3 4", "cards: this is no play: solos and pairs go together only with trios or a four"),
            ("3 3 3 3 4 4 4", "cards: this is no play: a four takes no trio"),
            ("3 3 3 4 5", "cards: each trio takes one solo, or each takes one pair, all of different ranks"),
            ("3 3 3 4 4 4 5 5", "cards: each trio takes one solo, or each takes one pair, all of different ranks"),
            ("3 3 3 4 4 4 5 6 6", "cards: each trio takes one solo, or each takes one pair, all of different ranks"),
            ("3 3 3 3 4", "cards: a four takes two solos or two pairs, of different ranks"),
            ("3 3 3 3 4 4", "cards: a four takes two solos or two pairs, of different ranks"),
            ("3 3 3 3 BJ RJ", "cards: both jokers are never kickers together"),
            ("3 3 3 4 4 4 BJ RJ", "cards: both jokers are never kickers together"),
        ] {
            assert_eq!(Play::of(cards(text)), Err(Illegal(rule)), "{text}");
        }
        assert!(Play::of(Cards::NONE).is_err());
    }

    #[test]
    fn is_beaten_by_its_own_kind_and_length_with_a_higher_rank_by_bombs_and_by_the_rocket() {
        let beats = |one: &str, other: &str| Play::of(cards(one)).unwrap().beats(Play::of(cards(other)).unwrap());
        for (higher, lower) in [
            ("RJ", "BJ"),
            ("2", "A"),
            ("4 4 4 3", "3 3 3 2"),
            ("4 5 6 7 8", "3 4 5 6 7"),
            ("3 3 3 3", "10 J Q K A"),
            ("4 4 4 4", "3 3 3 3"),
            ("3 3 3 3", "2 2 2 2 4 5"),
            ("BJ RJ", "2 2 2 2"),
        ] {
            assert!(beats(higher, lower) && !beats(lower, higher), "{higher} and {lower}");
        }
        for (one, other) in [
            ("4 5 6 7 8 9", "3 4 5 6 7"),
            ("4 4", "3"),
            ("4 4 4 5", "3 3 3"),
            ("4 4 4 5 5", "3 3 3 6"),
            ("4 4 4 4 5 6", "3 3 3 3 7 7 8 8"),
        ] {
            assert!(!beats(one, other) && !beats(other, one), "{one} and {other}");
        }
    }
}

mod a_trick {
    use super::*;

    #[test]
    fn is_cleared_by_two_passes_and_who_passed_may_play_again_before_that() {
        let (mut game, mut draws) = playing(["3 3 5 9", "4 4 10", "6 6 J"], Bid::One);
        assert_eq!(refused(&game, r#"["pass"]"#), "pass: who leads must play");
        after(&mut game, &mut draws, &["3 3", "pass", "6 6", "pass"]);
        assert_eq!(moves_of(&game, 1, 9), [r#"["pass"]"#]);
        let seen = view(&game, Viewer::Spectator, AGENTS);
        assert_eq!(seen["trick"], json!({"uuid-1": ["pass"], "uuid-2": ["pass"], "uuid-3": ["6", "6"]}));
        assert_eq!(seen["to_beat"], json!({"player": "uuid-3", "cards": ["6", "6"]}));
        assert_eq!(seen["played"], json!(Cards::ALL.without(cards("5 9 4 4 10 J")).unwrap()));
        after(&mut game, &mut draws, &["pass"]);
        assert_eq!((game.mover, game.to_beat()), (2, None));
        assert_eq!(said(|f| game.action(1, AGENTS, f)), "Passed");
        let (mut game, mut draws) = playing(["3 3 5 9", "4 4 10", "6 7 J"], Bid::One);
        after(&mut game, &mut draws, &["3", "pass", "6", "9", "10"]);
        assert_eq!(said(|f| game.summary(AGENTS, f)), "Deal 1: AgentBeta plays 10");
    }

    #[test]
    fn must_be_beaten_with_cards_one_has() {
        let (mut game, mut draws) = playing(["3 3 5 9", "4 10 10", "6 6 J"], Bid::One);
        after(&mut game, &mut draws, &["3 3"]);
        for (wanted, rule) in [
            (sent("4 4"), "cards: you have not got all of these"),
            (sent("4 4 4 4 4"), "cards: you have not got all of these"),
            (
                sent("10"),
                "cards: must beat the last play: the same kind and length with a higher rank, a bomb, or the rocket",
            ),
            (sent("joker"), "cards: the ranks are 3 4 5 6 7 8 9 10 J Q K A 2 BJ RJ"),
            ("[11]".into(), "cards: the ranks are 3 4 5 6 7 8 9 10 J Q K A 2 BJ RJ"),
            (sent("pass pass"), "cards: the ranks are 3 4 5 6 7 8 9 10 J Q K A 2 BJ RJ"),
            ("[]".into(), "move: a list of words: [\"pass\"], [\"bid\",\"2\"] or the ranks of your cards"),
            ("7".into(), "move: a list of words: [\"pass\"], [\"bid\",\"2\"] or the ranks of your cards"),
            (sent("bid 4"), "bid: [\"bid\",\"1\"], [\"bid\",\"2\"] or [\"bid\",\"3\"]"),
            (sent("bid"), "bid: [\"bid\",\"1\"], [\"bid\",\"2\"] or [\"bid\",\"3\"]"),
            (sent("bid 1 1"), "bid: [\"bid\",\"1\"], [\"bid\",\"2\"] or [\"bid\",\"3\"]"),
        ] {
            assert_eq!(refused(&game, &wanted), rule, "{wanted}");
        }
        let (game, _) = start(1);
        assert_eq!(refused(&game, r#"["3"]"#), "cards: the auction comes first: pass, or bid");
    }

    #[test]
    fn takes_cards_in_any_order_and_numbers_for_words_and_is_filmed_as_listed() {
        let filmed = json!(["3", "3", "3", "10"]);
        for wanted in
            [r#"["3","10","3","3"]"#, "[10,3,3.0,3]", r#"{"action":["3","3","3","10"]}"#, r#"["3","3",3,"10"]"#]
        {
            let (mut game, mut draws) = playing(["3 3 3 10 J", "4", "4"], Bid::One);
            play(&mut game, 0, wanted, &mut draws).unwrap();
            assert_eq!(recorded(&game, 0, wanted), filmed);
        }
        let (mut game, mut draws) = start(1);
        for wanted in [r#""pass""#, r#"["bid",2.0]"#, r#"{"action":["BID","3"]}"#] {
            let seat = game.mover;
            play(&mut game, seat, wanted, &mut draws).unwrap();
        }
        assert_eq!((game.mover, game.bid()), (2, 3));
        let (mut game, mut draws) = playing(["2 A bj rj".to_uppercase().as_str(), "4", "4"], Bid::One);
        play(&mut game, 0, r#"["bj","rj"]"#, &mut draws).unwrap();
        assert_eq!(recorded(&game, 0, r#"["rj","bj"]"#), json!(["BJ", "RJ"]));
    }
}

mod the_score {
    use super::*;

    #[test]
    fn is_the_bid_twice_for_the_landlord_and_once_for_each_farmer() {
        let (mut game, mut draws) = playing(["3 5", "4 6", "7 8"], Bid::Three);
        after(&mut game, &mut draws, &["3", "4", "7", "pass", "pass", "8"]);
        assert_eq!(game.scores, [-6 * 2, 3 * 2, 3 * 2], "a spring: the landlord played only its first lead");
        let (mut game, mut draws) = playing(["3 5 9", "4 6", "7 8"], Bid::Two);
        after(&mut game, &mut draws, &["3", "4", "7", "9", "pass", "pass", "5"]);
        assert_eq!(game.scores, [4, -2, -2]);
        let (mut game, mut draws) = playing(["3 9 5", "4 6", "7 8"], Bid::Two);
        after(&mut game, &mut draws, &["3", "4", "7", "9", "pass", "pass"]);
        let past = said(|f| game.summary(AGENTS, f));
        assert_eq!(past, "Deal 1: AgentGamma passes");
    }

    #[test]
    fn is_doubled_by_every_bomb_by_the_rocket_and_by_a_spring() {
        let (mut game, mut draws) = playing(["3 BJ RJ 5", "4 4 4 4 6", "7 8"], Bid::Two);
        after(&mut game, &mut draws, &["3", "4 4 4 4", "pass", "BJ RJ", "pass", "pass"]);
        assert_eq!(view(&game, Viewer::Spectator, AGENTS)["worth"], 8);
        after(&mut game, &mut draws, &["5"]);
        assert_eq!(game.scores, [16, -8, -8]);
        let (mut game, mut draws) = playing(["3 3 3 3", "4 4 4 4 6", "7 8"], Bid::Three);
        after(&mut game, &mut draws, &["3 3 3 3"]);
        assert_eq!(game.scores, [24, -12, -12], "a bomb and a spring");
        assert_eq!(
            said(|f| game.summary(AGENTS, f)),
            "Deal 1: AgentAlpha plays 3 3 3 3, a bomb: the landlord wins 24 points with a spring"
        );
        assert_eq!(said(|f| game.action(0, AGENTS, f)), "Played 3 3 3 3, a bomb");
        let seen = view(&game, Viewer::Seat(1), AGENTS);
        assert_eq!(
            seen["last_deal"],
            json!({
                "landlord": "uuid-1", "winner": "uuid-1", "spring": true,
                "points": {"uuid-1": 24, "uuid-2": -12, "uuid-3": -12},
                "hands": {"uuid-1": ["3", "3", "3", "3"], "uuid-2": ["4", "4", "4", "4", "6"], "uuid-3": ["7", "8"]},
            })
        );
    }

    #[test]
    fn of_three_deals_decides_the_match_and_who_gives_up_is_last() {
        let (mut game, mut draws) = start(3);
        for hands in [["3", "4 4", "5 5"], ["3 3", "4", "5 5"], ["3", "4 4", "5 5"]] {
            game.bids = [Some(Bid::Pass), Some(Bid::One), Some(Bid::Pass)];
            game.close_auction(&mut draws);
            (game.hands, game.mover) = (hands.map(cards), hands.iter().position(|hand| hand.len() == 1).unwrap() as u8);
            let last = hands.into_iter().find(|hand| hand.len() == 1).unwrap();
            after(&mut game, &mut draws, &[last]);
        }
        // The landlord of all three is seat 1, and won the second with a spring; the others were played by farmers.
        assert_eq!(game.scores, [0, 0, 0]);
        assert_eq!(game.standing().unwrap().places[..3], [1, 1, 1]);
        assert_eq!(
            said(|f| game.reason(AGENTS, f)),
            "AgentAlpha has 0 points after 3 deals, AgentBeta 0, AgentGamma 0"
        );
        let over = view(&game, Viewer::Spectator, AGENTS);
        assert_eq!((&over["phase"], &over["to_move"], &over["deal"]), (&json!("over"), &json!(null), &json!(3)));
        let (mut game, mut draws) = start(3);
        game.scores = [5, -10, 5];
        game.forfeit(Seats::only(2), &mut draws);
        assert_eq!(game.standing().unwrap().places[..3], [1, 2, 3]);
        assert_eq!(
            result(&game, AGENTS),
            r#"{"total_deals":0,"total_moves":0,"final_score":{"uuid-1":5,"uuid-2":-10,"uuid-3":5}}"#
        );
    }

    #[test]
    fn can_be_recalled_however_high_it_is() {
        let most = 3 * 2 * (3 << 15);
        for scores in [[most, -most / 2, -most / 2], [-most, most / 2, most / 2], [1, -2, 1], [-1, -1, 2]] {
            let game =
                Landlord { scores, moves: 3 * MOVES, deals: 2, forfeited: Seats::only(1).with(2), ..Landlord::empty() };
            let again = Landlord::recall(Seed([0; 32]), game.digest());
            assert_eq!((again.scores, again.moves, again.deals), (scores, 3 * MOVES, 2));
            assert_eq!(again.forfeited, game.forfeited);
        }
    }
}

/// Every play of a hand as text.
fn listed(hand: Cards, over: Option<Play>) -> Vec<String> {
    let mut all = Vec::new();
    let _ = plays::list(hand, over, &mut |cards| {
        all.push(told::Spoken(cards).to_string());
        ControlFlow::Continue(())
    });
    all
}

/// Every choice of some of these cards.
fn parts(hand: Cards) -> Vec<Cards> {
    let mut parts = std::vec![Cards::NONE];
    for rank in Rank::all() {
        let mut more = Vec::new();
        for part in parts {
            let mut next = Some(part);
            for _ in 0..=hand.count(rank) {
                more.extend(next);
                next = next.and_then(|part| part.with(rank));
            }
        }
        parts = more;
    }
    parts
}

/// The hand of twenty with the most moves that a search found: a row of twelve, and four trios in it.
const WORST: &str = "3 4 5 6 7 8 9 10 J J J Q Q Q K K K A A A";

#[test]
fn the_worst_hand_lists_each_of_its_497_moves_once() {
    let all = listed(cards(WORST), None);
    assert_eq!(all.len(), 497);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 497);
    let (game, _) = playing([WORST, "3", "3"], Bid::One);
    let bytes: usize = moves_of(&game, 0, 1000).iter().map(|listed| listed.len() + 1).sum();
    assert!((20_000..24_000).contains(&bytes), "{bytes}");
    // As they are written into a socket, and never held.
    let written = |hand: Cards| {
        let (begin, mut count) = (std::time::Instant::now(), 0);
        for _ in 0..100 {
            count = 0;
            let _ = plays::list(hand, None, &mut |cards| {
                count += crate::json::count(&Deed::Play(cards));
                ControlFlow::Continue(())
            });
        }
        (count, begin.elapsed() / 100)
    };
    let (worst, usual) = (written(cards(WORST)), written(start(1).0.hands[0]));
    std::println!(
        "the worst hand: {} bytes in {:?}; a usual one: {} bytes in {:?}",
        worst.0,
        worst.1,
        usual.0,
        usual.1
    );
    assert!(worst.1.as_millis() < 20, "{worst:?}");
}

/// A match at some moment: the seed of its cards, and which of the listed moves are made.
fn moment() -> impl Strategy<Value = (u8, Vec<u16>)> {
    (any::<u8>(), prop::collection::vec(any::<u16>(), 0..150))
}

/// Plays to that moment, and tells every state on the way.
fn played((seed, picks): &(u8, Vec<u16>), mut each: impl FnMut(&Landlord)) {
    let (mut game, mut draws) = start(*seed);
    for pick in picks {
        each(&game);
        let Some(seat) = game.to_move().alone() else { break };
        let moves = moves_of(&game, seat, 1000);
        let pick = &moves[usize::from(*pick) % moves.len()];
        game.play(seat, parse(pick.as_bytes()).unwrap(), &mut draws).unwrap();
    }
    each(&game);
}

proptest! {
    #[test]
    fn no_card_is_lost_or_made(moment in moment()) {
        let mut laid = Cards::NONE;
        let mut deal = 0;
        played(&moment, |game| {
            let out = game.hands.iter().try_fold(Cards::ALL, |left, &hand| left.without(hand)).unwrap();
            match (&game.phase, game.last_deed()) {
                (Phase::Auction { .. }, _) if game.deals < DEALS => {
                    assert_eq!((game.hands.map(Cards::len), out.len()), ([17; 3], 3));
                }
                (Phase::Tricks { plays: [0, 0], kitty, landlord, .. }, _) => {
                    assert_eq!((game.hands[usize::from(*landlord)].len(), kitty.len(), out), (20, 3, Cards::NONE));
                    (laid, deal) = (Cards::NONE, game.deals);
                }
                (Phase::Tricks { .. }, Some((_, Deed::Play(cards)))) => {
                    laid = laid.and(cards);
                    assert_eq!((laid, deal), (out, game.deals));
                }
                (Phase::Tricks { .. }, _) => assert_eq!(laid, out),
                (Phase::Auction { .. }, _) => {}
            }
            assert_eq!(game.scores.iter().sum::<i32>(), 0);
        });
    }

    #[test]
    fn nobody_sees_anything_that_depends_on_cards_hidden_from_them(moment in moment(), swap in any::<[u8; 4]>()) {
        let mut last = start(0).0;
        played(&moment, |game| last = game.clone());
        prop_assume!(last.standing().is_none());
        // Two cards that are hidden from a viewer change places; in the auction the kitty is a fourth hand.
        let mut hands: Vec<Cards> = last.hands.to_vec();
        if let Phase::Auction { .. } = last.phase {
            hands.push(hands.iter().try_fold(Cards::ALL, |left, &hand| left.without(hand)).unwrap());
        }
        let [from, to, card, other] = swap.map(usize::from);
        let (from, to) = (from % hands.len(), to % hands.len());
        prop_assume!(from != to && !hands[from].is_empty() && !hands[to].is_empty());
        let pick = |hand: Cards, n: usize| Cards::NONE.with(hand.iter().nth(n % usize::from(hand.len())).unwrap()).unwrap();
        let (card, other) = (pick(hands[from], card), pick(hands[to], other));
        let changed = |hand: Cards, out: Cards, into: Cards| hand.without(out).unwrap().and(into);
        let mut swapped = last.clone();
        let put = |hands: &mut EachSeat<Cards>, at: usize, hand| if let Some(place) = hands.get_mut(at) { *place = hand };
        put(&mut swapped.hands, from, changed(hands[from], card, other));
        put(&mut swapped.hands, to, changed(hands[to], other, card));
        let seats = (0..SEATS).filter(|&seat| usize::from(seat) != from && usize::from(seat) != to).map(Viewer::Seat);
        for viewer in seats.chain([Viewer::Spectator]) {
            prop_assert_eq!(view(&last, viewer, AGENTS), view(&swapped, viewer, AGENTS));
        }
        prop_assert_eq!(said(|f| last.summary(AGENTS, f)), said(|f| swapped.summary(AGENTS, f)));
        if card != other {
            prop_assert_ne!(view(&last, Viewer::Owner, AGENTS), view(&swapped, Viewer::Owner, AGENTS));
        }
    }

    #[test]
    fn entry_0_is_a_pass_or_the_lowest_solo_and_every_listed_move_is_accepted_once(moment in moment()) {
        let mut last = start(0).0;
        played(&moment, |game| last = game.clone());
        if let Some(seat) = last.to_move().alone() {
            let moves = moves_of(&last, seat, 1000);
            let lowest = last.hands[usize::from(seat)].iter().next().unwrap().name();
            let leads = matches!(last.phase, Phase::Tricks { best: None, .. });
            prop_assert_eq!(&moves[0], &sent(if leads { lowest } else { "pass" }));
            prop_assert_eq!(moves.iter().collect::<BTreeSet<_>>().len(), moves.len());
            for wanted in &moves {
                let (mut game, mut draws) = (last.clone(), Draws::new(Seed([0; 32])));
                prop_assert_eq!(play(&mut game, seat, wanted, &mut draws), Ok(()));
            }
            for other in (0..4).filter(|&other| other != seat) {
                prop_assert!(moves_of(&last, other, 1).is_empty());
                let mut game = last.clone();
                prop_assert!(play(&mut game, other, &moves[0], &mut Draws::new(Seed([0; 32]))).is_err());
            }
        }
    }

    /// By brute force: every part of a small hand, whether it is listed or not.
    #[test]
    fn a_move_is_accepted_if_and_only_if_it_is_listed(seed in any::<[u8; 32]>(), lead in 0..40usize, few in 1..12u8) {
        let mut draws = Draws::new(Seed(seed));
        // Few ranks, so that there are planes and fours.
        let narrow = |hand: Cards| hand.iter().filter(|rank| draws_low(rank.name())).fold(Cards::NONE, |cards, rank| cards.with(rank).unwrap_or(cards));
        let [theirs, mine] = Cards::deal::<2>(25, &mut draws);
        let mine = narrow(mine).iter().take(few.into()).fold(Cards::NONE, |cards, rank| cards.with(rank).unwrap());
        prop_assume!(!mine.is_empty());
        let mut leads = Vec::new();
        let _ = plays::list(theirs, None, &mut |cards| { leads.push(cards); ControlFlow::Continue(()) });
        let over = leads.get(lead * leads.len() / 30).copied();
        let (mut game, _) = playing(["3", "3", "3"], Bid::One);
        game.hands[1] = mine;
        game.mover = 1;
        if let (Some(cards), Phase::Tricks { table, best, .. }) = (over, &mut game.phase) {
            (table[0], *best) = (cards, Some(0));
        }
        let moves: BTreeSet<_> = moves_of(&game, 1, 10_000).into_iter().collect();
        for part in parts(mine).into_iter().filter(|part| !part.is_empty()) {
            let wanted = serde_json::to_string(&part).unwrap();
            let mut game = game.clone();
            let played = play(&mut game, 1, &wanted, &mut Draws::new(Seed([0; 32])));
            prop_assert_eq!(played.is_ok(), moves.contains(&wanted), "{} over {:?}", wanted, over);
        }
    }
}

/// Whether a rank is one of the lowest, or a joker.
fn draws_low(name: &str) -> bool {
    ["3", "4", "5", "6", "7", "BJ", "RJ"].contains(&name)
}
