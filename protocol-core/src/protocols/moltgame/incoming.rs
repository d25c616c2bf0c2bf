//! What comes along with what is asked: keys, ids, and bodies of JSON. A body that is not there is an empty object. Members that
//! nobody asks for are ignored, as the specification says.

use heapless::String;

use super::{ABOUT_BYTES, INVALID_FORMAT, INVALID_KEY, MISSING_AUTHORIZATION, Trouble};
use crate::ids::MatchId;
use crate::json::{self, Value};
use crate::uuid::Uuid;
use crate::venue::{TEXT_BYTES, name};

/// What every key begins with.
pub(super) const KEY: &str = "moltgame_";

const NOT_JSON: Trouble = Trouble::InvalidRequest("the body must be a JSON object");

/// The key that a request shows, by its header `Authorization`.
pub(super) fn key(authorization: Option<&str>) -> Result<&str, Trouble> {
    let header = authorization.ok_or(Trouble::Unauthorized(MISSING_AUTHORIZATION))?;
    let (scheme, key) = header.trim().split_once(' ').ok_or(Trouble::Unauthorized(INVALID_FORMAT))?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Trouble::Unauthorized(INVALID_FORMAT));
    }
    Ok(key.trim())
}

/// What is said to whoever shows a key that is nobody's.
pub(super) const STRANGER: Trouble = Trouble::Unauthorized(INVALID_KEY);

/// Members of a body.
pub(super) fn members<'a, const N: usize>(body: &'a [u8], names: [&str; N]) -> Result<[Option<Value<'a>>; N], Trouble> {
    if body.trim_ascii().is_empty() {
        return Ok([None; N]);
    }
    let value = json::parse(body).map_err(|_| NOT_JSON)?;
    if value.kind() != json::Kind::Object {
        return Err(NOT_JSON);
    }
    Ok(value.members(names))
}

/// The id of a room in a body, if it names one.
pub(super) fn room_id(value: Option<Value<'_>>) -> Result<Option<RoomId>, Trouble> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let text = value.as_str().ok_or(Trouble::InvalidRoomId)?;
    let uuid = Uuid::read(text.chars()).ok_or(Trouble::InvalidRoomId)?;
    Ok(Some(RoomId::of(uuid)))
}

/// How many seats a room is to have, if the body says it.
pub(super) fn seats(value: Option<Value<'_>>) -> Result<Option<u8>, Trouble> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let whole = value.as_whole().and_then(|whole| u8::try_from(whole).ok());
    whole.map(Some).ok_or(Trouble::InvalidRequest("seats must be a whole number of players"))
}

/// A text that can be shown, of so many bytes at most.
fn shown<const BYTES: usize>(value: Value<'_>, wrong: &'static str) -> Result<String<BYTES>, Trouble> {
    let text = value.as_str().and_then(|text| text.text::<BYTES>().ok());
    text.filter(|text| name::is_fit(text)).ok_or(Trouble::InvalidRequest(wrong))
}

/// What an agent says of itself: nothing, or a text.
pub(super) fn description(value: Option<Value<'_>>) -> Result<String<ABOUT_BYTES>, Trouble> {
    let said = value.filter(|value| !value.is_null() && value.as_str().is_none_or(|text| !text.is("")));
    let wrong = "description must be a text of at most 64 bytes on one line";
    said.map_or_else(|| Ok(String::new()), |said| shown(said, wrong))
}

/// Whether an agent is to play in leagues: it is, unless it says otherwise.
pub(super) fn is_in_leagues(value: Option<Value<'_>>) -> Result<bool, Trouble> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(true) };
    value.as_bool().ok_or(Trouble::InvalidRequest("league must be true or false"))
}

/// A message to everybody.
pub(super) fn message(value: Option<Value<'_>>) -> Result<String<TEXT_BYTES>, Trouble> {
    let value = value.ok_or(Trouble::InvalidRequest("text is missing"))?;
    shown(value, "text must be a text of at most 200 bytes on one line, with something to see")
}

/// A number of the query; `None` where it has none that can be used.
pub(super) fn number(query: &str, name: &str) -> Option<u16> {
    let value = |part: &str| part.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value.parse().ok());
    query.split('&').find_map(value).flatten()
}

/// A room: a match of a league, or of none. As an id it is those numbers in the form of a UUID, so that no table of ids is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocols) struct RoomId {
    /// The league; outside, what tells the game from others of its number.
    pub of: u32,
    pub id: MatchId,
}

impl RoomId {
    pub fn uuid(self) -> Uuid {
        let [a, b, c, d] = self.of.to_be_bytes();
        let ([e, f], [g, h]) = (self.id.round.to_be_bytes(), self.id.table.to_be_bytes());
        Uuid::new([a, b, c, d, e, f, 0, 0, 0, 0, 0, 0, 0, 0, g, h])
    }

    /// The room of an id. Of an id that is none of ours there is no such match.
    pub fn of(uuid: Uuid) -> RoomId {
        let [a, b, c, d, e, f, .., g, h] = uuid.bytes();
        let room = RoomId {
            of: u32::from_be_bytes([a, b, c, d]),
            id: MatchId { round: u16::from_be_bytes([e, f]), table: u16::from_be_bytes([g, h]) },
        };
        if room.uuid() == uuid { room } else { RoomId { of: u32::MAX, id: MatchId { round: 0, table: 0 } } }
    }

    pub fn read(text: &str) -> Result<RoomId, Trouble> {
        Uuid::read(text.chars()).map(RoomId::of).ok_or(Trouble::InvalidRoomId)
    }
}
