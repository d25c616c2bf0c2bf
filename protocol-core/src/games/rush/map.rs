//! The map of resource-rush: a function of eight bytes that the match's seed decides, asked cell by cell and held
//! nowhere. Anybody who knows the seed can draw it again.
//!
//! What is random about the map is looked up as `key.hash(n)`, where the key is the first two draws of the match, each
//! below 2³² - 1, and the hash is HalfSipHash-1-3 of the four bytes of `n`: quick on a small processor, and the part of
//! a map that a player sees does not tell it the key.
//!
//! - **Fairness**: the lower half is the upper half turned by 180 degrees, `(x, y)` like `(99 - x, 99 - y)`, stations and
//!   all. So both drones start in the same place, as seen by each.
//! - **Obstacles** are ellipses, one to a plot of 10×10 cells at most and never on a plot's edge. The plots lie like bricks,
//!   in rows that wind up and down across the map. An ellipse has no hollow, and from the end of each column of it one is
//!   in the lane between two rows; so whatever is not an obstacle can be walked to. The first and last rows of both halves
//!   are free, because rows of plots are cut off there.
//! - **Gold** lies in two veins that are each other's image, and in every other map in a third one in the middle. A
//!   vein is a square of 8×8 cells without obstacles; five of eight cells in it have gold.
//! - **Everything else** is spread evenly: each square of 5×5 cells has one resource, unless an obstacle or a vein lies there.

use core::cell::Cell;

use serde::Serialize;

/// Cells on a side.
pub(super) const SIZE: u8 = 100;

/// Numbers that [`Map::slot`] gives: one for each square of 5×5, and one for each cell of three veins.
pub(super) const SLOTS: usize = SQUARES as usize + 3 * (VEIN as usize).pow(2);

const HALF: u8 = SIZE / 2;
const PLOT: u8 = 10;
const SQUARE: u8 = 5;
const SQUARES_A_ROW: u16 = (SIZE / SQUARE) as u16;
const SQUARES: u16 = SQUARES_A_ROW * SQUARES_A_ROW;
const VEIN: u8 = 8;
/// Where the third vein is.
const MIDDLE: Spot = Spot { x: HALF - VEIN / 2, y: HALF - VEIN / 2 };

/// A place on the map. North is up: `y` grows to the south, `x` to the east.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Spot {
    pub x: u8,
    pub y: u8,
}

impl Spot {
    /// The same place for the other drone.
    pub(super) fn turned(self) -> Spot {
        Spot { x: (SIZE - 1).saturating_sub(self.x), y: (SIZE - 1).saturating_sub(self.y) }
    }

    /// How far a drone has to see to see the other place: the longer side of the rectangle between the two.
    pub(super) fn sight(self, other: Spot) -> u8 {
        self.x.abs_diff(other.x).max(self.y.abs_diff(other.y))
    }

    /// Which cell of a vein at `corner` this is, from 0, row by row.
    #[expect(clippy::arithmetic_side_effects, reason = "a place in a vein is below 64")]
    fn within(self, corner: Spot) -> Option<u16> {
        let (x, y) = (self.x.checked_sub(corner.x)?, self.y.checked_sub(corner.y)?);
        (x < VEIN && y < VEIN).then(|| u16::from(y) * u16::from(VEIN) + u16::from(x))
    }
}

/// What a cell is. The number is the one on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    Grass = 0,
    Bush = 1,
    Stone = 2,
    Gold = 3,
    Berry = 4,
    Water = 5,
    Mountain = 6,
    Station = 7,
}

/// What decides a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key(pub [u32; 2]);

impl Key {
    fn ask(self, about: About, number: u32) -> u32 {
        self.hash((about as u32) << 16 | number)
    }

    /// HalfSipHash-1-3 of one word.
    fn hash(self, n: u32) -> u32 {
        let Key([k0, k1]) = self;
        let mut v = [k0, k1, 0x6c79_6765 ^ k0, 0x7465_6462 ^ k1];
        for word in [n, 4 << 24] {
            v[3] ^= word;
            v = sip_round(v);
            v[0] ^= word;
        }
        v[2] ^= 0xff;
        v = sip_round(sip_round(sip_round(v)));
        v[1] ^ v[3]
    }
}

fn sip_round([mut a, mut b, mut c, mut d]: [u32; 4]) -> [u32; 4] {
    a = a.wrapping_add(b);
    c = c.wrapping_add(d);
    b = b.rotate_left(5) ^ a;
    d = d.rotate_left(8) ^ c;
    a = a.rotate_left(16).wrapping_add(d);
    c = c.wrapping_add(b);
    b = b.rotate_left(13) ^ c;
    d = d.rotate_left(7) ^ a;
    [a, b, c.rotate_left(16), d]
}

/// What is asked of a [`Key`]. The numbers are the upper half of the word that is hashed.
#[derive(Clone, Copy)]
enum About {
    /// The waves of the rows of plots, the vein and the station.
    Map = 0,
    /// A plot: row × 16 + column.
    Plot = 1,
    /// A square: row × 20 + column.
    Square = 2,
    /// A cell of a vein: y × 100 + x.
    Vein = 3,
}

/// A map, for as long as somebody looks at it.
#[derive(Debug)]
pub(super) struct Map {
    key: Key,
    wave: u8,
    /// The upper left corner of the vein in the upper half.
    vein: Spot,
    third: bool,
    /// Where the first drone starts.
    station: Spot,
    /// The last plot and the last square looked up, for the next cell mostly lies in the same.
    plot: Cell<(u32, u32)>,
    square: Cell<(u32, u32)>,
}

impl Map {
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a remainder keeps to its limit, and all are below 100; the station stops in the middle"
    )]
    pub(super) fn new(key: Key) -> Self {
        let below = |n: u32, limit: u32| (key.ask(About::Map, n) % limit) as u8;
        let mut map = Map {
            key,
            wave: below(0, 24),
            vein: Spot { x: 4 + below(1, 85), y: 24 + below(2, 10) },
            third: below(3, 2) == 1,
            station: Spot { x: 6 + below(4, 88), y: 6 + below(5, 9) },
            plot: Cell::new((u32::MAX, 0)),
            square: Cell::new((u32::MAX, 0)),
        };
        // No obstacle is higher than eight cells, and here are no veins yet.
        while map.obstacle(map.station).is_some() && map.station.y < HALF {
            map.station.y += 1;
        }
        map
    }

    /// Where a drone starts.
    pub(super) fn station(&self, seat: u8) -> Spot {
        if seat == 0 { self.station } else { self.station.turned() }
    }

    /// What a cell was at the beginning.
    #[expect(clippy::arithmetic_side_effects, reason = "a map has 10,000 cells")]
    pub(super) fn ground(&self, spot: Spot) -> Ground {
        let upper = if spot.y < HALF { spot } else { spot.turned() };
        if upper == self.station {
            Ground::Station
        } else if self.vein(spot).is_some() {
            let cell = u32::from(upper.y) * u32::from(SIZE) + u32::from(upper.x);
            if self.key.ask(About::Vein, cell) % 8 < 5 { Ground::Gold } else { Ground::Grass }
        } else {
            self.obstacle(upper).or_else(|| self.growth(upper)).unwrap_or(Ground::Grass)
        }
    }

    /// The number of a cell that has a resource, different for all of them.
    #[expect(clippy::arithmetic_side_effects, reason = "there are `SLOTS` of them")]
    pub(super) fn slot(&self, spot: Spot) -> u16 {
        match self.vein(spot) {
            Some((vein, cell)) => SQUARES + vein * u16::from(VEIN).pow(2) + cell,
            None => u16::from(spot.y / SQUARE) * SQUARES_A_ROW + u16::from(spot.x / SQUARE),
        }
    }

    /// The vein a cell belongs to, from 0, and which of its cells it is.
    #[expect(clippy::arithmetic_side_effects, reason = "a vein lies within the map, so its mirror image does")]
    fn vein(&self, spot: Spot) -> Option<(u16, u16)> {
        let lower = Spot { x: SIZE - VEIN - self.vein.x, y: SIZE - VEIN - self.vein.y };
        let of = |number: u16, corner: Spot| Some((number, spot.within(corner)?));
        of(0, self.vein).or_else(|| of(1, lower)).or_else(|| of(2, MIDDLE).filter(|_| self.third))
    }

    /// Water or a mountain, if that is in a place of the upper half.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a place is below 100, a wave below 24, and a square of what is counted in half cells below 100"
    )]
    fn obstacle(&self, Spot { x, y }: Spot) -> Option<Ground> {
        if y == 0 || y == HALF - 1 {
            return None;
        }
        // Up for twelve columns and down for twelve, one cell each, so that a lane of two cells is not interrupted.
        let y = y + ((x + self.wave) % 24).abs_diff(12);
        let row = y / PLOT;
        let x = x + row % 2 * (PLOT / 2);
        let shape = self.remember(&self.plot, About::Plot, u32::from(row) * 16 + u32::from(x / PLOT));
        let kind = match shape >> 8 & 7 {
            0 | 1 => return None,
            2..=4 => Ground::Water,
            _ => Ground::Mountain,
        };
        // In half cells, from the middle of the plot: its edge is 9 away, and a radius is 8 at most.
        let away = |at: u8| (2 * i32::from(at % PLOT) - i32::from(PLOT - 1)).pow(2);
        let radius = |bits: u32| (4 + (bits & 3) + (bits >> 2 & 1)).pow(2) as i32;
        let (wide, high) = (radius(shape), radius(shape >> 4));
        (away(x) * high + away(y) * wide <= wide * high).then_some(kind)
    }

    /// What grows in a place of the upper half, if it is the one of its square where something does.
    #[expect(clippy::arithmetic_side_effects, reason = "a map has 400 squares of 25 cells")]
    fn growth(&self, Spot { x, y }: Spot) -> Option<Ground> {
        let square = u32::from(y / SQUARE) * u32::from(SQUARES_A_ROW) + u32::from(x / SQUARE);
        let growth = self.remember(&self.square, About::Square, square);
        let cell = u32::from(y % SQUARE) * u32::from(SQUARE) + u32::from(x % SQUARE);
        (growth % 25 == cell).then_some(match (growth >> 8) % 20 {
            0..=8 => Ground::Bush,
            9..=14 => Ground::Stone,
            _ => Ground::Berry,
        })
    }

    fn remember(&self, last: &Cell<(u32, u32)>, about: About, number: u32) -> u32 {
        let (known, answer) = last.get();
        if known == number {
            return answer;
        }
        let answer = self.key.ask(about, number);
        last.set((number, answer));
        answer
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{vec, vec::Vec};

    fn maps() -> impl Iterator<Item = Map> {
        (0..200u32).map(|n| Map::new(Key([n.wrapping_mul(0x9e37_79b9), !n])))
    }

    fn spots() -> impl Iterator<Item = Spot> {
        (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| Spot { x, y }))
    }

    fn walkable(ground: Ground) -> bool {
        !matches!(ground, Ground::Water | Ground::Mountain)
    }

    #[test]
    fn the_hash_is_the_published_one() {
        // HalfSipHash-2-4 of nothing under the key 00 01 … 07 is a9 35 9f 5b; one round function makes both.
        let (k0, k1) = (0x0302_0100, 0x0706_0504);
        let mut v = sip_round(sip_round([k0, k1, 0x6c79_6765 ^ k0, 0x7465_6462 ^ k1]));
        v[2] ^= 0xff;
        v = sip_round(sip_round(sip_round(sip_round(v))));
        assert_eq!((v[1] ^ v[3]).to_le_bytes(), [0xa9, 0x35, 0x9f, 0x5b]);
    }

    #[test]
    fn the_map_is_the_same_for_both_drones() {
        for map in maps() {
            assert!(spots().all(|spot| map.ground(spot) == map.ground(spot.turned())));
            assert_eq!(map.station(0).turned(), map.station(1));
        }
    }

    #[test]
    fn everything_that_is_no_obstacle_can_be_walked_to() {
        for map in maps() {
            let ground: Vec<_> = spots().map(|spot| map.ground(spot)).collect();
            let at = |x: usize, y: usize| y * usize::from(SIZE) + x;
            let mut reached = vec![false; ground.len()];
            let start = map.station(0);
            let mut next = vec![(usize::from(start.x), usize::from(start.y))];
            while let Some((x, y)) = next.pop() {
                if x < 100 && y < 100 && walkable(ground[at(x, y)]) && !reached[at(x, y)] {
                    reached[at(x, y)] = true;
                    next.extend([(x + 1, y), (x, y + 1), (x.wrapping_sub(1), y), (x, y.wrapping_sub(1))]);
                }
            }
            assert!(ground.iter().zip(&reached).all(|(&ground, &reached)| walkable(ground) == reached));
        }
    }

    #[test]
    fn every_map_has_its_share_of_everything_and_two_or_three_veins() {
        let mut veins = [0; 4];
        for map in maps() {
            let mut found = [0; 8];
            spots().for_each(|spot| found[map.ground(spot) as usize] += 1);
            let [_, bush, stone, gold, berry, water, mountain, station] = found;
            assert!((1000..3500).contains(&(water + mountain)), "{water} + {mountain}");
            assert!(water > 200 && mountain > 200, "{water} + {mountain}");
            assert!([bush, stone, gold, berry].iter().all(|&n| n >= 30), "{found:?}");
            assert_eq!(station, 2);
            let gold: Vec<Spot> = spots().filter(|&spot| map.ground(spot) == Ground::Gold).collect();
            // A vein is what hangs together with no more than a cell or two between.
            let mut left = gold.clone();
            let mut number = 0;
            while let Some(first) = left.pop() {
                number += 1;
                let mut vein = vec![first];
                while let Some(spot) = vein.pop() {
                    let (near, far): (Vec<_>, _) = left.iter().partition(|other| spot.sight(**other) <= 2);
                    left = far;
                    vein.extend(near);
                }
            }
            veins[number] += 1;
            assert!((20..64).contains(&(gold.len() / number)), "{} in {number}", gold.len());
        }
        assert!(veins[2] > 60 && veins[3] > 60 && veins[2] + veins[3] == 200, "{veins:?}");
    }

    #[test]
    fn every_resource_has_a_slot_of_its_own() {
        for map in maps() {
            let mut taken = [false; SLOTS];
            for spot in spots() {
                if matches!(map.ground(spot), Ground::Bush | Ground::Stone | Ground::Berry | Ground::Gold) {
                    assert!(!core::mem::replace(&mut taken[usize::from(map.slot(spot))], true));
                }
            }
        }
    }

    #[test]
    fn a_map_looks_the_same_in_whatever_order_it_is_asked() {
        for map in maps().take(20) {
            let forth: Vec<_> = spots().map(|spot| map.ground(spot)).collect();
            let mut back: Vec<_> = spots().collect::<Vec<_>>().into_iter().rev().map(|spot| map.ground(spot)).collect();
            back.reverse();
            assert_eq!(forth, back);
        }
    }
}
