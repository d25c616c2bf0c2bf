//! What agents send: messages over the WebSocket. (Their registration over HTTP is as in other protocols.) A field of another type than it must
//! have counts as missing, and so does an empty string.

use super::Trouble;
use crate::json::{self, ErrorKind, Str, Value};
pub use crate::protocols::enrol::{RefusedName, read_registration};

/// A message. Which of its fields must be there is checked after who may send it, so they are all optional here.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are the specification's")]
pub enum Message<'a> {
    /// `authenticate`
    Authenticate { token: Option<Str<'a>> },
    /// `join_queue`
    JoinQueue { game_type: Option<Str<'a>> },
    /// `submit_move`
    SubmitMove {
        game_id: Option<Str<'a>>,
        /// `move`, whatever it is but `null`.
        wanted: Option<Value<'a>>,
    },
    /// `subscribe_game`
    SubscribeGame { game_id: Option<Str<'a>> },
    /// `ping`
    Ping,
}

impl<'a> Message<'a> {
    /// Reads a message.
    pub fn read(body: &'a [u8]) -> Result<Message<'a>, Trouble> {
        let names = ["type", "token", "gameType", "gameId", "move"];
        let (_, members, []) = json::parse_members(body, names, "", []).map_err(|error| trouble(error.kind))?;
        let [kind, token, game_type, game_id, wanted] = members;
        let text = |value: Option<Value<'a>>| value.and_then(Value::as_str).filter(|text| !text.is_empty());
        let kind = text(kind).ok_or(Trouble::UnknownType)?;
        if kind.is("submit_move") {
            Ok(Message::SubmitMove { game_id: text(game_id), wanted: wanted.filter(|wanted| !wanted.is_null()) })
        } else if kind.is("ping") {
            Ok(Message::Ping)
        } else if kind.is("authenticate") {
            Ok(Message::Authenticate { token: text(token) })
        } else if kind.is("join_queue") {
            Ok(Message::JoinQueue { game_type: text(game_type) })
        } else if kind.is("subscribe_game") {
            Ok(Message::SubscribeGame { game_id: text(game_id) })
        } else {
            Err(Trouble::UnknownType)
        }
    }
}

/// What to say to a text that is not read.
fn trouble(kind: ErrorKind) -> Trouble {
    match kind {
        ErrorKind::TooDeep => Trouble::TooDeep,
        ErrorKind::TooManyValues => Trouble::TooManyValues,
        ErrorKind::LoneSurrogate => Trouble::LoneSurrogate,
        _ => Trouble::InvalidJson,
    }
}
