//! The settings as JSON: read strictly, so that a typing error is told and not ignored, and written whole.

use core::fmt;

use protocol_core::fair::Seed;
use protocol_core::games::GameKind;
use protocol_core::json::{self, Full, Sink, Str, Value};
use protocol_core::venue::{Change, Mode, Pace, REFEREES_SECONDS, TIMEOUT_MS, Venue};
use serde::Serialize;

/// What is wrong with a text of settings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wrong<'a> {
    NotJson(json::Error),
    NotAnObject,
    Unknown(Str<'a>),
    Game,
    Mode,
    /// There is room for so many.
    StartAt(usize),
    Timeout(&'static str),
    Pace,
    /// There is room for so many.
    PerAddress(usize),
    OtherHosts,
    ForeignReferees,
    FillAfter,
    VoteSeconds,
    Seed,
}

impl fmt::Display for Wrong<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::NotJson(error) => write!(f, "the body must be JSON: {error}"),
            Wrong::NotAnObject => f.write_str("the body must be an object, such as {\"start_at\": 4}"),
            Wrong::Unknown(name) => {
                write!(f, "{} is not a setting; /api/settings.json names them all", name.truncated::<32>())
            }
            Wrong::Game => {
                f.write_str("game must be one of")?;
                GameKind::ALL.iter().try_for_each(|game| write!(f, " {}", game.rules().name))
            }
            Wrong::Mode => f.write_str("mode must be lenient or strict"),
            Wrong::StartAt(most) => write!(f, "start_at must be null or a whole number from 2 to {most}"),
            Wrong::Timeout(name) => {
                let (least, most) = TIMEOUT_MS.into_inner();
                write!(f, "{name} must be a whole number from {least} to {most}")
            }
            Wrong::Pace => f.write_str("pace must be fast, watch or step"),
            Wrong::PerAddress(most) => write!(f, "per_address must be null or a whole number from 1 to {most}"),
            Wrong::OtherHosts => f.write_str("other_hosts must be true or false"),
            Wrong::ForeignReferees => {
                write!(f, "foreign_referees must be null or a whole number of seconds from 1 to {REFEREES_SECONDS}")
            }
            Wrong::FillAfter => f.write_str("fill_after must be null or a whole number of seconds from 1 to 3600"),
            Wrong::VoteSeconds => f.write_str("vote_seconds must be a whole number from 5 to 3600"),
            Wrong::Seed => f.write_str("seed must be null or 64 hex digits"),
        }
    }
}

/// Reads any of the settings. `most` players there is room for.
pub(crate) fn read(body: &[u8], most: usize) -> Result<Change, Wrong<'_>> {
    let settings = json::parse(body).map_err(Wrong::NotJson)?;
    if settings.kind() != json::Kind::Object {
        return Err(Wrong::NotAnObject);
    }
    let mut change = Change::default();
    for (name, value) in settings.entries() {
        let timeout = |name| value.as_u64().filter(|ms| TIMEOUT_MS.contains(ms)).ok_or(Wrong::Timeout(name));
        if name.is("game") {
            let game = text(value).and_then(|game| GameKind::named(&game));
            change.game = Some(game.ok_or(Wrong::Game)?);
        } else if name.is("mode") {
            let mode = text(value).and_then(|name| Mode::ALL.into_iter().find(|mode| mode.name() == name));
            change.mode = Some(mode.ok_or(Wrong::Mode)?);
        } else if name.is("start_at") {
            let number = value.as_u64().and_then(|n| u16::try_from(n).ok());
            let number = number.filter(|&n| (2..=most).contains(&n.into()));
            if number.is_none() && !value.is_null() {
                return Err(Wrong::StartAt(most));
            }
            change.start_at = Some(number);
        } else if name.is("join_timeout_ms") {
            change.join_ms = Some(timeout("join_timeout_ms")?);
        } else if name.is("move_timeout_ms") {
            change.move_ms = Some(timeout("move_timeout_ms")?);
        } else if name.is("retry_base_ms") {
            change.retry_base_ms = Some(timeout("retry_base_ms")?);
        } else if name.is("first_turn_timeout_ms") {
            change.first_turn_ms = Some(timeout("first_turn_timeout_ms")?);
        } else if name.is("turn_timeout_ms") {
            change.turn_ms = Some(timeout("turn_timeout_ms")?);
        } else if name.is("pace") {
            let pace = text(value).and_then(|name| Pace::ALL.into_iter().find(|pace| pace.name() == name));
            change.pace = Some(pace.ok_or(Wrong::Pace)?);
        } else if name.is("pace_turn_ms") {
            change.pace_turn_ms = Some(timeout("pace_turn_ms")?);
        } else if name.is("pace_match_ms") {
            change.pace_match_ms = Some(timeout("pace_match_ms")?);
        } else if name.is("pace_break_ms") {
            change.pace_break_ms = Some(timeout("pace_break_ms")?);
        } else if name.is("per_address") {
            let number = value.as_u64().and_then(|n| u16::try_from(n).ok());
            let number = number.filter(|&n| (1..=most).contains(&n.into()));
            if number.is_none() && !value.is_null() {
                return Err(Wrong::PerAddress(most));
            }
            change.per_address = Some(number);
        } else if name.is("fill_after") {
            let number = value.as_u64().and_then(|n| u16::try_from(n).ok()).filter(|n| (1..=3600).contains(n));
            if number.is_none() && !value.is_null() {
                return Err(Wrong::FillAfter);
            }
            change.fill_after = Some(number);
        } else if name.is("vote_seconds") {
            let number = value.as_u64().and_then(|n| u16::try_from(n).ok()).filter(|n| (5..=3600).contains(n));
            change.vote_seconds = Some(number.ok_or(Wrong::VoteSeconds)?);
        } else if name.is("other_hosts") {
            change.other_hosts = Some(value.as_bool().ok_or(Wrong::OtherHosts)?);
        } else if name.is("foreign_referees") {
            let number = value.as_u64().and_then(|n| u8::try_from(n).ok());
            let number = number.filter(|n| (1..=REFEREES_SECONDS).contains(n));
            if number.is_none() && !value.is_null() {
                return Err(Wrong::ForeignReferees);
            }
            change.foreign_referees = Some(number);
        } else if name.is("seed") {
            let seed = text(value).and_then(|digits| Seed::from_hex(&digits));
            if seed.is_none() && !value.is_null() {
                return Err(Wrong::Seed);
            }
            change.seed = Some(seed);
        } else {
            return Err(Wrong::Unknown(name));
        }
    }
    Ok(change)
}

/// A string that is no longer than any we look for.
fn text(value: Value<'_>) -> Option<heapless::String<64>> {
    value.as_str()?.text().ok()
}

/// All settings. Of the seed, which decides what is still to be drawn, only whether somebody chose it.
pub(crate) fn write(venue: &Venue<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
    #[derive(Serialize)]
    struct Settings<'a> {
        game: &'static str,
        mode: &'static str,
        start_at: Option<u16>,
        join_timeout_ms: u64,
        move_timeout_ms: u64,
        retry_base_ms: u64,
        first_turn_timeout_ms: u64,
        turn_timeout_ms: u64,
        pace: &'static str,
        pace_turn_ms: u64,
        pace_match_ms: u64,
        pace_break_ms: u64,
        per_address: Option<u16>,
        fill_after: Option<u16>,
        vote_seconds: u16,
        /// What debates are about; null: what their seeds decide.
        topic: Option<&'a str>,
        other_hosts: bool,
        foreign_referees: Option<u8>,
        seed: &'static str,
    }
    let config = venue.config();
    let settings = Settings {
        game: config.game.rules().name,
        mode: config.mode.name(),
        start_at: config.start_at,
        join_timeout_ms: config.timing.join_ms,
        move_timeout_ms: config.timing.move_ms,
        retry_base_ms: config.timing.retry_base_ms,
        first_turn_timeout_ms: config.timing.first_turn_ms,
        turn_timeout_ms: config.timing.turn_ms,
        pace: config.pacing.pace.name(),
        pace_turn_ms: config.pacing.turn_ms,
        pace_match_ms: config.pacing.match_ms,
        pace_break_ms: config.pacing.break_ms,
        per_address: config.per_address,
        fill_after: config.fill_after,
        vote_seconds: config.vote_seconds,
        topic: Some(&*config.topic).filter(|topic| !topic.is_empty()),
        other_hosts: config.other_hosts,
        foreign_referees: config.foreign_referees,
        seed: if venue.seed_is_chosen() { "set" } else { "random" },
    };
    json::write(&settings, sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn every_setting_is_read_and_what_is_not_there_stays() {
        let text =
            br#"{"game":"even_odd_10","mode":"strict","start_at":8,"join_timeout_ms":1,"move_timeout_ms":3600000,
            "retry_base_ms":3,"first_turn_timeout_ms":4,"turn_timeout_ms":5,
            "pace":"step","pace_turn_ms":6,"pace_match_ms":7,"pace_break_ms":8,"per_address":3,"fill_after":20,"vote_seconds":90,"other_hosts":true,"foreign_referees":2,"seed":"00000000000000000000000000000000000000000000000000000000000000fF"}"#;
        let mut seed = [0; 32];
        seed[31] = 0xff;
        let all = Change {
            game: Some(GameKind::EvenOdd10),
            mode: Some(Mode::Strict),
            start_at: Some(Some(8)),
            join_ms: Some(1),
            move_ms: Some(3_600_000),
            retry_base_ms: Some(3),
            first_turn_ms: Some(4),
            turn_ms: Some(5),
            pace: Some(Pace::Step),
            pace_turn_ms: Some(6),
            pace_match_ms: Some(7),
            pace_break_ms: Some(8),
            per_address: Some(Some(3)),
            fill_after: Some(Some(20)),
            vote_seconds: Some(90),
            other_hosts: Some(true),
            foreign_referees: Some(Some(2)),
            seed: Some(Some(Seed(seed))),
        };
        assert_eq!(read(text, 8).unwrap(), all);
        assert_eq!(read(b"{}", 8).unwrap(), Change::default());
        assert_eq!(
            read(br#"{"start_at":null}"#, 8).unwrap(),
            Change { start_at: Some(None), ..Change::default() },
            "null switches it off"
        );
        assert_eq!(
            read(br#"{"seed":null}"#, 8).unwrap(),
            Change { seed: Some(None), ..Change::default() },
            "null leaves it to chance"
        );
    }

    #[test]
    fn what_is_wrong_is_told_by_field_and_rule() {
        for (text, told) in [
            ("", "the body must be JSON: text ends too early, at byte 0"),
            ("{} {}", "the body must be JSON: "),
            ("[]", "the body must be an object, such as {\"start_at\": 4}"),
            ("null", "the body must be an object"),
            (r#"{"gmae":"even_odd"}"#, "gmae is not a setting; /api/settings.json names them all"),
            (r#"{"":0}"#, " is not a setting"),
            (r#"{"game":"checkers"}"#, "game must be one of even_odd even_odd_10"),
            (r#"{"game":null}"#, "game must be one of"),
            (r#"{"mode":"Strict"}"#, "mode must be lenient or strict"),
            (r#"{"start_at":1}"#, "start_at must be null or a whole number from 2 to 8"),
            (r#"{"start_at":9}"#, "start_at must be"),
            (r#"{"start_at":65538}"#, "start_at must be"),
            (r#"{"start_at":"4"}"#, "start_at must be"),
            (r#"{"start_at":4.0}"#, "start_at must be"),
            (r#"{"join_timeout_ms":0}"#, "join_timeout_ms must be a whole number from 1 to 3600000"),
            (r#"{"move_timeout_ms":3600001}"#, "move_timeout_ms must be"),
            (r#"{"retry_base_ms":-1}"#, "retry_base_ms must be"),
            (r#"{"retry_base_ms":null}"#, "retry_base_ms must be"),
            (r#"{"pace":"slow"}"#, "pace must be fast, watch or step"),
            (r#"{"pace_turn_ms":0}"#, "pace_turn_ms must be a whole number from 1 to 3600000"),
            (r#"{"fill_after":0}"#, "fill_after must be null or a whole number of seconds from 1 to 3600"),
            (r#"{"vote_seconds":4}"#, "vote_seconds must be a whole number from 5 to 3600"),
            (r#"{"per_address":0}"#, "per_address must be null or a whole number from 1 to 8"),
            (r#"{"foreign_referees":0}"#, "foreign_referees must be null or a whole number of seconds from 1 to 120"),
            (
                r#"{"foreign_referees":true}"#,
                "foreign_referees must be null or a whole number of seconds from 1 to 120",
            ),
            (r#"{"other_hosts":1}"#, "other_hosts must be true or false"),
            (r#"{"seed":"ab"}"#, "seed must be null or 64 hex digits"),
            (r#"{"mode":"strict","seed":0}"#, "seed must be"),
        ] {
            let wrong = read(text.as_bytes(), 8).unwrap_err().to_string();
            assert!(wrong.starts_with(told), "{text}: {wrong}");
        }
        let long = std::format!("{{\"{}\":0}}", "x".repeat(1000));
        assert!(read(long.as_bytes(), 8).unwrap_err().to_string().len() < 100);
    }
}
