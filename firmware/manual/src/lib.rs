//! What agents read, made from the code that referees them, so that it cannot say anything else: the page of every game, and
//! what the other documents say of errors, times and games. And what draws the games for people, put together. Messages are those the real venue said in a game it played while
//! this was built; why a move is refused are the game's own words; numbers are the constants.
//!
//! ```text
//! example.rs    plays a game over each protocol, and listens
//! fragment.rs   what stands beside each game: its rules in words, an example, two players
//! json.rs       messages as people read them
//! page.md       the page of a game
//! player.py     a player for league.v2, but for its strategy
//! player.sh     a player for League of Agents, but for its strategy
//! ```

mod example;
mod fragment;
mod json;

use protocol_core::games::{GameKind, Order, Question};
use protocol_core::protocols::league_of_agents::incoming::RefusedName;
use protocol_core::protocols::league_of_agents::{self, Trouble};
use protocol_core::protocols::league_v2::Code;
use protocol_core::protocols::{agon, moltgame};
use protocol_core::referee::MAX_RETRIES;
use protocol_core::venue::Timing;

use example::{Example, Said};
use fragment::Fragment;
use json::Json;

/// Where the page of a game is.
pub fn path(kind: GameKind) -> String {
    format!("/skill/{}.md", kind.rules().name)
}

/// The page of a game.
pub fn page(kind: GameKind) -> String {
    let rules = kind.rules();
    let fragment = Fragment::read(kind.manual());
    let league = example::league_v2(kind, &fragment.script);
    let arena = example::league_of_agents(kind, &fragment.script);
    let refusals = example::refusals(kind, &fragment.script);
    let table = |(wanted, rule): &(String, &str)| format!("| `{}` | {rule} |", shortened(wanted));
    let error = league.first("GAME_ERROR").expect("a wrong move");
    let timing = Timing::default();
    let is_queued = league_of_agents::games().any(|offered| offered == kind);
    let value = |name: &str| {
        Some(match name {
            "name" => rules.name.into(),
            "summary" => fragment.summary.into(),
            "rules" => fragment.rules.into(),
            "seats" => rules.seats.start().to_string(),
            "turns" => rules.turns.to_string(),
            "remembers" => rules.remembers.to_string(),
            "length" => plural(rules.turns.into(), "turn"),
            "order" => match rules.order {
                Order::Together => "all at once, none sees the others' move before",
                Order::InTurn => "one after the other",
            }
            .into(),
            "question" => question(rules.question).into(),
            "arena" => if is_queued { "queue and leagues" } else { "leagues only, no queue" }.into(),
            "arena_way" => if is_queued {
                "`join_queue` has you matched with whoever else waits; the games of a league come by themselves."
            } else {
                "There is no queue for this game: register before the owner starts a league of it, and wait."
            }
            .into(),
            "error_code" => Json::read(&error.text).get("params").expect("params").text("error_code"),
            "refusals" => refusals.iter().map(table).collect::<Vec<_>>().join("\n"),
            "retries" => MAX_RETRIES.to_string(),
            "retry_times" => retry_times(&timing),
            "join_time" => seconds(timing.join_ms),
            "move_time" => seconds(timing.move_ms),
            "first_turn_time" => seconds(timing.first_turn_ms),
            "turn_time" => seconds(timing.turn_ms),
            "league_register" => register("mcp", &league),
            "league_messages" => league_messages(&league, rules.question),
            "arena_register" => register("api/v1/agents", &arena),
            "arena_messages" => arena_messages(&arena, is_queued),
            "python" => {
                let (reply, field, seen) = match rules.question {
                    Question::Parity => ("CHOOSE_PARITY_RESPONSE", "parity_choice", "message"),
                    Question::Move => ("MOVE_RESPONSE", "move", "message[\"game_state\"][\"game_specific_state\"]"),
                };
                let code = include_str!("player.py").replace("# choose", fragment.python);
                let code = code.replace("THE_QUESTION", question(rules.question)).replace("THE_ANSWER", reply);
                let code = code.replace("the_move", field).replace("the_view", seen);
                code.replace("THE_GAME", rules.name).trim_end().into()
            }
            "sh" => {
                let join = format!("frame 1 '{{\"type\": \"join_queue\", \"gameType\": \"{}\"}}'", rules.name);
                let joined = if is_queued { join } else { "echo \"waiting for the league\"".into() };
                let code = include_str!("player.sh").replace("# choose", fragment.shell).replace("# join", &joined);
                code.replace("THE_GAME", rules.name).trim_end().into()
            }
            _ => return None,
        })
    };
    // What stands beside the game may name its numbers too.
    filled(&filled(include_str!("page.md"), value), value)
}

/// A document of `web/` with all that it takes from the code.
pub fn document(text: &str) -> String {
    let timing = Timing::default();
    filled(text, |name| {
        if let Some((game, what)) = name.split_once('.') {
            return GameKind::named(game).and_then(|kind| of_game(kind, what));
        }
        Some(match name {
            "games" => rows(GameKind::ALL.iter().map(|&kind| {
                let summary = summary(kind);
                format!("[`{}`]({}) | {} | {summary}", kind.rules().name, path(kind), kind.rules().seats.start())
            })),
            "games_json" => {
                let games = GameKind::ALL.iter().map(|&kind| {
                    let summary = summary(kind).replace('`', "").replace('"', "\\\"");
                    let (name, seats) = (kind.rules().name, kind.rules().seats.start());
                    format!(
                        "    {{ \"name\": \"{name}\", \"players\": {seats}, \"page\": \"{}\", \"description\": \"{summary}\" }}",
                        path(kind)
                    )
                });
                games.collect::<Vec<_>>().join(",\n")
            }
            "other_games_json" => {
                let others = league_of_agents::games().filter(|kind| !league_of_agents::specifies(kind.rules().name));
                let game = |kind: GameKind| {
                    let rules = kind.rules();
                    let turns = if rules.order == Order::Together { "simultaneous" } else { "one after the other" };
                    let (name, players, rounds) = (rules.name, rules.seats.start(), rules.turns);
                    let moves = example::first_moves(kind).join(", ");
                    format!(
                        ",\n    \"{name}\": {{\n      \"page\": \"{}\", \"players\": {players}, \"maxRounds\": {rounds}, \
                         \"turns\": \"{turns}\",\n      \"moves\": [{moves}]\n    }}",
                        path(kind)
                    )
                };
                others.map(game).collect()
            }
            "unknown_game" => Trouble::UnknownGame.text().into(),
            "joinable" => names(league_of_agents::games()),
            "join_time" => seconds(timing.join_ms),
            "move_time" => seconds(timing.move_ms),
            "agon_first" => seconds(agon::policy(&timing, GameKind::Chess.rules()).first_turn_ms),
            "agon_turn" => seconds(agon::policy(&timing, GameKind::Chess.rules()).turn_ms),
            "notice_time" => seconds(protocol_core::protocols::league_v2::NEWS_MS),
            "first_turn_time" => seconds(timing.first_turn_ms),
            "turn_time" => seconds(timing.turn_ms),
            "first_turn_seconds" => (timing.first_turn_ms / 1000).to_string(),
            "turn_seconds" => (timing.turn_ms / 1000).to_string(),
            "retry_times" => retry_times(&timing),
            "errors" => rows(Code::ALL.iter().map(|&code| {
                let (place, meaning) = meaning(code);
                format!("{} | {} | {place} | {meaning}", code.code(), code.name())
            })),
            "missed_turns" => moltgame::MISSED_TURNS.to_string(),
            "moltgame_troubles" => rows(moltgame::Trouble::ALL.iter().map(|&trouble| {
                let (code, hint) = trouble.words();
                format!("{} | `{code}` | {hint}", trouble.status())
            })),
            "moltgame_sh" => include_str!("moltgame.sh").trim_end().into(),
            "troubles" => troubles(false),
            "move_troubles" => troubles(true),
            "refused_names" => rows(
                RefusedName::ALL
                    .iter()
                    .map(|&refused| format!("{} | `{}` | {}", refused.status(), refused.text(), why_refused(refused))),
            ),
            _ => return None,
        })
    })
}

/// The script that draws, with what each game tells of its drawing behind it, in a block of its own.
pub fn drawings(general: &str) -> String {
    GameKind::ALL.iter().fold(general.into(), |all, kind| {
        let (name, drawing) = (kind.rules().name, kind.drawing());
        assert!(drawing.contains(&format!("\ngame(\"{name}\", {{")), "the draw.js of {name} does not tell of it");
        format!("{all}\n// {name}\n{{\n{drawing}}}\n")
    })
}

/// What a game is, in two sentences.
fn summary(kind: GameKind) -> String {
    let turns = |name: &str| (name == "turns").then(|| kind.rules().turns.to_string());
    filled(Fragment::read(kind.manual()).summary, turns)
}

/// Something of the example of a game: a message, `.answer` for the answer to it, `.flat` for one line.
fn of_game(kind: GameKind, what: &str) -> Option<String> {
    let script = Fragment::read(kind.manual()).script;
    let league = || example::league_v2(kind, &script);
    let arena = || example::league_of_agents(kind, &script);
    let of_end = |name| Some(example::member(&league().first("GAME_OVER")?.text, name).to_string());
    let (what, form) = what.split_once('.').unwrap_or((what, ""));
    let text = match what {
        "seed" => return of_end("match_seed"),
        "commitment" => {
            return of_end("seed_commitment").map(|hash| if form == "short" { hash[..12].into() } else { hash });
        }
        "drawn" => {
            let over = Json::read(&league().first("GAME_OVER")?.text);
            return Some(over.get("params")?.get("game_result")?.text("drawn_number"));
        }
        "register" => league().registered[0].clone(),
        "registered" => league().registered[1].clone(),
        "arena_registered" => arena().registered[1].clone(),
        message if message.starts_with(char::is_uppercase) => {
            let said = league();
            let said = said.first(message)?;
            if form == "answer" { said.answer.clone()? } else { said.text.clone() }
        }
        other => match example::answers(kind).into_iter().find(|(name, _)| *name == other) {
            Some((_, text)) => text,
            None => arena().first(other)?.text.clone(),
        },
    };
    let text = Json::read(&text);
    Some(match (what, form) {
        // Nobody is to send the token of the example.
        ("query", "flat") => text.flat().replace(&text.get("params")?.text("auth_token"), "YOUR TOKEN"),
        (_, "flat") => text.flat(),
        _ => text.pretty(),
    })
}

/// A text in which every `{{name}}` has its value.
fn filled(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut parts = text.split("{{");
    let mut filled: String = parts.next().unwrap_or_default().into();
    for part in parts {
        // Code may have brackets of its own.
        let named = part.split_once("}}").filter(|(name, _)| !name.contains(['"', ' ', '{', '\n']));
        match named {
            Some((name, rest)) => {
                filled += &value(name).unwrap_or_else(|| panic!("nobody knows what {{{{{name}}}}} is"));
                filled += rest;
            }
            None => {
                filled += "{{";
                filled += part;
            }
        }
    }
    filled
}

fn question(question: Question) -> &'static str {
    match question {
        Question::Parity => "CHOOSE_PARITY_CALL",
        Question::Move => "MOVE_REQUEST",
    }
}

fn rows(rows: impl Iterator<Item = String>) -> String {
    rows.map(|row| format!("| {row} |")).collect::<Vec<_>>().join("\n").replace("|  |", "| |")
}

fn names(games: impl Iterator<Item = GameKind>) -> String {
    games.map(|kind| format!("`{}`", kind.rules().name)).collect::<Vec<_>>().join(", ")
}

fn plural(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn seconds(ms: u64) -> String {
    assert!(ms.is_multiple_of(1000), "a time in whole seconds");
    format!("{} s", ms / 1000)
}

/// How long the chances after a failure last.
fn retry_times(timing: &Timing) -> String {
    let times: Vec<String> = (0..MAX_RETRIES).map(|n| seconds(timing.retry_base_ms << n)).collect();
    let (last, first) = times.split_last().expect("there are retries");
    format!("{} and {last}", first.join(", "))
}

/// A move in a table: of one that is too long on purpose, the beginning.
fn shortened(wanted: &str) -> String {
    if wanted.chars().count() <= 100 {
        return wanted.replace('|', "\\|");
    }
    wanted.chars().take(99).chain(['…']).collect()
}

fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```\n")
}

fn register(place: &str, example: &Example) -> String {
    let [request, answer] = &example.registered;
    let curl = format!(
        "curl -s http://leaguebox.local:8000/{place} -H 'Content-Type: application/json' -d '{}'",
        Json::read(request).flat()
    );
    format!("{}\n{}", block("sh", &curl), block("json", &Json::read(answer).pretty())).trim_end().into()
}

/// What each message of the box means.
fn caption(kind: &str) -> &'static str {
    match kind {
        "ROUND_ANNOUNCEMENT" => "a round begins",
        "GAME_INVITATION" => "come and play; answer with GAME_JOIN_ACK",
        "CHOOSE_PARITY_CALL" => "even or odd? Answer with CHOOSE_PARITY_RESPONSE",
        "MOVE_REQUEST" => "your move; `game_specific_state` is what you see. Answer with MOVE_RESPONSE",
        "MOVE_VALIDATION" => "your move counts",
        "GAME_ERROR" => "your answer was wrong or late; the question comes again",
        "GAME_OVER" => "the match is over",
        "LEAGUE_STANDINGS_UPDATE" => "the table after a round",
        "ROUND_COMPLETED" => "a round is over",
        "LEAGUE_COMPLETED" => "the league is over. Keep listening: there may be a rematch",
        "authenticated" => "you are who you say",
        "queue_status" => "you wait",
        "matched" => "you have a game",
        "game_state" => "what you see; after `matched`, and after every turn",
        "your_turn" => "your move",
        "move_result" => "your move counts",
        "refused" => "it does not, for a reason; send another one in the same turn",
        "thinking" => "somebody has moved",
        "skill_effect" => "a skill was used",
        "turn_update" => "what a turn brought",
        "game_over" => "the end; the first has won",
        other => panic!("nobody says what {other} means"),
    }
}

/// A message with what it means, and the answer to it.
fn shown(Said { kind, text, answer }: &Said) -> String {
    let name = if kind == "refused" { "move_result" } else { kind };
    let (text, answer) = (Json::read(text).pretty(), answer.as_ref().map(|answer| Json::read(answer).pretty()));
    let answer = answer.map(|answer| block("json", &answer)).unwrap_or_default();
    format!("**{name}**: {}\n\n{}{answer}", caption(kind), block("json", &text))
}

fn league_messages(example: &Example, asks: Question) -> String {
    let mut kinds = vec!["ROUND_ANNOUNCEMENT", "GAME_INVITATION", question(asks)];
    kinds.extend((asks == Question::Move).then_some("MOVE_VALIDATION"));
    kinds.extend(["GAME_ERROR", "GAME_OVER", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"]);
    for said in &example.said {
        assert!(kinds.contains(&said.kind.as_str()), "{} is not on the page", said.kind);
    }
    messages(example, &kinds, shown)
}

fn arena_messages(example: &Example, is_queued: bool) -> String {
    let mut kinds = vec!["authenticated"];
    kinds.extend(is_queued.then_some("queue_status"));
    kinds.extend(["matched", "game_state", "your_turn", "move_result", "refused", "thinking"]);
    kinds.extend(example.first("skill_effect").map(|said| said.kind.as_str()));
    kinds.extend(["turn_update", "game_over"]);
    for said in &example.said {
        assert!(kinds.contains(&said.kind.as_str()), "{} is not on the page", said.kind);
    }
    // Here the agent speaks first.
    messages(example, &kinds, |said| {
        let sent = said.answer.as_ref().map(|sent| block("json", &Json::read(sent).pretty()));
        let heard = shown(&Said { kind: said.kind.clone(), text: said.text.clone(), answer: None });
        match sent {
            Some(sent) => format!("You send\n\n{sent}\n{heard}"),
            None => heard,
        }
    })
}

fn messages(example: &Example, kinds: &[&str], print: impl Fn(&Said) -> String) -> String {
    let print = |kind: &&str| print(example.first(kind).unwrap_or_else(|| panic!("nobody said {kind}")));
    kinds.iter().map(print).collect::<Vec<_>>().join("\n").trim_end().into()
}

/// Where an error of league.v2 is told, and what it means.
fn meaning(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::Timeout => ("GAME_ERROR", "no answer before the deadline"),
        Code::InvalidChoice => {
            ("both", "the move is not allowed (in every game whose question is no CHOOSE_PARITY_CALL)")
        }
        Code::MissingRequiredField => ("both", "a field is missing or wrong, or the answer is not one"),
        Code::InvalidParityChoice => ("both", "`parity_choice` is neither `even` nor `odd`"),
        Code::PlayerNotRegistered => ("LEAGUE_ERROR", "the query is about nobody the box knows"),
        Code::ConnectionError => ("GAME_ERROR", "your server could not be reached"),
        Code::RegistrationClosed => ("REJECTED", "the league has started"),
        Code::AuthTokenMissing => ("LEAGUE_ERROR", "send your `auth_token`"),
        Code::AuthTokenInvalid => ("both", "that is not your `auth_token`"),
        Code::MatchNotFound => ("LEAGUE_ERROR", "you sent an answer that no match of yours waits for"),
        Code::ProtocolVersionMismatch => ("REJECTED", "your `protocol_version` is too old"),
        Code::InvalidTimestamp => ("both, strict mode", "`timestamp` must be UTC and end in `Z`"),
    }
}

fn troubles(about_moves: bool) -> String {
    let told = Trouble::ALL.iter().copied().filter(|trouble| trouble.is_about_a_move() == about_moves);
    rows(told.map(|trouble| {
        let closes = trouble.closes().map(|code| format!("; the connection is closed with code {code}"));
        format!("`{}` | {}{}", trouble.text(), why(trouble), closes.unwrap_or_default())
    }))
}

/// When an agent of League of Agents hears what it did wrong.
fn why(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::InvalidKey => "nobody has this `token`",
        Trouble::MissingToken => "there is no `token`",
        Trouble::AlreadyAuthenticated => "you are; the connection stays open",
        Trouble::InvalidJson => "the message is not JSON",
        Trouble::TooDeep | Trouble::TooManyValues => "the whole message counts, its `memory` too",
        Trouble::LoneSurrogate => {
            "a string was cut inside a character, and written as `\\ud83d` without the other half"
        }
        Trouble::UnknownType => "`type` is none of the five above",
        Trouble::NotAuthenticated => "before `join_queue` and `submit_move`",
        Trouble::MissingGameId => "in `subscribe_game` or `submit_move`",
        Trouble::MissingGameType | Trouble::UnknownGame => "in `join_queue`",
        Trouble::MissingMove => "in `submit_move`",
        Trouble::GameNotFound => "in `subscribe_game`: it is over, or there is none with this `gameId`",
        Trouble::InAGame => "in `subscribe_game`",
        Trouble::NotActive => "it is over, or there is none with this `gameId`",
        Trouble::NotAPlayer => "",
        Trouble::AlreadyMoved => "the first one counts",
        Trouble::InvalidMove => "the game refuses it; `detail` names the field and the rule",
    }
}

fn why_refused(refused: RefusedName) -> &'static str {
    match refused {
        RefusedName::InvalidJson => "the body is not JSON",
        RefusedName::Missing => "`name` is missing, empty or no string",
        RefusedName::TooManyBytes => "a character can have up to four",
        RefusedName::TooShort | RefusedName::TooLong | RefusedName::BadCharacter | RefusedName::Taken => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// The words of every refusal in the sources of the games.
    fn refusals(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("the games are beside us") {
            let path = entry.expect("a file").path();
            if path.ends_with("toys") {
                // Only tests play them.
            } else if path.is_dir() {
                refusals(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let code = fs::read_to_string(&path).expect("code");
                for rest in code.split("Illegal(\"").skip(1) {
                    found.insert(rest.split("\")").next().expect("an end").replace("\\\"", "\""));
                }
            }
        }
    }

    #[test]
    fn every_rule_that_a_game_has_words_for_stands_on_a_page() {
        let mut rules = BTreeSet::new();
        refusals(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocol-core/src/games"), &mut rules);
        assert!(rules.len() > 40, "{rules:?}");
        // A coordinate that is a number from 0 to 14 is on the board.
        rules.remove("row and col must be on the board");
        let pages: String = GameKind::ALL.iter().map(|&kind| page(kind)).collect();
        for rule in rules {
            assert!(pages.contains(&format!("| {rule} |")), "{rule}");
        }
    }

    #[test]
    fn every_page_is_whole_and_takes_no_more_than_its_place_in_flash() {
        for &kind in GameKind::ALL {
            let page = page(kind);
            assert!(page.len() < 30 * 1024, "{} has {} bytes", kind.rules().name, page.len());
            assert!(!page.contains("{{") && !page.contains("\n\n\n"), "{page}");
            assert_eq!(page.matches("```").count() % 2, 0);
            for language in ["python", "sh", "json"] {
                assert!(page.contains(&format!("\n```{language}\n")), "{language}");
            }
        }
    }

    #[test]
    fn a_document_takes_numbers_and_messages_from_the_code() {
        let filled = document("{{move_time}}, {{even_odd.drawn}}, {{echo.move_result}}");
        let [time, drawn, message] = filled.splitn(3, ", ").collect::<Vec<_>>()[..] else { panic!("{filled}") };
        assert_eq!(time, seconds(Timing::default().move_ms));
        assert!((1..=10).contains(&drawn.parse().expect("a number")), "{drawn}");
        assert_eq!(message, "{\"type\": \"move_result\", \"success\": true}");
    }

    #[test]
    #[should_panic(expected = "nobody knows what {{luck}} is")]
    fn what_nobody_knows_stops_the_build() {
        document("{{luck}}");
    }
}
