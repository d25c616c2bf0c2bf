//! Replacing a game touches only its folder: no other source of the box names one to make it work.

use std::fs;
use std::path::{Path, PathBuf};

use protocol_core::games::GameKind;

/// Where a game is named all the same, and why. Whoever adds a line here has found no way to ask the game instead.
const NAMED: &[(&str, &[&str], &str)] = &[
    ("protocol-core/src/protocols/league_v2/mod.rs", &["even_odd", "even_odd_10"], "its specification names its games"),
    (
        "protocol-core/src/protocols/league_of_agents/mod.rs",
        &["echo", "resource-rush", "skill-gomoku", "dance-battle", "blotto"],
        "its specification names its games",
    ),
    (
        "protocol-core/src/protocols/league_of_agents/outgoing.rs",
        &["dance-battle"],
        "its specification shows one board elsewhere than all others",
    ),
    (
        "protocol-core/src/protocols/moltgame/mod.rs",
        &[
            "even_odd",
            "even_odd_10",
            "echo",
            "blotto",
            "skill-gomoku",
            "resource-rush",
            "dance-battle",
            "landlord",
            "rockpaper",
            "blackjack",
            "texasholdem",
            "chess",
            "go",
            "regular_debate",
            "spicy_debate",
            "trade_deal",
        ],
        "its ids of games never change, whatever comes",
    ),
    (
        "protocol-core/src/protocols/agon/mod.rs",
        &["chess", "go", "regular_debate", "spicy_debate", "trade_deal"],
        "its rooms are those of the specification",
    ),
    (
        "protocol-core/src/protocols/agon/trade.rs",
        &["trade_deal"],
        "its specification has actions and events for the trades of this game alone",
    ),
    ("protocol-core/src/games/mod.rs", &["trade_deal"], "what a trade came to, for those events"),
    ("firmware/manual/src/lib.rs", &["chess"], "how long a turn lasts in a room of AGON"),
    ("firmware/desktop/src/conform.rs", &["even_odd"], "its specification has rules for this game alone"),
    ("firmware/desktop/src/cli.rs", &["skill-gomoku"], "an example of a command"),
    ("firmware/appliance/web/page.js", &["go"], "a button that is called so"),
    ("firmware/appliance/web/index.html", &["go"], "a button that is called so"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// What the box is made of: code, and what browsers load. Not what only tests see, and not documents.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
        if path.is_dir() {
            if !["target", "tests", "toy", "toys"].contains(&name) {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|kind| ["rs", "js", "css", "html"].iter().any(|one| kind == *one))
            && !name.ends_with("tests.rs")
        {
            found.push(path);
        }
    }
}

/// The lines that do something: no comments, and no tests.
fn working(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split_once("\nmod tests {").map_or(text, |(before, _)| before);
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// Whether a line names a game: on the wire, or in the code.
fn names(line: &str, kind: GameKind) -> bool {
    // Its line in the list of games.
    if line.trim_start().starts_with(&format!("{kind:?} in ")) {
        return false;
    }
    let name = kind.rules().name;
    let is_word = name.chars().all(char::is_alphanumeric);
    // A name that is a word as well means the game only between quotes.
    let ends = |c: Option<char>| match is_word {
        true => c.is_some_and(|c| "\"'`".contains(c)),
        false => !c.is_some_and(|c| c.is_alphanumeric() || "_-".contains(c)),
    };
    let is_said = line
        .match_indices(name)
        .any(|(at, _)| ends(line[..at].chars().next_back()) && ends(line[at + name.len()..].chars().next()));
    is_said
        || [format!("GameKind::{kind:?}"), format!("AnyGame::{kind:?}")]
            .iter()
            .any(|path| line.split(path.as_str()).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())))
}

/// The folder of a game is where its drawing tells of it.
fn folder(kind: GameKind) -> PathBuf {
    let told = format!("\ngame(\"{}\", {{", kind.rules().name);
    let folders = fs::read_dir(root().join("protocol-core/src/games")).expect("the games");
    let mut folders = folders.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir());
    let is_told = |path: &PathBuf| fs::read_to_string(path.join("draw.js")).is_ok_and(|text| text.contains(&told));
    folders.find(is_told).unwrap_or_else(|| panic!("no folder has the drawing of {}", kind.rules().name))
}

#[test]
fn a_game_is_named_nowhere_but_in_its_folder_and_where_it_must_be() {
    let mut files = Vec::new();
    sources(&root().join("protocol-core/src"), &mut files);
    sources(&root().join("firmware"), &mut files);
    assert!(files.iter().any(|file| file.ends_with("web/page.js")) && files.len() > 100, "{files:?}");
    let mut found = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("a source");
        let path = file.strip_prefix(root()).expect("beneath it").to_str().expect("UTF-8").replace('\\', "/");
        for &kind in GameKind::ALL {
            if !file.starts_with(folder(kind)) && working(&text).any(|line| names(line, kind)) {
                found.push((path.clone(), kind.rules().name));
            }
        }
    }
    let allowed: Vec<(String, &str)> =
        NAMED.iter().flat_map(|(path, names, _)| names.iter().map(move |name| (String::from(*path), *name))).collect();
    let stray: Vec<_> = found.iter().filter(|one| !allowed.contains(one)).collect();
    assert!(stray.is_empty(), "these sources name a game: {stray:#?}");
    let idle: Vec<_> = allowed.iter().filter(|one| !found.contains(one)).collect();
    assert!(idle.is_empty(), "these do not any more, and need no exception: {idle:#?}");
}

#[test]
fn a_name_is_found_on_the_wire_and_in_the_code_and_a_word_is_not_taken_for_one() {
    let echo = GameKind::named("echo").expect("a game");
    let odd = GameKind::named("even_odd").expect("a game");
    assert!(names(r#"if game === "echo" {"#, echo) && names("GameKind::Echo => 1", echo));
    assert!(!names("an echo of \"echoes\"", echo) && !names("GameKind::Echoes", echo));
    assert!(names("/^(even_odd|other)$/", odd) && !names("even_odd_10", odd));
}
