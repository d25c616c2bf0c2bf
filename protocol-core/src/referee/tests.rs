use super::*;
use crate::games::{AnyGame, GameKind};
use crate::json::parse;

fn even_odd() -> Match<AnyGame> {
    let seed = Seed([0; 32]);
    let mut draws = Draws::new(seed);
    let game = AnyGame::start(GameKind::EvenOdd, 2, &mut draws);
    Match::new(game, draws, 1_000)
}

/// The question is with a seat.
fn sent(m: &mut Match<AnyGame>, seat: Seat, now: Millis) {
    let timeout = if m.phase() == Phase::WaitingForPlayers { 5_000 } else { 30_000 };
    m.sent(seat, now, timeout);
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
    m.play(seat, parse(choice).unwrap())
}

/// Lets every deadline of a seat pass until nothing more is due.
fn stay_silent(m: &mut Match<AnyGame>, seat: Seat) -> Millis {
    let mut now = 0;
    while let Some(at) = m.deadline(seat) {
        now = at;
        m.tick(seat, now, Fault::Silent);
        m.announced(seat);
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
        m.is_there(0, false);
        m.is_there(0, is_there);
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
    m.fail(0, 10, Fault::Unusable(Broken::Move, illegal.0));
    assert!(matches!(m.need(0), Need::Announcement { retry: 1, fault: Fault::Unusable(Broken::Move, _) }));
    m.announced(0);
    sent(&mut m, 0, 20);
    assert_eq!(choose(&mut m, 0, b"\"odd\""), Heard::Taken);
}

#[test]
fn four_invalid_choices_lose() {
    let mut m = asked();
    choose(&mut m, 1, b"\"odd\"");
    for now in 0..4 {
        assert!(matches!(choose(&mut m, 0, b"\"maybe\""), Heard::Refused(_)));
        m.fail(0, now, Fault::Unusable(Broken::Move, "no"));
        m.announced(0);
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
    m.tick(0, 30_000, Fault::Silent);
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
