//! What a name may be, and when two of them are the same to people.

/// Whether a name can be shown: it has something to see, and nothing that moves what stands around it.
pub(crate) fn is_fit(name: &str) -> bool {
    !name.chars().any(|c| c.is_control() || is_direction(c)) && seen(name).next().is_some()
}

/// Whether people would take one name for the other: case, space and invisible characters make no difference.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    seen(one).eq(seen(other))
}

/// What is left of a name where case, space and what is not seen make no difference.
fn seen(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|&c| !c.is_whitespace() && !is_invisible(c)).flat_map(char::to_uppercase)
}

/// Characters that turn the direction of what follows, or break the line.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

/// Characters without a shape of their own: Unicode's Default_Ignorable_Code_Point, and the empty braille cell. Some are part
/// of writing and of emoji, so a name may have them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_by_case_space_or_what_is_not_seen_are_the_same() {
        for (one, other) in [
            ("Ada", "ADA"),
            ("Ada Lovelace", "ada  lovelace "),
            ("Ada Lovelace", "Ada\u{a0}Lovelace"),
            ("Ada", "A\u{200b}da"),
            ("Ada", "\u{feff}Ada\u{2060}"),
            ("Ada", "Ad\u{ad}a\u{e0041}"),
            ("Ada", "Ada\u{3164}"),
            ("ΣΟΦΟΣ", "σοφος"),
            ("Σοφος", "Σοφοσ"),
            ("Жанна", "ЖАННА"),
            ("Straße", "STRASSE"),
        ] {
            assert!(is_same(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [("Ada", "Adam"), ("Player 1", "Player 2"), ("שחקן", "שחקנית"), ("e", "é"), ("🎲", "🎯")]
        {
            assert!(!is_same(one, other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn what_turns_or_breaks_a_line_or_shows_nothing_is_no_name() {
        for bad in [
            "A\nB",
            "A\0",
            "\u{7f}x",
            "\u{85}x",
            "\u{202e}adA",
            "A\u{2066}b",
            "\u{200f}A",
            "\u{2028}A",
            " ",
            "\u{200b}",
        ] {
            assert!(!is_fit(bad), "{bad:?}");
        }
        for good in ["Ada", "שחקן 🎲 \"\\", "👩\u{200d}💻", "❤\u{fe0f}", "می\u{200c}روم", "=1+1"] {
            assert!(is_fit(good), "{good:?}");
        }
    }
}
