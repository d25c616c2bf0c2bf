extern crate std;

use super::*;
use crate::games::testing::moves_of;
use crate::games::{AnyGame, GameKind};
use crate::json::parse;
use crate::protocols::{league_of_agents, league_v2};
use crate::venue::Timing;

const TIMING: Timing = Timing {
    join_ms: 5_000,
    move_ms: 30_000,
    retry_base_ms: 1_000,
    notice_ms: 10_000,
    first_turn_ms: 180_000,
    turn_ms: 90_000,
};

fn match_of(kind: GameKind, cap: Option<Millis>) -> Match<AnyGame> {
    let mut draws = Draws::new(Seed([0; 32]));
    let game = AnyGame::start(kind, *kind.rules().seats.start(), &mut draws);
    Match::new(game, draws, 0, cap)
}

fn even_odd() -> Match<AnyGame> {
    match_of(GameKind::EvenOdd, None)
}

/// The question is with a seat.
fn sent(m: &mut Match<AnyGame>, seat: Seat, now: Millis) {
    m.sent(seat, now, &league_v2::policy(&TIMING));
}

/// Nobody films it.
fn unfilmed(_: &AnyGame, _: Value<'_>, _: u8) {}

fn announced(m: &mut Match<AnyGame>, seat: Seat) {
    m.announced(seat, &league_v2::policy(&TIMING));
}

fn tick(m: &mut Match<AnyGame>, seat: Seat, now: Millis) {
    m.due(seat, now, Fault::Silent, &league_v2::policy(&TIMING), &mut (), unfilmed);
}

fn fail(m: &mut Match<AnyGame>, seat: Seat, now: Millis, fault: Fault) {
    m.fail(seat, now, fault, &league_v2::policy(&TIMING));
}

fn invited() -> Match<AnyGame> {
    let mut m = even_odd();
    for seat in 0..2 {
        assert_eq!(m.need(seat), Need::Question);
        sent(&mut m, seat, 0);
    }
    m
}

fn asked() -> Match<AnyGame> {
    let mut m = invited();
    for seat in 0..2 {
        assert_eq!(m.join(seat), Heard::Taken);
    }
    assert_eq!(m.phase(), Phase::CollectingChoices);
    for seat in 0..2 {
        assert_eq!(m.need(seat), Need::Question);
        sent(&mut m, seat, 0);
    }
    m
}

fn choose(m: &mut Match<AnyGame>, seat: Seat, choice: &[u8]) -> Heard {
    m.play(seat, parse(choice).unwrap(), &mut ())
}

/// Lets every deadline of a seat pass until nothing more is due.
fn stay_silent(m: &mut Match<AnyGame>, seat: Seat) -> Millis {
    let mut now = 0;
    while let Some(at) = m.deadline(seat) {
        now = at;
        tick(m, seat, now);
        announced(m, seat);
        sent(m, seat, now);
    }
    now
}

#[test]
fn a_match_goes_from_waiting_to_finished() {
    let mut m = asked();
    assert_eq!(choose(&mut m, 0, b"\"even\""), Heard::Taken);
    assert_eq!(m.outcome(), None);
    assert_eq!(choose(&mut m, 1, b"\"odd\""), Heard::Taken);
    let outcome = m.outcome().unwrap();
    assert!(outcome.winners.alone().is_some());
    assert_eq!(outcome.cause, Cause::Played);
}

#[test]
fn nobody_is_asked_to_choose_before_everybody_joined() {
    let mut m = invited();
    m.join(0);
    assert_eq!(m.phase(), Phase::WaitingForPlayers);
    assert_eq!(m.need(0), Need::Nothing);
}

#[test]
fn a_silent_player_loses_after_three_retries_and_the_other_wins() {
    let mut m = asked();
    choose(&mut m, 1, b"\"odd\"");
    let end = stay_silent(&mut m, 0);
    assert!((37_000..=37_700).contains(&end), "{end}");
    assert_eq!(m.outcome(), Some(Outcome { winners: Seats::only(1), forfeits: Seats::only(0), cause: Cause::Timeout }));
}

#[test]
fn a_match_with_a_lost_player_waits_for_the_other_who_may_lose_as_well() {
    let mut m = asked();
    stay_silent(&mut m, 0);
    assert_eq!(m.outcome(), None);
    stay_silent(&mut m, 1);
    assert_eq!(
        m.outcome(),
        Some(Outcome { winners: Seats::NONE, forfeits: Seats::first(2), cause: Cause::BothFailed })
    );
}

#[test]
fn who_joined_without_being_there_does_not_win_by_the_silence_of_the_other() {
    for is_there in [true, false] {
        let mut m = invited();
        m.join(0);
        m.is_there(0, 0, false, &league_of_agents::policy(&TIMING));
        m.is_there(0, 0, is_there, &league_of_agents::policy(&TIMING));
        stay_silent(&mut m, 1);
        let Outcome { winners, cause, .. } = m.outcome().unwrap();
        let expected = if is_there { (Seats::only(0), Cause::Timeout) } else { (Seats::NONE, Cause::BothFailed) };
        assert_eq!((winners, cause), expected);
    }
}

#[test]
fn a_refused_invitation_is_not_asked_twice() {
    let mut m = invited();
    m.join(1);
    m.decline(0);
    assert_eq!(m.outcome(), Some(Outcome { winners: Seats::only(1), forfeits: Seats::only(0), cause: Cause::Refused }));
}

#[test]
fn an_invalid_choice_may_be_corrected() {
    let mut m = asked();
    let Heard::Refused(illegal) = choose(&mut m, 0, b"\"maybe\"") else { panic!() };
    fail(&mut m, 0, 10, Fault::Unusable(Broken::Move, illegal.0));
    assert!(matches!(m.need(0), Need::Announcement { retry: 1, fault: Fault::Unusable(Broken::Move, _) }));
    announced(&mut m, 0);
    sent(&mut m, 0, 20);
    assert_eq!(choose(&mut m, 0, b"\"odd\""), Heard::Taken);
}

#[test]
fn four_invalid_choices_lose() {
    let mut m = asked();
    choose(&mut m, 1, b"\"odd\"");
    for now in 0..4 {
        assert!(matches!(choose(&mut m, 0, b"\"maybe\""), Heard::Refused(_)));
        fail(&mut m, 0, now, Fault::Unusable(Broken::Move, "no"));
        announced(&mut m, 0);
        sent(&mut m, 0, now);
    }
    assert_eq!(m.outcome().unwrap().cause, Cause::Invalid);
}

#[test]
fn a_second_answer_is_a_duplicate_and_the_first_stands() {
    let mut m = asked();
    choose(&mut m, 0, b"\"even\"");
    assert_eq!(choose(&mut m, 0, b"\"odd\""), Heard::Duplicate);
}

#[test]
fn an_answer_that_crosses_its_retry_still_counts() {
    let mut m = asked();
    tick(&mut m, 0, 30_000);
    assert!(matches!(m.need(0), Need::Announcement { .. }));
    assert_eq!(choose(&mut m, 0, b"\"even\""), Heard::Taken);
    assert_eq!(m.need(0), Need::Nothing);
}

#[test]
fn a_player_that_cannot_be_called_ends_the_match_at_once_and_a_number_is_drawn() {
    let mut m = even_odd();
    m.absent(Seats::only(1));
    assert_eq!(
        m.outcome(),
        Some(Outcome { winners: Seats::only(0), forfeits: Seats::only(1), cause: Cause::Disconnected })
    );
    assert!(m.game().standing().is_some());
}

#[test]
fn every_retry_is_at_most_a_tenth_longer_than_its_step() {
    for byte in [0, 128, 255] {
        for retry in 1..=3 {
            let base = 1000 << (retry - 1);
            let step = step(Seed([byte; 32]), 1_000, 1, retry);
            assert!((base..=base + base / 10).contains(&step));
        }
    }
}

/// A match of players who need no invitation.
fn seated(kind: GameKind, cap: Option<Millis>) -> Match<AnyGame> {
    let mut m = match_of(kind, cap);
    (0..m.game().seats()).for_each(|seat| m.take_seat(seat));
    assert_eq!(m.phase(), Phase::CollectingChoices);
    m
}

/// Puts every question that is owed, as a venue does.
fn ask_all(m: &mut Match<AnyGame>, now: Millis, policy: &Policy) {
    for seat in 0..m.game().seats() {
        if m.need(seat) == Need::Question {
            m.sent(seat, now, policy);
        }
    }
}

/// Makes the first legal move of a seat.
fn move_first(m: &mut Match<AnyGame>, seat: Seat) {
    let text = moves_of(m.game(), seat, 1).remove(0);
    assert_eq!(m.play(seat, parse(text.as_bytes()).unwrap(), &mut ()), Heard::Taken);
}

/// Lets time pass until the first deadline of any seat, and whoever is due be judged. What came of it.
fn wait(m: &mut Match<AnyGame>, policy: &Policy) -> Option<(Millis, Seat, Lapse)> {
    let (now, seat) = (0..m.game().seats()).filter_map(|seat| Some((m.deadline(seat)?, seat))).min()?;
    let lapse = m.due(seat, now, Fault::Silent, policy, &mut (), unfilmed);
    ask_all(m, now, policy);
    Some((now, seat, lapse))
}

mod league_of_agents_says {
    use super::*;

    #[test]
    fn the_first_turn_has_three_minutes_every_other_ninety_seconds_and_whoever_is_late_loses() {
        let policy = league_of_agents::policy(&TIMING);
        let mut m = seated(GameKind::Gomoku, None);
        for now in [0, 1_000, 2_000] {
            ask_all(&mut m, now, &policy);
            let mover = m.thinking().alone().unwrap();
            let expected = now + if now < 2_000 { 180_000 } else { 90_000 };
            assert_eq!(m.deadline(mover), Some(expected));
            if now < 2_000 {
                move_first(&mut m, mover);
            }
        }
        assert_eq!(m.due(0, 91_999, Fault::Silent, &policy, &mut (), unfilmed), Lapse::Nothing, "not yet");
        assert_eq!(wait(&mut m, &policy), Some((92_000, 0, Lapse::Late)));
        let outcome = Outcome { winners: Seats::only(1), forfeits: Seats::only(0), cause: Cause::Timeout };
        assert_eq!((m.outcome(), wait(&mut m, &policy)), (Some(outcome), None));
    }

    #[test]
    fn a_move_that_breaks_a_rule_may_be_mended_while_the_time_lasts_and_costs_nothing() {
        let policy = league_of_agents::policy(&TIMING);
        let mut m = seated(GameKind::Echo, None);
        ask_all(&mut m, 0, &policy);
        for now in 0..20 {
            m.fail(0, now, Fault::Unusable(Broken::Move, "no"), &policy);
        }
        assert_eq!((m.need(0), m.deadline(0), m.hears(0)), (Need::Nothing, Some(180_000), true));
        move_first(&mut m, 0);
    }

    #[test]
    fn whoever_is_gone_has_no_more_time_than_anybody() {
        let policy = league_of_agents::policy(&TIMING);
        let mut m = seated(GameKind::Echo, None);
        ask_all(&mut m, 0, &policy);
        m.is_there(0, 1_000, false, &policy);
        assert_eq!(m.deadline(0), Some(180_000));
    }
}

mod moltgame_says {
    use super::*;

    /// "Turn time: 30 s, a setting", and "a player that is late has [entry 0] played by the box".
    const POLICY: Policy = Policy {
        countdown_ms: 0,
        invitation_ms: None,
        first_turn_ms: 30_000,
        turn_ms: 30_000,
        late: Late::PlayFirst { forfeit_after: None },
        grace_ms: None,
        match_ms: None,
    };

    #[test]
    fn a_player_that_is_late_has_entry_0_played_by_the_box() {
        for &kind in GameKind::ALL {
            let mut m = seated(kind, None);
            ask_all(&mut m, 0, &POLICY);
            let mover = m.thinking().iter().next().unwrap();
            let listed = moves_of(m.game(), mover, 1).remove(0);
            let mut own = m.clone();
            assert_eq!(own.play(mover, parse(listed.as_bytes()).unwrap(), &mut ()), Heard::Taken);
            assert_eq!(m.due(mover, 29_999, Fault::Silent, &POLICY, &mut (), unfilmed), Lapse::Nothing);
            assert_eq!(m.due(mover, 30_000, Fault::Silent, &POLICY, &mut (), unfilmed), Lapse::Moved);
            assert_eq!(std::format!("{:?}", m.game()), std::format!("{:?}", own.game()), "{listed}");
        }
    }

    #[test]
    fn a_game_that_nobody_plays_is_played_to_its_end_by_first_moves_and_nobody_forfeits() {
        for &kind in GameKind::ALL {
            let mut m = seated(kind, None);
            ask_all(&mut m, 0, &POLICY);
            let mut last = 0;
            while let Some((now, _, lapse)) = wait(&mut m, &POLICY) {
                assert_eq!(lapse, Lapse::Moved, "{kind:?} at {now}");
                last = now;
            }
            assert_eq!(last % 30_000, 0);
            if m.game().is_voting() {
                assert!(
                    m.phase() == Phase::Voting && m.game().has_audience(),
                    "{kind:?}: the audience has the last word"
                );
                continue;
            }
            let outcome = m.outcome().unwrap();
            assert_eq!((outcome.cause, outcome.forfeits), (Cause::Played, Seats::NONE));
        }
    }

    #[test]
    fn who_moves_in_time_moves_itself() {
        let mut m = seated(GameKind::Gomoku, None);
        ask_all(&mut m, 0, &POLICY);
        move_first(&mut m, 0);
        ask_all(&mut m, 29_000, &POLICY);
        assert_eq!(wait(&mut m, &POLICY), Some((59_000, 1, Lapse::Moved)));
    }
}

#[test]
fn the_first_move_of_every_game_at_every_turn_is_short_enough_to_be_made_for_a_player() {
    let mut longest = 0;
    for &kind in GameKind::ALL {
        for seed in 0..20 {
            let mut draws = Draws::new(Seed([seed; 32]));
            let mut game = AnyGame::start(kind, *kind.rules().seats.start(), &mut draws);
            while let Some(seat) = game.to_move().iter().next() {
                let listed = moves_of(&game, seat, 40);
                longest = longest.max(listed[0].len());
                let pick = &listed[usize::from(seed) % listed.len()];
                game.play(seat, parse(pick.as_bytes()).unwrap(), &mut draws).unwrap();
            }
        }
    }
    std::println!("the longest first move has {longest} bytes");
    assert!(longest <= MOVE_BYTES, "{longest}");
}

mod agon_says {
    use super::*;

    /// Chess: "Countdown 3 s", "first turn 120 s; then 60 s"; "the same player gets a new timer", "chess 2" in a row forfeit; "after 30 s in all
    /// `match_end` `disconnect`"; "a whole match at most 7,200 s".
    const CHESS: Policy = Policy {
        countdown_ms: 3_000,
        invitation_ms: None,
        first_turn_ms: 120_000,
        turn_ms: 60_000,
        late: Late::LoseTurn { forfeit_after: 2 },
        grace_ms: Some(30_000),
        match_ms: Some(7_200_000),
    };
    /// Go: a turn that runs out is "a pass", of which 3 in a row forfeit. A pass is its first legal move.
    const GO: Policy = Policy { late: Late::PlayFirst { forfeit_after: Some(3) }, ..CHESS };

    fn begin(policy: &Policy) -> Match<AnyGame> {
        let mut m = seated(GameKind::Gomoku, policy.match_ms);
        ask_all(&mut m, 0, policy);
        m
    }

    #[test]
    fn the_first_turn_has_120_seconds_and_then_60() {
        let mut m = begin(&CHESS);
        let mut left = std::vec::Vec::new();
        for now in [10_000, 20_000, 30_000, 40_000] {
            let mover = m.thinking().alone().unwrap();
            left.push(m.left(mover, now).unwrap());
            move_first(&mut m, mover);
            ask_all(&mut m, now, &CHESS);
        }
        assert_eq!(left, [110_000, 110_000, 50_000, 50_000], "each side has a first turn");
    }

    #[test]
    fn a_turn_that_runs_out_in_chess_gives_the_same_player_a_new_timer_and_two_in_a_row_forfeit() {
        let mut m = begin(&CHESS);
        assert_eq!(wait(&mut m, &CHESS), Some((120_000, 0, Lapse::Late)));
        assert_eq!((m.thinking(), m.left(0, 120_000), m.outcome()), (Seats::only(0), Some(120_000), None));
        assert_eq!(wait(&mut m, &CHESS), Some((240_000, 0, Lapse::Late)));
        let outcome = Outcome { winners: Seats::only(1), forfeits: Seats::only(0), cause: Cause::Timeout };
        assert_eq!(m.outcome(), Some(outcome));
    }

    #[test]
    fn a_turn_that_runs_out_in_go_is_a_move_of_the_box_and_three_in_a_row_forfeit() {
        let mut m = begin(&GO);
        let mut lapses = std::vec::Vec::<(Millis, Seat, Lapse)>::new();
        // The other side plays; that does not change how often this one did not.
        while m.outcome().is_none() {
            if m.thinking().has(1) {
                move_first(&mut m, 1);
                ask_all(&mut m, lapses.last().map_or(0, |&(now, ..)| now), &GO);
            } else {
                lapses.extend(wait(&mut m, &GO));
            }
        }
        let expected = [(120_000, 0, Lapse::Moved), (180_000, 0, Lapse::Moved), (240_000, 0, Lapse::Late)];
        assert_eq!(lapses, expected);
        assert_eq!(m.outcome().unwrap().winners, Seats::only(1));
    }

    #[test]
    fn a_move_of_its_own_in_between_begins_the_count_anew() {
        let mut m = begin(&CHESS);
        let mut now = 0;
        for _ in 0..5 {
            (now, _, _) = wait(&mut m, &CHESS).unwrap();
            move_first(&mut m, 0);
            ask_all(&mut m, now, &CHESS);
            move_first(&mut m, 1);
            ask_all(&mut m, now, &CHESS);
        }
        assert_eq!((m.outcome(), now), (None, 120_000 + 4 * 60_000));
    }

    #[test]
    fn the_turns_clock_stands_still_from_the_drop_on_and_goes_on_when_the_player_is_back() {
        let mut m = begin(&CHESS);
        m.is_there(0, 100_000, false, &CHESS);
        assert_eq!((m.deadline(0), m.left(0, 129_000)), (Some(130_000), Some(20_000)));
        m.is_there(0, 129_000, true, &CHESS);
        assert_eq!((m.deadline(0), m.left(0, 130_000)), (Some(149_000), Some(19_000)));
        move_first(&mut m, 0);
    }

    #[test]
    fn the_other_side_may_move_if_it_is_its_turn_and_whoever_is_gone_is_then_asked_with_all_its_time() {
        let mut m = begin(&CHESS);
        move_first(&mut m, 0);
        ask_all(&mut m, 1_000, &CHESS);
        m.is_there(0, 2_000, false, &CHESS);
        move_first(&mut m, 1);
        ask_all(&mut m, 3_000, &CHESS);
        assert_eq!((m.deadline(0), m.left(0, 20_000)), (Some(32_000), Some(60_000)));
        m.is_there(0, 20_000, true, &CHESS);
        assert_eq!(m.deadline(0), Some(80_000));
    }

    #[test]
    fn the_clock_of_who_stayed_stands_still_as_well_until_the_other_is_back() {
        let mut m = begin(&CHESS);
        m.is_there(1, 20_000, false, &CHESS);
        assert_eq!((m.deadline(0), m.left(0, 45_000)), (Some(7_200_000), Some(100_000)), "only the match has an end");
        m.is_there(1, 45_000, true, &CHESS);
        assert_eq!((m.deadline(0), m.left(0, 50_000)), (Some(145_000), Some(95_000)));
    }

    #[test]
    fn whoever_gives_up_has_lost_at_once_and_for_no_technical_reason() {
        for seat in [0, 1] {
            let mut m = begin(&CHESS);
            m.give_up(seat, Fault::Resigned);
            let outcome = Outcome { winners: Seats::only(1 - seat), forfeits: Seats::NONE, cause: Cause::Resigned };
            assert_eq!(m.outcome(), Some(outcome));
            m.give_up(1 - seat, Fault::Resigned);
            assert_eq!(m.outcome(), Some(outcome), "what is over stays as it ended");
        }
    }

    #[test]
    fn after_30_seconds_in_all_the_match_ends_be_it_the_others_turn() {
        for gone in [0, 1] {
            let mut m = begin(&CHESS);
            m.is_there(gone, 50_000, false, &CHESS);
            assert_eq!(m.deadline(gone), Some(80_000));
            assert_eq!(m.due(gone, 79_999, Fault::Unreachable, &CHESS, &mut (), unfilmed), Lapse::Nothing);
            assert_eq!(m.due(gone, 80_000, Fault::Unreachable, &CHESS, &mut (), unfilmed), Lapse::Late);
            let outcome =
                Outcome { winners: Seats::only(1 - gone), forfeits: Seats::only(gone), cause: Cause::Disconnected };
            assert_eq!(m.outcome(), Some(outcome));
        }
    }

    #[test]
    fn if_both_are_gone_nobody_wins() {
        let mut m = begin(&CHESS);
        m.is_there(0, 50_000, false, &CHESS);
        m.is_there(1, 70_000, false, &CHESS);
        assert_eq!(m.due(0, 80_000, Fault::Unreachable, &CHESS, &mut (), unfilmed), Lapse::Late);
        let outcome = Outcome { winners: Seats::NONE, forfeits: Seats::first(2), cause: Cause::BothFailed };
        assert_eq!(m.outcome(), Some(outcome));
    }

    #[test]
    fn whoever_drops_again_has_its_grace_anew_but_not_its_clock() {
        let mut m = begin(&CHESS);
        for _ in 0..4 {
            m.is_there(0, 10_000, false, &CHESS);
            m.is_there(0, 10_000, false, &CHESS);
            assert_eq!(m.deadline(0), Some(40_000));
            m.is_there(0, 10_000, true, &CHESS);
        }
        assert_eq!(m.left(0, 10_000), Some(110_000));
    }

    #[test]
    fn a_whole_match_lasts_at_most_7200_seconds_and_is_then_a_draw() {
        for &kind in GameKind::ALL {
            let mut m = seated(kind, CHESS.match_ms);
            ask_all(&mut m, 7_199_000, &CHESS);
            assert_eq!(
                (m.deadline(0), m.due(0, 7_199_999, Fault::Silent, &CHESS, &mut (), unfilmed)),
                (Some(7_200_000), Lapse::Nothing)
            );
            assert_eq!(m.due(0, 7_200_000, Fault::Silent, &CHESS, &mut (), unfilmed), Lapse::Nothing);
            if m.game().has_audience() {
                assert_eq!((m.phase(), m.outcome()), (Phase::Voting, None), "{kind:?} has its vote");
                continue;
            }
            let all = Seats::first(m.game().seats());
            let outcome = Outcome { winners: all, forfeits: Seats::NONE, cause: Cause::TimeUp };
            assert_eq!((m.outcome(), m.deadline(0)), (Some(outcome), None), "{kind:?}");
            assert_eq!(m.game().standing().unwrap().first(), all, "{kind:?}");
        }
    }

    #[test]
    fn who_has_lost_when_the_time_of_the_match_is_up_has_lost() {
        let mut m = seated(GameKind::Echo, Some(200_000));
        let late = Policy { late: Late::Lose, ..CHESS };
        ask_all(&mut m, 0, &late);
        m.due(0, 120_000, Fault::Silent, &late, &mut (), unfilmed);
        assert_eq!(m.outcome(), None, "the other may lose as well");
        m.due(1, 200_000, Fault::Silent, &late, &mut (), unfilmed);
        assert_eq!(m.outcome().unwrap().winners, Seats::only(1));
    }
}

#[test]
fn players_of_different_protocols_at_one_table_are_each_judged_by_their_own_policy() {
    let policies = [league_v2::policy(&TIMING), league_of_agents::policy(&TIMING)];
    let mut m = match_of(GameKind::Echo, None);
    m.take_seat(1);
    m.sent(0, 0, &policies[0]);
    assert_eq!((m.deadline(0), m.deadline(1)), (Some(5_000), None));
    m.join(0);
    (0..2).for_each(|seat| m.sent(seat, 0, &policies[usize::from(seat)]));
    assert_eq!((m.deadline(0), m.deadline(1)), (Some(30_000), Some(180_000)));
    m.due(0, 30_000, Fault::Silent, &policies[0], &mut (), unfilmed);
    assert!(matches!(m.need(0), Need::Announcement { retry: 1, .. }));
    m.due(1, 180_000, Fault::Silent, &policies[1], &mut (), unfilmed);
    assert!(m.has_lost(1) && !m.has_lost(0));
}

#[test]
fn an_act_nobody_asked_for_is_taken_and_no_clock_is_touched_by_it() {
    let mut m = match_of(GameKind::Sextet, None);
    for seat in 0..6 {
        sent(&mut m, seat, 0);
    }
    assert_eq!(choose(&mut m, 3, br#"{"cheer":true}"#), Heard::Duplicate, "the game has not begun");
    (0..6).for_each(|seat| assert_eq!(m.join(seat), Heard::Taken));
    sent(&mut m, 0, 0);
    let clock = m.deadline(0);
    assert!(clock.is_some() && m.takes(3, None) && !m.hears(3));
    assert_eq!(choose(&mut m, 3, br#"{"cheer":true}"#), Heard::Taken);
    assert_eq!((m.game().score(3), m.deadline(0), m.deadline(3)), (1, clock, None));
    assert_eq!((m.need(3), m.thinking()), (Need::Nothing, Seats::only(0)));
    assert_eq!(choose(&mut m, 3, br#"{"cheer":true}"#), Heard::Duplicate, "once in a game");
    assert!(matches!(choose(&mut m, 2, br#"{"say":1}"#), Heard::Refused(_)), "it is not asked");
    fail(&mut m, 2, 0, Fault::Silent);
    assert_eq!((m.need(2), m.deadline(2)), (Need::Nothing, None), "what is refused costs it nothing");
    assert_eq!(choose(&mut m, 0, br#"{"say":1}"#), Heard::Taken);
    assert_eq!(m.thinking(), Seats::only(1));
}

#[test]
fn an_act_of_who_is_asked_touches_no_turn_and_no_clock_and_the_move_is_still_owed() {
    let mut m = match_of(GameKind::TradeDeal, None);
    let deal = br#"{"propose":{"offer":{"gold":1},"request":{"food":1}}}"#;
    (0..2).for_each(|seat| sent(&mut m, seat, 0));
    (0..2).for_each(|seat| assert_eq!(m.join(seat), Heard::Taken));
    assert_eq!(choose(&mut m, 0, br#"{"text":"Early."}"#), Heard::Duplicate, "its question waits to be put");
    assert_eq!(choose(&mut m, 0, deal), Heard::Taken, "but an act waits for nothing");
    assert_eq!((m.need(0), m.deadline(0)), (Need::Question, None));
    sent(&mut m, 0, 1_000);
    let clock = m.deadline(0);
    assert_eq!(choose(&mut m, 1, br#"{"reject":true}"#), Heard::Taken);
    assert!(matches!(choose(&mut m, 1, br#"{"text":"Me."}"#), Heard::Refused(_)), "it is not its turn");
    assert_eq!(choose(&mut m, 0, deal), Heard::Taken);
    assert_eq!((m.need(0), m.deadline(0), m.thinking(), m.game().turn()), (Need::Nothing, clock, Seats::only(0), 1));
    // Who was called has answered by it, and is asked again in the time that is left.
    m.ask_once_more(0);
    assert!(m.need(0) == Need::Question && m.is_retrying(0) && m.hears(0));
    sent(&mut m, 0, 9_000);
    assert_eq!((m.need(0), m.deadline(0)), (Need::Nothing, clock));
    assert!(matches!(choose(&mut m, 0, deal), Heard::Refused(_)), "one is pending");
    assert_eq!(choose(&mut m, 0, br#"{"text":"Well?"}"#), Heard::Taken);
    assert_eq!((m.thinking(), m.game().turn(), m.game().acts()), (Seats::only(1), 2, 3));
    m.ask_once_more(0);
    assert_eq!(m.need(0), Need::Nothing, "who owes nothing is not asked");
}
