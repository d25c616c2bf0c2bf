//! Writing, against serde_json: the same bytes for the same value, through any sink.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use protocol_core::json::{self, Full, Slice};
use serde::Serialize;

mod json_oracle;
use json_oracle::reassembled;

/// One of everything serde can ask of a serializer.
#[derive(Clone, Debug, Serialize)]
struct Everything {
    unsigned: (u8, u16, u32, u64, u128),
    signed: (i8, i16, i32, i64, i128),
    yes: bool,
    letter: char,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    perhaps: Option<String>,
    nothing: Option<()>,
    list: Vec<Variant>,
    by_text: BTreeMap<String, u8>,
    by_number: BTreeMap<i32, Unit>,
    by_yes: BTreeMap<bool, ()>,
    by_variant: BTreeMap<Side, char>,
    by_letter: BTreeMap<char, Newtype>,
    tagged: Vec<Tagged>,
    #[serde(rename = "quo\"ted")]
    quoted: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, Serialize)]
struct Unit;

#[derive(Clone, Debug, Serialize)]
struct Newtype(Option<i16>);

#[derive(Clone, Debug, Serialize)]
enum Variant {
    Bare,
    One(String),
    Pair(u8, Newtype),
    Named { a: Option<u8>, b: Vec<u8> },
    Empty {},
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "message_type")]
enum Tagged {
    Ping,
    Move { side: Side },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Side {
    EvenOdd,
    Black,
}

fn any_side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::EvenOdd), Just(Side::Black)]
}

fn any_newtype() -> impl Strategy<Value = Newtype> {
    any::<Option<i16>>().prop_map(Newtype)
}

fn any_variant() -> impl Strategy<Value = Variant> {
    prop_oneof![
        Just(Variant::Bare),
        Just(Variant::Empty {}),
        any::<String>().prop_map(Variant::One),
        (any::<u8>(), any_newtype()).prop_map(|(a, b)| Variant::Pair(a, b)),
        (any::<Option<u8>>(), vec(any::<u8>(), 0..3)).prop_map(|(a, b)| Variant::Named { a, b }),
    ]
}

fn any_tagged() -> impl Strategy<Value = Tagged> {
    prop_oneof![Just(Tagged::Ping), any_side().prop_map(|side| Tagged::Move { side })]
}

prop_compose! {
    fn any_everything()(
        unsigned in any::<(u8, u16, u32, u64, u128)>(),
        signed in any::<(i8, i16, i32, i64, i128)>(),
        (yes, letter) in any::<(bool, char)>(),
        text in "[\u{0}-\u{ff}א-ת🎲\u{2028}]{0,12}",
        perhaps in option::of(any::<String>()),
        list in vec(any_variant(), 0..4),
        by_text in btree_map(any::<String>(), any::<u8>(), 0..3),
        by_number in btree_map(any::<i32>(), Just(Unit), 0..3),
        by_yes in btree_map(any::<bool>(), Just(()), 0..2),
        by_variant in btree_map(any_side(), any::<char>(), 0..3),
        by_letter in btree_map(any::<char>(), any_newtype(), 0..3),
        tagged in vec(any_tagged(), 0..3),
        quoted in vec(vec(any::<u8>(), 0..3), 0..3),
    ) -> Everything {
        Everything {
            unsigned, signed, yes, letter, text, perhaps, nothing: None, list, by_text, by_number, by_yes, by_variant,
            by_letter, tagged, quoted,
        }
    }
}

fn written<T: Serialize + ?Sized>(value: &T) -> String {
    let mut buf = vec![0; 1 << 16];
    let mut slice = Slice::new(&mut buf);
    json::write(value, &mut slice).unwrap();
    assert_eq!(slice.len(), json::count(value));
    String::from_utf8(slice.written().to_vec()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_value_is_written_as_serde_json_writes_it(value in any_everything()) {
        prop_assert_eq!(written(&value), serde_json::to_string(&value).unwrap());
    }

    #[test]
    fn a_text_sent_in_windows_of_any_size_is_the_same_text(value in any_everything(), size in 1..200_usize) {
        prop_assert_eq!(reassembled(&value, size), serde_json::to_vec(&value).unwrap());
    }

    #[test]
    fn a_slice_one_byte_too_short_is_full(value in any_everything()) {
        let mut buf = vec![0; json::count(&value)];
        prop_assert_eq!(json::write(&value, &mut Slice::new(&mut buf)), Ok(()));
        buf.pop();
        prop_assert_eq!(json::write(&value, &mut Slice::new(&mut buf)), Err(Full));
    }

    #[test]
    fn a_fraction_of_ordinary_size_is_written_as_shortly_as_serde_json_writes_it(value in -1e12..1e12_f64, scale in 0..12) {
        let value = value / 10_f64.powi(scale);
        prop_assume!(value.abs() >= 1e-4);
        let (ours, theirs) = (written(&value), serde_json::to_string(&value).unwrap());
        // Where two texts of the same length mean the same number, such as 664039566850.4062 and …63, either will do.
        prop_assert_eq!(ours.parse(), Ok(value));
        prop_assert_eq!(theirs.parse(), Ok(value));
        prop_assert_eq!(ours.len(), theirs.len(), "{} and {}", ours, theirs);
    }

    #[test]
    fn any_fraction_is_read_back_as_the_same_number(wide in any::<f64>(), narrow in any::<f32>()) {
        prop_assert!(json::parse(written(&wide).as_bytes()).is_ok());
        prop_assert_eq!(written(&wide).parse(), Ok(wide));
        prop_assert!(json::parse(written(&narrow).as_bytes()).is_ok());
        prop_assert_eq!(written(&narrow).parse(), Ok(narrow));
    }
}

#[test]
fn what_is_no_number_is_null() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(written(&value), "null");
        assert_eq!(written(&(value as f32)), "null");
    }
}

#[test]
fn numbers_at_their_limits_are_whole() {
    let limits = (i64::MIN, i64::MAX, u64::MAX, i128::MIN, u128::MAX, -0.0);
    assert_eq!(written(&limits), serde_json::to_string(&limits).unwrap());
}

#[test]
fn bytes_are_an_array_of_numbers() {
    struct Bytes(&'static [u8]);
    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(self.0)
        }
    }
    assert_eq!(written(&Bytes(&[0, 9, 255])), "[0,9,255]");
}
