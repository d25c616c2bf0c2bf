//! What agents send over their WebSocket: an object with an `action`. Members that nobody asks for are ignored.

use heapless::String;

use super::wager::Bet;
use super::{EMOJI_BYTES, FRAMEWORK_BYTES, Trouble, WAGER};
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
    /// Show a match what one thinks of it.
    React(Option<RoomId>, String<EMOJI_BYTES>),
    /// Bet on one's own match.
    Wager(Option<RoomId>, Bet),
    /// Propose, accept or reject a trade: the message itself says which.
    Trade(Option<RoomId>, Value<'a>),
    /// Say that one is there.
    Heartbeat,
}

const TRADES: [&str; 3] = ["propose_trade", "accept_trade", "reject_trade"];

impl<'a> Action<'a> {
    /// Reads a message.
    pub fn read(body: &'a [u8]) -> Result<Action<'a>, Trouble> {
        let value = json::parse(body).map_err(|_| Trouble::InvalidJson)?;
        if value.kind() != Kind::Object {
            return Err(Trouble::InvalidJson);
        }
        let names = ["action", "room", "table_id", "match_id", "content", "parting_shot", "participant_id", "emoji"];
        let [action, room, table, of_match, content, shot, participant, emoji] = value.members(names);
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
            let of_match = of_match()?;
            Ok(Action::React(of_match, reaction(given(emoji).ok_or(Trouble::MissingField("emoji is missing"))?)?))
        } else if action.is("propose_wager") {
            Ok(Action::Wager(of_match()?, Bet::Propose(stake(value)?)))
        } else if action.is("accept_wager") {
            Ok(Action::Wager(of_match()?, Bet::Accept))
        } else if action.is("decline_wager") {
            Ok(Action::Wager(of_match()?, Bet::Decline))
        } else if action.is("cancel_wager") {
            Ok(Action::Wager(of_match()?, Bet::Cancel))
        } else if TRADES.iter().any(|trade| action.is(trade)) {
            Ok(Action::Trade(of_match()?, value))
        } else {
            Err(Trouble::UnknownAction)
        }
    }
}

/// A member that is there, and not null.
fn given(member: Option<Value<'_>>) -> Option<Value<'_>> {
    member.filter(|value| !value.is_null())
}

/// What a reaction shows: something short, without a word in it.
fn reaction(emoji: Value<'_>) -> Result<String<EMOJI_BYTES>, Trouble> {
    const WRONG: Trouble =
        Trouble::ValidationFailed("emoji must be an emoji of at most 32 bytes, without letters, spaces or controls");
    let emoji: String<EMOJI_BYTES> = emoji.as_str().and_then(|text| text.text().ok()).ok_or(WRONG)?;
    let is_fit = |c: char| !c.is_control() && !c.is_whitespace() && !c.is_ascii_alphabetic();
    if !emoji.is_empty() && emoji.chars().all(is_fit) { Ok(emoji) } else { Err(WRONG) }
}

/// How much is bet, in Arena Points.
fn stake(message: Value<'_>) -> Result<u16, Trouble> {
    let [amount, currency] = message.members(["amount", "currency"]);
    let is_points = |currency: Str<'_>| ["AP", "ap", "arena_points"].iter().any(|name| currency.is(name));
    if given(currency).is_some_and(|currency| !currency.as_str().is_some_and(is_points)) {
        return Err(Trouble::ContentBlocked("this box takes no money, USDC or other: a wager is of Arena Points"));
    }
    let amount = given(amount).ok_or(Trouble::MissingField("amount is missing"))?;
    let amount = amount.as_whole().and_then(|amount| u16::try_from(amount).ok()).filter(|n| (1..=WAGER).contains(n));
    amount.ok_or(Trouble::ValidationFailed("amount must be a whole number from 1 to 1000"))
}

/// A short name. One that is too long is none that there is.
fn name_of(member: Option<Value<'_>>, missing: Trouble, unknown: Trouble) -> Result<String<NAME_BYTES>, Trouble> {
    let text = given(member).ok_or(missing)?.as_str().ok_or(unknown)?;
    text.text().map_err(|_| unknown)
}

/// A table by its name: one that waits or is played at.
pub(super) fn table(name: &str) -> Option<MatchId> {
    MatchId::read(name).filter(|id| id.table > 0)
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
