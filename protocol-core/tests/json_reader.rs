//! Reading, against serde_json: on good texts, on texts a small accident away from good, and on noise.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

mod json_oracle;
use json_oracle::{agrees_with_serde_json, walks};

/// Strings as people send them: ASCII, Hebrew, emoji, quotes, control characters.
fn any_string() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{0,8}",
        "[א-ת ]{0,8}",
        "[🎲♟🏆]{0,3}",
        "\\PC{0,8}",
        any::<String>(),
        "[\"\\\\/\u{0}-\u{20}]{0,6}"
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_string().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((any_string(), inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A valid text in one of the ways it can be written.
fn any_text() -> impl Strategy<Value = String> {
    (any_value(), 0..4, vec(any::<bool>(), 1..64)).prop_map(|(value, style, choices)| match style {
        0 => value.to_string(),
        1 => serde_json::to_string_pretty(&value).unwrap(),
        _ => {
            let mut text = String::new();
            spelled_out(&value, &mut text, &mut choices.into_iter().cycle());
            text
        }
    })
}

/// Writes `value` with space and escapes wherever a choice falls for them, and some members twice.
fn spelled_out(value: &Value, out: &mut String, choices: &mut impl Iterator<Item = bool>) {
    let space = |out: &mut String, choices: &mut dyn Iterator<Item = bool>| {
        if choices.next() == Some(true) {
            out.push_str(" \t\r\n");
        }
    };
    let string = |text: &str, out: &mut String, choices: &mut dyn Iterator<Item = bool>| {
        out.push('"');
        for c in text.chars() {
            if c < ' ' || c == '"' || c == '\\' || choices.next() == Some(true) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    match choices.next() {
                        Some(true) => out.push_str(&format!("\\u{unit:04X}")),
                        _ => out.push_str(&format!("\\u{unit:04x}")),
                    }
                }
            } else {
                out.push(c);
            }
        }
        out.push('"');
    };
    space(out, choices);
    match value {
        Value::String(text) => string(text, out, choices),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                spelled_out(item, out, choices);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                if choices.next() == Some(true) {
                    string(name, out, choices);
                    out.push_str(":[\"overruled\"],");
                }
                space(out, choices);
                string(name, out, choices);
                space(out, choices);
                out.push(':');
                spelled_out(member, out, choices);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
    space(out, choices);
}

/// Fragments that texts, and accidents in texts, are made of.
fn any_fragment() -> impl Strategy<Value = &'static [u8]> {
    let text: [&str; 44] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"",
        "\"a\"",
        "\"a\":",
        "\\",
        "\\\"",
        "\\u",
        "\\ud83c",
        "\\udfb2",
        "\\u05d0",
        "d8",
        "00",
        "\\n",
        "\\x",
        "\\/",
        "0",
        "1",
        "-",
        "+",
        ".",
        "e",
        "E",
        "5e3",
        "18446744073709551616",
        "1e999",
        "true",
        "false",
        "null",
        "nul",
        "NaN",
        " ",
        "\n",
        "\t",
        "\u{1}",
        "\u{7f}",
        "א",
        "🎲",
        "\u{feff}",
    ];
    let bytes: [&[u8]; 5] = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f", b"\x00"];
    select(text.map(str::as_bytes).into_iter().chain(bytes).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_good_text_is_read_as_serde_json_reads_it(text in any_text()) {
        prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
        agrees_with_serde_json(text.as_bytes());
        walks(text.as_bytes());
    }

    #[test]
    fn a_text_with_an_accident_is_judged_as_serde_json_judges_it(
        text in any_text(),
        accidents in vec((any::<prop::sample::Index>(), 0..3_usize, any_fragment()), 1..4),
    ) {
        let mut text = text.into_bytes();
        for (at, cut, insert) in accidents {
            let from = at.index(text.len() + 1);
            let to = (from + cut).min(text.len());
            text.splice(from..to, insert.iter().copied().filter(|_| cut != 1));
        }
        agrees_with_serde_json(&text);
        walks(&text);
    }

    #[test]
    fn a_text_cut_short_is_judged_as_serde_json_judges_it(text in any_text(), at in any::<prop::sample::Index>()) {
        let text = text.as_bytes();
        agrees_with_serde_json(&text[..at.index(text.len() + 1)]);
    }

    #[test]
    fn fragments_in_any_order_are_judged_as_serde_json_judges_them(fragments in vec(any_fragment(), 0..12)) {
        let text = fragments.concat();
        agrees_with_serde_json(&text);
        walks(&text);
        let quoted = [b"[\"", &text[..], b"\"]"].concat();
        agrees_with_serde_json(&quoted);
        walks(&quoted);
    }

    #[test]
    fn noise_is_judged_as_serde_json_judges_it(noise in vec(any::<u8>(), 0..64)) {
        agrees_with_serde_json(&noise);
    }
}

#[test]
fn every_code_unit_is_judged_as_serde_json_judges_it() {
    for unit in 0..=u16::MAX {
        for text in
            [format!("\"\\u{unit:04x}\""), format!("\"\\ud83c\\u{unit:04X}\""), format!("\"\\u{unit:04x}\\udfb2\"")]
        {
            agrees_with_serde_json(text.as_bytes());
        }
    }
}

#[test]
fn every_byte_is_judged_as_serde_json_judges_it_wherever_it_stands() {
    for before in 0..20 {
        for byte in 0..=u8::MAX {
            let mut text = *b"[\"0123456789abcdef\"]";
            text[before] = byte;
            agrees_with_serde_json(&text);
            walks(&text);
        }
    }
}
