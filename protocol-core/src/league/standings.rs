//! Who leads.
//!
//! What a match is worth, what a player has gathered, and the order that follows. Where results are kept, and how a
//! table is shown, is left to others.

use super::schedule::Schedule;
use core::cmp::{Ordering, Reverse};
use heapless::Vec;

/// How a match ended for one of its players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Won, be it because the other one failed.
    Win,
    /// Neither won.
    Draw,
    /// Lost by the rules of the game.
    Loss,
    /// Lost by not answering, or not answering validly.
    TechnicalLoss,
}

impl Verdict {
    /// What the league pays for it.
    #[must_use]
    pub const fn points(self) -> u16 {
        match self {
            Self::Win => 3,
            Self::Draw => 1,
            Self::Loss | Self::TechnicalLoss => 0,
        }
    }
}

/// What a player has gathered so far: 12 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Matches that have a result: wins, draws and losses together.
    pub played: u16,
    /// Matches won.
    pub wins: u16,
    /// Matches drawn.
    pub draws: u16,
    /// Matches lost, technical losses among them.
    pub losses: u16,
    /// Matches lost by failing to answer.
    pub technical_losses: u16,
    /// What all of that is worth.
    pub points: u16,
}

impl Tally {
    /// Counts one more match. Sixteen bits hold a season of any size our limits allow; beyond, counts stand still.
    pub fn add(&mut self, verdict: Verdict) {
        let count = |field: &mut u16, by: u16| *field = field.saturating_add(by);
        count(&mut self.played, 1);
        count(&mut self.points, verdict.points());
        match verdict {
            Verdict::Win => count(&mut self.wins, 1),
            Verdict::Draw => count(&mut self.draws, 1),
            Verdict::Loss => count(&mut self.losses, 1),
            Verdict::TechnicalLoss => {
                count(&mut self.losses, 1);
                count(&mut self.technical_losses, 1);
            }
        }
    }
}

/// The players, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranking<const N: usize> {
    /// By their numbers in the schedule.
    pub order: Vec<u16, N>,
    /// Beside each: whether nothing but the id parts it from the one before, so that people see them share a place.
    pub is_level: Vec<bool, N>,
}

/// Ranks the players.
///
/// Points decide. Among players level on points, it is the points they took from matches with each other; then wins; then
/// Sonneborn-Berger, the points of those they beat and half of those they drew with; then fewer technical losses; then
/// `by_id`, so that no rank is shared. The points from each other are counted once, among all who are level: players they
/// leave level go on to wins, and are not looked at again as a smaller group. That keeps the order explainable by one
/// number per player.
///
/// `tallies` are the schedule's players in order. `rounds` says how many rounds of the schedule may have results, and
/// `points(round, player)` what a player took from the match of such a round, if it has one. `by_id` must be a total
/// order. Players beyond `N` are left out.
///
/// Costs a sort, and for each of `k` level players the smaller of `k` and `rounds`: early in the season everybody is
/// level but has met few, late in it many have been met but few are level. Whoever is level after wins too costs all its
/// matches. Needs `6 N` bytes of stack for what level players took from each other and from whom they beat.
#[must_use]
pub fn rank<const N: usize>(
    schedule: Schedule,
    tallies: &[Tally],
    rounds: u16,
    points: impl Fn(u16, u16) -> Option<u16>,
    by_id: impl Fn(u16, u16) -> Ordering,
) -> Ranking<N> {
    // Players are numbered with 16 bits; whoever is numbered here has a tally.
    let mut order: Vec<u16, N> = (0..=u16::MAX).zip(tallies).take(N).map(|(player, _)| player).collect();
    let tally = |player: u16| &tallies[usize::from(player)];
    let (mut direct, mut beaten) = ([0u16; N], [0u32; N]);

    order.sort_unstable_by_key(|&player| Reverse(tally(player).points));
    for level in order.chunk_by_mut(|&p, &q| tally(p).points == tally(q).points) {
        if level.len() == 1 {
            continue;
        }
        for &player in &*level {
            direct[usize::from(player)] = points_from(schedule, player, level, rounds, &points, |other| {
                tallies.get(usize::from(other)).is_some_and(|other| other.points == tally(player).points)
            });
        }
        let key = |player: u16| (Reverse(direct[usize::from(player)]), Reverse(tally(player).wins));
        level.sort_unstable_by_key(|&player| key(player));
        for level in level.chunk_by_mut(|&p, &q| key(p) == key(q)) {
            if level.len() > 1 {
                level.iter().for_each(|&player| {
                    beaten[usize::from(player)] = sonneborn_berger(schedule, player, tallies, rounds, &points);
                });
            }
            let key = |player: u16| (Reverse(beaten[usize::from(player)]), tally(player).technical_losses);
            level.sort_unstable_by(|&p, &q| key(p).cmp(&key(q)).then_with(|| by_id(p, q)).then(p.cmp(&q)));
        }
    }
    let key = |player: u16| {
        let (of, at) = (tally(player), usize::from(player));
        (of.points, direct[at], of.wins, beaten[at], of.technical_losses)
    };
    let with_the_next = order.iter().zip(order.iter().skip(1)).map(|(&p, &q)| key(p) == key(q));
    let is_level = core::iter::once(false).chain(with_the_next).take(order.len()).collect();
    Ranking { order, is_level }
}

/// The points of everybody a player beat, twice, and of everybody it drew with. At a table of four, whoever got fewer points
/// there is beaten.
fn sonneborn_berger(
    schedule: Schedule,
    player: u16,
    tallies: &[Tally],
    rounds: u16,
    points: impl Fn(u16, u16) -> Option<u16>,
) -> u32 {
    let mut sum = 0u32;
    for (round, mine) in (1..=rounds).filter_map(|round| Some((round, points(round, player)?))) {
        for other in schedule.opponents(round, player) {
            let worth = tallies.get(usize::from(other)).map_or(0, |tally| u32::from(tally.points));
            sum = sum.saturating_add(match points(round, other) {
                Some(theirs) if mine > theirs => 2 * worth,
                Some(theirs) if mine == theirs && mine > 0 => worth,
                _ => 0,
            });
        }
    }
    sum
}

/// What a player took from the others of a group, found by walking the group or the rounds, whichever are fewer.
fn points_from(
    schedule: Schedule,
    player: u16,
    group: &[u16],
    rounds: u16,
    points: impl Fn(u16, u16) -> Option<u16>,
    in_group: impl Fn(u16) -> bool,
) -> u16 {
    let taken = |round| points(round, player).unwrap_or(0);
    match schedule {
        // Two meet once.
        Schedule::Pairs(pairs) if group.len() < usize::from(rounds) => {
            let met = group.iter().filter_map(|&other| pairs.round_of(player, other));
            met.filter(|&round| round <= rounds).map(taken).fold(0, u16::saturating_add)
        }
        _ => {
            let met = (1..=rounds).filter(|&round| schedule.opponents(round, player).any(&in_group));
            met.map(taken).fold(0, u16::saturating_add)
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::super::{Places, SEATS};
    use super::Verdict::{Draw, Loss, TechnicalLoss, Win};
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    /// A league on paper: the verdicts by seat, by the match's place in the schedule.
    struct Paper {
        schedule: Schedule,
        results: std::vec::Vec<Option<[Verdict; SEATS]>>,
    }

    impl Paper {
        fn new(players: u16) -> Self {
            Self::of_seats(2, players)
        }

        fn of_seats(seats: u8, players: u16) -> Self {
            let schedule = Schedule::new(seats, players);
            Self { schedule, results: vec![None; schedule.total_matches() as usize] }
        }

        /// Enters a match of two, wherever in the season they meet.
        fn enter(&mut self, p: u16, q: u16, of_p: Verdict, of_q: Verdict) {
            let place = (0..self.results.len()).find(|&place| {
                let places = self.places(place);
                places.contains(&p) && places.contains(&q)
            });
            let place = place.expect("they meet");
            let [a, b] = if self.places(place)[0] == p { [of_p, of_q] } else { [of_q, of_p] };
            self.results[place] = Some([a, b, Loss, Loss]);
        }

        fn beats(&mut self, p: u16, q: u16) {
            self.enter(p, q, Win, Loss);
        }

        fn places(&self, place: usize) -> Places {
            let (round, table) = self.schedule.at(place).expect("a place per match");
            self.schedule.places(round, table).expect("players per match")
        }

        fn of(&self, round: u16, player: u16) -> Option<Verdict> {
            let table = self.schedule.table_of(round, player)?;
            let place = self.schedule.index(round, table)?;
            let seat = self.places(place).iter().position(|&other| other == player)?;
            Some(self.results[place]?[seat])
        }

        fn tallies(&self) -> std::vec::Vec<Tally> {
            let mut tallies = vec![Tally::default(); usize::from(self.schedule.players())];
            for (place, result) in self.results.iter().enumerate() {
                for (player, verdict) in self.places(place).into_iter().zip(result.iter().flatten()) {
                    tallies[usize::from(player)].add(*verdict);
                }
            }
            tallies
        }

        fn rank<const N: usize>(&self, rounds: u16) -> Vec<u16, N> {
            self.ranking(rounds).order
        }

        fn ranking<const N: usize>(&self, rounds: u16) -> Ranking<N> {
            let points = |round, player| self.of(round, player).map(Verdict::points);
            rank(self.schedule, &self.tallies(), rounds, points, |p, q| p.cmp(&q))
        }

        /// The rule read aloud: a number for each criterion, from every match, for every player.
        fn naive(&self) -> (std::vec::Vec<u16>, std::vec::Vec<bool>) {
            let tallies = self.tallies();
            let mut rows = vec![];
            for player in 0..self.schedule.players() {
                let mine = tallies[usize::from(player)];
                let (mut direct, mut beaten) = (0, 0);
                for (place, result) in self.results.iter().enumerate() {
                    let Some(verdicts) = result else { continue };
                    let places = self.places(place);
                    let Some(seat) = places.iter().position(|&other| other == player) else { continue };
                    let level = |other: &u16| tallies[usize::from(*other)].points == mine.points;
                    if places.iter().filter(|&&other| other != player).any(level) {
                        direct += verdicts[seat].points();
                    }
                    for (&other, theirs) in places.iter().zip(verdicts) {
                        let worth = u32::from(tallies[usize::from(other)].points);
                        beaten += match (verdicts[seat].points(), theirs.points()) {
                            (mine, theirs) if mine > theirs => 2 * worth,
                            (1, 1) | (3, 3) if other != player => worth,
                            _ => 0,
                        };
                    }
                }
                rows.push((Reverse((mine.points, direct, mine.wins, beaten)), mine.technical_losses, player));
            }
            rows.sort();
            let mut level: std::vec::Vec<bool> =
                rows.windows(2).map(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)).collect();
            if !rows.is_empty() {
                level.insert(0, false);
            }
            (rows.into_iter().map(|row| row.2).collect(), level)
        }
    }

    #[test]
    fn a_win_pays_three_a_draw_one_a_loss_nothing() {
        let mut tally = Tally::default();
        for verdict in [Win, Win, Draw, Loss, TechnicalLoss] {
            tally.add(verdict);
        }
        let expected = Tally { played: 5, wins: 2, draws: 1, losses: 2, technical_losses: 1, points: 7 };
        assert_eq!(tally, expected);
    }

    #[test]
    fn before_the_first_match_ids_decide() {
        let by_id = |p: u16, q: u16| q.cmp(&p);
        let ranking: Ranking<4> = rank(Schedule::new(2, 3), &[Tally::default(); 3], 0, |_, _| None, by_id);
        assert_eq!(ranking.order, [2, 1, 0]);
        assert_eq!(ranking.is_level, [false, true, true], "and they share the place");
    }

    #[test]
    fn points_decide_first() {
        let mut paper = Paper::new(3);
        paper.beats(2, 0);
        paper.beats(2, 1);
        paper.beats(1, 0);
        assert_eq!(paper.rank::<3>(3), [2, 1, 0]);
    }

    #[test]
    fn two_level_on_points_are_parted_by_their_own_match() {
        let mut paper = Paper::new(4);
        paper.beats(3, 0);
        paper.beats(0, 1);
        paper.beats(0, 2);
        paper.beats(3, 1);
        paper.beats(2, 3);
        // 0 and 3 have two wins each; 3 beat 0.
        assert_eq!(paper.rank::<4>(3), [3, 0, 2, 1]);
    }

    #[test]
    fn one_win_goes_before_three_draws_when_they_did_not_part_each_other() {
        let mut paper = Paper::new(8);
        for other in [1, 2, 3] {
            paper.enter(0, other, Draw, Draw);
        }
        paper.beats(4, 5);
        assert_eq!(paper.rank::<8>(7)[..2], [4, 0]);
    }

    #[test]
    fn whoever_beat_the_stronger_goes_before_who_beat_the_weaker() {
        let mut paper = Paper::new(6);
        // 0 and 1 have one win each and have not met: 0 beat who has nothing, 1 who beat two others.
        paper.beats(0, 2);
        paper.beats(1, 3);
        paper.beats(3, 4);
        paper.beats(3, 5);
        assert_eq!(paper.rank::<6>(5)[..3], [3, 1, 0]);
        // A draw is worth half of it.
        let mut paper = Paper::new(6);
        paper.enter(0, 2, Draw, Draw);
        paper.enter(1, 3, Draw, Draw);
        paper.beats(2, 4);
        paper.beats(3, 4);
        paper.beats(3, 5);
        assert_eq!(paper.rank::<6>(5)[..4], [3, 2, 1, 0]);
    }

    #[test]
    fn where_only_the_id_decides_the_place_is_shared() {
        let mut paper = Paper::new(4);
        paper.beats(0, 2);
        paper.beats(1, 3);
        let ranking = paper.ranking::<4>(3);
        assert_eq!((&ranking.order[..], &ranking.is_level[..]), (&[0, 1, 2, 3][..], &[false, true, false, true][..]));
        paper.enter(1, 3, Win, TechnicalLoss);
        assert_eq!(paper.ranking::<4>(3).is_level, [false, true, false, false]);
    }

    #[test]
    fn of_two_losers_the_one_who_answered_goes_first() {
        let mut paper = Paper::new(4);
        paper.enter(0, 1, TechnicalLoss, Win);
        paper.enter(2, 3, Win, Loss);
        assert_eq!(paper.rank::<4>(1), [1, 2, 3, 0]);
    }

    #[test]
    fn level_players_whom_their_matches_do_not_part_are_not_compared_as_a_smaller_group() {
        let mut paper = Paper::new(8);
        // From each other 0 takes 1 point, 1 takes 4, 2 and 3 take 6 each; and 3 beats 2.
        paper.enter(0, 1, Draw, Draw);
        paper.beats(2, 0);
        paper.beats(3, 0);
        paper.beats(2, 1);
        paper.beats(1, 3);
        paper.beats(3, 2);
        // The others bring all four to ten points, and both 2 and 3 to three wins.
        for (winner, loser) in [(0, 4), (0, 5), (0, 6), (1, 4), (1, 5), (2, 4), (3, 4)] {
            paper.beats(winner, loser);
        }
        paper.enter(2, 5, Draw, Draw);
        paper.enter(3, 6, Draw, Draw);
        assert!(paper.tallies()[..4].iter().all(|tally| tally.points == 10));
        // So the id decides between 2 and 3.
        assert_eq!(paper.rank::<8>(7), [2, 3, 1, 0, 5, 6, 4, 7]);
    }

    #[test]
    fn players_beyond_the_capacity_are_left_out() {
        assert_eq!(Paper::new(5).rank::<3>(0), [0, 1, 2]);
        assert!(Paper::new(0).rank::<3>(0).is_empty());
        assert!(Paper::new(5).rank::<0>(0).is_empty());
    }

    #[test]
    fn among_four_points_from_a_match_without_a_level_player_part_nobody() {
        let mut paper = Paper::of_seats(4, 8);
        // R1M1 seats 0, 1, 3 and 7, R1M2 2, 4, 5 and 6, R2M1 1, 2, 4 and 7.
        paper.results[0] = Some([Loss, Win, Loss, Loss]);
        paper.results[1] = Some([Loss, Loss, Loss, Win]);
        // 1 and 6 are level and have not met: the id decides.
        assert_eq!(paper.rank::<8>(1)[..2], [1, 6]);
        // Then 4 wins the match it has with 1, and 6 has not met 4 since R1M2: there 6 took three points from it.
        paper.results[2] = Some([Loss, Loss, Win, Loss]);
        assert_eq!(paper.rank::<8>(2)[..3], [4, 6, 1]);
    }

    fn verdicts() -> impl Strategy<Value = Option<(Verdict, Verdict)>> {
        prop_oneof![
            4 => Just(Some((Win, Loss))),
            4 => Just(Some((Loss, Win))),
            4 => Just(Some((Draw, Draw))),
            1 => Just(Some((TechnicalLoss, Win))),
            1 => Just(Some((Win, TechnicalLoss))),
            1 => Just(Some((TechnicalLoss, TechnicalLoss))),
            1 => Just(None),
        ]
    }

    fn verdicts_of_four() -> impl Strategy<Value = Option<[Verdict; SEATS]>> {
        let verdict = prop_oneof![2 => Just(Win), 2 => Just(Draw), 3 => Just(Loss), 1 => Just(TechnicalLoss)];
        proptest::option::weighted(0.9, [verdict.clone(), verdict.clone(), verdict.clone(), verdict])
    }

    fn of_two(verdicts: &[Option<(Verdict, Verdict)>]) -> std::vec::Vec<Option<[Verdict; SEATS]>> {
        verdicts.iter().map(|verdicts| verdicts.map(|(a, b)| [a, b, Loss, Loss])).collect()
    }

    proptest! {
        #[test]
        fn any_league_after_any_round_is_ranked_as_the_rule_reads(
            players in 0u16..=20,
            played in 0u16..=20,
            results in proptest::collection::vec(verdicts(), 190),
        ) {
            let mut paper = Paper::new(players);
            let rounds = played.min(paper.schedule.rounds());
            let entered = usize::from(rounds * paper.schedule.matches_per_round());
            paper.results[..entered].copy_from_slice(&of_two(&results[..entered]));
            let Ranking { order, is_level } = paper.ranking::<20>(rounds);
            prop_assert_eq!((order.to_vec(), is_level.to_vec()), paper.naive());
        }

        #[test]
        fn any_league_of_fours_after_any_round_is_ranked_as_the_rule_reads(
            players in 4u16..=16,
            played in 0u16..=16,
            results in proptest::collection::vec(verdicts_of_four(), 64),
        ) {
            let mut paper = Paper::of_seats(4, players);
            let rounds = played.min(paper.schedule.rounds());
            let entered = usize::from(rounds * paper.schedule.matches_per_round());
            paper.results[..entered].copy_from_slice(&results[..entered]);
            let Ranking { order, is_level } = paper.ranking::<16>(rounds);
            prop_assert_eq!((order.to_vec(), is_level.to_vec()), paper.naive());
        }

        #[test]
        fn walking_the_group_and_walking_the_rounds_find_the_same_points(
            results in proptest::collection::vec(verdicts(), 66),
            group in proptest::sample::subsequence((0..12u16).collect::<std::vec::Vec<_>>(), 1..=10),
            more in 1u16..=10,
        ) {
            let mut paper = Paper::new(12);
            paper.results.copy_from_slice(&of_two(&results));
            let player = group[0];
            let rounds = (group.len() as u16 + more).min(paper.schedule.rounds());
            let points = |round, player| paper.of(round, player).map(Verdict::points);
            let in_group = |other| group.contains(&other);
            let by_group = points_from(paper.schedule, player, &group, rounds, points, |_| false);
            // Longer than the season, so that the rounds are walked.
            let long = [player; 12];
            let by_rounds = points_from(paper.schedule, player, &long, rounds, points, in_group);
            prop_assert_eq!(by_group, by_rounds);
        }
    }
}
