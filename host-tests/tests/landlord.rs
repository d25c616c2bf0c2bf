//! Landlord's moves, judged by other people's code: in thousands of positions of random matches the moves that the box lists are those
//! that the Rust crate `dou_dizhu` finds, which plays by the rules of Pagat, and those of the Python package `rlcard` but for
//! the differences that the manual of the game names.

use dou_dizhu::{Hand, PlayKind};
use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, MoveSink, Seat, Sitter, Table, Viewer};
use protocol_core::json;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

const RANKS: [&str; 15] = ["3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2", "BJ", "RJ"];

/// How many cards of each rank.
type Counts = [u8; 15];

/// Who has to play: its hand, what it has to beat, and what the box lists, beside a pass.
#[derive(Debug)]
struct Position {
    hand: Counts,
    lead: Option<Counts>,
    listed: BTreeSet<Counts>,
    may_pass: bool,
}

fn counts(cards: &Value) -> Counts {
    let mut counts = [0; 15];
    for card in cards.as_array().expect("cards") {
        counts[RANKS.iter().position(|rank| card == rank).expect("a rank")] += 1;
    }
    counts
}

fn moves(game: &AnyGame, seat: Seat) -> Vec<Value> {
    struct All(Vec<Value>);
    impl MoveSink for All {
        fn take(&mut self, legal: &str) -> ControlFlow<()> {
            self.0.push(serde_json::from_str(legal).expect("JSON"));
            ControlFlow::Continue(())
        }
    }
    let mut all = All(Vec::new());
    game.legal_moves(seat, &mut all);
    all.0
}

/// What a seat sees.
fn view(game: &AnyGame, seat: Seat) -> Value {
    struct Seen<'a>(&'a AnyGame, Seat);
    impl Serialize for Seen<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let sitters = ["A", "B", "C"].map(|id| Sitter { id, ..Sitter::default() });
            let mut map = serializer.serialize_map(None)?;
            self.0.view(Viewer::Seat(self.1), Table(&sitters), &mut map)?;
            map.end()
        }
    }
    serde_json::to_value(Seen(game, seat)).expect("JSON")
}

/// Positions of matches that are played at random.
fn positions(matches: u32) -> Vec<Position> {
    let mut positions = Vec::new();
    for number in 0..matches {
        let mut draws = Draws::new(Seed([number as u8; 32]).derive(protocol_core::fair::Purpose::Match, [number; 3]));
        let mut random = draws.clone();
        let mut game = AnyGame::start(GameKind::Landlord, 3, &mut draws);
        while let Some(seat) = game.to_move().alone() {
            let (seen, mut all) = (view(&game, seat), moves(&game, seat));
            // Nobody leads a bare plane by chance: in some matches whoever can does.
            let is_plane = |one: &Value| {
                one.as_array().is_some_and(|cards| cards.len() > 5 && counts(one).iter().all(|n| n % 3 == 0))
            };
            let made = random.below(all.len() as u32) as usize;
            let made = all.iter().position(is_plane).filter(|_| number % 8 == 0).unwrap_or(made);
            let text = all[made].to_string();
            if seen["phase"] == "playing" {
                let may_pass = all[0] == serde_json::json!(["pass"]);
                all.drain(..usize::from(may_pass));
                let listed: BTreeSet<_> = all.iter().map(counts).collect();
                assert_eq!(listed.len(), all.len(), "each is listed once");
                let lead = seen["to_beat"].get("cards").map(counts);
                positions.push(Position { hand: counts(&seen["your_hand"]), lead, listed, may_pass });
            }
            game.play(seat, json::parse(text.as_bytes()).expect("JSON"), &mut draws).expect("it is listed");
        }
    }
    positions
}

const KINDS: [PlayKind; 14] = [
    PlayKind::Solo,
    PlayKind::Chain,
    PlayKind::Pair,
    PlayKind::PairsChain,
    PlayKind::Trio,
    PlayKind::Airplane,
    PlayKind::TrioWithSolo,
    PlayKind::AirplaneWithSolos,
    PlayKind::TrioWithPair,
    PlayKind::AirplaneWithPairs,
    PlayKind::Bomb,
    PlayKind::FourWithDualSolo,
    PlayKind::FourWithDualPair,
    PlayKind::Rocket,
];

#[test]
fn every_move_that_dou_dizhu_finds_is_listed_and_no_other_whatever_was_led() {
    let positions = positions(300);
    let mut leads: BTreeMap<String, u32> = BTreeMap::new();
    for Position { hand, lead, listed, may_pass } in &positions {
        let hand = Hand::try_from(*hand).expect("a hand");
        let over = lead.map(|lead| Hand::try_from(lead).expect("cards").to_play().expect("a play"));
        *leads.entry(over.as_ref().map_or("Lead".into(), |over| format!("{:?}", over.kind()))).or_default() += 1;
        let all = KINDS.iter().flat_map(|&kind| hand.plays(kind));
        let beats = |play: &_| over.as_ref().is_none_or(|over| over.partial_cmp(play) == Some(Ordering::Less));
        let found: BTreeSet<Counts> = all.filter(beats).map(|play| play.to_hand().to_array()).collect();
        assert_eq!(*listed, found, "{hand:?} over {lead:?}");
        assert_eq!(*may_pass, lead.is_some(), "only who leads must play");
    }
    println!("{} positions: {leads:?}", positions.len());
    assert!(positions.len() > 40_000);
    assert_eq!(leads.len(), 1 + KINDS.len(), "every kind was led");
}

/// Whether these are trios or a four with kickers of which two share a rank: a play for `rlcard`, and none here.
fn has_kickers_of_one_rank(cards: &Counts) -> bool {
    let size = usize::from(cards.iter().sum::<u8>());
    let mut sorted = *cards;
    sorted.sort_unstable();
    let is_four_and_pair = sorted[13..] == [2, 4] && size == 6;
    let trios = size / 4;
    let is_row = |first: usize| trios > 1 && (first..first + trios).all(|rank| cards[rank] == 3);
    let singles = cards.iter().filter(|&&count| count == 1).count();
    let is_plane = size % 4 == 0 && (0..=12 - trios.min(12)).any(is_row) && singles < trios;
    is_four_and_pair || is_plane
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs Python; cargo xtask clients runs it")]
fn every_move_is_one_of_rlcard_and_rlcard_has_only_kickers_of_one_rank_beside_them() {
    let positions = positions(60);
    let words = |cards: &Counts| -> Vec<&str> {
        RANKS.iter().zip(cards).flat_map(|(rank, &count)| vec![*rank; usize::from(count)]).collect()
    };
    let mut asked = String::new();
    for position in &positions {
        let lead = position.lead.as_ref().map(words);
        asked += &format!("{}\n", serde_json::json!({"hand": words(&position.hand), "lead": lead}));
    }
    let mut rlcard = Command::new(host_tests::python::interpreter())
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/players/landlord_judge.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut input = rlcard.stdin.take().expect("it listens");
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let answered = rlcard.wait_with_output().expect("it answers");
    writer.join().expect("it was asked").expect("it listened to all");
    let answered = String::from_utf8(answered.stdout).expect("text");
    assert_eq!(answered.lines().count(), positions.len());
    let mut others = 0;
    for (Position { hand, lead, listed, .. }, line) in positions.iter().zip(answered.lines()) {
        let found: Value = serde_json::from_str(line).expect("JSON");
        let found: BTreeSet<Counts> = found.as_array().expect("moves").iter().map(counts).collect();
        let missing: Vec<_> = listed.difference(&found).map(words).collect();
        assert!(missing.is_empty(), "{:?} over {:?}: {missing:?}", words(hand), lead.as_ref().map(words));
        for other in found.difference(listed) {
            // Four trios in a row are also three with solos there, and so are beaten by such.
            let is_twofold = lead.is_some_and(|lead| lead.iter().filter(|&&count| count == 3).count() == 4);
            assert!(
                has_kickers_of_one_rank(other) || is_twofold,
                "{:?} over {:?}: {:?}",
                words(hand),
                lead.as_ref().map(words),
                words(other)
            );
            others += 1;
        }
    }
    println!("{} positions, {others} moves only of rlcard", positions.len());
    assert!(positions.len() > 2_000 && others > 100);
}
