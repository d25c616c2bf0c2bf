//! What must hold for any bytes at all. The property tests and the fuzzers (`fuzz/`) share these checks.

// Each user is a program of its own and needs only some of them.
#![allow(dead_code)]

use protocol_core::json::{self, ErrorKind, Kind, Value, Window};
use serde::de::IgnoredAny;

/// We and serde_json accept the same texts and see the same values in them.
pub fn agrees_with_serde_json(text: &[u8]) {
    match (json::parse(text), serde_json::from_slice::<serde_json::Value>(text)) {
        (Ok(ours), Ok(theirs)) => same(ours, &theirs),
        (Ok(ours), Err(error)) => {
            // JSON sets no limit to the size of a number; serde_json stops where f64 does.
            assert!(error.to_string().starts_with("number out of range"), "only we accept {}: {error}", ours.raw());
            assert!(serde_json::from_slice::<IgnoredAny>(text).is_ok(), "only we accept {}", ours.raw());
        }
        (Err(error), Ok(theirs)) => assert!(
            matches!(error.kind, ErrorKind::TooDeep | ErrorKind::TooManyValues),
            "only we refuse {theirs}: {error}"
        ),
        (Err(error), Err(_)) => assert!(error.at <= text.len()),
    }
}

fn same(ours: Value<'_>, theirs: &serde_json::Value) {
    match theirs {
        serde_json::Value::Null => assert!(ours.is_null()),
        serde_json::Value::Bool(yes) => assert_eq!(ours.as_bool(), Some(*yes)),
        serde_json::Value::Number(number) => {
            assert_eq!(ours.kind(), Kind::Number);
            // Minus nought is a float to them and an integer to us.
            if ours.raw() != "-0" {
                assert_eq!((ours.as_i64(), ours.as_u64()), (number.as_i64(), number.as_u64()));
            }
        }
        serde_json::Value::String(text) => {
            let ours = ours.as_str().expect("a string");
            assert!(ours.is(text));
            assert!(ours.chars().eq(text.chars()));
        }
        serde_json::Value::Array(items) => {
            assert_eq!(ours.kind(), Kind::Array);
            assert_eq!(ours.items().count(), items.len());
            ours.items().zip(items).for_each(|(ours, theirs)| same(ours, theirs));
        }
        serde_json::Value::Object(members) => {
            assert_eq!(ours.kind(), Kind::Object);
            assert!(ours.entries().all(|(name, _)| members.contains_key(&name.to_string())));
            for (name, theirs) in members {
                same(ours.get(name).expect("a member"), theirs);
            }
        }
    }
}

/// Every accessor of every value in an accepted text returns, and what it returns fits the rest.
pub fn walks(text: &[u8]) {
    let Ok(root) = json::parse(text) else { return };
    finds(text, root);
    let mut todo = vec![root];
    while let Some(value) = todo.pop() {
        // Each part is a text of its own, and the same one.
        let again = json::parse(value.raw().as_bytes()).expect("a part of a good text is good");
        assert_eq!(again.raw(), value.raw());
        assert_eq!(value.kind() == Kind::Bool, value.as_bool().is_some());
        assert_eq!(value.kind() == Kind::String, value.as_str().is_some());
        if value.as_i64().is_some() || value.as_u64().is_some() {
            assert_eq!(value.kind(), Kind::Number);
        }
        if let Some(text) = value.as_str() {
            string(text);
        }
        assert!(value.kind() == Kind::Object || value.entries().next().is_none());
        assert!(value.kind() == Kind::Array || value.items().next().is_none());
        for (name, member) in value.entries() {
            string(name);
            todo.push(member);
        }
        todo.extend(value.items());
    }
}

/// What is found while a text is checked is what a walk finds afterwards, in the outermost object and one level down.
fn finds(text: &[u8], root: Value<'_>) {
    fn last<'a>(object: Value<'a>, name: &str) -> Option<Value<'a>> {
        object.entries().filter(|(its, _)| its.is(name)).last().map(|(_, value)| value)
    }
    let shown = |value: Option<Value<'_>>| value.map(|value| format!("{:?} {:?}", value.raw(), value.as_str()));
    for (outer, member) in root.entries() {
        let outer = outer.to_string();
        for inner in member.entries().map(|(name, _)| name.to_string()).chain([outer.clone()]) {
            let (again, [found], [within]) =
                json::parse_members(text, [&outer], &outer, [&inner]).expect("it was good before");
            assert_eq!(again.raw(), root.raw());
            assert_eq!(shown(found), shown(last(root, &outer)));
            assert_eq!(shown(found), shown(root.get(&outer)));
            assert_eq!(shown(within), shown(found.and_then(|found| last(found, &inner))));
        }
    }
}

fn string(text: json::Str<'_>) {
    let meant: String = text.chars().collect();
    assert_eq!(text.to_string(), meant);
    assert!(text.is(&meant) && text.is_ignore_ascii_case(&meant.to_ascii_uppercase()));
    assert!(!text.is(&format!("{meant}x")));
    assert_eq!(text.is_empty(), meant.is_empty());
    assert!(text.plain().is_none_or(|plain| plain == meant));
    let cut = text.truncated::<5>();
    assert!(meant.starts_with(cut.as_str()) && (cut.len() >= 2 || cut.len() == meant.len()));
    assert_eq!(text.text::<5>().ok(), (meant.len() <= 5).then_some(cut));
    let mut buf = vec![0; meant.len()];
    assert_eq!(text.unescape_into(&mut buf), Some(meant.as_str()));
    if let Some(short) = buf.len().checked_sub(1) {
        assert_eq!(text.unescape_into(&mut buf[..short]), None);
    }
    // Written by us, it means the same to us and to them.
    let written = reassembled(&meant, 7);
    assert_eq!(written, serde_json::to_string(&meant).expect("a string").into_bytes());
    let ours = json::parse(&written).expect("our own text").as_str().expect("a string");
    assert!(ours.is(&meant));
}

/// A value written through windows of `size` bytes, as a link would send it.
pub fn reassembled<T: serde::Serialize + ?Sized>(value: &T, size: usize) -> Vec<u8> {
    let mut text = Vec::new();
    loop {
        let mut buf = vec![0; size];
        let mut window = Window::new(text.len(), &mut buf);
        let done = json::write(value, &mut window);
        text.extend_from_slice(window.written());
        if done.is_ok() {
            assert_eq!(text.len(), json::count(value));
            return text;
        }
        assert_eq!(window.written().len(), size, "a window that wants more room is full");
    }
}
