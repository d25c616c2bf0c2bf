//! What the owner says to have a player tested or removed, a match ruled on, or a match played again: read strictly, so that a
//! typing error is told and not ignored.

use core::fmt;
use core::net::IpAddr;

use protocol_core::ids::{AgentId, MatchId};
use protocol_core::json::{self, Str, Value};
use protocol_core::time::Now;
use protocol_core::venue::{Denied, TOPIC_BYTES, Venue};

/// Which power is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    Check,
    Remove,
    Rule,
    Replay,
    Vote,
}

/// What is to be done, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Check(u16),
    Remove(u16),
    /// The referee of this number.
    Dismiss(u16),
    /// All players that registered from an address.
    RemoveFrom(IpAddr),
    /// A match, and the number of its winner; none is a draw.
    Rule(MatchId, Option<u16>),
    Replay(MatchId),
    /// The vote on a match is opened, or else closed.
    Vote(MatchId, bool),
}

/// What is wrong with a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wrong<'a> {
    NotJson(json::Error),
    NotAnObject(Power),
    Unknown(Str<'a>, Power),
    Player,
    Referee,
    Address,
    Both,
    Match,
    Winner,
    Open,
    Topic,
    /// There is room for so many.
    House(usize),
}

impl Power {
    /// What a body looks like.
    fn example(self) -> &'static str {
        match self {
            Power::Check => "{\"player_id\": \"P03\"}",
            Power::Remove => "{\"player_id\": \"P03\"}, {\"referee_id\": \"REF02\"} or {\"address\": \"10.0.0.7\"}",
            Power::Rule => "{\"match_id\": \"R1M2\", \"winner\": \"P01\"}",
            Power::Replay => "{\"match_id\": \"R1M2\"}",
            Power::Vote => "{\"match_id\": \"R1M2\", \"open\": true}",
        }
    }

    fn takes(self, name: Str<'_>) -> bool {
        match self {
            Power::Check => name.is("player_id"),
            Power::Remove => name.is("player_id") || name.is("referee_id") || name.is("address"),
            Power::Rule => name.is("match_id") || name.is("winner"),
            Power::Replay => name.is("match_id"),
            Power::Vote => name.is("match_id") || name.is("open"),
        }
    }

    /// Reads what is to be done.
    pub fn read(self, body: &[u8]) -> Result<Act, Wrong<'_>> {
        let message = json::parse(body).map_err(Wrong::NotJson)?;
        if message.kind() != json::Kind::Object {
            return Err(Wrong::NotAnObject(self));
        }
        if let Some((name, _)) = message.entries().find(|&(name, _)| !self.takes(name)) {
            return Err(Wrong::Unknown(name, self));
        }
        let id = || message.get("match_id").and_then(text).and_then(|id| MatchId::read(&id)).ok_or(Wrong::Match);
        let player_id = || message.get("player_id").and_then(player).ok_or(Wrong::Player);
        Ok(match self {
            Power::Check => Act::Check(player_id()?),
            Power::Remove => match message.members(["player_id", "address", "referee_id"]) {
                [None, Some(from), None] => Act::RemoveFrom(address(from).ok_or(Wrong::Address)?),
                [None, None, Some(id)] => Act::Dismiss(referee(id).ok_or(Wrong::Referee)?),
                [_, None, None] => Act::Remove(player_id()?),
                _ => return Err(Wrong::Both),
            },
            Power::Replay => Act::Replay(id()?),
            Power::Vote => Act::Vote(id()?, message.get("open").and_then(Value::as_bool).ok_or(Wrong::Open)?),
            Power::Rule => {
                let id = id()?;
                // Who forgets the winner does not mean a draw.
                let winner = message.get("winner").ok_or(Wrong::Winner)?;
                let number = player(winner);
                if number.is_none() && !winner.is_null() {
                    return Err(Wrong::Winner);
                }
                Act::Rule(id, number)
            }
        })
    }
}

impl Act {
    /// Does it, or the first step of it: `true` where there may be another.
    pub fn perform(self, venue: &mut Venue<'_>, now: Now) -> Result<bool, Denied> {
        match self {
            Act::RemoveFrom(address) => return venue.remove_one_from(now, address),
            Act::Check(number) => venue.check(now, number),
            Act::Remove(number) => venue.remove(now, number),
            Act::Dismiss(number) => venue.dismiss(now, number, true),
            Act::Rule(id, winner) => venue.rule(now, id, winner),
            Act::Replay(id) => venue.replay(now, id),
            Act::Vote(id, true) => venue.open_vote(now, id),
            Act::Vote(id, false) => venue.close_vote(now, id),
        }
        .map(|()| false)
    }
}

/// Reads how many house players are wanted: `{"players": 3}`. There is room for `most`.
pub(crate) fn read_house(body: &[u8], most: usize) -> Result<u16, Wrong<'_>> {
    let message = json::parse(body).map_err(Wrong::NotJson)?;
    let is_alone = message.entries().all(|(name, _)| name.is("players"));
    let players = message.get("players").and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
    players.filter(|&n| is_alone && (1..=most).contains(&n.into())).ok_or(Wrong::House(most))
}

/// Reads what debates are to be about: `{"topic": "…"}`, or null for what their seeds decide.
pub(crate) fn read_topic(body: &[u8]) -> Result<heapless::String<TOPIC_BYTES>, Wrong<'_>> {
    let message = json::parse(body).map_err(Wrong::NotJson)?;
    let is_alone = message.entries().all(|(name, _)| name.is("topic"));
    match message.get("topic").filter(|_| is_alone) {
        Some(topic) if topic.is_null() => Ok(heapless::String::new()),
        topic => topic.and_then(|topic| topic.as_str()?.text().ok()).ok_or(Wrong::Topic),
    }
}

/// The status of an answer to what is denied.
pub(crate) fn status(denied: Denied) -> u16 {
    match denied {
        Denied::Player | Denied::Referee | Denied::Address | Denied::Match => 404,
        Denied::Winner => 400,
        Denied::Now(_) => 409,
    }
}

fn text(value: Value<'_>) -> Option<heapless::String<16>> {
    value.as_str()?.text().ok()
}

fn address(value: Value<'_>) -> Option<IpAddr> {
    value.as_str()?.text::<48>().ok()?.parse().ok()
}

fn player(value: Value<'_>) -> Option<u16> {
    match AgentId::read(&text(value)?)? {
        AgentId::Player(number) => Some(number),
        AgentId::Referee(_) => None,
    }
}

fn referee(value: Value<'_>) -> Option<u16> {
    match AgentId::read(&text(value)?)? {
        AgentId::Referee(number) => Some(number),
        AgentId::Player(_) => None,
    }
}

impl fmt::Display for Wrong<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::NotJson(error) => write!(f, "the body must be JSON: {error}"),
            Wrong::NotAnObject(power) => write!(f, "the body must be an object: {}", power.example()),
            Wrong::Unknown(name, power) => {
                write!(f, "{} is not a field of this body: {}", name.truncated::<32>(), power.example())
            }
            Wrong::Player => f.write_str("player_id must be the id of a player, such as \"P03\""),
            Wrong::Referee => f.write_str("referee_id must be the id of a referee, such as \"REF02\""),
            Wrong::Address => f.write_str("address must be the address of a computer, such as \"10.0.0.7\""),
            Wrong::Both => f.write_str(
                "player_id names one player, referee_id one referee, address all of a computer: say one of them",
            ),
            Wrong::Match => f.write_str("match_id must be the id of a match, such as \"R1M2\""),
            Wrong::House(most) => {
                write!(f, "the body must be {{\"players\": 3}}, with a whole number from 1 to {most}")
            }
            Wrong::Open => f.write_str("open must be true to open the vote, or false to close it"),
            Wrong::Topic => {
                write!(f, "the body must be {{\"topic\": \"…\"}}, with a text of at most {TOPIC_BYTES} bytes or null")
            }
            Wrong::Winner => f.write_str("winner must be the id of a player, such as \"P01\", or null for a draw"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const R1M2: MatchId = MatchId { round: 1, table: 2 };

    #[test]
    fn every_body_is_read() {
        assert_eq!(Power::Check.read(br#"{"player_id":"P03"}"#).unwrap(), Act::Check(3));
        assert_eq!(Power::Remove.read(br#"{"player_id":"P03"}"#).unwrap(), Act::Remove(3));
        let all = Act::RemoveFrom("10.0.0.7".parse().unwrap());
        assert_eq!(Power::Remove.read(br#"{"address":"10.0.0.7"}"#).unwrap(), all);
        assert_eq!(Power::Rule.read(br#"{"winner":"P01","match_id":"R1M2"}"#).unwrap(), Act::Rule(R1M2, Some(1)));
        assert_eq!(Power::Rule.read(br#"{"match_id":"R1M2","winner":null}"#).unwrap(), Act::Rule(R1M2, None));
        assert_eq!(Power::Replay.read(br#"{"match_id":"R1M2"}"#).unwrap(), Act::Replay(R1M2));
    }

    #[test]
    fn house_players_are_counted_strictly() {
        assert_eq!(read_house(br#"{"players":3}"#, 8).unwrap(), 3);
        for text in ["", "{}", "[]", "3", r#"{"players":0}"#, r#"{"players":9}"#, r#"{"players":3,"game":"echo"}"#] {
            assert!(read_house(text.as_bytes(), 8).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_field_and_rule() {
        use Power::{Check, Remove, Replay, Rule};
        for (power, text, told) in [
            (Remove, "", "the body must be JSON: "),
            (Remove, "[]", "the body must be an object: {\"player_id\": \"P03\"}"),
            (Remove, "{}", "player_id must be the id of a player"),
            (Remove, r#"{"player_id":3}"#, "player_id must be"),
            (Remove, r#"{"player_id":"REF02"}"#, "player_id must be"),
            (Remove, r#"{"address":"nas.local"}"#, "address must be the address of a computer"),
            (Remove, r#"{"address":7}"#, "address must be"),
            (Remove, r#"{"address":"10.0.0.7","player_id":"P03"}"#, "player_id names one player"),
            (Check, r#"{"address":"10.0.0.7"}"#, "address is not a field of this body"),
            (Remove, r#"{"player":"P03"}"#, "player is not a field of this body: {\"player_id\""),
            (Rule, r#"{"winner":"P01"}"#, "match_id must be the id of a match"),
            (Rule, r#"{"match_id":"R1M2"}"#, "winner must be the id of a player, such as \"P01\", or null for a draw"),
            (Rule, r#"{"match_id":"R1M2","winner":"nobody"}"#, "winner must be"),
            (Rule, r#"{"match_id":"R1M2","winner":false}"#, "winner must be"),
            (Replay, r#"{"match_id":"M2"}"#, "match_id must be"),
            (Replay, r#"{"match_id":"R1M2","winner":null}"#, "winner is not a field of this body"),
        ] {
            let wrong = power.read(text.as_bytes()).unwrap_err().to_string();
            assert!(wrong.starts_with(told), "{text}: {wrong}");
        }
    }
}
