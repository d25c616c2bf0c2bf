//! What agents send: messages over the WebSocket, and their registration over HTTP. A field of another type than it must
//! have counts as missing, and so does an empty string.

use heapless::String;

use super::Trouble;
use crate::json::{self, ErrorKind, Str, Value};

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

/// Why nobody could be registered by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedName {
    /// The request is not JSON.
    InvalidJson,
    /// There is no `name`.
    Missing,
    /// Of one character.
    TooShort,
    /// Of more than 32 characters.
    TooLong,
    /// Of more bytes than are kept. The specification has no words for it.
    TooManyBytes,
    /// With a character that is not allowed.
    BadCharacter,
    /// Somebody else has it.
    Taken,
}

impl RefusedName {
    /// Every one there is.
    pub const ALL: [RefusedName; 7] = [
        RefusedName::InvalidJson,
        RefusedName::Missing,
        RefusedName::TooShort,
        RefusedName::TooLong,
        RefusedName::TooManyBytes,
        RefusedName::BadCharacter,
        RefusedName::Taken,
    ];

    /// The HTTP status of the answer.
    pub const fn status(self) -> u16 {
        match self {
            RefusedName::Taken => 409,
            _ => 400,
        }
    }

    /// The words for it: the specification's, where it has some.
    pub const fn text(self) -> &'static str {
        match self {
            RefusedName::InvalidJson => "Invalid JSON body.",
            RefusedName::Missing => "Name is required.",
            RefusedName::TooShort => "Name must be at least 2 characters.",
            RefusedName::TooLong => "Name must be 32 characters or fewer.",
            RefusedName::TooManyBytes => "Name must be 64 bytes or fewer in UTF-8.",
            RefusedName::BadCharacter => {
                "Name may only contain letters, numbers, spaces, hyphens, underscores, and dots."
            }
            RefusedName::Taken => "Agent name is already taken.",
        }
    }
}

/// The length of a name, in characters.
const MIN_CHARS: usize = 2;
const MAX_CHARS: usize = 32;

/// Reads the name in a registration, without the space around it. Letters and numbers are those of any script, with the marks
/// on them.
pub fn read_registration<const BYTES: usize>(body: &[u8]) -> Result<String<BYTES>, RefusedName> {
    let body = json::parse(body).map_err(|_| RefusedName::InvalidJson)?;
    let given = body.get("name").and_then(Value::as_str).ok_or(RefusedName::Missing)?;
    let is_part = |c: char| !c.is_whitespace();
    let start = given.chars().position(is_part).ok_or(RefusedName::Missing)?;
    let length = given.chars().skip(start).zip(1..).filter(|(c, _)| is_part(*c)).map(|(_, n)| n).last().unwrap_or(0);
    let chars = || given.chars().skip(start).take(length);
    let bytes = chars().map(char::len_utf8).sum::<usize>();
    if length < MIN_CHARS {
        return Err(RefusedName::TooShort);
    }
    if length > MAX_CHARS {
        return Err(RefusedName::TooLong);
    }
    if bytes > BYTES {
        return Err(RefusedName::TooManyBytes);
    }
    let mut name = String::new();
    for c in chars() {
        if !c.is_alphanumeric() && !is_mark(c) && !matches!(c, ' ' | '-' | '_' | '.') {
            return Err(RefusedName::BadCharacter);
        }
        name.push(c).map_err(|_| RefusedName::TooManyBytes)?;
    }
    Ok(name)
}

/// Whether a character is part of writing though no letter by itself: accents, points, vowel signs. By block, so that a few
/// signs of these scripts that are neither are let in with them.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}'       // accents that stand alone, as many systems send them
        | '\u{591}'..='\u{5c7}'     // Hebrew
        | '\u{64b}'..='\u{65f}'     // Arabic
        | '\u{900}'..='\u{109f}'    // from Devanagari to Myanmar
        | '\u{1780}'..='\u{17dd}'   // Khmer
        | '\u{3099}' | '\u{309a}') // Japanese
}
