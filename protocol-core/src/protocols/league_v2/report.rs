//! What referees report, in every shape seen in the wild. The winner counts; points, details and numbers that were drawn do not.

use heapless::String;

use crate::ids::AgentId;
use crate::json::{Str, Value};

/// How a match ended, as a report says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The number of the player that won; none where nobody did.
    pub winner: Option<u16>,
    /// Whether somebody lost for a technical reason: whoever has not won.
    pub is_technical: bool,
}

/// Where the result may stand; else it is the message itself.
const PLACES: [&str; 3] = ["result", "game_result", "match_result"];
/// What its winner may be called.
const WINNERS: [&str; 3] = ["winner", "winner_id", "winner_player_id"];

/// Reads the result in a report, or says which field of it is wrong.
pub fn read(message: Value<'_>) -> Result<Ending, &'static str> {
    let inside = message.members(PLACES);
    let places = || inside.into_iter().flatten().chain([message]);
    let is_technical = |value: Option<Value<'_>>| {
        value.and_then(Value::as_str).is_some_and(|word| word.is_ignore_ascii_case("TECHNICAL_LOSS"))
    };
    let by_status = places().any(|place| is_technical(place.get("status")));
    let named = places().find_map(|place| place.members(WINNERS).into_iter().flatten().next());
    if let Some(named) = named {
        let winner = match named.as_str() {
            None if named.is_null() => None,
            None => return Err("result.winner must be a player_id, or null for a draw"),
            Some(word) if word.is_empty() || is_any(word, &["DRAW", "TIE", "NONE", "NULL"]) => None,
            Some(word) => Some(player(word).ok_or("result.winner must be a player_id, or null for a draw")?),
        };
        return Ok(Ending { winner, is_technical: by_status });
    }
    // One family says of each player how it did.
    let players = places().find_map(|place| place.get("players").filter(|players| players.entries().next().is_some()));
    let players = players.ok_or("result.winner is required: a player_id, or null for a draw")?;
    let mut ending = Ending { winner: None, is_technical: by_status };
    for (id, did) in players.entries() {
        let how = did.members(["result", "outcome"]).into_iter().flatten().next().unwrap_or(did);
        let Some(how) = how.as_str() else {
            return Err("players must say of each player its result: WIN, DRAW or LOSS");
        };
        ending.is_technical |= how.is_ignore_ascii_case("TECHNICAL_LOSS");
        if is_any(how, &["WIN", "WON", "WINNER"]) {
            let number = player(id).ok_or("players must name players by their player_id")?;
            if ending.winner.replace(number).is_some() {
                return Err("players must name one winner at most");
            }
        }
    }
    Ok(ending)
}

/// Whether a report speaks of nobody but these players.
pub fn is_about(message: Value<'_>, is_one: impl Fn(u16) -> bool) -> bool {
    let inside = message.members(PLACES);
    let maps = inside.into_iter().flatten().chain([message]).flat_map(|place| place.members(["score", "players"]));
    { maps.flatten() }.flat_map(Value::entries).filter_map(|(name, _)| player(name)).all(is_one)
}

fn is_any(word: Str<'_>, words: &[&str]) -> bool {
    words.iter().any(|known| word.is_ignore_ascii_case(known))
}

/// `P01`, or `player:P01`.
fn player(id: Str<'_>) -> Option<u16> {
    let id: String<32> = id.text().ok()?;
    match AgentId::read(id.split(':').next_back()?)? {
        AgentId::Player(number) => Some(number),
        AgentId::Referee(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn of(text: &str) -> Result<(Option<u16>, bool), &'static str> {
        read(parse(text.as_bytes()).unwrap()).map(|ending| (ending.winner, ending.is_technical))
    }

    #[test]
    fn a_result_is_found_in_every_shape_seen_in_the_wild() {
        for (text, told) in [
            (
                r#"{"result":{"winner":"P01","score":{"P01":3,"P02":0},"details":{"drawn_number":99}}}"#,
                (Some(1), false),
            ),
            (r#"{"result":{"winner":"P02","score":{"P01":3,"P02":0}}}"#, (Some(2), false)),
            (r#"{"result":{"winner":"player:P02"}}"#, (Some(2), false)),
            (r#"{"result":{"winner_id":"P02","loser_id":"P01","drawn_number":8}}"#, (Some(2), false)),
            (r#"{"winner":"P01","score":{"P01":1,"P02":0}}"#, (Some(1), false)),
            (r#"{"game_result":{"status":"WIN","winner_player_id":"P01"}}"#, (Some(1), false)),
            (r#"{"result":{"winner":null}}"#, (None, false)),
            (r#"{"result":{"winner":""}}"#, (None, false)),
            (r#"{"result":{"winner":"draw"}}"#, (None, false)),
            (r#"{"result":"DRAW","winner":null}"#, (None, false)),
            (r#"{"result":{"status":"TECHNICAL_LOSS","winner":"P02"}}"#, (Some(2), true)),
            (r#"{"result":{"status":"TECHNICAL_LOSS","winner":null}}"#, (None, true)),
            (r#"{"players":{"P01":{"result":"WIN","points":3},"P02":{"result":"LOSS","points":0}}}"#, (Some(1), false)),
            (r#"{"result":{"players":{"P01":{"result":"draw"},"P02":{"result":"draw"}}}}"#, (None, false)),
            (r#"{"players":{"P01":"TECHNICAL_LOSS","P02":"WIN"}}"#, (Some(2), true)),
        ] {
            assert_eq!(of(text), Ok(told), "{text}");
        }
    }

    #[test]
    fn what_says_no_result_is_told_which_field_is_wrong() {
        for (text, field) in [
            ("{}", "result.winner"),
            (r#"{"result":{"score":{"P01":3}}}"#, "result.winner"),
            (r#"{"result":{"winner":7}}"#, "result.winner"),
            (r#"{"result":{"winner":"Ada"}}"#, "result.winner"),
            (r#"{"result":{"winner":"REF01"}}"#, "result.winner"),
            (r#"{"players":{"P01":{"result":"WIN"},"P02":{"result":"WIN"}}}"#, "players"),
            (r#"{"players":{"P01":7}}"#, "players"),
            (r#"{"players":{"Ada":{"result":"WIN"}}}"#, "players"),
        ] {
            assert!(of(text).unwrap_err().starts_with(field), "{text}: {:?}", of(text));
        }
    }

    #[test]
    fn a_report_that_gives_others_points_is_not_about_the_players_of_its_match() {
        let about = |text: &str| is_about(parse(text.as_bytes()).unwrap(), |number| number <= 2);
        assert!(about(r#"{"result":{"winner":"P01","score":{"P01":3,"P02":0}}}"#));
        assert!(about(r#"{"result":{"winner":null,"score":{"Ada":3}}}"#));
        assert!(!about(r#"{"result":{"winner":"P01","score":{"P01":3,"P03":0}}}"#));
        assert!(!about(r#"{"players":{"P09":{"result":"LOSS"}}}"#));
    }
}
