//! JSON as people read it: members in the order in which they were sent, as many in a line as fit, long lists cut short.
//! The texts are the box's own or stand beside its games, so whatever is wrong with one stops the build.

/// The most columns of a line.
const WIDTH: usize = 118;

/// A list of more items than this is cut.
const LONGEST: usize = 6;

/// What stands for the rest of a list. It is JSON too.
const CUT: &str = "\"…\"";

/// A value.
#[derive(Clone, Debug)]
pub enum Json {
    /// A string, a number or a word, as it is written.
    Leaf(String),
    Array(Vec<Json>),
    /// Each name as it is written.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text. It may be a state of 27 KB, which is more than the box reads of anybody.
    pub fn read(text: &str) -> Json {
        let mut rest = text;
        let value = take(&mut rest);
        assert!(rest.trim().is_empty(), "{rest} is left of {text}");
        value
    }

    /// A member of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(member, _)| member.trim_matches('"') == name).map(|(_, value)| value)
    }

    /// The text of a string member.
    pub fn text(&self, name: &str) -> String {
        match self.get(name) {
            Some(Json::Leaf(text)) => text.trim_matches('"').into(),
            other => panic!("{name} is {other:?}"),
        }
    }

    /// As it is printed, in as many lines as it takes.
    pub fn pretty(&self) -> String {
        self.block(0, 0)
    }

    /// As it is printed on one line, however long that is.
    pub fn flat(&self) -> String {
        let (open, close, parts) = match self {
            Json::Leaf(text) => return text.clone(),
            Json::Array(_) => ('[', ']', self.parts()),
            Json::Object(_) => ('{', '}', self.parts()),
        };
        let parts = parts.into_iter().map(|(name, part)| name + &part.map_or(CUT.into(), Json::flat));
        format!("{open}{}{close}", parts.collect::<Vec<_>>().join(", "))
    }

    /// With its lines indented; `taken` columns of the first are not free.
    fn block(&self, indent: usize, taken: usize) -> String {
        let flat = self.flat();
        if taken + width(&flat) <= WIDTH || matches!(self, Json::Leaf(_)) {
            return flat;
        }
        let inner = indent + 2;
        let parts = self.parts();
        let mut text = String::from(if matches!(self, Json::Array(_)) { '[' } else { '{' });
        let mut column = WIDTH;
        for (at, (name, part)) in parts.iter().enumerate() {
            let comma = if at + 1 < parts.len() { "," } else { "" };
            let flat = format!("{name}{}{comma}", part.map_or(CUT.into(), Json::flat));
            if column + 1 + width(&flat) <= WIDTH {
                text += &format!(" {flat}");
                column += 1 + width(&flat);
                continue;
            }
            let rest = part.map_or(CUT.into(), |part| part.block(inner, inner + width(name) + comma.len()));
            text += &format!("\n{:inner$}{name}{rest}{comma}", "");
            // What took several lines stands alone.
            column = if rest.contains('\n') { WIDTH } else { inner + width(&flat) };
        }
        text + &format!("\n{:indent$}{}", "", if matches!(self, Json::Array(_)) { ']' } else { '}' })
    }

    /// What is printed of an object or a list, with its name if it has one; nothing where the rest is cut.
    fn parts(&self) -> Vec<(String, Option<&Json>)> {
        match self {
            Json::Leaf(_) => Vec::new(),
            Json::Object(members) => members.iter().map(|(name, part)| (format!("{name}: "), Some(part))).collect(),
            Json::Array(items) => {
                let shown = match items.first() {
                    Some(Json::Array(_)) if items.len() > LONGEST => 1,
                    Some(_) if items.len() > LONGEST => 2,
                    _ => items.len(),
                };
                let cut = (shown < items.len()).then_some((String::new(), None));
                items.iter().take(shown).map(|item| (String::new(), Some(item))).chain(cut).collect()
            }
        }
    }
}

/// Takes a value off the front of a text.
fn take(rest: &mut &str) -> Json {
    *rest = rest.trim_start();
    let close = match rest.chars().next() {
        Some('{') => '}',
        Some('[') => ']',
        _ => return Json::Leaf(take_leaf(rest)),
    };
    *rest = &rest[1..];
    let (mut items, mut members) = (Vec::new(), Vec::new());
    while !take_sign(rest, close) {
        if close == '}' {
            let name = take_leaf(rest);
            assert!(take_sign(rest, ':'), "a colon is missing before {rest}");
            members.push((name, take(rest)));
        } else {
            items.push(take(rest));
        }
        take_sign(rest, ',');
    }
    if close == '}' { Json::Object(members) } else { Json::Array(items) }
}

fn take_sign(rest: &mut &str, sign: char) -> bool {
    *rest = rest.trim_start();
    assert!(!rest.is_empty(), "the text ends before a {sign}");
    rest.strip_prefix(sign).map(|left| *rest = left).is_some()
}

fn take_leaf(rest: &mut &str) -> String {
    let mut escaped = false;
    let end = match rest.strip_prefix('"') {
        Some(inner) => {
            let ends = |c: char| {
                let is_escaped = escaped;
                escaped = c == '\\' && !is_escaped;
                c == '"' && !is_escaped
            };
            inner.find(ends).expect("a string has an end") + 2
        }
        None => rest.find([',', ':', ']', '}', ' ', '\n']).unwrap_or(rest.len()),
    };
    let (leaf, left) = rest.split_at(end);
    assert!(!leaf.is_empty(), "a value is missing before {rest}");
    *rest = left;
    leaf.into()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretty(text: &str) -> String {
        Json::read(text).pretty()
    }

    #[test]
    fn what_fits_stays_on_a_line_and_keeps_its_order() {
        let text = r#"{"b":1,"a":[1,"x, \"y\\",null],"c":{}}"#;
        assert_eq!(pretty(text), r#"{"b": 1, "a": [1, "x, \"y\\", null], "c": {}}"#);
        assert_eq!(pretty(&pretty(text)), pretty(text));
    }

    #[test]
    fn a_long_list_is_cut_and_is_still_json() {
        assert_eq!(pretty("[1,2,3,4,5,6]"), "[1, 2, 3, 4, 5, 6]");
        assert_eq!(pretty("[1,2,3,4,5,6,7]"), "[1, 2, \"…\"]");
        assert_eq!(pretty("[[1],[2],[3],[4],[5],[6],[7]]"), "[[1], \"…\"]");
    }

    #[test]
    fn what_does_not_fit_is_broken_and_no_line_is_too_long() {
        let long = "x".repeat(70);
        let text = format!(r#"{{"a":"{long}","b":1,"c":{{"d":"{long}","e":"{long}"}},"f":2}}"#);
        let broken = [
            "{",
            &format!("  \"a\": \"{long}\", \"b\": 1,"),
            "  \"c\": {",
            &format!("    \"d\": \"{long}\","),
            &format!("    \"e\": \"{long}\""),
            "  },",
            "  \"f\": 2",
            "}",
        ];
        assert_eq!(pretty(&text), broken.join("\n"));
        assert!(pretty(&text).lines().all(|line| width(line) <= WIDTH));
    }
}
