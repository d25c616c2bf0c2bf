//! Who leads.
//!
//! What a match is worth, what a player has gathered, and the order that follows. Where results are kept, and how a
//! table is shown, is left to others.

use super::schedule::Schedule;
use core::cmp::Reverse;
use heapless::VecView;
use serde::Serialize;

use crate::games::MAX_SEATS;
use crate::ids::AgentId;
use crate::json::Shown;

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

/// One line of the table.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Row<'a> {
    pub rank: u16,
    pub player_id: Shown<AgentId>,
    pub display_name: &'a str,
    pub played: u16,
    pub wins: u16,
    pub draws: u16,
    pub losses: u16,
    pub technical_losses: u16,
    pub points: u16,
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

/// A player in a ranking, and what ranked it: 24 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranked {
    /// By its number in the schedule.
    pub player: u16,
    /// Whether nothing but the id parts it from the one before, so that people see them share a place.
    pub is_level: bool,
    /// What it had gathered.
    pub tally: Tally,
    /// What it took from matches with those it was level with.
    direct: u16,
    /// Twice what those are worth whom it beat, and once with whom it drew. At a table of more than two, whoever got fewer
    /// points there is beaten.
    beaten: u32,
}

/// Ranks the players.
///
/// Points decide. Among players level on points, it is the points they took from matches with each other; then wins; then
/// Sonneborn-Berger, the points of those they beat and half of those they drew with; then fewer technical losses; then
/// their place in the schedule, so that no rank is shared. The points from each other are counted once, among all who are
/// level: players they leave level go on to wins, and are not looked at again as a smaller group. That keeps the order
/// explainable by one number per player.
///
/// `tallies` are the schedule's players in order. `rounds` says how many rounds of the schedule may have results, and `taken`
/// what the players of a match took from it, by seat, if it has one; the match is named by its place in the schedule. Players
/// for whom there is no room in `ranking` are left out.
///
/// Costs a sort, and one look at every match.
pub fn rank(
    schedule: Schedule,
    tallies: &[Tally],
    rounds: u16,
    taken: impl Fn(usize) -> Option<[u16; MAX_SEATS]>,
    ranking: &mut VecView<Ranked>,
) {
    ranking.clear();
    for (player, &tally) in (0..=u16::MAX).zip(tallies).take(ranking.capacity()) {
        let _ = ranking.push(Ranked { player, tally, ..Ranked::default() });
    }
    schedule.for_each(rounds, |place, players| {
        let Some(taken) = taken(place) else { return };
        let worth = |player: u16| tallies.get(usize::from(player)).map_or(0, |tally| tally.points);
        for (&player, &mine) in players.iter().zip(&taken) {
            let Some(ranked) = ranking.get_mut(usize::from(player)) else { continue };
            let mut is_among_level = false;
            for (&other, &theirs) in players.iter().zip(&taken).filter(|&(&other, _)| other != player) {
                let worth = worth(other);
                is_among_level |= worth == ranked.tally.points;
                // No branches: nothing is harder to foretell than who beats whom.
                let times = u32::from(mine > theirs) << 1 | u32::from(mine == theirs && mine > 0);
                ranked.beaten = ranked.beaten.saturating_add(times.saturating_mul(worth.into()));
            }
            ranked.direct = ranked.direct.saturating_add(if is_among_level { mine } else { 0 });
        }
    });
    let key = |ranked: &Ranked| {
        let Ranked { tally, direct, beaten, .. } = *ranked;
        (Reverse((tally.points, direct, tally.wins, beaten)), tally.technical_losses)
    };
    ranking.sort_unstable_by_key(|ranked| (key(ranked), ranked.player));
    let mut before = None;
    for ranked in ranking.iter_mut() {
        ranked.is_level = before == Some(key(ranked));
        before = Some(key(ranked));
    }
}

/// A number that is another one for another ranking.
pub fn checksum(ranking: &[Ranked]) -> u32 {
    let numbers = |of: &Ranked| [of.player, of.is_level.into(), of.tally.played, of.tally.points];
    let numbers = ranking.iter().flat_map(numbers);
    numbers.fold(0, |sum: u32, number| sum.wrapping_mul(31).wrapping_add(number.into()))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::super::Places;
    use super::Verdict::{Draw, Loss, TechnicalLoss, Win};
    use super::*;
    use heapless::Vec;
    use proptest::prelude::*;
    use std::vec;

    /// A league on paper: the verdicts by seat, by the match's place in the schedule.
    struct Paper {
        schedule: Schedule,
        results: std::vec::Vec<Option<[Verdict; MAX_SEATS]>>,
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
            self.results[place] = Some(by_seat(&[a, b]));
        }

        fn beats(&mut self, p: u16, q: u16) {
            self.enter(p, q, Win, Loss);
        }

        fn places(&self, place: usize) -> Places {
            let (round, table) = self.schedule.at(place).expect("a place per match");
            self.schedule.places(round, table).expect("players per match")
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
            self.ranking(rounds).0
        }

        /// The players, best first, and beside each whether only its id puts it behind the one before.
        fn ranking<const N: usize>(&self, rounds: u16) -> (Vec<u16, N>, Vec<bool, N>) {
            let taken = |place: usize| self.results[place].map(|verdicts| verdicts.map(Verdict::points));
            let mut ranking = Vec::<_, N>::new();
            rank(self.schedule, &self.tallies(), rounds, taken, &mut ranking);
            ranking.iter().map(|ranked| (ranked.player, ranked.is_level)).unzip()
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
        let (order, is_level) = Paper::new(3).ranking::<4>(0);
        assert_eq!((&order[..], &is_level[..]), (&[0, 1, 2][..], &[false, true, true][..]), "and they share the place");
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
        let (order, is_level) = paper.ranking::<4>(3);
        assert_eq!((&order[..], &is_level[..]), (&[0, 1, 2, 3][..], &[false, true, false, true][..]));
        paper.enter(1, 3, Win, TechnicalLoss);
        assert_eq!(paper.ranking::<4>(3).1, [false, true, false, false]);
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
        paper.results[0] = Some(by_seat(&[Loss, Win]));
        paper.results[1] = Some(by_seat(&[Loss, Loss, Loss, Win]));
        // 1 and 6 are level and have not met: the id decides.
        assert_eq!(paper.rank::<8>(1)[..2], [1, 6]);
        // Then 4 wins the match it has with 1, and 6 has not met 4 since R1M2: there 6 took three points from it.
        paper.results[2] = Some(by_seat(&[Loss, Loss, Win]));
        assert_eq!(paper.rank::<8>(2)[..3], [4, 6, 1]);
    }

    /// The verdicts of the first seats; all others lose.
    fn by_seat(verdicts: &[Verdict]) -> [Verdict; MAX_SEATS] {
        core::array::from_fn(|seat| verdicts.get(seat).copied().unwrap_or(Loss))
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

    fn verdicts_of_six() -> impl Strategy<Value = Option<[Verdict; MAX_SEATS]>> {
        let verdict = prop_oneof![2 => Just(Win), 2 => Just(Draw), 3 => Just(Loss), 1 => Just(TechnicalLoss)];
        proptest::option::weighted(0.9, core::array::from_fn::<_, MAX_SEATS, _>(|_| verdict.clone()))
    }

    fn of_two(verdicts: &[Option<(Verdict, Verdict)>]) -> std::vec::Vec<Option<[Verdict; MAX_SEATS]>> {
        verdicts.iter().map(|verdicts| verdicts.map(|(a, b)| by_seat(&[a, b]))).collect()
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
            let (order, is_level) = paper.ranking::<20>(rounds);
            prop_assert_eq!((order.to_vec(), is_level.to_vec()), paper.naive());
        }

        #[test]
        fn any_league_at_tables_after_any_round_is_ranked_as_the_rule_reads(
            seats in 3u8..=6,
            players in 6u16..=16,
            played in 0u16..=16,
            results in proptest::collection::vec(verdicts_of_six(), 80),
        ) {
            let mut paper = Paper::of_seats(seats, players);
            let rounds = played.min(paper.schedule.rounds());
            let entered = usize::from(rounds * paper.schedule.matches_per_round());
            paper.results[..entered].copy_from_slice(&results[..entered]);
            let (order, is_level) = paper.ranking::<16>(rounds);
            prop_assert_eq!((order.to_vec(), is_level.to_vec()), paper.naive());
        }
    }
}
