//! Many texts as one grammar, by Re-Pair: the pair of neighbours that is most frequent in all of them becomes a symbol of its
//! own, again and again, for as long as that makes the whole smaller. What several texts share is paid for once, however long it
//! is. Reading a text takes a stack as deep as the grammar and no window: nothing refers to what was read before.
//!
//! A rule is two numbers in a table, found without arithmetic: one is looked up for every byte that is read. The symbols of the
//! texts are fewer, and have as many bits as they need.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use crate::bits::Bits;

/// The symbol for what the reader puts in by itself. Those below it are bytes, those above it are rules.
pub const BLANK: u16 = 256;
/// No rule has more rules below it, itself included.
pub const DEPTH: usize = 16;

/// Stands between texts. Nothing pairs with it.
const END: u16 = u16::MAX;
/// In the place of a symbol that has become part of the one before it.
const GONE: u16 = END - 1;
/// A pair that is found less often does not pay for its rule.
const FEWEST: usize = 3;
/// Behind the last symbol: a reader takes four bytes at once.
const PADDING: usize = 3;

/// Texts, packed.
pub struct Packed {
    /// The two symbols of every rule.
    pub rules: Vec<Pair>,
    /// Bits of a symbol in the texts.
    pub width: u32,
    /// The symbols of the texts, one behind the other.
    pub symbols: Vec<u8>,
    /// Where each text is, in symbols.
    pub texts: Vec<Range<u32>>,
}

/// Packs texts of bytes and [`BLANK`]s.
pub fn pack(texts: &[Vec<u16>]) -> Packed {
    let mut line = Line::of(texts);
    let mut rules = Vec::new();
    let mut depths = HashMap::new();
    let mut symbols = line.symbols.len() - texts.len();
    let (mut best, mut best_rules) = (cost(symbols, 0), 0);
    while let Some((pair, places)) = line.most_frequent(|pair| {
        let depth = |symbol| depths.get(&symbol).copied().unwrap_or(0);
        depth(pair.0).max(depth(pair.1)) < DEPTH
    }) {
        let Some(rule) = rule(rules.len()) else { break };
        let depth = |symbol| depths.get(&symbol).copied().unwrap_or(0);
        depths.insert(rule, 1 + depth(pair.0).max(depth(pair.1)));
        symbols -= places.len();
        line.replace(pair, &places, rule);
        rules.push(pair);
        if cost(symbols, rules.len()) < best {
            (best, best_rules) = (cost(symbols, rules.len()), rules.len());
        }
    }
    // The last rules may have cost a wider symbol than they are worth.
    let texts: Vec<Vec<u16>> = line.texts().map(|text| without(text, &rules, best_rules)).collect();
    rules.truncate(best_rules);
    write(rules, &texts)
}

/// The symbol of a rule.
fn rule(number: usize) -> Option<u16> {
    u16::try_from(usize::from(BLANK) + 1 + number).ok().filter(|&symbol| symbol < GONE)
}

/// Bits of a symbol if there are so many rules.
fn width(rules: usize) -> u32 {
    (usize::from(BLANK) + rules).ilog2() + 1
}

/// Bits of it all.
fn cost(symbols: usize, rules: usize) -> usize {
    symbols * width(rules) as usize + rules * u32::BITS as usize
}

/// A text with only the first `kept` rules.
fn without(text: Vec<u16>, rules: &[Pair], kept: usize) -> Vec<u16> {
    let first = usize::from(BLANK) + 1;
    let mut open: Vec<u16> = text.into_iter().rev().collect();
    let mut symbols = Vec::new();
    while let Some(symbol) = open.pop() {
        if usize::from(symbol) < first + kept {
            symbols.push(symbol);
        } else {
            let (left, right) = rules[usize::from(symbol) - first];
            open.extend([right, left]);
        }
    }
    symbols
}

fn write(rules: Vec<Pair>, texts: &[Vec<u16>]) -> Packed {
    let width = width(rules.len());
    let mut bits = Bits::default();
    texts.iter().flatten().for_each(|&symbol| bits.push(symbol.into(), width));
    let mut at = 0;
    let ranges = texts.iter().map(|text| {
        let begin = at;
        at += text.len() as u32;
        begin..at
    });
    let texts = ranges.collect();
    let mut symbols = bits.into_bytes();
    symbols.extend([0; PADDING]);
    Packed { rules, width, symbols, texts }
}

/// Two symbols that are neighbours.
pub type Pair = (u16, u16);

/// All texts in one line, and where each pair is.
struct Line {
    symbols: Vec<u16>,
    /// How far it is to the symbol behind and to the one before: those that are gone are passed over.
    behind: Vec<u32>,
    before: Vec<u32>,
    /// Where each pair was seen, which need not be true any more, and how often it is.
    places: HashMap<Pair, (Vec<u32>, usize)>,
    /// The most frequent first, of those as frequent the lowest. What a count has become is looked up.
    queue: BinaryHeap<(usize, Reverse<Pair>)>,
}

impl Line {
    fn of(texts: &[Vec<u16>]) -> Self {
        let symbols: Vec<u16> = texts.iter().flat_map(|text| text.iter().copied().chain([END])).collect();
        let mut line = Self {
            behind: vec![1; symbols.len()],
            before: vec![1; symbols.len()],
            symbols,
            places: HashMap::new(),
            queue: BinaryHeap::new(),
        };
        for at in 0..line.symbols.len() {
            line.note(at);
        }
        line.queue = line.places.iter().map(|(&pair, (_, count))| (*count, Reverse(pair))).collect();
        line
    }

    fn next(&self, at: usize) -> Option<usize> {
        Some(at + self.behind[at] as usize).filter(|&next| next < self.symbols.len())
    }

    fn previous(&self, at: usize) -> Option<usize> {
        at.checked_sub(self.before[at] as usize)
    }

    /// The pair that begins at a place.
    fn pair(&self, at: usize) -> Option<Pair> {
        let pair = (self.symbols[at], self.symbols[self.next(at)?]);
        (pair.0 < GONE && pair.1 < GONE).then_some(pair)
    }

    /// The pair at a place is there.
    fn note(&mut self, at: usize) {
        if let Some(pair) = self.pair(at) {
            let (places, count) = self.places.entry(pair).or_default();
            places.push(at as u32);
            *count += 1;
        }
    }

    /// It will not be.
    fn forget(&mut self, at: usize) {
        if let Some((_, count)) = self.pair(at).and_then(|pair| self.places.get_mut(&pair)) {
            *count -= 1;
        }
    }

    /// The most frequent pair that may become a rule, and all its places, none in another; none if it is too rare.
    fn most_frequent(&mut self, may: impl Fn(Pair) -> bool) -> Option<(Pair, Vec<usize>)> {
        while let Some((count, Reverse(pair))) = self.queue.pop() {
            let now = self.places.get(&pair).map_or(0, |(_, count)| *count);
            if count < FEWEST {
                return None;
            }
            if now != count {
                self.queue.push((now, Reverse(pair)));
                continue;
            }
            if !may(pair) {
                continue;
            }
            let (seen, _) = self.places.remove(&pair).unwrap_or_default();
            let mut seen: Vec<usize> = seen.into_iter().map(|at| at as usize).collect();
            seen.sort_unstable();
            seen.dedup();
            let mut free = 0;
            seen.retain(|&at| {
                let is_there = at >= free && self.pair(at) == Some(pair);
                free = if is_there { self.next(at).map_or(at, |next| next + 1) } else { free };
                is_there
            });
            // In a run of the same symbol there are fewer than were counted.
            if seen.len() >= FEWEST {
                return Some((pair, seen));
            }
        }
        None
    }

    /// A rule takes the place of a pair.
    fn replace(&mut self, pair: Pair, places: &[usize], rule: u16) {
        let mut changed = Vec::new();
        for &at in places {
            let Some(second) = self.next(at).filter(|_| self.pair(at) == Some(pair)) else { continue };
            let (before, behind) = (self.previous(at), self.next(second));
            before.into_iter().chain([second]).for_each(|at| self.forget(at));
            self.symbols[at] = rule;
            self.symbols[second] = GONE;
            self.behind[at] += self.behind[second];
            if let Some(behind) = behind {
                self.before[behind] = (behind - at) as u32;
            }
            for at in before.into_iter().chain([at]) {
                self.note(at);
                changed.extend(self.pair(at));
            }
        }
        for pair in changed {
            if let Some((_, count)) = self.places.get(&pair) {
                self.queue.push((*count, Reverse(pair)));
            }
        }
    }

    /// What has become of the texts.
    fn texts(&self) -> impl Iterator<Item = Vec<u16>> {
        let texts = self.symbols.split(|&symbol| symbol == END);
        let texts = texts.map(|text| text.iter().copied().filter(|&symbol| symbol != GONE).collect());
        texts.take(self.symbols.iter().filter(|&&symbol| symbol == END).count())
    }
}
