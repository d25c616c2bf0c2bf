//! How strong a player is, as far as its games tell: Elo's scale with an error bar, by Glickman's method (Glicko, 1999).
//!
//! Everybody begins at 1500 ± 350. A game moves a rating by how unexpected its result was, the more the less was known, and
//! every game makes the bar shorter. In a game for several, everybody has played everybody else, and each of these pairs
//! counts as one part of a game.

use libm::{expf, sqrtf};

use crate::games::Standing;

/// A rating: six bytes. Both numbers are tenths of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rating {
    /// Where the player stands.
    pub tenths: u16,
    /// One standard deviation of it.
    pub deviation_tenths: u16,
    /// How many games it rests on.
    pub games: u16,
}

/// ln 10 / 400.
const Q: f32 = 0.005_756_463;
/// 3 / π².
const THREE_BY_PI_SQUARED: f32 = 0.303_963_55;
/// Nobody's strength is known better than this: players change.
const SHARPEST: f32 = 30.0;

impl Rating {
    /// Of a player nobody knows anything about.
    pub const NEW: Rating = Rating { tenths: 15_000, deviation_tenths: 3_500, games: 0 };

    /// In points.
    pub fn points(self) -> u16 {
        self.tenths.saturating_add(5) / 10
    }

    /// The error bar, in points: twice the deviation to both sides holds the truth in 19 cases of 20.
    pub fn deviation(self) -> u16 {
        self.deviation_tenths.saturating_add(5) / 10
    }

    /// The rating after a game, of whose other players the ratings and the scores (1 won against it, 0.5 drew, 0 lost) are
    /// given.
    #[must_use]
    pub fn after(self, others: impl Iterator<Item = (Rating, f32)> + Clone) -> Rating {
        let players = others.clone().count();
        if players == 0 {
            return self;
        }
        let weight = 1.0 / players as f32;
        let (mut certainty, mut surprise) = (0.0, 0.0);
        for (other, score) in others {
            let deviation = f32::from(other.deviation_tenths) / 10.0;
            let g = 1.0 / sqrtf(1.0 + THREE_BY_PI_SQUARED * (Q * deviation) * (Q * deviation));
            let ahead = (f32::from(self.tenths) - f32::from(other.tenths)) / 10.0;
            let expected = 1.0 / (1.0 + expf(-g * Q * ahead));
            certainty += weight * (Q * g) * (Q * g) * expected * (1.0 - expected);
            surprise += weight * g * (score - expected);
        }
        let deviation = f32::from(self.deviation_tenths) / 10.0;
        let variance = 1.0 / (1.0 / (deviation * deviation) + certainty);
        let points = f32::from(self.tenths) / 10.0 + Q * variance * surprise;
        #[expect(clippy::cast_possible_truncation, reason = "a float beyond the integers becomes the nearest of them")]
        let tenths_of = |points: f32| (points * 10.0 + 0.5) as u16;
        Rating {
            tenths: tenths_of(points),
            deviation_tenths: tenths_of(sqrtf(variance).max(SHARPEST)),
            games: self.games.saturating_add(1),
        }
    }
}

/// The ratings of all who played a game, by seat, after it.
pub fn after_game<const SEATS: usize>(before: [Rating; SEATS], seats: usize, standing: Standing) -> [Rating; SEATS] {
    let place = |seat: usize| standing.places.get(seat).copied().unwrap_or(0);
    let mut after = before;
    for (seat, rating) in after.iter_mut().enumerate().take(seats) {
        let score = |other: usize| match place(seat).cmp(&place(other)) {
            core::cmp::Ordering::Less => 1.0,
            core::cmp::Ordering::Equal => 0.5,
            core::cmp::Ordering::Greater => 0.0,
        };
        let others = before.iter().enumerate().take(seats).filter(|(other, _)| *other != seat);
        *rating = rating.after(others.map(|(other, rating)| (*rating, score(other))));
    }
    after
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    fn rating(points: u16, deviation: u16) -> Rating {
        Rating { tenths: points * 10, deviation_tenths: deviation * 10, games: 5 }
    }

    #[test]
    fn it_is_that_of_the_example_in_glickmans_paper() {
        // Three opponents in one rating period: each counts whole there, so the sums are taken with weight one.
        let me = rating(1500, 200);
        let others = [(rating(1400, 30), 1.0), (rating(1550, 100), 0.0), (rating(1700, 300), 0.0)];
        let mut one_by_one = me;
        for other in others {
            one_by_one = one_by_one.after([other].into_iter());
        }
        // The paper rates all three at once and gets 1464 ± 151.4; one by one it is nearly the same.
        assert!((1459..=1469).contains(&one_by_one.points()), "{one_by_one:?}");
        assert!((149..=154).contains(&one_by_one.deviation()), "{one_by_one:?}");
    }

    #[test]
    fn the_first_win_moves_both_by_the_same_and_shortens_both_bars() {
        let standing = Standing::by_score(2, [1, 0, 0, 0, 0, 0]);
        let [winner, loser] = after_game([Rating::NEW; 2], 2, standing);
        assert_eq!((winner.points(), loser.points()), (1662, 1338));
        assert_eq!((winner.deviation(), loser.deviation()), (290, 290));
        assert_eq!((winner.games, loser.games), (1, 1));
    }

    #[test]
    fn a_draw_of_equals_moves_nobody_and_a_draw_with_the_stronger_moves_up() {
        let draw = Standing::by_score(2, [1, 1, 0, 0, 0, 0]);
        let [a, b] = after_game([Rating::NEW; 2], 2, draw);
        assert_eq!((a.points(), b.points()), (1500, 1500));
        let [weak, strong] = after_game([rating(1400, 80), rating(1800, 80)], 2, draw);
        assert!(weak.points() > 1400 && strong.points() < 1800);
    }

    #[test]
    fn in_a_game_of_four_the_places_decide() {
        let standing = Standing::by_score(4, [9, 5, 5, 1, 0, 0]);
        let after = after_game([Rating::NEW; 4], 4, standing);
        assert!(after[0].tenths > after[1].tenths && after[1] == after[2] && after[2].tenths > after[3].tenths);
        assert_eq!(after[1].points(), 1500);
    }

    #[test]
    fn whoever_plays_whomever_however_often_numbers_stay_numbers() {
        let mut ratings = [Rating::NEW; 2];
        for _ in 0..5_000 {
            ratings = after_game(ratings, 2, Standing::by_score(2, [1, 0, 0, 0, 0, 0]));
        }
        let [strong, weak] = ratings;
        assert!(
            strong.points() > 2000 && weak.points() < 1000 && strong.points() < 3000 && weak.points() > 100,
            "{ratings:?}"
        );
        assert_eq!((strong.games, weak.games), (5_000, 5_000));
    }
}
