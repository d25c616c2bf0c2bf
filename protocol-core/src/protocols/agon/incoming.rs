//! What agents send over their WebSocket: an object with an `action`. Members that nobody asks for are ignored.

use heapless::String;

use super::{FRAMEWORK_BYTES, Trouble};
use crate::ids::MatchId;
use crate::json::{self, Kind, Str, Value};
use crate::protocols::moltgame::RoomId;
use crate::uuid::Uuid;
use crate::venue::name;

/// The longest name of a room or a table that is looked for.
const NAME_BYTES: usize = 24;

/// What an agent wants.
#[derive(Clone, Debug)]
pub(super) enum Action<'a> {
    /// Go into a room.
    EnterRoom(String<NAME_BYTES>),
    /// Go out of it.
    LeaveRoom,
    /// Sit down at a table of a room.
    SitTable(String<NAME_BYTES>, String<NAME_BYTES>),
    /// Make a move, or a speech.
    SendMessage(Option<RoomId>, Value<'a>),
    /// Give up, with last words.
    LeaveMatch(Option<RoomId>, Option<Str<'a>>),
    /// For somebody in a match of others.
    Vote(Option<RoomId>, Option<Uuid>),
    /// Say that one is there.
    Heartbeat,
    /// What a box does not carry.
    NotHere(&'static str),
}

const WAGERS: [&str; 4] = ["propose_wager", "accept_wager", "decline_wager", "cancel_wager"];
const TRADES: [&str; 3] = ["propose_trade", "accept_trade", "reject_trade"];

impl<'a> Action<'a> {
    /// Reads a message.
    pub fn read(body: &'a [u8]) -> Result<Action<'a>, Trouble> {
        let value = json::parse(body).map_err(|_| Trouble::InvalidJson)?;
        if value.kind() != Kind::Object {
            return Err(Trouble::InvalidJson);
        }
        let names = ["action", "room", "table_id", "match_id", "content", "parting_shot", "participant_id"];
        let [action, room, table, of_match, content, shot, participant] = value.members(names);
        let action = given(action).ok_or(Trouble::MissingField("action is missing"))?;
        let action = action.as_str().ok_or(Trouble::UnknownAction)?;
        let room = || name_of(room, Trouble::MissingField("room is missing"), Trouble::RoomNotFound);
        let table = || name_of(table, Trouble::MissingField("table_id is missing"), Trouble::TableNotFound);
        let of_match = || -> Result<_, Trouble> {
            let id = given(of_match).ok_or(Trouble::MissingField("match_id is missing"))?;
            Ok(id.as_str().and_then(|text| Uuid::read(text.chars())).map(RoomId::of))
        };
        if action.is("enter_room") {
            Ok(Action::EnterRoom(room()?))
        } else if action.is("leave_room") {
            Ok(Action::LeaveRoom)
        } else if action.is("sit_table") {
            Ok(Action::SitTable(room()?, table()?))
        } else if action.is("send_message") {
            let of_match = of_match()?;
            let content = given(content).ok_or(Trouble::MissingField("content is missing"))?;
            let text = content.as_str().ok_or(Trouble::ValidationFailed("content must be a text"))?;
            if text.is_empty() { Err(Trouble::EmptyContent) } else { Ok(Action::SendMessage(of_match, content)) }
        } else if action.is("leave_match") {
            let wrong = Trouble::ValidationFailed("parting_shot must be a text");
            let shot = given(shot).map(|shot| shot.as_str().ok_or(wrong)).transpose()?;
            Ok(Action::LeaveMatch(of_match()?, shot.filter(|shot| !shot.is_empty())))
        } else if action.is("vote") {
            let of_match = of_match()?;
            let who = given(participant).ok_or(Trouble::MissingField("participant_id is missing"))?;
            Ok(Action::Vote(of_match, who.as_str().and_then(|id| Uuid::read(id.chars()))))
        } else if action.is("heartbeat") {
            Ok(Action::Heartbeat)
        } else if action.is("react") {
            Ok(Action::NotHere("this box carries no reactions"))
        } else if WAGERS.iter().any(|wager| action.is(wager)) {
            Ok(Action::NotHere("this box takes no wagers"))
        } else if TRADES.iter().any(|trade| action.is(trade)) {
            Ok(Action::NotHere("there is no Bazaar in this box"))
        } else {
            Err(Trouble::UnknownAction)
        }
    }
}

/// A member that is there, and not null.
fn given(member: Option<Value<'_>>) -> Option<Value<'_>> {
    member.filter(|value| !value.is_null())
}

/// A short name. One that is too long is none that there is.
fn name_of(member: Option<Value<'_>>, missing: Trouble, unknown: Trouble) -> Result<String<NAME_BYTES>, Trouble> {
    let text = given(member).ok_or(missing)?.as_str().ok_or(unknown)?;
    text.text().map_err(|_| unknown)
}

/// A table by its name: one that waits or is played at.
pub(super) fn table(name: &str) -> Option<MatchId> {
    MatchId::read(name)
}

/// What an agent says it is made with: nothing, or a text.
pub(super) fn framework(body: &[u8]) -> Result<String<FRAMEWORK_BYTES>, Trouble> {
    const WRONG: Trouble = Trouble::ValidationFailed("framework must be a text of at most 24 bytes on one line");
    // What is no object is refused with the name.
    let value = json::parse(body).ok().and_then(|body| given(body.get("framework")));
    let Some(value) = value else { return Ok(String::new()) };
    let text = value.as_str().and_then(|text| text.text::<FRAMEWORK_BYTES>().ok()).ok_or(WRONG)?;
    if text.is_empty() || name::is_fit(&text) { Ok(text) } else { Err(WRONG) }
}
