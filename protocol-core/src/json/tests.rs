//! What each rule of the module means, by example. The oracles (serde_json, random texts) are in `tests/`.

extern crate std;

use std::string::String;
use std::vec::Vec;
use std::{format, vec};

use serde::Serialize;

use super::*;

fn value(text: &str) -> Value<'_> {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn written<T: Serialize + ?Sized>(value: &T) -> String {
    let mut sink = heapless::String::<4096>::new();
    write(value, &mut sink).unwrap();
    assert_eq!(count(value), sink.len());
    sink.as_str().into()
}

#[test]
fn members_are_found_by_name_in_one_walk() {
    let message = value(r#" { "id" : 7 , "method":"move", "params": {"id": [1, {"id": 2}]}, "last": null } "#);
    let [method, id, missing, last] = message.members(["method", "id", "missing", "last"]);
    assert!(method.unwrap().as_str().unwrap().is("move"));
    assert_eq!(id.unwrap().as_u64(), Some(7));
    assert!(missing.is_none());
    assert!(last.unwrap().is_null());
    assert_eq!(message.get("params").unwrap().raw(), r#"{"id": [1, {"id": 2}]}"#);
}

#[test]
fn brackets_quotes_and_commas_inside_strings_are_text() {
    let message = value(r#"{"a":"}],\"{[:","b":["]",{"x}":"\\"},3],"c":1}"#);
    assert!(message.get("a").unwrap().as_str().unwrap().is("}],\"{[:"));
    assert_eq!(message.get("c").unwrap().as_i64(), Some(1));
    let items: Vec<_> = message.get("b").unwrap().items().map(Value::raw).collect();
    assert_eq!(items, [r#""]""#, r#"{"x}":"\\"}"#, "3"]);
}

#[test]
fn a_name_written_with_escapes_is_the_same_name() {
    let message = value(r#"{"pro\u0074ocol":"league.v2"}"#);
    assert!(message.get("protocol").unwrap().as_str().unwrap().is("league.v2"));
    assert!(message.get(r"pro\u0074ocol").is_none());
}

#[test]
fn of_two_members_with_one_name_the_last_counts() {
    let message = value(r#"{"a":1,"\u0061":2}"#);
    assert_eq!(message.get("a").unwrap().as_i64(), Some(2));
    assert_eq!(message.entries().count(), 2);
}

#[test]
fn every_kind_is_told_apart_and_only_containers_have_contents() {
    let list = value(r#"[null, true, -1.5e3, "x", [1], {"a":1}]"#);
    let kinds: Vec<_> = list.items().map(Value::kind).collect();
    assert_eq!(kinds, [Kind::Null, Kind::Bool, Kind::Number, Kind::String, Kind::Array, Kind::Object]);
    let contents: Vec<_> = list.items().map(|item| (item.items().count(), item.entries().count())).collect();
    assert_eq!(contents, [(0, 0), (0, 0), (0, 0), (0, 0), (1, 0), (0, 1)]);
    assert!(list.get("a").is_none());
}

#[test]
fn only_whole_numbers_that_fit_are_integers() {
    assert_eq!(value("-9223372036854775808").as_i64(), Some(i64::MIN));
    assert_eq!(value("-9223372036854775809").as_i64(), None);
    assert_eq!(value("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(value("18446744073709551616").as_u64(), None);
    assert_eq!(value("-1").as_u64(), None);
    for no_integer in ["1.0", "1e2", "\"1\"", "null", "[1]"] {
        assert_eq!((value(no_integer).as_i64(), value(no_integer).as_u64()), (None, None), "{no_integer}");
    }
    for (text, whole) in
        [("7", Some(7)), ("7.0", Some(7)), ("70.000", Some(70)), ("7.01", None), ("-7.0", None), ("7e0", None)]
    {
        assert_eq!(value(text).as_whole(), whole, "{text}");
    }
    assert_eq!(value("\"7.0\"").as_whole(), None);
    assert_eq!(value("false").as_bool(), Some(false));
    assert_eq!(value("\"true\"").as_bool(), None);
}

#[test]
fn escapes_mean_their_characters() {
    let text = value(r#""\"\\\/\b\f\n\r\t\u05d0\ud83c\uDFB2\u0000é""#).as_str().unwrap();
    let meant = "\"\\/\u{8}\u{c}\n\r\tא🎲\0é";
    assert!(text.is(meant));
    assert!(text.plain().is_none());
    assert_eq!(text.text::<32>().unwrap(), meant);
    assert_eq!(text.unescape_into(&mut [0; 32]), Some(meant));
    assert_eq!(format!("{text}"), meant);
}

#[test]
fn a_string_too_long_is_refused_or_cut_between_characters() {
    let text = value(r#""שלום""#).as_str().unwrap();
    assert_eq!(text.plain(), Some("שלום"));
    assert_eq!(text.text::<7>(), Err(TooLong));
    assert_eq!(text.text::<8>().unwrap(), "שלום");
    assert_eq!(text.truncated::<7>(), "שלו");
    assert_eq!(text.unescape_into(&mut [0; 7]), None);
}

#[test]
fn strings_compare_by_meaning() {
    let plain = value(r#""Even""#).as_str().unwrap();
    assert!(plain.is("Even") && !plain.is("even") && !plain.is("Eve") && !plain.is("Evens"));
    assert!(plain.is_ignore_ascii_case("eVEN") && !plain.is_ignore_ascii_case("eve"));
    let escaped = value(r#""\u0045ven""#).as_str().unwrap();
    assert!(escaped.is("Even") && !escaped.is("Eve") && escaped.is_ignore_ascii_case("even"));
    // Same length as written, not the same meaning.
    assert!(!value(r#""\n""#).as_str().unwrap().is(r"\n"));
    assert!(value(r#""""#).as_str().unwrap().is_empty());
}

#[test]
fn an_error_names_the_rule_and_the_byte() {
    let error = parse(b"{\"name\":\"a\nb\"}").unwrap_err();
    assert_eq!(error, Error { at: 10, kind: ErrorKind::ControlCharacter });
    assert_eq!(format!("{error}"), "control character in a string, at byte 10");
    assert_eq!(format!("{}", ErrorKind::TooDeep), "nested deeper than 16");
}

#[test]
fn each_rule_is_named_where_it_is_broken() {
    use ErrorKind::*;
    let cases: [(&[u8], usize, ErrorKind); 48] = [
        (b"\xef\xbb\xbf{}", 0, ByteOrderMark),
        (b"[\"\xff\"]", 2, NotUtf8),
        (b"\"\xed\xa0\x80\"", 1, NotUtf8),
        (b"\"\xc0\xaf\"", 1, NotUtf8),
        (b"", 0, EndsEarly),
        (b" \n", 2, EndsEarly),
        (b"[1,", 3, EndsEarly),
        (b"{\"a\"", 4, EndsEarly),
        (b"\"a", 2, EndsEarly),
        (b"\"a\\", 3, EndsEarly),
        (b"\"\\u12", 5, EndsEarly),
        (b"tru", 3, EndsEarly),
        (b"-", 1, EndsEarly),
        (b"1e", 2, EndsEarly),
        (b"[,1]", 1, NotAValue),
        (b"[1,]", 3, NotAValue),
        (b"{\"a\":}", 5, NotAValue),
        (b"True", 0, NotAValue),
        (b"nule", 3, NotAValue),
        (b"NaN", 0, NotAValue),
        (b"+1", 0, NotAValue),
        (b".5", 0, NotAValue),
        (b"'a'", 0, NotAValue),
        (b"//", 0, NotAValue),
        (b"\x0c1", 0, NotAValue),
        (b"\xc2\xa01", 0, NotAValue),
        (b"-x", 1, BadNumber),
        (b"01", 1, BadNumber),
        (b"-00", 2, BadNumber),
        (b"1.e5", 2, BadNumber),
        (b"1e+ ", 3, BadNumber),
        (b"\"\t\"", 1, ControlCharacter),
        (b"\"\x00\"", 1, ControlCharacter),
        (b"\"\\x41\"", 2, BadEscape),
        (b"\"\\u00g0\"", 5, BadEscape),
        (b"\"\\U0041\"", 2, BadEscape),
        (b"\"\\ud800\"", 1, LoneSurrogate),
        (b"\"a\\udc00\"", 2, LoneSurrogate),
        (b"\"\\ud800\\ud800\"", 1, LoneSurrogate),
        (b"\"\\ud800\\n\"", 1, LoneSurrogate),
        (b"{1:2}", 1, NoName),
        (b"{\"a\":1,}", 7, NoName),
        (b"{\"a\" 1}", 5, NoColon),
        (b"[1 2]", 3, NoComma),
        (b"[1}", 2, NoComma),
        (b"{\"a\":1]", 6, NoComma),
        (b"{} {}", 3, TrailingBytes),
        (b"1\x00", 1, TrailingBytes),
    ];
    for (text, at, kind) in cases {
        assert_eq!(parse(text).unwrap_err(), Error { at, kind }, "{}", text.escape_ascii());
    }
}

#[test]
fn sixteen_brackets_may_be_open_and_no_more() {
    let nested = |depth| [vec![b'['; depth], vec![b']'; depth]].concat();
    assert!(parse(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(parse(&nested(MAX_DEPTH + 1)).unwrap_err(), Error { at: MAX_DEPTH, kind: ErrorKind::TooDeep });
    // Depth, not the number of brackets: what is closed does not count.
    assert!(parse(format!("[{}]", vec!["[{}]"; 100].join(",")).as_bytes()).is_ok());
    // Ends at the limit, however long the attack.
    assert_eq!(parse(&[b'['; 100_000]).unwrap_err().at, MAX_DEPTH);
}

#[test]
fn the_number_of_values_is_limited() {
    let list = |length: usize| format!("[{}]", vec!["0"; length].join(","));
    assert!(parse(list(MAX_VALUES - 1).as_bytes()).is_ok());
    assert_eq!(parse(list(MAX_VALUES).as_bytes()).unwrap_err().kind, ErrorKind::TooManyValues);
}

#[test]
fn a_raw_value_keeps_its_bytes() {
    #[derive(Serialize)]
    struct Answer<'a> {
        id: Raw<'a>,
        echo: Value<'a>,
        after: &'a str,
    }
    let request = value(r#"{"id": 1.50e1 ,"x":[ 1 ,"\u0041" ]}"#);
    let [id, echo] = request.members(["id", "x"]).map(Option::unwrap);
    let answer = Answer { id: Raw(id.raw()), echo, after: "\"" };
    assert_eq!(written(&answer), r#"{"id":1.50e1,"echo":[ 1 ,"\u0041" ],"after":"\""}"#);
}

#[test]
fn iterators_and_displays_are_written_without_a_buffer() {
    let squares = Seq(|| (1..=4).map(|n| n * n));
    assert_eq!(written(&squares), "[1,4,9,16]");
    assert_eq!(written(&Seq(|| [0_u8; 0])), "[]");
    let scores = Map(|| ["P01", "P\"2"].into_iter().zip(0..));
    assert_eq!(written(&scores), r#"{"P01":0,"P\"2":1}"#);
    assert_eq!(written(&Shown(format_args!("round \"{}\"\n{}", 7, 'ש'))), r#""round \"7\"\nש""#);
}

#[test]
fn a_slice_takes_a_text_that_just_fits() {
    let mut sink = [0; 8];
    let mut slice = Slice::new(&mut sink);
    assert!(slice.is_empty());
    assert_eq!(write("123456", &mut slice), Ok(()));
    assert_eq!((slice.written(), slice.len()), (&b"\"123456\""[..], 8));
    assert_eq!(write("123456", &mut Slice::new(&mut [0; 7])), Err(Full));
}

#[test]
fn a_window_says_whether_there_is_more() {
    let mut buf = [0; 3];
    let mut window = Window::new(4, &mut buf);
    assert_eq!(write(&[1, 2, 3, 4], &mut window), Err(Full));
    assert_eq!(window.written(), b",3,");
    let mut window = Window::new(7, &mut buf);
    assert_eq!(write(&[1, 2, 3, 4], &mut window), Ok(()));
    assert_eq!(window.written(), b"4]");
    let mut window = Window::new(99, &mut buf);
    assert_eq!(write(&[1, 2, 3, 4], &mut window), Ok(()));
    assert_eq!(window.written(), b"");
}

#[test]
fn a_name_that_is_no_text_is_refused() {
    let mut sink = heapless::Vec::<u8, 64>::new();
    assert_eq!(write(&Map(|| [([1, 2], 3)]), &mut sink), Err(Full));
    assert_eq!(write(&Map(|| [((), 3)]), &mut sink), Err(Full));
    assert_eq!(write(&Map(|| [(Raw("1"), 3)]), &mut sink), Err(Full));
}

#[test]
fn an_envelope_and_its_contents_are_one_object() {
    #[derive(Clone, Copy, Serialize)]
    struct Envelope {
        protocol: &'static str,
        inner: [u8; 2],
    }
    #[derive(Clone, Copy, Serialize)]
    #[serde(tag = "message_type")]
    enum Body {
        Ping,
        Move { choice: Option<&'static str> },
    }
    #[derive(Serialize)]
    struct Nothing {}
    let envelope = Envelope { protocol: "league.v2", inner: [1, 2] };
    let body = Body::Move { choice: None };
    let joined = r#"{"protocol":"league.v2","inner":[1,2],"message_type":"Move","choice":null}"#;
    assert_eq!(written(&Joined(envelope, body)), joined);
    assert_eq!(written(&Joined(Nothing {}, Joined(envelope, Joined(None::<Body>, body)))), joined);
    assert_eq!(written(&Joined(Joined(envelope, ()), Joined(body, Nothing {}))), joined);
    assert_eq!(written(&[Joined(Body::Ping, Map(|| [("a", 1)]))]), r#"[{"message_type":"Ping","a":1}]"#);
    assert_eq!(written(&Joined(Nothing {}, ())), "{}");
}

#[test]
fn only_objects_can_be_joined() {
    let mut sink = heapless::Vec::<u8, 64>::new();
    let object = Map(|| [("a", 1)]);
    assert_eq!(write(&Joined(object, 1), &mut sink), Err(Full));
    assert_eq!(write(&Joined(object, "b"), &mut sink), Err(Full));
    assert_eq!(write(&Joined(object, Shown("b")), &mut sink), Err(Full));
    assert_eq!(write(&Joined(object, [1]), &mut sink), Err(Full));
    assert_eq!(write(&Joined(object, Raw("{}")), &mut sink), Err(Full));
}

proptest::proptest! {
    /// The accessors are only ever given good texts. Should that fail one day, they must still return.
    #[test]
    fn a_walk_over_what_is_no_json_ends(text in "[\\[\\]{}\",:\\\\u0-9a \u{5d0}]{0,40}") {
        let mut todo = vec![Value::checked(&text, true)];
        while let Some(value) = todo.pop() {
            let _ = (value.kind(), value.as_bool(), value.as_i64(), value.get("a"));
            for (name, member) in value.entries() {
                let _ = name.chars().count();
                todo.push(member);
            }
            todo.extend(value.items());
            let _ = value.as_str().map(|text| text.truncated::<8>());
        }
    }
}

#[test]
fn members_found_while_checking_are_those_walks_find() {
    let names = ["a", "b", "c"];
    for text in [
        r#"{}"#,
        r#"[{"a":1}]"#,
        r#""a""#,
        r#" { "a" : 1 , "b" : { "a" : [2, {}] } , "c" : "x\"y" } "#,
        r#"{"a":1,"\u0061":{},"b":[],"b":"\\","d":{"c":3}}"#,
        r#"{"b":{"c":{"a":0},"b":"\n","a":[{"b":1}],"\u0062":2,"d":5},"a":{"a":1}}"#,
        r#"{"b":{"a":1},"b":{"c":2},"c":{"b":3}}"#,
        r#"{"b":{"a":1},"\u0062":[{"a":1}]}"#,
        r#"{"b":{"a":1,"a":{"a":2}}}"#,
        r#"{"b":{"a":1},"c":{},"d":[]}"#,
        r#"{"b":{},"a":[],"b":{"c":1,"c":[]}}"#,
    ] {
        let (root, outer, inner) = parse_members(text.as_bytes(), names, "b", names).unwrap();
        let shown = |found: [Option<Value<'_>>; 3]| found.map(|v| v.map(|v| format!("{:?} {:?}", v.raw(), v.as_str())));
        assert_eq!(shown(outer), shown(root.members(names)), "{text}");
        let walked = root.get("b").map_or([None; 3], |b| b.members(names));
        assert_eq!(shown(inner), shown(walked), "{text}");
    }
}
